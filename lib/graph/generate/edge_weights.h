/*
 * Weights of generated tuples: each depends on the seed and the tuple's index
 * alone, signed ones also on its two ends.
 */
#ifndef HOPWAVE_GRAPH_GENERATE_EDGE_WEIGHTS_H
#define HOPWAVE_GRAPH_GENERATE_EDGE_WEIGHTS_H

#include "lib/graph/generate/random.h"

enum hw_weighting {
    HW_WEIGHTING_NONE,
    HW_WEIGHTING_UNIFORM, /* f32, multiples of 2^-24 in [0, 1) */
    HW_WEIGHTING_INTEGER, /* i32, low to high */
    HW_WEIGHTING_SIGNED,  /* f32, whole, without negative cycles */
    HW_WEIGHTING_LENGTH   /* i32, the distance of the ends: generators' own */
};

/*
 * Signed weights are b + h(source) - h(target), with b from 0 to
 * HW_SIGNED_BASE-1 of the tuple and potentials h from 0 to HW_SIGNED_POTENTIAL-1
 * of the vertices. Around a cycle the potentials cancel, so that its weight is a
 * sum of b and never negative.
 */
#define HW_SIGNED_BASE 8
#define HW_SIGNED_POTENTIAL 16

/* What decides the weights. */
struct hw_weighter {
    enum hw_weighting weighting;
    uint64_t seed;
    int32_t low, high; /* integer weights, both included */
};

/* Whether no weight is negative, whatever the tuple. Local. */
static inline bool hw_weighter_is_nonnegative(const struct hw_weighter *weighter)
{
    return weighter->weighting != HW_WEIGHTING_SIGNED &&
           (weighter->weighting != HW_WEIGHTING_INTEGER || weighter->low >= 0);
}

/* The type of the weights. Local. */
enum hw_weights hw_weighting_type(enum hw_weighting weighting);

/* Word `index` of a stream: four to a block. Local. */
static inline HW_KERNEL_CALLABLE uint32_t hw_weight_word(uint64_t seed,
                                                         enum hw_random_stream stream,
                                                         uint64_t index)
{
    struct hw_random random = hw_random(seed, stream, index / 4, 0);

    return random.word[index % 4];
}

/* The potential of a vertex under signed weights. Local. */
static inline HW_KERNEL_CALLABLE int hw_potential(uint64_t seed, hw_gid vertex)
{
    return (int)(hw_weight_word(seed, HW_RANDOM_STREAM_POTENTIAL, (uint64_t)vertex) %
                 HW_SIGNED_POTENTIAL);
}

/* The number in [0, 1) that 32 bits name. Local. */
static inline HW_KERNEL_CALLABLE float hw_weight_unit(uint32_t bits)
{
    return (float)(bits >> 8) * 0x1p-24f;
}

/* The whole number in [low, high] that 64 bits name. Local. */
static inline HW_KERNEL_CALLABLE int32_t hw_weight_whole(uint64_t bits, int32_t low, int32_t high)
{
    uint64_t span = (uint64_t)((int64_t)high - low + 1);

    return (int32_t)(low + (int64_t)hw_random_below(bits, span));
}

/* A signed weight, of 32 bits and both ends. Local. */
static inline HW_KERNEL_CALLABLE float hw_weight_signed(uint64_t seed, uint32_t bits, hw_gid source,
                                                        hw_gid target)
{
    int base = (int)(bits % HW_SIGNED_BASE);

    return (float)(base + hw_potential(seed, source) - hw_potential(seed, target));
}

/* Makes the weight of one tuple; hw_weights_make() makes the same ones faster on CPUs. Local. */
static inline HW_KERNEL_CALLABLE union hw_weight
hw_weight_make(const struct hw_weighter *weighter, uint64_t index, hw_gid source, hw_gid target)
{
    const uint64_t seed = weighter->seed;
    union hw_weight weight = {0};

    if (weighter->weighting == HW_WEIGHTING_UNIFORM) {
        weight.f32 = hw_weight_unit(hw_weight_word(seed, HW_RANDOM_STREAM_WEIGHT, index));
    } else if (weighter->weighting == HW_WEIGHTING_INTEGER) {
        struct hw_random random = hw_random(seed, HW_RANDOM_STREAM_WEIGHT, index / 2, 0);
        weight.i32 = hw_weight_whole(hw_random_u64(&random, (int)(index % 2)), weighter->low,
                                     weighter->high);
    } else if (weighter->weighting == HW_WEIGHTING_SIGNED) {
        weight.f32 = hw_weight_signed(seed, hw_weight_word(seed, HW_RANDOM_STREAM_WEIGHT, index),
                                      source, target);
    }
    return weight;
}

/*
 * Makes the weights of tuples [first, first+count); source and target are read
 * under signed weights only. One thread. Local.
 */
void hw_weights_make(const struct hw_weighter *weighter, hw_count first, hw_count count,
                     const hw_gid *source, const hw_gid *target, union hw_weight *weight);

#endif
