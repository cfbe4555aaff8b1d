/*
 * GAP's serialized graphs (.sg, .wsg): a byte `directed`, the number of list
 * elements and of vertices as i64, offsets [n+1] i64, then the lists: neighbours
 * i32, or pairs (neighbour, weight) of i32; of a directed graph offsets and lists
 * of the in-edges follow. As GAP builds them: each list sorted, without loops and
 * duplicates, the lightest of parallel edges kept, undirected edges in both.
 */
#include "lib/graph/export/export.h"

#include "lib/base/memory.h"

#include <stdlib.h>
#include <string.h>

/* Lists under construction. An item has the neighbour in its upper half and the
 * weight, offset so that it sorts, in the lower. */
struct lists {
    hw_gid vertices;
    bool forward, backward; /* edges listed at their source, at their target */
    bool weights;
    hw_count *offset; /* [vertices+1] */
    hw_count *next;   /* [vertices] */
    uint64_t *item;   /* [offset[vertices]] */
};

static uint64_t item_of(hw_gid neighbour, const union hw_weight *weight)
{
    uint64_t low = weight ? (uint32_t)weight->i32 ^ 0x80000000u : 0;

    return (uint64_t)neighbour << 32 | low;
}

static hw_gid neighbour_of(uint64_t item)
{
    return (hw_gid)(item >> 32);
}

/* Counts, or with place set enters, the tuples of a block. Loops are left out. */
static void take_block(struct lists *lists, const struct hw_edges *edges, bool place)
{
    for (hw_count i = 0; i < edges->count; i++) {
        hw_gid s = edges->source[i], t = edges->target[i];
        const union hw_weight *weight = lists->weights ? &edges->weight[i] : NULL;
        if (s == t)
            continue;
        if (!place) {
            lists->offset[s + 1] += lists->forward;
            lists->offset[t + 1] += lists->backward;
            continue;
        }
        if (lists->forward)
            lists->item[lists->next[s]++] = item_of(t, weight);
        if (lists->backward)
            lists->item[lists->next[t]++] = item_of(s, weight);
    }
}

/* One pass over the graph. */
static enum hw_status take_graph(const struct hw_context *ctx, struct lists *lists,
                                 struct hw_graph *graph, struct hw_edges *edges, bool place,
                                 struct hw_error *err)
{
    const hw_count total = hw_graph_desc(graph)->edges;
    struct hw_progress bar = {0};
    enum hw_status status = HW_OK;

    for (hw_count first = 0; first < total && status == HW_OK; first += edges->count) {
        hw_count rest = total - first;
        hw_progress(ctx, &bar, place ? "listing" : "counting", first, total);
        status = hw_graph_read(graph, first, rest < edges->capacity ? rest : edges->capacity, edges,
                               err);
        if (status == HW_OK)
            take_block(lists, edges, place);
    }
    hw_progress_end(&bar);
    return status;
}

