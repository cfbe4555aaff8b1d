/*
 * Types of ids, counts and weights.
 *
 * Global ids and every count of edges or bytes have 64 bits; the vertices that
 * one part knows have 32. The two are never mixed without a conversion that
 * says so.
 */
#ifndef HOPWAVE_BASE_TYPES_H
#define HOPWAVE_BASE_TYPES_H

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* On functions that kernels of the GPU engines call too. */
#ifdef __CUDACC__
#define HW_DEVICE __host__ __device__
#else
#define HW_DEVICE
#endif

/* A vertex of the whole graph, in the graph's own ids or in search order. */
typedef int64_t hw_gid;
#define HW_MPI_GID MPI_INT64_T
#define PRI_GID PRId64
#define HW_GID_NONE ((hw_gid)-1)

/* A vertex as one part numbers it. */
typedef uint32_t hw_lid;
#define HW_MPI_LID MPI_UINT32_T
#define PRI_LID PRIu32
#define HW_LID_NONE UINT32_MAX

/* A count of edges, tuples, bytes or messages. */
typedef int64_t hw_count;
#define HW_MPI_COUNT MPI_INT64_T
#define PRI_COUNT PRId64

/* What weights a graph carries. Integer weights stay integers. */
enum hw_weights { HW_WEIGHTS_NONE, HW_WEIGHTS_F32, HW_WEIGHTS_I32 };

/* One weight; which member holds is the graph's enum hw_weights. */
union hw_weight {
    float f32;
    int32_t i32;
};

/* What the weights of some edges are like. */
struct hw_weights_seen {
    hw_count edges, negative;
    double least, most, sum; /* of no edges: HUGE_VAL, -HUGE_VAL, 0 */
};

#endif
