/*
 * Queues of delta-stepping that whole grids fill: the step queue (vertices pushed next) and the
 * rest queue (the other vertices of the bucket). Warps buffer vertices in shared memory and append
 * a full buffer with one atomic operation; optional mark bits keep a vertex from being queued
 * twice.
 *
 * Template parameters, which each engine provides:
 *
 *   Shared  a block's shared memory: see has_bucket_queues();
 *   State   a lane in one iteration, with
 *             bound       bucket_bounds<kind> of the iteration
 *             step_count  uint32_t, vertices that the warp buffered for the step queue
 *             rest_count  uint32_t, likewise for the rest queue.
 */
#ifndef HOPWAVE_GPU_SSSP_COMMON_BUCKET_QUEUES_CUH
#define HOPWAVE_GPU_SSSP_COMMON_BUCKET_QUEUES_CUH

#include "gpu/device/grid_stride.cuh"
#include "gpu/device/packed_queue.h"
#include "gpu/sssp/common/warp_keys.cuh"

#include <type_traits>

namespace hw_delta
{
namespace
{

/* Vertices that a warp buffers for a queue. */
constexpr uint32_t buffer_capacity = 128, items_per_lane = buffer_capacity / 32;
/* Edges of a list that are deferred to the warps of the block. */
constexpr uint32_t block_list_edges = 2048;
/* Lists in a block worklist. */
constexpr uint32_t worklist_capacity = 128;
constexpr int worklist_chunk_bits = 16;
/* Low bits of a packed count of long lists that hold the number of their chunks. */
constexpr int long_list_chunk_bits = 40;

/* A bucket [low, high) and its current step [low, step_end); [step_end, high) is the rest. */
template <int kind> struct bucket_bounds {
    key_of<kind> low, step_end, high;
};

/* A queue that an iteration fills. */
struct marked_queue {
    uint32_t *list, *counter;
    uint32_t
        *marks; /* [vertices / 32] bits of the vertices queued; NULL if no vertex is found twice */
};

enum { step_queue, rest_queue, num_queues };

/* The rest of a list, deferred to all warps of the block. */
struct worklist_entry {
    const hw_gpu_edge *edge;
    long long key; /* of the source */
    uint32_t source, from, end;
    uint32_t chunk; /* chunks of the lists before it */
};

/* Whether a block's shared memory has what the functions below use: queues, and for each queue and
 * warp a buffer and the place where its vertices go. */
template <typename Shared, uint32_t num_warps> constexpr bool has_bucket_queues()
{
    return std::is_same<decltype(Shared::queue), marked_queue[num_queues]>::value &&
           std::is_same<decltype(Shared::buffer),
                        uint32_t[num_queues][num_warps][buffer_capacity]>::value &&
           std::is_same<decltype(Shared::queue_offset), uint32_t[num_queues][num_warps]>::value;
}

/* Loads the warp's buffer, some vertices a lane, and sets their marks. Returns the bits of those
 * that were not marked. */
template <typename Shared>
__device__ __forceinline__ uint32_t mark_new(const Shared &shared, int queue, uint32_t count,
                                             uint32_t (&v)[items_per_lane])
{
    const uint32_t *found = shared.buffer[queue][threadIdx.x / 32];
    uint32_t *marks = shared.queue[queue].marks, fresh = 0;

#pragma unroll
    for (uint32_t k = 0; k < items_per_lane; k++) {
        const uint32_t at = 32 * k + (threadIdx.x & 31);
        v[k] = at < count ? found[at] : HW_INVALID_VERTEX;
    }
#pragma unroll
    for (uint32_t k = 0; k < items_per_lane; k++) {
        const uint32_t bit = 1u << (v[k] & 31);
        if (v[k] != HW_INVALID_VERTEX && (!marks || !(atomicOr(marks + (v[k] >> 5), bit) & bit)))
            fresh |= 1u << k;
    }
    return fresh;
}

/* Appends these, in the order of lanes. */
__device__ __forceinline__ void write_new(uint32_t *to, const uint32_t (&v)[items_per_lane],
                                          uint32_t fresh)
{
    const uint32_t below = (1u << (threadIdx.x & 31)) - 1;

#pragma unroll
    for (uint32_t k = 0; k < items_per_lane; k++) {
        const uint32_t all = __ballot_sync(HW_WARP, fresh >> k & 1);
        if (fresh >> k & 1)
            to[__popc(all & below)] = v[k];
        to += __popc(all);
    }
}

/* The number of set bits in the warp. */
__device__ __forceinline__ uint32_t count_warp(uint32_t fresh)
{
    uint32_t count = 0;

#pragma unroll
    for (uint32_t k = 0; k < items_per_lane; k++)
        count += __popc(__ballot_sync(HW_WARP, fresh >> k & 1));
    return count;
}

/* Flushes the warp's buffer to its queue. */
template <typename Shared>
__device__ __noinline__ void flush_warp(const Shared &shared, int queue, uint32_t found)
{
    uint32_t v[items_per_lane], start = 0;

    __syncwarp();
    const uint32_t fresh = mark_new(shared, queue, found, v), count = count_warp(fresh);
    if (count > 0 && (threadIdx.x & 31) == 0)
        start = atomicAdd(shared.queue[queue].counter, count);
    write_new(shared.queue[queue].list + __shfl_sync(HW_WARP, start, 0), v, fresh);
    __syncwarp();
}

/* Ballots N independent predicates; all[k]: lanes of predicate k. Returns whether any holds.
 * Warp-collective. */
template <int N>
__device__ __forceinline__ bool ballot_all(const bool (&wanted)[N], uint32_t (&all)[N])
{
    uint32_t any = 0;

#pragma unroll
    for (int k = 0; k < N; k++)
        any |= all[k] = __ballot_sync(HW_WARP, wanted[k]);
    return any != 0;
}

/* Buffers up to N vertices a lane for a queue. count: vertices in the warp's buffer.
 * Warp-collective. */
template <int N, typename Shared>
__device__ __forceinline__ void buffer_vertices(Shared &shared, int queue, uint32_t &count,
                                                const bool (&wanted)[N], const uint32_t (&v)[N])
{
    const uint32_t below = (1u << (threadIdx.x & 31)) - 1;
    uint32_t all[N];

    if (!ballot_all(wanted, all))
        return;
#pragma unroll
    for (int k = 0; k < N; k++) {
        const uint32_t more = __popc(all[k]);
        if (count + more > buffer_capacity) {
            flush_warp(shared, queue, count);
            count = 0;
        }
        if (wanted[k])
            shared.buffer[queue][threadIdx.x / 32][count + __popc(all[k] & below)] = v[k];
        count += more;
    }
}

/* The same with one vertex a lane. */
template <typename Shared>
__device__ __forceinline__ void buffer_vertex(Shared &shared, int queue, uint32_t &count,
                                              bool wanted, uint32_t v)
{
    buffer_vertices<1>(shared, queue, count, {wanted}, {v});
}

/* Reserves places in a queue for all warps of the block. One warp. */
template <typename Shared> __device__ __forceinline__ void reserve_queue(Shared &shared, int queue)
{
    const uint32_t lane = threadIdx.x & 31, warps = blockDim.x / 32;
    const uint32_t mine = lane < warps ? shared.queue_offset[queue][lane] : 0,
                   end = hw_warp_scan(mine);
    uint32_t base = 0;

    if (lane == 31 && end > 0)
        base = atomicAdd(shared.queue[queue].counter, end);
    base = __shfl_sync(HW_WARP, base, 31);
    if (lane < warps)
        shared.queue_offset[queue][lane] = base + end - mine;
}

/* Flushes the buffers of all warps; step, rest: vertices of this warp. All threads call it. */
template <typename Shared> __device__ void flush_block(Shared &shared, uint32_t step, uint32_t rest)
{
    const uint32_t lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    uint32_t v[num_queues][items_per_lane];

    __syncwarp();
    const uint32_t fresh[num_queues] = {mark_new(shared, step_queue, step, v[0]),
                                        mark_new(shared, rest_queue, rest, v[1])};
    const uint32_t count[num_queues] = {count_warp(fresh[0]), count_warp(fresh[1])};
    if (lane < num_queues)
        shared.queue_offset[lane][warp] = lane == step_queue ? count[0] : count[1];
    __syncthreads();
    if (warp < num_queues)
        reserve_queue(shared, static_cast<int>(warp));
    __syncthreads();
#pragma unroll
    for (int q = 0; q < num_queues; q++)
        if (count[q])
            write_new(shared.queue[q].list + shared.queue_offset[q][warp], v[q], fresh[q]);
}

/* Queues a vertex by its key; keys beyond the bucket are not queued. Warp-collective. */
template <typename Shared, typename State, typename Key>
__device__ __forceinline__ void enqueue(Shared &shared, State &state, bool wanted, uint32_t v,
                                        Key key)
{
    const bool in_step = key < state.bound.step_end;

    buffer_vertex(shared, step_queue, state.step_count, wanted && in_step, v);
    buffer_vertex(shared, rest_queue, state.rest_count,
                  wanted && !in_step && key < state.bound.high, v);
}

} // namespace
} // namespace hw_delta

#endif
