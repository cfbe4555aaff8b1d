/*
 * Method `scan2d` on a grid of GPUs: the kernels of a level ("Parallel Distributed Breadth First
 * Search on the Kepler Architecture", sections 2.2, 3 and 5; algorithms 2 and 3).
 *
 * A level is three kernels, with an all-gather of all GPUs (gpu/comm/allgather.h) after the second
 * and the third:
 *
 *   gather   builds the queue of the frontier from the sets that the parts of the grid column sent
 *            (gpu/bfs/grid2d/scan2d_gather.cuh), or the bitmap for a bottom-up level;
 *   expand   expands the frontier top-down (gpu/bfs/grid2d/scan2d_top_down.cuh) or bottom-up
 *            (gpu/bfs/grid2d/scan2d_bottom_up.cuh), and packs what it discovered for the owners;
 *   update   receives from the parts of the grid row, discards what is visited, writes the levels,
 *            and packs the next frontier for the grid column (gpu/bfs/grid2d/scan2d_exchange.cuh).
 *
 * Predecessors stay on the part that found them. When the search is over each GPU loads those of
 * its vertices from the parts of its grid row that had sent them (section 3.2;
 * gpu/bfs/grid2d/scan2d_results_kernel.cu).
 */
#include "gpu/bfs/grid2d/scan2d_bottom_up.cuh"
#include "gpu/bfs/grid2d/scan2d_exchange.cuh"
#include "gpu/bfs/grid2d/scan2d_gather.cuh"
#include "gpu/bfs/grid2d/scan2d_single_cta.cuh"
#include "gpu/bfs/grid2d/scan2d_top_down.cuh"

