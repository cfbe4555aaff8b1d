/*
 * Method `delta` on several GPUs by the kernel for small frontiers
 * (gpu/sssp/delta/peer/peer_small_frontier.h): when it is chosen, its arrays and launches.
 */
#ifndef HOPWAVE_GPU_SSSP_DELTA_PEER_PEER_SMALL_FRONTIER_HOST_H
#define HOPWAVE_GPU_SSSP_DELTA_PEER_PEER_SMALL_FRONTIER_HOST_H

#include "gpu/sssp/common/small_frontier_host.h"
#include "gpu/sssp/delta/peer/peer_small_frontier.h"
#include "gpu/sssp/distributed/distributed_sssp_host.h"

struct hw_peer_small_frontier {
    bool chosen;
    hw_count records;                /* of a GPU, at most */
    hw_count records_at, signals_at; /* offsets in the heap */
    struct hw_small_frontier_params params;
    struct hw_small_frontier_peers peers;
    struct hw_peer_small_frontier_delta delta;
    int blocks;
    struct hw_delta_shape finish;
};

/* Decides whether the kernel suits the graph and the options. Collective; ranks agree. */
enum hw_status hw_peer_small_frontier_choose(struct hw_distributed_sssp *sssp,
                                             struct hw_peer_small_frontier *small,
                                             struct hw_error *err);

/* Width of a step. Local. */
double hw_peer_small_frontier_delta(const struct hw_distributed_sssp *sssp);

/* Reserves heap memory from offset `at` on; returns the offset past it. Local. */
hw_count hw_peer_small_frontier_reserve_heap(struct hw_peer_small_frontier *small, hw_count at);

/* Adds the other arrays to the engine's list of arrays. Local. */
void hw_peer_small_frontier_add_arrays(struct hw_distributed_sssp *sssp,
                                       struct hw_peer_small_frontier *small);

/* Builds the records and chooses the grids. delta: the parameters of the end of a search. Local;
 * does not wait. */
enum hw_status hw_peer_small_frontier_open(const struct hw_distributed_sssp *sssp,
                                           struct hw_peer_small_frontier *small,
                                           const struct hw_delta_params *delta,
                                           struct hw_error *err);

/* Launches a search and its end. Does not wait. */
enum hw_status hw_peer_small_frontier_run(struct hw_peer_small_frontier *small,
                                          const struct hw_delta_params *delta,
                                          const struct hw_delta_search *search,
                                          struct hw_error *err);

/* Bytes of device memory that it takes where it may be chosen. Local. */
hw_count hw_peer_small_frontier_device_bytes(const struct hw_part *part);

#endif
