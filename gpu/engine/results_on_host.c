#include "gpu/engine/results_on_host.h"

#include "gpu/device/device.h"
#include "gpu/engine/result_kernels.h"

static enum hw_status get_parents(const struct hw_result_view *view, size_t count,
                                  uint32_t *staging, hw_gid *parent, struct hw_error *err)
{
    enum hw_status status = hw_gpu_get(staging, view->parent, count * sizeof *staging, err);

    if (status != HW_OK)
        return status;
#pragma omp parallel for if (count > 1 << 16)
    for (size_t k = 0; k < count; k++)
        parent[k] = staging[k] == HW_INVALID_VERTEX ? HW_GID_NONE : (hw_gid)staging[k];
    return HW_OK;
}

/* Distances of 32-bit integers, to 64 bits. */
static enum hw_status get_narrow_distances(const struct hw_result_view *view, size_t count,
                                           uint32_t *staging, int64_t *distance,
                                           struct hw_error *err)
{
    const int32_t *narrow = (const int32_t *)staging;
    enum hw_status status = hw_gpu_get(staging, view->values, count * sizeof *narrow, err);

    if (status != HW_OK)
        return status;
#pragma omp parallel for if (count > 1 << 16)
    for (size_t k = 0; k < count; k++)
        distance[k] = narrow[k];
    return HW_OK;
}

enum hw_status hw_gpu_get_results(const struct hw_result_view *view, const struct hw_part *part,
                                  uint32_t **staging, struct hw_result *result,
                                  struct hw_error *err)
{
    const size_t n = part->own.count;
    enum hw_status status = hw_gpu_pin(staging, n, err);

    if (status == HW_OK)
        status = get_parents(view, n, *staging, result->parent, err);
    if (status != HW_OK)
        return status;
    if (!view->distances)
        return hw_gpu_get(result->level, view->values, n * sizeof *result->level, err);
    if (part->weights == HW_WEIGHTS_F32)
        return hw_gpu_get(result->distance_f32, view->values, n * sizeof *result->distance_f32,
                          err);
    if (view->bits == 64)
        return hw_gpu_get(result->distance_i64, view->values, n * sizeof *result->distance_i64,
                          err);
    return get_narrow_distances(view, n, *staging, result->distance_i64, err);
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
