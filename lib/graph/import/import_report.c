/*
 * What an import says: how much was read and what it became, and a hint where a graph that is
 * taken as directed looks as if it were meant to be undirected.
 */
#include "lib/base/memory.h"
#include "lib/base/permutation.h"
#include "lib/base/radix_sort.h"
#include "lib/comm/exchange/large_alltoallv.h"
#include "lib/graph/import/import_steps.h"

#include <stdio.h>
#include <stdlib.h>

/* Pairs that are compared, of all ranks, and the share of them, in percent, from which the hint
 * is given: few directed graphs have so many edges in both directions by chance. */
enum { PAIRS_COMPARED = 1 << 20, HINT_FROM = 10 };

enum hw_status hw_import_count_lines(struct hw_import *import, const struct hw_pieces *pieces,
                                     struct hw_error *err)
{
    hw_count lines = 0;

    for (hw_count k = 0; k < pieces->count; k++)
        lines += pieces->piece[k].lines;
    HW_TRY(hw_sum(import->ctx.world, &lines, err));
    import->lines = import->facts.line + lines;
    return HW_OK;
}

/* ---- pairs that are listed more than once ---- */

/* Hashes of unordered pairs of different vertices, those alone whose bits in `mask` are zero, so
 * that all listings of a pair are taken, or none. */
struct pair_sample {
    uint64_t mask;
    hw_count capacity, count;
    uint64_t *pair; /* [capacity] */
};

static void sample_piece(const struct hw_piece *piece, struct pair_sample *sample)
{
    for (hw_count i = 0; i < piece->count; i++) {
        const hw_gid s = hw_piece_id(piece, piece->source, i);
        const hw_gid t = hw_piece_id(piece, piece->target, i);
        const hw_gid min = s < t ? s : t, larger = s < t ? t : s;
        const uint64_t pair = hw_mix(hw_mix((uint64_t)min + 1) + (uint64_t)larger);
        if (s == t || (pair & sample->mask) != 0)
            continue;
        if (sample->count == sample->capacity)
            return;
        sample->pair[sample->count++] = pair;
    }
}

/* Takes this rank's sample. tuples: those of all ranks. Local. */
static enum hw_status take_sample(const struct hw_pieces *pieces, hw_count tuples, int ranks,
                                  struct pair_sample *sample, struct hw_error *err)
{
    const hw_count most = 2 * (hw_count)PAIRS_COMPARED / ranks, mine = hw_pieces_tuples(pieces);

    while (tuples / (hw_count)(sample->mask + 1) > PAIRS_COMPARED)
        sample->mask = 2 * sample->mask + 1;
    sample->capacity = mine < most ? mine : most;
    HW_TRY(hw_alloc(&sample->pair, sample->capacity, sizeof *sample->pair, "pairs", err));
    for (hw_count k = 0; k < pieces->count; k++)
        sample_piece(&pieces->piece[k], sample);
    return HW_OK;
}

/* The share, in percent, of the pairs that stand there more than once. Sorts them. Local. */
static enum hw_status count_repeated(uint64_t *pair, hw_count count, hw_count *percent,
                                     struct hw_error *err)
{
    hw_count distinct = 0, repeated = 0;

    HW_TRY(hw_sort(pair, NULL, count, 64, err));
    for (hw_count i = 0, next; i < count; i = next) {
        for (next = i + 1; next < count && pair[next] == pair[i];)
            next++;
        distinct++;
        repeated += next - i > 1;
    }
    *percent = distinct > 0 ? 100 * repeated / distinct : 0;
    return HW_OK;
}

/* Gathers the samples on rank 0 and counts there. send, receive: [ranks], zero. Collective. */
static enum hw_status gather_and_count(const struct hw_context *ctx, struct pair_sample *sample,
                                       hw_count *send, hw_count *receive, hw_count *percent,
                                       struct hw_error *err)
{
    uint64_t *pair = NULL;
    hw_count count = 0;

