/* Method `scan2d` on a grid of GPUs: its host side. The kernels are in
 * gpu/bfs/grid2d/scan2d_grid_kernel.cu, what goes through the hosts in
 * gpu/bfs/grid2d/scan2d_fetch_parents.c. */
#include "gpu/bfs/grid2d/scan2d_grid_host.h"

#include "gpu/device/memory_kernels.h"
#include "gpu/engine/gpu_methods.h"
#include "gpu/engine/parents_on_host.h"
#include "gpu/engine/result_kernels.h"
#include "gpu/graph/build/csr_builder.h"
#include "gpu/validate/device_validate.h"
#include "lib/base/memory.h"

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rows of steps that the device keeps at most; later steps add to the last one. */
#define ROWS ((hw_count)1 << 20)

/* The most vertices and edges of a level that one block does. */
#define FEW UINT32_C(16384)

/* A level goes bottom-up where its frontier has one in so many local columns, or one in so many
 * stored edges leads out of it. */
#define UP_COLUMNS 16
#define UP_EDGES 16

/* Bytes that turning lists and sorting them takes for a while, but for two keys for each entry of
 * the longest one. */
#define TURNING ((hw_count)256 << 20)

static bool is_peer(const struct hw_multi_gpu_engine *engine)
{
    return engine->transport.kind == HW_TRANSPORT_PEER;
}

/* ---- kernel 1 ---- */

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

    if (!is_peer(engine) || engine->options.exchange == HW_EXCHANGE_BITMAP ||
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
    if (!is_peer(engine))
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
    const hw_count beside =
        engine->heap_bytes + engine->beside + TURNING + 2 * longest * (hw_count)sizeof(uint64_t);
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

static enum hw_status plan(struct hw_multi_gpu_engine *engine, struct hw_error *err)
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
    own->step_capacity = (uint32_t)(levels < ROWS ? levels : ROWS);
    status = agree_on_blocks(engine, err);
    if (status != HW_OK)
        return status;
    lay_heap(engine);
    plan_arrays(engine);
    if (!is_peer(engine))
        status = hw_scan2d_fetch_params(state, &engine->arrays, err);
    status = hw_agree(engine->ctx->world, status, err);
    return status == HW_OK ? plan_direction(engine, err) : status;
}

/* ---- filling ---- */

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
        own->known[m] = is_peer(engine) ? (uint32_t *)(void *)(transport->heap[q] + state->pred_at)
                                        : hw_outbox_recv_buffer(transport, &state->answers, q);
        if (is_peer(engine) && m != own->column)
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
    own->answer_base = is_peer(engine) ? NULL : state->base;
}

/* ---- levels ---- */

/* Bytes of the sets that went to, or came from, the parts of this row or column. count: by
 * part. */
static hw_count set_bytes(const struct hw_scan2d_grid_params *own, uint32_t active, uint64_t count)
{
    const bool bitmap = hw_scan2d_grid_as_bitmap(own->exchange, active, count);

    /* Whole boxes: what was asked for at the end of a search before may lie behind what has
     * edges here, since blocks of a row differ by one there. */
    return count == 0 ? 0 : bitmap ? (hw_count)own->block / 8 : 4 * (hw_count)count;
}

/* Whether mail goes by post: over mpi, but for nodes of several ranks. */
static bool posts(const struct hw_multi_gpu_engine *engine)
{
    return engine->transport.kind == HW_TRANSPORT_MPI &&
           !hw_transport_is_node_aware(&engine->transport);
}

/* Begins the counts of what goes to other nodes in the level after this one, for its frontier
 * goes before it; and in the first one. Local. */
static void begin_crossed(struct hw_scan2d_grid_state *state, uint32_t depth)
{
    if (state->crossed && depth == 0)
        state->crossed[0] = (struct hw_internode_traffic){0, 0};
    if (state->crossed && depth + 1 < state->plan.step_capacity)
        state->crossed[depth + 1] = (struct hw_internode_traffic){0, 0};
}

