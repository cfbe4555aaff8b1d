/*
 * The grids of kernels: how many blocks a device holds at a time. The blocks of a cooperative
 * kernel wait for each other at grid barriers, so all of them must be resident.
 */
#ifndef HOPWAVE_GPU_DEVICE_LAUNCH_H
#define HOPWAVE_GPU_DEVICE_LAUNCH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* As many blocks on each multiprocessor as are resident together. */
#define HW_ALL_RESIDENT_BLOCKS 0

/* *count: multiprocessors of the current device. Returns a cudaError_t. Local. */
int hw_multiprocessors(int *count);

/* *bytes: of the second-level cache of the current device. Returns a cudaError_t. Local. */
int hw_l2_cache_bytes(uint64_t *bytes);

/* *bytes: dynamic shared memory that a block of the kernel can have on the current device, besides
 * its static shared memory. Returns a cudaError_t. Local. */
int hw_dynamic_shared_limit(const void *kernel, uint32_t *bytes);

/*
 * *blocks: the blocks of a kernel that the current device holds at a time, so the largest grid of a
 * cooperative launch; with `threads` threads and shared_bytes of dynamic shared memory a block,
 * which it permits the kernel to have. blocks_per_multiprocessor: the most on each multiprocessor,
 * or HW_ALL_RESIDENT_BLOCKS.
 * Returns a cudaError_t: cudaErrorLaunchOutOfResources if a multiprocessor does not hold even one
 * block, and then *blocks is 0. Local.
 */
int hw_resident_grid(const void *kernel, int threads, size_t shared_bytes,
                     int blocks_per_multiprocessor, int *blocks);

#ifdef __cplusplus
}
#endif

#endif
