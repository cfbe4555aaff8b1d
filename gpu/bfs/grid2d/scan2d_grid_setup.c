/*
 * Method `scan2d` on a grid of GPUs: setup. Sizes of blocks and heaps, arrays on the device, upload
 * of the local matrix, and the communication that searches use.
 */
#include "gpu/bfs/grid2d/scan2d_grid_host.h"

#include "gpu/graph/build/csr_builder.h"
#include "lib/base/memory.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>

/* The most vertices and edges of a level that one block does. */
#define FEW UINT32_C(16384)

/* A level goes bottom-up where its frontier has one in so many local columns, or one in so many
 * stored edges leads out of it. */
#define UP_COLUMNS 16
#define UP_EDGES 16

/* Bytes that turning lists and sorting them takes for a while, but for two keys for each entry of
 * the longest one. */
#define TURNING ((hw_count)256 << 20)

/* ---- sizes and arrays ---- */

/* Refuses what it does not do; the same on all ranks. */
static enum hw_status check(const struct hw_multi_gpu_engine *engine, struct hw_error *err)
{
    const struct hw_part *part = engine->part;
    const struct hw_layout_spec *spec = &part->spec;

    if (spec->rows > HW_SCAN2D_GRID_LINE || spec->columns > HW_SCAN2D_GRID_LINE ||
        spec->parts > HW_ALLGATHER_RANKS)
        return hw_fail(err, HW_BAD_INPUT,
                       "method scan2d does up to %d parts on GPUs, %d in a row or a column, not "
                       "%dx%d",
                       HW_ALLGATHER_RANKS, HW_SCAN2D_GRID_LINE, spec->rows, spec->columns);
    if (((hw_count)part->grid.block + HW_SCAN2D_GRID_GRAIN) * spec->parts >=
        (hw_count)HW_INVALID_VERTEX)
        return hw_fail(err, HW_BAD_INPUT, "method scan2d numbers vertices with 32 bits");
    return HW_OK;
}

/* Raises active[b], for the blocks b of this grid column, to the position after the last one
 * with a list. active: [parts]. */
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

/* The most vertices and edges of a level that one block does: so few that all sets that it sends
 * are lists. active: [parts]. The same on all ranks. */
static uint32_t find_few(const struct hw_multi_gpu_engine *engine, const uint32_t *active)
{
    const struct hw_part *part = engine->part;
    uint32_t few = FEW;

    if (!hw_scan2d_grid_is_peer(engine) || engine->options.exchange == HW_EXCHANGE_BITMAP ||
        engine->options.direction == HW_DIRECTION_BOTTOM_UP)
        return 0;
    for (int b = 0; b < part->spec.parts; b++) {
        const uint32_t most = active[b] / 32 / (uint32_t)part->spec.columns;
        few = most < few ? most : few;
    }
    return few;
}

/* How far the positions of all blocks are in use. Collective. */
static enum hw_status agree_on_blocks(struct hw_multi_gpu_engine *engine, struct hw_error *err)
{
    struct hw_scan2d_grid_state *state = engine->state;
    struct hw_scan2d_grid_params *own = &state->plan;
    const struct hw_part *part = engine->part;
    uint32_t active[HW_ALLGATHER_RANKS] = {0};
    uint32_t most = 1;

    find_active(part, &part->grid.out, active);
    if (part->directed)
        find_active(part, &part->grid.in, active);
    enum hw_status status = hw_mpi(MPI_Allreduce(MPI_IN_PLACE, active, part->spec.parts,
                                                 MPI_UINT32_T, MPI_MAX, engine->ctx->world),
                                   "MPI_Allreduce", err);
    for (int b = 0; b < part->spec.parts; b++)
        most = active[b] > most ? active[b] : most;
    own->block = (most + HW_SCAN2D_GRID_GRAIN - 1) / HW_SCAN2D_GRID_GRAIN * HW_SCAN2D_GRID_GRAIN;
    own->few = find_few(engine, active);
    for (uint32_t m = 0; m < own->columns; m++)
        own->row_active[m] = active[m * own->rows + own->row];
    for (uint32_t r = 0; r < own->rows; r++)
        own->column_active[r] = active[own->column * own->rows + r];
    return status;
}

