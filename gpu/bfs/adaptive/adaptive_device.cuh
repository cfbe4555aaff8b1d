/*
 * Method `adaptive`: primitives shared by its steps. Encoding of the status array, participating
 * blocks, counters of a step, trace records.
 *
 * The status array has one byte per vertex: 0 while unvisited, else the code of its level: 1 +
 * level modulo 112, with the highest bit set if a bottom-up step discovered the vertex one level
 * early. Levels that no step needs any more are all given the code status_expired, so that no code
 * stands for two levels. Padding after the last vertex counts as visited.
 *
 * A step from depth d discovers the vertices of depth d + 1. Its counters are those of level d + 1.
 * After each barrier all blocks read the same counters and make the same decision.
 */
#ifndef HOPWAVE_GPU_BFS_ADAPTIVE_ADAPTIVE_DEVICE_CUH
#define HOPWAVE_GPU_BFS_ADAPTIVE_ADAPTIVE_DEVICE_CUH

#include "gpu/bfs/adaptive/adaptive.h"
#include "gpu/device/warp.cuh"
#include "gpu/engine/trace_append.cuh"
#include "gpu/graph/device_graph.cuh"

#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

namespace hw_adaptive
{
namespace
{

using count64 = unsigned long long;
using kernel_params = hw_adaptive_params;
using level_t = hw_adaptive_level;

constexpr uint32_t threads = 512, warps = threads / 32, resident_blocks = 2;
constexpr uint32_t num_codes = 112, code_mask = 0x7f, early_bit = 0x80;
constexpr uint8_t status_expired = 0x7f;

__device__ __forceinline__ uint32_t code_of(uint32_t depth)
{
    return 1 + depth % num_codes;
}

__device__ __forceinline__ uint32_t lane_id()
{
    return threadIdx.x & 31;
}

__device__ __forceinline__ uint32_t lower_lanes()
{
    return (1u << lane_id()) - 1;
}

/* Capacity of a warp's list of vertices that wait until every lane has one. */
constexpr uint32_t waiting_capacity = 32 + 4 * 32;

/* ---- participating blocks ---- */

/* The blocks that process a level: all, or block 0 alone. */
struct active_blocks {
    uint32_t index, count; /* of this block; number of blocks */
};

__device__ __forceinline__ void barrier(const active_blocks &blocks)
{
    if (blocks.count > 1)
        cg::this_grid().sync();
    else
        __syncthreads();
}

__device__ __forceinline__ uint32_t thread_of(const active_blocks &blocks)
{
    return blocks.index * threads + threadIdx.x;
}

__device__ __forceinline__ uint32_t warp_of(const active_blocks &blocks)
{
    return blocks.index * warps + threadIdx.x / 32;
}

/* A step: its blocks, its frontier, the counters of what it discovers. */
struct step_context {
    active_blocks blocks;
    uint32_t depth; /* of the frontier */
    uint32_t from_code, to_code;
    level_t *from, *to, *after;
};

__device__ __forceinline__ step_context make_step(const kernel_params &params,
                                                  const active_blocks &blocks, uint32_t depth)
{
    level_t *level = params.control->level;

    return {blocks,
            depth,
            code_of(depth),
            code_of(depth + 1),
            level + (depth & 3),
            level + ((depth + 1) & 3),
            level + ((depth + 2) & 3)};
}

/* Sums of one thread over a step. */
struct thread_counts {
    count64 edges, edges_early, checked;
    uint32_t found, early, has_long;
};

/* Adds the sums of a block's threads to the counters of the level. All threads of the block. */
__device__ __noinline__ void add_up(const step_context step, const thread_counts own)
{
    __shared__ count64 sum[3];
    __shared__ uint32_t small[3];
    const count64 edges = hw_warp_sum64(own.edges), edges_early = hw_warp_sum64(own.edges_early);
    const count64 checked = hw_warp_sum64(own.checked);
    const uint32_t found = hw_warp_sum(own.found), early = hw_warp_sum(own.early);
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
    return hw_list_begin<Offset>(lists, v + 1) - hw_list_begin<Offset>(lists, v);
}

/* Counts the out-edges of a discovered vertex. */
template <typename Offset>
__device__ __forceinline__ void count_edges(const kernel_params &params, uint32_t v, bool early,
                                            thread_counts &own)
{
    const Offset length = length_of<Offset>(params.graph.out, v);

    (early ? own.edges_early : own.edges) += length;
    own.has_long |= length > HW_ADAPTIVE_MAX_SHORT_LIST;
}

/* ---- trace ---- */

struct trace_state {
    uint32_t records;
    count64 scan_begin, scanned; /* ticks */
};

__device__ __forceinline__ void begin_scan(trace_state &trace)
{
    trace.scan_begin = static_cast<count64>(clock64());
}

__device__ __forceinline__ void end_scan(trace_state &trace)
{
    trace.scanned += static_cast<count64>(clock64()) - trace.scan_begin;
}

/* Appends a trace record; past the capacity, adds to the last one. Only thread 0 of block 0
 * records. */
__device__ void trace_append(const kernel_params &params, const step_context &step,
                             trace_state &trace, uint32_t queue, bool pull, uint32_t frontier)
{
    if (!params.trace || blockIdx.x != 0 || threadIdx.x != 0)
        return;
    hw_adaptive_trace_record *record =
        trace_open(params.trace, params.trace_capacity, trace.records++,
                   hw_adaptive_trace_record{queue, pull, frontier, 0, 0, 0, 0, 0});
    const uint32_t found =
        pull ? hw_load_relaxed(&step.to->found)
             : hw_load_relaxed(&step.to->queued) - hw_load_relaxed(&step.to->early);
    const uint32_t early = hw_load_relaxed(&step.after->early);
    record->found += found;
    record->early += early;
    record->edges += hw_load_relaxed(&step.to->checked);
    record->scanned += trace.scanned;
    record->clock = static_cast<uint64_t>(clock64());
    trace.scanned = 0;
}

} // namespace
} // namespace hw_adaptive

#endif
