/*
 * Method `delegates`: types and device functions that its kernels share: adjacency lists, bits of
 * masks, sums over a block.
 */
#ifndef HOPWAVE_GPU_BFS_DELEGATES_DELEGATES_DEVICE_CUH
#define HOPWAVE_GPU_BFS_DELEGATES_DELEGATES_DEVICE_CUH

#include "gpu/bfs/delegates/delegates.h"
#include "gpu/device/grid_barrier.cuh"
#include "gpu/device/packed_queue.h"
#include "gpu/device/warp.cuh"

#include <cuda_runtime.h>

namespace hw_delegates
{
namespace
{

using count64 = unsigned long long;
using kernel_params = hw_gpu_delegates_params;
using graph_t = hw_gpu_delegates_graph;
using control_t = hw_gpu_delegates_control;

constexpr int threads = 256, warps = threads / 32;
constexpr int edge_bits = HW_GPU_DELEGATES_EDGE_BITS;
constexpr uint32_t nn_only_mark = 1u << 31;
constexpr uint32_t top_down = 1, bottom_up = 2; /* enum hw_direction */

/* Resident blocks a multiprocessor for launch bounds, at most as many as the device can have. */
constexpr int resident_blocks(int blocks)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
    return blocks < 1024 / threads ? blocks : 1024 / threads;
#else
    return blocks;
#endif
}

/* The offset of a list. */
__device__ __forceinline__ uint64_t begin_of(const hw_gpu_matrix &lists, uint32_t row)
{
    return lists.offsets64 ? __ldg(static_cast<const uint64_t *>(lists.offset) + row)
                           : __ldg(static_cast<const uint32_t *>(lists.offset) + row);
}

__device__ __forceinline__ uint32_t length_of(const hw_gpu_matrix &lists, uint32_t row)
{
    return static_cast<uint32_t>(begin_of(lists, row + 1) - begin_of(lists, row));
}

/* The part that owns a packed id. */
__device__ __forceinline__ uint32_t owner_of(const graph_t &graph, uint32_t packed_id)
{
    return graph.slots_magic ? static_cast<uint32_t>(__umul64hi(packed_id, graph.slots_magic))
                             : packed_id;
}

/* Whether a bit is set in a mask that this kernel may change. Read past the first-level cache. */
__device__ __forceinline__ bool is_set(const uint32_t *mask, uint32_t at)
{
    return __ldcg(mask + at / 32) >> (at & 31) & 1;
}

/* Sets a bit. Returns whether this call changed it. */
__device__ __forceinline__ bool claim(uint32_t *mask, uint32_t at)
{
    const uint32_t bit = 1u << (at & 31);

    return !(atomicOr(mask + at / 32, bit) & bit);
}

/* The sum of one number a thread, in thread 0. scratch: [warps] in shared memory, used by no other
 * call. All threads of the block. Not cub::BlockReduce: with it ptxas spills 24 bytes more in the
 * visit of dn and nn and needs 78 instead of 72 registers in small_steps (CUDA 13.0, sm_90, 26
 * November 2026). */
__device__ __forceinline__ count64 block_sum(count64 x, count64 *scratch)
{
    for (int half = 16; half > 0; half /= 2)
        x += __shfl_down_sync(HW_WARP, x, half);
    if ((threadIdx.x & 31) == 0)
        scratch[threadIdx.x / 32] = x;
    __syncthreads();
    count64 all = 0;
    for (int w = 0; threadIdx.x == 0 && w < warps; w++)
        all += scratch[w];
    return all;
}

/* Blocks for a loop over `count` elements, within the limit of the parameters. */
inline int blocks_for(const kernel_params *params, uint64_t count)
{
    const uint64_t limit = params ? static_cast<uint64_t>(params->config.blocks) : 2048;
    const uint64_t wanted = (count + threads - 1) / threads;

    return static_cast<int>(wanted < 1 ? 1 : wanted < limit ? wanted : limit);
}

inline cudaStream_t stream_of(void *stream)
{
    return static_cast<cudaStream_t>(stream);
}

/* Words of masks that a warp takes at a time, and a block. */
constexpr uint32_t warp_words = 8, block_words = warps * warp_words;
static_assert(warp_words == HW_GPU_DELEGATES_SECTOR && warps == 8,
              "a byte of the summary for each warp, a word of 64 bits for each block");

/* Adds every lane's number to a sum in shared memory. Warp-collective. */
__device__ __forceinline__ void add(count64 *sum, uint32_t x)
{
    x = hw_warp_sum(x);
    if ((threadIdx.x & 31) == 0 && x > 0)
        atomicAdd(sum, static_cast<count64>(x));
}

/* This lane's vertex in the word that lane k has. */
__device__ __forceinline__ uint32_t vertex_in(uint32_t word, uint32_t k)
{
    return __shfl_sync(HW_WARP, word, k) * 32 + (threadIdx.x & 31);
}

/* Whether the bit of this lane's vertex is set in the word that lane k has. */
__device__ __forceinline__ bool in_word(uint32_t words, uint32_t k)
{
    return __shfl_sync(HW_WARP, words, k) >> (threadIdx.x & 31) & 1;
}

} // namespace
} // namespace hw_delegates

#endif
