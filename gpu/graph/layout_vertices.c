/*
 * Stages 2 and 4 of laying out (lib/layout/build/build.h) on the device: what the ranks keep of the
 * vertices is gathered, 4 bytes a vertex, and every device orders all of them.
 */
#include "gpu/graph/layout_build.h"

#include "gpu/device/device_sort.h"
#include "gpu/graph/build/vertex_order.h"
#include "gpu/graph/owned_vertices.h"
#include "lib/base/memory.h"
#include "lib/comm/large_alltoallv.h"

#include <stdlib.h>

/* ---- gathering ---- */

/* Where the ranks' vertices begin, and memory. Collective; ranks agree. */
static enum hw_status open_all(struct hw_layout_build *laying, const struct hw_builder *builder,
                               struct hw_error *err)
{
    const hw_count n = builder->desc->vertices;
    const int ranks = builder->ctx->size;
    uint64_t *begin = NULL;
    hw_count sum = 0;
    enum hw_status status = hw_alloc(&laying->all, n, sizeof *laying->all, "vertices", err);

    if (status == HW_OK)
        status = hw_alloc(&laying->count, ranks, sizeof *laying->count, "counts", err);
    if (status == HW_OK)
        status = hw_alloc(&laying->at, ranks, sizeof *laying->at, "counts", err);
    if (status == HW_OK)
        status = hw_alloc(&begin, ranks, sizeof *begin, "counts", err);
    hw_gpu_add(&laying->numbers, &laying->begin, ranks, sizeof *laying->begin);
    hw_gpu_add(&laying->numbers, &laying->number, n, sizeof *laying->number);
    hw_gpu_add(&laying->order, &laying->id, n, sizeof *laying->id);
    if (status == HW_OK)
        status = hw_gpu_allocate(&laying->numbers, 4 * n, "ordering vertices", err);
    if (status == HW_OK)
        status = hw_gpu_allocate(&laying->order, 0, "ordering vertices", err);
    for (int r = 0; r < ranks && status == HW_OK; r++) {
        const hw_count kept = hw_vertex_distribution_count(&builder->distribution, r);
        if (sum > INT32_MAX || kept > INT32_MAX)
            status = hw_fail(err, HW_RESOURCES, "%" PRI_GID " vertices on %d devices are too many",
                             n, ranks);
        laying->count[r] = (int)kept;
        laying->at[r] = (int)sum;
        begin[r] = (uint64_t)sum;
        sum += kept;
    }
    if (status == HW_OK)
        status = hw_gpu_put(laying->begin, begin, (size_t)ranks * sizeof *begin, err);
    free(begin);
    return hw_agree(builder->ctx->world, status, err);
}

/* What this rank fills for the vertices it keeps. */
static uint32_t *own_share(struct hw_layout_build *laying, const struct hw_builder *builder)
{
    return laying->all + laying->at[builder->ctx->rank];
}

/* Brings what all ranks have filled to the device, by graph id. to, room: [vertices].
 * Collective; ranks agree. */
static enum hw_status gather(struct hw_layout_build *laying, const struct hw_builder *builder,
                             uint32_t *room, uint32_t *to, struct hw_error *err)
{
    const struct hw_context *ctx = builder->ctx;
    const size_t n = (size_t)builder->desc->vertices;
    enum hw_status status = HW_OK;

    if (ctx->size > 1)
        status = hw_mpi(MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, laying->all,
                                       laying->count, laying->at, MPI_UINT32_T, ctx->world),
                        "MPI_Allgatherv", err);
    if (status == HW_OK)
        status = hw_gpu_put(room, laying->all, n * sizeof *room, err);
    if (status == HW_OK)
        status = hw_cuda(hw_gpu_launch_unspread(room, &builder->distribution, laying->begin, to),
                         "the kernel that deals vertices", err);
    return hw_agree(ctx->world, status, err);
}

/* The same of 64-bit values of this rank: their bits from `shift` on. */
static enum hw_status gather_bits(struct hw_layout_build *laying, const struct hw_builder *builder,
                                  const hw_count *value, int shift, uint32_t *room, uint32_t *to,
                                  struct hw_error *err)
{
    uint32_t *own = own_share(laying, builder);

#pragma omp parallel for
    for (hw_count v = 0; v < builder->owned.count; v++)
        own[v] = (uint32_t)((uint64_t)value[v] >> shift);
    return gather(laying, builder, room, to, err);
}

/* ---- the order ---- */

/* What ordering works with. */
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

