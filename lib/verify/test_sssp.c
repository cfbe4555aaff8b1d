/*
 * Validation of shortest paths at any rank count: right trees of all kinds of
 * weights pass, each kind of broken tree is found with the rule it breaks and the
 * right example, and on trees broken at random every result equals that of an
 * oracle written straight from the definitions in lib/verify/verify.h.
 */
#include "lib/base/memory.h"
#include "lib/comm/context.h"
#include "lib/graph/graph.h"
#include "lib/verify/verify.h"
#include "tests/fixtures/broken_trees.h"
#include "tests/tap/tap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void test_right(struct tap *tap, const struct hw_context *ctx)
{
    char name[96];

    for (enum weighting weighting = 0; weighting < WEIGHTINGS; weighting++)
        for (int directed = is_signed(weighting); directed < 2; directed++) {
            const hw_gid sizes[] = {60, 36000};
            for (int i = 0; i < 2; i++) {
                struct graph_fixture fixture =
                    random_fixture(weighting + 1, sizes[i], 5 * sizes[i] / 2, directed);
                add_weights(&fixture, weighting, 7);
                struct trees trees = grow_trees(&paths, &fixture, i ? 2 : 64, 3);
                snprintf(name, sizeof name, "%s, %s, %d vertices", weighting_name(weighting),
                         directed ? "directed" : "undirected", (int)sizes[i]);
                check_all(tap, ctx, &fixture, &trees, true, name);
                trees_free(&trees);
                fixture_free(&fixture);
            }
        }
}

/* A path 0 - 1 - ... of weight 1 each in blocks far apart, a parallel tuple of
 * weight 4 from 10 to 11, a chord of weight 9 from 10 to 13, and zeros from 20 to
 * 23; vertices from 50 on are alone. */
static struct graph_fixture path_with_extras(bool whole, bool directed)
{
    static const struct {
        hw_gid u, v;
        double weight;
    } extra[] = {{10, 11, 4}, {10, 13, 9}};
    struct graph_fixture fixture = path_fixture(50, directed);
    hw_count path = fixture.desc.edges;
    hw_gid *source = fixture.edges.source, *target = fixture.edges.target;

    struct graph_fixture all = empty_fixture(60, path + 2, directed);
    memcpy(all.edges.source, source, sizeof(hw_gid) * (size_t)path);
    memcpy(all.edges.target, target, sizeof(hw_gid) * (size_t)path);
    fixture_free(&fixture);
    add_weights(&all, whole ? SMALL : EIGHTHS, 1);
    for (hw_count e = 0; e < path; e++)
        put_weight(&all, e, e >= 20 && e < 23 ? 0 : 1);
    for (int i = 0; i < 2; i++) {
        all.edges.source[path + i] = extra[i].u;
        all.edges.target[path + i] = extra[i].v;
        put_weight(&all, path + i, extra[i].weight);
    }
    return all;
}

/* Defects of either type of weights. */
static void add_defects(const struct graph_fixture *fixture, struct defects *d)
{
    const number none = unreached(fixture);

    set(d, 49, 47, 48);
    expect(d, "a distance too large", HW_RULE_EDGE_LEVELS, 48, 49, TREE_LEVELS | EDGE_LEVELS);
    set(d, 49, 45, 48);
    expect(d, "a distance too small", HW_RULE_TREE_LEVELS, 49, -1, TREE_LEVELS);
    for (hw_gid v = 11; v < 50; v++)
        set(d, v, d->trees.value[63 * fixture->desc.vertices + v] + 3, v - 1);
    expect(d, "the heavier of parallel tuples", HW_RULE_EDGE_LEVELS, 10, 11, EDGE_LEVELS);
    set(d, 13, 13, 10);
    expect(d, "a parent along a chord", HW_RULE_TREE_LEVELS, 13, -1, TREE_LEVELS);
    set(d, 13, 13, 11);
    expect(d, "a parent that is no neighbour", HW_RULE_TREE_EDGES, 11, 13, TREE_EDGES);
    set(d, 49, none, -1);
    expect(d, "a vertex left out", HW_RULE_SPANS, 48, 49, EDGE_LEVELS | SPANS);
    set(d, 49, 46, -1);
    expect(d, "a distance without a parent", HW_RULE_SPANS, 49, -1, SPANS);
    set(d, 55, 3, 2);
    expect(d, "a vertex out of reach", HW_RULE_TREE_EDGES, 2, 55, TREE_EDGES);
    set(d, 0, 1, 0);
    expect(d, "a root that is not at 0", HW_RULE_TREE_LEVELS, 0, -1, TREE_LEVELS);
    set(d, 0, 0, 1);
    expect(d, "a root with a parent", HW_RULE_TREE, 0, -1, TREE);
    set(d, 49, 46, 49);
    expect(d, "a second root", HW_RULE_TREE, 49, -1, TREE);
    set(d, 49, 46, 77);
    expect(d, "a parent beyond the vertices", HW_RULE_TREE, 49, -1, TREE);
}

