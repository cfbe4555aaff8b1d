/*
 * Validation of negative cycles at any rank count: right ones pass, begun anywhere and however
 * their weights round, and each kind of wrong one is found with the right example.
 */
#include "base/memory.h"
#include "comm/context.h"
#include "graph/graph.h"
#include "tap.h"
#include "verify/test_trees.h"
#include "verify/verify.h"

#include <stdlib.h>
#include <string.h>

/* Gives search i a cycle. */
static void set_cycle(struct trees *trees, const struct world *world, hw_count i, hw_count length,
                      const hw_gid *vertex, double weight)
{
    hw_gid n = world->desc.vertices;

    trees->cycle[i] = (struct hw_cycle){.length = length,
                                        .vertex = must(malloc(sizeof(hw_gid) * (size_t)length)),
                                        .real = weight,
                                        .whole = (int64_t)weight};
    memcpy(trees->cycle[i].vertex, vertex, sizeof(hw_gid) * (size_t)length);
    for (hw_gid v = 0; v < n; v++) {
        trees->value[i * n + v] = unreached(world);
        trees->parent[i * n + v] = -1;
    }
}

static void test_cycles(struct tap *tap, const struct hw_context *ctx)
{
    static const struct {
        const char *name;
        hw_count length;
        hw_gid vertex[4];
        double weight;
        hw_count violations, violations_undirected;
        hw_gid example[2];
    } cases[] = {
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
    enum { CASES = sizeof cases / sizeof *cases };

    for (int whole = 0; whole < 2; whole++)
        for (int directed = 0; directed < 2; directed++) {
            struct world world = cycle_world(whole, directed);
            struct trees trees = grow_trees(&paths, &world, CASES + 2, 1);
            struct hw_verdict verdict[CASES + 2];
            struct hw_error err = {{0}};
            for (hw_count i = 0; i < CASES; i++)
                set_cycle(&trees, &world, i, cases[i].length, cases[i].vertex, cases[i].weight);
            /* One claims vertices too; the last is a right tree. */
            set_cycle(&trees, &world, CASES, 1, (hw_gid[]){4}, -2);
            trees.parent[CASES * 40000 + 39999] = 3;
            trees.value[CASES * 40000 + 17] = 3;
            grow_from(&world, &trees, CASES + 1, 0);
            bool ran = verify(ctx, &world, &trees, verdict, &err) == HW_OK;
            for (hw_count i = 0; i < CASES; i++) {
                hw_count want = directed ? cases[i].violations : cases[i].violations_undirected;
                const hw_gid *example = verdict[i].example[HW_RULE_CYCLE];
                bool right = ran && verdict[i].violations[HW_RULE_CYCLE] == want &&
                             verdict[i].reached == 0 &&
                             (want == 0 ? passed(&verdict[i])
                                        : example[0] == cases[i].example[0] &&
                                              example[1] == cases[i].example[1]);
                tap_ok(tap, right, "%s cycle: %s", directed ? "directed" : "undirected",
                       cases[i].name);
            }
            tap_ok(tap,
                   ran && verdict[CASES].violations[HW_RULE_CYCLE] == 2 &&
                       verdict[CASES].example[HW_RULE_CYCLE][0] == 17 &&
                       verdict[CASES].reached == 2,
                   "vertices that are reached");
            tap_ok(tap, ran && passed(&verdict[CASES + 1]) && verdict[CASES + 1].reached == 2,
                   "a tree beside cycles");
            trees.k = CASES;
            tap_ok(tap,
                   verify(ctx, &world, &trees, verdict, &err) == HW_OK && passed(&verdict[0]) &&
                       !passed(&verdict[3]),
                   "cycles alone");
            trees.k = CASES + 2;
            trees_free(&trees);
            world_free(&world);
        }
}

/* Weights whose rounded sum has another sign than the exact one. */
static void test_exact_cycle(struct tap *tap, const struct hw_context *ctx)
{
    const hw_gid ring[] = {0, 1, 2};
    struct world world = empty_world(3, 3, true);
    struct hw_verdict verdict[2];
    struct hw_error err;

    add_weights(&world, EIGHTHS, 1);
    for (hw_count e = 0; e < 3; e++) {
        world.edges.source[e] = e;
        world.edges.target[e] = (e + 1) % 3;
    }
    put_weight(&world, 0, 0x1p30);
    put_weight(&world, 1, -0x1p-30);
    put_weight(&world, 2, -0x1p30);
    struct trees trees = trees_alloc(&paths, 2, 3);
    trees.root[0] = trees.root[1] = 0;
    set_cycle(&trees, &world, 0, 3, ring, -0x1p-30);
    set_cycle(&trees, &world, 1, 3, ring, 0);
    tap_ok(tap,
           verify(ctx, &world, &trees, verdict, &err) == HW_OK && passed(&verdict[0]) &&
               !passed(&verdict[1]),
           "a cycle that rounds to zero is negative");
    put_weight(&world, 1, 0x1p-30);
    trees.cycle[0].real = 0x1p-30;
    trees.cycle[1].real = -0x1p-30;
    tap_ok(tap,
           verify(ctx, &world, &trees, verdict, &err) == HW_OK && !passed(&verdict[0]) &&
               !passed(&verdict[1]),
           "one that rounds to zero is not");
    trees_free(&trees);
    world_free(&world);
}

static void tests(struct tap *tap, struct hw_context *ctx)
{
    hw_context_threads(ctx, ctx->size == 1 ? 2 : 1);
    test_cycles(tap, ctx);
    test_exact_cycle(tap, ctx);
}

int main(int argc, char **argv)
{
    return tap_ranks(argc, argv, "test_cycles", tests);
}
