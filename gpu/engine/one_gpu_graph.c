#include "gpu/engine/one_gpu_graph.h"

#include "gpu/device/memory_kernels.h"
#include "gpu/engine/one_gpu_options.h"
#include "gpu/graph/build/csr_builder.h"

hw_count hw_gpu_host_bytes(const struct hw_part *part, const struct hw_engine_options *options)
{
    const hw_count renumbered = hw_gpu_numbers_by_id(options) ? hw_degree_order_by_id_bytes(part)
                                                              : hw_degree_order_bytes(part);

    return (part->resident ? 0 : renumbered) +
           ((hw_count)part->vertices + 1) * (hw_count)sizeof(uint32_t);
}

enum hw_status hw_one_gpu_check(struct hw_gpu_engine *engine, struct hw_error *err)
{
    const struct hw_part *part = engine->part;

    if (part->vertices >= (hw_gid)HW_INVALID_VERTEX)
        return hw_fail(err, HW_BAD_INPUT, "method %s has 32-bit vertex numbers",
                       engine->method->descriptor->name);
    return HW_OK;
}

/* Adds the arrays of the graph. */
static void plan_lists(struct hw_gpu_engine *engine, bool weighted)
{
    struct hw_gpu_arrays *arrays = &engine->arrays;
    struct hw_gpu_graph *graph = &engine->graph;
    hw_count n = graph->vertices, active = graph->active, edges = (hw_count)graph->edges;
    size_t width = graph->wide ? sizeof(uint64_t) : sizeof(uint32_t);

    hw_gpu_add(arrays, &graph->out.offset, active + 1, width);
    if (!weighted)
        hw_gpu_add(arrays, &graph->out.neighbor, edges, sizeof(uint32_t));
    if (graph->directed)
        hw_gpu_add(arrays, &graph->in.offset, active + 1, width);
    if (graph->directed && !weighted)
        hw_gpu_add(arrays, &graph->in.neighbor, edges, sizeof(uint32_t));
    hw_gpu_add(arrays, &graph->graph_id, n, sizeof *graph->graph_id);
    hw_gpu_add(arrays, &graph->vertex_of_id, n, sizeof *graph->vertex_of_id);
}

/* Orders the lists on the host; of lists that are on the device, sets the counts and offsets. */
static enum hw_status order_host(struct hw_gpu_engine *engine, bool weighted, struct hw_error *err)
{
    const struct hw_part *part = engine->part;
    const struct hw_gpu_resident *resident = hw_gpu_resident(part);

    if (!resident && hw_gpu_numbers_by_id(&engine->options))
        return hw_degree_order_by_id(part, !weighted, &engine->order, err);
    if (!resident && engine->ops->any_order && !part->directed &&
        part->spec.order != HW_ORDER_DEGREE) {
        hw_degree_order_keep(part, &engine->order);
        return HW_OK;
    }
    if (!resident)
        return weighted ? hw_degree_order_number(part, &engine->order, err)
                        : hw_degree_order_make(part, &engine->order, err);
    engine->order = (struct hw_degree_order){.part = part,
                                             .vertices = part->own.count,
                                             .active = resident->active,
                                             .core = resident->core,
                                             .by_degree = resident->by_degree,
                                             .graph_ids = resident->graph_ids,
                                             .out.offset = part->grid.out.offset,
                                             .in.offset = part->grid.in.offset};
    return HW_OK;
}

enum hw_status hw_one_gpu_graph_plan(struct hw_gpu_engine *engine, bool weighted,
                                     struct hw_error *err)
{
    struct hw_gpu_output *output = &engine->output;
    const struct hw_degree_order *order = &engine->order;
    enum hw_status status = order_host(engine, weighted, err);

    if (status != HW_OK)
        return status;
    const hw_count n = order->vertices, edges = order->out.offset[order->vertices];
    engine->graph = (struct hw_gpu_graph){.vertices = order->vertices,
                                          .active = order->active,
                                          .core = order->core,
                                          .edges = (uint64_t)edges,
                                          .wide = edges > (hw_count)UINT32_MAX,
                                          .directed = engine->part->directed};
    engine->graph_ids = order->graph_ids;
    if (!engine->part->resident)
        plan_lists(engine, weighted);
    hw_gpu_add(&engine->arrays, &output->parent_id, n, sizeof *output->parent_id);
    hw_gpu_add(&engine->arrays, &output->changed, 1, sizeof *output->changed);
    engine->root.vertex = 0; /* of the first search */
    return HW_OK;
}

