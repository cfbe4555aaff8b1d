/*
 * `bellman-ford` and `near-far`: many phases in one cooperative kernel, with a grid barrier after
 * each phase. The phase itself is in gpu/sssp/bellman/relax_phase.cuh.
 */
#ifndef HOPWAVE_GPU_SSSP_BELLMAN_PHASE_LOOP_PHASE_LOOP_CUH
#define HOPWAVE_GPU_SSSP_BELLMAN_PHASE_LOOP_PHASE_LOOP_CUH

#include "gpu/device/launch.h"
#include "gpu/sssp/bellman/phase_loop/phase_loop.h"
#include "gpu/sssp/bellman/phase_schedule.cuh"
#include "gpu/sssp/bellman/relax_phase.cuh"

#include <cooperative_groups.h>

namespace bellman_ford
{

/* Minimum of resident blocks per multiprocessor: leaves enough registers per thread that few are
 * spilled (at most 32 bytes of stack a thread; CUDA 13.0, sm_90, 26 November 2026). */
constexpr int blocks_per_sm = 4;

template <int kind, int removal, typename Offset>
__global__ void __launch_bounds__(block_threads, blocks_per_sm)
    run_phases(const hw_bellman_params params, uint32_t last)
{
    using lane_t = lane_state<kind, removal, Offset, no_launch>;
    __shared__ block_shared shared;
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    hw_bellman_control *control = params.control;
    const bool speaks = hw_grid_thread() == 0;

    if (threadIdx.x == 0) {
        shared.state = control->state;
        shared.pile = control->pile;
    }
    __syncthreads();
    while (shared.state.source != HW_FROM_END && shared.state.phase < last) {
        lane_t lane(params, shared, shared.state, shared.pile.limit_key);
        const uint32_t width = lanes_per_vertex(params, lane.state.queue_size);
        const uint32_t bucket = shared.pile.number;
        relax_phase(lane, shared);
        grid.sync();
        /* One thread per block decides, from the same counters; hence all blocks decide the same.
         */
        if (threadIdx.x == 0)
            shared.collects = advance_phase(params, *lane.counters, shared.state, shared.pile);
        __syncthreads();
        if (shared.collects) {
            collect_frontier(lane);
            grid.sync();
            if (threadIdx.x == 0)
                shared.state.queue_size = lane.counters->collected;
            __syncthreads();
        }
        if (speaks)
            append_trace(params, lane.phase, trace_routine(params, lane.state, width), bucket);
    }
    grid.sync(); /* all blocks have read the control */
    if (speaks) {
        control->state = shared.state;
        control->pile = shared.pile;
    }
}

template <int kind, int removal, typename Offset> int shape_of(int *blocks)
{
    return hw_resident_grid(reinterpret_cast<const void *>(run_phases<kind, removal, Offset>),
                            block_threads, 0, HW_ALL_RESIDENT_BLOCKS, blocks);
}

template <int kind, int removal, typename Offset>
cudaError_t run_of(const hw_bellman_params &params, int blocks, uint32_t last)
{
    hw_bellman_params own = params;
    void *arguments[] = {&own, &last};

    return cudaLaunchCooperativeKernel(run_phases<kind, removal, Offset>, dim3(blocks),
                                       dim3(block_threads), arguments, 0, 0);
}

/* Selects the instance by the width of offsets. */
template <int kind, int removal> int shape_by_offset(const hw_bellman_params &params, int *blocks)
{
    return params.graph.wide ? shape_of<kind, removal, uint64_t>(blocks)
                             : shape_of<kind, removal, uint32_t>(blocks);
}

template <int kind, int removal>
cudaError_t run_by_offset(const hw_bellman_params &params, int blocks, uint32_t last)
{
    return params.graph.wide ? run_of<kind, removal, uint64_t>(params, blocks, last)
                             : run_of<kind, removal, uint32_t>(params, blocks, last);
}

/* The same, and by how duplicates are removed. */
template <int kind> int shape_by_params(const hw_bellman_params &params, int *blocks)
{
    if constexpr (kind != HW_GPU_KEY_I64)
        if (params.state.packed_word)
            return shape_by_offset<kind, HW_BELLMAN_DUPLICATES_BY_WORD>(params, blocks);
    if (params.config.duplicates == HW_BELLMAN_DUPLICATES_ALLOWED)
        return shape_by_offset<kind, HW_BELLMAN_DUPLICATES_ALLOWED>(params, blocks);
    return shape_by_offset<kind, HW_BELLMAN_DUPLICATES_BY_MARK>(params, blocks);
}

template <int kind>
cudaError_t run_by_params(const hw_bellman_params &params, int blocks, uint32_t last)
{
    if constexpr (kind != HW_GPU_KEY_I64)
        if (params.state.packed_word)
            return run_by_offset<kind, HW_BELLMAN_DUPLICATES_BY_WORD>(params, blocks, last);
    if (params.config.duplicates == HW_BELLMAN_DUPLICATES_ALLOWED)
        return run_by_offset<kind, HW_BELLMAN_DUPLICATES_ALLOWED>(params, blocks, last);
    return run_by_offset<kind, HW_BELLMAN_DUPLICATES_BY_MARK>(params, blocks, last);
}

} // namespace bellman_ford

#endif
