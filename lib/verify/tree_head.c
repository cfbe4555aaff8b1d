#include "lib/verify/tree_head.h"

#include <string.h>

enum hw_status hw_tree_head_open(const struct hw_context *ctx, const char *path,
                                 struct hw_store **store, struct hw_tree_head *head,
                                 struct hw_error *err)
{
    enum hw_status status = hw_store_open(ctx, path, HW_KIND_TREE, store, err);

    if (status == HW_OK)
        status = hw_store_get_i64(*store, HW_AT_ROOT, "vertices", &head->vertices, err);
    if (status == HW_OK)
        status = hw_store_get_i64(*store, HW_AT_ROOT, "directed", &head->directed, err);
    if (status == HW_OK)
        status = hw_store_get_i64(*store, HW_AT_ROOT, "roots", &head->searches, err);
    if (status == HW_OK)
        status = hw_store_get_i64(*store, HW_AT_ROOT, "stored", &head->trees, err);
    if (status == HW_OK)
        status = hw_store_get_string(*store, HW_AT_ROOT, "algorithm", head->algorithm,
                                     sizeof head->algorithm, err);
    head->weights[0] = '\0';
    if (status == HW_OK && strcmp(head->algorithm, "sssp") == 0)
        status = hw_store_get_string(*store, HW_AT_ROOT, "weights", head->weights,
                                     sizeof head->weights, err);
    if (status == HW_OK)
        status = hw_store_get_string(*store, HW_AT_ROOT, "graph_digest", head->graph_digest,
                                     sizeof head->graph_digest, err);
    if (status == HW_OK)
        status = hw_store_digest(*store, head->digest, err);
    if (status != HW_OK)
        return status;
    if (head->trees < 1)
        return hw_fail(err, HW_BAD_INPUT, "%s: holds no trees, so there is nothing to validate",
                       path);
    return HW_OK;
}
