/*
 * The two kinds of trees that tests of validation have: how right ones grow, and an oracle
 * of what is wrong with others, written straight from the definitions in verify.h.
 */
#include "verify/test_trees.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- levels ---- */

/* grow_levels() in the type of trees. */
static void grow_bfs(const struct world *world, hw_gid root, number *value, hw_gid *parent)
{
    int32_t *level = must(malloc(sizeof *level * (size_t)world->desc.vertices));

    grow_levels(world, root, level, parent);
    for (hw_gid v = 0; v < world->desc.vertices; v++)
        value[v] = level[v];
    free(level);
}

static void level_vertices(const struct world *world, hw_gid root, const number *level,
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
            if (p != v && (level[v] == -1 || level[p] == -1 || level[v] != level[p] + 1))
                note(verdict, HW_RULE_TREE_LEVELS, v, -1);
        }
    }
    free(end);
}

static void level_tuples(const struct world *world, hw_gid root, const number *level,
                         const hw_gid *parent, struct hw_verdict *verdict)
{
    hw_gid n = world->desc.vertices;
    bool directed = world->desc.directed, *joined = must(calloc((size_t)n, 1));

    for (hw_count e = 0; e < world->desc.edges; e++) {
        hw_gid u = world->edges.source[e], v = world->edges.target[e];
        number at_u = level[u], at_v = level[v];
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

static struct hw_verdict judge_levels(const struct world *world, const struct trees *trees,
                                      hw_count i)
{
    hw_gid n = world->desc.vertices;
    struct hw_verdict verdict = {.reached = 0};

    memset(verdict.example, 0xff, sizeof verdict.example);
    level_vertices(world, trees->root[i], trees->value + i * n, trees->parent + i * n, &verdict);
    level_tuples(world, trees->root[i], trees->value + i * n, trees->parent + i * n, &verdict);
    return verdict;
}

static enum hw_status validate_levels(const struct hw_context *ctx, struct hw_graph *graph,
                                      const struct trees *trees, hw_count length,
                                      const number *value, const hw_gid *parent,
                                      struct hw_verdict *verdict, struct hw_error *err)
{
    hw_count k = trees->k;
    int32_t *level = must(malloc(sizeof *level * (size_t)(k * length + 1)));

    for (hw_count cell = 0; cell < k * length; cell++)
        level[cell] = (int32_t)value[cell];
    enum hw_status status = hw_verify_bfs(ctx, graph, k, trees->root, level, parent, verdict, err);
    free(level);
    return status;
}

const struct kind levels = {grow_bfs, judge_levels, validate_levels};

/* ---- shortest paths ---- */

number plus(const struct world *world, number distance, number weight)
{
    if (is_whole(world))
        return distance + weight;
    /* A double holds more than twice as many bits, so that this rounds once. */
    return (number)(float)((double)distance + (double)weight);
}

number unreached(const struct world *world)
{
    return is_whole(world) ? -1 : (number)INFINITY;
}

/* Distances by sweeps over the tuples until nothing changes, then parents by
 * sweeps along tight edges from the root: slow and plain. */
static void grow_paths(const struct world *world, hw_gid root, number *distance, hw_gid *parent)
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

static void path_vertices(const struct subject *s, struct hw_verdict *verdict)
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

static void path_tuples(const struct subject *s, struct hw_verdict *verdict)
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

static struct hw_verdict judge_paths(const struct world *world, const struct trees *trees,
                                     hw_count i)
{
    hw_gid n = world->desc.vertices;
    struct subject s = {world, trees->root[i], trees->value + i * n, trees->parent + i * n};
    struct hw_verdict verdict = {.reached = 0};

    memset(verdict.example, 0xff, sizeof verdict.example);
    path_vertices(&s, &verdict);
    path_tuples(&s, &verdict);
    return verdict;
}

static enum hw_status validate_paths(const struct hw_context *ctx, struct hw_graph *graph,
                                     const struct trees *trees, hw_count length,
                                     const number *value, const hw_gid *parent,
                                     struct hw_verdict *verdict, struct hw_error *err)
{
    bool integers = hw_graph_desc(graph)->weights == HW_WEIGHTS_I32;
    hw_count k = trees->k;
    float *real = must(malloc(sizeof *real * (size_t)(k * length + 1)));
    int64_t *whole = must(malloc(sizeof *whole * (size_t)(k * length + 1)));

    for (hw_count cell = 0; cell < k * length; cell++)
        if (integers)
            whole[cell] = (int64_t)value[cell];
        else
            real[cell] = (float)value[cell];
    enum hw_status status =
        hw_verify_sssp(ctx, graph, k, trees->root, integers ? (void *)whole : real, parent,
                       trees->cycle, verdict, err);
    free(real);
    free(whole);
    return status;
}

const struct kind paths = {grow_paths, judge_paths, validate_paths};
