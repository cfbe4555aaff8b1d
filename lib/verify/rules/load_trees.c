/*
 * Transposes trees, an array for each root, into rows and parent edges, one for each vertex.
 *
 * Works in tiles of a few vertices by all roots, which fit in the first-level
 * cache, so that each of the trees' arrays is read once and in order.
 */
#include "lib/verify/rules/root_batch.h"

#include "lib/base/memory.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>

/* Vertices of a tile; divides HW_PARENT_EDGES_BLOCK. */
#define TILE 32

/* Properties of a level or distance that the rules on single vertices need. */
enum mark { ORDINARY, UNREACHED, ZERO };

/* A thread's scratch memory for loading a block. */
struct loader {
    struct hw_parent_edge *parent_edge; /* [HW_PARENT_EDGES_BLOCK * roots] */
    hw_count parent_edges;              /* in use */
    int length[HW_PARENT_EDGES_BLOCK];  /* of each vertex's */
    hw_gid parent[TILE][HW_VERIFY_BATCH];
    enum mark mark[TILE][HW_VERIFY_BATCH];
};

static enum mark mark_real(float distance)
{
    if (distance == INFINITY)
        return UNREACHED;
    return distance < 0 || distance > 0 || isnan(distance) ? ORDINARY : ZERO;
}

static enum mark mark_whole(int64_t value)
{
    return value == -1 ? UNREACHED : value == 0 ? ZERO : ORDINARY;
}

/* The mark of element i of a tree's values. */
static inline enum mark mark_of(enum hw_value value, const void *values, hw_count i)
{
    switch (value) {
    case HW_VALUE_F32:
        return mark_real(((const float *)values)[i]);
    case HW_VALUE_I64:
        return mark_whole(((const int64_t *)values)[i]);
    default:
        return mark_whole(((const int32_t *)values)[i]);
    }
}

/* Copies the tile of `count` vertices from local vertex `at`, and its levels or
 * distances into the rows. */
static void load_tile(struct hw_root_batch *batch, struct hw_violation_counts *violations,
                      struct loader *loader, hw_count at, hw_count count)
{
    const size_t size = hw_value_size(batch->value);

    for (int r = 0; r < batch->roots; r++) {
        const hw_gid *parent = batch->parent + r * batch->count + at;
        const void *values = (const char *)batch->values + size * (size_t)(r * batch->count + at);
        for (hw_count i = 0; i < count; i++) {
            loader->parent[i][r] = parent[i];
            loader->mark[i][r] = mark_of(batch->value, values, i);
        }
        violations->counts.reached[r] += hw_rows_fill(&batch->rows, at, count, r, values, parent);
    }
    for (int r = batch->roots; r < batch->rows.lanes; r++)
        hw_rows_fill(&batch->rows, at, count, r, NULL, NULL);
}

/* Rules 1 and 2 at the root itself. */
static void check_root(struct hw_violation_counts *violations, int r, hw_gid v, hw_gid parent,
                       enum mark mark)
{
    if (parent != v)
        hw_violation_counts_add(violations, HW_RULE_TREE, r, v, HW_GID_NONE);
    if (mark != ZERO) {
        hw_violation_counts_add(violations, HW_RULE_TREE_LEVELS, r, v, HW_GID_NONE);
        violations->counts.suspects[r]++;
    }
}

/* Classifies vertex v's parent under each root: a parent edge, none, or a defect. Returns the
 * number of parent edges. */
static int load_vertex(const struct hw_root_batch *batch, struct hw_violation_counts *violations,
                       struct hw_parent_edge *parent_edge, hw_gid v, const hw_gid *parent,
                       const enum mark *mark)
{
    int length = 0, last = 0;

    for (int r = 0; r < batch->roots; r++) {
        hw_gid p = parent[r];
        if (v == batch->root[r]) {
            check_root(violations, r, v, p, mark[r]);
        } else if (p == HW_GID_NONE) {
            if (mark[r] == UNREACHED)
                continue;
            hw_violation_counts_add(violations, HW_RULE_SPANS, r, v, HW_GID_NONE);
            violations->counts.suspects[r]++;
        } else if (p < 0 || p >= batch->desc->vertices) {
            hw_violation_counts_add(violations, HW_RULE_TREE, r, v, HW_GID_NONE);
            violations->counts.suspects[r]++;
        } else if (p == v) {
            violations->counts.suspects[r]++; /* a cycle: counted where cycles are */
        } else {
            hw_parent_edge_add(parent_edge, &length, &last, p, (uint64_t)1 << r);
        }
    }
    return length;
}

static enum hw_status load_block(struct hw_root_batch *batch,
                                 struct hw_violation_counts *violations, struct loader *loader,
                                 hw_count block, struct hw_error *err)
{
    hw_count begin = block * HW_PARENT_EDGES_BLOCK;
    hw_count end =
        begin + HW_PARENT_EDGES_BLOCK < batch->count ? begin + HW_PARENT_EDGES_BLOCK : batch->count;

    loader->parent_edges = 0;
    for (hw_count at = begin; at < end; at += TILE) {
        hw_count count = end - at < TILE ? end - at : TILE;
        load_tile(batch, violations, loader, at, count);
        for (hw_count i = 0; i < count; i++) {
            int length = load_vertex(batch, violations, loader->parent_edge + loader->parent_edges,
                                     batch->first + at + i, loader->parent[i], loader->mark[i]);
            loader->length[at + i - begin] = length;
            loader->parent_edges += length;
        }
    }
    return hw_parent_edges_keep(&batch->parent_edges, block, loader->parent_edge, loader->length,
                                loader->parent_edges, err);
}

/* The work of one thread. */
static enum hw_status load_blocks(struct hw_root_batch *batch, int thread, struct hw_error *err)
{
    struct loader *loader = NULL;
    enum hw_status status = hw_alloc(&loader, 1, sizeof *loader, "tree tile", err);

    if (status == HW_OK)
        status = hw_alloc(&loader->parent_edge, (hw_count)HW_PARENT_EDGES_BLOCK * batch->roots,
                          sizeof *loader->parent_edge, "tree edges", err);
#pragma omp for schedule(dynamic, 4)
    for (hw_count b = 0; b < batch->parent_edges.blocks; b++)
        if (status == HW_OK)
            status = load_block(batch, &batch->worker[thread].violations, loader, b, err);
    if (loader)
        free(loader->parent_edge);
    free(loader);
    return status;
}

enum hw_status hw_root_batch_load(struct hw_root_batch *batch, enum hw_lane lane,
                                  struct hw_error *err)
{
    enum hw_status status = hw_rows_make(batch->count, batch->roots, lane, &batch->rows, err);

    if (status == HW_OK)
        status = hw_parent_edges_make(batch->count, &batch->parent_edges, err);
    if (status == HW_OK && batch->value != HW_VALUE_LEVEL)
        status = hw_alloc_zero(&batch->flat, batch->count, sizeof *batch->flat, "tree edges", err);
    if (status != HW_OK)
        return status;
#pragma omp parallel num_threads(batch->ctx->threads)
    {
        struct hw_error mine = {{0}};
        enum hw_status loaded = load_blocks(batch, omp_get_thread_num(), &mine);
#pragma omp critical(hw_root_batch_load)
        if (loaded > status) {
            status = loaded;
            if (err)
                *err = mine;
        }
    }
    return status;
}