/* Where things stand in the heaps. */
static void lay_heap(struct hw_multi_gpu_engine *engine)
{
    struct hw_scan2d_grid_state *state = engine->state;
    const struct hw_scan2d_grid_params *own = &state->plan;
    const hw_count block = own->block;
    const hw_count set = own->exchange == HW_EXCHANGE_LIST ? 4 * block : block / 8;
    hw_count at = hw_allgather_heap_bytes(engine->ctx->size);

    state->few_at = at;
    at += hw_allgather_heap_bytes(engine->ctx->size);
    state->pred_at = (at + 255) / 256 * 256;
    at = state->pred_at + (hw_count)own->columns * block * 4;
    state->seen_at = (at + 255) / 256 * 256;
    at = state->seen_at + (hw_count)own->columns * block / 8;
    state->fold = hw_outbox_reserve(&engine->transport, set, &at);
    for (int half = 0; half < 2; half++)
        state->expand[half] = hw_outbox_reserve(&engine->transport, set, &at);
    if (!hw_scan2d_grid_is_peer(engine))
        state->answers = hw_outbox_reserve(&engine->transport, 4 * block, &at);
    if (engine->options.canonical_parents) {
        state->canon_at = (at + 255) / 256 * 256;
        at = state->canon_at + hw_scan2d_canon_bytes(own);
    }
    engine->heap_bytes = at;
}

static void plan_arrays(struct hw_multi_gpu_engine *engine)
{
    struct hw_scan2d_grid_state *state = engine->state;
    struct hw_gpu_arrays *arrays = &engine->arrays;
    struct hw_scan2d_grid_params *own = &state->plan;
    const hw_count block = own->block, rows = own->rows * block, columns = own->columns * block;
    const hw_count count = engine->part->own.count;
    const size_t width = own->wide ? sizeof(uint64_t) : sizeof(uint32_t);

    hw_gpu_add(arrays, &own->lists.offset, rows + 1, width);
    if (!hw_device_csr(engine->part))
        hw_gpu_add(arrays, &own->lists.rank, state->edges, sizeof *own->lists.rank);
    hw_gpu_add(arrays, &own->ends, rows, 4 * sizeof *own->lists.rank);
    hw_gpu_add(arrays, &own->before, columns / 32, sizeof *own->before);
    hw_gpu_add(arrays, &own->from, columns / 32, sizeof *own->from);
    hw_gpu_add(arrays, &own->queue, rows, sizeof *own->queue);
    hw_gpu_add(arrays, &own->prefix, rows, width);
    hw_gpu_add(arrays, &own->shift, rows, width);
    hw_gpu_add(arrays, &own->parent, block, sizeof *own->parent);
    hw_gpu_add(arrays, &own->level, block, sizeof *own->level);
    hw_gpu_add(arrays, &own->control, 1, sizeof *own->control);
    if (engine->options.steps)
        hw_gpu_add(arrays, &own->step, own->step_capacity, sizeof *own->step);
    hw_gpu_add(arrays, &state->gid, engine->ctx->size * block, sizeof *state->gid);
    hw_gpu_add(arrays, &state->position, count, sizeof *state->position);
    hw_gpu_add(arrays, &state->parent_id, count, sizeof *state->parent_id);
    hw_gpu_add(arrays, &state->level, count, sizeof *state->level);
    hw_gpu_add(arrays, &state->never, 1, sizeof *state->never);
    hw_gpu_add(arrays, &state->few_told, 3, sizeof *state->few_told);
}

/* What levels bottom-up take on top of that. */
static void plan_ways(struct hw_multi_gpu_engine *engine, struct hw_gpu_arrays *arrays)
{
    struct hw_scan2d_grid_state *state = engine->state;
    struct hw_scan2d_grid_params *own = &state->plan;
    const hw_count rows = own->rows * (hw_count)own->block;
    const hw_count columns = own->columns * (hw_count)own->block;
    const size_t width = own->wide ? sizeof(uint64_t) : sizeof(uint32_t);

    hw_gpu_add(arrays, &own->by_row.offset, columns + 1, width);
    hw_gpu_add(arrays, &own->by_row.rank, state->edges, sizeof *own->by_row.rank);
    hw_gpu_add(arrays, &own->heads, columns, 4 * sizeof *own->by_row.rank);
    hw_gpu_add(arrays, &own->listed, columns / 32, sizeof *own->listed);
    hw_gpu_add(arrays, &own->front, rows / 32, sizeof *own->front);
}

