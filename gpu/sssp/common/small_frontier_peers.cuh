/*
 * The kernels for small frontiers on several GPUs of one node
 * (gpu/sssp/common/small_frontier_rounds.cuh): roads and grids, whose searches are thousands of
 * rounds of few vertices.
 *
 * A round takes as long as its longest wait. If every GPU relaxed the edges of its own vertices, a
 * path that changes from GPU to GPU would wait for an update to be stored, noticed and applied, and
 * for an agreement, at every change. Here the owner of the root relaxes all edges: it lowers
 * distances where they are, by atomic operations over NVLink, and reads the records of vertices
 * from their owners' memory at the same time. So a round waits once, for the way there and back.
 * Its queues are its own; the distances, the lists and the parents are distributed as ever.
 *
 * The other GPUs initialize their vertices, say so, and wait until the search has ended. Their wait
 * is bounded: the GPU that searches signals every iteration it begins.
 *
 * Memory order. A GPU is ready once all its blocks have passed a grid barrier; its first thread
 * then executes a system-scope fence before it signals. The first warp of the GPU that searches
 * executes one when all are ready, before the next grid barrier. The end is signaled likewise, in
 * the other direction (gpu/comm/peer_barrier.cuh).
 */
#ifndef HOPWAVE_GPU_SSSP_COMMON_SMALL_FRONTIER_PEERS_CUH
#define HOPWAVE_GPU_SSSP_COMMON_SMALL_FRONTIER_PEERS_CUH

#include "gpu/comm/peer_barrier.cuh"
#include "gpu/sssp/common/small_frontier_peers.h"
#include "gpu/sssp/common/small_frontier_phases.cuh"

