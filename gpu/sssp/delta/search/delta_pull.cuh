/*
 * Pull of delta-stepping (gpu/sssp/delta/delta_search.h): every owned vertex
 * beyond a settled bucket looks for the best neighbor in it, along its weight-sorted list, as long
 * as the lowest distance of the bucket plus the weight improves its own. A vertex that thereby
 * falls into the next bucket is pushed in the same iteration, or, without hubs, queued.
 *
 * Most vertices need at most their two lightest edges, which are stored in an array of their own.
 * The others are collected in worklists of the warp until they fill it. Groups of vertices are
 * claimed dynamically, a work chunk a block (claim_group()).
 */
#ifndef HOPWAVE_GPU_SSSP_DELTA_SEARCH_DELTA_PULL_CUH
#define HOPWAVE_GPU_SSSP_DELTA_SEARCH_DELTA_PULL_CUH

#include "gpu/sssp/delta/search/delta_push_queue.cuh"

namespace hw_delta::search
{
namespace
{

/* Edges of each list in the array of lightest edges; edges at which one lane stops to pull alone.
 */
constexpr uint32_t edges_cached = 2, lane_pull_edges = edges_cached + 16;

template <int kind> struct pull_result {
    key_of<kind> key, from; /* from: key of the source */
    uint32_t source;        /* local id */
};

/* Loads the key of a source, as far as this GPU knows it. */
template <int kind, class Peers>
__device__ __forceinline__ key_of<kind>
load_source(const kernel_params<Peers> &params, const lane_state<kind> &state, uint32_t local_id)
{
    if constexpr (Peers::no_hubs)
        if (state.compact_keys)
            return __ldca(distances<kind>(params) + local_id);
    return __ldca(key_at<kind>(params, local_id));
}

/* Takes an edge, whose source has the key `from`, if the source is in the bucket or before it and
 * the edge gives a lower key. */
template <int kind>
__device__ __forceinline__ void take_loaded(const bucket_bounds<kind> &bound,
                                            const hw_gpu_edge &edge, key_of<kind> from,
                                            pull_result<kind> &best)
{
    if (pull_order(from) >= pull_order(bound.high))
        return;
    const key_of<kind> next = hw_further<kind>(from, edge.weight);
    if (next < best.key)
        best = pull_result<kind>{next, from, edge.neighbor};
}

/* Loads the key of an edge's source and takes the edge if it gives a lower key. */
template <int kind, class Peers>
__device__ __forceinline__ void
take_better(const kernel_params<Peers> &params, lane_state<kind> &state,
            const bucket_bounds<kind> &bound, const hw_gpu_edge &edge, pull_result<kind> &best)
{
    const key_of<kind> from =
        remote_load<kind>(params, state, edge.neighbor, load_source(params, state, edge.neighbor),
                          state.remote_load_from);

    take_loaded(bound, edge, from, best);
}

/* Takes four edges, whose sources are loaded at once. more: whether the edges after them may give a
 * lower key. */
template <int kind, class Peers>
__device__ __forceinline__ void take_four(const kernel_params<Peers> &params,
                                          lane_state<kind> &state, const bucket_bounds<kind> &bound,
                                          const hw_gpu_edge (&edge)[4], pull_result<kind> &best,
                                          bool &more)
{
    key_of<kind> from[4];

#pragma unroll
    for (uint32_t k = 0; k < 4; k++) {
        more = more && edge[k].neighbor != HW_INVALID_VERTEX &&
               hw_further<kind>(bound.low, edge[k].weight) < best.key;
        state.pulled += more;
        from[k] = more ? load_source(params, state, edge[k].neighbor) : hw_keys<kind>::none;
    }
#pragma unroll
    for (uint32_t k = 0; k < 4; k++)
        take_loaded(bound, edge[k], from[k], best);
}

/* Pulls the rest of a list. Warp-collective. */
template <int kind, class Peers>
__device__ __forceinline__ pull_result<kind>
pull_rest(const kernel_params<Peers> &params, lane_state<kind> &state,
          const bucket_bounds<kind> &bound, const hw_gpu_edge *list, uint32_t from, uint32_t length,
          pull_result<kind> best)
{
    const uint32_t lane = threadIdx.x & 31;

    for (uint32_t at = from; at < length; at += 32) {
        const bool there = at + lane < length;
        const hw_gpu_edge edge =
            there ? hw_read_edge(list + at + lane) : hw_gpu_edge{HW_INVALID_VERTEX, 0};
        const bool good = there && hw_further<kind>(bound.low, edge.weight) < best.key;
        const key_of<kind> before = best.key;
        if (good) {
            state.pulled++;
            take_better<kind>(params, state, bound, edge, best);
        }
        const key_of<kind> min_key = hw_warp_min(best.key);
        if (min_key < before) {
            const int who = __ffs(__ballot_sync(HW_WARP, best.key == min_key)) - 1;
            best.key = min_key;
            best.from = __shfl_sync(HW_WARP, best.from, who);
            best.source = __shfl_sync(HW_WARP, best.source, who);
        }
        if (!__all_sync(HW_WARP, good))
            break;
    }
    return best;
}

/* Whether the iteration loads keys from other GPUs. Then few vertices pull any edge, and these are
 * collected first, since remote loads have a long latency. */
template <class Peers, int kind>
__device__ __forceinline__ bool loads_remote(const lane_state<kind> &state)
{
    return Peers::several && state.remote_load_from != hw_keys<kind>::none;
}

/* Pulls the list of one vertex a lane, each beyond the bucket, after the edges that pull_lightest()
 * took. The loop is that of scan_lists() (gpu/sssp/distributed/pull_edges.cuh), whose results and
 * bounds differ. It is written out because this kernel is limited to 96 registers per thread and a
 * shared function was not measured in it. */
template <int kind, class Peers>
__device__ pull_result<kind> pull_lists(const kernel_params<Peers> &params, lane_state<kind> &state,
                                        const bucket_bounds<kind> &bound, uint32_t v,
                                        pull_result<kind> best)
{
    const hw_delta_lists &lists = in_lists(params);
    const hw_gpu_edge *list = lists.edge;
    uint32_t length = 0, at = loads_remote<Peers>(state) ? 0 : edges_cached;
    bool more = false;

    if (v != HW_INVALID_VERTEX) {
        const uint64_t begin = list_begin(params, lists, v);
        length = static_cast<uint32_t>(list_begin(params, lists, v + 1) - begin);
        list += begin;
        more = length > at;
        for (; more && at < length && at < lane_pull_edges; at += 4) {
            hw_gpu_edge edge[4];
#pragma unroll
            for (uint32_t k = 0; k < 4; k++)
                edge[k] = at + k < length ? hw_read_edge(list + at + k)
                                          : hw_gpu_edge{HW_INVALID_VERTEX, 0};
            if constexpr (Peers::no_hubs) {
                take_four(params, state, bound, edge, best, more);
            } else {
#pragma unroll
                for (uint32_t k = 0; k < 4; k++) {
                    more = more && at + k < length &&
                           hw_further<kind>(bound.low, edge[k].weight) < best.key;
                    if (more) {
                        state.pulled++;
                        take_better<kind>(params, state, bound, edge[k], best);
                    }
                }
            }
        }
    }
    uint32_t left = __ballot_sync(HW_WARP, more && at < length);
    while (left) {
        const int lane = __ffs(left) - 1;
        left &= left - 1;
        const hw_gpu_edge *edges = reinterpret_cast<const hw_gpu_edge *>(
            __shfl_sync(HW_WARP, reinterpret_cast<count64>(list), lane));
        pull_result<kind> rest = {__shfl_sync(HW_WARP, best.key, lane),
                                  __shfl_sync(HW_WARP, best.from, lane),
                                  __shfl_sync(HW_WARP, best.source, lane)};
        rest = pull_rest<kind>(params, state, bound, edges, __shfl_sync(HW_WARP, at, lane),
                               __shfl_sync(HW_WARP, length, lane), rest);
        if ((threadIdx.x & 31) == static_cast<uint32_t>(lane))
            best = rest;
    }
    return best;
}

/* Stores the keys that some vertices a lane pulled. Other threads push to them concurrently,
 * perhaps lower keys. The returned value of the atomic is not waited for: the pushing thread queues
 * such a vertex itself, a lost hint costs a search for the parent, and going on from the pulled key
 * is correct. v: the first vertex, others are 32 apart; key: before and after. */
template <uint32_t N, int kind, class Peers>
__device__ __forceinline__ void store_pulled(const kernel_params<Peers> &params, uint32_t v,
                                             const pull_result<kind> (&best)[N],
                                             key_of<kind> (&key)[N])
{
#pragma unroll
    for (uint32_t k = 0; k < N; k++)
        if (best[k].source != HW_INVALID_VERTEX) {
            const uint32_t source =
                best[k].from < best[k].key ? best[k].source : equal_distance_parent;
            lower_own<kind>(params, v + 32 * k, best[k].key, source);
            put_hint<kind>(params, v + 32 * k, source, best[k].key);
            key[k] = best[k].key;
        }
}

/* Vertices that a warp collects during a pull until they fill it. */
struct pull_worklist {
    uint32_t *pulls,
        *pushes; /* [buffer_capacity] vertices with more edges to pull, and vertices to push */
    uint32_t pulling, pushing;
};

/* Appends some vertices a lane: v, others are 32 apart. Warp-collective. */
template <uint32_t N>
__device__ __forceinline__ void append_lanes(uint32_t *list, uint32_t &count,
                                             const bool (&wanted)[N], uint32_t v)
{
    const uint32_t below = (1u << (threadIdx.x & 31)) - 1;
    uint32_t all[N];

    ballot_all(wanted, all); /* some lane nearly always does */
#pragma unroll
    for (uint32_t k = 0; k < N; k++) {
        if (wanted[k])
            list[count + __popc(all[k] & below)] = v + 32 * k;
        count += __popc(all[k]);
    }
}

/* Removes the last 32 vertices, or all if there are fewer, one a lane. */
__device__ __forceinline__ uint32_t pop_lanes(const uint32_t *list, uint32_t &count)
{
    const uint32_t lane = threadIdx.x & 31, some = min(count, 32u);

    __syncwarp();
    count -= some;
    const uint32_t v = lane < some ? list[count + lane] : HW_INVALID_VERTEX;
    __syncwarp();
    return v;
}

/* Sorts some vertices a lane, 32 apart, that have finished their pull (`there`): those beyond the
 * iteration's bucket are counted; those in a leftover bucket are queued for the next iteration,
 * which pushes all their edges; those `inside` are pushed by the caller. */
template <uint32_t N, int kind, class Peers>
__device__ __forceinline__ void
classify_pulled(block_shared<Peers> &shared, lane_state<kind> &state, const bool (&there)[N],
                uint32_t v, const key_of<kind> (&key)[N], const bool (&inside)[N])
{
    bool late[N], any = false;

#pragma unroll
    for (uint32_t k = 0; k < N; k++) {
        const bool beyond = there[k] && key[k] >= state.bound.high;
        count_beyond(state, beyond, key[k]);
        late[k] = there[k] && !beyond && !inside[k];
        any = any || late[k];
    }
    if (!__any_sync(HW_WARP, any))
        return;
#pragma unroll
    for (uint32_t k = 0; k < N; k++)
        enqueue(shared, state, late[k], v + 32 * k, key[k]);
}

/* Whether the pull pushes a vertex with this key: one in the iteration's bucket. Without hubs it is
 * queued for the next iteration: most vertices are pulled at about the same time there, and what is
 * pushed to one before it was pulled would have it pushed again. */
template <class Peers, int kind>
__device__ __forceinline__ bool pushes_pulled(const lane_state<kind> &state, key_of<kind> key)
{
    return !Peers::no_hubs && key >= state.bound.low && key < state.bound.high;
}

/* Pulls the rest of one vertex's list a lane; each is beyond the bucket `from`. */
template <int kind, class Peers>
__device__ __forceinline__ void
pull_warp(const kernel_params<Peers> &params, block_shared<Peers> &shared, lane_state<kind> &state,
          const bucket_bounds<kind> &from, pull_worklist &work, uint32_t v)
{
    const bool there[1] = {v != HW_INVALID_VERTEX};
    key_of<kind> key[1] = {there[0] ? __ldcg(own_key_at<kind>(params, v)) : 0};
    const pull_result<kind> best[1] = {
        pull_lists<kind>(params, state, from, v, pull_result<kind>{key[0], 0, HW_INVALID_VERTEX})};

    store_pulled<1, kind>(params, v, best, key);
    const bool inside[1] = {there[0] && pushes_pulled<Peers>(state, key[0])};
    append_lanes(work.pushes, work.pushing, inside, v);
    classify_pulled<1, kind>(shared, state, there, v, key, inside);
}

/* Whether an edge may lead from `key` to below `to`. */
template <int kind>
__device__ __forceinline__ bool may_reach(const hw_gpu_edge &edge, key_of<kind> key,
                                          key_of<kind> to)
{
    return edge.neighbor != HW_INVALID_VERTEX && hw_further<kind>(key, edge.weight) < to;
}

/* Loads the lightest edges of those vertices of a group that are wanted. */
template <int kind>
__device__ __forceinline__ void
read_lightest(const hw_delta_lightest *lightest, const key_group<kind> &keys,
              const bool (&wanted)[group_words], hw_gpu_edge (&edge)[group_words][edges_cached])
{
    static_assert(sizeof *lightest == sizeof(uint4), "read as one vector");

#pragma unroll
    for (uint32_t k = 0; k < group_words; k++) {
        const uint4 both =
            wanted[k] ? __ldcs(reinterpret_cast<const uint4 *>(lightest + keys.first + 32 * k))
                      : make_uint4(HW_INVALID_VERTEX, 0, HW_INVALID_VERTEX, 0);
        edge[k][0] = hw_gpu_edge{both.x, both.y};
        edge[k][1] = hw_gpu_edge{both.z, both.w};
    }
}

/* Pulls edge e of some vertices a lane, if it may give a lower key. */
template <int kind, class Peers>
__device__ __forceinline__ void pull_one(const kernel_params<Peers> &params,
                                         lane_state<kind> &state, const bucket_bounds<kind> &bound,
                                         const hw_gpu_edge (&edge)[group_words][edges_cached],
                                         uint32_t e, pull_result<kind> (&best)[group_words])
{
    key_of<kind> from[group_words];
    uint32_t wanted = 0;

#pragma unroll
    for (uint32_t k = 0; k < group_words; k++) {
        const bool good = may_reach<kind>(edge[k][e], bound.low, best[k].key);
        from[k] = good ? load_source(params, state, edge[k][e].neighbor) : hw_keys<kind>::none;
        wanted |= static_cast<uint32_t>(good) << k;
    }
    state.pulled += __popc(wanted);
#pragma unroll
    for (uint32_t k = 0; k < group_words; k++)
        take_loaded(bound, edge[k][e], from[k], best[k]);
}

/* Lightest edges of vertices that push no other edge. */
template <int kind> struct single_edges {
    hw_gpu_edge edge[group_words];
    key_of<kind> next[group_words], old[group_words];
};

/* Selects them among the vertices `inside` the iteration's bucket; vertices whose second edge may
 * also end there go to `more`. */
template <int kind, class Peers>
__device__ __forceinline__ single_edges<kind>
select_single(const kernel_params<Peers> &params, lane_state<kind> &state,
              const hw_gpu_edge (&edge)[group_words][edges_cached], const key_group<kind> &keys,
              const bool (&inside)[group_words], bool (&more)[group_words])
{
    single_edges<kind> single;
    uint32_t others = 0;

#pragma unroll
    for (uint32_t k = 0; k < group_words; k++) {
        more[k] = inside[k] && may_reach<kind>(edge[k][1], keys.key[k], state.to);
        const bool one =
            inside[k] && !more[k] && may_reach<kind>(edge[k][0], keys.key[k], state.to);
        single.next[k] =
            one ? hw_further<kind>(keys.key[k], edge[k][0].weight) : hw_keys<kind>::none;
        single.edge[k] = one ? edge[k][0] : hw_gpu_edge{HW_INVALID_VERTEX, 0};
        state.edges += one;
        others += inside[k] && !more[k];
    }
    state.degrees += others * params.config.mean_degree;
    load_targets<static_cast<int>(group_words), kind>(params, state, single.edge, single.next,
                                                      single.old);
    return single;
}

/* Relaxes the lightest edges alone. */
template <int kind, class Peers>
__device__ __forceinline__ void push_single(const kernel_params<Peers> &params,
                                            block_shared<Peers> &shared, lane_state<kind> &state,
                                            single_edges<kind> &single, const key_group<kind> &keys)
{
    uint32_t source[group_words];
    bool any = false;

#pragma unroll
    for (uint32_t k = 0; k < group_words; k++) {
        source[k] = keys.first + 32 * k;
        any = any || single.edge[k].neighbor != HW_INVALID_VERTEX;
    }
    if (__any_sync(HW_WARP, any))
        relax_edges<static_cast<int>(group_words), kind>(params, shared, state, single.edge,
                                                         single.old, single.next, source, keys.key);
}

/* The vertices of a group beyond the bucket `from` pull and push their lightest edges. Those that
 * may have more are collected. */
template <int kind, class Peers>
__device__ __forceinline__ void pull_lightest(const kernel_params<Peers> &params,
                                              block_shared<Peers> &shared, lane_state<kind> &state,
                                              const bucket_bounds<kind> &from, uint64_t group,
                                              pull_worklist &work)
{
    key_group<kind> keys = load_keys<kind>(params, group, 0);
    hw_gpu_edge edge[group_words][edges_cached];
    pull_result<kind> best[group_words];
    const bool remote = loads_remote<Peers>(state);
    bool beyond[group_words], more[group_words], done[group_words], inside[group_words],
        pushes[group_words], any = false;

#pragma unroll
    for (uint32_t k = 0; k < group_words; k++) {
        beyond[k] = keys.key[k] >= from.high;
        any = any || beyond[k];
        note_unsettled(params, keys.first + 32 * k, beyond[k]);
    }
    if (!__any_sync(HW_WARP, any)) /* vertices of many edges are settled early, and are adjacent */
        return;
    read_lightest<kind>(params.queues.lightest, keys, beyond, edge);
#pragma unroll
    for (uint32_t k = 0; k < group_words; k++)
        best[k] = pull_result<kind>{keys.key[k], 0, HW_INVALID_VERTEX};
    if (!remote) {
#pragma unroll
        for (uint32_t e = 0; e < edges_cached; e++)
            pull_one<kind>(params, state, from, edge, e, best);
    }
#pragma unroll
    for (uint32_t k = 0; k < group_words; k++) {
        more[k] = may_reach<kind>(remote ? edge[k][0] : edge[k][1], from.low, best[k].key);
        done[k] = !more[k] && beyond[k];
    }
    store_pulled<group_words, kind>(params, keys.first, best, keys.key);
#pragma unroll
    for (uint32_t k = 0; k < group_words; k++)
        inside[k] = done[k] && pushes_pulled<Peers>(state, keys.key[k]);
    if constexpr (Peers::directed)
        read_lightest<kind>(params.queues.lightest_out, keys, inside, edge);
    /* Loads are issued before the rest is done. */
    single_edges<kind> single = select_single<kind>(params, state, edge, keys, inside, pushes);
    append_lanes(work.pulls, work.pulling, more, keys.first);
    append_lanes(work.pushes, work.pushing, pushes, keys.first);
    classify_pulled<group_words, kind>(shared, state, done, keys.first, keys.key, inside);
    push_single<kind>(params, shared, state, single, keys);
}

/* Prefetches the keys and lightest edges of a group. */
template <int kind, class Peers>
__device__ __forceinline__ void prefetch_group(const kernel_params<Peers> &params, uint64_t group)
{
    constexpr uint32_t vertices = group_words * 32;
    constexpr uint32_t keys = key_lines<kind, Peers>;
    constexpr uint32_t edges = vertices * sizeof *params.queues.lightest / prefetched_line;
    static_assert(keys + edges <= 32, "a line a lane");
    const uint32_t lane = threadIdx.x & 31;
    const uint64_t first = group * vertices;

    if (first + vertices > params.vertices.core)
        return;
    if (lane < keys)
        prefetch_line(own_key_at<kind>(params, first), lane);
    else if (lane < keys + edges)
        prefetch_line(params.queues.lightest + first, lane - keys);
}

/* Takes a portion of the vertices left over in the bucket, from queue and deferred updates, into
 * the worklist; more of them wait for the next iteration. */
template <int kind, class Peers>
__device__ __forceinline__ void
take_leftovers(const kernel_params<Peers> &params, block_shared<Peers> &shared,
               lane_state<kind> &state, uint32_t count, uint32_t updates, pull_worklist &work)
{
    work_portions portions = portions_of(count, updates);

    while (has_more(portions)) {
        const uint32_t v = next_portion<kind>(params, shared, state, portions);
        if (work.pushing == 0)
            append_lanes(work.pushes, work.pushing, {v != HW_INVALID_VERTEX}, v);
        else
            buffer_vertex(shared, step_queue, state.step_count, v != HW_INVALID_VERTEX, v);
    }
}

/* Claims the next group for this warp: one lane. Groups and SMs differ in speed, so blocks have two
 * chunks by their numbers and claim further ones from a counter of the GPU ahead of time. claimed:
 * that counter. */
__device__ __forceinline__ uint32_t claim_group(work_chunk &work, uint32_t *claimed)
{
    constexpr uint32_t below = (1u << claim_bits) - 1;

    for (;;) {
        const uint32_t now = atomicAdd(&work.now, 1), claim = now & below;
        if (claim < warps)
            return (now >> claim_bits) * warps + claim;
        if (claim == warps) { /* the first warp that came too late advances to the next chunk */
            while (hw_load_relaxed(&work.next) == no_chunk)
                ;
            const uint32_t next = atomicExch(&work.next, no_chunk);
            __threadfence_block();
            atomicExch(&work.now, next << claim_bits | 1);
            atomicExch(&work.next, 2 * gridDim.x + atomicAdd(claimed, 1));
            return next * warps;
        }
        while ((hw_load_relaxed(&work.now) & below) >= warps)
            ;
    }
}

/* The same for the whole warp, which calls it. */
__device__ __forceinline__ uint32_t next_group(work_chunk &work, uint32_t *claimed)
{
    uint32_t group = 0;

    if ((threadIdx.x & 31) == 0)
        group = claim_group(work, claimed);
    return __shfl_sync(HW_WARP, group, 0);
}

/* Prefetches what a warp of the block will read of the next chunk, if its number is known: this
 * warp, if all are equally fast. */
template <int kind, class Peers>
__device__ __forceinline__ void prefetch_work(const kernel_params<Peers> &params,
                                              const work_chunk &work, uint32_t group)
{
    const uint32_t next = hw_load_relaxed(&work.next);

    if (next != no_chunk)
        prefetch_group<kind>(params, static_cast<uint64_t>(next) * warps + group % warps);
}

/* Pulls into all owned vertices beyond the bucket `from`, and pushes those that fall into the
 * bucket of the iteration, as well as the leftovers of `from`: `count` queued vertices and
 * `updates` deferred updates. claimed: as for claim_group(). */
template <int kind, class Peers>
__device__ void pull(const kernel_params<Peers> &params, block_shared<Peers> &shared,
                     lane_state<kind> &state, const bucket_bounds<kind> &from, uint32_t count,
                     uint32_t updates, uint32_t *claimed)
{
    static_assert(31 + 32 * group_words <= buffer_capacity,
                  "the buffer holds the waiting vertices");
    const uint32_t warp = threadIdx.x / 32;
    pull_worklist work = {shared.buffer[rest_queue][warp], shared.pushes[warp], 0, 0};
    uint64_t g = hw_grid_thread() / 32;

    take_leftovers<kind>(params, shared, state, count, updates, work);
    for (;;) {
        const bool last = g >= num_groups(params);
        if (work.pushing >= 32 || (last && work.pulling == 0 && work.pushing > 0)) {
            push_lists<kind>(params, shared, state, pop_lanes(work.pushes, work.pushing), true);
        } else if (work.pulling >= (last ? 1 : 32)) {
            pull_warp<kind>(params, shared, state, from, work, pop_lanes(work.pulls, work.pulling));
        } else if (!last) {
            prefetch_work<kind>(params, shared.work, g);
            pull_lightest<kind>(params, shared, state, from, g, work);
            g = next_group(shared.work, claimed);
        } else {
            break;
        }
    }
    push_block_worklist<kind>(params, shared, state);
}

} // namespace
} // namespace hw_delta::search

#endif
