/*
 * Method `fused` on one GPU where lists are short and levels many: roads and meshes.
 *
 * Levels are shortest paths with edges of length 1, by the kernel for small frontiers
 * (gpu/sssp/common/small_frontier_rounds.cuh): blocks expand their parts of the frontier level
 * by level without waiting for each other; a vertex that was reached by a detour is lowered later.
 * At the end each vertex takes a neighbor one level up as its parent.
 */
#include "gpu/bfs/direction_optimizing/small_frontier/small_frontier_bfs.h"
#include "gpu/device/launch.h"
#include "gpu/sssp/common/small_frontier_phases.cuh"
#include "gpu/sssp/common/small_frontier_records.cuh"

#include <cuda_runtime.h>

namespace hw_delta::small_frontier
{
namespace
{

struct one_gpu_bfs;

template <> struct kernel_params<one_gpu_bfs> : hw_small_frontier_params {
    uint32_t *parent, *parent_is_first_neighbor;
};

/* Edges have length 1. Parents follow from levels, without hints. */
struct one_gpu_bfs : own_memory<one_gpu_bfs> {
    template <int kind>
    static __device__ __forceinline__ void put_hint(params, uint32_t, uint32_t, key_of<kind>,
                                                    uint32_t, key_of<kind>)
    {
    }

    static __device__ __forceinline__ hw_gpu_edge list_edge(params p, uint64_t at)
    {
        return hw_gpu_edge{p.graph.out.neighbor[at], 1};
    }
};

using bfs_params = kernel_params<one_gpu_bfs>;
constexpr int level_kind = HW_GPU_KEY_I32;
constexpr int32_t unreached = hw_keys<level_kind>::none;

/* Queues the root, or, where that has one edge only, the end of it. One thread. */
template <typename Offset>
__device__ __forceinline__ void queue_root(const bfs_params &params, uint32_t root)
{
    int32_t *level = distances<level_kind>(params);
    uint32_t first = root;

    level[root] = 0;
    if (root >= params.graph.core) {
        const Offset begin = hw_list_begin<Offset>(params.graph.out, root);
        if (begin == hw_list_begin<Offset>(params.graph.out, root + 1))
            return;
        first = params.graph.out.neighbor[begin];
        if (first >= params.graph.core)
            return;
        level[first] = 1;
    }
    params.step_queue[0][0] = first;
    params.control->counters[0].step = 1;
}

/* Sets the parents of all vertices from their levels: the first in-neighbor one level up. Vertices
 * of degree 1 beyond the core have no level. */
template <typename Offset>
__device__ __forceinline__ void assign_parents(const bfs_params &params, uint32_t root)
{
    const int32_t *level = distances<level_kind>(params);
    const hw_gpu_graph &graph = params.graph;

    for (uint64_t i = hw_grid_thread(); i < graph.active; i += hw_grid_threads()) {
        const uint32_t v = static_cast<uint32_t>(i);
        const bool leaf = v >= graph.core;
        const int32_t own = __ldcg(level + v);
        uint32_t parent = v == root ? root : HW_INVALID_VERTEX;
        if (v != root && (leaf || own != unreached)) {
            const Offset end = hw_list_begin<Offset>(graph.in, v + 1);
            for (Offset k = hw_list_begin<Offset>(graph.in, v);
                 k < end && parent == HW_INVALID_VERTEX; k++) {
                const uint32_t u = __ldg(graph.in.neighbor + k);
                const int32_t above = __ldcg(level + u);
                if (above != unreached && (leaf || above + 1 == own))
                    parent = u;
            }
        }
        params.parent[v] = parent;
    }
    for (uint64_t w = hw_grid_thread(); w < graph.active / 32 + 1; w += hw_grid_threads())
        params.parent_is_first_neighbor[w] = 0;
}

template <typename Offset>
__global__ void __launch_bounds__(threads, 1)
    small_frontier_bfs(const __grid_constant__ bfs_params params, uint32_t root)
{
    __shared__ block_shared<level_kind> shared;
    cg::grid_group grid = cg::this_grid();
    search_state<level_kind> search = first_state<level_kind>(params.delta);

    for (uint64_t v = hw_grid_thread(); v < params.graph.active; v += hw_grid_threads())
        distances<level_kind>(params)[v] = unreached;
    init_queues(params, params.graph.core);
    clear_trace(params, search);
    grid.sync();
    if (hw_grid_thread() == 0 && root < params.graph.active)
        queue_root<Offset>(params, root);
    grid.sync();
    settle_core<Offset>(params, shared, search, grid, root, false);
    assign_parents<Offset>(params, root);
    if (params.trace) {
        grid.sync(); /* so that the record ends with the last block */
        if (hw_grid_thread() == 0)
            end_trace(params, search.trace_records);
    }
}

bfs_params kernel_params_of(const hw_small_frontier_bfs_params *params)
{
    return {{params->search}, params->parent, params->parent_is_first_neighbor};
}

const void *bfs_kernel(const hw_small_frontier_bfs_params *params)
{
    return params->search.graph.wide ? reinterpret_cast<const void *>(small_frontier_bfs<uint64_t>)
                                     : reinterpret_cast<const void *>(small_frontier_bfs<uint32_t>);
}

} // namespace
} // namespace hw_delta::small_frontier

using namespace hw_delta::small_frontier;

int hw_small_frontier_bfs_shape(const hw_small_frontier_bfs_params *params, int *blocks)
{
    return hw_resident_grid(bfs_kernel(params), HW_SMALL_FRONTIER_THREADS, 0, 1, blocks);
}

int hw_small_frontier_bfs_launch_records(const hw_small_frontier_bfs_params *params)
{
    const bfs_params all = kernel_params_of(params);
    const cudaError_t error = clear_records(all);
    uint32_t *num_records = &params->search.control->trace_records;

    if (error != cudaSuccess)
        return error;
    if (params->search.graph.wide)
        build_records<uint64_t, one_gpu_bfs>
            <<<records_blocks(all), records_block_size>>>(all, num_records);
    else
        build_records<uint32_t, one_gpu_bfs>
            <<<records_blocks(all), records_block_size>>>(all, num_records);
    return cudaGetLastError();
}

int hw_small_frontier_bfs_launch(const hw_small_frontier_bfs_params *params, int blocks,
                                 uint32_t root)
{
    bfs_params all = kernel_params_of(params);
    void *arguments[] = {&all, &root};
    const cudaError_t error =
        cudaMemsetAsync(params->search.control, 0, sizeof *params->search.control, nullptr);

    if (error != cudaSuccess)
        return error;
    return cudaLaunchCooperativeKernel(bfs_kernel(params), dim3(blocks),
                                       dim3(HW_SMALL_FRONTIER_THREADS), arguments, 0, nullptr);
}
