/*
 * Sorting on the device, by CUB's radix sort. Every kind of sort that the host code or other
 * kernels need is compiled here, once. All arrays are on the device; launchers return a
 * cudaError_t as an int and do not wait. Sorts are stable.
 */
#ifndef HOPWAVE_GPU_DEVICE_DEVICE_SORT_H
#define HOPWAVE_GPU_DEVICE_DEVICE_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Two arrays of keys, and of values that go with them (NULL: none), of which the first are in
 * use. */
struct hw_gpu_keys {
    uint64_t *key[2];
    uint32_t *value[2];
};

/* Bytes of scratch memory that sorting so many keys takes. */
int hw_gpu_sort_scratch(uint64_t count, bool values, size_t *bytes);

/* Sorts keys by their low `bits` bits; swaps the arrays where that is needed. */
int hw_gpu_launch_sort(struct hw_gpu_keys *keys, uint64_t count, int bits, void *scratch,
                       size_t bytes);

/* Sorts ids by key, falling or rising, ties as they are. scratch NULL: only *bytes is set. */
int hw_gpu_launch_order(void *scratch, size_t *bytes, bool falling, const uint32_t *key,
                        uint32_t *sorted, const uint32_t *id, uint32_t *sorted_id, uint64_t count);

#ifdef __cplusplus
}
#endif

#endif
