/*
 * Validation at any rank count: right trees of every kind of graph pass, each
 * kind of broken tree is found with the rule it breaks and the right example,
 * and on trees broken at random every count and example equals that of an
 * oracle written straight from the definitions in verify.h.
 */
#include "base/memory.h"
#include "comm/context.h"
#include "graph/graph.h"
#include "tap.h"
#include "verify/test_world.h"
#include "verify/verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Trees of k roots, whole on every rank: [k][vertices]. */
struct trees {
    hw_count k;
    hw_gid *root;
    int32_t *level;
    hw_gid *parent;
};

/* ---- right trees ---- */

static struct trees trees_alloc(hw_count k, hw_gid vertices)
{
    size_t cells = (size_t)(k * vertices + 1);

    return (struct trees){.k = k,
                          .root = must(malloc(sizeof(hw_gid) * (size_t)(k + 1))),
                          .level = must(malloc(sizeof(int32_t) * cells)),
                          .parent = must(malloc(sizeof(hw_gid) * cells))};
}

static void trees_free(struct trees *trees)
{
    free(trees->root);
    free(trees->level);
    free(trees->parent);
}

/* A breadth-first tree by sweeps over the tuples: slow and plain. */
static void grow_tree(const struct world *world, hw_gid root, int32_t *level, hw_gid *parent)
{
    bool grew = true;

    for (hw_gid v = 0; v < world->desc.vertices; v++) {
        level[v] = -1;
        parent[v] = -1;
    }
    level[root] = 0;
    parent[root] = root;
    for (int32_t depth = 0; grew; depth++) {
        grew = false;
        for (hw_count e = 0; e < world->desc.edges; e++)
            for (int back = 0; back <= !world->desc.directed; back++) {
                hw_gid u = back ? world->edges.target[e] : world->edges.source[e];
                hw_gid v = back ? world->edges.source[e] : world->edges.target[e];
                if (level[u] != depth || level[v] != -1)
                    continue;
                level[v] = depth + 1;
                parent[v] = u;
                grew = true;
            }
    }
}

/* Right trees from k random roots. */
static struct trees grow_trees(const struct world *world, hw_count k, uint64_t seed)
{
    hw_gid n = world->desc.vertices;
    struct trees trees = trees_alloc(k, n);

    for (hw_count i = 0; i < k; i++) {
        trees.root[i] = below(&seed, n);
        grow_tree(world, trees.root[i], trees.level + i * n, trees.parent + i * n);
    }
    return trees;
}

/* ---- the oracle ---- */

static void oracle_vertices(const struct world *world, hw_gid root, const int32_t *level,
                            const hw_gid *parent, struct hw_verdict *verdict)
{
    hw_gid n = world->desc.vertices, *end = must(malloc(sizeof *end * (size_t)n));

    chain_ends(parent, n, root, end);
    for (hw_gid v = 0; v < n; v++) {
        bool has_parent = parent[v] >= 0 && parent[v] < n;
        verdict->reached += level[v] != -1;
        if (v == root) {
            if (parent[v] != v)
                note(verdict, HW_RULE_TREE, v, -1);
            if (level[v] != 0)
                note(verdict, HW_RULE_TREE_LEVELS, v, -1);
        } else if (parent[v] == -1) {
            if (level[v] != -1)
                note(verdict, HW_RULE_SPANS, v, -1);
        } else if (!has_parent) {
            note(verdict, HW_RULE_TREE, v, -1);
        } else {
            hw_gid p = parent[v];
            if (end[v] == -1)
                note(verdict, HW_RULE_TREE, v, -1);
            else if (end[v] != root)
                note(verdict, HW_RULE_SPANS, v, -1);
            if (p != v &&
                (level[v] == -1 || level[p] == -1 || (int64_t)level[v] != (int64_t)level[p] + 1))
                note(verdict, HW_RULE_TREE_LEVELS, v, -1);
        }
    }
    free(end);
}

