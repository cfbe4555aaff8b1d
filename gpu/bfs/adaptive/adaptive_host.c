/* Method `adaptive`: its host side. The search itself is in gpu/bfs/adaptive/adaptive_kernel.cu. */
#include "gpu/bfs/adaptive/adaptive.h"

#include "gpu/engine/gpu_methods.h"
#include "gpu/engine/single_gpu_engine.h"
#include "gpu/graph/build/csr_builder.h"
#include "lib/base/memory.h"

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

struct state {
    struct hw_adaptive_params plan;
    int blocks;
};

/* The share of the edges from which a level goes bottom-up. The paper has 0.1 (section 4.3);
 * where lists begin with hubs, going bottom-up pays earlier. */
#define ALPHA 0.02

/* The ways to make a queue that the options allow. */
static uint32_t ways_of(const struct hw_engine_options *options)
{
    static const unsigned option[HW_MADE_WAYS] = {[HW_MADE_NONE] = HW_QUEUE_NONE,
                                                  [HW_MADE_SCAN_FREE] = HW_QUEUE_SCAN_FREE,
                                                  [HW_MADE_SINGLE_SCAN] = HW_QUEUE_SINGLE_SCAN,
                                                  [HW_MADE_DOUBLE_SCAN] = HW_QUEUE_DOUBLE_SCAN,
                                                  [HW_MADE_STRIDED] = HW_QUEUE_STRIDED,
                                                  [HW_MADE_CLASSES] = HW_QUEUE_DEGREE_CLASSES};
    const uint32_t papers = 1u << HW_MADE_NONE | 1u << HW_MADE_SCAN_FREE |
                            1u << HW_MADE_SINGLE_SCAN | 1u << HW_MADE_DOUBLE_SCAN;
    uint32_t ways = 0;

    for (int way = 0; way < HW_MADE_WAYS; way++)
        if (options->queues & option[way])
            ways |= 1u << way;
    return ways ? ways : papers;
}

static int deal_of(enum hw_balance balance)
{
    switch (balance) {
    case HW_BALANCE_THREAD:
        return HW_DEALT_THREADS;
    case HW_BALANCE_STATIC:
        return HW_DEALT_STATIC;
    case HW_BALANCE_DONATE:
        return HW_DEALT_DONATE;
    default:
        return HW_DEALT_WARPS;
    }
}

/* Pieces that all long lists together are cut into. */
static hw_count count_pieces(const struct hw_degree_order *order)
{
    const hw_count *offset = order->out.offset;
    hw_count pieces = 0;

#pragma omp parallel for reduction(+ : pieces)
    for (hw_lid v = 0; v < order->active; v++) {
        hw_count length = offset[v + 1] - offset[v];
        if (length > HW_ADAPTIVE_LONG)
            pieces += (length + HW_ADAPTIVE_PIECE - 1) / HW_ADAPTIVE_PIECE;
    }
    return pieces;
}

static enum hw_status plan(struct hw_single_gpu_engine *engine, const struct hw_degree_order *order,
                           struct hw_error *err)
{
    struct state *state = engine->state;
    struct hw_adaptive_params *own = &state->plan;
    const struct hw_engine_options *options = &engine->options;
    struct hw_gpu_arrays *arrays = &engine->arrays;
    hw_count active = engine->graph.active, rows = (hw_count)engine->graph.vertices + 2;
    hw_count pieces = count_pieces(order);

    if (pieces > (hw_count)UINT32_MAX)
        return hw_fail(err, HW_BAD_INPUT,
                       "method adaptive cuts long lists into at most 2^32 pieces of %d edges",
                       HW_ADAPTIVE_PIECE);
    own->graph = engine->graph; /* its counts */
    own->direction = (int)options->direction;
    own->ways = ways_of(options);
    own->balance = deal_of(options->balance);
    own->async = options->async_bottom_up != HW_SWITCH_OFF;
    own->alpha = options->alpha > 0 ? options->alpha : ALPHA;
    own->row_capacity = (uint32_t)(rows < HW_GPU_TRACE_CAPACITY ? rows : HW_GPU_TRACE_CAPACITY);
    enum hw_status status =
        hw_cuda(hw_adaptive_launch_shape(own, &state->blocks), "method adaptive", err);
    if (status != HW_OK)
        return status;
    hw_gpu_add(arrays, &own->visited, active + 16, sizeof *own->visited);
    for (int half = 0; half < 2; half++)
        hw_gpu_add(arrays, &own->queue[half], active + 1, sizeof *own->queue[half]);
    hw_gpu_add(arrays, &own->piece, pieces, sizeof *own->piece);
    hw_gpu_add(arrays, &own->block_sum, (hw_count)state->blocks * HW_ADAPTIVE_CLASSES,
               sizeof *own->block_sum);
    hw_gpu_add(arrays, &own->control, 1, sizeof *own->control);
    if (options->profile)
        hw_gpu_add(arrays, &own->profile, HW_ADAPTIVE_DEGREES, sizeof *own->profile);
    if (options->steps)
        hw_gpu_add(arrays, &own->row, own->row_capacity, sizeof *own->row);
    return HW_OK;
}

static enum hw_status search(struct hw_single_gpu_engine *engine, uint32_t root,
                             struct hw_error *err)
{
    const struct state *state = engine->state;

    return hw_cuda(hw_adaptive_launch(&state->plan, state->blocks, root),
                   "the kernel of method adaptive", err);
}

static enum hw_status open_search(struct hw_single_gpu_engine *engine, struct hw_error *err)
{
    struct state *state = engine->state;

