/*
 * Method `fused` on one GPU: top-down levels in one block (a cooperative thread array, CTA), while
 * the other blocks wait at the grid barrier. A barrier of one block is far cheaper than one of the
 * grid, so small frontiers, as in deep graphs, run here.
 *
 * The queue is in shared memory; after min_levels levels the bitmap too, if it fits. Three ways to
 * expand a level, by the lengths of its lists: inline neighbors (all lists have at most
 * HW_ONE_GPU_BFS_INLINE_NEIGHBORS entries, as in most road graphs: one memory access per vertex),
 * one thread per short list, or edges distributed evenly by binary search in prefix sums.
 */
#ifndef HOPWAVE_GPU_BFS_DIRECTION_OPTIMIZING_ONE_GPU_BFS_SINGLE_CTA_TOP_DOWN_CUH
#define HOPWAVE_GPU_BFS_DIRECTION_OPTIMIZING_ONE_GPU_BFS_SINGLE_CTA_TOP_DOWN_CUH

#include "gpu/bfs/direction_optimizing/one_gpu_bfs_device.cuh"
#include "gpu/device/prefix_search.cuh"
#include "gpu/graph/device_graph.cuh"

namespace hw_one_gpu_bfs
{
namespace
{

/* A queue in shared memory. begin and length are unknown for vertices >= short_list_begin. */
template <typename Offset> struct cta_queue {
    Offset *begin; /* offset of each vertex's list */
    uint32_t *vertex, *length;
};

/* Shared memory holds two queues, then the prefix sums of one of them. */
template <typename Offset>
__device__ __forceinline__ cta_queue<Offset> cta_queue_at(uint4 *shared_memory, uint32_t capacity,
                                                          uint32_t half)
{
    Offset *begin = reinterpret_cast<Offset *>(shared_memory) + half * capacity;
    uint32_t *words =
        reinterpret_cast<uint32_t *>(reinterpret_cast<Offset *>(shared_memory) + 2 * capacity);

    return {begin, words + half * capacity, words + (2 + half) * capacity};
}

template <typename Offset>
__device__ __forceinline__ uint32_t *cta_prefix(uint4 *shared_memory, uint32_t capacity)
{
    return reinterpret_cast<uint32_t *>(reinterpret_cast<Offset *>(shared_memory) + 2 * capacity) +
           4 * capacity;
}

/* Sums of a level. Lengths are capped so that the sums fit; sums that matter are exact. Lengths of
 * vertices >= short_list_begin are assumed. */
struct level_sums {
    uint32_t count, edges;
    uint32_t list_kinds;   /* bits: has_listed, has_above_short, has_above_twice_short */
    uint32_t without_list; /* discovered vertices with an empty list */
    uint32_t examined;     /* edges examined in the level */
};
constexpr uint32_t max_counted_length = 1u << 14, assumed_short_length = 3, short_list = 4,
                   min_levels = 8;
constexpr uint32_t has_listed = 1, has_above_short = 2, has_above_twice_short = 4;

/* Where a level stores discovered vertices. */
template <typename Offset> struct level_target {
    uint32_t *visited; /* bitmap in memory */
    uint32_t *cached;  /* bitmap in shared memory, used if bitmap_cached */
    bool bitmap_cached;
    cta_queue<Offset> to;
    uint32_t *queue; /* the same queue in memory, which has the capacity for any level */
    level_sums *sums;
};

/* The list of a vertex just discovered. */
template <typename Offset> struct discovered_list {
    uint32_t length;
    Offset begin;
};

template <typename Offset>
__device__ __forceinline__ discovered_list<Offset> load_discovered_list(const kernel_params &params,
                                                                        uint32_t v)
{
    if (v >= params.config.short_list_begin) {
        prefetch_inline_neighbors(params.graph, v);
        return {assumed_short_length, 0};
    }
    const uint4 vertex_record = load_vertex_record(params.graph, v);
    return {vertex_record.x, begin_of<Offset>(vertex_record)};
}

/* Visits four candidates per lane; appends those that nobody visited before to the next queue.
 * HW_INVALID_VERTEX is no candidate. Warp-collective. */
template <typename Offset>
__device__ __forceinline__ void discover(const kernel_params &params,
                                         const level_target<Offset> &target,
                                         const uint32_t *candidate, uint32_t *source)
{
    const uint32_t lower = (1u << (threadIdx.x & 31)) - 1;
    uint32_t before[4], count = 0, edges = 0, list_kinds = 0, start = 0;
    discovered_list<Offset> list[4];
    bool is_new[4];

#pragma unroll
    for (int k = 0; k < 4; k++) {
        const uint32_t v = candidate[k], bit = 1u << (v & 31);
        is_new[k] = false;
        if (v >= params.graph.core)
            continue;
        if (target.bitmap_cached)
            is_new[k] = !(atomicOr(target.cached + v / 32, bit) & bit);
        else
            is_new[k] = !(atomicOr(target.visited + v / 32, bit) & bit);
    }
#pragma unroll
    for (int k = 0; k < 4; k++) {
        list[k].length = 0;
        if (!is_new[k])
            continue;
        list[k] = load_discovered_list<Offset>(params, candidate[k]);
        params.search.parent[candidate[k]] = source[k];
        if (list[k].length == 0)
            atomicAdd(&target.sums->without_list, 1u);
        edges += min(list[k].length, max_counted_length);
        list_kinds |= (candidate[k] < params.config.short_list_begin ? has_listed : 0) |
                      (list[k].length > short_list ? has_above_short : 0) |
                      (list[k].length > 2 * short_list ? has_above_twice_short : 0);
    }
#pragma unroll
    for (int k = 0; k < 4; k++) {
        const uint32_t ballot = __ballot_sync(HW_WARP, list[k].length > 0);
        before[k] = count + __popc(ballot & lower);
        count += __popc(ballot);
    }
    if (count == 0)
        return;
    edges = hw_warp_sum(edges);
    list_kinds =
        (__any_sync(HW_WARP, list_kinds & has_listed) ? has_listed : 0) |
        (__any_sync(HW_WARP, list_kinds & has_above_short) ? has_above_short : 0) |
        (__any_sync(HW_WARP, list_kinds & has_above_twice_short) ? has_above_twice_short : 0);
    if (lower == 0) {
        start = atomicAdd(&target.sums->count, count);
        atomicAdd(&target.sums->edges, edges);
        if (list_kinds)
            atomicOr(&target.sums->list_kinds, list_kinds);
    }
    start = __shfl_sync(HW_WARP, start, 0);
#pragma unroll
    for (int k = 0; k < 4; k++) {
        const uint32_t at = start + before[k];
        if (list[k].length == 0)
            continue;
        if (at < params.config.single_cta_vertices) {
            target.to.vertex[at] = candidate[k];
            target.to.length[at] = list[k].length;
            target.to.begin[at] = list[k].begin;
        }
        target.queue[at] = candidate[k];
    }
}

/* Expands a level of vertices with inline neighbors only: one thread per vertex. */
template <typename Offset>
__device__ void expand_inline_neighbors(const kernel_params &params, const cta_queue<Offset> &from,
                                        uint32_t count, const level_target<Offset> &target)
{
    for (uint32_t base = threadIdx.x & ~31u; base < count; base += threads) {
        const uint32_t i = base + (threadIdx.x & 31);
        const uint32_t v = i < count ? from.vertex[i] : HW_INVALID_VERTEX;
        const bool own = v < params.graph.core;
        const uint4 four = own ? inline_neighbors(params.graph, v, 0) : no_neighbors();
        const uint4 last = own ? inline_neighbors(params.graph, v, 1) : no_neighbors();
        const uint32_t all[HW_ONE_GPU_BFS_INLINE_NEIGHBORS] = {four.x, four.y, four.z, four.w,
                                                               last.x, last.y, last.z, last.w};
        uint32_t source[4] = {v, v, v, v}, examined = 0;
#pragma unroll
        for (int k = 0; k < HW_ONE_GPU_BFS_INLINE_NEIGHBORS; k++)
            examined += all[k] != HW_INVALID_VERTEX;
        add_counts(&target.sums->examined, examined);
        discover<Offset>(params, target, all, source);
        if (__any_sync(HW_WARP, last.x != HW_INVALID_VERTEX))
            discover<Offset>(params, target, all + 4, source);
    }
}

/* Expands a level of short lists: one thread per vertex. */
template <typename Offset>
__device__ void expand_short_lists(const kernel_params &params, const cta_queue<Offset> &from,
                                   uint32_t count, uint32_t longest,
                                   const level_target<Offset> &target)
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
                candidate[j] = k + j < length ? __ldg(params.graph.out.neighbor + begin + k + j)
                                              : HW_INVALID_VERTEX;
            discover<Offset>(params, target, candidate, source);
        }
    }
}

