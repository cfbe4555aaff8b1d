/*
 * The pass over the tuples.
 *
 * For tuple (u, v) and all roots of the batch at once: the rows of u and v are
 * compared (rules 3 and 4), and the tuple claims the links u - v at both ends
 * (rule 5), whose levels are then compared exactly (rule 2).
 *
 * On one rank both ends are at hand. On several, a tuple goes from the rank that
 * read it to the owner of u, which claims on its side and sends the tuple on to
 * the owner of v together with u's row and the roots claimed: 16 bytes, then 24
 * and a row (a byte a root), for all roots of the batch; nothing of it grows
 * with the number of ranks.
 */
#include "verify/batch.h"

#include "base/memory.h"
#include "comm/exchange.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* Tuples whose rows are fetched ahead together. */
#define GROUP 32

/* A tuple; or a tree edge from child u to parent v. */
struct tuple {
    hw_gid u, v;
};

/* What goes to v's owner, followed by u's row. roots: those in whose trees v is
 * the parent of u. */
struct record {
    struct tuple tuple;
    uint64_t roots;
};

/* Bytes of a record and its row, kept at multiples of 8. */
static size_t record_size(size_t stride)
{
    return sizeof(struct record) + (stride + 7) / 8 * 8;
}

/* ---- one tuple ---- */

/* Counts, root by root, what is wrong with a tuple whose rows do not agree. */
static void report_tuple(const struct hw_batch *batch, struct hw_tally *tally, hw_gid u,
                         const unsigned char *row_u, hw_gid v, const unsigned char *row_v)
{
    bool directed = batch->desc->directed;

    for (int r = 0; r < batch->roots; r++) {
        int64_t level_u = hw_row_level(&batch->rows, row_u, r);
        int64_t level_v = hw_row_level(&batch->rows, row_v, r);
        bool leaves =
            directed ? level_u != -1 && level_v == -1 : (level_u == -1) != (level_v == -1);
        bool far = level_u != -1 && level_v != -1 &&
                   (level_v > level_u + 1 || (!directed && level_u > level_v + 1));
        if (leaves || far)
            hw_tally_add(tally, HW_RULE_EDGE_LEVELS, r, u, v);
        if (leaves)
            hw_tally_add(tally, HW_RULE_SPANS, r, u, v);
    }
}

/* Rule 2 for the tree edge from child to parent in each of `roots`. */
static void check_tree_edge(const struct hw_batch *batch, struct hw_tally *tally, uint64_t roots,
                            hw_gid child, const unsigned char *row_child,
                            const unsigned char *row_parent)
{
    for (; roots; roots &= roots - 1) {
        int r = __builtin_ctzll(roots);
        int64_t below = hw_row_level(&batch->rows, row_child, r);
        int64_t above = hw_row_level(&batch->rows, row_parent, r);
        if (below == -1 || above == -1 || below != above + 1) {
            hw_tally_add(tally, HW_RULE_TREE_LEVELS, r, child, HW_GID_NONE);
            tally->counts.suspects[r]++;
        }
    }
}

/* Empties a worker's small counters into its tally. */
static void empty_counters(struct hw_worker *worker)
{
    for (int r = 0; r < HW_VERIFY_BATCH; r++)
        worker->tally.counts.tuples[r] += worker->within[r];
    memset(worker->within, 0, sizeof worker->within);
    worker->pending = 0;
}

/* All checks of tuple (u, v) whose v is local; roots: claimed at u. */
static inline void check_tuple(struct hw_batch *batch, struct hw_worker *worker, hw_gid u,
                               const unsigned char *row_u, uint64_t roots, hw_gid v)
{
    const unsigned char *row_v = hw_rows_at(&batch->rows, v - batch->first);

    if (!hw_rows_agree(&batch->rows, batch->desc->directed, row_u, row_v, worker->within))
        report_tuple(batch, &worker->tally, u, row_u, v, row_v);
    if (++worker->pending == UINT8_MAX)
        empty_counters(worker);
    if (roots)
        check_tree_edge(batch, &worker->tally, roots, u, row_u, row_v);
    roots = hw_links_claim(&batch->links, v - batch->first, u);
    if (roots)
        check_tree_edge(batch, &worker->tally, roots, v, row_v, row_u);
}

/* Claims the links whose child is local vertex u and whose parent is v. In a
 * directed graph tuple u -> v is no edge from v to u. */
static inline uint64_t claim_at_source(struct hw_batch *batch, hw_gid u, hw_gid v)
{
    return batch->desc->directed ? 0 : hw_links_claim(&batch->links, u - batch->first, v);
}

