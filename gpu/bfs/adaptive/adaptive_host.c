/* Method `adaptive`, host side: sizes, launch, trace. The search is in
 * gpu/bfs/adaptive/adaptive_kernel.cu. */
#include "gpu/bfs/adaptive/adaptive.h"

#include "gpu/bfs/adaptive/adaptive_options.h"
#include "gpu/engine/gpu_method_list.h"
#include "gpu/engine/one_gpu_graph.h"
#include "gpu/engine/one_gpu_options.h"
#include "gpu/engine/step_trace.h"
#include "gpu/graph/build/csr_builder.h"

#include <stdio.h>

struct state {
    struct hw_adaptive_params params;
    int blocks;
};

/* The queue generation methods that the options allow. */
static uint32_t queue_methods_of(unsigned queues)
{
    static const unsigned option[HW_ADAPTIVE_QUEUE_METHODS] = {
        [HW_ADAPTIVE_QUEUE_NONE] = HW_QUEUE_NONE,
        [HW_ADAPTIVE_QUEUE_SCAN_FREE] = HW_QUEUE_SCAN_FREE,
        [HW_ADAPTIVE_QUEUE_SINGLE_SCAN] = HW_QUEUE_SINGLE_SCAN,
        [HW_ADAPTIVE_QUEUE_DOUBLE_SCAN] = HW_QUEUE_DOUBLE_SCAN,
        [HW_ADAPTIVE_QUEUE_STRIDED] = HW_QUEUE_STRIDED,
        [HW_ADAPTIVE_QUEUE_DEGREE_CLASSES] = HW_QUEUE_DEGREE_CLASSES};
    const uint32_t methods_of_paper =
        1u << HW_ADAPTIVE_QUEUE_NONE | 1u << HW_ADAPTIVE_QUEUE_SCAN_FREE |
        1u << HW_ADAPTIVE_QUEUE_SINGLE_SCAN | 1u << HW_ADAPTIVE_QUEUE_DOUBLE_SCAN;
    uint32_t methods = 0;

    for (int method = 0; method < HW_ADAPTIVE_QUEUE_METHODS; method++)
        if (queues & option[method])
            methods |= 1u << method;
    return methods ? methods : methods_of_paper;
}

static int balance_of(enum hw_balance balance)
{
    switch (balance) {
    case HW_BALANCE_THREAD:
        return HW_ADAPTIVE_BALANCE_THREAD;
    case HW_BALANCE_STATIC:
        return HW_ADAPTIVE_BALANCE_STATIC;
    case HW_BALANCE_DONATE:
        return HW_ADAPTIVE_BALANCE_DONATE;
    default:
        return HW_ADAPTIVE_BALANCE_WARP;
    }
}

/* Number of chunks that all long lists are split into. */
static hw_count count_chunks(const struct hw_degree_order *order)
{
    const hw_count *offset = order->out.offset;
    hw_count chunks = 0;

#pragma omp parallel for reduction(+ : chunks)
    for (hw_lid v = 0; v < order->active; v++) {
        hw_count length = offset[v + 1] - offset[v];
        if (length > HW_ADAPTIVE_MAX_SHORT_LIST)
            chunks += (length + HW_ADAPTIVE_CHUNK_EDGES - 1) / HW_ADAPTIVE_CHUNK_EDGES;
    }
    return chunks;
}

static void set_variant(const struct hw_adaptive_config *config, struct hw_adaptive_params *params)
{
    params->variant =
        (struct hw_adaptive_variant){.fetch = (uint32_t)config->fetch,
                                     .tests_in_flight = (uint32_t)config->tests_in_flight,
                                     .waiting_pool = config->waiting_pool,
                                     .first_neighbors = config->first_neighbors,
                                     .single_block_levels = config->single_block_levels};
    params->varies = config->fetch != 128 || config->tests_in_flight != 4 ||
                     !config->waiting_pool || !config->first_neighbors ||
                     !config->single_block_levels;
}

static enum hw_status plan(struct hw_gpu_engine *engine, struct hw_error *err)
{
    struct state *state = engine->state;
    struct hw_adaptive_params *params = &state->params;
    const struct hw_adaptive_config config = hw_adaptive_config(&engine->options);
    struct hw_gpu_arrays *arrays = &engine->arrays;
    hw_count active = engine->graph.active;
    hw_count chunks = count_chunks(&engine->order);