/* Whether this rank has the memory for levels bottom-up, turning the lists included, of which none
 * is longer than there are local columns. Collective. */
static enum hw_status has_room(struct hw_multi_gpu_engine *engine, int *room, struct hw_error *err)
{
    const struct hw_scan2d_grid_state *state = engine->state;
    const hw_count columns = state->plan.rows * (hw_count)state->plan.block;
    const hw_count longest = columns < state->edges ? columns : state->edges;
    struct hw_gpu_arrays more = engine->arrays;
    const hw_count beside = engine->heap_bytes + engine->temporary_bytes + TURNING +
                            2 * longest * (hw_count)sizeof(uint64_t);
    hw_count left = 0, total = 0;
    int ranks = 1;
    enum hw_status status = hw_gpu_sharing(engine->ctx, &ranks, err);

    plan_ways(engine, &more);
    if (status == HW_OK)
        status = hw_gpu_memory(&left, &total, err);
    /* An eighth is left to what validates trees, and may come later. */
    *room = status == HW_OK && hw_gpu_bytes(&more) + beside <= (left - total / 8) / ranks;
    return status;
}

/* Whether levels may go bottom-up: where that is not asked for, if all ranks have the memory for
 * it. Collective; ranks agree. */
static enum hw_status plan_direction(struct hw_multi_gpu_engine *engine, struct hw_error *err)
{
    struct hw_scan2d_grid_state *state = engine->state;
    struct hw_scan2d_grid_params *own = &state->plan;
    const enum hw_direction direction = engine->options.direction;
    int room = direction == HW_DIRECTION_BOTTOM_UP;
    hw_count active = 0;
    enum hw_status status = HW_OK;

    if (direction == HW_DIRECTION_AUTO) {
        status = hw_agree(engine->ctx->world, has_room(engine, &room, err), err);
        if (status == HW_OK)
            status =
                hw_mpi(MPI_Allreduce(MPI_IN_PLACE, &room, 1, MPI_INT, MPI_LAND, engine->ctx->world),
                       "MPI_Allreduce", err);
    }
    for (uint32_t r = 0; r < own->rows; r++)
        active += own->column_active[r];
    if (direction == HW_DIRECTION_AUTO) {
        own->up_columns = (uint64_t)(active / UP_COLUMNS + 1);
        own->up_edges = (uint64_t)(state->edges / UP_EDGES + 1);
    }
    state->both_ways = room != 0;
    if (state->both_ways)
        plan_ways(engine, &engine->arrays);
    return status;
}

enum hw_status hw_scan2d_grid_plan(struct hw_multi_gpu_engine *engine, struct hw_error *err)
{
    struct hw_scan2d_grid_state *state = engine->state;
    struct hw_scan2d_grid_params *own = &state->plan;
    const struct hw_part *part = engine->part;
    const struct hw_engine_options *options = &engine->options;
    const hw_count levels = (hw_count)part->vertices + 2;
    enum hw_status status = check(engine, err);

    if (status != HW_OK)
        return status;
    state->edges = part->grid.out.offset[part->grid.out.rows];
    own->rows = (uint32_t)part->spec.rows;
    own->columns = (uint32_t)part->spec.columns;
    own->row = (uint32_t)part->grid.row;
    own->column = (uint32_t)part->grid.column;
    own->exchange = (int)options->exchange;
    own->edges_per_thread =
        options->edges_per_thread > 0 ? options->edges_per_thread : HW_EDGES_PER_THREAD;
    own->wide = state->edges > (hw_count)UINT32_MAX;
    own->step_capacity =
        (uint32_t)(levels < HW_SCAN2D_GRID_TRACE_CAPACITY ? levels : HW_SCAN2D_GRID_TRACE_CAPACITY);
    status = agree_on_blocks(engine, err);
    if (status != HW_OK)
        return status;
    lay_heap(engine);
    plan_arrays(engine);
    if (!hw_scan2d_grid_is_peer(engine))
        status = hw_scan2d_fetch_params(state, &engine->arrays, err);
    status = hw_agree(engine->ctx->world, status, err);
    return status == HW_OK ? plan_direction(engine, err) : status;
}

