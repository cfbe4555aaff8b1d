/*
 * Method `fused` on several GPUs: chooses the kind of the next level. The same functions run on the
 * device over transport peer and on the host over other transports, so that both make the same
 * decisions.
 *
 * The choice is by estimated cost, as in Beamer, Asanovic, Patterson, "Direction-Optimizing
 * Breadth-First Search" (SC 2012), with measured costs (struct hw_peer_bfs_costs) in place of fixed
 * thresholds.
 */
#ifndef HOPWAVE_GPU_BFS_DIRECTION_OPTIMIZING_PEER_BFS_DIRECTION_POLICY_H
#define HOPWAVE_GPU_BFS_DIRECTION_OPTIMIZING_PEER_BFS_DIRECTION_POLICY_H

#include "gpu/bfs/direction_optimizing/peer_bfs.h"

#include <math.h>

#ifdef __CUDACC__
#define HW_PEER_BFS_BOTH __host__ __device__
#else
#define HW_PEER_BFS_BOTH
#endif

/* enum hw_direction */
#define HW_PEER_BFS_TOP_DOWN 1
#define HW_PEER_BFS_BOTTOM_UP 2

/* State of a search, equal on all GPUs. */
struct hw_peer_bfs_state {
    uint32_t depth;
    uint32_t current;            /* index of the valid bitmap */
    bool initial;                /* no level was pulled so far */
    unsigned long long frontier; /* vertices */
    unsigned long long edges;    /* of the frontier */
    unsigned long long
        first_neighbor_refs; /* vertices whose first in-neighbor is in the frontier */
    unsigned long long reached, pushed;
    uint32_t small_levels; /* consecutive bottom-up levels that discovered few vertices */
};

HW_PEER_BFS_BOTH static inline unsigned long long
hw_peer_bfs_core(const struct hw_peer_bfs_params *params)
{
    return (unsigned long long)params->partition.core * params->partition.parts;
}

HW_PEER_BFS_BOTH static inline unsigned long long
hw_peer_bfs_unvisited(const struct hw_peer_bfs_params *params,
                      const struct hw_peer_bfs_state *state)
{
    const unsigned long long core = hw_peer_bfs_core(params);

    return state->reached < core ? core - state->reached : 0;
}

/* How the next level would be pushed. */
HW_PEER_BFS_BOTH static inline enum hw_peer_bfs_routine
hw_peer_bfs_push_routine(const struct hw_peer_bfs_params *params,
                         const struct hw_peer_bfs_state *state)
{
    const unsigned long long all = params->partition.edges;
    const unsigned long long queued_fraction = 4096,
                             bits_fraction = 128; /* fractions of all edges, as 1 / n */

    if (state->edges <= params->broadcast_edges)
        return HW_PEER_BFS_PUSH_ALL;
    if (params->direction != 0 || state->edges <= all / queued_fraction)
        return HW_PEER_BFS_PUSH;
    return params->host_staged || state->edges > all / bits_fraction ? HW_PEER_BFS_PUSH_BITS
                                                                     : HW_PEER_BFS_PUSH_ONLY;
}

/* Estimated cost of pushing the next level, in picoseconds. */
HW_PEER_BFS_BOTH static inline float hw_peer_bfs_push_cost(const struct hw_peer_bfs_params *params,
                                                           const struct hw_peer_bfs_state *state)
{
    const struct hw_peer_bfs_costs *costs = &params->costs;
    const float fraction = 1.0f / (float)params->partition.parts;
    const float edges = fraction * (float)state->edges,
                core = fraction * (float)hw_peer_bfs_core(params);

    switch (hw_peer_bfs_push_routine(params, state)) {
    case HW_PEER_BFS_PUSH_BITS:
        return costs->unqueued + costs->bits_edge * edges + costs->bits_vertex * core;
    case HW_PEER_BFS_PUSH_ONLY:
        return costs->unqueued + costs->only_edge * edges;
    default:
        return costs->push_edge * edges;
    }
}

