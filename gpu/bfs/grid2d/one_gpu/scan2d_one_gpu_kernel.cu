/*
 * Methods `scan2d` and `scatter-compact` on one part: top-down breadth-first search in one
 * cooperative kernel, with barriers of the grid where the paper launches kernels.
 *
 * `scan2d` ("Parallel Distributed Breadth First Search on the Kepler Architecture", section 3.4,
 * algorithm 3): the edges of a level are divided evenly among the threads by an exclusive scan of
 * the lengths of its lists and a binary search in the prefix sums. A thread works on several edges
 * at once, so that their loads overlap. An atomic operation on a vertex's bit decides which edge
 * visits it (gpu/bfs/grid2d/scan2d_expansion.cuh).
 *
 * Its baseline `scatter-compact` has no atomic operations on vertices, as the authors' earlier
 * code: every edge to an unvisited vertex writes its own number to the vertex's element of a map;
 * the last writer wins. After a barrier the edges whose number is in the map are collected.
 */
#include "gpu/bfs/grid2d/scan2d_expansion.cuh"

#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace
{

namespace cg = cooperative_groups;
using namespace hw_frontier_queue;
using namespace hw_scan2d;
using kernel_params = hw_scan2d_one_gpu_params;

/* Shared memory of a block. */
struct block_shared {
    discovered_buffer found;
    uint32_t range[2];
};

/* Appends what the block has discovered to the frontier of the next level. All threads of the
 * block. */
__device__ void flush_list(const hw_frontier_queue_params &params, uint32_t depth,
                           discovered_buffer &found)
{
    __syncthreads();
    const uint32_t count = found.count;
    if (count == 0)
        return;
    if (threadIdx.x == 0)
        found.start =
            atomicAdd(&params.control->queue[(depth + 1) & 3], hw_pack_size(count, 0, edge_bits));
    __syncthreads();
    uint32_t *queue = params.queue[(depth + 1) & 1] + hw_packed_entries(found.start, edge_bits);
    for (uint32_t i = threadIdx.x; i < count; i += threads)
        queue[i] = found.vertex[i];
    if (threadIdx.x == 0)
        found.count = 0;
    __syncthreads();
}

/* Appends discoveries to the queue unless those of another tile fit; until the next barrier nothing
 * may be collected. */
__device__ __forceinline__ void flush_if_full(const kernel_params &params, uint32_t depth,
                                              discovered_buffer &found)
{
    __syncthreads();
    if (found.count > buffer_capacity - max_tile_edges)
        flush_list(params.common, depth, found);
}

__device__ __forceinline__ void no_overflow(int, bool)
{
}

/* ---- scan2d ---- */

/* Queues what a thread has discovered by an atomic operation each (algorithm 3, line 10). */
template <int per_thread>
__device__ __forceinline__ void queue_each(const kernel_params &params, uint32_t depth,
                                           const uint32_t *row, uint32_t fresh)
{
    const hw_frontier_queue_params &common = params.common;

#pragma unroll
    for (int k = 0; k < per_thread; k++) {
        if (!(fresh >> k & 1))
            continue;
        const count64 at = atomicAdd(&common.control->queue[(depth + 1) & 3],
                                     static_cast<count64>(hw_pack_size(1, 0, edge_bits)));
        common.queue[(depth + 1) & 1][hw_packed_entries(at, edge_bits)] = row[k];
    }
}

/* A level, by `blocks` blocks, of which the first is block 0. varied: looks at params.groups. */
template <typename Offset, int per_thread, bool varied>
__device__ void expand(const kernel_params &params, uint32_t depth, const frontier<Offset> &from,
                       count64 all, uint32_t blocks, block_shared &smem)
{
    const hw_gpu_lists &columns = params.common.graph.out;
    constexpr count64 tile = threads * per_thread;
    static_assert(tile <= max_tile_edges, "discoveries fit");

    for (count64 base = blockIdx.x * tile; base < all; base += blocks * tile) {
        uint32_t row[per_thread];
        find_list_range(from, base, min(base + tile, all) - 1, all, smem.range);
        const edges<Offset, per_thread> mine = find_edges<Offset, per_thread>(
            columns, from, base + threadIdx.x * per_thread, all, smem.range[0] - 1, smem.range[1]);
#pragma unroll
        for (int k = 0; k < per_thread; k++)
            row[k] = k < mine.count ? __ldcs(columns.neighbor + mine.at[k]) : HW_INVALID_VERTEX;
        const uint32_t fresh =
            visit<per_thread>(params.common, row, [&](int k) { return mine.column[k]; });
        if (varied && params.groups) {
            queue_each<per_thread>(params, depth, row, fresh);
            __syncthreads(); /* the range has been read */
            continue;
        }
        collect<per_thread>(smem.found, row, fresh, no_overflow);
        flush_if_full(params, depth, smem.found);
    }
}

/* ---- scatter-compact ---- */

constexpr int scatter_per_thread = 4;

/* Clears the map but for the root. All threads of the grid. */
template <typename Offset> __device__ void begin_map(const kernel_params &params, uint32_t root)
{
    Offset *map = static_cast<Offset *>(params.map);

    for (uint64_t v = hw_grid_thread(); v < params.common.graph.active; v += hw_grid_threads())
        map[v] = v == root ? 0 : ~static_cast<Offset>(0);
}

/* Each edge to a vertex that no earlier level claimed writes its number to the map. */
template <typename Offset>
__device__ void scatter(const kernel_params &params, const frontier<Offset> &from, count64 all,
                        block_shared &smem)
{
    const hw_gpu_lists &columns = params.common.graph.out;
    Offset *map = static_cast<Offset *>(params.map);
    constexpr count64 tile = threads * scatter_per_thread;

    for (count64 base = blockIdx.x * tile; base < all; base += gridDim.x * tile) {
        const count64 first = base + threadIdx.x * scatter_per_thread;
        uint32_t row[scatter_per_thread];
        bool unclaimed[scatter_per_thread];
        find_list_range(from, base, min(base + tile, all) - 1, all, smem.range);
        const edges<Offset, scatter_per_thread> mine = find_edges<Offset, scatter_per_thread>(
            columns, from, first, all, smem.range[0] - 1, smem.range[1]);
#pragma unroll
        for (int k = 0; k < scatter_per_thread; k++)
            row[k] = k < mine.count ? __ldcs(columns.neighbor + mine.at[k]) : HW_INVALID_VERTEX;
#pragma unroll
        for (int k = 0; k < scatter_per_thread; k++)
            unclaimed[k] = k < mine.count && __ldcg(map + row[k]) == ~static_cast<Offset>(0);
#pragma unroll
        for (int k = 0; k < scatter_per_thread; k++) {
            if (unclaimed[k])
                __stcg(map + row[k], static_cast<Offset>(first + k));
            if (k < mine.count)
                __stcs(params.neighbour + first + k, unclaimed[k] ? row[k] : HW_INVALID_VERTEX);
        }
        __syncthreads();
    }
}

/* Collects the edges whose number is in the map, after a barrier. */
template <typename Offset>
__device__ void compact(const kernel_params &params, uint32_t depth, const frontier<Offset> &from,
                        count64 all, block_shared &smem)
{
    const Offset *map = static_cast<const Offset *>(params.map);
    constexpr count64 tile = threads * scatter_per_thread;

    for (count64 base = blockIdx.x * tile; base < all; base += gridDim.x * tile) {
        uint32_t row[scatter_per_thread], fresh = 0;
#pragma unroll
        for (int k = 0; k < scatter_per_thread; k++) {
            const count64 edge = base + k * threads + threadIdx.x;
            row[k] = edge < all ? __ldcs(params.neighbour + edge) : HW_INVALID_VERTEX;
        }
#pragma unroll
        for (int k = 0; k < scatter_per_thread; k++) {
            const count64 edge = base + k * threads + threadIdx.x;
            if (row[k] == HW_INVALID_VERTEX || __ldcg(map + row[k]) != static_cast<Offset>(edge))
                continue;
            params.common.parent[row[k]] =
                find_edges<Offset, 1>(params.common.graph.out, from, edge, all, 0, from.count)
                    .column[0];
            fresh |= 1u << k;
        }
        collect<scatter_per_thread>(smem.found, row, fresh, no_overflow);
        flush_if_full(params, depth, smem.found);
        __syncthreads();
    }
}

/* ---- the search ---- */

template <typename Offset>
__device__ __forceinline__ frontier<Offset> frontier_of(const kernel_params &params, uint32_t depth)
{
    return {params.common.queue[depth & 1],
            hw_packed_entries(hw_load_relaxed(&params.common.control->queue[depth & 3]), edge_bits),
            static_cast<Offset *>(params.common.prefix[0])};
}

/* Levels whose frontier one block scans, and that have few edges, follow each other in that block,
 * without a barrier of the grid: in graphs of large diameter nearly all do. */
constexpr count64 single_cta_edges = 8 * threads;

/* Expands such levels from `depth` on. Block 0. */
template <typename Offset, int per_thread, bool varied>
__device__ __noinline__ void expand_single_cta(const kernel_params &params, uint32_t depth,
                                               block_shared &smem)
{
    for (;; depth++) {
        const frontier<Offset> from = frontier_of<Offset>(params, depth);
        if (from.count == 0 || from.count > min_scan_chunk)
            break;
        scan_chunk(params.common.graph.out, from, params.total, smem.found.scan);
        __syncthreads();
        const count64 all = __ldcg(params.total);
        if (all > single_cta_edges)
            break;
        clear_ahead(params.common, depth);
        expand<Offset, per_thread, varied>(params, depth, from, all, 1, smem);
        flush_list(params.common, depth, smem.found);
        __syncthreads();
        if (threadIdx.x == 0)
            trace_append(params.common, depth, HW_ROUTINE_SCAN2D, all);
    }
    if (threadIdx.x == 0)
        params.common.control->depth = depth;
}

/* per_thread: edges per thread; 0: scatter-compact. varied: looks at params.groups and
 * no_single_block. */
template <typename Offset, int per_thread, bool varied>
__global__ void __launch_bounds__(threads, resident_blocks(per_thread))
    search(const __grid_constant__ kernel_params params, uint32_t root)
{
    __shared__ block_shared smem;
    cg::grid_group grid = cg::this_grid();
    const bool traces = hw_grid_thread() == 0;

    if (threadIdx.x == 0)
        smem.found.count = 0;
    init_search<Offset>(params.common, root);
    if (per_thread == 0)
        begin_map<Offset>(params, root);
    grid.sync();
    for (uint32_t depth = 0;; depth++) {
        frontier<Offset> from = frontier_of<Offset>(params, depth);
        if constexpr (per_thread > 0) {
            if (from.count <= min_scan_chunk && !(varied && params.no_single_block)) {
                if (blockIdx.x == 0)
                    expand_single_cta<Offset, per_thread, varied>(params, depth, smem);
                grid.sync();
                depth = hw_load_relaxed(&params.common.control->depth);
                from = frontier_of<Offset>(params, depth);
            }
        }
        if (from.count == 0)
            break;
        clear_ahead(params.common, depth);
        scan_chunk(params.common.graph.out, from, params.total, smem.found.scan);
        grid.sync();
        const count64 all = add_chunk_offsets(from, params.total, smem.found.scan);
        if (chunk_of(from.count) < from.count)
            grid.sync();
        if constexpr (per_thread > 0) {
            expand<Offset, per_thread, varied>(params, depth, from, all, gridDim.x, smem);
        } else {
            scatter(params, from, all, smem);
            grid.sync();
            compact(params, depth, from, all, smem);
        }
        flush_list(params.common, depth, smem.found);
        grid.sync();
        if (traces)
            trace_append(params.common, depth,
                         per_thread ? HW_ROUTINE_SCAN2D : HW_ROUTINE_SCATTER_COMPACT, all);
    }
    if (traces)
        trace_end(params.common);
}

template <typename Offset, bool varied> const void *kernel_for(int per_thread)
{
    static const void *const kernels[HW_SCAN2D_MAX_EDGES_PER_THREAD + 1] = {
        reinterpret_cast<const void *>(search<Offset, 0, false>),
        reinterpret_cast<const void *>(search<Offset, 1, varied>),
        reinterpret_cast<const void *>(search<Offset, 2, varied>),
        reinterpret_cast<const void *>(search<Offset, 3, varied>),
        reinterpret_cast<const void *>(search<Offset, 4, varied>),
        reinterpret_cast<const void *>(search<Offset, 5, varied>),
        reinterpret_cast<const void *>(search<Offset, 6, varied>),
        reinterpret_cast<const void *>(search<Offset, 7, varied>),
        reinterpret_cast<const void *>(search<Offset, 8, varied>)};

    return kernels[per_thread];
}

template <bool varied> const void *kernel_in_width(const hw_scan2d_one_gpu_params *params)
{
    const int per_thread = params->scatter ? 0 : params->edges_per_thread;

    return params->common.graph.wide ? kernel_for<uint64_t, varied>(per_thread)
                                     : kernel_for<uint32_t, varied>(per_thread);
}

const void *kernel_of(const hw_scan2d_one_gpu_params *params)
{
    return params->groups || params->no_single_block ? kernel_in_width<true>(params)
                                                     : kernel_in_width<false>(params);
}

} // namespace

int hw_scan2d_launch_shape(const hw_scan2d_one_gpu_params *params, int *blocks)
{
    const int error = hw_frontier_queue_shape(kernel_of(params), blocks);

    if (*blocks > HW_SCAN2D_MAX_BLOCKS)
        *blocks = HW_SCAN2D_MAX_BLOCKS;
    return error;
}

int hw_scan2d_launch(const hw_scan2d_one_gpu_params *params, int blocks, uint32_t root)
{
    void *arguments[] = {const_cast<hw_scan2d_one_gpu_params *>(params), &root};

    return cudaLaunchCooperativeKernel(kernel_of(params), dim3(blocks), dim3(threads), arguments, 0,
                                       nullptr);
}
