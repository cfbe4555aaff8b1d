/* Stage 2 of building: search ids. */
#include "lib/layout/build/build.h"

#include "lib/base/memory.h"
#include "lib/base/permutation.h"
#include "lib/base/radix_sort.h"
#include "lib/comm/exchange/large_alltoallv.h"
#include "lib/layout/degree_variation.h"

#include <stdlib.h>
#include <string.h>

/* Samples that a rank gives at least and at most, to find where the ranks'
 * shares of the order begin. */
#define MIN_SAMPLES 32
#define MAX_SAMPLES 256

/* A vertex as the order sees it: by rising rank, that is falling degree, then
 * by graph id. */
struct standing {
    uint64_t rank; /* highest degree - degree */
    hw_gid graph_id;
};

/* The vertices of one rank, sorted. */
struct standings {
    hw_count count;
    uint64_t *rank;  /* [count] */
    uint32_t *local; /* [count] which kept vertex */
    int rank_bits;
};

static void free_standings(struct standings *standings)
{
    free(standings->rank);
    free(standings->local);
}

/* Sorts the kept vertices. They are numbered by rising graph id and the sort is
 * stable, so the degree alone is the key. */
static enum hw_status sort_stored(const struct hw_builder *builder, struct standings *standings,
                                  struct hw_error *err)
{
    hw_count highest = 0, stored = builder->vertices.owned.count;

    *standings = (struct standings){.count = stored};
#pragma omp parallel for schedule(static) reduction(max : highest) if (stored >= HW_SERIAL_BELOW)
    for (hw_count v = 0; v < stored; v++)
        highest = builder->vertices.owned.degree[v] > highest ? builder->vertices.owned.degree[v]
                                                              : highest;
    HW_TRY(hw_largest(builder->ctx->world, &highest, err));
    standings->rank_bits = hw_bits((uint64_t)highest + 1);
    HW_TRY(hw_alloc(&standings->rank, stored, sizeof *standings->rank, "the order", err));
    HW_TRY(hw_alloc(&standings->local, stored, sizeof *standings->local, "the order", err));
#pragma omp parallel for schedule(static) if (stored >= HW_SERIAL_BELOW)
    for (hw_count v = 0; v < stored; v++) {
        standings->rank[v] = (uint64_t)(highest - builder->vertices.owned.degree[v]);
        standings->local[v] = (uint32_t)v;
    }
    return hw_sort(standings->rank, standings->local, stored, standings->rank_bits, err);
}

static struct standing standing_at(const struct hw_builder *builder,
                                   const struct standings *standings, hw_count i)
{
    return (struct standing){
        standings->rank[i], hw_vertex_distribution_vertex(&builder->vertices.distribution,
                                                          builder->ctx->rank, standings->local[i])};
}

static int compare(const void *a, const void *b)
{
    const struct standing *x = a, *y = b;

    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return (x->graph_id > y->graph_id) - (x->graph_id < y->graph_id);
}

/* Evenly spaced standings of all ranks, sorted. samples: [ranks x each] on every
 * rank; those of a rank without vertices come last of all. */
static enum hw_status gather_samples(const struct hw_builder *builder,
                                     const struct standings *standings, int each,
                                     struct standing *samples, struct hw_error *err)
{
    size_t ranks = (size_t)builder->ctx->size;
    int mine = builder->ctx->rank * each, values = 2 * each;

    for (int s = 0; s < each; s++)
        samples[mine + s] = standings->count > 0
                                ? standing_at(builder, standings, standings->count * s / each)
                                : (struct standing){UINT64_MAX, INT64_MAX};
    HW_TRY(hw_mpi(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, samples, values, HW_MPI_GID,
                                builder->ctx->world),
                  "MPI_Allgather", err));
    qsort(samples, ranks * (size_t)each, sizeof *samples, compare);
    return HW_OK;
}

