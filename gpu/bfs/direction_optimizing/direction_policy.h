/*
 * Method `fused`: chooses the direction and the kind of the next level, on one GPU and on several.
 * The same functions run on the device, and on the host where it exchanges data between GPUs, so
 * that all GPUs make the same decisions.
 *
 * The choice is by estimated cost, as in Beamer, Asanovic, Patterson, "Direction-Optimizing
 * Breadth-First Search" (SC 2012), with measured costs (struct hw_bfs_costs) in place of fixed
 * thresholds. Top-down costs as much as the frontier has edges. Bottom-up, an unvisited vertex
 * tests its in-neighbors until one is visited: where a fraction p of all edges begins in the
 * frontier, a list of d elements costs (1 - (1-p)^d) / p tests, about min(d, 1/p). In skewed graphs
 * lists begin with hubs, which large frontiers contain; in random graphs every element is as good
 * as any other, so the first bottom-up level pays only after a much larger frontier.
 */
#ifndef HOPWAVE_GPU_BFS_DIRECTION_OPTIMIZING_DIRECTION_POLICY_H
#define HOPWAVE_GPU_BFS_DIRECTION_OPTIMIZING_DIRECTION_POLICY_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __CUDACC__
#define HW_BFS_BOTH __host__ __device__
#else
#define HW_BFS_BOTH
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Expected tests are tabulated for frontiers with the fraction 2^(-k/2) of all edges, k below
 * this. */
#define HW_BFS_FRACTIONS 48

/* A frontier of more than 1 / HW_BFS_HUB_FRACTION of the core holds as many hubs. */
#define HW_BFS_HUB_FRACTION 64

/* Levels of at most this part of all edges, as 1 / n, are queued. */
#define HW_BFS_QUEUED_FRACTION 4096

/* enum hw_direction */
#define HW_BFS_TOP_DOWN 1
#define HW_BFS_BOTTOM_UP 2

/* Picoseconds of a whole GPU; of all GPUs together where noted. Only ratios matter. */
struct hw_bfs_costs {
    float push_edge;   /* per edge pushed, discoveries queued */
    float only_edge;   /* per edge, discoveries not queued; several GPUs: sent to owners */
    float bits_edge;   /* several GPUs: per edge, discoveries sent as bits */
    float bits_vertex; /* in addition, per vertex of the core */
    float unqueued;    /* per level that queues nothing; of all GPUs */
    float pull_first;  /* per first in-neighbor tested */
    float pull_probe;  /* per further in-neighbor tested */
    float pull;        /* per bottom-up level; of all GPUs */
};

/* Constant during all searches of a graph. */
struct hw_bfs_policy {
    int direction;         /* enum hw_direction */
    uint32_t parts;        /* GPUs */
    uint32_t small_levels; /* return to top-down after more than so many small levels */
    uint32_t block_vertices, block_edges; /* one block of each GPU expands frontiers up to so many
                                             vertices and edges, of all GPUs together */
    uint64_t core, edges;                 /* of all GPUs: vertices searched, stored edges */
    uint64_t broadcast_edges; /* frontiers of up to so many edges are queued; several GPUs: their
                                 discoveries go to all */
    uint32_t bits_fraction;   /* several GPUs: levels of more than this part of all edges, as 1 / n,
                                 send bits */
    bool even_degrees;        /* several GPUs: no vertex is a hub; a kernel of its own */
    float pull_weight;        /* factor of the estimated cost of a bottom-up level */
    float hub_share;          /* of the edges, at the 1 / HW_BFS_HUB_FRACTION vertices of highest
                                 degree */
    float probes[HW_BFS_FRACTIONS]; /* expected tests of a vertex whose first in-neighbor is
                                       unvisited */
    struct hw_bfs_costs costs;
};

struct hw_engine_options;

/* pull_weight as the options have it: by what the estimated cost of a bottom-up level is
 * multiplied. Local. */
float hw_fused_pull_weight(const struct hw_engine_options *options);

/* Number of vertices and sum of degrees of the core, in classes of degree that double. */
struct hw_bfs_degree_classes {
    double count[64], sum[64];
};

/* Adds a vertex. Local. */
void hw_bfs_count_degree(struct hw_bfs_degree_classes *classes, uint64_t degree);

/*
 * Sets policy->probes, hub_share and costs.pull_probe. by_degree: vertices are numbered by falling
 * degree, so that the words of the bitmap in shared memory are those of the vertices of highest
 * degree. Depends on its arguments alone, so that GPUs with the same classes decide alike. Local.
 */