/* Counts what a level has sent to other nodes. Local. */
static void count_crossed(struct hw_multi_gpu_engine *engine, uint32_t depth, const hw_count *sent)
{
    struct hw_scan2d_grid_state *state = engine->state;
    const struct hw_nodes *nodes = &engine->transport.nodes;
    const uint32_t last = state->plan.step_capacity - 1;
    struct hw_internode_traffic crossed = hw_transport_internode_traffic(&engine->transport);

    if (!state->crossed)
        return;
    for (int q = 0; q < engine->ctx->size && posts(engine); q++) {
        const bool crosses = nodes->node[q] != nodes->node[engine->ctx->rank] && sent[q] > 0;
        crossed.bytes += crosses ? sent[q] : 0;
        crossed.messages += crosses;
    }
    struct hw_internode_traffic *level = &state->crossed[depth < last ? depth : last];
    level->bytes += crossed.bytes;
    level->messages += crossed.messages;
}

/* Moves what was packed for the owners. Collective; ranks agree. */
static enum hw_status deliver_fold(struct hw_multi_gpu_engine *engine, uint32_t depth,
                                   const struct hw_allgather_result *told, struct hw_error *err)
{
    struct hw_scan2d_grid_state *state = engine->state;
    const struct hw_scan2d_grid_params *own = &state->plan;
    const int rank = engine->ctx->rank;
    hw_count sent[HW_ALLGATHER_RANKS] = {0}, came[HW_ALLGATHER_RANKS] = {0};

    for (uint32_t m = 0; m < own->columns; m++) {
        const int q = (int)(m * own->rows + own->row);
        if (m == own->column)
            continue;
        sent[q] = set_bytes(own, own->row_active[m], told->by_rank[rank][m]);
        came[q] = set_bytes(own, own->row_active[own->column], told->by_rank[q][own->column]);
    }
    enum hw_status status =
        posts(engine) ? hw_preposted_recv_deliver(&state->fold_post, sent, came, err)
                      : hw_outbox_deliver(&engine->transport, &state->fold, sent, came, err);
    count_crossed(engine, depth, sent);
    return status;
}

/* Moves the next frontier. Collective; ranks agree. */
static enum hw_status deliver_expand(struct hw_multi_gpu_engine *engine, uint32_t depth,
                                     const struct hw_allgather_result *told, struct hw_error *err)
{
    struct hw_scan2d_grid_state *state = engine->state;
    const struct hw_scan2d_grid_params *own = &state->plan;
    const int rank = engine->ctx->rank;
    hw_count sent[HW_ALLGATHER_RANKS] = {0}, came[HW_ALLGATHER_RANKS] = {0};

    for (uint32_t r = 0; r < own->rows; r++) {
        const int q = (int)(own->column * own->rows + r);
        if (q == rank)
            continue;
        sent[q] = set_bytes(own, own->column_active[own->row], told->by_rank[rank][0]);
        came[q] = set_bytes(own, own->column_active[r], told->by_rank[q][0]);
    }
    const uint32_t half = (depth + 1) & 1;
    enum hw_status status =
        posts(engine)
            ? hw_preposted_recv_deliver(&state->expand_post[half], sent, came, err)
            : hw_outbox_broadcast(&engine->transport, &state->expand[half], sent, came, err);
    count_crossed(engine, depth + 1, sent);
    return status;
}

/* Frontier expansion and fold exchange of a level. A failure here or before is told to all,
 * here or in the update. */
static enum hw_status expand(struct hw_multi_gpu_engine *engine, uint32_t depth,
                             enum hw_status status, const struct hw_allgather_result **told,
                             struct hw_error *err)
{
    struct hw_scan2d_grid_state *state = engine->state;
    const struct hw_allgather_result *heard = NULL;

    begin_crossed(state, depth);
    if (status == HW_OK && state->plan.few > 0)
        status = hw_cuda(hw_scan2d_grid_launch_single_cta(&state->plan, state->root, *told,
                                                          &state->few.params, state->few_told),
                         "the kernel of levels of few edges", err);
    if (status == HW_OK)
        status =
            hw_cuda(hw_scan2d_grid_launch_expand(&state->plan, &state->shape, state->root, *told),
                    "the kernel that expands the frontier", err);
    if (state->plan.columns == 1)
        return status;
    status = hw_allgather_start(&state->round, status, (uint64_t *)state->plan.control->fresh,
                                (int)state->plan.columns, 0, NULL, err);
    *told = hw_allgather_device(&state->round);
    if (status != HW_OK || is_peer(engine))
        return status;
    status = hw_allgather_wait(&state->round, &heard, err);
    return status == HW_OK ? deliver_fold(engine, depth, heard, err) : status;
}

