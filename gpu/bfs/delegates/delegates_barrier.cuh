/*
 * Method `delegates`: barriers between GPUs that map each other's memory. One barrier for each
 * stream of a step, and one between the two visits of delegates.
 *
 * Arrival: at the end of its visits each GPU stores a word into a slot of every other GPU: a tag
 * (the step's epoch), whether it discovered anything, and a count: of its new delegates, or of the
 * updates that it has written into that GPU's inbox. Slots alternate by parity of the epoch.
 *
 * Memory order: a system-scope fence before the store orders all that the stream did before it; a
 * system-scope fence after the load keeps later reads behind it.
 */
#ifndef HOPWAVE_GPU_BFS_DELEGATES_DELEGATES_BARRIER_CUH
#define HOPWAVE_GPU_BFS_DELEGATES_DELEGATES_BARRIER_CUH

#include "gpu/bfs/delegates/delegates_device.cuh"

namespace hw_delegates
{
namespace
{

/* Whether this GPU's visits found slots, its own or others'. A whole warp. */
__device__ __forceinline__ bool has_found_slots(const kernel_params &params)
{
    const control_t &c = *params.control;
    const uint32_t q = threadIdx.x & 31;
    const bool sent =
        q < params.graph.parts && hw_load_relaxed(&c.found.sent[q]) != c.found.sent_before[q];

    return __any_sync(HW_WARP, sent) || hw_load_relaxed(&c.found.slots) != 0;
}

/* Leaves a word for every other GPU: these visits of this one are done. A warp. */
__device__ __forceinline__ void signal_peers(const kernel_params &params,
                                             hw_gpu_delegates_signal which)
{
    const bool delegates = which != HW_GPU_DELEGATES_SIGNAL_UPDATES;
    control_t &c = *params.control;
    const uint32_t q = threadIdx.x & 31, me = params.graph.part, epoch = c.epoch;
    const uint32_t discovered = hw_load_relaxed(&c.found.delegates);
    const bool found = delegates ? discovered > 0 : has_found_slots(params);
    const bool there = q < params.graph.parts && q != me;
    const count64 count = delegates ? discovered : there ? hw_load_relaxed(&c.found.sent[q]) : 0;

    if (q == 0 && which != HW_GPU_DELEGATES_SIGNAL_EARLY)
        c.clock.visits_end[delegates ? 0 : 1] = hw_nanoseconds();
    __threadfence_system();
    if (there)
        *static_cast<volatile count64 *>(&params.peers.signals[q]->word[which][epoch & 1][me]) =
            static_cast<count64>(epoch & 0xffff) << 48 | static_cast<count64>(found) << 40 | count;
}

/* Waits for another GPU's word with this tag. */
__device__ bool wait_for_tag(const volatile count64 *slot, uint32_t tag, uint64_t patience,
                             count64 *word)
{
    const count64 since = hw_nanoseconds();

    for (uint32_t look = 1;; look++) {
        *word = *slot;
        if (*word >> 48 == tag)
            return true;
        if (look % 1024 == 0 && hw_nanoseconds() - since > patience)
            return false;
    }
}

/* Waits for GPU q's word, if there is such another one. Returns whether it came. */
__device__ bool wait_peer(const kernel_params &params, hw_gpu_delegates_signal which, uint32_t q,
                          count64 *word)
{
    const uint32_t epoch = params.control->epoch, me = params.graph.part;

    *word = 0;
    if (q >= params.graph.parts || q == me)
        return true;
    const bool received = wait_for_tag(&params.peers.signals[me]->word[which][epoch & 1][q],
                                       epoch & 0xffff, params.config.timeout_ns, word);
    __threadfence_system();
    return received;
}

__device__ __forceinline__ bool has_found(count64 word)
{
    return word >> 40 & 1;
}

/* The streams of delegates meet, whose visits have told. keep: whether this block keeps what was
 * heard. Returns the most that any part found. The first warp of a block. */
__device__ uint32_t barrier_delegates(const kernel_params &params, bool keep)
{
    control_t *const c = params.control;
    count64 word;
    const bool received = wait_peer(params, HW_GPU_DELEGATES_SIGNAL_MASK, threadIdx.x, &word);
    uint32_t some = max(static_cast<uint32_t>(word), hw_load_relaxed(&c->found.delegates));

    for (int half = 16; half > 0; half /= 2)
        some = max(some, __shfl_xor_sync(HW_WARP, some, half));
    const bool all = __all_sync(HW_WARP, received);
    if (keep && threadIdx.x == 0) {
        c->found.max_delegates = some;
        c->clock.barrier_end[0] = hw_nanoseconds();
        if (!all)
            c->failed = HW_GPU_DELEGATES_TIMEOUT;
    }
    return some;
}

/* The same for all threads of a block; the first block keeps what was heard. */
__device__ uint32_t block_barrier_delegates(const kernel_params &params)
{
    __shared__ uint32_t any;

    if (threadIdx.x < 32) {
        const uint32_t some = barrier_delegates(params, blockIdx.x == 0);
        if (threadIdx.x == 0)
            any = some;
    }
    __syncthreads();
    return any;
}

/* The streams of slots meet, whose visits have told. keep: whether this block keeps what was
 * heard. came: [32] what has come from each part. The first warp of a block. */
__device__ void barrier_slots(const kernel_params &params, bool keep, uint32_t *received)
{
    control_t *const c = params.control;
    const uint32_t q = threadIdx.x;
    const bool here = q < params.graph.parts && q != params.graph.part;
    count64 word;

    const bool fine = wait_peer(params, HW_GPU_DELEGATES_SIGNAL_UPDATES, q, &word);
    const uint32_t count = here && fine ? static_cast<uint32_t>(word) : 0;
    const bool any = __any_sync(HW_WARP, has_found(word)) || has_found_slots(params);
    const bool all = __all_sync(HW_WARP, fine);
    received[q] = count;
    if (!keep)
        return;
    if (here && fine)
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
