/*
 * The frame of the GPU methods: the part on the device, the outputs, the clock and the
 * rows of the steps. A method adds its own arrays and the search itself.
 *
 * The clock of a search is two events on the device: one before the first launch, with
 * the output arrays poisoned, one when the parents in graph ids are complete in the
 * device's memory; a third, between them, when they are complete in search order.
 * Levels, and the copies to the host, come after it. Shortest paths: see
 * gpu/sssp/common/sssp_engine.h.
 */
#ifndef HOPWAVE_GPU_ENGINE_SINGLE_GPU_ENGINE_H
#define HOPWAVE_GPU_ENGINE_SINGLE_GPU_ENGINE_H

#include "gpu/device/device.h"
#include "gpu/engine/result_kernels.h"
#include "gpu/graph/degree_ordered_lists.h"
#include "gpu/graph/device_graph.h"
#include "gpu/sssp/common/sssp_engine.h"
#include "gpu/validate/tree_cache.h"
#include "lib/engine/core/engine.h"
#include "lib/engine/sssp/weight_stats.h"

struct hw_single_gpu_engine;

/* Rows of steps that the device keeps at most; later steps add to the last one. */
#define HW_GPU_ROWS ((hw_count)1 << 20)

/* What a method adds to the frame. All functions are local. */
struct hw_single_gpu_search {
    bool by_weight;          /* SSSP: wants lists sorted by rising weight */
    enum hw_gpu_hints hints; /* SSSP: what hints it leaves (gpu/sssp/common/sssp_engine.h) */
    size_t state_bytes;      /* of engine->state, zeroed */
    bool exchanges;          /* takes --exchange, of which one part has no use */
    /* Lists the method's arrays on the device. The graph's counts are known, and its
     * lists still on the host. Returns HW_BAD_INPUT for graphs or options that it does
     * not do. */
    enum hw_status (*plan)(struct hw_single_gpu_engine *engine, const struct hw_degree_order *order,
                           struct hw_error *err);
    /* Fills them, once the graph is on the device. */
    enum hw_status (*open)(struct hw_single_gpu_engine *engine, struct hw_error *err);
    /* Launches a search that leaves parents (and settled) complete, or distances (and
     * hints); returns before it ends, or not. What it has to say beside, such as a negative
     * cycle or the width of buckets, goes to engine->result. */
    enum hw_status (*search)(struct hw_single_gpu_engine *engine, uint32_t root,
                             struct hw_error *err);
    /* Adds the rows of the search that has ended. */
    enum hw_status (*steps)(struct hw_single_gpu_engine *engine, struct hw_steps *steps,
                            struct hw_error *err);
    /* Frees what engine->state owns, whatever went wrong; NULL: nothing. */
    void (*close)(struct hw_single_gpu_engine *engine);
};

/* Events of the clock. Searched: the method's own work done, before what the frame adds. */
enum hw_gpu_event {
    HW_GPU_BEGUN,
    HW_GPU_SEARCHED,
    HW_GPU_IN_SEARCH_ORDER,
    HW_GPU_IN_GRAPH_IDS,
    HW_GPU_EVENTS
};

struct hw_single_gpu_engine {
    struct hw_gpu_tree_cache tree_cache; /* first: see gpu/validate/tree_cache.h */
    const struct hw_method *method;
    const struct hw_single_gpu_search *searching; /* what the method adds: method->own */
    const struct hw_context *ctx;
    const struct hw_part *part;
    struct hw_engine_options options;
    struct hw_gpu_arrays arrays;
    struct hw_gpu_graph graph;
    struct hw_gpu_output output;
    struct hw_gpu_sssp paths;      /* SSSP */
    struct hw_weight_stats survey; /* SSSP: the weights */
    bool may_overflow;             /* SSSP: distances may pass what a float holds */
    double parents_seconds;        /* SSSP: of the search, for parents */
    struct hw_result *result;      /* of the search under way */
    uint32_t *staging;             /* [vertices + 1] on the host, pinned; or NULL */
    void *event[HW_GPU_EVENTS];    /* cudaEvent_t */
    void *state;                   /* the method's own */
};

/* Host memory beside the part, which may be described alone: hw_method.bytes of methods
 * without more of their own. Local. */
hw_count hw_gpu_host_bytes(const struct hw_part *part, const struct hw_engine_options *options);

/* Of methods whose own is a struct hw_single_gpu_search. */
extern const struct hw_frame hw_single_gpu_frame;

/* When the rows of a search began, on the clock they are kept by, and its speed. */
struct hw_gpu_clock {
    uint64_t begun;
    double seconds; /* of one tick */
};

/* That clock, of a search from tick `begun` to tick `ended` that took so many nanoseconds. */
struct hw_gpu_clock hw_gpu_clock_of(uint64_t begun, uint64_t ended, uint64_t nanoseconds);

/* Adds rows that the device kept: `count` of them, in the order of the steps. row: on
 * the device. Local. */
enum hw_status hw_gpu_add_rows(const struct hw_gpu_trace_record *row, hw_count count,
                               struct hw_gpu_clock clock, struct hw_steps *steps,
                               struct hw_error *err);

/* ---- shortest paths: gpu/sssp/common/sssp_engine.c ---- */

/* The same of methods for paths. Local. */
hw_count hw_gpu_sssp_host_bytes(const struct hw_part *part,
                                const struct hw_engine_options *options);

/* Learns the weights and the kind of distances; refuses those the method does not take. */
enum hw_status hw_gpu_sssp_weight_stats(struct hw_single_gpu_engine *engine, struct hw_error *err);

/* Lists the arrays, once the graph's counts are known. */
void hw_gpu_sssp_params(struct hw_single_gpu_engine *engine);

/* Brings the lists to the device, whose offsets are there. */
enum hw_status hw_gpu_sssp_upload(struct hw_single_gpu_engine *engine,
                                  const struct hw_degree_order *order, struct hw_error *err);

/* Fills outputs with what no search leaves. */
enum hw_status hw_gpu_sssp_poison(const struct hw_single_gpu_engine *engine, struct hw_error *err);

/* What follows a search: parents; both by graph id; whether they are sound; to the host, unless
 * result->parent is NULL. */
enum hw_status hw_gpu_sssp_parents(const struct hw_single_gpu_engine *engine, uint32_t root,
                                   struct hw_error *err);
enum hw_status hw_gpu_sssp_results(const struct hw_single_gpu_engine *engine, uint32_t root,
                                   struct hw_error *err);
enum hw_status hw_gpu_sssp_deliver(struct hw_single_gpu_engine *engine, struct hw_result *result,
                                   struct hw_error *err);

/* What rows of a routine are called. */
struct hw_gpu_routine_name {
    const char *name;
    enum hw_direction direction;
};

/* Adds rows that the device kept, as hw_gpu_add_rows(). Local. */
enum hw_status hw_gpu_add_path_rows(const struct hw_gpu_sssp_trace_record *row, hw_count count,
                                    struct hw_gpu_clock clock,
                                    const struct hw_gpu_routine_name *names, uint32_t routines,
                                    struct hw_steps *steps, struct hw_error *err);

#endif
