/*
 * Method `fused` on several GPUs: levels top-down.
 *
 * Each GPU expands the frontier that it owns, in equal tiles of edges found by a search in
 * prefix sums; its copy of the bitmap says whether a find is new to it. Finds of other GPUs'
 * vertices go into their inboxes; then every GPU takes what is new from its inbox. Small
 * frontiers tell every find to all, which keeps the bitmaps equal; after large ones each GPU
 * stores the grains of its bitmap that changed in all others.
 *
 * After large ones the next level is most likely pulled: these queue nothing, and where that
 * was wrong the queue is made from what changed in the bitmap. The largest tell owners no
 * parents, but the bits that are new alone (an entry costs as much as seven edges, over links
 * of 363 GB/s). An owner finds the parents of its vertices that others found as a level
 * bottom-up would, against the bitmap as it was before; but those of hubs, whose lists are
 * long, are stored where they belong.
 */
#ifndef HOPWAVE_GPU_BFS_DIRECTION_OPTIMIZING_PEER_BFS_TOP_DOWN_CUH
#define HOPWAVE_GPU_BFS_DIRECTION_OPTIMIZING_PEER_BFS_TOP_DOWN_CUH

#include "gpu/bfs/direction_optimizing/peer_bfs_device.cuh"
#include "gpu/device/prefix_search.cuh"

namespace
{

/* How a level top-down tells what it finds: to all; to owners, who queue it, or do not; or in
 * bits alone. */
enum telling { to_all, to_queues, to_owners, in_bits };

/* What one thread found of its own GPU's vertices. */
struct finds_t {
    uint32_t local[4];
    count64 mine[4]; /* packed */
};

/* Adds the finds of a block to the queue of level `next`. All threads. */
__device__ void enqueue(const kernel_params &plan, uint32_t next, const finds_t &finds)
{
    __shared__ count64 start[32];
    const int lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    const count64 mine = finds.mine[0] + finds.mine[1] + finds.mine[2] + finds.mine[3];

    if (!__syncthreads_or(mine != 0))
        return;
    const count64 sum = hw_warp_scan(mine);
    if (lane == 31)
        start[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        const count64 own = lane < warps ? start[lane] : 0, to = hw_warp_scan(own);
        count64 base = 0;
        if (lane == 31)
            base = atomicAdd(&plan.control->queue[next & 3], to);
        base = __shfl_sync(HW_WARP, base, 31);
        start[lane] = base + to - own;
    }
    __syncthreads();
    count64 at = start[warp] + sum - mine;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        if (!finds.mine[k])
            continue;
        plan.queue[next & 1][vertices_of(at)] = finds.local[k];
        plan.prefix[next & 1][vertices_of(at)] = edges_of(at);
        at += finds.mine[k];
    }
}

/* Takes a vertex of this GPU that nobody visited before. Returns it packed; 0 where it is
 * not to be queued. */
template <bool queued>
__device__ __forceinline__ count64 take(const kernel_params &plan, uint32_t local, uint32_t parent,
                                        counts_t &counts)
{
    plan.parent[local] = parent;
    counts.found++;
    if (!queued)
        return 0;
    counts.rest += __ldg(plan.share.first_neighbor_refs + local);
    return packed(degree_of(plan.share, local));
}

/*
 * Puts finds into inboxes: find k of a thread where bit k of `send` is set, to its owner;
 * or, all, to every peer. All threads of the block.
 */
template <bool all>
__device__ void send_finds(const kernel_params &plan, uint32_t epoch, const uint32_t *rank,
                           const uint32_t *parent, uint32_t send)
{
    __shared__ uint32_t count[HW_PARTITION_1D_PARTS], start[HW_PARTITION_1D_PARTS];
    const uint32_t lane = threadIdx.x & 31, lower = (1u << lane) - 1, parts = plan.share.parts;
    const uint32_t boxes = all ? 1 : parts;
    uint32_t place = 0, mine = 0;

    if (!__syncthreads_or(send != 0))
        return;
    if (threadIdx.x < HW_PARTITION_1D_PARTS)
        count[threadIdx.x] = 0;
    __syncthreads();
    for (uint32_t q = 0; q < boxes; q++) {
        uint32_t sum = 0;
#pragma unroll
        for (int k = 0; k < 4; k++)
            sum += __popc(__ballot_sync(HW_WARP, (send >> k & 1) &&
                                                     (all || owner_of(plan.share, rank[k]) == q)));
        if (lane == q)
            mine = sum;
    }
    if (mine)
        place = atomicAdd(&count[lane], mine);
    __syncthreads();
    if (threadIdx.x < boxes && count[threadIdx.x])
        start[threadIdx.x] =
            atomicAdd(&plan.control->to[epoch & 3][threadIdx.x], count[threadIdx.x]);
    __syncthreads();
    for (uint32_t q = 0; q < boxes; q++) {
        uint32_t base = __shfl_sync(HW_WARP, place, q) + start[q];
#pragma unroll
        for (int k = 0; k < 4; k++) {
            const bool sends = (send >> k & 1) && (all || owner_of(plan.share, rank[k]) == q);
            const uint32_t ballot = __ballot_sync(HW_WARP, sends);
            const uint32_t at = base + __popc(ballot & lower);
            const count64 entry = static_cast<count64>(parent[k]) << 32 | rank[k];
            base += __popc(ballot);
            if (!sends)
                continue;
            if (at >= plan.inbox_room) {
                atomicCAS(&plan.control->failed, 0u, static_cast<uint32_t>(HW_PEER_BFS_FULL));
            } else if (all && !plan.alone) {
                for (uint32_t step = 1; step < parts; step++)
                    plan.inbox[peer_of(plan.share, step)][at] = entry;
            } else {
                plan.inbox[q][at] = entry;
            }
        }
    }
}

