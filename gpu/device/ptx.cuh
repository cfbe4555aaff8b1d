/* What kernels ask of the machine beyond CUDA C++, and how far they spread over it. */
#ifndef HOPWAVE_GPU_DEVICE_PTX_CUH
#define HOPWAVE_GPU_DEVICE_PTX_CUH

#include <cuda_runtime.h>
#include <stdint.h>

#ifdef HOPWAVE_EMULATED
#include "gpu/emulated/ptx.cuh"
#else

/* Blocks of a loop over many elements: no more than fill any device. */
constexpr uint64_t hw_max_loop_blocks = 132 * 16;
/* Threads of a loop over the tuples of a recipe: 2 to the power of. */
constexpr int hw_tuple_stride_bits = 19;
/* Tiles of each block, for which a level is worth expanding in parts. */
constexpr uint32_t hw_min_tiles_per_part = 32;

/* Blocks that are enough to bring what other devices have. */
constexpr int hw_remote_load_blocks = 128;

/* What another block or device may be changing, as it is now. */
template <typename T> __device__ __forceinline__ T hw_load_relaxed(const T *counter)
{
    return *static_cast<const volatile T *>(counter);
}

/* Likewise, and what was stored before the counter was, by a block of this device that counted with
 * hw_arrive_acq_rel(), is seen by what follows. */
__device__ __forceinline__ uint32_t hw_load_acquire(const uint32_t *counter)
{
    uint32_t count;

    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(count) : "l"(counter) : "memory");
    return count;
}

/* Likewise of what another device stored after hw_fence_system(). */
__device__ __forceinline__ uint64_t hw_load_acquire_system(const uint64_t *at)
{
    uint64_t word;

    asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(word) : "l"(at) : "memory");
    return word;
}

/* Counts one more. What this thread stored or knows of before is seen by those that find it
 * counted, and this thread sees what those before it did. Returns what was there. */
__device__ __forceinline__ uint32_t hw_arrive_acq_rel(uint32_t *counter)
{
    uint32_t before;

    asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], 1;"
                 : "=r"(before)
                 : "l"(counter)
                 : "memory");
    return before;
}

/* What this thread stored or knows of comes before its later stores, on all devices. */
__device__ __forceinline__ void hw_fence_system()
{
    asm volatile("fence.acq_rel.sys;" ::: "memory");
}

/* The shared memory that a launch gives each block, for vectors. */
__device__ __forceinline__ void *hw_block_memory()
{
    extern __shared__ uint4 hw_memory_of_block[];

    return hw_memory_of_block;
}

/* Nanoseconds on a clock of the whole device. */
__device__ __forceinline__ unsigned long long hw_nanoseconds()
{
    unsigned long long now;

    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

/* Brings a line of memory to the second-level cache. */
__device__ __forceinline__ void hw_prefetch_l2(const void *at)
{
    asm volatile("prefetch.global.L2 [%0];" ::"l"(at));
}

/* Brings a line of memory to the first-level cache. */
__device__ __forceinline__ void hw_bring_near(const void *at)
{
    asm volatile("{ .reg .u32 unused; ld.global.ca.u32 unused, [%0]; }" ::"l"(at) : "memory");
}

/* Read once, and never written meanwhile: it need not stay in the first-level cache. */
__device__ __forceinline__ uint2 hw_read_once(const uint2 *at)
{
    uint2 pair;

    asm("ld.global.nc.L1::no_allocate.v2.u32 {%0, %1}, [%2];"
        : "=r"(pair.x), "=r"(pair.y)
        : "l"(at));
    return pair;
}

/* Asked for at once: else it would be read only where it is needed. */
__device__ __forceinline__ uint4 hw_read_now(const void *at)
{
    uint4 all;

    asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(all.x), "=r"(all.y), "=r"(all.z), "=r"(all.w)
                 : "l"(at));
    return all;
}

/* Adds one, each thread by itself: the compiler would turn atomicAdd() into one addition a
 * warp. Returns what was there. */
__device__ __forceinline__ uint32_t hw_add_alone(uint32_t *to)
{
    uint32_t before;

    asm volatile("atom.global.add.u32 %0, [%1], 1;" : "=r"(before) : "l"(to) : "memory");
    return before;
}

#endif
#endif
