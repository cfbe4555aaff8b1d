/*
 * A round of several GPUs over transport peer, by one block (gpu/comm/allgather.h).
 *
 * Each store of 64 bits holds half a word above the round's number, so that a
 * word and the news that it is there arrive together. Two sets of slots are
 * enough: a rank that is in round n + 2 has seen all ranks in round n + 1,
 * which their streams come to after round n.
 *
 * Memory order: what was stored before, by this block or by others it has
 * waited for, is ordered before its own stores by a system-scope fence, and
 * what follows after its loads likewise.
 */
#ifndef HOPWAVE_GPU_COMM_ALLGATHER_CUH
#define HOPWAVE_GPU_COMM_ALLGATHER_CUH

#include "gpu/comm/allgather.h"
#include "gpu/device/warp.cuh"

namespace
{

static_assert(2 * HW_ALLGATHER_WORDS == 32, "a lane for each half of a word");

/* Leaves this rank's words for rank q. A warp. */
__device__ void post(const hw_allgather_params &plan, uint32_t q, uint64_t half, uint32_t number)
{
    const uint32_t lane = threadIdx.x & 31;
    const uint32_t at = ((number & 1) * plan.ranks + plan.rank) * 32 + lane;

    *static_cast<volatile uint64_t *>(plan.slot[q] + at) = half << 32 | number;
}

/* Waits for rank q's words; false if they do not come, or somebody has given up. A warp. */
__device__ bool listen(const hw_allgather_params &plan, uint32_t q, uint32_t number, uint64_t &half)
{
    const uint32_t lane = threadIdx.x & 31;
    const uint64_t *slot = plan.slot[plan.rank] + ((number & 1) * plan.ranks + q) * 32 + lane;
    const uint64_t since = hw_nanoseconds();
    bool here = false;

    for (uint32_t turn = 1;; turn++) {
        if (!here) {
            const uint64_t value = hw_load_relaxed(slot);
            here = static_cast<uint32_t>(value) == number;
            half = value >> 32;
        }
        const bool all = __all_sync(HW_WARP, here);
        if (!all && turn % 64 != 0)
            continue;
        const bool failed = hw_load_relaxed(plan.failed[plan.rank]) != 0 ||
                            (!all && hw_nanoseconds() - since > plan.patience);
        if (__any_sync(HW_WARP, failed))
            return false;
        if (all)
            return true;
    }
}

/* A round, by a block of at least one warp for each rank; all its threads call it. Its result is
 * for this device alone. */
__device__ void hw_allgather_block(const hw_allgather_params &plan, const uint64_t *word, int count,
                                   uint32_t maxima, uint32_t number, hw_allgather_result *to,
                                   uint64_t (&heard)[HW_ALLGATHER_RANKS][HW_ALLGATHER_WORDS])
{
    const uint32_t lane = threadIdx.x & 31, q = threadIdx.x / 32, k = lane / 2;
    uint64_t half = 0, high = 0;
    bool came = true;

    if (q < plan.ranks) {
        const uint64_t own = static_cast<int>(k) < count ? __ldcg(word + k) : 0;
        __threadfence_system();
        post(plan, q, lane & 1 ? own >> 32 : own & UINT32_MAX, number);
        came = listen(plan, q, number, half);
        high = __shfl_down_sync(HW_WARP, half, 1);
        __threadfence_system();
        if (!came && lane == 0)
            for (uint32_t r = 0; r < plan.ranks; r++)
                *static_cast<volatile uint32_t *>(plan.failed[r]) = 1;
    }
    const bool fine = __syncthreads_and(came);
    if (q < plan.ranks && (lane & 1) == 0)
        heard[q][k] = to->of[q][k] = fine ? high << 32 | half : 0;
    __syncthreads();
    if (threadIdx.x < HW_ALLGATHER_WORDS) {
        uint64_t all = 0;
        for (uint32_t r = 0; r < plan.ranks; r++) {
            const uint64_t value = heard[r][threadIdx.x];
            all = maxima >> threadIdx.x & 1 ? (value > all ? value : all) : all + value;
        }
        to->all[threadIdx.x] = all;
    }
    if (threadIdx.x == 0) {
        to->failed = !fine;
        to->number = number;
    }
}

} // namespace

#endif
