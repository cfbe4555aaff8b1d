/* Writing partitions (doc/layouts.md and schemas/partition.json say the form). */
#include "lib/layout/layout_options.h"
#include "lib/layout/part_matrices.h"

#include "lib/base/memory.h"

#include <stdio.h>
#include <stdlib.h>

/* Elements that are converted and written at a time. */
#define PIECE (16 * (hw_count)HW_STORE_BLOCK)

/* What all ranks write. */
struct writing {
    const struct hw_context *ctx;
    struct hw_store *store;
    const struct hw_part *part; /* [count] of this rank */
    int count;
    struct hw_part about; /* what all parts share, known to ranks without parts too */
    hw_count *offset;     /* [parts+1] room */
};

/* Tells all ranks what the parts have in common. Nothing in it points anywhere. */
static enum hw_status share_about(struct writing *writing, int first_part, struct hw_error *err)
{
    struct hw_part about = {0};
    int root = writing->count > 0 && first_part == 0 ? writing->ctx->rank : -1;

    if (root >= 0) {
        const struct hw_part *part = writing->part;
        about = (struct hw_part){.spec = part->spec,
                                 .vertices = part->vertices,
                                 .edges = part->edges,
                                 .tuples = part->tuples,
                                 .directed = part->directed,
                                 .weights = part->weights};
        snprintf(about.graph_digest, sizeof about.graph_digest, "%s", part->graph_digest);
        about.grid.block = part->grid.block;
        about.separate.slots = part->separate.slots;
        about.separate.delegates = part->separate.delegates;
    }
    HW_TRY(hw_mpi(MPI_Allreduce(MPI_IN_PLACE, &root, 1, MPI_INT, MPI_MAX, writing->ctx->world),
                  "MPI_Allreduce", err));
    if (root < 0)
        return hw_fail(err, HW_INTERNAL, "no rank has the first part");
    HW_TRY(hw_mpi(MPI_Bcast(&about, (int)sizeof about, MPI_BYTE, root, writing->ctx->world),
                  "MPI_Bcast", err));
    writing->about = about;
    return HW_OK;
}

static const char *weights_name(enum hw_weights weights)
{
    return weights == HW_WEIGHTS_F32 ? "f32" : weights == HW_WEIGHTS_I32 ? "i32" : "none";
}

/* One attribute that is a number. */
struct number {
    enum hw_place place;
    const char *name;
    int64_t value;
};

static enum hw_status set_numbers(struct hw_store *store, const struct number *number, size_t count,
                                  struct hw_error *err)
{
    for (size_t i = 0; i < count; i++)
        HW_TRY(hw_store_set_i64(store, number[i].place, number[i].name, number[i].value, err));
    return HW_OK;
}

/* The attributes that depend on the layout. */
static enum hw_status set_layout(struct writing *writing, struct hw_error *err)
{
    const struct hw_part *about = &writing->about;
    const struct hw_layout_spec *spec = &about->spec;
    const struct number grid[] = {
        {HW_AT_ROOT, "rows", spec->rows},
        {HW_AT_ROOT, "columns", spec->columns},
        {HW_AT_ROOT, "block", about->grid.block},
        {HW_AT_PARAMETERS, "rows", spec->rows},
        {HW_AT_PARAMETERS, "columns", spec->columns},
    };
    const struct number separate[] = {
        {HW_AT_ROOT, "nodes", spec->nodes},
        {HW_AT_ROOT, "devices", spec->devices},
        {HW_AT_ROOT, "degree_threshold", spec->threshold},
        {HW_AT_ROOT, "delegates", about->separate.delegates},
        {HW_AT_PARAMETERS, "nodes", spec->nodes},
        {HW_AT_PARAMETERS, "devices", spec->devices},
        {HW_AT_PARAMETERS, "degree_threshold", spec->threshold},
    };

    if (spec->layout == HW_LAYOUT_DEGREE_SEPARATED)
        return set_numbers(writing->store, separate, sizeof separate / sizeof *separate, err);
    return set_numbers(writing->store, grid, sizeof grid / sizeof *grid, err);
}

