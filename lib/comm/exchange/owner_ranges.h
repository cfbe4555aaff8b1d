/*
 * Which rank owns which vertices: contiguous ranges of the graph's ids.
 */
#ifndef HOPWAVE_COMM_EXCHANGE_OWNER_RANGES_H
#define HOPWAVE_COMM_EXCHANGE_OWNER_RANGES_H

#include "lib/base/types.h"

/* The ranges of all ranks. hw_block_distribution_make() (lib/store/block_distribution.h) makes
 * those by which files are divided. */
struct hw_block_distribution {
    hw_gid vertices;
    int ranks;
    hw_gid *first;  /* [ranks+1]; the last is `vertices` */
    double inverse; /* ranks / vertices, for a first guess */
};

/* The rank that owns vertex v, 0 <= v < vertices. Local. */
static inline int hw_block_distribution_owner(const struct hw_block_distribution *owners, hw_gid v)
{
    int rank = (int)((double)v * owners->inverse);

    if (rank >= owners->ranks)
        rank = owners->ranks - 1;
    while (v < owners->first[rank])
        rank--;
    while (v >= owners->first[rank + 1])
        rank++;
    return rank;
}

#endif
