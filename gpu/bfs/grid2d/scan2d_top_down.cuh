/*
 * Method `scan2d` on a grid of GPUs: top-down expansion of the queued frontier (algorithm 3 of
 * "Parallel Distributed Breadth First Search on the Kepler Architecture").
 *
 * The edges of the queue are divided evenly among warps, which find their lists by a search in the
 * prefix sums (gpu/bfs/grid2d/scan2d_expansion.cuh). An atomic operation on a row's bit in
 * `visited` decides who reaches it first; that thread stores the predecessor. `visited` has the
 * rows of all owners, so that each row is sent to its owner once.
 *
 * A level of many edges is expanded in slices. Between slices, entries of rows that were visited
 * meanwhile are skipped in the rest of the queue.
 *
 * The authors' earlier expansion (baseline `scatter-compact`) passes twice over the edges of a
 * level: each edge to an unvisited row stores its number in the row's element of a map, where the
 * last writer wins; after a barrier those that find their number there discover the row.
 */
#ifndef HOPWAVE_GPU_BFS_GRID2D_SCAN2D_TOP_DOWN_CUH
#define HOPWAVE_GPU_BFS_GRID2D_SCAN2D_TOP_DOWN_CUH

#include "gpu/bfs/grid2d/scan2d_gather.cuh"

