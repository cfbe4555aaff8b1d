/*
 * Method `scan2d` on a grid of GPUs: its entry in the registry, roots, results and the trace. Setup
 * is in gpu/bfs/grid2d/scan2d_grid_setup.c, the levels are in gpu/bfs/grid2d/scan2d_grid_levels.c.
 */
#include "gpu/bfs/grid2d/scan2d_grid_host.h"

#include "gpu/device/memory_kernels.h"
#include "gpu/engine/parents_on_host.h"
#include "gpu/gpu_method_list.h"
#include "gpu/graph/build/csr_builder.h"
#include "lib/base/memory.h"

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void close_search(struct hw_multi_gpu_engine *engine)
{
    struct hw_scan2d_grid_state *state = engine->state;

    hw_preposted_recv_close(&state->preposted.fold);
    for (int half = 0; half < 2; half++)
        hw_preposted_recv_close(&state->preposted.expand[half]);
    hw_allgather_close(&state->allgather);
    hw_allgather_close(&state->single_cta_allgather);
    cudaFreeHost(state->result.staging);
    free(state->internode);
}

static enum hw_status find_root(struct hw_multi_gpu_engine *engine, int owner, hw_lid position,
                                struct hw_error *err)
{
    struct hw_scan2d_grid_state *state = engine->state;
    const struct hw_part *part = engine->part;
    const bool mine = owner == engine->ctx->rank;

    if (owner < 0 || owner >= part->spec.parts ||
        position >= hw_owned(&part->spec, part->vertices, owner))
        return hw_fail(err, HW_BAD_INPUT, "there is no vertex at position %" PRI_LID " of part %d",
                       position, owner);
    state->root.packed_id = position < state->params.config.block
                                ? (uint32_t)owner * state->params.config.block + position
                                : HW_INVALID_VERTEX;
    state->root.position = mine ? position : HW_INVALID_VERTEX;
    state->root.graph_id = mine ? (uint32_t)part->own.graph_id[position] : 0;
    return HW_OK;
}

/* Overwrites the results of the last search, reads a word of each page that a search may access, so
 * that address translations are cached (gpu/bfs/direction_optimizing/peer_bfs_host.c says why), and
 * evicts search data from the caches. */
static enum hw_status poison(struct hw_multi_gpu_engine *engine, struct hw_error *err)
{
    const struct hw_scan2d_grid_state *state = engine->state;
    const struct hw_scan2d_grid_params *params = &state->params;
    const size_t block = params->config.block, count = engine->part->own.count;
    int code = 0;
    enum hw_status status =
        hw_gpu_fill(params->search.parent, 0xab, block * sizeof *params->search.parent, err);

    if (status == HW_OK)
        status = hw_gpu_fill(params->search.level, 0xab, block * sizeof *params->search.level, err);
    if (status == HW_OK)
        status = hw_gpu_fill(state->result.parent_id, 0xab, count * sizeof *state->result.parent_id,
                             err);
    for (int a = 0; a < engine->arrays.count && code == 0; a++) {
        void *memory;
        memcpy(&memory, engine->arrays.of[a].out, sizeof memory);
        code = hw_gpu_launch_warm_tlb(memory, (uint64_t)engine->arrays.of[a].bytes, state->flag);
    }
    for (int q = 0; q < engine->ctx->size && code == 0; q++)
        if (hw_scan2d_grid_is_peer(engine) || q == engine->ctx->rank)
            code = hw_gpu_launch_warm_tlb(engine->transport.heap[q],
                                          (uint64_t)engine->transport.heap_bytes, state->flag);
    if (code == 0 && state->edges > 0)
        code = hw_gpu_launch_flush_caches(params->by_column.neighbor, (uint64_t)state->edges,
                                          state->flag);
    return status == HW_OK ? hw_cuda(code, "the kernel that warms the TLB", err) : status;
}

static enum hw_status translate(struct hw_multi_gpu_engine *engine, struct hw_error *err)
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

/* Failures are known already: all-gathers report them. */
static enum hw_status check_outcome(struct hw_multi_gpu_engine *engine, struct hw_error *err)
{
    (void)engine, (void)err;
    return HW_OK;
}

static enum hw_status deliver(struct hw_multi_gpu_engine *engine, struct hw_result *result,
                              struct hw_error *err)
{
    struct hw_scan2d_grid_state *state = engine->state;
    const size_t n = engine->part->own.count;
    enum hw_status status =
        hw_cuda(hw_scan2d_grid_launch_levels(&state->params, state->result.position, (uint32_t)n,
                                             state->root.position, state->result.level),
                "the kernel that writes levels", err);

