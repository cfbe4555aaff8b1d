/*
 * Method `scan2d` on a grid of GPUs: its entry in the registry, roots, results and the trace. Setup
 * is in gpu/bfs/grid2d/scan2d_grid_setup.c, the levels are in gpu/bfs/grid2d/scan2d_grid_levels.c.
 */
#include "gpu/bfs/grid2d/scan2d_grid_host.h"

#include "gpu/device/memory_kernels.h"
#include "gpu/engine/gpu_method_list.h"
#include "gpu/engine/step_trace.h"
#include "gpu/graph/build/csr_builder.h"

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

static void close_search(struct hw_gpu_engine *engine)
{
    struct hw_scan2d_grid_state *state = engine->state;

    hw_preposted_recv_close(&state->preposted.fold);
    for (int half = 0; half < 2; half++)
        hw_preposted_recv_close(&state->preposted.expand[half]);
    hw_allgather_close(&state->allgather);
    hw_allgather_close(&state->single_cta_allgather);
    free(state->internode);
}

static enum hw_status set_root(struct hw_gpu_engine *engine, struct hw_error *err)
{
    struct hw_scan2d_grid_state *state = engine->state;
    const struct hw_gpu_root *root = &engine->root;
    const uint32_t block = state->params.config.block;

    (void)err;
    state->root.packed_id =
        root->position < block ? (uint32_t)root->owner * block + root->position : HW_INVALID_VERTEX;
    state->root.position = root->own ? root->position : HW_INVALID_VERTEX;
    state->root.graph_id = root->own ? root->graph_id : 0;
    return HW_OK;
}

/* Overwrites the results of the last search, loads address translations, and evicts search data
 * from the caches. */
static enum hw_status poison(struct hw_gpu_engine *engine, struct hw_error *err)
{
    const struct hw_scan2d_grid_state *state = engine->state;
    const struct hw_scan2d_grid_params *params = &state->params;
    const size_t block = params->config.block, count = engine->part->own.count;
    enum hw_status status =
        hw_gpu_fill(params->search.parent, 0xab, block * sizeof *params->search.parent, err);

    if (status == HW_OK)
        status = hw_gpu_fill(params->search.level, 0xab, block * sizeof *params->search.level, err);
    if (status == HW_OK)
        status = hw_gpu_fill(state->result.parent_id, 0xab, count * sizeof *state->result.parent_id,
                             err);
    int code = hw_gpu_warm_tlb(engine, state->flag);
    if (code == 0 && state->edges > 0)
        code = hw_gpu_launch_flush_caches(params->by_column.neighbor, (uint64_t)state->edges,
                                          state->flag);
    return status == HW_OK ? hw_cuda(code, "the kernel that warms the TLB", err) : status;
}

static enum hw_status translate(struct hw_gpu_engine *engine, struct hw_error *err)
{
    struct hw_scan2d_grid_state *state = engine->state;

    if (engine->options.canonical_parents)
        return hw_scan2d_canonical(engine, err);
    return hw_cuda(hw_scan2d_grid_launch_parents(&state->params, state->result.position,
                                                 engine->part->own.count, state->result.graph_id,
                                                 state->root.position, state->root.graph_id,
                                                 state->result.parent_id),
                   "the kernel that translates parents", err);
}

static enum hw_status write_levels(struct hw_gpu_engine *engine, struct hw_error *err)
{
    const struct hw_scan2d_grid_state *state = engine->state;

    return hw_cuda(hw_scan2d_grid_launch_levels(&state->params, state->result.position,
                                                (uint32_t)engine->part->own.count,
                                                state->root.position, state->result.level),
                   "the kernel that writes levels", err);
}

/* ---- trace ---- */