    send[0] = sample->count;
    HW_TRY(hw_alltoallv(ctx->world, sizeof *pair, sample->pair, send, &pair, receive, err));
    for (int r = 0; r < ctx->size; r++)
        count += receive[r];
    const enum hw_status status =
        hw_agree(ctx->world, count_repeated(pair, count, percent, err), err);
    free(pair);
    return status == HW_OK ? hw_largest(ctx->world, percent, err) : status;
}

enum hw_status hw_import_repeated(const struct hw_import *import, const struct hw_pieces *pieces,
                                  hw_count *percent, struct hw_error *err)
{
    const struct hw_context *ctx = &import->ctx;
    struct pair_sample sample = {0};
    hw_count tuples = hw_pieces_tuples(pieces), *send = NULL, *receive = NULL;

    *percent = 0;
    HW_TRY(hw_sum(ctx->world, &tuples, err));
    enum hw_status status = take_sample(pieces, tuples, ctx->size, &sample, err);
    if (status == HW_OK)
        status = hw_alloc_zero(&send, ctx->size, sizeof *send, "counts", err);
    if (status == HW_OK)
        status = hw_alloc_zero(&receive, ctx->size, sizeof *receive, "counts", err);
    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK)
        status = gather_and_count(ctx, &sample, send, receive, percent, err);
    free(sample.pair);
    free(send);
    free(receive);
    return status;
}

/* ---- sentences ---- */

/* What the file calls its vertices: least and largest. Collective. */
static enum hw_status find_names(const struct hw_import *import,
                                 const struct hw_labelling *labelling, hw_gid *least,
                                 hw_gid *largest, struct hw_error *err)
{
    hw_count below = INT64_MIN, above = INT64_MIN; /* least, negated; largest */

    *least = import->facts.first_id;
    *largest = import->facts.first_id + labelling->vertices - 1;
    if (!labelling->compacted)
        return HW_OK;
    if (labelling->count > 0) {
        below = -labelling->label[0];
        above = labelling->label[labelling->count - 1];
    }
    HW_TRY(hw_largest(import->ctx.world, &below, err));
    HW_TRY(hw_largest(import->ctx.world, &above, err));
    *least = -below;
    *largest = above;
    return HW_OK;
}

enum hw_status hw_import_report(const struct hw_import *import, const struct hw_graph_desc *desc,
                                const struct hw_labelling *labelling, struct hw_error *err)
{
    static const char *const weights[] = {"no weights", "f32 weights", "i32 weights"};
    const char *const path = import->input.path;
    const hw_count lines = import->lines;
    char from[64] = "", names[96] = "";
    hw_gid least = 0, largest = 0;

    HW_TRY(find_names(import, labelling, &least, &largest, err));
    if (import->reader->lines)
        snprintf(from, sizeof from, " from %" PRI_COUNT " line%s", lines, lines == 1 ? "" : "s");
    if (least != 0 || largest != desc->vertices - 1)
        snprintf(names, sizeof names, " for the file's %" PRI_GID "..%" PRI_GID, least, largest);
    hw_note(&import->ctx,
            "%s: %" PRI_GID " %s, %" PRI_COUNT " %s edge%s%s, %s%s, ids 0..%" PRI_GID "%s", path,
            desc->vertices, desc->vertices == 1 ? "vertex" : "vertices", desc->edges,
            desc->directed ? "directed" : "undirected", desc->edges == 1 ? "" : "s", from,
            import->options.drawn.weighting != HW_WEIGHTING_NONE ? "drawn " : "",
            weights[desc->weights], desc->vertices - 1, names);
    if (import->repeated >= HINT_FROM)
        hw_note(&import->ctx,
                "%s: lists %" PRI_COUNT " %% of its pairs of vertices twice or more often; if "
                "the graph is undirected, give --undirected",
                path, import->repeated);
    return HW_OK;
}
