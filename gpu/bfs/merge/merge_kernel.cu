/*
 * Method `merge`: top-down BFS, each level in two phases: work redistribution and neighbor
 * gathering (load-balanced GPU BFS, sections 3 and 4: the expand operation by merge path, and how
 * it is coupled with gathering).
 *
 * A level has a queue of n vertices, the exclusive sums s of the lengths of their lists, and m
 * neighbors in all. Expand computes the queue index of each neighbor: it merges s with t = 0..m-1,
 * an element of s before an equal one of t. Each element of t gets the index of the last element of
 * s before it. The merge path has n + m steps. Element i of s is merged at step i + s[i], so any
 * cut of the path is found by binary search in s.
 *
 *   coarse  a cut per tile of a block: at equal distances along the path (balanced redistribution:
 *           equal steps, no more neighbors) or along t (balanced gathering: equal neighbors, up to
 *           twice as many steps)
 *   fine    the steps of a tile are distributed evenly over the threads; each determines its cut in
 *           shared memory and merges sequentially
 *   gather  the neighbors of a tile are distributed evenly; reads of a list are coalesced
 *
 * HW_MERGE_SEPARATE: expand writes the location of each neighbor to memory, and after a barrier the
 * grid gathers from there; both phases are balanced. All levels run in one cooperative launch, with
 * barriers where the paper launches kernels. The exclusive sums are built while the queue is filled
 * (gpu/bfs/common/frontier_queue.cuh).
 *
 * Baselines without redistribution: a lane per vertex (direct), and the paper's reference,
 * Merrill's: a block for long lists, a warp for medium ones, and the short ones of a block packed
 * by a scan.
 */
#include "gpu/bfs/common/frontier_queue.cuh"
#include "gpu/bfs/merge/merge.h"
#include "gpu/device/prefix_search.cuh"
#include "gpu/graph/device_graph.cuh"

#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace
{

namespace cg = cooperative_groups;
using namespace hw_frontier_queue;
using kernel_params = hw_merge_params;

constexpr uint32_t tile_size = max_tile_edges;

/* The queue entries of a tile and the result of expand, in shared memory. */
template <typename Offset> struct tile_lists {
    Offset begin[tile_size + 1]; /* offset of the list, less the neighbors of the tile before it */
    uint32_t vertex[tile_size + 1];
    uint16_t before[tile_size + 1]; /* neighbors of the tile before the list */
    uint16_t owner[tile_size];      /* list of each neighbor of the tile */
    uint32_t cut[2];
};

/* A tile: neighbors first .. first + outputs of the level, lists base .. base + count of its queue.
 * The first list may have begun in the tile before. */
struct tile {
    count64 first;
    uint32_t outputs, base, count;
    uint32_t merged; /* lists merged before the first step of the tile: 1 or 0 */
};

/* The level being expanded. */
template <typename Offset> struct level {
    const uint32_t *queue;
    const Offset *prefix;
    uint32_t vertices;
    count64 edges;
    uint32_t depth;
    uint32_t size; /* steps or neighbors per tile: a multiple of threads, at most tile_size */
};

/* The tile size that gives all blocks equal work in the smallest number of iterations. */
__device__ __forceinline__ uint32_t tile_for(count64 elements)
{
    const count64 rounds = elements / (static_cast<count64>(gridDim.x) * tile_size) + 1;
    const count64 each = elements / (gridDim.x * rounds) + 1;

    return static_cast<uint32_t>((each + threads - 1) / threads) * threads;
}

template <typename Offset>
__device__ __forceinline__ level<Offset> level_of(const kernel_params &params, uint32_t depth)
{
    const count64 size = hw_load_relaxed(&params.common.control->queue[depth & 3]);

    return {params.common.queue[depth & 1],
            static_cast<const Offset *>(params.common.prefix[depth & 1]),
            hw_packed_entries(size, edge_bits),
            hw_packed_work(size, edge_bits),
            depth,
            tile_size};
}

/* ---- coarse cuts ---- */

/* Elements of s on the merge path before step `at`. Warp-collective. */
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

/* Elements of s up to element `at` of t; elements of s are distinct. Warp-collective. */
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
__device__ tile tile_by_steps(const level<Offset> &from, count64 k, tile_lists<Offset> &tile_lists)
{
    const count64 begin = k * from.size, all = from.vertices + from.edges;
    const count64 end = min(begin + from.size, all);

    if (threadIdx.x < 64) {
        const uint32_t cut = inputs_before(from, threadIdx.x < 32 ? begin : end);
        if (lane_of() == 0)
            tile_lists.cut[threadIdx.x / 32] = cut;
    }
    __syncthreads();
    const uint32_t i = tile_lists.cut[0], j = tile_lists.cut[1], merged = i > 0;
    return {begin - i, static_cast<uint32_t>((end - j) - (begin - i)), i - merged, j - i + merged,
            merged};
}

/* Tile k of equal neighbors. All threads of the block. */
template <typename Offset>
__device__ tile tile_by_outputs(const level<Offset> &from, count64 k,
                                tile_lists<Offset> &tile_lists)
{
    const count64 begin = k * from.size, end = min(begin + from.size, from.edges);

    if (threadIdx.x < 64) {
        const uint32_t cut = inputs_upto(from, threadIdx.x < 32 ? begin : end - 1);
        if (lane_of() == 0)
            tile_lists.cut[threadIdx.x / 32] = cut;
    }
    __syncthreads();
    const uint32_t i = tile_lists.cut[0] - 1, j = tile_lists.cut[1];
    return {begin, static_cast<uint32_t>(end - begin), i, j - i, 1};
}

/* ---- fine cuts ---- */

template <typename Offset>
__device__ void load(const kernel_params &params, const level<Offset> &from, const tile &tile,
                     tile_lists<Offset> &tile_lists)
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
            const Offset begin = hw_list_begin<Offset>(params.common.graph.out, v[j]);
            if (k >= tile.count)
                continue;
            tile_lists.before[k] =
                before[j] <= tile.first ? 0 : static_cast<uint16_t>(before[j] - tile.first);
            tile_lists.begin[k] = begin + static_cast<Offset>(tile.first - before[j]);
            tile_lists.vertex[k] = v[j];
        }
    }
    __syncthreads();
}