/* Expands any level: edges distributed evenly, the list of each found by binary search in prefix
 * sums. */
template <typename Offset>
__device__ void expand_by_prefix_search(const kernel_params &params, const cta_queue<Offset> &from,
                                        uint32_t count, uint32_t *prefix,
                                        const level_target<Offset> &target)
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
                const uint32_t at = prefix_search(prefix, count, edge);
                candidate[j] =
                    __ldg(params.graph.out.neighbor + from.begin[at] + (edge - prefix[at]));
                source[j] = from.vertex[at];
            }
        }
        discover<Offset>(params, target, candidate, source);
    }
    if (threadIdx.x == 0)
        target.sums->examined = static_cast<uint32_t>(edges);
}

/* Loads the list bounds of vertices >= short_list_begin, which were not loaded at discovery. */
template <typename Offset>
__device__ void load_list_bounds(const kernel_params &params, const cta_queue<Offset> &queue,
                                 uint32_t count)
{
    for (uint32_t i = threadIdx.x; i < count; i += threads) {
        const uint32_t v = queue.vertex[i];
        if (v < params.config.short_list_begin)
            continue;
        const Offset begin = hw_list_begin<Offset>(params.graph.out, v);
        queue.begin[i] = begin;
        queue.length[i] =
            static_cast<uint32_t>(hw_list_begin<Offset>(params.graph.out, v + 1) - begin);
    }
    __syncthreads();
}