namespace hw_delta::small_frontier
{
namespace
{

/*
 * What the backends of several GPUs have in common: records in the memory of their owners. The
 * parameters of such a backend have `peers`. Backend: the class that is derived from this one,
 * which provides, in addition to gpu/sssp/common/small_frontier_device.cuh:
 *
 *   owner_of()        the rank that owns a vertex
 *   place_of()        its place among the vertices of that rank
 *   num_ids()         of all vertices together: queues and marks have a place for each
 *   init_distances()  of this GPU, where the root has 0. All threads of the grid
 */
template <class Backend> struct memory_of_peers {
    static constexpr bool several = true;
    /* Each iteration is signaled to the GPUs that wait. */
    static constexpr uint32_t max_rounds = 256;
    using params = const kernel_params<Backend> &;

    static __device__ __forceinline__ const hw_gpu_edge *record_at(params p, uint32_t owner,
                                                                   uint32_t index)
    {
        return p.peers.record_of[owner] + static_cast<uint64_t>(index) * record_edges;
    }

    static __device__ __forceinline__ const hw_gpu_edge *record(params p, uint32_t v)
    {
        const uint32_t owner = Backend::owner_of(p, v);

        return record_at(p, owner, Backend::place_of(p, v, owner));
    }

    static __device__ __forceinline__ const hw_gpu_edge *next_record(params p, uint32_t source,
                                                                     const hw_gpu_edge &edge)
    {
        const bool continues = edge.neighbor == continuation;
        const uint32_t owner = Backend::owner_of(p, continues ? source : edge.neighbor);

        return record_at(p, owner,
                         continues ? edge.weight : Backend::place_of(p, edge.neighbor, owner));
    }

    /* Signals to the GPUs that wait that the search goes on. One thread. */
    static __device__ __forceinline__ void signal_progress(params p, uint32_t iterations)
    {
        for (uint32_t q = 0; q < p.peers.ranks; q++)
            if (q != p.peers.rank)
                signal_word(&p.peers.signals[q]->progress,
                            static_cast<uint64_t>(p.peers.run) << 32 | iterations);
    }
};

/* ---- signals ---- */

/* Makes the waits of all GPUs fail. One thread. */
__device__ void fail_all(const hw_small_frontier_peers &peers)
{
    for (uint32_t q = 0; q < peers.ranks; q++)
        *static_cast<volatile uint32_t *>(peers.failed[q]) = 1;
    hw_fence_system();
}

/* Whether a wait must end: a GPU has failed, or the time is over. */
__device__ __forceinline__ bool gives_up(const hw_small_frontier_peers &peers, wait_clock &clock)
{
    return hw_load_relaxed(peers.failed[peers.rank]) != 0 || clock.has_passed(peers.timeout_ns);
}

/* Waits until the other GPUs are ready. ready: for the other blocks. The first warp of the GPU that
 * searches. */
__device__ void wait_until_ready(const hw_small_frontier_peers &peers, uint32_t *ready)
{
    const uint32_t lane = threadIdx.x, q = min(lane, peers.ranks - 1);
    const count64 *slot = &peers.signals[peers.rank]->ready[q];
    const uint64_t run = peers.run;
    wait_clock clock;
    uint64_t word;

    const bool ok = wait_for_words(
        lane == q && q != peers.rank, [=] { return hw_load_relaxed(slot); },
        [=](uint64_t loaded) { return loaded == run; }, [&] { return gives_up(peers, clock); },
        word);
    hw_fence_system();
    if (lane != 0)
        return;
    *ready = ok;
    if (!ok)
        fail_all(peers);
}

/* Signals that this GPU is ready, and waits until the search has ended. The first warp of a GPU
 * that does not search. */
__device__ void attend(const hw_small_frontier_peers &peers, uint32_t searching)
{
    const count64 *slot = &peers.signals[peers.rank]->progress;
    const uint64_t run = peers.run;
    uint64_t last = run << 32;
    bool ok = true;

    if (threadIdx.x == 0) {
        hw_fence_system();
        signal_word(&peers.signals[searching]->ready[peers.rank], run);
    }
    while (ok && static_cast<uint32_t>(last) != HW_SMALL_FRONTIER_FINISHED) {
        wait_clock clock;
        uint64_t word;
        ok = wait_for_words(
            threadIdx.x == 0, [=] { return hw_load_relaxed(slot); },
            [=](uint64_t loaded) { return loaded >> 32 == run && loaded != last; },
            [&] { return gives_up(peers, clock); }, word);
        last = __shfl_sync(HW_WARP, word, 0);
    }
    hw_fence_system();
    if (!ok && threadIdx.x == 0)
        fail_all(peers);
}

/* ---- the search ---- */

/* Loads many lines of the other GPUs' memory, which wakes all links at once: idle ones take some
 * 140 us (doc/methods/delta-bellman-ford-several-gpus.md). */
template <class Peers> __device__ void warm_links(const kernel_params<Peers> &params)
{
    constexpr uint32_t lines = 8192,
                       apart = 17 * 128 / (record_edges * sizeof(hw_gpu_edge)); /* records */
    const hw_small_frontier_peers &peers = params.peers;

    for (uint32_t q = 0; q < peers.ranks; q++)
        for (uint64_t i = hw_grid_thread(); q != peers.rank && i < lines; i += hw_grid_threads())
            (void)hw_load_volatile(
                Peers::record_at(params, q, static_cast<uint32_t>(i * apart % peers.places)));
}

/* Settles the vertices of several edges of all GPUs. root: HW_INVALID_VERTEX for none. All threads
 * of the grid. */
template <typename Offset, int kind, class Peers>
__device__ __forceinline__ void settle_for_all(const kernel_params<Peers> &params,
                                               block_shared<kind> &shared, uint32_t root)
{
    const hw_small_frontier_peers &peers = params.peers;
    const uint32_t searching = root != HW_INVALID_VERTEX ? Peers::owner_of(params, root) : 0;
    const bool searches = searching == peers.rank;
    cg::grid_group grid = cg::this_grid();
    search_state<kind> search = first_state<kind>(params.delta);

    Peers::template init_distances<kind>(params, root);
    if (searches) {
        init_queues(params, Peers::num_ids(params));
        clear_trace(params, search);
        warm_links(params);
    }
    grid.sync();
    if (!searches) {
        if (blockIdx.x == 0 && threadIdx.x < 32)
            attend(peers, searching);
        return;
    }
    if (blockIdx.x == 0 && threadIdx.x < 32)
        wait_until_ready(peers, &params.control->ready);
    grid.sync();
    if (hw_load_relaxed(&params.control->ready) == 0)
        return;
    settle_core<Offset>(params, shared, search, grid, root,
                        root != HW_INVALID_VERTEX &&
                            Peers::list_index(params, root) < params.graph.active);
    if (hw_grid_thread() != 0) /* the last iteration ended with a grid barrier */
        return;
    if (params.trace)
        end_trace(params, search.trace_records);
    hw_fence_system();
    Peers::signal_progress(params, HW_SMALL_FRONTIER_FINISHED);
}

} // namespace
} // namespace hw_delta::small_frontier

#endif
