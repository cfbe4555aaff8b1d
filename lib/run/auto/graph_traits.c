#include "lib/run/auto/graph_traits.h"

#include "lib/comm/exchange/large_alltoallv.h"

/* Sums over vertices with edges; ends: of input tuples. */
struct sums {
    hw_count vertices, ends, most;
    double squares;
};

/* Adds up this part's vertices. */
static struct sums add_up(const struct hw_part *part)
{
    const hw_count *tuples = part->own.tuples;
    const hw_lid count = tuples ? part->own.count : 0;
    hw_count vertices = 0, ends = 0, most = 0;
    double squares = 0;

#pragma omp parallel for reduction(+ : vertices, ends, squares)                                    \
    reduction(max : most) if (count > 1 << 16)
    for (hw_lid v = 0; v < count; v++) {
        vertices += tuples[v] > 0;
        ends += tuples[v];
        squares += (double)tuples[v] * (double)tuples[v];
        most = tuples[v] > most ? tuples[v] : most;
    }
    return (struct sums){vertices, ends, most, squares};
}

enum hw_status hw_graph_traits(const struct hw_context *ctx, const struct hw_part *part,
                               struct hw_graph_traits *traits, struct hw_error *err)
{
    struct sums sums = add_up(part);

    *traits = (struct hw_graph_traits){.directed = part->directed};
    HW_TRY(hw_sum(ctx->world, &sums.vertices, err));
    HW_TRY(hw_sum(ctx->world, &sums.ends, err));
    HW_TRY(hw_largest(ctx->world, &sums.most, err));
    HW_TRY(hw_mpi(MPI_Allreduce(MPI_IN_PLACE, &sums.squares, 1, MPI_DOUBLE, MPI_SUM, ctx->world),
                  "MPI_Allreduce", err));
    traits->vertices = sums.vertices;
    if (sums.vertices == 0)
        return HW_OK;
    const double merged = part->edges > 0 ? (double)part->edges / (double)sums.ends : 1;
    const double mean = (double)sums.ends / (double)sums.vertices;
    const double variance = sums.squares / (double)sums.vertices - mean * mean;

    traits->mean_degree = mean * merged;
    traits->max_degree = (double)sums.most * merged;
    if (traits->max_degree > (double)sums.vertices)
        traits->max_degree = (double)sums.vertices;
    traits->dispersion = variance > 0 ? variance / mean * merged : 0;
    return HW_OK;
}
