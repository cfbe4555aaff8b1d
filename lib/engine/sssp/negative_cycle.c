/*
 * Cycles among parents, by pointer jumping over slices of the graph ids.
 *
 * Every vertex points at its parent and keeps the least vertex it has passed;
 * each round doubles how far it looks, and who sees the end of its chain drops
 * out. When that is as far as there are vertices, whoever is left looks at a
 * vertex of a cycle, every vertex of a cycle is looked at by one, and the least
 * vertex on the way from there is the cycle's name: its leader. Each vertex of a
 * cycle sends the leader's rank the weight of its edge; the least leader whose
 * exact sum is negative names the answer, which is then gathered on every rank.
 */
#include "lib/engine/sssp/negative_cycle.h"

#include "lib/base/exact_sum.h"
#include "lib/base/memory.h"
#include "lib/comm/exchange/large_alltoallv.h"
#include "lib/comm/exchange/owner_query.h"
#include "lib/store/block_distribution.h"

#include <stdlib.h>
#include <string.h>

/* Vertices that a rank asks about at a time, at most. */
#define CHUNK ((hw_count)1 << 18)

/* Integers whose sum cannot overflow, whatever their number. */
__extension__ typedef __int128 wide;

/* Where a vertex looks, and the least vertex from itself to before there. */
struct hop {
    hw_gid to; /* HW_GID_NONE: the end of its chain */
    hw_gid min;
};

/* A cycle's weight, known to the rank that holds its leader. */
struct sum {
    hw_gid leader;
    struct hw_exact real;
    wide whole;
};

/* What a vertex of a cycle sends to its leader's rank. */
struct share {
    hw_gid leader;
    union hw_weight weight;
};

/* A vertex of the answer. */
struct link {
    hw_gid vertex, parent;
};

/* A search for cycles, on one slice. */
struct finder {
    const struct hw_context *ctx;
    enum hw_weights weights;
    struct hw_block_distribution slices;
    hw_gid first;   /* of the slice */
    hw_count count; /* of its vertices */
    hw_gid *parent; /* [count] */
    union hw_weight *weight;
    struct hop *hop;  /* [count] */
    bool *on;         /* [count] lies on a cycle */
    hw_count moving;  /* vertices whose chains have not ended */
    hw_count *active; /* [moving] rising */
    hw_gid *sight;    /* [moving] where they look */
    struct hop *next;
    hw_count leaders;
    struct sum *sum; /* [leaders] rising */
};

hw_count hw_negative_bytes(hw_gid vertices, int ranks)
{
    const hw_count vertex = 2 * sizeof(hw_gid) + sizeof(union hw_weight) + 2 * sizeof(struct hop) +
                            sizeof(bool) + sizeof(hw_count) + sizeof(struct share);
    hw_count first, longest;

    /* The first slice is the longest. */
    hw_store_share(vertices, 0, ranks, &first, &longest);
    /* Cycles are few; were every vertex in one of two, half of all would lead. */
    return longest * (vertex + (hw_count)sizeof(struct sum) / 2) +
           hw_owner_query_bytes(sizeof(struct share), sizeof(struct hop), CHUNK);
}

static void finder_free(struct finder *finder)
{
    hw_block_distribution_free(&finder->slices);
    free(finder->parent);
    free(finder->weight);
    free(finder->hop);
    free(finder->on);
    free(finder->active);
    free(finder->sight);
    free(finder->next);
    free(finder->sum);
}

static enum hw_status finder_alloc(struct finder *finder, hw_gid vertices, struct hw_error *err)
{
    const hw_count count = finder->count;

    HW_TRY(hw_block_distribution_make(vertices, finder->ctx->size, &finder->slices, err));
    HW_TRY(hw_alloc(&finder->parent, count, sizeof *finder->parent, "parents", err));
    HW_TRY(hw_alloc(&finder->weight, count, sizeof *finder->weight, "weights", err));
    HW_TRY(hw_alloc(&finder->hop, count, sizeof *finder->hop, "chains", err));
    HW_TRY(hw_alloc_zero(&finder->on, count, sizeof *finder->on, "cycles", err));
    HW_TRY(hw_alloc(&finder->active, count, sizeof *finder->active, "chains", err));
    HW_TRY(hw_alloc(&finder->sight, count, sizeof *finder->sight, "chains", err));
    return hw_alloc(&finder->next, count, sizeof *finder->next, "chains", err);
}

