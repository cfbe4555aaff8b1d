/*
 * Method `fused` between nodes whose kernels put (internode_bfs.h), host side: symmetric memory,
 * launch, traffic, and the error of a signal that does not come.
 */
#ifndef HOPWAVE_GPU_BFS_DIRECTION_OPTIMIZING_PEER_INTERNODE_BFS_HOST_H
#define HOPWAVE_GPU_BFS_DIRECTION_OPTIMIZING_PEER_INTERNODE_BFS_HOST_H

#include "gpu/bfs/direction_optimizing/peer/host_staged_bfs.h"
#include "gpu/bfs/direction_optimizing/peer/internode_bfs.h"
#include "gpu/engine/gpu_engine.h"

/* Zero-initialize. */
struct hw_internode_bfs {
    bool used;
    struct hw_internode_bfs_params params;
    const void *kernel;
    hw_count heap; /* byte offset of its arrays in the heaps */
};

/* Whether the transport's kernels put. Sets used and the GPUs of each node. params: of the search;
 * its partition is set. Local. */
void hw_internode_bfs_plan(struct hw_internode_bfs *self, const struct hw_transport *transport,
                           const struct hw_peer_bfs_params *params);

/* Adds arrays of this GPU. trace: traffic is recorded. Local. */
void hw_internode_bfs_add_arrays(struct hw_internode_bfs *self, uint32_t trace_capacity, bool trace,
                                 struct hw_gpu_arrays *arrays);

/* Bytes of its arrays in a heap; offsets are multiples of 256. */
hw_count hw_internode_bfs_heap_bytes(const struct hw_internode_bfs *self,
                                     const struct hw_partition_1d *partition);

/* Sets pointers into the heaps, and copies the parameters of the search, which must be complete.
 * Finds the kernel and chooses its launch. Local. */
enum hw_status hw_internode_bfs_open(struct hw_internode_bfs *self,
                                     const struct hw_transport *transport,
                                     struct hw_peer_bfs_params *params,
                                     struct hw_peer_bfs_shape *shape, struct hw_error *err);

/* Launches a search from a global id, or from HW_INVALID_VERTEX. Does not wait. Local. */
enum hw_status hw_internode_bfs_launch(const struct hw_internode_bfs *self,
                                       const struct hw_peer_bfs_shape *shape, uint32_t root,
                                       struct hw_error *err);

/* HW_OK, or an error that names the GPU whose signal did not come to this one. Local. */
enum hw_status hw_internode_bfs_outcome(const struct hw_internode_bfs *self, struct hw_error *err);

/* Reads what trace records [0, count) put into other nodes. Local. */
enum hw_status hw_internode_bfs_traffic(const struct hw_internode_bfs *self, hw_count count,
                                        struct hw_peer_bfs_traffic *traffic, struct hw_error *err);

#endif