static void test_broken(struct tap *tap, const struct hw_context *ctx)
{
    for (int whole = 0; whole < 2; whole++)
        for (int directed = 0; directed < 2; directed++) {
            struct graph_fixture fixture = path_with_extras(whole, directed);
            struct defects d = no_defects(&paths, &fixture, 0);
            add_defects(&fixture, &d);
            if (!directed) {
                /* 20 - 21 - 22 - 23 lie at one distance: all edges are tight. */
                set(&d, 21, 20, 22);
                set(&d, 22, 20, 21);
                expect(&d, "a cycle of zero weights", HW_RULE_TREE, 21, -1, TREE);
                set(&d, 20, 20, 21);
                set(&d, 21, 20, 20);
                expect(&d, "one where rising edges lead in", HW_RULE_TREE, 20, -1, TREE);
            }
            check_defects(tap, ctx, &d);
            fixture_free(&fixture);
        }
}

/* Values that are no distances. */
static void test_nonsense(struct tap *tap, const struct hw_context *ctx)
{
    struct graph_fixture fixture = path_with_extras(false, true);
    struct defects d = no_defects(&paths, &fixture, 0);

    set(&d, 49, NAN, 48);
    expect(&d, "a NaN", HW_RULE_TREE_LEVELS, 49, -1, TREE_LEVELS | EDGE_LEVELS);
    set(&d, 49, -INFINITY, 48);
    expect(&d, "minus infinity", HW_RULE_TREE_LEVELS, 49, -1, TREE_LEVELS | EDGE_LEVELS);
    set(&d, 49, INFINITY, 48);
    expect(&d, "infinity with a parent", HW_RULE_TREE_LEVELS, 49, -1, TREE_LEVELS | EDGE_LEVELS);
    set(&d, 55, NAN, -1);
    expect(&d, "a NaN alone", HW_RULE_SPANS, 55, -1, SPANS);
    set(&d, 0, NAN, 0);
    expect(&d, "a NaN at the root", HW_RULE_TREE_LEVELS, 0, -1, TREE_LEVELS | EDGE_LEVELS);
    for (hw_gid v = 1; v < 50; v++)
        set(&d, v, -INFINITY, v - 1);
    expect(&d, "minus infinity all over", HW_RULE_TREE_LEVELS, 1, -1, TREE_LEVELS | EDGE_LEVELS);
    check_defects(tap, ctx, &d);
    fixture_free(&fixture);
    fixture = path_with_extras(true, true);
    d = no_defects(&paths, &fixture, 0);
    set(&d, 49, (number)INT64_MAX, 48);
    expect(&d, "the largest integer", HW_RULE_TREE_LEVELS, 49, -1, TREE_LEVELS | EDGE_LEVELS);
    set(&d, 49, (number)INT64_MIN, 48);
    expect(&d, "the least integer", HW_RULE_TREE_LEVELS, 49, -1, TREE_LEVELS);
    set(&d, 49, -1, 48);
    expect(&d, "unreached with a parent", HW_RULE_TREE_LEVELS, 49, -1, TREE_LEVELS);
    set(&d, 49, 46 + 0x1p32L, 48);
    expect(&d, "a distance off by 2^32", HW_RULE_TREE_LEVELS, 49, -1, TREE_LEVELS | EDGE_LEVELS);
    check_defects(tap, ctx, &d);
    fixture_free(&fixture);
}

/* 0 -> 1 -> 2 -> 3 and 3 -> 2: up by weight 2, down again by -2. */
static void test_falling(struct tap *tap, const struct hw_context *ctx)
{
    struct graph_fixture fixture = empty_fixture(40000, 4, true);
    static const hw_gid vertex[] = {0, 39990, 20000, 10000};

    add_weights(&fixture, SMALL, 1);
    for (hw_count e = 0; e < 4; e++) {
        fixture.edges.source[e] = vertex[e];
        fixture.edges.target[e] = vertex[e < 3 ? e + 1 : 2];
        put_weight(&fixture, e, e < 3 ? 2 : -2);
    }
    struct defects d = no_defects(&paths, &fixture, 0);
    set(&d, vertex[2], 4, vertex[3]);
    expect(&d, "a cycle that rises and falls", HW_RULE_TREE, vertex[3], -1, TREE);
    check_defects(tap, ctx, &d);
    fixture_free(&fixture);
}

