/*
 * Delta-stepping between nodes whose kernels put (internode_delta.h): the search kernels of
 * directed graphs with in-lists.
 * Linked with NVSHMEM's device library, as a part of an image that is loaded when it is used
 * (gpu/comm/nvshmem/nvshmem_kernels.h).
 */
#include "gpu/sssp/delta/peer/internode_exchange.cuh"

using namespace hw_delta::search;

extern "C" __global__ void __launch_bounds__(threads, 1) hw_internode_delta_directed_f32(
    const __grid_constant__ kernel_params<internode_gpus<true>> params,
    const hw_delta_search request)
{
    search_between_nodes<HW_GPU_KEY_F32>(params, request);
}

extern "C" __global__ void __launch_bounds__(threads, 1) hw_internode_delta_directed_i32(
    const __grid_constant__ kernel_params<internode_gpus<true>> params,
    const hw_delta_search request)
{
    search_between_nodes<HW_GPU_KEY_I32>(params, request);
}

extern "C" __global__ void __launch_bounds__(threads, 1) hw_internode_delta_directed_i64(
    const __grid_constant__ kernel_params<internode_gpus<true>> params,
    const hw_delta_search request)
{
    search_between_nodes<HW_GPU_KEY_I64>(params, request);
}

const void *hw_internode_delta_directed_kernel(int kind)
{
    if (kind == HW_GPU_KEY_F32)
        return reinterpret_cast<const void *>(hw_internode_delta_directed_f32);
    if (kind == HW_GPU_KEY_I32)
        return reinterpret_cast<const void *>(hw_internode_delta_directed_i32);
    return reinterpret_cast<const void *>(hw_internode_delta_directed_i64);
}
