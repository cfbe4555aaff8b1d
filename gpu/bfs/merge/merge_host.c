/* Methods `merge` and `cta-warp-scan`, host side. The searches are in gpu/bfs/merge/merge_kernel.cu
 * and, with kernels for the phases of each level, in gpu/bfs/merge/merge_phases_kernel.cu. */
#include "gpu/bfs/merge/merge.h"

#include "gpu/bfs/common/frontier_queue_host.h"
#include "gpu/bfs/merge/merge_options.h"
#include "gpu/device/packed_queue.h"
#include "gpu/engine/gpu_method_list.h"
#include "gpu/engine/one_gpu_options.h"
#include "gpu/engine/step_trace.h"
#include "gpu/graph/build/csr_builder.h"

#include <math.h>
#include <stdint.h>

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

/* Whether phases are kernels of their own. */
static bool has_phases(const struct hw_gpu_engine *engine)
{
    return hw_option_number(&engine->options.values, &hw_option_launches) == HW_LAUNCHES_PHASES;
}

/* Adds the arrays between the kernels of a level. */
static void plan_phases(struct hw_gpu_engine *engine, struct hw_merge_params *params)
{
    struct hw_gpu_arrays *arrays = &engine->arrays;
    const hw_count active = engine->graph.active, edges = (hw_count)engine->graph.edges;

    hw_gpu_add(arrays, &params->begin, active + 1, hw_frontier_queue_width(engine));
    hw_gpu_add(arrays, &params->block_sum, (hw_count)hw_merge_scan_blocks((uint64_t)active + 1),
               sizeof *params->block_sum);
    hw_gpu_add(arrays, &params->claimed_by, active, sizeof *params->claimed_by);
    if (params->kind != HW_MERGE_CTA)
        return;
    hw_gpu_add(arrays, &params->gathered, edges, sizeof *params->gathered);
    hw_gpu_add(arrays, &params->gathered_size, 1, sizeof *params->gathered_size);
}

/* Adds all arrays. */
static enum hw_status plan_arrays(struct hw_gpu_engine *engine, struct hw_error *err)
{
    struct hw_merge_params *params = &((struct state *)engine->state)->params;
    const hw_count edges = (hw_count)engine->graph.edges;
    const bool phases = has_phases(engine);
    enum hw_status status = hw_frontier_queue_plan_arrays(engine, 2, &params->common, err);

    if (status != HW_OK)
        return status;
    hw_gpu_add(&engine->arrays, &params->counts, 1, sizeof *params->counts);
    if (phases)
        plan_phases(engine, params);
    if (params->kind == HW_MERGE_SEPARATE)
        hw_gpu_add(&engine->arrays, &params->location, edges, hw_frontier_queue_width(engine));
    if (params->kind == HW_MERGE_SEPARATE || (phases && params->kind == HW_MERGE_CTA))
        hw_gpu_add(&engine->arrays, &params->source, edges, sizeof *params->source);
    return HW_OK;
}

static enum hw_status plan_cta(struct hw_gpu_engine *engine, struct hw_error *err)
{
    struct hw_merge_params *params = &((struct state *)engine->state)->params;

    params->kind = HW_MERGE_CTA;
    params->consecutive = hw_merge_is_consecutive(&engine->options);
    return plan_arrays(engine, err);
}

static enum hw_status plan_merge(struct hw_gpu_engine *engine, struct hw_error *err)
{
    const struct hw_option_values *values = &engine->options.values;
    struct hw_merge_params *params = &((struct state *)engine->state)->params;
    const int64_t direct_after = hw_option_number(values, &hw_option_direct_after);

    set_coupling((enum hw_coupling)hw_option_number(values, &hw_option_coupling),
                 hw_option_real(values, &hw_option_expand_factor), params);
    params->tile = (uint32_t)hw_merge_tile(&engine->options);
    params->direct_depth = direct_after >= 0 ? (uint32_t)direct_after : UINT32_MAX;
    if (direct_after >= 0)
        params->kind = HW_MERGE_DEEP;
    return plan_arrays(engine, err);
}

