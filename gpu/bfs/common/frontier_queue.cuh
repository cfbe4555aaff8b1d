/* Frontier queues of the methods that run all levels top-down, device code: status lookup in the
 * visited bitmap, the buffer in which a block collects discovered vertices, the queue of the next
 * level, whose prefix sums are built while it is filled, and the trace. */
#ifndef HOPWAVE_GPU_BFS_COMMON_FRONTIER_QUEUE_CUH
#define HOPWAVE_GPU_BFS_COMMON_FRONTIER_QUEUE_CUH

#include "gpu/bfs/common/frontier_queue.h"
#include "gpu/device/launch.h"
#include "gpu/device/packed_queue.h"
#include "gpu/device/warp.cuh"
#include "gpu/engine/trace_append.cuh"
#include "gpu/graph/device_graph.cuh"

#include <cub/block/block_scan.cuh>

namespace hw_frontier_queue
{

using count64 = unsigned long long;

constexpr int threads = 256;
constexpr int edge_bits = HW_FRONTIER_QUEUE_EDGE_BITS;

__device__ __forceinline__ uint32_t lane_of()
{
    return threadIdx.x & 31;
}

/* ---- initialization and trace ---- */

/* Initializes a search: only the root is visited, and it is queued. All threads of the grid. */
template <typename Offset>
__device__ void init_search(const hw_frontier_queue_params &params, uint32_t root)
{
    const uint32_t active = params.graph.active;
    const uint4 none =
        make_uint4(HW_INVALID_VERTEX, HW_INVALID_VERTEX, HW_INVALID_VERTEX, HW_INVALID_VERTEX);

    for (uint64_t i = hw_grid_thread(); i < active / 4 + 1; i += hw_grid_threads()) {
        uint4 parent = none;
        if (root / 4 == i)
            (&parent.x)[root & 3] = root;
        reinterpret_cast<uint4 *>(params.parent)[i] = parent;
    }
    for (uint64_t w = hw_grid_thread(); w < active / 32 + 1; w += hw_grid_threads()) {
        params.parent_is_first_neighbor[w] = 0;
        params.visited[w] = root / 32 == w ? 1u << (root & 31) : 0;
    }
    if (hw_grid_thread() != 0)
        return;
    *params.control = hw_frontier_queue_control{};
    if (root < active) {
        params.control->queue[0] = hw_pack_entry(hw_list_begin<Offset>(params.graph.out, root + 1) -
                                                     hw_list_begin<Offset>(params.graph.out, root),
                                                 edge_bits);
        params.queue[0][0] = root;
        static_cast<Offset *>(params.prefix[0])[0] = 0;
    }
    params.control->begin_ticks = static_cast<count64>(clock64());
    params.control->begin_ns = hw_nanoseconds();
}

/* Clears the counters two levels ahead. */
__device__ __forceinline__ void clear_ahead(const hw_frontier_queue_params &params, uint32_t depth)
{
    if (hw_grid_thread() != 0)
        return;
    params.control->queue[(depth + 2) & 3] = 0;
    params.control->sinks[(depth + 2) & 3] = 0;
}

/* Appends the trace record of level `depth`, which examined so many edges; past the capacity, adds
 * to the last one. One thread. */
__device__ __forceinline__ void trace_append(const hw_frontier_queue_params &params, uint32_t depth,
                                             uint32_t routine, count64 edges)
{
    hw_frontier_queue_control *control = params.control;
    const count64 from = hw_load_relaxed(&control->queue[depth & 3]);
    const uint32_t found =
        hw_packed_entries(hw_load_relaxed(&control->queue[(depth + 1) & 3]), edge_bits) +
        hw_load_relaxed(&control->sinks[(depth + 1) & 3]);

    if (!params.trace)
        return;
    trace_step(params.trace, params.trace_capacity, depth, routine,
               hw_packed_entries(from, edge_bits) + hw_load_relaxed(&control->sinks[depth & 3]),
               found, edges);
    control->trace_records = depth + 1;
}

/* Records when the search ended. One thread. */
__device__ __forceinline__ void trace_end(const hw_frontier_queue_params &params)
{
    params.control->end_ticks = static_cast<count64>(clock64());
    params.control->end_ns = hw_nanoseconds();
}

/* ---- discovered vertices ---- */

/* Discovered vertices of a block, collected in shared memory and queued together. */
constexpr uint32_t max_tile_edges =
    2048; /* edges that a block visits between two checks of the buffer */
constexpr uint32_t buffer_capacity = max_tile_edges + 1024;
using block_scan = cub::BlockScan<count64, threads>;
struct discovered_buffer {
    uint32_t vertex[buffer_capacity];
    uint32_t count; /* may exceed buffer_capacity */
    count64 start;
    typename block_scan::TempStorage scan;
};

/* The length of a vertex's list. */
template <typename Offset>
__device__ __forceinline__ count64 length_of(const hw_gpu_graph &graph, uint32_t v)
{
    return hw_list_begin<Offset>(graph.out, v + 1) - hw_list_begin<Offset>(graph.out, v);
}

template <typename Offset>
__device__ __forceinline__ void enqueue_at(const hw_frontier_queue_params &params, uint32_t depth,
                                           count64 at, uint32_t v)
{
    params.queue[(depth + 1) & 1][hw_packed_entries(at, edge_bits)] = v;
    static_cast<Offset *>(params.prefix[(depth + 1) & 1])[hw_packed_entries(at, edge_bits)] =
        static_cast<Offset>(hw_packed_work(at, edge_bits));
}

/* Queues discovered vertices of a warp that the buffer has no capacity for. Warp-collective. */
template <typename Offset>
__device__ __noinline__ void enqueue_overflow(const hw_frontier_queue_params &params,
                                              uint32_t depth, uint32_t v, bool mine)
{
    const uint32_t ring = (depth + 1) & 3;
    const count64 own = mine ? hw_pack_entry(length_of<Offset>(params.graph, v), edge_bits) : 0;
    const count64 upto = hw_warp_scan(own);
    count64 start = 0;

    if (mine && !own)
        atomicAdd(&params.control->sinks[ring], 1u);
    if (lane_of() == 31)
        start = atomicAdd(&params.control->queue[ring], upto);
    start = __shfl_sync(HW_WARP, start, 31);
    if (own)
        enqueue_at<Offset>(params, depth, start + upto - own, v);
}

/* Queues the vertices in the buffer and empties it. All threads of the block. */
template <typename Offset>
__device__ void enqueue_buffer(const hw_frontier_queue_params &params, uint32_t depth,
                               discovered_buffer &found)
{
    const uint32_t ring = (depth + 1) & 3;

    __syncthreads();
    const uint32_t count = min(found.count, buffer_capacity);
    for (uint32_t base = 0; base < count; base += 4 * threads) {
        uint32_t v[4], sinks = 0;
        count64 own[4], sum = 0, before, total;
#pragma unroll
        for (int k = 0; k < 4; k++) {
            const uint32_t i = base + k * threads + threadIdx.x;
            v[k] = i < count ? found.vertex[i] : HW_INVALID_VERTEX;
            own[k] = v[k] != HW_INVALID_VERTEX
                         ? hw_pack_entry(length_of<Offset>(params.graph, v[k]), edge_bits)
                         : 0;
            sinks += v[k] != HW_INVALID_VERTEX && !own[k];
            sum += own[k];
        }
        block_scan(found.scan).ExclusiveSum(sum, before, total);
        if (threadIdx.x == 0)
            found.start = atomicAdd(&params.control->queue[ring], total);
        if (sinks)
            atomicAdd(&params.control->sinks[ring], sinks);
        __syncthreads();
        before += found.start;
#pragma unroll
        for (int k = 0; k < 4; k++) {
            if (own[k])
                enqueue_at<Offset>(params, depth, before, v[k]);
            before += own[k];
        }
    }
    __syncthreads();
    if (threadIdx.x == 0)
        found.count = 0;
    __syncthreads();
}

/* Visits candidates, `items` per lane; HW_INVALID_VERTEX is none. Looks up the bitmap first and
 * executes an atomic OR only for vertices that appear unvisited. If this lane visits a vertex
 * first, its parent is source(k). Returns a bit for each such vertex. The lookup may be stale; the
 * atomic OR decides. Each stage runs for all candidates before the next stage, so that their memory
 * accesses overlap. */
template <int items, typename Source>
__device__ __forceinline__ uint32_t visit(const hw_frontier_queue_params &params,
                                          const uint32_t *candidate, Source source)
{
    uint32_t word[items], from[items], new_bits = 0;

#pragma unroll
    for (int k = 0; k < items; k++)
        word[k] = candidate[k] != HW_INVALID_VERTEX ? params.visited[candidate[k] / 32] : HW_WARP;
#pragma unroll
    for (int k = 0; k < items; k++) {
        const uint32_t bit = 1u << (candidate[k] & 31);
        if (!(word[k] & bit))
            word[k] = atomicOr(params.visited + candidate[k] / 32, bit);
    }
#pragma unroll
    for (int k = 0; k < items; k++)
        new_bits |= (~word[k] >> (candidate[k] & 31) & 1) << k;
#pragma unroll
    for (int k = 0; k < items; k++)
        if (new_bits >> k & 1)
            from[k] = source(k);
#pragma unroll
    for (int k = 0; k < items; k++)
        if (new_bits >> k & 1)
            params.parent[candidate[k]] = from[k];
    return new_bits;
}

/* Collects the candidates that `new_bits` selects. If the buffer has no capacity for some,
 * overflow(k, mine) is called by all lanes. Warp-collective. */
template <int items, typename Overflow>
__device__ __forceinline__ void collect(discovered_buffer &found, const uint32_t *candidate,
                                        uint32_t new_bits, Overflow overflow)
{
    const uint32_t lower = (1u << lane_of()) - 1;
    uint32_t before[items], count = 0, start = 0;

    if (!__any_sync(HW_WARP, new_bits))
        return;
#pragma unroll
    for (int k = 0; k < items; k++) {
        const uint32_t ballot = __ballot_sync(HW_WARP, new_bits >> k & 1);
        before[k] = count + __popc(ballot & lower);
        count += __popc(ballot);
    }
    if (lower == 0)
        start = atomicAdd(&found.count, count);
    start = __shfl_sync(HW_WARP, start, 0);
#pragma unroll
    for (int k = 0; k < items; k++) {
        const bool mine = new_bits >> k & 1, fits = start + before[k] < buffer_capacity;
        if (mine && fits)
            found.vertex[start + before[k]] = candidate[k];
        if (start + count > buffer_capacity)
            overflow(k, mine && !fits);
    }
}

} // namespace hw_frontier_queue

/* The grid of a cooperative kernel of frontier queues. Returns a cudaError_t. */
inline int hw_frontier_queue_shape(const void *kernel, int *blocks)
{
    return hw_resident_grid(kernel, hw_frontier_queue::threads, 0, HW_ALL_RESIDENT_BLOCKS, blocks);
}

#endif
