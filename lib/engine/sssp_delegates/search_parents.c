/*
 * Parents as the search left them: see sssp_delegates.h. A part knows the parent of a
 * delegate whose distance it improved last, and of a slot that it improved
 * itself; of others it asks the part that sent it.
 *
 * Where several parts improved a delegate to the same distance in the same step,
 * the parent is that of the lowest rank. Any fixed order of the ranks will do, but
 * one there must be: where edges have no length, a delegate g may be the parent of
 * h on one part and h that of g on another.
 */
#include "lib/base/memory.h"
#include "lib/comm/exchange/large_alltoallv.h"
#include "lib/engine/sssp_delegates/sssp_delegates.h"

#include <stdlib.h>
#include <string.h>

/* A parent as it is sent. */
struct parent {
    hw_gid id;
    union hw_weight weight; /* of the edge from it, where e->negative.weight is kept */
    hw_lid child;           /* a delegate */
};

/* The parent of a local or ghost that this part knows. */
static struct parent known_parent(const struct hw_sssp_delegates *e, hw_lid v)
{
    struct parent parent = {
        .id = hw_sssp_delegates_id(e, hw_best_parent(e->derived.kind, e->search.best, v)),
        .child = v};

    if (e->negative.weight)
        parent.weight = e->negative.weight[v];
    return parent;
}

static void set_parent(struct hw_sssp_delegates *e, hw_lid slot, const struct parent *parent)
{
    e->parents.parent[slot] = parent->id;
    if (e->negative.weight)
        e->negative.parent_weight[slot] = parent->weight;
}

/* ---- delegates ---- */

/* Fills the parents of delegates that this part knows, by owner. out: NULL to
 * count. at: [parts] where those of each owner go. */
static void list_claims(const struct hw_sssp_delegates *e, struct parent *out, hw_count *at)
{
    for (hw_lid g = 0; g < e->vertices.delegates; g++) {
        if (hw_best_parent(e->derived.kind, e->search.best, g) == e->vertices.none)
            continue;
        hw_count *next = &at[e->vertices.owner[g]];
        if (out)
            out[*next] = known_parent(e, g);
        ++*next;
    }
}

/* Turns counts into places; returns the sum. */
static hw_count places_of(const hw_count *count, int parts, hw_count *at)
{
    hw_count sum = 0;

    for (int r = 0; r < parts; r++) {
        at[r] = sum;
        sum += count[r];
    }
    return sum;
}

/* Tells the owners of delegates what this part knows. Collective. */
static enum hw_status settle_delegates(struct hw_sssp_delegates *e, struct hw_trace_record *row,
                                       struct hw_error *err)
{
    int parts = e->ctx.size;
    hw_count *at = NULL, count = 0;
    struct parent *out = NULL, *in = NULL;
    enum hw_status status = hw_alloc(&at, parts, sizeof *at, "parents", err);

    memset(e->messages.send_count, 0, (size_t)parts * sizeof *e->messages.send_count);
    list_claims(e, NULL, e->messages.send_count);
    if (status == HW_OK) {
        count = places_of(e->messages.send_count, parts, at);
        status = hw_alloc(&out, count, sizeof *out, "parents", err);
    }
    status = hw_agree(e->ctx.world, status, err);
    if (status != HW_OK)
        goto done;
    list_claims(e, out, at);
    status = hw_alltoallv(e->ctx.world, sizeof *out, out, e->messages.send_count, &in,
                          e->messages.recv_count, err);
    if (status != HW_OK)
        goto done;
    hw_sssp_delegates_count_sent(e, row, e->messages.send_count, sizeof *out);
    hw_traffic_add_gather(&row->sent, sizeof *e->messages.send_count, parts, e->part->spec.devices);
    hw_count received = places_of(e->messages.recv_count, parts, at);
    /* From the highest rank to the lowest, so that this one stays. */
    for (hw_count i = received - 1; i >= 0; i--)
        set_parent(e, e->vertices.own_slot[in[i].child], &in[i]);
done:
    free(at);
    free(out);
    free(in);
    return status;
}

/* ---- normal vertices ---- */

/* Lists, of the slots whose parent this part must ask for, the places among its
 * mirrors. question: NULL to count. at: [parts]. */
static void list_requests(const struct hw_sssp_delegates *e, hw_lid *request, hw_count *at)
{
    const hw_lid *first = e->halo.mirror_first;

    for (hw_lid v = e->vertices.delegates; v < e->vertices.locals; v++) {
        hw_lid code = hw_best_parent(e->derived.kind, e->search.best, v);
        if (code == e->vertices.none || code < e->vertices.locals)
            continue;
        hw_lid place = code - e->vertices.locals;
        int low = 0, high = e->ctx.size;
        while (high - low > 1) {
            int middle = low + (high - low) / 2;
            if (first[middle] <= place)
                low = middle;
            else
                high = middle;
        }
        if (request)
            request[at[low]] = place;
        at[low]++;
    }
}

