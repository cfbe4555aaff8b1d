#include "lib/verify/rules/edge_exchange.h"

#include "lib/base/memory.h"
#include "lib/comm/exchange/large_alltoallv.h"

#include <stdlib.h>
#include <string.h>

/* A record to v's owner, followed by u's row. roots: those in whose trees v is the parent of u. */
struct record {
    struct hw_tuple tuple;
    uint64_t roots;
    union hw_weight weight; /* not sent for levels */
};

/* Bytes of a record without its row. */
static size_t head_size(bool weighted)
{
    return weighted ? sizeof(struct record) : offsetof(struct record, weight);
}

/* Bytes of a record and its row, kept at multiples of 8. */
static size_t record_size(bool weighted, size_t stride)
{
    return head_size(weighted) + (stride + 7) / 8 * 8;
}

/* The weight of tuple i. */
static inline union hw_weight weight_of(const struct hw_batch_tuples *tuples, hw_count i)
{
    return tuples->weight ? tuples->weight[i] : (union hw_weight){.i32 = 0};
}

/* Checks tuple i, or the tree edge that nobody claimed, both of whose ends are
 * local. */
static inline void check_at_once(struct hw_root_batch *batch, struct hw_verify_worker *worker,
                                 const struct hw_batch_tuples *tuples, hw_count i)
{
    hw_gid u = tuples->tuple[i].u, v = tuples->tuple[i].v;

    if (tuples->roots)
        hw_check_tree_edge(batch, &worker->violations, tuples->roots[i], u,
                           hw_rows_at(&batch->rows, u - batch->first),
                           hw_rows_at(&batch->rows, v - batch->first));
    else
        hw_check_local_tuple(batch, worker, u, v, weight_of(tuples, i));
}

/* Claims parent edges at u and writes records for the owners of v, or checks at once where v is
 * local too: tuples [begin, end) of the round. record: [round->sending] records. */
static void send_on(struct hw_root_batch *batch, int thread, const struct hw_batch_tuples *tuples,
                    hw_count begin, hw_count end, struct hw_bounded_round *round,
                    unsigned char *record)
{
    const struct hw_tuple *tuple = tuples->tuple;
    size_t head_bytes = head_size(hw_root_batch_is_weighted(batch));
    size_t size = record_size(hw_root_batch_is_weighted(batch), batch->rows.stride);
    hw_count *place = round->next + (hw_count)thread * batch->ctx->size;

    for (hw_count at = begin; at < end; at += HW_PREFETCH_GROUP) {
        hw_count stop = at + HW_PREFETCH_GROUP < end ? at + HW_PREFETCH_GROUP : end;
        for (hw_count i = at; i < stop; i++) {
            hw_prefetch_row(batch, tuple[i].u);
            hw_prefetch_parent_edges(batch, tuple[i].u, tuple[i].v);
        }
        for (hw_count i = at; i < stop; i++) {
            if (round->owner[i] == batch->ctx->rank) {
                check_at_once(batch, &batch->worker[thread], tuples, i);
                continue;
            }
            const struct record head = {
                tuple[i],
                tuples->roots ? tuples->roots[i]
                              : hw_parent_edge_at_source(batch, tuple[i].u, tuple[i].v),
                weight_of(tuples, i)};
            unsigned char *to = record + size * (size_t)place[round->owner[i]]++;
            memcpy(to, &head, head_bytes);
            memcpy(to + head_bytes, hw_rows_at(&batch->rows, tuple[i].u - batch->first),
                   batch->rows.stride);
        }
    }
}

/* Checks records [begin, end) received from other ranks; fit: [records], or NULL
 * for levels. */
static void check_records(struct hw_root_batch *batch, struct hw_verify_worker *worker,
                          const unsigned char *record, hw_count begin, hw_count end, bool edge_only,
                          struct hw_tight_roots *fit)
{
    size_t head_bytes = head_size(hw_root_batch_is_weighted(batch));
    size_t size = record_size(hw_root_batch_is_weighted(batch), batch->rows.stride);
    struct record head = {.roots = 0};

    for (hw_count at = begin; at < end; at += HW_PREFETCH_GROUP) {
        hw_count stop = at + HW_PREFETCH_GROUP < end ? at + HW_PREFETCH_GROUP : end;
        for (hw_count i = at; i < stop; i++) {
            memcpy(&head, record + size * (size_t)i, head_bytes);
            hw_prefetch_row(batch, head.tuple.v);
            hw_prefetch_parent_edges(batch, head.tuple.v, head.tuple.u);
        }
        for (hw_count i = at; i < stop; i++) {
            const unsigned char *from = record + size * (size_t)i, *row_u = from + head_bytes;
            memcpy(&head, from, head_bytes);
            hw_gid u = head.tuple.u, v = head.tuple.v;
            if (edge_only) {
                hw_check_tree_edge(batch, &worker->violations, head.roots, u, row_u,
                                   hw_rows_at(&batch->rows, v - batch->first));
                continue;
            }
            struct hw_tight_roots here =
                hw_check_tuple(batch, worker, u, row_u, head.roots, v, head.weight);
            if (fit)
                fit[i] = here;
        }
    }
}

