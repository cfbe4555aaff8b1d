/*
 * Method `delegates`: what happens between visits. Masks of delegates are combined, inboxes
 * taken, and previsits form the frontier from what is new (section IV: levels, queues, the
 * work of each visit); GPUs meet; one thread decides what comes next (section IV.B).
 *
 * Over peer each GPU brings the others' masks once all have met, or reads small ones where they
 * are, and fills one of two masks of its own in turn: it clears the one that the others read
 * when delegates were found last, since they have met again after that. Most steps find few of
 * the delegates, so that beside each mask there is a summary, a byte for each sector of it, and
 * others get that and the sectors in which there is anything. (The paper sends whole masks.) Of
 * the two masks of what is visited, sectors that neither this step nor the last one changed are
 * equal already.
 *
 * Meeting: each GPU leaves a word in every other GPU's mail, at the end of its visits: a tag,
 * whether it found anything, and how many entries it has put into that GPU's inbox. A
 * system-scope fence before orders all that its stream did, and one after keeps later reads
 * behind.
 */
#ifndef HOPWAVE_GPU_BFS_DELEGATES_DELEGATES_STEP_CUH
#define HOPWAVE_GPU_BFS_DELEGATES_DELEGATES_STEP_CUH

#include "gpu/bfs/delegates/delegates_device.cuh"

