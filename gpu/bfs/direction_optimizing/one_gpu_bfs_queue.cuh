/*
 * Method `fused` on one GPU, in kernels with bins: queues what a level discovered without queueing
 * it, from the bitmaps before and after. After a level by bins these are up to millions of
 * vertices, so that warps buffer what they queue. Other kernels queue few so, word by word
 * (gpu/bfs/direction_optimizing/top_down.cuh): there the buffers cost all levels 1 to 4%
 * (doc/trials/bfs.md).
 */
#ifndef HOPWAVE_GPU_BFS_DIRECTION_OPTIMIZING_ONE_GPU_BFS_QUEUE_CUH
#define HOPWAVE_GPU_BFS_DIRECTION_OPTIMIZING_ONE_GPU_BFS_QUEUE_CUH

#include "gpu/bfs/direction_optimizing/one_gpu_bfs_device.cuh"

namespace hw_one_gpu_bfs
{
namespace
{

/* Words of the bitmap that a warp queues from at a time, of the 32 that its lanes hold. A lane
 * takes its bit of each. */
constexpr uint32_t queued_words = 4;

/* Loads what is queued of the new bits of words first to first + queued_words - 1. base: index of
 * the word that lane 0 holds. Warp-collective. */
__device__ __forceinline__ hw_bfs::tile_discoveries load_discovered(const kernel_params &params,
                                                                    uint32_t base,
                                                                    uint32_t new_bits,
                                                                    uint32_t first, uint32_t &refs)
{
    const uint32_t lane = threadIdx.x & 31;
    hw_bfs::tile_discoveries discovered;

#pragma unroll
    for (uint32_t k = 0; k < queued_words; k++) {
        const uint32_t word = __shfl_sync(HW_WARP, new_bits, first + k);
        discovered.local[k] = (base + first + k) * 32 + lane;
        discovered.mine[k] = 0;
        if (!(word >> lane & 1))
            continue;
        const hw_bfs::list_record record = one_gpu::record(params, discovered.local[k]);
        discovered.mine[k] = hw_pack_entry(record.length, edge_bits);
        refs += record.refs;
    }
    return discovered;
}

/* Queues the vertices whose bits are set in `visited` but not in `before`. Returns how many
 * vertices have one of those that the thread queued as first in-neighbor. All threads of the grid.
 */
template <typename Offset>
__device__ uint32_t queue_many(const kernel_params &params,
                               const hw_bfs::level_queue<Offset> &queue, const uint32_t *visited,
                               const uint32_t *before, uint4 *shared_memory)
{
    const uint32_t words = bitmap_words(params), lane = threadIdx.x & 31;
    hw_bfs::warp_buffer &buffer =
        reinterpret_cast<hw_bfs::warp_buffer *>(shared_memory)[threadIdx.x / 32];
    uint32_t buffered = 0, refs = 0;

    for (uint64_t from = hw_grid_thread() & ~31ull; from < words; from += hw_grid_threads()) {
        const uint32_t base = static_cast<uint32_t>(from), own = base + lane;
        const uint32_t new_bits = own < words ? __ldcg(visited + own) & ~__ldcg(before + own) : 0;
        const uint32_t any = __ballot_sync(HW_WARP, new_bits != 0);
        for (uint32_t first = 0; first < 32; first += queued_words) {
            if (!(any >> first & ((1u << queued_words) - 1)))
                continue;
            if (buffered > hw_bfs::warp_buffer_capacity - 32 * queued_words)
                hw_bfs::flush<one_gpu>(buffer, buffered, queue);
            const hw_bfs::tile_discoveries discovered =
                load_discovered(params, base, new_bits, first, refs);
            hw_bfs::store_discoveries<one_gpu>(buffer, buffered, discovered);
        }
    }
    hw_bfs::flush<one_gpu>(buffer, buffered, queue);
    return refs;
}

} // namespace
} // namespace hw_one_gpu_bfs

#endif