/* By falling degree, ties by graph id. Collective; ranks agree. */
static enum hw_status order_by_degree(struct hw_layout_build *laying, struct hw_builder *builder,
                                      struct hw_error *err)
{
    const hw_count n = builder->desc->vertices;
    struct ordering self = {.bytes = 0};
    enum hw_status status = hw_agree(builder->ctx->world, open_ordering(&self, n, err), err);

    if (status == HW_OK)
        status =
            gather_bits(laying, builder, builder->owned.degree, 0, self.sorted, self.degree, err);
    if (status == HW_OK)
        status = hw_cuda(hw_gpu_launch_number(self.first, (uint64_t)n), "numbering vertices", err);
    if (status == HW_OK)
        status = hw_cuda(hw_gpu_launch_order(self.scratch, &self.bytes, true, self.degree,
                                             self.sorted, self.first, laying->id, (uint64_t)n),
                         "ordering vertices", err);
    if (status == HW_OK)
        status = hw_cuda(hw_gpu_launch_invert(laying->id, (uint64_t)n, 0, laying->number),
                         "numbering vertices", err);
    hw_gpu_release(&self.arrays);
    return hw_agree(builder->ctx->world, status, err);
}

/* As the host orders them. Collective; ranks agree. */
static enum hw_status order_by_host(struct hw_layout_build *laying, struct hw_builder *builder,
                                    struct hw_error *err)
{
    const hw_count n = builder->desc->vertices;
    enum hw_status status = hw_build_order(builder, err);

    if (status == HW_OK)
        status =
            gather_bits(laying, builder, builder->owned.code, 0, laying->id, laying->number, err);
    if (status == HW_OK)
        status = hw_cuda(hw_gpu_launch_invert(laying->number, (uint64_t)n, 0, laying->id),
                         "numbering vertices", err);
    return hw_agree(builder->ctx->world, status, err);
}

/* Search ids of the vertices that this rank keeps, for the host. Local. */
static enum hw_status get_codes(struct hw_layout_build *laying, struct hw_builder *builder,
                                struct hw_error *err)
{
    const hw_count kept = builder->owned.count;
    struct hw_gpu_arrays arrays = {0};
    uint32_t *there = NULL, *here = own_share(laying, builder);
    enum hw_status status =
        hw_alloc(&builder->owned.code, kept, sizeof *builder->owned.code, "search ids", err);

    hw_gpu_add(&arrays, &there, kept, sizeof *there);
    if (status == HW_OK)
        status = hw_gpu_allocate(&arrays, 0, "ordering vertices", err);
    if (status == HW_OK)
        status = hw_cuda(hw_gpu_launch_spread(laying->number, &builder->distribution,
                                              builder->ctx->rank, (uint64_t)kept, there),
                         "the kernel that deals vertices", err);
    if (status == HW_OK)
        status = hw_gpu_get(here, there, (size_t)kept * sizeof *here, err);
#pragma omp parallel for if (status == HW_OK)
    for (hw_count v = 0; v < (status == HW_OK ? kept : 0); v++)
        builder->owned.code[v] = (hw_gid)here[v];
    hw_gpu_release(&arrays);
    return status;
}

enum hw_status hw_layout_build_order(void *given, struct hw_builder *builder, struct hw_error *err)
{
    struct hw_layout_build *laying = given;
    enum hw_status status = open_all(laying, builder, err);

    if (status != HW_OK)
        return status;
    /* Both degrees of a vertex may need more than 32 bits. */
    const bool large = builder->desc->directed && builder->desc->vertices > INT32_MAX;
    if (builder->spec.order != HW_ORDER_DEGREE || large)
        return order_by_host(laying, builder, err);
    status = order_by_degree(laying, builder, err);
    if (status == HW_OK && builder->spec.layout == HW_LAYOUT_DEGREE_SEPARATED)
        status = hw_agree(builder->ctx->world, get_codes(laying, builder, err), err);
    return status;
}

/* ---- own vertices ---- */

/* What vertices have beside their names, by graph id. */
struct belongings {
    struct hw_gpu_arrays arrays;
    uint32_t *room, *tuples, *more, *loop; /* [vertices]; NULL where there are none */
};

/* Whether some rank has such; all learn it. Collective. */
static enum hw_status on_any(const struct hw_builder *builder, bool here, bool *any,
                             struct hw_error *err)
{
    hw_count most = here;
    enum hw_status status = hw_largest(builder->ctx->world, &most, err);

    *any = most > 0;
    return status;
}

