/*
 * Validation of shortest paths at any rank count: right trees of all kinds of
 * weights pass, each kind of broken tree is found with the rule it breaks and the
 * right example, and on trees broken at random every verdict equals that of an
 * oracle written straight from the definitions in verify.h. Cycles likewise.
 */
#include "base/memory.h"
#include "comm/context.h"
#include "graph/graph.h"
#include "tap.h"
#include "verify/test_world.h"
#include "verify/verify.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A distance of either type, exactly. */
typedef long double number;

/* Trees of k roots, whole on every rank: [k][vertices]. */
struct trees {
    hw_count k;
    hw_gid *root;
    number *distance; /* as the file says: INFINITY or -1 unreached */
    hw_gid *parent;
    struct hw_cycle *cycle; /* [k] */
};

/* ---- weights ---- */

enum weighting {
    EIGHTHS,   /* floats, with ties */
    BITS,      /* floats 0 or 1 */
    VANISHING, /* floats that vanish beside each other, and zero */
    REALS,     /* floats that round */
    SIGNED,    /* floats, negative ones too, without negative cycles; directed */
    SMALL,     /* integers from zero */
    LARGE,     /* integers whose sums pass 32 bits */
    SIGNED_I32,
    WEIGHTINGS
};

static const char *const weighting_name[] = {
    "eighths",       "zeros and ones", "vanishing weights", "reals",
    "signed floats", "small integers", "large integers",    "signed integers"};

static bool is_whole(const struct world *world)
{
    return world->desc.weights == HW_WEIGHTS_I32;
}

static number weight_of(const struct world *world, hw_count e)
{
    return is_whole(world) ? (number)world->edges.weight[e].i32
                           : (number)world->edges.weight[e].f32;
}

static void put_weight(struct world *world, hw_count e, double weight)
{
    if (is_whole(world))
        world->edges.weight[e].i32 = (int32_t)weight;
    else
        world->edges.weight[e].f32 = (float)weight;
}

static int potential(hw_gid v)
{
    return (int)(v * 7919 % 13);
}

static double draw_weight(const struct world *world, enum weighting weighting, hw_count e,
                          uint64_t *seed)
{
    static const float vanishing[] = {1, 0x1p-30f, 0, 0x1p-60f};
    uint64_t random = next_random(seed);

    switch (weighting) {
    case EIGHTHS:
        return (double)(random % 8 + 1) / 8;
    case BITS:
        return (double)(random % 2);
    case VANISHING:
        return (double)vanishing[random % 4];
    case REALS:
        return (double)(float)((double)(random >> 40) * 0x1p-24 * 3.3);
    case SMALL:
        return (double)(random % 10);
    case LARGE:
        return (double)(random % INT32_MAX);
    default:
        return (double)(random % 8) + potential(world->edges.source[e]) -
               potential(world->edges.target[e]);
    }
}

static void add_weights(struct world *world, enum weighting weighting, uint64_t seed)
{
    hw_count m = world->desc.edges;

    world->desc.weights = weighting >= SMALL ? HW_WEIGHTS_I32 : HW_WEIGHTS_F32;
    world->edges.weight = must(calloc((size_t)m + 1, sizeof *world->edges.weight));
    for (hw_count e = 0; e < m; e++)
        put_weight(world, e, draw_weight(world, weighting, e, &seed));
}

static bool is_signed(enum weighting weighting)
{
    return weighting == SIGNED || weighting == SIGNED_I32;
}

/* ---- right trees ---- */

/* A path and one more edge, in the arithmetic of the weights. */
static number plus(const struct world *world, number distance, number weight)
{
    if (is_whole(world))
        return distance + weight;
    /* A double holds more than twice as many bits, so that this rounds once. */
    return (number)(float)((double)distance + (double)weight);
}

static number unreached(const struct world *world)
{
    return is_whole(world) ? -1 : (number)INFINITY;
}

static struct trees trees_alloc(hw_count k, hw_gid vertices)
{
    size_t cells = (size_t)(k * vertices + 1);

