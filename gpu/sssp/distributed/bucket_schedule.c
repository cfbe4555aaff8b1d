/*
 * Methods `delta` and `bellman-ford` on several parts: which edges are relaxed in which round. All
 * ranks take the same decisions, because they take them from the same all-gathered counters.
 *
 * `delta` uses the policy of gpu/sssp/delta/search/delta_phases.cuh. A bucket is settled in steps
 * from the nearest vertex on, along light edges: those whose resulting distance is inside the
 * bucket. Then its heavy edges are relaxed once, either pushed by the bucket or pulled by all
 * vertices beyond it. A scan of all distances selects the vertices of a step; it is the first part
 * of the step's first round.
 */
#include "gpu/sssp/common/delta_policy.h"
#include "gpu/sssp/distributed/distributed_sssp_host.h"
#include "lib/engine/sssp/sssp_options.h"

#include "lib/engine/sssp/distance.h"

#include <cuda_runtime_api.h>

/* Phases before the first search for a negative cycle; the number doubles each time. */
#define FIRST_CHECK 16

/* The current bucket and the step inside it. Ranges of keys are half-open. */
struct bucket {
    int64_t begin, end;           /* the bucket */
    int64_t step_begin, step_end; /* the step */
    double delta;                 /* width of the bucket */
    bool has_substeps;            /* buckets are processed in several steps */
    bool no_light_heavy_split;    /* lists are pushed whole */
    hw_count number;
    uint64_t frontier_degree;   /* sum of the lengths of the lists pushed in this bucket */
    uint64_t unsettled;         /* vertices beyond the bucket */
    uint64_t unsettled_reached; /* those of them that are reached */
    int64_t min_key; /* the least unsettled key, valid where nothing of the bucket was relaxed */
};

/* The key at distance `width` after `key`, and at least one key after it. */
static int64_t key_after(const struct hw_distributed_sssp *sssp, int64_t key, double width)
{
    const enum hw_distance kind = (enum hw_distance)sssp->params.config.kind;
    int64_t none = hw_distributed_sssp_none(sssp);

    if (key >= none - 1)
        return none;
    int64_t bound = hw_distance_bound(kind, hw_distance_real(kind, key) + width);
    return bound > key ? bound : key + 1;
}

