/*
 * Method `fused`: top-down levels, on one GPU and on several.
 *
 * The edges of the frontier are cut into equal ranges, whose lists are found by binary search in
 * the prefix sums of their lengths ("A New GPU-based parallel BFS": merge-path style
 * redistribution). An atomic OR on the visited bitmap decides which edge discovers a vertex. Levels
 * give each warp a range of its own. Where levels both queue and send discoveries, blocks may take
 * a tile at a time in place of that, and reserve places in queue and inboxes together.
 *
 * A class Peers says what differs: hw_one_gpu_bfs::one_gpu, whose vertices are all local and which
 * sends nothing, and hw_peer_bfs::peer_gpus. Both have, all static and with the kernel's parameters
 * as first argument:
 *
 *   edge_bits             bits of the edges in packed queue sizes
 *   core                  vertices with bits, on all GPUs
 *   tile                  edges per thread and tile, at most 4
 *   neighbors, parents    arrays
 *   list_begin<Offset>    offset of the list of a local vertex
 *   record                list_record of a local vertex
 *   global_id             of a local vertex
 *   is_local, local_id    of a global id
 *   skips_precheck<mode>  whether bits are set without looking at them first
 *   own_words             words of the bitmap for this GPU's vertices
 *   word_index            of such a word in the bitmap
 *   inline_length         lists of at most so many elements are in inline_lists() as well, so far
 *                         apart, where no offset is needed; 0: there are none
 *   note_local<mode>, note_remote<mode>   called for each discovery
 */
#ifndef HOPWAVE_GPU_BFS_DIRECTION_OPTIMIZING_TOP_DOWN_CUH
#define HOPWAVE_GPU_BFS_DIRECTION_OPTIMIZING_TOP_DOWN_CUH

#include "gpu/device/packed_queue.h"
#include "gpu/device/prefix_search.cuh"
#include "gpu/device/warp.cuh"
#include "gpu/graph/device_graph.h"

#include <cuda_runtime.h>

namespace hw_bfs
{
namespace
{

using count64 = unsigned long long;
constexpr int threads = 1024, warps = threads / 32;

/* What a top-down level does with discoveries. Several GPUs: sends them to all; to owners, which
 * queue them or do not; as bits. One GPU: queues them or does not. */
enum push_mode { push_to_all, push_queued, push_unqueued, push_bits };

__host__ __device__ constexpr bool is_queued(push_mode mode)
{
    return mode == push_to_all || mode == push_queued;
}

/* Length of a vertex's list, less what searches need not expand, and the number of vertices whose
 * first in-neighbor it is. */
struct list_record {
    uint32_t length, refs;
};

/* The queue of a level: vertices by local id, edges before each, packed size. */
template <typename Offset> struct level_queue {
    uint32_t *vertex;
    Offset *prefix;
    count64 *size;
};

/* The lists of one tile, or of the whole frontier, in shared memory: up to Peers::tile * threads
 * entries each. */
template <typename Offset> struct tile_lists {
    Offset *begin;    /* offset of the list, less the edges before it */
    uint32_t *prefix; /* edges before the list */
    uint32_t *vertex; /* global id */
};

template <typename Offset>
__device__ __forceinline__ tile_lists<Offset> tile_lists_at(uint4 *shared_memory, uint32_t capacity)
{
    Offset *begin = reinterpret_cast<Offset *>(shared_memory);
    uint32_t *words = reinterpret_cast<uint32_t *>(begin + capacity);

    return {begin, words, words + capacity};
}

/* This GPU's vertices that one thread discovers in a tile. */
struct tile_discoveries {
    uint32_t local[4];
    count64 mine[4]; /* packed size; 0: none, or nothing to expand */
};

/* Sums of one thread over a level. */
struct push_counts {
    uint32_t any;                 /* vertices that were new to this GPU's bitmap */
    uint32_t local;               /* of those, vertices of this GPU */
    uint32_t first_neighbor_refs; /* vertices whose first in-neighbor is among these */
};

/* Exclusive sum over the threads of a block; *total: the sum over all. All threads of the block.
 * cub::BlockScan takes as many registers, and 64 bytes of shared memory more (CUDA 13.0, sm_90). */
__device__ count64 block_scan(count64 own, count64 *total)
{
    __shared__ count64 sum[warps];
    const uint32_t lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    const count64 upto = hw_warp_scan(own);

    __syncthreads();
    if (lane == 31)
        sum[warp] = upto;
    __syncthreads();
    const count64 before = hw_warp_scan(sum[lane]); /* redundantly in every warp */
    *total = __shfl_sync(HW_WARP, before, 31);
    return __shfl_sync(HW_WARP, before, warp) - sum[warp] + upto - own;
}

/* How many of `count` edges or entries a thread processes at a time. */
__device__ __forceinline__ uint32_t items_per_thread(count64 count)
{
    const count64 round = static_cast<count64>(gridDim.x) * threads;

    return count >= 4 * round ? 4 : count > round ? 2 : 1;
}

/* Appends the vertices that the block discovered to a queue. All threads of the block. */
template <class Peers, typename Offset>
__device__ void enqueue(const level_queue<Offset> &queue, const tile_discoveries &discovered)
{
    __shared__ count64 start[warps];
    const int lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    const count64 mine =
        discovered.mine[0] + discovered.mine[1] + discovered.mine[2] + discovered.mine[3];

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
            base = atomicAdd(queue.size, to);
        base = __shfl_sync(HW_WARP, base, 31);
        start[lane] = base + to - own;
    }
    __syncthreads();
    count64 at = start[warp] + sum - mine;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        if (!discovered.mine[k])
            continue;
        queue.vertex[hw_packed_entries(at, Peers::edge_bits)] = discovered.local[k];
        queue.prefix[hw_packed_entries(at, Peers::edge_bits)] =
            static_cast<Offset>(hw_packed_work(at, Peers::edge_bits));
        at += discovered.mine[k];
    }
}

