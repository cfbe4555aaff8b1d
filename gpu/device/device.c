/* The device of a rank (gpu/device/device.h). */
#include "gpu/device/device.h"

#include "lib/base/memory.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>

/* Length of a PCI bus id of a device with its null byte, at most. */
#define BUS_ID 32

enum hw_status hw_cuda(int code, const char *call, struct hw_error *err)
{
    cudaError_t error = (cudaError_t)code;

    if (error == cudaSuccess)
        return HW_OK;
    bool resources = error == cudaErrorMemoryAllocation || error == cudaErrorNoDevice ||
                     error == cudaErrorInsufficientDriver || error == cudaErrorDevicesUnavailable ||
                     error == cudaErrorNoKernelImageForDevice;
    return hw_fail(err, resources ? HW_RESOURCES : HW_INTERNAL, "%s: %s", call,
                   cudaGetErrorString(error));
}

enum hw_status hw_gpu_ready(struct hw_error *err)
{
    int count = 0;
    cudaError_t error = cudaGetDeviceCount(&count);

    if (error != cudaSuccess || count == 0)
        return hw_fail(err, HW_RESOURCES, "--device cuda: there is no CUDA device to run on (%s)",
                       error != cudaSuccess ? cudaGetErrorString(error)
                                            : "the driver reports none");
    return HW_OK;
}

enum hw_status hw_gpu_open(const struct hw_context *ctx, struct hw_error *err)
{
    int count = 0, cooperative = 0, device = 0;
    enum hw_status status = hw_gpu_ready(err);

    if (status == HW_OK)
        status = hw_cuda((int)cudaGetDeviceCount(&count), "cudaGetDeviceCount", err);
    if (status != HW_OK)
        return status;
    device = ctx->node_rank % count;
    status = hw_cuda((int)cudaSetDevice(device), "cudaSetDevice", err);
    if (status == HW_OK)
        status =
            hw_cuda((int)cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, device),
                    "cudaDeviceGetAttribute", err);
    if (status == HW_OK && !cooperative)
        return hw_fail(err, HW_RESOURCES, "CUDA device %d has no cooperative launches", device);
    return status;
}

/* PCI bus ids of the devices that this node's ranks have selected. all: [ranks of the node].
 * Collective; ranks agree. */
static enum hw_status gather_bus_ids(const struct hw_context *ctx, char (*all)[BUS_ID],
                                     struct hw_error *err)
{
    char own[BUS_ID] = "";
    int device = 0;
    enum hw_status status = hw_cuda((int)cudaGetDevice(&device), "cudaGetDevice", err);

    if (status == HW_OK)
        status = hw_cuda((int)cudaDeviceGetPCIBusId(own, sizeof own, device),
                         "cudaDeviceGetPCIBusId", err);
    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK)
        status = hw_mpi(MPI_Allgather(own, BUS_ID, MPI_CHAR, all, BUS_ID, MPI_CHAR, ctx->node),
                        "MPI_Allgather", err);
    return status;
}

enum hw_status hw_gpu_devices(const struct hw_context *ctx, int *used, bool *shared,
                              struct hw_error *err)
{
    char(*all)[BUS_ID] = NULL;
    int fewer = 0;
    enum hw_status status =
        hw_agree(ctx->world, hw_alloc_zero(&all, ctx->node_size, sizeof *all, "devices", err), err);

    *used = 0;
    if (status == HW_OK)
        status = gather_bus_ids(ctx, all, err);
    for (int r = 0; r < ctx->node_size && status == HW_OK; r++) {
        int first = 0;
        while (strcmp(all[first], all[r]) != 0)
            first++;
        *used += first == r;
    }
    fewer = *used < ctx->node_size;
    free(all);
    if (status == HW_OK)
        status = hw_mpi(MPI_Allreduce(MPI_IN_PLACE, &fewer, 1, MPI_INT, MPI_LOR, ctx->world),
                        "MPI_Allreduce", err);
    *shared = fewer != 0;
    return status;
}

enum hw_status hw_gpu_ranks_per_device(const struct hw_context *ctx, int *ranks,
                                       struct hw_error *err)
{
    int used = 1;
    bool shared = false;
    enum hw_status status = hw_gpu_devices(ctx, &used, &shared, err);

    *ranks = status == HW_OK ? (ctx->node_size + used - 1) / used : 1;
    return status;
}

void hw_gpu_add(struct hw_gpu_arrays *arrays, void *out, hw_count count, size_t size)
{
    /* Kernels may read a whole vector of 16 bytes at the last element. */
    arrays->of[arrays->count++] = (struct hw_gpu_array){out, count * (hw_count)size + 32};
}

