/*
 * `bellman-ford` and `near-far`: the frontier without chunks, in tiles of one vertex per lane.
 * Tiles come from a queue or from a sweep over all vertices.
 */
#ifndef HOPWAVE_GPU_SSSP_BELLMAN_FRONTIER_TILES_CUH
#define HOPWAVE_GPU_SSSP_BELLMAN_FRONTIER_TILES_CUH

#include "gpu/sssp/bellman/virtual_warps.cuh"

namespace bellman_ford
{

/* Relaxes the list of one vertex per lane; u: the vertex or HW_INVALID_VERTEX. */
template <class L> __device__ inline void relax_tile(L &lane, uint32_t u, uint32_t width)
{
    typename L::key from = L::none;
    typename L::offset begin = 0, length = 0;

    if (u != HW_INVALID_VERTEX) {
        from = current_key(lane, u);
        const bool wanted = lane.source == HW_FROM_ALL
                                ? from != L::none
                                : !lane.params.config.skip_stale || from < relaxed_keys(lane)[u];
        if (wanted && !below_floor(lane, from)) {
            relaxed_keys(lane)[u] = from;
            begin = hw_list_begin<typename L::offset>(lane.params.graph.out, u);
            length = hw_list_begin<typename L::offset>(lane.params.graph.out, u + 1) - begin;
        }
        if (lane.params.lists.num_chunks > 0 && length >= lane.params.lists.min_length)
            length = 0; /* its chunks are relaxed by relax_chunks() */
        else
            lane.frontier += wanted;
    }
    if constexpr (L::launch::launches)
        if (length >= lane.params.lists.min_length) {
            L::launch::template go<L::kind, L::duplicates, typename L::offset>(lane.params, u, from,
                                                                               begin, length);
            length = 0;
        }
    if (width > 0) {
        relax_tile_by_virtual_warps(lane, width, u, from, begin, length);
        return;
    }
    for (uint32_t left = __ballot_sync(HW_WARP, length >= warp_list_length); left;
         left &= left - 1) {
        const int owner = __ffs(left) - 1;
        relax_list(lane, __shfl_sync(HW_WARP, u, owner), __shfl_sync(HW_WARP, from, owner),
                   __shfl_sync(HW_WARP, begin, owner), __shfl_sync(HW_WARP, length, owner));
    }
    relax_tile_balanced(lane, u, from, begin,
                        length < warp_list_length ? static_cast<uint32_t>(length) : 0);
}

/* The first vertex of a sweep: those before it have chunks. */
template <class L> __device__ __forceinline__ uint32_t sweep_begin(const L &lane)
{
    return lane.params.lists.num_chunks > 0 && lane.params.lists.by_falling_degree
               ? lane.params.lists.end
               : 0;
}

/* Whether v is in the frontier of a sweep; notes far keys. */
template <class L> __device__ __forceinline__ bool in_sweep_frontier(L &lane, uint64_t v)
{
    if (v >= lane.params.graph.active)
        return false;
    const typename L::key key = current_key(lane, static_cast<uint32_t>(v));
    const bool waits = lane.source == HW_FROM_ALL ? key != L::none : key < relaxed_keys(lane)[v];
    if (waits && key >= lane.limit_key) {
        lane.min_far_key = key < lane.min_far_key ? key : lane.min_far_key;
        return false;
    }
    return waits;
}

/* Tests sweep_vertices vertices; those in the frontier are added to lane.swept. */
template <class L> __device__ __forceinline__ void sweep_range(L &lane, uint32_t at)
{
    const uint64_t base =
        sweep_begin(lane) + static_cast<uint64_t>(at) * sweep_vertices + lane.index;
    bool wanted[4];

#pragma unroll
    for (int j = 0; j < 4; j++)
        wanted[j] = in_sweep_frontier(lane, base + 32 * j);
#pragma unroll
    for (int j = 0; j < 4; j++) {
        const uint32_t each = __ballot_sync(HW_WARP, wanted[j]);
        if (wanted[j])
            lane.swept[lane.num_swept + __popc(each & ((1u << lane.index) - 1))] =
                static_cast<uint32_t>(base + 32 * j);
        lane.num_swept += __popc(each);
    }
    __syncwarp();
}

/* Removes at most 32 vertices from lane.swept: one for each lane, or HW_INVALID_VERTEX. */
template <class L> __device__ __forceinline__ uint32_t pop_swept(L &lane)
{
    const uint32_t count = lane.num_swept < 32 ? lane.num_swept : 32;

    lane.num_swept -= count;
    const uint32_t u =
        lane.index < count ? lane.swept[lane.num_swept + lane.index] : HW_INVALID_VERTEX;
    __syncwarp();
    return u;
}

/* Relaxes the vertices that a sweep selects, tile by tile. */
template <class L> __device__ inline void relax_sweep(L &lane, uint32_t width)
{
    const uint64_t of = lane.params.graph.active - sweep_begin(lane);
    const uint32_t all = static_cast<uint32_t>((of + sweep_vertices - 1) / sweep_vertices);
    uint32_t at = warp_number(lane);

    while (at < all || lane.num_swept > 0) {
        if (lane.num_swept < 32 && at < all) {
            sweep_range(lane, at);
            at = next_work(lane, &lane.counters->next_tile, all);
        } else {
            relax_tile(lane, pop_swept(lane), width);
        }
    }
}

/* Queued vertices that a warp takes at a time; a short queue is distributed over all warps. */
template <class L> __device__ __forceinline__ uint32_t tile_size(const L &lane)
{
    const uint32_t fair = lane.state.queue_size / (gridDim.x * block_warps) + 1;

    return fair < lane.params.config.tile_vertices ? fair : lane.params.config.tile_vertices;
}

/* The vertex of this lane in tile `at` of the queue, of `each` vertices, or HW_INVALID_VERTEX. */
template <class L>
__device__ __forceinline__ uint32_t load_queue_tile(const L &lane, uint32_t at, uint32_t each)
{
    const uint32_t *queue = lane.params.state.queue[lane.state.queue_parity & 1];
    const uint64_t i = static_cast<uint64_t>(at) * each + lane.index;

    if (lane.index >= each || i >= lane.state.queue_size)
        return HW_INVALID_VERTEX;
    return lane.params.config.cache_hints ? __ldcs(queue + i) : __ldca(queue + i);
}

/* Relaxes the vertices of the queue, tile by tile. */
template <class L> __device__ inline void relax_queue(L &lane, uint32_t width)
{
    const uint32_t each = tile_size(lane);
    const uint32_t all =
        static_cast<uint32_t>((static_cast<uint64_t>(lane.state.queue_size) + each - 1) / each);

    for (uint32_t at = warp_number(lane); at < all;) {
        const uint32_t u = load_queue_tile(lane, at, each);
        at = next_work(lane, &lane.counters->next_tile, all);
        relax_tile(lane, u, width);
    }
}

/* Relaxes the frontier without the chunks. */
template <class L> __device__ inline void relax_tiles(L &lane)
{
    const uint32_t width = lanes_per_vertex(lane.params, lane.state.queue_size);

    if (lane.source == HW_FROM_QUEUE)
        relax_queue(lane, width);
    else
        relax_sweep(lane, width);
}

/* Queues the vertices that a sweep would find. They are relaxed in the next phase. */
template <class L> __device__ inline void collect_frontier(L &lane)
{
    const uint64_t begin = sweep_begin(lane), step = hw_grid_threads();

    for (uint64_t v = begin + hw_grid_thread(); v - lane.index < lane.params.graph.active;
         v += step)
        enqueue(lane, in_sweep_frontier(lane, v) && !has_chunks(lane, static_cast<uint32_t>(v)),
                static_cast<uint32_t>(v), &lane.counters->collected);
    flush_staged(lane, &lane.counters->collected);
}

} // namespace bellman_ford

#endif
