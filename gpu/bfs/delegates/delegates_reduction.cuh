/*
 * Method `delegates`: reduction of the delegate masks. The masks of new delegates of all parts are
 * combined by bitwise or; what is new in them becomes visited, gets its level and, at the owner,
 * its parent, and is queued.
 *
 * Between GPUs that map each other's memory each GPU fetches the masks of the others after the
 * barrier, or reads small ones where they are. Each GPU has two masks, used alternately: it clears
 * the one that the others read when delegates were discovered last, which is safe because there has
 * been a barrier since then. Most steps discover few delegates. So each mask has a summary, a byte
 * for each sector of it, and others fetch the summary and the nonzero sectors only. (The paper
 * sends whole masks.) Of the two masks of visited delegates, those sectors are equal already that
 * neither this step nor the last one changed.
 */
#ifndef HOPWAVE_GPU_BFS_DELEGATES_DELEGATES_REDUCTION_CUH
#define HOPWAVE_GPU_BFS_DELEGATES_DELEGATES_REDUCTION_CUH

#include "gpu/bfs/delegates/delegates_barrier.cuh"
#include "gpu/bfs/delegates/delegates_queue.cuh"

namespace hw_delegates
{
namespace
{

/* Blocks that fetch masks from other GPUs, where more blocks combine them. */
constexpr int max_fetch_blocks = hw_remote_load_blocks;

/* Sectors of a tile of block_words words, a bit for each warp. */
struct tile_sectors {
    uint32_t own;     /* in which this part discovered any */
    uint32_t all;     /* in which any part did */
    uint32_t changed; /* all, and those that the last step with discoveries changed */
};

/* A word of the masks, in each of the first warp_words lanes of a warp, with those of up to
 * max_peers others. */
template <uint32_t max_peers> struct mask_delta {
    uint32_t word;             /* its index */
    uint32_t found_by;         /* other parts with bits in its sector, a bit each */
    uint32_t new_bits;         /* new in this lane's word */
    uint32_t own;              /* discovered by this part */
    uint32_t found[max_peers]; /* by each other part */
};

/* A tile of a summary: a bit for each of its bytes. */
__device__ __forceinline__ uint32_t summary_tile(const uint8_t *summary, uint64_t tile)
{
    const count64 bytes = __ldcv(reinterpret_cast<const count64 *>(summary) + tile);

    return static_cast<uint32_t>(bytes * 0x0102040810204080ull >> 56);
}

/* The nonzero sectors of a tile, and the parts that discovered any in this warp's sector. in_place:
 * the masks of others are read where they are, else where they were fetched to. Masks that the host
 * combined have no summary. */
template <bool in_place, uint32_t max_peers>
__device__ __forceinline__ tile_sectors find_sectors(const kernel_params &params, uint64_t tile,
                                                     uint32_t *found_by)
{
    const uint32_t parity = params.control->parity, warp = threadIdx.x / 32;
    constexpr uint32_t every = 0xff;
    uint32_t peer_bits[max_peers];

    *found_by = 1;
    if (params.config.host_staged)
        return {every, every, every};
    const uint32_t own = summary_tile(params.search.dirty[parity], tile),
                   stale = summary_tile(params.search.changed_before, tile);
    uint32_t all = own;
#pragma unroll
    for (uint32_t q = 0; q < max_peers; q++) {
        const uint8_t *const summary =
            in_place ? params.peers.dirty[parity][q]
                     : params.peers.fetched_dirty +
                           static_cast<uint64_t>(q) * params.graph.summary_bytes;
        peer_bits[q] = q < params.peers.masks ? summary_tile(summary, tile) : 0;
    }
    *found_by = 0;
#pragma unroll
    for (uint32_t q = 0; q < max_peers; q++) {
        *found_by |= (peer_bits[q] >> warp & 1) << q;
        all |= peer_bits[q];
    }
    return {own, all, all | stale};
}

/* Stores whether this step changed a sector, and clears its byte in this part's other summary. One
 * thread for each sector, after all have read it. */
__device__ __forceinline__ void set_sector_changed(const kernel_params &params, uint64_t sector,
                                                   bool changed)
{
    params.search.changed_before[sector] = changed;
    params.search.dirty[params.control->parity ^ 1][sector] = 0;
}

/* Combines a word of all parts into `visited`, and clears it in this part's other mask. active:
 * whether this lane has a word; in_place: as above. */
template <bool in_place, uint32_t max_peers>
__device__ __forceinline__ void combine_word(const kernel_params &params, bool active,
                                             mask_delta<max_peers> &words)
{
    const uint32_t parity = params.control->parity, word = words.word;
    const uint32_t old = active ? params.search.visited[parity][word] : 0;
    uint32_t all = 0;

    words.own = active ? __ldcg(params.search.found[parity] + word) : 0;
#pragma unroll
    for (uint32_t q = 0; q < max_peers; q++) {
        const uint32_t *const mask =
            in_place ? params.peers.mask[parity][q]
                     : params.peers.fetched + static_cast<uint64_t>(q) * params.peers.mask_stride;
        words.found[q] = active && (words.found_by >> q & 1) ? __ldcv(mask + word) : 0;
    }
#pragma unroll
    for (uint32_t q = 0; q < max_peers; q++)
        all |= words.found[q];
    all |= words.own;
    words.new_bits = all & ~old;
    if (active) {
        params.search.visited[parity ^ 1][word] = old | all;
        params.search.found[parity ^ 1][word] = 0;
    }
}

/* Where the parent of a new delegate in the word of lane k is stored: on this part, or on another
 * that discovered it too; NULL where that memory is not mapped. */
template <uint32_t max_peers>
__device__ __forceinline__ const uint32_t *
find_parent(const kernel_params &params, const mask_delta<max_peers> &words, uint32_t k, uint32_t v)
{
    const uint32_t *at = in_word(words.own, k) ? params.search.candidate + v : nullptr;

#pragma unroll
    for (uint32_t q = 0; q < max_peers; q++) {
        if (q < params.peers.masks) {
            const bool peer_bits = in_word(words.found[q], k);
            if (!at && params.peers.candidate[q] && peer_bits)
                at = params.peers.candidate[q] + v;
        }
    }
    return at;
}

/* Writes levels and parents of this part's new delegates in a warp's words. Loads for all words are
 * issued together, since the latency of other GPUs' memory is high. Returns their number in this
 * lane. */
template <uint32_t max_peers>
__device__ __forceinline__ uint32_t write_levels(const kernel_params &params,
                                                 const mask_delta<max_peers> &words, int32_t level)
{
    const uint32_t mine =
        words.new_bits ? words.new_bits & __ldg(params.graph.owned_mask + words.word) : 0;
    uint32_t slot[warp_words], parent[warp_words], owned = 0;

#pragma unroll
    for (uint32_t k = 0; k < warp_words; k++) {
        const uint32_t v = vertex_in(words.word, k);
        slot[k] = in_word(mine, k) ? __ldg(params.graph.own_slot + v) : HW_INVALID_VERTEX;
        if (params.canonical.delegate_level && in_word(words.new_bits, k))
            params.canonical.delegate_level[v] = level;
    }
#pragma unroll
    for (uint32_t k = 0; k < warp_words; k++) {
        parent[k] = HW_INVALID_VERTEX;
        if (!__any_sync(HW_WARP, slot[k] != HW_INVALID_VERTEX))
            continue;
        const uint32_t *at = find_parent(params, words, k, vertex_in(words.word, k));
        parent[k] = at && slot[k] != HW_INVALID_VERTEX ? *static_cast<const volatile uint32_t *>(at)
                                                       : HW_INVALID_VERTEX;
    }
#pragma unroll
    for (uint32_t k = 0; k < warp_words; k++) {
        if (slot[k] == HW_INVALID_VERTEX)
            continue;
        params.search.parent[slot[k]] = parent[k];
        params.search.level[slot[k]] = level;
        atomicOr(params.search.visited_slots + slot[k] / 32, 1u << (slot[k] & 31));
        owned++;
    }
    return owned;
}

/* ---- fetching masks ---- */

/* Copies the others' summaries and the nonzero sectors of their masks to this GPU. all: also clears
 * the copies of zero sectors, since all will be read. Returns the vectors of 16 bytes that this
 * thread fetched. All threads of the grid. */
__device__ __forceinline__ uint32_t fetch_masks(const kernel_params &params, bool all)
{
    uint32_t fetched = 0;
    constexpr uint32_t each = HW_GPU_DELEGATES_SECTOR / 4; /* vectors of a sector */
    const uint32_t vectors = params.peers.mask_stride / 4, parity = params.control->parity;

    for (uint64_t k = hw_grid_thread(); k < vectors; k += hw_grid_threads()) {
        const uint64_t sector = k / each;
        uint4 words[HW_GPU_DELEGATES_MAX_PEERS - 1];
        bool dirty[HW_GPU_DELEGATES_MAX_PEERS - 1];
#pragma unroll
        for (uint32_t q = 0; q < HW_GPU_DELEGATES_MAX_PEERS - 1; q++)
            dirty[q] =
                q < params.peers.masks && __ldcv(params.peers.dirty[parity][q] + sector) != 0;
#pragma unroll
        for (uint32_t q = 0; q < HW_GPU_DELEGATES_MAX_PEERS - 1; q++)
            words[q] =
                dirty[q] ? __ldcv(reinterpret_cast<const uint4 *>(params.peers.mask[parity][q]) + k)
                         : make_uint4(0, 0, 0, 0);
#pragma unroll
        for (uint32_t q = 0; q < HW_GPU_DELEGATES_MAX_PEERS - 1; q++) {
            fetched += dirty[q];
            if (dirty[q] || (all && q < params.peers.masks))
                reinterpret_cast<uint4 *>(
                    params.peers.fetched)[static_cast<uint64_t>(q) * vectors + k] = words[q];
            if (q < params.peers.masks && k % each == 0)
                params.peers
                    .fetched_dirty[static_cast<uint64_t>(q) * params.graph.summary_bytes + sector] =
                    dirty[q];
        }
    }
    return fetched;
}

/* Barrier of the streams of delegates; then fetches masks. */
__global__ void __launch_bounds__(threads) fetch(const kernel_params params)
{
    if (params.control->done)
        return;
    const uint32_t any = block_barrier_delegates(params);
    if (any > 0)
        (void)fetch_masks(params, skips_queues(params, any));
}

/* The same after the first of two visits: fetches what owners discovered. */
__global__ void __launch_bounds__(threads) fetch_early(const kernel_params params)
{
    __shared__ bool found;
    __shared__ count64 scratch[warps];
    control_t *const c = params.control;

    if (c->done || !c->two_visits)
        return;
    if (threadIdx.x < 32) {
        uint64_t word;
        const bool all = wait_peers(params, HW_GPU_DELEGATES_SIGNAL_EARLY, word);
        const bool any = __any_sync(HW_WARP, has_found(word)) != 0;
        if (threadIdx.x == 0) {
            found = any;
            if (blockIdx.x == 0)
                c->early_found = any;
            if (!all)
                c->failed = HW_GPU_DELEGATES_TIMEOUT;
        }
    }
    __syncthreads();
    const uint32_t mine = found ? fetch_masks(params, true) : 0;
    const count64 fetched = block_sum(mine, scratch);
    if (threadIdx.x == 0 && found)
        atomicAdd(&c->early_bytes, 16 * fetched);
}

/* ---- reduction ---- */

/* Shared memory of a block in a reduction. */
struct reduction_shared {
    count64 sum[SUMS];
    reserve_scratch scratch;
};

/* Processes new delegates in a warp's words: sums, queues, levels and parents. by_block: as for
 * reserve(). */
template <bool by_block, uint32_t max_peers>
__device__ __forceinline__ void process_delegates(const kernel_params &params,
                                                  const mask_delta<max_peers> &words, bool queues,
                                                  reduction_shared &own)
{
    const graph_t &graph = params.graph;
    const uint32_t new_bits = words.new_bits, at = new_bits ? words.word : 0;
    const uint32_t dd_out = new_bits & __ldg(graph.out[HW_GPU_DD] + at);
    const uint32_t dn_out = new_bits & __ldg(graph.out[HW_GPU_DN] + at);

    add(&own.sum[DD_OUT], __popc(dd_out));
    add(&own.sum[DN_OUT], __popc(dn_out));
    add(&own.sum[DD_IN], __popc(new_bits & __ldg(graph.in[HW_GPU_DD] + at)));
    add(&own.sum[ND_IN], __popc(new_bits & __ldg(graph.in[HW_GPU_ND] + at)));
    add(&own.sum[DELEGATES], __popc(new_bits));
    if (queues)
        add(&own.sum[DN_WORK],
            queue_delegates<by_block>(params, words.word, dd_out, dn_out, own.scratch));
    add(&own.sum[OWNED],
        write_levels(params, words, static_cast<int32_t>(params.control->level + 1)));
}

/* Combines the masks of a step and processes what is new. any: the most that any part discovered;
 * in_place: as above. All threads of the grid. */
template <bool in_place, uint32_t max_peers>
__device__ __forceinline__ void combine(const kernel_params &params, uint32_t any,
                                        reduction_shared &own)
{
    const graph_t &graph = params.graph;
    const bool queues = !skips_queues(params, any);

    if (threadIdx.x < SUMS)
        own.sum[threadIdx.x] = 0;
    __syncthreads();
    for (uint64_t tile = blockIdx.x; tile * block_words < graph.mask_words; tile += gridDim.x) {
        mask_delta<max_peers> words;
        const tile_sectors here = find_sectors<in_place, max_peers>(params, tile, &words.found_by);
        if (here.changed == 0)
            continue;
        const uint32_t lane = threadIdx.x & 31;
        words.word =
            static_cast<uint32_t>(tile) * block_words + threadIdx.x / 32 * warp_words + lane;
        combine_word<in_place>(params,
                               (here.changed >> (threadIdx.x / 32) & 1) && lane < warp_words &&
                                   words.word < graph.mask_words,
                               words);
        const bool any_new = __syncthreads_or(words.new_bits != 0);
        if (lane == 0)
            set_sector_changed(params, tile * warps + threadIdx.x / 32,
                               here.all >> (threadIdx.x / 32) & 1);
        if (threadIdx.x == 0)
            own.sum[SECTORS] += __popc(here.own);
        if (!any_new)
            continue;
        process_delegates<true>(params, words, queues, own);
    }
    __syncthreads();
    if (threadIdx.x == 0)
        add_delegates(params, own.sum);
}

/* The same where so many delegates were discovered that they are only visited backward and are not
 * queued: a word a thread; write_pending_levels() writes levels and parents. The masks have been
 * fetched. All threads of the grid. */
__device__ __forceinline__ void combine_unqueued(const kernel_params &params, reduction_shared &own)
{
    const graph_t &graph = params.graph;
    const uint32_t parity = params.control->parity, lane = threadIdx.x & 31;
    uint32_t count[SUMS] = {0};

    if (threadIdx.x < SUMS)
        own.sum[threadIdx.x] = 0;
    if (hw_grid_thread() == 0) {
        params.control->next.levels_pending = 1;
        params.control->next.pending_level = params.control->level + 1;
    }
    __syncthreads();
    for (uint64_t w = hw_grid_thread(); w < graph.mask_words; w += hw_grid_threads()) {
        const uint32_t old = params.search.visited[parity][w],
                       found = __ldcg(params.search.found[parity] + w);
        uint32_t all = found;
        for (uint32_t q = 0; q < params.peers.masks; q++)
            all |= __ldcg(params.peers.fetched +
                          static_cast<uint64_t>(q) * params.peers.mask_stride + w);
        const uint32_t new_bits = all & ~old;
        params.search.visited[parity ^ 1][w] = old | all;
        params.search.found[parity ^ 1][w] = 0;
        params.new_delegates[w] = new_bits;
        params.new_delegates_here[w] = new_bits & found;
        if (w % HW_GPU_DELEGATES_SECTOR == 0) {
            const uint64_t sector = w / HW_GPU_DELEGATES_SECTOR;
            count[SECTORS] += __ldcg(params.search.dirty[parity] + sector);
            params.search.changed_before[sector] = 1;
            params.search.dirty[parity ^ 1][sector] = 0;
        }
        count[DD_OUT] += __popc(new_bits & __ldg(graph.out[HW_GPU_DD] + w));
        count[DN_OUT] += __popc(new_bits & __ldg(graph.out[HW_GPU_DN] + w));
        count[DD_IN] += __popc(new_bits & __ldg(graph.in[HW_GPU_DD] + w));
        count[ND_IN] += __popc(new_bits & __ldg(graph.in[HW_GPU_ND] + w));
        count[DELEGATES] += __popc(new_bits);
        count[OWNED] += __popc(new_bits & __ldg(graph.owned_mask + w));
    }
    __syncwarp();
#pragma unroll
    for (int k = 0; k < SUMS; k++) {
        const uint32_t sum = hw_warp_sum(count[k]);
        if (lane == 0 && sum > 0)
            atomicAdd(&own.sum[k], static_cast<count64>(sum));
    }
    __syncthreads();
    if (threadIdx.x == 0)
        add_delegates(params, own.sum);
}

/* Writes levels and parents of the new delegates that combine_unqueued() left out. */
template <uint32_t max_peers>
__global__ void __launch_bounds__(threads) write_pending_levels(const kernel_params params)
{
    const graph_t &graph = params.graph;
    const uint32_t lane = threadIdx.x & 31;
    const int32_t level = static_cast<int32_t>(params.control->next.pending_level);

    if (!params.control->next.levels_pending)
        return;
    for (uint64_t first = hw_grid_thread() / 32 * warp_words; first < graph.mask_words;
         first += hw_grid_threads() / 32 * warp_words) {
        mask_delta<max_peers> words;
        words.word = static_cast<uint32_t>(first) + lane;
        const bool active = lane < warp_words && words.word < graph.mask_words;
        words.new_bits = active ? params.new_delegates[words.word] : 0;
        words.own = active ? params.new_delegates_here[words.word] : 0;
        words.found_by = 0;
#pragma unroll
        for (uint32_t q = 0; q < max_peers; q++)
            words.found[q] =
                active && q < params.peers.masks
                    ? params.peers
                          .fetched[static_cast<uint64_t>(q) * params.peers.mask_stride + words.word]
                    : 0;
        if (__any_sync(HW_WARP, words.new_bits != 0))
            (void)write_levels(params, words, level);
    }
}

/* The reduction. with_barrier: the barrier of GPUs is here, and no other kernel fetches the masks.
 */
template <bool with_barrier, uint32_t max_peers>
__global__ void __launch_bounds__(threads, resident_blocks(max_peers == 1 ? 5 : 4))
    reduce(const kernel_params params)
{
    __shared__ reduction_shared own;

    if (params.control->done)
        return;
    const uint32_t any =
        with_barrier ? block_barrier_delegates(params) : params.control->found.max_delegates;
    const bool here = params.new_delegates &&
                      (!with_barrier || params.peers.masks == 0); /* all masks are on this GPU */
    if (hw_grid_thread() == 0)
        params.control->next.levels_pending = 0;
    if (any > 0 && here && skips_queues(params, any))
        combine_unqueued(params, own);
    else if (any > 0)
        combine<with_barrier, max_peers>(params, any, own);
}

} // namespace
} // namespace hw_delegates

#endif
