/*
 * An all-gather between GPUs over transport peer, by one block (gpu/comm/allgather.h).
 *
 * Encoding: each store of 64 bits holds half a word above the sequence number of the all-gather.
 * Slots, and memory order by system-scope fences, as in gpu/comm/peer_barrier.cuh: one fence orders
 * what this block stored, and what it saw of others, before its own slots' stores; another orders
 * its loads of slots before all that follows.
 */
#ifndef HOPWAVE_GPU_COMM_ALLGATHER_CUH
#define HOPWAVE_GPU_COMM_ALLGATHER_CUH

#include "gpu/comm/allgather_kernel.h"
#include "gpu/comm/peer_barrier.cuh"
#include "gpu/device/warp.cuh"

namespace
{

static_assert(2 * HW_ALLGATHER_PEER_WORDS == 32, "a lane for each half of a word");

/* This lane's slot for the words of rank `from` in the heap of rank `at`. */
__device__ __forceinline__ uint64_t *slot_at(const hw_allgather_params &params, uint32_t at,
                                             uint32_t from, uint32_t number)
{
    return params.slot[at] + ((number & 1) * params.ranks + from) * 32 + (threadIdx.x & 31);
}

/* Stores this rank's words in its slot of rank q's heap; `half`: this lane's half of a word.
 * Warp-collective. */
__device__ void signal_peer(const hw_allgather_params &params, uint32_t q, uint64_t half,
                            uint32_t number)
{
    signal_word(slot_at(params, q, params.rank, number), half << 32 | number);
}

/* Waits for rank q's words; half: this lane's half of a word. Returns false after a timeout, or if
 * some rank has failed; it loads the failure flag after the words, for a rank that failed takes
 * part in later all-gathers. Warp-collective. */
__device__ bool wait_peer(const hw_allgather_params &params, uint32_t q, uint32_t number,
                          uint64_t &half)
{
    const uint64_t *slot = slot_at(params, params.rank, q, number);
    wait_clock clock;
    uint64_t word;

    const auto failed = [&] { return hw_load_relaxed(params.failed[params.rank]) != 0; };
    const bool all = wait_for_words(
        true, [=] { return hw_load_relaxed(slot); },
        [=](uint64_t value) { return static_cast<uint32_t>(value) == number; },
        [&] { return failed() || clock.has_passed(params.timeout_ns); }, word);
    half = word >> 32;
    return all && !__any_sync(HW_WARP, failed());
}

/* to->reduced from all ranks' words: a thread for each word, sums or maxima. */
__device__ __forceinline__ void
reduce_words(const hw_allgather_params &params,
             const uint64_t (&received)[HW_ALLGATHER_PEERS][HW_ALLGATHER_PEER_WORDS],
             uint32_t maxima, hw_allgather_result *to)
{
    if (threadIdx.x < HW_ALLGATHER_PEER_WORDS) {
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
 * this device alone reads; host_slots: [HW_ALLGATHER_HOST_SLOTS] in mapped host memory, to which
 * the words go in the encoding of the slots, or NULL; received: scratch in shared memory.
 * Collective over the block.
 */
__device__ __forceinline__ void
hw_allgather_block(const hw_allgather_params &params, const uint64_t *word, int count,
                   uint32_t maxima, uint32_t number, hw_allgather_result *to, uint64_t *host_slots,
                   uint64_t (&received)[HW_ALLGATHER_PEERS][HW_ALLGATHER_PEER_WORDS])
{
    const uint32_t lane = threadIdx.x & 31, q = threadIdx.x / 32, k = lane / 2;
    uint64_t half = 0, high = 0;
    bool arrived = true;

    if (q < params.ranks) {
        const uint64_t own = static_cast<int>(k) < count ? __ldcg(word + k) : 0;
        __threadfence_system();
        signal_peer(params, q, lane & 1 ? own >> 32 : own & UINT32_MAX, number);
        arrived = wait_peer(params, q, number, half);
        if (host_slots)
            signal_word(host_slots + threadIdx.x, half << 32 | number);
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
        if (host_slots)
            signal_word(host_slots + HW_ALLGATHER_HOST_SLOTS - 1,
                        static_cast<uint64_t>(!complete) << 32 | number);
    }
}

} // namespace

#endif