    return (struct trees){.k = k,
                          .root = must(malloc(sizeof(hw_gid) * (size_t)(k + 1))),
                          .distance = must(malloc(sizeof(number) * cells)),
                          .parent = must(malloc(sizeof(hw_gid) * cells)),
                          .cycle = must(calloc((size_t)k + 1, sizeof(struct hw_cycle)))};
}

static void trees_free(struct trees *trees)
{
    for (hw_count i = 0; i < trees->k; i++)
        hw_cycle_free(&trees->cycle[i]);
    free(trees->root);
    free(trees->distance);
    free(trees->parent);
    free(trees->cycle);
}

/* Distances by sweeps over the tuples until nothing changes, then parents by
 * sweeps along tight edges from the root: slow and plain. */
static void grow_tree(const struct world *world, hw_gid root, number *distance, hw_gid *parent)
{
    for (hw_gid v = 0; v < world->desc.vertices; v++) {
        distance[v] = INFINITY;
        parent[v] = -1;
    }
    distance[root] = 0;
    parent[root] = root;
    for (int phase = 0; phase < 2; phase++)
        for (bool grew = true; grew;) {
            grew = false;
            for (hw_count e = 0; e < world->desc.edges; e++)
                for (int back = 0; back <= !world->desc.directed; back++) {
                    hw_gid u = back ? world->edges.target[e] : world->edges.source[e];
                    hw_gid v = back ? world->edges.source[e] : world->edges.target[e];
                    number over = distance[u] == INFINITY
                                      ? (number)INFINITY
                                      : plus(world, distance[u], weight_of(world, e));
                    if (phase == 0 && over < distance[v]) {
                        distance[v] = over;
                        grew = true;
                    } else if (phase == 1 && over == distance[v] && parent[u] != -1 &&
                               parent[v] == -1) {
                        parent[v] = u;
                        grew = true;
                    }
                }
        }
    for (hw_gid v = 0; v < world->desc.vertices; v++)
        if (distance[v] == INFINITY)
            distance[v] = unreached(world);
}

static struct trees grow_trees(const struct world *world, hw_count k, uint64_t seed)
{
    hw_gid n = world->desc.vertices;
    struct trees trees = trees_alloc(k, n);

    for (hw_count i = 0; i < k; i++) {
        trees.root[i] = below(&seed, n);
        grow_tree(world, trees.root[i], trees.distance + i * n, trees.parent + i * n);
    }
    return trees;
}

/* ---- the oracle ---- */

/* One tree under the oracle's eyes. */
struct subject {
    const struct world *world;
    hw_gid root;
    const number *distance;
    const hw_gid *parent;
};

static bool reached(const struct subject *s, hw_gid v)
{
    return s->parent[v] != -1 || !(s->distance[v] == unreached(s->world));
}

/* A distance that agrees with others at all. */
static bool sound(const struct subject *s, hw_gid v)
{
    return reached(s, v) && isfinite(s->distance[v]);
}

static bool over(const struct subject *s, hw_gid u, hw_gid v, number weight)
{
    return reached(s, u) && reached(s, v) &&
           !(sound(s, u) && sound(s, v) &&
             s->distance[v] <= plus(s->world, s->distance[u], weight));
}

static bool tight(const struct subject *s, hw_gid parent, hw_gid child, number weight)
{
    return sound(s, parent) && sound(s, child) &&
           s->distance[child] == plus(s->world, s->distance[parent], weight);
}

static void oracle_vertices(const struct subject *s, struct hw_verdict *verdict)
{
    hw_gid n = s->world->desc.vertices, *end = must(malloc(sizeof *end * (size_t)n));

    chain_ends(s->parent, n, s->root, end);
    for (hw_gid v = 0; v < n; v++) {
        verdict->reached += reached(s, v);
        if (v == s->root) {
            if (s->parent[v] != v)
                note(verdict, HW_RULE_TREE, v, -1);
            if (!(s->distance[v] == 0))
                note(verdict, HW_RULE_TREE_LEVELS, v, -1);
        } else if (s->parent[v] == -1) {
            if (reached(s, v))
                note(verdict, HW_RULE_SPANS, v, -1);
        } else if (s->parent[v] < 0 || s->parent[v] >= n || end[v] == -1) {
            note(verdict, HW_RULE_TREE, v, -1);
        } else if (end[v] != s->root) {
            note(verdict, HW_RULE_SPANS, v, -1);
        }
    }
    free(end);
}

