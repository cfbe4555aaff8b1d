/* The searches of a run: search, redistribute trees into slices, write and validate them. */
#include "lib/base/memory.h"
#include "lib/comm/exchange/large_alltoallv.h"
#include "lib/comm/watch/rank_watchdog.h"
#include "lib/run/traversal_state.h"
#include "lib/verify/verify.h"

#include <stdio.h>

/* Maximum number of trees validated in one pass over the tuples. */
#define BATCH_MOST 64

/* Number of trees in memory for validation: as many as fit in a quarter of the free memory, the
 * same on all ranks. */
static enum hw_status choose_batch(struct hw_traversal *t, struct hw_error *err)
{
    hw_count slice = t->trees.tree.length * hw_traversal_value_bytes(t);
    hw_count fit = slice > 0 ? hw_memory_share(t->ctx) / 4 / slice : BATCH_MOST;

    fit = fit < BATCH_MOST ? fit : BATCH_MOST;
    fit = fit < t->searches.roots.count ? fit : t->searches.roots.count;
    fit = t->options->check && fit > 1 ? fit : 1;
    fit = -fit;
    enum hw_status status = hw_largest(t->ctx->world, &fit, err);
    t->trees.batch = -fit;
    return status;
}

enum hw_status hw_traversal_prepare(struct hw_traversal *t, struct hw_error *err)
{
    struct hw_arrays arrays = {.count = 0};
    enum hw_status status = hw_report_open(t->ctx, &t->part, t->options->engine.algorithm,
                                           t->searches.roots.count, &t->report, err);

    if (status == HW_OK)
        status = hw_agree(
            t->ctx->world,
            hw_search_results_open(&t->searches.search_results, t->searches.roots.count, err), err);
    t->trees.values = hw_values(t->options->engine.algorithm, t->part.weights);
    t->trees.stored = hw_trees_kept(t->options, t->searches.roots.count);
    t->trees.batch = t->cache.capacity;
    if (status != HW_OK || (t->trees.stored == 0 && (t->cache.capacity || !t->options->check)))
        return status;
    status = hw_tree_open(t->ctx, &t->part, &t->trees.tree, err);
    if (status == HW_OK && !t->cache.capacity)
        status = choose_batch(t, err);
    if (status != HW_OK)
        return status;
    t->trees.slices =
        t->cache.capacity && t->trees.stored < t->trees.batch ? t->trees.stored : t->trees.batch;
    hw_traversal_tree_arrays(t, &arrays);
    status = hw_arrays_alloc(&arrays, "slices of trees", err);
    status = hw_agree(t->ctx->world, status, err);
    if (status == HW_OK && t->trees.stored > 0)
        status = hw_tree_define(t->store, &t->trees.values, t->trees.stored, t->part.vertices, err);
    if (status == HW_OK)
        status = hw_traversal_write_vertices(t, err);
    return status;
}

/* One search: clear arrays, search, add rows to the report. Collective. */
static enum hw_status search(struct hw_traversal *t, hw_count i, struct hw_error *err)
{
    const bool stays = (t->cache.capacity || t->cache.counts_only) && i >= t->trees.stored;
    struct hw_result *result = stays ? &t->cache.result : &t->searches.result;
    enum hw_status status;

    hw_result_poison(&t->part, result);
    /* A marker for profilers that measure only searches. */
    MPI_Pcontrol(1);
    status = t->method->ops->search(t->engine, t->searches.owner[i], t->searches.position[i],
                                    result, err);
    MPI_Pcontrol(0);
    if (status == HW_OK && t->cache.counts_only && stays)
        status = t->method->ops->tree_cache->count(t->engine, &result->reached, err);
    hw_watchdog_report(t->watch, status, err);
    status = hw_agree(t->ctx->world, status, err);
    if (status == HW_OK)
        status = hw_report_add(&t->report, t->searches.roots.id[i], result,
                               t->options->engine.trace, err);
    if (status == HW_OK)
        hw_search_results_add(&t->searches.search_results, result);
    t->searches.result.delta = result->delta;
    return status;
}

/* Redistributes tree i into its slot of the batch, and writes it if the file stores it.
 * Collective. */
static enum hw_status keep(struct hw_traversal *t, hw_count i, struct hw_error *err)
{
    enum hw_status status = HW_OK;

    if (t->cache.capacity)
        status = hw_agree(
            t->ctx->world,
            t->method->ops->tree_cache->keep(t->engine, t->searches.search_ids.id[i], err), err);
    if (status != HW_OK || (t->cache.capacity && i >= t->trees.stored))
        return status;
    hw_count at = i % t->trees.batch * t->trees.tree.length;
    char *value = (char *)t->trees.value + (size_t)at * t->trees.values.size;
    hw_gid *parent = t->trees.parent + at;
    status = hw_tree_slice(&t->trees.tree, t->trees.values.size,
                           hw_result_values(&t->searches.result), value, err);
    if (status == HW_OK)
        status =
            hw_tree_slice(&t->trees.tree, sizeof *parent, t->searches.result.parent, parent, err);
    status = hw_agree(t->ctx->world, status, err);
    if (status == HW_OK && i < t->trees.stored) {
        hw_traversal_parents_to_file(t, parent);
        status = hw_tree_write(&t->trees.tree, t->store, &t->trees.values, i, value, parent, err);
        hw_traversal_parents_from_file(t, parent);
    }
    return hw_agree(t->ctx->world, status, err);
}

