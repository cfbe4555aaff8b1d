/* Methods `merge` and `cta-warp-scan`, host side. The searches are in
 * gpu/bfs/merge/merge_kernel.cu. */
#include "gpu/bfs/merge/merge.h"

#include "gpu/bfs/common/frontier_queue_host.h"
#include "gpu/bfs/merge/merge_options.h"
#include "gpu/engine/gpu_method_list.h"
#include "gpu/graph/build/csr_builder.h"

#include <math.h>

struct state {
    struct hw_merge_params params;
    int blocks;
};

/* Sets the kind of kernel and the factor for a coupling. */
static void set_coupling(enum hw_coupling coupling, double factor, struct hw_merge_params *params)
{
    params->kind = HW_MERGE_FUSED;
    params->factor = factor;
    switch (coupling) {
    case HW_COUPLING_SEPARATE:
        params->kind = HW_MERGE_SEPARATE;
        break;
    case HW_COUPLING_GATHER:
        params->factor = INFINITY;
        break;
    case HW_COUPLING_EXPAND:
        params->factor = 0;
        break;
    case HW_COUPLING_DIRECT:
        params->kind = HW_MERGE_DIRECT;
        break;
    case HW_COUPLING_AUTO:
    case HW_COUPLING_HYBRID:
        break;
    }
}

static enum hw_status plan_cta(struct hw_gpu_engine *engine, struct hw_error *err)
{
    struct hw_merge_params *params = &((struct state *)engine->state)->params;

    params->kind = HW_MERGE_CTA;
    return hw_frontier_queue_plan_arrays(engine, 2, &params->common, err);
}

static enum hw_status plan_merge(struct hw_gpu_engine *engine, struct hw_error *err)
{
    const struct hw_option_values *values = &engine->options.values;
    struct hw_merge_params *params = &((struct state *)engine->state)->params;
    hw_count edges = (hw_count)engine->graph.edges;

    set_coupling((enum hw_coupling)hw_option_number(values, &hw_option_coupling),
                 hw_option_real(values, &hw_option_expand_factor), params);
    enum hw_status status = hw_frontier_queue_plan_arrays(engine, 2, &params->common, err);
    if (status == HW_OK && params->kind == HW_MERGE_SEPARATE) {
        hw_gpu_add(&engine->arrays, &params->location, edges, hw_frontier_queue_width(engine));
        hw_gpu_add(&engine->arrays, &params->source, edges, sizeof *params->source);
    }
    return status;
}

static enum hw_status search(struct hw_gpu_engine *engine, struct hw_error *err)
{
    const struct state *state = engine->state;

    return hw_cuda(hw_merge_launch(&state->params, state->blocks, engine->root.vertex),
                   engine->method->descriptor->name, err);
}

static enum hw_status open_search(struct hw_gpu_engine *engine, struct hw_error *err)
{
    struct state *state = engine->state;

    hw_frontier_queue_open(engine, &state->params.common);
    enum hw_status status = hw_cuda(hw_merge_launch_shape(&state->params, &state->blocks),
                                    engine->method->descriptor->name, err);
    return status == HW_OK ? hw_gpu_run_first_search(engine, err) : status;
}

static enum hw_status steps(struct hw_gpu_engine *engine, struct hw_trace *steps,
                            struct hw_error *err)
{
    return hw_frontier_queue_steps(&((struct state *)engine->state)->params.common, steps, err);
}

static const struct hw_gpu_search merge = {.results = &hw_one_gpu_bfs_results,
                                           .state_bytes = sizeof(struct state),
                                           .plan = plan_merge,
                                           .open = open_search,
                                           .search = search,
                                           .steps = steps};

static const struct hw_gpu_search cta = {.results = &hw_one_gpu_bfs_results,
                                         .state_bytes = sizeof(struct state),
                                         .plan = plan_cta,
                                         .open = open_search,
                                         .search = search,
                                         .steps = steps};

const struct hw_method hw_method_merge = {.descriptor = &hw_descriptor_merge,
                                          .ops = &hw_gpu_engine_ops,
                                          .bytes = hw_gpu_host_bytes,
                                          .build = hw_gpu_build,
                                          .impl = &merge};

const struct hw_method hw_method_cta_warp_scan = {.descriptor = &hw_descriptor_cta_warp_scan,
                                                  .ops = &hw_gpu_engine_ops,
                                                  .bytes = hw_gpu_host_bytes,
                                                  .build = hw_gpu_build,
                                                  .impl = &cta};