    if (status != HW_OK || !result->parent)
        return status;
    status =
        hw_gpu_get_parents(&state->result.staging, state->result.parent_id, n, result->parent, err);
    if (status != HW_OK)
        return status;
    return hw_gpu_get(result->level, state->result.level, n * sizeof *result->level, err);
}

/* ---- trace ---- */

/* The measurements of one level. before: time at which the previous level ended, or 0. */
static void fill_step(const struct hw_scan2d_grid_trace_record *record, uint64_t before,
                      struct hw_trace_record *step)
{
    static const char *const forms[] = {"", " list", " bitmap", " list+bitmap"};
    const uint64_t *time = record->time;

    step->direction = record->encodings & HW_SCAN2D_GRID_BOTTOM_UP ? HW_DIRECTION_BOTTOM_UP
                                                                   : HW_DIRECTION_TOP_DOWN;
    snprintf(step->routine, sizeof step->routine, "scan2d%s", forms[record->encodings & 3]);
    step->frontier = (hw_count)record->frontier;
    step->discovered = (hw_count)record->discovered;
    step->edges_examined = (hw_count)record->edges;
    step->bytes_sent = (hw_count)record->bytes;
    step->messages_sent = (hw_count)record->messages;
    step->seconds[HW_PHASE_EXPAND_EXCHANGE] =
        before ? 1e-9 * (double)(time[HW_SCAN2D_GRID_TIME_EXPANSION_BEGIN] - before) : 0;
    step->seconds[HW_PHASE_EXPANSION] = 1e-9 * (double)(time[HW_SCAN2D_GRID_TIME_EXPANSION_END] -
                                                        time[HW_SCAN2D_GRID_TIME_EXPANSION_BEGIN]);
    step->seconds[HW_PHASE_FOLD_EXCHANGE] =
        1e-9 *
        (double)(time[HW_SCAN2D_GRID_TIME_FOLD_END] - time[HW_SCAN2D_GRID_TIME_EXPANSION_END]);
    step->seconds[HW_PHASE_UPDATE] =
        1e-9 * (double)(time[HW_SCAN2D_GRID_TIME_UPDATE_END] - time[HW_SCAN2D_GRID_TIME_FOLD_END]);
}

static enum hw_status steps(struct hw_multi_gpu_engine *engine, struct hw_result *result,
                            struct hw_error *err)
{
    const struct hw_scan2d_grid_state *state = engine->state;
    const struct hw_scan2d_grid_params *params = &state->params;
    struct hw_scan2d_grid_control control;
    struct hw_scan2d_grid_trace_record *records = NULL;
    hw_count count = 0;
    enum hw_status status = hw_gpu_get(&control, params->search.control, sizeof control, err);

    if (status == HW_OK) {
        count = control.trace_records < params->trace.capacity ? (hw_count)control.trace_records
                                                               : params->trace.capacity;
        status = hw_alloc(&records, count, sizeof *records, "the steps", err);
    }
    if (status == HW_OK && count > 0)
        status = hw_gpu_get(records, params->trace.record, (size_t)count * sizeof *records, err);
    for (hw_count r = 0; r < count && status == HW_OK; r++) {
        struct hw_trace_record *step = hw_trace_append(&result->trace);
        if (!step) {
            status = hw_fail(err, HW_RESOURCES, "no memory for the measurements of the steps");
            break;
        }
        fill_step(&records[r], r > 0 ? records[r - 1].time[HW_SCAN2D_GRID_TIME_UPDATE_END] : 0,
                  step);
        if (state->internode) {
            step->bytes_internode = state->internode[r].bytes;
            step->messages_internode = state->internode[r].messages;
        }
    }
    free(records);
    return status;
}

/* ---- the method ---- */

static const struct hw_multi_gpu_search scan = {.state_bytes = sizeof(struct hw_scan2d_grid_state),
                                                .plan = hw_scan2d_grid_plan,
                                                .open = hw_scan2d_grid_open,
                                                .poison = poison,
                                                .root = find_root,
                                                .search = hw_scan2d_grid_search,
                                                .translate = translate,
                                                .outcome = check_outcome,
                                                .deliver = deliver,
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
                                                 .ops = &hw_multi_gpu_ops,
                                                 .builds_any = true,
                                                 .bytes = bytes,
                                                 .build = hw_gpu_build_device_csr,
                                                 .impl = &scan};
