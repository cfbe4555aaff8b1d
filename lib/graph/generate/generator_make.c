/* The tuples that follow from a generator spec. */
#include "lib/graph/generate/generator_spec.h"

#include "lib/base/memory.h"

#include <stdlib.h>

enum { GROUPS_AT_A_TIME = 1 << 14, COUNTS_AT_A_TIME = 1 << 20, SAMPLE = 1 << 10 };

/* The seed of weights: one for each pair of Graph500 seeds. */
static uint64_t weight_seed(const struct hw_generator_spec *spec)
{
    if (spec->model != HW_MODEL_GRAPH500)
        return spec->seed;
    return spec->seed1 + UINT64_C(0x9E3779B97F4A7C15) * spec->seed2;
}

/* Fills in a generator of a spatial model; stars need nothing. */
static void init_spatial(const struct hw_generator_spec *spec, struct hw_generator *made)
{
    made->permutation = hw_vertex_permutation(spec->seed, spec->vertices, spec->scramble);
    switch (spec->model) {
    case HW_MODEL_GRID:
    case HW_MODEL_TORUS:
        hw_lattice_init(&made->lattice, spec->dimensions, spec->size,
                        spec->model == HW_MODEL_TORUS);
        return;
    case HW_MODEL_CHAIN:
        hw_lattice_init(&made->lattice, 1, &spec->vertices, false);
        return;
    case HW_MODEL_SMALL_WORLD:
        hw_small_world_init(&made->small_world, spec->vertices, spec->probability, spec->seed);
        return;
    case HW_MODEL_GEOMETRIC:
        hw_geometric_init(&made->geometric, spec->scale, spec->dimensions, spec->degree,
                          spec->seed);
        return;
    case HW_MODEL_ROAD:
        hw_road_init(&made->road, spec->size, spec->seed);
        return;
    default:
        return;
    }
}

enum hw_status hw_generator_open(const struct hw_generator_spec *spec,
                                 struct hw_generator **generator, struct hw_error *err)
{
    struct hw_generator *made = NULL;

    *generator = NULL;
    HW_TRY(hw_alloc_zero(&made, 1, sizeof *made, "generator", err));
    *generator = made;
    made->model = spec->model;
    made->weighter = (struct hw_weighter){.weighting = spec->weighting,
                                          .seed = weight_seed(spec),
                                          .low = spec->low,
                                          .high = spec->high};
    switch (spec->model) {
    case HW_MODEL_RMAT:
        hw_rmat_init(&made->rmat, spec->scale, spec->abcd, spec->seed, spec->scramble);
        break;
    case HW_MODEL_ERDOS_RENYI:
        hw_pairs_init(&made->pairs, spec->vertices, spec->directed, spec->seed);
        break;
    case HW_MODEL_GRAPH500:
        hw_graph500_init(&made->graph500, spec->scale, spec->seed1, spec->seed2);
        break;
    default:
        init_spatial(spec, made);
        break;
    }
    return HW_OK;
}

/* ---- the index ---- */

hw_count hw_generator_index_bytes(const struct hw_generator_spec *spec)
{
    if (spec->model != HW_MODEL_GEOMETRIC)
        return 0;
    return (spec->vertices / HW_GEOMETRIC_GROUP_POINTS + 2) * (hw_count)sizeof(hw_count);
}

enum hw_status hw_generator_index_seconds(const struct hw_generator_spec *spec, int ranks,
                                          double *seconds, struct hw_error *err)
{
    struct hw_generator *generator = NULL;
    hw_count tuples = 0;

    HW_TRY(hw_generator_open(spec, &generator, err));
    const struct hw_geometric *geometric = &generator->geometric;
    const hw_count groups = geometric->groups, some = groups < SAMPLE ? groups : SAMPLE;
    const double started = hw_seconds();
#pragma omp parallel for schedule(dynamic, 16) reduction(+ : tuples)
    for (hw_count group = 0; group < some; group++)
        tuples += hw_geometric_count_group(geometric, group);
    *seconds = tuples < 0 ? 0 /* never; keeps the work */
                          : (hw_seconds() - started) * (double)groups / ((double)some * ranks);
    hw_generator_free(generator);
    return HW_OK;
}

/* Counts the tuples of this rank's share of the groups into count[group + 1]. */
static void count_groups(const struct hw_context *ctx, const struct hw_geometric *geometric,
                         hw_count *count)
{
    const hw_count groups = geometric->groups, size = ctx->size;
    const hw_count begin = groups / size * ctx->rank + groups % size * ctx->rank / size;
    const hw_count end = groups / size * (ctx->rank + 1) + groups % size * (ctx->rank + 1) / size;
    struct hw_progress bar = {0};

    for (hw_count first = begin; first < end; first += GROUPS_AT_A_TIME) {
        const hw_count last = end - first < GROUPS_AT_A_TIME ? end : first + GROUPS_AT_A_TIME;
#pragma omp parallel for schedule(dynamic, 16)
        for (hw_count group = first; group < last; group++)
            count[group + 1] = hw_geometric_count_group(geometric, group);
        hw_progress(ctx, &bar, "counting edges", last - begin, end - begin);
    }
    hw_progress_end(&bar);
}