/* The measurements of one level. context: struct hw_scan2d_grid_state. */
static void fill_step(struct hw_trace_record *step, const void *records, hw_count r, void *context)
{
    static const char *const forms[] = {"", " list", " bitmap", " list+bitmap"};
    const struct hw_scan2d_grid_state *state = context;
    const struct hw_scan2d_grid_trace_record *record =
        (const struct hw_scan2d_grid_trace_record *)records + r;
    const uint64_t *time = record->time;
    /* the end of the previous level, or 0 */
    const uint64_t before = r > 0 ? record[-1].time[HW_SCAN2D_GRID_TIME_UPDATE_END] : 0;

    step->direction = record->encodings & HW_SCAN2D_GRID_BOTTOM_UP ? HW_DIRECTION_BOTTOM_UP
                                                                   : HW_DIRECTION_TOP_DOWN;
    snprintf(step->routine, sizeof step->routine, "%s%s%s",
             state->params.variant.scatters ? "scatter-compact"
             : state->params.variant.groups ? "scan2d atomics"
                                            : "scan2d",
             forms[record->encodings & 3],
             record->encodings & HW_SCAN2D_GRID_SINGLE_BLOCK ? " small" : "");
    step->frontier = (hw_count)record->frontier;
    step->discovered = (hw_count)record->discovered;
    step->edges_examined = (hw_count)record->edges;
    step->sent.bytes = (hw_count)record->bytes;
    step->sent.messages = (hw_count)record->messages;
    step->seconds[HW_PHASE_EXPAND_EXCHANGE] =
        before ? 1e-9 * (double)(time[HW_SCAN2D_GRID_TIME_EXPANSION_BEGIN] - before) : 0;
    step->seconds[HW_PHASE_EXPANSION] = 1e-9 * (double)(time[HW_SCAN2D_GRID_TIME_EXPANSION_END] -
                                                        time[HW_SCAN2D_GRID_TIME_EXPANSION_BEGIN]);
    step->seconds[HW_PHASE_FOLD_EXCHANGE] =
        1e-9 *
        (double)(time[HW_SCAN2D_GRID_TIME_FOLD_END] - time[HW_SCAN2D_GRID_TIME_EXPANSION_END]);
    step->seconds[HW_PHASE_UPDATE] =
        1e-9 * (double)(time[HW_SCAN2D_GRID_TIME_UPDATE_END] - time[HW_SCAN2D_GRID_TIME_FOLD_END]);
    if (state->internode) {
        step->sent.internode.bytes = state->internode[r].bytes;
        step->sent.internode.messages = state->internode[r].messages;
    }
}

static enum hw_status steps(struct hw_gpu_engine *engine, struct hw_trace *steps,
                            struct hw_error *err)
{
    struct hw_scan2d_grid_state *state = engine->state;
    const struct hw_scan2d_grid_params *params = &state->params;
    struct hw_scan2d_grid_control control;
    enum hw_status status = hw_gpu_get(&control, params->search.control, sizeof control, err);

    if (status != HW_OK)
        return status;
    const struct hw_gpu_records records = {.record = params->trace.record,
                                           .count = control.trace_records < params->trace.capacity
                                                        ? (hw_count)control.trace_records
                                                        : params->trace.capacity,
                                           .size = sizeof *params->trace.record,
                                           .fill = fill_step,
                                           .context = state};
    return hw_gpu_append_records(&records, steps, err);
}

/* ---- the method ---- */

/* Without outcome(): all-gathers report failures. */
static const struct hw_gpu_results scan_results = {.distributed = true,
                                                   .poison = poison,
                                                   .set_root = set_root,
                                                   .translate = translate,
                                                   .complete = write_levels};

static const struct hw_gpu_search scan = {.results = &scan_results,
                                          .state_bytes = sizeof(struct hw_scan2d_grid_state),
                                          .plan = hw_scan2d_grid_plan,
                                          .open = hw_scan2d_grid_open,
                                          .search = hw_scan2d_grid_search,
                                          .steps = steps,
                                          .close = close_search};

static const struct hw_gpu_search scatter = {.results = &scan_results,
                                             .state_bytes = sizeof(struct hw_scan2d_grid_state),
                                             .plan = hw_scan2d_grid_plan_scatter,
                                             .open = hw_scan2d_grid_open,
                                             .search = hw_scan2d_grid_search,
                                             .steps = steps,
                                             .close = close_search};

/* Bytes on the host: ids of all vertices, offsets, and results. */
static hw_count bytes(const struct hw_part *part, const struct hw_engine_options *options)
{
    const hw_count lists = (hw_count)part->grid.block * part->spec.rows + 1;

    (void)options;
    return (hw_count)part->vertices * (hw_count)sizeof(uint32_t) +
           lists * (hw_count)sizeof(uint64_t) + part->own.count * (hw_count)sizeof(uint32_t);
}

const struct hw_method hw_method_scan2d_parts = {.descriptor = &hw_descriptor_scan2d_parts,
                                                 .ops = &hw_gpu_engine_ops,
                                                 .builds_any = true,
                                                 .bytes = bytes,
                                                 .build = hw_gpu_build_device_csr,
                                                 .impl = &scan};

const struct hw_method hw_method_scatter_compact_parts = {.descriptor =
                                                              &hw_descriptor_scatter_compact_parts,
                                                          .ops = &hw_gpu_engine_ops,
                                                          .builds_any = true,
                                                          .bytes = bytes,
                                                          .build = hw_gpu_build_device_csr,
                                                          .impl = &scatter};
