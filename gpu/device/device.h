/*
 * The device of a rank: selection, errors, memory, copies.
 *
 * An engine lists all device arrays it needs (struct hw_gpu_arrays). hw_gpu_allocate() compares
 * their sum with the free memory, and only then allocates them.
 */
#ifndef HOPWAVE_GPU_DEVICE_DEVICE_H
#define HOPWAVE_GPU_DEVICE_DEVICE_H

#include "lib/base/status.h"
#include "lib/base/types.h"
#include "lib/comm/context.h"

/* One array: the address of its pointer, its size in bytes. */
struct hw_gpu_array {
    void *out;
    hw_count bytes;
};

/* Device arrays that are allocated and freed together. Zero-initialise. */
#define HW_GPU_ARRAYS 64
struct hw_gpu_arrays {
    struct hw_gpu_array of[HW_GPU_ARRAYS];
    int count;
    bool allocated;
};

/*
 * Converts a CUDA return code (a cudaError_t) to HW_OK, or to a failure that names the call:
 * HW_RESOURCES for a lack of memory or of a usable device, else HW_INTERNAL. Local.
 */
enum hw_status hw_cuda(int code, const char *call, struct hw_error *err);

/* HW_OK if there is a CUDA device, else HW_RESOURCES with the reason. Local. */
enum hw_status hw_gpu_ready(struct hw_error *err);

/* Selects this rank's device: rank r of a node takes device r modulo their number. HW_RESOURCES if
 * the device has no cooperative launches. Local. */
enum hw_status hw_gpu_open(const struct hw_context *ctx, struct hw_error *err);

/* *used: distinct devices that this node's ranks have selected; *shared: whether ranks of some node
 * share a device, the same on all ranks. Collective; ranks agree. */
enum hw_status hw_gpu_devices(const struct hw_context *ctx, int *used, bool *shared,
                              struct hw_error *err);

/* *ranks: how many ranks share a device of this node, and so its memory, at most. Collective; ranks
 * agree. */
enum hw_status hw_gpu_ranks_per_device(const struct hw_context *ctx, int *ranks,
                                       struct hw_error *err);

/* Adds an array of `count` elements of `size` bytes to the list; out: the address of its pointer.
 * Local. */
void hw_gpu_add(struct hw_gpu_arrays *arrays, void *out, hw_count count, size_t size);

/* Bytes that the listed arrays take in all. Local. */
hw_count hw_gpu_bytes(const struct hw_gpu_arrays *arrays);

/* HW_RESOURCES, with both figures, if the device has fewer bytes free. Local. */
enum hw_status hw_gpu_require(hw_count bytes, const char *what, struct hw_error *err);

/*
 * Allocates the listed arrays, uninitialised and aligned to 256 bytes.
 * Returns HW_RESOURCES, with nothing allocated, if the device has less memory free than the arrays
 * and `additional` bytes need; the message has both figures. what: their purpose, for the message.
 * Local.
 */
enum hw_status hw_gpu_allocate(struct hw_gpu_arrays *arrays, hw_count additional, const char *what,
                               struct hw_error *err);

/* Frees the arrays, sets their pointers to NULL and empties the list. Local. */
void hw_gpu_release(struct hw_gpu_arrays *arrays);

/* Free and total bytes of the device. HOPWAVE_DEVICE_MEMORY (bytes, with an optional K, M or G)
 * limits the free bytes, for shared devices and for tests. Local. */
enum hw_status hw_gpu_memory(hw_count *left, hw_count *total, struct hw_error *err);

/* Copies bytes from the host to the device, and back; complete on return. Local. */
enum hw_status hw_gpu_put(void *device, const void *host, size_t bytes, struct hw_error *err);
enum hw_status hw_gpu_get(void *host, const void *device, size_t bytes, struct hw_error *err);

/* As hw_gpu_get(), into newly allocated memory: all threads touch its pages first, as a copy into
 * unmapped pages is slow. Local. */
enum hw_status hw_gpu_get_new(void *host, const void *device, size_t bytes, struct hw_error *err);

/* Allocates pinned host memory for `count` numbers unless *staging is set; freed by cudaFreeHost().
 * Pinning is slow: call it only where the copy is needed. Local. */
enum hw_status hw_gpu_pin(uint32_t **staging, size_t count, struct hw_error *err);

/* Copies bytes within the device, in the default stream; does not wait. Local. */
enum hw_status hw_gpu_copy(void *to, const void *from, size_t bytes, struct hw_error *err);

/* Sets bytes on the device, in the default stream; does not wait. Local. */
enum hw_status hw_gpu_fill(void *device, int byte, size_t bytes, struct hw_error *err);

#endif
