#include "engine/toy.h"

#include "layout/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VERTICES = 97, CYCLE = 30, TUPLES_MOST = 256 };

static void add(struct hw_toy *toy, hw_gid source, hw_gid target)
{
    struct hw_edges *edges = &toy->edges;

    /* Ids are spread, so that no component lies in one piece. */
    edges->source[edges->count] = source * 61 % VERTICES;
    edges->target[edges->count++] = target * 61 % VERTICES;
}

static void add_tuples(struct hw_toy *toy)
{
    for (int v = 0; v < CYCLE; v++) {
        add(toy, v, (v + 1) % CYCLE);
        if (v % 3 == 0)
            add(toy, v, v * 7 % CYCLE);
        if (v % 5 == 0)
            add(toy, (v + 1) % CYCLE, v);
    }
    for (int v = CYCLE; v < CYCLE + 4; v++)
        add(toy, v, v + 1);
    for (int v = CYCLE + 5; v < CYCLE + 45; v += 2)
        add(toy, v, v + 1);
    add(toy, CYCLE + 50, CYCLE + 50); /* a self-loop is no edge to another vertex */
    add(toy, 1, 1);
}

void hw_toy_levels(const struct hw_toy *toy, hw_gid root, int32_t *level)
{
    const struct hw_edges *edges = &toy->edges;
    bool changed = true;

    for (int v = 0; v < VERTICES; v++)
        level[v] = -1;
    level[root] = 0;
    for (int32_t l = 0; changed; l++) {
        changed = false;
        for (hw_count e = 0; e < edges->count; e++)
            for (int back = 0; back <= !toy->desc.directed; back++) {
                hw_gid from = back ? edges->target[e] : edges->source[e];
                hw_gid to = back ? edges->source[e] : edges->target[e];
                if (level[from] != l || level[to] != -1)
                    continue;
                level[to] = l + 1;
                changed = true;
            }
    }
}

/* The parent of v: the least of the level before that has an edge to it. */
static hw_gid parent_of(const struct hw_toy *toy, const int32_t *level, hw_gid v)
{
    const struct hw_edges *edges = &toy->edges;
    hw_gid parent = level[v] == 0 ? v : -1;

    for (hw_count e = 0; e < edges->count && level[v] > 0; e++)
        for (int back = 0; back <= !toy->desc.directed; back++) {
            hw_gid from = back ? edges->target[e] : edges->source[e];
            hw_gid to = back ? edges->source[e] : edges->target[e];
            if (to == v && level[from] == level[v] - 1 && (parent == -1 || from < parent))
                parent = from;
        }
    return parent;
}

static enum hw_status search(void *engine, int owner, hw_lid position, struct hw_result *result,
                             struct hw_error *err)
{
    struct hw_toy *toy = engine;
    const struct hw_part_vertices *own = &toy->part.own;
    hw_gid root = toy->ctx->rank == owner ? own->graph_id[position] : 0;
    int32_t level[VERTICES];
    enum hw_status status =
        hw_mpi(MPI_Bcast(&root, 1, HW_MPI_GID, owner, toy->ctx->world), "MPI_Bcast", err);

    hw_toy_levels(toy, root, level);
    for (hw_lid i = 0; i < own->count; i++) {
        hw_gid v = own->graph_id[own->by_graph_id[i]];
        result->level[i] = level[v];
        result->parent[i] = parent_of(toy, level, v);
    }
    result->seconds = 0.5;
    result->seconds_search_order = 0.25;
    toy->searches++;
    return status;
}

static hw_count bytes(const struct hw_part *part, const struct hw_engine_options *options)
{
    (void)options;
    return part->own.count;
}

static enum hw_status create(const struct hw_method *method, const struct hw_context *ctx,
                             const struct hw_part *part, const struct hw_engine_options *options,
                             void **engine, struct hw_error *err)
{
    (void)method;
    (void)ctx;
    (void)part;
    (void)options;
    *engine = NULL;
    return hw_fail(err, HW_INTERNAL, "a toy is its own engine");
}

static void destroy(void *engine)
{
    (void)engine;
}

static const struct hw_frame frame = {.create = create, .search = search, .destroy = destroy};

void hw_toy_open(const struct hw_context *ctx, enum hw_layout layout, enum hw_order order,
                 bool directed, struct hw_toy *toy)
{
    const struct hw_layout_request request = {
        .layout_given = true, .layout = layout, .order_given = true, .order = order};
    struct hw_layout_spec spec = {0};
    struct hw_error err = {{0}};

    *toy = (struct hw_toy){
        .ctx = ctx,
        .desc = {.vertices = VERTICES, .directed = directed},
        .candidate = calloc(VERTICES, sizeof(bool)),
        .method = {.name = "toy", .frame = &frame, .bytes = bytes},
    };
    toy->edges.capacity = TUPLES_MOST;
    toy->edges.source = calloc(TUPLES_MOST, sizeof(hw_gid));
    toy->edges.target = calloc(TUPLES_MOST, sizeof(hw_gid));
    if (!toy->candidate || !toy->edges.source || !toy->edges.target)
        abort();
    add_tuples(toy);
    toy->desc.edges = toy->edges.count;
    for (hw_count e = 0; e < toy->edges.count; e++)
        if (toy->edges.source[e] != toy->edges.target[e]) {
            toy->candidate[toy->edges.source[e]] = true;
            toy->candidate[toy->edges.target[e]] |= !directed;
        }
    enum hw_status status = hw_layout_resolve(&request, ctx->size, false, &spec, &err);
    spec.threshold = layout == HW_LAYOUT_DEGREE_SEPARATED ? 3 : 0;
    if (status == HW_OK)
        status = hw_parts_build_list(ctx, &toy->desc, &toy->edges, &spec, ctx->rank, 1, &toy->part,
                                     &err);
    if (status != HW_OK) {
        fprintf(stderr, "%s\n", err.text);
        abort();
    }
}

void hw_toy_close(struct hw_toy *toy)
{
    free(toy->candidate);
    free(toy->edges.source);
    free(toy->edges.target);
    hw_part_free(&toy->part);
    *toy = (struct hw_toy){0};
}
