/*
 * Push of delta-stepping (gpu/sssp/delta/delta_search.h): relaxes the edges of
 * queued vertices whose target keys are in [from, to).
 *
 * Load balancing. Lists are sorted by weight, so a list ends where its edges leave the bounds. A
 * lane probes the weights of its list for that extent, within a factor of two. The edges of up to
 * 32 lists are shared out evenly among the lanes of a warp; a longer list is deferred to the warps
 * of the block, and what is longer still to all warps in the next iteration, in chunks.
 */
#ifndef HOPWAVE_GPU_SSSP_DELTA_SEARCH_DELTA_PUSH_CUH
#define HOPWAVE_GPU_SSSP_DELTA_SEARCH_DELTA_PUSH_CUH

#include "gpu/device/prefix_search.cuh"
#include "gpu/sssp/common/weight_sorted_lists.cuh"
#include "gpu/sssp/delta/search/delta_receive.cuh"

namespace hw_delta::search
{
namespace
{

static_assert(has_bucket_queues<block_shared<peer_gpus<false>>, warps>(), "queues of the block");
static_assert(has_block_worklist<block_shared<peer_gpus<false>>>(), "worklist of the block");

/* Lists of at most so many edges within the bounds are shared out among the lanes of a warp. */
constexpr uint32_t balanced_probes = 5, max_balanced_edges = 8u << (balanced_probes - 1);
/* Weights of a longer list that a lane probes at a time. */
constexpr uint32_t long_list_probes = 8;
/* Edges that one warp shares out, with many lists and with few; if there are more, lists of more
 * than `short_list_edges` are deferred to the block, too. Few lists: the other warps of the block
 * are idle. */
constexpr uint32_t balanced_many = 128, balanced_few = 64, short_list_edges = 32;
/* Edges of a list in the block worklist that a warp relaxes at a time. */
constexpr uint32_t worklist_chunk_edges = 32 * edges_in_flight;
/* Edges of a list that its own warp relaxes if the block worklist is full. */
constexpr uint32_t warp_edges = 512;
/* With more vertices than this in a warp, each lane first relaxes the first edges of its list. */
constexpr uint32_t few_lists = 4;

/* Loads what lower_key() compares with of one target: its key, or, of a remote vertex of a backend
 * that has levels, the level. */
template <int kind, class Peers>
__device__ __forceinline__ key_of<kind> load_key(const kernel_params<Peers> &params,
                                                 uint32_t local_id)
{
    if constexpr (Peers::has_sent_levels)
        if (!Peers::is_local(params, local_id))
            return __ldcg(params.sent_levels + local_id);
    return __ldcg(key_at<kind>(params, local_id));
}

/* Lowers the key of a target, which was loaded as `old`, to `next`. Returns the key that it had, or
 * -1 if it was known not to be larger. Of a remote vertex with a level that is the largest key, if
 * `next` has no higher level than the least sent key: then it is sent. Levels are stored without
 * order among threads: any level of a sent key is one to compare with. source: see lower_own(). */
template <int kind, class Peers>
__device__ __forceinline__ key_of<kind> lower_key(const kernel_params<Peers> &params,
                                                  uint32_t local_id, key_of<kind> next,
                                                  key_of<kind> old, uint32_t source)
{
    if constexpr (Peers::has_sent_levels)
        if (old >= 0 && !Peers::is_local(params, local_id)) {
            const key_of<kind> level = static_cast<key_of<kind>>(level_of<kind>(params, next));
            if (level < old)
                params.sent_levels[local_id] = static_cast<uint8_t>(level);
            return level <= old ? hw_keys<kind>::none : -1;
        }
    if constexpr (Peers::packs_hints)
        return next < old ? lower_own<kind>(params, local_id - owned_begin(params), next, source)
                          : -1;
    else
        return next < old ? atomic_lower(distances<kind>(params) + local_id, next) : -1;
}

/* Whether `next` may lower the key of a target: not if the target was settled before the last pull.
 * Most targets were, and a bit of each fits in the cache. */
template <int kind, class Peers>
__device__ __forceinline__ bool may_lower(const kernel_params<Peers> &params,
                                          const lane_state<kind> &state, uint32_t local_id,
                                          key_of<kind> next)
{
    if constexpr (Peers::no_hubs)
        return next < state.settled_below ||
               (__ldca(params.queues.unsettled + local_id / 32) >> (local_id & 31) & 1);
    return true;
}

/* Loads the keys of the targets of N edges a lane, which may get the keys `next`; an edge to
 * HW_INVALID_VERTEX gets a key that is never lowered. */
template <int N, int kind, class Peers>
__device__ __forceinline__ void
load_targets(const kernel_params<Peers> &params, const lane_state<kind> &state,
             const hw_gpu_edge (&edge)[N], const key_of<kind> (&next)[N], key_of<kind> (&old)[N])
{
    bool may[N];

#pragma unroll
    for (int k = 0; k < N; k++)
        may[k] = edge[k].neighbor != HW_INVALID_VERTEX &&
                 may_lower(params, state, edge[k].neighbor, next[k]);
#pragma unroll
    for (int k = 0; k < N; k++)
        if (!may[k])
            old[k] = -1;
        else
            old[k] = state.skip_precheck ? hw_keys<kind>::none
                                         : load_key<kind>(params, edge[k].neighbor);
}

/* Records the edges whose targets were lowered (`better`) to `next`: hints and queue entries of
 * owned vertices, updates for remote ones. source: local ids, or `equal_distance_parent`.
 * Warp-collective. */
template <int N, int kind, class Peers>
__device__ __forceinline__ void
record_lowered(const kernel_params<Peers> &params, block_shared<Peers> &shared,
               lane_state<kind> &state, const hw_gpu_edge (&edge)[N], const key_of<kind> (&next)[N],
               const bool (&better)[N], const uint32_t (&source)[N])
{
    constexpr int M = N > 3 ? N / 2 : N; /* at a time, as registers allow */
    const uint32_t home = owned_begin(params);

#pragma unroll
    for (int first = 0; first < N; first += M) {
        bool to_step[M], to_rest[M], to_others[M];
        uint32_t v[M], local_id[M], from[M];
        key_of<kind> key[M];
#pragma unroll
        for (int k = 0; k < M; k++) {
            const int i = first + k;
            local_id[k] = edge[i].neighbor;
            from[k] = source[i];
            key[k] = next[i];
            v[k] = local_id[k] - home;
            const bool own = better[i] && Peers::is_local(params, local_id[k]);
            to_others[k] = better[i] && !own;
            to_step[k] = own && key[k] < state.bound.step_end;
            to_rest[k] = own && !to_step[k] && key[k] < state.bound.high;
            if (own)
                put_hint<kind>(params, v[k], from[k], key[k]);
        }
        buffer_vertices(shared, step_queue, state.step_count, to_step, v);
        if (state.bound.step_end < state.bound.high)
            buffer_vertices(shared, rest_queue, state.rest_count, to_rest, v);
        if constexpr (Peers::several)
            buffer_updates<M, kind>(params, shared, state, to_others, local_id, from, key);
    }
}

/* Lowers the keys of the targets of N edges a lane, which were loaded as `old`. source_of(k): the
 * source of edge k as hints have it, for packed ones. better: lowered; returns whether any lane has
 * one. Warp-collective. */
template <int N, int kind, class Peers, class Source>
__device__ __forceinline__ bool lower_targets(const kernel_params<Peers> &params,
                                              const hw_gpu_edge (&edge)[N],
                                              const key_of<kind> (&next)[N], key_of<kind> (&old)[N],
                                              bool (&better)[N], const Source &source_of)
{
    uint32_t source[N];
    bool any = false;

#pragma unroll
    for (int k = 0; k < N; k++)
        source[k] = Peers::packs_hints ? source_of(k) : HW_INVALID_VERTEX;
#pragma unroll
    for (int k = 0; k < N; k++) /* all atomics before the first result is used */
        old[k] = lower_key<kind>(params, edge[k].neighbor, next[k], old[k], source[k]);
#pragma unroll
    for (int k = 0; k < N; k++) {
        better[k] = next[k] < old[k];
        any = any || better[k];
    }
    return __any_sync(HW_WARP, any);
}

/* Relaxes N edges a lane, whose targets had the keys `old`. source: owned positions; from: their
 * keys. */
template <int N, int kind, class Peers>
__device__ __forceinline__ void
relax_edges(const kernel_params<Peers> &params, block_shared<Peers> &shared,
            lane_state<kind> &state, const hw_gpu_edge (&edge)[N], key_of<kind> (&old)[N],
            const key_of<kind> (&next)[N], const uint32_t (&source)[N],
            const key_of<kind> (&from)[N])
{
    uint32_t local_id[N];
    bool better[N];

    const auto source_of = [&](int k) {
        return from[k] < next[k] ? owned_begin(params) + source[k] : equal_distance_parent;
    };
    if (!lower_targets<N, kind>(params, edge, next, old, better, source_of))
        return;
#pragma unroll
    for (int k = 0; k < N; k++)
        local_id[k] = source_of(k);
    record_lowered<N, kind>(params, shared, state, edge, next, better, local_id);
}

/* The same for edges of one source, as weight_sorted_lists.cuh requires it. */
template <int N, int kind, class Peers>
__device__ __forceinline__ void relax(const kernel_params<Peers> &params,
                                      block_shared<Peers> &shared, lane_state<kind> &state,
                                      const hw_gpu_edge (&edge)[N], const key_of<kind> (&next)[N],
                                      uint32_t source, key_of<kind> from)
{
    uint32_t sources[N];
    key_of<kind> keys[N], old[N];

    load_targets<N, kind>(params, state, edge, next, old);
#pragma unroll
    for (int k = 0; k < N; k++) {
        sources[k] = source;
        keys[k] = from;
    }
    relax_edges<N, kind>(params, shared, state, edge, old, next, sources, keys);
}

/* Defers edges [from, end) of one list a lane to the next iteration, with one atomic for the warp.
 * Returns whether there are any and they fit. Warp-collective. */
template <int kind, class Peers>
__device__ __forceinline__ bool defer_to_next_iteration(const kernel_params<Peers> &params,
                                                        lane_state<kind> &state, uint32_t v,
                                                        uint32_t from, uint32_t end)
{
    const uint32_t chunk = HW_DELTA_CHUNK;
    const count64 mine =
        from < end ? hw_pack_size(1, (static_cast<count64>(end) - from + chunk - 1) / chunk,
                                  long_list_chunk_bits)
                   : 0;

    if (!__any_sync(HW_WARP, mine != 0))
        return false;
    const count64 scan = hw_warp_scan(mine);
    count64 was = 0;
    if ((threadIdx.x & 31) == 31)
        was = atomicAdd(&params.control->counters[(state.iteration + 1) & 3].long_lists, scan);
    was = __shfl_sync(HW_WARP, was, 31) + scan - mine;
    const uint32_t at = hw_packed_entries(was, long_list_chunk_bits);
    if (mine == 0 || at >= params.config.long_list_capacity)
        return false;
    by_parity(params.queues.long_list, state.iteration + 1)[at] = hw_delta_long_list{
        v, from, end, static_cast<uint32_t>(hw_packed_work(was, long_list_chunk_bits))};
    return true;
}

/* Defers the next `count` edges of one list a lane to all warps of the block, with one atomic for
 * the warp. Returns whether there are any and they fit. Warp-collective. */
template <int kind, class Peers>
__device__ __forceinline__ bool defer_to_block(block_shared<Peers> &shared,
                                               const list_cursor<kind> &list, uint32_t count)
{
    static_assert(worklist_capacity + warps * 32 < 1u << (32 - worklist_chunk_bits),
                  "count of lists when all warps add theirs");
    static_assert((worklist_capacity + warps * 32) * (block_list_edges / worklist_chunk_edges) <
                      1u << worklist_chunk_bits,
                  "chunks of these lists");
    const uint32_t chunks = (count + worklist_chunk_edges - 1) / worklist_chunk_edges;
    const uint32_t mine = count ? 1u << worklist_chunk_bits | chunks : 0, scan = hw_warp_scan(mine);
    uint32_t was = worklist_capacity << worklist_chunk_bits;

    if ((threadIdx.x & 31) == 31 &&
        hw_load_relaxed(&shared.worklist_size) >> worklist_chunk_bits < worklist_capacity)
        was = atomicAdd(&shared.worklist_size, scan);
    was = __shfl_sync(HW_WARP, was, 31) + scan - mine;
    const uint32_t at = was >> worklist_chunk_bits;
    if (mine == 0 || at >= worklist_capacity)
        return false;
    shared.worklist[at] = worklist_entry{list.edge,       static_cast<long long>(list.key),
                                         list.source,     list.at,
                                         list.at + count, was & ((1u << worklist_chunk_bits) - 1)};
    return true;
}

/* Moves a cursor at the first of all edges to the list of a vertex, and sets its length. */
template <int kind, class Peers>
__device__ __forceinline__ void locate_list(const kernel_params<Peers> &params, uint32_t v,
                                            list_cursor<kind> &list)
{
    const uint64_t begin = list_begin(params, params.out, v);

    list.length = static_cast<uint32_t>(list_begin(params, params.out, v + 1) - begin);
    list.edge += begin;
}

template <int kind, class Peers>
__device__ __forceinline__ list_cursor<kind> open_list(const kernel_params<Peers> &params,
                                                       lane_state<kind> &state, uint32_t v)
{
    list_cursor<kind> list = {v, 0, 0, 0, params.out.edge, v != HW_INVALID_VERTEX};

    if (!list.more)
        return list;
    list.key = __ldcg(own_key_at<kind>(params, v));
    locate_list(params, v, list);
    state.degrees += list.length;
    if (state.from > 0) { /* heavy edges: find the first */
        list.at = partition_point(0u, list.length, [&](uint32_t e) {
            return hw_further<kind>(list.key, list.edge[e].weight) < state.from;
        });
    }
    list.more = list.at < list.length;
    return list;
}

/* The lane that holds item i. scan: inclusive prefix sum of the lanes' numbers of items.
 * Warp-collective. */
__device__ __forceinline__ uint32_t lane_of(uint32_t scan, uint32_t i)
{
    uint32_t lane = 0;

#pragma unroll
    for (uint32_t step = 16; step > 0; step /= 2)
        lane += __shfl_sync(HW_WARP, scan, lane + step - 1) <= i ? step : 0;
    return lane;
}

/* Probes the weights of edges first, 2 * first, 4 * first... of `left` edges. Returns the first one
 * that is beyond the bounds, or the one past the last probe. */
template <uint32_t steps, int kind>
__device__ __forceinline__ uint64_t probe_list(const hw_gpu_edge *edge, uint32_t left,
                                               uint64_t first, key_of<kind> key, key_of<kind> to)
{
    uint32_t weight[steps];
    uint64_t end = first;

#pragma unroll
    for (uint32_t k = 0; k < steps; k++)
        weight[k] = first << k < left ? __ldg(&edge[first << k].weight) : 0;
#pragma unroll
    for (uint32_t k = 0; k < steps; k++)
        if (first << k < left && hw_further<kind>(key, weight[k]) < to)
            end = first << (k + 1);
    return end;
}

/* How many of the next edges of the list may have targets within the bounds; at most twice too
 * many. */
template <int kind>
__device__ __forceinline__ uint32_t num_edges_within(const lane_state<kind> &state,
                                                     const list_cursor<kind> &list)
{
    const uint32_t left = list.length - list.at;
    const hw_gpu_edge *edge = list.edge + list.at;
    const key_of<kind> to = push_bound<kind>(state, list.key);

    if (!list.more)
        return 0;
    uint64_t end = probe_list<balanced_probes, kind>(edge, left, 8, list.key, to);
    for (uint64_t from = 2 * max_balanced_edges; end == from && end < left;
         from <<= long_list_probes)
        end = probe_list<long_list_probes, kind>(edge, left, from, list.key, to);
    return static_cast<uint32_t>(min(end, static_cast<uint64_t>(left)));
}

/* Relaxes edges of other lanes' lists; from[k]: the lane of each. */
template <int N, int kind, class Peers>
__device__ __forceinline__ void
relax_shared_out(const kernel_params<Peers> &params, block_shared<Peers> &shared,
                 lane_state<kind> &state, const hw_gpu_edge (&edge)[N],
                 const key_of<kind> (&next)[N], const uint32_t (&from)[N],
                 const list_cursor<kind> &list)
{
    key_of<kind> old[N];
    uint32_t local_id[N];
    bool better[N];

    const auto source_of = [&](int k) {
        const key_of<kind> key = __shfl_sync(HW_WARP, list.key, from[k]);
        const uint32_t at = __shfl_sync(HW_WARP, list.source, from[k]);
        return key < next[k] ? owned_begin(params) + at : equal_distance_parent;
    };
    load_targets<N, kind>(params, state, edge, next, old);
    if (!lower_targets<N, kind>(params, edge, next, old, better, source_of))
        return;
#pragma unroll
    for (int k = 0; k < N; k++)
        local_id[k] = source_of(k);
    record_lowered<N, kind>(params, shared, state, edge, next, better, local_id);
}

/* A lane's next edges of those that the warp shares out. */
template <int kind> struct balanced_edges {
    hw_gpu_edge edge[edges_in_flight];
    uint32_t from[edges_in_flight]; /* lane that has the list */
};

/* Loads the edges from `base` on, of `all`. scan: inclusive prefix sum of the lanes' extents;
 * first: address of the lane's list less the edges of the lanes before it. Warp-collective. */
template <int kind>
__device__ __forceinline__ balanced_edges<kind> read_balanced(uint32_t scan, uint64_t first,
                                                              uint32_t base, uint32_t all)
{
    balanced_edges<kind> balanced;

#pragma unroll
    for (uint32_t k = 0; k < edges_in_flight; k++) {
        const uint32_t i = base + 32 * k + (threadIdx.x & 31);
        balanced.from[k] = lane_of(scan, min(i, all - 1));
        const uint64_t at = __shfl_sync(HW_WARP, first, balanced.from[k]);
        balanced.edge[k] = i < all ? hw_read_edge(reinterpret_cast<const hw_gpu_edge *>(at) + i)
                                   : hw_gpu_edge{HW_INVALID_VERTEX, 0};
    }
    return balanced;
}

/* Relaxes the next `extent` edges of each lane's list, shared out evenly. The next edges are loaded
 * before any is relaxed; the first ones as well, by the same instructions: instructions that are
 * not in the instruction cache of the SM take some 8 us (doc/methods). */
template <int kind, class Peers>
__device__ __forceinline__ void push_balanced(const kernel_params<Peers> &params,
                                              block_shared<Peers> &shared, lane_state<kind> &state,
                                              const list_cursor<kind> &list, uint32_t extent)
{
    const uint32_t scan = hw_warp_scan(extent), all = __shfl_sync(HW_WARP, scan, 31);
    const uint64_t first = reinterpret_cast<uint64_t>(list.edge + list.at) -
                           sizeof(hw_gpu_edge) * static_cast<uint64_t>(scan - extent);

    if (all == 0)
        return;
    balanced_edges<kind> ahead = {};
    for (uint32_t base = 0; base < all + 32 * edges_in_flight; base += 32 * edges_in_flight) {
        balanced_edges<kind> balanced = ahead;
        key_of<kind> next[edges_in_flight];
        if (base < all)
            ahead = read_balanced<kind>(scan, first, base, all);
        if (base == 0)
            continue;
#pragma unroll
        for (uint32_t k = 0; k < edges_in_flight; k++) {
            const key_of<kind> key = __shfl_sync(HW_WARP, list.key, balanced.from[k]);
            next[k] = hw_further<kind>(key, balanced.edge[k].weight);
            const bool inside = balanced.edge[k].neighbor != HW_INVALID_VERTEX &&
                                next[k] < push_bound<kind>(state, key);
            if (!inside)
                balanced.edge[k].neighbor = HW_INVALID_VERTEX;
            state.edges += inside;
        }
        relax_shared_out<edges_in_flight, kind>(params, shared, state, balanced.edge, next,
                                                balanced.from, list);
    }
}

/* Defers lists that are too long for this warp: the next edges to the block, the rest to the next
 * iteration. Advances the lane's list past the deferred edges and returns how many edges of it
 * remain. Warp-collective. */
template <int kind, class Peers>
__device__ __forceinline__ uint32_t defer_long_lists(const kernel_params<Peers> &params,
                                                     block_shared<Peers> &shared,
                                                     lane_state<kind> &state,
                                                     list_cursor<kind> &list, uint32_t extent,
                                                     bool many)
{
    const uint32_t all = hw_warp_sum(min(extent, 2 * max_balanced_edges));
    const bool wide = extent > (all > (many ? balanced_many : balanced_few) ? short_list_edges
                                                                            : max_balanced_edges);
    const uint32_t end = list.at + extent;

    if (!__any_sync(HW_WARP, wide))
        return extent;
    const bool to_block = defer_to_block(shared, list, wide ? min(extent, block_list_edges) : 0);
    const uint32_t limit = to_block                      ? block_list_edges
                           : extent > max_balanced_edges ? warp_edges
                                                         : max_balanced_edges;
    const uint32_t rest = wide ? list.at + min(extent, limit) : end;
    const bool after = defer_to_next_iteration<kind>(params, state, list.source, rest, end);
    list.at = to_block ? rest : list.at;
    return (after ? rest : end) - list.at;
}

/* The first edges of one list a lane, which lie in an array of their own. */
template <int kind> struct lightest_edges {
    hw_gpu_edge edge[2];
    key_of<kind> next[2];
};

/* Opens one list a lane, if more than its lightest edges may end within the bounds, and selects
 * those of the lightest edges that do. */
template <int kind, class Peers>
__device__ __forceinline__ list_cursor<kind> open_lightest(const kernel_params<Peers> &params,
                                                           lane_state<kind> &state, uint32_t v,
                                                           lightest_edges<kind> &lightest)
{
    list_cursor<kind> list = {v, 0, 0, 0, params.out.edge, false};
    uint4 both = make_uint4(HW_INVALID_VERTEX, 0, HW_INVALID_VERTEX, 0);
    bool inside = false;

    if (v != HW_INVALID_VERTEX) {
        list.key = __ldcg(own_key_at<kind>(params, v));
        both = __ldcs(reinterpret_cast<const uint4 *>(params.queues.lightest + v));
        state.degrees += params.config.mean_degree;
    }
    lightest.edge[0] = hw_gpu_edge{both.x, both.y};
    lightest.edge[1] = hw_gpu_edge{both.z, both.w};
#pragma unroll
    for (int k = 0; k < 2; k++) {
        hw_gpu_edge &edge = lightest.edge[k];
        lightest.next[k] = hw_further<kind>(list.key, edge.weight);
        inside = edge.neighbor != HW_INVALID_VERTEX &&
                 lightest.next[k] < push_bound<kind>(state, list.key);
        if (!inside)
            edge.neighbor = HW_INVALID_VERTEX;
        state.edges += inside;
    }
    if (inside) {
        locate_list(params, v, list);
        list.at = 2;
        list.more = list.length > 2;
        state.degrees += list.length - params.config.mean_degree;
    }
    return list;
}

/* Opens one list a lane. many: there are many lists. Without hubs the lightest edges of each are
 * pushed before, if there are bounds: many a vertex has no other within them, and its list is
 * anywhere in memory. */
template <int kind, class Peers>
__device__ __forceinline__ list_cursor<kind>
begin_lists(const kernel_params<Peers> &params, block_shared<Peers> &shared,
            lane_state<kind> &state, uint32_t v, bool many)
{
    if constexpr (Peers::no_hubs)
        if (many && state.from == 0 && state.to != hw_keys<kind>::none) {
            lightest_edges<kind> lightest;
            const list_cursor<kind> list = open_lightest<kind>(params, state, v, lightest);
            relax(params, shared, state, lightest.edge, lightest.next, v, list.key);
            return list;
        }
    return open_list<kind>(params, state, v);
}

/* Pushes one list a lane: first edges by each lane, if there are many lists; then the edges of all
 * lists shared out, except those deferred. */
template <int kind, class Peers>
__device__ __forceinline__ void push_lists(const kernel_params<Peers> &params,
                                           block_shared<Peers> &shared, lane_state<kind> &state,
                                           uint32_t v, bool many)
{
    constexpr uint32_t at_once = 1u << 26; /* of each lane, so that their sum fits 32 bits */
    list_cursor<kind> list = begin_lists<kind>(params, shared, state, v, many);

    if (many && (!Peers::no_hubs || __any_sync(HW_WARP, list.more))) {
        list.more = push_four_edges(params, shared, state, list, list.at, 1);
        list.at += 4;
        list.more = list.more && list.at < list.length;
    }
    uint32_t left =
        defer_long_lists(params, shared, state, list, num_edges_within(state, list), many);
    while (__any_sync(HW_WARP, left != 0)) {
        const uint32_t now = min(left, at_once);
        push_balanced(params, shared, state, list, now);
        list.at += now;
        left -= now;
    }
}

/* A chunk of a list in the block worklist. */
template <int kind> struct worklist_chunk {
    hw_gpu_edge edge[edges_in_flight];
    key_of<kind> key;
    uint32_t source;
};

/* Loads chunk c of the `count` lists in the block worklist. */
template <int kind, class Peers>
__device__ __forceinline__ worklist_chunk<kind>
read_worklist_chunk(const block_shared<Peers> &shared, uint32_t count, uint32_t c)
{
    const uint32_t lane = threadIdx.x & 31;
    const worklist_entry &entry = shared.worklist[warp_last_index(
        count, [&shared, c](uint32_t k) { return shared.worklist[k].chunk <= c; })];
    const count64 from =
        entry.from + static_cast<count64>(c - entry.chunk) * worklist_chunk_edges + lane;
    worklist_chunk<kind> chunk;

    chunk.key = static_cast<key_of<kind>>(entry.key);
    chunk.source = entry.source;
#pragma unroll
    for (uint32_t k = 0; k < edges_in_flight; k++) /* no edges where a list did not fit */
        chunk.edge[k] = from + 32 * k < entry.end ? hw_read_edge(entry.edge + from + 32 * k)
                                                  : hw_gpu_edge{HW_INVALID_VERTEX, 0};
    return chunk;
}

/* Relaxes a chunk of a list. */
template <int kind, class Peers>
__device__ __forceinline__ void
relax_worklist_chunk(const kernel_params<Peers> &params, block_shared<Peers> &shared,
                     lane_state<kind> &state, worklist_chunk<kind> &chunk)
{
    const key_of<kind> to = push_bound<kind>(state, chunk.key);
    key_of<kind> next[edges_in_flight];

#pragma unroll
    for (uint32_t k = 0; k < edges_in_flight; k++) {
        next[k] = hw_further<kind>(chunk.key, chunk.edge[k].weight);
        const bool inside = chunk.edge[k].neighbor != HW_INVALID_VERTEX && next[k] < to;
        if (!inside)
            chunk.edge[k].neighbor = HW_INVALID_VERTEX;
        state.edges += inside;
    }
    if (__any_sync(HW_WARP, chunk.edge[0].neighbor != HW_INVALID_VERTEX)) /* weights ascend */
        relax(params, shared, state, chunk.edge, next, chunk.source, chunk.key);
}

/* Relaxes the block worklist; loads the next chunk before it relaxes one. All threads call it. */
template <int kind, class Peers>
__device__ void push_block_worklist(const kernel_params<Peers> &params, block_shared<Peers> &shared,
                                    lane_state<kind> &state)
{
    __syncthreads();
    const uint32_t packed = shared.worklist_size,
                   chunks = packed & ((1u << worklist_chunk_bits) - 1);
    const uint32_t count = min(packed >> worklist_chunk_bits, worklist_capacity);
    uint32_t c = threadIdx.x / 32;

    if (count == 0 || c >= chunks)
        return;
    worklist_chunk<kind> ahead = read_worklist_chunk<kind>(shared, count, c);
    for (; c < chunks; c += warps) {
        worklist_chunk<kind> chunk = ahead;
        if (c + warps < chunks)
            ahead = read_worklist_chunk<kind>(shared, count, c + warps);
        relax_worklist_chunk<kind>(params, shared, state, chunk);
    }
}

/* Relaxes chunks of the long lists that the previous iteration deferred. */
template <int kind, class Peers>
__device__ void push_long_list_chunks(const kernel_params<Peers> &params,
                                      block_shared<Peers> &shared, lane_state<kind> &state,
                                      count64 packed)
{
    const hw_delta_long_list *list = by_parity(params.queues.long_list, state.iteration);
    const uint32_t count =
        min(hw_packed_entries(packed, long_list_chunk_bits), params.config.long_list_capacity);
    const count64 chunks = count ? hw_packed_work(packed, long_list_chunk_bits) : 0;

    /* Interleaved over blocks, so that the chunks of a list go to many blocks; from the last warps
     * down, which have no vertex of a small queue. */
    for (count64 c = (warps - 1 - threadIdx.x / 32) * static_cast<count64>(gridDim.x) + blockIdx.x;
         c < chunks; c += hw_grid_threads() / 32) {
        const uint32_t which =
            warp_last_index(count, [list, c](uint32_t k) { return __ldcg(&list[k].chunk) <= c; });
        const uint4 words = __ldcg(reinterpret_cast<const uint4 *>(list + which));
        const count64 from = words.y + (c - words.w) * HW_DELTA_CHUNK;
        if (from >= words.z) /* chunks that did not fit */
            continue;
        const uint32_t end =
            static_cast<uint32_t>(min(static_cast<count64>(words.z), from + HW_DELTA_CHUNK));
        const key_of<kind> key = __ldcg(own_key_at<kind>(params, words.x));
        push_chunk<kind>(params, shared, state,
                         params.out.edge + list_begin(params, params.out, words.x),
                         static_cast<uint32_t>(from), end, words.x, key);
    }
}

} // namespace
} // namespace hw_delta::search

#endif
