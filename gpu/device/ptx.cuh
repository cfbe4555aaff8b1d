/*
 * Operations that CUDA C++ does not offer, as inline PTX: memory order, cache hints, the clock; and
 * the sizes of grids. gpu/emulated/ptx.cuh has the same functions for processors.
 *
 * cuda::atomic_ref has the same orders and scopes, but addresses memory generically: nvcc 13.0.88
 * compiles it for sm_90 to LD and ATOM where these functions give LDG and ATOMG, in polls that all
 * blocks wait for.
 */
#ifndef HOPWAVE_GPU_DEVICE_PTX_CUH
#define HOPWAVE_GPU_DEVICE_PTX_CUH

#include <cuda_runtime.h>
#include <stdint.h>

#ifdef HOPWAVE_EMULATED
#include "gpu/emulated/ptx.cuh"
#else

/* Blocks of a loop over many elements: as many as fill any device. */
constexpr uint64_t hw_max_loop_blocks = 132 * 16;
/* log2 of the threads of a loop over the tuples of a generator. */
constexpr int hw_tuple_stride_bits = 19;
/* Tiles of each block from which on a level is worth expanding in parts. */
constexpr uint32_t hw_min_tiles_per_part = 32;

/* Blocks that are enough to load at the full speed of the links from other devices' memory. */
constexpr int hw_remote_load_blocks = 128;

/* Volatile load: sees concurrent writes of other blocks and devices. Orders nothing. */
template <typename T> __device__ __forceinline__ T hw_load_relaxed(const T *counter)
{
    return *static_cast<const volatile T *>(counter);
}

/* Acquire load at device scope: what a block stored before it raised the counter with
 * hw_arrive_acq_rel() is visible to this thread afterwards. */
__device__ __forceinline__ uint32_t hw_load_acquire(const uint32_t *counter)
{
    uint32_t count;

    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(count) : "l"(counter) : "memory");
    return count;
}

/* Acquire load at system scope: what another device stored before hw_fence_system() and its store
 * of this word is visible to this thread afterwards. */
__device__ __forceinline__ uint64_t hw_load_acquire_system(const uint64_t *at)
{
    uint64_t word;

    asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(word) : "l"(at) : "memory");
    return word;
}

/* Adds 1 to an arrival counter, acquire and release at device scope. This thread's earlier stores,
 * and those it has seen, are visible to threads that read the new count with acquire; it sees the
 * stores of those that arrived before it. Returns the count before. */
__device__ __forceinline__ uint32_t hw_arrive_acq_rel(uint32_t *counter)
{
    uint32_t before;

    asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], 1;"
                 : "=r"(before)
                 : "l"(counter)
                 : "memory");
    return before;
}

/* Acquire-release fence at system scope: orders this thread's earlier stores, and those it has
 * seen, before its later stores, for all devices. */
__device__ __forceinline__ void hw_fence_system()
{
    asm volatile("fence.acq_rel.sys;" ::: "memory");
}

/* The dynamic shared memory of the block, aligned for vectors of 16 bytes. */
__device__ __forceinline__ void *hw_dynamic_shared()
{
    extern __shared__ uint4 hw_memory_of_block[];

    return hw_memory_of_block;
}

/* Nanoseconds of the device's global timer. */
__device__ __forceinline__ unsigned long long hw_nanoseconds()
{
    unsigned long long now;

    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

/* Prefetches a cache line into the second-level cache. */
__device__ __forceinline__ void hw_prefetch_l2(const void *at)
{
    asm volatile("prefetch.global.L2 [%0];" ::"l"(at));
}

/* Prefetches a cache line into the first-level cache, by a load whose result is unused. */
__device__ __forceinline__ void hw_prefetch_l1(const void *at)
{
    asm volatile("{ .reg .u32 unused; ld.global.ca.u32 unused, [%0]; }" ::"l"(at) : "memory");
}

/* Loads read-only data that is used once, without a line in the first-level cache. Nobody may write
 * it during the kernel. */
__device__ __forceinline__ uint2 hw_load_streaming(const uint2 *at)
{
    uint2 pair;

    asm("ld.global.nc.L1::no_allocate.v2.u32 {%0, %1}, [%2];"
        : "=r"(pair.x), "=r"(pair.y)
        : "l"(at));
    return pair;
}

/* Loads 16 bytes here: the compiler may not move the load down to the first use. */
__device__ __forceinline__ uint4 hw_load_volatile(const void *at)
{
    uint4 all;

    asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(all.x), "=r"(all.y), "=r"(all.z), "=r"(all.w)
                 : "l"(at));
    return all;
}

/* Adds 1 atomically, one operation for each thread: the compiler would combine the atomicAdd() of a
 * warp into one. Returns the value before. */
__device__ __forceinline__ uint32_t hw_atomic_add_per_thread(uint32_t *to)
{
    uint32_t before;

    asm volatile("atom.global.add.u32 %0, [%1], 1;" : "=r"(before) : "l"(to) : "memory");
    return before;
}

#endif
#endif
