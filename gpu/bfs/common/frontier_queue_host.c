/* Frontier queues, host side: allocation and trace. */
#include "gpu/bfs/common/frontier_queue_host.h"
#include "gpu/device/packed_queue.h"

#include "gpu/engine/step_trace.h"

enum hw_status hw_frontier_queue_check_direction(const struct hw_gpu_engine *engine,
                                                 struct hw_error *err)
{
    return hw_direction_of(&engine->options) == HW_DIRECTION_BOTTOM_UP
               ? hw_fail(err, HW_BAD_INPUT, "--direction: method %s supports top-down only",
                         engine->method->descriptor->name)
               : HW_OK;
}

enum hw_status hw_frontier_queue_plan_arrays(struct hw_gpu_engine *engine, int prefixes,
                                             struct hw_frontier_queue_params *params,
                                             struct hw_error *err)
{
    struct hw_gpu_arrays *arrays = &engine->arrays;
    const struct hw_gpu_graph *graph = &engine->graph;
    size_t width = hw_frontier_queue_width(engine);
    hw_count active = graph->active;

    HW_TRY(hw_frontier_queue_check_direction(engine, err));
    if (!hw_packed_fits(graph->vertices, graph->edges, HW_FRONTIER_QUEUE_EDGE_BITS))
        return hw_fail(err, HW_BAD_INPUT,
                       "method %s supports up to 2^%d vertices and 2^%d stored edges",
                       engine->method->descriptor->name, 64 - HW_FRONTIER_QUEUE_EDGE_BITS,
                       HW_FRONTIER_QUEUE_EDGE_BITS);
    params->trace_capacity = hw_gpu_trace_capacity(graph->vertices);
    hw_gpu_add(arrays, &params->visited, active / 32 + 1, sizeof *params->visited);
    for (int half = 0; half < 2; half++)
        hw_gpu_add(arrays, &params->queue[half], active + 1, sizeof *params->queue[half]);
    for (int half = 0; half < prefixes; half++)
        hw_gpu_add(arrays, &params->prefix[half], active + 1, width);
    hw_gpu_add(arrays, &params->control, 1, sizeof *params->control);
    if (engine->options.trace)
        hw_gpu_add(arrays, &params->trace, params->trace_capacity, sizeof *params->trace);
    return HW_OK;
}

size_t hw_frontier_queue_width(const struct hw_gpu_engine *engine)
{
    return engine->graph.wide ? sizeof(uint64_t) : sizeof(uint32_t);
}

void hw_frontier_queue_open(const struct hw_gpu_engine *engine,
                            struct hw_frontier_queue_params *params)
{
    params->graph = engine->graph;
    params->parent = engine->output.parent;
    params->parent_is_first_neighbor = engine->output.settled;
}

enum hw_status hw_frontier_queue_steps(const struct hw_frontier_queue_params *params,
                                       struct hw_trace *steps, struct hw_error *err)
{
    struct hw_frontier_queue_control control;
    enum hw_status status = hw_gpu_get(&control, params->control, sizeof control, err);

    if (status != HW_OK)
        return status;
    const uint32_t records = hw_gpu_trace_stored(control.trace_records, params->trace_capacity);
    struct hw_gpu_clock clock =
        hw_gpu_clock_of(control.begin_ticks, control.end_ticks, control.end_ns - control.begin_ns);
    return hw_gpu_append_trace(params->trace, records, clock, steps, err);
}
