#include "lib/graph/export/export_tree.h"

#include "lib/base/memory.h"
#include "lib/comm/exchange/large_alltoallv.h"
#include "lib/graph/export/shortest_text.h"
#include "lib/graph/export/text_output.h"
#include "lib/graph/vertex_labels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CHUNK = 4 * HW_STORE_BLOCK, /* vertices of a rank in one round */
    LINE_SIZE = 88              /* the longest line: four numbers of 64 bits */
};

/* A table being written. */
struct table {
    const struct hw_context *ctx;
    const struct hw_export_tree *what;
    struct hw_output *output;
    const char *values;    /* "/level" or "/distance" */
    struct hw_shape shape; /* of it */
    struct hw_labels labels;
    hw_count written; /* bytes so far, of all ranks */
    union {
        int32_t *level;
        int64_t *whole;
        float *real;
        void *any;
    } value;         /* [CHUNK] */
    hw_gid vertices; /* of the graph */
    hw_gid *vertex;  /* [CHUNK] those of the rows; NULL where rows have all vertices */
    hw_gid *parent;  /* [CHUNK] */
    hw_gid *id;      /* [2 CHUNK]: each reached vertex and its parent */
    int64_t *name;   /* [2 CHUNK]: what they are called */
    char *text;      /* [CHUNK * LINE_SIZE] */
};

/* ---- what it takes ---- */

/* The dataset of levels or distances. */
static bool find_values(const struct hw_store *tree, const char **path, struct hw_shape *shape)
{
    *path = "/level";
    if (hw_store_shape(tree, *path, shape))
        return true;
    *path = "/distance";
    return hw_store_shape(tree, *path, shape);
}

/* The vertices of the graph, which the rows have all or, where the file lists them, some of. */
static enum hw_status find_vertices(const struct hw_export_tree *what, hw_gid *vertices,
                                    struct hw_error *err)
{
    const enum hw_status status =
        hw_store_get_i64(what->tree, HW_AT_ROOT, "vertices", vertices, err);

    return status == HW_OK ? status : hw_prefix(err, status, "%s", hw_store_path(what->tree));
}

enum hw_status hw_export_tree_check(const struct hw_export_tree *what, struct hw_error *err)
{
    const char *path = hw_store_path(what->tree), *values;
    char digest[HW_DIGEST_SIZE] = "";
    struct hw_shape shape;
    hw_gid vertices = 0;

    if (!find_values(what->tree, &values, &shape))
        return hw_fail(err, HW_BAD_INPUT, "%s: holds no trees (it was made with --store none)",
                       path);
    if (what->search >= shape.rows)
        return hw_fail(err, HW_BAD_INPUT, "%s: has no search %" PRI_COUNT ", only 0 to %" PRI_COUNT,
                       path, what->search, shape.rows - 1);
    if (!what->graph)
        return HW_OK;
    enum hw_status status =
        hw_store_get_string(what->tree, HW_AT_ROOT, "graph_digest", digest, sizeof digest, err);
    if (status != HW_OK)
        return hw_prefix(err, status, "%s", path);
    HW_TRY(find_vertices(what, &vertices, err));
    const struct hw_graph_desc *desc = hw_graph_desc(what->graph);
    if (desc->vertices != vertices || strcmp(desc->digest, digest) != 0)
        return hw_fail(err, HW_BAD_INPUT, "%s: is not of %s: the graph's digests differ", path,
                       hw_graph_path(what->graph));
    return HW_OK;
}

hw_count hw_export_tree_memory(const struct hw_context *ctx, const struct hw_export_tree *what)
{
    const hw_count vertex = LINE_SIZE + 7 * (hw_count)sizeof(int64_t);

    return CHUNK * vertex +
           (what->graph ? hw_labels_bytes(ctx, what->graph, 2 * (hw_count)CHUNK) : 0);
}

hw_count hw_export_tree_disk(const struct hw_export_tree *what)
{
    const char *values;
    struct hw_shape shape = {0};
    char number[24];

    find_values(what->tree, &values, &shape);
    const hw_count wide =
        what->graph ? 20 : snprintf(number, sizeof number, "%" PRI_COUNT, shape.columns);
    /* Levels are short; a distance takes 20 characters at most. */
    const hw_count line = 3 * (wide + 1) + (shape.type == HW_I32 ? 7 : 21);
    return (what->search >= 0 ? 1 : shape.rows) * shape.columns * line;
}