/* The place of a vertex in the slice. */
static hw_count place_of(const struct finder *finder, hw_gid vertex)
{
    return vertex - finder->first;
}

/* ---- where chains lead ---- */

/* Points every vertex at its parent; a root, or none, ends a chain. */
static void begin_chains(struct finder *finder)
{
    finder->moving = 0;
    for (hw_count i = 0; i < finder->count; i++) {
        hw_gid vertex = finder->first + i, to = finder->parent[i];
        bool ends = to < 0 || to >= finder->slices.vertices || to == vertex;
        finder->hop[i] = (struct hop){ends ? HW_GID_NONE : to, vertex};
        if (!ends)
            finder->active[finder->moving++] = i;
    }
}

/* Notes where those under way look, and forgets the others. */
static void look(struct finder *finder)
{
    hw_count left = 0;

    for (hw_count i = 0; i < finder->moving; i++) {
        hw_count at = finder->active[i];
        if (finder->hop[at].to == HW_GID_NONE)
            continue;
        finder->sight[left] = finder->hop[at].to;
        finder->active[left++] = at;
    }
    finder->moving = left;
}

static void reply_hop(void *self, const void *request, hw_count count, void *reply)
{
    const struct finder *finder = self;
    const hw_gid *vertex = request;
    struct hop *hop = reply;

#pragma omp parallel for schedule(static) num_threads(finder->ctx->threads)
    for (hw_count i = 0; i < count; i++)
        hop[i] = finder->hop[place_of(finder, vertex[i])];
}

/* Everyone under way looks as far again as it does. All look equally far, since
 * none moves before all are answered. */
static void jump(struct finder *finder)
{
#pragma omp parallel for schedule(static) num_threads(finder->ctx->threads)
    for (hw_count i = 0; i < finder->moving; i++) {
        struct hop *hop = &finder->hop[finder->active[i]];
        const struct hop *next = &finder->next[i];
        hop->to = next->to;
        hop->min = next->min < hop->min ? next->min : hop->min;
    }
    look(finder);
}

/* Lets all chains end that do. *moving: those left on the rank that has most.
 * Collective. */
static enum hw_status follow_chains(struct finder *finder, hw_count *moving, struct hw_error *err)
{
    const struct hw_owner_query query = {.ctx = finder->ctx,
                                         .owners = &finder->slices,
                                         .request_size = sizeof(hw_gid),
                                         .reply_size = sizeof(struct hop),
                                         .chunk = CHUNK,
                                         .respond = reply_hop,
                                         .self = finder};
    enum hw_status status = HW_OK;

    begin_chains(finder);
    look(finder);
    for (hw_gid steps = 1;; steps *= 2) {
        *moving = finder->moving;
        status = hw_largest(finder->ctx->world, moving, err);
        if (status != HW_OK || *moving == 0 || steps >= finder->slices.vertices)
            return status;
        status = hw_owner_query(&query, HW_OK, finder->moving, finder->sight, finder->next, err);
        if (status != HW_OK)
            return status;
        jump(finder);
    }
}

/* ---- what cycles weigh ---- */

static void reply_on(void *self, const void *request, hw_count count, void *reply)
{
    struct finder *finder = self;
    const hw_gid *vertex = request;

    (void)reply;
    for (hw_count i = 0; i < count; i++)
        finder->on[place_of(finder, vertex[i])] = true;
}

/* Finds the vertices on cycles: those looked at. Collective. */
static enum hw_status mark_cycles(struct finder *finder, struct hw_error *err)
{
    const struct hw_owner_query query = {.ctx = finder->ctx,
                                         .owners = &finder->slices,
                                         .request_size = sizeof(hw_gid),
                                         .chunk = CHUNK,
                                         .respond = reply_on,
                                         .self = finder};

