/* Telling, pulling, what lies between steps, and parents: method `delta` on several GPUs in one
 * kernel (gpu/sssp/delta/peer_delta.h). */
#ifndef HOPWAVE_GPU_SSSP_DELTA_PEER_DELTA_PULL_CUH
#define HOPWAVE_GPU_SSSP_DELTA_PEER_DELTA_PULL_CUH

#include "gpu/sssp/delta/peer_delta_push.cuh"

namespace
{

/* Edges of each list that are at hand without it, and where a lane ends that pulls alone. */
constexpr uint32_t edges_cached = 2, lane_pull_edges = edges_cached + 16;

/* What a pass over all own vertices sees of some words of 32, one of each a lane. */
constexpr uint32_t group_words = 3;

template <int kind> struct key_group {
    uint32_t first;                /* the first of the words' vertices, plus the lane */
    key_of<kind> key[group_words]; /* `past` of those past the last one */
};

template <int kind>
__device__ __forceinline__ key_group<kind> load_keys(const kernel_params &params, uint64_t group,
                                                     key_of<kind> past)
{
    const key_of<kind> *own = distances<kind>(params) + owned_begin(params);
    key_group<kind> keys;

    keys.first = static_cast<uint32_t>(group * group_words * 32) + (threadIdx.x & 31);
#pragma unroll
    for (uint32_t k = 0; k < group_words; k++)
        keys.key[k] =
            keys.first + 32 * k < params.peers.core ? __ldcg(own + keys.first + 32 * k) : past;
    return keys;
}

/* How many such groups there are. */
__device__ __forceinline__ uint64_t num_groups(const kernel_params &params)
{
    return (static_cast<uint64_t>(params.peers.core) + 32 * group_words - 1) / (32 * group_words);
}

/* ---- telling ---- */

/* Whole chunks of positions are told packed: a bit for each position and the keys of those whose
 * bit is set, into a box, where chunks have their places. So links carry full lines, which keys
 * that lie scattered over the others' distances would not make. */
template <int kind> struct chunk_t {
    static constexpr uint32_t words = 32 / sizeof(key_of<kind>); /* of 32 positions */
    static constexpr uint32_t positions = 32 * words;
    static constexpr uint32_t masks = words / 4;             /* entries of a box */
    static constexpr uint32_t entries = masks + 64;          /* at most */
    static constexpr uint32_t apart = (entries + 7) / 8 * 8; /* whole lines */
};

/* Has a box room for all chunks of a part? Its entries are as many as a part's positions. */
template <int kind> __device__ __forceinline__ bool can_pack(const kernel_params &params)
{
    using chunk = chunk_t<kind>;
    static_assert(3 * chunk::apart <= 2 * chunk::positions, "two chunks and a begun one fit");

    return params.peers.outbox_capacity >= 2 * chunk::positions;
}

/* How many chunks so many positions make. */
template <int kind> __device__ __forceinline__ uint32_t chunks_of(uint32_t core)
{
    return (core + chunk_t<kind>::positions - 1) / chunk_t<kind>::positions;
}

/* Packs own keys in [from, to) of a chunk from position `begin` on into `stage`, and counts them as
 * sent to all others. Returns how many entries of a box they take. The whole warp calls it. */
template <int kind>
__device__ __forceinline__ uint32_t pack_chunk(const kernel_params &params, lane_state<kind> &state,
                                               uint32_t begin, key_of<kind> from, key_of<kind> to,
                                               uint4 *stage)
{
    using chunk = chunk_t<kind>;
    static_assert(chunk::positions * sizeof(key_of<kind>) == 64 * sizeof(uint4), "keys fit");
    const uint32_t lane = threadIdx.x & 31, below = (1u << lane) - 1, first = begin + lane;
    const key_of<kind> *own = distances<kind>(params) + owned_begin(params);
    key_of<kind> *packed = reinterpret_cast<key_of<kind> *>(stage + chunk::masks);
    key_of<kind> key[chunk::words];
    uint32_t mask = 0, count = 0;

#pragma unroll
    for (uint32_t k = 0; k < chunk::words; k++)
        key[k] =
            first + 32 * k < params.peers.core ? __ldcg(own + first + 32 * k) : hw_keys<kind>::none;
#pragma unroll
    for (uint32_t k = 0; k < chunk::words; k++) {
        const bool wanted = key[k] >= from && key[k] < to;
        const uint32_t all = __ballot_sync(HW_WARP, wanted);
        if (wanted)
            packed[count + __popc(all & below)] = key[k];
        mask = lane == k ? all : mask;
        count += __popc(all);
    }
    if (lane < chunk::words)
        reinterpret_cast<uint32_t *>(stage)[lane] = mask;
    if (lane == 0)
        state.sent_keys += count * (params.part.ranks - 1);
    __syncwarp();
    return chunk::masks + (count * static_cast<uint32_t>(sizeof(key_of<kind>)) + 15) / 16;
}

/* Asks for the own keys of a chunk, which are read later. */
template <int kind>
__device__ __forceinline__ void prefetch_chunk(const kernel_params &params, uint64_t begin)
{
    constexpr uint32_t line = 128, apart = line / sizeof(key_of<kind>);
    const uint64_t at = begin + (threadIdx.x & 31) * apart;

    if (at < min(begin + chunk_t<kind>::positions, static_cast<uint64_t>(params.peers.core)))
        hw_prefetch_l2(distances<kind>(params) + owned_begin(params) + at);
}

/* Own keys in [from, to) go to the others' boxes. */
template <int kind>
__device__ void broadcast_packed(const kernel_params &params, block_shared &shared,
                                 lane_state<kind> &state, key_of<kind> from, key_of<kind> to)
{
    using chunk = chunk_t<kind>;
    static_assert(chunk::entries <= send_capacity, "a warp has room");
    uint4 *stage = shared.send_buffer[threadIdx.x / 32];

    for (uint64_t c = hw_grid_thread() / 32; c < chunks_of<kind>(params.peers.core);
         c += hw_grid_threads() / 32) {
        const uint32_t begin = static_cast<uint32_t>(c) * chunk::positions;
        prefetch_chunk<kind>(params, (c + hw_grid_threads() / 32) * chunk::positions);
        const uint32_t entries = pack_chunk<kind>(params, state, begin, from, to, stage);
        for (uint32_t i = threadIdx.x & 31; i < entries; i += 32) {
            const uint4 entry = stage[i];
            for (uint32_t step = 1; step < params.part.ranks; step++) {
                const uint32_t q = (params.part.rank + step) % params.part.ranks;
                static_cast<uint4 *>(
                    params.peers.outbox[state.parity].to[q])[c * chunk::apart + i] = entry;
            }
        }
        __syncwarp();
    }
}

/* The masks of a chunk that came, one a lane; none past the last chunk. */
template <int kind>
__device__ __forceinline__ uint32_t mask_of(const uint4 *box, uint64_t c, uint32_t chunks)
{
    using chunk = chunk_t<kind>;
    const uint32_t lane = threadIdx.x & 31;

    return lane < chunk::words && c < chunks
               ? __ldcg(reinterpret_cast<const uint32_t *>(box + c * chunk::apart) + lane)
               : 0;
}

/* Stores the keys of a chunk that came; mask: as of mask_of(); there: the place of this lane's
 * first position. The whole warp calls it. */
template <int kind>
__device__ __forceinline__ void unpack_chunk(const uint4 *received, uint32_t mask,
                                             key_of<kind> *there)
{
    using chunk = chunk_t<kind>;
    const uint32_t lane = threadIdx.x & 31, below = (1u << lane) - 1;
    const key_of<kind> *packed = reinterpret_cast<const key_of<kind> *>(received + chunk::masks);
    key_of<kind> key[chunk::words];
    uint32_t count = 0;

#pragma unroll
    for (uint32_t k = 0; k < chunk::words; k++) {
        const uint32_t all = __shfl_sync(HW_WARP, mask, k);
        key[k] = all >> lane & 1 ? __ldcg(packed + count + __popc(all & below)) : -1;
        count += __popc(all);
    }
#pragma unroll
    for (uint32_t k = 0; k < chunk::words; k++)
        if (key[k] >= 0)
            there[32 * k] = key[k];
}

/* Takes what the others told packed, asking for the next chunk's masks meanwhile. */
template <int kind> __device__ void unpack_broadcast(const kernel_params &params, uint32_t parity)
{
    using chunk = chunk_t<kind>;
    const uint64_t first = hw_grid_thread() / 32, stride = hw_grid_threads() / 32;

    for (uint32_t step = 1; step < params.part.ranks; step++) {
        const uint32_t q = (params.part.rank + step) % params.part.ranks;
        const uint4 *box = static_cast<const uint4 *>(params.peers.outbox[parity].came[q]);
        const uint32_t chunks = chunks_of<kind>(params.peers.core_of[q]);
        key_of<kind> *there = distances<kind>(params) + q * params.part.block + (threadIdx.x & 31);
        uint32_t next = mask_of<kind>(box, first, chunks);
        for (uint64_t c = first; c < chunks; c += stride) {
            const uint32_t mask = next;
            next = mask_of<kind>(box, c + stride, chunks);
            unpack_chunk<kind>(box + c * chunk::apart, mask, there + c * chunk::positions);
        }
    }
}

/* Own keys in [from, to) go straight to where the others have them. */
template <int kind>
__device__ void broadcast_direct(const kernel_params &params, lane_state<kind> &state,
                                 key_of<kind> from, key_of<kind> to)
{
    const uint32_t home = owned_begin(params);

    for (uint64_t g = hw_grid_thread() / 32; g < num_groups(params); g += hw_grid_threads() / 32) {
        const key_group<kind> keys = load_keys<kind>(params, g, hw_keys<kind>::none);
        for (uint32_t step = 1; step < params.part.ranks; step++) {
            const uint32_t q = (params.part.rank + step) % params.part.ranks;
            key_of<kind> *there = static_cast<key_of<kind> *>(params.peers.distance_of[q]) + home;
#pragma unroll
            for (uint32_t k = 0; k < group_words; k++)
                if (keys.key[k] >= from && keys.key[k] < to) {
                    there[keys.first + 32 * k] = keys.key[k];
                    state.sent_keys++;
                }
        }
    }
}

/* ---- pulling ---- */

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
        remote_load<kind>(params, state, edge.rank, __ldca(distances<kind>(params) + edge.rank),
                          state.remote_load_from);

