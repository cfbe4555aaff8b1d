#include "gpu/partition1d/partition_1d_build.h"

#include "gpu/graph/device_edge_list.h"
#include "gpu/graph/owned_vertices.h"
#include "gpu/graph/row_range_builder.h"
#include "gpu/partition1d/partition_1d_resident.h"
#include "lib/base/memory.h"
#include "lib/base/radix_sort.h"
#include "lib/comm/large_alltoallv.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>

/* Device memory that is left alone: the runtime's own, the engine's scratch. */
#define RESERVE ((hw_count)1 << 30)

/* A part on its way. */
struct making {
    const struct hw_context *ctx;
    const struct hw_graph_desc *desc;
    struct hw_partition_1d_resident *made;
    struct hw_part *part;
    hw_count n;          /* vertices */
    uint32_t with_edges; /* of them */

    struct hw_device_edge_list held;

    struct hw_gpu_arrays counting; /* until the part's vertices are known */
    uint32_t *ends, *loops;        /* [n] by graph id */
    uint32_t *sorted;              /* [n] ends by rank */
    uint32_t *room;                /* [n] */
    struct hw_gpu_arrays naming;   /* until the lists have their places */
    uint32_t *id;                  /* [n] graph id by rank */
    struct hw_gpu_arrays ranking;  /* until they are filled */
    uint32_t *rank;                /* [n] by graph id */
    uint64_t *before; /* [active + 1] on the host: ends at this part's rows before each */

    struct hw_gpu_arrays filling; /* likewise */
    uint32_t *length;             /* [active] of lists */
    uint64_t filled;              /* elements of them so far */
    struct hw_row_range_builder passes;
};

const struct hw_partition_1d_resident *hw_partition_1d_resident(const struct hw_part *part)
{
    return (const struct hw_partition_1d_resident *)part->resident;
}

static void free_resident(struct hw_resident *resident)
{
    struct hw_partition_1d_resident *made = (struct hw_partition_1d_resident *)resident;

    hw_gpu_release(&made->arrays);
    free(made);
}

/* ---- ranking ---- */

/* Ends at all vertices. */
static enum hw_status count_ends(struct making *self, struct hw_error *err)
{
    const size_t bytes = (size_t)self->n * sizeof *self->ends;
    enum hw_status status = hw_gpu_fill(self->ends, 0, bytes, err);

    if (status == HW_OK)
        status = hw_gpu_fill(self->loops, 0, bytes, err);
    if (status == HW_OK)
        status = hw_cuda(hw_partition_1d_launch_ends(&self->held.tuples, self->ends, self->loops),
                         "the kernel that counts edges", err);
    return status;
}

/* All vertices by falling number of ends. */
static enum hw_status rank_vertices(struct making *self, struct hw_error *err)
{
    size_t bytes = 0;
    void *scratch = NULL;
    const uint64_t n = (uint64_t)self->n;
    enum hw_status status =
        hw_cuda(hw_gpu_launch_order(NULL, &bytes, true, NULL, NULL, NULL, NULL, n),
                "ranking vertices", err);

    if (status == HW_OK)
        status = hw_cuda((int)cudaMalloc(&scratch, bytes), "cudaMalloc", err);
    if (status == HW_OK)
        status = hw_cuda(hw_gpu_launch_number(self->room, n), "numbering vertices", err);
    if (status == HW_OK)
        status = hw_cuda(hw_gpu_launch_order(scratch, &bytes, true, self->ends, self->sorted,
                                             self->room, self->id, n),
                         "ranking vertices", err);
    if (status == HW_OK)
        status = hw_cuda(hw_gpu_launch_invert(self->id, n, 0, self->rank), "ranking vertices", err);
    if (status == HW_OK)
        status = hw_cuda((int)cudaDeviceSynchronize(), "ranking vertices", err);
    cudaFree(scratch);
    return status;
}

/* How many vertices have at least so many ends. */
static enum hw_status count_degree(const struct making *self, uint32_t least, uint32_t *count,
                                   struct hw_error *err)
{
    uint64_t from = 0, to = (uint64_t)self->n;
    enum hw_status status = HW_OK;

    while (from < to && status == HW_OK) {
        uint64_t middle = from + (to - from) / 2;
        uint32_t ends = 0;
        status = hw_gpu_get(&ends, self->sorted + middle, sizeof ends, err);
        if (ends >= least)
            from = middle + 1;
        else
            to = middle;
    }
    *count = (uint32_t)from;
    return status;
}

/* Numbers the vertices of one end, which come after the first `core`, in the order of their
 * neighbours, so that what is looked up of these lies together. */
