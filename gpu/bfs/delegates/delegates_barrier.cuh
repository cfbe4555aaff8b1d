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
__device__ __forceinline__ bool found_slots(const kernel_params &plan)
{
    const control_t &c = *plan.control;
    const uint32_t q = threadIdx.x & 31;
    const bool sent = q < plan.graph.parts && hw_load_relaxed(&c.sent[q]) != c.told[q];

    return __any_sync(HW_WARP, sent) || hw_load_relaxed(&c.found_slot) != 0;
}

/* Leaves a word for every other GPU: these visits of this one are done. A warp. */
__device__ __forceinline__ void tell_others(const kernel_params &plan, hw_gpu_delegates_word which)
{
    const bool delegates = which != HW_GPU_DELEGATES_ENTRIES;
    control_t &c = *plan.control;
    const uint32_t q = threadIdx.x & 31, me = plan.graph.part, epoch = c.epoch;
    const uint32_t finds = hw_load_relaxed(&c.found_delegate);
    const bool found = delegates ? finds > 0 : found_slots(plan);
    const bool there = q < plan.graph.parts && q != me;
    const count64 count = delegates ? finds : there ? hw_load_relaxed(&c.sent[q]) : 0;

    if (q == 0 && which != HW_GPU_DELEGATES_EARLY)
        c.met[delegates ? 0 : 1] = hw_nanoseconds();
    __threadfence_system();
    if (there)
        *static_cast<volatile count64 *>(&plan.mail[q]->slot[which][epoch & 1][me]) =
            static_cast<count64>(epoch & 0xffff) << 48 | static_cast<count64>(found) << 40 | count;
}

/* Waits for another GPU's word with this tag. */
__device__ bool wait_for(const volatile count64 *slot, uint32_t tag, uint64_t patience,
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
__device__ bool hear(const kernel_params &plan, hw_gpu_delegates_word which, uint32_t q,
                     count64 *word)
{
    const uint32_t epoch = plan.control->epoch, me = plan.graph.part;

    *word = 0;
    if (q >= plan.graph.parts || q == me)
        return true;
    const bool came =
        wait_for(&plan.mail[me]->slot[which][epoch & 1][q], epoch & 0xffff, plan.patience, word);
    __threadfence_system();
    return came;
}

__device__ __forceinline__ bool is_found(count64 word)
{
    return word >> 40 & 1;
}

/* The streams of delegates meet, whose visits have told. keep: whether this block keeps what was
 * heard. Returns the most that any part found. The first warp of a block. */
__device__ uint32_t meet_delegates(const kernel_params &plan, bool keep)
{
    control_t *const c = plan.control;
    count64 word;
    const bool came = hear(plan, HW_GPU_DELEGATES_MASK, threadIdx.x, &word);
    uint32_t some = max(static_cast<uint32_t>(word), hw_load_relaxed(&c->found_delegate));

    for (int half = 16; half > 0; half /= 2)
        some = max(some, __shfl_xor_sync(HW_WARP, some, half));
    const bool all = __all_sync(HW_WARP, came);
    if (keep && threadIdx.x == 0) {
        c->any_delegate = some;
        c->passed[0] = hw_nanoseconds();
        if (!all)
            c->failed = HW_GPU_DELEGATES_SILENT;
    }
    return some;
}

/* The same for all threads of a block; the first block keeps what was heard. */
__device__ uint32_t hear_delegates(const kernel_params &plan)
{
    __shared__ uint32_t any;

    if (threadIdx.x < 32) {
        const uint32_t some = meet_delegates(plan, blockIdx.x == 0);
        if (threadIdx.x == 0)
            any = some;
    }
    __syncthreads();
    return any;
}

/* The streams of slots meet, whose visits have told. keep: whether this block keeps what was
 * heard. came: [32] what has come from each part. The first warp of a block. */
__device__ void meet_slots(const kernel_params &plan, bool keep, uint32_t *came)
{
    control_t *const c = plan.control;
    const uint32_t q = threadIdx.x;
    const bool here = q < plan.graph.parts && q != plan.graph.part;
    count64 word;

    const bool fine = hear(plan, HW_GPU_DELEGATES_ENTRIES, q, &word);
    const uint32_t count = here && fine ? static_cast<uint32_t>(word) : 0;
    const bool any = __any_sync(HW_WARP, is_found(word)) || found_slots(plan);
    const bool all = __all_sync(HW_WARP, fine);
    came[q] = count;
    if (!keep)
        return;
    if (here && fine)
        c->came[q] = count;
    if (q > 0)
        return;
    if (!all)
        c->failed = HW_GPU_DELEGATES_SILENT;
    c->any_slot = any;
    c->passed[1] = hw_nanoseconds();
}

} // namespace
} // namespace hw_delegates

#endif
