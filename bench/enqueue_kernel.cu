/* Generation of a frontier queue from a status array (bench/enqueue_kernel.h). */
#include "bench/enqueue_kernel.h"
#include "gpu/device/grid_stride.cuh"

#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>
#include <cuda_runtime.h>
#include <thrust/iterator/counting_iterator.h>

namespace
{

constexpr int block_size = 256;

/* A pseudo-random number for an entry: the finalizer of MurmurHash3. */
__device__ __forceinline__ uint32_t hash_of(uint32_t x)
{
    x ^= x >> 16;
    x *= 0x85ebca6bu;
    x ^= x >> 13;
    x *= 0xc2b2ae35u;
    return x ^ x >> 16;
}

__global__ void fill(uint32_t *status, uint64_t entries, uint32_t below)
{
    for (uint64_t i = hw_grid_thread(); i < entries; i += hw_grid_threads())
        status[i] = hash_of(static_cast<uint32_t>(i)) < below;
}

__global__ void enqueue_each(const uint32_t *status, uint64_t entries, uint32_t *queue,
                             uint32_t *size)
{
    for (uint64_t i = hw_grid_thread(); i < entries; i += hw_grid_threads()) {
        if (status[i] == 0)
            continue;
        queue[hw_atomic_add_per_thread(size)] = static_cast<uint32_t>(i);
    }
}

__global__ void enqueue_warp(const uint32_t *status, uint64_t entries, uint32_t *queue,
                             uint32_t *size)
{
    const uint32_t lane = threadIdx.x & 31;

    for (uint64_t i = hw_grid_thread(); i - lane < entries; i += hw_grid_threads()) {
        const bool mine = i < entries && status[i] != 0;
        const uint32_t ballot = __ballot_sync(HW_WARP, mine);
        uint32_t at = 0;
        if (lane == 0 && ballot)
            at = atomicAdd(size, static_cast<uint32_t>(__popc(ballot)));
        at = __shfl_sync(HW_WARP, at, 0) + __popc(ballot & ((1u << lane) - 1));
        if (mine)
            queue[at] = static_cast<uint32_t>(i);
    }
}

__global__ void scatter(const uint32_t *status, const uint32_t *prefix, uint64_t entries,
                        uint32_t *queue, uint32_t *size)
{
    for (uint64_t i = hw_grid_thread(); i < entries; i += hw_grid_threads()) {
        if (status[i])
            queue[prefix[i]] = static_cast<uint32_t>(i);
        if (i == entries - 1)
            *size = prefix[i] + status[i];
    }
}

cudaError_t scan(const hw_enqueue *work, void *scratch, size_t &bytes)
{
    return cub::DeviceScan::ExclusiveSum(scratch, bytes, work->status, work->prefix,
                                         static_cast<int64_t>(work->entries));
}

cudaError_t select_flagged(const hw_enqueue *work, void *scratch, size_t &bytes)
{
    return cub::DeviceSelect::Flagged(scratch, bytes, thrust::counting_iterator<uint32_t>(0),
                                      work->status, work->queue, work->size,
                                      static_cast<int64_t>(work->entries));
}

} // namespace

int hw_enqueue_scratch(uint64_t entries, size_t *bytes)
{
    hw_enqueue work = {};
    size_t scan_bytes = 0, select_bytes = 0;

    work.entries = entries;
    cudaError_t error = scan(&work, nullptr, scan_bytes);
    if (error == cudaSuccess)
        error = select_flagged(&work, nullptr, select_bytes);
    *bytes = scan_bytes > select_bytes ? scan_bytes : select_bytes;
    return error;
}

int hw_enqueue_fill(const hw_enqueue *work, double fraction)
{
    const double below = fraction * 4294967295.0;

    fill<<<hw_blocks(work->entries, block_size), block_size>>>(work->status, work->entries,
                                                               static_cast<uint32_t>(below));
    return cudaGetLastError();
}

int hw_enqueue_launch(const hw_enqueue *work, hw_enqueue_kind kind)
{
    const int blocks = hw_blocks(work->entries, block_size);
    uint32_t *size = reinterpret_cast<uint32_t *>(work->size);
    size_t bytes = work->scratch_bytes;
    cudaError_t error = cudaMemsetAsync(work->size, 0, sizeof *work->size);

    if (error != cudaSuccess)
        return error;
    switch (kind) {
    case HW_ENQUEUE_ATOMIC:
        enqueue_each<<<blocks, block_size>>>(work->status, work->entries, work->queue, size);
        break;
    case HW_ENQUEUE_ATOMIC_WARP:
        enqueue_warp<<<blocks, block_size>>>(work->status, work->entries, work->queue, size);
        break;
    case HW_ENQUEUE_SCAN:
        error = scan(work, work->scratch, bytes);
        if (error == cudaSuccess)
            scatter<<<blocks, block_size>>>(work->status, work->prefix, work->entries, work->queue,
                                            size);
        break;
    default:
        error = select_flagged(work, work->scratch, bytes);
        break;
    }
    return error == cudaSuccess ? cudaGetLastError() : error;
}
