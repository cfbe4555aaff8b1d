/*
 * Many phases of `bellman-ford` and `near-far` in one cooperative kernel. The phase itself is
 * in gpu/sssp/bellman/relax_frontier.cuh.
 */
#ifndef HOPWAVE_GPU_SSSP_BELLMAN_PHASE_LOOP_CUH
#define HOPWAVE_GPU_SSSP_BELLMAN_PHASE_LOOP_CUH

#include "gpu/sssp/bellman/phase_loop.h"
#include "gpu/sssp/bellman/relax_frontier.cuh"

#include <cooperative_groups.h>

/* Blocks of a multiprocessor at once, at least: so many registers a thread that few are spilt. */
constexpr int hw_bellman_blocks = 4;

template <int kind, bool words, typename Offset>
__global__ void __launch_bounds__(hw_bellman_threads, hw_bellman_blocks)
    hw_bellman_phases(const hw_bellman_params plan, uint32_t last)
{
    using worker_t = hw_bellman_worker<kind, words, Offset, hw_bellman_no_launch>;
    __shared__ hw_bellman_shared shared;
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    hw_bellman_control *control = plan.control;
    const bool speaks = hw_grid_thread() == 0;

    if (threadIdx.x == 0) {
        shared.state = control->state;
        shared.pile = control->pile;
    }
    __syncthreads();
    while (shared.state.source != HW_FROM_END && shared.state.phase < last) {
        worker_t worker(plan, shared, shared.state, shared.pile.key);
        const uint32_t width = hw_bellman_width(plan, worker.state.count);
        const uint32_t bucket = shared.pile.number;
        worker.work(shared);
        grid.sync();
        /* One thread of a block decides; those of all blocks come to the same. */
        if (threadIdx.x == 0)
            shared.collects = hw_bellman_advance(plan, *worker.ring, shared.state, shared.pile);
        __syncthreads();
        if (shared.collects) {
            worker.collect();
            grid.sync();
            if (threadIdx.x == 0)
                shared.state.count = worker.ring->collected;
            __syncthreads();
        }
        if (speaks)
            hw_bellman_keep(plan, worker.phase, hw_bellman_routine(plan, worker.state, width),
                            bucket);
    }
    grid.sync(); /* all have read the control */
    if (speaks) {
        control->state = shared.state;
        control->pile = shared.pile;
    }
}

template <int kind, bool words, typename Offset> cudaError_t hw_bellman_shape_of(int *blocks)
{
    int device = 0, processors = 0, each = 0;
    cudaError_t error = cudaGetDevice(&device);

    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    if (error == cudaSuccess)
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
            &each, hw_bellman_phases<kind, words, Offset>, hw_bellman_threads, 0);
    *blocks = processors * each;
    return error;
}

template <int kind, bool words, typename Offset>
cudaError_t hw_bellman_run_of(const hw_bellman_params &plan, int blocks, uint32_t last)
{
    hw_bellman_params own = plan;
    void *arguments[] = {&own, &last};

    return cudaLaunchCooperativeKernel(hw_bellman_phases<kind, words, Offset>, dim3(blocks),
                                       dim3(hw_bellman_threads), arguments, 0, 0);
}

/* By the width of offsets, and whether distances and phases share words. */
template <int kind> cudaError_t hw_bellman_shape_any(const hw_bellman_params &plan, int *blocks)
{
    if constexpr (kind != HW_GPU_KEY_I64)
        if (plan.word)
            return plan.graph.wide ? hw_bellman_shape_of<kind, true, uint64_t>(blocks)
                                   : hw_bellman_shape_of<kind, true, uint32_t>(blocks);
    return plan.graph.wide ? hw_bellman_shape_of<kind, false, uint64_t>(blocks)
                           : hw_bellman_shape_of<kind, false, uint32_t>(blocks);
}

template <int kind>
cudaError_t hw_bellman_run_any(const hw_bellman_params &plan, int blocks, uint32_t last)
{
    if constexpr (kind != HW_GPU_KEY_I64)
        if (plan.word)
            return plan.graph.wide ? hw_bellman_run_of<kind, true, uint64_t>(plan, blocks, last)
                                   : hw_bellman_run_of<kind, true, uint32_t>(plan, blocks, last);
    return plan.graph.wide ? hw_bellman_run_of<kind, false, uint64_t>(plan, blocks, last)
                           : hw_bellman_run_of<kind, false, uint32_t>(plan, blocks, last);
}

#endif
