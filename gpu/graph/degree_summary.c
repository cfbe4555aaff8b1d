#include "gpu/graph/degree_summary.h"

#include "gpu/device/device.h"
#include "gpu/graph/build/vertex_order.h"
#include "lib/comm/exchange/large_alltoallv.h"
#include "lib/layout/degree_variation.h"

/* Mean degree of a mesh, less than; the largest variance of its degrees over their mean. Roads of
 * New York have 2.8 and 0.35, those of Florida 2.5 and 0.36, grids 4 and 0.0; of random graphs with
 * edge factors 1 and 2 the variance is 0.69 and 0.93 of the mean (2026-11-26, x86-64). */
#define MESH_MEAN_DEGREE 6
#define MESH_DISPERSION 0.5

static hw_count degree_of(const struct hw_part *part, const hw_count *begin, hw_lid v)
{
    return begin ? begin[v + 1] - begin[v] : part->own.tuples[v];
}

struct hw_degree_summary hw_degree_summary_of(const struct hw_part *part, const hw_count *begin)
{
    hw_count vertices = 0, edges = 0, squares = 0, longest = 0;

#pragma omp parallel for reduction(+ : vertices, edges, squares) reduction(max : longest)
    for (hw_lid v = 0; v < part->own.count; v++) {
        const hw_count degree = degree_of(part, begin, v);
        const hw_count capped = degree < INT16_MAX ? degree : INT16_MAX; /* sums do not overflow */
        vertices += degree > 0;
        edges += degree;
        squares += capped * capped;
        longest = degree > longest ? degree : longest;
    }
    return (struct hw_degree_summary){
        .vertices = vertices, .edges = edges, .squares = squares, .longest = longest};
}

enum hw_status hw_degree_summary_reduce(const struct hw_context *ctx,
                                        struct hw_degree_summary *summary, struct hw_error *err)
{
    HW_TRY(hw_sum(ctx->world, &summary->vertices, err));
    HW_TRY(hw_sum(ctx->world, &summary->edges, err));
    HW_TRY(hw_sum(ctx->world, &summary->squares, err));
    return hw_largest(ctx->world, &summary->longest, err);
}

bool hw_has_short_lists(const struct hw_degree_summary *summary)
{
    return summary->longest <= HW_MESH_MAX_LIST;
}

bool hw_is_mesh(const struct hw_degree_summary *summary)
{
    const double all = (double)summary->vertices;

    if (summary->vertices == 0 || !hw_has_short_lists(summary))
        return false;
    const double mean = (double)summary->edges / all;
    return mean < MESH_MEAN_DEGREE &&
           (double)summary->squares / all - mean * mean <= MESH_DISPERSION * mean;
}

bool hw_may_be_mesh(const struct hw_part *part)
{
    return part->edges < MESH_MEAN_DEGREE * (hw_count)part->vertices;
}

hw_count hw_count_records(const struct hw_part *part, const hw_count *begin, hw_count edges)
{
    hw_count records = part->own.count;

#pragma omp parallel for reduction(+ : records)
    for (hw_lid v = 0; v < part->own.count; v++) {
        const hw_count degree = degree_of(part, begin, v);
        records += degree > edges ? (degree - 2) / (edges - 1) : 0;
    }
    return records;
}

enum hw_status hw_keeps_own_order(const struct hw_graph_desc *desc,
                                  const struct hw_layout_spec *spec, const uint32_t *degree,
                                  bool *keeps, struct hw_error *err)
{
    const double min_mean_degree = 12, n = (double)desc->vertices;
    struct hw_gpu_arrays arrays = {.count = 0};
    uint64_t *device = NULL, sums[3]; /* of degrees, of their squares; the largest */

    *keeps = false;
    if (!spec->any_order || desc->directed)
        return HW_OK;
    hw_gpu_add(&arrays, &device, 3, sizeof *device);
    enum hw_status status = hw_gpu_allocate(&arrays, 0, "ordering vertices", err);
    if (status == HW_OK)
        status = hw_cuda(hw_gpu_launch_degree_sums(degree, (uint32_t)desc->vertices, device),
                         "the kernel that sums degrees", err);
    if (status == HW_OK)
        status = hw_gpu_get(sums, device, sizeof sums, err);
    hw_gpu_release(&arrays);
    if (status == HW_OK)
        *keeps = hw_degrees_hardly_vary(n, (double)sums[0], (double)sums[1]) &&
                 (double)sums[0] >= min_mean_degree * n;
    return status;
}
