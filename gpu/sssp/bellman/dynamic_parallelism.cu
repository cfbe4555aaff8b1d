/*
 * One phase of `bellman-ford` whose long lists are relaxed by kernels that it launches
 * (dynamic parallelism, section 5.3 of the paper). It alone needs relocatable device
 * code and the device runtime, so it has a file and a link step of its own.
 */
#include "gpu/sssp/bellman/relax_frontier.cuh"

namespace
{

using kernel_params = hw_bellman_params;

/* Edges that a block of such a kernel relaxes, and blocks at most. */
constexpr uint64_t block_edges = 8192, most_blocks = 1024;

template <int kind, bool words, typename Offset>
__global__ void __launch_bounds__(hw_bellman_threads)
    long_list(const kernel_params plan, uint32_t u, typename hw_keys<kind>::type from, Offset begin,
              Offset length)
{
    __shared__ hw_bellman_shared shared;
    const hw_bellman_control *control = plan.control;
    hw_bellman_worker<kind, words, Offset, hw_bellman_no_launch> worker(
        plan, shared, control->state, control->pile.key);
    const uint64_t step = static_cast<uint64_t>(gridDim.x) * hw_bellman_warps * HW_BELLMAN_PIECE;

    if (threadIdx.x == 0)
        worker.clear(shared);
    __syncthreads();
    worker.first = worker.phase == 1 && worker.queues;
    for (uint64_t k = static_cast<uint64_t>(worker.number()) * HW_BELLMAN_PIECE; k < length;
         k += step) {
        const uint64_t left = length - k;
        worker.list(u, from, static_cast<Offset>(begin + k),
                    static_cast<Offset>(left < HW_BELLMAN_PIECE ? left : HW_BELLMAN_PIECE));
    }
    worker.flush(&worker.ring->tail);
    worker.count_up(shared);
}

struct launcher {
    static constexpr bool launches = true;

    template <int kind, bool words, typename Offset>
    static __device__ void go(const kernel_params &plan, uint32_t u,
                              typename hw_keys<kind>::type from, Offset begin, Offset length)
    {
        const uint64_t wanted = (length + block_edges - 1) / block_edges;
        const unsigned blocks = static_cast<unsigned>(wanted < most_blocks ? wanted : most_blocks);

        long_list<kind, words, Offset><<<blocks, hw_bellman_threads, 0, cudaStreamFireAndForget>>>(
            plan, u, from, begin, length);
        if (cudaGetLastError() != cudaSuccess)
            atomicAdd(&plan.control->failures, 1u);
        else
            atomicAdd(&plan.control->launches, 1u);
    }
};

template <int kind, bool words, typename Offset>
__global__ void __launch_bounds__(hw_bellman_threads) phase_of(const kernel_params plan)
{
    __shared__ hw_bellman_shared shared;
    const hw_bellman_control *control = plan.control;
    hw_bellman_worker<kind, words, Offset, launcher> worker(plan, shared, control->state,
                                                            control->pile.key);

    worker.work(shared);
}

/* After a sweep: collects where that is due. */
template <int kind, bool words, typename Offset>
__global__ void __launch_bounds__(hw_bellman_threads) collect(const kernel_params plan)
{
    __shared__ hw_bellman_shared shared;
    hw_bellman_state next = plan.control->state;
    hw_bellman_pile pile = plan.control->pile;
    hw_bellman_worker<kind, words, Offset, hw_bellman_no_launch> worker(plan, shared, next,
                                                                        pile.key);

    if (hw_bellman_advance(plan, *worker.ring, next, pile))
        worker.collect();
}

/* What follows; keeps the row. One thread. */
__global__ void decide(const kernel_params plan)
{
    hw_bellman_control *control = plan.control;
    const hw_bellman_state state = control->state;
    const hw_bellman_ring &ring = control->ring[(state.phase + 1) & 3];
    const uint32_t bucket = control->pile.number;

    if (hw_bellman_advance(plan, ring, control->state, control->pile))
        control->state.count = ring.collected;
    hw_bellman_keep(plan, state.phase + 1,
                    hw_bellman_routine(plan, state, hw_bellman_width(plan, state.count)), bucket);
}

template <int kind, bool words, typename Offset>
void launch_phase(const kernel_params &plan, int blocks, bool sweeps)
{
    phase_of<kind, words, Offset><<<blocks, hw_bellman_threads>>>(plan);
    if (sweeps)
        collect<kind, words, Offset><<<blocks, hw_bellman_threads>>>(plan);
    decide<<<1, 1>>>(plan);
}

template <typename Offset> void launch(const kernel_params &plan, int blocks, bool sweeps)
{
    if (plan.paths.kind == HW_GPU_KEY_I64)
        launch_phase<HW_GPU_KEY_I64, false, Offset>(plan, blocks, sweeps);
    else if (plan.paths.kind == HW_GPU_KEY_I32 && plan.word)
        launch_phase<HW_GPU_KEY_I32, true, Offset>(plan, blocks, sweeps);
    else if (plan.paths.kind == HW_GPU_KEY_I32)
        launch_phase<HW_GPU_KEY_I32, false, Offset>(plan, blocks, sweeps);
    else if (plan.word)
        launch_phase<HW_GPU_KEY_F32, true, Offset>(plan, blocks, sweeps);
    else
        launch_phase<HW_GPU_KEY_F32, false, Offset>(plan, blocks, sweeps);
}

} // namespace

int hw_bellman_launch_dynamic(const hw_bellman_params *plan, int blocks, int sweeps)
{
    if (plan->graph.wide)
        launch<uint64_t>(*plan, blocks, sweeps);
    else
        launch<uint32_t>(*plan, blocks, sweeps);
    return cudaGetLastError();
}

int hw_bellman_launch_limit(uint64_t launches)
{
    return cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount,
                              launches < 2048 ? 2048 : launches);
}