static enum hw_status order_leaves(struct making *self, uint32_t core, struct hw_error *err)
{
    const uint64_t leaves = self->with_edges - core;
    struct hw_gpu_arrays arrays = {.count = 0};
    uint32_t *key = NULL, *sorted = NULL, *id = NULL;
    char *scratch = NULL;
    size_t bytes = 0;
    enum hw_status status =
        hw_cuda(hw_gpu_launch_order(NULL, &bytes, true, NULL, NULL, NULL, NULL, leaves),
                "ordering leaves", err);

    if (status != HW_OK || leaves == 0)
        return status;
    hw_gpu_add(&arrays, &key, (hw_count)leaves, sizeof *key);
    hw_gpu_add(&arrays, &sorted, (hw_count)leaves, sizeof *sorted);
    hw_gpu_add(&arrays, &id, (hw_count)leaves, sizeof *id);
    hw_gpu_add(&arrays, &scratch, (hw_count)bytes, 1);
    status = hw_gpu_allocate(&arrays, 0, "ordering leaves", err);
    if (status == HW_OK)
        status = hw_cuda(hw_partition_1d_launch_neighbours(&self->held.tuples, self->ends,
                                                           self->rank, self->room),
                         "the kernel that finds neighbours", err);
    if (status == HW_OK)
        status = hw_cuda(hw_gpu_launch_take(self->room, self->id + core, leaves, key),
                         "ordering leaves", err);
    if (status == HW_OK)
        status = hw_cuda(
            hw_gpu_launch_order(scratch, &bytes, true, key, sorted, self->id + core, id, leaves),
            "ordering leaves", err);
    if (status == HW_OK)
        status = hw_cuda((int)cudaMemcpyAsync(self->id + core, id, (size_t)leaves * sizeof *id,
                                              cudaMemcpyDeviceToDevice, NULL),
                         "cudaMemcpyAsync", err);
    if (status == HW_OK)
        status = hw_cuda(hw_gpu_launch_invert(self->id + core, leaves, core, self->rank),
                         "ordering leaves", err);
    if (status == HW_OK)
        status = hw_cuda((int)cudaDeviceSynchronize(), "ordering leaves", err);
    hw_gpu_release(&arrays);
    return status;
}

/* Of the first `count` ranks, those of a part. */
static uint32_t dealt(uint32_t count, uint32_t part, uint32_t parts)
{
    return count > part ? (count - part + parts - 1) / parts : 0;
}

static uint32_t whole_grains(uint32_t count)
{
    const uint32_t grain = HW_CYCLIC_BLOCK;

    return count > grain ? (count + grain - 1) / grain * grain : grain;
}

/* The bounds of all parts. */
static enum hw_status find_bounds(struct making *self, struct hw_error *err)
{
    struct hw_partition_1d *share = &self->made->share;
    uint32_t core = 0;
    enum hw_status status = count_degree(self, 2, &core, err);

    if (status == HW_OK)
        status = count_degree(self, 1, &self->with_edges, err);
    if (status == HW_OK)
        status = order_leaves(self, core, err);
    for (uint32_t q = 0; q < share->parts; q++)
        share->count[q] = dealt(self->with_edges, q, share->parts);
    share->core = whole_grains(dealt(core, 0, share->parts)); /* part 0 has most */
    share->active = whole_grains(share->count[0]);
    if (status == HW_OK && (uint64_t)share->active * share->parts >= HW_INVALID_VERTEX)
        return hw_fail(err, HW_BAD_INPUT, "method fused numbers vertices with 32 bits");
    return status;
}

static enum hw_status rank(struct making *self, struct hw_error *err)
{
    uint32_t **const counting[] = {&self->ends, &self->loops, &self->sorted, &self->room};

    for (size_t a = 0; a < sizeof counting / sizeof *counting; a++)
        hw_gpu_add(&self->counting, counting[a], self->n, sizeof **counting[a]);
    hw_gpu_add(&self->naming, &self->id, self->n, sizeof *self->id);
    hw_gpu_add(&self->ranking, &self->rank, self->n, sizeof *self->rank);
    const hw_count others = 5 * self->n * (hw_count)sizeof *self->rank;
    enum hw_status status = hw_gpu_allocate(&self->ranking, others, "ranking vertices", err);
    if (status == HW_OK)
        status = hw_gpu_allocate(&self->naming, 0, "ranking vertices", err);
    if (status == HW_OK)
        status = hw_gpu_allocate(&self->counting, 0, "ranking vertices", err);
    if (status == HW_OK)
        status = count_ends(self, err);
    if (status == HW_OK)
        status = rank_vertices(self, err);
    return status == HW_OK ? find_bounds(self, err) : status;
}