    state->plan.graph = engine->graph;
    state->plan.parent = engine->output.parent;
    state->plan.settled = engine->output.settled;
    /* The first launch of a kernel loads it: outside any clock. */
    enum hw_status status = search(engine, 0, err);
    return status == HW_OK ? hw_cuda((int)cudaDeviceSynchronize(), "method adaptive", err) : status;
}

/* The name of what ran in a step. */
static void name_routine(const struct hw_adaptive_params *own, const struct hw_adaptive_row *row,
                         struct hw_step *step)
{
    static const char *const ways[HW_MADE_WAYS] = {[HW_MADE_NONE] = "none",
                                                   [HW_MADE_SCAN_FREE] = "scan-free",
                                                   [HW_MADE_SINGLE_SCAN] = "single-scan",
                                                   [HW_MADE_DOUBLE_SCAN] = "double-scan",
                                                   [HW_MADE_STRIDED] = "strided",
                                                   [HW_MADE_CLASSES] = "degree-classes"};
    static const char *const deals[] = {[HW_DEALT_STATIC] = "static",
                                        [HW_DEALT_THREADS] = "thread",
                                        [HW_DEALT_WARPS] = "warp",
                                        [HW_DEALT_DONATE] = "donate"};
    const char *way = row->queue < HW_MADE_WAYS ? ways[row->queue] : "?";

    if (!row->pull)
        snprintf(step->routine, sizeof step->routine, "push %s", way);
    else if (row->queue == HW_MADE_CLASSES)
        snprintf(step->routine, sizeof step->routine, "pull %s%s", way, own->async ? " async" : "");
    else
        snprintf(step->routine, sizeof step->routine, "pull %s %s%s", way, deals[own->balance],
                 own->async ? " async" : "");
}

/* One row as the kernel kept it; *begun: when it began, then when it ended. */
static void fill_step(const struct hw_adaptive_params *own, const struct hw_adaptive_row *row,
                      struct hw_gpu_clock *clock, struct hw_step *step)
{
    double all = (double)(row->clock - clock->begun) * clock->seconds;
    double scans = (double)row->scanned * clock->seconds;

    name_routine(own, row, step);
    step->direction = row->pull ? HW_DIRECTION_BOTTOM_UP : HW_DIRECTION_TOP_DOWN;
    step->frontier = row->frontier;
    step->found = row->found;
    step->found_early = row->early;
    step->edges_examined = (hw_count)row->edges;
    step->seconds[HW_PHASE_UPDATE] = scans;
    step->seconds[HW_PHASE_EXPANSION] = all > scans ? all - scans : 0;
    clock->begun = row->clock;
}

/* Rows of the work bottom-up, one for each class of degrees. */
static enum hw_status add_profile(const struct hw_adaptive_params *own, struct hw_steps *steps,
                                  struct hw_error *err)
{
    struct hw_adaptive_profile profile[HW_ADAPTIVE_DEGREES];
    enum hw_status status = hw_gpu_get(profile, own->profile, sizeof profile, err);

    for (int bits = 1; bits < HW_ADAPTIVE_DEGREES && status == HW_OK; bits++) {
        if (profile[bits].vertices == 0)
            continue;
        struct hw_step *step = hw_steps_add(steps);
        if (!step)
            return hw_fail(err, HW_RESOURCES, "no memory for the measurements of the steps");
        snprintf(step->routine, sizeof step->routine, "degree %" PRId64, INT64_C(1) << (bits - 1));
        step->frontier = (hw_count)profile[bits].vertices;
        step->edges_examined = (hw_count)profile[bits].checked;
    }
    return status;
}

static enum hw_status steps(struct hw_single_gpu_engine *engine, struct hw_steps *steps,
                            struct hw_error *err)
{
    const struct hw_adaptive_params *own = &((struct state *)engine->state)->plan;
    struct hw_adaptive_control control;
    struct hw_adaptive_row *row = NULL;
    enum hw_status status = hw_gpu_get(&control, own->control, sizeof control, err);

    if (status != HW_OK)
        return status;
    uint32_t rows = control.rows < own->row_capacity ? control.rows : own->row_capacity;
    struct hw_gpu_clock clock =
        hw_gpu_clock_of(control.begun, control.ended, control.ended_time - control.begun_time);
    status = hw_alloc(&row, rows, sizeof *row, "the steps", err);
    if (status == HW_OK && rows > 0)
        status = hw_gpu_get(row, own->row, rows * sizeof *row, err);
    for (uint32_t r = 0; r < rows && status == HW_OK; r++) {
        struct hw_step *step = hw_steps_add(steps);
        if (step)
            fill_step(own, row + r, &clock, step);
        else
            status = hw_fail(err, HW_RESOURCES, "no memory for the measurements of the steps");
    }
    free(row);
    return status == HW_OK && own->profile ? add_profile(own, steps, err) : status;
}

static const struct hw_single_gpu_search adaptive = {.results = &hw_bfs_result_ops,
                                                     .state_bytes = sizeof(struct state),
                                                     .plan = plan,
                                                     .open = open_search,
                                                     .search = search,
                                                     .steps = steps};

const struct hw_method hw_method_adaptive = {.name = "adaptive",
                                             .frame = &hw_single_gpu_frame,
                                             .algorithm = HW_BFS,
                                             .grid = true,
                                             .one_part_only = true,
                                             .bytes = hw_gpu_host_bytes,
                                             .build = hw_gpu_build,
                                             .own = &adaptive};