static void oracle_tuples(const struct world *world, hw_gid root, const int32_t *level,
                          const hw_gid *parent, struct hw_verdict *verdict)
{
    hw_gid n = world->desc.vertices;
    bool directed = world->desc.directed, *joined = must(calloc((size_t)n, 1));

    for (hw_count e = 0; e < world->desc.edges; e++) {
        hw_gid u = world->edges.source[e], v = world->edges.target[e];
        int64_t at_u = level[u], at_v = level[v];
        bool in_u = at_u != -1, in_v = at_v != -1;
        bool leaves = directed ? in_u && !in_v : in_u != in_v;
        bool far = in_u && in_v && (at_v - at_u > 1 || (!directed && at_u - at_v > 1));
        verdict->tuples += in_u && (directed || in_v);
        if (leaves || far)
            note(verdict, HW_RULE_EDGE_LEVELS, u, v);
        if (leaves)
            note(verdict, HW_RULE_SPANS, u, v);
        joined[v] = joined[v] || parent[v] == u;
        joined[u] = joined[u] || (!directed && parent[u] == v);
    }
    for (hw_gid v = 0; v < n; v++)
        if (v != root && parent[v] >= 0 && parent[v] < n && parent[v] != v && !joined[v])
            note(verdict, HW_RULE_TREE_EDGES, parent[v], v);
    free(joined);
}

static struct hw_verdict oracle(const struct world *world, const struct trees *trees, hw_count i)
{
    hw_gid n = world->desc.vertices;
    struct hw_verdict verdict = {.reached = 0};

    memset(verdict.example, 0xff, sizeof verdict.example);
    oracle_vertices(world, trees->root[i], trees->level + i * n, trees->parent + i * n, &verdict);
    oracle_tuples(world, trees->root[i], trees->level + i * n, trees->parent + i * n, &verdict);
    return verdict;
}

/* ---- running the subject ---- */

/* Validates whole trees by handing each rank its slice. */
static enum hw_status verify(const struct hw_context *ctx, const struct world *world,
                             const struct trees *trees, struct hw_verdict *verdict,
                             struct hw_error *err)
{
    struct hw_graph *graph = NULL;
    hw_gid first, n = world->desc.vertices;
    hw_count length, k = trees->k;

    hw_store_share(n, ctx->rank, ctx->size, &first, &length);
    int32_t *level = must(malloc(sizeof *level * (size_t)(k * length + 1)));
    hw_gid *parent = must(malloc(sizeof *parent * (size_t)(k * length + 1)));
    for (hw_count i = 0; i < k; i++) {
        memcpy(level + i * length, trees->level + i * n + first, sizeof *level * (size_t)length);
        memcpy(parent + i * length, trees->parent + i * n + first, sizeof *parent * (size_t)length);
    }
    enum hw_status status = hw_graph_from_edges(ctx, &world->desc, &world->edges, &graph, err);
    if (status == HW_OK)
        status = hw_verify_bfs(ctx, graph, k, trees->root, level, parent, verdict, err);
    hw_graph_close(graph);
    free(level);
    free(parent);
    return status;
}

/* Validates and compares every verdict with the oracle's; `right`: and all pass. */
static void check_all(struct tap *tap, const struct hw_context *ctx, const struct world *world,
                      const struct trees *trees, bool right, const char *name)
{
    struct hw_error err = {{0}};
    struct hw_verdict *verdict = must(calloc((size_t)trees->k + 1, sizeof *verdict));
    bool agree = verify(ctx, world, trees, verdict, &err) == HW_OK;

    if (!agree)
        tap_note(tap, "%s", err.text);
    for (hw_count i = 0; i < trees->k && agree; i++) {
        struct hw_verdict want = oracle(world, trees, i);
        agree = same_verdict(&verdict[i], &want) && (!right || passed(&verdict[i]));
        if (!agree)
            explain(tap, i, &verdict[i], &want);
    }
    tap_ok(tap, agree, "%s", name);
    free(verdict);
}

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
        struct world world =
            random_world(c + 1, cases[c].vertices, cases[c].edges, cases[c].directed);
        struct trees trees = grow_trees(&world, cases[c].roots, c);
        check_all(tap, ctx, &world, &trees, true, cases[c].name);
        trees_free(&trees);
        world_free(&world);
    }
}

/* Levels beyond 8-bit lanes, and just within. */
static void test_long(struct tap *tap, const struct hw_context *ctx)
{
    for (int directed = 0; directed < 2; directed++) {
        struct world world = path_world(700, directed);
        struct trees trees = grow_trees(&world, 3, 5);
        trees.root[0] = 700 - 1 - 252;
        grow_tree(&world, trees.root[0], trees.level, trees.parent);
        check_all(tap, ctx, &world, &trees, true, directed ? "a directed path" : "a path");
        /* 256 apart: equal in 8 bits. */
        trees.level[650] += 256;
        check_all(tap, ctx, &world, &trees, false, "a level off by 256");
        trees_free(&trees);
        world_free(&world);
    }
}

