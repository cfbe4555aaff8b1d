/*
 * The host side that `bellman-ford` and `near-far` share.
 */
#ifndef HOPWAVE_GPU_SSSP_BELLMAN_BELLMAN_FORD_HOST_H
#define HOPWAVE_GPU_SSSP_BELLMAN_BELLMAN_FORD_HOST_H

#include "gpu/sssp/bellman/bellman_ford.h"
#include "gpu/sssp/common/sssp_engine_host.h"

#include "lib/engine/sssp/negative_cycle.h"

struct hw_bellman {
    struct hw_bellman_params plan;
    int blocks;
    double end_degree; /* near-far: of the vertices that edges lead to, on the mean */
    hw_count capacity; /* for pieces */
    struct hw_bellman_control control; /* as last fetched */
    char names[HW_BELLMAN_ROUTINES][32];
    struct hw_tree tree; /* where weights are negative */
    /* Of each vertex, by graph id, the least edge that alone makes a negative cycle, or NULL
     * where there can be none. */
    struct hw_negative_edge *suspect;
};

/* The functions of struct hw_single_gpu_search. far: with far piles. */
enum hw_status hw_bellman_params(struct hw_single_gpu_engine *engine,
                                 const struct hw_degree_order *order, bool far,
                                 struct hw_error *err);
enum hw_status hw_bellman_open(struct hw_single_gpu_engine *engine, struct hw_error *err);
enum hw_status hw_bellman_steps(struct hw_single_gpu_engine *engine, struct hw_trace *steps,
                                struct hw_error *err);
void hw_bellman_close(struct hw_single_gpu_engine *engine);

/* The search from `root` begins; the first phase is next. */
enum hw_status hw_bellman_begin(struct hw_single_gpu_engine *engine, uint32_t root,
                                struct hw_error *err);

/* Phases until the frontier is empty or phase `last` is done: in one kernel, which may go
 * on, or one by one. */
enum hw_status hw_bellman_run(struct hw_single_gpu_engine *engine, uint32_t last,
                              struct hw_error *err);

/* Fetches state->control. */
enum hw_status hw_bellman_fetch(struct hw_single_gpu_engine *engine, struct hw_error *err);

/* Distances complete, once the frontier is empty. */
enum hw_status hw_bellman_end(struct hw_single_gpu_engine *engine, struct hw_error *err);

/* hw_method.bytes. */
hw_count hw_bellman_bytes(const struct hw_part *part, const struct hw_engine_options *options);

#endif