/* ---- the vertices of the part ---- */

/* Ends at the part's vertices that have any. ends: [listed] on the host. */
static enum hw_status get_ends(struct making *self, hw_count listed, uint32_t *ends,
                               struct hw_error *err)
{
    const struct hw_partition_1d *share = &self->made->share;
    enum hw_status status = hw_cuda(
        hw_gpu_launch_pick(self->sorted, share->parts, share->part, (uint64_t)listed, self->room),
        "taking a part's vertices", err);

    return status == HW_OK ? hw_gpu_get_new(ends, self->room, (size_t)listed * sizeof *ends, err)
                           : status;
}

/* The names of the part's vertices and their tuples: ends, and self-loops, which are an end
 * twice. */
static enum hw_status take_own(struct making *self, struct hw_error *err)
{
    struct hw_part_vertices *own = &self->part->own;
    const struct hw_partition_1d *share = &self->made->share;
    struct hw_owned_vertices taken = {.count = 0};
    enum hw_status status =
        hw_owned_vertices_open(&taken, self->id, share->parts, share->part, own, err);

#pragma omp parallel for
    for (hw_lid v = 0; v < own->count; v++)
        own->tuples[v] = 0;
    if (status == HW_OK)
        status = hw_owned_vertices_add(&taken, self->ends, 1, own->tuples, err);
    if (status == HW_OK)
        status = hw_owned_vertices_add(&taken, self->loops, 2, own->tuples, err);
    hw_owned_vertices_close(&taken);
    return status;
}

/* What the host keeps of the part's vertices, and of the device's before all lists. */
static enum hw_status take_vertices(struct making *self, struct hw_error *err)
{
    struct hw_part_vertices *own = &self->part->own;
    const struct hw_partition_1d *share = &self->made->share;
    const hw_count n = own->count, active = share->active, listed = share->count[share->part];
    uint32_t *ends = NULL;
    enum hw_status status = hw_alloc(&own->graph_id, n, sizeof *own->graph_id, "vertices", err);

    if (status == HW_OK)
        status = hw_alloc(&own->tuples, n, sizeof *own->tuples, "vertices", err);
    if (status == HW_OK)
        status = hw_alloc(&own->by_graph_id, n, sizeof *own->by_graph_id, "vertices", err);
    if (status == HW_OK)
        status = hw_alloc(&ends, active, sizeof *ends, "vertices", err);
    if (status == HW_OK)
        status = hw_alloc(&self->before, active + 1, sizeof *self->before, "vertices", err);
    if (status == HW_OK)
        status = get_ends(self, listed, ends, err);
    if (status == HW_OK)
        self->before[0] = 0;
    for (hw_count v = 0; v < active && status == HW_OK; v++)
        self->before[v + 1] = self->before[v] + (v < listed ? ends[v] : 0);
    free(ends);
    return status == HW_OK ? take_own(self, err) : status;
}

/* ---- the lists ---- */

/* What stays on the device. */
static enum hw_status open_lists(struct making *self, struct hw_error *err)
{
    struct hw_partition_1d *share = &self->made->share;
    struct hw_gpu_arrays *arrays = &self->made->arrays;

    hw_gpu_add(arrays, &share->out.offset, (hw_count)share->active + 1, sizeof *share->out.offset);
    hw_gpu_add(arrays, &share->out.neighbor, (hw_count)self->before[share->active],
               sizeof *share->out.neighbor);
    hw_gpu_add(arrays, &share->graph_id, (hw_count)share->active * share->parts,
               sizeof *share->graph_id);
    enum hw_status status = hw_gpu_allocate(arrays, RESERVE, "the lists of the graph", err);
    if (status == HW_OK)
        status = hw_gpu_fill((void *)share->graph_id, 0xff,
                             (size_t)share->active * share->parts * sizeof *share->graph_id, err);
    if (status == HW_OK)
        status = hw_cuda(hw_partition_1d_launch_place_ids(share, self->id, self->with_edges,
                                                          (uint32_t *)(uintptr_t)share->graph_id),
                         "ids of the graph", err);
    if (status == HW_OK)
        status = hw_cuda((int)cudaDeviceSynchronize(), "ids of the graph", err);
    hw_gpu_release(&self->naming);
    return status;
}

/* The lists of some rows. */
static enum hw_status take_lists(void *given, const struct hw_row_range *pass, struct hw_error *err)
{
    struct making *self = given;
    struct hw_row_range_builder *passes = &self->passes;
    const struct hw_partition_1d *share = &self->made->share;
    const uint64_t wanted = self->before[pass->entries->end] - self->before[pass->entries->begin];
    const uint64_t *key = pass->keys->key[0], count = (uint64_t)pass->count;
    uint64_t taken = 0;

