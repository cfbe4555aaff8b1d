/* What methods `delta` and `bellman-ford` share around their searches. */
#include "lib/engine/sssp_2d/sssp_2d.h"

#include <stdio.h>
#include <string.h>

/* Rows of measurements after which further phases of a kind join the row before. */
#define ROWS_APART 2048

void hw_sssp_2d_begin_step(struct hw_sssp_2d *paths, const char *routine,
                           enum hw_direction direction)
{
    struct hw_trace *steps = paths->trace.records;
    struct hw_trace_record *last = steps->count > 0 ? &steps->record[steps->count - 1] : NULL;

    if (steps->count >= ROWS_APART && strcmp(last->routine, routine) == 0) {
        paths->trace.record = last;
    } else {
        paths->trace.record = hw_trace_append(steps);
        if (!paths->trace.record) {
            paths->trace.status = HW_RESOURCES;
            memset(&paths->trace.spare_record, 0, sizeof paths->trace.spare_record);
            paths->trace.record = &paths->trace.spare_record;
        }
        snprintf(paths->trace.record->routine, sizeof paths->trace.record->routine, "%s", routine);
    }
    paths->trace.record->direction = direction;
    paths->trace.record->bucket = paths->search.bucket;
    hw_rowcol_begin_traffic(&paths->layout.row.line);
    hw_rowcol_begin_traffic(&paths->layout.column.line);
    if (paths->options.trace)
        paths->trace.mark_seconds = hw_seconds();
}

void hw_sssp_2d_end_step(struct hw_sssp_2d *paths)
{
    hw_rowcol_end_traffic(&paths->layout.row.line, paths->trace.record);
    hw_rowcol_end_traffic(&paths->layout.column.line, paths->trace.record);
}

/* All entries of a table unreached. */
static void forget(const struct hw_sssp_2d *paths, void *table, hw_count entries)
{
    const enum hw_distance kind = paths->derived.kind;
    const int64_t none = hw_distance_none(kind);

#pragma omp parallel for num_threads(paths->threads) schedule(static) if (entries > 1 << 15)
    for (hw_count e = 0; e < entries; e++)
        hw_best_set(kind, table, (size_t)e, none, UINT32_MAX);
}

/* Unreached again; of one part only what the search before may have touched. */
static void forget_search(struct hw_sssp_2d *paths)
{
    if (hw_sssp_2d_shares(paths)) { /* each rank its own */
        forget(paths, paths->search.source, paths->layout.block);
        return;
    }
    if (paths->part->spec.parts > 1) {
        forget(paths, paths->search.target, paths->layout.columns * (hw_count)paths->layout.block);
        if (paths->layout.rows > 1)
            forget(paths, paths->search.source, paths->layout.rows * (hw_count)paths->layout.block);
        return;
    }
    forget(paths, paths->search.target, paths->search.touched);
    paths->search.touched =
        paths->search.root >= paths->layout.active && paths->search.root != HW_LID_NONE
            ? paths->search.root + 1
            : paths->layout.active;
}

/* Everything unreached. Local. */
static void reset(struct hw_sssp_2d *paths)
{
    forget_search(paths);
    memset(paths->search.mark, 0, paths->layout.block);
    memcpy(paths->search.open, paths->tables.inner,
           (size_t)paths->layout.words * sizeof *paths->search.open);
    for (int q = 0; q < HW_QUEUES; q++) {
        paths->search.queue[q].count = 0;
        paths->search.queue[q].min = INT64_MAX;
    }
    paths->search.duplicates = paths->search.bucket_begin = paths->search.broadcast_count = 0;
    paths->search.bucket = paths->search.settled_edges = paths->trace.phases = 0;
    paths->parents.by_hops = false;
    memset(&paths->search.tally, 0, sizeof paths->search.tally);
    paths->search.tally.queued[HW_QUEUE_NEAR] = 1;
}

/* Visits the root, which is an own position. Local. */
static void visit_root(struct hw_sssp_2d *paths)
{
    hw_best_set(paths->derived.kind, paths->search.target,
                (size_t)paths->layout.own_row + paths->search.root, 0,
                paths->tables.column_code + paths->layout.own_column + paths->search.root);
    paths->search.queue[HW_QUEUE_NEAR].list[0] = paths->search.root;
    paths->search.queue[HW_QUEUE_NEAR].count = 1;
    paths->search.mark[paths->search.root] = 1 << HW_QUEUE_NEAR;
}

enum hw_status hw_sssp_2d_reset(struct hw_sssp_2d *paths, struct hw_error *err)
{
    reset(paths);
    if (paths->search.root != HW_LID_NONE)
        visit_root(paths);
    return hw_sssp_2d_shares(paths) ? hw_sssp_2d_barrier(paths, err) : HW_OK;
}

