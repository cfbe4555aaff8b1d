/* What the kernels of method `delegates` share. */
#ifndef HOPWAVE_GPU_BFS_DELEGATES_DELEGATES_DEVICE_CUH
#define HOPWAVE_GPU_BFS_DELEGATES_DELEGATES_DEVICE_CUH

#include "gpu/bfs/delegates/delegates.h"
#include "gpu/device/warp.cuh"

#include <cuda_runtime.h>

namespace
{

using count64 = unsigned long long;
using kernel_params = hw_gpu_delegates_params;
using graph_t = hw_gpu_delegates_graph;
using control_t = hw_gpu_delegates_control;

constexpr int threads = 256, warps = threads / 32;
constexpr count64 edge_mask = (1ull << HW_GPU_DELEGATES_EDGE_BITS) - 1;
constexpr uint32_t mark = 1u << 31;
constexpr uint32_t top_down = 1, bottom_up = 2; /* enum hw_direction */

/* Blocks that a multiprocessor is to hold at a time, of as many as it can. */
constexpr int at_once(int blocks)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
    return blocks < 1024 / threads ? blocks : 1024 / threads;
#else
    return blocks;
#endif
}

/* Where list `row` begins. */
__device__ __forceinline__ uint64_t begin_of(const hw_gpu_matrix &lists, uint32_t row)
{
    return lists.wide ? __ldg(static_cast<const uint64_t *>(lists.offset) + row)
                      : __ldg(static_cast<const uint32_t *>(lists.offset) + row);
}

__device__ __forceinline__ uint32_t length_of(const hw_gpu_matrix &lists, uint32_t row)
{
    return static_cast<uint32_t>(begin_of(lists, row + 1) - begin_of(lists, row));
}

/* The part that a code of nn belongs to. */
__device__ __forceinline__ uint32_t owner_of(const graph_t &graph, uint32_t code)
{
    return graph.by_slots ? static_cast<uint32_t>(__umul64hi(code, graph.by_slots)) : code;
}

/* Whether a bit is set in a mask that this kernel may change. */
__device__ __forceinline__ bool is_set(const uint32_t *mask, uint32_t at)
{
    return __ldcg(mask + at / 32) >> (at & 31) & 1;
}

/* Sets a bit; whether it was this call. */
__device__ __forceinline__ bool claim(uint32_t *mask, uint32_t at)
{
    const uint32_t bit = 1u << (at & 31);

    return !(atomicOr(mask + at / 32, bit) & bit);
}

/* The sum of one number of every thread, in thread 0. room: [warps], for this call alone. */
__device__ __forceinline__ count64 block_sum(count64 x, count64 *room)
{
    for (int half = 16; half > 0; half /= 2)
        x += __shfl_down_sync(HW_WARP, x, half);
    if ((threadIdx.x & 31) == 0)
        room[threadIdx.x / 32] = x;
    __syncthreads();
    count64 all = 0;
    for (int w = 0; threadIdx.x == 0 && w < warps; w++)
        all += room[w];
    return all;
}

/* Whether this block is the last of its kernel that comes here; then it sees what the others
 * did before. One thread of each block, after a barrier. */
__device__ __forceinline__ bool is_last(uint32_t *arrived)
{
    __threadfence_system(); /* entries are in other GPUs */
    if (atomicAdd(arrived, 1) + 1 < gridDim.x)
        return false;
    *arrived = 0;
    __threadfence();
    return true;
}

/* Whether this GPU's visits found slots, its own or others'. A whole warp. */
__device__ __forceinline__ bool found_slots(const kernel_params &plan)
{
    const control_t &c = *plan.control;
    const uint32_t q = threadIdx.x & 31;
    const bool sent = q < plan.graph.parts && hw_load_relaxed(&c.sent[q]) != c.told[q];

    return __any_sync(HW_WARP, sent) || hw_load_relaxed(&c.found_slot) != 0;
}

/* Leaves a word for every other GPU: these visits of this one are done. A warp. */
__device__ __forceinline__ void tell_others(const kernel_params &plan, hw_gpu_delegates_word which)
{
    const bool delegates = which != HW_GPU_DELEGATES_ENTRIES;
    control_t &c = *plan.control;
    const uint32_t q = threadIdx.x & 31, me = plan.graph.part, epoch = c.epoch;
    const uint32_t finds = hw_load_relaxed(&c.found_delegate);
    const bool found = delegates ? finds > 0 : found_slots(plan);
    const bool there = q < plan.graph.parts && q != me;
    const count64 count = delegates ? finds : there ? hw_load_relaxed(&c.sent[q]) : 0;

    if (q == 0 && which != HW_GPU_DELEGATES_EARLY)
        c.met[delegates ? 0 : 1] = hw_nanoseconds();
    __threadfence_system();
    if (there)
        *static_cast<volatile count64 *>(&plan.mail[q]->slot[which][epoch & 1][me]) =
            static_cast<count64>(epoch & 0xffff) << 48 | static_cast<count64>(found) << 40 | count;
}

/* Blocks for a loop over `count` elements, at most as many as the plan has. */
inline int blocks_for(const kernel_params *plan, uint64_t count)
{
    const uint64_t most = plan ? static_cast<uint64_t>(plan->blocks) : 2048;
    const uint64_t wanted = (count + threads - 1) / threads;

    return static_cast<int>(wanted < 1 ? 1 : wanted < most ? wanted : most);
}

inline cudaStream_t stream_of(void *stream)
{
    return static_cast<cudaStream_t>(stream);
}

} // namespace

#endif
