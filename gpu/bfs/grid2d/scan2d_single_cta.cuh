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
#include "gpu/device/prefix_search.cuh"

namespace hw_scan2d
{
namespace
{

constexpr int cta_threads = 1024;
constexpr int lists_per_thread = 2; /* that a thread scans at a time */
constexpr uint32_t cta_tile = lists_per_thread * cta_threads;
/* Most levels in one launch: bounds the time until the host checks for failures. */
constexpr uint32_t max_cta_levels = 1024;
constexpr count64 over_limit = 1ull << 63; /* flag in the first word of an all-gather */
using cta_scan = cub::BlockScan<uint32_t, cta_threads>;

struct cta_shared {
    uint64_t received[HW_ALLGATHER_PEERS][HW_ALLGATHER_PEER_WORDS];
    cta_scan::TempStorage scan;
    uint32_t column[cta_tile];                        /* of the lists of a tile */
    uint32_t before[cta_tile];                        /* edges of the tile before each list */
    count64 begin[cta_tile];                          /* where each list begins, less these */
    uint32_t frontier_count[HW_SCAN2D_GRID_MAX_SIDE]; /* vertices of the frontier, by grid row */
    /* Rows discovered, by grid column of the owner; for own vertices the new ones alone. */
    uint32_t count[HW_SCAN2D_GRID_MAX_SIDE];
    uint32_t rows; /* discovered, of all grid columns */
};

/* Arrays for discovered rows and for the positions of new own vertices: the queue is not in use
 * here. */
__device__ __forceinline__ uint32_t *cta_discovered_rows(const kernel_params &params)
{
    return params.search.queue;
}

__device__ __forceinline__ uint32_t *cta_own_positions(const kernel_params &params)
{
    return static_cast<uint32_t *>(params.search.prefix);
}

/* Appends a value of each lane that has one. Warp-collective. */
__device__ __forceinline__ void append(uint32_t *to, uint32_t *count, bool has_value,
                                       uint32_t value)
{
    const uint32_t ballot = __ballot_sync(HW_WARP, has_value);
    uint32_t at = 0;

    if (ballot == 0)
        return;
    if (lane_of() == 0)
        at = atomicAdd(count, static_cast<uint32_t>(__popc(ballot)));
    at = __shfl_sync(HW_WARP, at, 0);
    if (has_value)
        to[at + __popc(ballot & ((1u << lane_of()) - 1))] = value;
}

/* Clears the counts of a level. Returns the lists of its frontier on this part. All threads. */
__device__ uint32_t cta_begin_level(const kernel_params &params, uint32_t depth, uint32_t root,
                                    const allgather_result *counts, cta_shared &smem)
{
    const uint32_t r = threadIdx.x,
                   first = params.config.column * params.config.rows * params.config.block;
    uint32_t lists = 0;

    if (r < params.config.rows) {
        const bool here =
            root >= first + r * params.config.block && root < first + (r + 1) * params.config.block;
        smem.frontier_count[r] =
            depth == 0 ? here
                       : static_cast<uint32_t>(
                             __ldcg(&counts->by_rank[part_at(params, r, params.config.column)][0]));
    }
    if (threadIdx.x < HW_SCAN2D_GRID_MAX_SIDE)
        smem.count[threadIdx.x] = 0;
    if (threadIdx.x == 0)
        smem.rows = 0;
    __syncthreads();
    for (uint32_t k = 0; k < params.config.rows; k++)
        lists += smem.frontier_count[k];
    return lists;
}

/* The i-th local column of the frontier. */
__device__ __forceinline__ uint32_t cta_column(const kernel_params &params, uint32_t depth,
                                               uint32_t root, uint32_t i, const cta_shared &smem)
{
    uint32_t r = 0;

    if (depth == 0)
        return root - params.config.column * params.config.rows * params.config.block;
    for (; i >= smem.frontier_count[r]; r++)
        i -= smem.frontier_count[r];
    return r * params.config.block + __ldcg(params.buffers.expand_recv[depth & 1][r] + i);
}

/* Scans the lengths of a tile of lists. Returns the edges of the tile. All threads. */
template <typename Offset>
__device__ uint32_t cta_scan_lists(const kernel_params &params, uint32_t depth, uint32_t root,
                                   uint32_t base, uint32_t lists, cta_shared &smem)
{
    const uint32_t list = lists_per_thread * threadIdx.x;
    uint32_t column[lists_per_thread], length[lists_per_thread], sum = 0, before, all;
    Offset begin[lists_per_thread];

#pragma unroll
    for (int k = 0; k < lists_per_thread; k++) {
        const bool valid = base + list + k < lists;
        column[k] = valid ? cta_column(params, depth, root, base + list + k, smem) : 0;
        begin[k] = valid ? hw_list_begin<Offset>(params.by_column, column[k]) : 0;
        const Offset end = valid ? hw_list_begin<Offset>(params.by_column, column[k] + 1) : 0;
        length[k] = static_cast<uint32_t>(
            min(end - begin[k], static_cast<Offset>(params.config.single_cta_limit) + 1));
        sum += length[k];
    }
    cta_scan(smem.scan).ExclusiveSum(sum, before, all);
#pragma unroll
    for (int k = 0; k < lists_per_thread; k++) {
        smem.column[list + k] = column[k];
        smem.before[list + k] = before;
        smem.begin[list + k] = static_cast<count64>(begin[k]) - before;
        before += length[k];
    }
    __syncthreads();
    return all;
}

/* The last nonempty list of a tile that begins at edge e or before it. */
__device__ __forceinline__ uint32_t cta_find_list(uint32_t e, const cta_shared &smem)
{
    return last_index(0u, static_cast<uint32_t>(cta_tile),
                      [&](uint32_t i) { return smem.before[i] <= e; });
}

/* Expands the frontier. Returns the edges examined, or more than the limit where there are more.
 * All threads. */
template <typename Offset>
__device__ uint32_t cta_expand(const kernel_params &params, uint32_t depth, uint32_t root,
                               uint32_t lists, cta_shared &smem)
{
    uint32_t examined = 0;

    for (uint32_t base = 0; base < lists; base += cta_tile) {
        const uint32_t all = cta_scan_lists<Offset>(params, depth, root, base, lists, smem);
        examined += min(all, params.config.single_cta_limit + 1);
        if (examined > params.config.single_cta_limit)
            return examined;
        for (uint32_t from = 0; from < all; from += cta_threads) {
            const uint32_t e = from + threadIdx.x;
            uint32_t row = HW_INVALID_VERTEX, list = 0;
            if (e < all) {
                list = cta_find_list(e, smem);
                row = params.by_column.neighbor[smem.begin[list] + e];
            }
            const uint32_t discovered =
                visit<1>(visited_of(params), &row, [&](int) { return smem.column[list]; });
            append(cta_discovered_rows(params), &smem.rows, discovered != 0, row);
        }
        __syncthreads();
    }
    return examined;
}

/* Sends to each other grid column the rows discovered for it. All threads. */
__device__ void cta_fold(const kernel_params &params, cta_shared &smem)
{
    const uint32_t *rows = cta_discovered_rows(params);

    for (uint32_t base = 0; base < smem.rows; base += cta_threads) {
        const uint32_t k = base + threadIdx.x;
        const uint32_t row = k < smem.rows ? rows[k] : HW_INVALID_VERTEX;
        for (uint32_t m = 0; m < params.config.columns; m++)
            append(m == params.config.column ? cta_own_positions(params)
                                             : params.buffers.fold_send[m],
                   &smem.count[m], row != HW_INVALID_VERTEX && row / params.config.block == m,
                   row - m * params.config.block);
    }
    __syncthreads();
}

/* Applies own vertices that the other parts of the grid row discovered. All threads. */
__device__ void cta_receive(const kernel_params &params, cta_shared &smem)
{
    uint32_t *own = cta_own_positions(params);

    for (uint32_t m = 0; m < params.config.columns; m++) {
        const uint32_t count =
            m == params.config.column
                ? 0
                : static_cast<uint32_t>(
                      smem.received[part_at(params, params.config.row, m)][params.config.column]);
        for (uint32_t base = 0; base < count; base += cta_threads) {
            const uint32_t k = base + threadIdx.x;
            const uint32_t t = k < count ? __ldcg(params.buffers.fold_recv[m] + k) : 0;
            append(own, &smem.count[params.config.column],
                   k < count && receive_position(params, m, t), t);
        }
    }
    __syncthreads();
}

/* Marks as visited before what is discovered, writes levels, and sends the next frontier along the
 * grid column. All threads. */
__device__ void cta_commit(const kernel_params &params, uint32_t depth, cta_shared &smem)
{
    const uint32_t *rows = cta_discovered_rows(params), *own = cta_own_positions(params);
    const uint32_t count = smem.count[params.config.column];

    for (uint32_t k = threadIdx.x; k < smem.rows; k += cta_threads)
        atomicOr(params.search.visited_before + rows[k] / 32, 1u << (rows[k] & 31));
    for (uint32_t k = threadIdx.x; k < count; k += cta_threads) {
        const uint32_t t = own[k];
        atomicOr(params.search.visited_before + params.config.column * words_of(params) + t / 32,
                 1u << (t & 31));
        params.search.level[t] = static_cast<int32_t>(depth) + 1;
        for (uint32_t r = 0; r < params.config.rows; r++)
            params.buffers.expand_send[(depth + 1) & 1][r][k] = t;
    }
    if (threadIdx.x == 0)
        params.search.control->first_unvisited[(depth + 1) & 1] =
            params.search.control->first_unvisited[depth & 1];
}

/* An all-gather of `count` words, word(k). All threads. */
template <typename Word>
__device__ void cta_allgather(const kernel_params &params, const hw_allgather_params &allgather,
                              uint32_t number, uint32_t count, Word word, allgather_result *result,
                              cta_shared &smem)
{
    if (threadIdx.x < count)
        params.search.control->single_cta_words[threadIdx.x] = word(threadIdx.x);
    __syncthreads();
    hw_allgather_block(allgather,
                       reinterpret_cast<const uint64_t *>(params.search.control->single_cta_words),
                       static_cast<int>(count), 0, number, result, nullptr, smem.received);
    __syncthreads();
}

/* Whether an all-gather succeeded and no part exceeds the limit of edges. */
__device__ bool cta_within_limit(const hw_allgather_params &allgather,
                                 const allgather_result *result, const cta_shared &smem)
{
    bool within = hw_load_relaxed(&result->failed) == 0;

    for (uint32_t q = 0; q < allgather.ranks; q++)
        within = within && !(smem.received[q][0] & over_limit);
    return within;
}

/* Writes the trace record of a level. One thread. */
__device__ void cta_trace(const kernel_params &params, uint32_t depth, count64 frontier,
                          uint32_t examined, const uint64_t (&time)[HW_SCAN2D_GRID_TIMES],
                          const cta_shared &smem)
{
    trace_begin_level(params, depth, frontier);
    hw_scan2d_grid_trace_record *record = trace_record_at(params, depth);
    record->encodings |= HW_SCAN2D_GRID_SINGLE_BLOCK;
    record->edges += examined;
    record->discovered += smem.count[params.config.column];
    for (int k = 0; k < HW_SCAN2D_GRID_TIMES; k++)
        record->time[k] = time[k];
    for (uint32_t m = 0; m < params.config.columns; m++)
        if (m != params.config.column)
            trace_set(params, record, params.config.row_active[m], smem.count[m]);
}

/* One level. counts: the result of the all-gather before it; result: [2], of its own two. Returns
 * whether it was done. All threads. */
template <typename Offset>
__device__ bool cta_level(const kernel_params &params, uint32_t depth, uint32_t root,
                          const allgather_result *counts, const hw_allgather_params &allgather,
                          uint32_t number, allgather_result *result, cta_shared &smem)
{
    const uint32_t own = part_at(params, params.config.row, params.config.column);
    const count64 frontier = depth > 0 ? __ldcg(&counts->by_rank[own][0])
                                       : static_cast<count64>(root / params.config.block == own);
    uint64_t time[HW_SCAN2D_GRID_TIMES] = {hw_nanoseconds()};
    const uint32_t lists = cta_begin_level(params, depth, root, counts, smem);
    const uint32_t examined = cta_expand<Offset>(params, depth, root, lists, smem);
    const bool exceeds = examined > params.config.single_cta_limit;

    if (!exceeds)
        cta_fold(params, smem);
    time[HW_SCAN2D_GRID_TIME_EXPANSION_END] = hw_nanoseconds();
    cta_allgather(
        params, allgather, number + 1, params.config.columns,
        [&](uint32_t m) {
            return (m == params.config.column ? 0 : smem.count[m]) |
                   (m == 0 && exceeds ? over_limit : 0);
        },
        result, smem);
    if (!cta_within_limit(allgather, result, smem))
        return false;
    time[HW_SCAN2D_GRID_TIME_FOLD_END] = hw_nanoseconds();
    cta_receive(params, smem);
    cta_commit(params, depth, smem);
    time[HW_SCAN2D_GRID_TIME_UPDATE_END] = hw_nanoseconds();
    if (writes_trace(params))
        cta_trace(params, depth, frontier, examined, time, smem);
    cta_allgather(
        params, allgather, number + 2, 1,
        [&](uint32_t) { return smem.count[params.config.column]; }, result + 1, smem);
    return true;
}

/* Levels as long as there are few edges. counts: the result of the last all-gather, on return that
 * of the last level done here. */
template <typename Offset>
__global__ void __launch_bounds__(cta_threads, 1)
    single_cta_levels(const __grid_constant__ kernel_params params, uint32_t root,
                      allgather_result *counts,
                      const __grid_constant__ hw_allgather_params allgather,
                      allgather_result *result)
{
    __shared__ cta_shared smem;
    const uint32_t first = static_cast<uint32_t>(hw_load_relaxed(&params.search.control->depth));
    uint32_t number = max(hw_load_relaxed(&result[0].number), hw_load_relaxed(&result[1].number));
    uint32_t depth = first;
    count64 all = depth > 0 ? hw_load_relaxed(&counts->reduced[0]) : 1;
    const allgather_result *latest = counts;

    while (all > 0 && all <= params.config.single_cta_limit && depth - first < max_cta_levels &&
           cta_level<Offset>(params, depth, root, latest, allgather, number, result, smem)) {
        latest = result + 1;
        all = hw_load_relaxed(&latest->reduced[0]);
        number += 2;
        depth++;
    }
    if (depth == first)
        return;
    for (uint32_t k = threadIdx.x; k < sizeof *counts / 4; k += cta_threads)
        reinterpret_cast<uint32_t *>(counts)[k] =
            __ldcg(reinterpret_cast<const uint32_t *>(result + 1) + k);
    if (threadIdx.x == 0)
        params.search.control->depth = depth;
}

} // namespace
} // namespace hw_scan2d

#endif
