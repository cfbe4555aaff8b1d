/*
 * Kernels that make one part of several from tuples, beside those of gpu/graph/build/edge_tuples.h.
 */
#include "gpu/device/grid_stride.cuh"
#include "gpu/graph/build/edge_tuples.cuh"
#include "gpu/partition1d/partition_1d_build.h"

namespace
{

constexpr int block_size = hw_tuple_threads;

template <typename Maker>
__global__ void __launch_bounds__(block_size)
    count_ends(hw_gpu_tuples tuples, uint32_t *ends, uint32_t *loops)
{
    __shared__ uint32_t room[Maker::room];
    const uint64_t me = hw_grid_thread();
    Maker maker;

    maker.open(tuples, room, me);
    for (uint64_t index = me; index < tuples.count; index += hw_tuple_stride) {
        uint64_t source, target;
        maker.make(index, &source, &target);
        if (source == target) {
            atomicAdd(loops + source, 1u);
            continue;
        }
        atomicAdd(ends + source, 1u);
        atomicAdd(ends + target, 1u);
    }
}

template <typename Maker>
__global__ void __launch_bounds__(block_size)
    find_neighbours(hw_gpu_tuples tuples, const uint32_t *ends, const uint32_t *rank,
                    uint32_t *neighbour)
{
    __shared__ uint32_t room[Maker::room];
    const uint64_t me = hw_grid_thread();
    Maker maker;

    maker.open(tuples, room, me);
    for (uint64_t index = me; index < tuples.count; index += hw_tuple_stride) {
        uint64_t source, target;
        maker.make(index, &source, &target);
        if (source == target)
            continue;
        if (__ldg(ends + source) == 1)
            neighbour[source] = __ldg(rank + target);
        if (__ldg(ends + target) == 1)
            neighbour[target] = __ldg(rank + source);
    }
}

__global__ void place_ids(hw_partition_1d share, const uint32_t *id, uint32_t with_edges,
                          uint32_t *graph_id)
{
    for (uint64_t r = hw_grid_thread(); r < with_edges; r += hw_grid_threads())
        graph_id[hw_partition_1d_global(&share, static_cast<uint32_t>(r % share.parts),
                                        static_cast<uint32_t>(r / share.parts))] = id[r];
}

} // namespace

int hw_partition_1d_launch_ends(const hw_gpu_tuples *tuples, uint32_t *ends, uint32_t *loops)
{
    return hw_with_maker(*tuples, [=](auto maker) {
        count_ends<decltype(maker)><<<hw_tuple_blocks, block_size>>>(*tuples, ends, loops);
        return static_cast<int>(cudaGetLastError());
    });
}

int hw_partition_1d_launch_neighbours(const hw_gpu_tuples *tuples, const uint32_t *ends,
                                      const uint32_t *rank, uint32_t *neighbour)
{
    return hw_with_maker(*tuples, [=](auto maker) {
        find_neighbours<decltype(maker)>
            <<<hw_tuple_blocks, block_size>>>(*tuples, ends, rank, neighbour);
        return static_cast<int>(cudaGetLastError());
    });
}

int hw_partition_1d_launch_place_ids(const hw_partition_1d *share, const uint32_t *id,
                                     uint32_t with_edges, uint32_t *graph_id)
{
    place_ids<<<hw_blocks(with_edges, block_size), block_size>>>(*share, id, with_edges, graph_id);
    return cudaGetLastError();
}
