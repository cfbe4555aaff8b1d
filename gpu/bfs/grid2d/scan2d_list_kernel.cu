/*
 * Method `scan2d` on a grid of GPUs: kernels that prepare the local matrix, once for each graph:
 * renumbering of rows, keys that sort the entries of each list, the last entries of lists, and the
 * matrix by rows for bottom-up levels (gpu/bfs/grid2d/scan2d_bottom_up.cuh).
 *
 * The transpose is a counting sort: entries of each row are counted, the counts are scanned, and
 * each entry is written to the next free element of its row. Offsets only grow, so that the cursor
 * of a row ends where the next row begins. The order of the entries of a row is not deterministic
 * until they are sorted.
 */
#include "gpu/bfs/grid2d/scan2d_grid_device.cuh"
#include "gpu/device/prefix_search.cuh"

#include <cub/device/device_scan.cuh>

namespace hw_scan2d
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

/* The sort key of a row: position first, then block; and its inverse. */
__device__ __forceinline__ uint32_t sort_key(const kernel_params &params, uint32_t row)
{
    return row % params.config.block * params.config.columns + row / params.config.block;
}

__device__ __forceinline__ uint32_t row_of_key(const kernel_params &params, uint32_t cursor)
{
    return cursor % params.config.columns * params.config.block + cursor / params.config.columns;
}

/* A warp for each list. */
template <typename Offset>
__global__ void find_unsorted(const __grid_constant__ kernel_params params, uint32_t *unsorted)
{
    const uint64_t columns = static_cast<uint64_t>(params.config.rows) * params.config.block;

    for (uint64_t u = hw_grid_thread() / 32; u < columns; u += hw_grid_threads() / 32) {
        const Offset end = hw_list_begin<Offset>(params.by_column, static_cast<uint32_t>(u) + 1);
        Offset e =
            hw_list_begin<Offset>(params.by_column, static_cast<uint32_t>(u)) + lane_of() + 1;
        for (; e < end; e += 32)
            if (sort_key(params, params.by_column.neighbor[e]) <
                sort_key(params, params.by_column.neighbor[e - 1]))
                *unsorted = 1;
    }
}

/* Sort keys: the list in the upper half, the key of the row in the lower half. */
template <typename Offset>
__global__ void make_keys(const __grid_constant__ kernel_params params,
                          const hw_scan2d_grid_keys keys, uint64_t *key)
{
    for (uint64_t k = hw_grid_thread(); k < keys.count; k += hw_grid_threads()) {
        const uint32_t column = last_index(keys.first, keys.end, [&](uint32_t u) {
            return hw_list_begin<Offset>(params.by_column, u) <= keys.begin + k;
        });
        key[k] = static_cast<uint64_t>(column - keys.first) << 32 |
                 sort_key(params, params.by_column.neighbor[keys.begin + k]);
    }
}

__global__ void apply_keys(const __grid_constant__ kernel_params params,
                           const hw_scan2d_grid_keys keys, const uint64_t *key)
{
    uint32_t *row = const_cast<uint32_t *>(params.by_column.neighbor) + keys.begin;

    for (uint64_t k = hw_grid_thread(); k < keys.count; k += hw_grid_threads())
        row[k] = row_of_key(params, static_cast<uint32_t>(key[k]));
}

/* Writes the last entries of each list, the last one first. */
template <typename Offset>
__global__ void find_tails(const __grid_constant__ kernel_params params, uint4 *last)
{
    const uint64_t columns = static_cast<uint64_t>(params.config.rows) * params.config.block;

    for (uint64_t u = hw_grid_thread(); u < columns; u += hw_grid_threads()) {
        const Offset begin = hw_list_begin<Offset>(params.by_column, static_cast<uint32_t>(u));
        const Offset end = hw_list_begin<Offset>(params.by_column, static_cast<uint32_t>(u) + 1);
        uint32_t row[tail_entries];
#pragma unroll
        for (int j = 0; j < tail_entries; j++)
            row[j] = end - begin > static_cast<Offset>(j) ? params.by_column.neighbor[end - 1 - j]
                                                          : HW_INVALID_VERTEX;
        last[u] = make_uint4(row[0], row[1], row[2], row[3]);
    }
}

/* ---- transpose ---- */

__device__ __forceinline__ uint32_t advance_cursor(uint32_t *cursor)
{
    return atomicAdd(cursor, 1u);
}

__device__ __forceinline__ uint64_t advance_cursor(uint64_t *cursor)
{
    return atomicAdd(reinterpret_cast<count64 *>(cursor), 1ull);
}

template <typename Offset>
__host__ __device__ __forceinline__ Offset *cursors(const kernel_params &params)
{
    return static_cast<Offset *>(const_cast<void *>(params.bottom_up.by_row.offset)) + 1;
}

template <typename Offset>
__global__ void count_rows(const __grid_constant__ kernel_params params, uint64_t edges)
{
    for (uint64_t e = hw_grid_thread(); e < edges; e += hw_grid_threads())
        advance_cursor(cursors<Offset>(params) + params.by_column.neighbor[e]);
}

/* A warp for each column. */
template <typename Offset>
__global__ void write_columns(const __grid_constant__ kernel_params params)
{
    const uint64_t columns = static_cast<uint64_t>(params.config.rows) * params.config.block;
    uint32_t *to = const_cast<uint32_t *>(params.bottom_up.by_row.neighbor);

    for (uint64_t u = hw_grid_thread() / 32; u < columns; u += hw_grid_threads() / 32) {
        const Offset end = hw_list_begin<Offset>(params.by_column, static_cast<uint32_t>(u) + 1);
        Offset e = hw_list_begin<Offset>(params.by_column, static_cast<uint32_t>(u)) + lane_of();
        for (; e < end; e += 32)
            to[advance_cursor(cursors<Offset>(params) + params.by_column.neighbor[e])] =
                static_cast<uint32_t>(u);
    }
}