enum hw_status hw_sssp_2d_sum(struct hw_sssp_2d *paths, struct hw_error *err)
{
    enum hw_status status = HW_OK;

    for (int q = 0; q < HW_QUEUE_SETTLED; q++)
        paths->search.tally.queued[q] = paths->search.queue[q].count;
    if (paths->part->spec.parts > 1)
        status = hw_mpi(MPI_Allreduce(MPI_IN_PLACE, &paths->search.tally,
                                      sizeof paths->search.tally / sizeof(hw_count), HW_MPI_COUNT,
                                      MPI_SUM, paths->ctx->world),
                        "MPI_Allreduce", err);
    hw_sssp_2d_phase_end(paths, HW_PHASE_REDUCTIONS);
    return status;
}

/* Vertices queued here. */
static hw_count queued(const struct hw_sssp_2d *paths)
{
    hw_count count = 0;

    for (int q = 0; q < HW_QUEUE_SETTLED; q++)
        count += paths->search.queue[q].count;
    return count;
}

enum hw_status hw_sssp_2d_relax(struct hw_sssp_2d *paths, const char *routine, bool sweep,
                                struct hw_error *err)
{
    hw_lid settled = paths->search.queue[HW_QUEUE_SETTLED].count;
    int64_t none = hw_distance_none(paths->derived.kind);
    struct hw_sssp_2d_scan scan = {
        .to = paths->search.whole ? none : paths->search.high,
        .all = true,
        .sweep = sweep,
        /* What bellman-ford improves without an atomic needs marks that are cleared already. */
        .takes = paths->layout.rows == 1 && !paths->derived.bellman_ford};

    hw_sssp_2d_begin_step(paths, routine, HW_DIRECTION_TOP_DOWN);
    paths->trace.phases++;
    hw_lid frontier = hw_sssp_2d_move_near(paths);
    if (!scan.takes)
        hw_sssp_2d_take(paths, frontier);
    hw_count before = queued(paths);
    enum hw_status status = hw_sssp_2d_expand(paths, paths->search.queue[HW_QUEUE_NEAR].spare,
                                              frontier, &scan.list, &scan.count, err);
    if (status != HW_OK)
        return status;
    hw_sssp_2d_push(paths, &scan);
    hw_sssp_2d_phase_end(paths, HW_PHASE_EXPANSION);
    if (paths->layout.columns > 1)
        status = hw_sssp_2d_fold(paths, &paths->layout.row, true, err);
    paths->trace.record->frontier += frontier;
    paths->trace.record->discovered += queued(paths) - before;
    paths->trace.record->settled += paths->search.queue[HW_QUEUE_SETTLED].count - settled;
    if (status == HW_OK)
        status = hw_sssp_2d_sum(paths, err);
    hw_sssp_2d_end_step(paths);
    return status;
}

/* The leaves reached among the own vertices, but for those that were pushed to: from a root
 * that is a leaf itself. */
static hw_count count_leaves(const struct hw_sssp_2d *paths)
{
    const int64_t none = hw_distance_none(paths->derived.kind);
    const size_t own = paths->layout.own_row;
    hw_count count = 0;

#pragma omp parallel for num_threads(paths->threads) reduction(+ : count) if (paths->layout.block > 4096)
    for (hw_lid t = 0; t < paths->layout.block; t++)
        count += hw_bitmap_test(paths->tables.own_leaf, t) &&
                 !(paths->search.mark[t] & 1 << HW_QUEUE_SETTLED) &&
                 hw_best_key(paths->derived.kind, paths->search.target, own + t) != none;
    return count;
}

/* Leaves take the best of their neighbours. Collective. */
static enum hw_status settle_leaves(struct hw_sssp_2d *paths, struct hw_error *err)
{
    enum hw_status status = HW_OK;

    if (paths->tables.leaves == 0)
        return HW_OK;
    hw_sssp_2d_begin_step(paths, "leaves", HW_DIRECTION_BOTTOM_UP);
    paths->search.high = hw_distance_none(paths->derived.kind);
    if (paths->part->spec.parts > 1)
        status = hw_sssp_2d_broadcast_bounds(paths, err);
    if (status != HW_OK)
        return status;
    hw_count found = hw_sssp_2d_pull(paths, true);
    hw_sssp_2d_phase_end(paths, HW_PHASE_EXPANSION);
    if (paths->layout.rows > 1) {
        status = hw_sssp_2d_fold(paths, &paths->layout.column, false, err);
        found = count_leaves(paths);
    }
    paths->trace.record->discovered = paths->trace.record->settled = found;
    hw_sssp_2d_end_step(paths);
    return status;
}

/*
 * Were all sums of this search exact? In each phase a distance rises by a weight
 * at most, and afterwards none falls below the least in the end.
 */
