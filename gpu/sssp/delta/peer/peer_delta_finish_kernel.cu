/*
 * Delta-stepping on several GPUs of one node: the end of a search whose distances another kernel
 * found (gpu/sssp/delta/peer/peer_small_frontier_kernel.cu). Vertices of one edge, parents, the
 * report.
 */
#include "gpu/sssp/delta/peer/peer_small_frontier.h"
#include "gpu/sssp/delta/search/delta_launch.cuh"

namespace hw_delta::search
{
namespace
{

using backend = peer_gpus<false>;

template <int kind>
__global__ void __launch_bounds__(threads, 1)
    finish(const __grid_constant__ kernel_params<backend> params, const hw_delta_search request)
{
    copy_params(params);
    search_run<kind, backend> run = {{}, true};

    if (threadIdx.x == 0)
        shared_memory<backend>().rest_before = 0;
    run.search.allgather = request.first_allgather;
    run.ok = peer_barrier<backend>(run.search, UINT32_MAX); /* all GPUs' distances are there */
    if (run.ok) {
        trace_append(params, shared_memory<backend>(), run.search, HW_DELTA_ROUTINE_BEGIN);
        finish_search(run, request);
    }
    if (hw_grid_thread() == 0)
        write_report(run, request);
}

const void *finish_kernel(int kind)
{
    if (kind == HW_GPU_KEY_F32)
        return reinterpret_cast<const void *>(finish<HW_GPU_KEY_F32>);
    if (kind == HW_GPU_KEY_I32)
        return reinterpret_cast<const void *>(finish<HW_GPU_KEY_I32>);
    return reinterpret_cast<const void *>(finish<HW_GPU_KEY_I64>);
}

} // namespace
} // namespace hw_delta::search

using namespace hw_delta::search;

int hw_peer_delta_finish_shape(const hw_delta_params *params, hw_delta_shape *shape)
{
    return choose_shape<backend>(finish_kernel(params->config.kind), shape);
}

int hw_peer_delta_launch_finish(const hw_delta_params *params, const hw_delta_search *search,
                                const hw_delta_shape *shape)
{
    return launch_search(finish_kernel(params->config.kind), params, search, shape);
}
