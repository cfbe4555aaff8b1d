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
 *              left are compacted in the warp and look at the next four sources, one
 *              load, then at the rest of the list. Words of the next bitmap are made by
 *              ballot, without atomic operations but for the few found late.
 *
 * A level is pulled when that is the less work by estimate: how many vertices have their
 * first source in the frontier is counted while it is found, and how far the others have
 * to look follows from the share of the edges that the frontier has and from the degrees.
 *
 * Vertices of degree 1 are left out until the end: their parent is their only neighbour,
 * if that one was reached. Isolated ones are written at the beginning.
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
constexpr float push_edge = 12, pull_first = 5, pull_probe = 4, pull_fixed = 5e6;

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
    if (root < plan.graph.active)
        plan.control->queue[0] = packed(hw_begin<Offset>(plan.graph.out, root + 1) -
                                        hw_begin<Offset>(plan.graph.out, root));
    plan.queue[0][0] = root;
    static_cast<Offset *>(plan.prefix[0])[0] = 0;
    plan.parent[root] = root;
    plan.control->begun = static_cast<count64>(clock64());
    plan.control->begun_time = nanoseconds();
}

/* Marks nothing but the root as visited; isolated vertices stay unreached. */
template <typename Offset> __device__ void begin(const plan_t &plan, uint32_t root)
{
    const hw_gpu_graph &graph = plan.graph;
    const uint32_t words = words_of(plan), rest = graph.core & 31;
    const uint4 none = make_uint4(HW_RANK_NONE, HW_RANK_NONE, HW_RANK_NONE, HW_RANK_NONE);

    if (blockIdx.x == 0)
        begin_counters<Offset>(plan, root);
    for (uint64_t w = hw_first(); w < words; w += hw_stride()) {
        uint32_t seen = w == words - 1 && rest ? HW_WARP << rest : 0; /* no such vertices */
        if (root < graph.core && w == root / 32)
            seen |= 1u << (root & 31);
        plan.bits[0][w] = seen;
    }
    const uint64_t from = (static_cast<uint64_t>(graph.active) + 3) / 4, to = graph.vertices / 4;
    for (uint64_t i = from + hw_first(); i < to; i += hw_stride())
        if (i != root / 4)
            __stcs(reinterpret_cast<uint4 *>(plan.parent) + i, none);
    if (hw_first() < 12) { /* what does not fill a vector, and the root's vector */
        const uint32_t k = static_cast<uint32_t>(hw_first()) & 3, which = threadIdx.x / 4;
        const uint64_t start = which == 0 ? from * 4 - 4 : which == 1 ? to * 4 : root / 4 * 4ull;
        const uint64_t v = start + k;
        if ((which > 0 || from > 0) && v >= graph.active && v < graph.vertices && v != root)
            plan.parent[v] = HW_RANK_NONE;
    }
}

/* ---- one block ---- */

/* A queue in shared memory. */
template <typename Offset> struct small_queue {
    Offset *begin;    /* of each vertex's list */
    uint32_t *prefix; /* edges before it */
    uint32_t *vertex;
};

template <typename Offset>
__device__ __forceinline__ small_queue<Offset> small_at(uint4 *room, uint32_t capacity,
                                                        uint32_t half)
{
    Offset *begin = reinterpret_cast<Offset *>(room) + half * capacity;
    uint32_t *words = reinterpret_cast<uint32_t *>(reinterpret_cast<Offset *>(room) + 2 * capacity);

    return {begin, words + half * capacity, words + (2 + half) * capacity};
}

/* What a level of one block adds up; in turns of three, cleared two ahead. */
struct small_tally {
    count64 queue[3];
    uint32_t led[3], endless[3]; /* endless: found, but without a list */
};

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

/* One level: expands `from`, whose edges are counted, into `to` and the queue of the
 * next level in memory. */
