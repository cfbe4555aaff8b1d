/*
 * Who keeps a vertex while parts are built.
 *
 * Vertices are dealt to the ranks in groups of as many consecutive graph ids as
 * there are ranks; each group is turned by a hash of its number, so that ids
 * with a pattern (unscrambled R-MAT) are spread as evenly as random ones. What a
 * rank keeps is numbered by rising graph id.
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

/* Where one vertex is kept. */
struct hw_seat {
    int rank;
    hw_lid local;
};

static inline struct hw_vertex_distribution hw_vertex_distribution(hw_gid vertices, int ranks)
{
    struct hw_vertex_distribution spread = {ranks, vertices, hw_divisor((uint64_t)ranks)};

    return spread;
}

/* By how much a group is turned: 0 to ranks-1. */
static inline HW_DEVICE uint64_t
hw_vertex_distribution_group(const struct hw_vertex_distribution *spread, uint64_t group)
{
    return ((group * 0x9e3779b97f4a7c15u >> 32) * (uint64_t)spread->ranks) >> 32;
}

static inline HW_DEVICE struct hw_seat
hw_vertex_distribution_slot(const struct hw_vertex_distribution *spread, hw_gid vertex)
{
    uint64_t ranks = (uint64_t)spread->ranks;
    struct hw_seat seat = {0, (hw_lid)vertex};

    if (ranks == 1)
        return seat;
    uint64_t group = hw_divide(spread->by, (uint64_t)vertex);
    uint64_t rank = (uint64_t)vertex - group * ranks + hw_vertex_distribution_group(spread, group);
    seat.rank = (int)(rank < ranks ? rank : rank - ranks);
    seat.local = (hw_lid)group;
    return seat;
}

/* The vertex that rank keeps as `local`; it may lie past the last vertex. */
static inline HW_DEVICE hw_gid
hw_vertex_distribution_vertex(const struct hw_vertex_distribution *spread, int rank, hw_gid local)
{
    uint64_t ranks = (uint64_t)spread->ranks;
    uint64_t turned =
        (uint64_t)rank + ranks - hw_vertex_distribution_group(spread, (uint64_t)local);

    return local * spread->ranks + (hw_gid)(turned < ranks ? turned : turned - ranks);
}

/* How many vertices rank keeps. */
static inline hw_count hw_vertex_distribution_count(const struct hw_vertex_distribution *spread,
                                                    int rank)
{
    hw_count groups = spread->vertices / spread->ranks;

    return groups + (hw_vertex_distribution_vertex(spread, rank, groups) < spread->vertices);
}

#endif
