/*
 * Graphs like road networks: planar, connected, of mean degree 8/3 and a diameter that grows as
 * the square root of the number of vertices.
 *
 * Junctions are the points of a grid of X times Y, each moved a little. Every junction but the
 * first has a road to its western or its northern neighbour, which of the two by a coin: a spanning
 * tree whose paths to the first junction never turn back. Of every three junctions in a row one has
 * the other road, too. The graph is a part of the grid, hence planar, and the distance of two
 * junctions is at least that on the grid.
 */
#ifndef HOPWAVE_GRAPH_GENERATE_SPATIAL_ROAD_H
#define HOPWAVE_GRAPH_GENERATE_SPATIAL_ROAD_H

#include "lib/graph/generate/random.h"

/* Units of length from one point of the grid to the next, and how far junctions are moved from
 * it in either direction at most. */
#define HW_ROAD_SPACING 1000
#define HW_ROAD_SHIFT 300

/* A generator; plain values, nothing to free. */
struct hw_road {
    uint64_t seed, size[2];
};

/* Fills in a generator. size: the grid, of 2^40 points at most. Local. */
void hw_road_init(struct hw_road *road, const hw_gid size[2], uint64_t seed);

/* How many tuples there are. Local. */
hw_count hw_road_edges(const struct hw_road *road);

/*
 * Makes tuples [first, first+count) into source and target, and their lengths unless that is NULL:
 * the distance of the junctions in whole units, rounded down. One thread. Local.
 */
void hw_road_make(const struct hw_road *road, hw_count first, hw_count count, hw_gid *source,
                  hw_gid *target, union hw_weight *length);

#endif