/* The slots of one tile, in shared memory: [plan.tile * threads] each. */
struct slots_t {
    uint64_t *begin;  /* of the list, less the edges of the tile before it */
    uint32_t *prefix; /* edges of the tile before it */
    uint32_t *vertex; /* global */
};

/* Brings the queue's slots that hold a tile's edges to shared memory; returns how many.
 * All threads of the block. */
__device__ uint32_t load_tile(const kernel_params &plan, uint32_t depth, count64 base,
                              uint32_t length, uint32_t vertices, const slots_t &slots)
{
    __shared__ uint32_t ends[2];
    const uint32_t *queue = plan.queue[depth & 1], warp = threadIdx.x / 32;
    const uint64_t *prefix = plan.prefix[depth & 1];

    __syncthreads();
    if (warp < 2) {
        const uint32_t slot = warp_prefix_search(prefix, vertices, warp ? base + length - 1 : base);
        if ((threadIdx.x & 31) == 0)
            ends[warp] = slot;
    }
    __syncthreads();
    const uint32_t slot = ends[0], count = ends[1] - slot + 1;
    for (uint32_t i = threadIdx.x; i < count; i += threads) {
        const uint32_t local = __ldcg(queue + slot + i);
        const count64 before = __ldcg(prefix + slot + i);
        slots.prefix[i] = before <= base ? 0 : static_cast<uint32_t>(before - base);
        slots.begin[i] = __ldg(plan.share.out.offset + local) + base - before;
        slots.vertex[i] = global_of(plan.share, local);
    }
    __syncthreads();
    return count;
}

/* Visits up to four edges for each thread: rank and parent of each. */
__device__ __forceinline__ void read_tile(const kernel_params &plan, const slots_t &slots,
                                          uint32_t count, uint32_t edges, uint32_t *rank,
                                          uint32_t *parent)
{
#pragma unroll
    for (int k = 0; k < 4; k++) {
        const uint32_t edge = k * threads + threadIdx.x;
        rank[k] = HW_INVALID_VERTEX;
        parent[k] = HW_INVALID_VERTEX;
        if (edge < edges) {
            const uint32_t slot = prefix_search(slots.prefix, count, edge);
            rank[k] = __ldg(plan.share.out.neighbor + slots.begin[slot] + edge);
            parent[k] = slots.vertex[slot];
        }
    }
}

/*
 * Marks those of up to four candidates that are new to this copy of the bitmap, and takes
 * the new ones that are this GPU's own. Returns bits: which ones were new.
 */
template <telling how>
__device__ __forceinline__ uint32_t mark(const kernel_params &plan, uint32_t *seen,
                                         const uint32_t *rank, const uint32_t *parent,
                                         finds_t &finds, counts_t &counts)
{
    constexpr bool queued = how == to_all || how == to_queues;
    const uint32_t core = core_ranks(plan.share);
    uint32_t word[4], fresh = 0;

#pragma unroll
    for (int k = 0; k < 4; k++) /* what a cache has of the bitmap may be old; bits only come */
        word[k] = rank[k] < core ? seen[rank[k] / 32] : HW_WARP;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        const uint32_t bit = 1u << (rank[k] & 31);
        finds.mine[k] = 0;
        finds.local[k] = 0;
        if ((word[k] & bit) || (atomicOr(seen + rank[k] / 32, bit) & bit))
            continue;
        fresh |= 1u << k;
        const uint32_t owner = owner_of(plan.share, rank[k]);
        if (owner != plan.share.part) {
            if (how == in_bits && rank[k] < plan.hubs)
                plan.parent_of[owner][local_of(plan.share, rank[k])] = parent[k];
            continue;
        }
        finds.local[k] = local_of(plan.share, rank[k]);
        finds.mine[k] = take<queued>(plan, finds.local[k], parent[k], counts);
        if (how == to_queues || how == to_owners)
            plan.dirty[finds.local[k] / grain] = 1;
    }
    return fresh;
}