    if (count != wanted)
        return hw_fail(err, HW_INTERNAL, "rows of %" PRIu64 " entries got %" PRIu64, wanted, count);
    enum hw_status status =
        hw_cuda(hw_gpu_launch_count_rows(key, count, pass->entries, NULL, self->length, NULL),
                "the kernel that counts neighbours", err);
    if (status == HW_OK)
        status = hw_cuda(
            hw_gpu_launch_take_columns(key, count, pass->entries->column_bits,
                                       (uint32_t *)(uintptr_t)share->out.neighbor + self->filled,
                                       passes->counter, passes->scratch, passes->scratch_bytes),
            "filling lists", err);
    if (status == HW_OK)
        status = hw_gpu_get(&taken, passes->counter, sizeof taken, err);
    self->filled += taken;
    return status;
}

/* Memory to fill lists with. */
static enum hw_status open_filling(struct making *self, struct hw_error *err)
{
    const hw_count active = self->made->share.active;

    hw_gpu_add(&self->filling, &self->length, active, sizeof *self->length);
    enum hw_status status = hw_gpu_allocate(&self->filling, 0, "filling lists", err);
    if (status == HW_OK)
        status = hw_gpu_fill(self->length, 0, (size_t)active * sizeof *self->length, err);
    return status == HW_OK ? hw_row_range_builder_open(&self->passes, &self->held.tuples,
                                                       (hw_count)self->before[active], false,
                                                       (uint64_t)active, err)
                           : status;
}

/* All lists, in passes over ranges of rows. */
static enum hw_status fill_rows(struct making *self, struct hw_error *err)
{
    const struct hw_partition_1d *share = &self->made->share;
    const uint64_t *before = self->before, room = (uint64_t)self->passes.capacity;
    struct hw_gpu_entries entries = {.kind = HW_ENTRIES_DEALT,
                                     .column_bits = hw_bits((uint64_t)share->active * share->parts),
                                     .number = self->rank,
                                     .first_part = share->part,
                                     .parts = share->parts};
    enum hw_status status = HW_OK;

    for (uint32_t begin = 0, end = 0; begin < share->active && status == HW_OK; begin = end) {
        while (end < share->active && before[end + 1] - before[begin] <= room)
            end++;
        if (end == begin)
            return hw_fail(err, HW_RESOURCES,
                           "the device has no room to sort a list of %" PRIu64 " neighbours",
                           before[end + 1] - before[begin]);
        entries.begin = begin;
        entries.end = end;
        status = hw_row_range_builder_one(&self->passes, &entries, take_lists, self, err);
    }
    return status;
}

/* The lists and where they begin. */
static enum hw_status fill(struct making *self, struct hw_error *err)
{
    const struct hw_partition_1d *share = &self->made->share;
    struct hw_row_range_builder *passes = &self->passes;
    enum hw_status status = open_lists(self, err);

    if (status == HW_OK)
        status = open_filling(self, err);
    if (status == HW_OK)
        status = fill_rows(self, err);
    if (status == HW_OK)
        status = hw_cuda(hw_gpu_launch_offsets(self->length, NULL, share->active, true,
                                               (void *)(uintptr_t)share->out.offset,
                                               passes->scratch, passes->scratch_bytes),
                         "offsets of lists", err);
    if (status == HW_OK)
        status = hw_cuda((int)cudaDeviceSynchronize(), "filling lists", err);
    hw_row_range_builder_close(passes);
    return status;
}

/* Offsets by position for the host: vertices without edges come last. */
static enum hw_status get_offsets(struct making *self, struct hw_error *err)
{
    struct hw_part *part = self->part;
    struct hw_csr *out = &part->grid.out;
    const struct hw_partition_1d *share = &self->made->share;
    const hw_count listed = share->count[share->part], rows = part->grid.block;
    enum hw_status status = hw_alloc(&out->offset, rows + 1, sizeof *out->offset, "offsets", err);

    if (status == HW_OK)
        status = hw_gpu_get_new(out->offset, share->out.offset,
                                (size_t)(listed + 1) * sizeof *out->offset, err);
    if (status != HW_OK)
        return status;
    out->rows = part->grid.block;
#pragma omp parallel for
    for (hw_count r = listed + 1; r <= rows; r++)
        out->offset[r] = out->offset[listed];
    part->edges = out->offset[rows];
    return HW_OK;
}

/* ---- memory ---- */

