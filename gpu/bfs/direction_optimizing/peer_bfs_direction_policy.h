/*
 * Method `fused` on several GPUs: what the next level is to be. The kernel of transport
 * peer decides by these on the device, the host by the same over other transports.
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

/* Where a search is: the same on all GPUs. */
struct hw_peer_bfs_state {
    uint32_t depth;
    uint32_t which;              /* bitmap that is valid */
    bool initial;                /* nothing was pulled so far */
    unsigned long long frontier; /* vertices */
    unsigned long long edges;    /* of the frontier */
    unsigned long long led;      /* vertices whose first source is in the frontier */
    unsigned long long reached, pushed;
    uint32_t quiet; /* levels bottom-up in a row that found little */
};

HW_PEER_BFS_BOTH static inline unsigned long long
hw_peer_bfs_core(const struct hw_peer_bfs_params *plan)
{
    return (unsigned long long)plan->share.core * plan->share.parts;
}

HW_PEER_BFS_BOTH static inline unsigned long long
hw_peer_bfs_unvisited(const struct hw_peer_bfs_params *plan, const struct hw_peer_bfs_state *state)
{
    const unsigned long long core = hw_peer_bfs_core(plan);

    return state->reached < core ? core - state->reached : 0;
}

/* How the next level is pushed. */
HW_PEER_BFS_BOTH static inline enum hw_peer_bfs_routine
hw_peer_bfs_direction(const struct hw_peer_bfs_params *plan, const struct hw_peer_bfs_state *state)
{
    const unsigned long long all = plan->share.edges;
    const unsigned long long queued_share = 4096, bits_share = 128; /* one in so many */

    if (state->edges <= plan->all_edges)
        return HW_PEER_BFS_PUSH_ALL;
    if (plan->direction != 0 || state->edges <= all / queued_share)
        return HW_PEER_BFS_PUSH;
    return plan->alone || state->edges > all / bits_share ? HW_PEER_BFS_PUSH_BITS
                                                          : HW_PEER_BFS_PUSH_ONLY;
}

/* What pushing the next level costs, in picoseconds. */
HW_PEER_BFS_BOTH static inline float hw_peer_bfs_push_cost(const struct hw_peer_bfs_params *plan,
                                                           const struct hw_peer_bfs_state *state)
{
    const struct hw_peer_bfs_costs *costs = &plan->costs;
    const float share = 1.0f / (float)plan->share.parts;
    const float edges = share * (float)state->edges, core = share * (float)hw_peer_bfs_core(plan);

    switch (hw_peer_bfs_direction(plan, state)) {
    case HW_PEER_BFS_PUSH_BITS:
        return costs->unqueued + costs->bits_edge * edges + costs->bits_vertex * core;
    case HW_PEER_BFS_PUSH_ONLY:
        return costs->unqueued + costs->only_edge * edges;
    default:
        return costs->push_edge * edges;
    }
}

/* Whether pulling the next level costs less than that. */
HW_PEER_BFS_BOTH static inline bool hw_peer_bfs_better_pulled(const struct hw_peer_bfs_params *plan,
                                                              const struct hw_peer_bfs_state *state)
{
    const struct hw_peer_bfs_costs *costs = &plan->costs;
    const float share = 1.0f / (float)plan->share.parts, push = hw_peer_bfs_push_cost(plan, state);
    const unsigned long long unvisited = hw_peer_bfs_unvisited(plan, state);
    unsigned long long rest =
        plan->share.edges > state->pushed ? plan->share.edges - state->pushed : 0;

    if (state->depth == 0)
        return false;
    if (plan->direction != 0)
        return plan->direction == HW_PEER_BFS_BOTTOM_UP;
    if (push < costs->pull)
        return false;
    rest = rest > state->edges ? rest : state->edges;
    int at = (int)(-2.0f * log2f((float)state->edges / (float)rest));
    at = at < 0 ? 0 : at < HW_PEER_BFS_SHARES ? at : HW_PEER_BFS_SHARES - 1;
    const float others = unvisited > state->led ? (float)(unvisited - state->led) : 0.0f;
    const float pull = costs->pull + share * (costs->pull_first * (float)unvisited +
                                              costs->pull_probe * others * plan->probes[at]);
    return pull < push;
}

/* Whether to go on top-down after a level found bottom-up: changing over costs a level, so
 * that it must be worth it. left: vertices it did not find. */
HW_PEER_BFS_BOTH static inline bool hw_peer_bfs_better_pushed(const struct hw_peer_bfs_params *plan,
                                                              struct hw_peer_bfs_state *state,
                                                              unsigned long long found,
                                                              unsigned long long left)
{
    const float long_level = 3e7f; /* picoseconds of a whole H200 */
    const unsigned long long core = hw_peer_bfs_core(plan);
    const unsigned long long degree = plan->share.edges / (core + 1) + 1;
    const bool little = found < 1024 || found * degree < (left + core / 32) / 4;

    state->quiet = little ? state->quiet + 1 : 0;
    if (plan->direction != 0)
        return plan->direction == HW_PEER_BFS_TOP_DOWN;
    return little && (state->quiet > 3 || plan->costs.pull_first * (float)(left + core / 32) >
                                              long_level * (float)plan->share.parts);
}

/* What follows when the frontier is queued; LEAVES ends the search. */
HW_PEER_BFS_BOTH static inline enum hw_peer_bfs_routine
hw_peer_bfs_after_queue(const struct hw_peer_bfs_params *plan,
                        const struct hw_peer_bfs_state *state)
{
    if (state->frontier == 0)
        return HW_PEER_BFS_LEAVES;
    return hw_peer_bfs_better_pulled(plan, state) ? HW_PEER_BFS_PULL
                                                  : hw_peer_bfs_direction(plan, state);
}

/* The same after a level that queued nothing: if it found little after all, that is queued. */
HW_PEER_BFS_BOTH static inline enum hw_peer_bfs_routine
hw_peer_bfs_after_push_only(const struct hw_peer_bfs_params *plan,
                            const struct hw_peer_bfs_state *state)
{
    if (state->frontier == 0)
        return HW_PEER_BFS_LEAVES;
    return state->frontier > hw_peer_bfs_core(plan) / 64 ? HW_PEER_BFS_PULL : HW_PEER_BFS_QUEUE;
}

/* The same after a level bottom-up, which also ends a search that has nothing left to find. */
HW_PEER_BFS_BOTH static inline enum hw_peer_bfs_routine
hw_peer_bfs_after_pull(const struct hw_peer_bfs_params *plan, struct hw_peer_bfs_state *state,
                       unsigned long long left)
{
    if (state->frontier == 0 || left == 0)
        return HW_PEER_BFS_LEAVES;
    return hw_peer_bfs_better_pushed(plan, state, state->frontier, left) ? HW_PEER_BFS_QUEUE
                                                                         : HW_PEER_BFS_PULL;
}

#endif
