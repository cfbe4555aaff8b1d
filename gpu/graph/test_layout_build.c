/*
 * Parts built on the device equal, bit for bit, those that the CPU builds: layouts,
 * orders, weights, directions, several parts, memory for one range of rows and for many. Lists that
 * stay there are those of the CPU's part; merged ones by rising weight.
 *
 *   test_layout.t [GRAPH.h5...]   graphs, or recipes, to test in addition to those made here
 */
#include "gpu/device/device.h"
#include "gpu/graph/build/csr_builder.h"
#include "gpu/hopwave_gpu.h"
#include "lib/comm/context.h"
#include "lib/engine/sssp/weight_stats.h"
#include "lib/layout/part_matrices.h"
#include "tests/fixtures/validation_graphs.h"
#include "tests/tap/tap.h"

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

/* ---- merged lists ---- */

/* What a list has in one matrix of the CPU's part. first: the code of index 0. Returns how many
 * edges. */
static hw_count add_row(const struct hw_part *part, const struct hw_csr *matrix, hw_lid row,
                        uint32_t first, struct hw_gpu_edge *to)
{
    const hw_count begin = matrix->offset[row], count = matrix->offset[row + 1] - begin;

    for (hw_count k = 0; k < count; k++) {
        const hw_gid target = matrix->target ? matrix->target[begin + k] : 0;
        const uint32_t code = matrix->target
                                  ? (uint32_t)hw_owner(&part->spec, target) * part->separate.slots +
                                        hw_position(&part->spec, target)
                                  : first + matrix->index[begin + k];
        to[k] = (struct hw_gpu_edge){code, (uint32_t)matrix->weight[begin + k].i32};
    }
    return count;
}

/* All that a vertex's list has; returns how many. incoming: its in-list, of a grid. */
static hw_count add_list(const struct hw_part *part, uint32_t list, bool incoming,
                         struct hw_gpu_edge *to)
{
    const struct hw_delegate_part *separate = &part->separate;
    const uint32_t slots = separate->slots, first = slots * (uint32_t)part->spec.parts;

    if (part->spec.layout != HW_LAYOUT_DEGREE_SEPARATED)
        return add_row(part, incoming ? &part->grid.in : &part->grid.out, list, 0, to);
    const bool slot = list < slots;
    const hw_lid row = slot ? list : list - slots;
    hw_count count =
        add_row(part, slot ? &separate->nn : &separate->dn, row, (uint32_t)part->index * slots, to);
    return count + add_row(part, slot ? &separate->nd : &separate->dd, row, first, to + count);
}

/* By the order of weights, which stands for them here. */
static int by_weight(const void *a, const void *b)
{
    const struct hw_gpu_edge *x = a, *y = b;

    if (x->weight != y->weight)
        return x->weight < y->weight ? -1 : 1;
    return (x->neighbor > y->neighbor) - (x->neighbor < y->neighbor);
}

static void sort_list(struct hw_gpu_edge *list, hw_count count, enum hw_weights kind)
{
    for (hw_count k = 0; k < count; k++)
        list[k].weight =
            hw_weight_sort_key((union hw_weight){.i32 = (int32_t)list[k].weight}, kind);
    qsort(list, (size_t)count, sizeof *list, by_weight);
    for (hw_count k = 0; k < count; k++)
        list[k].weight = (uint32_t)hw_weight_from_sort_key(list[k].weight, kind).i32;
}

/* The lists of the CPU's part as they are kept; *lists: how many. */
static struct hw_gpu_edge *join(const struct hw_part *part, bool incoming, uint32_t *lists,
                                uint64_t **offset)
{
    const struct hw_delegate_part *separate = &part->separate;
    const bool grid = part->spec.layout != HW_LAYOUT_DEGREE_SEPARATED;
    struct hw_gpu_edge *edge = must(calloc((size_t)part->edges + 1, sizeof *edge));

    *lists = grid ? part->grid.out.rows : separate->slots + separate->delegates;
    *offset = must(calloc((size_t)*lists + 1, sizeof **offset));
    for (uint32_t l = 0; l < *lists; l++) {
        const hw_count count = add_list(part, l, incoming, edge + (*offset)[l]);
        sort_list(edge + (*offset)[l], count, part->weights);
        (*offset)[l + 1] = (*offset)[l] + (uint64_t)count;
    }
    return edge;
}

