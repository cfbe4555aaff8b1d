/*
 * An all-gather between GPUs over transport peer, by one block (gpu/comm/allgather.h).
 *
 * Encoding: each store of 64 bits holds half a word above the sequence number of the all-gather, so
 * that data and arrival flag are written by one store. Two sets of slots, by the parity of the
 * number, are enough: a rank that writes number n + 2 has received number n + 1 from all ranks, and
 * their streams reach n + 1 after they have read n.
 *
 * Memory order: a system-scope fence orders what this block stored, and what it saw of others,
 * before its own slots' stores; another orders its loads of slots before all that follows.
 */
#ifndef HOPWAVE_GPU_COMM_ALLGATHER_CUH
#define HOPWAVE_GPU_COMM_ALLGATHER_CUH

#include "gpu/comm/allgather.h"
#include "gpu/device/warp.cuh"

namespace
{

static_assert(2 * HW_ALLGATHER_WORDS == 32, "a lane for each half of a word");

/* Stores this rank's words in its slot of rank q's heap; `half`: this lane's half of a word.
 * Warp-collective. */
__device__ void signal_peer(const hw_allgather_params &params, uint32_t q, uint64_t half,
                            uint32_t number)
{
    const uint32_t lane = threadIdx.x & 31;
    const uint32_t at = ((number & 1) * params.ranks + params.rank) * 32 + lane;

    *static_cast<volatile uint64_t *>(params.slot[q] + at) = half << 32 | number;
}

/* Waits for rank q's words; half: this lane's half of a word. Returns false after a timeout, or if
 * some rank has failed. Warp-collective. */
__device__ bool wait_peer(const hw_allgather_params &params, uint32_t q, uint32_t number,
                          uint64_t &half)
{
    const uint32_t lane = threadIdx.x & 31;
    const uint64_t *slot = params.slot[params.rank] + ((number & 1) * params.ranks + q) * 32 + lane;
    const uint64_t start = hw_nanoseconds();
    bool here = false;

    for (uint32_t poll = 1;; poll++) {
        if (!here) {
            const uint64_t value = hw_load_relaxed(slot);
            here = static_cast<uint32_t>(value) == number;
            half = value >> 32;
        }
        const bool all = __all_sync(HW_WARP, here);
        if (!all && poll % 64 != 0)
            continue;
        const bool failed = hw_load_relaxed(params.failed[params.rank]) != 0 ||
                            (!all && hw_nanoseconds() - start > params.timeout_ns);
        if (__any_sync(HW_WARP, failed))
            return false;
        if (all)
            return true;
    }
}

/* to->reduced from all ranks' words: a thread for each word, sums or maxima. */
__device__ __forceinline__ void
reduce_words(const hw_allgather_params &params,
             const uint64_t (&received)[HW_ALLGATHER_RANKS][HW_ALLGATHER_WORDS], uint32_t maxima,
             hw_allgather_result *to)
{
    if (threadIdx.x < HW_ALLGATHER_WORDS) {
        uint64_t all = 0;
        for (uint32_t r = 0; r < params.ranks; r++) {
            const uint64_t value = received[r][threadIdx.x];
            all = maxima >> threadIdx.x & 1 ? (value > all ? value : all) : all + value;
        }
        to->reduced[threadIdx.x] = all;
    }
}

/*
 * An all-gather by a block of at least one warp for each rank. word: [count]; to: the result, which
 * this device alone reads; received: scratch in shared memory. Collective over the block.
 */
__device__ void hw_allgather_block(const hw_allgather_params &params, const uint64_t *word,
                                   int count, uint32_t maxima, uint32_t number,
                                   hw_allgather_result *to,
                                   uint64_t (&received)[HW_ALLGATHER_RANKS][HW_ALLGATHER_WORDS])
{
    const uint32_t lane = threadIdx.x & 31, q = threadIdx.x / 32, k = lane / 2;
    uint64_t half = 0, high = 0;
    bool arrived = true;

    if (q < params.ranks) {
        const uint64_t own = static_cast<int>(k) < count ? __ldcg(word + k) : 0;
        __threadfence_system();
        signal_peer(params, q, lane & 1 ? own >> 32 : own & UINT32_MAX, number);
        arrived = wait_peer(params, q, number, half);
        high = __shfl_down_sync(HW_WARP, half, 1);
        __threadfence_system();
        if (!arrived && lane == 0)
            for (uint32_t r = 0; r < params.ranks; r++)
                *static_cast<volatile uint32_t *>(params.failed[r]) = 1;
    }
    const bool complete = __syncthreads_and(arrived);
    if (q < params.ranks && (lane & 1) == 0)
        received[q][k] = to->by_rank[q][k] = complete ? high << 32 | half : 0;
    __syncthreads();
    reduce_words(params, received, maxima, to);
    if (threadIdx.x == 0) {
        to->failed = !complete;
        to->number = number;
    }
}

} // namespace

#endif