/* The last vertex at some depth of tree 0 that is a leaf, or is not. */
static hw_gid find_vertex(const struct world *world, const struct trees *trees, int32_t depth,
                          bool leaf)
{
    hw_gid n = world->desc.vertices, found = -1;
    bool *children = must(calloc((size_t)n, 1));

    for (hw_gid v = 0; v < n; v++)
        if (trees->parent[v] != -1)
            children[trees->parent[v]] = true;
    for (hw_gid v = 0; v < n; v++)
        if (trees->level[v] == depth && children[v] != leaf)
            found = v;
    free(children);
    if (found < 0)
        abort();
    return found;
}

/* Rules, as sets of bits. */
enum {
    TREE = 1 << HW_RULE_TREE,
    TREE_LEVELS = 1 << HW_RULE_TREE_LEVELS,
    EDGE_LEVELS = 1 << HW_RULE_EDGE_LEVELS,
    SPANS = 1 << HW_RULE_SPANS,
    TREE_EDGES = 1 << HW_RULE_TREE_EDGES
};

/* What is expected of a broken tree: one rule by name with its example, and
 * which rules are broken in all. */
struct defect {
    const char *name;
    enum hw_rule rule;
    hw_gid example[2];
    int broken;
};

/* Trees of one graph and root, of which each gets a defect of its own. */
struct defects {
    const struct world *world;
    struct trees trees;
    struct defect defect[64];
    int count;
};

static struct defects no_defects(const struct world *world, hw_gid root)
{
    struct defects defects = {.world = world};
    hw_gid n = world->desc.vertices;

    defects.trees = trees_alloc(64, n);
    for (int i = 0; i < 64; i++) {
        defects.trees.root[i] = root;
        if (i == 0) {
            grow_tree(world, root, defects.trees.level, defects.trees.parent);
            continue;
        }
        memcpy(defects.trees.level + i * n, defects.trees.level, sizeof(int32_t) * (size_t)n);
        memcpy(defects.trees.parent + i * n, defects.trees.parent, sizeof(hw_gid) * (size_t)n);
    }
    return defects;
}

/* Sets what vertex v of the tree under way says. */
static void set(struct defects *defects, hw_gid v, int32_t level, hw_gid parent)
{
    hw_gid at = defects->count * defects->world->desc.vertices + v;

    defects->trees.level[at] = level;
    defects->trees.parent[at] = parent;
}

/* Ends the tree under way: what should be found in it. */
static void expect(struct defects *defects, const char *name, enum hw_rule rule, hw_gid a, hw_gid b,
                   int broken)
{
    defects->defect[defects->count++] = (struct defect){name, rule, {a, b}, broken};
}

/* Validates all trees, one right one behind them, in one go. */
static void check_defects(struct tap *tap, const struct hw_context *ctx, struct defects *defects)
{
    struct hw_error err = {{0}};
    struct hw_verdict *verdict = must(calloc(64, sizeof *verdict));

    defects->trees.k = defects->count + 1;
    bool ran = verify(ctx, defects->world, &defects->trees, verdict, &err) == HW_OK;
    for (int i = 0; i < defects->count; i++) {
        const struct defect *defect = &defects->defect[i];
        struct hw_verdict want = oracle(defects->world, &defects->trees, i);
        bool right = ran && same_verdict(&verdict[i], &want);
        for (enum hw_rule rule = 0; rule < HW_RULES; rule++)
            right = right && (verdict[i].violations[rule] > 0) == (defect->broken >> rule & 1);
        const hw_gid *example = verdict[i].example[defect->rule];
        right = right && example[0] == defect->example[0] && example[1] == defect->example[1];
        if (!tap_ok(tap, right, "%s: rule %s", defect->name, hw_rule_name(defect->rule)))
            explain(tap, i, &verdict[i], &want);
    }
    tap_ok(tap, ran && passed(&verdict[defects->count]), "the right tree beside them passes");
    trees_free(&defects->trees);
    free(verdict);
}

