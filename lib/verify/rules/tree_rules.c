/*
 * Validation of breadth-first trees and of trees of shortest paths (Graph500
 * specification 2.0, section on validation), for many roots in one pass over the
 * input tuples.
 *
 * Held for a batch of up to 64 roots, for each vertex of the rank's slice:
 *   - its row: the levels or distances under all roots side by side (vertex_rows.h);
 *   - its parent edges: its distinct parents, each with the set of roots (parent_edge_hash.h).
 * Then, with the rules in the order in which they are checked:
 *   1, 2, 4  what a vertex alone violates, while rows and parent edges are made
 *            (load_trees.c): the root's parent and level, parents that are no vertex,
 *            levels without a parent;
 *   3, 4     each tuple: the rows of its ends are compared (input_edge_rules.c);
 *   5        each tuple claims the parent edges between its ends; parent edges left unclaimed
 *            are no edges of the graph;
 *   2        the levels at both ends of a parent edge, exactly, when it is claimed, or
 *            at the end if no tuple claims it;
 *   1, 4     if every level is its parent's plus one, down to the root's 0, then
 *            there is no cycle and every path of parents ends at the root. For a
 *            tree where that, or anything that could end a path elsewhere, was
 *            violated, the parents are followed (parent_pointer_jump.c).
 * Distances in place of levels: any tuple that is tight claims a parent edge; and
 * since weights may be zero or vanish in rounding, distances prove that there is no
 * cycle only along tree edges where they rise. Where they stay equal, the paths over
 * those edges alone are followed; where they fall, all.
 * Unreached vertices are unreachable by rules 3 and 4: no tuple leads out of the
 * reached set, which contains the root.
 *
 * A pass touches four cache lines a tuple, two rows and two buckets of parent edges, for
 * one root as for 64; on R-MAT graphs 64 cost about four times one. Between ranks
 * a tuple sends 40 bytes and one row.
 */
#include "lib/verify/verify.h"

#include "lib/base/memory.h"
#include "lib/comm/exchange/large_alltoallv.h"
#include "lib/verify/rules/root_batch.h"

#include <stdlib.h>

const char *hw_rule_name(enum hw_rule rule)
{
    switch (rule) {
    case HW_RULE_TREE:
        return "tree";
    case HW_RULE_TREE_LEVELS:
        return "tree-levels";
    case HW_RULE_EDGE_LEVELS:
        return "edge-levels";
    case HW_RULE_SPANS:
        return "spans";
    case HW_RULE_TREE_EDGES:
        return "tree-edges";
    case HW_RULE_CYCLE:
        return "cycle";
    default:
        return "unknown";
    }
}

/* ---- sizes of batches and chunks ---- */

/* The configuration of a pass, the same on all ranks. */
struct plan {
    int roots;      /* of a batch */
    hw_count chunk; /* tuples */
};

/* Tuples that a rank reads at a time: as many as fit in an eighth of its memory, in whole digest
 * blocks. */
static hw_count choose_chunk(hw_count share, int ranks, int roots, enum hw_lane lane)
{
    hw_count max = ranks == 1 ? HW_GRAPH_CHUNK : HW_GRAPH_CHUNK / 4;
    hw_count chunk = share / 8 / hw_root_batch_tuple_bytes(ranks, roots, lane);

    chunk = chunk < max ? chunk : max;
    chunk -= chunk % HW_STORE_BLOCK;
    return chunk > HW_STORE_BLOCK ? chunk : HW_STORE_BLOCK;
}

/* Bytes that a batch takes on a rank of `count` vertices at its peak. */
static hw_count plan_bytes(const struct plan *plan, hw_count count, int ranks, int threads,
                           enum hw_lane lane)
{
    bool weighted = lane != HW_LANE_LEVEL8 && lane != HW_LANE_LEVEL32;
    hw_count rows =
        count * (hw_count)(hw_rows_stride(plan->roots, lane) + (weighted ? sizeof(uint64_t) : 0));
    hw_count parent_edges = hw_parent_edges_bytes(count, plan->roots) +
                            threads * hw_parent_edges_bytes(HW_PARENT_EDGES_BLOCK, plan->roots);
    hw_count tuples = plan->chunk * hw_root_batch_tuple_bytes(ranks, plan->roots, lane);
    hw_count chains = hw_root_batch_pointer_jump_bytes(count, plan->roots, plan->chunk);
    hw_count pass = rows + parent_edges + tuples;

    return threads * (hw_count)sizeof(struct hw_verify_worker) + (pass > chains ? pass : chains);
}

/* The largest batch that fits in `share` bytes; a single root if none does. */
static struct plan make_plan(hw_count share, hw_count k, hw_count count, int ranks, int threads,
                             enum hw_lane lane)
{
    struct plan plan = {.roots = k < HW_VERIFY_BATCH ? (int)k : HW_VERIFY_BATCH};

    for (;;) {
        plan.chunk = choose_chunk(share, ranks, plan.roots, lane);
        if (plan.roots == 1 || plan_bytes(&plan, count, ranks, threads, lane) <= share)
            return plan;
        plan.roots = (plan.roots + 1) / 2;
    }
}