/* How many of the sorted standings go to each rank. count: [ranks]. */
static enum hw_status cut_standings(const struct hw_builder *builder,
                                    const struct standings *standings, hw_count *count,
                                    struct hw_error *err)
{
    int ranks = builder->ctx->size;
    int each = ranks < MIN_SAMPLES ? MIN_SAMPLES : ranks < MAX_SAMPLES ? ranks : MAX_SAMPLES;
    struct standing *samples = NULL;
    hw_count before = 0;
    enum hw_status status =
        hw_agree(builder->ctx->world,
                 hw_alloc(&samples, (hw_count)ranks * each, sizeof *samples, "samples", err), err);
    if (status == HW_OK)
        status = gather_samples(builder, standings, each, samples, err);
    for (int r = 0; r < ranks && status == HW_OK; r++) {
        hw_count low = before, high = standings->count;
        while (low < high && r < ranks - 1) {
            hw_count middle = low + (high - low) / 2;
            struct standing at = standing_at(builder, standings, middle);
            if (compare(&at, &samples[(size_t)(r + 1) * (size_t)each]) < 0)
                low = middle + 1;
            else
                high = middle;
        }
        hw_count end = r == ranks - 1 ? standings->count : low;
        count[r] = end - before;
        before = end;
    }
    free(samples);
    return status;
}

/* Standings that came from all ranks, in runs by rank. */
struct arrivals {
    hw_count count;
    uint64_t *rank, *graph_id;
    uint32_t *from; /* [count] their places when they came */
};

/* Numbers what came, and puts the search ids in the places in which the
 * vertices came. search: [count]. */
static enum hw_status number(const struct hw_builder *builder, struct arrivals *arrivals,
                             int rank_bits, hw_gid *search, struct hw_error *err)
{
    hw_count before = 0, count = arrivals->count;
    enum hw_status status =
        hw_alloc(&arrivals->from, count, sizeof *arrivals->from, "the order", err);

    if (status == HW_OK)
        for (hw_count i = 0; i < count; i++)
            arrivals->from[i] = (uint32_t)i;
    if (status == HW_OK)
        status = hw_sort(arrivals->graph_id, arrivals->from, count,
                         hw_bits((uint64_t)builder->config.desc->vertices), err);
    /* The graph ids have done their part; the ranks follow in their order. */
    for (hw_count i = 0; i < count && status == HW_OK; i++)
        arrivals->graph_id[i] = arrivals->rank[arrivals->from[i]];
    if (status == HW_OK)
        status = hw_sort(arrivals->graph_id, arrivals->from, count, rank_bits, err);
    status = hw_agree(builder->ctx->world, status, err);
    if (status == HW_OK)
        status = hw_prefix_sum(builder->ctx->world, count, &before, err);
    for (hw_count i = 0; i < count && status == HW_OK; i++)
        search[arrivals->from[i]] = before + i;
    return status;
}

/* Sends each rank its share of the standings, numbers them there and brings the
 * numbers back: [standings->count] search ids in the standings' order. */
static enum hw_status exchange_standings(const struct hw_builder *builder,
                                         struct standings *standings, hw_count *send,
                                         hw_gid *search, struct hw_error *err)
{
    hw_count *come = send + builder->ctx->size;
    struct arrivals arrivals = {0};
    MPI_Comm world = builder->ctx->world;
    hw_gid *reply = NULL;
    enum hw_status status = hw_alltoallv(world, sizeof *standings->rank, standings->rank, send,
                                         &arrivals.rank, come, err);

    for (int r = 0; r < builder->ctx->size && status == HW_OK; r++)
        arrivals.count += come[r];
    for (hw_count i = 0; i < standings->count; i++)
        search[i] = hw_vertex_distribution_vertex(&builder->vertices.distribution,
                                                  builder->ctx->rank, standings->local[i]);
    if (status == HW_OK)
        status = hw_alltoallv(world, sizeof *search, search, send, &arrivals.graph_id, come, err);
    if (status == HW_OK) {
        status =
            hw_agree(world, hw_alloc(&reply, arrivals.count, sizeof *reply, "the order", err), err);
    }
    if (status == HW_OK)
        status = number(builder, &arrivals, standings->rank_bits, reply, err);
    if (status == HW_OK)
        status = hw_alltoallv_into(world, sizeof *reply, reply, come, search, send, err);
    free(arrivals.rank);
    free(arrivals.graph_id);
    free(arrivals.from);
    free(reply);
    return status;
}

