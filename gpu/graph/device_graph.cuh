/* Reads of the adjacency lists of gpu/graph/device_graph.h in kernels. */
#ifndef HOPWAVE_GPU_GRAPH_DEVICE_GRAPH_CUH
#define HOPWAVE_GPU_GRAPH_DEVICE_GRAPH_CUH

#include "gpu/graph/device_graph.h"

#include <cuda_runtime.h>

/* The offset at which the list of a vertex begins. Offset: uint32_t or uint64_t, as the graph's
 * `wide` says. */
template <typename Offset>
__device__ __forceinline__ Offset hw_list_begin(const hw_gpu_lists &lists, uint32_t vertex)
{
    return __ldg(static_cast<const Offset *>(lists.offset) + vertex);
}

#endif
