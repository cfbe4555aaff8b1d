/*
 * Method `bellman-ford` on one GPU: negative cycles.
 *
 * Before a search, edges that alone are negative cycles (undirected edges and loops of negative
 * weight) are collected; a search for reachability shows which of them are reached. Between
 * phases, the parents found so far are followed by pointer jumping on the device. Where they form a
 * cycle, the host computes its weight in exact arithmetic.
 */
#include "gpu/sssp/bellman/bellman_ford_host.h"

#include "lib/base/memory.h"
#include "lib/engine/sssp/distance.h"

#include <stdlib.h>
#include <string.h>

/* Phases before the first search for a negative cycle; the number doubles each time. */
#define FIRST_CHECK 16

/* Rounds of pointer jumping after which chains of 2^32 parents would have ended. */
#define MAX_JUMP_ROUNDS 33

/* ---- edges that alone are negative cycles ---- */

/* Whether edge a is less than edge b, in the order that CPU methods use. */
static bool precedes(int kind, const struct hw_negative_edge *a, const struct hw_negative_edge *b)
{
    int64_t x = hw_distance_weight((enum hw_distance)kind, a->weight);
    int64_t y = hw_distance_weight((enum hw_distance)kind, b->weight);

    if (b->source == HW_GID_NONE || x != y)
        return b->source == HW_GID_NONE || x < y;
    return a->target < b->target;
}

/* Stores an edge that alone is a negative cycle, if it is the least such edge of its source. */
static void add_candidate(struct hw_bellman *own, hw_gid source, hw_gid target,
                          union hw_weight weight)
{
    int kind = own->params.paths.kind;
    struct hw_negative_edge edge = {.source = source, .target = target, .weight = weight};
    bool negative = kind == HW_GPU_KEY_F32 ? weight.f32 < 0 : weight.i32 < 0;

    if (negative && precedes(kind, &edge, &own->candidate_edge[source]))
        own->candidate_edge[source] = edge;
}

enum hw_status hw_bellman_find_candidate_edges(struct hw_gpu_engine *engine, struct hw_error *err)
{
    struct hw_bellman *own = engine->state;
    const struct hw_part *part = engine->part;
    const struct hw_csr *out = &part->grid.out;

    if (hw_sssp_state_of(engine)->weight_stats.negative == 0 ||
        (part->directed && part->own.loops == 0))
        return HW_OK;
    enum hw_status status = hw_alloc(&own->candidate_edge, part->own.count,
                                     sizeof *own->candidate_edge, "negative edges", err);
    if (status != HW_OK)
        return status;
    for (hw_lid v = 0; v < part->own.count; v++)
        own->candidate_edge[v] =
            (struct hw_negative_edge){.source = HW_GID_NONE, .target = HW_GID_NONE};
    for (hw_lid c = 0; c < part->own.count && !part->directed; c++)
        for (hw_count e = out->offset[c]; e < out->offset[(size_t)c + 1]; e++)
            add_candidate(own, part->own.graph_id[c], part->own.graph_id[out->index[e]],
                          out->weight[e]);
    for (hw_lid l = 0; l < part->own.loops; l++) {
        hw_gid gid = part->own.graph_id[part->own.loop[l]];
        add_candidate(own, gid, gid, part->own.loop_weight[l]);
    }
    return HW_OK;
}

/* ---- cycles of parents ---- */

/* Parents and the weights of their edges so far, by graph id. */
struct parents {
    struct hw_gpu_edge *hint; /* [active] by vertex */
    uint32_t *id;             /* [vertices] graph ids by vertex */
    hw_gid *parent;           /* [vertices] */
    union hw_weight *weight;  /* [vertices] */
};

static void free_parents(struct parents *parents)
{
    free(parents->hint);
    free(parents->id);
    free(parents->parent);
    free(parents->weight);
}

static enum hw_status get_parents(const struct hw_gpu_engine *engine, uint32_t root,
                                  struct parents *parents, struct hw_error *err)
{
    static const char what[] = "parents";
    hw_count active = engine->graph.active, n = engine->graph.vertices;
    enum hw_status status = hw_alloc(&parents->hint, active, sizeof *parents->hint, what, err);

    if (status == HW_OK)
        status = hw_alloc(&parents->id, n, sizeof *parents->id, what, err);
    if (status == HW_OK)
        status = hw_alloc(&parents->parent, n, sizeof *parents->parent, what, err);
    if (status == HW_OK)
        status = hw_alloc_zero(&parents->weight, n, sizeof *parents->weight, what, err);
    if (status == HW_OK)
        status = hw_gpu_get(parents->hint, hw_sssp_state_of(engine)->paths.hint,
                            (size_t)active * sizeof *parents->hint, err);
    if (status == HW_OK)
        status =
            hw_gpu_get(parents->id, engine->graph.graph_id, (size_t)n * sizeof *parents->id, err);
    if (status != HW_OK)
        return status;
    for (hw_count k = 0; k < n; k++)
        parents->parent[k] = HW_GID_NONE;
    for (hw_count v = 0; v < active; v++) {
        const struct hw_gpu_edge *hint = &parents->hint[v];
        hw_gid id = parents->id[v];
        if (hint->neighbor != HW_INVALID_VERTEX) {
            parents->parent[id] = parents->id[hint->neighbor];
            memcpy(&parents->weight[id], &hint->weight, sizeof hint->weight);
        } else if ((uint32_t)v == root) {
            parents->parent[id] = id;
        }
    }
    return HW_OK;
}

