/*
 * Method `adaptive`: what all parts of its kernel use. The status of vertices, the blocks
 * that work on a level, counters of a step, the rows of the steps.
 *
 * status has a byte for each vertex: 0 while it is unvisited, else the code of its level,
 * 1 + level modulo 112, with the highest bit set where a step bottom-up found it a level
 * early; `settled_long_ago` for levels that have had no say for long, so that no code
 * stands for two levels. What is past the last vertex counts as visited.
 *
 * A step from depth d finds the vertices of depth d + 1. Its counters are those of level
 * d + 1. All blocks read the same counters after each barrier and decide alike.
 */
#ifndef HOPWAVE_GPU_BFS_ADAPTIVE_ADAPTIVE_DEVICE_CUH
#define HOPWAVE_GPU_BFS_ADAPTIVE_ADAPTIVE_DEVICE_CUH

#include "gpu/bfs/adaptive/adaptive.h"
#include "gpu/device/warp.cuh"
#include "gpu/graph/device_graph.cuh"

#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

namespace
{

using count64 = unsigned long long;
using kernel_params = hw_adaptive_params;
using level_t = hw_adaptive_level;

constexpr uint32_t threads = 512, warps = threads / 32, residents = 2;
constexpr uint32_t codes = 112, code_mask = 0x7f, early_bit = 0x80;
constexpr uint8_t settled_long_ago = 0x7f;

__device__ __forceinline__ uint32_t code_of(uint32_t depth)
{
    return 1 + depth % codes;
}

__device__ __forceinline__ uint32_t lane_id()
{
    return threadIdx.x & 31;
}

__device__ __forceinline__ uint32_t lower_lanes()
{
    return (1u << lane_id()) - 1;
}

template <typename T> __device__ __forceinline__ T warp_sum(T x)
{
    for (int half = 16; half > 0; half /= 2)
        x += __shfl_xor_sync(HW_WARP, x, half);
    return x;
}

__device__ __forceinline__ uint32_t warp_min(uint32_t x)
{
    for (int half = 16; half > 0; half /= 2)
        x = min(x, __shfl_xor_sync(HW_WARP, x, half));
    return x;
}

/* Vertices that wait in shared memory until there are enough of them for a warp. */
constexpr uint32_t waiting_room = 32 + 4 * 32;

/* ---- who works, and on what ---- */

/* The blocks that work on a level: all, or block 0 alone. */
struct team {
    uint32_t rank, size; /* of this block among them */
};

__device__ __forceinline__ void wait_for(const team &crew)
{
    if (crew.size > 1)
        cg::this_grid().sync();
    else
        __syncthreads();
}

__device__ __forceinline__ uint32_t thread_of(const team &crew)
{
    return crew.rank * threads + threadIdx.x;
}

__device__ __forceinline__ uint32_t warp_of(const team &crew)
{
    return crew.rank * warps + threadIdx.x / 32;
}

/* A step: who, from where, and the counters of what it finds. */
struct step_t {
    team crew;
    uint32_t depth; /* of the frontier */
    uint32_t from_code, to_code;
    level_t *from, *to, *after;
};

__device__ __forceinline__ step_t make_step(const kernel_params &plan, const team &crew,
                                            uint32_t depth)
{
    level_t *level = plan.control->level;

    return {crew,
            depth,
            code_of(depth),
            code_of(depth + 1),
            level + (depth & 3),
            level + ((depth + 1) & 3),
            level + ((depth + 2) & 3)};
}

/* What one thread adds up in a step. */
struct tally {
    count64 edges, edges_early, checked;
    uint32_t found, early, has_long;
};

/* Adds the tallies of a block to the counters of the level. All threads of the block. */
__device__ __noinline__ void add_up(const step_t step, const tally own)
{
    __shared__ count64 sum[3];
    __shared__ uint32_t small[3];
    const count64 edges = warp_sum(own.edges), edges_early = warp_sum(own.edges_early);
    const count64 checked = warp_sum(own.checked);
    const uint32_t found = warp_sum(own.found), early = warp_sum(own.early);
    const uint32_t has_long = __any_sync(HW_WARP, own.has_long != 0);

    __syncthreads();
    if (threadIdx.x < 3)
        sum[threadIdx.x] = small[threadIdx.x] = 0;
    __syncthreads();
    if (lane_id() == 0 && (edges | edges_early | checked | found | early)) {
        atomicAdd(&sum[0], edges);
        atomicAdd(&sum[1], edges_early);
        atomicAdd(&sum[2], checked);
        atomicAdd(&small[0], found);
        atomicAdd(&small[1], early);
        atomicOr(&small[2], has_long);
    }
    __syncthreads();
    if (threadIdx.x != 0)
        return;
    if (sum[0])
        atomicAdd(&step.to->edges, sum[0]);
    if (sum[1])
        atomicAdd(&step.after->edges_early, sum[1]);
    if (sum[2])
        atomicAdd(&step.to->checked, sum[2]);
    if (small[0])
        atomicAdd(&step.to->found, small[0]);
    if (small[1])
        atomicAdd(&step.after->early, small[1]);
    if (small[2] && sum[0])
        atomicOr(&step.to->has_long, 1u);
    if (small[2] && sum[1])
        atomicOr(&step.after->has_long, 1u);
}

template <typename Offset>
__device__ __forceinline__ Offset length_of(const hw_gpu_lists &lists, uint32_t v)
{
    return hw_begin<Offset>(lists, v + 1) - hw_begin<Offset>(lists, v);
}

/* Counts the edges that leave a vertex that was found. */
template <typename Offset>
__device__ __forceinline__ void count_edges(const kernel_params &plan, uint32_t v, bool early,
                                            tally &own)
{
    const Offset length = length_of<Offset>(plan.graph.out, v);

    (early ? own.edges_early : own.edges) += length;
    own.has_long |= length > HW_ADAPTIVE_LONG;
}

/* ---- what is kept of the steps ---- */

struct diary {
    uint32_t rows;
    count64 scan_began, scanned; /* ticks */
};

__device__ __forceinline__ void begin_scan(diary &kept)
{
    kept.scan_began = static_cast<count64>(clock64());
}

__device__ __forceinline__ void end_scan(diary &kept)
{
    kept.scanned += static_cast<count64>(clock64()) - kept.scan_began;
}

/* Keeps a row, in the one thread that does. */
__device__ void keep_row(const kernel_params &plan, const step_t &step, diary &kept, uint32_t queue,
                         bool pull, uint32_t frontier)
{
    if (!plan.row || blockIdx.x != 0 || threadIdx.x != 0)
        return;
    const bool fits = kept.rows < plan.row_capacity;
    hw_adaptive_row *row = plan.row + (fits ? kept.rows : plan.row_capacity - 1);
    const uint32_t found =
        pull ? hw_load_relaxed(&step.to->found)
             : hw_load_relaxed(&step.to->queued) - hw_load_relaxed(&step.to->early);
    const uint32_t early = hw_load_relaxed(&step.after->early);
    if (fits) {
        row->queue = queue;
        row->pull = pull;
        row->frontier = frontier;
        row->found = row->early = 0;
        row->edges = row->scanned = 0;
    }
    row->found += found;
    row->early += early;
    row->edges += hw_load_relaxed(&step.to->checked);
    row->scanned += kept.scanned;
    row->clock = static_cast<uint64_t>(clock64());
    kept.scanned = 0;
    kept.rows++;
}

} // namespace

#endif