/* Frontier update and expand exchange. A failure here or before is told to all. */
static enum hw_status update(struct hw_multi_gpu_engine *engine, uint32_t depth,
                             enum hw_status status, const struct hw_allgather_result **told,
                             struct hw_error *err)
{
    struct hw_scan2d_grid_state *state = engine->state;
    const struct hw_allgather_result *heard = NULL;

    if (status == HW_OK)
        status = hw_cuda(hw_scan2d_grid_launch_update(&state->plan, &state->shape, *told),
                         "the kernel that updates the frontier", err);
    status = hw_allgather_start(&state->round, status, (uint64_t *)&state->plan.control->found, 1,
                                0, NULL, err);
    *told = hw_allgather_device(&state->round);
    if (status != HW_OK || is_peer(engine))
        return status;
    status = hw_allgather_wait(&state->round, &heard, err);
    if (status != HW_OK || heard->reduced[0] == 0) /* the same on all ranks */
        return status;
    return deliver_expand(engine, depth, heard, err);
}

/* Waits for the round at the end of a level: *found, the frontier of the next one. */
static enum hw_status hear(struct hw_scan2d_grid_state *state, uint32_t number, uint64_t *found,
                           struct hw_error *err)
{
    const struct hw_allgather_result *heard = NULL;
    enum hw_status status = hw_allgather_wait_for(&state->round, number, &heard, err);

    *found = status == HW_OK ? heard->reduced[0] : 0;
    return status;
}

/* All levels; over peer one pass may do several. There the host launches a pass ahead of the one
 * whose end it knows, unless so few vertices are left that this one is likely to be the last; what
 * comes after the last one does nothing. */
static enum hw_status search_levels(struct hw_multi_gpu_engine *engine, struct hw_error *err)
{
    struct hw_scan2d_grid_state *state = engine->state;
    struct hw_allgather *round = &state->round;
    const struct hw_allgather_result *told = state->few_told + 2;
    uint32_t last = 0; /* the number of the round at the end of the pass before */
    uint64_t found = 1;
    enum hw_status status = hw_cuda(hw_scan2d_grid_launch_begin(&state->plan, state->root),
                                    "the kernel that begins", err);

    for (uint32_t depth = 0; found > 0; depth++) {
        status = expand(engine, depth, status, &told, err);
        status = update(engine, depth, status, &told, err);
        const uint32_t look = is_peer(engine) ? last : round->number;
        last = round->number;
        if (status == HW_OK && look > 0)
            status = hear(state, look, &found, err);
        if (status == HW_OK && look > 0 && look < last && found > 0 && found <= state->plan.few)
            status = hear(state, last, &found, err);
        if (status != HW_OK)
            return status;
    }
    return HW_OK;
}

static enum hw_status search(struct hw_multi_gpu_engine *engine, struct hw_error *err)
{
    struct hw_scan2d_grid_state *state = engine->state;
    enum hw_status status = search_levels(engine, err);

    if (status == HW_OK && !is_peer(engine) && state->plan.columns > 1)
        status = hw_scan2d_fetch(engine, err);
    return status == HW_OK ? hw_cuda(hw_scan2d_grid_launch_resolve(&state->plan),
                                     "the kernel of predecessors", err)
                           : status;
}

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

static enum hw_status open_search(struct hw_multi_gpu_engine *engine, struct hw_error *err)
{
    struct hw_scan2d_grid_state *state = engine->state;
    const struct hw_context *ctx = engine->ctx;
    enum hw_status status = hw_allgather_open(&engine->transport, 0, &state->round, err);

    if (status == HW_OK)
        status = hw_allgather_open(&engine->transport, state->few_at, &state->few, err);
    memcpy(state->few.params.failed, state->round.params.failed, sizeof state->few.params.failed);
    if (status == HW_OK)
        status = hw_gpu_fill(state->few_told, 0, 3 * sizeof *state->few_told, err);

