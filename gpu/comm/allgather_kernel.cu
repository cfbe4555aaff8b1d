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

__global__ void allgather(const __grid_constant__ hw_allgather_params params, const uint64_t *word,
                          int count, uint32_t maxima, uint32_t number, hw_allgather_result *to,
                          uint64_t *host_slots)
{
    __shared__ uint64_t received[HW_ALLGATHER_PEERS][HW_ALLGATHER_PEER_WORDS];

    hw_allgather_block(params, word, count, maxima, number, to, host_slots, received);
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
