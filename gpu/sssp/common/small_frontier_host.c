/* Delta-stepping on one GPU by the kernel for small frontiers: host side. */
#include "gpu/sssp/common/small_frontier_host.h"

#include "gpu/graph/degree_summary.h"
#include "gpu/sssp/common/delta_policy.h"
#include "gpu/sssp/common/sssp_engine_host.h"
#include "lib/engine/sssp/delta_heuristic.h"
#include "lib/engine/sssp/sssp_options.h"

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

void hw_small_frontier_reserve(struct hw_gpu_engine *engine,
                               struct hw_small_frontier_params *params, hw_count records)
{
    struct hw_gpu_arrays *arrays = &engine->arrays;
    const hw_count core = engine->graph.core;

    params->single_cta_vertices = HW_DELTA_SMALL_FRONTIER_SINGLE_CTA;
    params->vertices_per_block = HW_DELTA_SMALL_FRONTIER_VERTICES_PER_BLOCK;
    params->min_rounds = HW_DELTA_SMALL_FRONTIER_MIN_ROUNDS;
    params->idle_fraction = HW_DELTA_SMALL_FRONTIER_IDLE_FRACTION;
    params->trace_capacity = (uint32_t)HW_GPU_TRACE_CAPACITY;
    for (int half = 0; half < 2; half++) {
        hw_gpu_add(arrays, &params->step_queue[half], core + 1, sizeof *params->step_queue[half]);
        hw_gpu_add(arrays, &params->rest_queue[half], core + 1, sizeof *params->rest_queue[half]);
        hw_gpu_add(arrays, &params->step_marks[half], core / 32 + 1,
                   sizeof *params->step_marks[half]);
    }
    hw_gpu_add(arrays, &params->rest_marks, core / 32 + 1, sizeof *params->rest_marks);
    hw_gpu_add(arrays, &params->record, (records + 1) * HW_SMALL_FRONTIER_RECORD_EDGES,
               sizeof *params->record);
    hw_gpu_add(arrays, &params->control, 1, sizeof *params->control);
    if (engine->options.trace)
        hw_gpu_add(arrays, &params->trace, params->trace_capacity, sizeof *params->trace);
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
