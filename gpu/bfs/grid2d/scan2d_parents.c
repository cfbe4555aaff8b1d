/*
 * Method `scan2d` on a grid of GPUs: parents that need an exchange along the grid row.
 *
 * Where no peer memory is mapped, each part requests the predecessors of its vertices from the
 * parts that discovered them. A request is a bitmap over a block. The reply holds the predecessors
 * of the set positions in order, so that both sides know its length from the bitmap.
 *
 * Canonical parents: levels are gathered along rows and columns of the grid. Each part computes,
 * for each of its local rows, the smallest source one level up among its columns. The owners take
 * the minimum over the grid row.
 */
#include "gpu/bfs/grid2d/scan2d_grid_host.h"

#include <cuda_runtime_api.h>

/* ---- predecessors through the transport ---- */

static hw_count tiles(const struct hw_scan2d_grid_params *params)
{
    return (hw_count)params->config.columns * (params->config.block / HW_SCAN2D_GRID_BLOCK_ALIGN);
}

enum hw_status hw_scan2d_fetch_params(struct hw_scan2d_grid_state *state,
                                      struct hw_gpu_arrays *arrays, struct hw_error *err)
{
    const struct hw_scan2d_grid_params *params = &state->params;
    enum hw_status status =
        hw_cuda(hw_scan2d_grid_launch_count_sets(NULL, params->config.columns, params->config.block,
                                                 NULL, NULL, &state->request.scratch_bytes),
                "counting predecessors", err);

    hw_gpu_add(arrays, &state->request.begin, tiles(params) + 1, sizeof *state->request.begin);
    hw_gpu_add(arrays, &state->request.reply_begin, tiles(params) + 1,
               sizeof *state->request.reply_begin);
    hw_gpu_add(arrays, &state->request.scratch, (hw_count)state->request.scratch_bytes, 1);
    return status;
}

/* The rank of the part of this grid row in a grid column. */
static int part_at(const struct hw_scan2d_grid_params *params, uint32_t m)
{
    return (int)(m * params->config.rows + params->config.row);
}

/* Requests: the sets of own vertices that each part of the grid row discovered. Collective; ranks
 * agree. */
static enum hw_status send_requests(struct hw_gpu_engine *engine, struct hw_error *err)
{
    const struct hw_scan2d_grid_state *state = engine->state;
    const struct hw_scan2d_grid_params *params = &state->params;
    const hw_count bytes = (hw_count)params->config.block / 8;
    hw_count count[HW_ALLGATHER_RANKS] = {0};
    enum hw_status status = HW_OK;

    for (uint32_t m = 0; m < params->config.columns && status == HW_OK; m++) {
        if (m == params->config.column)
            continue;
        count[part_at(params, m)] = bytes;
        status = hw_cuda((int)cudaMemcpyAsync(params->buffers.fold_send[m],
                                              (char *)params->search.discovered_by + m * bytes,
                                              (size_t)bytes, cudaMemcpyDeviceToDevice, NULL),
                         "cudaMemcpyAsync", err);
    }
    status = hw_agree(engine->ctx->world, status, err);
    return status == HW_OK
               ? hw_outbox_deliver(&engine->transport, &state->outbox.fold, count, count, err)
               : status;
}

/* Counts the positions before each 1024 of the sets, and the bytes of replies. count: by rank. */
static enum hw_status count_sets(const struct hw_scan2d_grid_state *state,
                                 const uint32_t *const *set, uint32_t *base, hw_count *count,
                                 struct hw_error *err)
{
    const struct hw_scan2d_grid_params *params = &state->params;
    const uint32_t each = params->config.block / HW_SCAN2D_GRID_BLOCK_ALIGN;
    uint32_t at[HW_SCAN2D_GRID_MAX_SIDE + 1];
    size_t bytes = state->request.scratch_bytes;
    enum hw_status status =
        hw_cuda(hw_scan2d_grid_launch_count_sets(set, params->config.columns, params->config.block,
                                                 base, state->request.scratch, &bytes),
                "the kernel that counts predecessors", err);

    for (uint32_t m = 0; m <= params->config.columns && status == HW_OK; m++)
        status = hw_gpu_get(&at[m], base + m * each, sizeof at[m], err);
    for (uint32_t m = 0; m < params->config.columns && status == HW_OK; m++)
        count[part_at(params, m)] = 4 * (hw_count)(at[m + 1] - at[m]);
    return status;
}

enum hw_status hw_scan2d_fetch(struct hw_gpu_engine *engine, struct hw_error *err)
{
    struct hw_scan2d_grid_state *state = engine->state;
    const struct hw_scan2d_grid_params *params = &state->params;
    const uint32_t *mine[HW_SCAN2D_GRID_MAX_SIDE] = {NULL},
                   *requested[HW_SCAN2D_GRID_MAX_SIDE] = {NULL};
    uint32_t *reply[HW_SCAN2D_GRID_MAX_SIDE] = {NULL};
    hw_count sent_bytes[HW_ALLGATHER_RANKS] = {0}, received_bytes[HW_ALLGATHER_RANKS] = {0};
    enum hw_status status = send_requests(engine, err);

