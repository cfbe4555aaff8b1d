/*
 * Method `scan2d` on a grid of GPUs: the gathered frontier. The sets that the parts of the grid
 * column sent become a queue of adjacency lists with the exclusive prefix sums of their lengths.
 *
 * Each list is sorted by position within blocks, so that rows at the first positions, the hubs
 * under --order degree, come first. Once all rows below some position are visited, the entries of
 * such rows are skipped: the last four entries of all lists, stored apart, are visited at once, and
 * only lists that may have more unvisited entries are queued, from a bisection of the list on. (The
 * paper examines every edge, and so does variant.examines_visited.)
 */
#ifndef HOPWAVE_GPU_BFS_GRID2D_SCAN2D_GATHER_CUH
#define HOPWAVE_GPU_BFS_GRID2D_SCAN2D_GATHER_CUH

#include "gpu/bfs/grid2d/scan2d_grouping.cuh"
#include "gpu/device/ptx.cuh"

namespace hw_scan2d
{
namespace
{

constexpr int columns_per_thread = 2;                  /* that a thread gathers at a time */
constexpr uint32_t positions_per_block = 16 * threads; /* tile of a set */

/* Columns that a thread gathers at a time, and the rest of their lists. */
template <typename Offset> struct list_batch {
    uint32_t column[columns_per_thread]; /* HW_INVALID_VERTEX: none */
    Offset begin[columns_per_thread], end[columns_per_thread];
};

/* A queue of lists. */
template <typename Offset> struct list_queue {
    uint32_t *column;
    Offset *prefix, *shift;
    count64 *size; /* packed */
};

/* The queue in one half of the arrays: the rest of one queue is requeued in the other half. */
template <typename Offset>
__device__ __forceinline__ list_queue<Offset> list_queue_of(const kernel_params &params,
                                                            uint32_t half)
{
    const uint64_t at =
        half ? static_cast<uint64_t>(params.config.rows) * params.config.block / 2 : 0;

    return {params.search.queue + at, static_cast<Offset *>(params.search.prefix) + at,
            static_cast<Offset *>(params.search.shift) + at, &params.search.control->queue[half]};
}

/* Appends the nonempty lists of a batch to a queue. All threads of the block. */
template <typename Offset>
__device__ __forceinline__ void enqueue(const list_queue<Offset> &to,
                                        const list_batch<Offset> &batch, block_shared &smem)
{
    count64 own[columns_per_thread], sum = 0, before, total;

#pragma unroll
    for (int k = 0; k < columns_per_thread; k++) {
        own[k] = hw_pack_entry(batch.end[k] - batch.begin[k], edge_bits);
        sum += own[k];
    }
    if (!__syncthreads_or(sum != 0)) /* also: the last scan has been read */
        return;
    block_scan(smem.scan.edges).ExclusiveSum(sum, before, total);
    if (threadIdx.x == 0)
        smem.start = atomicAdd(to.size, total);
    __syncthreads();
    before += smem.start;
#pragma unroll
    for (int k = 0; k < columns_per_thread; k++) {
        if (own[k]) {
            const Offset edges = static_cast<Offset>(hw_packed_work(before, edge_bits));
            to.column[hw_packed_entries(before, edge_bits)] = batch.column[k];
            to.prefix[hw_packed_entries(before, edge_bits)] = edges;
            to.shift[hw_packed_entries(before, edge_bits)] = batch.begin[k] - edges;
        }
        before += own[k];
    }
}

/* ---- visited prefixes of lists ---- */

/* The position below which entries are skipped: all rows at lower positions are visited. 0 where
 * there are too few of them for searches in the lists to pay. */
__device__ __forceinline__ uint32_t skip_below(const kernel_params &params, uint32_t depth)
{
    const uint32_t first_unvisited =
        static_cast<uint32_t>(hw_load_relaxed(&params.search.control->first_unvisited[depth & 1]));

    return first_unvisited >= params.config.block / 128 ? first_unvisited : 0;
}

/* Lowers *first_unvisited to the first position at which some local row is unvisited. All threads
 * of the grid. */
__device__ __noinline__ void find_first_unvisited(const kernel_params &params,
                                                  count64 *first_unvisited)
{
    uint32_t first = params.config.block;

    for (uint32_t m = 0; m < params.config.columns; m++) {
        const uint32_t *visited = params.search.visited + m * words_of(params);
        for (uint64_t w = hw_grid_thread(); w < words_of(params) && w * 32 < first;
             w += hw_grid_threads()) {
            const uint32_t left = ~__ldcg(visited + w);
            if (left)
                first = min(first, static_cast<uint32_t>(w) * 32 + __ffs(left) - 1);
        }
    }
    first = hw_warp_min(first);
    if (lane_of() == 0 && first < hw_load_relaxed(first_unvisited))
        atomicMin(first_unvisited, static_cast<count64>(first));
}

/* Visits the last entries of lists, given that all rows at positions below first_unvisited are
 * visited: they come first, and most lists have few other entries. Lists that may have more are
 * left in the batch. Returns the entries examined. */
template <typename Offset, bool varied>
__device__ __forceinline__ uint32_t visit_tails(const kernel_params &params,
                                                uint32_t first_unvisited, list_batch<Offset> &batch)
{
    uint32_t row[columns_per_thread * tail_entries], examined = 0;

#pragma unroll
    for (int k = 0; k < columns_per_thread; k++) {
        uint4 last =
            make_uint4(HW_INVALID_VERTEX, HW_INVALID_VERTEX, HW_INVALID_VERTEX, HW_INVALID_VERTEX);
        if (batch.column[k] != HW_INVALID_VERTEX)
            last = __ldcs(params.list_tails + batch.column[k]);
        row[k * tail_entries] = last.x, row[k * tail_entries + 1] = last.y;
        row[k * tail_entries + 2] = last.z, row[k * tail_entries + 3] = last.w;
    }
#pragma unroll
    for (int i = 0; i < columns_per_thread * tail_entries; i++)
        if (row[i] != HW_INVALID_VERTEX && position_of(params, row[i]) < first_unvisited)
            row[i] = HW_INVALID_VERTEX;
#pragma unroll
    for (int k = 0; k < columns_per_thread; k++) {
        uint32_t count = 0;
#pragma unroll
        for (int j = 0; j < tail_entries; j++)
            count += row[k * tail_entries + j] != HW_INVALID_VERTEX;
        batch.begin[k] = batch.end[k] = 0;
        if (count == tail_entries) {
            batch.begin[k] = hw_list_begin<Offset>(params.by_column, batch.column[k]);
            batch.end[k] =
                hw_list_begin<Offset>(params.by_column, batch.column[k] + 1) - tail_entries;
        }
        examined += count;
    }
    const auto source = [&](int i) { return batch.column[i / tail_entries]; };
    if constexpr (varied)
        group_by_owner<columns_per_thread * tail_entries>(
            params, row, visit<columns_per_thread * tail_entries>(visited_of(params), row, source));
    else
        visit<columns_per_thread * tail_entries>(visited_of(params), row, source);
    return examined;
}

/* Moves the beginning of each list to the first row at position first_unvisited or above: by a
 * search from the end where most rows are visited, else by bisection of all lists of the batch
 * together, whose loads then overlap: the searches of gpu/device/prefix_search.cuh take one list a
 * thread. */
template <typename Offset>
__device__ __forceinline__ void skip_visited(const kernel_params &params, uint32_t first_unvisited,
                                             list_batch<Offset> &batch)
{
    auto is_unvisited = [&](Offset e) {
        return position_of(params, params.by_column.neighbor[e]) >= first_unvisited;
    };
    Offset upper[columns_per_thread];
    bool more = first_unvisited < params.config.block / 8;

#pragma unroll
    for (int k = 0; k < columns_per_thread; k++) {
        upper[k] = batch.end[k];
        if (!more)
            batch.begin[k] = first_unvisited_entry(batch.begin[k], batch.end[k], is_unvisited);
    }
    while (more) {
        Offset middle[columns_per_thread];
        uint32_t row[columns_per_thread];
        more = false;
#pragma unroll
        for (int k = 0; k < columns_per_thread; k++) {
            middle[k] = batch.begin[k] + (upper[k] - batch.begin[k]) / 2;
            row[k] =
                middle[k] < upper[k] ? params.by_column.neighbor[middle[k]] : HW_INVALID_VERTEX;
        }
#pragma unroll
        for (int k = 0; k < columns_per_thread; k++) {
            if (middle[k] == upper[k])
                continue;
            if (position_of(params, row[k]) >= first_unvisited)
                upper[k] = middle[k];
            else
                batch.begin[k] = middle[k] + 1;
            more = true;
        }
    }
}

/* ---- deferred lists ---- */

/* Lists that have more unvisited entries than their tails, until a block searches for where these
 * begin. */
constexpr uint32_t max_deferred = 2 * columns_per_thread * threads;
template <typename Offset> struct deferred_lists {
    uint32_t column[max_deferred];
    Offset begin[max_deferred], end[max_deferred];
    uint32_t count;
};

/* Appends the lists of a batch. Returns whether another batch may not fit. All threads of the
 * block. */
template <typename Offset>
__device__ __forceinline__ bool defer(const list_batch<Offset> &batch,
                                      deferred_lists<Offset> &deferred)
{
    uint32_t upto = 0;

#pragma unroll
    for (int k = 0; k < columns_per_thread; k++) {
        const bool mine = batch.begin[k] < batch.end[k];
        const uint32_t ballot = __ballot_sync(HW_WARP, mine);
        uint32_t at = 0;
        if (ballot == 0)
            continue;
        if (lane_of() == 0)
            at = atomicAdd(&deferred.count, __popc(ballot));
        at = __shfl_sync(HW_WARP, at, 0);
        upto = at + __popc(ballot);
        at += __popc(ballot & ((1u << lane_of()) - 1));
        if (mine) {
            deferred.column[at] = batch.column[k];
            deferred.begin[at] = batch.begin[k];
            deferred.end[at] = batch.end[k];
        }
    }
    return __syncthreads_or(upto > max_deferred - columns_per_thread * threads);
}

/* Queues the deferred lists, each from the first row at position first_unvisited or above. All
 * threads of the block, after a barrier. varied: one for each kind of kernel, which then do not
 * affect each other's registers. */
template <typename Offset, bool varied>
__device__ __noinline__ void queue_deferred(const kernel_params &params, uint32_t first_unvisited,
                                            deferred_lists<Offset> &deferred, block_shared &smem)
{
    const uint32_t count = deferred.count;

    for (uint32_t base = 0; base < count; base += columns_per_thread * threads) {
        list_batch<Offset> batch;
#pragma unroll
        for (int k = 0; k < columns_per_thread; k++) {
            const uint32_t i = base + k * threads + threadIdx.x;
            batch.column[k] = i < count ? deferred.column[i] : HW_INVALID_VERTEX;
            batch.begin[k] = i < count ? deferred.begin[i] : 0;
            batch.end[k] = i < count ? deferred.end[i] : 0;
        }
        skip_visited(params, first_unvisited, batch);
        enqueue(list_queue_of<Offset>(params, 0), batch, smem);
    }
    __syncthreads();
    if (threadIdx.x == 0)
        deferred.count = 0;
    __syncthreads();
}

/* ---- gathering ---- */

/* Positions of a set that are in a tile of a block. */
struct picked_positions {
    uint16_t at[positions_per_block];
};

/* The at-th position of the tile that this block takes in an iteration. Words are distributed over
 * blocks cyclically, since lists of adjacent positions have similar lengths. */
__device__ __forceinline__ uint32_t picked_position(uint32_t iteration, uint32_t at)
{
    return ((iteration * (positions_per_block / 32) + at / 32) * gridDim.x + blockIdx.x) * 32 +
           (at & 31);
}

/* Lists the positions of this block's tile that are in a bitmap, and prefetches the tails of their
 * lists. Returns their number. All threads of the block. */
__device__ __forceinline__ uint32_t pick_positions(const kernel_params &params, const uint32_t *set,
                                                   const uint4 *tails_of, uint32_t iteration,
                                                   picked_positions &picks, block_shared &smem)
{
    const uint32_t first = 16 * threadIdx.x, position = picked_position(iteration, first);
    uint32_t bits = 0, at, total;

    if (position < params.config.block)
        bits = __ldcg(set + position / 32) >> (first & 16) & 0xffff;
    if (bits & 0xff) /* a line of ends each */
        hw_prefetch_l2(tails_of + position);
    if (bits & 0xff00)
        hw_prefetch_l2(tails_of + position + 8);
    __syncthreads(); /* the last picks have been read */
    word_scan(smem.scan.words).ExclusiveSum(__popc(bits), at, total);
    for (; bits; bits &= bits - 1)
        picks.at[at++] = static_cast<uint16_t>(first + __ffs(bits) - 1);
    __syncthreads();
    return total;
}

/* Queues or defers up to columns_per_thread columns a thread, except those whose unvisited entries
 * are all among the tails. column(k): the k-th of this thread, or HW_INVALID_VERTEX. Returns the
 * edges examined. All threads of the block. */
template <typename Offset, bool varied, typename Column>
__device__ __forceinline__ uint32_t gather_some(const kernel_params &params,
                                                uint32_t first_unvisited, Column column,
                                                deferred_lists<Offset> &deferred,
                                                block_shared &smem)
{
    list_batch<Offset> batch;
    uint32_t examined = 0;

#pragma unroll
    for (int k = 0; k < columns_per_thread; k++)
        batch.column[k] = column(k);
    if (first_unvisited > 0) {
        examined = visit_tails<Offset, varied>(params, first_unvisited, batch);
        if (defer(batch, deferred))
            queue_deferred<Offset, varied>(params, first_unvisited, deferred, smem);
        return examined;
    }
#pragma unroll
    for (int k = 0; k < columns_per_thread; k++) {
        const uint32_t u = batch.column[k];
        batch.begin[k] = u != HW_INVALID_VERTEX ? hw_list_begin<Offset>(params.by_column, u) : 0;
        batch.end[k] = u != HW_INVALID_VERTEX ? hw_list_begin<Offset>(params.by_column, u + 1) : 0;
    }
    enqueue(list_queue_of<Offset>(params, 0), batch, smem);
    return 0;
}

/* Gathers the frontier of one part of the grid column. Returns the edges examined. All threads of
 * the grid. */
template <typename Offset, bool varied>
__device__ __forceinline__ uint32_t gather_set(const kernel_params &params, const uint32_t *set,
                                               uint32_t r, count64 count, uint32_t first_unvisited,
                                               picked_positions &picks,
                                               deferred_lists<Offset> &deferred, block_shared &smem)
{
    constexpr uint32_t tile = columns_per_thread * threads;
    const bool bitmap =
        hw_scan2d_grid_as_bitmap(params.config.exchange, params.config.column_active[r], count);
    const uint32_t limit = bitmap ? params.config.block : static_cast<uint32_t>(count);
    const uint32_t stride = gridDim.x * (bitmap ? positions_per_block : tile),
                   first = r * params.config.block;
    uint32_t examined = 0;

    for (uint32_t iteration = 0; iteration * stride < limit; iteration++) {
        const uint32_t base = iteration * stride + blockIdx.x * tile;
        const uint32_t size =
            bitmap ? pick_positions(params, set, params.list_tails + first, iteration, picks, smem)
            : base < limit ? min(limit - base, tile)
                           : 0;
        for (uint32_t from = threadIdx.x; from < size + threadIdx.x; from += tile)
            examined += gather_some<Offset, varied>(
                params, first_unvisited,
                [&](int k) {
                    const uint32_t i = from + k * threads;
                    if (i >= size)
                        return HW_INVALID_VERTEX;
                    return first + (bitmap ? picked_position(iteration, picks.at[i])
                                           : __ldcg(set + base + i));
                },
                deferred, smem);
    }
    return examined;
}

/* Queues the root if its column is local. One thread. */
template <typename Offset> __device__ void queue_root(const kernel_params &params, uint32_t root)
{
    const uint32_t first = params.config.column * params.config.rows * params.config.block;

    if (root < first || root - first >= params.config.rows * params.config.block)
        return;
    const uint32_t u = root - first;
    if (params.bottom_up.frontier_bits)
        params.bottom_up.frontier_bits[u / 32] = 1u << (u & 31);
    params.search.queue[0] = u;
    static_cast<Offset *>(params.search.prefix)[0] = 0;
    static_cast<Offset *>(params.search.shift)[0] = hw_list_begin<Offset>(params.by_column, u);
    params.search.control->queue[0] = hw_pack_entry(hw_list_begin<Offset>(params.by_column, u + 1) -
                                                        hw_list_begin<Offset>(params.by_column, u),
                                                    edge_bits);
}

} // namespace
} // namespace hw_scan2d

#endif
