/*
 * Stages 2 and 4 of partitioning (lib/layout/build/build.h) on the device. An all-gather brings the
 * degrees that the ranks have counted to every device, 4 bytes a vertex, and every device sorts all
 * vertices; own vertices are then a strided selection of the sorted order. Tuples are not gathered:
 * every device can make all of them, and counts those of all vertices.
 */
#include "gpu/graph/layout_build.h"

#include "gpu/device/device_sort.h"
#include "gpu/graph/build/vertex_order.h"
#include "gpu/graph/degree_summary.h"
#include "gpu/graph/owned_vertices.h"
#include "lib/base/memory.h"
#include "lib/base/radix_sort.h"
#include "lib/comm/exchange/large_alltoallv.h"
#include "lib/graph/generate/generator.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>

/* ---- gathering ---- */

/* Allocates the arrays of all vertices and computes where each rank's range begins. Collective;
 * ranks agree. */
static enum hw_status open_all(struct hw_layout_build *layout, const struct hw_builder *builder,
                               struct hw_error *err)
{
    const hw_count n = builder->config.desc->vertices;
    const int ranks = builder->ctx->size;
    uint64_t *begin = NULL;
    hw_count sum = 0;
    enum hw_status status = hw_alloc(&layout->all, n, sizeof *layout->all, "vertices", err);

    if (status == HW_OK)
        status = hw_alloc(&layout->count, ranks, sizeof *layout->count, "counts", err);
    if (status == HW_OK)
        status = hw_alloc(&layout->at, ranks, sizeof *layout->at, "counts", err);
    if (status == HW_OK)
        status = hw_alloc(&begin, ranks, sizeof *begin, "counts", err);
    hw_gpu_add(&layout->numbers, &layout->begin, ranks, sizeof *layout->begin);
    hw_gpu_add(&layout->numbers, &layout->number, n, sizeof *layout->number);
    hw_gpu_add(&layout->order, &layout->id, n, sizeof *layout->id);
    if (status == HW_OK)
        status = hw_gpu_allocate(&layout->numbers, 4 * n, "ordering vertices", err);
    if (status == HW_OK)
        status = hw_gpu_allocate(&layout->order, 0, "ordering vertices", err);
    for (int r = 0; r < ranks && status == HW_OK; r++) {
        const hw_count owned = hw_vertex_distribution_count(&builder->vertices.distribution, r);
        if (sum > INT32_MAX || owned > INT32_MAX)
            status = hw_fail(err, HW_RESOURCES, "%" PRI_GID " vertices on %d devices are too many",
                             n, ranks);
        layout->count[r] = (int)owned;
        layout->at[r] = (int)sum;
        begin[r] = (uint64_t)sum;
        sum += owned;
    }
    if (status == HW_OK)
        status = hw_gpu_put(layout->begin, begin, (size_t)ranks * sizeof *begin, err);
    free(begin);
    return hw_agree(builder->ctx->world, status, err);
}

/* This rank's range of layout->all, which it fills. */
static uint32_t *own_range(struct hw_layout_build *layout, const struct hw_builder *builder)
{
    return layout->all + layout->at[builder->ctx->rank];
}

/* All-gathers layout->all: ranks exchange their ranges in pairs, whole. MPI_Allgatherv() of MPICH
 * sends long ranges in pieces of 32 KiB, whose rate is a quarter of that of long messages within a
 * node. Collective. */
static enum hw_status gather_ranges(struct hw_layout_build *layout, const struct hw_context *ctx,
                                    struct hw_error *err)
{
    enum { TAG = 1 };
    enum hw_status status = HW_OK;

    for (int step = 1; step < ctx->size && status == HW_OK; step++) {
        const int to = (ctx->rank + step) % ctx->size,
                  from = (ctx->rank + ctx->size - step) % ctx->size;
        status = hw_mpi(MPI_Sendrecv(layout->all + layout->at[ctx->rank], layout->count[ctx->rank],
                                     MPI_UINT32_T, to, TAG, layout->all + layout->at[from],
                                     layout->count[from], MPI_UINT32_T, from, TAG, ctx->world,
                                     MPI_STATUS_IGNORE),
                        "MPI_Sendrecv", err);
    }
    return status;
}