/* Sums that pass the range of their lanes, or of floats. */
static void test_ranges(struct tap *tap, const struct hw_context *ctx)
{
    struct graph_fixture fixture = path_fixture(3, true);

    add_weights(&fixture, EIGHTHS, 1);
    put_weight(&fixture, 0, 0x1.8p127);
    put_weight(&fixture, 1, 0x1.8p127);
    struct defects d = no_defects(&paths, &fixture, 0);
    set(&d, 2, INFINITY, -1);
    expect(&d, "a sum beyond all floats", HW_RULE_SPANS, 1, 2, EDGE_LEVELS | SPANS);
    struct hw_validation validation[2];
    struct hw_error err;
    d.trees.k = 1;
    tap_ok(tap,
           verify(ctx, &fixture, &d.trees, validation, &err) == HW_OK &&
               validation[0].violations[HW_RULE_SPANS] == 1 &&
               validation[0].violations[HW_RULE_EDGE_LEVELS] == 1,
           "an end left out because the sum passes all floats");
    trees_free(&d.trees);
    fixture_free(&fixture);
    fixture = path_fixture(4, true);
    add_weights(&fixture, SMALL, 1);
    put_weight(&fixture, 0, 1);
    put_weight(&fixture, 1, INT32_MAX);
    put_weight(&fixture, 2, INT32_MIN);
    struct trees trees = grow_trees(&paths, &fixture, 4, 3);
    check_all(tap, ctx, &fixture, &trees, true, "the largest weights");
    for (hw_count i = 0; i < 4; i++) {
        grow_from(&fixture, &trees, i, i < 2 ? 1 : 2);
        for (hw_gid v = 0; v < 4; v++)
            if (trees.parent[i * 4 + v] != -1)
                trees.value[i * 4 + v] /= i % 2 ? 8 : 1;
    }
    check_all(tap, ctx, &fixture, &trees, false, "the largest weights, some far off");
    static const number near[4][4] = {{0, 7, -5, 0},
                                      {0, 7, 0x1p28L, -0x1p28L - 1000},
                                      {0, -1, 0x1p29L - 1, 1 - 0x1p29L},
                                      {0, 1, 0, -1}};
    /* One tree at a time: a lane that does not agree has all lanes looked at. */
    trees.k = 1;
    trees.root[0] = 0;
    for (hw_count i = 0; i < 4; i++) {
        for (hw_gid v = 0; v < 4; v++) {
            trees.value[v] = near[i][v];
            trees.parent[v] = v == 0 ? 0 : near[i][v] == -1 ? -1 : v - 1;
        }
        check_all(tap, ctx, &fixture, &trees, false, "the largest weights between small distances");
    }
    trees_free(&trees);
    fixture_free(&fixture);
}

/* Self-loops of negative weight, and undirected tuples: cycles by themselves. */
static void test_negative(struct tap *tap, const struct hw_context *ctx)
{
    for (int directed = 0; directed < 2; directed++) {
        struct graph_fixture fixture = path_with_extras(false, directed);
        hw_count last = fixture.desc.edges - 1;
        struct defects d = no_defects(&paths, &fixture, 0);
        /* The chord becomes what no distance survives, however it rounds. */
        fixture.edges.source[last] = 30;
        fixture.edges.target[last] = directed ? 30 : 31;
        put_weight(&fixture, last, -0x1p-40);
        struct hw_error err;
        struct hw_validation validation[2];
        d.trees.k = 1;
        bool right = verify(ctx, &fixture, &d.trees, validation, &err) == HW_OK &&
                     validation[0].violations[HW_RULE_EDGE_LEVELS] == 1 &&
                     validation[0].example[HW_RULE_EDGE_LEVELS][0] == 30;
        tap_ok(tap, right, "%s of negative weight that vanishes",
               directed ? "a self-loop" : "a tuple");
        check_all(tap, ctx, &fixture, &d.trees, false, "as the oracle says");
        trees_free(&d.trees);
        fixture_free(&fixture);
    }
}

/* Breaks a tree in a few random places. */
static void break_tree(const struct graph_fixture *fixture, uint64_t *seed, number *distance,
                       hw_gid *parent)
{
    hw_gid n = fixture->desc.vertices;

    for (hw_gid times = below(seed, 5); times >= 0; times--) {
        hw_gid v = below(seed, n), u = below(seed, n);
        switch (next_random(seed) % 9) {
        case 0:
            distance[v] = (number)below(seed, 6) - 2;
            break;
        case 1:
            parent[v] = u;
            break;
        case 2:
            parent[v] = below(seed, n + 5) - 3;
            break;
        case 3:
            distance[v] = unreached(fixture);
            parent[v] = -1;
            break;
        case 4:
            distance[v] = plus(fixture, distance[v], 1);
            break;
        case 5:
            parent[v] = parent[u];
            break;
        case 6:
            distance[v] = is_whole(fixture) ? distance[u] : (number)NAN;
            break;
        case 7:
            if (parent[v] >= 0 && parent[v] < n)
                parent[parent[v]] = v;
            break;
        default:
            distance[v] = distance[u];
            parent[v] = u;
        }
    }
}

