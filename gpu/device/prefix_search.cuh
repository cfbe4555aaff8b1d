/*
 * Tiles of equal numbers of edges, cut from lists one after another: whose edge is which,
 * by search in the prefix sums of the lengths.
 */
#ifndef HOPWAVE_GPU_DEVICE_PREFIX_SEARCH_CUH
#define HOPWAVE_GPU_DEVICE_PREFIX_SEARCH_CUH

#include "gpu/device/grid_stride.cuh"

namespace
{

/* The last slot of prefix[0..count) that is at most `edge`. A whole warp. */
template <typename Offset>
__device__ uint32_t warp_slot(const Offset *prefix, uint32_t count, unsigned long long edge)
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

/* The last slot whose edges begin at or before `edge`. */
__device__ __forceinline__ uint32_t slot_of(const uint32_t *prefix, uint32_t count, uint32_t edge)
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