template <typename Offset>
__device__ void small_level(const plan_t &plan, uint32_t depth, uint32_t *seen,
                            const small_queue<Offset> &from, uint32_t count, uint32_t edges,
                            const small_queue<Offset> &to, small_tally &tally)
{
    const hw_gpu_graph &graph = plan.graph;
    const uint32_t next = (depth + 1) % 3;
    uint32_t *queue = plan.queue[(depth + 1) & 1];
    Offset *prefix = static_cast<Offset *>(plan.prefix[(depth + 1) & 1]);

    for (uint32_t base = threadIdx.x & ~31u; base < edges; base += threads) {
        const uint32_t edge = base + (threadIdx.x & 31);
        count64 mine = 0;
        uint32_t v = 0;
        Offset begin = 0;
        if (edge < edges) {
            const uint32_t slot = slot_of(from.prefix, count, edge);
            v = __ldg(graph.out.rank + from.begin[slot] + (edge - from.prefix[slot]));
            const uint32_t bit = 1u << (v & 31);
            if (v < graph.core && !(atomicOr(seen + v / 32, bit) & bit)) {
                begin = hw_begin<Offset>(graph.out, v);
                mine = packed(hw_begin<Offset>(graph.out, v + 1) - begin);
                plan.parent[v] = from.vertex[slot];
                atomicAdd(&tally.led[next], __ldg(graph.led + v));
                if (!mine)
                    atomicAdd(&tally.endless[next], 1u);
            }
        }
        if (!__any_sync(HW_WARP, mine != 0))
            continue;
        const count64 sum = warp_scan(mine);
        count64 start = 0;
        if ((threadIdx.x & 31) == 31)
            start = atomicAdd(&tally.queue[next], sum);
        start = __shfl_sync(HW_WARP, start, 31) + sum - mine;
        if (!mine)
            continue;
        const uint32_t slot = vertices_of(start);
        if (slot < plan.block_vertices) {
            to.begin[slot] = begin;
            to.prefix[slot] = static_cast<uint32_t>(edges_of(start));
            to.vertex[slot] = v;
        }
        queue[slot] = v;
        prefix[slot] = static_cast<Offset>(edges_of(start));
    }
}

/* Leaves all as a level of the whole grid expects it. One thread of block 0. */
__device__ void hand_over(const plan_t &plan, uint32_t depth, uint32_t reached, count64 queue,
                          uint32_t led)
{
    hw_fused_control *control = plan.control;

    for (int ring = 0; ring < 4; ring++) {
        control->queue[ring] = control->probes[ring] = control->led[ring] = 0;
        control->found[ring] = control->left[ring] = control->ticket[ring] = 0;
    }
    control->queue[depth & 3] = queue;
    control->led[depth & 3] = led;
    control->depth = depth;
    control->reached = reached;
}

/* Levels in one block, from the queue of level depth, until the frontier is empty or too
 * large. Block 0. */
template <typename Offset>
__device__ void small_levels(const plan_t &plan, uint32_t depth, uint32_t reached, uint32_t *seen,
                             uint4 *room, uint32_t &rows)
{
    __shared__ small_tally tally;
    count64 queue = latest(&plan.control->queue[depth & 3]);
    small_queue<Offset> from = small_at<Offset>(room, plan.block_vertices, depth & 1);

    for (uint32_t i = threadIdx.x; i < vertices_of(queue); i += threads) {
        from.vertex[i] = __ldcg(plan.queue[depth & 1] + i);
        from.prefix[i] =
            static_cast<uint32_t>(__ldcg(static_cast<Offset *>(plan.prefix[depth & 1]) + i));
        from.begin[i] = hw_begin<Offset>(plan.graph.out, from.vertex[i]);
    }
    if (threadIdx.x < 3)
        tally.queue[threadIdx.x] = tally.led[threadIdx.x] = tally.endless[threadIdx.x] = 0;
    __syncthreads();
    for (;;) {
        const uint32_t count = vertices_of(queue), edges = static_cast<uint32_t>(edges_of(queue));
        const uint32_t next = (depth + 1) % 3, later = (depth + 2) % 3;
        if (threadIdx.x == 0)
            tally.queue[later] = tally.led[later] = tally.endless[later] = 0;
        small_level<Offset>(plan, depth, seen,
                            small_at<Offset>(room, plan.block_vertices, depth & 1), count, edges,
                            small_at<Offset>(room, plan.block_vertices, (depth + 1) & 1), tally);
        __syncthreads();
        queue = tally.queue[next];
        const uint32_t found = vertices_of(queue) + tally.endless[next];
        keep_row(plan, rows, HW_ROUTINE_BLOCK, count, found, edges);
        reached += found;
        depth++;
        if (!queue || vertices_of(queue) > plan.block_vertices ||
            edges_of(queue) > plan.block_edges || plan.direction == bottom_up)
            break;
    }
    if (threadIdx.x == 0)
        hand_over(plan, depth, reached, queue, tally.led[depth % 3]);
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

/* Visits up to four edges of a tile for each thread. */
template <typename Offset>
__device__ __forceinline__ void
visit(const plan_t &plan, uint32_t *seen, const tile_slots<Offset> &slots, uint32_t count,
      uint32_t edges, tile_finds &finds, uint32_t &led, uint32_t &endless)
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
        finds.mine[k] =
            packed(hw_begin<Offset>(graph.out, v[k] + 1) - hw_begin<Offset>(graph.out, v[k]));
        led += __ldg(graph.led + v[k]);
        endless += finds.mine[k] == 0;
    }
}

