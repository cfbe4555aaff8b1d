/*
 * The frame of the GPU methods: the part on the device, the outputs, the clock and the
 * rows of the steps. A method adds its own arrays and the search itself.
 *
 * The clock of a search is two events on the device: one before the first launch, with
 * the output arrays poisoned, one when the parents in graph ids are complete in the
 * device's memory; a third, between them, when they are complete in search order.
 * Levels, and the copies to the host, come after it.
 */
#ifndef HOPWAVE_GPU_ENGINE_H
#define HOPWAVE_GPU_ENGINE_H

#include "device.h"
#include "engine/engine.h"
#include "graph.h"
#include "kernels.h"
#include "lists.h"

struct hw_gpu_engine;

/* Rows of steps that the device keeps at most; later steps add to the last one. */
#define HW_GPU_ROWS ((hw_count)1 << 20)

/* What a method adds to the frame. All functions are local. */
struct hw_gpu_search {
    const char *name;
    size_t state_bytes; /* of engine->state, zeroed */
    /* Lists the method's arrays on the device. The graph's counts are known, and its
     * lists still on the host. Returns HW_BAD_INPUT for graphs or options that it does
     * not do. */
    enum hw_status (*plan)(struct hw_gpu_engine *engine, const struct hw_host_order *order,
                           struct hw_error *err);
    /* Fills them, once the graph is on the device. */
    enum hw_status (*open)(struct hw_gpu_engine *engine, struct hw_error *err);
    /* Launches a search that leaves parents (and settled) complete; returns before it
     * ends, or not. */
    enum hw_status (*search)(struct hw_gpu_engine *engine, uint32_t root, struct hw_error *err);
    /* Adds the rows of the search that has ended. */
    enum hw_status (*steps)(struct hw_gpu_engine *engine, struct hw_steps *steps,
                            struct hw_error *err);
};

struct hw_gpu_engine {
    const struct hw_gpu_search *method;
    const struct hw_context *ctx;
    const struct hw_part *part;
    struct hw_engine_options options;
    struct hw_gpu_arrays arrays;
    struct hw_gpu_graph graph;
    struct hw_gpu_output output;
    uint32_t *staging; /* [vertices + 1] on the host, pinned */
    void *event[3];    /* cudaEvent_t: begun, in search order, in graph ids */
    void *state;       /* the method's own */
};

/* Host memory beside the part, which may be described alone. Local. */
hw_count hw_gpu_host_bytes(const struct hw_part *part);

/* The functions of struct hw_method, for any hw_gpu_search. */
enum hw_status hw_gpu_create(const struct hw_gpu_search *method, const struct hw_context *ctx,
                             const struct hw_part *part, const struct hw_engine_options *options,
                             void **engine, struct hw_error *err);
enum hw_status hw_gpu_run(void *engine, int owner, hw_lid position, struct hw_result *result,
                          struct hw_error *err);
void hw_gpu_destroy(void *engine);

/* When the rows of a search began, on the clock they are kept by, and its speed. */
struct hw_gpu_clock {
    uint64_t begun;
    double seconds; /* of one tick */
};

/* Adds rows that the device kept: `count` of them, in the order of the steps. row: on
 * the device. Local. */
enum hw_status hw_gpu_add_rows(const struct hw_gpu_row *row, hw_count count,
                               struct hw_gpu_clock clock, struct hw_steps *steps,
                               struct hw_error *err);

#endif