/* One defect at a time, in a graph of several slices. */
static void test_broken(struct tap *tap, const struct hw_context *ctx)
{
    struct world world = random_world(99, 34000, 120000, false);
    hw_gid n = world.desc.vertices, root = 17001;
    struct defects d = no_defects(&world, root);
    const int32_t *level = d.trees.level + 63 * n;
    const hw_gid *parent = d.trees.parent + 63 * n;
    hw_gid leaf = find_vertex(&world, &d.trees, 6, true);
    hw_gid inner = find_vertex(&world, &d.trees, 4, false);
    hw_gid lonely = n - 1; /* random_world() leaves it without tuples */
    hw_gid stranger = 0;   /* at the level of leaf's parent, but not joined to leaf */
    struct hw_verdict want;

    while (level[stranger] != level[leaf] - 1 || stranger == parent[leaf])
        stranger++;
    set(&d, leaf, level[leaf], stranger);
    expect(&d, "an edge not in the graph", HW_RULE_TREE_EDGES, stranger, leaf, TREE_EDGES);
    set(&d, leaf, level[leaf], inner);
    expect(&d, "a wrong parent", HW_RULE_TREE_LEVELS, leaf, -1, TREE_LEVELS | TREE_EDGES);
    set(&d, leaf, level[leaf] + 1, parent[leaf]);
    expect(&d, "a level off", HW_RULE_TREE_LEVELS, leaf, -1, TREE_LEVELS | EDGE_LEVELS);
    set(&d, leaf, -1, -1);
    want = oracle(&world, &d.trees, d.count);
    expect(&d, "a missing vertex", HW_RULE_SPANS, want.example[HW_RULE_SPANS][0],
           want.example[HW_RULE_SPANS][1], EDGE_LEVELS | SPANS);
    set(&d, inner, -1, -1);
    want = oracle(&world, &d.trees, d.count);
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
    want = oracle(&world, &d.trees, d.count);
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

    d = no_defects(&world, root);
    level = d.trees.level + 63 * n;
    parent = d.trees.parent + 63 * n;
    set(&d, leaf, INT32_MIN, INT64_MIN);
    expect(&d, "the least of values", HW_RULE_TREE, leaf, -1, TREE | EDGE_LEVELS);
    set(&d, leaf, INT32_MAX, parent[leaf]);
    expect(&d, "the largest level", HW_RULE_TREE_LEVELS, leaf, -1, TREE_LEVELS | EDGE_LEVELS);
    set(&d, leaf, -7, parent[leaf]);
    expect(&d, "a level below -1", HW_RULE_TREE_LEVELS, leaf, -1, TREE_LEVELS | EDGE_LEVELS);
    set(&d, leaf, level[leaf] + 256, parent[leaf]);
    expect(&d, "a level off by 256", HW_RULE_TREE_LEVELS, leaf, -1, TREE_LEVELS | EDGE_LEVELS);
    check_defects(tap, ctx, &d);
    world_free(&world);
}

/* The vertex at a place of the ring below: neighbours lie far apart. */
enum { RING = 3000, RING_VERTICES = 33000 };
static hw_gid ring_vertex(hw_count place)
{
    return 1 + (place + RING) * 1009 % RING * 10;
}

/* A ring hanging off root 0 by one edge, as a tree and as a cycle. */
static void test_ring(struct tap *tap, const struct hw_context *ctx)
{
    struct world world = empty_world(RING_VERTICES, RING + 1, false);

    for (hw_count e = 0; e < RING; e++) {
        world.edges.source[e] = ring_vertex(e);
        world.edges.target[e] = ring_vertex(e + 1);
    }
    world.edges.source[RING] = 0;
    world.edges.target[RING] = ring_vertex(0);
    struct defects d = no_defects(&world, 0);
    /* Every parent is joined by a tuple, every level is right. */
    for (hw_count e = 0; e < RING; e++)
        set(&d, ring_vertex(e), d.trees.level[ring_vertex(e)], ring_vertex(e - 1));
    struct hw_verdict want = oracle(&world, &d.trees, 0);
    tap_ok(tap, want.violations[HW_RULE_TREE] == RING, "the oracle counts all of a cycle");
    expect(&d, "a long cycle", HW_RULE_TREE, 1, -1, TREE | TREE_LEVELS);
    check_defects(tap, ctx, &d);
    world_free(&world);
}

