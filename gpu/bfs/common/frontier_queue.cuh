/*
 * Queues of the methods that expand one level after another top-down, as kernels see
 * them: status lookup, the buffer in which a block collects what it finds, and the queue of
 * the next level, whose prefix sums are made while it is filled.
 */
#ifndef HOPWAVE_GPU_BFS_COMMON_FRONTIER_QUEUE_CUH
#define HOPWAVE_GPU_BFS_COMMON_FRONTIER_QUEUE_CUH

#include "gpu/bfs/common/frontier_queue.h"
#include "gpu/device/warp.cuh"
#include "gpu/graph/device_graph.cuh"

#include <cub/block/block_scan.cuh>

namespace hw_frontier_queue
{

using count64 = unsigned long long;

constexpr int threads = 256;
constexpr count64 edge_mask = (1ull << HW_FRONTIER_QUEUE_EDGE_BITS) - 1;

__device__ __forceinline__ uint32_t vertices_of(count64 packed)
{
    return static_cast<uint32_t>(packed >> HW_FRONTIER_QUEUE_EDGE_BITS);
}

__device__ __forceinline__ count64 edges_of(count64 packed)
{
    return packed & edge_mask;
}

/* A vertex with `edges` edges, packed. */
__device__ __forceinline__ count64 packed(count64 edges)
{
    return edges ? (1ull << HW_FRONTIER_QUEUE_EDGE_BITS) + edges : 0;
}

__device__ __forceinline__ uint32_t lane_of()
{
    return threadIdx.x & 31;
}

/* ---- the beginning and the rows ---- */

/* Nothing is visited but the root, which is queued. All threads of the grid. */
template <typename Offset>
__device__ void begin(const hw_frontier_queue_params &plan, uint32_t root)
{
    const uint32_t active = plan.graph.active;
    const uint4 none =
        make_uint4(HW_INVALID_VERTEX, HW_INVALID_VERTEX, HW_INVALID_VERTEX, HW_INVALID_VERTEX);

    for (uint64_t i = hw_grid_thread(); i < active / 4 + 1; i += hw_grid_threads()) {
        uint4 parent = none;
        if (root / 4 == i)
            (&parent.x)[root & 3] = root;
        reinterpret_cast<uint4 *>(plan.parent)[i] = parent;
    }
    for (uint64_t w = hw_grid_thread(); w < active / 32 + 1; w += hw_grid_threads()) {
        plan.settled[w] = 0;
        plan.visited[w] = root / 32 == w ? 1u << (root & 31) : 0;
    }
    if (hw_grid_thread() != 0)
        return;
    *plan.control = hw_frontier_queue_control{};
    if (root < active) {
        plan.control->queue[0] = packed(hw_begin<Offset>(plan.graph.out, root + 1) -
                                        hw_begin<Offset>(plan.graph.out, root));
        plan.queue[0][0] = root;
        static_cast<Offset *>(plan.prefix[0])[0] = 0;
    }
    plan.control->begun = static_cast<count64>(clock64());
    plan.control->begun_time = hw_nanoseconds();
}

/* Clears the counters of the level after the next. */
__device__ __forceinline__ void clear_ahead(const hw_frontier_queue_params &plan, uint32_t depth)
{
    if (hw_grid_thread() != 0)
        return;
    plan.control->queue[(depth + 2) & 3] = 0;
    plan.control->sinks[(depth + 2) & 3] = 0;
}

/* Keeps the row of the level `depth`, of so many edges, that has been expanded. One
 * thread. */
__device__ __forceinline__ void trace_append(const hw_frontier_queue_params &plan, uint32_t depth,
                                             uint32_t routine, count64 edges)
{
    hw_frontier_queue_control *control = plan.control;
    const count64 from = hw_load_relaxed(&control->queue[depth & 3]);
    const uint32_t found = vertices_of(hw_load_relaxed(&control->queue[(depth + 1) & 3])) +
                           hw_load_relaxed(&control->sinks[(depth + 1) & 3]);

    if (!plan.row)
        return;
    hw_gpu_trace_record *row = plan.row + min(depth, plan.row_capacity - 1);
    if (depth < plan.row_capacity) {
        row->routine = routine;
        row->frontier = vertices_of(from) + hw_load_relaxed(&control->sinks[depth & 3]);
        row->found = found;
        row->edges = edges;
    } else {
        row->found += found;
        row->edges += edges;
    }
    row->clock = static_cast<uint64_t>(clock64());
    control->rows = depth + 1;
}

/* Keeps when the search ended. One thread. */
__device__ __forceinline__ void trace_end(const hw_frontier_queue_params &plan)
{
    plan.control->ended = static_cast<count64>(clock64());
    plan.control->ended_time = hw_nanoseconds();
}

/* ---- what is found ---- */

/* Finds that a block collects in shared memory before it queues them together. */
constexpr uint32_t max_tile_edges = 2048; /* edges that a block visits between looks at it */
constexpr uint32_t buffer_capacity = max_tile_edges + 1024;
using block_scan = cub::BlockScan<count64, threads>;
struct discovered_buffer {
    uint32_t vertex[buffer_capacity];
    uint32_t count; /* may pass find_room */
    count64 start;
    typename block_scan::TempStorage scan;
};

/* The length of a vertex's list. */
template <typename Offset>
__device__ __forceinline__ count64 length_of(const hw_gpu_graph &graph, uint32_t v)
{
    return hw_begin<Offset>(graph.out, v + 1) - hw_begin<Offset>(graph.out, v);
}

template <typename Offset>
__device__ __forceinline__ void enqueue_at(const hw_frontier_queue_params &plan, uint32_t depth,
                                           count64 at, uint32_t v)
{
    plan.queue[(depth + 1) & 1][vertices_of(at)] = v;
    static_cast<Offset *>(plan.prefix[(depth + 1) & 1])[vertices_of(at)] =
        static_cast<Offset>(edges_of(at));
}

/* Queues finds of a warp that the buffer has no room for. */
template <typename Offset>
__device__ __noinline__ void enqueue_overflow(const hw_frontier_queue_params &plan, uint32_t depth,
                                              uint32_t v, bool mine)
{
    const uint32_t ring = (depth + 1) & 3;
    const count64 own = mine ? packed(length_of<Offset>(plan.graph, v)) : 0;
    const count64 upto = hw_warp_scan(own);
    count64 start = 0;

    if (mine && !own)
        atomicAdd(&plan.control->sinks[ring], 1u);
    if (lane_of() == 31)
        start = atomicAdd(&plan.control->queue[ring], upto);
    start = __shfl_sync(HW_WARP, start, 31);
    if (own)
        enqueue_at<Offset>(plan, depth, start + upto - own, v);
}

/* Queues what the block has collected. All its threads. */
template <typename Offset>
__device__ void enqueue_buffer(const hw_frontier_queue_params &plan, uint32_t depth,
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
            own[k] = v[k] != HW_INVALID_VERTEX ? packed(length_of<Offset>(plan.graph, v[k])) : 0;
            sinks += v[k] != HW_INVALID_VERTEX && !own[k];
            sum += own[k];
        }
        block_scan(found.scan).ExclusiveSum(sum, before, total);
        if (threadIdx.x == 0)
            found.start = atomicAdd(&plan.control->queue[ring], total);
        if (sinks)
            atomicAdd(&plan.control->sinks[ring], sinks);
        __syncthreads();
        before += found.start;
#pragma unroll
        for (int k = 0; k < 4; k++) {
            if (own[k])
                enqueue_at<Offset>(plan, depth, before, v[k]);
            before += own[k];
        }
    }
    __syncthreads();
    if (threadIdx.x == 0)
        found.count = 0;
    __syncthreads();
}

