/* The extensions of CUDA C++ as C++, for kernels on emulated devices. Shared variables are
 * thread-local variables of the worker that runs the block. */
#ifndef HOPWAVE_EMULATED_CUDA_RUNTIME_H
#define HOPWAVE_EMULATED_CUDA_RUNTIME_H

#include "gpu/emulated/launch.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <type_traits>

#define __CUDA_ARCH__ 900
#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __noinline__ /* after the standard headers, which have it in attributes */
#define __launch_bounds__(...)
#define __grid_constant__
#define __shared__ static thread_local
#define __restrict__ __restrict
#define threadIdx emulated::thread_index()
#define blockIdx emulated::block_index()
#define blockDim emulated::block_size()
#define gridDim emulated::grid_size()

struct uint2 {
    unsigned x, y;
} __attribute__((aligned(8)));
struct uint4 {
    unsigned x, y, z, w;
} __attribute__((aligned(16)));

inline uint2 make_uint2(unsigned x, unsigned y)
{
    return {x, y};
}

inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w)
{
    return {x, y, z, w};
}

/* ---- warps ---- */

namespace emulated
{

template <class T> T shuffled(uint32_t mask, T value, int from)
{
    const warp_collective all(operation::shuffle, mask, word_of(value));

    if (!all.has(from))
        fail("a shuffle reads lane %d, which is not in its mask %08x or has ended", from, mask);
    return value_of<T>(all.of(from));
}

/* The lanes whose words satisfy a predicate. */
template <class Is> uint32_t lanes_where(const warp_collective &all, Is is)
{
    uint32_t found = 0;

    for (int lane = 0; lane < 32; lane++)
        found |= static_cast<uint32_t>(all.has(lane) && is(all.of(lane))) << lane;
    return found;
}

template <class Both> unsigned reduced(operation kind, uint32_t mask, unsigned value, Both both)
{
    const warp_collective all(kind, mask, value);
    bool first = true;
    unsigned result = value;

    for (int lane = 0; lane < 32; lane++) {
        if (!all.has(lane))
            continue;
        const unsigned other = static_cast<unsigned>(all.of(lane));
        result = first ? other : both(result, other);
        first = false;
    }
    return result;
}

} // namespace emulated

template <class T> T __shfl_sync(uint32_t mask, T value, int from)
{
    return emulated::shuffled(mask, value, from & 31);
}

template <class T> T __shfl_xor_sync(uint32_t mask, T value, int bits)
{
    return emulated::shuffled(mask, value, (emulated::lane_in_warp() ^ bits) & 31);
}

template <class T> T __shfl_up_sync(uint32_t mask, T value, unsigned by)
{
    const int lane = emulated::lane_in_warp(), from = lane - static_cast<int>(by);

    return emulated::shuffled(mask, value, from < 0 ? lane : from);
}

template <class T> T __shfl_down_sync(uint32_t mask, T value, unsigned by)
{
    const int lane = emulated::lane_in_warp(), from = lane + static_cast<int>(by);

    return emulated::shuffled(mask, value, from > 31 ? lane : from);
}

inline uint32_t __ballot_sync(uint32_t mask, int predicate)
{
    const emulated::warp_collective all(emulated::operation::ballot, mask, predicate != 0);

    return emulated::lanes_where(all, [](uint64_t word) { return word != 0; });
}

inline int __any_sync(uint32_t mask, int predicate)
{
    const emulated::warp_collective all(emulated::operation::any, mask, predicate != 0);

    return emulated::lanes_where(all, [](uint64_t word) { return word != 0; }) != 0;
}

inline int __all_sync(uint32_t mask, int predicate)
{
    const emulated::warp_collective all(emulated::operation::all, mask, predicate != 0);

    return emulated::lanes_where(all, [](uint64_t word) { return word == 0; }) == 0;
}

template <class T> uint32_t __match_any_sync(uint32_t mask, T value)
{
    const uint64_t own = emulated::word_of(value);
    const emulated::warp_collective all(emulated::operation::match, mask, own);

    return emulated::lanes_where(all, [own](uint64_t word) { return word == own; });
}

