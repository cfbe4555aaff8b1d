/*
 * Grids and tori of one to three dimensions: vertex x + X (y + Y z) is linked with its successor in
 * each dimension. Tuples come dimension by dimension, and each follows from its index.
 */
#ifndef HOPWAVE_GRAPH_GENERATE_SPATIAL_LATTICE_H
#define HOPWAVE_GRAPH_GENERATE_SPATIAL_LATTICE_H

#include "lib/base/types.h"

#define HW_DIMENSIONS 3

/* A generator; plain values, nothing to free. */
struct hw_lattice {
    int dimensions;
    uint64_t size[HW_DIMENSIONS], stride[HW_DIMENSIONS];
    bool wrapped[HW_DIMENSIONS];            /* the last vertex is linked with the first */
    uint64_t first_edge[HW_DIMENSIONS + 1]; /* of each dimension */
};

/*
 * Fills in a generator. size: [dimensions], each 1 or more, of product up to 2^40. torus: whether
 * dimensions of more than two vertices are wrapped; fewer would give loops and duplicates. Local.
 */
void hw_lattice_init(struct hw_lattice *lattice, int dimensions, const hw_gid *size, bool torus);

/* How many tuples there are. Local. */
hw_count hw_lattice_edges(const struct hw_lattice *lattice);

/* Makes tuples [first, first+count) into source and target, one thread. Local. */
void hw_lattice_make(const struct hw_lattice *lattice, hw_count first, hw_count count,
                     hw_gid *source, hw_gid *target);

#endif
