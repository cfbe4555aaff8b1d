/*
 * Method `fused`: levels top-down in one block, while the others wait.
 *
 * The queue is in shared memory; after some levels the bitmap too, if it fits. Vertices
 * whose neighbours are all at hand without their lists (most of those of road graphs) are
 * gone on from after one access to memory; the edges of others are shared out evenly, their
 * vertices found by prefix sums.
 */
#ifndef HOPWAVE_GPU_BFS_DIRECTION_OPTIMIZING_ONE_GPU_BFS_SINGLE_CTA_CUH
#define HOPWAVE_GPU_BFS_DIRECTION_OPTIMIZING_ONE_GPU_BFS_SINGLE_CTA_CUH

#include "gpu/bfs/direction_optimizing/one_gpu_bfs_device.cuh"
#include "gpu/device/prefix_search.cuh"
#include "gpu/graph/device_graph.cuh"

namespace
{

/* A queue in shared memory. begin and length are unknown of short vertices. */
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
 * where they matter; that of short vertices is guessed. */
struct small_sums {
    uint32_t count, edges;
    uint32_t kinds;    /* of the lists: those below */
    uint32_t endless;  /* found, but without a list */
    uint32_t examined; /* edges, to find the level */
};
constexpr uint32_t length_cap = 1u << 14, short_guess = 3, few = 4, patience = 8;
constexpr uint32_t some_listed = 1, some_above_few = 2, some_above_twice_few = 4;

/* Where the finds of a level go. */
template <typename Offset> struct small_target {
    uint32_t *seen; /* in memory */
    uint32_t *held; /* or in shared memory, if held_in_block */
    bool held_in_block;
    small_queue<Offset> to;
    uint32_t *queue; /* the same in memory, for more than fit */
    small_sums *sums;
};

/* What is known of a vertex that was just found. */
template <typename Offset> struct small_find {
    uint32_t length;
    Offset begin;
};

template <typename Offset>
__device__ __forceinline__ small_find<Offset> look_at(const kernel_params &plan, uint32_t v)
{
    if (v >= plan.short_from) {
        fetch_near(plan.graph, v);
        return {short_guess, 0};
    }
    const uint4 about = about_vertex(plan.graph, v);
    return {about.x, begin_of<Offset>(about)};
}

/* Takes the candidates that nobody visited before, four a lane, into the next queue. A
 * warp; HW_INVALID_VERTEX is no candidate. */
template <typename Offset>
__device__ __forceinline__ void small_take(const kernel_params &plan,
                                           const small_target<Offset> &target,
                                           const uint32_t *candidate, uint32_t *source)
{
    const uint32_t lower = (1u << (threadIdx.x & 31)) - 1;
    uint32_t before[4], count = 0, edges = 0, kinds = 0, start = 0;
    small_find<Offset> find[4];
    bool fresh[4];

#pragma unroll
    for (int k = 0; k < 4; k++) {
        const uint32_t v = candidate[k], bit = 1u << (v & 31);
        fresh[k] = false;
        if (v >= plan.graph.core)
            continue;
        if (target.held_in_block)
            fresh[k] = !(atomicOr(target.held + v / 32, bit) & bit);
        else
            fresh[k] = !(atomicOr(target.seen + v / 32, bit) & bit);
    }
#pragma unroll
    for (int k = 0; k < 4; k++) {
        find[k].length = 0;
        if (!fresh[k])
            continue;
        find[k] = look_at<Offset>(plan, candidate[k]);
        plan.parent[candidate[k]] = source[k];
        if (find[k].length == 0)
            atomicAdd(&target.sums->endless, 1u);
        edges += min(find[k].length, length_cap);
        kinds |= (candidate[k] < plan.short_from ? some_listed : 0) |
                 (find[k].length > few ? some_above_few : 0) |
                 (find[k].length > 2 * few ? some_above_twice_few : 0);
    }
#pragma unroll
    for (int k = 0; k < 4; k++) {
        const uint32_t ballot = __ballot_sync(HW_WARP, find[k].length > 0);
        before[k] = count + __popc(ballot & lower);
        count += __popc(ballot);
    }
    if (count == 0)
        return;
    edges = hw_warp_sum(edges);
    kinds = (__any_sync(HW_WARP, kinds & some_listed) ? some_listed : 0) |
            (__any_sync(HW_WARP, kinds & some_above_few) ? some_above_few : 0) |
            (__any_sync(HW_WARP, kinds & some_above_twice_few) ? some_above_twice_few : 0);
    if (lower == 0) {
        start = atomicAdd(&target.sums->count, count);
        atomicAdd(&target.sums->edges, edges);
        if (kinds)
            atomicOr(&target.sums->kinds, kinds);
    }
    start = __shfl_sync(HW_WARP, start, 0);
#pragma unroll
    for (int k = 0; k < 4; k++) {
        const uint32_t slot = start + before[k];
        if (find[k].length == 0)
            continue;
        if (slot < plan.block_vertices) {
            target.to.vertex[slot] = candidate[k];
            target.to.length[slot] = find[k].length;
            target.to.begin[slot] = find[k].begin;
        }
        target.queue[slot] = candidate[k];
    }
}

/* A level of vertices whose neighbours are at hand: a thread for each. */
template <typename Offset>
__device__ void small_near(const kernel_params &plan, const small_queue<Offset> &from,
                           uint32_t count, const small_target<Offset> &target)
{
    for (uint32_t base = threadIdx.x & ~31u; base < count; base += threads) {
        const uint32_t i = base + (threadIdx.x & 31);
        const uint32_t v = i < count ? from.vertex[i] : HW_INVALID_VERTEX;
        const bool own = v < plan.graph.core;
        const uint4 four = own ? near_sources(plan.graph, v, 0) : no_sources();
        const uint4 last = own ? near_sources(plan.graph, v, 1) : no_sources();
        const uint32_t all[HW_FUSED_NEAR] = {four.x, four.y, four.z, four.w,
                                             last.x, last.y, last.z, last.w};
        uint32_t source[4] = {v, v, v, v}, examined = 0;
#pragma unroll
        for (int k = 0; k < HW_FUSED_NEAR; k++)
            examined += all[k] != HW_INVALID_VERTEX;
        add_counts(&target.sums->examined, examined);
        small_take<Offset>(plan, target, all, source);
        if (__any_sync(HW_WARP, last.x != HW_INVALID_VERTEX))
            small_take<Offset>(plan, target, all + 4, source);
    }
}

/* A level whose lists are all short: a thread for each vertex. */
template <typename Offset>
__device__ void small_each(const kernel_params &plan, const small_queue<Offset> &from,
                           uint32_t count, uint32_t longest, const small_target<Offset> &target)
{
    for (uint32_t base = threadIdx.x & ~31u; base < count; base += threads) {
        const uint32_t i = base + (threadIdx.x & 31);
        const uint32_t length = i < count ? from.length[i] : 0;
        const uint32_t v = length ? from.vertex[i] : 0;
        uint32_t source[4] = {v, v, v, v};
        const Offset begin = length ? from.begin[i] : 0;
        add_counts(&target.sums->examined, length);
        for (uint32_t k = 0; k < longest && __any_sync(HW_WARP, k < length); k += 4) {
            uint32_t candidate[4];
#pragma unroll
            for (uint32_t j = 0; j < 4; j++)
                candidate[j] =
                    k + j < length ? __ldg(plan.graph.out.rank + begin + k + j) : HW_INVALID_VERTEX;
            small_take<Offset>(plan, target, candidate, source);
        }
    }
}

/* Any level: the edges shared out evenly, their vertices found by prefix sums. */
template <typename Offset>
__device__ void small_merge(const kernel_params &plan, const small_queue<Offset> &from,
                            uint32_t count, uint32_t *prefix, const small_target<Offset> &target)
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
            candidate[j] = HW_INVALID_VERTEX;
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
    if (threadIdx.x == 0)
        target.sums->examined = static_cast<uint32_t>(edges);
}

