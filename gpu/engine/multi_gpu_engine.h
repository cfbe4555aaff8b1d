/*
 * The frame of the GPU methods on several parts, one rank a GPU: devices, transport, the
 * clock, agreement on failures, the outputs. A method adds its own graph and arrays, and the
 * search itself.
 *
 * The clock of a search is three events on each device: one after a barrier of the ranks,
 * one when this rank's parents are known in search order, one when they are complete in
 * graph ids. The slowest rank counts.
 */
#ifndef HOPWAVE_GPU_ENGINE_MULTI_GPU_ENGINE_H
#define HOPWAVE_GPU_ENGINE_MULTI_GPU_ENGINE_H

#include "gpu/comm/transport.h"
#include "gpu/device/device.h"
#include "gpu/validate/tree_cache.h"
#include "lib/engine/core/method.h"

struct hw_multi_gpu_engine;

/* What a method adds to the frame. All functions are collective; those that return a
 * status may return different ones on different ranks, but only where they call nothing
 * collective any more: the frame agrees on them. */
struct hw_multi_gpu_search {
    size_t state_bytes; /* of engine->state, zeroed */
    /* Lists the arrays on the device (hw_gpu_add), sets engine->heap_bytes, and
     * engine->temporary_bytes to what it allocates for a while. */
    enum hw_status (*plan)(struct hw_multi_gpu_engine *engine, struct hw_error *err);
    /* Fills them; array and heap are there. */
    enum hw_status (*open)(struct hw_multi_gpu_engine *engine, struct hw_error *err);
    /* Unsets what no search leaves, outside the clock. */
    enum hw_status (*poison)(struct hw_multi_gpu_engine *engine, struct hw_error *err);
    /* Takes the root of the next search, outside the clock. Ranks agree. */
    enum hw_status (*root)(struct hw_multi_gpu_engine *engine, int owner, hw_lid position,
                           struct hw_error *err);
    /* Launches a search; returns before it ends, or not. */
    enum hw_status (*search)(struct hw_multi_gpu_engine *engine, struct hw_error *err);
    /* The same for parents in graph ids. collective_translate: over other transports than peer it
     * needs all ranks, which then agree before they call it. */
    bool collective_translate;
    enum hw_status (*translate)(struct hw_multi_gpu_engine *engine, struct hw_error *err);
    /* Whether the search that has ended went wrong. Local. */
    enum hw_status (*verdict)(struct hw_multi_gpu_engine *engine, struct hw_error *err);
    /* Brings parents and levels or distances to the host, unless result->parent is NULL, and then
     * sees to it that engine->tree_cache.view shows them. */
    enum hw_status (*deliver)(struct hw_multi_gpu_engine *engine, struct hw_result *result,
                              struct hw_error *err);
    /* Adds the rows of the search that has ended. */
    enum hw_status (*steps)(struct hw_multi_gpu_engine *engine, struct hw_result *result,
                            struct hw_error *err);
    /* Frees what state owns; called whatever went wrong. */
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
