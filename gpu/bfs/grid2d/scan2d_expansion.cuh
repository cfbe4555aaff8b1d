/*
 * The local expansion of method `scan2d` (sections 3.1 and 3.4 of "Parallel Distributed Breadth
 * First Search on the Kepler Architecture"): the edges of a frontier of local columns, in the
 * compressed columns of a local matrix. The caller supplies the frontier, on one part that of the
 * last level, on a grid of parts what an exchange gathered, and processes the rows.
 */
#ifndef HOPWAVE_GPU_BFS_GRID2D_SCAN2D_EXPANSION_CUH
#define HOPWAVE_GPU_BFS_GRID2D_SCAN2D_EXPANSION_CUH

#include "gpu/bfs/common/frontier_queue.cuh"
#include "gpu/bfs/grid2d/one_gpu/scan2d_one_gpu.h"
#include "gpu/device/prefix_search.cuh"
#include "gpu/device/warp.cuh"
#include "gpu/graph/device_graph.cuh"

namespace hw_scan2d
{

/* Not a using directive: names of other headers at global scope would be ambiguous. */
using hw_frontier_queue::block_scan;
using hw_frontier_queue::count64;
using hw_frontier_queue::edge_bits;
using hw_frontier_queue::lane_of;
using hw_frontier_queue::threads;
using hw_frontier_queue::visit;

/* A frontier, and arrays for the prefix sums of its lists. */
template <typename Offset> struct frontier {
    const uint32_t *vertex; /* [count] local columns */
    uint32_t count;
    Offset *sum;   /* [count] edges before each */
    Offset *shift; /* [count] from these to positions in the lists; NULL where not needed */
};

/* The first entry of begin .. end for which is_unvisited() holds, given that it holds for all
 * entries after one for which it does. Exponential search from the end, since few entries follow
 * where this pays, then bisection. An addition to the paper, whose authors' earlier code left out
 * visited edges by another array. */
template <typename Offset, typename Open>
__device__ __forceinline__ Offset first_unvisited_entry(Offset begin, Offset end, Open is_unvisited)
{
    if (begin == end || !is_unvisited(end - 1))
        return end;
    Offset upper = end - 1, step = 1;
    for (; step <= upper - begin && is_unvisited(upper - step); step *= 2)
        upper -= step;
    Offset lower = step <= upper - begin ? upper - step + 1 : begin;
    return partition_point(lower, upper, [&](Offset entry) { return !is_unvisited(entry); });
}

/* The elements that a block scans at a time, and the fewest that justify another block with a
 * second barrier. */
constexpr uint32_t scan_tile = 4 * threads, min_scan_chunk = 2 * scan_tile;

/* Elements of a frontier that each block scans. */
__device__ __forceinline__ uint32_t chunk_of(uint32_t count)
{
    const uint32_t chunk = max((count + gridDim.x - 1) / gridDim.x, min_scan_chunk);

    return (chunk + scan_tile - 1) / scan_tile * scan_tile;
}

/* The exclusive scan of the lengths of one block's chunk of the columns; its total goes to
 * total[blockIdx.x]. All threads of the block. */
template <typename Offset>
__device__ void scan_chunk(const hw_gpu_lists &columns, const frontier<Offset> &from,
                           count64 *total, block_scan::TempStorage &scratch)
{
    const uint32_t chunk = chunk_of(from.count);
    const count64 begin = static_cast<count64>(blockIdx.x) * chunk;
    const count64 end = min(begin + chunk, static_cast<count64>(from.count));
    count64 sum = 0;

    if (begin >= end)
        return;
    for (count64 base = begin; base < end; base += scan_tile) {
        const count64 first = base + 4 * threadIdx.x;
        count64 length[4], before, all;
#pragma unroll
        for (int k = 0; k < 4; k++) {
            length[k] = 0;
            if (first + k < end) {
                const uint32_t u = __ldcg(from.vertex + first + k);
                length[k] =
                    hw_list_begin<Offset>(columns, u + 1) - hw_list_begin<Offset>(columns, u);
            }
        }
        block_scan(scratch).ExclusiveSum(length[0] + length[1] + length[2] + length[3], before,
                                         all);
        before += sum;
#pragma unroll
        for (int k = 0; k < 4; k++) {
            if (first + k < end)
                from.sum[first + k] = static_cast<Offset>(before);
            before += length[k];
        }
        sum += all;
        __syncthreads();
    }
    if (threadIdx.x == 0)
        total[blockIdx.x] = sum;
}

/* Adds the totals of the blocks before to one block's chunk; after a barrier of the grid. Returns
 * the edges of the whole frontier. All threads of the block. */
template <typename Offset>
__device__ count64 add_chunk_offsets(const frontier<Offset> &from, const count64 *total,
                                     block_scan::TempStorage &scratch)
{
    const uint32_t chunk = chunk_of(from.count), chunks = (from.count + chunk - 1) / chunk;
    count64 before = 0, all = 0, sum;

    if (chunks == 1)
        return __ldcg(total);
    for (uint32_t s = threadIdx.x; s < chunks; s += threads) {
        const count64 other = __ldcg(total + s);
        before += s < blockIdx.x ? other : 0;
        all += other;
    }
    block_scan(scratch).InclusiveSum(all, sum, all);
    __syncthreads();
    block_scan(scratch).InclusiveSum(before, sum, before);
    __syncthreads();
    const count64 begin = static_cast<count64>(blockIdx.x) * chunk;
    const count64 end = min(begin + chunk, static_cast<count64>(from.count));
    for (count64 i = begin + threadIdx.x; i < end && before > 0; i += threads)
        from.sum[i] = static_cast<Offset>(__ldcg(from.sum + i) + before);
    return all;
}

/* The edges of one thread: per_thread consecutive ones, or fewer at the end. */
template <typename Offset, int per_thread> struct edges {
    uint32_t column[per_thread]; /* local columns */
    Offset at[per_thread];       /* positions in the lists */
    uint32_t count;
};

/* Finds the edges first .. first + per_thread of the frontier, whose columns are among the lists
 * low .. high of the queue: a binary search for the first of them, then a walk (section 3.4.1). */
template <typename Offset, int per_thread>
__device__ __forceinline__ edges<Offset, per_thread>
find_edges(const hw_gpu_lists &columns, const frontier<Offset> &from, count64 first, count64 all,
           uint32_t low, uint32_t high)
{
    edges<Offset, per_thread> found;
    uint32_t list[per_thread];

    found.count = first >= all ? 0 : static_cast<uint32_t>(min(all - first, (count64)per_thread));
    low = last_index(low, high, [=](uint32_t i) { return from.sum[i] <= first; });
    count64 own = from.sum[low], next = low + 1 < high ? from.sum[low + 1] : all;
#pragma unroll
    for (int k = 0; k < per_thread; k++) {
        while (first + k >= next && low + 1 < high) {
            low++;
            own = next;
            next = low + 1 < high ? from.sum[low + 1] : all;
        }
        list[k] = low;
        found.at[k] = static_cast<Offset>(first + k - own);
    }
#pragma unroll
    for (int k = 0; k < per_thread; k++)
        found.column[k] = from.vertex[list[k]];
#pragma unroll
    for (int k = 0; k < per_thread; k++)
        found.at[k] += hw_list_begin<Offset>(columns, found.column[k]);
    return found;
}

/* The lists to which the edges first .. last of the `all` edges of the frontier belong, for a
 * block: range[0] - 1 .. range[1]. All threads of the block. */
template <typename Offset>
__device__ __forceinline__ void find_list_range(const frontier<Offset> &from, count64 first,
                                                count64 last, count64 all, uint32_t *range)
{
    if (threadIdx.x < 64) {
        const bool lower = threadIdx.x < 32;
        const count64 edge = lower ? first : last;
        uint32_t upto = lower ? 1 : from.count; /* all lists */
        if (lower ? first > 0 : last + 1 < all)
            upto = warp_partition_point(from.count, [&](uint32_t i) {
                return static_cast<count64>(__ldcg(from.sum + i)) <= edge;
            });
        if (lane_of() == 0)
            range[threadIdx.x / 32] = upto;
    }
    __syncthreads();
}

/* Consecutive tiles that a warp takes, of `all` edges: several where there are many, so that it
 * searches for its first list less often. */
__device__ __forceinline__ uint32_t tiles_per_warp(count64 all, uint32_t warps, uint32_t tile)
{
    const count64 tiles = all / (static_cast<count64>(warps) * tile * 4);

    return tiles < 1 ? 1 : tiles < 8 ? static_cast<uint32_t>(tiles) : 8;
}

/* Finds the lists of `count` edges from `first` on, for each lane those of edges that are 32 apart.
 * Lanes search for the first of per_thread consecutive edges, walk on from there (section 3.4.1),
 * and exchange the lists in scratch [32 * per_thread], so that a warp reads 32 consecutive edges at
 * a time. low: the list of `first` or the one before; lists end at `high`. Returns the list of the
 * last edge. Warp-collective. */
template <typename Offset, int per_thread>
__device__ __forceinline__ uint32_t search_lists(const Offset *sum, Offset first, uint32_t count,
                                                 uint32_t low, uint32_t high, uint16_t *scratch,
                                                 uint32_t *list)
{
    const uint32_t begin = min(lane_of() * per_thread, count - 1), base = low;

    low = last_index(low, min(high, low + count + 1), /* no list is empty */
                     [=](uint32_t i) { return sum[i] <= first + begin; });
    Offset next = low + 1 < high ? sum[low + 1] : ~static_cast<Offset>(0);
#pragma unroll
    for (int k = 0; k < per_thread; k++) {
        const Offset edge = first + min(begin + k, count - 1);
        while (edge >= next && low + 1 < high) {
            low++;
            next = low + 1 < high ? sum[low + 1] : ~static_cast<Offset>(0);
        }
        scratch[lane_of() * per_thread + k] = static_cast<uint16_t>(low - base);
    }
    __syncwarp();
#pragma unroll
    for (int k = 0; k < per_thread; k++)
        list[k] = base + scratch[k * 32 + lane_of()];
    __syncwarp();
    return __shfl_sync(HW_WARP, low, 31);
}

/* The same; where the edges belong to few lists, without a search: each lane knows where one list
 * begins. */
template <typename Offset, int per_thread>
__device__ __forceinline__ uint32_t find_lists(const Offset *sum, Offset first, uint32_t count,
                                               uint32_t low, uint32_t high, uint16_t *scratch,
                                               uint32_t *list)
{
    const uint32_t mine = low + 1 + lane_of();
    const Offset begin = mine < high ? sum[mine] : ~static_cast<Offset>(0);
    const uint32_t within = __popc(__ballot_sync(HW_WARP, begin <= first + (count - 1)));

    if (within == 32)
        return search_lists<Offset, per_thread>(sum, first, count, low, high, scratch, list);
#pragma unroll
    for (int k = 0; k < per_thread; k++)
        list[k] = low;
    for (uint32_t j = 0; j < within; j++) {
        const Offset from = __shfl_sync(HW_WARP, begin, static_cast<int>(j));
#pragma unroll
        for (int k = 0; k < per_thread; k++)
            list[k] += first + (k * 32 + lane_of()) >= from;
    }
    return low + within;
}

/* Blocks a multiprocessor: many, so that searches overlap their memory latency; but threads with
 * many edges need their registers, and smaller devices hold 1024 or 1536 threads where others hold
 * 2048. */
constexpr int resident_blocks(int per_thread)
{
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ < 800
    return 4;
#elif defined __CUDA_ARCH__ && (__CUDA_ARCH__ % 100 != 0 || __CUDA_ARCH__ >= 1200)
    return 6;
#else
    return per_thread > 4 ? 6 : 8;
#endif
}

} // namespace hw_scan2d

#endif
