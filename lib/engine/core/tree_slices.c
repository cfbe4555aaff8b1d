#include "lib/engine/core/tree_slices.h"

#include "lib/base/memory.h"
#include "lib/comm/exchange/large_alltoallv.h"

#include <stdlib.h>

/* The longest slice of any rank. */
static hw_count longest_slice(hw_gid vertices, int ranks)
{
    hw_count longest = 0;

    for (int r = 0; r < ranks; r++) {
        hw_count first = 0, length = 0;
        hw_store_share(vertices, r, ranks, &first, &length);
        longest = length > longest ? length : longest;
    }
    return longest;
}

hw_count hw_tree_bytes(hw_gid vertices, int ranks)
{
    return longest_slice(vertices, ranks) * (hw_count)(sizeof(hw_lid) + sizeof(int64_t));
}

/* Counts this part's vertices in each rank's slice. */
static enum hw_status count_own(const struct hw_context *ctx, const struct hw_part *part,
                                hw_count *count, struct hw_error *err)
{
    const struct hw_part_vertices *own = &part->own;
    hw_lid i = 0;

    for (int r = 0; r < ctx->size; r++) {
        hw_count first = 0, length = 0;
        hw_store_share(part->vertices, r, ctx->size, &first, &length);
        for (count[r] = 0; i < own->count; i++, count[r]++)
            if (own->graph_id[own->by_graph_id[i]] >= first + length)
                break;
    }
    if (i != own->count)
        return hw_fail(err, HW_BAD_INPUT, "part %d owns vertices that the graph has not",
                       part->index);
    return HW_OK;
}

/* Turns the graph ids received into places, each of which must come once. */
static enum hw_status place_ids(struct hw_tree *tree, const hw_gid *id, hw_count count,
                                struct hw_error *err)
{
    bool *taken = NULL;
    bool right = count == tree->length;
    enum hw_status status =
        hw_alloc_zero(&taken, tree->length, sizeof *taken, "places of vertices", err);

    for (hw_count i = 0; i < count && right && status == HW_OK; i++) {
        hw_count at = id[i] - tree->first;
        right = at >= 0 && at < tree->length && !taken[at];
        if (!right)
            break;
        taken[at] = true;
        tree->place[i] = (hw_lid)at;
    }
    if (status == HW_OK && !right)
        status = hw_fail(err, HW_BAD_INPUT, "the parts do not own each vertex once");
    free(taken);
    return status;
}

/* Sends every vertex's graph id to the rank of its slice. Collective. */
static enum hw_status exchange_ids(struct hw_tree *tree, const struct hw_part *part,
                                   struct hw_error *err)
{
    const struct hw_part_vertices *own = &part->own;
    hw_gid *sorted = NULL, *received = NULL;
    hw_count count = 0;
    enum hw_status status = hw_agree(
        tree->ctx->world, hw_alloc(&sorted, own->count, sizeof *sorted, "sorted ids", err), err);
    if (status != HW_OK)
        goto done;
    for (hw_lid i = 0; i < own->count; i++)
        sorted[i] = own->graph_id[own->by_graph_id[i]];
    status = hw_alltoallv(tree->ctx->world, sizeof *sorted, sorted, tree->send_count, &received,
                          tree->receive_count, err);
    if (status != HW_OK)
        goto done;
    for (int r = 0; r < tree->ctx->size; r++)
        count += tree->receive_count[r];
    status = hw_agree(tree->ctx->world, place_ids(tree, received, count, err), err);
done:
    free(sorted);
    free(received);
    return status;
}

/* Allocates the tree's arrays and counts what is sent to each rank. Local. */
static enum hw_status alloc_slices(struct hw_tree *tree, const struct hw_part *part,
                                   struct hw_error *err)
{
    const int ranks = tree->ctx->size;

    if (tree->length > (hw_count)HW_LID_NONE)
        return hw_fail(err, HW_BAD_INPUT,
                       "%" PRI_COUNT " vertices on a rank are more than 32 bits number; use more "
                       "ranks",
                       tree->length);
    HW_TRY(hw_alloc_zero(&tree->send_count, ranks, sizeof(hw_count), "counts", err));
    HW_TRY(hw_alloc_zero(&tree->receive_count, ranks, sizeof(hw_count), "counts", err));
    HW_TRY(hw_alloc(&tree->place, tree->length, sizeof *tree->place, "places", err));
    HW_TRY(hw_alloc(&tree->received, tree->length, sizeof *tree->received, "slices", err));
    return count_own(tree->ctx, part, tree->send_count, err);
}

enum hw_status hw_tree_open(const struct hw_context *ctx, const struct hw_part *part,
                            struct hw_tree *tree, struct hw_error *err)
{
    *tree = (struct hw_tree){.ctx = ctx};
    hw_store_share(part->vertices, ctx->rank, ctx->size, &tree->first, &tree->length);
    enum hw_status status = hw_agree(ctx->world, alloc_slices(tree, part, err), err);
    if (status == HW_OK)
        status = exchange_ids(tree, part, err);
    if (status != HW_OK)
        hw_tree_close(tree);
    return status;
}

enum hw_status hw_tree_slice(struct hw_tree *tree, size_t size, const void *own, void *slice,
                             struct hw_error *err)
{
    hw_count length = tree->length;
    const hw_lid *place = tree->place;

    HW_TRY(hw_alltoallv_into(tree->ctx->world, size, own, tree->send_count, tree->received,
                             tree->receive_count, err));
    if (size == sizeof(int32_t)) {
        const int32_t *from = (const int32_t *)(const void *)tree->received;
        int32_t *to = slice;
#pragma omp parallel for if (length > 1 << 16)
        for (hw_count i = 0; i < length; i++)
            to[place[i]] = from[i];
    } else {
        int64_t *to = slice;
#pragma omp parallel for if (length > 1 << 16)
        for (hw_count i = 0; i < length; i++)
            to[place[i]] = tree->received[i];
    }
    return HW_OK;
}

void hw_tree_close(struct hw_tree *tree)
{
    free(tree->send_count);
    free(tree->receive_count);
    free(tree->place);
    free(tree->received);
    *tree = (struct hw_tree){0};
}

enum hw_status hw_tree_define(struct hw_store *store, const struct hw_values *values, hw_count rows,
                              hw_gid vertices, struct hw_error *err)
{
    HW_TRY(hw_store_define_rows(store, values->path, values->type, rows, vertices, err));
    return hw_store_define_rows(store, "/parent", HW_I64, rows, vertices, err);
}

enum hw_status hw_tree_write(const struct hw_tree *tree, struct hw_store *store,
                             const struct hw_values *values, hw_count row, const void *value,
                             const hw_gid *parent, struct hw_error *err)
{
    HW_TRY(
        hw_store_write_together(store, values->path, row, tree->first, tree->length, value, err));
    return hw_store_write_together(store, "/parent", row, tree->first, tree->length, parent, err);
}
