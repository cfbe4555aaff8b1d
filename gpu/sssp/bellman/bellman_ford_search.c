/* Method `bellman-ford`: its search, and negative cycles. */
#include "gpu/engine/gpu_methods.h"
#include "gpu/graph/build/csr_builder.h"
#include "gpu/sssp/bellman/bellman_ford_host.h"

#include "lib/base/memory.h"
#include "lib/engine/sssp/distance.h"

#include <stdlib.h>

/* Phases before parents are first searched for a cycle; then twice as many each time. */
#define FIRST_CHECK 16

/* Rounds of pointer jumping after which chains of 2^32 parents would have ended. */
#define ROUNDS_MOST 33

/* ---- negative cycles ---- */

/* Parents and the weights of their edges so far, by graph id. */
struct parents {
    struct hw_gpu_edge *hint; /* [active] by rank */
    uint32_t *id;             /* [vertices] graph ids by rank */
    hw_gid *parent;           /* [vertices] */
    union hw_weight *weight;  /* [vertices] */
};

static void drop_parents(struct parents *parents)
{
    free(parents->hint);
    free(parents->id);
    free(parents->parent);
    free(parents->weight);
}

static enum hw_status get_parents(const struct hw_single_gpu_engine *engine, uint32_t root,
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

/* Do any parents close a cycle? On the device, without a look at weights. */
static enum hw_status find_chains(struct hw_single_gpu_engine *engine, bool *cyclic,
                                  struct hw_error *err)
{
    struct hw_bellman *own = engine->state;
    enum hw_status status =
        hw_cuda(hw_bellman_launch_chains(&own->plan), "the kernel that follows parents", err);

    own->control.alive = 1;
    for (uint32_t round = 0; round < ROUNDS_MOST && own->control.alive && status == HW_OK;
         round++) {
        status = hw_cuda(hw_bellman_launch_jump(&own->plan, round),
                         "the kernel that follows parents", err);
        if (status == HW_OK)
            status = hw_bellman_fetch(engine, err);
        if (UINT64_C(1) << round > engine->graph.active)
            break;
    }
    *cyclic = own->control.alive != 0;
    return status;
}

/* Do the parents found so far close a negative cycle? Whatever the threads of the device
 * left there, each is an edge; that they close a cycle of negative weight is then found in
 * exact arithmetic. */
static enum hw_status look_for_cycle(struct hw_single_gpu_engine *engine, uint32_t root,
                                     struct hw_cycle *cycle, struct hw_error *err)
{
    struct hw_bellman *own = engine->state;
    struct parents parents = {0};
    bool cyclic = false;
    enum hw_status status = find_chains(engine, &cyclic, err);

    if (status != HW_OK || !cyclic)
        return status;
    status = get_parents(engine, root, &parents, err);
    if (status == HW_OK)
        status =
            hw_negative_cycle(engine->part, &own->tree, parents.parent, parents.weight, cycle, err);
    drop_parents(&parents);
    return status;
}

/* ---- phases ---- */

/* The search where weights may be negative: now and then it looks for a cycle. */
static enum hw_status relax_warily(struct hw_single_gpu_engine *engine, uint32_t root,
                                   struct hw_cycle *cycle, struct hw_error *err)
{
    struct hw_bellman *own = engine->state;
    uint32_t check = FIRST_CHECK;
    const uint64_t most = (uint64_t)engine->graph.vertices + 1;
    enum hw_status status = HW_OK;

    for (;;) {
        bool last = check >= most;
        status = hw_bellman_run(engine, check, err);
        if (status == HW_OK)
            status = hw_bellman_fetch(engine, err);
        if (status != HW_OK || own->control.state.source == HW_FROM_END)
            return status;
        status = look_for_cycle(engine, root, cycle, err);
        if (status != HW_OK || cycle->length > 0)
            return status;
        if (last && own->plan.paths.kind == HW_GPU_KEY_F32)
            return hw_fail(err, HW_BAD_INPUT,
                           "sums of these float weights round so that distances never come to "
                           "rest; use weights whose sums are exact, such as whole numbers");
        if (check > UINT32_MAX / 2)
            return hw_fail(err, HW_INTERNAL, "method bellman-ford does not come to an end");
        check *= 2;
    }
}

/* Visits all that can be reached, whatever the weights, and looks for an edge that alone
 * makes a negative cycle: of what is reached, the least as on CPUs. */
static enum hw_status sweep_first(struct hw_single_gpu_engine *engine, uint32_t root,
                                  struct hw_cycle *cycle, struct hw_error *err)
{
    struct hw_bellman *own = engine->state;
    struct hw_negative_edge least = {.source = HW_GID_NONE, .target = HW_GID_NONE};
    struct parents parents = {0};

    own->plan.reach = true;
    enum hw_status status = hw_bellman_begin(engine, root, err);
    if (status == HW_OK)
        status = hw_bellman_run(engine, UINT32_MAX, err);
    own->plan.reach = false;
    if (status == HW_OK)
        status = get_parents(engine, root, &parents, err);
    for (hw_gid id = 0; status == HW_OK && id < (hw_gid)engine->graph.vertices; id++) {
        const struct hw_negative_edge *edge = &own->suspect[id];
        /* An isolated root has no rank among the active, but may have a loop. */
        bool reached = parents.parent[id] != HW_GID_NONE || parents.id[root] == id;
        if (edge->source == HW_GID_NONE || !reached)
            continue;
        int64_t key = hw_distance_weight((enum hw_distance)own->plan.paths.kind, edge->weight);
        if (least.source == HW_GID_NONE ||
            key < hw_distance_weight((enum hw_distance)own->plan.paths.kind, least.weight))
            least = *edge; /* sources rise, so that of equal weights the first is the least */
    }
    if (status == HW_OK)
        status = hw_negative_least(engine->ctx, engine->part->weights, &least, cycle, err);
    drop_parents(&parents);
    return status;
}

static enum hw_status search(struct hw_single_gpu_engine *engine, uint32_t root,
                             struct hw_error *err)
{
    struct hw_bellman *own = engine->state;
    struct hw_cycle cycle = {0};
    enum hw_status status = HW_OK;

    if (own->suspect)
        status = sweep_first(engine, root, &cycle, err);
    if (status == HW_OK && cycle.length == 0)
        status = hw_bellman_begin(engine, root, err);
    if (status == HW_OK && cycle.length == 0)
        status = hw_sssp_state_of(engine)->weight_stats.negative > 0
                     ? relax_warily(engine, root, &cycle, err)
                     : hw_bellman_run(engine, UINT32_MAX, err);
    if (status == HW_OK && cycle.length == 0)
        return hw_bellman_end(engine, err);
    if (status == HW_OK && engine->result) {
        engine->result->outcome = HW_OUTCOME_NEGATIVE_CYCLE;
        engine->result->cycle = cycle;
    } else {
        hw_cycle_free(&cycle);
    }
    return status;
}

static enum hw_status plan(struct hw_single_gpu_engine *engine, const struct hw_degree_order *order,
                           struct hw_error *err)
{
    return hw_bellman_params(engine, order, false, err);
}

static const struct hw_sssp_search bellman_ford = {
    .base = {.results = &hw_sssp_result_ops,
             .state_bytes = sizeof(struct hw_bellman),
             .plan = plan,
             .open = hw_bellman_open,
             .search = search,
             .steps = hw_bellman_steps,
             .close = hw_bellman_close},
    .hints = HW_GPU_HINTS_WEIGHTS};

const struct hw_method hw_method_gpu_bellman_ford = {.name = "bellman-ford",
                                                     .ops = &hw_single_gpu_ops,
                                                     .algorithm = HW_SSSP,
                                                     .grid = true,
                                                     .one_part_only = true,
                                                     .negative_weights = true,
                                                     .bytes = hw_bellman_bytes,
                                                     .build = hw_gpu_build,
                                                     .impl = &bellman_ford.base};
