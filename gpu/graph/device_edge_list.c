#include "gpu/graph/device_edge_list.h"

#include "lib/base/memory.h"
#include "lib/graph/generate/generator.h"

#include <stdlib.h>

/* Gives the device what makes the tuples. */
static enum hw_status put_generator(struct hw_device_edge_list *held,
                                    const struct hw_generator *generator, struct hw_error *err)
{
    hw_gpu_add(&held->arrays, &held->tuples.generator, 1, sizeof *generator);
    held->tuples.model = (int)generator->model;
    enum hw_status status = hw_gpu_allocate(&held->arrays, 0, "making edges", err);
    if (status != HW_OK)
        return status;
    return hw_gpu_put((void *)held->tuples.generator, generator, sizeof *generator, err);
}

/* Brings a piece of tuples to the device. ids: [count] on the host. */
static enum hw_status put_piece(const hw_gid *id, hw_count count, uint32_t *ids, const uint32_t *to,
                                struct hw_error *err)
{
#pragma omp parallel for
    for (hw_count i = 0; i < count; i++)
        ids[i] = (uint32_t)id[i];
    return hw_gpu_put((void *)to, ids, (size_t)count * sizeof *ids, err);
}

/* Brings a block of tuples to the device, from number `first` on. ids: [count]. */
static enum hw_status put_block(const struct hw_gpu_tuples *tuples, const struct hw_edges *edges,
                                hw_count first, uint32_t *ids, struct hw_error *err)
{
    enum hw_status status =
        put_piece(edges->source, edges->count, ids, tuples->source + first, err);

    if (status == HW_OK)
        status = put_piece(edges->target, edges->count, ids, tuples->target + first, err);
    if (status == HW_OK && tuples->weight)
        status = hw_gpu_put((void *)(tuples->weight + first), edges->weight,
                            (size_t)edges->count * sizeof *edges->weight, err);
    return status;
}

/* Brings the tuples to the device. */
static enum hw_status put_tuples(struct hw_device_edge_list *held, struct hw_graph *graph,
                                 bool weights, struct hw_error *err)
{
    struct hw_gpu_tuples *tuples = &held->tuples;
    struct hw_edges edges = {0};
    uint32_t *ids = NULL;
    hw_count all = (hw_count)tuples->count, chunk = all < HW_GRAPH_CHUNK ? all : HW_GRAPH_CHUNK;

    hw_gpu_add(&held->arrays, &tuples->source, all, sizeof *tuples->source);
    hw_gpu_add(&held->arrays, &tuples->target, all, sizeof *tuples->target);
    if (weights)
        hw_gpu_add(&held->arrays, &tuples->weight, all, sizeof *tuples->weight);
    enum hw_status status = hw_gpu_allocate(&held->arrays, 0, "the edges of the graph", err);
    if (status == HW_OK)
        status = hw_edges_alloc(&edges, chunk, weights, err);
    if (status == HW_OK)
        status = hw_alloc(&ids, chunk, sizeof *ids, "edges", err);
    for (hw_count first = 0; first < all && status == HW_OK; first += chunk) {
        hw_count count = all - first < chunk ? all - first : chunk;
        status = hw_graph_read(graph, (hw_count)tuples->first + first, count, &edges, err);
        if (status == HW_OK)
            status = put_block(tuples, &edges, first, ids, err);
    }
    hw_edges_free(&edges);
    free(ids);
    return status;
}

/* Takes tuples [first, first+count). Collective; ranks agree. */
static enum hw_status open_range(const struct hw_context *ctx, struct hw_graph *graph, bool weights,
                                 hw_count first, hw_count count, struct hw_device_edge_list *held,
                                 struct hw_error *err)
{
    const struct hw_generator *generator = hw_graph_generator(graph);

    held->tuples.first = (uint64_t)first;
    held->tuples.count = (uint64_t)count;
    enum hw_status status =
        generator ? put_generator(held, generator, err) : put_tuples(held, graph, weights, err);
    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK)
        status = hw_graph_verify(graph, weights, err);
    if (status != HW_OK)
        hw_gpu_tuples_close(held);
    return status;
}

enum hw_status hw_gpu_tuples_open(const struct hw_context *ctx, struct hw_graph *graph,
                                  bool weights, struct hw_device_edge_list *held,
                                  struct hw_error *err)
{
    return open_range(ctx, graph, weights, 0, hw_graph_desc(graph)->edges, held, err);
}

enum hw_status hw_gpu_tuples_open_share(const struct hw_context *ctx, struct hw_graph *graph,
                                        bool weights, struct hw_device_edge_list *held,
                                        struct hw_error *err)
{
    const hw_count edges = hw_graph_desc(graph)->edges, ranks = ctx->size;
    hw_count first = edges / ranks * ctx->rank, count = edges / ranks;

    if (!hw_graph_generator(graph)) /* whole digest blocks are read */
        hw_graph_share(graph, ctx->rank, ctx->size, &first, &count);
    else if (ctx->rank == ctx->size - 1)
        count = edges - first;
    return open_range(ctx, graph, weights, first, count, held, err);
}

void hw_gpu_tuples_close(struct hw_device_edge_list *held)
{
    hw_gpu_release(&held->arrays);
    *held = (struct hw_device_edge_list){0};
}