/* ---- tiles ---- */

/* Loads queue entry `entry` into the tile whose first edge is `base`. */
template <class Peers, typename Offset, class Params>
__device__ __forceinline__ void load_list(const Params &params, const level_queue<Offset> &queue,
                                          uint32_t entry, count64 base,
                                          const tile_lists<Offset> &lists, uint32_t i)
{
    const uint32_t local = __ldcg(queue.vertex + entry);
    const count64 before = __ldcg(queue.prefix + entry);

    lists.prefix[i] =
        before <= base ? 0 : static_cast<uint32_t>(min(before - base, count64{UINT32_MAX}));
    lists.begin[i] =
        Peers::template list_begin<Offset>(params, local) + static_cast<Offset>(base - before);
    lists.vertex[i] = Peers::global_id(params, local);
}

/* Loads `count` queue entries, from entry `list` on. All threads of the block. */
template <class Peers, typename Offset, class Params>
__device__ void load_lists(const Params &params, const level_queue<Offset> &queue, count64 base,
                           uint32_t list, uint32_t count, const tile_lists<Offset> &lists)
{
    for (uint32_t i = threadIdx.x; i < count; i += threads)
        load_list<Peers>(params, queue, list + i, base, lists, i);
    __syncthreads();
}

/* Loads the queue entries whose edges a tile covers. Returns their number. All threads of the
 * block. */
template <class Peers, typename Offset, class Params>
__device__ uint32_t load_tile(const Params &params, const level_queue<Offset> &queue, count64 base,
                              uint32_t length, uint32_t vertices, const tile_lists<Offset> &lists)
{
    __shared__ uint32_t bounds[2];
    const uint32_t warp = threadIdx.x / 32;

    __syncthreads(); /* the lists of the tile before are no longer read */
    if (warp < 2) {
        const uint32_t end =
            warp_prefix_search<Offset>(queue.prefix, vertices, warp ? base + length - 1 : base);
        if ((threadIdx.x & 31) == 0)
            bounds[warp] = end;
    }
    __syncthreads();
    const uint32_t list = bounds[0], count = bounds[1] - list + 1;
    load_lists<Peers>(params, queue, base, list, count, lists);
    return count;
}

