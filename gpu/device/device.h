/*
 * The device: whether there is one, its memory, its errors.
 *
 * An engine lists all arrays it wants on the device, checks their sum against what
 * is free, and only then allocates.
 */
#ifndef HOPWAVE_GPU_DEVICE_DEVICE_H
#define HOPWAVE_GPU_DEVICE_DEVICE_H

#include "lib/base/status.h"
#include "lib/base/types.h"
#include "lib/comm/context.h"

/* One array: where its pointer is, how large it is. */
struct hw_gpu_array {
    void *out;
    hw_count bytes;
};

/* Arrays on the device that live and die together. Zero-initialise. */
#define HW_GPU_ARRAYS 64
struct hw_gpu_arrays {
    struct hw_gpu_array of[HW_GPU_ARRAYS];
    int count;
    bool allocated;
};

/*
 * Turns a CUDA return code into HW_OK, or into a failure that names the call:
 * HW_RESOURCES where memory or the device is short, else HW_INTERNAL. code is a
 * cudaError_t. Local.
 */
enum hw_status hw_cuda(int code, const char *call, struct hw_error *err);

/* Whether there is a CUDA device that this build has code for; HW_RESOURCES with the
 * reason where not. Local. */
enum hw_status hw_gpu_ready(struct hw_error *err);

/* Takes this rank's device: the ranks of a node share theirs out in turn. Local. */
enum hw_status hw_gpu_open(const struct hw_context *ctx, struct hw_error *err);

/* *used: how many devices this node's ranks have opened; *shared: on some node they are fewer
 * than the ranks, the same on all ranks. Collective; ranks agree. */
enum hw_status hw_gpu_devices(const struct hw_context *ctx, int *used, bool *shared,
                              struct hw_error *err);

/* How many ranks share a device of this node, and so its memory. Collective; ranks agree. */
enum hw_status hw_gpu_sharing(const struct hw_context *ctx, int *ranks, struct hw_error *err);

/* Lists an array of `count` elements of `size` bytes; out points to its pointer. */
void hw_gpu_add(struct hw_gpu_arrays *arrays, void *out, hw_count count, size_t size);

/* Bytes that all that is listed takes. Local. */
hw_count hw_gpu_bytes(const struct hw_gpu_arrays *arrays);

/* Fails with HW_RESOURCES, and both figures, where the device has fewer bytes free. Local. */
enum hw_status hw_gpu_require(hw_count bytes, const char *what, struct hw_error *err);

/*
 * Allocates all that is listed, uninitialised and aligned to 256 bytes.
 * Returns HW_RESOURCES, with nothing allocated, where the device has less free than
 * the arrays and `beside` bytes more need; the sentence has both figures. Local.
 */
enum hw_status hw_gpu_allocate(struct hw_gpu_arrays *arrays, hw_count beside, const char *what,
                               struct hw_error *err);

/* Frees them. Local. */
void hw_gpu_release(struct hw_gpu_arrays *arrays);

/* Bytes that the device has free, and in all. HOPWAVE_DEVICE_MEMORY (bytes, with an optional
 * K, M or G) lowers the first, for devices that are shared and for tests. Local. */
enum hw_status hw_gpu_memory(hw_count *left, hw_count *total, struct hw_error *err);

/* Copies bytes from the host to the device and back, done on return. Local. */
enum hw_status hw_gpu_put(void *device, const void *host, size_t bytes, struct hw_error *err);
enum hw_status hw_gpu_get(void *host, const void *device, size_t bytes, struct hw_error *err);

/* The same into memory that was never written, whose pages all threads bring in first. Local. */
enum hw_status hw_gpu_get_new(void *host, const void *device, size_t bytes, struct hw_error *err);

/* Makes *staging room for that many numbers on the host, pinned, unless it is there; freed by
 * cudaFreeHost(). Pinning takes long, so that only those ask who need it. Local. */
enum hw_status hw_gpu_pin(uint32_t **staging, size_t count, struct hw_error *err);

/* Copies bytes inside the device, in the order of launches. Local. */
enum hw_status hw_gpu_copy(void *to, const void *from, size_t bytes, struct hw_error *err);

/* Sets bytes on the device, in the order of launches. Local. */
enum hw_status hw_gpu_fill(void *device, int byte, size_t bytes, struct hw_error *err);

#endif
