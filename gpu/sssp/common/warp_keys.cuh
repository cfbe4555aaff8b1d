/*
 * Distance keys in the kernels of delta-stepping: atomic minimum, bucket bounds, reductions over a
 * warp.
 */
#ifndef HOPWAVE_GPU_SSSP_COMMON_WARP_KEYS_CUH
#define HOPWAVE_GPU_SSSP_COMMON_WARP_KEYS_CUH

#include "gpu/device/warp.cuh"
#include "gpu/sssp/common/distance_keys.cuh"

namespace hw_delta
{
namespace
{

using count64 = unsigned long long;

template <int kind> using key_of = typename hw_keys<kind>::type;

__device__ __forceinline__ int32_t atomic_lower(int32_t *at, int32_t key)
{
    return atomicMin(at, key);
}

__device__ __forceinline__ int64_t atomic_lower(int64_t *at, int64_t key)
{
    return atomicMin(reinterpret_cast<long long *>(at), static_cast<long long>(key));
}

/* The same on memory of any GPU. */
__device__ __forceinline__ int32_t atomic_lower_system(int32_t *at, int32_t key)
{
    return atomicMin_system(at, key);
}

__device__ __forceinline__ int64_t atomic_lower_system(int64_t *at, int64_t key)
{
    return atomicMin_system(reinterpret_cast<long long *>(at), static_cast<long long>(key));
}

/* The key at distance `width` beyond `key`, rounded down, but at least the next key; `none` if
 * there is no such key. */
template <int kind>
__device__ __forceinline__ key_of<kind> key_beyond(key_of<kind> key, double width)
{
    constexpr key_of<kind> none = hw_keys<kind>::none;
    key_of<kind> bound;

    if (key >= none - 1)
        return none;
    if constexpr (kind == HW_GPU_KEY_F32) {
        const double sum = static_cast<double>(hw_float_of(key)) + width;
        bound = sum >= 3.4e38 ? none : hw_key_of(static_cast<float>(sum));
    } else {
        const double sum = static_cast<double>(key) + width;
        bound = sum >= static_cast<double>(none) ? none : static_cast<key_of<kind>>(sum);
    }
    return bound > key ? bound : key + 1;
}

template <typename T> __device__ __forceinline__ T *by_parity(T *const two[2], uint32_t number)
{
    return number & 1 ? two[1] : two[0];
}

/* Sum over a warp of counts whose total may need more than 32 bits. */
__device__ __forceinline__ count64 warp_sum(uint32_t mine)
{
    return (static_cast<count64>(hw_warp_sum(mine >> 16)) << 16) + hw_warp_sum(mine & 0xffff);
}

} // namespace
} // namespace hw_delta

#endif
