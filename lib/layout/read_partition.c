/* Describing partitions and reading them, one part a rank. */
#include "lib/layout/layout_options.h"
#include "lib/layout/part_check.h"
#include "lib/layout/part_matrices.h"

#include "lib/base/cli.h"
#include "lib/base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Elements that are read and converted at a time. */
#define PIECE (16 * (hw_count)HW_STORE_BLOCK)

/* One part being read. */
struct reading {
    const struct hw_context *ctx;
    struct hw_store *store;
    struct hw_part *part;
    hw_count *start;             /* [parts+1] room */
    hw_count lists[HW_MATRICES]; /* entries of each matrix */
};

/* Puts the file's name before an error message that lacks it. */
static enum hw_status name_file(const struct hw_store *store, enum hw_status status,
                                struct hw_error *err)
{
    const char *path = hw_store_path(store);

    if (status == HW_OK || !err || strncmp(err->text, path, strlen(path)) == 0)
        return status;
    return hw_prefix(err, status, "%s", path);
}

/* ---- attributes ---- */

/* An attribute that is a number within [least, most]. */
static enum hw_status get_number(const struct hw_store *store, const char *name, int64_t min,
                                 int64_t max, int64_t *value, struct hw_error *err)
{
    HW_TRY(hw_store_get_i64(store, HW_AT_ROOT, name, value, err));

    if (*value < min || *value > max)
        return hw_fail(err, HW_BAD_INPUT,
                       "attribute %s is %" PRId64 ", outside %" PRId64 " to %" PRId64, name, *value,
                       min, max);
    return HW_OK;
}

/* The index of an attribute's text among words. */
static enum hw_status get_word(const struct hw_store *store, const char *name,
                               const char *const *words, int *index, struct hw_error *err)
{
    char text[64];

    HW_TRY(hw_store_get_string(store, HW_AT_ROOT, name, text, sizeof text, err));
    if (hw_cli_choice(name, text, words, index, err) != HW_OK)
        return HW_BAD_INPUT;
    return HW_OK;
}

static enum hw_status describe_words(const struct hw_store *store, struct hw_part *part,
                                     struct hw_error *err)
{
    const char *const layouts[] = {hw_layout_name(HW_LAYOUT_1D), hw_layout_name(HW_LAYOUT_2D),
                                   hw_layout_name(HW_LAYOUT_DEGREE_SEPARATED), NULL};
    const char *const orders[] = {hw_order_name(HW_ORDER_DEGREE), hw_order_name(HW_ORDER_HASH),
                                  hw_order_name(HW_ORDER_NONE), NULL};
    static const char *const weights[] = {"none", "f32", "i32", NULL};
    int layout = 0, order = 0, weight = 0;

    HW_TRY(get_word(store, "layout", layouts, &layout, err));
    HW_TRY(get_word(store, "order", orders, &order, err));
    HW_TRY(get_word(store, "weights", weights, &weight, err));
    HW_TRY(hw_store_get_string(store, HW_AT_ROOT, "graph_digest", part->graph_digest,
                               sizeof part->graph_digest, err));
    part->spec.layout = (enum hw_layout)layout;
    part->spec.order = (enum hw_order)order;
    part->weights = (enum hw_weights)weight;
    part->spec.weights = part->weights != HW_WEIGHTS_NONE;
    return HW_OK;
}

static enum hw_status describe_counts(const struct hw_store *store, struct hw_part *part,
                                      struct hw_error *err)
{
    int64_t parts = 0, directed = 0;

    HW_TRY(get_number(store, "parts", 1, HW_PARTS_MAX, &parts, err));
    HW_TRY(get_number(store, "vertices", 1, (int64_t)1 << 48, &part->vertices, err));
    HW_TRY(get_number(store, "edges", 0, INT64_MAX / 16, &part->edges, err));
    HW_TRY(get_number(store, "tuples", 0, INT64_MAX / 16, &part->tuples, err));
    HW_TRY(get_number(store, "directed", 0, 1, &directed, err));
    part->spec.parts = (int)parts;
    part->directed = directed != 0;
    return HW_OK;
}