/* The neighbor at the end of edge `edge`, or HW_INVALID_VERTEX from `end` on. */
template <class Peers, typename Offset, class Params>
__device__ __forceinline__ uint32_t neighbor_at(const Params &params,
                                                const tile_lists<Offset> &lists, uint32_t count,
                                                uint32_t edge, uint32_t end, uint32_t *source)
{
    *source = HW_INVALID_VERTEX;
    if (edge >= end)
        return HW_INVALID_VERTEX;
    const uint32_t list = prefix_search(lists.prefix, count, edge);
    *source = lists.vertex[list];
    return __ldg(Peers::neighbors(params) + static_cast<Offset>(lists.begin[list] + edge));
}

/* ---- discovery ---- */

/* Visits a vertex of this GPU that nobody visited before. Returns its packed size if it is to be
 * queued, else 0. */
template <class Peers, push_mode mode, class Params>
__device__ __forceinline__ count64 visit_local(const Params &params, uint32_t local,
                                               uint32_t parent, push_counts &counts)
{
    Peers::parents(params)[local] = parent;
    Peers::template note_local<mode>(params, local);
    counts.local++;
    if (!is_queued(mode))
        return 0;
    const list_record record = Peers::record(params, local);
    counts.first_neighbor_refs += record.refs;
    return hw_pack_entry(record.length, Peers::edge_bits);
}

/* Marks those of up to four vertices that are new to this GPU's bitmap and visits those that it
 * owns. Loads and atomic operations of all four are in flight together. Returns a bit for each new
 * one. */
template <class Peers, push_mode mode, class Params>
__device__ __forceinline__ uint32_t visit(const Params &params, uint32_t *visited,
                                          const uint32_t *target, const uint32_t *parent,
                                          tile_discoveries &discovered, push_counts &counts)
{
    const uint32_t core = Peers::core(params);
    uint32_t word[4], new_bits = 0;

#pragma unroll
    for (int k = 0; k < 4; k++) /* A cached word may be stale. It never has bits that memory lacks,
                                   and the atomic OR decides. */
        if (target[k] >= core)
            word[k] = HW_WARP;
        else
            word[k] = Peers::template skips_precheck<mode>(params) ? 0 : visited[target[k] / 32];
#pragma unroll
    for (int k = 0; k < 4; k++) {
        const uint32_t bit = 1u << (target[k] & 31);
        if (!(word[k] & bit))
            word[k] = atomicOr(visited + target[k] / 32, bit);
    }
#pragma unroll
    for (int k = 0; k < 4; k++) {
        discovered.mine[k] = 0;
        discovered.local[k] = 0;
        if (word[k] >> (target[k] & 31) & 1)
            continue;
        new_bits |= 1u << k;
        if (!Peers::is_local(params, target[k])) {
            Peers::template note_remote<mode>(params, target[k], parent[k]);
            continue;
        }
        discovered.local[k] = Peers::local_id(params, target[k]);
        discovered.mine[k] =
            visit_local<Peers, mode>(params, discovered.local[k], parent[k], counts);
    }
    counts.any += __popc(new_bits);
    return new_bits;
}

/* ---- levels ---- */

/*
 * Expands this GPU's frontier in tiles of the block. visited: this GPU's bitmap; next: the queue of
 * the next level. send(target, parent, new_bits) is called for each tile with up to four edges per
 * thread, by all threads of the block. All threads of the grid.
 */
