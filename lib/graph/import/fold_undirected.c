/*
 * Folding: of an undirected graph each unordered pair becomes one tuple, however
 * often and in which order it is listed, with the least of its weights, the lesser
 * id first. The tuples are sorted, so that their order does not depend on ranks:
 * pairs are distributed by value as whole numbers of 2b bits, n <= 2^b. Ids beyond 2^32 are
 * replaced by compact ones (lib/graph/compact_numbering.h), in the same order, and come back.
 */
#include "lib/base/memory.h"
#include "lib/base/radix_sort.h"
#include "lib/comm/exchange/large_alltoallv.h"
#include "lib/graph/compact_numbering.h"
#include "lib/graph/import/import_steps.h"

#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 256 /* pairs that a rank shows for cutting the range */ };

/* Pairs as numbers: lesser id times 2^bits, plus the larger. */
struct pairs {
    struct hw_compact_ids *ids; /* in place of the graph's; NULL: not */
    int bits;                   /* of an id */
    enum hw_weights weights;
    bool mixed; /* pairs with unlike weights were merged */
    hw_count count;
    uint64_t *key;    /* [count] */
    uint32_t *weight; /* [count] as bits, NULL without weights */
};

static void pairs_free(struct pairs *pairs)
{
    free(pairs->key);
    free(pairs->weight);
    pairs->key = NULL;
    pairs->weight = NULL;
}

static bool is_less(enum hw_weights weights, uint32_t a, uint32_t b)
{
    union hw_weight x, y;

    memcpy(&x, &a, sizeof x);
    memcpy(&y, &b, sizeof y);
    return weights == HW_WEIGHTS_I32 ? x.i32 < y.i32 : x.f32 < y.f32;
}

/* The id of a vertex in pairs. */
static uint64_t pair_id(const struct pairs *pairs, hw_gid id)
{
    return (uint64_t)(pairs->ids ? hw_compact_id(pairs->ids, id) : id);
}

/* Adds the ends of the tuples to the set. Local. */
static enum hw_status add_ends(const struct hw_pieces *pieces, struct hw_compact_ids *ids,
                               struct hw_error *err)
{
    enum { SOME = 8192 };
    hw_gid id[SOME];

    for (hw_count k = 0; k < pieces->count; k++) {
        const struct hw_piece *piece = &pieces->piece[k];
        for (hw_count first = 0; first < piece->count; first += SOME / 2) {
            const hw_count left = piece->count - first, some = left < SOME / 2 ? left : SOME / 2;
            for (hw_count i = 0; i < some; i++) {
                id[2 * i] = hw_piece_id(piece, piece->source, first + i);
                id[2 * i + 1] = hw_piece_id(piece, piece->target, first + i);
            }
            HW_TRY(hw_compact_ids_add(ids, 2 * some, id, err));
        }
    }
    return HW_OK;
}

/* Numbers the vertices that occur, so that 64 bits hold a pair. Collective. */
static enum hw_status compact(const struct hw_import *import, const struct hw_graph_desc *desc,
                              const struct hw_pieces *pieces, struct pairs *pairs,
                              struct hw_error *err)
{
    const struct hw_context *ctx = &import->ctx;
    const hw_count here = hw_pieces_tuples(pieces);
    hw_count tuples = here;

    HW_TRY(hw_sum(ctx->world, &tuples, err));
    HW_TRY(hw_memory_require(
        ctx, hw_compact_ids_bytes(desc->vertices, tuples) + hw_import_fold_bytes(here),
        "folding edges of so many vertices", err));
    HW_TRY_ALL(ctx, hw_compact_ids_open(desc->vertices, &pairs->ids, err), err);
    HW_TRY_ALL(ctx, add_ends(pieces, pairs->ids, err), err);
    HW_TRY(hw_compact_ids_number(ctx, pairs->ids, err));
    const hw_gid occur = hw_compact_ids_count(pairs->ids);
    if (occur > (hw_gid)1 << 32)
        return hw_fail(err, HW_BAD_INPUT,
                       "%s: has edges at more than 2^32 vertices, which --undirected cannot fold; "
                       "--keep-duplicates keeps all tuples",
                       import->input.path);
    pairs->bits = hw_bits((uint64_t)occur);
    return HW_OK;
}

