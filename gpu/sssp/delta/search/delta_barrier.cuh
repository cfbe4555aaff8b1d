/*
 * Barriers of delta-stepping: the grid barrier over the blocks of one GPU and, on several, the peer
 * barrier over all blocks of all GPUs, which carries an all-gather of the counters of the
 * iteration.
 *
 * Peer barrier: the last block of a GPU to arrive stores the counters into the slots of all GPUs
 * (gpu/comm/allgather.cuh); in every block one warp per rank waits for the words of that rank. All
 * blocks then reduce the same words, so that all GPUs take the same decisions without a host.
 *
 * Memory order: as in gpu/comm/peer_barrier.cuh and, within a GPU, gpu/device/grid_barrier.cuh. The
 * last block's warp fences for all blocks; the warps that receive load with acquire.
 */
#ifndef HOPWAVE_GPU_SSSP_DELTA_SEARCH_DELTA_BARRIER_CUH
#define HOPWAVE_GPU_SSSP_DELTA_SEARCH_DELTA_BARRIER_CUH

#include "gpu/comm/allgather.cuh"
#include "gpu/comm/peer_barrier.cuh"
#include "gpu/device/grid_barrier.cuh"
#include "gpu/sssp/delta/search/delta_keys.cuh"

namespace hw_delta::search
{
namespace
{

/* Makes all blocks of all GPUs fail. */
template <class Peers> __device__ void signal_failure(const kernel_params<Peers> &params)
{
    *static_cast<volatile uint32_t *>(&params.control->failed) = 1;
    if constexpr (Peers::several)
        Peers::fail(params);
}

/* Counts this block as arrived and waits until all blocks are; returns false after a failure or a
 * timeout. One thread. */
template <class Peers>
__device__ __forceinline__ bool wait_for_blocks(const kernel_params<Peers> &params,
                                                uint32_t barriers)
{
    uint32_t *arrived = &params.control->arrived;
    wait_clock clock;

    return grid_arrive(arrived, barriers) || grid_wait(arrived, barriers, [&] {
               return Peers::several && (hw_load_relaxed(&params.control->failed) != 0 ||
                                         clock.has_passed(2 * params.allgather.timeout_ns));
           });
}

/* This lane's word of the counters of an iteration that has ended. Blocks that are ahead change
 * none of them before this block has passed another barrier: all blocks decide by the same values.
 */
template <class Peers>
__device__ __forceinline__ uint32_t load_counter(const kernel_params<Peers> &params,
                                                 const block_shared<Peers> &shared, uint32_t number)
{
    const iteration_counters *counters = &params.control->counters[number & 3];
    const uint32_t lane = threadIdx.x & 31,
                   before = lane == offsetof(iteration_counters, rest) / sizeof(uint32_t)
                                ? shared.rest_before
                                : 0;

    return lane < sizeof(iteration_counters) / sizeof(uint32_t)
               ? before + hw_load_relaxed(reinterpret_cast<const uint32_t *>(counters) + lane)
               : 0;
}

/* Barrier over the blocks of this GPU. Afterwards shared.previous holds the counters of iteration
 * `number`. Returns false if the search failed. */
template <int kind, class Peers>
__device__ bool grid_barrier(const kernel_params<Peers> &params, block_shared<Peers> &shared,
                             search_state<kind> &search, uint32_t number)
{
    search.barriers++;
    __syncthreads();
    if (threadIdx.x < 32) {
        bool ok = true;
        if (threadIdx.x == 0) {
            ok = wait_for_blocks(params, search.barriers);
            if (!ok)
                signal_failure(params);
            shared.ok = ok;
        }
        __syncwarp();
        const uint32_t mine = load_counter(params, shared, number);
        if (threadIdx.x < sizeof(iteration_counters) / sizeof(uint32_t))
            reinterpret_cast<uint32_t *>(&shared.previous)[threadIdx.x] = mine;
    }
    __syncthreads();
    return shared.ok != 0;
}

/* Counts this block as arrived; the last block sends the counters of the iteration to all GPUs, its
 * own included. One warp. */
template <class Peers>
__device__ void signal_arrival(const kernel_params<Peers> &params,
                               const block_shared<Peers> &shared, uint32_t barriers,
                               uint32_t allgather, uint32_t number)
{
    const uint32_t lane = threadIdx.x & 31;
    const bool last = lane == 0 && grid_arrive(&params.control->arrived, barriers);

    if (!__shfl_sync(HW_WARP, last, 0))
        return;
    const uint32_t half = load_counter(params, shared, number + 1);
    if constexpr (Peers::has_network)
        Peers::stage_counters(params, half, allgather);
    Peers::quiet();
    for (uint32_t step = 1; step <= Peers::ranks(params); step++)
        Peers::signal(params, (Peers::rank(params) + step) % Peers::ranks(params), half, allgather);
}

/* Receives the words of rank q. One warp. */
template <class Peers>
__device__ void receive_words(const kernel_params<Peers> &params, block_shared<Peers> &shared,
                              uint32_t q, uint32_t allgather)
{
    const uint32_t lane = threadIdx.x & 31;
    uint64_t half = 0;

    const bool ok = Peers::wait(params, q, allgather, half);
    const uint64_t high = __shfl_down_sync(HW_WARP, half, 1);
    if ((lane & 1) == 0)
        shared.received[q][lane / 2] = ok ? high << 32 | half : 0;
    if (lane == 0 && !ok) {
        shared.ok = 0;
        signal_failure(params);
    }
}

/* The value of one of the words: two counts, or without the number of long lists. */
__device__ __forceinline__ uint64_t counter_value(uint64_t word, uint32_t which)
{
    const bool two = which <= HW_DELTA_COUNT_FRONTIER;
    const uint64_t low = two ? UINT32_MAX
                         : which == HW_DELTA_COUNT_LONG_LIST_CHUNKS
                             ? (1ull << long_list_chunk_bits) - 1
                             : UINT64_MAX;

    return (word & low) + (two ? word >> 32 : 0);
}

/* Reduces one of the words over all ranks. All lanes run the same code and load all words at once,
 * since all blocks wait for this. */
template <class Peers>
__device__ __forceinline__ uint64_t reduce_word(const kernel_params<Peers> &params,
                                                const block_shared<Peers> &shared, uint32_t which)
{
    uint64_t word[HW_DELTA_RANKS], sum = 0, maximum = 0;

#pragma unroll
    for (uint32_t q = 0; q < HW_DELTA_RANKS; q++)
        word[q] = q < Peers::ranks(params) ? shared.received[q][which] : 0;
#pragma unroll
    for (uint32_t q = 0; q < HW_DELTA_RANKS; q++) {
        sum += counter_value(word[q], which);
        maximum = max(maximum, word[q]);
    }
    return which == HW_DELTA_COUNT_MIN_KEY ? maximum : sum;
}

/* Updates that rank q sent to this one before the last peer barrier. */
template <class Peers>
__device__ __forceinline__ uint32_t sent_by(const kernel_params<Peers> &params,
                                            const block_shared<Peers> &shared, uint32_t q)
{
    const uint64_t two = shared.received[q][HW_DELTA_COUNT_SENT + Peers::rank(params) / 2];

    return static_cast<uint32_t>(Peers::rank(params) & 1 ? two >> 32 : two);
}

/* Computes the prefix sums of the updates received. One warp. */
template <class Peers>
__device__ __forceinline__ void count_updates(const kernel_params<Peers> &params,
                                              block_shared<Peers> &shared)
{
    const uint32_t q = threadIdx.x & 31;
    const bool other = q < Peers::ranks(params) && q != Peers::rank(params);
    const uint32_t sent = other ? sent_by(params, shared, q) : 0;
    uint32_t entries = min(sent, params.outbox_capacity);
    if constexpr (Peers::has_network)
        entries = other && Peers::sends_all_keys(params, q, sent) ? 0 : entries;
    const uint64_t scan = hw_warp_scan(static_cast<uint64_t>(entries));
    const bool full = __any_sync(HW_WARP, sent > params.outbox_capacity);

    if (q < Peers::ranks(params))
        shared.updates_end[q] = scan;
    if (q == 0)
        shared.overflowed = full;
}

/* Barrier over all blocks of all GPUs, with an all-gather of the counters of iteration `number`.
 * Returns false if the search failed. */
template <class Peers, int kind>
__device__ __noinline__ bool peer_barrier(search_state<kind> &search, uint32_t number)
{
    static_assert(sizeof(iteration_counters) == HW_DELTA_COUNT_WORDS * sizeof(uint64_t),
                  "as words");
    block_shared<Peers> &shared = shared_memory<Peers>();
    const kernel_params<Peers> &params = shared.params;
    const uint32_t warp = threadIdx.x / 32, allgather = search.allgather++, i = threadIdx.x;

    search.barriers++;
    if (i == 0)
        shared.ok = 1;
    __syncthreads();
    if (warp < Peers::ranks(params))
        receive_words(params, shared, warp, allgather);
    else if (warp == warps - 1)
        signal_arrival(params, shared, search.barriers, allgather, number);
    __syncthreads();
    if constexpr (Peers::has_network)
        if (i == threads - 1)
            Peers::end_puts(shared);
    if (i < HW_ALLGATHER_PEER_WORDS) {
        shared.reduced[i] = reduce_word(params, shared, i);
    } else if (i >= 32 && i < 32 + HW_DELTA_COUNT_WORDS) {
        reinterpret_cast<uint64_t *>(&shared.previous)[i - 32] =
            shared.received[Peers::rank(params)][i - 32];
    } else if (warp == 2) {
        count_updates(params, shared);
    }
    __syncthreads();
    return shared.ok != 0;
}

} // namespace
} // namespace hw_delta::search

#endif
