/* Pushing in method `delta`: from a queue, and what a long list leaves. */
#ifndef HOPWAVE_GPU_SSSP_DELTA_ONE_GPU_DELTA_PUSH_CUH
#define HOPWAVE_GPU_SSSP_DELTA_ONE_GPU_DELTA_PUSH_CUH

#include "gpu/graph/device_graph.cuh"
#include "gpu/sssp/common/delta_policy.h"
#include "gpu/sssp/common/weight_sorted_lists.cuh"
#include "gpu/sssp/delta/one_gpu_delta_iteration.cuh"

namespace
{

/* Edges of a list that quarters of a warp relax; and those after the next that its warp relaxes
 * where the block has no room for them. */
constexpr uint32_t group_edges = 68, warp_edges = 512;
/* Where a warp has more vertices than this, each lane begins with one. */
constexpr uint32_t few_lists = 4;

/* Relaxes so many edges of each lane, all from one source; those to be left out go to
 * HW_INVALID_VERTEX. */
template <int N, int kind>
__device__ __forceinline__ void relax(const kernel_params &plan, block_shared &room,
                                      pass_t<kind> &pass, const hw_gpu_edge (&edge)[N],
                                      const key_of<kind> (&next)[N], uint32_t source,
                                      key_of<kind> from)
{
    key_of<kind> *distance = distances<kind>(plan);
    key_of<kind> old[N];
    uint32_t better = 0;

#pragma unroll
    for (int k = 0; k < N; k++)
        old[k] = edge[k].rank < plan.graph.core ? __ldcg(distance + edge[k].rank) : -1;
#pragma unroll
    for (int k = 0; k < N; k++)
        if (next[k] < old[k] && next[k] < lower(distance + edge[k].rank, next[k])) {
            put_hint<kind>(plan, edge[k].rank, source, from, edge[k].weight, next[k]);
            better |= 1u << k;
        }
    if (!__any_sync(HW_WARP, better != 0))
        return;
#pragma unroll
    for (int k = 0; k < N; k++)
        queue(room, pass, better >> k & 1, edge[k].rank, next[k]);
}

/* Leaves the rest of a list to the next pass. Returns whether there was room: there is, but
 * where blocks go on by themselves and meet a vertex again and again. */
template <int kind>
__device__ __forceinline__ bool leave(const kernel_params &plan, block_shared &room,
                                      pass_t<kind> &pass, uint32_t v, uint32_t from, uint32_t end)
{
    const count64 chunks = (end - from + HW_ONE_GPU_DELTA_CHUNK - 1) / HW_ONE_GPU_DELTA_CHUNK;
    count64 was = 0;

    if ((threadIdx.x & 31) == 0)
        was = atomicAdd(&plan.control->ring[(pass.number + 1) & 3].heavy,
                        1ull << chunk_bits | chunks);
    was = __shfl_sync(HW_WARP, was, 0);
    const uint32_t at = static_cast<uint32_t>(was >> chunk_bits);
    if (at >= plan.heavy_capacity)
        return false;
    if ((threadIdx.x & 31) != 0)
        return true;
    room.left = 1;
    one_of(plan.heavy, pass.number + 1)[at] = hw_one_gpu_delta_heavy{
        v, from, end, static_cast<uint32_t>(was & ((1ull << chunk_bits) - 1))};
    return true;
}

template <typename Offset, int kind>
__device__ __forceinline__ list_t<kind> begin_list(const kernel_params &plan, pass_t<kind> &pass,
                                                   uint32_t v)
{
    list_t<kind> list = {v, 0, 0, 0, plan.paths.out, v != HW_INVALID_VERTEX};

    if (!list.more)
        return list;
    list.key = __ldcg(distances<kind>(plan) + v);
    const Offset begin = hw_begin<Offset>(plan.graph.out, v);
    list.length = static_cast<uint32_t>(hw_begin<Offset>(plan.graph.out, v + 1) - begin);
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

/* Four lists at once, 32 edges of each, while there are more than two of those that are not
 * long. */
template <int kind>
__device__ __forceinline__ void push_groups(const kernel_params &plan, block_shared &room,
                                            pass_t<kind> &pass, list_t<kind> &list)
{
    const uint32_t lane = threadIdx.x & 31, group = lane / 8;

    for (;;) {
        const uint32_t left = __ballot_sync(HW_WARP, list.more && list.at < group_edges);
        uint32_t rest = left;
        int mine = -1;
        if (__popc(left) <= 2)
            break;
        for (uint32_t g = 0; g < 4; g++) {
            mine = g == group ? __ffs(rest) - 1 : mine;
            rest &= rest - 1;
        }
        list_t<kind> taken = list_from(list, mine < 0 ? 0 : mine);
        taken.more = mine >= 0;
        const bool inside = push_four(plan, room, pass, taken, taken.at + (lane & 7), 8);
        const uint32_t all = __ballot_sync(HW_WARP, inside);
        const uint32_t order = __popc((left ^ rest) & ((1u << lane) - 1));
        if ((left ^ rest) >> lane & 1) {
            list.at += 32;
            list.more = (all >> (8 * order) & 0xff) == 0xff && list.at < list.length;
        }
    }
}

/* What is left of a list: the next edges to the block, more to all. */
template <int kind>
__device__ __forceinline__ void share_rest(const kernel_params &plan, block_shared &room,
                                           pass_t<kind> &pass, const list_t<kind> &list,
                                           uint32_t from, uint32_t probed)
{
    const uint32_t last = reach<kind>(probed, from, list.length, list.key, pass.to);
    uint32_t end = last - from > pass.beside ? from + pass.beside : last;

    if (from < end && !leave_beside<kind>(room, list, from, end)) {
        end = last - from > warp_edges ? from + warp_edges : last;
        if (!push_piece<kind>(plan, room, pass, list.edge, from, end, list.source, list.key))
            return;
    }
    if (end < last && !leave<kind>(plan, room, pass, list.source, end, last))
        push_piece<kind>(plan, room, pass, list.edge, end, last, list.source, list.key);
}

/* Lists, one a lane: the first edges by each lane, if there are many; then by groups; the
 * next ones by the warp, and what is left by several. */
template <typename Offset, int kind>
__device__ __forceinline__ void push_lists(const kernel_params &plan, block_shared &room,
                                           pass_t<kind> &pass, uint32_t v, bool many)
{
    list_t<kind> list = begin_list<Offset, kind>(plan, pass, v);

    if (many) {
        list.more = push_four(plan, room, pass, list, list.at, 1);
        list.at += 4;
        list.more = list.more && list.at < list.length;
    }
    push_groups(plan, room, pass, list);
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

/* The lists that were left to the block. All threads call it; a barrier of the block must
 * come between it and the next lists. */
template <int kind>
__device__ void push_beside(const kernel_params &plan, block_shared &room, pass_t<kind> &pass)
{
    __syncthreads();
    const uint32_t packed = room.pieces, chunks = packed & ((1u << piece_bits) - 1);
    const uint32_t count = min(packed >> piece_bits, pieces_most);

    if (count == 0)
        return;
    for (uint32_t c = threadIdx.x / 32; c < chunks; c += warps) {
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
    __syncthreads();
    if (threadIdx.x == 0)
        room.pieces = 0;
}

/* Chunks of long lists that the pass before left. */
template <typename Offset, int kind>
__device__ void push_heavy(const kernel_params &plan, block_shared &room, pass_t<kind> &pass,
                           count64 packed)
{
    const hw_one_gpu_delta_heavy *heavy = one_of(plan.heavy, pass.number);
    const uint32_t count = min(static_cast<uint32_t>(packed >> chunk_bits), plan.heavy_capacity);
    const count64 chunks = packed & ((1ull << chunk_bits) - 1);

    /* By turns of whole blocks, so that the chunks of one list spread over all of them; from the
     * last warps on, which have no vertex of a small queue. */
    for (count64 c = (warps - 1 - threadIdx.x / 32) * static_cast<count64>(gridDim.x) + blockIdx.x;
         c < chunks; c += hw_grid_threads() / 32) {
        uint32_t low = 0, high = count;
        while (high - low > 1) {
            const uint32_t middle = low + (high - low) / 2;
            if (__ldcg(&heavy[middle].chunk) <= c)
                low = middle;
            else
                high = middle;
        }
        const uint4 words = __ldcg(reinterpret_cast<const uint4 *>(heavy + low));
        const count64 from = words.y + (c - words.w) * HW_ONE_GPU_DELTA_CHUNK;
        if (from >= words.z) /* chunks that found no room */
            continue;
        const uint32_t end = static_cast<uint32_t>(
            min(static_cast<count64>(words.z), from + HW_ONE_GPU_DELTA_CHUNK));
        const key_of<kind> key = __ldcg(distances<kind>(plan) + words.x);
        push_piece<kind>(plan, room, pass,
                         plan.paths.out + hw_begin<Offset>(plan.graph.out, words.x),
                         static_cast<uint32_t>(from), end, words.x, key);
    }
}

/* One more row, if rows are wanted. */
template <int kind>
__device__ __forceinline__ void add_row(const kernel_params &plan, const pass_t<kind> &pass,
                                        uint32_t found, count64 pushed, count64 pulled)
{
    if (!plan.row || hw_grid_thread() != 0)
        return;
    hw_gpu_sssp_trace_record *row = plan.row + min(*pass.rows, plan.row_capacity - 1);
    if (*pass.rows < plan.row_capacity)
        *row = hw_gpu_sssp_trace_record{pass.routine, pass.bucket, 0, 0, 0, 0, 0};
    row->frontier += pass.frontier;
    row->found += found;
    row->pushed += pushed;
    row->pulled += pulled;
    row->clock = static_cast<uint64_t>(clock64());
    (*pass.rows)++;
}

/* The block goes on with what it found itself, so many rounds, while it is no more than
 * `most` and no list was left to the next pass: deep graphs need fewer passes so. */
template <typename Offset, int kind>
__device__ void push_local(const kernel_params &plan, block_shared &room, pass_t<kind> &pass,
                           uint32_t rounds, uint32_t most)
{
    const uint32_t lane = threadIdx.x & 31, warp = threadIdx.x / 32;

    for (uint32_t round = 0; round < rounds; round++) {
        uint32_t before = 0, all = 0;
        if (lane == 0)
            room.local_count[warp] = pass.near;
        __syncthreads();
        for (uint32_t w = 0; w < warps; w++) {
            before += w < warp ? room.local_count[w] : 0;
            all += room.local_count[w];
        }
        if (all == 0 || all > most || room.left)
            break;
        for (uint32_t k = lane; k < pass.near; k += 32)
            room.local[before + k] = room.find[near_queue][warp][k];
        pass.near = 0;
        if (rounds == UINT32_MAX) { /* alone: a round is what a pass is elsewhere */
            add_row(plan, pass, all, 0, 0);
            pass.frontier = all;
        }
        __syncthreads();
        const uint32_t each = share(all, warps);
        for (uint32_t i = each * warp; i < all; i += each * warps)
            push_lists<Offset, kind>(plan, room, pass,
                                     lane < each && i + lane < all ? room.local[i + lane]
                                                                   : HW_INVALID_VERTEX,
                                     each > few_lists);
        push_beside<kind>(plan, room, pass);
    }
}

/* Pushes what is in the queue, so many blocks together, of which this is number `block`. */
template <typename Offset, int kind>
__device__ __forceinline__ void push_queue(const kernel_params &plan, block_shared &room,
                                           pass_t<kind> &pass, uint32_t count, uint32_t block,
                                           uint32_t blocks)
{
    const uint32_t *near = one_of(plan.near, pass.number);
    uint32_t *bits = one_of(plan.near_bits, pass.number);
    const uint32_t lane = threadIdx.x & 31;
    const uint64_t all = static_cast<uint64_t>(blocks) * warps;
    const uint32_t each = share(count, all);

    for (uint64_t i = (threadIdx.x / 32) * static_cast<uint64_t>(blocks) + block; i * each < count;
         i += all) {
        const bool there = lane < each && i * each + lane < count;
        const uint32_t v = there ? __ldcg(near + i * each + lane) : HW_INVALID_VERTEX;
        if (there && v < plan.graph.core)
            bits[v >> 5] = 0; /* all bits of the word are of this pass */
        push_lists<Offset, kind>(plan, room, pass, v, each > few_lists);
    }
}

/* Pushes what is in the queue and the long lists. */
template <typename Offset, int kind>
__device__ void push(const kernel_params &plan, block_shared &room, pass_t<kind> &pass,
                     uint32_t count, count64 heavy)
{
    const uint32_t alone_most =
        plan.whole ? HW_DELTA_ONE_GPU_SINGLE_CTA_SHORT_LISTS : HW_DELTA_ONE_GPU_SINGLE_CTA_SPLIT;
    const bool alone = heavy == 0 && count <= alone_most;
    const uint32_t rounds = plan.whole ? HW_DELTA_ONE_GPU_LOCAL_ROUNDS_SHORT_LISTS
                                       : HW_DELTA_ONE_GPU_LOCAL_ROUNDS_SPLIT;

    if (alone && blockIdx.x != 0)
        return;
    if (alone)
        pass.beside = 0; /* long lists are for all blocks */
    if (heavy)
        push_heavy<Offset, kind>(plan, room, pass, heavy);
    push_queue<Offset, kind>(plan, room, pass, count, blockIdx.x, alone ? 1 : gridDim.x);
    push_beside<kind>(plan, room, pass);
    push_local<Offset, kind>(plan, room, pass, alone ? UINT32_MAX : rounds,
                             alone ? min(2 * alone_most, local_most) : local_most);
}

/* Pushes the root's list, of which nothing is left: to no other pass, which has other bounds. */
template <typename Offset, int kind>
__device__ void push_root(const kernel_params &plan, block_shared &room, pass_t<kind> &pass)
{
    if (blockIdx.x != 0)
        return;
    push_queue<Offset, kind>(plan, room, pass, 1, 0, 1);
    push_beside<kind>(plan, room, pass);
}

/* Pushes the long edges of all that lies in the bucket. */
template <typename Offset, int kind>
__device__ void push_long(const kernel_params &plan, block_shared &room, pass_t<kind> &pass)
{
    const uint32_t lane = threadIdx.x & 31, words = (plan.graph.core + 31) / 32;

    /* By turns of blocks: hubs are next to each other. */
    for (uint64_t w = (threadIdx.x / 32) * static_cast<uint64_t>(gridDim.x) + blockIdx.x; w < words;
         w += hw_grid_threads() / 32) {
        const uint32_t v = static_cast<uint32_t>(w) * 32 + lane;
        const key_of<kind> key =
            v < plan.graph.core ? __ldcg(distances<kind>(plan) + v) : hw_keys<kind>::none;
        const bool inside = key >= pass.bound.low && key < pass.bound.high;
        if (__any_sync(HW_WARP, inside))
            push_lists<Offset, kind>(plan, room, pass, inside ? v : HW_INVALID_VERTEX, true);
    }
    push_beside<kind>(plan, room, pass);
}

} // namespace

#endif
