/*
 * Kernels of delta-stepping and their launches (gpu/sssp/delta/delta_search.h).
 */
#ifndef HOPWAVE_GPU_SSSP_DELTA_SEARCH_DELTA_LAUNCH_CUH
#define HOPWAVE_GPU_SSSP_DELTA_SEARCH_DELTA_LAUNCH_CUH

#include "gpu/device/launch.h"
#include "gpu/sssp/delta/search/delta_phases.cuh"

#include <cuda_runtime.h>

namespace hw_delta::search
{
namespace
{

template <int kind, class Peers>
__global__ void __launch_bounds__(threads, 1)
    delta_stepping(const __grid_constant__ kernel_params<Peers> params,
                   const hw_delta_search request)
{
    search_in_kernel<kind>(params, request);
}

/* Chooses blocks and bytes of shared memory for this device. kernel: delta_stepping() of Peers. */
template <class Peers> int choose_shape(const void *kernel, hw_delta_shape *shape)
{
    shape->shared_bytes = static_cast<int>(sizeof(block_shared<Peers>));
    return hw_resident_grid(kernel, threads, sizeof(block_shared<Peers>), 1, &shape->blocks);
}

/* all: the parameters of the kernel, of which `params` are the first. */
int launch_search_with(const void *kernel, const void *all, const hw_delta_params *params,
                       const hw_delta_search *search, const hw_delta_shape *shape)
{
    void *arguments[] = {const_cast<void *>(all), const_cast<hw_delta_search *>(search)};
    cudaError_t error = cudaMemsetAsync(params->control, 0, sizeof *params->control, nullptr);

    if (error != cudaSuccess)
        return error;
    return cudaLaunchCooperativeKernel(kernel, dim3(shape->blocks), dim3(threads), arguments,
                                       static_cast<size_t>(shape->shared_bytes), nullptr);
}

int launch_search(const void *kernel, const hw_delta_params *params, const hw_delta_search *search,
                  const hw_delta_shape *shape)
{
    return launch_search_with(kernel, params, params, search, shape);
}

/* Copies the two lightest edges of each of `count` lists. past, unless NULL: past the last vertex
 * of several edges; in-lists count, too, where they are others. */
template <class Peers>
__global__ void copy_lightest(const __grid_constant__ kernel_params<Peers> params,
                              const hw_delta_lists lists, uint32_t count,
                              hw_delta_lightest *lightest, uint32_t *past)
{
    uint32_t core = 0;

    for (uint64_t i = hw_grid_thread(); i < count; i += hw_grid_threads()) {
        const uint32_t v = static_cast<uint32_t>(i);
        const uint64_t begin = list_begin(params, lists, v), end = list_begin(params, lists, v + 1);
        for (uint64_t k = 0; k < 2; k++)
            lightest[v].edge[k] =
                begin + k < end ? lists.edge[begin + k] : hw_gpu_edge{HW_INVALID_VERTEX, 0};
        uint64_t edges = end - begin;
        if (Peers::directed && past)
            edges = list_begin(params, params.out, v + 1) - list_begin(params, params.out, v) +
                    list_begin(params, params.in, v + 1) - list_begin(params, params.in, v);
        core = edges > 1 ? v + 1 : core;
    }
    if (past)
        atomicMax(past, core);
}

} // namespace
} // namespace hw_delta::search

#endif