/* Whether in-lists are made: of directed graphs in layout 1d without negative weights. Collective.
 */
static bool wants_in_lists(const struct hw_part *part)
{
    struct hw_weight_stats stats;
    const struct hw_context ctx = {.world = MPI_COMM_WORLD, .size = part->spec.parts};
    struct hw_error err = {{0}};

    return part->directed && part->spec.layout != HW_LAYOUT_DEGREE_SEPARATED &&
           part->spec.rows == 1 && hw_weight_stats(&ctx, part, &stats, &err) == HW_OK &&
           stats.negative == 0;
}

/* Whether the out-lists, or the in-lists, are those of the CPU. */
static bool same_joined(const struct hw_part *want, const struct hw_part *got, bool incoming)
{
    const struct hw_device_csr *kept = hw_device_csr(got);
    struct hw_error err = {{0}};
    uint64_t *offset = NULL;
    uint32_t lists = 0;
    struct hw_gpu_edge *edge = join(want, incoming, &lists, &offset);
    const uint64_t edges = offset[lists];
    uint64_t *got_offset = must(calloc((size_t)lists + 1, sizeof *got_offset));
    struct hw_gpu_edge *got_edge = must(calloc((size_t)edges + 1, sizeof *got_edge));
    const bool equal =
        kept && kept->edge && got->edges == want->edges && (!incoming || kept->in_edge) &&
        hw_gpu_get(got_offset, incoming ? kept->in_offset : kept->offset,
                   ((size_t)lists + 1) * sizeof *offset, &err) == HW_OK &&
        memcmp(got_offset, offset, ((size_t)lists + 1) * sizeof *offset) == 0 &&
        (!incoming || memcmp(got->grid.in.offset, offset, (size_t)lists * sizeof *offset) == 0) &&
        hw_gpu_get(got_edge, incoming ? kept->in_edge : kept->edge, edges * sizeof *edge, &err) ==
            HW_OK &&
        memcmp(got_edge, edge, edges * sizeof *edge) == 0;

    free(edge);
    free(offset);
    free(got_edge);
    free(got_offset);
    return equal;
}

static bool same_survey(const struct hw_context *ctx, const struct hw_part *want,
                        const struct hw_part *got)
{
    struct hw_weight_stats a, b;
    struct hw_error err = {{0}};

    if (hw_weight_stats(ctx, want, &a, &err) != HW_OK ||
        hw_weight_stats(ctx, got, &b, &err) != HW_OK)
        return false;
    return a.edges == b.edges && a.negative == b.negative && a.min == b.min && a.max == b.max &&
           a.mean - b.mean < 1e-9 && b.mean - a.mean < 1e-9;
}

/* One part a rank, both ways. */
static bool try_joined(const struct tap *tap, const struct hw_context *ctx, struct hw_graph *graph,
                       const struct hw_layout_spec *spec)
{
    struct hw_part want = {.index = 0}, got = {.index = 0};
    struct hw_error err = {{0}};
    bool equal = hw_parts_build(ctx, graph, spec, ctx->rank, 1, &want, &err) == HW_OK &&
                 hw_gpu_build_weighted_device_csr(ctx, graph, spec, true, &got, &err) == HW_OK;

    if (!equal)
        tap_note(tap, "%s", err.text);
    equal = equal && same_survey(ctx, &want, &got);
    equal = equal && same_vertices(&got.own, &want.own) && same_joined(&want, &got, false);
    if (equal && wants_in_lists(&want))
        equal = same_joined(&want, &got, true);
    else
        equal = equal && !hw_device_csr(&got)->in_offset;
    hw_part_free(&want);
    hw_part_free(&got);
    return equal;
}

