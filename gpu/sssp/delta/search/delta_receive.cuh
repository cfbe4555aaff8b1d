/*
 * Receiving updates from other GPUs (gpu/sssp/delta/delta_search.h), after the peer barrier that
 * ends an iteration: each update lowers the distance of an owned vertex, and a vertex that improved
 * is queued.
 */
#ifndef HOPWAVE_GPU_SSSP_DELTA_SEARCH_DELTA_RECEIVE_CUH
#define HOPWAVE_GPU_SSSP_DELTA_SEARCH_DELTA_RECEIVE_CUH

#include "gpu/sssp/delta/search/delta_barrier.cuh"
#include "gpu/sssp/delta/search/delta_iteration.cuh"

namespace hw_delta::search
{
namespace
{

/* Updates in flight in each lane, where there are many. */
constexpr uint32_t updates_in_flight = 4;

/* An iteration that pushes takes at most this many deferred updates for each of its warps: a vertex
 * that is queued as well is pushed twice, which costs less than another barrier of the grid. */
constexpr uint32_t max_deferred_updates = 8;

/* Update i of all that were received. */
template <class Peers>
__device__ __forceinline__ const uint4 *entry_at(const kernel_params<Peers> &params,
                                                 const block_shared<Peers> &shared, uint32_t parity,
                                                 uint64_t i)
{
    uint32_t q = 0;

    while (i >= shared.updates_end[q])
        q++;
    return static_cast<const uint4 *>(params.outbox[parity].recv[q]) +
           (q > 0 ? i - shared.updates_end[q - 1] : i);
}

/* Applies an update that is about a copy of a remote distance. Returns whether it is one. */
template <int kind, class Peers>
__device__ __forceinline__ bool receive_copy(const kernel_params<Peers> &params, const uint4 &entry)
{
    key_of<kind> *copy = distances<kind>(params) + entry.x;

    if (entry.y == HW_DELTA_LOWER_COPY)
        atomic_lower(copy, key_of_entry<kind>(entry));
    else if (entry.y == HW_DELTA_REPLACE_COPY)
        *static_cast<volatile key_of<kind> *>(copy) = key_of_entry<kind>(entry);
    else
        return false;
    return true;
}

/* Applies update i. Returns the position of the vertex if its key is lower now, else
 * HW_INVALID_VERTEX. */
template <int kind, class Peers>
__device__ __forceinline__ uint32_t receive_entry(const kernel_params<Peers> &params,
                                                  const block_shared<Peers> &shared,
                                                  uint32_t parity, uint64_t i, key_of<kind> &key)
{
    const uint4 entry = __ldcg(entry_at(params, shared, parity, i));

    if constexpr (Peers::has_network)
        if (receive_copy<kind>(params, entry))
            return HW_INVALID_VERTEX;
    key = key_of_entry<kind>(entry);
    if (key >= lower_own<kind>(params, entry.x, key, entry.y))
        return HW_INVALID_VERTEX;
    put_hint<kind>(params, entry.x, entry.y, key);
    return entry.x;
}

/* Applies at most one update a lane. */
template <int kind, class Peers>
__device__ void receive_one_per_lane(const kernel_params<Peers> &params,
                                     block_shared<Peers> &shared, lane_state<kind> &state,
                                     uint64_t count)
{
    const uint64_t w = (threadIdx.x / 32) * static_cast<uint64_t>(gridDim.x) + blockIdx.x;
    const uint64_t i = w * 32 + (threadIdx.x & 31);
    key_of<kind> key = hw_keys<kind>::none;

    if (w * 32 >= count)
        return;
    const uint32_t v =
        i < count ? receive_entry<kind>(params, shared, state.parity, i, key) : HW_INVALID_VERTEX;
    enqueue(shared, state, v != HW_INVALID_VERTEX, v, key);
}

/* Applies all updates received, several a lane at a time, so that their latencies overlap. */
template <int kind, class Peers>
__device__ void receive_many(const kernel_params<Peers> &params, block_shared<Peers> &shared,
                             lane_state<kind> &state, uint64_t count)
{
    constexpr key_of<kind> lowest = INT32_MIN; /* no key is lower, nor is `parent_pending` */
    const uint64_t lane = threadIdx.x & 31;

    /* Interleaved over blocks, so that a few updates go to many blocks. */
    for (uint64_t w = (threadIdx.x / 32) * static_cast<uint64_t>(gridDim.x) + blockIdx.x;
         w * 32 * updates_in_flight < count; w += hw_grid_threads() / 32) {
        uint4 entry[updates_in_flight];
        key_of<kind> old[updates_in_flight];
        uint32_t better = 0;
#pragma unroll
        for (uint32_t k = 0; k < updates_in_flight; k++) {
            const uint64_t i = (w * updates_in_flight + k) * 32 + lane;
            entry[k] = i < count ? __ldcg(entry_at(params, shared, state.parity, i))
                                 : make_uint4(HW_INVALID_VERTEX, 0, 0, 0);
            if constexpr (Peers::has_network)
                if (i < count && receive_copy<kind>(params, entry[k]))
                    entry[k].x = HW_INVALID_VERTEX;
        }
#pragma unroll
        for (uint32_t k = 0; k < updates_in_flight;
             k++) /* all of them before the first result is used */
            old[k] =
                entry[k].x != HW_INVALID_VERTEX
                    ? lower_own<kind>(params, entry[k].x, key_of_entry<kind>(entry[k]), entry[k].y)
                    : lowest;
#pragma unroll
        for (uint32_t k = 0; k < updates_in_flight; k++) {
            const key_of<kind> key = key_of_entry<kind>(entry[k]);
            if (key < old[k]) {
                put_hint<kind>(params, entry[k].x, entry[k].y, key);
                better |= 1u << k;
            }
        }
#pragma unroll
        for (uint32_t k = 0; k < updates_in_flight; k++)
            enqueue(shared, state, better >> k & 1, entry[k].x, key_of_entry<kind>(entry[k]));
    }
}

/* Queues vertices whose distances other GPUs lowered in place. */
template <int kind, class Peers>
__device__ void receive_in_place(const kernel_params<Peers> &params, block_shared<Peers> &shared,
                                 lane_state<kind> &state)
{
    uint32_t *touched = params.touched_of[state.parity][Peers::rank(params)];
    const uint64_t words = params.partition.block_size / 32 + 1;
    const uint32_t lane = threadIdx.x & 31;

    for (uint64_t w = hw_grid_thread() / 32; w < words; w += hw_grid_threads() / 32) {
        const uint32_t bits = __ldcg(touched + w);
        if (bits == 0)
            continue;
        __syncwarp();
        if (lane == 0)
            touched[w] = 0;
        const uint32_t v = static_cast<uint32_t>(w) * 32 + lane;
        const bool there = bits >> lane & 1;
        const key_of<kind> key = there ? __ldcg(own_key_at<kind>(params, v)) : hw_keys<kind>::none;
        if (there)
            put_hint<kind>(params, v, HW_INVALID_VERTEX, key);
        enqueue(shared, state, there, v, key);
    }
}

/* Applies all keys that ranks of other nodes sent in place of too many updates: of the vertices
 * owned here, and their own. */
template <int kind, class Peers>
__device__ void receive_all_keys(const kernel_params<Peers> &params, block_shared<Peers> &shared,
                                 lane_state<kind> &state)
{
    key_of<kind> *own = distances<kind>(params) + owned_begin(params);
    const uint64_t size = params.partition.block_size;
    const uint32_t lane = threadIdx.x & 31;

    for (uint32_t q = 0; q < Peers::ranks(params); q++) {
        if (!Peers::sends_all_keys(params, q, sent_by(params, shared, q)))
            continue;
        const key_of<kind> *keys =
            static_cast<const key_of<kind> *>(params.outbox[state.parity].recv[q]);
        key_of<kind> *copy = distances<kind>(params) + q * size;
        for (uint64_t i = hw_grid_thread(); i - lane < size; i += hw_grid_threads()) {
            const uint32_t v = static_cast<uint32_t>(i);
            const key_of<kind> key = i < params.vertices.core ? __ldcg(keys + i) : -1,
                               other =
                                   i < params.vertices.core_of[q] ? __ldcg(keys + size + i) : -1;
            const bool better = key >= 0 && key < atomic_lower(own + v, key);
            if (better)
                put_hint<kind>(params, v, HW_INVALID_VERTEX, key);
            if (other >= 0)
                atomic_lower(copy + i, other);
            enqueue(shared, state, better, v, key);
        }
    }
}

/* Applies the updates received. All threads call it. */
template <int kind, class Peers>
__device__ void receive_updates(const kernel_params<Peers> &params, block_shared<Peers> &shared,
                                lane_state<kind> &state, uint64_t count, bool full)
{
    if (count <= hw_grid_threads())
        receive_one_per_lane<kind>(params, shared, state, count);
    else
        receive_many<kind>(params, shared, state, count);
    if (full)
        receive_in_place<kind>(params, shared, state);
    if constexpr (Peers::has_network)
        if (full)
            receive_all_keys<kind>(params, shared, state);
    if (__syncthreads_or(state.step_count || state.rest_count))
        flush_block(shared, state.step_count, state.rest_count);
}

/* Peer barrier at the end of an iteration, then the updates received are applied. If leaves, a few
 * of them are left to the next iteration, which must push. Returns false if the search failed. */
template <int kind, class Peers>
__device__ bool receive_iteration(const kernel_params<Peers> &params, block_shared<Peers> &shared,
                                  lane_state<kind> &state, search_state<kind> &search, bool leaves)
{
    if constexpr (Peers::has_network)
        if (!Peers::template send_updates<kind>(search, state.iteration))
            return false;
    if (!peer_barrier<Peers>(search, state.iteration))
        return false;
    if constexpr (Peers::has_network)
        if (!Peers::template wait_for_updates<kind>(params, shared, search.allgather - 1))
            return false;
    const uint64_t count = shared.updates_end[Peers::ranks(params) - 1];
    const bool full = shared.overflowed != 0;
    if (count == 0 && !(Peers::has_network && full))
        return true;
    if (leaves && !full && count <= max_deferred_updates * (hw_grid_threads() / 32)) {
        search.deferred_updates = static_cast<uint32_t>(count);
        return true;
    }
    receive_updates(params, shared, state, count, full);
    return grid_barrier(params, shared, search, state.iteration + 1);
}

/* Ends an iteration: counters and buffers are flushed, and all GPUs meet. leaves: as above. Returns
 * false if the search failed. */
template <int kind, class Peers>
__device__ bool end_iteration(const kernel_params<Peers> &params, block_shared<Peers> &shared,
                              lane_state<kind> &state, search_state<kind> &search, bool leaves)
{
    flush_iteration<Peers>(state);
    if constexpr (Peers::several)
        return receive_iteration(params, shared, state, search, leaves);
    else
        return grid_barrier(params, shared, search, state.iteration + 1);
}

/* Applies deferred updates because no iteration that pushes follows; queues are still those of the
 * previous iteration. Returns false if the search failed. */
template <class Peers, int kind>
__device__ __noinline__ bool receive_deferred(search_state<kind> &search)
{
    block_shared<Peers> &shared = shared_memory<Peers>();
    const kernel_params<Peers> &params = shared.params;
    const uint32_t before = shared.previous.step;
    lane_state<kind> state = {};

    if (search.deferred_updates == 0)
        return true;
    state.parity = ~search.allgather & 1;
    state.bound = queue_bounds(search);
    receive_updates(params, shared, state, search.deferred_updates, false);
    search.deferred_updates = 0;
    const bool ok = grid_barrier(params, shared, search, search.iteration);
    trace_add_found(params, search, shared.previous.step - before);
    return ok;
}

} // namespace
} // namespace hw_delta::search

#endif