static void oracle_tuples(const struct subject *s, struct hw_verdict *verdict)
{
    const struct world *world = s->world;
    hw_gid n = world->desc.vertices;
    bool directed = world->desc.directed;
    bool *joined = must(calloc((size_t)n, 1)), *fits = must(calloc((size_t)n, 1));

    for (hw_count e = 0; e < world->desc.edges; e++) {
        hw_gid u = world->edges.source[e], v = world->edges.target[e];
        number w = weight_of(world, e);
        bool in_u = reached(s, u), in_v = reached(s, v);
        bool leaves = directed ? in_u && !in_v : in_u != in_v;
        bool cycle = w < 0 && (u == v || !directed) && in_u && in_v;
        verdict->tuples += in_u && (directed || in_v);
        if (leaves || cycle || over(s, u, v, w) || (!directed && over(s, v, u, w)))
            note(verdict, HW_RULE_EDGE_LEVELS, u, v);
        if (leaves)
            note(verdict, HW_RULE_SPANS, u, v);
        joined[v] = joined[v] || s->parent[v] == u;
        fits[v] = fits[v] || (s->parent[v] == u && tight(s, u, v, w));
        if (!directed) {
            joined[u] = joined[u] || s->parent[u] == v;
            fits[u] = fits[u] || (s->parent[u] == v && tight(s, v, u, w));
        }
    }
    for (hw_gid v = 0; v < n; v++) {
        if (v == s->root || s->parent[v] < 0 || s->parent[v] >= n || s->parent[v] == v)
            continue;
        if (!joined[v])
            note(verdict, HW_RULE_TREE_EDGES, s->parent[v], v);
        else if (!fits[v])
            note(verdict, HW_RULE_TREE_LEVELS, v, -1);
    }
    free(joined);
    free(fits);
}

static struct hw_verdict oracle(const struct world *world, const struct trees *trees, hw_count i)
{
    hw_gid n = world->desc.vertices;
    struct subject s = {world, trees->root[i], trees->distance + i * n, trees->parent + i * n};
    struct hw_verdict verdict = {.reached = 0};

    memset(verdict.example, 0xff, sizeof verdict.example);
    oracle_vertices(&s, &verdict);
    oracle_tuples(&s, &verdict);
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
    size_t cells = (size_t)(k * length + 1);
    float *real = must(malloc(sizeof *real * cells));
    int64_t *whole = must(malloc(sizeof *whole * cells));
    hw_gid *parent = must(malloc(sizeof *parent * cells));
    for (hw_count i = 0; i < k; i++)
        for (hw_count v = 0; v < length; v++) {
            number distance = trees->distance[i * n + first + v];
            parent[i * length + v] = trees->parent[i * n + first + v];
            if (is_whole(world))
                whole[i * length + v] = (int64_t)distance;
            else
                real[i * length + v] = (float)distance;
        }
    enum hw_status status = hw_graph_from_edges(ctx, &world->desc, &world->edges, &graph, err);
    if (status == HW_OK)
        status = hw_verify_sssp(ctx, graph, k, trees->root, is_whole(world) ? (void *)whole : real,
                                parent, trees->cycle, verdict, err);
    hw_graph_close(graph);
    free(real);
    free(whole);
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

/* ---- tests of trees ---- */

static void test_right(struct tap *tap, const struct hw_context *ctx)
{
    char name[96];

    for (enum weighting weighting = 0; weighting < WEIGHTINGS; weighting++)
        for (int directed = is_signed(weighting); directed < 2; directed++) {
            const hw_gid sizes[] = {60, 36000};
            for (int i = 0; i < 2; i++) {
                struct world world =
                    random_world(weighting + 1, sizes[i], 5 * sizes[i] / 2, directed);
                add_weights(&world, weighting, 7);
                struct trees trees = grow_trees(&world, i ? 2 : 64, 3);
                snprintf(name, sizeof name, "%s, %s, %d vertices", weighting_name[weighting],
                         directed ? "directed" : "undirected", (int)sizes[i]);
                check_all(tap, ctx, &world, &trees, true, name);
                trees_free(&trees);
                world_free(&world);
            }
        }
}

/* What is expected of a broken tree. */
struct defect {
    const char *name;
    enum hw_rule rule;
    hw_gid example[2];
    int broken; /* rules, as bits */
};

/* Rules, as sets of bits. */
enum {
    TREE = 1 << HW_RULE_TREE,
    TREE_LEVELS = 1 << HW_RULE_TREE_LEVELS,
    EDGE_LEVELS = 1 << HW_RULE_EDGE_LEVELS,
    SPANS = 1 << HW_RULE_SPANS,
    TREE_EDGES = 1 << HW_RULE_TREE_EDGES
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
            grow_tree(world, root, defects.trees.distance, defects.trees.parent);
            continue;
        }
        memcpy(defects.trees.distance + i * n, defects.trees.distance, sizeof(number) * (size_t)n);
        memcpy(defects.trees.parent + i * n, defects.trees.parent, sizeof(hw_gid) * (size_t)n);
    }
    return defects;
}

