/*
 * Method `scan2d` on a grid of GPUs: the local matrix by rows, for levels bottom-up
 * (gpu/bfs/grid2d/scan2d_bottom_up.cuh), from the same by columns. Rows are counted, the counts
 * added up, and each entry is put where the next of its row goes: places only grow, so that a row's
 * end up where the next one begins. Which of a row's entries comes first is left to chance, and to
 * sorting.
 */
#include "gpu/bfs/common/frontier_queue.cuh"
#include "gpu/bfs/grid2d/scan2d_grid.h"
#include "gpu/graph/device_graph.cuh"

#include <cub/device/device_scan.cuh>
#include <cuda_runtime.h>

namespace
{

using namespace hw_frontier_queue;
using kernel_params = hw_scan2d_grid_params;

__device__ __forceinline__ uint32_t next_place(uint32_t *place)
{
    return atomicAdd(place, 1u);
}

__device__ __forceinline__ uint64_t next_place(uint64_t *place)
{
    return atomicAdd(reinterpret_cast<count64 *>(place), 1ull);
}

template <typename Offset>
__host__ __device__ __forceinline__ Offset *places(const kernel_params &plan)
{
    return static_cast<Offset *>(const_cast<void *>(plan.by_row.offset)) + 1;
}

template <typename Offset>
__global__ void count_rows(const __grid_constant__ kernel_params plan, uint64_t edges)
{
    for (uint64_t e = hw_grid_thread(); e < edges; e += hw_grid_threads())
        next_place(places<Offset>(plan) + plan.lists.rank[e]);
}

/* A warp for each column. */
template <typename Offset> __global__ void put_columns(const __grid_constant__ kernel_params plan)
{
    const uint64_t columns = static_cast<uint64_t>(plan.rows) * plan.block;
    uint32_t *to = const_cast<uint32_t *>(plan.by_row.rank);

    for (uint64_t u = hw_grid_thread() / 32; u < columns; u += hw_grid_threads() / 32) {
        const Offset end = hw_begin<Offset>(plan.lists, static_cast<uint32_t>(u) + 1);
        Offset e = hw_begin<Offset>(plan.lists, static_cast<uint32_t>(u)) + lane_of();
        for (; e < end; e += 32)
            to[next_place(places<Offset>(plan) + plan.lists.rank[e])] = static_cast<uint32_t>(u);
    }
}

template <typename Offset>
__global__ void find_heads(const __grid_constant__ kernel_params plan, uint4 *head,
                           uint32_t *listed)
{
    const uint64_t rows = static_cast<uint64_t>(plan.columns) * plan.block;

    /* Rows are a multiple of 32, so that warps stay whole. */
    for (uint64_t v = hw_grid_thread(); v < rows; v += hw_grid_threads()) {
        const Offset begin = hw_begin<Offset>(plan.by_row, static_cast<uint32_t>(v));
        const Offset end = hw_begin<Offset>(plan.by_row, static_cast<uint32_t>(v) + 1);
        uint32_t column[4];
#pragma unroll
        for (int k = 0; k < 4; k++)
            column[k] = end - begin > static_cast<Offset>(k) ? plan.by_row.rank[begin + k]
                                                             : HW_INVALID_VERTEX;
        head[v] = make_uint4(column[0], column[1], column[2], column[3]);
        const uint32_t ballot = __ballot_sync(HW_WARP, end > begin);
        if (lane_of() == 0)
            listed[v / 32] = ballot;
    }
}

template <typename Offset>
cudaError_t turn(const kernel_params &plan, uint64_t edges, void *scratch, size_t *bytes)
{
    const uint64_t rows = static_cast<uint64_t>(plan.columns) * plan.block;
    Offset *place = scratch ? places<Offset>(plan) : nullptr;
    cudaError_t error = cudaSuccess;

    if (scratch) {
        error = cudaMemsetAsync(place - 1, 0, (rows + 1) * sizeof *place);
        if (error == cudaSuccess)
            count_rows<Offset><<<hw_blocks(edges, threads), threads>>>(plan, edges);
        error = error == cudaSuccess ? cudaGetLastError() : error;
    }
    if (error == cudaSuccess)
        error = cub::DeviceScan::ExclusiveSum(scratch, *bytes, place, place, rows);
    if (error != cudaSuccess || !scratch)
        return error;
    put_columns<Offset>
        <<<hw_blocks(static_cast<uint64_t>(plan.rows) * plan.block * 32, threads), threads>>>(plan);
    return cudaGetLastError();
}

} // namespace

int hw_scan2d_grid_launch_transpose(const hw_scan2d_grid_params *plan, uint64_t edges,
                                    void *scratch, size_t *bytes)
{
    return plan->wide ? turn<uint64_t>(*plan, edges, scratch, bytes)
                      : turn<uint32_t>(*plan, edges, scratch, bytes);
}

int hw_scan2d_grid_launch_find_heads(const hw_scan2d_grid_params *plan)
{
    const unsigned blocks = hw_blocks(static_cast<uint64_t>(plan->columns) * plan->block, threads);
    uint4 *head = const_cast<uint4 *>(plan->heads);
    uint32_t *listed = const_cast<uint32_t *>(plan->listed);

    if (plan->wide)
        find_heads<uint64_t><<<blocks, threads>>>(*plan, head, listed);
    else
        find_heads<uint32_t><<<blocks, threads>>>(*plan, head, listed);
    return cudaGetLastError();
}
