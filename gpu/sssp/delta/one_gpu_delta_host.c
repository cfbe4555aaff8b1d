/* Delta-stepping on one GPU: host side of method `delta` (gpu/sssp/delta/one_gpu_delta_kernel.cu).
 */
#include "gpu/sssp/delta/delta_kernel_option.h"
#include "gpu/sssp/delta/delta_trace.h"
#include "gpu/sssp/delta/one_gpu_delta.h"
#include "gpu/sssp/delta/one_gpu_delta_search.h"
#include "lib/engine/sssp/sssp_options.h"

#include "gpu/engine/gpu_method_list.h"
#include "gpu/graph/build/csr_builder.h"
#include "gpu/sssp/common/delta_policy.h"
#include "gpu/sssp/common/sssp_engine_host.h"
#include "lib/engine/sssp/delta_heuristic.h"

#include <cuda_runtime_api.h>

/* Edges for each long list that can be deferred at a time; lists beyond that are not shared. */
#define LONG_LIST 512

struct state {
    enum hw_delta_kernel kernel;           /* not HW_DELTA_KERNEL_AUTO */
    struct hw_one_gpu_delta_params params; /* unless HW_DELTA_KERNEL_BALANCED */
    struct hw_one_gpu_delta_shape shape;   /* likewise */
    struct hw_one_gpu_delta_search balanced;
};

/* Counts the records of small frontiers: one for each vertex, and further ones for longer lists, of
 * which the last has HW_SMALL_FRONTIER_RECORD_EDGES edges and each before it one less. Returns
 * false where a list is too long for that kernel. */
static bool count_records(const struct hw_degree_order *order, hw_count *records)
{
    const hw_count *offset = order->out.offset;

    *records = order->core;
    for (hw_lid v = 0; v < order->core; v++) {
        hw_count length = offset[v + 1] - offset[v];
        if (length > HW_DELTA_SMALL_FRONTIER_MAX_LIST)
            return false;
        *records += length > HW_SMALL_FRONTIER_RECORD_EDGES
                        ? (length - 2) / (HW_SMALL_FRONTIER_RECORD_EDGES - 1)
                        : 0;
    }
    return *records < (hw_count)INT32_MAX;
}

static void add_small_frontier_arrays(struct hw_one_gpu_delta_params *params,
                                      struct hw_gpu_arrays *arrays, hw_count records)
{
    params->single_cta_vertices = HW_DELTA_SMALL_FRONTIER_SINGLE_CTA;
    params->vertices_per_block = HW_DELTA_SMALL_FRONTIER_VERTICES_PER_BLOCK;
    params->min_rounds = HW_DELTA_SMALL_FRONTIER_MIN_ROUNDS;
    params->idle_fraction = HW_DELTA_SMALL_FRONTIER_IDLE_FRACTION;
    hw_gpu_add(arrays, &params->record, (records + 1) * HW_SMALL_FRONTIER_RECORD_EDGES,
               sizeof *params->record);
}

/* Arrays of the kernel with a light/heavy split. */
static void add_long_list_arrays(struct hw_one_gpu_delta_params *params,
                                 struct hw_gpu_arrays *arrays, const struct hw_gpu_graph *graph)
{
    hw_count core = graph->core, num_long_lists = (hw_count)graph->edges / LONG_LIST + 1;

    params->long_list_capacity = (uint32_t)(num_long_lists < core + 1 ? num_long_lists : core + 1);
    for (int half = 0; half < 2; half++)
        hw_gpu_add(arrays, &params->long_list[half], params->long_list_capacity,
                   sizeof *params->long_list[half]);
    hw_gpu_add(arrays, &params->lightest_in, core + 1, sizeof *params->lightest_in);
    if (graph->directed)
        hw_gpu_add(arrays, &params->lightest_out, core + 1, sizeof *params->lightest_out);
}

/* The kernel for a graph whose vertices with edges have `degree` of them on average. */
static enum hw_delta_kernel choose_kernel(const struct hw_gpu_engine *engine, double degree,
                                          hw_count *records)
{
    const struct hw_degree_order *order = &engine->order;
    const enum hw_delta_kernel asked = hw_delta_kernel_of(&engine->options);
    const bool floats = engine->part->weights == HW_WEIGHTS_F32;
    const double longest = order->core > 0 ? (double)order->out.offset[1] : 0; /* the first list */
    const bool small_frontier = (degree < HW_DELTA_SMALL_FRONTIER_MAX_MEAN_DEGREE ||
                                 asked == HW_DELTA_KERNEL_SMALL_FRONTIER) &&
                                count_records(order, records);

    if (asked == HW_DELTA_KERNEL_BALANCED || asked == HW_DELTA_KERNEL_QUARTERS)
        return asked;
    if (small_frontier)
        return HW_DELTA_KERNEL_SMALL_FRONTIER;
    return !engine->graph.directed && floats &&
                   engine->graph.vertices >= HW_DELTA_BALANCED_MIN_VERTICES &&
                   degree >= HW_DELTA_SHORT_LISTS && longest >= HW_DELTA_BALANCED_MIN_SKEW * degree
               ? HW_DELTA_KERNEL_BALANCED
               : HW_DELTA_KERNEL_QUARTERS;
}

