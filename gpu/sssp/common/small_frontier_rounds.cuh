/*
 * Rounds of delta-stepping for small frontiers
 * (gpu/sssp/delta/small_frontier_delta_kernel.cu): what a block does between two grid barriers.
 * Each round relaxes the edges of the entries of one queue in shared memory into the other; an
 * entry is a vertex, its key and its record. Discoveries beyond the step, and those for which the
 * block has no space, go to the global queues.
 */
#ifndef HOPWAVE_GPU_SSSP_COMMON_SMALL_FRONTIER_ROUNDS_CUH
#define HOPWAVE_GPU_SSSP_COMMON_SMALL_FRONTIER_ROUNDS_CUH

#include "gpu/engine/trace_append.cuh"
#include "gpu/sssp/common/small_frontier_device.cuh"

namespace hw_delta::small_frontier
{
namespace
{

constexpr uint32_t threads = HW_SMALL_FRONTIER_THREADS;
/* Bit of an entry's vertex: the record is not its first. */
constexpr uint32_t rest_bit = 1u << 31;
/* Entries of a block's queue; length below which it is refilled from the block's part of the
 * iteration's queue; discoveries beyond the step that a block buffers. */
constexpr uint32_t queue_capacity = 512, refill_below = 384, deferred_capacity = 512;
/* Edges that a thread relaxes in a round. */
constexpr uint32_t edges_per_thread = queue_capacity * record_edges / threads;

static_assert(refill_below <= threads && queue_capacity <= threads && deferred_capacity <= threads,
              "one thread for each");

/* Queue of a round, as a structure of arrays. */
template <int kind> struct frontier_entries {
    uint4 record[2 * queue_capacity];
    key_of<kind> key[queue_capacity];
    uint32_t vertex[queue_capacity];
};

/* Shared memory of a block. */
template <int kind> struct block_shared {
    frontier_entries<kind> queue[2]; /* of even and odd rounds */
    uint32_t deferred[deferred_capacity];
    uint32_t count[4];     /* entries found: a ring of rounds */
    uint32_t num_deferred; /* those beyond deferred_capacity went to the rest queue */
    uint32_t stop[2];      /* of even and odd rounds: the iteration ends after it */
    uint32_t sum[2], base[2];
    hw_small_frontier_counters previous; /* of the previous iteration */
    uint32_t rest[3];                    /* of the previous iteration */
    uint64_t end_clock;                  /* clock64() at its end */
};

/* State of a search; equal in all blocks. */
template <int kind> struct search_state {
    key_of<kind> step_end;                       /* end of the step */
    uint32_t iteration, rest_index;              /* rest_index: of the ring of rest queues */
    uint32_t step, trace_records, trace_cleared; /* trace_cleared: records */
};

/* A queue that all blocks fill, each vertex once. */
struct marked_queue {
    uint32_t *list, *counter, *marks;
};

/* The next iteration's queue. */
template <int kind, class Peers>
__device__ __forceinline__ marked_queue step_queue(const kernel_params<Peers> &params,
                                                   const search_state<kind> &search)
{
    return marked_queue{by_parity(params.step_queue, search.iteration + 1),
                        &params.control->counters[(search.iteration + 1) & 3].step,
                        by_parity(params.step_marks, search.iteration + 1)};
}

/* The queue of the vertices beyond the step. */
template <int kind, class Peers>
__device__ __forceinline__ marked_queue rest_queue(const kernel_params<Peers> &params,
                                                   const search_state<kind> &search)
{
    return marked_queue{by_parity(params.rest_queue, search.rest_index),
                        &params.control->rest[search.rest_index % 3], params.rest_marks};
}

/* Marks a vertex; returns whether it was not marked. */
__device__ __forceinline__ bool mark_new(const marked_queue &to, uint32_t v)
{
    const uint32_t bit = 1u << (v & 31);

    return !(atomicOr(to.marks + (v >> 5), bit) & bit);
}

/* Appends one vertex, where the buffer of the block is full. */
__device__ __noinline__ void append_one(const marked_queue &to, uint32_t v)
{
    if (mark_new(to, v))
        to.list[atomicAdd(to.counter, 1u)] = v;
}

/* Reserves an index behind `count` in shared memory for each lane that wants one. Warp-collective.
 */
__device__ __forceinline__ uint32_t reserve_indices(uint32_t *count, bool wanted)
{
    const uint32_t lane = threadIdx.x & 31, all = __ballot_sync(HW_WARP, wanted);
    uint32_t start = 0;

    if (all == 0)
        return 0;
    if (lane == 0)
        start = atomicAdd(count, __popc(all));
    return __shfl_sync(HW_WARP, start, 0) + __popc(all & ((1u << lane) - 1));
}

/* Loads a record; issued at once. */
__device__ __forceinline__ void read_record(const hw_gpu_edge *at, uint4 (&half)[2])
{
    half[0] = hw_load_volatile(at);
    half[1] = hw_load_volatile(at + 2);
}

template <int kind>
__device__ __forceinline__ void store_entry(frontier_entries<kind> &queue, uint32_t at, uint32_t v,
                                            key_of<kind> key, const uint4 (&half)[2])
{
    queue.vertex[at] = v;
    queue.key[at] = key;
    queue.record[2 * at] = half[0];
    queue.record[2 * at + 1] = half[1];
}

/* An edge in flight. */
template <int kind> struct relaxed_edge {
    hw_gpu_edge edge;
    uint32_t source;
    key_of<kind> from, key, old; /* key of the source; of the target: new, old */
    uint4 half[2];               /* record of the target, or the one where the list continues */
};

/* Relaxes a slot of an entry, without waiting for the result. */
template <int kind, class Peers>
__device__ __forceinline__ void relax(const kernel_params<Peers> &params,
                                      const frontier_entries<kind> &queue, uint32_t slot,
                                      bool there, relaxed_edge<kind> &out)
{
    out.edge = reinterpret_cast<const hw_gpu_edge *>(queue.record)[slot];
    out.source = queue.vertex[slot / record_edges] & ~rest_bit;
    out.from = queue.key[slot / record_edges];
    out.old = -1;
    if (!there)
        out.edge.neighbor = HW_INVALID_VERTEX;
    out.key = out.edge.neighbor == HW_INVALID_VERTEX
                  ? 0
                  : out.from; /* an empty slot has an arbitrary key */
    if (out.edge.neighbor == HW_INVALID_VERTEX)
        return;
    if (out.edge.neighbor < continuation) {
        out.key = hw_further<kind>(out.from, out.edge.weight);
        out.old = Peers::template lower<kind>(params, out.edge.neighbor, out.key, out.source);
    }
    read_record(Peers::next_record(params, out.source, out.edge), out.half);
}

/* Relaxes the edges in the record `at` and those where its list continues, one by one, where the
 * queue of the next round is full. */
template <int kind, class Peers>
__device__ __noinline__ void push_rest(const kernel_params<Peers> &params,
                                       const search_state<kind> &search, const hw_gpu_edge *at,
                                       uint32_t source, key_of<kind> from)
{
    for (uint32_t slot = 0; slot < record_edges && at[slot].neighbor != HW_INVALID_VERTEX; slot++) {
        if (at[slot].neighbor == continuation) {
            at = Peers::next_record(params, source, at[slot]);
            slot = UINT32_MAX; /* 0 after the increment */
            continue;
        }
        const hw_gpu_edge edge = at[slot];
        const key_of<kind> key = hw_further<kind>(from, edge.weight);
        if (key >= Peers::template lower<kind>(params, edge.neighbor, key, source))
            continue;
        Peers::template put_hint<kind>(params, edge.neighbor, source, from, edge.weight, key);
        append_one(key < search.step_end ? step_queue(params, search) : rest_queue(params, search),
                   edge.neighbor);
    }
}

/* Drops the edge back to the source from a record: it cannot improve the source. */
__device__ __forceinline__ void drop_back_edge(uint32_t source, uint4 (&half)[2])
{
#pragma unroll
    for (int k = 0; k < 2; k++) {
        half[k].x = half[k].x == source ? HW_INVALID_VERTEX : half[k].x;
        half[k].z = half[k].z == source ? HW_INVALID_VERTEX : half[k].z;
    }
}

/* Stores the result of a slot into the queue of the next round, at `at`: a target within the step,
 * or the continuation of a list. */
template <int kind, class Peers>
__device__ __forceinline__ void
store_near(const kernel_params<Peers> &params, block_shared<kind> &shared,
           const search_state<kind> &search, uint32_t round, uint32_t at, relaxed_edge<kind> &out)
{
    const bool continues = out.edge.neighbor == continuation;

    if (at < queue_capacity) {
        if (!continues)
            drop_back_edge(out.source, out.half);
        store_entry(shared.queue[(round + 1) & 1], at,
                    continues ? out.source | rest_bit : out.edge.neighbor, out.key, out.half);
        return;
    }
    if (continues)
        push_rest(params, search, Peers::next_record(params, out.source, out.edge), out.source,
                  out.key);
    else
        append_one(step_queue(params, search), out.edge.neighbor);
}

/* Stores the results of some slots a lane. Warp-collective. */
template <int kind, class Peers>
__device__ __forceinline__ void store_relaxed(const kernel_params<Peers> &params,
                                              block_shared<kind> &shared,
                                              const search_state<kind> &search, uint32_t round,
                                              relaxed_edge<kind> (&out)[edges_per_thread])
{
    const uint32_t lane = threadIdx.x & 31, below = (1u << lane) - 1;
    uint32_t near[edges_per_thread], far[edges_per_thread], nears = 0, fars = 0, start = 0;

#pragma unroll
    for (uint32_t k = 0; k < edges_per_thread; k++) {
        const bool better = out[k].key < out[k].old, inside = out[k].key < search.step_end;
        near[k] =
            __ballot_sync(HW_WARP, out[k].edge.neighbor == continuation || (better && inside));
        far[k] = __ballot_sync(HW_WARP, better && !inside);
        nears += __popc(near[k]);
        fars += __popc(far[k]);
    }
    if (nears + fars == 0)
        return;
    if (lane < 2) /* a lane for each queue, concurrently */
        start = atomicAdd(lane == 0 ? &shared.count[(round + 1) & 3] : &shared.num_deferred,
                          lane == 0 ? nears : fars);
    uint32_t near_start = __shfl_sync(HW_WARP, start, 0),
             far_start = __shfl_sync(HW_WARP, start, 1);
#pragma unroll
    for (uint32_t k = 0; k < edges_per_thread; k++) {
        const uint32_t near_index = near_start + __popc(near[k] & below);
        const uint32_t far_index = far_start + __popc(far[k] & below);
        if (near[k] >> lane & 1)
            store_near(params, shared, search, round, near_index, out[k]);
        if (far[k] >> lane & 1) {
            if (far_index < deferred_capacity)
                shared.deferred[far_index] = out[k].edge.neighbor;
            else
                append_one(rest_queue(params, search), out[k].edge.neighbor);
        }
        if (out[k].key < out[k].old)
            Peers::template put_hint<kind>(params, out[k].edge.neighbor, out[k].source, out[k].from,
                                           out[k].edge.weight, out[k].key);
        near_start += __popc(near[k]);
        far_start += __popc(far[k]);
    }
}

/* One round: relaxes the edges of `count` entries of one queue into the other. */
template <int kind, class Peers>
__device__ __forceinline__ void
push_round(const kernel_params<Peers> &params, block_shared<kind> &shared,
           const search_state<kind> &search, uint32_t round, uint32_t count)
{
    const uint32_t first = threadIdx.x & ~31u; /* first slot of the warp */
    relaxed_edge<kind> out[edges_per_thread];

    if (first >= count * record_edges)
        return;
#pragma unroll
    for (uint32_t k = 0; k < edges_per_thread; k++) {
        const uint32_t slot = k * threads + threadIdx.x;
        out[k].edge.neighbor = HW_INVALID_VERTEX;
        out[k].key = 0;
        out[k].old = -1;
        if (k * threads + first < count * record_edges)
            relax<kind>(params, shared.queue[round & 1], slot, slot < count * record_edges, out[k]);
    }
    store_relaxed<kind>(params, shared, search, round, out);
}

/* Loads `count` vertices of the iteration's queue behind `have` entries. */
template <int kind, class Peers>
__device__ __forceinline__ void load_entries(const kernel_params<Peers> &params,
                                             frontier_entries<kind> &queue, uint32_t iteration,
                                             uint64_t first, uint32_t count, uint32_t have)
{
    if (threadIdx.x >= count)
        return;
    const uint32_t v = __ldcg(by_parity(params.step_queue, iteration) + first + threadIdx.x);
    uint4 half[2];
    read_record(Peers::record(params, v), half);
    by_parity(params.step_marks, iteration)[v >> 5] =
        0; /* all bits of the word belong to this iteration */
    store_entry(queue, have + threadIdx.x, v, Peers::template load_distance<kind>(params, v), half);
}

/* Appends `count` entries of a queue, and the block's discoveries beyond the step, to the global
 * queues. All threads call it. */
template <int kind, class Peers>
__device__ __noinline__ void
flush_block(const kernel_params<Peers> &params, block_shared<kind> &shared,
            const search_state<kind> &search, frontier_entries<kind> &queue, uint32_t count,
            uint32_t num_deferred)
{
    const uint32_t thread = threadIdx.x;
    const marked_queue to[2] = {step_queue(params, search), rest_queue(params, search)};
    uint32_t v[2] = {thread < count ? queue.vertex[thread] : HW_INVALID_VERTEX,
                     thread < num_deferred ? shared.deferred[thread] : HW_INVALID_VERTEX};
    uint32_t at[2];
    bool fresh[2];

    if (thread < count && (v[0] & rest_bit)) {
        push_rest(params, search,
                  reinterpret_cast<const hw_gpu_edge *>(queue.record) + record_edges * thread,
                  v[0] & ~rest_bit, queue.key[thread]);
        v[0] = HW_INVALID_VERTEX;
    }
    if (thread < 2)
        shared.sum[thread] = 0;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 2; k++)
        fresh[k] = v[k] != HW_INVALID_VERTEX && mark_new(to[k], v[k]);
#pragma unroll
    for (int k = 0; k < 2; k++)
        at[k] = reserve_indices(&shared.sum[k], fresh[k]);
    __syncthreads();
    if (thread < 2 && shared.sum[thread] > 0)
        shared.base[thread] =
            atomicAdd(thread == 0 ? to[0].counter : to[1].counter, shared.sum[thread]);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 2; k++)
        if (fresh[k])
            to[k].list[shared.base[k] + at[k]] = v[k];
}

