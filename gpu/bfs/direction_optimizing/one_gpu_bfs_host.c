/* Method `fused` on one GPU, host side: choice of the kernel, and of that which searches by levels
 * (gpu/bfs/direction_optimizing/one_gpu_bfs_kernel.cu) sizes, preparation, launch, trace. */
#include "gpu/bfs/direction_optimizing/one_gpu_bfs.h"
#include "gpu/bfs/direction_optimizing/small_frontier/small_frontier_bfs_host.h"

#include "gpu/device/packed_queue.h"
#include "gpu/engine/gpu_method_list.h"
#include "gpu/engine/one_gpu_graph.h"
#include "gpu/engine/results_on_host.h"
#include "gpu/engine/step_trace.h"
#include "gpu/graph/build/csr_builder.h"
#include "gpu/graph/degree_summary.h"
#include "gpu/sssp/common/small_frontier_host.h"

/* Frontiers of up to so many edges are queued. */
#define MIN_UNQUEUED_EDGES (1u << 17)

/* Bins of edges: 512 of them, or 1024 where parents of larger ones would take shared memory that is
 * of use as cache; bits of the least one; and room for edges per vertex. */
#define FEW_BINS 512
#define MORE_BINS 1024
#define MIN_BIN_BITS 8
#define BIN_EDGES_PER_VERTEX 4u

/* Picoseconds per edge of a level that bins its edges, in the graph's own order. In the order of
 * degrees it takes 15 to 23, and R-MAT 24 of .45, .15, .15, .25 has 362 GTEPS with the usual cost,
 * 358 with this one (one H200; 2026-11-27). */
#define BIN_EDGE_COST 12

struct state {
    bool small_frontier; /* else by levels */
    struct hw_small_frontier_bfs_search front;
    struct hw_one_gpu_bfs_params params;
    struct hw_one_gpu_bfs_shape shape;
};

/* Costs in picoseconds of a whole H200, R-MAT graphs of edge factor 16. */
static void set_policy(const struct hw_gpu_engine *engine, struct hw_bfs_policy *policy)
{
    const struct hw_degree_order *order = &engine->order;
    const hw_count *offset = order->part->directed ? order->in.offset : order->out.offset;
    struct hw_bfs_degree_classes classes = {.count = {0}};

    *policy = (struct hw_bfs_policy){
        .direction = (int)hw_direction_of(&engine->options),
        .parts = 1,
        .core = order->core,
        .edges = engine->graph.edges,
        .broadcast_edges = MIN_UNQUEUED_EDGES,
        .bits_fraction = 1,
        .pull_weight = hw_fused_pull_weight(&engine->options),
        .costs = {.push_edge = 25, .only_edge = 25, .pull_first = 5, .pull = 5e6f}};
    for (hw_lid v = 0; v < order->core; v++)
        if (offset[v + 1] > offset[v])
            hw_bfs_count_degree(&classes, (uint64_t)(offset[v + 1] - offset[v]));
    hw_bfs_tabulate(&classes, order->by_degree, policy);
}

/* Whether all neighbors of all vertices are inline. */
static bool are_lists_short(const struct hw_degree_order *order)
{
    const hw_count *offset = order->out.offset;
    hw_count long_lists = 0;

#pragma omp parallel for reduction(+ : long_lists)
    for (hw_lid v = 0; v < order->vertices; v++)
        long_lists += offset[v + 1] - offset[v] > HW_ONE_GPU_BFS_INLINE_NEIGHBORS;
    return long_lists == 0;
}

/* The first vertex from which on all neighbors are inline, so that their lists are not read. None
 * in directed graphs, where inline neighbors are in-neighbors. */
