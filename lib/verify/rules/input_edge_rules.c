/*
 * The pass over the tuples.
 *
 * For tuple (u, v) and all roots of the batch at once: the rows of u and v are
 * compared (rules 3 and 4), and the tuple claims the links u - v at both ends
 * (rule 5), whose levels are then compared exactly (rule 2). Of parallel tuples
 * with weights any may be the tree edge: there a tuple only takes the roots whose
 * distances it fits, and what is left at the end is no edge (rule 5), or if some
 * tuple was seen, not tight (rule 2).
 *
 * On one rank both ends are at hand. On several, a tuple goes from the rank that
 * read it to the owner of u, which claims on its side and sends the tuple on to
 * the owner of v together with u's row and the roots claimed: 16 bytes, then 24
 * and a row (a byte a root), for all roots of the batch; nothing of it grows
 * with the number of ranks. With weights these are 20, 32 and four bytes a root,
 * and 16 go back: the roots that fit at u's side.
 */
#include "lib/verify/rules/root_batch.h"

#include "lib/base/memory.h"
#include "lib/comm/large_alltoallv.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* Tuples whose rows are fetched ahead together. */
#define GROUP 32

/* A tuple; or a tree edge from child u to parent v. */
struct tuple {
    hw_gid u, v;
};

/* Tuples on their way, with their weights; or tree edges that nobody claimed,
 * with their roots. */
struct batch_tuples {
    hw_count count;
    const struct tuple *tuple;
    const union hw_weight *weight; /* NULL for levels */
    const uint64_t *roots;         /* NULL for tuples */
};

/* What goes to v's owner, followed by u's row. roots: those in whose trees v is
 * the parent of u. */
struct record {
    struct tuple tuple;
    uint64_t roots;
    union hw_weight weight; /* not sent for levels */
};

/* Of the roots of a link, those that a tuple's weight fits. */
struct fit {
    uint64_t roots;
    uint64_t flat; /* of these, the ones whose distance does not rise */
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

static bool is_weighted(const struct hw_root_batch *batch)
{
    return batch->value != HW_VALUE_LEVEL;
}

/* ---- one tuple ---- */

/* Whether a tuple is a negative cycle by itself, so that no distance at its ends
 * can be right. */
static inline bool is_cycle(const struct hw_root_batch *batch, hw_gid u, hw_gid v,
                            union hw_weight weight)
{
    if (!is_weighted(batch) || (batch->desc->directed && u != v))
        return false;
    return batch->value == HW_VALUE_F32 ? weight.f32 < 0 : weight.i32 < 0;
}

/* Counts, root by root, what is wrong with a tuple whose rows may not agree. */
static void report_tuple(const struct hw_root_batch *batch, struct hw_violation_counts *tally,
                         hw_gid u, const unsigned char *row_u, hw_gid v, const unsigned char *row_v,
                         union hw_weight weight)
{
    const struct hw_rows *rows = &batch->rows;
    bool directed = batch->desc->directed, cycle = is_cycle(batch, u, v, weight);

