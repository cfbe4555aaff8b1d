/* Shortest paths on several parts: rounds of relaxing and exchanging. */
#include "gpu/sssp/distributed/distributed_sssp_host.h"

#include "lib/base/memory.h"

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- rows ---- */

static hw_count pair_bytes(const struct hw_distributed_sssp *routes, bool value)
{
    return value || routes->plan.kind == HW_GPU_KEY_I64 ? 16 : 8;
}

void hw_distributed_sssp_add_row(struct hw_distributed_sssp *routes, const char *routine,
                                 enum hw_direction direction, hw_count bucket,
                                 const struct hw_distributed_sssp_counters *news)
{
    const bool wanted = routes->engine->options.steps;
    struct hw_step *step = wanted ? hw_steps_add(&routes->steps) : NULL;
    const double now = hw_seconds();

    if (wanted && !step)
        routes->steps_status = HW_RESOURCES;
    if (!step)
        return;
    snprintf(step->routine, sizeof step->routine, "%s", routine);
    step->direction = direction;
    step->bucket = bucket;
    step->frontier = (hw_count)news->own_frontier;
    step->found = (hw_count)news->own_near;
    step->edges_examined = (hw_count)news->own_edges;
    if (direction == HW_DIRECTION_BOTTOM_UP)
        step->pulled = step->edges_examined;
    step->bytes_sent = (hw_count)news->sent * pair_bytes(routes, false);
    step->messages_sent = (hw_count)news->messages;
    const struct hw_internode_traffic crossed =
        hw_transport_internode_traffic(&routes->engine->transport);
    step->bytes_between = crossed.bytes;
    step->messages_between = crossed.messages;
    step->seconds[HW_PHASE_EXPANSION] = now - routes->lap;
    routes->lap = now;
}

/* ---- exchanging ---- */

static enum hw_status cuda(int code, const char *call, struct hw_error *err)
{
    return hw_cuda(code, call, err);
}

enum hw_status hw_distributed_sssp_clear(struct hw_distributed_sssp *routes, struct hw_error *err)
{
    return cuda((int)cudaMemsetAsync(routes->plan.control, 0, sizeof *routes->plan.control, NULL),
                "cudaMemsetAsync", err);
}

struct hw_distributed_sssp_outboxes
hw_distributed_sssp_outboxes(const struct hw_distributed_sssp *routes, unsigned exchange)
{
    const struct hw_transport *transport = &routes->engine->transport;
    const unsigned turn = exchange & 1;
    struct hw_distributed_sssp_outboxes boxes = {{NULL}, {NULL}, {NULL}, {NULL}};

    for (uint32_t q = 0; q < routes->plan.ranks; q++) {
        boxes.to[q] = hw_outbox_send_buffer(transport, &routes->mail[turn], (int)q);
        boxes.came[q] = hw_outbox_recv_buffer(transport, &routes->mail[turn], (int)q);
        boxes.spread[q] = hw_outbox_send_buffer(transport, &routes->spread[turn], (int)q);
        boxes.came_spread[q] = hw_outbox_recv_buffer(transport, &routes->spread[turn], (int)q);
    }
    return boxes;
}

static uint64_t sent_of(const uint64_t *word, uint32_t q)
{
    const uint64_t two = word[HW_DISTRIBUTED_SSSP_SENT + q / 2];

    return q & 1 ? two >> 32 : two & UINT32_MAX;
}