inline void __syncwarp(uint32_t mask = 0xffffffffu)
{
    const emulated::warp_collective all(emulated::operation::wait, mask, 0);
}

inline unsigned __reduce_add_sync(uint32_t mask, unsigned value)
{
    return emulated::reduced(emulated::operation::add, mask, value,
                             [](unsigned a, unsigned b) { return a + b; });
}

inline unsigned __reduce_min_sync(uint32_t mask, unsigned value)
{
    return emulated::reduced(emulated::operation::min, mask, value,
                             [](unsigned a, unsigned b) { return std::min(a, b); });
}

inline unsigned __reduce_or_sync(uint32_t mask, unsigned value)
{
    return emulated::reduced(emulated::operation::bit_or, mask, value,
                             [](unsigned a, unsigned b) { return a | b; });
}

/* ---- blocks ---- */

inline void __syncthreads()
{
    emulated::block_barrier(emulated::reduction::none, 0);
}

inline int __syncthreads_or(int predicate)
{
    return emulated::block_barrier(emulated::reduction::any, predicate);
}

inline int __syncthreads_and(int predicate)
{
    return emulated::block_barrier(emulated::reduction::all, predicate);
}

/* ---- memory ---- */

inline void __threadfence_system()
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    emulated::yield_randomly();
}

inline void __threadfence()
{
    __threadfence_system();
}

inline void __threadfence_block()
{
    __threadfence_system();
}

template <class T> T __ldg(const T *at)
{
    return *at;
}

template <class T> T __ldcg(const T *at)
{
    return *at;
}

template <class T> T __ldca(const T *at)
{
    return *at;
}

template <class T> T __ldcs(const T *at)
{
    return *at;
}

template <class T> T __ldcv(const T *at)
{
    emulated::yield_randomly();
    return *at;
}

template <class T> void __stcs(T *at, std::common_type_t<T> value)
{
    *at = value;
}

template <class T> void __stcg(T *at, std::common_type_t<T> value)
{
    *at = value;
}

template <class T, class U> T atomicAdd(T *at, U value)
{
    emulated::yield_randomly();
    return __atomic_fetch_add(at, static_cast<T>(value), __ATOMIC_SEQ_CST);
}

template <class T, class U> T atomicSub(T *at, U value)
{
    emulated::yield_randomly();
    return __atomic_fetch_sub(at, static_cast<T>(value), __ATOMIC_SEQ_CST);
}

template <class T, class U> T atomicOr(T *at, U value)
{
    emulated::yield_randomly();
    return __atomic_fetch_or(at, static_cast<T>(value), __ATOMIC_SEQ_CST);
}

template <class T, class U> T atomicAnd(T *at, U value)
{
    emulated::yield_randomly();
    return __atomic_fetch_and(at, static_cast<T>(value), __ATOMIC_SEQ_CST);
}

template <class T, class U> T atomicXor(T *at, U value)
{
    emulated::yield_randomly();
    return __atomic_fetch_xor(at, static_cast<T>(value), __ATOMIC_SEQ_CST);
}

template <class T, class U> T atomicExch(T *at, U value)
{
    emulated::yield_randomly();
    return __atomic_exchange_n(at, static_cast<T>(value), __ATOMIC_SEQ_CST);
}

template <class T, class U, class V> T atomicCAS(T *at, U expected, V value)
{
    T old = static_cast<T>(expected);

    emulated::yield_randomly();
    __atomic_compare_exchange_n(at, &old, static_cast<T>(value), false, __ATOMIC_SEQ_CST,
                                __ATOMIC_SEQ_CST);
    return old;
}

