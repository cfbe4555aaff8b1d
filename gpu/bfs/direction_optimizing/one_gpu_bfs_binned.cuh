/*
 * Method `fused` on one GPU: large top-down levels of graphs without hubs, by propagation blocking
 * (Beamer, Asanovic, Patterson, "Reducing Pagerank Communication via Propagation Blocking", IPDPS
 * 2017).
 *
 * Neighbors in a random graph are anywhere, so that an atomic operation and a store for each of
 * them miss the caches. Instead, edges are first stored as (target, source) in bins of consecutive
 * targets. Then a block takes a bin, and has the bin's part of the bitmap and of the parents in
 * shared memory.
 *
 * Blocks sort a tile of edges by bin in shared memory before they store it: what a tile has of a
 * bin is consecutive there, and stores go in whole sectors. An edge's list is found by counting
 * bits: a bitmap marks the first edge of each list in the tile.
 *
 * A bin has room for a multiple of its vertices. Edges beyond that discover their targets at once,
 * as in other levels: nothing depends on the distribution of targets but time. In the order of
 * degrees these are edges to the first vertices, most of which are visited before any large level.
 */
#ifndef HOPWAVE_GPU_BFS_DIRECTION_OPTIMIZING_ONE_GPU_BFS_BINNED_CUH
#define HOPWAVE_GPU_BFS_DIRECTION_OPTIMIZING_ONE_GPU_BFS_BINNED_CUH

#include "gpu/bfs/direction_optimizing/one_gpu_bfs_device.cuh"

