/*
 * Method `fused`: breadth-first search in one cooperative kernel.
 *
 * All levels run in one launch, one block on each multiprocessor, with a barrier over
 * the grid between levels; every block decides from the same counters what comes next,
 * so that nothing goes back to the host. Three ways to expand a level:
 *
 *   block      while the frontier is small, block 0 alone goes from level to level with
 *              the queue in shared memory and a barrier of the block between levels, the
 *              others waiting: deep graphs spend their time here;
 *   push       top-down: the edges of the queue are cut into equal tiles, each block finds
 *              the vertices of its tile by a search in the prefix sums ("A New GPU-based
 *              parallel BFS": merge-path style redistribution), and the visited bitmap
 *              says by one atomic operation who was first;
 *   pull       bottom-up: warps claim chunks of the bitmap. Most vertices are settled by
 *              their first source, whose array is read in order, eight words deep, against
 *              the part of the bitmap where the hubs are, held in shared memory; those
 *              left wait in the warp until there are enough of them, and look at the
 *              next eight sources, one sector of memory, then at the rest of the list. Words of the
 * next bitmap are made by ballot, without atomic operations but for the few found late.
 *
 * A level is pulled when that is the less work by estimate: how many vertices have their
 * first source in the frontier is counted while it is found, and how far the others have
 * to look follows from the share of the edges that the frontier has and from the degrees.
 *
 * Vertices of degree 1 are left out until the end: their parent is their only neighbour,
 * if that one was reached. Isolated ones have no place in search order.
 */
#include "fused.h"
#include "lists.cuh"

#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace
{

namespace cg = cooperative_groups;
using count64 = unsigned long long;
using plan_t = hw_fused_plan;

constexpr int threads = HW_FUSED_THREADS;
constexpr int warps = threads / 32;
constexpr count64 edge_mask = (1ull << HW_FUSED_EDGE_BITS) - 1;

/* enum hw_direction */
constexpr int top_down = 1, bottom_up = 2;

/* What operations cost, in picoseconds of a whole H200: an edge pushed; a first source
 * looked at; another source; a level. Only their ratios matter. */
constexpr float push_edge = 25, pull_first = 5, pull_probe = 4, pull_fixed = 5e6;

/* Frontiers of more edges than this, and than one in so many of all, are pushed without
 * queueing what they find. */
constexpr count64 unqueued_least = 1u << 17, unqueued_share = 4096;

__device__ __forceinline__ uint32_t vertices_of(count64 packed)
{
    return static_cast<uint32_t>(packed >> HW_FUSED_EDGE_BITS);
}

__device__ __forceinline__ count64 edges_of(count64 packed)
{
    return packed & edge_mask;
}

/* A vertex with `edges` edges, packed; vertices without edges need no expansion. */
__device__ __forceinline__ count64 packed(count64 edges)
{
    return edges ? (1ull << HW_FUSED_EDGE_BITS) + edges : 0;
}

template <typename T> __device__ __forceinline__ T latest(const T *counter)
{
    return *static_cast<const volatile T *>(counter);
}

__device__ __forceinline__ uint32_t warp_sum(uint32_t x)
{
#if __CUDA_ARCH__ >= 800
    return __reduce_add_sync(HW_WARP, x);
#else
    for (int half = 16; half > 0; half /= 2)
        x += __shfl_xor_sync(HW_WARP, x, half);
    return x;
#endif
}

/* The sum over this lane and those before it. */
__device__ __forceinline__ count64 warp_scan(count64 x)
{
    const int lane = threadIdx.x & 31;

#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
        const count64 before = __shfl_up_sync(HW_WARP, x, step);
        if (lane >= step)
            x += before;
    }
    return x;
}

__device__ __forceinline__ uint32_t words_of(const plan_t &plan)
{
    return (plan.graph.core + 31) / 32;
}

