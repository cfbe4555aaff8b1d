#include "gpu/graph/device_edge_list.h"

#include "lib/base/memory.h"
#include "lib/graph/generate/generator.h"

#include <stdlib.h>

/* Copies the generator to the device. */
static enum hw_status put_generator(struct hw_device_edge_list *edge_list,
                                    const struct hw_generator *generator, struct hw_error *err)
{
    hw_gpu_add(&edge_list->arrays, &edge_list->tuples.generator, 1, sizeof *generator);
    edge_list->tuples.model = (int)generator->model;
    enum hw_status status = hw_gpu_allocate(&edge_list->arrays, 0, "making edges", err);
    if (status != HW_OK)
        return status;
    return hw_gpu_put((void *)edge_list->tuples.generator, generator, sizeof *generator, err);
}

/* Copies ids to the device as 32-bit numbers. ids: [count] scratch on the host. */
static enum hw_status put_piece(const hw_gid *id, hw_count count, uint32_t *ids, const uint32_t *to,
                                struct hw_error *err)
{
#pragma omp parallel for
    for (hw_count i = 0; i < count; i++)
        ids[i] = (uint32_t)id[i];
    return hw_gpu_put((void *)to, ids, (size_t)count * sizeof *ids, err);
}

/* Copies a block of tuples to the device, from tuple `first` on. ids: [count] scratch. */
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

/* Reads the tuples and copies them to the device. */
static enum hw_status put_tuples(struct hw_device_edge_list *edge_list, struct hw_graph *graph,
                                 bool weights, struct hw_error *err)
{
    struct hw_gpu_tuples *tuples = &edge_list->tuples;
    struct hw_edges edges = {0};
    uint32_t *ids = NULL;
    hw_count all = (hw_count)tuples->count, chunk = all < HW_GRAPH_CHUNK ? all : HW_GRAPH_CHUNK;

    hw_gpu_add(&edge_list->arrays, &tuples->source, all, sizeof *tuples->source);
    hw_gpu_add(&edge_list->arrays, &tuples->target, all, sizeof *tuples->target);
    if (weights)
        hw_gpu_add(&edge_list->arrays, &tuples->weight, all, sizeof *tuples->weight);
    enum hw_status status = hw_gpu_allocate(&edge_list->arrays, 0, "the edges of the graph", err);
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

/* Opens tuples [first, first+count). Collective; ranks agree. */
static enum hw_status open_range(const struct hw_context *ctx, struct hw_graph *graph, bool weights,
                                 hw_count first, hw_count count,
                                 struct hw_device_edge_list *edge_list, struct hw_error *err)
{
    const struct hw_generator *generator = hw_graph_generator(graph);

    edge_list->tuples.first = (uint64_t)first;
    edge_list->tuples.count = (uint64_t)count;
    const bool in_kernels = generator && generator->model < HW_MODELS_IN_KERNELS;
    enum hw_status status = in_kernels ? put_generator(edge_list, generator, err)
                                       : put_tuples(edge_list, graph, weights, err);
    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK)
        status = hw_graph_verify(graph, weights, err);
    if (status != HW_OK)
        hw_device_edge_list_close(edge_list);
    return status;
}

enum hw_status hw_device_edge_list_open(const struct hw_context *ctx, struct hw_graph *graph,
                                        bool weights, struct hw_device_edge_list *edge_list,
                                        struct hw_error *err)
{
    return open_range(ctx, graph, weights, 0, hw_graph_desc(graph)->edges, edge_list, err);
}

enum hw_status hw_device_edge_list_open_fraction(const struct hw_context *ctx,
                                                 struct hw_graph *graph, bool weights,
                                                 struct hw_device_edge_list *edge_list,
                                                 struct hw_error *err)
{
    const hw_count edges = hw_graph_desc(graph)->edges, ranks = ctx->size;
    hw_count first = edges / ranks * ctx->rank, count = edges / ranks;

    if (!hw_graph_generator(graph)) /* whole digest blocks are read */
        hw_graph_share(graph, ctx->rank, ctx->size, &first, &count);
    else if (ctx->rank == ctx->size - 1)
        count = edges - first;
    return open_range(ctx, graph, weights, first, count, edge_list, err);
}

void hw_device_edge_list_close(struct hw_device_edge_list *edge_list)
{
    hw_gpu_release(&edge_list->arrays);
    *edge_list = (struct hw_device_edge_list){0};
}
