/* Grid-stride loops: the elements of each thread, the size of the grid, bits of a bitmap. */
#ifndef HOPWAVE_GPU_DEVICE_GRID_STRIDE_CUH
#define HOPWAVE_GPU_DEVICE_GRID_STRIDE_CUH

#include "gpu/device/ptx.cuh"

#define HW_WARP 0xffffffffu /* mask of all lanes */

/* A grid-stride loop: the first element of this thread, and the distance to its next one. */
__device__ __forceinline__ uint64_t hw_grid_thread()
{
    return static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

__device__ __forceinline__ uint64_t hw_grid_threads()
{
    return static_cast<uint64_t>(gridDim.x) * blockDim.x;
}

/* Blocks of `threads` threads for a grid-stride loop over `count` elements, `max_blocks` at most:
 * by default as many as fill any device. */
inline int hw_blocks(uint64_t count, unsigned threads, uint64_t max_blocks = hw_max_loop_blocks)
{
    const uint64_t wanted = (count + threads - 1) / threads;

    return static_cast<int>(wanted < 1 ? 1 : wanted < max_blocks ? wanted : max_blocks);
}

__device__ __forceinline__ bool hw_test_bit(const uint32_t *bits, uint32_t at)
{
    return bits[at >> 5] >> (at & 31) & 1;
}

#endif