/* ---- lists without weights that stay ---- */

static bool same_kept(struct hw_part *want, struct hw_part *got)
{
    const struct hw_device_csr *kept = hw_device_csr(got);
    uint32_t *column = must(calloc((size_t)want->edges + 1, sizeof *column));
    struct hw_error err = {{0}};
    hw_count at = 0;
    bool equal = kept && kept->column && got->edges == want->edges;

    for (int m = 0; m < HW_MATRICES && equal; m++) {
        const struct hw_csr *a = hw_part_matrix(want, (enum hw_matrix)m);
        const struct hw_csr *b = hw_part_matrix(got, (enum hw_matrix)m);
        if (!a || !a->offset)
            continue;
        const hw_count edges = a->offset[a->rows];
        equal =
            b && b->offset && b->rows == a->rows && !b->index && !b->target &&
            same(a->offset, b->offset, (hw_count)a->rows + 1, sizeof *a->offset) &&
            edges <= want->edges &&
            hw_gpu_get(column, kept->column + at, (size_t)edges * sizeof *column, &err) == HW_OK;
        for (hw_count e = 0; e < edges && equal; e++)
            equal = column[e] == (a->target ? (uint32_t)a->target[e] : a->index[e]);
        at += edges;
    }
    free(column);
    return equal;
}

static bool try_kept(const struct tap *tap, const struct hw_context *ctx, struct hw_graph *graph,
                     const struct hw_layout_spec *spec)
{
    struct hw_part want = {.index = 0}, got = {.index = 0};
    struct hw_error err = {{0}};
    bool equal = hw_parts_build(ctx, graph, spec, ctx->rank, 1, &want, &err) == HW_OK &&
                 hw_gpu_build_device_csr(ctx, graph, spec, &got, &err) == HW_OK;

    if (!equal)
        tap_note(tap, "%s", err.text);
    equal = equal && same_vertices(&got.own, &want.own) && same_kept(&want, &got);
    hw_part_free(&want);
    hw_part_free(&got);
    return equal;
}

/* All layouts of one part a rank. */
static void try_staying(struct tap *tap, const struct hw_context *ctx, struct hw_graph *graph,
                        const char *name)
{
    const int ranks = ctx->size;
    const struct hw_layout_spec paths[] = {
        {.layout = HW_LAYOUT_1D, .order = HW_ORDER_DEGREE, .rows = 1, .columns = ranks},
        {.layout = HW_LAYOUT_2D, .order = HW_ORDER_HASH, .rows = ranks, .columns = 1},
        {.layout = HW_LAYOUT_DEGREE_SEPARATED,
         .order = HW_ORDER_DEGREE,
         .nodes = ranks,
         .devices = 1,
         .threshold = HW_THRESHOLD_AUTO},
        {.layout = HW_LAYOUT_DEGREE_SEPARATED,
         .order = HW_ORDER_NONE,
         .nodes = 1,
         .devices = ranks,
         .threshold = 7}};

    for (size_t s = 0; s < sizeof paths / sizeof *paths; s++) {
        struct hw_layout_spec spec = paths[s];
        spec.parts = ranks;
        tap_ok(tap, try_kept(tap, ctx, graph, &spec), "%s, lists that stay in layout %zu", name, s);
        spec.weights = true;
        if (hw_graph_desc(graph)->weights == HW_WEIGHTS_NONE)
            continue;
        tap_ok(tap, try_joined(tap, ctx, graph, &spec), "%s, merged lists in layout %zu", name, s);
    }
}

/* ---- graphs ---- */

