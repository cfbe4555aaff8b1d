/* Kernels that number vertices. */
#include "gpu/device/grid_stride.cuh"
#include "gpu/device/warp.cuh"
#include "gpu/graph/build/vertex_order.h"

namespace
{

constexpr int block_size = 256;

__global__ void number(uint32_t *id, uint64_t count)
{
    for (uint64_t v = hw_grid_thread(); v < count; v += hw_grid_threads())
        id[v] = static_cast<uint32_t>(v);
}

__global__ void invert(const uint32_t *id, uint64_t count, uint32_t base, uint32_t *to)
{
    for (uint64_t k = hw_grid_thread(); k < count; k += hw_grid_threads())
        to[id[k]] = base + static_cast<uint32_t>(k);
}

__global__ void pick(const uint32_t *from, uint32_t stride, uint32_t first, uint64_t count,
                     uint32_t *to)
{
    for (uint64_t k = hw_grid_thread(); k < count; k += hw_grid_threads())
        to[k] = from[k * stride + first];
}

__global__ void take(const uint32_t *from, const uint32_t *id, uint64_t count, uint32_t *to)
{
    for (uint64_t k = hw_grid_thread(); k < count; k += hw_grid_threads())
        to[k] = from[id[k]];
}

__global__ void undistribute(const uint32_t *from, struct hw_vertex_distribution distribution,
                             const uint64_t *begin, uint32_t *to)
{
    const uint64_t vertices = static_cast<uint64_t>(distribution.vertices);

    for (uint64_t v = hw_grid_thread(); v < vertices; v += hw_grid_threads()) {
        const hw_vertex_slot slot =
            hw_vertex_distribution_slot(&distribution, static_cast<hw_gid>(v));
        to[v] = from[begin[slot.rank] + slot.local];
    }
}

__global__ void distribute(const uint32_t *from, struct hw_vertex_distribution distribution,
                           int rank, uint64_t count, uint32_t *to)
{
    for (uint64_t k = hw_grid_thread(); k < count; k += hw_grid_threads())
        to[k] = from[hw_vertex_distribution_vertex(&distribution, rank, static_cast<hw_gid>(k))];
}

__global__ void name_delegates(const hw_delegate *delegate, uint64_t count, uint32_t first,
                               uint32_t *to)
{
    for (uint64_t k = hw_grid_thread(); k < count; k += hw_grid_threads())
        to[delegate[k].graph_id] = first + static_cast<uint32_t>(k);
}

__global__ void degree_sums(const uint32_t *degree, uint32_t vertices, uint64_t *sums)
{
    unsigned long long sum = 0, squares = 0, most = 0;

    for (uint64_t v = hw_grid_thread(); v < vertices; v += hw_grid_threads()) {
        const unsigned long long own = degree[v];
        sum += own;
        squares += own * own;
        most = max(most, own);
    }
    hw_warp_add_to(sum, sums);
    hw_warp_add_to(squares, sums + 1);
    most = hw_warp_max(most);
    if ((threadIdx.x & 31) == 0)
        atomicMax(reinterpret_cast<unsigned long long *>(sums + 2), most);
}

} // namespace

int hw_gpu_launch_degree_sums(const uint32_t *degree, uint32_t vertices, uint64_t *sums)
{
    const cudaError_t error = cudaMemsetAsync(sums, 0, 3 * sizeof *sums);

    if (error != cudaSuccess)
        return error;
    degree_sums<<<hw_blocks(vertices, block_size), block_size>>>(degree, vertices, sums);
    return cudaGetLastError();
}

int hw_gpu_launch_number(uint32_t *id, uint64_t count)
{
    number<<<hw_blocks(count, block_size), block_size>>>(id, count);
    return cudaGetLastError();
}

int hw_gpu_launch_invert(const uint32_t *id, uint64_t count, uint32_t base, uint32_t *number)
{
    invert<<<hw_blocks(count, block_size), block_size>>>(id, count, base, number);
    return cudaGetLastError();
}

int hw_gpu_launch_pick(const uint32_t *from, uint32_t stride, uint32_t first, uint64_t count,
                       uint32_t *to)
{
    pick<<<hw_blocks(count, block_size), block_size>>>(from, stride, first, count, to);
    return cudaGetLastError();
}

int hw_gpu_launch_take(const uint32_t *from, const uint32_t *id, uint64_t count, uint32_t *to)
{
    take<<<hw_blocks(count, block_size), block_size>>>(from, id, count, to);
    return cudaGetLastError();
}

int hw_gpu_launch_undistribute(const uint32_t *from,
                               const struct hw_vertex_distribution *distribution,
                               const uint64_t *begin, uint32_t *to)
{
    undistribute<<<hw_blocks(static_cast<uint64_t>(distribution->vertices), block_size),
                   block_size>>>(from, *distribution, begin, to);
    return cudaGetLastError();
}

int hw_gpu_launch_distribute(const uint32_t *from,
                             const struct hw_vertex_distribution *distribution, int rank,
                             uint64_t count, uint32_t *to)
{
    distribute<<<hw_blocks(count, block_size), block_size>>>(from, *distribution, rank, count, to);
    return cudaGetLastError();
}

int hw_gpu_launch_delegates(const hw_delegate *delegate, uint64_t count, uint32_t first,
                            uint32_t *number)
{
    name_delegates<<<hw_blocks(count, block_size), block_size>>>(delegate, count, first, number);
    return cudaGetLastError();
}
