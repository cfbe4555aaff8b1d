/* Pushing: method `delta` on several GPUs in one kernel (gpu/sssp/delta/peer_delta.h). Lists are
 * shared out as gpu/sssp/delta/one_gpu_delta_kernel.cu does. */
#ifndef HOPWAVE_GPU_SSSP_DELTA_PEER_DELTA_PUSH_CUH
#define HOPWAVE_GPU_SSSP_DELTA_PEER_DELTA_PUSH_CUH

#include "gpu/sssp/common/weight_sorted_lists.cuh"
#include "gpu/sssp/delta/peer_delta_device.cuh"

namespace
{

/* Lists of no more edges inside the bounds are shared out evenly in a warp. */
constexpr uint32_t flat_steps = 5, flat_edges = 8u << (flat_steps - 1);
/* Where a lane looks for the end of a longer one, as far as it matters: so often at once. */
constexpr uint32_t far_steps = 8;
/* What one warp shares out is to be no more edges than this, with many lists and with few; else
 * those of more than `brief_edges` are left to the block, too. */
constexpr uint32_t flat_many = 128, flat_few = 64, brief_edges = 32;
/* Edges of a list left to the block that a warp takes at a time. */
constexpr uint32_t beside_edges = 32 * abreast;
/* Edges of a list that its warp relaxes where the block has no room for them. */
constexpr uint32_t warp_edges = 512;
/* Where a warp has more vertices than this, each lane begins with one. */
constexpr uint32_t few_lists = 4;

/* The keys of the ends of so many edges of each lane, of which those that go to HW_INVALID_VERTEX
 * are to be left out. */
template <int N, int kind>
__device__ __forceinline__ void look_at_ends(const kernel_params &plan, const pass_t<kind> &pass,
                                             const hw_gpu_edge (&edge)[N], key_of<kind> (&old)[N])
{
    const key_of<kind> *distance = distances<kind>(plan);

#pragma unroll
    for (int k = 0; k < N; k++)
        if (edge[k].rank == HW_INVALID_VERTEX)
            old[k] = -1;
        else
            old[k] = pass.eager ? hw_keys<kind>::none : __ldcg(distance + edge[k].rank);
}

/* Edges of each lane that gave their ends, those that are `better`, the keys `next`: leaves hints,
 * and queues own vertices and posts others'. source: own codes, or `tied`. All lanes call it. */
template <int N, int kind>
__device__ __forceinline__ void note_finds(const kernel_params &plan, block_shared &room,
                                           pass_t<kind> &pass, const hw_gpu_edge (&edge)[N],
                                           const key_of<kind> (&next)[N], const bool (&better)[N],
                                           const uint32_t (&source)[N])
{
    constexpr int M = N > 3 ? N / 2 : N; /* at a time: as many as there are registers for */
    const uint32_t home = home_of(plan);

#pragma unroll
    for (int first = 0; first < N; first += M) {
        bool near[M], later[M], others[M];
        uint32_t v[M], code[M], from[M];
        key_of<kind> key[M];
#pragma unroll
        for (int k = 0; k < M; k++) {
            const int i = first + k;
            code[k] = edge[i].rank;
            from[k] = source[i];
            key[k] = next[i];
            v[k] = code[k] - home;
            const bool own = better[i] && v[k] < plan.part.block;
            others[k] = better[i] && !own;
            near[k] = own && key[k] < pass.bound.near;
            later[k] = own && !near[k] && key[k] < pass.bound.high;
            if (own)
                put_hint<kind>(plan, v[k], from[k], key[k]);
        }
        keep_some(room, near_queue, pass.near, near, v);
        if (pass.bound.near < pass.bound.high)
            keep_some(room, later_queue, pass.later, later, v);
        post_finds<M, kind>(plan, room, pass, others, code, from, key);
    }
}

/* Lowers the keys of the ends of so many edges of each lane, which had the keys `old`: are they
 * better now? Returns whether any of the warp is. */
template <int N, int kind>
__device__ __forceinline__ bool lower_ends(const kernel_params &plan, const hw_gpu_edge (&edge)[N],
                                           const key_of<kind> (&next)[N], key_of<kind> (&old)[N],
                                           bool (&better)[N])
{
    key_of<kind> *distance = distances<kind>(plan);
    bool any = false;

#pragma unroll
    for (int k = 0; k < N; k++) /* all of them before the first is waited for */
        old[k] = next[k] < old[k] ? lower(distance + edge[k].rank, next[k]) : -1;
#pragma unroll
    for (int k = 0; k < N; k++) {
        better[k] = next[k] < old[k];
        any = any || better[k];
    }
    return __any_sync(HW_WARP, any);
}

/* Relaxes so many edges of each lane, whose ends had the keys `old`. source: own positions; from:
 * their keys. */
template <int N, int kind>
__device__ __forceinline__ void
relax_each(const kernel_params &plan, block_shared &room, pass_t<kind> &pass,
           const hw_gpu_edge (&edge)[N], key_of<kind> (&old)[N], const key_of<kind> (&next)[N],
           const uint32_t (&source)[N], const key_of<kind> (&from)[N])
{
    uint32_t code[N];
    bool better[N];

    if (!lower_ends<N, kind>(plan, edge, next, old, better))
        return;
#pragma unroll
    for (int k = 0; k < N; k++)
        code[k] = from[k] < next[k] ? home_of(plan) + source[k] : tied;
    note_finds<N, kind>(plan, room, pass, edge, next, better, code);
}

/* Likewise all of one source. */
template <int N, int kind>
__device__ __forceinline__ void relax(const kernel_params &plan, block_shared &room,
                                      pass_t<kind> &pass, const hw_gpu_edge (&edge)[N],
                                      const key_of<kind> (&next)[N], uint32_t source,
                                      key_of<kind> from)
{
    uint32_t sources[N];
    key_of<kind> keys[N], old[N];

    look_at_ends<N, kind>(plan, pass, edge, old);
#pragma unroll
    for (int k = 0; k < N; k++) {
        sources[k] = source;
        keys[k] = from;
    }
    relax_each<N, kind>(plan, room, pass, edge, old, next, sources, keys);
}

/* Leaves edges [from, end) of lists, one a lane, to the next pass: of all lanes at once. Returns
 * whether there are any and there was room. The whole warp calls it. */
template <int kind>
__device__ __forceinline__ bool leave_heavy(const kernel_params &plan, pass_t<kind> &pass,
                                            uint32_t v, uint32_t from, uint32_t end)
{
    const uint32_t chunk = HW_PEER_DELTA_CHUNK;
    const count64 mine =
        from < end ? 1ull << chunk_bits | (static_cast<count64>(end) - from + chunk - 1) / chunk
                   : 0;

    if (!__any_sync(HW_WARP, mine != 0))
        return false;
    const count64 upto = hw_warp_scan(mine);
    count64 was = 0;
    if ((threadIdx.x & 31) == 31)
        was = atomicAdd(&plan.control->ring[(pass.number + 1) & 3].heavy, upto);
    was = __shfl_sync(HW_WARP, was, 31) + upto - mine;
    const uint32_t at = static_cast<uint32_t>(was >> chunk_bits);
    if (mine == 0 || at >= plan.heavy_capacity)
        return false;
    one_of(plan.heavy, pass.number + 1)[at] =
        hw_peer_delta_heavy{v, from, end, static_cast<uint32_t>(was & ((1ull << chunk_bits) - 1))};
    return true;
}

/* Leaves the next edges of lists, so many of each lane's, to all warps of the block: of all lanes
 * at once. Returns whether there are any and there was room. The whole warp calls it. */
template <int kind>
__device__ __forceinline__ bool leave_beside(block_shared &room, const list_t<kind> &list,
                                             uint32_t count)
{
    static_assert(pieces_most + warps * 32 < 1u << (32 - piece_bits), "lists that ask for room");
    static_assert((pieces_most + warps * 32) * (block_edges / beside_edges) < 1u << piece_bits,
                  "chunks of such lists");
    const uint32_t chunks = (count + beside_edges - 1) / beside_edges;
    const uint32_t mine = count ? 1u << piece_bits | chunks : 0, upto = hw_warp_scan(mine);
    uint32_t was = pieces_most << piece_bits;

    if ((threadIdx.x & 31) == 31 && hw_load_relaxed(&room.pieces) >> piece_bits < pieces_most)
        was = atomicAdd(&room.pieces, upto);
    was = __shfl_sync(HW_WARP, was, 31) + upto - mine;
    const uint32_t at = was >> piece_bits;
    if (mine == 0 || at >= pieces_most)
        return false;
    room.piece[at] =
        piece_t{list.edge,       static_cast<long long>(list.key), list.source, list.at,
                list.at + count, was & ((1u << piece_bits) - 1)};
    return true;
}

template <int kind>
__device__ __forceinline__ list_t<kind> begin_list(const kernel_params &plan, pass_t<kind> &pass,
                                                   uint32_t v)
{
    list_t<kind> list = {v, 0, 0, 0, plan.part.edge, v != HW_INVALID_VERTEX};

    if (!list.more)
        return list;
    list.key = __ldcg(distances<kind>(plan) + home_of(plan) + v);
    const uint64_t begin = __ldg(plan.part.offset + v);
    list.length = static_cast<uint32_t>(__ldg(plan.part.offset + v + 1) - begin);
    list.edge += begin;
    pass.degrees += list.length;
    if (pass.from > 0) { /* long edges: where they begin */
        uint32_t end = list.length;
        while (list.at < end) {
            const uint32_t middle = list.at + (end - list.at) / 2;
            if (hw_further<kind>(list.key, list.edge[middle].weight) < pass.from)
                list.at = middle + 1;
            else
                end = middle;
        }
    }
    list.more = list.at < list.length;
    return list;
}

/* Which lane has item i of all those that the lanes have, upto: this lane's and those of the
 * lanes before it. The whole warp calls it. */
__device__ __forceinline__ uint32_t lane_of(uint32_t upto, uint32_t i)
{
    uint32_t lane = 0;

#pragma unroll
    for (uint32_t step = 16; step > 0; step /= 2)
        lane += __shfl_sync(HW_WARP, upto, lane + step - 1) <= i ? step : 0;
    return lane;
}

/* Looks at a list's edges first, 2 * first and so on, of `left` edges. Returns the first of them
 * that is beyond the bounds, or the one past the last that was looked at. */
template <uint32_t steps, int kind>
__device__ __forceinline__ uint64_t look_ahead(const hw_gpu_edge *edge, uint32_t left,
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

/* How many of a lane's next edges may end inside the bounds, within a factor of two. */
template <int kind>
__device__ __forceinline__ uint32_t extent_of(const pass_t<kind> &pass, const list_t<kind> &list)
{
    const uint32_t left = list.length - list.at;
    const hw_gpu_edge *edge = list.edge + list.at;
    const key_of<kind> to = end_for<kind>(pass, list.key);

    if (!list.more)
        return 0;
    uint64_t end = look_ahead<flat_steps, kind>(edge, left, 8, list.key, to);
    for (uint64_t from = 2 * flat_edges; end == from && end < left; from <<= far_steps)
        end = look_ahead<far_steps, kind>(edge, left, from, list.key, to);
    return static_cast<uint32_t>(min(end, static_cast<uint64_t>(left)));
}

/* Relaxes edges of other lanes' lists: from[k] is the lane of each. */
template <int N, int kind>
__device__ __forceinline__ void relax_of(const kernel_params &plan, block_shared &room,
                                         pass_t<kind> &pass, const hw_gpu_edge (&edge)[N],
                                         const key_of<kind> (&next)[N], const uint32_t (&from)[N],
                                         const list_t<kind> &list)
{
    key_of<kind> old[N];
    uint32_t code[N];
    bool better[N];

    look_at_ends<N, kind>(plan, pass, edge, old);
    if (!lower_ends<N, kind>(plan, edge, next, old, better))
        return;
#pragma unroll
    for (int k = 0; k < N; k++) {
        const key_of<kind> key = __shfl_sync(HW_WARP, list.key, from[k]);
        const uint32_t at = __shfl_sync(HW_WARP, list.source, from[k]);
        code[k] = key < next[k] ? home_of(plan) + at : tied;
    }
    note_finds<N, kind>(plan, room, pass, edge, next, better, code);
}

/* A lane's two next items of what all lanes have. */
template <int kind> struct flat_t {
    hw_gpu_edge edge[abreast];
    uint32_t from[abreast]; /* whose they are */
};

/* The items from `base` on of `all`: upto: of lanes up to each; first: where the list of a lane
 * would begin if the items before it were its. The whole warp calls it. */
template <int kind>
__device__ __forceinline__ flat_t<kind> read_flat(uint32_t upto, uint64_t first, uint32_t base,
                                                  uint32_t all)
{
    flat_t<kind> flat;

#pragma unroll
    for (uint32_t k = 0; k < abreast; k++) {
        const uint32_t i = base + 32 * k + (threadIdx.x & 31);
        flat.from[k] = lane_of(upto, min(i, all - 1));
        const uint64_t at = __shfl_sync(HW_WARP, first, flat.from[k]);
        flat.edge[k] = i < all ? hw_read_edge(reinterpret_cast<const hw_gpu_edge *>(at) + i)
                               : hw_gpu_edge{HW_INVALID_VERTEX, 0};
    }
    return flat;
}

/* The next edges of all lanes' lists, `extent` of each, shared out evenly. The next ones are asked
 * for before any is relaxed; the first ones, too, by the same instructions: a warp waits long for
 * those that its SM has not had lately. */
template <int kind>
__device__ __forceinline__ void push_flat(const kernel_params &plan, block_shared &room,
                                          pass_t<kind> &pass, const list_t<kind> &list,
                                          uint32_t extent)
{
    const uint32_t upto = hw_warp_scan(extent), all = __shfl_sync(HW_WARP, upto, 31);
    const uint64_t first = reinterpret_cast<uint64_t>(list.edge + list.at) -
                           sizeof(hw_gpu_edge) * static_cast<uint64_t>(upto - extent);

    if (all == 0)
        return;
    flat_t<kind> ahead = {};
    for (uint32_t base = 0; base < all + 32 * abreast; base += 32 * abreast) {
        flat_t<kind> flat = ahead;
        key_of<kind> next[abreast];
        if (base < all)
            ahead = read_flat<kind>(upto, first, base, all);
        if (base == 0)
            continue;
#pragma unroll
        for (uint32_t k = 0; k < abreast; k++) {
            const key_of<kind> key = __shfl_sync(HW_WARP, list.key, flat.from[k]);
            next[k] = hw_further<kind>(key, flat.edge[k].weight);
            const bool inside =
                flat.edge[k].rank != HW_INVALID_VERTEX && next[k] < end_for<kind>(pass, key);
            if (!inside)
                flat.edge[k].rank = HW_INVALID_VERTEX;
            pass.edges += inside;
        }
        relax_of<abreast, kind>(plan, room, pass, flat.edge, next, flat.from, list);
    }
}

/* Leaves lists, one a lane and so many of its next edges, that are long for this warp: the next
 * edges to the block, more to all. Takes lists on to what is not left, and returns how much that
 * is. The whole warp calls it. */
template <int kind>
__device__ __forceinline__ uint32_t leave_long(const kernel_params &plan, block_shared &room,
                                               pass_t<kind> &pass, list_t<kind> &list,
                                               uint32_t extent, bool many)
{
    const uint32_t all = hw_warp_sum(min(extent, 2 * flat_edges));
    const bool wide = extent > (all > (many ? flat_many : flat_few) ? brief_edges : flat_edges);
    const uint32_t end = list.at + extent;

    if (!__any_sync(HW_WARP, wide))
        return extent;
    const bool beside = leave_beside(room, list, wide ? min(extent, block_edges) : 0);
    const uint32_t most = beside ? block_edges : extent > flat_edges ? warp_edges : flat_edges;
    const uint32_t rest = wide ? list.at + min(extent, most) : end;
    const bool after = leave_heavy<kind>(plan, pass, list.source, rest, end);
    list.at = beside ? rest : list.at;
    return (after ? rest : end) - list.at;
}

/* Lists, one a lane: the first edges by each lane, if there are many; then those of all together,
 * but for what is left to others. */
template <int kind>
__device__ __forceinline__ void push_lists(const kernel_params &plan, block_shared &room,
                                           pass_t<kind> &pass, uint32_t v, bool many)
{
    constexpr uint32_t at_once = 1u << 26; /* of each lane, so that they can be counted */
    list_t<kind> list = begin_list<kind>(plan, pass, v);

    if (many) {
        list.more = push_four(plan, room, pass, list, list.at, 1);
        list.at += 4;
        list.more = list.more && list.at < list.length;
    }
    uint32_t left = leave_long(plan, room, pass, list, extent_of(pass, list), many);
    while (__any_sync(HW_WARP, left != 0)) {
        const uint32_t now = min(left, at_once);
        push_flat(plan, room, pass, list, now);
        list.at += now;
        left -= now;
    }
}

/* The last of so many that begins no later than item i: begin(k) is the first item of each, and of
 * none after another's. The whole warp calls it. */
template <typename Begin>
__device__ __forceinline__ uint32_t last_before(uint32_t count, count64 i, const Begin &begin)
{
    uint32_t low = 0, high = count;

    while (high - low > 1) {
        const uint32_t step = (high - low + 31) / 32, at = low + (threadIdx.x & 31) * step;
        const uint32_t here = __ballot_sync(HW_WARP, at < high && begin(at) <= i);
        low += (__popc(here) - 1) * step; /* the first one is here */
        high = min(low + step, high);
    }
    return low;
}

/* A chunk of a list that a warp relaxes: two edges a lane. */
template <int kind> struct beside_t {
    hw_gpu_edge edge[abreast];
    key_of<kind> key;
    uint32_t source;
};

/* Chunk c of the lists that were left to the block, `count` of them. */
template <int kind>
__device__ __forceinline__ beside_t<kind> read_beside(const block_shared &room, uint32_t count,
                                                      uint32_t c)
{
    const uint32_t lane = threadIdx.x & 31;
    const piece_t &piece =
        room.piece[last_before(count, c, [&room](uint32_t k) { return room.piece[k].chunk; })];
    const count64 from = piece.from + static_cast<count64>(c - piece.chunk) * beside_edges + lane;
    beside_t<kind> beside;

    beside.key = static_cast<key_of<kind>>(piece.key);
    beside.source = piece.source;
#pragma unroll
    for (uint32_t k = 0; k < abreast; k++) /* none where one found no room */
        beside.edge[k] = from + 32 * k < piece.end ? hw_read_edge(piece.edge + from + 32 * k)
                                                   : hw_gpu_edge{HW_INVALID_VERTEX, 0};
    return beside;
}

/* Relaxes a chunk of a list. */
template <int kind>
__device__ __forceinline__ void relax_beside(const kernel_params &plan, block_shared &room,
                                             pass_t<kind> &pass, beside_t<kind> &beside)
{
    const key_of<kind> to = end_for<kind>(pass, beside.key);
    key_of<kind> next[abreast];

#pragma unroll
    for (uint32_t k = 0; k < abreast; k++) {
        next[k] = hw_further<kind>(beside.key, beside.edge[k].weight);
        const bool inside = beside.edge[k].rank != HW_INVALID_VERTEX && next[k] < to;
        if (!inside)
            beside.edge[k].rank = HW_INVALID_VERTEX;
        pass.edges += inside;
    }
    if (__any_sync(HW_WARP, beside.edge[0].rank != HW_INVALID_VERTEX)) /* lists rise */
        relax(plan, room, pass, beside.edge, next, beside.source, beside.key);
}

/* The lists that were left to the block. The next chunk is asked for before one is relaxed. All
 * threads call it. */
template <int kind>
__device__ void push_beside(const kernel_params &plan, block_shared &room, pass_t<kind> &pass)
{
    __syncthreads();
    const uint32_t packed = room.pieces, chunks = packed & ((1u << piece_bits) - 1);
    const uint32_t count = min(packed >> piece_bits, pieces_most);
    uint32_t c = threadIdx.x / 32;

    if (count == 0 || c >= chunks)
        return;
    beside_t<kind> ahead = read_beside<kind>(room, count, c);
    for (; c < chunks; c += warps) {
        beside_t<kind> beside = ahead;
        if (c + warps < chunks)
            ahead = read_beside<kind>(room, count, c + warps);
        relax_beside<kind>(plan, room, pass, beside);
    }
}

/* Chunks of long lists that the pass before left. */
template <int kind>
__device__ void push_heavy(const kernel_params &plan, block_shared &room, pass_t<kind> &pass,
                           count64 packed)
{
    const hw_peer_delta_heavy *heavy = one_of(plan.heavy, pass.number);
    const uint32_t count = min(static_cast<uint32_t>(packed >> chunk_bits), plan.heavy_capacity);
    const count64 chunks = count ? packed & ((1ull << chunk_bits) - 1) : 0;

    /* By turns of whole blocks, so that the chunks of one list spread over all of them; from the
     * last warps on, which have no vertex of a small queue. */
    for (count64 c = (warps - 1 - threadIdx.x / 32) * static_cast<count64>(gridDim.x) + blockIdx.x;
         c < chunks; c += hw_grid_threads() / 32) {
        const uint32_t which =
            last_before(count, c, [heavy](uint32_t k) { return __ldcg(&heavy[k].chunk); });
        const uint4 words = __ldcg(reinterpret_cast<const uint4 *>(heavy + which));
        const count64 from = words.y + (c - words.w) * HW_PEER_DELTA_CHUNK;
        if (from >= words.z) /* chunks that found no room */
            continue;
        const uint32_t end =
            static_cast<uint32_t>(min(static_cast<count64>(words.z), from + HW_PEER_DELTA_CHUNK));
        const key_of<kind> key = __ldcg(distances<kind>(plan) + home_of(plan) + words.x);
        push_piece<kind>(plan, room, pass, plan.part.edge + __ldg(plan.part.offset + words.x),
                         static_cast<uint32_t>(from), end, words.x, key);
    }
}

/* Tells the others of an own vertex of each lane, or none, that has a key which they were told and
 * which is less by now. */
template <int kind>
__device__ __forceinline__ void show_less(const kernel_params &plan, const pass_t<kind> &pass,
                                          uint32_t v)
{
    const uint32_t home = home_of(plan);

    if (pass.shown == 0 || v == HW_INVALID_VERTEX)
        return;
    const key_of<kind> key = __ldcg(distances<kind>(plan) + home + v);
    for (uint32_t q = 0; key < pass.shown && q < plan.part.ranks; q++)
        if (q != plan.part.rank)
            lower_there(static_cast<key_of<kind> *>(plan.distance_of[q]) + home + v, key);
}

/* Vertex i of those to be pushed: from the queue, then from mail. Mail may have none, or one that
 * is to wait. The whole warp calls it; at: of this lane, or past all. */
template <int kind>
__device__ __forceinline__ uint32_t next_of(const kernel_params &plan, block_shared &room,
                                            pass_t<kind> &pass, uint64_t at, uint32_t count,
                                            uint32_t mail)
{
    const bool queued = at < count, came = !queued && at - count < mail;
    key_of<kind> key = hw_keys<kind>::none;
    uint32_t v = HW_INVALID_VERTEX;

    if (queued) {
        v = __ldcg(one_of(plan.near, pass.number) + at);
        one_of(plan.near_bits, pass.number)[v >> 5] = 0; /* all bits of the word are of this pass */
    }
    if (!__any_sync(HW_WARP, came))
        return v;
    if (came)
        v = take_entry<kind>(plan, room, pass.turn ^ 1, at - count, key);
    if (pass.bound.near < pass.bound.high)
        keep(room, later_queue, pass.later,
             came && v != HW_INVALID_VERTEX && key >= pass.bound.near && key < pass.bound.high, v);
    if (came && key >= pass.bound.near)
        v = HW_INVALID_VERTEX;
    pass.taken += came && v != HW_INVALID_VERTEX;
    return v;
}

/* What a warp has to push of a queue and of mail, some vertices a lane at a time. */
struct portions_t {
    uint32_t count, mail; /* vertices, and entries */
    uint32_t each;        /* of a portion */
    uint64_t next, apart; /* portions: of this warp */
};

/* By turns of blocks, so that a few go to many. */
__device__ __forceinline__ portions_t portions_of(uint32_t count, uint32_t mail)
{
    const uint64_t all = static_cast<uint64_t>(gridDim.x) * warps;

    return portions_t{count, mail, share(static_cast<uint64_t>(count) + mail, all),
                      (threadIdx.x / 32) * static_cast<uint64_t>(gridDim.x) + blockIdx.x, all};
}

/* Has this warp any more? */
__device__ __forceinline__ bool has_more(const portions_t &portions)
{
    return portions.next * portions.each < static_cast<uint64_t>(portions.count) + portions.mail;
}

/* The next portion, one vertex a lane, or none. The whole warp calls it. */
template <int kind>
__device__ __forceinline__ uint32_t take_portion(const kernel_params &plan, block_shared &room,
                                                 pass_t<kind> &pass, portions_t &portions)
{
    const uint32_t lane = threadIdx.x & 31;
    const uint64_t past = static_cast<uint64_t>(portions.count) + portions.mail;
    const uint64_t at = lane < portions.each ? portions.next * portions.each + lane : past;
    const uint32_t v = next_of<kind>(plan, room, pass, at, portions.count, portions.mail);

    show_less<kind>(plan, pass, v);
    portions.next += portions.apart;
    return v;
}

/* Pushes what is in the queue, the long lists, and what so many entries of mail bring; what that
 * leaves to the block is left there. */
template <int kind>
__device__ void push_queue(const kernel_params &plan, block_shared &room, pass_t<kind> &pass,
                           uint32_t count, count64 heavy, uint32_t mail)
{
    portions_t portions = portions_of(count, mail);

    if (heavy)
        push_heavy<kind>(plan, room, pass, heavy);
    while (has_more(portions)) {
        const uint32_t v = take_portion<kind>(plan, room, pass, portions);
        if (__any_sync(HW_WARP, v != HW_INVALID_VERTEX))
            push_lists<kind>(plan, room, pass, v, portions.each > few_lists);
    }
}

/* Pushes the long edges of all that lies in the bucket. */
template <int kind>
__device__ void push_long(const kernel_params &plan, block_shared &room, pass_t<kind> &pass)
{
    const uint32_t lane = threadIdx.x & 31, words = (plan.core + 31) / 32;
    const key_of<kind> *own = distances<kind>(plan) + home_of(plan);

    /* By turns of blocks: hubs are next to each other. */
    for (uint64_t w = (threadIdx.x / 32) * static_cast<uint64_t>(gridDim.x) + blockIdx.x; w < words;
         w += hw_grid_threads() / 32) {
        const uint32_t v = static_cast<uint32_t>(w) * 32 + lane;
        const key_of<kind> key = v < plan.core ? __ldcg(own + v) : hw_keys<kind>::none;
        const bool inside = key >= pass.bound.low && key < pass.bound.high;
        if (__any_sync(HW_WARP, inside))
            push_lists<kind>(plan, room, pass, inside ? v : HW_INVALID_VERTEX, true);
    }
    push_beside<kind>(plan, room, pass);
}

} // namespace

#endif
