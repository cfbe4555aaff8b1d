/*
 * Method `scan2d` on a grid of GPUs: setup. Sizes of blocks and heaps, arrays on the device, upload
 * of the local matrix, and the communication that searches use.
 */
#include "gpu/bfs/common/frontier_queue_host.h"
#include "gpu/bfs/grid2d/scan2d_grid_host.h"

#include "gpu/engine/step_trace.h"
#include "gpu/graph/build/csr_builder.h"
#include "lib/base/memory.h"

#include <stdlib.h>
#include <string.h>

/* The most vertices and edges of a level that one block does. */
#define SINGLE_CTA_LIMIT UINT32_C(16384)

/* A level goes bottom-up where one in so many local columns is in its frontier, or one in so many
 * stored edges leads out of it. */
#define BOTTOM_UP_COLUMNS 16
#define BOTTOM_UP_EDGES 16

/* Bytes that transposing and sorting lists allocates temporarily, without two keys for each entry
 * of the longest list. */
#define TRANSPOSE_BYTES ((hw_count)256 << 20)

/* ---- sizes and arrays ---- */

/* Refuses layouts and sizes that the method does not support; the same on all ranks. */
static enum hw_status check(const struct hw_gpu_engine *engine, struct hw_error *err)
{
    const struct hw_part *part = engine->part;
    const struct hw_layout_spec *spec = &part->spec;

    if (spec->rows > HW_SCAN2D_GRID_MAX_SIDE || spec->columns > HW_SCAN2D_GRID_MAX_SIDE ||
        spec->parts > HW_ALLGATHER_RANKS)
        return hw_fail(
            err, HW_BAD_INPUT,
            "method scan2d supports up to %d parts on GPUs, %d in a row or a column, not "
            "%dx%d",
            HW_ALLGATHER_RANKS, HW_SCAN2D_GRID_MAX_SIDE, spec->rows, spec->columns);
    if (((hw_count)part->grid.block + HW_SCAN2D_GRID_BLOCK_ALIGN) * spec->parts >=
        (hw_count)HW_INVALID_VERTEX)
        return hw_fail(err, HW_BAD_INPUT, "method scan2d has 32-bit vertex numbers");
    return HW_OK;
}

/* Raises active[b], for the blocks b of this grid column, to the position after the last one with a
 * list. active: [parts]. */
static void find_active(const struct hw_part *part, const struct hw_csr *lists, uint32_t *active)
{
    const int rows = part->spec.rows;
    const hw_lid block = part->grid.block;

    for (int r = 0; r < rows; r++) {
        const hw_count *offset = lists->offset + (size_t)r * block;
        uint32_t *own = &active[part->grid.column * rows + r];
        hw_lid t = block;
        while (t > 0 && offset[t] == offset[t - 1])
            t--;
        *own = t > *own ? t : *own;
    }
}

/* The most vertices and edges of a level that one block does: few enough that all sets it sends are
 * lists. active: [parts]. The same on all ranks. */
static uint32_t find_single_cta_limit(const struct hw_gpu_engine *engine, const uint32_t *active)
{
    const struct hw_scan2d_grid_state *state = engine->state;
    const struct hw_scan2d_grid_variant *variant = &state->params.variant;
    const struct hw_part *part = engine->part;
    uint32_t limit = SINGLE_CTA_LIMIT;

    if (!hw_scan2d_grid_is_peer(engine) || hw_exchange_of(&engine->options) == HW_EXCHANGE_BITMAP ||
        hw_direction_of(&engine->options) == HW_DIRECTION_BOTTOM_UP)
        return 0;
    /* The block discovers rows that kernels of full levels then take from the bitmap. */
    if (variant->groups || variant->scatters ||
        !hw_option_number(&engine->options.values, &hw_option_single_block_levels))
        return 0;
    for (int b = 0; b < part->spec.parts; b++) {
        const uint32_t part_limit = active[b] / 32 / (uint32_t)part->spec.columns;
        limit = part_limit < limit ? part_limit : limit;
    }
    return limit;
}

/* Raises active[] to all positions of each block, if vertices without edges are kept, as
 * scatter-compact does. */
static void keep_isolated(const struct hw_gpu_engine *engine, uint32_t *active)
{
    const struct hw_scan2d_grid_state *state = engine->state;
    const struct hw_part *part = engine->part;

    if (!state->params.variant.scatters && !hw_keeps_isolated(&engine->options))
        return;
    for (int b = 0; b < part->spec.parts; b++)
        active[b] = (uint32_t)hw_owned(&part->spec, part->vertices, b);
}