namespace hw_scan2d
{
namespace
{

/* What is done to the edges of a level: all of it; the same with a look at the variant; or one of
 * the two passes of scatter-compact. */
enum class edge_pass { visit, varied_visit, scatter, compact };

/* Whether a row was visited when the level began. */
__device__ __forceinline__ bool visited_before(const kernel_params &params, uint32_t row)
{
    return params.search.visited_before[row / 32] >> (row & 31) & 1;
}

/* One pass of scatter-compact over the edges first + k * 32 + lane. In the second the bit of a row
 * is set by an atomic operation, since 32 rows share a word; it decides nothing. */
template <typename Offset, int per_lane, edge_pass pass, typename Source>
__device__ __forceinline__ void scatter_or_compact(const kernel_params &params, Offset first,
                                                   const uint32_t *row, Source source)
{
    Offset *map = static_cast<Offset *>(params.variant.map);

#pragma unroll
    for (int k = 0; k < per_lane; k++) {
        const Offset edge = first + (k * 32 + lane_of());
        if (row[k] == HW_INVALID_VERTEX || visited_before(params, row[k]))
            continue;
        if constexpr (pass == edge_pass::scatter) {
            __stcg(map + row[k], edge);
        } else if (__ldcg(map + row[k]) == edge) {
            atomicOr(params.search.visited + row[k] / 32, 1u << (row[k] & 31));
            params.search.predecessor[row[k]] = source(k);
        }
    }
}

/* Expands `count` edges from `first` on, which belong to the lists low .. high of the queue.
 * Returns the list of the last edge. Warp-collective. */
template <typename Offset, int per_lane, edge_pass pass>
__device__ __forceinline__ uint32_t expand_some(const kernel_params &params,
                                                const frontier<Offset> &from, Offset first,
                                                uint32_t count, uint32_t low, uint32_t high,
                                                uint16_t *scratch)
{
    uint32_t list[per_lane], row[per_lane];

    low = find_lists<Offset, per_lane>(from.sum, first, count, low, high, scratch, list);
#pragma unroll
    for (int k = 0; k < per_lane; k++) {
        const uint32_t edge = k * 32 + lane_of();
        row[k] = HW_INVALID_VERTEX;
        if (edge < count)
            row[k] = __ldcs(params.by_column.neighbor +
                            static_cast<Offset>(first + edge + from.shift[list[k]]));
    }
    const auto source = [&](int k) { return from.vertex[list[k]]; };
    if constexpr (pass == edge_pass::visit || pass == edge_pass::varied_visit) {
        const uint32_t new_bits = visit<per_lane>(visited_of(params), row, source);
        if constexpr (pass == edge_pass::varied_visit)
            group_by_owner<per_lane>(params, row, new_bits);
    } else {
        scatter_or_compact<Offset, per_lane, pass>(params, first, row, source);
    }
    return low;
}

/* Expands the edges begin .. end of the queue (algorithm 3). Where edges are many a warp takes
 * several consecutive tiles, so that it searches for its first list less often. All threads of the
 * grid. */
template <typename Offset, int per_lane, edge_pass pass>
__device__ __forceinline__ void expand_edges(const kernel_params &params,
                                             const frontier<Offset> &from, count64 begin,
                                             count64 end, block_shared &smem)
{
    constexpr uint32_t tile = 32 * per_lane, warps = threads / 32;
    const uint32_t chunk = tile * tiles_per_warp(end - begin, gridDim.x * warps, tile);
    const uint32_t warp = threadIdx.x / 32;

    for (count64 base = begin + (static_cast<count64>(blockIdx.x) * warps + warp) * chunk;
         base < end; base += static_cast<count64>(gridDim.x) * warps * chunk) {
        const uint32_t count = static_cast<uint32_t>(min(end - base, static_cast<count64>(chunk)));
        uint32_t low =
            warp_partition_point(
                from.count,
                [&](uint32_t i) { return static_cast<count64>(__ldcg(from.sum + i)) <= base; }) -
            1;
        for (uint32_t i = 0; i < count; i += tile)
            low = expand_some<Offset, per_lane, pass>(params, from, static_cast<Offset>(base + i),
                                                      min(count - i, tile), low, from.count,
                                                      smem.scan.list + warp * tile);
    }
}

/* Requeues the rest of a queue from edge `begin` of `all` on; each list from the first row at
 * position first_unvisited or above. All threads of the grid. */
template <typename Offset>
__device__ __noinline__ void requeue(const kernel_params &params, const frontier<Offset> &from,
                                     count64 begin, count64 all, uint32_t first_unvisited,
                                     const list_queue<Offset> &to, block_shared &smem)
{
    constexpr uint32_t tile = columns_per_thread * threads;

    find_list_range(from, begin, all - 1, all, smem.range);
    for (count64 base = smem.range[0] - 1 + static_cast<count64>(blockIdx.x) * tile;
         base < from.count; base += static_cast<count64>(gridDim.x) * tile) {
        list_batch<Offset> batch;
#pragma unroll
        for (int k = 0; k < columns_per_thread; k++) {
            const count64 i = base + k * threads + threadIdx.x;
            batch.column[k] = HW_INVALID_VERTEX;
            batch.begin[k] = batch.end[k] = 0;
            if (i < from.count) {
                const count64 next = i + 1 < from.count ? from.sum[i + 1] : all;
                batch.column[k] = from.vertex[i];
                batch.begin[k] =
                    static_cast<Offset>(max(static_cast<count64>(from.sum[i]), begin)) +
                    from.shift[i];
                batch.end[k] = static_cast<Offset>(next) + from.shift[i];
            }
        }
        skip_visited(params, first_unvisited, batch);
        enqueue(to, batch, smem);
    }
}

/* A level is expanded in at most so many slices. */
constexpr int max_slices = 3;

/* A slice but the last takes one in so many of the edges that are still queued. */
__device__ __forceinline__ count64 slice_divisor(int slice)
{
    return slice == 0 ? 16 : 4;
}

/* Whether a queue is worth another slice: what is left of it fits into half of the arrays, and
 * there are edges for some tiles of all blocks. */
__device__ __forceinline__ bool worth_slicing(const kernel_params &params, count64 queued,
                                              uint32_t tile)
{
    const uint64_t half = static_cast<uint64_t>(params.config.rows) * params.config.block / 2;

    return hw_packed_entries(queued, edge_bits) <= half &&
           hw_packed_work(queued, edge_bits) >=
               static_cast<count64>(gridDim.x) * tile * hw_min_tiles_per_part;
}

/* Expands the queue. A level of many edges visits the hubs with few of them, and most other edges
 * lead to hubs as well. So it is expanded in slices, and after each, entries of rows that were
 * visited meanwhile, which are at the beginning of lists, are skipped in the rest. Returns the
 * edges examined. varied: looks at the variant. All threads of the grid. */
template <typename Offset, int per_lane, bool varied>
__device__ __forceinline__ count64 expand_queue(const kernel_params &params,
                                                uint32_t first_unvisited, cg::grid_group &grid,
                                                block_shared &smem)
{
    count64 queued = hw_load_relaxed(&params.search.control->queue[0]), begin = 0, examined = 0;
    uint32_t half = 0;

    for (int slice = 0;; slice++) {
        const list_queue<Offset> queue = list_queue_of<Offset>(params, half);
        const frontier<Offset> from = {queue.column, hw_packed_entries(queued, edge_bits),
                                       queue.prefix, queue.shift};
        const count64 all = hw_packed_work(queued, edge_bits);
        const bool last = slice == max_slices - 1 || (varied && params.variant.one_slice) ||
                          !worth_slicing(params, queued, threads * per_lane);
        const count64 end = last ? all : begin + (all - begin) / slice_divisor(slice);

        expand_edges<Offset, per_lane, varied ? edge_pass::varied_visit : edge_pass::visit>(
            params, from, begin, end, smem);
        examined += end - begin;
        if (last)
            return examined;
        grid.sync();
        if (hw_grid_thread() == 0)
            params.search.control->queue[!half] = 0,
            params.search.control->slice_first_unvisited[!(slice & 1)] = params.config.block;
        find_first_unvisited(params, &params.search.control->slice_first_unvisited[slice & 1]);
        grid.sync();
        const uint32_t now_unvisited = static_cast<uint32_t>(
            hw_load_relaxed(&params.search.control->slice_first_unvisited[slice & 1]));
        begin = end;
        if (now_unvisited < params.config.block / 16384 || now_unvisited / 2 < first_unvisited)
            continue;
        first_unvisited = now_unvisited;
        requeue(params, from, begin, all, first_unvisited, list_queue_of<Offset>(params, !half),
                smem);
        grid.sync();
        half = !half;
        queued = hw_load_relaxed(&params.search.control->queue[half]);
        begin = 0;
    }
}

/* Expands the queue by scatter-compact. Returns the edges examined. All threads of the grid. */
template <typename Offset, int per_lane>
__device__ __noinline__ count64 scatter_compact(const kernel_params &params, cg::grid_group &grid,
                                                block_shared &smem)
{
    const count64 queued = hw_load_relaxed(&params.search.control->queue[0]);
    const list_queue<Offset> queue = list_queue_of<Offset>(params, 0);
    const frontier<Offset> from = {queue.column, hw_packed_entries(queued, edge_bits), queue.prefix,
                                   queue.shift};
    const count64 all = hw_packed_work(queued, edge_bits);

    expand_edges<Offset, per_lane, edge_pass::scatter>(params, from, 0, all, smem);
    grid.sync();
    expand_edges<Offset, per_lane, edge_pass::compact>(params, from, 0, all, smem);
    return all;
}

} // namespace
} // namespace hw_scan2d

#endif
