/*
 * The kernel of an all-gather over transport peer: one block, a warp for each rank. Encoding and
 * memory order as in gpu/comm/allgather.cuh; what earlier kernels of the stream stored is ordered
 * before its slots' stores by the stream and the system-scope fence.
 *
 * Besides the result on the device the kernel stores all words in mapped host memory, in the
 * encoding of the slots, so that the host reads them without a copy.
 */
#include "gpu/comm/allgather.cuh"

#include <cuda_runtime.h>

namespace
{

constexpr int words = HW_ALLGATHER_WORDS;

__global__ void allgather(const __grid_constant__ hw_allgather_params params, const uint64_t *word,
                          int count, uint32_t maxima, uint32_t number, hw_allgather_result *to,
                          uint64_t *host_slots)
{
    __shared__ uint64_t received[HW_ALLGATHER_RANKS][words];
    const uint32_t lane = threadIdx.x & 31, q = threadIdx.x / 32, k = lane / 2;
    const uint64_t own = static_cast<int>(k) < count ? __ldcg(word + k) : 0;
    uint64_t half = 0;

    __threadfence_system();
    signal_peer(params, q, lane & 1 ? own >> 32 : own & UINT32_MAX, number);
    const bool arrived = wait_peer(params, q, number, half);
    static_cast<volatile uint64_t *>(host_slots)[threadIdx.x] = half << 32 | number;
    const uint64_t high = __shfl_down_sync(HW_WARP, half, 1);
    __threadfence_system();
    if (!arrived && lane == 0)
        for (uint32_t r = 0; r < params.ranks; r++)
            *static_cast<volatile uint32_t *>(params.failed[r]) = 1;
    const bool complete = __syncthreads_and(arrived);
    if ((lane & 1) == 0)
        to->by_rank[q][k] = received[q][k] = complete ? high << 32 | half : 0;
    __syncthreads();
    reduce_words(params, received, maxima, to);
    if (threadIdx.x == 0) {
        to->failed = !complete;
        to->number = number;
        static_cast<volatile uint64_t *>(host_slots)[HW_ALLGATHER_HOST_SLOTS - 1] =
            static_cast<uint64_t>(!complete) << 32 | number;
    }
}

} // namespace

int hw_allgather_launch(const hw_allgather_params *params, const uint64_t *word, int count,
                        uint32_t maxima, uint32_t number, hw_allgather_result *to,
                        uint64_t *host_slots, void *stream)
{
    allgather<<<1, 32 * params->ranks, 0, static_cast<cudaStream_t>(stream)>>>(
        *params, word, count, maxima, number, to, host_slots);
    return cudaGetLastError();
}
