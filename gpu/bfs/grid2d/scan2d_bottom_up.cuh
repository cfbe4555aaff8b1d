/*
 * Method `scan2d` on a grid of GPUs: bottom-up levels. Unvisited local rows search their lists for
 * a column of the frontier and stop at the first. An addition to the paper, after Beamer, Asanovic
 * and Patterson, "Direction-Optimizing Breadth-First Search" (2012), and for grids Beamer et al.,
 * "Distributed Memory Breadth-First Search Revisited: Enabling Bottom-Up Search" (2013).
 *
 * The difference to the latter: all parts of a grid row search at the same time, each only among
 * its own columns, first for the rows that it owns and then for those of other owners that are
 * still unvisited there. Where several parts discover a row, the owner takes one of them.
 *
 * The first four entries of all lists are stored apart: most rows find a column of the frontier
 * among them, since lists are sorted by position and hubs come first under --order degree. Rows
 * that do not are searched by a lane, then by the warp, then, if the list is long, by all blocks.
 *
 * Each part chooses its own direction: a level discovers the same vertices either way.
 */
#ifndef HOPWAVE_GPU_BFS_GRID2D_SCAN2D_BOTTOM_UP_CUH
#define HOPWAVE_GPU_BFS_GRID2D_SCAN2D_BOTTOM_UP_CUH

#include "gpu/bfs/grid2d/scan2d_grid_device.cuh"

