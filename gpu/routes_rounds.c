/* Shortest paths on several parts: rounds of relaxing and exchanging. */
#include "routes_host.h"

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <string.h>

/* ---- rows ---- */

static hw_count pair_bytes(const struct hw_routes *routes, bool value)
{
    return value || routes->plan.kind == HW_GPU_KEY_I64 ? 16 : 8;
}

void hw_routes_add_row(struct hw_routes *routes, const char *routine, enum hw_direction direction,
                       hw_count bucket, const struct hw_routes_news *news)
{
    const bool wanted = routes->engine->options.steps;
    struct hw_step *step = wanted ? hw_steps_add(&routes->steps) : NULL;
    const hw_count others = (hw_count)routes->plan.ranks - 1;
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
    step->bytes_sent =
        (hw_count)(news->sent + news->spread * (uint64_t)others) * pair_bytes(routes, false);
    step->messages_sent = step->bytes_sent > 0 ? others : 0;
    step->seconds[HW_PHASE_EXPANSION] = now - routes->lap;
    routes->lap = now;
}

/* ---- exchanging ---- */

static enum hw_status cuda(int code, const char *call, struct hw_error *err)
{
    return hw_cuda(code, call, err);
}

enum hw_status hw_routes_clear(struct hw_routes *routes, struct hw_error *err)
{
    return cuda((int)cudaMemsetAsync(routes->plan.control, 0, sizeof *routes->plan.control, NULL),
                "cudaMemsetAsync", err);
}

/* The boxes of the exchange under way. */
static struct hw_routes_boxes find_boxes(const struct hw_routes *routes)
{
    const struct hw_transport *transport = &routes->engine->transport;
    const unsigned turn = routes->exchanges & 1;
    struct hw_routes_boxes boxes = {{NULL}, {NULL}, {NULL}, {NULL}};

    for (uint32_t q = 0; q < routes->plan.ranks; q++) {
        boxes.to[q] = hw_round_box(transport, &routes->mail[turn], (int)q);
        boxes.came[q] = hw_round_came(transport, &routes->mail[turn], (int)q);
        boxes.spread[q] = hw_round_box(transport, &routes->spread[turn], (int)q);
        boxes.came_spread[q] = hw_round_came(transport, &routes->spread[turn], (int)q);
    }
    return boxes;
}

static uint64_t sent_of(const uint64_t *word, uint32_t q)
{
    const uint64_t two = word[HW_ROUTES_SENT + q / 2];

    return q & 1 ? two >> 32 : two & UINT32_MAX;
}

/* Over other transports than peer: what lies in the boxes goes on its way. Collective. */
static enum hw_status deliver(struct hw_routes *routes, enum hw_routes_what what,
                              const struct hw_routes_job *job, const struct hw_round_result *result,
                              struct hw_error *err)
{
    struct hw_transport *transport = &routes->engine->transport;
    const struct hw_routes_plan *plan = &routes->plan;
    const unsigned turn = routes->exchanges & 1;
    const hw_count pair = pair_bytes(routes, job->value);
    hw_count sent[HW_ROUTES_RANKS] = {0}, came[HW_ROUTES_RANKS] = {0};
    hw_count spread[HW_ROUTES_RANKS] = {0}, spread_came[HW_ROUTES_RANKS] = {0};

    for (uint32_t q = 0; q < plan->ranks; q++) {
        const uint32_t *meets = what == HW_ROUTES_EXPAND ? plan->column_block : plan->row_segment;
        const hw_count all = (hw_count)result->of[plan->rank][HW_ROUTES_SPREAD] * pair;
        const hw_count all_came = (hw_count)result->of[q][HW_ROUTES_SPREAD] * pair;
        if (q == plan->rank)
            continue;
        if (what == HW_ROUTES_FOLD) {
            sent[q] = (hw_count)sent_of(result->of[plan->rank], q) * pair;
            came[q] = (hw_count)sent_of(result->of[q], plan->rank) * pair;
            spread[q] = all;
            spread_came[q] = all_came;
        } else if (meets[q] != HW_ROUTES_NONE) {
            sent[q] = all;
            came[q] = all_came;
        }
    }
    enum hw_status status = hw_round_deliver(transport, &routes->mail[turn], sent, came, err);
    if (status == HW_OK && what == HW_ROUTES_FOLD && plan->delegates > 0)
        status = hw_round_deliver(transport, &routes->spread[turn], spread, spread_came, err);
    return status;
}

