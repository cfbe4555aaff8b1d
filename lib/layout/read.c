/* Reading partitions, one part a rank, and checking all that engines rely on. */
#include "layout/build.h"
#include "layout/options.h"

#include "base/cli.h"
#include "base/memory.h"
#include "base/sort.h"
#include "comm/exchange.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Elements that are read and converted at a time. */
#define PIECE (16 * (hw_count)HW_STORE_BLOCK)

/* A room for the longest path of a dataset. */
#define PATH_SIZE 64

/* What the rows or columns of a matrix stand for. */
enum axis {
    GRID_COLUMNS, /* the blocks of the grid column, which have lists */
    GRID_ROWS,    /* the blocks of the grid row, which lists name */
    SLOTS,
    DELEGATES,
    SEARCH_IDS,
    AXES
};

/* One part being read. */
struct reading {
    const struct hw_context *ctx;
    struct hw_store *store;
    struct hw_part *part;
    hw_count *start;             /* [parts+1] room */
    hw_count lists[HW_MATRICES]; /* entries of each matrix */
    uint64_t *real[AXES];        /* a bit for each id that a list may have or name; NULL: all */
};

/* Puts the file's name before a sentence that lacks it. */
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
static enum hw_status get_number(const struct hw_store *store, const char *name, int64_t least,
                                 int64_t most, int64_t *value, struct hw_error *err)
{
    enum hw_status status = hw_store_get_i64(store, HW_AT_ROOT, name, value, err);

    if (status == HW_OK && (*value < least || *value > most))
        status = hw_fail(err, HW_BAD_INPUT,
                         "attribute %s is %" PRId64 ", outside %" PRId64 " to %" PRId64, name,
                         *value, least, most);
    return status;
}

/* The index of an attribute's text among words. */
static enum hw_status get_word(const struct hw_store *store, const char *name,
                               const char *const *words, int *index, struct hw_error *err)
{
    char text[64];
    enum hw_status status = hw_store_get_string(store, HW_AT_ROOT, name, text, sizeof text, err);

    if (status == HW_OK && hw_cli_choice(name, text, words, index, err) != HW_OK)
        status = HW_BAD_INPUT;
    return status;
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
    enum hw_status status = get_word(store, "layout", layouts, &layout, err);

    if (status == HW_OK)
        status = get_word(store, "order", orders, &order, err);
    if (status == HW_OK)
        status = get_word(store, "weights", weights, &weight, err);
    if (status == HW_OK)
        status = hw_store_get_string(store, HW_AT_ROOT, "graph_digest", part->graph_digest,
                                     sizeof part->graph_digest, err);
    part->spec.layout = (enum hw_layout)layout;
    part->spec.order = (enum hw_order)order;
    part->weights = (enum hw_weights)weight;
    part->spec.weights = part->weights != HW_WEIGHTS_NONE;
    return status;
}

static enum hw_status describe_counts(const struct hw_store *store, struct hw_part *part,
                                      struct hw_error *err)
{
    int64_t parts = 0, directed = 0;
    enum hw_status status = get_number(store, "parts", 1, HW_PARTS_MOST, &parts, err);

    if (status == HW_OK)
        status = get_number(store, "vertices", 1, (int64_t)1 << 48, &part->vertices, err);
    if (status == HW_OK)
        status = get_number(store, "edges", 0, INT64_MAX / 16, &part->edges, err);
    if (status == HW_OK)
        status = get_number(store, "tuples", 0, INT64_MAX / 16, &part->tuples, err);
    if (status == HW_OK)
        status = get_number(store, "directed", 0, 1, &directed, err);
    part->spec.parts = (int)parts;
    part->directed = directed != 0;
    return status;
}

