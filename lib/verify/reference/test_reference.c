/*
 * The serial references: levels and distances of all kinds of weights are those of plain sweeps
 * over the tuples, and negative cycles within reach are found.
 */
#include "lib/base/memory.h"
#include "lib/comm/context.h"
#include "lib/graph/graph.h"
#include "lib/verify/verify.h"
#include "tests/fixtures/broken_trees.h"
#include "tests/tap/tap.h"

#include <stdlib.h>
#include <string.h>

/* Whether the reference's distances from a root are those of the tree; or whether
 * it reports a negative cycle, where want is NULL. */
static bool reference_is(const struct hw_context *ctx, const struct graph_fixture *fixture,
                         struct hw_reference *reference, hw_gid root, const number *want)
{
    hw_gid n = fixture->desc.vertices;
    float *real = must(malloc(sizeof *real * (size_t)n));
    int64_t *whole = must(malloc(sizeof *whole * (size_t)n));
    struct hw_error err;
    bool cycle = false;
    bool same =
        hw_reference_distances(ctx, reference, root, is_whole(fixture) ? (void *)whole : real,
                               &cycle, &err) == HW_OK &&
        cycle == !want;

    for (hw_gid v = 0; v < n && want && same && ctx->rank == 0; v++)
        same = want[v] == (is_whole(fixture) ? (number)whole[v] : (number)real[v]);
    free(real);
    free(whole);
    return same;
}

/* The reference of a graph; aborts where there is none. */
static struct hw_reference *open_reference(const struct hw_context *ctx,
                                           const struct graph_fixture *fixture,
                                           struct hw_graph **graph)
{
    struct hw_reference *reference = NULL;
    bool weights = fixture->desc.weights != HW_WEIGHTS_NONE;
    struct hw_error err;

    if (hw_graph_from_edges(ctx, &fixture->desc, &fixture->edges, graph, &err) != HW_OK ||
        hw_reference_open(ctx, *graph, weights, &reference, &err) != HW_OK)
        abort();
    return reference;
}

static void test_levels(struct tap *tap, const struct hw_context *ctx)
{
    for (int directed = 0; directed < 2; directed++) {
        struct graph_fixture fixture = random_fixture(77, 3000, 5000, directed);
        struct trees trees = grow_trees(&levels, &fixture, 4, 1);
        struct hw_graph *graph = NULL;
        struct hw_reference *reference = open_reference(ctx, &fixture, &graph), *none = NULL;
        int32_t *level = must(malloc(sizeof *level * 3000));
        struct hw_error err = {{0}};
        bool same = true;
        for (hw_count i = 0; i < trees.k && same; i++) {
            same = hw_reference_levels(ctx, reference, trees.root[i], level, &err) == HW_OK;
            for (hw_gid v = 0; v < 3000 && same && ctx->rank == 0; v++)
                same = trees.value[i * 3000 + v] == level[v];
        }
        tap_ok(tap, same, "the reference: levels, %s", directed ? "directed" : "undirected");
        tap_ok(tap, hw_reference_levels(ctx, reference, 3000, level, &err) == HW_BAD_INPUT,
               "a root that is no vertex is refused");
        setenv("HOPWAVE_MEMORY", "10K", 1);
        tap_ok(tap, hw_reference_open(ctx, graph, false, &none, &err) == HW_RESOURCES,
               "too little memory is refused");
        unsetenv("HOPWAVE_MEMORY");
        hw_reference_close(reference);
        hw_graph_close(graph);
        free(level);
        trees_free(&trees);
        fixture_free(&fixture);
    }
}

static void test_paths(struct tap *tap, const struct hw_context *ctx)
{
    for (enum weighting weighting = 0; weighting < WEIGHTINGS; weighting++)
        for (int directed = is_signed(weighting); directed < 2; directed++) {
            struct graph_fixture fixture = random_fixture(weighting + 5, 900, 2500, directed);
            struct hw_graph *graph = NULL;
            add_weights(&fixture, weighting, 9);
            struct trees trees = grow_trees(&paths, &fixture, 12, 3);
            struct hw_reference *reference = open_reference(ctx, &fixture, &graph);
            bool same = true;
            for (hw_count i = 0; i < trees.k && same; i++)
                same = reference_is(ctx, &fixture, reference, trees.root[i],
                                    trees.value + i * fixture.desc.vertices);
            tap_ok(tap, same, "the reference: %s, %s", weighting_name(weighting),
                   directed ? "directed" : "undirected");
            hw_reference_close(reference);
            hw_graph_close(graph);
            trees_free(&trees);
            fixture_free(&fixture);
        }
}

