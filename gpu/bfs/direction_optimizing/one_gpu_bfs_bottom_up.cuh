/*
 * Method `fused` on one GPU: bottom-up levels on the whole grid.
 *
 * Each unvisited vertex searches its in-neighbors for a visited one, which becomes its parent.
 * Three stages, cheapest first:
 *
 * 1. A warp processes a chunk of 256 consecutive vertices. Unvisited ones test their first
 * in-neighbor. The array of first in-neighbors is read in order, four vertices per lane. The bitmap
 * is tested with the words of the hubs cached in shared memory.
 * 2. Vertices whose first in-neighbor is unvisited, typically a fifth, are compacted in shared
 * memory. They test their eight inline neighbors, one 32-byte sector each. The chunk's words of the
 * next bitmap are assembled in shared memory and written once.
 * 3. Vertices that are still without parent search the rest of their lists, two or four lanes per
 * list and two lists at a time.
 *
 * Most vertices find a parent at once where there are hubs. Elsewhere they take several tests, most
 * of them in the second-level cache, whose rate then bounds the level. So kernels of graphs without
 * hubs test fewer neighbors at a time (Lists::few_tests), and where degrees vary the first level
 * tests a summary of the bitmap first (gpu/device/summarized_bitmap.cuh).
 */
#ifndef HOPWAVE_GPU_BFS_DIRECTION_OPTIMIZING_ONE_GPU_BFS_BOTTOM_UP_CUH
#define HOPWAVE_GPU_BFS_DIRECTION_OPTIMIZING_ONE_GPU_BFS_BOTTOM_UP_CUH

#include "gpu/bfs/direction_optimizing/one_gpu_bfs_device.cuh"
#include "gpu/bfs/direction_optimizing/one_gpu_bfs_level_bitmap.cuh"
#include "gpu/graph/device_graph.cuh"

