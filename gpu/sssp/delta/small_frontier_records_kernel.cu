/*
 * Builds the records of the kernel for small frontiers
 * (gpu/sssp/delta/small_frontier_delta_kernel.cu), before any search.
 */
#include "gpu/sssp/common/small_frontier_records.cuh"

#include <cuda_runtime.h>

int hw_small_frontier_launch_records(const hw_small_frontier_params *params)
{
    using namespace hw_delta::small_frontier;
    const kernel_params<one_gpu> all = {*params};
    const cudaError_t error = clear_records(all);
    uint32_t *num_records = &params->control->trace_records;

    if (error != cudaSuccess)
        return error;
    if (params->graph.wide)
        build_records<uint64_t, one_gpu>
            <<<records_blocks(all), records_block_size>>>(all, num_records);
    else
        build_records<uint32_t, one_gpu>
            <<<records_blocks(all), records_block_size>>>(all, num_records);
    return cudaGetLastError();
}
