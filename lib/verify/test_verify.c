/*
 * Validation at any rank count: right trees of every kind of graph pass, each
 * kind of broken tree is found with the rule it breaks and the right example,
 * and on trees broken at random every count and example equals that of an
 * oracle written straight from the definitions in lib/verify/verify.h.
 */
#include "lib/base/memory.h"
#include "lib/comm/context.h"
#include "lib/graph/graph.h"
#include "lib/verify/verify.h"
#include "tests/fixtures/broken_trees.h"
#include "tests/tap/tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- tests ---- */

static void test_right(struct tap *tap, const struct hw_context *ctx)
{
    static const struct {
        const char *name;
        hw_gid vertices;
        hw_count edges, roots;
        bool directed;
    } cases[] = {
        {"one vertex, no tuple", 1, 0, 1, false},
        {"one vertex with self-loops", 1, 5, 2, false},
        {"no tuples at all", 9, 0, 9, true},
        {"a small graph, every lane", 60, 100, 64, false},
        {"more roots than a batch holds", 50, 90, 150, false},
        {"a small directed graph", 60, 150, 17, true},
        {"several slices, disconnected", 40000, 30000, 3, false},
        {"several slices, connected", 40000, 150000, 5, false},
        {"several slices, directed", 40000, 120000, 2, true},
    };

    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct graph_fixture fixture =
            random_fixture(c + 1, cases[c].vertices, cases[c].edges, cases[c].directed);
        struct trees trees = grow_trees(&levels, &fixture, cases[c].roots, c);
        check_all(tap, ctx, &fixture, &trees, true, cases[c].name);
        trees_free(&trees);
        fixture_free(&fixture);
    }
}

/* Levels beyond 8-bit lanes, and just within. */
static void test_long(struct tap *tap, const struct hw_context *ctx)
{
    for (int directed = 0; directed < 2; directed++) {
        struct graph_fixture fixture = path_fixture(700, directed);
        struct trees trees = grow_trees(&levels, &fixture, 3, 5);
        grow_from(&fixture, &trees, 0, 700 - 1 - 252);
        check_all(tap, ctx, &fixture, &trees, true, directed ? "a directed path" : "a path");
        /* 256 apart: equal in 8 bits. */
        trees.value[650] += 256;
        check_all(tap, ctx, &fixture, &trees, false, "a level off by 256");
        trees_free(&trees);
        fixture_free(&fixture);
    }
}

/* The last vertex at some depth of tree 0 that is a leaf, or is not. */
static hw_gid find_vertex(const struct graph_fixture *fixture, const struct trees *trees,
                          int32_t depth, bool leaf)
{
    hw_gid n = fixture->desc.vertices, found = -1;
    bool *children = must(calloc((size_t)n, 1));

    for (hw_gid v = 0; v < n; v++)
        if (trees->parent[v] != -1)
            children[trees->parent[v]] = true;
    for (hw_gid v = 0; v < n; v++)
        if (trees->value[v] == depth && children[v] != leaf)
            found = v;
    free(children);
    if (found < 0)
        abort();
    return found;
}

