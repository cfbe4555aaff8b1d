/*
 * From trees, one array a root, to rows and links, one place a vertex.
 *
 * Works in tiles of a few vertices by all roots, which fit in the first-level
 * cache, so that each of the trees' arrays is read once and in order.
 */
#include "verify/batch.h"

#include "base/memory.h"

#include <omp.h>
#include <stdlib.h>

/* Vertices of a tile; divides HW_LINKS_BLOCK. */
#define TILE 32

/* What a thread needs to load a block. */
struct loader {
    struct hw_link *link;       /* [HW_LINKS_BLOCK * roots] */
    hw_count links;             /* in use */
    int length[HW_LINKS_BLOCK]; /* of each vertex's */
    hw_gid parent[TILE][HW_VERIFY_BATCH];
    int32_t level[TILE][HW_VERIFY_BATCH];
};

/* Copies the tile of `count` vertices from local vertex `at`, and its levels
 * into the rows. */
static void load_tile(struct hw_batch *batch, struct hw_tally *tally, struct loader *loader,
                      hw_count at, hw_count count)
{
    for (int r = 0; r < batch->roots; r++) {
        const hw_gid *parent = batch->parent + r * batch->count + at;
        const int32_t *level = batch->level + r * batch->count + at;
        hw_count reached = 0;
        for (hw_count i = 0; i < count; i++) {
            loader->parent[i][r] = parent[i];
            loader->level[i][r] = level[i];
            reached += level[i] != -1;
        }
        tally->counts.reached[r] += reached;
        hw_rows_fill(&batch->rows, at, count, r, level);
    }
    for (int r = batch->roots; r < batch->rows.lanes; r++)
        hw_rows_fill(&batch->rows, at, count, r, NULL);
}

/* Rules 1 and 2 at the root itself. */
static void check_root(struct hw_tally *tally, int r, hw_gid v, hw_gid parent, int32_t level)
{
    if (parent != v)
        hw_tally_add(tally, HW_RULE_TREE, r, v, HW_GID_NONE);
    if (level != 0) {
        hw_tally_add(tally, HW_RULE_TREE_LEVELS, r, v, HW_GID_NONE);
        tally->counts.suspects[r]++;
    }
}

/* Sorts what each root says of vertex v's parent: a link, nothing, or a defect.
 * Returns the number of links. */
static int load_vertex(const struct hw_batch *batch, struct hw_tally *tally, struct hw_link *link,
                       hw_gid v, const hw_gid *parent, const int32_t *level)
{
    int length = 0, last = 0;

    for (int r = 0; r < batch->roots; r++) {
        hw_gid p = parent[r];
        if (v == batch->root[r]) {
            check_root(tally, r, v, p, level[r]);
        } else if (p == HW_GID_NONE) {
            if (level[r] == -1)
                continue;
            hw_tally_add(tally, HW_RULE_SPANS, r, v, HW_GID_NONE);
            tally->counts.suspects[r]++;
        } else if (p < 0 || p >= batch->desc->vertices) {
            hw_tally_add(tally, HW_RULE_TREE, r, v, HW_GID_NONE);
            tally->counts.suspects[r]++;
        } else if (p == v) {
            tally->counts.suspects[r]++; /* a cycle: counted where cycles are */
        } else {
            hw_link_add(link, &length, &last, p, (uint64_t)1 << r);
        }
    }
    return length;
}

static enum hw_status load_block(struct hw_batch *batch, struct hw_tally *tally,
                                 struct loader *loader, hw_count block, struct hw_error *err)
{
    hw_count begin = block * HW_LINKS_BLOCK;
    hw_count end = begin + HW_LINKS_BLOCK < batch->count ? begin + HW_LINKS_BLOCK : batch->count;

    loader->links = 0;
    for (hw_count at = begin; at < end; at += TILE) {
        hw_count count = end - at < TILE ? end - at : TILE;
        load_tile(batch, tally, loader, at, count);
        for (hw_count i = 0; i < count; i++) {
            int length = load_vertex(batch, tally, loader->link + loader->links,
                                     batch->first + at + i, loader->parent[i], loader->level[i]);
            loader->length[at + i - begin] = length;
            loader->links += length;
        }
    }
    return hw_links_keep(&batch->links, block, loader->link, loader->length, loader->links, err);
}

/* What one thread does of the loading. */
static enum hw_status load_blocks(struct hw_batch *batch, int thread, struct hw_error *err)
{
    struct loader *loader = NULL;
    enum hw_status status = hw_alloc(&loader, 1, sizeof *loader, "tree tile", err);

    if (status == HW_OK)
        status = hw_alloc(&loader->link, (hw_count)HW_LINKS_BLOCK * batch->roots,
                          sizeof *loader->link, "tree edges", err);
#pragma omp for schedule(dynamic, 4)
    for (hw_count b = 0; b < batch->links.blocks; b++)
        if (status == HW_OK)
            status = load_block(batch, &batch->worker[thread].tally, loader, b, err);
    if (loader)
        free(loader->link);
    free(loader);
    return status;
}

enum hw_status hw_batch_load(struct hw_batch *batch, bool wide, struct hw_error *err)
{
    enum hw_status status = hw_rows_make(batch->count, batch->roots, wide, &batch->rows, err);

    if (status == HW_OK)
        status = hw_links_make(batch->count, &batch->links, err);
    if (status != HW_OK)
        return status;
#pragma omp parallel num_threads(batch->ctx->threads)
    {
        struct hw_error mine = {{0}};
        enum hw_status loaded = load_blocks(batch, omp_get_thread_num(), &mine);
#pragma omp critical(hw_batch_load)
        if (loaded > status) {
            status = loaded;
            if (err)
                *err = mine;
        }
    }
    return status;
}