/* What there is. Collective. */
static enum hw_status look(const struct hw_builder *builder, bool *large, bool *loops,
                           struct hw_error *err)
{
    hw_count most = 0, negative = 0;

#pragma omp parallel for reduction(max : most) reduction(+ : negative)
    for (hw_count v = 0; v < builder->owned.count; v++) {
        most = builder->owned.tuples[v] > most ? builder->owned.tuples[v] : most;
        negative += builder->owned.loop && builder->owned.loop[v] != HW_NO_LOOP;
    }
    enum hw_status status = on_any(builder, most > (hw_count)UINT32_MAX, large, err);
    return status == HW_OK ? on_any(builder, negative > 0, loops, err) : status;
}

/* Collective; ranks agree. */
static enum hw_status gather_belongings(struct hw_layout_build *laying,
                                        const struct hw_builder *builder, struct belongings *self,
                                        struct hw_error *err)
{
    const hw_count n = builder->desc->vertices;
    bool large = false, loops = false;
    enum hw_status status = look(builder, &large, &loops, err);

    hw_gpu_add(&self->arrays, &self->room, n, sizeof *self->room);
    hw_gpu_add(&self->arrays, &self->tuples, n, sizeof *self->tuples);
    if (large)
        hw_gpu_add(&self->arrays, &self->more, n, sizeof *self->more);
    if (loops)
        hw_gpu_add(&self->arrays, &self->loop, n, sizeof *self->loop);
    if (status == HW_OK)
        status = hw_gpu_allocate(&self->arrays, 0, "the vertices of parts", err);
    status = hw_agree(builder->ctx->world, status, err);
    if (status == HW_OK)
        status =
            gather_bits(laying, builder, builder->owned.tuples, 0, self->room, self->tuples, err);
    if (status == HW_OK && large)
        status =
            gather_bits(laying, builder, builder->owned.tuples, 32, self->room, self->more, err);
    if (status == HW_OK && loops) {
        uint32_t *own = own_share(laying, builder);
        for (hw_count v = 0; v < builder->owned.count; v++)
            own[v] = builder->owned.loop[v];
        status = gather(laying, builder, self->room, self->loop, err);
    }
    return status;
}

/* The vertices of one part. Local. */
static enum hw_status take_vertices(const struct hw_layout_build *laying,
                                    const struct belongings *all, struct hw_part *part,
                                    struct hw_error *err)
{
    struct hw_part_vertices *own = &part->own;
    const hw_gid first = hw_search_id(&part->spec, part->vertices, part->index, 0);
    struct hw_owned_vertices self = {.count = 0};
    enum hw_status status = hw_owned_vertices_open(&self, laying->id, (uint32_t)part->spec.parts,
                                                   (uint32_t)first, own, err);

#pragma omp parallel for
    for (hw_lid p = 0; p < own->count; p++)
        own->tuples[p] = 0;
    if (status == HW_OK)
        status = hw_owned_vertices_add(&self, all->tuples, 1, own->tuples, err);
    if (status == HW_OK && all->more)
        status = hw_owned_vertices_add(&self, all->more, (hw_count)1 << 32, own->tuples, err);
    if (status == HW_OK && all->loop)
        status = hw_owned_vertices_get(&self, all->loop, self.host, err);
    if (status == HW_OK && all->loop)
        status = hw_build_keep_loops(part, self.host, part->weights, err);
    hw_owned_vertices_close(&self);
    return status;
}

enum hw_status hw_layout_build_vertices(void *given, struct hw_builder *builder,
                                        struct hw_error *err)
{
    struct hw_layout_build *laying = given;
    struct belongings all = {.room = NULL};
    enum hw_status status = hw_agree(builder->ctx->world, hw_build_alloc_own(builder, err), err);

    if (status == HW_OK)
        status = gather_belongings(laying, builder, &all, err);
    for (int p = 0; p < builder->parts && status == HW_OK; p++)
        if (builder->part[p].own.count > 0)
            status = take_vertices(laying, &all, &builder->part[p], err);
    hw_gpu_release(&all.arrays);
    hw_gpu_release(&laying->order);
    return hw_agree(builder->ctx->world, status, err);
}

void hw_layout_build_close(struct hw_layout_build *laying)
{
    hw_gpu_tuples_close(&laying->held);
    hw_gpu_release(&laying->order);
    hw_gpu_release(&laying->numbers);
    free(laying->all);
    free(laying->count);
    free(laying->at);
    *laying = (struct hw_layout_build){0};
}