static enum hw_status describe_grid(const struct hw_store *store, struct hw_part *part,
                                    hw_count block, struct hw_error *err)
{
    int64_t rows = 0, columns = 0, stated = 0;

    HW_TRY(get_number(store, "rows", 1, part->spec.parts, &rows, err));
    HW_TRY(get_number(store, "columns", 1, part->spec.parts, &columns, err));
    HW_TRY(get_number(store, "block", 1, UINT32_MAX - 1, &stated, err));
    if (rows * columns != part->spec.parts || stated != block || block * rows >= UINT32_MAX ||
        block * columns >= UINT32_MAX)
        return hw_fail(err, HW_BAD_INPUT,
                       "%" PRId64 " rows, %" PRId64 " columns and blocks of %" PRId64
                       " do not fit %d parts of %" PRI_GID " vertices",
                       rows, columns, stated, part->spec.parts, part->vertices);
    part->spec.rows = (int)rows;
    part->spec.columns = (int)columns;
    part->grid.block = (hw_lid)block;
    return HW_OK;
}

static enum hw_status describe_separate(const struct hw_store *store, struct hw_part *part,
                                        hw_count block, struct hw_error *err)
{
    int64_t nodes = 0, devices = 0, delegates = 0;
    hw_count max = part->vertices < INT32_MAX ? part->vertices : INT32_MAX;

    HW_TRY(get_number(store, "nodes", 1, part->spec.parts, &nodes, err));
    HW_TRY(get_number(store, "devices", 1, part->spec.parts, &devices, err));
    HW_TRY(get_number(store, "degree_threshold", 0, INT64_MAX, &part->spec.threshold, err));
    HW_TRY(get_number(store, "delegates", 0, max, &delegates, err));
    if (nodes * devices != part->spec.parts || block >= UINT32_MAX)
        return hw_fail(err, HW_BAD_INPUT,
                       "%" PRId64 " nodes of %" PRId64 " devices do not fit %d parts of %" PRI_GID
                       " vertices",
                       nodes, devices, part->spec.parts, part->vertices);
    part->spec.nodes = (int)nodes;
    part->spec.devices = (int)devices;
    part->separate.slots = (hw_lid)block;
    part->separate.delegates = (hw_lid)delegates;
    return HW_OK;
}

enum hw_status hw_part_describe(struct hw_store *store, struct hw_part *described,
                                struct hw_error *err)
{
    *described = (struct hw_part){0};
    enum hw_status status = describe_words(store, described, err);

    if (status == HW_OK)
        status = describe_counts(store, described, err);
    if (status == HW_OK)
        status = hw_store_digest(store, described->digest, err);
    if (status != HW_OK)
        return name_file(store, status, err);
    hw_count block = (described->vertices + described->spec.parts - 1) / described->spec.parts;
    if (described->spec.layout == HW_LAYOUT_DEGREE_SEPARATED)
        status = describe_separate(store, described, block, err);
    else
        status = describe_grid(store, described, block, err);
    return name_file(store, status, err);
}

/* ---- loading ---- */

/* Reads the starts of the parts in a dataset, and how many elements this part
 * has. Collective. */
static enum hw_status read_starts(struct reading *reading, const char *path, hw_count *count,
                                  struct hw_error *err)
{
    int parts = reading->part->spec.parts, index = reading->part->index;

    HW_TRY(hw_store_read_all(reading->store, path, HW_I64, parts + 1, reading->start, err));
    *count = reading->start[index + 1] - reading->start[index];
    if (reading->start[0] != 0 || *count < 0)
        return hw_fail(err, HW_BAD_INPUT, "%s does not rise from 0", path);
    return HW_OK;
}

/* Reads elements of this part into memory allocated here. Local. */
static enum hw_status load(struct reading *reading, const char *path, hw_count segment,
                           hw_count count, size_t size, void *out, struct hw_error *err)
{
    void *memory = NULL;

    HW_TRY(hw_alloc(out, count, size, path, err));
    memcpy(&memory, out, sizeof memory);
    if (count > 0)
        HW_TRY(hw_store_read(reading->store, path, segment, 0, count, memory, err));
    return HW_OK;
}

