/*
 * Method `delegates`: small steps, one after another in one cooperative kernel. (The paper has
 * a kernel for each piece of a step. Half of the steps of a search follow few edges, and most of
 * their time passes between kernels.) Visits, barriers and previsits are those of large steps, with
 * barriers of the grid in between. Warps work on masks and bitmaps independently of each other.
 */
#ifndef HOPWAVE_GPU_BFS_DELEGATES_DELEGATES_SMALL_STEPS_CUH
#define HOPWAVE_GPU_BFS_DELEGATES_DELEGATES_SMALL_STEPS_CUH

#include "gpu/bfs/delegates/delegates_previsit.cuh"
#include "gpu/bfs/delegates/delegates_reduction.cuh"
#include "gpu/bfs/delegates/delegates_visit.cuh"

namespace hw_delegates
{
namespace
{

/* Words of new slots that a warp looks at together. */
constexpr uint32_t scan_vectors = 4, scan_words = scan_vectors * 32 * 4;

/* What a block of small steps needs. */
struct small_room {
    union {
        reducing delegates;
        forming slots;
        count64 sums[3][warps];
    };
    uint32_t list[warps][scan_words]; /* words with new slots */
    uint32_t came[32];
    bool last;
};

/* All blocks come here before any goes on; the last that comes does the work in between, by its
 * first warp. What was done before is seen after, here and, where the work tells them, in other
 * GPUs. All threads of the grid. */
template <class Work>
__device__ __forceinline__ void pass(const kernel_params &plan, bool *last, Work work)
{
    control_t *const c = plan.control;
    uint32_t passages = 0;

    __syncthreads();
    if (threadIdx.x == 0) {
        passages = hw_load_relaxed(&c->passages);
        *last = is_last(&c->arrived[3]);
    }
    __syncthreads();
    if (*last) {
        if (threadIdx.x < 32)
            work();
        __syncthreads();
        if (threadIdx.x == 0) {
            __threadfence();
            atomicAdd(&c->passages, 1u);
        }
    } else if (threadIdx.x == 0) {
        while (hw_load_relaxed(&c->passages) == passages)
            ;
        __threadfence();
    }
    __syncthreads();
}

/* The visits of a small step, each stream's by half of the blocks. */
__device__ __forceinline__ void visit_small(const kernel_params &plan, small_room &room)
{
    control_t *const c = plan.control;
    const bool to_delegates = c->visit[HW_GPU_DD] || c->visit[HW_GPU_ND];
    const bool to_slots = c->visit[HW_GPU_DN] || c->visit[HW_GPU_NN];
    const uint32_t half = to_delegates && to_slots ? gridDim.x / 2 : 0; /* of the blocks */
    const bool second = half > 0 && blockIdx.x >= half;
    const view step = {plan,
                       plan.visited[c->parity],
                       plan.found[c->parity],
                       plan.dirty[c->parity],
                       c->bare_only != 0,
                       second ? blockIdx.x - half : blockIdx.x,
                       half == 0 ? gridDim.x
                       : second  ? gridDim.x - half
                                 : half};
    count64 examined = 0;
    uint32_t delegates = 0, slots = 0;

    if (c->visit[HW_GPU_DD] && !second)
        visit_tiles(step, examined, delegates);
    if (c->visit[HW_GPU_ND] && !second)
        visit_lists<HW_GPU_ND>(step, examined, delegates);
    if (c->visit[HW_GPU_DN] && (half == 0 || second))
        visit_lists<HW_GPU_DN>(step, examined, slots);
    if (c->visit[HW_GPU_NN] && (half == 0 || second))
        visit_lists<HW_GPU_NN>(step, examined, slots);
    examined = block_sum(examined, room.sums[0]);
    const count64 found_delegates = block_sum(delegates, room.sums[1]);
    const count64 found_slots = block_sum(slots, room.sums[2]);
    if (threadIdx.x != 0)
        return;
    if (examined > 0)
        atomicAdd(&c->examined, examined);
    if (found_delegates > 0)
        atomicAdd(&c->found_delegate, static_cast<uint32_t>(found_delegates));
    if (found_slots > 0)
        atomicAdd(&c->found_slot, static_cast<uint32_t>(found_slots));
}

/* The k-th bit that is set, from 0 on, or 32. */
__device__ __forceinline__ uint32_t nth_bit(uint32_t bits, uint32_t k)
{
    for (uint32_t j = 0; j < k; j++)
        bits &= bits - 1;
    return bits ? __ffs(bits) - 1 : 32;
}

/* New delegates in words that are in all lanes of a warp, warp_words of them at a time. */
template <uint32_t others>
__device__ void take_words(const kernel_params &plan, const news<others> &words, bool queues,
                           reducing &own)
{
    const uint32_t lane = threadIdx.x & 31;

    for (uint32_t left = __ballot_sync(HW_WARP, words.fresh != 0); left;) {
        const uint32_t from = lane < warp_words ? nth_bit(left, lane) : 32;
        news<others> some;
        some.word = __shfl_sync(HW_WARP, words.word, from & 31);
        some.whose = 0;
        some.fresh = __shfl_sync(HW_WARP, words.fresh, from & 31);
        some.own = __shfl_sync(HW_WARP, words.own, from & 31);
        some.fresh = from < 32 ? some.fresh : 0;
#pragma unroll
        for (uint32_t q = 0; q < others; q++)
            some.found[q] = __shfl_sync(HW_WARP, words.found[q], from & 31);
        take_delegates<false>(plan, some, queues, own);
        for (uint32_t k = 0; k < warp_words; k++)
            left &= left - 1;
    }
}

/* A sector in which something is to be done, as it is listed: its number, and which others found
 * any in it. */
constexpr uint32_t sector_bits = 24;
static_assert((1ull << (64 - HW_GPU_DELEGATES_EDGE_BITS)) / 32 / HW_GPU_DELEGATES_SECTOR <=
                      1ull << sector_bits &&
                  HW_GPU_DELEGATES_PEERS <= 32 - sector_bits,
              "sectors fit");

/* Lists the sectors in which something is to be done. All threads of the grid; a gate before they
 * are taken. */
template <uint32_t others> __device__ void list_sectors(const kernel_params &plan, reducing &own)
{
    control_t *const c = plan.control;
    const uint32_t parity = c->parity, lane = threadIdx.x & 31;
    const uint32_t sectors = (plan.graph.mask_words + warp_words - 1) / warp_words;

    if (threadIdx.x < SUMS)
        own.sum[threadIdx.x] = 0;
    __syncthreads();
    for (uint64_t first = hw_grid_thread() - lane; first < sectors; first += hw_grid_threads()) {
        const uint64_t sector = first + lane;
        const bool there = sector < sectors;
        const bool mine = there && __ldcv(plan.dirty[parity] + sector) != 0;
        const bool stale = there && __ldcv(plan.stale + sector) != 0;
        uint32_t whose = 0;
#pragma unroll
        for (uint32_t q = 0; q < others; q++)
            if (there && q < plan.masks && __ldcv(plan.mask_dirty[parity][q] + sector) != 0)
                whose |= 1u << q;
        const bool changed = mine || stale || whose != 0;
        const uint32_t all = __ballot_sync(HW_WARP, changed);
        if (all == 0)
            continue;
        uint32_t at = 0;
        if (lane == 0)
            at = atomicAdd(&c->listed, static_cast<uint32_t>(__popc(all)));
        at = __shfl_sync(HW_WARP, at, 0) + __popc(all & ((1u << lane) - 1));
        if (changed) {
            plan.sector_list[at] = whose << sector_bits | static_cast<uint32_t>(sector);
            keep_sector(plan, sector, mine || whose != 0);
        }
        add(&own.sum[SECTORS], mine);
    }
}

/* As combine(), where few words have anything: the sectors that were listed, several at a time in
 * a warp. All threads of the grid. */
template <uint32_t others> __device__ void combine_small(const kernel_params &plan, reducing &own)
{
    constexpr uint32_t groups = 32 / warp_words; /* sectors at a time */
    const uint32_t lane = threadIdx.x & 31, stride = static_cast<uint32_t>(hw_grid_threads() / 32);
    const uint32_t count = plan.control->listed;
    const bool queues = !only_backward(plan, plan.control->any_delegate);

    for (uint64_t first = hw_grid_thread() / 32; first < count; first += groups * stride) {
        const uint64_t at = first + static_cast<uint64_t>(lane / warp_words) * stride;
        const uint32_t entry = at < count ? __ldcg(plan.sector_list + at) : 0;
        const uint32_t sector = entry & ((1u << sector_bits) - 1);
        news<others> words;
        words.whose = entry >> sector_bits;
        words.word = sector * warp_words + lane % warp_words;
        combine_word<true>(plan, at < count && words.word < plan.graph.mask_words, words);
        take_words(plan, words, queues, own);
    }
    __syncthreads();
    if (threadIdx.x == 0)
        add_delegates(plan, own.sum);
}

/* Words of `next` from `first` on that have new slots, into the warp's list. Returns how many. */
__device__ uint32_t list_words(const kernel_params &plan, uint64_t first, uint32_t *list)
{
    const uint32_t lane = threadIdx.x & 31, words = plan.graph.slot_words;
    uint32_t mine[scan_vectors], count = 0;
    bool any = false;

#pragma unroll
    for (uint32_t j = 0; j < scan_vectors; j++) {
        const uint64_t at = first + 4 * (32 * j + lane);
        mine[j] = 0;
        if (at + 4 <= words) {
            const uint4 four = __ldcg(reinterpret_cast<const uint4 *>(plan.next + at));
            mine[j] = (four.x != 0) | (four.y != 0) << 1 | (four.z != 0) << 2 | (four.w != 0) << 3;
        } else {
            for (uint32_t k = 0; k < 4 && at + k < words; k++)
                mine[j] |= (__ldcg(plan.next + at + k) != 0) << k;
        }
        any = any || mine[j] != 0;
    }
    if (!__any_sync(HW_WARP, any))
        return 0;
#pragma unroll
    for (uint32_t j = 0; j < scan_vectors; j++) {
        const uint32_t past = hw_warp_scan(static_cast<uint32_t>(__popc(mine[j])));
        uint32_t at = count + past - __popc(mine[j]);
        for (uint32_t bits = mine[j]; bits; bits &= bits - 1)
            list[at++] = static_cast<uint32_t>(first) + 4 * (32 * j + lane) + __ffs(bits) - 1;
        count += __shfl_sync(HW_WARP, past, 31);
    }
    __syncwarp();
    return count;
}

/* As form_frontier(), where few words have anything. All threads of the grid. */
__device__ void form_small(const kernel_params &plan, small_room &room)
{
    const uint32_t lane = threadIdx.x & 31;
    uint32_t *const list = room.list[threadIdx.x / 32];
    const slot_uses uses = begin_forming(plan, room.slots);

    for (uint64_t first = hw_grid_thread() / 32 * scan_words; first < plan.graph.slot_words;
         first += hw_grid_threads() / 32 * scan_words) {
        const uint32_t count = list_words(plan, first, list);
        for (uint32_t base = 0; base < count; base += slot_words) {
            const bool there = lane < slot_words && base + lane < count;
            const uint32_t word = there ? list[base + lane] : 0;
            const uint32_t fresh = there ? __ldcg(plan.next + word) : 0;
            take_slots<false>(plan, uses, word, fresh, room.slots);
        }
        __syncwarp();
    }
    __syncthreads();
    if (threadIdx.x == 0)
        add_slots(plan, room.slots.sum);
}

/* Small steps, until one is not. */
template <uint32_t others>
__global__ void __launch_bounds__(threads, 1) take_small(const kernel_params plan)
{
    __shared__ small_room room;
    control_t *const c = plan.control;

    if (!c->small)
        return;
    while (c->small) {
        visit_small(plan, room);
        pass(plan, &room.last, [&] {
            if (c->twice)
                tell_others(plan, HW_GPU_DELEGATES_EARLY);
            tell_others(plan, HW_GPU_DELEGATES_MASK);
            tell_others(plan, HW_GPU_DELEGATES_ENTRIES);
            (void)meet_delegates(plan, true);
            meet_slots(plan, true, room.came);
        });
        if (c->any_delegate > 0) {
            list_sectors<others>(plan, room.delegates);
            pass(plan, &room.last, [] {});
            combine_small<others>(plan, room.delegates);
        }
        take_entries(plan, c->came);
        pass(plan, &room.last, [] {});
        form_small(plan, room);
        pass(plan, &room.last, [&] {
            near_control(plan);
            if (threadIdx.x == 0)
                decide(plan, false);
            __syncwarp();
        });
    }
    if (blockIdx.x == 0 && threadIdx.x == 0)
        tell_host(plan);
}

} // namespace
} // namespace hw_delegates

#endif
