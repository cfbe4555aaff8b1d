/* @@HEAD pull@@ */
#ifndef HOPWAVE_GPU_SSSP_DELTA_PEER_PEER_DELTA_PULL_CUH
#define HOPWAVE_GPU_SSSP_DELTA_PEER_PEER_DELTA_PULL_CUH

#include "gpu/sssp/delta/peer/peer_delta_push.cuh"

namespace hw_delta::peer
{
namespace
{

/* Edges of each list that are at hand without it, and where a lane ends that pulls alone. */
constexpr uint32_t edges_cached = 2, lane_pull_edges = edges_cached + 16;

template <int kind> struct pull_result {
    key_of<kind> key, from; /* from: of the source */
    uint32_t source;        /* a code */
};

/* Takes an edge to an inner vertex where it is better. */
template <int kind>
__device__ __forceinline__ void take_better(const kernel_params &params, lane_state<kind> &state,
                                            const bucket_bounds<kind> &bound,
                                            const hw_gpu_edge &edge, pull_result<kind> &best)
{
    const key_of<kind> from =
        remote_load<kind>(params, state, edge.neighbor,
                          __ldca(distances<kind>(params) + edge.neighbor), state.remote_load_from);

    if (pull_order(from) >= pull_order(bound.high))
        return;
    const key_of<kind> next = hw_further<kind>(from, edge.weight);
    if (next < best.key)
        best = pull_result<kind>{next, from, edge.neighbor};
}

/* The rest of a list by the whole warp. */
template <int kind>
__device__ __forceinline__ pull_result<kind>
pull_rest(const kernel_params &params, lane_state<kind> &state, const bucket_bounds<kind> &bound,
          const hw_gpu_edge *list, uint32_t from, uint32_t length, pull_result<kind> best)
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
        const key_of<kind> min_key = warp_min(best.key);
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

/* Does a pass ask other GPUs for keys? Then few vertices pull anything, and those that do are
 * gathered first: the way to other GPUs is long. */
template <int kind> __device__ __forceinline__ bool loads_remote(const lane_state<kind> &state)
{
    return state.remote_load_from != hw_keys<kind>::none;
}

/* The list of one vertex a lane, from where pull_lightest() left it; each is beyond the bucket. */
template <int kind>
__device__ pull_result<kind> pull_lists(const kernel_params &params, lane_state<kind> &state,
                                        const bucket_bounds<kind> &bound, uint32_t v,
                                        pull_result<kind> best)
{
    const hw_gpu_edge *list = params.part.graph.edge;
    uint32_t length = 0, at = loads_remote<kind>(state) ? 0 : edges_cached;
    bool more = false;

    if (v != HW_INVALID_VERTEX) {
        const uint64_t begin = __ldg(params.part.graph.offset + v);
        length = static_cast<uint32_t>(__ldg(params.part.graph.offset + v + 1) - begin);
        list += begin;
        more = length > at;
        for (; more && at < length && at < lane_pull_edges; at += 4) {
            hw_gpu_edge edge[4];
#pragma unroll
            for (uint32_t k = 0; k < 4; k++)
                edge[k] = at + k < length ? hw_read_edge(list + at + k)
                                          : hw_gpu_edge{HW_INVALID_VERTEX, 0};
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

/* Takes what some vertices a lane beyond the bucket pulled. Others push to them meanwhile, perhaps
 * lesser keys, which nobody waits to know: then whoever pushes queues them, their hint may be lost,
 * and it does no harm to go on from what was pulled. v: the first one, the others 32 apart; key:
 * theirs, before and after. */
template <uint32_t N, int kind>
__device__ __forceinline__ void store_pulled(const kernel_params &params, uint32_t v,
                                             const pull_result<kind> (&best)[N],
                                             key_of<kind> (&key)[N])
{
    key_of<kind> *own = distances<kind>(params) + owned_begin(params);

#pragma unroll
    for (uint32_t k = 0; k < N; k++)
        if (best[k].source != HW_INVALID_VERTEX) {
            atomic_lower(own + v + 32 * k, best[k].key);
            put_hint<kind>(params, v + 32 * k,
                           best[k].from < best[k].key ? best[k].source : equal_distance_parent,
                           best[k].key);
            key[k] = best[k].key;
        }
}

/* Vertices that a warp keeps during a pull, until they fill it. */
struct pull_worklist {
    uint32_t *pulls, *pushes; /* [buffered] those with more edges to pull, and those to push */
    uint32_t pulling, pushing;
};

/* Keeps some a lane: v, 32 apart. The whole warp calls it. */
template <uint32_t N>
__device__ __forceinline__ void append_lanes(uint32_t *list, uint32_t &count,
                                             const bool (&wanted)[N], uint32_t v)
{
    const uint32_t below = (1u << (threadIdx.x & 31)) - 1;
    uint32_t all[N];

    ballot_all(wanted, all); /* somebody nearly always does */
#pragma unroll
    for (uint32_t k = 0; k < N; k++) {
        if (wanted[k])
            list[count + __popc(all[k] & below)] = v + 32 * k;
        count += __popc(all[k]);
    }
}

/* The last 32 of those that are kept, or all if they are fewer, one a lane. */
__device__ __forceinline__ uint32_t pop_lanes(const uint32_t *list, uint32_t &count)
{
    const uint32_t lane = threadIdx.x & 31, some = min(count, 32u);

    __syncwarp();
    count -= some;
    const uint32_t v = lane < some ? list[count + lane] : HW_INVALID_VERTEX;
    __syncwarp();
    return v;
}

/* Some vertices a lane, 32 apart, are through with their pulling, if they are `there`. Counts those
 * that are beyond the pass's bucket. Those that came to a bucket that was left with a few vertices
 * wait for the next pass, which pushes them whole. The others are to be pushed: `inside`. */
template <uint32_t N, int kind>
__device__ __forceinline__ void
classify_pulled(block_shared &shared, lane_state<kind> &state, const bool (&there)[N], uint32_t v,
                const key_of<kind> (&key)[N], const bool (&inside)[N])
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

/* Is a key in the pass's bucket? */
template <int kind>
__device__ __forceinline__ bool in_bucket(const lane_state<kind> &state, key_of<kind> key)
{
    return key >= state.bound.low && key < state.bound.high;
}

/* One vertex a lane beyond the bucket `from` looks for the best neighbour inside it, in what is
 * left of its list. */
template <int kind>
__device__ __forceinline__ void pull_warp(const kernel_params &params, block_shared &shared,
                                          lane_state<kind> &state, const bucket_bounds<kind> &from,
                                          pull_worklist &work, uint32_t v)
{
    const bool there[1] = {v != HW_INVALID_VERTEX};
    key_of<kind> key[1] = {there[0] ? __ldcg(distances<kind>(params) + owned_begin(params) + v)
                                    : 0};
    const pull_result<kind> best[1] = {
        pull_lists<kind>(params, state, from, v, pull_result<kind>{key[0], 0, HW_INVALID_VERTEX})};

    store_pulled<1, kind>(params, v, best, key);
    const bool inside[1] = {there[0] && in_bucket(state, key[0])};
    append_lanes(work.pushes, work.pushing, inside, v);
    classify_pulled<1, kind>(shared, state, there, v, key, inside);
}

/* May an edge lead from `key` to below `to`? */
template <int kind>
__device__ __forceinline__ bool may_reach(const hw_gpu_edge &edge, key_of<kind> key,
                                          key_of<kind> to)
{
    return edge.neighbor != HW_INVALID_VERTEX && hw_further<kind>(key, edge.weight) < to;
}

/* The lightest edges of the vertices of some words that are beyond the bucket `from`. */
template <int kind>
__device__ __forceinline__ void
read_lightest(const kernel_params &params, const bucket_bounds<kind> &from,
              const key_group<kind> &keys, hw_gpu_edge (&edge)[group_words][edges_cached])
{
    static_assert(sizeof *params.queues.lightest == sizeof(uint4), "read as one vector");

#pragma unroll
    for (uint32_t k = 0; k < group_words; k++) {
        const uint4 both = keys.key[k] >= from.high
                               ? __ldcs(reinterpret_cast<const uint4 *>(params.queues.lightest +
                                                                        keys.first + 32 * k))
                               : make_uint4(HW_INVALID_VERTEX, 0, HW_INVALID_VERTEX, 0);
        edge[k][0] = hw_gpu_edge{both.x, both.y};
        edge[k][1] = hw_gpu_edge{both.z, both.w};
    }
}

/* Some vertices a lane pull one edge each, if it may lead to a better key. */
template <int kind>
__device__ __forceinline__ void pull_one(const kernel_params &params, lane_state<kind> &state,
                                         const bucket_bounds<kind> &bound,
                                         const hw_gpu_edge (&edge)[group_words][edges_cached],
                                         uint32_t e, pull_result<kind> (&best)[group_words])
{
    key_of<kind> from[group_words];
    uint32_t wanted = 0;

#pragma unroll
    for (uint32_t k = 0; k < group_words; k++) {
        const bool good = may_reach<kind>(edge[k][e], bound.low, best[k].key);
        from[k] =
            good ? __ldca(distances<kind>(params) + edge[k][e].neighbor) : hw_keys<kind>::none;
        wanted |= static_cast<uint32_t>(good) << k;
    }
    state.pulled += __popc(wanted);
#pragma unroll
    for (uint32_t k = 0; k < group_words; k++) {
        if (pull_order(from[k]) >= pull_order(bound.high))
            continue;
        const key_of<kind> next = hw_further<kind>(from[k], edge[k][e].weight);
        if (next < best[k].key)
            best[k] = pull_result<kind>{next, from[k], edge[k][e].neighbor};
    }
}

/* The lightest edges of some vertices a lane that are to be pushed alone. */
template <int kind> struct single_edges {
    hw_gpu_edge edge[group_words];
    key_of<kind> next[group_words], old[group_words];
};

/* Those of the vertices that are `inside` the pass's bucket, unless the next edge may end there,
 * too: then they belong to `more`. */
template <int kind>
__device__ __forceinline__ single_edges<kind>
select_single(const kernel_params &params, lane_state<kind> &state,
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
    load_targets<static_cast<int>(group_words), kind>(params, state, single.edge, single.old);
    return single;
}

/* Relaxes them. */
template <int kind>
__device__ __forceinline__ void push_single(const kernel_params &params, block_shared &shared,
                                            lane_state<kind> &state, single_edges<kind> &single,
                                            const key_group<kind> &keys)
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

/* The vertices of some words that are beyond the bucket `from` pull their lightest edges, and push
 * likewise. Those that may have more to pull or to push are kept. */
template <int kind>
__device__ __forceinline__ void
pull_lightest(const kernel_params &params, block_shared &shared, lane_state<kind> &state,
              const bucket_bounds<kind> &from, uint64_t group, pull_worklist &work)
{
    key_group<kind> keys = load_keys<kind>(params, group, 0);
    hw_gpu_edge edge[group_words][edges_cached];
    pull_result<kind> best[group_words];
    const bool remote = loads_remote<kind>(state);
    bool more[group_words], done[group_words], inside[group_words], pushes[group_words],
        any = false;

#pragma unroll
    for (uint32_t k = 0; k < group_words; k++)
        any = any || keys.key[k] >= from.high;
    if (!__any_sync(HW_WARP, any)) /* those of many edges are settled early, and lie together */
        return;
    read_lightest(params, from, keys, edge);
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
        done[k] = !more[k] && keys.key[k] >= from.high;
    }
    store_pulled<group_words, kind>(params, keys.first, best, keys.key);
#pragma unroll
    for (uint32_t k = 0; k < group_words; k++)
        inside[k] = done[k] && in_bucket(state, keys.key[k]);
    /* What is waited for is asked for before the rest is seen to. */
    single_edges<kind> single = select_single<kind>(params, state, edge, keys, inside, pushes);
    append_lanes(work.pulls, work.pulling, more, keys.first);
    append_lanes(work.pushes, work.pushing, pushes, keys.first);
    classify_pulled<group_words, kind>(shared, state, done, keys.first, keys.key, inside);
    push_single<kind>(params, shared, state, single, keys);
}

/* Asks for the keys and the lightest edges of a group, which are read later. */
template <int kind>
__device__ __forceinline__ void prefetch_group(const kernel_params &params, uint64_t group)
{
    constexpr uint32_t line = 128, vertices = group_words * 32;
    constexpr uint32_t keys = vertices * sizeof(key_of<kind>) / line;
    constexpr uint32_t edges = vertices * sizeof *params.queues.lightest / line;
    static_assert(keys + edges <= 32, "a line a lane");
    const uint32_t lane = threadIdx.x & 31;
    const uint64_t first = group * vertices;

    if (first + vertices > params.peers.core)
        return;
    if (lane < keys)
        hw_prefetch_l2(
            reinterpret_cast<const char *>(distances<kind>(params) + owned_begin(params) + first) +
            line * lane);
    else if (lane < keys + edges)
        hw_prefetch_l2(reinterpret_cast<const char *>(params.queues.lightest + first) +
                       line * (lane - keys));
}

/* Keeps what was left of the bucket, in the queue and in mail: a portion. Where there is more, it
 * waits for the next pass. */
template <int kind>
__device__ __forceinline__ void take_leftovers(const kernel_params &params, block_shared &shared,
                                               lane_state<kind> &state, uint32_t count,
                                               uint32_t updates, pull_worklist &work)
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

/* Another group for this lane's warp. Groups and SMs differ: blocks have their first two shares by
 * their numbers, and ask for others in time. given: how many these are. */
__device__ __forceinline__ uint32_t claim_group(work_chunk &work, uint32_t *claimed)
{
    constexpr uint32_t below = (1u << claim_bits) - 1;

    for (;;) {
        const uint32_t now = atomicAdd(&work.now, 1), claim = now & below;
        if (claim < warps)
            return (now >> claim_bits) * warps + claim;
        if (claim == warps) { /* the first of those that came too late goes on to the next share */
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

/* Likewise for the whole warp, which calls it. */
__device__ __forceinline__ uint32_t next_group(work_chunk &work, uint32_t *claimed)
{
    uint32_t group = 0;

    if ((threadIdx.x & 31) == 0)
        group = claim_group(work, claimed);
    return __shfl_sync(HW_WARP, group, 0);
}

/* Asks for what a warp of the block reads of its next share, if that is known: of this one, if all
 * are as fast. */
template <int kind>
__device__ __forceinline__ void prefetch_work(const kernel_params &params, const work_chunk &work,
                                              uint32_t group)
{
    const uint32_t next = hw_load_relaxed(&work.next);

    if (next != no_chunk)
        prefetch_group<kind>(params, static_cast<uint64_t>(next) * warps + group % warps);
}

/* Whatever is beyond the bucket `from` pulls, and pushes if it is in the pass's bucket then. So
 * does what was left of the bucket: count, mail. given: shares that blocks took, as take_group().
 * Few vertices have more to do than to look at their lightest edges; these wait until they fill a
 * warp, some where no others of this pass do. */
template <int kind>
__device__ void pull(const kernel_params &params, block_shared &shared, lane_state<kind> &state,
                     const bucket_bounds<kind> &from, uint32_t count, uint32_t updates,
                     uint32_t *claimed)
{
    static_assert(31 + 32 * group_words <= buffer_capacity, "waiting vertices have room");
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
} // namespace hw_delta::peer

#endif
