/*
 * `bellman-ford` and `near-far`: one phase, which relaxes the edges of the frontier, and the
 * reduction of its counters.
 */
#ifndef HOPWAVE_GPU_SSSP_BELLMAN_RELAX_PHASE_CUH
#define HOPWAVE_GPU_SSSP_BELLMAN_RELAX_PHASE_CUH

#include "gpu/device/warp.cuh"
#include "gpu/sssp/bellman/frontier_tiles.cuh"
#include "gpu/sssp/bellman/long_list_chunks.cuh"

namespace bellman_ford
{

/* Clears the counters of the block. One thread calls it; then the block synchronizes. */
inline __device__ void clear_block_counters(block_shared &shared)
{
    shared.edges = shared.improved = shared.improved_long = 0;
    shared.far_complement = 0;
    shared.frontier = shared.pending_tiers = 0;
}

/* Reduces the least far key over the warp into the counters of the block. */
template <class L> __device__ inline void reduce_far(L &lane, block_shared &shared)
{
    const typename L::key nearest = hw_warp_min(lane.min_far_key);

    if (lane.index == 0 && nearest != L::none)
        atomicMax(&shared.far_complement, static_cast<unsigned long long>(INT64_MAX - nearest));
}

/* Adds the counters of all lanes to those of the phase. All threads of the block call it. One loop
 * reduces all counters, so that their shuffles overlap. */
template <class L> __device__ inline void add_counters(L &lane, block_shared &shared)
{
    unsigned long long sums[4] = {lane.edges, lane.improved, lane.improved_long, lane.frontier};
    uint32_t bits = lane.pending_tiers;

    for (int half = 16; half > 0; half /= 2) {
        for (int s = 0; s < 4; s++)
            sums[s] += __shfl_xor_sync(HW_WARP, sums[s], half);
        bits |= __shfl_xor_sync(HW_WARP, bits, half);
    }
    if (lane.index == 0 && (sums[0] > 0 || sums[3] > 0 || bits)) {
        atomicAdd(&shared.edges, sums[0]);
        atomicAdd(&shared.improved, sums[1]);
        atomicAdd(&shared.improved_long, sums[2]);
        atomicAdd(&shared.frontier, static_cast<uint32_t>(sums[3]));
        atomicOr(&shared.pending_tiers, bits);
    }
    if (lane.params.config.has_far_pile)
        reduce_far(lane, shared);
    if constexpr (L::counts_direct)
        if (__any_sync(HW_WARP, lane.direct > 0)) {
            const uint32_t direct = hw_warp_sum(lane.direct);
            if (lane.index == 0)
                atomicAdd(&lane.params.control->direct, static_cast<unsigned long long>(direct));
        }
    __syncthreads();
    if (threadIdx.x == 0 && (shared.edges > 0 || shared.frontier > 0 || shared.pending_tiers)) {
        atomicAdd(&lane.counters->edges, shared.edges);
        atomicAdd(&lane.counters->improved, shared.improved);
        atomicAdd(&lane.counters->improved_long, shared.improved_long);
        atomicAdd(&lane.counters->frontier, shared.frontier);
        atomicOr(&lane.counters->pending_tiers, shared.pending_tiers);
    }
    if (threadIdx.x == 0 && shared.far_complement > 0)
        atomicMax(&lane.counters->far_complement, shared.far_complement);
}

/* One phase. All threads of the grid call it. */
template <class L> __device__ inline void relax_phase(L &lane, block_shared &shared)
{
    if (threadIdx.x == 0)
        clear_block_counters(shared);
    __syncthreads();
    /* Phase 1 relaxes the root alone: vertices that it reaches are relaxed in a later phase. With
     * chunks pending that does not hold. */
    lane.root_only = lane.phase == 1 && lane.enqueues && lane.state.pending_tiers == 0;
    if (lane.state.pending_tiers >> lane.state.tier & 1 ||
        (lane.params.lists.num_chunks > 0 && lane.source == HW_FROM_ALL))
        relax_chunks(lane);
    if (lane.state.tier == lane.params.lists.num_tiers && lane.state.has_tiles)
        relax_tiles(lane);
    flush_staged(lane, &lane.counters->queue_tail);
    add_counters(lane, shared);
}

} // namespace bellman_ford

#endif
