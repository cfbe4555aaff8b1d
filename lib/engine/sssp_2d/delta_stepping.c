/* Method `delta` on grids: buckets, and which way long edges are relaxed. */
#include "lib/engine/core/cpu_method_list.h"
#include "lib/engine/sssp_2d/sssp_2d.h"

/* Pulled edges that take the time of one pushed: a pull writes little, and no
 * other thread writes there. */
#define PULL_GAIN 2.0
/* A pull is considered once a push has this share of all edges. */
#define WORTH_A_SAMPLE 256
/* Once only this share of all edges is left, all of them are pushed at once. */
#define TAIL 256
/* The first step inside a bucket is this share of it, until the hubs have settled: once a pull
 * paid, there is one step only. */
#define FIRST_STEP (1.0 / 1024)
/* Steps of more phases than this are followed by narrower ones, others by wider ones. */
#define FEW_PHASES 3
/* From then on each bucket is so much wider than the one before it, unless the user chose the
 * width: what is further away has few edges, and improves rarely. Where degrees are even there are
 * no hubs that settle first: a bucket is one step from the start, and all are equally wide. */
#define GROWTH 2

/* The key a distance further, but at least one. */
static int64_t further(const struct hw_sssp_2d *paths, int64_t key, double distance)
{
    int64_t bound = hw_distance_bound(paths->derived.kind,
                                      hw_distance_real(paths->derived.kind, key) + distance);

    return bound > key ? bound : key + 1;
}

/* Sets the ends of a bucket that begins at low, and of its first step. */
static void open_bucket(struct hw_sssp_2d *paths, int64_t low)
{
    paths->search.low = low;
    paths->search.high = further(paths, low, paths->search.span);
    paths->search.near = paths->search.high;
    if (paths->search.steps_inside && !paths->derived.whole_lists)
        paths->search.near = further(paths, low, paths->search.span * FIRST_STEP);
    if (paths->search.near > paths->search.high)
        paths->search.near = paths->search.high;
}

/* A bound below all keys in a queue, over all parts. */
static enum hw_status find_least(const struct hw_sssp_2d *paths, int queue, int64_t *min,
                                 struct hw_error *err)
{
    *min = paths->search.queue[queue].min;
    if (paths->part->spec.parts == 1)
        return HW_OK;
    return hw_mpi(MPI_Allreduce(MPI_IN_PLACE, min, 1, MPI_INT64_T, MPI_MIN, paths->ctx->world),
                  "MPI_Allreduce", err);
}

/* The next step inside the bucket, so wide, from the least key left in it. */
static enum hw_status next_step(struct hw_sssp_2d *paths, double width, struct hw_error *err)
{
    int64_t min;

    HW_TRY(find_least(paths, HW_QUEUE_LATER, &min, err));
    paths->search.below = paths->search.near;
    paths->search.near = further(paths, min > paths->search.near ? min : paths->search.near, width);
    if (paths->search.near > paths->search.high)
        paths->search.near = paths->search.high;
    hw_sssp_2d_filter(paths, HW_QUEUE_LATER);
    return hw_sssp_2d_sum(paths, err);
}

/* The vertices of the bucket, nearest first, until none improves any more. A step in which
 * vertices improved again and again was too wide. */
static enum hw_status settle(struct hw_sssp_2d *paths, struct hw_error *err)
{
    const hw_count *queued = paths->search.tally.queued;
    const char *routine = paths->search.whole ? "push" : "short.push";
    double width = paths->search.span * FIRST_STEP;
    enum hw_status status = HW_OK;
    int phases = 0;

    while (status == HW_OK && (queued[HW_QUEUE_NEAR] > 0 || queued[HW_QUEUE_LATER] > 0)) {
        if (queued[HW_QUEUE_NEAR] > 0) {
            status = hw_sssp_2d_relax(paths, routine, false, err);
            phases++;
            continue;
        }
        width *= phases <= FEW_PHASES ? 2 : 0.5;
        phases = 0;
        status = next_step(paths, width, err);
    }
    return status;
}

