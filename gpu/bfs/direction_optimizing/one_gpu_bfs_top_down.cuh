/*
 * Method `fused` on one GPU: top-down levels on the whole grid.
 *
 * The edges of the frontier are cut into equal tiles. A block determines the lists of its tile by
 * binary search in the prefix sums of their lengths ("A New GPU-based parallel BFS": merge-path
 * style redistribution). An atomic OR on the visited bitmap decides which edge discovers a vertex.
 */
#ifndef HOPWAVE_GPU_BFS_DIRECTION_OPTIMIZING_ONE_GPU_BFS_TOP_DOWN_CUH
#define HOPWAVE_GPU_BFS_DIRECTION_OPTIMIZING_ONE_GPU_BFS_TOP_DOWN_CUH

#include "gpu/bfs/direction_optimizing/one_gpu_bfs_device.cuh"
#include "gpu/device/prefix_search.cuh"
#include "gpu/graph/device_graph.cuh"

namespace hw_one_gpu_bfs
{
namespace
{

/* The lists of one tile, or of the whole frontier, in shared memory: up to 4 * threads entries
 * each. */
template <typename Offset> struct tile_lists {
    Offset *begin;    /* offset of the list, less the edges before it */
    uint32_t *prefix; /* edges before the list */
    uint32_t *vertex;
};

/* Vertices that one thread discovers in a tile. */
struct tile_discoveries {
    uint32_t vertex[4];
    count64 mine[4]; /* packed size; 0: none */
};

/* Sums of one thread over a level. */
struct push_counts {
    uint32_t first_neighbor_refs, found; /* discovered: vertices that are not queued */
};

/* Appends the vertices that the block discovered to the queue of the next level. All threads of the
 * block. */
template <typename Offset>
__device__ void enqueue(const kernel_params &params, hw_one_gpu_bfs_phase &phase, uint32_t depth,
                        const tile_discoveries &discovered)
{
    __shared__ count64 start[warps];
    const int lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    uint32_t *queue = params.search.queue[(depth + 1) & 1];
    Offset *prefix = static_cast<Offset *>(params.search.prefix[(depth + 1) & 1]);
    const count64 mine =
        discovered.mine[0] + discovered.mine[1] + discovered.mine[2] + discovered.mine[3];
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
        if (!discovered.mine[k])
            continue;
        queue[hw_packed_entries(at, edge_bits)] = discovered.vertex[k];
        prefix[hw_packed_entries(at, edge_bits)] =
            static_cast<Offset>(hw_packed_work(at, edge_bits));
        at += discovered.mine[k];
    }
}

/* The neighbor at the end of edge `edge`, or HW_INVALID_VERTEX from `end` on. */
template <typename Offset>
__device__ __forceinline__ uint32_t neighbor_at(const kernel_params &params,
                                                const tile_lists<Offset> &lists, uint32_t count,
                                                uint32_t edge, uint32_t end, uint32_t *source)
{
    *source = 0;
    if (edge >= end)
        return HW_INVALID_VERTEX;
    const uint32_t list = prefix_search(lists.prefix, count, edge);
    *source = lists.vertex[list];
    return __ldg(params.graph.out.neighbor + static_cast<Offset>(lists.begin[list] + edge));
}

/* Counts a discovered vertex; queued: also sets its packed size. */
template <bool queued>
__device__ __forceinline__ void count_discovered(const uint4 &vertex_record, count64 &mine,
                                                 push_counts &counts)
{
    if (queued) {
        mine = hw_pack_entry(vertex_record.x, edge_bits);
        counts.first_neighbor_refs += vertex_record.y;
        counts.found += vertex_record.x == 0;
    } else {
        counts.found++;
    }
}

/* Visits up to four of the edges [first, end) per thread. queued: discovered vertices will be
 * queued. */
template <typename Offset, bool queued>
__device__ __forceinline__ void visit_edges(const kernel_params &params, uint32_t *visited,
                                            const tile_lists<Offset> &lists, uint32_t count,
                                            uint32_t first, uint32_t end,
                                            tile_discoveries &discovered, push_counts &counts)
{
    const hw_gpu_graph &graph = params.graph;
    uint32_t v[4], source[4], word[4];

#pragma unroll
    for (int k = 0; k < 4; k++)
        v[k] =
            neighbor_at(params, lists, count, first + k * threads + threadIdx.x, end, &source[k]);
#pragma unroll
    for (int k = 0; k < 4; k++) /* A cached word may be stale. It never has bits that memory lacks,
                                   and the atomic OR decides. */
        word[k] = v[k] < graph.core ? visited[v[k] / 32] : HW_WARP;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        const uint32_t bit = 1u << (v[k] & 31);
        discovered.vertex[k] = v[k];
        discovered.mine[k] = 0;
        if ((word[k] & bit) || (atomicOr(visited + v[k] / 32, bit) & bit))
            continue;
        params.search.parent[v[k]] = source[k];
        count_discovered<queued>(queued ? load_vertex_record(graph, v[k]) : make_uint4(0, 0, 0, 0),
                                 discovered.mine[k], counts);
    }
}