static void read_news(const struct hw_routes *routes, const struct hw_round_result *result,
                      struct hw_routes_news *news)
{
    const uint64_t *all = result->all, *own = result->of[routes->plan.rank];

    *news = (struct hw_routes_news){.near = all[HW_ROUTES_NEAR],
                                    .later = all[HW_ROUTES_LATER],
                                    .frontier = all[HW_ROUTES_FRONTIER],
                                    .edges = all[HW_ROUTES_EDGES],
                                    .degrees = all[HW_ROUTES_DEGREES],
                                    .least = (int64_t)(~all[HW_ROUTES_LEAST] ^ UINT64_C(1) << 63),
                                    .open = all[HW_ROUTES_OPEN] >> 32,
                                    .unreached = all[HW_ROUTES_OPEN] & UINT32_MAX,
                                    .own_frontier = own[HW_ROUTES_FRONTIER],
                                    .own_near = own[HW_ROUTES_NEAR],
                                    .own_edges = own[HW_ROUTES_EDGES],
                                    .spread = own[HW_ROUTES_SPREAD]};
    for (uint32_t q = 0; q < routes->plan.ranks; q++)
        news->sent += sent_of(own, q);
}

/* Packs, starts a round and unpacks; over peer nothing waits for the round, whose number is
 * *number. */
static enum hw_status begin_exchange(struct hw_routes *routes, enum hw_status status,
                                     enum hw_routes_what what, const struct hw_routes_job *job,
                                     uint32_t *number, struct hw_error *err)
{
    const struct hw_routes_plan *plan = &routes->plan;
    const struct hw_round_result *result = NULL;
    const bool peer = routes->engine->transport.kind == HW_TRANSPORT_PEER;
    const struct hw_routes_boxes boxes = find_boxes(routes);

    if (status == HW_OK)
        status = routes->owed;
    if (status == HW_OK)
        status = cuda(hw_routes_launch_pack(plan, job, what, &boxes, routes->blocks),
                      "the kernel that packs", err);
    status = hw_round_start(&routes->round, status, (const uint64_t *)plan->control->word,
                            HW_ROUTES_WORDS, 1u << HW_ROUTES_LEAST, NULL, err);
    if (status == HW_OK && !peer)
        status = hw_round_wait(&routes->round, &result, err);
    if (status == HW_OK && !peer)
        status = deliver(routes, what, job, result, err);
    if (status != HW_OK)
        return status;
    *number = routes->round.number;
    routes->owed = cuda(hw_routes_launch_unpack(plan, job, what, &boxes,
                                                hw_round_device(&routes->round), routes->blocks),
                        "the kernel that unpacks", err);
    routes->exchanges++;
    return HW_OK;
}

static enum hw_status end_exchange(struct hw_routes *routes, uint32_t number,
                                   struct hw_routes_news *news, struct hw_error *err)
{
    const struct hw_round_result *result = NULL;
    enum hw_status status = hw_round_wait_for(&routes->round, number, &result, err);

    if (status == HW_OK)
        read_news(routes, result, news);
    return status;
}

enum hw_status hw_routes_exchange(struct hw_routes *routes, enum hw_status status,
                                  enum hw_routes_what what, const struct hw_routes_job *job,
                                  struct hw_routes_news *news, struct hw_error *err)
{
    uint32_t number = 0;

    status = begin_exchange(routes, status, what, job, &number, err);
    return status == HW_OK ? end_exchange(routes, number, news, err) : status;
}

/* ---- relaxing ---- */

/* Adds what was counted before vertices went along the grid column. */
static void join_news(struct hw_routes_news *news, const struct hw_routes_news *before)
{
    news->later += before->later;
    news->least = before->least;
    news->open = before->open;
    news->unreached = before->unreached;
    news->spread += before->spread;
}

/* Relaxes what is to be; the news come with a round. */
static enum hw_status begin_relaxing(struct hw_routes *routes, const struct hw_routes_job *job,
                                     bool collect, uint32_t *number, struct hw_error *err)
{
    const struct hw_routes_plan *plan = &routes->plan;
    enum hw_status status = HW_OK;

    if (collect)
        status = cuda(hw_routes_launch_collect(plan, job, routes->blocks),
                      "the kernel that finds what is near", err);
    if (status == HW_OK)
        status = cuda(hw_routes_launch_gather(plan, job, false, routes->blocks),
                      "the kernel that gathers lists", err);
    if (status == HW_OK)
        status =
            cuda(hw_routes_launch_push(plan, job, routes->blocks), "the kernel that relaxes", err);
    return begin_exchange(routes, status, HW_ROUTES_FOLD, job, number, err);
}

