/*
 * Trees that stay in the engine's memory (a device's), where they are validated
 * or counted, for runs that store no trees.
 *
 * Either open() or open_counting() is called once. From then on search() with
 * result->parent NULL copies no tree to the host.
 */
#ifndef HOPWAVE_ENGINE_CORE_TREE_CACHE_H
#define HOPWAVE_ENGINE_CORE_TREE_CACHE_H

#include "lib/base/status.h"
#include "lib/base/types.h"

struct hw_graph;
struct hw_reached_counts;
struct hw_validation;

/* All functions are collective unless they say otherwise. */
struct hw_tree_cache {
    /* Reserves memory for up to *capacity trees of searches in this graph, and lowers *capacity
     * to what fits; HW_RESOURCES where not even one does. */
    enum hw_status (*open)(void *engine, struct hw_graph *graph, int *capacity,
                           struct hw_error *err);

    /* Stores the tree of the last search, from this root. Local. */
    enum hw_status (*keep)(void *engine, hw_gid root, struct hw_error *err);

    /* Validates the stored trees, by the rules and with the results of hw_verify_bfs() or
     * hw_verify_sssp(), and empties the cache. validation, levels: [stored trees], in the order of
     * keep(); levels: number of nonempty levels, -1 for shortest paths. */
    enum hw_status (*validate)(void *engine, struct hw_validation *validation, hw_count *levels,
                               struct hw_error *err);

    /* Allocates memory to count what searches reach, without storing trees; HW_RESOURCES where
     * there is too little. Local. */
    enum hw_status (*open_counting)(void *engine, struct hw_error *err);

    /* Counts what the last search reached. Local. */
    enum hw_status (*count)(void *engine, struct hw_reached_counts *counts, struct hw_error *err);
};

#endif
