/*
 * The pass over the input edges (tuples): rules 2 to 5.
 *
 * Each tuple is checked for all roots of the batch at once (edge_check.h); on several ranks it
 * first goes to the owners of its endpoints (edge_exchange.h). Parent edges that no tuple claimed
 * are left at the end. They are no edges of the graph (rule 5) or, if weighted tuples joined them
 * and none was tight, violate rule 2.
 */
#include "lib/verify/rules/edge_exchange.h"

#include "lib/base/memory.h"
#include "lib/comm/exchange/large_alltoallv.h"

#include <omp.h>
#include <stdlib.h>

/* ---- one rank: both ends are local ---- */

/* Checks tuples [begin, end) of a block, all of whose ends are local. */
static void check_range(struct hw_root_batch *batch, struct hw_verify_worker *worker,
                        const struct hw_edges *edges, hw_count begin, hw_count end)
{
    const hw_gid *source = edges->source, *target = edges->target;
    const union hw_weight no_weight = {.i32 = 0};

    for (hw_count at = begin; at < end; at += HW_PREFETCH_GROUP) {
        hw_count stop = at + HW_PREFETCH_GROUP < end ? at + HW_PREFETCH_GROUP : end;
        for (hw_count i = at; i < stop; i++) {
            hw_prefetch_row(batch, source[i]);
            hw_prefetch_row(batch, target[i]);
            hw_prefetch_parent_edges(batch, source[i], target[i]);
            hw_prefetch_parent_edges(batch, target[i], source[i]);
        }
        for (hw_count i = at; i < stop; i++)
            hw_check_local_tuple(batch, worker, source[i], target[i],
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
        hw_thread_range(edges->count, t, threads, &begin, &end);
        check_range(batch, &batch->worker[t], edges, begin, end);
    }
}

/* ---- all tuples ---- */

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
            status = hw_exchange_tuples(batch, status, edges, err);
        else if (status == HW_OK)
            check_block(batch, edges);
        hw_progress(ctx, bar, "checking", ++*done, total);
    }
    return status;
}

/* ---- tree edges that no tuple claimed ---- */

/* Iterates over the unclaimed parent edges of a slice in chunks. */
struct unclaimed {
    hw_count block; /* where to go on */
    uint32_t slot;
    hw_count count;
    struct hw_tuple *tuple; /* [chunk] child and parent */
    uint64_t *roots;        /* [chunk] */
};

/* The child and parent of a parent edge. */
static struct hw_tuple parent_edge_ends(const struct hw_root_batch *batch, hw_count block,
                                        uint64_t key)
{
    hw_gid child =
        batch->first + block * HW_PARENT_EDGES_BLOCK + (hw_gid)(key % HW_PARENT_EDGES_BLOCK);

    return (struct hw_tuple){child, (hw_gid)(key >> HW_PARENT_EDGES_SHIFT)};
}

/* Counts one parent edge that is left, in each of its roots: as no edge of the graph
 * (rule 5), or as one that is not tight (rule 2). */
static void report_parent_edge(const struct hw_root_batch *batch,
                               struct hw_violation_counts *violations, hw_count block,
                               const struct hw_parent_edge_slot *slot)
{
    struct hw_tuple ends = parent_edge_ends(batch, block, slot->key & ~HW_PARENT_EDGE_SEEN);
    bool seen = slot->key & HW_PARENT_EDGE_SEEN;

    for (uint64_t roots = slot->roots; roots; roots &= roots - 1) {
        int r = __builtin_ctzll(roots);
        if (seen)
            hw_violation_counts_add(violations, HW_RULE_TREE_LEVELS, r, ends.u, HW_GID_NONE);
        else
            hw_violation_counts_add(violations, HW_RULE_TREE_EDGES, r, ends.v, ends.u);
        /* An edge without a weight says nothing about tightness. */
        violations->counts.suspects[r] += hw_root_batch_is_weighted(batch);
    }
}

/* Counts the parent edges of the slice that nobody claimed. Returns how many there are. */
static hw_count report_unclaimed(const struct hw_root_batch *batch)
{
    hw_count count = 0;

#pragma omp parallel for schedule(static) reduction(+ : count) num_threads(batch->ctx->threads)
    for (hw_count b = 0; b < batch->parent_edges.blocks; b++) {
        const struct hw_parent_edges_block *block = &batch->parent_edges.block[b];
        struct hw_violation_counts *violations = &batch->worker[omp_get_thread_num()].violations;
        for (uint32_t slot = 0; slot < block->slots; slot++)
            if (block->slot[slot].roots != 0) {
                report_parent_edge(batch, violations, b, &block->slot[slot]);
                count++;
            }
    }
    return count;
}

/* The next unclaimed parent edges, at most a chunk. */
static void next_unclaimed(const struct hw_root_batch *batch, struct unclaimed *left)
{
    left->count = 0;
    for (; left->block < batch->parent_edges.blocks; left->block++, left->slot = 0) {
        const struct hw_parent_edges_block *block = &batch->parent_edges.block[left->block];
        for (; left->slot < block->slots; left->slot++) {
            if (block->slot[left->slot].roots == 0)
                continue;
            if (left->count == batch->chunk)
                return;
            left->tuple[left->count] =
                parent_edge_ends(batch, left->block, block->slot[left->slot].key);
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

    if (status != HW_OK || max == 0 || hw_root_batch_is_weighted(batch))
        return status;
    status = hw_alloc(&left.tuple, batch->chunk, sizeof *left.tuple, "tree edges", err);
    if (status == HW_OK)
        status = hw_alloc(&left.roots, batch->chunk, sizeof *left.roots, "tree edges", err);
    /* hw_forward_tuples() agrees on the first failure. */
    do {
        if (status == HW_OK)
            next_unclaimed(batch, &left);
        const struct hw_batch_tuples here = {
            .count = left.count, .tuple = left.tuple, .roots = left.roots};
        status = hw_forward_tuples(batch, status, &here, err);
        max = batch->parent_edges.blocks - left.block;
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
    enum hw_status status =
        hw_edges_alloc(&edges, batch->chunk, hw_root_batch_is_weighted(batch), err);

    status = hw_agree(batch->ctx->world, status, err);
    if (status == HW_OK)
        status = stream(batch, &edges, bar, done, total, err);
    hw_edges_free(&edges);
    for (int t = 0; t < batch->ctx->threads; t++)
        hw_verify_worker_empty(&batch->worker[t]);
    return status == HW_OK ? check_unclaimed(batch, err) : status;
}
