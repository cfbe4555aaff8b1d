/*
 * `bellman-ford`: one phase whose kernel launches further kernels for long lists (dynamic
 * parallelism, section 5.3 of Busato and Bombieri, 2015). Only this file needs relocatable device
 * code and the device runtime; hence it has a link step of its own.
 */
#include "gpu/sssp/bellman/phase_schedule.cuh"
#include "gpu/sssp/bellman/relax_phase.cuh"

namespace
{

using namespace bellman_ford;

using kernel_params = hw_bellman_params;

/* Of a kernel for one long list: edges per block, and blocks at most. */
constexpr uint64_t block_edges = 8192, max_blocks = 1024;

template <int kind, int removal, typename Offset>
__global__ void __launch_bounds__(block_threads)
    long_list(const kernel_params params, uint32_t u, typename hw_keys<kind>::type from,
              Offset begin, Offset length)
{
    __shared__ block_shared shared;
    const hw_bellman_control *control = params.control;
    lane_state<kind, removal, Offset, no_launch> lane(params, shared, control->state,
                                                      control->pile.limit_key);
    const uint64_t step = static_cast<uint64_t>(gridDim.x) * block_warps * HW_BELLMAN_CHUNK_EDGES;

    if (threadIdx.x == 0)
        clear_block_counters(shared);
    __syncthreads();
    lane.root_only = lane.phase == 1 && lane.enqueues;
    for (uint64_t k = static_cast<uint64_t>(warp_number(lane)) * HW_BELLMAN_CHUNK_EDGES; k < length;
         k += step) {
        const uint64_t left = length - k;
        relax_list(
            lane, u, from, static_cast<Offset>(begin + k),
            static_cast<Offset>(left < HW_BELLMAN_CHUNK_EDGES ? left : HW_BELLMAN_CHUNK_EDGES));
    }
    flush_staged(lane, &lane.counters->queue_tail);
    add_counters(lane, shared);
}

struct launcher {
    static constexpr bool launches = true;

    template <int kind, int removal, typename Offset>
    static __device__ void go(const kernel_params &params, uint32_t u,
                              typename hw_keys<kind>::type from, Offset begin, Offset length)
    {
        const uint64_t wanted = (length + block_edges - 1) / block_edges;
        const unsigned blocks = static_cast<unsigned>(wanted < max_blocks ? wanted : max_blocks);

        long_list<kind, removal, Offset>
            <<<blocks, block_threads, 0, cudaStreamFireAndForget>>>(params, u, from, begin, length);
        if (cudaGetLastError() != cudaSuccess)
            atomicAdd(&params.control->failures, 1u);
        else
            atomicAdd(&params.control->launches, 1u);
    }
};

/* One phase. 106 to 120 registers (CUDA 13.0, sm_90, 26 November 2026): as with any number from 81
 * to 128, two blocks are resident per multiprocessor. */
template <int kind, int removal, typename Offset>
__global__ void __launch_bounds__(block_threads) phase_of(const kernel_params params)
{
    __shared__ block_shared shared;
    const hw_bellman_control *control = params.control;
    lane_state<kind, removal, Offset, launcher> lane(params, shared, control->state,
                                                     control->pile.limit_key);

    relax_phase(lane, shared);
}

/* After a sweep: fills the next queue where advance_phase() asks for it. */
template <int kind, int removal, typename Offset>
__global__ void __launch_bounds__(block_threads) collect(const kernel_params params)
{
    __shared__ block_shared shared;
    hw_bellman_state next = params.control->state;
    hw_bellman_pile pile = params.control->pile;
    lane_state<kind, removal, Offset, no_launch> lane(params, shared, next, pile.limit_key);

    if (advance_phase(params, *lane.counters, next, pile))
        collect_frontier(lane);
}

/* Advances to the next phase and appends the trace record. One thread. */
__global__ void decide(const kernel_params params)
{
    hw_bellman_control *control = params.control;
    const hw_bellman_state state = control->state;
    const hw_bellman_counters &counters = control->ring[(state.phase + 1) & 3];
    const uint32_t bucket = control->pile.number;

    if (advance_phase(params, counters, control->state, control->pile))
        control->state.queue_size = counters.collected;
    append_trace(params, state.phase + 1,
                 trace_routine(params, state, lanes_per_vertex(params, state.queue_size)), bucket);
}

template <int kind, int removal, typename Offset>
void launch_phase(const kernel_params &params, int blocks, bool sweeps)
{
    phase_of<kind, removal, Offset><<<blocks, block_threads>>>(params);
    if (sweeps)
        collect<kind, removal, Offset><<<blocks, block_threads>>>(params);
    decide<<<1, 1>>>(params);
}

template <int kind, typename Offset>
void launch_kind(const kernel_params &params, int blocks, bool sweeps)
{
    if constexpr (kind != HW_GPU_KEY_I64)
        if (params.state.packed_word) {
            launch_phase<kind, HW_BELLMAN_DUPLICATES_BY_WORD, Offset>(params, blocks, sweeps);
            return;
        }
    if (params.config.duplicates == HW_BELLMAN_DUPLICATES_ALLOWED)
        launch_phase<kind, HW_BELLMAN_DUPLICATES_ALLOWED, Offset>(params, blocks, sweeps);
    else
        launch_phase<kind, HW_BELLMAN_DUPLICATES_BY_MARK, Offset>(params, blocks, sweeps);
}

template <typename Offset> void launch(const kernel_params &params, int blocks, bool sweeps)
{
    if (params.paths.kind == HW_GPU_KEY_I64)
        launch_kind<HW_GPU_KEY_I64, Offset>(params, blocks, sweeps);
    else if (params.paths.kind == HW_GPU_KEY_I32)
        launch_kind<HW_GPU_KEY_I32, Offset>(params, blocks, sweeps);
    else
        launch_kind<HW_GPU_KEY_F32, Offset>(params, blocks, sweeps);
}

} // namespace

int hw_bellman_launch_dynamic(const hw_bellman_params *params, int blocks, int sweeps)
{
    if (params->graph.wide)
        launch<uint64_t>(*params, blocks, sweeps);
    else
        launch<uint32_t>(*params, blocks, sweeps);
    return cudaGetLastError();
}

int hw_bellman_set_launch_limit(uint64_t launches)
{
    return cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount,
                              launches < 2048 ? 2048 : launches);
}
