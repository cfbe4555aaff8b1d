/*
 * Building parts on any number of ranks, against the oracle, which makes each
 * part naively from the definitions.
 */
#include "lib/layout/part.h"
#include "tests/fixtures/part_oracle.h"
#include "tests/fixtures/random_graphs.h"
#include "tests/tap/tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- building ---- */

/* The first part of rank r: evenly, or all on the last rank. */
static int first_of(int parts, int ranks, int r, bool last_has_all)
{
    return last_has_all ? (r == ranks ? parts : 0) : parts * r / ranks;
}

static enum hw_status read_fixture(void *self, hw_count first, hw_count count,
                                   struct hw_edges *edges, struct hw_error *err)
{
    const struct random_graph *fixture = self;

    (void)err;
    for (hw_count e = 0; e < count; e++) {
        edges->source[e] = fixture->edges.source[first + e];
        edges->target[e] = fixture->edges.target[first + e];
        if (edges->weight)
            edges->weight[e] = fixture->edges.weight[first + e];
    }
    edges->count = count;
    return HW_OK;
}

/* Builds and compares; true if all of this rank's parts are right. */
static bool builds(const struct hw_context *ctx, struct random_graph *fixture,
                   struct hw_layout_spec spec, bool as_large, bool last_has_all)
{
    struct hw_error err = {{0}};
    int first = first_of(spec.parts, ctx->size, ctx->rank, last_has_all);
    int count = first_of(spec.parts, ctx->size, ctx->rank + 1, last_has_all) - first;
    struct hw_part *part = calloc((size_t)count + 1, sizeof *part);
    hw_count share = fixture->desc.edges / ctx->size;
    struct hw_tuple_source source = {
        .desc = fixture->desc,
        .first = share * ctx->rank,
        .count = ctx->rank == ctx->size - 1 ? fixture->desc.edges - share * ctx->rank : share,
        .read = read_fixture,
        .self = fixture,
        .as_large = as_large};

    bool right = hw_parts_build_from(ctx, &source, &spec, first, count, part, &err) == HW_OK;
    if (!right)
        fprintf(stderr, "# %s\n", err.text);
    for (int p = 0; p < count && right; p++) {
        struct hw_part expected;
        struct hw_layout_spec chosen = spec;
        chosen.threshold = part[p].spec.threshold;
        hw_oracle_part(&fixture->desc, &fixture->edges, &chosen, first + p, &expected);
        right = same_part(&part[p], &expected);
        hw_part_free(&expected);
        hw_part_free(&part[p]);
    }
    free(part);
    return right;
}

/* With many ranks on few cores a build takes long: then one of several
 * combinations will do. */
static bool skipped(const struct hw_context *ctx, int *turn)
{
    int stride = ctx->size <= 2 ? 1 : ctx->size == 3 ? 2 : ctx->size + 1;

    return (*turn)++ % stride != 0;
}

static void test_fixture(struct tap *tap, const struct hw_context *ctx, hw_gid n, hw_count m,
                         bool directed, enum hw_weights weights)
{
    static const int grids[][2] = {{1, 1}, {1, 3}, {2, 2}, {3, 2}, {3, 1}};
    static const int nodes[][2] = {{1, 1}, {2, 1}, {2, 2}, {3, 2}};
    static const hw_count thresholds[] = {0, 2, 1000000, HW_THRESHOLD_AUTO};
    static const char *const words[] = {"degree", "hash", "none"};
    struct random_graph fixture = make_random_graph(n, m, directed, weights);
    int turn = (int)n;

    for (int order = 0; order < 3; order++) {
        bool right = true;
        for (size_t g = 0; g < sizeof grids / sizeof *grids; g++) {
            struct hw_layout_spec spec = {.layout = HW_LAYOUT_2D,
                                          .order = (enum hw_order)order,
                                          .parts = grids[g][0] * grids[g][1],
                                          .rows = grids[g][0],
                                          .columns = grids[g][1],
                                          .weights = weights != HW_WEIGHTS_NONE};
            if (!skipped(ctx, &turn))
                right = builds(ctx, &fixture, spec, g == 2, g == 3) && right;
        }
        for (size_t g = 0; g < sizeof nodes / sizeof *nodes; g++)
            for (size_t t = 0; t < sizeof thresholds / sizeof *thresholds; t++) {
                struct hw_layout_spec spec = {.layout = HW_LAYOUT_DEGREE_SEPARATED,
                                              .order = (enum hw_order)order,
                                              .parts = nodes[g][0] * nodes[g][1],
                                              .nodes = nodes[g][0],
                                              .devices = nodes[g][1],
                                              .threshold = thresholds[t],
                                              .weights = true};
                if (!skipped(ctx, &turn))
                    right = builds(ctx, &fixture, spec, g == 2, t == 1) && right;
            }
        tap_ok(tap, right, "%d vertices, %d tuples, %s, weights %d, order %s: all layouts", (int)n,
               (int)m, directed ? "directed" : "undirected", (int)weights, words[order]);
    }
    free_random_graph(&fixture);
}

/* A star whose centre has nearly all edges, and a graph with hubs, in many
 * rounds. */
