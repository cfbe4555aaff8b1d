/*
 * Method `merge`: breadth-first search top-down, each level in two phases: work
 * redistribution and neighbour gathering (load-balanced GPU BFS, sections 3 and 4: the
 * expand operation by merge path and how it is coupled with gathering).
 *
 * A level has a queue of n vertices, s, the exclusive sums of the lengths of their lists,
 * and m neighbours in all. Expand makes the index into the queue of each neighbour: it
 * merges s with t = 0..m-1, an element of s before an equal one of t, and each element of
 * t that is taken has the index of the last element of s before it. The merge path has
 * n + m steps; where element i of s comes on it is known, i + s[i], so that any cut of it
 * is found by a search in s.
 *
 *   coarse    a cut for each tile of a block: at equal distances along the path (balanced
 *             redistribution: equal steps, no more neighbours) or along t (balanced
 *             gathering: equal neighbours, up to twice as many steps);
 *   fine      the steps of a tile are shared out evenly among the threads, each finding its
 *             cut in shared memory and merging on its own;
 *   gather    the neighbours of a tile are shared out evenly, reads of a list in order.
 *
 * Separately, expand writes where each neighbour is to memory, and after a barrier the
 * grid gathers from there, both balanced. Levels follow each other inside one
 * cooperative launch, with barriers where the paper has launches of kernels; the
 * exclusive sums are made while the queue is filled (gpu/bfs/common/frontier_queue.cuh).
 *
 * Without redistribution there are the baselines: a lane for each vertex (direct), and the
 * paper's reference, Merrill's: a block for long lists, a warp for middling ones, and the
 * short ones of a block packed by a scan.
 */
#include "gpu/bfs/common/frontier_queue.cuh"
#include "gpu/bfs/merge/merge.h"
#include "gpu/graph/device_graph.cuh"