/* Sets what vertex v of the tree under way says. */
static void set(struct defects *defects, hw_gid v, number distance, hw_gid parent)
{
    hw_gid at = defects->count * defects->world->desc.vertices + v;

    defects->trees.distance[at] = distance;
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

/* A path 0 - 1 - ... of weight 1 each in blocks far apart, a parallel tuple of
 * weight 4 from 10 to 11, a chord of weight 9 from 10 to 13, and zeros from 20 to
 * 23; vertices from 50 on are alone. */
static struct world path_with_extras(bool whole, bool directed)
{
    static const struct {
        hw_gid u, v;
        double weight;
    } extra[] = {{10, 11, 4}, {10, 13, 9}};
    struct world world = path_world(50, directed);
    hw_count path = world.desc.edges;
    hw_gid *source = world.edges.source, *target = world.edges.target;

    struct world all = empty_world(60, path + 2, directed);
    memcpy(all.edges.source, source, sizeof(hw_gid) * (size_t)path);
    memcpy(all.edges.target, target, sizeof(hw_gid) * (size_t)path);
    world_free(&world);
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
static void add_defects(const struct world *world, struct defects *d)
{
    const number none = unreached(world);

    set(d, 49, 47, 48);
    expect(d, "a distance too large", HW_RULE_EDGE_LEVELS, 48, 49, TREE_LEVELS | EDGE_LEVELS);
    set(d, 49, 45, 48);
    expect(d, "a distance too small", HW_RULE_TREE_LEVELS, 49, -1, TREE_LEVELS);
    for (hw_gid v = 11; v < 50; v++)
        set(d, v, d->trees.distance[63 * world->desc.vertices + v] + 3, v - 1);
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
            struct world world = path_with_extras(whole, directed);
            struct defects d = no_defects(&world, 0);
            add_defects(&world, &d);
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
            world_free(&world);
        }
}

/* Values that are no distances. */
static void test_nonsense(struct tap *tap, const struct hw_context *ctx)
{
    struct world world = path_with_extras(false, true);
    struct defects d = no_defects(&world, 0);

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
    world_free(&world);
    world = path_with_extras(true, true);
    d = no_defects(&world, 0);
    set(&d, 49, (number)INT64_MAX, 48);
    expect(&d, "the largest integer", HW_RULE_TREE_LEVELS, 49, -1, TREE_LEVELS | EDGE_LEVELS);
    set(&d, 49, (number)INT64_MIN, 48);
    expect(&d, "the least integer", HW_RULE_TREE_LEVELS, 49, -1, TREE_LEVELS);
    set(&d, 49, -1, 48);
    expect(&d, "unreached with a parent", HW_RULE_TREE_LEVELS, 49, -1, TREE_LEVELS);
    set(&d, 49, 46 + 0x1p32L, 48);
    expect(&d, "a distance off by 2^32", HW_RULE_TREE_LEVELS, 49, -1, TREE_LEVELS | EDGE_LEVELS);
    check_defects(tap, ctx, &d);
    world_free(&world);
}

/* 0 -> 1 -> 2 -> 3 and 3 -> 2: up by weight 2, down again by -2. */
static void test_falling(struct tap *tap, const struct hw_context *ctx)
{
    struct world world = empty_world(40000, 4, true);
    static const hw_gid vertex[] = {0, 39990, 20000, 10000};

    add_weights(&world, SMALL, 1);
    for (hw_count e = 0; e < 4; e++) {
        world.edges.source[e] = vertex[e];
        world.edges.target[e] = vertex[e < 3 ? e + 1 : 2];
        put_weight(&world, e, e < 3 ? 2 : -2);
    }
    struct defects d = no_defects(&world, 0);
    set(&d, vertex[2], 4, vertex[3]);
    expect(&d, "a cycle that rises and falls", HW_RULE_TREE, vertex[3], -1, TREE);
    check_defects(tap, ctx, &d);
    world_free(&world);
}

/* Sums that pass the range of their lanes, or of floats. */
static void test_ranges(struct tap *tap, const struct hw_context *ctx)
{
    struct world world = path_world(3, true);

    add_weights(&world, EIGHTHS, 1);
    put_weight(&world, 0, 0x1.8p127);
    put_weight(&world, 1, 0x1.8p127);
    struct defects d = no_defects(&world, 0);
    set(&d, 2, INFINITY, -1);
    expect(&d, "a sum beyond all floats", HW_RULE_SPANS, 1, 2, EDGE_LEVELS | SPANS);
    struct hw_verdict verdict[2];
    struct hw_error err;
    d.trees.k = 1;
    tap_ok(tap,
           verify(ctx, &world, &d.trees, verdict, &err) == HW_OK &&
               verdict[0].violations[HW_RULE_SPANS] == 1 &&
               verdict[0].violations[HW_RULE_EDGE_LEVELS] == 1,
           "an end left out because the sum passes all floats");
    trees_free(&d.trees);
    world_free(&world);
    world = path_world(4, true);
    add_weights(&world, SMALL, 1);
    put_weight(&world, 0, 1);
    put_weight(&world, 1, INT32_MAX);
    put_weight(&world, 2, INT32_MIN);
    struct trees trees = grow_trees(&world, 4, 3);
    check_all(tap, ctx, &world, &trees, true, "the largest weights");
    for (hw_count i = 0; i < 4; i++) {
        trees.root[i] = i < 2 ? 1 : 2;
        grow_tree(&world, trees.root[i], trees.distance + i * 4, trees.parent + i * 4);
        for (hw_gid v = 0; v < 4; v++)
            if (trees.parent[i * 4 + v] != -1)
                trees.distance[i * 4 + v] /= i % 2 ? 8 : 1;
    }
    check_all(tap, ctx, &world, &trees, false, "the largest weights, some far off");
    static const number near[4][4] = {{0, 7, -5, 0},
                                      {0, 7, 0x1p28L, -0x1p28L - 1000},
                                      {0, -1, 0x1p29L - 1, 1 - 0x1p29L},
                                      {0, 1, 0, -1}};
    /* One tree at a time: a lane that does not agree has all lanes looked at. */
    trees.k = 1;
    trees.root[0] = 0;
    for (hw_count i = 0; i < 4; i++) {
        for (hw_gid v = 0; v < 4; v++) {
            trees.distance[v] = near[i][v];
            trees.parent[v] = v == 0 ? 0 : near[i][v] == -1 ? -1 : v - 1;
        }
        check_all(tap, ctx, &world, &trees, false, "the largest weights between small distances");
    }
    trees_free(&trees);
    world_free(&world);
}

/* Self-loops of negative weight, and undirected tuples: cycles by themselves. */
static void test_negative(struct tap *tap, const struct hw_context *ctx)
{
    for (int directed = 0; directed < 2; directed++) {
        struct world world = path_with_extras(false, directed);
        hw_count last = world.desc.edges - 1;
        struct defects d = no_defects(&world, 0);
        /* The chord becomes what no distance survives, however it rounds. */
        world.edges.source[last] = 30;
        world.edges.target[last] = directed ? 30 : 31;
        put_weight(&world, last, -0x1p-40);
        struct hw_error err;
        struct hw_verdict verdict[2];
        d.trees.k = 1;
        bool right = verify(ctx, &world, &d.trees, verdict, &err) == HW_OK &&
                     verdict[0].violations[HW_RULE_EDGE_LEVELS] == 1 &&
                     verdict[0].example[HW_RULE_EDGE_LEVELS][0] == 30;
        tap_ok(tap, right, "%s of negative weight that vanishes",
               directed ? "a self-loop" : "a tuple");
        check_all(tap, ctx, &world, &d.trees, false, "as the oracle says");
        trees_free(&d.trees);
        world_free(&world);
    }
}

/* Breaks a tree in a few random places. */
static void break_tree(const struct world *world, uint64_t *seed, number *distance, hw_gid *parent)
{
    hw_gid n = world->desc.vertices;

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
            distance[v] = unreached(world);
            parent[v] = -1;
            break;
        case 4:
            distance[v] = plus(world, distance[v], 1);
            break;
        case 5:
            parent[v] = parent[u];
            break;
        case 6:
            distance[v] = is_whole(world) ? distance[u] : (number)NAN;
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
        struct world world = random_world(next_random(&seed), n, below(&seed, 3 * n), directed);
        add_weights(&world, weighting, next_random(&seed));
        struct trees trees = grow_trees(&world, 1 + i % 7 * 11, next_random(&seed));
        for (hw_count r = 0; r < trees.k; r++)
            if (r % 3 == 0)
                break_tree(&world, &seed, trees.distance + r * n, trees.parent + r * n);
        snprintf(name, sizeof name, "%d trees of %d vertices, %s, broken at random", (int)trees.k,
                 (int)n, weighting_name[weighting]);
        check_all(tap, ctx, &world, &trees, false, name);
        trees_free(&trees);
        world_free(&world);
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
        struct world world = random_world(31, n, 2 * n, whole);
        add_weights(&world, whole ? SMALL : BITS, 5);
        struct trees trees = grow_trees(&world, 3, 2);
        for (int i = 0; i < 30; i++)
            break_tree(&world, &seed, trees.distance, trees.parent);
        hw_context_threads(ctx, 3);
        check_all(tap, ctx, &world, &trees, false, "large trees broken at random");
        hw_context_threads(ctx, threads);
        for (hw_gid v = 0; v < n; v++) {
            trees.parent[v] = below(&seed, n);
            trees.distance[v] = (number)below(&seed, 9);
        }
        snprintf(limit, sizeof limit, "%dM", 32 * ctx->node_size);
        setenv("HOPWAVE_MEMORY", limit, 1);
        check_all(tap, ctx, &world, &trees, false, "a tree that is noise, in little memory");
        unsetenv("HOPWAVE_MEMORY");
        trees_free(&trees);
        world_free(&world);
    }
}

