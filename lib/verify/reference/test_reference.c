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
 * it finds a negative cycle, where want is NULL. */
static bool reference_is(const struct hw_context *ctx, const struct world *world,
                         struct hw_reference *reference, hw_gid root, const number *want)
{
    hw_gid n = world->desc.vertices;
    float *real = must(malloc(sizeof *real * (size_t)n));
    int64_t *whole = must(malloc(sizeof *whole * (size_t)n));
    struct hw_error err;
    bool cycle = false;
    bool same = hw_reference_distances(ctx, reference, root, is_whole(world) ? (void *)whole : real,
                                       &cycle, &err) == HW_OK &&
                cycle == !want;

    for (hw_gid v = 0; v < n && want && same && ctx->rank == 0; v++)
        same = want[v] == (is_whole(world) ? (number)whole[v] : (number)real[v]);
    free(real);
    free(whole);
    return same;
}

/* The reference of a world; aborts where there is none. */
static struct hw_reference *open_reference(const struct hw_context *ctx, const struct world *world,
                                           struct hw_graph **graph)
{
    struct hw_reference *reference = NULL;
    bool weights = world->desc.weights != HW_WEIGHTS_NONE;
    struct hw_error err;

    if (hw_graph_from_edges(ctx, &world->desc, &world->edges, graph, &err) != HW_OK ||
        hw_reference_open(ctx, *graph, weights, &reference, &err) != HW_OK)
        abort();
    return reference;
}

static void test_levels(struct tap *tap, const struct hw_context *ctx)
{
    for (int directed = 0; directed < 2; directed++) {
        struct world world = random_world(77, 3000, 5000, directed);
        struct trees trees = grow_trees(&levels, &world, 4, 1);
        struct hw_graph *graph = NULL;
        struct hw_reference *reference = open_reference(ctx, &world, &graph), *none = NULL;
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
        world_free(&world);
    }
}

static void test_paths(struct tap *tap, const struct hw_context *ctx)
{
    for (enum weighting weighting = 0; weighting < WEIGHTINGS; weighting++)
        for (int directed = is_signed(weighting); directed < 2; directed++) {
            struct world world = random_world(weighting + 5, 900, 2500, directed);
            struct hw_graph *graph = NULL;
            add_weights(&world, weighting, 9);
            struct trees trees = grow_trees(&paths, &world, 12, 3);
            struct hw_reference *reference = open_reference(ctx, &world, &graph);
            bool same = true;
            for (hw_count i = 0; i < trees.k && same; i++)
                same = reference_is(ctx, &world, reference, trees.root[i],
                                    trees.value + i * world.desc.vertices);
            tap_ok(tap, same, "the reference: %s, %s", weighting_name(weighting),
                   directed ? "directed" : "undirected");
            hw_reference_close(reference);
            hw_graph_close(graph);
            trees_free(&trees);
            world_free(&world);
        }
}

/* Negative cycles of each kind, within reach of some roots and not of others. */
static void test_cycles(struct tap *tap, const struct hw_context *ctx)
{
    for (int whole = 0; whole < 2; whole++)
        for (int directed = 0; directed < 2; directed++) {
            struct world world = cycle_world(whole, directed);
            struct trees trees = trees_alloc(&paths, 2, world.desc.vertices);
            struct hw_graph *graph = NULL;
            grow_from(&world, &trees, 0, 5);
            grow_from(&world, &trees, 1, directed ? 7 : 0);
            struct hw_reference *reference = open_reference(ctx, &world, &graph);
            tap_ok(tap, reference_is(ctx, &world, reference, 2, NULL), "three tuples");
            tap_ok(tap, reference_is(ctx, &world, reference, 4, NULL), "a self-loop");
            tap_ok(tap, directed || reference_is(ctx, &world, reference, 8, NULL), "a pair");
            tap_ok(tap, reference_is(ctx, &world, reference, 5, trees.value),
                   "a cycle that is not negative");
            tap_ok(tap,
                   reference_is(ctx, &world, reference, trees.root[1],
                                trees.value + world.desc.vertices),
                   "cycles out of reach");
            hw_reference_close(reference);
            hw_graph_close(graph);
            trees_free(&trees);
            world_free(&world);
        }
}

/* Negative weights that vanish are cycles by themselves all the same. */
static void test_vanishing(struct tap *tap, const struct hw_context *ctx)
{
    for (int directed = 0; directed < 2; directed++) {
        struct world world = path_world(5, directed);
        struct hw_graph *graph = NULL;
        add_weights(&world, EIGHTHS, 1);
        put_weight(&world, 3, -0x1p-60);
        if (directed)
            world.edges.target[3] = world.edges.source[3];
        struct hw_reference *reference = open_reference(ctx, &world, &graph);
        tap_ok(tap, reference_is(ctx, &world, reference, 0, NULL),
               "the reference: %s that vanishes", directed ? "a negative self-loop" : "an edge");
        hw_reference_close(reference);
        hw_graph_close(graph);
        world_free(&world);
    }
}

/* A cycle 0 -> 1 -> 2 -> 0 whose rounded sum falls a little, then stays: it weighs
 * nothing exactly. */
static void test_rounding(struct tap *tap, const struct hw_context *ctx)
{
    struct world world = empty_world(4, 4, true);
    struct hw_graph *graph = NULL;
    static const hw_gid source[] = {3, 0, 1, 2}, target[] = {0, 1, 2, 0};
    static const double weight[] = {1, 0x1p-24, 0x1p-24, -0x1p-23};
    struct trees trees = trees_alloc(&paths, 1, 4);

    add_weights(&world, EIGHTHS, 1);
    for (hw_count e = 0; e < 4; e++) {
        world.edges.source[e] = source[e];
        world.edges.target[e] = target[e];
        put_weight(&world, e, weight[e]);
    }
    grow_from(&world, &trees, 0, 3);
    struct hw_reference *reference = open_reference(ctx, &world, &graph);
    tap_ok(tap, trees.value[0] < 1 && reference_is(ctx, &world, reference, 3, trees.value),
           "a cycle that falls in rounding alone");
    hw_reference_close(reference);
    hw_graph_close(graph);
    trees_free(&trees);
    world_free(&world);
}

static void tests(struct tap *tap, struct hw_context *ctx)
{
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
