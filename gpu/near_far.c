/*
 * Method `near-far`: two piles, after Davidson, Baxter, Garland and Owens, "Work-Efficient
 * Parallel GPU Methods for Single-Source Shortest Paths" (2014).
 */
#include "bellman_host.h"
#include "builder.h"
#include "methods.h"
#include "verify.h"

#include "engine/distance.h"

#include <math.h>

/*
 * Widths of the near pile. Davidson and others choose 32 times the mean weight over the mean
 * degree, so that the lanes of a warp have work. Hubs are much nearer to each other than that
 * where few vertices hold most edges; so the first width goes by the degree that edges lead
 * to on the mean, and widths then grow as long as piles are small.
 */
#define FIRST_WIDTH 10.0
#define SETTLED (1 / 100.0) /* of all edges relaxed: hubs are reached, widths adapt */
#define SMALL (1 / 20.0)    /* of all edges relaxed for a pile: the next is twice as wide */
#define LARGE (3 / 10.0)    /* half as wide */
#define PATIENCE 64         /* piles after which they adapt anyway */

static double choose_width(const struct hw_gpu_engine *engine)
{
    const struct hw_bellman *own = engine->state;

    if (engine->options.delta > 0)
        return engine->options.delta;
    double width = FIRST_WIDTH * engine->survey.mean / own->end_degree;
    return width > 0 ? width : 1;
}

/* The next width, after a pile for which so many edges were relaxed. */
static double adapt_width(const struct hw_gpu_engine *engine, double width, uint64_t edges)
{
    const struct hw_bellman *own = engine->state;
    double all = (double)engine->graph.edges, pile = (double)edges;

    if (engine->options.delta > 0)
        return width;
    if ((double)own->control.edges < SETTLED * all && own->plan.bucket < PATIENCE)
        return width;
    return pile < SMALL * all ? 2 * width : pile > LARGE * all ? width / 2 : width;
}

/* The key of a limit; widths that vanish in rounding leave those of key `least` near. */
static int64_t limit_key(const struct hw_gpu_engine *engine, double limit, int64_t least)
{
    int64_t key = hw_distance_bound((enum hw_distance)engine->paths.kind, limit);

    return key > least ? key : least + 1;
}

/* The near pile until it is empty. */
static enum hw_status relax_near(struct hw_gpu_engine *engine, struct hw_error *err)
{
    enum hw_status status = hw_bellman_run(engine, UINT32_MAX, err);

    return status == HW_OK ? hw_bellman_fetch(engine, err) : status;
}

/* The same after what the far pile has below `limit` has joined it. *near: was there any? */
static enum hw_status split(struct hw_gpu_engine *engine, int64_t limit, bool *near,
                            struct hw_error *err)
{
    struct hw_bellman *own = engine->state;
    uint32_t phase = own->control.state.phase;

    own->plan.limit = limit;
    own->plan.split = true;
    own->plan.splits++;
    enum hw_status status = relax_near(engine, err);
    *near = own->control.state.phase != phase;
    return status;
}

/* The next pile: up to one width beyond *limit, or beyond the nearest that is far. *more: was
 * there any? */
static enum hw_status relax_next(struct hw_gpu_engine *engine, double *limit, double width,
                                 bool *more, struct hw_error *err)
{
    struct hw_bellman *own = engine->state;

    own->plan.bucket++;
    *limit += width;
    enum hw_status status = split(engine, limit_key(engine, *limit, 0), more, err);
    int64_t least = own->control.pile[own->plan.splits & 1].least;
    if (status != HW_OK || *more || least == INT64_MAX)
        return status;
    *limit = hw_distance_real((enum hw_distance)engine->paths.kind, least) + width;
    return split(engine, limit_key(engine, *limit, least), more, err);
}

static enum hw_status search(struct hw_gpu_engine *engine, uint32_t root, struct hw_error *err)
{
    struct hw_bellman *own = engine->state;
    struct hw_bellman_plan *plan = &own->plan;
    double first = choose_width(engine), width = first, limit = width;
    uint64_t before = 0; /* edges relaxed for earlier piles */
    bool more = true;

    plan->split = false;
    plan->splits = plan->bucket = 0;
    plan->limit = limit_key(engine, limit, 0); /* the root is near */
    enum hw_status status = hw_bellman_begin(engine, root, err);
    if (status == HW_OK)
        status = relax_near(engine, err);
    while (status == HW_OK && more) {
        width = adapt_width(engine, width, own->control.edges - before);
        before = own->control.edges;
        status = relax_next(engine, &limit, width, &more, err);
    }
    if (engine->result)
        engine->result->delta = first;
    return status == HW_OK ? hw_bellman_end(engine, err) : status;
}

/* The degree of the vertex at the end of an edge, on the mean. */
static double end_degree(const struct hw_host_order *order)
{
    const hw_count *offset = order->out.offset;
    double sum = 0, squares = 0;

    for (hw_lid v = 0; v < order->active; v++) {
        double degree = (double)(offset[v + 1] - offset[v]);
        sum += degree;
        squares += degree * degree;
    }
    return sum > 0 ? squares / sum : 1;
}

static enum hw_status plan(struct hw_gpu_engine *engine, const struct hw_host_order *order,
                           struct hw_error *err)
{
    struct hw_bellman *own = engine->state;

    own->end_degree = end_degree(order);
    return hw_bellman_plan(engine, order, true, err);
}

static const struct hw_gpu_search near_far = {.name = "near-far",
                                              .algorithm = HW_SSSP,
                                              .hints = HW_GPU_HINTS_WEIGHTS,
                                              .state_bytes = sizeof(struct hw_bellman),
                                              .plan = plan,
                                              .open = hw_bellman_open,
                                              .search = search,
                                              .steps = hw_bellman_steps};

static enum hw_status create(const struct hw_context *ctx, const struct hw_part *part,
                             const struct hw_engine_options *options, void **engine,
                             struct hw_error *err)
{
    return hw_gpu_create(&near_far, ctx, part, options, engine, err);
}

const struct hw_method hw_method_near_far = {.name = "near-far",
                                             .device = HW_CUDA,
                                             .algorithm = HW_SSSP,
                                             .grid = true,
                                             .one_part_only = true,
                                             .ready = hw_gpu_ready,
                                             .bytes = hw_bellman_bytes,
                                             .build = hw_gpu_build,
                                             .create = create,
                                             .search = hw_gpu_run,
                                             .verify_paths = hw_gpu_verify_sssp,
                                             .keeper = &hw_gpu_keeper,
                                             .destroy = hw_bellman_destroy};
