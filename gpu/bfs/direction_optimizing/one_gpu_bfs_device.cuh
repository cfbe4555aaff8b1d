/*
 * Method `fused` on one GPU: primitives shared by its levels. Block scan, vertex records,
 * the grid barrier with its reduced counters, trace records.
 */
#ifndef HOPWAVE_GPU_BFS_DIRECTION_OPTIMIZING_ONE_GPU_BFS_DEVICE_CUH
#define HOPWAVE_GPU_BFS_DIRECTION_OPTIMIZING_ONE_GPU_BFS_DEVICE_CUH

#include "gpu/bfs/direction_optimizing/one_gpu_bfs.h"
#include "gpu/bfs/direction_optimizing/top_down.cuh"
#include "gpu/bfs/direction_optimizing/visited_tests.cuh"
#include "gpu/device/cached_bitmap.cuh"
#include "gpu/device/grid_barrier.cuh"
#include "gpu/device/packed_queue.h"
#include "gpu/device/summarized_bitmap.cuh"
#include "gpu/device/warp.cuh"
#include "gpu/engine/trace_append.cuh"
#include "gpu/graph/device_graph.cuh"

#include <cuda_runtime.h>

namespace hw_one_gpu_bfs
{
namespace
{

using count64 = unsigned long long;
using kernel_params = hw_one_gpu_bfs_params;

constexpr int threads = hw_bfs::threads, warps = hw_bfs::warps;
constexpr int edge_bits = HW_ONE_GPU_BFS_EDGE_BITS;
using hw_bfs::block_scan;
using hw_bfs::no_neighbors;
using hw_bfs::probe_four;

/* ---- the graph ---- */

__device__ __forceinline__ uint32_t bitmap_words(const kernel_params &params)
{
    return (params.graph.core + 31) / 32;
}

/* The record of a vertex of the core: x: length of its list; y: number of vertices whose first
 * in-neighbor it is; z, w: low and high half of the list's offset. */
__device__ __forceinline__ uint4 load_vertex_record(const hw_gpu_graph &graph, uint32_t v)
{
    return __ldg(reinterpret_cast<const uint4 *>(graph.vertex_record) + v);
}

template <typename Offset> __device__ __forceinline__ Offset begin_of(const uint4 &vertex_record)
{
    return static_cast<Offset>(static_cast<uint64_t>(vertex_record.w) << 32 | vertex_record.z);
}

/* The first or second four of a vertex's first eight in-neighbors, the very first included
 * (pendant_trees_kernel.cu moves it there). half: 0 or 1. */
__device__ __forceinline__ uint4 inline_neighbors(const hw_gpu_graph &graph, uint32_t v, int half)
{
    return __ldg(reinterpret_cast<const uint4 *>(graph.next_in_neighbors) + 2ull * v + half);
}

/* Prefetches all eight into the second-level cache. */
__device__ __forceinline__ void prefetch_inline_neighbors(const hw_gpu_graph &graph, uint32_t v)
{
    hw_prefetch_l2(graph.next_in_neighbors + 8ull * v);
}

/* What top_down.cuh needs to know: all vertices are local, nothing is sent. */
struct one_gpu {
    static constexpr int edge_bits = HW_ONE_GPU_BFS_EDGE_BITS;
    static constexpr uint32_t inline_length = 0;
    static constexpr bool has_leaves = true; /* lists end with vertices that have no bits */
    static constexpr bool has_bins = false;  /* whether large levels may bin their edges */
    static constexpr count64 edges_per_bin_thread = 4; /* of the grid; smaller levels do not bin */
    static constexpr bool few_tests = false;   /* whether fewer neighbors are tested at a time,
                                                  bottom-up */
    static constexpr bool has_summary = false; /* whether the first bottom-up level may test one */
    static constexpr uint32_t tests_per_vertex = 1; /* expected, of an unvisited one bottom-up, for
                                                      how much of the bitmap is worth caching */
    using bitmap = cached_bitmap;                   /* that levels test bottom-up */

    static __device__ __forceinline__ uint32_t core(const kernel_params &params)
    {
        return params.graph.core;
    }
    static __device__ __forceinline__ const uint32_t *neighbors(const kernel_params &params)
    {
        return params.graph.out.neighbor;
    }
    static __device__ __forceinline__ uint32_t *parents(const kernel_params &params)
    {
        return params.search.parent;
    }
    template <typename Offset>
    static __device__ __forceinline__ Offset list_begin(const kernel_params &params, uint32_t v)
    {
        return hw_list_begin<Offset>(params.graph.out, v);
    }
    static __device__ __forceinline__ hw_bfs::list_record record(const kernel_params &params,
                                                                 uint32_t v)
    {
        const uint4 vertex_record = load_vertex_record(params.graph, v);

        return {vertex_record.x, vertex_record.y};
    }
    static __device__ __forceinline__ uint32_t global_id(const kernel_params &, uint32_t v)
    {
        return v;
    }
    static __device__ __forceinline__ uint32_t local_id(const kernel_params &, uint32_t v)
    {
        return v;
    }
    static __device__ __forceinline__ bool is_local(const kernel_params &, uint32_t)
    {
        return true;
    }
    template <hw_bfs::push_mode mode>
    static __device__ __forceinline__ bool skips_precheck(const kernel_params &params)
    {
        return mode == hw_bfs::push_unqueued && params.config.skip_precheck;
    }
    static __device__ __forceinline__ uint32_t own_words(const kernel_params &params)
    {
        return bitmap_words(params);
    }
    static __device__ __forceinline__ uint32_t word_index(const kernel_params &, uint32_t word)
    {
        return word;
    }
    template <hw_bfs::push_mode mode>
    static __device__ __forceinline__ void note_local(const kernel_params &, uint32_t)
    {
    }
    template <hw_bfs::push_mode mode>
    static __device__ __forceinline__ void note_remote(const kernel_params &, uint32_t, uint32_t)
    {
    }
};

/* The same for graphs without hubs in the order of degrees, whose bitmap does not fit in shared
 * memory. */
struct one_gpu_no_hubs : one_gpu {
    static constexpr bool has_bins = true, few_tests = true, has_summary = true;
    using bitmap = summarized_bitmap;
};

/* The same for undirected graphs without hubs in their own order
 * (gpu/bfs/direction_optimizing/one_gpu_bfs_binned.cuh). */
struct one_gpu_even_degrees : one_gpu {
    static constexpr bool has_leaves = false, has_bins = true;
    static constexpr uint32_t tests_per_vertex = 4;
};

/* The same where the bitmap does not fit in shared memory. */
struct one_gpu_many_even_degrees : one_gpu_even_degrees {
    static constexpr bool few_tests = true;
};

/* The same for those most of whose lists are short: these are read where a vertex has its first
 * neighbors. */
struct one_gpu_short_lists : one_gpu_many_even_degrees {
    static constexpr uint32_t inline_length = HW_ONE_GPU_BFS_INLINE_NEIGHBORS;
    static constexpr count64 edges_per_bin_thread = 8;

