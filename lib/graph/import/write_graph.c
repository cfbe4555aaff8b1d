/*
 * Tuples into a graph file. The ranks hold them in order, but the file is written
 * in whole digest blocks: the rank that has the first tuple of a block writes it,
 * and gets the others from the ranks after it.
 */
#include "lib/graph/import/import_steps.h"

#include "lib/base/memory.h"
#include "lib/comm/exchange/large_alltoallv.h"
#include "lib/graph/graph_writer.h"

#include <stdlib.h>
#include <string.h>

/* A tuple on its way to the rank that writes it. */
struct tuple {
    hw_gid source, target;
    union hw_weight weight;
};

/* What this rank writes: tuples [first, end) of the graph, of which its own pieces
 * have those from `skip` on, and `tail` the rest. */
struct plan {
    hw_count first, end;
    hw_count own, skip; /* tuples in the pieces, and of these sent away */
    struct tuple *tail; /* [end - first - (own - skip)] */
    hw_count *start;    /* [pieces + 1] where each piece begins among the own tuples */
};

static hw_count round_up(hw_count count)
{
    return (count + HW_STORE_BLOCK - 1) / HW_STORE_BLOCK * HW_STORE_BLOCK;
}

/* Which piece has own tuple i. */
static hw_count piece_of(const struct plan *plan, hw_count pieces, hw_count i)
{
    hw_count low = 0, high = pieces;

    while (high - low > 1) {
        const hw_count middle = (low + high) / 2;
        if (plan->start[middle] <= i)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Copies own tuples [0, count) to be sent. */
static void pack_tuples(const struct hw_pieces *pieces, hw_count count, struct tuple *tuple)
{
    hw_count at = 0;

    for (hw_count k = 0; k < pieces->count && at < count; k++) {
        const struct hw_piece *piece = &pieces->piece[k];
        for (hw_count i = 0; i < piece->count && at < count; i++, at++)
            tuple[at] =
                (struct tuple){.source = hw_piece_id(piece, piece->source, i),
                               .target = hw_piece_id(piece, piece->target, i),
                               .weight = piece->weight ? piece->weight[i] : (union hw_weight){0}};
    }
}

/* Sends what others write, and receives the rest of this rank's last block.
 * before: [ranks + 1] tuples of the ranks before each. Collective. */
static enum hw_status exchange_heads(const struct hw_context *ctx, const hw_count *before,
                                     const struct hw_pieces *pieces, struct plan *plan,
                                     struct hw_error *err)
{
    hw_count *send = NULL, *receive = NULL;
    struct tuple *head = NULL;
    const hw_count block = before[ctx->rank] / HW_STORE_BLOCK * HW_STORE_BLOCK;
    int to = ctx->rank;

    while (to > 0 && before[to] > block)
        to--;
    while (to < ctx->rank && before[to + 1] <= block)
        to++;
    enum hw_status status = hw_alloc_zero(&send, ctx->size, sizeof *send, "counts", err);
    if (status == HW_OK)
        status = hw_alloc_zero(&receive, ctx->size, sizeof *receive, "counts", err);
    if (status == HW_OK)
        status = hw_alloc(&head, plan->skip, sizeof *head, "tuples", err);
    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK) {
        pack_tuples(pieces, plan->skip, head);
        send[to] = plan->skip;
        status = hw_alltoallv(ctx->world, sizeof *head, head, send, &plan->tail, receive, err);
    }
    free(send);
    free(receive);
    free(head);
    return status;
}

static enum hw_status make_plan(const struct hw_context *ctx, const struct hw_pieces *pieces,
                                struct plan *plan, struct hw_error *err)
{
    hw_count *before = NULL;

    *plan = (struct plan){.own = hw_pieces_tuples(pieces)};
    enum hw_status status =
        hw_alloc(&plan->start, pieces->count + 1, sizeof *plan->start, "pieces", err);
    if (status == HW_OK)
        status = hw_alloc(&before, ctx->size + 1, sizeof *before, "counts", err);
    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK)
        status = hw_mpi(
            MPI_Allgather(&plan->own, 1, HW_MPI_COUNT, before + 1, 1, HW_MPI_COUNT, ctx->world),
            "MPI_Allgather", err);
    if (status == HW_OK) {
        before[0] = 0;
        for (int r = 0; r < ctx->size; r++)
            before[r + 1] += before[r];
        plan->start[0] = 0;
        for (hw_count k = 0; k < pieces->count; k++)
            plan->start[k + 1] = plan->start[k] + pieces->piece[k].count;
        const hw_count mine = before[ctx->rank], next = before[ctx->rank + 1];
        const hw_count total = before[ctx->size];
        plan->first = round_up(mine) < next ? round_up(mine) : next;
        plan->skip = plan->first - mine;
        plan->end = round_up(next) < total ? round_up(next) : total;
        if (plan->skip == plan->own)
            plan->end = plan->first;
        status = exchange_heads(ctx, before, pieces, plan, err);
    }
    free(before);
    return status;
}

/* ---- writing ---- */

enum column { SOURCE, TARGET, WEIGHT };