static uint32_t find_short_list_begin(const struct hw_degree_order *order)
{
    hw_lid from = 0, to = order->vertices;

    if (order->part->directed)
        return HW_INVALID_VERTEX;
    if (!order->by_degree)
        return are_lists_short(order) ? 0 : HW_INVALID_VERTEX;
    while (from < to) {
        hw_lid middle = from + (to - from) / 2;
        if (order->out.offset[middle + 1] - order->out.offset[middle] >
            HW_ONE_GPU_BFS_INLINE_NEIGHBORS)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* Length of the lists of the vertex of highest degree, which comes first. */
static double longest_lists(const struct hw_degree_order *order)
{
    if (order->core == 0)
        return 0;
    const hw_count in = order->part->directed ? order->in.offset[1] - order->in.offset[0] : 0;

    return (double)(order->out.offset[1] - order->out.offset[0] + in);
}

static void reserve_pendants(struct hw_gpu_arrays *arrays, struct hw_one_gpu_bfs_params *params,
                             hw_count core, hw_count active)
{
    /* DeviceSelect needs a few bytes per tile of its input. */
    params->pendant.scratch_bytes = (UINT64_C(1) << 20) + (uint64_t)active / 16;
    hw_gpu_add(arrays, &params->pendant.core_parent, core, sizeof *params->pendant.core_parent);
    hw_gpu_add(arrays, &params->pendant.vertex, active, sizeof *params->pendant.vertex);
    hw_gpu_add(arrays, &params->pendant.parent, active, sizeof *params->pendant.parent);
    hw_gpu_add(arrays, &params->pendant.attachment, active, sizeof *params->pendant.attachment);
    hw_gpu_add(arrays, &params->pendant.bitmap, core / 32 + 1, sizeof *params->pendant.bitmap);
    hw_gpu_add(arrays, &params->pendant.scratch, (hw_count)params->pendant.scratch_bytes, 1);
}

/* Plans bins of edges, for graphs whose targets are anywhere: those that keep their own order, and
 * others without hubs. A level that would have more edges than all bins have room for is better
 * pulled. */
static void plan_bins(const struct hw_gpu_engine *engine, struct hw_gpu_arrays *arrays,
                      struct hw_one_gpu_bfs_params *params)
{
    const struct hw_gpu_graph *graph = &engine->graph;
    struct hw_one_gpu_bfs_bins *bins = &params->bins;

    params->config.has_bins =
        (!engine->order.by_degree || params->config.no_hubs) && !graph->directed && !graph->wide &&
        graph->core <= (hw_count)HW_ONE_GPU_BFS_MAX_BINS << HW_ONE_GPU_BFS_BIN_BITS;
    if (!params->config.has_bins)
        return;
    bins->shift = MIN_BIN_BITS;
    while (bins->shift + 1 < HW_ONE_GPU_BFS_BIN_BITS && graph->core >> bins->shift > FEW_BINS)
        bins->shift++;
    if (graph->core >> bins->shift > MORE_BINS)
        bins->shift = HW_ONE_GPU_BFS_BIN_BITS;
    bins->count = (uint32_t)((graph->core + (UINT64_C(1) << bins->shift) - 1) >> bins->shift);
    bins->capacity = BIN_EDGES_PER_VERTEX << bins->shift;
    hw_gpu_add(arrays, &bins->entry, (hw_count)bins->count * bins->capacity, sizeof *bins->entry);
    hw_gpu_add(arrays, &bins->size, bins->count, sizeof *bins->size);
}

static enum hw_status plan_levels(struct hw_gpu_engine *engine, struct hw_error *err)
{
    const struct hw_degree_order *order = &engine->order;
    struct state *state = engine->state;
    struct hw_one_gpu_bfs_params *params = &state->params;
    struct hw_gpu_arrays *arrays = &engine->arrays;
    const struct hw_gpu_graph *graph = &engine->graph;
    size_t width = graph->wide ? sizeof(uint64_t) : sizeof(uint32_t);
    hw_count core = graph->core;

    if (!hw_packed_fits(graph->vertices, graph->edges, HW_ONE_GPU_BFS_EDGE_BITS))
        return hw_fail(err, HW_BAD_INPUT,
                       "method fused supports up to 2^%d vertices and 2^%d stored edges",
                       64 - HW_ONE_GPU_BFS_EDGE_BITS, HW_ONE_GPU_BFS_EDGE_BITS);
    set_policy(engine, &params->config.policy);
    params->config.skip_precheck = !order->by_degree;
    params->config.no_hubs = order->by_degree && !graph->wide &&
                             hw_lacks_hubs((double)graph->active, longest_lists(order));
    plan_bins(engine, arrays, params);
    params->config.short_lists =
        !order->by_degree && !graph->directed && !graph->wide &&
        graph->edges < (uint64_t)graph->active * HW_ONE_GPU_BFS_INLINE_NEIGHBORS;
    params->config.short_list_begin = find_short_list_begin(order);
    params->config.trace_capacity = hw_gpu_trace_capacity(graph->vertices);
    for (int half = 0; half < 2; half++) {
        hw_gpu_add(arrays, &params->search.visited[half], core / 32 + 1,
                   sizeof *params->search.visited[half]);
        hw_gpu_add(arrays, &params->search.queue[half], core + HW_ONE_GPU_BFS_QUEUE_SLACK,
                   sizeof *params->search.queue[half]);
        hw_gpu_add(arrays, &params->search.prefix[half], core + 1, width);
    }
    hw_gpu_add(arrays, &params->search.unvisited, HW_ONE_GPU_BFS_TAIL_VERTICES,
               sizeof *params->search.unvisited);
    if (!graph->directed)
        reserve_pendants(arrays, params, core, graph->active);
    hw_gpu_add(arrays, &params->control, 1, sizeof *params->control);
    if (engine->options.trace)
        hw_gpu_add(arrays, &params->config.trace, params->config.trace_capacity,
                   sizeof *params->config.trace);
    return HW_OK;
}

static enum hw_status plan(struct hw_gpu_engine *engine, struct hw_error *err)
{
    struct state *state = engine->state;

    state->small_frontier = hw_small_frontier_bfs_plan(engine, &state->front);
    return state->small_frontier ? HW_OK : plan_levels(engine, err);
}

static enum hw_status search(struct hw_gpu_engine *engine, struct hw_error *err)
{
    const struct state *state = engine->state;

    if (state->small_frontier)
        return hw_small_frontier_bfs_run(engine, &state->front, err);
    return hw_cuda(hw_one_gpu_bfs_launch(&state->params, &state->shape, engine->root.vertex),
                   "the kernel of method fused", err);
}

static enum hw_status open_levels(const struct hw_gpu_engine *engine, struct state *state,
                                  struct hw_error *err)
{
    state->params.graph = engine->graph;
    state->params.search.parent = engine->output.parent;
    state->params.search.parent_is_first_neighbor = engine->output.settled;
    enum hw_status status =
        hw_cuda(hw_one_gpu_bfs_launch_shape(&state->params, &state->shape), "method fused", err);
    if (status == HW_OK)
        status = hw_gpu_fill(state->params.control, 0, sizeof *state->params.control, err);
    if (state->params.config.has_bins && !state->params.config.no_hubs)
        state->params.config.policy.costs.only_edge = BIN_EDGE_COST;
    if (status == HW_OK && state->params.config.has_bins)
        status = hw_gpu_fill(state->params.bins.size, 0,
                             state->params.bins.count * sizeof *state->params.bins.size, err);
    if (status == HW_OK)
        status = hw_cuda(hw_one_gpu_bfs_launch_prepare(&state->params),
                         "the kernels that find trees", err);
    state->params.config.policy.core = engine->graph.core - state->params.pendant.core_count;
    return status;
}

static enum hw_status open_search(struct hw_gpu_engine *engine, struct hw_error *err)
{
    struct state *state = engine->state;
    enum hw_status status = state->small_frontier
                                ? hw_small_frontier_bfs_open(engine, &state->front, err)
                                : open_levels(engine, state, err);

    return status == HW_OK ? hw_gpu_run_first_search(engine, err) : status;
}

/* Vertices that the last search reached, without the root. */
static enum hw_status count_reached(const struct hw_gpu_engine *engine, hw_count *count,
                                    struct hw_error *err)
{
    const uint32_t active = engine->graph.active;
    enum hw_status status =
        hw_gpu_count_parents(engine->output.parent, active, engine->output.changed, count, err);

    *count -= engine->root.vertex < active;
    return status;
}

/* Adds vertices that no level counted to the last record: leaves and pendant vertices. */
static enum hw_status add_undetected(const struct hw_gpu_engine *engine, struct hw_trace *steps,
                                     struct hw_error *err)
{
    hw_count rest = 0;
    enum hw_status status = count_reached(engine, &rest, err);

    if (steps->count == 0)
        return status;
    for (hw_count s = 0; s < steps->count; s++)
        rest -= steps->record[s].discovered;
    steps->record[steps->count - 1].discovered += rest;
    return status;
}

static enum hw_status append_levels(const struct hw_one_gpu_bfs_params *params,
                                    struct hw_trace *steps, struct hw_error *err)
{
    struct hw_one_gpu_bfs_control control;
    enum hw_status status = hw_gpu_get(&control, params->control, sizeof control, err);

    if (status != HW_OK)
        return status;
    const uint32_t records =
        hw_gpu_trace_stored(control.trace_records, params->config.trace_capacity);
    struct hw_gpu_clock clock =
        hw_gpu_clock_of(control.begin_ticks, control.end_ticks, control.end_ns - control.begin_ns);
    return hw_gpu_append_trace(params->config.trace, records, clock, steps, err);
}

static enum hw_status steps(struct hw_gpu_engine *engine, struct hw_trace *steps,
                            struct hw_error *err)
{
    const struct state *state = engine->state;
    enum hw_status status =
        state->small_frontier
            ? hw_small_frontier_append_rounds(&state->front.params.search, true, steps, err)
            : append_levels(&state->params, steps, err);

    return status == HW_OK ? add_undetected(engine, steps, err) : status;
}

static const struct hw_gpu_search fused = {.results = &hw_one_gpu_bfs_results,
                                           .state_bytes = sizeof(struct state),
                                           .any_order = true,
                                           .plan = plan,
                                           .open = open_search,
                                           .search = search,
                                           .steps = steps};

const struct hw_method hw_method_fused = {.descriptor = &hw_descriptor_fused,
                                          .ops = &hw_gpu_engine_ops,
                                          .bytes = hw_gpu_host_bytes,
                                          .build = hw_gpu_build_any_order,
                                          .impl = &fused};
