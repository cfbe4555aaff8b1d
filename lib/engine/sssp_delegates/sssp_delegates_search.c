/*
 * Searches of methods `delta` and `bellman-ford` on the degree-separated layout:
 * see sssp_delegates.h.
 *
 * delta: a bucket holds the vertices whose distance lies in [low, high). Edges
 * that end inside it are pushed until none improves anything; all others are long
 * and followed once, when the distances of the bucket are final. Which edges are
 * long is decided for each vertex by the sum itself, not by the weight alone: as
 * sums are monotone in rounding, no vertex of a bucket that is done ever improves
 * again. The next bucket begins at the least distance beyond. Buckets become wider
 * while they are calm: the last ones are a Bellman-Ford tail.
 *
 * bellman-ford: one bucket without end. A vertex is visited once in a round
 * however often it was improved before, unless --duplicates.
 */
#include "lib/engine/sssp_delegates/sssp_delegates.h"

#include <stdio.h>
#include <string.h>

/*
 * Widths of buckets, unless --delta sets one. The first is narrow, since there hubs
 * settle, whose many short edges should not be pushed again and again. A bucket is
 * calm where few of its vertices improved again after their visit, or where it took
 * so few, for each thread, that to begin it cost most: then the next is twice as
 * wide. Where more visits were repeated than not, it is half as wide.
 */
#define FIRST 0.25
#define CALM 0.3
#define FEW 64

/* Vertices ahead of which results are fetched. */
#define AHEAD 16

/* Bellman-Ford: the first look for a negative cycle, in rounds; each later one
 * when as many again have passed. */
#define FIRST_LOOK 16

/* ---- start ---- */

void hw_sssp_delegates_start(struct hw_sssp_delegates *e)
{
    hw_count all = (hw_count)e->vertices.locals + e->vertices.ghosts;
    int64_t none = hw_distance_none(e->derived.kind);

#pragma omp parallel for schedule(static) if (all > HW_SSSP_DELEGATES_SERIAL)
    for (hw_count v = 0; v < all; v++) {
        hw_best_set(e->derived.kind, e->search.best, (size_t)v, none, e->vertices.none);
        e->search.mark[v] = 0;
    }
    if (e->vertices.locals > 0)
        memset(e->search.visited, 0, hw_bits_words(e->vertices.locals) * sizeof *e->search.visited);
    e->search.improved.count = e->search.improved_ghosts.count = 0;
    e->search.frontier.count = e->search.next.count = 0;
    e->search.far.count = e->search.bucket.count = 0;
    e->search.open_count = e->vertices.pullables;
    if (e->vertices.pullables > 0)
        memcpy(e->search.open, e->vertices.pullable,
               e->vertices.pullables * sizeof *e->vertices.pullable);
    e->search.far_least = INT64_MAX;
    e->search.settled = e->search.repeated = e->search.reached = 0;
    e->search.bucket_number = 0;
    e->search.low = 0;
    e->search.high = none;
    if (e->search.root == HW_LID_NONE)
        return;
    hw_best_set(e->derived.kind, e->search.best, e->search.root, 0, e->search.root);
    e->search.mark[e->search.root] = HW_MARK_QUEUED;
    e->search.next.item[e->search.next.count++] = e->search.root;
}

void hw_sssp_delegates_advance(struct hw_sssp_delegates *e)
{
    struct hw_sssp_delegates_queue queue = e->search.frontier;

    e->search.frontier = e->search.next;
    e->search.next = queue;
    e->search.next.count = 0;
    e->scratch.duplicates_left = e->vertices.locals;
    for (hw_count i = 0; i < e->search.frontier.count; i++) {
        hw_lid u = e->search.frontier.item[i];
        uint8_t mark = e->search.mark[u];
        bool owned = hw_sssp_delegates_owns(e, u);
        if (mark & HW_MARK_BUCKET) {
            e->search.repeated += owned;
        } else {
            e->search.bucket.item[e->search.bucket.count++] = u;
            hw_bitmap_set(e->search.visited, u);
            e->search.settled += owned;
        }
        e->search.mark[u] = (mark | HW_MARK_BUCKET) & (uint8_t)~HW_MARK_QUEUED;
    }
}