static enum hw_status set_attributes(struct writing *writing, struct hw_error *err)
{
    const struct hw_part *about = &writing->about;
    const struct number numbers[] = {
        {HW_AT_ROOT, "parts", about->spec.parts},
        {HW_AT_ROOT, "vertices", about->vertices},
        {HW_AT_ROOT, "edges", about->edges},
        {HW_AT_ROOT, "tuples", about->tuples},
        {HW_AT_ROOT, "directed", about->directed},
        {HW_AT_PARAMETERS, "parts", about->spec.parts},
        {HW_AT_PARAMETERS, "weights", about->spec.weights},
    };
    const char *layout = hw_layout_name(about->spec.layout);
    const char *order = hw_order_name(about->spec.order);
    struct hw_store *store = writing->store;

    HW_TRY(hw_store_set_string(store, HW_AT_ROOT, "layout", layout, err));
    HW_TRY(hw_store_set_string(store, HW_AT_ROOT, "order", order, err));
    HW_TRY(hw_store_set_string(store, HW_AT_PARAMETERS, "layout", layout, err));
    HW_TRY(hw_store_set_string(store, HW_AT_PARAMETERS, "order", order, err));
    HW_TRY(hw_store_set_string(store, HW_AT_ROOT, "weights", weights_name(about->weights), err));
    HW_TRY(hw_store_set_string(store, HW_AT_ROOT, "graph_digest", about->graph_digest, err));
    HW_TRY(set_numbers(store, numbers, sizeof numbers / sizeof *numbers, err));
    return set_layout(writing, err);
}

/* ---- datasets ---- */

/* The type of graph ids and search ids in a file. */
static enum hw_type id_type(hw_gid vertices)
{
    return vertices > ((hw_gid)1 << 32) ? HW_I64 : HW_U32;
}

/* Writes count ids as elements of a segment, in the file's type. Local. */
static enum hw_status write_ids(struct hw_store *store, const char *path, hw_count segment,
                                const hw_gid *id, hw_count count, enum hw_type type,
                                struct hw_error *err)
{
    uint32_t *narrow = NULL;
    enum hw_status status = HW_OK;

    if (count == 0)
        return HW_OK;
    if (type == HW_I64)
        return hw_store_write(store, path, segment, 0, count, id, err);
    status = hw_alloc(&narrow, count < PIECE ? count : PIECE, sizeof *narrow, path, err);
    for (hw_count first = 0; first < count && status == HW_OK; first += PIECE) {
        hw_count piece = count - first < PIECE ? count - first : PIECE;
        for (hw_count i = 0; i < piece; i++)
            narrow[i] = (uint32_t)id[first + i];
        status = hw_store_write(store, path, segment, first, piece, narrow, err);
    }
    free(narrow);
    return status;
}

/* Makes writing->offset of the parts' lengths, which is given for this rank's
 * parts in offset[index + 1] and 0 elsewhere. Collective. */
static enum hw_status sum_offsets(struct writing *writing, struct hw_error *err)
{
    int parts = writing->about.spec.parts;
    enum hw_status status = hw_mpi(MPI_Allreduce(MPI_IN_PLACE, writing->offset, parts + 1,
                                                 HW_MPI_COUNT, MPI_SUM, writing->ctx->world),
                                   "MPI_Allreduce", err);

    for (int p = 0; p < parts; p++)
        writing->offset[p + 1] += writing->offset[p];
    return status;
}

static enum hw_status write_vertices(struct writing *writing, struct hw_error *err)
{
    const struct hw_part *about = &writing->about;
    struct hw_store *store = writing->store;
    int parts = about->spec.parts;
    enum hw_type type = id_type(about->vertices);

    writing->offset[0] = 0;
    for (int p = 0; p < parts; p++)
        writing->offset[p + 1] = writing->offset[p] + hw_owned(&about->spec, about->vertices, p);
    HW_TRY(hw_store_write_all(store, "/vertices/start", HW_I64, parts + 1, writing->offset, err));
    HW_TRY(hw_store_define(store, "/vertices/graph_id", type, about->vertices, "/vertices/start",
                           parts, writing->offset, err));
    HW_TRY(hw_store_define(store, "/vertices/tuples", HW_I64, about->vertices, "/vertices/start",
                           parts, writing->offset, err));
    for (int p = 0; p < writing->count; p++) {
        const struct hw_part *part = &writing->part[p];
        hw_count count = part->own.count;
        HW_TRY(write_ids(store, "/vertices/graph_id", part->index, part->own.graph_id, count, type,
                         err));
        if (count > 0)
            HW_TRY(hw_store_write(store, "/vertices/tuples", part->index, 0, count,
                                  part->own.tuples, err));
    }
    return HW_OK;
}

