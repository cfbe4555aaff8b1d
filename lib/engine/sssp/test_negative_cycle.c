/* Negative cycles: planted among parents, and single edges. */
#include "lib/base/permutation.h"
#include "lib/engine/sssp/negative_cycle.h"
#include "tests/tap/tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Vertices: more than six digest blocks, so that every rank holds some. */
#define VERTICES ((hw_gid)100003)

/* Parents and weights of all vertices, on every rank, and this rank's part. */
struct fixture {
    const struct hw_context *ctx;
    struct hw_part part;
    struct hw_tree tree;
    hw_gid *parent;          /* [VERTICES] */
    union hw_weight *weight; /* [VERTICES] */
    hw_gid *own_parent;      /* [part.own.count] */
    union hw_weight *own_weight;
};

/* Who owns a vertex: no order that slices have. */
static bool owns(const struct hw_context *ctx, hw_gid v)
{
    return hw_mix((uint64_t)v) % (uint64_t)ctx->size == (uint64_t)ctx->rank;
}

static void *array(size_t count, size_t size)
{
    void *memory = calloc(count + 1, size);

    if (!memory)
        abort();
    return memory;
}

static void fixture_open(const struct hw_context *ctx, struct fixture *fixture)
{
    struct hw_part_vertices *own = &fixture->part.own;
    struct hw_error err;

    *fixture = (struct fixture){.ctx = ctx};
    fixture->part.vertices = VERTICES;
    fixture->parent = array(VERTICES, sizeof *fixture->parent);
    fixture->weight = array(VERTICES, sizeof *fixture->weight);
    fixture->own_parent = array(VERTICES, sizeof *fixture->own_parent);
    fixture->own_weight = array(VERTICES, sizeof *fixture->own_weight);
    own->graph_id = array(VERTICES, sizeof *own->graph_id);
    own->by_graph_id = array(VERTICES, sizeof *own->by_graph_id);
    for (hw_gid v = 0; v < VERTICES; v++)
        if (owns(ctx, v)) {
            own->by_graph_id[own->count] = own->count;
            own->graph_id[own->count++] = v;
        }
    if (hw_tree_open(ctx, &fixture->part, &fixture->tree, &err) != HW_OK)
        abort();
}

static void fixture_close(struct fixture *fixture)
{
    hw_tree_close(&fixture->tree);
    free(fixture->part.own.graph_id);
    free(fixture->part.own.by_graph_id);
    free(fixture->parent);
    free(fixture->weight);
    free(fixture->own_parent);
    free(fixture->own_weight);
}

/* A tree with long chains and short ones, some vertices outside it; weights 1. */
static void plant_tree(struct fixture *fixture, enum hw_weights weights)
{
    fixture->part.weights = weights;
    for (hw_gid v = 0; v < VERTICES; v++) {
        fixture->parent[v] = v % 11 == 7 ? HW_GID_NONE : v % 3 ? v / 2 : v - 1;
        if (v == 0)
            fixture->parent[v] = 0;
        if (weights == HW_WEIGHTS_F32)
            fixture->weight[v].f32 = 1;
        else
            fixture->weight[v].i32 = 1;
    }
}

/* Closes vertices begin, begin + stride, ... (length of them) to a cycle in that
 * order, each edge of that weight. */
static void plant_cycle(struct fixture *fixture, hw_gid begin, hw_gid stride, hw_gid length,
                        double weight)
{
    for (hw_gid i = 0; i < length; i++) {
        hw_gid v = begin + i * stride, next = begin + (i + 1) % length * stride;
        fixture->parent[next] = v;
        if (fixture->part.weights == HW_WEIGHTS_F32)
            fixture->weight[next].f32 = (float)weight;
        else
            fixture->weight[next].i32 = (int32_t)weight;
    }
}

/* Searches what is planted. Collective. */
static enum hw_status find(struct fixture *fixture, struct hw_cycle *cycle)
{
    const struct hw_part_vertices *own = &fixture->part.own;
    struct hw_error err = {{0}};