/* All-gathers layout->all and copies it to the device, by graph id. to, scratch: [vertices].
 * Collective; ranks agree. */
static enum hw_status gather(struct hw_layout_build *layout, const struct hw_builder *builder,
                             uint32_t *scratch, uint32_t *to, struct hw_error *err)
{
    const struct hw_context *ctx = builder->ctx;
    const size_t n = (size_t)builder->config.desc->vertices;
    enum hw_status status = gather_ranges(layout, ctx, err);

    if (status == HW_OK)
        status = hw_gpu_put(scratch, layout->all, n * sizeof *scratch, err);
    if (status == HW_OK)
        status = hw_cuda(
            hw_gpu_launch_undistribute(scratch, &builder->vertices.distribution, layout->begin, to),
            "the kernel that distributes vertices", err);
    return hw_agree(ctx->world, status, err);
}

/* The same for the lower 32 bits of this rank's 64-bit values. */
static enum hw_status gather_bits(struct hw_layout_build *layout, const struct hw_builder *builder,
                                  const hw_count *value, uint32_t *scratch, uint32_t *to,
                                  struct hw_error *err)
{
    uint32_t *own = own_range(layout, builder);

#pragma omp parallel for
    for (hw_count v = 0; v < builder->vertices.owned.count; v++)
        own[v] = (uint32_t)value[v];
    return gather(layout, builder, scratch, to, err);
}

/* ---- the order ---- */

/* Scratch memory of the sort. */
struct ordering {
    struct hw_gpu_arrays arrays;
    uint32_t *degree, *sorted, *first; /* [vertices] */
    char *scratch;
    size_t bytes;
};

static enum hw_status open_ordering(struct ordering *self, hw_count n, struct hw_error *err)
{
    enum hw_status status =
        hw_cuda(hw_gpu_launch_order(NULL, &self->bytes, true, NULL, NULL, NULL, NULL, (uint64_t)n),
                "ordering vertices", err);

    hw_gpu_add(&self->arrays, &self->degree, n, sizeof *self->degree);
    hw_gpu_add(&self->arrays, &self->sorted, n, sizeof *self->sorted);
    hw_gpu_add(&self->arrays, &self->first, n, sizeof *self->first);
    hw_gpu_add(&self->arrays, &self->scratch, (hw_count)self->bytes, 1);
    return status == HW_OK ? hw_gpu_allocate(&self->arrays, 0, "ordering vertices", err) : status;
}

/* *even: whether vertices keep their own order. Local; the same on all ranks. */
static enum hw_status keeps_order(const struct hw_layout_build *layout,
                                  const struct hw_builder *builder, const uint32_t *degree,
                                  bool *even, struct hw_error *err)
{
    *even = false;
    if (!layout->merged || !hw_layout_build_is_one_row(builder))
        return HW_OK;
    return hw_keeps_own_order(builder->config.desc, &builder->config.spec, degree, even, err);
}

/* Numbers vertices by graph id. Local. */
static enum hw_status keep_order(struct hw_layout_build *layout, struct hw_builder *builder,
                                 struct hw_error *err)
{
    const uint64_t n = (uint64_t)builder->config.desc->vertices;

    builder->config.spec.order = HW_ORDER_NONE;
    HW_TRY(hw_cuda(hw_gpu_launch_number(layout->id, n), "numbering vertices", err));
    return hw_cuda(hw_gpu_launch_number(layout->number, n), "numbering vertices", err);
}

