/*
 * Radix sorts on the device, by CUB. Every kind of sort that host code or kernels need is
 * instantiated once, in device_sort.cu. All arrays are on the device; launchers return a
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

/* Double buffers of keys and of their values (NULL: none): the first of each holds the data, the
 * second is scratch. */
struct hw_gpu_keys {
    uint64_t *key[2];
    uint32_t *value[2];
};

/* *bytes: scratch memory for a sort of `count` keys, with values or without. */
int hw_gpu_sort_scratch(uint64_t count, bool values, size_t *bytes);

/* Sorts keys by their low `bits` bits; swaps the buffers if the result is in the second. scratch:
 * [bytes], of hw_gpu_sort_scratch(). */
int hw_gpu_launch_sort(struct hw_gpu_keys *keys, uint64_t count, int bits, void *scratch,
                       size_t bytes);

/* Sorts ids by key, falling or rising; equal keys keep their order. scratch NULL: only sets *bytes,
 * the scratch memory it takes. */
int hw_gpu_launch_order(void *scratch, size_t *bytes, bool falling, const uint32_t *key,
                        uint32_t *sorted, const uint32_t *id, uint32_t *sorted_id, uint64_t count);

#ifdef __cplusplus
}
#endif

#endif