/* Those of four that are another GPU's. */
__device__ __forceinline__ uint32_t foreign(const hw_partition_1d &share, const uint32_t *rank,
                                            uint32_t bits)
{
    uint32_t others = 0;

#pragma unroll
    for (int k = 0; k < 4; k++)
        others |= (bits >> k & 1) && owner_of(share, rank[k]) != share.part ? 1u << k : 0;
    return others;
}

/* How many edges or entries a thread takes at a time, of so many. */
__device__ __forceinline__ uint32_t deep_of(count64 count)
{
    const count64 round = static_cast<count64>(gridDim.x) * threads;

    return count >= 4 * round ? 4 : count >= 2 * round ? 2 : 1;
}

/* Expands this GPU's frontier, before barrier `epoch`; counts of its own finds go to the
 * barrier after it. In bits nothing is counted. */
template <telling how>
__device__ void push_level(const kernel_params &plan, uint32_t depth, uint32_t epoch,
                           uint32_t *seen, uint4 *room)
{
    const count64 frontier = hw_load_relaxed(&plan.control->queue[depth & 3]),
                  edges = edges_of(frontier);
    const uint32_t tile = threads * min(deep_of(edges), plan.tile);
    uint64_t *begins = reinterpret_cast<uint64_t *>(room);
    uint32_t *words = reinterpret_cast<uint32_t *>(begins + plan.tile * threads);
    const slots_t slots = {begins, words, words + plan.tile * threads};
    counts_t own = {0, 0, 0, 0}, any = {0, 0, 0, 0};

    for (count64 base = blockIdx.x * static_cast<count64>(tile); base < edges;
         base += gridDim.x * static_cast<count64>(tile)) {
        const uint32_t length =
            static_cast<uint32_t>(min(static_cast<count64>(tile), edges - base));
        uint32_t rank[4], parent[4];
        finds_t finds;
        const uint32_t count = load_tile(plan, depth, base, length, vertices_of(frontier), slots);
        read_tile(plan, slots, count, length, rank, parent);
        const uint32_t fresh = mark<how>(plan, seen, rank, parent, finds, own);
        if (how == in_bits)
            continue;
        any.found += __popc(fresh);
        if (how != to_owners)
            enqueue(plan, depth + 1, finds);
        send_finds<how == to_all>(plan, epoch, rank, parent,
                                  how == to_all ? fresh : foreign(plan.share, rank, fresh));
    }
    if (how == in_bits)
        return;
    add_counts(plan.control, epoch, any);
    add_counts(plan.control, epoch + 1, own);
}

/* Takes what came into the inbox at the last barrier. epoch: the next one. */
template <telling how>
__device__ void take_inbox(const kernel_params &plan, const talk_t &talk, uint32_t depth,
                           uint32_t epoch, uint32_t *seen)
{
    __shared__ uint32_t before[HW_PARTITION_1D_PARTS + 1];
    const uint32_t parts = plan.share.parts;
    counts_t counts = {0, 0, 0, 0};

    if (threadIdx.x == 0) {
        uint32_t sum = 0;
        for (uint32_t q = 0; q < parts; q++) {
            before[q] = sum;
            sum += q != plan.share.part ? static_cast<uint32_t>(talk.heard[4 * q + 3]) : 0;
        }
        before[parts] = sum;
    }
    __syncthreads();
    const uint32_t total = before[parts], tile = threads * deep_of(total);
    for (uint64_t base = static_cast<uint64_t>(blockIdx.x) * tile; base < total;
         base += static_cast<uint64_t>(gridDim.x) * tile) {
        uint32_t rank[4], parent[4];
        finds_t finds;
#pragma unroll
        for (uint32_t k = 0; k < 4; k++) {
            const uint64_t i = base + k * threads + threadIdx.x;
            rank[k] = parent[k] = HW_INVALID_VERTEX;
            if (k * threads >= tile || i >= total)
                continue;
            uint32_t q = 0;
            while (i >= before[q + 1])
                q++;
            const count64 entry = __ldcg(
                plan.received + static_cast<uint64_t>(q) * plan.inbox_room + (i - before[q]));
            rank[k] = static_cast<uint32_t>(entry);
            parent[k] = static_cast<uint32_t>(entry >> 32);
        }
        mark<how>(plan, seen, rank, parent, finds, counts);
        if (how != to_owners)
            enqueue(plan, depth + 1, finds);
    }
    add_counts(plan.control, epoch, counts);
}

/* Stores the grains of this GPU's bits that changed in all other GPUs. epoch: of the
 * barrier that follows. */
