/*
 * The Graph500 graph, bit for bit as the reference generator (version 3.0)
 * makes it, edges and weights, at any place of the list.
 */
#ifndef HOPWAVE_GRAPH_GRAPH500_H
#define HOPWAVE_GRAPH_GRAPH500_H

#include "graph/mrg.h"

/* Bits of a tuple's index that can be skipped to. */
#define HW_GRAPH500_INDEX_BITS 50

/* A generator; plain values, nothing to free. */
struct hw_graph500 {
    int scale;
    struct hw_mrg start;                               /* the state of tuple 0 */
    struct hw_mrg_matrix skip[HW_GRAPH500_INDEX_BITS]; /* of 2^k tuples */
    uint64_t scramble[2];                              /* val0 and val1 of the reference */
};

/* Fills in a generator. scale: 1 to 40. Local. */
void hw_graph500_init(struct hw_graph500 *graph, int scale, uint64_t seed1, uint64_t seed2);

/* The label of an id. Local. */
uint64_t hw_graph500_label(const struct hw_graph500 *graph, uint64_t id);

/*
 * Makes tuples [first, first+count) into source and target, and their weights
 * unless weight is NULL; one thread. Local.
 */
void hw_graph500_make(const struct hw_graph500 *graph, hw_count first, hw_count count,
                      hw_gid *source, hw_gid *target, union hw_weight *weight);

#endif