    return hw_owner_query(&query, HW_OK, finder->moving, finder->sight, NULL, err);
}

/* Makes an empty sum for each leader of the slice. */
static enum hw_status make_sums(struct finder *finder, struct hw_error *err)
{
    hw_count leaders = 0;

    for (hw_count i = 0; i < finder->count; i++)
        leaders += finder->on[i] && finder->hop[i].min == finder->first + i;
    HW_TRY(hw_alloc_zero(&finder->sum, leaders, sizeof *finder->sum, "sums", err));
    for (hw_count i = 0; i < finder->count; i++)
        if (finder->on[i] && finder->hop[i].min == finder->first + i)
            finder->sum[finder->leaders++].leader = finder->first + i;
    return HW_OK;
}

static int compare_leader(const void *key, const void *element)
{
    hw_gid a = *(const hw_gid *)key, b = ((const struct sum *)element)->leader;

    return a < b ? -1 : a > b;
}

static void reply_share(void *self, const void *request, hw_count count, void *reply)
{
    struct finder *finder = self;
    const struct share *share = request;

    (void)reply;
    for (hw_count i = 0; i < count; i++) {
        struct sum *sum = bsearch(&share[i].leader, finder->sum, (size_t)finder->leaders,
                                  sizeof *finder->sum, compare_leader);
        if (!sum)
            continue;
        if (finder->weights == HW_WEIGHTS_F32)
            hw_exact_add(&sum->real, share[i].weight.f32);
        else
            sum->whole += share[i].weight.i32;
    }
}

/* Adds up the weights of all cycles, at their leaders. Collective. */
static enum hw_status weigh_cycles(struct finder *finder, struct hw_error *err)
{
    const struct hw_owner_query query = {.ctx = finder->ctx,
                                         .owners = &finder->slices,
                                         .request_size = sizeof(struct share),
                                         .chunk = CHUNK,
                                         .respond = reply_share,
                                         .self = finder};
    struct share *share = NULL;
    hw_count shares = 0;
    enum hw_status status = make_sums(finder, err);

    for (hw_count i = 0; i < finder->count; i++)
        shares += finder->on[i];
    if (status == HW_OK)
        status = hw_alloc(&share, shares, sizeof *share, "weights of cycles", err);
    shares = 0;
    for (hw_count i = 0; i < finder->count && status == HW_OK; i++)
        if (finder->on[i])
            share[shares++] = (struct share){finder->hop[i].min, finder->weight[i]};
    status = hw_agree(finder->ctx->world, status, err);
    if (status == HW_OK)
        status = hw_owner_query(&query, HW_OK, shares, share, NULL, err);
    free(share);
    return status;
}

static int sign_of(const struct finder *finder, const struct sum *sum)
{
    if (finder->weights == HW_WEIGHTS_F32)
        return hw_exact_sign(&sum->real);
    return sum->whole < 0 ? -1 : sum->whole > 0;
}

/* The least leader of a negative cycle, on all ranks; HW_GID_NONE where none is.
 * cycle: its weight. Collective. */
static enum hw_status choose_cycle(const struct finder *finder, hw_gid *leader,
                                   struct hw_cycle *cycle, struct hw_error *err)
{
    MPI_Comm world = finder->ctx->world;
    const struct sum *min = NULL;

    for (hw_count i = 0; i < finder->leaders && !min; i++)
        if (sign_of(finder, &finder->sum[i]) < 0)
            min = &finder->sum[i];
    *leader = min ? min->leader : INT64_MAX;
    enum hw_status status = hw_mpi(
        MPI_Allreduce(MPI_IN_PLACE, leader, 1, HW_MPI_GID, MPI_MIN, world), "MPI_Allreduce", err);
    if (status != HW_OK || *leader == INT64_MAX) {
        *leader = HW_GID_NONE;
        return status;
    }
    int owner = hw_block_distribution_owner(&finder->slices, *leader);
    if (owner == finder->ctx->rank) {
        cycle->real = hw_exact_double(&min->real);
        cycle->whole = (int64_t)min->whole;
        if (min->whole < INT64_MIN)
            status = hw_fail(err, HW_RESOURCES,
                             "a negative cycle weighs less than 64 bits hold: its sum overflows");
    }
    status = hw_agree(world, status, err);
    if (status == HW_OK)
        status = hw_mpi(MPI_Bcast(&cycle->real, 1, MPI_DOUBLE, owner, world), "MPI_Bcast", err);
    if (status == HW_OK)
        status = hw_mpi(MPI_Bcast(&cycle->whole, 1, MPI_INT64_T, owner, world), "MPI_Bcast", err);
    return status;
}

