/*
 * Delta-stepping on one GPU where all lists are short: roads and grids, whose searches are
 * thousands of rounds of few vertices. The time of a round is latency, not work.
 *
 * Records. The edges of a vertex lie in a record of 32 bytes, so that no offsets are read first; a
 * longer list continues in other records (gpu/sssp/delta/small_frontier_records_kernel.cu). A
 * thread that relaxes an edge loads the record of the target at once, while the distance there is
 * being lowered, and puts both into a queue in shared memory if it was: the next round begins
 * without waiting for memory. So a round waits once, for the atomic operations.
 *
 * A block continues with its own discoveries, round after round, without grid barriers: distances
 * are the least fixed point of all relaxations, in any order. An iteration ends when every block
 * has reached the end of what is nearer than the end of the step, or when many have: then the rest
 * is redistributed. Small queues go to few blocks, or to a single one.
 *
 * Discoveries beyond the step wait in the rest queue for one of the next steps, which are equally
 * wide. Vertices of degree 1 are left out until the end.
 */
#include "gpu/device/launch.h"
#include "gpu/sssp/common/small_frontier_phases.cuh"

#include <cuda_runtime.h>

namespace hw_delta::small_frontier
{
namespace
{

using params_one_gpu = kernel_params<one_gpu>;

template <int kind>
__device__ __forceinline__ void init_distances(const params_one_gpu &params, uint32_t root)
{
    for (uint64_t v = hw_grid_thread(); v < params.graph.active; v += hw_grid_threads())
        distances<kind>(params)[v] = v == root ? 0 : hw_keys<kind>::none;
    init_queues(params, params.graph.core);
}

/* Vertices of degree 1 take the distance that their only neighbor gives. */
template <typename Offset, int kind>
__device__ void relax_leaves(const params_one_gpu &params, uint32_t root)
{
    key_of<kind> *distance = distances<kind>(params);

    for (uint64_t i = params.graph.core + hw_grid_thread(); i < params.graph.active;
         i += hw_grid_threads()) {
        const uint32_t v = static_cast<uint32_t>(i);
        const Offset begin = hw_list_begin<Offset>(params.graph.in, v);
        if (v == root || begin == hw_list_begin<Offset>(params.graph.in, v + 1))
            continue;
        const hw_gpu_edge edge = hw_read_edge(params.sssp.in + begin);
        const key_of<kind> from = edge.neighbor < params.graph.core || edge.neighbor == root
                                      ? distance[edge.neighbor]
                                      : hw_keys<kind>::none;
        if (from == hw_keys<kind>::none)
            continue;
        const key_of<kind> key = hw_further<kind>(from, edge.weight);
        distance[v] = key;
        one_gpu::put_hint<kind>(params, v, edge.neighbor, from, edge.weight, key);
    }
}

/* Writes the trace record of the vertices of degree 1. One thread. */
template <int kind>
__device__ __forceinline__ void trace_leaves(const params_one_gpu &params,
                                             const search_state<kind> &search)
{
    hw_gpu_sssp_trace_record *record = trace_at(params, search.trace_records);

    record->routine = HW_SMALL_FRONTIER_LEAVES;
    record->bucket = search.step;
    record->clock = static_cast<uint64_t>(clock64());
    end_trace(params, search.trace_records + 1);
}

template <typename Offset, int kind>
__global__ void __launch_bounds__(threads, 1)
    small_frontier_search(const __grid_constant__ params_one_gpu params, uint32_t root)
{
    __shared__ block_shared<kind> shared;
    cg::grid_group grid = cg::this_grid();
    search_state<kind> search = first_state<kind>(params.delta);

    init_distances<kind>(params, root);
    clear_trace(params, search);
    grid.sync();
    settle_core<Offset>(params, shared, search, grid, root, root < params.graph.active);
    relax_leaves<Offset, kind>(params, root);
    if (params.trace) {
        grid.sync(); /* so that the record ends with the last block */
        if (hw_grid_thread() == 0)
            trace_leaves(params, search);
    }
}

template <typename Offset> const void *kernel_for(int kind)
{
    if (kind == HW_GPU_KEY_F32)
        return reinterpret_cast<const void *>(small_frontier_search<Offset, HW_GPU_KEY_F32>);
    if (kind == HW_GPU_KEY_I32)
        return reinterpret_cast<const void *>(small_frontier_search<Offset, HW_GPU_KEY_I32>);
    return reinterpret_cast<const void *>(small_frontier_search<Offset, HW_GPU_KEY_I64>);
}

} // namespace
} // namespace hw_delta::small_frontier

using namespace hw_delta::small_frontier;

static const void *kernel_of(const hw_small_frontier_params *params)
{
    return params->graph.wide ? kernel_for<uint64_t>(params->sssp.kind)
                              : kernel_for<uint32_t>(params->sssp.kind);
}

int hw_small_frontier_shape(const hw_small_frontier_params *params, int *blocks)
{
    return hw_resident_grid(kernel_of(params), HW_SMALL_FRONTIER_THREADS, 0, 1, blocks);
}

int hw_small_frontier_launch(const hw_small_frontier_params *params, int blocks, uint32_t root)
{
    void *arguments[] = {const_cast<hw_small_frontier_params *>(params), &root};
    cudaError_t error = cudaMemsetAsync(params->control, 0, sizeof *params->control, nullptr);

    if (error != cudaSuccess)
        return error;
    return cudaLaunchCooperativeKernel(kernel_of(params), dim3(blocks),
                                       dim3(HW_SMALL_FRONTIER_THREADS), arguments, 0, nullptr);
}
