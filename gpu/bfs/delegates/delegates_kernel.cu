/*
 * Method `delegates`: launchers of its visits and of what is between them, and of small steps.
 */
#include "gpu/bfs/delegates/delegates_small_steps.cuh"

namespace hw_delegates
{

/* Blocks that combine masks. */
static int combining(const hw_gpu_delegates_params *plan)
{
    return blocks_for(plan, 4ull * plan->graph.mask_words);
}

/* Whether a kernel of its own brings masks: few blocks may wait for other GPUs, lest they keep
 * others from what is waited for. */
static bool brings(const hw_gpu_delegates_params *plan)
{
    return plan->masks > 0 && combining(plan) > gathering;
}

/* Its blocks. */
static int bringing(const hw_gpu_delegates_params *plan)
{
    const uint64_t wanted = (plan->mask_stride / 4 + threads - 1) / threads;

    return static_cast<int>(min(wanted, uint64_t{gathering}));
}

/* Small steps take fewer registers, too, where there are few others. */
static const void *small_kernel(const hw_gpu_delegates_params *plan)
{
    if (plan->masks <= 1)
        return reinterpret_cast<const void *>(take_small<1>);
    if (plan->masks <= 3)
        return reinterpret_cast<const void *>(take_small<3>);
    return reinterpret_cast<const void *>(take_small<HW_GPU_DELEGATES_PEERS - 1>);
}

extern "C" int hw_gpu_delegates_shape(hw_gpu_delegates_params *plan)
{
    int device = 0, processors = 0;
    cudaError_t error = cudaGetDevice(&device);

    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    plan->blocks = 8 * processors;
    int each[2] = {0};
    if (error == cudaSuccess)
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
            each, visit<HW_GPU_DD, HW_GPU_ND, false>, threads, 0);
    if (error == cudaSuccess)
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
            each + 1, visit<HW_GPU_DN, HW_GPU_NN, false>, threads, 0);
    for (int k = 0; k < 2; k++)
        plan->visit_blocks[k] = each[k] * processors;
    plan->may_twice = !plan->carried && brings(plan);
    plan->small_blocks = processors; /* more would wait for each other longer */
    return error;
}

extern "C" int hw_gpu_delegates_visit(const hw_gpu_delegates_params *plan, bool delegates,
                                      void *stream)
{
    const cudaStream_t to = static_cast<cudaStream_t>(stream);

    if (delegates)
        visit<HW_GPU_DD, HW_GPU_ND, false><<<plan->visit_blocks[0], threads, 0, to>>>(*plan);
    else
        visit<HW_GPU_DN, HW_GPU_NN, false><<<plan->visit_blocks[1], threads, 0, to>>>(*plan);
    return cudaGetLastError();
}

/* Masks of few others take fewer registers. */
template <bool meets> static int launch_reduce(const hw_gpu_delegates_params *plan, void *stream)
{
    if (plan->masks <= 1)
        reduce<meets, 1><<<combining(plan), threads, 0, stream_of(stream)>>>(*plan);
    else if (plan->masks <= 3)
        reduce<meets, 3><<<combining(plan), threads, 0, stream_of(stream)>>>(*plan);
    else
        reduce<meets, HW_GPU_DELEGATES_PEERS - 1>
            <<<combining(plan), threads, 0, stream_of(stream)>>>(*plan);
    return cudaGetLastError();
}

extern "C" int hw_gpu_delegates_visit_again(const hw_gpu_delegates_params *plan, void *stream)
{
    bring_early<<<bringing(plan), threads, 0, stream_of(stream)>>>(*plan);
    visit<HW_GPU_DD, HW_GPU_ND, true>
        <<<plan->visit_blocks[0], threads, 0, stream_of(stream)>>>(*plan);
    return cudaGetLastError();
}

extern "C" int hw_gpu_delegates_meet(const hw_gpu_delegates_params *plan, void *stream)
{
    if (!brings(plan))
        return launch_reduce<true>(plan, stream);
    bring<<<bringing(plan), threads, 0, stream_of(stream)>>>(*plan);
    const int code = cudaGetLastError();
    return code == cudaSuccess ? hw_gpu_delegates_reduce(plan, stream) : code;
}

extern "C" int hw_gpu_delegates_reduce(const hw_gpu_delegates_params *plan, void *stream)
{
    return launch_reduce<false>(plan, stream);
}

template <uint32_t others>
static void launch_label(const hw_gpu_delegates_params *plan, void *stream)
{
    label_late<others><<<combining(plan), threads, 0, stream_of(stream)>>>(*plan);
}

extern "C" int hw_gpu_delegates_label(const hw_gpu_delegates_params *plan, void *stream)
{
    if (plan->masks <= 1)
        launch_label<1>(plan, stream);
    else if (plan->masks <= 3)
        launch_label<3>(plan, stream);
    else
        launch_label<HW_GPU_DELEGATES_PEERS - 1>(plan, stream);
    return cudaGetLastError();
}

extern "C" int hw_gpu_delegates_take(const hw_gpu_delegates_params *plan, void *stream)
{
    const int blocks = plan->graph.parts > 1 ? plan->blocks / 4 + 1 : 1;

    take<<<blocks, threads, 0, stream_of(stream)>>>(*plan);
    return cudaGetLastError();
}

/* The end of a step: previsit of the slots, and the decision. */
extern "C" int hw_gpu_delegates_advance(const hw_gpu_delegates_params *plan, void *stream)
{
    previsit<<<blocks_for(plan, 2ull * plan->graph.slot_words), threads, 0, stream_of(stream)>>>(
        *plan);
    return cudaGetLastError();
}

extern "C" int hw_gpu_delegates_small(const hw_gpu_delegates_params *plan, void *stream)
{
    hw_gpu_delegates_params own = *plan;
    void *arguments[] = {&own};

    return cudaLaunchCooperativeKernel(small_kernel(plan), dim3(plan->small_blocks), dim3(threads),
                                       arguments, 0, stream_of(stream));
}

extern "C" int hw_gpu_delegates_begin(const hw_gpu_delegates_params *plan,
                                      const hw_gpu_delegates_root *root, void *stream)
{
    const graph_t &graph = plan->graph;
    const cudaStream_t to = stream_of(stream);
    const uint64_t codes = static_cast<uint64_t>(graph.parts) * graph.slots;
    const uint64_t words = max(graph.mask_words, graph.slot_words);
    cudaError_t error = cudaSuccess;

    if (plan->carried) /* candidates of this search alone answer */
        error = cudaMemsetAsync(plan->candidate, 0xff, graph.delegates * sizeof(uint32_t), to);
    if (error == cudaSuccess && plan->delegate_level)
        error = cudaMemsetAsync(plan->delegate_level, 0xff, graph.delegates * sizeof(int32_t), to);
    if (error == cudaSuccess && plan->told)
        error = cudaMemsetAsync(plan->told, 0, (codes + 31) / 32 * 4, to);
    if (error != cudaSuccess)
        return error;
    start<<<blocks_for(plan, words), threads, 0, to>>>(*plan, *root);
    const int code = cudaGetLastError();
    return code == cudaSuccess && !plan->carried ? hw_gpu_delegates_small(plan, stream) : code;
}

} // namespace hw_delegates