/* The same for ids, which a file may hold in 32 bits. Local. */
static enum hw_status load_ids(struct reading *reading, const char *path, hw_count segment,
                               hw_count count, hw_gid **out, struct hw_error *err)
{
    struct hw_shape shape;
    uint32_t *narrow = NULL;

    if (!hw_store_shape(reading->store, path, &shape))
        return hw_fail(err, HW_BAD_INPUT, "%s is missing", path);
    if (shape.type == HW_I64)
        return load(reading, path, segment, count, sizeof **out, out, err);
    enum hw_status status = hw_alloc(out, count, sizeof **out, path, err);
    if (status == HW_OK)
        status = hw_alloc(&narrow, count < PIECE ? count : PIECE, sizeof *narrow, path, err);
    for (hw_count first = 0; first < count && status == HW_OK; first += PIECE) {
        hw_count piece = count - first < PIECE ? count - first : PIECE;
        status = hw_store_read(reading->store, path, segment, first, piece, narrow, err);
        for (hw_count i = 0; i < piece && status == HW_OK; i++)
            (*out)[first + i] = narrow[i];
    }
    free(narrow);
    return status;
}

/* Reads what the part says of its own vertices. The store has checked that the
 * starts cut these datasets. */
static enum hw_status read_vertices(struct reading *reading, struct hw_error *err)
{
    struct hw_part *part = reading->part;
    struct hw_part_vertices *own = &part->own;
    hw_count count = 0;

    HW_TRY_ALL(reading->ctx, read_starts(reading, "/vertices/start", &count, err), err);
    own->count = hw_owned(&part->spec, part->vertices, part->index);
    if (count != own->count)
        return hw_fail(err, HW_BAD_INPUT,
                       "/vertices/start gives part %d %" PRI_COUNT " vertices, not %" PRI_LID,
                       part->index, count, own->count);
    HW_TRY(load_ids(reading, "/vertices/graph_id", part->index, count, &own->graph_id, err));
    return load(reading, "/vertices/tuples", part->index, count, sizeof *own->tuples, &own->tuples,
                err);
}

/* Whether the negative self-loops are in the file and wanted. */
static bool has_loops(const struct reading *reading)
{
    struct hw_shape shape;

    return reading->part->weights != HW_WEIGHTS_NONE &&
           hw_store_shape(reading->store, "/loops/position", &shape);
}

/* Reads this part's self-loops, as many as their starts say. Local. */
static enum hw_status load_loops(struct reading *reading, hw_count count, struct hw_error *err)
{
    struct hw_part *part = reading->part;
    struct hw_part_vertices *own = &part->own;

    if (count > own->count)
        return hw_fail(err, HW_BAD_INPUT,
                       "/loops/start gives part %d %" PRI_COUNT " self-loops for %" PRI_LID
                       " vertices",
                       part->index, count, own->count);
    HW_TRY(
        load(reading, "/loops/position", part->index, count, sizeof *own->loop, &own->loop, err));
    HW_TRY(load(reading, "/loops/weight", part->index, count, sizeof *own->loop_weight,
                &own->loop_weight, err));
    own->loops = (hw_lid)count;
    return HW_OK;
}

/* Reads the negative self-loops. Collective. */
static enum hw_status read_loops(struct reading *reading, struct hw_error *err)
{
    hw_count count = 0;

    HW_TRY_ALL(reading->ctx, read_starts(reading, "/loops/start", &count, err), err);
    HW_TRY_ALL(reading->ctx, load_loops(reading, count, err), err);
    return HW_OK;
}

static enum hw_status read_delegates(struct reading *reading, struct hw_error *err)
{
    struct hw_delegate_part *separate = &reading->part->separate;
    hw_count count = separate->delegates;
    HW_TRY(load_ids(reading, "/delegates/search_id", 0, count, &separate->search_id, err));
    return load_ids(reading, "/delegates/graph_id", 0, count, &separate->graph_id, err);
}

/* Reads the offsets of a matrix. Local. */
static enum hw_status load_offsets(struct reading *reading, enum hw_matrix which,
                                   struct hw_error *err)
{
    struct hw_csr *matrix = hw_part_matrix(reading->part, which);
    char path[HW_MATRIX_PATH];
    hw_count rows = hw_part_matrix_rows(reading->part, which);