namespace hw_scan2d
{
namespace
{

/* Blocks a multiprocessor. */
constexpr int gather_blocks()
{
    return resident_blocks(HW_SCAN2D_MAX_EDGES_PER_THREAD) < 5
               ? resident_blocks(HW_SCAN2D_MAX_EDGES_PER_THREAD)
               : 5;
}

/* Gathers the frontier of the grid column into the queue, visiting the tails of lists where that
 * suffices, and into the bitmap for bottom-up levels. */
template <typename Offset, bool varied>
__global__ void __launch_bounds__(threads, gather_blocks())
    gather(const __grid_constant__ kernel_params params, uint32_t root,
           const allgather_result *counts)
{
    __shared__ block_shared smem;
    __shared__ deferred_lists<Offset> deferred;
    __shared__ picked_positions picks;
    const uint32_t depth = depth_of(params);
    uint32_t examined = 0;

    if (hw_grid_thread() == 0) {
        params.search.control->next_frontier =
            params.search.control->num_packed[params.config.column] = 0;
        params.search.control->first_unvisited[(depth + 1) & 1] =
            params.search.control->slice_first_unvisited[0] = params.config.block;
    }
    const bool done = depth > 0 && counts->reduced[0] == 0;
    if (hw_grid_thread() == 0)
        params.search.control->done = done;
    if (done)
        return;
    if (writes_trace(params)) {
        const uint32_t own = part_at(params, params.config.row, params.config.column);
        trace_begin_level(params, depth,
                          depth > 0 ? counts->by_rank[own][0] : root / params.config.block == own);
    }
    if (depth == 0) {
        if (hw_grid_thread() == 0)
            queue_root<Offset>(params, root);
        return;
    }
    const uint32_t first_unvisited =
        varied && params.variant.examines_visited ? 0 : skip_below(params, depth);
    if (threadIdx.x == 0)
        deferred.count = 0;
    __syncthreads();
    const bool bottom_up = has_large_frontier(params, depth, counts);
    for (uint32_t r = 0; r < params.config.rows; r++) {
        const uint32_t *set = params.buffers.expand_recv[depth & 1][r];
        const count64 count = counts->by_rank[part_at(params, r, params.config.column)][0];
        if (count > 0 && params.bottom_up.frontier_bits)
            set_frontier_bits(params, set, r, count);
        if (count > 0 && !bottom_up)
            examined += gather_set<Offset, varied>(params, set, r, count, first_unvisited, picks,
                                                   deferred, smem);
    }
    __syncthreads();
    queue_deferred<Offset, varied>(params, first_unvisited, deferred, smem);
    if (params.trace.record && first_unvisited > 0)
        block_add(&params.search.control->edges_examined, examined, smem);
}

/* ---- frontier expansion ---- */

/* The same where it is grouped already. */
__device__ __noinline__ void pack_all_grouped(const kernel_params &params, cg::grid_group &grid)
{
    grid.sync();
    for (uint32_t m = 0; m < params.config.columns; m++)
        if (m != params.config.column)
            pack_grouped(params, m, {&params.buffers.fold_send[m], 1}, params.config.row_active[m],
                         hw_load_relaxed(&params.search.control->num_discovered[m]));
}

/* Packs what was discovered for the other grid columns. All threads of the grid. */
__device__ __noinline__ void pack_discovered(const kernel_params &params, cg::grid_group &grid,
                                             block_shared &smem)
{
    grid.sync();
    for (uint32_t m = 0; m < params.config.columns; m++)
        if (m != params.config.column)
            count_discovered(params, m, smem);
    grid.sync();
    for (uint32_t m = 0; m < params.config.columns; m++)
        if (m != params.config.column)
            pack(params, m, {&params.buffers.fold_send[m], 1}, params.config.row_active[m],
                 hw_load_relaxed(&params.search.control->num_discovered[m]), smem);
}

/* Expands the frontier. The launch bounds are those for the most edges a thread: registers matter
 * more than occupancy here. */
template <typename Offset, int per_lane, bool varied>
__global__ void __launch_bounds__(threads, resident_blocks(HW_SCAN2D_MAX_EDGES_PER_THREAD))
    expand(const __grid_constant__ kernel_params params, const allgather_result *counts)
{
    __shared__ block_shared smem;
    const uint32_t depth = depth_of(params);
    cg::grid_group grid = cg::this_grid();

    if (depth > 0 && counts->reduced[0] == 0)
        return;
    const bool skips = depth > 0 && (!varied || !params.variant.examines_visited);
    const uint32_t first_unvisited = skips ? skip_below(params, depth) : 0;
    const bool bottom_up = is_bottom_up(params, depth, first_unvisited, counts);
    count64 examined = 0;
    if (bottom_up)
        bottom_up_level<Offset>(params, depth, grid, smem);
    else if (varied && params.variant.scatters)
        examined = scatter_compact<Offset, per_lane>(params, grid, smem);
    else
        examined = expand_queue<Offset, per_lane, varied>(params, first_unvisited, grid, smem);
    if (varied && params.variant.groups)
        pack_all_grouped(params, grid);
    else if (params.config.columns > 1)
        pack_discovered(params, grid, smem);
    if (!writes_trace(params))
        return;
    hw_scan2d_grid_trace_record *record = trace_record_at(params, depth);
    record->edges += examined + hw_load_relaxed(&params.search.control->edges_examined);
    record->encodings |= bottom_up ? HW_SCAN2D_GRID_BOTTOM_UP : 0;
    record->time[HW_SCAN2D_GRID_TIME_EXPANSION_END] = hw_nanoseconds();
    for (uint32_t m = 0; m < params.config.columns; m++)
        if (m != params.config.column)
            trace_set(params, record, params.config.row_active[m],
                      hw_load_relaxed(&params.search.control->num_discovered[m]));
}

/* ---- frontier update ---- */

/* Counts the next frontier, and writes the level of its vertices. All threads of the grid. */
__device__ void write_levels(const kernel_params &params, int32_t level, block_shared &smem)
{
    const uint32_t first = params.config.column * words_of(params);
    uint32_t count = 0;

    /* The number of words is a multiple of 32, so that warps stay converged. */
    for (uint64_t w = hw_grid_thread(); w < words_of(params); w += hw_grid_threads()) {
        const uint32_t discovered = discovered_word(params, first + static_cast<uint32_t>(w));
        uint32_t left = __ballot_sync(HW_WARP, discovered != 0);
        int32_t *to = params.search.level + (w - lane_of()) * 32 + lane_of();
        count += __popc(discovered);
        for (; left; left &= left - 1) {
            const int k = __ffs(left) - 1;
            if (__shfl_sync(HW_WARP, discovered, k) >> lane_of() & 1)
                to[k * 32] = level;
        }
    }
    block_add(&params.search.control->next_frontier, count, smem);
}

/* Clears the counters of the next expansion. One thread. */
__device__ void clear_counters(const kernel_params &params)
{
    params.search.control->queue[0] = params.search.control->queue[1] =
        params.search.control->edges_examined = 0;
    for (uint32_t m = 0; m < params.config.columns; m++) {
        params.search.control->num_discovered[m] = 0;
        if (m != params.config.column)
            params.search.control->num_packed[m] = 0;
    }
}

/* Begins to count the own vertices that the next level groups. One thread. */
__device__ void clear_own_grouped(const kernel_params &params, uint32_t depth)
{
    params.variant.own_grouped[(depth + 1) & 1] = 0;
}

/* The next frontier is what was grouped of own vertices. One thread. */
__device__ void count_own_grouped(const kernel_params &params, uint32_t depth)
{
    params.search.control->next_frontier = hw_load_relaxed(&params.variant.own_grouped[depth & 1]);
}

template <bool varied>
__global__ void __launch_bounds__(threads)
    update(const __grid_constant__ kernel_params params, const allgather_result *counts)
{
    __shared__ block_shared smem;
    const uint32_t depth = depth_of(params);
    cg::grid_group grid = cg::this_grid();
    const bool traces = writes_trace(params);
    const bool groups = varied && params.variant.groups;

    if (hw_load_relaxed(&params.search.control->done))
        return;
    if (hw_grid_thread() == 0)
        clear_counters(params);
    if (groups && hw_grid_thread() == 0)
        clear_own_grouped(params, depth);
    if (traces)
        trace_record_at(params, depth)->time[HW_SCAN2D_GRID_TIME_FOLD_END] = hw_nanoseconds();
    for (uint32_t m = 0; m < params.config.columns; m++)
        if (m != params.config.column)
            receive<varied>(
                params, m,
                counts->by_rank[part_at(params, params.config.row, m)][params.config.column]);
    if (params.config.columns > 1)
        grid.sync();
    clear_frontier_bits(params);
    find_first_unvisited(params, &params.search.control->first_unvisited[(depth + 1) & 1]);
    if (!groups)
        write_levels(params, static_cast<int32_t>(depth) + 1, smem);
    else if (hw_grid_thread() == 0) /* complete since the barrier, or since the last kernel */
        count_own_grouped(params, depth);
    grid.sync();
    if (hw_grid_thread() == 0)
        params.search.control->depth = depth + 1;
    const count64 next_frontier = hw_load_relaxed(&params.search.control->next_frontier);
    if (traces) {
        trace_record_at(params, depth)->discovered += next_frontier;
        trace_record_at(params, depth)->time[HW_SCAN2D_GRID_TIME_UPDATE_END] = hw_nanoseconds();
    }
    const targets to = {params.buffers.expand_send[(depth + 1) & 1], params.config.rows};
    const uint32_t active = params.config.column_active[params.config.row];
    if (groups)
        pack_grouped(params, params.config.column, to, active, next_frontier);
    else
        pack(params, params.config.column, to, active, next_frontier, smem);
}

/* ---- initialization ---- */

__global__ void begin(const __grid_constant__ kernel_params params, uint32_t root)
{
    const uint32_t words = words_of(params), own = params.config.column * words;
    const uint32_t first =
        part_at(params, params.config.row, params.config.column) * params.config.block;
    const uint32_t at =
        root >= first && root - first < params.config.block ? root - first : HW_INVALID_VERTEX;

    for (uint64_t w = hw_grid_thread(); w < static_cast<uint64_t>(params.config.columns) * words;
         w += hw_grid_threads()) {
        const uint32_t bit = at != HW_INVALID_VERTEX && w == own + at / 32 ? 1u << (at & 31) : 0;
        params.search.visited[w] = params.search.visited_before[w] = bit;
        params.search.discovered_by[w] = 0;
    }
    clear_frontier_bits(params);
    if (hw_grid_thread() != 0)
        return;
    *params.search.control = hw_scan2d_grid_control{};
    if (at != HW_INVALID_VERTEX) {
        params.search.predecessor[params.config.column * params.config.block + at] =
            params.config.row * params.config.block + at;
        params.search.level[at] = 0;
    }
}

template <typename Offset, bool varied> const void *expand_for(int per_lane)
{
    static const void *const kernels[HW_SCAN2D_MAX_EDGES_PER_THREAD] = {
        reinterpret_cast<const void *>(expand<Offset, 1, varied>),
        reinterpret_cast<const void *>(expand<Offset, 2, varied>),
        reinterpret_cast<const void *>(expand<Offset, 3, varied>),
        reinterpret_cast<const void *>(expand<Offset, 4, varied>),
        reinterpret_cast<const void *>(expand<Offset, 5, varied>),
        reinterpret_cast<const void *>(expand<Offset, 6, varied>),
        reinterpret_cast<const void *>(expand<Offset, 7, varied>),
        reinterpret_cast<const void *>(expand<Offset, 8, varied>)};

    return kernels[per_lane - 1];
}

bool is_varied(const hw_scan2d_grid_params *params)
{
    const hw_scan2d_grid_variant &variant = params->variant;

    return variant.examines_visited || variant.one_slice || variant.groups || variant.scatters;
}

template <bool varied> const void *gather_in_width(const hw_scan2d_grid_params *params)
{
    return params->config.offsets64 ? reinterpret_cast<const void *>(gather<uint64_t, varied>)
                                    : reinterpret_cast<const void *>(gather<uint32_t, varied>);
}

const void *gather_of(const hw_scan2d_grid_params *params)
{
    return is_varied(params) ? gather_in_width<true>(params) : gather_in_width<false>(params);
}

template <bool varied> const void *expand_in_width(const hw_scan2d_grid_params *params)
{
    return params->config.offsets64 ? expand_for<uint64_t, varied>(params->config.edges_per_thread)
                                    : expand_for<uint32_t, varied>(params->config.edges_per_thread);
}

const void *expand_of(const hw_scan2d_grid_params *params)
{
    return is_varied(params) ? expand_in_width<true>(params) : expand_in_width<false>(params);
}

const void *update_of(const hw_scan2d_grid_params *params)
{
    return is_varied(params) ? reinterpret_cast<const void *>(update<true>)
                             : reinterpret_cast<const void *>(update<false>);
}

} // namespace

extern "C" {

int hw_scan2d_grid_launch_shape(const hw_scan2d_grid_params *params, hw_scan2d_grid_shape *shape)
{
    int error = hw_frontier_queue_shape(gather_of(params), &shape->gather);

    if (error == cudaSuccess)
        error = hw_frontier_queue_shape(expand_of(params), &shape->expand);
    return error == cudaSuccess ? hw_frontier_queue_shape(update_of(params), &shape->update)
                                : error;
}

int hw_scan2d_grid_launch_begin(const hw_scan2d_grid_params *params, uint32_t root)
{
    if (params->variant.groups) {
        const cudaError_t error = cudaMemsetAsync(params->variant.own_grouped, 0,
                                                  2 * sizeof *params->variant.own_grouped, nullptr);
        if (error != cudaSuccess)
            return error;
    }
    begin<<<hw_blocks(params->config.block / 32 * static_cast<uint64_t>(params->config.columns),
                      threads),
            threads>>>(*params, root);
    return cudaGetLastError();
}

int hw_scan2d_grid_launch_single_cta(const hw_scan2d_grid_params *params, uint32_t root,
                                     const hw_allgather_result *counts,
                                     const hw_allgather_params *allgather,
                                     hw_allgather_result *result)
{
    hw_allgather_result *to = const_cast<hw_allgather_result *>(counts);

    if (params->config.offsets64)
        single_cta_levels<uint64_t><<<1, cta_threads>>>(*params, root, to, *allgather, result);
    else
        single_cta_levels<uint32_t><<<1, cta_threads>>>(*params, root, to, *allgather, result);
    return cudaGetLastError();
}

int hw_scan2d_grid_launch_expand(const hw_scan2d_grid_params *params,
                                 const hw_scan2d_grid_shape *shape, uint32_t root,
                                 const hw_allgather_result *counts)
{
    void *gather_arguments[] = {const_cast<hw_scan2d_grid_params *>(params), &root, &counts};
    void *arguments[] = {const_cast<hw_scan2d_grid_params *>(params), &counts};
    const cudaError_t error = cudaLaunchKernel(gather_of(params), dim3(shape->gather),
                                               dim3(threads), gather_arguments, 0, nullptr);

    if (error != cudaSuccess)
        return error;
    return cudaLaunchCooperativeKernel(expand_of(params), dim3(shape->expand), dim3(threads),
                                       arguments, 0, nullptr);
}

int hw_scan2d_grid_launch_update(const hw_scan2d_grid_params *params,
                                 const hw_scan2d_grid_shape *shape,
                                 const hw_allgather_result *counts)
{
    void *arguments[] = {const_cast<hw_scan2d_grid_params *>(params), &counts};

    return cudaLaunchCooperativeKernel(update_of(params), dim3(shape->update), dim3(threads),
                                       arguments, 0, nullptr);
}

} // extern "C"
} // namespace hw_scan2d