/* Agrees on the number of positions in use in all blocks. Collective. */
static enum hw_status agree_on_blocks(struct hw_gpu_engine *engine, struct hw_error *err)
{
    struct hw_scan2d_grid_state *state = engine->state;
    struct hw_scan2d_grid_params *params = &state->params;
    const struct hw_part *part = engine->part;
    uint32_t active[HW_ALLGATHER_RANKS] = {0};
    uint32_t max_active = 1;

    find_active(part, &part->grid.out, active);
    if (part->directed)
        find_active(part, &part->grid.in, active);
    keep_isolated(engine, active);
    enum hw_status status = hw_mpi(MPI_Allreduce(MPI_IN_PLACE, active, part->spec.parts,
                                                 MPI_UINT32_T, MPI_MAX, engine->ctx->world),
                                   "MPI_Allreduce", err);
    for (int b = 0; b < part->spec.parts; b++)
        max_active = active[b] > max_active ? active[b] : max_active;
    params->config.block = (max_active + HW_SCAN2D_GRID_BLOCK_ALIGN - 1) /
                           HW_SCAN2D_GRID_BLOCK_ALIGN * HW_SCAN2D_GRID_BLOCK_ALIGN;
    params->config.single_cta_limit = find_single_cta_limit(engine, active);
    for (uint32_t m = 0; m < params->config.columns; m++)
        params->config.row_active[m] = active[m * params->config.rows + params->config.row];
    for (uint32_t r = 0; r < params->config.rows; r++)
        params->config.column_active[r] = active[params->config.column * params->config.rows + r];
    return status;
}

/* Assigns offsets in the heaps. */
static void reserve_heap(struct hw_gpu_engine *engine)
{
    struct hw_scan2d_grid_state *state = engine->state;
    const struct hw_scan2d_grid_params *params = &state->params;
    const hw_count block = params->config.block;
    const hw_count set = params->config.exchange == HW_EXCHANGE_LIST ? 4 * block : block / 8;
    hw_count at = hw_allgather_heap_bytes(engine->ctx->size);

    state->heap.single_cta = at;
    at += hw_allgather_heap_bytes(engine->ctx->size);
    state->heap.predecessor = (at + 255) / 256 * 256;
    at = state->heap.predecessor + (hw_count)params->config.columns * block * 4;
    state->heap.visited = (at + 255) / 256 * 256;
    at = state->heap.visited + (hw_count)params->config.columns * block / 8;
    state->outbox.fold = hw_outbox_reserve(&engine->transport, set, &at);
    for (int half = 0; half < 2; half++)
        state->outbox.expand[half] = hw_outbox_reserve(&engine->transport, set, &at);
    if (!hw_scan2d_grid_is_peer(engine))
        state->outbox.replies = hw_outbox_reserve(&engine->transport, 4 * block, &at);
    if (engine->options.canonical_parents) {
        state->heap.canonical = (at + 255) / 256 * 256;
        at = state->heap.canonical + hw_scan2d_canonical_bytes(params);
    }
    engine->heap_bytes = at;
}

