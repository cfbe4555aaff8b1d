/*
 * Binary searches: in prefix sums of list lengths, to find which of several concatenated lists
 * holds a given edge, and in lists sorted by weight.
 *
 * Kernels that balance their load cut the concatenation of all lists into parts of equal numbers
 * of edges, and find the first list of each part by such a search. One thread bisects; a warp
 * splits the interval in 32 at each iteration, with one memory latency for each.
 *
 * All searches take a predicate holds(index) that holds for some leading indices and for none
 * after them.
 */
#ifndef HOPWAVE_GPU_DEVICE_PREFIX_SEARCH_CUH
#define HOPWAVE_GPU_DEVICE_PREFIX_SEARCH_CUH

#include "gpu/device/grid_stride.cuh"

namespace
{

/* ---- by one thread ---- */

/* The last index of [low, high) for which holds() is true; it must be true for low. */
template <typename Index, typename Holds>
__device__ __forceinline__ Index last_index(Index low, Index high, const Holds &holds)
{
    while (high - low > 1) {
        const Index middle = low + (high - low) / 2;
        if (holds(middle))
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The first index of [low, high) for which holds() is false; high if there is none. */
template <typename Index, typename Holds>
__device__ __forceinline__ Index partition_point(Index low, Index high, const Holds &holds)
{
    while (low < high) {
        const Index middle = low + (high - low) / 2;
        if (holds(middle))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The last index of prefix[0 .. count) whose value is at most `edge`; prefix[0] must be. */
__device__ __forceinline__ uint32_t prefix_search(const uint32_t *prefix, uint32_t count,
                                                  uint32_t edge)
{
    return last_index(0u, count, [=](uint32_t i) { return prefix[i] <= edge; });
}

/* ---- by a warp ---- */

/* The last index of [0, count) for which holds() is true; it must be true for 0. Warp-collective.
 */
template <typename Holds>
__device__ __forceinline__ uint32_t warp_last_index(uint32_t count, const Holds &holds)
{
    const uint32_t lane = threadIdx.x & 31;
    uint32_t from = 0, length = count;

    while (length > 1) {
        const uint32_t step = (length + 31) / 32, at = lane * step;
        const uint32_t ballot = __ballot_sync(HW_WARP, at < length && holds(from + at));
        const uint32_t last = (ballot ? 31 - __clz(ballot) : 0) * step;
        from += last;
        length = min(step, length - last);
    }
    return from;
}

/* The first index of [0, count) for which holds() is false, so the number of those for which it is
 * true. Warp-collective. */
template <typename Holds>
__device__ __forceinline__ uint32_t warp_partition_point(uint32_t count, const Holds &holds)
{
    const uint32_t lane = threadIdx.x & 31;
    uint32_t from = 0, length = count;

    while (length > 0) {
        const uint32_t step = (length + 31) / 32, last = (lane + 1) * step - 1;
        const uint32_t full = __popc(__ballot_sync(HW_WARP, last < length && holds(from + last)));
        from += full * step;
        length = full * step + step - 1 < length ? step - 1 : length - full * step;
    }
    return from;
}

/* The last index of prefix[0 .. count), in global memory, whose value is at most `edge`; prefix[0]
 * must be. Warp-collective. */
template <typename Offset>
__device__ uint32_t warp_prefix_search(const Offset *prefix, uint32_t count,
                                       unsigned long long edge)
{
    return warp_last_index(count, [=](uint32_t i) { return __ldcg(prefix + i) <= edge; });
}

/* The last lane whose value of prefix is at most `edge`, which may differ from lane to lane; values
 * rise from lane to lane, and that of lane 0 must be at most `edge`. Warp-collective. */
__device__ __forceinline__ uint32_t warp_lane_search(uint32_t prefix, uint32_t edge)
{
    uint32_t lane = 0;

#pragma unroll
    for (uint32_t half = 16; half > 0; half /= 2)
        lane += __shfl_sync(HW_WARP, prefix, lane + half) <= edge ? half : 0;
    return lane;
}

} // namespace

#endif
