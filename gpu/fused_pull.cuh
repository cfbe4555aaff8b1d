/*
 * Method `fused`: levels bottom-up on the whole grid.
 *
 * Three passes, each with as many accesses to memory under way as the registers allow, and
 * only a barrier of the block between them. First the unvisited vertices of the block's
 * words look at their first source, whose array is read in order, against the part of the
 * bitmap where the hubs are, held in shared memory; words of the next bitmap come from
 * ballots. Those left over, most often a fifth, look at their next eight sources, one sector
 * of memory; those left by that at the rest of their lists, eight lanes for each.
 */
#ifndef HOPWAVE_GPU_FUSED_PULL_CUH
#define HOPWAVE_GPU_FUSED_PULL_CUH

#include "fused_device.cuh"

namespace
{

/* Of the vertices that stay unvisited, a block lists so many. */
constexpr uint32_t listed_most = 256;

/* The bitmap `bits`, of which the hubs' words go to `room`. All threads of the block. */
__device__ __forceinline__ tested hold(const plan_t &plan, const uint32_t *bits, uint4 *room,
                                       uint32_t looked_up)
{
    const uint32_t most = min(plan.hub_words, words_of(plan));

    return hold<threads>(bits, plan.graph.core, most, room, looked_up);
}

/* Lists of a block, in shared memory but for their elements. */
struct pull_lists {
    uint32_t near_count, deep_count; /* vertices of the second and of the third pass */
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

/* Settles a vertex that was found late. */
__device__ __forceinline__ void found_late(const plan_t &plan, uint32_t *next, uint32_t v,
                                           uint32_t parent)
{
    plan.parent[v] = parent;
    atomicOr(next + v / 32, 1u << (v & 31));
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

/* ---- the first pass ---- */

/* The word of this lane in a chunk of eight; all ones where it has none. */
__device__ __forceinline__ uint32_t chunk_word(const plan_t &plan, const tested &map,
                                               uint32_t chunk)
{
    const uint64_t at = static_cast<uint64_t>(chunk) * 8 + (threadIdx.x & 31);

    return (threadIdx.x & 31) < 8 && at < words_of(plan) ? map.bits[at] : HW_WARP;
}

/* The first sources of a chunk's unvisited vertices. word: as chunk_word() gives it. */
__device__ __forceinline__ void load_sources(const plan_t &plan, uint32_t chunk, uint32_t word,
                                             uint32_t *source)
{
    const uint32_t lane = threadIdx.x & 31;

#pragma unroll
    for (int k = 0; k < 8; k++) {
        const bool unvisited = !has(__shfl_sync(HW_WARP, word, k), lane);
        source[k] = unvisited
                        ? __ldcs(plan.graph.first + static_cast<uint64_t>(chunk) * HW_FUSED_CHUNK +
                                 k * 32 + lane)
                        : HW_RANK_NONE;
    }
}

/* Tests the first sources of a chunk: its words into the next bitmap, those left over into
 * the list of the second pass. A warp. */
__device__ __forceinline__ void pull_chunk(const plan_t &plan, const tested &map,
                                           const pull_t &pull, uint32_t chunk, uint32_t word,
                                           const uint32_t *source, pull_counts &counts)
{
    const uint32_t lane = threadIdx.x & 31, base = chunk * HW_FUSED_CHUNK;
    uint32_t bits[8], kept = 0, settled = 0, made = word;

#pragma unroll
    for (int k = 0; k < 8; k++)
        bits[k] = word_of(map, source[k]);
#pragma unroll
    for (int k = 0; k < 8; k++) {
        const bool unvisited = !has(__shfl_sync(HW_WARP, word, k), lane);
        const bool hit = has(bits[k], source[k]);
        const uint32_t hits = __ballot_sync(HW_WARP, hit);
        if (hit || (unvisited && pull.initial))
            __stcs(plan.parent + base + k * 32 + lane, hit ? source[k] : HW_RANK_NONE);
        if (static_cast<int>(lane) == k) {
            made |= hits;
            settled = hits;
        }
        kept |= (source[k] != HW_RANK_NONE && !hit) << k;
        counts.found += hit;
        counts.probes += source[k] != HW_RANK_NONE;
    }
    const uint32_t at = chunk * 8 + lane;
    if (lane < 8 && at < words_of(plan)) {
        pull.next[at] = made;
        if (pull.initial)
            plan.settled[at] = settled;
        else if (settled)
            plan.settled[at] |= settled;
    }
    uint32_t place = claim(&pull.lists->near_count, __popc(kept));
    for (; kept; kept &= kept - 1)
        pull.near[place++] = base + (__ffs(kept) - 1) * 32 + lane;
}

/* The first pass: chunks, dealt to the blocks and then to their warps in turn. The sources
 * of the next chunk, and the words of the one after it, are on their way meanwhile. */
__device__ void pull_chunks(const plan_t &plan, const tested &map, const pull_t &pull,
                            pull_counts &counts)
{
    const uint32_t chunks = (words_of(plan) + 7) / 8, stride = gridDim.x * warps;
    uint32_t chunk = threadIdx.x / 32 * gridDim.x + blockIdx.x, source[8];
    uint32_t word = chunk_word(plan, map, chunk), following = chunk_word(plan, map, chunk + stride);

    load_sources(plan, chunk, word, source);
    while (chunk < chunks) {
        uint32_t upcoming[8];
        const uint32_t later = chunk_word(plan, map, chunk + 2 * stride);
        load_sources(plan, chunk + stride, following, upcoming);
        pull_chunk(plan, map, pull, chunk, word, source, counts);
        chunk += stride;
        word = following;
        following = later;
#pragma unroll
        for (int k = 0; k < 8; k++)
            source[k] = upcoming[k];
    }
}

/* The first pass where few vertices are unvisited: they are only listed. */
__device__ void list_unvisited(const plan_t &plan, const tested &map, const pull_t &pull)
{
    const uint32_t chunks = (words_of(plan) + 7) / 8, stride = gridDim.x * 4 * warps;
    const uint32_t lane = threadIdx.x & 31;

    for (uint32_t base = threadIdx.x / 32 * 4 * gridDim.x; base < chunks; base += stride) {
        const uint32_t at = (base + lane / 8 * gridDim.x + blockIdx.x) * 8 + (lane & 7);
        const bool own = at < words_of(plan);
        const uint32_t word = own ? map.bits[at] : HW_WARP;
        if (own)
            pull.next[at] = word;
        uint32_t open = ~word, place = claim(&pull.lists->near_count, __popc(open));
        for (; open; open &= open - 1)
            pull.near[place++] = at * 32 + __ffs(open) - 1;
    }
}

/* ---- the second pass ---- */

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

/* One vertex that looks at its sources. */
struct prober {
    bool active;
    uint32_t vertex, first;
    uint4 four, last;
};

template <bool listed_only>
__device__ __forceinline__ prober load_prober(const plan_t &plan, const uint32_t *list, uint32_t i,
                                              uint32_t count)
{
    prober own = {i < count, 0, HW_RANK_NONE, no_sources(), no_sources()};

    if (own.active) {
        own.vertex = list[i];
        own.four = next_sources(plan.graph, own.vertex, 0);
        own.last = next_sources(plan.graph, own.vertex, 1);
        if (listed_only)
            own.first = __ldg(plan.graph.first + own.vertex);
    }
    return own;
}

/* Looks at the sources at hand, and passes on those who find none among them. */
template <bool listed_only>
__device__ __forceinline__ void probe_near(const plan_t &plan, const tested &map,
                                           const pull_t &pull, const prober &own,
                                           pull_counts &counts)
{
    uint32_t parent = HW_RANK_NONE;
    bool more = true, deep = false, by_first = false;

    if (listed_only && own.active) {
        by_first = has(word_of(map, own.first), own.first);
        parent = by_first ? own.first : HW_RANK_NONE;
        counts.probes += own.first != HW_RANK_NONE;
    }
    if (!by_first)
        parent = probe_four(map, own.four, more, counts.probes);
    if (parent == HW_RANK_NONE && more)
        parent = probe_four(map, own.last, more, counts.probes);
    if (parent != HW_RANK_NONE)
        found_late(plan, pull.next, own.vertex, parent);
    if (by_first)
        atomicOr(plan.settled + own.vertex / 32, 1u << (own.vertex & 31));
    deep = parent == HW_RANK_NONE && more;
    counts.found += parent != HW_RANK_NONE;
    const uint32_t place = claim(&pull.lists->deep_count, deep);
    if (deep)
        pull.deep[place] = own.vertex;
    leave(pull,
          own.active && parent == HW_RANK_NONE && !deep &&
              (!listed_only || own.first != HW_RANK_NONE),
          own.vertex);
}

/* The second pass. listed_only: there was no first one but for the list. */
template <bool listed_only>
__device__ void pull_near(const plan_t &plan, const tested &map, const pull_t &pull,
                          pull_counts &counts)
{
    const uint32_t count = pull.lists->near_count;

    for (uint32_t base = threadIdx.x & ~31u; base < count; base += 2 * threads) {
        const uint32_t i = base + (threadIdx.x & 31);
        const prober one = load_prober<listed_only>(plan, pull.near, i, count);
        const prober other = load_prober<listed_only>(plan, pull.near, i + threads, count);
        probe_near<listed_only>(plan, map, pull, one, counts);
        probe_near<listed_only>(plan, map, pull, other, counts);
    }
}

/* ---- the third pass ---- */

/*
 * The visited source that a group of eight lanes finds among list elements [*at, *at + 32);
 * *at: after them, or at the end where one was found or none can come, as lists ascend and
 * vertices without bits end them. A whole warp.
 */
template <typename Offset>
__device__ __forceinline__ uint32_t probe_group(const plan_t &plan, const tested &map, Offset *at,
                                                Offset end, uint32_t &probes)
{
    const uint32_t lane = threadIdx.x & 31, sub = lane & 7;
    const Offset rest = end - *at;
    uint32_t v[4], word[4], hit = HW_RANK_NONE;

#pragma unroll
    for (uint32_t k = 0; k < 4; k++)
        v[k] = 8 * k + sub < rest ? __ldg(plan.graph.in.rank + *at + 8 * k + sub) : HW_RANK_NONE;
#pragma unroll
    for (int k = 0; k < 4; k++)
        word[k] = word_of(map, v[k]);
#pragma unroll
    for (int k = 3; k >= 0; k--) {
        probes += v[k] < map.core;
        if (has(word[k], v[k]))
            hit = v[k];
    }
    const uint32_t group = 0xffu << (lane & 24);
    const uint32_t hits = __ballot_sync(HW_WARP, hit != HW_RANK_NONE) & group;
    const uint32_t ends = __ballot_sync(HW_WARP, v[3] >= map.core) & group;
    hit = __shfl_sync(HW_WARP, hit, hits ? __ffs(hits) - 1 : lane);
    *at = hits || ends || rest <= 32 ? end : *at + 32;
    return hits ? hit : HW_RANK_NONE;
}

template <typename Offset>
__device__ void pull_deep(const plan_t &plan, const tested &map, const pull_t &pull,
                          pull_counts &counts)
{
    const uint32_t count = pull.lists->deep_count, lane = threadIdx.x & 31;

    for (uint32_t base = threadIdx.x / 32 * 4; base < count; base += 4 * warps) {
        const uint32_t i = base + lane / 8;
        const bool active = i < count;
        const uint32_t v = active ? pull.deep[i] : 0;
        uint32_t parent = HW_RANK_NONE;
        Offset at = 0, end = 0;
        if (active) {
            at = hw_begin<Offset>(plan.graph.in, v) + HW_FUSED_NEAR;
            end = hw_begin<Offset>(plan.graph.in, v + 1);
            at = min(at, end);
        }
        while (__any_sync(HW_WARP, at < end)) {
            const uint32_t hit = probe_group<Offset>(plan, map, &at, end, counts.probes);
            parent = hit != HW_RANK_NONE ? hit : parent;
        }
        const bool found = active && parent != HW_RANK_NONE, leader = (lane & 7) == 0;
        if (found && leader)
            found_late(plan, pull.next, v, parent);
        counts.found += found && leader;
        leave(pull, active && !found && leader, v);
    }
}

/* ---- a level ---- */

/* Puts the vertices that stay unvisited on the list of the grid, if the block has few. All
 * threads of the block, between barriers. */
__device__ __forceinline__ void list_left(const plan_t &plan, crew_t &crew, pull_lists &lists)
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
__device__ void pull_level(const plan_t &plan, crew_t &crew, const uint32_t *seen, uint32_t *next,
                           bool initial, uint32_t unvisited, uint4 *room)
{
    __shared__ pull_lists lists;
    const uint32_t core = plan.graph.core, chunks = (words_of(plan) + 7) / 8;
    const uint64_t own =
        static_cast<uint64_t>((chunks + gridDim.x - 1) / gridDim.x) * HW_FUSED_CHUNK * blockIdx.x;
    const pull_t pull = {next, plan.queue[0] + own, plan.queue[1] + own, &lists, initial};
    const bool few_left = !initial && unvisited < core / 64;
    pull_counts counts = {0, 0};

    if (threadIdx.x == 0)
        lists.near_count = lists.deep_count = lists.left_count = 0;
    const tested map = hold(plan, seen, room, unvisited > core / 4 ? unvisited : 0);
    if (few_left)
        list_unvisited(plan, map, pull);
    else
        pull_chunks(plan, map, pull, counts);
    __syncthreads();
    if (few_left)
        pull_near<true>(plan, map, pull, counts);
    else
        pull_near<false>(plan, map, pull, counts);
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
__device__ __forceinline__ bool visited(const plan_t &plan, const uint32_t *seen, uint32_t v)
{
    return v < plan.graph.core && has(__ldcg(seen + v / 32), v);
}

/* A visited one of the nine sources at hand; more: the list may go on. */
__device__ __forceinline__ uint32_t tail_source(const plan_t &plan, const uint32_t *seen,
                                                uint32_t v, bool *more, uint32_t *probes)
{
    const uint32_t first = __ldg(plan.graph.first + v);
    const uint4 four = next_sources(plan.graph, v, 0), last = next_sources(plan.graph, v, 1);
    const uint32_t all[HW_FUSED_NEAR] = {first,  four.x, four.y, four.z, four.w,
                                         last.x, last.y, last.z, last.w};
    uint32_t parent = HW_RANK_NONE;

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
__device__ uint32_t tail_deep_source(const plan_t &plan, const uint32_t *seen, uint32_t v,
                                     uint32_t *probes)
{
    const uint32_t lane = threadIdx.x & 31;
    const Offset end = hw_begin<Offset>(plan.graph.in, v + 1);

    for (Offset at = hw_begin<Offset>(plan.graph.in, v) + HW_FUSED_NEAR; at < end;
         at += min(end - at, Offset{32})) {
        const uint32_t u = lane < end - at ? __ldg(plan.graph.in.rank + at + lane) : HW_RANK_NONE;
        const uint32_t hits = __ballot_sync(HW_WARP, visited(plan, seen, u));
        *probes += u < plan.graph.core;
        if (hits)
            return __shfl_sync(HW_WARP, u, __ffs(hits) - 1);
    }
    return HW_RANK_NONE;
}

/* One level: of the `count` vertices in `list` those that have a visited source go to
 * tail.found, the others to `keep`. */
template <typename Offset>
__device__ void tail_level(const plan_t &plan, const uint32_t *seen, const uint32_t *list,
                           uint32_t count, uint32_t *keep, tail_t &tail, tail_counts &counts)
{
    uint32_t probes = 0;

    for (uint32_t i = threadIdx.x; i < count; i += threads) {
        bool more;
        const uint32_t v = list[i], parent = tail_source(plan, seen, v, &more, &probes);
        if (parent != HW_RANK_NONE) {
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
        if (parent != HW_RANK_NONE) {
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
__device__ void tail_levels(const plan_t &plan, uint32_t frontier, uint32_t count, uint32_t *seen,
                            uint4 *room, uint32_t &rows)
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
