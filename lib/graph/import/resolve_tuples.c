/*
 * From what a file lists to the tuples of the graph: counts against the header,
 * lines of vertices into their ids, edges listed at both ends into one tuple.
 */
#include "lib/comm/exchange/large_alltoallv.h"
#include "lib/graph/import/import_steps.h"

/* Refuses counts that are not the header's. Collective. */
static enum hw_status check_counts(const struct hw_import *import, const struct hw_pieces *pieces,
                                   struct hw_error *err)
{
    const struct hw_facts *facts = &import->facts;
    const hw_count expected = facts->edges >= 0 ? facts->edges : facts->expected;
    hw_count listed = hw_pieces_tuples(pieces);

    HW_TRY(hw_sum(import->ctx.world, &listed, err));
    if (expected < 0 || listed == expected)
        return HW_OK;
    if (facts->edges < 0) {
        hw_note(&import->ctx,
                "%s: a comment promises %" PRI_COUNT " edges, %" PRI_COUNT " are there",
                import->input.path, expected, listed);
        return HW_OK;
    }
    return hw_fail(err, HW_BAD_INPUT,
                   "%s: has %" PRI_COUNT " %s, and %" PRI_COUNT " by its header%s",
                   import->input.path, listed, facts->twice ? "neighbours" : "edges", expected,
                   listed < expected ? "; is the file whole?" : "");
}

/* ---- lines of vertices ---- */

/* Makes sources, which count the lines of a piece, ids. before: lines of earlier
 * pieces. Returns whether all are below n. */
static bool shift_piece(struct hw_piece *piece, hw_count before, hw_gid n)
{
    bool below = true;

    for (hw_count i = 0; i < piece->count; i++) {
        const hw_gid id = hw_piece_id(piece, piece->source, i) + before;
        below = below && id < n;
        hw_piece_set(piece, piece->source, i, id);
    }
    return below;
}

/* Turns sources into ids. Collective. */
static enum hw_status shift(const struct hw_import *import, struct hw_pieces *pieces,
                            struct hw_error *err)
{
    const hw_gid n = import->facts.vertices;
    hw_count before = 0, records = 0;
    bool below = true;

    for (hw_count k = 0; k < pieces->count; k++)
        records += pieces->piece[k].records;
    HW_TRY(hw_prefix_sum(import->ctx.world, records, &before, err));
    HW_TRY(hw_sum(import->ctx.world, &records, err));
    for (hw_count k = 0; k < pieces->count; k++) {
        below = shift_piece(&pieces->piece[k], before, n) && below;
        before += pieces->piece[k].records;
    }
    /* A last line that is empty may lack its end. */
    if (records < n - 1)
        return hw_fail(err, HW_BAD_INPUT,
                       "%s: has %" PRI_COUNT " lines of vertices, and %" PRI_GID
                       " by its header; is the file whole?",
                       import->input.path, records, n);
    else if (!below)
        return hw_fail(err, HW_BAD_INPUT,
                       "%s: has more lines of vertices than the %" PRI_GID " of its header",
                       import->input.path, n);
    return HW_OK;
}

/* ---- edges listed twice ---- */

/* Keeps the tuples listed at their lesser end, and loops. */
static void keep_lesser(struct hw_piece *piece)
{
    hw_count kept = 0;

    for (hw_count i = 0; i < piece->count; i++) {
        const hw_gid s = hw_piece_id(piece, piece->source, i);
        const hw_gid t = hw_piece_id(piece, piece->target, i);
        if (s > t)
            continue;
        hw_piece_set(piece, piece->source, kept, s);
        hw_piece_set(piece, piece->target, kept, t);
        if (piece->weight)
            piece->weight[kept] = piece->weight[i];
        kept++;
    }
    piece->count = kept;
}

enum hw_status hw_import_resolve(struct hw_import *import, struct hw_pieces *pieces,
                                 struct hw_error *err)
{
    enum hw_status status = HW_OK;

    if (import->facts.relative)
        status = hw_agree(import->ctx.world, shift(import, pieces, err), err);
    if (status == HW_OK)
        status = check_counts(import, pieces, err);
    if (!import->facts.twice || status != HW_OK)
        return status;
    status = hw_import_match(import, pieces, err);
    if (status != HW_OK || import->options.direction == HW_DIRECTED)
        return status;
#pragma omp parallel for schedule(dynamic)
    for (hw_count k = 0; k < pieces->count; k++)
        keep_lesser(&pieces->piece[k]);
    return HW_OK;
}
