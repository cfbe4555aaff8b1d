#include "lib/verify/listed_vertices.h"

#include "lib/base/memory.h"

#include <stdlib.h>

bool hw_tree_lists_vertices(const struct hw_store *tree)
{
    return hw_store_has(tree, HW_AT_ROOT, "listed");
}

/* Numbers the graph's vertices as the searches did, which needs the roots. Collective. */
static enum hw_status compact(const struct hw_context *ctx, struct hw_store *tree,
                              struct hw_graph *graph, struct hw_error *err)
{
    const hw_gid vertices = hw_graph_vertices(graph);
    struct hw_shape shape = {.type = HW_I64};
    hw_gid *root = NULL;

    hw_store_shape(tree, "/roots", &shape);
    enum hw_status status =
        hw_agree(ctx->world, hw_alloc(&root, shape.columns, sizeof *root, "roots", err), err);
    if (status == HW_OK)
        status = hw_store_read_all(tree, "/roots", HW_I64, shape.columns, root, err);
    for (hw_count i = 0; i < shape.columns && status == HW_OK; i++)
        if (root[i] < 0 || root[i] >= vertices)
            status = hw_fail(err, HW_BAD_INPUT,
                             "%s: root %" PRI_GID " is not among the %" PRI_GID " vertices",
                             hw_store_path(tree), root[i], vertices);
    if (status == HW_OK)
        status = hw_graph_compact(ctx, graph, shape.columns, root, err);
    free(root);
    return status;
}

/* Compares this rank's share of the list. Local. */
static enum hw_status check_share(const struct hw_context *ctx, struct hw_store *tree,
                                  const struct hw_graph *graph, struct hw_error *err)
{
    const struct hw_compact_ids *ids = hw_graph_compact_ids(graph);
    hw_count first = 0, length = 0, right = 0;
    hw_gid *id = NULL;

    hw_store_share(hw_compact_ids_count(ids), ctx->rank, ctx->size, &first, &length);
    HW_TRY(hw_alloc(&id, length, sizeof *id, "vertices", err));
    enum hw_status status = hw_store_read(tree, "/vertex", 0, first, length, id, err);
    while (status == HW_OK && right < length &&
           id[right] == hw_compact_ids_original(ids, first + right))
        right++;
    if (status == HW_OK && right < length)
        status = hw_fail(err, HW_BAD_INPUT,
                         "%s: lists vertex %" PRI_GID " where %s has %" PRI_GID " as the next one "
                         "with edges",
                         hw_store_path(tree), id[right], hw_graph_path(graph),
                         hw_compact_ids_original(ids, first + right));
    free(id);
    return status;
}

enum hw_status hw_tree_check_list(const struct hw_context *ctx, struct hw_store *tree,
                                  const struct hw_graph *graph, struct hw_error *err)
{
    struct hw_shape shape;

    if (!hw_store_shape(tree, "/vertex", &shape))
        return hw_fail(err, HW_BAD_INPUT, "%s: holds no trees", hw_store_path(tree));
    if (shape.columns != hw_graph_desc(graph)->vertices)
        return hw_fail(err, HW_BAD_INPUT,
                       "%s: lists %" PRI_COUNT " vertices, but %s has %" PRI_GID " with edges",
                       hw_store_path(tree), shape.columns, hw_graph_path(graph),
                       hw_graph_desc(graph)->vertices);
    HW_TRY_ALL(ctx, check_share(ctx, tree, graph, err), err);
    return hw_store_verify(tree, "/vertex", err);
}

enum hw_status hw_tree_compact_graph(const struct hw_context *ctx, struct hw_store *tree,
                                     struct hw_graph *graph, bool expected, struct hw_error *err)
{
    if (!hw_tree_lists_vertices(tree))
        return HW_OK;
    if (expected) {
        hw_graph_expect_compact(graph);
        return HW_OK;
    }
    HW_TRY(compact(ctx, tree, graph, err));
    return hw_tree_check_list(ctx, tree, graph, err);
}