namespace
{

/* Words that a warp takes at a time, and a block. */
constexpr uint32_t warp_words = 8, block_words = warps * warp_words;
static_assert(warp_words == HW_GPU_DELEGATES_SECTOR && warps == 8,
              "a byte of the summary for each warp, a word of 64 bits for each block");

/* Blocks that bring masks from other GPUs, where more combine them. */
constexpr int gathering = hw_remote_load_blocks;

/* Sums of a block, one for each counter, added to the control at the end. */
enum { DD_OUT, DD_IN, DN_OUT, ND_IN, DN_WORK, DELEGATES, OWNED, SECTORS, SUMS };

/* Adds every thread's number to a sum in shared memory. A whole warp. */
__device__ __forceinline__ void add(count64 *sum, uint32_t x)
{
    x = hw_warp_sum(x);
    if ((threadIdx.x & 31) == 0 && x > 0)
        atomicAdd(sum, static_cast<count64>(x));
}

/* What is added to a counter by every warp of a block, in order: this warp's share begins
 * there. One atomic a block; or one a warp, which is alone then. amount: the same in all lanes. */
template <bool whole, typename T> __device__ T reserve(T *counter, T amount, T *room)
{
    if (!whole) {
        const T at = (threadIdx.x & 31) == 0 && amount > 0 ? atomicAdd(counter, amount) : 0;
        return __shfl_sync(HW_WARP, at, 0);
    }
    __syncthreads();
    if ((threadIdx.x & 31) == 0)
        room[threadIdx.x / 32] = amount;
    __syncthreads();
    if (threadIdx.x == 0) {
        T all = 0;
        for (int w = 0; w < warps; w++)
            all += room[w];
        T at = all > 0 ? atomicAdd(counter, all) : 0;
        for (int w = 0; w < warps; w++) {
            const T own = room[w];
            room[w] = at;
            at += own;
        }
    }
    __syncthreads();
    return room[threadIdx.x / 32];
}

/* ---- delegates ---- */

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

/* This lane's vertex in the word of lane k. */
__device__ __forceinline__ uint32_t vertex_in(uint32_t word, uint32_t k)
{
    return __shfl_sync(HW_WARP, word, k) * 32 + (threadIdx.x & 31);
}

/* Whether this lane's delegate in the warp's word k has its bit in that lane's. */
__device__ __forceinline__ bool in_word(uint32_t words, uint32_t k)
{
    return __shfl_sync(HW_WARP, words, k) >> (threadIdx.x & 31) & 1;
}

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

/* A packed vertex of the queue of dd. */
__device__ __forceinline__ count64 packed(uint32_t edges)
{
    return edges ? (1ull << HW_GPU_DELEGATES_EDGE_BITS) + edges : 0;
}

/* Entries that a list takes in the queue of dn. */
__device__ __forceinline__ uint32_t pieces_of(uint32_t edges)
{
    return (edges + HW_GPU_DELEGATES_PIECE - 1) / HW_GPU_DELEGATES_PIECE;
}

/* Room in shared memory for reserve(). */
struct rooms {
    count64 wide[warps];
    uint32_t narrow[warps];
};

/* New delegates into the queues of dd and dn, first their sizes, then their places. Returns
 * this lane's edges in dn. All threads of a block, or, where whole is false, of a warp. */
template <bool whole>
__device__ __forceinline__ uint32_t queue_delegates(const kernel_params &plan, uint32_t word,
                                                    uint32_t dd_out, uint32_t dn_out, rooms &room)
{
    control_t *const c = plan.control;
    uint64_t *const dn_queue = plan.dn_queue[c->parity ^ 1];
    uint32_t dd_length[warp_words], dn_length[warp_words], work = 0, pieces = 0;
    count64 edges = 0;

#pragma unroll
    for (uint32_t k = 0; k < warp_words; k++) {
        const bool dd = in_word(dd_out, k), dn = in_word(dn_out, k);
        const uint32_t v = vertex_in(word, k);
        dd_length[k] = dd ? length_of(plan.graph.forward[HW_GPU_DD], v) : 0;
        dn_length[k] = dn ? length_of(plan.graph.forward[HW_GPU_DN], v) : 0;
    }
#pragma unroll
    for (uint32_t k = 0; k < warp_words; k++) {
        edges += packed(dd_length[k]);
        pieces += pieces_of(dn_length[k]);
        work += dn_length[k];
    }
    /* A lane's vertices follow each other. */
    const count64 past = hw_warp_scan(edges);
    const uint32_t last = hw_warp_scan(pieces);
    count64 dd_at = reserve<whole>(&c->next_dd_queue, __shfl_sync(HW_WARP, past, 31), room.wide);
    uint32_t dn_at =
        reserve<whole>(&c->next_queued[HW_GPU_DN], __shfl_sync(HW_WARP, last, 31), room.narrow);
    dd_at += past - edges;
    dn_at += last - pieces;
#pragma unroll
    for (uint32_t k = 0; k < warp_words; k++) {
        const uint32_t v = vertex_in(word, k);
        if (dd_length[k] > 0) {
            plan.queue[HW_GPU_DD][dd_at >> HW_GPU_DELEGATES_EDGE_BITS] = v;
            plan.prefix[dd_at >> HW_GPU_DELEGATES_EDGE_BITS] = dd_at & edge_mask;
            dd_at += packed(dd_length[k]);
        }
        for (uint32_t piece = 0; piece < pieces_of(dn_length[k]); piece++)
            dn_queue[dn_at++] = static_cast<uint64_t>(piece) << 32 | v;
    }
    return work;
}

/* Adds a block's sums to the control. One thread. */
__device__ void add_delegates(const kernel_params &plan, const count64 *sum)
{
    control_t *const c = plan.control;
    uint32_t *const to[SUMS] = {&c->fresh_out[HW_GPU_DD],
                                &c->fresh_in[HW_GPU_DD],
                                &c->fresh_out[HW_GPU_DN],
                                &c->fresh_in[HW_GPU_ND],
                                nullptr,
                                &c->fresh_delegates,
                                &c->fresh_owned,
                                &c->sectors};

    for (int k = 0; k < SUMS; k++)
        if (to[k] && sum[k] > 0)
            atomicAdd(to[k], static_cast<uint32_t>(sum[k]));
    if (sum[DN_WORK] > 0)
        atomicAdd(&c->work[HW_GPU_DN], sum[DN_WORK]);
    if (plan.row)
        atomicMax(&c->reduced, hw_nanoseconds());
}

/* Whether the delegates of this step are so many that they will not be visited forward. */
__device__ __forceinline__ bool only_backward(const kernel_params &plan, uint32_t any)
{
    const uint32_t share = plan.graph.delegates / HW_GPU_DELEGATES_SHARE;

    return plan.direction != top_down && any > max(share, HW_GPU_DELEGATES_MANY);
}

/* The same of slots, and of visits of nd. */
__device__ __forceinline__ bool only_nd_backward(const kernel_params &plan)
{
    const uint32_t share = plan.graph.slots / HW_GPU_DELEGATES_SHARE;

    return plan.direction != top_down &&
           hw_load_relaxed(&plan.control->found_slot) > max(share, HW_GPU_DELEGATES_MANY);
}

/* ---- normal vertices ---- */

/* Sums of a block over new slots, likewise. */
enum { SLOTS, ND_OUT, NN_OUT, DN_IN, ND_WORK, SLOT_SUMS };

/* Words of slots that a warp takes at a time, and a block. */
constexpr uint32_t slot_words = 16, block_slot_words = warps * slot_words;

/* New slots of a warp's words, one in each of the first slot_words lanes, into the queues of nn
 * and nd. Returns this lane's edges in nd. All threads of a block, or, where whole is false, of a
 * warp. */
template <bool whole>
__device__ __forceinline__ uint32_t queue_slots(const kernel_params &plan, uint32_t word,
                                                uint32_t nn_out, uint32_t nd_out, count64 *room)
{
    static_assert(HW_GPU_ND == HW_GPU_NN + 1, "both sizes in one word");
    count64 *const sizes = reinterpret_cast<count64 *>(plan.control->next_queued + HW_GPU_NN);
    const uint32_t lane = threadIdx.x & 31, before = (1u << lane) - 1;
    const count64 here =
        static_cast<count64>(hw_warp_sum(__popc(nd_out))) << 32 | hw_warp_sum(__popc(nn_out));
    const count64 at = reserve<whole>(sizes, here, room);
    uint32_t nn_at = static_cast<uint32_t>(at), nd_at = static_cast<uint32_t>(at >> 32), work = 0;

    if (here == 0)
        return 0;
#pragma unroll
    for (uint32_t k = 0; k < slot_words; k++) {
        const uint32_t v = vertex_in(word, k);
        const uint32_t nn_bits = __shfl_sync(HW_WARP, nn_out, k);
        const uint32_t nd_bits = __shfl_sync(HW_WARP, nd_out, k);
        if (nn_bits >> lane & 1)
            plan.queue[HW_GPU_NN][nn_at + __popc(nn_bits & before)] = v;
        if (nd_bits >> lane & 1) {
            plan.queue[HW_GPU_ND][nd_at + __popc(nd_bits & before)] = v;
            work += length_of(plan.graph.forward[HW_GPU_ND], v);
        }
        nn_at += __popc(nn_bits);
        nd_at += __popc(nd_bits);
    }
    return work;
}

/* Adds a block's sums to the control. One thread. */
__device__ void add_slots(const kernel_params &plan, const count64 *sum)
{
    control_t *const c = plan.control;
    uint32_t *const to[] = {&c->fresh_slots, &c->fresh_out[HW_GPU_ND], &c->fresh_out[HW_GPU_NN],
                            &c->fresh_in[HW_GPU_DN]};

    for (int k = 0; k < ND_WORK; k++)
        if (sum[k] > 0)
            atomicAdd(to[k], static_cast<uint32_t>(sum[k]));
    if (sum[ND_WORK] > 0)
        atomicAdd(&c->work[HW_GPU_ND], sum[ND_WORK]);
}

/* ---- meeting ---- */

/* Waits for another GPU's word with this tag. */
__device__ bool wait_for(const volatile count64 *slot, uint32_t tag, uint64_t patience,
                         count64 *word)
{
    const count64 since = hw_nanoseconds();

    for (uint32_t look = 1;; look++) {
        *word = *slot;
        if (*word >> 48 == tag)
            return true;
        if (look % 1024 == 0 && hw_nanoseconds() - since > patience)
            return false;
    }
}

/* Waits for GPU q's word, if there is such another one. Returns whether it came. */
__device__ bool hear(const kernel_params &plan, hw_gpu_delegates_word which, uint32_t q,
                     count64 *word)
{
    const uint32_t epoch = plan.control->epoch, me = plan.graph.part;

    *word = 0;
    if (q >= plan.graph.parts || q == me)
        return true;
    const bool came =
        wait_for(&plan.mail[me]->slot[which][epoch & 1][q], epoch & 0xffff, plan.patience, word);
    __threadfence_system();
    return came;
}

__device__ __forceinline__ bool is_found(count64 word)
{
    return word >> 40 & 1;
}

/* The streams of delegates meet, whose visits have told. keep: whether this block keeps what was
 * heard. Returns the most that any part found. The first warp of a block. */
__device__ uint32_t meet_delegates(const kernel_params &plan, bool keep)
{
    control_t *const c = plan.control;
    count64 word;
    const bool came = hear(plan, HW_GPU_DELEGATES_MASK, threadIdx.x, &word);
    uint32_t some = max(static_cast<uint32_t>(word), hw_load_relaxed(&c->found_delegate));

    for (int half = 16; half > 0; half /= 2)
        some = max(some, __shfl_xor_sync(HW_WARP, some, half));
    const bool all = __all_sync(HW_WARP, came);
    if (keep && threadIdx.x == 0) {
        c->any_delegate = some;
        c->passed[0] = hw_nanoseconds();
        if (!all)
            c->failed = HW_GPU_DELEGATES_SILENT;
    }
    return some;
}

/* The same for all threads of a block; the first block keeps what was heard. */
__device__ uint32_t hear_delegates(const kernel_params &plan)
{
    __shared__ uint32_t any;

    if (threadIdx.x < 32) {
        const uint32_t some = meet_delegates(plan, blockIdx.x == 0);
        if (threadIdx.x == 0)
            any = some;
    }
    __syncthreads();
    return any;
}

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

/* The streams of slots meet, whose visits have told. keep: whether this block keeps what was
 * heard. came: [32] what has come from each part. The first warp of a block. */
__device__ void meet_slots(const kernel_params &plan, bool keep, uint32_t *came)
{
    control_t *const c = plan.control;
    const uint32_t q = threadIdx.x;
    const bool here = q < plan.graph.parts && q != plan.graph.part;
    count64 word;

    const bool fine = hear(plan, HW_GPU_DELEGATES_ENTRIES, q, &word);
    const uint32_t count = here && fine ? static_cast<uint32_t>(word) : 0;
    const bool any = __any_sync(HW_WARP, is_found(word)) || found_slots(plan);
    const bool all = __all_sync(HW_WARP, fine);
    came[q] = count;
    if (!keep)
        return;
    if (here && fine)
        c->came[q] = count;
    if (q > 0)
        return;
    if (!all)
        c->failed = HW_GPU_DELEGATES_SILENT;
    c->any_slot = any;
    c->passed[1] = hw_nanoseconds();
}

/* Entries from other parts. came: so many from each, in this search. All threads of the grid. */
__device__ __forceinline__ void take_entries(const kernel_params &plan, const uint32_t *came)
{
    for (uint32_t q = 0; q < plan.graph.parts; q++) {
        const uint32_t from = plan.control->taken[q], upto = came[q];
        if (q == plan.graph.part)
            continue;
        for (uint64_t i = from + hw_grid_thread(); i < upto; i += hw_grid_threads()) {
            const count64 entry = __ldcg(plan.inbox[q] + i);
            const uint32_t slot = static_cast<uint32_t>(entry);
            if (!is_set(plan.seen, slot) && !is_set(plan.next, slot) && claim(plan.next, slot))
                plan.parent[slot] = static_cast<uint32_t>(entry >> 32);
        }
    }
    if (plan.row && threadIdx.x == 0)
        atomicMax(&plan.control->took, hw_nanoseconds());
}

/* The same once all have met; where the host carries, they are here. */
__global__ void __launch_bounds__(threads) take(const kernel_params plan)
{
    __shared__ uint32_t came[32];

    if (plan.control->over)
        return;
    if (!plan.carried && threadIdx.x < 32)
        meet_slots(plan, blockIdx.x == 0, came);
    __syncthreads();
    take_entries(plan, plan.carried ? plan.control->came : came);
}

/* ---- deciding ---- */

/* How many times what backward work is taken for here the paper's estimate is where a visit had
 * better turn: the factors are meant for that. (Edges looked at in a search of R-MAT graphs of
 * scales 21 and 22, on one part and on four: within 3% of the fewest from 10 to 17 times.) Edges
 * of dn take several times as long forward, each with an atomic operation on its slot. */
constexpr float overestimate = 12, overestimate_dn = 1;

/* Whether a visit goes backward. The paper's estimate takes sources for vertices of equal worth,
 * and lets an unvisited one look at (q + s) / q of them. But a source stands in as many lists as it
 * has edges: of the edges in all lists the frontier has `forward`, so that one in edges / forward
 * leads to it. And no more than whole lists are looked at, of mean length. */
__device__ bool goes_backward(const kernel_params &plan, int k, count64 forward)
{
    const control_t &c = *plan.control;
    const float open = static_cast<float>(c.unvisited_in[k]);
    const float edges = static_cast<float>(plan.graph.edges[k]);
    const float work = static_cast<float>(forward);
    const float mean = edges / static_cast<float>(max(plan.graph.all_in[k], 1u));
    const float over = k == HW_GPU_DN ? overestimate_dn : overestimate;
    const float backward = over * open * fminf(edges / fmaxf(work, 1), mean);

    if (plan.direction == top_down || plan.direction == bottom_up)
        return plan.direction == bottom_up;
    return c.backward[k] ? work >= plan.backward_factor * backward
                         : work > plan.forward_factor * backward;
}

__device__ uint32_t since(count64 from, count64 to)
{
    return to > from ? static_cast<uint32_t>(min(to - from, 0xffffffffull)) : 0;
}

/* Counts what went to part q in a step. */
__device__ void count_sent(const kernel_params &plan, uint32_t q, hw_gpu_delegates_row &row)
{
    const control_t &c = *plan.control;
    const uint64_t entries = c.sent[q] - c.told[q];
    const uint64_t words =
        plan.carried ? plan.graph.mask_words
                     : plan.graph.summary / 4 + uint64_t{HW_GPU_DELEGATES_SECTOR} * c.sectors;
    const uint64_t mask = c.any_delegate ? 4 * words : 0;
    /* Of early masks each part counts what it brought, since more may be found meanwhile. */
    const uint64_t early = c.early ? plan.graph.summary + c.early_bytes / plan.masks : 0;
    const uint64_t bytes = entries * sizeof(count64) + mask + early;
    const uint32_t messages = (entries > 0) + (mask > 0) + (early > 0);

    if (q == plan.graph.part)
        return;
    row.bytes += bytes;
    row.messages += messages;
    if (q / plan.graph.devices != plan.graph.part / plan.graph.devices) {
        row.bytes_between += bytes;
        row.messages_between += messages;
    }
}

/* Keeps the row of the step that has ended. */
__device__ void keep_row(const kernel_params &plan, count64 now)
{
    control_t &c = *plan.control;
    const uint32_t at = min(c.rows, plan.row_capacity - 1);
    hw_gpu_delegates_row row = {};

    for (int k = 0; k < HW_GPU_SUBGRAPHS; k++)
        row.ways |= (c.visit[k] ? c.backward[k] ? 2u : 1u : 0u) << 2 * k;
    row.ways |= c.small << 2 * HW_GPU_SUBGRAPHS;
    for (uint32_t q = 0; q < plan.graph.parts; q++)
        count_sent(plan, q, row);
    row.frontier = c.frontier;
    row.found = c.fresh_slots + c.fresh_owned;
    row.expansion = since(c.begun, max(c.met[0], c.met[1]));
    row.reduction = since(c.met[0], c.reduced);
    row.exchange = since(c.met[1], c.took);
    row.update = since(c.joined, now);
    row.edges = c.examined;
    plan.row[at] = row;
    c.rows = at + 1;
}

/* Whether the step that was decided goes only forward, along few edges. Lists in nn are short. */
__device__ bool is_small(const kernel_params &plan)
{
    const control_t &c = *plan.control;
    count64 edges = 0;

    for (int k = 0; k < HW_GPU_SUBGRAPHS; k++) {
        if (c.visit[k] && c.backward[k] && k != HW_GPU_NN)
            return false;
        edges += !c.visit[k]      ? 0
                 : k == HW_GPU_DD ? c.dd_queue & edge_mask
                 : k == HW_GPU_NN ? 2ull * c.queued[k]
                                  : c.work[k];
    }
    return !plan.carried && !c.over && edges <= HW_GPU_DELEGATES_SMALL;
}

/* Tells the host that another round may be launched, or that all is over. One thread. */
__device__ void tell_host(const kernel_params &plan)
{
    control_t &c = *plan.control;

    c.rounds++;
    __threadfence_system();
    *plan.watch = static_cast<count64>(c.over) << 32 | c.rounds;
}

/* Whether delegates are visited twice in the next step: every part decides alike. */
__device__ bool comes_twice(const kernel_params &plan, uint32_t any)
{
    const uint32_t share = plan.graph.delegates / HW_GPU_DELEGATES_TWICE_SHARE;

    return plan.may_twice && plan.direction != top_down && plan.control->unvisited > 0 &&
           any > max(share, HW_GPU_DELEGATES_MANY);
}

/* The control is brought near, line by line, so that one thread does not wait for each of them. A
 * warp. */
__device__ __forceinline__ void near_control(const kernel_params &plan)
{
    constexpr uint32_t line = 128;
    const char *const control = reinterpret_cast<const char *>(plan.control);

    for (uint32_t at = (threadIdx.x & 31) * line; at < sizeof(control_t); at += 32 * line)
        hw_prefetch_l1(control + at);
    __syncwarp();
}

/* The frontier is formed: what the next step does, by one thread. */
__device__ void decide(const kernel_params &plan, bool first)
{
    control_t &c = *plan.control;
    const count64 now = hw_nanoseconds();

    if (plan.row && !first)
        keep_row(plan, now);
    for (int k = 0; k < HW_GPU_SUBGRAPHS; k++) {
        c.unvisited_out[k] -= c.fresh_out[k];
        c.unvisited_in[k] -= c.fresh_in[k];
    }
    c.unvisited -= c.fresh_delegates;
    c.dd_queue = c.next_dd_queue;
    const bool backward = only_backward(plan, c.any_delegate), nd_backward = only_nd_backward(plan);
    for (int k = 0; k < HW_GPU_SUBGRAPHS; k++) {
        const count64 work = k == HW_GPU_DD ? c.dd_queue & edge_mask : c.work[k];
        c.queued[k] = c.next_queued[k];
        c.visit[k] = k == HW_GPU_NN ? c.queued[k] > 0 : c.fresh_out[k] > 0 && c.unvisited_in[k] > 0;
        if (c.visit[k] && k != HW_GPU_NN)
            c.backward[k] =
                (k == HW_GPU_ND ? nd_backward : backward) || goes_backward(plan, k, work);
        c.next_queued[k] = 0;
    }
    c.frontier = c.fresh_slots + c.fresh_owned;
    c.bare_only = plan.graph.marked && c.unvisited == 0;
    for (int k = 0; k < HW_GPU_SUBGRAPHS; k++)
        c.fresh_out[k] = c.fresh_in[k] = 0;
    c.next_dd_queue = 0;
    c.fresh_delegates = c.fresh_owned = c.fresh_slots = c.sectors = 0;
    const bool more = first || c.any_delegate || c.any_slot;
    c.twice = comes_twice(plan, c.any_delegate);
    c.parity ^= c.any_delegate > 0;
    c.found_delegate = c.found_slot = c.any_delegate = c.any_slot = 0;
    for (uint32_t q = 0; q < plan.graph.parts; q++) {
        c.told[q] = c.sent[q];
        c.taken[q] = c.came[q];
    }
    c.examined = 0;
    c.level++;
    c.epoch++;
    c.over = !more || c.failed;
    c.met[0] = c.met[1] = c.reduced = c.took = c.joined = 0;
    c.small = is_small(plan);
    c.early = 0;
    c.listed = 0;
    c.early_bytes = 0;
    for (int k = 0; k < HW_GPU_SUBGRAPHS; k++)
        c.work[k] = 0;
    c.begun = hw_nanoseconds();
}

/* ---- the end of a step ---- */

/* What a block sums up of new slots, and its room. */
struct forming {
    count64 sum[SLOT_SUMS], room[warps];
};

/* What becomes of new slots. */
struct slot_uses {
    const uint32_t *nn; /* those that are queued for nn, and whether any are for nd */
    bool nd;
};

/* The same in this step; a block's sums are cleared. All threads of a block. */
__device__ __forceinline__ slot_uses begin_forming(const kernel_params &plan, forming &own)
{
    control_t *const c = plan.control;
    const graph_t &graph = plan.graph;
    const bool bare_only = graph.marked && c->unvisited == c->fresh_delegates;
    const bool nd = c->unvisited_in[HW_GPU_ND] > c->fresh_in[HW_GPU_ND] && !only_nd_backward(plan);

    if (threadIdx.x < SLOT_SUMS)
        own.sum[threadIdx.x] = 0;
    if (plan.row && blockIdx.x == 0 && threadIdx.x == 0)
        c->joined = hw_nanoseconds();
    __syncthreads();
    return {bare_only ? graph.bare : graph.out[HW_GPU_NN], nd};
}

/* New slots of a warp's words, one in each of the first slot_words lanes. whole: as above. */
template <bool whole>
__device__ __forceinline__ void take_slots(const kernel_params &plan, const slot_uses &uses,
                                           uint32_t word, uint32_t fresh, forming &own)
{
    const graph_t &graph = plan.graph;
    const int32_t level = static_cast<int32_t>(plan.control->level + 1);

    if (fresh) {
        plan.next[word] = 0;
        atomicOr(plan.seen + word, fresh);
    }
    const uint32_t nd_out = fresh & __ldg(graph.out[HW_GPU_ND] + word);
    const uint32_t nn_out = fresh & __ldg(uses.nn + word);
    const uint32_t dn_in = fresh & __ldg(graph.in[HW_GPU_DN] + word);
#pragma unroll
    for (uint32_t k = 0; k < slot_words; k++) {
        const uint32_t v = vertex_in(word, k);
        if (in_word(fresh, k))
            plan.level[v] = level;
    }
    add(&own.sum[SLOTS], __popc(fresh));
    add(&own.sum[ND_OUT], __popc(nd_out));
    add(&own.sum[NN_OUT], __popc(nn_out));
    add(&own.sum[DN_IN], __popc(dn_in));
    add(&own.sum[ND_WORK], queue_slots<whole>(plan, word, nn_out, uses.nd ? nd_out : 0, own.room));
}

/* What is new among the slots. All threads of the grid. */
__device__ __forceinline__ void form_frontier(const kernel_params &plan, forming &own)
{
    const graph_t &graph = plan.graph;
    const uint32_t lane = threadIdx.x & 31;
    const slot_uses uses = begin_forming(plan, own);

    for (uint64_t tile = blockIdx.x; tile * block_slot_words < graph.slot_words;
         tile += gridDim.x) {
        const uint32_t first =
            static_cast<uint32_t>(tile) * block_slot_words + threadIdx.x / 32 * slot_words;
        const bool there = lane < slot_words && first + lane < graph.slot_words;
        const uint32_t fresh = there ? __ldcg(plan.next + first + lane) : 0;
        if (!__syncthreads_or(fresh != 0))
            continue;
        take_slots<true>(plan, uses, fresh ? first + lane : 0, fresh, own);
    }
    __syncthreads();
    if (threadIdx.x == 0)
        add_slots(plan, own.sum);
}

/* The same; then the last block decides. */
__global__ void __launch_bounds__(threads) previsit(const kernel_params plan)
{
    __shared__ forming own;
    __shared__ bool last;

    if (plan.control->over)
        return;
    form_frontier(plan, own);
    if (threadIdx.x == 0)
        last = is_last(&plan.control->arrived[2]);
    __syncthreads();
    if (!last || threadIdx.x >= 32)
        return;
    near_control(plan);
    if (threadIdx.x > 0)
        return;
    decide(plan, false);
    if (!plan.control->small)
        tell_host(plan);
}

/* ---- beginning ---- */

/* A word of a mask that has this bit alone, or none. */
__device__ __forceinline__ uint32_t word_of(uint64_t word, uint32_t at)
{
    return at != HW_INVALID_VERTEX && word == at / 32 ? 1u << (at & 31) : 0;
}

/* Clears the counters of a search. One thread. */
__device__ void clear_control(const kernel_params &plan)
{
    control_t &c = *plan.control;
    const uint32_t epoch = c.epoch;

    c = {};
    c.epoch = epoch;
    c.level = ~0u; /* the first decision makes it 0 */
    c.unvisited = plan.graph.delegates;
    for (int k = 0; k < HW_GPU_SUBGRAPHS; k++) {
        c.unvisited_out[k] = plan.graph.all_out[k];
        c.unvisited_in[k] = plan.graph.all_in[k];
    }
}

/* A root that is a delegate is found, as a delegate is by combine(). One thread. */
__device__ void find_delegate_root(const kernel_params &plan, const hw_gpu_delegates_root &root)
{
    control_t &c = *plan.control;
    const graph_t &graph = plan.graph;
    const uint32_t v = root.delegate;
    const uint32_t dd =
        hw_test_bit(graph.out[HW_GPU_DD], v) ? length_of(graph.forward[HW_GPU_DD], v) : 0;
    const uint32_t dn =
        hw_test_bit(graph.out[HW_GPU_DN], v) ? length_of(graph.forward[HW_GPU_DN], v) : 0;

    c.fresh_delegates = 1;
    c.fresh_out[HW_GPU_DD] = dd > 0;
    c.fresh_out[HW_GPU_DN] = dn > 0;
    c.fresh_in[HW_GPU_DD] = hw_test_bit(graph.in[HW_GPU_DD], v);
    c.fresh_in[HW_GPU_ND] = hw_test_bit(graph.in[HW_GPU_ND], v);
    c.next_dd_queue = packed(dd);
    plan.queue[HW_GPU_DD][0] = v;
    plan.prefix[0] = 0;
    c.next_queued[HW_GPU_DN] = pieces_of(dn);
    for (uint32_t piece = 0; piece < pieces_of(dn); piece++)
        plan.dn_queue[c.parity][piece] = static_cast<uint64_t>(piece) << 32 | v;
    c.work[HW_GPU_DN] = dn;
    plan.candidate[v] = root.id;
    if (plan.delegate_level)
        plan.delegate_level[v] = 0;
    c.fresh_owned = root.slot != HW_INVALID_VERTEX;
}

/* A root that is a slot of this part is found, as one is by form_frontier(). One thread. */
__device__ void find_slot_root(const kernel_params &plan, const hw_gpu_delegates_root &root)
{
    control_t &c = *plan.control;
    const graph_t &graph = plan.graph;
    const bool bare_only = graph.marked && c.unvisited == 0;
    const bool nd = hw_test_bit(graph.out[HW_GPU_ND], root.slot);

    c.fresh_slots = 1;
    c.fresh_out[HW_GPU_ND] = nd;
    c.fresh_in[HW_GPU_DN] = hw_test_bit(graph.in[HW_GPU_DN], root.slot);
    c.next_queued[HW_GPU_ND] = nd;
    c.next_queued[HW_GPU_NN] = c.fresh_out[HW_GPU_NN] =
        hw_test_bit(bare_only ? graph.bare : graph.out[HW_GPU_NN], root.slot);
    plan.queue[HW_GPU_ND][0] = plan.queue[HW_GPU_NN][0] = root.slot;
    c.work[HW_GPU_ND] = nd ? length_of(graph.forward[HW_GPU_ND], root.slot) : 0;
}

/* The root is found, and the first step decided, by one thread. */
__device__ void begin_search(const kernel_params &plan, const hw_gpu_delegates_root &root)
{
    clear_control(plan);
    if (root.delegate != HW_INVALID_VERTEX)
        find_delegate_root(plan, root);
    else if (root.slot != HW_INVALID_VERTEX)
        find_slot_root(plan, root);
    if (root.slot != HW_INVALID_VERTEX) {
        plan.parent[root.slot] = root.id;
        plan.level[root.slot] = 0;
    }
    decide(plan, true);
    if (!plan.control->small)
        tell_host(plan);
}

/* Nothing but the root is visited; the last block begins the search. */
__global__ void __launch_bounds__(threads)
    start(const kernel_params plan, hw_gpu_delegates_root root)
{
    for (uint64_t w = hw_grid_thread(); w < plan.graph.mask_words; w += hw_grid_threads()) {
        plan.visited[0][w] = plan.visited[1][w] = word_of(w, root.delegate);
        plan.found[0][w] = plan.found[1][w] = 0;
    }
    for (uint64_t k = hw_grid_thread(); k < plan.graph.summary; k += hw_grid_threads())
        plan.stale[k] = plan.dirty[0][k] = plan.dirty[1][k] = 0;
    for (uint64_t w = hw_grid_thread(); w < plan.graph.slot_words; w += hw_grid_threads()) {
        plan.seen[w] = word_of(w, root.slot);
        plan.next[w] = 0;
    }
    __syncthreads();
    if (threadIdx.x == 0 && is_last(&plan.control->arrived[2]))
        begin_search(plan, root);
}

} // namespace

#endif
