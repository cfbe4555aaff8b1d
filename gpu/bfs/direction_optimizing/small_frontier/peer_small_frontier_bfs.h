/*
 * Method `fused` on several GPUs of one node where lists are short and levels many, as on roads and
 * meshes: interface of host code and kernels
 * (gpu/bfs/direction_optimizing/small_frontier/peer_small_frontier_bfs_kernel.cu).
 *
 * Vertices are global ids of the partition. In hw_small_frontier_params, `graph` and `record` are
 * those of the local ids owned here; queues and marks have a place for every global id of the core.
 */
#ifndef HOPWAVE_GPU_BFS_DIRECTION_OPTIMIZING_SMALL_FRONTIER_PEER_SMALL_FRONTIER_BFS_H
#define HOPWAVE_GPU_BFS_DIRECTION_OPTIMIZING_SMALL_FRONTIER_PEER_SMALL_FRONTIER_BFS_H

#include "gpu/partition1d/partition_1d.h"
#include "gpu/sssp/common/small_frontier_peers.h"

#ifdef __cplusplus
extern "C" {
#endif

struct hw_peer_small_frontier_bfs_params {
    struct hw_small_frontier_params search;
    struct hw_small_frontier_peers peers;
    struct hw_partition_1d partition;
    int64_t *tree_of[HW_SMALL_FRONTIER_RANKS];   /* [active] by local id: the level above, the
                                                    parent below */
    uint32_t *parent, *parent_is_first_neighbor; /* as in hw_partition_1d_output */
};

/* ---- launchers: all return a cudaError_t ---- */

/* Builds the records of the vertices owned here. Does not wait. */
int hw_peer_small_frontier_bfs_launch_records(
    const struct hw_peer_small_frontier_bfs_params *params);

/* Chooses the number of blocks for this device. */
int hw_peer_small_frontier_bfs_shape(const struct hw_peer_small_frontier_bfs_params *params,
                                     int *blocks);

/* Launches a search. All ranks launch it. root: global id, HW_INVALID_VERTEX for none. Does not
 * wait. */
int hw_peer_small_frontier_bfs_launch(const struct hw_peer_small_frontier_bfs_params *params,
                                      int blocks, uint32_t root);

#ifdef __cplusplus
}
#endif

#endif