    matrix->rows = (hw_lid)rows;
    return load(reading, hw_matrix_path(path, which, "offset"), reading->part->index, rows + 1,
                sizeof *matrix->offset, &matrix->offset, err);
}

/* Compares the number of offsets, by their starts, with the rows. Local. */
static enum hw_status check_rows(const struct reading *reading, enum hw_matrix which,
                                 hw_count count, struct hw_error *err)
{
    char path[HW_MATRIX_PATH];
    hw_count rows = hw_part_matrix_rows(reading->part, which);

    if (count != rows + 1)
        return hw_fail(
            err, HW_BAD_INPUT, "%s gives part %d %" PRI_COUNT " offsets, not %" PRI_COUNT,
            hw_matrix_path(path, which, "offset_start"), reading->part->index, count, rows + 1);
    return HW_OK;
}

/* Reads the offsets of a matrix and how many entries it has. Collective. */
static enum hw_status read_offsets(struct reading *reading, enum hw_matrix which,
                                   struct hw_error *err)
{
    char path[HW_MATRIX_PATH];
    hw_count count = 0;

    HW_TRY_ALL(reading->ctx,
               read_starts(reading, hw_matrix_path(path, which, "offset_start"), &count, err), err);
    HW_TRY_ALL(reading->ctx, check_rows(reading, which, count, err), err);
    HW_TRY_ALL(reading->ctx,
               read_starts(reading, hw_matrix_path(path, which, "index_start"),
                           &reading->lists[which], err),
               err);
    HW_TRY_ALL(reading->ctx, load_offsets(reading, which, err), err);
    return HW_OK;
}

/* Reads the lists of a matrix. Local. */
static enum hw_status read_lists(struct reading *reading, enum hw_matrix which,
                                 struct hw_error *err)
{
    struct hw_part *part = reading->part;
    struct hw_csr *matrix = hw_part_matrix(part, which);
    hw_count count = reading->lists[which];
    char path[HW_MATRIX_PATH];

    if (which == HW_MATRIX_NN)
        HW_TRY(load_ids(reading, hw_matrix_path(path, which, "target"), part->index, count,
                        &matrix->target, err));
    else
        HW_TRY(load(reading, hw_matrix_path(path, which, "index"), part->index, count,
                    sizeof *matrix->index, &matrix->index, err));
    if (part->weights != HW_WEIGHTS_NONE)
        HW_TRY(load(reading, hw_matrix_path(path, which, "weight"), part->index, count,
                    sizeof *matrix->weight, &matrix->weight, err));
    return HW_OK;
}

/* Compares the digests of all that was read. Collective. */
static enum hw_status verify_all(struct reading *reading, struct hw_error *err)
{
    struct hw_part *part = reading->part;
    char path[HW_MATRIX_PATH];

    HW_TRY(hw_store_verify(reading->store, "/vertices/graph_id", err));
    HW_TRY(hw_store_verify(reading->store, "/vertices/tuples", err));
    if (has_loops(reading)) {
        HW_TRY(hw_store_verify(reading->store, "/loops/position", err));
        HW_TRY(hw_store_verify(reading->store, "/loops/weight", err));
    }
    if (part->spec.layout == HW_LAYOUT_DEGREE_SEPARATED) {
        HW_TRY(hw_store_verify(reading->store, "/delegates/search_id", err));
        HW_TRY(hw_store_verify(reading->store, "/delegates/graph_id", err));
    }
    for (int m = 0; m < HW_MATRICES; m++) {
        enum hw_matrix which = (enum hw_matrix)m;
        if (!hw_part_matrix(part, which))
            continue;
        HW_TRY(hw_store_verify(reading->store, hw_matrix_path(path, which, "offset"), err));
        HW_TRY(hw_store_verify(
            reading->store, hw_matrix_path(path, which, which == HW_MATRIX_NN ? "target" : "index"),
            err));
        if (part->weights != HW_WEIGHTS_NONE)
            HW_TRY(hw_store_verify(reading->store, hw_matrix_path(path, which, "weight"), err));
    }
    return HW_OK;
}

/* ---- the whole ---- */

