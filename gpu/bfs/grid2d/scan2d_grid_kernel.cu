/*
 * Method `scan2d` on a grid of GPUs ("Parallel Distributed Breadth First Search on the
 * Kepler Architecture", sections 2.2, 3 and 5; algorithms 2 and 3).
 *
 * A level is three kernels with rounds of all GPUs (gpu/comm/allgather.h) after the last two:
 *
 *   gather   takes the frontier of the grid column from the lists or bitmaps that its parts
 *            sent, and lays its edges out by an exclusive scan of the lengths of its lists;
 *   expand   threads find their edges by binary search (gpu/bfs/grid2d/scan2d_expansion.cuh). An
 * atomic operation on a bit decides who reaches a local row first, and keeps the predecessor. The
 * bitmap `seen` has all local rows, of whichever owner, so that each is sent once: what is new
 * since the level began is packed for the owners; update   takes from what the parts of the grid
 * row sent what is not visited yet, remembering who sent it, and packs the next frontier for the
 * grid column.
 *
 * Lists have the rows at the first positions of their blocks first, under --order degree hubs.
 * Once all of those below some position are visited, gather leaves them out of all lists, and
 * visits what little most lists have after them itself; the last entries of all lists are kept
 * once more, apart, for that. expand takes levels of many edges in parts, and leaves out between
 * them what has come to be visited. (The paper looks at every edge.)
 *
 * Levels of large frontiers go bottom-up instead (gpu/bfs/grid2d/scan2d_bottom_up.cuh), unless that
 * is not wanted: gather then leaves the frontier as a bitmap, and expand lets rows look for their
 * predecessors.
 *
 * Sets travel as lists or as bitmaps, whichever is smaller. Both are packed from `seen`
 * against what it was before, by the kernels that make them, straight into the memory of
 * the GPU they are for where that is reached. Blocks unpack 4096 positions of a bitmap at a time.
 *
 * Predecessors stay where they were found. At the end each GPU takes those of its vertices
 * from the parts of its row that had sent them (section 3.2).
 *
 * A vertex's bit in `seen` may be read while another block sets it: the atomic operation
 * decides. After a barrier of the grid it is read past the first-level cache.
 */
#include "gpu/bfs/grid2d/scan2d_expansion.cuh"
#include "gpu/bfs/grid2d/scan2d_grid.h"
#include "gpu/comm/allgather.cuh"

#include <cooperative_groups.h>
#include <cub/block/block_scan.cuh>
#include <cub/device/device_scan.cuh>
#include <cuda_runtime.h>

