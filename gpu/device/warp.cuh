/* Reductions and prefix sums over a warp. All functions are warp-collective. */
#ifndef HOPWAVE_GPU_DEVICE_WARP_CUH
#define HOPWAVE_GPU_DEVICE_WARP_CUH

#include "gpu/device/grid_stride.cuh"

#include <type_traits>

/* Reduces a value over all lanes by an associative and commutative operation. */
template <typename T, class Both> __device__ __forceinline__ T hw_warp_reduce(T x, const Both &both)
{
    for (int half = 16; half > 0; half /= 2)
        x = both(x, __shfl_xor_sync(HW_WARP, x, half));
    return x;
}

/* The sum over all lanes. */
__device__ __forceinline__ uint32_t hw_warp_sum(uint32_t x)
{
#if __CUDA_ARCH__ >= 800
    return __reduce_add_sync(HW_WARP, x);
#else
    return hw_warp_reduce(x, [](uint32_t a, uint32_t b) { return a + b; });
#endif
}

__device__ __forceinline__ unsigned long long hw_warp_sum64(unsigned long long x)
{
    return hw_warp_reduce(x, [](unsigned long long a, unsigned long long b) { return a + b; });
}

/* The minimum, the maximum and the bitwise or over all lanes. */
template <typename T> __device__ __forceinline__ T hw_warp_min(T x)
{
#if __CUDA_ARCH__ >= 800
    if constexpr (std::is_same_v<T, uint32_t>)
        return __reduce_min_sync(HW_WARP, x);
#endif
    return hw_warp_reduce(x, [](T a, T b) { return b < a ? b : a; });
}

template <typename T> __device__ __forceinline__ T hw_warp_max(T x)
{
    return hw_warp_reduce(x, [](T a, T b) { return b > a ? b : a; });
}

__device__ __forceinline__ uint32_t hw_warp_or(uint32_t x)
{
#if __CUDA_ARCH__ >= 800
    return __reduce_or_sync(HW_WARP, x);
#else
    return hw_warp_reduce(x, [](uint32_t a, uint32_t b) { return a | b; });
#endif
}

/* Adds the sum of all lanes' values to *sum in global memory, by one atomic operation. */
__device__ __forceinline__ void hw_warp_add_to(unsigned long long own, uint64_t *sum)
{
    const unsigned long long all = hw_warp_sum64(own);

    if ((threadIdx.x & 31) == 0 && all)
        atomicAdd(reinterpret_cast<unsigned long long *>(sum), all);
}

/* The inclusive prefix sum: over this lane and those before it. */
template <typename T> __device__ __forceinline__ T hw_warp_scan(T x)
{
    const int lane = threadIdx.x & 31;

#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
        const T before = __shfl_up_sync(HW_WARP, x, step);
        if (lane >= step)
            x += before;
    }
    return x;
}

#endif
