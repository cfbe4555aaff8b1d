/*
 * Pull of delta-stepping on one GPU: relaxes the heavy edges of a settled bucket from their
 * targets. Every vertex beyond the bucket looks for its best neighbor in it, along its
 * weight-sorted list, as long as the lowest distance of the bucket plus the weight improves its
 * own. A vertex that falls into the next bucket is pushed in the same iteration.
 */
#ifndef HOPWAVE_GPU_SSSP_DELTA_ONE_GPU_DELTA_PULL_CUH
#define HOPWAVE_GPU_SSSP_DELTA_ONE_GPU_DELTA_PULL_CUH

#include "gpu/graph/device_graph.cuh"
#include "gpu/sssp/delta/one_gpu_delta_push.cuh"

namespace hw_delta::one_gpu
{
namespace
{

/* Edges of a vertex that one lane pulls alone. */
constexpr uint32_t lane_pull_edges = 16;
template <int kind> struct pull_result {
    key_of<kind> key, from; /* from: key of the source */
    uint32_t source, weight;
};

/* Takes an edge from a vertex of the bucket if it gives a lower key. */
template <int kind>
__device__ __forceinline__ void take_better(const key_of<kind> *distance,
                                            const bucket_bounds<kind> &bound,
                                            const hw_gpu_edge &edge, pull_result<kind> &best)
{
    const key_of<kind> from = __ldca(distance + edge.neighbor);

    if (from >= bound.high)
        return;
    const key_of<kind> next = hw_further<kind>(from, edge.weight);
    if (next < best.key)
        best = pull_result<kind>{next, from, edge.neighbor, edge.weight};
}

/* Pulls the rest of a list. Warp-collective. */
template <int kind>
__device__ __forceinline__ pull_result<kind>
pull_rest(const kernel_params &params, lane_state<kind> &state, const bucket_bounds<kind> &bound,
          const hw_gpu_edge *list, uint32_t from, uint32_t length, pull_result<kind> best)
{
    const uint32_t lane = threadIdx.x & 31;

    for (uint32_t at = from; at < length; at += 32) {
        const bool there = at + lane < length;
        const hw_gpu_edge edge =
            there ? hw_read_edge(list + at + lane) : hw_gpu_edge{HW_INVALID_VERTEX, 0};
        const bool good = there && hw_further<kind>(bound.low, edge.weight) < best.key;
        const key_of<kind> before = best.key;
        if (good) {
            state.pulled++;
            take_better<kind>(distances<kind>(params), bound, edge, best);
        }
        const key_of<kind> min_key = hw_warp_min(best.key);
        if (min_key < before) {
            const int who = __ffs(__ballot_sync(HW_WARP, best.key == min_key)) - 1;
            best.key = min_key;
            best.from = __shfl_sync(HW_WARP, best.from, who);
            best.source = __shfl_sync(HW_WARP, best.source, who);
            best.weight = __shfl_sync(HW_WARP, best.weight, who);
        }
        if (!__all_sync(HW_WARP, good))
            break;
    }
    return best;
}

/* Pulls the list of one vertex a lane, each beyond the bucket. */
template <typename Offset, int kind>
__device__ pull_result<kind> pull_lists(const kernel_params &params, lane_state<kind> &state,
                                        const bucket_bounds<kind> &bound, uint32_t v,
                                        pull_result<kind> best)
{
    const hw_gpu_edge *list = params.sssp.in;
    const key_of<kind> *distance = distances<kind>(params);
    uint32_t length = 0, at = 0;
    bool more = false;

    if (v != HW_INVALID_VERTEX) {
        const Offset begin = hw_list_begin<Offset>(params.graph.in, v);
        length = static_cast<uint32_t>(hw_list_begin<Offset>(params.graph.in, v + 1) - begin);
        list += begin;
        more = length > 0;
        for (; more && at < length && at < lane_pull_edges; at += 4) {
            hw_gpu_edge edge[4];
#pragma unroll
            for (uint32_t k = 0; k < 4; k++)
                edge[k] = at + k < length ? hw_read_edge(list + at + k)
                                          : hw_gpu_edge{HW_INVALID_VERTEX, 0};
#pragma unroll
            for (uint32_t k = 0; k < 4; k++) {
                more = more && at + k < length &&
                       hw_further<kind>(bound.low, edge[k].weight) < best.key;
                if (more) {
                    state.pulled++;
                    take_better<kind>(distance, bound, edge[k], best);
                }
            }
        }
    }
    uint32_t left = __ballot_sync(HW_WARP, more && at < length);
    while (left) {
        const int lane = __ffs(left) - 1;
        left &= left - 1;
        const hw_gpu_edge *edges = reinterpret_cast<const hw_gpu_edge *>(
            __shfl_sync(HW_WARP, reinterpret_cast<count64>(list), lane));
        pull_result<kind> rest = {
            __shfl_sync(HW_WARP, best.key, lane), __shfl_sync(HW_WARP, best.from, lane),
            __shfl_sync(HW_WARP, best.source, lane), __shfl_sync(HW_WARP, best.weight, lane)};
        rest = pull_rest<kind>(params, state, bound, edges, __shfl_sync(HW_WARP, at, lane),
                               __shfl_sync(HW_WARP, length, lane), rest);
        if ((threadIdx.x & 31) == static_cast<uint32_t>(lane))
            best = rest;
    }
    return best;
}

/* A group of vertices: words of 32, one of each a lane. */
constexpr uint32_t group_words = 3;

template <int kind> struct key_group {
    uint32_t first;                /* vertex of this lane in the first word */
    key_of<kind> key[group_words]; /* `past` beyond the last vertex */
};

template <int kind>
__device__ __forceinline__ key_group<kind> load_keys(const kernel_params &params, uint64_t group,
                                                     key_of<kind> past)
{
    key_group<kind> keys;

    keys.first = static_cast<uint32_t>(group * group_words * 32) + (threadIdx.x & 31);
#pragma unroll
    for (uint32_t k = 0; k < group_words; k++)
        keys.key[k] = keys.first + 32 * k < params.graph.core
                          ? __ldcg(distances<kind>(params) + keys.first + 32 * k)
                          : past;
    return keys;
}

/* Groups of core vertices. */
__device__ __forceinline__ uint64_t num_groups(const kernel_params &params)
{
    return (static_cast<uint64_t>(params.graph.core) + 32 * group_words - 1) / (32 * group_words);
}

/* Counts a vertex beyond the iteration's bucket. */
template <int kind>
__device__ __forceinline__ void count_beyond(lane_state<kind> &state, key_of<kind> key)
{
    state.unsettled += key != hw_keys<kind>::none;
    state.unreached += key == hw_keys<kind>::none;
    state.min_key = min(state.min_key, key);
}

/* Pulls one vertex a lane, each beyond the bucket `from`; a vertex that is then in the iteration's
 * bucket is pushed at once. */
template <typename Offset, int kind>
__device__ __forceinline__ void pull_warp(const kernel_params &params, block_shared &shared,
                                          lane_state<kind> &state, const bucket_bounds<kind> &from,
                                          uint32_t v)
{
    key_of<kind> *distance = distances<kind>(params);
    key_of<kind> key = v != HW_INVALID_VERTEX ? __ldcg(distance + v) : 0;
    const pull_result<kind> best = pull_lists<Offset, kind>(
        params, state, from, v, pull_result<kind>{key, 0, HW_INVALID_VERTEX, 0});

    if (v != HW_INVALID_VERTEX && best.source != HW_INVALID_VERTEX) {
        key = atomic_lower(distance + v, best.key); /* others push to it concurrently */
        if (best.key < key) {
            put_hint<kind>(params, v, best.source, best.from, best.weight, best.key);
            key = best.key;
        }
    }
    const bool inside = v != HW_INVALID_VERTEX && key < state.bound.high;
    if (v != HW_INVALID_VERTEX && !inside)
        count_beyond(state, key);
    if (__any_sync(HW_WARP, inside))
        push_lists<Offset, kind>(params, shared, state, inside ? v : HW_INVALID_VERTEX, true);
}

/* Whether an edge may lead from `key` to below `to`. */
template <int kind>
__device__ __forceinline__ bool may_reach(const hw_gpu_edge &first, key_of<kind> key,
                                          key_of<kind> to)
{
    return first.neighbor != HW_INVALID_VERTEX && hw_further<kind>(key, first.weight) < to;
}

/* Whether a vertex beyond the bucket `from` may pull or push any edge; counts it if not. */
template <int kind>
__device__ __forceinline__ bool has_work(const kernel_params &params, lane_state<kind> &state,
                                         const bucket_bounds<kind> &from, uint32_t v,
                                         key_of<kind> key, const hw_gpu_edge &first)
{
    const bool inside = key < state.bound.high;

    if (may_reach<kind>(first, from.low, key))
        return true;
    if (!inside) {
        count_beyond(state, key);
        return false;
    }
    if (may_reach<kind>(params.graph.directed ? hw_read_edge(params.lightest_out + v) : first, key,
                        state.to))
        return true;
    state.degrees += params.mean_degree;
    return false;
}

/* Appends the vertices of a group that may pull or push to a worklist, which has `waiting` entries;
 * returns its new length. */
template <int kind>
__device__ __forceinline__ uint32_t append_with_work(const kernel_params &params,
                                                     lane_state<kind> &state,
                                                     const bucket_bounds<kind> &from,
                                                     uint64_t group, uint32_t *worklist,
                                                     uint32_t waiting)
{
    const key_group<kind> keys = load_keys<kind>(params, group, 0);
    const uint32_t below = (1u << (threadIdx.x & 31)) - 1;
    hw_gpu_edge first[group_words];

#pragma unroll
    for (uint32_t k = 0; k < group_words; k++)
        first[k] = keys.key[k] >= from.high ? hw_read_edge(params.lightest_in + keys.first + 32 * k)
                                            : hw_gpu_edge{HW_INVALID_VERTEX, 0};
#pragma unroll
    for (uint32_t k = 0; k < group_words; k++) {
        const uint32_t v = keys.first + 32 * k;
        const bool wanted = keys.key[k] >= from.high &&
                            has_work<kind>(params, state, from, v, keys.key[k], first[k]);
        const uint32_t all = __ballot_sync(HW_WARP, wanted);
        if (wanted)
            worklist[waiting + __popc(all & below)] = v;
        waiting += __popc(all);
    }
    __syncwarp();
    return waiting;
}

/* Pulls into all vertices beyond the bucket `from`, and pushes those that fall into the iteration's
 * bucket. Vertices with work are collected until they fill a warp. */
template <typename Offset, int kind>
__device__ void pull(const kernel_params &params, block_shared &shared, lane_state<kind> &state,
                     const bucket_bounds<kind> &from)
{
    static_assert(31 + 32 * group_words <= buffer_capacity,
                  "the buffer holds the waiting vertices");
    uint32_t *worklist = shared.buffer[rest_queue][threadIdx.x / 32];
    const uint32_t lane = threadIdx.x & 31;
    uint32_t waiting = 0;

    for (uint64_t g = hw_grid_thread() / 32;; g += hw_grid_threads() / 32) {
        const bool more = g < num_groups(params);
        if (more)
            waiting = append_with_work<kind>(params, state, from, g, worklist, waiting);
        while (waiting >= (more ? 32 : 1)) {
            const uint32_t count = min(waiting, 32u);
            waiting -= count;
            const uint32_t v = lane < count ? worklist[waiting + lane] : HW_INVALID_VERTEX;
            __syncwarp();
            pull_warp<Offset, kind>(params, shared, state, from, v);
        }
        if (!more)
            break;
    }
    push_block_worklist<kind>(params, shared, state);
}

} // namespace
} // namespace hw_delta::one_gpu

#endif
