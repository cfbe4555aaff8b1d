/* @@HEAD receive@@ */
#ifndef HOPWAVE_GPU_SSSP_DELTA_PEER_PEER_DELTA_RECEIVE_CUH
#define HOPWAVE_GPU_SSSP_DELTA_PEER_PEER_DELTA_RECEIVE_CUH

#include "gpu/sssp/delta/peer/peer_delta_barrier.cuh"
#include "gpu/sssp/delta/peer/peer_delta_iteration.cuh"

namespace hw_delta::peer
{
namespace
{

/* Entries that a lane has under way where there are many. */
constexpr uint32_t updates_in_flight = 4;

/* A pass that pushes takes no more entries than so many for each of its warps: a vertex that is
 * queued, too, is pushed twice then, which costs less than another wait for all blocks. */
constexpr uint32_t max_deferred_updates = 8;

/* Entry i of all that came. */
__device__ __forceinline__ const uint4 *
entry_at(const kernel_params &params, const block_shared &shared, uint32_t parity, uint64_t i)
{
    uint32_t q = 0;

    while (i >= shared.updates_end[q])
        q++;
    return static_cast<const uint4 *>(params.peers.outbox[parity].recv[q]) +
           (q > 0 ? i - shared.updates_end[q - 1] : i);
}

/* Takes entry i of all that came. Returns the position that has a lesser key now, or no rank. */
template <int kind>
__device__ __forceinline__ uint32_t receive_entry(const kernel_params &params,
                                                  const block_shared &shared, uint32_t parity,
                                                  uint64_t i, key_of<kind> &key)
{
    const uint4 entry = __ldcg(entry_at(params, shared, parity, i));

    key = key_of_entry<kind>(entry);
    if (key >= atomic_lower(distances<kind>(params) + owned_begin(params) + entry.x, key))
        return HW_INVALID_VERTEX;
    put_hint<kind>(params, entry.x, entry.y, key);
    return entry.x;
}

/* Takes so few entries that a lane has one: without a look at what there is. */
template <int kind>
__device__ void receive_one_per_lane(const kernel_params &params, block_shared &shared,
                                     lane_state<kind> &state, uint64_t count)
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

/* Takes so many entries, all that came: what they wait for they wait for together. */
template <int kind>
__device__ void receive_many(const kernel_params &params, block_shared &shared,
                             lane_state<kind> &state, uint64_t count)
{
    key_of<kind> *own = distances<kind>(params) + owned_begin(params);
    const uint64_t lane = threadIdx.x & 31;

    /* By turns of blocks, so that few entries go to many. */
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
        }
#pragma unroll
        for (uint32_t k = 0; k < updates_in_flight;
             k++) /* all of them before the first is waited for */
            old[k] = entry[k].x != HW_INVALID_VERTEX
                         ? atomic_lower(own + entry[k].x, key_of_entry<kind>(entry[k]))
                         : -1;
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

/* What others have lowered in place. */
template <int kind>
__device__ void receive_in_place(const kernel_params &params, block_shared &shared,
                                 lane_state<kind> &state)
{
    uint32_t *touched = params.peers.touched_of[state.parity][params.part.config.rank];
    const key_of<kind> *own = distances<kind>(params) + owned_begin(params);
    const uint64_t words = params.part.config.block_size / 32 + 1;
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
        const key_of<kind> key = there ? __ldcg(own + v) : hw_keys<kind>::none;
        if (there)
            put_hint<kind>(params, v, HW_INVALID_VERTEX, key);
        enqueue(shared, state, there, v, key);
    }
}

/* Takes what came. All threads call it. */
template <int kind>
__device__ void receive_updates(const kernel_params &params, block_shared &shared,
                                lane_state<kind> &state, uint64_t count, bool full)
{
    if (count <= hw_grid_threads())
        receive_one_per_lane<kind>(params, shared, state, count);
    else
        receive_many<kind>(params, shared, state, count);
    if (full)
        receive_in_place<kind>(params, shared, state);
    if (__syncthreads_or(state.step_count || state.rest_count))
        flush_block(shared, state.step_count, state.rest_count);
}

/* Ends a pass: all GPUs meet, and take what they were sent; if that is little, it may be left to
 * the next pass, if that pushes. Returns false where all must give up. */
template <int kind>
__device__ bool end_iteration(const kernel_params &params, block_shared &shared,
                              lane_state<kind> &state, search_state<kind> &search, bool leaves)
{
    flush_iteration(state);
    if (!peer_barrier(search, state.iteration))
        return false;
    const uint64_t count = shared.updates_end[params.part.config.ranks - 1];
    const bool full = shared.overflowed != 0;
    if (count == 0)
        return true;
    if (leaves && !full && count <= max_deferred_updates * (hw_grid_threads() / 32)) {
        search.deferred_updates = static_cast<uint32_t>(count);
        return true;
    }
    receive_updates(params, shared, state, count, full);
    return grid_barrier(params, shared, search, state.iteration + 1);
}

/* Takes mail that was left, since no pass that pushes follows: as at the end of the one before,
 * whose queues are still those of the block. Returns false where all must give up. */
template <int kind> __device__ __noinline__ bool receive_deferred(search_state<kind> &search)
{
    block_shared &shared = shared_memory();
    const kernel_params &params = shared.params;
    const uint32_t before = shared.previous.step;
    lane_state<kind> state = {};

    if (search.deferred_updates == 0)
        return true;
    state.parity = ~search.allgather & 1;
    state.bound = search.bound;
    receive_updates(params, shared, state, search.deferred_updates, false);
    search.deferred_updates = 0;
    const bool ok = grid_barrier(params, shared, search, search.iteration);
    trace_add_found(params, search, shared.previous.step - before);
    return ok;
}

} // namespace
} // namespace hw_delta::peer

#endif