__device__ __forceinline__ count64 nanoseconds()
{
    count64 now;

    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

/* What there is to know of a vertex of the core once it is found: where its list begins
 * (z, w: low and high half), its length (x), and how many vertices it leads (y). */
__device__ __forceinline__ uint4 about_vertex(const hw_gpu_graph &graph, uint32_t v)
{
    return __ldg(reinterpret_cast<const uint4 *>(graph.about) + v);
}

template <typename Offset> __device__ __forceinline__ Offset begin_of(const uint4 &about)
{
    return static_cast<Offset>(static_cast<uint64_t>(about.w) << 32 | about.z);
}

/* ---- what is kept of the steps ---- */

/* Keeps a row, in the one thread that does. rows: how many there are. */
__device__ __forceinline__ void keep_row(const plan_t &plan, uint32_t &rows, uint32_t routine,
                                         uint32_t frontier, uint32_t found, count64 edges)
{
    if (!plan.row || blockIdx.x != 0 || threadIdx.x != 0)
        return;
    hw_gpu_row *row = plan.row + min(rows, plan.row_capacity - 1);
    if (rows < plan.row_capacity) {
        row->routine = routine;
        row->frontier = frontier;
        row->found = found;
        row->edges = edges;
    } else {
        row->found += found;
        row->edges += edges;
    }
    row->clock = static_cast<uint64_t>(clock64());
    rows++;
}

/* ---- the beginning ---- */

/* Clears the counters and queues the root. Block 0. */
template <typename Offset> __device__ void begin_counters(const plan_t &plan, uint32_t root)
{
    uint32_t *word = reinterpret_cast<uint32_t *>(plan.control);

    for (uint32_t i = threadIdx.x; i < sizeof *plan.control / sizeof *word; i += blockDim.x)
        word[i] = 0;
    __syncthreads();
    if (threadIdx.x != 0)
        return;
    if (root < plan.graph.active) {
        plan.control->queue[0] = packed(hw_begin<Offset>(plan.graph.out, root + 1) -
                                        hw_begin<Offset>(plan.graph.out, root));
        plan.parent[root] = root;
    }
    plan.queue[0][0] = root;
    static_cast<Offset *>(plan.prefix[0])[0] = 0;
    plan.control->begun = static_cast<count64>(clock64());
    plan.control->begun_time = nanoseconds();
}

/* Marks nothing but the root as visited. */
template <typename Offset> __device__ void begin(const plan_t &plan, uint32_t root)
{
    const uint32_t core = plan.graph.core, words = words_of(plan), rest = core & 31;

    if (blockIdx.x == 0)
        begin_counters<Offset>(plan, root);
    for (uint64_t w = hw_first(); w < words; w += hw_stride()) {
        uint32_t seen = w == words - 1 && rest ? HW_WARP << rest : 0; /* no such vertices */
        if (root < core && w == root / 32)
            seen |= 1u << (root & 31);
        plan.bits[0][w] = seen;
    }
}

/* ---- one block ---- */

/* A queue in shared memory. */
template <typename Offset> struct small_queue {
    Offset *begin; /* of each vertex's list */
    uint32_t *vertex, *length;
};

/* Two queues, and room for the edges before each vertex of one of them. */
template <typename Offset>
__device__ __forceinline__ small_queue<Offset> small_at(uint4 *room, uint32_t capacity,
                                                        uint32_t half)
{
    Offset *begin = reinterpret_cast<Offset *>(room) + half * capacity;
    uint32_t *words = reinterpret_cast<uint32_t *>(reinterpret_cast<Offset *>(room) + 2 * capacity);

    return {begin, words + half * capacity, words + (2 + half) * capacity};
}

template <typename Offset>
__device__ __forceinline__ uint32_t *small_prefix(uint4 *room, uint32_t capacity)
{
    return reinterpret_cast<uint32_t *>(reinterpret_cast<Offset *>(room) + 2 * capacity) +
           4 * capacity;
}

/* What a level of one block adds up. Lengths are capped, so that sums fit and are exact
 * where they matter. */
struct small_sums {
    uint32_t count, edges;
    uint32_t longer;  /* 1: some list is longer than short_list, 2: than twice that */
    uint32_t endless; /* found, but without a list */
};
constexpr uint32_t length_cap = 1u << 14, short_list = 4, patience = 8;

/* The sum over the threads before this one in the block, and *total over all. */
__device__ count64 block_scan(count64 own, count64 *total)
{
    __shared__ count64 sum[warps];
    const uint32_t lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    const count64 upto = warp_scan(own);

    __syncthreads();
    if (lane == 31)
        sum[warp] = upto;
    __syncthreads();
    const count64 before = warp_scan(sum[lane]); /* every warp does the same */
    *total = __shfl_sync(HW_WARP, before, 31);
    return __shfl_sync(HW_WARP, before, warp) - sum[warp] + upto - own;
}

/* The last slot whose edges begin at or before `edge`. */
__device__ __forceinline__ uint32_t slot_of(const uint32_t *prefix, uint32_t count, uint32_t edge)
{
    uint32_t from = 0, to = count;

    while (to - from > 1) {
        const uint32_t middle = (from + to) / 2;
        if (prefix[middle] <= edge)
            from = middle;
        else
            to = middle;
    }
    return from;
}

/* Where the finds of a level go. */
template <typename Offset> struct small_target {
    uint32_t *seen; /* in memory */
    uint32_t *held; /* or in shared memory, if held_in_block */
    bool held_in_block;
    small_queue<Offset> to;
    uint32_t *queue; /* the same in memory, for more than fit */
    small_sums *sums;
};

/* Takes the candidates that nobody visited before, four a lane, into the next queue. A
 * warp; HW_RANK_NONE is no candidate. */
template <typename Offset>
__device__ __forceinline__ void small_take(const plan_t &plan, const small_target<Offset> &target,
                                           const uint32_t *candidate, const uint32_t *source)
{
    const hw_gpu_graph &graph = plan.graph;
    const uint32_t lower = (1u << (threadIdx.x & 31)) - 1;
    uint32_t before[4], length[4], count = 0, edges = 0, most = 0, start = 0;
    Offset begin[4];
    bool fresh[4];

#pragma unroll
    for (int k = 0; k < 4; k++) {
        const uint32_t v = candidate[k], bit = 1u << (v & 31);
        fresh[k] = false;
        if (v >= graph.core)
            continue;
        if (target.held_in_block)
            fresh[k] = !(atomicOr(target.held + v / 32, bit) & bit);
        else
            fresh[k] = !(atomicOr(target.seen + v / 32, bit) & bit);
    }
#pragma unroll
    for (int k = 0; k < 4; k++) {
        length[k] = 0;
        if (!fresh[k])
            continue;
        const uint4 about = about_vertex(graph, candidate[k]);
        length[k] = about.x;
        begin[k] = begin_of<Offset>(about);
        plan.parent[candidate[k]] = source[k];
        if (length[k] == 0)
            atomicAdd(&target.sums->endless, 1u);
        edges += min(length[k], length_cap);
        most = max(most, length[k]);
    }
#pragma unroll
    for (int k = 0; k < 4; k++) {
        const uint32_t ballot = __ballot_sync(HW_WARP, length[k] > 0);
        before[k] = count + __popc(ballot & lower);
        count += __popc(ballot);
    }
    if (count == 0)
        return;
    edges = warp_sum(edges);
    const uint32_t longer = (__any_sync(HW_WARP, most > short_list) ? 1 : 0) |
                            (__any_sync(HW_WARP, most > 2 * short_list) ? 2 : 0);
    if (lower == 0) {
        start = atomicAdd(&target.sums->count, count);
        atomicAdd(&target.sums->edges, edges);
        if (longer)
            atomicOr(&target.sums->longer, longer);
    }
    start = __shfl_sync(HW_WARP, start, 0);
#pragma unroll
    for (int k = 0; k < 4; k++) {
        const uint32_t slot = start + before[k];
        if (length[k] == 0)
            continue;
        if (slot < plan.block_vertices) {
            target.to.vertex[slot] = candidate[k];
            target.to.length[slot] = length[k];
            target.to.begin[slot] = begin[k];
        }
        target.queue[slot] = candidate[k];
    }
}

/* A level whose lists are all short: a thread for each vertex. */
template <typename Offset>
__device__ void small_each(const plan_t &plan, const small_queue<Offset> &from, uint32_t count,
                           uint32_t longest, const small_target<Offset> &target)
{
    for (uint32_t base = threadIdx.x & ~31u; base < count; base += threads) {
        const uint32_t i = base + (threadIdx.x & 31);
        const uint32_t length = i < count ? from.length[i] : 0;
        const uint32_t v = length ? from.vertex[i] : 0, source[4] = {v, v, v, v};
        const Offset begin = length ? from.begin[i] : 0;
        for (uint32_t k = 0; k < longest && __any_sync(HW_WARP, k < length); k += 4) {
            uint32_t candidate[4];
#pragma unroll
            for (uint32_t j = 0; j < 4; j++)
                candidate[j] =
                    k + j < length ? __ldg(plan.graph.out.rank + begin + k + j) : HW_RANK_NONE;
            small_take<Offset>(plan, target, candidate, source);
        }
    }
}

/* Any level: the edges shared out evenly, their vertices found by prefix sums. */
template <typename Offset>
__device__ void small_merge(const plan_t &plan, const small_queue<Offset> &from, uint32_t count,
                            uint32_t *prefix, const small_target<Offset> &target)
{
    count64 edges = 0;

    for (uint32_t base = 0; base < count; base += threads) {
        const uint32_t i = base + threadIdx.x;
        count64 total;
        const count64 before = block_scan(i < count ? from.length[i] : 0, &total);
        if (i < count)
            prefix[i] = static_cast<uint32_t>(edges + before);
        edges += total;
    }
    __syncthreads();
    for (uint32_t base = threadIdx.x & ~31u; base < edges; base += 4 * threads) {
        uint32_t candidate[4], source[4];
#pragma unroll
        for (uint32_t j = 0; j < 4; j++) {
            const uint32_t edge = base + j * threads + (threadIdx.x & 31);
            candidate[j] = HW_RANK_NONE;
            source[j] = 0;
            if (edge < edges) {
                const uint32_t slot = slot_of(prefix, count, edge);
                candidate[j] =
                    __ldg(plan.graph.out.rank + from.begin[slot] + (edge - prefix[slot]));
                source[j] = from.vertex[slot];
            }
        }
        small_take<Offset>(plan, target, candidate, source);
    }
}

/* Leaves all as a level of the whole grid expects it: edges before each vertex of the
 * queue, and cleared counters. All threads of block 0. */
template <typename Offset>
__device__ void hand_over(const plan_t &plan, uint32_t depth, uint32_t reached, uint32_t count)
{
    hw_fused_control *control = plan.control;
    Offset *prefix = static_cast<Offset *>(plan.prefix[depth & 1]);
    count64 edges = 0, led = 0;

    for (uint32_t base = 0; base < count; base += threads) {
        const uint32_t i = base + threadIdx.x;
        uint4 about = make_uint4(0, 0, 0, 0);
        if (i < count)
            about = about_vertex(plan.graph, __ldcg(plan.queue[depth & 1] + i));
        count64 total;
        const count64 before = edges + block_scan(about.x, &total);
        if (i < count)
            prefix[i] = static_cast<Offset>(before);
        edges += total;
        block_scan(about.y, &total);
        led += total;
    }
    if (threadIdx.x != 0)
        return;
    for (int ring = 0; ring < 4; ring++) {
        control->queue[ring] = control->probes[ring] = control->led[ring] = 0;
        control->found[ring] = control->left[ring] = 0;
    }
    control->queue[depth & 3] = (static_cast<count64>(count) << HW_FUSED_EDGE_BITS) + edges;
    control->led[depth & 3] = led;
    control->depth = depth;
    control->reached = reached;
}

/* Copies the whole bitmap to shared memory, and back. All threads of the block. */
__device__ void hold_bits(const plan_t &plan, const uint32_t *seen, uint32_t *held)
{
    for (uint32_t w = threadIdx.x; w < words_of(plan); w += threads)
        held[w] = __ldcg(seen + w);
    __syncthreads();
}

__device__ void release_bits(const plan_t &plan, const uint32_t *held, uint32_t *seen)
{
    for (uint32_t w = threadIdx.x; w < words_of(plan); w += threads)
        seen[w] = held[w];
}

/* The first level of one block: the queue from memory. */
template <typename Offset>
__device__ void load_small(const plan_t &plan, uint32_t depth, uint32_t count,
                           const small_queue<Offset> &to)
{
    for (uint32_t i = threadIdx.x; i < count; i += threads) {
        const uint32_t v = __ldcg(plan.queue[depth & 1] + i);
        to.vertex[i] = v;
        to.begin[i] = hw_begin<Offset>(plan.graph.out, v);
        to.length[i] = static_cast<uint32_t>(hw_begin<Offset>(plan.graph.out, v + 1) - to.begin[i]);
    }
}

/* Levels in one block, from the queue of level depth, until the frontier is empty or too
 * large. After some levels the bitmap moves to shared memory, if it fits: one
 * multiprocessor alone visits far more there. Block 0. */
template <typename Offset>
__device__ void small_levels(const plan_t &plan, uint32_t depth, uint32_t reached, uint32_t *seen,
                             uint4 *room, uint32_t &rows)
{
    __shared__ small_sums sums[3]; /* in turns, cleared two levels ahead */
    const uint32_t capacity = plan.block_vertices, started = depth;
    const count64 queue = latest(&plan.control->queue[depth & 3]);
    uint32_t count = vertices_of(queue), edges = static_cast<uint32_t>(edges_of(queue));
    uint32_t longer = 3;
    uint32_t *held = small_prefix<Offset>(room, capacity) + capacity;
    bool holds = false;

    if (threadIdx.x < 3)
        sums[threadIdx.x] = {0, 0, 0, 0};
    load_small<Offset>(plan, depth, count, small_at<Offset>(room, capacity, depth & 1));
    __syncthreads();
    do {
        const small_queue<Offset> from = small_at<Offset>(room, capacity, depth & 1);
        if (depth - started == patience && plan.block_holds) {
            hold_bits(plan, seen, held);
            holds = true;
        }
        const small_target<Offset> target = {seen,
                                             held,
                                             holds,
                                             small_at<Offset>(room, capacity, ~depth & 1),
                                             plan.queue[~depth & 1],
                                             &sums[(depth + 1) % 3]};
        if (threadIdx.x == 0)
            sums[(depth + 2) % 3] = {0, 0, 0, 0};
        if (longer < 2)
            small_each<Offset>(plan, from, count, longer ? 2 * short_list : short_list, target);
        else
            small_merge<Offset>(plan, from, count, small_prefix<Offset>(room, capacity), target);
        __syncthreads();
        const small_sums found = *target.sums;
        keep_row(plan, rows, HW_ROUTINE_BLOCK, count, found.count + found.endless, edges);
        count = found.count;
        edges = found.edges;
        longer = found.longer;
        reached += count + found.endless;
        depth++;
    } while (count > 0 && count <= capacity &&
             edges <= (holds ? 2 * plan.block_edges : plan.block_edges) &&
             plan.direction != bottom_up);
    if (holds)
        release_bits(plan, held, seen);
    hand_over<Offset>(plan, depth, reached, count);
}

/* ---- top-down on the whole grid ---- */

/* The last slot of prefix[0..count) that is at most `edge`. A whole warp. */
template <typename Offset>
__device__ uint32_t warp_slot(const Offset *prefix, uint32_t count, count64 edge)
{
    const uint32_t lane = threadIdx.x & 31;
    uint32_t from = 0, length = count;

    while (length > 1) {
        const uint32_t step = (length + 31) / 32, at = lane * step;
        const bool before = at < length && __ldcg(prefix + from + at) <= edge;
        const uint32_t ballot = __ballot_sync(HW_WARP, before);
        const uint32_t last = (ballot ? 31 - __clz(ballot) : 0) * step;
        from += last;
        length = min(step, length - last);
    }
    return from;
}

/* The slots of one tile, in shared memory: entries of [4 threads] each at most. */
template <typename Offset> struct tile_slots {
    Offset *begin;    /* of the list, less the edges of the tile before it */
    uint32_t *prefix; /* edges of the tile before it */
    uint32_t *vertex;
};

/* What one thread found of a tile. */
struct tile_finds {
    uint32_t vertex[4];
    count64 mine[4]; /* packed */
};

/* Adds the finds of a block to the queue of the next level. */
template <typename Offset>
__device__ void enqueue(const plan_t &plan, uint32_t depth, const tile_finds &finds)
{
    __shared__ count64 start[warps];
    const int lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    uint32_t *queue = plan.queue[(depth + 1) & 1];
    Offset *prefix = static_cast<Offset *>(plan.prefix[(depth + 1) & 1]);
    const count64 mine = finds.mine[0] + finds.mine[1] + finds.mine[2] + finds.mine[3];
    const count64 sum = warp_scan(mine);

    if (lane == 31)
        start[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        const count64 own = lane < warps ? start[lane] : 0, to = warp_scan(own);
        count64 base = 0;
        if (lane == 31)
            base = atomicAdd(&plan.control->queue[(depth + 1) & 3], to);
        base = __shfl_sync(HW_WARP, base, 31);
        start[lane] = base + to - own;
    }
    __syncthreads();
    count64 at = start[warp] + sum - mine;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        if (!finds.mine[k])
            continue;
        queue[vertices_of(at)] = finds.vertex[k];
        prefix[vertices_of(at)] = static_cast<Offset>(edges_of(at));
        at += finds.mine[k];
    }
}

