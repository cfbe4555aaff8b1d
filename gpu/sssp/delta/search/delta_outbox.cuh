/*
 * Sending updates to other GPUs (gpu/sssp/delta/delta_search.h). Each warp buffers updates in
 * shared memory; a full buffer, or the end of the iteration, sorts them by owner, reserves places
 * in the outboxes and stores them into the owners' memory. An update is (position at the owner,
 * source, key in two words); in the buffer it has the local id in place of the position. The peer
 * barrier delivers; delta_receive.cuh applies them.
 */
#ifndef HOPWAVE_GPU_SSSP_DELTA_SEARCH_DELTA_OUTBOX_CUH
#define HOPWAVE_GPU_SSSP_DELTA_SEARCH_DELTA_OUTBOX_CUH

#include "gpu/sssp/delta/search/delta_keys.cuh"

namespace hw_delta::search
{
namespace
{

/* The parts of an update. */
template <int kind>
__device__ __forceinline__ uint4 make_entry(uint32_t at, uint32_t source, key_of<kind> key)
{
    const count64 bits = static_cast<count64>(static_cast<int64_t>(key));

    return make_uint4(at, source, static_cast<uint32_t>(bits), static_cast<uint32_t>(bits >> 32));
}

template <int kind> __device__ __forceinline__ key_of<kind> key_of_entry(const uint4 &entry)
{
    if constexpr (kind == HW_GPU_KEY_I64)
        return static_cast<int64_t>(static_cast<count64>(entry.w) << 32 | entry.z);
    else
        return static_cast<int32_t>(entry.z);
}

/* Stores one update for rank q: into the outbox, or, if that is full, by lowering the distance in
 * place. Only a vertex that this lowered is marked: marks queue vertices, and two that marked each
 * other in vain would be pushed for ever. */
template <int kind, class Peers>
__device__ __forceinline__ void send_to_owner(const kernel_params<Peers> &params, uint32_t parity,
                                              uint32_t q, uint32_t at, const uint4 &entry)
{
    const uint32_t position = entry.x - q * params.partition.block_size;

    if (at < params.outbox_capacity) {
        Peers::store_entry(params, parity, q, at, make_uint4(position, entry.y, entry.z, entry.w));
        return;
    }
    const key_of<kind> key = key_of_entry<kind>(entry);
    key_of<kind> before;
    if constexpr (Peers::packs_hints)
        before = Peers::lower_word(params, q, entry.x, key);
    else
        before = Peers::lower_distance(params, q, entry.x, key);
    if (key < before)
        Peers::mark_touched(params, parity, q, position);
}

/* Stores an update for rank q that is about the copy of an owned vertex there. how:
 * HW_DELTA_LOWER_COPY or HW_DELTA_REPLACE_COPY. Any thread. */
template <int kind, class Peers>
__device__ __forceinline__ void append_copy(const kernel_params<Peers> &params,
                                            const lane_state<kind> &state, uint32_t q,
                                            uint32_t local_id, key_of<kind> key, uint32_t how)
{
    const uint32_t at = atomicAdd(&params.control->counters[(state.iteration + 1) & 3].sent[q], 1u);

    if (at < params.outbox_capacity) /* else all keys are sent */
        Peers::store_entry(params, state.parity, q, at, make_entry<kind>(local_id, how, key));
}

/* Lowers rank q's copy of the key of an owned vertex. Any thread. */
template <int kind, class Peers>
__device__ __forceinline__ void lower_copy(const kernel_params<Peers> &params,
                                           const lane_state<kind> &state, uint32_t q,
                                           uint32_t local_id, key_of<kind> key)
{
    if constexpr (Peers::has_network)
        if (!Peers::is_near(params, q)) {
            append_copy(params, state, q, local_id, key, HW_DELTA_LOWER_COPY);
            return;
        }
    Peers::lower_distance(params, q, local_id, key);
}

/* Replaces it. Between nodes by updates, to GPUs of this node too, which may still be storing what
 * was broadcast before; they apply updates after that. */
template <int kind, class Peers>
__device__ __forceinline__ void replace_copy(const kernel_params<Peers> &params,
                                             const lane_state<kind> &state, uint32_t q,
                                             uint32_t local_id, key_of<kind> key)
{
    if constexpr (Peers::has_network)
        append_copy(params, state, q, local_id, key, HW_DELTA_REPLACE_COPY);
    else
        Peers::store_distance(params, q, local_id, key);
}

/* Updates of a warp, some of each lane, grouped by owner. The updates stay in the send buffer. */
struct send_batch {
    const uint4 *entry;                /* of this lane, every 32nd */
    uint32_t owner[updates_per_lane];  /* HW_INVALID_VERTEX where there is none */
    uint32_t before[updates_per_lane]; /* updates for that owner before this one */
    uint32_t mine;                     /* updates for the rank with the number of this lane */
};

/* Groups the first `count` updates in the send buffer of this warp. Warp-collective. */
template <class Peers>
__device__ __forceinline__ send_batch batch_by_owner(const kernel_params<Peers> &params,
                                                     const block_shared<Peers> &shared,
                                                     uint32_t count)
{
    const uint32_t lane = threadIdx.x & 31, below = (1u << lane) - 1;
    send_batch batch;

    batch.entry = shared.send_buffer[threadIdx.x / 32] + lane;
    batch.mine = 0;
#pragma unroll
    for (uint32_t k = 0; k < updates_per_lane; k++) {
        batch.owner[k] = 32 * k + lane < count ? Peers::owner_of(params, batch.entry[32 * k].x)
                                               : HW_INVALID_VERTEX;
        batch.before[k] = 0;
        if (32 * k >= count)
            continue;
        for (uint32_t q = 0; q < Peers::ranks(params); q++) {
            const uint32_t here = __ballot_sync(HW_WARP, batch.owner[k] == q);
            const uint32_t so_far = __shfl_sync(HW_WARP, batch.mine, q);
            if (batch.owner[k] == q)
                batch.before[k] = so_far + __popc(here & below);
            batch.mine += lane == q ? __popc(here) : 0;
        }
    }
    return batch;
}

/* Stores a batch; start: place in the outbox of the rank with the lane's number. Warp-collective.
 */
template <int kind, class Peers>
__device__ __forceinline__ void store_batch(const kernel_params<Peers> &params, uint32_t parity,
                                            const send_batch &batch, uint32_t start)
{
    if (!__any_sync(HW_WARP, batch.mine != 0))
        return;
#pragma unroll
    for (uint32_t k = 0; k < updates_per_lane; k++) {
        const uint32_t q = batch.owner[k], at = __shfl_sync(HW_WARP, start, q & 31);
        if (q != HW_INVALID_VERTEX)
            send_to_owner<kind>(params, parity, q, at + batch.before[k], batch.entry[32 * k]);
    }
}

/* Sends the updates of this warp. One atomic per outbox; all are issued at once. */
template <int kind, class Peers>
__device__ __noinline__ void flush_updates(uint32_t number, uint32_t parity, uint32_t count)
{
    block_shared<Peers> &shared = shared_memory<Peers>();
    const kernel_params<Peers> &params = shared.params;
    const uint32_t lane = threadIdx.x & 31;
    uint32_t start = 0;

    __syncwarp();
    const send_batch batch = batch_by_owner(params, shared, count);
    if (batch.mine)
        start = atomicAdd(&params.control->counters[(number + 1) & 3].sent[lane], batch.mine);
    __syncwarp();
    store_batch<kind>(params, parity, batch, start);
    __syncwarp();
}

/* Reserves places in rank q's outbox for all warps of the block. One warp. */
template <class Peers>
__device__ __forceinline__ void reserve_outbox(block_shared<Peers> &shared,
                                               iteration_counters *counters, uint32_t q)
{
    const uint32_t lane = threadIdx.x & 31;
    const uint32_t mine = lane < warps ? shared.outbox_offset[q][lane] : 0,
                   end = hw_warp_scan(mine);
    uint32_t base = 0;

    if (lane == 31 && end)
        base = atomicAdd(&counters->sent[q], end);
    base = __shfl_sync(HW_WARP, base, 31) + end - mine;
    if (lane < warps)
        shared.outbox_offset[q][lane] = base;
}

/* Buffers up to N updates a lane for remote vertices. Warp-collective. */
template <int N, int kind, class Peers>
__device__ __forceinline__ void
buffer_updates(const kernel_params<Peers> &params, block_shared<Peers> &shared,
               lane_state<kind> &state, const bool (&wanted)[N], const uint32_t (&local_id)[N],
               const uint32_t (&source)[N], const key_of<kind> (&key)[N])
{
    const uint32_t below = (1u << (threadIdx.x & 31)) - 1;
    uint32_t all[N];

    if (!ballot_all(wanted, all))
        return;
#pragma unroll
    for (int k = 0; k < N; k++) {
        const uint32_t more = __popc(all[k]);
        if (state.num_updates + more > send_capacity) {
            flush_updates<kind, Peers>(state.iteration, state.parity, state.num_updates);
            state.num_updates = 0;
        }
        if (wanted[k]) {
            shared.send_buffer[threadIdx.x / 32][state.num_updates + __popc(all[k] & below)] =
                make_entry<kind>(local_id[k], source[k], key[k]);
            state.sent_step += key[k] < state.bound.step_end;
            state.sent_rest += key[k] >= state.bound.step_end && key[k] < state.bound.high;
        }
        state.num_updates += more;
    }
}

} // namespace
} // namespace hw_delta::search

#endif
