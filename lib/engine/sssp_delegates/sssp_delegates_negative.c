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
#include "lib/comm/large_alltoallv.h"
#include "lib/engine/sssp_delegates/sssp_delegates.h"

#include <stdlib.h>

/* ---- create ---- */

/* Asks the owners of ghosts for their graph ids. Collective. */
static enum hw_status learn_ids(struct hw_sssp_delegates *e, struct hw_error *err)
{
    const struct hw_sssp_delegates_borders *borders = &e->borders;
    hw_lid watched = borders->watched_first[e->ctx.size];
    hw_gid *id = NULL;
    enum hw_status status = hw_alloc(&id, watched, sizeof *id, "graph ids", err);

    if (status == HW_OK)
        status = hw_alloc(&e->ghost_id, e->ghosts, sizeof *e->ghost_id, "graph ids", err);
    status = hw_agree(e->ctx.world, status, err);
    for (hw_lid k = 0; k < watched && status == HW_OK; k++)
        id[k] = hw_sssp_delegates_id(e, borders->watched[k]);
    if (status == HW_OK)
        status = hw_exchange_into(e->ctx.world, sizeof *id, id, borders->watched_count, e->ghost_id,
                                  borders->ghost_count, err);
    free(id);
    return status;
}

/* What a look for longer cycles takes. */
static enum hw_status open_look(struct hw_sssp_delegates *e, struct hw_error *err)
{
    hw_count all = (hw_count)e->locals + e->ghosts, slots = e->part->separate.slots;

    HW_TRY(hw_alloc_zero(&e->weight, all, sizeof *e->weight, "weights", err));
    HW_TRY(hw_alloc_zero(&e->parent_weight, slots, sizeof *e->parent_weight, "weights", err));
    HW_TRY(hw_alloc(&e->ordered, e->part->own.count, sizeof *e->ordered, "parents", err));
    return hw_alloc_zero(&e->ordered_weight, e->part->own.count, sizeof *e->ordered_weight,
                         "weights", err);
}

enum hw_status hw_sssp_delegates_negative_open(struct hw_sssp_delegates *e, struct hw_error *err)
{
    enum hw_status status;

    if (e->weight_stats.negative == 0)
        return HW_OK;
    e->loops = e->part->own.loops;
    status = hw_sum(e->ctx.world, &e->loops, err);
    if (status != HW_OK || !e->part->directed)
        return status == HW_OK ? learn_ids(e, err) : status;
    status = hw_agree(e->ctx.world, open_look(e, err), err);
    return status == HW_OK ? hw_tree_open(&e->ctx, e->part, &e->tree, err) : status;
}

void hw_sssp_delegates_negative_close(struct hw_sssp_delegates *e)
{
    hw_tree_close(&e->tree);
    free(e->ghost_id);
    free(e->weight);
    free(e->parent_weight);
    free(e->ordered);
    free(e->ordered_weight);
}

/* ---- one edge ---- */

/* Finds out what the root reaches. Collective. */
static enum hw_status flood(struct hw_sssp_delegates *e, struct hw_trace_record *row,
                            struct hw_error *err)
{
    struct hw_sssp_delegates_news news = {.active = 1};
    enum hw_status status = HW_OK;

    hw_sssp_delegates_start(e);
    while (status == HW_OK && news.active > 0) {
        hw_sssp_delegates_advance(e);
        row->edges_examined += hw_sssp_delegates_push(e, HW_SCAN_FLOOD);
        status = hw_sssp_delegates_exchange(e, row, &news, err);
    }
    row->edges_examined += hw_sssp_delegates_pull_last(e, true);
    e->improved.count = 0;
    return status;
}

static bool less_weight(enum hw_distance kind, union hw_weight a, union hw_weight b)
{
    return hw_distance_weight(kind, a) < hw_distance_weight(kind, b);
}

/* Takes an edge if it is less than the least so far, by weight, source and target. */
static void consider(enum hw_distance kind, struct hw_negative_edge *least, hw_gid source,
                     hw_gid target, union hw_weight weight)
{
    bool better = least->source == HW_GID_NONE || less_weight(kind, weight, least->weight);

    if (!better && less_weight(kind, least->weight, weight))
        return;
    better =
        better || source < least->source || (source == least->source && target < least->target);
    if (better)
        *least = (struct hw_negative_edge){.source = source, .target = target, .weight = weight};
}

