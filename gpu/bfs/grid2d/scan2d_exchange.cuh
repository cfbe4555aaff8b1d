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

#include "gpu/bfs/grid2d/scan2d_grid_device.cuh"

namespace hw_scan2d_grid
{
namespace
{

/* ---- packing ---- */

/* What a word has that it had not when the level began. */
__device__ __forceinline__ uint32_t fresh_word(const kernel_params &plan, uint32_t w)
{
    return __ldcg(plan.seen + w) & ~__ldcg(plan.before + w);
}

/* Counts what is new of the rows of one block. All threads of the grid. */
__device__ void count_fresh(const kernel_params &plan, uint32_t m, shared &room)
{
    const uint4 *seen = reinterpret_cast<const uint4 *>(plan.seen + m * words_of(plan));
    const uint4 *before = reinterpret_cast<const uint4 *>(plan.before + m * words_of(plan));
    uint32_t count = 0;

    for (uint64_t w = hw_grid_thread(); w < words_of(plan) / 4; w += hw_grid_threads()) {
        const uint4 s = __ldcg(seen + w), b = __ldcg(before + w);
        count += __popc(s.x & ~b.x) + __popc(s.y & ~b.y) + __popc(s.z & ~b.z) + __popc(s.w & ~b.w);
    }
    add_up(&plan.control->fresh[m], count, room);
}

/* Where a set goes to. */
struct targets {
    uint32_t *const *to; /* [count] */
    uint32_t count;
};

/* What is new of the rows of one block, as a bitmap; then it is not new any more. */
__device__ void pack_bitmap(const kernel_params &plan, uint32_t m, targets targets)
{
    const uint32_t first = m * words_of(plan);

    for (uint64_t w = hw_grid_thread(); w < words_of(plan); w += hw_grid_threads()) {
        const uint32_t seen = __ldcg(plan.seen + first + w);
        const uint32_t before = plan.before[first + w];
        for (uint32_t t = 0; t < targets.count; t++)
            targets.to[t][w] = seen & ~before;
        if (seen != before)
            plan.before[first + w] = seen;
    }
}

/* The same as a list of positions. All threads of the grid. */
__device__ void pack_list(const kernel_params &plan, uint32_t m, targets targets, shared &room)
{
    const uint32_t first = m * words_of(plan);

    for (uint32_t base = blockIdx.x * threads; base < words_of(plan); base += gridDim.x * threads) {
        const uint32_t w = base + threadIdx.x;
        uint32_t fresh = w < words_of(plan) ? fresh_word(plan, first + w) : 0, at, total;
        if (!__syncthreads_or(fresh != 0))
            continue;
        word_scan(room.scan.words).ExclusiveSum(__popc(fresh), at, total);
        if (threadIdx.x == 0)
            room.start = atomicAdd(&plan.control->put[m], static_cast<count64>(total));
        __syncthreads();
        at += static_cast<uint32_t>(room.start);
        if (fresh)
            plan.before[first + w] |= fresh;
        for (; fresh; fresh &= fresh - 1, at++)
            for (uint32_t t = 0; t < targets.count; t++)
                targets.to[t][at] = w * 32 + __ffs(fresh) - 1;
    }
}

__device__ __forceinline__ void pack(const kernel_params &plan, uint32_t m, targets targets,
                                     uint32_t active, count64 count, shared &room)
{
    if (count == 0)
        return;
    if (hw_scan2d_grid_as_bitmap(plan.exchange, active, count))
        pack_bitmap(plan, m, targets);
    else
        pack_list(plan, m, targets, room);
}

/* ---- receiving ---- */

/* Takes own vertices that part m of the row has reached, if they are new: one word of them.
 * Nobody else writes that word of `from`. */
__device__ __forceinline__ void take_word(const kernel_params &plan, uint32_t m, uint32_t w,
                                          uint32_t sent)
{
    uint32_t *seen = plan.seen + plan.column * words_of(plan) + w;
    const uint32_t open = sent & ~__ldcg(seen);
    const uint32_t fresh = open ? open & ~atomicOr(seen, open) : 0;

    if (fresh)
        plan.from[m * words_of(plan) + w] |= fresh;
}

/* The same of one vertex; others may be in the same word. Whether it is new. */
__device__ __forceinline__ bool take(const kernel_params &plan, uint32_t m, uint32_t position)
{
    const uint32_t w = position / 32, bit = 1u << (position & 31);
    uint32_t *seen = plan.seen + plan.column * words_of(plan) + w;

    if ((__ldcg(seen) & bit) || (atomicOr(seen, bit) & bit))
        return false;
    atomicOr(plan.from + m * words_of(plan) + w, bit);
    return true;
}

/* What part m of the row has sent. All threads of the grid. */
__device__ void receive(const kernel_params &plan, uint32_t m, count64 count)
{
    const uint32_t *set = plan.fold_in[m];

    if (count == 0)
        return;
    if (hw_scan2d_grid_as_bitmap(plan.exchange, plan.row_active[plan.column], count)) {
        for (uint64_t w = hw_grid_thread(); w < words_of(plan); w += hw_grid_threads())
            take_word(plan, m, static_cast<uint32_t>(w), __ldcg(set + w));
    } else {
        for (uint64_t k = hw_grid_thread(); k < count; k += hw_grid_threads())
            take(plan, m, __ldcg(set + k));
    }
}

} // namespace
} // namespace hw_scan2d_grid

#endif