    for (hw_lid i = 0; i < own->count; i++) {
        fixture->own_parent[i] = fixture->parent[own->graph_id[i]];
        fixture->own_weight[i] = fixture->weight[own->graph_id[i]];
    }
    return hw_negative_cycle(&fixture->part, &fixture->tree, fixture->own_parent,
                             fixture->own_weight, cycle, &err);
}

/* Whether a cycle was found that begins so and weighs so, and follows parents. */
static bool found(struct fixture *fixture, hw_gid begin, hw_count length, double weight)
{
    struct hw_cycle cycle;
    bool right = find(fixture, &cycle) == HW_OK && cycle.length == length &&
                 (length == 0 || cycle.vertex[0] == begin);

    for (hw_count i = 0; i < length && right; i++)
        right = fixture->parent[cycle.vertex[(i + 1) % length]] == cycle.vertex[i];
    if (length > 0 && right)
        right = fixture->part.weights == HW_WEIGHTS_F32 ? cycle.real == weight
                                                        : (double)cycle.whole == weight;
    hw_cycle_free(&cycle);
    return right;
}

static void test_planted(struct tap *tap, struct fixture *fixture, enum hw_weights weights,
                         const char *type)
{
    plant_tree(fixture, weights);
    tap_ok(tap, found(fixture, 0, 0, 0), "%s: a tree has no cycle", type);
    plant_cycle(fixture, 70001, 7, 3000, 0);
    tap_ok(tap, found(fixture, 0, 0, 0), "%s: a cycle of weight zero is none", type);
    plant_cycle(fixture, 90001, 1, 2, -3);
    tap_ok(tap, found(fixture, 90001, 2, -6), "%s: two vertices, next to one of zero", type);
    plant_cycle(fixture, 60001, 13, 3, -1);
    tap_ok(tap, found(fixture, 60001, 3, -3), "%s: of several the one with the least vertex", type);
    plant_cycle(fixture, 15, 20, 4999, -2);
    tap_ok(tap, found(fixture, 15, 4999, -9998), "%s: thousands of vertices over all slices", type);
    /* Chains that lead into a cycle, some of smaller ids, are no part of it. */
    plant_tree(fixture, weights);
    plant_cycle(fixture, 50000, 1, 30000, -1);
    for (hw_gid v = 1; v < 40000; v++)
        fixture->parent[v] = v + 1;
    fixture->parent[40000] = 65000;
    tap_ok(tap, found(fixture, 50000, 30000, -30000), "%s: a long tail of smaller ids", type);
    plant_tree(fixture, weights);
    plant_cycle(fixture, 0, 1, VERTICES, -1);
    tap_ok(tap, found(fixture, 0, VERTICES, -(double)VERTICES), "%s: all vertices, the root too",
           type);
    for (hw_gid v = 0; v < VERTICES; v++)
        fixture->parent[v] = HW_GID_NONE;
    tap_ok(tap, found(fixture, 0, 0, 0), "%s: no parents at all", type);
    for (hw_gid v = 0; v + 1 < VERTICES; v += 2)
        plant_cycle(fixture, v, 1, 2, v == 99000 ? -1 : 1);
    tap_ok(tap, found(fixture, 99000, 2, -2), "%s: one in fifty thousand cycles", type);
}

