/* Methods `scan2d` and `scatter-compact`: their host side. The searches are in
 * gpu/bfs/grid2d/one_gpu/scan2d_one_gpu_kernel.cu. */
#include "gpu/bfs/grid2d/one_gpu/scan2d_one_gpu.h"

#include "gpu/bfs/common/frontier_queue_host.h"
#include "gpu/bfs/grid2d/scan2d_options.h"
#include "gpu/engine/gpu_method_list.h"
#include "gpu/graph/build/csr_builder.h"

#include <stdio.h>

struct state {
    struct hw_scan2d_one_gpu_params params;
    int blocks;
};

static enum hw_status plan_scan(struct hw_gpu_engine *engine, struct hw_error *err)
{
    struct hw_scan2d_one_gpu_params *params = &((struct state *)engine->state)->params;

    params->edges_per_thread =
        (int)hw_option_number(&engine->options.values, &hw_option_edges_per_thread);
    params->groups = hw_option_number(&engine->options.values, &hw_option_grouping) ==
                     HW_SCAN2D_GROUP_BY_ATOMICS;
    params->no_single_block =
        !hw_option_number(&engine->options.values, &hw_option_single_block_levels);
    hw_gpu_add(&engine->arrays, &params->total, HW_SCAN2D_MAX_BLOCKS, sizeof *params->total);
    return hw_frontier_queue_plan_arrays(engine, 1, &params->common, err);
}

static enum hw_status plan_scatter(struct hw_gpu_engine *engine, struct hw_error *err)
{
    struct hw_scan2d_one_gpu_params *params = &((struct state *)engine->state)->params;
    const struct hw_gpu_graph *graph = &engine->graph;

    params->scatter = true;
    hw_gpu_add(&engine->arrays, &params->map, graph->active, hw_frontier_queue_width(engine));
    hw_gpu_add(&engine->arrays, &params->neighbour, (hw_count)graph->edges,
               sizeof *params->neighbour);
    return plan_scan(engine, err);
}

static enum hw_status search(struct hw_gpu_engine *engine, struct hw_error *err)
{
    const struct state *state = engine->state;

    return hw_cuda(hw_scan2d_launch(&state->params, state->blocks, engine->root.vertex),
                   engine->method->descriptor->name, err);
}

static enum hw_status open_search(struct hw_gpu_engine *engine, struct hw_error *err)
{
    struct state *state = engine->state;

    hw_frontier_queue_open(engine, &state->params.common);
    enum hw_status status = hw_cuda(hw_scan2d_launch_shape(&state->params, &state->blocks),
                                    engine->method->descriptor->name, err);
    return status == HW_OK ? hw_gpu_run_first_search(engine, err) : status;
}

static enum hw_status steps(struct hw_gpu_engine *engine, struct hw_trace *steps,
                            struct hw_error *err)
{
    const struct hw_scan2d_one_gpu_params *params = &((struct state *)engine->state)->params;
    hw_count before = steps->count;
    enum hw_status status = hw_frontier_queue_steps(&params->common, steps, err);

    for (hw_count s = before; s < steps->count && !params->scatter; s++)
        snprintf(steps->record[s].routine, sizeof steps->record[s].routine, "scan2d %d%s",
                 params->edges_per_thread, params->groups ? " atomics" : "");
    return status;
}

static const struct hw_gpu_search scan = {.results = &hw_one_gpu_bfs_results,
                                          .state_bytes = sizeof(struct state),
                                          .plan = plan_scan,
                                          .open = open_search,
                                          .search = search,
                                          .steps = steps};

static const struct hw_gpu_search scatter = {.results = &hw_one_gpu_bfs_results,
                                             .state_bytes = sizeof(struct state),
                                             .plan = plan_scatter,
                                             .open = open_search,
                                             .search = search,
                                             .steps = steps};

const struct hw_method hw_method_scan2d = {.descriptor = &hw_descriptor_scan2d,
                                           .ops = &hw_gpu_engine_ops,
                                           .bytes = hw_gpu_host_bytes,
                                           .build = hw_gpu_build,
                                           .impl = &scan};

const struct hw_method hw_method_scatter_compact = {.descriptor = &hw_descriptor_scatter_compact,
                                                    .ops = &hw_gpu_engine_ops,
                                                    .bytes = hw_gpu_host_bytes,
                                                    .build = hw_gpu_build,
                                                    .impl = &scatter};
