/* Pulling in method `delta`: the edges that leave a bucket, from their ends. */
#ifndef HOPWAVE_GPU_SSSP_DELTA_ONE_GPU_DELTA_PULL_CUH
#define HOPWAVE_GPU_SSSP_DELTA_ONE_GPU_DELTA_PULL_CUH

#include "gpu/graph/device_graph.cuh"
#include "gpu/sssp/delta/one_gpu_delta_push.cuh"

namespace
{

/* Edges of a vertex that one lane pulls alone. */
constexpr uint32_t lane_pulls = 16;
template <int kind> struct pulled_t {
    key_of<kind> key, from; /* from: of the source */
    uint32_t source, weight;
};

/* Takes an edge to an inner vertex where it is better. */
template <int kind>
__device__ __forceinline__ void take(const key_of<kind> *distance, const bounds<kind> &bound,
                                     const hw_gpu_edge &edge, pulled_t<kind> &best)
{
    const key_of<kind> from = __ldca(distance + edge.rank);

    if (from >= bound.high)
        return;
    const key_of<kind> next = hw_further<kind>(from, edge.weight);
    if (next < best.key)
        best = pulled_t<kind>{next, from, edge.rank, edge.weight};
}

/* The rest of a list by the whole warp. */
template <int kind>
__device__ __forceinline__ pulled_t<kind>
pull_rest(const kernel_params &plan, pass_t<kind> &pass, const bounds<kind> &bound,
          const hw_gpu_edge *list, uint32_t from, uint32_t length, pulled_t<kind> best)
{
    const uint32_t lane = threadIdx.x & 31;

    for (uint32_t at = from; at < length; at += 32) {
        const bool there = at + lane < length;
        const hw_gpu_edge edge =
            there ? hw_read_edge(list + at + lane) : hw_gpu_edge{HW_INVALID_VERTEX, 0};
        const bool good = there && hw_further<kind>(bound.low, edge.weight) < best.key;
        const key_of<kind> before = best.key;
        if (good) {
            pass.pulled++;
            take<kind>(distances<kind>(plan), bound, edge, best);
        }
        const key_of<kind> least = warp_least(best.key);
        if (least < before) {
            const int who = __ffs(__ballot_sync(HW_WARP, best.key == least)) - 1;
            best.key = least;
            best.from = __shfl_sync(HW_WARP, best.from, who);
            best.source = __shfl_sync(HW_WARP, best.source, who);
            best.weight = __shfl_sync(HW_WARP, best.weight, who);
        }
        if (!__all_sync(HW_WARP, good))
            break;
    }
    return best;
}

/* The list of one vertex a lane, each of which is beyond the bucket. */
template <typename Offset, int kind>
__device__ pulled_t<kind> pull_lists(const kernel_params &plan, pass_t<kind> &pass,
                                     const bounds<kind> &bound, uint32_t v, pulled_t<kind> best)
{
    const hw_gpu_edge *list = plan.paths.in;
    const key_of<kind> *distance = distances<kind>(plan);
    uint32_t length = 0, at = 0;
    bool more = false;

    if (v != HW_INVALID_VERTEX) {
        const Offset begin = hw_begin<Offset>(plan.graph.in, v);
        length = static_cast<uint32_t>(hw_begin<Offset>(plan.graph.in, v + 1) - begin);
        list += begin;
        more = length > 0;
        for (; more && at < length && at < lane_pulls; at += 4) {
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
                    pass.pulled++;
                    take<kind>(distance, bound, edge[k], best);
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
        pulled_t<kind> begun = {
            __shfl_sync(HW_WARP, best.key, lane), __shfl_sync(HW_WARP, best.from, lane),
            __shfl_sync(HW_WARP, best.source, lane), __shfl_sync(HW_WARP, best.weight, lane)};
        begun = pull_rest<kind>(plan, pass, bound, edges, __shfl_sync(HW_WARP, at, lane),
                                __shfl_sync(HW_WARP, length, lane), begun);
        if ((threadIdx.x & 31) == static_cast<uint32_t>(lane))
            best = begun;
    }
    return best;
}

/* What a pass over all vertices sees of some words of 32, one of each a lane. */
constexpr uint32_t seen_words = 3;

template <int kind> struct seen_t {
    uint32_t first;               /* the first of the words' vertices, plus the lane */
    key_of<kind> key[seen_words]; /* `past` of those past the last one */
};

template <int kind>
__device__ __forceinline__ seen_t<kind> see(const kernel_params &plan, uint64_t group,
                                            key_of<kind> past)
{
    seen_t<kind> seen;

    seen.first = static_cast<uint32_t>(group * seen_words * 32) + (threadIdx.x & 31);
#pragma unroll
    for (uint32_t k = 0; k < seen_words; k++)
        seen.key[k] = seen.first + 32 * k < plan.graph.core
                          ? __ldcg(distances<kind>(plan) + seen.first + 32 * k)
                          : past;
    return seen;
}

/* How many such groups there are. */
__device__ __forceinline__ uint64_t groups_of(const kernel_params &plan)
{
    return (static_cast<uint64_t>(plan.graph.core) + 32 * seen_words - 1) / (32 * seen_words);
}

/* Counts a vertex beyond the pass's bucket. */
template <int kind>
__device__ __forceinline__ void count_beyond(pass_t<kind> &pass, key_of<kind> key)
{
    pass.open += key != hw_keys<kind>::none;
    pass.unreached += key == hw_keys<kind>::none;
    pass.least = min(pass.least, key);
}

/* One vertex a lane beyond the bucket `from` looks for the best neighbour inside it, and pushes
 * its edges at once if it is in the pass's bucket now. */
template <typename Offset, int kind>
__device__ __forceinline__ void pull_warp(const kernel_params &plan, block_shared &room,
                                          pass_t<kind> &pass, const bounds<kind> &from, uint32_t v)
{
    key_of<kind> *distance = distances<kind>(plan);
    key_of<kind> key = v != HW_INVALID_VERTEX ? __ldcg(distance + v) : 0;
    const pulled_t<kind> best =
        pull_lists<Offset, kind>(plan, pass, from, v, pulled_t<kind>{key, 0, HW_INVALID_VERTEX, 0});

    if (v != HW_INVALID_VERTEX && best.source != HW_INVALID_VERTEX) {
        key = lower(distance + v, best.key); /* others push to it meanwhile */
        if (best.key < key) {
            put_hint<kind>(plan, v, best.source, best.from, best.weight, best.key);
            key = best.key;
        }
    }
    const bool inside = v != HW_INVALID_VERTEX && key < pass.bound.high;
    if (v != HW_INVALID_VERTEX && !inside)
        count_beyond(pass, key);
    if (__any_sync(HW_WARP, inside))
        push_lists<Offset, kind>(plan, room, pass, inside ? v : HW_INVALID_VERTEX, true);
}

/* May the first edge of a list lead from `key` to below `to`? */
template <int kind>
__device__ __forceinline__ bool leads(const hw_gpu_edge &first, key_of<kind> key, key_of<kind> to)
{
    return first.rank != HW_INVALID_VERTEX && hw_further<kind>(key, first.weight) < to;
}

/* Whether a vertex of this key beyond the bucket `from` has anything to pull or to push; counts
 * those that have not. */
template <int kind>
__device__ __forceinline__ bool busy(const kernel_params &plan, pass_t<kind> &pass,
                                     const bounds<kind> &from, uint32_t v, key_of<kind> key,
                                     const hw_gpu_edge &first)
{
    const bool inside = key < pass.bound.high;

    if (leads<kind>(first, from.low, key))
        return true;
    if (!inside) {
        count_beyond(pass, key);
        return false;
    }
    if (leads<kind>(plan.graph.directed ? hw_read_edge(plan.first_out + v) : first, key, pass.to))
        return true;
    pass.degrees += plan.mean_degree;
    return false;
}

/* Puts those of some words that have anything to do into `waits`, after so many. */
template <int kind>
__device__ __forceinline__ uint32_t find_busy(const kernel_params &plan, pass_t<kind> &pass,
                                              const bounds<kind> &from, uint64_t group,
                                              uint32_t *waits, uint32_t waiting)
{
    const seen_t<kind> seen = see<kind>(plan, group, 0);
    const uint32_t below = (1u << (threadIdx.x & 31)) - 1;
    hw_gpu_edge first[seen_words];

#pragma unroll
    for (uint32_t k = 0; k < seen_words; k++)
        first[k] = seen.key[k] >= from.high ? hw_read_edge(plan.first_in + seen.first + 32 * k)
                                            : hw_gpu_edge{HW_INVALID_VERTEX, 0};
#pragma unroll
    for (uint32_t k = 0; k < seen_words; k++) {
        const uint32_t v = seen.first + 32 * k;
        const bool wanted =
            seen.key[k] >= from.high && busy<kind>(plan, pass, from, v, seen.key[k], first[k]);
        const uint32_t all = __ballot_sync(HW_WARP, wanted);
        if (wanted)
            waits[waiting + __popc(all & below)] = v;
        waiting += __popc(all);
    }
    __syncwarp();
    return waiting;
}

/* Whatever is beyond the bucket `from` pulls, and pushes if it is in the pass's bucket then.
 * Those with anything to do wait until they fill a warp, where no others of this pass are. */
template <typename Offset, int kind>
__device__ void pull(const kernel_params &plan, block_shared &room, pass_t<kind> &pass,
                     const bounds<kind> &from)
{
    static_assert(31 + 32 * seen_words <= buffered, "waiting vertices have room");
    uint32_t *waits = room.find[later_queue][threadIdx.x / 32];
    const uint32_t lane = threadIdx.x & 31;
    uint32_t waiting = 0;

    for (uint64_t g = hw_grid_thread() / 32;; g += hw_grid_threads() / 32) {
        const bool more = g < groups_of(plan);
        if (more)
            waiting = find_busy<kind>(plan, pass, from, g, waits, waiting);
        while (waiting >= (more ? 32 : 1)) {
            const uint32_t count = min(waiting, 32u);
            waiting -= count;
            const uint32_t v = lane < count ? waits[waiting + lane] : HW_INVALID_VERTEX;
            __syncwarp();
            pull_warp<Offset, kind>(plan, room, pass, from, v);
        }
        if (!more)
            break;
    }
    push_beside<kind>(plan, room, pass);
}

} // namespace

#endif
