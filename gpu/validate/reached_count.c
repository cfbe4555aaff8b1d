#include "gpu/validate/reached_count.h"

#include "lib/base/memory.h"

#include <stdlib.h>

/* Tuple ends that are copied to the device at a time. */
#define CHUNK_DEGREES ((hw_count)1 << 20)

/* Whether some vertex has more tuple ends than 32 bits hold. */
static bool is_wide(const struct hw_part_vertices *own)
{
    hw_count most = 0;

#pragma omp parallel for reduction(max : most) if (own->count > 1 << 16)
    for (hw_lid p = 0; p < own->count; p++)
        most = own->tuples[p] > most ? own->tuples[p] : most;
    return most > (hw_count)UINT32_MAX;
}

/* Tuple ends of the own vertices `first` and on, by rising graph id. piece: [count]. */
static void fill(const struct hw_part_vertices *own, hw_count first, hw_count count, bool wide,
                 void *piece)
{
    uint64_t *all = piece;
    uint32_t *low = piece;

#pragma omp parallel for if (count > 1 << 16)
    for (hw_count i = 0; i < count; i++) {
        const hw_count ends = own->tuples[own->by_graph_id[first + i]];
        if (wide)
            all[i] = (uint64_t)ends;
        else
            low[i] = (uint32_t)ends;
    }
}

/* Copies the tuple ends to the device. */
static enum hw_status put_degrees(const struct hw_reached_count *self,
                                  const struct hw_part_vertices *own, struct hw_error *err)
{
    const bool wide = self->job.wide;
    const hw_count size = wide ? sizeof(uint64_t) : sizeof(uint32_t), count = own->count;
    char *to = (char *)(uintptr_t)self->job.ends;
    void *piece = NULL;
    enum hw_status status = hw_alloc(&piece, (count < CHUNK_DEGREES ? count : CHUNK_DEGREES) * size,
                                     1, "tuple ends", err);

    for (hw_count first = 0; first < count && status == HW_OK; first += CHUNK_DEGREES) {
        const hw_count length = count - first < CHUNK_DEGREES ? count - first : CHUNK_DEGREES;
        fill(own, first, length, wide, piece);
        status = hw_gpu_put(to + first * size, piece, (size_t)(length * size), err);
    }
    free(piece);
    return status;
}

static enum hw_gpu_counted counted_of(const struct hw_part *part,
                                      const struct hw_result_view *found)
{
    if (!found->distances)
        return HW_GPU_COUNTED_LEVELS;
    if (part->weights == HW_WEIGHTS_F32)
        return HW_GPU_COUNTED_FLOATS;
    return found->bits > 32 ? HW_GPU_COUNTED_INT64 : HW_GPU_COUNTED_INT32;
}

enum hw_status hw_reached_count_open(struct hw_reached_count *self, const struct hw_part *part,
                                     const struct hw_result_view *found, struct hw_error *err)
{
    const struct hw_part_vertices *own = &part->own;

    if (found->distances && found->negative)
        return hw_fail(err, HW_RESOURCES, "a search may find a negative cycle");
    self->job = (struct hw_reached_count_job){.count = own->count,
                                              .vertices = (uint64_t)part->vertices,
                                              .parent = found->parent,
                                              .values = found->values,
                                              .wide = is_wide(own),
                                              .counted = counted_of(part, found)};
    hw_gpu_add(&self->arrays, &self->job.ends, own->count,
               self->job.wide ? sizeof(uint64_t) : sizeof(uint32_t));
    hw_gpu_add(&self->arrays, &self->sum, 1, sizeof *self->sum);
    enum hw_status status = hw_gpu_allocate(&self->arrays, 0, "counting reached vertices", err);
    return status == HW_OK ? put_degrees(self, own, err) : status;
}

enum hw_status hw_reached_count_count(const struct hw_reached_count *self,
                                      struct hw_reached_counts *counts, struct hw_error *err)
{
    struct hw_gpu_count sum = {0};
    enum hw_status status = hw_gpu_fill(self->sum, 0, sizeof sum, err);

    if (status == HW_OK)
        status = hw_cuda(hw_gpu_launch_count(&self->job, self->sum),
                         "the kernel that counts reached vertices", err);
    if (status == HW_OK)
        status = hw_gpu_get(&sum, self->sum, sizeof sum, err);
    *counts = (struct hw_reached_counts){.reached = (hw_count)sum.reached,
                                         .degrees = (hw_count)sum.ends,
                                         .max_level = (hw_count)sum.levels - 1,
                                         .illegal = sum.unset > 0};
    return status;
}

void hw_reached_count_close(struct hw_reached_count *self)
{
    hw_gpu_release(&self->arrays);
}
