/*
 * Relaxing weight-sorted lists in delta-stepping: only a prefix of a list has targets within the
 * bounds; by a lane, by a warp, or deferred to the warps of the block.
 *
 * Template parameters, which each engine provides in its own namespace:
 *
 *   Params  parameters of the kernel, passed on;
 *   Shared  a block's shared memory: see has_block_worklist() and bucket_queues.cuh;
 *   State   a lane in one iteration: as in bucket_queues.cuh, and
 *             to     key_of<kind>; edges whose targets have lower keys are relaxed
 *             edges  uint32_t, counter of edges pushed;
 *   relax(params, shared, state, edge, next, source, key), found by argument-dependent lookup:
 *           relaxes `hw_gpu_edge edge[N]` of each lane, whose targets get the keys `next[N]`, from
 * one source that has `key`; edges to HW_INVALID_VERTEX are left out. Warp-collective.
 */
#ifndef HOPWAVE_GPU_SSSP_COMMON_WEIGHT_SORTED_LISTS_CUH
#define HOPWAVE_GPU_SSSP_COMMON_WEIGHT_SORTED_LISTS_CUH

#include "gpu/sssp/common/bucket_queues.cuh"

namespace hw_delta
{
namespace
{

/* Edges that a lane relaxes at once; more would spill registers. */
constexpr uint32_t edges_in_flight = 2;

/* Position in the list of one vertex; one a lane. */
template <int kind> struct list_cursor {
    uint32_t source, length, at; /* at: index of the next edge */
    key_of<kind> key;
    const hw_gpu_edge *edge;
    bool more; /* the next edge may have its target within the bounds */
};

/* Whether a block's shared memory has a worklist: deferred lists, and a packed count of the lists
 * (above worklist_chunk_bits) and their chunks. The count has 32 bits, not the 64 of
 * gpu/device/packed_queue.h: in shared memory a 32-bit atomicAdd() is one instruction, a 64-bit one
 * a loop of compare-and-swap (sm_90). */
template <typename Shared> constexpr bool has_block_worklist()
{
    return std::is_same<decltype(Shared::worklist), worklist_entry[worklist_capacity]>::value &&
           std::is_same<decltype(Shared::worklist_size), uint32_t>::value;
}

/* The key at which the edges of a source with this key end to matter. A source that improved after
 * its bucket was left pushes all edges. */
template <int kind, typename State>
__device__ __forceinline__ key_of<kind> push_bound(const State &state, key_of<kind> key)
{
    return key < state.bound.low ? hw_keys<kind>::none : state.to;
}

/* Relaxes edges [from, end) of a list. Returns false if the edges after them are beyond the bounds,
 * or if the number of edges is no multiple of 64. Warp-collective. */
template <int kind, typename Params, typename Shared, typename State>
__device__ __forceinline__ bool push_chunk(const Params &params, Shared &shared, State &state,
                                           const hw_gpu_edge *list, uint32_t from, uint32_t end,
                                           uint32_t source, key_of<kind> key)
{
    const uint32_t lane = threadIdx.x & 31;
    const key_of<kind> to = push_bound<kind>(state, key);

    for (uint32_t at = from; at < end; at += 32 * edges_in_flight) {
        hw_gpu_edge edge[edges_in_flight];
        key_of<kind> next[edges_in_flight];
        bool last = true;
#pragma unroll
        for (uint32_t k = 0; k < edges_in_flight; k++) {
            const uint32_t p = at + 32 * k + lane;
            edge[k] = p < end ? hw_read_edge(list + p) : hw_gpu_edge{HW_INVALID_VERTEX, 0};
        }
#pragma unroll
        for (uint32_t k = 0; k < edges_in_flight; k++) {
            const bool there = at + 32 * k + lane < end;
            next[k] = there ? hw_further<kind>(key, edge[k].weight) : hw_keys<kind>::none;
            last = there && next[k] < to;
            if (!last)
                edge[k].neighbor = HW_INVALID_VERTEX;
            state.edges += last;
        }
        relax(params, shared, state, edge, next, source, key);
        if (!__all_sync(HW_WARP, last)) /* of the last 32 edges: weights ascend */
            return false;
    }
    return true;
}

/* Relaxes four edges of this lane's list: at, at + step... Returns whether the last one exists and
 * has its target within the bounds. Warp-collective. */
template <int kind, typename Params, typename Shared, typename State>
__device__ __forceinline__ bool push_four_edges(const Params &params, Shared &shared, State &state,
                                                const list_cursor<kind> &list, uint32_t at,
                                                uint32_t step)
{
    const key_of<kind> to = push_bound<kind>(state, list.key);
    hw_gpu_edge edge[4];
    key_of<kind> next[4];
    bool inside = false;

#pragma unroll
    for (uint32_t k = 0; k < 4; k++)
        edge[k] = list.more && at + step * k < list.length ? hw_read_edge(list.edge + at + step * k)
                                                           : hw_gpu_edge{HW_INVALID_VERTEX, 0};
#pragma unroll
    for (uint32_t k = 0; k < 4; k++) {
        const bool there = list.more && at + step * k < list.length;
        next[k] = there ? hw_further<kind>(list.key, edge[k].weight) : hw_keys<kind>::none;
        inside = there && next[k] < to;
        if (!inside)
            edge[k].neighbor = HW_INVALID_VERTEX;
        state.edges += inside;
    }
    relax(params, shared, state, edge, next, list.source, list.key);
    return inside;
}

/* Vertices that a warp takes at a time, so that all warps take equally many. */
__device__ __forceinline__ uint32_t vertices_per_warp(uint64_t count, uint64_t num_warps)
{
    if (count <= num_warps) /* avoids slow divisions */
        return 1;
    const uint64_t each = (count + num_warps - 1) / num_warps, times = (each + 31) / 32;
    return static_cast<uint32_t>((each + times - 1) / times);
}

} // namespace
} // namespace hw_delta

#endif