/* ---- steps ---- */

/* A row for a step; one that is not kept where memory is short. */
static struct hw_trace_record *add_row(struct hw_sssp_delegates *e, struct hw_trace *steps,
                                       const char *routine)
{
    struct hw_trace_record *row = hw_trace_append(steps);

    e->trace_incomplete = e->trace_incomplete || !row;
    row = row ? row : &e->spare_record;
    snprintf(row->routine, sizeof row->routine, "%s", routine);
    row->bucket = e->search.bucket_number;
    row->direction = HW_DIRECTION_TOP_DOWN;
    return row;
}

/* Own vertices in a queue. */
static hw_count owned_in(const struct hw_sssp_delegates *e,
                         const struct hw_sssp_delegates_queue *queue)
{
    hw_count owned = 0;

#pragma omp parallel for reduction(+ : owned) if (queue->count > HW_SSSP_DELEGATES_SERIAL)
    for (hw_count i = 0; i < queue->count; i++)
        owned += hw_sssp_delegates_owns(e, queue->item[i]);
    return owned;
}

/* Pushes the frontier and sends what it improved. Collective. */
static enum hw_status push_step(struct hw_sssp_delegates *e, enum hw_sssp_delegates_scan scan,
                                struct hw_trace_record *row,
                                struct hw_sssp_delegates_step_summary *summary,
                                struct hw_error *err)
{
    double start = hw_seconds();

    hw_sssp_delegates_advance(e);
    row->frontier = owned_in(e, &e->search.frontier);
    row->edges_examined = hw_sssp_delegates_push(e, scan);
    row->seconds[HW_PHASE_EXPANSION] += hw_seconds() - start;
    enum hw_status status = hw_sssp_delegates_exchange(e, row, summary, err);
    row->discovered = owned_in(e, &e->search.next);
    return status;
}

/* ---- delta ---- */

/* The long edges of a bucket. Collective. */
static enum hw_status long_step(struct hw_sssp_delegates *e, struct hw_trace_record *row,
                                struct hw_sssp_delegates_step_summary *summary,
                                struct hw_error *err)
{
    double start = hw_seconds();
    hw_count far = e->search.far.count;

    row->frontier = row->settled = e->search.settled;
    row->edges_examined = hw_sssp_delegates_long(e, &row->pulled);
    if (row->pulled > 0) {
        row->direction = HW_DIRECTION_BOTTOM_UP;
        snprintf(row->routine, sizeof row->routine, "long pull");
    }
    row->seconds[HW_PHASE_EXPANSION] += hw_seconds() - start;
    enum hw_status status = hw_sssp_delegates_exchange(e, row, summary, err);
    for (hw_count i = far; i < e->search.far.count; i++)
        row->discovered += hw_sssp_delegates_owns(e, e->search.far.item[i]);
    return status;
}

/* How wide the next bucket should be, after one that did this. */
static double adapt(const struct hw_sssp_delegates *e,
                    const struct hw_sssp_delegates_step_summary *summary, double width)
{
    if (e->config.delta > 0)
        return width;
    if ((double)summary->repeated < CALM * (double)summary->settled ||
        summary->settled < (hw_count)FEW * e->ctx.size)
        return 2 * width;
    return summary->repeated > summary->settled ? width / 2 : width;
}

/* Opens the bucket [low, low+width), and takes what is in it from the far list. */
static void open_bucket(struct hw_sssp_delegates *e, int64_t low, double width)
{
    hw_lid *far = e->search.far.item;
    hw_count kept = 0;
    int64_t high =
        hw_distance_bound(e->derived.kind, hw_distance_real(e->derived.kind, low) + width);

    e->search.low = low;
    e->search.high = high > low ? high : low + 1;
    e->search.far_least = INT64_MAX;
    e->search.bucket.count = 0;
    e->search.settled = e->search.repeated = 0;
    for (hw_count i = 0; i < e->search.far.count; i++) {
        hw_lid v = far[i];
        int64_t key = hw_sssp_delegates_key(e, v);
        if (key >= e->search.high) {
            far[kept++] = v;
            e->search.far_least = key < e->search.far_least ? key : e->search.far_least;
            continue;
        }
        if (e->search.mark[v] & HW_MARK_BUCKET)
            continue;
        e->search.mark[v] |= HW_MARK_QUEUED;
        e->search.next.item[e->search.next.count++] = v;
    }
    e->search.far.count = kept;
}