#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace
{

namespace cg = cooperative_groups;
using namespace hw_frontier_queue;
using kernel_params = hw_merge_params;

constexpr uint32_t tile_size = max_tile_edges;

/* The part of the queue that a tile needs, and what expand makes of it. All in shared
 * memory. */
template <typename Offset> struct slots {
    Offset begin[tile_size + 1]; /* of the list, less the neighbours of the tile before it */
    uint32_t vertex[tile_size + 1];
    uint16_t before[tile_size + 1]; /* neighbours of the tile before its own */
    uint16_t owner[tile_size];      /* slot of each neighbour of the tile */
    uint32_t cut[2];
};

/* A tile: neighbours first .. first + outputs of the level, slots base .. base + count of
 * its queue. The first slot may have begun in the tile before. */
struct tile {
    count64 first;
    uint32_t outputs, base, count;
    uint32_t begun; /* slots that the merge has passed already: 1 or 0 */
};

/* The level that is expanded. */
template <typename Offset> struct level {
    const uint32_t *queue;
    const Offset *prefix;
    uint32_t vertices;
    count64 edges;
    uint32_t depth;
    uint32_t size; /* steps or neighbours of a tile: a multiple of threads, at most tile_size */
};

/* The tile that cuts so many elements for all blocks alike, in as few rounds as there may
 * be. */
__device__ __forceinline__ uint32_t tile_for(count64 elements)
{
    const count64 rounds = elements / (static_cast<count64>(gridDim.x) * tile_size) + 1;
    const count64 each = elements / (gridDim.x * rounds) + 1;

    return static_cast<uint32_t>((each + threads - 1) / threads) * threads;
}

template <typename Offset>
__device__ __forceinline__ level<Offset> level_of(const kernel_params &plan, uint32_t depth)
{
    const count64 size = hw_load_relaxed(&plan.common.control->queue[depth & 3]);

    return {plan.common.queue[depth & 1],
            static_cast<const Offset *>(plan.common.prefix[depth & 1]),
            vertices_of(size),
            edges_of(size),
            depth,
            tile_size};
}

/* ---- coarse ---- */

/* Elements of s on the merge path before step `at`. A whole warp. */
template <typename Offset>
__device__ __forceinline__ uint32_t inputs_before(const level<Offset> &from, count64 at)
{
    if (at == 0)
        return 0;
    if (at >= from.vertices + from.edges)
        return from.vertices;
    return warp_partition_point(from.vertices, [&](uint32_t i) {
        return i + static_cast<count64>(__ldcg(from.prefix + i)) < at;
    });
}

/* Elements of s up to element `at` of t; they all differ. A whole warp. */
template <typename Offset>
__device__ __forceinline__ uint32_t inputs_upto(const level<Offset> &from, count64 at)
{
    if (at == 0)
        return 1;
    if (at + 1 >= from.edges)
        return from.vertices;
    return warp_partition_point(from.vertices, [&](uint32_t i) {
        return static_cast<count64>(__ldcg(from.prefix + i)) <= at;
    });
}

/* Tile k of equal steps. All threads of the block. */
template <typename Offset>
__device__ tile tile_by_steps(const level<Offset> &from, count64 k, slots<Offset> &slots)
{
    const count64 begin = k * from.size, all = from.vertices + from.edges;
    const count64 end = min(begin + from.size, all);

    if (threadIdx.x < 64) {
        const uint32_t cut = inputs_before(from, threadIdx.x < 32 ? begin : end);
        if (lane_of() == 0)
            slots.cut[threadIdx.x / 32] = cut;
    }
    __syncthreads();
    const uint32_t i = slots.cut[0], j = slots.cut[1], begun = i > 0;
    return {begin - i, static_cast<uint32_t>((end - j) - (begin - i)), i - begun, j - i + begun,
            begun};
}

/* Tile k of equal neighbours. All threads of the block. */
template <typename Offset>
__device__ tile tile_by_outputs(const level<Offset> &from, count64 k, slots<Offset> &slots)
{
    const count64 begin = k * from.size, end = min(begin + from.size, from.edges);

    if (threadIdx.x < 64) {
        const uint32_t cut = inputs_upto(from, threadIdx.x < 32 ? begin : end - 1);
        if (lane_of() == 0)
            slots.cut[threadIdx.x / 32] = cut;
    }
    __syncthreads();
    const uint32_t i = slots.cut[0] - 1, j = slots.cut[1];
    return {begin, static_cast<uint32_t>(end - begin), i, j - i, 1};
}

/* ---- fine ---- */

template <typename Offset>
__device__ void load(const kernel_params &plan, const level<Offset> &from, const tile &tile,
                     slots<Offset> &slots)
{
    for (uint32_t base = threadIdx.x; base < tile.count; base += 4 * threads) {
        uint32_t v[4];
        count64 before[4];
#pragma unroll
        for (int j = 0; j < 4; j++) {
            const uint32_t k = base + j * threads;
            v[j] = k < tile.count ? __ldcg(from.queue + tile.base + k) : 0;
            before[j] = k < tile.count ? __ldcg(from.prefix + tile.base + k) : 0;
        }
#pragma unroll
        for (int j = 0; j < 4; j++) {
            const uint32_t k = base + j * threads;
            const Offset begin = hw_begin<Offset>(plan.common.graph.out, v[j]);
            if (k >= tile.count)
                continue;
            slots.before[k] =
                before[j] <= tile.first ? 0 : static_cast<uint16_t>(before[j] - tile.first);
            slots.begin[k] = begin + static_cast<Offset>(tile.first - before[j]);
            slots.vertex[k] = v[j];
        }
    }
    __syncthreads();
}

/* The expand operation on a tile: slots.owner. */
template <typename Offset> __device__ void expand(const tile &tile, slots<Offset> &slots)
{
    const uint32_t begun = tile.begun, steps = tile.count - begun + tile.outputs;
    const uint32_t share = (steps + threads - 1) / threads;
    const uint32_t from = min(threadIdx.x * share, steps), to = min(from + share, steps);
    uint32_t next = begun, end = tile.count;

    while (next < end) { /* the slots before step `from` */
        const uint32_t middle = (next + end) / 2;
        if (middle - begun + slots.before[middle] < from)
            next = middle + 1;
        else
            end = middle;
    }
    uint32_t output = from - (next - begun);
    for (uint32_t step = from; step < to; step++) {
        if (next < tile.count && slots.before[next] <= output)
            next++;
        else
            slots.owner[output++] = static_cast<uint16_t>(next - 1);
    }
    __syncthreads();
}

/* ---- gathering ---- */

template <typename Offset>
__device__ __forceinline__ uint32_t neighbour(const kernel_params &plan, Offset location)
{
    return __ldcs(plan.common.graph.out.neighbor + location);
}

/* Visits four candidates a lane and collects what is new. A whole warp. */
template <typename Offset, typename Source>
__device__ __forceinline__ void take(const kernel_params &plan, uint32_t depth,
                                     discovered_buffer &found, const uint32_t *candidate,
                                     Source source)
{
    const uint32_t fresh = visit<4>(plan.common, candidate, source);

    collect<4>(found, candidate, fresh, [&](int k, bool mine) {
        enqueue_overflow<Offset>(plan.common, depth, candidate[k], mine);
    });
}

/* Gathers the neighbours of a tile. All threads of the block. */
template <typename Offset>
__device__ void gather(const kernel_params &plan, uint32_t depth, const tile &tile,
                       const slots<Offset> &slots, discovered_buffer &found)
{
    for (uint32_t base = 0; base < tile.outputs; base += 4 * threads) {
        uint32_t v[4];
#pragma unroll
        for (int k = 0; k < 4; k++) {
            const uint32_t output = base + k * threads + threadIdx.x;
            v[k] = HW_INVALID_VERTEX;
            if (output < tile.outputs)
                v[k] = neighbour<Offset>(plan, slots.begin[slots.owner[output]] + output);
        }
        take<Offset>(plan, depth, found, v, [&](int k) {
            return slots.vertex[slots.owner[base + k * threads + threadIdx.x]];
        });
    }
}

/* Queues finds while there is room for those of another tile. All threads of the block;
 * until the next barrier nothing may be found. */
template <typename Offset>
__device__ __forceinline__ void make_room(const kernel_params &plan, uint32_t depth,
                                          discovered_buffer &found)
{
    __syncthreads();
    if (found.count > buffer_capacity - tile_size)
        enqueue_buffer<Offset>(plan.common, depth, found);
}

/* One level, redistribution and gathering together. by_inputs: the former is balanced,
 * else the latter. */
template <typename Offset>
__device__ void expand_and_gather(const kernel_params &plan, level<Offset> from, bool by_inputs,
                                  slots<Offset> &slots, discovered_buffer &found)
{
    const count64 steps = by_inputs ? from.vertices + from.edges : from.edges;

    from.size = tile_for(steps);
    for (count64 k = blockIdx.x; k * from.size < steps; k += gridDim.x) {
        const tile tile =
            by_inputs ? tile_by_steps(from, k, slots) : tile_by_outputs(from, k, slots);
        load(plan, from, tile, slots);
        expand(tile, slots);
        gather(plan, from.depth, tile, slots, found);
        make_room<Offset>(plan, from.depth, found);
    }
}

/* One level's redistribution, to memory. */
template <typename Offset>
__device__ void expand_to_memory(const kernel_params &plan, level<Offset> from,
                                 slots<Offset> &slots)
{
    const count64 steps = from.vertices + from.edges;

    from.size = tile_for(steps);
    for (count64 k = blockIdx.x; k * from.size < steps; k += gridDim.x) {
        const tile tile = tile_by_steps(from, k, slots);
        load(plan, from, tile, slots);
        expand(tile, slots);
        for (uint32_t output = threadIdx.x; output < tile.outputs; output += threads) {
            const uint32_t slot = slots.owner[output];
            __stcs(static_cast<Offset *>(plan.location) + tile.first + output,
                   static_cast<Offset>(slots.begin[slot] + output));
            __stcs(plan.source + tile.first + output, slots.vertex[slot]);
        }
        __syncthreads();
    }
}

/* One level's gathering, from memory. */
template <typename Offset>
__device__ void gather_from_memory(const kernel_params &plan, const level<Offset> &from,
                                   discovered_buffer &found)
{
    const uint32_t tile = tile_for(from.edges);

    for (count64 k = blockIdx.x; k * tile < from.edges; k += gridDim.x) {
        const count64 end = min((k + 1) * tile, from.edges);
        for (uint32_t half = 0; half < tile; half += 4 * threads) {
            const count64 base = k * tile + half + threadIdx.x;
            uint32_t v[4];
#pragma unroll
            for (int j = 0; j < 4; j++) {
                const count64 edge = base + j * threads;
                v[j] = HW_INVALID_VERTEX;
                if (edge < end)
                    v[j] = neighbour<Offset>(
                        plan, __ldcs(static_cast<const Offset *>(plan.location) + edge));
            }
            take<Offset>(plan, from.depth, found, v,
                         [&](int j) { return __ldcg(plan.source + base + j * threads); });
        }
        make_room<Offset>(plan, from.depth, found);
        __syncthreads();
    }
}

/* ---- without redistribution ---- */

/* The list of one vertex. */
template <typename Offset> struct list {
    uint32_t vertex, length;
    Offset begin;
};

/* The list of this thread in one of so many tiles. Vertices are dealt out: lists begin with
 * their hubs, and so does a queue, which are not to meet in one block. */
template <typename Offset>
__device__ __forceinline__ list<Offset>
list_at(const kernel_params &plan, const level<Offset> &from, uint32_t tile, uint32_t tiles)
{
    const count64 i = tile + static_cast<count64>(threadIdx.x) * tiles;

    if (i >= from.vertices)
        return {0, 0, 0};
    const uint32_t v = __ldcg(from.queue + i);
    const Offset begin = hw_begin<Offset>(plan.common.graph.out, v);
    return {v, static_cast<uint32_t>(hw_begin<Offset>(plan.common.graph.out, v + 1) - begin),
            begin};
}

/* Gathers elements at, at + stride, ... of one list, four at a time, up to `end`. A whole
 * warp, whose lanes have one list or one each. */
template <typename Offset>
__device__ __forceinline__ void gather_list(const kernel_params &plan, uint32_t depth,
                                            const list<Offset> &list, uint32_t at, uint32_t end,
                                            uint32_t stride, discovered_buffer &found)
{
    for (; __any_sync(HW_WARP, at < end); at += 4 * stride) {
        uint32_t v[4];
#pragma unroll
        for (int k = 0; k < 4; k++)
            v[k] = at + k * stride < end ? neighbour<Offset>(plan, list.begin + at + k * stride)
                                         : HW_INVALID_VERTEX;
        take<Offset>(plan, depth, found, v, [&](int) { return list.vertex; });
    }
}

/* Gathers the lists that are longer than `least`, the whole warp one after another. */
template <typename Offset>
__device__ void gather_by_warp(const kernel_params &plan, uint32_t depth, list<Offset> &mine,
                               uint32_t least, discovered_buffer &found)
{
    uint32_t left = __ballot_sync(HW_WARP, mine.length >= least);

    for (; left; left &= left - 1) {
        const int lane = __ffs(left) - 1;
        const list<Offset> chosen = {__shfl_sync(HW_WARP, mine.vertex, lane),
                                     __shfl_sync(HW_WARP, mine.length, lane),
                                     __shfl_sync(HW_WARP, mine.begin, lane)};
        gather_list<Offset>(plan, depth, chosen, lane_of(), chosen.length, 32, found);
    }
    if (mine.length >= least)
        mine.length = 0;
}

/* One level, a lane for each vertex, but a warp for long lists. */
template <typename Offset>
__device__ void gather_directly(const kernel_params &plan, const level<Offset> &from,
                                discovered_buffer &found)
{
    constexpr uint32_t long_list = 64;
    const uint32_t tiles = (from.vertices + threads - 1) / threads;

    for (uint32_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        list<Offset> mine = list_at(plan, from, tile, tiles);
        gather_by_warp<Offset>(plan, from.depth, mine, long_list, found);
        gather_list<Offset>(plan, from.depth, mine, 0, mine.length, 1, found);
        make_room<Offset>(plan, from.depth, found);
        __syncthreads();
    }
}

/* Gathers the lists of at least `threads` neighbours, the whole block one after another. */
template <typename Offset>
__device__ void gather_by_block(const kernel_params &plan, uint32_t depth, list<Offset> &mine,
                                slots<Offset> &slots, discovered_buffer &found)
{
    while (__syncthreads_or(mine.length >= threads)) {
        if (mine.length >= threads)
            atomicExch(&slots.cut[0], threadIdx.x);
        __syncthreads();
        if (slots.cut[0] == threadIdx.x) {
            slots.vertex[0] = mine.vertex;
            slots.vertex[1] = mine.length;
            slots.begin[0] = mine.begin;
            mine.length = 0;
        }
        __syncthreads();
        const list<Offset> chosen = {slots.vertex[0], slots.vertex[1], slots.begin[0]};
        for (uint32_t at = 0; at < chosen.length; at += tile_size) {
            gather_list<Offset>(plan, depth, chosen, at + threadIdx.x,
                                min(chosen.length, at + tile_size), threads, found);
            make_room<Offset>(plan, depth, found);
            __syncthreads();
        }
    }
}

/* Gathers short lists: packed one after another in shared memory, the block a tile at a
 * time. */
template <typename Offset>
__device__ void gather_by_scan(const kernel_params &plan, uint32_t depth, const list<Offset> &mine,
                               slots<Offset> &slots, discovered_buffer &found)
{
    count64 before, all;
    uint32_t done = 0;

    block_scan(found.scan).ExclusiveSum(static_cast<count64>(mine.length), before, all);
    for (uint32_t base = 0; base < all; base += tile_size) {
        const uint32_t length = min(tile_size, static_cast<uint32_t>(all) - base);
        for (; done < mine.length && before + done < base + length; done++) {
            slots.begin[before + done - base] = mine.begin + done;
            slots.vertex[before + done - base] = mine.vertex;
        }
        __syncthreads();
        for (uint32_t half = 0; half < length; half += 4 * threads) {
            uint32_t v[4];
#pragma unroll
            for (int k = 0; k < 4; k++) {
                const uint32_t i = half + k * threads + threadIdx.x;
                v[k] = i < length ? neighbour<Offset>(plan, slots.begin[i]) : HW_INVALID_VERTEX;
            }
            take<Offset>(plan, depth, found, v,
                         [&](int k) { return slots.vertex[half + k * threads + threadIdx.x]; });
        }
        make_room<Offset>(plan, depth, found);
        __syncthreads();
    }
}

/* One level, by the length of lists. */
template <typename Offset>
__device__ void gather_by_length(const kernel_params &plan, const level<Offset> &from,
                                 slots<Offset> &slots, discovered_buffer &found)
{
    const uint32_t tiles = (from.vertices + threads - 1) / threads;

    for (uint32_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        list<Offset> mine = list_at(plan, from, tile, tiles);
        gather_by_block<Offset>(plan, from.depth, mine, slots, found);
        gather_by_warp<Offset>(plan, from.depth, mine, 32, found);
        __syncthreads();
        gather_by_scan<Offset>(plan, from.depth, mine, slots, found);
        make_room<Offset>(plan, from.depth, found);
        __syncthreads();
    }
}

/* ---- the search ---- */

template <typename Offset, int kind>
__global__ void __launch_bounds__(threads, 4)
    search(const __grid_constant__ kernel_params plan, uint32_t root)
{
    __shared__ slots<Offset> slots;
    __shared__ discovered_buffer found;
    cg::grid_group grid = cg::this_grid();
    const bool keeps_rows = hw_grid_thread() == 0;

    if (threadIdx.x == 0)
        found.count = 0;
    begin<Offset>(plan.common, root);
    grid.sync();
    for (uint32_t depth = 0;; depth++) {
        const level<Offset> from = level_of<Offset>(plan, depth);
        const bool by_inputs = static_cast<double>(from.edges) > plan.factor * from.vertices;
        uint32_t routine = by_inputs ? HW_ROUTINE_MERGE_EXPAND : HW_ROUTINE_MERGE_GATHER;
        if (from.vertices == 0)
            break;
        clear_ahead(plan.common, depth);
        if (kind == HW_MERGE_FUSED) {
            expand_and_gather(plan, from, by_inputs, slots, found);
        } else if (kind == HW_MERGE_SEPARATE) {
            expand_to_memory(plan, from, slots);
            grid.sync();
            gather_from_memory(plan, from, found);
            routine = HW_ROUTINE_MERGE_SEPARATE;
        } else if (kind == HW_MERGE_DIRECT) {
            gather_directly(plan, from, found);
            routine = HW_ROUTINE_DIRECT;
        } else {
            gather_by_length(plan, from, slots, found);
            routine = HW_ROUTINE_CTA_WARP_SCAN;
        }
        enqueue_buffer<Offset>(plan.common, depth, found);
        grid.sync();
        if (keeps_rows)
            trace_append(plan.common, depth, routine, from.edges);
    }
    if (keeps_rows)
        trace_end(plan.common);
}

const void *kernel_of(const hw_merge_params *plan)
{
    static const void *const kernels[HW_MERGE_KINDS][2] = {
        {reinterpret_cast<const void *>(search<uint32_t, HW_MERGE_FUSED>),
         reinterpret_cast<const void *>(search<uint64_t, HW_MERGE_FUSED>)},
        {reinterpret_cast<const void *>(search<uint32_t, HW_MERGE_SEPARATE>),
         reinterpret_cast<const void *>(search<uint64_t, HW_MERGE_SEPARATE>)},
        {reinterpret_cast<const void *>(search<uint32_t, HW_MERGE_DIRECT>),
         reinterpret_cast<const void *>(search<uint64_t, HW_MERGE_DIRECT>)},
        {reinterpret_cast<const void *>(search<uint32_t, HW_MERGE_CTA>),
         reinterpret_cast<const void *>(search<uint64_t, HW_MERGE_CTA>)}};

    return kernels[plan->kind][plan->common.graph.wide];
}

} // namespace

int hw_merge_launch_shape(const hw_merge_params *plan, int *blocks)
{
    return hw_frontier_queue_shape(kernel_of(plan), blocks);
}

int hw_merge_launch(const hw_merge_params *plan, int blocks, uint32_t root)
{
    void *arguments[] = {const_cast<hw_merge_params *>(plan), &root};

    return cudaLaunchCooperativeKernel(kernel_of(plan), dim3(blocks), dim3(threads), arguments, 0,
                                       nullptr);
}
