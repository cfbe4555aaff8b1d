/*
 * Negative cycles: found among the parents of a Bellman-Ford search, or handed
 * over as an edge, and made into the answer of the search.
 *
 * Detection after "Bellman-Ford SSSP for the Kepler architecture" (section on
 * negative cycles): while a search goes on, its parents form a tree unless a
 * negative cycle was gone around; then they close that cycle.
 */
#ifndef HOPWAVE_ENGINE_SSSP_NEGATIVE_CYCLE_H
#define HOPWAVE_ENGINE_SSSP_NEGATIVE_CYCLE_H

#include "lib/base/status.h"
#include "lib/base/types.h"
#include "lib/comm/context.h"
#include "lib/engine/core/tree_slices.h"
#include "lib/graph/cycle.h"
#include "lib/layout/part.h"

/*
 * Looks for a cycle among parents.
 *
 * parent, weight: [part->own.count] by rising graph id, as in hw_result: graph
 * ids, -1 for none, the root its own; and the weight of the edge from the parent
 * (of the lightest parallel one). tree: the way into slices, opened once by the
 * caller for many calls.
 *
 * *cycle: empty where there is none, or where no cycle is of negative weight in
 * exact arithmetic (float sums round; a cycle of weight zero can close then);
 * else the same on all ranks, in forward direction, with its exact weight; of
 * several, the one with the least vertex, where it begins.
 * Time: a number of rounds logarithmic in the vertices (without a cycle, in the
 * depth of the parents). Returns HW_RESOURCES where memory is short, or where a
 * cycle of integer weights sums to less than 64 bits hold. Collective.
 */
enum hw_status hw_negative_cycle(const struct hw_part *part, struct hw_tree *tree,
                                 const hw_gid *parent, const union hw_weight *weight,
                                 struct hw_cycle *cycle, struct hw_error *err);

/* Bytes that hw_negative_cycle() takes at most on a rank, beyond the cycle it
 * returns (8 a vertex of it) and as much again while that is put in order. Local. */
hw_count hw_negative_bytes(hw_gid vertices, int ranks);

/* An edge of negative weight that alone makes a negative cycle: of an undirected
 * graph, gone along and back; or a self-loop, source and target equal. */
struct hw_negative_edge {
    hw_gid source, target; /* graph ids; HW_GID_NONE for no edge */
    union hw_weight weight;
};

/*
 * Takes the least of the ranks' edges, by (weight, source, target), as the cycle;
 * empty where no rank has one. An edge whose weight is not negative counts as
 * none. weights: the part's. Collective.
 */
enum hw_status hw_negative_least(const struct hw_context *ctx, enum hw_weights weights,
                                 const struct hw_negative_edge *edge, struct hw_cycle *cycle,
                                 struct hw_error *err);

#endif