/* ---- upload ---- */

/* Offsets of the columns in use, in the width that they have there. */
static enum hw_status put_offsets(const struct hw_multi_gpu_engine *engine, struct hw_error *err)
{
    const struct hw_scan2d_grid_state *state = engine->state;
    const struct hw_scan2d_grid_params *own = &state->plan;
    const struct hw_part *part = engine->part;
    const hw_count count = (hw_count)own->rows * own->block + 1;
    const size_t width = own->wide ? sizeof(uint64_t) : sizeof(uint32_t);
    char *offsets = NULL;
    enum hw_status status = hw_alloc(&offsets, count, width, "offsets", err);

    if (status != HW_OK)
        return status;
#pragma omp parallel for
    for (hw_count c = 0; c < count; c++) {
        const hw_count r = c / own->block, t = c % own->block;
        const hw_count in_block = t < part->grid.block ? t : part->grid.block;
        const hw_count from =
            r < own->rows ? part->grid.out.offset[r * part->grid.block + in_block] : state->edges;
        if (own->wide)
            ((uint64_t *)(void *)offsets)[c] = (uint64_t)from;
        else
            ((uint32_t *)(void *)offsets)[c] = (uint32_t)from;
    }
    status = hw_gpu_put((void *)(uintptr_t)own->lists.offset, offsets, (size_t)count * width, err);
    free(offsets);
    return status;
}

/* The lists, if they are not there yet, in the numbering of rows that they have here. */
static enum hw_status put_lists(struct hw_multi_gpu_engine *engine, struct hw_error *err)
{
    struct hw_scan2d_grid_state *state = engine->state;
    struct hw_scan2d_grid_params *own = &state->plan;
    const struct hw_part *part = engine->part;
    struct hw_device_csr *kept = hw_device_csr(part);
    const hw_lid block = kept ? kept->block : part->grid.block;
    enum hw_status status = put_offsets(engine, err);

    if (kept)
        own->lists.rank = kept->column;
    uint32_t *rows = (uint32_t *)(uintptr_t)own->lists.rank;
    if (status == HW_OK && !kept && state->edges > 0)
        status = hw_gpu_put(rows, part->grid.out.index, (size_t)state->edges * sizeof *rows, err);
    if (status == HW_OK)
        status =
            hw_cuda(hw_scan2d_grid_launch_renumber(rows, (uint64_t)state->edges, block, own->block),
                    "the kernel that renumbers rows", err);
    if (kept)
        kept->block = own->block;
    if (status == HW_OK)
        status = hw_scan2d_order(own, state->never, err);
    if (status == HW_OK)
        status = hw_cuda(hw_scan2d_grid_launch_find_ends(own),
                         "the kernel that finds ends of lists", err);
    if (status == HW_OK && state->both_ways)
        status = hw_scan2d_transpose(own, state->edges, state->never, err);
    return status == HW_OK ? hw_gpu_put(state->position, part->own.by_graph_id,
                                        part->own.count * sizeof(uint32_t), err)
                           : status;
}

/* The graph ids of all codes. Collective; ranks agree. */
static enum hw_status put_ids(const struct hw_multi_gpu_engine *engine, struct hw_error *err)
{
    const struct hw_scan2d_grid_state *state = engine->state;
    const struct hw_context *ctx = engine->ctx;
    const struct hw_part_vertices *own = &engine->part->own;
    const size_t block = state->plan.block;
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
        status = hw_gpu_put(state->gid, id, block * (size_t)ctx->size * sizeof *id, err);
    free(id);
    return hw_agree(ctx->world, status, err);
}