/* The expand operation on a tile: computes tile_lists.owner. All threads of the block. */
template <typename Offset> __device__ void expand(const tile &tile, tile_lists<Offset> &tile_lists)
{
    const uint32_t merged = tile.merged, steps = tile.count - merged + tile.outputs;
    const uint32_t steps_per_thread = (steps + threads - 1) / threads;
    const uint32_t from = min(threadIdx.x * steps_per_thread, steps),
                   to = min(from + steps_per_thread, steps);
    /* Lists before step `from`. */
    uint32_t next = partition_point(merged, tile.count, [&](uint32_t list) {
        return list - merged + tile_lists.before[list] < from;
    });
    uint32_t output = from - (next - merged);
    for (uint32_t step = from; step < to; step++) {
        if (next < tile.count && tile_lists.before[next] <= output)
            next++;
        else
            tile_lists.owner[output++] = static_cast<uint16_t>(next - 1);
    }
    __syncthreads();
}

/* ---- gathering ---- */

template <typename Offset>
__device__ __forceinline__ uint32_t neighbor_at(const kernel_params &params, Offset location)
{
    return __ldcs(params.common.graph.out.neighbor + location);
}

/* Visits four candidates per lane and collects the new ones. Warp-collective. */
template <typename Offset, typename Source>
__device__ __forceinline__ void visit_and_collect(const kernel_params &params, uint32_t depth,
                                                  discovered_buffer &found,
                                                  const uint32_t *candidate, Source source)
{
    const uint32_t new_bits = visit<4>(params.common, candidate, source);

    collect<4>(found, candidate, new_bits, [&](int k, bool mine) {
        enqueue_overflow<Offset>(params.common, depth, candidate[k], mine);
    });
}