/* Sets the pointer of an array, whatever its type. */
static void set_pointer(const struct hw_gpu_array *array, void *memory)
{
    memcpy(array->out, &memory, sizeof memory);
}

hw_count hw_gpu_bytes(const struct hw_gpu_arrays *arrays)
{
    const hw_count unit = 512; /* small allocations are rounded up to at most this */
    hw_count bytes = 0;

    for (int a = 0; a < arrays->count; a++)
        bytes += (arrays->of[a].bytes + unit - 1) / unit * unit;
    return bytes;
}

enum hw_status hw_gpu_memory(hw_count *left, hw_count *total, struct hw_error *err)
{
    size_t free_bytes = 0, all = 0;
    enum hw_status status = hw_cuda((int)cudaMemGetInfo(&free_bytes, &all), "cudaMemGetInfo", err);
    hw_count limit = hw_memory_setting("HOPWAVE_DEVICE_MEMORY");

    *left = (hw_count)free_bytes < limit ? (hw_count)free_bytes : limit;
    *total = (hw_count)all;
    return status;
}

enum hw_status hw_gpu_require(hw_count bytes, const char *what, struct hw_error *err)
{
    const double gib = 1073741824.0;
    hw_count left = 0, total = 0;
    enum hw_status status = hw_gpu_memory(&left, &total, err);

    if (status == HW_OK && bytes > left)
        return hw_fail(
            err, HW_RESOURCES,
            "%.4g GiB of the device's memory are needed for %s, and %.4g of %.4g GiB are "
            "free",
            (double)bytes / gib, what, (double)left / gib, (double)total / gib);
    return status;
}

enum hw_status hw_gpu_allocate(struct hw_gpu_arrays *arrays, hw_count additional, const char *what,
                               struct hw_error *err)
{
    const hw_count reserve = (hw_count)64
                             << 20; /* the runtime's own memory, and partly used pages */
    enum hw_status status = hw_gpu_require(hw_gpu_bytes(arrays) + additional + reserve, what, err);

    for (int a = 0; a < arrays->count; a++)
        set_pointer(&arrays->of[a], NULL);
    arrays->allocated = true;
    for (int a = 0; a < arrays->count && status == HW_OK; a++) {
        void *memory = NULL;
        status = hw_cuda((int)cudaMalloc(&memory, (size_t)arrays->of[a].bytes), "cudaMalloc", err);
        set_pointer(&arrays->of[a], memory);
    }
    if (status != HW_OK)
        hw_gpu_release(arrays);
    return status;
}

void hw_gpu_release(struct hw_gpu_arrays *arrays)
{
    for (int a = 0; a < arrays->count && arrays->allocated; a++) {
        void *memory;
        memcpy(&memory, arrays->of[a].out, sizeof memory);
        cudaFree(memory);
        set_pointer(&arrays->of[a], NULL);
    }
    arrays->allocated = false;
    arrays->count = 0;
}

enum hw_status hw_gpu_put(void *device, const void *host, size_t bytes, struct hw_error *err)
{
    return hw_cuda((int)cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice), "cudaMemcpy", err);
}

enum hw_status hw_gpu_get(void *host, const void *device, size_t bytes, struct hw_error *err)
{
    return hw_cuda((int)cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy", err);
}

enum hw_status hw_gpu_get_new(void *host, const void *device, size_t bytes, struct hw_error *err)
{
    const size_t page = 4096;
    char *at = host;

#pragma omp parallel for
    for (size_t i = 0; i < bytes / page; i++)
        at[i * page] = 0;
    return hw_gpu_get(host, device, bytes, err);
}

enum hw_status hw_gpu_pin(uint32_t **staging, size_t count, struct hw_error *err)
{
    if (*staging)
        return HW_OK;
    return hw_cuda(
        (int)cudaHostAlloc((void **)staging, (count + 1) * sizeof **staging, cudaHostAllocDefault),
        "cudaHostAlloc", err);
}

enum hw_status hw_gpu_copy(void *to, const void *from, size_t bytes, struct hw_error *err)
{
    return hw_cuda((int)cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, NULL),
                   "cudaMemcpyAsync", err);
}

enum hw_status hw_gpu_fill(void *device, int byte, size_t bytes, struct hw_error *err)
{
    return hw_cuda((int)cudaMemsetAsync(device, byte, bytes, NULL), "cudaMemset", err);
}