namespace emulated
{

/* Atomically replaces *at by value if that is better. Returns the old value. */
template <class T, class Better> T replace_if(T *at, T value, Better better)
{
    yield_randomly();
    T old = __atomic_load_n(at, __ATOMIC_SEQ_CST);
    while (better(value, old) && !__atomic_compare_exchange_n(at, &old, value, false,
                                                              __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
    }
    return old;
}

} // namespace emulated

template <class T, class U> T atomicMin(T *at, U value)
{
    return emulated::replace_if(at, static_cast<T>(value), [](T a, T b) { return a < b; });
}

template <class T, class U> T atomicMax(T *at, U value)
{
    return emulated::replace_if(at, static_cast<T>(value), [](T a, T b) { return a > b; });
}

template <class T, class U> T atomicMin_system(T *at, U value)
{
    return atomicMin(at, value);
}

template <class T, class U> T atomicOr_system(T *at, U value)
{
    return atomicOr(at, value);
}

/* ---- arithmetic ---- */

inline int __popc(unsigned x)
{
    return __builtin_popcount(x);
}

inline int __clz(unsigned x)
{
    return x ? __builtin_clz(x) : 32;
}

inline int __clzll(unsigned long long x)
{
    return x ? __builtin_clzll(x) : 64;
}

inline int __ffs(unsigned x)
{
    return __builtin_ffs(static_cast<int>(x));
}

inline unsigned __umulhi(unsigned x, unsigned y)
{
    return static_cast<unsigned>(static_cast<uint64_t>(x) * y >> 32);
}

inline unsigned long long __umul64hi(unsigned long long x, unsigned long long y)
{
    return static_cast<unsigned long long>(static_cast<unsigned __int128>(x) * y >> 64);
}

/* All bits of each byte that is equal in both. */
inline unsigned __vcmpeq4(unsigned x, unsigned y)
{
    unsigned equal = 0;

    for (int byte = 0; byte < 32; byte += 8)
        equal |= ((x ^ y) >> byte & 255) == 0 ? 255u << byte : 0;
    return equal;
}

inline int __float_as_int(float x)
{
    return emulated::value_of<int>(emulated::word_of(x));
}

inline unsigned __float_as_uint(float x)
{
    return emulated::value_of<unsigned>(emulated::word_of(x));
}

inline float __int_as_float(int x)
{
    return emulated::value_of<float>(emulated::word_of(x));
}

inline float __uint_as_float(unsigned x)
{
    return emulated::value_of<float>(emulated::word_of(x));
}

inline float __fadd_rn(float x, float y)
{
    return x + y;
}

/* Rounded down. */
inline float __double2float_rd(double x)
{
    const float near = static_cast<float>(x);

    return static_cast<double>(near) > x ? std::nextafter(near, -INFINITY) : near;
}

template <class T, class U> constexpr std::common_type_t<T, U> min(T a, U b)
{
    using both = std::common_type_t<T, U>;

    return static_cast<both>(b) < static_cast<both>(a) ? static_cast<both>(b)
                                                       : static_cast<both>(a);
}

template <class T, class U> constexpr std::common_type_t<T, U> max(T a, U b)
{
    using both = std::common_type_t<T, U>;

    return static_cast<both>(a) < static_cast<both>(b) ? static_cast<both>(b)
                                                       : static_cast<both>(a);
}

using std::isfinite;

/* Cycles, of a device of one GHz. */
inline long long clock64()
{
    timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<long long>(time.tv_sec) * 1000000000 + time.tv_nsec;
}

/* ---- kernels as functions ---- */

template <class... P>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void (*kernel)(P...),
                                                          int threads, size_t shared)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, emulated::kernel(kernel), threads,
                                                         shared);
}

template <class... P>
cudaError_t cudaFuncSetAttribute(void (*kernel)(P...), cudaFuncAttribute attribute, int value)
{
    return cudaFuncSetAttribute(emulated::kernel(kernel), attribute, value);
}

template <class... P>
cudaError_t cudaLaunchCooperativeKernel(void (*kernel)(P...), dim3 grid, dim3 block,
                                        void **arguments, size_t shared, cudaStream_t stream)
{
    return cudaLaunchCooperativeKernel(emulated::kernel(kernel), grid, block, arguments, shared,
                                       stream);
}

#endif