    for (int r = 0; r < batch->roots; r++) {
        bool in_u = hw_row_reached(rows, row_u, r), in_v = hw_row_reached(rows, row_v, r);
        bool leaves = directed ? in_u && !in_v : in_u != in_v;
        bool over = (cycle && in_u && in_v) || hw_row_over(rows, row_u, row_v, r, weight) ||
                    (!directed && hw_row_over(rows, row_v, row_u, r, weight));
        if (leaves || over)
            hw_violation_counts_add(tally, HW_RULE_EDGE_LEVELS, r, u, v);
        if (leaves)
            hw_violation_counts_add(tally, HW_RULE_SPANS, r, u, v);
    }
}

/* Rule 2 for the tree edge from child to parent in each of `roots`. */
static void check_tree_edge(const struct hw_root_batch *batch, struct hw_violation_counts *tally,
                            uint64_t roots, hw_gid child, const unsigned char *row_child,
                            const unsigned char *row_parent)
{
    const union hw_weight step = {.i32 = 1};

    for (; roots; roots &= roots - 1) {
        int r = __builtin_ctzll(roots);
        if (hw_row_stand(&batch->rows, row_parent, row_child, r, step) == HW_STAND_LOOSE) {
            hw_violation_counts_add(tally, HW_RULE_TREE_LEVELS, r, child, HW_GID_NONE);
            tally->counts.suspects[r]++;
        }
    }
}

/* Those of `roots` under which a tree edge with that weight is tight. */
static struct fit fit_roots(const struct hw_root_batch *batch, struct hw_violation_counts *tally,
                            uint64_t roots, const unsigned char *row_parent,
                            const unsigned char *row_child, union hw_weight weight)
{
    struct fit fit = {0, 0};

    for (; roots; roots &= roots - 1) {
        int r = __builtin_ctzll(roots);
        uint64_t bit = roots & -roots;
        enum hw_stand stand = hw_row_stand(&batch->rows, row_parent, row_child, r, weight);
        fit.roots |= stand != HW_STAND_LOOSE ? bit : 0;
        fit.flat |= stand == HW_STAND_FLAT ? bit : 0;
        tally->counts.flat[r] += stand == HW_STAND_FLAT;
        /* Where distances fall they do not show by themselves that no parents go
         * round in a cycle. */
        tally->counts.suspects[r] += stand == HW_STAND_FALLS;
    }
    return fit;
}

/* Takes the roots that fit from the link of local child i. */
static void settle_fit(struct hw_root_batch *batch, hw_count i, hw_gid parent, struct fit fit)
{
    if (fit.roots)
        hw_parent_edges_settle(&batch->links, i, parent, fit.roots);
    if (fit.flat)
        __atomic_fetch_or(&batch->flat[i], fit.flat, __ATOMIC_RELAXED);
}

/* Empties a worker's small counters into its tally. */
static void empty_counters(struct hw_verify_worker *worker)
{
    hw_within_empty(&worker->within, worker->tally.counts.tuples);
    worker->pending = 0;
}

/* All checks of tuple (u, v) whose v is local; roots: of the link at u. Returns
 * which of these fit. */
static inline struct fit check_tuple(struct hw_root_batch *batch, struct hw_verify_worker *worker,
                                     hw_gid u, const unsigned char *row_u, uint64_t roots, hw_gid v,
                                     union hw_weight weight)
{
    const hw_count at = v - batch->first;
    const unsigned char *row_v = hw_rows_at(&batch->rows, at);
    struct fit fit = {0, 0};

