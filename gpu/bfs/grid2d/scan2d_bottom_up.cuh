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

namespace hw_scan2d
{
namespace
{

constexpr int head_entries = 4; /* first entries of a list, stored apart */
/* Entries that a lane examines alone, then that its warp does, before all blocks do. */
constexpr uint32_t max_lane_entries = 32, max_warp_entries = 8192;

/* The vertices in the frontier of the grid column. */
__device__ __forceinline__ count64 frontier_size(const kernel_params &params,
                                                 const allgather_result *counts)
{
    count64 size = 0;

    for (uint32_t r = 0; r < params.config.rows; r++)
        size += counts->by_rank[part_at(params, r, params.config.column)][0];
    return size;
}

/* Whether a level goes bottom-up whatever the number of its edges, so that its frontier need not be
 * queued. */
__device__ __forceinline__ bool has_large_frontier(const kernel_params &params, uint32_t depth,
                                                   const allgather_result *counts)
{
    return params.bottom_up.list_heads &&
           (params.bottom_up.min_columns == 0 ||
            (depth > 0 && frontier_size(params, counts) >= params.bottom_up.min_columns));
}

/* Whether a level goes bottom-up, once its frontier is queued; not if entries were visited while it
 * was queued. */
__device__ __forceinline__ bool is_bottom_up(const kernel_params &params, uint32_t depth,
                                             uint32_t unvisited, const allgather_result *counts)
{
    return has_large_frontier(params, depth, counts) ||
           (params.bottom_up.list_heads && unvisited == 0 &&
            hw_packed_work(hw_load_relaxed(&params.search.control->queue[0]), edge_bits) >=
                params.bottom_up.min_edges);
}

/* Adds the frontier of one part of the grid column to the bitmap. All threads of the grid. */
__device__ __forceinline__ void set_frontier_bits(const kernel_params &params, const uint32_t *set,
                                                  uint32_t r, count64 count)
{
    uint32_t *frontier = params.bottom_up.frontier_bits + r * words_of(params);

    if (hw_scan2d_grid_as_bitmap(params.config.exchange, params.config.column_active[r], count)) {
        const uint4 *from = reinterpret_cast<const uint4 *>(set);
        for (uint64_t w = hw_grid_thread(); w < words_of(params) / 4; w += hw_grid_threads())
            reinterpret_cast<uint4 *>(frontier)[w] = __ldcg(from + w);
    } else {
        for (uint64_t k = hw_grid_thread(); k < count; k += hw_grid_threads()) {
            const uint32_t at = __ldcg(set + k);
            atomicOr(frontier + at / 32, 1u << (at & 31));
        }
    }
}

/* Clears the bitmap of the frontier. All threads of the grid. */
__device__ __forceinline__ void clear_frontier_bits(const kernel_params &params)
{
    const uint64_t words = static_cast<uint64_t>(params.config.rows) * words_of(params);

    if (!params.bottom_up.frontier_bits)
        return;
    for (uint64_t w = hw_grid_thread(); w < words / 4; w += hw_grid_threads())
        reinterpret_cast<uint4 *>(params.bottom_up.frontier_bits)[w] = make_uint4(0, 0, 0, 0);
}

__device__ __forceinline__ bool in_frontier(const kernel_params &params, uint32_t column)
{
    return params.bottom_up.frontier_bits[column / 32] >> (column & 31) & 1;
}

/* Capacity of the queue. */
__device__ __forceinline__ count64 queue_capacity(const kernel_params &params)
{
    return static_cast<count64>(params.config.rows) * params.config.block;
}

/* The rest of the list of a row. */
template <typename Offset> struct list_rest {
    Offset at, end;
};

/* Examines up to max_lane_entries more entries. Returns a column of the frontier or
 * HW_INVALID_VERTEX. One lane. */
template <typename Offset>
__device__ __forceinline__ uint32_t search_by_lane(const kernel_params &params,
                                                   list_rest<Offset> &rest, uint32_t &examined)
{
    for (uint32_t i = 0; i < max_lane_entries && rest.at < rest.end;
         i += head_entries, rest.at += head_entries) {
        uint32_t column[head_entries];
#pragma unroll
        for (int k = 0; k < head_entries; k++)
            column[k] = rest.at + k < rest.end ? params.bottom_up.by_row.neighbor[rest.at + k]
                                               : HW_INVALID_VERTEX;
#pragma unroll
        for (int k = 0; k < head_entries; k++) {
            examined += column[k] != HW_INVALID_VERTEX;
            if (column[k] != HW_INVALID_VERTEX && in_frontier(params, column[k]))
                return column[k];
        }
    }
    return HW_INVALID_VERTEX;
}

/* Queues a row with a long list for all blocks, while the queue has capacity. */
template <typename Offset>
__device__ __forceinline__ void defer_long_list(const kernel_params &params, uint32_t row,
                                                list_rest<Offset> &rest)
{
    if (rest.at >= rest.end || rest.end - rest.at <= max_warp_entries)
        return;
    const count64 index = atomicAdd(&params.search.control->queue[1], 1ull);
    if (index >= queue_capacity(params))
        return;
    params.search.queue[index] = row;
    rest.at = rest.end;
}

/* Searches the remaining lists of all lanes, one after another. Returns the column for the row of
 * this lane. Warp-collective. */
template <typename Offset>
__device__ __forceinline__ uint32_t search_by_warp(const kernel_params &params,
                                                   list_rest<Offset> rest, uint32_t row,
                                                   uint32_t &examined)
{
    uint32_t result = HW_INVALID_VERTEX;

    defer_long_list(params, row, rest);
    for (uint32_t lanes = __ballot_sync(HW_WARP, rest.at < rest.end); lanes; lanes &= lanes - 1) {
        const int lane = __ffs(lanes) - 1;
        const Offset end = __shfl_sync(HW_WARP, rest.end, lane);
        uint32_t hits = 0;
        for (Offset at = __shfl_sync(HW_WARP, rest.at, lane); at < end && !hits; at += 32) {
            const uint32_t column = at + lane_of() < end
                                        ? params.bottom_up.by_row.neighbor[at + lane_of()]
                                        : HW_INVALID_VERTEX;
            examined += column != HW_INVALID_VERTEX;
            hits =
                __ballot_sync(HW_WARP, column != HW_INVALID_VERTEX && in_frontier(params, column));
            const uint32_t match =
                hits ? __shfl_sync(HW_WARP, column, __ffs(hits) - 1) : HW_INVALID_VERTEX;
            if (static_cast<int>(lane_of()) == lane)
                result = match;
        }
    }
    return result;
}

/* Searches the lists of up to 32 rows after their heads; a lane without a row has
 * HW_INVALID_VERTEX. Warp-collective. */
template <typename Offset>
__device__ __noinline__ uint32_t search_tail(const kernel_params &params, uint32_t row,
                                             uint32_t &examined)
{
    list_rest<Offset> rest = {0, 0};
    uint32_t column = HW_INVALID_VERTEX;

    if (row != HW_INVALID_VERTEX) {
        rest.at = hw_list_begin<Offset>(params.bottom_up.by_row, row) + head_entries;
        rest.end = hw_list_begin<Offset>(params.bottom_up.by_row, row + 1);
        column = search_by_lane(params, rest, examined);
        if (column != HW_INVALID_VERTEX)
            rest.at = rest.end;
    }
    if (__any_sync(HW_WARP, rest.at < rest.end)) {
        const uint32_t match = search_by_warp(params, rest, row, examined);
        column = match != HW_INVALID_VERTEX ? match : column;
    }
    return column;
}

/* Searches the heads of rows_per_lane rows a lane; column: the head that is in the frontier. The
 * loads of a stage are issued together. unmatched, bit k: the k-th row has further entries, and no
 * head is in the frontier. */
__device__ __forceinline__ void search_heads(const kernel_params &params, const uint32_t *row,
                                             uint32_t *column, uint32_t &unmatched,
                                             uint32_t &examined)
{
    uint32_t head[rows_per_lane][head_entries];

#pragma unroll
    for (int k = 0; k < rows_per_lane; k++) {
        uint4 entries =
            make_uint4(HW_INVALID_VERTEX, HW_INVALID_VERTEX, HW_INVALID_VERTEX, HW_INVALID_VERTEX);
        if (row[k] != HW_INVALID_VERTEX)
            entries = __ldcs(params.bottom_up.list_heads + row[k]);
        head[k][0] = entries.x, head[k][1] = entries.y, head[k][2] = entries.z,
        head[k][3] = entries.w;
        column[k] = HW_INVALID_VERTEX;
    }
#pragma unroll
    for (int j = 0; j < head_entries; j++) {
        uint32_t word[rows_per_lane];
#pragma unroll
        for (int k = 0; k < rows_per_lane; k++) {
            const bool tests = column[k] == HW_INVALID_VERTEX && head[k][j] != HW_INVALID_VERTEX;
            word[k] = tests ? params.bottom_up.frontier_bits[head[k][j] / 32] : 0;
            examined += tests;
        }
#pragma unroll
        for (int k = 0; k < rows_per_lane; k++)
            if (word[k] >> (head[k][j] & 31) & 1)
                column[k] = head[k][j];
    }
    unmatched = 0;
#pragma unroll
    for (int k = 0; k < rows_per_lane; k++)
        unmatched |=
            (column[k] == HW_INVALID_VERTEX && head[k][head_entries - 1] != HW_INVALID_VERTEX) << k;
}

/* Searches the lists of the rows whose bit is set in `unmatched`, bit k for the k-th of a lane. The
 * rows are compacted in scratch [rows_per_lane * 32] and distributed over the lanes.
 * Warp-collective.
 */
template <typename Offset>
__device__ __forceinline__ void search_unmatched(const kernel_params &params, const uint32_t *row,
                                                 uint32_t unmatched, uint32_t *column,
                                                 uint32_t *scratch, uint32_t &examined)
{
    uint32_t position[rows_per_lane], count = 0;

#pragma unroll
    for (int k = 0; k < rows_per_lane; k++) {
        const uint32_t ballot = __ballot_sync(HW_WARP, unmatched >> k & 1);
        position[k] = count + __popc(ballot & ((1u << lane_of()) - 1));
        count += __popc(ballot);
        if (unmatched >> k & 1)
            scratch[position[k]] = row[k];
    }
    if (count == 0)
        return;
    __syncwarp();
    for (uint32_t i = lane_of(); i < count + lane_of(); i += 32) {
        const uint32_t match =
            search_tail<Offset>(params, i < count ? scratch[i] : HW_INVALID_VERTEX, examined);
        if (i < count)
            scratch[i] = match;
    }
    __syncwarp();
#pragma unroll
    for (int k = 0; k < rows_per_lane; k++)
        if (unmatched >> k & 1)
            column[k] = scratch[position[k]];
    __syncwarp();
}

/* Searches a column of the frontier for each of rows_per_lane rows a lane, HW_INVALID_VERTEX where
 * there are fewer, and stores it as the predecessor. Warp-collective. */
template <typename Offset>
__device__ __forceinline__ void search_rows(const kernel_params &params, const uint32_t *row,
                                            uint32_t *column, uint32_t *scratch, uint32_t &examined)
{
    uint32_t unmatched;

    search_heads(params, row, column, unmatched, examined);
    search_unmatched<Offset>(params, row, unmatched, column, scratch, examined);
#pragma unroll
    for (int k = 0; k < rows_per_lane; k++)
        if (column[k] != HW_INVALID_VERTEX)
            params.search.predecessor[row[k]] = column[k];
}

/* Searches the unvisited rows of 32 words from `first` on, where they are many; unvisited: the word
 * of this lane. Warp-collective. */
template <typename Offset>
__device__ __forceinline__ void search_dense(const kernel_params &params, uint32_t first,
                                             uint32_t unvisited, picked_rows &scratch,
                                             uint32_t &examined)
{
    for (int base = 0; base < 32; base += rows_per_lane) {
        uint32_t row[rows_per_lane], column[rows_per_lane];
#pragma unroll
        for (int k = 0; k < rows_per_lane; k++) {
            const uint32_t word = __shfl_sync(HW_WARP, unvisited, base + k);
            row[k] =
                word >> lane_of() & 1 ? (first + base + k) * 32 + lane_of() : HW_INVALID_VERTEX;
        }
        search_rows<Offset>(params, row, column, scratch.unmatched, examined);
#pragma unroll
        for (int k = 0; k < rows_per_lane; k++) {
            const uint32_t match = __ballot_sync(HW_WARP, column[k] != HW_INVALID_VERTEX);
            if (lane_of() == 0 && match)
                atomicOr(params.search.visited + first + base + k, match);
        }
    }
}

/* The same where they are few: the rows are compacted and distributed over the lanes. */
template <typename Offset>
__device__ __forceinline__ void search_sparse(const kernel_params &params, uint32_t first,
                                              uint32_t unvisited, picked_rows &scratch,
                                              uint32_t &examined)
{
    uint32_t at = hw_warp_scan(static_cast<uint32_t>(__popc(unvisited)));
    const uint32_t count = __shfl_sync(HW_WARP, at, 31);

    at -= __popc(unvisited);
    for (; unvisited; unvisited &= unvisited - 1)
        scratch.position[at++] = static_cast<uint16_t>(lane_of() * 32 + __ffs(unvisited) - 1);
    __syncwarp();
    for (uint32_t base = 0; base < count; base += rows_per_lane * 32) {
        uint32_t row[rows_per_lane], column[rows_per_lane];
#pragma unroll
        for (int k = 0; k < rows_per_lane; k++) {
            const uint32_t i = base + k * 32 + lane_of();
            row[k] = i < count ? first * 32 + scratch.position[i] : HW_INVALID_VERTEX;
        }
        search_rows<Offset>(params, row, column, scratch.unmatched, examined);
#pragma unroll
        for (int k = 0; k < rows_per_lane; k++)
            if (column[k] != HW_INVALID_VERTEX)
                atomicOr(params.search.visited + row[k] / 32, 1u << (row[k] & 31));
    }
    __syncwarp();
}

/* Searches rows with long lists, one after another. All threads of the grid. */
template <typename Offset>
__device__ __noinline__ void search_long_lists(const kernel_params &params, count64 rows,
                                               uint32_t &examined)
{
    for (count64 i = 0; i < rows; i++) {
        const uint32_t row = __ldcg(params.search.queue + i);
        const Offset end = hw_list_begin<Offset>(params.bottom_up.by_row, row + 1);
        Offset at = hw_list_begin<Offset>(params.bottom_up.by_row, row) +
                    static_cast<Offset>(hw_grid_thread());
        for (; at < end; at += static_cast<Offset>(hw_grid_threads())) {
            const uint32_t column = params.bottom_up.by_row.neighbor[at], bit = 1u << (row & 31);
            examined++;
            if (__ldcg(params.search.visited + row / 32) & bit)
                break;
            if (!in_frontier(params, column))
                continue;
            if (!(atomicOr(params.search.visited + row / 32, bit) & bit))
                params.search.predecessor[row] = column;
            break;
        }
    }
}

/* The first of the 32 words with an index in the order of the search: words of own vertices come
 * first. */
__device__ __forceinline__ uint32_t words_at(const kernel_params &params, uint64_t index)
{
    const uint32_t words = params.config.columns * words_of(params);
    const uint64_t first = index + params.config.column * words_of(params);

    return static_cast<uint32_t>(first < words ? first : first - words);
}

/* The rows of 32 words that have lists and are unvisited, a word a lane; 0 past the last word. The
 * number of words is a multiple of 32. */
__device__ __forceinline__ uint32_t unvisited_at(const kernel_params &params, uint64_t index)
{
    if (index >= params.config.columns * words_of(params))
        return 0;
    const uint32_t w = words_at(params, index) + lane_of();
    return params.bottom_up.nonempty_rows[w] & ~__ldcg(params.search.visited + w);
}

/* Those of them that are unvisited at their owner, too, as far as known: it searches its own
 * vertices first. Rows that it visits concurrently are searched in vain. */
__device__ __forceinline__ uint32_t unvisited_at_owner(const kernel_params &params, uint32_t first,
                                                       uint32_t unvisited)
{
    const uint32_t m = first / words_of(params); /* all words are of one block */
    const volatile uint32_t *peer_visited = params.search.peer_visited[m];

    return peer_visited && unvisited
               ? unvisited & ~peer_visited[first - m * words_of(params) + lane_of()]
               : unvisited;
}

/* A bottom-up level. In the first level the memory of others is not read: they may still have the
 * state of the last search. All threads of the grid. */
template <typename Offset>
__device__ __noinline__ void bottom_up_level(const kernel_params &params, uint32_t depth,
                                             cg::grid_group &grid, block_shared &smem)
{
    const uint64_t stride = hw_grid_threads(), words = params.config.columns * words_of(params);
    uint64_t index = hw_grid_thread() / 32 * 32;
    uint32_t examined = 0;

    for (uint32_t next = unvisited_at(params, index); index < words; index += stride) {
        const uint32_t first = words_at(params, index);
        const uint32_t unvisited = depth > 0 ? unvisited_at_owner(params, first, next) : next;
        const uint32_t count = hw_warp_sum(__popc(unvisited));
        picked_rows &rows = smem.scan.rows[threadIdx.x / 32];
        next = unvisited_at(params, index + stride);
        if (count > max_sparse_rows)
            search_dense<Offset>(params, first, unvisited, rows, examined);
        else if (count > 0)
            search_sparse<Offset>(params, first, unvisited, rows, examined);
    }
    grid.sync();
    search_long_lists<Offset>(
        params, min(hw_load_relaxed(&params.search.control->queue[1]), queue_capacity(params)),
        examined);
    if (!params.trace.record)
        return;
    block_add(&params.search.control->edges_examined, examined, smem);
    grid.sync();
}

} // namespace
} // namespace hw_scan2d

#endif
