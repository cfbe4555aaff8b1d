/*
 * Validation of search trees against the input tuples, by the five rules of the
 * Graph500 specification 2.0; never against the structure that was traversed.
 *
 * Vertices are distributed in blocks of rising graph id: rank r holds the slice
 * that hw_store_share(vertices, r, ranks) names.
 */
#ifndef HOPWAVE_VERIFY_VERIFY_H
#define HOPWAVE_VERIFY_VERIFY_H

#include "lib/base/status.h"
#include "lib/base/types.h"
#include "lib/comm/context.h"
#include "lib/graph/cycle.h"
#include "lib/graph/graph.h"

/* The rules, in the specification's order. */
enum hw_rule {
    HW_RULE_TREE,        /* 1: a tree rooted at the root: no cycles, root its own parent */
    HW_RULE_TREE_LEVELS, /* 2: a tree edge joins levels that differ by exactly one */
    HW_RULE_EDGE_LEVELS, /* 3: an input edge joins levels that differ by at most one, or neither
                            end is reached (directed u -> v: level[v] <= level[u] + 1) */
    HW_RULE_SPANS,       /* 4: the tree spans the root's component */
    HW_RULE_TREE_EDGES,  /* 5: a vertex and its parent are joined by an input edge */
    HW_RULE_CYCLE,       /* shortest paths: a negative cycle that a search gives as its answer is a
                            closed walk of input edges, of negative weight and of the weight stated */
    HW_RULES
};

/* The name of a rule for messages and files, such as "tree-levels". Local. */
const char *hw_rule_name(enum hw_rule rule);

/* The result of validating one search; the same on all ranks. */
struct hw_validation {
    hw_count violations[HW_RULES];
    hw_gid example[HW_RULES][2]; /* the least vertex (second is HW_GID_NONE) or edge that
                                    violates it: for rules 1 and 2 a vertex, for 3 a tuple, for 4
                                    either, for 5 parent and child, for `cycle` a vertex or a
                                     step; both HW_GID_NONE if none does */
    hw_count reached;            /* vertices */
    hw_count tuples;             /* input tuples within the traversed component, the Graph500 count:
                                    self-loops and duplicates counted (directed: whose source is
                                    reached) */
};

/* Search trees to validate. Values may be anything: they are checked, not trusted. */
struct hw_tree_batch {
    hw_count k;           /* trees */
    const hw_gid *root;   /* [k] */
    const void *value;    /* [k][slice] row-major, this rank's slice: int32_t levels, -1 where not
                             reached; or distances, see hw_verify_sssp() */
    const hw_gid *parent; /* [k][slice] likewise; -1 where not reached */
    const struct hw_cycle *cycle; /* [k] the same on all ranks, or NULL; shortest paths only */
};

/*
 * Checks k breadth-first trees in as few passes over the tuples as memory allows: 64 trees cost
 * about four times one, so pass many at once. Violations are no error of this function.
 *
 * What counts as a violation, for a root r, once each:
 *   tree         the root, if it is not its own parent; a vertex whose parent is
 *                neither -1 nor a vertex, or whose parents lead into a cycle,
 *                that of a vertex that is its own parent included
 *   tree-levels  the root, if its level is not 0; a vertex with a parent, if its
 *                level is not one more than the parent's, both being reached
 *   edge-levels  a tuple whose ends differ by more than one in level, or of which
 *                just one is reached (directed: level[v] > level[u] + 1, or u
 *                reached and v not); reached means a level that is not -1
 *   spans        a tuple of which just one end is reached (directed: out of the
 *                reached set); a reached vertex without a parent; a vertex whose
 *                parents end elsewhere than at the root
 *   tree-edges   a vertex and parent that no tuple joins (directed: no tuple
 *                parent -> vertex)
 *
 * validation: [k]. The digests of the tuples read are verified on the way.
 * Returns HW_BAD_INPUT if a root is no vertex or the graph file is broken,
 * HW_RESOURCES if one root does not fit in memory.
 * Collective over ctx->world.
 */
enum hw_status hw_verify_bfs(const struct hw_context *ctx, struct hw_graph *graph,
                             const struct hw_tree_batch *trees, struct hw_validation *validation,
                             struct hw_error *err);

