/*
 * Search trees on their way from the parts to the tree file.
 *
 * An engine returns a tree in the order of its part: one element for each own
 * vertex, by rising graph id. Files and validation take it in slices of the
 * graph ids, as hw_store_share() cuts them. The way from one to the other is the
 * same for all searches, so it is worked out once.
 */
#ifndef HOPWAVE_ENGINE_CORE_TREE_SLICES_H
#define HOPWAVE_ENGINE_CORE_TREE_SLICES_H

#include "lib/base/status.h"
#include "lib/base/types.h"
#include "lib/comm/context.h"
#include "lib/engine/core/result.h"
#include "lib/layout/part.h"
#include "lib/store/store.h"

/* From parts to slices. Frees with hw_tree_close(). */
struct hw_tree {
    const struct hw_context *ctx;
    hw_count first, length;  /* this rank's slice of the graph ids */
    hw_count *send_count;    /* [ranks] own vertices in each rank's slice */
    hw_count *receive_count; /* [ranks] vertices of the slice that each rank owns */
    hw_lid *place;           /* [length] where in the slice what is received belongs */
    int64_t *received;       /* [length] room for one exchange */
};

/* Bytes that hw_tree_open() takes on a rank of `ranks`. Local. */
hw_count hw_tree_bytes(hw_gid vertices, int ranks);

/*
 * Works out the way. Borrows ctx. Collective over ctx->world.
 * Returns HW_BAD_INPUT where the parts do not own each vertex once, or a slice
 * passes 2^32 vertices.
 */
enum hw_status hw_tree_open(const struct hw_context *ctx, const struct hw_part *part,
                            struct hw_tree *tree, struct hw_error *err);

/*
 * Brings one value a vertex from part order to slices.
 * size: bytes of a value, 4 or 8. own: [part->own.count], by rising graph id.
 * slice: [tree->length]. Collective.
 */
enum hw_status hw_tree_slice(struct hw_tree *tree, size_t size, const void *own, void *slice,
                             struct hw_error *err);

/* Accepts a zero-initialised one. Local. */
void hw_tree_close(struct hw_tree *tree);

/* Defines /parent and the dataset of the values of `rows` trees in a tree store.
 * Collective. */
enum hw_status hw_tree_define(struct hw_store *store, const struct hw_values *values, hw_count rows,
                              hw_gid vertices, struct hw_error *err);

/* Writes all ranks' slices of one row. value, parent: [tree->length], this rank's. Collective. */
enum hw_status hw_tree_write(const struct hw_tree *tree, struct hw_store *store,
                             const struct hw_values *values, hw_count row, const void *value,
                             const hw_gid *parent, struct hw_error *err);

#endif
