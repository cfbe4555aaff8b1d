/*
 * Options of `bellman-ford` and `near-far` on one GPU: how they relax (Busato, Bombieri: An
 * Efficient Implementation of the Bellman-Ford Algorithm for Kepler GPU Architectures).
 */
#ifndef HOPWAVE_GPU_SSSP_BELLMAN_RELAXATION_OPTIONS_H
#define HOPWAVE_GPU_SSSP_BELLMAN_RELAXATION_OPTIONS_H

#include "lib/engine/core/engine_options.h"

/* Where the frontier comes from: a queue; a sweep over all vertices for the improved ones; or every
 * iteration relaxes all vertices. */
enum hw_frontier { HW_FRONTIER_AUTO, HW_FRONTIER_QUEUE, HW_FRONTIER_SWEEP, HW_FRONTIER_NONE };

/* How duplicates are recognized: words of distance and phase, or marks in an array of their own;
 * off: not at all. */
enum hw_removal { HW_REMOVAL_AUTO, HW_REMOVAL_WORDS, HW_REMOVAL_MARKS, HW_REMOVAL_OFF };

/* What relaxes long lists: blocks, dynamic parallelism, or the warps that relax all lists. */
enum hw_long_lists { HW_LONG_LISTS_BLOCKS, HW_LONG_LISTS_DYNAMIC, HW_LONG_LISTS_OFF };

/* The configuration of a search. */
struct hw_relaxation_config {
    enum hw_frontier frontier;
    enum hw_removal removal; /* OFF: a vertex may enter the frontier more than once */
    enum hw_long_lists long_lists;
    int64_t min_long_list; /* edges from which a list is long */
    int64_t lanes;         /* for each vertex: 0: shared by 32 vertices; 1: by the frontier's
                              size, within the following bounds; else 2 to 32 */
    int64_t min_lanes, max_lanes;
    int64_t warp_vertices; /* vertices that a warp takes at a time */
    int64_t hub_tiers;     /* -1: the method's default */
    bool edge_classes;     /* treat edges to and from special vertices apart */
    bool cache_hints, coalesced_enqueue;
    bool host_phases; /* the host launches each phase */
    bool relax_again; /* relax vertices again whose distance has not changed since */
};

/* The configuration that options mean. Local. */
struct hw_relaxation_config hw_relaxation_config(const struct hw_engine_options *options);

#endif
