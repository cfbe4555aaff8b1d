/*
 * Validation of negative cycles at any rank count: right ones pass, begun anywhere and however
 * their weights round, and each kind of wrong one is found with the right example.
 */
#include "lib/base/memory.h"
#include "lib/comm/context.h"
#include "lib/graph/graph.h"
#include "lib/verify/verify.h"
#include "tests/fixtures/broken_trees.h"
#include "tests/tap/tap.h"

#include <stdlib.h>
#include <string.h>

/* Gives search i a cycle. */
static void set_cycle(struct trees *trees, const struct graph_fixture *fixture, hw_count i,
                      hw_count length, const hw_gid *vertex, double weight)
{
    hw_gid n = fixture->desc.vertices;

    trees->cycle[i] = (struct hw_cycle){.length = length,
                                        .vertex = must(malloc(sizeof(hw_gid) * (size_t)length)),
                                        .real = weight,
                                        .whole = (int64_t)weight};
    memcpy(trees->cycle[i].vertex, vertex, sizeof(hw_gid) * (size_t)length);
    for (hw_gid v = 0; v < n; v++) {
        trees->value[i * n + v] = unreached(fixture);
        trees->parent[i * n + v] = -1;
    }
}

/* A cycle in cycle_fixture(), its claimed weight, and what is wrong with it there. */
static const struct claim {
    const char *name;
    hw_count length;
    hw_gid vertex[4];
    double weight;
    hw_count violations, violations_undirected;
    hw_gid example[2];
} claims[] = {
    {"three tuples", 3, {1, 2, 3}, -3, 0, 0, {-1, -1}},
    {"begun elsewhere", 3, {3, 1, 2}, -3, 0, 0, {-1, -1}},
    {"a self-loop", 1, {4}, -2, 0, 0, {-1, -1}},
    {"another weight", 3, {1, 2, 3}, -2, 1, 1, {1, -1}},
    {"a cycle that is not negative", 2, {5, 6}, 1, 1, 1, {5, -1}},
    {"the wrong way round", 3, {3, 2, 1}, -3, 3, 0, {1, 3}},
    {"along and back", 2, {7, 8}, -2, 1, 0, {8, 7}},
    {"a step that is no tuple", 3, {1, 2, 5}, -3, 2, 2, {2, 5}},
    {"no vertex", 2, {1, 40000}, -3, 2, 2, {1, 40000}},
    {"less than no vertex", 1, {INT64_MIN}, -3, 1, 1, {INT64_MIN, INT64_MIN}},
    {"gone round twice", 2, {4, 4}, -4, 0, 0, {-1, -1}},
};
enum { CLAIMS = sizeof claims / sizeof *claims };

/* Whether the validation of a claim is as expected. */
static bool as_claimed(const struct hw_validation *validation, const struct claim *claim,
                       bool directed)
{
    hw_count want = directed ? claim->violations : claim->violations_undirected;
    const hw_gid *example = validation->example[HW_RULE_CYCLE];

    return validation->violations[HW_RULE_CYCLE] == want && validation->reached == 0 &&
           (want == 0 ? passed(validation)
                      : example[0] == claim->example[0] && example[1] == claim->example[1]);
}

/* All claims; one more that claims vertices, too; and a right tree. */
static void test_claims(struct tap *tap, const struct hw_context *ctx, bool whole, bool directed)
{
    struct graph_fixture fixture = cycle_fixture(whole, directed);
    hw_gid n = fixture.desc.vertices;
    struct trees trees = grow_trees(&paths, &fixture, CLAIMS + 2, 1);
    struct hw_validation validation[CLAIMS + 2];
    struct hw_error err = {{0}};

    for (hw_count i = 0; i < CLAIMS; i++)
        set_cycle(&trees, &fixture, i, claims[i].length, claims[i].vertex, claims[i].weight);
    set_cycle(&trees, &fixture, CLAIMS, 1, (hw_gid[]){4}, -2);
    trees.parent[CLAIMS * n + n - 1] = 3;
    trees.value[CLAIMS * n + 17] = 3;
    grow_from(&fixture, &trees, CLAIMS + 1, 0);
    bool ran = verify(ctx, &fixture, &trees, validation, &err) == HW_OK;
    for (hw_count i = 0; i < CLAIMS; i++)
        tap_ok(tap, ran && as_claimed(&validation[i], &claims[i], directed), "%s cycle: %s",
               directed ? "directed" : "undirected", claims[i].name);
    tap_ok(tap,
           ran && validation[CLAIMS].violations[HW_RULE_CYCLE] == 2 &&
               validation[CLAIMS].example[HW_RULE_CYCLE][0] == 17 &&
               validation[CLAIMS].reached == 2,
           "vertices that are reached");
    tap_ok(tap, ran && passed(&validation[CLAIMS + 1]) && validation[CLAIMS + 1].reached == 2,
           "a tree and cycles");
    trees.k = CLAIMS;
    tap_ok(tap,
           verify(ctx, &fixture, &trees, validation, &err) == HW_OK && passed(&validation[0]) &&
               !passed(&validation[3]),
           "cycles alone");
    trees.k = CLAIMS + 2;
    trees_free(&trees);
    fixture_free(&fixture);
}

/* Weights whose rounded sum has another sign than the exact one. */
static void test_exact_cycle(struct tap *tap, const struct hw_context *ctx)
{
    const hw_gid ring[] = {0, 1, 2};
    struct graph_fixture fixture = empty_fixture(3, 3, true);
    struct hw_validation validation[2];
    struct hw_error err;

    add_weights(&fixture, EIGHTHS, 1);
    for (hw_count e = 0; e < 3; e++) {
        fixture.edges.source[e] = e;
        fixture.edges.target[e] = (e + 1) % 3;
    }
    put_weight(&fixture, 0, 0x1p30);
    put_weight(&fixture, 1, -0x1p-30);
    put_weight(&fixture, 2, -0x1p30);
    struct trees trees = trees_alloc(&paths, 2, 3);
    trees.root[0] = trees.root[1] = 0;
    set_cycle(&trees, &fixture, 0, 3, ring, -0x1p-30);
    set_cycle(&trees, &fixture, 1, 3, ring, 0);
    tap_ok(tap,
           verify(ctx, &fixture, &trees, validation, &err) == HW_OK && passed(&validation[0]) &&
               !passed(&validation[1]),
           "a cycle that rounds to zero is negative");
    put_weight(&fixture, 1, 0x1p-30);
    trees.cycle[0].real = 0x1p-30;
    trees.cycle[1].real = -0x1p-30;
    tap_ok(tap,
           verify(ctx, &fixture, &trees, validation, &err) == HW_OK && !passed(&validation[0]) &&
               !passed(&validation[1]),
           "one that rounds to zero is not");
    trees_free(&trees);
    fixture_free(&fixture);
}

static void tests(struct tap *tap, struct hw_context *ctx)
{
    tap_plan(tap, 58);
    hw_context_threads(ctx, ctx->size == 1 ? 2 : 1);
    for (int kind = 0; kind < 4; kind++)
        test_claims(tap, ctx, kind / 2, kind % 2);
    test_exact_cycle(tap, ctx);
}

int main(int argc, char **argv)
{
    return tap_ranks(argc, argv, "test_cycles", tests);
}
