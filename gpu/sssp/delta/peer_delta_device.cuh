/*
 * Method `delta` on several GPUs in one kernel: what a block shares, queues, mail between GPUs,
 * and their meetings (gpu/sssp/delta/peer_delta.h).
 *
 * Memory order: before a meeting every thread's stores, to this GPU or another, are ordered by
 * __syncthreads() before its block counts as arrived: a release, and an acquire of what the blocks
 * before it did. So it all comes before the fence of the last block's warp, which has the scope of
 * the system, and before the words that this warp posts. Who reads the words acquires them before
 * the __syncthreads() that lets the block go on. At a join the count is what all blocks wait for.
 */
#ifndef HOPWAVE_GPU_SSSP_DELTA_PEER_DELTA_DEVICE_CUH
#define HOPWAVE_GPU_SSSP_DELTA_PEER_DELTA_DEVICE_CUH

#include "gpu/comm/allgather.cuh"
#include "gpu/device/grid_stride.cuh"
#include "gpu/sssp/common/bucket_queues.cuh"
#include "gpu/sssp/delta/peer_delta.h"

namespace
{

using kernel_params = hw_peer_delta_params;
using iteration_counters = hw_peer_delta_counters;

constexpr int threads = HW_PEER_DELTA_THREADS, warps = threads / 32;

/* Finds for other GPUs that a warp keeps before it sends them: the more, the fewer waits for room
 * in the boxes. As many as leave a block's memory below the 99 KB of smaller devices. */
constexpr uint32_t send_capacity = 96, updates_per_lane = send_capacity / 32;

static_assert(static_cast<int>(HW_PEER_DELTA_WORDS) <= HW_ALLGATHER_WORDS, "a round has room");

/* Counters that the lanes of a pass have sums of; behind them comes the least key. */
constexpr uint32_t sums = 8;

/* A block's share of the groups of vertices that a pass goes over: a group for each of its warps.
 * Whoever finds that all are taken counts on, once. 25 bits are enough for the shares of 2^32
 * vertices. */
struct work_chunk {
    uint32_t now;  /* the share's number above, how many of its groups were taken below */
    uint32_t next; /* the number of the one after it; `no_share` while that is asked for */
};

constexpr uint32_t claim_bits = 7, no_chunk = UINT32_MAX;
static_assert(2 * warps < 1 << claim_bits, "all may count on");

/* What a block shares. The plan is there, too: functions that are called find it where they need no
 * register for it. */
struct block_shared {
    kernel_params params;
    iteration_counters previous;  /* of the pass before; and how many wait */
    count64 sum[sums + 1][warps]; /* of a pass; of each warp */
    uint64_t received[HW_PEER_DELTA_RANKS][HW_ALLGATHER_WORDS]; /* at the last meeting */
    uint64_t reduced[HW_ALLGATHER_WORDS];                       /* sums of them, or maxima */
    uint64_t updates_end[HW_PEER_DELTA_RANKS]; /* what came in boxes, up to each rank's */
    uint32_t ok, overflowed;                   /* full: did more come than there was room for? */
    marked_queue queue[num_queues];
    uint4 send_buffer[warps][send_capacity]; /* code, source, key; or a chunk that is told */
    uint32_t outbox_offset[HW_PEER_DELTA_RANKS]
                          [warps]; /* how much each warp has, then where it goes */
    uint32_t buffer[num_queues][warps][buffer_capacity]; /* a vertex may be there twice */
    uint32_t queue_offset[num_queues][warps];
    uint32_t pushes[warps][buffer_capacity]; /* pulled vertices that are to be pushed */
    worklist_entry worklist[worklist_capacity];
    uint32_t worklist_size; /* their number above, chunks below */
    work_chunk work;
};

/* What this block shares. */
__device__ __forceinline__ block_shared &shared_memory()
{
    return *static_cast<block_shared *>(hw_dynamic_shared());
}

/* Takes the plan there. All threads call it. */
__device__ void copy_params(const kernel_params &params)
{
    static_assert(sizeof params % sizeof(uint64_t) == 0, "words of 64 bits");
    const uint64_t *from = reinterpret_cast<const uint64_t *>(&params);
    uint64_t *to = reinterpret_cast<uint64_t *>(&shared_memory().params);

    for (uint32_t i = threadIdx.x; i < sizeof params / sizeof *to; i += threads)
        to[i] = from[i];
    __syncthreads();
}

/* Where a search is; the same in all blocks of all GPUs, but for the number of joins. */
template <int kind> struct search_state {
    bucket_bounds<kind> bound;
    key_of<kind> broadcast_below;   /* keys below are known to all GPUs */
    uint32_t iteration, rest_index; /* passes; rings of those that wait */
    uint32_t allgather;             /* the number of the next one */
    uint32_t barriers;              /* meetings and joins */
    uint32_t bucket, trace_records;
    bool has_substeps;         /* steps inside buckets? */
    bool no_light_heavy_split; /* are lists pushed whole? */
    bool has_leftovers;        /* may what improves be of a bucket before? */
    uint32_t deferred_updates; /* entries that wait in the boxes for a pass that pushes */
    double delta;              /* of the bucket */
    count64 frontier_degree;   /* lengths of the lists begun in it */
    count64 num_unsettled;     /* vertices beyond it at its beginning, reached or not */
    count64 bucket_vertices;   /* vertices in it at its beginning */
    count64 pulled;            /* edges of the last pull */
    uint32_t small_buckets;    /* buckets with little to do, one after another */
};

/* A pass under way, as one lane sees it. */
template <int kind> struct lane_state {
    uint32_t iteration, parity; /* turn: of the boxes */
    bucket_bounds<kind> bound;
    key_of<kind> from, to; /* edges whose ends are in [from, to) are relaxed */
    key_of<kind>
        remote_load_from; /* others' keys from here on are asked for, unless there is no such */
    key_of<kind> rebroadcast_below;  /* own keys below are told again where they improve */
    uint32_t step_count, rest_count; /* finds of the warp that are not queued yet */
    uint32_t num_updates;            /* likewise: not sent yet */
    uint32_t edges, pulled;          /* edges of this lane, pushed and pulled */
    uint32_t degrees;                /* likewise */
    uint32_t from_inbox;             /* likewise: vertices pushed straight from mail */
    uint32_t sent_step, sent_rest;
    uint32_t sent_keys; /* told to others, or asked for */
    key_of<kind> min_key;
    uint32_t unsettled;
    bool skip_precheck; /* are ends lowered without a look at their keys? */
};

template <int kind> __device__ __forceinline__ key_of<kind> *distances(const kernel_params &params)
{
    return static_cast<key_of<kind> *>(params.part.distance);
}

__device__ __forceinline__ uint32_t owned_begin(const kernel_params &params)
{
    return params.part.home * params.part.block;
}

/* Keys as seen by one that pulls: those of vertices of one edge are beyond all. */
__device__ __forceinline__ uint32_t pull_order(int32_t key)
{
    return static_cast<uint32_t>(key);
}

__device__ __forceinline__ count64 pull_order(int64_t key)
{
    return static_cast<count64>(key);
}

__device__ __forceinline__ void atomic_lower_system(int32_t *at, int32_t key)
{
    atomicMin_system(at, key);
}

__device__ __forceinline__ void atomic_lower_system(int64_t *at, int64_t key)
{
    atomicMin_system(reinterpret_cast<long long *>(at), static_cast<long long>(key));
}

/* What the least of keys is told as: the greater the less; 0 of none at all. */
__device__ __forceinline__ count64 complement(long long key)
{
    return ~(static_cast<count64>(key) ^ 1ull << 63);
}

__device__ __forceinline__ long long complemented(count64 word)
{
    return word ? static_cast<long long>(~word ^ 1ull << 63) : INT64_MAX;
}

/* ---- mail ---- */

/* Its parts: entries are (position or code, code of the source, key). */
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

__device__ __forceinline__ uint32_t owner_of(const kernel_params &params, uint32_t local_id)
{
    return params.part.magic ? static_cast<uint32_t>(__umul64hi(local_id, params.part.magic))
                             : local_id;
}

/* What a copy of another part's key holds while that vertex looks for a parent. */
constexpr int parent_pending = -2;

/* The key of a vertex, `known` as far as this GPU knows. Keys below `told` are final; for others,
 * the owner of another part's vertex is asked, in a pass that changes no key that matters. */
template <int kind>
__device__ __forceinline__ key_of<kind> remote_load(const kernel_params &params,
                                                    lane_state<kind> &state, uint32_t local_id,
                                                    key_of<kind> known, key_of<kind> valid_below)
{
    if (known < valid_below || valid_below == hw_keys<kind>::none ||
        local_id - owned_begin(params) < params.part.block)
        return known;
    state.sent_keys++;
    return hw_load_relaxed(
        static_cast<const key_of<kind> *>(params.peers.distance_of[owner_of(params, local_id)]) +
        local_id);
}

/* Likewise in a pass that hides vertices: the owner is asked for hidden ones, too. */
template <int kind>
__device__ __forceinline__ key_of<kind>
remote_load_unless_pending(const kernel_params &params, lane_state<kind> &state, uint32_t local_id,
                           key_of<kind> known)
{
    return remote_load<kind>(params, state, local_id, known,
                             known == parent_pending ? known : state.remote_load_from);
}

/* One entry for rank q: into its box, or, if that is full, in place. */
template <int kind>
__device__ __forceinline__ void send_to_owner(const kernel_params &params, uint32_t parity,
                                              uint32_t q, uint32_t at, const uint4 &entry)
{
    const uint32_t position = entry.x - q * params.part.block;

    if (at < params.peers.outbox_capacity) {
        static_cast<uint4 *>(params.peers.outbox[parity].to[q])[at] =
            make_uint4(position, entry.y, entry.z, entry.w);
        return;
    }
    atomic_lower_system(static_cast<key_of<kind> *>(params.peers.distance_of[q]) + entry.x,
                        key_of_entry<kind>(entry));
    atomicOr_system(params.peers.touched_of[parity][q] + (position >> 5), 1u << (position & 31));
}

/* Mail of a warp, some slots a lane. The entries stay where they are. */
struct send_batch {
    const uint4 *entry;                /* of this lane, 32 apart */
    uint32_t owner[updates_per_lane];  /* no rank where there is none */
    uint32_t before[updates_per_lane]; /* how much for that rank comes before it */
    uint32_t mine;                     /* how much is for the rank of this lane's number */
};

/* The first `count` entries that this warp keeps, as mail. The whole warp calls it. */
__device__ __forceinline__ send_batch batch_by_owner(const kernel_params &params,
                                                     const block_shared &shared, uint32_t count)
{
    const uint32_t lane = threadIdx.x & 31, below = (1u << lane) - 1;
    send_batch batch;

    batch.entry = shared.send_buffer[threadIdx.x / 32] + lane;
    batch.mine = 0;
#pragma unroll
    for (uint32_t k = 0; k < updates_per_lane; k++) {
        batch.owner[k] =
            32 * k + lane < count ? owner_of(params, batch.entry[32 * k].x) : HW_INVALID_VERTEX;
        batch.before[k] = 0;
        if (32 * k >= count)
            continue;
        for (uint32_t q = 0; q < params.part.ranks; q++) {
            const uint32_t here = __ballot_sync(HW_WARP, batch.owner[k] == q);
            const uint32_t so_far = __shfl_sync(HW_WARP, batch.mine, q);
            if (batch.owner[k] == q)
                batch.before[k] = so_far + __popc(here & below);
            batch.mine += lane == q ? __popc(here) : 0;
        }
    }
    return batch;
}

/* Stores it from `start` on in the boxes: of the rank of each lane's number. The whole warp calls
 * it. */
template <int kind>
__device__ __forceinline__ void store_batch(const kernel_params &params, uint32_t parity,
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

/* Sends what this warp has for others: room in all boxes is taken at once. */
template <int kind>
__device__ __noinline__ void flush_updates(uint32_t number, uint32_t parity, uint32_t count)
{
    block_shared &shared = shared_memory();
    const kernel_params &params = shared.params;
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

/* Room in rank q's box for what each warp of the block has for it. A warp. */
__device__ __forceinline__ void reserve_outbox(block_shared &shared, iteration_counters *counters,
                                               uint32_t q)
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

/* Notes some finds a lane for other parts; all lanes call it. */
template <int N, int kind>
__device__ __forceinline__ void
buffer_updates(const kernel_params &params, block_shared &shared, lane_state<kind> &state,
               const bool (&wanted)[N], const uint32_t (&local_id)[N], const uint32_t (&source)[N],
               const key_of<kind> (&key)[N])
{
    const uint32_t below = (1u << (threadIdx.x & 31)) - 1;
    uint32_t all[N];

    if (!ballot_all(wanted, all))
        return;
#pragma unroll
    for (int k = 0; k < N; k++) {
        const uint32_t more = __popc(all[k]);
        if (state.num_updates + more > send_capacity) {
            flush_updates<kind>(state.iteration, state.parity, state.num_updates);
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

/* ---- sums ---- */

/* Adds a warp's sum to a counter of the block. */
__device__ __forceinline__ void add(count64 *to, uint32_t mine)
{
    if (!__any_sync(HW_WARP, mine != 0))
        return;
    const count64 all = warp_sum(mine);
    if ((threadIdx.x & 31) == 0)
        atomicAdd(to, all);
}

/* Leaves what the lanes of this warp counted in the block. The arguments fit into registers. */
template <int kind>
__device__ __noinline__ void reduce_counters(uint32_t edges, uint32_t degrees, uint32_t open,
                                             uint32_t pulled, uint32_t sent_step,
                                             uint32_t sent_rest, uint32_t from_inbox,
                                             uint32_t sent_keys, key_of<kind> min_key)
{
    const uint32_t lane = threadIdx.x & 31;
    const uint32_t count[sums] = {edges,     degrees,   open,       pulled,
                                  sent_step, sent_rest, from_inbox, sent_keys};
    const key_of<kind> warp_min_key = warp_min(min_key);
    count64 mine = 0;

#pragma unroll
    for (uint32_t k = 0; k < sums; k++) {
        if (!__any_sync(HW_WARP, count[k] != 0))
            continue;
        const count64 all = warp_sum(count[k]);
        mine = lane == k ? all : mine;
    }
    if (lane == sums && warp_min_key != hw_keys<kind>::none)
        mine = complement(warp_min_key);
    if (lane <= sums)
        shared_memory().sum[lane][threadIdx.x / 32] = mine;
}

/* Likewise, if they counted anything: most warps do not in small passes. Returns whether. */
template <int kind>
__device__ __forceinline__ bool reduce_lane_counters(block_shared &shared,
                                                     const lane_state<kind> &state)
{
    const uint32_t lane = threadIdx.x & 31;
    const bool any = __any_sync(HW_WARP, state.min_key != hw_keys<kind>::none ||
                                             (state.edges | state.degrees | state.unsettled |
                                              state.pulled | state.sent_step | state.sent_rest |
                                              state.from_inbox | state.sent_keys) != 0);

    if (any)
        reduce_counters<kind>(state.edges, state.degrees, state.unsettled, state.pulled,
                              state.sent_step, state.sent_rest, state.from_inbox, state.sent_keys,
                              state.min_key);
    else if (lane <= sums)
        shared.sum[lane][threadIdx.x / 32] = 0;
    return any;
}

/* Hands over one of the sums of the block. A warp. */
__device__ __forceinline__ void publish_counters(const block_shared &shared, iteration_counters *to,
                                                 uint32_t k)
{
    count64 *words = reinterpret_cast<count64 *>(to);
    const uint32_t lane = threadIdx.x & 31;
    const count64 mine = lane < warps ? shared.sum[k][lane] : 0;

    if (!__any_sync(HW_WARP, mine != 0))
        return;
    if (k == sums) {
        const count64 maximum = ~warp_min(~mine);
        if (lane == 0)
            atomicMax(&to->max_complement, maximum);
        return;
    }
    const count64 all = hw_warp_sum64(mine);
    if (lane != 0)
        return;
    if (k < 4)
        atomicAdd(words + HW_PEER_DELTA_EDGES + k, all);
    else if (k < 7)
        atomicAdd(k == 4   ? &to->sent_step
                  : k == 5 ? &to->sent_rest
                           : &to->from_inbox,
                  static_cast<uint32_t>(all));
    else
        atomicAdd(&to->sent_keys, all);
}

/* ---- meetings ---- */

/* Tells all blocks and all GPUs that this one gives up. */
__device__ void signal_failure(const kernel_params &params)
{
    *static_cast<volatile uint32_t *>(&params.control->failed) = 1;
    for (uint32_t q = 0; q < params.part.ranks; q++)
        *static_cast<volatile uint32_t *>(params.allgather.failed[q]) = 1;
    __threadfence_system();
}

/* Have so many come, counted from some time on? */
__device__ __forceinline__ bool has_reached(uint32_t count, uint32_t wanted)
{
    return static_cast<int32_t>(count - wanted) >= 0;
}

/* Waits until all blocks have come to so many barriers; not for ever. One thread. */
__device__ __forceinline__ bool wait_for_blocks(const kernel_params &params, uint32_t barriers)
{
    const uint32_t *arrived = &params.control->arrived, all = barriers * gridDim.x;
    bool here = hw_arrive_acq_rel(&params.control->arrived) + 1 == all;
    count64 since = 0; /* the clock is not asked at once: most waits are short */

    for (uint32_t spin = 1; !here; spin++) {
        here = has_reached(hw_load_acquire(arrived), all);
        if (spin % 64 != 0 || here)
            continue;
        const count64 now = hw_nanoseconds();
        since = since ? since : now;
        if (hw_load_relaxed(&params.control->failed) != 0 ||
            now - since >= 2 * params.allgather.timeout_ns)
            return false;
    }
    return true;
}

/* This lane's part of the counters of a pass that has ended. */
__device__ __forceinline__ uint32_t load_counter(const kernel_params &params, uint32_t number,
                                                 uint32_t rest)
{
    const hw_peer_delta_control *control = params.control;
    const iteration_counters *counters = &control->counters[number & 3];
    const uint32_t lane = threadIdx.x & 31,
                   *at = reinterpret_cast<const uint32_t *>(counters) + lane;

    if (lane == offsetof(iteration_counters, rest) / sizeof(uint32_t))
        at = &control->rest[rest % 3];
    return lane < sizeof(iteration_counters) / sizeof(uint32_t) ? hw_load_relaxed(at) : 0;
}

/* A barrier over the blocks of this GPU, which then see the counters of the pass before this one.
 * Returns false where all must give up. */
template <int kind>
__device__ bool grid_barrier(const kernel_params &params, block_shared &shared,
                             search_state<kind> &search, uint32_t number)
{
    search.barriers++;
    __syncthreads();
    if (threadIdx.x < 32) {
        bool ok = true;
        if (threadIdx.x == 0) {
            ok = wait_for_blocks(params, search.barriers);
            if (!ok)
                signal_failure(params);
            shared.ok = ok;
        }
        __syncwarp();
        const uint32_t mine = load_counter(params, number, search.rest_index);
        if (threadIdx.x < sizeof(iteration_counters) / sizeof(uint32_t))
            reinterpret_cast<uint32_t *>(&shared.previous)[threadIdx.x] = mine;
    }
    __syncthreads();
    return shared.ok != 0;
}

/* Counts this block as arrived. The last one tells all GPUs what the pass came to: its own hears it
 * so, too. A warp. */
__device__ void signal_arrival(const kernel_params &params, uint32_t barriers, uint32_t allgather,
                               uint32_t number, uint32_t rest)
{
    const uint32_t lane = threadIdx.x & 31;
    uint32_t before = 0;

    if (lane == 0)
        before = hw_arrive_acq_rel(&params.control->arrived);
    before = __shfl_sync(HW_WARP, before, 0);
    if (before + 1 != barriers * gridDim.x)
        return;
    const uint32_t half = load_counter(params, number + 1, rest);
    hw_fence_system();
    for (uint32_t step = 1; step <= params.part.ranks; step++)
        signal_peer(params.allgather, (params.part.rank + step) % params.part.ranks, half,
                    allgather);
}

/* Waits for rank q's words, as wait_peer() does, which asks whether somebody has given up after
 * they came: who tells of that in a search posts no words later, so that both are asked for at
 * once. Returns false if they do not come, or somebody has. A warp. */
__device__ __forceinline__ bool wait_peer_words(const hw_allgather_params &params, uint32_t q,
                                                uint32_t number, uint64_t &half)
{
    const uint32_t lane = threadIdx.x & 31;
    const uint64_t *slot = params.slot[params.rank] + ((number & 1) * params.ranks + q) * 32 + lane;
    const uint64_t since = hw_nanoseconds();

    for (uint32_t spin = 1;; spin++) {
        const uint32_t failed = hw_load_relaxed(params.failed[params.rank]);
        const uint64_t value = hw_load_acquire_system(slot);
        half = value >> 32;
        const bool all = __all_sync(HW_WARP, static_cast<uint32_t>(value) == number);
        const bool late = !all && spin % 64 == 0 && hw_nanoseconds() - since > params.timeout_ns;
        if (__any_sync(HW_WARP, late || failed != 0))
            return false;
        if (all)
            return true;
    }
}

/* Hears what rank q tells. A warp. */
__device__ void receive_words(const kernel_params &params, block_shared &shared, uint32_t q,
                              uint32_t allgather)
{
    const uint32_t lane = threadIdx.x & 31;
    uint64_t half = 0;

    const bool ok = wait_peer_words(params.allgather, q, allgather, half);
    const uint64_t high = __shfl_down_sync(HW_WARP, half, 1);
    if ((lane & 1) == 0)
        shared.received[q][lane / 2] = ok ? high << 32 | half : 0;
    if (lane == 0 && !ok) {
        shared.ok = 0;
        signal_failure(params);
    }
}

/* What all GPUs told in one of their words. Every lane does the same, and asks for all of it at
 * once: all blocks wait for this. */
__device__ __forceinline__ uint64_t reduce_word(const kernel_params &params,
                                                const block_shared &shared, uint32_t which)
{
    const bool two = which <= HW_PEER_DELTA_FRONTIER; /* two counts */
    const uint64_t low = two ? UINT32_MAX
                         : which == HW_PEER_DELTA_LONG_LIST_CHUNKS
                             ? (1ull << long_list_chunk_bits) - 1
                             : UINT64_MAX;
    uint64_t word[HW_PEER_DELTA_RANKS], sum = 0, maximum = 0;

#pragma unroll
    for (uint32_t q = 0; q < HW_PEER_DELTA_RANKS; q++)
        word[q] = q < params.part.ranks ? shared.received[q][which] : 0;
#pragma unroll
    for (uint32_t q = 0; q < HW_PEER_DELTA_RANKS; q++) {
        sum += (word[q] & low) + (two ? word[q] >> 32 : 0);
        maximum = max(maximum, word[q]);
    }
    return which == HW_PEER_DELTA_MIN_KEY ? maximum : sum;
}

/* What rank q sent to this one before the last meeting. */
__device__ __forceinline__ uint32_t sent_by(const kernel_params &params, const block_shared &shared,
                                            uint32_t q)
{
    const uint64_t two = shared.received[q][HW_PEER_DELTA_SENT + params.part.rank / 2];

    return static_cast<uint32_t>(params.part.rank & 1 ? two >> 32 : two);
}

/* Counts what lies in the boxes then. A warp. */
__device__ __forceinline__ void count_updates(const kernel_params &params, block_shared &shared)
{
    const uint32_t q = threadIdx.x & 31;
    const bool other = q < params.part.ranks && q != params.part.rank;
    const uint32_t sent = other ? sent_by(params, shared, q) : 0;
    const uint64_t scan =
        hw_warp_scan(static_cast<uint64_t>(min(sent, params.peers.outbox_capacity)));
    const bool full = __any_sync(HW_WARP, sent > params.peers.outbox_capacity);

    if (q < params.part.ranks)
        shared.updates_end[q] = scan;
    if (q == 0)
        shared.overflowed = full;
}

/* A barrier over all blocks of all GPUs, which tell each other what the pass came to. Returns
 * false where all must give up. */
template <int kind>
__device__ __noinline__ bool peer_barrier(search_state<kind> &search, uint32_t number)
{
    static_assert(sizeof(iteration_counters) == HW_PEER_DELTA_WORDS * sizeof(uint64_t), "as words");
    block_shared &shared = shared_memory();
    const kernel_params &params = shared.params;
    const uint32_t warp = threadIdx.x / 32, allgather = search.allgather++, i = threadIdx.x;

    search.barriers++;
    if (i == 0)
        shared.ok = 1;
    __syncthreads();
    if (warp < params.part.ranks)
        receive_words(params, shared, warp, allgather);
    else if (warp == warps - 1)
        signal_arrival(params, search.barriers, allgather, number, search.rest_index);
    __syncthreads();
    if (i < HW_ALLGATHER_WORDS) {
        shared.reduced[i] = reduce_word(params, shared, i);
    } else if (i >= 32 && i < 32 + HW_PEER_DELTA_WORDS) {
        reinterpret_cast<uint64_t *>(&shared.previous)[i - 32] =
            shared.received[params.part.rank][i - 32];
    } else if (warp == 2) {
        count_updates(params, shared);
    }
    __syncthreads();
    return shared.ok != 0;
}

/* ---- passes ---- */

__device__ __forceinline__ iteration_counters no_counters()
{
    return iteration_counters{};
}

/* once: is no vertex found twice? marked: do those that are to wait have marks already? */
template <int kind>
__device__ void begin_iteration(const kernel_params &params, block_shared &shared,
                                lane_state<kind> &state, const search_state<kind> &search,
                                bool once, bool marked)
{
    hw_peer_delta_control *control = params.control;
    const uint32_t number = search.iteration, rest = search.rest_index;

    state.iteration = number;
    state.parity = search.allgather & 1;
    state.step_count = state.rest_count = state.num_updates = 0;
    state.edges = state.pulled = state.degrees = state.unsettled = 0;
    state.from_inbox = state.sent_step = state.sent_rest = state.sent_keys = 0;
    state.min_key = state.remote_load_from = hw_keys<kind>::none;
    state.rebroadcast_below = 0;
    state.skip_precheck = false;
    if (threadIdx.x == 0) {
        shared.queue[step_queue] =
            marked_queue{by_parity(params.queues.step_queue, number + 1),
                         &control->counters[(number + 1) & 3].step,
                         once ? nullptr : by_parity(params.queues.step_marks, number + 1)};
        shared.queue[rest_queue] =
            marked_queue{by_parity(params.queues.rest_queue, rest), &control->rest[rest % 3],
                         marked ? nullptr : params.queues.rest_marks};
        shared.worklist_size = 0;
        shared.work = work_chunk{blockIdx.x << claim_bits | warps, gridDim.x + blockIdx.x};
    }
    if (hw_grid_thread() == 0)
        control->counters[(number + 2) & 3] = no_counters();
    __syncthreads();
}

/* Begins a pass that fills another list of those that wait. The one before stays as it is, so
 * that blocks which come late decide from the same number what comes next. Such a pass may give
 * blocks shares, too. */
template <int kind>
__device__ void begin_refill(const kernel_params &params, block_shared &shared,
                             lane_state<kind> &state, search_state<kind> &search, bool once,
                             bool marked)
{
    search.rest_index++;
    begin_iteration(params, shared, state, search, once, marked);
    if (hw_grid_thread() == 0)
        params.control->rest[(search.rest_index + 1) % 3] =
            params.control->claimed[(search.rest_index + 1) % 3] = 0;
}

/* Room for all that the block has, and its sums: each by a warp of its own, if there are enough, so
 * that they wait together. All warps call it. */
__device__ __forceinline__ void
reserve_and_publish(const kernel_params &params, block_shared &shared, iteration_counters *counters)
{
    const uint32_t boxes = num_queues, first = boxes + params.part.ranks;

    for (uint32_t k = threadIdx.x / 32; k <= first + sums; k += warps) {
        if (k < boxes)
            reserve_queue(shared, static_cast<int>(k));
        else if (k < first)
            reserve_outbox(shared, counters, k - boxes);
        else
            publish_counters(shared, counters, k - first);
    }
}

/* Sums, queues and mail of the block, so much of each of this warp. Most blocks have nothing in
 * small passes. All threads call it. */
template <int kind>
__device__ __noinline__ void flush_block_buffers(uint32_t number, uint32_t parity, bool summed,
                                                 uint32_t step, uint32_t rest, uint32_t sent)
{
    block_shared &shared = shared_memory();
    const kernel_params &params = shared.params;
    const uint32_t lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    uint32_t v[num_queues][items_per_lane];

    __syncwarp();
    const uint32_t fresh[num_queues] = {mark_new(shared, step_queue, step, v[0]),
                                        mark_new(shared, rest_queue, rest, v[1])};
    const send_batch batch = batch_by_owner(params, shared, sent);
    if (lane < params.part.ranks)
        shared.outbox_offset[lane][warp] = batch.mine;
    const uint32_t count[num_queues] = {count_warp(fresh[0]), count_warp(fresh[1])};
    if (lane < num_queues)
        shared.queue_offset[lane][warp] = lane == step_queue ? count[0] : count[1];
    if (!__syncthreads_or(summed || sent || count[0] || count[1]))
        return;
    reserve_and_publish(params, shared, &params.control->counters[(number + 1) & 3]);
    __syncthreads();
    /* What has the longest way goes first. */
    store_batch<kind>(params, parity, batch,
                      lane < params.part.ranks ? shared.outbox_offset[lane][warp] : 0);
#pragma unroll
    for (int q = 0; q < num_queues; q++)
        if (count[q])
            write_new(shared.queue[q].list + shared.queue_offset[q][warp], v[q], fresh[q]);
    __syncwarp();
}

/* Likewise; the pass may go on. */
template <int kind> __device__ __forceinline__ void flush_iteration(lane_state<kind> &state)
{
    const bool summed = reduce_lane_counters(shared_memory(), state);

    flush_block_buffers<kind>(state.iteration, state.parity, summed, state.step_count,
                              state.rest_count, state.num_updates);
    state.step_count = state.rest_count = state.num_updates = 0;
}

/* ---- hints ---- */

/* What stands for the source of an edge that vanishes in its source's key: no parent as such, for
 * two vertices could have each other. */
constexpr uint32_t equal_distance_parent = HW_INVALID_VERTEX - 1;

/* What hints and results have room for of a key, and does it say all? */
template <int kind> __device__ __forceinline__ uint32_t low_bits(key_of<kind> key)
{
    return static_cast<uint32_t>(key);
}

template <int kind> __device__ __forceinline__ bool fits_low_bits(key_of<kind> key)
{
    return kind != HW_GPU_KEY_I64 || key <= static_cast<key_of<kind>>(UINT32_MAX);
}

/* The last edge that lowered an own vertex, as its source and the key it gave: without order
 * among threads, so that it holds only where that is the vertex's key in the end. No source where
 * a key has more bits than fit. */
template <int kind>
__device__ __forceinline__ void put_hint(const kernel_params &params, uint32_t v, uint32_t source,
                                         key_of<kind> key)
{
    reinterpret_cast<uint2 *>(params.part.value)[owned_begin(params) + v] =
        make_uint2(fits_low_bits<kind>(key) ? source : HW_INVALID_VERTEX, low_bits<kind>(key));
}

/* ---- taking mail ---- */

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
    return static_cast<const uint4 *>(params.peers.outbox[parity].came[q]) +
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
    uint32_t *touched = params.peers.touched_of[state.parity][params.part.rank];
    const key_of<kind> *own = distances<kind>(params) + owned_begin(params);
    const uint64_t words = params.part.block / 32 + 1;
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
    const uint64_t count = shared.updates_end[params.part.ranks - 1];
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

/* Notes what mail brought that the pass before had left, if rows are wanted. */
template <int kind>
__device__ void trace_add_found(const kernel_params &params, const search_state<kind> &search,
                                uint32_t count)
{
    if (params.trace && hw_grid_thread() == 0 && search.trace_records > 0 &&
        search.trace_records < params.config.trace_capacity)
        params.trace[search.trace_records - 1].found += count;
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

/* One more row, if rows are wanted. One thread of the GPU writes it. */
template <int kind>
__device__ void trace_append(const kernel_params &params, const block_shared &shared,
                             search_state<kind> &search, uint32_t routine)
{
    if (!params.trace || hw_grid_thread() != 0)
        return;
    uint64_t sent = shared.previous.sent_keys * sizeof(key_of<kind>);
    for (uint32_t q = 0; q < params.part.ranks; q++)
        sent += static_cast<uint64_t>(shared.previous.sent[q]) * sizeof(uint4);
    params.trace[min(search.trace_records, params.config.trace_capacity - 1)] =
        hw_peer_delta_trace_record{routine,
                                   search.bucket,
                                   shared.previous.frontier + shared.previous.from_inbox,
                                   shared.previous.step,
                                   shared.previous.pushed,
                                   shared.previous.pulled,
                                   sent,
                                   hw_nanoseconds()};
    trace_add_found(params, search, shared.previous.from_inbox);
    search.trace_records++;
}

} // namespace

#endif