/* Writes the negative self-loops of this rank's parts. Local. */
static enum hw_status write_own_loops(struct writing *writing, struct hw_error *err)
{
    for (int p = 0; p < writing->count; p++) {
        const struct hw_part_vertices *own = &writing->part[p].own;
        int index = writing->part[p].index;
        if (own->loops == 0)
            continue;
        HW_TRY(hw_store_write(writing->store, "/loops/position", index, 0, own->loops, own->loop,
                              err));
        HW_TRY(hw_store_write(writing->store, "/loops/weight", index, 0, own->loops,
                              own->loop_weight, err));
    }
    return HW_OK;
}

/* The negative self-loops, where any part has some. Collective. */
static enum hw_status write_loops(struct writing *writing, struct hw_error *err)
{
    const struct hw_part *about = &writing->about;
    struct hw_store *store = writing->store;
    int parts = about->spec.parts;
    enum hw_type type = about->weights == HW_WEIGHTS_F32 ? HW_F32 : HW_I32;

    for (int p = 0; p <= parts; p++)
        writing->offset[p] = 0;
    for (int p = 0; p < writing->count; p++)
        writing->offset[writing->part[p].index + 1] = writing->part[p].own.loops;
    HW_TRY(sum_offsets(writing, err));
    hw_count all = writing->offset[parts];
    if (all == 0)
        return HW_OK;
    HW_TRY(hw_store_write_all(store, "/loops/start", HW_I64, parts + 1, writing->offset, err));
    HW_TRY(hw_store_define(store, "/loops/position", HW_U32, all, "/loops/start", parts,
                           writing->offset, err));
    HW_TRY(hw_store_define(store, "/loops/weight", type, all, "/loops/start", parts,
                           writing->offset, err));
    HW_TRY_ALL(writing->ctx, write_own_loops(writing, err), err);
    return HW_OK;
}

static enum hw_status write_delegates(struct writing *writing, struct hw_error *err)
{
    static const char *const path[] = {"/delegates/search_id", "/delegates/graph_id"};
    enum hw_type type = id_type(writing->about.vertices);
    hw_count count = writing->about.separate.delegates;
    enum hw_status status = HW_OK;

    for (int i = 0; i < 2 && status == HW_OK; i++) {
        status = hw_store_define(writing->store, path[i], type, count, NULL, 0, NULL, err);
        if (status == HW_OK && writing->count > 0 && writing->part[0].index == 0) {
            const struct hw_delegate_part *separate = &writing->part[0].separate;
            status = write_ids(writing->store, path[i], 0,
                               i == 0 ? separate->search_id : separate->graph_id, count, type, err);
        }
        status = hw_agree(writing->ctx->world, status, err);
    }
    return status;
}

/* The offsets of one matrix, of all parts. */
static enum hw_status write_offsets(struct writing *writing, enum hw_matrix which,
                                    struct hw_error *err)
{
    char path[HW_MATRIX_PATH], start[HW_MATRIX_PATH];
    int parts = writing->about.spec.parts;
    hw_count rows = hw_part_matrix_rows(&writing->about, which) + 1;

    hw_matrix_path(path, which, "offset");
    hw_matrix_path(start, which, "offset_start");
    for (int p = 0; p <= parts; p++)
        writing->offset[p] = p * rows;
    HW_TRY(hw_store_write_all(writing->store, start, HW_I64, parts + 1, writing->offset, err));
    HW_TRY(hw_store_define(writing->store, path, HW_I64, writing->offset[parts], start, parts,
                           writing->offset, err));
    for (int p = 0; p < writing->count; p++) {
        struct hw_part part = writing->part[p];
        HW_TRY(hw_store_write(writing->store, path, part.index, 0, rows,
                              hw_part_matrix(&part, which)->offset, err));
    }
    return HW_OK;
}

