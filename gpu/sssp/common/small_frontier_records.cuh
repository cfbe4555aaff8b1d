/*
 * Builds the records of the kernels for small frontiers.
 *
 * Record v, of HW_SMALL_FRONTIER_RECORD_EDGES edges, holds the edges of vertex v to other vertices
 * of the core; self-loops and edges to vertices of degree 1 are left out. If there are more edges,
 * the last place of the record holds HW_SMALL_FRONTIER_CONTINUATION in place of a vertex and, as
 * weight, the index of the record where the list continues. Continuation records follow those of
 * the vertices, in any order. Unused places hold HW_INVALID_VERTEX.
 */
#ifndef HOPWAVE_GPU_SSSP_COMMON_SMALL_FRONTIER_RECORDS_CUH
#define HOPWAVE_GPU_SSSP_COMMON_SMALL_FRONTIER_RECORDS_CUH

#include "gpu/sssp/common/small_frontier_device.cuh"

namespace hw_delta::small_frontier
{
namespace
{

/* Whether an edge belongs into the records of its source. */
template <class Peers>
__device__ __forceinline__ bool is_recorded(const kernel_params<Peers> &params,
                                            const hw_gpu_edge &edge, uint32_t source)
{
    return Peers::in_core(params, edge.neighbor) &&
           Peers::list_index(params, edge.neighbor) != source;
}

/* Builds the records of the vertex whose list has this index. */
template <typename Offset, class Peers>
__device__ __forceinline__ void build_record(const kernel_params<Peers> &params,
                                             uint32_t *num_records, uint32_t v)
{
    const hw_gpu_graph &graph = params.graph;
    const Offset begin = hw_list_begin<Offset>(graph.out, v),
                 end = hw_list_begin<Offset>(graph.out, v + 1);
    hw_gpu_edge *at = params.record + static_cast<uint64_t>(v) * record_edges;
    uint32_t left = 0, slot = 0, next = 0;

    for (Offset k = begin; k < end; k++)
        left += is_recorded(params, Peers::list_edge(params, k), v);
    if (left > record_edges)
        next = graph.core + atomicAdd(num_records, (left - record_edges + record_edges - 2) /
                                                       (record_edges - 1));
    for (Offset k = begin; k < end; k++) {
        const hw_gpu_edge edge = Peers::list_edge(params, k);
        if (!is_recorded(params, edge, v))
            continue;
        if (slot == record_edges - 1 && left > 1) {
            at[slot] = hw_gpu_edge{continuation, next};
            at = params.record + static_cast<uint64_t>(next++) * record_edges;
            slot = 0;
        }
        at[slot++] = edge;
        left--;
    }
    for (; slot < record_edges; slot++)
        at[slot] = hw_gpu_edge{HW_INVALID_VERTEX, 0};
}

template <typename Offset, class Peers>
__global__ void build_records(const __grid_constant__ kernel_params<Peers> params,
                              uint32_t *num_records)
{
    for (uint64_t v = hw_grid_thread(); v < params.graph.core; v += hw_grid_threads())
        build_record<Offset>(params, num_records, static_cast<uint32_t>(v));
}

/* The grid of that kernel. */
constexpr uint32_t records_block_size = 512;

template <class Peers> uint32_t records_blocks(const kernel_params<Peers> &params)
{
    return params.graph.core / records_block_size + 1;
}

/* Clears the count of records, which is free until the first search. Returns a cudaError_t. */
template <class Peers> cudaError_t clear_records(const kernel_params<Peers> &params)
{
    return cudaMemsetAsync(params.control, 0, sizeof *params.control, nullptr);
}

} // namespace
} // namespace hw_delta::small_frontier

#endif