/* What either way would examine for the long edges of what has settled. */
static enum hw_status weigh(struct hw_sssp_2d *paths, struct hw_error *err)
{
    const struct hw_sssp_2d_queue *settled = &paths->search.queue[HW_QUEUE_SETTLED];
    hw_count edges = 0;

#pragma omp parallel for num_threads(paths->threads) reduction(+ : edges)                            \
    if (settled->count - paths->search.bucket_begin > 8192)
    for (hw_lid k = paths->search.bucket_begin; k < settled->count; k++)
        edges += paths->tables.degree[settled->list[k]];
    paths->search.tally.push = edges;
    paths->search.tally.pull = 0;
    if (edges > paths->tables.edges / paths->part->spec.parts / WORTH_A_SAMPLE)
        paths->search.tally.pull = hw_sssp_2d_pull_estimate(paths);
    return hw_sssp_2d_sum(paths, err);
}

static enum hw_status push_long(struct hw_sssp_2d *paths, struct hw_error *err)
{
    const struct hw_sssp_2d_queue *settled = &paths->search.queue[HW_QUEUE_SETTLED];
    struct hw_sssp_2d_scan scan = {.from = paths->search.high,
                                   .to = hw_distance_none(paths->derived.kind)};
    hw_lid count = settled->count - paths->search.bucket_begin,
           before = paths->search.queue[HW_QUEUE_FAR].count;

    hw_sssp_2d_begin_step(paths, "long.push", HW_DIRECTION_TOP_DOWN);
    HW_TRY(hw_sssp_2d_expand(paths, settled->list + paths->search.bucket_begin, count, &scan.list,
                             &scan.count, err));
    hw_sssp_2d_push(paths, &scan);
    hw_sssp_2d_phase_end(paths, HW_PHASE_EXPANSION);
    if (paths->layout.columns > 1)
        HW_TRY(hw_sssp_2d_fold(paths, &paths->layout.row, true, err));
    paths->trace.record->frontier += count;
    paths->trace.record->discovered += paths->search.queue[HW_QUEUE_FAR].count - before;
    return HW_OK;
}

static enum hw_status pull_long(struct hw_sssp_2d *paths, struct hw_error *err)
{
    const struct hw_sssp_2d_queue *settled = &paths->search.queue[HW_QUEUE_SETTLED];
    hw_lid before = paths->search.queue[HW_QUEUE_FAR].count;

    hw_sssp_2d_begin_step(paths, "long.pull", HW_DIRECTION_BOTTOM_UP);
    if (paths->part->spec.parts > 1)
        HW_TRY(hw_sssp_2d_broadcast_bounds(paths, err));
    hw_sssp_2d_pull(paths, false);
    hw_sssp_2d_phase_end(paths, HW_PHASE_EXPANSION);
    if (paths->layout.rows > 1)
        HW_TRY(hw_sssp_2d_fold(paths, &paths->layout.column, true, err));
    paths->trace.record->frontier += settled->count - paths->search.bucket_begin;
    paths->trace.record->discovered += paths->search.queue[HW_QUEUE_FAR].count - before;
    return HW_OK;
}

/* Relaxes the edges that leave the bucket, once. */
static enum hw_status relax_long(struct hw_sssp_2d *paths, struct hw_error *err)
{
    enum hw_status status = weigh(paths, err);
    const hw_count push = paths->search.tally.push, pull = paths->search.tally.pull;

    if (status != HW_OK || push == 0)
        return status;
    paths->search.settled_edges += push;
    bool pulls = pull > 0 && (double)pull < PULL_GAIN * (double)push;
    paths->search.steps_inside = paths->search.steps_inside && !pulls;
    status = pulls ? pull_long(paths, err) : push_long(paths, err);
    paths->search.bucket_begin = paths->search.queue[HW_QUEUE_SETTLED].count;
    if (status == HW_OK)
        status = hw_sssp_2d_sum(paths, err);
    hw_sssp_2d_end_step(paths);
    return status;
}

/* The next bucket that is not empty, from the far queue. */
static enum hw_status next_bucket(struct hw_sssp_2d *paths, struct hw_error *err)
{
    const hw_count *queued = paths->search.tally.queued;
    enum hw_status status = HW_OK;
    int64_t min;

