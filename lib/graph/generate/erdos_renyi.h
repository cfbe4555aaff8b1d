/*
 * Erdős–Rényi graphs (Gilbert 1959; Erdős and Rényi 1959): edges e = 0, 1, ...
 * are perm(e) for a keyed permutation of all pairs of vertices, hence distinct,
 * without loops, and made in any order.
 *
 * The pairs form a rectangle of `wide` x `high` cells, so that neither a square
 * root nor cycle walking is needed. With n vertices:
 *   directed     wide = n,   high = n-1:     (x, (x + 1 + y) mod n)
 *   n odd        wide = n,   high = (n-1)/2: {x, (x + 1 + y) mod n}
 *   n even       wide = n-1, high = n/2:     {x, (x + y) mod (n-1)}, or {x, n-1}
 *                                            where y = 0
 * The permutation is a Feistel network over Z_wide x Z_high.
 */
#ifndef HOPWAVE_GRAPH_GENERATE_ERDOS_RENYI_H
#define HOPWAVE_GRAPH_GENERATE_ERDOS_RENYI_H

#include "lib/graph/generate/random.h"

#define HW_PAIR_ROUNDS 12

/* Counts of pairs may need more than 64 bits. */
typedef unsigned __int128 hw_pair_count;

/* A generator; plain values, nothing to free. */
struct hw_pairs {
    uint64_t wide, high; /* 0 if there are no pairs */
    uint64_t vertices;
    bool directed;
    uint64_t key[HW_PAIR_ROUNDS];
};

/* How many pairs there are: n(n-1), or half of it if undirected. Local. */
hw_pair_count hw_pair_total(hw_gid vertices, bool directed);

/* Fills in a generator. vertices: 1 to 2^40. Local. */
void hw_pairs_init(struct hw_pairs *pairs, hw_gid vertices, bool directed, uint64_t seed);

/* One step of the permutation: (x + F(key, other)) mod bound, x < bound. Local. */
static inline HW_KERNEL_CALLABLE uint64_t hw_pair_step(uint64_t x, uint64_t other, uint64_t key,
                                                       uint64_t bound)
{
    uint64_t mixed = (other + key) * UINT64_C(0xBF58476D1CE4E5B9);

    mixed = (mixed ^ mixed >> 32) * UINT64_C(0x94D049BB133111EB);
    x += hw_random_below(mixed, bound);
    return x < bound ? x : x - bound;
}

/* The two ends of the pair in cell (x, y). Local. */
static inline HW_KERNEL_CALLABLE void hw_pair_ends(const struct hw_pairs *pairs, uint64_t x,
                                                   uint64_t y, uint64_t *source, uint64_t *target)
{
    bool even = !pairs->directed && pairs->vertices % 2 == 0;
    uint64_t other = x + y + !even;

    other = other < pairs->wide ? other : other - pairs->wide;
    *source = x;
    *target = even && y == 0 ? pairs->vertices - 1 : other;
}

/* Makes one edge, below the number of pairs. hw_pairs_make() makes the same ones faster on
 * CPUs. Local. */
static inline HW_KERNEL_CALLABLE void hw_pair_tuple(const struct hw_pairs *pairs, uint64_t index,
                                                    uint64_t *source, uint64_t *target)
{
    uint64_t x = index % pairs->wide, y = index / pairs->wide;

    for (int round = 0; round < HW_PAIR_ROUNDS; round += 2) {
        y = hw_pair_step(y, x, pairs->key[round], pairs->high);
        x = hw_pair_step(x, y, pairs->key[round + 1], pairs->wide);
    }
    hw_pair_ends(pairs, x, y, source, target);
}

/* Makes edges [first, first+count), all below the number of pairs, into source
 * and target; one thread. Local. */
void hw_pairs_make(const struct hw_pairs *pairs, hw_count first, hw_count count, hw_gid *source,
                   hw_gid *target);

/*
 * A sample of Binomial(pairs, probability), the number of edges of G(n,p), that
 * the seed determines. Below a mean of 10 successes by geometric steps, above by
 * Hörmann's transformed rejection BTRS (1993) with the probabilities of Loader
 * (2000), which stay exact to rounding for any number of pairs. Local.
 */
hw_pair_count hw_pairs_binomial(hw_pair_count pairs, double probability, uint64_t seed);

#endif
