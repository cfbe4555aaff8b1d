/*
 * Parts laid out on the device are, bit for bit, those that the CPU lays out: layouts,
 * orders, weights, directions, several parts, memory for one pass and for many.
 *
 *   test_layout.t [GRAPH.h5...]   graphs, or recipes, to try beside those made here
 */
#include "comm/context.h"
#include "device.h"
#include "hopwave_gpu.h"
#include "layout/matrix.h"
#include "tap.h"
#include "verify/test_world.h"

#include <stdlib.h>
#include <string.h>

/* The layouts that are tried; all of a graph's parts on each rank's share. */
static const struct hw_layout_spec specs[] = {
    {.layout = HW_LAYOUT_1D, .order = HW_ORDER_DEGREE, .parts = 1, .rows = 1, .columns = 1},
    {.layout = HW_LAYOUT_1D, .order = HW_ORDER_HASH, .parts = 3, .rows = 1, .columns = 3},
    {.layout = HW_LAYOUT_2D, .order = HW_ORDER_DEGREE, .parts = 6, .rows = 2, .columns = 3},
    {.layout = HW_LAYOUT_2D, .order = HW_ORDER_NONE, .parts = 3, .rows = 3, .columns = 1},
    {.layout = HW_LAYOUT_DEGREE_SEPARATED,
     .order = HW_ORDER_DEGREE,
     .parts = 4,
     .nodes = 2,
     .devices = 2,
     .threshold = HW_THRESHOLD_AUTO},
    {.layout = HW_LAYOUT_DEGREE_SEPARATED,
     .order = HW_ORDER_NONE,
     .parts = 3,
     .nodes = 3,
     .devices = 1,
     .threshold = 5},
};
enum { SPECS = sizeof specs / sizeof specs[0], PARTS_MOST = 6 };

/* Whether both are absent, or hold the same. */
static bool same(const void *a, const void *b, hw_count count, size_t size)
{
    if (count == 0 || (!a && !b))
        return true;
    return a && b && memcmp(a, b, (size_t)count * size) == 0;
}

static bool same_matrix(const struct hw_csr *a, const struct hw_csr *b)
{
    if (!a || !b)
        return a == b;
    if (a->rows != b->rows || !same(a->offset, b->offset, (hw_count)a->rows + 1, sizeof(hw_count)))
        return false;
    hw_count count = a->offset[a->rows];
    return same(a->index, b->index, count, sizeof *a->index) &&
           same(a->target, b->target, count, sizeof *a->target) &&
           same(a->weight, b->weight, count, sizeof *a->weight);
}

static bool same_vertices(const struct hw_part_vertices *a, const struct hw_part_vertices *b)
{
    return a->count == b->count && a->loops == b->loops &&
           same(a->graph_id, b->graph_id, a->count, sizeof *a->graph_id) &&
           same(a->tuples, b->tuples, a->count, sizeof *a->tuples) &&
           same(a->by_graph_id, b->by_graph_id, a->count, sizeof *a->by_graph_id) &&
           same(a->loop, b->loop, a->loops, sizeof *a->loop) &&
           same(a->loop_weight, b->loop_weight, a->loops, sizeof *a->loop_weight);
}

static bool same_part(struct hw_part *a, struct hw_part *b)
{
    bool equal = same_vertices(&a->own, &b->own) && a->edges == b->edges &&
                 a->spec.threshold == b->spec.threshold && a->weights == b->weights &&
                 a->separate.delegates == b->separate.delegates;

    for (int m = 0; m < HW_MATRICES && equal; m++)
        equal =
            same_matrix(hw_part_matrix(a, (enum hw_matrix)m), hw_part_matrix(b, (enum hw_matrix)m));
    return equal;
}

/* One graph in one layout, both ways. */
static bool try_layout(const struct tap *tap, const struct hw_context *ctx, struct hw_graph *graph,
                       const struct hw_layout_spec *spec)
{
    struct hw_part want[PARTS_MOST] = {{.index = 0}}, got[PARTS_MOST] = {{.index = 0}};
    struct hw_error err = {{0}};
    int first = spec->parts * ctx->rank / ctx->size;
    int count = spec->parts * (ctx->rank + 1) / ctx->size - first;
    bool equal = hw_parts_build(ctx, graph, spec, first, count, want, &err) == HW_OK &&
                 hw_gpu_parts_build(ctx, graph, spec, first, count, got, &err) == HW_OK;

    if (!equal)
        tap_note(tap, "%s", err.text);
    for (int p = 0; p < count && equal; p++) {
        equal = same_part(&got[p], &want[p]);
        if (!equal)
            tap_note(tap, "part %d differs", first + p);
    }
    for (int p = 0; p < count; p++) {
        hw_part_free(&want[p]);
        hw_part_free(&got[p]);
    }
    return equal;
}

/* One graph in all layouts. */
static void try_graph(struct tap *tap, const struct hw_context *ctx, struct hw_graph *graph,
                      const char *name)
{
    for (int s = 0; s < SPECS; s++) {
        struct hw_layout_spec spec = specs[s];
        spec.weights = s % 2 == 0 || hw_graph_desc(graph)->edges % 2;
        tap_ok(tap, try_layout(tap, ctx, graph, &spec), "%s in layout %d", name, s);
    }
}

static void try_world(struct tap *tap, const struct hw_context *ctx, uint64_t seed, hw_gid n,
                      hw_count edges, bool directed, const char *name)
{
    struct world world = random_world(seed, n, edges, directed);
    struct hw_error err = {{0}};
    struct hw_graph *graph = NULL;

    if (hw_graph_from_edges(ctx, &world.desc, &world.edges, &graph, &err) == HW_OK)
        try_graph(tap, ctx, graph, name);
    hw_graph_close(graph);
    world_free(&world);
}

static void try_file(struct tap *tap, const struct hw_context *ctx, const char *path)
{
    struct hw_error err = {{0}};
    struct hw_graph *graph = NULL;

    if (tap_ok(tap, hw_graph_open(ctx, path, &graph, &err) == HW_OK, "%s opens", path))
        try_graph(tap, ctx, graph, path);
    else
        tap_note(tap, "%s", err.text);
    hw_graph_close(graph);
}

/* So little memory that entries need many passes. */
static void try_passes(struct tap *tap, const struct hw_context *ctx)
{
    setenv("HOPWAVE_DEVICE_MEMORY", "350M", 1);
    try_world(tap, ctx, 3, 60000, 4000000, false, "in many passes");
    unsetenv("HOPWAVE_DEVICE_MEMORY");
}

int main(int argc, char **argv)
{
    struct tap tap = {0};
    struct hw_context ctx;
    struct hw_error err = {{0}};

    if (hw_context_open(&ctx, &argc, &argv, "test_layout", &err) != HW_OK)
        return 99;
    tap_mpi(&tap);
    ctx.quiet = true;
    if (hw_gpu_ready(&err) != HW_OK || hw_gpu_open(&ctx, &err) != HW_OK) {
        tap_skip(&tap, "there is no GPU here");
    } else {
        try_world(&tap, &ctx, 1, 1, 3, false, "a vertex");
        try_world(&tap, &ctx, 2, 997, 20000, false, "an undirected graph");
        try_world(&tap, &ctx, 4, 1000, 5001, true, "a directed graph");
        for (int i = 1; i < argc; i++)
            try_file(&tap, &ctx, argv[i]);
        try_passes(&tap, &ctx);
    }
    int failed = tap_done(&tap);
    hw_context_close(&ctx, HW_OK, &err);
    return failed;
}
