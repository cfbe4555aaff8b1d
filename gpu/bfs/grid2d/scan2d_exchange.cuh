/*
 * Method `scan2d` on a grid of GPUs: sets of positions that parts exchange (the expand and fold
 * exchanges of "Parallel Distributed Breadth First Search on the Kepler Architecture", section 3).
 *
 * Sender: the vertices discovered since the level began are `visited & ~visited_before`. They are
 * packed as a list of positions or as a bitmap, whichever is smaller, directly into the memory of
 * the receiving GPU where that is mapped, else into a send buffer.
 *
 * Receiver: a set bit that is new in `visited` is recorded in `discovered_by` of the part that sent
 * it, so that the predecessor can be loaded from that part when the search is over.
 */
#ifndef HOPWAVE_GPU_BFS_GRID2D_SCAN2D_EXCHANGE_CUH
#define HOPWAVE_GPU_BFS_GRID2D_SCAN2D_EXCHANGE_CUH

#include "gpu/bfs/grid2d/scan2d_grouping.cuh"

namespace hw_scan2d
{
namespace
{

/* ---- packing ---- */

/* Bits of a word that were set since the level began. Read past the first-level cache. */
__device__ __forceinline__ uint32_t discovered_word(const kernel_params &params, uint32_t w)
{
    return __ldcg(params.search.visited + w) & ~__ldcg(params.search.visited_before + w);
}

/* Counts the rows of block m discovered in this level. All threads of the grid. */
__device__ void count_discovered(const kernel_params &params, uint32_t m, block_shared &smem)
{
    const uint4 *visited =
        reinterpret_cast<const uint4 *>(params.search.visited + m * words_of(params));
    const uint4 *visited_before =
        reinterpret_cast<const uint4 *>(params.search.visited_before + m * words_of(params));
    uint32_t count = 0;

    for (uint64_t w = hw_grid_thread(); w < words_of(params) / 4; w += hw_grid_threads()) {
        const uint4 s = __ldcg(visited + w), b = __ldcg(visited_before + w);
        count += __popc(s.x & ~b.x) + __popc(s.y & ~b.y) + __popc(s.z & ~b.z) + __popc(s.w & ~b.w);
    }
    block_add(&params.search.control->num_discovered[m], count, smem);
}

/* The buffers that get a set. */
struct targets {
    uint32_t *const *to; /* [count] */
    uint32_t count;
};

/* Packs the rows of block m discovered in this level as a bitmap, and marks them as visited before.
 * All threads of the grid. */
__device__ void pack_bitmap(const kernel_params &params, uint32_t m, targets targets)
{
    const uint32_t first = m * words_of(params);

    for (uint64_t w = hw_grid_thread(); w < words_of(params); w += hw_grid_threads()) {
        const uint32_t visited = __ldcg(params.search.visited + first + w);
        const uint32_t visited_before = params.search.visited_before[first + w];
        for (uint32_t t = 0; t < targets.count; t++)
            targets.to[t][w] = visited & ~visited_before;
        if (visited != visited_before)
            params.search.visited_before[first + w] = visited;
    }
}

/* The same as a list of positions, in any order. All threads of the grid. */
__device__ void pack_list(const kernel_params &params, uint32_t m, targets targets,
                          block_shared &smem)
{
    const uint32_t first = m * words_of(params);

    for (uint32_t base = blockIdx.x * threads; base < words_of(params);
         base += gridDim.x * threads) {
        const uint32_t w = base + threadIdx.x;
        uint32_t discovered = w < words_of(params) ? discovered_word(params, first + w) : 0, at,
                 total;
        if (!__syncthreads_or(discovered != 0))
            continue;
        word_scan(smem.scan.words).ExclusiveSum(__popc(discovered), at, total);
        if (threadIdx.x == 0)
            smem.start =
                atomicAdd(&params.search.control->num_packed[m], static_cast<count64>(total));
        __syncthreads();
        at += static_cast<uint32_t>(smem.start);
        if (discovered)
            params.search.visited_before[first + w] |= discovered;
        for (; discovered; discovered &= discovered - 1, at++)
            for (uint32_t t = 0; t < targets.count; t++)
                targets.to[t][at] = w * 32 + __ffs(discovered) - 1;
    }
}

/* Packs a set of `count` of `active` positions in the smaller encoding. All threads of the grid. */
__device__ __forceinline__ void pack(const kernel_params &params, uint32_t m, targets targets,
                                     uint32_t active, count64 count, block_shared &smem)
{
    if (count == 0)
        return;
    if (hw_scan2d_grid_as_bitmap(params.config.exchange, active, count))
        pack_bitmap(params, m, targets);
    else
        pack_list(params, m, targets, smem);
}

/* Packs discovered rows of block m that are grouped already. All threads of the grid. */
__device__ void pack_grouped(const kernel_params &params, uint32_t m, targets targets,
                             uint32_t active, count64 count)
{
    const uint32_t first = m * words_of(params);
    const uint32_t *grouped =
        params.variant.grouped + static_cast<uint64_t>(m) * params.config.block;

    if (count == 0)
        return;
    if (hw_scan2d_grid_as_bitmap(params.config.exchange, active, count)) {
        pack_bitmap(params, m, targets);
        return;
    }
    for (uint64_t i = hw_grid_thread(); i < count; i += hw_grid_threads()) {
        const uint32_t position = __ldcg(grouped + i);
        for (uint32_t t = 0; t < targets.count; t++)
            targets.to[t][i] = position;
    }
    for (uint64_t w = hw_grid_thread(); w < words_of(params); w += hw_grid_threads())
        params.search.visited_before[first + w] = __ldcg(params.search.visited + first + w);
}

/* ---- receiving ---- */

/* Applies one word of own vertices that part m of the grid row sent: those that are unvisited are
 * recorded. No other thread writes this word of `discovered_by`. */
template <bool varied>
__device__ __forceinline__ void receive_word(const kernel_params &params, uint32_t m, uint32_t w,
                                             uint32_t sent)
{
    uint32_t *visited = params.search.visited + params.config.column * words_of(params) + w;
    const uint32_t unvisited = sent & ~__ldcg(visited);
    const uint32_t discovered = unvisited ? unvisited & ~atomicOr(visited, unvisited) : 0;

    if (discovered)
        params.search.discovered_by[m * words_of(params) + w] |= discovered;
    if constexpr (varied)
        for (uint32_t left = params.variant.groups ? discovered : 0; left; left &= left - 1)
            group_own(params, w * 32 + __ffs(left) - 1);
}

/* Applies one own vertex that part m of the grid row sent; other threads may write the same word.
 * Returns whether it is new. */
__device__ __forceinline__ bool receive_position(const kernel_params &params, uint32_t m,
                                                 uint32_t position)
{
    const uint32_t w = position / 32, bit = 1u << (position & 31);
    uint32_t *visited = params.search.visited + params.config.column * words_of(params) + w;

    if ((__ldcg(visited) & bit) || (atomicOr(visited, bit) & bit))
        return false;
    atomicOr(params.search.discovered_by + m * words_of(params) + w, bit);
    return true;
}

/* Applies the set that part m of the grid row sent. All threads of the grid. */
template <bool varied>
__device__ void receive(const kernel_params &params, uint32_t m, count64 count)
{
    const uint32_t *set = params.buffers.fold_recv[m];

    if (count == 0)
        return;
    if (hw_scan2d_grid_as_bitmap(params.config.exchange,
                                 params.config.row_active[params.config.column], count)) {
        for (uint64_t w = hw_grid_thread(); w < words_of(params); w += hw_grid_threads())
            receive_word<varied>(params, m, static_cast<uint32_t>(w), __ldcg(set + w));
    } else {
        for (uint64_t k = hw_grid_thread(); k < count; k += hw_grid_threads()) {
            const uint32_t position = __ldcg(set + k);
            const bool is_new = receive_position(params, m, position);
            if constexpr (varied)
                if (is_new && params.variant.groups)
                    group_own(params, position);
        }
    }
}

} // namespace
} // namespace hw_scan2d

#endif
