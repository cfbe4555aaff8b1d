/*
 * Method `scan2d` on a grid of GPUs: parents that need an exchange along the grid row.
 *
 * Where no peer memory is mapped, each part requests the predecessors of its vertices from the
 * parts that discovered them. A request is a bitmap over a block. The reply holds the predecessors
 * of the set positions in order, so that both sides know its length from the bitmap.
 *
 * Canonical parents: levels are gathered along rows and columns of the grid. Each part finds, for
 * each of its local rows, the smallest source one level up among its columns. The owners take the
 * minimum over the grid row.
 */
#include "gpu/bfs/grid2d/scan2d_grid_host.h"

#include <cuda_runtime_api.h>

/* ---- predecessors through the transport ---- */

static hw_count tiles(const struct hw_scan2d_grid_params *own)
{
    return (hw_count)own->columns * (own->block / HW_SCAN2D_GRID_GRAIN);
}

enum hw_status hw_scan2d_fetch_params(struct hw_scan2d_grid_state *state,
                                      struct hw_gpu_arrays *arrays, struct hw_error *err)
{
    const struct hw_scan2d_grid_params *own = &state->plan;
    enum hw_status status = hw_cuda(hw_scan2d_grid_launch_count(NULL, own->columns, own->block,
                                                                NULL, NULL, &state->scratch_bytes),
                                    "counting predecessors", err);

    hw_gpu_add(arrays, &state->base, tiles(own) + 1, sizeof *state->base);
    hw_gpu_add(arrays, &state->asked_base, tiles(own) + 1, sizeof *state->asked_base);
    hw_gpu_add(arrays, &state->scratch, (hw_count)state->scratch_bytes, 1);
    return status;
}

/* The part of this row in a column of the grid. */
static int part_at(const struct hw_scan2d_grid_params *own, uint32_t m)
{
    return (int)(m * own->rows + own->row);
}

/* Asks: the sets of own vertices that each part of the row had sent. Collective; ranks
 * agree. */
static enum hw_status ask(struct hw_multi_gpu_engine *engine, struct hw_error *err)
{
    const struct hw_scan2d_grid_state *state = engine->state;
    const struct hw_scan2d_grid_params *own = &state->plan;
    const hw_count bytes = (hw_count)own->block / 8;
    hw_count count[HW_ALLGATHER_RANKS] = {0};
    enum hw_status status = HW_OK;

    for (uint32_t m = 0; m < own->columns && status == HW_OK; m++) {
        if (m == own->column)
            continue;
        count[part_at(own, m)] = bytes;
        status = hw_cuda((int)cudaMemcpyAsync(own->fold_out[m], (char *)own->from + m * bytes,
                                              (size_t)bytes, cudaMemcpyDeviceToDevice, NULL),
                         "cudaMemcpyAsync", err);
    }
    status = hw_agree(engine->ctx->world, status, err);
    return status == HW_OK ? hw_outbox_deliver(&engine->transport, &state->fold, count, count, err)
                           : status;
}

/* How many positions come before each 1024 of the sets, and their bytes of answers. count:
 * by part. */
static enum hw_status count_sets(const struct hw_scan2d_grid_state *state,
                                 const uint32_t *const *set, uint32_t *base, hw_count *count,
                                 struct hw_error *err)
{
    const struct hw_scan2d_grid_params *own = &state->plan;
    const uint32_t each = own->block / HW_SCAN2D_GRID_GRAIN;
    uint32_t at[HW_SCAN2D_GRID_LINE + 1];
    size_t bytes = state->scratch_bytes;
    enum hw_status status = hw_cuda(
        hw_scan2d_grid_launch_count(set, own->columns, own->block, base, state->scratch, &bytes),
        "the kernel that counts predecessors", err);

    for (uint32_t m = 0; m <= own->columns && status == HW_OK; m++)
        status = hw_gpu_get(&at[m], base + m * each, sizeof at[m], err);
    for (uint32_t m = 0; m < own->columns && status == HW_OK; m++)
        count[part_at(own, m)] = 4 * (hw_count)(at[m + 1] - at[m]);
    return status;
}

enum hw_status hw_scan2d_fetch(struct hw_multi_gpu_engine *engine, struct hw_error *err)
{
    struct hw_scan2d_grid_state *state = engine->state;
    const struct hw_scan2d_grid_params *own = &state->plan;
    const uint32_t *mine[HW_SCAN2D_GRID_LINE] = {NULL}, *asked[HW_SCAN2D_GRID_LINE] = {NULL};
    uint32_t *answer[HW_SCAN2D_GRID_LINE] = {NULL};
    hw_count sent[HW_ALLGATHER_RANKS] = {0}, came[HW_ALLGATHER_RANKS] = {0};
    enum hw_status status = ask(engine, err);

