/*
 * Method `fused` on several GPUs of one node: breadth-first search in one cooperative
 * kernel on each.
 *
 * Every GPU owns vertices (share.h) and holds a bitmap of all that are visited. GPUs store
 * straight into each other's memory and meet at barriers of a few microseconds: the last
 * block of a GPU to arrive leaves a word with a tag and a count in every GPU's mail, and all
 * blocks watch their own GPU's mail. Counts travel with the barrier, so that all GPUs decide
 * alike what comes next, and nothing goes back to the host. Waiting is bounded: who waits
 * too long tells the others, and all give up.
 *
 *   push       top-down: each GPU expands the frontier that it owns, in equal tiles of
 *              edges found by a search in prefix sums; its copy of the bitmap says whether
 *              a find is new to it. Finds of other GPUs' vertices go into their inboxes;
 *              then every GPU takes what is new from its inbox. Small frontiers tell every
 *              find to all, which keeps the bitmaps equal; after large ones each GPU stores
 *              the grains of its bitmap that changed in all others;
 *   pull       bottom-up: each GPU goes over its unvisited vertices; first sources, read in
 *              order, settle most; what is left is compacted within the warp. A warp makes
 *              whole words of the next bitmap and stores them in all GPUs when they are
 *              finished, so that sending overlaps with computing.
 *
 * Vertices of degree 1 are left out until the end: their parent is their only neighbour, if
 * that one was reached.
 *
 * Memory order: before a barrier every thread's stores, to this GPU or another, are ordered
 * by __syncthreads() before the system-scope fence of the thread that counts its block as
 * arrived; the last block's fence after counting makes all of them visible before its
 * mail. Who reads the mail fences before the __syncthreads() that lets the block go on,
 * which also drops what its first-level cache holds.
 */
#include "node_choice.h"
#include "tested.cuh"
#include "tiles.cuh"
#include "warp.cuh"

#include <cuda_runtime.h>