static int64_t min_key(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Starts the next bucket at key `low`. is_tail: it has no end. */
static void open_bucket(const struct hw_distributed_sssp *sssp, struct bucket *bucket, int64_t low,
                        bool is_tail)
{
    bucket->begin = bucket->step_begin = low;
    bucket->end = is_tail ? hw_distributed_sssp_none(sssp) : key_after(sssp, low, bucket->delta);
    bucket->step_end = bucket->end;
    if (bucket->has_substeps && !bucket->no_light_heavy_split && !is_tail)
        bucket->step_end =
            min_key(bucket->end, key_after(sssp, low, bucket->delta * HW_DELTA_ROUNDS_FIRST_STEP));
    bucket->no_light_heavy_split = bucket->no_light_heavy_split || is_tail;
    bucket->frontier_degree = 0;
    bucket->number++;
}

/* The job that pushes the current step. */
static struct hw_distributed_sssp_job push_job(const struct hw_distributed_sssp *sssp,
                                               const struct bucket *bucket)
{
    return (struct hw_distributed_sssp_job){
        .mode = HW_DISTRIBUTED_SSSP_RELAX,
        .target_begin = INT64_MIN,
        .target_end = bucket->no_light_heavy_split ? hw_distributed_sssp_none(sssp) : bucket->end,
        .step_end = bucket->step_end,
        .bucket_end = bucket->end,
        .source_begin = bucket->step_begin};
}

/* Runs the rounds of the step. */
static enum hw_status push(struct hw_distributed_sssp *sssp, struct bucket *bucket,
                           struct hw_distributed_sssp_counters *counters, struct hw_error *err)
{
    const struct hw_distributed_sssp_step step = {
        .job = push_job(sssp, bucket),
        .routine = bucket->no_light_heavy_split ? "push" : "short.push",
        .bucket = bucket->number,
        .collect = true,
        .min_frontier_divisor = HW_DELTA_ROUNDS_LITTLE_LEFT,
        .max_rounds = UINT32_MAX};
    enum hw_status status = hw_distributed_sssp_run(sssp, &step, counters, err);

    if (status != HW_OK)
        return status;
    bucket->unsettled = counters->unsettled_reached + counters->unreached;
    bucket->unsettled_reached = counters->unsettled_reached;
    bucket->min_key = counters->min_key;
    bucket->frontier_degree += counters->frontier_degree;
    return HW_OK;
}

/* The factor by which the next step is wider. */
static double widen(const struct hw_distributed_sssp *sssp, uint64_t edges, uint32_t rounds)
{
    if (edges < (uint64_t)HW_DELTA_ROUNDS_LITTLE_WORK * sssp->params.config.ranks)
        return 4;
    return rounds <= HW_DELTA_ROUNDS_FEW_ROUNDS   ? 2
           : rounds > HW_DELTA_ROUNDS_MANY_ROUNDS ? 0.5
                                                  : 1;
}

/* Settles all vertices of the bucket, step by step. */
static enum hw_status drain_bucket(struct hw_distributed_sssp *sssp, struct bucket *bucket,
                                   struct hw_error *err)
{
    double width = bucket->delta * HW_DELTA_ROUNDS_FIRST_STEP;

    for (;;) {
        struct hw_distributed_sssp_counters counters;
        enum hw_status status = push(sssp, bucket, &counters, err);
        if (status != HW_OK)
            return status;
        if (counters.current_step == 0 &&
            (counters.rest_of_bucket == 0 || bucket->step_end >= bucket->end))
            return HW_OK;
        /* After an empty step min_key is the next vertex: skip to it. */
        int64_t from = bucket->step_end;
        if (counters.frontier == 0 && counters.min_key > from && counters.min_key < bucket->end)
            from = counters.min_key;
        width *= widen(sssp, counters.edges, counters.rounds);
        bucket->step_begin = bucket->step_end;
        bucket->step_end = min_key(bucket->end, key_after(sssp, from, width));
    }
}

/* Relaxes the heavy edges of the bucket from their sources. */
static enum hw_status push_heavy_edges(struct hw_distributed_sssp *sssp,
                                       const struct bucket *bucket, struct hw_error *err)
{
    const struct hw_distributed_sssp_job job = {.mode = HW_DISTRIBUTED_SSSP_RELAX,
                                                .target_begin = bucket->end,
                                                .target_end = hw_distributed_sssp_none(sssp),
                                                .step_end = INT64_MIN,
                                                .bucket_end = INT64_MIN,
                                                .source_begin = bucket->begin,
                                                .source_end = bucket->end};
    struct hw_distributed_sssp_counters counters;
    enum hw_status status = hw_distributed_sssp_relax_range(sssp, &job, &counters, err);

    if (status == HW_OK)
        hw_distributed_sssp_add_trace_record(sssp, "long.push", HW_DIRECTION_TOP_DOWN,
                                             bucket->number, &counters);
    return status;
}

/* The same from their targets, to whose parts the distances of the sources are broadcast first. */
static enum hw_status pull_heavy_edges(struct hw_distributed_sssp *sssp,
                                       const struct bucket *bucket, int64_t *broadcast_below,
                                       struct hw_error *err)
{
    const struct hw_distributed_sssp_job job = {.mode = HW_DISTRIBUTED_SSSP_RELAX,
                                                .settled_begin = bucket->begin,
                                                .step_end = INT64_MIN,
                                                .bucket_end = bucket->end};
    const struct hw_distributed_sssp_job fold = {
        .mode = HW_DISTRIBUTED_SSSP_RELAX, .step_end = INT64_MIN, .bucket_end = INT64_MIN};
    struct hw_distributed_sssp_counters counters = {0};
    enum hw_status status =
        hw_distributed_sssp_broadcast_distances(sssp, *broadcast_below, bucket->end, err);

    if (status != HW_OK)
        return status;
    *broadcast_below = bucket->end;
    status = hw_cuda(hw_distributed_sssp_launch_pull(&sssp->params, &job, sssp->config.blocks),
                     "the kernel that pulls", err);
    status =
        hw_distributed_sssp_exchange(sssp, status, HW_DISTRIBUTED_SSSP_FOLD, &fold, &counters, err);
    if (status != HW_OK)
        return status;
    hw_distributed_sssp_add_trace_record(sssp, "long.pull", HW_DIRECTION_BOTTOM_UP, bucket->number,
                                         &counters);
    return HW_OK;
}

/* Relaxes heavy edges of the settled bucket and starts the next one. */
static enum hw_status advance_bucket(struct hw_distributed_sssp *sssp, struct bucket *bucket,
                                     int64_t *broadcast_below, struct hw_error *err)
{
    const bool grows =
        hw_delta_of(&sssp->engine->options) <= 0 && !sssp->config.no_light_heavy_split;
    const bool is_tail = grows && !bucket->has_substeps &&
                         bucket->unsettled_reached <
                             sssp->config.vertices_with_edges / HW_DELTA_ROUNDS_TAIL_FRACTION;
    const bool empty = bucket->frontier_degree == 0;
    enum hw_status status = HW_OK;

    if (!bucket->no_light_heavy_split && !empty) {
        const bool pulls = !sssp->engine->part->directed &&
                           HW_DELTA_ROUNDS_PULL_EDGES * bucket->unsettled <
                               HW_DELTA_ROUNDS_PUSH_PRICE * bucket->frontier_degree;
        bucket->has_substeps = bucket->has_substeps && !pulls;
        status = pulls ? pull_heavy_edges(sssp, bucket, broadcast_below, err)
                       : push_heavy_edges(sssp, bucket, err);
        if (grows && !bucket->has_substeps)
            bucket->delta *= HW_DELTA_ROUNDS_GROWTH;
    }
    if (empty)
        bucket->number--;
    open_bucket(sssp, bucket,
                empty && bucket->min_key > bucket->end ? bucket->min_key : bucket->end, is_tail);
    return status;
}

enum hw_status hw_distributed_sssp_delta(struct hw_distributed_sssp *sssp, int64_t *broadcast_below,
                                         struct hw_error *err)
{
    const int64_t none = hw_distributed_sssp_none(sssp);
    /* The root's list is pushed whole: all its edges may be heavy. */
    const struct hw_distributed_sssp_job root = {.mode = HW_DISTRIBUTED_SSSP_RELAX,
                                                 .target_begin = INT64_MIN,
                                                 .target_end = none,
                                                 .step_end = INT64_MIN,
                                                 .bucket_end = INT64_MIN};
    struct bucket bucket = {.has_substeps = true,
                            .no_light_heavy_split = sssp->config.no_light_heavy_split,
                            .delta = sssp->config.delta,
                            .number = -1,
                            .unsettled = sssp->config.vertices_with_edges,
                            .unsettled_reached = sssp->config.vertices_with_edges};
    struct hw_distributed_sssp_counters counters;

    *broadcast_below = 0;
    enum hw_status status = hw_distributed_sssp_relax(sssp, &root, false, &counters, err);
    if (status == HW_OK)
        hw_distributed_sssp_add_trace_record(sssp, "root", HW_DIRECTION_TOP_DOWN, 0, &counters);
    open_bucket(sssp, &bucket, 0, false);
    while (status == HW_OK) {
        status = drain_bucket(sssp, &bucket, err);
        if (status != HW_OK || bucket.end == none ||
            (bucket.frontier_degree == 0 && bucket.min_key >= none))
            break;
        status = advance_bucket(sssp, &bucket, broadcast_below, err);
    }
    return status;
}

/* ---- bellman-ford ---- */

enum hw_status hw_distributed_sssp_bellman_ford(struct hw_distributed_sssp *sssp,
                                                struct hw_error *err)
{
    const bool negative = sssp->weight_stats.negative > 0;
    const uint64_t max_phases = (uint64_t)sssp->engine->part->vertices + 1;
    struct hw_distributed_sssp_step step = {.job = {.mode = HW_DISTRIBUTED_SSSP_RELAX,
                                                    .target_begin = INT64_MIN,
                                                    .target_end = hw_distributed_sssp_none(sssp),
                                                    .step_end = INT64_MAX,
                                                    .bucket_end = INT64_MAX},
                                            .routine = "relax"};
    struct hw_distributed_sssp_counters counters = {.current_step = 1};
    uint64_t phases = 0, check = FIRST_CHECK;
    enum hw_status status = HW_OK;

    while (status == HW_OK && counters.current_step > 0) {
        const uint64_t next = check < max_phases || phases >= max_phases ? check : max_phases;
        step.max_rounds =
            !negative || next - phases > UINT32_MAX ? UINT32_MAX : (uint32_t)(next - phases);
        status = hw_distributed_sssp_run(sssp, &step, &counters, err);
        phases += counters.rounds;
        if (status != HW_OK || !negative || counters.current_step == 0)
            continue;
        check = phases >= check ? 2 * check : check;
        status = hw_distributed_sssp_find_negative_cycle(sssp, (uint32_t)phases, err);
        if (status != HW_OK || sssp->search.cycle.length > 0)
            break;
        if (phases >= max_phases && sssp->params.config.kind == HW_GPU_KEY_F32)
            return hw_fail(err, HW_BAD_INPUT,
                           "sums of these float weights round so that distances never come to "
                           "rest; use weights whose sums are exact, such as whole numbers");
    }
    return status;
}
