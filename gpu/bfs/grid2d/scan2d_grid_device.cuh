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
#include "gpu/comm/allgather.h"

#include <cooperative_groups.h>
#include <cub/block/block_scan.cuh>
#include <cuda_runtime.h>

namespace hw_scan2d_grid
{
namespace
{

namespace cg = cooperative_groups;
using namespace hw_scan2d;
using kernel_params = hw_scan2d_grid_params;
using told_t = hw_allgather_result;
using word_scan = cub::BlockScan<uint32_t, threads>;

constexpr int ends = 4;    /* last entries of their lists that it visits at once, at most */
constexpr int up_rows = 2; /* rows that a lane looks at at a time, bottom-up */
constexpr uint32_t up_sparse = 384; /* of 1024 rows that a warp looks at, few */

/* Rows that a warp looks at, bottom-up. */
struct picked_rows {
    uint16_t at[up_sparse];
    uint32_t further[up_rows * 32]; /* that are looked further for */
};

struct shared {
    union {
        block_scan::TempStorage edges;
        word_scan::TempStorage words;
        uint16_t slot[HW_SCAN2D_MANY * threads]; /* of edges, by warps */
        picked_rows rows[threads / 32];          /* by warps */
    } scan;
    count64 start;
    uint32_t cut[2];
    uint32_t sum;
};

__device__ __forceinline__ uint32_t words_of(const kernel_params &plan)
{
    return plan.block / 32;
}

/* The index of a part among all. */
__device__ __forceinline__ uint32_t part_at(const kernel_params &plan, uint32_t row,
                                            uint32_t column)
{
    return column * plan.rows + row;
}

/* The level that is being done. */
__device__ __forceinline__ uint32_t depth_of(const kernel_params &plan)
{
    return static_cast<uint32_t>(hw_load_relaxed(&plan.control->depth));
}

/* The position of a row in its block. */
__device__ __forceinline__ uint32_t position_of(const kernel_params &plan, uint32_t row)
{
    return plan.columns == 1 ? row : row % plan.block;
}

__device__ __forceinline__ hw_frontier_queue_params visited_of(const kernel_params &plan)
{
    hw_frontier_queue_params visited{};

    visited.visited = plan.seen;
    visited.parent = plan.pred;
    return visited;
}

/* Adds up over a block, and to a counter. All threads of the block. */
__device__ void add_up(count64 *counter, uint32_t value, shared &room)
{
    __syncthreads();
    if (threadIdx.x == 0)
        room.sum = 0;
    __syncthreads();
    value = hw_warp_sum(value);
    if (lane_of() == 0 && value)
        atomicAdd(&room.sum, value);
    __syncthreads();
    if (threadIdx.x == 0 && room.sum)
        atomicAdd(counter, static_cast<count64>(room.sum));
}

/* ---- trace ---- */

__device__ __forceinline__ bool keeps_rows(const kernel_params &plan)
{
    return plan.step && hw_grid_thread() == 0;
}

__device__ __forceinline__ hw_scan2d_grid_row *row_of(const kernel_params &plan, uint32_t depth)
{
    return plan.step + min(depth, plan.step_capacity - 1);
}

/* Books a set that is sent: bitmaps go whole. */
__device__ __forceinline__ void book(const kernel_params &plan, hw_scan2d_grid_row *row,
                                     uint32_t active, count64 count)
{
    const bool bitmap = hw_scan2d_grid_as_bitmap(plan.exchange, active, count);

    row->messages++;
    if (count == 0)
        return;
    row->bytes += bitmap ? plan.block / 8 : 4 * count;
    row->forms |= bitmap ? 2 : 1;
}

/* Begins the row of a level; those that are too many share the last one. */
__device__ __noinline__ void begin_row(const kernel_params &plan, uint32_t depth, count64 frontier)
{
    hw_scan2d_grid_row *row = row_of(plan, depth);

    if (depth < plan.step_capacity)
        *row = hw_scan2d_grid_row{};
    row->frontier += frontier;
    row->time[HW_SCAN2D_GRID_BEGUN] = hw_nanoseconds();
    plan.control->rows = depth + 1;
    for (uint32_t r = 1; r < plan.rows && depth > 0; r++)
        book(plan, row, plan.column_active[plan.row], frontier);
}

} // namespace
} // namespace hw_scan2d_grid

#endif