/* Expands one level, in the way that fits the lengths of its lists. */
template <typename Offset>
__device__ __forceinline__ void
expand_level(const kernel_params &params, const cta_queue<Offset> &from, uint32_t count,
             uint32_t list_kinds, uint32_t *prefix, const level_target<Offset> &target)
{
    if (!(list_kinds & has_listed)) {
        expand_inline_neighbors<Offset>(params, from, count, target);
        return;
    }
    if (params.config.short_list_begin != HW_INVALID_VERTEX)
        load_list_bounds<Offset>(params, from, count);
    if (list_kinds & has_above_twice_short)
        expand_by_prefix_search<Offset>(params, from, count, prefix, target);
    else
        expand_short_lists<Offset>(params, from, count, 2 * short_list, target);
}

/* The record of a queued vertex. Vertices of pendant trees have no length in their record; it is
 * taken from the offsets. No queued vertex has an empty list. */
template <typename Offset>
__device__ __forceinline__ uint4 queued_vertex_record(const kernel_params &params, uint32_t v)
{
    uint4 vertex_record = load_vertex_record(params.graph, v);

    if (vertex_record.x == 0)
        vertex_record.x = static_cast<uint32_t>(hw_list_begin<Offset>(params.graph.out, v + 1) -
                                                hw_list_begin<Offset>(params.graph.out, v));
    return vertex_record;
}

/* Prepares the state for a level of the whole grid: prefix sums of the queue, its packed size,
 * depth. All threads of block 0. */
template <typename Offset>
__device__ void prepare_grid_level(const kernel_params &params, uint32_t depth, uint32_t reached,
                                   uint32_t count, hw_one_gpu_bfs_phase &phase)
{
    __shared__ uint32_t first_neighbor_refs;
    Offset *prefix = static_cast<Offset *>(params.search.prefix[depth & 1]);
    count64 edges = 0;

    if (threadIdx.x == 0)
        first_neighbor_refs = 0;
    for (uint32_t base = 0; base < count; base += threads) {
        const uint32_t i = base + threadIdx.x;
        uint4 vertex_record = make_uint4(0, 0, 0, 0);
        if (i < count)
            vertex_record =
                queued_vertex_record<Offset>(params, __ldcg(params.search.queue[depth & 1] + i));
        count64 total;
        const count64 before = edges + block_scan(vertex_record.x, &total);
        if (i < count)
            prefix[i] = static_cast<Offset>(before);
        edges += total;
        add_counts(&first_neighbor_refs, vertex_record.y);
    }
    __syncthreads();
    if (threadIdx.x != 0)
        return;
    phase.queue = hw_pack_size(count, edges, edge_bits);
    phase.first_neighbor_refs = first_neighbor_refs;
    phase.depth = depth;
    phase.reached = reached;
}

