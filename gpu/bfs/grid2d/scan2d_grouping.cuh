/*
 * Method `scan2d` on a grid of GPUs: discovered vertices grouped by owner as they are found, with
 * an atomic operation each on the owner's counter (algorithm 3 of "Parallel Distributed Breadth
 * First Search on the Kepler Architecture", lines 9 to 16, and section 3.5). By default the sets
 * for the owners are packed from the bitmap of visited rows (gpu/bfs/grid2d/scan2d_exchange.cuh).
 */
#ifndef HOPWAVE_GPU_BFS_GRID2D_SCAN2D_GROUPING_CUH
#define HOPWAVE_GPU_BFS_GRID2D_SCAN2D_GROUPING_CUH

#include "gpu/bfs/grid2d/scan2d_grid_device.cuh"

namespace hw_scan2d
{
namespace
{

/* Appends an own vertex to the next frontier and sets its level. */
__device__ __forceinline__ void group_own(const kernel_params &params, uint32_t position)
{
    const uint32_t depth = depth_of(params);
    const count64 at = atomicAdd(&params.variant.own_grouped[depth & 1], 1ull);

    params.variant.grouped[static_cast<uint64_t>(params.config.column) * params.config.block + at] =
        position;
    params.search.level[position] = static_cast<int32_t>(depth) + 1;
}

/* Appends the rows that this lane discovered to the sets of their owners, if the variant says so.
 * Bit k of new_bits: row[k] is new. */
template <int items>
__device__ __forceinline__ void group_by_owner(const kernel_params &params, const uint32_t *row,
                                               uint32_t new_bits)
{
    if (!params.variant.groups)
        return;
#pragma unroll
    for (int k = 0; k < items; k++) {
        if (!(new_bits >> k & 1))
            continue;
        const uint32_t m = row[k] / params.config.block, position = row[k] % params.config.block;
        if (m == params.config.column) {
            group_own(params, position);
            continue;
        }
        const count64 at = atomicAdd(&params.search.control->num_discovered[m], 1ull);
        params.variant.grouped[static_cast<uint64_t>(m) * params.config.block + at] = position;
    }
}

} // namespace
} // namespace hw_scan2d

#endif
