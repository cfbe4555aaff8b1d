/*
 * Method `delegates`: reduction of the delegate masks. The masks of new delegates of all parts are
 * combined by bitwise or; what is new in them becomes visited, gets its level and, at the owner,
 * its parent, and is queued.
 *
 * Between GPUs that map each other's memory each GPU fetches the masks of the others after the
 * barrier, or reads small ones where they are. Each GPU has two masks, used alternately: it clears
 * the one that the others read when delegates were discovered last, which is safe since there has
 * been a barrier since. Most steps discover few delegates. So each mask has a summary, a byte for
 * each sector of it, and others fetch the summary and the nonzero sectors only. (The paper sends
 * whole masks.) Of the two masks of visited delegates, those sectors are equal already that neither
 * this step nor the last one changed.
 */
#ifndef HOPWAVE_GPU_BFS_DELEGATES_DELEGATES_REDUCTION_CUH
#define HOPWAVE_GPU_BFS_DELEGATES_DELEGATES_REDUCTION_CUH

#include "gpu/bfs/delegates/delegates_barrier.cuh"
#include "gpu/bfs/delegates/delegates_queue.cuh"

namespace hw_delegates
{
namespace
{

/* Blocks that bring masks from other GPUs, where more combine them. */
constexpr int gathering = hw_remote_load_blocks;

/* Sectors of a tile of block_words words, a bit for each warp. */
struct sectors {
    uint32_t own;     /* in which this part found any */
    uint32_t all;     /* in which any part did */
    uint32_t changed; /* all, and those in which the last step that found any did */
};

/* A word of the masks in each of the first warp_words lanes of a warp, of up to so many others. */
template <uint32_t others> struct news {
    uint32_t word;          /* which */
    uint32_t whose;         /* others that found any in its sector, a bit each */
    uint32_t fresh;         /* new in this lane's word */
    uint32_t own;           /* what this part found */
    uint32_t found[others]; /* what each other one found */
};

/* A tile of a summary: a bit for each of its bytes. */
__device__ __forceinline__ uint32_t tile_of(const uint8_t *summary, uint64_t tile)
{
    const count64 bytes = __ldcv(reinterpret_cast<const count64 *>(summary) + tile);

    return static_cast<uint32_t>(bytes * 0x0102040810204080ull >> 56);
}

/* The sectors of a tile, and who found any in this warp's. far: others' masks are looked at where
 * they are, else where they were brought. Masks that the host combined have no summary. */
template <bool far, uint32_t others>
__device__ __forceinline__ sectors find_sectors(const kernel_params &plan, uint64_t tile,
                                                uint32_t *whose)
{
    const uint32_t parity = plan.control->parity, warp = threadIdx.x / 32;
    constexpr uint32_t every = 0xff;
    uint32_t theirs[others];

    *whose = 1;
    if (plan.carried)
        return {every, every, every};
    const uint32_t own = tile_of(plan.dirty[parity], tile), stale = tile_of(plan.stale, tile);
    uint32_t all = own;
#pragma unroll
    for (uint32_t q = 0; q < others; q++) {
        const uint8_t *const summary =
            far ? plan.mask_dirty[parity][q]
                : plan.gathered_dirty + static_cast<uint64_t>(q) * plan.graph.summary;
        theirs[q] = q < plan.masks ? tile_of(summary, tile) : 0;
    }
    *whose = 0;
#pragma unroll
    for (uint32_t q = 0; q < others; q++) {
        *whose |= (theirs[q] >> warp & 1) << q;
        all |= theirs[q];
    }
    return {own, all, all | stale};
}

/* Takes down whether this step changed a sector, and clears its byte in this part's other
 * summary. One thread for each, when all have looked at it. */
__device__ __forceinline__ void keep_sector(const kernel_params &plan, uint64_t sector,
                                            bool changed)
{
    plan.stale[sector] = changed;
    plan.dirty[plan.control->parity ^ 1][sector] = 0;
}

/* What all parts found in a word, taken as visited; this part's other mask is cleared. there:
 * whether anything is to be done in this lane's word; far: as above. */
template <bool far, uint32_t others>
__device__ __forceinline__ void combine_word(const kernel_params &plan, bool there,
                                             news<others> &words)
{
    const uint32_t parity = plan.control->parity, word = words.word;
    const uint32_t old = there ? plan.visited[parity][word] : 0;
    uint32_t all = 0;

    words.own = there ? __ldcg(plan.found[parity] + word) : 0;
#pragma unroll
    for (uint32_t q = 0; q < others; q++) {
        const uint32_t *const mask =
            far ? plan.mask[parity][q]
                : plan.gathered + static_cast<uint64_t>(q) * plan.mask_stride;
        words.found[q] = there && (words.whose >> q & 1) ? __ldcv(mask + word) : 0;
    }
#pragma unroll
    for (uint32_t q = 0; q < others; q++)
        all |= words.found[q];
    all |= words.own;
    words.fresh = all & ~old;
    if (there) {
        plan.visited[parity ^ 1][word] = old | all;
        plan.found[parity ^ 1][word] = 0;
    }
}

/* Where the parent of a new delegate in the warp's word k is known: here, with a part that
 * found it too, or, where parts are out of reach, nowhere yet. */
template <uint32_t others>
__device__ __forceinline__ const uint32_t *known(const kernel_params &plan,
                                                 const news<others> &words, uint32_t k, uint32_t v)
{
    const uint32_t *at = in_word(words.own, k) ? plan.candidate + v : nullptr;

#pragma unroll
    for (uint32_t q = 0; q < others; q++) {
        if (q < plan.masks) {
            const bool theirs = in_word(words.found[q], k);
            if (!at && plan.others[q] && theirs)
                at = plan.others[q] + v;
        }
    }
    return at;
}

/* New delegates of this part in a warp's words: their levels and parents, all words at once,
 * since memory of other GPUs is far. Returns how many this lane has. */
template <uint32_t others>
__device__ __forceinline__ uint32_t label(const kernel_params &plan, const news<others> &words,
                                          int32_t level)
{
    const uint32_t mine = words.fresh ? words.fresh & __ldg(plan.graph.mine + words.word) : 0;
    uint32_t slot[warp_words], parent[warp_words], owned = 0;

#pragma unroll
    for (uint32_t k = 0; k < warp_words; k++) {
        const uint32_t v = vertex_in(words.word, k);
        slot[k] = in_word(mine, k) ? __ldg(plan.graph.own_slot + v) : HW_INVALID_VERTEX;
        if (plan.delegate_level && in_word(words.fresh, k))
            plan.delegate_level[v] = level;
    }
#pragma unroll
    for (uint32_t k = 0; k < warp_words; k++) {
        parent[k] = HW_INVALID_VERTEX;
        if (!__any_sync(HW_WARP, slot[k] != HW_INVALID_VERTEX))
            continue;
        const uint32_t *at = known(plan, words, k, vertex_in(words.word, k));
        parent[k] = at && slot[k] != HW_INVALID_VERTEX ? *static_cast<const volatile uint32_t *>(at)
                                                       : HW_INVALID_VERTEX;
    }
#pragma unroll
    for (uint32_t k = 0; k < warp_words; k++) {
        if (slot[k] == HW_INVALID_VERTEX)
            continue;
        plan.parent[slot[k]] = parent[k];
        plan.level[slot[k]] = level;
        atomicOr(plan.seen + slot[k] / 32, 1u << (slot[k] & 31));
        owned++;
    }
    return owned;
}

/* ---- fetching masks ---- */

/* The others' summaries are brought here, and the sectors of their masks that have anything; the
 * rest is cleared, where all is to be looked at. Returns how many vectors of 16 bytes this thread
 * brought. All threads of the grid. */
__device__ __forceinline__ uint32_t bring_masks(const kernel_params &plan, bool all)
{
    uint32_t brought = 0;
    constexpr uint32_t each = HW_GPU_DELEGATES_SECTOR / 4; /* vectors of a sector */
    const uint32_t vectors = plan.mask_stride / 4, parity = plan.control->parity;

    for (uint64_t k = hw_grid_thread(); k < vectors; k += hw_grid_threads()) {
        const uint64_t sector = k / each;
        uint4 words[HW_GPU_DELEGATES_PEERS - 1];
        bool dirty[HW_GPU_DELEGATES_PEERS - 1];
#pragma unroll
        for (uint32_t q = 0; q < HW_GPU_DELEGATES_PEERS - 1; q++)
            dirty[q] = q < plan.masks && __ldcv(plan.mask_dirty[parity][q] + sector) != 0;
#pragma unroll
        for (uint32_t q = 0; q < HW_GPU_DELEGATES_PEERS - 1; q++)
            words[q] = dirty[q] ? __ldcv(reinterpret_cast<const uint4 *>(plan.mask[parity][q]) + k)
                                : make_uint4(0, 0, 0, 0);
#pragma unroll
        for (uint32_t q = 0; q < HW_GPU_DELEGATES_PEERS - 1; q++) {
            brought += dirty[q];
            if (dirty[q] || (all && q < plan.masks))
                reinterpret_cast<uint4 *>(plan.gathered)[static_cast<uint64_t>(q) * vectors + k] =
                    words[q];
            if (q < plan.masks && k % each == 0)
                plan.gathered_dirty[static_cast<uint64_t>(q) * plan.graph.summary + sector] =
                    dirty[q];
        }
    }
    return brought;
}

/* The streams of delegates meet, and bring masks. */
__global__ void __launch_bounds__(threads) bring(const kernel_params plan)
{
    if (plan.control->over)
        return;
    const uint32_t any = hear_delegates(plan);
    if (any > 0)
        (void)bring_masks(plan, only_backward(plan, any));
}

/* The same after the first of two visits: what owners found. */
__global__ void __launch_bounds__(threads) bring_early(const kernel_params plan)
{
    __shared__ bool found;
    __shared__ count64 room[warps];
    control_t *const c = plan.control;

    if (c->over || !c->twice)
        return;
    if (threadIdx.x < 32) {
        count64 word;
        const bool came = hear(plan, HW_GPU_DELEGATES_EARLY, threadIdx.x, &word);
        const bool any = __any_sync(HW_WARP, is_found(word)) != 0;
        const bool all = __all_sync(HW_WARP, came) != 0;
        if (threadIdx.x == 0) {
            found = any;
            if (blockIdx.x == 0)
                c->early = any;
            if (!all)
                c->failed = HW_GPU_DELEGATES_SILENT;
        }
    }
    __syncthreads();
    const uint32_t mine = found ? bring_masks(plan, true) : 0;
    const count64 brought = block_sum(mine, room);
    if (threadIdx.x == 0 && found)
        atomicAdd(&c->early_bytes, 16 * brought);
}

/* ---- reduction ---- */

/* What a block sums up of new delegates, and its room. */
struct reducing {
    count64 sum[SUMS];
    rooms room;
};

/* What is new in a warp's words: sums, queues, levels and parents. whole: as above. */
template <bool whole, uint32_t others>
__device__ __forceinline__ void take_delegates(const kernel_params &plan, const news<others> &words,
                                               bool queues, reducing &own)
{
    const graph_t &graph = plan.graph;
    const uint32_t fresh = words.fresh, at = fresh ? words.word : 0;
    const uint32_t dd_out = fresh & __ldg(graph.out[HW_GPU_DD] + at);
    const uint32_t dn_out = fresh & __ldg(graph.out[HW_GPU_DN] + at);

    add(&own.sum[DD_OUT], __popc(dd_out));
    add(&own.sum[DN_OUT], __popc(dn_out));
    add(&own.sum[DD_IN], __popc(fresh & __ldg(graph.in[HW_GPU_DD] + at)));
    add(&own.sum[ND_IN], __popc(fresh & __ldg(graph.in[HW_GPU_ND] + at)));
    add(&own.sum[DELEGATES], __popc(fresh));
    if (queues)
        add(&own.sum[DN_WORK], queue_delegates<whole>(plan, words.word, dd_out, dn_out, own.room));
    add(&own.sum[OWNED], label(plan, words, static_cast<int32_t>(plan.control->level + 1)));
}

/* The masks of a step combined, and what is new in them. any: the most that any part found;
 * far, asked: as above. All threads of the grid. */
template <bool far, uint32_t others>
__device__ __forceinline__ void combine(const kernel_params &plan, uint32_t any, reducing &own)
{
    const graph_t &graph = plan.graph;
    const bool queues = !only_backward(plan, any);

    if (threadIdx.x < SUMS)
        own.sum[threadIdx.x] = 0;
    __syncthreads();
    for (uint64_t tile = blockIdx.x; tile * block_words < graph.mask_words; tile += gridDim.x) {
        news<others> words;
        const sectors here = find_sectors<far, others>(plan, tile, &words.whose);
        if (here.changed == 0)
            continue;
        const uint32_t lane = threadIdx.x & 31;
        words.word =
            static_cast<uint32_t>(tile) * block_words + threadIdx.x / 32 * warp_words + lane;
        combine_word<far>(plan,
                          (here.changed >> (threadIdx.x / 32) & 1) && lane < warp_words &&
                              words.word < graph.mask_words,
                          words);
        const bool news_here = __syncthreads_or(words.fresh != 0);
        if (lane == 0)
            keep_sector(plan, tile * warps + threadIdx.x / 32, here.all >> (threadIdx.x / 32) & 1);
        if (threadIdx.x == 0)
            own.sum[SECTORS] += __popc(here.own);
        if (!news_here)
            continue;
        take_delegates<true>(plan, words, queues, own);
    }
    __syncthreads();
    if (threadIdx.x == 0)
        add_delegates(plan, own.sum);
}

/* The same where so many were found that they are visited backward alone, and need no queue: a
 * word of all masks for each thread, and levels and parents are left to label_late(). Others'
 * masks were brought. All threads of the grid. */
__device__ __forceinline__ void combine_many(const kernel_params &plan, reducing &own)
{
    const graph_t &graph = plan.graph;
    const uint32_t parity = plan.control->parity, lane = threadIdx.x & 31;
    uint32_t count[SUMS] = {0};

    if (threadIdx.x < SUMS)
        own.sum[threadIdx.x] = 0;
    if (hw_grid_thread() == 0) {
        plan.control->late = 1;
        plan.control->late_level = plan.control->level + 1;
    }
    __syncthreads();
    for (uint64_t w = hw_grid_thread(); w < graph.mask_words; w += hw_grid_threads()) {
        const uint32_t old = plan.visited[parity][w], found = __ldcg(plan.found[parity] + w);
        uint32_t all = found;
        for (uint32_t q = 0; q < plan.masks; q++)
            all |= __ldcg(plan.gathered + static_cast<uint64_t>(q) * plan.mask_stride + w);
        const uint32_t fresh = all & ~old;
        plan.visited[parity ^ 1][w] = old | all;
        plan.found[parity ^ 1][w] = 0;
        plan.fresh[w] = fresh;
        plan.fresh_own[w] = fresh & found;
        if (w % HW_GPU_DELEGATES_SECTOR == 0) {
            const uint64_t sector = w / HW_GPU_DELEGATES_SECTOR;
            count[SECTORS] += __ldcg(plan.dirty[parity] + sector);
            plan.stale[sector] = 1;
            plan.dirty[parity ^ 1][sector] = 0;
        }
        count[DD_OUT] += __popc(fresh & __ldg(graph.out[HW_GPU_DD] + w));
        count[DN_OUT] += __popc(fresh & __ldg(graph.out[HW_GPU_DN] + w));
        count[DD_IN] += __popc(fresh & __ldg(graph.in[HW_GPU_DD] + w));
        count[ND_IN] += __popc(fresh & __ldg(graph.in[HW_GPU_ND] + w));
        count[DELEGATES] += __popc(fresh);
        count[OWNED] += __popc(fresh & __ldg(graph.mine + w));
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
        add_delegates(plan, own.sum);
}

/* Levels and parents of the new delegates that combine_many() left. */
template <uint32_t others>
__global__ void __launch_bounds__(threads) label_late(const kernel_params plan)
{
    const graph_t &graph = plan.graph;
    const uint32_t lane = threadIdx.x & 31;
    const int32_t level = static_cast<int32_t>(plan.control->late_level);

    if (!plan.control->late)
        return;
    for (uint64_t first = hw_grid_thread() / 32 * warp_words; first < graph.mask_words;
         first += hw_grid_threads() / 32 * warp_words) {
        news<others> words;
        words.word = static_cast<uint32_t>(first) + lane;
        const bool there = lane < warp_words && words.word < graph.mask_words;
        words.fresh = there ? plan.fresh[words.word] : 0;
        words.own = there ? plan.fresh_own[words.word] : 0;
        words.whose = 0;
#pragma unroll
        for (uint32_t q = 0; q < others; q++)
            words.found[q] =
                there && q < plan.masks
                    ? plan.gathered[static_cast<uint64_t>(q) * plan.mask_stride + words.word]
                    : 0;
        if (__any_sync(HW_WARP, words.fresh != 0))
            (void)label(plan, words, level);
    }
}

/* meets: the GPUs meet here, and no other kernel brings the
 * masks. */
template <bool meets, uint32_t others>
__global__ void __launch_bounds__(threads, at_once(others == 1 ? 5 : 4))
    reduce(const kernel_params plan)
{
    __shared__ reducing own;

    if (plan.control->over)
        return;
    const uint32_t any = meets ? hear_delegates(plan) : plan.control->any_delegate;
    const bool here = plan.fresh && (!meets || plan.masks == 0); /* all masks that are needed */
    if (hw_grid_thread() == 0)
        plan.control->late = 0;
    if (any > 0 && here && only_backward(plan, any))
        combine_many(plan, own);
    else if (any > 0)
        combine<meets, others>(plan, any, own);
}

} // namespace
} // namespace hw_delegates

#endif