static void plan_arrays(struct hw_gpu_engine *engine)
{
    struct hw_scan2d_grid_state *state = engine->state;
    struct hw_gpu_arrays *arrays = &engine->arrays;
    struct hw_scan2d_grid_params *params = &state->params;
    const hw_count block = params->config.block, rows = params->config.rows * block,
                   columns = params->config.columns * block;
    const hw_count count = engine->part->own.count;
    const size_t width = params->config.offsets64 ? sizeof(uint64_t) : sizeof(uint32_t);

    hw_gpu_add(arrays, &params->by_column.offset, rows + 1, width);
    if (!hw_device_csr(engine->part))
        hw_gpu_add(arrays, &params->by_column.neighbor, state->edges,
                   sizeof *params->by_column.neighbor);
    hw_gpu_add(arrays, &params->list_tails, rows, 4 * sizeof *params->by_column.neighbor);
    hw_gpu_add(arrays, &params->search.visited_before, columns / 32,
               sizeof *params->search.visited_before);
    hw_gpu_add(arrays, &params->search.discovered_by, columns / 32,
               sizeof *params->search.discovered_by);
    hw_gpu_add(arrays, &params->search.queue, rows, sizeof *params->search.queue);
    hw_gpu_add(arrays, &params->search.prefix, rows, width);
    hw_gpu_add(arrays, &params->search.shift, rows, width);
    hw_gpu_add(arrays, &params->search.parent, block, sizeof *params->search.parent);
    hw_gpu_add(arrays, &params->search.level, block, sizeof *params->search.level);
    hw_gpu_add(arrays, &params->search.control, 1, sizeof *params->search.control);
    if (engine->options.trace)
        hw_gpu_add(arrays, &params->trace.record, params->trace.capacity,
                   sizeof *params->trace.record);
    hw_gpu_add(arrays, &state->result.graph_id, engine->ctx->size * block,
               sizeof *state->result.graph_id);
    hw_gpu_add(arrays, &state->result.position, count, sizeof *state->result.position);
    hw_gpu_add(arrays, &state->result.parent_id, count, sizeof *state->result.parent_id);
    hw_gpu_add(arrays, &state->result.level, count, sizeof *state->result.level);
    hw_gpu_add(arrays, &state->flag, 1, sizeof *state->flag);
    hw_gpu_add(arrays, &state->single_cta_results, 3, sizeof *state->single_cta_results);
    if (params->variant.groups) {
        hw_gpu_add(arrays, &params->variant.grouped, columns, sizeof *params->variant.grouped);
        hw_gpu_add(arrays, &params->variant.own_grouped, 2, sizeof *params->variant.own_grouped);
    }
    if (params->variant.scatters)
        hw_gpu_add(arrays, &params->variant.map, columns, width);
}

/* Lists the additional arrays of bottom-up levels. */
static void plan_bottom_up_arrays(struct hw_gpu_engine *engine, struct hw_gpu_arrays *arrays)
{
    struct hw_scan2d_grid_state *state = engine->state;
    struct hw_scan2d_grid_params *params = &state->params;
    const hw_count rows = params->config.rows * (hw_count)params->config.block;
    const hw_count columns = params->config.columns * (hw_count)params->config.block;
    const size_t width = params->config.offsets64 ? sizeof(uint64_t) : sizeof(uint32_t);

    hw_gpu_add(arrays, &params->bottom_up.by_row.offset, columns + 1, width);
    hw_gpu_add(arrays, &params->bottom_up.by_row.neighbor, state->edges,
               sizeof *params->bottom_up.by_row.neighbor);
    hw_gpu_add(arrays, &params->bottom_up.list_heads, columns,
               4 * sizeof *params->bottom_up.by_row.neighbor);
    hw_gpu_add(arrays, &params->bottom_up.nonempty_rows, columns / 32,
               sizeof *params->bottom_up.nonempty_rows);
    hw_gpu_add(arrays, &params->bottom_up.frontier_bits, rows / 32,
               sizeof *params->bottom_up.frontier_bits);
}

/* Whether this rank has the memory for bottom-up levels, including transposing the lists, of which
 * none is longer than there are local columns. Collective. */
static enum hw_status has_memory(struct hw_gpu_engine *engine, int *memory, struct hw_error *err)
{
    const struct hw_scan2d_grid_state *state = engine->state;
    const hw_count columns = state->params.config.rows * (hw_count)state->params.config.block;
    const hw_count longest = columns < state->edges ? columns : state->edges;
    struct hw_gpu_arrays more = engine->arrays;
    const hw_count temporary = engine->heap_bytes + engine->temporary_bytes + TRANSPOSE_BYTES +
                               2 * longest * (hw_count)sizeof(uint64_t);
    hw_count left = 0, total = 0;
    int ranks = 1;
    enum hw_status status = hw_gpu_ranks_per_device(engine->ctx, &ranks, err);

    plan_bottom_up_arrays(engine, &more);
    if (status == HW_OK)
        status = hw_gpu_memory(&left, &total, err);
    /* An eighth is reserved for tree validation, which may allocate later. */
    *memory = status == HW_OK && hw_gpu_bytes(&more) + temporary <= (left - total / 8) / ranks;
    return status;
}

/* Decides whether levels may go bottom-up: with direction AUTO, if all ranks have the memory.
 * Collective; ranks agree. */
static enum hw_status plan_direction(struct hw_gpu_engine *engine, struct hw_error *err)
{
    struct hw_scan2d_grid_state *state = engine->state;
    struct hw_scan2d_grid_params *params = &state->params;
    const enum hw_direction direction =
        params->variant.scatters ? HW_DIRECTION_TOP_DOWN : hw_direction_of(&engine->options);
    int memory = direction == HW_DIRECTION_BOTTOM_UP;
    hw_count active = 0;
    enum hw_status status = HW_OK;

