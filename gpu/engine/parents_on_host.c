#include "gpu/engine/parents_on_host.h"

#include "gpu/device/device.h"
#include "gpu/engine/result_kernels.h"

enum hw_status hw_gpu_get_parents(uint32_t **staging, const uint32_t *id, size_t count,
                                  hw_gid *parent, struct hw_error *err)
{
    enum hw_status status = hw_gpu_pin(staging, count, err);

    if (status == HW_OK)
        status = hw_gpu_get(*staging, id, count * sizeof *id, err);
    if (status != HW_OK)
        return status;
    const uint32_t *ids = *staging;
#pragma omp parallel for if (count > 1 << 16)
    for (size_t k = 0; k < count; k++)
        parent[k] = ids[k] == HW_INVALID_VERTEX ? HW_GID_NONE : (hw_gid)ids[k];
    return HW_OK;
}

enum hw_status hw_gpu_count_parents(const uint32_t *parent, uint64_t count, uint32_t *counter,
                                    hw_count *reached, struct hw_error *err)
{
    uint32_t parents = 0;
    enum hw_status status = hw_gpu_fill(counter, 0, sizeof parents, err);

    if (status == HW_OK)
        status = hw_cuda(hw_gpu_launch_count_parents(parent, count, counter),
                         "the kernel that counts parents", err);
    if (status == HW_OK)
        status = hw_gpu_get(&parents, counter, sizeof parents, err);
    *reached = parents;
    return status;
}
