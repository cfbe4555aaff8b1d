#include "gpu/engine/single_gpu_engine.h"

#include "gpu/device/memory_kernels.h"
#include "gpu/engine/parents_on_host.h"
#include "gpu/graph/build/csr_builder.h"
#include "gpu/validate/device_validate.h"
#include "lib/base/memory.h"

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

hw_count hw_gpu_host_bytes(const struct hw_part *part, const struct hw_engine_options *options)
{
    (void)options;
    return (part->resident ? 0 : hw_degree_order_bytes(part)) +
           ((hw_count)part->vertices + 1) * (hw_count)sizeof(uint32_t);
}

static void destroy(void *given)
{
    struct hw_single_gpu_engine *engine = given;

    if (!engine)
        return;
    hw_gpu_tree_cache_close(&engine->tree_cache);
    if (engine->state && engine->ops->close)
        engine->ops->close(engine);
    hw_gpu_release(&engine->arrays);
    for (int e = 0; e < HW_GPU_EVENTS; e++)
        if (engine->event[e])
            cudaEventDestroy(engine->event[e]);
    cudaFreeHost(engine->staging);
    free(engine->result_state);
    free(engine->state);
    free(engine);
}

/* ---- kernel 1 ---- */

/* Refuses what no GPU method here does. */
static enum hw_status check(const struct hw_single_gpu_engine *engine, struct hw_error *err)
{
    const struct hw_part *part = engine->part;

    if (part->vertices >= (hw_gid)HW_INVALID_VERTEX)
        return hw_fail(err, HW_BAD_INPUT, "method %s numbers vertices with 32 bits",
                       engine->method->descriptor->name);
    return HW_OK;
}

/* Adds the arrays of the graph; weighted lists are allocated by the result ops. */
static void plan_lists(struct hw_single_gpu_engine *engine)
{
    struct hw_gpu_arrays *arrays = &engine->arrays;
    struct hw_gpu_graph *graph = &engine->graph;
    hw_count n = graph->vertices, active = graph->active, edges = (hw_count)graph->edges;
    size_t width = graph->wide ? sizeof(uint64_t) : sizeof(uint32_t);
    bool unweighted = !engine->ops->results->weighted;

    hw_gpu_add(arrays, &graph->out.offset, active + 1, width);
    if (unweighted)
        hw_gpu_add(arrays, &graph->out.neighbor, edges, sizeof(uint32_t));
    if (graph->directed)
        hw_gpu_add(arrays, &graph->in.offset, active + 1, width);
    if (graph->directed && unweighted)
        hw_gpu_add(arrays, &graph->in.neighbor, edges, sizeof(uint32_t));
    hw_gpu_add(arrays, &graph->graph_id, n, sizeof *graph->graph_id);
    hw_gpu_add(arrays, &graph->vertex_of_id, n, sizeof *graph->vertex_of_id);
}

/* The counts of the graph, and its arrays and the outputs on the list. */
static void plan(struct hw_single_gpu_engine *engine, const struct hw_degree_order *order)
{
    struct hw_gpu_arrays *arrays = &engine->arrays;
    struct hw_gpu_graph *graph = &engine->graph;
    struct hw_gpu_output *output = &engine->output;
    hw_count n = order->vertices, edges = order->out.offset[order->vertices];

    *graph = (struct hw_gpu_graph){.vertices = order->vertices,
                                   .active = order->active,
                                   .core = order->core,
                                   .edges = (uint64_t)edges,
                                   .wide = edges > (hw_count)UINT32_MAX,
                                   .directed = engine->part->directed};
    if (!engine->part->resident)
        plan_lists(engine);
    hw_gpu_add(arrays, &output->parent_id, n, sizeof *output->parent_id);
    hw_gpu_add(arrays, &output->changed, 1, sizeof *output->changed);
    engine->ops->results->add_arrays(engine);
}

