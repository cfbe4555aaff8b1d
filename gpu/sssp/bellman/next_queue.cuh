/*
 * `bellman-ford` and `near-far`: writing improved vertices to the next phase's queue, coalesced by
 * staging them in shared memory (section 5.1, figure 5 of Busato and Bombieri, 2015).
 */
#ifndef HOPWAVE_GPU_SSSP_BELLMAN_NEXT_QUEUE_CUH
#define HOPWAVE_GPU_SSSP_BELLMAN_NEXT_QUEUE_CUH

#include "gpu/sssp/bellman/lane_state.cuh"

namespace bellman_ford
{

/* Writes the staged vertices to the next queue at *tail. The whole warp calls it. */
template <class L> __device__ inline void flush_staged(L &lane, uint32_t *tail)
{
    uint32_t start = 0;

    if (lane.num_staged == 0)
        return;
    if (lane.index == 0)
        start = atomicAdd(tail, lane.num_staged);
    start = __shfl_sync(HW_WARP, start, 0);
    for (uint32_t k = lane.index; k < lane.num_staged; k += 32)
        if (start + k < lane.params.state.queue_capacity && start + k >= start)
            lane.next_queue[start + k] = lane.staged[k];
    lane.num_staged = 0;
    __syncwarp();
}

/* Queues the vertices of the lanes that want it (section 5.1, figure 5: vertices are staged in
 * shared memory, so that stores are coalesced). The whole warp calls it. */
template <class L>
__device__ __forceinline__ void enqueue(L &lane, bool wanted, uint32_t v, uint32_t *tail)
{
    const uint32_t all = __ballot_sync(HW_WARP, wanted);

    if (all == 0)
        return;
    if (!lane.params.config.coalesced_enqueue) {
        if (wanted) {
            const uint32_t at = atomicAdd(tail, 1u);
            if (at < lane.params.state.queue_capacity)
                lane.next_queue[at] = v;
        }
        return;
    }
    if (wanted)
        lane.staged[lane.num_staged + __popc(all & ((1u << lane.index) - 1))] = v;
    lane.num_staged += __popc(all);
    __syncwarp();
    if (lane.num_staged > staged_capacity - 32)
        flush_staged(lane, tail);
}

} // namespace bellman_ford

#endif
