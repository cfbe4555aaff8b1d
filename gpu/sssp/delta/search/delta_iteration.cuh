/*
 * Begin and end of an iteration of delta-stepping (gpu/sssp/delta/delta_search.h): queues are set
 * up; at the end the block sums its counters and flushes what its warps buffered; trace records.
 */
#ifndef HOPWAVE_GPU_SSSP_DELTA_SEARCH_DELTA_ITERATION_CUH
#define HOPWAVE_GPU_SSSP_DELTA_SEARCH_DELTA_ITERATION_CUH

#include "gpu/engine/trace_append.cuh"
#include "gpu/sssp/delta/search/delta_outbox.cuh"

namespace hw_delta::search
{
namespace
{

/* Adds the warp's sum to a counter in global memory. */
__device__ __forceinline__ void add(count64 *to, uint32_t mine)
{
    if (!__any_sync(HW_WARP, mine != 0))
        return;
    const count64 all = warp_sum(mine);
    if ((threadIdx.x & 31) == 0)
        atomicAdd(to, all);
}

/* Counters of a lane that are summed, in the order of block_shared::sum. */
template <class Peers> struct lane_counters {
    uint32_t value[sums<Peers>];
};

template <class Peers, int kind>
__device__ __forceinline__ lane_counters<Peers> counters_of(const lane_state<kind> &state)
{
    if constexpr (Peers::several)
        return {{state.edges, state.degrees, state.unsettled, state.pulled, state.sent_step,
                 state.sent_rest, state.from_inbox, state.sent_keys}};
    else
        return {{state.edges, state.degrees, state.unsettled, state.pulled}};
}

/* Sums the lanes' counters into shared memory. The arguments fit into registers. */
template <int kind, class Peers>
__device__ __noinline__ void reduce_counters(const lane_counters<Peers> count, key_of<kind> min_key)
{
    const uint32_t lane = threadIdx.x & 31;
    const key_of<kind> warp_min_key = hw_warp_min(min_key);
    count64 mine = 0;

#pragma unroll
    for (uint32_t k = 0; k < sums<Peers>; k++) {
        if (!__any_sync(HW_WARP, count.value[k] != 0))
            continue;
        const count64 all = warp_sum(count.value[k]);
        mine = lane == k ? all : mine;
    }
    if (lane == sums<Peers> && warp_min_key != hw_keys<kind>::none)
        mine = complement(warp_min_key);
    if (lane <= sums<Peers>)
        shared_memory<Peers>().sum[lane][threadIdx.x / 32] = mine;
}

/* The same, unless all counters are zero, as those of most warps are in small iterations. Returns
 * whether they are not. */
template <int kind, class Peers>
__device__ __forceinline__ bool reduce_lane_counters(block_shared<Peers> &shared,
                                                     const lane_state<kind> &state)
{
    const uint32_t lane = threadIdx.x & 31;
    const bool any = __any_sync(
        HW_WARP, state.min_key != hw_keys<kind>::none ||
                     (state.edges | state.degrees | state.unsettled | state.pulled) != 0 ||
                     (Peers::several && (state.sent_step | state.sent_rest | state.from_inbox |
                                         state.sent_keys) != 0));

    if (any)
        reduce_counters<kind>(counters_of<Peers>(state), state.min_key);
    else if (lane <= sums<Peers>)
        shared.sum[lane][threadIdx.x / 32] = 0;
    return any;
}

/* Adds one sum of the block to the counters of the GPU. One warp. */
template <class Peers>
__device__ __forceinline__ void publish_counters(const block_shared<Peers> &shared,
                                                 iteration_counters *to, uint32_t k)
{
    count64 *words = reinterpret_cast<count64 *>(to);
    const uint32_t lane = threadIdx.x & 31;
    const count64 mine = lane < warps ? shared.sum[k][lane] : 0;

    if (!__any_sync(HW_WARP, mine != 0))
        return;
    if (k == sums<Peers>) {
        const count64 maximum = ~hw_warp_min(~mine);
        if (lane == 0)
            atomicMax(&to->max_complement, maximum);
        return;
    }
    const count64 all = hw_warp_sum64(mine);
    if (lane != 0)
        return;
    if (k < 4)
        atomicAdd(words + HW_DELTA_COUNT_EDGES + k, all);
    else if (k < 7)
        atomicAdd(k == 4   ? &to->sent_step
                  : k == 5 ? &to->sent_rest
                           : &to->from_inbox,
                  static_cast<uint32_t>(all));
    else
        atomicAdd(&to->sent_keys, all);
}

__device__ __forceinline__ iteration_counters no_counters()
{
    return iteration_counters{};
}

/* once: no vertex is found twice, so that the step queue needs no marks; marked: the vertices for
 * the rest queue have marks already. Like all counters, that of the rest queue counts what this
 * iteration adds: a length that went on growing would be another one for blocks that load it late.
 * rest_before: vertices that are in the rest queue. */
template <int kind, class Peers>
__device__ void begin_iteration_at(const kernel_params<Peers> &params, block_shared<Peers> &shared,
                                   lane_state<kind> &state, const search_state<kind> &search,
                                   bool once, bool marked, uint32_t rest_before)
{
    hw_delta_control *control = params.control;
    const uint32_t number = search.iteration;

    state.iteration = number;
    state.parity = search.allgather & 1;
    state.step_count = state.rest_count = state.num_updates = 0;
    state.edges = state.pulled = state.degrees = state.unsettled = 0;
    state.from_inbox = state.sent_step = state.sent_rest = state.sent_keys = 0;
    state.min_key = state.remote_load_from = hw_keys<kind>::none;
    state.rebroadcast_below = 0;
    state.settled_below = hw_keys<kind>::none;
    state.skip_precheck = state.compact_keys = false;
    if (threadIdx.x == 0) {
        shared.queue[step_queue] =
            marked_queue{by_parity(params.queues.step_queue, number + 1),
                         &control->counters[(number + 1) & 3].step,
                         once ? nullptr : by_parity(params.queues.step_marks, number + 1)};
        shared.queue[rest_queue] = marked_queue{
            by_parity(params.queues.rest_queue, search.rest_index) + rest_before,
            &control->counters[(number + 1) & 3].rest, marked ? nullptr : params.queues.rest_marks};
        shared.rest_before = rest_before;
        shared.worklist_size = 0;
        shared.work = work_chunk{blockIdx.x << claim_bits | warps, gridDim.x + blockIdx.x};
    }
    if (hw_grid_thread() == 0)
        control->counters[(number + 2) & 3] = no_counters();
    __syncthreads();
}

/* Begins an iteration that adds to the rest queue. */
template <int kind, class Peers>
__device__ __forceinline__ void
begin_iteration(const kernel_params<Peers> &params, block_shared<Peers> &shared,
                lane_state<kind> &state, const search_state<kind> &search, bool once, bool marked)
{
    begin_iteration_at(params, shared, state, search, once, marked, shared.previous.rest);
}

/* Begins an iteration that fills another rest queue. Such an iteration may also claim work chunks.
 */
template <int kind, class Peers>
__device__ void begin_refill(const kernel_params<Peers> &params, block_shared<Peers> &shared,
                             lane_state<kind> &state, search_state<kind> &search, bool once,
                             bool marked)
{
    search.rest_index++;
    begin_iteration_at(params, shared, state, search, once, marked, 0);
    if (hw_grid_thread() == 0)
        params.control->claimed[(search.rest_index + 1) % 3] = 0;
}

/* Reserves places in queues and outboxes for the block, and publishes its sums: a warp for each, if
 * there are enough warps, so that they wait concurrently. All warps call it. */
template <class Peers>
__device__ __forceinline__ void reserve_and_publish(const kernel_params<Peers> &params,
                                                    block_shared<Peers> &shared,
                                                    iteration_counters *counters)
{
    const uint32_t first_outbox = num_queues,
                   first_sum = first_outbox + (Peers::several ? Peers::ranks(params) : 0);

    for (uint32_t k = threadIdx.x / 32; k <= first_sum + sums<Peers>; k += warps) {
        if (k < first_outbox)
            reserve_queue(shared, static_cast<int>(k));
        else if (k >= first_sum)
            publish_counters(shared, counters, k - first_sum);
        else if constexpr (Peers::several)
            reserve_outbox(shared, counters, k - first_outbox);
    }
}

/* Flushes the block's queue buffers and updates; the arguments are the counts of this warp. Most
 * blocks have nothing in small iterations. All threads call it. */
template <int kind, class Peers>
__device__ __noinline__ void flush_block_buffers(uint32_t number, uint32_t parity, bool summed,
                                                 uint32_t step, uint32_t rest, uint32_t sent)
{
    block_shared<Peers> &shared = shared_memory<Peers>();
    const kernel_params<Peers> &params = shared.params;
    const uint32_t lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    uint32_t v[num_queues][items_per_lane];

    __syncwarp();
    const uint32_t fresh[num_queues] = {mark_new(shared, step_queue, step, v[0]),
                                        mark_new(shared, rest_queue, rest, v[1])};
    send_batch batch;
    if constexpr (Peers::several) {
        batch = batch_by_owner(params, shared, sent);
        if (lane < Peers::ranks(params))
            shared.outbox_offset[lane][warp] = batch.mine;
    }
    const uint32_t count[num_queues] = {count_warp(fresh[0]), count_warp(fresh[1])};
    if (lane < num_queues)
        shared.queue_offset[lane][warp] = lane == step_queue ? count[0] : count[1];
    if (!__syncthreads_or(summed || sent || count[0] || count[1]))
        return;
    reserve_and_publish(params, shared, &params.control->counters[(number + 1) & 3]);
    __syncthreads();
    /* the longest latency first */
    if constexpr (Peers::several)
        store_batch<kind>(params, parity, batch,
                          lane < Peers::ranks(params) ? shared.outbox_offset[lane][warp] : 0);
#pragma unroll
    for (int q = 0; q < num_queues; q++)
        if (count[q])
            write_new(shared.queue[q].list + shared.queue_offset[q][warp], v[q], fresh[q]);
    __syncwarp();
}

/* Flushes counters and buffers of the lane; the iteration may continue. */
template <class Peers, int kind>
__device__ __forceinline__ void flush_iteration(lane_state<kind> &state)
{
    const bool summed = reduce_lane_counters(shared_memory<Peers>(), state);

    flush_block_buffers<kind, Peers>(state.iteration, state.parity, summed, state.step_count,
                                     state.rest_count, state.num_updates);
    state.step_count = state.rest_count = state.num_updates = 0;
}

/* Adds vertices found by deferred updates to the last trace record. */
template <int kind, class Peers>
__device__ void trace_add_found(const kernel_params<Peers> &params,
                                const search_state<kind> &search, uint32_t count)
{
    if (params.trace && hw_grid_thread() == 0 && search.trace_records > 0 &&
        search.trace_records < params.config.trace_capacity)
        params.trace[search.trace_records - 1].found += count;
}

/* Bytes of updates and keys that this GPU sent, for trace record `index`. The recording thread. */
template <int kind, class Peers>
__device__ __forceinline__ uint64_t bytes_sent(const kernel_params<Peers> &params,
                                               const block_shared<Peers> &shared, uint32_t index)
{
    uint64_t sent = shared.previous.sent_keys * sizeof(key_of<kind>);

    if constexpr (Peers::has_network) /* keys are counted for all other ranks */
        sent = sent / (Peers::ranks(params) - 1) * (params.internode.puts.per_node - 1) +
               Peers::trace_sent(params, index).bytes;
    for (uint32_t q = 0; q < Peers::ranks(params); q++) {
        if constexpr (Peers::has_network)
            if (!Peers::is_near(params, q))
                continue;
        sent += static_cast<uint64_t>(shared.previous.sent[q]) * sizeof(uint4);
    }
    return sent;
}

/* Appends a trace record, if a trace is wanted. One thread of the GPU writes it. */
template <int kind, class Peers>
__device__ void trace_append(const kernel_params<Peers> &params, const block_shared<Peers> &shared,
                             search_state<kind> &search, uint32_t routine)
{
    if (!params.trace || hw_grid_thread() != 0)
        return;
    const uint64_t sent = bytes_sent<kind>(params, shared, search.trace_records);
    *trace_slot(params.trace, params.config.trace_capacity, search.trace_records) =
        hw_delta_trace_record{routine,
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
} // namespace hw_delta::search

#endif