/* Gathers the neighbors of a tile. All threads of the block. */
template <typename Offset>
__device__ void gather(const kernel_params &params, uint32_t depth, const tile &tile,
                       const tile_lists<Offset> &tile_lists, discovered_buffer &found)
{
    for (uint32_t base = 0; base < tile.outputs; base += 4 * threads) {
        uint32_t v[4];
#pragma unroll
        for (int k = 0; k < 4; k++) {
            const uint32_t output = base + k * threads + threadIdx.x;
            v[k] = HW_INVALID_VERTEX;
            if (output < tile.outputs)
                v[k] = neighbor_at<Offset>(params,
                                           tile_lists.begin[tile_lists.owner[output]] + output);
        }
        visit_and_collect<Offset>(params, depth, found, v, [&](int k) {
            return tile_lists.vertex[tile_lists.owner[base + k * threads + threadIdx.x]];
        });
    }
}

/* Queues the collected vertices if the buffer might not hold those of another tile. All threads of
 * the block; nothing may be collected before the next barrier. */
template <typename Offset>
__device__ __forceinline__ void flush_if_full(const kernel_params &params, uint32_t depth,
                                              discovered_buffer &found)
{
    __syncthreads();
    if (found.count > buffer_capacity - tile_size)
        enqueue_buffer<Offset>(params.common, depth, found);
}

/* One level, redistribution and gathering in one phase. by_inputs: balances redistribution, else
 * gathering. */
template <typename Offset>
__device__ void expand_and_gather(const kernel_params &params, level<Offset> from, bool by_inputs,
                                  tile_lists<Offset> &tile_lists, discovered_buffer &found)
{
    const count64 steps = by_inputs ? from.vertices + from.edges : from.edges;

    from.size = tile_for(steps);
    for (count64 k = blockIdx.x; k * from.size < steps; k += gridDim.x) {
        const tile tile =
            by_inputs ? tile_by_steps(from, k, tile_lists) : tile_by_outputs(from, k, tile_lists);
        load(params, from, tile, tile_lists);
        expand(tile, tile_lists);
        gather(params, from.depth, tile, tile_lists, found);
        flush_if_full<Offset>(params, from.depth, found);
    }
}

/* Redistribution of one level, to memory. */
template <typename Offset>
__device__ void expand_to_memory(const kernel_params &params, level<Offset> from,
                                 tile_lists<Offset> &tile_lists)
{
    const count64 steps = from.vertices + from.edges;

    from.size = tile_for(steps);
    for (count64 k = blockIdx.x; k * from.size < steps; k += gridDim.x) {
        const tile tile = tile_by_steps(from, k, tile_lists);
        load(params, from, tile, tile_lists);
        expand(tile, tile_lists);
        for (uint32_t output = threadIdx.x; output < tile.outputs; output += threads) {
            const uint32_t list_index = tile_lists.owner[output];
            __stcs(static_cast<Offset *>(params.location) + tile.first + output,
                   static_cast<Offset>(tile_lists.begin[list_index] + output));
            __stcs(params.source + tile.first + output, tile_lists.vertex[list_index]);
        }
        __syncthreads();
    }
}

/* Gathering of one level, from memory. */
template <typename Offset>
__device__ void gather_from_memory(const kernel_params &params, const level<Offset> &from,
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
                    v[j] = neighbor_at<Offset>(
                        params, __ldcs(static_cast<const Offset *>(params.location) + edge));
            }
            visit_and_collect<Offset>(params, from.depth, found, v, [&](int j) {
                return __ldcg(params.source + base + j * threads);
            });
        }
        flush_if_full<Offset>(params, from.depth, found);
        __syncthreads();
    }
}

/* ---- without redistribution ---- */

/* The list of one vertex. */
template <typename Offset> struct adjacency {
    uint32_t vertex, length;
    Offset begin;
};

/* The list of this thread in one of `tiles` tiles. Vertices are distributed cyclically: a queue
 * begins with hubs, as lists do, and these must not meet in one block. */
template <typename Offset>
__device__ __forceinline__ adjacency<Offset>
list_at(const kernel_params &params, const level<Offset> &from, uint32_t tile, uint32_t tiles)
{
    const count64 i = tile + static_cast<count64>(threadIdx.x) * tiles;

    if (i >= from.vertices)
        return {0, 0, 0};
    const uint32_t v = __ldcg(from.queue + i);
    const Offset begin = hw_list_begin<Offset>(params.common.graph.out, v);
    return {v, static_cast<uint32_t>(hw_list_begin<Offset>(params.common.graph.out, v + 1) - begin),
            begin};
}

