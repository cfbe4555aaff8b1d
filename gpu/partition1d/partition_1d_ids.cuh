/*
 * Global and local ids of a 1d partition (gpu/partition1d/partition_1d.h) in kernels, for 2 to
 * HW_PARTITION_1D_PARTS parts.
 */
#ifndef HOPWAVE_GPU_PARTITION1D_PARTITION_1D_IDS_CUH
#define HOPWAVE_GPU_PARTITION1D_PARTITION_1D_IDS_CUH

#include "gpu/partition1d/partition_1d.h"

#include <cuda_runtime.h>

namespace
{

/* Division by a multiplication. Exact for 2 to 8 parts, because there are fewer than 2^23 cyclic
 * blocks. */
__device__ __forceinline__ uint32_t divide_by_parts(const hw_partition_1d &partition,
                                                    uint32_t cyclic_blocks)
{
    return __umulhi(cyclic_blocks, partition.reciprocal);
}

__device__ __forceinline__ uint32_t owner_of(const hw_partition_1d &partition, uint32_t vertex)
{
    const uint32_t at = vertex / HW_CYCLIC_BLOCK;

    return at - divide_by_parts(partition, at) * partition.parts;
}

__device__ __forceinline__ uint32_t local_id_of(const hw_partition_1d &partition, uint32_t vertex)
{
    return divide_by_parts(partition, vertex / HW_CYCLIC_BLOCK) * HW_CYCLIC_BLOCK +
           vertex % HW_CYCLIC_BLOCK;
}

__device__ __forceinline__ uint32_t global_id_of(const hw_partition_1d &partition, uint32_t local)
{
    return (local / HW_CYCLIC_BLOCK * partition.parts + partition.part) * HW_CYCLIC_BLOCK +
           local % HW_CYCLIC_BLOCK;
}

__device__ __forceinline__ uint32_t core_vertices(const hw_partition_1d &partition)
{
    return partition.core * partition.parts;
}

} // namespace

#endif