static hw_gid id_of(const struct hw_sssp_delegates *e, hw_lid v)
{
    return v < e->locals ? hw_sssp_delegates_id(e, v) : e->ghost_id[v - e->locals];
}

/* The edges of an undirected graph, each from its lesser end. */
static void consider_edges(const struct hw_sssp_delegates *e, struct hw_negative_edge *least)
{
    const struct hw_sorted_csr *lists[] = {&e->out.lists, &e->cross.lists};

    for (hw_lid u = 0; u < e->locals; u++)
        for (int i = 0; i < 2 && hw_sssp_delegates_reached(e, u); i++)
            for (hw_count k = lists[i]->offset[u]; k < lists[i]->offset[u + 1]; k++) {
                const struct hw_edge *edge = &lists[i]->edge[k];
                if (hw_distance_weight(e->kind, edge->weight) >= 0)
                    break;
                hw_gid a = hw_sssp_delegates_id(e, u), b = id_of(e, edge->index);
                consider(e->kind, least, a < b ? a : b, a < b ? b : a, edge->weight);
            }
}

enum hw_status hw_sssp_delegates_negative_edge(struct hw_sssp_delegates *e,
                                               struct hw_trace_record *row, struct hw_cycle *cycle,
                                               struct hw_error *err)
{
    const struct hw_part_vertices *own = &e->part->own;
    struct hw_negative_edge least = {.source = HW_GID_NONE, .target = HW_GID_NONE};

    double start = hw_seconds();
    enum hw_status status = flood(e, row, err);
    for (hw_lid i = 0; i < own->loops && status == HW_OK; i++) {
        hw_lid v = hw_sssp_delegates_find(e, e->part->index, own->loop[i]);
        hw_gid id = own->graph_id[own->loop[i]];
        if (hw_sssp_delegates_reached(e, v))
            consider(e->kind, &least, id, id, own->loop_weight[i]);
    }
    if (status == HW_OK && !e->part->directed)
        consider_edges(e, &least);
    row->seconds[HW_PHASE_EXPANSION] += hw_seconds() - start;
    return status == HW_OK ? hw_negative_least(&e->ctx, e->part->weights, &least, cycle, err)
                           : status;
}

/* ---- longer cycles ---- */

/* The weights of the edges from the parents that this part knows: one look at every
 * edge, since parents change too often to keep them. */
static hw_count find_weights(struct hw_sssp_delegates *e)
{
    const struct hw_sorted_csr *lists[] = {&e->out.lists, &e->cross.lists};

#pragma omp parallel for schedule(dynamic, 256)
    for (hw_lid u = 0; u < e->locals; u++)
        for (int i = 0; i < 2; i++)
            for (hw_count k = lists[i]->offset[u]; k < lists[i]->offset[u + 1]; k++) {
                hw_lid v = lists[i]->edge[k].index;
                if (hw_best_parent(e->kind, e->best, v) == u)
                    e->weight[v] = lists[i]->edge[k].weight;
            }
    return e->out.lists.offset[e->locals] + e->cross.lists.offset[e->locals];
}

enum hw_status hw_sssp_delegates_negative_cycle(struct hw_sssp_delegates *e,
                                                struct hw_trace_record *row, struct hw_cycle *cycle,
                                                struct hw_error *err)
{
    const struct hw_part_vertices *own = &e->part->own;

    row->edges_examined = find_weights(e);
    enum hw_status status = hw_sssp_delegates_parents(e, row, err);
    if (status != HW_OK)
        return status;
    for (hw_lid i = 0; i < own->count; i++) {
        hw_lid slot = own->by_graph_id[i], v = e->delegates + slot;
        bool known = hw_best_parent(e->kind, e->best, v) < e->locals;
        e->ordered[i] = hw_sssp_delegates_reached(e, v) ? hw_sssp_delegates_parent(e, slot) : -1;
        e->ordered_weight[i] = known ? e->weight[v] : e->parent_weight[slot];
    }
    return hw_negative_cycle(e->part, &e->tree, e->ordered, e->ordered_weight, cycle, err);
}