/* Claims tight edges at the tuples' sources, from records and the replies to them. */
static void settle_records(struct hw_root_batch *batch, const unsigned char *record,
                           const struct hw_tight_roots *fit, hw_count count)
{
    size_t size = record_size(true, batch->rows.stride);
    struct record head;

    for (hw_count i = 0; i < count; i++) {
        if (!fit[i].roots)
            continue;
        memcpy(&head, record + size * (size_t)i, sizeof head);
        hw_settle_tight_roots(batch, head.tuple.u - batch->first, head.tuple.v, fit[i]);
    }
}

/* The buffers of a round of hw_forward_tuples(). */
struct forwarding {
    unsigned char *send, *received;           /* records */
    struct hw_tight_roots *answer, *answered; /* to those received and sent; NULL for levels */
};

static enum hw_status forwarding_alloc(const struct hw_root_batch *batch,
                                       const struct hw_bounded_round *round, struct forwarding *f,
                                       struct hw_error *err)
{
    size_t size = record_size(hw_root_batch_is_weighted(batch), batch->rows.stride);
    enum hw_status status = hw_alloc(&f->send, round->sending, size, "tuples to send", err);

    if (status == HW_OK)
        status = hw_alloc(&f->received, round->receiving, size, "tuples received", err);
    if (status == HW_OK && hw_root_batch_is_weighted(batch))
        status = hw_alloc(&f->answer, round->receiving, sizeof *f->answer, "answers", err);
    if (status == HW_OK && hw_root_batch_is_weighted(batch))
        status = hw_alloc(&f->answered, round->sending, sizeof *f->answered, "answers", err);
    return status;
}

static void forwarding_free(struct forwarding *f)
{
    free(f->send);
    free(f->received);
    free(f->answer);
    free(f->answered);
}

/* One round of hw_forward_tuples(): claims parent edges, sends, receives, checks, answers.
 * Collective. */
static enum hw_status forward_round(struct hw_root_batch *batch,
                                    const struct hw_batch_tuples *tuples,
                                    struct hw_bounded_round *round, struct hw_error *err)
{
    MPI_Comm world = batch->ctx->world;
    int threads = batch->ctx->threads;
    size_t size = record_size(hw_root_batch_is_weighted(batch), batch->rows.stride);
    struct forwarding f = {0};
    enum hw_status status = hw_agree(world, forwarding_alloc(batch, round, &f, err), err);

    if (status != HW_OK)
        goto done;
#pragma omp parallel for schedule(static, 1) num_threads(threads)
    for (int t = 0; t < threads; t++) {
        hw_count begin, end;
        hw_thread_range(round->length, t, threads, &begin, &end);
        send_on(batch, t, tuples, begin, end, round, f.send);
    }
    if (batch->ctx->size > 1)
        status =
            hw_alltoallv_into(world, size, f.send, round->send, f.received, round->receive, err);
    if (status != HW_OK)
        goto done;
#pragma omp parallel for schedule(static, 1) num_threads(threads)
    for (int t = 0; t < threads; t++) {
        hw_count begin, end;
        hw_thread_range(round->receiving, t, threads, &begin, &end);
        check_records(batch, &batch->worker[t], f.received, begin, end, tuples->roots != NULL,
                      f.answer);
    }
    if (hw_root_batch_is_weighted(batch) && batch->ctx->size > 1) {
        status = hw_alltoallv_into(world, sizeof *f.answer, f.answer, round->receive, f.answered,
                                   round->send, err);
        if (status == HW_OK)
            settle_records(batch, f.send, f.answered, round->sending);
    }
done:
    forwarding_free(&f);
    return status;
}

/* The tuples from `at` on. */
static struct hw_batch_tuples tuples_from(const struct hw_batch_tuples *tuples, hw_count at)
{
    struct hw_batch_tuples rest = *tuples;

    rest.count -= at;
    rest.tuple = tuples->tuple ? tuples->tuple + at : NULL;
    rest.weight = tuples->weight ? tuples->weight + at : NULL;
    rest.roots = tuples->roots ? tuples->roots + at : NULL;
    return rest;
}

enum hw_status hw_forward_tuples(struct hw_root_batch *batch, enum hw_status status,
                                 const struct hw_batch_tuples *tuples, struct hw_error *err)
{
    const struct hw_bounded_items items = {.count = tuples->count,
                                           .id = tuples->tuple ? &tuples->tuple->v : NULL,
                                           .stride = 2,
                                           .keep = true,
                                           .limit = 2 * batch->chunk};
    struct hw_bounded_round round = {.step = 2 * batch->chunk};

    do {
        status = hw_bounded_round_next(batch->ctx, batch->slices, status, &items, &round, err);
        if (status == HW_OK) {
            const struct hw_batch_tuples here = tuples_from(tuples, round.at);
            status = forward_round(batch, &here, &round, err);
        }
    } while (status == HW_OK && round.more);
    hw_bounded_round_end(&round);
    return status;
}

