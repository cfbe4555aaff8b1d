/* The searches of a run, their trees on the way to the file, and validation. */
#include "lib/base/memory.h"
#include "lib/comm/large_alltoallv.h"
#include "lib/comm/rank_watchdog.h"
#include "lib/run/traversal_state.h"
#include "lib/verify/verify.h"

#include <stdio.h>

/* Trees that are validated in one pass over the tuples at most. */
#define BATCH_MOST 64

/* How many trees are held for validation: as many as fit in a quarter of the
 * memory left, the same on all ranks. */
static enum hw_status choose_batch(struct hw_traversal *t, struct hw_error *err)
{
    hw_count slice = t->tree.length * hw_traversal_value_bytes(t);
    hw_count fit = slice > 0 ? hw_memory_share(t->ctx) / 4 / slice : BATCH_MOST;

    fit = fit < BATCH_MOST ? fit : BATCH_MOST;
    fit = fit < t->roots.count ? fit : t->roots.count;
    fit = t->options->check && fit > 1 ? fit : 1;
    fit = -fit;
    enum hw_status status = hw_largest(t->ctx->world, &fit, err);
    t->batch = -fit;
    return status;
}

enum hw_status hw_traversal_prepare(struct hw_traversal *t, struct hw_error *err)
{
    enum hw_status status = hw_report_open(t->ctx, &t->part, t->options->engine.algorithm,
                                           t->roots.count, &t->report, err);

    if (status == HW_OK)
        status = hw_agree(t->ctx->world,
                          hw_search_results_open(&t->search_results, t->roots.count, err), err);
    t->values = hw_values(t->options->engine.algorithm, t->part.weights);
    t->stored = hw_trees_kept(t->options, t->roots.count);
    t->batch = t->keeps;
    if (status != HW_OK || (t->stored == 0 && (t->keeps || !t->options->check)))
        return status;
    status = hw_tree_open(t->ctx, &t->part, &t->tree, err);
    if (status == HW_OK && !t->keeps)
        status = choose_batch(t, err);
    if (status != HW_OK)
        return status;
    const hw_count slices = t->keeps && t->stored < t->batch ? t->stored : t->batch;
    status = hw_alloc(&t->value, slices * t->tree.length, t->values.size, "slices of trees", err);
    if (status == HW_OK)
        status = hw_alloc(&t->parent, slices * t->tree.length, sizeof *t->parent, "slices of trees",
                          err);
    status = hw_agree(t->ctx->world, status, err);
    if (status == HW_OK && t->stored > 0)
        status = hw_tree_define(t->store, &t->values, t->stored, t->part.vertices, err);
    return status;
}

/* One search: clean arrays, the search itself, its rows. Collective. */
static enum hw_status search(struct hw_traversal *t, hw_count i, struct hw_error *err)
{
    const bool stays = (t->keeps || t->counts) && i >= t->stored;
    struct hw_result *result = stays ? &t->bare : &t->result;
    enum hw_status status;

    hw_result_poison(&t->part, result);
    /* Profilers that count or trace only searches switch on this. */
    MPI_Pcontrol(1);
    status = t->method->ops->search(t->engine, t->owner[i], t->position[i], result, err);
    MPI_Pcontrol(0);
    if (status == HW_OK && t->counts && stays)
        status = t->method->ops->tree_cache->count(t->engine, &result->reached, err);
    hw_watchdog_report(t->watch, status, err);
    status = hw_agree(t->ctx->world, status, err);
    if (status == HW_OK)
        status = hw_report_add(&t->report, t->roots.id[i], result, t->options->engine.trace, err);
    if (status == HW_OK)
        hw_search_results_add(&t->search_results, result);
    t->result.delta = result->delta;
    return status;
}

/* Takes tree i into its place in the batch, and into the file where it is kept.
 * Collective. */
static enum hw_status keep(struct hw_traversal *t, hw_count i, struct hw_error *err)
{
    enum hw_status status = HW_OK;

    if (t->keeps)
        status = hw_agree(t->ctx->world,
                          t->method->ops->tree_cache->keep(t->engine, t->roots.id[i], err), err);
    if (status != HW_OK || (t->keeps && i >= t->stored))
        return status;
    hw_count at = i % t->batch * t->tree.length;
    char *value = (char *)t->value + (size_t)at * t->values.size;
    hw_gid *parent = t->parent + at;
    status = hw_tree_slice(&t->tree, t->values.size, hw_result_values(&t->result), value, err);
    if (status == HW_OK)
        status = hw_tree_slice(&t->tree, sizeof *parent, t->result.parent, parent, err);
    if (status == HW_OK && i < t->stored)
        status = hw_tree_write(&t->tree, t->store, &t->values, i, value, parent, err);
    return hw_agree(t->ctx->world, status, err);
}

