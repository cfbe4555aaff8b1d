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
    if (e->hop[v] < 0) {
        e->hop[v] = e->hops_done + 1;
        e->least[v] = id;
        queue->item[queue->count++] = v;
    } else if (e->hop[v] == e->hops_done + 1 && id < e->least[v]) {
        e->least[v] = id;
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
        if (hw_distance_add(e->kind, key, edge->weight) == hw_sssp_delegates_key(e, edge->index))
            offer(e, edge->index, id, queue);
    }
    return lists->offset[u + 1] - lists->offset[u];
}

static int64_t get_least(const struct hw_sssp_delegates *e, hw_lid g)
{
    return e->least[g];
}

/* What came for a delegate: from its own part, too, which has offered already. */
static void take_delegate(struct hw_sssp_delegates *e, hw_lid g, int64_t id)
{
    if (id == INT64_MAX)
        return;
    if (e->hop[g] < 0) {
        e->hop[g] = e->hops_done + 1;
        e->least[g] = id;
    } else if (e->hop[g] == e->hops_done + 1 && id < e->least[g]) {
        e->least[g] = id;
    }
    if (e->hop[g] == e->hops_done + 1 && !(e->mark[g] & HW_MARK_QUEUED)) {
        e->mark[g] |= HW_MARK_QUEUED;
        e->next.item[e->next.count++] = g;
    }
}

static void take_told(struct hw_sssp_delegates *e, hw_lid where, int64_t id)
{
    offer(e, e->borders.watched[where], id, &e->next);
}

/* Tells others of the offers, and makes the next frontier. Collective. */
static enum hw_status exchange(struct hw_sssp_delegates *e, struct hw_trace_record *row, bool *more,
                               struct hw_error *err)
{
    const struct hw_sssp_delegates_reduction way = {
        .size = sizeof(hw_gid), .get = get_least, .take = take_delegate};
    struct hw_sssp_delegates_news news = {0};
    hw_lid *own = e->improved.item;
    hw_count delegates = 0;

    for (hw_count i = 0; i < e->improved_ghosts.count; i++)
        hw_sssp_delegates_tell(e, e->improved_ghosts.item[i], sizeof(hw_gid),
                               e->least[e->improved_ghosts.item[i]]);
    for (hw_count i = 0; i < e->improved.count; i++)
        if (own[i] < e->delegates)
            own[delegates++] = own[i];
        else
            e->next.item[e->next.count++] = own[i];
    news.delegates = delegates;
    news.active = delegates + e->next.count + e->improved_ghosts.count;
    e->improved.count = e->improved_ghosts.count = 0;
    enum hw_status status = hw_sssp_delegates_share(e, &news, row, err);
    if (status == HW_OK)
        status = hw_sssp_delegates_reduce(e, &way, own, delegates, news.delegates, row, err);
    if (status == HW_OK)
        status = hw_sssp_delegates_deliver(e, sizeof(hw_gid), take_told, row, err);
    *more = news.active > 0;
    return status;
}

/* The parents of vertices that wait for the end: all edges to them are here. */
static void pull_last(struct hw_sssp_delegates *e, struct hw_trace_record *row)
{
    for (hw_lid i = 0; i < e->last_count; i++) {
        hw_lid v = e->last_list[i];
        int64_t key = hw_sssp_delegates_key(e, v);
        if (v == e->root || key == hw_distance_none(e->kind))
            continue;
        for (hw_count k = e->into->lists.offset[v]; k < e->into->lists.offset[v + 1]; k++) {
            const struct hw_edge *edge = &e->into->lists.edge[k];
            hw_lid u = edge->index;
            if (e->hop[u] < 0 ||
                hw_distance_add(e->kind, hw_sssp_delegates_key(e, u), edge->weight) != key)
                continue;
            hw_gid id = hw_sssp_delegates_id(e, u);
            bool better = e->hop[v] < 0 || e->hop[u] + 1 < e->hop[v] ||
                          (e->hop[u] + 1 == e->hop[v] && id < e->least[v]);
            e->hop[v] = better ? e->hop[u] + 1 : e->hop[v];
            e->least[v] = better ? id : e->least[v];
        }
        row->edges_examined += e->into->lists.offset[v + 1] - e->into->lists.offset[v];
    }
}

/* Parents of own vertices, whose code becomes one that is no local. Returns how many
 * have none, though they are reached. */
static hw_count write_parents(struct hw_sssp_delegates *e)
{
    hw_count lost = 0;

    for (hw_lid v = 0; v < e->locals; v++) {
        bool delegate = v < e->delegates;
        int64_t key = hw_sssp_delegates_key(e, v);
        if (key == hw_distance_none(e->kind) || (delegate && e->own_slot[v] == HW_LID_NONE))
            continue;
        /* The slot of a delegate that has been written. */
        if (!delegate && hw_best_parent(e->kind, e->best, v) == e->none)
            continue;
        hw_lid slot = delegate ? e->own_slot[v] : v - e->delegates;
        e->parent[slot] = e->least[v];
        hw_best_set(e->kind, e->best, e->delegates + slot, key, e->none);
        lost += e->hop[v] < 0;
    }
    return lost;
}

/* Nothing is offered yet, but the root to itself. */
static void start(struct hw_sssp_delegates *e)
{
    hw_count all = (hw_count)e->locals + e->ghosts;

    for (hw_count v = 0; v < all; v++) {
        e->hop[v] = -1;
        e->least[v] = INT64_MAX;
        e->mark[v] = 0;
    }
    e->hops_done = 0;
    e->frontier.count = e->next.count = 0;
    e->improved.count = e->improved_ghosts.count = 0;
    if (e->root == HW_LID_NONE)
        return;
    e->hop[e->root] = 0;
    e->least[e->root] = hw_sssp_delegates_id(e, e->root);
    e->next.item[e->next.count++] = e->root;
}

enum hw_status hw_sssp_delegates_hops(struct hw_sssp_delegates *e, struct hw_trace_record *row,
                                      struct hw_error *err)
{
    double begun = hw_seconds();
    enum hw_status status = hw_sssp_delegates_refresh(e, row, err);

    start(e);
    for (bool more = true; more && status == HW_OK; e->hops_done++) {
        struct hw_sssp_delegates_queue queue = e->frontier;
        e->frontier = e->next;
        e->next = queue;
        e->next.count = 0;
        for (hw_count i = 0; i < e->frontier.count; i++) {
            hw_lid u = e->frontier.item[i];
            row->edges_examined += offer_along(e, &e->out.lists, u, &e->improved);
            row->edges_examined += offer_along(e, &e->cross.lists, u, &e->improved_ghosts);
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
