/* Method `fused`: its host side. The search itself is in
 * gpu/bfs/direction_optimizing/one_gpu_bfs_kernel.cu. */
#include "gpu/bfs/direction_optimizing/one_gpu_bfs.h"

#include "gpu/engine/gpu_methods.h"
#include "gpu/engine/parents_on_host.h"
#include "gpu/engine/single_gpu_engine.h"
#include "gpu/graph/build/csr_builder.h"
#include "gpu/validate/device_validate.h"

#include <cuda_runtime_api.h>
#include <math.h>
#include <string.h>

struct state {
    struct hw_one_gpu_bfs_params plan;
    struct hw_one_gpu_bfs_shape shape;
    uint32_t root; /* of the last search */
};

/* Vertices of the core by degree: their numbers and mean degrees, in classes that double. */
struct degrees {
    double count[64], sum[64];
};

static struct degrees count_degrees(const struct hw_degree_order *order)
{
    const hw_count *offset = order->part->directed ? order->in.offset : order->out.offset;
    struct degrees degrees = {.count = {0}};

    for (hw_lid v = 0; v < order->core; v++) {
        uint64_t degree = (uint64_t)(offset[v + 1] - offset[v]);
        int class = degree ? 63 - __builtin_clzll(degree) : 0;
        degrees.count[class] += 1;
        degrees.sum[class] += (double)degree;
    }
    return degrees;
}

/*
 * What a vertex that its first source leaves unvisited has to probe on average, where each
 * edge comes from the frontier with the probability 2^(-k/2): a list of d more sources
 * costs (1 - (1-p)^d) / p.
 */
static void tabulate_probes(const struct hw_degree_order *order, float *probes)
{
    struct degrees degrees = count_degrees(order);

    for (int k = 0; k < HW_FUSED_SHARES; k++) {
        double p = exp2(-k / 2.0), sum = 0;
        for (int class = 0; class < 64; class ++) {
            if (degrees.count[class] == 0)
                continue;
            double rest = degrees.sum[class] / degrees.count[class] - 1;
            rest = rest > 0 ? rest : 0;
            sum += degrees.count[class] * (p < 1 ? (1 - pow(1 - p, rest)) / p : rest > 0);
        }
        probes[k] = (float)(order->core > 0 ? sum / order->core : 0);
    }
}

/* The first of the vertices whose neighbours are all at hand without their lists; none in
 * directed graphs, where those at hand are the sources. */