/* Over other transports than peer: what lies in the boxes goes on its way. Collective. */
static enum hw_status deliver(struct hw_distributed_sssp *routes,
                              enum hw_distributed_sssp_what what,
                              const struct hw_distributed_sssp_job *job,
                              const struct hw_allgather_result *result, struct hw_error *err)
{
    struct hw_transport *transport = &routes->engine->transport;
    const struct hw_distributed_sssp_params *plan = &routes->plan;
    const unsigned turn = routes->exchanges & 1;
    const hw_count pair = pair_bytes(routes, job->value);
    hw_count sent[HW_DISTRIBUTED_SSSP_RANKS] = {0}, came[HW_DISTRIBUTED_SSSP_RANKS] = {0};
    hw_count spread[HW_DISTRIBUTED_SSSP_RANKS] = {0}, spread_came[HW_DISTRIBUTED_SSSP_RANKS] = {0};

    for (uint32_t q = 0; q < plan->ranks; q++) {
        const uint32_t *meets =
            what == HW_DISTRIBUTED_SSSP_EXPAND ? plan->column_block : plan->row_segment;
        const hw_count all =
            (hw_count)result->by_rank[plan->rank][HW_DISTRIBUTED_SSSP_SPREAD] * pair;
        const hw_count all_came = (hw_count)result->by_rank[q][HW_DISTRIBUTED_SSSP_SPREAD] * pair;
        if (q == plan->rank)
            continue;
        if (what == HW_DISTRIBUTED_SSSP_FOLD) {
            sent[q] = (hw_count)sent_of(result->by_rank[plan->rank], q) * pair;
            came[q] = (hw_count)sent_of(result->by_rank[q], plan->rank) * pair;
            spread[q] = all;
            spread_came[q] = all_came;
        } else if (meets[q] != HW_DISTRIBUTED_SSSP_NONE) {
            sent[q] = all;
            came[q] = all_came;
        }
    }
    if (what != HW_DISTRIBUTED_SSSP_FOLD)
        return hw_outbox_broadcast(transport, &routes->mail[turn], sent, came, err);
    enum hw_status status = hw_outbox_deliver(transport, &routes->mail[turn], sent, came, err);
    if (status == HW_OK && plan->delegates > 0)
        status = hw_outbox_broadcast(transport, &routes->spread[turn], spread, spread_came, err);
    return status;
}

/* The least key, from how it is told. */
static int64_t key_of(uint64_t told)
{
    return (int64_t)(~told ^ UINT64_C(1) << 63);
}

/* The pairs that this rank sent, each as often as it went, and their messages. */
static void count_sent(const struct hw_distributed_sssp_params *plan,
                       enum hw_distributed_sssp_what what, const uint64_t *own,
                       struct hw_distributed_sssp_counters *news)
{
    const uint32_t *meets =
        what == HW_DISTRIBUTED_SSSP_EXPAND ? plan->column_block : plan->row_segment;
    const uint64_t spread = own[HW_DISTRIBUTED_SSSP_SPREAD];

    for (uint32_t q = 0; q < plan->ranks; q++) {
        const uint64_t alone = sent_of(own, q);
        const bool gets =
            spread > 0 && q != plan->rank &&
            (what == HW_DISTRIBUTED_SSSP_FOLD || meets[q] != HW_DISTRIBUTED_SSSP_NONE);
        news->sent += alone + (gets ? spread : 0);
        news->messages += (uint64_t)(alone > 0) + gets;
    }
}

static void read_news(const struct hw_distributed_sssp *routes, enum hw_distributed_sssp_what what,
                      const struct hw_allgather_result *result,
                      struct hw_distributed_sssp_counters *news)
{
    const uint64_t *all = result->reduced, *own = result->by_rank[routes->plan.rank];

    *news = (struct hw_distributed_sssp_counters){.near = all[HW_DISTRIBUTED_SSSP_NEAR],
                                                  .later = all[HW_DISTRIBUTED_SSSP_LATER],
                                                  .frontier = all[HW_DISTRIBUTED_SSSP_FRONTIER],
                                                  .edges = all[HW_DISTRIBUTED_SSSP_EDGES],
                                                  .degrees = all[HW_DISTRIBUTED_SSSP_DEGREES],
                                                  .rounds = 1,
                                                  .least = key_of(all[HW_DISTRIBUTED_SSSP_LEAST]),
                                                  .open = all[HW_DISTRIBUTED_SSSP_OPEN] >> 32,
                                                  .unreached =
                                                      all[HW_DISTRIBUTED_SSSP_OPEN] & UINT32_MAX,
                                                  .own_frontier = own[HW_DISTRIBUTED_SSSP_FRONTIER],
                                                  .own_near = own[HW_DISTRIBUTED_SSSP_NEAR],
                                                  .own_edges = own[HW_DISTRIBUTED_SSSP_EDGES]};
    count_sent(&routes->plan, what, own, news);
}

