/*
 * Method `merge` and its baseline `cta-warp-scan`: what their host code and their kernels
 * share.
 */
#ifndef HOPWAVE_GPU_BFS_MERGE_MERGE_H
#define HOPWAVE_GPU_BFS_MERGE_MERGE_H

#include "gpu/bfs/common/frontier_queue.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How a search expands its levels. */
enum hw_merge_kind {
    HW_MERGE_FUSED,    /* redistribution and gathering in one phase: see by_inputs */
    HW_MERGE_SEPARATE, /* in two, with what the first finds out in memory between them */
    HW_MERGE_DIRECT,   /* no redistribution: a lane for each vertex, a warp for long lists */
    HW_MERGE_CTA,      /* none: blocks, warps and scans by the length of lists */
    HW_MERGE_KINDS
};

struct hw_merge_params {
    struct hw_frontier_queue_params common;
    enum hw_merge_kind kind;
    double factor;    /* HW_MERGE_FUSED: levels of more edges a vertex than this have
                         redistribution balanced, the others gathering */
    void *location;   /* HW_MERGE_SEPARATE: [edges] where each neighbour is, as wide as offsets */
    uint32_t *source; /* HW_MERGE_SEPARATE: [edges] whose neighbour it is */
};

/* Blocks that are resident at once. Returns a cudaError_t. */
int hw_merge_launch_shape(const struct hw_merge_params *plan, int *blocks);

/* Launches the search. Returns a cudaError_t; does not wait. */
int hw_merge_launch(const struct hw_merge_params *plan, int blocks, uint32_t root);

#ifdef __cplusplus
}
#endif

#endif
