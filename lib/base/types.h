/*
 * Types of ids, counts and weights.
 *
 * Global ids and every count of edges or bytes have 64 bits; the local ids of
 * one part have 32. Mixing them takes an explicit conversion.
 */
#ifndef HOPWAVE_BASE_TYPES_H
#define HOPWAVE_BASE_TYPES_H

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Qualifiers of inline functions that kernels call too. Nothing here: the compile command of
 * kernels includes a header that defines it first (gpu/device/kernel_callable.h).
 */
#ifndef HW_KERNEL_CALLABLE
#define HW_KERNEL_CALLABLE
#endif

/* A vertex of the whole graph, in the graph's own ids or in search order. */
typedef int64_t hw_gid;
#define HW_MPI_GID MPI_INT64_T
#define PRI_GID PRId64
#define HW_GID_NONE ((hw_gid)-1)

/* A local id: a vertex in the numbering of one part. */
typedef uint32_t hw_lid;
#define HW_MPI_LID MPI_UINT32_T
#define PRI_LID PRIu32
#define HW_LID_NONE UINT32_MAX

/* A count of edges, tuples, bytes or messages. */
typedef int64_t hw_count;
#define HW_MPI_COUNT MPI_INT64_T
#define PRI_COUNT PRId64

/* The type of a graph's weights. Integer weights stay integers. */
enum hw_weights { HW_WEIGHTS_NONE, HW_WEIGHTS_F32, HW_WEIGHTS_I32 };

/* One weight; the graph's enum hw_weights says which member is valid. */
union hw_weight {
    float f32;
    int32_t i32;
};

/* Count, range and sum of the weights of some edges. */
struct hw_weight_summary {
    hw_count edges, negative;
    double min, max, sum; /* of no edges: HUGE_VAL, -HUGE_VAL, 0 */
};

#endif
