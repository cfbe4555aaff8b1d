/* What improved, as pairs in the boxes of other ranks, which over `peer` are in
 * their memory; and what came from them. */
#ifndef HOPWAVE_GPU_SSSP_DISTRIBUTED_UPDATE_OUTBOX_CUH
#define HOPWAVE_GPU_SSSP_DISTRIBUTED_UPDATE_OUTBOX_CUH

#include "gpu/sssp/distributed/distributed_sssp.cuh"

namespace
{

/* Words of 32 keys that a warp has under way. */
constexpr uint32_t tell_batch = 8;

/* A block's counts of what it packs. */
struct packing_t {
    uint32_t near, later; /* of this lane */
};

__device__ __forceinline__ uint32_t *sent_to(const kernel_params &plan, uint32_t q)
{
    return reinterpret_cast<uint32_t *>(&plan.control->word[HW_DISTRIBUTED_SSSP_SENT]) + q;
}

/* Items that a lane has under way. */
constexpr uint32_t packed_items = 4;

/* The n-th bit that is set, from 0. */
__device__ __forceinline__ uint32_t nth_bit(uint32_t bits, uint32_t n)
{
    for (; n > 0; n--)
        bits &= bits - 1;
    return __ffs(bits) - 1;
}

/* Which lane has item i of all those that the lanes have, upto: this lane's and those of the
 * lanes before it. The whole warp calls it. */
__device__ __forceinline__ uint32_t lane_of(uint32_t upto, uint32_t i)
{
    uint32_t lane = 0;

#pragma unroll
    for (uint32_t step = 16; step > 0; step /= 2)
        lane += __shfl_sync(HW_WARP, upto, lane + step - 1) <= i ? step : 0;
    return lane;
}

/*
 * Pairs of up to 32 words, of which this lane has one (mine: its bits; word: its number). Bits
 * are shared out evenly, however they lie: what is sent is mostly about hubs, which stand
 * together. first_code: of position 0, which is bit `first`. put(at, item, key) stores one.
 */
template <typename K, typename Counter, typename Put>
__device__ void pack_words(const K *array, uint32_t first_code, uint32_t first, uint32_t mine,
                           uint64_t word, Counter *counter, const job_t &job, packing_t &packing,
                           Put put)
{
    const uint32_t lane = threadIdx.x & 31, count = __popc(mine);
    const uint32_t upto = hw_warp_scan(count), all = __shfl_sync(HW_WARP, upto, 31);

    if (all == 0)
        return;
    const uint64_t start = reserve(counter, all);
    for (uint32_t base = 0; base < all; base += 32 * packed_items) {
        uint32_t item[packed_items];
        K key[packed_items];
#pragma unroll
        for (uint32_t k = 0; k < packed_items; k++) {
            const uint32_t i = base + 32 * k + lane, from = lane_of(upto, i);
            const uint32_t bits = __shfl_sync(HW_WARP, mine, from);
            const uint32_t before = __shfl_sync(HW_WARP, upto - count, from);
            const uint64_t w = __shfl_sync(HW_WARP, word, from);
            if (i < all) {
                item[k] = static_cast<uint32_t>(w * 32) + nth_bit(bits, i - before) - first;
                key[k] = __ldcg(array + first_code + item[k]);
            }
        }
#pragma unroll
        for (uint32_t k = 0; k < packed_items; k++) {
            const uint32_t i = base + 32 * k + lane;
            if (i < all) {
                packing.near += key[k] < job.near;
                packing.later += key[k] >= job.near && key[k] < job.high;
                put(start + i, item[k], key[k]);
            }
        }
        __syncwarp();
    }
}

template <typename K>
__device__ __forceinline__ void store(void *box, uint64_t at, uint32_t item, K key)
{
    static_cast<typename pair_t<K>::word *>(box)[at] = pair_t<K>::make(item, key);
}

/* What is pending in [first, end): four words a lane, which are rarely set. */
template <typename K, typename Counter, typename Put>
__device__ void pack_pending(const kernel_params &plan, const job_t &job, uint32_t first,
                             uint32_t end, Counter *counter, packing_t &packing, Put put)
{
    const uint32_t lane = threadIdx.x & 31;
    const K *array = array_of<K>(plan, job.value);

    if (first >= end)
        return;
    for (uint64_t w = first / 128 * 4 + warp_number() * 128; w * 32 < end;
         w += warp_count() * 128) {
        const uint64_t word = w + 4 * lane;
        uint4 four = make_uint4(0, 0, 0, 0);
        if (word * 32 < end)
            four = __ldcg(reinterpret_cast<const uint4 *>(plan.pending + word));
        if (!__any_sync(HW_WARP, four.x | four.y | four.z | four.w))
            continue;
        const uint32_t words[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
        for (uint32_t k = 0; k < 4; k++) {
            const uint32_t mine =
                words[k] ? words[k] & within(static_cast<uint32_t>(word + k), first, end) : 0;
            if (mine)
                atomicAnd(plan.pending + word + k, ~mine);
            pack_words(array, first, first, mine, word + k, counter, job, packing, put);
        }
    }
}

template <typename K>
__device__ void pack_fold(const kernel_params &plan, const job_t &job,
                          const hw_distributed_sssp_outboxes &boxes, packing_t &packing)
{
    for (uint32_t s = 0; s < plan.segments; s++) {
        const uint32_t q = plan.owner[s];
        void *box = boxes.to[q];
        if (q == plan.rank)
            continue;
        pack_pending<K>(plan, job, s * plan.block, (s + 1) * plan.block, sent_to(plan, q), packing,
                        [=](uint64_t at, uint32_t item, K key) { store(box, at, item, key); });
    }
    const uint32_t lists = delegate_lists(plan);
    pack_pending<K>(plan, job, first_delegate(plan), plan.codes,
                    &plan.control->word[HW_DISTRIBUTED_SSSP_SPREAD], packing,
                    [&](uint64_t at, uint32_t item, K key) {
                        for (uint32_t q = 0; q < plan.ranks; q++)
                            if (q != plan.rank)
                                store(boxes.spread[q], at, item, key);
                        if (key < job.near)
                            set_bit(plan.near, lists + item);
                    });
}

/* The part's own vertices that are to be relaxed next. */
__device__ __forceinline__ uint32_t near_word(const kernel_params &plan, uint64_t word)
{
    const uint32_t first = plan.own_lists, end = plan.own_lists + plan.block;

    return word * 32 < end
               ? __ldcg(plan.near + word) & within(static_cast<uint32_t>(word), first, end)
               : 0;
}

template <typename K>
__device__ void pack_expand(const kernel_params &plan, const job_t &job,
                            const hw_distributed_sssp_outboxes &boxes, packing_t &packing)
{
    const uint32_t first = plan.own_lists, end = first + plan.block;

    for (uint64_t w = first / 32 + warp_number() * 32; w * 32 < end; w += warp_count() * 32) {
        const uint64_t word = w + (threadIdx.x & 31);
        pack_words(array_of<K>(plan, job.value), plan.home * plan.block, first,
                   near_word(plan, word), word, &plan.control->word[HW_DISTRIBUTED_SSSP_SPREAD],
                   job, packing, [&](uint64_t at, uint32_t item, K key) {
                       for (uint32_t q = 0; q < plan.ranks; q++)
                           if (q != plan.rank && plan.column_block[q] != HW_DISTRIBUTED_SSSP_NONE)
                               store(boxes.to[q], at, item, key);
                   });
    }
}

template <typename K>
__device__ void pack_tell(const kernel_params &plan, const job_t &job,
                          const hw_distributed_sssp_outboxes &boxes, packing_t &packing)
{
    const uint32_t lane = threadIdx.x & 31, home = plan.home * plan.block;
    const K *array = static_cast<const K *>(plan.distance) + home;

    for (uint64_t w = warp_number() * 32; w * 32 < plan.active; w += warp_count() * 32) {
        uint32_t mine = 0;
        for (uint32_t j = 0; j < 32; j += tell_batch) {
            int64_t key[tell_batch];
#pragma unroll
            for (uint32_t k = 0; k < tell_batch; k++) {
                const uint64_t t = (w + j + k) * 32 + lane;
                key[k] = t < plan.active ? __ldcg(array + t) : INT64_MAX;
            }
#pragma unroll
            for (uint32_t k = 0; k < tell_batch; k++) {
                const uint32_t all =
                    __ballot_sync(HW_WARP, key[k] >= job.begin && key[k] < job.end);
                mine = lane == j + k ? all : mine;
            }
        }
        pack_words(static_cast<const K *>(plan.distance), home, 0, mine, w + lane,
                   &plan.control->word[HW_DISTRIBUTED_SSSP_SPREAD], job, packing,
                   [&](uint64_t at, uint32_t item, K key) {
                       for (uint32_t q = 0; q < plan.ranks; q++)
                           if (q != plan.rank && plan.row_segment[q] != HW_DISTRIBUTED_SSSP_NONE)
                               store(boxes.to[q], at, item, key);
                   });
    }
}

template <typename K>
__device__ void pack_part(const kernel_params &plan, const job_t &job, int what,
                          const hw_distributed_sssp_outboxes &boxes, sums_t &sums)
{
    packing_t packing = {0, 0};
    count64 near = 0;

    clear(sums);
    if (what == HW_DISTRIBUTED_SSSP_FOLD) {
        pack_fold<K>(plan, job, boxes, packing);
        const uint64_t first = plan.own_lists / 32, end = plan.own_lists + plan.block;
        for (uint64_t w = first + hw_grid_thread(); w * 32 < end; w += hw_grid_threads())
            near += __popc(near_word(plan, w));
        if (hw_grid_thread() == 0) {
            const count64 queue = hw_load_relaxed(&plan.control->queue);
            atomicAdd(&plan.control->word[HW_DISTRIBUTED_SSSP_FRONTIER],
                      queue >> HW_DISTRIBUTED_SSSP_EDGE_BITS);
            atomicAdd(&plan.control->word[HW_DISTRIBUTED_SSSP_EDGES], queue & edge_mask);
        }
    } else if (what == HW_DISTRIBUTED_SSSP_EXPAND) {
        pack_expand<K>(plan, job, boxes, packing);
        packing = packing_t{0, 0};
    } else {
        pack_tell<K>(plan, job, boxes, packing);
        packing = packing_t{0, 0};
    }
    __syncwarp();
    add(sums, 0, near + packing.near);
    add(sums, 1, packing.later);
    __syncthreads();
    if (threadIdx.x == 0 && sums.sum[0])
        atomicAdd(&plan.control->word[HW_DISTRIBUTED_SSSP_NEAR], sums.sum[0]);
    if (threadIdx.x == 0 && sums.sum[1])
        atomicAdd(&plan.control->word[HW_DISTRIBUTED_SSSP_LATER], sums.sum[1]);
}

/* ---- unpacking ---- */

/* What one rank sent about this part's own vertices, or delegates: those before first are
 * relaxed next where they improve. */
template <typename K>
__device__ void take(const kernel_params &plan, const job_t &job, const void *box, uint64_t count,
                     uint32_t first_code, uint32_t first_list)
{
    const typename pair_t<K>::word *pair = static_cast<const typename pair_t<K>::word *>(box);
    K *array = array_of<K>(plan, job.value) + first_code;

    for (uint64_t i = hw_grid_thread(); i < count; i += hw_grid_threads()) {
        const typename pair_t<K>::word one = __ldcg(pair + i);
        const uint32_t at = pair_t<K>::at(one);
        const K key = pair_t<K>::key(one);
        if (key < __ldcg(array + at) && key < lower(array + at, key) && key < job.near)
            set_bit(plan.near, first_list + at);
    }
}

/* What one rank told about its own vertices. */
template <typename K>
__device__ void learn(const kernel_params &plan, const job_t &job, const void *box, uint64_t count,
                      uint32_t first_code, uint32_t first_list, bool near)
{
    const typename pair_t<K>::word *pair = static_cast<const typename pair_t<K>::word *>(box);
    K *array = array_of<K>(plan, job.value) + first_code;

    for (uint64_t i = hw_grid_thread(); i < count; i += hw_grid_threads()) {
        const typename pair_t<K>::word one = __ldcg(pair + i);
        array[pair_t<K>::at(one)] = pair_t<K>::key(one);
        if (near)
            set_bit(plan.near, first_list + pair_t<K>::at(one));
    }
}

template <typename K>
__device__ void unpack_part(const kernel_params &plan, const job_t &job, int what,
                            const hw_distributed_sssp_outboxes &boxes,
                            const hw_allgather_result *result)
{
    /* The round has told them. */
    if (hw_grid_thread() < HW_DISTRIBUTED_SSSP_WORDS)
        plan.control->word[hw_grid_thread()] = 0;
    if (hw_grid_thread() == HW_DISTRIBUTED_SSSP_WORDS)
        plan.control->queue = plan.control->listed = 0;
    for (uint32_t step = 1; step < plan.ranks; step++) {
        const uint32_t q = (plan.rank + step) % plan.ranks;
        const uint64_t spread = __ldcg(&result->by_rank[q][HW_DISTRIBUTED_SSSP_SPREAD]);
        const uint64_t two = __ldcg(&result->by_rank[q][HW_DISTRIBUTED_SSSP_SENT + plan.rank / 2]);
        const uint64_t sent = plan.rank & 1 ? two >> 32 : two & UINT32_MAX;
        if (what == HW_DISTRIBUTED_SSSP_FOLD) {
            take<K>(plan, job, boxes.came[q], sent, plan.home * plan.block, plan.own_lists);
            take<K>(plan, job, boxes.came_spread[q], spread, first_delegate(plan),
                    delegate_lists(plan));
        } else if (what == HW_DISTRIBUTED_SSSP_EXPAND &&
                   plan.column_block[q] != HW_DISTRIBUTED_SSSP_NONE) {
            const uint32_t b = plan.column_block[q];
            learn<K>(plan, job, boxes.came[q], spread, plan.list_segment[b] * plan.block,
                     b * plan.block, true);
        } else if (what == HW_DISTRIBUTED_SSSP_TELL &&
                   plan.row_segment[q] != HW_DISTRIBUTED_SSSP_NONE) {
            learn<K>(plan, job, boxes.came[q], spread, plan.row_segment[q] * plan.block, 0, false);
        }
    }
}

} // namespace

#endif
