/*
 * Method `scan2d` on a grid of GPUs: the levels of a search, from the host. Over peer the host only
 * launches kernels and all-gathers, one iteration ahead of what it knows. Over other transports it
 * waits for each all-gather and moves the packed sets.
 */
#include "gpu/bfs/grid2d/scan2d_grid_host.h"

/* ---- exchanges ---- */

/* Bytes of a set of `count` of `active` positions that is exchanged. */
static hw_count set_bytes(const struct hw_scan2d_grid_params *params, uint32_t active,
                          uint64_t count)
{
    const bool bitmap = hw_scan2d_grid_as_bitmap(params->config.exchange, active, count);

    /* A bitmap always has its full length: requests at the end of the last search may have left
     * bits past the active positions, since the blocks of a row differ in length by one. */
    return count == 0 ? 0 : bitmap ? (hw_count)params->config.block / 8 : 4 * (hw_count)count;
}

/* Clears the counts of traffic to other nodes for the next level, since its frontier is sent before
 * it begins; in the first level also for that one. Local. */
static void begin_internode(struct hw_scan2d_grid_state *state, uint32_t depth)
{
    if (state->internode && depth == 0)
        state->internode[0] = (struct hw_internode_traffic){0, 0};
    if (state->internode && depth + 1 < state->params.trace.capacity)
        state->internode[depth + 1] = (struct hw_internode_traffic){0, 0};
}

/* Counts what a level has sent to other nodes. sent_bytes: by rank. Local. */
static void count_internode(struct hw_gpu_engine *engine, uint32_t depth,
                            const hw_count *sent_bytes)
{
    struct hw_scan2d_grid_state *state = engine->state;
    const struct hw_nodes *nodes = &engine->transport.nodes;
    const uint32_t last = state->params.trace.capacity - 1;
    struct hw_internode_traffic traffic = hw_transport_internode_traffic(&engine->transport);

    if (!state->internode)
        return;
    for (int q = 0; q < engine->ctx->size && hw_scan2d_grid_uses_preposted_recv(engine); q++) {
        const bool internode =
            nodes->node[q] != nodes->node[engine->ctx->rank] && sent_bytes[q] > 0;
        traffic.bytes += internode ? sent_bytes[q] : 0;
        traffic.messages += internode;
    }
    struct hw_internode_traffic *level = &state->internode[depth < last ? depth : last];
    level->bytes += traffic.bytes;
    level->messages += traffic.messages;
}

/* Moves the sets packed for the owners. Collective; ranks agree. */
static enum hw_status deliver_fold(struct hw_gpu_engine *engine, uint32_t depth,
                                   const struct hw_allgather_result *counts, struct hw_error *err)
{
    struct hw_scan2d_grid_state *state = engine->state;
    const struct hw_scan2d_grid_params *params = &state->params;
    const int rank = engine->ctx->rank;
    hw_count sent_bytes[HW_ALLGATHER_RANKS] = {0}, received_bytes[HW_ALLGATHER_RANKS] = {0};

    for (uint32_t m = 0; m < params->config.columns; m++) {
        const int q = (int)(m * params->config.rows + params->config.row);
        if (m == params->config.column)
            continue;
        sent_bytes[q] = set_bytes(params, params->config.row_active[m], counts->by_rank[rank][m]);
        received_bytes[q] = set_bytes(params, params->config.row_active[params->config.column],
                                      counts->by_rank[q][params->config.column]);
    }
    enum hw_status status =
        hw_scan2d_grid_uses_preposted_recv(engine)
            ? hw_preposted_recv_deliver(&state->preposted.fold, sent_bytes, received_bytes, err)
            : hw_outbox_deliver(&engine->transport, &state->outbox.fold, sent_bytes, received_bytes,
                                err);
    count_internode(engine, depth, sent_bytes);
    return status;
}

/* Moves the next frontier. Collective; ranks agree. */
static enum hw_status deliver_expand(struct hw_gpu_engine *engine, uint32_t depth,
                                     const struct hw_allgather_result *counts, struct hw_error *err)
{
    struct hw_scan2d_grid_state *state = engine->state;
    const struct hw_scan2d_grid_params *params = &state->params;
    const int rank = engine->ctx->rank;
    hw_count sent_bytes[HW_ALLGATHER_RANKS] = {0}, received_bytes[HW_ALLGATHER_RANKS] = {0};

    for (uint32_t r = 0; r < params->config.rows; r++) {
        const int q = (int)(params->config.column * params->config.rows + r);
        if (q == rank)
            continue;
        sent_bytes[q] = set_bytes(params, params->config.column_active[params->config.row],
                                  counts->by_rank[rank][0]);
        received_bytes[q] =
            set_bytes(params, params->config.column_active[r], counts->by_rank[q][0]);
    }
    const uint32_t half = (depth + 1) & 1;
    enum hw_status status =
        hw_scan2d_grid_uses_preposted_recv(engine)
            ? hw_preposted_recv_deliver(&state->preposted.expand[half], sent_bytes, received_bytes,
                                        err)
            : hw_outbox_broadcast(&engine->transport, &state->outbox.expand[half], sent_bytes,
                                  received_bytes, err);
    count_internode(engine, depth + 1, sent_bytes);
    return status;
}

