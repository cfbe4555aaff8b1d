/*
 * Method `fused`: what all parts of its kernel use. Sums and scans, the barrier over the
 * grid, the rows of the steps.
 */
#ifndef HOPWAVE_GPU_BFS_DIRECTION_OPTIMIZING_ONE_GPU_BFS_DEVICE_CUH
#define HOPWAVE_GPU_BFS_DIRECTION_OPTIMIZING_ONE_GPU_BFS_DEVICE_CUH

#include "gpu/bfs/direction_optimizing/one_gpu_bfs.h"
#include "gpu/device/cached_bitmap.cuh"
#include "gpu/device/warp.cuh"

#include <cuda_runtime.h>

namespace
{

using count64 = unsigned long long;
using kernel_params = hw_one_gpu_bfs_params;

constexpr int threads = HW_FUSED_THREADS;
constexpr int warps = threads / 32;
constexpr count64 edge_mask = (1ull << HW_FUSED_EDGE_BITS) - 1;

/* enum hw_direction */
constexpr int top_down = 1, bottom_up = 2;

/* ---- packed sizes of queues ---- */

__device__ __forceinline__ uint32_t vertices_of(count64 packed)
{
    return static_cast<uint32_t>(packed >> HW_FUSED_EDGE_BITS);
}

__device__ __forceinline__ count64 edges_of(count64 packed)
{
    return packed & edge_mask;
}

/* A vertex with `edges` edges, packed; vertices without edges need no expansion. */
__device__ __forceinline__ count64 packed(count64 edges)
{
    return edges ? (1ull << HW_FUSED_EDGE_BITS) + edges : 0;
}

/* ---- sums ---- */

/* The sum over the threads before this one in the block, and *total over all. */
__device__ count64 block_scan(count64 own, count64 *total)
{
    __shared__ count64 sum[warps];
    const uint32_t lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    const count64 upto = hw_warp_scan(own);

    __syncthreads();
    if (lane == 31)
        sum[warp] = upto;
    __syncthreads();
    const count64 before = hw_warp_scan(sum[lane]); /* every warp does the same */
    *total = __shfl_sync(HW_WARP, before, 31);
    return __shfl_sync(HW_WARP, before, warp) - sum[warp] + upto - own;
}

/* ---- the graph ---- */

__device__ __forceinline__ uint32_t words_of(const kernel_params &plan)
{
    return (plan.graph.core + 31) / 32;
}

/* What there is to know of a vertex of the core once it is found: where its list begins
 * (z, w: low and high half), its length (x), and how many vertices it leads (y). */
__device__ __forceinline__ uint4 about_vertex(const hw_gpu_graph &graph, uint32_t v)
{
    return __ldg(reinterpret_cast<const uint4 *>(graph.about) + v);
}

template <typename Offset> __device__ __forceinline__ Offset begin_of(const uint4 &about)
{
    return static_cast<Offset>(static_cast<uint64_t>(about.w) << 32 | about.z);
}

__device__ __forceinline__ uint4 no_sources()
{
    return make_uint4(HW_INVALID_VERTEX, HW_INVALID_VERTEX, HW_INVALID_VERTEX, HW_INVALID_VERTEX);
}

/* Four of the first eight sources (gpu/bfs/direction_optimizing/pendant_trees_kernel.cu has moved
 * the first one there, too). half: 0 or 1. */
__device__ __forceinline__ uint4 near_sources(const hw_gpu_graph &graph, uint32_t v, int half)
{
    return __ldg(reinterpret_cast<const uint4 *>(graph.next) + 2ull * v + half);
}

/* Sends for them, to be there when they are asked for. */
__device__ __forceinline__ void fetch_near(const hw_gpu_graph &graph, uint32_t v)
{
    hw_prefetch_l2(graph.next + 8ull * v);
}

/* ---- the blocks together ---- */

/* What a block has in shared memory about the phases: its own sums on the way to the
 * counters of the grid, and these as they were after the last barrier. */
struct alignas(16) block_news {
    hw_one_gpu_bfs_phase now;
    uint32_t probes, led, found, left;
    uint32_t phase; /* under way: its number */
};

struct grid_context {
    hw_one_gpu_bfs_control *control;
    block_news *own;
};

/* The counters of the phase under way. */
__device__ __forceinline__ hw_one_gpu_bfs_phase &shared_phase(const grid_context &crew)
{
    return crew.control->ring[crew.own->phase & 3];
}

/* Adds what the threads counted to the sums of the block. A whole warp. */
__device__ __forceinline__ void add_counts(uint32_t *sum, uint32_t mine)
{
    mine = hw_warp_sum(mine);
    if ((threadIdx.x & 31) == 0 && mine)
        atomicAdd(sum, mine);
}

/* Brings the sums of the block to the counters of the phase. One thread. */
__device__ __forceinline__ void send_sums(block_news *own, hw_one_gpu_bfs_phase &phase)
{
    if (own->probes)
        atomicAdd(&phase.probes, static_cast<count64>(own->probes));
    if (own->led)
        atomicAdd(&phase.led, static_cast<count64>(own->led));
    if (own->found)
        atomicAdd(&phase.found, own->found);
    if (own->left)
        atomicAdd(&phase.left, own->left);
    own->probes = own->led = own->found = own->left = 0;
}

/* The counters of a phase into shared memory. One thread. */
__device__ __forceinline__ void take_news(block_news *own, const hw_one_gpu_bfs_phase &phase)
{
    const uint4 *from = reinterpret_cast<const uint4 *>(&phase);
    uint4 *to = reinterpret_cast<uint4 *>(&own->now);

#pragma unroll
    for (size_t i = 0; i < sizeof own->now / sizeof *from; i++)
        to[i] = __ldcg(from + i);
}

/*
 * A barrier over the grid, after which all that the blocks wrote before it can be read,
 * and crew.own->now has the counters of the phase that it ended. One thread a block speaks
 * for it: were every warp to read the counters, they would queue up for one line of the
 * cache.
 */
__device__ void meet(grid_context &crew)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        const uint32_t phase = crew.own->phase, all = phase * gridDim.x;
        send_sums(crew.own, shared_phase(crew));
        __threadfence();
        atomicAdd(&crew.control->arrived, 1u);
        while (static_cast<int32_t>(hw_load_relaxed(&crew.control->arrived) - all) < 0)
            ;
        __threadfence();
        take_news(crew.own, shared_phase(crew));
        if (blockIdx.x == 0)
            crew.control->ring[(phase + 2) & 3] = {};
        crew.own->phase = phase + 1;
    }
    __syncthreads();
}

/* ---- what is kept of the steps ---- */

/* Keeps a row, in the one thread that does. rows: how many there are. */
__device__ __forceinline__ void keep_row(const kernel_params &plan, uint32_t &rows,
                                         uint32_t routine, uint32_t frontier, uint32_t found,
                                         count64 edges)
{
    if (!plan.row || blockIdx.x != 0 || threadIdx.x != 0)
        return;
    hw_gpu_trace_record *row = plan.row + min(rows, plan.row_capacity - 1);
    if (rows < plan.row_capacity) {
        row->routine = routine;
        row->frontier = frontier;
        row->found = found;
        row->edges = edges;
    } else {
        row->found += found;
        row->edges += edges;
    }
    row->clock = static_cast<uint64_t>(clock64());
    rows++;
}

} // namespace

#endif
