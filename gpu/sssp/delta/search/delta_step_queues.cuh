/*
 * Filling the queues of delta-stepping between steps and buckets
 * (gpu/sssp/delta/delta_search.h): the step queue holds the vertices to be pushed next, the rest
 * queue the other vertices of the bucket.
 */
#ifndef HOPWAVE_GPU_SSSP_DELTA_SEARCH_DELTA_STEP_QUEUES_CUH
#define HOPWAVE_GPU_SSSP_DELTA_SEARCH_DELTA_STEP_QUEUES_CUH

#include "gpu/sssp/delta/search/delta_keys.cuh"

namespace hw_delta::search
{
namespace
{

/* Queues all vertices in the bucket. */
template <int kind, class Peers>
__device__ void enqueue_bucket(const kernel_params<Peers> &params, block_shared<Peers> &shared,
                               lane_state<kind> &state)
{
    for (uint64_t g = hw_grid_thread() / 32; g < num_groups(params); g += hw_grid_threads() / 32) {
        const key_group<kind> keys = load_keys<kind>(params, g, state.bound.low - 1);
#pragma unroll
        for (uint32_t k = 0; k < group_words; k++) {
            const key_of<kind> key = keys.key[k];
            const bool inside = key >= state.bound.low && key < state.bound.high;
            count_beyond(state, key >= state.bound.high, key);
            if (__any_sync(HW_WARP, inside))
                enqueue(shared, state, inside, keys.first + 32 * k, key);
        }
    }
}

/* Copies the step queue to that of the next iteration. */
template <int kind, class Peers>
__device__ void requeue_step(const kernel_params<Peers> &params, block_shared<Peers> &shared,
                             lane_state<kind> &state, uint32_t count)
{
    const uint32_t *list = by_parity(params.queues.step_queue, state.iteration);
    uint32_t *bits = by_parity(params.queues.step_marks, state.iteration);
    const uint32_t lane = threadIdx.x & 31;

    for (uint64_t i = hw_grid_thread(); i - lane < count; i += hw_grid_threads()) {
        const uint32_t v = i < count ? __ldcg(list + i) : 0;
        if (i < count)
            bits[v >> 5] = 0; /* all bits of the word belong to this iteration */
        buffer_vertex(shared, step_queue, state.step_count, i < count, v);
    }
}

/* Moves the vertices of the step from the rest queue to the step queue; drops those that were
 * settled meanwhile. */
template <int kind, class Peers>
__device__ void refill_step(const kernel_params<Peers> &params, block_shared<Peers> &shared,
                            lane_state<kind> &state, const uint32_t *list, uint32_t count,
                            key_of<kind> settled)
{
    const uint32_t lane = threadIdx.x & 31;

    for (uint64_t i = hw_grid_thread(); i - lane < count; i += hw_grid_threads()) {
        const uint32_t v = i < count ? __ldcg(list + i) : HW_INVALID_VERTEX;
        const key_of<kind> key = i < count ? __ldcg(own_key_at<kind>(params, v)) : 0;
        const bool there = i < count && key >= settled;
        const bool in_step = there && key < state.bound.step_end;
        if (i < count && !(there && !in_step)) /* vertices that go on waiting keep their marks */
            atomicAnd(params.queues.rest_marks + (v >> 5), ~(1u << (v & 31)));
        if (there && !in_step)
            state.min_key = min(state.min_key, key);
        buffer_vertex(shared, step_queue, state.step_count, in_step, v);
        buffer_vertex(shared, rest_queue, state.rest_count, there && !in_step, v);
    }
}

/* The same for many vertices: which ones wait follows from the keys of all, and the queues are in
 * the order of vertices, so that what is read of neighboring ones lies together. Counts the
 * vertices that wait; queues them, too, if `queues`. */
template <int kind, class Peers>
__device__ void sweep_step(const kernel_params<Peers> &params, block_shared<Peers> &shared,
                           lane_state<kind> &state, key_of<kind> settled, bool queues)
{
    const uint32_t lane = threadIdx.x & 31;
    uint32_t waiting = 0;

    for (uint64_t g = hw_grid_thread() / 32; g < num_groups(params); g += hw_grid_threads() / 32) {
        const key_group<kind> keys = load_keys<kind>(params, g, settled - 1);
        prefetch_keys<kind>(params, g + hw_grid_threads() / 32);
#pragma unroll
        for (uint32_t k = 0; k < group_words; k++) {
            const key_of<kind> key = keys.key[k];
            const uint32_t v = keys.first + 32 * k;
            const bool in_step = key >= settled && key < state.bound.step_end,
                       waits = key >= state.bound.step_end && key < state.bound.high;
            const uint32_t all = __ballot_sync(HW_WARP, waits);
            if (lane == 0 && v < params.vertices.core)
                params.queues.rest_marks[v >> 5] = queues ? all : 0;
            if (waits)
                state.min_key = min(state.min_key, key);
            buffer_vertex(shared, step_queue, state.step_count, in_step, v);
            if (queues)
                buffer_vertex(shared, rest_queue, state.rest_count, waits, v);
            else
                waiting += __popc(all);
        }
    }
    if (lane == 0 && waiting > 0)
        atomicAdd(shared.queue[rest_queue].counter, waiting);
}

} // namespace
} // namespace hw_delta::search

#endif
