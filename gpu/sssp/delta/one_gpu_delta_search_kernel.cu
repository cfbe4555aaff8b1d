/* Delta-stepping on one GPU: one cooperative kernel (gpu/sssp/delta/delta_search.h). */
#include "gpu/sssp/delta/search/delta_launch.cuh"

namespace
{

using namespace hw_delta::search;

template <class Peers> const void *kernel_of(int kind)
{
    if (kind == HW_GPU_KEY_F32)
        return reinterpret_cast<const void *>(delta_stepping<HW_GPU_KEY_F32, Peers>);
    if (kind == HW_GPU_KEY_I32)
        return reinterpret_cast<const void *>(delta_stepping<HW_GPU_KEY_I32, Peers>);
    return reinterpret_cast<const void *>(delta_stepping<HW_GPU_KEY_I64, Peers>);
}

template <class Peers> const void *search_kernel(const hw_delta_params *params, bool wide)
{
    return params->config.packs_hints ? hw_one_gpu_delta_packed_kernel(params->config.kind, wide)
                                      : kernel_of<Peers>(params->config.kind);
}

/* Calls what(backend) with the backend for the lists. */
template <class What> int with_backend(const hw_delta_params *params, bool wide, const What &what)
{
    const bool directed = params->queues.lightest_out != nullptr;

    if (wide && directed)
        return what(one_gpu<uint64_t, true>());
    if (wide)
        return what(one_gpu<uint64_t, false>());
    if (directed)
        return what(one_gpu<uint32_t, true>());
    return what(one_gpu<uint32_t, false>());
}

} // namespace

int hw_one_gpu_delta_search_shape(const hw_delta_params *params, bool wide, hw_delta_shape *shape)
{
    return with_backend(params, wide, [=](auto backend) {
        return choose_shape<decltype(backend)>(search_kernel<decltype(backend)>(params, wide),
                                               shape);
    });
}

int hw_one_gpu_delta_search_launch_lightest(const hw_delta_params *params, bool wide)
{
    return with_backend(params, wide, [=](auto backend) {
        const kernel_params<decltype(backend)> all = {*params};
        const hw_delta_vertices &vertices = params->vertices;
        hw_delta_lightest *out = params->queues.lightest_out;

        copy_lightest<decltype(backend)>
            <<<512, 256>>>(all, params->in, vertices.active, params->queues.lightest, nullptr);
        if (out)
            copy_lightest<decltype(backend)>
                <<<512, 256>>>(all, params->out, vertices.core, out, nullptr);
        return static_cast<int>(cudaGetLastError());
    });
}

int hw_one_gpu_delta_search_launch(const hw_delta_params *params, bool wide,
                                   const hw_delta_search *search, const hw_delta_shape *shape)
{
    return with_backend(params, wide, [=](auto backend) {
        return launch_search(search_kernel<decltype(backend)>(params, wide), params, search, shape);
    });
}