    if (status != HW_OK)
        return status;
    for (uint32_t m = 0; m < own->columns; m++) {
        if (m == own->column)
            continue;
        mine[m] = own->from + (size_t)m * (own->block / 32);
        asked[m] = own->fold_in[m];
        answer[m] = hw_outbox_send_buffer(&engine->transport, &state->answers, part_at(own, m));
    }
    status = count_sets(state, mine, state->base, came, err);
    if (status == HW_OK)
        status = count_sets(state, asked, state->asked_base, sent, err);
    if (status == HW_OK)
        status = hw_cuda(hw_scan2d_grid_launch_answer(own, asked, state->asked_base, answer),
                         "the kernel that answers", err);
    status = hw_agree(engine->ctx->world, status, err);
    return status == HW_OK ? hw_outbox_deliver(&engine->transport, &state->answers, sent, came, err)
                           : status;
}

/* ---- canonical parents ---- */

/* Where things stand in the heap, from canon_at on: levels by local row, levels by local
 * column, the least ids by local row, and what the row's parts have found for own vertices. */
struct places {
    hw_count row, column, best, came, end;
};

static struct places lay(const struct hw_scan2d_grid_params *own)
{
    const hw_count block = 4 * (hw_count)own->block;
    struct places places = {0};

    places.column = own->columns * block;
    places.best = places.column + own->rows * block;
    places.came = places.best + own->columns * block;
    places.end = places.came + own->columns * block;
    return places;
}

hw_count hw_scan2d_canon_bytes(const struct hw_scan2d_grid_params *plan)
{
    return lay(plan).end;
}

/* Exchanges a block with each other part of the row, or column. Offsets are of block 0,
 * from canon_at on. mine: all get the same block of this part. Collective; ranks agree. */
static enum hw_status exchange(struct hw_multi_gpu_engine *engine, bool column, hw_count from,
                               bool mine, hw_count to, struct hw_error *err)
{
    const struct hw_scan2d_grid_state *state = engine->state;
    const struct hw_scan2d_grid_params *own = &state->plan;
    const hw_count bytes = 4 * (hw_count)own->block;
    const uint32_t parts = column ? own->rows : own->columns;
    const uint32_t here = column ? own->row : own->column;
    hw_count out[HW_ALLGATHER_RANKS] = {0}, in[HW_ALLGATHER_RANKS] = {0},
             count[HW_ALLGATHER_RANKS] = {0};

    for (uint32_t k = 0; k < parts; k++) {
        const uint32_t q = column ? own->column * own->rows + k : k * own->rows + own->row;
        out[q] = state->canon_at + from + (mine ? here : k) * bytes;
        in[q] = state->canon_at + to + k * bytes;
        count[q] = k != here ? bytes : 0;
    }
    return hw_transport_exchange(&engine->transport, out, count, in, count, err);
}

enum hw_status hw_scan2d_canonical(struct hw_multi_gpu_engine *engine, struct hw_error *err)
{
    const struct hw_scan2d_grid_state *state = engine->state;
    const struct hw_scan2d_grid_params *own = &state->plan;
    const struct places places = lay(own);
    char *room = engine->transport.heap[engine->ctx->rank] + state->canon_at;
    const struct hw_scan2d_grid_canon canon = {.row_level = (int32_t *)(void *)(room + places.row),
                                               .column_level =
                                                   (int32_t *)(void *)(room + places.column),
                                               .best = (uint32_t *)(void *)(room + places.best),
                                               .came = (uint32_t *)(void *)(room + places.came),
                                               .gid = state->gid};
    enum hw_status status = hw_cuda(hw_scan2d_grid_launch_canon_levels(own, &canon),
                                    "the kernel that gathers levels", err);

    status = hw_agree(engine->ctx->world, status, err);
    if (status == HW_OK)
        status = exchange(engine, false, places.row, true, places.row, err);
    if (status == HW_OK)
        status = exchange(engine, true, places.column, true, places.column, err);
    if (status == HW_OK)
        status = hw_agree(engine->ctx->world,
                          hw_cuda(hw_scan2d_grid_launch_canon_best(own, &canon),
                                  "the kernel that chooses parents", err),
                          err);
    if (status == HW_OK)
        status = exchange(engine, false, places.best, false, places.came, err);
    return status == HW_OK ? hw_cuda(hw_scan2d_grid_launch_canon_parents(
                                         own, &canon, state->position, engine->part->own.count,
                                         state->root_at, state->root_id, state->parent_id),
                                     "the kernel that chooses parents", err)
                           : status;
}