namespace hw_one_gpu_bfs
{
namespace
{

/* A block lists at most so many of the vertices that stay unvisited. */
constexpr uint32_t max_listed_per_block = 256;

/* Counters and short lists of a block, in shared memory. The long lists are in the queues. */
struct pull_counters {
    uint32_t candidate_count; /* entries of pull_buffers::candidates */
    uint32_t remaining_count; /* entries of pull_buffers::remaining */
    uint32_t unvisited_count, unvisited_begin;
    uint32_t unvisited[max_listed_per_block]; /* vertices that stay unvisited */
};

/* What a bottom-up level reads and writes, except the bitmap that it tests. */
struct pull_buffers {
    uint32_t *next_visited; /* the bitmap that the level writes */
    uint32_t *candidates;   /* unvisited vertices, when few are left */
    uint32_t *remaining;    /* vertices whose inline neighbors are all unvisited */
    pull_counters *counters;
    bool initial; /* first bottom-up level: unreached vertices have no parent entry yet */
};

/* Sums of one thread. */
struct pull_counts {
    uint32_t found, probes;
};

/* Reserves `mine` entries per lane in a list of the block. Returns the index of the lane's first
 * one. Warp-collective. */
__device__ __forceinline__ uint32_t reserve(uint32_t *count, uint32_t mine)
{
    const uint32_t upto = hw_warp_scan(mine);
    uint32_t start = 0;

    if ((threadIdx.x & 31) == 31 && upto)
        start = atomicAdd(count, upto);
    return __shfl_sync(HW_WARP, start, 31) + upto - mine;
}

/* Appends vertices that stay unvisited to the block's list. left: this lane has one.
 * Warp-collective. */
__device__ __forceinline__ void record_unvisited(const pull_buffers &pull, bool left, uint32_t v)
{
    const uint32_t lane = threadIdx.x & 31, ballot = __ballot_sync(HW_WARP, left);
    uint32_t at = 0;

    if (ballot == 0)
        return;
    if (lane == 0)
        at = atomicAdd(&pull.counters->unvisited_count, static_cast<uint32_t>(__popc(ballot)));
    at = __shfl_sync(HW_WARP, at, 0) + __popc(ballot & ((1u << lane) - 1));
    if (left && at < max_listed_per_block)
        pull.counters->unvisited[at] = v;
}

/* ---- chunks ---- */

/* A chunk is eight words of the bitmap. Within each half (four words) a lane owns four consecutive
 * vertices; their bits are the lane's nibble. */
constexpr uint32_t chunk_words = HW_ONE_GPU_BFS_CHUNK_VERTICES / 32, halves = chunk_words / 4;

__device__ __forceinline__ uint32_t chunks_of(const kernel_params &params)
{
    return (bitmap_words(params) + chunk_words - 1) / chunk_words;
}

/* Scratch of a warp for its chunk, in shared memory. */
struct chunk_scratch {
    uint32_t found[chunk_words];                       /* bits of discovered vertices */
    uint16_t unvisited[HW_ONE_GPU_BFS_CHUNK_VERTICES]; /* vertices whose first in-neighbor is
                                                          unvisited */
};

/* The word of the chunk that this lane holds; all ones for lanes without a word. */
__device__ __forceinline__ uint32_t chunk_word(const kernel_params &params,
                                               const cached_bitmap &map, uint32_t chunk)
{
    const uint32_t lane = threadIdx.x & 31;
    const uint64_t at = static_cast<uint64_t>(chunk) * chunk_words + lane;

    return lane < chunk_words && at < bitmap_words(params) ? map.bits[at] : HW_WARP;
}

/* Which of the lane's four vertices in a half are unvisited. Warp-collective. */
__device__ __forceinline__ uint32_t unvisited_nibble(uint32_t word, uint32_t half)
{
    const uint32_t lane = threadIdx.x & 31;

    return ~__shfl_sync(HW_WARP, word, 4 * half + lane / 8) >> 4 * (lane & 7) & 15;
}

/* Loads the first in-neighbors of the lane's vertices, for nibbles with an unvisited vertex. word:
 * from chunk_word(). */
__device__ __forceinline__ void load_first_neighbors(const kernel_params &params, uint32_t chunk,
                                                     uint32_t word, uint4 *source)
{
    const uint4 *first = reinterpret_cast<const uint4 *>(params.graph.first_in_neighbor) +
                         static_cast<uint64_t>(chunk) * (HW_ONE_GPU_BFS_CHUNK_VERTICES / 4) +
                         (threadIdx.x & 31);

#pragma unroll
    for (uint32_t half = 0; half < halves; half++)
        source[half] = unvisited_nibble(word, half) ? __ldcs(first + 32 * half) : no_neighbors();
}

/* Which of four in-neighbors are visited. */
template <class Bitmap>
__device__ __forceinline__ uint32_t visited_nibble(const Bitmap &map, const uint4 &source)
{
    const uint32_t x = bitmap_word(map, source.x), y = bitmap_word(map, source.y);
    const uint32_t z = bitmap_word(map, source.z), w = bitmap_word(map, source.w);

    return has_bit(x, source.x) | has_bit(y, source.y) << 1 | has_bit(z, source.z) << 2 |
           has_bit(w, source.w) << 3;
}

/* Writes the parents of four vertices: in-neighbors for those in `hits`; HW_INVALID_VERTEX for the
 * others in `unvisited`, in the first bottom-up level only. */
__device__ __forceinline__ void write_parents(uint32_t *parent, const uint4 &source, uint32_t hits,
                                              uint32_t unvisited, bool initial)
{
    const uint32_t written = initial ? unvisited : hits;
    const uint4 four = make_uint4(
        hits & 1 ? source.x : HW_INVALID_VERTEX, hits & 2 ? source.y : HW_INVALID_VERTEX,
        hits & 4 ? source.z : HW_INVALID_VERTEX, hits & 8 ? source.w : HW_INVALID_VERTEX);

    if (written == 15) {
        __stcs(reinterpret_cast<uint4 *>(parent), four);
        return;
    }
    if (written & 1)
        __stcs(parent + 0, four.x);
    if (written & 2)
        __stcs(parent + 1, four.y);
    if (written & 4)
        __stcs(parent + 2, four.z);
    if (written & 8)
        __stcs(parent + 3, four.w);
}

/* Which of four vertices have an in-neighbor. */
__device__ __forceinline__ uint32_t has_neighbor_nibble(const uint4 &source)
{
    return (source.x != HW_INVALID_VERTEX) | (source.y != HW_INVALID_VERTEX) << 1 |
           (source.z != HW_INVALID_VERTEX) << 2 | (source.w != HW_INVALID_VERTEX) << 3;
}

/* Assembles the nibbles of eight lanes into one word, in all eight. Warp-collective. */
__device__ __forceinline__ uint32_t word_of_nibbles(uint32_t nibble)
{
    uint32_t word = nibble << 4 * (threadIdx.x & 7);

    word |= __shfl_xor_sync(HW_WARP, word, 1);
    word |= __shfl_xor_sync(HW_WARP, word, 2);
    return word | __shfl_xor_sync(HW_WARP, word, 4);
}

/* Tests the first in-neighbors of a chunk. Stores vertices to test further in own.unvisited and
 * returns their number. Warp-collective. */
template <class Bitmap>
__device__ __forceinline__ uint32_t test_first_neighbors(const kernel_params &params,
                                                         const Bitmap &map,
                                                         const pull_buffers &pull, uint32_t chunk,
                                                         uint32_t word, const uint4 *source,
                                                         chunk_scratch &own, pull_counts &counts)
{
    const uint32_t lane = threadIdx.x & 31;
    uint32_t *parent = params.search.parent +
                       static_cast<uint64_t>(chunk) * HW_ONE_GPU_BFS_CHUNK_VERTICES + 4 * lane;
    uint32_t remaining = 0, mine = 0;

#pragma unroll
    for (uint32_t half = 0; half < halves; half++) {
        const uint32_t unvisited = unvisited_nibble(word, half),
                       has_neighbor = unvisited & has_neighbor_nibble(source[half]);
        const uint32_t hits = has_neighbor & visited_nibble(map, source[half]);
        if (unvisited)
            write_parents(parent + 128 * half, source[half], hits, unvisited, pull.initial);
        const uint32_t made = word_of_nibbles(hits);
        if ((lane & 7) == half)
            mine = made;
        remaining |= (has_neighbor & ~hits) << 4 * half;
        counts.found += __popc(hits);
        counts.probes += __popc(has_neighbor);
    }
    if ((lane & 7) < halves)
        own.found[4 * (lane & 7) + lane / 8] = mine;
    const uint32_t remaining_count = __popc(remaining), upto = hw_warp_scan(remaining_count);
    for (uint32_t place = upto - remaining_count; remaining; remaining &= remaining - 1) {
        const uint32_t bit = __ffs(remaining) - 1;
        own.unvisited[place++] = static_cast<uint16_t>(bit / 4 * 128 + 4 * lane + (bit & 3));
    }
    __syncwarp();
    return __shfl_sync(HW_WARP, upto, 31);
}

/* Lists the unvisited vertices, without testing them: used when few are left. */
__device__ void list_unvisited(const kernel_params &params, const cached_bitmap &map,
                               const pull_buffers &pull)
{
    constexpr uint32_t each = 32 / chunk_words; /* chunks per warp and iteration */
    const uint32_t chunks = chunks_of(params), stride = gridDim.x * each * warps;
    const uint32_t lane = threadIdx.x & 31;

    for (uint32_t base = threadIdx.x / 32 * each * gridDim.x; base < chunks; base += stride) {
        const uint32_t at =
            (base + lane / chunk_words * gridDim.x + blockIdx.x) * chunk_words + lane % chunk_words;
        const bool own = at < bitmap_words(params);
        const uint32_t word = own ? map.bits[at] : HW_WARP;
        if (own)
            pull.next_visited[at] = word;
        const uint32_t pendant =
            params.pendant.core_count && own ? __ldg(params.pendant.bitmap + at) : 0;
        uint32_t unvisited = ~(word | pendant),
                 place = reserve(&pull.counters->candidate_count, __popc(unvisited));
        for (; unvisited; unvisited &= unvisited - 1)
            pull.candidates[place++] = at * 32 + __ffs(unvisited) - 1;
    }
}

/* ---- inline neighbors ---- */

/* A vertex and its inline neighbors. */
struct prober {
    bool has_neighbor; /* the vertex has in-neighbors */
    uint32_t vertex;
    uint4 four, last;
};

__device__ __forceinline__ prober load_prober(const kernel_params &params, bool active,
                                              uint32_t vertex)
{
    prober own = {false, vertex, no_neighbors(), no_neighbors()};

    if (active) {
        own.four = inline_neighbors(params.graph, vertex, 0);
        own.last = inline_neighbors(params.graph, vertex, 1);
        own.has_neighbor = own.four.x != HW_INVALID_VERTEX;
    }
    return own;
}

/* The same as probe_four(), two at a time: fewer tests, and a wait more. */
template <class Bitmap>
__device__ __forceinline__ uint32_t probe_pairs(const Bitmap &map, const uint4 &source, bool &more,
                                                uint32_t &probes)
{
    const uint32_t x = bitmap_word(map, source.x), y = bitmap_word(map, source.y);

    more = source.w < map.core;
    probes += (source.x < map.core) + (source.y < map.core);
    if (has_bit(x, source.x))
        return source.x;
    if (has_bit(y, source.y))
        return source.y;
    const uint32_t z = bitmap_word(map, source.z), w = bitmap_word(map, source.w);
    probes += (source.z < map.core) + more;
    if (has_bit(z, source.z))
        return source.z;
    return has_bit(w, source.w) ? source.w : HW_INVALID_VERTEX;
}

/* Searches four inline neighbors for a visited one. */
template <class Lists>
__device__ __forceinline__ uint32_t probe_inline(const typename Lists::bitmap &map,
                                                 const uint4 &source, bool &more, uint32_t &probes)
{
    if constexpr (Lists::few_tests)
        return probe_pairs(map, source, more, probes);
    return probe_four(map, source, more, probes);
}

/* Searches the inline neighbors for a visited one and stores it as parent. Vertices without one are
 * appended to pull.remaining if their list continues, else stay unvisited. Returns the parent or
 * HW_INVALID_VERTEX. Warp-collective. */
template <class Lists>
__device__ __forceinline__ uint32_t probe_inline_neighbors(const kernel_params &params,
                                                           const typename Lists::bitmap &map,
                                                           const pull_buffers &pull,
                                                           const prober &own, pull_counts &counts)
{
    const uint32_t lower = (1u << (threadIdx.x & 31)) - 1;
    bool more;
    uint32_t parent = probe_inline<Lists>(map, own.four, more, counts.probes), place = 0;

    if (parent == HW_INVALID_VERTEX && more)
        parent = probe_inline<Lists>(map, own.last, more, counts.probes);
    const bool found = parent != HW_INVALID_VERTEX, deep = !found && more;
    if (found)
        params.search.parent[own.vertex] = parent;
    counts.found += found;
    const uint32_t ballot = __ballot_sync(HW_WARP, deep);
    if (ballot) {
        if (lower == 0)
            place =
                atomicAdd(&pull.counters->remaining_count, static_cast<uint32_t>(__popc(ballot)));
        place = __shfl_sync(HW_WARP, place, 0) + __popc(ballot & lower);
        if (deep)
            pull.remaining[place] = own.vertex;
    }
    record_unvisited(pull, own.has_neighbor && !found && !deep, own.vertex);
    return parent;
}

/* Tests all inline neighbors of the listed candidates, the first included. */
template <class Lists>
__device__ void pull_listed(const kernel_params &params, const typename Lists::bitmap &map,
                            const pull_buffers &pull, pull_counts &counts)
{
    const uint32_t count = pull.counters->candidate_count;

    for (uint32_t base = threadIdx.x & ~31u; base < count; base += threads) {
        const uint32_t i = base + (threadIdx.x & 31);
        const prober own = load_prober(params, i < count, i < count ? pull.candidates[i] : 0);
        const uint32_t parent = probe_inline_neighbors<Lists>(params, map, pull, own, counts);
        if (parent == HW_INVALID_VERTEX)
            continue;
        const uint32_t bit = 1u << (own.vertex & 31);
        atomicOr(pull.next_visited + own.vertex / 32, bit);
        if (parent == own.four.x)
            atomicOr(params.search.parent_is_first_neighbor + own.vertex / 32, bit);
    }
}

/* Tests the inline neighbors of a chunk's remaining vertices, 64 at a time. Warp-collective. */
template <class Lists>
__device__ __forceinline__ void
test_inline_neighbors(const kernel_params &params, const typename Lists::bitmap &map,
                      const pull_buffers &pull, uint32_t chunk, uint32_t count, chunk_scratch &own,
                      pull_counts &counts)
{
    const uint32_t lane = threadIdx.x & 31, base = chunk * HW_ONE_GPU_BFS_CHUNK_VERTICES;

    for (uint32_t at = 0; at < count; at += 64) {
        prober two[2];
#pragma unroll
        for (uint32_t k = 0; k < 2; k++) {
            const uint32_t i = at + 32 * k + lane;
            two[k] = load_prober(params, i < count, base + (i < count ? own.unvisited[i] : 0));
            two[k].four.x = HW_INVALID_VERTEX; /* already tested */
        }
#pragma unroll
        for (uint32_t k = 0; k < 2; k++) {
            if (at + 32 * k >= count)
                break;
            if (probe_inline_neighbors<Lists>(params, map, pull, two[k], counts) !=
                HW_INVALID_VERTEX)
                atomicOr(own.found + (two[k].vertex - base) / 32, 1u << (two[k].vertex & 31));
        }
    }
    __syncwarp();
}

/* Prefetches the first in-neighbors of a chunk, one cache line per word. A prefetch, because
 * registers to load them are not free yet. word: the lane's word of that chunk. */
__device__ __forceinline__ void prefetch_first_neighbors(const kernel_params &params,
                                                         uint32_t chunk, uint32_t word)
{
    const uint64_t at = static_cast<uint64_t>(chunk) * chunk_words + (threadIdx.x & 31);

    if (word != HW_WARP)
        hw_prefetch_l2(params.graph.first_in_neighbor + 32 * at);
}

/* All chunks, distributed cyclically over blocks, then warps. Software pipeline: prefetches the
 * first in-neighbors of the next chunk and loads the words of the one after it. */
template <class Lists>
__device__ void pull_chunks(const kernel_params &params, const typename Lists::bitmap &map,
                            const pull_buffers &pull, chunk_scratch &own, pull_counts &counts)
{
    const uint32_t chunks = chunks_of(params), stride = gridDim.x * warps, lane = threadIdx.x & 31;
    uint32_t chunk = threadIdx.x / 32 * gridDim.x + blockIdx.x;
    uint32_t word = chunk_word(params, map, chunk),
             next_word = chunk_word(params, map, chunk + stride);

    for (; chunk < chunks; chunk += stride) {
        const uint32_t second_next = chunk_word(params, map, chunk + 2 * stride);
        uint4 source[halves];
        load_first_neighbors(params, chunk, word, source);
        prefetch_first_neighbors(params, chunk + stride, next_word);
        const uint32_t count =
            test_first_neighbors(params, map, pull, chunk, word, source, own, counts);
        const uint32_t at = chunk * chunk_words + lane;
        const bool has_word = lane < chunk_words && at < bitmap_words(params);
        const uint32_t settled = has_word ? own.found[lane] : 0;
        __syncwarp(); /* before own.found changes */
        test_inline_neighbors<Lists>(params, map, pull, chunk, count, own, counts);
        if (has_word) {
            pull.next_visited[at] = word | own.found[lane];
            if (pull.initial)
                params.search.parent_is_first_neighbor[at] = settled;
            else if (settled) /* atomic, so that no load is waited for */
                atomicOr(params.search.parent_is_first_neighbor + at, settled);
        }
        __syncwarp(); /* before the next chunk reuses the scratch */
        word = next_word;
        next_word = second_next;
    }
}

/* ---- the rest of the lists ---- */

/* Elements [at, end) of a list, of which a group of lanes has the first four a lane in v. */
template <typename Offset> struct list_window {
    Offset at, end;
    uint32_t v[4];
};

/* Loads what v holds. */
template <uint32_t lanes, typename Offset>
__device__ __forceinline__ void load_window(const kernel_params &params, list_window<Offset> &own)
{
    const uint32_t sub = threadIdx.x % lanes;
    const Offset rest = own.at < own.end ? own.end - own.at : 0;

#pragma unroll
    for (uint32_t k = 0; k < 4; k++) {
        const uint32_t i = lanes * k + sub;
        own.v[k] = i < rest ? __ldg(params.graph.in.neighbor + own.at + i) : HW_INVALID_VERTEX;
    }
}

/* The lanes of this lane's group. */
template <uint32_t lanes> __device__ __forceinline__ uint32_t group_mask()
{
    return ((1u << lanes) - 1) << (threadIdx.x & 31) / lanes * lanes;
}

/* Advances a window past its elements; to the end of the list if a visited in-neighbor was found or
 * none can follow: lists ascend, so the first vertex outside the core ends the search. hit: of this
 * lane; hits: lanes of the group that have one. Returns that of the group, in all its lanes, or
 * HW_INVALID_VERTEX. Warp-collective. */
template <uint32_t lanes, class Bitmap, typename Offset>
__device__ __forceinline__ uint32_t finish_window(const Bitmap &map, list_window<Offset> &own,
                                                  uint32_t hit, uint32_t hits)
{
    constexpr uint32_t length = 4 * lanes;
    const uint32_t ends = __ballot_sync(HW_WARP, own.v[3] >= map.core) & group_mask<lanes>();

    hit = __shfl_sync(HW_WARP, hit, hits ? __ffs(hits) - 1 : threadIdx.x & 31);
    own.at = hits || ends || own.end - own.at <= length ? own.end : own.at + length;
    return hits ? hit : HW_INVALID_VERTEX;
}

/* Tests two windows at the same time, `together` elements of each lane at a time, and advances
 * them. parent: set where a visited in-neighbor was found, in all lanes of the group.
 * Warp-collective. */
template <uint32_t lanes, uint32_t together, class Bitmap, typename Offset>
__device__ __forceinline__ void probe_windows(const Bitmap &map, list_window<Offset> (&own)[2],
                                              uint32_t (&parent)[2], uint32_t &probes)
{
    uint32_t hit[2] = {HW_INVALID_VERTEX, HW_INVALID_VERTEX}, hits[2] = {0, 0};

#pragma unroll
    for (uint32_t from = 0; from < 4; from += together) {
        uint32_t word[2][together];
        bool open[2];
#pragma unroll
        for (uint32_t j = 0; j < 2; j++)
            open[j] = !hits[j] && own[j].v[from] < map.core;
        if (from > 0 && !__any_sync(HW_WARP, open[0] || open[1]))
            break;
#pragma unroll
        for (uint32_t j = 0; j < 2; j++)
#pragma unroll
            for (uint32_t k = 0; k < together; k++)
                word[j][k] = open[j] ? bitmap_word(map, own[j].v[from + k]) : 0;
#pragma unroll
        for (uint32_t j = 0; j < 2; j++) {
#pragma unroll
            for (int k = together - 1; k >= 0; k--) {
                probes += open[j] && own[j].v[from + k] < map.core;
                if (has_bit(word[j][k], own[j].v[from + k]))
                    hit[j] = own[j].v[from + k];
            }
            hits[j] = __ballot_sync(HW_WARP, hit[j] != HW_INVALID_VERTEX) & group_mask<lanes>();
        }
    }
#pragma unroll
    for (uint32_t j = 0; j < 2; j++) {
        const uint32_t found = finish_window<lanes>(map, own[j], hit[j], hits[j]);
        parent[j] = found != HW_INVALID_VERTEX ? found : parent[j];
    }
}

/* Stores the parent of a group's vertex, or lists the vertex as still unvisited. Warp-collective.
 */
template <uint32_t lanes>
__device__ __forceinline__ void store_group_result(const kernel_params &params,
                                                   const pull_buffers &pull, bool active,
                                                   uint32_t v, uint32_t parent, pull_counts &counts)
{
    const bool leader = active && threadIdx.x % lanes == 0, found = parent != HW_INVALID_VERTEX;

    if (leader && found) {
        params.search.parent[v] = parent;
        atomicOr(pull.next_visited + v / 32, 1u << (v & 31));
    }
    counts.found += leader && found;
    record_unvisited(pull, leader && !found, v);
}

/* One vertex per lane, with the bounds of its list. */
template <typename Offset> struct remaining_lists {
    uint32_t v;
    Offset begin, end;
};

template <typename Offset>
__device__ __forceinline__ remaining_lists<Offset> load_remaining_lists(const kernel_params &params,
                                                                        uint32_t v, bool active)
{
    if (!active)
        return {0, 0, 0};
    return {v, hw_list_begin<Offset>(params.graph.in, v),
            hw_list_begin<Offset>(params.graph.in, v + 1)};
}

/* The first window of the list that lane `from` holds, not loaded yet. Warp-collective. */
template <typename Offset>
__device__ __forceinline__ list_window<Offset> window_of(const remaining_lists<Offset> &lists,
                                                         uint32_t from)
{
    const Offset begin = __shfl_sync(HW_WARP, lists.begin, from),
                 end = __shfl_sync(HW_WARP, lists.end, from);

    return {begin + HW_ONE_GPU_BFS_INLINE_NEIGHBORS, end, {}};
}

/* A warp takes 32 vertices, loads the bounds of the next 32 lists early, and the vertices after
 * these. Each group has the windows of two lists in flight. */
template <typename Offset, class Lists>
__device__ void pull_remaining_lists(const kernel_params &params, const typename Lists::bitmap &map,
                                     const pull_buffers &pull, pull_counts &counts)
{
    constexpr uint32_t together = Lists::few_tests ? 1 : 4, lanes = Lists::few_tests ? 2 : 4;
    constexpr uint32_t groups = 32 / lanes;
    const uint32_t count = pull.counters->remaining_count, lane = threadIdx.x & 31,
                   group = lane / lanes;
    uint32_t own = threadIdx.x, next = own + threads < count ? pull.remaining[own + threads] : 0;
    remaining_lists<Offset> lists =
        load_remaining_lists<Offset>(params, own < count ? pull.remaining[own] : 0, own < count);

    for (; own - lane < count; own += threads) {
        const remaining_lists<Offset> upcoming =
            load_remaining_lists<Offset>(params, next, own + threads < count);
        if (own + 2 * threads < count)
            next = pull.remaining[own + 2 * threads];
        for (uint32_t k = 0; k < 32 && own - lane + k < count; k += 2 * groups) {
            const uint32_t from[2] = {k + group, k + group + groups};
            list_window<Offset> window[2] = {window_of(lists, from[0]), window_of(lists, from[1])};
            uint32_t parent[2] = {HW_INVALID_VERTEX, HW_INVALID_VERTEX};
            while (
                __any_sync(HW_WARP, window[0].at < window[0].end || window[1].at < window[1].end)) {
                load_window<lanes>(params, window[0]);
                load_window<lanes>(params, window[1]);
                probe_windows<lanes, together>(map, window, parent, counts.probes);
            }
#pragma unroll
            for (uint32_t j = 0; j < 2; j++)
                store_group_result<lanes>(params, pull, own - lane + from[j] < count,
                                          __shfl_sync(HW_WARP, lists.v, from[j]), parent[j],
                                          counts);
        }
        lists = upcoming;
    }
}

/* ---- a level ---- */

/* Appends the block's unvisited vertices to the list of the grid, if the block has few. All threads
 * of the block, between two grid barriers. */
__device__ __forceinline__ void publish_unvisited(const kernel_params &params, grid_context &grid,
                                                  pull_counters &counters)
{
    const uint32_t count = counters.unvisited_count;

    if (threadIdx.x == 0) {
        grid.block->unvisited = count;
        counters.unvisited_begin = HW_ONE_GPU_BFS_TAIL_VERTICES;
        if (count > 0 && count <= max_listed_per_block)
            counters.unvisited_begin = atomicAdd(&shared_phase(grid).listed, count);
    }
    __syncthreads();
    const uint32_t at = counters.unvisited_begin;
    if (at < HW_ONE_GPU_BFS_TAIL_VERTICES && threadIdx.x < count &&
        at + threadIdx.x < HW_ONE_GPU_BFS_TAIL_VERTICES)
        params.search.unvisited[at + threadIdx.x] = counters.unvisited[threadIdx.x];
}

/* One bottom-up level: tests the bitmap `visited`, writes the bitmap `next`. All threads of the
 * grid; the caller runs a barrier before and after. */
template <typename Offset, class Lists>
__device__ void pull_level(const kernel_params &params, grid_context &grid, const uint32_t *visited,
                           uint32_t *next, bool initial, uint32_t unvisited, uint4 *shared_memory)
{
    __shared__ pull_counters counters;
    const uint32_t core = params.graph.core, each = (chunks_of(params) + gridDim.x - 1) / gridDim.x;
    const uint64_t own = static_cast<uint64_t>(each) * HW_ONE_GPU_BFS_CHUNK_VERTICES * blockIdx.x;
    chunk_scratch *scratch =
        reinterpret_cast<chunk_scratch *>(shared_memory + params.config.hub_words / 4);
    const pull_buffers pull = {next, params.search.queue[0] + own, params.search.queue[1] + own,
                               &counters, initial};
    const bool few_unvisited = !initial && unvisited < core / 64;
    pull_counts counts = {0, 0};

    if (threadIdx.x == 0)
        counters.candidate_count = counters.remaining_count = counters.unvisited_count = 0;
    const typename Lists::bitmap map =
        stage_level_bitmap<Lists>(params, grid, visited, initial, unvisited, shared_memory);
    if (few_unvisited) {
        list_unvisited(params, map, pull);
        __syncthreads();
        pull_listed<Lists>(params, map, pull, counts);
    } else {
        pull_chunks<Lists>(params, map, pull, scratch[threadIdx.x / 32], counts);
    }
    __syncthreads();
    pull_remaining_lists<Offset, Lists>(params, map, pull, counts);
    add_counts(&grid.block->probes, counts.probes);
    add_counts(&grid.block->discovered, counts.found);
    __syncthreads();
    publish_unvisited(params, grid, counters);
}

} // namespace
} // namespace hw_one_gpu_bfs

#endif
