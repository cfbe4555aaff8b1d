/*
 * Method `delta`: shortest paths by buckets of distances, in one cooperative kernel.
 *
 * After "Delta-stepping: a parallelizable shortest path algorithm" (Meyer and Sanders),
 * with lists sorted by weight, so that an edge is short or long by where it ends, not by
 * its weight: pushing stops at the first edge that leaves the bucket. A bucket [low, high)
 * is settled in steps from the nearest on; the width of a step doubles while it settles
 * in few passes. Then the edges that leave the bucket are relaxed once: pushed, or pulled
 * by all that is beyond it, each of which stops where the rest of its list is too long;
 * what is in the next bucket then pushes in the same pass. Once a pull paid there is one
 * step a bucket, and each is wider than the one before. Where lists are short they are
 * pushed whole, and all is one bucket with steps of the same width.
 *
 * A pass is what lies between two barriers of the grid. All blocks decide from the same
 * counters what comes next. Queues are filled through buffers of each warp in shared
 * memory, so that few operations meet at their counters. Distances alone are compared and
 * lowered by atomic operations; they fit the second cache on graphs of a few million
 * vertices. The edge that lowered one is noted beside, without order among threads: the
 * frame sorts that out (paths.h).
 *
 * A list that takes a warp too long is left, from where it stopped, to all warps of the
 * block and then to those of the next pass, in chunks. A small queue is left to one block,
 * which goes on with what it finds without barriers of the grid.
 *
 * Vertices of degree 1 are left out until the end.
 */
#include "delta.h"
#include "lists.cuh"
#include "paths.cuh"
#include "warp.cuh"

