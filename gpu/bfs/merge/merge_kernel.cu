/*
 * Method `merge`: top-down BFS, each level in two phases: work redistribution and neighbor
 * gathering (load-balanced GPU BFS, sections 3 and 4: the expand operation by merge path, and how
 * it is coupled with gathering).
 *
 * A level has a queue of n vertices, the exclusive sums s of the lengths of their lists, and m
 * neighbors in all. Expand computes the queue index of each neighbor: it merges s with t = 0..m-1,
 * an element of s before an equal one of t. Each element of t gets the index of the last element of
 * s before it. The merge path has n + m steps. Element i of s is merged at step i + s[i], so any
 * cut of the path is found by binary search in s.
 *
 *   coarse  a cut per tile of a block: at equal distances along the path (balanced redistribution:
 *           equal steps, no more neighbors) or along t (balanced gathering: equal neighbors, up to
 *           twice as many steps)
 *   fine    the steps of a tile are distributed evenly over the threads; each determines its cut in
 *           shared memory and merges sequentially
 *   gather  the neighbors of a tile are distributed evenly; reads of a list are coalesced
 *
 * HW_MERGE_SEPARATE: expand writes the location of each neighbor to memory, and after a barrier the
 * grid gathers from there; both phases are balanced. All levels run in one cooperative launch, with
 * barriers where the paper launches kernels. The exclusive sums are built while the queue is filled
 * (gpu/bfs/common/frontier_queue.cuh).
 *
 * Baselines without redistribution: a lane per vertex (direct), and the paper's reference,
 * Merrill's: a block for long lists, a warp for medium ones, and the short ones of a block packed
 * by a scan.
 */
#include "gpu/bfs/merge/merge_level.cuh"

#include <cooperative_groups.h>

namespace hw_merge
{
namespace
{

namespace cg = cooperative_groups;
using namespace hw_frontier_queue;

/* ---- the search ---- */

template <typename Offset, int kind, class How>
__global__ void __launch_bounds__(threads, 4)
    search(const __grid_constant__ kernel_params params, uint32_t root)
{
    __shared__ tile_lists<Offset> tile_lists;
    __shared__ discovered_buffer found;
    cg::grid_group grid = cg::this_grid();
    const bool traces = hw_grid_thread() == 0;

    if (threadIdx.x == 0)
        found.count = 0;
    init_search<Offset>(params.common, root);
    if (How::fixed && traces)
        *params.counts = hw_merge_counts{};
    grid.sync();
    for (uint32_t depth = 0;; depth++) {
        const level<Offset> from = level_of<Offset>(params, depth);
        const bool by_inputs = static_cast<double>(from.edges) > params.factor * from.vertices;
        uint32_t routine = by_inputs ? HW_ROUTINE_MERGE_EXPAND : HW_ROUTINE_MERGE_GATHER;
        if (from.vertices == 0)
            break;
        clear_ahead(params.common, depth);
        if (kind == HW_MERGE_DIRECT || (kind == HW_MERGE_DEEP && depth >= params.direct_depth)) {
            gather_directly<Offset, How>(params, from, found);
            routine = HW_ROUTINE_DIRECT;
        } else if (kind == HW_MERGE_FUSED || kind == HW_MERGE_DEEP) {
            expand_and_gather<Offset, How>(params, from, by_inputs, tile_lists, found);
        } else if (kind == HW_MERGE_SEPARATE) {
            expand_to_memory<Offset, How>(params, from, tile_lists);
            grid.sync();
            gather_from_memory<Offset, How>(params, from, found);
            routine = HW_ROUTINE_MERGE_SEPARATE;
        } else {
            gather_by_length<Offset, How>(params, from, tile_lists, found);
            routine = HW_ROUTINE_CTA_WARP_SCAN;
        }
        enqueue_buffer<Offset>(params.common, depth, found);
        grid.sync();
        if (traces)
            trace_append(params.common, depth, routine, from.edges);
    }
    if (traces)
        trace_end(params.common);
}

template <int kind, class How> const void *kernel_with(const hw_merge_params *params)
{
    return params->common.graph.wide ? reinterpret_cast<const void *>(search<uint64_t, kind, How>)
                                     : reinterpret_cast<const void *>(search<uint32_t, kind, How>);
}

/* Kernels of their own for what an option changes. */
template <int kind> const void *kernel_by_tiles(const hw_merge_params *params)
{
    return params->tile > 0 || params->consecutive ? kernel_with<kind, fixed_tiles>(params)
                                                   : kernel_with<kind, tuned>(params);
}

const void *kernel_of(const hw_merge_params *params)
{
    switch (params->kind) {
    case HW_MERGE_FUSED:
        return kernel_by_tiles<HW_MERGE_FUSED>(params);
    case HW_MERGE_SEPARATE:
        return kernel_by_tiles<HW_MERGE_SEPARATE>(params);
    case HW_MERGE_DIRECT:
        return kernel_with<HW_MERGE_DIRECT, tuned>(params);
    case HW_MERGE_DEEP:
        return kernel_with<HW_MERGE_DEEP, fixed_tiles>(params);
    default:
        return kernel_by_tiles<HW_MERGE_CTA>(params);
    }
}

} // namespace
} // namespace hw_merge

using namespace hw_merge;

int hw_merge_launch_shape(const hw_merge_params *params, int *blocks)
{
    return hw_frontier_queue_shape(kernel_of(params), blocks);
}

int hw_merge_launch(const hw_merge_params *params, int blocks, uint32_t root)
{
    void *arguments[] = {const_cast<hw_merge_params *>(params), &root};

    return cudaLaunchCooperativeKernel(kernel_of(params), dim3(blocks), dim3(threads), arguments, 0,
                                       nullptr);
}
