/*
 * Shortest paths on several parts: updates for other ranks. Packs improved vertices as (position,
 * key) pairs into the outboxes, which over `peer` are in the receivers' memory, and applies
 * received pairs.
 */
#ifndef HOPWAVE_GPU_SSSP_DISTRIBUTED_UPDATE_OUTBOX_CUH
#define HOPWAVE_GPU_SSSP_DISTRIBUTED_UPDATE_OUTBOX_CUH

#include "gpu/sssp/distributed/distributed_sssp_device.cuh"

namespace
{

/* Words of 32 keys that a warp loads at a time: independent loads in flight. */
constexpr uint32_t key_words_in_flight = 8;

/* Counts of the pairs that a lane packed. */
struct packed_counts {
    uint32_t current_step, rest_of_bucket; /* of this lane */
};

__device__ __forceinline__ uint32_t *sent_to(const kernel_params &params, uint32_t q)
{
    return reinterpret_cast<uint32_t *>(&params.control->counter[HW_DISTRIBUTED_SSSP_COUNT_SENT]) +
           q;
}

/* Pairs of a lane in flight. */
constexpr uint32_t pairs_in_flight = 4;

/* The n-th bit that is set, from 0. */
__device__ __forceinline__ uint32_t nth_bit(uint32_t bits, uint32_t n)
{
    for (; n > 0; n--)
        bits &= bits - 1;
    return __ffs(bits) - 1;
}

/* The lane that has item i of the items of all lanes. prefix: inclusive prefix sum of the numbers
 * of items. The whole warp calls it. */
__device__ __forceinline__ uint32_t lane_of_item(uint32_t prefix, uint32_t i)
{
    uint32_t lane = 0;

#pragma unroll
    for (uint32_t step = 16; step > 0; step /= 2)
        lane += __shfl_sync(HW_WARP, prefix, lane + step - 1) <= i ? step : 0;
    return lane;
}

/* One word of a bitmap for each lane. Bit `first` is position 0, whose key is array[first_id]. */
template <typename K> struct bitmap_word {
    const K *array;
    uint32_t first_id, first;
    uint32_t bits;
    uint64_t number;
};

/*
 * Packs the set bits of up to 32 words. Lanes share the bits evenly, wherever they are set:
 * most updates concern hubs, whose bits are close together. put(at, item, key) stores a pair.
 */
template <typename K, typename Counter, typename Put>
__device__ void pack_words(const bitmap_word<K> &word, Counter *counter, const job_t &job,
                           packed_counts &counts, Put put)
{
    const uint32_t lane = threadIdx.x & 31, count = __popc(word.bits);
    const uint32_t prefix = hw_warp_scan(count), all = __shfl_sync(HW_WARP, prefix, 31);

    if (all == 0)
        return;
    const uint64_t start = reserve(counter, all);
    for (uint32_t base = 0; base < all; base += 32 * pairs_in_flight) {
        uint32_t item[pairs_in_flight];
        K key[pairs_in_flight];
#pragma unroll
        for (uint32_t k = 0; k < pairs_in_flight; k++) {
            const uint32_t i = base + 32 * k + lane, from = lane_of_item(prefix, i);
            const uint32_t bits = __shfl_sync(HW_WARP, word.bits, from);
            const uint32_t before = __shfl_sync(HW_WARP, prefix - count, from);
            const uint64_t w = __shfl_sync(HW_WARP, word.number, from);
            if (i < all) {
                item[k] = static_cast<uint32_t>(w * 32) + nth_bit(bits, i - before) - word.first;
                key[k] = __ldcg(word.array + word.first_id + item[k]);
            }
        }
#pragma unroll
        for (uint32_t k = 0; k < pairs_in_flight; k++) {
            const uint32_t i = base + 32 * k + lane;
            if (i < all) {
                counts.current_step += key[k] < job.step_end;
                counts.rest_of_bucket += key[k] >= job.step_end && key[k] < job.bucket_end;
                put(start + i, item[k], key[k]);
            }
        }
        __syncwarp();
    }
}

template <typename K>
__device__ __forceinline__ void store(void *buffer, uint64_t at, uint32_t item, K key)
{
    static_cast<typename pair_t<K>::word *>(buffer)[at] = pair_t<K>::make(item, key);
}

/* Packs and clears the pending bits in [first, end). Each lane tests four words at a time, because
 * few are set. */
template <typename K, typename Counter, typename Put>
__device__ void pack_pending(const kernel_params &params, const job_t &job, uint32_t first,
                             uint32_t end, Counter *counter, packed_counts &counts, Put put)
{
    const uint32_t lane = threadIdx.x & 31;
    const K *array = array_of<K>(params, job.on_values);

    if (first >= end)
        return;
    for (uint64_t w = first / 128 * 4 + warp_number() * 128; w * 32 < end;
         w += warp_count() * 128) {
        const uint64_t word = w + 4 * lane;
        uint4 four = make_uint4(0, 0, 0, 0);
        if (word * 32 < end)
            four = __ldcg(reinterpret_cast<const uint4 *>(params.state.pending_bits + word));
        if (!__any_sync(HW_WARP, four.x | four.y | four.z | four.w))
            continue;
        const uint32_t words[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
        for (uint32_t k = 0; k < 4; k++) {
            const uint32_t mine =
                words[k] ? words[k] & range_mask(static_cast<uint32_t>(word + k), first, end) : 0;
            if (mine)
                atomicAnd(params.state.pending_bits + word + k, ~mine);
            pack_words(bitmap_word<K>{array, first, first, mine, word + k}, counter, job, counts,
                       put);
        }
    }
}

template <typename K>
__device__ void pack_fold(const kernel_params &params, const job_t &job,
                          const hw_distributed_sssp_outboxes &outboxes, packed_counts &counts)
{
    for (uint32_t s = 0; s < params.config.num_ranges; s++) {
        const uint32_t q = params.peers->range_owner[s];
        void *buffer = outboxes.send[q];
        if (q == params.config.rank)
            continue;
        pack_pending<K>(params, job, s * params.config.block_size,
                        (s + 1) * params.config.block_size, sent_to(params, q), counts,
                        [=](uint64_t at, uint32_t item, K key) { store(buffer, at, item, key); });
    }
    const uint32_t lists = delegate_lists(params);
    pack_pending<K>(params, job, first_delegate(params), params.config.num_local_ids,
                    &params.control->counter[HW_DISTRIBUTED_SSSP_COUNT_BROADCAST], counts,
                    [&](uint64_t at, uint32_t item, K key) {
                        for (uint32_t q = 0; q < params.config.ranks; q++)
                            if (q != params.config.rank)
                                store(outboxes.broadcast_send[q], at, item, key);
                        if (key < job.step_end)
                            set_bit(params.state.frontier_bits, lists + item);
                    });
}

/* The bits of a word that are owned vertices of the next frontier. */
__device__ __forceinline__ uint32_t frontier_word(const kernel_params &params, uint64_t word)
{
    const uint32_t first = params.lists.owned_begin,
                   end = params.lists.owned_begin + params.config.block_size;

    return word * 32 < end ? __ldcg(params.state.frontier_bits + word) &
                                 range_mask(static_cast<uint32_t>(word), first, end)
                           : 0;
}

template <typename K>
__device__ void pack_expand(const kernel_params &params, const job_t &job,
                            const hw_distributed_sssp_outboxes &outboxes, packed_counts &counts)
{
    const uint32_t first = params.lists.owned_begin, end = first + params.config.block_size;

    for (uint64_t w = first / 32 + warp_number() * 32; w * 32 < end; w += warp_count() * 32) {
        const uint64_t word = w + (threadIdx.x & 31);
        pack_words(bitmap_word<K>{array_of<K>(params, job.on_values),
                                  params.config.owned_range * params.config.block_size, first,
                                  frontier_word(params, word), word},
                   &params.control->counter[HW_DISTRIBUTED_SSSP_COUNT_BROADCAST], job, counts,
                   [&](uint64_t at, uint32_t item, K key) {
                       for (uint32_t q = 0; q < params.config.ranks; q++)
                           if (q != params.config.rank &&
                               params.peers->column_block[q] != HW_DISTRIBUTED_SSSP_NONE)
                               store(outboxes.send[q], at, item, key);
                   });
    }
}

template <typename K>
__device__ void pack_broadcast(const kernel_params &params, const job_t &job,
                               const hw_distributed_sssp_outboxes &outboxes, packed_counts &counts)
{
    const uint32_t lane = threadIdx.x & 31,
                   owned_begin = params.config.owned_range * params.config.block_size;
    const K *array = static_cast<const K *>(params.state.distance) + owned_begin;

    for (uint64_t w = warp_number() * 32; w * 32 < params.lists.active; w += warp_count() * 32) {
        uint32_t mine = 0;
        for (uint32_t j = 0; j < 32; j += key_words_in_flight) {
            int64_t key[key_words_in_flight];
#pragma unroll
            for (uint32_t k = 0; k < key_words_in_flight; k++) {
                const uint64_t t = (w + j + k) * 32 + lane;
                key[k] = t < params.lists.active ? __ldcg(array + t) : INT64_MAX;
            }
#pragma unroll
            for (uint32_t k = 0; k < key_words_in_flight; k++) {
                const uint32_t all =
                    __ballot_sync(HW_WARP, key[k] >= job.source_begin && key[k] < job.source_end);
                mine = lane == j + k ? all : mine;
            }
        }
        pack_words(bitmap_word<K>{static_cast<const K *>(params.state.distance), owned_begin, 0,
                                  mine, w + lane},
                   &params.control->counter[HW_DISTRIBUTED_SSSP_COUNT_BROADCAST], job, counts,
                   [&](uint64_t at, uint32_t item, K key) {
                       for (uint32_t q = 0; q < params.config.ranks; q++)
                           if (q != params.config.rank &&
                               params.peers->row_range[q] != HW_DISTRIBUTED_SSSP_NONE)
                               store(outboxes.send[q], at, item, key);
                   });
    }
}

template <typename K>
__device__ void pack_payload(const kernel_params &params, const job_t &job, int payload,
                             const hw_distributed_sssp_outboxes &outboxes, block_sums &sums)
{
    packed_counts counts = {0, 0};
    count64 current_step = 0;

    clear(sums);
    if (payload == HW_DISTRIBUTED_SSSP_FOLD) {
        pack_fold<K>(params, job, outboxes, counts);
        const uint64_t first = params.lists.owned_begin / 32,
                       end = params.lists.owned_begin + params.config.block_size;
        for (uint64_t w = first + hw_grid_thread(); w * 32 < end; w += hw_grid_threads())
            current_step += __popc(frontier_word(params, w));
        if (hw_grid_thread() == 0) {
            const count64 queue = hw_load_relaxed(&params.control->queue_size);
            atomicAdd(&params.control->counter[HW_DISTRIBUTED_SSSP_COUNT_FRONTIER],
                      hw_packed_entries(queue, edge_bits));
            atomicAdd(&params.control->counter[HW_DISTRIBUTED_SSSP_COUNT_EDGES],
                      hw_packed_work(queue, edge_bits));
        }
    } else if (payload == HW_DISTRIBUTED_SSSP_EXPAND) {
        pack_expand<K>(params, job, outboxes, counts);
        counts = packed_counts{0, 0};
    } else {
        pack_broadcast<K>(params, job, outboxes, counts);
        counts = packed_counts{0, 0};
    }
    __syncwarp();
    add(sums, 0, current_step + counts.current_step);
    add(sums, 1, counts.rest_of_bucket);
    __syncthreads();
    if (threadIdx.x == 0 && sums.sum[0])
        atomicAdd(&params.control->counter[HW_DISTRIBUTED_SSSP_COUNT_CURRENT_STEP], sums.sum[0]);
    if (threadIdx.x == 0 && sums.sum[1])
        atomicAdd(&params.control->counter[HW_DISTRIBUTED_SSSP_COUNT_REST_OF_BUCKET], sums.sum[1]);
}

/* ---- unpacking ---- */

/* Applies the updates that one rank sent for owned vertices, or for delegates. Improved ones join
 * the next frontier where their key is below step_end. */
template <typename K>
__device__ void receive_updates(const kernel_params &params, const job_t &job, const void *buffer,
                                uint64_t count, uint32_t first_id, uint32_t first_list)
{
    const typename pair_t<K>::word *pair = static_cast<const typename pair_t<K>::word *>(buffer);
    K *array = array_of<K>(params, job.on_values) + first_id;

    for (uint64_t i = hw_grid_thread(); i < count; i += hw_grid_threads()) {
        const typename pair_t<K>::word one = __ldcg(pair + i);
        const uint32_t at = pair_t<K>::at(one);
        const K key = pair_t<K>::key(one);
        if (key < __ldcg(array + at) && key < lower(array + at, key) && key < job.step_end)
            set_bit(params.state.frontier_bits, first_list + at);
    }
}

/* Stores the keys that one rank broadcast for its owned vertices. in_frontier: their lists join the
 * next frontier. */
template <typename K>
__device__ void receive_broadcast(const kernel_params &params, const job_t &job, const void *buffer,
                                  uint64_t count, uint32_t first_id, uint32_t first_list,
                                  bool in_frontier)
{
    const typename pair_t<K>::word *pair = static_cast<const typename pair_t<K>::word *>(buffer);
    K *array = array_of<K>(params, job.on_values) + first_id;

    for (uint64_t i = hw_grid_thread(); i < count; i += hw_grid_threads()) {
        const typename pair_t<K>::word one = __ldcg(pair + i);
        array[pair_t<K>::at(one)] = pair_t<K>::key(one);
        if (in_frontier)
            set_bit(params.state.frontier_bits, first_list + pair_t<K>::at(one));
    }
}

template <typename K>
__device__ void unpack_payload(const kernel_params &params, const job_t &job, int payload,
                               const hw_distributed_sssp_outboxes &outboxes,
                               const hw_allgather_result *result)
{
    /* The all-gather has distributed the counters: clear them for the next round. */
    if (hw_grid_thread() < HW_DISTRIBUTED_SSSP_MAX_COUNTERS)
        params.control->counter[hw_grid_thread()] = 0;
    if (hw_grid_thread() == HW_DISTRIBUTED_SSSP_MAX_COUNTERS)
        params.control->queue_size = params.control->frontier_lists = 0;
    for (uint32_t step = 1; step < params.config.ranks; step++) {
        const uint32_t q = (params.config.rank + step) % params.config.ranks;
        const uint64_t broadcast = __ldcg(&result->by_rank[q][HW_DISTRIBUTED_SSSP_COUNT_BROADCAST]);
        const uint64_t two =
            __ldcg(&result->by_rank[q][HW_DISTRIBUTED_SSSP_COUNT_SENT + params.config.rank / 2]);
        const uint64_t sent = params.config.rank & 1 ? two >> 32 : two & UINT32_MAX;
        if (payload == HW_DISTRIBUTED_SSSP_FOLD) {
            receive_updates<K>(params, job, outboxes.recv[q], sent,
                               params.config.owned_range * params.config.block_size,
                               params.lists.owned_begin);
            receive_updates<K>(params, job, outboxes.broadcast_recv[q], broadcast,
                               first_delegate(params), delegate_lists(params));
        } else if (payload == HW_DISTRIBUTED_SSSP_EXPAND &&
                   params.peers->column_block[q] != HW_DISTRIBUTED_SSSP_NONE) {
            const uint32_t b = params.peers->column_block[q];
            receive_broadcast<K>(params, job, outboxes.recv[q], broadcast,
                                 params.lists.range[b] * params.config.block_size,
                                 b * params.config.block_size, true);
        } else if (payload == HW_DISTRIBUTED_SSSP_BROADCAST &&
                   params.peers->row_range[q] != HW_DISTRIBUTED_SSSP_NONE) {
            receive_broadcast<K>(params, job, outboxes.recv[q], broadcast,
                                 params.peers->row_range[q] * params.config.block_size, 0, false);
        }
    }
}

} // namespace

#endif