/* Whether the iteration ends after this round. idle: blocks that found nothing more. */
template <class Peers>
__device__ __forceinline__ bool iteration_ends(const kernel_params<Peers> &params, uint32_t round,
                                               uint32_t idle, uint32_t blocks)
{
    return round + 1 >= Peers::max_rounds ||
           (round + 1 >= params.min_rounds && idle * params.idle_fraction >= blocks);
}

/* Trace record of a round. */
template <class Peers>
__device__ __forceinline__ hw_gpu_sssp_trace_record *trace_at(const kernel_params<Peers> &params,
                                                              uint32_t at)
{
    return trace_slot(params.trace, params.trace_capacity, at);
}

/* Counts a round of this block in its trace record. One thread. */
template <int kind, class Peers>
__device__ __forceinline__ void trace_round(const kernel_params<Peers> &params,
                                            const search_state<kind> &search, uint32_t round,
                                            uint32_t count)
{
    atomicAdd(&trace_at(params, search.trace_records + round)->frontier, count);
    if (blockIdx.x == 0 && round > 0)
        trace_at(params, search.trace_records + round - 1)->clock =
            static_cast<uint64_t>(clock64());
}

/* Counts the edges of `count` entries. */
template <int kind>
__device__ __forceinline__ uint32_t count_edges(const frontier_entries<kind> &queue, uint32_t count)
{
    uint32_t edges = 0;

    for (uint32_t slot = threadIdx.x; slot < record_edges * count; slot += threads)
        edges += reinterpret_cast<const hw_gpu_edge *>(queue.record)[slot].neighbor < continuation;
    return edges;
}