namespace hw_one_gpu_bfs
{
namespace
{

constexpr uint32_t edges_per_thread = 10, tile_edges = edges_per_thread * threads;
constexpr uint32_t tile_words = tile_edges / 32; /* of the bitmap of first edges */
constexpr uint32_t most_lists = 2 * threads;     /* of a tile */
constexpr uint32_t bins_per_thread = HW_ONE_GPU_BFS_MAX_BINS / threads;
constexpr uint32_t list_is_inline = 1u << 31; /* in ids of sources, which are below 2^26 */

/* A tile of edges, in shared memory. */
struct edge_tile {
    count64 entry[tile_edges]; /* target in the high half, source; sorted by bin */
    uint32_t source[most_lists], list[most_lists]; /* offsets, less the edges before the list */
    uint32_t first_edges[tile_words], lists_before[tile_words]; /* bitmap, and its prefix sums */
    uint32_t count[HW_ONE_GPU_BFS_MAX_BINS], begin[HW_ONE_GPU_BFS_MAX_BINS]; /* by bin */
    uint32_t place[HW_ONE_GPU_BFS_MAX_BINS]; /* in the bin, less begin */
};

/* Edges [from, end) of the frontier, of `lists` queue entries from `list` on. */
struct edge_range {
    uint32_t list, lists, from, end;
};

/* The frontier of a level. */
struct binned_frontier {
    hw_bfs::level_queue<uint32_t> queue;
    uint32_t vertices, edges;
};

/* Loads queue entry `entry`, whose first edge is `before`, as list i of the tile from edge `from`
 * on. */
template <class Lists>
__device__ __forceinline__ void
load_binned_list(const kernel_params &params, const binned_frontier &frontier, uint32_t entry,
                 uint32_t before, uint32_t from, edge_tile &tile, uint32_t i)
{
    const uint32_t v = __ldcg(frontier.queue.vertex + entry);
    const uint32_t first = before <= from ? 0 : before - from;
    uint32_t begin = 0, mark = 0;

    if constexpr (Lists::inline_length > 0) {
        const uint32_t after = entry + 1 < frontier.vertices
                                   ? __ldcg(frontier.queue.prefix + entry + 1)
                                   : frontier.edges;
        if (after - before <= Lists::inline_length) {
            mark = list_is_inline;
            begin = v * Lists::inline_length;
        }
    }
    if (!mark)
        begin = Lists::template list_begin<uint32_t>(params, v);
    tile.source[i] = v | mark;
    tile.list[i] = begin + from - before;
    atomicOr(&tile.first_edges[first / 32], 1u << (first & 31));
}

/* Loads the lists of a tile of up to tile_edges edges from range.from on, before `to`, and sets
 * range.end and range.lists. All threads of the block. */
template <class Lists>
__device__ void load_binned_lists(const kernel_params &params, const binned_frontier &frontier,
                                  edge_tile &tile, uint32_t to, edge_range &range)
{
    const uint32_t last = range.list + most_lists;
    count64 lists = 0;

    range.end = min(to, range.from + tile_edges);
    if (last < frontier.vertices)
        range.end = min(range.end, __ldcg(frontier.queue.prefix + last));
    if (threadIdx.x < tile_words)
        tile.first_edges[threadIdx.x] = 0;
    for (uint32_t bin = threadIdx.x; bin < params.bins.count; bin += threads)
        tile.count[bin] = 0;
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < most_lists; i += threads) {
        const uint32_t entry = range.list + i;
        const uint32_t before =
            entry < frontier.vertices ? __ldcg(frontier.queue.prefix + entry) : UINT32_MAX;
        if (before >= range.end)
            break;
        load_binned_list<Lists>(params, frontier, entry, before, range.from, tile, i);
    }
    __syncthreads();
    const uint32_t own =
        threadIdx.x < tile_words ? static_cast<uint32_t>(__popc(tile.first_edges[threadIdx.x])) : 0;
    const count64 upto = block_scan(own, &lists);
    if (threadIdx.x < tile_words)
        tile.lists_before[threadIdx.x] = static_cast<uint32_t>(upto);
    range.lists = static_cast<uint32_t>(lists);
    __syncthreads();
}

/* The neighbor at the end of edge `edge` of a tile. */
template <class Lists>
__device__ __forceinline__ uint32_t binned_neighbor(const kernel_params &params,
                                                    const edge_tile &tile, uint32_t edge,
                                                    uint32_t *source)
{
    const uint32_t upto = tile.first_edges[edge / 32] & HW_WARP >> (31 - (edge & 31));
    const uint32_t list = tile.lists_before[edge / 32] + __popc(upto) - 1;
    const uint32_t at = tile.list[list] + edge;

    *source = tile.source[list];
    if constexpr (Lists::inline_length > 0)
        if (*source & list_is_inline) {
            *source ^= list_is_inline;
            return __ldg(Lists::inline_lists(params) + at);
        }
    return __ldg(Lists::neighbors(params) + at);
}

/* Reserves places in the bins for the entries of a tile, of which tile.count says how many each
 * gets. Returns how many all get. All threads of the block. */
__device__ uint32_t reserve_bins(const hw_one_gpu_bfs_bins &bins, edge_tile &tile)
{
    const uint32_t first = threadIdx.x * bins_per_thread;
    uint32_t place[bins_per_thread], own = 0;
    count64 all = 0;

#pragma unroll
    for (uint32_t k = 0; k < bins_per_thread; k++) {
        const uint32_t count = first + k < bins.count ? tile.count[first + k] : 0;
        place[k] = count ? atomicAdd(bins.size + first + k, count) : 0;
        own += count;
    }
    uint32_t begin = static_cast<uint32_t>(block_scan(own, &all));
#pragma unroll
    for (uint32_t k = 0; k < bins_per_thread; k++) {
        if (first + k >= bins.count)
            break;
        tile.begin[first + k] = begin;
        tile.place[first + k] = place[k] - begin;
        begin += tile.count[first + k];
    }
    __syncthreads();
    return static_cast<uint32_t>(all);
}

/* Visits the target of an entry that its bin has no room for. Returns whether it was new. */
__device__ __noinline__ uint32_t visit_beyond_bin(const kernel_params &params, uint32_t *visited,
                                                  count64 entry)
{
    const uint32_t target = static_cast<uint32_t>(entry >> 32), bit = 1u << (target & 31);

    if (__ldcg(visited + target / 32) & bit || atomicOr(visited + target / 32, bit) & bit)
        return 0;
    params.search.parent[target] = static_cast<uint32_t>(entry);
    return 1;
}

/* Stores the sorted entries of a tile in the bins. Returns how many vertices the thread discovered
 * for want of room. All threads of the block. */
__device__ uint32_t store_tile(const kernel_params &params, const edge_tile &tile, uint32_t length,
                               uint32_t *visited)
{
    const hw_one_gpu_bfs_bins &bins = params.bins;
    uint32_t discovered = 0;

    for (uint32_t i = threadIdx.x; i < length; i += threads) {
        const count64 entry = tile.entry[i];
        const uint32_t bin = static_cast<uint32_t>(entry >> 32) >> bins.shift;
        const uint32_t place = tile.place[bin] + i;
        if (place < bins.capacity)
            bins.entry[static_cast<count64>(bin) * bins.capacity + place] = entry;
        else
            discovered += visit_beyond_bin(params, visited, entry);
    }
    return discovered;
}

/* Sorts the edges of a tile, whose lists are loaded, by bin. Returns how many entries these are:
 * edges to leaves have none. All threads of the block. */
template <class Lists>
__device__ uint32_t sort_tile(const kernel_params &params, edge_tile &tile, uint32_t length)
{
    const uint32_t shift = params.bins.shift;
    uint32_t target[edges_per_thread], source[edges_per_thread], place[edges_per_thread];

#pragma unroll
    for (uint32_t k = 0; k < edges_per_thread; k++) {
        const uint32_t edge = k * threads + threadIdx.x;
        target[k] = HW_INVALID_VERTEX;
        if (edge < length)
            target[k] = binned_neighbor<Lists>(params, tile, edge, &source[k]);
        if (Lists::has_leaves && target[k] >= params.graph.core)
            target[k] = HW_INVALID_VERTEX;
    }
#pragma unroll
    for (uint32_t k = 0; k < edges_per_thread; k++)
        if (target[k] != HW_INVALID_VERTEX)
            place[k] = atomicAdd(&tile.count[target[k] >> shift], 1u);
    __syncthreads();
    const uint32_t entries = reserve_bins(params.bins, tile);
#pragma unroll
    for (uint32_t k = 0; k < edges_per_thread; k++)
        if (target[k] != HW_INVALID_VERTEX)
            tile.entry[tile.begin[target[k] >> shift] + place[k]] =
                static_cast<count64>(target[k]) << 32 | source[k];
    __syncthreads();
    return Lists::has_leaves ? entries : length;
}

/* Stores the block's share of the frontier's edges in bins. Returns how many vertices the thread
 * discovered for want of room. All threads of the grid. */
template <class Lists>
__device__ uint32_t bin_edges(const kernel_params &params, const binned_frontier &frontier,
                              uint32_t *visited, uint4 *shared_memory)
{
    edge_tile &tile = *reinterpret_cast<edge_tile *>(shared_memory);
    const uint32_t share = frontier.edges / gridDim.x + 1;
    const count64 begin = static_cast<count64>(blockIdx.x) * share;
    const uint32_t to = static_cast<uint32_t>(min(begin + share, count64{frontier.edges}));
    edge_range range = {0, 0, static_cast<uint32_t>(begin), 0};
    uint32_t discovered = 0;

    if (begin >= frontier.edges)
        return 0;
    range.list = warp_prefix_search<uint32_t>(frontier.queue.prefix, frontier.vertices, range.from);
    while (range.from < to) {
        load_binned_lists<Lists>(params, frontier, tile, to, range);
        const uint32_t entries = sort_tile<Lists>(params, tile, range.end - range.from);
        discovered += store_tile(params, tile, entries, visited);
        range.list += range.lists - 1; /* the last list may go on */
        if (range.list + 1 < frontier.vertices &&
            __ldcg(frontier.queue.prefix + range.list + 1) <= range.end)
            range.list++;
        range.from = range.end;
        __syncthreads();
    }
    return discovered;
}

/* A bin in shared memory: bits before and after the visit, `words` each, and parents. */
struct bin_in_shared {
    uint32_t *before, *after, *parent;
};

/* Visits the targets of a bin's first `size` entries. Returns how many the thread discovered. */
__device__ uint32_t visit_entries(const count64 *entry, uint32_t size, uint32_t width,
                                  const bin_in_shared &bin)
{
    constexpr uint32_t together = 4;
    uint32_t discovered = 0;

    for (uint32_t i = threadIdx.x; i < size; i += together * threads) {
        count64 next[together];
#pragma unroll
        for (uint32_t k = 0; k < together; k++)
            next[k] = i + k * threads < size ? __ldcs(entry + i + k * threads) : ~0ull;
#pragma unroll
        for (uint32_t k = 0; k < together; k++) {
            const uint32_t at = static_cast<uint32_t>(next[k] >> 32) & (width - 1),
                           bit = 1u << (at & 31);
            if (next[k] == ~0ull || bin.after[at / 32] & bit)
                continue;
            if (atomicOr(bin.after + at / 32, bit) & bit)
                continue;
            bin.parent[at] = static_cast<uint32_t>(next[k]);
            discovered++;
        }
    }
    return discovered;
}

/* Visits the targets in all bins and empties them. Returns how many vertices the thread discovered.
 * After a grid barrier. All threads of the grid. */
__device__ uint32_t visit_bins(const kernel_params &params, uint32_t *visited, uint4 *shared_memory)
{
    const hw_one_gpu_bfs_bins &bins = params.bins;
    const uint32_t width = 1u << bins.shift, all_words = bitmap_words(params);
    uint32_t *memory = reinterpret_cast<uint32_t *>(shared_memory);
    const bin_in_shared shared = {memory, memory + width / 32, memory + width / 16};
    uint32_t discovered = 0;

    for (uint32_t bin = blockIdx.x; bin < bins.count; bin += gridDim.x) {
        const uint32_t word = bin * (width / 32), words = min(width / 32, all_words - word);
        const uint32_t size = min(__ldcg(bins.size + bin), bins.capacity);
        for (uint32_t i = threadIdx.x; i < words; i += threads)
            shared.before[i] = shared.after[i] = __ldcg(visited + word + i);
        __syncthreads();
        discovered += visit_entries(bins.entry + static_cast<count64>(bin) * bins.capacity, size,
                                    width, shared);
        __syncthreads();
        for (uint32_t i = threadIdx.x; i < words; i += threads)
            visited[word + i] = shared.after[i];
        for (uint32_t i = threadIdx.x; i < 32 * words; i += threads)
            if ((shared.after[i / 32] & ~shared.before[i / 32]) >> (i & 31) & 1)
                params.search.parent[32 * word + i] = shared.parent[i];
        if (threadIdx.x == 0)
            bins.size[bin] = 0;
        __syncthreads();
    }
    return discovered;
}

} // namespace
} // namespace hw_one_gpu_bfs

#endif
