/*
 * Method `scan2d` on a grid of GPUs: kernels that prepare the local matrix, once for each graph:
 * renumbering of rows, keys that sort the entries of each list, the last entries of lists, and the
 * matrix by rows for bottom-up levels (gpu/bfs/grid2d/scan2d_bottom_up.cuh).
 *
 * The transpose is a counting sort: entries of each row are counted, the counts are scanned, and
 * each entry is written to the next free place of its row. Offsets only grow, so that the cursor of
 * a row ends where the next row begins. The order of the entries of a row is not deterministic
 * until they are sorted.
 */
#include "gpu/bfs/grid2d/scan2d_grid_device.cuh"

#include <cub/device/device_scan.cuh>

namespace hw_scan2d_grid
{
namespace
{

__global__ void renumber(uint32_t *row, uint64_t count, uint32_t from, uint32_t to)
{
    for (uint64_t k = hw_grid_thread(); k < count; k += hw_grid_threads()) {
        const uint32_t m = row[k] / from;
        row[k] = m * to + (row[k] - m * from);
    }
}

/* ---- the order of lists ---- */

/* A row's place among all by position first, then by block; and back. */
__device__ __forceinline__ uint32_t place_of(const kernel_params &plan, uint32_t row)
{
    return row % plan.block * plan.columns + row / plan.block;
}

__device__ __forceinline__ uint32_t row_at(const kernel_params &plan, uint32_t place)
{
    return place % plan.columns * plan.block + place / plan.columns;
}

/* A warp for each list. */
template <typename Offset>
__global__ void find_unsorted(const __grid_constant__ kernel_params plan, uint32_t *unsorted)
{
    const uint64_t columns = static_cast<uint64_t>(plan.rows) * plan.block;

    for (uint64_t u = hw_grid_thread() / 32; u < columns; u += hw_grid_threads() / 32) {
        const Offset end = hw_begin<Offset>(plan.lists, static_cast<uint32_t>(u) + 1);
        Offset e = hw_begin<Offset>(plan.lists, static_cast<uint32_t>(u)) + lane_of() + 1;
        for (; e < end; e += 32)
            if (place_of(plan, plan.lists.rank[e]) < place_of(plan, plan.lists.rank[e - 1]))
                *unsorted = 1;
    }
}

/* Keys: the list above, the place of the row below. */
template <typename Offset>
__global__ void make_keys(const __grid_constant__ kernel_params plan,
                          const hw_scan2d_grid_keys keys, uint64_t *key)
{
    for (uint64_t k = hw_grid_thread(); k < keys.count; k += hw_grid_threads()) {
        uint32_t low = keys.first, high = keys.end;
        while (high - low > 1) {
            const uint32_t middle = low + (high - low) / 2;
            if (hw_begin<Offset>(plan.lists, middle) <= keys.begin + k)
                low = middle;
            else
                high = middle;
        }
        key[k] = static_cast<uint64_t>(low - keys.first) << 32 |
                 place_of(plan, plan.lists.rank[keys.begin + k]);
    }
}

__global__ void put_keys(const __grid_constant__ kernel_params plan, const hw_scan2d_grid_keys keys,
                         const uint64_t *key)
{
    uint32_t *row = const_cast<uint32_t *>(plan.lists.rank) + keys.begin;

    for (uint64_t k = hw_grid_thread(); k < keys.count; k += hw_grid_threads())
        row[k] = row_at(plan, static_cast<uint32_t>(key[k]));
}

/* The last entries of each list, the last one first. */
template <typename Offset>
__global__ void find_ends(const __grid_constant__ kernel_params plan, uint4 *last)
{
    const uint64_t columns = static_cast<uint64_t>(plan.rows) * plan.block;

    for (uint64_t u = hw_grid_thread(); u < columns; u += hw_grid_threads()) {
        const Offset begin = hw_begin<Offset>(plan.lists, static_cast<uint32_t>(u));
        const Offset end = hw_begin<Offset>(plan.lists, static_cast<uint32_t>(u) + 1);
        uint32_t row[ends];
#pragma unroll
        for (int j = 0; j < ends; j++)
            row[j] = end - begin > static_cast<Offset>(j) ? plan.lists.rank[end - 1 - j]
                                                          : HW_INVALID_VERTEX;
        last[u] = make_uint4(row[0], row[1], row[2], row[3]);
    }
}

/* ---- transpose ---- */

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

extern "C" {

int hw_scan2d_grid_launch_renumber(uint32_t *row, uint64_t count, uint32_t from, uint32_t to)
{
    renumber<<<hw_blocks(count, threads), threads>>>(row, count, from, to);
    return cudaGetLastError();
}

int hw_scan2d_grid_launch_find_unsorted(const hw_scan2d_grid_params *plan, uint32_t *unsorted)
{
    const unsigned blocks =
        hw_blocks(static_cast<uint64_t>(plan->rows) * plan->block * 32, threads);

    if (plan->wide)
        find_unsorted<uint64_t><<<blocks, threads>>>(*plan, unsorted);
    else
        find_unsorted<uint32_t><<<blocks, threads>>>(*plan, unsorted);
    return cudaGetLastError();
}

int hw_scan2d_grid_launch_make_keys(const hw_scan2d_grid_params *plan,
                                    const hw_scan2d_grid_keys *keys, uint64_t *key)
{
    if (plan->wide)
        make_keys<uint64_t><<<hw_blocks(keys->count, threads), threads>>>(*plan, *keys, key);
    else
        make_keys<uint32_t><<<hw_blocks(keys->count, threads), threads>>>(*plan, *keys, key);
    return cudaGetLastError();
}

int hw_scan2d_grid_launch_put_keys(const hw_scan2d_grid_params *plan,
                                   const hw_scan2d_grid_keys *keys, const uint64_t *key)
{
    put_keys<<<hw_blocks(keys->count, threads), threads>>>(*plan, *keys, key);
    return cudaGetLastError();
}

int hw_scan2d_grid_launch_find_ends(const hw_scan2d_grid_params *plan)
{
    const unsigned blocks = hw_blocks(static_cast<uint64_t>(plan->rows) * plan->block, threads);
    uint4 *last = const_cast<uint4 *>(plan->ends);

    if (plan->wide)
        find_ends<uint64_t><<<blocks, threads>>>(*plan, last);
    else
        find_ends<uint32_t><<<blocks, threads>>>(*plan, last);
    return cudaGetLastError();
}

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

} // extern "C"
} // namespace hw_scan2d_grid