/* Whether pulling the next level costs less than pushing it. */
HW_PEER_BFS_BOTH static inline bool
hw_peer_bfs_better_pulled(const struct hw_peer_bfs_params *params,
                          const struct hw_peer_bfs_state *state)
{
    const struct hw_peer_bfs_costs *costs = &params->costs;
    const float fraction = 1.0f / (float)params->partition.parts,
                push = hw_peer_bfs_push_cost(params, state);
    const unsigned long long unvisited = hw_peer_bfs_unvisited(params, state);
    unsigned long long rest =
        params->partition.edges > state->pushed ? params->partition.edges - state->pushed : 0;

    if (state->depth == 0)
        return false;
    if (params->direction != 0)
        return params->direction == HW_PEER_BFS_BOTTOM_UP;
    if (push < costs->pull)
        return false;
    rest = rest > state->edges ? rest : state->edges;
    int at = (int)(-2.0f * log2f((float)state->edges / (float)rest));
    at = at < 0 ? 0 : at < HW_PEER_BFS_FRACTIONS ? at : HW_PEER_BFS_FRACTIONS - 1;
    const float others = unvisited > state->first_neighbor_refs
                             ? (float)(unvisited - state->first_neighbor_refs)
                             : 0.0f;
    const float pull = costs->pull + fraction * (costs->pull_first * (float)unvisited +
                                                 costs->pull_probe * others * params->probes[at]);
    return pull < push;
}

/* Whether to return to top-down after a bottom-up level. The change itself costs a level, so that
 * it must be worth it. left: vertices that the level did not discover. */
HW_PEER_BFS_BOTH static inline bool
hw_peer_bfs_better_pushed(const struct hw_peer_bfs_params *params, struct hw_peer_bfs_state *state,
                          unsigned long long found, unsigned long long left)
{
    const float long_level = 3e7f; /* picoseconds of a whole H200 */
    const unsigned long long core = hw_peer_bfs_core(params);
    const unsigned long long degree = params->partition.edges / (core + 1) + 1;
    const bool little = found < 1024 || found * degree < (left + core / 32) / 4;

    state->small_levels = little ? state->small_levels + 1 : 0;
    if (params->direction != 0)
        return params->direction == HW_PEER_BFS_TOP_DOWN;
    return little &&
           (state->small_levels > 3 || params->costs.pull_first * (float)(left + core / 32) >
                                           long_level * (float)params->partition.parts);
}

/* The step that follows when the frontier is queued. LEAVES ends the search. */
HW_PEER_BFS_BOTH static inline enum hw_peer_bfs_routine
hw_peer_bfs_after_queue(const struct hw_peer_bfs_params *params,
                        const struct hw_peer_bfs_state *state)
{
    if (state->frontier == 0)
        return HW_PEER_BFS_LEAVES;
    return hw_peer_bfs_better_pulled(params, state) ? HW_PEER_BFS_PULL
                                                    : hw_peer_bfs_push_routine(params, state);
}

/* The step after a level that queued nothing. If it discovered few vertices, they are queued. */
HW_PEER_BFS_BOTH static inline enum hw_peer_bfs_routine
hw_peer_bfs_after_push_only(const struct hw_peer_bfs_params *params,
                            const struct hw_peer_bfs_state *state)
{
    if (state->frontier == 0)
        return HW_PEER_BFS_LEAVES;
    return state->frontier > hw_peer_bfs_core(params) / 64 ? HW_PEER_BFS_PULL : HW_PEER_BFS_QUEUE;
}

/* The step after a bottom-up level. LEAVES also if no vertex is left to discover. */
HW_PEER_BFS_BOTH static inline enum hw_peer_bfs_routine
hw_peer_bfs_after_pull(const struct hw_peer_bfs_params *params, struct hw_peer_bfs_state *state,
                       unsigned long long left)
{
    if (state->frontier == 0 || left == 0)
        return HW_PEER_BFS_LEAVES;
    return hw_peer_bfs_better_pushed(params, state, state->frontier, left) ? HW_PEER_BFS_QUEUE
                                                                           : HW_PEER_BFS_PULL;
}

#endif