static int by_item(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

/* Sorts each list and drops all but the first item of each neighbour. */
static void squeeze(struct lists *lists)
{
    hw_count kept = 0;

#pragma omp parallel for schedule(dynamic, 1024)
    for (hw_gid v = 0; v < lists->vertices; v++)
        if (lists->offset[v + 1] > lists->offset[v])
            qsort(lists->item + lists->offset[v], (size_t)(lists->offset[v + 1] - lists->offset[v]),
                  sizeof *lists->item, by_item);
    for (hw_gid v = 0; v < lists->vertices; v++) {
        hw_count from = lists->offset[v], to = lists->offset[v + 1];
        lists->offset[v] = kept;
        hw_gid last = HW_GID_NONE;
        for (hw_count i = from; i < to; i++) {
            if (neighbour_of(lists->item[i]) == last)
                continue;
            last = neighbour_of(lists->item[i]);
            lists->item[kept++] = lists->item[i];
        }
    }
    lists->offset[lists->vertices] = kept;
}

static enum hw_status build(const struct hw_context *ctx, struct lists *lists,
                            struct hw_graph *graph, struct hw_edges *edges, struct hw_error *err)
{
    const hw_gid n = lists->vertices;

    memset(lists->offset, 0, (size_t)(n + 1) * sizeof *lists->offset);
    HW_TRY(take_graph(ctx, lists, graph, edges, false, err));
    for (hw_gid v = 0; v < n; v++)
        lists->offset[v + 1] += lists->offset[v];
    memcpy(lists->next, lists->offset, (size_t)n * sizeof *lists->next);
    HW_TRY(hw_alloc(&lists->item, lists->offset[n], sizeof *lists->item, "lists", err));
    HW_TRY(take_graph(ctx, lists, graph, edges, true, err));
    squeeze(lists);
    return HW_OK;
}

/* Writes offsets and lists at *at and moves it on. */
static enum hw_status write_lists(const struct lists *lists, struct hw_output *output, hw_count *at,
                                  struct hw_error *err)
{
    const hw_count index = (lists->vertices + 1) * (hw_count)sizeof *lists->offset;
    const hw_count count = lists->offset[lists->vertices];
    int32_t piece[8192];

    HW_TRY(hw_output_write(output, *at, lists->offset, index, err));
    *at += index;
    for (hw_count done = 0; done < count;) {
        int used = 0;
        for (; done < count && used < 8192; done++) {
            uint64_t item = lists->item[done];
            piece[used++] = (int32_t)neighbour_of(item);
            if (lists->weights)
                piece[used++] = (int32_t)((uint32_t)item ^ 0x80000000u);
        }
        HW_TRY(hw_output_write(output, *at, piece, used * (hw_count)sizeof piece[0], err));
        *at += used * (hw_count)sizeof piece[0];
    }
    return HW_OK;
}

/* Builds and writes the lists of one direction, or of both at once. */
static enum hw_status export_direction(const struct hw_context *ctx, struct lists *lists,
                                       struct hw_graph *graph, struct hw_edges *edges,
                                       struct hw_output *output, hw_count *at, struct hw_error *err)
{
    enum hw_status status = build(ctx, lists, graph, edges, err);

    if (status == HW_OK)
        status = write_lists(lists, output, at, err);
    free(lists->item);
    lists->item = NULL;
    return status;
}

enum hw_status hw_export_lists(const struct hw_context *ctx, struct hw_graph *graph, bool weights,
                               struct hw_output *output, struct hw_error *err)
{
    const struct hw_graph_desc *desc = hw_graph_desc(graph);
    struct lists lists = {.vertices = desc->vertices,
                          .forward = true,
                          .backward = !desc->directed,
                          .weights = weights};
    struct hw_edges edges = {0};
    const char directed = desc->directed;
    hw_count at = 1 + 2 * (hw_count)sizeof(int64_t);

    enum hw_status status = hw_edges_alloc(
        &edges, desc->edges < HW_GRAPH_CHUNK ? desc->edges : HW_GRAPH_CHUNK, weights, err);
    if (status == HW_OK)
        status = hw_alloc(&lists.offset, lists.vertices + 1, sizeof *lists.offset, "offsets", err);
    if (status == HW_OK)
        status = hw_alloc(&lists.next, lists.vertices, sizeof *lists.next, "positions", err);
    if (status == HW_OK)
        status = export_direction(ctx, &lists, graph, &edges, output, &at, err);
    if (status == HW_OK) {
        const int64_t counts[2] = {lists.offset[lists.vertices], lists.vertices};
        status = hw_output_write(output, 0, &directed, 1, err);
        if (status == HW_OK)
            status = hw_output_write(output, 1, counts, sizeof counts, err);
    }
    if (status == HW_OK && desc->directed) {
        lists.forward = false;
        lists.backward = true;
        status = export_direction(ctx, &lists, graph, &edges, output, &at, err);
    }
    free(lists.next);
    free(lists.offset);
    hw_edges_free(&edges);
    return status;
}
