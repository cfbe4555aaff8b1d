/*
 * Method `merge` and its baseline `cta-warp-scan`: parameters of their kernels and launchers,
 * shared by host and device code.
 */
#ifndef HOPWAVE_GPU_BFS_MERGE_MERGE_H
#define HOPWAVE_GPU_BFS_MERGE_MERGE_H

#include "gpu/bfs/common/frontier_queue.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How a search expands its levels. */
enum hw_merge_kind {
    HW_MERGE_FUSED,    /* redistribution and gathering in one phase */
    HW_MERGE_SEPARATE, /* in two phases; memory holds the result of the first */
    HW_MERGE_DIRECT,   /* no redistribution: a lane per vertex, a warp for long lists */
    HW_MERGE_CTA,      /* no redistribution: blocks, warps and scans by the length of lists */
    HW_MERGE_KINDS
};

struct hw_merge_params {
    struct hw_frontier_queue_params common;
    enum hw_merge_kind kind;
    double factor;    /* HW_MERGE_FUSED: levels with more edges per vertex balance redistribution,
                         the others gathering */
    void *location;   /* HW_MERGE_SEPARATE: [edges] index of each neighbor in the lists, as wide as
                         offsets */
    uint32_t *source; /* HW_MERGE_SEPARATE: [edges] the vertex whose neighbor it is */
};

/* Number of resident blocks on the current device. Local. Returns a cudaError_t. */
int hw_merge_launch_shape(const struct hw_merge_params *params, int *blocks);

/* Launches a search. Local. Returns a cudaError_t; does not wait. */
int hw_merge_launch(const struct hw_merge_params *params, int blocks, uint32_t root);

#ifdef __cplusplus
}
#endif

#endif