/* Says what the first failing tree got wrong. */
static void note_failure(struct hw_traversal *t, hw_count i, const struct hw_verdict *verdict)
{
    for (int r = 0; r < HW_RULES && !t->failure[0]; r++) {
        const hw_gid *example = verdict->example[r];
        char where[64];
        if (verdict->violations[r] == 0)
            continue;
        if (example[1] == HW_GID_NONE)
            snprintf(where, sizeof where, "vertex %" PRI_GID, example[0]);
        else
            snprintf(where, sizeof where, "edge %" PRI_GID " %" PRI_GID, example[0], example[1]);
        snprintf(t->failure, sizeof t->failure,
                 "root %" PRI_GID " breaks rule %s %" PRI_COUNT " times, such as at %s",
                 t->roots.id[i], hw_rule_name((enum hw_rule)r), verdict->violations[r], where);
    }
}

/* Has the engine validate the trees of `count` searches that it keeps. */
static enum hw_status validate_cached(struct hw_traversal *t, hw_count first, hw_count count,
                                      struct hw_verdict *verdict, struct hw_error *err)
{
    hw_count levels[BATCH_MOST];
    enum hw_status status = t->method->ops->tree_cache->validate(t->engine, verdict, levels, err);

    for (hw_count i = 0; i < count && status == HW_OK; i++)
        if (first + i >= t->stored)
            hw_report_count(&t->report, first + i, &verdict[i], levels[i]);
    return status;
}

/* Validates the trees of searches [first, first+count), which fill the batch. verdict: [count].
 * Collective. */
static enum hw_status verify(struct hw_traversal *t, hw_count first, hw_count count,
                             struct hw_verdict *verdict, struct hw_error *err)
{
    const struct hw_engine_ops *ops = t->method->ops;
    const bool sssp = hw_traversal_is_sssp(t);
    hw_count at = first % t->batch * t->tree.length;
    const struct hw_tree_batch trees = {.k = count,
                                        .root = t->roots.id + first,
                                        .value =
                                            (const char *)t->value + (size_t)at * t->values.size,
                                        .parent = t->parent + at,
                                        .cycle = sssp ? t->search_results.cycle + first : NULL};

    if (sssp)
        return (ops->verify_sssp ? ops->verify_sssp : hw_verify_sssp)(t->ctx, t->source.graph,
                                                                      &trees, verdict, err);
    return (ops->verify_bfs ? ops->verify_bfs : hw_verify_bfs)(t->ctx, t->source.graph, &trees,
                                                               verdict, err);
}

/* Validates those searches and records what was found. Collective. */
static enum hw_status validate(struct hw_traversal *t, hw_count first, hw_count count,
                               struct hw_error *err)
{
    const double started = hw_seconds();
    struct hw_verdict verdict[BATCH_MOST];
    enum hw_status status = t->keeps ? validate_cached(t, first, count, verdict, err)
                                     : verify(t, first, count, verdict, err);

    for (hw_count i = 0; i < count && status == HW_OK; i++) {
        status = hw_report_verdict(&t->report, first + i, &verdict[i], err);
        note_failure(t, first + i, &verdict[i]);
    }
    status = hw_agree(t->ctx->world, status, err);
    t->checking += hw_seconds() - started;
    return status;
}

enum hw_status hw_traversal_search(struct hw_traversal *t, struct hw_error *err)
{
    struct hw_progress bar = {0};
    enum hw_status status = HW_OK;

    hw_count waiting = 0; /* searches that are not validated yet, if they will be */

    for (hw_count i = t->resumed; i < t->roots.count && status == HW_OK; i++) {
        bool check = t->options->check;
        hw_progress(t->ctx, &bar, "searching", i, t->roots.count);
        status = search(t, i, err);
        if (status == HW_OK && (check || i < t->stored))
            status = keep(t, i, err);
        waiting++;
        bool last = (i + 1) % (t->batch > 0 ? t->batch : 1) == 0 || i + 1 == t->roots.count;
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
