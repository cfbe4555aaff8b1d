/* Compaction of huge and sparse ids; see compact_ids.c. */
#include "lib/base/memory.h"
#include "lib/base/permutation.h"
#include "lib/base/radix_sort.h"
#include "lib/comm/exchange/large_alltoallv.h"
#include "lib/graph/import/import_steps.h"

#include <stdlib.h>
#include <string.h>

enum {
    GATHERED = 1 << 20, /* ids gathered before they are sorted, at least */
    SAMPLES = 256       /* ids that a rank shows for cutting the range */
};

/* Ids in rising order, each once, at least after tidy(). */
struct ids {
    hw_count capacity, count;
    uint64_t *id;
};

/* Sorts and drops what is there twice. */
static enum hw_status tidy(struct ids *ids, int bits, struct hw_error *err)
{
    hw_count kept = 0;

    HW_TRY(hw_sort(ids->id, NULL, ids->count, bits, err));
    for (hw_count i = 0; i < ids->count; i++)
        if (kept == 0 || ids->id[kept - 1] != ids->id[i])
            ids->id[kept++] = ids->id[i];
    ids->count = kept;
    return HW_OK;
}

/* Makes room for `more` ids: by dropping repeated ones if that gives as much again. */
static enum hw_status alloc_buffers(const struct hw_context *ctx, struct ids *ids, hw_count more,
                                    int bits, struct hw_error *err)
{
    uint64_t *grown = NULL;

    if (ids->count + more <= ids->capacity)
        return HW_OK;
    HW_TRY(tidy(ids, bits, err));
    if (2 * (ids->count + more) <= ids->capacity)
        return HW_OK;
    const hw_count capacity = 2 * (ids->count + more) + GATHERED;
    /* As much again is needed to sort them. */
    const hw_count bytes = 2 * capacity * (hw_count)sizeof *grown, share = hw_memory_share(ctx);
    if (bytes > share)
        return hw_fail(err, HW_RESOURCES,
                       "compacting ids needs %.1f MiB of memory, %.1f MiB are free",
                       (double)bytes / (1 << 20), (double)share / (1 << 20));
    HW_TRY(hw_alloc(&grown, capacity, sizeof *grown, "ids that occur", err));
    if (ids->count > 0)
        memcpy(grown, ids->id, (size_t)ids->count * sizeof *grown);
    free(ids->id);
    *ids = (struct ids){.capacity = capacity, .count = ids->count, .id = grown};
    return HW_OK;
}

/* The ids that occur on this rank. Local. */
static enum hw_status gather_ids(const struct hw_context *ctx, const struct hw_pieces *pieces,
                                 int bits, struct ids *ids, struct hw_error *err)
{
    for (hw_count k = 0; k < pieces->count; k++) {
        const struct hw_piece *piece = &pieces->piece[k];
        HW_TRY(alloc_buffers(ctx, ids, 2 * piece->count, bits, err));
        for (hw_count i = 0; i < piece->count; i++) {
            ids->id[ids->count++] = (uint64_t)hw_piece_id(piece, piece->source, i);
            ids->id[ids->count++] = (uint64_t)hw_piece_id(piece, piece->target, i);
        }
    }
    return tidy(ids, bits, err);
}

/* ---- dealing by value ---- */

/*
 * Cuts the range of ids so that ranks hold about as many each: rank r holds those in
 * [cut[r], cut[r + 1]). Which cuts does not matter to the numbering. cut: [ranks + 1].
 * Collective.
 */
static enum hw_status choose_cuts(const struct hw_context *ctx, const struct ids *ids, int bits,
                                  uint64_t *cut, struct hw_error *err)
{
    const hw_count all = (hw_count)SAMPLES * ctx->size;
    uint64_t mine[SAMPLES], *sample = NULL;
    hw_count known = 0;

    /* A rank without ids shows what no id is. */
    for (hw_count i = 0; i < SAMPLES; i++)
        mine[i] = ids->count > 0 ? ids->id[i * ids->count / SAMPLES] : UINT64_MAX;
    enum hw_status status =
        hw_agree(ctx->world, hw_alloc(&sample, all, sizeof *sample, "samples", err), err);
    if (status != HW_OK)
        return status;
    status = hw_mpi(
        MPI_Allgather(mine, SAMPLES, MPI_UINT64_T, sample, SAMPLES, MPI_UINT64_T, ctx->world),
        "MPI_Allgather", err);
    for (hw_count i = 0; i < all; i++)
        if (sample[i] != UINT64_MAX)
            sample[known++] = sample[i];
    if (status == HW_OK)
        status = hw_agree(ctx->world, hw_sort(sample, NULL, known, bits, err), err);
    cut[0] = 0;
    for (int r = 1; r < ctx->size; r++)
        cut[r] = known > 0 ? sample[r * known / ctx->size] : 0;
    cut[ctx->size] = UINT64_MAX;
    free(sample);
    return status;
}