enum hw_status hw_distributed_sssp_exchange(struct hw_distributed_sssp *routes,
                                            enum hw_status status,
                                            enum hw_distributed_sssp_what what,
                                            const struct hw_distributed_sssp_job *job,
                                            struct hw_distributed_sssp_counters *news,
                                            struct hw_error *err)
{
    const struct hw_distributed_sssp_params *plan = &routes->plan;
    const struct hw_allgather_result *result = NULL;
    const bool peer = routes->engine->transport.kind == HW_TRANSPORT_PEER;
    const struct hw_distributed_sssp_outboxes boxes =
        hw_distributed_sssp_outboxes(routes, routes->exchanges);

    if (status == HW_OK)
        status = routes->owed;
    if (status == HW_OK)
        status = cuda(hw_distributed_sssp_launch_pack(plan, job, what, &boxes, routes->blocks),
                      "the kernel that packs", err);
    status =
        hw_allgather_start(&routes->round, status, (const uint64_t *)plan->control->word,
                           HW_DISTRIBUTED_SSSP_WORDS, 1u << HW_DISTRIBUTED_SSSP_LEAST, NULL, err);
    if (status == HW_OK && !peer)
        status = hw_allgather_wait(&routes->round, &result, err);
    if (status == HW_OK && !peer)
        status = deliver(routes, what, job, result, err);
    if (status != HW_OK)
        return status;
    /* Without the round's result on the device there is nothing to unpack by. */
    routes->owed = routes->round.deferred_error;
    if (routes->owed == HW_OK)
        routes->owed =
            cuda(hw_distributed_sssp_launch_unpack(
                     plan, job, what, &boxes, hw_allgather_device(&routes->round), routes->blocks),
                 "the kernel that unpacks", err);
    routes->exchanges++;
    status = hw_allgather_wait(&routes->round, &result, err);
    if (status == HW_OK)
        read_news(routes, what, result, news);
    return status;
}

/* ---- relaxing ---- */

/* Adds what was counted before vertices went along the grid column. */
static void join_news(struct hw_distributed_sssp_counters *news,
                      const struct hw_distributed_sssp_counters *before)
{
    news->later += before->later;
    news->least = before->least;
    news->open = before->open;
    news->unreached = before->unreached;
    news->sent += before->sent;
    news->messages += before->messages;
}

enum hw_status hw_distributed_sssp_relax(struct hw_distributed_sssp *routes,
                                         const struct hw_distributed_sssp_job *job, bool collect,
                                         struct hw_distributed_sssp_counters *news,
                                         struct hw_error *err)
{
    const struct hw_distributed_sssp_params *plan = &routes->plan;
    const bool columns = plan->list_blocks > 1;
    struct hw_distributed_sssp_counters before = {0};
    enum hw_status status = HW_OK;

    if (collect)
        status = cuda(hw_distributed_sssp_launch_collect(plan, job, routes->blocks),
                      "the kernel that finds what is near", err);
    if (columns) {
        status = hw_distributed_sssp_exchange(routes, status, HW_DISTRIBUTED_SSSP_EXPAND, job,
                                              &before, err);
        if (status != HW_OK)
            return status;
    }
    if (status == HW_OK)
        status = cuda(hw_distributed_sssp_launch_gather(plan, job, false, routes->blocks),
                      "the kernel that gathers lists", err);
    if (status == HW_OK)
        status = cuda(hw_distributed_sssp_launch_push(plan, job, routes->blocks),
                      "the kernel that relaxes", err);
    status = hw_distributed_sssp_exchange(routes, status, HW_DISTRIBUTED_SSSP_FOLD, job, news, err);
    if (status == HW_OK && columns)
        join_news(news, &before);
    return status;
}

enum hw_status hw_distributed_sssp_relax_range(struct hw_distributed_sssp *routes,
                                               const struct hw_distributed_sssp_job *job,
                                               struct hw_distributed_sssp_counters *news,
                                               struct hw_error *err)
{
    const struct hw_distributed_sssp_params *plan = &routes->plan;
    enum hw_status status = cuda(hw_distributed_sssp_launch_gather(plan, job, true, routes->blocks),
                                 "the kernel that gathers lists", err);