    static __device__ __forceinline__ const uint32_t *inline_lists(const kernel_params &params)
    {
        return params.graph.next_in_neighbors;
    }
};

/* ---- grid barrier ---- */

/* Counters of a block, in shared memory: sums since the last barrier, not yet added to the
 * counters of the grid, and the counters of the grid as the last barrier left them. */
struct alignas(16) block_counters {
    hw_one_gpu_bfs_phase reduced;
    uint32_t probes, first_neighbor_refs, discovered, unvisited;
    uint32_t phase; /* number of the current phase */
};

struct grid_context {
    hw_one_gpu_bfs_control *control;
    block_counters *block;
};

/* The counters of the current phase. */
__device__ __forceinline__ hw_one_gpu_bfs_phase &shared_phase(const grid_context &grid)
{
    return grid.control->ring[grid.block->phase & 3];
}

/* Adds the lanes' counts to a sum of the block. Warp-collective. */
__device__ __forceinline__ void add_counts(uint32_t *sum, uint32_t mine)
{
    mine = hw_warp_sum(mine);
    if ((threadIdx.x & 31) == 0 && mine)
        atomicAdd(sum, mine);
}

/* Adds the sums of the block to the counters of the phase and clears them. One thread. */
__device__ __forceinline__ void add_block_sums(block_counters *block, hw_one_gpu_bfs_phase &phase)
{
    if (block->probes)
        atomicAdd(&phase.probes, static_cast<count64>(block->probes));
    if (block->first_neighbor_refs)
        atomicAdd(&phase.first_neighbor_refs, static_cast<count64>(block->first_neighbor_refs));
    if (block->discovered)
        atomicAdd(&phase.discovered, block->discovered);
    if (block->unvisited)
        atomicAdd(&phase.unvisited, block->unvisited);
    block->probes = block->first_neighbor_refs = block->discovered = block->unvisited = 0;
}

/* Copies the counters of a phase to shared memory. One thread. */
__device__ __forceinline__ void load_counters(block_counters *block,
                                              const hw_one_gpu_bfs_phase &phase)
{
    const uint4 *from = reinterpret_cast<const uint4 *>(&phase);
    uint4 *to = reinterpret_cast<uint4 *>(&block->reduced);

#pragma unroll
    for (size_t i = 0; i < sizeof block->reduced / sizeof *from; i++)
        to[i] = __ldcg(from + i);
}

/*
 * Barrier over the grid (gpu/device/grid_barrier.cuh). Afterwards grid.block->reduced holds the
 * counters of the phase that the barrier ends: the thread that waits adds its block's sums before
 * and loads the counters after. All threads of the grid.
 */
__device__ void grid_barrier(grid_context &grid)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        const uint32_t phase = grid.block->phase;
        uint32_t *arrived = &grid.control->arrived;
        add_block_sums(grid.block, shared_phase(grid));
        if (!grid_arrive(arrived, phase))
            grid_wait(arrived, phase, [] { return false; });
        load_counters(grid.block, shared_phase(grid));
        if (blockIdx.x == 0)
            grid.control->ring[(phase + 2) & 3] = {};
        grid.block->phase = phase + 1;
    }
    __syncthreads();
}

/* The queue of the level at `depth`; its size is the current phase's. */
template <typename Offset>
__device__ __forceinline__ hw_bfs::level_queue<Offset>
queue_at(const kernel_params &params, const grid_context &grid, uint32_t depth)
{
    return {params.search.queue[depth & 1], static_cast<Offset *>(params.search.prefix[depth & 1]),
            &shared_phase(grid).queue};
}

/* Adds the counts of a thread to the sums of its block. Warp-collective. */
__device__ __forceinline__ void add_push_counts(block_counters *block,
                                                const hw_bfs::push_counts &counts)
{
    add_counts(&block->first_neighbor_refs, counts.first_neighbor_refs);
    add_counts(&block->discovered, counts.local);
}

/* ---- trace ---- */

/* Appends a trace record; past the capacity, adds to the last one. records: how many there are.
 * Only thread 0 of block 0 records. */
__device__ __forceinline__ void trace_append(const kernel_params &params, uint32_t &records,
                                             uint32_t routine, uint32_t frontier, uint32_t found,
                                             count64 edges)
{
    if (!params.config.trace || blockIdx.x != 0 || threadIdx.x != 0)
        return;
    trace_step(params.config.trace, params.config.trace_capacity, records++, routine, frontier,
               found, edges);
}

} // namespace
} // namespace hw_one_gpu_bfs

#endif
