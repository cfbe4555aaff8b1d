/* Delta-stepping on one GPU by the kernel of any number of GPUs: host side. */
#include "gpu/sssp/delta/one_gpu_delta_search.h"

#include "gpu/device/launch.h"
#include "gpu/sssp/common/delta_policy.h"
#include "gpu/sssp/common/sssp_engine_host.h"
#include "lib/engine/sssp/delta_heuristic.h"
#include "lib/engine/sssp/sssp_options.h"

/* Edges for each long list that can be deferred at a time; lists beyond that are not shared. */
#define LONG_LIST 512

static hw_count smaller(hw_count a, hw_count b)
{
    return a < b ? a : b;
}

/* The largest degree; in directed graphs, whose vertices are in order of the sum of both degrees,
 * at least half of it: a hub may have edges of one direction only. */
static double max_degree(const struct hw_degree_order *order)
{
    hw_count max = 0;

    if (order->active == 0)
        return 0;
    if (!order->by_degree && !order->part->directed) {
#pragma omp parallel for reduction(max : max)
        for (hw_lid v = 0; v < order->active; v++)
            if (order->out.offset[v + 1] - order->out.offset[v] > max)
                max = order->out.offset[v + 1] - order->out.offset[v];
        return (double)max;
    }
    const hw_count out = order->out.offset[1], in = order->part->directed ? order->in.offset[1] : 0;
    return (double)(out > in ? out : in);
}

static enum hw_status choose_config(const struct hw_gpu_engine *engine,
                                    struct hw_delta_config *config, double degree,
                                    struct hw_error *err)
{
    const double given = hw_delta_of(&engine->options);
    struct hw_delta_graph_class graph = {
        .vertices = engine->order.active,
        .mean_degree = degree,
        .max_degree = max_degree(&engine->order),
        .width = hw_bucket_width(&hw_sssp_state_of(engine)->weight_stats, degree),
        .whole_weights = engine->part->weights == HW_WEIGHTS_I32};
    uint64_t l2_bytes = 0;
    const enum hw_status status =
        hw_cuda(hw_l2_cache_bytes(&l2_bytes), "the size of the second-level cache", err);

    graph.exceeds_cache =
        graph.vertices * sizeof *hw_sssp_state_of(engine)->paths.hint > (double)l2_bytes / 3;
    config->kind = hw_sssp_state_of(engine)->paths.kind;
    config->packs_hints =
        hw_delta_packs_hints(&graph) && !engine->part->directed && config->kind != HW_GPU_KEY_I64;
    graph.pulls_first = config->packs_hints;
    config->policy = hw_delta_policy_of(&graph);
    config->no_light_heavy_split = degree < HW_DELTA_SHORT_LISTS;
    config->adaptive = given <= 0;
    config->delta = config->adaptive ? config->policy.first_bucket : given;
    config->mean_degree = (uint32_t)degree + 1;
    config->trace_capacity = (uint32_t)HW_GPU_TRACE_CAPACITY;
    config->long_list_capacity = (uint32_t)smaller(
        smaller((hw_count)engine->graph.edges / LONG_LIST + 1, (hw_count)engine->graph.core + 1),
        HW_DELTA_MAX_LONG_LISTS);
    return status;
}

enum hw_status hw_one_gpu_delta_search_plan(struct hw_gpu_engine *engine,
                                            struct hw_one_gpu_delta_search *search, double degree,
                                            struct hw_error *err)
{
    struct hw_delta_params *params = &search->params;
    struct hw_delta_queues *queues = &params->queues;
    struct hw_gpu_arrays *arrays = &engine->arrays;
    const hw_count core = engine->graph.core, active = engine->graph.active;

    const enum hw_status status = choose_config(engine, &params->config, degree, err);

    for (int half = 0; half < 2; half++) {
        hw_gpu_add(arrays, &queues->step_queue[half], core + 1, sizeof *queues->step_queue[half]);
        hw_gpu_add(arrays, &queues->rest_queue[half], core + 1, sizeof *queues->rest_queue[half]);
        /* The root may have one edge. */
        hw_gpu_add(arrays, &queues->step_marks[half], active / 32 + 1,
                   sizeof *queues->step_marks[half]);
        hw_gpu_add(arrays, &queues->long_list[half], params->config.long_list_capacity,
                   sizeof *queues->long_list[half]);
    }
    hw_gpu_add(arrays, &queues->rest_marks, core / 32 + 1, sizeof *queues->rest_marks);
    hw_gpu_add(arrays, &queues->lightest, active + 1, sizeof *queues->lightest);
    if (engine->graph.directed)
        hw_gpu_add(arrays, &queues->lightest_out, core + 1, sizeof *queues->lightest_out);
    if (params->config.packs_hints)
        hw_gpu_add(arrays, &queues->unsettled, active / 32 + 1, sizeof *queues->unsettled);
    hw_gpu_add(arrays, &params->control, 1, sizeof *params->control);
    if (engine->options.trace)
        hw_gpu_add(arrays, &params->trace, params->config.trace_capacity, sizeof *params->trace);
    return status;
}

enum hw_status hw_one_gpu_delta_search_open(const struct hw_gpu_engine *engine,
                                            struct hw_one_gpu_delta_search *search,
                                            struct hw_error *err)
{
    const struct hw_gpu_graph *graph = &engine->graph;
    const struct hw_gpu_sssp *paths = &hw_sssp_state_of(engine)->paths;
    struct hw_delta_params *params = &search->params;

    params->out = (struct hw_delta_lists){.offset = graph->out.offset, .edge = paths->out};
    params->in = (struct hw_delta_lists){.offset = graph->in.offset, .edge = paths->in};
    params->state = (struct hw_delta_state){.distance = paths->distance, .result = paths->hint};
    params->partition = (struct hw_delta_partition){.ranks = 1, .block_size = graph->active};
    params->vertices = (struct hw_delta_vertices){.core = graph->core,
                                                  .active = graph->active,
                                                  .core_of = {graph->core},
                                                  .active_of = {graph->active},
                                                  .all_core = graph->core};
    params->parentless = &paths->control->parentless;
    enum hw_status status = hw_cuda(hw_one_gpu_delta_search_launch_lightest(params, graph->wide),
                                    "the kernel that takes the lightest edges", err);
    if (status == HW_OK)
        status = hw_cuda(hw_one_gpu_delta_search_shape(params, graph->wide, &search->shape),
                         "method delta", err);
    if (status == HW_OK && params->config.packs_hints)
        status = hw_gpu_fill(params->queues.unsettled, 0,
                             (graph->active / 32 + 1) * sizeof *params->queues.unsettled, err);
    return status;
}

enum hw_status hw_one_gpu_delta_search_run(const struct hw_gpu_engine *engine,
                                           const struct hw_one_gpu_delta_search *search,
                                           struct hw_error *err)
{
    const struct hw_delta_search request = {.root = engine->root.vertex};

    return hw_cuda(hw_one_gpu_delta_search_launch(&search->params, engine->graph.wide, &request,
                                                  &search->shape),
                   "the kernel of method delta", err);
}