/* What ranks ask of each other, and the numbers they get. */
struct requests {
    hw_count *send, *receive; /* [ranks] */
    uint64_t *requested;      /* ids that others ask this rank for */
    hw_gid *reply;            /* [ids of this rank] their new numbers */
};

static void requests_free(struct requests *requests)
{
    free(requests->send);
    free(requests->receive);
    free(requests->requested);
    free(requests->reply);
}

/* Sends each id to its holder; `held` is what this rank holds. Collective. */
static enum hw_status assign(const struct hw_context *ctx, const struct ids *ids, int bits,
                             struct requests *requests, struct ids *owned, struct hw_error *err)
{
    uint64_t *cut = NULL;

    enum hw_status status =
        hw_alloc_zero(&requests->send, ctx->size, sizeof *requests->send, "counts", err);
    if (status == HW_OK)
        status =
            hw_alloc_zero(&requests->receive, ctx->size, sizeof *requests->receive, "counts", err);
    if (status == HW_OK)
        status = hw_alloc(&cut, ctx->size + 1, sizeof *cut, "cuts", err);
    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK)
        status = choose_cuts(ctx, ids, bits, cut, err);
    if (status == HW_OK) {
        for (int r = 0; r < ctx->size; r++)
            requests->send[r] = hw_lower_bound(ids->id, ids->count, cut[r + 1]) -
                                hw_lower_bound(ids->id, ids->count, cut[r]);
        status = hw_alltoallv(ctx->world, sizeof *ids->id, ids->id, requests->send,
                              &requests->requested, requests->receive, err);
    }
    free(cut);
    if (status != HW_OK)
        return status;
    for (int r = 0; r < ctx->size; r++)
        owned->count += requests->receive[r];
    owned->capacity = owned->count;
    status = hw_alloc(&owned->id, owned->count, sizeof *owned->id, "ids that occur", err);
    if (status == HW_OK && owned->count > 0)
        memcpy(owned->id, requests->requested, (size_t)owned->count * sizeof *owned->id);
    if (status == HW_OK)
        status = tidy(owned, bits, err);
    return hw_agree(ctx->world, status, err);
}

/* Answers what others asked for. first: the new number of the first id held.
 * Collective. */
static enum hw_status reply(const struct hw_context *ctx, const struct ids *owned, hw_gid first,
                            hw_count wanted, struct requests *requests, struct hw_error *err)
{
    hw_gid *found = (hw_gid *)requests->requested;
    hw_count requested = 0;

    for (int r = 0; r < ctx->size; r++)
        requested += requests->receive[r];
#pragma omp parallel for
    for (hw_count i = 0; i < requested; i++)
        found[i] = first + hw_lower_bound(owned->id, owned->count, requests->requested[i]);
    HW_TRY_ALL(ctx, hw_alloc(&requests->reply, wanted, sizeof *requests->reply, "new ids", err),
               err);
    return hw_alltoallv_into(ctx->world, sizeof *found, found, requests->receive, requests->reply,
                             requests->send, err);
}

/* ---- labels ---- */

/* The labels go to the ranks that write them. first: the new number of the first id
 * held. Collective. */
static enum hw_status send_labels(const struct hw_import *import, const struct ids *owned,
                                  hw_gid first, struct hw_labelling *labelling,
                                  struct hw_error *err)
{
    const struct hw_context *ctx = &import->ctx;
    hw_count *send = NULL, *receive = NULL;
    hw_count begin, count;

