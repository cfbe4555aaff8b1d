#include "lib/graph/characteristics/characteristics.h"

#include "lib/base/memory.h"
#include "lib/comm/exchange/large_alltoallv.h"
#include "lib/comm/exchange/owner_query.h"
#include "lib/graph/characteristics/adjacency.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 1 << 18 /* requests of a round */ };

/* ---- degrees ---- */

/* So many vertices of a degree. */
struct bar {
    hw_count degree, vertices;
};

static int by_degree(const void *a, const void *b)
{
    const struct bar *x = a, *y = b;

    return (x->degree > y->degree) - (x->degree < y->degree);
}

/* Sorts bars and adds up those of one degree. Returns how many are left. */
static hw_count merge_bars(struct bar *bar, hw_count count)
{
    hw_count kept = 0;

    if (count > 0)
        qsort(bar, (size_t)count, sizeof *bar, by_degree);
    for (hw_count i = 0; i < count; i++)
        if (kept > 0 && bar[kept - 1].degree == bar[i].degree)
            bar[kept - 1].vertices += bar[i].vertices;
        else
            bar[kept++] = bar[i];
    return kept;
}

/* The histogram of all ranks' degrees, ascending, on every rank: distinct degrees are few, at most
 * some sqrt(edges). *bar is the caller's to free. */
static enum hw_status make_histogram(const struct hw_adjacency *adjacency, struct bar **bar,
                                     hw_count *bars, struct hw_error *err)
{
    const struct hw_context *ctx = adjacency->ctx;
    struct bar *mine = NULL, *copies = NULL;
    hw_count *count = NULL, *received = NULL, own = 0;

    *bar = NULL;
    enum hw_status status = hw_alloc(&mine, adjacency->own, sizeof *mine, "degrees", err);
    if (status == HW_OK) {
        for (hw_count v = 0; v < adjacency->own; v++)
            mine[v] = (struct bar){adjacency->degree[v], 1};
        own = merge_bars(mine, adjacency->own);
        status = hw_alloc(&copies, own * ctx->size, sizeof *copies, "degrees", err);
    }
    if (status == HW_OK)
        status = hw_alloc(&count, ctx->size, sizeof *count, "counts", err);
    if (status == HW_OK)
        status = hw_alloc(&received, ctx->size, sizeof *received, "counts", err);
    for (int r = 0; r < ctx->size && status == HW_OK; r++) {
        count[r] = own;
        if (own > 0)
            memcpy(copies + r * own, mine, (size_t)own * sizeof *mine);
    }
    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK)
        status = hw_alltoallv(ctx->world, sizeof *copies, copies, count, bar, received, err);
    *bars = 0;
    for (int r = 0; r < ctx->size && status == HW_OK; r++)
        *bars += received[r];
    if (status == HW_OK)
        *bars = merge_bars(*bar, *bars);
    free(mine);
    free(copies);
    free(count);
    free(received);
    return status;
}

/* Statistics of a histogram, in the order of degrees, hence the same from any number of ranks. */
static void summarize(const struct bar *bar, hw_count bars, struct hw_characteristics *found)
{
    const double n = (double)found->vertices;
    hw_count sum = 0, frequent = 0;
    double square = 0;

    for (hw_count i = 0; i < bars; i++) {
        sum += bar[i].degree * bar[i].vertices;
        found->max_degree = bar[i].degree;
        if (bar[i].vertices > frequent) {
            frequent = bar[i].vertices;
            found->degree_mode = bar[i].degree;
        }
    }
    found->mean_degree = (double)sum / n;
    for (hw_count i = 0; i < bars; i++)
        square += (double)bar[i].vertices * pow((double)bar[i].degree - found->mean_degree, 2);
    found->degree_deviation = sqrt(square / n);
}

/* ---- components ---- */

/* So many vertices with a label. */
struct share {
    hw_gid label;
    hw_count vertices;
};

/* Sizes of the components whose label this rank owns. */
struct sizes {
    hw_gid first;
    hw_count *size; /* [own] */
};

static void add_sizes(void *self, const void *request, hw_count count, void *reply)
{
    struct sizes *sizes = self;
    const struct share *share = request;

    (void)reply;
    for (hw_count i = 0; i < count; i++)
        sizes->size[share[i].label - sizes->first] += share[i].vertices;
}

/* Adds up this rank's vertices of one label next to each other, and sends them to its owner.
 * sizes->size is allocated here and the caller's to free. Ranks agree. */
