/* Delta-stepping on one GPU by the kernel for small frontiers: host side. */
#include "gpu/sssp/common/small_frontier_host.h"

#include "gpu/graph/degree_summary.h"
#include "gpu/sssp/common/delta_policy.h"
#include "gpu/sssp/common/sssp_engine_host.h"
#include "lib/base/memory.h"
#include "lib/engine/sssp/delta_heuristic.h"
#include "lib/engine/sssp/sssp_options.h"

#include <stdio.h>
#include <stdlib.h>

bool hw_small_frontier_count_records(const struct hw_degree_order *order, hw_count *records)
{
    const hw_count *offset = order->out.offset;

    *records = order->core;
    for (hw_lid v = 0; v < order->core; v++) {
        hw_count length = offset[v + 1] - offset[v];
        if (length > HW_MESH_MAX_LIST)
            return false;
        *records += length > HW_SMALL_FRONTIER_RECORD_EDGES
                        ? (length - 2) / (HW_SMALL_FRONTIER_RECORD_EDGES - 1)
                        : 0;
    }
    return *records < (hw_count)INT32_MAX;
}

void hw_small_frontier_plan(struct hw_gpu_engine *engine, struct hw_small_frontier_search *search,
                            double degree, hw_count records)
{
    const double given = hw_delta_of(&engine->options);

    search->params.delta = given > 0
                               ? given
                               : hw_bucket_width(&hw_sssp_state_of(engine)->weight_stats, degree) *
                                     HW_DELTA_SMALL_FRONTIER_BUCKET;
    hw_small_frontier_reserve(engine, &search->params, records);
}

void hw_small_frontier_add_queues(struct hw_gpu_engine *engine,
                                  struct hw_small_frontier_params *params, hw_count vertices)
{
    struct hw_gpu_arrays *arrays = &engine->arrays;

    params->single_cta_vertices = HW_DELTA_SMALL_FRONTIER_SINGLE_CTA;
    params->vertices_per_block = HW_DELTA_SMALL_FRONTIER_VERTICES_PER_BLOCK;
    params->min_rounds = HW_DELTA_SMALL_FRONTIER_MIN_ROUNDS;
    params->idle_fraction = HW_DELTA_SMALL_FRONTIER_IDLE_FRACTION;
    params->trace_capacity = (uint32_t)HW_GPU_TRACE_CAPACITY;
    for (int half = 0; half < 2; half++) {
        hw_gpu_add(arrays, &params->step_queue[half], vertices + 1,
                   sizeof *params->step_queue[half]);
        hw_gpu_add(arrays, &params->rest_queue[half], vertices + 1,
                   sizeof *params->rest_queue[half]);
        hw_gpu_add(arrays, &params->step_marks[half], vertices / 32 + 1,
                   sizeof *params->step_marks[half]);
    }
    hw_gpu_add(arrays, &params->rest_marks, vertices / 32 + 1, sizeof *params->rest_marks);
    hw_gpu_add(arrays, &params->control, 1, sizeof *params->control);
    if (engine->options.trace)
        hw_gpu_add(arrays, &params->trace, params->trace_capacity, sizeof *params->trace);
}

void hw_small_frontier_reserve(struct hw_gpu_engine *engine,
                               struct hw_small_frontier_params *params, hw_count records)
{
    hw_small_frontier_add_queues(engine, params, engine->graph.core);
    hw_gpu_add(&engine->arrays, &params->record, (records + 1) * HW_SMALL_FRONTIER_RECORD_EDGES,
               sizeof *params->record);
}

enum hw_status hw_small_frontier_open(const struct hw_gpu_engine *engine,
                                      struct hw_small_frontier_search *search, struct hw_error *err)
{
    search->params.graph = engine->graph;
    search->params.sssp = hw_sssp_state_of(engine)->paths;
    enum hw_status status = hw_cuda(hw_small_frontier_launch_records(&search->params),
                                    "the kernel that puts lists into records", err);
    return status == HW_OK ? hw_cuda(hw_small_frontier_shape(&search->params, &search->blocks),
                                     "method delta", err)
                           : status;
}

enum hw_status hw_small_frontier_run(const struct hw_gpu_engine *engine,
                                     const struct hw_small_frontier_search *search,
                                     struct hw_error *err)
{
    return hw_cuda(hw_small_frontier_launch(&search->params, search->blocks, engine->root.vertex),
                   "the kernel of method delta", err);
}

enum hw_status hw_small_frontier_append_trace(const struct hw_small_frontier_params *params,
                                              struct hw_trace *steps, struct hw_error *err)
{
    static const struct hw_gpu_routine_name names[HW_SMALL_FRONTIER_ROUTINES] = {
        [HW_SMALL_FRONTIER_ROOT] = {"root", HW_DIRECTION_TOP_DOWN},
        [HW_SMALL_FRONTIER_PUSH] = {"push", HW_DIRECTION_TOP_DOWN},
        [HW_SMALL_FRONTIER_NEXT_STEP] = {"next step", HW_DIRECTION_AUTO},
        [HW_SMALL_FRONTIER_LEAVES] = {"leaves", HW_DIRECTION_BOTTOM_UP},
    };
    struct hw_small_frontier_control control;
    enum hw_status status = hw_gpu_get(&control, params->control, sizeof control, err);

    if (status != HW_OK)
        return status;
    const uint32_t records = hw_gpu_trace_stored(control.trace_records, params->trace_capacity);
    struct hw_gpu_clock clock =
        hw_gpu_clock_of(control.begin_ticks, control.end_ticks, control.end_ns - control.begin_ns);
    return hw_gpu_sssp_append_trace(params->trace, records, clock, names,
                                    HW_SMALL_FRONTIER_ROUTINES, steps, err);
}

/* Adds up the records of the rounds. */
static enum hw_status sum_rounds(const struct hw_small_frontier_params *params,
                                 struct hw_trace_record *step, struct hw_error *err)
{
    struct hw_small_frontier_control control;
    struct hw_gpu_sssp_trace_record *record = NULL;

    HW_TRY(hw_gpu_get(&control, params->control, sizeof control, err));
    const uint32_t count = hw_gpu_trace_stored(control.trace_records, params->trace_capacity);
    enum hw_status status = hw_alloc(&record, count, sizeof *record, "the steps", err);
    if (status == HW_OK && count > 0)
        status = hw_gpu_get(record, params->trace, count * sizeof *record, err);
    for (uint32_t r = 0; r < count && status == HW_OK; r++) {
        step->frontier += record[r].frontier;
        step->edges_examined += (hw_count)record[r].pushed;
    }
    step->seconds[HW_PHASE_EXPANSION] = 1e-9 * (double)(control.end_ns - control.begin_ns);
    free(record);
    return status;
}

enum hw_status hw_small_frontier_append_rounds(const struct hw_small_frontier_params *params,
                                               bool searched, struct hw_trace *steps,
                                               struct hw_error *err)
{
    struct hw_trace_record *step = hw_trace_append(steps);

    if (!step)
        return hw_fail(err, HW_RESOURCES, "no memory for the measurements of the steps");
    step->direction = HW_DIRECTION_TOP_DOWN;
    snprintf(step->routine, sizeof step->routine, "rounds");
    return searched ? sum_rounds(params, step, err) : HW_OK;
}