/*
 * Visits candidates, `many` a lane, HW_INVALID_VERTEX being none: status lookup in the bitmap,
 * an atomic operation only for those that look unvisited, and of those that this lane was
 * the first to visit the parent, source(k). Returns a bit for each of these. The lookup
 * may read what the level has changed meanwhile or not; the atomic operation decides. Each
 * step is taken for all candidates before the next, so that they wait for memory together.
 */
template <int many, typename Source>
__device__ __forceinline__ uint32_t visit(const hw_frontier_queue_params &plan,
                                          const uint32_t *candidate, Source source)
{
    uint32_t word[many], from[many], fresh = 0;

#pragma unroll
    for (int k = 0; k < many; k++)
        word[k] = candidate[k] != HW_INVALID_VERTEX ? plan.visited[candidate[k] / 32] : HW_WARP;
#pragma unroll
    for (int k = 0; k < many; k++) {
        const uint32_t bit = 1u << (candidate[k] & 31);
        if (!(word[k] & bit))
            word[k] = atomicOr(plan.visited + candidate[k] / 32, bit);
    }
#pragma unroll
    for (int k = 0; k < many; k++)
        fresh |= (~word[k] >> (candidate[k] & 31) & 1) << k;
#pragma unroll
    for (int k = 0; k < many; k++)
        if (fresh >> k & 1)
            from[k] = source(k);
#pragma unroll
    for (int k = 0; k < many; k++)
        if (fresh >> k & 1)
            plan.parent[candidate[k]] = from[k];
    return fresh;
}

