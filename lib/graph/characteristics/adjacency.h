/*
 * Lists of neighbours of a graph, by slices of its ids: what its characteristics are taken from.
 * Directions are left out; loops and duplicates too, and counted.
 */
#ifndef HOPWAVE_GRAPH_CHARACTERISTICS_ADJACENCY_H
#define HOPWAVE_GRAPH_CHARACTERISTICS_ADJACENCY_H

#include "lib/comm/exchange/owner_ranges.h"
#include "lib/graph/graph.h"

/* This rank's lists. Zero-initialise. */
struct hw_adjacency {
    const struct hw_context *ctx;
    struct hw_block_distribution owners;
    hw_gid first;               /* vertex of the first list */
    hw_count own;               /* lists */
    hw_count *start;            /* [own+1] */
    hw_gid *neighbor;           /* [start[own]], each list ascending */
    hw_count *degree;           /* [own] neighbours; in directed graphs those that edges lead to */
    hw_count loops, duplicates; /* tuples, of all ranks */
};

/*
 * Reads the edges of a graph, verifies their digests and makes the lists. Requires memory for all
 * that is done with them: 48 bytes for each of the rank's share of the tuples, 64 for each of its
 * vertices. HW_BAD_INPUT, HW_RESOURCES. Collective; ranks agree.
 */
enum hw_status hw_adjacency_build(const struct hw_context *ctx, struct hw_graph *graph,
                                  struct hw_adjacency *adjacency, struct hw_error *err);

/* Accepts a zero-initialised one. Local. */
void hw_adjacency_free(struct hw_adjacency *adjacency);

/*
 * The components of the graph without directions: label: [own], the least id of the vertex's
 * component. FastSV (Zhang, Azad and Hu, PP20). Collective; ranks agree.
 */
enum hw_status hw_adjacency_components(const struct hw_adjacency *adjacency, hw_gid *label,
                                       struct hw_error *err);

/*
 * A breadth-first search without directions: *levels, the level of the last vertices reached, and
 * *farthest, the one of least id among them. Collective; ranks agree.
 */
enum hw_status hw_adjacency_search(const struct hw_adjacency *adjacency, hw_gid root,
                                   hw_count *levels, hw_gid *farthest, struct hw_error *err);

#endif