#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace
{

namespace cg = cooperative_groups;
using count64 = unsigned long long;
using plan_t = hw_delta_plan;

constexpr int threads = HW_DELTA_THREADS;
constexpr int warps = threads / 32;
/* Finds that a warp keeps before it writes them to a queue. */
constexpr uint32_t buffered = 128, slots = buffered / 32;
/* Finds that a block goes on with by itself at most. */
constexpr uint32_t local_most = 1024;
/* Edges that a warp relaxes at once; those of a list that quarters of a warp do; and those
 * after them that are left to all warps of the block, or else to this one. */
constexpr uint32_t piece_edges = 128, group_edges = 68;
constexpr uint32_t block_edges = 2048, warp_edges = 512;
/* Lists that a block may have left to all of its warps. */
constexpr uint32_t pieces_most = 128;
constexpr int piece_bits = 16;
/* Where a warp has more vertices than this, each lane begins with one. */
constexpr uint32_t few_lists = 4;
/* Edges of a vertex that one lane pulls alone. */
constexpr uint32_t lane_pulls = 16;
/* Rounds that a block goes on by itself in a pass: lists are short where they are whole. */
constexpr uint32_t rounds_whole = 4, rounds_short = 2;
/* A queue of no more than this is left to one block, which goes on by itself while no more
 * than twice as many are found. */
constexpr uint32_t alone_whole = 256, alone_short = 16;

/* Bits of the number of chunks in a packed count of long lists. */
constexpr int chunk_bits = 40;

/* The first step inside a bucket is this share of it. */
constexpr double first_step = 0.1;
/* Steps that examine fewer edges than this are followed by much wider ones. */
constexpr count64 little_work = 4000000;
/* Steps of so many passes are followed by wider ones; of more than so many, by narrower. */
constexpr uint32_t few_passes = 4, many_passes = 8;
/* Buckets grow by this once a pull paid. */
constexpr double growth = 3;
/* A pull examines about so many edges a vertex, and a pushed one takes the time of two. */
constexpr count64 pull_edges = 4, push_price = 2;
/* Once fewer than one in so many vertices is left, the rest is one bucket. */
constexpr uint32_t tail_share = 4;

template <int kind> using key_of = typename hw_keys<kind>::type;

/* One bucket and the step inside it: [low, near) now, [near, high) later. */
template <int kind> struct bounds {
    key_of<kind> low, near, high;
};

/* A queue that a pass fills. */
struct queue_t {
    uint32_t *list, *counter;
    uint32_t *bits; /* what is in the list; NULL: no vertex is found twice */
};

enum { near_queue, later_queue, queues };

/* A list under way that is left to all warps of the block. */
struct piece_t {
    const hw_gpu_edge *edge;
    long long key; /* of the source */
    uint32_t source, from, end;
    uint32_t chunk; /* chunks before it */
};

/* What a block shares. */
struct room_t {
    hw_delta_ring seen; /* of the pass before */
    uint32_t later[3];  /* likewise */
    hw_delta_ring sum;  /* of this pass and block */
    queue_t queue[queues];
    uint32_t find[queues][warps][buffered]; /* a vertex may be there twice */
    uint32_t count[queues][warps];
    piece_t piece[pieces_most];
    uint32_t pieces; /* their number above, chunks below */
    uint32_t left;   /* was a list left to the next pass? */
    uint32_t local[local_most];
    uint32_t local_count[warps];
};

template <int kind> __device__ __forceinline__ key_of<kind> *distances(const plan_t &plan)
{
    return static_cast<key_of<kind> *>(plan.paths.distance);
}

__device__ __forceinline__ int32_t lower(int32_t *at, int32_t key)
{
    return atomicMin(at, key);
}

__device__ __forceinline__ int64_t lower(int64_t *at, int64_t key)
{
    return atomicMin(reinterpret_cast<long long *>(at), static_cast<long long>(key));
}

/* Distances as numbers, and back: the greatest key that is no more, but one above the key
 * it is counted from at least. */
template <int kind>
__device__ __forceinline__ key_of<kind> key_beyond(key_of<kind> key, double width)
{
    constexpr key_of<kind> none = hw_keys<kind>::none;
    key_of<kind> bound;

    if (key >= none - 1)
        return none;
    if constexpr (kind == HW_GPU_KEY_F32) {
        const double sum = static_cast<double>(hw_float_of(key)) + width;
        bound = sum >= 3.4e38 ? none : hw_key_of(static_cast<float>(sum));
    } else {
        const double sum = static_cast<double>(key) + width;
        bound = sum >= static_cast<double>(none) ? none : static_cast<key_of<kind>>(sum);
    }
    return bound > key ? bound : key + 1;
}

/* ---- queues ---- */

/* Marks what this warp found, some slots a lane; returns which of these were not. */
__device__ __forceinline__ uint32_t mark(const room_t &room, int queue, uint32_t count,
                                         uint32_t (&v)[slots])
{
    const uint32_t *found = room.find[queue][threadIdx.x / 32];
    uint32_t *bits = room.queue[queue].bits, fresh = 0;

#pragma unroll
    for (uint32_t k = 0; k < slots; k++) {
        const uint32_t at = 32 * k + (threadIdx.x & 31);
        v[k] = at < count ? found[at] : HW_RANK_NONE;
    }
#pragma unroll
    for (uint32_t k = 0; k < slots; k++) {
        const uint32_t bit = 1u << (v[k] & 31);
        if (v[k] != HW_RANK_NONE && (!bits || !(atomicOr(bits + (v[k] >> 5), bit) & bit)))
            fresh |= 1u << k;
    }
    return fresh;
}

/* Writes those, the lanes after each other. */
__device__ __forceinline__ void write(uint32_t *to, const uint32_t (&v)[slots], uint32_t fresh)
{
    const uint32_t below = (1u << (threadIdx.x & 31)) - 1;

#pragma unroll
    for (uint32_t k = 0; k < slots; k++) {
        const uint32_t all = __ballot_sync(HW_WARP, fresh >> k & 1);
        if (fresh >> k & 1)
            to[__popc(all & below)] = v[k];
        to += __popc(all);
    }
}

/* How many are marked so in the warp. */
__device__ __forceinline__ uint32_t count_of(uint32_t fresh)
{
    uint32_t count = 0;

#pragma unroll
    for (uint32_t k = 0; k < slots; k++)
        count += __popc(__ballot_sync(HW_WARP, fresh >> k & 1));
    return count;
}

/* Queues what this warp found. */
__device__ __noinline__ void flush(const room_t &room, int queue, uint32_t found)
{
    uint32_t v[slots], start = 0;

    __syncwarp();
    const uint32_t fresh = mark(room, queue, found, v), count = count_of(fresh);
    if (count > 0 && (threadIdx.x & 31) == 0)
        start = atomicAdd(room.queue[queue].counter, count);
    write(room.queue[queue].list + __shfl_sync(HW_WARP, start, 0), v, fresh);
    __syncwarp();
}

/* Notes a find for a queue; all lanes call it. count: of the warp's finds. */
__device__ __forceinline__ void keep(room_t &room, int queue, uint32_t &count, bool wanted,
                                     uint32_t v)
{
    const uint32_t lane = threadIdx.x & 31, all = __ballot_sync(HW_WARP, wanted);

    if (all == 0)
        return;
    if (wanted)
        room.find[queue][threadIdx.x / 32][count + __popc(all & ((1u << lane) - 1))] = v;
    count += __popc(all);
    if (count > buffered - 32) {
        flush(room, queue, count);
        count = 0;
    }
}

/* Room in a queue for what each warp of the block has for it; one warp calls it. */
__device__ __forceinline__ void take_room(room_t &room, int queue)
{
    const uint32_t lane = threadIdx.x & 31;
    const uint32_t mine = lane < warps ? room.count[queue][lane] : 0, end = hw_warp_scan(mine);
    uint32_t base = 0;

    if (lane == 31 && end > 0)
        base = atomicAdd(room.queue[queue].counter, end);
    base = __shfl_sync(HW_WARP, base, 31);
    if (lane < warps)
        room.count[queue][lane] = base + end - mine;
}

/* Queues what is left in the buffers, for the whole block at once. All threads call it. */
__device__ void flush_block(room_t &room, uint32_t near, uint32_t later)
{
    const uint32_t lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    uint32_t v[queues][slots];

    __syncwarp();
    const uint32_t fresh[queues] = {mark(room, near_queue, near, v[0]),
                                    mark(room, later_queue, later, v[1])};
    const uint32_t count[queues] = {count_of(fresh[0]), count_of(fresh[1])};
    if (lane < queues)
        room.count[lane][warp] = lane == near_queue ? count[0] : count[1];
    __syncthreads();
    if (warp < queues)
        take_room(room, static_cast<int>(warp));
    __syncthreads();
#pragma unroll
    for (int q = 0; q < queues; q++)
        if (count[q])
            write(room.queue[q].list + room.count[q][warp], v[q], fresh[q]);
}

/* Where a search is; the same in all blocks. */
template <int kind> struct place_t {
    bounds<kind> bound;
    uint32_t number, later; /* passes; rings of those that wait */
    uint32_t bucket, rows;
    bool inside;   /* steps inside buckets? */
    bool whole;    /* are lists pushed whole? */
    double span;   /* of the bucket */
    count64 begun; /* lengths of the lists begun in it */
    uint32_t open; /* vertices beyond it at its beginning, reached or not */
};

/* A pass under way, as one lane sees it. */
template <int kind> struct pass_t {
    uint32_t number;
    uint32_t routine, bucket, frontier; /* of the row */
    uint32_t *rows;                     /* their number */
    bounds<kind> bound;
    key_of<kind> from, to;    /* edges whose ends are in [from, to) are relaxed */
    uint32_t near, later;     /* finds of the warp that are not queued yet */
    uint32_t beside;          /* edges of a list that may be left to the block */
    uint32_t edges, pulled;   /* edges of this lane, pushed and pulled */
    uint32_t degrees;         /* likewise */
    key_of<kind> least;       /* likewise */
    uint32_t open, unreached; /* likewise */
};

template <typename T> __device__ __forceinline__ T *one_of(T *const two[2], uint32_t number)
{
    return number & 1 ? two[1] : two[0];
}

/* once: is no vertex found twice? marked: do those that are to wait have marks already? */
template <int kind>
__device__ void begin_pass(const plan_t &plan, room_t &room, pass_t<kind> &pass,
                           place_t<kind> &place, uint32_t routine, uint32_t frontier, bool once,
                           bool marked)
{
    hw_delta_control *control = plan.control;
    const uint32_t number = place.number, later = place.later;

    pass.number = number;
    pass.routine = routine;
    pass.bucket = place.bucket;
    pass.frontier = frontier;
    pass.rows = &place.rows;
    pass.near = pass.later = 0;
    pass.beside = block_edges;
    pass.edges = pass.pulled = pass.degrees = 0;
    pass.open = pass.unreached = 0;
    pass.least = hw_keys<kind>::none;
    if (threadIdx.x == 0) {
        room.queue[near_queue] =
            queue_t{one_of(plan.near, number + 1), &control->ring[(number + 1) & 3].near,
                    once ? nullptr : one_of(plan.near_bits, number + 1)};
        room.queue[later_queue] = queue_t{one_of(plan.later, later), &control->later[later % 3],
                                          marked ? nullptr : plan.later_bits};
        room.pieces = room.left = 0;
        room.sum = hw_delta_ring{0, 0, 0, 0, INT64_MAX, 0, 0, 0, {}};
    }
    if (hw_first() == 0)
        control->ring[(number + 2) & 3] = hw_delta_ring{0, 0, 0, 0, INT64_MAX, 0, 0, 0, {}};
    __syncthreads();
}

/* The sum over a warp of counts that might pass 32 bits together. */
__device__ __forceinline__ count64 warp_sum(uint32_t mine)
{
    return (static_cast<count64>(hw_warp_sum(mine >> 16)) << 16) + hw_warp_sum(mine & 0xffff);
}

template <typename T> __device__ __forceinline__ T warp_least(T mine)
{
    for (int half = 16; half; half /= 2) {
        const T other = __shfl_xor_sync(HW_WARP, mine, half);
        mine = other < mine ? other : mine;
    }
    return mine;
}

/* Takes the counters of a pass that has ended into shared memory: read by every warp, they
 * would be a queue before one slice of the cache. */
__device__ void look(const plan_t &plan, room_t &room, uint32_t number)
{
    const uint32_t words = sizeof(hw_delta_ring) / 4, at = threadIdx.x;
    const uint32_t *ring = reinterpret_cast<const uint32_t *>(&plan.control->ring[number & 3]);

    if (at < words)
        reinterpret_cast<uint32_t *>(&room.seen)[at] = hw_latest(ring + at);
    else if (at < words + 3)
        room.later[at - words] = hw_latest(&plan.control->later[at - words]);
    __syncthreads();
}

/* Adds up the counters of the block. */
template <int kind> __device__ __forceinline__ void add_up(room_t &room, const pass_t<kind> &pass)
{
    const bool first = (threadIdx.x & 31) == 0;
    const count64 pushed = warp_sum(pass.edges), degrees = warp_sum(pass.degrees);

    if (first && pushed)
        atomicAdd(&room.sum.pushed, pushed);
    if (first && degrees)
        atomicAdd(&room.sum.degrees, degrees);
    if (!__any_sync(HW_WARP, pass.least != hw_keys<kind>::none || pass.open || pass.unreached ||
                                 pass.pulled))
        return;
    const count64 pulled = warp_sum(pass.pulled);
    const uint32_t open = hw_warp_sum(pass.open), unreached = hw_warp_sum(pass.unreached);
    const key_of<kind> least = warp_least(pass.least);
    if (!first)
        return;
    atomicAdd(&room.sum.pulled, pulled);
    atomicAdd(&room.sum.open, open);
    atomicAdd(&room.sum.unreached, unreached);
    atomicMin(&room.sum.least, static_cast<long long>(least));
}

/* One thread of the block hands its sums over. */
__device__ __forceinline__ void hand_over(const hw_delta_ring &sum, hw_delta_ring *to)
{
    if (sum.pushed)
        atomicAdd(&to->pushed, sum.pushed);
    if (sum.pulled)
        atomicAdd(&to->pulled, sum.pulled);
    if (sum.degrees)
        atomicAdd(&to->degrees, sum.degrees);
    if (sum.open)
        atomicAdd(&to->open, sum.open);
    if (sum.unreached)
        atomicAdd(&to->unreached, sum.unreached);
    if (sum.least != INT64_MAX)
        atomicMin(&to->least, sum.least);
}

/* Counters and queues of the block; then the barrier. */
template <int kind>
__device__ void end_pass(const plan_t &plan, room_t &room, pass_t<kind> &pass, cg::grid_group &grid)
{
    hw_delta_ring *next = &plan.control->ring[(pass.number + 1) & 3];

    const bool mine = pass.near || pass.later || pass.edges || pass.pulled || pass.degrees ||
                      pass.open || pass.unreached || pass.least != hw_keys<kind>::none;
    if (__syncthreads_or(mine)) { /* most blocks have nothing in small passes */
        add_up(room, pass);
        flush_block(room, pass.near, pass.later);
        if (threadIdx.x == 64) /* all have added: flush_block() waits for them */
            hand_over(room.sum, next);
    }
    grid.sync();
    look(plan, room, pass.number + 1);
}

/* Queues a vertex of this key; all lanes call it. */
template <int kind>
__device__ __forceinline__ void queue(room_t &room, pass_t<kind> &pass, bool wanted, uint32_t v,
                                      key_of<kind> key)
{
    const bool near = key < pass.bound.near;

    keep(room, near_queue, pass.near, wanted && near, v);
    keep(room, later_queue, pass.later, wanted && !near && key < pass.bound.high, v);
}

/* ---- pushing ---- */

/* The hint that an edge is (paths.h). */
template <int kind>
__device__ __forceinline__ void put_hint(const plan_t &plan, uint32_t v, uint32_t source,
                                         key_of<kind> from, uint32_t weight, key_of<kind> key)
{
    const uint2 hint = kind == HW_GPU_KEY_I64 ? make_uint2(source, weight)
                                              : make_uint2(from < key ? source : HW_RANK_NONE,
                                                           static_cast<uint32_t>(key));

    reinterpret_cast<uint2 *>(plan.paths.hint)[v] = hint;
}

/* Relaxes so many edges of each lane, all from one source; those to be left out go to
 * HW_RANK_NONE. */
template <int N, int kind>
__device__ __forceinline__ void relax(const plan_t &plan, room_t &room, pass_t<kind> &pass,
                                      const hw_gpu_edge (&edge)[N], const key_of<kind> (&next)[N],
                                      uint32_t source, key_of<kind> from)
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

/* Where a lane looks for the end of a list as far as it matters. */
__device__ __forceinline__ uint64_t probe_at(uint32_t from, uint32_t length)
{
    const uint32_t lane = threadIdx.x & 31;

    return lane < 24 ? from + (static_cast<uint64_t>(piece_edges) << lane) : length;
}

/* What is there: asked for early, since it takes long to come. */
__device__ __forceinline__ uint32_t probe(const hw_gpu_edge *list, uint32_t from, uint32_t length)
{
    const uint64_t at = probe_at(from, length);

    return at < length ? __ldg(&list[at].weight) : 0;
}

/* The end of a list as far as it matters, within a factor of two. The whole warp calls it. */
template <int kind>
__device__ __forceinline__ uint32_t reach(uint32_t probed, uint32_t from, uint32_t length,
                                          key_of<kind> key, key_of<kind> to)
{
    const uint64_t at = probe_at(from, length);
    const bool beyond = at >= length || hw_further<kind>(key, probed) >= to;
    const uint32_t all = __ballot_sync(HW_WARP, beyond);
    const uint32_t first = __ffs(all) - 1; /* lanes from 24 on are beyond */

    return static_cast<uint32_t>(
        min(static_cast<uint64_t>(length),
            from + (first < 24 ? static_cast<uint64_t>(piece_edges) << first : length)));
}

/* Leaves the rest of a list to the next pass. Returns whether there was room: there is, but
 * where blocks go on by themselves and meet a vertex again and again. */
template <int kind>
__device__ __forceinline__ bool leave(const plan_t &plan, room_t &room, pass_t<kind> &pass,
                                      uint32_t v, uint32_t from, uint32_t end)
{
    const count64 chunks = (end - from + HW_DELTA_CHUNK - 1) / HW_DELTA_CHUNK;
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
    one_of(plan.heavy, pass.number + 1)[at] =
        hw_delta_heavy{v, from, end, static_cast<uint32_t>(was & ((1ull << chunk_bits) - 1))};
    return true;
}

/* A piece of one list by the whole warp. Returns false where what follows it is beyond; of a
 * length that is no multiple of 128, too. */
template <int kind>
__device__ __forceinline__ bool push_piece(const plan_t &plan, room_t &room, pass_t<kind> &pass,
                                           const hw_gpu_edge *list, uint32_t from, uint32_t end,
                                           uint32_t source, key_of<kind> key)
{
    const uint32_t lane = threadIdx.x & 31;

    for (uint32_t at = from; at < end; at += 128) {
        hw_gpu_edge edge[4];
        key_of<kind> next[4];
        bool last = true;
#pragma unroll
        for (int k = 0; k < 4; k++) {
            const uint32_t p = at + 32 * k + lane;
            edge[k] = p < end ? hw_read_edge(list + p) : hw_gpu_edge{HW_RANK_NONE, 0};
        }
#pragma unroll
        for (int k = 0; k < 4; k++) {
            const bool there = at + 32 * k + lane < end;
            next[k] = there ? hw_further<kind>(key, edge[k].weight) : hw_keys<kind>::none;
            last = there && next[k] < pass.to;
            if (!last)
                edge[k].rank = HW_RANK_NONE;
            pass.edges += last;
        }
        relax<4, kind>(plan, room, pass, edge, next, source, key);
        if (!__all_sync(HW_WARP, last)) /* of the last 32: lists rise */
            return false;
    }
    return true;
}

/* A list under way, one a lane. */
template <int kind> struct list_t {
    uint32_t source, length, at; /* at: the next edge */
    key_of<kind> key;
    const hw_gpu_edge *edge;
    bool more; /* may the next edge end inside the bounds? */
};

template <typename Offset, int kind>
__device__ __forceinline__ list_t<kind> begin_list(const plan_t &plan, pass_t<kind> &pass,
                                                   uint32_t v)
{
    list_t<kind> list = {v, 0, 0, 0, plan.paths.out, v != HW_RANK_NONE};

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

/* Four edges of a list by this lane: those at `at`, `at` + step and so on. Returns whether
 * the last of them is there and ends inside the bounds. */
template <int kind>
__device__ __forceinline__ bool push_four(const plan_t &plan, room_t &room, pass_t<kind> &pass,
                                          const list_t<kind> &list, uint32_t at, uint32_t step)
{
    hw_gpu_edge edge[4];
    key_of<kind> next[4];
    bool inside = false;

#pragma unroll
    for (uint32_t k = 0; k < 4; k++)
        edge[k] = list.more && at + step * k < list.length ? hw_read_edge(list.edge + at + step * k)
                                                           : hw_gpu_edge{HW_RANK_NONE, 0};
#pragma unroll
    for (uint32_t k = 0; k < 4; k++) {
        const bool there = list.more && at + step * k < list.length;
        next[k] = there ? hw_further<kind>(list.key, edge[k].weight) : hw_keys<kind>::none;
        inside = there && next[k] < pass.to;
        if (!inside)
            edge[k].rank = HW_RANK_NONE;
        pass.edges += inside;
    }
    relax<4, kind>(plan, room, pass, edge, next, list.source, list.key);
    return inside;
}

/* Another lane's list. */
template <int kind>
__device__ __forceinline__ list_t<kind> list_from(const list_t<kind> &list, int lane)
{
    return list_t<kind>{__shfl_sync(HW_WARP, list.source, lane),
                        __shfl_sync(HW_WARP, list.length, lane),
                        __shfl_sync(HW_WARP, list.at, lane),
                        __shfl_sync(HW_WARP, list.key, lane),
                        reinterpret_cast<const hw_gpu_edge *>(
                            __shfl_sync(HW_WARP, reinterpret_cast<count64>(list.edge), lane)),
                        true};
}

/* Four lists at once, 32 edges of each, while there are more than two of those that are not
 * long. */
template <int kind>
__device__ __forceinline__ void push_groups(const plan_t &plan, room_t &room, pass_t<kind> &pass,
                                            list_t<kind> &list)
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

/* Leaves a list to all warps of the block. Returns whether there was room. */
template <int kind>
__device__ __forceinline__ bool leave_beside(room_t &room, const list_t<kind> &list, uint32_t from,
                                             uint32_t end)
{
    const uint32_t chunks = (end - from + piece_edges - 1) / piece_edges;
    uint32_t was = pieces_most << piece_bits;

    if ((threadIdx.x & 31) == 0 && hw_latest(&room.pieces) >> piece_bits < pieces_most)
        was = atomicAdd(&room.pieces, 1u << piece_bits | chunks);
    was = __shfl_sync(HW_WARP, was, 0);
    const uint32_t at = was >> piece_bits;
    if (at >= pieces_most)
        return false;
    if ((threadIdx.x & 31) == 0)
        room.piece[at] = piece_t{list.edge, static_cast<long long>(list.key), list.source, from,
                                 end,       was & ((1u << piece_bits) - 1)};
    return true;
}

/* What is left of a list: the next edges to the block, more to all. */
template <int kind>
__device__ __forceinline__ void share_rest(const plan_t &plan, room_t &room, pass_t<kind> &pass,
                                           const list_t<kind> &list, uint32_t from, uint32_t probed)
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
__device__ __forceinline__ void push_lists(const plan_t &plan, room_t &room, pass_t<kind> &pass,
                                           uint32_t v, bool many)
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
__device__ void push_beside(const plan_t &plan, room_t &room, pass_t<kind> &pass)
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

/* How many vertices each of so many warps takes at a time: as many each time. */
__device__ __forceinline__ uint32_t share(uint32_t count, uint64_t warps_there)
{
    const uint64_t each = (count + warps_there - 1) / warps_there, times = (each + 31) / 32;

    return each < 1 ? 1 : static_cast<uint32_t>((each + times - 1) / times);
}

/* Chunks of long lists that the pass before left. */
template <typename Offset, int kind>
__device__ void push_heavy(const plan_t &plan, room_t &room, pass_t<kind> &pass, count64 packed)
{
    const hw_delta_heavy *heavy = one_of(plan.heavy, pass.number);
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
        const count64 from = words.y + (c - words.w) * HW_DELTA_CHUNK;
        if (from >= words.z) /* chunks that found no room */
            continue;
        const uint32_t end =
            static_cast<uint32_t>(min(static_cast<count64>(words.z), from + HW_DELTA_CHUNK));
        const key_of<kind> key = __ldcg(distances<kind>(plan) + words.x);
        push_piece<kind>(plan, room, pass,
                         plan.paths.out + hw_begin<Offset>(plan.graph.out, words.x),
                         static_cast<uint32_t>(from), end, words.x, key);
    }
}

/* One more row, if rows are wanted. */
template <int kind>
__device__ __forceinline__ void add_row(const plan_t &plan, const pass_t<kind> &pass,
                                        uint32_t found, count64 pushed, count64 pulled)
{
    if (!plan.row || hw_first() != 0)
        return;
    hw_gpu_path_row *row = plan.row + min(*pass.rows, plan.row_capacity - 1);
    if (*pass.rows < plan.row_capacity)
        *row = hw_gpu_path_row{pass.routine, pass.bucket, 0, 0, 0, 0, 0, 0};
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
__device__ void push_local(const plan_t &plan, room_t &room, pass_t<kind> &pass, uint32_t rounds,
                           uint32_t most)
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
                                                                   : HW_RANK_NONE,
                                     each > few_lists);
        push_beside<kind>(plan, room, pass);
    }
}

