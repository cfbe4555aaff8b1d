/*
 * Delta-stepping on several GPUs of one node: one cooperative kernel on each GPU, and the kernels
 * that write its results (gpu/sssp/delta/delta_search.h).
 */
#include "gpu/sssp/delta/peer/internode_gpus.cuh"
#include "gpu/sssp/delta/search/delta_launch.cuh"

namespace hw_delta::search
{
namespace
{

template <int kind, class Peers>
__global__ void forget_remote(const __grid_constant__ kernel_params<Peers> params, uint32_t root)
{
    for (uint32_t q = 0; q < params.partition.ranks; q++)
        reset_keys<kind>(params, q,
                         q == params.partition.rank ? params.vertices.active_of[q]
                                                    : params.vertices.core_of[q],
                         params.partition.block_size, root);
}

/* The graph id of a local id. In their own order it is computed: a table is a random access to
 * memory for each vertex. */
template <class Peers>
__device__ __forceinline__ uint32_t graph_id_of(const kernel_params<Peers> &params,
                                                const hw_delta_results &results, uint32_t local_id)
{
    if (!results.own_order)
        return results.graph_id[local_id];
    const uint32_t q = Peers::owner_of(params, local_id);
    return (local_id - q * params.partition.block_size) * Peers::ranks(params) + q;
}

/* Writes results by graph id. */
template <int kind, class Peers>
__global__ void __launch_bounds__(256)
    write_results(const __grid_constant__ kernel_params<Peers> params,
                  const __grid_constant__ hw_delta_results results, uint32_t root)
{
    const uint2 *result = reinterpret_cast<const uint2 *>(params.state.result);
    const uint32_t home = owned_begin(params);

    for (uint64_t k = hw_grid_thread(); k < results.count; k += hw_grid_threads()) {
        const uint32_t local_id = __ldcs(results.local_id + k);
        uint32_t parent = HW_INVALID_VERTEX;
        key_of<kind> key = hw_keys<kind>::none;
        if (local_id == root) {
            parent = graph_id_of(params, results, local_id);
            key = 0;
        } else if (local_id - home < params.vertices.active) { /* others have no edges */
            const uint2 both = __ldcg(result + local_id);
            parent = both.x != HW_INVALID_VERTEX ? graph_id_of(params, results, both.x)
                                                 : HW_INVALID_VERTEX;
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

/* A kind of keys as a constant. */
template <int value> struct key_kind {
    static constexpr int kind = value;
};

/* Calls what(kind, backend) with those of the search. */
template <class What> int with_kind_and_backend(const hw_delta_params *params, const What &what)
{
    const auto with_backend = [&](auto kind) {
        return params->queues.lightest_out ? what(kind, peer_gpus<true>())
                                           : what(kind, peer_gpus<false>());
    };

    if (params->config.kind == HW_GPU_KEY_F32)
        return with_backend(key_kind<HW_GPU_KEY_F32>());
    if (params->config.kind == HW_GPU_KEY_I32)
        return with_backend(key_kind<HW_GPU_KEY_I32>());
    return with_backend(key_kind<HW_GPU_KEY_I64>());
}

/* The search kernel; those of directed graphs with in-lists and those with levels are compiled
 * elsewhere. */
const void *search_kernel(const hw_delta_params *params)
{
    const int kind = params->config.kind;

    if (params->queues.lightest_out)
        return hw_peer_delta_directed_kernel(kind);
    if (params->sent_levels)
        return hw_peer_delta_levels_kernel(kind);
    if (kind == HW_GPU_KEY_F32)
        return reinterpret_cast<const void *>(delta_stepping<HW_GPU_KEY_F32, peer_gpus<false>>);
    if (kind == HW_GPU_KEY_I32)
        return reinterpret_cast<const void *>(delta_stepping<HW_GPU_KEY_I32, peer_gpus<false>>);
    return reinterpret_cast<const void *>(delta_stepping<HW_GPU_KEY_I64, peer_gpus<false>>);
}

} // namespace
} // namespace hw_delta::search

using namespace hw_delta::search;

int hw_peer_delta_shape(const hw_delta_params *params, hw_delta_shape *shape)
{
    return with_kind_and_backend(params, [=](auto, auto backend) {
        return choose_shape<decltype(backend)>(search_kernel(params), shape);
    });
}

int hw_peer_delta_launch_lightest(const hw_delta_params *params, uint32_t *core)
{
    cudaError_t error = cudaMemsetAsync(core, 0, sizeof *core, nullptr);

    if (error != cudaSuccess)
        return error;
    return with_kind_and_backend(params, [=](auto, auto backend) {
        const kernel_params<decltype(backend)> all = {*params};
        const uint32_t active = params->vertices.active;
        hw_delta_lightest *out = params->queues.lightest_out;

        copy_lightest<decltype(backend)>
            <<<512, 256>>>(all, params->in, active, params->queues.lightest, core);
        if (out)
            copy_lightest<decltype(backend)><<<512, 256>>>(all, params->out, active, out, nullptr);
        return static_cast<int>(cudaGetLastError());
    });
}

int hw_peer_delta_launch(const hw_delta_params *params, const hw_delta_search *search,
                         const hw_delta_shape *shape)
{
    return launch_search(search_kernel(params), params, search, shape);
}

int hw_internode_delta_shape(const void *kernel, hw_delta_shape *shape)
{
    static_assert(sizeof(block_shared<internode_gpus<false>>) ==
                      sizeof(block_shared<internode_gpus<true>>),
                  "one size");
    return choose_shape<internode_gpus<false>>(kernel, shape);
}

int hw_internode_delta_launch_kernel(const void *kernel, const void *all,
                                     const hw_delta_params *params, const hw_delta_search *search,
                                     const hw_delta_shape *shape)
{
    return launch_search_with(kernel, all, params, search, shape);
}

int hw_peer_delta_launch_forget(const hw_delta_params *params, uint32_t root)
{
    return with_kind_and_backend(params, [=](auto k, auto backend) {
        const kernel_params<decltype(backend)> all = {*params};

        forget_remote<decltype(k)::kind, decltype(backend)><<<1024, 256>>>(all, root);
        return static_cast<int>(cudaGetLastError());
    });
}

int hw_peer_delta_launch_results(const hw_delta_params *params, const hw_delta_results *results,
                                 uint32_t root, int blocks)
{
    return with_kind_and_backend(params, [=](auto k, auto backend) {
        const kernel_params<decltype(backend)> all = {*params};

        write_results<decltype(k)::kind, decltype(backend)><<<blocks, 256>>>(all, *results, root);
        return static_cast<int>(cudaGetLastError());
    });
}