template <class Peers, push_mode mode, typename Offset, class Params, class Send>
__device__ push_counts push_and_send(const Params &params, const level_queue<Offset> &queue,
                                     const level_queue<Offset> &next, count64 frontier,
                                     uint32_t *visited, uint4 *shared_memory, const Send &send)
{
    const count64 edges = hw_packed_work(frontier, Peers::edge_bits);
    const uint32_t vertices = hw_packed_entries(frontier, Peers::edge_bits);
    const uint32_t capacity = threads * Peers::tile(params);
    const uint32_t tile = threads * min(items_per_thread(edges), Peers::tile(params));
    const tile_lists<Offset> lists = tile_lists_at<Offset>(shared_memory, capacity);
    /* A queue that fits is loaded once; then warps do not wait for each other between tiles. */
    const bool cached = vertices <= capacity && edges <= UINT32_MAX - tile;
    push_counts counts = {0, 0, 0};

    if (cached)
        load_lists<Peers>(params, queue, 0, 0, vertices, lists);
    for (count64 base = blockIdx.x * static_cast<count64>(tile); base < edges;
         base += gridDim.x * static_cast<count64>(tile)) {
        const uint32_t length =
            static_cast<uint32_t>(min(static_cast<count64>(tile), edges - base));
        const uint32_t count =
            cached ? vertices : load_tile<Peers>(params, queue, base, length, vertices, lists);
        const uint32_t first = (cached ? static_cast<uint32_t>(base) : 0) + threadIdx.x;
        const uint32_t end = first - threadIdx.x + length;
        uint32_t target[4], parent[4];
        tile_discoveries discovered;
#pragma unroll
        for (int k = 0; k < 4; k++)
            target[k] =
                neighbor_at<Peers>(params, lists, count, first + k * threads, end, &parent[k]);
        const uint32_t new_bits =
            visit<Peers, mode>(params, visited, target, parent, discovered, counts);
        if (is_queued(mode))
            enqueue<Peers>(next, discovered);
        send(target, parent, new_bits);
    }
    return counts;
}

/* ---- levels by warps ---- */

/* Discoveries of a warp that are not queued yet, in shared memory. */
constexpr uint32_t warp_buffer_capacity = 256;
struct warp_buffer {
    uint32_t local[warp_buffer_capacity], length[warp_buffer_capacity];
};

/* Appends the buffer to a queue and empties it: one atomic operation. Warp-collective. */
template <class Peers, typename Offset>
__device__ __forceinline__ void flush(warp_buffer &buffer, uint32_t &count,
                                      const level_queue<Offset> &queue)
{
    const uint32_t lane = threadIdx.x & 31;
    count64 edges = 0, start = 0;

    if (count == 0)
        return;
    __syncwarp();
    for (uint32_t i = lane; i < count; i += 32)
        edges += buffer.length[i];
    edges = hw_warp_sum64(edges);
    if (lane == 0)
        start = atomicAdd(queue.size, hw_pack_size(count, edges, Peers::edge_bits));
    start = __shfl_sync(HW_WARP, start, 0);
    uint32_t entry = hw_packed_entries(start, Peers::edge_bits) + lane;
    count64 before = hw_packed_work(start, Peers::edge_bits);
    for (uint32_t i = lane; i - lane < count; i += 32, entry += 32) {
        const count64 length = i < count ? buffer.length[i] : 0, upto = hw_warp_scan(length);
        if (i < count) {
            queue.vertex[entry] = buffer.local[i];
            queue.prefix[entry] = static_cast<Offset>(before + upto - length);
        }
        before += __shfl_sync(HW_WARP, upto, 31);
    }
    __syncwarp();
    count = 0;
}

/* Stores up to four discoveries a lane in the buffer, which has room for them. Warp-collective. */
template <class Peers>
__device__ __forceinline__ void store_discoveries(warp_buffer &buffer, uint32_t &count,
                                                  const tile_discoveries &discovered)
{
    const uint32_t lower = (1u << (threadIdx.x & 31)) - 1;

#pragma unroll
    for (int k = 0; k < 4; k++) {
        const uint32_t ballot = __ballot_sync(HW_WARP, discovered.mine[k] != 0);
        const uint32_t at = count + __popc(ballot & lower);
        if (discovered.mine[k]) {
            buffer.local[at] = discovered.local[k];
            buffer.length[at] =
                static_cast<uint32_t>(hw_packed_work(discovered.mine[k], Peers::edge_bits));
        }
        count += __popc(ballot);
    }
}

