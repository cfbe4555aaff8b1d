/*
 * `bellman-ford` and `near-far`: relaxing edges, and how the lanes of a warp share the edges of a
 * tile of 32 vertices: balanced by a prefix sum over the list lengths, or by virtual warps of 4 to
 * 32 lanes (section 5.2 of Busato and Bombieri, 2015).
 */
#ifndef HOPWAVE_GPU_SSSP_BELLMAN_VIRTUAL_WARPS_CUH
#define HOPWAVE_GPU_SSSP_BELLMAN_VIRTUAL_WARPS_CUH

#include "gpu/sssp/bellman/distance_update.cuh"
#include "gpu/sssp/bellman/next_queue.cuh"

namespace bellman_ford
{

/* Relaxes n edges per lane: edge[j] from u[j], whose key is from[j]. live: whether the lane has
 * such an edge. The whole warp calls it. */
template <int n, class L>
__device__ __forceinline__ void relax_edges(L &lane, const hw_gpu_edge (&edge)[n],
                                            const bool (&live)[n], const uint32_t (&u)[n],
                                            const typename L::key (&from)[n])
{
    typename L::key key[n], old_key[n];

#pragma unroll
    for (int j = 0; j < n; j++) {
        const uint32_t type = edge[j].neighbor & ~lane.vertex_mask;
        const bool wanted =
            live[j] && (lane.params.search.reachability_only ||
                        type < static_cast<uint32_t>(HW_BELLMAN_LEAF) << HW_BELLMAN_CLASS_SHIFT);
        old_key[j] = L::none;
        key[j] = L::none;
        if (wanted) {
            lane.edges++;
            old_key[j] = cached_key(lane, edge[j].neighbor & lane.vertex_mask);
            key[j] = lane.params.search.reachability_only
                         ? 0
                         : hw_further<L::kind>(from[j], edge[j].weight);
        }
    }
#pragma unroll
    for (int j = 0; j < n; j++) {
        const uint32_t v = edge[j].neighbor & lane.vertex_mask;
        bool queued = false;
        if (key[j] < old_key[j]) {
            bool fresh;
            const bool alone = single_writer(lane, edge[j].neighbor);
            const typename L::key old = lower_key(lane, v, key[j], old_key[j], alone, &fresh);
            if constexpr (L::counts_direct)
                lane.direct += alone;
            if constexpr (L::repeats)
                if (alone)
                    follow_source(lane, v, u[j], edge[j].weight, from[j]);
            if (key[j] < old)
                queued =
                    record_improvement(lane, v, key[j], fresh, hw_gpu_edge{u[j], edge[j].weight});
        }
        if (lane.enqueues)
            enqueue(lane, queued, v, &lane.counters->queue_tail);
    }
}

/* Relaxes one list, or a chunk of it, by the whole warp. */
template <class L>
__device__ __forceinline__ void relax_list(L &lane, uint32_t u, typename L::key from,
                                           typename L::offset begin, typename L::offset count)
{
    const uint32_t us[4] = {u, u, u, u};
    const typename L::key keys[4] = {from, from, from, from};
    typename L::offset k = 0;

    for (; k + 128 <= count; k += 128) {
        hw_gpu_edge edge[4];
#pragma unroll
        for (int j = 0; j < 4; j++)
            edge[j] = read_edge(lane, begin + k + 32 * j + lane.index);
        relax_edges<4>(lane, edge, {true, true, true, true}, us, keys);
    }
    for (; k < count; k += 32) {
        const bool live = k + lane.index < count;
        const hw_gpu_edge edge[1] = {live ? read_edge(lane, begin + k + lane.index)
                                          : hw_gpu_edge{0, 0}};
        relax_edges<1>(lane, edge, {live}, {u}, {from});
    }
}

/* Relaxes the lists of a tile; all lanes share its edges evenly. A prefix sum of the list lengths
 * gives each lane, by shuffles, the list of its edge. */
template <class L>
__device__ __forceinline__ void relax_tile_balanced(L &lane, uint32_t u, typename L::key from,
                                                    typename L::offset begin, uint32_t length)
{
    uint32_t end = length;

    for (int step = 1; step < 32; step *= 2) {
        const uint32_t before = __shfl_up_sync(HW_WARP, end, step);
        end += lane.index >= static_cast<uint32_t>(step) ? before : 0;
    }
    const uint32_t total = __shfl_sync(HW_WARP, end, 31);
    const typename L::offset shift = begin - (end - length);
    for (uint32_t k = 0; k < total; k += 64) {
        hw_gpu_edge edge[2];
        bool live[2];
        uint32_t us[2];
        typename L::key keys[2];
#pragma unroll
        for (int j = 0; j < 2; j++) {
            const uint32_t at = k + 32 * j + lane.index;
            uint32_t owner = 0;
            for (uint32_t step = 16; step > 0; step /= 2)
                owner += __shfl_sync(HW_WARP, end, owner + step - 1) <= at ? step : 0;
            us[j] = __shfl_sync(HW_WARP, u, owner);
            keys[j] = __shfl_sync(HW_WARP, from, owner);
            const typename L::offset place = __shfl_sync(HW_WARP, shift, owner) + at;
            live[j] = at < total;
            edge[j] = live[j] ? read_edge(lane, place) : hw_gpu_edge{0, 0};
        }
        relax_edges<2>(lane, edge, live, us, keys);
    }
}

/* Relaxes the lists of a tile by virtual warps of `width` lanes, each of which takes vertices of
 * the tile in turn (section 5.2). */
template <class L>
__device__ __forceinline__ void
relax_tile_by_virtual_warps(L &lane, uint32_t width, uint32_t u, typename L::key from,
                            typename L::offset begin, typename L::offset length)
{
    const uint32_t groups = 32 / width, sub = lane.index % width;
    uint32_t i = lane.index / width;
    typename L::offset k = 0;

    while (__any_sync(HW_WARP, i < 32)) {
        const uint32_t owner = i < 32 ? i : 31;
        const uint32_t mine = __shfl_sync(HW_WARP, u, owner);
        const typename L::key key = __shfl_sync(HW_WARP, from, owner);
        const typename L::offset place = __shfl_sync(HW_WARP, begin, owner) + k + sub;
        const typename L::offset count = __shfl_sync(HW_WARP, length, owner);
        const bool live = i < 32 && k + sub < count;
        const hw_gpu_edge edge[1] = {live ? read_edge(lane, place) : hw_gpu_edge{0, 0}};
        relax_edges<1>(lane, edge, {live}, {mine}, {key});
        k += width;
        if (k >= count) {
            i += groups;
            k = 0;
        }
    }
}

} // namespace bellman_ford

#endif