    if (direction == HW_DIRECTION_AUTO) {
        status = hw_agree(engine->ctx->world, has_memory(engine, &memory, err), err);
        if (status == HW_OK)
            status = hw_mpi(
                MPI_Allreduce(MPI_IN_PLACE, &memory, 1, MPI_INT, MPI_LAND, engine->ctx->world),
                "MPI_Allreduce", err);
    }
    for (uint32_t r = 0; r < params->config.rows; r++)
        active += params->config.column_active[r];
    if (direction == HW_DIRECTION_AUTO) {
        params->bottom_up.min_columns = (uint64_t)(active / BOTTOM_UP_COLUMNS + 1);
        params->bottom_up.min_edges = (uint64_t)(state->edges / BOTTOM_UP_EDGES + 1);
    }
    state->may_go_bottom_up = memory != 0;
    if (state->may_go_bottom_up)
        plan_bottom_up_arrays(engine, &engine->arrays);
    return status;
}

/* Where the options say that a search is to do what the paper does. */
static void plan_variant(const struct hw_engine_options *options,
                         struct hw_scan2d_grid_variant *variant)
{
    const struct hw_option_values *values = &options->values;

    variant->examines_visited =
        variant->scatters || !hw_option_number(values, &hw_option_skip_visited);
    variant->one_slice =
        variant->examines_visited || !hw_option_number(values, &hw_option_level_slices);
    variant->groups = !variant->scatters &&
                      hw_option_number(values, &hw_option_grouping) == HW_SCAN2D_GROUP_BY_ATOMICS;
}

enum hw_status hw_scan2d_grid_plan_scatter(struct hw_gpu_engine *engine, struct hw_error *err)
{
    struct hw_scan2d_grid_state *state = engine->state;

    HW_TRY(hw_frontier_queue_check_direction(engine, err));
    state->params.variant.scatters = true;
    return hw_scan2d_grid_plan(engine, err);
}

enum hw_status hw_scan2d_grid_plan(struct hw_gpu_engine *engine, struct hw_error *err)
{
    struct hw_scan2d_grid_state *state = engine->state;
    struct hw_scan2d_grid_params *params = &state->params;
    const struct hw_part *part = engine->part;
    const struct hw_engine_options *options = &engine->options;
    enum hw_status status = check(engine, err);

    if (status != HW_OK)
        return status;
    state->edges = part->grid.out.offset[part->grid.out.rows];
    params->config.rows = (uint32_t)part->spec.rows;
    params->config.columns = (uint32_t)part->spec.columns;
    params->config.row = (uint32_t)part->grid.row;
    params->config.column = (uint32_t)part->grid.column;
    plan_variant(options, &params->variant);
    params->config.exchange =
        (int)(params->variant.scatters ? HW_EXCHANGE_LIST : hw_exchange_of(options));
    params->config.edges_per_thread =
        (int)hw_option_number(&options->values, &hw_option_edges_per_thread);
    params->config.offsets64 = state->edges > (hw_count)UINT32_MAX;
    params->trace.capacity = hw_gpu_trace_capacity((hw_count)part->vertices);
    status = agree_on_blocks(engine, err);
    if (status != HW_OK)
        return status;
    reserve_heap(engine);
    plan_arrays(engine);
    if (!hw_scan2d_grid_is_peer(engine))
        status = hw_scan2d_fetch_params(state, &engine->arrays, err);
    status = hw_agree(engine->ctx->world, status, err);
    return status == HW_OK ? plan_direction(engine, err) : status;
}

/* ---- upload ---- */

/* Offsets of the columns in use, in the width that they have there. */
static enum hw_status upload_offsets(const struct hw_gpu_engine *engine, struct hw_error *err)
{
    const struct hw_scan2d_grid_state *state = engine->state;
    const struct hw_scan2d_grid_params *params = &state->params;
    const struct hw_part *part = engine->part;
    const hw_count count = (hw_count)params->config.rows * params->config.block + 1;
    const size_t width = params->config.offsets64 ? sizeof(uint64_t) : sizeof(uint32_t);
    char *offsets = NULL;
    enum hw_status status = hw_alloc(&offsets, count, width, "offsets", err);