/* Up to 32 consecutive lists, one a lane. */
template <typename Offset> struct warp_lists {
    Offset begin;     /* offset of the list, less the edges from `base` to it */
    uint32_t prefix;  /* edges from `base` to the list */
    uint32_t source;  /* global id */
    uint32_t inlined; /* bits of the lanes whose lists are in Peers::inline_lists() */
    count64 end;      /* edges before the list after the last one */
};

/* Loads the lists from queue entry `list` on, for edges from `base` on. Warp-collective. */
template <class Peers, typename Offset, class Params>
__device__ __forceinline__ warp_lists<Offset>
load_warp_lists(const Params &params, const level_queue<Offset> &queue, uint32_t list,
                uint32_t vertices, count64 edges, count64 base)
{
    const uint32_t i = list + (threadIdx.x & 31);
    warp_lists<Offset> lists = {0, UINT32_MAX, HW_INVALID_VERTEX, 0, edges};
    bool inlined = false;

    if (vertices - list > 32)
        lists.end = __ldcg(queue.prefix + list + 32);
    if (i < vertices) {
        const uint32_t local = __ldcg(queue.vertex + i);
        const count64 before = __ldcg(queue.prefix + i);
        lists.prefix =
            before <= base ? 0 : static_cast<uint32_t>(min(before - base, count64{UINT32_MAX}));
        if constexpr (Peers::inline_length > 0) {
            const count64 after = i + 1 < vertices ? __ldcg(queue.prefix + i + 1) : edges;
            inlined = after - before <= Peers::inline_length;
        }
        lists.begin = (inlined ? static_cast<Offset>(local) * Peers::inline_length
                               : Peers::template list_begin<Offset>(params, local)) +
                      static_cast<Offset>(base - before);
        lists.source = Peers::global_id(params, local);
    }
    if constexpr (Peers::inline_length > 0)
        lists.inlined = __ballot_sync(HW_WARP, inlined);
    return lists;
}

/* The array that holds the list of a lane. */
template <class Peers, typename Offset, class Params>
__device__ __forceinline__ const uint32_t *
array_of_list(const Params &params, const warp_lists<Offset> &lists, uint32_t lane)
{
    if constexpr (Peers::inline_length > 0)
        if (lists.inlined >> lane & 1)
            return Peers::inline_lists(params);
    return Peers::neighbors(params);
}

/*
 * Expands this GPU's frontier, in ranges of edges of which each warp takes its own: warps wait for
 * nobody, so that the latencies of one overlap with those of the others. Arguments as above; send()
 * is called by all threads of a warp. All threads of the grid.
 */
template <class Peers, push_mode mode, typename Offset, class Params, class Send>
__device__ push_counts push_by_warps(const Params &params, const level_queue<Offset> &queue,
                                     const level_queue<Offset> &next, count64 frontier,
                                     uint32_t *visited, uint4 *shared_memory, const Send &send)
{
    constexpr uint32_t step = 128, longest = 1024;
    const count64 edges = hw_packed_work(frontier, Peers::edge_bits);
    const uint32_t vertices = hw_packed_entries(frontier, Peers::edge_bits);
    const uint32_t lane = threadIdx.x & 31, all = gridDim.x * warps;
    const uint32_t range = static_cast<uint32_t>(
        min((edges / (2 * all) + step) / step * step, static_cast<count64>(longest)));
    warp_buffer &buffer = reinterpret_cast<warp_buffer *>(shared_memory)[threadIdx.x / 32];
    uint32_t buffered = 0;
    push_counts counts = {0, 0, 0};

    for (count64 from = static_cast<count64>(threadIdx.x / 32 * gridDim.x + blockIdx.x) * range;
         from < edges; from += static_cast<count64>(all) * range) {
        const count64 to = min(from + range, edges);
        uint32_t list = warp_prefix_search<Offset>(queue.prefix, vertices, from);
        for (count64 base = from; base < to; list += 32) {
            const warp_lists<Offset> lists =
                load_warp_lists<Peers>(params, queue, list, vertices, edges, base);
            const uint32_t length = static_cast<uint32_t>(min(to, lists.end) - base);
            for (uint32_t first = lane; first - lane < length; first += step) {
                uint32_t target[4], parent[4];
                tile_discoveries discovered;
#pragma unroll
                for (uint32_t k = 0; k < 4; k++) {
                    const uint32_t edge = first + 32 * k;
                    const uint32_t at = warp_lane_search(lists.prefix, edge);
                    const Offset begin = __shfl_sync(HW_WARP, lists.begin, at);
                    parent[k] = __shfl_sync(HW_WARP, lists.source, at);
                    target[k] = edge < length ? __ldg(array_of_list<Peers>(params, lists, at) +
                                                      static_cast<Offset>(begin + edge))
                                              : HW_INVALID_VERTEX;
                }
                const uint32_t new_bits =
                    visit<Peers, mode>(params, visited, target, parent, discovered, counts);
                send(target, parent, new_bits);
                if (is_queued(mode)) {
                    if (buffered > warp_buffer_capacity - step)
                        flush<Peers>(buffer, buffered, next);
                    store_discoveries<Peers>(buffer, buffered, discovered);
                }
            }
            base += length;
        }
    }
    if (is_queued(mode))
        flush<Peers>(buffer, buffered, next);
    return counts;
}