/* ---- tests of cycles ---- */

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
        trees->distance[i * n + v] = unreached(world);
        trees->parent[i * n + v] = -1;
    }
}

/* Three tuples 1 -> 2 -> 3 -> 1 of weight -1 (one has heavier parallels), a loop
 * at 4 of weight -2, a positive cycle 5 -> 6 -> 5, and a pair 7 -> 8 of -1. */
static struct world cycle_world(bool whole, bool directed)
{
    static const struct {
        hw_gid u, v;
        int weight;
    } tuple[] = {{1, 2, -1}, {2, 3, 5}, {2, 3, -1}, {2, 3, 4},  {3, 1, -1},
                 {4, 4, -2}, {5, 6, 1}, {6, 5, 0},  {7, 8, -1}, {0, 9, 1}};
    const hw_count count = sizeof tuple / sizeof *tuple;
    struct world world = empty_world(40000, count, directed);

    add_weights(&world, whole ? SMALL : EIGHTHS, 1);
    for (hw_count e = 0; e < count; e++) {
        world.edges.source[e] = tuple[e].u;
        world.edges.target[e] = tuple[e].v;
        put_weight(&world, e, tuple[e].weight);
    }
    return world;
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
            struct trees trees = grow_trees(&world, CASES + 2, 1);
            struct hw_verdict verdict[CASES + 2];
            struct hw_error err = {{0}};
            for (hw_count i = 0; i < CASES; i++)
                set_cycle(&trees, &world, i, cases[i].length, cases[i].vertex, cases[i].weight);
            /* One claims vertices too; the last is a right tree. */
            set_cycle(&trees, &world, CASES, 1, (hw_gid[]){4}, -2);
            trees.parent[CASES * 40000 + 39999] = 3;
            trees.distance[CASES * 40000 + 17] = 3;
            trees.root[CASES + 1] = 0;
            grow_tree(&world, 0, trees.distance + (CASES + 1) * 40000,
                      trees.parent + (CASES + 1) * 40000);
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
    struct trees trees = trees_alloc(2, 3);
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

/* ---- tests of the reference ---- */

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
    struct hw_error err;

