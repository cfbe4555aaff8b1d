#include "gpu/validate/device_validate.h"

#include "gpu/validate/tree_validation.h"
#include "lib/comm/exchange/large_alltoallv.h"
#include "lib/verify/rules/root_batch.h"

/* Validates all trees, as many at a time as fit. size: bytes of a value. Collective; ranks agree.
 */
static enum hw_status validate_all(struct hw_tree_validation *self,
                                   const struct hw_tree_batch *trees, size_t size,
                                   struct hw_validation *validation, struct hw_error *err)
{
    const hw_count batch = self->trees.roots, k = trees->k;
    enum hw_status status = HW_OK;

    for (hw_count at = 0; at < k && status == HW_OK; at += batch) {
        for (hw_count t = at; t < k && t < at + batch && status == HW_OK; t++)
            status = hw_tree_validation_upload(
                self, trees->root[t], (const char *)trees->value + (size_t)(t * self->own) * size,
                trees->parent + t * self->own, err);
        status = hw_agree(self->ctx->world, status, err);
        if (status == HW_OK)
            status = hw_tree_validation_validate(self, validation + at, NULL, err);
    }
    return status;
}

enum hw_status hw_gpu_verify_over(const struct hw_context *ctx, const struct hw_transport *over,
                                  struct hw_graph *graph, const struct hw_tree_batch *trees,
                                  enum hw_value value, struct hw_validation *validation,
                                  struct hw_error *err)
{
    static const enum hw_gpu_value kinds[] = {[HW_VALUE_LEVEL] = HW_GPU_LEVELS,
                                              [HW_VALUE_F32] = HW_GPU_FLOATS,
                                              [HW_VALUE_I64] = HW_GPU_INTS};
    const struct hw_tree_validation_request request = {
        .graph = graph, .over = over, .trees = trees->k, .value = kinds[value], .uploads = true};
    struct hw_tree_validation self = {0};
    enum hw_status status =
        hw_verify_roots(trees->k, trees->root, hw_graph_desc(graph)->vertices, err);

    if (status != HW_OK || trees->k == 0)
        return status;
    status = hw_tree_validation_open(ctx, &request, &self, err);
    if (status == HW_OK)
        status = validate_all(&self, trees, hw_value_size(value), validation, err);
    hw_tree_validation_close(&self);
    return status;
}

/* Validates trees; HW_RESOURCES if they do not fit on the devices. Collective; ranks agree. */
static enum hw_status validate_on_devices(const struct hw_context *ctx, struct hw_graph *graph,
                                          const struct hw_tree_batch *trees, enum hw_value value,
                                          struct hw_validation *validation, struct hw_error *err)
{
    struct hw_context silent = *ctx;

    silent.quiet = true; /* the search has reported its transport already */
    return hw_gpu_verify_over(&silent, NULL, graph, trees, value, validation, err);
}

enum hw_status hw_gpu_verify_bfs(const struct hw_context *ctx, struct hw_graph *graph,
                                 const struct hw_tree_batch *trees,
                                 struct hw_validation *validation, struct hw_error *err)
{
    enum hw_status status = validate_on_devices(ctx, graph, trees, HW_VALUE_LEVEL, validation, err);

    if (status != HW_RESOURCES)
        return status;
    hw_note(ctx, "validating on the CPU: %s",
            err ? err->text : "the devices have too little memory");
    return hw_verify_bfs(ctx, graph, trees, validation, err);
}

/* Whether distances of some rank exceed the 32 bits that devices store. Collective. */
static enum hw_status find_wide(const struct hw_context *ctx, hw_count length,
                                const int64_t *distance, bool *far, struct hw_error *err)
{
    hw_count beyond = 0;

#pragma omp parallel for reduction(+ : beyond)
    for (hw_count i = 0; i < length; i++)
        beyond += distance[i] >= HW_GPU_NO_INT || distance[i] <= -HW_GPU_NO_INT;
    enum hw_status status = hw_largest(ctx->world, &beyond, err);
    *far = beyond > 0;
    return status;
}

enum hw_status hw_gpu_verify_sssp(const struct hw_context *ctx, struct hw_graph *graph,
                                  const struct hw_tree_batch *trees,
                                  struct hw_validation *validation, struct hw_error *err)
{
    const struct hw_graph_desc *desc = hw_graph_desc(graph);
    const enum hw_value value = desc->weights == HW_WEIGHTS_F32 ? HW_VALUE_F32 : HW_VALUE_I64;
    hw_count first, length;
    bool beyond = desc->weights == HW_WEIGHTS_NONE;
    enum hw_status status = HW_OK;

    for (hw_count i = 0; i < trees->k && trees->cycle; i++)
        beyond = beyond || trees->cycle[i].length > 0;
    hw_store_share(desc->vertices, ctx->rank, ctx->size, &first, &length);
    if (!beyond && value == HW_VALUE_I64)
        status = find_wide(ctx, trees->k * length, trees->value, &beyond, err);
    if (status == HW_OK && !beyond) {
        status = validate_on_devices(ctx, graph, trees, value, validation, err);
        if (status != HW_RESOURCES)
            return status;
        hw_note(ctx, "validating on the CPU: %s",
                err ? err->text : "the devices have too little memory");
        status = HW_OK;
    }
    return status == HW_OK ? hw_verify_sssp(ctx, graph, trees, validation, err) : status;
}
