/*
 * Negative weights on the degree-separated layout: see sssp_delegates.h. Where some
 * weight is negative, three things can make a negative cycle, and only directed
 * graphs have to search for the third:
 *   a reachable self-loop of negative weight;
 *   a reachable edge of negative weight of an undirected graph, gone along and
 *   back; both are looked for before the search, by a flood from the root;
 *   a longer one, which parents close sooner or later.
 */
#include "lib/base/memory.h"
#include "lib/comm/exchange/large_alltoallv.h"
#include "lib/engine/sssp_delegates/sssp_delegates.h"

#include <stdlib.h>

/* ---- create ---- */

/* Asks the owners of ghosts for their graph ids. Collective. */
static enum hw_status fetch_ghost_ids(struct hw_sssp_delegates *e, struct hw_error *err)
{
    const struct hw_halo_map *halo = &e->halo;
    hw_gid *id = NULL;
    enum hw_status status =
        hw_agree(e->ctx.world, hw_alloc(&id, halo->mirrors, sizeof *id, "graph ids", err), err);
    for (hw_lid k = 0; k < halo->mirrors && status == HW_OK; k++)
        id[k] = hw_sssp_delegates_id(e, halo->mirror[k]);
    if (status == HW_OK)
        status =
            hw_halo_map_broadcast(halo, e->ctx.world, sizeof *id, id, e->negative.ghost_id, err);
    free(id);
    return status;
}

enum hw_status hw_sssp_delegates_negative_open(struct hw_sssp_delegates *e, struct hw_error *err)
{
    if (e->derived.weight_stats.negative == 0)
        return HW_OK;
    e->derived.loops = e->part->own.loops;
    HW_TRY(hw_sum(e->ctx.world, &e->derived.loops, err));
    if (!e->part->directed)
        return fetch_ghost_ids(e, err);
    return hw_tree_open(&e->ctx, e->part, &e->negative.tree, err);
}

/* ---- one edge ---- */

/* Finds out what the root reaches. Collective. */
static enum hw_status flood(struct hw_sssp_delegates *e, struct hw_trace_record *row,
                            struct hw_error *err)
{
    struct hw_sssp_delegates_step_summary summary = {.active = 1};
    enum hw_status status = HW_OK;

    hw_sssp_delegates_start(e);
    while (status == HW_OK && summary.active > 0) {
        hw_sssp_delegates_advance(e);
        row->edges_examined += hw_sssp_delegates_push(e, HW_SCAN_FLOOD);
        status = hw_sssp_delegates_exchange(e, row, &summary, err);
    }
    row->edges_examined += hw_sssp_delegates_pull_last(e, true);
    e->search.improved.count = 0;
    return status;
}

static bool less_weight(enum hw_distance kind, union hw_weight a, union hw_weight b)
{
    return hw_distance_weight(kind, a) < hw_distance_weight(kind, b);
}

/* Takes an edge if it is less than the least so far, by weight, source and target. */
static void consider(enum hw_distance kind, struct hw_negative_edge *min, hw_gid source,
                     hw_gid target, union hw_weight weight)
{
    bool better = min->source == HW_GID_NONE || less_weight(kind, weight, min->weight);

    if (!better && less_weight(kind, min->weight, weight))
        return;
    better = better || source < min->source || (source == min->source && target < min->target);
    if (better)
        *min = (struct hw_negative_edge){.source = source, .target = target, .weight = weight};
}

static hw_gid id_of(const struct hw_sssp_delegates *e, hw_lid v)
{
    return v < e->vertices.locals ? hw_sssp_delegates_id(e, v)
                                  : e->negative.ghost_id[v - e->vertices.locals];
}

/* The edges of an undirected graph, each from its lesser end. */
static void consider_edges(const struct hw_sssp_delegates *e, struct hw_negative_edge *min)
{
    const struct hw_sorted_csr *lists[] = {&e->lists.out.lists, &e->lists.cross.lists};

    for (hw_lid u = 0; u < e->vertices.locals; u++)
        for (int i = 0; i < 2 && hw_sssp_delegates_reached(e, u); i++)
            for (hw_count k = lists[i]->offset[u]; k < lists[i]->offset[u + 1]; k++) {
                const struct hw_edge *edge = &lists[i]->edge[k];
                if (hw_distance_weight(e->derived.kind, edge->weight) >= 0)
                    break;
                hw_gid a = hw_sssp_delegates_id(e, u), b = id_of(e, edge->index);
                consider(e->derived.kind, min, a < b ? a : b, a < b ? b : a, edge->weight);
            }
}

enum hw_status hw_sssp_delegates_negative_edge(struct hw_sssp_delegates *e,
                                               struct hw_trace_record *row, struct hw_cycle *cycle,
                                               struct hw_error *err)
{
    const struct hw_part_vertices *own = &e->part->own;
    struct hw_negative_edge min = {.source = HW_GID_NONE, .target = HW_GID_NONE};

    double start = hw_seconds();

    HW_TRY(flood(e, row, err));
    for (hw_lid i = 0; i < own->loops; i++) {
        hw_lid v = hw_sssp_delegates_find(e, e->part->index, own->loop[i]);
        hw_gid id = own->graph_id[own->loop[i]];
        if (hw_sssp_delegates_reached(e, v))
            consider(e->derived.kind, &min, id, id, own->loop_weight[i]);
    }
    if (!e->part->directed)
        consider_edges(e, &min);
    row->seconds[HW_PHASE_EXPANSION] += hw_seconds() - start;
    return hw_negative_least(&e->ctx, e->part->weights, &min, cycle, err);
}

/* ---- longer cycles ---- */

/* The weights of the edges from the parents that this part knows: one look at every
 * edge, since parents change too often to keep them. */
static hw_count find_weights(struct hw_sssp_delegates *e)
{
    const struct hw_sorted_csr *lists[] = {&e->lists.out.lists, &e->lists.cross.lists};

#pragma omp parallel for schedule(dynamic, 256)
    for (hw_lid u = 0; u < e->vertices.locals; u++)
        for (int i = 0; i < 2; i++)
            for (hw_count k = lists[i]->offset[u]; k < lists[i]->offset[u + 1]; k++) {
                hw_lid v = lists[i]->edge[k].index;
                if (hw_best_parent(e->derived.kind, e->search.best, v) == u)
                    e->negative.weight[v] = lists[i]->edge[k].weight;
            }
    return e->lists.out.lists.offset[e->vertices.locals] +
           e->lists.cross.lists.offset[e->vertices.locals];
}

enum hw_status hw_sssp_delegates_negative_cycle(struct hw_sssp_delegates *e,
                                                struct hw_trace_record *row, struct hw_cycle *cycle,
                                                struct hw_error *err)
{
    const struct hw_part_vertices *own = &e->part->own;

    row->edges_examined = find_weights(e);
    HW_TRY(hw_sssp_delegates_parents(e, row, err));
    for (hw_lid i = 0; i < own->count; i++) {
        hw_lid slot = own->by_graph_id[i], v = e->vertices.delegates + slot;
        bool known = hw_best_parent(e->derived.kind, e->search.best, v) < e->vertices.locals;
        e->negative.ordered[i] =
            hw_sssp_delegates_reached(e, v) ? hw_sssp_delegates_parent(e, slot) : -1;
        e->negative.ordered_weight[i] =
            known ? e->negative.weight[v] : e->negative.parent_weight[slot];
    }
    return hw_negative_cycle(e->part, &e->negative.tree, e->negative.ordered,
                             e->negative.ordered_weight, cycle, err);
}