    if (pull_order(from) >= pull_order(bound.high))
        return;
    const key_of<kind> next = hw_further<kind>(from, edge.weight);
    if (next < best.key)
        best = pull_result<kind>{next, from, edge.rank};
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
    const hw_gpu_edge *list = params.part.edge;
    uint32_t length = 0, at = loads_remote<kind>(state) ? 0 : edges_cached;
    bool more = false;

    if (v != HW_INVALID_VERTEX) {
        const uint64_t begin = __ldg(params.part.offset + v);
        length = static_cast<uint32_t>(__ldg(params.part.offset + v + 1) - begin);
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

/* Counts a vertex, if it is beyond the pass's bucket. */
template <int kind>
__device__ __forceinline__ void count_beyond(lane_state<kind> &state, bool beyond, key_of<kind> key)
{
    state.unsettled += beyond;
    state.min_key = min(state.min_key, beyond ? key : hw_keys<kind>::none);
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
    return edge.rank != HW_INVALID_VERTEX && hw_further<kind>(key, edge.weight) < to;
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
        from[k] = good ? __ldca(distances<kind>(params) + edge[k][e].rank) : hw_keys<kind>::none;
        wanted |= static_cast<uint32_t>(good) << k;
    }
    state.pulled += __popc(wanted);
#pragma unroll
    for (uint32_t k = 0; k < group_words; k++) {
        if (pull_order(from[k]) >= pull_order(bound.high))
            continue;
        const key_of<kind> next = hw_further<kind>(from[k], edge[k][e].weight);
        if (next < best[k].key)
            best[k] = pull_result<kind>{next, from[k], edge[k][e].rank};
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
        any = any || single.edge[k].rank != HW_INVALID_VERTEX;
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

/* ---- between steps ---- */

/* Queues all that is in the bucket. */
template <int kind>
__device__ void enqueue_bucket(const kernel_params &params, block_shared &shared,
                               lane_state<kind> &state)
{
    for (uint64_t g = hw_grid_thread() / 32; g < num_groups(params); g += hw_grid_threads() / 32) {
        const key_group<kind> keys = load_keys<kind>(params, g, state.bound.low - 1);
#pragma unroll
        for (uint32_t k = 0; k < group_words; k++) {
            const key_of<kind> key = keys.key[k];
            const bool inside = key >= state.bound.low && key < state.bound.high;
            count_beyond(state, key >= state.bound.high, key);
            if (__any_sync(HW_WARP, inside))
                enqueue(shared, state, inside, keys.first + 32 * k, key);
        }
    }
}

/* What is queued stays so for the next pass. */
template <int kind>
__device__ void requeue_step(const kernel_params &params, block_shared &shared,
                             lane_state<kind> &state, uint32_t count)
{
    const uint32_t *list = by_parity(params.queues.step_queue, state.iteration);
    uint32_t *bits = by_parity(params.queues.step_marks, state.iteration);
    const uint32_t lane = threadIdx.x & 31;

    for (uint64_t i = hw_grid_thread(); i - lane < count; i += hw_grid_threads()) {
        const uint32_t v = i < count ? __ldcg(list + i) : 0;
        if (i < count)
            bits[v >> 5] = 0; /* all bits of the word are of this pass */
        buffer_vertex(shared, step_queue, state.step_count, i < count, v);
    }
}

/* Takes what the step holds from those that waited; what was settled since is dropped. */
template <int kind>
__device__ void refill_step(const kernel_params &params, block_shared &shared,
                            lane_state<kind> &state, const uint32_t *list, uint32_t count,
                            key_of<kind> settled)
{
    const uint32_t lane = threadIdx.x & 31;
    const key_of<kind> *own = distances<kind>(params) + owned_begin(params);

    for (uint64_t i = hw_grid_thread(); i - lane < count; i += hw_grid_threads()) {
        const uint32_t v = i < count ? __ldcg(list + i) : HW_INVALID_VERTEX;
        const key_of<kind> key = i < count ? __ldcg(own + v) : 0;
        const bool there = i < count && key >= settled;
        const bool in_step = there && key < state.bound.step_end;
        if (i < count && !(there && !in_step)) /* those that go on waiting keep their marks */
            atomicAnd(params.queues.rest_marks + (v >> 5), ~(1u << (v & 31)));
        if (there && !in_step)
            state.min_key = min(state.min_key, key);
        buffer_vertex(shared, step_queue, state.step_count, in_step, v);
        buffer_vertex(shared, rest_queue, state.rest_count, there && !in_step, v);
    }
}

/* ---- beginning and end ---- */

/* Positions [first, end) of a segment are unreached, but the root. */
template <int kind>
__device__ void reset_keys(const kernel_params &params, uint32_t q, uint32_t first, uint32_t end,
                           uint32_t root)
{
    const uint32_t segment = q * params.part.block;

    for (uint64_t v = first + hw_grid_thread(); v < end; v += hw_grid_threads())
        distances<kind>(params)[segment + v] = segment + v == root ? 0 : hw_keys<kind>::none;
}

template <int kind> __device__ void init_distances(const kernel_params &params, uint32_t root)
{
    const uint64_t words = params.part.block / 32 + 1;
    const uint32_t own = root - owned_begin(params);
    iteration_counters *counters = &params.control->counters[0];

    for (uint32_t q = 0; q < params.part.ranks; q++) {
        key_of<kind> *keys = distances<kind>(params) + q * params.part.block;
        reset_keys<kind>(params, q, 0, params.peers.core_of[q], root);
        for (uint64_t v = params.peers.core_of[q] + hw_grid_thread(); v < params.peers.active_of[q];
             v += hw_grid_threads())
            keys[v] = q * params.part.block + v == root ? 0 : -1;
    }
    for (uint64_t w = hw_grid_thread(); w < words; w += hw_grid_threads())
        params.queues.step_marks[0][w] = params.queues.step_marks[1][w] =
            params.queues.rest_marks[w] = 0;
    if (hw_grid_thread() != 0 || own >= params.part.active)
        return;
    const uint64_t first = params.part.offset[own], end = params.part.offset[own + 1];
    if (first == end)
        return;
    params.queues.step_queue[0][0] = own;
    counters->step = 1;
    counters->degrees = end - first;
    counters->max_complement = complement(hw_further<kind>(0, params.part.edge[first].weight));
}

/* What a search leaves of an own vertex: its parent's code, and the low bits of its key. A hint
 * that holds is that already. */
template <int kind>
__device__ __forceinline__ void store_result(const kernel_params &params, uint32_t v,
                                             uint32_t parent, key_of<kind> key)
{
    reinterpret_cast<uint2 *>(params.part.value)[owned_begin(params) + v] =
        make_uint2(parent, low_bits<kind>(key));
}

/* Stores to many lines of the others' boxes: links that were idle take their time to wake, and
 * so wake together, not one pass after the other. */
__device__ void warm_nvlink(const kernel_params &params)
{
    constexpr uint32_t lines = 8192, apart = 136; /* entries: 17 lines of 128 bytes */

    for (uint32_t q = 0; q < params.part.ranks; q++)
        for (uint64_t i = hw_grid_thread(); q != params.part.rank && i < lines;
             i += hw_grid_threads())
            static_cast<uint4 *>(
                params.peers.outbox[0].to[q])[i * apart % params.peers.outbox_capacity] =
                make_uint4(0, 0, 0, 0);
}

/* Vertices that a lane has under way at the end. */
constexpr uint32_t finish_in_flight = 4;

/* The keys of the ends of so many edges of each lane: unreached where an edge is of no rank. */
template <int kind>
__device__ __forceinline__ void load_neighbor_keys(const kernel_params &params,
                                                   lane_state<kind> &state,
                                                   const hw_gpu_edge (&edge)[finish_in_flight],
                                                   key_of<kind> (&key)[finish_in_flight])
{
    const key_of<kind> *distance = distances<kind>(params);

#pragma unroll
    for (uint32_t k = 0; k < finish_in_flight; k++)
        key[k] = edge[k].rank != HW_INVALID_VERTEX ? __ldcg(distance + edge[k].rank)
                                                   : hw_keys<kind>::none;
#pragma unroll
    for (uint32_t k = 0; k < finish_in_flight; k++)
        if (edge[k].rank != HW_INVALID_VERTEX)
            key[k] = remote_load_unless_pending<kind>(params, state, edge[k].rank, key[k]);
}

/* Vertices of one edge take their only neighbour. */
template <int kind>
__device__ void relax_leaves(const kernel_params &params, lane_state<kind> &state, uint32_t root)
{
    key_of<kind> *distance = distances<kind>(params);
    const uint32_t home = owned_begin(params);
    const uint64_t stride = hw_grid_threads();

    for (uint64_t first = params.peers.core + hw_grid_thread(); first < params.part.active;
         first += finish_in_flight * stride) {
        hw_gpu_edge edge[finish_in_flight];
        key_of<kind> from[finish_in_flight];
#pragma unroll
        for (uint32_t k = 0; k < finish_in_flight; k++) {
            const uint64_t v = first + k * stride;
            edge[k] = v < params.part.active ? hw_read_edge(params.queues.lightest[v].edge)
                                             : hw_gpu_edge{HW_INVALID_VERTEX, 0};
        }
        load_neighbor_keys<kind>(params, state, edge, from);
#pragma unroll
        for (uint32_t k = 0; k < finish_in_flight; k++) {
            const uint32_t v = static_cast<uint32_t>(first + k * stride);
            const bool reached = pull_order(from[k]) < pull_order(hw_keys<kind>::none);
            const key_of<kind> key =
                reached ? hw_further<kind>(from[k], edge[k].weight) : hw_keys<kind>::none;
            if (first + k * stride >= params.part.active || home + v == root)
                continue;
            distance[home + v] = key;
            store_result<kind>(params, v, reached ? edge[k].rank : HW_INVALID_VERTEX, key);
        }
    }
}

/* Looks for a nearer neighbour that explains a vertex's key, at several edges a lane at a time:
 * lists may be long. The whole warp calls it. */
template <int kind>
__device__ uint32_t find_nearer_parent(const kernel_params &params, lane_state<kind> &state,
                                       uint32_t v, key_of<kind> key)
{
    const uint32_t lane = threadIdx.x & 31;
    const uint64_t begin = __ldg(params.part.offset + v), end = __ldg(params.part.offset + v + 1);

    for (uint64_t at = begin + lane; at - lane < end; at += 32 * finish_in_flight) {
        hw_gpu_edge edge[finish_in_flight];
        key_of<kind> from[finish_in_flight];
        uint32_t source = HW_INVALID_VERTEX;
        bool past = false;
#pragma unroll
        for (uint32_t k = 0; k < finish_in_flight; k++)
            edge[k] = at + 32 * k < end ? hw_read_edge(params.part.edge + at + 32 * k)
                                        : hw_gpu_edge{HW_INVALID_VERTEX, 0};
        load_neighbor_keys<kind>(params, state, edge, from);
#pragma unroll
        for (uint32_t k = 0; k < finish_in_flight; k++) {
            if (edge[k].rank == HW_INVALID_VERTEX)
                continue;
            if (pull_order(from[k]) < pull_order(key) &&
                hw_further<kind>(from[k], edge[k].weight) == key)
                source = edge[k].rank;
            past = past || hw_further<kind>(0, edge[k].weight) > key;
        }
        const uint32_t who = __ballot_sync(HW_WARP, source != HW_INVALID_VERTEX);
        if (who)
            return __shfl_sync(HW_WARP, source, __ffs(who) - 1);
        if (__any_sync(HW_WARP, past))
            break;
    }
    return HW_INVALID_VERTEX;
}

/* What others know of an own vertex. */
template <int kind>
__device__ void publish_distance(const kernel_params &params, uint32_t v, key_of<kind> key)
{
    for (uint32_t q = 0; q < params.part.ranks; q++)
        if (q != params.part.rank)
            static_cast<volatile key_of<kind> *>(
                params.peers.distance_of[q])[owned_begin(params) + v] = key;
}

/* Queues those that have no parent yet, one a lane, and hides them from other GPUs, where these
 * look for them. Returns how many; on this lane. All lanes call it. */
template <int kind>
__device__ __forceinline__ uint32_t defer_parent(const kernel_params &params, block_shared &shared,
                                                 lane_state<kind> &state, bool parentless,
                                                 uint32_t v, key_of<kind> key)
{
    if (parentless)
        store_result<kind>(params, v, HW_INVALID_VERTEX, key);
    if (parentless && !params.config.directed)
        publish_distance<kind>(params, v, parent_pending);
    buffer_vertex(shared, step_queue, state.step_count, parentless, v);
    return parentless;
}

/* What was noted of some own vertices of several edges, one of each 32 a lane. */
template <int kind> struct hint_group {
    key_of<kind> key[finish_in_flight];
    uint2 hint[finish_in_flight];
};

template <int kind>
__device__ __forceinline__ hint_group<kind> load_hints(const kernel_params &params, uint64_t first)
{
    const uint32_t home = owned_begin(params), lane = threadIdx.x & 31;
    const key_of<kind> *own = distances<kind>(params) + home;
    const uint2 *value = reinterpret_cast<const uint2 *>(params.part.value) + home;
    hint_group<kind> hints;

#pragma unroll
    for (uint32_t k = 0; k < finish_in_flight; k++) {
        const uint64_t v = first + 32 * k + lane;
        hints.key[k] = v < params.peers.core ? __ldcg(own + v) : hw_keys<kind>::none;
        hints.hint[k] =
            v < params.peers.core ? __ldcg(value + v) : make_uint2(HW_INVALID_VERTEX, 0);
    }
    return hints;
}

/* Asks for what was noted of some own vertices, which is read later. */
template <int kind>
__device__ __forceinline__ void prefetch_hints(const kernel_params &params, uint64_t first)
{
    constexpr uint32_t line = 128, vertices = 32 * finish_in_flight;
    constexpr uint32_t keys = vertices * sizeof(key_of<kind>) / line;
    constexpr uint32_t hints = vertices * sizeof(uint2) / line;
    static_assert(keys + hints <= 32, "a line a lane");
    const uint32_t lane = threadIdx.x & 31;

    if (first + vertices > params.peers.core)
        return;
    first += owned_begin(params);
    if (lane < keys)
        hw_prefetch_l2(reinterpret_cast<const char *>(distances<kind>(params) + first) +
                       line * lane);
    else if (lane < keys + hints)
        hw_prefetch_l2(reinterpret_cast<const char *>(
                           reinterpret_cast<const uint2 *>(params.part.value) + first) +
                       line * (lane - keys));
}

/* Is a hint of what gave a vertex this key? Hints of keys that have more bits have no source. */
template <int kind> __device__ __forceinline__ bool hint_holds(const uint2 &hint, key_of<kind> key)
{
    return hint.x != HW_INVALID_VERTEX && hint.y == low_bits<kind>(key) && fits_low_bits<kind>(key);
}

/* Looks at 32 * ended own vertices of several edges from `first` on: leaves results of those that
 * are not reached, and takes those that have no hint into `waits`: `waiting`, in the end. Those
 * whose edge vanished have no nearer neighbour that is known, and are not to look through long
 * lists for one. Returns how many these are; on this lane. The whole warp calls it. */
template <int kind>
__device__ __forceinline__ uint32_t check_hints(const kernel_params &params, block_shared &shared,
                                                lane_state<kind> &state, uint32_t root,
                                                uint64_t first, uint32_t *waiting_list,
                                                uint32_t &waiting)
{
    const uint32_t home = owned_begin(params), lane = threadIdx.x & 31, below = (1u << lane) - 1;
    const hint_group<kind> hints = load_hints<kind>(params, first);
    uint32_t parentless = 0;
    bool all = true;

#pragma unroll
    for (uint32_t k = 0; k < finish_in_flight; k++)
        all = all && hints.hint[k].x != equal_distance_parent &&
              hint_holds<kind>(hints.hint[k], hints.key[k]);
    if (__all_sync(HW_WARP, all)) /* as nearly always */
        return 0;
#pragma unroll
    for (uint32_t k = 0; k < finish_in_flight; k++) {
        const uint32_t v = static_cast<uint32_t>(first) + 32 * k + lane;
        const key_of<kind> key = hints.key[k];
        const uint2 hint = hints.hint[k];
        const bool there = first + 32 * k + lane < params.peers.core && home + v != root;
        const bool reached = there && key != hw_keys<kind>::none;
        const bool held = hint_holds<kind>(hint, key);
        const uint32_t wanted = __ballot_sync(HW_WARP, reached && !held);
        if (there && !reached)
            store_result<kind>(params, v, HW_INVALID_VERTEX, key);
        if (wanted >> lane & 1)
            waiting_list[waiting + __popc(wanted & below)] = v;
        waiting += __popc(wanted);
        parentless += defer_parent(params, shared, state,
                                   reached && held && hint.x == equal_distance_parent, v, key);
    }
    __syncwarp();
    return parentless;
}

/* Parents of own vertices of several edges, as values. Queues those that found none and hides them
 * from other GPUs, and returns how many; on this lane. */
template <int kind>
__device__ uint32_t find_parents(const kernel_params &params, block_shared &shared,
                                 lane_state<kind> &state, uint32_t root)
{
    static_assert(32 * finish_in_flight <= buffer_capacity, "waiting vertices have room");
    uint32_t *waiting_list = shared.buffer[rest_queue][threadIdx.x / 32];
    const bool first = (threadIdx.x & 31) == 0;
    uint32_t parentless = 0;

    for (uint64_t w = hw_grid_thread() / 32; w * 32 * finish_in_flight < params.peers.core;
         w += hw_grid_threads() / 32) {
        uint32_t waiting = 0;
        prefetch_hints<kind>(params,
                             w * 32 * finish_in_flight + hw_grid_threads() * finish_in_flight);
        parentless += check_hints(params, shared, state, root, w * 32 * finish_in_flight,
                                  waiting_list, waiting);
        for (uint32_t k = 0; k < waiting; k++) {
            const uint32_t v = waiting_list[k];
            const key_of<kind> key = __ldcg(distances<kind>(params) + owned_begin(params) + v);
            const uint32_t source = params.config.directed
                                        ? HW_INVALID_VERTEX
                                        : find_nearer_parent<kind>(params, state, v, key);
            if (first && source != HW_INVALID_VERTEX)
                store_result<kind>(params, v, source, key);
            parentless +=
                defer_parent(params, shared, state, first && source == HW_INVALID_VERTEX, v, key);
        }
        __syncwarp();
    }
    return parentless;
}

/* ---- those whose neighbours are no nearer ---- */

/* Has a reached vertex a parent? Others' that have none are hidden. */
__device__ __forceinline__ bool has_parent(const kernel_params &params, uint32_t local_id,
                                           uint32_t root)
{
    const uint32_t v = local_id - owned_begin(params);
    const uint2 *result = reinterpret_cast<const uint2 *>(params.part.value);

    if (local_id == root || v >= params.part.block)
        return true;
    return v < params.peers.core && hw_load_relaxed(&result[local_id].x) != HW_INVALID_VERTEX;
}

/* Looks for a neighbour that explains a vertex's key along an edge that vanishes in it, and has a
 * parent: whoever is lost was given its key by such a one, or looked in vain for a nearer one. The
 * whole warp calls it. */
template <int kind>
__device__ uint32_t find_equal_distance_parent(const kernel_params &params, lane_state<kind> &state,
                                               uint32_t v, key_of<kind> key, uint32_t root)
{
    const uint32_t lane = threadIdx.x & 31;
    const key_of<kind> *distance = distances<kind>(params);
    const uint64_t begin = __ldg(params.part.offset + v), end = __ldg(params.part.offset + v + 1);

    for (uint64_t at = begin; at < end; at += 32) {
        const bool there = at + lane < end;
        const hw_gpu_edge edge =
            there ? hw_read_edge(params.part.edge + at + lane) : hw_gpu_edge{HW_INVALID_VERTEX, 0};
        const key_of<kind> from =
            there ? remote_load<kind>(params, state, edge.rank,
                                      hw_load_relaxed(distance + edge.rank), state.remote_load_from)
                  : hw_keys<kind>::none;
        const bool good = there && pull_order(from) <= pull_order(key) &&
                          hw_further<kind>(from, edge.weight) == key &&
                          has_parent(params, edge.rank, root);
        const uint32_t who = __ballot_sync(HW_WARP, good);
        if (who)
            return __shfl_sync(HW_WARP, edge.rank, __ffs(who) - 1);
        if (__any_sync(HW_WARP, there && hw_further<kind>(key, edge.weight) > key))
            break;
    }
    return HW_INVALID_VERTEX;
}

/* The queued take whoever is no further and has a parent, and have one then, which they show:
 * nobody takes a parent that came to one by way of itself. Queues those that find none, and
 * returns how many; on the first lanes. */
template <int kind>
__device__ uint32_t adopt_equal_distance_parents(const kernel_params &params, block_shared &shared,
                                                 lane_state<kind> &state, uint32_t count,
                                                 uint32_t root)
{
    const uint32_t *list = by_parity(params.queues.step_queue, state.iteration);
    const bool first = (threadIdx.x & 31) == 0;
    uint32_t parentless = 0;

    for (uint64_t i = hw_grid_thread() / 32; i < count; i += hw_grid_threads() / 32) {
        const uint32_t v = __ldcg(list + i);
        const key_of<kind> key = __ldcg(distances<kind>(params) + owned_begin(params) + v);
        const uint32_t source = find_equal_distance_parent<kind>(params, state, v, key, root);
        const bool found = source != HW_INVALID_VERTEX;
        if (found && first) {
            store_result<kind>(params, v, source, key);
            __threadfence_system();
            publish_distance<kind>(params, v, key);
        }
        parentless += first && !found;
        buffer_vertex(shared, step_queue, state.step_count, first && !found, v);
    }
    return parentless;
}

} // namespace

#endif