    engine->found = (struct hw_result_view){.parent = state->parent_id, .values = state->level};
    find_heaps(engine);
    if (status == HW_OK)
        status = put_lists(engine, err);
    if (status == HW_OK)
        status = hw_cuda(hw_scan2d_grid_launch_shape(&state->plan, &state->shape),
                         engine->method->name, err);
    if (status == HW_OK && engine->options.steps && !is_peer(engine))
        status = hw_alloc(&state->crossed, state->plan.step_capacity, sizeof *state->crossed,
                          "the steps", err);
    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK)
        status = put_ids(engine, err);
    if (status == HW_OK && posts(engine))
        status = open_posts(engine, err);
    /* The first launch of a kernel loads it: outside any clock. */
    state->root = state->root_at = HW_INVALID_VERTEX;
    if (status == HW_OK)
        status = search(engine, err);
    return status == HW_OK ? hw_cuda((int)cudaDeviceSynchronize(), engine->method->name, err)
                           : status;
}

static void close_search(struct hw_multi_gpu_engine *engine)
{
    struct hw_scan2d_grid_state *state = engine->state;

    hw_preposted_recv_close(&state->fold_post);
    for (int half = 0; half < 2; half++)
        hw_preposted_recv_close(&state->expand_post[half]);
    hw_allgather_close(&state->round);
    hw_allgather_close(&state->few);
    cudaFreeHost(state->staging);
    free(state->crossed);
}

/* ---- searching ---- */

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
    state->root = position < state->plan.block ? (uint32_t)owner * state->plan.block + position
                                               : HW_INVALID_VERTEX;
    state->root_at = mine ? position : HW_INVALID_VERTEX;
    state->root_id = mine ? (uint32_t)part->own.graph_id[position] : 0;
    return HW_OK;
}

/* Reads a word of each page that a search may reach (gpu/bfs/direction_optimizing/peer_bfs_host.c
 * says why), and drops what the caches hold. */
static enum hw_status poison(struct hw_multi_gpu_engine *engine, struct hw_error *err)
{
    const struct hw_scan2d_grid_state *state = engine->state;
    const struct hw_scan2d_grid_params *own = &state->plan;
    const size_t block = own->block, count = engine->part->own.count;
    int code = 0;
    enum hw_status status = hw_gpu_fill(own->parent, 0xab, block * sizeof *own->parent, err);

    if (status == HW_OK)
        status = hw_gpu_fill(own->level, 0xab, block * sizeof *own->level, err);
    if (status == HW_OK)
        status = hw_gpu_fill(state->parent_id, 0xab, count * sizeof *state->parent_id, err);
    for (int a = 0; a < engine->arrays.count && code == 0; a++) {
        void *memory;
        memcpy(&memory, engine->arrays.of[a].out, sizeof memory);
        code = hw_gpu_launch_warm_tlb(memory, (uint64_t)engine->arrays.of[a].bytes, state->never);
    }
    for (int q = 0; q < engine->ctx->size && code == 0; q++)
        if (is_peer(engine) || q == engine->ctx->rank)
            code = hw_gpu_launch_warm_tlb(engine->transport.heap[q],
                                          (uint64_t)engine->transport.heap_bytes, state->never);
    if (code == 0 && state->edges > 0)
        code = hw_gpu_launch_flush_caches(own->lists.rank, (uint64_t)state->edges, state->never);
    return status == HW_OK ? hw_cuda(code, "the kernel that warms the TLB", err) : status;
}

static enum hw_status translate(struct hw_multi_gpu_engine *engine, struct hw_error *err)
{
    struct hw_scan2d_grid_state *state = engine->state;

    if (engine->options.canonical_parents)
        return hw_scan2d_canonical(engine, err);
    return hw_cuda(hw_scan2d_grid_launch_parents(&state->plan, state->position,
                                                 engine->part->own.count, state->gid,
                                                 state->root_at, state->root_id, state->parent_id),
                   "the kernel that translates parents", err);
}

/* Whether it went wrong is known already. */
static enum hw_status verdict(struct hw_multi_gpu_engine *engine, struct hw_error *err)
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
        hw_cuda(hw_scan2d_grid_launch_levels(&state->plan, state->position, (uint32_t)n,
                                             state->root_at, state->level),
                "the kernel that writes levels", err);

    if (status != HW_OK || !result->parent)
        return status;
    status = hw_gpu_get_parents(&state->staging, state->parent_id, n, result->parent, err);
    if (status != HW_OK)
        return status;
    return hw_gpu_get(result->level, state->level, n * sizeof *result->level, err);
}