    if (hw_graph_from_edges(ctx, &world->desc, &world->edges, graph, &err) != HW_OK ||
        hw_reference_open(ctx, *graph, true, &reference, &err) != HW_OK)
        abort();
    return reference;
}

static void test_reference(struct tap *tap, const struct hw_context *ctx)
{
    for (enum weighting weighting = 0; weighting < WEIGHTINGS; weighting++)
        for (int directed = is_signed(weighting); directed < 2; directed++) {
            struct world world = random_world(weighting + 5, 900, 2500, directed);
            struct hw_graph *graph = NULL;
            add_weights(&world, weighting, 9);
            struct trees trees = grow_trees(&world, 12, 3);
            struct hw_reference *reference = open_reference(ctx, &world, &graph);
            bool same = true;
            for (hw_count i = 0; i < trees.k && same; i++)
                same = reference_is(ctx, &world, reference, trees.root[i],
                                    trees.distance + i * world.desc.vertices);
            tap_ok(tap, same, "the reference: %s, %s", weighting_name[weighting],
                   directed ? "directed" : "undirected");
            hw_reference_close(reference);
            hw_graph_close(graph);
            trees_free(&trees);
            world_free(&world);
        }
}

/* Negative cycles of each kind, within reach of some roots and not of others. */
static void test_reference_cycles(struct tap *tap, const struct hw_context *ctx)
{
    for (int whole = 0; whole < 2; whole++)
        for (int directed = 0; directed < 2; directed++) {
            struct world world = cycle_world(whole, directed);
            struct trees trees = trees_alloc(2, world.desc.vertices);
            struct hw_graph *graph = NULL;
            trees.root[0] = 5;
            trees.root[1] = directed ? 7 : 0;
            for (hw_count i = 0; i < 2; i++)
                grow_tree(&world, trees.root[i], trees.distance + i * world.desc.vertices,
                          trees.parent + i * world.desc.vertices);
            struct hw_reference *reference = open_reference(ctx, &world, &graph);
            tap_ok(tap, reference_is(ctx, &world, reference, 2, NULL), "three tuples");
            tap_ok(tap, reference_is(ctx, &world, reference, 4, NULL), "a self-loop");
            tap_ok(tap, directed || reference_is(ctx, &world, reference, 8, NULL), "a pair");
            tap_ok(tap, reference_is(ctx, &world, reference, 5, trees.distance),
                   "a cycle that is not negative");
            tap_ok(tap,
                   reference_is(ctx, &world, reference, trees.root[1],
                                trees.distance + world.desc.vertices),
                   "cycles out of reach");
            hw_reference_close(reference);
            hw_graph_close(graph);
            trees_free(&trees);
            world_free(&world);
        }
}

