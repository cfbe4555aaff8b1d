/*
 * Which rank owns a vertex while parts are built.
 *
 * Vertices are assigned to the ranks in groups of as many consecutive graph ids as there are
 * ranks. Each group is rotated by a hash of its number: ids with a pattern (unscrambled R-MAT)
 * are then balanced as well as random ones. The vertices of a rank are numbered by rising
 * graph id. Kernels use these functions too.
 */
#ifndef HOPWAVE_LAYOUT_BUILD_VERTEX_DISTRIBUTION_H
#define HOPWAVE_LAYOUT_BUILD_VERTEX_DISTRIBUTION_H

#include "lib/base/fast_divide.h"
#include "lib/base/types.h"

struct hw_vertex_distribution {
    int ranks;
    hw_gid vertices;
    struct hw_divisor by; /* ranks */
};

/* The owner of a vertex, and its number there. */
struct hw_vertex_slot {
    int rank;
    hw_lid local;
};

/* vertices of a graph over `ranks` ranks. Local. */
static inline struct hw_vertex_distribution hw_vertex_distribution(hw_gid vertices, int ranks)
{
    struct hw_vertex_distribution distribution = {ranks, vertices, hw_divisor((uint64_t)ranks)};

    return distribution;
}

/* How many ranks a group is rotated by: 0 to ranks-1. Local. */
static inline HW_KERNEL_CALLABLE uint64_t
hw_vertex_distribution_rotation(const struct hw_vertex_distribution *distribution, uint64_t group)
{
    return ((group * 0x9e3779b97f4a7c15u >> 32) * (uint64_t)distribution->ranks) >> 32;
}

/* The owner and number of a vertex. Local. */
static inline HW_KERNEL_CALLABLE struct hw_vertex_slot
hw_vertex_distribution_slot(const struct hw_vertex_distribution *distribution, hw_gid vertex)
{
    uint64_t ranks = (uint64_t)distribution->ranks;
    struct hw_vertex_slot slot = {0, (hw_lid)vertex};

    if (ranks == 1)
        return slot;
    uint64_t group = hw_fast_divide(distribution->by, (uint64_t)vertex);
    uint64_t rank =
        (uint64_t)vertex - group * ranks + hw_vertex_distribution_rotation(distribution, group);
    slot.rank = (int)(rank < ranks ? rank : rank - ranks);
    slot.local = (hw_lid)group;
    return slot;
}

/* The vertex that `rank` owns as number `local`; it may lie past the last vertex. Local. */
static inline HW_KERNEL_CALLABLE hw_gid hw_vertex_distribution_vertex(
    const struct hw_vertex_distribution *distribution, int rank, hw_gid local)
{
    uint64_t ranks = (uint64_t)distribution->ranks;
    uint64_t rotated =
        (uint64_t)rank + ranks - hw_vertex_distribution_rotation(distribution, (uint64_t)local);

    return local * distribution->ranks + (hw_gid)(rotated < ranks ? rotated : rotated - ranks);
}

/* How many vertices `rank` owns. Local. */
static inline hw_count
hw_vertex_distribution_count(const struct hw_vertex_distribution *distribution, int rank)
{
    hw_count groups = distribution->vertices / distribution->ranks;

    return groups +
           (hw_vertex_distribution_vertex(distribution, rank, groups) < distribution->vertices);
}

#endif