    if (status != HW_OK)
        return status;
#pragma omp parallel for
    for (hw_count c = 0; c < count; c++) {
        const hw_count r = c / params->config.block, t = c % params->config.block;
        const hw_count in_block = t < part->grid.block ? t : part->grid.block;
        const hw_count from = r < params->config.rows
                                  ? part->grid.out.offset[r * part->grid.block + in_block]
                                  : state->edges;
        if (params->config.offsets64)
            ((uint64_t *)(void *)offsets)[c] = (uint64_t)from;
        else
            ((uint32_t *)(void *)offsets)[c] = (uint32_t)from;
    }
    status = hw_gpu_put((void *)(uintptr_t)params->by_column.offset, offsets, (size_t)count * width,
                        err);
    free(offsets);
    return status;
}

/* Uploads the lists, unless they are on the device already, renumbers their rows to the blocks in
 * use, and prepares tails and bottom-up lists. */
static enum hw_status upload_lists(struct hw_gpu_engine *engine, struct hw_error *err)
{
    struct hw_scan2d_grid_state *state = engine->state;
    struct hw_scan2d_grid_params *params = &state->params;
    const struct hw_part *part = engine->part;
    struct hw_device_csr *device_csr = hw_device_csr(part);
    const hw_lid block = device_csr ? device_csr->block : part->grid.block;
    enum hw_status status = upload_offsets(engine, err);

    if (device_csr)
        params->by_column.neighbor = device_csr->column;
    uint32_t *rows = (uint32_t *)(uintptr_t)params->by_column.neighbor;
    if (status == HW_OK && !device_csr && state->edges > 0)
        status = hw_gpu_put(rows, part->grid.out.index, (size_t)state->edges * sizeof *rows, err);
    if (status == HW_OK)
        status = hw_cuda(hw_scan2d_grid_launch_renumber(rows, (uint64_t)state->edges, block,
                                                        params->config.block),
                         "the kernel that renumbers rows", err);
    if (device_csr)
        device_csr->block = params->config.block;
    if (status == HW_OK)
        status = hw_scan2d_order(params, state->flag, err);
    if (status == HW_OK)
        status = hw_cuda(hw_scan2d_grid_launch_find_tails(params),
                         "the kernel that copies tails of lists", err);
    if (status == HW_OK && state->may_go_bottom_up)
        status = hw_scan2d_transpose(params, state->edges, state->flag, err);
    return status == HW_OK ? hw_gpu_put(state->result.position, part->own.by_graph_id,
                                        part->own.count * sizeof(uint32_t), err)
                           : status;
}

/* Gathers and uploads the graph ids of all packed ids. Collective; ranks agree. */
static enum hw_status upload_graph_ids(const struct hw_gpu_engine *engine, struct hw_error *err)
{
    const struct hw_scan2d_grid_state *state = engine->state;
    const struct hw_context *ctx = engine->ctx;
    const struct hw_part_vertices *own = &engine->part->own;
    const size_t block = state->params.config.block;
    uint32_t *id = NULL;
    enum hw_status status = hw_alloc(&id, (hw_count)block * ctx->size, sizeof *id, "ids", err);

    if (status == HW_OK)
        for (size_t t = 0; t < block; t++)
            id[(size_t)ctx->rank * block + t] =
                t < own->count ? (uint32_t)own->graph_id[t] : HW_INVALID_VERTEX;
    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK)
        status = hw_mpi(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, id, (int)block,
                                      MPI_UINT32_T, ctx->world),
                        "MPI_Allgather", err);
    if (status == HW_OK)
        status =
            hw_gpu_put(state->result.graph_id, id, block * (size_t)ctx->size * sizeof *id, err);
    free(id);
    return hw_agree(ctx->world, status, err);
}

