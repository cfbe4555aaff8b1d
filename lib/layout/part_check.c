#include "lib/layout/part_check.h"

#include "lib/base/memory.h"
#include "lib/base/radix_sort.h"
#include "lib/comm/exchange/large_alltoallv.h"

#include <math.h>
#include <stdlib.h>

/* What the rows or columns of a matrix stand for. */
enum axis {
    GRID_COLUMNS, /* the blocks of the grid column, which have lists */
    GRID_ROWS,    /* the blocks of the grid row, which lists name */
    SLOTS,
    DELEGATES,
    SEARCH_IDS,
    AXES
};

/* One part being checked. */
struct checking {
    struct hw_part *part;
    const hw_count *lists; /* entries of each matrix */
    uint64_t *real[AXES];  /* a bit for each id that a list may have or name; NULL: all */
};

/* Sorts the part's positions by graph id; two vertices of one id are an error. */
static enum hw_status check_vertices(struct checking *checking, struct hw_error *err)
{
    struct hw_part *part = checking->part;
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

/* Self-loops lie at rising positions and are negative. */
static enum hw_status check_loops(const struct checking *checking, struct hw_error *err)
{
    const struct hw_part_vertices *own = &checking->part->own;
    bool floats = checking->part->weights == HW_WEIGHTS_F32;

    for (hw_lid l = 0; l < own->loops; l++) {
        const union hw_weight *weight = &own->loop_weight[l];
        if (own->loop[l] >= own->count || (l > 0 && own->loop[l] <= own->loop[l - 1]))
            return hw_fail(err, HW_BAD_INPUT,
                           "/loops/position of part %d does not rise below %" PRI_LID,
                           checking->part->index, own->count);
        if (floats ? !(weight->f32 < 0) || !isfinite(weight->f32) : weight->i32 >= 0)
            return hw_fail(err, HW_BAD_INPUT,
                           "/loops/weight of part %d has a weight that is not negative",
                           checking->part->index);
    }
    return HW_OK;
}

/* ---- ids that stand for vertices, others being padding or delegates' slots ---- */

static bool stands(const struct checking *checking, enum axis axis, hw_count id)
{
    const uint64_t *real = checking->real[axis];

    return !real || (real[id / 64] >> (id % 64) & 1);
}

/* Marks ids [first, first+count). */
static void mark(uint64_t *real, hw_count first, hw_count count)
{
    for (hw_count id = first; id < first + count; id++)
        real[id / 64] |= (uint64_t)1 << (id % 64);
}

static enum hw_status mark_grid(struct checking *checking, enum axis axis, struct hw_error *err)
{
    const struct hw_part *part = checking->part;
    const struct hw_layout_spec *spec = &part->spec;
    int blocks = axis == GRID_COLUMNS ? spec->rows : spec->columns;

    HW_TRY(hw_alloc_zero(&checking->real[axis], (hw_count)blocks * part->grid.block / 64 + 1,
                         sizeof **checking->real, "vertices of a grid", err));
    for (int k = 0; k < blocks; k++) {
        int block = axis == GRID_COLUMNS ? part->grid.column * spec->rows + k
                                         : k * spec->rows + part->grid.row;
        mark(checking->real[axis], (hw_count)k * part->grid.block,
             hw_owned(spec, part->vertices, block));
    }
    return HW_OK;
}

/* Checks the table of delegates; takes the slots of this part's own out. */
static enum hw_status check_delegates(struct checking *checking, struct hw_error *err)
{
    struct hw_part *part = checking->part;
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
        checking->real[SLOTS][slot / 64] &= ~((uint64_t)1 << (slot % 64));
    }
    return HW_OK;
}

/* Marks what stands for a vertex on every axis of the layout. */
static enum hw_status mark_real(struct checking *checking, struct hw_error *err)
{
    struct hw_part *part = checking->part;
    enum hw_status status;

    if (part->spec.layout != HW_LAYOUT_DEGREE_SEPARATED) {
        status = mark_grid(checking, GRID_COLUMNS, err);
        return status == HW_OK ? mark_grid(checking, GRID_ROWS, err) : status;
    }
    status = hw_alloc_zero(&checking->real[SLOTS], (hw_count)part->separate.slots / 64 + 1,
                           sizeof **checking->real, "slots", err);
    if (status != HW_OK)
        return status;
    mark(checking->real[SLOTS], 0, part->own.count);
    return check_delegates(checking, err);
}

static void axes_of(enum hw_matrix which, enum axis *rows, enum axis *columns)
{
    static const enum axis axes[HW_MATRICES][2] = {
        [HW_MATRIX_OUT] = {GRID_COLUMNS, GRID_ROWS}, [HW_MATRIX_IN] = {GRID_COLUMNS, GRID_ROWS},
        [HW_MATRIX_NN] = {SLOTS, SEARCH_IDS},        [HW_MATRIX_ND] = {SLOTS, DELEGATES},
        [HW_MATRIX_DN] = {DELEGATES, SLOTS},         [HW_MATRIX_DD] = {DELEGATES, DELEGATES},
        [HW_MATRIX_ND_IN] = {DELEGATES, SLOTS},      [HW_MATRIX_DN_IN] = {SLOTS, DELEGATES},
        [HW_MATRIX_DD_IN] = {DELEGATES, DELEGATES}};

    *rows = axes[which][0];
    *columns = axes[which][1];
}

