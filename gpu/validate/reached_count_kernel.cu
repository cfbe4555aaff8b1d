/* The kernel that counts what a search has reached. */
#include "gpu/device/warp.cuh"
#include "gpu/validate/reached_count_kernel.h"

#include <cuda_runtime.h>
#include <math.h>

namespace
{

using count64 = unsigned long long;

constexpr int block_size = 256;
constexpr uint32_t no_parent = UINT32_MAX;

/* Raises *most to the maximum over the lanes. */
__device__ void take_most(count64 own, uint64_t *most)
{
    own = hw_warp_max(own);
    if ((threadIdx.x & 31) == 0 && own)
        atomicMax(reinterpret_cast<count64 *>(most), own);
}

/* Whether element i of the values is one that hw_result_legal() allows. */
template <int counted>
__device__ __forceinline__ bool is_legal(const hw_reached_count_job &job, uint64_t i, bool reached)
{
    if (counted == HW_GPU_COUNTED_LEVELS) {
        const int32_t level = static_cast<const int32_t *>(job.values)[i];
        return level >= -1 && level < static_cast<int64_t>(job.vertices);
    }
    if (counted == HW_GPU_COUNTED_FLOATS) {
        const float distance = static_cast<const float *>(job.values)[i];
        return reached ? isfinite(distance) : isinf(distance) && distance > 0;
    }
    if (counted == HW_GPU_COUNTED_INT32)
        return reached || static_cast<const int32_t *>(job.values)[i] == -1;
    const int64_t distance = static_cast<const int64_t *>(job.values)[i];
    return reached ? distance != INT64_MIN : distance == -1;
}

template <int counted, typename End>
__global__ void __launch_bounds__(block_size) count(hw_reached_count_job job, hw_gpu_count *sum)
{
    const End *ends = static_cast<const End *>(job.ends);
    count64 reached = 0, own_ends = 0, unset = 0, levels = 0;

    for (uint64_t i = hw_grid_thread(); i < job.count; i += hw_grid_threads()) {
        const uint32_t parent = job.parent[i];
        const bool has = parent != no_parent;
        unset += (has && parent >= job.vertices) || !is_legal<counted>(job, i, has);
        if (!has)
            continue;
        reached++;
        own_ends += ends[i];
        if (counted == HW_GPU_COUNTED_LEVELS) {
            const int32_t level = static_cast<const int32_t *>(job.values)[i];
            levels = level >= 0 && static_cast<count64>(level) >= levels
                         ? static_cast<count64>(level) + 1
                         : levels;
        }
    }
    hw_warp_add_to(reached, &sum->reached);
    hw_warp_add_to(own_ends, &sum->ends);
    hw_warp_add_to(unset, &sum->unset);
    take_most(levels, &sum->levels);
}

template <int counted> void launch(const hw_reached_count_job &job, hw_gpu_count *sum)
{
    const int blocks = hw_blocks(job.count, block_size);

    if (job.wide)
        count<counted, uint64_t><<<blocks, block_size>>>(job, sum);
    else
        count<counted, uint32_t><<<blocks, block_size>>>(job, sum);
}

} // namespace

int hw_gpu_launch_count(const hw_reached_count_job *job, hw_gpu_count *sum)
{
    switch (job->counted) {
    case HW_GPU_COUNTED_LEVELS:
        launch<HW_GPU_COUNTED_LEVELS>(*job, sum);
        break;
    case HW_GPU_COUNTED_FLOATS:
        launch<HW_GPU_COUNTED_FLOATS>(*job, sum);
        break;
    case HW_GPU_COUNTED_INT32:
        launch<HW_GPU_COUNTED_INT32>(*job, sum);
        break;
    default:
        launch<HW_GPU_COUNTED_INT64>(*job, sum);
    }
    return cudaGetLastError();
}