static void test_random(struct tap *tap, const struct hw_context *ctx)
{
    uint64_t seed = 4711;
    int rounds = ctx->size == 1 ? 160 : 16;
    static const hw_gid sizes[] = {3, 12, 60, 300};
    char name[128];

    for (int i = 0; i < rounds; i++) {
        hw_gid n = sizes[i / WEIGHTINGS % 4];
        enum weighting weighting = i % WEIGHTINGS;
        bool directed = is_signed(weighting) || i / WEIGHTINGS % 2;
        struct graph_fixture fixture =
            random_fixture(next_random(&seed), n, below(&seed, 3 * n), directed);
        add_weights(&fixture, weighting, next_random(&seed));
        struct trees trees = grow_trees(&paths, &fixture, 1 + i % 7 * 11, next_random(&seed));
        for (hw_count r = 0; r < trees.k; r++)
            if (r % 3 == 0)
                break_tree(&fixture, &seed, trees.value + r * n, trees.parent + r * n);
        snprintf(name, sizeof name, "%d trees of %d vertices, %s, broken at random", (int)trees.k,
                 (int)n, weighting_name(weighting));
        check_all(tap, ctx, &fixture, &trees, false, name);
        trees_free(&trees);
        fixture_free(&fixture);
    }
}

/* Several slices: broken here and there, and all noise in little memory. */
static void test_large(struct tap *tap, struct hw_context *ctx)
{
    const hw_gid n = 50000;
    uint64_t seed = 5;
    char limit[64];
    int threads = ctx->threads;

    for (int whole = 0; whole < 2; whole++) {
        struct graph_fixture fixture = random_fixture(31, n, 2 * n, whole);
        add_weights(&fixture, whole ? SMALL : BITS, 5);
        struct trees trees = grow_trees(&paths, &fixture, 3, 2);
        for (int i = 0; i < 30; i++)
            break_tree(&fixture, &seed, trees.value, trees.parent);
        hw_context_threads(ctx, 3);
        check_all(tap, ctx, &fixture, &trees, false, "large trees broken at random");
        hw_context_threads(ctx, threads);
        for (hw_gid v = 0; v < n; v++) {
            trees.parent[v] = below(&seed, n);
            trees.value[v] = (number)below(&seed, 9);
        }
        snprintf(limit, sizeof limit, "%dM", 32 * ctx->node_size);
        setenv("HOPWAVE_MEMORY", limit, 1);
        check_all(tap, ctx, &fixture, &trees, false, "a tree that is noise, in little memory");
        unsetenv("HOPWAVE_MEMORY");
        trees_free(&trees);
        fixture_free(&fixture);
    }
}

static void test_refusals(struct tap *tap, const struct hw_context *ctx)
{
    struct graph_fixture fixture = path_fixture(5, false);
    struct hw_error err = {{0}};
    struct hw_validation validation[1];
    struct trees trees = trees_alloc(&paths, 1, 5);

    add_weights(&fixture, SMALL, 1);
    trees.root[0] = 5;
    for (hw_gid v = 0; v < 5; v++) {
        trees.value[v] = -1;
        trees.parent[v] = -1;
    }
    tap_ok(tap, verify(ctx, &fixture, &trees, validation, &err) == HW_BAD_INPUT,
           "a root that is no vertex is refused");
    fixture.desc.weights = HW_WEIGHTS_NONE;
    trees.root[0] = 0;
    tap_ok(tap,
           verify(ctx, &fixture, &trees, validation, &err) == HW_BAD_INPUT &&
               strstr(err.text, "weights"),
           "a graph without weights is refused");
    struct hw_graph *graph = NULL;
    struct hw_reference *reference = NULL;
    tap_ok(tap,
           hw_graph_from_edges(ctx, &fixture.desc, &fixture.edges, &graph, &err) == HW_OK &&
               hw_reference_open(ctx, graph, true, &reference, &err) == HW_BAD_INPUT,
           "and has no reference");
    hw_graph_close(graph);
    trees_free(&trees);
    fixture_free(&fixture);
}

static void tests(struct tap *tap, struct hw_context *ctx)
{
    tap_plan_by_ranks(tap, (const int[TAP_RANKS]){276, 132, 132, 132, 132, 132});
    hw_context_threads(ctx, ctx->size == 1 ? 2 : 1);
    test_right(tap, ctx);
    test_broken(tap, ctx);
    test_nonsense(tap, ctx);
    test_falling(tap, ctx);
    test_ranges(tap, ctx);
    test_negative(tap, ctx);
    test_random(tap, ctx);
    test_large(tap, ctx);
    test_refusals(tap, ctx);
}

int main(int argc, char **argv)
{
    return tap_ranks(argc, argv, "test_sssp", tests);
}
