/*
 * Shortest paths on one GPU: what their methods share beyond gpu/engine/one_gpu_graph.h. Weighted
 * lists on the device, weight statistics, parents from distances and hints, and the results.
 */
#ifndef HOPWAVE_GPU_SSSP_COMMON_SSSP_ENGINE_HOST_H
#define HOPWAVE_GPU_SSSP_COMMON_SSSP_ENGINE_HOST_H

#include "gpu/engine/one_gpu_graph.h"
#include "gpu/engine/step_trace.h"
#include "gpu/sssp/common/sssp_engine.h"
#include "lib/engine/sssp/weight_stats.h"

/* For struct hw_gpu_search.results, of searches that are the base of a struct
 * hw_sssp_search. */
extern const struct hw_gpu_results hw_one_gpu_sssp_results;

/* A method for shortest paths; hw_method.own is the address of `base`. */
struct hw_sssp_search {
    struct hw_gpu_search base; /* first: hw_one_gpu_sssp_results casts its address */
    bool sort_by_weight;       /* lists by rising weight */
    enum hw_gpu_hints hints;   /* that the search leaves */
    /* Whether whole weights, some negative, are to have 32-bit distances where all paths without a
     * cycle stay within them: the search itself notices distances below. NULL: never. */
    bool (*narrows)(const struct hw_gpu_engine *engine);
};

/* engine->result_state. */
struct hw_sssp_state {
    struct hw_gpu_sssp paths;
    struct hw_weight_stats weight_stats;
    bool has_parents; /* set by the search's plan(): the search leaves what
                         hw_gpu_launch_parents() computes */
    bool narrowed;    /* distances have 32 bits by hw_sssp_search.narrows(); paths.distance has room
                         for 64 */
    double longest;   /* no path without a cycle is longer, or shorter than its negative */
    bool may_overflow; /* distances may exceed what a float holds */
};

static inline struct hw_sssp_state *hw_sssp_state_of(const struct hw_gpu_engine *engine)
{
    return engine->result_state;
}

/* Host memory of a method without more of its own, as hw_gpu_host_bytes(). Local. */
hw_count hw_gpu_sssp_host_bytes(const struct hw_part *part,
                                const struct hw_engine_options *options);

/* HW_OK if no reached vertex is left without a parent; else HW_BAD_INPUT where rounding explains
 * that, and HW_INTERNAL where nothing does. negative: some weight is. Local. */
enum hw_status hw_sssp_check_parentless(const struct hw_gpu_engine *engine, uint64_t parentless,
                                        bool negative, struct hw_error *err);

/* Appends trace records, as hw_gpu_append_trace(). names: [routines]. Local. */
enum hw_status hw_gpu_sssp_append_trace(const struct hw_gpu_sssp_trace_record *record,
                                        hw_count count, struct hw_gpu_clock clock,
                                        const struct hw_gpu_routine_name *names, uint32_t routines,
                                        struct hw_trace *steps, struct hw_error *err);

#endif