/* Sorts vertices by falling degree, ties by graph id. Local. */
static enum hw_status sort_vertices(struct hw_layout_build *layout, struct ordering *self,
                                    uint64_t n, struct hw_error *err)
{
    HW_TRY(hw_cuda(hw_gpu_launch_number(self->first, n), "numbering vertices", err));
    HW_TRY(hw_cuda(hw_gpu_launch_order(self->scratch, &self->bytes, true, self->degree,
                                       self->sorted, self->first, layout->id, n),
                   "ordering vertices", err));
    return hw_cuda(hw_gpu_launch_invert(layout->id, n, 0, layout->number), "numbering vertices",
                   err);
}

/* Orders vertices by their degrees, or leaves them in their own order. Collective; ranks agree. */
static enum hw_status order_by_degree(struct hw_layout_build *layout, struct hw_builder *builder,
                                      struct hw_error *err)
{
    const hw_count n = builder->config.desc->vertices;
    struct ordering self = {.bytes = 0};
    enum hw_status status = hw_agree(builder->ctx->world, open_ordering(&self, n, err), err);

    if (status == HW_OK)
        status = gather_bits(layout, builder, builder->vertices.owned.degree, self.sorted,
                             self.degree, err);
    bool even = false;
    if (status == HW_OK)
        status = keeps_order(layout, builder, self.degree, &even, err);
    if (status == HW_OK)
        status = even ? keep_order(layout, builder, err)
                      : sort_vertices(layout, &self, (uint64_t)n, err);
    hw_gpu_release(&self.arrays);
    return hw_agree(builder->ctx->world, status, err);
}

/* Copies the order that the host computes. Collective; ranks agree. */
static enum hw_status order_by_host(struct hw_layout_build *layout, struct hw_builder *builder,
                                    struct hw_error *err)
{
    const hw_count n = builder->config.desc->vertices;
    enum hw_status status = hw_build_order(builder, err);

    if (status == HW_OK)
        status = gather_bits(layout, builder, builder->vertices.owned.code, layout->id,
                             layout->number, err);
    if (status == HW_OK)
        status = hw_cuda(hw_gpu_launch_invert(layout->number, (uint64_t)n, 0, layout->id),
                         "numbering vertices", err);
    return hw_agree(builder->ctx->world, status, err);
}

/* Search ids of the vertices that the distribution assigns to this rank, for the host. Local. */
static enum hw_status get_codes(struct hw_layout_build *layout, struct hw_builder *builder,
                                struct hw_error *err)
{
    const hw_count owned = builder->vertices.owned.count;
    struct hw_gpu_arrays arrays = {0};
    uint32_t *there = NULL, *here = own_range(layout, builder);
    enum hw_status status = hw_alloc(&builder->vertices.owned.code, owned,
                                     sizeof *builder->vertices.owned.code, "search ids", err);

    hw_gpu_add(&arrays, &there, owned, sizeof *there);
    if (status == HW_OK)
        status = hw_gpu_allocate(&arrays, 0, "ordering vertices", err);
    if (status == HW_OK)
        status = hw_cuda(hw_gpu_launch_distribute(layout->number, &builder->vertices.distribution,
                                                  builder->ctx->rank, (uint64_t)owned, there),
                         "the kernel that distributes vertices", err);
    if (status == HW_OK)
        status = hw_gpu_get(here, there, (size_t)owned * sizeof *here, err);
#pragma omp parallel for if (status == HW_OK)
    for (hw_count v = 0; v < (status == HW_OK ? owned : 0); v++)
        builder->vertices.owned.code[v] = (hw_gid)here[v];
    hw_gpu_release(&arrays);
    return status;
}

enum hw_status hw_layout_build_order(void *given, struct hw_builder *builder, struct hw_error *err)
{
    struct hw_layout_build *layout = given;
    enum hw_status status = open_all(layout, builder, err);

    if (status != HW_OK)
        return status;
    /* Both degrees of a vertex may need more than 32 bits. */
    const bool large = builder->config.desc->directed && builder->config.desc->vertices > INT32_MAX;
    if (builder->config.spec.order != HW_ORDER_DEGREE || large)
        return order_by_host(layout, builder, err);
    status = order_by_degree(layout, builder, err);
    if (status == HW_OK && builder->config.spec.layout == HW_LAYOUT_DEGREE_SEPARATED)
        status = hw_agree(builder->ctx->world, get_codes(layout, builder, err), err);
    return status;
}

