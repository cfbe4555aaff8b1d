/*
 * Method `fused` on several GPUs: what the next level is to be. The kernel of transport
 * peer decides by these on the device, the host by the same over other transports.
 */
#ifndef HOPWAVE_GPU_NODE_CHOICE_H
#define HOPWAVE_GPU_NODE_CHOICE_H

#include "node.h"

#include <math.h>

#ifdef __CUDACC__
#define HW_NODE_BOTH __host__ __device__
#else
#define HW_NODE_BOTH
#endif

/* enum hw_direction */
#define HW_NODE_TOP_DOWN 1
#define HW_NODE_BOTTOM_UP 2

/* Where a search is: the same on all GPUs. */
struct hw_node_state {
    uint32_t epoch, joined; /* barriers so far: between GPUs, within this one */
    uint32_t depth;
    uint32_t which;              /* bitmap that is valid */
    bool initial;                /* nothing was pulled so far */
    unsigned long long frontier; /* vertices */
    unsigned long long edges;    /* of the frontier */
    unsigned long long led;      /* vertices whose first source is in the frontier */
    unsigned long long reached, pushed;
    uint32_t quiet; /* levels bottom-up in a row that found little */
};

HW_NODE_BOTH static inline unsigned long long hw_node_core(const struct hw_node_plan *plan)
{
    return (unsigned long long)plan->share.core * plan->share.parts;
}

HW_NODE_BOTH static inline unsigned long long hw_node_unvisited(const struct hw_node_plan *plan,
                                                                const struct hw_node_state *state)
{
    const unsigned long long core = hw_node_core(plan);

    return state->reached < core ? core - state->reached : 0;
}

/*
 * Whether pulling the next level costs less than pushing it. What operations cost is in
 * picoseconds of a whole H200: an edge pushed; a first source looked at; another source; a
 * level. Only their ratios matter.
 */
HW_NODE_BOTH static inline bool hw_node_better_pulled(const struct hw_node_plan *plan,
                                                      const struct hw_node_state *state)
{
    const float push_edge = 25, pull_first = 5, pull_probe = 4, pull_fixed = 5e6f;
    const float share = 1.0f / (float)plan->share.parts;
    const float push = push_edge * (float)state->edges * share;
    const unsigned long long unvisited = hw_node_unvisited(plan, state);
    unsigned long long rest =
        plan->share.edges > state->pushed ? plan->share.edges - state->pushed : 0;

    if (state->depth == 0)
        return false;
    if (plan->direction != 0)
        return plan->direction == HW_NODE_BOTTOM_UP;
    if (push < pull_fixed)
        return false;
    rest = rest > state->edges ? rest : state->edges;
    int at = (int)(-2.0f * log2f((float)state->edges / (float)rest));
    at = at < 0 ? 0 : at < HW_NODE_SHARES ? at : HW_NODE_SHARES - 1;
    const float others = unvisited > state->led ? (float)(unvisited - state->led) : 0.0f;
    const float pull = pull_fixed + share * (pull_first * (float)unvisited +
                                             pull_probe * others * plan->probes[at]);
    return pull < push;
}

/* Whether to go on top-down after a level found bottom-up: changing over costs a level, so
 * that it must be worth it. left: vertices it did not find. */
HW_NODE_BOTH static inline bool hw_node_better_pushed(const struct hw_node_plan *plan,
                                                      struct hw_node_state *state,
                                                      unsigned long long found,
                                                      unsigned long long left)
{
    const float pull_first = 5, long_level = 3e7f; /* picoseconds, as above */
    const unsigned long long core = hw_node_core(plan);
    const unsigned long long degree = plan->share.edges / (core + 1) + 1;
    const bool little = found < 1024 || found * degree < (left + core / 32) / 4;

    state->quiet = little ? state->quiet + 1 : 0;
    if (plan->direction != 0)
        return plan->direction == HW_NODE_TOP_DOWN;
    return little && (state->quiet > 3 || pull_first * (float)(left + core / 32) >
                                              long_level * (float)plan->share.parts);
}

#endif