/* Adds what all threads of the block counted to two counters of the device. */
__device__ void add_counts(unsigned long long *to, uint32_t a, uint32_t *also, uint32_t b)
{
    __shared__ uint32_t sum[2];

    __syncthreads();
    if (threadIdx.x < 2)
        sum[threadIdx.x] = 0;
    __syncthreads();
    a = warp_sum(a);
    b = warp_sum(b);
    if ((threadIdx.x & 31) == 0 && (a | b)) {
        atomicAdd(&sum[0], a);
        atomicAdd(&sum[1], b);
    }
    __syncthreads();
    if (threadIdx.x == 0 && sum[0])
        atomicAdd(to, static_cast<count64>(sum[0]));
    if (threadIdx.x == 0 && sum[1])
        atomicAdd(also, sum[1]);
}

/* One level top-down, all blocks. */
template <typename Offset>
__device__ void push_level(const plan_t &plan, uint32_t depth, uint32_t *seen, uint4 *room)
{
    __shared__ uint32_t ends[2];
    hw_fused_control *control = plan.control;
    const count64 frontier = latest(&control->queue[depth & 3]), edges = edges_of(frontier);
    const uint32_t *queue = plan.queue[depth & 1];
    const Offset *prefix = static_cast<Offset *>(plan.prefix[depth & 1]);
    const count64 round = static_cast<count64>(gridDim.x) * threads;
    const uint32_t deep = edges >= 4 * round ? 4 : edges >= 2 * round ? 2 : 1;
    const uint32_t tile = threads * min(deep, plan.tile);
    Offset *begins = reinterpret_cast<Offset *>(room);
    uint32_t *words = reinterpret_cast<uint32_t *>(begins + threads * plan.tile);
    const tile_slots<Offset> slots = {begins, words, words + threads * plan.tile};
    uint32_t led = 0, endless = 0;

    for (count64 base = blockIdx.x * static_cast<count64>(tile); base < edges;
         base += gridDim.x * static_cast<count64>(tile)) {
        const uint32_t length =
            static_cast<uint32_t>(min(static_cast<count64>(tile), edges - base));
        const uint32_t warp = threadIdx.x / 32;
        tile_finds finds;
        if (warp < 2) {
            const uint32_t slot =
                warp_slot<Offset>(prefix, vertices_of(frontier), warp ? base + length - 1 : base);
            if ((threadIdx.x & 31) == 0)
                ends[warp] = slot;
        }
        __syncthreads();
        const uint32_t slot = ends[0], count = ends[1] - slot + 1;
        for (uint32_t i = threadIdx.x; i < count; i += threads) {
            const uint32_t v = __ldcg(queue + slot + i);
            const count64 before = __ldcg(prefix + slot + i);
            slots.prefix[i] = before <= base ? 0 : static_cast<uint32_t>(before - base);
            slots.begin[i] =
                hw_begin<Offset>(plan.graph.out, v) + static_cast<Offset>(base - before);
            slots.vertex[i] = v;
        }
        __syncthreads();
        visit<Offset>(plan, seen, slots, count, length, finds, led, endless);
        if (__syncthreads_or((finds.mine[0] | finds.mine[1] | finds.mine[2] | finds.mine[3]) != 0))
            enqueue<Offset>(plan, depth, finds);
    }
    add_counts(&control->led[(depth + 1) & 3], led, &control->found[(depth + 1) & 3], endless);
}

