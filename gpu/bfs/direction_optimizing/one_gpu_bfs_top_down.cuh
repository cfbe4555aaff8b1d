/*
 * Method `fused`: levels top-down on the whole grid.
 *
 * The edges of the queue are cut into equal tiles; a block finds the vertices of its tile
 * by a search in the prefix sums ("A New GPU-based parallel BFS": merge-path style
 * redistribution), and the visited bitmap says by one atomic operation who was first.
 */
#ifndef HOPWAVE_GPU_BFS_DIRECTION_OPTIMIZING_ONE_GPU_BFS_TOP_DOWN_CUH
#define HOPWAVE_GPU_BFS_DIRECTION_OPTIMIZING_ONE_GPU_BFS_TOP_DOWN_CUH

#include "gpu/bfs/direction_optimizing/one_gpu_bfs_single_cta.cuh"
#include "gpu/graph/device_graph.cuh"

namespace
{

/* The slots of one tile, or of the whole queue, in shared memory: entries of [4 threads]
 * each at most. */
template <typename Offset> struct tile_slots {
    Offset *begin;    /* of the list, less the edges before it */
    uint32_t *prefix; /* edges before it */
    uint32_t *vertex;
};

/* What one thread found of a tile. */
struct tile_finds {
    uint32_t vertex[4];
    count64 mine[4]; /* packed */
};

/* What one thread adds up on a level. */
struct push_counts {
    uint32_t led, found; /* found: those that are not queued */
};

/* Adds the finds of a block to the queue of the next level. */
template <typename Offset>
__device__ void enqueue(const kernel_params &plan, hw_one_gpu_bfs_phase &phase, uint32_t depth,
                        const tile_finds &finds)
{
    __shared__ count64 start[warps];
    const int lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    uint32_t *queue = plan.queue[(depth + 1) & 1];
    Offset *prefix = static_cast<Offset *>(plan.prefix[(depth + 1) & 1]);
    const count64 mine = finds.mine[0] + finds.mine[1] + finds.mine[2] + finds.mine[3];
    const count64 sum = hw_warp_scan(mine);

    if (lane == 31)
        start[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        const count64 own = lane < warps ? start[lane] : 0, to = hw_warp_scan(own);
        count64 base = 0;
        if (lane == 31)
            base = atomicAdd(&phase.queue, to);
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

/* What an edge of the slots leads to, or HW_INVALID_VERTEX from `end` on. */
template <typename Offset>
__device__ __forceinline__ uint32_t follow(const kernel_params &plan,
                                           const tile_slots<Offset> &slots, uint32_t count,
                                           uint32_t edge, uint32_t end, uint32_t *source)
{
    *source = 0;
    if (edge >= end)
        return HW_INVALID_VERTEX;
    const uint32_t slot = slot_of(slots.prefix, count, edge);
    *source = slots.vertex[slot];
    return __ldg(plan.graph.out.rank + static_cast<Offset>(slots.begin[slot] + edge));
}

/* Counts a vertex that was found, and notes it to be queued if that is wanted. */
template <bool queued>
__device__ __forceinline__ void note(const uint4 &about, count64 &mine, push_counts &counts)
{
    if (queued) {
        mine = packed(about.x);
        counts.led += about.y;
        counts.found += about.x == 0;
    } else {
        counts.found++;
    }
}

/* Visits up to four of the edges [first, end) for each thread. queued: what it finds will be. */
template <typename Offset, bool queued>
__device__ __forceinline__ void
visit(const kernel_params &plan, uint32_t *seen, const tile_slots<Offset> &slots, uint32_t count,
      uint32_t first, uint32_t end, tile_finds &finds, push_counts &counts)
{
    const hw_gpu_graph &graph = plan.graph;
    uint32_t v[4], source[4], word[4];

#pragma unroll
    for (int k = 0; k < 4; k++)
        v[k] = follow(plan, slots, count, first + k * threads + threadIdx.x, end, &source[k]);
#pragma unroll
    for (int k = 0; k < 4; k++) /* what a cache has of the bitmap may be old; bits only come */
        word[k] = v[k] < graph.core ? seen[v[k] / 32] : HW_WARP;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        const uint32_t bit = 1u << (v[k] & 31);
        finds.vertex[k] = v[k];
        finds.mine[k] = 0;
        if ((word[k] & bit) || (atomicOr(seen + v[k] / 32, bit) & bit))
            continue;
        plan.parent[v[k]] = source[k];
        note<queued>(queued ? about_vertex(graph, v[k]) : make_uint4(0, 0, 0, 0), finds.mine[k],
                     counts);
    }
}

/* Visits one edge for each thread, when there are not more: most of what it leads to is new,
 * so that all is asked for at once. */
template <typename Offset, bool queued>
__device__ __forceinline__ void
visit_one(const kernel_params &plan, uint32_t *seen, const tile_slots<Offset> &slots,
          uint32_t count, uint32_t first, uint32_t end, tile_finds &finds, push_counts &counts)
{
    uint32_t source;
    const uint32_t v = follow(plan, slots, count, first + threadIdx.x, end, &source);
    const uint32_t bit = 1u << (v & 31);

    finds = {};
    if (v >= plan.graph.core)
        return;
    const uint4 about = queued ? about_vertex(plan.graph, v) : make_uint4(0, 0, 0, 0);
    if (atomicOr(seen + v / 32, bit) & bit)
        return;
    plan.parent[v] = source;
    finds.vertex[0] = v;
    note<queued>(about, finds.mine[0], counts);
}

/* One slot of the queue into shared memory, for the tile that begins with edge `base`. */
template <typename Offset>
__device__ __forceinline__ void load_slot(const kernel_params &plan, uint32_t v, count64 before,
                                          count64 base, const tile_slots<Offset> &slots, uint32_t i)
{
    slots.prefix[i] =
        before <= base ? 0 : static_cast<uint32_t>(min(before - base, count64{UINT32_MAX}));
    slots.begin[i] = hw_begin<Offset>(plan.graph.out, v) + static_cast<Offset>(base - before);
    slots.vertex[i] = v;
}

/* Brings the queue's `count` slots from `slot` on to shared memory. All threads of the
 * block. */
template <typename Offset>
__device__ void load_slots(const kernel_params &plan, uint32_t depth, count64 base, uint32_t slot,
                           uint32_t count, const tile_slots<Offset> &slots)
{
    const uint32_t *queue = plan.queue[depth & 1];
    const Offset *prefix = static_cast<Offset *>(plan.prefix[depth & 1]);

    for (uint32_t i = threadIdx.x; i < count; i += threads)
        load_slot(plan, __ldcg(queue + slot + i), __ldcg(prefix + slot + i), base, slots, i);
    __syncthreads();
}

/* Brings the slots that hold a tile's edges; returns how many. All threads of the block. */
template <typename Offset>
__device__ uint32_t load_tile(const kernel_params &plan, uint32_t depth, count64 base,
                              uint32_t length, uint32_t vertices, const tile_slots<Offset> &slots)
{
    __shared__ uint32_t ends[2];
    const Offset *prefix = static_cast<Offset *>(plan.prefix[depth & 1]);
    const uint32_t warp = threadIdx.x / 32;

    if (warp < 2) {
        const uint32_t end = warp_slot<Offset>(prefix, vertices, warp ? base + length - 1 : base);
        if ((threadIdx.x & 31) == 0)
            ends[warp] = end;
    }
    __syncthreads();
    const uint32_t slot = ends[0], count = ends[1] - slot + 1;
    load_slots(plan, depth, base, slot, count, slots);
    return count;
}

/* One level top-down, all blocks. queued: finds go to the queue of the next level, else
 * only their number is counted. */
template <typename Offset, bool queued>
__device__ void push_level(const kernel_params &plan, grid_context &crew, uint32_t depth,
                           count64 frontier, uint32_t *seen, uint4 *room)
{
    const count64 edges = edges_of(frontier);
    const count64 round = static_cast<count64>(gridDim.x) * threads;
    const uint32_t deep = edges >= 4 * round ? 4 : edges > round ? 2 : 1;
    const uint32_t tile = threads * min(deep, plan.tile);
    Offset *begins = reinterpret_cast<Offset *>(room);
    uint32_t *words = reinterpret_cast<uint32_t *>(begins + threads * plan.tile);
    const tile_slots<Offset> slots = {begins, words, words + threads * plan.tile};
    /* A queue that fits is brought once, and the warps need not wait for each other. */
    const uint32_t vertices = vertices_of(frontier);
    const bool whole = vertices <= threads * plan.tile && edges <= UINT32_MAX - tile;
    push_counts counts = {0, 0};

    if (whole)
        load_slots<Offset>(plan, depth, 0, 0, vertices, slots);
    for (count64 base = blockIdx.x * static_cast<count64>(tile); base < edges;
         base += gridDim.x * static_cast<count64>(tile)) {
        const uint32_t length =
            static_cast<uint32_t>(min(static_cast<count64>(tile), edges - base));
        tile_finds finds;
        const uint32_t count =
            whole ? vertices : load_tile<Offset>(plan, depth, base, length, vertices, slots);
        const uint32_t first = whole ? static_cast<uint32_t>(base) : 0;
        if (deep == 1)
            visit_one<Offset, queued>(plan, seen, slots, count, first, first + length, finds,
                                      counts);
        else
            visit<Offset, queued>(plan, seen, slots, count, first, first + length, finds, counts);
        if (queued) {
            if (__syncthreads_or((finds.mine[0] | finds.mine[1] | finds.mine[2] | finds.mine[3]) !=
                                 0))
                enqueue<Offset>(plan, shared_phase(crew), depth, finds);
        } else if (!whole) {
            __syncthreads(); /* before the slots change */
        }
    }
    add_counts(&crew.own->led, counts.led);
    add_counts(&crew.own->found, counts.found);
}

/* Keeps the bitmap as it is before a level whose finds are not queued. */
__device__ void keep_bits(const kernel_params &plan, const uint32_t *seen, uint32_t *spare)
{
    for (uint64_t w = hw_grid_thread(); w < words_of(plan); w += hw_grid_threads())
        spare[w] = __ldcg(seen + w);
}

/* Queues what a level found without a queue: the bits that are new since `before`. */
template <typename Offset>
__device__ void queue_finds(const kernel_params &plan, grid_context &crew, uint32_t depth,
                            const uint32_t *seen, const uint32_t *before)
{
    const uint32_t words = words_of(plan), lane = threadIdx.x & 31;
    uint32_t led = 0;

    for (uint64_t base = hw_grid_thread() & ~31ull; base < words; base += hw_grid_threads()) {
        const uint32_t at = static_cast<uint32_t>(base) + lane;
        uint32_t fresh = at < words ? __ldcg(seen + at) & ~__ldcg(before + at) : 0;
        while (__any_sync(HW_WARP, fresh != 0)) {
            const uint32_t v = at * 32 + __ffs(fresh) - 1;
            count64 mine = 0, start = 0;
            if (fresh) {
                const uint4 about = about_vertex(plan.graph, v);
                mine = packed(about.x);
                led += about.y;
            }
            fresh &= fresh - 1;
            const count64 sum = hw_warp_scan(mine);
            if (lane == 31 && sum)
                start = atomicAdd(&shared_phase(crew).queue, sum);
            start = __shfl_sync(HW_WARP, start, 31) + sum - mine;
            if (mine) {
                plan.queue[depth & 1][vertices_of(start)] = v;
                static_cast<Offset *>(plan.prefix[depth & 1])[vertices_of(start)] =
                    static_cast<Offset>(edges_of(start));
            }
        }
    }
    add_counts(&crew.own->led, led);
}

} // namespace

#endif
