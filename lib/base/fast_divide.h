/*
 * Division by a run-time constant: one multiplication instead of a division.
 */
#ifndef HOPWAVE_BASE_FAST_DIVIDE_H
#define HOPWAVE_BASE_FAST_DIVIDE_H

#include "lib/base/types.h"

/* Made by hw_divisor(). */
struct hw_divisor {
    uint64_t by;
    uint64_t magic; /* floor(2^64 / by) + 1; 0 when by is 1 */
};

/* by >= 1. Local. */
static inline struct hw_divisor hw_divisor(uint64_t by)
{
    struct hw_divisor divisor = {by, by > 1 ? UINT64_MAX / by + 1 : 0};

    return divisor;
}

/* x / by, exact while x * by < 2^64 (Granlund and Montgomery, "Division by
 * Invariant Integers using Multiplication", PLDI 1994, theorem 4.2). Local. */
static inline HW_KERNEL_CALLABLE uint64_t hw_fast_divide(struct hw_divisor divisor, uint64_t x)
{
    __extension__ typedef unsigned __int128 wide;

    return divisor.magic ? (uint64_t)(((wide)x * divisor.magic) >> 64) : x;
}

#endif