/* Pushes what is in the queue, so many blocks together, of which this is number `block`. */
template <typename Offset, int kind>
__device__ __forceinline__ void push_queue(const plan_t &plan, room_t &room, pass_t<kind> &pass,
                                           uint32_t count, uint32_t block, uint32_t blocks)
{
    const uint32_t *near = one_of(plan.near, pass.number);
    uint32_t *bits = one_of(plan.near_bits, pass.number);
    const uint32_t lane = threadIdx.x & 31;
    const uint64_t all = static_cast<uint64_t>(blocks) * warps;
    const uint32_t each = share(count, all);

    for (uint64_t i = (threadIdx.x / 32) * static_cast<uint64_t>(blocks) + block; i * each < count;
         i += all) {
        const bool there = lane < each && i * each + lane < count;
        const uint32_t v = there ? __ldcg(near + i * each + lane) : HW_RANK_NONE;
        if (there && v < plan.graph.core)
            bits[v >> 5] = 0; /* all bits of the word are of this pass */
        push_lists<Offset, kind>(plan, room, pass, v, each > few_lists);
    }
}

/* Pushes what is in the queue and the long lists. */
template <typename Offset, int kind>
__device__ void push(const plan_t &plan, room_t &room, pass_t<kind> &pass, uint32_t count,
                     count64 heavy)
{
    const uint32_t alone_most = plan.whole ? alone_whole : alone_short;
    const bool alone = heavy == 0 && count <= alone_most;
    const uint32_t rounds = plan.whole ? rounds_whole : rounds_short;

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
__device__ void push_root(const plan_t &plan, room_t &room, pass_t<kind> &pass)
{
    if (blockIdx.x != 0)
        return;
    push_queue<Offset, kind>(plan, room, pass, 1, 0, 1);
    push_beside<kind>(plan, room, pass);
}

/* Pushes the long edges of all that lies in the bucket. */
template <typename Offset, int kind>
__device__ void push_long(const plan_t &plan, room_t &room, pass_t<kind> &pass)
{
    const uint32_t lane = threadIdx.x & 31, words = (plan.graph.core + 31) / 32;

    /* By turns of blocks: hubs are next to each other. */
    for (uint64_t w = (threadIdx.x / 32) * static_cast<uint64_t>(gridDim.x) + blockIdx.x; w < words;
         w += hw_stride() / 32) {
        const uint32_t v = static_cast<uint32_t>(w) * 32 + lane;
        const key_of<kind> key =
            v < plan.graph.core ? __ldcg(distances<kind>(plan) + v) : hw_keys<kind>::none;
        const bool inside = key >= pass.bound.low && key < pass.bound.high;
        if (__any_sync(HW_WARP, inside))
            push_lists<Offset, kind>(plan, room, pass, inside ? v : HW_RANK_NONE, true);
    }
    push_beside<kind>(plan, room, pass);
}

/* ---- pulling ---- */

template <int kind> struct pulled_t {
    key_of<kind> key, from; /* from: of the source */
    uint32_t source, weight;
};

/* Takes an edge to an inner vertex where it is better. */
template <int kind>
__device__ __forceinline__ void take(const key_of<kind> *distance, const bounds<kind> &bound,
                                     const hw_gpu_edge &edge, pulled_t<kind> &best)
{
    const key_of<kind> from = __ldca(distance + edge.rank);

    if (from >= bound.high)
        return;
    const key_of<kind> next = hw_further<kind>(from, edge.weight);
    if (next < best.key)
        best = pulled_t<kind>{next, from, edge.rank, edge.weight};
}

/* The rest of a list by the whole warp. */
template <int kind>
__device__ __forceinline__ pulled_t<kind>
pull_rest(const plan_t &plan, pass_t<kind> &pass, const bounds<kind> &bound,
          const hw_gpu_edge *list, uint32_t from, uint32_t length, pulled_t<kind> best)
{
    const uint32_t lane = threadIdx.x & 31;

    for (uint32_t at = from; at < length; at += 32) {
        const bool there = at + lane < length;
        const hw_gpu_edge edge =
            there ? hw_read_edge(list + at + lane) : hw_gpu_edge{HW_RANK_NONE, 0};
        const bool good = there && hw_further<kind>(bound.low, edge.weight) < best.key;
        const key_of<kind> before = best.key;
        if (good) {
            pass.pulled++;
            take<kind>(distances<kind>(plan), bound, edge, best);
        }
        const key_of<kind> least = warp_least(best.key);
        if (least < before) {
            const int who = __ffs(__ballot_sync(HW_WARP, best.key == least)) - 1;
            best.key = least;
            best.from = __shfl_sync(HW_WARP, best.from, who);
            best.source = __shfl_sync(HW_WARP, best.source, who);
            best.weight = __shfl_sync(HW_WARP, best.weight, who);
        }
        if (!__all_sync(HW_WARP, good))
            break;
    }
    return best;
}

/* The list of one vertex a lane, each of which is beyond the bucket. */
template <typename Offset, int kind>
__device__ pulled_t<kind> pull_lists(const plan_t &plan, pass_t<kind> &pass,
                                     const bounds<kind> &bound, uint32_t v, pulled_t<kind> best)
{
    const hw_gpu_edge *list = plan.paths.in;
    const key_of<kind> *distance = distances<kind>(plan);
    uint32_t length = 0, at = 0;
    bool more = false;

    if (v != HW_RANK_NONE) {
        const Offset begin = hw_begin<Offset>(plan.graph.in, v);
        length = static_cast<uint32_t>(hw_begin<Offset>(plan.graph.in, v + 1) - begin);
        list += begin;
        more = length > 0;
        for (; more && at < length && at < lane_pulls; at += 4) {
            hw_gpu_edge edge[4];
#pragma unroll
            for (uint32_t k = 0; k < 4; k++)
                edge[k] =
                    at + k < length ? hw_read_edge(list + at + k) : hw_gpu_edge{HW_RANK_NONE, 0};
#pragma unroll
            for (uint32_t k = 0; k < 4; k++) {
                more = more && at + k < length &&
                       hw_further<kind>(bound.low, edge[k].weight) < best.key;
                if (more) {
                    pass.pulled++;
                    take<kind>(distance, bound, edge[k], best);
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
        pulled_t<kind> begun = {
            __shfl_sync(HW_WARP, best.key, lane), __shfl_sync(HW_WARP, best.from, lane),
            __shfl_sync(HW_WARP, best.source, lane), __shfl_sync(HW_WARP, best.weight, lane)};
        begun = pull_rest<kind>(plan, pass, bound, edges, __shfl_sync(HW_WARP, at, lane),
                                __shfl_sync(HW_WARP, length, lane), begun);
        if ((threadIdx.x & 31) == static_cast<uint32_t>(lane))
            best = begun;
    }
    return best;
}

/* What a pass over all vertices sees of some words of 32, one of each a lane. */
constexpr uint32_t seen_words = 3;

template <int kind> struct seen_t {
    uint32_t first;               /* the first of the words' vertices, plus the lane */
    key_of<kind> key[seen_words]; /* `past` of those past the last one */
};

template <int kind>
__device__ __forceinline__ seen_t<kind> see(const plan_t &plan, uint64_t group, key_of<kind> past)
{
    seen_t<kind> seen;

    seen.first = static_cast<uint32_t>(group * seen_words * 32) + (threadIdx.x & 31);
#pragma unroll
    for (uint32_t k = 0; k < seen_words; k++)
        seen.key[k] = seen.first + 32 * k < plan.graph.core
                          ? __ldcg(distances<kind>(plan) + seen.first + 32 * k)
                          : past;
    return seen;
}

/* How many such groups there are. */
__device__ __forceinline__ uint64_t groups_of(const plan_t &plan)
{
    return (static_cast<uint64_t>(plan.graph.core) + 32 * seen_words - 1) / (32 * seen_words);
}

/* Counts a vertex beyond the pass's bucket. */
template <int kind>
__device__ __forceinline__ void count_beyond(pass_t<kind> &pass, key_of<kind> key)
{
    pass.open += key != hw_keys<kind>::none;
    pass.unreached += key == hw_keys<kind>::none;
    pass.least = min(pass.least, key);
}

/* One vertex a lane beyond the bucket `from` looks for the best neighbour inside it, and pushes
 * its edges at once if it is in the pass's bucket now. */
template <typename Offset, int kind>
__device__ __forceinline__ void pull_warp(const plan_t &plan, room_t &room, pass_t<kind> &pass,
                                          const bounds<kind> &from, uint32_t v)
{
    key_of<kind> *distance = distances<kind>(plan);
    key_of<kind> key = v != HW_RANK_NONE ? __ldcg(distance + v) : 0;
    const pulled_t<kind> best =
        pull_lists<Offset, kind>(plan, pass, from, v, pulled_t<kind>{key, 0, HW_RANK_NONE, 0});

    if (v != HW_RANK_NONE && best.source != HW_RANK_NONE) {
        key = lower(distance + v, best.key); /* others push to it meanwhile */
        if (best.key < key) {
            put_hint<kind>(plan, v, best.source, best.from, best.weight, best.key);
            key = best.key;
        }
    }
    const bool inside = v != HW_RANK_NONE && key < pass.bound.high;
    if (v != HW_RANK_NONE && !inside)
        count_beyond(pass, key);
    if (__any_sync(HW_WARP, inside))
        push_lists<Offset, kind>(plan, room, pass, inside ? v : HW_RANK_NONE, true);
}

/* May the first edge of a list lead from `key` to below `to`? */
template <int kind>
__device__ __forceinline__ bool leads(const hw_gpu_edge &first, key_of<kind> key, key_of<kind> to)
{
    return first.rank != HW_RANK_NONE && hw_further<kind>(key, first.weight) < to;
}

/* Whether a vertex of this key beyond the bucket `from` has anything to pull or to push; counts
 * those that have not. */
template <int kind>
__device__ __forceinline__ bool busy(const plan_t &plan, pass_t<kind> &pass,
                                     const bounds<kind> &from, uint32_t v, key_of<kind> key,
                                     const hw_gpu_edge &first)
{
    const bool inside = key < pass.bound.high;

    if (leads<kind>(first, from.low, key))
        return true;
    if (!inside) {
        count_beyond(pass, key);
        return false;
    }
    if (leads<kind>(plan.graph.directed ? hw_read_edge(plan.first_out + v) : first, key, pass.to))
        return true;
    pass.degrees += plan.mean_degree;
    return false;
}

/* Puts those of some words that have anything to do into `waits`, after so many. */
template <int kind>
__device__ __forceinline__ uint32_t find_busy(const plan_t &plan, pass_t<kind> &pass,
                                              const bounds<kind> &from, uint64_t group,
                                              uint32_t *waits, uint32_t waiting)
{
    const seen_t<kind> seen = see<kind>(plan, group, 0);
    const uint32_t below = (1u << (threadIdx.x & 31)) - 1;
    hw_gpu_edge first[seen_words];

#pragma unroll
    for (uint32_t k = 0; k < seen_words; k++)
        first[k] = seen.key[k] >= from.high ? hw_read_edge(plan.first_in + seen.first + 32 * k)
                                            : hw_gpu_edge{HW_RANK_NONE, 0};
#pragma unroll
    for (uint32_t k = 0; k < seen_words; k++) {
        const uint32_t v = seen.first + 32 * k;
        const bool wanted =
            seen.key[k] >= from.high && busy<kind>(plan, pass, from, v, seen.key[k], first[k]);
        const uint32_t all = __ballot_sync(HW_WARP, wanted);
        if (wanted)
            waits[waiting + __popc(all & below)] = v;
        waiting += __popc(all);
    }
    __syncwarp();
    return waiting;
}

/* Whatever is beyond the bucket `from` pulls, and pushes if it is in the pass's bucket then.
 * Those with anything to do wait until they fill a warp, where no others of this pass are. */
template <typename Offset, int kind>
__device__ void pull(const plan_t &plan, room_t &room, pass_t<kind> &pass, const bounds<kind> &from)
{
    static_assert(31 + 32 * seen_words <= buffered, "waiting vertices have room");
    uint32_t *waits = room.find[later_queue][threadIdx.x / 32];
    const uint32_t lane = threadIdx.x & 31;
    uint32_t waiting = 0;

    for (uint64_t g = hw_first() / 32;; g += hw_stride() / 32) {
        const bool more = g < groups_of(plan);
        if (more)
            waiting = find_busy<kind>(plan, pass, from, g, waits, waiting);
        while (waiting >= (more ? 32 : 1)) {
            const uint32_t count = min(waiting, 32u);
            waiting -= count;
            const uint32_t v = lane < count ? waits[waiting + lane] : HW_RANK_NONE;
            __syncwarp();
            pull_warp<Offset, kind>(plan, room, pass, from, v);
        }
        if (!more)
            break;
    }
    push_beside<kind>(plan, room, pass);
}

/* ---- between steps ---- */

/* Queues all that is in the bucket. */
template <int kind> __device__ void collect(const plan_t &plan, room_t &room, pass_t<kind> &pass)
{
    for (uint64_t g = hw_first() / 32; g < groups_of(plan); g += hw_stride() / 32) {
        const seen_t<kind> seen = see<kind>(plan, g, pass.bound.low - 1);
#pragma unroll
        for (uint32_t k = 0; k < seen_words; k++) {
            const key_of<kind> key = seen.key[k];
            const bool inside = key >= pass.bound.low && key < pass.bound.high;
            if (key >= pass.bound.high)
                count_beyond(pass, key);
            if (__any_sync(HW_WARP, inside))
                queue(room, pass, inside, seen.first + 32 * k, key);
        }
    }
}

/* Takes what the step holds from those that waited; what was settled since is dropped. */
template <int kind>
__device__ void next_step(const plan_t &plan, room_t &room, pass_t<kind> &pass,
                          const uint32_t *list, uint32_t count, key_of<kind> settled)
{
    const uint32_t lane = threadIdx.x & 31;

    for (uint64_t i = hw_first(); i - lane < count; i += hw_stride()) {
        const uint32_t v = i < count ? __ldcg(list + i) : HW_RANK_NONE;
        const key_of<kind> key = i < count ? __ldcg(distances<kind>(plan) + v) : 0;
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

template <int kind> __device__ void begin(const plan_t &plan, uint32_t root)
{
    const uint64_t words = plan.graph.core / 32 + 1;
    hw_delta_control *control = plan.control;

    for (uint64_t v = hw_first(); v < plan.graph.active; v += hw_stride())
        distances<kind>(plan)[v] = v == root ? 0 : hw_keys<kind>::none;
    for (uint64_t w = hw_first(); w < words; w += hw_stride())
        plan.near_bits[0][w] = plan.near_bits[1][w] = plan.later_bits[w] = 0;
    if (hw_first() != 0)
        return;
    for (int ring = 0; ring < 4; ring++)
        control->ring[ring].least = INT64_MAX;
    plan.near[0][0] = root;
    control->ring[0].near = root < plan.graph.active;
    control->begun = static_cast<count64>(clock64());
    control->begun_time = hw_nanoseconds();
}

/* Vertices of degree 1 take their only neighbour. */
template <typename Offset, int kind>
__device__ void settle_leaves(const plan_t &plan, uint32_t root)
{
    key_of<kind> *distance = distances<kind>(plan);

    for (uint64_t i = plan.graph.core + hw_first(); i < plan.graph.active; i += hw_stride()) {
        const uint32_t v = static_cast<uint32_t>(i);
        const Offset begin = hw_begin<Offset>(plan.graph.in, v);
        if (v == root || begin == hw_begin<Offset>(plan.graph.in, v + 1))
            continue;
        const hw_gpu_edge edge = hw_read_edge(plan.paths.in + begin);
        const key_of<kind> from = edge.rank < plan.graph.core || edge.rank == root
                                      ? distance[edge.rank]
                                      : hw_keys<kind>::none;
        if (from == hw_keys<kind>::none)
            continue;
        const key_of<kind> key = hw_further<kind>(from, edge.weight);
        distance[v] = key;
        put_hint<kind>(plan, v, edge.rank, from, edge.weight, key);
    }
}

/* What the row of a pass says, beside what its beginning does. */
template <int kind>
__device__ void keep_row(const plan_t &plan, const room_t &room, const pass_t<kind> &pass)
{
    const hw_delta_ring &seen = room.seen;

    add_row(plan, pass, seen.near, seen.pushed, seen.pulled);
}

/* ---- before any search ---- */

/* The first edge of each list. */
template <typename Offset>
__global__ void take_firsts(const hw_gpu_graph graph, const hw_gpu_lists lists,
                            const hw_gpu_edge *edge, hw_gpu_edge *first)
{
    for (uint64_t i = hw_first(); i < graph.core; i += hw_stride()) {
        const uint32_t v = static_cast<uint32_t>(i);
        const Offset begin = hw_begin<Offset>(lists, v);
        first[v] =
            begin < hw_begin<Offset>(lists, v + 1) ? edge[begin] : hw_gpu_edge{HW_RANK_NONE, 0};
    }
}

/* ---- the search ---- */

template <typename Offset, int kind>
__device__ __noinline__ void push_pass(const plan_t &plan, room_t &room, cg::grid_group &grid,
                                       place_t<kind> &place, uint32_t routine, bool whole,
                                       count64 &edges)
{
    const uint32_t count = room.seen.near;
    const count64 heavy = room.seen.heavy;
    pass_t<kind> pass;

    begin_pass(plan, room, pass, place, routine, count, false, false);
    pass.bound = place.bound;
    pass.from = 0;
    pass.to = whole ? hw_keys<kind>::none : place.bound.high;
    if (routine == HW_DELTA_ROOT)
        push_root<Offset, kind>(plan, room, pass);
    else
        push<Offset, kind>(plan, room, pass, count, heavy);
    end_pass(plan, room, pass, grid);
    edges += room.seen.pushed;
    place.begun += room.seen.degrees;
    keep_row(plan, room, pass);
    place.number++;
}

__device__ __forceinline__ bool queued(const room_t &room)
{
    return room.seen.near > 0 || room.seen.heavy > 0;
}

/* Begins a pass that fills another list of those that wait. The one before stays as it is, so
 * that blocks which come late decide from the same number what comes next. */
template <int kind>
__device__ void begin_filling(const plan_t &plan, room_t &room, pass_t<kind> &pass,
                              place_t<kind> &place, uint32_t routine, uint32_t frontier, bool once,
                              bool marked)
{
    place.later++;
    begin_pass(plan, room, pass, place, routine, frontier, once, marked);
    if (hw_first() == 0)
        plan.control->later[(place.later + 1) % 3] = 0;
}

/* Goes on to the next step of the bucket. */
template <int kind>
__device__ __noinline__ void step_on(const plan_t &plan, room_t &room, cg::grid_group &grid,
                                     place_t<kind> &place, key_of<kind> near)
{
    const uint32_t count = room.later[place.later % 3];
    const key_of<kind> settled = place.bound.near;
    pass_t<kind> pass;

    place.bound.near = near;
    begin_filling(plan, room, pass, place, HW_DELTA_NEXT_STEP, count, true, true);
    pass.bound = place.bound;
    next_step(plan, room, pass, one_of(plan.later, place.later - 1), count, settled);
    end_pass(plan, room, pass, grid);
    keep_row(plan, room, pass);
    place.number++;
}

/* Where the next step of short lists ends: a width beyond the last one, or beyond the nearest
 * that waits, where the last one found none. */
template <int kind>
__device__ __forceinline__ key_of<kind> next_whole(const room_t &room, place_t<kind> &place,
                                                   bool stepped)
{
    const key_of<kind> from =
        stepped ? static_cast<key_of<kind>>(room.seen.least) : place.bound.near;

    place.bucket++;
    return key_beyond<kind>(from, place.span);
}

/* Settles the bucket. */
template <typename Offset, int kind>
__device__ void settle(const plan_t &plan, room_t &room, cg::grid_group &grid, place_t<kind> &place)
{
    const uint32_t routine = place.whole ? HW_DELTA_PUSH : HW_DELTA_SHORT_PUSH;
    double width = place.span * first_step;
    count64 edges = 0;
    uint32_t passes = 0;
    bool stepped = false;

    for (;;) {
        if (queued(room)) {
            push_pass<Offset, kind>(plan, room, grid, place, routine, place.whole, edges);
            passes++;
            stepped = false;
            continue;
        }
        if (room.later[place.later % 3] == 0)
            break;
        width *= edges < little_work    ? 4
                 : passes <= few_passes ? 2
                 : passes > many_passes ? 0.5
                                        : 1;
        edges = passes = 0;
        const key_of<kind> near = plan.whole ? next_whole<kind>(room, place, stepped)
                                             : key_beyond<kind>(place.bound.near, width);
        step_on(plan, room, grid, place, min(near, place.bound.high));
        stepped = true;
    }
}

/* The next bucket from `low` on. Of short lists, all is one bucket, and its steps have the width
 * of buckets: what waits is known without looking for it. */
template <int kind>
__device__ void open_bucket(const plan_t &plan, place_t<kind> &place, key_of<kind> low, bool tail)
{
    const bool steps = plan.whole || (place.inside && !place.whole && !tail);

    place.bound.low = low;
    place.bound.high = tail || plan.whole ? hw_keys<kind>::none : key_beyond<kind>(low, place.span);
    place.bound.near = place.bound.high;
    if (steps)
        place.bound.near =
            min(place.bound.high,
                key_beyond<kind>(low, plan.whole ? place.span : place.span * first_step));
    place.whole = place.whole || tail;
    place.begun = 0;
    place.bucket++;
}

template <int kind>
__device__ __forceinline__ void count_open(const room_t &room, place_t<kind> &place)
{
    place.open = room.seen.open + room.seen.unreached;
}

/* Queues what the bucket holds; skips what is empty. Returns whether anything is left. */
template <int kind>
__device__ __noinline__ bool fill_bucket(const plan_t &plan, room_t &room, cg::grid_group &grid,
                                         place_t<kind> &place)
{
    for (;;) {
        pass_t<kind> pass;
        begin_filling(plan, room, pass, place, HW_DELTA_NEXT_BUCKET, 0, true, false);
        pass.bound = place.bound;
        collect(plan, room, pass);
        end_pass(plan, room, pass, grid);
        keep_row(plan, room, pass);
        place.number++;
        count_open(room, place);
        if (queued(room) || room.later[place.later % 3] > 0)
            return true;
        const long long least = room.seen.least;
        if (least >= static_cast<long long>(hw_keys<kind>::none))
            return false;
        place.bucket--;
        open_bucket(plan, place, static_cast<key_of<kind>>(least), false);
    }
}

/* Pushes the long edges of the bucket, then what that left. */
template <typename Offset, int kind>
__device__ __noinline__ void long_push(const plan_t &plan, room_t &room, cg::grid_group &grid,
                                       place_t<kind> &place)
{
    for (bool first = true; first || queued(room); first = false) {
        const count64 heavy = room.seen.heavy;
        pass_t<kind> pass;
        begin_pass(plan, room, pass, place, HW_DELTA_LONG_PUSH, 0, false, false);
        pass.bound = place.bound;
        pass.from = place.bound.high;
        pass.to = hw_keys<kind>::none;
        if (first)
            push_long<Offset, kind>(plan, room, pass);
        else
            push_heavy<Offset, kind>(plan, room, pass, heavy);
        end_pass(plan, room, pass, grid);
        keep_row(plan, room, pass);
        place.number++;
    }
}

/* Pulls the long edges of the bucket, and opens the next one and pushes it on the way. Returns
 * whether anything is left. */
template <typename Offset, int kind>
__device__ __noinline__ bool long_pull(const plan_t &plan, room_t &room, cg::grid_group &grid,
                                       place_t<kind> &place, bool tail)
{
    const bounds<kind> from = place.bound;
    pass_t<kind> pass;

    begin_filling(plan, room, pass, place, HW_DELTA_LONG_PULL, 0, false, false);
    open_bucket(plan, place, from.high, tail);
    pass.bound = place.bound;
    pass.from = 0;
    pass.to = place.bound.high;
    pull<Offset, kind>(plan, room, pass, from);
    end_pass(plan, room, pass, grid);
    keep_row(plan, room, pass);
    place.number++;
    count_open(room, place);
    place.begun = room.seen.degrees;
    if (queued(room) || place.begun > 0)
        return true;
    const long long least = room.seen.least;
    if (least >= static_cast<long long>(hw_keys<kind>::none))
        return false;
    place.bucket--;
    open_bucket(plan, place, static_cast<key_of<kind>>(least), tail);
    return fill_bucket(plan, room, grid, place);
}

/* Leaves the bucket. Returns whether there is another. */
template <typename Offset, int kind>
__device__ bool go_on(const plan_t &plan, room_t &room, cg::grid_group &grid, place_t<kind> &place)
{
    const bool grows = plan.adaptive && !plan.whole;
    const bool tail = grows && !place.inside && place.open < plan.graph.core / tail_share;

    if (place.bound.high == hw_keys<kind>::none || place.open == 0)
        return false;
    if (!place.whole && place.begun > 0) {
        const count64 pull = pull_edges * place.open;
        const bool pulls = pull < push_price * place.begun;
        place.inside = place.inside && !pulls;
        if (grows && !place.inside)
            place.span *= growth;
        if (pulls)
            return long_pull<Offset, kind>(plan, room, grid, place, tail);
        long_push<Offset, kind>(plan, room, grid, place);
    }
    open_bucket(plan, place, place.bound.high, tail);
    return fill_bucket(plan, room, grid, place);
}

template <typename Offset>
__device__ __forceinline__ uint64_t length_of(const plan_t &plan, uint32_t v)
{
    return hw_begin<Offset>(plan.graph.out, v + 1) - hw_begin<Offset>(plan.graph.out, v);
}

/* Where the lightest edge of the root ends. */
template <typename Offset, int kind>
__device__ __forceinline__ key_of<kind> first_key(const plan_t &plan, uint32_t root)
{
    return hw_further<kind>(0, plan.paths.out[hw_begin<Offset>(plan.graph.out, root)].weight);
}

/* The row of the vertices of degree 1. */
template <int kind>
__device__ void keep_leaves(const plan_t &plan, const room_t &room, place_t<kind> &place)
{
    pass_t<kind> pass;

    pass.routine = HW_DELTA_LEAVES;
    pass.bucket = place.bucket;
    pass.frontier = 0;
    pass.rows = &place.rows;
    add_row(plan, pass, 0, 0, 0);
}

template <typename Offset, int kind>
__global__ void __launch_bounds__(threads, 1)
    search(const __grid_constant__ plan_t plan, uint32_t root)
{
    __shared__ room_t room;
    cg::grid_group grid = cg::this_grid();
    place_t<kind> place = {};
    count64 edges = 0;
    bool more = root < plan.graph.active;

    begin<kind>(plan, root);
    grid.sync();
    look(plan, room, 0);
    place.inside = true;
    place.whole = plan.whole;
    place.span = plan.width;
    place.open = plan.graph.core;
    place.bucket = UINT32_MAX;
    /* A short list of the root is pushed whole: its edges may all be long. Then nothing is
     * nearer than the end of the first one. */
    const uint64_t length = more ? length_of<Offset>(plan, root) : 0;
    const bool briefly = length > 0 && length <= piece_edges + block_edges;
    open_bucket(plan, place, briefly ? first_key<Offset, kind>(plan, root) : key_of<kind>(0),
                false);
    if (briefly) {
        push_pass<Offset, kind>(plan, room, grid, place, HW_DELTA_ROOT, true, edges);
        place.begun = 0;
    }
    while (more) {
        settle<Offset, kind>(plan, room, grid, place);
        more = go_on<Offset, kind>(plan, room, grid, place);
    }
    settle_leaves<Offset, kind>(plan, root);
    if (plan.row) {
        grid.sync(); /* so that the row ends with the last block */
        keep_leaves(plan, room, place);
        if (hw_first() == 0) {
            plan.control->rows = place.rows;
            plan.control->ended = static_cast<count64>(clock64());
            plan.control->ended_time = hw_nanoseconds();
        }
    }
}

template <typename Offset> const void *kernel_for(int kind)
{
    if (kind == HW_GPU_KEY_F32)
        return reinterpret_cast<const void *>(search<Offset, HW_GPU_KEY_F32>);
    if (kind == HW_GPU_KEY_I32)
        return reinterpret_cast<const void *>(search<Offset, HW_GPU_KEY_I32>);
    return reinterpret_cast<const void *>(search<Offset, HW_GPU_KEY_I64>);
}

const void *kernel_of(const hw_delta_plan *plan)
{
    return plan->graph.wide ? kernel_for<uint64_t>(plan->paths.kind)
                            : kernel_for<uint32_t>(plan->paths.kind);
}

} // namespace

int hw_delta_launch_shape(const hw_delta_plan *plan, hw_delta_shape *shape)
{
    int device = 0, processors = 0, resident = 0;
    cudaError_t error = cudaGetDevice(&device);

    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    if (error == cudaSuccess)
        error =
            cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel_of(plan), threads, 0);
    if (error == cudaSuccess && resident < 1)
        error = cudaErrorLaunchOutOfResources;
    shape->blocks = processors * resident;
    return error;
}

int hw_delta_launch(const hw_delta_plan *plan, const hw_delta_shape *shape, uint32_t root)
{
    void *arguments[] = {const_cast<hw_delta_plan *>(plan), &root};
    cudaError_t error = cudaMemsetAsync(plan->control, 0, sizeof *plan->control, nullptr);

    if (error != cudaSuccess)
        return error;
    return cudaLaunchCooperativeKernel(kernel_of(plan), dim3(shape->blocks), dim3(threads),
                                       arguments, 0, nullptr);
}

static void launch_firsts(const hw_delta_plan *plan, const hw_gpu_lists *lists,
                          const hw_gpu_edge *edge, hw_gpu_edge *first)
{
    const uint32_t blocks = plan->graph.core / threads + 1;

    if (plan->graph.wide)
        take_firsts<uint64_t><<<blocks, threads>>>(plan->graph, *lists, edge, first);
    else
        take_firsts<uint32_t><<<blocks, threads>>>(plan->graph, *lists, edge, first);
}

int hw_delta_launch_firsts(const hw_delta_plan *plan)
{
    launch_firsts(plan, &plan->graph.in, plan->paths.in, plan->first_in);
    cudaError_t error = cudaGetLastError();

    if (error != cudaSuccess || !plan->graph.directed)
        return error;
    launch_firsts(plan, &plan->graph.out, plan->paths.out, plan->first_out);
    return cudaGetLastError();
}