/* ---- own vertices ---- */

/* Attributes of all vertices, by graph id. */
struct vertex_attributes {
    struct hw_gpu_arrays arrays;
    uint64_t *tuples;         /* [vertices] */
    uint32_t *scratch, *loop; /* [vertices]; NULL where there are no loops */
};

/* *loops: whether some vertex has a negative self-loop, on all ranks. Collective. */
static enum hw_status find_loops(const struct hw_builder *builder, bool *loops,
                                 struct hw_error *err)
{
    hw_count negative = 0;

#pragma omp parallel for reduction(+ : negative) if (builder->vertices.owned.loop)
    for (hw_count v = 0; v < (builder->vertices.owned.loop ? builder->vertices.owned.count : 0);
         v++)
        negative += builder->vertices.owned.loop[v] != HW_NO_LOOP;
    enum hw_status status = hw_largest(builder->ctx->world, &negative, err);
    *loops = negative > 0;
    return status;
}

/* Counts the tuples of all vertices, from each end at which they are stored. Local. */
static enum hw_status count_tuples(const struct hw_layout_build *layout,
                                   const struct hw_builder *builder, uint64_t *tuples,
                                   struct hw_error *err)
{
    const struct hw_graph_desc *desc = builder->config.desc;
    const uint64_t n = (uint64_t)desc->vertices;
    const struct hw_gpu_entries entries = {.kind = HW_ENTRIES_PLAIN,
                                           .end = n,
                                           .column_bits = hw_bits(n),
                                           .forward = true,
                                           .backward = !desc->directed,
                                           .loops = true};
    enum hw_status status = hw_gpu_fill(tuples, 0, n * sizeof *tuples, err);

    return status == HW_OK ? hw_cuda(hw_gpu_launch_count_entries(&layout->edge_list.tuples,
                                                                 &entries, 0, tuples),
                                     "the kernel that counts edges", err)
                           : status;
}

/* Counts tuples, and all-gathers self-loops if there are any. Collective; ranks agree. */
static enum hw_status find_attributes(struct hw_layout_build *layout,
                                      const struct hw_builder *builder,
                                      struct vertex_attributes *self, struct hw_error *err)
{
    const hw_count n = builder->config.desc->vertices;
    bool loops = false;
    enum hw_status status = find_loops(builder, &loops, err);

    hw_gpu_add(&self->arrays, &self->tuples, n, sizeof *self->tuples);
    if (loops) {
        hw_gpu_add(&self->arrays, &self->scratch, n, sizeof *self->scratch);
        hw_gpu_add(&self->arrays, &self->loop, n, sizeof *self->loop);
    }
    if (status == HW_OK)
        status = hw_gpu_allocate(&self->arrays, 0, "the vertices of parts", err);
    if (status == HW_OK)
        status = count_tuples(layout, builder, self->tuples, err);
    status = hw_agree(builder->ctx->world, status, err);
    if (status == HW_OK && loops) {
        uint32_t *own = own_range(layout, builder);
        for (hw_count v = 0; v < builder->vertices.owned.count; v++)
            own[v] = builder->vertices.owned.loop[v];
        status = gather(layout, builder, self->scratch, self->loop, err);
    }
    return status;
}

/* The vertices of one part. Local. */
static enum hw_status take_vertices(const struct hw_layout_build *layout,
                                    const struct vertex_attributes *all, struct hw_part *part,
                                    struct hw_error *err)
{
    struct hw_part_vertices *own = &part->own;
    const hw_gid first = hw_search_id(&part->spec, part->vertices, part->index, 0);
    struct hw_owned_vertices self = {.count = 0};
    enum hw_status status = hw_owned_vertices_open(&self, layout->id, (uint32_t)part->spec.parts,
                                                   (uint32_t)first, own, err);

