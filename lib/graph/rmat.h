/*
 * R-MAT graphs (Chakrabarti, Zhan and Faloutsos, SDM 2004): a tuple descends
 * `scale` levels of a quartered matrix. Six levels are drawn at once by the
 * alias method from 32 bits, 24 levels from one Philox block. doc/graphs.md has
 * the algorithm as others can repeat it.
 */
#ifndef HOPWAVE_GRAPH_RMAT_H
#define HOPWAVE_GRAPH_RMAT_H

#include "base/types.h"

/* Levels of one draw, and what it may bring: their bits of the source above
 * those of the target. */
#define HW_RMAT_LEVELS 6
#define HW_RMAT_OUTCOMES (1 << 2 * HW_RMAT_LEVELS)

/* A keyed bijection on [0, 2^bits): a sum, then odd products and folded shifts. */
#define HW_LABEL_ROUNDS 4
struct hw_label_hash {
    int bits;
    uint64_t add, multiply[HW_LABEL_ROUNDS];
};

/* A generator; plain values, nothing to free. */
struct hw_rmat {
    uint64_t seed;
    int scale;
    bool scramble;
    struct hw_label_hash hash;
    uint32_t alias[HW_RMAT_OUTCOMES]; /* threshold above, alias of 12 bits below */
};

/* The hash of a graph's labels. bits: 0 to 40. Local. */
struct hw_label_hash hw_label_hash(uint64_t seed, int bits);

/* The label of an id. Local. */
uint64_t hw_label(const struct hw_label_hash *hash, uint64_t id);

/*
 * Fills in a generator. abcd: probabilities of the quarters, upper left, upper
 * right, lower left and lower right; they are divided by their sum. scale: 0 to 40. Local.
 */
void hw_rmat_init(struct hw_rmat *rmat, int scale, const double abcd[4], uint64_t seed,
                  bool scramble);

/* Makes tuples [first, first+count) into source and target, one thread. Local. */
void hw_rmat_make(const struct hw_rmat *rmat, hw_count first, hw_count count, hw_gid *source,
                  hw_gid *target);

#endif