static void test_rounds(struct tap *tap, const struct hw_context *ctx)
{
    for (int star = 0; star < 2; star++) {
        struct random_graph fixture =
            make_random_graph(star ? 3000 : 500, 60000, star, HW_WEIGHTS_I32);
        for (hw_count e = 0; star && e < fixture.desc.edges; e++)
            fixture.edges.source[e] = 7;
        struct hw_layout_spec grid = {.layout = HW_LAYOUT_2D,
                                      .order = HW_ORDER_DEGREE,
                                      .parts = 2,
                                      .rows = 1 + star,
                                      .columns = 2 - star,
                                      .weights = true};
        struct hw_layout_spec separate = {.layout = HW_LAYOUT_DEGREE_SEPARATED,
                                          .order = HW_ORDER_DEGREE,
                                          .parts = 4,
                                          .nodes = 2,
                                          .devices = 2,
                                          .threshold = 100};
        tap_ok(tap,
               builds(ctx, &fixture, grid, true, false) &&
                   builds(ctx, &fixture, separate, true, true),
               "%s in many rounds", star ? "a star" : "hubs");
        free_random_graph(&fixture);
    }
}

/* The order of a part that may have any: the graph's own where degrees hardly vary, on one part. */
static void test_any_order(struct tap *tap, const struct hw_context *ctx)
{
    for (int star = 0; star < 2; star++) {
        struct random_graph fixture = make_random_graph(400, 4000, false, HW_WEIGHTS_NONE);
        struct hw_layout_spec spec = {.layout = HW_LAYOUT_1D, .any_order = true, .rows = 1};
        struct hw_part part = {0};
        struct hw_error err = {{0}};
        const int count = ctx->rank == 0;

        for (hw_count e = 0; e < fixture.desc.edges; e++) {
            fixture.edges.source[e] = star && e % 4 ? 7 : e % 400;
            fixture.edges.target[e] = (e * 37 + e / 400) % 400;
        }
        spec.parts = spec.columns = 1;
        bool built = hw_parts_build_list(ctx, &fixture.desc, &fixture.edges, &spec, !count, count,
                                         &part, &err) == HW_OK;
        const bool even = !star && ctx->size == 1;
        tap_ok(tap,
               built && (!count || (part.spec.order == (even ? HW_ORDER_NONE : HW_ORDER_DEGREE) &&
                                    hw_part_keeps_ids(&part) == even && !part.spec.any_order)),
               "any order, %s", star ? "a hub: by degree" : "even degrees: the graph's own alone");
        hw_part_free(&part);
        free_random_graph(&fixture);
    }
}

static void test_refusals(struct tap *tap, const struct hw_context *ctx)
{
    struct hw_error err = {{0}};
    struct random_graph fixture = make_random_graph(10, 20, false, HW_WEIGHTS_NONE);
    struct hw_layout_spec spec = {
        .layout = HW_LAYOUT_1D, .order = HW_ORDER_NONE, .parts = 1, .rows = 1, .columns = 1};
    struct hw_part part = {0};
    int count = ctx->rank == 0;

    fixture.desc.vertices = (hw_gid)1 << 33;
    tap_ok(tap,
           hw_parts_build_list(ctx, &fixture.desc, &fixture.edges, &spec, !count, count, &part,
                               &err) == HW_BAD_INPUT,
           "too many vertices for local ids: %s", err.text);
    fixture.desc.vertices = 10;
    setenv("HOPWAVE_MEMORY", "4K", 1);
    tap_ok(tap,
           hw_parts_build_list(ctx, &fixture.desc, &fixture.edges, &spec, !count, count, &part,
                               &err) == HW_RESOURCES,
           "too little memory: %s", err.text);
    unsetenv("HOPWAVE_MEMORY");
    tap_ok(tap,
           hw_parts_build_list(ctx, &fixture.desc, &fixture.edges, &spec, !count, count, &part,
                               &err) == HW_OK &&
               (!count || part.own.count == 10),
           "and what fits is built");
    hw_part_free(&part);
    free_random_graph(&fixture);
}

static void tests(struct tap *tap, struct hw_context *ctx)
{
    tap_plan_by_ranks(tap, (const int[TAP_RANKS]){49, 49, 49, 47, 0, 47});
    for (int directed = 0; directed < 2; directed++) {
        test_fixture(tap, ctx, 1, 0, directed, HW_WEIGHTS_NONE);
        test_fixture(tap, ctx, 1, 3, directed, HW_WEIGHTS_I32);
        test_fixture(tap, ctx, 5, 0, directed, HW_WEIGHTS_NONE);
        test_fixture(tap, ctx, 4, 9, directed, HW_WEIGHTS_F32);
        test_fixture(tap, ctx, 100, 500, directed, HW_WEIGHTS_NONE);
        test_fixture(tap, ctx, 90, 700, directed, HW_WEIGHTS_F32);
        test_fixture(tap, ctx, 33, 300, directed, HW_WEIGHTS_I32);
    }
    if (ctx->size <= 3) {
        hw_context_threads(ctx, 2);
        test_rounds(tap, ctx);
    }
    test_any_order(tap, ctx);
    test_refusals(tap, ctx);
}

int main(int argc, char **argv)
{
    return tap_ranks(argc, argv, "test_build", tests);
}