    if (status == HW_OK)
        status = hw_owned_vertices_get_counts(&self, all->tuples, own->tuples, err);
    if (status == HW_OK && all->loop)
        status = hw_owned_vertices_get(&self, all->loop, self.host, err);
    if (status == HW_OK && all->loop)
        status = hw_build_keep_loops(part, self.host, part->weights, err);
    hw_owned_vertices_close(&self);
    return status;
}

/* Keeps the graph ids of all parts' vertices on the device, next to the lists of one part. Local.
 */
static enum hw_status keep_graph_ids(const struct hw_layout_build *layout,
                                     const struct hw_builder *builder, struct hw_error *err)
{
    struct hw_device_csr *device_csr = layout->device_csr;
    const struct hw_layout_spec *spec = &builder->config.spec;
    const hw_gid n = builder->config.desc->vertices;
    const size_t parts = (size_t)spec->parts, block = ((size_t)n + parts - 1) / parts;

    hw_gpu_add(&device_csr->id_arrays, &device_csr->graph_id, (hw_count)(parts * block),
               sizeof *device_csr->graph_id);
    HW_TRY(hw_gpu_allocate(&device_csr->id_arrays, 0, "graph ids", err));
    HW_TRY(hw_gpu_fill(device_csr->graph_id, 0, parts * block * sizeof *device_csr->graph_id, err));
    for (int q = 0; q < spec->parts; q++)
        HW_TRY(hw_cuda(hw_gpu_launch_pick(layout->id, (uint32_t)parts,
                                          (uint32_t)hw_search_id(spec, n, q, 0),
                                          (uint64_t)hw_owned(spec, n, q),
                                          device_csr->graph_id + (size_t)q * block),
                       "selecting graph ids", err));
    return hw_cuda((int)cudaDeviceSynchronize(), "selecting graph ids", err);
}

enum hw_status hw_layout_build_vertices(void *given, struct hw_builder *builder,
                                        struct hw_error *err)
{
    struct hw_layout_build *layout = given;
    struct vertex_attributes all = {.scratch = NULL};
    enum hw_status status = hw_agree(builder->ctx->world, hw_build_alloc_own(builder, err), err);

    if (status == HW_OK)
        status = find_attributes(layout, builder, &all, err);
    for (int p = 0; p < builder->placement.parts && status == HW_OK; p++)
        if (builder->placement.part[p].own.count > 0)
            status = take_vertices(layout, &all, &builder->placement.part[p], err);
    hw_gpu_release(&all.arrays);
    if (status == HW_OK && layout->device_csr && layout->merged &&
        hw_layout_build_is_one_row(builder))
        status = keep_graph_ids(layout, builder, err);
    hw_gpu_release(&layout->order);
    return hw_agree(builder->ctx->world, status, err);
}

bool hw_layout_build_may_be_negative(const struct hw_layout_build *layout,
                                     const struct hw_builder *builder)
{
    const struct hw_generator *generator = hw_graph_generator(layout->graph);

    return builder->config.weights &&
           !(generator && hw_weighter_is_nonnegative(&generator->weighter));
}

hw_count hw_layout_build_own_tuples(const struct hw_builder *builder)
{
    hw_count sum = 0;

    for (int p = 0; p < builder->placement.parts; p++) {
        const struct hw_part_vertices *own = &builder->placement.part[p].own;
#pragma omp parallel for reduction(+ : sum)
        for (hw_lid v = 0; v < own->count; v++)
            sum += own->tuples[v];
    }
    return sum;
}

void hw_layout_build_close(struct hw_layout_build *layout)
{
    hw_device_edge_list_close(&layout->edge_list);
    hw_gpu_release(&layout->order);
    hw_gpu_release(&layout->numbers);
    free(layout->all);
    free(layout->count);
    free(layout->at);
    *layout = (struct hw_layout_build){0};
}