/* Pointers into the heaps. */
static void find_heaps(struct hw_multi_gpu_engine *engine)
{
    struct hw_scan2d_grid_state *state = engine->state;
    struct hw_transport *transport = &engine->transport;
    struct hw_scan2d_grid_params *own = &state->plan;
    const int rank = engine->ctx->rank;

    own->pred = (uint32_t *)(void *)(transport->heap[rank] + state->pred_at);
    own->seen = (uint32_t *)(void *)(transport->heap[rank] + state->seen_at);
    for (uint32_t m = 0; m < own->columns; m++) {
        const int q = (int)(m * own->rows + own->row);
        own->fold_out[m] = hw_outbox_send_buffer(transport, &state->fold, q);
        own->fold_in[m] = hw_outbox_recv_buffer(transport, &state->fold, q);
        own->known[m] = hw_scan2d_grid_is_peer(engine)
                            ? (uint32_t *)(void *)(transport->heap[q] + state->pred_at)
                            : hw_outbox_recv_buffer(transport, &state->answers, q);
        if (hw_scan2d_grid_is_peer(engine) && m != own->column)
            own->theirs[m] = (uint32_t *)(void *)(transport->heap[q] + state->seen_at) +
                             (size_t)m * (own->block / 32);
    }
    for (int half = 0; half < 2; half++)
        for (uint32_t r = 0; r < own->rows; r++) {
            const int q = (int)(own->column * own->rows + r);
            own->expand_in[half][r] = hw_outbox_recv_buffer(transport, &state->expand[half], q);
            own->expand_out[half][r] = hw_outbox_send_buffer(transport, &state->expand[half], q);
            if (q == rank) /* to itself, whatever the transport */
                own->expand_out[half][r] = (uint32_t *)(uintptr_t)own->expand_in[half][r];
        }
    own->answer_base = hw_scan2d_grid_is_peer(engine) ? NULL : state->base;
}

/* ---- opening ---- */

/* Posts the receives of the first level. Collective; ranks agree. */
static enum hw_status open_posts(struct hw_multi_gpu_engine *engine, struct hw_error *err)
{
    struct hw_scan2d_grid_state *state = engine->state;
    const struct hw_transport *transport = &engine->transport;
    const struct hw_scan2d_grid_params *own = &state->plan;
    int row[HW_SCAN2D_GRID_LINE], column[HW_SCAN2D_GRID_LINE], in_row = 0, in_column = 0;

    for (uint32_t m = 0; m < own->columns; m++)
        if (m != own->column)
            row[in_row++] = (int)(m * own->rows + own->row);
    for (uint32_t r = 0; r < own->rows; r++)
        if (r != own->row)
            column[in_column++] = (int)(own->column * own->rows + r);
    enum hw_status status =
        hw_preposted_recv_open(transport, &state->fold, row, in_row, &state->fold_post, err);
    for (int half = 0; half < 2 && status == HW_OK; half++)
        status = hw_preposted_recv_open(transport, &state->expand[half], column, in_column,
                                        &state->expand_post[half], err);
    return status;
}

enum hw_status hw_scan2d_grid_open(struct hw_multi_gpu_engine *engine, struct hw_error *err)
{
    struct hw_scan2d_grid_state *state = engine->state;
    const struct hw_context *ctx = engine->ctx;
    enum hw_status status = hw_allgather_open(&engine->transport, 0, &state->round, err);

    if (status == HW_OK)
        status = hw_allgather_open(&engine->transport, state->few_at, &state->few, err);
    memcpy(state->few.params.failed, state->round.params.failed, sizeof state->few.params.failed);
    if (status == HW_OK)
        status = hw_gpu_fill(state->few_told, 0, 3 * sizeof *state->few_told, err);

    engine->tree_cache.view =
        (struct hw_result_view){.parent = state->parent_id, .values = state->level};
    find_heaps(engine);
    if (status == HW_OK)
        status = put_lists(engine, err);
    if (status == HW_OK)
        status = hw_cuda(hw_scan2d_grid_launch_shape(&state->plan, &state->shape),
                         engine->method->name, err);
    if (status == HW_OK && engine->options.steps && !hw_scan2d_grid_is_peer(engine))
        status = hw_alloc(&state->crossed, state->plan.step_capacity, sizeof *state->crossed,
                          "the steps", err);
    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK)
        status = put_ids(engine, err);
    if (status == HW_OK && hw_scan2d_grid_uses_preposted_recv(engine))
        status = open_posts(engine, err);
    /* The first launch of a kernel loads it: outside any clock. */
    state->root = state->root_at = HW_INVALID_VERTEX;
    if (status == HW_OK)
        status = hw_scan2d_grid_search(engine, err);
    return status == HW_OK ? hw_cuda((int)cudaDeviceSynchronize(), engine->method->name, err)
                           : status;
}
