/*
 * Delta-stepping on several GPUs of one node: one cooperative kernel on each GPU, and the kernels
 * that write its results (gpu/sssp/delta/delta_search.h).
 */
#include "gpu/sssp/delta/search/delta_phases.cuh"

namespace hw_delta::search
{
namespace
{

using peer_params = kernel_params<peer_gpus>;

template <int kind>
__global__ void forget_remote(const __grid_constant__ peer_params params, uint32_t root)
{
    for (uint32_t q = 0; q < params.partition.ranks; q++)
        reset_keys<kind>(params, q,
                         q == params.partition.rank ? params.vertices.active_of[q]
                                                    : params.vertices.core_of[q],
                         params.partition.block_size, root);
}

/* Writes results by graph id. */
template <int kind>
__global__ void __launch_bounds__(256)
    write_results(const __grid_constant__ peer_params params,
                  const __grid_constant__ hw_delta_results results, uint32_t root)
{
    const uint2 *result = reinterpret_cast<const uint2 *>(params.state.result);
    const uint32_t home = owned_begin(params);

    for (uint64_t k = hw_grid_thread(); k < results.count; k += hw_grid_threads()) {
        const uint32_t local_id = __ldcs(results.local_id + k);
        uint32_t parent = HW_INVALID_VERTEX;
        key_of<kind> key = hw_keys<kind>::none;
        if (local_id == root) {
            parent = results.graph_id[local_id];
            key = 0;
        } else if (local_id - home < params.vertices.active) { /* others have no edges */
            const uint2 both = __ldcg(result + local_id);
            parent = both.x != HW_INVALID_VERTEX ? results.graph_id[both.x] : HW_INVALID_VERTEX;
            if constexpr (kind == HW_GPU_KEY_I64)
                key = __ldcg(distances<kind>(params) + local_id);
            else
                key = static_cast<int32_t>(both.y);
        }
        results.parent[k] = parent;
        if constexpr (kind == HW_GPU_KEY_F32)
            static_cast<float *>(results.distance)[k] = hw_float_of(key);
        else
            static_cast<key_of<kind> *>(results.distance)[k] =
                key != hw_keys<kind>::none ? key : -1;
    }
}

const void *kernel_of(int kind)
{
    if (kind == HW_GPU_KEY_F32)
        return reinterpret_cast<const void *>(delta_stepping<HW_GPU_KEY_F32, peer_gpus>);
    if (kind == HW_GPU_KEY_I32)
        return reinterpret_cast<const void *>(delta_stepping<HW_GPU_KEY_I32, peer_gpus>);
    return reinterpret_cast<const void *>(delta_stepping<HW_GPU_KEY_I64, peer_gpus>);
}

} // namespace
} // namespace hw_delta::search

using namespace hw_delta::search;

int hw_peer_delta_shape(const hw_delta_params *params, hw_delta_shape *shape)
{
    return choose_shape<peer_gpus>(kernel_of(params->config.kind), shape);
}

int hw_peer_delta_launch_lightest(const hw_delta_params *params, uint32_t *core)
{
    cudaError_t error = cudaMemsetAsync(core, 0, sizeof *core, nullptr);

    if (error != cudaSuccess)
        return error;
    copy_lightest<peer_gpus><<<512, 256>>>(peer_params{*params}, params->out,
                                           params->vertices.active, params->queues.lightest, core);
    return cudaGetLastError();
}

int hw_peer_delta_launch(const hw_delta_params *params, const hw_delta_search *search,
                         const hw_delta_shape *shape)
{
    return launch_search(kernel_of(params->config.kind), params, search, shape);
}

int hw_peer_delta_launch_forget(const hw_delta_params *params, uint32_t root)
{
    if (params->config.kind == HW_GPU_KEY_F32)
        forget_remote<HW_GPU_KEY_F32><<<1024, 256>>>(peer_params{*params}, root);
    else if (params->config.kind == HW_GPU_KEY_I32)
        forget_remote<HW_GPU_KEY_I32><<<1024, 256>>>(peer_params{*params}, root);
    else
        forget_remote<HW_GPU_KEY_I64><<<1024, 256>>>(peer_params{*params}, root);
    return cudaGetLastError();
}

int hw_peer_delta_launch_results(const hw_delta_params *params, const hw_delta_results *results,
                                 uint32_t root, int blocks)
{
    if (params->config.kind == HW_GPU_KEY_F32)
        write_results<HW_GPU_KEY_F32><<<blocks, 256>>>(peer_params{*params}, *results, root);
    else if (params->config.kind == HW_GPU_KEY_I32)
        write_results<HW_GPU_KEY_I32><<<blocks, 256>>>(peer_params{*params}, *results, root);
    else
        write_results<HW_GPU_KEY_I64><<<blocks, 256>>>(peer_params{*params}, *results, root);
    return cudaGetLastError();
}
