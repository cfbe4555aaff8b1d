/*
 * Method `fused` on one GPU by the kernel for small frontiers
 * (gpu/bfs/direction_optimizing/small_frontier/small_frontier_bfs_kernel.cu): its arrays and
 * launches.
 */
#ifndef HOPWAVE_GPU_BFS_DIRECTION_OPTIMIZING_SMALL_FRONTIER_SMALL_FRONTIER_BFS_HOST_H
#define HOPWAVE_GPU_BFS_DIRECTION_OPTIMIZING_SMALL_FRONTIER_SMALL_FRONTIER_BFS_HOST_H

#include "gpu/bfs/direction_optimizing/small_frontier/small_frontier_bfs.h"
#include "gpu/engine/gpu_engine.h"

struct hw_small_frontier_bfs_search {
    struct hw_small_frontier_bfs_params params;
    int blocks;
};

/* Chooses this kernel where the graph is a mesh and no direction was asked for; then lists its
 * arrays and returns true. Local. */
bool hw_small_frontier_bfs_plan(struct hw_gpu_engine *engine,
                                struct hw_small_frontier_bfs_search *search);

/* Fills the arrays. Local. */
enum hw_status hw_small_frontier_bfs_open(const struct hw_gpu_engine *engine,
                                          struct hw_small_frontier_bfs_search *search,
                                          struct hw_error *err);

/* Launches a search. Does not wait. Local. */
enum hw_status hw_small_frontier_bfs_run(const struct hw_gpu_engine *engine,
                                         const struct hw_small_frontier_bfs_search *search,
                                         struct hw_error *err);

#endif