static enum hw_status run_delta(struct hw_sssp_delegates *e, struct hw_trace *steps,
                                struct hw_error *err)
{
    struct hw_sssp_delegates_step_summary summary = {0};
    enum hw_status status = HW_OK;
    double width = e->config.delta > 0 ? e->derived.width : FIRST * e->derived.width;

    e->search.high = hw_distance_bound(e->derived.kind, width);
    e->search.high = e->search.high > 0 ? e->search.high : 1;
    for (;;) {
        do
            status = push_step(e, HW_SCAN_SHORT, add_row(e, steps, "short push"), &summary, err);
        while (status == HW_OK && summary.active > 0);
        struct hw_sssp_delegates_step_summary bucket = summary;
        if (status == HW_OK && bucket.settled > 0)
            status = long_step(e, add_row(e, steps, "long push"), &summary, err);
        if (status != HW_OK || summary.min == INT64_MAX)
            return status;
        e->search.reached += e->search.settled;
        e->search.bucket_number++;
        width = adapt(e, &bucket, width);
        open_bucket(e, summary.min, width);
    }
}

/* ---- bellman-ford ---- */

/* Rounds after which distances that still improve do so along a cycle. */
static bool too_many(const struct hw_sssp_delegates *e, hw_count rounds)
{
    return rounds > e->part->vertices + 1;
}

/* Looks for a negative cycle, at growing intervals: after `rounds` of them. */
static enum hw_status look(struct hw_sssp_delegates *e, hw_count rounds, struct hw_trace *steps,
                           struct hw_result *result, struct hw_error *err)
{
    HW_TRY(hw_sssp_delegates_negative_cycle(e, add_row(e, steps, "look for a cycle"),
                                            &result->cycle, err));

    if (result->cycle.length == 0 && too_many(e, rounds))
        return hw_fail(err, HW_BAD_INPUT,
                       "distances keep improving by rounding along a cycle whose weight is not "
                       "negative; such weights have no shortest paths in float arithmetic");
    return HW_OK;
}

static enum hw_status run_bellman_ford(struct hw_sssp_delegates *e, struct hw_result *result,
                                       struct hw_error *err)
{
    enum hw_sssp_delegates_scan scan = e->derived.classes ? HW_SCAN_CLASSES : HW_SCAN_SHORT;
    bool watch = e->derived.weight_stats.negative > 0 && e->part->directed;
    struct hw_sssp_delegates_step_summary summary = {.active = 1};
    enum hw_status status = HW_OK;
    char routine[32];

    snprintf(routine, sizeof routine, "%s%s", e->derived.classes ? "classes" : "all edges",
             e->config.duplicates ? ", duplicates" : "");
    for (hw_count round = 1, next = FIRST_LOOK; status == HW_OK && summary.active > 0; round++) {
        struct hw_trace_record *row = add_row(e, &result->trace, routine);
        hw_count settled = e->search.settled;
        status = push_step(e, scan, row, &summary, err);
        row->settled = e->search.settled - settled;
        if (status != HW_OK || !watch || summary.active == 0 || round < next)
            continue;
        next = 2 * round < e->part->vertices + 2 || too_many(e, round) ? 2 * round
                                                                       : e->part->vertices + 2;
        status = look(e, round, &result->trace, result, err);
        if (result->cycle.length > 0)
            return status;
    }
    e->search.reached = e->search.settled;
    return status;
}

/* ---- the end ---- */

