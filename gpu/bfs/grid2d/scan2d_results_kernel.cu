/*
 * Method `scan2d` on a grid of GPUs: kernels for what follows a search. Predecessors from the parts
 * of the grid row (section 3.2 of "Parallel Distributed Breadth First Search on the Kepler
 * Architecture"), parents and levels by graph id, and canonical parents.
 */
#include "gpu/bfs/grid2d/scan2d_grid_device.cuh"

#include <cub/device/device_scan.cuh>

namespace hw_scan2d
{
namespace
{

/* ---- predecessors ---- */

/* Set positions of a set before word w, from the first word of its 1024 positions on.
 * Warp-collective.
 */
__device__ __forceinline__ uint32_t bits_before_word(const uint32_t *set, uint32_t w)
{
    const uint32_t at = w & 31;

    return hw_warp_sum(lane_of() < at ? __popc(set[w - at + lane_of()]) : 0);
}

/* Set bits of a word below this lane's. */
__device__ __forceinline__ uint32_t bits_below(uint32_t word)
{
    return __popc(word & ((1u << lane_of()) - 1));
}

/* The packed id of the parent of an own vertex: a local column of the part that discovered it.
 * Warp-collective, each lane the vertex of its bit in word w. */
__device__ __forceinline__ uint32_t parent_packed_id(const kernel_params &params, uint32_t w)
{
    const uint32_t words = words_of(params),
                   row = params.config.column * params.config.block + w * 32 + lane_of();
    const bool reached = params.search.visited[params.config.column * words + w] >> lane_of() & 1;
    const uint32_t *predecessor = params.search.predecessor + row;
    uint32_t column = params.config.column;

    for (uint32_t m = 0; m < params.config.columns; m++) {
        const uint32_t word =
            m != params.config.column ? params.search.discovered_by[m * words + w] : 0;
        const uint32_t *begin = params.buffers.reply_begin + m * words / 32;
        uint32_t at = row;
        if (word == 0) /* the same for all lanes */
            continue;
        if (params.buffers.reply_begin)
            at = begin[w / 32] - begin[0] +
                 bits_before_word(params.search.discovered_by + m * words, w) + bits_below(word);
        if (word >> lane_of() & 1) {
            predecessor = params.buffers.peer_predecessor[m] + at;
            column = m;
        }
    }
    return reached ? column * params.config.rows * params.config.block + *predecessor
                   : HW_INVALID_VERTEX;
}

__global__ void resolve(const __grid_constant__ kernel_params params)
{
    for (uint64_t i = hw_grid_thread(); i < params.config.block; i += hw_grid_threads())
        params.search.parent[i] = parent_packed_id(params, static_cast<uint32_t>(i / 32));
}

/* Sets of the parts of a grid row. */
struct sets {
    const uint32_t *of[HW_SCAN2D_GRID_MAX_SIDE];
};

/* The number of set positions in each 1024; the last element gets their sum from the scan. */
__global__ void count_sets(const __grid_constant__ sets bits, uint32_t parts, uint32_t block,
                           uint32_t *count)
{
    const uint32_t tiles_per_set = block / 1024, all = parts * tiles_per_set;

    for (uint64_t i = hw_grid_thread() / 32; i < all; i += hw_grid_threads() / 32) {
        const uint32_t m = static_cast<uint32_t>(i) / tiles_per_set,
                       at = static_cast<uint32_t>(i) % tiles_per_set;
        const uint32_t sum = hw_warp_sum(bits.of[m] ? __popc(bits.of[m][at * 32 + lane_of()]) : 0);
        if (lane_of() == 0)
            count[i] = sum;
    }
    if (hw_grid_thread() == 0)
        count[all] = 0;
}

/* The predecessors of the requested positions, packed in order. */
__global__ void reply_sets(const __grid_constant__ kernel_params params,
                           const __grid_constant__ sets requested, const uint32_t *begin,
                           const __grid_constant__ sets reply)
{
    const uint32_t words = words_of(params);

    for (uint64_t i = hw_grid_thread() / 32;
         i < static_cast<uint64_t>(params.config.columns) * words; i += hw_grid_threads() / 32) {
        const uint32_t m = static_cast<uint32_t>(i / words), w = static_cast<uint32_t>(i % words);
        const uint32_t word = requested.of[m] ? requested.of[m][w] : 0;
        if (word == 0)
            continue;
        const uint32_t at = begin[m * words / 32 + w / 32] - begin[m * words / 32] +
                            bits_before_word(requested.of[m], w) + bits_below(word);
        if (word >> lane_of() & 1)
            const_cast<uint32_t *>(reply.of[m])[at] =
                params.search.predecessor[m * params.config.block + w * 32 + lane_of()];
    }
}

/* ---- results ---- */

__global__ void parents(const __grid_constant__ kernel_params params, const uint32_t *position,
                        uint32_t count, const uint32_t *graph_id, uint32_t root, uint32_t root_id,
                        uint32_t *parent_id)
{
    for (uint64_t k = hw_grid_thread(); k < count; k += hw_grid_threads()) {
        const uint32_t at = position[k];
        const uint32_t packed_id =
            at < params.config.block ? params.search.parent[at] : HW_INVALID_VERTEX;
        const uint32_t id =
            packed_id != HW_INVALID_VERTEX ? graph_id[packed_id] : HW_INVALID_VERTEX;
        parent_id[k] = at == root ? root_id : id;
    }
}

__global__ void levels(const __grid_constant__ kernel_params params, const uint32_t *position,
                       uint32_t count, uint32_t root, int32_t *level)
{
    const uint32_t *visited = params.search.visited + params.config.column * words_of(params);

    for (uint64_t k = hw_grid_thread(); k < count; k += hw_grid_threads()) {
        const uint32_t at = position[k];
        const bool reached = at < params.config.block && (visited[at / 32] >> (at & 31) & 1);
        level[k] = at == root ? 0 : reached ? params.search.level[at] : -1;
    }
}

/* ---- canonical parents ---- */

__global__ void canonical_levels(const __grid_constant__ kernel_params params,
                                 const hw_scan2d_grid_canonical canonical)
{
    const uint32_t *visited = params.search.visited + params.config.column * words_of(params);

    for (uint64_t t = hw_grid_thread(); t < params.config.block; t += hw_grid_threads()) {
        const int32_t level = visited[t / 32] >> (t & 31) & 1 ? params.search.level[t] : -1;
        canonical.row_level[params.config.column * params.config.block + t] = level;
        canonical.column_level[params.config.row * params.config.block + t] = level;
    }
    for (uint64_t v = hw_grid_thread();
         v < static_cast<uint64_t>(params.config.columns) * params.config.block;
         v += hw_grid_threads())
        canonical.min_parent[v] = HW_INVALID_VERTEX;
}

/* A warp for each local column that is reached. */
template <typename Offset>
__global__ void canonical_min_parents(const __grid_constant__ kernel_params params,
                                      const hw_scan2d_grid_canonical canonical)
{
    const uint64_t columns = static_cast<uint64_t>(params.config.rows) * params.config.block;

    for (uint64_t u = hw_grid_thread() / 32; u < columns; u += hw_grid_threads() / 32) {
        const int32_t level = canonical.column_level[u];
        const uint32_t id = canonical.graph_id[params.config.column * columns + u];
        if (level < 0)
            continue;
        const Offset end = hw_list_begin<Offset>(params.by_column, static_cast<uint32_t>(u) + 1);
        Offset e = hw_list_begin<Offset>(params.by_column, static_cast<uint32_t>(u)) + lane_of();
        for (; e < end; e += 32) {
            const uint32_t row = params.by_column.neighbor[e];
            if (canonical.row_level[row] == level + 1)
                atomicMin(&canonical.min_parent[row], id);
        }
    }
}

__global__ void canonical_parents(const __grid_constant__ kernel_params params,
                                  const hw_scan2d_grid_canonical canonical,
                                  const uint32_t *position, uint32_t count, uint32_t root,
                                  uint32_t root_id, uint32_t *parent_id)
{
    for (uint64_t k = hw_grid_thread(); k < count; k += hw_grid_threads()) {
        const uint32_t at = position[k];
        uint32_t min_parent = HW_INVALID_VERTEX;
        for (uint32_t m = 0; m < params.config.columns && at < params.config.block; m++)
            min_parent =
                min(min_parent, m == params.config.column
                                    ? canonical.min_parent[m * params.config.block + at]
                                    : canonical.recv_min_parent[m * params.config.block + at]);
        parent_id[k] = at == root ? root_id : min_parent;
    }
}

} // namespace

extern "C" {

int hw_scan2d_grid_launch_resolve(const hw_scan2d_grid_params *params)
{
    resolve<<<hw_blocks(params->config.block, threads), threads>>>(*params);
    return cudaGetLastError();
}

int hw_scan2d_grid_launch_count_sets(const uint32_t *const *bits, uint32_t parts, uint32_t block,
                                     uint32_t *begin, void *scratch, size_t *bytes)
{
    const uint64_t all = static_cast<uint64_t>(parts) * (block / 1024);
    sets of = {};

    for (uint32_t m = 0; m < parts && scratch; m++)
        of.of[m] = bits[m];
    if (scratch)
        count_sets<<<hw_blocks(all * 32, threads), threads>>>(of, parts, block, begin);
    const cudaError_t error = cudaGetLastError();
    return error == cudaSuccess
               ? cub::DeviceScan::ExclusiveSum(scratch, *bytes, begin, begin, all + 1)
               : error;
}

int hw_scan2d_grid_launch_reply(const hw_scan2d_grid_params *params,
                                const uint32_t *const *requested, const uint32_t *begin,
                                uint32_t *const *reply)
{
    sets from = {}, to = {};

    for (uint32_t m = 0; m < params->config.columns; m++) {
        from.of[m] = requested[m];
        to.of[m] = reply[m];
    }
    reply_sets<<<hw_blocks(static_cast<uint64_t>(params->config.columns) * params->config.block,
                           threads),
                 threads>>>(*params, from, begin, to);
    return cudaGetLastError();
}

int hw_scan2d_grid_launch_parents(const hw_scan2d_grid_params *params, const uint32_t *position,
                                  uint32_t count, const uint32_t *graph_id, uint32_t root,
                                  uint32_t root_id, uint32_t *parent_id)
{
    parents<<<hw_blocks(count, threads), threads>>>(*params, position, count, graph_id, root,
                                                    root_id, parent_id);
    return cudaGetLastError();
}

int hw_scan2d_grid_launch_levels(const hw_scan2d_grid_params *params, const uint32_t *position,
                                 uint32_t count, uint32_t root, int32_t *level)
{
    levels<<<hw_blocks(count, threads), threads>>>(*params, position, count, root, level);
    return cudaGetLastError();
}

int hw_scan2d_grid_launch_canonical_levels(const hw_scan2d_grid_params *params,
                                           const hw_scan2d_grid_canonical *canonical)
{
    canonical_levels<<<
        hw_blocks(static_cast<uint64_t>(params->config.columns) * params->config.block, threads),
        threads>>>(*params, *canonical);
    return cudaGetLastError();
}

int hw_scan2d_grid_launch_canonical_min_parents(const hw_scan2d_grid_params *params,
                                                const hw_scan2d_grid_canonical *canonical)
{
    const unsigned blocks =
        hw_blocks(static_cast<uint64_t>(params->config.rows) * params->config.block * 32, threads);

    if (params->config.offsets64)
        canonical_min_parents<uint64_t><<<blocks, threads>>>(*params, *canonical);
    else
        canonical_min_parents<uint32_t><<<blocks, threads>>>(*params, *canonical);
    return cudaGetLastError();
}

int hw_scan2d_grid_launch_canonical_parents(const hw_scan2d_grid_params *params,
                                            const hw_scan2d_grid_canonical *canonical,
                                            const uint32_t *position, uint32_t count, uint32_t root,
                                            uint32_t root_id, uint32_t *parent_id)
{
    canonical_parents<<<hw_blocks(count, threads), threads>>>(*params, *canonical, position, count,
                                                              root, root_id, parent_id);
    return cudaGetLastError();
}

} // extern "C"
} // namespace hw_scan2d
