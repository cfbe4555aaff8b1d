/*
 * A round of several GPUs over transport peer (gpu/comm/allgather.h): one block, a warp for each
 * rank.
 *
 * Each store of 64 bits holds half a word above the round's number, so that a word and the
 * news that it is there arrive together. Two sets of slots are enough: a rank that is in
 * round n + 2 has seen all ranks in round n + 1, which their streams come to after round n.
 *
 * Memory order: what kernels before this one stored is ordered before its own stores by the
 * stream and a system-scope fence, and what follows after its loads likewise.
 */
#include "gpu/comm/allgather.cuh"

#include <cuda_runtime.h>

namespace
{

constexpr int words = HW_ALLGATHER_WORDS;
static_assert(2 * words == 32, "a lane for each half of a word");

__global__ void meet(const __grid_constant__ hw_allgather_params plan, const uint64_t *word,
                     int count, uint32_t maxima, uint32_t number, hw_allgather_result *to,
                     uint64_t *mirror)
{
    __shared__ uint64_t heard[HW_ALLGATHER_RANKS][words];
    const uint32_t lane = threadIdx.x & 31, q = threadIdx.x / 32, k = lane / 2;
    const uint64_t own = static_cast<int>(k) < count ? __ldcg(word + k) : 0;
    uint64_t half = 0;

    __threadfence_system();
    post(plan, q, lane & 1 ? own >> 32 : own & UINT32_MAX, number);
    const bool came = listen(plan, q, number, half);
    static_cast<volatile uint64_t *>(mirror)[threadIdx.x] = half << 32 | number;
    const uint64_t high = __shfl_down_sync(HW_WARP, half, 1);
    __threadfence_system();
    if (!came && lane == 0)
        for (uint32_t r = 0; r < plan.ranks; r++)
            *static_cast<volatile uint32_t *>(plan.failed[r]) = 1;
    const bool fine = __syncthreads_and(came);
    if ((lane & 1) == 0)
        to->of[q][k] = heard[q][k] = fine ? high << 32 | half : 0;
    __syncthreads();
    if (threadIdx.x < words) {
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
        static_cast<volatile uint64_t *>(mirror)[HW_ALLGATHER_MIRROR - 1] =
            static_cast<uint64_t>(!fine) << 32 | number;
    }
}

} // namespace

int hw_allgather_launch(const hw_allgather_params *plan, const uint64_t *word, int count,
                        uint32_t maxima, uint32_t number, hw_allgather_result *to, uint64_t *mirror,
                        void *stream)
{
    meet<<<1, 32 * plan->ranks, 0, static_cast<cudaStream_t>(stream)>>>(*plan, word, count, maxima,
                                                                        number, to, mirror);
    return cudaGetLastError();
}
