/*
 * Binary search in prefix sums of list lengths: which of several concatenated lists holds a given
 * edge. Kernels cut the concatenation into tiles of equal numbers of edges and find the first list
 * of each tile with it.
 */
#ifndef HOPWAVE_GPU_DEVICE_PREFIX_SEARCH_CUH
#define HOPWAVE_GPU_DEVICE_PREFIX_SEARCH_CUH

#include "gpu/device/grid_stride.cuh"

namespace
{

/* The last index of prefix[0 .. count) whose value is at most `edge`; prefix rises, prefix[0] <=
 * edge. Each iteration splits the interval in 32. Warp-collective. */
template <typename Offset>
__device__ uint32_t warp_prefix_search(const Offset *prefix, uint32_t count,
                                       unsigned long long edge)
{
    const uint32_t lane = threadIdx.x & 31;
    uint32_t from = 0, length = count;

    while (length > 1) {
        const uint32_t step = (length + 31) / 32, at = lane * step;
        const bool before = at < length && __ldcg(prefix + from + at) <= edge;
        const uint32_t ballot = __ballot_sync(HW_WARP, before);
        const uint32_t last = (ballot ? 31 - __clz(ballot) : 0) * step;
        from += last;
        length = min(step, length - last);
    }
    return from;
}

/* The same by one thread, by bisection. */
__device__ __forceinline__ uint32_t prefix_search(const uint32_t *prefix, uint32_t count,
                                                  uint32_t edge)
{
    uint32_t from = 0, to = count;

    while (to - from > 1) {
        const uint32_t middle = (from + to) / 2;
        if (prefix[middle] <= edge)
            from = middle;
        else
            to = middle;
    }
    return from;
}

} // namespace

#endif
