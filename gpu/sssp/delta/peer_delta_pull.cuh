/* Telling, pulling, what lies between steps, and parents: method `delta` on several GPUs in one
 * kernel (gpu/sssp/delta/peer_delta.h). */
#ifndef HOPWAVE_GPU_SSSP_DELTA_PEER_DELTA_PULL_CUH
#define HOPWAVE_GPU_SSSP_DELTA_PEER_DELTA_PULL_CUH

#include "gpu/sssp/delta/peer_delta_push.cuh"

namespace
{

/* Edges of each list that are at hand without it, and where a lane ends that pulls alone. */
constexpr uint32_t at_hand = 2, lane_pulls = at_hand + 16;

/* What a pass over all own vertices sees of some words of 32, one of each a lane. */
constexpr uint32_t seen_words = 3;

template <int kind> struct seen_t {
    uint32_t first;               /* the first of the words' vertices, plus the lane */
    key_of<kind> key[seen_words]; /* `past` of those past the last one */
};

template <int kind>
__device__ __forceinline__ seen_t<kind> see(const kernel_params &plan, uint64_t group,
                                            key_of<kind> past)
{
    const key_of<kind> *own = distances<kind>(plan) + home_of(plan);
    seen_t<kind> seen;

    seen.first = static_cast<uint32_t>(group * seen_words * 32) + (threadIdx.x & 31);
#pragma unroll
    for (uint32_t k = 0; k < seen_words; k++)
        seen.key[k] = seen.first + 32 * k < plan.core ? __ldcg(own + seen.first + 32 * k) : past;
    return seen;
}

/* How many such groups there are. */
__device__ __forceinline__ uint64_t groups_of(const kernel_params &plan)
{
    return (static_cast<uint64_t>(plan.core) + 32 * seen_words - 1) / (32 * seen_words);
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
template <int kind> __device__ __forceinline__ bool packs(const kernel_params &plan)
{
    using chunk = chunk_t<kind>;
    static_assert(3 * chunk::apart <= 2 * chunk::positions, "two chunks and a begun one fit");

    return plan.room >= 2 * chunk::positions;
}

/* How many chunks so many positions make. */
template <int kind> __device__ __forceinline__ uint32_t chunks_of(uint32_t core)
{
    return (core + chunk_t<kind>::positions - 1) / chunk_t<kind>::positions;
}

/* Packs own keys in [from, to) of a chunk from position `begin` on into `stage`, and counts them as
 * sent to all others. Returns how many entries of a box they take. The whole warp calls it. */
template <int kind>
__device__ __forceinline__ uint32_t pack_chunk(const kernel_params &plan, pass_t<kind> &pass,
                                               uint32_t begin, key_of<kind> from, key_of<kind> to,
                                               uint4 *stage)
{
    using chunk = chunk_t<kind>;
    static_assert(chunk::positions * sizeof(key_of<kind>) == 64 * sizeof(uint4), "keys fit");
    const uint32_t lane = threadIdx.x & 31, below = (1u << lane) - 1, first = begin + lane;
    const key_of<kind> *own = distances<kind>(plan) + home_of(plan);
    key_of<kind> *packed = reinterpret_cast<key_of<kind> *>(stage + chunk::masks);
    key_of<kind> key[chunk::words];
    uint32_t mask = 0, count = 0;

#pragma unroll
    for (uint32_t k = 0; k < chunk::words; k++)
        key[k] = first + 32 * k < plan.core ? __ldcg(own + first + 32 * k) : hw_keys<kind>::none;
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
        pass.sent_keys += count * (plan.part.ranks - 1);
    __syncwarp();
    return chunk::masks + (count * static_cast<uint32_t>(sizeof(key_of<kind>)) + 15) / 16;
}

/* Asks for the own keys of a chunk, which are read later. */
template <int kind>
__device__ __forceinline__ void foresee_chunk(const kernel_params &plan, uint64_t begin)
{
    constexpr uint32_t line = 128, apart = line / sizeof(key_of<kind>);
    const uint64_t at = begin + (threadIdx.x & 31) * apart;

    if (at < min(begin + chunk_t<kind>::positions, static_cast<uint64_t>(plan.core)))
        hw_prefetch_l2(distances<kind>(plan) + home_of(plan) + at);
}

/* Own keys in [from, to) go to the others' boxes. */
template <int kind>
__device__ void tell_packed(const kernel_params &plan, block_shared &room, pass_t<kind> &pass,
                            key_of<kind> from, key_of<kind> to)
{
    using chunk = chunk_t<kind>;
    static_assert(chunk::entries <= mailed, "a warp has room");
    uint4 *stage = room.mail[threadIdx.x / 32];

    for (uint64_t c = hw_grid_thread() / 32; c < chunks_of<kind>(plan.core);
         c += hw_grid_threads() / 32) {
        const uint32_t begin = static_cast<uint32_t>(c) * chunk::positions;
        foresee_chunk<kind>(plan, (c + hw_grid_threads() / 32) * chunk::positions);
        const uint32_t entries = pack_chunk<kind>(plan, pass, begin, from, to, stage);
        for (uint32_t i = threadIdx.x & 31; i < entries; i += 32) {
            const uint4 entry = stage[i];
            for (uint32_t step = 1; step < plan.part.ranks; step++) {
                const uint32_t q = (plan.part.rank + step) % plan.part.ranks;
                static_cast<uint4 *>(plan.box[pass.turn].to[q])[c * chunk::apart + i] = entry;
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
__device__ __forceinline__ void take_chunk(const uint4 *came, uint32_t mask, key_of<kind> *there)
{
    using chunk = chunk_t<kind>;
    const uint32_t lane = threadIdx.x & 31, below = (1u << lane) - 1;
    const key_of<kind> *packed = reinterpret_cast<const key_of<kind> *>(came + chunk::masks);
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
template <int kind> __device__ void take_told(const kernel_params &plan, uint32_t turn)
{
    using chunk = chunk_t<kind>;
    const uint64_t first = hw_grid_thread() / 32, stride = hw_grid_threads() / 32;

    for (uint32_t step = 1; step < plan.part.ranks; step++) {
        const uint32_t q = (plan.part.rank + step) % plan.part.ranks;
        const uint4 *box = static_cast<const uint4 *>(plan.box[turn].came[q]);
        const uint32_t chunks = chunks_of<kind>(plan.core_of[q]);
        key_of<kind> *there = distances<kind>(plan) + q * plan.part.block + (threadIdx.x & 31);
        uint32_t next = mask_of<kind>(box, first, chunks);
        for (uint64_t c = first; c < chunks; c += stride) {
            const uint32_t mask = next;
            next = mask_of<kind>(box, c + stride, chunks);
            take_chunk<kind>(box + c * chunk::apart, mask, there + c * chunk::positions);
        }
    }
}

/* Own keys in [from, to) go straight to where the others have them. */
template <int kind>
__device__ void tell(const kernel_params &plan, pass_t<kind> &pass, key_of<kind> from,
                     key_of<kind> to)
{
    const uint32_t home = home_of(plan);

    for (uint64_t g = hw_grid_thread() / 32; g < groups_of(plan); g += hw_grid_threads() / 32) {
        const seen_t<kind> seen = see<kind>(plan, g, hw_keys<kind>::none);
        for (uint32_t step = 1; step < plan.part.ranks; step++) {
            const uint32_t q = (plan.part.rank + step) % plan.part.ranks;
            key_of<kind> *there = static_cast<key_of<kind> *>(plan.distance_of[q]) + home;
#pragma unroll
            for (uint32_t k = 0; k < seen_words; k++)
                if (seen.key[k] >= from && seen.key[k] < to) {
                    there[seen.first + 32 * k] = seen.key[k];
                    pass.sent_keys++;
                }
        }
    }
}

/* ---- pulling ---- */

template <int kind> struct pulled_t {
    key_of<kind> key, from; /* from: of the source */
    uint32_t source;        /* a code */
};

/* Takes an edge to an inner vertex where it is better. */
template <int kind>
__device__ __forceinline__ void take(const kernel_params &plan, pass_t<kind> &pass,
                                     const bounds<kind> &bound, const hw_gpu_edge &edge,
                                     pulled_t<kind> &best)
{
    const key_of<kind> from =
        ask<kind>(plan, pass, edge.rank, __ldca(distances<kind>(plan) + edge.rank), pass.told);

    if (far(from) >= far(bound.high))
        return;
    const key_of<kind> next = hw_further<kind>(from, edge.weight);
    if (next < best.key)
        best = pulled_t<kind>{next, from, edge.rank};
}

/* The rest of a list by the whole warp. */
template <int kind>
__device__ __forceinline__ pulled_t<kind>
pull_rest(const kernel_params &plan, pass_t<kind> &pass, const bounds<kind> &bound,
          const hw_gpu_edge *list, uint32_t from, uint32_t length, pulled_t<kind> best)
{
    const uint32_t lane = threadIdx.x & 31;

    for (uint32_t at = from; at < length; at += 32) {
        const bool there = at + lane < length;
        const hw_gpu_edge edge =
            there ? hw_read_edge(list + at + lane) : hw_gpu_edge{HW_INVALID_VERTEX, 0};
        const bool good = there && hw_further<kind>(bound.low, edge.weight) < best.key;
        const key_of<kind> before = best.key;
        if (good) {
            pass.pulled++;
            take<kind>(plan, pass, bound, edge, best);
        }
        const key_of<kind> least = warp_least(best.key);
        if (least < before) {
            const int who = __ffs(__ballot_sync(HW_WARP, best.key == least)) - 1;
            best.key = least;
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
template <int kind> __device__ __forceinline__ bool asks_others(const pass_t<kind> &pass)
{
    return pass.told != hw_keys<kind>::none;
}

/* The list of one vertex a lane, from where pull_lightest() left it; each is beyond the bucket. */
template <int kind>
__device__ pulled_t<kind> pull_lists(const kernel_params &plan, pass_t<kind> &pass,
                                     const bounds<kind> &bound, uint32_t v, pulled_t<kind> best)
{
    const hw_gpu_edge *list = plan.part.edge;
    uint32_t length = 0, at = asks_others<kind>(pass) ? 0 : at_hand;
    bool more = false;

    if (v != HW_INVALID_VERTEX) {
        const uint64_t begin = __ldg(plan.part.offset + v);
        length = static_cast<uint32_t>(__ldg(plan.part.offset + v + 1) - begin);
        list += begin;
        more = length > at;
        for (; more && at < length && at < lane_pulls; at += 4) {
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
                    pass.pulled++;
                    take<kind>(plan, pass, bound, edge[k], best);
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
        pulled_t<kind> begun = {__shfl_sync(HW_WARP, best.key, lane),
                                __shfl_sync(HW_WARP, best.from, lane),
                                __shfl_sync(HW_WARP, best.source, lane)};
        begun = pull_rest<kind>(plan, pass, bound, edges, __shfl_sync(HW_WARP, at, lane),
                                __shfl_sync(HW_WARP, length, lane), begun);
        if ((threadIdx.x & 31) == static_cast<uint32_t>(lane))
            best = begun;
    }
    return best;
}

/* Counts a vertex, if it is beyond the pass's bucket. */
template <int kind>
__device__ __forceinline__ void count_beyond(pass_t<kind> &pass, bool beyond, key_of<kind> key)
{
    pass.open += beyond;
    pass.least = min(pass.least, beyond ? key : hw_keys<kind>::none);
}

/* Takes what some vertices a lane beyond the bucket pulled. Others push to them meanwhile, perhaps
 * lesser keys, which nobody waits to know: then whoever pushes queues them, their hint may be lost,
 * and it does no harm to go on from what was pulled. v: the first one, the others 32 apart; key:
 * theirs, before and after. */
template <uint32_t N, int kind>
__device__ __forceinline__ void settle_pulled(const kernel_params &plan, uint32_t v,
                                              const pulled_t<kind> (&best)[N],
                                              key_of<kind> (&key)[N])
{
    key_of<kind> *own = distances<kind>(plan) + home_of(plan);

#pragma unroll
    for (uint32_t k = 0; k < N; k++)
        if (best[k].source != HW_INVALID_VERTEX) {
            lower(own + v + 32 * k, best[k].key);
            put_hint<kind>(plan, v + 32 * k, best[k].from < best[k].key ? best[k].source : tied,
                           best[k].key);
            key[k] = best[k].key;
        }
}

/* Vertices that a warp keeps during a pull, until they fill it. */
struct kept_t {
    uint32_t *pulls, *pushes; /* [buffered] those with more edges to pull, and those to push */
    uint32_t pulling, pushing;
};

/* Keeps some a lane: v, 32 apart. The whole warp calls it. */
template <uint32_t N>
__device__ __forceinline__ void keep_for(uint32_t *list, uint32_t &count, const bool (&wanted)[N],
                                         uint32_t v)
{
    const uint32_t below = (1u << (threadIdx.x & 31)) - 1;
    uint32_t all[N];

    vote(wanted, all); /* somebody nearly always does */
#pragma unroll
    for (uint32_t k = 0; k < N; k++) {
        if (wanted[k])
            list[count + __popc(all[k] & below)] = v + 32 * k;
        count += __popc(all[k]);
    }
}

/* The last 32 of those that are kept, or all if they are fewer, one a lane. */
__device__ __forceinline__ uint32_t take_kept(const uint32_t *list, uint32_t &count)
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
__device__ __forceinline__ void place_pulled(block_shared &room, pass_t<kind> &pass,
                                             const bool (&there)[N], uint32_t v,
                                             const key_of<kind> (&key)[N], const bool (&inside)[N])
{
    bool late[N], any = false;

#pragma unroll
    for (uint32_t k = 0; k < N; k++) {
        const bool beyond = there[k] && key[k] >= pass.bound.high;
        count_beyond(pass, beyond, key[k]);
        late[k] = there[k] && !beyond && !inside[k];
        any = any || late[k];
    }
    if (!__any_sync(HW_WARP, any))
        return;
#pragma unroll
    for (uint32_t k = 0; k < N; k++)
        queue(room, pass, late[k], v + 32 * k, key[k]);
}

/* Is a key in the pass's bucket? */
template <int kind>
__device__ __forceinline__ bool inside_of(const pass_t<kind> &pass, key_of<kind> key)
{
    return key >= pass.bound.low && key < pass.bound.high;
}

/* One vertex a lane beyond the bucket `from` looks for the best neighbour inside it, in what is
 * left of its list. */
template <int kind>
__device__ __forceinline__ void pull_warp(const kernel_params &plan, block_shared &room,
                                          pass_t<kind> &pass, const bounds<kind> &from,
                                          kept_t &kept, uint32_t v)
{
    const bool there[1] = {v != HW_INVALID_VERTEX};
    key_of<kind> key[1] = {there[0] ? __ldcg(distances<kind>(plan) + home_of(plan) + v) : 0};
    const pulled_t<kind> best[1] = {
        pull_lists<kind>(plan, pass, from, v, pulled_t<kind>{key[0], 0, HW_INVALID_VERTEX})};

    settle_pulled<1, kind>(plan, v, best, key);
    const bool inside[1] = {there[0] && inside_of(pass, key[0])};
    keep_for(kept.pushes, kept.pushing, inside, v);
    place_pulled<1, kind>(room, pass, there, v, key, inside);
}

/* May an edge lead from `key` to below `to`? */
template <int kind>
__device__ __forceinline__ bool leads(const hw_gpu_edge &edge, key_of<kind> key, key_of<kind> to)
{
    return edge.rank != HW_INVALID_VERTEX && hw_further<kind>(key, edge.weight) < to;
}

/* The lightest edges of the vertices of some words that are beyond the bucket `from`. */
template <int kind>
__device__ __forceinline__ void read_lightest(const kernel_params &plan, const bounds<kind> &from,
                                              const seen_t<kind> &seen,
                                              hw_gpu_edge (&edge)[seen_words][at_hand])
{
    static_assert(sizeof *plan.lightest == sizeof(uint4), "read as one vector");

#pragma unroll
    for (uint32_t k = 0; k < seen_words; k++) {
        const uint4 both =
            seen.key[k] >= from.high
                ? __ldcs(reinterpret_cast<const uint4 *>(plan.lightest + seen.first + 32 * k))
                : make_uint4(HW_INVALID_VERTEX, 0, HW_INVALID_VERTEX, 0);
        edge[k][0] = hw_gpu_edge{both.x, both.y};
        edge[k][1] = hw_gpu_edge{both.z, both.w};
    }
}

/* Some vertices a lane pull one edge each, if it may lead to a better key. */
template <int kind>
__device__ __forceinline__ void pull_one(const kernel_params &plan, pass_t<kind> &pass,
                                         const bounds<kind> &bound,
                                         const hw_gpu_edge (&edge)[seen_words][at_hand], uint32_t e,
                                         pulled_t<kind> (&best)[seen_words])
{
    key_of<kind> from[seen_words];
    uint32_t wanted = 0;

#pragma unroll
    for (uint32_t k = 0; k < seen_words; k++) {
        const bool good = leads<kind>(edge[k][e], bound.low, best[k].key);
        from[k] = good ? __ldca(distances<kind>(plan) + edge[k][e].rank) : hw_keys<kind>::none;
        wanted |= static_cast<uint32_t>(good) << k;
    }
    pass.pulled += __popc(wanted);
#pragma unroll
    for (uint32_t k = 0; k < seen_words; k++) {
        if (far(from[k]) >= far(bound.high))
            continue;
        const key_of<kind> next = hw_further<kind>(from[k], edge[k][e].weight);
        if (next < best[k].key)
            best[k] = pulled_t<kind>{next, from[k], edge[k][e].rank};
    }
}

/* The lightest edges of some vertices a lane that are to be pushed alone. */
template <int kind> struct single_t {
    hw_gpu_edge edge[seen_words];
    key_of<kind> next[seen_words], old[seen_words];
};

/* Those of the vertices that are `inside` the pass's bucket, unless the next edge may end there,
 * too: then they belong to `more`. */
template <int kind>
__device__ __forceinline__ single_t<kind>
single_out(const kernel_params &plan, pass_t<kind> &pass,
           const hw_gpu_edge (&edge)[seen_words][at_hand], const seen_t<kind> &seen,
           const bool (&inside)[seen_words], bool (&more)[seen_words])
{
    single_t<kind> single;
    uint32_t others = 0;

#pragma unroll
    for (uint32_t k = 0; k < seen_words; k++) {
        more[k] = inside[k] && leads<kind>(edge[k][1], seen.key[k], pass.to);
        const bool one = inside[k] && !more[k] && leads<kind>(edge[k][0], seen.key[k], pass.to);
        single.next[k] =
            one ? hw_further<kind>(seen.key[k], edge[k][0].weight) : hw_keys<kind>::none;
        single.edge[k] = one ? edge[k][0] : hw_gpu_edge{HW_INVALID_VERTEX, 0};
        pass.edges += one;
        others += inside[k] && !more[k];
    }
    pass.degrees += others * plan.mean_degree;
    look_at_ends<static_cast<int>(seen_words), kind>(plan, pass, single.edge, single.old);
    return single;
}

/* Relaxes them. */
template <int kind>
__device__ __forceinline__ void push_single(const kernel_params &plan, block_shared &room,
                                            pass_t<kind> &pass, single_t<kind> &single,
                                            const seen_t<kind> &seen)
{
    uint32_t source[seen_words];
    bool any = false;

#pragma unroll
    for (uint32_t k = 0; k < seen_words; k++) {
        source[k] = seen.first + 32 * k;
        any = any || single.edge[k].rank != HW_INVALID_VERTEX;
    }
    if (__any_sync(HW_WARP, any))
        relax_each<static_cast<int>(seen_words), kind>(plan, room, pass, single.edge, single.old,
                                                       single.next, source, seen.key);
}

/* The vertices of some words that are beyond the bucket `from` pull their lightest edges, and push
 * likewise. Those that may have more to pull or to push are kept. */
template <int kind>
__device__ __forceinline__ void pull_lightest(const kernel_params &plan, block_shared &room,
                                              pass_t<kind> &pass, const bounds<kind> &from,
                                              uint64_t group, kept_t &kept)
{
    seen_t<kind> seen = see<kind>(plan, group, 0);
    hw_gpu_edge edge[seen_words][at_hand];
    pulled_t<kind> best[seen_words];
    const bool asking = asks_others<kind>(pass);
    bool more[seen_words], done[seen_words], inside[seen_words], pushes[seen_words], any = false;

#pragma unroll
    for (uint32_t k = 0; k < seen_words; k++)
        any = any || seen.key[k] >= from.high;
    if (!__any_sync(HW_WARP, any)) /* those of many edges are settled early, and lie together */
        return;
    read_lightest(plan, from, seen, edge);
#pragma unroll
    for (uint32_t k = 0; k < seen_words; k++)
        best[k] = pulled_t<kind>{seen.key[k], 0, HW_INVALID_VERTEX};
    if (!asking) {
#pragma unroll
        for (uint32_t e = 0; e < at_hand; e++)
            pull_one<kind>(plan, pass, from, edge, e, best);
    }
#pragma unroll
    for (uint32_t k = 0; k < seen_words; k++) {
        more[k] = leads<kind>(asking ? edge[k][0] : edge[k][1], from.low, best[k].key);
        done[k] = !more[k] && seen.key[k] >= from.high;
    }
    settle_pulled<seen_words, kind>(plan, seen.first, best, seen.key);
#pragma unroll
    for (uint32_t k = 0; k < seen_words; k++)
        inside[k] = done[k] && inside_of(pass, seen.key[k]);
    /* What is waited for is asked for before the rest is seen to. */
    single_t<kind> single = single_out<kind>(plan, pass, edge, seen, inside, pushes);
    keep_for(kept.pulls, kept.pulling, more, seen.first);
    keep_for(kept.pushes, kept.pushing, pushes, seen.first);
    place_pulled<seen_words, kind>(room, pass, done, seen.first, seen.key, inside);
    push_single<kind>(plan, room, pass, single, seen);
}

/* Asks for the keys and the lightest edges of a group, which are read later. */
template <int kind>
__device__ __forceinline__ void foresee(const kernel_params &plan, uint64_t group)
{
    constexpr uint32_t line = 128, vertices = seen_words * 32;
    constexpr uint32_t keys = vertices * sizeof(key_of<kind>) / line;
    constexpr uint32_t edges = vertices * sizeof *plan.lightest / line;
    static_assert(keys + edges <= 32, "a line a lane");
    const uint32_t lane = threadIdx.x & 31;
    const uint64_t first = group * vertices;

    if (first + vertices > plan.core)
        return;
    if (lane < keys)
        hw_prefetch_l2(
            reinterpret_cast<const char *>(distances<kind>(plan) + home_of(plan) + first) +
            line * lane);
    else if (lane < keys + edges)
        hw_prefetch_l2(reinterpret_cast<const char *>(plan.lightest + first) +
                       line * (lane - keys));
}

/* Keeps what was left of the bucket, in the queue and in mail: a portion. Where there is more, it
 * waits for the next pass. */
template <int kind>
__device__ __forceinline__ void keep_late(const kernel_params &plan, block_shared &room,
                                          pass_t<kind> &pass, uint32_t count, uint32_t mail,
                                          kept_t &kept)
{
    portions_t portions = portions_of(count, mail);

    while (has_more(portions)) {
        const uint32_t v = take_portion<kind>(plan, room, pass, portions);
        if (kept.pushing == 0)
            keep_for(kept.pushes, kept.pushing, {v != HW_INVALID_VERTEX}, v);
        else
            keep(room, near_queue, pass.near, v != HW_INVALID_VERTEX, v);
    }
}

/* Another group for this lane's warp. Groups and SMs differ: blocks have their first two shares by
 * their numbers, and ask for others in time. given: how many these are. */
__device__ __forceinline__ uint32_t take_group(share_t &share, uint32_t *given)
{
    constexpr uint32_t below = (1u << taken_bits) - 1;

    for (;;) {
        const uint32_t now = atomicAdd(&share.now, 1), taken = now & below;
        if (taken < warps)
            return (now >> taken_bits) * warps + taken;
        if (taken == warps) { /* the first of those that came too late goes on to the next share */
            while (hw_load_relaxed(&share.next) == no_share)
                ;
            const uint32_t next = atomicExch(&share.next, no_share);
            __threadfence_block();
            atomicExch(&share.now, next << taken_bits | 1);
            atomicExch(&share.next, 2 * gridDim.x + atomicAdd(given, 1));
            return next * warps;
        }
        while ((hw_load_relaxed(&share.now) & below) >= warps)
            ;
    }
}

/* Likewise for the whole warp, which calls it. */
__device__ __forceinline__ uint32_t next_group(share_t &share, uint32_t *given)
{
    uint32_t group = 0;

    if ((threadIdx.x & 31) == 0)
        group = take_group(share, given);
    return __shfl_sync(HW_WARP, group, 0);
}

/* Asks for what a warp of the block reads of its next share, if that is known: of this one, if all
 * are as fast. */
template <int kind>
__device__ __forceinline__ void foresee_share(const kernel_params &plan, const share_t &share,
                                              uint32_t group)
{
    const uint32_t next = hw_load_relaxed(&share.next);

    if (next != no_share)
        foresee<kind>(plan, static_cast<uint64_t>(next) * warps + group % warps);
}

/* Whatever is beyond the bucket `from` pulls, and pushes if it is in the pass's bucket then. So
 * does what was left of the bucket: count, mail. given: shares that blocks took, as take_group().
 * Few vertices have more to do than to look at their lightest edges; these wait until they fill a
 * warp, some where no others of this pass do. */
template <int kind>
__device__ void pull(const kernel_params &plan, block_shared &room, pass_t<kind> &pass,
                     const bounds<kind> &from, uint32_t count, uint32_t mail, uint32_t *given)
{
    static_assert(31 + 32 * seen_words <= buffered, "waiting vertices have room");
    const uint32_t warp = threadIdx.x / 32;
    kept_t kept = {room.find[later_queue][warp], room.pushes[warp], 0, 0};
    uint64_t g = hw_grid_thread() / 32;

    keep_late<kind>(plan, room, pass, count, mail, kept);
    for (;;) {
        const bool last = g >= groups_of(plan);
        if (kept.pushing >= 32 || (last && kept.pulling == 0 && kept.pushing > 0)) {
            push_lists<kind>(plan, room, pass, take_kept(kept.pushes, kept.pushing), true);
        } else if (kept.pulling >= (last ? 1 : 32)) {
            pull_warp<kind>(plan, room, pass, from, kept, take_kept(kept.pulls, kept.pulling));
        } else if (!last) {
            foresee_share<kind>(plan, room.share, g);
            pull_lightest<kind>(plan, room, pass, from, g, kept);
            g = next_group(room.share, given);
        } else {
            break;
        }
    }
    push_beside<kind>(plan, room, pass);
}

/* ---- between steps ---- */

/* Queues all that is in the bucket. */
template <int kind>
__device__ void collect(const kernel_params &plan, block_shared &room, pass_t<kind> &pass)
{
    for (uint64_t g = hw_grid_thread() / 32; g < groups_of(plan); g += hw_grid_threads() / 32) {
        const seen_t<kind> seen = see<kind>(plan, g, pass.bound.low - 1);
#pragma unroll
        for (uint32_t k = 0; k < seen_words; k++) {
            const key_of<kind> key = seen.key[k];
            const bool inside = key >= pass.bound.low && key < pass.bound.high;
            count_beyond(pass, key >= pass.bound.high, key);
            if (__any_sync(HW_WARP, inside))
                queue(room, pass, inside, seen.first + 32 * k, key);
        }
    }
}

/* What is queued stays so for the next pass. */
template <int kind>
__device__ void keep_queued(const kernel_params &plan, block_shared &room, pass_t<kind> &pass,
                            uint32_t count)
{
    const uint32_t *list = one_of(plan.near, pass.number);
    uint32_t *bits = one_of(plan.near_bits, pass.number);
    const uint32_t lane = threadIdx.x & 31;

    for (uint64_t i = hw_grid_thread(); i - lane < count; i += hw_grid_threads()) {
        const uint32_t v = i < count ? __ldcg(list + i) : 0;
        if (i < count)
            bits[v >> 5] = 0; /* all bits of the word are of this pass */
        keep(room, near_queue, pass.near, i < count, v);
    }
}

/* Takes what the step holds from those that waited; what was settled since is dropped. */
template <int kind>
__device__ void next_step(const kernel_params &plan, block_shared &room, pass_t<kind> &pass,
                          const uint32_t *list, uint32_t count, key_of<kind> settled)
{
    const uint32_t lane = threadIdx.x & 31;
    const key_of<kind> *own = distances<kind>(plan) + home_of(plan);

    for (uint64_t i = hw_grid_thread(); i - lane < count; i += hw_grid_threads()) {
        const uint32_t v = i < count ? __ldcg(list + i) : HW_INVALID_VERTEX;
        const key_of<kind> key = i < count ? __ldcg(own + v) : 0;
        const bool there = i < count && key >= settled;
        const bool near = there && key < pass.bound.near;
        if (i < count && !(there && !near)) /* those that go on waiting keep their marks */
            atomicAnd(plan.later_bits + (v >> 5), ~(1u << (v & 31)));
        if (there && !near)
            pass.least = min(pass.least, key);
        keep(room, near_queue, pass.near, near, v);
        keep(room, later_queue, pass.later, there && !near, v);
    }
}

/* ---- beginning and end ---- */

/* Positions [first, end) of a segment are unreached, but the root. */
template <int kind>
__device__ void forget_keys(const kernel_params &plan, uint32_t q, uint32_t first, uint32_t end,
                            uint32_t root)
{
    const uint32_t segment = q * plan.part.block;

    for (uint64_t v = first + hw_grid_thread(); v < end; v += hw_grid_threads())
        distances<kind>(plan)[segment + v] = segment + v == root ? 0 : hw_keys<kind>::none;
}

template <int kind> __device__ void begin(const kernel_params &plan, uint32_t root)
{
    const uint64_t words = plan.part.block / 32 + 1;
    const uint32_t own = root - home_of(plan);
    ring_t *ring = &plan.control->ring[0];

    for (uint32_t q = 0; q < plan.part.ranks; q++) {
        key_of<kind> *keys = distances<kind>(plan) + q * plan.part.block;
        forget_keys<kind>(plan, q, 0, plan.core_of[q], root);
        for (uint64_t v = plan.core_of[q] + hw_grid_thread(); v < plan.active_of[q];
             v += hw_grid_threads())
            keys[v] = q * plan.part.block + v == root ? 0 : -1;
    }
    for (uint64_t w = hw_grid_thread(); w < words; w += hw_grid_threads())
        plan.near_bits[0][w] = plan.near_bits[1][w] = plan.later_bits[w] = 0;
    if (hw_grid_thread() != 0 || own >= plan.part.active)
        return;
    const uint64_t first = plan.part.offset[own], end = plan.part.offset[own + 1];
    if (first == end)
        return;
    plan.near[0][0] = own;
    ring->near = 1;
    ring->degrees = end - first;
    ring->most = complement(hw_further<kind>(0, plan.part.edge[first].weight));
}

/* What a search leaves of an own vertex: its parent's code, and the low bits of its key. A hint
 * that holds is that already. */
template <int kind>
__device__ __forceinline__ void leave_result(const kernel_params &plan, uint32_t v, uint32_t parent,
                                             key_of<kind> key)
{
    reinterpret_cast<uint2 *>(plan.part.value)[home_of(plan) + v] =
        make_uint2(parent, low_bits<kind>(key));
}

/* Stores to many lines of the others' boxes: links that were idle take their time to wake, and
 * so wake together, not one pass after the other. */
__device__ void wake_links(const kernel_params &plan)
{
    constexpr uint32_t lines = 8192, apart = 136; /* entries: 17 lines of 128 bytes */

    for (uint32_t q = 0; q < plan.part.ranks; q++)
        for (uint64_t i = hw_grid_thread(); q != plan.part.rank && i < lines;
             i += hw_grid_threads())
            static_cast<uint4 *>(plan.box[0].to[q])[i * apart % plan.room] = make_uint4(0, 0, 0, 0);
}

/* Vertices that a lane has under way at the end. */
constexpr uint32_t ended = 4;

/* The keys of the ends of so many edges of each lane: unreached where an edge is of no rank. */
template <int kind>
__device__ __forceinline__ void keys_of_ends(const kernel_params &plan, pass_t<kind> &pass,
                                             const hw_gpu_edge (&edge)[ended],
                                             key_of<kind> (&key)[ended])
{
    const key_of<kind> *distance = distances<kind>(plan);

#pragma unroll
    for (uint32_t k = 0; k < ended; k++)
        key[k] = edge[k].rank != HW_INVALID_VERTEX ? __ldcg(distance + edge[k].rank)
                                                   : hw_keys<kind>::none;
#pragma unroll
    for (uint32_t k = 0; k < ended; k++)
        if (edge[k].rank != HW_INVALID_VERTEX)
            key[k] = ask_any<kind>(plan, pass, edge[k].rank, key[k]);
}

/* Vertices of one edge take their only neighbour. */
template <int kind>
__device__ void settle_leaves(const kernel_params &plan, pass_t<kind> &pass, uint32_t root)
{
    key_of<kind> *distance = distances<kind>(plan);
    const uint32_t home = home_of(plan);
    const uint64_t stride = hw_grid_threads();

    for (uint64_t first = plan.core + hw_grid_thread(); first < plan.part.active;
         first += ended * stride) {
        hw_gpu_edge edge[ended];
        key_of<kind> from[ended];
#pragma unroll
        for (uint32_t k = 0; k < ended; k++) {
            const uint64_t v = first + k * stride;
            edge[k] = v < plan.part.active ? hw_read_edge(plan.lightest[v].edge)
                                           : hw_gpu_edge{HW_INVALID_VERTEX, 0};
        }
        keys_of_ends<kind>(plan, pass, edge, from);
#pragma unroll
        for (uint32_t k = 0; k < ended; k++) {
            const uint32_t v = static_cast<uint32_t>(first + k * stride);
            const bool reached = far(from[k]) < far(hw_keys<kind>::none);
            const key_of<kind> key =
                reached ? hw_further<kind>(from[k], edge[k].weight) : hw_keys<kind>::none;
            if (first + k * stride >= plan.part.active || home + v == root)
                continue;
            distance[home + v] = key;
            leave_result<kind>(plan, v, reached ? edge[k].rank : HW_INVALID_VERTEX, key);
        }
    }
}

/* Looks for a nearer neighbour that explains a vertex's key, at several edges a lane at a time:
 * lists may be long. The whole warp calls it. */
template <int kind>
__device__ uint32_t look_for(const kernel_params &plan, pass_t<kind> &pass, uint32_t v,
                             key_of<kind> key)
{
    const uint32_t lane = threadIdx.x & 31;
    const uint64_t begin = __ldg(plan.part.offset + v), end = __ldg(plan.part.offset + v + 1);

    for (uint64_t at = begin + lane; at - lane < end; at += 32 * ended) {
        hw_gpu_edge edge[ended];
        key_of<kind> from[ended];
        uint32_t source = HW_INVALID_VERTEX;
        bool past = false;
#pragma unroll
        for (uint32_t k = 0; k < ended; k++)
            edge[k] = at + 32 * k < end ? hw_read_edge(plan.part.edge + at + 32 * k)
                                        : hw_gpu_edge{HW_INVALID_VERTEX, 0};
        keys_of_ends<kind>(plan, pass, edge, from);
#pragma unroll
        for (uint32_t k = 0; k < ended; k++) {
            if (edge[k].rank == HW_INVALID_VERTEX)
                continue;
            if (far(from[k]) < far(key) && hw_further<kind>(from[k], edge[k].weight) == key)
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
template <int kind> __device__ void show(const kernel_params &plan, uint32_t v, key_of<kind> key)
{
    for (uint32_t q = 0; q < plan.part.ranks; q++)
        if (q != plan.part.rank)
            static_cast<volatile key_of<kind> *>(plan.distance_of[q])[home_of(plan) + v] = key;
}

/* Queues those that have no parent yet, one a lane, and hides them from other GPUs, where these
 * look for them. Returns how many; on this lane. All lanes call it. */
template <int kind>
__device__ __forceinline__ uint32_t lose(const kernel_params &plan, block_shared &room,
                                         pass_t<kind> &pass, bool lost, uint32_t v,
                                         key_of<kind> key)
{
    if (lost)
        leave_result<kind>(plan, v, HW_INVALID_VERTEX, key);
    if (lost && !plan.directed)
        show<kind>(plan, v, hidden);
    keep(room, near_queue, pass.near, lost, v);
    return lost;
}

/* What was noted of some own vertices of several edges, one of each 32 a lane. */
template <int kind> struct noted_t {
    key_of<kind> key[ended];
    uint2 hint[ended];
};

template <int kind>
__device__ __forceinline__ noted_t<kind> note_of(const kernel_params &plan, uint64_t first)
{
    const uint32_t home = home_of(plan), lane = threadIdx.x & 31;
    const key_of<kind> *own = distances<kind>(plan) + home;
    const uint2 *value = reinterpret_cast<const uint2 *>(plan.part.value) + home;
    noted_t<kind> noted;

#pragma unroll
    for (uint32_t k = 0; k < ended; k++) {
        const uint64_t v = first + 32 * k + lane;
        noted.key[k] = v < plan.core ? __ldcg(own + v) : hw_keys<kind>::none;
        noted.hint[k] = v < plan.core ? __ldcg(value + v) : make_uint2(HW_INVALID_VERTEX, 0);
    }
    return noted;
}

/* Asks for what was noted of some own vertices, which is read later. */
template <int kind>
__device__ __forceinline__ void foresee_hints(const kernel_params &plan, uint64_t first)
{
    constexpr uint32_t line = 128, vertices = 32 * ended;
    constexpr uint32_t keys = vertices * sizeof(key_of<kind>) / line;
    constexpr uint32_t hints = vertices * sizeof(uint2) / line;
    static_assert(keys + hints <= 32, "a line a lane");
    const uint32_t lane = threadIdx.x & 31;

    if (first + vertices > plan.core)
        return;
    first += home_of(plan);
    if (lane < keys)
        hw_prefetch_l2(reinterpret_cast<const char *>(distances<kind>(plan) + first) + line * lane);
    else if (lane < keys + hints)
        hw_prefetch_l2(reinterpret_cast<const char *>(
                           reinterpret_cast<const uint2 *>(plan.part.value) + first) +
                       line * (lane - keys));
}

/* Is a hint of what gave a vertex this key? Hints of keys that have more bits have no source. */
template <int kind> __device__ __forceinline__ bool holds(const uint2 &hint, key_of<kind> key)
{
    return hint.x != HW_INVALID_VERTEX && hint.y == low_bits<kind>(key) &&
           has_low_bits_alone<kind>(key);
}

/* Looks at 32 * ended own vertices of several edges from `first` on: leaves results of those that
 * are not reached, and takes those that have no hint into `waits`: `waiting`, in the end. Those
 * whose edge vanished have no nearer neighbour that is known, and are not to look through long
 * lists for one. Returns how many these are; on this lane. The whole warp calls it. */
template <int kind>
__device__ __forceinline__ uint32_t check_hints(const kernel_params &plan, block_shared &room,
                                                pass_t<kind> &pass, uint32_t root, uint64_t first,
                                                uint32_t *waits, uint32_t &waiting)
{
    const uint32_t home = home_of(plan), lane = threadIdx.x & 31, below = (1u << lane) - 1;
    const noted_t<kind> noted = note_of<kind>(plan, first);
    uint32_t lost = 0;
    bool all = true;

#pragma unroll
    for (uint32_t k = 0; k < ended; k++)
        all = all && noted.hint[k].x != tied && holds<kind>(noted.hint[k], noted.key[k]);
    if (__all_sync(HW_WARP, all)) /* as nearly always */
        return 0;
#pragma unroll
    for (uint32_t k = 0; k < ended; k++) {
        const uint32_t v = static_cast<uint32_t>(first) + 32 * k + lane;
        const key_of<kind> key = noted.key[k];
        const uint2 hint = noted.hint[k];
        const bool there = first + 32 * k + lane < plan.core && home + v != root;
        const bool reached = there && key != hw_keys<kind>::none;
        const bool held = holds<kind>(hint, key);
        const uint32_t wanted = __ballot_sync(HW_WARP, reached && !held);
        if (there && !reached)
            leave_result<kind>(plan, v, HW_INVALID_VERTEX, key);
        if (wanted >> lane & 1)
            waits[waiting + __popc(wanted & below)] = v;
        waiting += __popc(wanted);
        lost += lose(plan, room, pass, reached && held && hint.x == tied, v, key);
    }
    __syncwarp();
    return lost;
}

/* Parents of own vertices of several edges, as values. Queues those that found none and hides them
 * from other GPUs, and returns how many; on this lane. */
template <int kind>
__device__ uint32_t find_parents(const kernel_params &plan, block_shared &room, pass_t<kind> &pass,
                                 uint32_t root)
{
    static_assert(32 * ended <= buffered, "waiting vertices have room");
    uint32_t *waits = room.find[later_queue][threadIdx.x / 32];
    const bool first = (threadIdx.x & 31) == 0;
    uint32_t lost = 0;

    for (uint64_t w = hw_grid_thread() / 32; w * 32 * ended < plan.core;
         w += hw_grid_threads() / 32) {
        uint32_t waiting = 0;
        foresee_hints<kind>(plan, w * 32 * ended + hw_grid_threads() * ended);
        lost += check_hints(plan, room, pass, root, w * 32 * ended, waits, waiting);
        for (uint32_t k = 0; k < waiting; k++) {
            const uint32_t v = waits[k];
            const key_of<kind> key = __ldcg(distances<kind>(plan) + home_of(plan) + v);
            const uint32_t source =
                plan.directed ? HW_INVALID_VERTEX : look_for<kind>(plan, pass, v, key);
            if (first && source != HW_INVALID_VERTEX)
                leave_result<kind>(plan, v, source, key);
            lost += lose(plan, room, pass, first && source == HW_INVALID_VERTEX, v, key);
        }
        __syncwarp();
    }
    return lost;
}

/* ---- those whose neighbours are no nearer ---- */

/* Has a reached vertex a parent? Others' that have none are hidden. */
__device__ __forceinline__ bool has_parent(const kernel_params &plan, uint32_t code, uint32_t root)
{
    const uint32_t v = code - home_of(plan);
    const uint2 *result = reinterpret_cast<const uint2 *>(plan.part.value);

    if (code == root || v >= plan.part.block)
        return true;
    return v < plan.core && hw_load_relaxed(&result[code].x) != HW_INVALID_VERTEX;
}

/* Looks for a neighbour that explains a vertex's key along an edge that vanishes in it, and has a
 * parent: whoever is lost was given its key by such a one, or looked in vain for a nearer one. The
 * whole warp calls it. */
template <int kind>
__device__ uint32_t look_beside(const kernel_params &plan, pass_t<kind> &pass, uint32_t v,
                                key_of<kind> key, uint32_t root)
{
    const uint32_t lane = threadIdx.x & 31;
    const key_of<kind> *distance = distances<kind>(plan);
    const uint64_t begin = __ldg(plan.part.offset + v), end = __ldg(plan.part.offset + v + 1);

    for (uint64_t at = begin; at < end; at += 32) {
        const bool there = at + lane < end;
        const hw_gpu_edge edge =
            there ? hw_read_edge(plan.part.edge + at + lane) : hw_gpu_edge{HW_INVALID_VERTEX, 0};
        const key_of<kind> from =
            there
                ? ask<kind>(plan, pass, edge.rank, hw_load_relaxed(distance + edge.rank), pass.told)
                : hw_keys<kind>::none;
        const bool good = there && far(from) <= far(key) &&
                          hw_further<kind>(from, edge.weight) == key &&
                          has_parent(plan, edge.rank, root);
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
__device__ uint32_t find_beside(const kernel_params &plan, block_shared &room, pass_t<kind> &pass,
                                uint32_t count, uint32_t root)
{
    const uint32_t *list = one_of(plan.near, pass.number);
    const bool first = (threadIdx.x & 31) == 0;
    uint32_t lost = 0;

    for (uint64_t i = hw_grid_thread() / 32; i < count; i += hw_grid_threads() / 32) {
        const uint32_t v = __ldcg(list + i);
        const key_of<kind> key = __ldcg(distances<kind>(plan) + home_of(plan) + v);
        const uint32_t source = look_beside<kind>(plan, pass, v, key, root);
        const bool found = source != HW_INVALID_VERTEX;
        if (found && first) {
            leave_result<kind>(plan, v, source, key);
            __threadfence_system();
            show<kind>(plan, v, key);
        }
        lost += first && !found;
        keep(room, near_queue, pass.near, first && !found, v);
    }
    return lost;
}

} // namespace

#endif
