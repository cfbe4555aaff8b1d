/*
 * Method `delegates`: launchers of the parts of a step: visits, barriers, reduction, previsit, and
 * of small steps. Instantiations for 1, 3 and 7 other parts differ in registers.
 */
#include "gpu/bfs/delegates/delegates_small_steps.cuh"
#include "gpu/device/launch.h"

namespace hw_delegates
{

/* Blocks that combine masks. */
static int reduction_blocks(const hw_gpu_delegates_params *params)
{
    return blocks_for(params, 4ull * params->graph.mask_words);
}

/* Whether a separate kernel fetches masks: only few blocks may wait for other GPUs, since waiting
 * blocks occupy multiprocessors that the awaited work may need. */
static bool fetches_masks(const hw_gpu_delegates_params *params)
{
    return params->peers.masks > 0 && reduction_blocks(params) > max_fetch_blocks;
}

/* Blocks of that kernel. */
static int fetch_blocks(const hw_gpu_delegates_params *params)
{
    const uint64_t wanted = (params->peers.mask_stride / 4 + threads - 1) / threads;

    return static_cast<int>(min(wanted, uint64_t{max_fetch_blocks}));
}

/* Small steps, too, use fewer registers where there are few other parts. */
static const void *small_kernel(const hw_gpu_delegates_params *params)
{
    if (params->peers.masks <= 1)
        return reinterpret_cast<const void *>(small_steps<1>);
    if (params->peers.masks <= 3)
        return reinterpret_cast<const void *>(small_steps<3>);
    return reinterpret_cast<const void *>(small_steps<HW_GPU_DELEGATES_MAX_PEERS - 1>);
}

extern "C" int hw_gpu_delegates_shape(hw_gpu_delegates_params *params)
{
    const void *kernels[2] = {reinterpret_cast<const void *>(visit<HW_GPU_DD, HW_GPU_ND, false>),
                              reinterpret_cast<const void *>(visit<HW_GPU_DN, HW_GPU_NN, false>)};
    int multiprocessors = 0, blocks = 0;
    int error = hw_multiprocessors(&multiprocessors);

    params->config.blocks = 8 * multiprocessors;
    for (int k = 0; k < 2 && error == cudaSuccess; k++) {
        error = hw_resident_grid(kernels[k], threads, 0, HW_ALL_RESIDENT_BLOCKS, &blocks);
        params->config.visit_blocks[k] = blocks;
    }
    if (error == cudaSuccess) /* barriers of more than one block a multiprocessor take longer */
        error = hw_resident_grid(small_kernel(params), threads, 0, 1, &blocks);
    params->config.small_blocks = blocks;
    params->config.may_visit_twice = !params->config.host_staged && fetches_masks(params);
    return error;
}

extern "C" int hw_gpu_delegates_visit(const hw_gpu_delegates_params *params, bool delegates,
                                      void *stream)
{
    const cudaStream_t to = static_cast<cudaStream_t>(stream);

    if (delegates)
        visit<HW_GPU_DD, HW_GPU_ND, false>
            <<<params->config.visit_blocks[0], threads, 0, to>>>(*params);
    else
        visit<HW_GPU_DN, HW_GPU_NN, false>
            <<<params->config.visit_blocks[1], threads, 0, to>>>(*params);
    return cudaGetLastError();
}

/* Reductions over few other parts use fewer registers. */
template <bool with_barrier>
static int launch_reduce(const hw_gpu_delegates_params *params, void *stream)
{
    if (params->peers.masks <= 1)
        reduce<with_barrier, 1>
            <<<reduction_blocks(params), threads, 0, stream_of(stream)>>>(*params);
    else if (params->peers.masks <= 3)
        reduce<with_barrier, 3>
            <<<reduction_blocks(params), threads, 0, stream_of(stream)>>>(*params);
    else
        reduce<with_barrier, HW_GPU_DELEGATES_MAX_PEERS - 1>
            <<<reduction_blocks(params), threads, 0, stream_of(stream)>>>(*params);
    return cudaGetLastError();
}

extern "C" int hw_gpu_delegates_visit_again(const hw_gpu_delegates_params *params, void *stream)
{
    fetch_early<<<fetch_blocks(params), threads, 0, stream_of(stream)>>>(*params);
    visit<HW_GPU_DD, HW_GPU_ND, true>
        <<<params->config.visit_blocks[0], threads, 0, stream_of(stream)>>>(*params);
    return cudaGetLastError();
}

extern "C" int hw_gpu_delegates_barrier_reduce(const hw_gpu_delegates_params *params, void *stream)
{
    if (!fetches_masks(params))
        return launch_reduce<true>(params, stream);
    fetch<<<fetch_blocks(params), threads, 0, stream_of(stream)>>>(*params);
    const int packed_id = cudaGetLastError();
    return packed_id == cudaSuccess ? hw_gpu_delegates_reduce(params, stream) : packed_id;
}

extern "C" int hw_gpu_delegates_reduce(const hw_gpu_delegates_params *params, void *stream)
{
    return launch_reduce<false>(params, stream);
}

template <uint32_t max_peers>
static void launch_write_pending(const hw_gpu_delegates_params *params, void *stream)
{
    write_pending_levels<max_peers>
        <<<reduction_blocks(params), threads, 0, stream_of(stream)>>>(*params);
}

extern "C" int hw_gpu_delegates_write_pending(const hw_gpu_delegates_params *params, void *stream)
{
    if (params->peers.masks <= 1)
        launch_write_pending<1>(params, stream);
    else if (params->peers.masks <= 3)
        launch_write_pending<3>(params, stream);
    else
        launch_write_pending<HW_GPU_DELEGATES_MAX_PEERS - 1>(params, stream);
    return cudaGetLastError();
}

extern "C" int hw_gpu_delegates_receive(const hw_gpu_delegates_params *params, void *stream)
{
    const int blocks = params->graph.parts > 1 ? params->config.blocks / 4 + 1 : 1;

    receive<<<blocks, threads, 0, stream_of(stream)>>>(*params);
    return cudaGetLastError();
}

extern "C" int hw_gpu_delegates_advance(const hw_gpu_delegates_params *params, void *stream)
{
    previsit<<<blocks_for(params, 2ull * params->graph.slot_words), threads, 0,
               stream_of(stream)>>>(*params);
    return cudaGetLastError();
}

extern "C" int hw_gpu_delegates_small(const hw_gpu_delegates_params *params, void *stream)
{
    hw_gpu_delegates_params own = *params;
    void *arguments[] = {&own};

    return cudaLaunchCooperativeKernel(small_kernel(params), dim3(params->config.small_blocks),
                                       dim3(threads), arguments, 0, stream_of(stream));
}

extern "C" int hw_gpu_delegates_begin(const hw_gpu_delegates_params *params,
                                      const hw_gpu_delegates_root *root, void *stream)
{
    const graph_t &graph = params->graph;
    const cudaStream_t to = stream_of(stream);
    const uint64_t codes = static_cast<uint64_t>(graph.parts) * graph.slots;
    const uint64_t words = max(graph.mask_words, graph.slot_words);
    cudaError_t error = cudaSuccess;

    if (params->config.host_staged) /* replies must come from this search */
        error =
            cudaMemsetAsync(params->search.candidate, 0xff, graph.delegates * sizeof(uint32_t), to);
    if (error == cudaSuccess && params->canonical.delegate_level)
        error = cudaMemsetAsync(params->canonical.delegate_level, 0xff,
                                graph.delegates * sizeof(int32_t), to);
    if (error == cudaSuccess && params->sent_bits)
        error = cudaMemsetAsync(params->sent_bits, 0, (codes + 31) / 32 * 4, to);
    if (error != cudaSuccess)
        return error;
    start<<<blocks_for(params, words), threads, 0, to>>>(*params, *root);
    const int packed_id = cudaGetLastError();
    return packed_id == cudaSuccess && !params->config.host_staged
               ? hw_gpu_delegates_small(params, stream)
               : packed_id;
}

} // namespace hw_delegates
