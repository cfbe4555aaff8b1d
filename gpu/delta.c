/* Method `delta`: its host side. The search itself is in delta_kernel.cu. */
#include "delta.h"

#include "builder.h"
#include "engine.h"
#include "engine/width.h"
#include "methods.h"
#include "verify.h"

#include <cuda_runtime_api.h>

/* Vertices of fewer edges push their lists whole. */
#define SHORT_LISTS 8
/* The first bucket's share of the width that suits a CPU: on a GPU edges that are relaxed again
 * cost more than a bucket more. */
#define FIRST_BUCKET 0.2
/* And of all buckets where lists are pushed whole: the fewer passes, the better. */
#define WHOLE_BUCKET 8.0

/* Room for long lists is for one in so many edges; those that find none are not shared. */
#define LONG_LIST 512

struct state {
    struct hw_delta_plan plan;
    struct hw_delta_shape shape;
};

static enum hw_status plan(struct hw_gpu_engine *engine, const struct hw_host_order *order,
                           struct hw_error *err)
{
    struct state *state = engine->state;
    struct hw_delta_plan *own = &state->plan;
    struct hw_gpu_arrays *arrays = &engine->arrays;
    hw_count core = engine->graph.core, heavy = (hw_count)engine->graph.edges / LONG_LIST + 1;
    double degree = order->active > 0 ? (double)engine->graph.edges / order->active : 1;

    (void)err;
    own->whole = degree < SHORT_LISTS;
    own->adaptive = engine->options.delta <= 0;
    own->width = own->adaptive ? hw_bucket_width(&engine->survey, degree) *
                                     (own->whole ? WHOLE_BUCKET : FIRST_BUCKET)
                               : engine->options.delta;
    own->mean_degree = (uint32_t)degree + 1;
    own->heavy_capacity = (uint32_t)(heavy < core + 1 ? heavy : core + 1);
    own->row_capacity = (uint32_t)HW_GPU_ROWS;
    for (int half = 0; half < 2; half++) {
        hw_gpu_add(arrays, &own->near[half], core + 1, sizeof *own->near[half]);
        hw_gpu_add(arrays, &own->later[half], core + 1, sizeof *own->later[half]);
        hw_gpu_add(arrays, &own->near_bits[half], core / 32 + 1, sizeof *own->near_bits[half]);
        hw_gpu_add(arrays, &own->heavy[half], own->heavy_capacity, sizeof *own->heavy[half]);
    }
    hw_gpu_add(arrays, &own->later_bits, core / 32 + 1, sizeof *own->later_bits);
    hw_gpu_add(arrays, &own->first_in, core + 1, sizeof *own->first_in);
    if (engine->graph.directed)
        hw_gpu_add(arrays, &own->first_out, core + 1, sizeof *own->first_out);
    hw_gpu_add(arrays, &own->control, 1, sizeof *own->control);
    if (engine->options.steps)
        hw_gpu_add(arrays, &own->row, own->row_capacity, sizeof *own->row);
    return HW_OK;
}

static enum hw_status search(struct hw_gpu_engine *engine, uint32_t root, struct hw_error *err)
{
    const struct state *state = engine->state;

    if (engine->result)
        engine->result->delta = state->plan.width;
    return hw_cuda(hw_delta_launch(&state->plan, &state->shape, root), "the kernel of method delta",
                   err);
}

static enum hw_status open_search(struct hw_gpu_engine *engine, struct hw_error *err)
{
    struct state *state = engine->state;

    state->plan.graph = engine->graph;
    state->plan.paths = engine->paths;
    enum hw_status status =
        hw_cuda(hw_delta_launch_firsts(&state->plan), "the kernel that takes first edges", err);
    if (status == HW_OK)
        status = hw_cuda(hw_delta_launch_shape(&state->plan, &state->shape), "method delta", err);
    /* The first launch of a kernel loads it: outside any clock. */
    if (status == HW_OK)
        status = search(engine, 0, err);
    return status == HW_OK ? hw_cuda((int)cudaDeviceSynchronize(), "method delta", err) : status;
}

static enum hw_status steps(struct hw_gpu_engine *engine, struct hw_steps *steps,
                            struct hw_error *err)
{
    static const struct hw_gpu_routine_name names[HW_DELTA_ROUTINES] = {
        [HW_DELTA_ROOT] = {"root", HW_DIRECTION_TOP_DOWN},
        [HW_DELTA_PUSH] = {"push", HW_DIRECTION_TOP_DOWN},
        [HW_DELTA_SHORT_PUSH] = {"short.push", HW_DIRECTION_TOP_DOWN},
        [HW_DELTA_NEXT_STEP] = {"next step", HW_DIRECTION_AUTO},
        [HW_DELTA_LONG_PUSH] = {"long.push", HW_DIRECTION_TOP_DOWN},
        [HW_DELTA_LONG_PULL] = {"long.pull", HW_DIRECTION_BOTTOM_UP},
        [HW_DELTA_NEXT_BUCKET] = {"next bucket", HW_DIRECTION_AUTO},
        [HW_DELTA_TAIL] = {"tail", HW_DIRECTION_TOP_DOWN},
        [HW_DELTA_LEAVES] = {"leaves", HW_DIRECTION_BOTTOM_UP},
    };
    const struct hw_delta_plan *own = &((struct state *)engine->state)->plan;
    struct hw_delta_control control;
    enum hw_status status = hw_gpu_get(&control, own->control, sizeof control, err);

    if (status != HW_OK)
        return status;
    uint32_t rows = control.rows < own->row_capacity ? control.rows : own->row_capacity;
    struct hw_gpu_clock clock =
        hw_gpu_clock_of(control.begun, control.ended, control.ended_time - control.begun_time);
    return hw_gpu_add_path_rows(own->row, rows, clock, names, HW_DELTA_ROUTINES, steps, err);
}

static const struct hw_gpu_search delta = {.name = "delta",
                                           .algorithm = HW_SSSP,
                                           .by_weight = true,
                                           .hints = HW_GPU_HINTS_KEYS,
                                           .state_bytes = sizeof(struct state),
                                           .plan = plan,
                                           .open = open_search,
                                           .search = search,
                                           .steps = steps};

static enum hw_status create(const struct hw_context *ctx, const struct hw_part *part,
                             const struct hw_engine_options *options, void **engine,
                             struct hw_error *err)
{
    return hw_gpu_create(&delta, ctx, part, options, engine, err);
}

const struct hw_method hw_method_gpu_delta = {.name = "delta",
                                              .device = HW_CUDA,
                                              .algorithm = HW_SSSP,
                                              .grid = true,
                                              .one_part_only = true,
                                              .ready = hw_gpu_ready,
                                              .bytes = hw_gpu_paths_host_bytes,
                                              .build = hw_gpu_build_by_weight,
                                              .build_whole = hw_gpu_build,
                                              .lists_stay = true,
                                              .create = create,
                                              .search = hw_gpu_run,
                                              .verify_paths = hw_gpu_verify_sssp,
                                              .keeper = &hw_gpu_keeper,
                                              .destroy = hw_gpu_destroy};