/* Copies the bitmap to shared memory. All threads of the block. */
__device__ void load_bitmap(const kernel_params &params, const uint32_t *visited, uint32_t *cached)
{
    for (uint32_t w = threadIdx.x; w < bitmap_words(params); w += threads)
        cached[w] = __ldcg(visited + w);
    __syncthreads();
}

__device__ void store_bitmap(const kernel_params &params, const uint32_t *cached, uint32_t *visited)
{
    for (uint32_t w = threadIdx.x; w < bitmap_words(params); w += threads)
        visited[w] = cached[w];
}

/* Loads the queue of the first level from memory. Returns the kinds of its lists. */
template <typename Offset>
__device__ uint32_t load_queue(const kernel_params &params, uint32_t depth, uint32_t count,
                               const cta_queue<Offset> &to)
{
    bool listed = false;

    for (uint32_t i = threadIdx.x; i < count; i += threads) {
        const uint32_t v = __ldcg(params.search.queue[depth & 1] + i);
        to.vertex[i] = v;
        if (v >= params.config.short_list_begin)
            continue;
        listed = true;
        to.begin[i] = hw_list_begin<Offset>(params.graph.out, v);
        to.length[i] =
            static_cast<uint32_t>(hw_list_begin<Offset>(params.graph.out, v + 1) - to.begin[i]);
    }
    return __syncthreads_or(listed) ? has_listed | has_above_short | has_above_twice_short : 0;
}

/* Levels in one block, from the queue of level depth, until the frontier is empty or too large.
 * After min_levels levels the bitmap moves to shared memory, if it fits: one multiprocessor visits
 * far more vertices per second there. All threads of block 0. */
template <typename Offset>
__device__ void single_cta_levels(const kernel_params &params, uint32_t depth, uint32_t reached,
                                  uint32_t *visited, count64 queue, hw_one_gpu_bfs_phase &phase,
                                  uint4 *shared_memory, uint32_t &records)
{
    __shared__ level_sums sums[3]; /* used in turn, each cleared two levels ahead */
    const uint32_t capacity = params.config.single_cta_vertices, first_depth = depth;
    uint32_t count = hw_packed_entries(queue, edge_bits), edges = 0;
    uint32_t *cached = cta_prefix<Offset>(shared_memory, capacity) + capacity;
    bool bitmap_cached = false;

    if (threadIdx.x < 3)
        sums[threadIdx.x] = {};
    uint32_t list_kinds = load_queue<Offset>(
        params, depth, count, cta_queue_at<Offset>(shared_memory, capacity, depth & 1));
    do {
        const cta_queue<Offset> from = cta_queue_at<Offset>(shared_memory, capacity, depth & 1);
        if (depth - first_depth == min_levels && params.config.single_cta_bitmap_fits) {
            load_bitmap(params, visited, cached);
            bitmap_cached = true;
        }
        const level_target<Offset> target = {
            visited,
            cached,
            bitmap_cached,
            cta_queue_at<Offset>(shared_memory, capacity, ~depth & 1),
            params.search.queue[~depth & 1],
            &sums[(depth + 1) % 3]};
        if (threadIdx.x == 0)
            sums[(depth + 2) % 3] = {};
        expand_level<Offset>(params, from, count, list_kinds,
                             cta_prefix<Offset>(shared_memory, capacity), target);
        __syncthreads();
        const level_sums found = *target.sums;
        trace_append(params, records, HW_ROUTINE_BLOCK, count, found.count + found.without_list,
                     found.examined);
        count = found.count;
        edges = found.edges;
        list_kinds = found.list_kinds;
        reached += count + found.without_list;
        depth++;
    } while (count > 0 && count <= capacity &&
             edges <= (bitmap_cached ? 2 * params.config.single_cta_edges
                                     : params.config.single_cta_edges) &&
             params.config.policy.direction != HW_BFS_BOTTOM_UP);
    if (bitmap_cached)
        store_bitmap(params, cached, visited);
    prepare_grid_level<Offset>(params, depth, reached, count, phase);
}

} // namespace
} // namespace hw_one_gpu_bfs

#endif
