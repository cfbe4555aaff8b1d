/*
 * Methods `bellman-ford` and `near-far` on one GPU: the host state and functions that they share.
 * Algorithm and kernel parameters: gpu/sssp/bellman/bellman_ford.h.
 */
#ifndef HOPWAVE_GPU_SSSP_BELLMAN_BELLMAN_FORD_HOST_H
#define HOPWAVE_GPU_SSSP_BELLMAN_BELLMAN_FORD_HOST_H

#include "gpu/sssp/bellman/bellman_ford.h"
#include "gpu/sssp/common/sssp_engine_host.h"

#include "lib/engine/sssp/negative_cycle.h"

struct hw_bellman {
    struct hw_bellman_params params;
    int blocks;                /* of the kernel of many phases */
    double mean_target_degree; /* near-far: mean degree of the targets of edges */
    hw_count chunk_capacity;
    struct hw_bellman_control control; /* as last fetched */
    bool searched_wide;                /* the last search was done again with 64-bit distances */
    char names[HW_BELLMAN_ROUTINES][32];
    struct hw_tree tree; /* where weights are negative */
    /* For each vertex, by graph id, the least edge that alone is a negative cycle; NULL where there
     * can be none. */
    struct hw_negative_edge *candidate_edge;
};

/* The functions of the search table. has_far_pile: method near-far. Local. */
enum hw_status hw_bellman_init_params(struct hw_gpu_engine *engine, bool has_far_pile,
                                      struct hw_error *err);
enum hw_status hw_bellman_open(struct hw_gpu_engine *engine, struct hw_error *err);
enum hw_status hw_bellman_steps(struct hw_gpu_engine *engine, struct hw_trace *steps,
                                struct hw_error *err);
void hw_bellman_close(struct hw_gpu_engine *engine);

/* Turns 32-bit distances in packed words into 64-bit ones with marks, for which arrays have room.
 * The caller keeps the parameters and the number of blocks from before. Local. */
enum hw_status hw_bellman_widen(struct hw_gpu_engine *engine, struct hw_error *err);

/* Initializes a search from vertex `root`; the first phase is next. Does not wait. */
enum hw_status hw_bellman_init_search(struct hw_gpu_engine *engine, uint32_t root,
                                      struct hw_error *err);

/* Runs phases until the frontier is empty or phase `last` is done: in one kernel, without waiting,
 * or one by one. */
enum hw_status hw_bellman_run(struct hw_gpu_engine *engine, uint32_t last, struct hw_error *err);

/* Fetches params.control from the device; waits. */
enum hw_status hw_bellman_fetch(struct hw_gpu_engine *engine, struct hw_error *err);

/* Completes distances once the frontier is empty: leaves, packed words. Does not wait. */
enum hw_status hw_bellman_finish(struct hw_gpu_engine *engine, struct hw_error *err);

/* hw_method.bytes: host memory. */
hw_count hw_bellman_bytes(const struct hw_part *part, const struct hw_engine_options *options);

/* ---- gpu/sssp/bellman/bellman_ford_negative_cycles.c ---- */

/* Fills candidate_edge, where weights are negative. Local. */
enum hw_status hw_bellman_find_candidate_edges(struct hw_gpu_engine *engine, struct hw_error *err);

/* Visits all reachable vertices, whatever the weights, and looks for the least reached edge that
 * alone is a negative cycle. *cycle: of length 0 where there is none. */
enum hw_status hw_bellman_find_negative_edge(struct hw_gpu_engine *engine, uint32_t root,
                                             struct hw_cycle *cycle, struct hw_error *err);

/* Runs all phases; looks for a negative cycle between phases. *cycle: of length 0 where there is
 * none. Returns HW_BAD_INPUT where float distances never converge. */
enum hw_status hw_bellman_run_with_negative_weights(struct hw_gpu_engine *engine, uint32_t root,
                                                    struct hw_cycle *cycle, struct hw_error *err);

#endif