    if (status == HW_OK)
        status = cuda(hw_distributed_sssp_launch_push(plan, job, routes->blocks),
                      "the kernel that relaxes", err);
    return hw_distributed_sssp_exchange(routes, status, HW_DISTRIBUTED_SSSP_FOLD, job, news, err);
}

enum hw_status hw_distributed_sssp_tell(struct hw_distributed_sssp *routes, int64_t begin,
                                        int64_t end, struct hw_error *err)
{
    const struct hw_distributed_sssp_job job = {.mode = HW_DISTRIBUTED_SSSP_RELAX,
                                                .begin = begin,
                                                .end = end,
                                                .near = INT64_MIN,
                                                .high = INT64_MIN};
    struct hw_distributed_sssp_counters news;
    enum hw_status status =
        hw_distributed_sssp_exchange(routes, HW_OK, HW_DISTRIBUTED_SSSP_TELL, &job, &news, err);

    if (status == HW_OK)
        hw_distributed_sssp_add_row(routes, "tell", HW_DIRECTION_AUTO, 0, &news);
    return status;
}

/* ---- runs ---- */

/* Looks at the host's memory between two at the stream. */
#define LOOKS 4096

/* Ranks that the first block of a run meets, a warp for each. */
#define RUN_RANKS 8

/* Waits for the run. */
static enum hw_status wait_for_run(const struct hw_distributed_sssp *routes, struct hw_error *err)
{
    const struct hw_distributed_sssp_total *told = routes->told;
    bool over = false;

    for (uint64_t look = 1; __atomic_load_n(&told->run, __ATOMIC_ACQUIRE) != routes->runs; look++) {
        if (over)
            return hw_fail(err, HW_INTERNAL, "a run of rounds left no result");
        if (look % LOOKS != 0)
            continue;
        cudaError_t error = cudaStreamQuery(NULL);
        over = error == cudaSuccess;
        if (error != cudaSuccess && error != cudaErrorNotReady)
            return cuda((int)error, "a run of rounds", err);
    }
    if (told->failed)
        return hw_fail(err, HW_INTERNAL, "rank %d gave up: a GPU did not come in time",
                       routes->engine->ctx->rank);
    return HW_OK;
}

/* Rows for the rounds of a run, which the device keeps until the search is
 * over. */
static void add_run_rows(struct hw_distributed_sssp *routes,
                         const struct hw_distributed_sssp_step *what, uint32_t rounds)
{
    const struct hw_distributed_sssp_counters unknown = {0};

    for (uint32_t r = 0; r < rounds && routes->engine->options.steps; r++) {
        hw_distributed_sssp_add_row(routes, what->routine, HW_DIRECTION_TOP_DOWN, what->bucket,
                                    &unknown);
        if (routes->steps_status == HW_OK)
            routes->steps.step[routes->steps.count - 1].seconds[HW_PHASE_EXPANSION] =
                HW_DISTRIBUTED_SSSP_ON_DEVICE;
    }
    routes->rows_used += rounds;
}

/* All rounds in one kernel. */
static enum hw_status run_on_device(struct hw_distributed_sssp *routes,
                                    const struct hw_distributed_sssp_step *what,
                                    struct hw_distributed_sssp_counters *news, struct hw_error *err)
{
    const struct hw_distributed_sssp_total *told = routes->told;
    const struct hw_distributed_sssp_run how = {
        .boxes = {hw_distributed_sssp_outboxes(routes, 0), hw_distributed_sssp_outboxes(routes, 1)},
        .turn = routes->exchanges & 1,
        .number = routes->round.number + 1,
        .run = ++routes->runs,
        .most = what->most,
        .little_left = what->little_left,
        .collect = what->collect,
        .result = routes->round.device_results,
        .row = routes->row,
        .first_row = routes->rows_used,
        .rows = HW_DISTRIBUTED_SSSP_ROWS,
        .told = routes->told,
    };
    enum hw_status status = routes->owed;

