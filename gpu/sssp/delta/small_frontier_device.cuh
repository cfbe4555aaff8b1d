/* Distances, hints and vertices of degree 1 in the kernels for small frontiers. */
#ifndef HOPWAVE_GPU_SSSP_DELTA_SMALL_FRONTIER_DEVICE_CUH
#define HOPWAVE_GPU_SSSP_DELTA_SMALL_FRONTIER_DEVICE_CUH

#include "gpu/device/grid_stride.cuh"
#include "gpu/graph/device_graph.cuh"
#include "gpu/sssp/common/warp_keys.cuh"
#include "gpu/sssp/delta/small_frontier.h"

namespace hw_delta
{
namespace
{

using kernel_params = hw_small_frontier_params;

template <int kind> __device__ __forceinline__ key_of<kind> *distances(const kernel_params &params)
{
    return static_cast<key_of<kind> *>(params.sssp.distance);
}

/* Stores an edge as hint of its target (gpu/sssp/common/sssp_engine.h). */
template <int kind>
__device__ __forceinline__ void put_hint(const kernel_params &params, uint32_t v, uint32_t source,
                                         key_of<kind> from, uint32_t weight, key_of<kind> key)
{
    const uint2 hint = kind == HW_GPU_KEY_I64 ? make_uint2(source, weight)
                                              : make_uint2(from < key ? source : HW_INVALID_VERTEX,
                                                           static_cast<uint32_t>(key));

    reinterpret_cast<uint2 *>(params.sssp.hint)[v] = hint;
}

/* Vertices of degree 1 take the distance that their only neighbor gives. */
template <typename Offset, int kind>
__device__ void relax_leaves(const kernel_params &params, uint32_t root)
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
        put_hint<kind>(params, v, edge.neighbor, from, edge.weight, key);
    }
}

} // namespace
} // namespace hw_delta

#endif