/* ---- searching ---- */

/* What is launched for a level. */
static uint32_t routine_of(const struct hw_merge_params *params, const struct hw_merge_level *level)
{
    if (params->kind == HW_MERGE_CTA)
        return HW_ROUTINE_PHASES_CTA;
    if (params->kind == HW_MERGE_SEPARATE)
        return HW_ROUTINE_PHASES_SEPARATE;
    if (params->kind == HW_MERGE_DIRECT ||
        (params->kind == HW_MERGE_DEEP && level->depth >= params->direct_depth))
        return HW_ROUTINE_PHASES_DIRECT;
    return (double)level->edges > params->factor * level->vertices ? HW_ROUTINE_PHASES_EXPAND
                                                                   : HW_ROUTINE_PHASES_GATHER;
}

/* Level by level: the host reads the size of the queue and launches the kernels of its phases. */
static enum hw_status search_by_phases(const struct state *state, uint32_t root,
                                       struct hw_error *err)
{
    const struct hw_merge_params *params = &state->params;
    static const char what[] = "the kernels of a level";
    enum hw_status status = hw_cuda(hw_merge_launch_init(params, root), what, err);

    for (uint32_t depth = 0; status == HW_OK; depth++) {
        unsigned long long size = 0;
        status = hw_gpu_get(&size, &params->common.control->queue[depth & 3], sizeof size, err);
        struct hw_merge_level level = {.depth = depth,
                                       .vertices =
                                           hw_packed_entries(size, HW_FRONTIER_QUEUE_EDGE_BITS),
                                       .edges = hw_packed_work(size, HW_FRONTIER_QUEUE_EDGE_BITS),
                                       .resident = state->blocks};
        if (status != HW_OK || level.vertices == 0)
            break;
        level.routine = routine_of(params, &level);
        status = hw_cuda(hw_merge_launch_level(params, &level), what, err);
    }
    return status == HW_OK ? hw_cuda(hw_merge_launch_finish(params, root), what, err) : status;
}

static enum hw_status search(struct hw_gpu_engine *engine, struct hw_error *err)
{
    const struct state *state = engine->state;

    if (has_phases(engine))
        return search_by_phases(state, engine->root.vertex, err);
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

/* Whether tiles are counted. */
static bool counts_tiles(const struct hw_gpu_engine *engine, const struct hw_merge_params *params)
{
    return has_phases(engine) || params->tile > 0 || params->consecutive ||
           params->kind == HW_MERGE_DEEP;
}

/* Appends a row with their number, and one with the edges of the largest. */
static enum hw_status append_tiles(const struct hw_merge_params *params, struct hw_trace *steps,
                                   struct hw_error *err)
{
    static const char *const names[] = {"tiles", "edges of the largest tile"};
    struct hw_merge_counts counts;

    HW_TRY(hw_gpu_get(&counts, params->counts, sizeof counts, err));
    const unsigned long long count[] = {counts.tiles, counts.max_edges};
    for (int r = 0; r < 2; r++) {
        struct hw_trace_record *step = NULL;
        HW_TRY(hw_gpu_append_named(steps, names[r], &step, err));
        step->frontier = (hw_count)count[r];
    }
    return HW_OK;
}

static enum hw_status steps(struct hw_gpu_engine *engine, struct hw_trace *steps,
                            struct hw_error *err)
{
    const struct hw_merge_params *params = &((struct state *)engine->state)->params;

    HW_TRY(hw_frontier_queue_steps(&params->common, steps, err));
    return counts_tiles(engine, params) ? append_tiles(params, steps, err) : HW_OK;
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
                                          .builds_on_host = hw_gpu_numbers_by_id,
                                          .impl = &merge};

const struct hw_method hw_method_cta_warp_scan = {.descriptor = &hw_descriptor_cta_warp_scan,
                                                  .ops = &hw_gpu_engine_ops,
                                                  .bytes = hw_gpu_host_bytes,
                                                  .build = hw_gpu_build,
                                                  .builds_on_host = hw_gpu_numbers_by_id,
                                                  .impl = &cta};