/* Copies tuples [from, to) of a piece, as the file has them. */
static void copy_piece(const struct hw_piece *piece, enum column column, enum hw_type type,
                       hw_count from, hw_count to, char *out)
{
    const size_t size = hw_type_size(type), count = (size_t)(to - from);
    const void *ids = column == SOURCE ? piece->source : piece->target;

    if (count == 0)
        return;
    if (column == WEIGHT)
        memcpy(out, piece->weight + from, count * size);
    else if (piece->wide == (type == HW_I64))
        memcpy(out, (const char *)ids + (size_t)from * size, count * size);
    else
        for (hw_count i = from; i < to; i++) {
            const hw_gid id = hw_piece_id(piece, ids, i);
            const uint32_t narrow = (uint32_t)id;
            memcpy(out + (size_t)(i - from) * size, type == HW_I64 ? (const void *)&id : &narrow,
                   size);
        }
}

static void copy_tail(const struct tuple *tuple, enum column column, enum hw_type type,
                      hw_count count, char *out)
{
    const size_t size = hw_type_size(type);

    for (hw_count i = 0; i < count; i++) {
        const hw_gid id = column == SOURCE ? tuple[i].source : tuple[i].target;
        const uint32_t narrow = (uint32_t)id;
        const void *value = column == WEIGHT ? (const void *)&tuple[i].weight
                            : type == HW_I64 ? (const void *)&id
                                             : &narrow;
        memcpy(out + (size_t)i * size, value, size);
    }
}

/* Puts tuples [at, at + count) of those this rank writes into out. */
static void gather(const struct hw_pieces *pieces, const struct plan *plan, enum column column,
                   enum hw_type type, hw_count at, hw_count count, char *out)
{
    const hw_count from = plan->skip + at, to = from + count;
    const hw_count own = to < plan->own ? to : plan->own;
    const size_t size = hw_type_size(type);

    if (from < own) {
        const hw_count low = piece_of(plan, pieces->count, from);
        const hw_count high = piece_of(plan, pieces->count, own - 1);
#pragma omp parallel for schedule(dynamic)
        for (hw_count k = low; k <= high; k++) {
            const hw_count begin = plan->start[k] > from ? plan->start[k] : from;
            const hw_count end = plan->start[k + 1] < own ? plan->start[k + 1] : own;
            copy_piece(&pieces->piece[k], column, type, begin - plan->start[k],
                       end - plan->start[k], out + (size_t)(begin - from) * size);
        }
    }
    const hw_count begin = from > plan->own ? from : plan->own;
    if (begin < to)
        copy_tail(plan->tail + (begin - plan->own), column, type, to - begin,
                  out + (size_t)(begin - from) * size);
}

/* Writes one chunk of all datasets. */
static enum hw_status write_chunk(const struct hw_graph_desc *desc, const struct hw_pieces *pieces,
                                  const struct plan *plan, hw_count at, hw_count count,
                                  char *buffer, struct hw_store *store, struct hw_error *err)
{
    static const char *const path[] = {"/edges/source", "/edges/target", "/edges/weight"};
    const enum hw_type id = hw_graph_id_type(desc->vertices);
    const enum hw_type weight = desc->weights == HW_WEIGHTS_I32 ? HW_I32 : HW_F32;
    const int columns = desc->weights == HW_WEIGHTS_NONE ? WEIGHT : WEIGHT + 1;

    for (int c = 0; c < columns; c++) {
        gather(pieces, plan, (enum column)c, c == WEIGHT ? weight : id, at, count, buffer);
        HW_TRY(hw_store_write(store, path[c], 0, plan->first + at, count, buffer, err));
    }
    return HW_OK;
}

enum hw_status hw_import_write(const struct hw_context *ctx, const struct hw_graph_desc *desc,
                               struct hw_pieces *pieces, struct hw_store *store,
                               struct hw_error *err)
{
    struct hw_progress bar = {0};
    struct plan plan;
    char *buffer = NULL;

    enum hw_status status = make_plan(ctx, pieces, &plan, err);
    if (status == HW_OK) {
        const hw_count total = plan.end - plan.first;
        const hw_count chunk = total < HW_GRAPH_CHUNK ? total : HW_GRAPH_CHUNK;
        status =
            hw_alloc(&buffer, chunk, hw_type_size(hw_graph_id_type(desc->vertices)), "ids", err);
        for (hw_count at = 0, some; at < total && status == HW_OK; at += some) {
            some = total - at < chunk ? total - at : chunk;
            status = write_chunk(desc, pieces, &plan, at, some, buffer, store, err);
            hw_progress(ctx, &bar, "writing", at + some, total);
        }
        hw_progress_end(&bar);
        status = hw_agree(ctx->world, status, err);
    }
    free(buffer);
    free(plan.tail);
    free(plan.start);
    return status;
}

enum hw_status hw_import_collect(const struct hw_graph_desc *desc, struct hw_pieces *pieces,
                                 struct hw_edges *edges, struct hw_error *err)
{
    hw_count at = 0;

    HW_TRY(hw_edges_alloc(edges, desc->edges, desc->weights != HW_WEIGHTS_NONE, err));
    edges->count = desc->edges;
    for (hw_count k = 0; k < pieces->count; k++) {
        struct hw_piece *piece = &pieces->piece[k];
        copy_piece(piece, SOURCE, HW_I64, 0, piece->count, (char *)(edges->source + at));
        copy_piece(piece, TARGET, HW_I64, 0, piece->count, (char *)(edges->target + at));
        if (edges->weight)
            copy_piece(piece, WEIGHT, HW_I32, 0, piece->count, (char *)(edges->weight + at));
        at += piece->count;
        hw_piece_free(piece);
    }
    return HW_OK;
}
