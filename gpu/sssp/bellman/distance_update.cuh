/*
 * `bellman-ford` and `near-far`: reading, lowering and recording distances, with edge classes
 * (section 4.1) and removal of duplicates (section 4.2) of Busato and Bombieri (2015).
 */
#ifndef HOPWAVE_GPU_SSSP_BELLMAN_DISTANCE_UPDATE_CUH
#define HOPWAVE_GPU_SSSP_BELLMAN_DISTANCE_UPDATE_CUH

#include "gpu/device/grid_stride.cuh"
#include "gpu/graph/device_graph.cuh"
#include "gpu/sssp/bellman/lane_state.cuh"

namespace bellman_ford
{

/* The key of v as atomics leave it: read in the L2 cache, where atomics are performed. */
template <class L> __device__ __forceinline__ typename L::key current_key(const L &lane, uint32_t v)
{
    if constexpr (L::words)
        return __ldcg(reinterpret_cast<const int32_t *>(lane.params.state.packed_word + v) + 1);
    else
        return __ldcg(static_cast<const typename L::key *>(lane.params.paths.distance) + v);
}

/* The key of v, possibly an older one. Enough to recognize edges that improve nothing, without
 * atomics. Goes through the L1 cache, which holds the keys of hubs because loads of lists bypass
 * it. */
template <class L> __device__ __forceinline__ typename L::key cached_key(const L &lane, uint32_t v)
{
    if constexpr (L::words)
        return __ldca(reinterpret_cast<const int32_t *>(lane.params.state.packed_word + v) + 1);
    else
        return __ldca(static_cast<const typename L::key *>(lane.params.paths.distance) + v);
}

/* Whether a key is less than that of any path without a cycle; noted, so that the search is done
 * again with 64-bit distances. Edges of such vertices are not relaxed: their sums might pass 32
 * bits.
 */
template <class L> __device__ __forceinline__ bool below_floor(const L &lane, typename L::key key)
{
    if constexpr (L::words)
        if (key < lane.params.config.floor_key) {
            lane.params.control->below_floor = 1;
            return true;
        }
    return false;
}

/* Keys with which edges were last relaxed. */
template <class L> __device__ __forceinline__ typename L::key *relaxed_keys(const L &lane)
{
    return static_cast<typename L::key *>(lane.params.state.relaxed_key);
}

/* Loads one edge of the lists. */
template <class L>
__device__ __forceinline__ hw_gpu_edge read_edge(const L &lane, typename L::offset at)
{
    const uint2 *edge = reinterpret_cast<const uint2 *>(lane.params.paths.out) + at;
    const uint2 pair = lane.params.config.cache_hints ? hw_load_streaming(edge) : __ldca(edge);

    return hw_gpu_edge{pair.x, pair.y};
}

/* Whether no other thread writes the target of this edge: the target has in-degree 1 (section
 * 4.1), or only the root is relaxed in this phase. Where the source may be queued twice, the
 * threads that relax it both write; follow_source() mends that. */
template <class L> __device__ __forceinline__ bool single_writer(const L &lane, uint32_t word)
{
    if (!lane.params.config.edge_classes || lane.params.search.reachability_only)
        return false;
    return lane.root_only || word >> HW_BELLMAN_CLASS_SHIFT == HW_BELLMAN_SINGLE;
}

/* Lowers the key of v to `key`. Returns the key that v had; *fresh: v is not in the next queue
 * yet. alone: no other thread writes v in this phase, so that a store is enough. */
template <class L>
__device__ __forceinline__ typename L::key lower_key(const L &lane, uint32_t v, typename L::key key,
                                                     typename L::key was, bool alone, bool *fresh)
{
    *fresh = true;
    if constexpr (L::words) {
        const long long word = static_cast<long long>(
            static_cast<unsigned long long>(static_cast<uint32_t>(key)) << 32 | lane.phase);
        if (alone) {
            __stcg(reinterpret_cast<long long *>(lane.params.state.packed_word) + v, word);
            return was;
        }
        const long long old =
            atomicMin(reinterpret_cast<long long *>(lane.params.state.packed_word) + v, word);
        was = static_cast<typename L::key>(old >> 32);
        *fresh = static_cast<uint32_t>(old) != lane.phase || was >= lane.limit_key;
        return was;
    } else {
        typename L::key *at = static_cast<typename L::key *>(lane.params.paths.distance) + v;
        if (alone)
            __stcg(at, key);
        else if constexpr (L::kind == HW_GPU_KEY_I64)
            was = atomicMin(reinterpret_cast<long long *>(at), static_cast<long long>(key));
        else
            was = atomicMin(at, key);
        if (lane.enqueues && key < was && lane.params.state.queued_phase && key < lane.limit_key)
            *fresh = atomicExch(lane.params.state.queued_phase + v, lane.phase) != lane.phase;
        return was;
    }
}

/* After v was set to the sum of `from`, the key of its only source u, and an edge, without atomics:
 * sets it again while u has a lower key. Another thread may have relaxed the same u with that key
 * before this one wrote; whichever wrote last sees it, as both put a fence between u and v. */
template <class L>
__device__ __forceinline__ void follow_source(const L &lane, uint32_t v, uint32_t u,
                                              uint32_t weight, typename L::key from)
{
    static_assert(!L::words, "duplicates are removed by packed words");
    for (;;) {
        __threadfence();
        const typename L::key now = current_key(lane, u);
        if (now >= from)
            return;
        from = now;
        __stcg(static_cast<typename L::key *>(lane.params.paths.distance) + v,
               hw_further<L::kind>(now, weight));
    }
}

/* Whether the list of v is cut into chunks. */
template <class L> __device__ __forceinline__ bool has_chunks(const L &lane, uint32_t v)
{
    if (v >= lane.params.lists.end)
        return false;
    return lane.params.lists.by_falling_degree ||
           hw_list_begin<typename L::offset>(lane.params.graph.out, v + 1) -
                   hw_list_begin<typename L::offset>(lane.params.graph.out, v) >=
               lane.params.lists.min_length;
}

/* The lowest tier that has edges of v. */
template <class L> __device__ __forceinline__ uint32_t tier_of(const L &lane, uint32_t v)
{
    uint32_t tier = 0;

    while (tier < lane.params.lists.num_tiers && v >= lane.params.lists.tier_end[tier])
        tier++;
    return tier;
}

/* Records an improvement of v and the edge that caused it; returns whether to queue v. Far
 * vertices are not queued, but found by a later sweep. Vertices with chunks are found by their
 * tier. */
template <class L>
__device__ __forceinline__ bool record_improvement(L &lane, uint32_t v, typename L::key key,
                                                   bool fresh, const hw_gpu_edge &hint)
{
    const uint2 pair = make_uint2(hint.neighbor, hint.weight);

    if (lane.params.config.cache_hints)
        __stcs(reinterpret_cast<uint2 *>(lane.params.paths.hint) + v, pair);
    else
        reinterpret_cast<uint2 *>(lane.params.paths.hint)[v] = pair;
    if (key >= lane.limit_key) {
        lane.min_far_key = key < lane.min_far_key ? key : lane.min_far_key;
        return false; /* far */
    }
    lane.improved++;
    if (has_chunks(lane, v)) {
        lane.improved_long++;
        lane.pending_tiers |= 1u << tier_of(lane, v);
        return false;
    }
    return fresh;
}

} // namespace bellman_ford

#endif
