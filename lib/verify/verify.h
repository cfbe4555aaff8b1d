/*
 * Validation of search trees against the input tuples, by the five rules of the
 * Graph500 specification 2.0; never against the structure that was traversed.
 *
 * Vertices are distributed in blocks of rising graph id: rank r holds the slice
 * that hw_store_share(vertices, r, ranks) names.
 */
#ifndef HOPWAVE_VERIFY_VERIFY_H
#define HOPWAVE_VERIFY_VERIFY_H

#include "base/status.h"
#include "base/types.h"
#include "comm/context.h"
#include "graph/graph.h"

/* The rules, in the specification's order. */
enum hw_rule {
    HW_RULE_TREE,        /* 1: a tree rooted at the root: no cycles, root its own parent */
    HW_RULE_TREE_LEVELS, /* 2: a tree edge joins levels that differ by exactly one */
    HW_RULE_EDGE_LEVELS, /* 3: an input edge joins levels that differ by at most one, or neither
                            end is reached (directed u -> v: level[v] <= level[u] + 1) */
    HW_RULE_SPANS,       /* 4: the tree spans the root's component */
    HW_RULE_TREE_EDGES,  /* 5: a vertex and its parent are joined by an input edge */
    HW_RULES
};

/* The name of a rule for messages and files, such as "tree-levels". Local. */
const char *hw_rule_name(enum hw_rule rule);

/* What validation found out about one search; the same on all ranks. */
struct hw_verdict {
    hw_count violations[HW_RULES];
    hw_gid example[HW_RULES][2]; /* one violating vertex (second is HW_GID_NONE) or edge */
    hw_count reached;            /* vertices */
    hw_count tuples;             /* input tuples within the traversed component, the Graph500 count:
                                    self-loops and duplicates counted (directed: whose source is
                                    reached) */
};

/*
 * Checks k breadth-first trees in as few passes over the tuples as memory
 * allows. A verdict with violations is not an error of this function.
 *
 * root: [k]. level, parent: [k][slice], row-major, this rank's slice; -1 where
 * not reached. Values may be anything: they are checked, not trusted.
 * verdict: [k].
 * Collective over ctx->world.
 */
enum hw_status hw_verify_bfs(const struct hw_context *ctx, struct hw_graph *graph, hw_count k,
                             const hw_gid *root, const int32_t *level, const hw_gid *parent,
                             struct hw_verdict *verdict, struct hw_error *err);

/*
 * Levels by a serial breadth-first search over the tuples on rank 0, written
 * independently of every engine: the oracle behind `hopwave-validate
 * --reference`. level: [vertices] on rank 0. HW_RESOURCES if the graph does not
 * fit there. Collective.
 */
enum hw_status hw_reference_bfs(const struct hw_context *ctx, struct hw_graph *graph, hw_gid root,
                                int32_t *level, struct hw_error *err);

#endif