/* ---- bottom-up ---- */

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

/* Copies the beginning of a bitmap to shared memory. All threads of the block. */
__device__ __forceinline__ tested hold(const plan_t &plan, const uint32_t *bits, uint4 *room,
                                       bool hubs)
{
    const uint32_t words = hubs ? min(plan.hub_words, words_of(plan) & ~3u) : 0;

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

/* What a warp works with. */
struct pull_room {
    uint16_t *kept; /* [words * 32] vertices of the chunk that their first source leaves */
    uint32_t *late; /* [words] bits of those found after all */
};

/* The source that settles v among the four after the first, and whether there are more. */
__device__ __forceinline__ uint32_t probe_next(const plan_t &plan, const tested &map, uint32_t v,
                                               bool &more, uint32_t &probes)
{
    const uint4 next = __ldg(reinterpret_cast<const uint4 *>(plan.graph.next) + v);
    const uint32_t x = word_of(map, next.x), y = word_of(map, next.y);
    const uint32_t z = word_of(map, next.z), w = word_of(map, next.w);

    more = next.w < map.core;
    probes += (next.x < map.core) + (next.y < map.core) + (next.z < map.core) + more;
    if (has(x, next.x))
        return next.x;
    if (has(y, next.y))
        return next.y;
    if (has(z, next.z))
        return next.z;
    return has(w, next.w) ? next.w : HW_RANK_NONE;
}

/* The same in list elements [*at, end), four at a time, 64 at most. Lists ascend, so
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

/* Goes on with the vertices that their first source left. base: the chunk's first vertex. */
template <typename Offset>
__device__ __forceinline__ void pull_rest(const plan_t &plan, const tested &map, uint32_t base,
                                          uint32_t kept, const pull_room &room, pull_counts &counts)
{
    const uint32_t lane = threadIdx.x & 31;

    for (uint32_t k = 0; k < kept; k += 32) {
        const bool active = k + lane < kept;
        const uint32_t within = active ? room.kept[k + lane] : 0, v = base + within;
        uint32_t parent = HW_RANK_NONE;
        Offset at = 0, end = 0;
        if (active) {
            bool more;
            parent = probe_next(plan, map, v, more, counts.probes);
            if (parent == HW_RANK_NONE && more) {
                at = hw_begin<Offset>(plan.graph.in, v) + 5;
                end = hw_begin<Offset>(plan.graph.in, v + 1);
                if (at < end)
                    parent = probe_list<Offset>(plan, map, &at, end, counts.probes);
            }
        }
        uint32_t waiting = __ballot_sync(HW_WARP, active && parent == HW_RANK_NONE && at < end);
        while (waiting) {
            const int from = __ffs(waiting) - 1;
            waiting &= waiting - 1;
            const uint32_t found =
                probe_warp<Offset>(plan, map, __shfl_sync(HW_WARP, at, from),
                                   __shfl_sync(HW_WARP, end, from), counts.probes);
            if (static_cast<int>(lane) == from)
                parent = found;
        }
        if (active && parent != HW_RANK_NONE) {
            plan.parent[v] = parent;
            atomicOr(room.late + within / 32, 1u << (within & 31));
            counts.found++;
        } else if (active) {
            counts.left++;
        }
    }
}

/*
 * Tests the first sources of a chunk's unvisited vertices, eight words at once. pending:
 * its words that have some; word: lane i has word i, and gets the bits of those found,
 * as does settled. initial: no parent was written yet where none was found.
 * Returns how many vertices are kept for more.
 */
__device__ __forceinline__ uint32_t pull_first_sources(const plan_t &plan, const tested &map,
                                                       uint32_t base, uint32_t pending,
                                                       bool initial, const pull_room &room,
                                                       uint32_t &word, uint32_t &settled,
                                                       pull_counts &counts)
{
    const uint32_t lane = threadIdx.x & 31, lower = (1u << lane) - 1;
    uint32_t kept = 0;

    while (pending) {
        int which[8];
        uint32_t source[8], bits[8];
        bool open[8];
#pragma unroll
        for (int k = 0; k < 8; k++) {
            which[k] = __ffs(pending) - 1;
            pending &= pending - 1;
            const uint32_t seen = __shfl_sync(HW_WARP, word, which[k] & 31);
            open[k] = which[k] >= 0 && !has(seen, lane);
            source[k] =
                open[k] ? __ldcs(plan.graph.first + base + which[k] * 32 + lane) : HW_RANK_NONE;
        }
#pragma unroll
        for (int k = 0; k < 8; k++)
            bits[k] = word_of(map, source[k]);
#pragma unroll
        for (int k = 0; k < 8; k++) {
            if (which[k] < 0)
                continue; /* the same in all lanes */
            const uint32_t within = which[k] * 32 + lane;
            const bool hit = has(bits[k], source[k]) && source[k] != HW_RANK_NONE;
            const bool keep = open[k] && !hit && source[k] != HW_RANK_NONE;
            const uint32_t hits = __ballot_sync(HW_WARP, hit);
            const uint32_t keeps = __ballot_sync(HW_WARP, keep);
            if (open[k] && (hit || initial))
                __stcs(plan.parent + base + within, hit ? source[k] : HW_RANK_NONE);
            if (static_cast<int>(lane) == which[k]) {
                word |= hits;
                settled |= hits;
            }
            if (keep)
                room.kept[kept + __popc(keeps & lower)] = static_cast<uint16_t>(within);
            kept += __popc(keeps);
            counts.found += hit;
            counts.probes += open[k];
        }
    }
    return kept;
}

/* One chunk of `words` words from word `first` on: into the next bitmap. A warp. */
template <typename Offset, int words>
__device__ __forceinline__ void pull_chunk(const plan_t &plan, const tested &map, uint32_t first,
                                           uint32_t *next, bool initial, const pull_room &room,
                                           pull_counts &counts)
{
    const uint32_t lane = threadIdx.x & 31, at = first + lane;
    const bool own = lane < words && at < words_of(plan);
    uint32_t word = own ? map.bits[at] : HW_WARP, settled = 0, late = 0;
    const uint32_t pending = __ballot_sync(HW_WARP, word != HW_WARP);

    if (pending) {
        if (lane < words)
            room.late[lane] = 0;
        __syncwarp();
        const uint32_t kept = pull_first_sources(plan, map, first * 32, pending, initial, room,
                                                 word, settled, counts);
        __syncwarp();
        pull_rest<Offset>(plan, map, first * 32, kept, room, counts);
        __syncwarp();
        if (lane < words)
            late = room.late[lane];
        __syncwarp();
    }
    if (!own)
        return;
    next[at] = word | late;
    if (initial)
        plan.settled[at] = settled;
    else if (settled)
        plan.settled[at] |= settled;
}

/* Chunks, as warps claim them. */
template <typename Offset, int words>
__device__ void pull_chunks(const plan_t &plan, uint32_t depth, const tested &map, uint32_t *next,
                            bool initial, const pull_room &room, pull_counts &counts)
{
    const uint32_t chunks = (words_of(plan) + words - 1) / words, all = gridDim.x * warps;
    const bool first_lane = (threadIdx.x & 31) == 0;
    uint32_t chunk = threadIdx.x / 32 * gridDim.x + blockIdx.x;

    while (chunk < chunks) {
        uint32_t following = 0;
        if (first_lane) /* asked for early, needed late */
            following = all + atomicAdd(&plan.control->ticket[depth & 3], 1u);
        pull_chunk<Offset, words>(plan, map, chunk * words, next, initial, room, counts);
        chunk = __shfl_sync(HW_WARP, following, 0);
    }
}

/* One level bottom-up, all blocks: from the bitmap `seen` to `next`. dense: most vertices
 * are unvisited. */
template <typename Offset>
__device__ void pull_level(const plan_t &plan, uint32_t depth, const uint32_t *seen, uint32_t *next,
                           bool initial, bool dense, uint4 *room)
{
    const uint32_t warp = threadIdx.x / 32, ring = (depth + 1) & 3;
    uint32_t *beside = reinterpret_cast<uint32_t *>(room) + plan.hub_words;
    uint16_t *kept = reinterpret_cast<uint16_t *>(beside + warps * HW_FUSED_SPARSE);
    const pull_room own = {kept + warp * HW_FUSED_SPARSE * 32, beside + warp * HW_FUSED_SPARSE};
    const tested map = hold(plan, seen, room, dense);
    pull_counts counts = {0, 0, 0};

    if (dense)
        pull_chunks<Offset, HW_FUSED_DENSE>(plan, depth, map, next, initial, own, counts);
    else
        pull_chunks<Offset, HW_FUSED_SPARSE>(plan, depth, map, next, initial, own, counts);
    add_counts(&plan.control->probes[ring], counts.probes, &plan.control->found[ring],
               counts.found);
    add_counts(&plan.control->led[ring], 0, &plan.control->left[ring], counts.left);
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
                mine = packed(hw_begin<Offset>(graph.out, v + 1) - hw_begin<Offset>(graph.out, v));
                led += graph.led[v];
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
    const tested map = hold(plan, seen, room, leaves > 1u << 18);
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
    control->found[ring] = control->left[ring] = control->ticket[ring] = 0;
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
        pull_level<Offset>(plan, depth, *seen, *spare, initial, unvisited > plan.graph.core / 8,
                           room);
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

template <typename Offset>
__global__ void __launch_bounds__(threads, 1) search(const plan_t plan, uint32_t root)
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
        const uint32_t frontier = vertices_of(queue);
        const count64 stored = plan.graph.edges, all = stored - min(pushed, stored);
        if (frontier == 0)
            break;
        const bool pull =
            depth > 0 && better_pulled(plan, edges, all, latest(&plan.control->led[depth & 3]),
                                       plan.graph.core - min(reached, plan.graph.core));
        pushed += edges;
        if (pull) {
            if (!pull_levels<Offset>(plan, grid, depth, frontier, reached, &seen, &spare, initial,
                                     room, rows))
                break;
        } else if (frontier <= plan.block_vertices && edges <= plan.block_edges / 2) {
            if (blockIdx.x == 0)
                small_levels<Offset>(plan, depth, reached, seen, room, rows);
            grid.sync();
            depth = latest(&plan.control->depth);
            reached = latest(&plan.control->reached);
        } else {
            clear_ahead(plan, depth);
            push_level<Offset>(plan, depth, seen, room);
            grid.sync();
            const uint32_t found = vertices_of(latest(&plan.control->queue[(depth + 1) & 3])) +
                                   latest(&plan.control->found[(depth + 1) & 3]);
            keep_row(plan, rows, HW_ROUTINE_PUSH, frontier, found, edges);
            reached += found;
            depth++;
        }
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
    const uint32_t pull_beside = warps * HW_FUSED_SPARSE * (4 + 32 * 2);
    plan->tile = 4 * threads * (width + 8) <= left ? 4 : 2;
    plan->block_vertices = 4096 * (2 * (width + 8)) <= left ? 4096 : 1024;
    plan->block_edges = 8192;
    plan->hub_words = min(left - pull_beside, 160u << 10) / 16 * 4;
    shape->shared_bytes =
        max(max(plan->tile * threads * (width + 8), plan->block_vertices * 2 * (width + 8)),
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