template <typename Offset>
__global__ void find_heads(const __grid_constant__ kernel_params params, uint4 *head,
                           uint32_t *nonempty_rows)
{
    const uint64_t rows = static_cast<uint64_t>(params.config.columns) * params.config.block;

    /* The number of rows is a multiple of 32, so that warps stay converged. */
    for (uint64_t v = hw_grid_thread(); v < rows; v += hw_grid_threads()) {
        const Offset begin =
            hw_list_begin<Offset>(params.bottom_up.by_row, static_cast<uint32_t>(v));
        const Offset end =
            hw_list_begin<Offset>(params.bottom_up.by_row, static_cast<uint32_t>(v) + 1);
        uint32_t column[4];
#pragma unroll
        for (int k = 0; k < 4; k++)
            column[k] = end - begin > static_cast<Offset>(k)
                            ? params.bottom_up.by_row.neighbor[begin + k]
                            : HW_INVALID_VERTEX;
        head[v] = make_uint4(column[0], column[1], column[2], column[3]);
        const uint32_t ballot = __ballot_sync(HW_WARP, end > begin);
        if (lane_of() == 0)
            nonempty_rows[v / 32] = ballot;
    }
}

template <typename Offset>
cudaError_t transpose(const kernel_params &params, uint64_t edges, void *scratch, size_t *bytes)
{
    const uint64_t rows = static_cast<uint64_t>(params.config.columns) * params.config.block;
    Offset *cursor = scratch ? cursors<Offset>(params) : nullptr;
    cudaError_t error = cudaSuccess;

    if (scratch) {
        error = cudaMemsetAsync(cursor - 1, 0, (rows + 1) * sizeof *cursor);
        if (error == cudaSuccess)
            count_rows<Offset><<<hw_blocks(edges, threads), threads>>>(params, edges);
        error = error == cudaSuccess ? cudaGetLastError() : error;
    }
    if (error == cudaSuccess)
        error = cub::DeviceScan::ExclusiveSum(scratch, *bytes, cursor, cursor, rows);
    if (error != cudaSuccess || !scratch)
        return error;
    write_columns<Offset>
        <<<hw_blocks(static_cast<uint64_t>(params.config.rows) * params.config.block * 32, threads),
           threads>>>(params);
    return cudaGetLastError();
}

} // namespace

extern "C" {

int hw_scan2d_grid_launch_renumber(uint32_t *row, uint64_t count, uint32_t from, uint32_t to)
{
    renumber<<<hw_blocks(count, threads), threads>>>(row, count, from, to);
    return cudaGetLastError();
}

int hw_scan2d_grid_launch_find_unsorted(const hw_scan2d_grid_params *params, uint32_t *unsorted)
{
    const unsigned blocks =
        hw_blocks(static_cast<uint64_t>(params->config.rows) * params->config.block * 32, threads);

    if (params->config.offsets64)
        find_unsorted<uint64_t><<<blocks, threads>>>(*params, unsorted);
    else
        find_unsorted<uint32_t><<<blocks, threads>>>(*params, unsorted);
    return cudaGetLastError();
}

int hw_scan2d_grid_launch_make_keys(const hw_scan2d_grid_params *params,
                                    const hw_scan2d_grid_keys *keys, uint64_t *key)
{
    if (params->config.offsets64)
        make_keys<uint64_t><<<hw_blocks(keys->count, threads), threads>>>(*params, *keys, key);
    else
        make_keys<uint32_t><<<hw_blocks(keys->count, threads), threads>>>(*params, *keys, key);
    return cudaGetLastError();
}

int hw_scan2d_grid_launch_apply_keys(const hw_scan2d_grid_params *params,
                                     const hw_scan2d_grid_keys *keys, const uint64_t *key)
{
    apply_keys<<<hw_blocks(keys->count, threads), threads>>>(*params, *keys, key);
    return cudaGetLastError();
}

int hw_scan2d_grid_launch_find_tails(const hw_scan2d_grid_params *params)
{
    const unsigned blocks =
        hw_blocks(static_cast<uint64_t>(params->config.rows) * params->config.block, threads);
    uint4 *last = const_cast<uint4 *>(params->list_tails);

    if (params->config.offsets64)
        find_tails<uint64_t><<<blocks, threads>>>(*params, last);
    else
        find_tails<uint32_t><<<blocks, threads>>>(*params, last);
    return cudaGetLastError();
}

int hw_scan2d_grid_launch_transpose(const hw_scan2d_grid_params *params, uint64_t edges,
                                    void *scratch, size_t *bytes)
{
    return params->config.offsets64 ? transpose<uint64_t>(*params, edges, scratch, bytes)
                                    : transpose<uint32_t>(*params, edges, scratch, bytes);
}

int hw_scan2d_grid_launch_find_heads(const hw_scan2d_grid_params *params)
{
    const unsigned blocks =
        hw_blocks(static_cast<uint64_t>(params->config.columns) * params->config.block, threads);
    uint4 *head = const_cast<uint4 *>(params->bottom_up.list_heads);
    uint32_t *nonempty_rows = const_cast<uint32_t *>(params->bottom_up.nonempty_rows);

    if (params->config.offsets64)
        find_heads<uint64_t><<<blocks, threads>>>(*params, head, nonempty_rows);
    else
        find_heads<uint32_t><<<blocks, threads>>>(*params, head, nonempty_rows);
    return cudaGetLastError();
}

} // extern "C"
} // namespace hw_scan2d
