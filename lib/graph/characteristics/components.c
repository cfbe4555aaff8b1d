/*
 * Connected components by FastSV (Zhang, Azad and Hu, "FastSV: a distributed-memory connected
 * component algorithm with fast convergence", PP20): every vertex has a parent; trees are hooked to
 * smaller parents of neighbours' parents and shortened, until no grandparent changes.
 */
#include "lib/graph/characteristics/adjacency.h"

#include "lib/base/memory.h"
#include "lib/comm/exchange/large_alltoallv.h"
#include "lib/comm/exchange/owner_query.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK = 1 << 18 /* requests of a round */ };

/* A parent for a vertex. */
struct hook {
    hw_gid vertex, parent;
};

/* State of the vertices that this rank owns. */
struct components {
    const struct hw_adjacency *adjacency;
    hw_gid *parent, *grandparent; /* [own] */
    hw_gid *min;                  /* [own] of the neighbours' grandparents and the own one */
    hw_gid *reply;                /* [entries], or [own] if that is more */
    struct hook *hook;            /* [own] */
};

static void reply_parents(void *self, const void *request, hw_count count, void *reply)
{
    const struct components *c = self;
    const hw_gid *vertex = request;
    hw_gid *parent = reply;

    for (hw_count i = 0; i < count; i++)
        parent[i] = c->parent[vertex[i] - c->adjacency->first];
}

static void reply_grandparents(void *self, const void *request, hw_count count, void *reply)
{
    const struct components *c = self;
    const hw_gid *vertex = request;
    hw_gid *grandparent = reply;

    for (hw_count i = 0; i < count; i++)
        grandparent[i] = c->grandparent[vertex[i] - c->adjacency->first];
}

static void take_hooks(void *self, const void *request, hw_count count, void *reply)
{
    struct components *c = self;
    const struct hook *hook = request;

    (void)reply;
    for (hw_count i = 0; i < count; i++) {
        hw_gid *parent = &c->parent[hook[i].vertex - c->adjacency->first];
        *parent = hook[i].parent < *parent ? hook[i].parent : *parent;
    }
}

/* The values of vertices, by their owners. */
static enum hw_status query(struct components *c,
                            void (*respond)(void *, const void *, hw_count, void *), hw_count count,
                            const hw_gid *vertex, hw_gid *reply, struct hw_error *err)
{
    const struct hw_owner_query values = {.ctx = c->adjacency->ctx,
                                          .owners = &c->adjacency->owners,
                                          .request_size = sizeof *vertex,
                                          .reply_size = sizeof *reply,
                                          .chunk = CHUNK,
                                          .respond = respond,
                                          .self = c};

    return hw_owner_query(&values, HW_OK, count, vertex, reply, err);
}

/* Offers each vertex's least to its parent, at the parent's owner. */
static enum hw_status hook_parents(struct components *c, struct hw_error *err)
{
    const struct hw_adjacency *adjacency = c->adjacency;
    const struct hw_owner_query hooks = {.ctx = adjacency->ctx,
                                         .owners = &adjacency->owners,
                                         .request_size = sizeof *c->hook,
                                         .chunk = CHUNK,
                                         .respond = take_hooks,
                                         .self = c};
    hw_count count = 0;

    for (hw_count v = 0; v < adjacency->own; v++)
        if (c->min[v] < c->parent[v])
            c->hook[count++] = (struct hook){c->parent[v], c->min[v]};
    return hw_owner_query(&hooks, HW_OK, count, c->hook, NULL, err);
}

/* One iteration; *changed: how many grandparents it changed on all ranks. */
static enum hw_status iterate(struct components *c, hw_count *changed, struct hw_error *err)
{
    const struct hw_adjacency *adjacency = c->adjacency;
    const hw_count own = adjacency->own;

    HW_TRY(query(c, reply_grandparents, adjacency->start[own], adjacency->neighbor, c->reply, err));
    for (hw_count v = 0; v < own; v++) {
        c->min[v] = c->grandparent[v];
        for (hw_count i = adjacency->start[v]; i < adjacency->start[v + 1]; i++)
            c->min[v] = c->reply[i] < c->min[v] ? c->reply[i] : c->min[v];
    }
    HW_TRY(hook_parents(c, err));
    for (hw_count v = 0; v < own; v++)
        c->parent[v] = c->min[v] < c->parent[v] ? c->min[v] : c->parent[v];
    HW_TRY(query(c, reply_parents, own, c->parent, c->reply, err));
    *changed = 0;
    for (hw_count v = 0; v < own; v++) {
        *changed += c->reply[v] != c->grandparent[v];
        c->grandparent[v] = c->reply[v];
    }
    return hw_sum(adjacency->ctx->world, changed, err);
}

static enum hw_status components_alloc(struct components *c, struct hw_error *err)
{
    const hw_count own = c->adjacency->own, entries = c->adjacency->start[own];

    HW_TRY(hw_alloc(&c->parent, own, sizeof *c->parent, "components", err));
    HW_TRY(hw_alloc(&c->min, own, sizeof *c->min, "components", err));
    HW_TRY(hw_alloc(&c->hook, own, sizeof *c->hook, "components", err));
    return hw_alloc(&c->reply, entries > own ? entries : own, sizeof *c->reply, "components", err);
}

enum hw_status hw_adjacency_components(const struct hw_adjacency *adjacency, hw_gid *label,
                                       struct hw_error *err)
{
    struct components c = {.adjacency = adjacency, .grandparent = label};
    hw_count changed = 1;

    enum hw_status status = hw_agree(adjacency->ctx->world, components_alloc(&c, err), err);
    for (hw_count v = 0; v < adjacency->own && status == HW_OK; v++)
        c.parent[v] = c.grandparent[v] = adjacency->first + v;
    while (changed > 0 && status == HW_OK)
        status = iterate(&c, &changed, err);
    free(c.parent);
    free(c.min);
    free(c.hook);
    free(c.reply);
    return status;
}