/* One defect at a time, in a graph of several slices. */
static void test_broken(struct tap *tap, const struct hw_context *ctx)
{
    struct graph_fixture fixture = random_fixture(99, 34000, 120000, false);
    hw_gid n = fixture.desc.vertices, root = 17001;
    struct defects d = no_defects(&levels, &fixture, root);
    const number *level = d.trees.value + 63 * n;
    const hw_gid *parent = d.trees.parent + 63 * n;
    hw_gid leaf = find_vertex(&fixture, &d.trees, 6, true);
    hw_gid inner = find_vertex(&fixture, &d.trees, 4, false);
    hw_gid lonely = n - 1; /* random_fixture() leaves it without tuples */
    hw_gid stranger = 0;   /* at the level of leaf's parent, but not joined to leaf */
    struct hw_validation want;

    while (level[stranger] != level[leaf] - 1 || stranger == parent[leaf])
        stranger++;
    set(&d, leaf, level[leaf], stranger);
    expect(&d, "an edge not in the graph", HW_RULE_TREE_EDGES, stranger, leaf, TREE_EDGES);
    set(&d, leaf, level[leaf], inner);
    expect(&d, "a wrong parent", HW_RULE_TREE_LEVELS, leaf, -1, TREE_LEVELS | TREE_EDGES);
    set(&d, leaf, level[leaf] + 1, parent[leaf]);
    expect(&d, "a level off", HW_RULE_TREE_LEVELS, leaf, -1, TREE_LEVELS | EDGE_LEVELS);
    set(&d, leaf, -1, -1);
    want = levels.oracle(&fixture, &d.trees, d.count);
    expect(&d, "a missing vertex", HW_RULE_SPANS, want.example[HW_RULE_SPANS][0],
           want.example[HW_RULE_SPANS][1], EDGE_LEVELS | SPANS);
    set(&d, inner, -1, -1);
    want = levels.oracle(&fixture, &d.trees, d.count);
    expect(&d, "a missing inner vertex", HW_RULE_SPANS, want.example[HW_RULE_SPANS][0],
           want.example[HW_RULE_SPANS][1], TREE_LEVELS | EDGE_LEVELS | SPANS);
    set(&d, leaf, level[leaf], -1);
    expect(&d, "a level without a parent", HW_RULE_SPANS, leaf, -1, SPANS);
    set(&d, leaf, -1, parent[leaf]);
    expect(&d, "a parent without a level", HW_RULE_TREE_LEVELS, leaf, -1,
           TREE_LEVELS | EDGE_LEVELS | SPANS);
    set(&d, root, 0, inner);
    expect(&d, "a root with a parent", HW_RULE_TREE, root, -1, TREE);
    set(&d, root, 0, -1);
    expect(&d, "a root without a parent", HW_RULE_TREE, root, -1, TREE);
    set(&d, root, -1, -1);
    expect(&d, "an unreached root", HW_RULE_TREE, root, -1,
           TREE | TREE_LEVELS | EDGE_LEVELS | SPANS);
    set(&d, root, 2, root);
    want = levels.oracle(&fixture, &d.trees, d.count);
    expect(&d, "a root at level 2", HW_RULE_TREE_LEVELS, want.example[HW_RULE_TREE_LEVELS][0], -1,
           TREE_LEVELS);
    set(&d, leaf, level[leaf], leaf);
    expect(&d, "a second root", HW_RULE_TREE, leaf, -1, TREE);
    set(&d, leaf, level[leaf], n);
    expect(&d, "a parent beyond the vertices", HW_RULE_TREE, leaf, -1, TREE);
    set(&d, leaf, level[leaf], -2);
    expect(&d, "a parent below -1", HW_RULE_TREE, leaf, -1, TREE);
    set(&d, lonely, 3, root);
    expect(&d, "an unreachable vertex claimed", HW_RULE_TREE_EDGES, root, lonely,
           TREE_LEVELS | TREE_EDGES);
    set(&d, lonely, 1, root);
    expect(&d, "one claimed at the right level", HW_RULE_TREE_EDGES, root, lonely, TREE_EDGES);
    check_defects(tap, ctx, &d);
    fixture_free(&fixture);
}

/* Values that no search writes. */
static void test_nonsense(struct tap *tap, const struct hw_context *ctx)
{
    struct graph_fixture fixture = random_fixture(99, 34000, 120000, false);
    struct defects d = no_defects(&levels, &fixture, 17001);
    const number *level = d.trees.value + 63 * fixture.desc.vertices;
    const hw_gid *parent = d.trees.parent + 63 * fixture.desc.vertices;
    hw_gid leaf = find_vertex(&fixture, &d.trees, 6, true);

    set(&d, leaf, INT32_MIN, INT64_MIN);
    expect(&d, "the least of values", HW_RULE_TREE, leaf, -1, TREE | EDGE_LEVELS);
    set(&d, leaf, INT32_MAX, parent[leaf]);
    expect(&d, "the largest level", HW_RULE_TREE_LEVELS, leaf, -1, TREE_LEVELS | EDGE_LEVELS);
    set(&d, leaf, -7, parent[leaf]);
    expect(&d, "a level below -1", HW_RULE_TREE_LEVELS, leaf, -1, TREE_LEVELS | EDGE_LEVELS);
    set(&d, leaf, level[leaf] + 256, parent[leaf]);
    expect(&d, "a level off by 256", HW_RULE_TREE_LEVELS, leaf, -1, TREE_LEVELS | EDGE_LEVELS);
    check_defects(tap, ctx, &d);
    fixture_free(&fixture);
}

/* The vertex at a place of the ring below: neighbours lie far apart. */
enum { RING = 3000, RING_VERTICES = 33000 };
static hw_gid ring_vertex(hw_count place)
{
    return 1 + (place + RING) * 1009 % RING * 10;
}