/* Offsets to the device, in the width that the graph has there. */
static enum hw_status put_offsets(const struct hw_single_gpu_engine *engine, const hw_count *offset,
                                  const void *device, struct hw_error *err)
{
    uint32_t *narrow = engine->staging;
    hw_count count = (hw_count)engine->graph.active + 1;

    if (engine->graph.wide)
        return hw_gpu_put((void *)device, offset, (size_t)count * sizeof *offset, err);
#pragma omp parallel for
    for (hw_count v = 0; v < count; v++)
        narrow[v] = (uint32_t)offset[v];
    return hw_gpu_put((void *)device, narrow, (size_t)count * sizeof *narrow, err);
}

static enum hw_status put_ranks(const hw_lid *list, const uint32_t *device, hw_count count,
                                struct hw_error *err)
{
    return hw_gpu_put((void *)device, list, (size_t)count * sizeof *list, err);
}

static enum hw_status put_lists(const struct hw_single_gpu_engine *engine,
                                const struct hw_host_lists *lists, const struct hw_gpu_lists *to,
                                struct hw_error *err)
{
    enum hw_status status = put_offsets(engine, lists->offset, to->offset, err);

    if (status == HW_OK && !engine->ops->results->weighted)
        status =
            put_ranks(lists->neighbor, to->neighbor, lists->offset[engine->graph.vertices], err);
    return status;
}

/* Graph ids by rank, and ranks by graph id. */
static enum hw_status put_ids(const struct hw_single_gpu_engine *engine,
                              const struct hw_degree_order *order, struct hw_error *err)
{
    const struct hw_part_vertices *own = &engine->part->own;
    uint32_t *ids = engine->staging;
    hw_lid n = order->vertices;

#pragma omp parallel for
    for (hw_lid r = 0; r < n; r++)
        ids[r] = (uint32_t)own->graph_id[order->position ? order->position[r] : r];
    enum hw_status status = put_ranks(ids, engine->graph.graph_id, n, err);
    if (status != HW_OK)
        return status;
    if (!order->vertex_of_position)
        return put_ranks(own->by_graph_id, engine->graph.vertex_of_id, n, err);
#pragma omp parallel for
    for (hw_lid k = 0; k < n; k++)
        ids[k] = order->vertex_of_position[own->by_graph_id[k]];
    return put_ranks(ids, engine->graph.vertex_of_id, n, err);
}

/* Takes lists that are on the device already. */
static void adopt(struct hw_single_gpu_engine *engine)
{
    const struct hw_gpu_resident *resident = hw_gpu_resident(engine->part);
    struct hw_gpu_graph *graph = &engine->graph;

    graph->out = resident->out;
    graph->in = resident->in;
    graph->graph_id = resident->graph_id;
    graph->vertex_of_id = resident->vertex_of_id;
}

/* Brings the lists to the device. */
static enum hw_status put_graph(struct hw_single_gpu_engine *engine,
                                const struct hw_degree_order *order, struct hw_error *err)
{
    const struct hw_gpu_graph *graph = &engine->graph;
    enum hw_status status = hw_gpu_pin(&engine->staging, graph->vertices, err);

    if (status == HW_OK)
        status = put_lists(engine, &order->out, &graph->out, err);
    if (status == HW_OK && graph->directed)
        status = put_lists(engine, &order->in, &graph->in, err);
    return status == HW_OK ? put_ids(engine, order, err) : status;
}

/* Brings the graph to the device and derives the rest there. */
static enum hw_status upload(struct hw_single_gpu_engine *engine,
                             const struct hw_degree_order *order, struct hw_error *err)
{
    struct hw_gpu_graph *graph = &engine->graph;
    enum hw_status status = HW_OK;

    if (engine->part->resident)
        adopt(engine);
    else
        status = put_graph(engine, order, err);
    if (status != HW_OK)
        return status;
    if (!graph->directed)
        graph->in = graph->out;
    return engine->ops->results->upload(engine, order, err);
}

/* All that needs the lists on the host: plan, memory, upload. */
static enum hw_status fill(struct hw_single_gpu_engine *engine, const struct hw_degree_order *order,
                           struct hw_error *err)
{
    char what[96];