/* Cycles on a path, with levels in order and out of it. */
static void test_pair(struct tap *tap, const struct hw_context *ctx)
{
    struct world world = path_world(40, false);
    struct defects d = no_defects(&world, 0);

    set(&d, 20, 20, 21);
    expect(&d, "each other's parents", HW_RULE_TREE, 20, -1, TREE | TREE_LEVELS);
    set(&d, 20, 20, 39);
    expect(&d, "a cycle, levels in order", HW_RULE_TREE, 20, -1, TREE | TREE_LEVELS | TREE_EDGES);
    check_defects(tap, ctx, &d);
    world_free(&world);
}

/* Directed: what is wrong one way is right the other. */
static void test_directed(struct tap *tap, const struct hw_context *ctx)
{
    struct world world = path_world(6, true); /* 0 -> 1 -> ... -> 5 */
    struct defects d = no_defects(&world, 2);

    set(&d, 1, 1, 2);
    expect(&d, "an edge taken backwards", HW_RULE_TREE_EDGES, 2, 1, TREE_EDGES);
    set(&d, 5, -1, -1);
    expect(&d, "a tuple out of the tree", HW_RULE_SPANS, 4, 5, EDGE_LEVELS | SPANS);
    set(&d, 4, 9, 3);
    expect(&d, "a level too high", HW_RULE_EDGE_LEVELS, 3, 4, TREE_LEVELS | EDGE_LEVELS);
    set(&d, 5, 1, 4);
    expect(&d, "a level too low", HW_RULE_TREE_LEVELS, 5, -1, TREE_LEVELS);
    check_defects(tap, ctx, &d);
    world_free(&world);
}