/* Sets the pointers into the heaps. */
static void set_heap_pointers(struct hw_gpu_engine *engine)
{
    struct hw_scan2d_grid_state *state = engine->state;
    struct hw_transport *transport = &engine->transport;
    struct hw_scan2d_grid_params *params = &state->params;
    const int rank = engine->ctx->rank;

    params->search.predecessor =
        (uint32_t *)(void *)(transport->heap[rank] + state->heap.predecessor);
    params->search.visited = (uint32_t *)(void *)(transport->heap[rank] + state->heap.visited);
    for (uint32_t m = 0; m < params->config.columns; m++) {
        const int q = (int)(m * params->config.rows + params->config.row);
        params->buffers.fold_send[m] = hw_outbox_send_buffer(transport, &state->outbox.fold, q);
        params->buffers.fold_recv[m] = hw_outbox_recv_buffer(transport, &state->outbox.fold, q);
        params->buffers.peer_predecessor[m] =
            hw_scan2d_grid_is_peer(engine)
                ? (uint32_t *)(void *)(transport->heap[q] + state->heap.predecessor)
                : hw_outbox_recv_buffer(transport, &state->outbox.replies, q);
        if (hw_scan2d_grid_is_peer(engine) && m != params->config.column)
            params->search.peer_visited[m] =
                (uint32_t *)(void *)(transport->heap[q] + state->heap.visited) +
                (size_t)m * (params->config.block / 32);
    }
    for (int half = 0; half < 2; half++)
        for (uint32_t r = 0; r < params->config.rows; r++) {
            const int q = (int)(params->config.column * params->config.rows + r);
            params->buffers.expand_recv[half][r] =
                hw_outbox_recv_buffer(transport, &state->outbox.expand[half], q);
            params->buffers.expand_send[half][r] =
                hw_outbox_send_buffer(transport, &state->outbox.expand[half], q);
            if (q == rank) /* the own set is not sent, whatever the transport */
                params->buffers.expand_send[half][r] =
                    (uint32_t *)(uintptr_t)params->buffers.expand_recv[half][r];
        }
    params->buffers.reply_begin = hw_scan2d_grid_is_peer(engine) ? NULL : state->request.begin;
}

/* ---- opening ---- */

/* Posts the receives of the first level. Collective; ranks agree. */
static enum hw_status open_preposted(struct hw_gpu_engine *engine, struct hw_error *err)
{
    struct hw_scan2d_grid_state *state = engine->state;
    const struct hw_transport *transport = &engine->transport;
    const struct hw_scan2d_grid_params *params = &state->params;
    int row[HW_SCAN2D_GRID_MAX_SIDE], column[HW_SCAN2D_GRID_MAX_SIDE], in_row = 0, in_column = 0;

    for (uint32_t m = 0; m < params->config.columns; m++)
        if (m != params->config.column)
            row[in_row++] = (int)(m * params->config.rows + params->config.row);
    for (uint32_t r = 0; r < params->config.rows; r++)
        if (r != params->config.row)
            column[in_column++] = (int)(params->config.column * params->config.rows + r);
    enum hw_status status = hw_preposted_recv_open(transport, &state->outbox.fold, row, in_row,
                                                   &state->preposted.fold, err);
    for (int half = 0; half < 2 && status == HW_OK; half++)
        status = hw_preposted_recv_open(transport, &state->outbox.expand[half], column, in_column,
                                        &state->preposted.expand[half], err);
    return status;
}

enum hw_status hw_scan2d_grid_open(struct hw_gpu_engine *engine, struct hw_error *err)
{
    struct hw_scan2d_grid_state *state = engine->state;
    const struct hw_context *ctx = engine->ctx;
    enum hw_status status = hw_allgather_open(&engine->transport, 0, &state->allgather, err);

    if (status == HW_OK)
        status = hw_allgather_open(&engine->transport, state->heap.single_cta,
                                   &state->single_cta_allgather, err);
    memcpy(state->single_cta_allgather.params.failed, state->allgather.params.failed,
           sizeof state->single_cta_allgather.params.failed);
    if (status == HW_OK)
        status =
            hw_gpu_fill(state->single_cta_results, 0, 3 * sizeof *state->single_cta_results, err);

    engine->tree_cache.view =
        (struct hw_result_view){.parent = state->result.parent_id, .values = state->result.level};
    set_heap_pointers(engine);
    if (status == HW_OK)
        status = upload_lists(engine, err);
    if (status == HW_OK)
        status = hw_cuda(hw_scan2d_grid_launch_shape(&state->params, &state->shape),
                         engine->method->descriptor->name, err);
    if (status == HW_OK && engine->options.trace && !hw_scan2d_grid_is_peer(engine))
        status = hw_alloc(&state->internode, state->params.trace.capacity, sizeof *state->internode,
                          "the steps", err);
    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK)
        status = upload_graph_ids(engine, err);
    if (status == HW_OK && hw_scan2d_grid_uses_preposted_recv(engine))
        status = open_preposted(engine, err);
    state->root.packed_id = state->root.position = HW_INVALID_VERTEX;
    return status == HW_OK ? hw_gpu_run_first_search(engine, err) : status;
}
