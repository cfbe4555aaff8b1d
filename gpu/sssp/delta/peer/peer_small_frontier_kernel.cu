/*
 * Delta-stepping on several GPUs of one node where all lists are short: roads and grids, whose
 * searches are thousands of rounds of few vertices (gpu/sssp/delta/small_frontier_delta_kernel.cu).
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
#include "gpu/device/launch.h"
#include "gpu/sssp/delta/peer/small_frontier_peers.cuh"
#include "gpu/sssp/common/small_frontier_phases.cuh"
#include "gpu/sssp/common/small_frontier_records.cuh"

#include <cuda_runtime.h>

namespace hw_delta::small_frontier
{
namespace
{

using peer_params = kernel_params<peer_gpus>;

/* The rank that searches. */
__device__ __forceinline__ uint32_t searching_rank(const peer_params &params, uint32_t root)
{
    return root != HW_INVALID_VERTEX ? peer_gpus::owner_of(params, root) : 0;
}

/* ---- signals ---- */

/* Makes the waits of all GPUs fail. One thread. */
__device__ void fail_all(const peer_params &params)
{
    for (uint32_t q = 0; q < params.peers.partition.ranks; q++)
        *static_cast<volatile uint32_t *>(params.peers.failed[q]) = 1;
    hw_fence_system();
}

/* Whether a wait must end: a GPU has failed, or the time is over. */
__device__ __forceinline__ bool gives_up(const peer_params &params, wait_clock &clock)
{
    return hw_load_relaxed(params.peers.failed[params.peers.partition.rank]) != 0 ||
           clock.has_passed(params.peers.timeout_ns);
}

/* Waits until the other GPUs are ready. The first warp of the GPU that searches. */
__device__ void wait_until_ready(const peer_params &params)
{
    const hw_delta_partition &partition = params.peers.partition;
    const uint32_t lane = threadIdx.x, q = min(lane, partition.ranks - 1);
    const count64 *slot = &params.peers.signals[partition.rank]->ready[q];
    const uint64_t run = params.peers.run;
    wait_clock clock;
    uint64_t word;

    const bool ok = wait_for_words(
        lane == q && q != partition.rank, [=] { return hw_load_relaxed(slot); },
        [=](uint64_t loaded) { return loaded == run; }, [&] { return gives_up(params, clock); },
        word);
    hw_fence_system();
    if (lane != 0)
        return;
    params.control->ready = ok;
    if (!ok)
        fail_all(params);
}

/* Signals that this GPU is ready, and waits until the search has ended. The first warp of a GPU
 * that does not search. */
__device__ void attend(const peer_params &params, uint32_t searching)
{
    const hw_delta_partition &partition = params.peers.partition;
    const count64 *slot = &params.peers.signals[partition.rank]->progress;
    const uint64_t run = params.peers.run;
    uint64_t last = run << 32;
    bool ok = true;

    if (threadIdx.x == 0) {
        hw_fence_system();
        signal_word(&params.peers.signals[searching]->ready[partition.rank], run);
    }
    while (ok && static_cast<uint32_t>(last) != HW_SMALL_FRONTIER_FINISHED) {
        wait_clock clock;
        uint64_t word;
        ok = wait_for_words(
            threadIdx.x == 0, [=] { return hw_load_relaxed(slot); },
            [=](uint64_t loaded) { return loaded >> 32 == run && loaded != last; },
            [&] { return gives_up(params, clock); }, word);
        last = __shfl_sync(HW_WARP, word, 0);
    }
    hw_fence_system();
    if (!ok && threadIdx.x == 0)
        fail_all(params);
}

/* ---- initialization ---- */

/* Initializes the keys of all ranks' vertices as this GPU has them: of the others, as unknown.
 * Vertices of one edge get a key that pulls treat as unreached. */
template <int kind> __device__ void init_peer_distances(const peer_params &params, uint32_t root)
{
    const hw_small_frontier_peers &peers = params.peers;

    for (uint32_t q = 0; q < peers.partition.ranks; q++) {
        const uint32_t first = q * peers.partition.block_size;
        for (uint64_t i = hw_grid_thread(); i < peers.active_of[q]; i += hw_grid_threads()) {
            const uint32_t v = first + static_cast<uint32_t>(i);
            distances<kind>(params)[v] = v == root              ? 0
                                         : i < peers.core_of[q] ? hw_keys<kind>::none
                                                                : -1;
        }
    }
}