/* The vertices of a part that are a share of all; a little more, as models are not exact. */
static hw_count likely(double share, hw_count block)
{
    const hw_count count = (hw_count)(1.01 * share * (double)block) + 2 * HW_CYCLIC_BLOCK;

    return share > 0 && count < block ? count : block + HW_CYCLIC_BLOCK;
}

struct hw_partition_1d_bytes hw_partition_1d_device_bytes(const struct hw_part *part,
                                                          const struct hw_graph_desc *graph,
                                                          hw_count *core, hw_count *active)
{
    const hw_count n = (hw_count)part->vertices, parts = part->spec.parts;
    const hw_count block = (n + parts - 1) / parts, edges = part->edges / parts;

    *active = likely(graph ? graph->some : 0, block);
    *core = likely(graph ? graph->several : 0, block);
    const hw_count lists = 4 * edges + 8 * *active + 4 * parts * *active;
    const hw_count ranking = 24 * n + 20 * block;
    const hw_count filling = 4 * n + lists + 4 * *active + 16 * HW_GPU_LEAST_KEYS + RESERVE;
    return (struct hw_partition_1d_bytes){.making = ranking > filling ? ranking : filling,
                                          .lists = lists + 4 * *active + 36 * *core + 8 * block};
}

/* ---- all of it ---- */

static void describe(struct making *self, const struct hw_layout_spec *spec)
{
    const struct hw_graph_desc *desc = self->desc;
    const hw_count parts = spec->parts;
    const int part = self->ctx->rank;

    *self->part = (struct hw_part){.spec = *spec,
                                   .index = part,
                                   .vertices = desc->vertices,
                                   .tuples = desc->edges,
                                   .own.count = hw_owned(spec, desc->vertices, part),
                                   .grid.column = part,
                                   .grid.block = (hw_lid)((desc->vertices + parts - 1) / parts)};
    self->part->spec.weights = false;
    memcpy(self->part->graph_digest, desc->digest, sizeof desc->digest);
    self->made->share =
        (struct hw_partition_1d){.parts = (uint32_t)parts,
                                 .part = (uint32_t)part,
                                 .reciprocal = hw_partition_1d_reciprocal((uint32_t)parts),
                                 .owned = self->part->own.count};
}

/* Local. */
static enum hw_status make(struct making *self, struct hw_error *err)
{
    enum hw_status status = rank(self, err);

    if (status == HW_OK)
        status = take_vertices(self, err);
    hw_gpu_release(&self->counting);
    if (status == HW_OK)
        status = fill(self, err);
    if (status == HW_OK)
        status = get_offsets(self, err);
    hw_gpu_release(&self->filling);
    hw_gpu_release(&self->counting);
    hw_gpu_release(&self->naming);
    hw_gpu_release(&self->ranking);
    free(self->before);
    return status;
}

enum hw_status hw_partition_1d_make(const struct hw_context *ctx, struct hw_graph *graph,
                                    const struct hw_layout_spec *spec, struct hw_part *part,
                                    struct hw_error *err)
{
    struct making self = {.ctx = ctx,
                          .desc = hw_graph_desc(graph),
                          .part = part,
                          .n = hw_graph_desc(graph)->vertices};
    double started = hw_seconds();

    *part = (struct hw_part){0};
    enum hw_status status = hw_parts_check(self.desc, spec, ctx->size, err);
    if (status == HW_OK &&
        (spec->parts > HW_PARTITION_1D_PARTS || self.n >= (hw_count)HW_INVALID_VERTEX))
        status = hw_fail(err, HW_BAD_INPUT,
                         "method fused does up to %d parts and less than 2^32 vertices",
                         HW_PARTITION_1D_PARTS);
    if (status == HW_OK)
        status = hw_alloc_zero(&self.made, 1, sizeof *self.made, "the graph", err);
    if (status == HW_OK) {
        describe(&self, spec);
        self.made->base.free = free_resident;
        part->resident = &self.made->base;
        status = hw_gpu_open(ctx, err);
    }
    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK)
        status = hw_gpu_sharing(ctx, &self.passes.sharing, err);
    if (status == HW_OK)
        status = hw_gpu_tuples_open(ctx, graph, false, &self.held, err);
    if (status == HW_OK)
        status = hw_agree(ctx->world, make(&self, err), err);
    hw_gpu_tuples_close(&self.held);
    if (status == HW_OK)
        status = hw_sum(ctx->world, &part->edges, err);
    if (status != HW_OK) {
        hw_part_free(part);
        return status;
    }
    self.made->share.edges = (uint64_t)part->edges;
    hw_note(ctx, "%" PRI_COUNT " stored edges made on %d devices in %.2f s, %d passes", part->edges,
            spec->parts, hw_seconds() - started, self.passes.count);
    return HW_OK;
}