    if (chunks > (hw_count)UINT32_MAX)
        return hw_fail(err, HW_BAD_INPUT,
                       "method adaptive cuts long lists into at most 2^32 pieces of %d edges",
                       HW_ADAPTIVE_CHUNK_EDGES);
    params->graph = engine->graph; /* only its counts are valid here */
    params->direction = (int)config.direction;
    params->queue_methods = queue_methods_of(config.queues);
    params->balance = balance_of(config.balance);
    params->async = config.async_bottom_up;
    params->alpha = config.alpha;
    set_variant(&config, params);
    params->trace_capacity = hw_gpu_trace_capacity(engine->graph.vertices);
    enum hw_status status =
        hw_cuda(hw_adaptive_launch_shape(params, &state->blocks), "method adaptive", err);
    if (status != HW_OK)
        return status;
    hw_gpu_add(arrays, &params->status, active + 16, sizeof *params->status);
    for (int half = 0; half < 2; half++)
        hw_gpu_add(arrays, &params->queue[half], active + 1, sizeof *params->queue[half]);
    hw_gpu_add(arrays, &params->chunk, chunks, sizeof *params->chunk);
    hw_gpu_add(arrays, &params->block_sum, (hw_count)state->blocks * HW_ADAPTIVE_CLASSES,
               sizeof *params->block_sum);
    hw_gpu_add(arrays, &params->control, 1, sizeof *params->control);
    if (config.profile)
        hw_gpu_add(arrays, &params->profile, HW_ADAPTIVE_DEGREES, sizeof *params->profile);
    if (engine->options.trace)
        hw_gpu_add(arrays, &params->trace, params->trace_capacity, sizeof *params->trace);
    return HW_OK;
}

static enum hw_status search(struct hw_gpu_engine *engine, struct hw_error *err)
{
    const struct state *state = engine->state;

    return hw_cuda(hw_adaptive_launch(&state->params, state->blocks, engine->root.vertex),
                   "the kernel of method adaptive", err);
}

static enum hw_status open_search(struct hw_gpu_engine *engine, struct hw_error *err)
{
    struct state *state = engine->state;

    state->params.graph = engine->graph;
    state->params.parent = engine->output.parent;
    state->params.parent_is_first_neighbor = engine->output.settled;
    return hw_gpu_run_first_search(engine, err);
}

/* Names the routine of a step. */
static void name_routine(const struct hw_adaptive_params *params,
                         const struct hw_adaptive_trace_record *record,
                         struct hw_trace_record *step)
{
    static const char *const names[HW_ADAPTIVE_QUEUE_METHODS] = {
        [HW_ADAPTIVE_QUEUE_NONE] = "none",
        [HW_ADAPTIVE_QUEUE_SCAN_FREE] = "scan-free",
        [HW_ADAPTIVE_QUEUE_SINGLE_SCAN] = "single-scan",
        [HW_ADAPTIVE_QUEUE_DOUBLE_SCAN] = "double-scan",
        [HW_ADAPTIVE_QUEUE_STRIDED] = "strided",
        [HW_ADAPTIVE_QUEUE_DEGREE_CLASSES] = "degree-classes"};
    static const char *const balances[] = {[HW_ADAPTIVE_BALANCE_STATIC] = "static",
                                           [HW_ADAPTIVE_BALANCE_THREAD] = "thread",
                                           [HW_ADAPTIVE_BALANCE_WARP] = "warp",
                                           [HW_ADAPTIVE_BALANCE_DONATE] = "donate"};
    const char *method = record->queue < HW_ADAPTIVE_QUEUE_METHODS ? names[record->queue] : "?";

    if (!record->pull)
        snprintf(step->routine, sizeof step->routine, "push %s", method);
    else if (record->queue == HW_ADAPTIVE_QUEUE_DEGREE_CLASSES)
        snprintf(step->routine, sizeof step->routine, "pull %s%s", method,
                 params->async ? " async" : "");
    else
        snprintf(step->routine, sizeof step->routine, "pull %s %s%s", method,
                 balances[params->balance], params->async ? " async" : "");
}

/* Of fill_step(). */
struct fill_context {
    const struct hw_adaptive_params *params;
    struct hw_gpu_clock clock;
};