    if (!hw_rows_agree(&batch->rows, batch->desc->directed, row_u, row_v, weight,
                       &worker->within) ||
        is_cycle(batch, u, v, weight))
        report_tuple(batch, &worker->tally, u, row_u, v, row_v, weight);
    if (++worker->pending == HW_WITHIN_MAX)
        empty_counters(worker);
    if (!is_weighted(batch)) {
        if (roots)
            check_tree_edge(batch, &worker->tally, roots, u, row_u, row_v);
        roots = hw_parent_edges_claim(&batch->links, at, u);
        if (roots)
            check_tree_edge(batch, &worker->tally, roots, v, row_v, row_u);
        return fit;
    }
    if (roots)
        fit = fit_roots(batch, &worker->tally, roots, row_v, row_u, weight);
    roots = hw_parent_edges_see(&batch->links, at, u);
    if (roots)
        settle_fit(batch, at, u, fit_roots(batch, &worker->tally, roots, row_u, row_v, weight));
    return fit;
}

/* The roots of the link whose child is local vertex u and whose parent is v:
 * claimed, or just seen where tuples have weights. In a directed graph tuple
 * u -> v is no edge from v to u. */
static inline uint64_t link_at_source(struct hw_root_batch *batch, hw_gid u, hw_gid v)
{
    if (batch->desc->directed)
        return 0;
    return is_weighted(batch) ? hw_parent_edges_see(&batch->links, u - batch->first, v)
                              : hw_parent_edges_claim(&batch->links, u - batch->first, v);
}

/* Fetches the row of v. (On always_inline see hw_parent_edges_prefetch().) */
static inline __attribute__((always_inline)) void fetch_row(const struct hw_root_batch *batch,
                                                            hw_gid v)
{
    const unsigned char *row = hw_rows_at(&batch->rows, v - batch->first);

    for (size_t line = 0; line < batch->rows.stride; line += 64)
        __builtin_prefetch(row + line);
}

/* What claiming at child v for a parent will touch. */
static inline __attribute__((always_inline)) void fetch_links(const struct hw_root_batch *batch,
                                                              hw_gid v, hw_gid parent)
{
    hw_parent_edges_prefetch(&batch->links, v - batch->first, parent);
}

/* All checks of a tuple both of whose ends are local. */
static inline void check_local(struct hw_root_batch *batch, struct hw_verify_worker *worker,
                               hw_gid u, hw_gid v, union hw_weight weight)
{
    uint64_t roots = link_at_source(batch, u, v);
    struct fit fit =
        check_tuple(batch, worker, u, hw_rows_at(&batch->rows, u - batch->first), roots, v, weight);

    settle_fit(batch, u - batch->first, v, fit);
}

/* ---- one rank: both ends are local ---- */

/* Checks tuples [begin, end) of a block, all of whose ends are local. */
static void check_here(struct hw_root_batch *batch, struct hw_verify_worker *worker,
                       const struct hw_edges *edges, hw_count begin, hw_count end)
{
    const hw_gid *source = edges->source, *target = edges->target;
    const union hw_weight no_weight = {.i32 = 0};

    for (hw_count at = begin; at < end; at += GROUP) {
        hw_count stop = at + GROUP < end ? at + GROUP : end;
        for (hw_count i = at; i < stop; i++) {
            fetch_row(batch, source[i]);
            fetch_row(batch, target[i]);
            fetch_links(batch, source[i], target[i]);
            fetch_links(batch, target[i], source[i]);
        }
        for (hw_count i = at; i < stop; i++)
            check_local(batch, worker, source[i], target[i],
                        edges->weight ? edges->weight[i] : no_weight);
    }
}

/* Checks a block of tuples on the only rank. */
static void check_block(struct hw_root_batch *batch, const struct hw_edges *edges)
{
    int threads = batch->ctx->threads;

#pragma omp parallel for schedule(static, 1) num_threads(threads)
    for (int t = 0; t < threads; t++) {
        hw_count begin, end;
        hw_thread_share(edges->count, t, threads, &begin, &end);
        check_here(batch, &batch->worker[t], edges, begin, end);
    }
}

/* ---- several ranks ---- */

/* The weight of tuple i. */
static inline union hw_weight weight_of(const struct batch_tuples *tuples, hw_count i)
{
    return tuples->weight ? tuples->weight[i] : (union hw_weight){.i32 = 0};
}

/* Checks tuple i, or the tree edge that nobody claimed, both of whose ends are
 * local. */
static inline void check_at_once(struct hw_root_batch *batch, struct hw_verify_worker *worker,
                                 const struct batch_tuples *tuples, hw_count i)
{
    hw_gid u = tuples->tuple[i].u, v = tuples->tuple[i].v;

    if (tuples->roots)
        check_tree_edge(batch, &worker->tally, tuples->roots[i], u,
                        hw_rows_at(&batch->rows, u - batch->first),
                        hw_rows_at(&batch->rows, v - batch->first));
    else
        check_local(batch, worker, u, v, weight_of(tuples, i));
}

/* Looks for links at u and sends on, or checks at once where v is local too:
 * tuples [begin, end) of the round. record: where the round says. */
static void send_on(struct hw_root_batch *batch, int thread, const struct batch_tuples *tuples,
                    hw_count begin, hw_count end, struct hw_bounded_exchange *round,
                    unsigned char *record)
{
    const struct tuple *tuple = tuples->tuple;
    size_t head_bytes = head_size(is_weighted(batch));
    size_t size = record_size(is_weighted(batch), batch->rows.stride);
    hw_count *place = round->place + (hw_count)thread * batch->ctx->size;

    for (hw_count at = begin; at < end; at += GROUP) {
        hw_count stop = at + GROUP < end ? at + GROUP : end;
        for (hw_count i = at; i < stop; i++) {
            fetch_row(batch, tuple[i].u);
            fetch_links(batch, tuple[i].u, tuple[i].v);
        }
        for (hw_count i = at; i < stop; i++) {
            if (round->owner[i] == batch->ctx->rank) {
                check_at_once(batch, &batch->worker[thread], tuples, i);
                continue;
            }
            const struct record head = {
                tuple[i],
                tuples->roots ? tuples->roots[i] : link_at_source(batch, tuple[i].u, tuple[i].v),
                weight_of(tuples, i)};
            unsigned char *to = record + size * (size_t)place[round->owner[i]]++;
            memcpy(to, &head, head_bytes);
            memcpy(to + head_bytes, hw_rows_at(&batch->rows, tuple[i].u - batch->first),
                   batch->rows.stride);
        }
    }
}

/* Checks records [begin, end) that came from other ranks; fit: [records], or NULL
 * for levels. */
static void check_records(struct hw_root_batch *batch, struct hw_verify_worker *worker,
                          const unsigned char *record, hw_count begin, hw_count end, bool edge_only,
                          struct fit *fit)
{
    size_t head_bytes = head_size(is_weighted(batch));
    size_t size = record_size(is_weighted(batch), batch->rows.stride);
    struct record head = {.roots = 0};

