/*
 * Method `fused` on one GPU: the last bottom-up levels, in one block (a cooperative thread array,
 * CTA).
 *
 * Used when few vertices are unvisited. Their list stays in shared memory; each level tests every
 * vertex in it and compacts the list. The other blocks assign the parents of leaves meanwhile.
 */
#ifndef HOPWAVE_GPU_BFS_DIRECTION_OPTIMIZING_ONE_GPU_BFS_SINGLE_CTA_BOTTOM_UP_CUH
#define HOPWAVE_GPU_BFS_DIRECTION_OPTIMIZING_ONE_GPU_BFS_SINGLE_CTA_BOTTOM_UP_CUH

#include "gpu/bfs/direction_optimizing/one_gpu_bfs_device.cuh"
#include "gpu/graph/device_graph.cuh"

namespace hw_one_gpu_bfs
{
namespace
{

/* Lists of the block, in shared memory. deep: vertices whose inline neighbors are all unvisited. */
struct tail_shared {
    uint32_t unvisited[2][HW_ONE_GPU_BFS_TAIL_VERTICES], found[HW_ONE_GPU_BFS_TAIL_VERTICES],
        deep[HW_ONE_GPU_BFS_TAIL_VERTICES];
};
struct tail_counts {
    uint32_t remaining_count, found, deep, probes;
};

/* Whether a vertex is visited; reads memory past the first-level cache. */
__device__ __forceinline__ bool is_visited(const kernel_params &params, const uint32_t *visited,
                                           uint32_t v)
{
    return v < params.graph.core && has_bit(__ldcg(visited + v / 32), v);
}

/* A visited inline neighbor or HW_INVALID_VERTEX; more: the list may continue. */
__device__ __forceinline__ uint32_t find_inline_parent(const kernel_params &params,
                                                       const uint32_t *visited, uint32_t v,
                                                       bool *more, uint32_t *probes)
{
    const uint4 four = inline_neighbors(params.graph, v, 0),
                last = inline_neighbors(params.graph, v, 1);
    const uint32_t all[HW_ONE_GPU_BFS_INLINE_NEIGHBORS] = {four.x, four.y, four.z, four.w,
                                                           last.x, last.y, last.z, last.w};
    uint32_t parent = HW_INVALID_VERTEX;

#pragma unroll
    for (int k = HW_ONE_GPU_BFS_INLINE_NEIGHBORS - 1; k >= 0; k--) {
        *probes += all[k] < params.graph.core;
        parent = is_visited(params, visited, all[k]) ? all[k] : parent;
    }
    *more = last.w < params.graph.core;
    return parent;
}

/* A visited in-neighbor beyond the inline ones, or HW_INVALID_VERTEX. Warp-collective. */
template <typename Offset>
__device__ uint32_t find_list_parent(const kernel_params &params, const uint32_t *visited,
                                     uint32_t v, uint32_t *probes)
{
    const uint32_t lane = threadIdx.x & 31;
    const Offset end = hw_list_begin<Offset>(params.graph.in, v + 1);

    for (Offset at = hw_list_begin<Offset>(params.graph.in, v) + HW_ONE_GPU_BFS_INLINE_NEIGHBORS;
         at < end; at += min(end - at, Offset{32})) {
        const uint32_t u =
            lane < end - at ? __ldg(params.graph.in.neighbor + at + lane) : HW_INVALID_VERTEX;
        const uint32_t hits = __ballot_sync(HW_WARP, is_visited(params, visited, u));
        *probes += u < params.graph.core;
        if (hits)
            return __shfl_sync(HW_WARP, u, __ffs(hits) - 1);
    }
    return HW_INVALID_VERTEX;
}

/* One level. Of the `count` vertices in `list`, those with a visited in-neighbor go to tail.found,
 * the others to still_unvisited. */
template <typename Offset>
__device__ void tail_level(const kernel_params &params, const uint32_t *visited,
                           const uint32_t *list, uint32_t count, uint32_t *still_unvisited,
                           tail_shared &tail, tail_counts &counts)
{
    uint32_t probes = 0;

    for (uint32_t i = threadIdx.x; i < count; i += threads) {
        bool more;
        const uint32_t v = list[i], parent = find_inline_parent(params, visited, v, &more, &probes);
        if (parent != HW_INVALID_VERTEX) {
            params.search.parent[v] = parent;
            tail.found[atomicAdd(&counts.found, 1u)] = v;
        } else if (more) {
            tail.deep[atomicAdd(&counts.deep, 1u)] = v;
        } else {
            still_unvisited[atomicAdd(&counts.remaining_count, 1u)] = v;
        }
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x / 32; i < counts.deep; i += warps) {
        const uint32_t v = tail.deep[i];
        const uint32_t parent = find_list_parent<Offset>(params, visited, v, &probes);
        if ((threadIdx.x & 31) != 0)
            continue;
        if (parent != HW_INVALID_VERTEX) {
            params.search.parent[v] = parent;
            tail.found[atomicAdd(&counts.found, 1u)] = v;
        } else {
            still_unvisited[atomicAdd(&counts.remaining_count, 1u)] = v;
        }
    }
    __syncwarp();
    add_counts(&counts.probes, probes);
    __syncthreads();
}

/* The last bottom-up levels, for the `count` vertices in params.search.unvisited. Sets their bits
 * in `visited` while other blocks read it: bits are only ever set, and a reader that misses one
 * defers its leaf. All threads of block 0. */
template <typename Offset>
__device__ void single_cta_pull_levels(const kernel_params &params, uint32_t frontier,
                                       uint32_t count, uint32_t *visited, uint4 *shared_memory,
                                       uint32_t &records)
{
    __shared__ tail_counts counts;
    tail_shared &tail = *reinterpret_cast<tail_shared *>(shared_memory);
    int half = 0;

    for (uint32_t i = threadIdx.x; i < count; i += threads)
        tail.unvisited[0][i] = __ldcg(params.search.unvisited + i);
    while (count > 0) {
        if (threadIdx.x == 0)
            counts = {};
        __syncthreads();
        tail_level<Offset>(params, visited, tail.unvisited[half], count, tail.unvisited[!half],
                           tail, counts);
        const uint32_t found = counts.found;
        for (uint32_t i = threadIdx.x; i < found; i += threads)
            atomicOr(visited + tail.found[i] / 32, 1u << (tail.found[i] & 31));
        count = counts.remaining_count;
        trace_append(params, records, HW_ROUTINE_PULL_BLOCK, frontier, found, counts.probes);
        frontier = found;
        half = !half;
        __syncthreads(); /* before the counts are cleared */
        if (found == 0)
            return;
    }
}

} // namespace
} // namespace hw_one_gpu_bfs

#endif