/* Refills a block's queue from its part [at, end) of the iteration's. Returns the number of
 * entries. */
template <int kind, class Peers>
__device__ __forceinline__ uint32_t refill_queue(const kernel_params<Peers> &params,
                                                 frontier_entries<kind> &queue, uint32_t iteration,
                                                 uint32_t count, uint64_t &at, uint64_t end)
{
    if (at == end || count >= refill_below)
        return count;
    const uint32_t loaded =
        static_cast<uint32_t>(min(end - at, static_cast<uint64_t>(refill_below - count)));
    load_entries(params, queue, iteration, at, loaded, count);
    at += loaded;
    __syncthreads();
    return count + loaded;
}

/* Defers what a round found to the next iteration, since this one has enough work. */
template <int kind, class Peers>
__device__ __noinline__ void defer_round(const kernel_params<Peers> &params,
                                         block_shared<kind> &shared,
                                         const search_state<kind> &search, uint32_t round)
{
    flush_block(params, shared, search, shared.queue[(round + 1) & 1],
                min(shared.count[(round + 1) & 3], queue_capacity),
                min(shared.num_deferred, deferred_capacity));
    __syncthreads();
    if (threadIdx.x == 0)
        shared.count[(round + 1) & 3] = shared.num_deferred = 0;
    __syncthreads();
}

