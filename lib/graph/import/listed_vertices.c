/*
 * Vertices that are listed in a file of their own (LDBC): those without edges count, and edges
 * between others are refused. The list is parsed as edges are, each vertex a tuple to itself, and
 * its pieces lie behind those of the edges while ids are compacted.
 */
#include "lib/base/bitmap.h"
#include "lib/base/memory.h"
#include "lib/comm/exchange/large_alltoallv.h"
#include "lib/graph/import/formats/ldbc.h"
#include "lib/graph/import/import_steps.h"

#include <stdlib.h>
#include <string.h>

enum { REDUCED = 1 << 20 /* words reduced at a time */ };

/* Parses the list. Collective. */
static enum hw_status parse_list(struct hw_import *import, struct hw_pieces *listed,
                                 struct hw_error *err)
{
    struct hw_import list = {
        .ctx = import->ctx,
        .options = import->options,
        .input = import->vertices,
        .reader = &hw_reader_ldbc_vertices,
        .facts = {.vertices = -1, .expected = -1, .edges = -1, .items = -1, .take = HW_TAKE_NONE}};
    const enum hw_status status = hw_import_parse(&list, listed, err);

    import->vertices = list.input;
    return status;
}

enum hw_status hw_import_list_vertices(struct hw_import *import, struct hw_pieces *pieces,
                                       hw_count *edge_pieces, struct hw_error *err)
{
    struct hw_pieces listed = {0};
    struct hw_piece *all = NULL;

    *edge_pieces = pieces->count;
    if (!import->vertices.path)
        return HW_OK;
    HW_TRY(parse_list(import, &listed, err));
    const hw_count count = pieces->count + listed.count;
    const enum hw_status status =
        hw_agree(import->ctx.world, hw_alloc_zero(&all, count, sizeof *all, "pieces", err), err);
    if (status != HW_OK) {
        free(all);
        hw_pieces_free(&listed);
        return status;
    }
    if (pieces->count > 0)
        memcpy(all, pieces->piece, (size_t)pieces->count * sizeof *all);
    if (listed.count > 0)
        memcpy(all + pieces->count, listed.piece, (size_t)listed.count * sizeof *all);
    free(pieces->piece);
    free(listed.piece);
    pieces->piece = all;
    pieces->count = count;
    return HW_OK;
}

/* ---- the check ---- */

/* Marks what the pieces from `first` on list, on all ranks: bits of [words]. *count: how many.
 * Collective. */
static enum hw_status mark_listed(const struct hw_import *import, const struct hw_pieces *pieces,
                                  hw_count first, uint64_t *bits, hw_count words, hw_count *count,
                                  struct hw_error *err)
{
    const MPI_Comm world = import->ctx.world;

    for (hw_count k = first; k < pieces->count; k++) {
        const struct hw_piece *piece = &pieces->piece[k];
        for (hw_count i = 0; i < piece->count; i++)
            hw_bitmap_set(bits, (size_t)hw_piece_id(piece, piece->source, i));
    }
    for (hw_count w = 0; w < words; w += REDUCED) {
        const hw_count some = words - w < REDUCED ? words - w : REDUCED;
        HW_TRY(
            hw_mpi(MPI_Allreduce(MPI_IN_PLACE, bits + w, (int)some, MPI_UINT64_T, MPI_BOR, world),
                   "MPI_Allreduce", err));
    }
    *count = 0;
    for (hw_count w = 0; w < words; w++)
        *count += __builtin_popcountll(bits[w]);
    return HW_OK;
}

/* Refuses edges whose ends are not listed. Local. */
static enum hw_status check_edges(const struct hw_import *import, const struct hw_pieces *pieces,
                                  hw_count edge_pieces, const uint64_t *bits, struct hw_error *err)
{
    for (hw_count k = 0; k < edge_pieces; k++) {
        const struct hw_piece *piece = &pieces->piece[k];
        for (hw_count i = 0; i < piece->count; i++) {
            const hw_gid s = hw_piece_id(piece, piece->source, i);
            const hw_gid t = hw_piece_id(piece, piece->target, i);
            if (!hw_bitmap_test(bits, (size_t)s) || !hw_bitmap_test(bits, (size_t)t))
                return hw_fail(err, HW_BAD_INPUT,
                               "%s: has edges of a vertex that is not listed in %s",
                               import->input.path, import->vertices.path);
        }
    }
    return HW_OK;
}

static enum hw_status check_listed(const struct hw_import *import, const struct hw_pieces *pieces,
                                   hw_count edge_pieces, uint64_t *bits, hw_count words,
                                   struct hw_error *err)
{
    const char *path = import->vertices.path;
    hw_count distinct = 0, listed = 0;

    for (hw_count k = edge_pieces; k < pieces->count; k++)
        listed += pieces->piece[k].count;
    HW_TRY(hw_sum(import->ctx.world, &listed, err));
    HW_TRY(mark_listed(import, pieces, edge_pieces, bits, words, &distinct, err));
    if (distinct < listed)
        return hw_fail(err, HW_BAD_INPUT,
                       "%s: lists vertices more than once: %" PRI_COUNT " of %" PRI_COUNT
                       " lines do",
                       path, listed - distinct, listed);
    if (import->listed >= 0 && import->listed != listed)
        return hw_fail(err, HW_BAD_INPUT,
                       "%s: lists %" PRI_COUNT " vertices, and %" PRI_COUNT
                       " are there by the properties; is the file whole?",
                       path, listed, import->listed);
    return hw_agree(import->ctx.world, check_edges(import, pieces, edge_pieces, bits, err), err);
}

enum hw_status hw_import_check_listed(const struct hw_import *import, struct hw_pieces *pieces,
                                      hw_count edge_pieces, hw_gid vertices, struct hw_error *err)
{
    const hw_count words = vertices / 64 + 1;
    uint64_t *bits = NULL;

    if (!import->vertices.path)
        return HW_OK;
    HW_TRY(
        hw_memory_require(&import->ctx, words * (hw_count)sizeof *bits, "checking vertices", err));
    enum hw_status status = hw_agree(
        import->ctx.world, hw_alloc_zero(&bits, words, sizeof *bits, "listed vertices", err), err);
    if (status == HW_OK)
        status = check_listed(import, pieces, edge_pieces, bits, words, err);
    free(bits);
    for (hw_count k = edge_pieces; k < pieces->count; k++)
        hw_piece_free(&pieces->piece[k]);
    pieces->count = edge_pieces;
    return status;
}
