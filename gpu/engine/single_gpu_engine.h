/*
 * The frame of the methods on one GPU: it copies the graph to the device, allocates the outputs,
 * times searches and records their steps. A method adds its own arrays and the search
 * (struct hw_single_gpu_search); its algorithm adds the results (struct hw_result_ops).
 *
 * A search is timed by events on the device: before the first launch, with the output arrays
 * filled with a pattern; when the method's kernels are done; when the parents are complete in
 * search order; and when they are complete in graph ids in the device's memory. Levels and the
 * copies to the host come after the last event.
 */
#ifndef HOPWAVE_GPU_ENGINE_SINGLE_GPU_ENGINE_H
#define HOPWAVE_GPU_ENGINE_SINGLE_GPU_ENGINE_H

#include "gpu/device/device.h"
#include "gpu/engine/result_kernels.h"
#include "gpu/engine/step_trace.h"
#include "gpu/graph/degree_ordered_lists.h"
#include "gpu/graph/device_graph.h"
#include "gpu/validate/tree_cache.h"
#include "lib/engine/core/method.h"

struct hw_single_gpu_engine;

/*
 * What an algorithm needs from the frame beyond the search: arrays, lists with or without weights,
 * results. Breadth-first search: hw_bfs_result_ops; shortest paths: gpu/sssp/common. All functions
 * are local.
 */
struct hw_result_ops {
    size_t state_bytes; /* of engine->result_state, zeroed */
    bool weighted; /* upload() brings lists with weights, in place of graph.out.neighbor and in */
    /* Before the device is opened: refuses a part, reads its weights. NULL: nothing. */
    enum hw_status (*open)(struct hw_single_gpu_engine *engine, struct hw_error *err);
    /* Lists the arrays, once the graph's counts are known. */
    void (*add_arrays)(struct hw_single_gpu_engine *engine);
    /* Completes the graph on the device, where offsets, ids and unweighted lists are. */
    enum hw_status (*upload)(struct hw_single_gpu_engine *engine,
                             const struct hw_degree_order *order, struct hw_error *err);
    /* Fills the outputs with a pattern that no search writes. */
    enum hw_status (*poison)(const struct hw_single_gpu_engine *engine, struct hw_error *err);
    /* Memory of graph.edges words at least, to evict the caches with. */
    const void *(*lists)(const struct hw_single_gpu_engine *engine);
    /* Parents in search order, after a search and inside the clock. NULL: the search writes them.
     */
    enum hw_status (*parents)(const struct hw_single_gpu_engine *engine, uint32_t root,
                              struct hw_error *err);
    /* Results by graph id: the last part of the clock. */
    enum hw_status (*translate)(const struct hw_single_gpu_engine *engine, uint32_t root,
                                struct hw_error *err);
    /* After the clock: checks the results, and copies levels or distances to the host unless
     * result->parent is NULL. */
    enum hw_status (*deliver)(struct hw_single_gpu_engine *engine, uint32_t root,
                              struct hw_result *result, struct hw_error *err);
    /* Where searches leave their trees, once the engine is complete. */
    struct hw_result_view (*view)(const struct hw_single_gpu_engine *engine);
    /* Appends what followed the search to result->trace. */
    enum hw_status (*append_steps)(const struct hw_single_gpu_engine *engine,
                                   struct hw_result *result, struct hw_error *err);
};

extern const struct hw_result_ops hw_bfs_result_ops;

/* A method, as the frame calls it. All functions are local. */
struct hw_single_gpu_search {
    const struct hw_result_ops *results; /* of its algorithm */
    size_t state_bytes;                  /* of engine->state, zeroed */
    /* Lists the method's arrays on the device. The graph's counts are known, and its
     * lists still on the host. Returns HW_BAD_INPUT for graphs or options that it does
     * not do. */
    enum hw_status (*plan)(struct hw_single_gpu_engine *engine, const struct hw_degree_order *order,
                           struct hw_error *err);
    /* Fills them, once the graph is on the device. */
    enum hw_status (*open)(struct hw_single_gpu_engine *engine, struct hw_error *err);
    /* Launches a search that leaves parents (and settled) complete, or distances (and
     * hints); returns before it ends, or not. Other results, such as a negative
     * cycle or the width of buckets, goes to engine->result. */
    enum hw_status (*search)(struct hw_single_gpu_engine *engine, uint32_t root,
                             struct hw_error *err);
    /* Adds the rows of the search that has ended. */
    enum hw_status (*steps)(struct hw_single_gpu_engine *engine, struct hw_trace *steps,
                            struct hw_error *err);
    /* Frees what engine->state owns, whatever went wrong; NULL: nothing. */
    void (*close)(struct hw_single_gpu_engine *engine);
};

/* Events of the clock. SEARCHED: the method's kernels are done, those of the results follow. */
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
    const struct hw_single_gpu_search *ops; /* what the method adds: method->impl */
    const struct hw_context *ctx;
    const struct hw_part *part;
    struct hw_engine_options options;
    struct hw_gpu_arrays arrays;
    struct hw_gpu_graph graph;
    struct hw_gpu_output output;
    double parents_seconds;     /* of ops->results->parents() in the last search */
    struct hw_result *result;   /* of the search under way */
    uint32_t *staging;          /* [vertices + 1] on the host, pinned; or NULL */
    void *event[HW_GPU_EVENTS]; /* cudaEvent_t */
    void *result_state;         /* of ops->results */
    void *state;                /* the method's own */
};

/* Host memory in addition to the part, of which a description is enough: hw_method.bytes of methods
 * without more of their own. Local. */
hw_count hw_gpu_host_bytes(const struct hw_part *part, const struct hw_engine_options *options);

/* Of methods whose own is a struct hw_single_gpu_search. */
extern const struct hw_engine_ops hw_single_gpu_ops;

#endif