/* ---- levels ---- */

/* Frontier expansion and fold exchange of a level. A failure of this rank, here or before, is
 * passed to all ranks by the all-gather here or by that of the update. */
static enum hw_status expand(struct hw_gpu_engine *engine, uint32_t depth, enum hw_status status,
                             const struct hw_allgather_result **counts, struct hw_error *err)
{
    struct hw_scan2d_grid_state *state = engine->state;
    const struct hw_allgather_result *received = NULL;

    begin_internode(state, depth);
    if (status == HW_OK && state->params.config.single_cta_limit > 0)
        status = hw_cuda(hw_scan2d_grid_launch_single_cta(
                             &state->params, state->root.packed_id, *counts,
                             &state->single_cta_allgather.params, state->single_cta_results),
                         "the kernel of levels of few edges", err);
    if (status == HW_OK)
        status = hw_cuda(hw_scan2d_grid_launch_expand(&state->params, &state->shape,
                                                      state->root.packed_id, *counts),
                         "the kernel that expands the frontier", err);
    if (state->params.config.columns == 1)
        return status;
    status = hw_allgather_start(&state->allgather, status,
                                (uint64_t *)state->params.search.control->num_discovered,
                                (int)state->params.config.columns, 0, NULL, err);
    *counts = hw_allgather_device(&state->allgather);
    if (status != HW_OK || hw_scan2d_grid_is_peer(engine))
        return status;
    status = hw_allgather_wait(&state->allgather, &received, err);
    return status == HW_OK ? deliver_fold(engine, depth, received, err) : status;
}

/* Frontier update and expand exchange. A failure of this rank, here or before, is passed to all
 * ranks. */
static enum hw_status update(struct hw_gpu_engine *engine, uint32_t depth, enum hw_status status,
                             const struct hw_allgather_result **counts, struct hw_error *err)
{
    struct hw_scan2d_grid_state *state = engine->state;
    const struct hw_allgather_result *received = NULL;

    if (status == HW_OK)
        status = hw_cuda(hw_scan2d_grid_launch_update(&state->params, &state->shape, *counts),
                         "the kernel that updates the frontier", err);
    status = hw_allgather_start(&state->allgather, status,
                                (uint64_t *)&state->params.search.control->next_frontier, 1, 0,
                                NULL, err);
    *counts = hw_allgather_device(&state->allgather);
    if (status != HW_OK || hw_scan2d_grid_is_peer(engine))
        return status;
    status = hw_allgather_wait(&state->allgather, &received, err);
    if (status != HW_OK || received->reduced[0] == 0) /* the same on all ranks */
        return status;
    return deliver_expand(engine, depth, received, err);
}

/* Waits for the all-gather at the end of a level. *found: vertices of the next frontier. */
static enum hw_status wait_frontier_size(struct hw_scan2d_grid_state *state, uint32_t number,
                                         uint64_t *found, struct hw_error *err)
{
    const struct hw_allgather_result *received = NULL;
    enum hw_status status = hw_allgather_wait_for(&state->allgather, number, &received, err);

    *found = status == HW_OK ? received->reduced[0] : 0;
    return status;
}

/* Runs all levels. Over peer an iteration may do several, and the host launches one iteration ahead
 * of the one whose result it knows, unless the known frontier is so small that this iteration is
 * likely to be the last. Iterations after the last level do nothing. */
static enum hw_status search_levels(struct hw_gpu_engine *engine, struct hw_error *err)
{
    struct hw_scan2d_grid_state *state = engine->state;
    struct hw_allgather *allgather = &state->allgather;
    const struct hw_allgather_result *counts = state->single_cta_results + 2;
    uint32_t last = 0; /* number of the all-gather at the end of the last iteration */
    uint64_t found = 1;
    enum hw_status status =
        hw_cuda(hw_scan2d_grid_launch_begin(&state->params, state->root.packed_id),
                "the kernel that begins", err);

    for (uint32_t depth = 0; found > 0; depth++) {
        status = expand(engine, depth, status, &counts, err);
        status = update(engine, depth, status, &counts, err);
        const uint32_t known = hw_scan2d_grid_is_peer(engine) ? last : allgather->number;
        last = allgather->number;
        if (status == HW_OK && known > 0)
            status = wait_frontier_size(state, known, &found, err);
        if (status == HW_OK && known > 0 && known < last && found > 0 &&
            found <= state->params.config.single_cta_limit)
            status = wait_frontier_size(state, last, &found, err);
        if (status != HW_OK)
            return status;
    }
    return HW_OK;
}

enum hw_status hw_scan2d_grid_search(struct hw_gpu_engine *engine, struct hw_error *err)
{
    struct hw_scan2d_grid_state *state = engine->state;
    enum hw_status status = search_levels(engine, err);

    if (status == HW_OK && !hw_scan2d_grid_is_peer(engine) && state->params.config.columns > 1)
        status = hw_scan2d_fetch(engine, err);
    return status == HW_OK ? hw_cuda(hw_scan2d_grid_launch_resolve(&state->params),
                                     "the kernel of predecessors", err)
                           : status;
}
