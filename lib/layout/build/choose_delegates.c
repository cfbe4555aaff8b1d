/* Stage 3 of building, degree-separated layouts: threshold and delegates. */
#include "lib/layout/build/build.h"

#include "lib/base/memory.h"
#include "lib/base/radix_sort.h"
#include "lib/comm/exchange/large_alltoallv.h"
#include "lib/layout/threshold.h"

#include <stdlib.h>

/* The degree that separates: of a directed graph the out-degree. */
static const hw_count *separating(const struct hw_builder *builder)
{
    return builder->vertices.owned.out_degree ? builder->vertices.owned.out_degree
                                              : builder->vertices.owned.degree;
}

/* Chooses the threshold from the degrees of all vertices. */
static enum hw_status choose_threshold(struct hw_builder *builder, struct hw_error *err)
{
    const hw_count *degree = separating(builder);
    struct hw_degrees *degrees = NULL;
    enum hw_status status =
        hw_agree(builder->ctx->world,
                 hw_alloc_zero(&degrees, 1, sizeof *degrees, "degree counts", err), err);
    if (status != HW_OK)
        goto done;
    for (hw_count v = 0; v < builder->vertices.owned.count; v++) {
        degrees->vertices[degree[v] < HW_DEGREE_BINS ? degree[v] : HW_DEGREE_BINS]++;
        degrees->edges += degree[v];
    }
    status =
        hw_mpi(MPI_Allreduce(MPI_IN_PLACE, degrees, (int)(sizeof *degrees / sizeof degrees->edges),
                             HW_MPI_COUNT, MPI_SUM, builder->ctx->world),
               "MPI_Allreduce", err);
    if (status == HW_OK)
        builder->config.spec.threshold = hw_threshold_choose(
            degrees, builder->config.desc->vertices, builder->config.spec.parts);
done:
    free(degrees);
    return status;
}

/* Sorts the table by search id. Local. */
static enum hw_status sort_delegates(struct hw_builder *builder, struct hw_error *err)
{
    const hw_count count = builder->vertices.delegates;
    struct hw_delegate *sorted = NULL;
    uint64_t *key = NULL;
    uint32_t *from = NULL;
    enum hw_status status = hw_alloc(&sorted, count, sizeof *sorted, "delegates", err);

    if (status == HW_OK)
        status = hw_alloc(&key, count, sizeof *key, "delegates", err);
    if (status == HW_OK)
        status = hw_alloc(&from, count, sizeof *from, "delegates", err);
    if (status == HW_OK) {
#pragma omp parallel for if (count >= HW_SERIAL_BELOW)
        for (hw_count d = 0; d < count; d++) {
            key[d] = (uint64_t)builder->vertices.delegate[d].search_id;
            from[d] = (uint32_t)d;
        }
        status = hw_sort(key, from, count, hw_bits((uint64_t)builder->config.desc->vertices), err);
    }
    if (status == HW_OK) {
#pragma omp parallel for if (count >= HW_SERIAL_BELOW)
        for (hw_count d = 0; d < count; d++)
            sorted[d] = builder->vertices.delegate[from[d]];
        free(builder->vertices.delegate);
        builder->vertices.delegate = sorted;
        sorted = NULL;
    }
    free(sorted);
    free(key);
    free(from);
    return status;
}

/* Counts the delegates of every rank. counts: [2 x ranks]: how many, and how
 * many before. */
static enum hw_status count_delegates(struct hw_builder *builder, int *counts, struct hw_error *err)
{
    const hw_count *degree = separating(builder);
    int ranks = builder->ctx->size;
    hw_count mine = 0, all = 0;