/* Where the lists of the short vertices in a queue are: not asked for when they were found. */
template <typename Offset>
__device__ void small_lists(const kernel_params &plan, const small_queue<Offset> &queue,
                            uint32_t count)
{
    for (uint32_t i = threadIdx.x; i < count; i += threads) {
        const uint32_t v = queue.vertex[i];
        if (v < plan.short_from)
            continue;
        const Offset begin = hw_begin<Offset>(plan.graph.out, v);
        queue.begin[i] = begin;
        queue.length[i] = static_cast<uint32_t>(hw_begin<Offset>(plan.graph.out, v + 1) - begin);
    }
    __syncthreads();
}

/* One level, in the way that its lists ask for. */
template <typename Offset>
__device__ __forceinline__ void
small_level(const kernel_params &plan, const small_queue<Offset> &from, uint32_t count,
            uint32_t kinds, uint32_t *prefix, const small_target<Offset> &target)
{
    if (!(kinds & some_listed)) {
        small_near<Offset>(plan, from, count, target);
        return;
    }
    if (plan.short_from != HW_INVALID_VERTEX)
        small_lists<Offset>(plan, from, count);
    if (kinds & some_above_twice_few)
        small_merge<Offset>(plan, from, count, prefix, target);
    else
        small_each<Offset>(plan, from, count, 2 * few, target);
}

/* What there is to know of a vertex in the queue: no vertex there has an empty list, those
 * of trees, which had better not be there, neither. */
