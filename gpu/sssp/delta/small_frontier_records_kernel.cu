/*
 * Builds the records of the kernel for small frontiers
 * (gpu/sssp/delta/small_frontier_delta_kernel.cu), before any search.
 *
 * Record v, of HW_SMALL_FRONTIER_RECORD_EDGES edges, holds the edges of vertex v to other vertices
 * of the core; self-loops and edges to vertices of degree 1 are left out. If there are more edges,
 * the last place of the record holds HW_SMALL_FRONTIER_CONTINUATION in place of a vertex and, as
 * weight, the index of the record where the list continues. Continuation records follow those of
 * the vertices, in any order. Unused places hold HW_INVALID_VERTEX.
 */
#include "gpu/sssp/delta/small_frontier_device.cuh"

#include <cuda_runtime.h>

namespace
{

constexpr uint32_t block_size = 512;
constexpr uint32_t record_edges = HW_SMALL_FRONTIER_RECORD_EDGES;
constexpr uint32_t continuation = HW_SMALL_FRONTIER_CONTINUATION;

/* Builds the records of one vertex. */
template <typename Offset>
__device__ __forceinline__ void build_record(const hw_gpu_graph &graph, const hw_gpu_edge *edge,
                                             hw_gpu_edge *record, uint32_t *num_records, uint32_t v)
{
    const Offset begin = hw_list_begin<Offset>(graph.out, v),
                 end = hw_list_begin<Offset>(graph.out, v + 1);
    hw_gpu_edge *at = record + static_cast<uint64_t>(v) * record_edges;
    uint32_t left = 0, slot = 0, next = 0;

    for (Offset k = begin; k < end; k++)
        left += edge[k].neighbor < graph.core && edge[k].neighbor != v;
    if (left > record_edges)
        next = graph.core + atomicAdd(num_records, (left - record_edges + record_edges - 2) /
                                                       (record_edges - 1));
    for (Offset k = begin; k < end; k++) {
        if (edge[k].neighbor >= graph.core || edge[k].neighbor == v)
            continue;
        if (slot == record_edges - 1 && left > 1) {
            at[slot] = hw_gpu_edge{continuation, next};
            at = record + static_cast<uint64_t>(next++) * record_edges;
            slot = 0;
        }
        at[slot++] = edge[k];
        left--;
    }
    for (; slot < record_edges; slot++)
        at[slot] = hw_gpu_edge{HW_INVALID_VERTEX, 0};
}

template <typename Offset>
__global__ void build_records(const hw_gpu_graph graph, const hw_gpu_edge *edge,
                              hw_gpu_edge *record, uint32_t *num_records)
{
    for (uint64_t v = hw_grid_thread(); v < graph.core; v += hw_grid_threads())
        build_record<Offset>(graph, edge, record, num_records, static_cast<uint32_t>(v));
}

} // namespace

int hw_small_frontier_launch_records(const hw_small_frontier_params *params)
{
    const uint32_t blocks = params->graph.core / block_size + 1;
    uint32_t *num_records = &params->control->trace_records; /* free until the first search */
    cudaError_t error = cudaMemsetAsync(params->control, 0, sizeof *params->control, nullptr);

    if (error != cudaSuccess)
        return error;
    if (params->graph.wide)
        build_records<uint64_t>
            <<<blocks, block_size>>>(params->graph, params->sssp.out, params->record, num_records);
    else
        build_records<uint32_t>
            <<<blocks, block_size>>>(params->graph, params->sssp.out, params->record, num_records);
    return cudaGetLastError();
}
