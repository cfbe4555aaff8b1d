#include "lib/engine/sssp/weight_stats.h"

#include "lib/comm/exchange/large_alltoallv.h"

#include <float.h>
#include <math.h>

static double value(union hw_weight weight, enum hw_weights kind)
{
    return kind == HW_WEIGHTS_F32 ? (double)weight.f32 : (double)weight.i32;
}

/* Adds `count` weights. */
static void look(const union hw_weight *weight, hw_count count, enum hw_weights kind,
                 struct hw_weight_summary *seen)
{
    hw_count negative = 0;
    double min = seen->min, max = seen->max, sum = 0;

#pragma omp parallel for reduction(+ : negative, sum) reduction(min : min)                         \
    reduction(max : max) if (count > 1 << 16)
    for (hw_count e = 0; e < count; e++) {
        double w = value(weight[e], kind);
        negative += w < 0;
        min = w < min ? w : min;
        max = w > max ? w : max;
        sum += w;
    }
    seen->edges += count;
    seen->negative += negative;
    seen->min = min;
    seen->max = max;
    seen->sum += sum;
}

/* Sums and extremes over the ranks. Collective. */
static enum hw_status combine(const struct hw_context *ctx, struct hw_weight_summary *seen,
                              struct hw_error *err)
{
    double extremes[2] = {-seen->min, seen->max};

    HW_TRY(hw_sum(ctx->world, &seen->edges, err));
    HW_TRY(hw_sum(ctx->world, &seen->negative, err));
    HW_TRY(hw_mpi(MPI_Allreduce(MPI_IN_PLACE, &seen->sum, 1, MPI_DOUBLE, MPI_SUM, ctx->world),
                  "MPI_Allreduce", err));
    HW_TRY(hw_mpi(MPI_Allreduce(MPI_IN_PLACE, extremes, 2, MPI_DOUBLE, MPI_MAX, ctx->world),
                  "MPI_Allreduce", err));
    seen->min = -extremes[0];
    seen->max = extremes[1];
    return HW_OK;
}

enum hw_status hw_weight_stats(const struct hw_context *ctx, const struct hw_part *part,
                               struct hw_weight_stats *stats, struct hw_error *err)
{
    struct hw_weight_summary seen = {.min = HUGE_VAL, .max = -HUGE_VAL};

    if (part->resident && part->resident->seen.edges > 0)
        seen = part->resident->seen;

    /* Transposed matrices hold the same edges again. */
    const struct hw_csr *const matrices[] = {&part->grid.out, &part->separate.nn,
                                             &part->separate.nd, &part->separate.dn,
                                             &part->separate.dd};

    for (size_t m = 0; m < sizeof matrices / sizeof *matrices; m++)
        if (matrices[m]->offset && matrices[m]->weight)
            look(matrices[m]->weight, matrices[m]->offset[matrices[m]->rows], part->weights, &seen);
    /* They are no stored edges, but decide whether some cycle is negative. */
    seen.negative += part->own.loops;
    enum hw_status status = combine(ctx, &seen, err);
    *stats = (struct hw_weight_stats){.edges = seen.edges, .negative = seen.negative};
    if (seen.edges > 0) {
        stats->min = seen.min;
        stats->max = seen.max;
        stats->mean = seen.sum / (double)seen.edges;
    }
    return status;
}

enum hw_status hw_weight_stats_for(const struct hw_context *ctx, const struct hw_part *part,
                                   const char *method, bool takes_negative,
                                   struct hw_weight_stats *stats, struct hw_error *err)
{
    if (part->weights == HW_WEIGHTS_NONE)
        return hw_fail(err, HW_BAD_INPUT,
                       "shortest paths need weights, which this partition does not hold; make the "
                       "graph with --weights");
    HW_TRY(hw_weight_stats(ctx, part, stats, err));
    if (!isfinite(stats->min) || !isfinite(stats->max) || !isfinite(stats->mean))
        return hw_fail(err, HW_BAD_INPUT, "some weights are no finite numbers");
    if (stats->negative > 0 && !takes_negative)
        return hw_fail(err, HW_BAD_INPUT,
                       "method %s takes no negative weights (edges that have such: %" PRI_COUNT
                       "); use --method bellman-ford",
                       method, stats->negative);
    return HW_OK;
}

double hw_weight_stats_longest(const struct hw_weight_stats *stats, const struct hw_part *part)
{
    return fmax(fabs(stats->min), fabs(stats->max)) * (double)part->vertices;
}

enum hw_distance hw_weight_stats_kind(const struct hw_weight_stats *stats,
                                      const struct hw_part *part)
{
    return hw_distance_kind(part->weights,
                            stats->negative > 0 ? HUGE_VAL : hw_weight_stats_longest(stats, part));
}

bool hw_weight_stats_may_overflow(const struct hw_weight_stats *stats, const struct hw_part *part)
{
    return part->weights == HW_WEIGHTS_F32 && hw_weight_stats_longest(stats, part) > FLT_MAX / 4;
}

enum hw_status hw_distances_overflow(struct hw_error *err)
{
    return hw_fail(err, HW_BAD_INPUT,
                   "distances exceed the range of 32-bit floats, about 3.4e38; use smaller or "
                   "integer weights");
}
