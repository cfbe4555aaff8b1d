/*
 * The reference: a serial breadth-first search with a queue over adjacency lists, made by counting
 * sort of the tuples in the file's order. It shares no code with the layouts and engines whose
 * results it validates; it is simple rather than fast.
 */
#include "lib/verify/reference/reference.h"

#include "lib/base/memory.h"

#include <stdlib.h>
#include <string.h>

/* Ends of tuples that lists are made of. */
static hw_count list_entries(const struct hw_graph_desc *graph)
{
    return graph->directed ? graph->edges : 2 * graph->edges;
}

hw_count hw_reference_bytes(const struct hw_graph_desc *graph, bool weights)
{
    const hw_count id = sizeof(hw_gid), weight = weights ? sizeof(union hw_weight) : 0;
    /* Bytes for each vertex: offsets, the queue and levels; or distances and the arrays of
     * hw_reference_search(). */
    const hw_count vertex = 2 * id + (weights ? 6 * id : (hw_count)sizeof(int32_t));

    return list_entries(graph) * (id + weight) + graph->vertices * vertex +
           HW_GRAPH_CHUNK * (2 * id + weight);
}

/* Counts the lists' lengths in start[v+1]. */
static void count_tuples(struct hw_reference *reference, const struct hw_edges *edges,
                         bool directed)
{
    for (hw_count i = 0; i < edges->count; i++) {
        reference->start[edges->source[i] + 1]++;
        if (!directed)
            reference->start[edges->target[i] + 1]++;
    }
}

/* Appends tuple i to the list of one end; start[from] moves on. */
static void place_end(struct hw_reference *reference, const struct hw_edges *edges, hw_count i,
                      hw_gid from, hw_gid to)
{
    hw_count at = reference->start[from]++;

    reference->neighbour[at] = to;
    if (reference->weight)
        reference->weight[at] = edges->weight[i];
}

/* Appends each tuple to the lists of its ends. */
static void place_tuples(struct hw_reference *reference, const struct hw_edges *edges,
                         bool directed)
{
    for (hw_count i = 0; i < edges->count; i++) {
        place_end(reference, edges, i, edges->source[i], edges->target[i]);
        if (!directed)
            place_end(reference, edges, i, edges->target[i], edges->source[i]);
    }
}

/* Streams all tuples through take. */
static enum hw_status each_chunk(struct hw_reference *reference, struct hw_graph *graph,
                                 struct hw_edges *edges,
                                 void (*take)(struct hw_reference *reference,
                                              const struct hw_edges *edges, bool directed),
                                 struct hw_error *err)
{
    const struct hw_graph_desc *desc = hw_graph_desc(graph);
    enum hw_status status = HW_OK;

    for (hw_count at = 0; at < desc->edges && status == HW_OK; at += HW_GRAPH_CHUNK) {
        hw_count left = desc->edges - at;
        status =
            hw_graph_read(graph, at, left < HW_GRAPH_CHUNK ? left : HW_GRAPH_CHUNK, edges, err);
        if (status == HW_OK)
            take(reference, edges, desc->directed);
    }
    return status;
}

/* Builds the lists on rank 0. Local. */
static enum hw_status build(struct hw_reference *reference, struct hw_graph *graph, bool weights,
                            struct hw_error *err)
{
    const struct hw_graph_desc *desc = hw_graph_desc(graph);
    struct hw_edges edges = {0};
    hw_gid n = desc->vertices;

