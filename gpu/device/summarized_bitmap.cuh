/*
 * A cached bitmap with a summary in shared memory: a bit for each group of consecutive vertices
 * that says whether any of their bits is set. While few are, most tests of vertices that are not
 * cached need no access to the bitmap. The reference code of Graph500 version 2.1 has such a
 * summary of its queue (mpi/bfs_replicated.c).
 *
 * A group has 2^shift vertices, 4 to 32, all in one word of the bitmap. 32 words of the bitmap,
 * 1024 vertices, have 2^(5 - shift) words of the summary: the first has the bits of the first group
 * of each word, the next those of the second groups, and so on, so that a warp makes them by votes.
 */
#ifndef HOPWAVE_GPU_DEVICE_SUMMARIZED_BITMAP_CUH
#define HOPWAVE_GPU_DEVICE_SUMMARIZED_BITMAP_CUH

#include "gpu/device/cached_bitmap.cuh"
#include "gpu/device/grid_stride.cuh"
#include "gpu/device/warp.cuh"

#include <cuda_runtime.h>
#include <stdint.h>

namespace
{

constexpr uint32_t min_summary_shift = 2, max_summary_shift = 5;

struct summarized_bitmap : cached_bitmap {
    const uint32_t *summary; /* in shared memory */
    uint32_t shift;          /* 0: there is no summary */
};

/* Words of the summary of a bitmap of so many words, rounded up to whole vectors of four. */
__host__ __device__ constexpr uint32_t summary_words(uint32_t words, uint32_t shift)
{
    return (((words + 31) / 32 << (max_summary_shift - shift)) + 3) & ~3u;
}

/* The word that holds a vertex's bit, or 0 if it is 0 at that bit. */
__device__ __forceinline__ uint32_t bitmap_word(const summarized_bitmap &map, uint32_t v)
{
    if (v < map.cached)
        return map.hub[v / 32];
    if (v >= map.core)
        return 0;
    if (map.shift) {
        const uint32_t at = v / 1024 << (max_summary_shift - map.shift) | (v & 31) >> map.shift;
        if (!has_bit(map.summary[at], v / 32))
            return 0;
    }
    return map.bits[v / 32];
}

/* Makes the summary of a bitmap. bits: [words]; summary: [summary_words()]. All threads of the
 * grid. */
__device__ __forceinline__ void summarize_bitmap(const uint32_t *bits, uint32_t words,
                                                 uint32_t shift, uint32_t *summary)
{
    const uint32_t lane = threadIdx.x & 31, groups = 32 >> shift,
                   own = HW_WARP >> (32 - (1 << shift));

    for (uint64_t base = hw_grid_thread() & ~31ull; base < words; base += hw_grid_threads()) {
        const uint32_t word = base + lane < words ? __ldcg(bits + base + lane) : 0;
        uint32_t mine = 0;
        for (uint32_t group = 0; group < groups; group++) {
            const uint32_t any = __ballot_sync(HW_WARP, (word >> (group << shift) & own) != 0);
            mine = lane == group ? any : mine;
        }
        if (lane < groups)
            summary[base / 32 * groups + lane] = mine;
    }
}

} // namespace

#endif