/* Negative cycles of each kind, within reach of some roots and not of others. */
static void test_cycles(struct tap *tap, const struct hw_context *ctx)
{
    for (int whole = 0; whole < 2; whole++)
        for (int directed = 0; directed < 2; directed++) {
            struct graph_fixture fixture = cycle_fixture(whole, directed);
            struct trees trees = trees_alloc(&paths, 2, fixture.desc.vertices);
            struct hw_graph *graph = NULL;
            grow_from(&fixture, &trees, 0, 5);
            grow_from(&fixture, &trees, 1, directed ? 7 : 0);
            struct hw_reference *reference = open_reference(ctx, &fixture, &graph);
            tap_ok(tap, reference_is(ctx, &fixture, reference, 2, NULL), "three tuples");
            tap_ok(tap, reference_is(ctx, &fixture, reference, 4, NULL), "a self-loop");
            tap_ok(tap, directed || reference_is(ctx, &fixture, reference, 8, NULL), "a pair");
            tap_ok(tap, reference_is(ctx, &fixture, reference, 5, trees.value),
                   "a cycle that is not negative");
            tap_ok(tap,
                   reference_is(ctx, &fixture, reference, trees.root[1],
                                trees.value + fixture.desc.vertices),
                   "cycles out of reach");
            hw_reference_close(reference);
            hw_graph_close(graph);
            trees_free(&trees);
            fixture_free(&fixture);
        }
}

/* Negative weights that vanish in rounding are cycles by themselves, too. */
static void test_vanishing(struct tap *tap, const struct hw_context *ctx)
{
    for (int directed = 0; directed < 2; directed++) {
        struct graph_fixture fixture = path_fixture(5, directed);
        struct hw_graph *graph = NULL;
        add_weights(&fixture, EIGHTHS, 1);
        put_weight(&fixture, 3, -0x1p-60);
        if (directed)
            fixture.edges.target[3] = fixture.edges.source[3];
        struct hw_reference *reference = open_reference(ctx, &fixture, &graph);
        tap_ok(tap, reference_is(ctx, &fixture, reference, 0, NULL),
               "the reference: %s that vanishes", directed ? "a negative self-loop" : "an edge");
        hw_reference_close(reference);
        hw_graph_close(graph);
        fixture_free(&fixture);
    }
}

/* A cycle 0 -> 1 -> 2 -> 0 whose rounded sum decreases at first, then not: its exact weight is
 * 0. */
static void test_rounding(struct tap *tap, const struct hw_context *ctx)
{
    struct graph_fixture fixture = empty_fixture(4, 4, true);
    struct hw_graph *graph = NULL;
    static const hw_gid source[] = {3, 0, 1, 2}, target[] = {0, 1, 2, 0};
    static const double weight[] = {1, 0x1p-24, 0x1p-24, -0x1p-23};
    struct trees trees = trees_alloc(&paths, 1, 4);

    add_weights(&fixture, EIGHTHS, 1);
    for (hw_count e = 0; e < 4; e++) {
        fixture.edges.source[e] = source[e];
        fixture.edges.target[e] = target[e];
        put_weight(&fixture, e, weight[e]);
    }
    grow_from(&fixture, &trees, 0, 3);
    struct hw_reference *reference = open_reference(ctx, &fixture, &graph);
    tap_ok(tap, trees.value[0] < 1 && reference_is(ctx, &fixture, reference, 3, trees.value),
           "a cycle that falls in rounding alone");
    hw_reference_close(reference);
    hw_graph_close(graph);
    trees_free(&trees);
    fixture_free(&fixture);
}

static void tests(struct tap *tap, struct hw_context *ctx)
{
    tap_plan(tap, 43);
    hw_context_threads(ctx, ctx->size == 1 ? 2 : 1);
    test_levels(tap, ctx);
    test_paths(tap, ctx);
    test_cycles(tap, ctx);
    test_vanishing(tap, ctx);
    test_rounding(tap, ctx);
}

int main(int argc, char **argv)
{
    return tap_ranks(argc, argv, "test_reference", tests);
}