    if (status != HW_OK)
        return status;
    for (uint32_t m = 0; m < params->config.columns; m++) {
        if (m == params->config.column)
            continue;
        mine[m] = params->search.discovered_by + (size_t)m * (params->config.block / 32);
        requested[m] = params->buffers.fold_recv[m];
        reply[m] =
            hw_outbox_send_buffer(&engine->transport, &state->outbox.replies, part_at(params, m));
    }
    status = count_sets(state, mine, state->request.begin, received_bytes, err);
    if (status == HW_OK)
        status = count_sets(state, requested, state->request.reply_begin, sent_bytes, err);
    if (status == HW_OK)
        status = hw_cuda(
            hw_scan2d_grid_launch_reply(params, requested, state->request.reply_begin, reply),
            "the kernel that replies", err);
    status = hw_agree(engine->ctx->world, status, err);
    return status == HW_OK ? hw_outbox_deliver(&engine->transport, &state->outbox.replies,
                                               sent_bytes, received_bytes, err)
                           : status;
}

/* ---- canonical parents ---- */

/* Offsets in the heap, from heap.canonical on, in bytes: levels by local row, levels by local
 * column, the least ids by local row, and those that the parts of the grid row found for own
 * vertices. */
struct canonical_heap {
    hw_count row_level, column_level, min_parent, recv_min_parent, end;
};

static struct canonical_heap place_arrays(const struct hw_scan2d_grid_params *params)
{
    const hw_count block = 4 * (hw_count)params->config.block;
    struct canonical_heap at = {0};

    at.column_level = params->config.columns * block;
    at.min_parent = at.column_level + params->config.rows * block;
    at.recv_min_parent = at.min_parent + params->config.columns * block;
    at.end = at.recv_min_parent + params->config.columns * block;
    return at;
}

hw_count hw_scan2d_canonical_bytes(const struct hw_scan2d_grid_params *params)
{
    return place_arrays(params).end;
}

/* Exchanges a block with each other part of the grid row, or column. Offsets are those of block 0,
 * from heap.canonical on. mine: all parts get the same block of this part. Collective; ranks agree.
 */
static enum hw_status exchange(struct hw_gpu_engine *engine, bool column, hw_count from, bool mine,
                               hw_count to, struct hw_error *err)
{
    const struct hw_scan2d_grid_state *state = engine->state;
    const struct hw_scan2d_grid_params *params = &state->params;
    const hw_count bytes = 4 * (hw_count)params->config.block;
    const uint32_t parts = column ? params->config.rows : params->config.columns;
    const uint32_t here = column ? params->config.row : params->config.column;
    hw_count out[HW_ALLGATHER_RANKS] = {0}, in[HW_ALLGATHER_RANKS] = {0},
             count[HW_ALLGATHER_RANKS] = {0};

    for (uint32_t k = 0; k < parts; k++) {
        const uint32_t q = column ? params->config.column * params->config.rows + k
                                  : k * params->config.rows + params->config.row;
        out[q] = state->heap.canonical + from + (mine ? here : k) * bytes;
        in[q] = state->heap.canonical + to + k * bytes;
        count[q] = k != here ? bytes : 0;
    }
    return hw_transport_exchange(&engine->transport, out, count, in, count, err);
}

enum hw_status hw_scan2d_canonical(struct hw_gpu_engine *engine, struct hw_error *err)
{
    const struct hw_scan2d_grid_state *state = engine->state;
    const struct hw_scan2d_grid_params *params = &state->params;
    const struct canonical_heap at = place_arrays(params);
    char *base = engine->transport.heap[engine->ctx->rank] + state->heap.canonical;
    const struct hw_scan2d_grid_canonical canonical = {
        .row_level = (int32_t *)(void *)(base + at.row_level),
        .column_level = (int32_t *)(void *)(base + at.column_level),
        .min_parent = (uint32_t *)(void *)(base + at.min_parent),
        .recv_min_parent = (uint32_t *)(void *)(base + at.recv_min_parent),
        .graph_id = state->result.graph_id};
    enum hw_status status = hw_cuda(hw_scan2d_grid_launch_canonical_levels(params, &canonical),
                                    "the kernel that gathers levels", err);

    status = hw_agree(engine->ctx->world, status, err);
    if (status == HW_OK)
        status = exchange(engine, false, at.row_level, true, at.row_level, err);
    if (status == HW_OK)
        status = exchange(engine, true, at.column_level, true, at.column_level, err);
    if (status == HW_OK)
        status = hw_agree(engine->ctx->world,
                          hw_cuda(hw_scan2d_grid_launch_canonical_min_parents(params, &canonical),
                                  "the kernel that chooses parents", err),
                          err);
    if (status == HW_OK)
        status = exchange(engine, false, at.min_parent, false, at.recv_min_parent, err);
    return status == HW_OK
               ? hw_cuda(hw_scan2d_grid_launch_canonical_parents(
                             params, &canonical, state->result.position, engine->part->own.count,
                             state->root.position, state->root.graph_id, state->result.parent_id),
                         "the kernel that chooses parents", err)
               : status;
}