static enum hw_status describe_grid(const struct hw_store *store, struct hw_part *part,
                                    hw_count block, struct hw_error *err)
{
    int64_t rows = 0, columns = 0, stated = 0;
    enum hw_status status = get_number(store, "rows", 1, part->spec.parts, &rows, err);

    if (status == HW_OK)
        status = get_number(store, "columns", 1, part->spec.parts, &columns, err);
    if (status == HW_OK)
        status = get_number(store, "block", 1, UINT32_MAX - 1, &stated, err);
    if (status != HW_OK)
        return status;
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
    hw_count most = part->vertices < INT32_MAX ? part->vertices : INT32_MAX;
    enum hw_status status = get_number(store, "nodes", 1, part->spec.parts, &nodes, err);

    if (status == HW_OK)
        status = get_number(store, "devices", 1, part->spec.parts, &devices, err);
    if (status == HW_OK)
        status = get_number(store, "degree_threshold", 0, INT64_MAX, &part->spec.threshold, err);
    if (status == HW_OK)
        status = get_number(store, "delegates", 0, most, &delegates, err);
    if (status != HW_OK)
        return status;
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

/* The path of one of a matrix's datasets. */
static const char *path_of(char path[PATH_SIZE], enum hw_matrix which, const char *name)
{
    snprintf(path, PATH_SIZE, "/%s/%s", hw_matrix_name(which), name);
    return path;
}

/* Reads the starts of the parts in a dataset, and how many elements this part
 * has. Collective. */
static enum hw_status read_starts(struct reading *reading, const char *path, hw_count *count,
                                  struct hw_error *err)
{
    int parts = reading->part->spec.parts, index = reading->part->index;
    enum hw_status status =
        hw_store_read_all(reading->store, path, HW_I64, parts + 1, reading->start, err);

    *count = 0;
    if (status == HW_OK) {
        *count = reading->start[index + 1] - reading->start[index];
        if (reading->start[0] != 0 || *count < 0)
            status = hw_fail(err, HW_BAD_INPUT, "%s does not rise from 0", path);
    }
    return hw_agree(reading->ctx->world, status, err);
}

/* Reads elements of this part into memory allocated here. Local. */
static enum hw_status load(struct reading *reading, const char *path, hw_count segment,
                           hw_count count, size_t size, void *out, struct hw_error *err)
{
    void *memory = NULL;
    enum hw_status status = hw_alloc(out, count, size, path, err);

    memcpy(&memory, out, sizeof memory);
    if (status == HW_OK && count > 0)
        status = hw_store_read(reading->store, path, segment, 0, count, memory, err);
    return status;
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

/* The segment's own length must be what the starts of another dataset say: the
 * store has checked the segments, this is for datasets that share them. */
static enum hw_status read_vertices(struct reading *reading, struct hw_error *err)
{
    struct hw_part *part = reading->part;
    struct hw_part_vertices *own = &part->own;
    hw_count count = 0;
    enum hw_status status = read_starts(reading, "/vertices/start", &count, err);

    if (status != HW_OK)
        return status;
    own->count = hw_owned(&part->spec, part->vertices, part->index);
    if (count != own->count)
        status = hw_fail(err, HW_BAD_INPUT,
                         "/vertices/start gives part %d %" PRI_COUNT " vertices, not %" PRI_LID,
                         part->index, count, own->count);
    if (status == HW_OK)
        status = load_ids(reading, "/vertices/graph_id", part->index, count, &own->graph_id, err);
    if (status == HW_OK)
        status = load(reading, "/vertices/tuples", part->index, count, sizeof *own->tuples,
                      &own->tuples, err);
    return status;
}

static enum hw_status read_delegates(struct reading *reading, struct hw_error *err)
{
    struct hw_delegate_part *separate = &reading->part->separate;
    hw_count count = separate->delegates;
    enum hw_status status =
        load_ids(reading, "/delegates/search_id", 0, count, &separate->search_id, err);

    if (status == HW_OK)
        status = load_ids(reading, "/delegates/graph_id", 0, count, &separate->graph_id, err);
    return status;
}

/* Reads the offsets of a matrix and how many entries it has. */
static enum hw_status read_offsets(struct reading *reading, enum hw_matrix which,
                                   struct hw_error *err)
{
    struct hw_part *part = reading->part;
    struct hw_csr *matrix = hw_part_matrix(part, which);
    char path[PATH_SIZE];
    hw_count rows = hw_part_matrix_rows(part, which), count = 0;
    enum hw_status status = read_starts(reading, path_of(path, which, "offset_start"), &count, err);

    if (status == HW_OK) {
        if (count != rows + 1)
            status = hw_fail(err, HW_BAD_INPUT,
                             "%s gives part %d %" PRI_COUNT " offsets, not %" PRI_COUNT, path,
                             part->index, count, rows + 1);
        status = hw_agree(reading->ctx->world, status, err);
    }
    if (status == HW_OK)
        status =
            read_starts(reading, path_of(path, which, "index_start"), &reading->lists[which], err);
    if (status != HW_OK)
        return status;
    matrix->rows = (hw_lid)rows;
    status = load(reading, path_of(path, which, "offset"), part->index, rows + 1,
                  sizeof *matrix->offset, &matrix->offset, err);
    return hw_agree(reading->ctx->world, status, err);
}

/* Reads the lists of a matrix. Local. */
static enum hw_status read_lists(struct reading *reading, enum hw_matrix which,
                                 struct hw_error *err)
{
    struct hw_part *part = reading->part;
    struct hw_csr *matrix = hw_part_matrix(part, which);
    hw_count count = reading->lists[which];
    char path[PATH_SIZE];
    enum hw_status status;

    if (which == HW_NN)
        status = load_ids(reading, path_of(path, which, "target"), part->index, count,
                          &matrix->target, err);
    else
        status = load(reading, path_of(path, which, "index"), part->index, count,
                      sizeof *matrix->index, &matrix->index, err);
    if (status == HW_OK && part->weights != HW_WEIGHTS_NONE)
        status = load(reading, path_of(path, which, "weight"), part->index, count,
                      sizeof *matrix->weight, &matrix->weight, err);
    return status;
}

/* Compares the digests of all that was read. Collective. */
static enum hw_status verify_all(struct reading *reading, struct hw_error *err)
{
    struct hw_part *part = reading->part;
    char path[PATH_SIZE];
    enum hw_status status = hw_store_verify(reading->store, "/vertices/graph_id", err);

    if (status == HW_OK)
        status = hw_store_verify(reading->store, "/vertices/tuples", err);
    if (status == HW_OK && part->spec.layout == HW_LAYOUT_DEGREE_SEPARATED) {
        status = hw_store_verify(reading->store, "/delegates/search_id", err);
        if (status == HW_OK)
            status = hw_store_verify(reading->store, "/delegates/graph_id", err);
    }
    for (int m = 0; m < HW_MATRICES && status == HW_OK; m++) {
        enum hw_matrix which = (enum hw_matrix)m;
        if (!hw_part_matrix(part, which))
            continue;
        status = hw_store_verify(reading->store, path_of(path, which, "offset"), err);
        if (status == HW_OK)
            status = hw_store_verify(
                reading->store, path_of(path, which, which == HW_NN ? "target" : "index"), err);
        if (status == HW_OK && part->weights != HW_WEIGHTS_NONE)
            status = hw_store_verify(reading->store, path_of(path, which, "weight"), err);
    }
    return status;
}

/* ---- checking ---- */

/* Sorts the part's positions by graph id; two vertices of one id are an error. */
static enum hw_status check_vertices(struct reading *reading, struct hw_error *err)
{
    struct hw_part *part = reading->part;
    struct hw_part_vertices *own = &part->own;
    uint64_t *key = NULL;
    enum hw_status status =
        hw_alloc(&own->by_graph_id, own->count, sizeof *own->by_graph_id, "own vertices", err);

    if (status == HW_OK)
        status = hw_alloc(&key, own->count, sizeof *key, "own vertices", err);
    for (hw_lid p = 0; p < own->count && status == HW_OK; p++) {
        if (own->graph_id[p] < 0 || own->graph_id[p] >= part->vertices)
            status = hw_fail(err, HW_BAD_INPUT,
                             "/vertices/graph_id names vertex %" PRI_GID " of %" PRI_GID,
                             own->graph_id[p], part->vertices);
        if (own->tuples[p] < 0 || own->tuples[p] > 2 * part->tuples)
            status =
                hw_fail(err, HW_BAD_INPUT,
                        "/vertices/tuples gives one vertex %" PRI_COUNT " of %" PRI_COUNT " tuples",
                        own->tuples[p], part->tuples);
        key[p] = (uint64_t)own->graph_id[p];
        own->by_graph_id[p] = p;
    }
    if (status == HW_OK)
        status = hw_sort(key, own->by_graph_id, own->count, hw_bits((uint64_t)part->vertices), err);
    for (hw_lid p = 1; p < own->count && status == HW_OK; p++)
        if (own->graph_id[own->by_graph_id[p]] == own->graph_id[own->by_graph_id[p - 1]])
            status =
                hw_fail(err, HW_BAD_INPUT, "/vertices/graph_id names vertex %" PRI_GID " twice",
                        own->graph_id[own->by_graph_id[p]]);
    free(key);
    return status;
}

/* The tuples' ends of all vertices are those of the graph, where all parts are
 * at hand. Collective. */
static enum hw_status check_tuples(struct reading *reading, struct hw_error *err)
{
    struct hw_part *part = reading->part;
    hw_count sum = 0, wanted = part->directed ? part->tuples : 2 * part->tuples;
    hw_count indices = part->index;

    for (hw_lid p = 0; p < part->own.count; p++)
        sum += part->own.tuples[p];
    enum hw_status status = hw_sum(reading->ctx->world, &sum, err);
    if (status == HW_OK)
        status = hw_sum(reading->ctx->world, &indices, err);
    bool all = reading->ctx->size == part->spec.parts &&
               indices == (hw_count)part->spec.parts * (part->spec.parts - 1) / 2;
    if (status == HW_OK && all && sum != wanted)
        status =
            hw_fail(err, HW_BAD_INPUT,
                    "/vertices/tuples adds up to %" PRI_COUNT ", not %" PRI_COUNT, sum, wanted);
    return status;
}

/* ---- ids that stand for vertices, others being padding or delegates' slots ---- */

static bool stands(const struct reading *reading, enum axis axis, hw_count id)
{
    const uint64_t *real = reading->real[axis];

    return !real || (real[id / 64] >> (id % 64) & 1);
}

/* Marks ids [first, first+count). */
static void mark(uint64_t *real, hw_count first, hw_count count)
{
    for (hw_count id = first; id < first + count; id++)
        real[id / 64] |= (uint64_t)1 << (id % 64);
}

static enum hw_status mark_grid(struct reading *reading, enum axis axis, struct hw_error *err)
{
    const struct hw_part *part = reading->part;
    const struct hw_layout_spec *spec = &part->spec;
    int blocks = axis == GRID_COLUMNS ? spec->rows : spec->columns;
    enum hw_status status =
        hw_alloc_zero(&reading->real[axis], (hw_count)blocks * part->grid.block / 64 + 1,
                      sizeof **reading->real, "vertices of a grid", err);

    for (int k = 0; k < blocks && status == HW_OK; k++) {
        int block = axis == GRID_COLUMNS ? part->grid.column * spec->rows + k
                                         : k * spec->rows + part->grid.row;
        mark(reading->real[axis], (hw_count)k * part->grid.block,
             hw_owned(spec, part->vertices, block));
    }
    return status;
}

/* Checks the table of delegates; takes the slots of this part's own out. */
static enum hw_status check_delegates(struct reading *reading, struct hw_error *err)
{
    struct hw_part *part = reading->part;
    const struct hw_delegate_part *separate = &part->separate;

    for (hw_lid d = 0; d < separate->delegates; d++) {
        hw_gid s = separate->search_id[d], before = d > 0 ? separate->search_id[d - 1] : -1;
        if (s <= before || s >= part->vertices)
            return hw_fail(err, HW_BAD_INPUT,
                           "/delegates/search_id does not rise within the vertices");
        if (separate->graph_id[d] < 0 || separate->graph_id[d] >= part->vertices)
            return hw_fail(err, HW_BAD_INPUT, "/delegates/graph_id names vertex %" PRI_GID,
                           separate->graph_id[d]);
        if (hw_owner(&part->spec, s) != part->index)
            continue;
        hw_lid slot = hw_position(&part->spec, s);
        if (separate->graph_id[d] != part->own.graph_id[slot])
            return hw_fail(err, HW_BAD_INPUT,
                           "/delegates/graph_id and /vertices/graph_id disagree on delegate "
                           "%" PRI_LID,
                           d);
        reading->real[SLOTS][slot / 64] &= ~((uint64_t)1 << (slot % 64));
    }
    return HW_OK;
}

/* Marks what stands for a vertex on every axis of the layout. */
static enum hw_status mark_real(struct reading *reading, struct hw_error *err)
{
    struct hw_part *part = reading->part;
    enum hw_status status;

    if (part->spec.layout != HW_LAYOUT_DEGREE_SEPARATED) {
        status = mark_grid(reading, GRID_COLUMNS, err);
        return status == HW_OK ? mark_grid(reading, GRID_ROWS, err) : status;
    }
    status = hw_alloc_zero(&reading->real[SLOTS], (hw_count)part->separate.slots / 64 + 1,
                           sizeof **reading->real, "slots", err);
    if (status != HW_OK)
        return status;
    mark(reading->real[SLOTS], 0, part->own.count);
    return check_delegates(reading, err);
}

static void axes_of(enum hw_matrix which, enum axis *rows, enum axis *columns)
{
    static const enum axis axes[HW_MATRICES][2] = {
        [HW_OUT] = {GRID_COLUMNS, GRID_ROWS}, [HW_IN] = {GRID_COLUMNS, GRID_ROWS},
        [HW_NN] = {SLOTS, SEARCH_IDS},        [HW_ND] = {SLOTS, DELEGATES},
        [HW_DN] = {DELEGATES, SLOTS},         [HW_DD] = {DELEGATES, DELEGATES},
        [HW_ND_IN] = {DELEGATES, SLOTS},      [HW_DN_IN] = {SLOTS, DELEGATES},
        [HW_DD_IN] = {DELEGATES, DELEGATES}};

    *rows = axes[which][0];
    *columns = axes[which][1];
}

/* ---- matrices ---- */

/* The offsets must rise from 0 to the number of entries, with empty lists where
 * no vertex stands. */
static enum hw_status check_offsets(struct reading *reading, enum hw_matrix which,
                                    struct hw_error *err)
{
    const struct hw_csr *matrix = hw_part_matrix(reading->part, which);
    const hw_count *offset = matrix->offset;
    hw_count wrong = 0, rows = matrix->rows;
    enum axis axis, other;

    axes_of(which, &axis, &other);
    if (offset[0] != 0 || offset[rows] != reading->lists[which])
        wrong = 1;
#pragma omp parallel for schedule(static) reduction(+ : wrong) if (rows >= HW_SERIAL_BELOW)
    for (hw_count r = 0; r < rows; r++)
        wrong +=
            offset[r] > offset[r + 1] || (offset[r] != offset[r + 1] && !stands(reading, axis, r));
    if (wrong)
        return hw_fail(err, HW_BAD_INPUT,
                       "/%s/offset of part %d does not rise from 0 to %" PRI_COUNT
                       " over the rows of vertices",
                       hw_matrix_name(which), reading->part->index, reading->lists[which]);
    return HW_OK;
}

/* Every list must name vertices that are there, in rising order. Offsets have
 * been checked. */
static enum hw_status check_lists(struct reading *reading, enum hw_matrix which,
                                  struct hw_error *err)
{
    const struct hw_csr *matrix = hw_part_matrix(reading->part, which);
    hw_count columns = hw_part_matrix_columns(reading->part, which);
    hw_count wrong = 0, endless = 0;
    bool floats = matrix->weight && reading->part->weights == HW_WEIGHTS_F32;
    enum axis other, axis;

    axes_of(which, &other, &axis);
#pragma omp parallel for schedule(dynamic, 1024) reduction(+ : wrong, endless)                    \
    if (reading->lists[which] >= HW_SERIAL_BELOW)
    for (hw_lid r = 0; r < matrix->rows; r++) {
        hw_count before = -1;
        for (hw_count e = matrix->offset[r]; e < matrix->offset[r + 1]; e++) {
            hw_count id = which == HW_NN ? matrix->target[e] : (hw_count)matrix->index[e];
            wrong += id <= before || id >= columns || !stands(reading, axis, id);
            before = id;
            endless += floats && !isfinite(matrix->weight[e].f32);
        }
    }
    if (wrong)
        return hw_fail(err, HW_BAD_INPUT,
                       "/%s/%s of part %d names %" PRI_COUNT
                       " vertices out of range or out of order",
                       hw_matrix_name(which), which == HW_NN ? "target" : "index",
                       reading->part->index, wrong);
    if (endless)
        return hw_fail(err, HW_BAD_INPUT,
                       "/%s/weight of part %d has %" PRI_COUNT " weights that are not finite",
                       hw_matrix_name(which), reading->part->index, endless);
    return HW_OK;
}

/* ---- the whole ---- */

/* What one part takes in memory. */
static hw_count part_bytes(const struct reading *reading)
{
    struct hw_part *part = reading->part;
    hw_count bytes = (hw_count)part->own.count * 28 + (hw_count)part->separate.delegates * 16;

    for (int m = 0; m < HW_MATRICES; m++)
        if (hw_part_matrix(part, (enum hw_matrix)m))
            bytes += reading->lists[m] * (m == HW_NN ? 8 : 4) +
                     (part->weights != HW_WEIGHTS_NONE ? reading->lists[m] * 4 : 0);
    return bytes;
}

/* Loads everything, in the same order on all ranks. */
static enum hw_status load_part(struct reading *reading, struct hw_error *err)
{
    struct hw_part *part = reading->part;
    enum hw_status status = HW_OK;

    for (int m = 0; m < HW_MATRICES && status == HW_OK; m++)
        if (hw_part_matrix(part, (enum hw_matrix)m))
            status = read_offsets(reading, (enum hw_matrix)m, err);
    if (status == HW_OK)
        status = hw_memory_require(reading->ctx, part_bytes(reading), "a part", err);
    if (status != HW_OK)
        return status;
    status = read_vertices(reading, err);
    if (status == HW_OK && part->spec.layout == HW_LAYOUT_DEGREE_SEPARATED)
        status = read_delegates(reading, err);
    for (int m = 0; m < HW_MATRICES && status == HW_OK; m++)
        if (hw_part_matrix(part, (enum hw_matrix)m))
            status = read_lists(reading, (enum hw_matrix)m, err);
    return hw_agree(reading->ctx->world, status, err);
}

/* Checks everything; only then may engines have it. Local. */
static enum hw_status check_part(struct reading *reading, struct hw_error *err)
{
    struct hw_part *part = reading->part;
    enum hw_status status = check_vertices(reading, err);

    if (status == HW_OK)
        status = mark_real(reading, err);
    for (int m = 0; m < HW_MATRICES && status == HW_OK; m++) {
        if (!hw_part_matrix(part, (enum hw_matrix)m))
            continue;
        status = check_offsets(reading, (enum hw_matrix)m, err);
        if (status == HW_OK)
            status = check_lists(reading, (enum hw_matrix)m, err);
    }
    return status;
}

enum hw_status hw_part_read(const struct hw_context *ctx, struct hw_store *store, int index,
                            bool weights, struct hw_part *part, struct hw_error *err)
{
    struct reading reading = {.ctx = ctx, .store = store, .part = part};
    enum hw_status status = hw_part_describe(store, part, err);

    if (status == HW_OK && (index < 0 || index >= part->spec.parts))
        status =
            hw_fail(err, HW_BAD_INPUT, "there is no part %d among %d", index, part->spec.parts);
    if (status == HW_OK)
        status = hw_alloc(&reading.start, part->spec.parts + 1, sizeof *reading.start,
                          "starts of parts", err);
    status = hw_agree(ctx->world, status, err);
    if (status != HW_OK)
        goto done;
    part->index = index;
    if (!weights) {
        part->weights = HW_WEIGHTS_NONE;
        part->spec.weights = false;
    }
    if (part->spec.layout != HW_LAYOUT_DEGREE_SEPARATED) {
        part->grid.row = index % part->spec.rows;
        part->grid.column = index / part->spec.rows;
    }
    status = load_part(&reading, err);
    if (status == HW_OK)
        status = verify_all(&reading, err);
    if (status == HW_OK) {
        status = check_part(&reading, err);
        status = hw_agree(ctx->world, status, err);
    }
    if (status == HW_OK)
        status = check_tuples(&reading, err);
done:
    free(reading.start);
    for (int axis = 0; axis < AXES; axis++)
        free(reading.real[axis]);
    if (status != HW_OK)
        hw_part_free(part);
    return name_file(store, status, err);
}
