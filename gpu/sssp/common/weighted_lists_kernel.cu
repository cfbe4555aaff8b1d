/*
 * Builds weighted lists on the device from chunks of a part: renumbers neighbors, and sorts each
 * list by weight if the method wants that (keys of list and weight, radix sort).
 */
#include "gpu/device/grid_stride.cuh"
#include "gpu/device/prefix_search.cuh"
#include "gpu/sssp/common/distance_keys.cuh"

#include <cuda_runtime.h>

namespace
{

constexpr int block_size = 256;

/* Maps the bits of a weight to an unsigned number in the order of the weights. */
__device__ __forceinline__ uint32_t order_of_weight(uint32_t weight, int floats)
{
    const uint32_t flip = floats && (weight >> 31) ? 0xffffffffu : 0x80000000u;

    return weight ^ flip;
}

__device__ __forceinline__ uint32_t weight_of_order(uint32_t order, int floats)
{
    const uint32_t flip = floats && !(order >> 31) ? 0xffffffffu : 0x80000000u;

    return order ^ flip;
}

/* Copies edges in their order. */
__global__ void copy_edges(hw_gpu_list_chunk chunk, hw_gpu_edge *to)
{
    for (uint64_t k = hw_grid_thread(); k < chunk.count; k += hw_grid_threads()) {
        const uint32_t position = chunk.index[k];
        to[chunk.begin + k] =
            hw_gpu_edge{chunk.vertex_of_position ? chunk.vertex_of_position[position] : position,
                        chunk.weight[k]};
    }
}

/* Sort keys: list above, weight below. */
template <typename Offset>
__global__ void make_keys(hw_gpu_list_chunk chunk, const Offset *offset, int floats, uint64_t *key,
                          uint32_t *neighbor)
{
    for (uint64_t k = hw_grid_thread(); k < chunk.count; k += hw_grid_threads()) {
        const uint64_t edge = chunk.begin + k;
        const uint64_t list =
            last_index(chunk.first, chunk.end, [=](uint32_t i) { return offset[i] <= edge; }) -
            chunk.first;
        const uint32_t position = chunk.index[k];
        key[k] = list << 32 | order_of_weight(chunk.weight[k], floats);
        neighbor[k] = chunk.vertex_of_position ? chunk.vertex_of_position[position] : position;
    }
}

__global__ void store_sorted(hw_gpu_list_chunk chunk, const uint64_t *key, const uint32_t *neighbor,
                             int floats, hw_gpu_edge *to)
{
    for (uint64_t k = hw_grid_thread(); k < chunk.count; k += hw_grid_threads())
        to[chunk.begin + k] =
            hw_gpu_edge{neighbor[k], weight_of_order(static_cast<uint32_t>(key[k]), floats)};
}

/* Significant bits of the keys of a chunk of so many lists. */
int bits_for(uint64_t lists)
{
    int bits = 32;

    while (bits < 64 && lists > 1ull << (bits - 32))
        bits++;
    return bits;
}

} // namespace

int hw_gpu_launch_list_chunk(const hw_gpu_graph *graph, const void *offset,
                             const hw_gpu_list_chunk *chunk, int floats, hw_gpu_edge *to)
{
    const int blocks = hw_blocks(chunk->count, block_size);

    if (chunk->count == 0)
        return cudaSuccess;
    if (!chunk->sort.key[0]) {
        copy_edges<<<blocks, block_size>>>(*chunk, to);
        return cudaGetLastError();
    }
    hw_gpu_keys keys = chunk->sort;
    if (graph->wide)
        make_keys<<<blocks, block_size>>>(*chunk, static_cast<const uint64_t *>(offset), floats,
                                          keys.key[0], keys.value[0]);
    else
        make_keys<<<blocks, block_size>>>(*chunk, static_cast<const uint32_t *>(offset), floats,
                                          keys.key[0], keys.value[0]);
    int error = cudaGetLastError();
    if (error == cudaSuccess)
        error = hw_gpu_launch_sort(&keys, chunk->count, bits_for(chunk->end - chunk->first),
                                   chunk->scratch, chunk->scratch_bytes);
    if (error != cudaSuccess)
        return error;
    store_sorted<<<blocks, block_size>>>(*chunk, keys.key[0], keys.value[0], floats, to);
    return cudaGetLastError();
}