namespace
{

namespace cg = cooperative_groups;
using namespace hw_scan2d;
using kernel_params = hw_scan2d_grid_params;
using told_t = hw_allgather_result;
using word_scan = cub::BlockScan<uint32_t, threads>;

constexpr int gathered = 2; /* columns that a thread gathers at a time */
constexpr int ends = 4;     /* last entries of their lists that it visits at once, at most */
constexpr int up_rows = 2;  /* rows that a lane looks at at a time, bottom-up */
constexpr uint32_t up_sparse = 384;       /* of 1024 rows that a warp looks at, few */
constexpr uint32_t picked = 16 * threads; /* positions that a block looks through at a time */

/* On a multiprocessor. */
constexpr int gather_blocks()
{
    return resident(HW_SCAN2D_MANY) < 5 ? resident(HW_SCAN2D_MANY) : 5;
}

/* Rows that a warp looks at, bottom-up. */
struct picked_rows {
    uint16_t at[up_sparse];
    uint32_t further[up_rows * 32]; /* that are looked further for */
};

struct shared {
    union {
        block_scan::TempStorage edges;
        word_scan::TempStorage words;
        uint16_t slot[HW_SCAN2D_MANY * threads]; /* of edges, by warps */
        picked_rows rows[threads / 32];          /* by warps */
    } scan;
    count64 start;
    uint32_t cut[2];
    uint32_t sum;
};

__device__ __forceinline__ uint32_t words_of(const kernel_params &plan)
{
    return plan.block / 32;
}

/* The index of a part among all. */
__device__ __forceinline__ uint32_t part_at(const kernel_params &plan, uint32_t row,
                                            uint32_t column)
{
    return column * plan.rows + row;
}

/* The level that is being done. */
__device__ __forceinline__ uint32_t depth_of(const kernel_params &plan)
{
    return static_cast<uint32_t>(hw_load_relaxed(&plan.control->depth));
}

/* ---- rows of the steps ---- */

__device__ __forceinline__ bool keeps_rows(const kernel_params &plan)
{
    return plan.step && hw_grid_thread() == 0;
}

__device__ __forceinline__ hw_scan2d_grid_row *row_of(const kernel_params &plan, uint32_t depth)
{
    return plan.step + min(depth, plan.step_capacity - 1);
}

/* Books a set that is sent: bitmaps go whole. */
__device__ __forceinline__ void book(const kernel_params &plan, hw_scan2d_grid_row *row,
                                     uint32_t active, count64 count)
{
    const bool bitmap = hw_scan2d_grid_as_bitmap(plan.exchange, active, count);

    row->messages++;
    if (count == 0)
        return;
    row->bytes += bitmap ? plan.block / 8 : 4 * count;
    row->forms |= bitmap ? 2 : 1;
}

/* Begins the row of a level; those that are too many share the last one. */
__device__ __noinline__ void begin_row(const kernel_params &plan, uint32_t depth, count64 frontier)
{
    hw_scan2d_grid_row *row = row_of(plan, depth);

    if (depth < plan.step_capacity)
        *row = hw_scan2d_grid_row{};
    row->frontier += frontier;
    row->time[HW_SCAN2D_GRID_BEGUN] = hw_nanoseconds();
    plan.control->rows = depth + 1;
    for (uint32_t r = 1; r < plan.rows && depth > 0; r++)
        book(plan, row, plan.column_active[plan.row], frontier);
}

/* ---- packing ---- */

/* What a word has that it had not when the level began. */
__device__ __forceinline__ uint32_t fresh_word(const kernel_params &plan, uint32_t w)
{
    return __ldcg(plan.seen + w) & ~__ldcg(plan.before + w);
}

/* Adds up over a block, and to a counter. All threads of the block. */
__device__ void add_up(count64 *counter, uint32_t value, shared &room)
{
    __syncthreads();
    if (threadIdx.x == 0)
        room.sum = 0;
    __syncthreads();
    value = hw_warp_sum(value);
    if (lane_of() == 0 && value)
        atomicAdd(&room.sum, value);
    __syncthreads();
    if (threadIdx.x == 0 && room.sum)
        atomicAdd(counter, static_cast<count64>(room.sum));
}

/* Counts what is new of the rows of one block. All threads of the grid. */
__device__ void count_fresh(const kernel_params &plan, uint32_t m, shared &room)
{
    const uint4 *seen = reinterpret_cast<const uint4 *>(plan.seen + m * words_of(plan));
    const uint4 *before = reinterpret_cast<const uint4 *>(plan.before + m * words_of(plan));
    uint32_t count = 0;

    for (uint64_t w = hw_grid_thread(); w < words_of(plan) / 4; w += hw_grid_threads()) {
        const uint4 s = __ldcg(seen + w), b = __ldcg(before + w);
        count += __popc(s.x & ~b.x) + __popc(s.y & ~b.y) + __popc(s.z & ~b.z) + __popc(s.w & ~b.w);
    }
    add_up(&plan.control->fresh[m], count, room);
}

/* Where a set goes to. */
struct targets {
    uint32_t *const *to; /* [count] */
    uint32_t count;
};

/* What is new of the rows of one block, as a bitmap; then it is not new any more. */
__device__ void pack_bitmap(const kernel_params &plan, uint32_t m, targets targets)
{
    const uint32_t first = m * words_of(plan);

    for (uint64_t w = hw_grid_thread(); w < words_of(plan); w += hw_grid_threads()) {
        const uint32_t seen = __ldcg(plan.seen + first + w);
        const uint32_t before = plan.before[first + w];
        for (uint32_t t = 0; t < targets.count; t++)
            targets.to[t][w] = seen & ~before;
        if (seen != before)
            plan.before[first + w] = seen;
    }
}

/* The same as a list of positions. All threads of the grid. */
__device__ void pack_list(const kernel_params &plan, uint32_t m, targets targets, shared &room)
{
    const uint32_t first = m * words_of(plan);

    for (uint32_t base = blockIdx.x * threads; base < words_of(plan); base += gridDim.x * threads) {
        const uint32_t w = base + threadIdx.x;
        uint32_t fresh = w < words_of(plan) ? fresh_word(plan, first + w) : 0, at, total;
        if (!__syncthreads_or(fresh != 0))
            continue;
        word_scan(room.scan.words).ExclusiveSum(__popc(fresh), at, total);
        if (threadIdx.x == 0)
            room.start = atomicAdd(&plan.control->put[m], static_cast<count64>(total));
        __syncthreads();
        at += static_cast<uint32_t>(room.start);
        if (fresh)
            plan.before[first + w] |= fresh;
        for (; fresh; fresh &= fresh - 1, at++)
            for (uint32_t t = 0; t < targets.count; t++)
                targets.to[t][at] = w * 32 + __ffs(fresh) - 1;
    }
}

__device__ __forceinline__ void pack(const kernel_params &plan, uint32_t m, targets targets,
                                     uint32_t active, count64 count, shared &room)
{
    if (count == 0)
        return;
    if (hw_scan2d_grid_as_bitmap(plan.exchange, active, count))
        pack_bitmap(plan, m, targets);
    else
        pack_list(plan, m, targets, room);
}

/* ---- gathering ---- */

/* Columns that a thread gathers, and what is left of their lists. */
template <typename Offset> struct some {
    uint32_t column[gathered]; /* HW_INVALID_VERTEX: none */
    Offset begin[gathered], end[gathered];
};

__device__ __forceinline__ hw_frontier_queue_params visited_of(const kernel_params &plan)
{
    hw_frontier_queue_params visited{};

    visited.visited = plan.seen;
    visited.parent = plan.pred;
    return visited;
}

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

/* The position of a row in its block. */
__device__ __forceinline__ uint32_t position_of(const kernel_params &plan, uint32_t row)
{
    return plan.columns == 1 ? row : row % plan.block;
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

#include "gpu/bfs/grid2d/scan2d_bottom_up.cuh"

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

/* The first positions whose rows of all blocks are visited, or 0 where they are too few for
 * lists to be looked through for them. */
__device__ __forceinline__ uint32_t open_from(const kernel_params &plan, uint32_t depth)
{
    const uint32_t open = static_cast<uint32_t>(hw_load_relaxed(&plan.control->open[depth & 1]));

    return open >= plan.block / 128 ? open : 0;
}

/* The frontier of the grid column into the queue, but for what is visited at once. */
template <typename Offset>
__global__ void __launch_bounds__(threads, gather_blocks())
    gather(const __grid_constant__ kernel_params plan, uint32_t root, const told_t *told)
{
    __shared__ shared room;
    __shared__ hold<Offset> held;
    __shared__ picks of;
    const uint32_t depth = depth_of(plan);
    uint32_t looked = 0;

    if (hw_grid_thread() == 0) {
        plan.control->found = plan.control->put[plan.column] = 0;
        plan.control->open[(depth + 1) & 1] = plan.control->opened[0] = plan.block;
    }
    const bool over = depth > 0 && told->reduced[0] == 0;
    if (hw_grid_thread() == 0)
        plan.control->over = over;
    if (over)
        return;
    if (keeps_rows(plan)) {
        const uint32_t own = part_at(plan, plan.row, plan.column);
        begin_row(plan, depth, depth > 0 ? told->by_rank[own][0] : root / plan.block == own);
    }
    if (depth == 0) {
        if (hw_grid_thread() == 0)
            queue_root<Offset>(plan, root);
        return;
    }
    const uint32_t open = open_from(plan, depth);
    if (threadIdx.x == 0)
        held.count = 0;
    __syncthreads();
    const bool up = surely_up(plan, depth, told);
    for (uint32_t r = 0; r < plan.rows; r++) {
        const uint32_t *set = plan.expand_in[depth & 1][r];
        const count64 count = told->by_rank[part_at(plan, r, plan.column)][0];
        if (count > 0 && plan.front)
            mark_front(plan, set, r, count);
        if (count > 0 && !up)
            looked += gather_set<Offset>(plan, set, r, count, open, of, held, room);
    }
    __syncthreads();
    queue_held(plan, open, held, room);
    if (plan.step && open > 0)
        add_up(&plan.control->looked, looked, room);
}

/* ---- frontier expansion ---- */

/* `count` edges from `first` on, whose slots are among low .. high. Returns the last slot. A
 * whole warp. */
template <typename Offset, int many>
__device__ __forceinline__ uint32_t expand_some(const kernel_params &plan,
                                                const front<Offset> &from, Offset first,
                                                uint32_t count, uint32_t low, uint32_t high,
                                                uint16_t *room)
{
    uint32_t slot[many], row[many];

    low = find_slots<Offset, many>(from.sum, first, count, low, high, room, slot);
#pragma unroll
    for (int k = 0; k < many; k++) {
        const uint32_t edge = k * 32 + lane_of();
        row[k] = HW_INVALID_VERTEX;
        if (edge < count)
            row[k] =
                __ldcs(plan.lists.rank + static_cast<Offset>(first + edge + from.shift[slot[k]]));
    }
    visit<many>(visited_of(plan), row, [&](int k) { return from.vertex[slot[k]]; });
    return low;
}

/* The edges begin .. end of the queue: algorithm 3. Warps take some tiles after each other at a
 * time, where there are many, so that they need not look for the first list often. All threads of
 * the grid. */
template <typename Offset, int many>
__device__ __forceinline__ void expand_edges(const kernel_params &plan, const front<Offset> &from,
                                             count64 begin, count64 end, shared &room)
{
    constexpr uint32_t tile = 32 * many, warps = threads / 32;
    const uint32_t chunk = tile * tiles_at_once(end - begin, gridDim.x * warps, tile);
    const uint32_t warp = threadIdx.x / 32;

    for (count64 base = begin + (static_cast<count64>(blockIdx.x) * warps + warp) * chunk;
         base < end; base += static_cast<count64>(gridDim.x) * warps * chunk) {
        const uint32_t count = static_cast<uint32_t>(min(end - base, static_cast<count64>(chunk)));
        uint32_t low =
            warp_partition_point(
                from.count,
                [&](uint32_t i) { return static_cast<count64>(__ldcg(from.sum + i)) <= base; }) -
            1;
        for (uint32_t i = 0; i < count; i += tile)
            low = expand_some<Offset, many>(plan, from, static_cast<Offset>(base + i),
                                            min(count - i, tile), low, from.count,
                                            room.scan.slot + warp * tile);
    }
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

/* Queues what is left of lists from the edge `begin` of a queue's `all` on, and from where rows at
 * `open` or after begin in each. All threads of the grid. */
template <typename Offset>
__device__ __noinline__ void requeue(const kernel_params &plan, const front<Offset> &from,
                                     count64 begin, count64 all, uint32_t open,
                                     const line<Offset> &to, shared &room)
{
    constexpr uint32_t tile = gathered * threads;

    narrow(from, begin, all - 1, all, room.cut);
    for (count64 base = room.cut[0] - 1 + static_cast<count64>(blockIdx.x) * tile;
         base < from.count; base += static_cast<count64>(gridDim.x) * tile) {
        some<Offset> of;
#pragma unroll
        for (int k = 0; k < gathered; k++) {
            const count64 i = base + k * threads + threadIdx.x;
            of.column[k] = HW_INVALID_VERTEX;
            of.begin[k] = of.end[k] = 0;
            if (i < from.count) {
                const count64 next = i + 1 < from.count ? from.sum[i + 1] : all;
                of.column[k] = from.vertex[i];
                of.begin[k] = static_cast<Offset>(max(static_cast<count64>(from.sum[i]), begin)) +
                              from.shift[i];
                of.end[k] = static_cast<Offset>(next) + from.shift[i];
            }
        }
        leave_out(plan, open, of);
        enqueue(to, of, room);
    }
}

/* A level has so many parts at most. */
constexpr int most_parts = 3;

/* The share of what is queued still that a part but the last one takes: one of so many. */
__device__ __forceinline__ count64 parts_left(int part)
{
    return part == 0 ? 16 : 4;
}

/* Whether a queue is worth another part: there is room for what is left of it, and edges for some
 * tiles of all blocks. */
__device__ __forceinline__ bool worth_parts(const kernel_params &plan, count64 queued,
                                            uint32_t tile)
{
    const uint64_t half = static_cast<uint64_t>(plan.rows) * plan.block / 2;

    return vertices_of(queued) <= half &&
           edges_of(queued) >= static_cast<count64>(gridDim.x) * tile * hw_min_tiles_per_part;
}

/*
 * The edges of the queue. A level of many edges finds its hubs with few of them, to which most
 * others go as well: it is taken in parts, and after each of them what has come to be visited at
 * the beginning of the lists is left out of what is still to do. Returns the edges that were
 * looked at. All threads of the grid.
 */
template <typename Offset, int many>
__device__ __forceinline__ count64 expand_queue(const kernel_params &plan, uint32_t open,
                                                cg::grid_group &grid, shared &room)
{
    count64 queued = hw_load_relaxed(&plan.control->queue[0]), begin = 0, looked = 0;
    uint32_t turn = 0;

    for (int part = 0;; part++) {
        const line<Offset> line = line_of<Offset>(plan, turn);
        const front<Offset> from = {line.column, vertices_of(queued), line.prefix, line.shift};
        const count64 all = edges_of(queued);
        const bool last = part == most_parts - 1 || !worth_parts(plan, queued, threads * many);
        const count64 end = last ? all : begin + (all - begin) / parts_left(part);

        expand_edges<Offset, many>(plan, from, begin, end, room);
        looked += end - begin;
        if (last)
            return looked;
        grid.sync();
        if (hw_grid_thread() == 0)
            plan.control->queue[!turn] = 0, plan.control->opened[!(part & 1)] = plan.block;
        find_open(plan, &plan.control->opened[part & 1]);
        grid.sync();
        const uint32_t now =
            static_cast<uint32_t>(hw_load_relaxed(&plan.control->opened[part & 1]));
        begin = end;
        if (now < plan.block / 16384 || now / 2 < open)
            continue;
        open = now;
        requeue(plan, from, begin, all, open, line_of<Offset>(plan, !turn), room);
        grid.sync();
        turn = !turn;
        queued = hw_load_relaxed(&plan.control->queue[turn]);
        begin = 0;
    }
}

/* What was found for the other columns of the grid. All threads of the grid. */
__device__ __noinline__ void pack_finds(const kernel_params &plan, cg::grid_group &grid,
                                        shared &room)
{
    grid.sync();
    for (uint32_t m = 0; m < plan.columns; m++)
        if (m != plan.column)
            count_fresh(plan, m, room);
    grid.sync();
    for (uint32_t m = 0; m < plan.columns; m++)
        if (m != plan.column)
            pack(plan, m, {&plan.fold_out[m], 1}, plan.row_active[m],
                 hw_load_relaxed(&plan.control->fresh[m]), room);
}

/* Registers are worth more than threads here: as many as for more edges. */
template <typename Offset, int many>
__global__ void __launch_bounds__(threads, resident(HW_SCAN2D_MANY))
    expand(const __grid_constant__ kernel_params plan, const told_t *told)
{
    __shared__ shared room;
    const uint32_t depth = depth_of(plan);
    cg::grid_group grid = cg::this_grid();

    if (depth > 0 && told->reduced[0] == 0)
        return;
    const uint32_t open = depth > 0 ? open_from(plan, depth) : 0;
    const bool up = goes_up(plan, depth, open, told);
    count64 looked = 0;
    if (up)
        look_up<Offset>(plan, depth, grid, room);
    else
        looked = expand_queue<Offset, many>(plan, open, grid, room);
    if (plan.columns > 1)
        pack_finds(plan, grid, room);
    if (!keeps_rows(plan))
        return;
    hw_scan2d_grid_row *row = row_of(plan, depth);
    row->edges += looked + hw_load_relaxed(&plan.control->looked);
    row->forms |= up ? HW_SCAN2D_GRID_UP : 0;
    row->time[HW_SCAN2D_GRID_EXPANDED] = hw_nanoseconds();
    for (uint32_t m = 0; m < plan.columns; m++)
        if (m != plan.column)
            book(plan, row, plan.row_active[m], hw_load_relaxed(&plan.control->fresh[m]));
}

/* ---- frontier update ---- */

/* Takes own vertices that part m of the row has reached, if they are new: one word of them.
 * Nobody else writes that word of `from`. */
__device__ __forceinline__ void take_word(const kernel_params &plan, uint32_t m, uint32_t w,
                                          uint32_t sent)
{
    uint32_t *seen = plan.seen + plan.column * words_of(plan) + w;
    const uint32_t open = sent & ~__ldcg(seen);
    const uint32_t fresh = open ? open & ~atomicOr(seen, open) : 0;

    if (fresh)
        plan.from[m * words_of(plan) + w] |= fresh;
}

/* The same of one vertex; others may be in the same word. Whether it is new. */
__device__ __forceinline__ bool take(const kernel_params &plan, uint32_t m, uint32_t position)
{
    const uint32_t w = position / 32, bit = 1u << (position & 31);
    uint32_t *seen = plan.seen + plan.column * words_of(plan) + w;

    if ((__ldcg(seen) & bit) || (atomicOr(seen, bit) & bit))
        return false;
    atomicOr(plan.from + m * words_of(plan) + w, bit);
    return true;
}

/* What part m of the row has sent. All threads of the grid. */
__device__ void receive(const kernel_params &plan, uint32_t m, count64 count)
{
    const uint32_t *set = plan.fold_in[m];

    if (count == 0)
        return;
    if (hw_scan2d_grid_as_bitmap(plan.exchange, plan.row_active[plan.column], count)) {
        for (uint64_t w = hw_grid_thread(); w < words_of(plan); w += hw_grid_threads())
            take_word(plan, m, static_cast<uint32_t>(w), __ldcg(set + w));
    } else {
        for (uint64_t k = hw_grid_thread(); k < count; k += hw_grid_threads())
            take(plan, m, __ldcg(set + k));
    }
}

/* Counts the next frontier, and writes its level. All threads of the grid. */
__device__ void settle(const kernel_params &plan, int32_t level, shared &room)
{
    const uint32_t first = plan.column * words_of(plan);
    uint32_t count = 0;

    /* Words are a multiple of 32, so that warps stay whole. */
    for (uint64_t w = hw_grid_thread(); w < words_of(plan); w += hw_grid_threads()) {
        const uint32_t fresh = fresh_word(plan, first + static_cast<uint32_t>(w));
        uint32_t left = __ballot_sync(HW_WARP, fresh != 0);
        int32_t *to = plan.level + (w - lane_of()) * 32 + lane_of();
        count += __popc(fresh);
        for (; left; left &= left - 1) {
            const int k = __ffs(left) - 1;
            if (__shfl_sync(HW_WARP, fresh, k) >> lane_of() & 1)
                to[k * 32] = level;
        }
    }
    add_up(&plan.control->found, count, room);
}

/* Makes counters ready for the next expansion. One thread. */
__device__ void clear_counters(const kernel_params &plan)
{
    plan.control->queue[0] = plan.control->queue[1] = plan.control->looked = 0;
    for (uint32_t m = 0; m < plan.columns; m++) {
        plan.control->fresh[m] = 0;
        if (m != plan.column)
            plan.control->put[m] = 0;
    }
}

__global__ void __launch_bounds__(threads)
    update(const __grid_constant__ kernel_params plan, const told_t *told)
{
    __shared__ shared room;
    const uint32_t depth = depth_of(plan);
    cg::grid_group grid = cg::this_grid();
    const bool keeps = keeps_rows(plan);

    if (hw_load_relaxed(&plan.control->over))
        return;
    if (hw_grid_thread() == 0)
        clear_counters(plan);
    if (keeps)
        row_of(plan, depth)->time[HW_SCAN2D_GRID_FOLDED] = hw_nanoseconds();
    for (uint32_t m = 0; m < plan.columns; m++)
        if (m != plan.column)
            receive(plan, m, told->by_rank[part_at(plan, plan.row, m)][plan.column]);
    if (plan.columns > 1)
        grid.sync();
    clear_front(plan);
    find_open(plan, &plan.control->open[(depth + 1) & 1]);
    settle(plan, static_cast<int32_t>(depth) + 1, room);
    grid.sync();
    if (hw_grid_thread() == 0)
        plan.control->depth = depth + 1;
    const count64 found = hw_load_relaxed(&plan.control->found);
    if (keeps) {
        row_of(plan, depth)->found += found;
        row_of(plan, depth)->time[HW_SCAN2D_GRID_UPDATED] = hw_nanoseconds();
    }
    pack(plan, plan.column, {plan.expand_out[(depth + 1) & 1], plan.rows},
         plan.column_active[plan.row], found, room);
}

/* ---- levels of few edges ---- */

#include "gpu/bfs/grid2d/scan2d_single_cta.cuh"
#include "gpu/graph/device_graph.cuh"

/* ---- the beginning and the end ---- */

__global__ void begin(const __grid_constant__ kernel_params plan, uint32_t root)
{
    const uint32_t words = words_of(plan), own = plan.column * words;
    const uint32_t first = part_at(plan, plan.row, plan.column) * plan.block;
    const uint32_t at =
        root >= first && root - first < plan.block ? root - first : HW_INVALID_VERTEX;

    for (uint64_t w = hw_grid_thread(); w < static_cast<uint64_t>(plan.columns) * words;
         w += hw_grid_threads()) {
        const uint32_t bit = at != HW_INVALID_VERTEX && w == own + at / 32 ? 1u << (at & 31) : 0;
        plan.seen[w] = plan.before[w] = bit;
        plan.from[w] = 0;
    }
    clear_front(plan);
    if (hw_grid_thread() != 0)
        return;
    *plan.control = hw_scan2d_grid_control{};
    if (at != HW_INVALID_VERTEX) {
        plan.pred[plan.column * plan.block + at] = plan.row * plan.block + at;
        plan.level[at] = 0;
    }
}

/* How many positions of a set come before word w, from the first word of its 1024 on. A
 * whole warp. */
__device__ __forceinline__ uint32_t before_word(const uint32_t *set, uint32_t w)
{
    const uint32_t at = w & 31;

    return hw_warp_sum(lane_of() < at ? __popc(set[w - at + lane_of()]) : 0);
}

/* The set bits of a word below this lane's. */
__device__ __forceinline__ uint32_t bits_below(uint32_t word)
{
    return __popc(word & ((1u << lane_of()) - 1));
}

/* The code of an own vertex's parent: where it is known, a local column of that part. A
 * whole warp, each lane the vertex of its bit in word w. */
__device__ __forceinline__ uint32_t parent_code(const kernel_params &plan, uint32_t w)
{
    const uint32_t words = words_of(plan), row = plan.column * plan.block + w * 32 + lane_of();
    const bool reached = plan.seen[plan.column * words + w] >> lane_of() & 1;
    const uint32_t *known = plan.pred + row;
    uint32_t column = plan.column;

    for (uint32_t m = 0; m < plan.columns; m++) {
        const uint32_t word = m != plan.column ? plan.from[m * words + w] : 0;
        const uint32_t *base = plan.answer_base + m * words / 32;
        uint32_t at = row;
        if (word == 0) /* for the whole warp */
            continue;
        if (plan.answer_base)
            at = base[w / 32] - base[0] + before_word(plan.from + m * words, w) + bits_below(word);
        if (word >> lane_of() & 1) {
            known = plan.known[m] + at;
            column = m;
        }
    }
    return reached ? column * plan.rows * plan.block + *known : HW_INVALID_VERTEX;
}

__global__ void resolve(const __grid_constant__ kernel_params plan)
{
    for (uint64_t i = hw_grid_thread(); i < plan.block; i += hw_grid_threads())
        plan.parent[i] = parent_code(plan, static_cast<uint32_t>(i / 32));
}

__global__ void parents(const __grid_constant__ kernel_params plan, const uint32_t *position,
                        uint32_t count, const uint32_t *gid, uint32_t root, uint32_t root_id,
                        uint32_t *parent_id)
{
    for (uint64_t k = hw_grid_thread(); k < count; k += hw_grid_threads()) {
        const uint32_t at = position[k];
        const uint32_t code = at < plan.block ? plan.parent[at] : HW_INVALID_VERTEX;
        const uint32_t id = code != HW_INVALID_VERTEX ? gid[code] : HW_INVALID_VERTEX;
        parent_id[k] = at == root ? root_id : id;
    }
}

__global__ void levels(const __grid_constant__ kernel_params plan, const uint32_t *position,
                       uint32_t count, uint32_t root, int32_t *level)
{
    const uint32_t *seen = plan.seen + plan.column * words_of(plan);

    for (uint64_t k = hw_grid_thread(); k < count; k += hw_grid_threads()) {
        const uint32_t at = position[k];
        const bool reached = at < plan.block && (seen[at / 32] >> (at & 31) & 1);
        level[k] = at == root ? 0 : reached ? plan.level[at] : -1;
    }
}

/* ---- canonical parents ---- */

__global__ void canon_levels(const __grid_constant__ kernel_params plan,
                             const hw_scan2d_grid_canon canon)
{
    const uint32_t *seen = plan.seen + plan.column * words_of(plan);

    for (uint64_t t = hw_grid_thread(); t < plan.block; t += hw_grid_threads()) {
        const int32_t level = seen[t / 32] >> (t & 31) & 1 ? plan.level[t] : -1;
        canon.row_level[plan.column * plan.block + t] = level;
        canon.column_level[plan.row * plan.block + t] = level;
    }
    for (uint64_t v = hw_grid_thread(); v < static_cast<uint64_t>(plan.columns) * plan.block;
         v += hw_grid_threads())
        canon.best[v] = HW_INVALID_VERTEX;
}

/* A warp for each local column that was reached. */
template <typename Offset>
__global__ void canon_best(const __grid_constant__ kernel_params plan,
                           const hw_scan2d_grid_canon canon)
{
    const uint64_t columns = static_cast<uint64_t>(plan.rows) * plan.block;

    for (uint64_t u = hw_grid_thread() / 32; u < columns; u += hw_grid_threads() / 32) {
        const int32_t level = canon.column_level[u];
        const uint32_t id = canon.gid[plan.column * columns + u];
        if (level < 0)
            continue;
        const Offset end = hw_begin<Offset>(plan.lists, static_cast<uint32_t>(u) + 1);
        Offset e = hw_begin<Offset>(plan.lists, static_cast<uint32_t>(u)) + lane_of();
        for (; e < end; e += 32) {
            const uint32_t row = plan.lists.rank[e];
            if (canon.row_level[row] == level + 1)
                atomicMin(&canon.best[row], id);
        }
    }
}

__global__ void canon_parents(const __grid_constant__ kernel_params plan,
                              const hw_scan2d_grid_canon canon, const uint32_t *position,
                              uint32_t count, uint32_t root, uint32_t root_id, uint32_t *parent_id)
{
    for (uint64_t k = hw_grid_thread(); k < count; k += hw_grid_threads()) {
        const uint32_t at = position[k];
        uint32_t least = HW_INVALID_VERTEX;
        for (uint32_t m = 0; m < plan.columns && at < plan.block; m++)
            least = min(least, m == plan.column ? canon.best[m * plan.block + at]
                                                : canon.came[m * plan.block + at]);
        parent_id[k] = at == root ? root_id : least;
    }
}

__global__ void renumber(uint32_t *row, uint64_t count, uint32_t from, uint32_t to)
{
    for (uint64_t k = hw_grid_thread(); k < count; k += hw_grid_threads()) {
        const uint32_t m = row[k] / from;
        row[k] = m * to + (row[k] - m * from);
    }
}

/* ---- the order of lists ---- */

/* A row's place among all by position first, then by block; and back. */
__device__ __forceinline__ uint32_t place_of(const kernel_params &plan, uint32_t row)
{
    return row % plan.block * plan.columns + row / plan.block;
}

__device__ __forceinline__ uint32_t row_at(const kernel_params &plan, uint32_t place)
{
    return place % plan.columns * plan.block + place / plan.columns;
}

/* A warp for each list. */
template <typename Offset>
__global__ void find_unsorted(const __grid_constant__ kernel_params plan, uint32_t *unsorted)
{
    const uint64_t columns = static_cast<uint64_t>(plan.rows) * plan.block;

    for (uint64_t u = hw_grid_thread() / 32; u < columns; u += hw_grid_threads() / 32) {
        const Offset end = hw_begin<Offset>(plan.lists, static_cast<uint32_t>(u) + 1);
        Offset e = hw_begin<Offset>(plan.lists, static_cast<uint32_t>(u)) + lane_of() + 1;
        for (; e < end; e += 32)
            if (place_of(plan, plan.lists.rank[e]) < place_of(plan, plan.lists.rank[e - 1]))
                *unsorted = 1;
    }
}

/* Keys: the list above, the place of the row below. */
template <typename Offset>
__global__ void make_keys(const __grid_constant__ kernel_params plan,
                          const hw_scan2d_grid_keys keys, uint64_t *key)
{
    for (uint64_t k = hw_grid_thread(); k < keys.count; k += hw_grid_threads()) {
        uint32_t low = keys.first, high = keys.end;
        while (high - low > 1) {
            const uint32_t middle = low + (high - low) / 2;
            if (hw_begin<Offset>(plan.lists, middle) <= keys.begin + k)
                low = middle;
            else
                high = middle;
        }
        key[k] = static_cast<uint64_t>(low - keys.first) << 32 |
                 place_of(plan, plan.lists.rank[keys.begin + k]);
    }
}

__global__ void put_keys(const __grid_constant__ kernel_params plan, const hw_scan2d_grid_keys keys,
                         const uint64_t *key)
{
    uint32_t *row = const_cast<uint32_t *>(plan.lists.rank) + keys.begin;

    for (uint64_t k = hw_grid_thread(); k < keys.count; k += hw_grid_threads())
        row[k] = row_at(plan, static_cast<uint32_t>(key[k]));
}

/* The last entries of each list, the last one first. */
template <typename Offset>
__global__ void find_ends(const __grid_constant__ kernel_params plan, uint4 *last)
{
    const uint64_t columns = static_cast<uint64_t>(plan.rows) * plan.block;

    for (uint64_t u = hw_grid_thread(); u < columns; u += hw_grid_threads()) {
        const Offset begin = hw_begin<Offset>(plan.lists, static_cast<uint32_t>(u));
        const Offset end = hw_begin<Offset>(plan.lists, static_cast<uint32_t>(u) + 1);
        uint32_t row[ends];
#pragma unroll
        for (int j = 0; j < ends; j++)
            row[j] = end - begin > static_cast<Offset>(j) ? plan.lists.rank[end - 1 - j]
                                                          : HW_INVALID_VERTEX;
        last[u] = make_uint4(row[0], row[1], row[2], row[3]);
    }
}

/* Sets of the parts of a row. */
struct sets {
    const uint32_t *of[HW_SCAN2D_GRID_LINE];
};

/* The positions in each 1024 of them; the last element is for their sum. */
__global__ void count_sets(const __grid_constant__ sets bits, uint32_t parts, uint32_t block,
                           uint32_t *count)
{
    const uint32_t each = block / 1024, all = parts * each;

    for (uint64_t i = hw_grid_thread() / 32; i < all; i += hw_grid_threads() / 32) {
        const uint32_t m = static_cast<uint32_t>(i) / each, at = static_cast<uint32_t>(i) % each;
        const uint32_t sum = hw_warp_sum(bits.of[m] ? __popc(bits.of[m][at * 32 + lane_of()]) : 0);
        if (lane_of() == 0)
            count[i] = sum;
    }
    if (hw_grid_thread() == 0)
        count[all] = 0;
}

/* What is known of the positions that are asked for, one after another. */
__global__ void answer_sets(const __grid_constant__ kernel_params plan,
                            const __grid_constant__ sets asked, const uint32_t *base,
                            const __grid_constant__ sets answer)
{
    const uint32_t words = words_of(plan);

    for (uint64_t i = hw_grid_thread() / 32; i < static_cast<uint64_t>(plan.columns) * words;
         i += hw_grid_threads() / 32) {
        const uint32_t m = static_cast<uint32_t>(i / words), w = static_cast<uint32_t>(i % words);
        const uint32_t word = asked.of[m] ? asked.of[m][w] : 0;
        if (word == 0)
            continue;
        const uint32_t at = base[m * words / 32 + w / 32] - base[m * words / 32] +
                            before_word(asked.of[m], w) + bits_below(word);
        if (word >> lane_of() & 1)
            const_cast<uint32_t *>(answer.of[m])[at] =
                plan.pred[m * plan.block + w * 32 + lane_of()];
    }
}

template <typename Offset> const void *expand_for(int many)
{
    static const void *const kernels[HW_SCAN2D_MANY] = {
        reinterpret_cast<const void *>(expand<Offset, 1>),
        reinterpret_cast<const void *>(expand<Offset, 2>),
        reinterpret_cast<const void *>(expand<Offset, 3>),
        reinterpret_cast<const void *>(expand<Offset, 4>),
        reinterpret_cast<const void *>(expand<Offset, 5>),
        reinterpret_cast<const void *>(expand<Offset, 6>),
        reinterpret_cast<const void *>(expand<Offset, 7>),
        reinterpret_cast<const void *>(expand<Offset, 8>)};

    return kernels[many - 1];
}

const void *gather_of(const hw_scan2d_grid_params *plan)
{
    return plan->wide ? reinterpret_cast<const void *>(gather<uint64_t>)
                      : reinterpret_cast<const void *>(gather<uint32_t>);
}

const void *expand_of(const hw_scan2d_grid_params *plan)
{
    return plan->wide ? expand_for<uint64_t>(plan->edges_per_thread)
                      : expand_for<uint32_t>(plan->edges_per_thread);
}

} // namespace

int hw_scan2d_grid_launch_shape(const hw_scan2d_grid_params *plan, hw_scan2d_grid_shape *shape)
{
    cudaError_t error = hw_frontier_queue_shape(gather_of(plan), &shape->gather);

    if (error == cudaSuccess)
        error = hw_frontier_queue_shape(expand_of(plan), &shape->expand);
    return error == cudaSuccess
               ? hw_frontier_queue_shape(reinterpret_cast<const void *>(update), &shape->update)
               : error;
}

int hw_scan2d_grid_launch_begin(const hw_scan2d_grid_params *plan, uint32_t root)
{
    begin<<<hw_blocks(plan->block / 32 * static_cast<uint64_t>(plan->columns), threads), threads>>>(
        *plan, root);
    return cudaGetLastError();
}

int hw_scan2d_grid_launch_single_cta(const hw_scan2d_grid_params *plan, uint32_t root,
                                     const hw_allgather_result *told,
                                     const hw_allgather_params *round, hw_allgather_result *result)
{
    hw_allgather_result *to = const_cast<hw_allgather_result *>(told);

    if (plan->wide)
        few_levels<uint64_t><<<1, few_threads>>>(*plan, root, to, *round, result);
    else
        few_levels<uint32_t><<<1, few_threads>>>(*plan, root, to, *round, result);
    return cudaGetLastError();
}

int hw_scan2d_grid_launch_expand(const hw_scan2d_grid_params *plan,
                                 const hw_scan2d_grid_shape *shape, uint32_t root,
                                 const hw_allgather_result *told)
{
    void *gathering[] = {const_cast<hw_scan2d_grid_params *>(plan), &root, &told};
    void *arguments[] = {const_cast<hw_scan2d_grid_params *>(plan), &told};
    const cudaError_t error = cudaLaunchKernel(gather_of(plan), dim3(shape->gather), dim3(threads),
                                               gathering, 0, nullptr);

    if (error != cudaSuccess)
        return error;
    return cudaLaunchCooperativeKernel(expand_of(plan), dim3(shape->expand), dim3(threads),
                                       arguments, 0, nullptr);
}

int hw_scan2d_grid_launch_update(const hw_scan2d_grid_params *plan,
                                 const hw_scan2d_grid_shape *shape, const hw_allgather_result *told)
{
    void *arguments[] = {const_cast<hw_scan2d_grid_params *>(plan), &told};

    return cudaLaunchCooperativeKernel(reinterpret_cast<const void *>(update), dim3(shape->update),
                                       dim3(threads), arguments, 0, nullptr);
}

int hw_scan2d_grid_launch_resolve(const hw_scan2d_grid_params *plan)
{
    resolve<<<hw_blocks(plan->block, threads), threads>>>(*plan);
    return cudaGetLastError();
}

int hw_scan2d_grid_launch_parents(const hw_scan2d_grid_params *plan, const uint32_t *position,
                                  uint32_t count, const uint32_t *gid, uint32_t root,
                                  uint32_t root_id, uint32_t *parent_id)
{
    parents<<<hw_blocks(count, threads), threads>>>(*plan, position, count, gid, root, root_id,
                                                    parent_id);
    return cudaGetLastError();
}

int hw_scan2d_grid_launch_levels(const hw_scan2d_grid_params *plan, const uint32_t *position,
                                 uint32_t count, uint32_t root, int32_t *level)
{
    levels<<<hw_blocks(count, threads), threads>>>(*plan, position, count, root, level);
    return cudaGetLastError();
}

int hw_scan2d_grid_launch_renumber(uint32_t *row, uint64_t count, uint32_t from, uint32_t to)
{
    renumber<<<hw_blocks(count, threads), threads>>>(row, count, from, to);
    return cudaGetLastError();
}

int hw_scan2d_grid_launch_find_unsorted(const hw_scan2d_grid_params *plan, uint32_t *unsorted)
{
    const unsigned blocks =
        hw_blocks(static_cast<uint64_t>(plan->rows) * plan->block * 32, threads);

    if (plan->wide)
        find_unsorted<uint64_t><<<blocks, threads>>>(*plan, unsorted);
    else
        find_unsorted<uint32_t><<<blocks, threads>>>(*plan, unsorted);
    return cudaGetLastError();
}

int hw_scan2d_grid_launch_make_keys(const hw_scan2d_grid_params *plan,
                                    const hw_scan2d_grid_keys *keys, uint64_t *key)
{
    if (plan->wide)
        make_keys<uint64_t><<<hw_blocks(keys->count, threads), threads>>>(*plan, *keys, key);
    else
        make_keys<uint32_t><<<hw_blocks(keys->count, threads), threads>>>(*plan, *keys, key);
    return cudaGetLastError();
}

int hw_scan2d_grid_launch_put_keys(const hw_scan2d_grid_params *plan,
                                   const hw_scan2d_grid_keys *keys, const uint64_t *key)
{
    put_keys<<<hw_blocks(keys->count, threads), threads>>>(*plan, *keys, key);
    return cudaGetLastError();
}

int hw_scan2d_grid_launch_find_ends(const hw_scan2d_grid_params *plan)
{
    const unsigned blocks = hw_blocks(static_cast<uint64_t>(plan->rows) * plan->block, threads);
    uint4 *last = const_cast<uint4 *>(plan->ends);

    if (plan->wide)
        find_ends<uint64_t><<<blocks, threads>>>(*plan, last);
    else
        find_ends<uint32_t><<<blocks, threads>>>(*plan, last);
    return cudaGetLastError();
}

int hw_scan2d_grid_launch_count(const uint32_t *const *bits, uint32_t parts, uint32_t block,
                                uint32_t *base, void *scratch, size_t *bytes)
{
    const uint64_t all = static_cast<uint64_t>(parts) * (block / 1024);
    sets of = {};

    for (uint32_t m = 0; m < parts && scratch; m++)
        of.of[m] = bits[m];
    if (scratch)
        count_sets<<<hw_blocks(all * 32, threads), threads>>>(of, parts, block, base);
    const cudaError_t error = cudaGetLastError();
    return error == cudaSuccess
               ? cub::DeviceScan::ExclusiveSum(scratch, *bytes, base, base, all + 1)
               : error;
}

int hw_scan2d_grid_launch_answer(const hw_scan2d_grid_params *plan, const uint32_t *const *asked,
                                 const uint32_t *base, uint32_t *const *answer)
{
    sets from = {}, to = {};

    for (uint32_t m = 0; m < plan->columns; m++) {
        from.of[m] = asked[m];
        to.of[m] = answer[m];
    }
    answer_sets<<<hw_blocks(static_cast<uint64_t>(plan->columns) * plan->block, threads),
                  threads>>>(*plan, from, base, to);
    return cudaGetLastError();
}

int hw_scan2d_grid_launch_canon_levels(const hw_scan2d_grid_params *plan,
                                       const hw_scan2d_grid_canon *canon)
{
    canon_levels<<<hw_blocks(static_cast<uint64_t>(plan->columns) * plan->block, threads),
                   threads>>>(*plan, *canon);
    return cudaGetLastError();
}

int hw_scan2d_grid_launch_canon_best(const hw_scan2d_grid_params *plan,
                                     const hw_scan2d_grid_canon *canon)
{
    const unsigned blocks =
        hw_blocks(static_cast<uint64_t>(plan->rows) * plan->block * 32, threads);

    if (plan->wide)
        canon_best<uint64_t><<<blocks, threads>>>(*plan, *canon);
    else
        canon_best<uint32_t><<<blocks, threads>>>(*plan, *canon);
    return cudaGetLastError();
}

int hw_scan2d_grid_launch_canon_parents(const hw_scan2d_grid_params *plan,
                                        const hw_scan2d_grid_canon *canon, const uint32_t *position,
                                        uint32_t count, uint32_t root, uint32_t root_id,
                                        uint32_t *parent_id)
{
    canon_parents<<<hw_blocks(count, threads), threads>>>(*plan, *canon, position, count, root,
                                                          root_id, parent_id);
    return cudaGetLastError();
}
