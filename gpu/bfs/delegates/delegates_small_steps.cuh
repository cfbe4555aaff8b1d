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

/* Words of new slots that a warp scans together. */
constexpr uint32_t scan_vectors = 4, scan_words = scan_vectors * 32 * 4;

/* Shared memory of a block. */
struct small_shared {
    union {
        reduction_shared delegates;
        previsit_shared slots;
        count64 sums[3][warps];
    };
    uint32_t list[warps][scan_words]; /* words with new slots */
    uint32_t received[32];
    bool last;
};

/* A barrier of the grid whose last block executes `work`. All threads of the grid. */
template <class Work>
__device__ __forceinline__ void grid_barrier(const kernel_params &params, bool *last, Work work)
{
    control_t *const c = params.control;

    grid_barrier_with_work(&c->arrived[3], &c->barrier_generation, last, work);
}

/* The visits of a small step, those of each stream by half of the blocks. */
__device__ __forceinline__ void visit_small(const kernel_params &params, small_shared &smem)
{
    control_t *const c = params.control;
    const bool to_delegates = c->decision.visit[HW_GPU_DD] || c->decision.visit[HW_GPU_ND];
    const bool to_slots = c->decision.visit[HW_GPU_DN] || c->decision.visit[HW_GPU_NN];
    const uint32_t half = to_delegates && to_slots ? gridDim.x / 2 : 0; /* blocks of one stream */
    const bool second = half > 0 && blockIdx.x >= half;
    const step_view step = {params,
                            params.search.visited[c->parity],
                            params.search.found[c->parity],
                            params.search.dirty[c->parity],
                            c->decision.nn_only != 0,
                            second ? blockIdx.x - half : blockIdx.x,
                            half == 0 ? gridDim.x
                            : second  ? gridDim.x - half
                                      : half};
    count64 examined = 0;
    uint32_t delegates = 0, slots = 0;

    if (c->decision.visit[HW_GPU_DD] && !second)
        visit_tiles(step, examined, delegates);
    if (c->decision.visit[HW_GPU_ND] && !second)
        visit_lists<HW_GPU_ND>(step, examined, delegates);
    if (c->decision.visit[HW_GPU_DN] && (half == 0 || second))
        visit_lists<HW_GPU_DN>(step, examined, slots);
    if (c->decision.visit[HW_GPU_NN] && (half == 0 || second))
        visit_lists<HW_GPU_NN>(step, examined, slots);
    examined = block_sum(examined, smem.sums[0]);
    const count64 found_delegates = block_sum(delegates, smem.sums[1]);
    const count64 found_slots = block_sum(slots, smem.sums[2]);
    if (threadIdx.x != 0)
        return;
    if (examined > 0)
        atomicAdd(&c->found.edges_examined, examined);
    if (found_delegates > 0)
        atomicAdd(&c->found.delegates, static_cast<uint32_t>(found_delegates));
    if (found_slots > 0)
        atomicAdd(&c->found.slots, static_cast<uint32_t>(found_slots));
}

/* The position of the k-th set bit, from 0 on, or 32. */
__device__ __forceinline__ uint32_t nth_bit(uint32_t bits, uint32_t k)
{
    for (uint32_t j = 0; j < k; j++)
        bits &= bits - 1;
    return bits ? __ffs(bits) - 1 : 32;
}

/* Processes new delegates in words that are in all lanes of a warp, warp_words of them at a time.
 */
