#include "gpu/device/launch.h"

#include <cuda_runtime_api.h>

int hw_multiprocessors(int *count)
{
    int device = 0;
    cudaError_t error = cudaGetDevice(&device);

    *count = 0;
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(count, cudaDevAttrMultiProcessorCount, device);
    return (int)error;
}

int hw_l2_cache_bytes(uint64_t *bytes)
{
    int device = 0, size = 0;
    cudaError_t error = cudaGetDevice(&device);

    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&size, cudaDevAttrL2CacheSize, device);
    *bytes = (uint64_t)size;
    return (int)error;
}

int hw_dynamic_shared_limit(const void *kernel, uint32_t *bytes)
{
    int device = 0, limit = 0;
    struct cudaFuncAttributes attributes;
    cudaError_t error = cudaGetDevice(&device);

    *bytes = 0;
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&limit, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    if (error == cudaSuccess)
        error = cudaFuncGetAttributes(&attributes, kernel);
    if (error == cudaSuccess)
        *bytes = (uint32_t)limit - (uint32_t)attributes.sharedSizeBytes;
    return (int)error;
}

int hw_resident_grid(const void *kernel, int threads, size_t shared_bytes,
                     int blocks_per_multiprocessor, int *blocks)
{
    int multiprocessors = 0, resident = 0;
    int error = hw_multiprocessors(&multiprocessors);

    *blocks = 0;
    if (error == cudaSuccess && shared_bytes > 0)
        error = (int)cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                          (int)shared_bytes);
    if (error == cudaSuccess)
        error = (int)cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, threads,
                                                                   shared_bytes);
    if (error == cudaSuccess && resident < 1)
        error = cudaErrorLaunchOutOfResources;
    if (error != cudaSuccess)
        return error;
    if (blocks_per_multiprocessor != HW_ALL_RESIDENT_BLOCKS && resident > blocks_per_multiprocessor)
        resident = blocks_per_multiprocessor;
    *blocks = multiprocessors * resident;
    return error;
}