/* Weights, some of them negative, unless the graph is directed with real ones, and many equal. */
static void weigh(struct graph_fixture *fixture, enum hw_weights kind)
{
    const int32_t least = fixture->desc.directed && kind == HW_WEIGHTS_F32 ? 0 : -20;
    uint64_t state = 7;

    fixture->desc.weights = kind;
    fixture->edges.weight =
        must(malloc((size_t)(fixture->edges.count + 1) * sizeof *fixture->edges.weight));
    for (hw_count e = 0; e < fixture->edges.count; e++) {
        const int32_t whole = (int32_t)below(&state, 100) + least;
        if (kind == HW_WEIGHTS_F32)
            fixture->edges.weight[e].f32 = (float)whole / 4;
        else
            fixture->edges.weight[e].i32 = whole;
    }
}

static void try_world(struct tap *tap, const struct hw_context *ctx, uint64_t seed, hw_gid n,
                      hw_count edges, bool directed, enum hw_weights weights, const char *name)
{
    struct graph_fixture fixture = random_fixture(seed, n, edges, directed);
    struct hw_error err = {{0}};
    struct hw_graph *graph = NULL;

    if (weights != HW_WEIGHTS_NONE)
        weigh(&fixture, weights);
    if (hw_graph_from_edges(ctx, &fixture.desc, &fixture.edges, &graph, &err) == HW_OK)
        try_graph(tap, ctx, graph, name);
    else
        tap_ok(tap, false, "%s: %s", name, err.text);
    if (graph)
        try_staying(tap, ctx, graph, name);
    hw_graph_close(graph);
    fixture_free(&fixture);
}

static void try_file(struct tap *tap, const struct hw_context *ctx, const char *path)
{
    struct hw_error err = {{0}};
    struct hw_graph *graph = NULL;

    if (tap_ok(tap, hw_graph_open(ctx, path, &graph, &err) == HW_OK, "%s opens", path)) {
        try_graph(tap, ctx, graph, path);
        try_staying(tap, ctx, graph, path);
    } else {
        tap_note(tap, "%s", err.text);
    }
    hw_graph_close(graph);
}

/* So little memory that entries need many row ranges. */
static void try_passes(struct tap *tap, const struct hw_context *ctx)
{
    setenv("HOPWAVE_DEVICE_MEMORY", "350M", 1);
    try_world(tap, ctx, 3, 60000, 4000000, false, HW_WEIGHTS_NONE, "in many row ranges");
    try_world(tap, ctx, 5, 60000, 3000000, false, HW_WEIGHTS_F32, "weighted, in many row ranges");
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
    tap_plan(&tap, TAP_AT_END);
    ctx.quiet = true;
    if (hw_gpu_ready(&err) != HW_OK || hw_gpu_open(&ctx, &err) != HW_OK) {
        tap_skip(&tap, "there is no GPU here");
    } else {
        try_world(&tap, &ctx, 1, 1, 3, false, HW_WEIGHTS_NONE, "a vertex");
        try_world(&tap, &ctx, 2, 997, 20000, false, HW_WEIGHTS_NONE, "an undirected graph");
        try_world(&tap, &ctx, 4, 1000, 5001, true, HW_WEIGHTS_NONE, "a directed graph");
        try_world(&tap, &ctx, 6, 997, 20000, false, HW_WEIGHTS_F32, "real weights");
        try_world(&tap, &ctx, 8, 1000, 5001, true, HW_WEIGHTS_I32, "whole weights, directed");
        try_world(&tap, &ctx, 7, 1000, 5001, true, HW_WEIGHTS_F32, "no negative weights, directed");
        try_world(&tap, &ctx, 9, 2, 5, false, HW_WEIGHTS_I32, "two weighted vertices");
        for (int i = 1; i < argc; i++)
            try_file(&tap, &ctx, argv[i]);
        try_passes(&tap, &ctx);
    }
    int failed = tap_done(&tap);
    hw_context_close(&ctx, HW_OK, &err);
    return failed;
}