void hw_bfs_tabulate(const struct hw_bfs_degree_classes *classes, bool by_degree,
                     struct hw_bfs_policy *policy);

#ifdef __cplusplus
}
#endif

/* What the next step of a search is. */
enum hw_bfs_routine {
    HW_BFS_PUSH_BLOCK, /* top-down in one block of each GPU */
    HW_BFS_PUSH_ALL,   /* top-down; several GPUs: discoveries are broadcast */
    HW_BFS_PUSH,       /* top-down; discoveries are sent to their owners */
    HW_BFS_PUSH_ONLY,  /* the same, without queueing them */
    HW_BFS_PUSH_BITS,  /* the same, as bits without parents */
    HW_BFS_PULL,       /* bottom-up */
    HW_BFS_QUEUE,      /* queues the discoveries of a level that queued none */
    HW_BFS_LEAVES,     /* assigns the parents of vertices of degree 1: ends the search */
    HW_BFS_ROUTINES
};

/* State of a search, equal on all GPUs. */
struct hw_bfs_state {
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

HW_BFS_BOTH static inline unsigned long long hw_bfs_unvisited(const struct hw_bfs_policy *policy,
                                                              const struct hw_bfs_state *state)
{
    return state->reached < policy->core ? policy->core - state->reached : 0;
}

/* Edges that no level has pushed; at least those of the frontier. */
HW_BFS_BOTH static inline float hw_bfs_unpushed(const struct hw_bfs_policy *policy,
                                                const struct hw_bfs_state *state, float edges)
{
    const float rest =
        policy->edges > state->pushed ? (float)(policy->edges - state->pushed) : 0.0f;

    return rest > edges ? rest : edges;
}

/* Estimated cost of pushing a frontier of so many edges, in picoseconds. */
HW_BFS_BOTH static inline float hw_bfs_push_cost(const struct hw_bfs_policy *policy,
                                                 enum hw_bfs_routine routine, float edges)
{
    const struct hw_bfs_costs *costs = &policy->costs;
    const float fraction = 1.0f / (float)policy->parts;

    edges *= fraction;
    if (routine == HW_BFS_PUSH_BITS)
        return costs->unqueued + costs->bits_edge * edges +
               costs->bits_vertex * fraction * (float)policy->core;
    if (routine == HW_BFS_PUSH_ONLY)
        return costs->unqueued + costs->only_edge * edges;
    return costs->push_edge * edges;
}

/* Estimated cost of pulling `unvisited` vertices, `others` of which have an unvisited first
 * in-neighbor, if an edge begins in the frontier with probability p. */
HW_BFS_BOTH static inline float hw_bfs_pull_cost(const struct hw_bfs_policy *policy,
                                                 float unvisited, float others, float p)
{
    const struct hw_bfs_costs *costs = &policy->costs;
    int at = p > 0 ? (int)(-2.0f * log2f(p)) : HW_BFS_FRACTIONS;

    at = at < 0 ? 0 : at < HW_BFS_FRACTIONS ? at : HW_BFS_FRACTIONS - 1;
    return policy->pull_weight * (costs->pull + (costs->pull_first * unvisited +
                                                 costs->pull_probe * others * policy->probes[at]) /
                                                    (float)policy->parts);
}

/*
 * Whether the level after one that discovers `found` vertices, whose edges and neighbors nobody
 * counted, will most likely be pulled. They are taken to have the mean degree of the unvisited and,
 * where they are many, to include the hubs.
 */
HW_BFS_BOTH static inline bool hw_bfs_expect_pull(const struct hw_bfs_policy *policy,
                                                  const struct hw_bfs_state *state, float found)
{
    const float all = (float)hw_bfs_unvisited(policy, state) + 1.0f,
                unpushed = hw_bfs_unpushed(policy, state, 1.0f);
    const float edges = unpushed * (found < all ? found / all : 1.0f),
                unvisited = found < all ? all - found : 0.0f;
    float p = edges / unpushed;

    if (found > (float)policy->core / HW_BFS_HUB_FRACTION && p < policy->hub_share)
        p = policy->hub_share;
    const float pull = hw_bfs_pull_cost(policy, unvisited, unvisited * (1.0f - p), p);
    return pull < hw_bfs_push_cost(policy, HW_BFS_PUSH, edges);
}

/* How the frontier would be pushed. Large levels queue nothing where the next one will be pulled:
 * half the time where most neighbors are new. Edges of a level end anywhere: `edges` of them
 * discover unvisited * (1 - e^(-edges / core)) vertices. */
HW_BFS_BOTH static inline enum hw_bfs_routine
hw_bfs_push_routine(const struct hw_bfs_policy *policy, const struct hw_bfs_state *state)
{
    const unsigned long long all = policy->edges;

    if (state->edges <= policy->broadcast_edges)
        return policy->parts > 1 ? HW_BFS_PUSH_ALL : HW_BFS_PUSH;
    if (policy->direction != 0 || state->edges <= all / HW_BFS_QUEUED_FRACTION)
        return HW_BFS_PUSH;
    const float hits = (float)state->edges / (float)(policy->core + 1),
                found = (float)hw_bfs_unvisited(policy, state) * (1.0f - expf(-hits));
    if (!hw_bfs_expect_pull(policy, state, found))
        return HW_BFS_PUSH;
    if (policy->parts == 1)
        return HW_BFS_PUSH_ONLY;
    return state->edges > all / policy->bits_fraction ? HW_BFS_PUSH_BITS : HW_BFS_PUSH_ONLY;
}

/* Whether pulling the next level costs less than pushing it. push: how it would be pushed. */
HW_BFS_BOTH static inline bool hw_bfs_better_pulled(const struct hw_bfs_policy *policy,
                                                    const struct hw_bfs_state *state,
                                                    enum hw_bfs_routine push)
{
    const float edges = (float)state->edges, cost = hw_bfs_push_cost(policy, push, edges);
    const unsigned long long unvisited = hw_bfs_unvisited(policy, state),
                             refs = state->first_neighbor_refs;