/* Gathers elements at, at + stride, ... of one list, four at a time, up to `end`. Lanes have one
 * common list or one each. Warp-collective. */
template <typename Offset>
__device__ __forceinline__ void gather_list(const kernel_params &params, uint32_t depth,
                                            const adjacency<Offset> &list, uint32_t at,
                                            uint32_t end, uint32_t stride, discovered_buffer &found)
{
    for (; __any_sync(HW_WARP, at < end); at += 4 * stride) {
        uint32_t v[4];
#pragma unroll
        for (int k = 0; k < 4; k++)
            v[k] = at + k * stride < end ? neighbor_at<Offset>(params, list.begin + at + k * stride)
                                         : HW_INVALID_VERTEX;
        visit_and_collect<Offset>(params, depth, found, v, [&](int) { return list.vertex; });
    }
}

/* Gathers the lists of at least min_length neighbors one after another, each by the whole warp. */
template <typename Offset>
__device__ void gather_by_warp(const kernel_params &params, uint32_t depth, adjacency<Offset> &mine,
                               uint32_t min_length, discovered_buffer &found)
{
    uint32_t left = __ballot_sync(HW_WARP, mine.length >= min_length);

    for (; left; left &= left - 1) {
        const int lane = __ffs(left) - 1;
        const adjacency<Offset> chosen = {__shfl_sync(HW_WARP, mine.vertex, lane),
                                          __shfl_sync(HW_WARP, mine.length, lane),
                                          __shfl_sync(HW_WARP, mine.begin, lane)};
        gather_list<Offset>(params, depth, chosen, lane_of(), chosen.length, 32, found);
    }
    if (mine.length >= min_length)
        mine.length = 0;
}

/* One level, a lane per vertex, but a warp for long lists. */
template <typename Offset>
__device__ void gather_directly(const kernel_params &params, const level<Offset> &from,
                                discovered_buffer &found)
{
    constexpr uint32_t long_list = 64;
    const uint32_t tiles = (from.vertices + threads - 1) / threads;

    for (uint32_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        adjacency<Offset> mine = list_at(params, from, tile, tiles);
        gather_by_warp<Offset>(params, from.depth, mine, long_list, found);
        gather_list<Offset>(params, from.depth, mine, 0, mine.length, 1, found);
        flush_if_full<Offset>(params, from.depth, found);
        __syncthreads();
    }
}

/* Gathers the lists of at least `threads` neighbors one after another, each by the whole block. */
template <typename Offset>
__device__ void gather_by_block(const kernel_params &params, uint32_t depth,
                                adjacency<Offset> &mine, tile_lists<Offset> &tile_lists,
                                discovered_buffer &found)
{
    while (__syncthreads_or(mine.length >= threads)) {
        if (mine.length >= threads)
            atomicExch(&tile_lists.cut[0], threadIdx.x);
        __syncthreads();
        if (tile_lists.cut[0] == threadIdx.x) {
            tile_lists.vertex[0] = mine.vertex;
            tile_lists.vertex[1] = mine.length;
            tile_lists.begin[0] = mine.begin;
            mine.length = 0;
        }
        __syncthreads();
        const adjacency<Offset> chosen = {tile_lists.vertex[0], tile_lists.vertex[1],
                                          tile_lists.begin[0]};
        for (uint32_t at = 0; at < chosen.length; at += tile_size) {
            gather_list<Offset>(params, depth, chosen, at + threadIdx.x,
                                min(chosen.length, at + tile_size), threads, found);
            flush_if_full<Offset>(params, depth, found);
            __syncthreads();
        }
    }
}

/* Gathers short lists: packed in shared memory one after another, a tile at a time. All threads of
 * the block. */
