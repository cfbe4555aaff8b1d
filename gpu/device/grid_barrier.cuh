/*
 * Barriers over all blocks of a cooperative kernel, for kernels to which grid.sync() of
 * cooperative groups does not suffice: because the wait must be bounded, since a peer GPU may have
 * failed; because the thread that waits also adds and loads the counters that blocks agree on; or
 * because the last block has work to do before the others continue.
 *
 * Arrival counter. Every block adds 1 to one counter, which is never reset: barrier number n, from
 * 1 on, is complete once n * gridDim.x blocks have arrived, modulo 2^32. One thread of each block
 * polls it: polls by every warp would serialize on one slice of the second-level cache.
 *
 * Memory order. The stores of all threads of a block are ordered before the arrival by
 * __syncthreads(). The arrival is a release of them at device scope, and an acquire of what the
 * blocks before it released, so that the last arrival is a release of all stores of the grid. The
 * poll that sees the last arrival is an acquire of all of them; __syncthreads() then extends it to
 * the threads of the block, for which stale lines of the first-level cache were discarded.
 */
#ifndef HOPWAVE_GPU_DEVICE_GRID_BARRIER_CUH
#define HOPWAVE_GPU_DEVICE_GRID_BARRIER_CUH

#include "gpu/device/ptx.cuh"

namespace
{

/* The length of a wait. The clock is not read before the first question, since most waits end
 * before it. */
struct wait_clock {
    unsigned long long since = 0;

    __device__ __forceinline__ bool has_passed(unsigned long long timeout_ns)
    {
        const unsigned long long now = hw_nanoseconds();

        since = since ? since : now;
        return now - since >= timeout_ns;
    }
};

/* Counts this block as arrived at barrier `number`. Returns whether it is the last one. One thread
 * of each block, after a __syncthreads(). */
__device__ __forceinline__ bool grid_arrive(uint32_t *arrived, uint32_t number)
{
    return hw_arrive_acq_rel(arrived) + 1 == number * gridDim.x;
}

/* Waits until all blocks have arrived at barrier `number`. give_up(): asked now and then; ends the
 * wait if it returns true, and then the result is false. One thread of each block; a
 * __syncthreads() must follow. */
template <class GiveUp>
__device__ __forceinline__ bool grid_wait(const uint32_t *arrived, uint32_t number,
                                          const GiveUp &give_up)
{
    const uint32_t all = number * gridDim.x;

    for (uint32_t poll = 1; static_cast<int32_t>(hw_load_acquire(arrived) - all) < 0; poll++)
        if (poll % 64 == 0 && give_up())
            return false;
    return true;
}

/* ---- the last block ---- */

/* Whether this block is the last of its kernel to arrive; it then sees what the others stored
 * before, and resets the counter for the next kernel. The fence has system scope for kernels whose
 * last block signals peers. One thread of each block, after a __syncthreads(). */
__device__ __forceinline__ bool is_last_block(uint32_t *arrived)
{
    __threadfence_system();
    if (atomicAdd(arrived, 1) + 1 < gridDim.x)
        return false;
    *arrived = 0;
    __threadfence();
    return true;
}

/*
 * Barrier at which the first warp of the last block executes work() before any block continues.
 * Stores from before it are visible after it on this GPU and, where the work signals them, on other
 * GPUs. arrived: 0 between barriers; generation: the number of barriers so far, which kernels need
 * not know; last: in shared memory. All threads of the grid.
 */
template <class Work>
__device__ __forceinline__ void grid_barrier_with_work(uint32_t *arrived, uint32_t *generation,
                                                       bool *last, const Work &work)
{
    uint32_t before = 0;

    __syncthreads();
    if (threadIdx.x == 0) {
        before = hw_load_relaxed(generation);
        *last = is_last_block(arrived);
    }
    __syncthreads();
    if (*last) {
        if (threadIdx.x < 32)
            work();
        __syncthreads();
        if (threadIdx.x == 0) {
            __threadfence();
            atomicAdd(generation, 1u);
        }
    } else if (threadIdx.x == 0) {
        while (hw_load_relaxed(generation) == before)
            ;
        __threadfence();
    }
    __syncthreads();
}

} // namespace

#endif