/* Sums arrays of counts over the ranks, a piece at a time: MPI allocates as much again. */
static enum hw_status sum_counts(const struct hw_context *ctx, hw_count *count, hw_count length,
                                 struct hw_error *err)
{
    for (hw_count first = 0; first < length; first += COUNTS_AT_A_TIME) {
        const hw_count some = length - first < COUNTS_AT_A_TIME ? length - first : COUNTS_AT_A_TIME;
        HW_TRY(hw_mpi(MPI_Allreduce(MPI_IN_PLACE, count + first, (int)some, HW_MPI_COUNT, MPI_SUM,
                                    ctx->world),
                      "MPI_Allreduce", err));
    }
    return HW_OK;
}

enum hw_status hw_generator_index(const struct hw_context *ctx, struct hw_generator *generator,
                                  hw_count edges, struct hw_error *err)
{
    struct hw_geometric *geometric = &generator->geometric;

    if (generator->model != HW_MODEL_GEOMETRIC)
        return HW_OK;
    HW_TRY(hw_memory_require(ctx, (geometric->groups + 1) * (hw_count)sizeof(hw_count),
                             "the index of the edges", err));
    HW_TRY_ALL(ctx,
               hw_alloc_zero(&geometric->first_edge, geometric->groups + 1,
                             sizeof *geometric->first_edge, "the index of the edges", err),
               err);
    count_groups(ctx, geometric, geometric->first_edge);
    HW_TRY_ALL(ctx, sum_counts(ctx, geometric->first_edge, geometric->groups + 1, err), err);
    for (hw_count group = 0; group < geometric->groups; group++)
        geometric->first_edge[group + 1] += geometric->first_edge[group];
    if (edges >= 0 && geometric->first_edge[geometric->groups] != edges)
        return hw_fail(err, HW_BAD_INPUT,
                       "the recipe makes %" PRI_COUNT " edges, the file says %" PRI_COUNT,
                       geometric->first_edge[geometric->groups], edges);
    return HW_OK;
}

enum hw_status hw_generator_spec_count(const struct hw_context *ctx, struct hw_generator_spec *spec,
                                       struct hw_error *err)
{
    struct hw_generator *generator = NULL;

    if (spec->edges >= 0)
        return HW_OK;
    enum hw_status status = hw_agree(ctx->world, hw_generator_open(spec, &generator, err), err);
    if (status == HW_OK)
        status = hw_generator_index(ctx, generator, -1, err);
    if (status == HW_OK)
        spec->edges = generator->geometric.first_edge[generator->geometric.groups];
    hw_generator_free(generator);
    return status;
}

/* ---- tuples ---- */

/* Makes tuples of a star around vertex 0. */
static void make_star(hw_count first, hw_count count, hw_gid *source, hw_gid *target)
{
    for (hw_count i = 0; i < count; i++) {
        source[i] = 0;
        target[i] = (hw_gid)(first + i) + 1;
    }
}

/* Makes tuples of a spatial model; length: NULL if not wanted. */
static void make_spatial(const struct hw_generator *generator, hw_count first, hw_count count,
                         hw_gid *source, hw_gid *target, union hw_weight *length)
{
    const struct hw_vertex_permutation *permutation = &generator->permutation;

    switch (generator->model) {
    case HW_MODEL_STAR:
        make_star(first, count, source, target);
        break;
    case HW_MODEL_SMALL_WORLD:
        hw_small_world_make(&generator->small_world, first, count, source, target);
        break;
    case HW_MODEL_GEOMETRIC:
        hw_geometric_make(&generator->geometric, first, count, source, target, length);
        break;
    case HW_MODEL_ROAD:
        hw_road_make(&generator->road, first, count, source, target, length);
        break;
    default:
        hw_lattice_make(&generator->lattice, first, count, source, target);
        break;
    }
    for (hw_count i = 0; i < count && !permutation->identity; i++) {
        source[i] = (hw_gid)hw_permuted(permutation, (uint64_t)source[i]);
        target[i] = (hw_gid)hw_permuted(permutation, (uint64_t)target[i]);
    }
}

void hw_generator_make(const struct hw_generator *generator, hw_count first, hw_count count,
                       hw_gid *source, hw_gid *target, union hw_weight *weight)
{
    const enum hw_weighting weighting = generator->weighter.weighting;
    const bool own_weights =
        weighting == HW_WEIGHTING_LENGTH ||
        (generator->model == HW_MODEL_GRAPH500 && weighting == HW_WEIGHTING_UNIFORM);

    switch (generator->model) {
    case HW_MODEL_RMAT:
        hw_rmat_make(&generator->rmat, first, count, source, target);
        break;
    case HW_MODEL_ERDOS_RENYI:
        hw_pairs_make(&generator->pairs, first, count, source, target);
        break;
    case HW_MODEL_GRAPH500:
        hw_graph500_make(&generator->graph500, first, count, source, target,
                         own_weights ? weight : NULL);
        break;
    default:
        make_spatial(generator, first, count, source, target, own_weights ? weight : NULL);
        break;
    }
    if (weight && !own_weights)
        hw_weights_make(&generator->weighter, first, count, source, target, weight);
}

void hw_generator_free(struct hw_generator *generator)
{
    if (generator && generator->model == HW_MODEL_GEOMETRIC)
        free(generator->geometric.first_edge);
    free(generator);
}