    if (state->depth == 0)
        return false;
    if (policy->direction != 0)
        return policy->direction == HW_BFS_BOTTOM_UP;
    if (cost < policy->costs.pull)
        return false;
    const float others = unvisited > refs ? (float)(unvisited - refs) : 0.0f;
    return hw_bfs_pull_cost(policy, (float)unvisited, others,
                            edges / hw_bfs_unpushed(policy, state, edges)) < cost;
}

/* Whether to return to top-down after a bottom-up level. On several GPUs the change itself costs a
 * level, so that it must be worth it. left: vertices that the level did not discover. */
HW_BFS_BOTH static inline bool hw_bfs_better_pushed(const struct hw_bfs_policy *policy,
                                                    struct hw_bfs_state *state,
                                                    unsigned long long found,
                                                    unsigned long long left)
{
    const float long_level = 3e7f; /* picoseconds of a whole H200 */
    const unsigned long long degree = policy->edges / (policy->core + 1) + 1;
    const bool little = found < 1024 || found * degree < (left + policy->core / 32) / 4;

    state->small_levels = little ? state->small_levels + 1 : 0;
    if (policy->direction != 0)
        return policy->direction == HW_BFS_TOP_DOWN;
    return little && (state->small_levels > policy->small_levels ||
                      policy->costs.pull_first * (float)(left + policy->core / 32) >
                          long_level * (float)policy->parts);
}

/* The step that follows when the frontier is queued. LEAVES ends the search. */
HW_BFS_BOTH static inline enum hw_bfs_routine hw_bfs_after_queue(const struct hw_bfs_policy *policy,
                                                                 const struct hw_bfs_state *state)
{
    if (state->frontier == 0)
        return HW_BFS_LEAVES;
    const enum hw_bfs_routine push = hw_bfs_push_routine(policy, state);
    if (hw_bfs_better_pulled(policy, state, push))
        return HW_BFS_PULL;
    return state->frontier <= policy->block_vertices && state->edges <= policy->block_edges
               ? HW_BFS_PUSH_BLOCK
               : push;
}

/* The step after a level that queued nothing. If pulling does not pay, its discoveries are queued.
 */
HW_BFS_BOTH static inline enum hw_bfs_routine
hw_bfs_after_push_only(const struct hw_bfs_policy *policy, const struct hw_bfs_state *state)
{
    if (state->frontier == 0)
        return HW_BFS_LEAVES;
    return state->frontier > policy->core / HW_BFS_HUB_FRACTION &&
                   hw_bfs_expect_pull(policy, state, (float)state->frontier)
               ? HW_BFS_PULL
               : HW_BFS_QUEUE;
}

/* The step after a bottom-up level. LEAVES also if no vertex is left to discover. */
HW_BFS_BOTH static inline enum hw_bfs_routine hw_bfs_after_pull(const struct hw_bfs_policy *policy,
                                                                struct hw_bfs_state *state,
                                                                unsigned long long left)
{
    if (state->frontier == 0 || left == 0)
        return HW_BFS_LEAVES;
    return hw_bfs_better_pushed(policy, state, state->frontier, left) ? HW_BFS_QUEUE : HW_BFS_PULL;
}

#endif