/* Bytes of a part's vertices and offsets, as the description says. */
static hw_count fixed_bytes(const struct reading *reading)
{
    struct hw_part *part = reading->part;
    hw_count bytes = (hw_count)hw_owned(&part->spec, part->vertices, part->index) * 28 +
                     (hw_count)part->separate.delegates * 16;

    for (int m = 0; m < HW_MATRICES; m++)
        if (hw_part_matrix(part, (enum hw_matrix)m))
            bytes += 8 * hw_part_matrix_rows(part, (enum hw_matrix)m);
    return bytes;
}

/* Bytes of a part's lists, once it is known how long they are. */
static hw_count list_bytes(const struct reading *reading)
{
    struct hw_part *part = reading->part;
    hw_count bytes = 0, weight = part->weights != HW_WEIGHTS_NONE ? 4 : 0;

    for (int m = 0; m < HW_MATRICES; m++)
        if (hw_part_matrix(part, (enum hw_matrix)m))
            bytes += reading->lists[m] * ((m == HW_MATRIX_NN ? 8 : 4) + weight);
    return bytes;
}

/* Reads the delegates and the lists of all matrices. Local. */
static enum hw_status read_entries(struct reading *reading, struct hw_error *err)
{
    if (reading->part->spec.layout == HW_LAYOUT_DEGREE_SEPARATED)
        HW_TRY(read_delegates(reading, err));
    for (int m = 0; m < HW_MATRICES; m++)
        if (hw_part_matrix(reading->part, (enum hw_matrix)m))
            HW_TRY(read_lists(reading, (enum hw_matrix)m, err));
    return HW_OK;
}

/* Loads a part. Collective. */
static enum hw_status load_part(struct reading *reading, struct hw_error *err)
{
    struct hw_part *part = reading->part;

    HW_TRY(hw_memory_require(reading->ctx, fixed_bytes(reading), "the vertices of a part", err));
    for (int m = 0; m < HW_MATRICES; m++)
        if (hw_part_matrix(part, (enum hw_matrix)m))
            HW_TRY(read_offsets(reading, (enum hw_matrix)m, err));
    HW_TRY(hw_memory_require(reading->ctx, list_bytes(reading), "the edges of a part", err));
    HW_TRY_ALL(reading->ctx, read_vertices(reading, err), err);
    if (has_loops(reading))
        HW_TRY(read_loops(reading, err));
    HW_TRY_ALL(reading->ctx, read_entries(reading, err), err);
    return HW_OK;
}

/* Describes the file and allocates the starts. Local. */
static enum hw_status open_reading(struct reading *reading, int index, struct hw_error *err)
{
    struct hw_part *part = reading->part;

    HW_TRY(hw_part_describe(reading->store, part, err));
    if (index < 0 || index >= part->spec.parts)
        return hw_fail(err, HW_BAD_INPUT, "there is no part %d among %d", index, part->spec.parts);
    return hw_alloc(&reading->start, part->spec.parts + 1, sizeof *reading->start,
                    "starts of parts", err);
}

/* All of hw_part_read() but the clean-up. Collective. */
static enum hw_status read_part(struct reading *reading, int index, bool weights,
                                struct hw_error *err)
{
    struct hw_part *part = reading->part;

    HW_TRY_ALL(reading->ctx, open_reading(reading, index, err), err);
    part->index = index;
    if (!weights) {
        part->weights = HW_WEIGHTS_NONE;
        part->spec.weights = false;
    }
    if (part->spec.layout != HW_LAYOUT_DEGREE_SEPARATED) {
        part->grid.row = index % part->spec.rows;
        part->grid.column = index / part->spec.rows;
    }
    HW_TRY(load_part(reading, err));
    HW_TRY(verify_all(reading, err));
    HW_TRY_ALL(reading->ctx, hw_part_check(part, reading->lists, err), err);
    return hw_part_check_tuples(reading->ctx, part, err);
}

enum hw_status hw_part_read(const struct hw_context *ctx, struct hw_store *store, int index,
                            bool weights, struct hw_part *part, struct hw_error *err)
{
    struct reading reading = {.ctx = ctx, .store = store, .part = part};
    enum hw_status status = read_part(&reading, index, weights, err);

    free(reading.start);
    if (status != HW_OK)
        hw_part_free(part);
    return name_file(store, status, err);
}