/* Uploads offsets in the width that they have on the device. */
static enum hw_status put_offsets(const struct hw_gpu_engine *engine, const hw_count *offset,
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

static enum hw_status put_words(const hw_lid *list, const uint32_t *device, hw_count count,
                                struct hw_error *err)
{
    return hw_gpu_put((void *)device, list, (size_t)count * sizeof *list, err);
}

static enum hw_status put_lists(const struct hw_gpu_engine *engine,
                                const struct hw_host_lists *lists, const struct hw_gpu_lists *to,
                                bool weighted, struct hw_error *err)
{
    enum hw_status status = put_offsets(engine, lists->offset, to->offset, err);

    if (status == HW_OK && !weighted)
        status =
            put_words(lists->neighbor, to->neighbor, lists->offset[engine->graph.vertices], err);
    return status;
}

/* Uploads graph ids by vertex, and vertices by graph id. */
static enum hw_status put_ids(const struct hw_gpu_engine *engine, struct hw_error *err)
{
    const struct hw_degree_order *order = &engine->order;
    const struct hw_part_vertices *own = &engine->part->own;
    uint32_t *ids = engine->staging;
    hw_lid n = order->vertices;

#pragma omp parallel for
    for (hw_lid v = 0; v < n; v++)
        ids[v] = (uint32_t)own->graph_id[order->position ? order->position[v] : v];
    enum hw_status status = put_words(ids, engine->graph.graph_id, n, err);
    if (status != HW_OK)
        return status;
    if (!order->vertex_of_position)
        return put_words(own->by_graph_id, engine->graph.vertex_of_id, n, err);
#pragma omp parallel for
    for (hw_lid k = 0; k < n; k++)
        ids[k] = order->vertex_of_position[own->by_graph_id[k]];
    return put_words(ids, engine->graph.vertex_of_id, n, err);
}

/* Adopts lists that are on the device already. */
static void adopt(struct hw_gpu_engine *engine)
{
    const struct hw_gpu_resident *resident = hw_gpu_resident(engine->part);
    struct hw_gpu_graph *graph = &engine->graph;

    graph->out = resident->out;
    graph->in = resident->in;
    graph->graph_id = resident->graph_id;
    graph->vertex_of_id = resident->vertex_of_id;
}

/* Uploads the lists. */
static enum hw_status put_graph(struct hw_gpu_engine *engine, bool weighted, struct hw_error *err)
{
    const struct hw_degree_order *order = &engine->order;
    const struct hw_gpu_graph *graph = &engine->graph;
    enum hw_status status = hw_gpu_pin(&engine->staging, graph->vertices, err);

    if (status == HW_OK)
        status = put_lists(engine, &order->out, &graph->out, weighted, err);
    if (status == HW_OK && graph->directed)
        status = put_lists(engine, &order->in, &graph->in, weighted, err);
    return status == HW_OK ? put_ids(engine, err) : status;
}

enum hw_status hw_one_gpu_graph_upload(struct hw_gpu_engine *engine, bool weighted,
                                       struct hw_error *err)
{
    struct hw_gpu_graph *graph = &engine->graph;
    enum hw_status status = HW_OK;

    if (engine->part->resident)
        adopt(engine);
    else
        status = put_graph(engine, weighted, err);
    if (status == HW_OK && !graph->directed)
        graph->in = graph->out;
    return status;
}

/* ---- searching ---- */

enum hw_status hw_one_gpu_flush_caches(const struct hw_gpu_engine *engine, const void *lists,
                                       struct hw_error *err)
{
    return hw_cuda(hw_gpu_launch_flush_caches(lists, engine->graph.edges, engine->output.changed),
                   "the kernel that flushes the caches", err);
}

enum hw_status hw_one_gpu_set_root(struct hw_gpu_engine *engine, struct hw_error *err)
{
    return hw_gpu_get(&engine->root.vertex, engine->graph.vertex_of_id + engine->root.graph_id,
                      sizeof engine->root.vertex, err);
}