template <typename Offset>
__device__ __forceinline__ uint4 about_queued(const kernel_params &plan, uint32_t v)
{
    uint4 about = about_vertex(plan.graph, v);

    if (about.x == 0)
        about.x = static_cast<uint32_t>(hw_begin<Offset>(plan.graph.out, v + 1) -
                                        hw_begin<Offset>(plan.graph.out, v));
    return about;
}

/* Leaves all as a level of the whole grid expects it: edges before each vertex of the
 * queue, and its counts. All threads of block 0. */
template <typename Offset>
__device__ void hand_over(const kernel_params &plan, uint32_t depth, uint32_t reached,
                          uint32_t count, hw_one_gpu_bfs_phase &phase)
{
    __shared__ uint32_t led;
    Offset *prefix = static_cast<Offset *>(plan.prefix[depth & 1]);
    count64 edges = 0;

    if (threadIdx.x == 0)
        led = 0;
    for (uint32_t base = 0; base < count; base += threads) {
        const uint32_t i = base + threadIdx.x;
        uint4 about = make_uint4(0, 0, 0, 0);
        if (i < count)
            about = about_queued<Offset>(plan, __ldcg(plan.queue[depth & 1] + i));
        count64 total;
        const count64 before = edges + block_scan(about.x, &total);
        if (i < count)
            prefix[i] = static_cast<Offset>(before);
        edges += total;
        add_counts(&led, about.y);
    }
    __syncthreads();
    if (threadIdx.x != 0)
        return;
    phase.queue = (static_cast<count64>(count) << HW_FUSED_EDGE_BITS) + edges;
    phase.led = led;
    phase.depth = depth;
    phase.reached = reached;
}

/* Copies the whole bitmap to shared memory, and back. All threads of the block. */
__device__ void hold_bits(const kernel_params &plan, const uint32_t *seen, uint32_t *held)
{
    for (uint32_t w = threadIdx.x; w < words_of(plan); w += threads)
        held[w] = __ldcg(seen + w);
    __syncthreads();
}

__device__ void release_bits(const kernel_params &plan, const uint32_t *held, uint32_t *seen)
{
    for (uint32_t w = threadIdx.x; w < words_of(plan); w += threads)
        seen[w] = held[w];
}

/* The first level of one block: the queue from memory. Returns the kinds of its lists. */
template <typename Offset>
__device__ uint32_t load_small(const kernel_params &plan, uint32_t depth, uint32_t count,
                               const small_queue<Offset> &to)
{
    bool listed = false;

    for (uint32_t i = threadIdx.x; i < count; i += threads) {
        const uint32_t v = __ldcg(plan.queue[depth & 1] + i);
        to.vertex[i] = v;
        if (v >= plan.short_from)
            continue;
        listed = true;
        to.begin[i] = hw_begin<Offset>(plan.graph.out, v);
        to.length[i] = static_cast<uint32_t>(hw_begin<Offset>(plan.graph.out, v + 1) - to.begin[i]);
    }
    return __syncthreads_or(listed) ? some_listed | some_above_few | some_above_twice_few : 0;
}

/* Levels in one block, from the queue of level depth, until the frontier is empty or too
 * large. After some levels the bitmap moves to shared memory, if it fits: one
 * multiprocessor alone visits far more there. Block 0. */
template <typename Offset>
__device__ void small_levels(const kernel_params &plan, uint32_t depth, uint32_t reached,
                             uint32_t *seen, count64 queue, hw_one_gpu_bfs_phase &phase,
                             uint4 *room, uint32_t &rows)
{
    __shared__ small_sums sums[3]; /* in turns, cleared two levels ahead */
    const uint32_t capacity = plan.block_vertices, started = depth;
    uint32_t count = vertices_of(queue), edges = 0;
    uint32_t *held = small_prefix<Offset>(room, capacity) + capacity;
    bool holds = false;

    if (threadIdx.x < 3)
        sums[threadIdx.x] = {};
    uint32_t kinds =
        load_small<Offset>(plan, depth, count, small_at<Offset>(room, capacity, depth & 1));
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
            sums[(depth + 2) % 3] = {};
        small_level<Offset>(plan, from, count, kinds, small_prefix<Offset>(room, capacity), target);
        __syncthreads();
        const small_sums found = *target.sums;
        keep_row(plan, rows, HW_ROUTINE_BLOCK, count, found.count + found.endless, found.examined);
        count = found.count;
        edges = found.edges;
        kinds = found.kinds;
        reached += count + found.endless;
        depth++;
    } while (count > 0 && count <= capacity &&
             edges <= (holds ? 2 * plan.block_edges : plan.block_edges) &&
             plan.direction != bottom_up);
    if (holds)
        release_bits(plan, held, seen);
    hand_over<Offset>(plan, depth, reached, count, phase);
}

} // namespace

#endif
