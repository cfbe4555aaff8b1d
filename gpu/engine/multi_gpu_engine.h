/*
 * The frame of the methods on several GPUs, one rank and one part a GPU: devices, transport, clock,
 * agreement on failures, outputs. A method adds its own graph, its arrays and the search.
 *
 * A search is timed by three events on each device: after a barrier of the ranks, when this rank's
 * parents are complete in search order, and when they are complete in graph ids. The slowest rank
 * counts.
 */
#ifndef HOPWAVE_GPU_ENGINE_MULTI_GPU_ENGINE_H
#define HOPWAVE_GPU_ENGINE_MULTI_GPU_ENGINE_H

#include "gpu/comm/transport.h"
#include "gpu/device/device.h"
#include "gpu/validate/tree_cache.h"
#include "lib/engine/core/method.h"

struct hw_multi_gpu_engine;

/* A method, as the frame calls it. All functions are collective unless they say otherwise. A status
 * may differ between ranks if the function calls nothing collective afterwards: the frame agrees.
 */
struct hw_multi_gpu_search {
    size_t state_bytes; /* of engine->state, zeroed */
    /* Lists the arrays on the device (hw_gpu_add), sets engine->heap_bytes, and
     * engine->temporary_bytes to what open() allocates temporarily. */
    enum hw_status (*plan)(struct hw_multi_gpu_engine *engine, struct hw_error *err);
    /* Fills them; array and heap are there. */
    enum hw_status (*open)(struct hw_multi_gpu_engine *engine, struct hw_error *err);
    /* Fills the outputs with a pattern that no search writes, before the clock starts. */
    enum hw_status (*poison)(struct hw_multi_gpu_engine *engine, struct hw_error *err);
    /* Sets the root of the next search, before the clock starts. Ranks agree. */
    enum hw_status (*root)(struct hw_multi_gpu_engine *engine, int owner, hw_lid position,
                           struct hw_error *err);
    /* Launches a search; returns before it ends, or not. */
    enum hw_status (*search)(struct hw_multi_gpu_engine *engine, struct hw_error *err);
    /* The same for parents in graph ids. collective_translate: over other transports than peer it
     * needs all ranks, which then agree before they call it. */
    bool collective_translate;
    enum hw_status (*translate)(struct hw_multi_gpu_engine *engine, struct hw_error *err);
    /* The outcome of the search that has ended: HW_OK or its failure. Local. */
    enum hw_status (*outcome)(struct hw_multi_gpu_engine *engine, struct hw_error *err);
    /* Copies parents and levels or distances to the host. With result->parent NULL they stay where
     * engine->tree_cache.view points. */
    enum hw_status (*deliver)(struct hw_multi_gpu_engine *engine, struct hw_result *result,
                              struct hw_error *err);
    /* Appends the trace of the search that has ended. */
    enum hw_status (*steps)(struct hw_multi_gpu_engine *engine, struct hw_result *result,
                            struct hw_error *err);
    /* Frees what engine->state owns; called after failures too. */
    void (*close)(struct hw_multi_gpu_engine *engine);
};

struct hw_multi_gpu_engine {
    struct hw_gpu_tree_cache
        tree_cache; /* first: see gpu/validate/tree_cache.h; open() sets tree_cache.view */
    const struct hw_method *method;
    const struct hw_multi_gpu_search *ops; /* what the method adds: method->impl */
    const struct hw_context *ctx;
    const struct hw_part *part;
    struct hw_engine_options options;
    struct hw_transport transport;
    struct hw_gpu_arrays arrays;
    hw_count heap_bytes, temporary_bytes;
    void *event[3]; /* cudaEvent_t: begun, in search order, in graph ids */
    void *state;    /* the method's own */
};

/* Of methods whose own is a struct hw_multi_gpu_search. */
extern const struct hw_engine_ops hw_multi_gpu_ops;

#endif