    for (hw_count at = begin; at < end; at += GROUP) {
        hw_count stop = at + GROUP < end ? at + GROUP : end;
        for (hw_count i = at; i < stop; i++) {
            memcpy(&head, record + size * (size_t)i, head_bytes);
            fetch_row(batch, head.tuple.v);
            fetch_links(batch, head.tuple.v, head.tuple.u);
        }
        for (hw_count i = at; i < stop; i++) {
            const unsigned char *from = record + size * (size_t)i, *row_u = from + head_bytes;
            memcpy(&head, from, head_bytes);
            hw_gid u = head.tuple.u, v = head.tuple.v;
            if (edge_only) {
                check_tree_edge(batch, &worker->tally, head.roots, u, row_u,
                                hw_rows_at(&batch->rows, v - batch->first));
                continue;
            }
            struct fit here = check_tuple(batch, worker, u, row_u, head.roots, v, head.weight);
            if (fit)
                fit[i] = here;
        }
    }
}

/* Settles what fits at the side of the tuples' sources: records and the answers
 * to them. */
static void settle_records(struct hw_root_batch *batch, const unsigned char *record,
                           const struct fit *fit, hw_count count)
{
    size_t size = record_size(true, batch->rows.stride);
    struct record head;

    for (hw_count i = 0; i < count; i++) {
        if (!fit[i].roots)
            continue;
        memcpy(&head, record + size * (size_t)i, sizeof head);
        settle_fit(batch, head.tuple.u - batch->first, head.tuple.v, fit[i]);
    }
}

/* What a round of forward() sends and receives. */
struct forwarding {
    unsigned char *send, *received; /* records */
    struct fit *answer, *answered;  /* to those received and sent; NULL for levels */
};

static enum hw_status forwarding_alloc(const struct hw_root_batch *batch,
                                       const struct hw_bounded_exchange *round,
                                       struct forwarding *f, struct hw_error *err)
{
    size_t size = record_size(is_weighted(batch), batch->rows.stride);
    enum hw_status status = hw_alloc(&f->send, round->sending, size, "tuples to send", err);

    if (status == HW_OK)
        status = hw_alloc(&f->received, round->receiving, size, "tuples received", err);
    if (status == HW_OK && is_weighted(batch))
        status = hw_alloc(&f->answer, round->receiving, sizeof *f->answer, "answers", err);
    if (status == HW_OK && is_weighted(batch))
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

/* One round of forward(): looks for links, sends, receives, checks, answers.
 * Collective. */
static enum hw_status forward_round(struct hw_root_batch *batch, const struct batch_tuples *tuples,
                                    struct hw_bounded_exchange *round, struct hw_error *err)
{
    MPI_Comm world = batch->ctx->world;
    int threads = batch->ctx->threads;
    size_t size = record_size(is_weighted(batch), batch->rows.stride);
    struct forwarding f = {0};
    enum hw_status status = hw_agree(world, forwarding_alloc(batch, round, &f, err), err);