/* ---- the answer ---- */

/* Every rank's links, one rank after another, on all ranks. Collective. */
static enum hw_status gather_links(const struct hw_context *ctx, const hw_count *length,
                                   struct link *all, hw_count at, struct hw_error *err)
{
    const hw_count piece = CHUNK;

    for (int r = 0; r < ctx->size; at += length[r], r++)
        for (hw_count done = 0; done < length[r]; done += piece) {
            hw_count here = length[r] - done < piece ? length[r] - done : piece;
            HW_TRY(hw_mpi(MPI_Bcast(all + at + done, (int)(2 * here), HW_MPI_GID, r, ctx->world),
                          "MPI_Bcast", err));
        }
    return HW_OK;
}

static int compare_link(const void *key, const void *element)
{
    hw_gid a = *(const hw_gid *)key, b = ((const struct link *)element)->vertex;

    return a < b ? -1 : a > b;
}

/* Puts links, sorted by vertex, into the order of the cycle, from the first one
 * on: parents are found backwards. */
static enum hw_status order_cycle(const struct link *link, struct hw_cycle *cycle,
                                  struct hw_error *err)
{
    const struct link *at = link;

    for (hw_count i = cycle->length; i-- > 0 && at;) {
        cycle->vertex[(i + 1) % cycle->length] = at->vertex;
        at = bsearch(&at->parent, link, (size_t)cycle->length, sizeof *link, compare_link);
    }
    return at == link ? HW_OK : hw_fail(err, HW_INTERNAL, "a cycle of parents does not close");
}

/* Memory of gather_cycle(). */
struct gathering {
    hw_count *length;  /* [ranks] links of each rank */
    struct link *link; /* [cycle->length] */
};

/* Allocates the cycle and lists own links, from `at` on. Local. */
static enum hw_status list_links(struct gathering *gathering, const struct finder *finder,
                                 hw_gid leader, hw_count at, struct hw_cycle *cycle,
                                 struct hw_error *err)
{
    HW_TRY(hw_alloc(&gathering->link, cycle->length, sizeof *gathering->link, "the cycle", err));
    HW_TRY(hw_alloc(&cycle->vertex, cycle->length, sizeof *cycle->vertex, "the cycle", err));
    for (hw_count i = 0; i < finder->count; i++)
        if (finder->on[i] && finder->hop[i].min == leader)
            gathering->link[at++] = (struct link){finder->first + i, finder->parent[i]};
    return HW_OK;
}

/* All of gather_cycle() but the clean-up. Collective. */
static enum hw_status gather(struct gathering *gathering, const struct finder *finder,
                             hw_gid leader, struct hw_cycle *cycle, struct hw_error *err)
{
    const struct hw_context *ctx = finder->ctx;
    hw_count mine = 0, at = 0;

    HW_TRY_ALL(ctx,
               hw_alloc(&gathering->length, ctx->size, sizeof *gathering->length, "counts", err),
               err);
    for (hw_count i = 0; i < finder->count; i++)
        mine += finder->on[i] && finder->hop[i].min == leader;
    HW_TRY(hw_mpi(
        MPI_Allgather(&mine, 1, HW_MPI_COUNT, gathering->length, 1, HW_MPI_COUNT, ctx->world),
        "MPI_Allgather", err));
    for (int r = 0; r < ctx->size; r++) {
        at += r < ctx->rank ? gathering->length[r] : 0;
        cycle->length += gathering->length[r];
    }
    HW_TRY_ALL(ctx, list_links(gathering, finder, leader, at, cycle, err), err);
    HW_TRY(gather_links(ctx, gathering->length, gathering->link, 0, err));
    return order_cycle(gathering->link, cycle, err);
}

