/*
 * Method `fused` on one GPU where lists are short and levels many, as on roads and meshes:
 * interface of host code and kernels
 * (gpu/bfs/direction_optimizing/small_frontier/small_frontier_bfs_kernel.cu).
 */
#ifndef HOPWAVE_GPU_BFS_DIRECTION_OPTIMIZING_SMALL_FRONTIER_SMALL_FRONTIER_BFS_H
#define HOPWAVE_GPU_BFS_DIRECTION_OPTIMIZING_SMALL_FRONTIER_SMALL_FRONTIER_BFS_H

#include "gpu/sssp/common/small_frontier.h"

#ifdef __cplusplus
extern "C" {
#endif

struct hw_small_frontier_bfs_params {
    struct hw_small_frontier_params search;
    uint32_t *parent, *parent_is_first_neighbor; /* as in hw_gpu_output */
};

/* Chooses the number of blocks for this device. Returns a cudaError_t. */
int hw_small_frontier_bfs_shape(const struct hw_small_frontier_bfs_params *params, int *blocks);

/* Builds the records. Returns a cudaError_t; does not wait. */
int hw_small_frontier_bfs_launch_records(const struct hw_small_frontier_bfs_params *params);

/* Launches a search. Returns a cudaError_t; does not wait. */
int hw_small_frontier_bfs_launch(const struct hw_small_frontier_bfs_params *params, int blocks,
                                 uint32_t root);

#ifdef __cplusplus
}
#endif

#endif
