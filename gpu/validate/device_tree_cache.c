#include "gpu/validate/device_tree_cache.h"

#include "gpu/validate/tree_validation.h"
#include "lib/base/memory.h"

#include <stdlib.h>

void hw_gpu_tree_cache_close(struct hw_gpu_tree_cache *self)
{
    if (self->validation) {
        hw_tree_validation_close(self->validation);
        free(self->validation);
        self->validation = NULL;
    }
    hw_reached_count_close(&self->counting);
}

/* The type of the values of trees. HW_RESOURCES where the 32-bit records of the validation cannot
 * hold them. */
static enum hw_status value_kind(const struct hw_result_view *view, enum hw_weights weights,
                                 enum hw_gpu_value *value, struct hw_error *err)
{
    *value = HW_GPU_LEVELS;
    if (!view->distances)
        return HW_OK;
    if (view->negative)
        return hw_fail(err, HW_RESOURCES, "a search may find a negative cycle");
    if (view->bits > 32)
        return hw_fail(err, HW_RESOURCES, "distances have %d bits", view->bits);
    *value = weights == HW_WEIGHTS_F32 ? HW_GPU_FLOATS : HW_GPU_INTS;
    return HW_OK;
}

/* Collective; ranks agree: all have the same view. */
static enum hw_status open_validation(void *engine, struct hw_graph *graph, int *max_trees,
                                      struct hw_error *err)
{
    struct hw_gpu_tree_cache *self = engine;
    struct hw_tree_validation_request request = {.graph = graph,
                                                 .own = &self->part->own,
                                                 .over = self->transport,
                                                 .trees = HW_GPU_MAX_TREES};
    enum hw_status status =
        value_kind(&self->view, hw_graph_desc(graph)->weights, &request.value, err);

    if (status != HW_OK)
        return status;
    status = hw_agree(
        self->ctx->world,
        hw_alloc_zero(&self->validation, 1, sizeof *self->validation, "validation", err), err);
    if (status != HW_OK) {
        free(self->validation);
        self->validation = NULL;
        return status;
    }
    status = hw_tree_validation_open(self->ctx, &request, self->validation, err);
    if (status != HW_OK) {
        hw_tree_validation_close(self->validation);
        free(self->validation);
        self->validation = NULL;
        return status;
    }
    *max_trees = self->validation->trees.roots;
    return HW_OK;
}

static enum hw_status keep(void *engine, hw_gid root, struct hw_error *err)
{
    const struct hw_gpu_tree_cache *self = engine;

    return hw_tree_validation_store(self->validation, root, self->view.values, self->view.parent,
                                    err);
}

static enum hw_status validate(void *engine, struct hw_validation *validation, hw_count *levels,
                               struct hw_error *err)
{
    const struct hw_gpu_tree_cache *self = engine;

    return hw_tree_validation_validate(self->validation, validation, levels, err);
}

static enum hw_status open_counting(void *engine, struct hw_error *err)
{
    struct hw_gpu_tree_cache *self = engine;

    return hw_reached_count_open(&self->counting, self->part, &self->view, err);
}

static enum hw_status count(void *engine, struct hw_reached_counts *counts, struct hw_error *err)
{
    const struct hw_gpu_tree_cache *self = engine;

    return hw_reached_count_count(&self->counting, counts, err);
}

const struct hw_tree_cache hw_gpu_tree_cache_functions = {.open = open_validation,
                                                          .keep = keep,
                                                          .validate = validate,
                                                          .open_counting = open_counting,
                                                          .count = count};