/* What one thread adds up on a level. */
struct push_counts {
    uint32_t led, found; /* found: those that are not queued */
};

/* Visits up to four edges of a tile for each thread. queued: what it finds will be. */
template <typename Offset, bool queued>
__device__ __forceinline__ void visit(const plan_t &plan, uint32_t *seen,
                                      const tile_slots<Offset> &slots, uint32_t count,
                                      uint32_t edges, tile_finds &finds, push_counts &counts)
{
    const hw_gpu_graph &graph = plan.graph;
    uint32_t v[4], source[4], word[4];

#pragma unroll
    for (int k = 0; k < 4; k++) {
        const uint32_t edge = k * threads + threadIdx.x;
        v[k] = HW_RANK_NONE;
        source[k] = 0;
        if (edge < edges) {
            const uint32_t slot = slot_of(slots.prefix, count, edge);
            v[k] = __ldg(graph.out.rank + static_cast<Offset>(slots.begin[slot] + edge));
            source[k] = slots.vertex[slot];
        }
    }
#pragma unroll
    for (int k = 0; k < 4; k++)
        word[k] = v[k] < graph.core ? __ldcg(seen + v[k] / 32) : HW_WARP;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        const uint32_t bit = 1u << (v[k] & 31);
        finds.vertex[k] = v[k];
        finds.mine[k] = 0;
        if ((word[k] & bit) || (atomicOr(seen + v[k] / 32, bit) & bit))
            continue;
        plan.parent[v[k]] = source[k];
        if (queued) {
            const uint4 about = about_vertex(graph, v[k]);
            finds.mine[k] = packed(about.x);
            counts.led += about.y;
            counts.found += about.x == 0;
        } else {
            counts.found++;
        }
    }
}