/* Answers questions about ghosts, whose places come part after part. */
static void reply(const struct hw_sssp_delegates *e, const hw_lid *requested, const hw_count *count,
                  struct parent *out)
{
    hw_count i = 0;

    for (int r = 0; r < e->ctx.size; r++)
        for (hw_count end = i + count[r]; i < end; i++)
            out[i] = known_parent(e, e->vertices.locals + e->halo.ghost_first[r] + requested[i]);
}

/* Asks the parts that sent a vertex for its parent. question: [questions] places,
 * part after part; e->messages.send_count counts them. Collective. */
static enum hw_status ask(struct hw_sssp_delegates *e, hw_lid *request, hw_count requests,
                          struct hw_trace_record *row, struct hw_error *err)
{
    int parts = e->ctx.size;
    hw_lid *requested = NULL, *relative = NULL;
    struct parent *out = NULL, *in = NULL;
    hw_count replies = 0, i = 0;
    enum hw_status status = hw_alloc(&relative, requests, sizeof *relative, "parents", err);

    status = hw_agree(e->ctx.world, status, err);
    if (status != HW_OK)
        goto done;
    for (int r = 0; r < parts; r++)
        for (hw_count end = i + e->messages.send_count[r]; i < end; i++)
            relative[i] = request[i] - e->halo.mirror_first[r];
    status = hw_alltoallv(e->ctx.world, sizeof *relative, relative, e->messages.send_count,
                          &requested, e->messages.recv_count, err);
    if (status != HW_OK)
        goto done;
    for (int r = 0; r < parts; r++)
        replies += e->messages.recv_count[r];
    status = hw_alloc(&out, replies, sizeof *out, "parents", err);
    if (status == HW_OK)
        status = hw_alloc(&in, requests, sizeof *in, "parents", err);
    status = hw_agree(e->ctx.world, status, err);
    if (status != HW_OK)
        goto done;
    reply(e, requested, e->messages.recv_count, out);
    status = hw_alltoallv_into(e->ctx.world, sizeof *out, out, e->messages.recv_count, in,
                               e->messages.send_count, err);
    for (hw_count k = 0; k < requests && status == HW_OK; k++)
        set_parent(e, e->halo.mirror[request[k]] - e->vertices.delegates, &in[k]);
    hw_sssp_delegates_count_sent(e, row, e->messages.send_count, sizeof *request);
    hw_sssp_delegates_count_sent(e, row, e->messages.recv_count, sizeof *out);
    hw_traffic_add_gather(&row->sent, sizeof *e->messages.send_count, parts, e->part->spec.devices);
done:
    free(requested);
    free(relative);
    free(out);
    free(in);
    return status;
}

static enum hw_status settle_slots(struct hw_sssp_delegates *e, struct hw_trace_record *row,
                                   struct hw_error *err)
{
    int parts = e->ctx.size;
    hw_lid *request = NULL;
    hw_count *at = NULL, requests = 0;
    enum hw_status status = hw_alloc(&at, parts, sizeof *at, "parents", err);

    memset(e->messages.send_count, 0, (size_t)parts * sizeof *e->messages.send_count);
    list_requests(e, NULL, e->messages.send_count);
    if (status == HW_OK) {
        requests = places_of(e->messages.send_count, parts, at);
        status = hw_alloc(&request, requests, sizeof *request, "parents", err);
    }
    status = hw_agree(e->ctx.world, status, err);
    if (status == HW_OK) {
        list_requests(e, request, at);
        status = ask(e, request, requests, row, err);
    }
    free(at);
    free(request);
    return status;
}

/* The slots of this part's delegates get their distance, and a code that is no
 * local: their parent has been received. */
static void copy_delegates(struct hw_sssp_delegates *e)
{
    for (hw_lid g = 0; g < e->vertices.delegates; g++) {
        if (e->vertices.own_slot[g] == HW_LID_NONE || !hw_sssp_delegates_reached(e, g))
            continue;
        if (e->ctx.size == 1) {
            struct parent parent = known_parent(e, g);
            set_parent(e, e->vertices.own_slot[g], &parent);
        }
        hw_best_set(e->derived.kind, e->search.best,
                    e->vertices.delegates + e->vertices.own_slot[g], hw_sssp_delegates_key(e, g),
                    e->vertices.none);
    }
}

enum hw_status hw_sssp_delegates_parents(struct hw_sssp_delegates *e, struct hw_trace_record *row,
                                         struct hw_error *err)
{
    double start = hw_seconds();
    enum hw_status status = HW_OK;

    if (e->ctx.size > 1) {
        status = settle_slots(e, row, err);
        if (status == HW_OK)
            status = settle_delegates(e, row, err);
        memset(e->messages.send_count, 0, (size_t)e->ctx.size * sizeof *e->messages.send_count);
    }
    copy_delegates(e);
    row->seconds[HW_PHASE_NORMAL_EXCHANGE] += hw_seconds() - start;
    return status;
}