    plan(engine, order);
    enum hw_status status = engine->ops->plan(engine, order, err);
    if (status != HW_OK)
        return status;
    snprintf(what, sizeof what, "method %s", engine->method->descriptor->name);
    status = hw_gpu_allocate(&engine->arrays, 0, what, err);
    for (int e = 0; e < HW_GPU_EVENTS && status == HW_OK; e++) {
        cudaEvent_t event = NULL;
        status = hw_cuda((int)cudaEventCreate(&event), "cudaEventCreate", err);
        engine->event[e] = event;
    }
    if (status == HW_OK)
        status = upload(engine, order, err);
    return status;
}

/* The lists on the host in order, or what is known of those on the device. */
static enum hw_status order_host(const struct hw_single_gpu_engine *engine,
                                 struct hw_degree_order *order, struct hw_error *err)
{
    const struct hw_part *part = engine->part;
    const struct hw_gpu_resident *resident = hw_gpu_resident(part);

    if (!resident)
        return engine->ops->results->weighted ? hw_degree_order_number(part, order, err)
                                              : hw_degree_order_make(part, order, err);
    *order = (struct hw_degree_order){.part = part,
                                      .vertices = part->own.count,
                                      .active = resident->active,
                                      .core = resident->core,
                                      .out.offset = part->grid.out.offset,
                                      .in.offset = part->grid.in.offset};
    return HW_OK;
}

static enum hw_status create(const struct hw_method *method, const struct hw_context *ctx,
                             const struct hw_part *part, const struct hw_engine_options *options,
                             void **given, struct hw_error *err)
{
    struct hw_degree_order order = {0};
    struct hw_single_gpu_engine *engine = NULL;

    *given = NULL;
    enum hw_status status = hw_alloc_zero(&engine, 1, sizeof *engine, "the engine", err);
    if (status != HW_OK)
        return status;
    engine->method = method;
    engine->ops = method->impl;
    const struct hw_result_ops *results = engine->ops->results;
    engine->ctx = ctx;
    engine->part = part;
    engine->options = *options;
    engine->tree_cache = (struct hw_gpu_tree_cache){.ctx = ctx, .part = part};
    status = check(engine, err);
    if (status == HW_OK)
        status = hw_alloc_zero(&engine->state, 1, engine->ops->state_bytes, "the engine", err);
    if (status == HW_OK && results->state_bytes > 0)
        status = hw_alloc_zero(&engine->result_state, 1, results->state_bytes, "the engine", err);
    if (status == HW_OK && results->open)
        status = results->open(engine, err);
    if (status == HW_OK)
        status = hw_gpu_open(ctx, err);
    if (status == HW_OK)
        status = order_host(engine, &order, err);
    if (status == HW_OK)
        status = fill(engine, &order, err);
    hw_degree_order_free(&order);
    if (status == HW_OK)
        status = engine->ops->open(engine, err);
    if (status != HW_OK) {
        destroy(engine);
        return status;
    }
    engine->tree_cache.view = results->view(engine);
    *given = engine;
    return HW_OK;
}

/* ---- searching ---- */

/* Streams twice the cache size of lists: evicts dirty poison and whatever the search would hit. */
static enum hw_status flush_caches(const struct hw_single_gpu_engine *engine, struct hw_error *err)
{
    return hw_cuda(hw_gpu_launch_flush_caches(engine->ops->results->lists(engine),
                                              engine->graph.edges, engine->output.changed),
                   "the kernel that flushes the caches", err);
}

static enum hw_status mark(const struct hw_single_gpu_engine *engine, enum hw_gpu_event event,
                           struct hw_error *err)
{
    return hw_cuda((int)cudaEventRecord((cudaEvent_t)engine->event[event], NULL), "cudaEventRecord",
                   err);
}

static enum hw_status elapsed(const struct hw_single_gpu_engine *engine, enum hw_gpu_event event,
                              double *seconds, struct hw_error *err)
{
    float milliseconds = 0;
    enum hw_status status =
        hw_cuda((int)cudaEventElapsedTime(&milliseconds, (cudaEvent_t)engine->event[HW_GPU_BEGUN],
                                          (cudaEvent_t)engine->event[event]),
                "cudaEventElapsedTime", err);

    *seconds = (double)milliseconds * 1e-3;
    return status;
}