/* Collects the candidates that `fresh` has bits for; overflow(k, mine) is called for all
 * lanes where the buffer has no room for some. A whole warp. */
template <int many, typename Overflow>
__device__ __forceinline__ void collect(discovered_buffer &found, const uint32_t *candidate,
                                        uint32_t fresh, Overflow overflow)
{
    const uint32_t lower = (1u << lane_of()) - 1;
    uint32_t before[many], count = 0, start = 0;

    if (!__any_sync(HW_WARP, fresh))
        return;
#pragma unroll
    for (int k = 0; k < many; k++) {
        const uint32_t ballot = __ballot_sync(HW_WARP, fresh >> k & 1);
        before[k] = count + __popc(ballot & lower);
        count += __popc(ballot);
    }
    if (lower == 0)
        start = atomicAdd(&found.count, count);
    start = __shfl_sync(HW_WARP, start, 0);
#pragma unroll
    for (int k = 0; k < many; k++) {
        const bool mine = fresh >> k & 1, fits = start + before[k] < buffer_capacity;
        if (mine && fits)
            found.vertex[start + before[k]] = candidate[k];
        if (start + count > buffer_capacity)
            overflow(k, mine && !fits);
    }
}

/* The number of leading elements of [0, count) that hold; those that do not come after
 * them. A whole warp. */
template <typename Holds> __device__ uint32_t warp_partition_point(uint32_t count, Holds holds)
{
    uint32_t from = 0, length = count;

    while (length > 0) {
        const uint32_t step = (length + 31) / 32, last = (lane_of() + 1) * step - 1;
        const uint32_t full = __popc(__ballot_sync(HW_WARP, last < length && holds(from + last)));
        from += full * step;
        length = full * step + step - 1 < length ? step - 1 : length - full * step;
    }
    return from;
}

} // namespace hw_frontier_queue

/* Blocks of a cooperative kernel that are resident at once. Returns a cudaError_t. */
inline cudaError_t hw_frontier_queue_shape(const void *kernel, int *blocks)
{
    int device = 0, processors = 0, resident = 0;
    cudaError_t error = cudaGetDevice(&device);

    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    if (error == cudaSuccess)
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel,
                                                              hw_frontier_queue::threads, 0);
    if (error == cudaSuccess && resident < 1)
        error = cudaErrorLaunchOutOfResources;
    *blocks = processors * resident;
    return error;
}

#endif