    do {
        status = find_least(paths, HW_QUEUE_FAR, &min, err);
        if (status != HW_OK)
            return status;
        paths->search.below = paths->search.high;
        if (paths->config.delta <= 0 && !paths->search.steps_inside && !paths->derived.even_degrees)
            paths->search.span *= GROWTH;
        open_bucket(paths, min > paths->search.high ? min : paths->search.high);
        hw_sssp_2d_filter(paths, HW_QUEUE_FAR);
        status = hw_sssp_2d_sum(paths, err);
    } while (status == HW_OK && queued[HW_QUEUE_NEAR] + queued[HW_QUEUE_LATER] == 0 &&
             queued[HW_QUEUE_FAR] > 0);
    paths->search.bucket++;
    return status;
}

/* Once little is left, the rest is one bucket without an end. */
static enum hw_status finish_in_a_tail(struct hw_sssp_2d *paths, struct hw_error *err)
{
    paths->search.whole = true;
    paths->search.below = paths->search.high;
    paths->search.high = paths->search.near = hw_distance_none(paths->derived.kind);
    paths->search.bucket++;
    hw_sssp_2d_filter(paths, HW_QUEUE_FAR);
    HW_TRY(hw_sssp_2d_sum(paths, err));
    while (paths->search.tally.queued[HW_QUEUE_NEAR] > 0)
        HW_TRY(hw_sssp_2d_relax(paths, "tail", false, err));
    return HW_OK;
}

static enum hw_status run(struct hw_sssp_2d *paths, struct hw_result *result, struct hw_error *err)
{
    enum hw_status status;

    result->delta = paths->derived.width;
    result->asynchronous = paths->pool != NULL;
    if (paths->pool)
        return hw_sssp_2d_async_run(paths, err);
    paths->search.whole = true;
    paths->search.steps_inside = !paths->derived.even_degrees;
    paths->search.span = paths->derived.width;
    open_bucket(paths, 0);
    status = hw_sssp_2d_relax(paths, "root", false, err);
    paths->search.bucket_begin = paths->search.queue[HW_QUEUE_SETTLED].count;
    paths->search.whole = paths->derived.whole_lists;
    while (status == HW_OK) {
        status = settle(paths, err);
        if (status == HW_OK && !paths->search.whole)
            status = relax_long(paths, err);
        if (status != HW_OK || paths->search.tally.queued[HW_QUEUE_FAR] == 0)
            break;
        if (!paths->search.whole &&
            (paths->tables.edges - paths->search.settled_edges) * TAIL < paths->tables.edges)
            return finish_in_a_tail(paths, err);
        status = next_bucket(paths, err);
    }
    return status;
}

static enum hw_status search(void *engine, int owner, hw_lid position, struct hw_result *result,
                             struct hw_error *err)
{
    return hw_sssp_2d_search(engine, owner, position, run, result, err);
}

static hw_count bytes(const struct hw_part *part, const struct hw_engine_options *options)
{
    return hw_sssp_2d_bytes(part, options, false);
}

static const struct hw_engine_ops frame = {
    .device = HW_CPU, .create = hw_sssp_2d_create, .search = search, .destroy = hw_sssp_2d_destroy};

static const struct hw_option *const method_options[] = {&hw_option_delta, &hw_option_schedule,
                                                         NULL};
static const char *const transports[] = {"mpi", NULL};
static const char *const columns[] = {
    "bucket",    "pulled",        "settled", "edges_examined", "expand_exchange",
    "expansion", "fold_exchange", "update",  "reductions",     NULL};

static const struct hw_method_descriptor descriptor = {
    .name = "delta",
    .summary = "Delta-stepping on a grid of parts",
    .citation = "Meyer, Sanders: Delta-stepping: a parallelizable shortest path algorithm, 2003",
    .algorithm = HW_SSSP,
    .device = HW_CPU,
    .layouts = HW_ON_GRIDS,
    .transports = transports,
    .options = method_options,
    .trace_columns = columns};

const struct hw_method hw_method_delta = {
    .descriptor = &descriptor,
    .ops = &frame,
    .bytes = bytes,
};