/* Loads many lines of the other GPUs' memory, which wakes all links at once: idle ones take some
 * 140 us (doc/methods/delta-bellman-ford-several-gpus.md). */
template <int kind> __device__ void warm_links(const peer_params &params)
{
    constexpr uint32_t lines = 8192, apart = 17 * 128 / sizeof(key_of<kind>);
    const hw_delta_partition &partition = params.peers.partition;

    for (uint32_t q = 0; q < partition.ranks; q++)
        for (uint64_t i = hw_grid_thread(); q != partition.rank && i < lines;
             i += hw_grid_threads())
            (void)hw_load_relaxed(static_cast<const key_of<kind> *>(params.peers.distance_of[q]) +
                                  i * apart % partition.block_size);
}

/* ---- the search ---- */

template <int kind>
__global__ void __launch_bounds__(threads, 1)
    search_for_all(const __grid_constant__ peer_params params, uint32_t root)
{
    __shared__ block_shared<kind> shared;
    const uint32_t searching = searching_rank(params, root);
    const bool searches = searching == params.peers.partition.rank;
    cg::grid_group grid = cg::this_grid();
    search_state<kind> search = first_state<kind>(params.delta);

    init_peer_distances<kind>(params, root);
    if (searches) {
        init_queues(params, params.peers.partition.ranks * params.peers.partition.block_size);
        clear_trace(params, search);
        warm_links<kind>(params);
    }
    grid.sync();
    if (!searches) {
        if (blockIdx.x == 0 && threadIdx.x < 32)
            attend(params, searching);
        return;
    }
    if (blockIdx.x == 0 && threadIdx.x < 32)
        wait_until_ready(params);
    grid.sync();
    if (hw_load_relaxed(&params.control->ready) == 0)
        return;
    settle_core<uint64_t>(params, shared, search, grid, root,
                          root - params.peers.partition.owned_begin < params.graph.active);
    if (hw_grid_thread() != 0) /* the last iteration ended with a grid barrier */
        return;
    if (params.trace)
        end_trace(params, search.trace_records);
    hw_fence_system();
    peer_gpus::signal_progress(params, HW_SMALL_FRONTIER_FINISHED);
}

const void *kernel_of(int kind)
{
    if (kind == HW_GPU_KEY_F32)
        return reinterpret_cast<const void *>(search_for_all<HW_GPU_KEY_F32>);
    if (kind == HW_GPU_KEY_I32)
        return reinterpret_cast<const void *>(search_for_all<HW_GPU_KEY_I32>);
    return reinterpret_cast<const void *>(search_for_all<HW_GPU_KEY_I64>);
}

} // namespace
} // namespace hw_delta::small_frontier

using namespace hw_delta::small_frontier;

int hw_peer_small_frontier_launch_records(const hw_small_frontier_params *params,
                                          const hw_small_frontier_peers *peers)
{
    const peer_params all = {{*params}, *peers};
    const cudaError_t error = clear_records(all);

    if (error != cudaSuccess)
        return error;
    build_records<uint64_t, peer_gpus>
        <<<records_blocks(all), records_block_size>>>(all, &params->control->trace_records);
    return cudaGetLastError();
}

int hw_peer_small_frontier_shape(const hw_small_frontier_params *params, int *blocks)
{
    return hw_resident_grid(kernel_of(params->sssp.kind), HW_SMALL_FRONTIER_THREADS, 0, 1, blocks);
}

int hw_peer_small_frontier_launch(const hw_small_frontier_params *params,
                                  const hw_small_frontier_peers *peers, int blocks, uint32_t root)
{
    peer_params all = {{*params}, *peers};
    void *arguments[] = {&all, &root};
    cudaError_t error = cudaMemsetAsync(params->control, 0, sizeof *params->control, nullptr);

    if (error != cudaSuccess)
        return error;
    return cudaLaunchCooperativeKernel(kernel_of(params->sssp.kind), dim3(blocks),
                                       dim3(HW_SMALL_FRONTIER_THREADS), arguments, 0, nullptr);
}