__device__ void send_grains(const kernel_params &plan, uint32_t which, uint32_t epoch)
{
    const hw_partition_1d &share = plan.share;
    const uint32_t lane = threadIdx.x & 31, grains = share.core / grain;
    const uint32_t *seen = plan.bits[which][share.part];
    counts_t counts = {0, 0, 0, 0};

    for (uint64_t base = hw_grid_thread() / 32 * 32; base < grains;
         base += hw_grid_threads() / 32 * 32) {
        const uint32_t own = static_cast<uint32_t>(base) + lane;
        const bool changed = own < grains && __ldcg(plan.dirty + own);
        uint32_t pending = __ballot_sync(HW_WARP, changed);
        if (changed)
            plan.dirty[own] = 0;
        for (; pending; pending &= pending - 1) {
            const uint32_t word = (static_cast<uint32_t>(base) + __ffs(pending) - 1) * grain_words;
            const uint32_t at = global_word(share, word + lane % grain_words);
            const uint32_t bits = __ldcg(seen + at);
            for (uint32_t step = 1 + lane / grain_words; step < share.parts; step += 2) {
                plan.bits[which][peer_of(share, step)][at] = bits;
                counts.words++;
            }
        }
    }
    add_counts(plan.control, epoch, counts);
}

/* Copies the bitmap to the other one, as it is before a level that queues nothing. */
__device__ void keep_bits(const kernel_params &plan, uint32_t which)
{
    const hw_partition_1d &share = plan.share;
    const uint4 *from = reinterpret_cast<const uint4 *>(plan.bits[which][share.part]);
    uint4 *to = reinterpret_cast<uint4 *>(plan.bits[1 - which][share.part]);

    for (uint64_t w = hw_grid_thread(); w < core_ranks(share) / 128; w += hw_grid_threads())
        to[w] = __ldcg(from + w);
}

/* Sends owners the bits of theirs that this GPU found, word by word into its inboxes. epoch:
 * of the barrier that follows. */
__device__ void send_bits(const kernel_params &plan, uint32_t which, uint32_t epoch)
{
    const hw_partition_1d &share = plan.share;
    const uint32_t *seen = plan.bits[which][share.part];
    const uint32_t *before = plan.bits[1 - which][share.part];
    counts_t counts = {0, 0, 0, 0};

    for (uint64_t i = hw_grid_thread(); i < share.core / 128; i += hw_grid_threads())
        for (uint32_t step = 1; step < share.parts; step++) {
            const uint32_t q = peer_of(share, step), own = static_cast<uint32_t>(i) * 4;
            const uint32_t at =
                (own / grain_words * share.parts + q) * grain_words + own % grain_words;
            const uint4 now = __ldcg(reinterpret_cast<const uint4 *>(seen + at));
            const uint4 old = __ldcg(reinterpret_cast<const uint4 *>(before + at));
            reinterpret_cast<uint4 *>(plan.inbox[q])[i] =
                make_uint4(now.x & ~old.x, now.y & ~old.y, now.z & ~old.z, now.w & ~old.w);
            counts.words += 4;
        }
    add_counts(plan.control, epoch, counts);
}

/* Queues what a level found of this GPU's without a queue, to go on top-down: the difference
 * of the bitmap to the other one. epoch: of the barrier that follows. */
__device__ void queue_finds(const kernel_params &plan, uint32_t depth, uint32_t which,
                            uint32_t epoch)
{
    const hw_partition_1d &share = plan.share;
    const uint32_t *seen = plan.bits[which][share.part];
    const uint32_t *before = plan.bits[1 - which][share.part];
    const uint32_t words = share.core / 32, lane = threadIdx.x & 31;
    counts_t counts = {0, 0, 0, 0};

    for (uint64_t base = hw_grid_thread() & ~31ull; base < words; base += hw_grid_threads()) {
        const uint32_t own = static_cast<uint32_t>(base) + lane;
        const uint32_t at = own < words ? global_word(share, own) : 0;
        uint32_t fresh = own < words ? __ldcg(seen + at) & ~__ldcg(before + at) : 0;
        while (__any_sync(HW_WARP, fresh != 0)) {
            const uint32_t v = own * 32 + __ffs(fresh) - 1;
            count64 mine = 0, start = 0;
            if (fresh) {
                mine = packed(degree_of(share, v));
                counts.found++;
                counts.rest += __ldg(share.first_neighbor_refs + v);
            }
            fresh &= fresh - 1;
            const count64 sum = hw_warp_scan(mine);
            if (lane == 31 && sum)
                start = atomicAdd(&plan.control->queue[depth & 3], sum);
            start = __shfl_sync(HW_WARP, start, 31) + sum - mine;
            if (mine) {
                plan.queue[depth & 1][vertices_of(start)] = v;
                plan.prefix[depth & 1][vertices_of(start)] = edges_of(start);
            }
        }
    }
    add_counts(plan.control, epoch, counts);
}

} // namespace

#endif
