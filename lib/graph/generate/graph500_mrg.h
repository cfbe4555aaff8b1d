/*
 * The random numbers of the Graph500 reference: a multiple recursive generator
 * of order 5 modulo 2^31-1 (L'Ecuyer, Blouin and Couture, 1993, table 3):
 * x[n] = 107374182 x[n-1] + 104480 x[n-5].
 */
#ifndef HOPWAVE_GRAPH_GENERATE_GRAPH500_MRG_H
#define HOPWAVE_GRAPH_GENERATE_GRAPH500_MRG_H

#include "lib/base/types.h"

#define HW_MRG_PRIME ((uint32_t)0x7FFFFFFF)

/* The last five numbers, the newest first; each below the prime. */
struct hw_mrg {
    uint32_t z[5];
};

/* A 5x5 matrix over the prime field, row-major: one or many steps. */
struct hw_mrg_matrix {
    uint32_t m[5][5];
};

/* t modulo the prime, for t < 2^62 - 2^32. Local. */
static inline HW_KERNEL_CALLABLE uint32_t hw_mrg_reduce(uint64_t t)
{
    uint32_t sum = (uint32_t)(t & HW_MRG_PRIME) + (uint32_t)(t >> 31);
    uint32_t less = sum - HW_MRG_PRIME;

    return sum < less ? sum : less;
}

/* A number congruent to t and below 2^34. Local. */
static inline HW_KERNEL_CALLABLE uint64_t hw_mrg_fold(uint64_t t)
{
    return (t & HW_MRG_PRIME) + (t >> 31);
}

/* The number that follows those with newest z1 and oldest z5. Local. */
static inline HW_KERNEL_CALLABLE uint32_t hw_mrg_follow(uint32_t z1, uint32_t z5)
{
    return hw_mrg_reduce((uint64_t)107374182 * z1 + (uint64_t)104480 * z5);
}

/* One row of a matrix times a state. Local. */
static inline HW_KERNEL_CALLABLE uint32_t hw_mrg_dot(const uint32_t row[5], uint32_t z1,
                                                     uint32_t z2, uint32_t z3, uint32_t z4,
                                                     uint32_t z5)
{
    uint64_t low = hw_mrg_fold((uint64_t)row[0] * z1 + (uint64_t)row[1] * z2);
    uint64_t middle = hw_mrg_fold((uint64_t)row[2] * z3 + (uint64_t)row[3] * z4);

    return hw_mrg_reduce(hw_mrg_fold(low + middle + (uint64_t)row[4] * z5));
}

/* Takes one step and returns the number, in [0, 2^31-1). Local. */
static inline HW_KERNEL_CALLABLE uint32_t hw_mrg_next(struct hw_mrg *state)
{
    uint32_t made = hw_mrg_follow(state->z[0], state->z[4]);

    for (int i = 4; i > 0; i--)
        state->z[i] = state->z[i - 1];
    state->z[0] = made;
    return made;
}

/* A matrix times a state. Local. */
static inline HW_KERNEL_CALLABLE struct hw_mrg hw_mrg_apply(const struct hw_mrg_matrix *matrix,
                                                            const struct hw_mrg *state)
{
    const uint32_t *z = state->z;
    struct hw_mrg after;

    for (int r = 0; r < 5; r++)
        after.z[r] = hw_mrg_dot(matrix->m[r], z[0], z[1], z[2], z[3], z[4]);
    return after;
}

/* The state that the reference makes of two 64-bit seeds. Local. */
struct hw_mrg hw_mrg_seed(uint64_t seed1, uint64_t seed2);

/* The square of a matrix. Local. */
struct hw_mrg_matrix hw_mrg_square(const struct hw_mrg_matrix *matrix);

/* The matrix of 2^exponent steps. Local. */
struct hw_mrg_matrix hw_mrg_steps(int exponent);

/* Takes high*2^128 + middle*2^64 + low steps. Local. */
void hw_mrg_skip(struct hw_mrg *state, uint64_t high, uint64_t middle, uint64_t low);

#endif
