/*
 * Method `near-far`: two piles, driven from the host, after Davidson, Baxter, Garland and
 * Owens, "Work-Efficient Parallel GPU Methods for Single-Source Shortest Paths" (2014).
 */
#include "bellman_host.h"
#include "builder.h"
#include "methods.h"

#include "engine/distance.h"

#include <math.h>

/* The width of the near pile: their choice is 32 times the mean weight over the mean degree,
 * lanes of a warp being what one vertex can keep busy. */
#define LANES 32

static double choose_width(const struct hw_gpu_engine *engine)
{
    double degree =
        engine->graph.active > 0 ? (double)engine->graph.edges / (double)engine->graph.active : 1;

    if (engine->options.delta > 0)
        return engine->options.delta;
    double width = LANES * engine->survey.mean / fmax(degree, 1);
    return width > 0 ? width : 1;
}

/* The next limit: beyond the nearest of the far pile, by whole widths. */
static double next_limit(const struct hw_gpu_engine *engine, double limit, double width)
{
    const struct hw_bellman *own = engine->state;
    double least = hw_distance_real((enum hw_distance)engine->paths.kind, own->control.far_least);

    if (least >= limit)
        limit += width * floor((least - limit) / width);
    return limit + width;
}

/* Its key; widths that vanish in rounding leave at least one vertex near. */
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

static enum hw_status search(struct hw_gpu_engine *engine, uint32_t root, struct hw_error *err)
{
    struct hw_bellman *own = engine->state;
    struct hw_bellman_plan *plan = &own->plan;
    double width = choose_width(engine), limit = width;

    plan->pile = plan->bucket = 0;
    plan->limit = limit_key(engine, limit, 0); /* the root is near */
    enum hw_status status = hw_bellman_begin(engine, root, err);
    if (status == HW_OK)
        status = relax_near(engine, err);
    while (status == HW_OK && own->control.far[plan->pile] > 0) {
        limit = next_limit(engine, limit, width);
        plan->limit = limit_key(engine, limit, own->control.far_least);
        plan->pile ^= 1;
        plan->bucket++;
        status = hw_cuda(hw_bellman_launch_split(plan), "the kernel that splits piles", err);
        if (status == HW_OK)
            status = relax_near(engine, err);
    }
    if (engine->result)
        engine->result->delta = width;
    return status == HW_OK ? hw_bellman_end(engine, err) : status;
}

static enum hw_status plan(struct hw_gpu_engine *engine, const struct hw_host_order *order,
                           struct hw_error *err)
{
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
                                             .destroy = hw_bellman_destroy};