/* Gathers the cycle of that leader on every rank. Collective. */
static enum hw_status gather_cycle(const struct finder *finder, hw_gid leader,
                                   struct hw_cycle *cycle, struct hw_error *err)
{
    struct gathering gathering = {0};
    enum hw_status status = gather(&gathering, finder, leader, cycle, err);

    free(gathering.length);
    free(gathering.link);
    return status;
}

enum hw_status hw_negative_cycle(const struct hw_part *part, struct hw_tree *tree,
                                 const hw_gid *parent, const union hw_weight *weight,
                                 struct hw_cycle *cycle, struct hw_error *err)
{
    struct finder finder = {
        .ctx = tree->ctx, .weights = part->weights, .first = tree->first, .count = tree->length};
    hw_gid leader = HW_GID_NONE;
    hw_count moving = 0;

    *cycle = (struct hw_cycle){0};
    enum hw_status status =
        hw_agree(tree->ctx->world, finder_alloc(&finder, part->vertices, err), err);
    if (status == HW_OK)
        status = hw_tree_slice(tree, sizeof *parent, parent, finder.parent, err);
    if (status == HW_OK)
        status = follow_chains(&finder, &moving, err);
    if (status != HW_OK || moving == 0)
        goto done;
    status = hw_tree_slice(tree, sizeof *weight, weight, finder.weight, err);
    if (status == HW_OK)
        status = mark_cycles(&finder, err);
    if (status == HW_OK)
        status = weigh_cycles(&finder, err);
    if (status == HW_OK)
        status = choose_cycle(&finder, &leader, cycle, err);
    if (status == HW_OK && leader != HW_GID_NONE)
        status = gather_cycle(&finder, leader, cycle, err);
    if (status != HW_OK)
        hw_cycle_free(cycle);
done:
    finder_free(&finder);
    return status;
}

/* ---- single edges ---- */

/* The least of the ranks' values; those of ranks not in the race stay out.
 * Collective. */
static enum hw_status min_id(const struct hw_context *ctx, bool in, hw_gid mine, hw_gid *min,
                             struct hw_error *err)
{
    *min = in ? mine : INT64_MAX;
    return hw_mpi(MPI_Allreduce(MPI_IN_PLACE, min, 1, HW_MPI_GID, MPI_MIN, ctx->world),
                  "MPI_Allreduce", err);
}

enum hw_status hw_negative_least(const struct hw_context *ctx, enum hw_weights weights,
                                 const struct hw_negative_edge *edge, struct hw_cycle *cycle,
                                 struct hw_error *err)
{
    hw_gid source = HW_GID_NONE, target = HW_GID_NONE;
    double mine = 0, min;

    *cycle = (struct hw_cycle){0};
    /* A double holds every weight of either type. */
    if (edge->source != HW_GID_NONE)
        mine = weights == HW_WEIGHTS_F32 ? (double)edge->weight.f32 : (double)edge->weight.i32;
    enum hw_status status = hw_mpi(MPI_Allreduce(&mine, &min, 1, MPI_DOUBLE, MPI_MIN, ctx->world),
                                   "MPI_Allreduce", err);
    if (status != HW_OK || !(min < 0))
        return status;
    bool in = edge->source != HW_GID_NONE && !(mine > min);
    status = min_id(ctx, in, edge->source, &source, err);
    if (status == HW_OK)
        status = min_id(ctx, in && edge->source == source, edge->target, &target, err);
    if (status == HW_OK)
        status = hw_agree(
            ctx->world, hw_alloc(&cycle->vertex, 2, sizeof *cycle->vertex, "the cycle", err), err);
    if (status != HW_OK) {
        hw_cycle_free(cycle);
        return status;
    }
    cycle->length = source == target ? 1 : 2;
    cycle->vertex[0] = source;
    cycle->vertex[1] = target;
    if (weights == HW_WEIGHTS_F32)
        cycle->real = (double)cycle->length * min;
    else
        cycle->whole = (int64_t)cycle->length * (int64_t)min;
    return HW_OK;
}
