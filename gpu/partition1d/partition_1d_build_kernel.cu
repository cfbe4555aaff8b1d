/*
 * Kernels that construct one part of a 1d partition from tuples
 * (gpu/partition1d/partition_1d_build.h), in addition to those of gpu/graph/build/edge_tuples.h.
 */
#include "gpu/device/grid_stride.cuh"
#include "gpu/graph/build/edge_tuples.cuh"
#include "gpu/partition1d/partition_1d_build.h"

namespace
{

constexpr int block_size = hw_tuple_threads;

template <typename Maker>
__global__ void __launch_bounds__(block_size)
    count_degrees(hw_gpu_tuples tuples, uint32_t *degree, uint32_t *out_degree, uint32_t *loops)
{
    __shared__ uint32_t shared[Maker::shared_words];
    const uint64_t me = hw_grid_thread();
    Maker maker;

    maker.open(tuples, shared, me);
    for (uint64_t index = me; index < tuples.count; index += hw_tuple_stride) {
        uint64_t source, target;
        maker.make(index, &source, &target);
        if (source == target) {
            atomicAdd(loops + source, 1u);
            continue;
        }
        atomicAdd(degree + source, 1u);
        atomicAdd(degree + target, 1u);
        if (out_degree)
            atomicAdd(out_degree + source, 1u);
    }
}

template <typename Maker>
__global__ void __launch_bounds__(block_size)
    find_leaf_neighbors(hw_gpu_tuples tuples, const uint32_t *degree, const uint32_t *position,
                        uint32_t *neighbor)
{
    __shared__ uint32_t shared[Maker::shared_words];
    const uint64_t me = hw_grid_thread();
    Maker maker;

    maker.open(tuples, shared, me);
    for (uint64_t index = me; index < tuples.count; index += hw_tuple_stride) {
        uint64_t source, target;
        maker.make(index, &source, &target);
        if (source == target)
            continue;
        if (__ldg(degree + source) == 1)
            neighbor[source] = __ldg(position + target);
        if (__ldg(degree + target) == 1)
            neighbor[target] = __ldg(position + source);
    }
}

__global__ void place_ids(hw_partition_1d partition, const uint32_t *id, uint32_t with_edges,
                          uint32_t *graph_id)
{
    for (uint64_t r = hw_grid_thread(); r < with_edges; r += hw_grid_threads())
        graph_id[hw_partition_1d_global(&partition, static_cast<uint32_t>(r % partition.parts),
                                        static_cast<uint32_t>(r / partition.parts))] = id[r];
}

} // namespace

int hw_partition_1d_launch_degrees(const hw_gpu_tuples *tuples, uint32_t *degree,
                                   uint32_t *out_degree, uint32_t *loops)
{
    return hw_with_maker(*tuples, [=](auto maker) {
        count_degrees<decltype(maker)>
            <<<hw_tuple_blocks, block_size>>>(*tuples, degree, out_degree, loops);
        return static_cast<int>(cudaGetLastError());
    });
}

int hw_partition_1d_launch_leaf_neighbors(const hw_gpu_tuples *tuples, const uint32_t *degree,
                                          const uint32_t *position, uint32_t *neighbor)
{
    return hw_with_maker(*tuples, [=](auto maker) {
        find_leaf_neighbors<decltype(maker)>
            <<<hw_tuple_blocks, block_size>>>(*tuples, degree, position, neighbor);
        return static_cast<int>(cudaGetLastError());
    });
}

int hw_partition_1d_launch_place_ids(const hw_partition_1d *partition, const uint32_t *id,
                                     uint32_t with_edges, uint32_t *graph_id)
{
    place_ids<<<hw_blocks(with_edges, block_size), block_size>>>(*partition, id, with_edges,
                                                                 graph_id);
    return cudaGetLastError();
}