/* Turns the pieces into pairs, and frees them. Local. */
static enum hw_status take_pieces(struct hw_pieces *pieces, struct pairs *pairs,
                                  struct hw_error *err)
{
    const bool weights = pairs->weights != HW_WEIGHTS_NONE;
    hw_count at = 0;

    pairs->count = hw_pieces_tuples(pieces);
    HW_TRY(hw_alloc(&pairs->key, pairs->count, sizeof *pairs->key, "pairs", err));
    if (weights)
        HW_TRY(hw_alloc(&pairs->weight, pairs->count, sizeof *pairs->weight, "weights", err));
    for (hw_count k = 0; k < pieces->count; k++) {
        const struct hw_piece *piece = &pieces->piece[k];
#pragma omp parallel for if (piece->count > HW_SERIAL_BELOW)
        for (hw_count i = 0; i < piece->count; i++) {
            const uint64_t s = pair_id(pairs, hw_piece_id(piece, piece->source, i));
            const uint64_t t = pair_id(pairs, hw_piece_id(piece, piece->target, i));
            pairs->key[at + i] = s < t ? s << pairs->bits | t : t << pairs->bits | s;
            if (weights)
                memcpy(&pairs->weight[at + i], &piece->weight[i], sizeof(uint32_t));
        }
        at += piece->count;
        hw_piece_free(&pieces->piece[k]);
    }
    return HW_OK;
}

/* Sorts pairs and merges those that are the same. Local. */
static enum hw_status tidy(struct pairs *pairs, struct hw_error *err)
{
    hw_count kept = 0;

    HW_TRY(hw_sort(pairs->key, pairs->weight, pairs->count, 2 * pairs->bits, err));
    for (hw_count i = 0; i < pairs->count; i++) {
        const uint32_t weight = pairs->weight ? pairs->weight[i] : 0;
        if (kept > 0 && pairs->key[kept - 1] == pairs->key[i]) {
            if (!pairs->weight || pairs->weight[kept - 1] == weight)
                continue;
            pairs->mixed = true;
            if (is_less(pairs->weights, weight, pairs->weight[kept - 1]))
                pairs->weight[kept - 1] = weight;
            continue;
        }
        pairs->key[kept] = pairs->key[i];
        if (pairs->weight)
            pairs->weight[kept] = weight;
        kept++;
    }
    pairs->count = kept;
    return HW_OK;
}

/* ---- dealing by value ---- */

/* Pairs that go to each rank: those between two cuts, which do not change what
 * comes out. send: [ranks]. Collective. */
static enum hw_status count_sends(const struct hw_context *ctx, const struct pairs *pairs,
                                  hw_count *send, struct hw_error *err)
{
    const hw_count all = (hw_count)SAMPLES * ctx->size;
    uint64_t mine[SAMPLES], *sample = NULL;

    for (hw_count i = 0; i < SAMPLES; i++)
        mine[i] = pairs->count > 0 ? pairs->key[i * pairs->count / SAMPLES] : 0;
    enum hw_status status =
        hw_agree(ctx->world, hw_alloc(&sample, all, sizeof *sample, "samples", err), err);
    if (status != HW_OK)
        return status;
    status = hw_mpi(
        MPI_Allgather(mine, SAMPLES, MPI_UINT64_T, sample, SAMPLES, MPI_UINT64_T, ctx->world),
        "MPI_Allgather", err);
    if (status == HW_OK)
        status = hw_agree(ctx->world, hw_sort(sample, NULL, all, 64, err), err);
    hw_count before = 0;
    for (int r = 0; r < ctx->size && status == HW_OK; r++) {
        const hw_count next = r + 1 < ctx->size ? hw_lower_bound(pairs->key, pairs->count,
                                                                 sample[(r + 1) * all / ctx->size])
                                                : pairs->count;
        send[r] = next - before;
        before = next;
    }
    free(sample);
    return status;
}

/* Each pair to the rank that its value belongs to. Collective. */
static enum hw_status assign(const struct hw_context *ctx, struct pairs *pairs,
                             struct hw_error *err)
{
    hw_count *send = NULL, *receive = NULL;
    uint64_t *key = NULL;
    uint32_t *weight = NULL;

