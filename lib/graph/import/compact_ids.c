/*
 * Compaction: the ids that occur, in their order, become 0..n-1 and are kept as
 * labels. The order makes the numbering independent of ranks and threads.
 *
 * Where the largest id is not much beyond what the tuples take in memory, a bitmap
 * of all ids marks which occur and, with counts of bits, their new numbers.
 * Ids that are huge and sparse are gathered, sorted and distributed to the ranks by value;
 * each rank asks the holders for the numbers of those it has (compact_sparse_ids.c).
 */
#include "lib/base/memory.h"
#include "lib/comm/exchange/large_alltoallv.h"
#include "lib/graph/import/import_steps.h"

#include <stdlib.h>

enum {
    BITMAP_MIN = 1 << 24, /* bytes of a bitmap that are always worth it */
    REDUCED = 1 << 20     /* words reduced at a time */
};

/* 64 ids: which occur, and how many before them do. Together, as they are looked at
 * together. */
struct word {
    uint64_t bits, before;
};

/* Which ids occur. */
struct bitmap {
    hw_count words;
    struct word *word; /* [words + 1]; the last one has all before it */
};

/* ---- the bitmap ---- */

/* How many bits are set; in generic code for x86-64 the built-in function calls one
 * that looks up tables. */
static uint64_t count_bits(uint64_t x)
{
    x -= x >> 1 & 0x5555555555555555u;
    x = (x & 0x3333333333333333u) + (x >> 2 & 0x3333333333333333u);
    return ((x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu) * 0x0101010101010101u >> 56;
}

static void mark(struct word *word, hw_gid id)
{
    const uint64_t bit = (uint64_t)1 << (id & 63);

    if (!(__atomic_load_n(&word[id >> 6].bits, __ATOMIC_RELAXED) & bit))
        __atomic_fetch_or(&word[id >> 6].bits, bit, __ATOMIC_RELAXED);
}

static void mark_pieces(const struct hw_pieces *pieces, struct word *word)
{
#pragma omp parallel for schedule(dynamic)
    for (hw_count k = 0; k < pieces->count; k++) {
        const struct hw_piece *piece = &pieces->piece[k];
        for (hw_count i = 0; i < piece->count; i++) {
            mark(word, hw_piece_id(piece, piece->source, i));
            mark(word, hw_piece_id(piece, piece->target, i));
        }
    }
}

/* Marks all ids of all ranks and counts them. Collective. */
static enum hw_status make_bitmap(const struct hw_context *ctx, const struct hw_pieces *pieces,
                                  hw_gid largest, struct bitmap *bitmap, struct hw_error *err)
{
    bitmap->words = largest / 64 + 1;
    enum hw_status status = hw_memory_require(
        ctx, (bitmap->words + 1) * (hw_count)sizeof *bitmap->word, "compacting ids", err);
    if (status != HW_OK)
        return status;
    status = hw_agree(ctx->world,
                      hw_alloc_zero(&bitmap->word, bitmap->words + 1, sizeof *bitmap->word,
                                    "ids that occur", err),
                      err);
    if (status != HW_OK)
        return status;
    mark_pieces(pieces, bitmap->word);
    for (hw_count w = 0; w < bitmap->words && ctx->size > 1 && status == HW_OK; w += REDUCED) {
        const hw_count some = bitmap->words - w < REDUCED ? bitmap->words - w : REDUCED;
        status = hw_mpi(MPI_Allreduce(MPI_IN_PLACE, bitmap->word + w, 2 * (int)some, MPI_UINT64_T,
                                      MPI_BOR, ctx->world),
                        "MPI_Allreduce", err);
    }
    for (hw_count w = 0; w < bitmap->words; w++)
        bitmap->word[w + 1].before = bitmap->word[w].before + count_bits(bitmap->word[w].bits);
    return status;
}

/* The new number of an id that occurs. */
static hw_gid number_of(const struct bitmap *bitmap, hw_gid id)
{
    const struct word word = bitmap->word[id >> 6];
    const uint64_t below = ((uint64_t)1 << (id & 63)) - 1;

    return (hw_gid)(word.before + count_bits(word.bits & below));
}

static void renumber_pieces(const struct bitmap *bitmap, struct hw_pieces *pieces)
{
#pragma omp parallel for schedule(dynamic)
    for (hw_count k = 0; k < pieces->count; k++) {
        struct hw_piece *piece = &pieces->piece[k];
        for (hw_count i = 0; i < piece->count; i++) {
            hw_piece_set(piece, piece->source, i,
                         number_of(bitmap, hw_piece_id(piece, piece->source, i)));
            hw_piece_set(piece, piece->target, i,
                         number_of(bitmap, hw_piece_id(piece, piece->target, i)));
        }
    }
}

/* The ids with the new numbers [first, first + count). */
static void list_ids(const struct bitmap *bitmap, hw_gid first_id, hw_count first, hw_count count,
                     hw_gid *label)
{
    hw_count low = 0, after = bitmap->words;

    while (after - low > 1) {
        const hw_count middle = (low + after) / 2;
        if ((hw_count)bitmap->word[middle].before <= first)
            low = middle;
        else
            after = middle;
    }
    hw_count at = (hw_count)bitmap->word[low].before;
    for (hw_count w = low; w < bitmap->words && at < first + count; w++)
        for (uint64_t rest = bitmap->word[w].bits; rest && at < first + count;
             rest &= rest - 1, at++)
            if (at >= first)
                label[at - first] = first_id + 64 * w + __builtin_ctzll(rest);
}

static void bitmap_free(struct bitmap *bitmap)
{
    free(bitmap->word);
}

/* This rank's share of the labels. Local. */
static enum hw_status take_labels(const struct hw_import *import, const struct bitmap *bitmap,
                                  struct hw_labelling *labelling, struct hw_error *err)
{
    hw_store_share(labelling->vertices, import->ctx.rank, import->ctx.size, &labelling->first,
                   &labelling->count);
    HW_TRY(hw_alloc(&labelling->label, labelling->count, sizeof *labelling->label, "labels", err));
    list_ids(bitmap, import->facts.first_id, labelling->first, labelling->count, labelling->label);
    return HW_OK;
}

/* Compacts by a bitmap, unless all ids occur and need not be compacted. */
static enum hw_status compact_dense(const struct hw_import *import, hw_gid largest,
                                    struct hw_pieces *pieces, struct hw_labelling *labelling,
                                    struct hw_error *err)
{
    struct bitmap bitmap = {0};

    enum hw_status status = make_bitmap(&import->ctx, pieces, largest, &bitmap, err);
    if (status == HW_OK) {
        labelling->vertices = (hw_gid)bitmap.word[bitmap.words].before;
        labelling->compacted =
            labelling->vertices <= largest || import->options.compact == HW_COMPACT_ALWAYS;
    }
    if (status == HW_OK && labelling->compacted) {
        status = hw_agree(import->ctx.world, take_labels(import, &bitmap, labelling, err), err);
        if (status == HW_OK)
            renumber_pieces(&bitmap, pieces);
    }
    bitmap_free(&bitmap);
    return status;
}

/* ---- all ---- */

/* The largest id that occurs, -1 without tuples. Collective. */
static enum hw_status find_largest(const struct hw_import *import, const struct hw_pieces *pieces,
                                   hw_gid *largest, struct hw_error *err)
{
    hw_gid max = -1;

#pragma omp parallel for schedule(dynamic) reduction(max : max)
    for (hw_count k = 0; k < pieces->count; k++) {
        const struct hw_piece *piece = &pieces->piece[k];
        for (hw_count i = 0; i < piece->count; i++) {
            const hw_gid s = hw_piece_id(piece, piece->source, i);
            const hw_gid t = hw_piece_id(piece, piece->target, i);
            const hw_gid larger = s > t ? s : t;
            max = larger > max ? larger : max;
        }
    }
    *largest = max;
    return hw_largest(import->ctx.world, largest, err);
}

/* Numbers ids as they are. */
static enum hw_status keep_ids(const struct hw_import *import, hw_gid largest,
                               struct hw_labelling *labelling, struct hw_error *err)
{
    if (largest >= (hw_gid)1 << 62)
        return hw_fail(err, HW_BAD_INPUT,
                       "%s: has the vertex id %" PRI_GID
                       "; those past 2^62 need --compact auto or always",
                       import->input.path, largest);
    labelling->vertices = import->facts.vertices >= 0 ? import->facts.vertices : largest + 1;
    return HW_OK;
}

enum hw_status hw_import_compact(struct hw_import *import, struct hw_pieces *pieces,
                                 struct hw_labelling *labelling, struct hw_error *err)
{
    const enum hw_import_compact when = import->options.compact;
    hw_count tuples = hw_pieces_tuples(pieces);
    hw_gid largest;

    *labelling = (struct hw_labelling){0};
    if (import->facts.vertices >= 0 && when != HW_COMPACT_ALWAYS) {
        labelling->vertices = import->facts.vertices;
        return HW_OK;
    }
    HW_TRY(find_largest(import, pieces, &largest, err));
    HW_TRY(hw_sum(import->ctx.world, &tuples, err));
    if (largest < 0)
        return hw_fail(err, HW_BAD_INPUT, "%s: has no edges%s", import->input.path,
                       import->facts.vertices < 0 ? "; --vertices N makes a graph without any"
                                                  : ", hence no vertices that occur");
    if (when == HW_COMPACT_NEVER)
        return keep_ids(import, largest, labelling, err);
    const hw_count max = tuples / import->ctx.size * 8;
    if (largest / 4 <= (max > BITMAP_MIN ? max : BITMAP_MIN))
        return compact_dense(import, largest, pieces, labelling, err);
    labelling->compacted = true;
    return hw_import_compact_sparse(import, largest, pieces, labelling, err);
}