/* Negative weights that vanish are cycles by themselves all the same. */
static void test_reference_vanishing(struct tap *tap, const struct hw_context *ctx)
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
static void test_reference_rounding(struct tap *tap, const struct hw_context *ctx)
{
    struct world world = empty_world(4, 4, true);
    struct hw_graph *graph = NULL;
    static const hw_gid source[] = {3, 0, 1, 2}, target[] = {0, 1, 2, 0};
    static const double weight[] = {1, 0x1p-24, 0x1p-24, -0x1p-23};
    struct trees trees = trees_alloc(1, 4);

    add_weights(&world, EIGHTHS, 1);
    for (hw_count e = 0; e < 4; e++) {
        world.edges.source[e] = source[e];
        world.edges.target[e] = target[e];
        put_weight(&world, e, weight[e]);
    }
    trees.root[0] = 3;
    grow_tree(&world, 3, trees.distance, trees.parent);
    struct hw_reference *reference = open_reference(ctx, &world, &graph);
    tap_ok(tap, trees.distance[0] < 1 && reference_is(ctx, &world, reference, 3, trees.distance),
           "a cycle that falls in rounding alone");
    hw_reference_close(reference);
    hw_graph_close(graph);
    trees_free(&trees);
    world_free(&world);
}

static void test_refusals(struct tap *tap, const struct hw_context *ctx)
{
    struct world world = path_world(5, false);
    struct hw_error err = {{0}};
    struct hw_verdict verdict[1];
    struct trees trees = trees_alloc(1, 5);

    add_weights(&world, SMALL, 1);
    trees.root[0] = 5;
    for (hw_gid v = 0; v < 5; v++) {
        trees.distance[v] = -1;
        trees.parent[v] = -1;
    }
    tap_ok(tap, verify(ctx, &world, &trees, verdict, &err) == HW_BAD_INPUT,
           "a root that is no vertex is refused");
    world.desc.weights = HW_WEIGHTS_NONE;
    trees.root[0] = 0;
    tap_ok(tap,
           verify(ctx, &world, &trees, verdict, &err) == HW_BAD_INPUT &&
               strstr(err.text, "weights"),
           "a graph without weights is refused");
    struct hw_graph *graph = NULL;
    struct hw_reference *reference = NULL;
    tap_ok(tap,
           hw_graph_from_edges(ctx, &world.desc, &world.edges, &graph, &err) == HW_OK &&
               hw_reference_open(ctx, graph, true, &reference, &err) == HW_BAD_INPUT,
           "and has no reference");
    hw_graph_close(graph);
    trees_free(&trees);
    world_free(&world);
}

int main(int argc, char **argv)
{
    struct tap tap = {0};
    struct hw_context ctx;
    struct hw_error err = {{0}};

    if (hw_context_open(&ctx, &argc, &argv, "test_sssp", &err) != HW_OK)
        return 99;
    tap_mpi(&tap);
    hw_context_threads(&ctx, ctx.size == 1 ? 2 : 1);
    test_right(&tap, &ctx);
    test_broken(&tap, &ctx);
    test_nonsense(&tap, &ctx);
    test_falling(&tap, &ctx);
    test_ranges(&tap, &ctx);
    test_negative(&tap, &ctx);
    test_random(&tap, &ctx);
    test_large(&tap, &ctx);
    test_cycles(&tap, &ctx);
    test_exact_cycle(&tap, &ctx);
    test_reference(&tap, &ctx);
    test_reference_cycles(&tap, &ctx);
    test_reference_vanishing(&tap, &ctx);
    test_reference_rounding(&tap, &ctx);
    test_refusals(&tap, &ctx);
    int failed = tap_done(&tap);
    hw_context_close(&ctx, HW_OK, &err);
    return failed;
}