/* Fetches the row of v. (On always_inline see hw_links_prefetch().) */
static inline __attribute__((always_inline)) void fetch_row(const struct hw_batch *batch, hw_gid v)
{
    __builtin_prefetch(hw_rows_at(&batch->rows, v - batch->first));
}

/* What claiming at child v for a parent will touch. */
static inline __attribute__((always_inline)) void fetch_links(const struct hw_batch *batch,
                                                              hw_gid v, hw_gid parent)
{
    hw_links_prefetch(&batch->links, v - batch->first, parent);
}

/* ---- one rank: both ends are local ---- */

/* Checks tuples [begin, end) of a block, all of whose ends are local. */
static void check_here(struct hw_batch *batch, struct hw_worker *worker,
                       const struct hw_edges *edges, hw_count begin, hw_count end)
{
    const hw_gid *source = edges->source, *target = edges->target;

    for (hw_count at = begin; at < end; at += GROUP) {
        hw_count stop = at + GROUP < end ? at + GROUP : end;
        for (hw_count i = at; i < stop; i++) {
            fetch_row(batch, source[i]);
            fetch_row(batch, target[i]);
            fetch_links(batch, source[i], target[i]);
            fetch_links(batch, target[i], source[i]);
        }
        for (hw_count i = at; i < stop; i++) {
            uint64_t roots = claim_at_source(batch, source[i], target[i]);
            check_tuple(batch, worker, source[i],
                        hw_rows_at(&batch->rows, source[i] - batch->first), roots, target[i]);
        }
    }
}

/* Checks a block of tuples on the only rank. */
static void check_block(struct hw_batch *batch, const struct hw_edges *edges)
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

/* Checks one tuple or tree edge whose v is local; roots: claimed at u. */
static inline void check_one(struct hw_batch *batch, struct hw_worker *worker,
                             const struct tuple *tuple, const unsigned char *row_u, uint64_t roots,
                             bool edge_only)
{
    if (edge_only)
        check_tree_edge(batch, &worker->tally, roots, tuple->u, row_u,
                        hw_rows_at(&batch->rows, tuple->v - batch->first));
    else
        check_tuple(batch, worker, tuple->u, row_u, roots, tuple->v);
}

/*
 * Claims at u and sends on, or checks at once where v is local too: the round's
 * tuples [begin, end). roots: of each tuple, if they are tree edges that nobody
 * claimed; NULL if they are tuples. record: where the round says.
 */
static void send_on(struct hw_batch *batch, int thread, const struct tuple *tuple,
                    const uint64_t *roots, hw_count begin, hw_count end, struct hw_round *round,
                    unsigned char *record)
{
    size_t size = record_size(batch->rows.stride);
    hw_count *place = round->place + (hw_count)thread * batch->ctx->size;

    for (hw_count at = begin; at < end; at += GROUP) {
        hw_count stop = at + GROUP < end ? at + GROUP : end;
        for (hw_count i = at; i < stop; i++) {
            fetch_row(batch, tuple[i].u);
            fetch_links(batch, tuple[i].u, tuple[i].v);
        }
        for (hw_count i = at; i < stop; i++) {
            const unsigned char *row = hw_rows_at(&batch->rows, tuple[i].u - batch->first);
            uint64_t claimed = roots ? roots[i] : claim_at_source(batch, tuple[i].u, tuple[i].v);
            if (round->owner[i] == batch->ctx->rank) {
                check_one(batch, &batch->worker[thread], &tuple[i], row, claimed, roots != NULL);
                continue;
            }
            const struct record head = {tuple[i], claimed};
            unsigned char *to = record + size * (size_t)place[round->owner[i]]++;
            memcpy(to, &head, sizeof head);
            memcpy(to + sizeof head, row, batch->rows.stride);
        }
    }
}

/* Checks records [begin, end) that came from other ranks. */
static void check_records(struct hw_batch *batch, struct hw_worker *worker,
                          const unsigned char *record, hw_count begin, hw_count end, bool edge_only)
{
    size_t size = record_size(batch->rows.stride);
    struct record head;

    for (hw_count at = begin; at < end; at += GROUP) {
        hw_count stop = at + GROUP < end ? at + GROUP : end;
        for (hw_count i = at; i < stop; i++) {
            memcpy(&head, record + size * (size_t)i, sizeof head);
            fetch_row(batch, head.tuple.v);
            fetch_links(batch, head.tuple.v, head.tuple.u);
        }
        for (hw_count i = at; i < stop; i++) {
            const unsigned char *from = record + size * (size_t)i;
            memcpy(&head, from, sizeof head);
            check_one(batch, worker, &head.tuple, from + sizeof head, head.roots, edge_only);
        }
    }
}

