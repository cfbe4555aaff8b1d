/*
 * Kernels that put caches and TLBs into a known state before a search is timed. Both only read
 * memory. Launchers return a cudaError_t as an int (see hw_cuda()) and do not wait.
 */
#ifndef HOPWAVE_GPU_DEVICE_MEMORY_KERNELS_H
#define HOPWAVE_GPU_DEVICE_MEMORY_KERNELS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Reads `count` words, 128 MiB at most: more than the second-level cache of any device stores, so
 * that it evicts what the last search left there. words: on the device. never: [1] scratch on the
 * device; a store to it that almost never happens keeps the compiler from removing the loads. */
int hw_gpu_launch_flush_caches(const void *words, uint64_t count, uint32_t *never);

/* Reads a word of each page (2 MiB) of `bytes` bytes of memory from every multiprocessor, so that
 * their TLBs hold its translations. memory: on this device or mapped from a peer; never: as
 * above. */
int hw_gpu_launch_warm_tlb(const void *memory, uint64_t bytes, uint32_t *never);

#ifdef __cplusplus
}
#endif

#endif