    reference->vertices = n;
    reference->directed = desc->directed;
    reference->weights = weights ? desc->weights : HW_WEIGHTS_NONE;
    enum hw_status status =
        hw_alloc_zero(&reference->start, n + 1, sizeof *reference->start, "lists", err);
    if (status == HW_OK)
        status = hw_alloc(&reference->neighbour, list_entries(desc), sizeof *reference->neighbour,
                          "lists", err);
    if (status == HW_OK && weights)
        status = hw_alloc(&reference->weight, list_entries(desc), sizeof *reference->weight,
                          "lists", err);
    if (status == HW_OK)
        status = hw_alloc(&reference->queue, n, sizeof *reference->queue, "queue", err);
    if (status == HW_OK)
        status = hw_edges_alloc(&edges, HW_GRAPH_CHUNK, weights, err);
    if (status == HW_OK)
        status = each_chunk(reference, graph, &edges, count_tuples, err);
    for (hw_gid v = 0; v < n && status == HW_OK; v++)
        reference->start[v + 1] += reference->start[v];
    if (status == HW_OK)
        status = each_chunk(reference, graph, &edges, place_tuples, err);
    /* Each start has moved to the end of its list, the start of the next: shift them back. */
    if (status == HW_OK) {
        memmove(reference->start + 1, reference->start, (size_t)n * sizeof *reference->start);
        reference->start[0] = 0;
    }
    hw_edges_free(&edges);
    return status;
}

enum hw_status hw_reference_open(const struct hw_context *ctx, struct hw_graph *graph, bool weights,
                                 struct hw_reference **reference, struct hw_error *err)
{
    const struct hw_graph_desc *desc = hw_graph_desc(graph);
    hw_count bytes = ctx->rank == 0 ? hw_reference_bytes(desc, weights) : 0;

    *reference = NULL;
    if (weights && desc->weights == HW_WEIGHTS_NONE)
        return hw_fail(err, HW_BAD_INPUT, "the graph has no weights, so it has no shortest paths");
    enum hw_status status = hw_memory_require(ctx, bytes, "the serial reference", err);
    if (status == HW_OK)
        status = hw_alloc_zero(reference, 1, sizeof **reference, "reference", err);
    if (status == HW_OK && ctx->rank == 0)
        status = build(*reference, graph, weights, err);
    status = hw_agree(ctx->world, status, err);
    if (status != HW_OK) {
        hw_reference_close(*reference);
        *reference = NULL;
    }
    return status;
}

/* The search itself. */
static void search(struct hw_reference *reference, hw_gid root, int32_t *level)
{
    hw_gid head = 0, tail = 0;

    for (hw_gid v = 0; v < reference->vertices; v++)
        level[v] = -1;
    level[root] = 0;
    reference->queue[tail++] = root;
    while (head < tail) {
        hw_gid u = reference->queue[head++];
        for (hw_count e = reference->start[u]; e < reference->start[u + 1]; e++) {
            hw_gid v = reference->neighbour[e];
            if (level[v] != -1)
                continue;
            level[v] = level[u] + 1;
            reference->queue[tail++] = v;
        }
    }
}

/* Whether a root is a vertex. */
static enum hw_status check_root(const struct hw_reference *reference, hw_gid root,
                                 struct hw_error *err)
{
    if (root >= 0 && root < reference->vertices)
        return HW_OK;
    return hw_fail(err, HW_BAD_INPUT, "root %" PRI_GID " is not among the %" PRI_GID " vertices",
                   root, reference->vertices);
}

enum hw_status hw_reference_levels(const struct hw_context *ctx, struct hw_reference *reference,
                                   hw_gid root, int32_t *level, struct hw_error *err)
{
    enum hw_status status = HW_OK;

    if (ctx->rank == 0) {
        status = check_root(reference, root, err);
        if (status == HW_OK)
            search(reference, root, level);
    }
    return hw_agree(ctx->world, status, err);
}

enum hw_status hw_reference_distances(const struct hw_context *ctx, struct hw_reference *reference,
                                      hw_gid root, void *distance, bool *negative_cycle,
                                      struct hw_error *err)
{
    enum hw_status status = HW_OK;
    int cycle = 0;

    *negative_cycle = false;
    if (ctx->rank == 0) {
        status = check_root(reference, root, err);
        if (status == HW_OK)
            status = hw_reference_search(reference, root, distance, negative_cycle, err);
        cycle = *negative_cycle;
    }
    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK)
        status = hw_mpi(MPI_Bcast(&cycle, 1, MPI_INT, 0, ctx->world), "MPI_Bcast", err);
    *negative_cycle = cycle;
    return status;
}

void hw_reference_close(struct hw_reference *reference)
{
    if (!reference)
        return;
    free(reference->start);
    free(reference->neighbour);
    free(reference->weight);
    free(reference->queue);
    free(reference);
}