namespace
{

using count64 = unsigned long long;
using plan_t = hw_node_plan;

constexpr uint32_t grain = HW_SHARE_GRAIN, grain_words = grain / 32;
constexpr int threads = HW_NODE_THREADS, warps = threads / 32;
constexpr count64 edge_mask = (1ull << HW_NODE_EDGE_BITS) - 1, count_mask = (1ull << 48) - 1;

__device__ __forceinline__ uint32_t vertices_of(count64 packed)
{
    return static_cast<uint32_t>(packed >> HW_NODE_EDGE_BITS);
}

__device__ __forceinline__ count64 edges_of(count64 packed)
{
    return packed & edge_mask;
}

/* A vertex with `edges` edges, packed; vertices without edges need no expansion. */
__device__ __forceinline__ count64 packed(count64 edges)
{
    return edges ? (1ull << HW_NODE_EDGE_BITS) + edges : 0;
}

/* ---- global ranks ---- */

/* Grains are fewer than 2^23, so that this is exact for 2 to 8 parts. */
__device__ __forceinline__ uint32_t over_parts(const hw_share &share, uint32_t grains)
{
    return __umulhi(grains, share.reciprocal);
}

__device__ __forceinline__ uint32_t owner_of(const hw_share &share, uint32_t rank)
{
    const uint32_t at = rank / grain;

    return at - over_parts(share, at) * share.parts;
}

__device__ __forceinline__ uint32_t local_of(const hw_share &share, uint32_t rank)
{
    return over_parts(share, rank / grain) * grain + rank % grain;
}

__device__ __forceinline__ uint32_t global_of(const hw_share &share, uint32_t local)
{
    return (local / grain * share.parts + share.part) * grain + local % grain;
}

/* Where a word of this GPU's own bits is in the bitmap. */
__device__ __forceinline__ uint32_t global_word(const hw_share &share, uint32_t word)
{
    return (word / grain_words * share.parts + share.part) * grain_words + word % grain_words;
}

__device__ __forceinline__ uint32_t core_ranks(const hw_share &share)
{
    return share.core * share.parts;
}

__device__ __forceinline__ count64 degree_of(const hw_share &share, uint32_t local)
{
    return __ldg(share.out.offset + local + 1) - __ldg(share.out.offset + local);
}

/* The peers of a GPU, each starting with another one: step 1 .. parts-1. */
__device__ __forceinline__ uint32_t peer_of(const hw_share &share, uint32_t step)
{
    const uint32_t q = share.part + step;

    return q < share.parts ? q : q - share.parts;
}

/* ---- barriers ---- */

__device__ __forceinline__ void fence_system()
{
    __threadfence_system();
}

/* What a block heard at the last barrier between GPUs. */
struct talk_t {
    count64 heard[4 * HW_SHARE_PARTS]; /* [sender][4] */
    count64 found, edges, rest;        /* sums over the GPUs */
    uint32_t fine;
};

/* Leaves a reason, and tells the others. One thread. */
__device__ void give_up(const plan_t &plan, uint32_t why)
{
    atomicCAS(&plan.control->failed, 0u, why);
    for (uint32_t q = 0; q < plan.share.parts; q++)
        *static_cast<volatile uint32_t *>(&plan.mail[q]->failed) = 1;
    fence_system();
}

/* Whether to stop waiting. */
__device__ __forceinline__ bool hopeless(const plan_t &plan, count64 since)
{
    return hw_latest(&plan.control->failed) != 0 ||
           hw_latest(&plan.mail[plan.share.part]->failed) != 0 ||
           hw_nanoseconds() - since > plan.patience;
}

/* Counts this block as arrived; returns whether it is the last one. The first warp, the
 * block's threads being synchronized. */
__device__ bool arrive(hw_node_control *control)
{
    uint32_t last = 0;

    if (threadIdx.x == 0) {
        fence_system();
        last = atomicAdd(&control->arrived, 1u) == gridDim.x - 1;
    }
    last = __shfl_sync(HW_WARP, last, 0);
    __syncwarp();
    if (last)
        fence_system();
    return last != 0;
}

/* Clears the counters two barriers ahead, which nobody reads any more and nobody adds to
 * yet. The first warp of the last block. */
__device__ void clear_ahead(hw_node_control *control, uint32_t epoch)
{
    const uint32_t lane = threadIdx.x, ring = (epoch + 2) & 3;

    if (lane < HW_SHARE_PARTS)
        control->to[ring][lane] = 0;
    if (lane == 8)
        control->found[ring] = 0;
    if (lane == 9)
        control->rest[ring] = 0;
    if (lane == 10)
        control->probes[ring] = 0;
    if (lane == 11)
        control->words[ring] = 0;
}

/* Leaves this GPU's counts in the mail of all. next: the depth of the queue that was made;
 * all: entries went to all GPUs alike. The first warp of the last block. */
__device__ void post(const plan_t &plan, uint32_t epoch, uint32_t next, bool all)
{
    hw_node_control *control = plan.control;
    const uint32_t lane = threadIdx.x, q = lane / 4, ring = epoch & 3;
    count64 value = 0;

    clear_ahead(control, epoch);
    if (lane == 0) {
        *static_cast<volatile uint32_t *>(&control->arrived) = 0;
        control->arrived_at[ring] = hw_nanoseconds();
    }
    __syncwarp();
    fence_system();
    if (q >= plan.share.parts)
        return;
    if (lane % 4 == 0)
        value = __ldcg(&control->found[ring]);
    else if (lane % 4 == 1)
        value = edges_of(__ldcg(&control->queue[next & 3]));
    else if (lane % 4 == 2)
        value = __ldcg(&control->rest[ring]);
    else
        value = __ldcg(&control->to[ring][all ? 0 : q]);
    *static_cast<volatile count64 *>(&plan.mail[q]->slot[epoch & 1][plan.share.part][lane % 4]) =
        static_cast<count64>(epoch & 0xffff) << 48 | (value & count_mask);
}

/* Waits for the mail of all GPUs. The first warp. */
__device__ void listen(const plan_t &plan, talk_t &talk, uint32_t epoch)
{
    const uint32_t lane = threadIdx.x;
    const count64 *slot = &plan.mail[plan.share.part]->slot[epoch & 1][0][0] + lane;
    const count64 since = hw_nanoseconds();
    bool done = lane >= 4 * plan.share.parts, failed = false;
    count64 value = 0;

    for (uint32_t turn = 1;; turn++) {
        if (!done) {
            value = hw_latest(slot);
            done = value >> 48 == (epoch & 0xffff);
        }
        if (__all_sync(HW_WARP, done))
            break;
        if (turn % 64 == 0 && __any_sync(HW_WARP, hopeless(plan, since))) {
            failed = true;
            break;
        }
    }
    fence_system();
    value = done ? value & count_mask : 0;
    talk.heard[lane] = value;
    for (int over = 4; over < 32; over *= 2)
        value += __shfl_xor_sync(HW_WARP, value, over);
    if (lane == 0) {
        talk.found = value;
        talk.fine = !failed;
        if (failed)
            give_up(plan, HW_NODE_SILENT);
    } else if (lane == 1) {
        talk.edges = value;
    } else if (lane == 2) {
        talk.rest = value;
    }
}

/* A barrier over all blocks of all GPUs. Returns false where all must give up. */
__device__ bool meet(const plan_t &plan, talk_t &talk, uint32_t &epoch, uint32_t next, bool all)
{
    __syncthreads();
    if (threadIdx.x < 32) {
        if (arrive(plan.control))
            post(plan, epoch, next, all);
        listen(plan, talk, epoch);
    }
    __syncthreads();
    epoch++;
    return talk.fine != 0;
}

/* A barrier over the blocks of this GPU, the number-th of the search. */
__device__ bool join(const plan_t &plan, talk_t &talk, uint32_t &number)
{
    hw_node_control *control = plan.control;

    number++;
    __syncthreads();
    if (threadIdx.x < 32) {
        const bool last = arrive(control);
        if (threadIdx.x == 0) {
            const count64 since = hw_nanoseconds();
            bool failed = false;
            if (last) {
                *static_cast<volatile uint32_t *>(&control->arrived) = 0;
                fence_system();
                *static_cast<volatile uint32_t *>(&control->left) = number;
            }
            for (uint32_t turn = 1; hw_latest(&control->left) != number && !failed; turn++)
                failed = turn % 64 == 0 && hopeless(plan, since);
            fence_system();
            talk.fine = !failed;
            if (failed)
                give_up(plan, HW_NODE_STUCK);
        }
    }
    __syncthreads();
    return talk.fine != 0;
}

/* ---- what is kept of the steps ---- */

/* How far the one thread that keeps rows has come. */
struct rows_t {
    uint32_t count, frontier; /* frontier: vertices of this GPU's */
    count64 last;             /* nanoseconds */
};

__device__ __forceinline__ bool keeps_rows(const plan_t &plan)
{
    return plan.row && blockIdx.x == 0 && threadIdx.x == 0;
}

/* The time from the last barrier to the one just passed: until this GPU had come, and
 * waiting for the others. */
__device__ void lap(const plan_t &plan, rows_t &rows, uint32_t epoch, uint32_t &own,
                    uint32_t &waiting)
{
    const count64 came = hw_latest(&plan.control->arrived_at[(epoch - 1) & 3]);
    const count64 now = hw_nanoseconds();

    own += static_cast<uint32_t>(came > rows.last ? came - rows.last : 0);
    waiting += static_cast<uint32_t>(now > came ? now - came : 0);
    rows.last = now;
}

/* Keeps a row; further ones add to the last. */
__device__ void keep_row(const plan_t &plan, rows_t &rows, const hw_node_row &own)
{
    hw_node_row *row = plan.row + min(rows.count, plan.row_capacity - 1);

    if (rows.count < plan.row_capacity) {
        *row = own;
    } else {
        row->found += own.found;
        row->expansion += own.expansion;
        row->exchange += own.exchange;
        row->update += own.update;
        row->edges += own.edges;
        row->bytes += own.bytes;
    }
    rows.frontier = own.found;
    rows.count++;
}

/* ---- the beginning ---- */

/* Bits of a word that stand for no vertex. */
__device__ __forceinline__ uint32_t nobody(const hw_share &share, uint32_t word)
{
    const uint32_t part = word / grain_words % share.parts;
    const uint32_t local = word / grain_words / share.parts * grain + word % grain_words * 32;
    const uint32_t real = share.count[part] > local ? share.count[part] - local : 0;

    return real >= 32 ? 0 : HW_WARP << real;
}

/* Clears the counters and queues the root. Block 0. */
__device__ void begin_counters(const plan_t &plan, uint32_t root, uint32_t epoch)
{
    const hw_share &share = plan.share;
    hw_node_control *control = plan.control;

    if (threadIdx.x < 4) {
        const uint32_t ring = threadIdx.x;
        control->queue[ring] = control->found[ring] = control->rest[ring] = 0;
        control->probes[ring] = control->words[ring] = 0;
        for (uint32_t q = 0; q < HW_SHARE_PARTS; q++)
            control->to[ring][q] = 0;
    }
    __syncthreads();
    if (threadIdx.x != 0)
        return;
    control->left = control->rows = 0;
    if (root == HW_RANK_NONE || owner_of(share, root) != share.part)
        return;
    const uint32_t local = local_of(share, root);
    control->queue[0] = packed(degree_of(share, local));
    control->found[epoch & 3] = 1;
    control->rest[epoch & 3] = local < share.core ? __ldg(share.led + local) : 0;
    plan.queue[0][0] = local;
    plan.prefix[0][0] = 0;
    plan.parent[local] = root;
}

/* Marks nothing but the root as visited. */
__device__ void begin(const plan_t &plan, uint32_t root, uint32_t epoch)
{
    const uint32_t words = core_ranks(plan.share) / 32;
    uint32_t *bits = plan.bits[0][plan.share.part];

    if (blockIdx.x == 0)
        begin_counters(plan, root, epoch);
    for (uint64_t w = hw_first(); w < words; w += hw_stride()) {
        uint32_t seen = nobody(plan.share, static_cast<uint32_t>(w));
        if (root < core_ranks(plan.share) && w == root / 32)
            seen |= 1u << (root & 31);
        bits[w] = seen;
    }
}

/* ---- top-down ---- */

/* What one thread found of its own GPU's vertices. */
struct finds_t {
    uint32_t local[4];
    count64 mine[4]; /* packed */
};

/* What one thread adds up. */
struct counts_t {
    uint32_t found, rest, probes, words;
};

/* Adds what the threads of a block counted to the ring of a barrier. All threads. */
__device__ void add_counts(hw_node_control *control, uint32_t epoch, const counts_t &counts)
{
    __shared__ uint32_t sum[4];
    const uint32_t value[4] = {hw_warp_sum(counts.found), hw_warp_sum(counts.rest),
                               hw_warp_sum(counts.probes), hw_warp_sum(counts.words)};
    count64 *const to[4] = {&control->found[epoch & 3], &control->rest[epoch & 3],
                            &control->probes[epoch & 3], &control->words[epoch & 3]};

    __syncthreads();
    if (threadIdx.x < 4)
        sum[threadIdx.x] = 0;
    __syncthreads();
    if ((threadIdx.x & 31) == 0)
        for (int k = 0; k < 4; k++)
            if (value[k])
                atomicAdd(&sum[k], value[k]);
    __syncthreads();
    if (threadIdx.x == 0)
        for (int k = 0; k < 4; k++)
            if (sum[k])
                atomicAdd(to[k], static_cast<count64>(sum[k]));
}

/* Adds the finds of a block to the queue of level `next`. All threads. */
__device__ void enqueue(const plan_t &plan, uint32_t next, const finds_t &finds)
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

/* Takes a vertex of this GPU that nobody visited before. */
__device__ __forceinline__ count64 take(const plan_t &plan, uint32_t local, uint32_t parent,
                                        counts_t &counts)
{
    plan.parent[local] = parent;
    counts.found++;
    counts.rest += __ldg(plan.share.led + local);
    return packed(degree_of(plan.share, local));
}

/*
 * Puts finds into inboxes: find k of a thread where bit k of `send` is set, to its owner;
 * or, all, to every peer. All threads of the block.
 */
template <bool all>
__device__ void send_finds(const plan_t &plan, uint32_t epoch, const uint32_t *rank,
                           const uint32_t *parent, uint32_t send)
{
    __shared__ uint32_t count[HW_SHARE_PARTS], start[HW_SHARE_PARTS];
    const uint32_t lane = threadIdx.x & 31, lower = (1u << lane) - 1, parts = plan.share.parts;
    const uint32_t boxes = all ? 1 : parts;
    uint32_t place = 0, mine = 0;

    if (!__syncthreads_or(send != 0))
        return;
    if (threadIdx.x < HW_SHARE_PARTS)
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
                atomicCAS(&plan.control->failed, 0u, static_cast<uint32_t>(HW_NODE_FULL));
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
__device__ uint32_t load_tile(const plan_t &plan, uint32_t depth, count64 base, uint32_t length,
                              uint32_t vertices, const slots_t &slots)
{
    __shared__ uint32_t ends[2];
    const uint32_t *queue = plan.queue[depth & 1], warp = threadIdx.x / 32;
    const uint64_t *prefix = plan.prefix[depth & 1];

    __syncthreads();
    if (warp < 2) {
        const uint32_t slot = warp_slot(prefix, vertices, warp ? base + length - 1 : base);
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
__device__ __forceinline__ void read_tile(const plan_t &plan, const slots_t &slots, uint32_t count,
                                          uint32_t edges, uint32_t *rank, uint32_t *parent)
{
#pragma unroll
    for (int k = 0; k < 4; k++) {
        const uint32_t edge = k * threads + threadIdx.x;
        rank[k] = HW_RANK_NONE;
        parent[k] = HW_RANK_NONE;
        if (edge < edges) {
            const uint32_t slot = slot_of(slots.prefix, count, edge);
            rank[k] = __ldg(plan.share.out.rank + slots.begin[slot] + edge);
            parent[k] = slots.vertex[slot];
        }
    }
}

/*
 * Marks those of up to four candidates that are new to this copy of the bitmap, and takes
 * the new ones that are this GPU's own. Returns bits: which ones were new.
 */
__device__ __forceinline__ uint32_t mark(const plan_t &plan, uint32_t *seen, bool dirties,
                                         const uint32_t *rank, const uint32_t *parent,
                                         finds_t &finds, counts_t &counts)
{
    const uint32_t core = core_ranks(plan.share);
    uint32_t word[4], fresh = 0;

#pragma unroll
    for (int k = 0; k < 4; k++)
        word[k] = rank[k] < core ? __ldcg(seen + rank[k] / 32) : HW_WARP;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        const uint32_t bit = 1u << (rank[k] & 31);
        finds.mine[k] = 0;
        finds.local[k] = 0;
        if ((word[k] & bit) || (atomicOr(seen + rank[k] / 32, bit) & bit))
            continue;
        fresh |= 1u << k;
        if (owner_of(plan.share, rank[k]) != plan.share.part)
            continue;
        finds.local[k] = local_of(plan.share, rank[k]);
        finds.mine[k] = take(plan, finds.local[k], parent[k], counts);
        if (dirties)
            plan.dirty[finds.local[k] / grain] = 1;
    }
    return fresh;
}

/* Those of four that are another GPU's. */
__device__ __forceinline__ uint32_t foreign(const hw_share &share, const uint32_t *rank,
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
 * barrier after it. */
template <bool all>
__device__ void push_level(const plan_t &plan, uint32_t depth, uint32_t epoch, uint32_t *seen,
                           uint4 *room)
{
    const count64 frontier = hw_latest(&plan.control->queue[depth & 3]), edges = edges_of(frontier);
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
        const uint32_t fresh = mark(plan, seen, !all, rank, parent, finds, own);
        any.found += __popc(fresh);
        enqueue(plan, depth + 1, finds);
        send_finds<all>(plan, epoch, rank, parent, all ? fresh : foreign(plan.share, rank, fresh));
    }
    add_counts(plan.control, epoch, any);
    add_counts(plan.control, epoch + 1, own);
}

/* Takes what came into the inbox at the last barrier. epoch: the next one. */
template <bool all>
__device__ void take_inbox(const plan_t &plan, const talk_t &talk, uint32_t depth, uint32_t epoch,
                           uint32_t *seen)
{
    __shared__ uint32_t before[HW_SHARE_PARTS + 1];
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
            rank[k] = parent[k] = HW_RANK_NONE;
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
        mark(plan, seen, !all, rank, parent, finds, counts);
        enqueue(plan, depth + 1, finds);
    }
    add_counts(plan.control, epoch, counts);
}

/* Stores the grains of this GPU's bits that changed in all other GPUs. epoch: of the
 * barrier that follows. */
__device__ void send_grains(const plan_t &plan, uint32_t which, uint32_t epoch)
{
    const hw_share &share = plan.share;
    const uint32_t lane = threadIdx.x & 31, grains = share.core / grain;
    const uint32_t *seen = plan.bits[which][share.part];
    counts_t counts = {0, 0, 0, 0};

    for (uint64_t base = hw_first() / 32 * 32; base < grains; base += hw_stride() / 32 * 32) {
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

/* ---- bottom-up ---- */

/* The bitmap `bits`, of which the hubs' words go to `room`. All threads of the block. */
__device__ __forceinline__ tested hold(const plan_t &plan, const uint32_t *bits, uint4 *room,
                                       uint32_t looked_up)
{
    const uint32_t core = core_ranks(plan.share);

    return hold<threads>(bits, core, min(plan.hub_words, core / 32), room, looked_up);
}

/* The source among four that is visited, or none. more: the list may go on. */
__device__ __forceinline__ uint32_t probe_four(const tested &map, const uint4 &source, bool &more,
                                               uint32_t &probes)
{
    const uint32_t x = word_of(map, source.x), y = word_of(map, source.y);
    const uint32_t z = word_of(map, source.z), w = word_of(map, source.w);

    more = source.w < map.core;
    probes += (source.x < map.core) + (source.y < map.core) + (source.z < map.core) + more;
    if (has(x, source.x))
        return source.x;
    if (has(y, source.y))
        return source.y;
    if (has(z, source.z))
        return source.z;
    return has(w, source.w) ? source.w : HW_RANK_NONE;
}

/* The first visited one of list elements [*at, end), four at a time, 64 at most. Lists
 * ascend, so that a rank without a bit ends them. */
__device__ __forceinline__ uint32_t probe_list(const plan_t &plan, const tested &map, uint64_t *at,
                                               uint64_t end, uint32_t &probes)
{
    const uint64_t limit = end - *at > 64 ? *at + 64 : end;
    uint32_t parent = HW_RANK_NONE;

    while (*at < limit && parent == HW_RANK_NONE) {
        uint32_t v[4], word[4];
#pragma unroll
        for (int k = 0; k < 4; k++)
            v[k] = *at + k < end ? __ldg(plan.share.in.rank + *at + k) : HW_RANK_NONE;
#pragma unroll
        for (int k = 0; k < 4; k++)
            word[k] = word_of(map, v[k]);
#pragma unroll
        for (int k = 3; k >= 0; k--) {
            probes += v[k] < map.core;
            if (has(word[k], v[k]))
                parent = v[k];
        }
        *at = v[3] < map.core ? *at + 4 : end;
    }
    return parent;
}

/* The same by a whole warp for one list. */
__device__ uint32_t probe_warp(const plan_t &plan, const tested &map, uint64_t at, uint64_t end,
                               uint32_t &probes)
{
    const uint32_t lane = threadIdx.x & 31;

    for (; at < end; at += 32) {
        const uint32_t v = at + lane < end ? __ldg(plan.share.in.rank + at + lane) : HW_RANK_NONE;
        const uint32_t ballot = __ballot_sync(HW_WARP, has(word_of(map, v), v));
        probes += v < map.core;
        if (ballot)
            return __shfl_sync(HW_WARP, v, __ffs(ballot) - 1);
        if (__any_sync(HW_WARP, v >= map.core))
            break;
    }
    return HW_RANK_NONE;
}

/* What a warp works with on one chunk, in shared memory. */
struct chunk_t {
    uint16_t *waiting; /* [words * 32] vertices that their first source left */
    uint32_t *late;    /* [words] bits of those found after that */
};

/* Whether a vertex that its first source left has a visited source: the eight after that,
 * then the rest of the list. A warp; returns it, or none. */
__device__ __forceinline__ uint32_t probe_rest(const plan_t &plan, const tested &map, bool active,
                                               uint32_t local, uint32_t &probes)
{
    const uint4 *next = reinterpret_cast<const uint4 *>(plan.share.next) + 2ull * local;
    uint32_t parent = HW_RANK_NONE;
    uint64_t at = 0, end = 0;

    if (active) {
        const uint4 four = __ldg(next), other = __ldg(next + 1);
        bool more;
        parent = probe_four(map, four, more, probes);
        if (parent == HW_RANK_NONE && more)
            parent = probe_four(map, other, more, probes);
        if (parent == HW_RANK_NONE && more) {
            at = __ldg(plan.share.in.offset + local) + 9;
            end = __ldg(plan.share.in.offset + local + 1);
            if (at < end)
                parent = probe_list(plan, map, &at, end, probes);
        }
    }
    uint32_t longer = __ballot_sync(HW_WARP, parent == HW_RANK_NONE && at < end);
    for (; longer; longer &= longer - 1) {
        const int from = __ffs(longer) - 1;
        const uint32_t found = probe_warp(plan, map, __shfl_sync(HW_WARP, at, from),
                                          __shfl_sync(HW_WARP, end, from), probes);
        if (static_cast<int>(threadIdx.x & 31) == from)
            parent = found;
    }
    return parent;
}

/* Tests the first sources of the unvisited vertices of up to eight words, and takes those
 * out of pending; others wait in the chunk. */
__device__ __forceinline__ void pull_first_sources(const plan_t &plan, const tested &map,
                                                   uint32_t base, uint32_t &pending, bool initial,
                                                   const chunk_t &chunk, uint32_t &waits,
                                                   uint32_t &word, uint32_t &settled,
                                                   counts_t &counts)
{
    const uint32_t lane = threadIdx.x & 31, lower = (1u << lane) - 1;
    int which[8];
    uint32_t source[8], bits[8], open = 0;

#pragma unroll
    for (int k = 0; k < 8; k++) {
        which[k] = __ffs(pending) - 1;
        pending &= pending - 1;
        const uint32_t seen = __shfl_sync(HW_WARP, word, which[k] & 31);
        const bool unvisited = which[k] >= 0 && !has(seen, lane);
        open |= unvisited << k;
        source[k] =
            unvisited ? __ldcs(plan.share.first + base + which[k] * 32 + lane) : HW_RANK_NONE;
    }
#pragma unroll
    for (int k = 0; k < 8; k++)
        bits[k] = word_of(map, source[k]);
#pragma unroll
    for (int k = 0; k < 8; k++) {
        if (which[k] < 0)
            continue; /* the same in all lanes */
        const uint32_t at = which[k] * 32 + lane;
        const bool unvisited = open >> k & 1, hit = has(bits[k], source[k]);
        const bool keep = unvisited && !hit && source[k] != HW_RANK_NONE;
        const uint32_t hits = __ballot_sync(HW_WARP, hit), keeps = __ballot_sync(HW_WARP, keep);
        if (hit || (unvisited && initial))
            __stcs(plan.parent + base + at, hit ? source[k] : HW_RANK_NONE);
        if (static_cast<int>(lane) == which[k]) {
            word |= hits;
            settled |= hits;
        }
        if (keep)
            chunk.waiting[waits + __popc(keeps & lower)] = static_cast<uint16_t>(at);
        waits += __popc(keeps);
        counts.found += hit;
    }
    counts.probes += __popc(open);
}

/* Stores a finished word in all GPUs, where it is not there already. */
__device__ __forceinline__ void put_word(const plan_t &plan, uint32_t into, uint32_t at,
                                         uint32_t word, bool initial, counts_t &counts)
{
    uint32_t *own = plan.bits[into][plan.share.part] + at;

    if (!initial && __ldcg(own) == word)
        return;
    *own = word;
    if (plan.alone)
        return;
    for (uint32_t step = 1; step < plan.share.parts; step++)
        plan.bits[into][peer_of(plan.share, step)][at] = word;
    counts.words += plan.share.parts - 1;
}

/*
 * One level bottom-up: reads bitmap 1-into, makes bitmap `into`. initial: no parent was
 * written yet where none was found, and nothing was ever put into the bitmap.
 */
template <uint32_t words>
__device__ void pull_chunks(const plan_t &plan, const tested &map, uint32_t into, bool initial,
                            const chunk_t &chunk, counts_t &counts)
{
    const uint32_t lane = threadIdx.x & 31, chunks = plan.share.core / 32 / words;
    const bool own = lane < words;

    for (uint32_t c = threadIdx.x / 32 * gridDim.x + blockIdx.x; c < chunks;
         c += gridDim.x * warps) {
        const uint32_t local = c * words + (own ? lane : 0), at = global_word(plan.share, local);
        uint32_t word = own ? map.bits[at] : HW_WARP, settled = 0, waits = 0;
        uint32_t pending = __ballot_sync(HW_WARP, word != HW_WARP);
        if (own)
            chunk.late[lane] = 0;
        while (pending)
            pull_first_sources(plan, map, c * words * 32, pending, initial, chunk, waits, word,
                               settled, counts);
        __syncwarp();
        for (uint32_t i = 0; i < waits; i += 32) {
            const bool active = i + lane < waits;
            const uint32_t which = active ? chunk.waiting[i + lane] : 0;
            const uint32_t v = c * words * 32 + which;
            const uint32_t parent = probe_rest(plan, map, active, v, counts.probes);
            const bool found = parent != HW_RANK_NONE;
            if (found) {
                plan.parent[v] = parent;
                atomicOr(&chunk.late[which / 32], 1u << (which & 31));
            }
            counts.found += found;
            counts.rest += active && !found;
        }
        __syncwarp();
        if (own) {
            put_word(plan, into, at, word | chunk.late[lane], initial, counts);
            if (initial)
                plan.settled[local] = settled;
            else if (settled)
                plan.settled[local] |= settled;
        }
        __syncwarp();
    }
}

/* The same, all blocks, before barrier `epoch`. unvisited: on all GPUs, about. */
__device__ void pull_level(const plan_t &plan, uint32_t into, uint32_t epoch, bool initial,
                           uint32_t unvisited, uint4 *room)
{
    const tested map =
        hold(plan, plan.bits[1 - into][plan.share.part], room, unvisited / plan.share.parts);
    const uint32_t warp = threadIdx.x / 32, each = HW_NODE_WORDS * 16 + HW_NODE_WORDS;
    uint32_t *own = reinterpret_cast<uint32_t *>(room) + plan.hub_words + warp * each;
    const chunk_t chunk = {reinterpret_cast<uint16_t *>(own + HW_NODE_WORDS), own};
    counts_t counts = {0, 0, 0, 0};

    if (plan.words == 16)
        pull_chunks<16>(plan, map, into, initial, chunk, counts);
    else if (plan.words == 8)
        pull_chunks<8>(plan, map, into, initial, chunk, counts);
    else
        pull_chunks<4>(plan, map, into, initial, chunk, counts);
    add_counts(plan.control, epoch, counts);
}

/* Queues what a bottom-up level found of this GPU's, to go on top-down: the difference of
 * two bitmaps. epoch: of the barrier that follows. */
__device__ void queue_finds(const plan_t &plan, uint32_t depth, uint32_t which, uint32_t epoch)
{
    const hw_share &share = plan.share;
    const uint32_t *seen = plan.bits[which][share.part];
    const uint32_t *before = plan.bits[1 - which][share.part];
    const uint32_t words = share.core / 32, lane = threadIdx.x & 31;
    counts_t counts = {0, 0, 0, 0};

    for (uint64_t base = hw_first() & ~31ull; base < words; base += hw_stride()) {
        const uint32_t own = static_cast<uint32_t>(base) + lane;
        const uint32_t at = own < words ? global_word(share, own) : 0;
        uint32_t fresh = own < words ? __ldcg(seen + at) & ~__ldcg(before + at) : 0;
        while (__any_sync(HW_WARP, fresh != 0)) {
            const uint32_t v = own * 32 + __ffs(fresh) - 1;
            count64 mine = 0, start = 0;
            if (fresh) {
                mine = packed(degree_of(share, v));
                counts.found++;
                counts.rest += __ldg(share.led + v);
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

/* ---- the end ---- */

/* The parent of a vertex of degree 1 with that only source. */
__device__ __forceinline__ uint32_t leaf_parent(const tested &map, uint32_t rank, uint32_t source,
                                                uint32_t root)
{
    const bool reached = source == root || has(word_of(map, source), source);

    return rank == root ? root : reached && source != HW_RANK_NONE ? source : HW_RANK_NONE;
}

/* Vertices of degree 1, four a thread; settled gets a bit where the only source is the
 * parent. All words of settled from the core on are written. */
__device__ void settle_leaves(const plan_t &plan, uint32_t which, uint32_t root, uint4 *room)
{
    const hw_share &share = plan.share;
    const uint32_t leaves = share.active - share.core, lane = threadIdx.x & 31;
    const uint4 *first = reinterpret_cast<const uint4 *>(share.first + share.core);

    if (leaves == 0)
        return;
    const tested map = hold(plan, plan.bits[which][share.part], room, leaves);
    for (uint64_t i = hw_first(); i - lane < leaves / 4; i += hw_stride()) {
        const uint32_t v = share.core + 4 * static_cast<uint32_t>(i);
        const uint32_t rank = global_of(share, v); /* four lie in one grain */
        uint4 parent = make_uint4(HW_RANK_NONE, HW_RANK_NONE, HW_RANK_NONE, HW_RANK_NONE);
        if (i < leaves / 4) {
            const uint4 source = __ldcs(first + i);
            parent = make_uint4(leaf_parent(map, rank, source.x, root),
                                leaf_parent(map, rank + 1, source.y, root),
                                leaf_parent(map, rank + 2, source.z, root),
                                leaf_parent(map, rank + 3, source.w, root));
            __stcs(reinterpret_cast<uint4 *>(plan.parent + v), parent);
        }
        uint32_t bits = (parent.x != HW_RANK_NONE && rank != root) |
                        (parent.y != HW_RANK_NONE && rank + 1 != root) << 1 |
                        (parent.z != HW_RANK_NONE && rank + 2 != root) << 2 |
                        (parent.w != HW_RANK_NONE && rank + 3 != root) << 3;
        bits <<= 4 * (lane & 7);
        for (int half = 1; half < 8; half *= 2)
            bits |= __shfl_xor_sync(HW_WARP, bits, half);
        if (i < leaves / 4 && (lane & 7) == 0)
            plan.settled[share.core / 32 + i / 8] = bits;
    }
}

/* Where nothing was pulled: what was not visited has no parent, and no vertex is marked as
 * settled by its first source. */
__device__ void settle_unvisited(const plan_t &plan, uint32_t which)
{
    const hw_share &share = plan.share;
    const uint32_t lane = threadIdx.x & 31;

    for (uint64_t w = hw_first() / 32; w < share.core / 32; w += hw_stride() / 32) {
        const uint32_t own = static_cast<uint32_t>(w);
        const uint32_t word = __ldcg(plan.bits[which][share.part] + global_word(share, own));
        if (!has(word, lane))
            plan.parent[own * 32 + lane] = HW_RANK_NONE;
        if (lane == 0)
            plan.settled[own] = 0;
    }
}

/* ---- what comes next ---- */

using state_t = hw_node_state;

/* Adds up what this GPU sent before barrier `epoch` - 1. */
__device__ count64 entries_sent(const plan_t &plan, uint32_t epoch, bool all)
{
    const uint32_t *to = plan.control->to[(epoch - 1) & 3];
    count64 entries = 0;

    if (all)
        return static_cast<count64>(hw_latest(to)) * (plan.share.parts - 1);
    for (uint32_t q = 0; q < plan.share.parts; q++)
        entries += hw_latest(to + q);
    return entries;
}

/* One level top-down. Returns false where all must give up; an empty frontier ends the
 * search. */
template <bool all>
__device__ bool push(const plan_t &plan, talk_t &talk, state_t &state, rows_t &rows, uint4 *room)
{
    hw_node_control *control = plan.control;
    uint32_t *seen = plan.bits[state.which][plan.share.part];
    const uint32_t depth = state.depth;
    hw_node_row row = {all ? HW_NODE_PUSH_ALL : HW_NODE_PUSH, rows.frontier, 0, 0, 0, 0, 0, 0};

    if (blockIdx.x == 0 && threadIdx.x == 0)
        control->queue[(depth + 2) & 3] = 0;
    push_level<all>(plan, depth, state.epoch, seen, room);
    if (!meet(plan, talk, state.epoch, depth + 1, all))
        return false;
    if (keeps_rows(plan)) {
        lap(plan, rows, state.epoch, row.expansion, row.exchange);
        row.edges = edges_of(hw_latest(&control->queue[depth & 3]));
        row.bytes = 8 * entries_sent(plan, state.epoch, all);
    }
    state.pushed += state.edges;
    state.frontier = 0;
    if (talk.found > 0) {
        take_inbox<all>(plan, talk, depth, state.epoch, seen);
        if (!all) {
            if (!join(plan, talk, state.joined))
                return false;
            send_grains(plan, state.which, state.epoch);
        }
        if (!meet(plan, talk, state.epoch, depth + 1, false))
            return false;
        state.frontier = talk.found;
        state.edges = talk.edges;
        state.led = talk.rest;
        state.reached += talk.found;
        if (keeps_rows(plan)) {
            lap(plan, rows, state.epoch, row.update, row.exchange);
            row.found = static_cast<uint32_t>(hw_latest(&control->found[(state.epoch - 1) & 3]));
            row.bytes += 4 * hw_latest(&control->words[(state.epoch - 1) & 3]);
        }
    }
    if (keeps_rows(plan))
        keep_row(plan, rows, row);
    state.depth++;
    return true;
}

/* One level bottom-up; then the frontier is queued if it is better to push the next one
 * (more is set to false then), or empty where nothing can be found any more. */
__device__ bool pull(const plan_t &plan, talk_t &talk, state_t &state, rows_t &rows, uint4 *room,
                     bool &more)
{
    hw_node_control *control = plan.control;
    hw_node_row row = {HW_NODE_PULL, rows.frontier, 0, 0, 0, 0, 0, 0};

    pull_level(plan, 1 - state.which, state.epoch, state.initial,
               static_cast<uint32_t>(hw_node_unvisited(&plan, &state)), room);
    if (!meet(plan, talk, state.epoch, state.depth + 1, false))
        return false;
    const count64 found = talk.found, left = talk.rest;
    if (keeps_rows(plan)) {
        lap(plan, rows, state.epoch, row.expansion, row.exchange);
        row.found = static_cast<uint32_t>(hw_latest(&control->found[(state.epoch - 1) & 3]));
        row.edges = hw_latest(&control->probes[(state.epoch - 1) & 3]);
        row.bytes = 4 * hw_latest(&control->words[(state.epoch - 1) & 3]);
        keep_row(plan, rows, row);
    }
    state.initial = false;
    state.which = 1 - state.which;
    state.reached += found;
    state.frontier = left > 0 ? found : 0;
    state.depth++;
    more = state.frontier > 0;
    if (!more || !hw_node_better_pushed(&plan, &state, found, left))
        return true;
    more = false;
    if (blockIdx.x == 0 && threadIdx.x < 2)
        control->queue[(state.depth + threadIdx.x) & 3] = 0;
    if (!join(plan, talk, state.joined))
        return false;
    queue_finds(plan, state.depth, state.which, state.epoch);
    if (!meet(plan, talk, state.epoch, state.depth, false))
        return false;
    state.edges = talk.edges;
    state.led = talk.rest;
    if (keeps_rows(plan)) {
        hw_node_row queued = {HW_NODE_QUEUE, rows.frontier, rows.frontier, 0, 0, 0, 0, 0};
        lap(plan, rows, state.epoch, queued.update, queued.exchange);
        keep_row(plan, rows, queued);
    }
    return true;
}

/* All levels, from the first barrier on. Returns false where all must give up. */
__device__ bool levels(const plan_t &plan, talk_t &talk, state_t &state, rows_t &rows, uint4 *room)
{
    bool pulling = false;

    if (!meet(plan, talk, state.epoch, 0, false))
        return false;
    state.frontier = state.reached = talk.found;
    state.edges = talk.edges;
    state.led = talk.rest;
    if (keeps_rows(plan)) {
        rows.frontier =
            static_cast<uint32_t>(hw_latest(&plan.control->found[(state.epoch - 1) & 3]));
        rows.last = plan.control->begun = hw_nanoseconds();
    }
    while (state.frontier > 0) {
        bool fine;
        pulling = pulling || hw_node_better_pulled(&plan, &state);
        if (pulling)
            fine = pull(plan, talk, state, rows, room, pulling);
        else if (state.edges <= plan.all_edges)
            fine = push<true>(plan, talk, state, rows, room);
        else
            fine = push<false>(plan, talk, state, rows, room);
        if (!fine)
            return false;
    }
    return true;
}

__global__ void __launch_bounds__(threads, 1)
    search(const __grid_constant__ plan_t plan, uint32_t root)
{
    extern __shared__ uint4 room[];
    __shared__ talk_t talk;
    state_t state = {hw_latest(&plan.control->epoch), 0, 0, 0, true, 0, 0, 0, 0, 0, 0};
    rows_t rows = {0, 0, 0};

    begin(plan, root, state.epoch);
    if (!levels(plan, talk, state, rows, room))
        return;
    if (state.initial)
        settle_unvisited(plan, state.which);
    settle_leaves(plan, state.which, root, room);
    if (keeps_rows(plan)) { /* of block 0 alone; others end much like it */
        const hw_node_row row = {HW_NODE_LEAVES,
                                 0,
                                 0,
                                 0,
                                 0,
                                 static_cast<uint32_t>(hw_nanoseconds() - rows.last),
                                 plan.share.active - plan.share.core,
                                 0};
        keep_row(plan, rows, row);
        plan.control->rows = rows.count;
    }
    if (hw_first() == 0)
        plan.control->epoch = state.epoch;
}

/* ---- a step at a time, where the host exchanges between them ---- */

/* This GPU's words of a bitmap one after another, and the others' back into place. */
__device__ void pack_words(const plan_t &plan, uint32_t which)
{
    const uint32_t words = plan.share.core / 32;

    for (uint64_t w = hw_first(); w < words; w += hw_stride())
        plan.packed[plan.share.part * static_cast<uint64_t>(words) + w] =
            plan.bits[which][plan.share.part][global_word(plan.share, static_cast<uint32_t>(w))];
}

__device__ void unpack_words(const plan_t &plan, uint32_t which)
{
    const hw_share &share = plan.share;
    const uint32_t words = share.core / 32;

    for (uint64_t i = hw_first(); i < core_ranks(share) / 32; i += hw_stride()) {
        const uint32_t at = static_cast<uint32_t>(i), q = at / grain_words % share.parts;
        const uint32_t own = at / grain_words / share.parts * grain_words + at % grain_words;
        if (q != share.part)
            plan.bits[which][share.part][at] = plan.packed[q * static_cast<uint64_t>(words) + own];
    }
}

__global__ void __launch_bounds__(threads, 1)
    take_step(const __grid_constant__ plan_t plan, const __grid_constant__ hw_node_step step)
{
    extern __shared__ uint4 room[];
    __shared__ talk_t talk;
    uint32_t *seen = plan.bits[step.which][plan.share.part];

    switch (step.kind) {
    case HW_NODE_STEP_BEGIN:
        begin(plan, step.root, 0);
        break;
    case HW_NODE_STEP_PUSH:
        if (step.all)
            push_level<true>(plan, step.depth, 0, seen, room);
        else
            push_level<false>(plan, step.depth, 0, seen, room);
        break;
    case HW_NODE_STEP_TAKE:
        if (threadIdx.x < HW_SHARE_PARTS)
            talk.heard[4 * threadIdx.x + 3] = step.from[threadIdx.x];
        __syncthreads();
        if (step.all)
            take_inbox<true>(plan, talk, step.depth, 1, seen);
        else
            take_inbox<false>(plan, talk, step.depth, 1, seen);
        break;
    case HW_NODE_STEP_PULL:
        pull_level(plan, 1 - step.which, 0, step.initial, step.unvisited, room);
        break;
    case HW_NODE_STEP_QUEUE:
        queue_finds(plan, step.depth, step.which, 0);
        break;
    case HW_NODE_STEP_PACK:
        pack_words(plan, step.which);
        break;
    case HW_NODE_STEP_UNPACK:
        unpack_words(plan, step.which);
        break;
    default:
        if (step.initial)
            settle_unvisited(plan, step.which);
        settle_leaves(plan, step.which, step.root, room);
    }
}

} // namespace

int hw_node_launch_shape(hw_node_plan *plan, hw_node_shape *shape)
{
    const void *kernel = reinterpret_cast<const void *>(search);
    const uint32_t beside = warps * (HW_NODE_WORDS * 16 + HW_NODE_WORDS) * 4;
    int device = 0, most = 0, processors = 0, resident = 0;
    cudaFuncAttributes attributes;
    cudaError_t error = cudaGetDevice(&device);

    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    if (error == cudaSuccess)
        error = cudaFuncGetAttributes(&attributes, kernel);
    if (error != cudaSuccess)
        return error;
    const uint32_t left =
        static_cast<uint32_t>(most) - static_cast<uint32_t>(attributes.sharedSizeBytes);
    plan->hub_words = min(left - beside, 160u << 10) / 16 * 4;
    plan->tile = 4 * threads * 16 <= left ? 4 : 2;
    shape->shared_bytes = max(plan->tile * threads * 16, plan->hub_words * 4 + beside);
    const uint32_t words = plan->share.core / 32, all_warps = processors * warps;
    plan->words = words / 16 >= 2 * all_warps ? 16 : words / 8 >= 2 * all_warps ? 8 : 4;
    error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 static_cast<int>(shape->shared_bytes));
    if (error == cudaSuccess)
        error = cudaFuncSetAttribute(take_step, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     static_cast<int>(shape->shared_bytes));
    if (error == cudaSuccess)
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, threads,
                                                              shape->shared_bytes);
    if (error == cudaSuccess && resident < 1)
        error = cudaErrorLaunchOutOfResources;
    shape->blocks = processors;
    return error;
}

int hw_node_launch(const hw_node_plan *plan, const hw_node_shape *shape, uint32_t root)
{
    void *arguments[] = {const_cast<hw_node_plan *>(plan), &root};

    return cudaLaunchCooperativeKernel(reinterpret_cast<const void *>(search), dim3(shape->blocks),
                                       dim3(threads), arguments, shape->shared_bytes, nullptr);
}

int hw_node_launch_step(const hw_node_plan *plan, const hw_node_shape *shape,
                        const hw_node_step *step)
{
    take_step<<<shape->blocks, threads, shape->shared_bytes>>>(*plan, *step);
    return cudaGetLastError();
}