/* hw_verify_bytes() for these lanes. */
static hw_count min_bytes(const struct hw_graph_desc *graph, int ranks, int threads, hw_count k,
                          enum hw_lane lane)
{
    struct plan plan = {.roots = k < HW_VERIFY_BATCH ? (int)k : HW_VERIFY_BATCH,
                        .chunk = HW_STORE_BLOCK};
    hw_count max = 0;

    for (int r = 0; r < ranks; r++) {
        hw_count first, count;
        hw_store_share(graph->vertices, r, ranks, &first, &count);
        hw_count bytes = plan_bytes(&plan, count, ranks, threads, lane);
        max = bytes > max ? bytes : max;
    }
    return max;
}

hw_count hw_verify_bytes(const struct hw_graph_desc *graph, int ranks, int threads, hw_count k)
{
    return min_bytes(graph, ranks, threads, k, HW_LANE_LEVEL8);
}

hw_count hw_verify_sssp_bytes(const struct hw_graph_desc *graph, int ranks, int threads, hw_count k)
{
    return min_bytes(graph, ranks, threads, k, HW_LANE_F32);
}

/* Agrees on the plan among the ranks and requires its memory. Collective. */
static enum hw_status settle_plan(const struct hw_context *ctx, hw_count k, hw_count count,
                                  enum hw_lane lane, struct plan *plan, struct hw_error *err)
{
    /* The rank with the least memory, and the longest slice, decide for all. */
    hw_count limits[2] = {-hw_memory_share(ctx), count};
    enum hw_status status =
        hw_mpi(MPI_Allreduce(MPI_IN_PLACE, limits, 2, HW_MPI_COUNT, MPI_MAX, ctx->world),
               "MPI_Allreduce", err);
    hw_count threads = ctx->threads;

    if (status == HW_OK)
        status = hw_largest(ctx->world, &threads, err);
    if (status != HW_OK)
        return status;
    *plan = make_plan(-limits[0], k, limits[1], ctx->size, (int)threads, lane);
    hw_count batches = (k + plan->roots - 1) / plan->roots;
    plan->roots = (int)((k + batches - 1) / batches);
    return hw_memory_require(ctx, plan_bytes(plan, count, ctx->size, ctx->threads, lane),
                             "validation", err);
}

/* ---- one batch ---- */

/* The lane type that holds the values of all ranks. Collective. */
static enum hw_status choose_lane(const struct hw_context *ctx, enum hw_value value,
                                  hw_count length, const void *values, enum hw_lane *lane,
                                  struct hw_error *err)
{
    hw_count widest = (hw_count)hw_value_lane(value, length, values, ctx->threads);
    enum hw_status status = hw_largest(ctx->world, &widest, err);

    *lane = (enum hw_lane)widest;
    return status;
}

/* Sums the workers' counts over threads and ranks. Collective. */
static enum hw_status add_up(struct hw_root_batch *batch, struct hw_violation_counts *violations,
                             struct hw_error *err)
{
    hw_violation_counts_clear(violations);
    for (int t = 0; t < batch->ctx->threads; t++)
        hw_violation_counts_merge(violations, &batch->worker[t].violations);
    return hw_violation_counts_reduce(batch->ctx->world, violations, err);
}

/* Marks the roots whose flat tree edges contain a cycle as suspect. Collective. */
static enum hw_status suspect_flat(const struct hw_root_batch *batch,
                                   struct hw_violation_counts *violations, struct hw_error *err)
{
    int roots = 0, root[HW_VERIFY_BATCH];
    hw_count cyclic[HW_VERIFY_BATCH];
    enum hw_status status = HW_OK;

    for (int r = 0; r < batch->roots; r++)
        if (violations->counts.flat[r] > 0 && violations->counts.suspects[r] == 0)
            root[roots++] = r;
    if (roots > 0)
        status = hw_root_batch_flat_cycles(batch, roots, root, cyclic, err);
    for (int i = 0; i < roots && status == HW_OK; i++)
        violations->counts.suspects[root[i]] += cyclic[i];
    return status;
}

/* Follows the parents under the suspect roots, and adds the violations. Collective. */
static enum hw_status follow_suspects(const struct hw_root_batch *batch,
                                      struct hw_violation_counts *violations, struct hw_error *err)
{
    struct hw_violation_counts *found = NULL;
    int suspects = 0, suspect[HW_VERIFY_BATCH];
    enum hw_status status = hw_alloc_zero(&found, 1, sizeof *found, "counts", err);

    status = hw_agree(batch->ctx->world, status, err);
    if (status == HW_OK)
        status = suspect_flat(batch, violations, err);
    for (int r = 0; r < batch->roots && status == HW_OK; r++)
        if (violations->counts.suspects[r] > 0)
            suspect[suspects++] = r;
    if (suspects > 0) {
        status = hw_root_batch_pointer_jump(batch, suspects, suspect, found, err);
        if (status == HW_OK)
            status = hw_violation_counts_reduce(batch->ctx->world, found, err);
        if (status == HW_OK)
            hw_violation_counts_merge(violations, found);
    }
    free(found);
    return status;
}