template <uint32_t max_peers>
__device__ void process_words(const kernel_params &params, const mask_delta<max_peers> &words,
                              bool queues, reduction_shared &own)
{
    const uint32_t lane = threadIdx.x & 31;

    for (uint32_t left = __ballot_sync(HW_WARP, words.new_bits != 0); left;) {
        const uint32_t from = lane < warp_words ? nth_bit(left, lane) : 32;
        mask_delta<max_peers> some;
        some.word = __shfl_sync(HW_WARP, words.word, from & 31);
        some.found_by = 0;
        some.new_bits = __shfl_sync(HW_WARP, words.new_bits, from & 31);
        some.own = __shfl_sync(HW_WARP, words.own, from & 31);
        some.new_bits = from < 32 ? some.new_bits : 0;
#pragma unroll
        for (uint32_t q = 0; q < max_peers; q++)
            some.found[q] = __shfl_sync(HW_WARP, words.found[q], from & 31);
        process_delegates<false>(params, some, queues, own);
        for (uint32_t k = 0; k < warp_words; k++)
            left &= left - 1;
    }
}

/* An element of the list of sectors: the number of the sector, and above it a bit for each other
 * part with bits in it. */
constexpr uint32_t sector_number_bits = 24;
static_assert((1ull << (64 - HW_GPU_DELEGATES_EDGE_BITS)) / 32 / HW_GPU_DELEGATES_SECTOR <=
                      1ull << sector_number_bits &&
                  HW_GPU_DELEGATES_MAX_PEERS <= 32 - sector_number_bits,
              "sectors fit");

/* Lists the nonzero and the changed sectors. All threads of the grid; a barrier of the grid must
 * follow before they are processed. */
template <uint32_t max_peers>
__device__ void list_sectors(const kernel_params &params, reduction_shared &own)
{
    control_t *const c = params.control;
    const uint32_t parity = c->parity, lane = threadIdx.x & 31;
    const uint32_t sectors = (params.graph.mask_words + warp_words - 1) / warp_words;

    if (threadIdx.x < SUMS)
        own.sum[threadIdx.x] = 0;
    __syncthreads();
    for (uint64_t first = hw_grid_thread() - lane; first < sectors; first += hw_grid_threads()) {
        const uint64_t sector = first + lane;
        const bool active = sector < sectors;
        const bool mine = active && __ldcv(params.search.dirty[parity] + sector) != 0;
        const bool stale = active && __ldcv(params.search.changed_before + sector) != 0;
        uint32_t found_by = 0;
#pragma unroll
        for (uint32_t q = 0; q < max_peers; q++)
            if (active && q < params.peers.masks &&
                __ldcv(params.peers.dirty[parity][q] + sector) != 0)
                found_by |= 1u << q;
        const bool changed = mine || stale || found_by != 0;
        const uint32_t all = __ballot_sync(HW_WARP, changed);
        if (all == 0)
            continue;
        uint32_t at = 0;
        if (lane == 0)
            at = atomicAdd(&c->listed_sectors, static_cast<uint32_t>(__popc(all)));
        at = __shfl_sync(HW_WARP, at, 0) + __popc(all & ((1u << lane) - 1));
        if (changed) {
            params.search.sector_list[at] =
                found_by << sector_number_bits | static_cast<uint32_t>(sector);
            set_sector_changed(params, sector, mine || found_by != 0);
        }
        add(&own.sum[SECTORS], mine);
    }
}

/* As combine(), where few sectors are nonzero: the listed sectors, several at a time in a warp. All
 * threads of the grid. */
template <uint32_t max_peers>
__device__ void combine_small(const kernel_params &params, reduction_shared &own)
{
    constexpr uint32_t groups = 32 / warp_words; /* sectors that a warp processes at a time */
    const uint32_t lane = threadIdx.x & 31, stride = static_cast<uint32_t>(hw_grid_threads() / 32);
    const uint32_t count = params.control->listed_sectors;
    const bool queues = !skips_queues(params, params.control->found.max_delegates);

    for (uint64_t first = hw_grid_thread() / 32; first < count; first += groups * stride) {
        const uint64_t at = first + static_cast<uint64_t>(lane / warp_words) * stride;
        const uint32_t update = at < count ? __ldcg(params.search.sector_list + at) : 0;
        const uint32_t sector = update & ((1u << sector_number_bits) - 1);
        mask_delta<max_peers> words;
        words.found_by = update >> sector_number_bits;
        words.word = sector * warp_words + lane % warp_words;
        combine_word<true>(params, at < count && words.word < params.graph.mask_words, words);
        process_words(params, words, queues, own);
    }
    __syncthreads();
    if (threadIdx.x == 0)
        add_delegates(params, own.sum);
}

