/*
 * Method `fused`: levels bottom-up on the whole grid.
 *
 * A warp takes 256 vertices at a time. The unvisited among them look at their first source,
 * whose array is read in order, four vertices a lane, against the part of the bitmap where
 * the hubs are, held in shared memory. Those left over, most often a fifth, are brought
 * together in shared memory and look at their first eight sources, one sector of memory
 * each; words of the next bitmap are put together there, too, and written once. Those left
 * by that look at the rest of their lists at the end, four lanes for each.
 */
#ifndef HOPWAVE_GPU_BFS_DIRECTION_OPTIMIZING_ONE_GPU_BFS_BOTTOM_UP_CUH
#define HOPWAVE_GPU_BFS_DIRECTION_OPTIMIZING_ONE_GPU_BFS_BOTTOM_UP_CUH

#include "gpu/bfs/direction_optimizing/one_gpu_bfs_device.cuh"
#include "gpu/graph/device_graph.cuh"

namespace
{

/* Of the vertices that stay unvisited, a block lists so many. */
constexpr uint32_t listed_most = 256;

/* The bitmap `bits`, of which the hubs' words go to `room`. All threads of the block. */
__device__ __forceinline__ tested hold(const kernel_params &plan, const uint32_t *bits, uint4 *room,
                                       uint32_t looked_up)
{
    const uint32_t most = min(plan.hub_words, words_of(plan));

    return hold<threads>(bits, plan.graph.core, most, room, looked_up);
}

/* Lists of a block, in shared memory but for their elements. */
struct pull_lists {
    uint32_t near_count; /* unvisited vertices, where they are only listed */
    uint32_t deep_count; /* vertices that the sources at hand left */
    uint32_t left_count, left_at;
    uint32_t left[listed_most]; /* vertices that stay unvisited */
};

/* A level: what is read and written beside the bitmap that is tested. */
struct pull_t {
    uint32_t *next; /* the bitmap that is being made */
    uint32_t *near, *deep;
    pull_lists *lists;
    bool initial; /* no parent was written yet where none was found */
};

/* What one thread counts. */
struct pull_counts {
    uint32_t found, probes;
};

/* Claims places for `mine` elements of this lane in a list of the block. A whole warp. */
__device__ __forceinline__ uint32_t claim(uint32_t *count, uint32_t mine)
{
    const uint32_t upto = hw_warp_scan(mine);
    uint32_t start = 0;

    if ((threadIdx.x & 31) == 31 && upto)
        start = atomicAdd(count, upto);
    return __shfl_sync(HW_WARP, start, 31) + upto - mine;
}

/* Notes the vertices that stay unvisited. A whole warp. */
__device__ __forceinline__ void leave(const pull_t &pull, bool left, uint32_t v)
{
    const uint32_t lane = threadIdx.x & 31, ballot = __ballot_sync(HW_WARP, left);
    uint32_t at = 0;

    if (ballot == 0)
        return;
    if (lane == 0)
        at = atomicAdd(&pull.lists->left_count, static_cast<uint32_t>(__popc(ballot)));
    at = __shfl_sync(HW_WARP, at, 0) + __popc(ballot & ((1u << lane) - 1));
    if (left && at < listed_most)
        pull.lists->left[at] = v;
}

/* ---- chunks ---- */

/* A chunk is eight words of the bitmap. In its halves, of four words, a lane has four
 * vertices that follow each other, and the bits of these are its nibble. */
constexpr uint32_t chunk_words = HW_FUSED_CHUNK / 32, halves = chunk_words / 4;

__device__ __forceinline__ uint32_t chunks_of(const kernel_params &plan)
{
    return (words_of(plan) + chunk_words - 1) / chunk_words;
}

/* What a warp has of its chunk in shared memory. */
struct chunk_room {
    uint32_t found[chunk_words];   /* bits of those that were found */
    uint16_t open[HW_FUSED_CHUNK]; /* vertices that their first source left */
};

/* The word of this lane in a chunk; all ones where it has none. */
__device__ __forceinline__ uint32_t chunk_word(const kernel_params &plan, const tested &map,
                                               uint32_t chunk)
{
    const uint32_t lane = threadIdx.x & 31;
    const uint64_t at = static_cast<uint64_t>(chunk) * chunk_words + lane;

    return lane < chunk_words && at < words_of(plan) ? map.bits[at] : HW_WARP;
}

/* Which of this lane's four vertices in a half are unvisited. A whole warp. */
__device__ __forceinline__ uint32_t open_nibble(uint32_t word, uint32_t half)
{
    const uint32_t lane = threadIdx.x & 31;

    return ~__shfl_sync(HW_WARP, word, 4 * half + lane / 8) >> 4 * (lane & 7) & 15;
}

/* The first sources of a chunk's vertices, where any of four is unvisited. word: as
 * chunk_word() gives it. */
__device__ __forceinline__ void load_sources(const kernel_params &plan, uint32_t chunk,
                                             uint32_t word, uint4 *source)
{
    const uint4 *first = reinterpret_cast<const uint4 *>(plan.graph.first) +
                         static_cast<uint64_t>(chunk) * (HW_FUSED_CHUNK / 4) + (threadIdx.x & 31);

#pragma unroll
    for (uint32_t half = 0; half < halves; half++)
        source[half] = open_nibble(word, half) ? __ldcs(first + 32 * half) : no_sources();
}

/* Which of four sources are visited. */
__device__ __forceinline__ uint32_t visited_nibble(const tested &map, const uint4 &source)
{
    const uint32_t x = word_of(map, source.x), y = word_of(map, source.y);
    const uint32_t z = word_of(map, source.z), w = word_of(map, source.w);

    return has(x, source.x) | has(y, source.y) << 1 | has(z, source.z) << 2 | has(w, source.w) << 3;
}

/* Writes the parents of four vertices: those in `hits`, and none for the others in `open`
 * where nothing was pulled yet. */
__device__ __forceinline__ void write_parents(uint32_t *parent, const uint4 &source, uint32_t hits,
                                              uint32_t open, bool initial)
{
    const uint32_t written = initial ? open : hits;
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

/* Which of four vertices have a source. */
__device__ __forceinline__ uint32_t sourced_nibble(const uint4 &source)
{
    return (source.x != HW_INVALID_VERTEX) | (source.y != HW_INVALID_VERTEX) << 1 |
           (source.z != HW_INVALID_VERTEX) << 2 | (source.w != HW_INVALID_VERTEX) << 3;
}

/* The nibbles of eight lanes as the word that they make, in all of them. A whole warp. */
__device__ __forceinline__ uint32_t word_of_nibbles(uint32_t nibble)
{
    uint32_t word = nibble << 4 * (threadIdx.x & 7);

    word |= __shfl_xor_sync(HW_WARP, word, 1);
    word |= __shfl_xor_sync(HW_WARP, word, 2);
    return word | __shfl_xor_sync(HW_WARP, word, 4);
}

/* Tests the first sources of a chunk; those left over go to `own.open`. Returns how many.
 * A whole warp. */
__device__ __forceinline__ uint32_t test_first(const kernel_params &plan, const tested &map,
                                               const pull_t &pull, uint32_t chunk, uint32_t word,
                                               const uint4 *source, chunk_room &own,
                                               pull_counts &counts)
{
    const uint32_t lane = threadIdx.x & 31;
    uint32_t *parent = plan.parent + static_cast<uint64_t>(chunk) * HW_FUSED_CHUNK + 4 * lane;
    uint32_t keeps = 0, mine = 0;

#pragma unroll
    for (uint32_t half = 0; half < halves; half++) {
        const uint32_t open = open_nibble(word, half),
                       sourced = open & sourced_nibble(source[half]);
        const uint32_t hits = sourced & visited_nibble(map, source[half]);
        if (open)
            write_parents(parent + 128 * half, source[half], hits, open, pull.initial);
        const uint32_t made = word_of_nibbles(hits);
        if ((lane & 7) == half)
            mine = made;
        keeps |= (sourced & ~hits) << 4 * half;
        counts.found += __popc(hits);
        counts.probes += __popc(sourced);
    }
    if ((lane & 7) < halves)
        own.found[4 * (lane & 7) + lane / 8] = mine;
    const uint32_t kept = __popc(keeps), upto = hw_warp_scan(kept);
    for (uint32_t place = upto - kept; keeps; keeps &= keeps - 1) {
        const uint32_t bit = __ffs(keeps) - 1;
        own.open[place++] = static_cast<uint16_t>(bit / 4 * 128 + 4 * lane + (bit & 3));
    }
    __syncwarp();
    return __shfl_sync(HW_WARP, upto, 31);
}

/* Where few vertices are unvisited they are only listed. */
__device__ void list_unvisited(const kernel_params &plan, const tested &map, const pull_t &pull)
{
    constexpr uint32_t each = 32 / chunk_words; /* chunks at a time */
    const uint32_t chunks = chunks_of(plan), stride = gridDim.x * each * warps;
    const uint32_t lane = threadIdx.x & 31;

    for (uint32_t base = threadIdx.x / 32 * each * gridDim.x; base < chunks; base += stride) {
        const uint32_t at =
            (base + lane / chunk_words * gridDim.x + blockIdx.x) * chunk_words + lane % chunk_words;
        const bool own = at < words_of(plan);
        const uint32_t word = own ? map.bits[at] : HW_WARP;
        if (own)
            pull.next[at] = word;
        const uint32_t hanging = plan.trees && own ? __ldg(plan.hanging + at) : 0;
        uint32_t open = ~(word | hanging), place = claim(&pull.lists->near_count, __popc(open));
        for (; open; open &= open - 1)
            pull.near[place++] = at * 32 + __ffs(open) - 1;
    }
}

/* ---- the sources at hand ---- */

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
    return has(w, source.w) ? source.w : HW_INVALID_VERTEX;
}

/* One vertex that looks at its sources. */
struct prober {
    bool sourced; /* it has any */
    uint32_t vertex;
    uint4 four, last;
};

__device__ __forceinline__ prober load_prober(const kernel_params &plan, bool active,
                                              uint32_t vertex)
{
    prober own = {false, vertex, no_sources(), no_sources()};

    if (active) {
        own.four = near_sources(plan.graph, vertex, 0);
        own.last = near_sources(plan.graph, vertex, 1);
        own.sourced = own.four.x != HW_INVALID_VERTEX;
    }
    return own;
}

/* A visited one of the sources at hand; those who find none may go on with their lists, which
 * is noted, or stay unvisited. A whole warp. */
__device__ __forceinline__ uint32_t probe_near(const kernel_params &plan, const tested &map,
                                               const pull_t &pull, const prober &own,
                                               pull_counts &counts)
{
    const uint32_t lower = (1u << (threadIdx.x & 31)) - 1;
    bool more;
    uint32_t parent = probe_four(map, own.four, more, counts.probes), place = 0;

    if (parent == HW_INVALID_VERTEX && more)
        parent = probe_four(map, own.last, more, counts.probes);
    const bool found = parent != HW_INVALID_VERTEX, deep = !found && more;
    if (found)
        plan.parent[own.vertex] = parent;
    counts.found += found;
    const uint32_t ballot = __ballot_sync(HW_WARP, deep);
    if (ballot) {
        if (lower == 0)
            place = atomicAdd(&pull.lists->deep_count, static_cast<uint32_t>(__popc(ballot)));
        place = __shfl_sync(HW_WARP, place, 0) + __popc(ballot & lower);
        if (deep)
            pull.deep[place] = own.vertex;
    }
    leave(pull, own.sourced && !found && !deep, own.vertex);
    return parent;
}

/* Where only a list tells who is unvisited: the sources at hand from the first on. */
__device__ void pull_listed(const kernel_params &plan, const tested &map, const pull_t &pull,
                            pull_counts &counts)
{
    const uint32_t count = pull.lists->near_count;

    for (uint32_t base = threadIdx.x & ~31u; base < count; base += threads) {
        const uint32_t i = base + (threadIdx.x & 31);
        const prober own = load_prober(plan, i < count, i < count ? pull.near[i] : 0);
        const uint32_t parent = probe_near(plan, map, pull, own, counts);
        if (parent == HW_INVALID_VERTEX)
            continue;
        const uint32_t bit = 1u << (own.vertex & 31);
        atomicOr(pull.next + own.vertex / 32, bit);
        if (parent == own.four.x)
            atomicOr(plan.settled + own.vertex / 32, bit);
    }
}

/* Vertices of a chunk that their first source left: 64 at a time. A whole warp. */
__device__ __forceinline__ void test_near(const kernel_params &plan, const tested &map,
                                          const pull_t &pull, uint32_t chunk, uint32_t count,
                                          chunk_room &own, pull_counts &counts)
{
    const uint32_t lane = threadIdx.x & 31, base = chunk * HW_FUSED_CHUNK;

    for (uint32_t at = 0; at < count; at += 64) {
        prober two[2];
#pragma unroll
        for (uint32_t k = 0; k < 2; k++) {
            const uint32_t i = at + 32 * k + lane;
            two[k] = load_prober(plan, i < count, base + (i < count ? own.open[i] : 0));
            two[k].four.x = HW_INVALID_VERTEX; /* it was tested */
        }
#pragma unroll
        for (uint32_t k = 0; k < 2; k++) {
            if (at + 32 * k >= count)
                break;
            if (probe_near(plan, map, pull, two[k], counts) != HW_INVALID_VERTEX)
                atomicOr(own.found + (two[k].vertex - base) / 32, 1u << (two[k].vertex & 31));
        }
    }
    __syncwarp();
}

/* Sends for the first sources of a chunk with that word in this lane: a line of memory for
 * each word. They are not loaded yet, as the registers are better used meanwhile. */
__device__ __forceinline__ void fetch_sources(const kernel_params &plan, uint32_t chunk,
                                              uint32_t word)
{
    const uint64_t at = static_cast<uint64_t>(chunk) * chunk_words + (threadIdx.x & 31);

    if (word != HW_WARP)
        hw_prefetch_l2(plan.graph.first + 32 * at);
}

/* All chunks, dealt to the blocks and then to their warps in turn. The sources of the next
 * chunk, and the words of the one after it, are on their way meanwhile. */
__device__ void pull_chunks(const kernel_params &plan, const tested &map, const pull_t &pull,
                            chunk_room &own, pull_counts &counts)
{
    const uint32_t chunks = chunks_of(plan), stride = gridDim.x * warps, lane = threadIdx.x & 31;
    uint32_t chunk = threadIdx.x / 32 * gridDim.x + blockIdx.x;
    uint32_t word = chunk_word(plan, map, chunk), following = chunk_word(plan, map, chunk + stride);

    for (; chunk < chunks; chunk += stride) {
        const uint32_t later = chunk_word(plan, map, chunk + 2 * stride);
        uint4 source[halves];
        load_sources(plan, chunk, word, source);
        fetch_sources(plan, chunk + stride, following);
        const uint32_t count = test_first(plan, map, pull, chunk, word, source, own, counts);
        const uint32_t at = chunk * chunk_words + lane;
        const bool has_word = lane < chunk_words && at < words_of(plan);
        const uint32_t settled = has_word ? own.found[lane] : 0;
        __syncwarp(); /* before more are found */
        test_near(plan, map, pull, chunk, count, own, counts);
        if (has_word) {
            pull.next[at] = word | own.found[lane];
            if (pull.initial)
                plan.settled[at] = settled;
            else if (settled)
                plan.settled[at] |= settled;
        }
        __syncwarp(); /* before the next chunk's */
        word = following;
        following = later;
    }
}

/* ---- the rest of the lists ---- */

/* A stretch of 16 list elements that a group of four lanes looks at. */
constexpr uint32_t group_lanes = 4, groups = 32 / group_lanes, stretch_length = 4 * group_lanes;
template <typename Offset> struct stretch {
    Offset at, end;
    uint32_t v[4];
};

template <typename Offset>
__device__ __forceinline__ void load_stretch(const kernel_params &plan, stretch<Offset> &own)
{
    const uint32_t sub = threadIdx.x % group_lanes;
    const Offset rest = own.end - own.at;

#pragma unroll
    for (uint32_t k = 0; k < 4; k++) {
        const uint32_t i = group_lanes * k + sub;
        own.v[k] = i < rest ? __ldg(plan.graph.in.rank + own.at + i) : HW_INVALID_VERTEX;
    }
}

/*
 * The visited source in a stretch, in all lanes of the group, or HW_INVALID_VERTEX. own.at: after
 * the stretch, or at the end where one was found or none can come, as lists ascend and
 * vertices without bits end them. A whole warp.
 */
template <typename Offset>
__device__ __forceinline__ uint32_t probe_stretch(const tested &map, stretch<Offset> &own,
                                                  uint32_t &probes)
{
    const uint32_t lane = threadIdx.x & 31;
    const uint32_t group = ((1u << group_lanes) - 1) << lane / group_lanes * group_lanes;
    uint32_t word[4], hit = HW_INVALID_VERTEX;

#pragma unroll
    for (int k = 0; k < 4; k++)
        word[k] = word_of(map, own.v[k]);
#pragma unroll
    for (int k = 3; k >= 0; k--) {
        probes += own.v[k] < map.core;
        if (has(word[k], own.v[k]))
            hit = own.v[k];
    }
    const uint32_t hits = __ballot_sync(HW_WARP, hit != HW_INVALID_VERTEX) & group;
    const uint32_t ends = __ballot_sync(HW_WARP, own.v[3] >= map.core) & group;
    hit = __shfl_sync(HW_WARP, hit, hits ? __ffs(hits) - 1 : lane);
    own.at = hits || ends || own.end - own.at <= stretch_length ? own.end : own.at + stretch_length;
    return hits ? hit : HW_INVALID_VERTEX;
}

/* The rest of a list, until a visited source is found. A whole warp. */
template <typename Offset>
__device__ __forceinline__ uint32_t probe_rest(const kernel_params &plan, const tested &map,
                                               stretch<Offset> &own, uint32_t parent,
                                               uint32_t &probes)
{
    while (__any_sync(HW_WARP, own.at < own.end)) {
        load_stretch(plan, own);
        const uint32_t hit = probe_stretch(map, own, probes);
        parent = hit != HW_INVALID_VERTEX ? hit : parent;
    }
    return parent;
}

/* Settles the vertex of a group, or notes that it stays unvisited. A whole warp. */
__device__ __forceinline__ void conclude(const kernel_params &plan, const pull_t &pull, bool active,
                                         uint32_t v, uint32_t parent, pull_counts &counts)
{
    const bool leader = active && threadIdx.x % group_lanes == 0,
               found = parent != HW_INVALID_VERTEX;

    if (leader && found) {
        plan.parent[v] = parent;
        atomicOr(pull.next + v / 32, 1u << (v & 31));
    }
    counts.found += leader && found;
    leave(pull, leader && !found, v);
}

/* A vertex of each lane, and where the rest of its list is. */
template <typename Offset> struct deep_lists {
    uint32_t v;
    Offset at, end;
};

template <typename Offset>
__device__ __forceinline__ deep_lists<Offset>
load_deep(const kernel_params &plan, const pull_t &pull, uint32_t base, uint32_t count)
{
    const uint32_t own = base + (threadIdx.x & 31);
    deep_lists<Offset> lists = {0, 0, 0};

    if (own < count) {
        lists.v = pull.deep[own];
        lists.end = hw_begin<Offset>(plan.graph.in, lists.v + 1);
        lists.at = min(hw_begin<Offset>(plan.graph.in, lists.v) + HW_FUSED_NEAR, lists.end);
    }
    return lists;
}

/* The stretch at which a group begins the list of lane `from`. A whole warp. */
template <typename Offset>
__device__ __forceinline__ stretch<Offset>
begin_stretch(const kernel_params &plan, const deep_lists<Offset> &lists, uint32_t from)
{
    stretch<Offset> own = {
        __shfl_sync(HW_WARP, lists.at, from), __shfl_sync(HW_WARP, lists.end, from), {}};

    load_stretch(plan, own);
    return own;
}

/* A warp takes 32 vertices, whose lists are found while it looks at those before, and goes
 * through the lists 16 at a time, the first stretches of two by each group under way. */
template <typename Offset>
__device__ void pull_deep(const kernel_params &plan, const tested &map, const pull_t &pull,
                          pull_counts &counts)
{
    const uint32_t count = pull.lists->deep_count, group = (threadIdx.x & 31) / group_lanes;
    uint32_t base = threadIdx.x & ~31u;
    deep_lists<Offset> lists = load_deep<Offset>(plan, pull, base, count);

    for (; base < count; base += threads) {
        const deep_lists<Offset> upcoming = load_deep<Offset>(plan, pull, base + threads, count);
        for (uint32_t k = 0; k < 32 && base + k < count; k += 2 * groups) {
            const uint32_t from = k + group, other_from = from + groups;
            const uint32_t v = __shfl_sync(HW_WARP, lists.v, from);
            const uint32_t other = __shfl_sync(HW_WARP, lists.v, other_from);
            stretch<Offset> first = begin_stretch(plan, lists, from);
            stretch<Offset> second = begin_stretch(plan, lists, other_from);
            const uint32_t hit = probe_stretch(map, first, counts.probes);
            const uint32_t other_hit = probe_stretch(map, second, counts.probes);
            conclude(plan, pull, base + from < count, v,
                     probe_rest(plan, map, first, hit, counts.probes), counts);
            conclude(plan, pull, base + other_from < count, other,
                     probe_rest(plan, map, second, other_hit, counts.probes), counts);
        }
        lists = upcoming;
    }
}

/* ---- a level ---- */

/* Puts the vertices that stay unvisited on the list of the grid, if the block has few. All
 * threads of the block, between barriers. */
__device__ __forceinline__ void list_left(const kernel_params &plan, grid_context &crew,
                                          pull_lists &lists)
{
    const uint32_t count = lists.left_count;

    if (threadIdx.x == 0) {
        crew.own->left = count;
        lists.left_at = HW_FUSED_LEFT;
        if (count > 0 && count <= listed_most)
            lists.left_at = atomicAdd(&shared_phase(crew).listed, count);
    }
    __syncthreads();
    const uint32_t at = lists.left_at;
    if (at < HW_FUSED_LEFT && threadIdx.x < count && at + threadIdx.x < HW_FUSED_LEFT)
        plan.left[at + threadIdx.x] = lists.left[threadIdx.x];
}

/* One level bottom-up, all blocks: from the bitmap `seen` to `next`. */
template <typename Offset>
__device__ void pull_level(const kernel_params &plan, grid_context &crew, const uint32_t *seen,
                           uint32_t *next, bool initial, uint32_t unvisited, uint4 *room)
{
    __shared__ pull_lists lists;
    const uint32_t core = plan.graph.core, each = (chunks_of(plan) + gridDim.x - 1) / gridDim.x;
    const uint64_t own = static_cast<uint64_t>(each) * HW_FUSED_CHUNK * blockIdx.x;
    chunk_room *rooms = reinterpret_cast<chunk_room *>(room + plan.hub_words / 4);
    const pull_t pull = {next, plan.queue[0] + own, plan.queue[1] + own, &lists, initial};
    const bool few_left = !initial && unvisited < core / 64;
    pull_counts counts = {0, 0};

    if (threadIdx.x == 0)
        lists.near_count = lists.deep_count = lists.left_count = 0;
    const tested map = hold(plan, seen, room, unvisited > core / 4 ? unvisited : 0);
    if (few_left) {
        list_unvisited(plan, map, pull);
        __syncthreads();
        pull_listed(plan, map, pull, counts);
    } else {
        pull_chunks(plan, map, pull, rooms[threadIdx.x / 32], counts);
    }
    __syncthreads();
    pull_deep<Offset>(plan, map, pull, counts);
    add_counts(&crew.own->probes, counts.probes);
    add_counts(&crew.own->found, counts.found);
    __syncthreads();
    list_left(plan, crew, lists);
}

/* ---- the last levels ---- */

/* What a block needs for them in shared memory. */
struct tail_t {
    uint32_t unvisited[2][HW_FUSED_LEFT], found[HW_FUSED_LEFT], deep[HW_FUSED_LEFT];
};
struct tail_counts {
    uint32_t kept, found, deep, probes;
};

/* Whether a vertex is visited, from memory. */
__device__ __forceinline__ bool visited(const kernel_params &plan, const uint32_t *seen, uint32_t v)
{
    return v < plan.graph.core && has(__ldcg(seen + v / 32), v);
}

/* A visited one of the eight sources at hand; more: the list may go on. */
__device__ __forceinline__ uint32_t tail_source(const kernel_params &plan, const uint32_t *seen,
                                                uint32_t v, bool *more, uint32_t *probes)
{
    const uint4 four = near_sources(plan.graph, v, 0), last = near_sources(plan.graph, v, 1);
    const uint32_t all[HW_FUSED_NEAR] = {four.x, four.y, four.z, four.w,
                                         last.x, last.y, last.z, last.w};
    uint32_t parent = HW_INVALID_VERTEX;

#pragma unroll
    for (int k = HW_FUSED_NEAR - 1; k >= 0; k--) {
        *probes += all[k] < plan.graph.core;
        parent = visited(plan, seen, all[k]) ? all[k] : parent;
    }
    *more = last.w < plan.graph.core;
    return parent;
}

/* A visited source beyond those at hand, by a whole warp. */
template <typename Offset>
__device__ uint32_t tail_deep_source(const kernel_params &plan, const uint32_t *seen, uint32_t v,
                                     uint32_t *probes)
{
    const uint32_t lane = threadIdx.x & 31;
    const Offset end = hw_begin<Offset>(plan.graph.in, v + 1);

    for (Offset at = hw_begin<Offset>(plan.graph.in, v) + HW_FUSED_NEAR; at < end;
         at += min(end - at, Offset{32})) {
        const uint32_t u =
            lane < end - at ? __ldg(plan.graph.in.rank + at + lane) : HW_INVALID_VERTEX;
        const uint32_t hits = __ballot_sync(HW_WARP, visited(plan, seen, u));
        *probes += u < plan.graph.core;
        if (hits)
            return __shfl_sync(HW_WARP, u, __ffs(hits) - 1);
    }
    return HW_INVALID_VERTEX;
}

/* One level: of the `count` vertices in `list` those that have a visited source go to
 * tail.found, the others to `keep`. */
template <typename Offset>
__device__ void tail_level(const kernel_params &plan, const uint32_t *seen, const uint32_t *list,
                           uint32_t count, uint32_t *keep, tail_t &tail, tail_counts &counts)
{
    uint32_t probes = 0;

    for (uint32_t i = threadIdx.x; i < count; i += threads) {
        bool more;
        const uint32_t v = list[i], parent = tail_source(plan, seen, v, &more, &probes);
        if (parent != HW_INVALID_VERTEX) {
            plan.parent[v] = parent;
            tail.found[atomicAdd(&counts.found, 1u)] = v;
        } else if (more) {
            tail.deep[atomicAdd(&counts.deep, 1u)] = v;
        } else {
            keep[atomicAdd(&counts.kept, 1u)] = v;
        }
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x / 32; i < counts.deep; i += warps) {
        const uint32_t v = tail.deep[i];
        const uint32_t parent = tail_deep_source<Offset>(plan, seen, v, &probes);
        if ((threadIdx.x & 31) != 0)
            continue;
        if (parent != HW_INVALID_VERTEX) {
            plan.parent[v] = parent;
            tail.found[atomicAdd(&counts.found, 1u)] = v;
        } else {
            keep[atomicAdd(&counts.kept, 1u)] = v;
        }
    }
    __syncwarp();
    add_counts(&counts.probes, probes);
    __syncthreads();
}

/* The last levels, bottom-up, of the few vertices on the plan's list, by one block. Their
 * bits go to `seen`, which others may read meanwhile: what is visited stays so. */
template <typename Offset>
__device__ void tail_levels(const kernel_params &plan, uint32_t frontier, uint32_t count,
                            uint32_t *seen, uint4 *room, uint32_t &rows)
{
    __shared__ tail_counts counts;
    tail_t &tail = *reinterpret_cast<tail_t *>(room);
    int half = 0;

    for (uint32_t i = threadIdx.x; i < count; i += threads)
        tail.unvisited[0][i] = __ldcg(plan.left + i);
    while (count > 0) {
        if (threadIdx.x == 0)
            counts = {};
        __syncthreads();
        tail_level<Offset>(plan, seen, tail.unvisited[half], count, tail.unvisited[!half], tail,
                           counts);
        const uint32_t found = counts.found;
        for (uint32_t i = threadIdx.x; i < found; i += threads)
            atomicOr(seen + tail.found[i] / 32, 1u << (tail.found[i] & 31));
        count = counts.kept;
        keep_row(plan, rows, HW_ROUTINE_PULL_BLOCK, frontier, found, counts.probes);
        frontier = found;
        half = !half;
        __syncthreads(); /* all read the counts */
        if (found == 0)
            return;
    }
}

} // namespace

#endif