static uint32_t first_short(const struct hw_degree_order *order)
{
    hw_lid from = 0, to = order->vertices;

    if (order->part->directed)
        return HW_INVALID_VERTEX;
    while (from < to) {
        hw_lid middle = from + (to - from) / 2;
        if (order->out.offset[middle + 1] - order->out.offset[middle] > HW_FUSED_NEAR)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

static void plan_trees(struct hw_gpu_arrays *arrays, struct hw_one_gpu_bfs_params *plan,
                       hw_count core, hw_count active)
{
    /* Selecting from n takes a few bytes for each of its tiles. */
    plan->scratch_bytes = (UINT64_C(1) << 20) + (uint64_t)active / 16;
    hw_gpu_add(arrays, &plan->up, core, sizeof *plan->up);
    hw_gpu_add(arrays, &plan->hung, active, sizeof *plan->hung);
    hw_gpu_add(arrays, &plan->hung_up, active, sizeof *plan->hung_up);
    hw_gpu_add(arrays, &plan->anchor, active, sizeof *plan->anchor);
    hw_gpu_add(arrays, &plan->hanging, core / 32 + 1, sizeof *plan->hanging);
    hw_gpu_add(arrays, &plan->scratch, (hw_count)plan->scratch_bytes, 1);
}

static enum hw_status plan(struct hw_single_gpu_engine *engine, const struct hw_degree_order *order,
                           struct hw_error *err)
{
    struct state *state = engine->state;
    struct hw_one_gpu_bfs_params *own = &state->plan;
    struct hw_gpu_arrays *arrays = &engine->arrays;
    const struct hw_gpu_graph *graph = &engine->graph;
    size_t width = graph->wide ? sizeof(uint64_t) : sizeof(uint32_t);
    hw_count core = graph->core, rows = (hw_count)graph->vertices + 2;

    if (graph->vertices >= 1u << (64 - HW_FUSED_EDGE_BITS) ||
        graph->edges >= UINT64_C(1) << HW_FUSED_EDGE_BITS)
        return hw_fail(err, HW_BAD_INPUT,
                       "method fused does up to 2^%d vertices and 2^%d stored edges",
                       64 - HW_FUSED_EDGE_BITS, HW_FUSED_EDGE_BITS);
    tabulate_probes(order, own->probes);
    own->short_from = first_short(order);
    own->direction = (int)engine->options.direction;
    own->row_capacity = (uint32_t)(rows < HW_GPU_ROWS ? rows : HW_GPU_ROWS);
    for (int half = 0; half < 2; half++) {
        hw_gpu_add(arrays, &own->bits[half], core / 32 + 1, sizeof *own->bits[half]);
        hw_gpu_add(arrays, &own->queue[half], core + HW_FUSED_SLACK, sizeof *own->queue[half]);
        hw_gpu_add(arrays, &own->prefix[half], core + 1, width);
    }
    hw_gpu_add(arrays, &own->left, HW_FUSED_LEFT, sizeof *own->left);
    if (!graph->directed)
        plan_trees(arrays, own, core, graph->active);
    hw_gpu_add(arrays, &own->control, 1, sizeof *own->control);
    if (engine->options.steps)
        hw_gpu_add(arrays, &own->row, own->row_capacity, sizeof *own->row);
    return HW_OK;
}

static enum hw_status search(struct hw_single_gpu_engine *engine, uint32_t root,
                             struct hw_error *err)
{
    struct state *state = engine->state;

    state->root = root;
    return hw_cuda(hw_one_gpu_bfs_launch(&state->plan, &state->shape, root),
                   "the kernel of method fused", err);
}

static enum hw_status open_search(struct hw_single_gpu_engine *engine, struct hw_error *err)
{
    struct state *state = engine->state;

    state->plan.graph = engine->graph;
    state->plan.parent = engine->output.parent;
    state->plan.settled = engine->output.settled;
    enum hw_status status =
        hw_cuda(hw_one_gpu_bfs_launch_shape(&state->plan, &state->shape), "method fused", err);
    if (status == HW_OK)
        status = hw_gpu_fill(state->plan.control, 0, sizeof *state->plan.control, err);
    if (status == HW_OK)
        status = hw_cuda(hw_one_gpu_bfs_launch_prepare(&state->plan), "the kernels that find trees",
                         err);
    /* The first launch of a kernel loads it: outside any clock. */
    if (status == HW_OK)
        status = search(engine, 0, err);
    return status == HW_OK ? hw_cuda((int)cudaDeviceSynchronize(), "method fused", err) : status;
}

/* How many vertices the last search reached, but the root. */
static enum hw_status count_reached(const struct hw_single_gpu_engine *engine, hw_count *count,
                                    struct hw_error *err)
{
    const struct state *state = engine->state;
    const uint32_t active = engine->graph.active;
    enum hw_status status =
        hw_gpu_count_parents(engine->output.parent, active, engine->output.changed, count, err);

    *count -= state->root < active;
    return status;
}

/* What no level found is the last row's: leaves, and trees that hang off others. */
static enum hw_status add_rest(const struct hw_single_gpu_engine *engine, struct hw_steps *steps,
                               struct hw_error *err)
{
    hw_count rest = 0;
    enum hw_status status = count_reached(engine, &rest, err);

    if (steps->count == 0)
        return status;
    for (hw_count s = 0; s < steps->count; s++)
        rest -= steps->step[s].found;
    steps->step[steps->count - 1].found += rest;
    return status;
}

static enum hw_status steps(struct hw_single_gpu_engine *engine, struct hw_steps *steps,
                            struct hw_error *err)
{
    const struct hw_one_gpu_bfs_params *own = &((struct state *)engine->state)->plan;
    struct hw_one_gpu_bfs_control control;
    enum hw_status status = hw_gpu_get(&control, own->control, sizeof control, err);

    if (status != HW_OK)
        return status;
    uint32_t rows = control.rows < own->row_capacity ? control.rows : own->row_capacity;
    struct hw_gpu_clock clock =
        hw_gpu_clock_of(control.begun, control.ended, control.ended_time - control.begun_time);
    status = hw_gpu_add_rows(own->row, rows, clock, steps, err);
    return status == HW_OK ? add_rest(engine, steps, err) : status;
}

static const struct hw_single_gpu_search fused = {.state_bytes = sizeof(struct state),
                                                  .plan = plan,
                                                  .open = open_search,
                                                  .search = search,
                                                  .steps = steps};

const struct hw_method hw_method_fused = {.name = "fused",
                                          .frame = &hw_single_gpu_frame,
                                          .algorithm = HW_BFS,
                                          .grid = true,
                                          .one_part_only = true,
                                          .bytes = hw_gpu_host_bytes,
                                          .build = hw_gpu_build,
                                          .own = &fused};
