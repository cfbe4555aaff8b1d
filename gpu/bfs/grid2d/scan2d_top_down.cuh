/*
 * Method `scan2d` on a grid of GPUs: top-down expansion of the queued frontier (algorithm 3 of
 * "Parallel Distributed Breadth First Search on the Kepler Architecture").
 *
 * The edges of the queue are divided evenly among warps, which find their lists by a search in the
 * prefix sums (gpu/bfs/grid2d/scan2d_expansion.cuh). An atomic operation on a row's bit in
 * `visited` decides who reaches it first; that thread stores the predecessor. `visited` has the
 * rows of all owners, so that each row is sent to its owner once.
 *
 * A level of many edges is expanded in slices. Between slices the entries of rows that have come to
 * be visited are skipped in what is left of the queue.
 */
#ifndef HOPWAVE_GPU_BFS_GRID2D_SCAN2D_TOP_DOWN_CUH
#define HOPWAVE_GPU_BFS_GRID2D_SCAN2D_TOP_DOWN_CUH

#include "gpu/bfs/grid2d/scan2d_gather.cuh"

namespace hw_scan2d_grid
{
namespace
{

/* `count` edges from `first` on, whose slots are among low .. high. Returns the last slot. A
 * whole warp. */
template <typename Offset, int many>
__device__ __forceinline__ uint32_t expand_some(const kernel_params &plan,
                                                const front<Offset> &from, Offset first,
                                                uint32_t count, uint32_t low, uint32_t high,
                                                uint16_t *room)
{
    uint32_t slot[many], row[many];

    low = find_slots<Offset, many>(from.sum, first, count, low, high, room, slot);
#pragma unroll
    for (int k = 0; k < many; k++) {
        const uint32_t edge = k * 32 + lane_of();
        row[k] = HW_INVALID_VERTEX;
        if (edge < count)
            row[k] =
                __ldcs(plan.lists.rank + static_cast<Offset>(first + edge + from.shift[slot[k]]));
    }
    visit<many>(visited_of(plan), row, [&](int k) { return from.vertex[slot[k]]; });
    return low;
}

/* The edges begin .. end of the queue: algorithm 3. Warps take some tiles after each other at a
 * time, where there are many, so that they need not look for the first list often. All threads of
 * the grid. */
template <typename Offset, int many>
__device__ __forceinline__ void expand_edges(const kernel_params &plan, const front<Offset> &from,
                                             count64 begin, count64 end, shared &room)
{
    constexpr uint32_t tile = 32 * many, warps = threads / 32;
    const uint32_t chunk = tile * tiles_at_once(end - begin, gridDim.x * warps, tile);
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
            low = expand_some<Offset, many>(plan, from, static_cast<Offset>(base + i),
                                            min(count - i, tile), low, from.count,
                                            room.scan.slot + warp * tile);
    }
}

/* Queues what is left of lists from the edge `begin` of a queue's `all` on, and from where rows at
 * `open` or after begin in each. All threads of the grid. */
template <typename Offset>
__device__ __noinline__ void requeue(const kernel_params &plan, const front<Offset> &from,
                                     count64 begin, count64 all, uint32_t open,
                                     const line<Offset> &to, shared &room)
{
    constexpr uint32_t tile = gathered * threads;

    narrow(from, begin, all - 1, all, room.cut);
    for (count64 base = room.cut[0] - 1 + static_cast<count64>(blockIdx.x) * tile;
         base < from.count; base += static_cast<count64>(gridDim.x) * tile) {
        some<Offset> of;
#pragma unroll
        for (int k = 0; k < gathered; k++) {
            const count64 i = base + k * threads + threadIdx.x;
            of.column[k] = HW_INVALID_VERTEX;
            of.begin[k] = of.end[k] = 0;
            if (i < from.count) {
                const count64 next = i + 1 < from.count ? from.sum[i + 1] : all;
                of.column[k] = from.vertex[i];
                of.begin[k] = static_cast<Offset>(max(static_cast<count64>(from.sum[i]), begin)) +
                              from.shift[i];
                of.end[k] = static_cast<Offset>(next) + from.shift[i];
            }
        }
        leave_out(plan, open, of);
        enqueue(to, of, room);
    }
}

/* A level has so many parts at most. */
constexpr int most_parts = 3;

/* The share of what is queued still that a part but the last one takes: one of so many. */
__device__ __forceinline__ count64 parts_left(int part)
{
    return part == 0 ? 16 : 4;
}

/* Whether a queue is worth another part: there is room for what is left of it, and edges for some
 * tiles of all blocks. */
__device__ __forceinline__ bool worth_parts(const kernel_params &plan, count64 queued,
                                            uint32_t tile)
{
    const uint64_t half = static_cast<uint64_t>(plan.rows) * plan.block / 2;

    return vertices_of(queued) <= half &&
           edges_of(queued) >= static_cast<count64>(gridDim.x) * tile * hw_min_tiles_per_part;
}

/*
 * The edges of the queue. A level of many edges finds its hubs with few of them, to which most
 * others go as well: it is taken in parts, and after each of them what has come to be visited at
 * the beginning of the lists is left out of what is still to do. Returns the edges that were
 * looked at. All threads of the grid.
 */
template <typename Offset, int many>
__device__ __forceinline__ count64 expand_queue(const kernel_params &plan, uint32_t open,
                                                cg::grid_group &grid, shared &room)
{
    count64 queued = hw_load_relaxed(&plan.control->queue[0]), begin = 0, looked = 0;
    uint32_t turn = 0;

    for (int part = 0;; part++) {
        const line<Offset> line = line_of<Offset>(plan, turn);
        const front<Offset> from = {line.column, vertices_of(queued), line.prefix, line.shift};
        const count64 all = edges_of(queued);
        const bool last = part == most_parts - 1 || !worth_parts(plan, queued, threads * many);
        const count64 end = last ? all : begin + (all - begin) / parts_left(part);

        expand_edges<Offset, many>(plan, from, begin, end, room);
        looked += end - begin;
        if (last)
            return looked;
        grid.sync();
        if (hw_grid_thread() == 0)
            plan.control->queue[!turn] = 0, plan.control->opened[!(part & 1)] = plan.block;
        find_open(plan, &plan.control->opened[part & 1]);
        grid.sync();
        const uint32_t now =
            static_cast<uint32_t>(hw_load_relaxed(&plan.control->opened[part & 1]));
        begin = end;
        if (now < plan.block / 16384 || now / 2 < open)
            continue;
        open = now;
        requeue(plan, from, begin, all, open, line_of<Offset>(plan, !turn), room);
        grid.sync();
        turn = !turn;
        queued = hw_load_relaxed(&plan.control->queue[turn]);
        begin = 0;
    }
}

} // namespace
} // namespace hw_scan2d_grid

#endif