/* Visits one edge per thread, for levels with at most one. Most neighbors are new there, so the
 * record is loaded before the atomic operation returns. */
template <typename Offset, bool queued>
__device__ __forceinline__ void visit_one_edge(const kernel_params &params, uint32_t *visited,
                                               const tile_lists<Offset> &lists, uint32_t count,
                                               uint32_t first, uint32_t end,
                                               tile_discoveries &discovered, push_counts &counts)
{
    uint32_t source;
    const uint32_t v = neighbor_at(params, lists, count, first + threadIdx.x, end, &source);
    const uint32_t bit = 1u << (v & 31);

    discovered = {};
    if (v >= params.graph.core)
        return;
    const uint4 vertex_record =
        queued ? load_vertex_record(params.graph, v) : make_uint4(0, 0, 0, 0);
    if (atomicOr(visited + v / 32, bit) & bit)
        return;
    params.search.parent[v] = source;
    discovered.vertex[0] = v;
    count_discovered<queued>(vertex_record, discovered.mine[0], counts);
}

/* Loads one queue entry into the tile whose first edge is `base`. */
template <typename Offset>
__device__ __forceinline__ void load_list(const kernel_params &params, uint32_t v, count64 before,
                                          count64 base, const tile_lists<Offset> &lists, uint32_t i)
{
    lists.prefix[i] =
        before <= base ? 0 : static_cast<uint32_t>(min(before - base, count64{UINT32_MAX}));
    lists.begin[i] =
        hw_list_begin<Offset>(params.graph.out, v) + static_cast<Offset>(base - before);
    lists.vertex[i] = v;
}

/* Loads `count` queue entries, from entry `list` on, into shared memory. All threads of the block.
 */
template <typename Offset>
__device__ void load_lists(const kernel_params &params, uint32_t depth, count64 base, uint32_t list,
                           uint32_t count, const tile_lists<Offset> &lists)
{
    const uint32_t *queue = params.search.queue[depth & 1];
    const Offset *prefix = static_cast<Offset *>(params.search.prefix[depth & 1]);

    for (uint32_t i = threadIdx.x; i < count; i += threads)
        load_list(params, __ldcg(queue + list + i), __ldcg(prefix + list + i), base, lists, i);
    __syncthreads();
}

/* Loads the queue entries whose edges a tile covers. Returns their number. All threads of the
 * block. */
template <typename Offset>
__device__ uint32_t load_tile(const kernel_params &params, uint32_t depth, count64 base,
                              uint32_t length, uint32_t vertices, const tile_lists<Offset> &lists)
{
    __shared__ uint32_t bounds[2];
    const Offset *prefix = static_cast<Offset *>(params.search.prefix[depth & 1]);
    const uint32_t warp = threadIdx.x / 32;

    if (warp < 2) {
        const uint32_t end =
            warp_prefix_search<Offset>(prefix, vertices, warp ? base + length - 1 : base);
        if ((threadIdx.x & 31) == 0)
            bounds[warp] = end;
    }
    __syncthreads();
    const uint32_t list = bounds[0], count = bounds[1] - list + 1;
    load_lists(params, depth, base, list, count, lists);
    return count;
}

/* One top-down level. queued: discovered vertices enter the queue of the next level; otherwise they
 * are only counted. All threads of the grid. */
