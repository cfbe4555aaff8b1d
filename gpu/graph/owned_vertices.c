#include "gpu/graph/owned_vertices.h"

#include "gpu/device/device_sort.h"
#include "gpu/graph/build/edge_tuples.h"
#include "gpu/graph/build/vertex_order.h"
#include "lib/base/memory.h"

#include <stdlib.h>

/* Positions by rising graph id. */
static enum hw_status sort_positions(struct hw_owned_vertices *self, struct hw_part_vertices *own,
                                     struct hw_error *err)
{
    struct hw_gpu_arrays arrays = {0};
    uint32_t *sorted = NULL;
    char *scratch = NULL;
    size_t bytes = 0;
    enum hw_status status =
        hw_cuda(hw_gpu_launch_order(NULL, &bytes, false, NULL, NULL, NULL, NULL, self->count),
                "sorting vertices", err);

    hw_gpu_add(&arrays, &sorted, self->count, sizeof *sorted);
    hw_gpu_add(&arrays, &scratch, (hw_count)bytes, 1);
    if (status == HW_OK)
        status = hw_gpu_allocate(&arrays, 0, "sorting vertices", err);
    if (status == HW_OK)
        status =
            hw_cuda(hw_gpu_launch_number(self->buffer[0], self->count), "numbering vertices", err);
    if (status == HW_OK)
        status = hw_cuda(hw_gpu_launch_order(scratch, &bytes, false, self->id, sorted,
                                             self->buffer[0], self->buffer[1], self->count),
                         "sorting vertices", err);
    if (status == HW_OK)
        status = hw_gpu_get_new(own->by_graph_id, self->buffer[1],
                                self->count * sizeof *own->by_graph_id, err);
    hw_gpu_release(&arrays);
    return status;
}

enum hw_status hw_owned_vertices_open(struct hw_owned_vertices *self, const uint32_t *order,
                                      uint32_t stride, uint32_t first, struct hw_part_vertices *own,
                                      struct hw_error *err)
{
    const hw_lid count = self->count = own->count;
    enum hw_status status = hw_alloc(&self->host, count, sizeof *self->host, "vertices", err);

    hw_gpu_add(&self->arrays, &self->id, count, sizeof *self->id);
    for (int k = 0; k < 2; k++)
        hw_gpu_add(&self->arrays, &self->buffer[k], count, sizeof *self->buffer[k]);
    if (status == HW_OK)
        status = hw_gpu_allocate(&self->arrays, 0, "the vertices of a part", err);
    if (status == HW_OK)
        status = hw_cuda(hw_gpu_launch_pick(order, stride, first, count, self->id),
                         "selecting a part's vertices", err);
    if (status == HW_OK)
        status = hw_gpu_get_new(self->host, self->id, count * sizeof *self->host, err);
#pragma omp parallel for if (status == HW_OK)
    for (hw_lid p = 0; p < (status == HW_OK ? count : 0); p++)
        own->graph_id[p] = (hw_gid)self->host[p];
    return status == HW_OK ? sort_positions(self, own, err) : status;
}

enum hw_status hw_owned_vertices_get(struct hw_owned_vertices *self, const uint32_t *value,
                                     uint32_t *to, struct hw_error *err)
{
    enum hw_status status =
        hw_cuda(hw_gpu_launch_take(value, self->id, self->count, self->buffer[0]),
                "gathering attributes of a part's vertices", err);

    return status == HW_OK ? hw_gpu_get(to, self->buffer[0], self->count * sizeof *to, err)
                           : status;
}

enum hw_status hw_owned_vertices_add(struct hw_owned_vertices *self, const uint32_t *value,
                                     hw_count times, hw_count *to, struct hw_error *err)
{
    const uint32_t *host = self->host;
    enum hw_status status = hw_owned_vertices_get(self, value, self->host, err);

#pragma omp parallel for if (status == HW_OK)
    for (hw_lid p = 0; p < (status == HW_OK ? self->count : 0); p++)
        to[p] += times * (hw_count)host[p];
    return status;
}

enum hw_status hw_owned_vertices_get_counts(struct hw_owned_vertices *self, const uint64_t *value,
                                            hw_count *to, struct hw_error *err)
{
    struct hw_gpu_arrays arrays = {0};
    uint64_t *own = NULL;

    hw_gpu_add(&arrays, &own, self->count, sizeof *own);
    enum hw_status status = hw_gpu_allocate(&arrays, 0, "the vertices of a part", err);
    if (status == HW_OK)
        status = hw_cuda(hw_gpu_launch_gather(value, self->id, self->count, own),
                         "gathering attributes of a part's vertices", err);
    if (status == HW_OK)
        status = hw_gpu_get_new(to, own, self->count * sizeof *to, err);
    hw_gpu_release(&arrays);
    return status;
}

void hw_owned_vertices_close(struct hw_owned_vertices *self)
{
    hw_gpu_release(&self->arrays);
    free(self->host);
    *self = (struct hw_owned_vertices){0};
}
