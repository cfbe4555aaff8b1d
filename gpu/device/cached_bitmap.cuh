/*
 * A bitmap over vertices for bottom-up levels, with the words of the hubs cached in shared memory.
 *
 * Vertices are numbered by falling degree, so that the first words of the bitmap are looked up
 * most often: as many of them as pay are copied to shared memory before the level starts.
 */
#ifndef HOPWAVE_GPU_DEVICE_CACHED_BITMAP_CUH
#define HOPWAVE_GPU_DEVICE_CACHED_BITMAP_CUH

#include <cuda_runtime.h>
#include <stdint.h>

namespace
{

/* Lookups that pay for one word of the bitmap in shared memory. */
constexpr uint32_t lookups_per_cached_word = 256;

/* A bitmap in global memory and its first words in shared memory. */
struct cached_bitmap {
    const uint32_t *bits;
    const uint32_t *hub;
    uint32_t cached; /* vertices whose bits are in hub */
    uint32_t core;   /* vertices that have bits at all */
};

__device__ __forceinline__ bool has_bit(uint32_t word, uint32_t v)
{
    return word >> (v & 31) & 1;
}

/* The word that holds a vertex's bit; 0 for vertices that have none. */
__device__ __forceinline__ uint32_t bitmap_word(const cached_bitmap &map, uint32_t v)
{
    if (v < map.cached)
        return map.hub[v / 32];
    return v < map.core ? map.bits[v / 32] : 0;
}

/*
 * Copies the first words of a bitmap to shared memory: one for each lookups_per_cached_word
 * expected lookups, max_words at most. bits: aligned to 16 bytes; shared: [max_words / 4].
 * Collective over the `threads` threads of the block.
 */
template <int threads>
__device__ __forceinline__ cached_bitmap stage_hubs(const uint32_t *bits, uint32_t core,
                                                    uint32_t max_words, uint4 *shared,
                                                    uint32_t lookups)
{
    const uint32_t words = min(max_words, lookups / lookups_per_cached_word) & ~3u;

    __syncthreads();
    for (uint32_t i = threadIdx.x; i < words / 4; i += threads)
        shared[i] = __ldcg(reinterpret_cast<const uint4 *>(bits) + i);
    __syncthreads();
    return {bits, reinterpret_cast<const uint32_t *>(shared), words * 32, core};
}

} // namespace

#endif
