/*
 * Method `scan2d` on a grid of GPUs: the levels of a search, from the host. Over peer the host only
 * launches kernels and all-gathers, one iteration ahead of what it knows. Over other transports it
 * waits for each all-gather and moves the packed sets.
 */
#include "gpu/bfs/grid2d/scan2d_grid_host.h"

/* ---- exchanges ---- */

/* Bytes of the sets that went to, or came from, the parts of this row or column. count: by
 * part. */
static hw_count set_bytes(const struct hw_scan2d_grid_params *own, uint32_t active, uint64_t count)
{
    const bool bitmap = hw_scan2d_grid_as_bitmap(own->exchange, active, count);

    /* Whole boxes: what was asked for at the end of a search before may lie behind what has
     * edges here, since blocks of a row differ by one there. */
    return count == 0 ? 0 : bitmap ? (hw_count)own->block / 8 : 4 * (hw_count)count;
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
    for (int q = 0; q < engine->ctx->size && hw_scan2d_grid_uses_preposted_recv(engine); q++) {
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
        hw_scan2d_grid_uses_preposted_recv(engine)
            ? hw_preposted_recv_deliver(&state->fold_post, sent, came, err)
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
        hw_scan2d_grid_uses_preposted_recv(engine)
            ? hw_preposted_recv_deliver(&state->expand_post[half], sent, came, err)
            : hw_outbox_broadcast(&engine->transport, &state->expand[half], sent, came, err);
    count_crossed(engine, depth + 1, sent);
    return status;
}

/* ---- levels ---- */

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
    if (status != HW_OK || hw_scan2d_grid_is_peer(engine))
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
    if (status != HW_OK || hw_scan2d_grid_is_peer(engine))
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
        const uint32_t look = hw_scan2d_grid_is_peer(engine) ? last : round->number;
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

enum hw_status hw_scan2d_grid_search(struct hw_multi_gpu_engine *engine, struct hw_error *err)
{
    struct hw_scan2d_grid_state *state = engine->state;
    enum hw_status status = search_levels(engine, err);

    if (status == HW_OK && !hw_scan2d_grid_is_peer(engine) && state->plan.columns > 1)
        status = hw_scan2d_fetch(engine, err);
    return status == HW_OK ? hw_cuda(hw_scan2d_grid_launch_resolve(&state->plan),
                                     "the kernel of predecessors", err)
                           : status;
}
