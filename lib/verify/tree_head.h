/*
 * What a tree file says of itself before its data are read.
 */
#ifndef HOPWAVE_VERIFY_TREE_HEAD_H
#define HOPWAVE_VERIFY_TREE_HEAD_H

#include "lib/base/status.h"
#include "lib/base/types.h"
#include "lib/comm/context.h"
#include "lib/store/store.h"

/* The attributes of a tree file, read before its data. */
struct hw_tree_head {
    hw_gid vertices;
    int64_t directed, searches, trees;
    char algorithm[16], weights[16]; /* weights: "" for levels */
    char graph_digest[HW_DIGEST_SIZE], digest[HW_DIGEST_SIZE];
};

/* Opens a tree file; HW_BAD_INPUT where it holds no trees. Collective. */
enum hw_status hw_tree_head_open(const struct hw_context *ctx, const char *path,
                                 struct hw_store **store, struct hw_tree_head *head,
                                 struct hw_error *err);

#endif
