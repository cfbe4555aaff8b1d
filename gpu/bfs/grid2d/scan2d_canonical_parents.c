/* Method `scan2d` on a grid of GPUs: canonical parents. Levels are gathered along rows and
 * columns of the grid; each part finds the least source one level up that it knows of for
 * each of its local rows; the owners take the least over the grid row. */
#include "gpu/bfs/grid2d/scan2d_grid_host.h"

#include <cuda_runtime_api.h>

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