/* Search ids by a distributed sample sort. */
static enum hw_status order_over_ranks(struct hw_builder *builder, struct standings *standings,
                                       struct hw_error *err)
{
    hw_count *counts = NULL;
    hw_gid *search = NULL;
    enum hw_status status =
        hw_alloc(&counts, 2 * (hw_count)builder->ctx->size, sizeof *counts, "counts", err);

    if (status == HW_OK)
        status = hw_alloc(&search, standings->count, sizeof *search, "the order", err);
    status = hw_agree(builder->ctx->world, status, err);
    if (status == HW_OK)
        status = cut_standings(builder, standings, counts, err);
    if (status == HW_OK)
        status = exchange_standings(builder, standings, counts, search, err);
    for (hw_count i = 0; i < standings->count && status == HW_OK; i++)
        builder->vertices.owned.code[standings->local[i]] = search[i];
    free(counts);
    free(search);
    return status;
}

static enum hw_status order_by_degree(struct hw_builder *builder, struct hw_error *err)
{
    struct standings standings;
    enum hw_status status =
        hw_agree(builder->ctx->world, sort_stored(builder, &standings, err), err);
    if (status == HW_OK && builder->ctx->size > 1) {
        status = order_over_ranks(builder, &standings, err);
    } else if (status == HW_OK) {
#pragma omp parallel for schedule(static) if (standings.count >= HW_SERIAL_BELOW)
        for (hw_count i = 0; i < standings.count; i++)
            builder->vertices.owned.code[standings.local[i]] = i;
    }
    free_standings(&standings);
    return status;
}

/* One part without hubs keeps the ids of the graph, if any order will do: results then need no
 * translation, and neighbours that the graph has numbered alike stay close. Local. */
static void choose_order(struct hw_builder *builder)
{
    const hw_count count = builder->vertices.owned.count;
    const hw_count *degree = builder->vertices.owned.degree;
    struct hw_layout_spec *spec = &builder->config.spec;
    const bool any = spec->any_order && !builder->config.engine;
    double sum = 0, squares = 0;

    spec->any_order = false; /* from here on it is settled */
    if (!any || spec->parts > 1 || spec->layout == HW_LAYOUT_DEGREE_SEPARATED ||
        builder->ctx->size > 1 || count == 0)
        return;
#pragma omp parallel for schedule(static) reduction(+ : sum, squares) if (count >= HW_SERIAL_BELOW)
    for (hw_count v = 0; v < count; v++) {
        sum += (double)degree[v];
        squares += (double)degree[v] * (double)degree[v];
    }
    if (hw_degrees_hardly_vary((double)count, sum, squares))
        spec->order = HW_ORDER_NONE;
}

enum hw_status hw_build_order(struct hw_builder *builder, struct hw_error *err)
{
    hw_count stored = builder->vertices.owned.count;

    choose_order(builder);

    HW_TRY_ALL(builder->ctx,
               hw_alloc(&builder->vertices.owned.code, stored, sizeof *builder->vertices.owned.code,
                        "search ids", err),
               err);
    if (builder->config.spec.order == HW_ORDER_DEGREE)
        return order_by_degree(builder, err);
    bool hash = builder->config.spec.order == HW_ORDER_HASH;
    struct hw_permutation permutation =
        hw_permutation((uint64_t)builder->config.desc->vertices, HW_ORDER_HASH_SEED);
#pragma omp parallel for schedule(static) if (stored >= HW_SERIAL_BELOW)
    for (hw_count v = 0; v < stored; v++) {
        hw_gid graph_id =
            hw_vertex_distribution_vertex(&builder->vertices.distribution, builder->ctx->rank, v);
        builder->vertices.owned.code[v] =
            hash ? (hw_gid)hw_permute(&permutation, (uint64_t)graph_id) : graph_id;
    }
    return HW_OK;
}
