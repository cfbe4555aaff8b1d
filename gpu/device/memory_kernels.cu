/* Kernels that flush caches and warm TLBs (gpu/device/memory_kernels.h). */
#include "gpu/device/grid_stride.cuh"
#include "gpu/device/memory_kernels.h"

#include <cuda_runtime.h>

namespace
{

constexpr int block_size = 256;

/* Words that a flush reads at most: 128 MiB. */
constexpr uint64_t flush_words = 32u << 20;

__global__ void flush_caches(const uint32_t *words, uint64_t count, uint32_t *never)
{
    uint32_t all = 0;

    for (uint64_t k = hw_grid_thread(); k < count; k += hw_grid_threads())
        all |= words[k];
    if (all == UINT32_MAX) /* a use of the words, or the compiler would remove the loads */
        *never = all;
}

/* Every block reads a word of every page. */
__global__ void warm_tlb(const uint32_t *memory, uint64_t words, uint64_t page, uint32_t *never)
{
    uint32_t all = UINT32_MAX;

    for (uint64_t w = threadIdx.x * page; w < words; w += blockDim.x * page)
        all &= __ldcg(memory + w) ^ 0x55555555u;
    if (all == 0x12345678u) /* a use of the words, or the compiler would remove the loads */
        *never = all;
}

} // namespace

int hw_gpu_launch_flush_caches(const void *words, uint64_t count, uint32_t *never)
{
    const uint64_t read = count < flush_words ? count : flush_words;

    flush_caches<<<hw_blocks(read, block_size), block_size>>>(static_cast<const uint32_t *>(words),
                                                              read, never);
    return cudaGetLastError();
}

int hw_gpu_launch_warm_tlb(const void *memory, uint64_t bytes, uint32_t *never)
{
    const uint64_t page = (2u << 20) / sizeof(uint32_t);

    if (bytes < sizeof(uint32_t))
        return cudaSuccess;
    warm_tlb<<<132, block_size>>>(static_cast<const uint32_t *>(memory), bytes / sizeof(uint32_t),
                                  page, never);
    return cudaGetLastError();
}
