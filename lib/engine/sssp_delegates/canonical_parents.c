/*
 * Parents by hops: see sssp_delegates.h. When all distances are final, rounds along
 * tight edges reach every vertex by the fewest of them, and of its tight parents
 * one hop nearer to the root it takes the one of least graph id. Such parents lead
 * to the root whatever weights there are, and do not depend on the search.
 */
#include "lib/engine/sssp_delegates/sssp_delegates.h"

#include <string.h>

/* Takes a candidate for the parent of v, one hop further than the frontier. */
static void offer(struct hw_sssp_delegates *e, hw_lid v, hw_gid id,
                  struct hw_sssp_delegates_queue *queue)
{
    if (e->parents.hop[v] < 0) {
        e->parents.hop[v] = e->parents.hops_done + 1;
        e->parents.min[v] = id;
        queue->item[queue->count++] = v;
    } else if (e->parents.hop[v] == e->parents.hops_done + 1 && id < e->parents.min[v]) {
        e->parents.min[v] = id;
    }
}

/* Offers a vertex of the frontier along its tight edges. Returns the edges examined. */
static hw_count offer_along(struct hw_sssp_delegates *e, const struct hw_sorted_csr *lists,
                            hw_lid u, struct hw_sssp_delegates_queue *queue)
{
    int64_t key = hw_sssp_delegates_key(e, u);
    hw_gid id = hw_sssp_delegates_id(e, u);

    for (hw_count k = lists->offset[u]; k < lists->offset[u + 1]; k++) {
        const struct hw_edge *edge = &lists->edge[k];
        if (hw_distance_add(e->derived.kind, key, edge->weight) ==
            hw_sssp_delegates_key(e, edge->index))
            offer(e, edge->index, id, queue);
    }
    return lists->offset[u + 1] - lists->offset[u];
}

static int64_t get_least(const struct hw_sssp_delegates *e, hw_lid g)
{
    return e->parents.min[g];
}

/* What came for a delegate: from its own part, too, which has offered already. */
static void take_delegate(struct hw_sssp_delegates *e, hw_lid g, int64_t id)
{
    if (id == INT64_MAX)
        return;
    if (e->parents.hop[g] < 0) {
        e->parents.hop[g] = e->parents.hops_done + 1;
        e->parents.min[g] = id;
    } else if (e->parents.hop[g] == e->parents.hops_done + 1 && id < e->parents.min[g]) {
        e->parents.min[g] = id;
    }
    if (e->parents.hop[g] == e->parents.hops_done + 1 && !(e->search.mark[g] & HW_MARK_QUEUED)) {
        e->search.mark[g] |= HW_MARK_QUEUED;
        e->search.next.item[e->search.next.count++] = g;
    }
}

static void take_update(struct hw_sssp_delegates *e, hw_lid where, int64_t id)
{
    offer(e, e->halo.mirror[where], id, &e->search.next);
}

/* Tells others of the offers, and makes the next frontier. Collective. */
static enum hw_status exchange(struct hw_sssp_delegates *e, struct hw_trace_record *row, bool *more,
                               struct hw_error *err)
{
    const struct hw_sssp_delegates_reduction way = {
        .size = sizeof(hw_gid), .get = get_least, .take = take_delegate};
    struct hw_sssp_delegates_step_summary summary = {0};
    hw_lid *own = e->search.improved.item;
    hw_count delegates = 0;

    for (hw_count i = 0; i < e->search.improved_ghosts.count; i++)
        hw_sssp_delegates_send_to_owner(e, e->search.improved_ghosts.item[i], sizeof(hw_gid),
                                        e->parents.min[e->search.improved_ghosts.item[i]]);
    for (hw_count i = 0; i < e->search.improved.count; i++)
        if (own[i] < e->vertices.delegates)
            own[delegates++] = own[i];
        else
            e->search.next.item[e->search.next.count++] = own[i];
    summary.delegates = delegates;
    summary.active = delegates + e->search.next.count + e->search.improved_ghosts.count;
    e->search.improved.count = e->search.improved_ghosts.count = 0;
    HW_TRY(hw_sssp_delegates_reduce_summary(e, &summary, row, err));
    HW_TRY(hw_sssp_delegates_reduce(e, &way, own, delegates, summary.delegates, row, err));
    HW_TRY(hw_sssp_delegates_exchange_updates(e, sizeof(hw_gid), take_update, row, err));
    *more = summary.active > 0;
    return HW_OK;
}

