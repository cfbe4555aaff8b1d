#include "lib/base/permutation.h"

struct hw_permutation hw_permutation(uint64_t count, uint64_t seed)
{
    struct hw_permutation permutation = {.count = count, .half = 1};

    while (permutation.half < 31 && count > (uint64_t)1 << (2 * permutation.half))
        permutation.half++;
    for (int r = 0; r < HW_PERMUTATION_ROUNDS; r++)
        permutation.key[r] = hw_mix(seed + (uint64_t)(r + 1) * 0x9e3779b97f4a7c15u);
    return permutation;
}

/* One walk through the network. */
static uint64_t step(const struct hw_permutation *permutation, uint64_t i)
{
    uint64_t mask = ((uint64_t)1 << permutation->half) - 1;
    uint64_t left = i >> permutation->half, right = i & mask;

    for (int r = 0; r < HW_PERMUTATION_ROUNDS; r++) {
        uint64_t mixed = left ^ (hw_mix(right ^ permutation->key[r]) & mask);
        left = right;
        right = mixed;
    }
    return left << permutation->half | right;
}

uint64_t hw_permute(const struct hw_permutation *permutation, uint64_t i)
{
    do
        i = step(permutation, i);
    while (i >= permutation->count);
    return i;
}
