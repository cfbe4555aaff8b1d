/* Method `bellman-ford` on one GPU: its search and its entry of the method table. */
#include "gpu/engine/gpu_method_list.h"
#include "gpu/graph/build/csr_builder.h"
#include "gpu/sssp/bellman/bellman_ford_host.h"
#include "gpu/sssp/bellman/relaxation_options.h"

/* Searches again, with 64-bit distances: one of 32 bits fell below what any path without a cycle
 * has, so that there is a negative cycle. */
static enum hw_status search_wide(struct hw_gpu_engine *engine, uint32_t root,
                                  struct hw_cycle *cycle, struct hw_error *err)
{
    struct hw_bellman *own = engine->state;
    const struct hw_bellman_params narrow = own->params;
    const int blocks = own->blocks;
    enum hw_status status = hw_bellman_widen(engine, err);

    if (status == HW_OK)
        status = hw_bellman_init_search(engine, root, err);
    if (status == HW_OK)
        status = hw_bellman_run_with_negative_weights(engine, root, cycle, err);
    own->params = narrow;
    own->blocks = blocks;
    if (status == HW_OK && cycle->length == 0)
        return hw_fail(err, HW_INTERNAL, "method bellman-ford lost a negative cycle");
    return status;
}

static enum hw_status search(struct hw_gpu_engine *engine, struct hw_error *err)
{
    struct hw_bellman *own = engine->state;
    struct hw_cycle cycle = {0};
    const uint32_t root = engine->root.vertex;
    enum hw_status status = HW_OK;

    own->searched_wide = false;
    if (own->candidate_edge)
        status = hw_bellman_find_negative_edge(engine, root, &cycle, err);
    if (status == HW_OK && cycle.length == 0)
        status = hw_bellman_init_search(engine, root, err);
    if (status == HW_OK && cycle.length == 0)
        status = hw_sssp_state_of(engine)->weight_stats.negative > 0
                     ? hw_bellman_run_with_negative_weights(engine, root, &cycle, err)
                     : hw_bellman_run(engine, UINT32_MAX, err);
    if (status == HW_OK && cycle.length == 0 && hw_sssp_state_of(engine)->narrowed &&
        own->control.below_floor)
        status = search_wide(engine, root, &cycle, err);
    if (status == HW_OK && cycle.length == 0)
        return hw_bellman_finish(engine, err);
    if (status == HW_OK && engine->result) {
        engine->result->outcome = HW_OUTCOME_NEGATIVE_CYCLE;
        engine->result->cycle = cycle;
    } else {
        hw_cycle_free(&cycle);
    }
    return status;
}

static enum hw_status plan(struct hw_gpu_engine *engine, struct hw_error *err)
{
    return hw_bellman_init_params(engine, false, err);
}

/* A word holds a phase and a distance of 32 bits; there is no space for 64. */
static bool narrows(const struct hw_gpu_engine *engine)
{
    return hw_relaxation_config(&engine->options).removal == HW_REMOVAL_WORDS;
}

static const struct hw_sssp_search bellman_ford = {
    .base = {.results = &hw_one_gpu_sssp_results,
             .state_bytes = sizeof(struct hw_bellman),
             .plan = plan,
             .open = hw_bellman_open,
             .search = search,
             .steps = hw_bellman_steps,
             .close = hw_bellman_close},
    .hints = HW_GPU_HINTS_WEIGHTS,
    .narrows = narrows};

const struct hw_method hw_method_gpu_bellman_ford = {.descriptor = &hw_descriptor_gpu_bellman_ford,
                                                     .ops = &hw_gpu_engine_ops,
                                                     .bytes = hw_bellman_bytes,
                                                     .build = hw_gpu_build,
                                                     .impl = &bellman_ford.base};
