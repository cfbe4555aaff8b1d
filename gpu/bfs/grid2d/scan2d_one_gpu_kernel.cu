/*
 * Method `scan2d` on one part: breadth-first search top-down, the edges of a level shared
 * out evenly among the threads by an exclusive scan of the lengths of its lists and a
 * binary search in that; several edges per thread, worked on together; who visits a vertex
 * first is decided by an atomic operation on its bit. ("Parallel Distributed Breadth First
 * Search on the Kepler Architecture", section 3.4, algorithm 3. The local expansion is in
 * scan2d.cuh.)
 *
 * Its baseline `scatter-compact` does without atomic operations on vertices, as the
 * authors' earlier code did: every edge to an unvisited vertex writes its own number into
 * that vertex's place of a map, whoever comes last; after a barrier those that find
 * theirs there are kept.
 *
 * Levels follow each other inside one cooperative launch, with barriers where the paper
 * has launches of kernels.
 */
#include "gpu/bfs/grid2d/scan2d_expansion.cuh"

#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace
{

namespace cg = cooperative_groups;
using namespace hw_scan2d;
using kernel_params = hw_scan2d_one_gpu_params;

/* What a block keeps in shared memory. */
struct shared {
    discovered_buffer found;
    uint32_t cut[2];
};

/* Adds what the block has collected to the frontier of the next level. All its threads. */
__device__ void flush_list(const hw_frontier_queue_params &plan, uint32_t depth,
                           discovered_buffer &found)
{
    __syncthreads();
    const uint32_t count = found.count;
    if (count == 0)
        return;
    if (threadIdx.x == 0)
        found.start = atomicAdd(&plan.control->queue[(depth + 1) & 3],
                                static_cast<count64>(count) << HW_FRONTIER_QUEUE_EDGE_BITS);
    __syncthreads();
    uint32_t *queue = plan.queue[(depth + 1) & 1] + vertices_of(found.start);
    for (uint32_t i = threadIdx.x; i < count; i += threads)
        queue[i] = found.vertex[i];
    if (threadIdx.x == 0)
        found.count = 0;
    __syncthreads();
}

/* Queues discovered_buffer while there is room for those of another tile; until the next barrier
 * nothing may be found. */
__device__ __forceinline__ void make_room(const kernel_params &plan, uint32_t depth,
                                          discovered_buffer &found)
{
    __syncthreads();
    if (found.count > buffer_capacity - max_tile_edges)
        flush_list(plan.common, depth, found);
}

__device__ __forceinline__ void no_overflow(int, bool)
{
}

/* ---- scan2d ---- */

/* A level, by so many blocks, of which the first is block 0. */
template <typename Offset, int many>
__device__ void expand(const kernel_params &plan, uint32_t depth, const front<Offset> &from,
                       count64 all, uint32_t blocks, shared &room)
{
    const hw_gpu_lists &columns = plan.common.graph.out;
    constexpr count64 tile = threads * many;
    static_assert(tile <= max_tile_edges, "discoveries fit");

    for (count64 base = blockIdx.x * tile; base < all; base += blocks * tile) {
        uint32_t row[many];
        narrow(from, base, min(base + tile, all) - 1, all, room.cut);
        const edges<Offset, many> mine = find_edges<Offset, many>(
            columns, from, base + threadIdx.x * many, all, room.cut[0] - 1, room.cut[1]);
#pragma unroll
        for (int k = 0; k < many; k++)
            row[k] = k < mine.count ? __ldcs(columns.rank + mine.at[k]) : HW_INVALID_VERTEX;
        const uint32_t fresh = visit<many>(plan.common, row, [&](int k) { return mine.column[k]; });
        collect<many>(room.found, row, fresh, no_overflow);
        make_room(plan, depth, room.found);
    }
}

/* ---- scatter-compact ---- */

constexpr int scatter_many = 4;

/* Nothing is claimed but the root. All threads of the grid. */
template <typename Offset> __device__ void begin_map(const kernel_params &plan, uint32_t root)
{
    Offset *map = static_cast<Offset *>(plan.map);

    for (uint64_t v = hw_grid_thread(); v < plan.common.graph.active; v += hw_grid_threads())
        map[v] = v == root ? 0 : ~static_cast<Offset>(0);
}

/* Edges claim the vertices that no level before this one has. */
template <typename Offset>
__device__ void scatter(const kernel_params &plan, const front<Offset> &from, count64 all,
                        shared &room)
{
    const hw_gpu_lists &columns = plan.common.graph.out;
    Offset *map = static_cast<Offset *>(plan.map);
    constexpr count64 tile = threads * scatter_many;

    for (count64 base = blockIdx.x * tile; base < all; base += gridDim.x * tile) {
        const count64 first = base + threadIdx.x * scatter_many;
        uint32_t row[scatter_many];
        bool open[scatter_many];
        narrow(from, base, min(base + tile, all) - 1, all, room.cut);
        const edges<Offset, scatter_many> mine = find_edges<Offset, scatter_many>(
            columns, from, first, all, room.cut[0] - 1, room.cut[1]);
#pragma unroll
        for (int k = 0; k < scatter_many; k++)
            row[k] = k < mine.count ? __ldcs(columns.rank + mine.at[k]) : HW_INVALID_VERTEX;
#pragma unroll
        for (int k = 0; k < scatter_many; k++)
            open[k] = k < mine.count && __ldcg(map + row[k]) == ~static_cast<Offset>(0);
#pragma unroll
        for (int k = 0; k < scatter_many; k++) {
            if (open[k])
                __stcg(map + row[k], static_cast<Offset>(first + k));
            if (k < mine.count)
                __stcs(plan.neighbour + first + k, open[k] ? row[k] : HW_INVALID_VERTEX);
        }
        __syncthreads();
    }
}

/* Keeps the edges whose claim has lasted, after a barrier. */
template <typename Offset>
__device__ void compact(const kernel_params &plan, uint32_t depth, const front<Offset> &from,
                        count64 all, shared &room)
{
    const Offset *map = static_cast<const Offset *>(plan.map);
    constexpr count64 tile = threads * scatter_many;

    for (count64 base = blockIdx.x * tile; base < all; base += gridDim.x * tile) {
        uint32_t row[scatter_many], fresh = 0;
#pragma unroll
        for (int k = 0; k < scatter_many; k++) {
            const count64 edge = base + k * threads + threadIdx.x;
            row[k] = edge < all ? __ldcs(plan.neighbour + edge) : HW_INVALID_VERTEX;
        }
#pragma unroll
        for (int k = 0; k < scatter_many; k++) {
            const count64 edge = base + k * threads + threadIdx.x;
            if (row[k] == HW_INVALID_VERTEX || __ldcg(map + row[k]) != static_cast<Offset>(edge))
                continue;
            plan.common.parent[row[k]] =
                find_edges<Offset, 1>(plan.common.graph.out, from, edge, all, 0, from.count)
                    .column[0];
            fresh |= 1u << k;
        }
        collect<scatter_many>(room.found, row, fresh, no_overflow);
        make_room(plan, depth, room.found);
        __syncthreads();
    }
}

/* ---- the search ---- */

template <typename Offset>
__device__ __forceinline__ front<Offset> front_of(const kernel_params &plan, uint32_t depth)
{
    return {plan.common.queue[depth & 1],
            vertices_of(hw_load_relaxed(&plan.common.control->queue[depth & 3])),
            static_cast<Offset *>(plan.common.prefix[0])};
}

/* Levels whose frontier one block scans, and whose edges are few, follow each other in that
 * block, without a barrier of the grid: in deep graphs nearly all are. */
constexpr count64 alone_edges = 8 * threads;

/* Expands such levels from `depth` on. Block 0. */
template <typename Offset, int many>
__device__ __noinline__ void expand_alone(const kernel_params &plan, uint32_t depth, shared &room)
{
    for (;; depth++) {
        const front<Offset> from = front_of<Offset>(plan, depth);
        if (from.count == 0 || from.count > scan_least)
            break;
        scan_share(plan.common.graph.out, from, plan.total, room.found.scan);
        __syncthreads();
        const count64 all = __ldcg(plan.total);
        if (all > alone_edges)
            break;
        clear_ahead(plan.common, depth);
        expand<Offset, many>(plan, depth, from, all, 1, room);
        flush_list(plan.common, depth, room.found);
        __syncthreads();
        if (threadIdx.x == 0)
            trace_append(plan.common, depth, HW_ROUTINE_SCAN2D, all);
    }
    if (threadIdx.x == 0)
        plan.common.control->depth = depth;
}

/* many: edges per thread; 0: scatter-compact. */
template <typename Offset, int many>
__global__ void __launch_bounds__(threads, resident(many))
    search(const __grid_constant__ kernel_params plan, uint32_t root)
{
    __shared__ shared room;
    cg::grid_group grid = cg::this_grid();
    const bool keeps_rows = hw_grid_thread() == 0;

    if (threadIdx.x == 0)
        room.found.count = 0;
    begin<Offset>(plan.common, root);
    if (many == 0)
        begin_map<Offset>(plan, root);
    grid.sync();
    for (uint32_t depth = 0;; depth++) {
        front<Offset> from = front_of<Offset>(plan, depth);
        if constexpr (many > 0) {
            if (from.count <= scan_least) {
                if (blockIdx.x == 0)
                    expand_alone<Offset, many>(plan, depth, room);
                grid.sync();
                depth = hw_load_relaxed(&plan.common.control->depth);
                from = front_of<Offset>(plan, depth);
            }
        }
        if (from.count == 0)
            break;
        clear_ahead(plan.common, depth);
        scan_share(plan.common.graph.out, from, plan.total, room.found.scan);
        grid.sync();
        const count64 all = scan_join(from, plan.total, room.found.scan);
        if (share_of(from.count) < from.count)
            grid.sync();
        if constexpr (many > 0) {
            expand<Offset, many>(plan, depth, from, all, gridDim.x, room);
        } else {
            scatter(plan, from, all, room);
            grid.sync();
            compact(plan, depth, from, all, room);
        }
        flush_list(plan.common, depth, room.found);
        grid.sync();
        if (keeps_rows)
            trace_append(plan.common, depth, many ? HW_ROUTINE_SCAN2D : HW_ROUTINE_SCATTER_COMPACT,
                         all);
    }
    if (keeps_rows)
        trace_end(plan.common);
}

template <typename Offset> const void *kernel_for(int many)
{
    static const void *const kernels[HW_SCAN2D_MANY + 1] = {
        reinterpret_cast<const void *>(search<Offset, 0>),
        reinterpret_cast<const void *>(search<Offset, 1>),
        reinterpret_cast<const void *>(search<Offset, 2>),
        reinterpret_cast<const void *>(search<Offset, 3>),
        reinterpret_cast<const void *>(search<Offset, 4>),
        reinterpret_cast<const void *>(search<Offset, 5>),
        reinterpret_cast<const void *>(search<Offset, 6>),
        reinterpret_cast<const void *>(search<Offset, 7>),
        reinterpret_cast<const void *>(search<Offset, 8>)};

    return kernels[many];
}

const void *kernel_of(const hw_scan2d_one_gpu_params *plan)
{
    const int many = plan->scatter ? 0 : plan->edges_per_thread;

    return plan->common.graph.wide ? kernel_for<uint64_t>(many) : kernel_for<uint32_t>(many);
}

} // namespace

int hw_scan2d_launch_shape(const hw_scan2d_one_gpu_params *plan, int *blocks)
{
    const cudaError_t error = hw_frontier_queue_shape(kernel_of(plan), blocks);

    if (*blocks > HW_SCAN2D_BLOCKS)
        *blocks = HW_SCAN2D_BLOCKS;
    return error;
}

int hw_scan2d_launch(const hw_scan2d_one_gpu_params *plan, int blocks, uint32_t root)
{
    void *arguments[] = {const_cast<hw_scan2d_one_gpu_params *>(plan), &root};

    return cudaLaunchCooperativeKernel(kernel_of(plan), dim3(blocks), dim3(threads), arguments, 0,
                                       nullptr);
}