/*
 * Checks k trees of shortest paths. The rules are those of hw_verify_bfs() with
 * distances in place of levels, in the arithmetic of hw_result (lib/engine/core/result.h):
 *   tree         as there; acyclic parents are checked themselves, since zero
 *                weights make tight cycles possible
 *   tree-levels  the root, if its distance is not 0; a vertex whose distance is
 *                not its parent's plus the weight of some tuple between them
 *                (undirected: in either direction), counted here where such a
 *                tuple exists and under tree-edges where none does
 *   edge-levels  a tuple u -> v (undirected: either way) with d[v] > d[u] + w, or
 *                of which just one end is reached (directed: u reached, v not);
 *                a reached tuple of negative weight that is a negative cycle by
 *                itself: a self-loop, and in an undirected graph every one
 *   spans, tree-edges  as there
 * A vertex is reached if it has a parent (not -1) or a distance that does not say
 * unreached. A reached vertex whose distance is no number, or infinite, agrees
 * with nothing; integers beyond 2^62 either way are taken for that.
 *
 * trees->value: [k][slice] float or int64_t by the graph's weights; INFINITY or -1
 * where not reached (where weights are negative a distance may be -1 too: parent
 * -1 marks what is not).
 *
 * trees->cycle: where length > 0 the search ended with that cycle: then rule `cycle` alone is
 * checked. It counts the steps that are no tuples (undirected: in either direction), else the
 * cycle's first vertex if the exact sum of the lightest tuples is not negative, or not as stated;
 * and the vertices that are reached, which none should be.
 *
 * Everything else as for hw_verify_bfs(). HW_BAD_INPUT for a graph without
 * weights. Collective.
 */
enum hw_status hw_verify_sssp(const struct hw_context *ctx, struct hw_graph *graph,
                              const struct hw_tree_batch *trees, struct hw_validation *validation,
                              struct hw_error *err);

/*
 * Bytes that hw_verify_bfs() needs at least on the largest rank, beyond the
 * trees, to check k trees (at most 64 at a time) in the fewest passes, where
 * every level is at most 252. With less it takes smaller batches, down to one
 * tree. Local.
 */
hw_count hw_verify_bytes(const struct hw_graph_desc *graph, int ranks, int threads, hw_count k);

/* The same of hw_verify_sssp(), where every integer distance lies between -2^29 and
 * 2^29, cycles aside (32 bytes a step on every rank). Local. */
hw_count hw_verify_sssp_bytes(const struct hw_graph_desc *graph, int ranks, int threads,
                              hw_count k);

/* The adjacency of a small graph, whole on rank 0; opaque. */
struct hw_reference;

/*
 * Reads all tuples into rank 0, with their weights or without: the oracle behind
 * `hopwave-validate --reference`, written independently of every engine.
 *
 * Returns HW_RESOURCES if the graph does not fit there, HW_BAD_INPUT where weights
 * are wanted and it has none. Collective.
 */
enum hw_status hw_reference_open(const struct hw_context *ctx, struct hw_graph *graph, bool weights,
                                 struct hw_reference **reference, struct hw_error *err);

/* Bytes that hw_reference_open() and a search take on rank 0. Local. */
hw_count hw_reference_bytes(const struct hw_graph_desc *graph, bool weights);

/* Levels from root by a serial breadth-first search. level: [vertices] on rank
 * 0, not used elsewhere. Collective. */
enum hw_status hw_reference_levels(const struct hw_context *ctx, struct hw_reference *reference,
                                   hw_gid root, int32_t *level, struct hw_error *err);

/*
 * Distances from root by a serial search in the arithmetic of hw_result
 * (lib/engine/core/result.h): Dijkstra's, or Bellman and Ford's where some weight is
 * negative. The reference must have been opened with weights. distance: [vertices] float or int64_t
 * by the graph's weights on rank 0, not used elsewhere. negative_cycle: set on all ranks; then
 * distances are not meaningful. HW_BAD_INPUT where rounding keeps distances falling around a cycle
 * that is not negative. Collective.
 */
enum hw_status hw_reference_distances(const struct hw_context *ctx, struct hw_reference *reference,
                                      hw_gid root, void *distance, bool *negative_cycle,
                                      struct hw_error *err);

/* Accepts NULL. Local. */
void hw_reference_close(struct hw_reference *reference);

#endif
