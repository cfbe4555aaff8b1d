/*
 * Methods `merge` and `cta-warp-scan`, device code of one level: work redistribution by merge path,
 * gathering with status lookup, and gathering without redistribution. The algorithm is described in
 * gpu/bfs/merge/merge_kernel.cu.
 */
#ifndef HOPWAVE_GPU_BFS_MERGE_MERGE_LEVEL_CUH
#define HOPWAVE_GPU_BFS_MERGE_MERGE_LEVEL_CUH

#include "gpu/bfs/common/frontier_queue.cuh"
#include "gpu/bfs/merge/merge.h"
#include "gpu/device/prefix_search.cuh"
#include "gpu/graph/device_graph.cuh"

#include <cuda_runtime.h>

namespace hw_merge
{
namespace
{

using namespace hw_frontier_queue;
using kernel_params = hw_merge_params;

constexpr uint32_t tile_size = max_tile_edges;

/* How a level is run: tiles of a given size, and vertices in tiles as they are queued, where the
 * parameters say so; kernels for each phase, between which memory holds what they compute. */
struct tuned {
    static constexpr bool fixed = false, phased = false;
};
struct fixed_tiles {
    static constexpr bool fixed = true, phased = false;
};
struct phases {
    static constexpr bool fixed = true, phased = true;
};

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

/* The tile size of a level. */
template <class How>
__device__ __forceinline__ uint32_t size_of(const kernel_params &params, count64 elements)
{
    if constexpr (How::fixed)
        if (params.tile > 0)
            return params.tile;
    return tile_for(elements);
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

/* Counts a tile of given size or order. One thread of the block. */
template <class How>
__device__ __forceinline__ void count_tile(const kernel_params &params, count64 edges)
{
    if constexpr (How::fixed)
        if (params.common.trace && threadIdx.x == 0) {
            atomicAdd(&params.counts->tiles, 1ull);
            atomicMax(&params.counts->max_edges, edges);
        }
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

template <typename Offset, class How>
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
            Offset begin;
            if constexpr (How::phased)
                begin = k < tile.count
                            ? __ldcg(static_cast<const Offset *>(params.begin) + tile.base + k)
                            : 0;
            else
                begin = hw_list_begin<Offset>(params.common.graph.out, v[j]);
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
template <typename Offset, class How>
__device__ void expand_and_gather(const kernel_params &params, level<Offset> from, bool by_inputs,
                                  tile_lists<Offset> &tile_lists, discovered_buffer &found)
{
    const count64 steps = by_inputs ? from.vertices + from.edges : from.edges;

    from.size = size_of<How>(params, steps);
    for (count64 k = blockIdx.x; k * from.size < steps; k += gridDim.x) {
        const tile tile =
            by_inputs ? tile_by_steps(from, k, tile_lists) : tile_by_outputs(from, k, tile_lists);
        load<Offset, How>(params, from, tile, tile_lists);
        count_tile<How>(params, tile.outputs);
        expand(tile, tile_lists);
        gather(params, from.depth, tile, tile_lists, found);
        flush_if_full<Offset>(params, from.depth, found);
    }
}

/* Redistribution of one level, to memory. */
template <typename Offset, class How>
__device__ void expand_to_memory(const kernel_params &params, level<Offset> from,
                                 tile_lists<Offset> &tile_lists)
{
    const count64 steps = from.vertices + from.edges;

    from.size = size_of<How>(params, steps);
    for (count64 k = blockIdx.x; k * from.size < steps; k += gridDim.x) {
        const tile tile = tile_by_steps(from, k, tile_lists);
        load<Offset, How>(params, from, tile, tile_lists);
        count_tile<How>(params, tile.outputs);
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

/* Gathering of one level, from memory: of the locations of neighbors or, gathered, of neighbors
 * themselves, which are looked up. */
template <typename Offset, class How, bool gathered = false>
__device__ void gather_from_memory(const kernel_params &params, const level<Offset> &from,
                                   discovered_buffer &found)
{
    const uint32_t tile = size_of<How>(params, from.edges);

    for (count64 k = blockIdx.x; k * tile < from.edges; k += gridDim.x) {
        const count64 end = min((k + 1) * tile, from.edges);
        for (uint32_t half = 0; half < tile; half += 4 * threads) {
            const count64 base = k * tile + half + threadIdx.x;
            uint32_t v[4];
#pragma unroll
            for (int j = 0; j < 4; j++) {
                const count64 edge = base + j * threads;
                v[j] = HW_INVALID_VERTEX;
                if (edge >= end)
                    continue;
                if constexpr (gathered)
                    v[j] = __ldcs(params.gathered + edge);
                else
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
 * begins with hubs, as lists do, and these must not meet in one block. With params.consecutive they
 * are taken as they are queued all the same. */
template <typename Offset, class How>
__device__ __forceinline__ adjacency<Offset>
list_at(const kernel_params &params, const level<Offset> &from, uint32_t tile, uint32_t tiles)
{
    count64 i = tile + static_cast<count64>(threadIdx.x) * tiles;

    if constexpr (How::fixed)
        if (params.consecutive)
            i = static_cast<count64>(tile) * threads + threadIdx.x;
    if (i >= from.vertices)
        return {0, 0, 0};
    const uint32_t v = __ldcg(from.queue + i);
    const Offset begin = hw_list_begin<Offset>(params.common.graph.out, v);
    return {v, static_cast<uint32_t>(hw_list_begin<Offset>(params.common.graph.out, v + 1) - begin),
            begin};
}

/* phases: claims places in the edge queue, from which the next kernel looks neighbors up. One
 * thread.
 */
__device__ __forceinline__ count64 claim_places(const kernel_params &params, uint32_t count)
{
    return atomicAdd(params.gathered_size, static_cast<count64>(count));
}

/* Writes a gathered neighbor and its source there. */
__device__ __forceinline__ void store_edge(const kernel_params &params, count64 at,
                                           uint32_t neighbor, uint32_t source)
{
    __stcs(params.gathered + at, neighbor);
    __stcs(params.source + at, source);
}

/* Gathers elements at, at + stride, ... of one list, four at a time, up to `end`. Lanes have one
 * common list or one each. place: of the list in the edge queue, where there is one.
 * Warp-collective. */
template <typename Offset, class How>
__device__ __forceinline__ void
gather_list(const kernel_params &params, uint32_t depth, const adjacency<Offset> &list, uint32_t at,
            uint32_t end, uint32_t stride, discovered_buffer &found, count64 place = 0)
{
    for (; __any_sync(HW_WARP, at < end); at += 4 * stride) {
        uint32_t v[4];
#pragma unroll
        for (int k = 0; k < 4; k++)
            v[k] = at + k * stride < end ? neighbor_at<Offset>(params, list.begin + at + k * stride)
                                         : HW_INVALID_VERTEX;
        if constexpr (How::phased) {
            for (int k = 0; k < 4; k++)
                if (at + k * stride < end)
                    store_edge(params, place + at + k * stride, v[k], list.vertex);
        } else {
            visit_and_collect<Offset>(params, depth, found, v, [&](int) { return list.vertex; });
        }
    }
}

/* Gathers the lists of at least min_length neighbors one after another, each by the whole warp. */
template <typename Offset, class How>
__device__ void gather_by_warp(const kernel_params &params, uint32_t depth, adjacency<Offset> &mine,
                               uint32_t min_length, discovered_buffer &found)
{
    uint32_t left = __ballot_sync(HW_WARP, mine.length >= min_length);

    for (; left; left &= left - 1) {
        const int lane = __ffs(left) - 1;
        const adjacency<Offset> chosen = {__shfl_sync(HW_WARP, mine.vertex, lane),
                                          __shfl_sync(HW_WARP, mine.length, lane),
                                          __shfl_sync(HW_WARP, mine.begin, lane)};
        count64 place = 0;
        if constexpr (How::phased) {
            if (lane_of() == 0)
                place = claim_places(params, chosen.length);
            place = __shfl_sync(HW_WARP, place, 0);
        }
        gather_list<Offset, How>(params, depth, chosen, lane_of(), chosen.length, 32, found, place);
    }
    if (mine.length >= min_length)
        mine.length = 0;
}

/* One level, a lane per vertex, but a warp for long lists. */
template <typename Offset, class How>
__device__ void gather_directly(const kernel_params &params, const level<Offset> &from,
                                discovered_buffer &found)
{
    constexpr uint32_t long_list = 64;
    const uint32_t tiles = (from.vertices + threads - 1) / threads;

    for (uint32_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        adjacency<Offset> mine = list_at<Offset, How>(params, from, tile, tiles);
        gather_by_warp<Offset, How>(params, from.depth, mine, long_list, found);
        gather_list<Offset, How>(params, from.depth, mine, 0, mine.length, 1, found);
        flush_if_full<Offset>(params, from.depth, found);
        __syncthreads();
    }
}

/* Gathers the lists of at least `threads` neighbors one after another, each by the whole block. */
template <typename Offset, class How>
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
            if constexpr (How::phased)
                found.start = claim_places(params, mine.length);
            mine.length = 0;
        }
        __syncthreads();
        const adjacency<Offset> chosen = {tile_lists.vertex[0], tile_lists.vertex[1],
                                          tile_lists.begin[0]};
        const count64 place = How::phased ? found.start : 0;
        for (uint32_t at = 0; at < chosen.length; at += tile_size) {
            gather_list<Offset, How>(params, depth, chosen, at + threadIdx.x,
                                     min(chosen.length, at + tile_size), threads, found, place);
            flush_if_full<Offset>(params, depth, found);
            __syncthreads();
        }
    }
}

/* Gathers short lists: packed in shared memory one after another, a tile at a time. All threads of
 * the block. */
template <typename Offset, class How>
__device__ void gather_by_scan(const kernel_params &params, uint32_t depth,
                               const adjacency<Offset> &mine, tile_lists<Offset> &tile_lists,
                               discovered_buffer &found)
{
    count64 before, all;
    uint32_t done = 0;

    block_scan(found.scan).ExclusiveSum(static_cast<count64>(mine.length), before, all);
    if constexpr (How::phased) {
        __syncthreads();
        if (threadIdx.x == 0)
            found.start = all > 0 ? claim_places(params, static_cast<uint32_t>(all)) : 0;
    }
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
            if constexpr (How::phased) {
                for (uint32_t k = 0; k < 4; k++) {
                    const uint32_t i = half + k * threads + threadIdx.x;
                    if (i < length)
                        store_edge(params, found.start + base + i, v[k], tile_lists.vertex[i]);
                }
            } else {
                visit_and_collect<Offset>(params, depth, found, v, [&](int k) {
                    return tile_lists.vertex[half + k * threads + threadIdx.x];
                });
            }
        }
        flush_if_full<Offset>(params, depth, found);
        __syncthreads();
    }
}

/* One level, by the lengths of lists. */
template <typename Offset, class How>
__device__ void gather_by_length(const kernel_params &params, const level<Offset> &from,
                                 tile_lists<Offset> &tile_lists, discovered_buffer &found)
{
    const uint32_t tiles = (from.vertices + threads - 1) / threads;

    for (uint32_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        adjacency<Offset> mine = list_at<Offset, How>(params, from, tile, tiles);
        if constexpr (How::fixed)
            if (params.common.trace) {
                count64 before, edges;
                block_scan(found.scan)
                    .ExclusiveSum(static_cast<count64>(mine.length), before, edges);
                count_tile<How>(params, edges);
                __syncthreads();
            }
        gather_by_block<Offset, How>(params, from.depth, mine, tile_lists, found);
        gather_by_warp<Offset, How>(params, from.depth, mine, 32, found);
        __syncthreads();
        gather_by_scan<Offset, How>(params, from.depth, mine, tile_lists, found);
        flush_if_full<Offset>(params, from.depth, found);
        __syncthreads();
    }
}

} // namespace
} // namespace hw_merge

#endif
