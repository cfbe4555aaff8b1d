/*
 * `bellman-ford` and `near-far`: relaxing the chunks of long lists, tier by tier, before any tile.
 * A chunk is in the frontier where its vertex has a lower key than the chunk was last relaxed with.
 */
#ifndef HOPWAVE_GPU_SSSP_BELLMAN_LONG_LIST_CHUNKS_CUH
#define HOPWAVE_GPU_SSSP_BELLMAN_LONG_LIST_CHUNKS_CUH

#include "gpu/sssp/bellman/virtual_warps.cuh"

namespace bellman_ford
{

/* Chunks that a warp tests at a time in the first phase of a pile. */
template <class L>
__device__ __forceinline__ uint32_t fair_batch(const L &lane, uint32_t num_chunks)
{
    const uint32_t fair = num_chunks / (gridDim.x * block_warps);

    return fair < usual_batch            ? usual_batch
           : fair < HW_BELLMAN_MAX_BATCH ? fair
                                         : HW_BELLMAN_MAX_BATCH;
}

/* Relaxes the chunks of the phase's tier that are in the frontier. Where few are, a warp tests
 * more of them at a time. */
template <class L> __device__ inline void relax_chunks(L &lane)
{
    typename L::key *relaxed = static_cast<typename L::key *>(lane.params.lists.chunk_relaxed_key);
    const uint32_t begin =
        lane.state.tier > 0 ? lane.params.lists.chunk_end[lane.state.tier - 1] : 0;
    const uint32_t end = lane.params.lists.chunk_end[lane.state.tier];
    const bool is_sparse =
        lane.source == HW_FROM_QUEUE || lane.state.tier < lane.params.lists.num_tiers;
    const uint32_t batch = is_sparse             ? HW_BELLMAN_MAX_BATCH
                           : lane.state.enqueues ? fair_batch(lane, end - begin)
                                                 : usual_batch;
    const uint32_t num_batches = (end - begin + batch - 1) / batch;

    for (uint32_t at = warp_number(lane); at < num_batches;
         at = next_work(lane, &lane.counters->next_chunk, num_batches)) {
        const uint32_t p = begin + at * batch + lane.index;
        hw_bellman_chunk chunk = {0, 0, 0};
        typename L::key from = L::none;
        bool wanted = false;
        if (lane.index < batch && p < end) {
            chunk = lane.params.lists.chunk[p];
            from = current_key(lane, chunk.vertex);
            wanted = lane.source == HW_FROM_ALL ? from != L::none : from < relaxed[p];
            wanted = wanted && !below_floor(lane, from);
            if (wanted && from >= lane.limit_key) {
                wanted = false;
                lane.min_far_key = from < lane.min_far_key ? from : lane.min_far_key;
            }
            if (wanted) {
                relaxed[p] = from;
                lane.frontier += chunk.count >> 31;
                if (chunk.count >> 31)
                    relaxed_keys(lane)[chunk.vertex] = from;
            }
        }
        for (uint32_t left = __ballot_sync(HW_WARP, wanted); left; left &= left - 1) {
            const int owner = __ffs(left) - 1;
            relax_list(lane, __shfl_sync(HW_WARP, chunk.vertex, owner),
                       __shfl_sync(HW_WARP, from, owner),
                       static_cast<typename L::offset>(__shfl_sync(HW_WARP, chunk.begin, owner)),
                       __shfl_sync(HW_WARP, chunk.count, owner) & ~HW_BELLMAN_FIRST_CHUNK);
        }
    }
}

} // namespace bellman_ford

#endif