/* One row of the last search, and when the one before it ended. */
static void fill_step(const struct hw_scan2d_grid_row *row, uint64_t before, struct hw_step *step)
{
    static const char *const forms[] = {"", " list", " bitmap", " list+bitmap"};
    const uint64_t *time = row->time;

    step->direction =
        row->forms & HW_SCAN2D_GRID_UP ? HW_DIRECTION_BOTTOM_UP : HW_DIRECTION_TOP_DOWN;
    snprintf(step->routine, sizeof step->routine, "scan2d%s", forms[row->forms & 3]);
    step->frontier = (hw_count)row->frontier;
    step->found = (hw_count)row->found;
    step->edges_examined = (hw_count)row->edges;
    step->bytes_sent = (hw_count)row->bytes;
    step->messages_sent = (hw_count)row->messages;
    step->seconds[HW_PHASE_EXPAND_EXCHANGE] =
        before ? 1e-9 * (double)(time[HW_SCAN2D_GRID_BEGUN] - before) : 0;
    step->seconds[HW_PHASE_EXPANSION] =
        1e-9 * (double)(time[HW_SCAN2D_GRID_EXPANDED] - time[HW_SCAN2D_GRID_BEGUN]);
    step->seconds[HW_PHASE_FOLD_EXCHANGE] =
        1e-9 * (double)(time[HW_SCAN2D_GRID_FOLDED] - time[HW_SCAN2D_GRID_EXPANDED]);
    step->seconds[HW_PHASE_UPDATE] =
        1e-9 * (double)(time[HW_SCAN2D_GRID_UPDATED] - time[HW_SCAN2D_GRID_FOLDED]);
}

static enum hw_status steps(struct hw_multi_gpu_engine *engine, struct hw_result *result,
                            struct hw_error *err)
{
    const struct hw_scan2d_grid_state *state = engine->state;
    const struct hw_scan2d_grid_params *own = &state->plan;
    struct hw_scan2d_grid_control control;
    struct hw_scan2d_grid_row *kept = NULL;
    hw_count count = 0;
    enum hw_status status = hw_gpu_get(&control, own->control, sizeof control, err);

    if (status == HW_OK) {
        count = control.rows < own->step_capacity ? (hw_count)control.rows : own->step_capacity;
        status = hw_alloc(&kept, count, sizeof *kept, "the steps", err);
    }
    if (status == HW_OK && count > 0)
        status = hw_gpu_get(kept, own->step, (size_t)count * sizeof *kept, err);
    for (hw_count r = 0; r < count && status == HW_OK; r++) {
        struct hw_step *step = hw_steps_add(&result->steps);
        if (!step) {
            status = hw_fail(err, HW_RESOURCES, "no memory for the measurements of the steps");
            break;
        }
        fill_step(&kept[r], r > 0 ? kept[r - 1].time[HW_SCAN2D_GRID_UPDATED] : 0, step);
        if (state->crossed) {
            step->bytes_between = state->crossed[r].bytes;
            step->messages_between = state->crossed[r].messages;
        }
    }
    free(kept);
    return status;
}

static const struct hw_multi_gpu_search scan = {.state_bytes = sizeof(struct hw_scan2d_grid_state),
                                                .plan = plan,
                                                .open = open_search,
                                                .poison = poison,
                                                .root = find_root,
                                                .search = search,
                                                .translate = translate,
                                                .verdict = verdict,
                                                .deliver = deliver,
                                                .steps = steps,
                                                .close = close_search};

/* Ids of all vertices, offsets and what is brought back. */
static hw_count bytes(const struct hw_part *part, const struct hw_engine_options *options)
{
    const hw_count lists = (hw_count)part->grid.block * part->spec.rows + 1;

    (void)options;
    return (hw_count)part->vertices * (hw_count)sizeof(uint32_t) +
           lists * (hw_count)sizeof(uint64_t) + part->own.count * (hw_count)sizeof(uint32_t);
}

const struct hw_method hw_method_scan2d_parts = {.name = "scan2d",
                                                 .frame = &hw_multi_gpu_frame,
                                                 .algorithm = HW_BFS,
                                                 .grid = true,
                                                 .several_parts_only = true,
                                                 .builds_any = true,
                                                 .bytes = bytes,
                                                 .build = hw_gpu_parts_keep,
                                                 .own = &scan};
