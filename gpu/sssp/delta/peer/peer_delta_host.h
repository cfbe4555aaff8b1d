/*
 * Method `delta` on several GPUs of one node in one kernel (gpu/sssp/delta/peer/peer_delta.h): the
 * host functions that gpu/sssp/distributed calls. All work on the state of struct
 * hw_distributed_sssp.
 */
#ifndef HOPWAVE_GPU_SSSP_DELTA_PEER_PEER_DELTA_HOST_H
#define HOPWAVE_GPU_SSSP_DELTA_PEER_PEER_DELTA_HOST_H

#include "gpu/sssp/delta/peer/peer_delta.h"

#include "lib/base/status.h"
#include "lib/base/types.h"
#include "lib/engine/core/trace.h"

#include <stdbool.h>

struct hw_distributed_sssp;

/* Host state of the one-kernel search. */
struct hw_peer_delta {
    bool on;       /* this search runs in one kernel */
    bool complete; /* the kernel found all parents, too */
    struct hw_peer_delta_params params;
    hw_count distance_at, touched_at[2]; /* offsets in the heap */
    int blocks, shared_bytes;
    uint32_t searches; /* begun */
};

/* Whether the method can run in one kernel here. Local. */
bool hw_peer_delta_fits(const struct hw_distributed_sssp *sssp);

/* Reserves heap memory, from offset `at` on, for the arrays that other ranks access; returns the
 * offset past them. Local. */
hw_count hw_peer_delta_reserve_heap(struct hw_distributed_sssp *sssp, hw_count at);

/* Adds the other arrays to the engine's list of arrays. Local. */
void hw_peer_delta_add_arrays(struct hw_distributed_sssp *sssp);

/* Opens the method, once the lists are on the device and all-gathers are open. Collective; ranks
 * agree. */
enum hw_status hw_peer_delta_open(struct hw_distributed_sssp *sssp, struct hw_error *err);
void hw_peer_delta_close(struct hw_distributed_sssp *sssp);

/* Searches from the root to the values of all reached vertices, and waits. Collective. */
enum hw_status hw_peer_delta_run(struct hw_distributed_sssp *sssp, struct hw_error *err);

/* Launches the kernel that writes results by graph id, where the search is complete. Local; does
 * not wait. */
enum hw_status hw_peer_delta_results(struct hw_distributed_sssp *sssp, struct hw_error *err);

/* Adds the trace records of the search that ended to `steps`. Local. */
enum hw_status hw_peer_delta_trace(struct hw_distributed_sssp *sssp, struct hw_trace *steps,
                                   struct hw_error *err);

#endif