/* Adds what the threads of a block counted to counters of the device. */
__device__ __forceinline__ void add_counts(count64 *first, uint32_t a, uint32_t *second, uint32_t b,
                                           uint32_t *third, uint32_t c)
{
    __shared__ uint32_t sum[3];
    const bool leader = (threadIdx.x & 31) == 0;

    if (threadIdx.x < 3)
        sum[threadIdx.x] = 0;
    __syncthreads();
    a = warp_sum(a);
    b = warp_sum(b);
    c = warp_sum(c);
    if (leader && a)
        atomicAdd(&sum[0], a);
    if (leader && b)
        atomicAdd(&sum[1], b);
    if (leader && c)
        atomicAdd(&sum[2], c);
    __syncthreads();
    if (threadIdx.x == 0 && sum[0])
        atomicAdd(first, static_cast<count64>(sum[0]));
    if (threadIdx.x == 1 && sum[1])
        atomicAdd(second, sum[1]);
    if (threadIdx.x == 2 && sum[2])
        atomicAdd(third, sum[2]);
}

/* Brings the queue's slots that hold a tile's edges to shared memory; returns how many.
 * All threads of the block. */
template <typename Offset>
__device__ uint32_t load_tile(const plan_t &plan, uint32_t depth, count64 base, uint32_t length,
                              uint32_t vertices, const tile_slots<Offset> &slots)
{
    __shared__ uint32_t ends[2];
    const uint32_t *queue = plan.queue[depth & 1], warp = threadIdx.x / 32;
    const Offset *prefix = static_cast<Offset *>(plan.prefix[depth & 1]);

    if (warp < 2) {
        const uint32_t slot = warp_slot<Offset>(prefix, vertices, warp ? base + length - 1 : base);
        if ((threadIdx.x & 31) == 0)
            ends[warp] = slot;
    }
    __syncthreads();
    const uint32_t slot = ends[0], count = ends[1] - slot + 1;
    for (uint32_t i = threadIdx.x; i < count; i += threads) {
        const uint32_t v = __ldcg(queue + slot + i);
        const count64 before = __ldcg(prefix + slot + i);
        slots.prefix[i] = before <= base ? 0 : static_cast<uint32_t>(before - base);
        slots.begin[i] = hw_begin<Offset>(plan.graph.out, v) + static_cast<Offset>(base - before);
        slots.vertex[i] = v;
    }
    __syncthreads();
    return count;
}

/* One level top-down, all blocks. queued: finds go to the queue of the next level, else
 * only their number is counted. */
template <typename Offset, bool queued>
__device__ void push_level(const plan_t &plan, uint32_t depth, uint32_t *seen, uint4 *room)
{
    hw_fused_control *control = plan.control;
    const count64 frontier = latest(&control->queue[depth & 3]), edges = edges_of(frontier);
    const count64 round = static_cast<count64>(gridDim.x) * threads;
    const uint32_t deep = edges >= 4 * round ? 4 : edges >= 2 * round ? 2 : 1;
    const uint32_t tile = threads * min(deep, plan.tile), ring = (depth + 1) & 3;
    Offset *begins = reinterpret_cast<Offset *>(room);
    uint32_t *words = reinterpret_cast<uint32_t *>(begins + threads * plan.tile);
    const tile_slots<Offset> slots = {begins, words, words + threads * plan.tile};
    push_counts counts = {0, 0};

    for (count64 base = blockIdx.x * static_cast<count64>(tile); base < edges;
         base += gridDim.x * static_cast<count64>(tile)) {
        const uint32_t length =
            static_cast<uint32_t>(min(static_cast<count64>(tile), edges - base));
        tile_finds finds;
        const uint32_t count =
            load_tile<Offset>(plan, depth, base, length, vertices_of(frontier), slots);
        visit<Offset, queued>(plan, seen, slots, count, length, finds, counts);
        if (!queued)
            __syncthreads(); /* before the slots change */
        else if (__syncthreads_or((finds.mine[0] | finds.mine[1] | finds.mine[2] | finds.mine[3]) !=
                                  0))
            enqueue<Offset>(plan, depth, finds);
    }
    add_counts(&control->led[ring], counts.led, &control->found[ring], counts.found, nullptr, 0);
}

/* Keeps the bitmap as it is before a level whose finds are not queued. */
__device__ void keep_bits(const plan_t &plan, const uint32_t *seen, uint32_t *spare)
{
    for (uint64_t w = hw_first(); w < words_of(plan); w += hw_stride())
        spare[w] = __ldcg(seen + w);
}

/* ---- bottom-up ---- */