template <typename Offset, bool queued>
__device__ void push_level(const kernel_params &params, grid_context &grid, uint32_t depth,
                           count64 frontier, uint32_t *visited, uint4 *shared_memory)
{
    const count64 edges = hw_packed_work(frontier, edge_bits);
    const count64 grid_edges = static_cast<count64>(gridDim.x) * threads;
    const uint32_t edges_per_thread = edges >= 4 * grid_edges ? 4 : edges > grid_edges ? 2 : 1;
    const uint32_t tile = threads * min(edges_per_thread, params.config.tile);
    Offset *begins = reinterpret_cast<Offset *>(shared_memory);
    uint32_t *words = reinterpret_cast<uint32_t *>(begins + threads * params.config.tile);
    const tile_lists<Offset> lists = {begins, words, words + threads * params.config.tile};
    /* A queue that fits is loaded once; then warps do not wait for each other between tiles. */
    const uint32_t vertices = hw_packed_entries(frontier, edge_bits);
    const bool queue_cached =
        vertices <= threads * params.config.tile && edges <= UINT32_MAX - tile;
    push_counts counts = {0, 0};

    if (queue_cached)
        load_lists<Offset>(params, depth, 0, 0, vertices, lists);
    for (count64 base = blockIdx.x * static_cast<count64>(tile); base < edges;
         base += gridDim.x * static_cast<count64>(tile)) {
        const uint32_t length =
            static_cast<uint32_t>(min(static_cast<count64>(tile), edges - base));
        tile_discoveries discovered;
        const uint32_t count =
            queue_cached ? vertices
                         : load_tile<Offset>(params, depth, base, length, vertices, lists);
        const uint32_t first = queue_cached ? static_cast<uint32_t>(base) : 0;
        if (edges_per_thread == 1)
            visit_one_edge<Offset, queued>(params, visited, lists, count, first, first + length,
                                           discovered, counts);
        else
            visit_edges<Offset, queued>(params, visited, lists, count, first, first + length,
                                        discovered, counts);
        if (queued) {
            if (__syncthreads_or((discovered.mine[0] | discovered.mine[1] | discovered.mine[2] |
                                  discovered.mine[3]) != 0))
                enqueue<Offset>(params, shared_phase(grid), depth, discovered);
        } else if (!queue_cached) {
            __syncthreads(); /* before the lists are overwritten */
        }
    }
    add_counts(&grid.block->first_neighbor_refs, counts.first_neighbor_refs);
    add_counts(&grid.block->discovered, counts.found);
}

/* Copies the bitmap before a level that queues nothing, for queue_discovered(). */
__device__ void snapshot_bitmap(const kernel_params &params, const uint32_t *visited,
                                uint32_t *spare)
{
    for (uint64_t w = hw_grid_thread(); w < bitmap_words(params); w += hw_grid_threads())
        spare[w] = __ldcg(visited + w);
}

/* Queues what a level discovered without queueing: bits set in `visited` but not in `before`. All
 * threads of the grid. */
template <typename Offset>
__device__ void queue_discovered(const kernel_params &params, grid_context &grid, uint32_t depth,
                                 const uint32_t *visited, const uint32_t *before)
{
    const uint32_t words = bitmap_words(params), lane = threadIdx.x & 31;
    uint32_t first_neighbor_refs = 0;

    for (uint64_t base = hw_grid_thread() & ~31ull; base < words; base += hw_grid_threads()) {
        const uint32_t at = static_cast<uint32_t>(base) + lane;
        uint32_t new_bits = at < words ? __ldcg(visited + at) & ~__ldcg(before + at) : 0;
        while (__any_sync(HW_WARP, new_bits != 0)) {
            const uint32_t v = at * 32 + __ffs(new_bits) - 1;
            count64 mine = 0, start = 0;
            if (new_bits) {
                const uint4 vertex_record = load_vertex_record(params.graph, v);
                mine = hw_pack_entry(vertex_record.x, edge_bits);
                first_neighbor_refs += vertex_record.y;
            }
            new_bits &= new_bits - 1;
            const count64 sum = hw_warp_scan(mine);
            if (lane == 31 && sum)
                start = atomicAdd(&shared_phase(grid).queue, sum);
            start = __shfl_sync(HW_WARP, start, 31) + sum - mine;
            if (mine) {
                params.search.queue[depth & 1][hw_packed_entries(start, edge_bits)] = v;
                static_cast<Offset *>(
                    params.search.prefix[depth & 1])[hw_packed_entries(start, edge_bits)] =
                    static_cast<Offset>(hw_packed_work(start, edge_bits));
            }
        }
    }
    add_counts(&grid.block->first_neighbor_refs, first_neighbor_refs);
}

} // namespace
} // namespace hw_one_gpu_bfs

#endif