/* For levels that send no entries. */
struct send_nothing {
    __device__ __forceinline__ void operator()(const uint32_t *, const uint32_t *, uint32_t) const
    {
    }
};

/* Copies a bitmap, before a level that queues nothing. All threads of the grid. */
__device__ __forceinline__ void copy_bitmap(const uint32_t *from, uint32_t words, uint32_t *to)
{
    const uint64_t fours = words / 4;

    for (uint64_t i = hw_grid_thread(); i < fours; i += hw_grid_threads())
        reinterpret_cast<uint4 *>(to)[i] = __ldcg(reinterpret_cast<const uint4 *>(from) + i);
    for (uint64_t w = 4 * fours + hw_grid_thread(); w < words; w += hw_grid_threads())
        to[w] = __ldcg(from + w);
}

/* Queues this GPU's vertices that a level discovered without queueing: bits set in `visited` but
 * not in `before`. Returns the thread's counts. All threads of the grid. */
template <class Peers, typename Offset, class Params>
__device__ push_counts queue_discovered(const Params &params, const level_queue<Offset> &queue,
                                        const uint32_t *visited, const uint32_t *before)
{
    const uint32_t words = Peers::own_words(params), lane = threadIdx.x & 31;
    push_counts counts = {0, 0, 0};

    for (uint64_t base = hw_grid_thread() & ~31ull; base < words; base += hw_grid_threads()) {
        const uint32_t own = static_cast<uint32_t>(base) + lane;
        const uint32_t at = own < words ? Peers::word_index(params, own) : 0;
        uint32_t new_bits = own < words ? __ldcg(visited + at) & ~__ldcg(before + at) : 0;
        while (__any_sync(HW_WARP, new_bits != 0)) {
            const uint32_t local = own * 32 + __ffs(new_bits) - 1;
            count64 mine = 0, start = 0;
            if (new_bits) {
                const list_record record = Peers::record(params, local);
                mine = hw_pack_entry(record.length, Peers::edge_bits);
                counts.local++;
                counts.first_neighbor_refs += record.refs;
            }
            new_bits &= new_bits - 1;
            const count64 sum = hw_warp_scan(mine);
            if (lane == 31 && sum)
                start = atomicAdd(queue.size, sum);
            start = __shfl_sync(HW_WARP, start, 31) + sum - mine;
            if (mine) {
                queue.vertex[hw_packed_entries(start, Peers::edge_bits)] = local;
                queue.prefix[hw_packed_entries(start, Peers::edge_bits)] =
                    static_cast<Offset>(hw_packed_work(start, Peers::edge_bits));
            }
        }
    }
    return counts;
}

} // namespace
} // namespace hw_bfs

#endif