/* Works out the vertices that waited for the end. */
static void settle_last(struct hw_sssp_delegates *e, struct hw_trace *steps)
{
    struct hw_trace_record *row = add_row(e, steps, "last");
    double start = hw_seconds();

    row->edges_examined = row->pulled = hw_sssp_delegates_pull_last(e, false);
    row->direction = HW_DIRECTION_BOTTOM_UP;
    row->discovered = row->settled = e->search.improved.count;
    e->search.improved.count = 0;
    row->seconds[HW_PHASE_EXPANSION] += hw_seconds() - start;
}

/* Whether some reached vertex has an edge whose end is reachable, but further
 * than a float can represent, or less than it can. Collective. */
static enum hw_status check_overflow(struct hw_sssp_delegates *e, struct hw_trace_record *row,
                                     struct hw_error *err)
{
    int64_t none = hw_distance_none(e->derived.kind), lowest = hw_distance_key_f32(-INFINITY);
    const struct hw_sorted_csr *lists[] = {&e->lists.out.lists, &e->lists.cross.lists};
    float most = 0;
    int suspect = 0, wrong = 0;

    if (!e->derived.may_overflow)
        return HW_OK;
    for (hw_lid v = 0; v < e->vertices.locals; v++) {
        int64_t key = hw_sssp_delegates_key(e, v);
        wrong |= key == lowest;
        most = key != none && hw_distance_f32(key) > most ? hw_distance_f32(key) : most;
    }
    suspect = wrong || isinf(most + (float)e->derived.weight_stats.max);
    enum hw_status status =
        hw_mpi(MPI_Allreduce(MPI_IN_PLACE, &suspect, 1, MPI_INT, MPI_MAX, e->ctx.world),
               "MPI_Allreduce", err);
    hw_traffic_add_reduction(&row->sent, sizeof suspect, e->ctx.size, e->part->spec.devices);
    if (status != HW_OK || !suspect)
        return status;
    status = hw_sssp_delegates_refresh(e, row, err);
    for (hw_lid u = 0; u < e->vertices.locals && status == HW_OK; u++)
        for (int i = 0; i < 2 && hw_sssp_delegates_reached(e, u); i++)
            for (hw_count k = lists[i]->offset[u]; k < lists[i]->offset[u + 1]; k++)
                wrong |= !hw_sssp_delegates_reached(e, lists[i]->edge[k].index);
    for (hw_lid i = 0; i < e->vertices.last_count && status == HW_OK; i++) {
        hw_lid v = e->vertices.last_list[i];
        for (hw_count k = e->lists.into->lists.offset[v]; k < e->lists.into->lists.offset[v + 1];
             k++)
            wrong |= !hw_sssp_delegates_reached(e, v) &&
                     hw_sssp_delegates_reached(e, e->lists.into->lists.edge[k].index);
    }
    if (status == HW_OK && wrong)
        status = hw_distances_overflow(err);
    return hw_agree(e->ctx.world, status, err);
}

/* Parents, and whether the distances are sound. Collective. */
static enum hw_status finish(struct hw_sssp_delegates *e, struct hw_result *result,
                             struct hw_error *err)
{
    struct hw_trace_record *row = add_row(e, &result->trace, e->derived.hops ? "hops" : "parents");

    row->direction = HW_DIRECTION_AUTO;
    if (e->derived.hops)
        HW_TRY(hw_sssp_delegates_hops(e, row, err));
    else
        HW_TRY(hw_sssp_delegates_parents(e, row, err));
    return check_overflow(e, row, err);
}

/* Fetches what hw_sssp_delegates_parent() will read. */
static inline void fetch_parent(const struct hw_sssp_delegates *e, hw_lid slot)
{
    hw_lid code = hw_best_parent(e->derived.kind, e->search.best, e->vertices.delegates + slot);

    if (code < e->vertices.delegates)
        __builtin_prefetch(&e->part->separate.graph_id[code]);
    else if (code < e->vertices.locals)
        __builtin_prefetch(&e->part->own.graph_id[code - e->vertices.delegates]);
    else
        __builtin_prefetch(&e->parents.parent[slot]);
}