/* Vertices to look up for each word of the bitmap that is held in shared memory. */
constexpr uint32_t hub_share = 256;

/* The bitmap that is tested, its beginning in shared memory. */
struct tested {
    const uint32_t *bits;
    const uint32_t *hub;
    uint32_t held; /* vertices whose bits are in hub */
    uint32_t core; /* vertices that have bits at all */
};

/* The word with a vertex's bit; 0 for vertices that have none. */
__device__ __forceinline__ uint32_t word_of(const tested &map, uint32_t v)
{
    if (v < map.held)
        return map.hub[v / 32];
    return v < map.core ? map.bits[v / 32] : 0;
}

__device__ __forceinline__ bool has(uint32_t word, uint32_t v)
{
    return word >> (v & 31) & 1;
}

/* Copies the beginning of a bitmap to shared memory: more of it, the more vertices will
 * be looked up. All threads of the block. */
__device__ __forceinline__ tested hold(const plan_t &plan, const uint32_t *bits, uint4 *room,
                                       uint32_t looked_up)
{
    const uint32_t most = min(plan.hub_words, words_of(plan));
    const uint32_t words = min(most, looked_up / hub_share) & ~3u;

    __syncthreads();
    for (uint32_t i = threadIdx.x; i < words / 4; i += threads)
        room[i] = __ldcg(reinterpret_cast<const uint4 *>(bits) + i);
    __syncthreads();
    return {bits, reinterpret_cast<const uint32_t *>(room), words * 32, plan.graph.core};
}

/* What one thread counts bottom-up. */
struct pull_counts {
    uint32_t found, left, probes;
};

/*
 * What a warp works with: vertices that wait, in shared memory, until there are enough of
 * them to keep all lanes busy. Those of one chunk wait for those of the next.
 */
struct waiting {
    uint32_t *near; /* [near_room] left by their first source; the next eight come next */
    uint32_t *deep; /* [deep_room] left by those; the rest of the list comes next */
    uint32_t near_count, deep_count;
    uint32_t *next; /* the bitmap that is being made */
};
constexpr uint32_t near_round = 32, near_room = near_round + 8 * 32;
constexpr uint32_t deep_round = 32, deep_room = deep_round + near_round;