static void give_validations(const struct hw_root_batch *batch,
                             const struct hw_violation_counts *violations,
                             struct hw_validation *validation)
{
    for (int r = 0; r < batch->roots; r++) {
        validation[r] = (struct hw_validation){.reached = violations->counts.reached[r],
                                               .tuples = violations->counts.tuples[r]};
        for (enum hw_rule rule = 0; rule < HW_RULES; rule++) {
            bool violated = violations->counts.violations[rule][r] > 0;
            validation[r].violations[rule] = violations->counts.violations[rule][r];
            validation[r].example[rule][0] =
                violated ? violations->example[rule][r][0] : HW_GID_NONE;
            validation[r].example[rule][1] =
                violated ? violations->example[rule][r][1] : HW_GID_NONE;
        }
    }
}

/* Progress over all batches. */
struct progress {
    struct hw_progress bar;
    hw_count done, total;
};

/* Checks the roots of a batch. Collective. */
static enum hw_status check_batch(struct hw_root_batch *batch, enum hw_lane lane,
                                  struct progress *progress, struct hw_validation *validation,
                                  struct hw_error *err)
{
    struct hw_violation_counts *violations = NULL;
    const struct hw_context *ctx = batch->ctx;
    enum hw_status status =
        hw_alloc_zero(&batch->worker, ctx->threads, sizeof *batch->worker, "counts", err);

    if (status == HW_OK)
        status = hw_alloc(&violations, 1, sizeof *violations, "counts", err);
    if (status == HW_OK)
        status = hw_root_batch_load(batch, lane, err);
    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK)
        status = hw_root_batch_tuples(batch, &progress->bar, &progress->done, progress->total, err);
    hw_rows_free(&batch->rows);
    hw_parent_edges_free(&batch->parent_edges);
    if (status == HW_OK)
        status = add_up(batch, violations, err);
    if (status == HW_OK)
        status = follow_suspects(batch, violations, err);
    if (status == HW_OK)
        give_validations(batch, violations, validation);
    free(batch->worker);
    free(batch->flat);
    free(violations);
    batch->worker = NULL;
    batch->flat = NULL;
    return status;
}

enum hw_status hw_verify_roots(hw_count k, const hw_gid *root, hw_gid vertices,
                               struct hw_error *err)
{
    for (hw_count i = 0; i < k; i++)
        if (root[i] < 0 || root[i] >= vertices)
            return hw_fail(err, HW_BAD_INPUT,
                           "root %" PRI_GID " is not among the %" PRI_GID " vertices", root[i],
                           vertices);
    return HW_OK;
}

enum hw_status hw_verify_trees(const struct hw_context *ctx, struct hw_graph *graph,
                               const struct hw_tree_batch *trees, enum hw_value value,
                               struct hw_validation *validation, struct hw_error *err)
{
    const hw_count k = trees->k;
    struct hw_block_distribution slices = {0};
    struct hw_root_batch batch = {.ctx = ctx,
                                  .graph = graph,
                                  .desc = hw_graph_desc(graph),
                                  .slices = &slices,
                                  .value = value};
    struct progress progress = {.done = 0};
    struct plan plan;
    enum hw_lane lane = HW_LANE_LEVEL8;
    enum hw_status status = hw_verify_roots(k, trees->root, batch.desc->vertices, err);

    if (status != HW_OK || k == 0)
        return status;
    hw_store_share(batch.desc->vertices, ctx->rank, ctx->size, &batch.first, &batch.count);
    status = hw_agree(
        ctx->world, hw_block_distribution_make(batch.desc->vertices, ctx->size, &slices, err), err);
    if (status == HW_OK)
        status = choose_lane(ctx, value, k * batch.count, trees->value, &lane, err);
    if (status == HW_OK)
        status = settle_plan(ctx, k, batch.count, lane, &plan, err);
    if (status != HW_OK)
        goto done;
    batch.chunk = plan.chunk;
    progress.total =
        (k + plan.roots - 1) / plan.roots * hw_root_batch_rounds(graph, ctx->size, plan.chunk);
    for (hw_count at = 0; at < k && status == HW_OK; at += plan.roots) {
        batch.roots = k - at < plan.roots ? (int)(k - at) : plan.roots;
        batch.root = trees->root + at;
        batch.values =
            (const char *)trees->value + (size_t)(at * batch.count) * hw_value_size(value);
        batch.parent = trees->parent + at * batch.count;
        status = check_batch(&batch, lane, &progress, validation + at, err);
        if (status == HW_OK && at == 0)
            status = hw_graph_verify(graph, value != HW_VALUE_LEVEL, err);
    }
    hw_progress_end(&progress.bar);
done:
    hw_block_distribution_free(&slices);
    return status;
}

enum hw_status hw_verify_bfs(const struct hw_context *ctx, struct hw_graph *graph,
                             const struct hw_tree_batch *trees, struct hw_validation *validation,
                             struct hw_error *err)
{
    return hw_verify_trees(ctx, graph, trees, HW_VALUE_LEVEL, validation, err);
}