static enum hw_status choose_params(struct hw_gpu_engine *engine, struct hw_error *err)
{
    const struct hw_degree_order *order = &engine->order;
    struct state *state = engine->state;
    struct hw_one_gpu_delta_params *params = &state->params;
    struct hw_gpu_arrays *arrays = &engine->arrays;
    hw_count core = engine->graph.core, records = 0;
    double degree = order->active > 0 ? (double)engine->graph.edges / order->active : 1;

    (void)err;
    state->kernel = choose_kernel(engine, degree, &records);
    engine->kernel = hw_delta_kernel_name(state->kernel);
    if (state->kernel == HW_DELTA_KERNEL_BALANCED) {
        hw_sssp_state_of(engine)->has_parents = true;
        hw_one_gpu_delta_search_plan(engine, &state->balanced, degree);
        return HW_OK;
    }
    const bool small_frontier = state->kernel == HW_DELTA_KERNEL_SMALL_FRONTIER;
    params->no_light_heavy_split = degree < HW_DELTA_SHORT_LISTS;
    params->adaptive = hw_delta_of(&engine->options) <= 0;
    params->delta = params->adaptive
                        ? hw_bucket_width(&hw_sssp_state_of(engine)->weight_stats, degree) *
                              (small_frontier                 ? HW_DELTA_SMALL_FRONTIER_BUCKET
                               : params->no_light_heavy_split ? HW_DELTA_ONE_GPU_SHORT_LIST_BUCKET
                                                              : HW_DELTA_ONE_GPU_FIRST_BUCKET)
                        : hw_delta_of(&engine->options);
    params->mean_degree = (uint32_t)degree + 1;
    params->trace_capacity = (uint32_t)HW_GPU_TRACE_CAPACITY;
    for (int half = 0; half < 2; half++) {
        hw_gpu_add(arrays, &params->step_queue[half], core + 1, sizeof *params->step_queue[half]);
        hw_gpu_add(arrays, &params->rest_queue[half], core + 1, sizeof *params->rest_queue[half]);
        hw_gpu_add(arrays, &params->step_marks[half], core / 32 + 1,
                   sizeof *params->step_marks[half]);
    }
    hw_gpu_add(arrays, &params->rest_marks, core / 32 + 1, sizeof *params->rest_marks);
    if (small_frontier)
        add_small_frontier_arrays(params, arrays, records);
    else
        add_long_list_arrays(params, arrays, &engine->graph);
    hw_gpu_add(arrays, &params->control, 1, sizeof *params->control);
    if (engine->options.trace)
        hw_gpu_add(arrays, &params->trace, params->trace_capacity, sizeof *params->trace);
    return HW_OK;
}

/* Fills the arrays that choose_params() added. */
static enum hw_status prepare(const struct hw_one_gpu_delta_params *params, struct hw_error *err)
{
    if (params->record)
        return hw_cuda(hw_small_frontier_launch_records(params),
                       "the kernel that puts lists into records", err);
    return hw_cuda(hw_one_gpu_delta_launch_lightest(params), "the kernel that takes first edges",
                   err);
}

static enum hw_status search(struct hw_gpu_engine *engine, struct hw_error *err)
{
    const struct state *state = engine->state;
    const bool balanced = state->kernel == HW_DELTA_KERNEL_BALANCED;

    if (engine->result)
        engine->result->delta =
            balanced ? state->balanced.params.config.delta : state->params.delta;
    if (balanced)
        return hw_one_gpu_delta_search_run(engine, &state->balanced, err);
    return hw_cuda(hw_one_gpu_delta_launch(&state->params, &state->shape, engine->root.vertex),
                   "the kernel of method delta", err);
}

static enum hw_status open_search(struct hw_gpu_engine *engine, struct hw_error *err)
{
    struct state *state = engine->state;
    enum hw_status status = HW_OK;

    if (state->kernel == HW_DELTA_KERNEL_BALANCED) {
        status = hw_one_gpu_delta_search_open(engine, &state->balanced, err);
    } else {
        state->params.graph = engine->graph;
        state->params.sssp = hw_sssp_state_of(engine)->paths;
        status = prepare(&state->params, err);
        if (status == HW_OK)
            status = hw_cuda(hw_one_gpu_delta_launch_shape(&state->params, &state->shape),
                             "method delta", err);
    }
    /* The first launch of a kernel loads it; this one is not timed. */
    if (status == HW_OK)
        status = search(engine, err);
    return status == HW_OK ? hw_cuda((int)cudaDeviceSynchronize(), "method delta", err) : status;
}