    for (hw_count i = 0; i < owned->count; i++)
        owned->id[i] += (uint64_t)import->facts.first_id;
    enum hw_status status = hw_alloc_zero(&send, ctx->size, sizeof *send, "counts", err);
    if (status == HW_OK)
        status = hw_alloc_zero(&receive, ctx->size, sizeof *receive, "counts", err);
    status = hw_agree(ctx->world, status, err);
    for (int r = 0; r < ctx->size && status == HW_OK; r++) {
        hw_store_share(labelling->vertices, r, ctx->size, &begin, &count);
        const hw_count low = begin > first ? begin : first;
        const hw_count end = begin + count, last = first + owned->count;
        const hw_count high = end < last ? end : last;
        send[r] = high > low ? high - low : 0;
    }
    if (status == HW_OK)
        status = hw_alltoallv(ctx->world, sizeof *owned->id, owned->id, send, &labelling->label,
                              receive, err);
    hw_store_share(labelling->vertices, ctx->rank, ctx->size, &labelling->first, &labelling->count);
    free(send);
    free(receive);
    return status;
}

/* ---- renumbering ---- */

/* A hash table from ids to their places in `ids`; open addressing. */
struct table {
    int bits;
    uint64_t *key;   /* [2^bits]; UINT64_MAX: empty */
    uint64_t *place; /* [2^bits] */
};

static uint64_t find_slot(const struct table *table, uint64_t id)
{
    const uint64_t mask = ((uint64_t)1 << table->bits) - 1;
    uint64_t slot = hw_mix(id) & mask;

    while (table->key[slot] != id && table->key[slot] != UINT64_MAX)
        slot = (slot + 1) & mask;
    return slot;
}

static enum hw_status table_make(const struct ids *ids, struct table *table, struct hw_error *err)
{
    table->bits = hw_bits((uint64_t)ids->count) + 1;
    const hw_count slots = (hw_count)1 << table->bits;
    HW_TRY(hw_alloc(&table->key, slots, sizeof *table->key, "ids", err));
    HW_TRY(hw_alloc(&table->place, slots, sizeof *table->place, "ids", err));
    memset(table->key, 0xff, (size_t)slots * sizeof *table->key);
    for (hw_count i = 0; i < ids->count; i++) {
        const uint64_t slot = find_slot(table, ids->id[i]);
        table->key[slot] = ids->id[i];
        table->place[slot] = (uint64_t)i;
    }
    return HW_OK;
}

/* Replaces ids by their new numbers. number: [ids]. Local. */
static enum hw_status renumber(const struct ids *ids, const hw_gid *number,
                               struct hw_pieces *pieces, struct hw_error *err)
{
    struct table table = {0};

    enum hw_status status = table_make(ids, &table, err);
    if (status == HW_OK) {
#pragma omp parallel for schedule(dynamic)
        for (hw_count k = 0; k < pieces->count; k++) {
            struct hw_piece *piece = &pieces->piece[k];
            for (hw_count i = 0; i < piece->count; i++) {
                const uint64_t s = (uint64_t)hw_piece_id(piece, piece->source, i);
                const uint64_t t = (uint64_t)hw_piece_id(piece, piece->target, i);
                hw_piece_set(piece, piece->source, i, number[table.place[find_slot(&table, s)]]);
                hw_piece_set(piece, piece->target, i, number[table.place[find_slot(&table, t)]]);
            }
        }
    }
    free(table.key);
    free(table.place);
    return status;
}

enum hw_status hw_import_compact_sparse(struct hw_import *import, hw_gid largest,
                                        struct hw_pieces *pieces, struct hw_labelling *labelling,
                                        struct hw_error *err)
{
    const struct hw_context *ctx = &import->ctx;
    const int bits = hw_bits((uint64_t)largest + 1);
    struct ids ids = {0}, owned = {0};
    struct requests requests = {0};
    hw_count first = 0;

    enum hw_status status = hw_agree(ctx->world, gather_ids(ctx, pieces, bits, &ids, err), err);
    if (status == HW_OK)
        status = assign(ctx, &ids, bits, &requests, &owned, err);
    labelling->vertices = owned.count;
    if (status == HW_OK)
        status = hw_prefix_sum(ctx->world, owned.count, &first, err);
    if (status == HW_OK)
        status = hw_sum(ctx->world, &labelling->vertices, err);
    if (status == HW_OK)
        status = reply(ctx, &owned, first, ids.count, &requests, err);
    if (status == HW_OK)
        status = send_labels(import, &owned, first, labelling, err);
    if (status == HW_OK)
        status = hw_agree(ctx->world, renumber(&ids, requests.reply, pieces, err), err);
    requests_free(&requests);
    free(ids.id);
    free(owned.id);
    return status;
}
