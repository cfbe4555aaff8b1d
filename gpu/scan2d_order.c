/* Method `scan2d` on a grid of GPUs: the order of rows within lists, by their positions in their
 * blocks, so that the hubs of all blocks come first. Lists of grids of one column have it. */
#include "scan2d_state.h"

#include "base/sort.h"
#include "sort.h"

#include <cuda_runtime_api.h>

/* Keys that are sorted at a time, where no list is longer. */
#define KEYS ((hw_count)4 << 20)

struct sorting {
    struct hw_gpu_arrays arrays;
    struct hw_gpu_keys keys;
    char *scratch;
    size_t bytes;
    hw_count capacity;
};

/* Where the list of a local column begins, or that of the one after the last. */
static hw_count list_begin(const struct hw_parts_engine *engine, hw_count column)
{
    const struct hw_scan2d_state *state = engine->state;
    const struct hw_part *part = engine->part;
    const hw_count r = column / state->plan.block, t = column % state->plan.block;
    const hw_count in_block = t < part->grid.block ? t : part->grid.block;

    return r < state->plan.rows ? part->grid.out.offset[r * part->grid.block + in_block]
                                : state->edges;
}

static hw_count columns_of(const struct hw_grid_plan *own)
{
    return (hw_count)own->rows * own->block;
}

/* Whether some list is in another order. Local. */
static enum hw_status find_unsorted(const struct hw_parts_engine *engine, bool *unsorted,
                                    struct hw_error *err)
{
    const struct hw_scan2d_state *state = engine->state;
    uint32_t found = 0;
    enum hw_status status = hw_gpu_fill(state->never, 0, sizeof *state->never, err);

    if (status == HW_OK)
        status = hw_cuda(hw_grid_launch_find_unsorted(&state->plan, state->never),
                         "the kernel that looks at lists", err);
    if (status == HW_OK)
        status = hw_gpu_get(&found, state->never, sizeof found, err);
    *unsorted = found != 0;
    return status;
}

static enum hw_status open_sorting(const struct hw_parts_engine *engine, struct sorting *self,
                                   struct hw_error *err)
{
    const struct hw_scan2d_state *state = engine->state;
    const hw_count columns = columns_of(&state->plan);
    hw_count longest = 0;

#pragma omp parallel for reduction(max : longest)
    for (hw_count u = 0; u < columns; u++) {
        const hw_count length = list_begin(engine, u + 1) - list_begin(engine, u);
        longest = length > longest ? length : longest;
    }
    self->capacity = state->edges < KEYS ? state->edges : KEYS;
    self->capacity = longest > self->capacity ? longest : self->capacity;
    enum hw_status status = hw_cuda(
        hw_gpu_sort_scratch((uint64_t)self->capacity, false, &self->bytes), "sorting lists", err);
    for (int k = 0; k < 2; k++)
        hw_gpu_add(&self->arrays, &self->keys.key[k], self->capacity, sizeof(uint64_t));
    hw_gpu_add(&self->arrays, &self->scratch, (hw_count)self->bytes, 1);
    return status == HW_OK ? hw_gpu_allocate(&self->arrays, 0, "sorting lists", err) : status;
}

/* Sorts the lists of the columns first .. end, `count` entries from `begin` on. Local. */
static enum hw_status sort_some(const struct hw_parts_engine *engine, struct sorting *self,
                                hw_count first, hw_count end, hw_count begin, hw_count count,
                                struct hw_error *err)
{
    const struct hw_scan2d_state *state = engine->state;
    const struct hw_grid_keys keys = {(uint32_t)first, (uint32_t)end, (uint64_t)begin,
                                      (uint64_t)count};
    int code = hw_grid_launch_make_keys(&state->plan, &keys, self->keys.key[0]);

    if (code == 0)
        code =
            hw_gpu_launch_sort(&self->keys, (uint64_t)count, 32 + hw_bits((uint64_t)(end - first)),
                               self->scratch, self->bytes);
    if (code == 0)
        code = hw_grid_launch_put_keys(&state->plan, &keys, self->keys.key[0]);
    return hw_cuda(code, "sorting lists", err);
}

enum hw_status hw_scan2d_order(const struct hw_parts_engine *engine, struct hw_error *err)
{
    const struct hw_scan2d_state *state = engine->state;
    const hw_count columns = columns_of(&state->plan);
    struct sorting self = {.bytes = 0};
    bool unsorted = false;
    enum hw_status status = find_unsorted(engine, &unsorted, err);

    if (status != HW_OK || !unsorted)
        return status;
    status = open_sorting(engine, &self, err);
    for (hw_count first = 0, end; first < columns && status == HW_OK; first = end) {
        const hw_count begin = list_begin(engine, first);
        for (end = first + 1; end < columns && list_begin(engine, end + 1) - begin <= self.capacity;
             end++)
            ;
        const hw_count count = list_begin(engine, end) - begin;
        if (count > 0)
            status = sort_some(engine, &self, first, end, begin, count, err);
    }
    if (status == HW_OK)
        status = hw_cuda((int)cudaDeviceSynchronize(), "sorting lists", err);
    hw_gpu_release(&self.arrays);
    return status;
}