/* Cycles whose rounded and exact sums differ in sign. */
static void test_exact(struct tap *tap, struct fixture *fixture)
{
    const hw_gid begin = 30000, stride = 20000;

    plant_tree(fixture, HW_WEIGHTS_F32);
    plant_cycle(fixture, begin, stride, 4, 0);
    fixture->weight[begin].f32 = 0x1p100f;
    fixture->weight[begin + stride].f32 = -0x1p-140f;
    fixture->weight[begin + 2 * stride].f32 = -0x1p100f;
    tap_ok(tap, found(fixture, begin, 4, -0x1p-140), "a cycle that rounds to zero is negative");
    fixture->weight[begin + stride].f32 = 0x1p-140f;
    tap_ok(tap, found(fixture, 0, 0, 0), "one that rounds to zero is positive");
    fixture->weight[begin].f32 = 0x1p24f;
    fixture->weight[begin + stride].f32 = 1;
    fixture->weight[begin + 2 * stride].f32 = 1;
    fixture->weight[begin + 3 * stride].f32 = -0x1p24f - 2;
    tap_ok(tap, found(fixture, 0, 0, 0), "one that rounds to less than zero is zero");
    fixture->weight[begin + 3 * stride].f32 = -0x1p24f - 4;
    tap_ok(tap, found(fixture, begin, 4, -2), "and its exact weight is reported");
    plant_tree(fixture, HW_WEIGHTS_I32);
    plant_cycle(fixture, 0, 1, 90000, INT32_MIN);
    tap_ok(tap, found(fixture, 0, 90000, 90000.0 * INT32_MIN), "integers past 32 bits");
}

/* The answer to each rank's edge, and whether it is as wanted. */
static bool least_is(const struct hw_context *ctx, enum hw_weights weights,
                     const struct hw_negative_edge *edge, hw_count length, hw_gid source,
                     hw_gid target, double weight)
{
    struct hw_cycle cycle;
    struct hw_error err;
    bool right =
        hw_negative_least(ctx, weights, edge, &cycle, &err) == HW_OK && cycle.length == length;

    if (length > 0 && right)
        right = cycle.vertex[0] == source && (length == 1 || cycle.vertex[1] == target) &&
                (weights == HW_WEIGHTS_F32 ? cycle.real == weight : (double)cycle.whole == weight);
    hw_cycle_free(&cycle);
    return right;
}

static void test_least(struct tap *tap, const struct hw_context *ctx)
{
    const hw_gid rank = ctx->rank, last = ctx->size - 1;
    struct hw_negative_edge edge = {HW_GID_NONE, HW_GID_NONE, {.f32 = 0}};

    tap_ok(tap, least_is(ctx, HW_WEIGHTS_F32, &edge, 0, 0, 0, 0), "no rank has an edge");
    if (rank == last)
        edge = (struct hw_negative_edge){17, 17, {.f32 = -0x1p-149f}};
    tap_ok(tap, least_is(ctx, HW_WEIGHTS_F32, &edge, 1, 17, 17, -0x1p-149),
           "one has a self-loop of the least weight there is");
    edge = (struct hw_negative_edge){100 - rank, 5, {.f32 = -3e38f}};
    tap_ok(tap, least_is(ctx, HW_WEIGHTS_F32, &edge, 2, 100 - last, 5, 2 * (double)edge.weight.f32),
           "along and back, the least source; no overflow");
    edge = (struct hw_negative_edge){9, 50 - rank, {.i32 = INT32_MIN}};
    tap_ok(tap, least_is(ctx, HW_WEIGHTS_I32, &edge, 2, 9, 50 - last, 2.0 * INT32_MIN),
           "the least target");
    edge = (struct hw_negative_edge){9 + rank, 50, {.i32 = -1 - (int32_t)rank}};
    tap_ok(tap, least_is(ctx, HW_WEIGHTS_I32, &edge, 2, 9 + last, 50, -2.0 * (double)(last + 1)),
           "the least weight before all");
    edge = (struct hw_negative_edge){1, 2, {.i32 = 0}};
    tap_ok(tap, least_is(ctx, HW_WEIGHTS_I32, &edge, 0, 0, 0, 0), "zero is not negative");
}

static void tests(struct tap *tap, struct hw_context *ctx)
{
    tap_plan(tap, 29);
    struct fixture fixture;

    fixture_open(ctx, &fixture);
    test_planted(tap, &fixture, HW_WEIGHTS_F32, "floats");
    test_planted(tap, &fixture, HW_WEIGHTS_I32, "integers");
    test_exact(tap, &fixture);
    test_least(tap, ctx);
    fixture_close(&fixture);
}

int main(int argc, char **argv)
{
    return tap_ranks(argc, argv, "test_negative", tests);
}
