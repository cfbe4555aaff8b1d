/*
 * Random geometric graphs (Gilbert 1961; Penrose 2003) in two and three dimensions: points are
 * linked that are no further apart than a radius, which follows from the expected degree.
 *
 * The points are stratified: the area is a grid of square cells, each with the same number of
 * points, which are independent and uniform in it. Hence the cell and the place of a point follow
 * from its number, and any rank makes any cell. A cell has several times as many points as a point
 * has neighbours, so that degrees vary nearly as among points that are independent in the whole
 * area. How many tuples lie before a cell is no closed form: they are counted by groups of cells
 * once (hw_geometric_count_group()), after which tuples are made by their index.
 */
#ifndef HOPWAVE_GRAPH_GENERATE_SPATIAL_GEOMETRIC_H
#define HOPWAVE_GRAPH_GENERATE_SPATIAL_GEOMETRIC_H

#include "lib/graph/generate/random.h"
#include "lib/graph/generate/spatial/lattice.h"

/* Expected degrees and scales at most. */
#define HW_GEOMETRIC_DEGREE_MAX 256
#define HW_GEOMETRIC_SCALE_MAX 36

/* A cell has this many units of place to a side, of which a radius may have as many. */
#define HW_GEOMETRIC_UNIT_BITS 24

/* Points of a group at least, where there are as many. */
#define HW_GEOMETRIC_GROUP_POINTS 128

/* Units of length in a side of a cell. */
#define HW_GEOMETRIC_LENGTH 1024

/* A generator. Free first_edge. */
struct hw_geometric {
    int dimensions;
    uint64_t seed;
    uint64_t points;               /* in a cell */
    uint64_t cells[HW_DIMENSIONS]; /* of the grid, in each dimension; 1 where there is none */
    uint64_t reach;                /* square of the radius, in square units of place */
    hw_count group_cells, groups;  /* cells of a group; the last may have fewer */
    hw_count *first_edge;          /* [groups+1] tuples before each group; NULL until counted */
};

/* Fills in a generator of 2^scale points. Returns whether some radius up to the side of a cell has
 * the expected degree; there is none where vertices are few. Local. */
bool hw_geometric_init(struct hw_geometric *geometric, int scale, int dimensions, double degree,
                       uint64_t seed);

/* How many tuples a group has. One thread. Local. */
hw_count hw_geometric_count_group(const struct hw_geometric *geometric, hw_count group);

/*
 * Makes tuples [first, first+count) into source and target, once first_edge is there, and their
 * lengths unless that is NULL: 1 and the distance in HW_GEOMETRIC_LENGTH parts of a cell's side,
 * rounded down. One thread. Local.
 */
void hw_geometric_make(const struct hw_geometric *geometric, hw_count first, hw_count count,
                       hw_gid *source, hw_gid *target, union hw_weight *length);

#endif
