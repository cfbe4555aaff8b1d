/*
 * Which rank holds which vertices: contiguous slices of the graph's ids, as
 * hw_store_share() cuts them.
 */
#ifndef HOPWAVE_STORE_BLOCK_DISTRIBUTION_H
#define HOPWAVE_STORE_BLOCK_DISTRIBUTION_H

#include "lib/base/status.h"
#include "lib/base/types.h"

/* The slices of all ranks. Free with hw_block_distribution_free(). */
struct hw_block_distribution {
    hw_gid vertices;
    int ranks;
    hw_gid *first;  /* [ranks+1]; the last is `vertices` */
    double inverse; /* ranks / vertices, for a first guess */
};

/* Local. */
enum hw_status hw_block_distribution_make(hw_gid vertices, int ranks,
                                          struct hw_block_distribution *slices,
                                          struct hw_error *err);
void hw_block_distribution_free(struct hw_block_distribution *slices);

/* The rank that holds vertex v, 0 <= v < vertices. Local. */
static inline int hw_block_distribution_owner(const struct hw_block_distribution *slices, hw_gid v)
{
    int rank = (int)((double)v * slices->inverse);

    if (rank >= slices->ranks)
        rank = slices->ranks - 1;
    while (v < slices->first[rank])
        rank--;
    while (v >= slices->first[rank + 1])
        rank++;
    return rank;
}

#endif
