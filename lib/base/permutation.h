/*
 * A keyed bijection of [0, count): a Feistel network of four rounds over the
 * smallest even number of bits that holds count, repeated until the result is below
 * count (cycle walking; fewer than four steps on average). No table, any
 * element at once.
 */
#ifndef HOPWAVE_BASE_PERMUTATION_H
#define HOPWAVE_BASE_PERMUTATION_H

#include <stdint.h>

enum { HW_PERMUTATION_ROUNDS = 4 };

/* Made by hw_permutation(); a value, nothing to free. */
struct hw_permutation {
    uint64_t count;
    int half; /* bits of each half */
    uint64_t key[HW_PERMUTATION_ROUNDS];
};

/* The bijection of [0, count) that belongs to seed; 1 <= count <= 2^62. Local. */
struct hw_permutation hw_permutation(uint64_t count, uint64_t seed);

/* The image of i < count. Local. */
uint64_t hw_permute(const struct hw_permutation *permutation, uint64_t i);

/* The finalizer of SplitMix64: a fixed bijection of 64-bit words that mixes
 * well. Local. */
static inline uint64_t hw_mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

#endif