/* Records the first violation, for the error message. */
static void note_failure(struct hw_traversal *t, hw_count i, const struct hw_validation *validation)
{
    for (int r = 0; r < HW_RULES && !t->searches.failure[0]; r++) {
        const hw_gid *example = validation->example[r];
        char where[64];
        if (validation->violations[r] == 0)
            continue;
        if (example[1] == HW_GID_NONE)
            snprintf(where, sizeof where, "vertex %" PRI_GID, example[0]);
        else
            snprintf(where, sizeof where, "edge %" PRI_GID " %" PRI_GID, example[0], example[1]);
        snprintf(t->searches.failure, sizeof t->searches.failure,
                 "root %" PRI_GID " breaks rule %s %" PRI_COUNT " times, such as at %s",
                 t->searches.roots.id[i], hw_rule_name((enum hw_rule)r), validation->violations[r],
                 where);
    }
}

/* Validates the trees of `count` searches in the engine's cache. */
static enum hw_status validate_cached(struct hw_traversal *t, hw_count first, hw_count count,
                                      struct hw_validation *validation, struct hw_error *err)
{
    hw_count levels[BATCH_MOST];
    enum hw_status status =
        t->method->ops->tree_cache->validate(t->engine, validation, levels, err);

    for (hw_count i = 0; i < count && status == HW_OK; i++)
        if (first + i >= t->trees.stored)
            hw_report_count(&t->report, first + i, &validation[i], levels[i]);
    return status;
}

/* Validates the trees of searches [first, first+count), which fill the batch. validation: [count].
 * Collective. */
static enum hw_status verify(struct hw_traversal *t, hw_count first, hw_count count,
                             struct hw_validation *validation, struct hw_error *err)
{
    const struct hw_engine_ops *ops = t->method->ops;
    const bool sssp = hw_traversal_is_sssp(t);
    hw_count at = first % t->trees.batch * t->trees.tree.length;
    const struct hw_tree_batch trees = {
        .k = count,
        .root = t->searches.search_ids.id + first,
        .value = (const char *)t->trees.value + (size_t)at * t->trees.values.size,
        .parent = t->trees.parent + at,
        .cycle = sssp ? t->searches.search_results.cycle + first : NULL};

    if (sssp)
        return (ops->verify_sssp ? ops->verify_sssp : hw_verify_sssp)(t->ctx, t->source.graph,
                                                                      &trees, validation, err);
    return (ops->verify_bfs ? ops->verify_bfs : hw_verify_bfs)(t->ctx, t->source.graph, &trees,
                                                               validation, err);
}

/* Validates those searches and records the results. Collective. */
static enum hw_status validate(struct hw_traversal *t, hw_count first, hw_count count,
                               struct hw_error *err)
{
    const double started = hw_seconds();
    struct hw_validation validation[BATCH_MOST];
    enum hw_status status = t->cache.capacity ? validate_cached(t, first, count, validation, err)
                                              : verify(t, first, count, validation, err);

    for (hw_count i = 0; i < count && status == HW_OK; i++) {
        hw_traversal_restore_examples(t, &validation[i]);
        status = hw_report_add_validation(&t->report, first + i, &validation[i], err);
        note_failure(t, first + i, &validation[i]);
    }
    status = hw_agree(t->ctx->world, status, err);
    t->searches.checking += hw_seconds() - started;
    return status;
}

enum hw_status hw_traversal_search(struct hw_traversal *t, struct hw_error *err)
{
    struct hw_progress bar = {0};
    enum hw_status status = HW_OK;

    hw_count waiting = 0; /* searches still to be validated */

    for (hw_count i = t->progress.resumed; i < t->searches.roots.count && status == HW_OK; i++) {
        bool check = t->options->check;
        hw_progress(t->ctx, &bar, "searching", i, t->searches.roots.count);
        status = search(t, i, err);
        if (status == HW_OK && (check || i < t->trees.stored))
            status = keep(t, i, err);
        waiting++;
        bool last = (i + 1) % (t->trees.batch > 0 ? t->trees.batch : 1) == 0 ||
                    i + 1 == t->searches.roots.count;
        if (check && !last)
            continue;
        if (status == HW_OK && check) {
            hw_progress_end(&bar);
            status = validate(t, i + 1 - waiting, waiting, err);
        }
        if (status == HW_OK)
            status = hw_traversal_finished(t, i + 1 - waiting, waiting, err);
        waiting = 0;
    }
    hw_progress_end(&bar);
    return status;
}