    if (status != HW_OK)
        goto done;
#pragma omp parallel for schedule(static, 1) num_threads(threads)
    for (int t = 0; t < threads; t++) {
        hw_count begin, end;
        hw_thread_share(round->length, t, threads, &begin, &end);
        send_on(batch, t, tuples, begin, end, round, f.send);
    }
    if (batch->ctx->size > 1)
        status =
            hw_exchange_into(world, size, f.send, round->send, f.received, round->receive, err);
    if (status != HW_OK)
        goto done;
#pragma omp parallel for schedule(static, 1) num_threads(threads)
    for (int t = 0; t < threads; t++) {
        hw_count begin, end;
        hw_thread_share(round->receiving, t, threads, &begin, &end);
        check_records(batch, &batch->worker[t], f.received, begin, end, tuples->roots != NULL,
                      f.answer);
    }
    if (is_weighted(batch) && batch->ctx->size > 1) {
        status = hw_exchange_into(world, sizeof *f.answer, f.answer, round->receive, f.answered,
                                  round->send, err);
        if (status == HW_OK)
            settle_records(batch, f.send, f.answered, round->sending);
    }
done:
    forwarding_free(&f);
    return status;
}

/* The tuples from `at` on. */
static struct batch_tuples tuples_from(const struct batch_tuples *tuples, hw_count at)
{
    struct batch_tuples rest = *tuples;

    rest.count -= at;
    rest.tuple = tuples->tuple ? tuples->tuple + at : NULL;
    rest.weight = tuples->weight ? tuples->weight + at : NULL;
    rest.roots = tuples->roots ? tuples->roots + at : NULL;
    return rest;
}

/*
 * Takes tuples (or, with roots, tree edges) whose u is local to the owners of
 * their v and checks them there. `status` is how this rank fared until here.
 * Collective.
 */
static enum hw_status forward(struct hw_root_batch *batch, enum hw_status status,
                              const struct batch_tuples *tuples, struct hw_error *err)
{
    const struct hw_items items = {.count = tuples->count,
                                   .id = tuples->tuple ? &tuples->tuple->v : NULL,
                                   .stride = 2,
                                   .keep = true,
                                   .limit = 2 * batch->chunk};
    struct hw_bounded_exchange round = {.step = 2 * batch->chunk};

    do {
        status = hw_bounded_exchange_next(batch->ctx, batch->slices, status, &items, &round, err);
        if (status == HW_OK) {
            const struct batch_tuples here = tuples_from(tuples, round.at);
            status = forward_round(batch, &here, &round, err);
        }
    } while (status == HW_OK && round.more);
    hw_bounded_exchange_end(&round);
    return status;
}

/* Tuples on their way to the owners of their sources. */
struct sourcing {
    struct tuple *send, *received;
    union hw_weight *send_weight, *received_weight; /* NULL for levels */
};

static enum hw_status sourcing_alloc(const struct hw_root_batch *batch,
                                     const struct hw_bounded_exchange *round, struct sourcing *s,
                                     struct hw_error *err)
{
    enum hw_status status =
        hw_alloc(&s->send, round->sending, sizeof *s->send, "tuples to send", err);

    if (status == HW_OK)
        status =
            hw_alloc(&s->received, round->receiving, sizeof *s->received, "tuples received", err);
    if (status == HW_OK && is_weighted(batch))
        status = hw_alloc(&s->send_weight, round->sending, sizeof *s->send_weight,
                          "weights to send", err);
    if (status == HW_OK && is_weighted(batch))
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
                         const struct hw_bounded_exchange *round, struct sourcing *s)
{
    const hw_gid *source = edges->source + round->at, *target = edges->target + round->at;
    int ranks = batch->ctx->size, threads = batch->ctx->threads;

#pragma omp parallel for schedule(static, 1) num_threads(threads)
    for (int t = 0; t < threads; t++) {
        hw_count begin, end, *place = round->place + (hw_count)t * ranks;
        hw_thread_share(round->length, t, threads, &begin, &end);
        for (hw_count i = begin; i < end; i++) {
            hw_count at = place[round->owner[i]]++;
            s->send[at] = (struct tuple){source[i], target[i]};
            if (s->send_weight)
                s->send_weight[at] = edges->weight[round->at + i];
        }
    }
}

/* One round of exchange_block(): tuples to the owners of their sources, and on.
 * Collective. */
static enum hw_status source_round(struct hw_root_batch *batch, const struct hw_edges *edges,
                                   struct hw_bounded_exchange *round, struct hw_error *err)
{
    MPI_Comm world = batch->ctx->world;
    struct sourcing s = {0};
    enum hw_status status = hw_agree(world, sourcing_alloc(batch, round, &s, err), err);