/* What the clock measures. */
static enum hw_status timed(struct hw_single_gpu_engine *engine, uint32_t root,
                            struct hw_result *result, struct hw_error *err)
{
    const struct hw_result_ops *results = engine->ops->results;
    double searched = 0;
    enum hw_status status = results->poison(engine, err);

    if (status == HW_OK)
        status = flush_caches(engine, err);
    if (status == HW_OK)
        status = hw_cuda((int)cudaDeviceSynchronize(), "cudaDeviceSynchronize", err);
    if (status == HW_OK)
        status = mark(engine, HW_GPU_BEGUN, err);
    if (status == HW_OK)
        status = engine->ops->search(engine, root, err);
    if (status == HW_OK)
        status = mark(engine, HW_GPU_SEARCHED, err);
    if (status == HW_OK && results->parents)
        status = results->parents(engine, root, err);
    if (status == HW_OK)
        status = mark(engine, HW_GPU_IN_SEARCH_ORDER, err);
    if (status == HW_OK)
        status = results->translate(engine, root, err);
    if (status == HW_OK)
        status = mark(engine, HW_GPU_IN_GRAPH_IDS, err);
    if (status == HW_OK)
        status = hw_cuda((int)cudaDeviceSynchronize(), "the search", err);
    if (status == HW_OK)
        status = elapsed(engine, HW_GPU_SEARCHED, &searched, err);
    if (status == HW_OK)
        status = elapsed(engine, HW_GPU_IN_SEARCH_ORDER, &result->seconds_search_order, err);
    if (status == HW_OK)
        status = elapsed(engine, HW_GPU_IN_GRAPH_IDS, &result->seconds, err);
    engine->parents_seconds = result->seconds_search_order - searched;
    return status;
}

/* Parents, and levels or distances, to the host unless result->parent is NULL. */
static enum hw_status deliver(struct hw_single_gpu_engine *engine, uint32_t root,
                              struct hw_result *result, struct hw_error *err)
{
    enum hw_status status = HW_OK;

    if (result->parent)
        status = hw_gpu_get_parents(&engine->staging, engine->output.parent_id,
                                    engine->graph.vertices, result->parent, err);
    return status == HW_OK ? engine->ops->results->deliver(engine, root, result, err) : status;
}

static enum hw_status run(void *given, int owner, hw_lid position, struct hw_result *result,
                          struct hw_error *err)
{
    struct hw_single_gpu_engine *engine = given;
    uint32_t root = 0;

    if (owner != 0 || position >= engine->part->own.count)
        return hw_fail(err, HW_BAD_INPUT, "there is no vertex at position %" PRI_LID " of part %d",
                       position, owner);
    hw_trace_clear(&result->trace);
    result->outcome = HW_OUTCOME_TREE;
    result->delta = 0;
    engine->result = result;
    enum hw_status status = hw_gpu_get(
        &root, engine->graph.vertex_of_id + engine->part->own.graph_id[position], sizeof root, err);
    if (status == HW_OK)
        status = timed(engine, root, result, err);
    if (status == HW_OK)
        status = deliver(engine, root, result, err);
    if (status == HW_OK && engine->options.trace)
        status = engine->ops->steps(engine, &result->trace, err);
    if (status == HW_OK && engine->options.trace)
        status = engine->ops->results->append_steps(engine, result, err);
    return status;
}

const struct hw_engine_ops hw_single_gpu_ops = {.device = HW_CUDA,
                                                .ready = hw_gpu_ready,
                                                .create = create,
                                                .search = run,
                                                .verify_bfs = hw_gpu_verify_bfs,
                                                .verify_sssp = hw_gpu_verify_sssp,
                                                .tree_cache = &hw_gpu_tree_cache_functions,
                                                .destroy = destroy};
