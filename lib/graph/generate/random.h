/*
 * Counter-based random numbers: Philox4x32-10 of Random123 (Salmon et al., SC
 * 2011), so that any rank and thread can make any part of a graph.
 */
#ifndef HOPWAVE_GRAPH_GENERATE_RANDOM_H
#define HOPWAVE_GRAPH_GENERATE_RANDOM_H

#include "lib/base/types.h"

#include <Random123/philox.h>

/*
 * Compiles a function for several x86-64 levels, chosen when the program
 * starts; elsewhere, and under sanitizers, which run too late for that choice,
 * it changes nothing. Such a function must compute in integers, or in floating
 * point without sums of products, so that every clone gives the same bits.
 */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) &&       \
    __GNUC__ >= 12 && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define HW_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define HW_CLONES
#endif

/* What a random number is for. The values are part of the graphs' definition. */
enum hw_random_stream {
    HW_RANDOM_STREAM_EDGE = 1,      /* squares of the levels of an R-MAT tuple */
    HW_RANDOM_STREAM_LABEL = 2,     /* constants of the label hash */
    HW_RANDOM_STREAM_PAIR = 3,      /* keys of the permutation of the pairs */
    HW_RANDOM_STREAM_COUNT = 4,     /* the binomial number of edges */
    HW_RANDOM_STREAM_WEIGHT = 5,    /* weights of tuples */
    HW_RANDOM_STREAM_POTENTIAL = 6, /* potentials of vertices */
    HW_RANDOM_STREAM_ROOT = 7,      /* keys of vertices, in whose order roots are sampled */
    HW_RANDOM_STREAM_REWIRE = 8,    /* new ends of the edges of small worlds */
    HW_RANDOM_STREAM_ROAD = 9,      /* which roads a junction has */
    HW_RANDOM_STREAM_POINT = 10,    /* places of vertices */
};

/* 128 random bits. */
struct hw_random {
    uint32_t word[4];
};

/*
 * Block `index` of a stream: Philox4x32-10 with key (seed low, seed high) and
 * counter (index low, index high, part, stream). part: for indices that need
 * more than one block. Local.
 */
static inline HW_KERNEL_CALLABLE struct hw_random
hw_random(uint64_t seed, enum hw_random_stream stream, uint64_t index, uint32_t part)
{
    philox4x32_key_t key = {{(uint32_t)seed, (uint32_t)(seed >> 32)}};
    philox4x32_ctr_t counter = {{(uint32_t)index, (uint32_t)(index >> 32), part, (uint32_t)stream}};
    philox4x32_ctr_t made = philox4x32(counter, key);

    struct hw_random random = {{made.v[0], made.v[1], made.v[2], made.v[3]}};

    return random;
}

/* Half of a block as 64 bits: words 2 half (low) and 2 half + 1 (high). Local. */
static inline HW_KERNEL_CALLABLE uint64_t hw_random_u64(const struct hw_random *random, int half)
{
    return random->word[2 * half] | (uint64_t)random->word[2 * half + 1] << 32;
}

/* The whole number below `bound` that 64 random bits name: the high half of
 * their product. Local. */
static inline HW_KERNEL_CALLABLE uint64_t hw_random_below(uint64_t bits, uint64_t bound)
{
    return (uint64_t)(((unsigned __int128)bits * bound) >> 64);
}

/* Tuples that generators make at a time. */
#define HW_RANDOM_BATCH 256

/* Blocks of indices first .. first+HW_RANDOM_BATCH-1, by word: words[w][i].
 * Local. */
void hw_random_batch(uint64_t seed, enum hw_random_stream stream, uint64_t first, uint32_t part,
                     uint32_t words[4][HW_RANDOM_BATCH]);

#endif
