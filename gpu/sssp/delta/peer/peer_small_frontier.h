/*
 * Delta-stepping on several GPUs of one node where lists are short and frontiers small, as on
 * roads: interface of host code and kernels
 * (gpu/sssp/delta/peer/peer_small_frontier_kernel.cu).
 *
 * Numbering. Vertices are local ids, which all GPUs have in common
 * (gpu/sssp/distributed/distributed_sssp.h). In hw_small_frontier_params, `graph` and `record` are
 * those of the positions owned here; queues and marks have a place for every local id.
 */
#ifndef HOPWAVE_GPU_SSSP_DELTA_PEER_PEER_SMALL_FRONTIER_H
#define HOPWAVE_GPU_SSSP_DELTA_PEER_PEER_SMALL_FRONTIER_H

#include "gpu/sssp/common/small_frontier_peers.h"
#include "gpu/sssp/delta/delta_search.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What this kernel needs of the other GPUs beyond struct hw_small_frontier_peers. */
struct hw_peer_small_frontier_delta {
    struct hw_delta_partition partition;
    uint32_t core_of[HW_DELTA_RANKS],
        active_of[HW_DELTA_RANKS];                 /* as in struct hw_delta_vertices */
    void *distance_of[HW_DELTA_RANKS];             /* [local ids] keys */
    struct hw_gpu_edge *result_of[HW_DELTA_RANKS]; /* [local ids] hints */
};

/* ---- launchers: all return a cudaError_t and do not wait ---- */

/* Builds the records of the vertices owned here. */
int hw_peer_small_frontier_launch_records(const struct hw_small_frontier_params *params,
                                          const struct hw_small_frontier_peers *peers,
                                          const struct hw_peer_small_frontier_delta *delta);

/* Chooses the number of blocks for this device. */
int hw_peer_small_frontier_shape(const struct hw_small_frontier_params *params, int *blocks);

/* Launches a search for the distances of all vertices of several edges. All ranks launch it. root:
 * local id, HW_INVALID_VERTEX for none. */
int hw_peer_small_frontier_launch(const struct hw_small_frontier_params *params,
                                  const struct hw_small_frontier_peers *peers,
                                  const struct hw_peer_small_frontier_delta *delta, int blocks,
                                  uint32_t root);

/* Launches the end of such a search: vertices of one edge, parents, the report
 * (gpu/sssp/delta/peer/peer_delta_finish_kernel.cu). */
int hw_peer_delta_finish_shape(const struct hw_delta_params *params, struct hw_delta_shape *shape);
int hw_peer_delta_launch_finish(const struct hw_delta_params *params,
                                const struct hw_delta_search *search,
                                const struct hw_delta_shape *shape);

#ifdef __cplusplus
}
#endif

#endif