/* What is to be relaxed next along the grid column, then as begin_relaxing(). */
static enum hw_status relax_grid(struct hw_routes *routes, const struct hw_routes_job *job,
                                 bool collect, struct hw_routes_news *news, struct hw_error *err)
{
    const struct hw_routes_plan *plan = &routes->plan;
    struct hw_routes_news before = {0};
    uint32_t number = 0;
    enum hw_status status = HW_OK;

    if (collect)
        status = cuda(hw_routes_launch_collect(plan, job, routes->blocks),
                      "the kernel that finds what is near", err);
    status = hw_routes_exchange(routes, status, HW_ROUTES_EXPAND, job, &before, err);
    if (status == HW_OK)
        status = begin_relaxing(routes, job, false, &number, err);
    if (status == HW_OK)
        status = end_exchange(routes, number, news, err);
    if (status == HW_OK)
        join_news(news, &before);
    return status;
}

/* A round that also finds what belongs to the next step, after one that was started ahead of
 * its news. */
static enum hw_status relax_after(struct hw_routes *routes, const struct hw_routes_job *job,
                                  uint32_t before_number, struct hw_routes_news *news,
                                  struct hw_error *err)
{
    struct hw_routes_news before;
    uint32_t number = 0;
    enum hw_status status = begin_relaxing(routes, job, true, &number, err);

    if (status == HW_OK)
        status = end_exchange(routes, before_number, &before, err);
    if (status == HW_OK)
        status = end_exchange(routes, number, news, err);
    if (status != HW_OK)
        return status;
    news->later += before.later;
    news->edges += before.edges;
    news->degrees += before.degrees;
    news->frontier += before.frontier;
    news->own_edges += before.own_edges;
    news->own_frontier += before.own_frontier;
    news->sent += before.sent;
    news->spread += before.spread;
    return HW_OK;
}

/*
 * Most rounds are followed by another like them: over peer that one is started before this
 * one's news are there. Where there is none it finds nothing to do.
 */
enum hw_status hw_routes_relax(struct hw_routes *routes, const struct hw_routes_job *job,
                               bool collect, struct hw_routes_news *news, struct hw_error *err)
{
    const bool ahead =
        routes->engine->transport.kind == HW_TRANSPORT_PEER && routes->survey.negative == 0;
    uint32_t number = routes->ahead;
    enum hw_status status = HW_OK;

    if (routes->plan.list_blocks > 1)
        return relax_grid(routes, job, collect, news, err);
    routes->ahead = 0;
    if (number != 0 && collect)
        return relax_after(routes, job, number, news, err);
    if (number == 0)
        status = begin_relaxing(routes, job, collect, &number, err);
    if (status == HW_OK && ahead)
        status = begin_relaxing(routes, job, false, &routes->ahead, err);
    if (status == HW_OK)
        status = end_exchange(routes, number, news, err);
    if (status != HW_OK || news->near == 0)
        routes->ahead = 0;
    return status;
}

enum hw_status hw_routes_relax_range(struct hw_routes *routes, const struct hw_routes_job *job,
                                     struct hw_routes_news *news, struct hw_error *err)
{
    const struct hw_routes_plan *plan = &routes->plan;
    enum hw_status status = cuda(hw_routes_launch_gather(plan, job, true, routes->blocks),
                                 "the kernel that gathers lists", err);

    if (status == HW_OK)
        status =
            cuda(hw_routes_launch_push(plan, job, routes->blocks), "the kernel that relaxes", err);
    return hw_routes_exchange(routes, status, HW_ROUTES_FOLD, job, news, err);
}

enum hw_status hw_routes_tell(struct hw_routes *routes, int64_t begin, int64_t end,
                              struct hw_error *err)
{
    const struct hw_routes_job job = {
        .mode = HW_ROUTES_RELAX, .begin = begin, .end = end, .near = INT64_MIN, .high = INT64_MIN};
    struct hw_routes_news news;
    enum hw_status status = hw_routes_exchange(routes, HW_OK, HW_ROUTES_TELL, &job, &news, err);

    if (status == HW_OK)
        hw_routes_add_row(routes, "tell", HW_DIRECTION_AUTO, 0, &news);
    return status;
}