    if (status != HW_OK)
        goto done;
    order_tuples(batch, edges, round, &s);
    status = hw_exchange_into(world, sizeof *s.send, s.send, round->send, s.received,
                              round->receive, err);
    if (status == HW_OK && is_weighted(batch))
        status = hw_exchange_into(world, sizeof *s.send_weight, s.send_weight, round->send,
                                  s.received_weight, round->receive, err);
    free(s.send);
    s.send = NULL;
    if (status == HW_OK) {
        const struct batch_tuples received = {
            .count = round->receiving, .tuple = s.received, .weight = s.received_weight};
        status = forward(batch, HW_OK, &received, err);
    }
done:
    sourcing_free(&s);
    return status;
}

/* Checks a block of tuples that each rank has read. Collective. */
static enum hw_status exchange_block(struct hw_root_batch *batch, enum hw_status status,
                                     const struct hw_edges *edges, struct hw_error *err)
{
    const struct hw_items items = {
        .count = edges->count, .id = edges->source, .stride = 1, .limit = 2 * batch->chunk};
    struct hw_bounded_exchange round = {.step = batch->chunk};

    do {
        status = hw_bounded_exchange_next(batch->ctx, batch->slices, status, &items, &round, err);
        if (status == HW_OK)
            status = source_round(batch, edges, &round, err);
    } while (status == HW_OK && round.more);
    hw_bounded_exchange_end(&round);
    return status;
}

/* ---- all tuples ---- */

hw_count hw_root_batch_tuple_bytes(int ranks, int roots, enum hw_lane lane)
{
    bool weighted = lane != HW_LANE_LEVEL8 && lane != HW_LANE_LEVEL32;
    const hw_count owner = sizeof(int);
    const hw_count tuple = sizeof(struct tuple) + (weighted ? sizeof(union hw_weight) : 0);
    const hw_count record = (hw_count)(record_size(weighted, hw_rows_stride(roots, lane)) +
                                       (weighted ? sizeof(struct fit) : 0));

    /* On one rank the tree edges left over take more than the tuples did. */
    if (ranks == 1)
        return tuple + (hw_count)sizeof(uint64_t) + owner;
    /* As read and to send; twice as many received; those to send on, received. */
    return 2 * tuple + owner + 2 * (tuple + owner + 2 * record);
}

hw_count hw_root_batch_rounds(const struct hw_graph *graph, int ranks, hw_count chunk)
{
    hw_count rounds = 0;

    for (int r = 0; r < ranks; r++) {
        hw_count first, count;
        hw_graph_share(graph, r, ranks, &first, &count);
        hw_count here = (count + chunk - 1) / chunk;
        rounds = here > rounds ? here : rounds;
    }
    return rounds;
}

/* Streams this rank's share of the tuples, all ranks in step. */
static enum hw_status stream(struct hw_root_batch *batch, struct hw_edges *edges,
                             struct hw_progress *bar, hw_count *done, hw_count total,
                             struct hw_error *err)
{
    const struct hw_context *ctx = batch->ctx;
    hw_count first, count, rounds = hw_root_batch_rounds(batch->graph, ctx->size, batch->chunk);
    enum hw_status status = HW_OK;

    hw_graph_share(batch->graph, ctx->rank, ctx->size, &first, &count);
    hw_count end = first + count;
    for (hw_count round = 0; round < rounds && status == HW_OK; round++) {
        hw_count length = end - first < batch->chunk ? end - first : batch->chunk;
        edges->count = 0;
        if (length > 0)
            status = hw_graph_read(batch->graph, first, length, edges, err);
        first += length;
        if (ctx->size > 1)
            status = exchange_block(batch, status, edges, err);
        else if (status == HW_OK)
            check_block(batch, edges);
        hw_progress(ctx, bar, "checking", ++*done, total);
    }
    return status;
}

/* ---- tree edges that no tuple claimed ---- */

/* The unclaimed links of a slice, taken one chunk after another. */
struct unclaimed {
    hw_count block; /* where to go on */
    uint32_t slot;
    hw_count count;
    struct tuple *tuple; /* [chunk] child and parent */
    uint64_t *roots;     /* [chunk] */
};

/* The child and parent of a link. */
static struct tuple link_ends(const struct hw_root_batch *batch, hw_count block, uint64_t key)
{
    hw_gid child = batch->first + block * HW_LINKS_BLOCK + (hw_gid)(key % HW_LINKS_BLOCK);

