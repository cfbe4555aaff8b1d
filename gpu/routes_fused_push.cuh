/* Pushing: method `delta` on several GPUs in one kernel (routes_fused.h). Lists are shared out
 * as delta_kernel.cu does. */
#ifndef HOPWAVE_GPU_ROUTES_FUSED_PUSH_CUH
#define HOPWAVE_GPU_ROUTES_FUSED_PUSH_CUH

#include "bucket_lists.cuh"
#include "routes_fused.cuh"

namespace
{

/* Lists of no more edges inside the bounds are shared out evenly in a warp. */
constexpr uint32_t flat_steps = 5, flat_edges = 8u << (flat_steps - 1);
/* Edges of a list that its warp relaxes where the block has no room for them. */
constexpr uint32_t warp_edges = 512;
/* Where a warp has more vertices than this, each lane begins with one. */
constexpr uint32_t few_lists = 4;

/* Relaxes so many edges of each lane; those to be left out go to HW_RANK_NONE. source: own
 * positions; from: their keys. */
template <int N, int kind>
__device__ __forceinline__ void
relax_each(const plan_t &plan, room_t &room, pass_t<kind> &pass, const hw_gpu_edge (&edge)[N],
           const key_of<kind> (&next)[N], const uint32_t (&source)[N],
           const key_of<kind> (&from)[N])
{
    key_of<kind> *distance = distances<kind>(plan);
    const uint32_t home = home_of(plan);
    key_of<kind> old[N];
    uint32_t better = 0, own = 0;

#pragma unroll
    for (int k = 0; k < N; k++)
        old[k] = edge[k].rank != HW_RANK_NONE ? __ldcg(distance + edge[k].rank) : -1;
#pragma unroll
    for (int k = 0; k < N; k++)
        if (next[k] < old[k] && next[k] < lower(distance + edge[k].rank, next[k])) {
            better |= 1u << k;
            if (edge[k].rank - home < plan.part.block) {
                own |= 1u << k;
                put_hint<kind>(plan, edge[k].rank - home,
                               from[k] < next[k] ? home + source[k] : tied, next[k]);
            }
        }
    if (!__any_sync(HW_WARP, better != 0))
        return;
#pragma unroll
    for (int k = 0; k < N; k++) {
        queue(room, pass, own >> k & 1, edge[k].rank - home, next[k]);
        post_find(plan, room, pass, (better & ~own) >> k & 1, edge[k].rank,
                  from[k] < next[k] ? home + source[k] : tied, next[k]);
    }
}

/* Likewise all of one source. */
template <int N, int kind>
__device__ __forceinline__ void relax(const plan_t &plan, room_t &room, pass_t<kind> &pass,
                                      const hw_gpu_edge (&edge)[N], const key_of<kind> (&next)[N],
                                      uint32_t source, key_of<kind> from)
{
    uint32_t sources[N];
    key_of<kind> keys[N];

#pragma unroll
    for (int k = 0; k < N; k++) {
        sources[k] = source;
        keys[k] = from;
    }
    relax_each<N, kind>(plan, room, pass, edge, next, sources, keys);
}

/* Leaves the rest of a list to the next pass. Returns whether there was room. */
template <int kind>
__device__ __forceinline__ bool leave(const plan_t &plan, pass_t<kind> &pass, uint32_t v,
                                      uint32_t from, uint32_t end)
{
    const count64 chunks = (end - from + HW_ROUTES_FUSED_CHUNK - 1) / HW_ROUTES_FUSED_CHUNK;
    count64 was = 0;

    if ((threadIdx.x & 31) == 0)
        was = atomicAdd(&plan.control->ring[(pass.number + 1) & 3].heavy,
                        1ull << chunk_bits | chunks);
    was = __shfl_sync(HW_WARP, was, 0);
    const uint32_t at = static_cast<uint32_t>(was >> chunk_bits);
    if (at >= plan.heavy_capacity)
        return false;
    if ((threadIdx.x & 31) == 0)
        one_of(plan.heavy, pass.number + 1)[at] = hw_routes_fused_heavy{
            v, from, end, static_cast<uint32_t>(was & ((1ull << chunk_bits) - 1))};
    return true;
}

template <int kind>
__device__ __forceinline__ list_t<kind> begin_list(const plan_t &plan, pass_t<kind> &pass,
                                                   uint32_t v)
{
    list_t<kind> list = {v, 0, 0, 0, plan.part.edge, v != HW_RANK_NONE};

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

/* How many of a lane's next edges may end inside the bounds, within a factor of two; 0 of none,
 * and where they are more than flat_edges. */
template <int kind>
__device__ __forceinline__ uint32_t extent_of(const pass_t<kind> &pass, const list_t<kind> &list)
{
    const uint32_t left = list.length - list.at;
    const hw_gpu_edge *edge = list.edge + list.at;
    const key_of<kind> to = end_for<kind>(pass, list.key);
    uint32_t weight[flat_steps], extent = 8;

    if (!list.more)
        return 0;
#pragma unroll
    for (uint32_t k = 0; k < flat_steps; k++)
        weight[k] = 8u << k < left ? __ldg(&edge[8u << k].weight) : 0;
#pragma unroll
    for (uint32_t k = 0; k < flat_steps; k++)
        if (8u << k < left && hw_further<kind>(list.key, weight[k]) < to)
            extent = 16u << k;
    return extent > flat_edges ? 0 : min(extent, left);
}

/* Relaxes edges of other lanes' lists: from[k] is the lane of each. */
template <int N, int kind>
__device__ __forceinline__ void
relax_of(const plan_t &plan, room_t &room, pass_t<kind> &pass, const hw_gpu_edge (&edge)[N],
         const key_of<kind> (&next)[N], const uint32_t (&from)[N], const list_t<kind> &list)
{
    key_of<kind> *distance = distances<kind>(plan);
    const uint32_t home = home_of(plan);
    key_of<kind> old[N];
    uint32_t better = 0;

#pragma unroll
    for (int k = 0; k < N; k++)
        old[k] = edge[k].rank != HW_RANK_NONE ? __ldcg(distance + edge[k].rank) : -1;
#pragma unroll
    for (int k = 0; k < N; k++)
        if (next[k] < old[k] && next[k] < lower(distance + edge[k].rank, next[k]))
            better |= 1u << k;
    if (!__any_sync(HW_WARP, better != 0))
        return;
#pragma unroll
    for (int k = 0; k < N; k++) {
        const key_of<kind> key = __shfl_sync(HW_WARP, list.key, from[k]);
        const uint32_t at = __shfl_sync(HW_WARP, list.source, from[k]);
        const uint32_t source = key < next[k] ? home + at : tied;
        const bool mine = better >> k & 1, own = edge[k].rank - home < plan.part.block;
        if (mine && own)
            put_hint<kind>(plan, edge[k].rank - home, source, next[k]);
        queue(room, pass, mine && own, edge[k].rank - home, next[k]);
        post_find(plan, room, pass, mine && !own, edge[k].rank, source, next[k]);
    }
}

/* The edges of all lanes' lists that are not long, shared out evenly. */
template <int kind>
__device__ __forceinline__ void push_flat(const plan_t &plan, room_t &room, pass_t<kind> &pass,
                                          list_t<kind> &list)
{
    const uint32_t lane = threadIdx.x & 31, extent = extent_of(pass, list);
    const uint32_t upto = hw_warp_scan(extent), all = __shfl_sync(HW_WARP, upto, 31);
    const uint64_t first = reinterpret_cast<uint64_t>(list.edge + list.at) -
                           sizeof(hw_gpu_edge) * static_cast<uint64_t>(upto - extent);

    for (uint32_t base = 0; base < all; base += 32 * abreast) {
        hw_gpu_edge edge[abreast];
        key_of<kind> next[abreast];
        uint32_t from[abreast];
#pragma unroll
        for (uint32_t k = 0; k < abreast; k++) {
            const uint32_t i = base + 32 * k + lane;
            from[k] = lane_of(upto, min(i, all - 1));
            const uint64_t at = __shfl_sync(HW_WARP, first, from[k]);
            edge[k] = i < all ? hw_read_edge(reinterpret_cast<const hw_gpu_edge *>(at) + i)
                              : hw_gpu_edge{HW_RANK_NONE, 0};
        }
#pragma unroll
        for (uint32_t k = 0; k < abreast; k++) {
            const key_of<kind> key = __shfl_sync(HW_WARP, list.key, from[k]);
            next[k] = hw_further<kind>(key, edge[k].weight);
            const bool inside = edge[k].rank != HW_RANK_NONE && next[k] < end_for<kind>(pass, key);
            if (!inside)
                edge[k].rank = HW_RANK_NONE;
            pass.edges += inside;
        }
        relax_of<abreast, kind>(plan, room, pass, edge, next, from, list);
    }
    list.more = list.more && extent == 0;
}

/* What is left of a list: the next edges to the block, more to all. */
template <int kind>
__device__ __forceinline__ void share_rest(const plan_t &plan, room_t &room, pass_t<kind> &pass,
                                           const list_t<kind> &list, uint32_t from, uint32_t probed)
{
    const uint32_t last =
        reach<kind>(probed, from, list.length, list.key, end_for<kind>(pass, list.key));
    uint32_t end = last - from > block_edges ? from + block_edges : last;

    if (!leave_beside<kind>(room, list, from, end)) {
        end = last - from > warp_edges ? from + warp_edges : last;
        if (!push_piece<kind>(plan, room, pass, list.edge, from, end, list.source, list.key))
            return;
    }
    if (end < last && !leave<kind>(plan, pass, list.source, end, last))
        push_piece<kind>(plan, room, pass, list.edge, end, last, list.source, list.key);
}

/* Lists, one a lane: the first edges by each lane, if there are many; then by groups; the
 * next ones by the warp, and what is left by several. */
template <int kind>
__device__ __forceinline__ void push_lists(const plan_t &plan, room_t &room, pass_t<kind> &pass,
                                           uint32_t v, bool many)
{
    list_t<kind> list = begin_list<kind>(plan, pass, v);

    if (many) {
        list.more = push_four(plan, room, pass, list, list.at, 1);
        list.at += 4;
        list.more = list.more && list.at < list.length;
    }
    push_flat(plan, room, pass, list);
    uint32_t left = __ballot_sync(HW_WARP, list.more);
    while (left) {
        const list_t<kind> one = list_from(list, __ffs(left) - 1);
        const uint32_t end = one.length - one.at > piece_edges ? one.at + piece_edges : one.length;
        const uint32_t probed = probe(one.edge, end, one.length);
        left &= left - 1;
        if (push_piece<kind>(plan, room, pass, one.edge, one.at, end, one.source, one.key) &&
            end < one.length)
            share_rest<kind>(plan, room, pass, one, end, probed);
    }
}

/* The lists that were left to the block. All threads call it. */
template <int kind>
__device__ void push_beside(const plan_t &plan, room_t &room, pass_t<kind> &pass)
{
    __syncthreads();
    const uint32_t packed = room.pieces, chunks = packed & ((1u << piece_bits) - 1);
    const uint32_t count = min(packed >> piece_bits, pieces_most);

    for (uint32_t c = threadIdx.x / 32; count > 0 && c < chunks; c += warps) {
        uint32_t low = 0, high = count;
        while (high - low > 1) {
            const uint32_t middle = low + (high - low) / 2;
            if (room.piece[middle].chunk <= c)
                low = middle;
            else
                high = middle;
        }
        const piece_t piece = room.piece[low];
        const uint32_t from = piece.from + (c - piece.chunk) * piece_edges;
        if (from < piece.end) /* else one that found no room */
            push_piece<kind>(plan, room, pass, piece.edge, from, min(piece.end, from + piece_edges),
                             piece.source, static_cast<key_of<kind>>(piece.key));
    }
}

/* Chunks of long lists that the pass before left. */
template <int kind>
__device__ void push_heavy(const plan_t &plan, room_t &room, pass_t<kind> &pass, count64 packed)
{
    const hw_routes_fused_heavy *heavy = one_of(plan.heavy, pass.number);
    const uint32_t count = min(static_cast<uint32_t>(packed >> chunk_bits), plan.heavy_capacity);
    const count64 chunks = packed & ((1ull << chunk_bits) - 1);

    /* By turns of whole blocks, so that the chunks of one list spread over all of them; from the
     * last warps on, which have no vertex of a small queue. */
    for (count64 c = (warps - 1 - threadIdx.x / 32) * static_cast<count64>(gridDim.x) + blockIdx.x;
         c < chunks; c += hw_stride() / 32) {
        uint32_t low = 0, high = count;
        while (high - low > 1) {
            const uint32_t middle = low + (high - low) / 2;
            if (__ldcg(&heavy[middle].chunk) <= c)
                low = middle;
            else
                high = middle;
        }
        const uint4 words = __ldcg(reinterpret_cast<const uint4 *>(heavy + low));
        const count64 from = words.y + (c - words.w) * HW_ROUTES_FUSED_CHUNK;
        if (from >= words.z) /* chunks that found no room */
            continue;
        const uint32_t end =
            static_cast<uint32_t>(min(static_cast<count64>(words.z), from + HW_ROUTES_FUSED_CHUNK));
        const key_of<kind> key = __ldcg(distances<kind>(plan) + home_of(plan) + words.x);
        push_piece<kind>(plan, room, pass, plan.part.edge + __ldg(plan.part.offset + words.x),
                         static_cast<uint32_t>(from), end, words.x, key);
    }
}

/* Tells the others what is queued and has a key that they were told, which is less by now. */
template <int kind>
__device__ void show_queue(const plan_t &plan, uint32_t number, uint32_t count, key_of<kind> told)
{
    const uint32_t *near = one_of(plan.near, number);
    const uint32_t home = home_of(plan);

    for (uint64_t i = hw_first(); i < count; i += hw_stride()) {
        const uint32_t v = __ldcg(near + i);
        const key_of<kind> key = __ldcg(distances<kind>(plan) + home + v);
        for (uint32_t q = 0; key < told && q < plan.part.ranks; q++)
            if (q != plan.part.rank)
                lower_there(static_cast<key_of<kind> *>(plan.distance_of[q]) + home + v, key);
    }
}

/* Pushes what is in the queue and the long lists; what that leaves to the block is left there. */
template <int kind>
__device__ void push_queue(const plan_t &plan, room_t &room, pass_t<kind> &pass, uint32_t count,
                           count64 heavy)
{
    const uint32_t *near = one_of(plan.near, pass.number);
    uint32_t *bits = one_of(plan.near_bits, pass.number);
    const uint32_t lane = threadIdx.x & 31;
    const uint64_t all = static_cast<uint64_t>(gridDim.x) * warps;
    const uint32_t each = share(count, all);

    if (heavy)
        push_heavy<kind>(plan, room, pass, heavy);
    for (uint64_t i = (threadIdx.x / 32) * static_cast<uint64_t>(gridDim.x) + blockIdx.x;
         i * each < count; i += all) {
        const bool there = lane < each && i * each + lane < count;
        const uint32_t v = there ? __ldcg(near + i * each + lane) : HW_RANK_NONE;
        if (there)
            bits[v >> 5] = 0; /* all bits of the word are of this pass */
        push_lists<kind>(plan, room, pass, v, each > few_lists);
    }
}

/* Pushes the long edges of all that lies in the bucket. */
template <int kind> __device__ void push_long(const plan_t &plan, room_t &room, pass_t<kind> &pass)
{
    const uint32_t lane = threadIdx.x & 31, words = (plan.core + 31) / 32;
    const key_of<kind> *own = distances<kind>(plan) + home_of(plan);

    /* By turns of blocks: hubs are next to each other. */
    for (uint64_t w = (threadIdx.x / 32) * static_cast<uint64_t>(gridDim.x) + blockIdx.x; w < words;
         w += hw_stride() / 32) {
        const uint32_t v = static_cast<uint32_t>(w) * 32 + lane;
        const key_of<kind> key = v < plan.core ? __ldcg(own + v) : hw_keys<kind>::none;
        const bool inside = key >= pass.bound.low && key < pass.bound.high;
        if (__any_sync(HW_WARP, inside))
            push_lists<kind>(plan, room, pass, inside ? v : HW_RANK_NONE, true);
    }
    push_beside<kind>(plan, room, pass);
}

} // namespace

#endif