/* Tuples on their way to the owners of their sources. */
struct sourcing {
    struct hw_tuple *send, *received;
    union hw_weight *send_weight, *received_weight; /* NULL for levels */
};

static enum hw_status sourcing_alloc(const struct hw_root_batch *batch,
                                     const struct hw_bounded_round *round, struct sourcing *s,
                                     struct hw_error *err)
{
    enum hw_status status =
        hw_alloc(&s->send, round->sending, sizeof *s->send, "tuples to send", err);

    if (status == HW_OK)
        status =
            hw_alloc(&s->received, round->receiving, sizeof *s->received, "tuples received", err);
    if (status == HW_OK && hw_root_batch_is_weighted(batch))
        status = hw_alloc(&s->send_weight, round->sending, sizeof *s->send_weight,
                          "weights to send", err);
    if (status == HW_OK && hw_root_batch_is_weighted(batch))
        status = hw_alloc(&s->received_weight, round->receiving, sizeof *s->received_weight,
                          "weights received", err);
    return status;
}

static void sourcing_free(struct sourcing *s)
{
    free(s->send);
    free(s->received);
    free(s->send_weight);
    free(s->received_weight);
}

/* Puts a round's tuples into the order they are sent in. */
static void order_tuples(const struct hw_root_batch *batch, const struct hw_edges *edges,
                         const struct hw_bounded_round *round, struct sourcing *s)
{
    const hw_gid *source = edges->source + round->at, *target = edges->target + round->at;
    int ranks = batch->ctx->size, threads = batch->ctx->threads;

#pragma omp parallel for schedule(static, 1) num_threads(threads)
    for (int t = 0; t < threads; t++) {
        hw_count begin, end, *place = round->next + (hw_count)t * ranks;
        hw_thread_range(round->length, t, threads, &begin, &end);
        for (hw_count i = begin; i < end; i++) {
            hw_count at = place[round->owner[i]]++;
            s->send[at] = (struct hw_tuple){source[i], target[i]};
            if (s->send_weight)
                s->send_weight[at] = edges->weight[round->at + i];
        }
    }
}

/* One round of hw_exchange_tuples(): tuples to the owners of their sources, and on.
 * Collective. */
static enum hw_status source_round(struct hw_root_batch *batch, const struct hw_edges *edges,
                                   struct hw_bounded_round *round, struct hw_error *err)
{
    MPI_Comm world = batch->ctx->world;
    struct sourcing s = {0};
    enum hw_status status = hw_agree(world, sourcing_alloc(batch, round, &s, err), err);

    if (status != HW_OK)
        goto done;
    order_tuples(batch, edges, round, &s);
    status = hw_alltoallv_into(world, sizeof *s.send, s.send, round->send, s.received,
                               round->receive, err);
    if (status == HW_OK && hw_root_batch_is_weighted(batch))
        status = hw_alltoallv_into(world, sizeof *s.send_weight, s.send_weight, round->send,
                                   s.received_weight, round->receive, err);
    free(s.send);
    s.send = NULL;
    if (status == HW_OK) {
        const struct hw_batch_tuples received = {
            .count = round->receiving, .tuple = s.received, .weight = s.received_weight};
        status = hw_forward_tuples(batch, HW_OK, &received, err);
    }
done:
    sourcing_free(&s);
    return status;
}

enum hw_status hw_exchange_tuples(struct hw_root_batch *batch, enum hw_status status,
                                  const struct hw_edges *edges, struct hw_error *err)
{
    const struct hw_bounded_items items = {
        .count = edges->count, .id = edges->source, .stride = 1, .limit = 2 * batch->chunk};
    struct hw_bounded_round round = {.step = batch->chunk};

    do {
        status = hw_bounded_round_next(batch->ctx, batch->slices, status, &items, &round, err);
        if (status == HW_OK)
            status = source_round(batch, edges, &round, err);
    } while (status == HW_OK && round.more);
    hw_bounded_round_end(&round);
    return status;
}

/* ---- memory ---- */

hw_count hw_root_batch_tuple_bytes(int ranks, int roots, enum hw_lane lane)
{
    bool weighted = lane != HW_LANE_LEVEL8 && lane != HW_LANE_LEVEL32;
    const hw_count owner = sizeof(int);
    const hw_count tuple = sizeof(struct hw_tuple) + (weighted ? sizeof(union hw_weight) : 0);
    const hw_count record = (hw_count)(record_size(weighted, hw_rows_stride(roots, lane)) +
                                       (weighted ? sizeof(struct hw_tight_roots) : 0));

    /* On one rank the tree edges left over take more than the tuples did. */
    if (ranks == 1)
        return tuple + (hw_count)sizeof(uint64_t) + owner;
    /* Tuples read and tuples to send; twice as many received; records to forward and received. */
    return 2 * tuple + owner + 2 * (tuple + owner + 2 * record);
}
