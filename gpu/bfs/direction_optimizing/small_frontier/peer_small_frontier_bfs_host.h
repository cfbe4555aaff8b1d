/*
 * Method `fused` on several GPUs by the kernel for small frontiers
 * (gpu/bfs/direction_optimizing/small_frontier/peer_small_frontier_bfs.h): when it is chosen, its
 * arrays and launches.
 */
#ifndef HOPWAVE_GPU_BFS_DIRECTION_OPTIMIZING_SMALL_FRONTIER_PEER_SMALL_FRONTIER_BFS_HOST_H
#define HOPWAVE_GPU_BFS_DIRECTION_OPTIMIZING_SMALL_FRONTIER_PEER_SMALL_FRONTIER_BFS_HOST_H

#include "gpu/bfs/direction_optimizing/small_frontier/peer_small_frontier_bfs.h"
#include "gpu/engine/gpu_engine.h"
#include "gpu/partition1d/partition_1d_kernels.h"

struct hw_peer_small_frontier_bfs {
    bool chosen;
    hw_count records;                         /* of a GPU, at most */
    hw_count signals_at, tree_at, records_at; /* offsets in the heap */
    struct hw_peer_small_frontier_bfs_params params;
    int blocks;
};

/* Chooses this kernel where the graph is a mesh whose GPUs map each other's memory, and no
 * direction was asked for. Collective; ranks agree. */
enum hw_status hw_peer_small_frontier_bfs_choose(const struct hw_gpu_engine *engine,
                                                 const struct hw_partition_1d *partition,
                                                 struct hw_peer_small_frontier_bfs *small,
                                                 struct hw_error *err);

/* Reserves heap memory from offset `at` on; returns the offset past it. Local. */
hw_count hw_peer_small_frontier_bfs_reserve_heap(struct hw_peer_small_frontier_bfs *small,
                                                 const struct hw_partition_1d *partition,
                                                 hw_count at);

/* Adds the other arrays to the engine's list of arrays. Local. */
void hw_peer_small_frontier_bfs_add_arrays(struct hw_gpu_engine *engine,
                                           const struct hw_partition_1d *partition,
                                           struct hw_peer_small_frontier_bfs *small);

/* Builds the records and chooses the grid. failed_at: offset in the heaps of the word that is set
 * once a rank has timed out. Local; does not wait. */
enum hw_status hw_peer_small_frontier_bfs_open(const struct hw_gpu_engine *engine,
                                               struct hw_peer_small_frontier_bfs *small,
                                               const struct hw_partition_1d *partition,
                                               const struct hw_partition_1d_output *output,
                                               hw_count failed_at, struct hw_error *err);

/* Launches a search. Does not wait. Local. */
enum hw_status hw_peer_small_frontier_bfs_run(const struct hw_gpu_engine *engine,
                                              struct hw_peer_small_frontier_bfs *small,
                                              struct hw_error *err);

/* Bytes of device memory that it takes where it may be chosen. core, active: of each part. Local.
 */
hw_count hw_peer_small_frontier_bfs_device_bytes(const struct hw_part *part, hw_count core,
                                                 hw_count active);

#endif
