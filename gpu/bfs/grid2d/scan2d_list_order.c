/*
 * Method `scan2d` on a grid of GPUs: the order of entries within lists, by position within blocks,
 * so that the hubs of all blocks come first under --order degree; and the lists by row, from those
 * by column. Lists are sorted on the device by radix sorts of (list, position) keys, as many lists
 * at a time as fit.
 */
#include "gpu/bfs/grid2d/scan2d_grid_host.h"

#include "gpu/device/device_sort.h"
#include "lib/base/memory.h"
#include "lib/base/radix_sort.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>

/* Keys that are sorted at a time, if no list is longer. */
#define KEYS ((hw_count)4 << 20)

struct sorting {
    const struct hw_scan2d_grid_params *params;
    hw_count columns;
    void *offset; /* [columns + 1] as on the device */
    struct hw_gpu_arrays arrays;
    struct hw_gpu_keys keys;
    char *scratch;
    size_t bytes;
    hw_count capacity;
};

/* The offset of the list of a local column, or the end of the last list. */
static hw_count list_begin(const struct sorting *self, hw_count column)
{
    return self->params->config.offsets64 ? (hw_count)((const uint64_t *)self->offset)[column]
                                          : (hw_count)((const uint32_t *)self->offset)[column];
}

/* Whether some list is in another order. Local. */
static enum hw_status find_unsorted(const struct hw_scan2d_grid_params *params, uint32_t *word,
                                    bool *unsorted, struct hw_error *err)
{
    uint32_t found = 0;
    enum hw_status status = hw_gpu_fill(word, 0, sizeof *word, err);

    if (status == HW_OK)
        status = hw_cuda(hw_scan2d_grid_launch_find_unsorted(params, word),
                         "the kernel that checks the order of lists", err);
    if (status == HW_OK)
        status = hw_gpu_get(&found, word, sizeof found, err);
    *unsorted = found != 0;
    return status;
}

/* The most keys that are sorted together; those of the longest list fit. */
static hw_count find_capacity(const struct sorting *self)
{
    const hw_count edges = list_begin(self, self->columns);
    hw_count longest = 0;

#pragma omp parallel for reduction(max : longest)
    for (hw_count u = 0; u < self->columns; u++) {
        const hw_count length = list_begin(self, u + 1) - list_begin(self, u);
        longest = length > longest ? length : longest;
    }
    const hw_count keys_at_once = edges < KEYS ? edges : KEYS;
    return longest > keys_at_once ? longest : keys_at_once;
}

static enum hw_status open_sorting(struct sorting *self, struct hw_error *err)
{
    const size_t width = self->params->config.offsets64 ? sizeof(uint64_t) : sizeof(uint32_t);
    const size_t bytes = (size_t)(self->columns + 1) * width;
    enum hw_status status = hw_alloc(&self->offset, (hw_count)bytes, 1, "offsets", err);

    if (status == HW_OK)
        status = hw_gpu_get(self->offset, self->params->by_column.offset, bytes, err);
    if (status != HW_OK)
        return status;
    self->capacity = find_capacity(self);
    status = hw_cuda(hw_gpu_sort_scratch((uint64_t)self->capacity, false, &self->bytes),
                     "sorting lists", err);
    for (int k = 0; k < 2; k++)
        hw_gpu_add(&self->arrays, &self->keys.key[k], self->capacity, sizeof(uint64_t));
    hw_gpu_add(&self->arrays, &self->scratch, (hw_count)self->bytes, 1);
    return status == HW_OK ? hw_gpu_allocate(&self->arrays, 0, "sorting lists", err) : status;
}

/* Sorts the lists of the columns first .. end, `count` entries from `begin` on. Local. */
static enum hw_status sort_lists(struct sorting *self, hw_count first, hw_count end, hw_count begin,
                                 hw_count count, struct hw_error *err)
{
    const struct hw_scan2d_grid_keys keys = {(uint32_t)first, (uint32_t)end, (uint64_t)begin,
                                             (uint64_t)count};
    int code = hw_scan2d_grid_launch_make_keys(self->params, &keys, self->keys.key[0]);

    if (code == 0)
        code =
            hw_gpu_launch_sort(&self->keys, (uint64_t)count, 32 + hw_bits((uint64_t)(end - first)),
                               self->scratch, self->bytes);
    if (code == 0)
        code = hw_scan2d_grid_launch_apply_keys(self->params, &keys, self->keys.key[0]);
    return hw_cuda(code, "sorting lists", err);
}

static enum hw_status sort_all(struct sorting *self, struct hw_error *err)
{
    enum hw_status status = HW_OK;

    for (hw_count first = 0, end; first < self->columns && status == HW_OK; first = end) {
        const hw_count begin = list_begin(self, first);
        for (end = first + 1;
             end < self->columns && list_begin(self, end + 1) - begin <= self->capacity; end++)
            ;
        const hw_count count = list_begin(self, end) - begin;
        if (count > 0)
            status = sort_lists(self, first, end, begin, count, err);
    }
    return status == HW_OK ? hw_cuda((int)cudaDeviceSynchronize(), "sorting lists", err) : status;
}

enum hw_status hw_scan2d_order(const struct hw_scan2d_grid_params *params, uint32_t *word,
                               struct hw_error *err)
{
    struct sorting self = {.params = params,
                           .columns = (hw_count)params->config.rows * params->config.block};
    bool unsorted = false;
    enum hw_status status = find_unsorted(params, word, &unsorted, err);

    if (status != HW_OK || !unsorted)
        return status;
    status = open_sorting(&self, err);
    if (status == HW_OK)
        status = sort_all(&self, err);
    hw_gpu_release(&self.arrays);
    free(self.offset);
    return status;
}

/* Fills by_row. Local. */
static enum hw_status transpose(const struct hw_scan2d_grid_params *params, hw_count edges,
                                struct hw_error *err)
{
    struct hw_gpu_arrays arrays = {.count = 0};
    char *scratch = NULL;
    size_t bytes = 0;
    enum hw_status status =
        hw_cuda(hw_scan2d_grid_launch_transpose(params, (uint64_t)edges, NULL, &bytes),
                "transposing lists", err);

    hw_gpu_add(&arrays, &scratch, (hw_count)bytes, 1);
    if (status == HW_OK)
        status = hw_gpu_allocate(&arrays, 0, "transposing lists", err);
    if (status == HW_OK)
        status = hw_cuda(hw_scan2d_grid_launch_transpose(params, (uint64_t)edges, scratch, &bytes),
                         "transposing lists", err);
    if (status == HW_OK)
        status = hw_cuda((int)cudaDeviceSynchronize(), "transposing lists", err);
    hw_gpu_release(&arrays);
    return status;
}

enum hw_status hw_scan2d_transpose(const struct hw_scan2d_grid_params *params, hw_count edges,
                                   uint32_t *word, struct hw_error *err)
{
    struct hw_scan2d_grid_params transposed = *params;
    enum hw_status status = transpose(params, edges, err);

    transposed.by_column = params->bottom_up.by_row;
    transposed.config.rows = params->config.columns;
    transposed.config.columns = params->config.rows;
    if (status == HW_OK)
        status = hw_scan2d_order(&transposed, word, err);
    return status == HW_OK ? hw_cuda(hw_scan2d_grid_launch_find_heads(params),
                                     "the kernel that copies heads of lists", err)
                           : status;
}
