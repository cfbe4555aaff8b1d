/*
 * Parents at the end of delta-stepping (gpu/sssp/delta/delta_search.h).
 *
 * A result is (parent, low bits of the key). Most vertices have it already: their hint, if it gave
 * the final key. Others search their list for a nearer neighbor with a tight edge. Those with none
 * adopt, in further iterations, an equal-distance neighbor that has a parent; while a vertex has
 * none, other GPUs see its key as `parent_pending`, so that no cycle can form.
 */
#ifndef HOPWAVE_GPU_SSSP_DELTA_SEARCH_DELTA_PARENTS_CUH
#define HOPWAVE_GPU_SSSP_DELTA_SEARCH_DELTA_PARENTS_CUH

#include "gpu/sssp/common/weight_sorted_lists.cuh"
#include "gpu/sssp/delta/search/delta_outbox.cuh"

namespace hw_delta::search
{
namespace
{

/* Stores the result of an owned vertex. A valid hint has the same layout. */
template <int kind, class Peers>
__device__ __forceinline__ void store_result(const kernel_params<Peers> &params, uint32_t v,
                                             uint32_t parent, key_of<kind> key)
{
    reinterpret_cast<uint2 *>(params.state.result)[owned_begin(params) + v] =
        make_uint2(parent, low_bits<kind>(key));
}

/* Stores the root as its own parent: for results of one GPU, which are not read without it. One
 * thread. */
template <class Peers>
__device__ __forceinline__ void store_root(const kernel_params<Peers> &params, uint32_t root)
{
    if (!Peers::several && hw_grid_thread() == 0 && root < params.vertices.active)
        reinterpret_cast<uint2 *>(params.state.result)[root] = make_uint2(root, 0);
}

/* Vertices in flight in each lane. */
constexpr uint32_t finish_in_flight = 4;

/* Loads the keys of the targets of some edges a lane; unreached where there is no edge. */
template <int kind, class Peers>
__device__ __forceinline__ void load_neighbor_keys(const kernel_params<Peers> &params,
                                                   lane_state<kind> &state,
                                                   const hw_gpu_edge (&edge)[finish_in_flight],
                                                   key_of<kind> (&key)[finish_in_flight])
{
#pragma unroll
    for (uint32_t k = 0; k < finish_in_flight; k++)
        key[k] = edge[k].neighbor != HW_INVALID_VERTEX
                     ? __ldcg(key_at<kind>(params, edge[k].neighbor))
                     : hw_keys<kind>::none;
#pragma unroll
    for (uint32_t k = 0; k < finish_in_flight; k++)
        if (edge[k].neighbor != HW_INVALID_VERTEX)
            key[k] = remote_load_unless_pending<kind>(params, state, edge[k].neighbor, key[k]);
}

/* Vertices of one edge take the distance and the parent that their only neighbor gives. */
template <int kind, class Peers>
__device__ void relax_leaves(const kernel_params<Peers> &params, lane_state<kind> &state,
                             uint32_t root)
{
    key_of<kind> *distance = distances<kind>(params);
    const uint32_t home = owned_begin(params);
    const uint64_t stride = hw_grid_threads();

    for (uint64_t first = params.vertices.core + hw_grid_thread(); first < params.vertices.active;
         first += finish_in_flight * stride) {
        hw_gpu_edge edge[finish_in_flight];
        key_of<kind> from[finish_in_flight];
#pragma unroll
        for (uint32_t k = 0; k < finish_in_flight; k++) {
            const uint64_t v = first + k * stride;
            edge[k] = v < params.vertices.active ? hw_read_edge(params.queues.lightest[v].edge)
                                                 : hw_gpu_edge{HW_INVALID_VERTEX, 0};
        }
        load_neighbor_keys<kind>(params, state, edge, from);
#pragma unroll
        for (uint32_t k = 0; k < finish_in_flight; k++) {
            const uint32_t v = static_cast<uint32_t>(first + k * stride);
            const bool reached = pull_order(from[k]) < pull_order(hw_keys<kind>::none);
            const key_of<kind> key =
                reached ? hw_further<kind>(from[k], edge[k].weight) : hw_keys<kind>::none;
            if (first + k * stride >= params.vertices.active || home + v == root)
                continue;
            distance[home + v] = key;
            store_result<kind>(params, v, reached ? edge[k].neighbor : HW_INVALID_VERTEX, key);
        }
    }
}

/* Searches for a nearer neighbor that explains the key of a vertex, several edges a lane at a
 * time, since lists may be long. Warp-collective. */
template <int kind, class Peers>
__device__ uint32_t find_nearer_parent(const kernel_params<Peers> &params, lane_state<kind> &state,
                                       uint32_t v, key_of<kind> key)
{
    const uint32_t lane = threadIdx.x & 31;
    const hw_delta_lists &lists = in_lists(params);
    const uint64_t begin = list_begin(params, lists, v), end = list_begin(params, lists, v + 1);

    for (uint64_t at = begin + lane; at - lane < end; at += 32 * finish_in_flight) {
        hw_gpu_edge edge[finish_in_flight];
        key_of<kind> from[finish_in_flight];
        uint32_t source = HW_INVALID_VERTEX;
        bool past = false;
#pragma unroll
        for (uint32_t k = 0; k < finish_in_flight; k++)
            edge[k] = at + 32 * k < end ? hw_read_edge(lists.edge + at + 32 * k)
                                        : hw_gpu_edge{HW_INVALID_VERTEX, 0};
        load_neighbor_keys<kind>(params, state, edge, from);
#pragma unroll
        for (uint32_t k = 0; k < finish_in_flight; k++) {
            if (edge[k].neighbor == HW_INVALID_VERTEX)
                continue;
            if (pull_order(from[k]) < pull_order(key) &&
                hw_further<kind>(from[k], edge[k].weight) == key)
                source = edge[k].neighbor;
            past = past || hw_further<kind>(0, edge[k].weight) > key;
        }
        const uint32_t who = __ballot_sync(HW_WARP, source != HW_INVALID_VERTEX);
        if (who)
            return __shfl_sync(HW_WARP, source, __ffs(who) - 1);
        if (__any_sync(HW_WARP, past))
            break;
    }
    return HW_INVALID_VERTEX;
}

/* Stores the key of an owned vertex into the distances of all other GPUs. */
template <int kind, class Peers>
__device__ void publish_distance(const kernel_params<Peers> &params, const lane_state<kind> &state,
                                 uint32_t v, key_of<kind> key)
{
    for (uint32_t q = 0; q < Peers::ranks(params); q++)
        if (q != Peers::rank(params))
            replace_copy(params, state, q, owned_begin(params) + v, key);
}

/* Queues vertices without a parent, one a lane, and publishes `parent_pending` for them, since
 * other GPUs look for parents among them. Returns 1 in lanes that have one. Warp-collective. */
template <int kind, class Peers>
__device__ __forceinline__ uint32_t defer_parent(const kernel_params<Peers> &params,
                                                 block_shared<Peers> &shared,
                                                 lane_state<kind> &state, bool parentless,
                                                 uint32_t v, key_of<kind> key)
{
    if (parentless)
        store_result<kind>(params, v, HW_INVALID_VERTEX, key);
    if constexpr (Peers::several)
        if (parentless && !params.config.push_only)
            publish_distance<kind>(params, state, v, parent_pending);
    buffer_vertex(shared, step_queue, state.step_count, parentless, v);
    return parentless;
}

/* Keys and hints of owned vertices of several edges, every 32nd a lane. */
template <int kind> struct hint_group {
    key_of<kind> key[finish_in_flight];
    uint2 hint[finish_in_flight];
};

template <int kind, class Peers>
__device__ __forceinline__ hint_group<kind> load_hints(const kernel_params<Peers> &params,
                                                       uint64_t first)
{
    const uint32_t home = owned_begin(params), lane = threadIdx.x & 31;
    const key_of<kind> *own = distances<kind>(params) + home;
    const uint2 *value = reinterpret_cast<const uint2 *>(params.state.result) + home;
    hint_group<kind> hints;

#pragma unroll
    for (uint32_t k = 0; k < finish_in_flight; k++) {
        const uint64_t v = first + 32 * k + lane;
        const bool there = v < params.vertices.core;
        hints.hint[k] = there ? __ldcg(value + v) : make_uint2(HW_INVALID_VERTEX, 0);
        if constexpr (Peers::packs_hints)
            hints.key[k] = there ? static_cast<key_of<kind>>(hints.hint[k].y) : hw_keys<kind>::none;
        else
            hints.key[k] = there ? __ldcg(own + v) : hw_keys<kind>::none;
    }
    return hints;
}

/* Stores the keys of a group where those who read the results of a search look for them. */
template <int kind, class Peers>
__device__ __forceinline__ void store_distances(const kernel_params<Peers> &params, uint64_t first,
                                                const hint_group<kind> &hints)
{
#pragma unroll
    for (uint32_t k = 0; k < finish_in_flight; k++) {
        const uint64_t v = first + 32 * k + (threadIdx.x & 31);
        if (v < params.vertices.core)
            __stcs(distances<kind>(params) + owned_begin(params) + v, hints.key[k]);
    }
}

/* Prefetches keys and hints of a group. */
template <int kind, class Peers>
__device__ __forceinline__ void prefetch_hints(const kernel_params<Peers> &params, uint64_t first)
{
    constexpr uint32_t line = 128, vertices = 32 * finish_in_flight;
    constexpr uint32_t keys = Peers::packs_hints ? 0 : vertices * sizeof(key_of<kind>) / line;
    constexpr uint32_t hints = vertices * sizeof(uint2) / line;
    static_assert(keys + hints <= 32, "a line a lane");
    const uint32_t lane = threadIdx.x & 31;

    if (first + vertices > params.vertices.core)
        return;
    first += owned_begin(params);
    if (lane < keys)
        hw_prefetch_l2(reinterpret_cast<const char *>(distances<kind>(params) + first) +
                       line * lane);
    else if (lane < keys + hints)
        hw_prefetch_l2(reinterpret_cast<const char *>(
                           reinterpret_cast<const uint2 *>(params.state.result) + first) +
                       line * (lane - keys));
}

/* Whether a hint gave the vertex this key. Hints of keys with more bits have no source. */
template <int kind> __device__ __forceinline__ bool hint_holds(const uint2 &hint, key_of<kind> key)
{
    return hint.x != HW_INVALID_VERTEX && hint.y == low_bits<kind>(key) && fits_low_bits<kind>(key);
}

/* Examines 32 * finish_in_flight vertices from `first` on: stores results of unreached ones, and
 * appends those without a valid hint to waiting_list. Those whose hint is `equal_distance_parent`
 * have no known nearer neighbor and do not search their long lists: they are queued at once.
 * Returns how many, for this lane. Warp-collective. */
template <int kind, class Peers>
__device__ __forceinline__ uint32_t check_hints(const kernel_params<Peers> &params,
                                                block_shared<Peers> &shared,
                                                lane_state<kind> &state, uint32_t root,
                                                uint64_t first, uint32_t *waiting_list,
                                                uint32_t &waiting)
{
    const uint32_t home = owned_begin(params), lane = threadIdx.x & 31, below = (1u << lane) - 1;
    const hint_group<kind> hints = load_hints<kind>(params, first);
    uint32_t parentless = 0;
    bool all = true;

    if constexpr (Peers::packs_hints)
        store_distances(params, first, hints);
#pragma unroll
    for (uint32_t k = 0; k < finish_in_flight; k++)
        all = all && hints.hint[k].x != equal_distance_parent &&
              hint_holds<kind>(hints.hint[k], hints.key[k]);
    if (__all_sync(HW_WARP, all)) /* as nearly always */
        return 0;
#pragma unroll
    for (uint32_t k = 0; k < finish_in_flight; k++) {
        const uint32_t v = static_cast<uint32_t>(first) + 32 * k + lane;
        const key_of<kind> key = hints.key[k];
        const uint2 hint = hints.hint[k];
        const bool there = first + 32 * k + lane < params.vertices.core && home + v != root;
        const bool reached = there && key != hw_keys<kind>::none;
        const bool held = hint_holds<kind>(hint, key);
        const uint32_t wanted = __ballot_sync(HW_WARP, reached && !held);
        if (there && !reached)
            store_result<kind>(params, v, HW_INVALID_VERTEX, key);
        if (wanted >> lane & 1)
            waiting_list[waiting + __popc(wanted & below)] = v;
        waiting += __popc(wanted);
        parentless += defer_parent(params, shared, state,
                                   reached && held && hint.x == equal_distance_parent, v, key);
    }
    __syncwarp();
    return parentless;
}

/* Finds the parents of all owned vertices of several edges. Queues those without one; returns how
 * many, for this lane. */
template <int kind, class Peers>
__device__ uint32_t find_parents(const kernel_params<Peers> &params, block_shared<Peers> &shared,
                                 lane_state<kind> &state, uint32_t root)
{
    static_assert(32 * finish_in_flight <= buffer_capacity,
                  "the buffer holds the waiting vertices");
    uint32_t *waiting_list = shared.buffer[rest_queue][threadIdx.x / 32];
    const bool first = (threadIdx.x & 31) == 0;
    uint32_t parentless = 0;

    for (uint64_t w = hw_grid_thread() / 32; w * 32 * finish_in_flight < params.vertices.core;
         w += hw_grid_threads() / 32) {
        uint32_t waiting = 0;
        prefetch_hints<kind>(params,
                             w * 32 * finish_in_flight + hw_grid_threads() * finish_in_flight);
        parentless += check_hints(params, shared, state, root, w * 32 * finish_in_flight,
                                  waiting_list, waiting);
        for (uint32_t k = 0; k < waiting; k++) {
            const uint32_t v = waiting_list[k];
            const key_of<kind> key = __ldcg(own_key_at<kind>(params, v));
            const uint32_t source = params.config.push_only
                                        ? HW_INVALID_VERTEX
                                        : find_nearer_parent<kind>(params, state, v, key);
            if (first && source != HW_INVALID_VERTEX)
                store_result<kind>(params, v, source, key);
            parentless +=
                defer_parent(params, shared, state, first && source == HW_INVALID_VERTEX, v, key);
        }
        __syncwarp();
    }
    return parentless;
}

/* Whether a reached vertex has a parent. Remote vertices without one show `parent_pending`. */
template <class Peers>
__device__ __forceinline__ bool has_parent(const kernel_params<Peers> &params, uint32_t local_id,
                                           uint32_t root)
{
    const uint32_t v = local_id - owned_begin(params);
    const uint2 *result = reinterpret_cast<const uint2 *>(params.state.result);

    if (local_id == root || !Peers::is_local(params, local_id))
        return true;
    return v < params.vertices.core && hw_load_relaxed(&result[local_id].x) != HW_INVALID_VERTEX;
}

/* Edges that a lane examines alone for a vertex without a nearer neighbor. */
constexpr uint32_t alone_edges = 4;

/* Whether an edge explains the key of a vertex without a nearer neighbor: it vanishes in the key,
 * and its source has a parent. A vertex without a parent got its key from such a neighbor, or found
 * no nearer one. */
template <int kind, class Peers>
__device__ __forceinline__ bool explains_equal(const kernel_params<Peers> &params,
                                               lane_state<kind> &state, const hw_gpu_edge &edge,
                                               key_of<kind> key, uint32_t root)
{
    const key_of<kind> from = remote_load<kind>(
        params, state, edge.neighbor, hw_load_relaxed(key_at<kind>(params, edge.neighbor)),
        state.remote_load_from);

    return pull_order(from) <= pull_order(key) && hw_further<kind>(from, edge.weight) == key &&
           has_parent(params, edge.neighbor, root);
}

/* Searches the first edges of one vertex a lane, if it has one. more: further edges may explain
 * it. */
template <int kind, class Peers>
__device__ __forceinline__ uint32_t
find_equal_distance_parent_alone(const kernel_params<Peers> &params, lane_state<kind> &state,
                                 uint32_t v, key_of<kind> key, uint32_t root, bool &more)
{
    const hw_delta_lists &lists = in_lists(params);

    more = false;
    if (v == HW_INVALID_VERTEX)
        return HW_INVALID_VERTEX;
    const uint64_t begin = list_begin(params, lists, v), end = list_begin(params, lists, v + 1);
    for (uint64_t at = begin; at < end && at < begin + alone_edges; at++) {
        const hw_gpu_edge edge = hw_read_edge(lists.edge + at);
        if (explains_equal<kind>(params, state, edge, key, root))
            return edge.neighbor;
        if (hw_further<kind>(key, edge.weight) > key)
            return HW_INVALID_VERTEX;
    }
    more = begin + alone_edges < end;
    return HW_INVALID_VERTEX;
}

/* Searches the edges of one vertex from number `first` on. Warp-collective. */
template <int kind, class Peers>
__device__ uint32_t find_equal_distance_parent(const kernel_params<Peers> &params,
                                               lane_state<kind> &state, uint32_t v,
                                               key_of<kind> key, uint32_t root, uint32_t first)
{
    const uint32_t lane = threadIdx.x & 31;
    const hw_delta_lists &lists = in_lists(params);
    const uint64_t begin = list_begin(params, lists, v) + first,
                   end = list_begin(params, lists, v + 1);

    for (uint64_t at = begin; at < end; at += 32) {
        const bool there = at + lane < end;
        const hw_gpu_edge edge =
            there ? hw_read_edge(lists.edge + at + lane) : hw_gpu_edge{HW_INVALID_VERTEX, 0};
        const uint32_t who =
            __ballot_sync(HW_WARP, there && explains_equal<kind>(params, state, edge, key, root));
        if (who)
            return __shfl_sync(HW_WARP, edge.neighbor, __ffs(who) - 1);
        if (__any_sync(HW_WARP, there && hw_further<kind>(key, edge.weight) > key))
            break;
    }
    return HW_INVALID_VERTEX;
}

/* Searches for a neighbor that explains the key of one vertex a lane, where it has one. many: first
 * by each lane alone, since few edges of most lists vanish. Then by all lanes, for one list after
 * the other. Warp-collective. */
template <int kind, class Peers>
__device__ __forceinline__ uint32_t find_equal_distance_parents(const kernel_params<Peers> &params,
                                                                lane_state<kind> &state, uint32_t v,
                                                                key_of<kind> key, uint32_t root,
                                                                bool many)
{
    bool more = v != HW_INVALID_VERTEX;
    uint32_t source = HW_INVALID_VERTEX;

    if (many)
        source = find_equal_distance_parent_alone<kind>(params, state, v, key, root, more);
    for (uint32_t left = __ballot_sync(HW_WARP, more); left; left &= left - 1) {
        const int from = __ffs(left) - 1;
        const uint32_t found = find_equal_distance_parent<kind>(
            params, state, __shfl_sync(HW_WARP, v, from), __shfl_sync(HW_WARP, key, from), root,
            many ? alone_edges : 0);
        if (static_cast<int>(threadIdx.x & 31) == from)
            source = found;
    }
    return source;
}

/* Each queued vertex adopts an equal-distance neighbor that already has a parent, then publishes
 * itself; hence no cycles. Queues the vertices that found none; returns how many, for this lane. */
template <int kind, class Peers>
__device__ uint32_t adopt_equal_distance_parents(const kernel_params<Peers> &params,
                                                 block_shared<Peers> &shared,
                                                 lane_state<kind> &state, uint32_t count,
                                                 uint32_t root)
{
    const uint32_t *list = by_parity(params.queues.step_queue, state.iteration);
    const uint64_t all = hw_grid_threads() / 32;
    const uint32_t each = vertices_per_warp(count, all), lane = threadIdx.x & 31;
    uint32_t parentless = 0;

    for (uint64_t w = hw_grid_thread() / 32; w * each < count; w += all) {
        const uint64_t i = w * each + lane;
        const bool there = lane < each && i < count;
        const uint32_t v = there ? __ldcg(list + i) : HW_INVALID_VERTEX;
        const key_of<kind> key = there ? __ldcg(own_key_at<kind>(params, v)) : 0;
        const uint32_t source =
            find_equal_distance_parents<kind>(params, state, v, key, root, each > 1);
        const bool found = source != HW_INVALID_VERTEX;
        if (found) {
            store_result<kind>(params, v, source, key);
            if constexpr (Peers::several) {
                __threadfence_system();
                publish_distance<kind>(params, state, v, key);
            }
        }
        parentless += there && !found;
        buffer_vertex(shared, step_queue, state.step_count, there && !found, v);
    }
    return parentless;
}

} // namespace
} // namespace hw_delta::search

#endif