    return (struct tuple){child, (hw_gid)(key >> HW_LINKS_SHIFT)};
}

/* Counts one link that is left, in each of its roots: as no edge of the graph
 * (rule 5), or as one that is not tight (rule 2). */
static void report_link(const struct hw_root_batch *batch, struct hw_violation_counts *tally,
                        hw_count block, const struct hw_parent_edge_slot *slot)
{
    struct tuple ends = link_ends(batch, block, slot->key & ~HW_LINK_SEEN);
    bool seen = slot->key & HW_LINK_SEEN;

    for (uint64_t roots = slot->roots; roots; roots &= roots - 1) {
        int r = __builtin_ctzll(roots);
        if (seen)
            hw_violation_counts_add(tally, HW_RULE_TREE_LEVELS, r, ends.u, HW_GID_NONE);
        else
            hw_violation_counts_add(tally, HW_RULE_TREE_EDGES, r, ends.v, ends.u);
        /* Without a weight nothing is known of what the distances show. */
        tally->counts.suspects[r] += is_weighted(batch);
    }
}

/* Counts the links of the slice that nobody claimed. Returns how many there are. */
static hw_count report_unclaimed(const struct hw_root_batch *batch)
{
    hw_count count = 0;

#pragma omp parallel for schedule(static) reduction(+ : count) num_threads(batch->ctx->threads)
    for (hw_count b = 0; b < batch->links.blocks; b++) {
        const struct hw_parent_edges_block *block = &batch->links.block[b];
        struct hw_violation_counts *tally = &batch->worker[omp_get_thread_num()].tally;
        for (uint32_t slot = 0; slot < block->slots; slot++)
            if (block->slot[slot].roots != 0) {
                report_link(batch, tally, b, &block->slot[slot]);
                count++;
            }
    }
    return count;
}

/* Takes the next unclaimed links, at most a chunk of them. */
static void next_unclaimed(const struct hw_root_batch *batch, struct unclaimed *left)
{
    left->count = 0;
    for (; left->block < batch->links.blocks; left->block++, left->slot = 0) {
        const struct hw_parent_edges_block *block = &batch->links.block[left->block];
        for (; left->slot < block->slots; left->slot++) {
            if (block->slot[left->slot].roots == 0)
                continue;
            if (left->count == batch->chunk)
                return;
            left->tuple[left->count] = link_ends(batch, left->block, block->slot[left->slot].key);
            left->roots[left->count++] = block->slot[left->slot].roots;
        }
    }
}

/* Rules 5 and 2 for the tree edges that are left: of levels, those that are no
 * tuples still have to differ by one. Collective. */
static enum hw_status check_unclaimed(struct hw_root_batch *batch, struct hw_error *err)
{
    struct unclaimed left = {0};
    hw_count max = report_unclaimed(batch);
    enum hw_status status = hw_largest(batch->ctx->world, &max, err);

    if (status != HW_OK || max == 0 || is_weighted(batch))
        return status;
    status = hw_alloc(&left.tuple, batch->chunk, sizeof *left.tuple, "tree edges", err);
    if (status == HW_OK)
        status = hw_alloc(&left.roots, batch->chunk, sizeof *left.roots, "tree edges", err);
    /* forward() agrees on the first failure. */
    do {
        if (status == HW_OK)
            next_unclaimed(batch, &left);
        const struct batch_tuples here = {
            .count = left.count, .tuple = left.tuple, .roots = left.roots};
        status = forward(batch, status, &here, err);
        max = batch->links.blocks - left.block;
        if (status == HW_OK)
            status = hw_largest(batch->ctx->world, &max, err);
    } while (status == HW_OK && max > 0);
    free(left.tuple);
    free(left.roots);
    return status;
}

enum hw_status hw_root_batch_tuples(struct hw_root_batch *batch, struct hw_progress *bar,
                                    hw_count *done, hw_count total, struct hw_error *err)
{
    struct hw_edges edges = {0};
    enum hw_status status = hw_edges_alloc(&edges, batch->chunk, is_weighted(batch), err);

    status = hw_agree(batch->ctx->world, status, err);
    if (status == HW_OK)
        status = stream(batch, &edges, bar, done, total, err);
    hw_edges_free(&edges);
    for (int t = 0; t < batch->ctx->threads; t++)
        empty_counters(&batch->worker[t]);
    return status == HW_OK ? check_unclaimed(batch, err) : status;
}