/* One round of forward(): claims, sends, receives, checks. Collective. */
static enum hw_status forward_round(struct hw_batch *batch, const struct tuple *tuple,
                                    const uint64_t *roots, struct hw_round *round,
                                    struct hw_error *err)
{
    MPI_Comm world = batch->ctx->world;
    int threads = batch->ctx->threads;
    size_t size = record_size(batch->rows.stride);
    unsigned char *send = NULL, *received = NULL;
    enum hw_status status = hw_alloc(&send, round->sending, size, "tuples to send", err);

    if (status == HW_OK)
        status = hw_alloc(&received, round->receiving, size, "tuples received", err);
    status = hw_agree(world, status, err);
    if (status != HW_OK)
        goto done;
#pragma omp parallel for schedule(static, 1) num_threads(threads)
    for (int t = 0; t < threads; t++) {
        hw_count begin, end;
        hw_thread_share(round->length, t, threads, &begin, &end);
        send_on(batch, t, tuple, roots, begin, end, round, send);
    }
    if (batch->ctx->size > 1)
        status = hw_exchange_into(world, size, send, round->send, received, round->receive, err);
    if (status != HW_OK)
        goto done;
#pragma omp parallel for schedule(static, 1) num_threads(threads)
    for (int t = 0; t < threads; t++) {
        hw_count begin, end;
        hw_thread_share(round->receiving, t, threads, &begin, &end);
        check_records(batch, &batch->worker[t], received, begin, end, roots != NULL);
    }
done:
    free(send);
    free(received);
    return status;
}

/*
 * Takes tuples (or, with roots, tree edges) whose u is local to the owners of
 * their v and checks them there. `status` is how this rank fared until here.
 * Collective.
 */
static enum hw_status forward(struct hw_batch *batch, enum hw_status status,
                              const struct tuple *tuple, const uint64_t *roots, hw_count count,
                              struct hw_error *err)
{
    const struct hw_items items = {.count = count,
                                   .id = tuple ? &tuple->v : NULL,
                                   .stride = 2,
                                   .keep = true,
                                   .limit = 2 * batch->chunk};
    struct hw_round round = {.step = 2 * batch->chunk};

    do {
        status = hw_round_next(batch->ctx, batch->slices, status, &items, &round, err);
        if (status == HW_OK)
            status = forward_round(batch, tuple ? tuple + round.at : NULL,
                                   roots ? roots + round.at : NULL, &round, err);
    } while (status == HW_OK && round.more);
    hw_round_end(&round);
    return status;
}

/* One round of exchange_block(): tuples to the owners of their sources, and on.
 * Collective. */
static enum hw_status source_round(struct hw_batch *batch, const struct hw_edges *edges,
                                   struct hw_round *round, struct hw_error *err)
{
    const hw_gid *source = edges->source + round->at, *target = edges->target + round->at;
    int ranks = batch->ctx->size, threads = batch->ctx->threads;
    struct tuple *send = NULL, *received = NULL;
    enum hw_status status = hw_alloc(&send, round->sending, sizeof *send, "tuples to send", err);

    if (status == HW_OK)
        status = hw_alloc(&received, round->receiving, sizeof *received, "tuples received", err);
    status = hw_agree(batch->ctx->world, status, err);
    if (status != HW_OK)
        goto done;
#pragma omp parallel for schedule(static, 1) num_threads(threads)
    for (int t = 0; t < threads; t++) {
        hw_count begin, end, *place = round->place + (hw_count)t * ranks;
        hw_thread_share(round->length, t, threads, &begin, &end);
        for (hw_count i = begin; i < end; i++)
            send[place[round->owner[i]]++] = (struct tuple){source[i], target[i]};
    }
    status = hw_exchange_into(batch->ctx->world, sizeof *send, send, round->send, received,
                              round->receive, err);
    free(send);
    send = NULL;
    if (status == HW_OK)
        status = forward(batch, HW_OK, received, NULL, round->receiving, err);
done:
    free(send);
    free(received);
    return status;
}

/* Checks a block of tuples that each rank has read. Collective. */
static enum hw_status exchange_block(struct hw_batch *batch, enum hw_status status,
                                     const struct hw_edges *edges, struct hw_error *err)
{
    const struct hw_items items = {
        .count = edges->count, .id = edges->source, .stride = 1, .limit = 2 * batch->chunk};
    struct hw_round round = {.step = batch->chunk};

    do {
        status = hw_round_next(batch->ctx, batch->slices, status, &items, &round, err);
        if (status == HW_OK)
            status = source_round(batch, edges, &round, err);
    } while (status == HW_OK && round.more);
    hw_round_end(&round);
    return status;
}

