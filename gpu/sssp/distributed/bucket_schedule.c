/*
 * Methods `delta` and `bellman-ford` on several parts: what is relaxed when. All ranks
 * decide alike, from the same numbers.
 *
 * `delta` goes the way of gpu/sssp/delta/one_gpu_delta_kernel.cu: a bucket is settled in steps from
 * the nearest vertex on, along edges that end inside it; then the edges that leave it are relaxed
 * once, pushed, or pulled by all that is beyond it. What belongs to a step is found by a
 * look at all distances, which is the first part of the step's first round.
 */
#include "gpu/sssp/common/delta_policy.h"
#include "gpu/sssp/distributed/distributed_sssp_host.h"

#include "lib/engine/sssp/distance.h"

#include <cuda_runtime_api.h>

/* Phases before parents are first searched for a cycle; then twice as many each time. */
#define FIRST_CHECK 16

/* Where a search is. */
struct place {
    int64_t low, near, high; /* the bucket, and the step inside it: [low, near) */
    int64_t collect;         /* what has a key in [collect, near) belongs to the step */
    double span;             /* of the bucket */
    bool inside;             /* are there steps inside buckets? */
    bool whole;              /* are lists pushed whole? */
    hw_count bucket;
    uint64_t begun;         /* lengths of the lists begun in it */
    uint64_t open, reached; /* vertices beyond it, and those of them that are reached */
    int64_t least;          /* no key that is left is less, if nothing was begun */
};

/* The key so much further, but at least one. */
static int64_t beyond(const struct hw_distributed_sssp *routes, int64_t key, double width)
{
    const enum hw_distance kind = (enum hw_distance)routes->plan.kind;
    int64_t none = hw_distributed_sssp_none(routes);

    if (key >= none - 1)
        return none;
    int64_t bound = hw_distance_bound(kind, hw_distance_real(kind, key) + width);
    return bound > key ? bound : key + 1;
}