namespace hw_scan2d_grid
{
namespace
{

constexpr int heads = 4; /* columns of a list that are kept apart */
/* Columns that a lane looks at alone, then that its warp does, before all blocks do. */
constexpr uint32_t up_alone = 32, up_warp = 8192;

/* The vertices of the frontier of the grid column. */
__device__ __forceinline__ count64 front_size(const kernel_params &plan, const told_t *told)
{
    count64 size = 0;

    for (uint32_t r = 0; r < plan.rows; r++)
        size += told->by_rank[part_at(plan, r, plan.column)][0];
    return size;
}

/* Whether a level goes bottom-up whatever its edges: its frontier need not be queued. */
__device__ __forceinline__ bool surely_up(const kernel_params &plan, uint32_t depth,
                                          const told_t *told)
{
    return plan.heads &&
           (plan.up_columns == 0 || (depth > 0 && front_size(plan, told) >= plan.up_columns));
}

/* The same, once what is queued is known: unless some was visited while it was. */
__device__ __forceinline__ bool goes_up(const kernel_params &plan, uint32_t depth, uint32_t open,
                                        const told_t *told)
{
    return surely_up(plan, depth, told) ||
           (plan.heads && open == 0 &&
            edges_of(hw_load_relaxed(&plan.control->queue[0])) >= plan.up_edges);
}

/* Adds the frontier of one part of the grid column to the bitmap of it. All threads of the grid. */
__device__ __forceinline__ void mark_front(const kernel_params &plan, const uint32_t *set,
                                           uint32_t r, count64 count)
{
    uint32_t *front = plan.front + r * words_of(plan);

    if (hw_scan2d_grid_as_bitmap(plan.exchange, plan.column_active[r], count)) {
        const uint4 *from = reinterpret_cast<const uint4 *>(set);
        for (uint64_t w = hw_grid_thread(); w < words_of(plan) / 4; w += hw_grid_threads())
            reinterpret_cast<uint4 *>(front)[w] = __ldcg(from + w);
    } else {
        for (uint64_t k = hw_grid_thread(); k < count; k += hw_grid_threads()) {
            const uint32_t at = __ldcg(set + k);
            atomicOr(front + at / 32, 1u << (at & 31));
        }
    }
}

/* Empties the bitmap. All threads of the grid. */
__device__ __forceinline__ void clear_front(const kernel_params &plan)
{
    const uint64_t words = static_cast<uint64_t>(plan.rows) * words_of(plan);

    if (!plan.front)
        return;
    for (uint64_t w = hw_grid_thread(); w < words / 4; w += hw_grid_threads())
        reinterpret_cast<uint4 *>(plan.front)[w] = make_uint4(0, 0, 0, 0);
}

__device__ __forceinline__ bool in_front(const kernel_params &plan, uint32_t column)
{
    return plan.front[column / 32] >> (column & 31) & 1;
}

/* Columns that the queue holds. */
__device__ __forceinline__ count64 queue_room(const kernel_params &plan)
{
    return static_cast<count64>(plan.rows) * plan.block;
}

/* What is left of a row's list. */
template <typename Offset> struct rest {
    Offset at, end;
};

/* Looks at up to up_alone columns more. One lane. */
template <typename Offset>
__device__ __forceinline__ uint32_t look_alone(const kernel_params &plan, rest<Offset> &left,
                                               uint32_t &looked)
{
    for (uint32_t i = 0; i < up_alone && left.at < left.end; i += heads, left.at += heads) {
        uint32_t column[heads];
#pragma unroll
        for (int k = 0; k < heads; k++)
            column[k] = left.at + k < left.end ? plan.by_row.rank[left.at + k] : HW_INVALID_VERTEX;
#pragma unroll
        for (int k = 0; k < heads; k++) {
            looked += column[k] != HW_INVALID_VERTEX;
            if (column[k] != HW_INVALID_VERTEX && in_front(plan, column[k]))
                return column[k];
        }
    }
    return HW_INVALID_VERTEX;
}

/* Leaves a row with a long list to all blocks, while there is room for it in the queue. */
template <typename Offset>
__device__ __forceinline__ void leave_long(const kernel_params &plan, uint32_t row,
                                           rest<Offset> &left)
{
    if (left.at >= left.end || left.end - left.at <= up_warp)
        return;
    const count64 slot = atomicAdd(&plan.control->queue[1], 1ull);
    if (slot >= queue_room(plan))
        return;
    plan.queue[slot] = row;
    left.at = left.end;
}

/* The same for the lists of all lanes that have any left, one after another. A whole warp. */
template <typename Offset>
__device__ __forceinline__ uint32_t look_together(const kernel_params &plan, rest<Offset> left,
                                                  uint32_t row, uint32_t &looked)
{
    uint32_t mine = HW_INVALID_VERTEX;

    leave_long(plan, row, left);
    for (uint32_t who = __ballot_sync(HW_WARP, left.at < left.end); who; who &= who - 1) {
        const int lane = __ffs(who) - 1;
        const Offset end = __shfl_sync(HW_WARP, left.end, lane);
        uint32_t hit = 0;
        for (Offset at = __shfl_sync(HW_WARP, left.at, lane); at < end && !hit; at += 32) {
            const uint32_t column =
                at + lane_of() < end ? plan.by_row.rank[at + lane_of()] : HW_INVALID_VERTEX;
            looked += column != HW_INVALID_VERTEX;
            hit = __ballot_sync(HW_WARP, column != HW_INVALID_VERTEX && in_front(plan, column));
            const uint32_t found =
                hit ? __shfl_sync(HW_WARP, column, __ffs(hit) - 1) : HW_INVALID_VERTEX;
            if (static_cast<int>(lane_of()) == lane)
                mine = found;
        }
    }
    return mine;
}

/* Looks further than the heads, for up to 32 rows whose are not in the frontier; of other lanes it
 * is HW_INVALID_VERTEX. A whole warp. */
template <typename Offset>
__device__ __noinline__ uint32_t look_further(const kernel_params &plan, uint32_t row,
                                              uint32_t &looked)
{
    rest<Offset> left = {0, 0};
    uint32_t column = HW_INVALID_VERTEX;

    if (row != HW_INVALID_VERTEX) {
        left.at = hw_begin<Offset>(plan.by_row, row) + heads;
        left.end = hw_begin<Offset>(plan.by_row, row + 1);
        column = look_alone(plan, left, looked);
        if (column != HW_INVALID_VERTEX)
            left.at = left.end;
    }
    if (__any_sync(HW_WARP, left.at < left.end)) {
        const uint32_t other = look_together(plan, left, row, looked);
        column = other != HW_INVALID_VERTEX ? other : column;
    }
    return column;
}

/* The heads of some rows a lane; column: which of them is in the frontier. All of a stage are
 * looked up together. more, bit k: the k-th row has further columns, and none was found. */
__device__ __forceinline__ void look_heads(const kernel_params &plan, const uint32_t *row,
                                           uint32_t *column, uint32_t &more, uint32_t &looked)
{
    uint32_t head[up_rows][heads];

#pragma unroll
    for (int k = 0; k < up_rows; k++) {
        uint4 of =
            make_uint4(HW_INVALID_VERTEX, HW_INVALID_VERTEX, HW_INVALID_VERTEX, HW_INVALID_VERTEX);
        if (row[k] != HW_INVALID_VERTEX)
            of = __ldcs(plan.heads + row[k]);
        head[k][0] = of.x, head[k][1] = of.y, head[k][2] = of.z, head[k][3] = of.w;
        column[k] = HW_INVALID_VERTEX;
    }
#pragma unroll
    for (int j = 0; j < heads; j++) {
        uint32_t word[up_rows];
#pragma unroll
        for (int k = 0; k < up_rows; k++) {
            const bool looks = column[k] == HW_INVALID_VERTEX && head[k][j] != HW_INVALID_VERTEX;
            word[k] = looks ? plan.front[head[k][j] / 32] : 0;
            looked += looks;
        }
#pragma unroll
        for (int k = 0; k < up_rows; k++)
            if (word[k] >> (head[k][j] & 31) & 1)
                column[k] = head[k][j];
    }
    more = 0;
#pragma unroll
    for (int k = 0; k < up_rows; k++)
        more |= (column[k] == HW_INVALID_VERTEX && head[k][heads - 1] != HW_INVALID_VERTEX) << k;
}

/* Looks further for the rows of all lanes that want that, bit k of more: for its k-th. Lanes share
 * them out by way of `room`, [up_rows * 32] of the warp. A whole warp. */
template <typename Offset>
__device__ __forceinline__ void look_on(const kernel_params &plan, const uint32_t *row,
                                        uint32_t more, uint32_t *column, uint32_t *room,
                                        uint32_t &looked)
{
    uint32_t slot[up_rows], count = 0;

#pragma unroll
    for (int k = 0; k < up_rows; k++) {
        const uint32_t ballot = __ballot_sync(HW_WARP, more >> k & 1);
        slot[k] = count + __popc(ballot & ((1u << lane_of()) - 1));
        count += __popc(ballot);
        if (more >> k & 1)
            room[slot[k]] = row[k];
    }
    if (count == 0)
        return;
    __syncwarp();
    for (uint32_t i = lane_of(); i < count + lane_of(); i += 32) {
        const uint32_t found =
            look_further<Offset>(plan, i < count ? room[i] : HW_INVALID_VERTEX, looked);
        if (i < count)
            room[i] = found;
    }
    __syncwarp();
#pragma unroll
    for (int k = 0; k < up_rows; k++)
        if (more >> k & 1)
            column[k] = room[slot[k]];
    __syncwarp();
}

/* Looks for a column for each of some rows a lane, HW_INVALID_VERTEX where there are fewer, and
 * keeps it. A whole warp. */
template <typename Offset>
__device__ __forceinline__ void look_rows(const kernel_params &plan, const uint32_t *row,
                                          uint32_t *column, uint32_t *room, uint32_t &looked)
{
    uint32_t more;

    look_heads(plan, row, column, more, looked);
    look_on<Offset>(plan, row, more, column, room, looked);
#pragma unroll
    for (int k = 0; k < up_rows; k++)
        if (column[k] != HW_INVALID_VERTEX)
            plan.pred[row[k]] = column[k];
}

/* The open rows of 32 words from `first` on, each lane's word `open`, where they are many. A whole
 * warp. */
template <typename Offset>
__device__ __forceinline__ void look_dense(const kernel_params &plan, uint32_t first, uint32_t open,
                                           picked_rows &room, uint32_t &looked)
{
    for (int base = 0; base < 32; base += up_rows) {
        uint32_t row[up_rows], column[up_rows];
#pragma unroll
        for (int k = 0; k < up_rows; k++) {
            const uint32_t word = __shfl_sync(HW_WARP, open, base + k);
            row[k] =
                word >> lane_of() & 1 ? (first + base + k) * 32 + lane_of() : HW_INVALID_VERTEX;
        }
        look_rows<Offset>(plan, row, column, room.further, looked);
#pragma unroll
        for (int k = 0; k < up_rows; k++) {
            const uint32_t found = __ballot_sync(HW_WARP, column[k] != HW_INVALID_VERTEX);
            if (lane_of() == 0 && found)
                atomicOr(plan.seen + first + base + k, found);
        }
    }
}

/* The same where they are few: lanes share them out. */
template <typename Offset>
__device__ __forceinline__ void look_sparse(const kernel_params &plan, uint32_t first,
                                            uint32_t open, picked_rows &room, uint32_t &looked)
{
    uint32_t at = hw_warp_scan(static_cast<uint32_t>(__popc(open)));
    const uint32_t count = __shfl_sync(HW_WARP, at, 31);

    at -= __popc(open);
    for (; open; open &= open - 1)
        room.at[at++] = static_cast<uint16_t>(lane_of() * 32 + __ffs(open) - 1);
    __syncwarp();
    for (uint32_t base = 0; base < count; base += up_rows * 32) {
        uint32_t row[up_rows], column[up_rows];
#pragma unroll
        for (int k = 0; k < up_rows; k++) {
            const uint32_t i = base + k * 32 + lane_of();
            row[k] = i < count ? first * 32 + room.at[i] : HW_INVALID_VERTEX;
        }
        look_rows<Offset>(plan, row, column, room.further, looked);
#pragma unroll
        for (int k = 0; k < up_rows; k++)
            if (column[k] != HW_INVALID_VERTEX)
                atomicOr(plan.seen + row[k] / 32, 1u << (row[k] & 31));
    }
    __syncwarp();
}

/* Rows whose lists are long, one after another. All threads of the grid. */
template <typename Offset>
__device__ __noinline__ void look_long(const kernel_params &plan, count64 rows, uint32_t &looked)
{
    for (count64 i = 0; i < rows; i++) {
        const uint32_t row = __ldcg(plan.queue + i);
        const Offset end = hw_begin<Offset>(plan.by_row, row + 1);
        Offset at = hw_begin<Offset>(plan.by_row, row) + static_cast<Offset>(hw_grid_thread());
        for (; at < end; at += static_cast<Offset>(hw_grid_threads())) {
            const uint32_t column = plan.by_row.rank[at], bit = 1u << (row & 31);
            looked++;
            if (__ldcg(plan.seen + row / 32) & bit)
                break;
            if (!in_front(plan, column))
                continue;
            if (!(atomicOr(plan.seen + row / 32, bit) & bit))
                plan.pred[row] = column;
            break;
        }
    }
}

/* The words of rows that are looked at in the turn-th place: those of own vertices first. */
__device__ __forceinline__ uint32_t words_in_turn(const kernel_params &plan, uint64_t turn)
{
    const uint32_t words = plan.columns * words_of(plan);
    const uint64_t first = turn + plan.column * words_of(plan);

    return static_cast<uint32_t>(first < words ? first : first - words);
}

/* Those of 32 words that have lists and are not visited, a word a lane; none past the last word.
 * Words are a multiple of 32. */
__device__ __forceinline__ uint32_t open_at(const kernel_params &plan, uint64_t turn)
{
    if (turn >= plan.columns * words_of(plan))
        return 0;
    const uint32_t w = words_in_turn(plan, turn) + lane_of();
    return plan.listed[w] & ~__ldcg(plan.seen + w);
}

/* Those of them that their owner has not visited either, as far as it has come: it looked at its
 * own vertices first, too. What it visits meanwhile is looked for in vain. */
__device__ __forceinline__ uint32_t still_open(const kernel_params &plan, uint32_t first,
                                               uint32_t open)
{
    const uint32_t m = first / words_of(plan); /* all are of one block */
    const volatile uint32_t *theirs = plan.theirs[m];

    return theirs && open ? open & ~theirs[first - m * words_of(plan) + lane_of()] : open;
}

/* A level bottom-up. In the first one others may not have forgotten the last search yet. All
 * threads of the grid. */
template <typename Offset>
__device__ __noinline__ void look_up(const kernel_params &plan, uint32_t depth,
                                     cg::grid_group &grid, shared &room)
{
    const uint64_t stride = hw_grid_threads(), turns = plan.columns * words_of(plan);
    uint64_t turn = hw_grid_thread() / 32 * 32;
    uint32_t looked = 0;

    for (uint32_t next = open_at(plan, turn); turn < turns; turn += stride) {
        const uint32_t first = words_in_turn(plan, turn);
        const uint32_t open = depth > 0 ? still_open(plan, first, next) : next;
        const uint32_t count = hw_warp_sum(__popc(open));
        picked_rows &rows = room.scan.rows[threadIdx.x / 32];
        next = open_at(plan, turn + stride);
        if (count > up_sparse)
            look_dense<Offset>(plan, first, open, rows, looked);
        else if (count > 0)
            look_sparse<Offset>(plan, first, open, rows, looked);
    }
    grid.sync();
    look_long<Offset>(plan, min(hw_load_relaxed(&plan.control->queue[1]), queue_room(plan)),
                      looked);
    if (!plan.step)
        return;
    add_up(&plan.control->looked, looked, room);
    grid.sync();
}

} // namespace
} // namespace hw_scan2d_grid

#endif