/* Converts one trace record. */
static void fill_step(struct hw_trace_record *step, const void *records, hw_count r, void *context)
{
    const struct hw_adaptive_trace_record *record =
        (const struct hw_adaptive_trace_record *)records + r;
    struct fill_context *fill = context;
    double all = hw_gpu_clock_advance(&fill->clock, record->clock);
    double scans = (double)record->scanned * fill->clock.seconds;

    name_routine(fill->params, record, step);
    step->direction = record->pull ? HW_DIRECTION_BOTTOM_UP : HW_DIRECTION_TOP_DOWN;
    step->frontier = record->frontier;
    step->discovered = record->found;
    step->discovered_next = record->early;
    step->edges_examined = (hw_count)record->edges;
    step->seconds[HW_PHASE_UPDATE] = scans;
    step->seconds[HW_PHASE_EXPANSION] = all > scans ? all - scans : 0;
}

/* Appends one step per degree class of the profile. */
static enum hw_status add_profile(const struct hw_adaptive_params *params, struct hw_trace *steps,
                                  struct hw_error *err)
{
    struct hw_adaptive_profile profile[HW_ADAPTIVE_DEGREES];
    enum hw_status status = hw_gpu_get(profile, params->profile, sizeof profile, err);

    for (int bits = 1; bits < HW_ADAPTIVE_DEGREES && status == HW_OK; bits++) {
        if (profile[bits].vertices == 0)
            continue;
        struct hw_trace_record *step = NULL;
        char name[sizeof step->routine];
        snprintf(name, sizeof name, "degree %" PRId64, INT64_C(1) << (bits - 1));
        HW_TRY(hw_gpu_append_named(steps, name, &step, err));
        step->frontier = (hw_count)profile[bits].vertices;
        step->edges_examined = (hw_count)profile[bits].checked;
    }
    return status;
}

/* Appends a step for each count of a variant. */
static enum hw_status add_variant(const struct hw_adaptive_params *params,
                                  const struct hw_adaptive_variant_counts *counts,
                                  struct hw_trace *steps, struct hw_error *err)
{
    const struct {
        const char *name;
        unsigned long long count;
    } rows[] = {{"first neighbors", counts->first_neighbors},
                {"waiting pool", counts->waited},
                {"fetches", counts->fetches},
                {"single-block levels", counts->single_block_levels}};

    for (size_t r = 0; params->varies && r < sizeof rows / sizeof *rows; r++) {
        struct hw_trace_record *step = NULL;
        HW_TRY(hw_gpu_append_named(steps, rows[r].name, &step, err));
        step->frontier = (hw_count)rows[r].count;
    }
    return HW_OK;
}

static enum hw_status steps(struct hw_gpu_engine *engine, struct hw_trace *steps,
                            struct hw_error *err)
{
    const struct hw_adaptive_params *params = &((struct state *)engine->state)->params;
    struct hw_adaptive_control control;
    enum hw_status status = hw_gpu_get(&control, params->control, sizeof control, err);

    if (status != HW_OK)
        return status;
    struct fill_context fill = {.params = params,
                                .clock = hw_gpu_clock_of(control.begin_ticks, control.end_ticks,
                                                         control.end_ns - control.begin_ns)};
    const struct hw_gpu_records records = {
        .record = params->trace,
        .count = hw_gpu_trace_stored(control.trace_records, params->trace_capacity),
        .size = sizeof *params->trace,
        .fill = fill_step,
        .context = &fill};
    status = hw_gpu_append_records(&records, steps, err);
    if (status == HW_OK)
        status = add_variant(params, &control.variant, steps, err);
    return status == HW_OK && params->profile ? add_profile(params, steps, err) : status;
}

static const struct hw_gpu_search adaptive = {.results = &hw_one_gpu_bfs_results,
                                              .state_bytes = sizeof(struct state),
                                              .plan = plan,
                                              .open = open_search,
                                              .search = search,
                                              .steps = steps};

const struct hw_method hw_method_adaptive = {.descriptor = &hw_descriptor_adaptive,
                                             .ops = &hw_gpu_engine_ops,
                                             .bytes = hw_gpu_host_bytes,
                                             .build = hw_gpu_build,
                                             .builds_on_host = hw_gpu_numbers_by_id,
                                             .impl = &adaptive};