/* Adds the vertices of degree 1 to the last trace record: an edge each, and those reached. */
static enum hw_status add_leaves(const struct hw_gpu_engine *engine, struct hw_trace *steps,
                                 struct hw_error *err)
{
    const uint32_t core = engine->graph.core, root = engine->root.vertex;
    uint32_t reached = 0;
    enum hw_status status = hw_gpu_fill(engine->output.changed, 0, sizeof reached, err);

    if (status == HW_OK)
        status =
            hw_cuda(hw_gpu_launch_count_reached(&engine->graph, &hw_sssp_state_of(engine)->paths,
                                                core, engine->output.changed),
                    "the kernel that counts leaves", err);
    if (status == HW_OK)
        status = hw_gpu_get(&reached, engine->output.changed, sizeof reached, err);
    if (status != HW_OK || steps->count == 0)
        return status;
    struct hw_trace_record *last = &steps->record[steps->count - 1];
    const hw_count leaves = engine->graph.active - core;
    last->discovered += (hw_count)reached - (root >= core && root < engine->graph.active);
    last->pulled += leaves;
    last->edges_examined += leaves;
    return HW_OK;
}

/* Appends the trace of a search by another kernel than HW_DELTA_KERNEL_BALANCED. */
static enum hw_status append_trace(const struct state *state, struct hw_trace *steps,
                                   struct hw_error *err)
{
    static const struct hw_gpu_routine_name names[HW_ONE_GPU_DELTA_ROUTINES] = {
        [HW_ONE_GPU_DELTA_ROOT] = {"root", HW_DIRECTION_TOP_DOWN},
        [HW_ONE_GPU_DELTA_PUSH] = {"push", HW_DIRECTION_TOP_DOWN},
        [HW_ONE_GPU_DELTA_LIGHT_PUSH] = {"short.push", HW_DIRECTION_TOP_DOWN},
        [HW_ONE_GPU_DELTA_NEXT_STEP] = {"next step", HW_DIRECTION_AUTO},
        [HW_ONE_GPU_DELTA_HEAVY_PUSH] = {"long.push", HW_DIRECTION_TOP_DOWN},
        [HW_ONE_GPU_DELTA_HEAVY_PULL] = {"long.pull", HW_DIRECTION_BOTTOM_UP},
        [HW_ONE_GPU_DELTA_NEXT_BUCKET] = {"next bucket", HW_DIRECTION_AUTO},
        [HW_ONE_GPU_DELTA_TAIL] = {"tail", HW_DIRECTION_TOP_DOWN},
        [HW_ONE_GPU_DELTA_LEAVES] = {"leaves", HW_DIRECTION_BOTTOM_UP},
    };
    const struct hw_one_gpu_delta_params *params = &state->params;
    struct hw_one_gpu_delta_control control;
    enum hw_status status = hw_gpu_get(&control, params->control, sizeof control, err);

    if (status != HW_OK)
        return status;
    uint32_t records = control.trace_records < params->trace_capacity ? control.trace_records
                                                                      : params->trace_capacity;
    struct hw_gpu_clock clock =
        hw_gpu_clock_of(control.begin_ticks, control.end_ticks, control.end_ns - control.begin_ns);
    return hw_gpu_sssp_append_trace(params->trace, records, clock, names, HW_ONE_GPU_DELTA_ROUTINES,
                                    steps, err);
}

static enum hw_status steps(struct hw_gpu_engine *engine, struct hw_trace *steps,
                            struct hw_error *err)
{
    const struct state *state = engine->state;
    enum hw_status status = state->kernel == HW_DELTA_KERNEL_BALANCED
                                ? hw_delta_append_trace(&state->balanced.params, false, steps, err)
                                : append_trace(state, steps, err);

    return status == HW_OK ? add_leaves(engine, steps, err) : status;
}

static const struct hw_sssp_search delta = {.base = {.results = &hw_one_gpu_sssp_results,
                                                     .state_bytes = sizeof(struct state),
                                                     .plan = choose_params,
                                                     .open = open_search,
                                                     .search = search,
                                                     .steps = steps},
                                            .sort_by_weight = true,
                                            .hints = HW_GPU_HINTS_KEYS};

const struct hw_method hw_method_gpu_delta = {.descriptor = &hw_descriptor_gpu_delta,
                                              .ops = &hw_gpu_engine_ops,
                                              .bytes = hw_gpu_sssp_host_bytes,
                                              .build = hw_gpu_build_by_weight,
                                              .build_on_host = hw_gpu_build,
                                              .lists_on_device = true,
                                              .impl = &delta.base};