/* A ring attached to root 0 by one edge, as a tree and as a cycle. */
static void test_ring(struct tap *tap, const struct hw_context *ctx)
{
    struct graph_fixture fixture = empty_fixture(RING_VERTICES, RING + 1, false);

    for (hw_count e = 0; e < RING; e++) {
        fixture.edges.source[e] = ring_vertex(e);
        fixture.edges.target[e] = ring_vertex(e + 1);
    }
    fixture.edges.source[RING] = 0;
    fixture.edges.target[RING] = ring_vertex(0);
    struct defects d = no_defects(&levels, &fixture, 0);
    /* Every parent is joined by a tuple, every level is right. */
    for (hw_count e = 0; e < RING; e++)
        set(&d, ring_vertex(e), d.trees.value[ring_vertex(e)], ring_vertex(e - 1));
    struct hw_validation want = levels.oracle(&fixture, &d.trees, 0);
    tap_ok(tap, want.violations[HW_RULE_TREE] == RING, "the oracle counts all of a cycle");
    expect(&d, "a long cycle", HW_RULE_TREE, 1, -1, TREE | TREE_LEVELS);
    check_defects(tap, ctx, &d);
    fixture_free(&fixture);
}

/* Cycles on a path, with levels in order and out of it. */
static void test_pair(struct tap *tap, const struct hw_context *ctx)
{
    struct graph_fixture fixture = path_fixture(40, false);
    struct defects d = no_defects(&levels, &fixture, 0);

    set(&d, 20, 20, 21);
    expect(&d, "each other's parents", HW_RULE_TREE, 20, -1, TREE | TREE_LEVELS);
    set(&d, 20, 20, 39);
    expect(&d, "a cycle, levels in order", HW_RULE_TREE, 20, -1, TREE | TREE_LEVELS | TREE_EDGES);
    check_defects(tap, ctx, &d);
    fixture_free(&fixture);
}

/* Directed: what is wrong one way is right the other. */
static void test_directed(struct tap *tap, const struct hw_context *ctx)
{
    struct graph_fixture fixture = path_fixture(6, true); /* 0 -> 1 -> ... -> 5 */
    struct defects d = no_defects(&levels, &fixture, 2);

    set(&d, 1, 1, 2);
    expect(&d, "an edge taken backwards", HW_RULE_TREE_EDGES, 2, 1, TREE_EDGES);
    set(&d, 5, -1, -1);
    expect(&d, "a tuple out of the tree", HW_RULE_SPANS, 4, 5, EDGE_LEVELS | SPANS);
    set(&d, 4, 9, 3);
    expect(&d, "a level too high", HW_RULE_EDGE_LEVELS, 3, 4, TREE_LEVELS | EDGE_LEVELS);
    set(&d, 5, 1, 4);
    expect(&d, "a level too low", HW_RULE_TREE_LEVELS, 5, -1, TREE_LEVELS);
    check_defects(tap, ctx, &d);
    fixture_free(&fixture);
}

/* Breaks a tree in a few random places. */
static void break_tree(uint64_t *seed, hw_gid n, number *level, hw_gid *parent)
{
    for (hw_gid times = below(seed, 5); times >= 0; times--) {
        hw_gid v = below(seed, n);
        switch (next_random(seed) % 6) {
        case 0:
            level[v] = (number)below(seed, 6) - 2;
            break;
        case 1:
            parent[v] = below(seed, n);
            break;
        case 2:
            parent[v] = below(seed, n + 5) - 3;
            break;
        case 3:
            level[v] = -1;
            parent[v] = -1;
            break;
        case 4:
            level[v] += 253;
            break;
        default:
            parent[v] = parent[below(seed, n)];
        }
    }
}

static void test_random(struct tap *tap, const struct hw_context *ctx)
{
    uint64_t seed = 4711;
    char limit[64];
    int rounds = ctx->size == 1 ? 60 : 4;
    static const hw_gid sizes[] = {3, 12, 60, 300};

    for (int i = 0; i < rounds; i++) {
        hw_gid n = sizes[i % 4];
        char name[96];
        struct graph_fixture fixture =
            random_fixture(next_random(&seed), n, below(&seed, 3 * n), i % 3 == 0);
        struct trees trees = grow_trees(&levels, &fixture, 1 + i % 7 * 11, next_random(&seed));
        for (hw_count r = 0; r < trees.k; r++)
            if (r % 3 == 0)
                break_tree(&seed, n, trees.value + r * n, trees.parent + r * n);
        snprintf(name, sizeof name, "%d trees of %d vertices broken at random", (int)trees.k,
                 (int)n);
        check_all(tap, ctx, &fixture, &trees, false, name);
        trees_free(&trees);
        fixture_free(&fixture);
    }
    struct graph_fixture fixture = random_fixture(31, 50000, 100000, false);
    struct trees trees = grow_trees(&levels, &fixture, 3, 2);
    for (int i = 0; i < 30; i++)
        break_tree(&seed, 50000, trees.value, trees.parent);
    check_all(tap, ctx, &fixture, &trees, false, "a large tree broken at random");
    for (hw_gid v = 0; v < 50000; v++) {
        trees.parent[v] = below(&seed, 50000);
        trees.value[v] = (number)below(&seed, 9);
    }
    /* So little memory that the tree edges left over come in several chunks. */
    snprintf(limit, sizeof limit, "%dM", 30 * ctx->node_size);
    setenv("HOPWAVE_MEMORY", limit, 1);
    check_all(tap, ctx, &fixture, &trees, false, "a tree that is noise");
    unsetenv("HOPWAVE_MEMORY");
    trees_free(&trees);
    fixture_free(&fixture);
}

