/*
 * Method `scan2d` on a grid of GPUs: the gathered frontier. The sets that the parts of the grid
 * column sent become a queue of adjacency lists with the exclusive prefix sums of their lengths.
 *
 * Each list is sorted by position within blocks, so that rows at the first positions, the hubs
 * under --order degree, come first. Once all rows below some position are visited, the entries of
 * such rows are skipped: the last four entries of all lists, stored apart, are visited at once, and
 * only lists that may have more unvisited entries are queued, from a bisection of the list on. (The
 * paper examines every edge.)
 */
#ifndef HOPWAVE_GPU_BFS_GRID2D_SCAN2D_GATHER_CUH
#define HOPWAVE_GPU_BFS_GRID2D_SCAN2D_GATHER_CUH

#include "gpu/bfs/grid2d/scan2d_grid_device.cuh"
#include "gpu/device/ptx.cuh"

namespace hw_scan2d_grid
{
namespace
{

constexpr int gathered = 2;               /* columns that a thread gathers at a time */
constexpr uint32_t picked = 16 * threads; /* positions that a block looks through at a time */

/* Columns that a thread gathers, and what is left of their lists. */
template <typename Offset> struct some {
    uint32_t column[gathered]; /* HW_INVALID_VERTEX: none */
    Offset begin[gathered], end[gathered];
};

/* A queue of lists, in one of the places for them. */
template <typename Offset> struct line {
    uint32_t *column;
    Offset *prefix, *shift;
    count64 *size; /* packed */
};

/* The queue of a part of a level: what is left of a queue goes to the other half of its arrays. */
template <typename Offset>
__device__ __forceinline__ line<Offset> line_of(const kernel_params &plan, uint32_t turn)
{
    const uint64_t at = turn ? static_cast<uint64_t>(plan.rows) * plan.block / 2 : 0;

    return {plan.queue + at, static_cast<Offset *>(plan.prefix) + at,
            static_cast<Offset *>(plan.shift) + at, &plan.control->queue[turn]};
}

/* Queues columns. All threads of a block. */
template <typename Offset>
__device__ __forceinline__ void enqueue(const line<Offset> &to, const some<Offset> &of,
                                        shared &room)
{
    count64 own[gathered], sum = 0, before, total;

#pragma unroll
    for (int k = 0; k < gathered; k++) {
        own[k] = packed(of.end[k] - of.begin[k]);
        sum += own[k];
    }
    if (!__syncthreads_or(sum != 0)) /* before the scan uses the room again, too */
        return;
    block_scan(room.scan.edges).ExclusiveSum(sum, before, total);
    if (threadIdx.x == 0)
        room.start = atomicAdd(to.size, total);
    __syncthreads();
    before += room.start;
#pragma unroll
    for (int k = 0; k < gathered; k++) {
        if (own[k]) {
            const Offset edges = static_cast<Offset>(edges_of(before));
            to.column[vertices_of(before)] = of.column[k];
            to.prefix[vertices_of(before)] = edges;
            to.shift[vertices_of(before)] = of.begin[k] - edges;
        }
        before += own[k];
    }
}

/* ---- visited prefixes of lists ---- */

/* The first positions whose rows of all blocks are visited, or 0 where they are too few for
 * lists to be looked through for them. */
__device__ __forceinline__ uint32_t open_from(const kernel_params &plan, uint32_t depth)
{
    const uint32_t open = static_cast<uint32_t>(hw_load_relaxed(&plan.control->open[depth & 1]));

    return open >= plan.block / 128 ? open : 0;
}

/* Finds the first position that some row here is not visited at. All threads of the grid. */
__device__ __noinline__ void find_open(const kernel_params &plan, count64 *open)
{
    uint32_t first = plan.block;

    for (uint32_t m = 0; m < plan.columns; m++) {
        const uint32_t *seen = plan.seen + m * words_of(plan);
        for (uint64_t w = hw_grid_thread(); w < words_of(plan) && w * 32 < first;
             w += hw_grid_threads()) {
            const uint32_t left = ~__ldcg(seen + w);
            if (left)
                first = min(first, static_cast<uint32_t>(w) * 32 + __ffs(left) - 1);
        }
    }
    first = warp_min(first);
    if (lane_of() == 0 && first < hw_load_relaxed(open))
        atomicMin(open, static_cast<count64>(first));
}

/* Visits the last entries of lists, where all at positions below `open` are visited and come
 * first: most lists have few others. What may have more is left in them. Returns how many were
 * visited. */
template <typename Offset>
__device__ __forceinline__ uint32_t visit_ends(const kernel_params &plan, uint32_t open,
                                               some<Offset> &of)
{
    uint32_t row[gathered * ends], looked = 0;

#pragma unroll
    for (int k = 0; k < gathered; k++) {
        uint4 last =
            make_uint4(HW_INVALID_VERTEX, HW_INVALID_VERTEX, HW_INVALID_VERTEX, HW_INVALID_VERTEX);
        if (of.column[k] != HW_INVALID_VERTEX)
            last = __ldcs(plan.ends + of.column[k]);
        row[k * ends] = last.x, row[k * ends + 1] = last.y;
        row[k * ends + 2] = last.z, row[k * ends + 3] = last.w;
    }
#pragma unroll
    for (int i = 0; i < gathered * ends; i++)
        if (row[i] != HW_INVALID_VERTEX && position_of(plan, row[i]) < open)
            row[i] = HW_INVALID_VERTEX;
#pragma unroll
    for (int k = 0; k < gathered; k++) {
        uint32_t count = 0;
#pragma unroll
        for (int j = 0; j < ends; j++)
            count += row[k * ends + j] != HW_INVALID_VERTEX;
        of.begin[k] = of.end[k] = 0;
        if (count == ends) {
            of.begin[k] = hw_begin<Offset>(plan.lists, of.column[k]);
            of.end[k] = hw_begin<Offset>(plan.lists, of.column[k] + 1) - ends;
        }
        looked += count;
    }
    visit<gathered * ends>(visited_of(plan), row, [&](int i) { return of.column[i / ends]; });
    return looked;
}

/* Moves the beginnings of lists to where rows at `open` or after begin: near their ends where most
 * rows are visited. */
template <typename Offset>
__device__ __forceinline__ void leave_out(const kernel_params &plan, uint32_t open,
                                          some<Offset> &of)
{
    auto is_open = [&](Offset e) { return position_of(plan, plan.lists.rank[e]) >= open; };
    Offset upper[gathered];
    bool more = open < plan.block / 8;

#pragma unroll
    for (int k = 0; k < gathered; k++) {
        upper[k] = of.end[k];
        if (!more)
            of.begin[k] = after_visited(of.begin[k], of.end[k], is_open);
    }
    while (more) {
        Offset middle[gathered];
        uint32_t row[gathered];
        more = false;
#pragma unroll
        for (int k = 0; k < gathered; k++) {
            middle[k] = of.begin[k] + (upper[k] - of.begin[k]) / 2;
            row[k] = middle[k] < upper[k] ? plan.lists.rank[middle[k]] : HW_INVALID_VERTEX;
        }
#pragma unroll
        for (int k = 0; k < gathered; k++) {
            if (middle[k] == upper[k])
                continue;
            if (position_of(plan, row[k]) >= open)
                upper[k] = middle[k];
            else
                of.begin[k] = middle[k] + 1;
            more = true;
        }
    }
}

/* ---- deferred lists ---- */

/* Columns whose lists have more than was visited at once, until a block looks where they go on. */
constexpr uint32_t hold_most = 2 * gathered * threads;
template <typename Offset> struct hold {
    uint32_t column[hold_most];
    Offset begin[hold_most], end[hold_most];
    uint32_t count;
};

/* Adds what is left of lists, where there is room for that of the whole block. Whether there is
 * for no more. All threads of the block. */
template <typename Offset>
__device__ __forceinline__ bool put_aside(const some<Offset> &of, hold<Offset> &held)
{
    uint32_t upto = 0;

#pragma unroll
    for (int k = 0; k < gathered; k++) {
        const bool mine = of.begin[k] < of.end[k];
        const uint32_t ballot = __ballot_sync(HW_WARP, mine);
        uint32_t at = 0;
        if (ballot == 0)
            continue;
        if (lane_of() == 0)
            at = atomicAdd(&held.count, __popc(ballot));
        at = __shfl_sync(HW_WARP, at, 0);
        upto = at + __popc(ballot);
        at += __popc(ballot & ((1u << lane_of()) - 1));
        if (mine) {
            held.column[at] = of.column[k];
            held.begin[at] = of.begin[k];
            held.end[at] = of.end[k];
        }
    }
    return __syncthreads_or(upto > hold_most - gathered * threads);
}

/* Queues what was put aside, from where rows at `open` or after begin. All threads of a block,
 * which wait for each other before. */
template <typename Offset>
__device__ __noinline__ void queue_held(const kernel_params &plan, uint32_t open,
                                        hold<Offset> &held, shared &room)
{
    const uint32_t count = held.count;

    for (uint32_t base = 0; base < count; base += gathered * threads) {
        some<Offset> of;
#pragma unroll
        for (int k = 0; k < gathered; k++) {
            const uint32_t i = base + k * threads + threadIdx.x;
            of.column[k] = i < count ? held.column[i] : HW_INVALID_VERTEX;
            of.begin[k] = i < count ? held.begin[i] : 0;
            of.end[k] = i < count ? held.end[i] : 0;
        }
        leave_out(plan, open, of);
        enqueue(line_of<Offset>(plan, 0), of, room);
    }
    __syncthreads();
    if (threadIdx.x == 0)
        held.count = 0;
    __syncthreads();
}

/* ---- gathering ---- */

/* Positions of a set that a block looks through at a time: those that are in it. */
struct picks {
    uint16_t at[picked];
};

/* The at-th position that this block looks through in its turn-th time: blocks take words by
 * turns, since the lists of positions that are close to each other are of like lengths. */
__device__ __forceinline__ uint32_t picked_at(uint32_t turn, uint32_t at)
{
    return ((turn * (picked / 32) + at / 32) * gridDim.x + blockIdx.x) * 32 + (at & 31);
}

/* Finds which of this block's positions are in a bitmap, and asks for the ends of their lists.
 * Returns how many. All threads of the block. */
__device__ __forceinline__ uint32_t pick(const kernel_params &plan, const uint32_t *set,
                                         const uint4 *ends_of, uint32_t turn, picks &of,
                                         shared &room)
{
    const uint32_t first = 16 * threadIdx.x, position = picked_at(turn, first);
    uint32_t bits = 0, at, total;

    if (position < plan.block)
        bits = __ldcg(set + position / 32) >> (first & 16) & 0xffff;
    if (bits & 0xff) /* a line of ends each */
        hw_prefetch_l2(ends_of + position);
    if (bits & 0xff00)
        hw_prefetch_l2(ends_of + position + 8);
    __syncthreads(); /* the last ones are used */
    word_scan(room.scan.words).ExclusiveSum(__popc(bits), at, total);
    for (; bits; bits &= bits - 1)
        of.at[at++] = static_cast<uint16_t>(first + __ffs(bits) - 1);
    __syncthreads();
    return total;
}

/* Up to gathered * threads columns of the frontier, into the queue or put aside, unless what is
 * not visited of them is at their ends. column(k): the k-th of this thread, or HW_INVALID_VERTEX.
 * Returns the edges that were visited at once. All threads of the block. */
template <typename Offset, typename Column>
__device__ __forceinline__ uint32_t gather_some(const kernel_params &plan, uint32_t open,
                                                Column column, hold<Offset> &held, shared &room)
{
    some<Offset> of;
    uint32_t looked = 0;

#pragma unroll
    for (int k = 0; k < gathered; k++)
        of.column[k] = column(k);
    if (open > 0) {
        looked = visit_ends(plan, open, of);
        if (put_aside(of, held))
            queue_held(plan, open, held, room);
        return looked;
    }
#pragma unroll
    for (int k = 0; k < gathered; k++) {
        const uint32_t u = of.column[k];
        of.begin[k] = u != HW_INVALID_VERTEX ? hw_begin<Offset>(plan.lists, u) : 0;
        of.end[k] = u != HW_INVALID_VERTEX ? hw_begin<Offset>(plan.lists, u + 1) : 0;
    }
    enqueue(line_of<Offset>(plan, 0), of, room);
    return 0;
}

/* The frontier of one part of the grid column. Returns the edges that were visited at once. All
 * threads of the grid. */
template <typename Offset>
__device__ __forceinline__ uint32_t gather_set(const kernel_params &plan, const uint32_t *set,
                                               uint32_t r, count64 count, uint32_t open, picks &of,
                                               hold<Offset> &held, shared &room)
{
    constexpr uint32_t tile = gathered * threads;
    const bool bitmap = hw_scan2d_grid_as_bitmap(plan.exchange, plan.column_active[r], count);
    const uint32_t limit = bitmap ? plan.block : static_cast<uint32_t>(count);
    const uint32_t each = gridDim.x * (bitmap ? picked : tile), first = r * plan.block;
    uint32_t looked = 0;

    for (uint32_t turn = 0; turn * each < limit; turn++) {
        const uint32_t base = turn * each + blockIdx.x * tile;
        const uint32_t many = bitmap         ? pick(plan, set, plan.ends + first, turn, of, room)
                              : base < limit ? min(limit - base, tile)
                                             : 0;
        for (uint32_t from = threadIdx.x; from < many + threadIdx.x; from += tile)
            looked += gather_some<Offset>(
                plan, open,
                [&](int k) {
                    const uint32_t i = from + k * threads;
                    if (i >= many)
                        return HW_INVALID_VERTEX;
                    return first + (bitmap ? picked_at(turn, of.at[i]) : __ldcg(set + base + i));
                },
                held, room);
    }
    return looked;
}

/* The root, which all know. One thread. */
template <typename Offset> __device__ void queue_root(const kernel_params &plan, uint32_t root)
{
    const uint32_t first = plan.column * plan.rows * plan.block;

    if (root < first || root - first >= plan.rows * plan.block)
        return;
    const uint32_t u = root - first;
    if (plan.front)
        plan.front[u / 32] = 1u << (u & 31);
    plan.queue[0] = u;
    static_cast<Offset *>(plan.prefix)[0] = 0;
    static_cast<Offset *>(plan.shift)[0] = hw_begin<Offset>(plan.lists, u);
    plan.control->queue[0] =
        packed(hw_begin<Offset>(plan.lists, u + 1) - hw_begin<Offset>(plan.lists, u));
}

} // namespace
} // namespace hw_scan2d_grid

#endif
