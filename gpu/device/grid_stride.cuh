/* What kernels share: offsets of either width, and loops over a grid. */
#ifndef HOPWAVE_GPU_DEVICE_GRID_STRIDE_CUH
#define HOPWAVE_GPU_DEVICE_GRID_STRIDE_CUH

#include "gpu/device/ptx.cuh"
#include "gpu/graph/device_graph.h"

#define HW_WARP 0xffffffffu /* all lanes */

/* Where the list of a rank begins. */
template <typename Offset>
__device__ __forceinline__ Offset hw_begin(const hw_gpu_lists &lists, uint32_t rank)
{
    return __ldg(static_cast<const Offset *>(lists.offset) + rank);
}

/* The first element of this thread in a loop over all, and how far the next one is. */
__device__ __forceinline__ uint64_t hw_grid_thread()
{
    return static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

__device__ __forceinline__ uint64_t hw_grid_threads()
{
    return static_cast<uint64_t>(gridDim.x) * blockDim.x;
}

/* Blocks of so many threads for such a loop over `count` elements: no more than fill any
 * device. */
inline int hw_blocks(uint64_t count, unsigned threads, uint64_t most = hw_max_loop_blocks)
{
    const uint64_t wanted = (count + threads - 1) / threads;

    return static_cast<int>(wanted < 1 ? 1 : wanted < most ? wanted : most);
}

__device__ __forceinline__ bool hw_test_bit(const uint32_t *bits, uint32_t at)
{
    return bits[at >> 5] >> (at & 31) & 1;
}

#endif