/* Writes distances and parents by rising graph id; none where all are unreached. */
static void write_result(struct hw_sssp_delegates *e, struct hw_result *result)
{
    const struct hw_part_vertices *own = &e->part->own;
    bool tree = result->outcome == HW_OUTCOME_TREE;

#pragma omp parallel for schedule(static) if (own->count > HW_SSSP_DELEGATES_SERIAL)
    for (hw_lid i = 0; i < own->count; i++) {
        hw_lid slot = own->by_graph_id[i];
        if (i + AHEAD < own->count)
            hw_best_prefetch(e->derived.kind, e->search.best,
                             e->vertices.delegates + own->by_graph_id[i + AHEAD]);
        if (i + AHEAD / 2 < own->count)
            fetch_parent(e, own->by_graph_id[i + AHEAD / 2]);
        int64_t key = hw_sssp_delegates_key(e, e->vertices.delegates + slot);
        bool reached = tree && key != hw_distance_none(e->derived.kind);
        result->parent[i] = reached ? hw_sssp_delegates_parent(e, slot) : -1;
        if (result->distance_f32)
            result->distance_f32[i] = reached ? hw_distance_f32(key) : INFINITY;
        if (result->distance_i64)
            result->distance_i64[i] = reached ? key : -1;
    }
}

/* One search between the barrier and the times. *ordered: when parents were known
 * in search order. Collective. */
static enum hw_status run(struct hw_sssp_delegates *e, struct hw_result *result, double *ordered,
                          struct hw_error *err)
{
    bool edges =
        e->derived.weight_stats.negative > 0 && (!e->part->directed || e->derived.loops > 0);

    if (edges)
        HW_TRY(hw_sssp_delegates_negative_edge(e, add_row(e, &result->trace, "look for an edge"),
                                               &result->cycle, err));
    if (result->cycle.length == 0) {
        hw_sssp_delegates_start(e);
        HW_TRY(e->derived.buckets ? run_delta(e, &result->trace, err)
                                  : run_bellman_ford(e, result, err));
    }
    result->outcome = result->cycle.length > 0 ? HW_OUTCOME_NEGATIVE_CYCLE : HW_OUTCOME_TREE;
    if (result->outcome == HW_OUTCOME_TREE) {
        if (e->derived.classes)
            settle_last(e, &result->trace);
        HW_TRY(finish(e, result, err));
    }
    *ordered = hw_seconds();
    write_result(e, result);
    return HW_OK;
}

/* The slowest rank's times, and agreement. Collective. */
static enum hw_status conclude(struct hw_sssp_delegates *e, struct hw_result *result,
                               struct hw_error *err)
{
    double slowest[2] = {result->seconds, result->seconds_search_order};
    enum hw_status status = HW_OK;

    if (e->trace_incomplete)
        status = hw_fail(err, HW_RESOURCES, "too little memory for the record of the steps");
    status = hw_agree(e->ctx.world, status, err);
    if (status == HW_OK)
        status = hw_mpi(MPI_Allreduce(MPI_IN_PLACE, slowest, 2, MPI_DOUBLE, MPI_MAX, e->ctx.world),
                        "MPI_Allreduce", err);
    result->seconds = slowest[0];
    result->seconds_search_order = slowest[1];
    return status;
}

enum hw_status hw_sssp_delegates_search(void *engine, int owner, hw_lid position,
                                        struct hw_result *result, struct hw_error *err)
{
    struct hw_sssp_delegates *e = engine;
    double ordered = 0;

    if (owner < 0 || owner >= e->part->spec.parts ||
        hw_search_id(&e->part->spec, e->part->vertices, owner, position) == HW_GID_NONE)
        return hw_fail(err, HW_BAD_INPUT, "there is no vertex at position %" PRI_LID " of part %d",
                       position, owner);
    hw_trace_clear(&result->trace);
    result->delta = e->derived.buckets ? e->derived.width : 0;
    e->search.root = hw_sssp_delegates_find(e, owner, position);
    e->trace_incomplete = false;
    HW_TRY(hw_mpi(MPI_Barrier(e->ctx.world), "MPI_Barrier", err));
    double start = hw_seconds();
    HW_TRY(run(e, result, &ordered, err));
    result->seconds = hw_seconds() - start;
    result->seconds_search_order = ordered - start;
    return conclude(e, result, err);
}