/* Pushes a block's part [at, end) of the iteration's queue, and its discoveries. Returns the number
 * of rounds. edges: of this thread. */
template <int kind, class Peers>
__device__ uint32_t push_work_chunk(const kernel_params<Peers> &params, block_shared<kind> &shared,
                                    const search_state<kind> &search, uint64_t at, uint64_t end,
                                    uint32_t blocks, uint32_t &edges)
{
    const uint32_t thread = threadIdx.x;
    const bool large = end - at > queue_capacity;
    hw_small_frontier_counters *next = &params.control->counters[(search.iteration + 1) & 3];
    uint32_t round = 0, count = 0, idle = 0;
    bool spilled = false; /* the queue of a round was too small */

    if (thread == 0)
        shared.count[0] = shared.count[1] = shared.num_deferred = 0;
    __syncthreads();
    for (;; round++) {
        frontier_entries<kind> &queue = shared.queue[round & 1];
        const uint32_t found = shared.count[round & 3];
        spilled = spilled || found > queue_capacity;
        count = refill_queue(params, queue, search.iteration, min(found, queue_capacity), at, end);
        if (count == 0 || (at == end && (spilled || (round > 0 && shared.stop[(round - 1) & 1]))))
            break;
        if (thread == threads - 32) { /* the last warp has entries in large queues only */
            shared.count[(round + 2) & 3] = 0;
            shared.stop[round & 1] = iteration_ends(params, round, idle, blocks);
            idle = hw_load_relaxed(
                &next->idle_blocks); /* for the next round: nothing waits for it here */
            if (params.trace)
                trace_round(params, search, min(round, Peers::max_rounds - 1), count);
        }
        if (params.trace)
            edges += count_edges(queue, count);
        push_round(params, shared, search, round, count);
        __syncthreads();
        if (large)
            defer_round(params, shared, search, round);
    }
    if (thread == 0 && (count == 0 || spilled))
        atomicAdd(&next->idle_blocks, spilled ? blocks : 1);
    const uint32_t num_deferred = min(shared.num_deferred, deferred_capacity);
    if (count > 0 || num_deferred > 0)
        flush_block(params, shared, search, shared.queue[round & 1], count, num_deferred);
    return min(round, Peers::max_rounds);
}

} // namespace
} // namespace hw_delta::small_frontier

#endif
