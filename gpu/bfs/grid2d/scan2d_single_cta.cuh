/*
 * Method `scan2d` on a grid of GPUs that map each other's memory: levels of few edges. One block of
 * each GPU does one level after another, with all phases of a level and two all-gathers a level
 * inside the kernel. An addition to the paper.
 *
 * If a level turns out to have more edges than the limit on some part, all parts leave it to the
 * kernels of full levels. Then some rows are in `visited` already that these kernels must discover:
 * they count as discovered what `visited_before` does not have, so `visited_before` is only updated
 * here once no part exceeds the limit.
 */
#ifndef HOPWAVE_GPU_BFS_GRID2D_SCAN2D_SINGLE_CTA_CUH
#define HOPWAVE_GPU_BFS_GRID2D_SCAN2D_SINGLE_CTA_CUH

#include "gpu/bfs/grid2d/scan2d_exchange.cuh"
#include "gpu/comm/allgather.cuh"

namespace hw_scan2d_grid
{
namespace
{

constexpr int few_threads = 1024;
constexpr int few_lists = 2; /* of a thread at a time */
constexpr uint32_t few_tile = few_lists * few_threads;
constexpr uint32_t few_levels_most = 1024; /* in one launch, for the host to hear in time */
constexpr count64 too_many = 1ull << 63;   /* in the first word of a round: edges */
using few_scan = cub::BlockScan<uint32_t, few_threads>;

struct few_room {
    uint64_t heard[HW_ALLGATHER_RANKS][HW_ALLGATHER_WORDS];
    few_scan::TempStorage scan;
    uint32_t column[few_tile];           /* of a tile of lists */
    uint32_t before[few_tile];           /* edges of the tile before each */
    count64 begin[few_tile];             /* where each begins, less these */
    uint32_t set[HW_SCAN2D_GRID_LINE];   /* the frontier's vertices by row of the grid */
    uint32_t count[HW_SCAN2D_GRID_LINE]; /* rows found, by column of the grid; own is what is new */
    uint32_t rows;                       /* found, of all columns */
};

/* Where rows that were found are listed, and the positions of own vertices that are new. */
__device__ __forceinline__ uint32_t *few_rows(const kernel_params &plan)
{
    return plan.queue;
}

__device__ __forceinline__ uint32_t *few_own(const kernel_params &plan)
{
    return static_cast<uint32_t *>(plan.prefix);
}

/* Appends a value of each lane that has one. A whole warp. */
__device__ __forceinline__ void append(uint32_t *to, uint32_t *count, bool mine, uint32_t value)
{
    const uint32_t ballot = __ballot_sync(HW_WARP, mine);
    uint32_t at = 0;

    if (ballot == 0)
        return;
    if (lane_of() == 0)
        at = atomicAdd(count, static_cast<uint32_t>(__popc(ballot)));
    at = __shfl_sync(HW_WARP, at, 0);
    if (mine)
        to[at + __popc(ballot & ((1u << lane_of()) - 1))] = value;
}

/* Makes the counts of a level ready. Returns the lists that its frontier has here. All threads. */
__device__ uint32_t few_begin(const kernel_params &plan, uint32_t depth, uint32_t root,
                              const told_t *told, few_room &room)
{
    const uint32_t r = threadIdx.x, first = plan.column * plan.rows * plan.block;
    uint32_t lists = 0;

    if (r < plan.rows) {
        const bool here = root >= first + r * plan.block && root < first + (r + 1) * plan.block;
        room.set[r] =
            depth == 0
                ? here
                : static_cast<uint32_t>(__ldcg(&told->by_rank[part_at(plan, r, plan.column)][0]));
    }
    if (threadIdx.x < HW_SCAN2D_GRID_LINE)
        room.count[threadIdx.x] = 0;
    if (threadIdx.x == 0)
        room.rows = 0;
    __syncthreads();
    for (uint32_t k = 0; k < plan.rows; k++)
        lists += room.set[k];
    return lists;
}

/* The i-th local column of the frontier. */
__device__ __forceinline__ uint32_t few_column(const kernel_params &plan, uint32_t depth,
                                               uint32_t root, uint32_t i, const few_room &room)
{
    uint32_t r = 0;

    if (depth == 0)
        return root - plan.column * plan.rows * plan.block;
    for (; i >= room.set[r]; r++)
        i -= room.set[r];
    return r * plan.block + __ldcg(plan.expand_in[depth & 1][r] + i);
}

/* Lays the edges of a tile of lists out. Returns how many there are. All threads. */
template <typename Offset>
__device__ uint32_t few_lay(const kernel_params &plan, uint32_t depth, uint32_t root, uint32_t base,
                            uint32_t lists, few_room &room)
{
    const uint32_t slot = few_lists * threadIdx.x;
    uint32_t column[few_lists], length[few_lists], sum = 0, before, all;
    Offset begin[few_lists];

#pragma unroll
    for (int k = 0; k < few_lists; k++) {
        const bool is = base + slot + k < lists;
        column[k] = is ? few_column(plan, depth, root, base + slot + k, room) : 0;
        begin[k] = is ? hw_begin<Offset>(plan.lists, column[k]) : 0;
        const Offset end = is ? hw_begin<Offset>(plan.lists, column[k] + 1) : 0;
        length[k] = static_cast<uint32_t>(min(end - begin[k], static_cast<Offset>(plan.few) + 1));
        sum += length[k];
    }
    few_scan(room.scan).ExclusiveSum(sum, before, all);
#pragma unroll
    for (int k = 0; k < few_lists; k++) {
        room.column[slot + k] = column[k];
        room.before[slot + k] = before;
        room.begin[slot + k] = static_cast<count64>(begin[k]) - before;
        before += length[k];
    }
    __syncthreads();
    return all;
}

/* The last list of a tile that begins with the edge e or before it, and has some. */
__device__ __forceinline__ uint32_t few_slot(uint32_t e, const few_room &room)
{
    uint32_t low = 0, high = few_tile;

    while (high - low > 1) {
        const uint32_t middle = (low + high) / 2;
        if (room.before[middle] <= e)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Expands the frontier. Returns the edges looked at, or more than plan.few where there are more.
 * All threads. */
template <typename Offset>
__device__ uint32_t few_expand(const kernel_params &plan, uint32_t depth, uint32_t root,
                               uint32_t lists, few_room &room)
{
    uint32_t looked = 0;

    for (uint32_t base = 0; base < lists; base += few_tile) {
        const uint32_t all = few_lay<Offset>(plan, depth, root, base, lists, room);
        looked += min(all, plan.few + 1);
        if (looked > plan.few)
            return looked;
        for (uint32_t from = 0; from < all; from += few_threads) {
            const uint32_t e = from + threadIdx.x;
            uint32_t row = HW_INVALID_VERTEX, slot = 0;
            if (e < all) {
                slot = few_slot(e, room);
                row = plan.lists.rank[room.begin[slot] + e];
            }
            const uint32_t fresh =
                visit<1>(visited_of(plan), &row, [&](int) { return room.column[slot]; });
            append(few_rows(plan), &room.rows, fresh != 0, row);
        }
        __syncthreads();
    }
    return looked;
}

/* Sends the other columns of the grid what was found for them. All threads. */
__device__ void few_fold(const kernel_params &plan, few_room &room)
{
    const uint32_t *rows = few_rows(plan);

    for (uint32_t base = 0; base < room.rows; base += few_threads) {
        const uint32_t k = base + threadIdx.x;
        const uint32_t row = k < room.rows ? rows[k] : HW_INVALID_VERTEX;
        for (uint32_t m = 0; m < plan.columns; m++)
            append(m == plan.column ? few_own(plan) : plan.fold_out[m], &room.count[m],
                   row != HW_INVALID_VERTEX && row / plan.block == m, row - m * plan.block);
    }
    __syncthreads();
}

/* Takes own vertices that the others of the grid row have found. All threads. */
__device__ void few_receive(const kernel_params &plan, few_room &room)
{
    uint32_t *own = few_own(plan);

    for (uint32_t m = 0; m < plan.columns; m++) {
        const uint32_t count =
            m == plan.column
                ? 0
                : static_cast<uint32_t>(room.heard[part_at(plan, plan.row, m)][plan.column]);
        for (uint32_t base = 0; base < count; base += few_threads) {
            const uint32_t k = base + threadIdx.x;
            const uint32_t t = k < count ? __ldcg(plan.fold_in[m] + k) : 0;
            append(own, &room.count[plan.column], k < count && take(plan, m, t), t);
        }
    }
    __syncthreads();
}

/* Settles what is new, and sends it along the grid column. All threads. */
__device__ void few_settle(const kernel_params &plan, uint32_t depth, few_room &room)
{
    const uint32_t *rows = few_rows(plan), *own = few_own(plan);
    const uint32_t count = room.count[plan.column];

    for (uint32_t k = threadIdx.x; k < room.rows; k += few_threads)
        atomicOr(plan.before + rows[k] / 32, 1u << (rows[k] & 31));
    for (uint32_t k = threadIdx.x; k < count; k += few_threads) {
        const uint32_t t = own[k];
        atomicOr(plan.before + plan.column * words_of(plan) + t / 32, 1u << (t & 31));
        plan.level[t] = static_cast<int32_t>(depth) + 1;
        for (uint32_t r = 0; r < plan.rows; r++)
            plan.expand_out[(depth + 1) & 1][r][k] = t;
    }
    if (threadIdx.x == 0)
        plan.control->open[(depth + 1) & 1] = plan.control->open[depth & 1];
}

/* A round of `count` words, word(k). All threads. */
template <typename Word>
__device__ void few_meet(const kernel_params &plan, const hw_allgather_params &round,
                         uint32_t number, uint32_t count, Word word, told_t *result, few_room &room)
{
    if (threadIdx.x < count)
        plan.control->few[threadIdx.x] = word(threadIdx.x);
    __syncthreads();
    hw_allgather_block(round, reinterpret_cast<const uint64_t *>(plan.control->few),
                       static_cast<int>(count), 0, number, result, room.heard);
    __syncthreads();
}

/* Whether a round went well, and no part has too many edges. */
__device__ bool few_agree(const hw_allgather_params &round, const told_t *result,
                          const few_room &room)
{
    bool fine = hw_load_relaxed(&result->failed) == 0;

    for (uint32_t q = 0; q < round.ranks; q++)
        fine = fine && !(room.heard[q][0] & too_many);
    return fine;
}

/* Books a level that is done. One thread. */
__device__ void few_book(const kernel_params &plan, uint32_t depth, count64 frontier,
                         uint32_t looked, const uint64_t (&time)[HW_SCAN2D_GRID_MARKS],
                         const few_room &room)
{
    begin_row(plan, depth, frontier);
    hw_scan2d_grid_row *row = row_of(plan, depth);
    row->edges += looked;
    row->found += room.count[plan.column];
    for (int k = 0; k < HW_SCAN2D_GRID_MARKS; k++)
        row->time[k] = time[k];
    for (uint32_t m = 0; m < plan.columns; m++)
        if (m != plan.column)
            book(plan, row, plan.row_active[m], room.count[m]);
}

/* A level. told: what the round before it gave; result: [2] of its own two. Whether it was
 * done. All threads. */
template <typename Offset>
__device__ bool few_level(const kernel_params &plan, uint32_t depth, uint32_t root,
                          const told_t *told, const hw_allgather_params &round, uint32_t number,
                          told_t *result, few_room &room)
{
    const uint32_t own = part_at(plan, plan.row, plan.column);
    const count64 frontier =
        depth > 0 ? __ldcg(&told->by_rank[own][0]) : static_cast<count64>(root / plan.block == own);
    uint64_t time[HW_SCAN2D_GRID_MARKS] = {hw_nanoseconds()};
    const uint32_t lists = few_begin(plan, depth, root, told, room);
    const uint32_t looked = few_expand<Offset>(plan, depth, root, lists, room);
    const bool over = looked > plan.few;

    if (!over)
        few_fold(plan, room);
    time[HW_SCAN2D_GRID_EXPANDED] = hw_nanoseconds();
    few_meet(
        plan, round, number + 1, plan.columns,
        [&](uint32_t m) {
            return (m == plan.column ? 0 : room.count[m]) | (m == 0 && over ? too_many : 0);
        },
        result, room);
    if (!few_agree(round, result, room))
        return false;
    time[HW_SCAN2D_GRID_FOLDED] = hw_nanoseconds();
    few_receive(plan, room);
    few_settle(plan, depth, room);
    time[HW_SCAN2D_GRID_UPDATED] = hw_nanoseconds();
    if (keeps_rows(plan))
        few_book(plan, depth, frontier, looked, time, room);
    few_meet(
        plan, round, number + 2, 1, [&](uint32_t) { return room.count[plan.column]; }, result + 1,
        room);
    return true;
}

/* Levels as long as there are few edges. told: what the last round gave, on the way out as well. */
template <typename Offset>
__global__ void __launch_bounds__(few_threads, 1)
    few_levels(const __grid_constant__ kernel_params plan, uint32_t root, told_t *told,
               const __grid_constant__ hw_allgather_params round, told_t *result)
{
    __shared__ few_room room;
    const uint32_t first = static_cast<uint32_t>(hw_load_relaxed(&plan.control->depth));
    uint32_t number = max(hw_load_relaxed(&result[0].number), hw_load_relaxed(&result[1].number));
    uint32_t depth = first;
    count64 all = depth > 0 ? hw_load_relaxed(&told->reduced[0]) : 1;
    const told_t *last = told;

    while (all > 0 && all <= plan.few && depth - first < few_levels_most &&
           few_level<Offset>(plan, depth, root, last, round, number, result, room)) {
        last = result + 1;
        all = hw_load_relaxed(&last->reduced[0]);
        number += 2;
        depth++;
    }
    if (depth == first)
        return;
    for (uint32_t k = threadIdx.x; k < sizeof *told / 4; k += few_threads)
        reinterpret_cast<uint32_t *>(told)[k] =
            __ldcg(reinterpret_cast<const uint32_t *>(result + 1) + k);
    if (threadIdx.x == 0)
        plan.control->depth = depth;
}

} // namespace
} // namespace hw_scan2d_grid

#endif
