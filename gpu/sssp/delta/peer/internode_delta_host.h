/*
 * Method `delta` between nodes whose kernels put (internode_delta.h), host side: symmetric memory,
 * launch, traffic, and the error of a signal that does not come.
 */
#ifndef HOPWAVE_GPU_SSSP_DELTA_PEER_INTERNODE_DELTA_HOST_H
#define HOPWAVE_GPU_SSSP_DELTA_PEER_INTERNODE_DELTA_HOST_H

#include "gpu/comm/nvshmem/internode_puts_host.h"
#include "gpu/sssp/delta/peer/internode_delta.h"
#include "gpu/sssp/distributed/distributed_sssp_host.h"

/* Zero-initialize. */
struct hw_internode_delta_search {
    bool used;
    struct hw_internode_delta_params params; /* .delta: once it is open */
    const void *kernel;
    hw_count pieces_at, counters_at; /* offsets in the heap */
};

/* Whether the transport's kernels put. Sets used, and what outboxes hold at least. Local. */
void hw_internode_delta_plan(struct hw_internode_delta_search *self,
                             struct hw_distributed_sssp *sssp);

/* Adds arrays of this GPU. Local. */
void hw_internode_delta_add_arrays(struct hw_internode_delta_search *self,
                                   struct hw_distributed_sssp *sssp);

/* Reserves heap memory from offset `at` on; returns the offset past it. Local. */
hw_count hw_internode_delta_reserve_heap(struct hw_internode_delta_search *self, uint32_t ranks,
                                         hw_count at);

/* Sets pointers into the heaps, those of `delta` to memory of other GPUs of this node included, and
 * finds the kernel and its launch. Local. */
enum hw_status hw_internode_delta_open(struct hw_internode_delta_search *self,
                                       const struct hw_distributed_sssp *sssp,
                                       struct hw_delta_params *delta, struct hw_delta_shape *shape,
                                       struct hw_error *err);

/* Launches a search. delta: its parameters, complete. Does not wait. Local. */
enum hw_status hw_internode_delta_launch(struct hw_internode_delta_search *self,
                                         const struct hw_delta_params *delta,
                                         const struct hw_delta_search *search,
                                         const struct hw_delta_shape *shape, struct hw_error *err);

#endif