/* ---- all tuples ---- */

hw_count hw_batch_tuple_bytes(int ranks, int roots, bool wide)
{
    const hw_count owner = sizeof(int), tuple = sizeof(struct tuple);
    const hw_count record = (hw_count)record_size(hw_rows_stride(roots, wide));

    /* On one rank the tree edges left over take more than the tuples did. */
    if (ranks == 1)
        return tuple + (hw_count)sizeof(uint64_t) + owner;
    /* As read and to send; twice as many received; those to send on, received. */
    return 2 * tuple + owner + 2 * (tuple + owner + 2 * record);
}

hw_count hw_batch_rounds(const struct hw_graph *graph, int ranks, hw_count chunk)
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
static enum hw_status stream(struct hw_batch *batch, struct hw_edges *edges,
                             struct hw_progress *bar, hw_count *done, hw_count total,
                             struct hw_error *err)
{
    const struct hw_context *ctx = batch->ctx;
    hw_count first, count, rounds = hw_batch_rounds(batch->graph, ctx->size, batch->chunk);
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
static struct tuple link_ends(const struct hw_batch *batch, hw_count block, uint64_t key)
{
    hw_gid child = batch->first + block * HW_LINKS_BLOCK + (hw_gid)(key % HW_LINKS_BLOCK);

    return (struct tuple){child, (hw_gid)(key >> HW_LINKS_SHIFT)};
}

/* Counts the links of the slice that nobody claimed: in each of its roots a
 * violation of rule 5. Returns how many there are. */
static hw_count report_unclaimed(const struct hw_batch *batch)
{
    hw_count count = 0;

#pragma omp parallel for schedule(static) reduction(+ : count) num_threads(batch->ctx->threads)
    for (hw_count b = 0; b < batch->links.blocks; b++) {
        const struct hw_links_block *block = &batch->links.block[b];
        struct hw_tally *tally = &batch->worker[omp_get_thread_num()].tally;
        for (uint32_t slot = 0; slot < block->slots; slot++) {
            uint64_t roots = block->slot[slot].roots;
            struct tuple ends = link_ends(batch, b, block->slot[slot].key);
            count += roots != 0;
            for (; roots; roots &= roots - 1)
                hw_tally_add(tally, HW_RULE_TREE_EDGES, __builtin_ctzll(roots), ends.v, ends.u);
        }
    }
    return count;
}

/* Takes the next unclaimed links, at most a chunk of them. */
static void next_unclaimed(const struct hw_batch *batch, struct unclaimed *left)
{
    left->count = 0;
    for (; left->block < batch->links.blocks; left->block++, left->slot = 0) {
        const struct hw_links_block *block = &batch->links.block[left->block];
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

/* Rules 5 and 2 for the tree edges that are no tuples. Collective. */
static enum hw_status check_unclaimed(struct hw_batch *batch, struct hw_error *err)
{
    struct unclaimed left = {0};
    hw_count most = report_unclaimed(batch);
    enum hw_status status = hw_largest(batch->ctx->world, &most, err);

    if (status != HW_OK || most == 0)
        return status;
    status = hw_alloc(&left.tuple, batch->chunk, sizeof *left.tuple, "tree edges", err);
    if (status == HW_OK)
        status = hw_alloc(&left.roots, batch->chunk, sizeof *left.roots, "tree edges", err);
    /* forward() agrees on the first failure. */
    do {
        if (status == HW_OK)
            next_unclaimed(batch, &left);
        status = forward(batch, status, left.tuple, left.roots, left.count, err);
        most = batch->links.blocks - left.block;
        if (status == HW_OK)
            status = hw_largest(batch->ctx->world, &most, err);
    } while (status == HW_OK && most > 0);
    free(left.tuple);
    free(left.roots);
    return status;
}

enum hw_status hw_batch_tuples(struct hw_batch *batch, struct hw_progress *bar, hw_count *done,
                               hw_count total, struct hw_error *err)
{
    struct hw_edges edges = {0};
    enum hw_status status = hw_edges_alloc(&edges, batch->chunk, false, err);

    status = hw_agree(batch->ctx->world, status, err);
    if (status == HW_OK)
        status = stream(batch, &edges, bar, done, total, err);
    hw_edges_free(&edges);
    for (int t = 0; t < batch->ctx->threads; t++)
        empty_counters(&batch->worker[t]);
    return status == HW_OK ? check_unclaimed(batch, err) : status;
}