    if (status == HW_OK)
        status = cuda(hw_distributed_sssp_launch_run(&routes->plan, &what->job, &how,
                                                     &routes->round.params, routes->resident),
                      "the kernel of a run of rounds", err);
    if (status != HW_OK) /* tells the others */
        return hw_allgather_start(&routes->round, status, NULL, 0, 0, NULL, err);
    status = wait_for_run(routes, err);
    if (status != HW_OK)
        return status;
    routes->round.number += told->rounds;
    routes->exchanges += told->rounds;
    add_run_rows(routes, what, told->rounds);
    *news = (struct hw_distributed_sssp_counters){.near = told->near,
                                                  .later = told->later,
                                                  .frontier = told->frontier,
                                                  .edges = told->edges,
                                                  .degrees = told->degrees,
                                                  .rounds = told->rounds,
                                                  .least = key_of(told->least),
                                                  .open = told->open >> 32,
                                                  .unreached = told->open & UINT32_MAX};
    return HW_OK;
}

/* The same round by round. */
static enum hw_status run_by_rounds(struct hw_distributed_sssp *routes,
                                    const struct hw_distributed_sssp_step *what,
                                    struct hw_distributed_sssp_counters *news, struct hw_error *err)
{
    uint64_t waiting = 0, most = 0;
    struct hw_distributed_sssp_counters one;

    *news = (struct hw_distributed_sssp_counters){.near = 1};
    while (news->near > 0 && news->rounds < what->most) {
        const bool first = news->rounds == 0;
        enum hw_status status =
            hw_distributed_sssp_relax(routes, &what->job, what->collect && first, &one, err);
        if (status != HW_OK)
            return status;
        hw_distributed_sssp_add_row(routes, what->routine, HW_DIRECTION_TOP_DOWN, what->bucket,
                                    &one);
        if (first) {
            news->least = one.least;
            news->open = one.open;
            news->unreached = one.unreached;
        }
        news->near = one.near;
        news->later += one.later;
        news->frontier += one.frontier;
        news->edges += one.edges;
        news->degrees += one.degrees;
        news->rounds++;
        waiting += one.later;
        most = one.frontier > most ? one.frontier : most;
        const bool ends = waiting == 0 || what->job.near >= what->job.high;
        if (!ends && one.near * what->little_left <= most)
            break;
    }
    return HW_OK;
}

enum hw_status hw_distributed_sssp_run(struct hw_distributed_sssp *routes,
                                       const struct hw_distributed_sssp_step *what,
                                       struct hw_distributed_sssp_counters *news,
                                       struct hw_error *err)
{
    const bool runs = routes->engine->transport.kind == HW_TRANSPORT_PEER &&
                      routes->plan.list_blocks == 1 && routes->plan.ranks <= RUN_RANKS;

    return runs ? run_on_device(routes, what, news, err) : run_by_rounds(routes, what, news, err);
}

enum hw_status hw_distributed_sssp_read_rows(struct hw_distributed_sssp *routes,
                                             struct hw_error *err)
{
    const hw_count others = (hw_count)routes->plan.ranks - 1;
    hw_count count =
        routes->rows_used < HW_DISTRIBUTED_SSSP_ROWS ? routes->rows_used : HW_DISTRIBUTED_SSSP_ROWS;
    struct hw_distributed_sssp_row *row = NULL;
    enum hw_status status = hw_alloc(&row, count, sizeof *row, "the steps", err);

    if (status == HW_OK && count > 0)
        status = hw_gpu_get(row, routes->row, (size_t)count * sizeof *row, err);
    for (hw_count s = 0, r = 0; s < routes->steps.count && status == HW_OK; s++) {
        struct hw_step *step = &routes->steps.step[s];
        if (step->seconds[HW_PHASE_EXPANSION] >= 0 || count == 0)
            continue;
        const struct hw_distributed_sssp_row *own = &row[r < count ? r : count - 1];
        step->frontier = (hw_count)own->frontier;
        step->found = (hw_count)own->near;
        step->edges_examined = (hw_count)own->edges;
        step->bytes_sent =
            ((hw_count)own->sent + (hw_count)own->spread * others) * pair_bytes(routes, false);
        step->messages_sent = step->bytes_sent > 0 ? others : 0;
        step->seconds[HW_PHASE_EXPANSION] = 1e-9 * (double)own->nanoseconds;
        r++;
    }
    free(row);
    return status;
}
