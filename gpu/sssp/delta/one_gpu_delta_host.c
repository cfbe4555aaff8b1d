/* Method `delta` on one GPU: host side. Chooses the kernel. */
#include "gpu/sssp/common/small_frontier_host.h"
#include "gpu/sssp/delta/delta_kernel_option.h"
#include "gpu/sssp/delta/delta_trace.h"
#include "gpu/sssp/delta/one_gpu_delta_search.h"

#include "gpu/engine/gpu_method_list.h"
#include "gpu/graph/build/csr_builder.h"
#include "gpu/sssp/common/delta_policy.h"
#include "gpu/sssp/common/sssp_engine_host.h"

struct state {
    bool small_frontier; /* else balanced */
    struct hw_small_frontier_search front;
    struct hw_one_gpu_delta_search balanced;
};

static enum hw_status choose_params(struct hw_gpu_engine *engine, struct hw_error *err)
{
    const struct hw_degree_order *order = &engine->order;
    const enum hw_delta_kernel asked = hw_delta_kernel_of(&engine->options);
    const double degree = order->active > 0 ? (double)engine->graph.edges / order->active : 1;
    struct state *state = engine->state;
    hw_count records = 0;

    state->small_frontier = asked != HW_DELTA_KERNEL_BALANCED &&
                            (degree < HW_DELTA_SMALL_FRONTIER_MAX_MEAN_DEGREE ||
                             asked == HW_DELTA_KERNEL_SMALL_FRONTIER) &&
                            hw_small_frontier_count_records(order, &records);
    engine->kernel = hw_delta_kernel_name(state->small_frontier ? HW_DELTA_KERNEL_SMALL_FRONTIER
                                                                : HW_DELTA_KERNEL_BALANCED);
    if (state->small_frontier) {
        hw_small_frontier_plan(engine, &state->front, degree, records);
    } else {
        hw_sssp_state_of(engine)->has_parents = true;
        return hw_one_gpu_delta_search_plan(engine, &state->balanced, degree, err);
    }
    return HW_OK;
}

static enum hw_status search(struct hw_gpu_engine *engine, struct hw_error *err)
{
    const struct state *state = engine->state;

    if (engine->result)
        engine->result->delta =
            state->small_frontier ? state->front.params.delta : state->balanced.params.config.delta;
    return state->small_frontier ? hw_small_frontier_run(engine, &state->front, err)
                                 : hw_one_gpu_delta_search_run(engine, &state->balanced, err);
}

static enum hw_status open_search(struct hw_gpu_engine *engine, struct hw_error *err)
{
    struct state *state = engine->state;
    enum hw_status status = state->small_frontier
                                ? hw_small_frontier_open(engine, &state->front, err)
                                : hw_one_gpu_delta_search_open(engine, &state->balanced, err);

    return status == HW_OK ? hw_gpu_run_first_search(engine, err) : status;
}

/* Adds the vertices of degree 1 to the last trace record: an edge each, and those reached. */
static enum hw_status add_leaves(const struct hw_gpu_engine *engine, struct hw_trace *steps,
                                 struct hw_error *err)
{
    const uint32_t core = engine->graph.core, root = engine->root.vertex;
    uint32_t reached = 0;
    enum hw_status status = hw_gpu_fill(engine->output.changed, 0, sizeof reached, err);

    if (status == HW_OK)
        status =
            hw_cuda(hw_gpu_launch_count_reached(&engine->graph, &hw_sssp_state_of(engine)->paths,
                                                core, engine->output.changed),
                    "the kernel that counts leaves", err);
    if (status == HW_OK)
        status = hw_gpu_get(&reached, engine->output.changed, sizeof reached, err);
    if (status != HW_OK || steps->count == 0)
        return status;
    struct hw_trace_record *last = &steps->record[steps->count - 1];
    const hw_count leaves = engine->graph.active - core;
    last->discovered += (hw_count)reached - (root >= core && root < engine->graph.active);
    last->pulled += leaves;
    last->edges_examined += leaves;
    return HW_OK;
}

static enum hw_status steps(struct hw_gpu_engine *engine, struct hw_trace *steps,
                            struct hw_error *err)
{
    const struct state *state = engine->state;
    enum hw_status status =
        state->small_frontier
            ? hw_small_frontier_append_trace(&state->front.params, steps, err)
            : hw_delta_append_trace(&state->balanced.params, NULL, false, steps, err);

    return status == HW_OK ? add_leaves(engine, steps, err) : status;
}

static const struct hw_sssp_search delta = {.base = {.results = &hw_one_gpu_sssp_results,
                                                     .state_bytes = sizeof(struct state),
                                                     .plan = choose_params,
                                                     .open = open_search,
                                                     .search = search,
                                                     .steps = steps},
                                            .sort_by_weight = true,
                                            .hints = HW_GPU_HINTS_KEYS};

const struct hw_method hw_method_gpu_delta = {.descriptor = &hw_descriptor_gpu_delta,
                                              .ops = &hw_gpu_engine_ops,
                                              .bytes = hw_gpu_sssp_host_bytes,
                                              .build = hw_gpu_build_by_weight,
                                              .build_on_host = hw_gpu_build,
                                              .lists_on_device = true,
                                              .impl = &delta.base};
