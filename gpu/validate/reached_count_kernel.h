/*
 * The kernel that counts what a search has reached.
 */
#ifndef HOPWAVE_GPU_VALIDATE_REACHED_COUNT_KERNEL_H
#define HOPWAVE_GPU_VALIDATE_REACHED_COUNT_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The values of a tree: levels, or distances of a type. */
enum hw_gpu_counted {
    HW_GPU_COUNTED_LEVELS,
    HW_GPU_COUNTED_FLOATS,
    HW_GPU_COUNTED_INT32, /* of 32 bits */
    HW_GPU_COUNTED_INT64
};

/* Sums over vertices. */
struct hw_gpu_count {
    uint64_t reached, ends; /* as in struct hw_reached_counts */
    uint64_t levels;        /* one more than the deepest */
    uint64_t unset;         /* that have no legal value */
};

/* What is counted; all on the device, by rising graph id of the vertices that a rank owns. */
struct hw_reached_count_job {
    uint64_t count;         /* own vertices */
    uint64_t vertices;      /* of the graph */
    const uint32_t *parent; /* [count] as in struct hw_result_view, like: */
    const void *values;     /* [count] */
    const void *ends;       /* [count] of tuples; uint64_t where they are wide, or uint32_t */
    bool wide;
    enum hw_gpu_counted counted;
};

/* Adds to *sum, which is on the device. Returns a cudaError_t as an int and does not wait. */
int hw_gpu_launch_count(const struct hw_reached_count_job *job, struct hw_gpu_count *sum);

#ifdef __cplusplus
}
#endif

#endif