/* Settles a vertex that was found late. */
__device__ __forceinline__ void found_late(const plan_t &plan, uint32_t *next, uint32_t v,
                                           uint32_t parent)
{
    plan.parent[v] = parent;
    atomicOr(next + v / 32, 1u << (v & 31));
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

/* The first visited one of list elements [*at, end), four at a time, 64 at most. Lists ascend, so
 * that a vertex without a bit ends them. */
template <typename Offset>
__device__ __forceinline__ uint32_t probe_list(const plan_t &plan, const tested &map, Offset *at,
                                               Offset end, uint32_t &probes)
{
    const Offset limit = end - *at > 64 ? *at + 64 : end;
    uint32_t parent = HW_RANK_NONE;

    while (*at < limit && parent == HW_RANK_NONE) {
        uint32_t v[4], word[4];
#pragma unroll
        for (int k = 0; k < 4; k++)
            v[k] = *at + k < end ? __ldg(plan.graph.in.rank + *at + k) : HW_RANK_NONE;
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
template <typename Offset>
__device__ uint32_t probe_warp(const plan_t &plan, const tested &map, Offset at, Offset end,
                               uint32_t &probes)
{
    const uint32_t lane = threadIdx.x & 31;

    for (; at < end; at += 32) {
        const uint32_t v = at + lane < end ? __ldg(plan.graph.in.rank + at + lane) : HW_RANK_NONE;
        const bool hit = has(word_of(map, v), v);
        const uint32_t ballot = __ballot_sync(HW_WARP, hit);
        probes += v < map.core;
        if (ballot)
            return __shfl_sync(HW_WARP, v, __ffs(ballot) - 1);
        if (__any_sync(HW_WARP, v >= map.core))
            break;
    }
    return HW_RANK_NONE;
}

/* Goes on with those whose lists are longer than nine, a round at a time; all: also the
 * last ones, fewer than a round. */
template <typename Offset>
__device__ void drain_deep(const plan_t &plan, const tested &map, waiting &wait, bool all,
                           pull_counts &counts)
{
    const uint32_t lane = threadIdx.x & 31;

    while (wait.deep_count >= deep_round || (all && wait.deep_count > 0)) {
        const uint32_t take = min(wait.deep_count, deep_round);
        wait.deep_count -= take;
        const bool active = lane < take;
        const uint32_t v = active ? wait.deep[wait.deep_count + lane] : 0;
        uint32_t parent = HW_RANK_NONE;
        Offset at = 0, end = 0;
        if (active) {
            at = hw_begin<Offset>(plan.graph.in, v) + 9;
            end = hw_begin<Offset>(plan.graph.in, v + 1);
            if (at < end)
                parent = probe_list<Offset>(plan, map, &at, end, counts.probes);
        }
        uint32_t longer = __ballot_sync(HW_WARP, active && parent == HW_RANK_NONE && at < end);
        while (longer) {
            const int from = __ffs(longer) - 1;
            longer &= longer - 1;
            const uint32_t found =
                probe_warp<Offset>(plan, map, __shfl_sync(HW_WARP, at, from),
                                   __shfl_sync(HW_WARP, end, from), counts.probes);
            if (static_cast<int>(lane) == from)
                parent = found;
        }
        if (active && parent != HW_RANK_NONE)
            found_late(plan, wait.next, v, parent);
        counts.found += active && parent != HW_RANK_NONE;
        counts.left += active && parent == HW_RANK_NONE;
        __syncwarp();
    }
}

/* Probes the next eight sources of those that their first one left. */
template <typename Offset>
__device__ void drain_near(const plan_t &plan, const tested &map, waiting &wait, bool all,
                           pull_counts &counts)
{
    const uint4 none = make_uint4(HW_RANK_NONE, HW_RANK_NONE, HW_RANK_NONE, HW_RANK_NONE);
    const uint4 *sources = reinterpret_cast<const uint4 *>(plan.graph.next);
    const uint32_t lane = threadIdx.x & 31, lower = (1u << lane) - 1;

    while (wait.near_count >= near_round || (all && wait.near_count > 0)) {
        const uint32_t take = min(wait.near_count, near_round);
        wait.near_count -= take;
        const bool active = lane < take;
        const uint32_t v = active ? wait.near[wait.near_count + lane] : 0;
        const uint4 four = active ? __ldg(sources + 2ull * v) : none;
        const uint4 more_four = active ? __ldg(sources + 2ull * v + 1) : none;
        bool more;
        uint32_t parent = probe_four(map, four, more, counts.probes);
        if (parent == HW_RANK_NONE && more)
            parent = probe_four(map, more_four, more, counts.probes);
        const bool found = parent != HW_RANK_NONE, deep = !found && more;
        const uint32_t ballot = __ballot_sync(HW_WARP, deep);
        if (found)
            found_late(plan, wait.next, v, parent);
        if (deep)
            wait.deep[wait.deep_count + __popc(ballot & lower)] = v;
        wait.deep_count += __popc(ballot);
        counts.found += found;
        counts.left += active && !found && !deep;
        __syncwarp();
        drain_deep<Offset>(plan, map, wait, false, counts);
    }
}

/*
 * Tests the first sources of the unvisited vertices of up to eight words. base: the first
 * vertex of the chunk; pending: its words that have some, of which those done are taken
 * out; word: lane i has word i, and gets the bits of those found, as does settled.
 * initial: no parent was written yet where none was found; every: the chunk has no more
 * than eight words, all of which are gone through.
 */
template <bool every>
__device__ __forceinline__ void pull_first_sources(const plan_t &plan, const tested &map,
                                                   uint32_t base, uint32_t &pending, bool initial,
                                                   waiting &wait, uint32_t &word, uint32_t &settled,
                                                   pull_counts &counts)
{
    const uint32_t lane = threadIdx.x & 31, lower = (1u << lane) - 1;
    int which[8];
    uint32_t source[8], bits[8], open = 0;

#pragma unroll
    for (int k = 0; k < 8; k++) {
        which[k] = every ? k : __ffs(pending) - 1;
        pending &= every ? 0 : pending - 1;
        const uint32_t seen = __shfl_sync(HW_WARP, word, which[k] & 31);
        const bool unvisited = which[k] >= 0 && !has(seen, lane);
        open |= unvisited << k;
        source[k] =
            unvisited ? __ldcs(plan.graph.first + base + which[k] * 32 + lane) : HW_RANK_NONE;
    }
#pragma unroll
    for (int k = 0; k < 8; k++)
        bits[k] = word_of(map, source[k]);
#pragma unroll
    for (int k = 0; k < 8; k++) {
        if (which[k] < 0)
            continue; /* the same in all lanes */
        const uint32_t v = base + which[k] * 32 + lane;
        const bool unvisited = open >> k & 1, hit = has(bits[k], source[k]);
        const bool keep = unvisited && !hit && source[k] != HW_RANK_NONE;
        const uint32_t hits = __ballot_sync(HW_WARP, hit), keeps = __ballot_sync(HW_WARP, keep);
        if (hit || (unvisited && initial))
            __stcs(plan.parent + v, hit ? source[k] : HW_RANK_NONE);
        if (static_cast<int>(lane) == which[k]) {
            word |= hits;
            settled |= hits;
        }
        if (keep)
            wait.near[wait.near_count + __popc(keeps & lower)] = v;
        wait.near_count += __popc(keeps);
        counts.found += hit;
    }
    counts.probes += __popc(open);
}

/* One chunk of `words` words from word `first` on: into the next bitmap. A warp. */
template <typename Offset, int words>
__device__ __forceinline__ void pull_chunk(const plan_t &plan, const tested &map, uint32_t first,
                                           uint32_t word, bool initial, waiting &wait,
                                           pull_counts &counts)
{
    const uint32_t lane = threadIdx.x & 31, at = first + lane;
    const bool own = lane < words && at < words_of(plan);
    uint32_t pending = __ballot_sync(HW_WARP, word != HW_WARP), settled = 0;

    if (own && word == HW_WARP) {
        wait.next[at] = word;
        if (initial)
            plan.settled[at] = 0;
    }
    while (pending) {
        uint32_t done = pending;
        pull_first_sources<words == 8>(plan, map, first * 32, pending, initial, wait, word, settled,
                                       counts);
        done &= ~pending;
        if (done >> lane & 1) {
            wait.next[at] = word;
            if (initial)
                plan.settled[at] = settled;
            else if (settled)
                plan.settled[at] |= settled;
        }
        __syncwarp(); /* those found late add their bits to what is in memory now */
        drain_near<Offset>(plan, map, wait, false, counts);
    }
}

/* The word of this lane in a chunk; all ones where it has none. */
template <int words>
__device__ __forceinline__ uint32_t chunk_word(const plan_t &plan, const tested &map,
                                               uint32_t chunk)
{
    const uint64_t at = static_cast<uint64_t>(chunk) * words + (threadIdx.x & 31);

    return (threadIdx.x & 31) < words && at < words_of(plan) ? map.bits[at] : HW_WARP;
}

/* Chunks, dealt to the blocks in turn, whose warps take them as they come. */
template <typename Offset, int words>
__device__ void pull_chunks(const plan_t &plan, const tested &map, bool initial, uint32_t *ticket,
                            waiting &wait, pull_counts &counts)
{
    const uint32_t chunks = (words_of(plan) + words - 1) / words;
    uint32_t chunk = threadIdx.x / 32 * gridDim.x + blockIdx.x;
    uint32_t word = chunk_word<words>(plan, map, chunk);

    while (chunk < chunks) {
        uint32_t claimed = 0;
        if ((threadIdx.x & 31) == 0)
            claimed = atomicAdd(ticket, 1u);
        const uint32_t following =
            (warps + __shfl_sync(HW_WARP, claimed, 0)) * gridDim.x + blockIdx.x;
        const uint32_t upcoming = chunk_word<words>(plan, map, following); /* on its way */
        pull_chunk<Offset, words>(plan, map, chunk * words, word, initial, wait, counts);
        chunk = following;
        word = upcoming;
    }
    drain_near<Offset>(plan, map, wait, true, counts);
    drain_deep<Offset>(plan, map, wait, true, counts);
}

/* One level bottom-up, all blocks: from the bitmap `seen` to `next`. */
template <typename Offset>
__device__ void pull_level(const plan_t &plan, uint32_t depth, const uint32_t *seen, uint32_t *next,
                           bool initial, uint32_t unvisited, uint4 *room)
{
    __shared__ uint32_t ticket;
    const uint32_t core = plan.graph.core, warp = threadIdx.x / 32, ring = (depth + 1) & 3;
    uint32_t *beside = reinterpret_cast<uint32_t *>(room) + plan.hub_words;
    waiting wait = {beside + warp * near_room, beside + warps * near_room + warp * deep_room, 0, 0,
                    next};
    if (threadIdx.x == 0)
        ticket = 0;
    const tested map = hold(plan, seen, room, unvisited > core / 4 ? unvisited : 0);
    pull_counts counts = {0, 0, 0};

    if (unvisited < core / 64 && words_of(plan) > HW_FUSED_SPARSE * gridDim.x * warps)
        pull_chunks<Offset, HW_FUSED_SPARSE>(plan, map, initial, &ticket, wait, counts);
    else
        pull_chunks<Offset, HW_FUSED_DENSE>(plan, map, initial, &ticket, wait, counts);
    add_counts(&plan.control->probes[ring], counts.probes, &plan.control->found[ring], counts.found,
               &plan.control->left[ring], counts.left);
}

/* Queues what a bottom-up level found, to go on top-down. */
template <typename Offset>
__device__ void queue_finds(const plan_t &plan, uint32_t depth, const uint32_t *seen,
                            const uint32_t *before)
{
    const hw_gpu_graph &graph = plan.graph;
    const uint32_t words = words_of(plan), lane = threadIdx.x & 31;
    uint32_t led = 0;

    for (uint64_t base = hw_first() & ~31ull; base < words; base += hw_stride()) {
        const uint32_t at = static_cast<uint32_t>(base) + lane;
        uint32_t fresh = at < words ? __ldcg(seen + at) & ~__ldcg(before + at) : 0;
        while (__any_sync(HW_WARP, fresh != 0)) {
            const uint32_t v = at * 32 + __ffs(fresh) - 1;
            count64 mine = 0, start = 0;
            if (fresh) {
                const uint4 about = about_vertex(graph, v);
                mine = packed(about.x);
                led += about.y;
            }
            fresh &= fresh - 1;
            const count64 sum = warp_scan(mine);
            if (lane == 31 && sum)
                start = atomicAdd(&plan.control->queue[depth & 3], sum);
            start = __shfl_sync(HW_WARP, start, 31) + sum - mine;
            if (mine) {
                plan.queue[depth & 1][vertices_of(start)] = v;
                static_cast<Offset *>(plan.prefix[depth & 1])[vertices_of(start)] =
                    static_cast<Offset>(edges_of(start));
            }
        }
    }
    led = warp_sum(led);
    if (lane == 0 && led)
        atomicAdd(&plan.control->led[depth & 3], static_cast<count64>(led));
}

/* ---- the end ---- */

/* The parent of a vertex of degree 1 with that only source. */
__device__ __forceinline__ uint32_t leaf_parent(const tested &map, uint32_t v, uint32_t source,
                                                uint32_t root)
{
    const bool reached = source == root || has(word_of(map, source), source);

    return v == root ? root : reached && source != HW_RANK_NONE ? source : HW_RANK_NONE;
}

/* Vertices of degree 1, four a thread; settled gets a bit where the only source is the
 * parent. */
__device__ void settle_leaves(const plan_t &plan, const uint32_t *seen, uint32_t root, uint4 *room)
{
    const hw_gpu_graph &graph = plan.graph;
    const uint32_t leaves = graph.active - graph.core, fours = (leaves + 3) / 4;
    const uint32_t lane = threadIdx.x & 31;

    if (leaves == 0)
        return;
    const tested map = hold(plan, seen, room, leaves);
    const uint4 *first = reinterpret_cast<const uint4 *>(graph.first + graph.core);
    for (uint64_t i = hw_first(); i - lane < fours; i += hw_stride()) {
        const uint32_t v = graph.core + 4 * static_cast<uint32_t>(i);
        uint4 parent = make_uint4(HW_RANK_NONE, HW_RANK_NONE, HW_RANK_NONE, HW_RANK_NONE);
        if (i < fours) {
            const uint4 source = __ldcs(first + i); /* past the end there is room, not sense */
            parent = make_uint4(
                leaf_parent(map, v, source.x, root), leaf_parent(map, v + 1, source.y, root),
                leaf_parent(map, v + 2, source.z, root), leaf_parent(map, v + 3, source.w, root));
        }
        uint32_t bits = (parent.x != HW_RANK_NONE && v != root) |
                        (parent.y != HW_RANK_NONE && v + 1 != root) << 1 |
                        (parent.z != HW_RANK_NONE && v + 2 != root) << 2 |
                        (parent.w != HW_RANK_NONE && v + 3 != root) << 3;
        bits <<= 4 * (lane & 7);
        for (int half = 1; half < 8; half *= 2)
            bits |= __shfl_xor_sync(HW_WARP, bits, half);
        if (i < fours && (lane & 7) == 0)
            plan.settled[graph.core / 32 + i / 8] = bits;
        if (4 * i + 3 < leaves) {
            __stcs(reinterpret_cast<uint4 *>(plan.parent + v), parent);
            continue;
        }
        const uint32_t last[4] = {parent.x, parent.y, parent.z, parent.w};
        for (uint32_t k = 0; k < 4 && 4 * i + k < leaves; k++)
            plan.parent[v + k] = last[k];
    }
}

/* Where nothing was pulled: what was not visited has no parent, and no vertex is marked as
 * settled by its first source. */
__device__ void settle_unvisited(const plan_t &plan, const uint32_t *seen)
{
    const uint32_t lane = threadIdx.x & 31, words = words_of(plan);

    for (uint64_t w = hw_first() / 32; w < words; w += hw_stride() / 32) {
        const uint32_t word = __ldcg(seen + w);
        if (!has(word, lane))
            plan.parent[w * 32 + lane] = HW_RANK_NONE;
        if (lane == 0)
            plan.settled[w] = 0;
    }
}

/* ---- what comes next ---- */

/* Clears the counters two levels ahead. */
__device__ __forceinline__ void clear_ahead(const plan_t &plan, uint32_t depth)
{
    const uint32_t ring = (depth + 2) & 3;
    hw_fused_control *control = plan.control;

    if (blockIdx.x != 0 || threadIdx.x != 0)
        return;
    control->queue[ring] = control->probes[ring] = control->led[ring] = 0;
    control->found[ring] = control->left[ring] = 0;
}

/* Whether pulling the next level costs less than pushing it. edges: of the frontier;
 * all: those not pushed so far; led: vertices whose first source is in the frontier. */
__device__ __forceinline__ bool better_pulled(const plan_t &plan, count64 edges, count64 all,
                                              count64 led, uint32_t unvisited)
{
    const float push = push_edge * static_cast<float>(edges);

    if (plan.direction != 0)
        return plan.direction == bottom_up;
    if (push < pull_fixed)
        return false;
    const float share = static_cast<float>(edges) / static_cast<float>(max(all, edges));
    const int at = min(static_cast<int>(-2.0f * log2f(share)), HW_FUSED_SHARES - 1);
    const float rest = unvisited > led ? static_cast<float>(unvisited - led) : 0.0f;
    const float pull =
        pull_fixed + pull_first * unvisited + pull_probe * rest * plan.probes[at > 0 ? at : 0];
    return pull < push;
}

/* Whether to go on top-down after a level found bottom-up. */
__device__ __forceinline__ bool better_pushed(const plan_t &plan, uint32_t found, uint32_t left)
{
    const count64 degree = plan.graph.edges / (plan.graph.active + 1) + 1;

    if (plan.direction != 0)
        return plan.direction == top_down;
    return found < 1024 || found * degree < (left + words_of(plan)) / 4;
}

/* Levels bottom-up, from depth on, until it is better to push or nothing is found.
 * Returns whether the search goes on. seen and spare change places after each level. */
template <typename Offset>
__device__ bool pull_levels(const plan_t &plan, cg::grid_group &grid, uint32_t &depth,
                            uint32_t frontier, uint32_t &reached, uint32_t **seen, uint32_t **spare,
                            bool &initial, uint4 *room, uint32_t &rows)
{
    for (;;) {
        const uint32_t ring = (depth + 1) & 3,
                       unvisited = plan.graph.core - min(reached, plan.graph.core);
        clear_ahead(plan, depth);
        pull_level<Offset>(plan, depth, *seen, *spare, initial, unvisited, room);
        grid.sync();
        const uint32_t found = latest(&plan.control->found[ring]);
        const uint32_t left = latest(&plan.control->left[ring]);
        keep_row(plan, rows, HW_ROUTINE_PULL, frontier, found, latest(&plan.control->probes[ring]));
        uint32_t *swap = *seen;
        *seen = *spare;
        *spare = swap;
        initial = false;
        reached += found;
        frontier = found;
        depth++;
        if (found == 0 || left == 0)
            return false;
        if (!better_pushed(plan, found, left))
            continue;
        queue_finds<Offset>(plan, depth, *seen, *spare);
        grid.sync();
        return true;
    }
}

/* A level top-down whose finds are not queued, because the next one will most likely be
 * pulled: that saves half the time where most of what is found is new. Returns how many
 * were found. */
template <typename Offset>
__device__ uint32_t push_unqueued(const plan_t &plan, cg::grid_group &grid, uint32_t depth,
                                  uint32_t *seen, uint32_t *spare, uint4 *room)
{
    keep_bits(plan, seen, spare);
    grid.sync();
    push_level<Offset, false>(plan, depth, seen, room);
    grid.sync();
    return latest(&plan.control->found[(depth + 1) & 3]);
}

/* The same with a queue. */
template <typename Offset>
__device__ uint32_t push_queued(const plan_t &plan, cg::grid_group &grid, uint32_t depth,
                                uint32_t *seen, uint4 *room)
{
    push_level<Offset, true>(plan, depth, seen, room);
    grid.sync();
    return vertices_of(latest(&plan.control->queue[(depth + 1) & 3])) +
           latest(&plan.control->found[(depth + 1) & 3]);
}

/* How the next level is found. */
enum way { in_block, queued, unqueued, pulled };

__device__ __forceinline__ way choose(const plan_t &plan, uint32_t depth, uint32_t reached,
                                      count64 pushed, count64 queue)
{
    const count64 edges = edges_of(queue), stored = plan.graph.edges;

    if (depth > 0 && better_pulled(plan, edges, stored - min(pushed, stored),
                                   latest(&plan.control->led[depth & 3]),
                                   plan.graph.core - min(reached, plan.graph.core)))
        return pulled;
    if (vertices_of(queue) <= plan.block_vertices && edges <= plan.block_edges / 2)
        return in_block;
    return plan.direction == 0 && edges > unqueued_least && edges > stored / unqueued_share
               ? unqueued
               : queued;
}

template <typename Offset>
__global__ void __launch_bounds__(threads, 1)
    search(const __grid_constant__ plan_t plan, uint32_t root)
{
    extern __shared__ uint4 room[];
    cg::grid_group grid = cg::this_grid();
    uint32_t *seen = plan.bits[0], *spare = plan.bits[1];
    uint32_t depth = 0, reached = 1, rows = 0;
    count64 pushed = 0;
    bool initial = true;

    begin<Offset>(plan, root);
    grid.sync();
    for (;;) {
        const count64 queue = latest(&plan.control->queue[depth & 3]), edges = edges_of(queue);
        uint32_t frontier = vertices_of(queue), found = 0;
        const way chosen = choose(plan, depth, reached, pushed, queue);
        bool pull = chosen == pulled;
        if (frontier == 0)
            break;
        pushed += edges;
        if (chosen == in_block) {
            if (blockIdx.x == 0)
                small_levels<Offset>(plan, depth, reached, seen, room, rows);
            grid.sync();
            depth = latest(&plan.control->depth);
            reached = latest(&plan.control->reached);
        } else if (!pull) {
            clear_ahead(plan, depth);
            found = chosen == queued ? push_queued<Offset>(plan, grid, depth, seen, room)
                                     : push_unqueued<Offset>(plan, grid, depth, seen, spare, room);
            keep_row(plan, rows, chosen == queued ? HW_ROUTINE_PUSH : HW_ROUTINE_PUSH_ONLY,
                     frontier, found, edges);
            reached += found;
            depth++;
            frontier = found;
            pull = chosen == unqueued && found > plan.graph.core / 64;
            if (chosen == unqueued && !pull) {
                queue_finds<Offset>(plan, depth, seen, spare);
                grid.sync();
            }
        }
        if (pull && !pull_levels<Offset>(plan, grid, depth, frontier, reached, &seen, &spare,
                                         initial, room, rows))
            break;
    }
    if (initial)
        settle_unvisited(plan, seen);
    settle_leaves(plan, seen, root, room);
    if (plan.row) {
        grid.sync(); /* so that the row ends with the last block */
        keep_row(plan, rows, HW_ROUTINE_LEAVES, 0, 0, plan.graph.active - plan.graph.core);
        if (hw_first() == 0) {
            plan.control->rows = rows;
            plan.control->ended = static_cast<count64>(clock64());
            plan.control->ended_time = nanoseconds();
        }
    }
}

const void *kernel_of(const hw_fused_plan *plan)
{
    return plan->graph.wide ? reinterpret_cast<const void *>(search<uint64_t>)
                            : reinterpret_cast<const void *>(search<uint32_t>);
}

} // namespace

int hw_fused_launch_shape(hw_fused_plan *plan, hw_fused_shape *shape)
{
    const uint32_t width = plan->graph.wide ? 8 : 4;
    const void *kernel = kernel_of(plan);
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
    const uint32_t pull_beside = warps * (near_room + deep_room) * 4;
    plan->tile = 4 * threads * (width + 8) <= left ? 4 : 2;
    const uint32_t bits = (plan->graph.core + 31) / 32 * 4, each = 2 * (width + 8) + 4;
    plan->block_vertices = 4096 * each + bits <= left ? 4096 : 2048 * each <= left ? 2048 : 1024;
    plan->block_edges = 6144;
    plan->hub_words = min(left - pull_beside, 160u << 10) / 16 * 4;
    const uint32_t queues = plan->block_vertices * each;
    plan->block_holds = bits <= left - queues;
    shape->shared_bytes =
        max(max(plan->tile * threads * (width + 8), queues + (plan->block_holds ? bits : 0)),
            plan->hub_words * 4 + pull_beside);
    error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 static_cast<int>(shape->shared_bytes));
    if (error == cudaSuccess)
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, threads,
                                                              shape->shared_bytes);
    if (error == cudaSuccess && resident < 1)
        error = cudaErrorLaunchOutOfResources;
    shape->blocks = processors;
    return error;
}

int hw_fused_launch(const hw_fused_plan *plan, const hw_fused_shape *shape, uint32_t root)
{
    void *arguments[] = {const_cast<hw_fused_plan *>(plan), &root};

    return cudaLaunchCooperativeKernel(kernel_of(plan), dim3(shape->blocks), dim3(threads),
                                       arguments, shape->shared_bytes, nullptr);
}
