/*
 * Distances as integer keys in kernels: lib/engine/sssp/distance.h for the device, a template by
 * kind (enum hw_gpu_key).
 */
#ifndef HOPWAVE_GPU_SSSP_COMMON_DISTANCE_KEYS_CUH
#define HOPWAVE_GPU_SSSP_COMMON_DISTANCE_KEYS_CUH

#include "gpu/sssp/common/sssp_engine.h"

template <int kind> struct hw_keys {
    using type = int32_t;
    static constexpr type none = kind == HW_GPU_KEY_F32 ? 0x7f800000 : INT32_MAX;
};

template <> struct hw_keys<HW_GPU_KEY_I64> {
    using type = int64_t;
    static constexpr type none = INT64_MAX;
};

__device__ __forceinline__ float hw_float_of(int32_t key)
{
    return __int_as_float(key ^ (key >> 31 & INT32_MAX));
}

/* The key of a float, or of the bits of a float weight. */
__device__ __forceinline__ int32_t hw_key_of(float value)
{
    const int32_t bits = __float_as_int(value);

    return bits ^ (bits >> 31 & INT32_MAX);
}

/* The key of the target of an edge whose source is reached. */
template <int kind>
__device__ __forceinline__ typename hw_keys<kind>::type hw_further(typename hw_keys<kind>::type key,
                                                                   uint32_t weight)
{
    if constexpr (kind == HW_GPU_KEY_F32)
        return hw_key_of(__fadd_rn(hw_float_of(key), __uint_as_float(weight)));
    else
        return key + static_cast<int32_t>(weight);
}

/* Loads an edge without caching it in L1, since lists are read once. */
__device__ __forceinline__ hw_gpu_edge hw_read_edge(const hw_gpu_edge *edge)
{
    const uint2 pair = __ldcs(reinterpret_cast<const uint2 *>(edge));

    return hw_gpu_edge{pair.x, pair.y};
}

#endif
