/*
 * Small worlds (Watts and Strogatz, Nature 393, 1998): a ring whose vertices are linked with the
 * nearest degree/2 on either side; with some probability the far end of an edge is drawn anew.
 */
#ifndef HOPWAVE_GRAPH_GENERATE_SPATIAL_SMALL_WORLD_H
#define HOPWAVE_GRAPH_GENERATE_SPATIAL_SMALL_WORLD_H

#include "lib/graph/generate/random.h"

/* A generator; plain values, nothing to free. */
struct hw_small_world {
    uint64_t seed, vertices;
    uint64_t threshold; /* of 2^53: the probability of a new end */
};

/* Fills in a generator. probability: 0 to 1. Local. */
void hw_small_world_init(struct hw_small_world *world, hw_gid vertices, double probability,
                         uint64_t seed);

/*
 * Makes tuples [first, first+count) into source and target, one thread. Tuple e links vertex e mod
 * n with the one 1 + e div n further on, or with any other vertex, each as likely; new ends may
 * repeat a tuple. Local.
 */
void hw_small_world_make(const struct hw_small_world *world, hw_count first, hw_count count,
                         hw_gid *source, hw_gid *target);

#endif