/* Whether parents form a cycle, of whatever weight. On the device. */
static enum hw_status has_parent_cycle(struct hw_gpu_engine *engine, bool *cyclic,
                                       struct hw_error *err)
{
    struct hw_bellman *own = engine->state;
    enum hw_status status = hw_cuda(hw_bellman_launch_init_chains(&own->params),
                                    "the kernel that follows parents", err);

    own->control.alive = 1;
    for (uint32_t round = 0; round < MAX_JUMP_ROUNDS && own->control.alive && status == HW_OK;
         round++) {
        status = hw_cuda(hw_bellman_launch_pointer_jump(&own->params, round),
                         "the kernel that follows parents", err);
        if (status == HW_OK)
            status = hw_bellman_fetch(engine, err);
        if (UINT64_C(1) << round > engine->graph.active)
            break;
    }
    *cyclic = own->control.alive != 0;
    return status;
}

/* Looks for a negative cycle among the parents found so far. Concurrent writes may mix parents of
 * different phases, but each is an edge of the graph. Hence a cycle of them is a cycle of the
 * graph, and its weight is computed in exact arithmetic. */
static enum hw_status find_cycle(struct hw_gpu_engine *engine, uint32_t root,
                                 struct hw_cycle *cycle, struct hw_error *err)
{
    struct hw_bellman *own = engine->state;
    struct parents parents = {0};
    bool cyclic = false;
    enum hw_status status = has_parent_cycle(engine, &cyclic, err);

    if (status != HW_OK || !cyclic)
        return status;
    status = get_parents(engine, root, &parents, err);
    if (status == HW_OK)
        status =
            hw_negative_cycle(engine->part, &own->tree, parents.parent, parents.weight, cycle, err);
    free_parents(&parents);
    return status;
}

/* ---- searches ---- */

enum hw_status hw_bellman_run_with_negative_weights(struct hw_gpu_engine *engine, uint32_t root,
                                                    struct hw_cycle *cycle, struct hw_error *err)
{
    struct hw_bellman *own = engine->state;
    uint32_t check = FIRST_CHECK;
    const uint64_t max_phases = (uint64_t)engine->graph.vertices + 1;
    enum hw_status status = HW_OK;

    for (;;) {
        bool last = check >= max_phases;
        status = hw_bellman_run(engine, check, err);
        if (status == HW_OK)
            status = hw_bellman_fetch(engine, err);
        if (status != HW_OK || own->control.state.source == HW_FROM_END || own->control.below_floor)
            return status;
        status = find_cycle(engine, root, cycle, err);
        if (status != HW_OK || cycle->length > 0)
            return status;
        if (last && own->params.paths.kind == HW_GPU_KEY_F32)
            return hw_fail(err, HW_BAD_INPUT,
                           "sums of these float weights round so that distances never come to "
                           "rest; use weights whose sums are exact, such as whole numbers");
        if (check > UINT32_MAX / 2)
            return hw_fail(err, HW_INTERNAL, "method bellman-ford does not terminate");
        check *= 2;
    }
}

enum hw_status hw_bellman_find_negative_edge(struct hw_gpu_engine *engine, uint32_t root,
                                             struct hw_cycle *cycle, struct hw_error *err)
{
    struct hw_bellman *own = engine->state;
    struct hw_negative_edge min_edge = {.source = HW_GID_NONE, .target = HW_GID_NONE};
    struct parents parents = {0};

    own->params.search.reachability_only = true;
    enum hw_status status = hw_bellman_init_search(engine, root, err);
    if (status == HW_OK)
        status = hw_bellman_run(engine, UINT32_MAX, err);
    own->params.search.reachability_only = false;
    if (status == HW_OK)
        status = get_parents(engine, root, &parents, err);
    for (hw_gid id = 0; status == HW_OK && id < (hw_gid)engine->graph.vertices; id++) {
        const struct hw_negative_edge *edge = &own->candidate_edge[id];
        /* An isolated root is not among the active vertices, but may have a loop. */
        bool reached = parents.parent[id] != HW_GID_NONE || parents.id[root] == id;
        if (edge->source == HW_GID_NONE || !reached)
            continue;
        int64_t key = hw_distance_weight((enum hw_distance)own->params.paths.kind, edge->weight);
        if (min_edge.source == HW_GID_NONE ||
            key < hw_distance_weight((enum hw_distance)own->params.paths.kind, min_edge.weight))
            min_edge = *edge; /* sources rise, so that of equal weights the first is the least */
    }
    if (status == HW_OK)
        status = hw_negative_least(engine->ctx, engine->part->weights, &min_edge, cycle, err);
    free_parents(&parents);
    return status;
}
