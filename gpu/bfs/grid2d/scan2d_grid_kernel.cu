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

namespace hw_scan2d_grid
{
namespace
{

/* On a multiprocessor. */
constexpr int gather_blocks()
{
    return resident(HW_SCAN2D_MANY) < 5 ? resident(HW_SCAN2D_MANY) : 5;
}

/* The frontier of the grid column into the queue, but for what is visited at once. */
template <typename Offset>
__global__ void __launch_bounds__(threads, gather_blocks())
    gather(const __grid_constant__ kernel_params plan, uint32_t root, const told_t *told)
{
    __shared__ shared room;
    __shared__ hold<Offset> held;
    __shared__ picks of;
    const uint32_t depth = depth_of(plan);
    uint32_t looked = 0;

    if (hw_grid_thread() == 0) {
        plan.control->found = plan.control->put[plan.column] = 0;
        plan.control->open[(depth + 1) & 1] = plan.control->opened[0] = plan.block;
    }
    const bool over = depth > 0 && told->reduced[0] == 0;
    if (hw_grid_thread() == 0)
        plan.control->over = over;
    if (over)
        return;
    if (keeps_rows(plan)) {
        const uint32_t own = part_at(plan, plan.row, plan.column);
        begin_row(plan, depth, depth > 0 ? told->by_rank[own][0] : root / plan.block == own);
    }
    if (depth == 0) {
        if (hw_grid_thread() == 0)
            queue_root<Offset>(plan, root);
        return;
    }
    const uint32_t open = open_from(plan, depth);
    if (threadIdx.x == 0)
        held.count = 0;
    __syncthreads();
    const bool up = surely_up(plan, depth, told);
    for (uint32_t r = 0; r < plan.rows; r++) {
        const uint32_t *set = plan.expand_in[depth & 1][r];
        const count64 count = told->by_rank[part_at(plan, r, plan.column)][0];
        if (count > 0 && plan.front)
            mark_front(plan, set, r, count);
        if (count > 0 && !up)
            looked += gather_set<Offset>(plan, set, r, count, open, of, held, room);
    }
    __syncthreads();
    queue_held(plan, open, held, room);
    if (plan.step && open > 0)
        add_up(&plan.control->looked, looked, room);
}

/* ---- frontier expansion ---- */

/* What was found for the other columns of the grid. All threads of the grid. */
__device__ __noinline__ void pack_finds(const kernel_params &plan, cg::grid_group &grid,
                                        shared &room)
{
    grid.sync();
    for (uint32_t m = 0; m < plan.columns; m++)
        if (m != plan.column)
            count_fresh(plan, m, room);
    grid.sync();
    for (uint32_t m = 0; m < plan.columns; m++)
        if (m != plan.column)
            pack(plan, m, {&plan.fold_out[m], 1}, plan.row_active[m],
                 hw_load_relaxed(&plan.control->fresh[m]), room);
}

/* Registers are worth more than threads here: as many as for more edges. */
template <typename Offset, int many>
__global__ void __launch_bounds__(threads, resident(HW_SCAN2D_MANY))
    expand(const __grid_constant__ kernel_params plan, const told_t *told)
{
    __shared__ shared room;
    const uint32_t depth = depth_of(plan);
    cg::grid_group grid = cg::this_grid();

    if (depth > 0 && told->reduced[0] == 0)
        return;
    const uint32_t open = depth > 0 ? open_from(plan, depth) : 0;
    const bool up = goes_up(plan, depth, open, told);
    count64 looked = 0;
    if (up)
        look_up<Offset>(plan, depth, grid, room);
    else
        looked = expand_queue<Offset, many>(plan, open, grid, room);
    if (plan.columns > 1)
        pack_finds(plan, grid, room);
    if (!keeps_rows(plan))
        return;
    hw_scan2d_grid_row *row = row_of(plan, depth);
    row->edges += looked + hw_load_relaxed(&plan.control->looked);
    row->forms |= up ? HW_SCAN2D_GRID_UP : 0;
    row->time[HW_SCAN2D_GRID_EXPANDED] = hw_nanoseconds();
    for (uint32_t m = 0; m < plan.columns; m++)
        if (m != plan.column)
            book(plan, row, plan.row_active[m], hw_load_relaxed(&plan.control->fresh[m]));
}

/* ---- frontier update ---- */

/* Counts the next frontier, and writes its level. All threads of the grid. */
__device__ void settle(const kernel_params &plan, int32_t level, shared &room)
{
    const uint32_t first = plan.column * words_of(plan);
    uint32_t count = 0;

    /* Words are a multiple of 32, so that warps stay whole. */
    for (uint64_t w = hw_grid_thread(); w < words_of(plan); w += hw_grid_threads()) {
        const uint32_t fresh = fresh_word(plan, first + static_cast<uint32_t>(w));
        uint32_t left = __ballot_sync(HW_WARP, fresh != 0);
        int32_t *to = plan.level + (w - lane_of()) * 32 + lane_of();
        count += __popc(fresh);
        for (; left; left &= left - 1) {
            const int k = __ffs(left) - 1;
            if (__shfl_sync(HW_WARP, fresh, k) >> lane_of() & 1)
                to[k * 32] = level;
        }
    }
    add_up(&plan.control->found, count, room);
}

/* Makes counters ready for the next expansion. One thread. */
__device__ void clear_counters(const kernel_params &plan)
{
    plan.control->queue[0] = plan.control->queue[1] = plan.control->looked = 0;
    for (uint32_t m = 0; m < plan.columns; m++) {
        plan.control->fresh[m] = 0;
        if (m != plan.column)
            plan.control->put[m] = 0;
    }
}

__global__ void __launch_bounds__(threads)
    update(const __grid_constant__ kernel_params plan, const told_t *told)
{
    __shared__ shared room;
    const uint32_t depth = depth_of(plan);
    cg::grid_group grid = cg::this_grid();
    const bool keeps = keeps_rows(plan);

    if (hw_load_relaxed(&plan.control->over))
        return;
    if (hw_grid_thread() == 0)
        clear_counters(plan);
    if (keeps)
        row_of(plan, depth)->time[HW_SCAN2D_GRID_FOLDED] = hw_nanoseconds();
    for (uint32_t m = 0; m < plan.columns; m++)
        if (m != plan.column)
            receive(plan, m, told->by_rank[part_at(plan, plan.row, m)][plan.column]);
    if (plan.columns > 1)
        grid.sync();
    clear_front(plan);
    find_open(plan, &plan.control->open[(depth + 1) & 1]);
    settle(plan, static_cast<int32_t>(depth) + 1, room);
    grid.sync();
    if (hw_grid_thread() == 0)
        plan.control->depth = depth + 1;
    const count64 found = hw_load_relaxed(&plan.control->found);
    if (keeps) {
        row_of(plan, depth)->found += found;
        row_of(plan, depth)->time[HW_SCAN2D_GRID_UPDATED] = hw_nanoseconds();
    }
    pack(plan, plan.column, {plan.expand_out[(depth + 1) & 1], plan.rows},
         plan.column_active[plan.row], found, room);
}

/* ---- initialization ---- */

__global__ void begin(const __grid_constant__ kernel_params plan, uint32_t root)
{
    const uint32_t words = words_of(plan), own = plan.column * words;
    const uint32_t first = part_at(plan, plan.row, plan.column) * plan.block;
    const uint32_t at =
        root >= first && root - first < plan.block ? root - first : HW_INVALID_VERTEX;

    for (uint64_t w = hw_grid_thread(); w < static_cast<uint64_t>(plan.columns) * words;
         w += hw_grid_threads()) {
        const uint32_t bit = at != HW_INVALID_VERTEX && w == own + at / 32 ? 1u << (at & 31) : 0;
        plan.seen[w] = plan.before[w] = bit;
        plan.from[w] = 0;
    }
    clear_front(plan);
    if (hw_grid_thread() != 0)
        return;
    *plan.control = hw_scan2d_grid_control{};
    if (at != HW_INVALID_VERTEX) {
        plan.pred[plan.column * plan.block + at] = plan.row * plan.block + at;
        plan.level[at] = 0;
    }
}

template <typename Offset> const void *expand_for(int many)
{
    static const void *const kernels[HW_SCAN2D_MANY] = {
        reinterpret_cast<const void *>(expand<Offset, 1>),
        reinterpret_cast<const void *>(expand<Offset, 2>),
        reinterpret_cast<const void *>(expand<Offset, 3>),
        reinterpret_cast<const void *>(expand<Offset, 4>),
        reinterpret_cast<const void *>(expand<Offset, 5>),
        reinterpret_cast<const void *>(expand<Offset, 6>),
        reinterpret_cast<const void *>(expand<Offset, 7>),
        reinterpret_cast<const void *>(expand<Offset, 8>)};

    return kernels[many - 1];
}

const void *gather_of(const hw_scan2d_grid_params *plan)
{
    return plan->wide ? reinterpret_cast<const void *>(gather<uint64_t>)
                      : reinterpret_cast<const void *>(gather<uint32_t>);
}

const void *expand_of(const hw_scan2d_grid_params *plan)
{
    return plan->wide ? expand_for<uint64_t>(plan->edges_per_thread)
                      : expand_for<uint32_t>(plan->edges_per_thread);
}

} // namespace

extern "C" {

int hw_scan2d_grid_launch_shape(const hw_scan2d_grid_params *plan, hw_scan2d_grid_shape *shape)
{
    cudaError_t error = hw_frontier_queue_shape(gather_of(plan), &shape->gather);

    if (error == cudaSuccess)
        error = hw_frontier_queue_shape(expand_of(plan), &shape->expand);
    return error == cudaSuccess
               ? hw_frontier_queue_shape(reinterpret_cast<const void *>(update), &shape->update)
               : error;
}

int hw_scan2d_grid_launch_begin(const hw_scan2d_grid_params *plan, uint32_t root)
{
    begin<<<hw_blocks(plan->block / 32 * static_cast<uint64_t>(plan->columns), threads), threads>>>(
        *plan, root);
    return cudaGetLastError();
}

int hw_scan2d_grid_launch_single_cta(const hw_scan2d_grid_params *plan, uint32_t root,
                                     const hw_allgather_result *told,
                                     const hw_allgather_params *round, hw_allgather_result *result)
{
    hw_allgather_result *to = const_cast<hw_allgather_result *>(told);

    if (plan->wide)
        few_levels<uint64_t><<<1, few_threads>>>(*plan, root, to, *round, result);
    else
        few_levels<uint32_t><<<1, few_threads>>>(*plan, root, to, *round, result);
    return cudaGetLastError();
}

int hw_scan2d_grid_launch_expand(const hw_scan2d_grid_params *plan,
                                 const hw_scan2d_grid_shape *shape, uint32_t root,
                                 const hw_allgather_result *told)
{
    void *gathering[] = {const_cast<hw_scan2d_grid_params *>(plan), &root, &told};
    void *arguments[] = {const_cast<hw_scan2d_grid_params *>(plan), &told};
    const cudaError_t error = cudaLaunchKernel(gather_of(plan), dim3(shape->gather), dim3(threads),
                                               gathering, 0, nullptr);

    if (error != cudaSuccess)
        return error;
    return cudaLaunchCooperativeKernel(expand_of(plan), dim3(shape->expand), dim3(threads),
                                       arguments, 0, nullptr);
}

int hw_scan2d_grid_launch_update(const hw_scan2d_grid_params *plan,
                                 const hw_scan2d_grid_shape *shape, const hw_allgather_result *told)
{
    void *arguments[] = {const_cast<hw_scan2d_grid_params *>(plan), &told};

    return cudaLaunchCooperativeKernel(reinterpret_cast<const void *>(update), dim3(shape->update),
                                       dim3(threads), arguments, 0, nullptr);
}

} // extern "C"
} // namespace hw_scan2d_grid