template <typename Offset>
__device__ void gather_by_scan(const kernel_params &params, uint32_t depth,
                               const adjacency<Offset> &mine, tile_lists<Offset> &tile_lists,
                               discovered_buffer &found)
{
    count64 before, all;
    uint32_t done = 0;

    block_scan(found.scan).ExclusiveSum(static_cast<count64>(mine.length), before, all);
    for (uint32_t base = 0; base < all; base += tile_size) {
        const uint32_t length = min(tile_size, static_cast<uint32_t>(all) - base);
        for (; done < mine.length && before + done < base + length; done++) {
            tile_lists.begin[before + done - base] = mine.begin + done;
            tile_lists.vertex[before + done - base] = mine.vertex;
        }
        __syncthreads();
        for (uint32_t half = 0; half < length; half += 4 * threads) {
            uint32_t v[4];
#pragma unroll
            for (int k = 0; k < 4; k++) {
                const uint32_t i = half + k * threads + threadIdx.x;
                v[k] = i < length ? neighbor_at<Offset>(params, tile_lists.begin[i])
                                  : HW_INVALID_VERTEX;
            }
            visit_and_collect<Offset>(params, depth, found, v, [&](int k) {
                return tile_lists.vertex[half + k * threads + threadIdx.x];
            });
        }
        flush_if_full<Offset>(params, depth, found);
        __syncthreads();
    }
}

/* One level, by the lengths of lists. */
template <typename Offset>
__device__ void gather_by_length(const kernel_params &params, const level<Offset> &from,
                                 tile_lists<Offset> &tile_lists, discovered_buffer &found)
{
    const uint32_t tiles = (from.vertices + threads - 1) / threads;

    for (uint32_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        adjacency<Offset> mine = list_at(params, from, tile, tiles);
        gather_by_block<Offset>(params, from.depth, mine, tile_lists, found);
        gather_by_warp<Offset>(params, from.depth, mine, 32, found);
        __syncthreads();
        gather_by_scan<Offset>(params, from.depth, mine, tile_lists, found);
        flush_if_full<Offset>(params, from.depth, found);
        __syncthreads();
    }
}

/* ---- the search ---- */

template <typename Offset, int kind>
__global__ void __launch_bounds__(threads, 4)
    search(const __grid_constant__ kernel_params params, uint32_t root)
{
    __shared__ tile_lists<Offset> tile_lists;
    __shared__ discovered_buffer found;
    cg::grid_group grid = cg::this_grid();
    const bool traces = hw_grid_thread() == 0;

    if (threadIdx.x == 0)
        found.count = 0;
    init_search<Offset>(params.common, root);
    grid.sync();
    for (uint32_t depth = 0;; depth++) {
        const level<Offset> from = level_of<Offset>(params, depth);
        const bool by_inputs = static_cast<double>(from.edges) > params.factor * from.vertices;
        uint32_t routine = by_inputs ? HW_ROUTINE_MERGE_EXPAND : HW_ROUTINE_MERGE_GATHER;
        if (from.vertices == 0)
            break;
        clear_ahead(params.common, depth);
        if (kind == HW_MERGE_FUSED) {
            expand_and_gather(params, from, by_inputs, tile_lists, found);
        } else if (kind == HW_MERGE_SEPARATE) {
            expand_to_memory(params, from, tile_lists);
            grid.sync();
            gather_from_memory(params, from, found);
            routine = HW_ROUTINE_MERGE_SEPARATE;
        } else if (kind == HW_MERGE_DIRECT) {
            gather_directly(params, from, found);
            routine = HW_ROUTINE_DIRECT;
        } else {
            gather_by_length(params, from, tile_lists, found);
            routine = HW_ROUTINE_CTA_WARP_SCAN;
        }
        enqueue_buffer<Offset>(params.common, depth, found);
        grid.sync();
        if (traces)
            trace_append(params.common, depth, routine, from.edges);
    }
    if (traces)
        trace_end(params.common);
}

const void *kernel_of(const hw_merge_params *params)
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

    return kernels[params->kind][params->common.graph.wide];
}

} // namespace

int hw_merge_launch_shape(const hw_merge_params *params, int *blocks)
{
    return hw_frontier_queue_shape(kernel_of(params), blocks);
}

int hw_merge_launch(const hw_merge_params *params, int blocks, uint32_t root)
{
    void *arguments[] = {const_cast<hw_merge_params *>(params), &root};

    return cudaLaunchCooperativeKernel(kernel_of(params), dim3(blocks), dim3(threads), arguments, 0,
                                       nullptr);
}
