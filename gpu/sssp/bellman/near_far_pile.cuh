/*
 * `near-far`: limits and widths of near piles (Davidson, Baxter, Garland and Owens, 2014).
 */
#ifndef HOPWAVE_GPU_SSSP_BELLMAN_NEAR_FAR_PILE_CUH
#define HOPWAVE_GPU_SSSP_BELLMAN_NEAR_FAR_PILE_CUH

#include "gpu/sssp/bellman/lane_state.cuh"

namespace bellman_ford
{

/* The distance of a key; and the greatest key whose distance is at most `value`, but at least
 * least + 1. */
__device__ __forceinline__ double key_to_real(int kind, int64_t key)
{
    return kind == HW_GPU_KEY_F32 ? static_cast<double>(hw_float_of(static_cast<int32_t>(key)))
                                  : static_cast<double>(key);
}

__device__ __forceinline__ int64_t bound_key(int kind, double value, int64_t least)
{
    const int64_t none = kind == HW_GPU_KEY_F32   ? hw_keys<HW_GPU_KEY_F32>::none
                         : kind == HW_GPU_KEY_I32 ? hw_keys<HW_GPU_KEY_I32>::none
                                                  : hw_keys<HW_GPU_KEY_I64>::none;
    int64_t key;

    if (value >= key_to_real(kind, none - 1))
        key = none;
    else if (kind == HW_GPU_KEY_F32)
        key = hw_key_of(__double2float_rd(value));
    else
        key = static_cast<int64_t>(value);
    return key > least ? key : least + 1;
}

/* Policy, as fractions of all edges. Widths adapt once hubs_settled_fraction of the edges were
 * relaxed, when hubs are reached, or after max_narrow_piles piles. The next pile is wider where the
 * last one relaxed less than small_pile_fraction, and half as wide where it relaxed more than
 * large_pile_fraction. Once last_pile_fraction was relaxed all other vertices are one pile. */
constexpr double hubs_settled_fraction = 3 / 100.0;
constexpr double small_pile_fraction = 1 / 20.0, large_pile_fraction = 3 / 10.0;
constexpr double width_growth = 2;
constexpr double last_pile_fraction = 1 / 2.0;
constexpr uint32_t max_narrow_piles = 64;

/* The width of the next pile. */
__device__ __forceinline__ double adapt_width(const hw_bellman_params &params,
                                              const hw_bellman_pile &pile)
{
    const double all = static_cast<double>(params.graph.edges);
    const double edges = static_cast<double>(pile.edges);
    double width = pile.width;

    if (!params.search.adaptive_width ||
        (static_cast<double>(pile.all_edges) < hubs_settled_fraction * all &&
         pile.number < max_narrow_piles))
        return width;
    if (edges < small_pile_fraction * all)
        width *= width_growth;
    else if (edges > large_pile_fraction * all)
        width /= 2;
    return params.paths.kind != HW_GPU_KEY_F32 && width < 1 ? 1 : width;
}

} // namespace bellman_ford

#endif