/* Lists the words of found_slots from `first` on that are nonzero, in the warp's list. Returns
 * their number. */
__device__ uint32_t list_words(const kernel_params &params, uint64_t first, uint32_t *list)
{
    const uint32_t lane = threadIdx.x & 31, words = params.graph.slot_words;
    uint32_t mine[scan_vectors], count = 0;
    bool any = false;

#pragma unroll
    for (uint32_t j = 0; j < scan_vectors; j++) {
        const uint64_t at = first + 4 * (32 * j + lane);
        mine[j] = 0;
        if (at + 4 <= words) {
            const uint4 four =
                __ldcg(reinterpret_cast<const uint4 *>(params.search.found_slots + at));
            mine[j] = (four.x != 0) | (four.y != 0) << 1 | (four.z != 0) << 2 | (four.w != 0) << 3;
        } else {
            for (uint32_t k = 0; k < 4 && at + k < words; k++)
                mine[j] |= (__ldcg(params.search.found_slots + at + k) != 0) << k;
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

/* As form_frontier(), where few words are nonzero. All threads of the grid. */
__device__ void form_frontier_small(const kernel_params &params, small_shared &smem)
{
    const uint32_t lane = threadIdx.x & 31;
    uint32_t *const list = smem.list[threadIdx.x / 32];
    const slot_queues queues = begin_previsit(params, smem.slots);

    for (uint64_t first = hw_grid_thread() / 32 * scan_words; first < params.graph.slot_words;
         first += hw_grid_threads() / 32 * scan_words) {
        const uint32_t count = list_words(params, first, list);
        for (uint32_t base = 0; base < count; base += slot_words) {
            const bool active = lane < slot_words && base + lane < count;
            const uint32_t word = active ? list[base + lane] : 0;
            const uint32_t new_bits = active ? __ldcg(params.search.found_slots + word) : 0;
            process_slots<false>(params, queues, word, new_bits, smem.slots);
        }
        __syncwarp();
    }
    __syncthreads();
    if (threadIdx.x == 0)
        add_slots(params, smem.slots.sum);
}

/* Small steps, until one is not. */
template <uint32_t max_peers>
__global__ void __launch_bounds__(threads, 1) small_steps(const kernel_params params)
{
    __shared__ small_shared smem;
    control_t *const c = params.control;

    if (!c->small_step)
        return;
    while (c->small_step) {
        visit_small(params, smem);
        grid_barrier(params, &smem.last, [&] {
            if (c->two_visits)
                signal_peers(params, HW_GPU_DELEGATES_SIGNAL_EARLY);
            signal_peers(params, HW_GPU_DELEGATES_SIGNAL_MASK);
            signal_peers(params, HW_GPU_DELEGATES_SIGNAL_UPDATES);
            (void)barrier_delegates(params, true);
            barrier_slots(params, true, smem.received);
        });
        if (c->found.max_delegates > 0) {
            list_sectors<max_peers>(params, smem.delegates);
            grid_barrier(params, &smem.last, [] {});
            combine_small<max_peers>(params, smem.delegates);
        }
        receive_updates(params, c->found.received);
        grid_barrier(params, &smem.last, [] {});
        form_frontier_small(params, smem);
        grid_barrier(params, &smem.last, [&] {
            prefetch_control(params);
            if (threadIdx.x == 0)
                decide(params, false);
            __syncwarp();
        });
    }
    if (blockIdx.x == 0 && threadIdx.x == 0)
        notify_host(params);
}

} // namespace
} // namespace hw_delegates

#endif