    for (hw_count v = 0; v < builder->vertices.owned.count; v++)
        mine += degree[v] > builder->config.spec.threshold;
    all = mine;
    HW_TRY(hw_sum(builder->ctx->world, &all, err));
    if (all > INT32_MAX)
        return hw_fail(err, HW_BAD_INPUT,
                       "%" PRI_COUNT " vertices have a degree above %" PRI_COUNT
                       ", too many delegates; give a larger --degree-threshold",
                       all, builder->config.spec.threshold);
    builder->vertices.delegates = all;
    int count = (int)mine;
    HW_TRY(hw_mpi(MPI_Allgather(&count, 1, MPI_INT, counts, 1, MPI_INT, builder->ctx->world),
                  "MPI_Allgather", err));
    for (int r = 0, before = 0; r < ranks; r++) {
        counts[ranks + r] = before;
        before += counts[r];
    }
    return HW_OK;
}

/* Puts this rank's delegates where they belong in the table and gathers the
 * others'. */
static enum hw_status gather_delegates(struct hw_builder *builder, const int *counts,
                                       struct hw_error *err)
{
    const hw_count *degree = separating(builder);
    int ranks = builder->ctx->size, rank = builder->ctx->rank;
    struct hw_delegate *next = builder->vertices.delegate + counts[ranks + rank];
    MPI_Datatype type = MPI_DATATYPE_NULL;

    for (hw_count v = 0; v < builder->vertices.owned.count; v++)
        if (degree[v] > builder->config.spec.threshold)
            *next++ = (struct hw_delegate){
                builder->vertices.owned.code[v],
                hw_vertex_distribution_vertex(&builder->vertices.distribution, rank, v),
                builder->vertices.owned.degree[v]};
    enum hw_status status =
        hw_mpi(MPI_Type_contiguous((int)sizeof *next, MPI_BYTE, &type), "MPI_Type_contiguous", err);
    if (status == HW_OK)
        status = hw_mpi(MPI_Type_commit(&type), "MPI_Type_commit", err);
    if (status == HW_OK)
        status =
            hw_mpi(MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, builder->vertices.delegate,
                                  counts, counts + ranks, type, builder->ctx->world),
                   "MPI_Allgatherv", err);
    if (type != MPI_DATATYPE_NULL)
        MPI_Type_free(&type);
    return hw_agree(builder->ctx->world, status == HW_OK ? sort_delegates(builder, err) : status,
                    err);
}

/* The delegate with that search id; there is one. */
static hw_gid delegate_of(const struct hw_builder *builder, hw_gid search_id)
{
    hw_count low = 0, high = builder->vertices.delegates - 1;

    while (low < high) {
        hw_count middle = low + (high - low) / 2;
        if (builder->vertices.delegate[middle].search_id < search_id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

enum hw_status hw_build_separate(struct hw_builder *builder, struct hw_error *err)
{
    const hw_count *degree = separating(builder);
    int *counts = NULL;
    enum hw_status status = HW_OK;

    if (builder->config.spec.layout != HW_LAYOUT_DEGREE_SEPARATED)
        return HW_OK;
    if (builder->config.spec.threshold == HW_THRESHOLD_AUTO)
        status = choose_threshold(builder, err);
    if (status != HW_OK)
        return status;
    status = hw_agree(
        builder->ctx->world,
        hw_alloc(&counts, 2 * (hw_count)builder->ctx->size, sizeof *counts, "counts", err), err);
    if (status == HW_OK)
        status = count_delegates(builder, counts, err);
    if (status == HW_OK) {
        status = hw_agree(builder->ctx->world,
                          hw_alloc(&builder->vertices.delegate, builder->vertices.delegates,
                                   sizeof *builder->vertices.delegate, "delegates", err),
                          err);
    }
    if (status == HW_OK)
        status = gather_delegates(builder, counts, err);
    free(counts);
    if (status != HW_OK)
        return status;
#pragma omp parallel for schedule(static) if (builder->vertices.owned.count >= HW_SERIAL_BELOW)
    for (hw_count v = 0; v < builder->vertices.owned.count; v++)
        if (degree[v] > builder->config.spec.threshold)
            builder->vertices.owned.code[v] = builder->config.desc->vertices +
                                              delegate_of(builder, builder->vertices.owned.code[v]);
    return HW_OK;
}
