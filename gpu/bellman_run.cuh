/*
 * Many phases of `bellman-ford` and `near-far` in one cooperative kernel. The phase itself is
 * in bellman.cuh.
 */
#ifndef HOPWAVE_GPU_BELLMAN_RUN_CUH
#define HOPWAVE_GPU_BELLMAN_RUN_CUH

#include "bellman.cuh"
#include "bellman_run.h"

#include <cooperative_groups.h>

/* Splits the far pile. All threads of the grid call. */
template <class worker_t>
__device__ hw_bellman_state hw_bellman_split(const hw_bellman_plan &plan, hw_bellman_shared &shared,
                                             const hw_bellman_state &state,
                                             cooperative_groups::grid_group &grid)
{
    hw_bellman_pile &pile = plan.control->pile[plan.splits & 1];
    /* The phase that would have filled the queue. */
    hw_bellman_state before = state;

    before.phase--;
    before.turn--;
    before.tier = plan.tiers;
    before.source = HW_FROM_QUEUE;
    if (hw_first() == 0) {
        hw_bellman_pile &other = plan.control->pile[(plan.splits & 1) ^ 1];
        other.ring = hw_bellman_ring{};
        other.least = INT64_MAX;
    }
    if (threadIdx.x == 0)
        worker_t::clear(shared);
    __syncthreads();
    worker_t worker(plan, shared, before);
    worker.take_far(shared, pile);
    grid.sync();
    return hw_bellman_after_split(plan, pile.ring, state);
}

template <int kind, bool words, typename Offset>
__global__ void __launch_bounds__(hw_bellman_threads)
    hw_bellman_phases(const hw_bellman_plan plan, uint32_t last)
{
    using worker_t = hw_bellman_worker<kind, words, Offset, hw_bellman_no_launch>;
    __shared__ hw_bellman_shared shared;
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    hw_bellman_control *control = plan.control;
    const bool speaks = hw_first() == 0;
    hw_bellman_state state = control->state;

    if (plan.split)
        state = hw_bellman_split<worker_t>(plan, shared, state, grid);
    while (state.source != HW_FROM_END && state.phase < last) {
        worker_t worker(plan, shared, state);
        const uint32_t width = hw_bellman_width(plan, state.count);
        bool collect;
        worker.work(shared);
        grid.sync();
        hw_bellman_ring *ring = hw_bellman_ring_of(plan, state.phase + 1);
        hw_bellman_state next = hw_bellman_advance(plan, *ring, state, &collect);
        if (collect) {
            worker.collect();
            grid.sync();
            next.count = ring->collected;
        }
        if (speaks)
            hw_bellman_keep(plan, next.phase, hw_bellman_routine(plan, state, width));
        state = next;
    }
    grid.sync(); /* all have read the control */
    if (speaks)
        control->state = state;
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
cudaError_t hw_bellman_run_of(const hw_bellman_plan &plan, int blocks, uint32_t last)
{
    hw_bellman_plan own = plan;
    void *arguments[] = {&own, &last};

    return cudaLaunchCooperativeKernel(hw_bellman_phases<kind, words, Offset>, dim3(blocks),
                                       dim3(hw_bellman_threads), arguments, 0, 0);
}

/* By the width of offsets, and whether distances and phases share words. */
template <int kind> cudaError_t hw_bellman_shape_any(const hw_bellman_plan &plan, int *blocks)
{
    if constexpr (kind != HW_GPU_KEY_I64)
        if (plan.word)
            return plan.graph.wide ? hw_bellman_shape_of<kind, true, uint64_t>(blocks)
                                   : hw_bellman_shape_of<kind, true, uint32_t>(blocks);
    return plan.graph.wide ? hw_bellman_shape_of<kind, false, uint64_t>(blocks)
                           : hw_bellman_shape_of<kind, false, uint32_t>(blocks);
}

template <int kind>
cudaError_t hw_bellman_run_any(const hw_bellman_plan &plan, int blocks, uint32_t last)
{
    if constexpr (kind != HW_GPU_KEY_I64)
        if (plan.word)
            return plan.graph.wide ? hw_bellman_run_of<kind, true, uint64_t>(plan, blocks, last)
                                   : hw_bellman_run_of<kind, true, uint32_t>(plan, blocks, last);
    return plan.graph.wide ? hw_bellman_run_of<kind, false, uint64_t>(plan, blocks, last)
                           : hw_bellman_run_of<kind, false, uint32_t>(plan, blocks, last);
}

#endif