static int64_t nearer(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The next bucket from `low` on. */
static void open_bucket(const struct hw_distributed_sssp *routes, struct place *place, int64_t low,
                        bool tail)
{
    place->low = place->collect = low;
    place->high = tail ? hw_distributed_sssp_none(routes) : beyond(routes, low, place->span);
    place->near = place->high;
    if (place->inside && !place->whole && !tail)
        place->near =
            nearer(place->high, beyond(routes, low, place->span * HW_DELTA_ROUNDS_FIRST_STEP));
    place->whole = place->whole || tail;
    place->begun = 0;
    place->bucket++;
}

/* The bounds of what is pushed now. */
static struct hw_distributed_sssp_job push_job(const struct hw_distributed_sssp *routes,
                                               const struct place *place)
{
    return (struct hw_distributed_sssp_job){.mode = HW_DISTRIBUTED_SSSP_RELAX,
                                            .from = INT64_MIN,
                                            .to = place->whole ? hw_distributed_sssp_none(routes)
                                                               : place->high,
                                            .near = place->near,
                                            .high = place->high,
                                            .begin = place->collect};
}

/* Rounds of the step. */
static enum hw_status push(struct hw_distributed_sssp *routes, struct place *place,
                           struct hw_distributed_sssp_counters *news, struct hw_error *err)
{
    const struct hw_distributed_sssp_step step = {.job = push_job(routes, place),
                                                  .routine = place->whole ? "push" : "short.push",
                                                  .bucket = place->bucket,
                                                  .collect = true,
                                                  .little_left = HW_DELTA_ROUNDS_LITTLE_LEFT,
                                                  .most = UINT32_MAX};
    enum hw_status status = hw_distributed_sssp_run(routes, &step, news, err);

    if (status != HW_OK)
        return status;
    place->open = news->open + news->unreached;
    place->reached = news->open;
    place->least = news->least;
    place->begun += news->degrees;
    return HW_OK;
}

/* How much wider the next step is. */
static double widen(const struct hw_distributed_sssp *routes, uint64_t edges, uint32_t rounds)
{
    if (edges < (uint64_t)HW_DELTA_ROUNDS_LITTLE_WORK * routes->plan.ranks)
        return 4;
    return rounds <= HW_DELTA_ROUNDS_FEW_ROUNDS   ? 2
           : rounds > HW_DELTA_ROUNDS_MANY_ROUNDS ? 0.5
                                                  : 1;
}

/* Settles the bucket, whose vertices are still to be found. */
static enum hw_status settle(struct hw_distributed_sssp *routes, struct place *place,
                             struct hw_error *err)
{
    double width = place->span * HW_DELTA_ROUNDS_FIRST_STEP;

    for (;;) {
        struct hw_distributed_sssp_counters news;
        enum hw_status status = push(routes, place, &news, err);
        if (status != HW_OK)
            return status;
        if (news.near == 0 && (news.later == 0 || place->near >= place->high))
            return HW_OK;
        /* Where nothing was relaxed it is known how far it is to the next vertex. */
        int64_t from = place->near;
        if (news.frontier == 0 && news.least > from && news.least < place->high)
            from = news.least;
        width *= widen(routes, news.edges, news.rounds);
        place->collect = place->near;
        place->near = nearer(place->high, beyond(routes, from, width));
    }
}

/* The edges that leave the bucket, from their sources. */
static enum hw_status push_long(struct hw_distributed_sssp *routes, const struct place *place,
                                struct hw_error *err)
{
    const struct hw_distributed_sssp_job job = {.mode = HW_DISTRIBUTED_SSSP_RELAX,
                                                .from = place->high,
                                                .to = hw_distributed_sssp_none(routes),
                                                .near = INT64_MIN,
                                                .high = INT64_MIN,
                                                .begin = place->low,
                                                .end = place->high};
    struct hw_distributed_sssp_counters news;
    enum hw_status status = hw_distributed_sssp_relax_range(routes, &job, &news, err);

    if (status == HW_OK)
        hw_distributed_sssp_add_row(routes, "long.push", HW_DIRECTION_TOP_DOWN, place->bucket,
                                    &news);
    return status;
}

/* The same from their targets, which are told of the sources first. */
static enum hw_status pull_long(struct hw_distributed_sssp *routes, const struct place *place,
                                int64_t *told, struct hw_error *err)
{
    const struct hw_distributed_sssp_job job = {.mode = HW_DISTRIBUTED_SSSP_RELAX,
                                                .low = place->low,
                                                .near = INT64_MIN,
                                                .high = place->high};
    const struct hw_distributed_sssp_job fold = {
        .mode = HW_DISTRIBUTED_SSSP_RELAX, .near = INT64_MIN, .high = INT64_MIN};
    struct hw_distributed_sssp_counters news = {0};
    enum hw_status status = hw_distributed_sssp_tell(routes, *told, place->high, err);

    if (status != HW_OK)
        return status;
    *told = place->high;
    status = hw_cuda(hw_distributed_sssp_launch_pull(&routes->plan, &job, routes->blocks),
                     "the kernel that pulls", err);
    status =
        hw_distributed_sssp_exchange(routes, status, HW_DISTRIBUTED_SSSP_FOLD, &fold, &news, err);
    if (status != HW_OK)
        return status;
    hw_distributed_sssp_add_row(routes, "long.pull", HW_DIRECTION_BOTTOM_UP, place->bucket, &news);
    return HW_OK;
}

/* Leaves the bucket, and opens the next one. */
static enum hw_status go_on(struct hw_distributed_sssp *routes, struct place *place, int64_t *told,
                            struct hw_error *err)
{
    const bool grows = routes->engine->options.delta <= 0 && !routes->whole_lists;
    const bool tail = grows && !place->inside &&
                      place->reached < routes->vertices_with_edges / HW_DELTA_ROUNDS_TAIL_FRACTION;
    const bool empty = place->begun == 0;
    enum hw_status status = HW_OK;

    if (!place->whole && !empty) {
        const bool pulls =
            !routes->engine->part->directed &&
            HW_DELTA_ROUNDS_PULL_EDGES * place->open < HW_DELTA_ROUNDS_PUSH_PRICE * place->begun;
        place->inside = place->inside && !pulls;
        status = pulls ? pull_long(routes, place, told, err) : push_long(routes, place, err);
        if (grows && !place->inside)
            place->span *= HW_DELTA_ROUNDS_GROWTH;
    }
    if (empty)
        place->bucket--;
    open_bucket(routes, place, empty && place->least > place->high ? place->least : place->high,
                tail);
    return status;
}

enum hw_status hw_distributed_sssp_delta(struct hw_distributed_sssp *routes, int64_t *told,
                                         struct hw_error *err)
{
    const int64_t none = hw_distributed_sssp_none(routes);
    /* The root's list is pushed whole: its edges may all be long. */
    const struct hw_distributed_sssp_job root = {.mode = HW_DISTRIBUTED_SSSP_RELAX,
                                                 .from = INT64_MIN,
                                                 .to = none,
                                                 .near = INT64_MIN,
                                                 .high = INT64_MIN};
    struct place place = {.inside = true,
                          .whole = routes->whole_lists,
                          .span = routes->width,
                          .bucket = -1,
                          .open = routes->vertices_with_edges,
                          .reached = routes->vertices_with_edges};
    struct hw_distributed_sssp_counters news;

    *told = 0;
    enum hw_status status = hw_distributed_sssp_relax(routes, &root, false, &news, err);
    if (status == HW_OK)
        hw_distributed_sssp_add_row(routes, "root", HW_DIRECTION_TOP_DOWN, 0, &news);
    open_bucket(routes, &place, 0, false);
    while (status == HW_OK) {
        status = settle(routes, &place, err);
        if (status != HW_OK || place.high == none || (place.begun == 0 && place.least >= none))
            break;
        status = go_on(routes, &place, told, err);
    }
    return status;
}

/* ---- bellman-ford ---- */

enum hw_status hw_distributed_sssp_bellman_ford(struct hw_distributed_sssp *routes,
                                                struct hw_error *err)
{
    const bool wary = routes->survey.negative > 0;
    const uint64_t most = (uint64_t)routes->engine->part->vertices + 1;
    struct hw_distributed_sssp_step step = {.job = {.mode = HW_DISTRIBUTED_SSSP_RELAX,
                                                    .from = INT64_MIN,
                                                    .to = hw_distributed_sssp_none(routes),
                                                    .near = INT64_MAX,
                                                    .high = INT64_MAX},
                                            .routine = "relax"};
    struct hw_distributed_sssp_counters news = {.near = 1};
    uint64_t phases = 0, check = FIRST_CHECK;
    enum hw_status status = HW_OK;

    while (status == HW_OK && news.near > 0) {
        const uint64_t next = check < most || phases >= most ? check : most;
        step.most = !wary || next - phases > UINT32_MAX ? UINT32_MAX : (uint32_t)(next - phases);
        status = hw_distributed_sssp_run(routes, &step, &news, err);
        phases += news.rounds;
        if (status != HW_OK || !wary || news.near == 0)
            continue;
        check = phases >= check ? 2 * check : check;
        status = hw_distributed_sssp_look_for_cycle(routes, (uint32_t)phases, err);
        if (status != HW_OK || routes->cycle.length > 0)
            break;
        if (phases >= most && routes->plan.kind == HW_GPU_KEY_F32)
            return hw_fail(err, HW_BAD_INPUT,
                           "sums of these float weights round so that distances never come to "
                           "rest; use weights whose sums are exact, such as whole numbers");
    }
    return status;
}