/* The lists of one matrix of one part. Local. */
static enum hw_status write_lists(struct writing *writing, enum hw_matrix which,
                                  const struct hw_part *part, struct hw_error *err)
{
    struct hw_part copy = *part;
    const struct hw_csr *matrix = hw_part_matrix(&copy, which);
    char path[HW_MATRIX_PATH];
    hw_count count = matrix->offset[matrix->rows];

    if (count == 0)
        return HW_OK;
    if (which == HW_MATRIX_NN)
        HW_TRY(write_ids(writing->store, hw_matrix_path(path, which, "target"), part->index,
                         matrix->target, count, id_type(part->vertices), err));
    else
        HW_TRY(hw_store_write(writing->store, hw_matrix_path(path, which, "index"), part->index, 0,
                              count, matrix->index, err));
    if (matrix->weight)
        HW_TRY(hw_store_write(writing->store, hw_matrix_path(path, which, "weight"), part->index, 0,
                              count, matrix->weight, err));
    return HW_OK;
}

/* Defines the datasets of one matrix's lists, whose starts are in writing->offset. Collective. */
static enum hw_status define_matrix(struct writing *writing, enum hw_matrix which,
                                    struct hw_error *err)
{
    const struct hw_part *about = &writing->about;
    struct hw_store *store = writing->store;
    char path[HW_MATRIX_PATH], start[HW_MATRIX_PATH];
    int parts = about->spec.parts;
    bool ids = which == HW_MATRIX_NN;

    hw_matrix_path(start, which, "index_start");
    HW_TRY(hw_store_write_all(store, start, HW_I64, parts + 1, writing->offset, err));
    HW_TRY(hw_store_define(store, hw_matrix_path(path, which, ids ? "target" : "index"),
                           ids ? id_type(about->vertices) : HW_U32, writing->offset[parts], start,
                           parts, writing->offset, err));
    if (about->weights != HW_WEIGHTS_NONE)
        HW_TRY(hw_store_define(store, hw_matrix_path(path, which, "weight"),
                               about->weights == HW_WEIGHTS_F32 ? HW_F32 : HW_I32,
                               writing->offset[parts], start, parts, writing->offset, err));
    return HW_OK;
}

/* The lists of one matrix of this rank's parts. Local. */
static enum hw_status write_own_lists(struct writing *writing, enum hw_matrix which,
                                      struct hw_error *err)
{
    for (int p = 0; p < writing->count; p++)
        HW_TRY(write_lists(writing, which, &writing->part[p], err));
    return HW_OK;
}

/* One matrix of all parts. Collective. */
static enum hw_status write_matrix(struct writing *writing, enum hw_matrix which,
                                   struct hw_error *err)
{
    HW_TRY_ALL(writing->ctx, write_offsets(writing, which, err), err);
    for (int p = 0; p <= writing->about.spec.parts; p++)
        writing->offset[p] = 0;
    for (int p = 0; p < writing->count; p++) {
        struct hw_part part = writing->part[p];
        const struct hw_csr *matrix = hw_part_matrix(&part, which);
        writing->offset[part.index + 1] = matrix->offset[matrix->rows];
    }
    HW_TRY(sum_offsets(writing, err));
    HW_TRY(define_matrix(writing, which, err));
    HW_TRY_ALL(writing->ctx, write_own_lists(writing, which, err), err);
    return HW_OK;
}

/* All of hw_parts_write() but the clean-up. Collective. */
static enum hw_status write_parts(struct writing *writing, int first_part, struct hw_error *err)
{
    HW_TRY(share_about(writing, first_part, err));
    HW_TRY_ALL(writing->ctx,
               hw_alloc(&writing->offset, writing->about.spec.parts + 1, sizeof *writing->offset,
                        "offsets of parts", err),
               err);
    HW_TRY(set_attributes(writing, err));
    HW_TRY_ALL(writing->ctx, write_vertices(writing, err), err);
    if (writing->about.weights != HW_WEIGHTS_NONE)
        HW_TRY(write_loops(writing, err));
    if (writing->about.spec.layout == HW_LAYOUT_DEGREE_SEPARATED)
        HW_TRY(write_delegates(writing, err));
    for (int m = 0; m < HW_MATRICES; m++)
        if (hw_part_matrix(&writing->about, (enum hw_matrix)m))
            HW_TRY(write_matrix(writing, (enum hw_matrix)m, err));
    return HW_OK;
}

enum hw_status hw_parts_write(const struct hw_context *ctx, struct hw_store *store,
                              const struct hw_part *parts, int first_part, int count,
                              struct hw_error *err)
{
    struct writing writing = {.ctx = ctx, .store = store, .part = parts, .count = count};
    enum hw_status status = write_parts(&writing, first_part, err);

    free(writing.offset);
    return status;
}