/* The parents of vertices that wait for the end: all edges to them are here. */
static void pull_last(struct hw_sssp_delegates *e, struct hw_trace_record *row)
{
    for (hw_lid i = 0; i < e->vertices.last_count; i++) {
        hw_lid v = e->vertices.last_list[i];
        int64_t key = hw_sssp_delegates_key(e, v);
        if (v == e->search.root || key == hw_distance_none(e->derived.kind))
            continue;
        for (hw_count k = e->lists.into->lists.offset[v]; k < e->lists.into->lists.offset[v + 1];
             k++) {
            const struct hw_edge *edge = &e->lists.into->lists.edge[k];
            hw_lid u = edge->index;
            if (e->parents.hop[u] < 0 ||
                hw_distance_add(e->derived.kind, hw_sssp_delegates_key(e, u), edge->weight) != key)
                continue;
            hw_gid id = hw_sssp_delegates_id(e, u);
            bool better = e->parents.hop[v] < 0 || e->parents.hop[u] + 1 < e->parents.hop[v] ||
                          (e->parents.hop[u] + 1 == e->parents.hop[v] && id < e->parents.min[v]);
            e->parents.hop[v] = better ? e->parents.hop[u] + 1 : e->parents.hop[v];
            e->parents.min[v] = better ? id : e->parents.min[v];
        }
        row->edges_examined += e->lists.into->lists.offset[v + 1] - e->lists.into->lists.offset[v];
    }
}

/* Parents of own vertices, whose code becomes one that is no local. Returns how many
 * have none, though they are reached. */
static hw_count write_parents(struct hw_sssp_delegates *e)
{
    hw_count lost = 0;

    for (hw_lid v = 0; v < e->vertices.locals; v++) {
        bool delegate = v < e->vertices.delegates;
        int64_t key = hw_sssp_delegates_key(e, v);
        if (key == hw_distance_none(e->derived.kind) ||
            (delegate && e->vertices.own_slot[v] == HW_LID_NONE))
            continue;
        /* The slot of a delegate that has been written. */
        if (!delegate && hw_best_parent(e->derived.kind, e->search.best, v) == e->vertices.none)
            continue;
        hw_lid slot = delegate ? e->vertices.own_slot[v] : v - e->vertices.delegates;
        e->parents.parent[slot] = e->parents.min[v];
        hw_best_set(e->derived.kind, e->search.best, e->vertices.delegates + slot, key,
                    e->vertices.none);
        lost += e->parents.hop[v] < 0;
    }
    return lost;
}

/* Nothing is offered yet, but the root to itself. */
static void start(struct hw_sssp_delegates *e)
{
    hw_count all = (hw_count)e->vertices.locals + e->vertices.ghosts;

    for (hw_count v = 0; v < all; v++) {
        e->parents.hop[v] = -1;
        e->parents.min[v] = INT64_MAX;
        e->search.mark[v] = 0;
    }
    e->parents.hops_done = 0;
    e->search.frontier.count = e->search.next.count = 0;
    e->search.improved.count = e->search.improved_ghosts.count = 0;
    if (e->search.root == HW_LID_NONE)
        return;
    e->parents.hop[e->search.root] = 0;
    e->parents.min[e->search.root] = hw_sssp_delegates_id(e, e->search.root);
    e->search.next.item[e->search.next.count++] = e->search.root;
}

enum hw_status hw_sssp_delegates_hops(struct hw_sssp_delegates *e, struct hw_trace_record *row,
                                      struct hw_error *err)
{
    double begun = hw_seconds();
    enum hw_status status = hw_sssp_delegates_refresh(e, row, err);

    start(e);
    for (bool more = true; more && status == HW_OK; e->parents.hops_done++) {
        struct hw_sssp_delegates_queue queue = e->search.frontier;
        e->search.frontier = e->search.next;
        e->search.next = queue;
        e->search.next.count = 0;
        for (hw_count i = 0; i < e->search.frontier.count; i++) {
            hw_lid u = e->search.frontier.item[i];
            row->edges_examined += offer_along(e, &e->lists.out.lists, u, &e->search.improved);
            row->edges_examined +=
                offer_along(e, &e->lists.cross.lists, u, &e->search.improved_ghosts);
        }
        status = exchange(e, row, &more, err);
    }
    if (status != HW_OK)
        return status;
    pull_last(e, row);
    if (write_parents(e) > 0)
        status = hw_fail(err, HW_BAD_INPUT,
                         "distances improved by rounding along a cycle whose weight is not "
                         "negative; such weights have no shortest paths in float arithmetic");
    row->seconds[HW_PHASE_UPDATE] += hw_seconds() - begun;
    return hw_agree(e->ctx.world, status, err);
}
