/*
 * Which vertices a push of delta-stepping takes (gpu/sssp/delta/delta_search.h): those of the queue
 * and of updates from other GPUs, a portion for each warp; or all of the bucket, for its heavy
 * edges.
 */
#ifndef HOPWAVE_GPU_SSSP_DELTA_SEARCH_DELTA_PUSH_QUEUE_CUH
#define HOPWAVE_GPU_SSSP_DELTA_SEARCH_DELTA_PUSH_QUEUE_CUH

#include "gpu/sssp/delta/search/delta_push.cuh"

namespace hw_delta::search
{
namespace
{

/* Sends the key of an owned vertex to all other GPUs if it was broadcast and has been lowered
 * since. One vertex a lane, or none. */
template <int kind, class Peers>
__device__ __forceinline__ void rebroadcast_lowered(const kernel_params<Peers> &params,
                                                    const lane_state<kind> &state, uint32_t v)
{
    const uint32_t local_id = owned_begin(params) + v;

    if (state.rebroadcast_below == 0 || v == HW_INVALID_VERTEX)
        return;
    const key_of<kind> key = __ldcg(own_key_at<kind>(params, v));
    for (uint32_t q = 0; key < state.rebroadcast_below && q < Peers::ranks(params); q++)
        if (q != Peers::rank(params))
            lower_copy(params, state, q, local_id, key);
}

/* The vertex of deferred update i, or none; vertices of the rest of the bucket are queued.
 * arrived: whether this lane has an update. Warp-collective. */
template <int kind, class Peers>
__device__ __forceinline__ uint32_t next_update(const kernel_params<Peers> &params,
                                                block_shared<Peers> &shared,
                                                lane_state<kind> &state, bool arrived, uint64_t i)
{
    key_of<kind> key = hw_keys<kind>::none;
    uint32_t v = HW_INVALID_VERTEX;

    if (arrived)
        v = receive_entry<kind>(params, shared, state.parity ^ 1, i, key);
    if (state.bound.step_end < state.bound.high)
        buffer_vertex(
            shared, rest_queue, state.rest_count,
            v != HW_INVALID_VERTEX && key >= state.bound.step_end && key < state.bound.high, v);
    if (key >= state.bound.step_end)
        v = HW_INVALID_VERTEX;
    state.from_inbox += v != HW_INVALID_VERTEX;
    return v;
}

/* The vertex to push at index `at`: of the queue, then of the deferred updates, which may give
 * none, or one for the rest queue. Warp-collective; a lane without work has `at` past all. */
template <int kind, class Peers>
__device__ __forceinline__ uint32_t next_vertex(const kernel_params<Peers> &params,
                                                block_shared<Peers> &shared,
                                                lane_state<kind> &state, uint64_t at,
                                                uint32_t count, uint32_t updates)
{
    uint32_t v = HW_INVALID_VERTEX;

    if (at < count) {
        v = __ldcg(by_parity(params.queues.step_queue, state.iteration) + at);
        by_parity(params.queues.step_marks, state.iteration)[v >> 5] =
            0; /* all bits of the word belong to this iteration */
    }
    if constexpr (Peers::several) {
        const bool arrived = at >= count && at - count < updates;
        if (__any_sync(HW_WARP, arrived)) {
            const uint32_t other = next_update<kind>(params, shared, state, arrived, at - count);
            v = arrived ? other : v;
        }
    }
    return v;
}

/* Work of a warp in an iteration: portions of queue and deferred updates, up to a vertex a lane. */
struct work_portions {
    uint32_t count, updates; /* vertices in the queue, and deferred updates */
    uint32_t each;           /* vertices of a portion */
    uint64_t next, apart;    /* portions of this warp */
};

/* Interleaved over blocks, so that a few vertices go to many blocks. */
__device__ __forceinline__ work_portions portions_of(uint32_t count, uint32_t updates)
{
    const uint64_t all = static_cast<uint64_t>(gridDim.x) * warps;

    return work_portions{count, updates,
                         vertices_per_warp(static_cast<uint64_t>(count) + updates, all),
                         (threadIdx.x / 32) * static_cast<uint64_t>(gridDim.x) + blockIdx.x, all};
}

/* Whether this warp has another portion. */
__device__ __forceinline__ bool has_more(const work_portions &portions)
{
    return portions.next * portions.each < static_cast<uint64_t>(portions.count) + portions.updates;
}

/* The vertex of this lane in the next portion, or none. Warp-collective. */
template <int kind, class Peers>
__device__ __forceinline__ uint32_t next_portion(const kernel_params<Peers> &params,
                                                 block_shared<Peers> &shared,
                                                 lane_state<kind> &state, work_portions &portions)
{
    const uint32_t lane = threadIdx.x & 31;
    const uint64_t past = static_cast<uint64_t>(portions.count) + portions.updates;
    const uint64_t at = lane < portions.each ? portions.next * portions.each + lane : past;
    const uint32_t v =
        next_vertex<kind>(params, shared, state, at, portions.count, portions.updates);

    if constexpr (Peers::several)
        rebroadcast_lowered<kind>(params, state, v);
    portions.next += portions.apart;
    return v;
}

/* Pushes the queue, long lists and `updates` deferred updates. The block worklist is left to the
 * caller. */
template <int kind, class Peers>
__device__ void push_queue(const kernel_params<Peers> &params, block_shared<Peers> &shared,
                           lane_state<kind> &state, uint32_t count, count64 long_lists,
                           uint32_t updates)
{
    work_portions portions = portions_of(count, updates);

    if (long_lists)
        push_long_list_chunks<kind>(params, shared, state, long_lists);
    while (has_more(portions)) {
        const uint32_t v = next_portion<kind>(params, shared, state, portions);
        if (__any_sync(HW_WARP, v != HW_INVALID_VERTEX))
            push_lists<kind>(params, shared, state, v, portions.each > few_lists);
    }
}

/* Pushes the heavy edges of all vertices in the bucket. */
template <int kind, class Peers>
__device__ void push_heavy_edges(const kernel_params<Peers> &params, block_shared<Peers> &shared,
                                 lane_state<kind> &state)
{
    /* Interleaved over blocks, since hubs are adjacent. */
    for (uint64_t g = (threadIdx.x / 32) * static_cast<uint64_t>(gridDim.x) + blockIdx.x;
         g < num_groups(params); g += hw_grid_threads() / 32) {
        const key_group<kind> keys = load_keys<kind>(params, g, hw_keys<kind>::none);
        prefetch_keys<kind>(params, g + hw_grid_threads() / 32);
#pragma unroll
        for (uint32_t k = 0; k < group_words; k++) {
            const bool inside = keys.key[k] >= state.bound.low && keys.key[k] < state.bound.high;
            if (__any_sync(HW_WARP, inside))
                push_lists<kind>(params, shared, state,
                                 inside ? keys.first + 32 * k : HW_INVALID_VERTEX, true);
        }
    }
    push_block_worklist<kind>(params, shared, state);
}

} // namespace
} // namespace hw_delta::search

#endif