/* All ranks send their tuples to the owner of the hub; in little memory that takes several
 * rounds. */
static void test_star(struct tap *tap, const struct hw_context *ctx)
{
    enum { N = 100000 };
    struct graph_fixture fixture = empty_fixture(N, N - 1, false);
    char limit[64];

    for (hw_count e = 0; e < N - 1; e++) {
        fixture.edges.source[e] = e % 3 ? 5 : e + (e >= 5);
        fixture.edges.target[e] = e % 3 ? e + (e >= 5) : 5;
    }
    struct trees trees = grow_trees(&levels, &fixture, 3, 6);
    for (hw_gid v = 30; v < 90000; v += 7) {
        trees.parent[v] = v + 1;     /* a dead end */
        trees.parent[v + 1] = N + 3; /* not a vertex */
        trees.parent[N + v] = v + 1; /* a cycle */
        trees.parent[N + v + 1] = v;
    }
    snprintf(limit, sizeof limit, "%dM", 30 * ctx->node_size);
    setenv("HOPWAVE_MEMORY", limit, 1);
    check_all(tap, ctx, &fixture, &trees, false, "a star, in little memory");
    unsetenv("HOPWAVE_MEMORY");
    trees_free(&trees);
    fixture_free(&fixture);
}

/* Less memory makes smaller batches with the same results; far too little is
 * refused. */
static void test_memory(struct tap *tap, struct hw_context *ctx)
{
    struct graph_fixture fixture = random_fixture(3, 30000, 40000, false);
    struct trees trees = grow_trees(&levels, &fixture, 9, 2);
    struct hw_error err = {{0}};
    struct hw_validation validation[9];
    uint64_t seed = 5;
    char limit[64];

    break_tree(&seed, 30000, trees.value + 8 * 30000, trees.parent + 8 * 30000);
    int threads = ctx->threads;
    hw_context_threads(ctx, 3);
    hw_count bytes = hw_verify_bytes(&fixture.desc, ctx->size, 3, 9) / 2 * ctx->node_size;
    snprintf(limit, sizeof limit, "%" PRI_COUNT, bytes);
    setenv("HOPWAVE_MEMORY", limit, 1);
    check_all(tap, ctx, &fixture, &trees, false, "in half the memory, on three threads");
    setenv("HOPWAVE_MEMORY", "100K", 1);
    tap_ok(tap, verify(ctx, &fixture, &trees, validation, &err) == HW_RESOURCES,
           "too little memory is refused");
    unsetenv("HOPWAVE_MEMORY");
    hw_context_threads(ctx, threads);
    trees.root[3] = 30000;
    tap_ok(tap,
           verify(ctx, &fixture, &trees, validation, &err) == HW_BAD_INPUT &&
               strstr(err.text, "root 30000"),
           "a root that is no vertex is refused");
    trees_free(&trees);
    fixture_free(&fixture);
}

static void tests(struct tap *tap, struct hw_context *ctx)
{
    tap_plan_by_ranks(tap, (const int[TAP_RANKS]){112, 56, 56, 56, 56, 56});
    hw_context_threads(ctx, ctx->size == 1 ? 2 : 1);
    test_right(tap, ctx);
    test_long(tap, ctx);
    test_broken(tap, ctx);
    test_nonsense(tap, ctx);
    test_ring(tap, ctx);
    test_pair(tap, ctx);
    test_directed(tap, ctx);
    test_random(tap, ctx);
    test_star(tap, ctx);
    test_memory(tap, ctx);
}

int main(int argc, char **argv)
{
    return tap_ranks(argc, argv, "test_verify", tests);
}
