/*
 * Weights of generated tuples: each depends on the seed and the tuple's index
 * alone, signed ones also on its two ends.
 */
#ifndef HOPWAVE_GRAPH_WEIGHTS_H
#define HOPWAVE_GRAPH_WEIGHTS_H

#include "base/types.h"

enum hw_weighting {
    HW_WEIGHTING_NONE,
    HW_WEIGHTING_UNIFORM, /* f32, multiples of 2^-24 in [0, 1) */
    HW_WEIGHTING_INTEGER, /* i32, low to high */
    HW_WEIGHTING_SIGNED   /* f32, whole, without negative cycles */
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

/* The type of the weights. Local. */
enum hw_weights hw_weighting_type(enum hw_weighting weighting);

/* The potential of a vertex under signed weights. Local. */
int hw_potential(uint64_t seed, hw_gid vertex);

/*
 * Makes the weights of tuples [first, first+count); source and target are read
 * under signed weights only. One thread. Local.
 */
void hw_weights_make(const struct hw_weighter *weighter, hw_count first, hw_count count,
                     const hw_gid *source, const hw_gid *target, union hw_weight *weight);

#endif
