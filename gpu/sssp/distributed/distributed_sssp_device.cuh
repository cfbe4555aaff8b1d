/*
 * Shortest paths on several parts: device functions on local ids, lists, (position, key) pairs and
 * counters (gpu/sssp/distributed/distributed_sssp.h).
 */
#ifndef HOPWAVE_GPU_SSSP_DISTRIBUTED_DISTRIBUTED_SSSP_DEVICE_CUH
#define HOPWAVE_GPU_SSSP_DISTRIBUTED_DISTRIBUTED_SSSP_DEVICE_CUH

#include "gpu/comm/allgather_kernel.h"
#include "gpu/device/grid_stride.cuh"
#include "gpu/device/packed_queue.h"
#include "gpu/device/warp.cuh"
#include "gpu/sssp/common/distance_keys.cuh"
#include "gpu/sssp/distributed/distributed_sssp.h"

namespace
{

using count64 = unsigned long long;
using kernel_params = hw_distributed_sssp_params;
using job_t = hw_distributed_sssp_job;

constexpr int threads = 256;
constexpr int edge_bits = HW_DISTRIBUTED_SSSP_EDGE_BITS;

template <int kind> using key_of = typename hw_keys<kind>::type;

/* A (position, key) pair, as it is sent. */
template <typename K> struct pair_t;
template <> struct pair_t<int32_t> {
    using word = uint2;
    static __device__ __forceinline__ word make(uint32_t at, int32_t key)
    {
        return make_uint2(at, static_cast<uint32_t>(key));
    }
    static __device__ __forceinline__ uint32_t at(word w)
    {
        return w.x;
    }
    static __device__ __forceinline__ int32_t key(word w)
    {
        return static_cast<int32_t>(w.y);
    }
};
template <> struct pair_t<int64_t> {
    using word = uint4;
    static __device__ __forceinline__ word make(uint32_t at, int64_t key)
    {
        const count64 bits = static_cast<count64>(key);
        return make_uint4(at, 0, static_cast<uint32_t>(bits), static_cast<uint32_t>(bits >> 32));
    }
    static __device__ __forceinline__ uint32_t at(word w)
    {
        return w.x;
    }
    static __device__ __forceinline__ int64_t key(word w)
    {
        return static_cast<int64_t>(static_cast<count64>(w.w) << 32 | w.z);
    }
};

__device__ __forceinline__ int32_t lower(int32_t *at, int32_t key)
{
    return atomicMin(at, key);
}

__device__ __forceinline__ int64_t lower(int64_t *at, int64_t key)
{
    return atomicMin(reinterpret_cast<long long *>(at), static_cast<long long>(key));
}

/* The array that a job works on. */
template <typename K>
__device__ __forceinline__ K *array_of(const kernel_params &params, bool value)
{
    return value ? reinterpret_cast<K *>(params.state.value)
                 : static_cast<K *>(params.state.distance);
}

/* ---- local ids and lists ---- */

__device__ __forceinline__ uint32_t first_delegate(const kernel_params &params)
{
    return params.config.num_ranges * params.config.block_size;
}

__device__ __forceinline__ uint32_t delegate_lists(const kernel_params &params)
{
    return params.lists.num_blocks * params.config.block_size;
}

__device__ __forceinline__ uint32_t local_id_of(const kernel_params &params, uint32_t list)
{
    if (list >= delegate_lists(params))
        return first_delegate(params) + (list - delegate_lists(params));
    const uint32_t b = params.lists.num_blocks == 1 ? 0
                       : params.config.block_magic
                           ? static_cast<uint32_t>(__umul64hi(list, params.config.block_magic))
                           : list;
    return params.lists.range[b] * params.config.block_size + (list - b * params.config.block_size);
}

__device__ __forceinline__ bool is_owned(const kernel_params &params, uint32_t local_id)
{
    return local_id - params.config.owned_range * params.config.block_size <
           params.config.block_size;
}

__device__ __forceinline__ uint32_t owned_list(const kernel_params &params, uint32_t local_id)
{
    return params.lists.owned_begin +
           (local_id - params.config.owned_range * params.config.block_size);
}

__device__ __forceinline__ void set_bit(uint32_t *bits, uint32_t at)
{
    atomicOr(bits + (at >> 5), 1u << (at & 31));
}

/* The bits of word w that are in [first, end). */
__device__ __forceinline__ uint32_t range_mask(uint32_t w, uint32_t first, uint32_t end)
{
    const int64_t from = static_cast<int64_t>(first) - 32 * static_cast<int64_t>(w);
    const int64_t to = static_cast<int64_t>(end) - 32 * static_cast<int64_t>(w);
    uint32_t mask = 0xffffffffu;

    if (from >= 32 || to <= 0)
        return 0;
    if (from > 0)
        mask &= 0xffffffffu << from;
    if (to < 32)
        mask &= (1u << to) - 1;
    return mask;
}

/* ---- counters ---- */

/* Counters of a block in shared memory, added to the device's at the end. */
struct block_sums {
    count64 sum[4];
    count64 max;
};

__device__ __forceinline__ void clear(block_sums &sums)
{
    if (threadIdx.x < 4)
        sums.sum[threadIdx.x] = 0;
    if (threadIdx.x == 4)
        sums.max = 0;
    __syncthreads();
}

__device__ __forceinline__ void add(block_sums &sums, int which, count64 mine)
{
    const count64 all = hw_warp_sum64(mine);

    if ((threadIdx.x & 31) == 0 && all)
        atomicAdd(&sums.sum[which], all);
}

/* Maps a key so that lesser keys have greater images: a maximum then yields the least key. */
__device__ __forceinline__ count64 complement(int64_t key)
{
    return ~(static_cast<count64>(key) ^ 1ull << 63);
}

__device__ __forceinline__ uint64_t warp_number()
{
    return hw_grid_thread() / 32;
}

__device__ __forceinline__ uint64_t warp_count()
{
    return hw_grid_threads() / 32;
}

/* Reserves `all` entries for a warp; returns the first. */
template <typename T> __device__ __forceinline__ T reserve(T *counter, uint32_t all)
{
    T start = 0;

    if ((threadIdx.x & 31) == 0)
        start = atomicAdd(counter, static_cast<T>(all));
    return __shfl_sync(HW_WARP, start, 0);
}

} // namespace

#endif
