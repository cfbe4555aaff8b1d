/*
 * Method `near-far`: two piles, after Davidson, Baxter, Garland and Owens, "Work-Efficient
 * Parallel GPU Methods for Single-Source Shortest Paths" (2014).
 */
#include "gpu/engine/gpu_method_list.h"
#include "gpu/graph/build/csr_builder.h"
#include "gpu/sssp/bellman/bellman_ford_host.h"
#include "lib/engine/sssp/sssp_options.h"

/*
 * Width of the first near pile, times mean weight over mean target degree. Davidson and others use
 * 32 times the mean weight over the mean degree, so that all lanes of a warp have work. Where few
 * vertices have most edges, distances among hubs are much smaller than that. Hence this width uses
 * the mean degree of the targets of edges; later piles grow while they are small.
 */
#define FIRST_WIDTH 10.0

static double choose_width(const struct hw_gpu_engine *engine)
{
    const struct hw_bellman *own = engine->state;
    const double given = hw_delta_of(&engine->options);

    if (given > 0)
        return given;
    double width =
        FIRST_WIDTH * hw_sssp_state_of(engine)->weight_stats.mean / own->mean_target_degree;
    if (hw_sssp_state_of(engine)->paths.kind != HW_GPU_KEY_F32 && width < 1)
        return 1;
    return width > 0 ? width : 1;
}

static enum hw_status search(struct hw_gpu_engine *engine, struct hw_error *err)
{
    struct hw_bellman_params *params = &((struct hw_bellman *)engine->state)->params;

    params->search.first_pile_width = choose_width(engine);
    params->search.adaptive_width = hw_delta_of(&engine->options) <= 0;
    if (engine->result)
        engine->result->delta = params->search.first_pile_width;
    enum hw_status status = hw_bellman_init_search(engine, engine->root.vertex, err);
    if (status == HW_OK)
        status = hw_bellman_run(engine, UINT32_MAX, err);
    return status == HW_OK ? hw_bellman_finish(engine, err) : status;
}

/* The mean degree of the targets of edges. */
static double mean_target_degree(const struct hw_degree_order *order)
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

static enum hw_status plan(struct hw_gpu_engine *engine, struct hw_error *err)
{
    struct hw_bellman *own = engine->state;

    own->mean_target_degree = mean_target_degree(&engine->order);
    return hw_bellman_init_params(engine, true, err);
}

static const struct hw_sssp_search near_far = {.base = {.results = &hw_one_gpu_sssp_results,
                                                        .state_bytes = sizeof(struct hw_bellman),
                                                        .plan = plan,
                                                        .open = hw_bellman_open,
                                                        .search = search,
                                                        .steps = hw_bellman_steps,
                                                        .close = hw_bellman_close},
                                               .hints = HW_GPU_HINTS_WEIGHTS};

const struct hw_method hw_method_near_far = {.descriptor = &hw_descriptor_near_far,
                                             .ops = &hw_gpu_engine_ops,
                                             .bytes = hw_bellman_bytes,
                                             .build = hw_gpu_build,
                                             .impl = &near_far.base};