/* ---- lines ---- */

/* Finds the reached vertices of a chunk, with their parents, which must be
 * vertices. Returns how many in *reached; their values move to the front. */
static enum hw_status gather(struct table *table, hw_gid first, hw_count count, hw_count *reached,
                             struct hw_error *err)
{
    hw_count n = 0;

    for (hw_count i = 0; i < count; i++) {
        const hw_gid parent = table->parent[i];
        const hw_gid vertex = table->vertex ? table->vertex[i] : first + i;
        if (parent == HW_GID_NONE)
            continue;
        if (parent < 0 || parent >= table->vertices)
            return hw_fail(err, HW_BAD_INPUT,
                           "%s: the parent of vertex %" PRI_GID " is %" PRI_GID
                           ", but there are %" PRI_GID " vertices",
                           hw_store_path(table->what->tree), vertex, parent, table->vertices);
        if (vertex < 0 || vertex >= table->vertices)
            return hw_fail(err, HW_BAD_INPUT,
                           "%s: lists vertex %" PRI_GID ", but there are %" PRI_GID " vertices",
                           hw_store_path(table->what->tree), vertex, table->vertices);
        table->id[2 * n] = vertex;
        table->id[2 * n + 1] = parent;
        if (table->shape.type == HW_I64)
            table->value.whole[n] = table->value.whole[i];
        else
            table->value.level[n] = table->value.level[i];
        n++;
    }
    *reached = n;
    return HW_OK;
}

/* Writes the lines of the reached vertices as text; returns its length. */
static hw_count format(const struct table *table, int64_t root, hw_count reached)
{
    char *at = table->text;

    for (hw_count i = 0; i < reached; i++) {
        const int64_t *name = table->name + 2 * i;
        at += sprintf(at, "%" PRId64 "\t%" PRId64 "\t", root, name[0]);
        if (table->shape.type == HW_I32)
            at += sprintf(at, "%" PRId32, table->value.level[i]);
        else if (table->shape.type == HW_I64)
            at += sprintf(at, "%" PRId64, table->value.whole[i]);
        else
            at += hw_shortest_text(table->value.real[i], at);
        at += sprintf(at, "\t%" PRId64 "\n", name[1]);
    }
    return at - table->text;
}

/* Names of vertices: labels, or their ids. Collective. */
static enum hw_status name_all(struct table *table, hw_count count, const hw_gid *id, int64_t *name,
                               struct hw_error *err)
{
    if (table->what->graph)
        return hw_labels_of(&table->labels, count, id, name, err);
    if (count > 0)
        memcpy(name, id, (size_t)count * sizeof *name);
    return HW_OK;
}

/* Appends what each rank has in its text, in rank order. Collective. */
static enum hw_status append(struct table *table, hw_count length, struct hw_error *err)
{
    hw_count before = 0, total = length;
    enum hw_status status = hw_prefix_sum(table->ctx->world, length, &before, err);

    if (status == HW_OK)
        status = hw_sum(table->ctx->world, &total, err);
    if (status != HW_OK)
        return status;
    status = hw_output_write(table->output, table->written + before, table->text, length, err);
    table->written += total;
    return hw_agree(table->ctx->world, status, err);
}

/* One round: a chunk of each rank. Collective. */
static enum hw_status write_round(struct table *table, hw_count search, int64_t root, hw_gid first,
                                  struct hw_error *err)
{
    struct hw_store *tree = table->what->tree;
    const hw_count left = table->shape.columns - first;
    const hw_count count = left < 0 ? 0 : left < CHUNK ? left : CHUNK;
    hw_count reached = 0;
    enum hw_status status = HW_OK;

    if (count > 0)
        status = hw_store_read(tree, table->values, search, first, count, table->value.any, err);
    if (status == HW_OK && count > 0)
        status = hw_store_read(tree, "/parent", search, first, count, table->parent, err);
    if (status == HW_OK && count > 0 && table->vertex)
        status = hw_store_read(tree, "/vertex", 0, first, count, table->vertex, err);
    if (status == HW_OK)
        status = gather(table, first, count, &reached, err);
    status = hw_agree(table->ctx->world, status, err);
    if (status == HW_OK)
        status = name_all(table, 2 * reached, table->id, table->name, err);
    return status == HW_OK ? append(table, format(table, root, reached), err) : status;
}

