/*
 * R-MAT graphs (Chakrabarti, Zhan and Faloutsos, SDM 2004): a tuple descends
 * `scale` levels of a quartered matrix. Six levels are drawn at once by the
 * alias method from 32 bits, 24 levels from one Philox block. doc/graphs.md has
 * the algorithm as others can repeat it.
 */
#ifndef HOPWAVE_GRAPH_GENERATE_RMAT_H
#define HOPWAVE_GRAPH_GENERATE_RMAT_H

#include "lib/graph/generate/random.h"

/* Levels of one draw, and what it may bring: their bits of the source above
 * those of the target. */
#define HW_RMAT_LEVELS 6
#define HW_RMAT_OUTCOMES (1 << 2 * HW_RMAT_LEVELS)

/* Levels of a Philox block, whose words are four draws. */
#define HW_RMAT_DRAWS 4
#define HW_RMAT_BLOCK_LEVELS (HW_RMAT_DRAWS * HW_RMAT_LEVELS)

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
static inline HW_KERNEL_CALLABLE uint64_t hw_label(const struct hw_label_hash *hash, uint64_t id)
{
    const uint64_t mask = ((uint64_t)1 << hash->bits) - 1;
    const int half = hash->bits > 1 ? (hash->bits + 1) / 2 : 1;
    uint64_t x = id + hash->add;

    for (int round = 0; round < HW_LABEL_ROUNDS; round++) {
        x = x * hash->multiply[round] & mask;
        x ^= x >> half;
    }
    return x;
}

/* What 32 random bits draw: the column of the alias table above, a place in it below.
 * Local. */
static inline HW_KERNEL_CALLABLE uint32_t hw_rmat_outcome(const uint32_t *alias, uint32_t draw)
{
    const int column_bits = 32 - 2 * HW_RMAT_LEVELS;
    uint32_t own = draw >> column_bits, entry = alias[own];

    return (draw & (((uint32_t)1 << column_bits) - 1)) < entry >> 2 * HW_RMAT_LEVELS
               ? own
               : entry & (HW_RMAT_OUTCOMES - 1);
}

/*
 * Fills in a generator. abcd: probabilities of the quarters, upper left, upper
 * right, lower left and lower right; they are divided by their sum. scale: 0 to 40. Local.
 */
void hw_rmat_init(struct hw_rmat *rmat, int scale, const double abcd[4], uint64_t seed,
                  bool scramble);

/* Makes one tuple, with the generator's alias table or a copy of it. hw_rmat_make() makes
 * the same ones faster on CPUs. Local. */
static inline HW_KERNEL_CALLABLE void hw_rmat_tuple(const struct hw_rmat *rmat,
                                                    const uint32_t *alias, uint64_t index,
                                                    uint64_t *source, uint64_t *target)
{
    const int blocks = rmat->scale > HW_RMAT_BLOCK_LEVELS ? 2 : 1;
    const int excess = blocks * HW_RMAT_BLOCK_LEVELS - rmat->scale;
    uint64_t row = 0, column = 0;

    for (int b = 0; b < blocks; b++) {
        struct hw_random random = hw_random(rmat->seed, HW_RANDOM_STREAM_EDGE, index, (uint32_t)b);
        for (int w = 0; w < HW_RMAT_DRAWS; w++) {
            uint32_t outcome = hw_rmat_outcome(alias, random.word[w]);
            row = row << HW_RMAT_LEVELS | outcome >> HW_RMAT_LEVELS;
            column = column << HW_RMAT_LEVELS | (outcome & ((1u << HW_RMAT_LEVELS) - 1));
        }
    }
    *source = rmat->scramble ? hw_label(&rmat->hash, row >> excess) : row >> excess;
    *target = rmat->scramble ? hw_label(&rmat->hash, column >> excess) : column >> excess;
}

/* Makes tuples [first, first+count) into source and target, one thread. Local. */
void hw_rmat_make(const struct hw_rmat *rmat, hw_count first, hw_count count, hw_gid *source,
                  hw_gid *target);

#endif
