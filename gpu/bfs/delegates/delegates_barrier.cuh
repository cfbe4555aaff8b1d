/*
 * Method `delegates`: barriers between GPUs that map each other's memory. One barrier for each
 * stream of a step, and one between the two visits of delegates.
 *
 * Arrival: at the end of its visits each GPU stores a word into a slot of every other GPU: a tag
 * (the step's epoch), whether it discovered anything, and a count: of its new delegates, or of the
 * updates that it has written into that GPU's inbox. Slots alternate by parity of the epoch.
 *
 * Memory order: as in gpu/comm/peer_barrier.cuh, by system-scope fences.
 */
#ifndef HOPWAVE_GPU_BFS_DELEGATES_DELEGATES_BARRIER_CUH
#define HOPWAVE_GPU_BFS_DELEGATES_DELEGATES_BARRIER_CUH

#include "gpu/bfs/delegates/delegates_device.cuh"
#include "gpu/comm/peer_barrier.cuh"
#include "gpu/device/warp.cuh"

namespace hw_delegates
{
namespace
{

/* Whether this GPU's visits discovered slots, its own or others'. Warp-collective. */
__device__ __forceinline__ bool has_found_slots(const kernel_params &params)
{
    const control_t &c = *params.control;
    const uint32_t q = threadIdx.x & 31;
    const bool sent =
        q < params.graph.parts && hw_load_relaxed(&c.found.sent[q]) != c.found.sent_before[q];

    return __any_sync(HW_WARP, sent) || hw_load_relaxed(&c.found.slots) != 0;
}

/* Signals every other GPU that these visits of this GPU are done. Warp-collective. */
__device__ __forceinline__ void signal_peers(const kernel_params &params,
                                             hw_gpu_delegates_signal which)
{
    const bool delegates = which != HW_GPU_DELEGATES_SIGNAL_UPDATES;
    control_t &c = *params.control;
    const uint32_t q = threadIdx.x & 31, me = params.graph.part, epoch = c.epoch;
    const uint32_t discovered = hw_load_relaxed(&c.found.delegates);
    const bool found = delegates ? discovered > 0 : has_found_slots(params);
    const bool is_peer = q < params.graph.parts && q != me;
    const count64 count = delegates ? discovered : is_peer ? hw_load_relaxed(&c.found.sent[q]) : 0;

    if (q == 0 && which != HW_GPU_DELEGATES_SIGNAL_EARLY)
        c.clock.visits_end[delegates ? 0 : 1] = hw_nanoseconds();
    __threadfence_system();
    if (is_peer)
        signal_word(&params.peers.signals[q]->word[which][epoch & 1][me],
                    tagged_word(epoch, static_cast<count64>(found) << 40 | count));
}

/* Waits for the signals of all other GPUs, that of GPU q in lane q. word: this lane's, or 0.
 * Returns whether all came in time. Warp-collective. */
__device__ bool wait_peers(const kernel_params &params, hw_gpu_delegates_signal which,
                           uint64_t &word)
{
    const uint32_t epoch = params.control->epoch, me = params.graph.part, q = threadIdx.x & 31;
    const count64 *slot =
        &params.peers.signals[me]->word[which][epoch & 1][q < params.graph.parts ? q : me];
    wait_clock clock;

    const bool received = wait_for_words(
        q < params.graph.parts && q != me, [=] { return hw_load_relaxed(slot); },
        [=](uint64_t value) { return has_tag(value, epoch); },
        [&] { return clock.has_passed(params.config.timeout_ns); }, word);
    hw_fence_system();
    return received;
}

__device__ __forceinline__ bool has_found(uint64_t word)
{
    return word >> 40 & 1;
}

/* Barrier of the streams of delegates, after their visits have signaled. store: whether this block
 * stores the result. Returns the most delegates that any part discovered. The first warp of a
 * block. */
__device__ uint32_t barrier_delegates(const kernel_params &params, bool store)
{
    control_t *const c = params.control;
    uint64_t word;
    const bool all = wait_peers(params, HW_GPU_DELEGATES_SIGNAL_MASK, word);
    const uint32_t most_found =
        hw_warp_max(max(static_cast<uint32_t>(word), hw_load_relaxed(&c->found.delegates)));

    if (store && threadIdx.x == 0) {
        c->found.max_delegates = most_found;
        c->clock.barrier_end[0] = hw_nanoseconds();
        if (!all)
            c->failed = HW_GPU_DELEGATES_TIMEOUT;
    }
    return most_found;
}

/* The same for all threads of a block; the first block stores the result. */
__device__ uint32_t block_barrier_delegates(const kernel_params &params)
{
    __shared__ uint32_t any;

    if (threadIdx.x < 32) {
        const uint32_t most_found = barrier_delegates(params, blockIdx.x == 0);
        if (threadIdx.x == 0)
            any = most_found;
    }
    __syncthreads();
    return any;
}

/* Barrier of the streams of slots, after their visits have signaled. store: whether this block
 * stores the result. received: [32] updates from each part in this search. The first warp of a
 * block. */
__device__ void barrier_slots(const kernel_params &params, bool store, uint32_t *received)
{
    control_t *const c = params.control;
    const uint32_t q = threadIdx.x;
    const bool here = q < params.graph.parts && q != params.graph.part;
    uint64_t word;

    const bool all = wait_peers(params, HW_GPU_DELEGATES_SIGNAL_UPDATES, word);
    const uint32_t count = here && all ? static_cast<uint32_t>(word) : 0;
    const bool any = __any_sync(HW_WARP, has_found(word)) || has_found_slots(params);
    received[q] = count;
    if (!store)
        return;
    if (here && all)
        c->found.received[q] = count;
    if (q > 0)
        return;
    if (!all)
        c->failed = HW_GPU_DELEGATES_TIMEOUT;
    c->found.any_slot = any;
    c->clock.barrier_end[1] = hw_nanoseconds();
}

} // namespace
} // namespace hw_delegates

#endif
