/*
 * The bitmap that a level bottom-up tests, with the words of the hubs held in shared
 * memory: ranks are by falling degree, so that its beginning is what is looked up most.
 */
#ifndef HOPWAVE_GPU_DEVICE_CACHED_BITMAP_CUH
#define HOPWAVE_GPU_DEVICE_CACHED_BITMAP_CUH

#include <cuda_runtime.h>
#include <stdint.h>

namespace
{

/* Vertices to look up for each word of the bitmap that is held in shared memory. */
constexpr uint32_t hub_share = 256;

/* The bitmap that is tested, its beginning in shared memory. */
struct tested {
    const uint32_t *bits;
    const uint32_t *hub;
    uint32_t held; /* vertices whose bits are in hub */
    uint32_t core; /* vertices that have bits at all */
};

__device__ __forceinline__ bool has(uint32_t word, uint32_t v)
{
    return word >> (v & 31) & 1;
}

/* The word with a vertex's bit; 0 for vertices that have none. */
__device__ __forceinline__ uint32_t word_of(const tested &map, uint32_t v)
{
    if (v < map.held)
        return map.hub[v / 32];
    return v < map.core ? map.bits[v / 32] : 0;
}

/* Copies the beginning of a bitmap, `most` words at most, to shared memory: more of it,
 * the more vertices will be looked up. All `threads` of the block. */
template <int threads>
__device__ __forceinline__ tested hold(const uint32_t *bits, uint32_t core, uint32_t most,
                                       uint4 *room, uint32_t looked_up)
{
    const uint32_t words = min(most, looked_up / hub_share) & ~3u;

    __syncthreads();
    for (uint32_t i = threadIdx.x; i < words / 4; i += threads)
        room[i] = __ldcg(reinterpret_cast<const uint4 *>(bits) + i);
    __syncthreads();
    return {bits, reinterpret_cast<const uint32_t *>(room), words * 32, core};
}

} // namespace

#endif
