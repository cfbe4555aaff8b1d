/*
 * Method `scan2d` on a grid of GPUs: types and device functions that several of its kernels use:
 * shared memory of a block, index arithmetic, block sums and the trace of levels.
 *
 * A bit in `visited` may be read while another block sets it: the atomic operation on the bit
 * decides. After a barrier of the grid it is read past the first-level cache (__ldcg).
 */
#ifndef HOPWAVE_GPU_BFS_GRID2D_SCAN2D_GRID_DEVICE_CUH
#define HOPWAVE_GPU_BFS_GRID2D_SCAN2D_GRID_DEVICE_CUH

#include "gpu/bfs/grid2d/scan2d_expansion.cuh"
#include "gpu/bfs/grid2d/scan2d_grid.h"
#include "gpu/comm/allgather_kernel.h"
#include "gpu/engine/trace_append.cuh"

#include <cooperative_groups.h>
#include <cub/block/block_scan.cuh>
#include <cuda_runtime.h>

namespace hw_scan2d
{
namespace
{

namespace cg = cooperative_groups;
using kernel_params = hw_scan2d_grid_params;
using allgather_result = hw_allgather_result;
using word_scan = cub::BlockScan<uint32_t, threads>;

constexpr int tail_entries = 4;           /* last entries of a list, stored apart */
constexpr int rows_per_lane = 2;          /* that a lane searches at a time, bottom-up */
constexpr uint32_t max_sparse_rows = 384; /* unvisited ones of 1024, bottom-up */

/* Rows of a warp, bottom-up. */
struct picked_rows {
    uint16_t position[max_sparse_rows];
    uint32_t unmatched[rows_per_lane * 32]; /* no head is in the frontier */
};

/* Shared memory of a block. */
struct block_shared {
    union {
        block_scan::TempStorage edges;
        word_scan::TempStorage words;
        uint16_t list[HW_SCAN2D_MAX_EDGES_PER_THREAD * threads]; /* lists of edges, by warp */
        picked_rows rows[threads / 32];                          /* by warp */
    } scan;
    count64 start;
    uint32_t range[2];
    uint32_t sum;
};

/* Words of a bitmap over a block. */
__device__ __forceinline__ uint32_t words_of(const kernel_params &params)
{
    return params.config.block / 32;
}

/* The rank of the part in a grid row and column. */
__device__ __forceinline__ uint32_t part_at(const kernel_params &params, uint32_t row,
                                            uint32_t column)
{
    return column * params.config.rows + row;
}

/* The level that is being done. */
__device__ __forceinline__ uint32_t depth_of(const kernel_params &params)
{
    return static_cast<uint32_t>(hw_load_relaxed(&params.search.control->depth));
}

/* The position of a local row in its block. */
__device__ __forceinline__ uint32_t position_of(const kernel_params &params, uint32_t row)
{
    return params.config.columns == 1 ? row : row % params.config.block;
}

/* `visited` and the predecessors, in the form that visit() takes. */
__device__ __forceinline__ hw_frontier_queue_params visited_of(const kernel_params &params)
{
    hw_frontier_queue_params visited{};

    visited.visited = params.search.visited;
    visited.parent = params.search.predecessor;
    return visited;
}

/* Adds the sum of `value` over the block to a counter. All threads of the block. */
__device__ void block_add(count64 *counter, uint32_t value, block_shared &smem)
{
    __syncthreads();
    if (threadIdx.x == 0)
        smem.sum = 0;
    __syncthreads();
    value = hw_warp_sum(value);
    if (lane_of() == 0 && value)
        atomicAdd(&smem.sum, value);
    __syncthreads();
    if (threadIdx.x == 0 && smem.sum)
        atomicAdd(counter, static_cast<count64>(smem.sum));
}

/* ---- trace ---- */

__device__ __forceinline__ bool writes_trace(const kernel_params &params)
{
    return params.trace.record && hw_grid_thread() == 0;
}

__device__ __forceinline__ hw_scan2d_grid_trace_record *trace_record_at(const kernel_params &params,
                                                                        uint32_t depth)
{
    return trace_slot(params.trace.record, params.trace.capacity, depth);
}

/* Counts a set that is sent: a bitmap always has its full length. */
__device__ __forceinline__ void trace_set(const kernel_params &params,
                                          hw_scan2d_grid_trace_record *record, uint32_t active,
                                          count64 count)
{
    const bool bitmap = hw_scan2d_grid_as_bitmap(params.config.exchange, active, count);

    record->messages++;
    if (count == 0)
        return;
    record->bytes += bitmap ? params.config.block / 8 : 4 * count;
    record->encodings |= bitmap ? 2 : 1;
}

/* Begins the trace record of a level; levels beyond the capacity share the last record. */
__device__ __noinline__ void trace_begin_level(const kernel_params &params, uint32_t depth,
                                               count64 frontier)
{
    hw_scan2d_grid_trace_record *record = trace_open(params.trace.record, params.trace.capacity,
                                                     depth, hw_scan2d_grid_trace_record{});

    record->frontier += frontier;
    record->time[HW_SCAN2D_GRID_TIME_EXPANSION_BEGIN] = hw_nanoseconds();
    params.search.control->trace_records = depth + 1;
    for (uint32_t r = 1; r < params.config.rows && depth > 0; r++)
        trace_set(params, record, params.config.column_active[params.config.row], frontier);
}

} // namespace
} // namespace hw_scan2d

#endif