    enum hw_status status = hw_alloc_zero(&send, ctx->size, sizeof *send, "counts", err);
    if (status == HW_OK)
        status = hw_alloc_zero(&receive, ctx->size, sizeof *receive, "counts", err);
    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK)
        status = count_sends(ctx, pairs, send, err);
    if (status == HW_OK)
        status = hw_alltoallv(ctx->world, sizeof *key, pairs->key, send, &key, receive, err);
    if (status == HW_OK && pairs->weights != HW_WEIGHTS_NONE)
        status =
            hw_alltoallv(ctx->world, sizeof *weight, pairs->weight, send, &weight, receive, err);
    if (status == HW_OK) {
        pairs_free(pairs);
        pairs->key = key;
        pairs->weight = weight;
        pairs->count = 0;
        for (int r = 0; r < ctx->size; r++)
            pairs->count += receive[r];
    } else {
        free(key);
        free(weight);
    }
    free(send);
    free(receive);
    return status;
}

/* ---- back into a piece ---- */

/* The pairs become the one piece of this rank. Local. */
static enum hw_status make_piece(struct pairs *pairs, struct hw_pieces *pieces,
                                 struct hw_error *err)
{
    const uint64_t mask = ((uint64_t)1 << pairs->bits) - 1;
    struct hw_piece *piece = NULL;

    HW_TRY(hw_alloc_zero(&piece, 1, sizeof *piece, "a piece", err));
    hw_pieces_free(pieces);
    *pieces = (struct hw_pieces){.count = 1, .piece = piece};
    piece->count = pairs->count;
    piece->integral = pairs->weights == HW_WEIGHTS_I32;
    piece->wide = pairs->ids != NULL;
    const size_t size = piece->wide ? sizeof(hw_gid) : sizeof(uint32_t);
    HW_TRY(hw_alloc(&piece->source, pairs->count, size, "edge sources", err));
    HW_TRY(hw_alloc(&piece->target, pairs->count, size, "edge targets", err));
#pragma omp parallel for
    for (hw_count i = 0; i < pairs->count; i++) {
        hw_gid end[2] = {(hw_gid)(pairs->key[i] >> pairs->bits), (hw_gid)(pairs->key[i] & mask)};
        for (int e = 0; e < 2 && pairs->ids; e++)
            end[e] = hw_compact_ids_original(pairs->ids, end[e]);
        hw_piece_set(piece, piece->source, i, end[0]);
        hw_piece_set(piece, piece->target, i, end[1]);
    }
    piece->weight = (union hw_weight *)pairs->weight;
    pairs->weight = NULL;
    return HW_OK;
}

hw_count hw_import_fold_bytes(hw_count tuples)
{
    /* Pairs and weights, and as much again while they are sorted or exchanged. */
    return tuples * 2 * (hw_count)(sizeof(uint64_t) + sizeof(uint32_t));
}

enum hw_status hw_import_fold(struct hw_import *import, const struct hw_graph_desc *desc,
                              struct hw_pieces *pieces, struct hw_error *err)
{
    const struct hw_context *ctx = &import->ctx;
    struct pairs pairs = {.bits = hw_bits((uint64_t)desc->vertices), .weights = desc->weights};

    enum hw_status status =
        desc->vertices > (hw_gid)1 << 32
            ? compact(import, desc, pieces, &pairs, err)
            : hw_memory_require(ctx, hw_import_fold_bytes(hw_pieces_tuples(pieces)),
                                "folding edges", err);
    if (status == HW_OK) {
        status = take_pieces(pieces, &pairs, err);
        if (status == HW_OK)
            status = tidy(&pairs, err);
    }
    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK && ctx->size > 1) {
        status = assign(ctx, &pairs, err);
        if (status == HW_OK)
            status = hw_agree(ctx->world, tidy(&pairs, err), err);
    }
    if (status == HW_OK)
        status = hw_agree(ctx->world, make_piece(&pairs, pieces, err), err);
    hw_count mixed = pairs.mixed;
    pairs_free(&pairs);
    hw_compact_ids_free(pairs.ids);
    if (status == HW_OK)
        status = hw_largest(ctx->world, &mixed, err);
    if (status == HW_OK && mixed)
        hw_note(ctx, "%s: lists pairs with several weights; the least is kept", import->input.path);
    return status;
}