static enum hw_status write_search(struct table *table, hw_count search, hw_gid root,
                                   struct hw_error *err)
{
    const hw_count all = (hw_count)CHUNK * table->ctx->size;
    int64_t name = root;

    HW_TRY(name_all(table, 1, &root, &name, err));
    for (hw_gid at = 0; at < table->shape.columns; at += all)
        HW_TRY(write_round(table, search, name, at + (hw_gid)CHUNK * table->ctx->rank, err));
    return HW_OK;
}

/* ---- the whole table ---- */

static enum hw_status write_table(struct table *table, struct hw_error *err)
{
    const bool one = table->what->search >= 0;
    struct hw_progress bar = {0};
    hw_count roots = 0;
    hw_gid *root = NULL;
    struct hw_shape shape = {0};

    hw_store_shape(table->what->tree, "/roots", &shape);
    roots = shape.columns;
    enum hw_status status =
        hw_agree(table->ctx->world, hw_alloc(&root, roots, sizeof *root, "roots", err), err);
    if (status == HW_OK)
        status = hw_store_read_all(table->what->tree, "/roots", HW_I64, roots, root, err);
    for (hw_count s = 0; s < roots && status == HW_OK; s++)
        if (root[s] < 0 || root[s] >= table->vertices)
            status = hw_fail(err, HW_BAD_INPUT, "%s: root %" PRI_GID " is not a vertex",
                             hw_store_path(table->what->tree), root[s]);
    if (status == HW_OK)
        status = append(table,
                        table->ctx->rank == 0
                            ? sprintf(table->text, "root\tvertex\t%s\tparent\n", table->values + 1)
                            : 0,
                        err);
    for (hw_count s = one ? table->what->search : 0;
         status == HW_OK && s < (one ? table->what->search + 1 : table->shape.rows); s++) {
        hw_progress(table->ctx, &bar, "exporting", s, table->shape.rows);
        status = write_search(table, s, root[s], err);
    }
    hw_progress_end(&bar);
    free(root);
    return status;
}

static enum hw_status alloc_buffers(struct table *table, struct hw_error *err)
{
    HW_TRY(hw_alloc(&table->value.any, CHUNK, sizeof(int64_t), "distances", err));

    if (hw_store_shape(table->what->tree, "/vertex", NULL))
        HW_TRY(hw_alloc(&table->vertex, CHUNK, sizeof *table->vertex, "vertices", err));
    HW_TRY(hw_alloc(&table->parent, CHUNK, sizeof *table->parent, "parents", err));
    HW_TRY(hw_alloc(&table->id, 2 * CHUNK, sizeof *table->id, "vertices", err));
    HW_TRY(hw_alloc(&table->name, 2 * CHUNK, sizeof *table->name, "labels", err));
    return hw_alloc(&table->text, CHUNK, LINE_SIZE, "text", err);
}

enum hw_status hw_export_tree(const struct hw_context *ctx, const struct hw_export_tree *what,
                              const char *path, bool force, struct hw_error *err)
{
    struct table table = {.ctx = ctx, .what = what};
    enum hw_status status = hw_export_tree_check(what, err);

    if (status == HW_OK)
        status = hw_memory_require(ctx, hw_export_tree_memory(ctx, what), "exporting", err);
    find_values(what->tree, &table.values, &table.shape);
    if (status == HW_OK)
        status = find_vertices(what, &table.vertices, err);
    if (status == HW_OK)
        status = hw_output_open(ctx, path, force, &table.output, err);
    if (status == HW_OK && what->graph)
        status = hw_labels_open(ctx, what->graph, &table.labels, err);
    if (status == HW_OK)
        status = hw_agree(table.ctx->world, alloc_buffers(&table, err), err);
    if (status == HW_OK)
        status = write_table(&table, err);
    if (status == HW_OK)
        status = hw_store_verify(what->tree, table.values, err);
    if (status == HW_OK)
        status = hw_store_verify(what->tree, "/parent", err);
    if (status == HW_OK && table.vertex)
        status = hw_store_verify(what->tree, "/vertex", err);
    hw_labels_close(&table.labels);
    free(table.vertex);
    free(table.value.any);
    free(table.parent);
    free(table.id);
    free(table.name);
    free(table.text);
    if (status == HW_OK)
        return hw_output_commit(table.output, err);
    hw_output_drop(table.output);
    return status;
}