static enum hw_status count_sizes(const struct hw_adjacency *adjacency, const hw_gid *label,
                                  struct sizes *sizes, struct hw_error *err)
{
    const hw_count own = adjacency->own;
    struct share *share = NULL;
    const struct hw_owner_query query = {.ctx = adjacency->ctx,
                                         .owners = &adjacency->owners,
                                         .request_size = sizeof *share,
                                         .chunk = CHUNK,
                                         .respond = add_sizes,
                                         .self = sizes};
    hw_count shares = 0;

    enum hw_status status = hw_alloc(&share, own, sizeof *share, "components", err);
    if (status == HW_OK)
        status = hw_alloc_zero(&sizes->size, own, sizeof *sizes->size, "components", err);
    for (hw_count v = 0; v < own && status == HW_OK; v++)
        if (shares > 0 && share[shares - 1].label == label[v])
            share[shares - 1].vertices++;
        else
            share[shares++] = (struct share){label[v], 1};
    status = hw_owner_query(&query, status, shares, share, NULL, err);
    free(share);
    return status;
}

/* Counts components and selects the largest; *root: its label. */
static enum hw_status find_largest(const struct hw_adjacency *adjacency, const struct sizes *sizes,
                                   struct hw_characteristics *found, hw_gid *root,
                                   struct hw_error *err)
{
    const struct hw_context *ctx = adjacency->ctx;

    found->components = found->largest_component = 0;
    for (hw_count v = 0; v < adjacency->own; v++) {
        found->components += sizes->size[v] > 0;
        if (sizes->size[v] > found->largest_component)
            found->largest_component = sizes->size[v];
    }
    HW_TRY(hw_sum(ctx->world, &found->components, err));
    HW_TRY(hw_largest(ctx->world, &found->largest_component, err));
    *root = INT64_MAX;
    for (hw_count v = 0; v < adjacency->own && *root == INT64_MAX; v++)
        if (sizes->size[v] == found->largest_component)
            *root = adjacency->first + v;
    return hw_mpi(MPI_Allreduce(MPI_IN_PLACE, root, 1, HW_MPI_COUNT, MPI_MIN, ctx->world),
                  "MPI_Allreduce", err);
}

static enum hw_status find_components(const struct hw_adjacency *adjacency,
                                      struct hw_characteristics *found, hw_gid *root,
                                      struct hw_error *err)
{
    struct sizes sizes = {.first = adjacency->first};
    hw_gid *label = NULL;

    enum hw_status status =
        hw_agree(adjacency->ctx->world,
                 hw_alloc(&label, adjacency->own, sizeof *label, "components", err), err);
    if (status == HW_OK)
        status = hw_adjacency_components(adjacency, label, err);
    if (status == HW_OK)
        status = count_sizes(adjacency, label, &sizes, err);
    if (status == HW_OK)
        status = find_largest(adjacency, &sizes, found, root, err);
    free(label);
    free(sizes.size);
    return status;
}

/* ---- all ---- */

static enum hw_status characterize(const struct hw_adjacency *adjacency,
                                   struct hw_characteristics *found, struct hw_error *err)
{
    struct bar *bar = NULL;
    hw_count bars = 0, levels = 0;
    hw_gid root = 0, farthest = 0;

    HW_TRY(make_histogram(adjacency, &bar, &bars, err));
    summarize(bar, bars, found);
    free(bar);
    found->loops = adjacency->loops;
    found->duplicates = adjacency->duplicates;
    found->isolated = 0;
    for (hw_count v = 0; v < adjacency->own; v++)
        found->isolated += adjacency->start[v] == adjacency->start[v + 1];
    HW_TRY(hw_sum(adjacency->ctx->world, &found->isolated, err));
    HW_TRY(find_components(adjacency, found, &root, err));
    HW_TRY(hw_adjacency_search(adjacency, root, &levels, &farthest, err));
    return hw_adjacency_search(adjacency, farthest, &found->diameter_bound, &farthest, err);
}

enum hw_status hw_characteristics(const struct hw_context *ctx, struct hw_graph *graph,
                                  struct hw_characteristics *found, struct hw_error *err)
{
    const struct hw_graph_desc *desc = hw_graph_desc(graph);
    struct hw_adjacency adjacency = {0};

    *found = (struct hw_characteristics){
        .vertices = desc->vertices, .edges = desc->edges, .directed = desc->directed};
    enum hw_status status = hw_adjacency_build(ctx, graph, &adjacency, err);
    if (status == HW_OK)
        status = characterize(&adjacency, found, err);
    hw_adjacency_free(&adjacency);
    return status;
}