/* Breaks a tree in a few random places. */
static void break_tree(uint64_t *seed, hw_gid n, int32_t *level, hw_gid *parent)
{
    for (hw_gid times = below(seed, 5); times >= 0; times--) {
        hw_gid v = below(seed, n);
        switch (next_random(seed) % 6) {
        case 0:
            level[v] = (int32_t)below(seed, 6) - 2;
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
        struct world world = random_world(next_random(&seed), n, below(&seed, 3 * n), i % 3 == 0);
        struct trees trees = grow_trees(&world, 1 + i % 7 * 11, next_random(&seed));
        for (hw_count r = 0; r < trees.k; r++)
            if (r % 3 == 0)
                break_tree(&seed, n, trees.level + r * n, trees.parent + r * n);
        snprintf(name, sizeof name, "%d trees of %d vertices broken at random", (int)trees.k,
                 (int)n);
        check_all(tap, ctx, &world, &trees, false, name);
        trees_free(&trees);
        world_free(&world);
    }
    struct world world = random_world(31, 50000, 100000, false);
    struct trees trees = grow_trees(&world, 3, 2);
    for (int i = 0; i < 30; i++)
        break_tree(&seed, 50000, trees.level, trees.parent);
    check_all(tap, ctx, &world, &trees, false, "a large tree broken at random");
    for (hw_gid v = 0; v < 50000; v++) {
        trees.parent[v] = below(&seed, 50000);
        trees.level[v] = (int32_t)below(&seed, 9);
    }
    /* So little memory that the tree edges left over come in several chunks. */
    snprintf(limit, sizeof limit, "%dM", 30 * ctx->node_size);
    setenv("HOPWAVE_MEMORY", limit, 1);
    check_all(tap, ctx, &world, &trees, false, "a tree that is noise");
    unsetenv("HOPWAVE_MEMORY");
    trees_free(&trees);
    world_free(&world);
}

/* Everybody's tuples go to the rank that holds the hub; in little memory it takes
 * several rounds. */
static void test_star(struct tap *tap, const struct hw_context *ctx)
{
    enum { N = 100000 };
    struct world world = empty_world(N, N - 1, false);
    char limit[64];

    for (hw_count e = 0; e < N - 1; e++) {
        world.edges.source[e] = e % 3 ? 5 : e + (e >= 5);
        world.edges.target[e] = e % 3 ? e + (e >= 5) : 5;
    }
    struct trees trees = grow_trees(&world, 3, 6);
    for (hw_gid v = 30; v < 90000; v += 7) {
        trees.parent[v] = v + 1;     /* a dead end */
        trees.parent[v + 1] = N + 3; /* not a vertex */
        trees.parent[N + v] = v + 1; /* a cycle */
        trees.parent[N + v + 1] = v;
    }
    snprintf(limit, sizeof limit, "%dM", 30 * ctx->node_size);
    setenv("HOPWAVE_MEMORY", limit, 1);
    check_all(tap, ctx, &world, &trees, false, "a star, in little memory");
    unsetenv("HOPWAVE_MEMORY");
    trees_free(&trees);
    world_free(&world);
}

/* Less memory makes smaller batches with the same verdicts; far too little is
 * refused. */
static void test_memory(struct tap *tap, struct hw_context *ctx)
{
    struct world world = random_world(3, 30000, 40000, false);
    struct trees trees = grow_trees(&world, 9, 2);
    struct hw_error err = {{0}};
    struct hw_verdict verdict[9];
    uint64_t seed = 5;
    char limit[64];

    break_tree(&seed, 30000, trees.level + 8 * 30000, trees.parent + 8 * 30000);
    int threads = ctx->threads;
    hw_context_threads(ctx, 3);
    hw_count bytes = hw_verify_bytes(&world.desc, ctx->size, 3, 9) / 2 * ctx->node_size;
    snprintf(limit, sizeof limit, "%" PRI_COUNT, bytes);
    setenv("HOPWAVE_MEMORY", limit, 1);
    check_all(tap, ctx, &world, &trees, false, "in half the memory, on three threads");
    setenv("HOPWAVE_MEMORY", "100K", 1);
    tap_ok(tap, verify(ctx, &world, &trees, verdict, &err) == HW_RESOURCES,
           "too little memory is refused");
    unsetenv("HOPWAVE_MEMORY");
    hw_context_threads(ctx, threads);
    trees.root[3] = 30000;
    tap_ok(tap,
           verify(ctx, &world, &trees, verdict, &err) == HW_BAD_INPUT &&
               strstr(err.text, "root 30000"),
           "a root that is no vertex is refused");
    trees_free(&trees);
    world_free(&world);
}

static void test_reference(struct tap *tap, const struct hw_context *ctx)
{
    struct hw_error err = {{0}};
    bool same = true;

    for (int directed = 0; directed < 2; directed++) {
        struct world world = random_world(77, 3000, 5000, directed);
        struct trees trees = grow_trees(&world, 4, 1);
        struct hw_graph *graph = NULL;
        int32_t *level = must(malloc(sizeof *level * 3000));
        same = same && hw_graph_from_edges(ctx, &world.desc, &world.edges, &graph, &err) == HW_OK;
        for (hw_count i = 0; i < trees.k && same; i++) {
            same = hw_reference_bfs(ctx, graph, trees.root[i], level, &err) == HW_OK;
            if (ctx->rank == 0)
                same = same && memcmp(level, trees.level + i * 3000, sizeof *level * 3000) == 0;
        }
        setenv("HOPWAVE_MEMORY", "10K", 1);
        same = same && hw_reference_bfs(ctx, graph, 0, level, &err) == HW_RESOURCES;
        unsetenv("HOPWAVE_MEMORY");
        same = same && hw_reference_bfs(ctx, graph, 3000, level, &err) == HW_BAD_INPUT;
        hw_graph_close(graph);
        free(level);
        trees_free(&trees);
        world_free(&world);
    }
    tap_ok(tap, same, "the serial reference");
}

int main(int argc, char **argv)
{
    struct tap tap = {0};
    struct hw_context ctx;
    struct hw_error err = {{0}};

    if (hw_context_open(&ctx, &argc, &argv, "test_verify", &err) != HW_OK)
        return 99;
    tap_mpi(&tap);
    hw_context_threads(&ctx, ctx.size == 1 ? 2 : 1);
    test_right(&tap, &ctx);
    test_long(&tap, &ctx);
    test_broken(&tap, &ctx);
    test_ring(&tap, &ctx);
    test_pair(&tap, &ctx);
    test_directed(&tap, &ctx);
    test_random(&tap, &ctx);
    test_star(&tap, &ctx);
    test_memory(&tap, &ctx);
    test_reference(&tap, &ctx);
    int failed = tap_done(&tap);
    hw_context_close(&ctx, HW_OK, &err);
    return failed;
}