static enum hw_status were_exact(const struct hw_sssp_2d *paths, bool *exact, struct hw_error *err)
{
    const struct hw_weight_stats *stats = &paths->derived.weight_stats;
    const double weight = fmax(fabs(stats->min), fabs(stats->max));
    const size_t own = paths->layout.own_row;
    int64_t min = 0;

#pragma omp parallel for num_threads(paths->threads)                                               \
    reduction(min                                                                                  \
              : min) if (paths->layout.block > 4096)
    for (hw_lid t = 0; t < paths->layout.block; t++) {
        int64_t key = hw_best_key(HW_DISTANCE_F32, paths->search.target, own + t);
        min = key < min ? key : min;
    }
    enum hw_status status =
        hw_mpi(MPI_Allreduce(MPI_IN_PLACE, &min, 1, MPI_INT64_T, MPI_MIN, paths->ctx->world),
               "MPI_Allreduce", err);
    double max = fmax((double)paths->trace.phases * weight, -(double)hw_distance_f32(min)) + weight;
    *exact = max <= ldexp(1, 24 + paths->derived.weight_exponent);
    return status;
}

/* The parents that other ranks know, as a step. */
static enum hw_status fetch_parents(struct hw_sssp_2d *paths, struct hw_error *err)
{
    hw_sssp_2d_begin_step(paths, "parents", HW_DIRECTION_AUTO);
    enum hw_status status = hw_sssp_2d_fetch(paths, NULL, err);
    hw_sssp_2d_end_step(paths);
    return status;
}

/* Everything between the root and the tables complete. */
static enum hw_status complete(struct hw_sssp_2d *paths, struct hw_error *err)
{
    bool reached = true, exact = true;

    HW_TRY(settle_leaves(paths, err));
    if (paths->derived.may_overflow)
        HW_TRY(hw_sssp_2d_check_overflow(paths, err));
    if (paths->derived.may_cycle)
        HW_TRY(were_exact(paths, &exact, err));
    if (paths->options.canonical_parents || !exact)
        HW_TRY(hw_sssp_2d_hops(paths, &reached, err));
    else if (paths->part->spec.parts > 1 && !hw_sssp_2d_shares(paths))
        HW_TRY(fetch_parents(paths, err));
    if (!reached)
        return hw_fail(err, HW_BAD_INPUT,
                       "sums of these float weights round so that shortest paths do not end; use "
                       "weights whose sums are exact, such as whole numbers");
    return HW_OK;
}

/* The slowest rank's seconds, agreed on together with the steps' memory. */
static enum hw_status finish(struct hw_sssp_2d *paths, struct hw_result *result,
                             struct hw_error *err)
{
    double seconds[2] = {result->seconds, result->seconds_search_order};

    HW_TRY(hw_mpi(MPI_Allreduce(MPI_IN_PLACE, seconds, 2, MPI_DOUBLE, MPI_MAX, paths->ctx->world),
                  "MPI_Allreduce", err));
    result->seconds = seconds[0];
    result->seconds_search_order = seconds[1];
    if (paths->trace.status != HW_OK)
        return hw_fail(err, HW_RESOURCES, "no memory for the measurements of the steps");
    return HW_OK;
}

enum hw_status hw_sssp_2d_search(struct hw_sssp_2d *paths, int owner, hw_lid position,
                                 enum hw_status (*run)(struct hw_sssp_2d *, struct hw_result *,
                                                       struct hw_error *),
                                 struct hw_result *result, struct hw_error *err)
{
    const struct hw_part *part = paths->part;

    if (owner < 0 || owner >= part->spec.parts ||
        position >= hw_owned(&part->spec, part->vertices, owner))
        return hw_fail(err, HW_BAD_INPUT, "there is no vertex at position %" PRI_LID " of part %d",
                       position, owner);
    hw_trace_clear(&result->trace);
    result->outcome = HW_OUTCOME_TREE;
    result->delta = 0;
    paths->trace.records = &result->trace;
    paths->trace.status = HW_OK;
    paths->search.root = owner == part->index ? position : HW_LID_NONE;
    HW_TRY(hw_mpi(MPI_Barrier(paths->ctx->world), "MPI_Barrier", err));
    double start = hw_seconds();
    HW_TRY(hw_sssp_2d_reset(paths, err));
    HW_TRY(run(paths, result, err));
    if (result->outcome == HW_OUTCOME_TREE)
        HW_TRY(complete(paths, err));
    result->seconds_search_order = hw_seconds() - start;
    if (result->outcome == HW_OUTCOME_TREE)
        hw_sssp_2d_write(paths, result);
    else
        hw_sssp_2d_write_nothing(paths, result);
    result->seconds = hw_seconds() - start;
    return hw_agree(paths->ctx->world, finish(paths, result, err), err);
}
