#include "lib/run/component_size.h"

#include "lib/base/memory.h"
#include "lib/comm/exchange/large_alltoallv.h"
#include "lib/engine/core/result.h"

#include <stdlib.h>
#include <string.h>

/* What is known about the size of a vertex's component. */
enum { UNKNOWN, SMALL, LARGE };

/* The state of a selection. */
struct selection {
    struct hw_sampler *sampler;
    const struct hw_searcher *searcher;
    hw_count min_size;
    uint8_t *known; /* [part->own.count], by position; undirected graphs only */
    hw_count left;  /* candidates whose component is not known */
    struct hw_roots batch;
    int *owner;       /* [batch] */
    hw_lid *position; /* [batch] */
};

/* Searches from candidate i and records the size class of its component, in *size_class too. */
static enum hw_status search_candidate(struct selection *s, hw_count i, uint8_t *size_class,
                                       struct hw_error *err)
{
    const struct hw_part *part = s->sampler->part;
    const struct hw_context *ctx = s->sampler->ctx;
    struct hw_result *result = s->searcher->result;
    hw_count reached = 0;
    enum hw_status status;

    hw_result_poison(part, result);
    status = s->searcher->method->ops->search(s->searcher->engine, s->owner[i], s->position[i],
                                              result, err);
    status = hw_agree(ctx->world, status, err);
    if (status != HW_OK)
        return status;
    for (hw_lid v = 0; v < part->own.count; v++)
        reached += result->parent[v] != -1;
    status = hw_sum(ctx->world, &reached, err);
    *size_class = reached >= s->min_size ? LARGE : SMALL;
    if (part->directed || status != HW_OK)
        return status;
    for (hw_lid v = 0; v < part->own.count; v++)
        if (result->parent[v] != -1)
            s->known[part->own.by_graph_id[v]] = *size_class;
    s->left -= reached;
    return HW_OK;
}

/* Determines the size class of candidate i of the batch. Collective. */
static enum hw_status classify(struct selection *s, hw_count i, uint8_t *size_class,
                               struct hw_error *err)
{
    const struct hw_context *ctx = s->sampler->ctx;
    enum hw_status status;

    *size_class = UNKNOWN;
    if (!s->sampler->part->directed) {
        if (s->owner[i] == ctx->rank)
            *size_class = s->known[s->position[i]];
        status = hw_mpi(MPI_Bcast(size_class, 1, MPI_UINT8_T, s->owner[i], ctx->world), "MPI_Bcast",
                        err);
        if (status != HW_OK || *size_class != UNKNOWN)
            return status;
        if (s->left < s->min_size) {
            *size_class = SMALL;
            return HW_OK;
        }
    }
    return search_candidate(s, i, size_class, err);
}

/* Draws the next batch and determines owners and positions. Collective. */
static enum hw_status next_batch(struct selection *s, hw_count size, struct hw_error *err)
{
    enum hw_status status = hw_sampler_draw(s->sampler, size, &s->batch, err);

    if (status != HW_OK)
        return status;
    free(s->owner);
    free(s->position);
    s->owner = NULL;
    s->position = NULL;
    status = hw_alloc(&s->owner, s->batch.count, sizeof *s->owner, "owners", err);
    if (status == HW_OK)
        status = hw_alloc(&s->position, s->batch.count, sizeof *s->position, "positions", err);
    status = hw_agree(s->sampler->ctx->world, status, err);
    if (status != HW_OK)
        return status;
    return hw_roots_locate(s->sampler->ctx, s->sampler->part, &s->batch, s->owner, s->position,
                           err);
}

enum hw_status hw_roots_large(struct hw_sampler *sampler, const struct hw_searcher *searcher,
                              hw_count count, hw_count min_size, struct hw_roots *roots,
                              struct hw_error *err)
{
    struct selection s = {
        .sampler = sampler, .searcher = searcher, .min_size = min_size, .left = sampler->total};
    struct hw_progress bar = {0};
    enum hw_status status;

    count = count < sampler->total ? count : sampler->total;
    hw_roots_free(roots);
    status = hw_alloc(&roots->id, count, sizeof *roots->id, "roots", err);
    if (status == HW_OK)
        status = hw_alloc_zero(&s.known, sampler->part->own.count, 1, "components", err);
    status = hw_agree(sampler->ctx->world, status, err);
    while (status == HW_OK && roots->count < count && sampler->drawn < sampler->total) {
        status = next_batch(&s, count > 64 ? count : 64, err);
        for (hw_count i = 0; i < s.batch.count && status == HW_OK && roots->count < count; i++) {
            uint8_t size_class = UNKNOWN;
            status = classify(&s, i, &size_class, err);
            if (status == HW_OK && size_class == LARGE)
                roots->id[roots->count++] = s.batch.id[i];
            hw_progress(sampler->ctx, &bar, "choosing roots", roots->count, count);
        }
    }
    hw_progress_end(&bar);
    hw_roots_free(&s.batch);
    free(s.owner);
    free(s.position);
    free(s.known);
    if (status != HW_OK)
        hw_roots_free(roots);
    return status;
}
