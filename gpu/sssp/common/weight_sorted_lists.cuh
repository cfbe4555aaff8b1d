/*
 * Lists sorted by weight, as the kernels of method `delta` that are a whole search push them: how
 * far a list matters, and its edges by a lane, by a warp or left to all warps of the block. The
 * kernel brings relax(plan, room, pass, edges, keys, source, key) for its own kinds of them.
 */
#ifndef HOPWAVE_GPU_SSSP_COMMON_WEIGHT_SORTED_LISTS_CUH
#define HOPWAVE_GPU_SSSP_COMMON_WEIGHT_SORTED_LISTS_CUH

#include "gpu/sssp/common/bucket_queues.cuh"

namespace hw_delta
{
namespace
{

/* Edges of a list that a warp takes at a time. */
constexpr uint32_t warp_chunk_edges = 128;
/* Edges that a lane relaxes at once: for more, registers would be spilled. */
constexpr uint32_t edges_in_flight = 2;

/* A list under way, one a lane. */
template <int kind> struct list_cursor {
    uint32_t source, length, at; /* at: the next edge */
    key_of<kind> key;
    const hw_gpu_edge *edge;
    bool more; /* may the next edge end inside the bounds? */
};

/* Where a lane looks for the end of a list as far as it matters. */
__device__ __forceinline__ uint64_t probe_index(uint32_t from, uint32_t length)
{
    const uint32_t lane = threadIdx.x & 31;

    return lane < 24 ? from + (static_cast<uint64_t>(warp_chunk_edges) << lane) : length;
}

/* What is there: asked for early, since it takes long to come. */
__device__ __forceinline__ uint32_t load_probe(const hw_gpu_edge *list, uint32_t from,
                                               uint32_t length)
{
    const uint64_t at = probe_index(from, length);

    return at < length ? __ldg(&list[at].weight) : 0;
}

/* The end of a list as far as it matters, within a factor of two. The whole warp calls it. */
template <int kind>
__device__ __forceinline__ uint32_t list_extent(uint32_t probed, uint32_t from, uint32_t length,
                                                key_of<kind> key, key_of<kind> to)
{
    const uint64_t at = probe_index(from, length);
    const bool beyond = at >= length || hw_further<kind>(key, probed) >= to;
    const uint32_t all = __ballot_sync(HW_WARP, beyond);
    const uint32_t first = __ffs(all) - 1; /* lanes from 24 on are beyond */

    return static_cast<uint32_t>(
        min(static_cast<uint64_t>(length),
            from + (first < 24 ? static_cast<uint64_t>(warp_chunk_edges) << first : length)));
}

/* The key from which on edges of a list, whose source has this one, no longer matter to a pass.
 * What improved since its bucket was left is pushed whole. */
template <int kind, typename State>
__device__ __forceinline__ key_of<kind> push_bound(const State &state, key_of<kind> key)
{
    return key < state.bound.low ? hw_keys<kind>::none : state.to;
}

/* A piece of one list by the whole warp. Returns false where what follows it is beyond; of a
 * length that is no multiple of 64, too. */
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
        if (!__all_sync(HW_WARP, last)) /* of the last 32: lists rise */
            return false;
    }
    return true;
}

/* Four edges of a list by this lane: those at `at`, `at` + step and so on. Returns whether
 * the last of them is there and ends inside the bounds. */
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

/* Another lane's list. */
template <int kind>
__device__ __forceinline__ list_cursor<kind> shuffle_list(const list_cursor<kind> &list, int lane)
{
    return list_cursor<kind>{__shfl_sync(HW_WARP, list.source, lane),
                             __shfl_sync(HW_WARP, list.length, lane),
                             __shfl_sync(HW_WARP, list.at, lane),
                             __shfl_sync(HW_WARP, list.key, lane),
                             reinterpret_cast<const hw_gpu_edge *>(
                                 __shfl_sync(HW_WARP, reinterpret_cast<count64>(list.edge), lane)),
                             true};
}

/* Leaves a list to all warps of the block. Returns whether there was room. */
template <int kind, typename Shared>
__device__ __forceinline__ bool defer_to_block(Shared &shared, const list_cursor<kind> &list,
                                               uint32_t from, uint32_t end)
{
    const uint32_t chunks = (end - from + warp_chunk_edges - 1) / warp_chunk_edges;
    uint32_t was = worklist_capacity << worklist_chunk_bits;

    if ((threadIdx.x & 31) == 0 &&
        hw_load_relaxed(&shared.worklist_size) >> worklist_chunk_bits < worklist_capacity)
        was = atomicAdd(&shared.worklist_size, 1u << worklist_chunk_bits | chunks);
    was = __shfl_sync(HW_WARP, was, 0);
    const uint32_t at = was >> worklist_chunk_bits;
    if (at >= worklist_capacity)
        return false;
    if ((threadIdx.x & 31) == 0)
        shared.worklist[at] =
            worklist_entry{list.edge, static_cast<long long>(list.key),       list.source, from,
                           end,       was & ((1u << worklist_chunk_bits) - 1)};
    return true;
}

/* How many vertices each of so many warps takes at a time: as many each time. */
__device__ __forceinline__ uint32_t vertices_per_warp(uint64_t count, uint64_t num_warps)
{
    if (count <= num_warps) /* divisions take their time */
        return 1;
    const uint64_t each = (count + num_warps - 1) / num_warps, times = (each + 31) / 32;
    return static_cast<uint32_t>((each + times - 1) / times);
}

} // namespace
} // namespace hw_delta

#endif
