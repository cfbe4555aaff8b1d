/*
 * Method `scan2d` and its baseline `scatter-compact`: what their host code and their
 * kernels share.
 */
#ifndef HOPWAVE_GPU_BFS_GRID2D_ONE_GPU_SCAN2D_ONE_GPU_H
#define HOPWAVE_GPU_BFS_GRID2D_ONE_GPU_SCAN2D_ONE_GPU_H

#include "gpu/bfs/common/frontier_queue.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HW_SCAN2D_MAX_EDGES_PER_THREAD 8 /* edges per thread at most */
#define HW_SCAN2D_MAX_BLOCKS 4096        /* blocks at most */

struct hw_scan2d_one_gpu_params {
    struct hw_frontier_queue_params
        common;                /* prefix[0]: edges before each vertex of the frontier */
    unsigned long long *total; /* [HW_SCAN2D_BLOCKS] edges of each block's chunk of it */
    int edges_per_thread;
    /* As the paper does, in kernels of their own: discoveries are queued by an atomic operation
     * each; all levels are done by all blocks. */
    bool groups, no_single_block;
    bool scatter;        /* scatter-compact, which has no bitmap but: */
    void *map;           /* [active] the edge that claimed each vertex, as wide as offsets, or
                            all ones */
    uint32_t *neighbour; /* [edges] of each edge, or HW_INVALID_VERTEX if it was visited before */
};

/* Blocks that are resident at once. Returns a cudaError_t. */
int hw_scan2d_launch_shape(const struct hw_scan2d_one_gpu_params *params, int *blocks);

/* Launches the search. Returns a cudaError_t; does not wait. */
int hw_scan2d_launch(const struct hw_scan2d_one_gpu_params *params, int blocks, uint32_t root);

#ifdef __cplusplus
}
#endif

#endif
