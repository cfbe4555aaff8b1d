/*
 * The reference: a serial breadth-first search with a queue over adjacency
 * lists, made by counting sort of the tuples as they stand. It shares nothing
 * with the layouts and engines whose results it judges, and is meant to be
 * plainly right rather than fast.
 */
#include "verify/verify.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* On rank 0; the other ranks hold an empty one. */
struct hw_reference {
    hw_gid vertices;
    hw_count *start;   /* [vertices+1] */
    hw_gid *neighbour; /* [start[vertices]] */
    hw_gid *queue;     /* [vertices] */
};

/* Ends of tuples that lists are made of. */
static hw_count list_entries(const struct hw_graph_desc *graph)
{
    return graph->directed ? graph->edges : 2 * graph->edges;
}

hw_count hw_reference_bytes(const struct hw_graph_desc *graph)
{
    const hw_count id = sizeof(hw_gid);

    /* Lists, their starts, the queue, a chunk of tuples, the levels. */
    return list_entries(graph) * id + 2 * graph->vertices * id + 2 * HW_GRAPH_CHUNK * id +
           graph->vertices * (hw_count)sizeof(int32_t);
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

/* Appends each tuple to the lists of its ends; start[v] moves on. */
static void place_tuples(struct hw_reference *reference, const struct hw_edges *edges,
                         bool directed)
{
    for (hw_count i = 0; i < edges->count; i++) {
        reference->neighbour[reference->start[edges->source[i]]++] = edges->target[i];
        if (!directed)
            reference->neighbour[reference->start[edges->target[i]]++] = edges->source[i];
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
static enum hw_status build(struct hw_reference *reference, struct hw_graph *graph,
                            struct hw_error *err)
{
    const struct hw_graph_desc *desc = hw_graph_desc(graph);
    struct hw_edges edges = {0};
    hw_gid n = desc->vertices;

    reference->vertices = n;
    enum hw_status status =
        hw_alloc_zero(&reference->start, n + 1, sizeof *reference->start, "lists", err);
    if (status == HW_OK)
        status = hw_alloc(&reference->neighbour, list_entries(desc), sizeof *reference->neighbour,
                          "lists", err);
    if (status == HW_OK)
        status = hw_alloc(&reference->queue, n, sizeof *reference->queue, "queue", err);
    if (status == HW_OK)
        status = hw_edges_alloc(&edges, HW_GRAPH_CHUNK, false, err);
    if (status == HW_OK)
        status = each_chunk(reference, graph, &edges, count_tuples, err);
    for (hw_gid v = 0; v < n && status == HW_OK; v++)
        reference->start[v + 1] += reference->start[v];
    if (status == HW_OK)
        status = each_chunk(reference, graph, &edges, place_tuples, err);
    /* Each start has moved to its list's end, which is where the next begins. */
    if (status == HW_OK) {
        memmove(reference->start + 1, reference->start, (size_t)n * sizeof *reference->start);
        reference->start[0] = 0;
    }
    hw_edges_free(&edges);
    return status;
}

enum hw_status hw_reference_open(const struct hw_context *ctx, struct hw_graph *graph,
                                 struct hw_reference **reference, struct hw_error *err)
{
    hw_count bytes = ctx->rank == 0 ? hw_reference_bytes(hw_graph_desc(graph)) : 0;
    enum hw_status status = hw_memory_require(ctx, bytes, "the serial reference", err);

    *reference = NULL;
    if (status == HW_OK)
        status = hw_alloc_zero(reference, 1, sizeof **reference, "reference", err);
    if (status == HW_OK && ctx->rank == 0)
        status = build(*reference, graph, err);
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

enum hw_status hw_reference_levels(const struct hw_context *ctx, struct hw_reference *reference,
                                   hw_gid root, int32_t *level, struct hw_error *err)
{
    enum hw_status status = HW_OK;

    if (ctx->rank == 0) {
        if (root < 0 || root >= reference->vertices)
            status = hw_fail(err, HW_BAD_INPUT,
                             "root %" PRI_GID " is not among the %" PRI_GID " vertices", root,
                             reference->vertices);
        else
            search(reference, root, level);
    }
    return hw_agree(ctx->world, status, err);
}

void hw_reference_close(struct hw_reference *reference)
{
    if (!reference)
        return;
    free(reference->start);
    free(reference->neighbour);
    free(reference->queue);
    free(reference);
}

enum hw_status hw_reference_bfs(const struct hw_context *ctx, struct hw_graph *graph, hw_gid root,
                                int32_t *level, struct hw_error *err)
{
    struct hw_reference *reference = NULL;
    enum hw_status status = hw_reference_open(ctx, graph, &reference, err);

    if (status == HW_OK)
        status = hw_reference_levels(ctx, reference, root, level, err);
    hw_reference_close(reference);
    return status;
}