/* ---- matrices ---- */

/* The offsets must rise from 0 to the number of entries, with empty lists where
 * no vertex stands. */
static enum hw_status check_offsets(struct checking *checking, enum hw_matrix which,
                                    struct hw_error *err)
{
    const struct hw_csr *matrix = hw_part_matrix(checking->part, which);
    const hw_count *offset = matrix->offset;
    hw_count wrong = 0, rows = matrix->rows;
    enum axis axis, other;

    axes_of(which, &axis, &other);
    if (offset[0] != 0 || offset[rows] != checking->lists[which])
        wrong = 1;
#pragma omp parallel for schedule(static) reduction(+ : wrong) if (rows >= HW_SERIAL_BELOW)
    for (hw_count r = 0; r < rows; r++)
        wrong +=
            offset[r] > offset[r + 1] || (offset[r] != offset[r + 1] && !stands(checking, axis, r));
    if (wrong)
        return hw_fail(err, HW_BAD_INPUT,
                       "/%s/offset of part %d does not rise from 0 to %" PRI_COUNT
                       " over the rows of vertices",
                       hw_matrix_name(which), checking->part->index, checking->lists[which]);
    return HW_OK;
}

/* Every list must name vertices that are there, in rising order. Offsets have
 * been checked. */
static enum hw_status check_lists(struct checking *checking, enum hw_matrix which,
                                  struct hw_error *err)
{
    const struct hw_csr *matrix = hw_part_matrix(checking->part, which);
    hw_count columns = hw_part_matrix_columns(checking->part, which);
    hw_count wrong = 0, endless = 0;
    bool floats = matrix->weight && checking->part->weights == HW_WEIGHTS_F32;
    enum axis other, axis;

    axes_of(which, &other, &axis);
#pragma omp parallel for schedule(dynamic, 1024) reduction(+ : wrong, endless)                    \
    if (checking->lists[which] >= HW_SERIAL_BELOW)
    for (hw_lid r = 0; r < matrix->rows; r++) {
        hw_count before = -1;
        for (hw_count e = matrix->offset[r]; e < matrix->offset[r + 1]; e++) {
            hw_count id = which == HW_MATRIX_NN ? matrix->target[e] : (hw_count)matrix->index[e];
            wrong += id <= before || id >= columns || !stands(checking, axis, id);
            before = id;
            endless += floats && !isfinite(matrix->weight[e].f32);
        }
    }
    if (wrong)
        return hw_fail(err, HW_BAD_INPUT,
                       "/%s/%s of part %d names %" PRI_COUNT
                       " vertices out of range or out of order",
                       hw_matrix_name(which), which == HW_MATRIX_NN ? "target" : "index",
                       checking->part->index, wrong);
    if (endless)
        return hw_fail(err, HW_BAD_INPUT,
                       "/%s/weight of part %d has %" PRI_COUNT " weights that are not finite",
                       hw_matrix_name(which), checking->part->index, endless);
    return HW_OK;
}

/* What one part takes in memory. */

enum hw_status hw_part_check(struct hw_part *part, const hw_count *lists, struct hw_error *err)
{
    struct checking checking = {.part = part, .lists = lists};
    enum hw_status status = check_vertices(&checking, err);

    if (status == HW_OK)
        status = check_loops(&checking, err);
    if (status == HW_OK)
        status = mark_real(&checking, err);
    for (int m = 0; m < HW_MATRICES && status == HW_OK; m++) {
        if (!hw_part_matrix(part, (enum hw_matrix)m))
            continue;
        status = check_offsets(&checking, (enum hw_matrix)m, err);
        if (status == HW_OK)
            status = check_lists(&checking, (enum hw_matrix)m, err);
    }
    for (int axis = 0; axis < AXES; axis++)
        free(checking.real[axis]);
    return status;
}

enum hw_status hw_part_check_tuples(const struct hw_context *ctx, const struct hw_part *part,
                                    struct hw_error *err)
{
    hw_count sum = 0, wanted = part->directed ? part->tuples : 2 * part->tuples;
    hw_count indices = part->index;

    for (hw_lid p = 0; p < part->own.count; p++)
        sum += part->own.tuples[p];
    HW_TRY(hw_sum(ctx->world, &sum, err));
    HW_TRY(hw_sum(ctx->world, &indices, err));
    bool all = ctx->size == part->spec.parts &&
               indices == (hw_count)part->spec.parts * (part->spec.parts - 1) / 2;
    if (all && sum != wanted)
        return hw_fail(err, HW_BAD_INPUT,
                       "/vertices/tuples adds up to %" PRI_COUNT ", not %" PRI_COUNT, sum, wanted);
    return HW_OK;
}
