/* Construction of one part of a 1d partition on its device (gpu/partition1d/partition_1d_build.h).
 */
#include "gpu/partition1d/partition_1d_build.h"

#include "gpu/graph/degree_summary.h"
#include "gpu/graph/device_edge_list.h"
#include "gpu/graph/owned_vertices.h"
#include "gpu/graph/row_range_builder.h"
#include "gpu/partition1d/partition_1d_resident.h"
#include "lib/base/memory.h"
#include "lib/base/radix_sort.h"
#include "lib/comm/exchange/large_alltoallv.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>

/* Device memory that the lists leave free: for the runtime, and the engine's scratch arrays. */
#define RESERVE ((hw_count)1 << 30)

/* Out-lists or in-lists under construction. */
struct list_build {
    struct hw_partition_1d_lists *to;
    struct hw_csr *host;    /* gets the offsets */
    bool forward, backward; /* entries of a tuple in them: at its source, at its target */
    uint64_t *before;       /* [active + 1] on the host: entries of the rows before each */
    uint64_t filled;        /* entries of the lists so far */
};

/* A part under construction. */
struct builder {
    const struct hw_context *ctx;
    const struct hw_graph_desc *desc;
    const struct hw_layout_spec *spec;
    struct hw_partition_1d_resident *result;
    struct hw_part *part;
    hw_count n;          /* vertices */
    uint32_t with_edges; /* of them; in their own order: all */
    bool own_order;      /* vertices keep the order of their graph ids */

    struct hw_device_edge_list edge_list;

    struct hw_gpu_arrays counting; /* freed once the part's vertices are known */
    uint32_t *degree, *loops;      /* [n] by graph id: degree with multiplicity, self-loops */
    uint32_t *out_degree;          /* [n] likewise of a directed graph, whose degree is that of both
                                      directions; else NULL */
    uint32_t *sorted;              /* [n] degrees, falling */
    uint32_t *scratch;             /* [n] */
    struct hw_gpu_arrays naming;   /* freed once graph_id is filled */
    uint32_t *id;                  /* [n] graph ids by falling degree */
    struct hw_gpu_arrays ordering; /* freed once the lists are filled */
    uint32_t *position;            /* [n] inverse of id */

    struct hw_gpu_arrays filling; /* freed with ordering */
    uint32_t *length;             /* [active] of the lists */
    struct list_build lists[2];   /* out-lists, and in-lists if the graph is directed */
    int kinds;                    /* of them */
    struct list_build *now;       /* those that are being filled */
    struct hw_row_range_builder row_ranges;
};

const struct hw_partition_1d_resident *hw_partition_1d_resident(const struct hw_part *part)
{
    return (const struct hw_partition_1d_resident *)part->resident;
}

static void free_resident(struct hw_resident *resident)
{
    struct hw_partition_1d_resident *partition = (struct hw_partition_1d_resident *)resident;

    hw_gpu_release(&partition->arrays);
    free(partition);
}

/* ---- order by degree ---- */

/* Degrees of all vertices. */
static enum hw_status count_degrees(struct builder *self, struct hw_error *err)
{
    const size_t bytes = (size_t)self->n * sizeof *self->degree;
    enum hw_status status = hw_gpu_fill(self->degree, 0, bytes, err);

    if (status == HW_OK)
        status = hw_gpu_fill(self->loops, 0, bytes, err);
    if (status == HW_OK && self->out_degree)
        status = hw_gpu_fill(self->out_degree, 0, bytes, err);
    if (status == HW_OK)
        status = hw_cuda(hw_partition_1d_launch_degrees(&self->edge_list.tuples, self->degree,
                                                        self->out_degree, self->loops),
                         "the kernel that counts edges", err);
    return status;
}

/* Orders all vertices by falling degree. */
static enum hw_status order_vertices(struct builder *self, struct hw_error *err)
{
    size_t bytes = 0;
    void *scratch = NULL;
    const uint64_t n = (uint64_t)self->n;
    enum hw_status status =
        hw_cuda(hw_gpu_launch_order(NULL, &bytes, true, NULL, NULL, NULL, NULL, n),
                "ordering vertices", err);

    if (status == HW_OK)
        status = hw_cuda((int)cudaMalloc(&scratch, bytes), "cudaMalloc", err);
    if (status == HW_OK)
        status = hw_cuda(hw_gpu_launch_number(self->scratch, n), "numbering vertices", err);
    if (status == HW_OK)
        status = hw_cuda(hw_gpu_launch_order(scratch, &bytes, true, self->degree, self->sorted,
                                             self->scratch, self->id, n),
                         "ordering vertices", err);
    if (status == HW_OK)
        status =
            hw_cuda(hw_gpu_launch_invert(self->id, n, 0, self->position), "ordering vertices", err);
    if (status == HW_OK)
        status = hw_cuda((int)cudaDeviceSynchronize(), "ordering vertices", err);
    cudaFree(scratch);
    return status;
}

/* Numbers all vertices by graph id. */
static enum hw_status keep_order(struct builder *self, struct hw_error *err)
{
    const uint64_t n = (uint64_t)self->n;
    enum hw_status status = hw_cuda(hw_gpu_launch_number(self->id, n), "numbering vertices", err);

    if (status == HW_OK)
        status = hw_cuda(hw_gpu_launch_number(self->position, n), "numbering vertices", err);
    return status == HW_OK ? hw_gpu_copy(self->sorted, self->degree,
                                         (size_t)self->n * sizeof *self->sorted, err)
                           : status;
}

/* *count: vertices of degree `min_degree` and above. */
static enum hw_status count_degree_at_least(const struct builder *self, uint32_t min_degree,
                                            uint32_t *count, struct hw_error *err)
{
    uint64_t from = 0, to = (uint64_t)self->n;
    enum hw_status status = HW_OK;

    while (from < to && status == HW_OK) {
        uint64_t middle = from + (to - from) / 2;
        uint32_t degree = 0;
        status = hw_gpu_get(&degree, self->sorted + middle, sizeof degree, err);
        if (degree >= min_degree)
            from = middle + 1;
        else
            to = middle;
    }
    *count = (uint32_t)from;
    return status;
}

/* Orders the vertices of degree 1, which come after the first `core`, by their neighbors, so that
 * lookups of these are local. */
static enum hw_status order_leaves(struct builder *self, uint32_t core, struct hw_error *err)
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
        status = hw_cuda(hw_partition_1d_launch_leaf_neighbors(
                             &self->edge_list.tuples, self->degree, self->position, self->scratch),
                         "the kernel of neighbors of leaves", err);
    if (status == HW_OK)
        status = hw_cuda(hw_gpu_launch_take(self->scratch, self->id + core, leaves, key),
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
        status = hw_cuda(hw_gpu_launch_invert(self->id + core, leaves, core, self->position),
                         "ordering leaves", err);
    if (status == HW_OK)
        status = hw_cuda((int)cudaDeviceSynchronize(), "ordering leaves", err);
    hw_gpu_release(&arrays);
    return status;
}

/* How many of the first `count` vertices of the order a part owns. */
static uint32_t owned_of_first(uint32_t count, uint32_t part, uint32_t parts)
{
    return count > part ? (count - part + parts - 1) / parts : 0;
}

/* Rounded up to whole blocks, at least one. */
static uint32_t whole_blocks(uint32_t count)
{
    const uint32_t block = HW_CYCLIC_BLOCK;

    return count > block ? (count + block - 1) / block * block : block;
}

/* core, active and count of all parts. */
static enum hw_status find_bounds(struct builder *self, struct hw_error *err)
{
    struct hw_partition_1d *partition = &self->result->partition;
    uint32_t core = self->with_edges = (uint32_t)self->n;
    enum hw_status status = HW_OK;

    if (!self->own_order)
        status = count_degree_at_least(self, 2, &core, err);
    if (status == HW_OK && !self->own_order)
        status = count_degree_at_least(self, 1, &self->with_edges, err);
    if (status == HW_OK && !self->own_order)
        status = order_leaves(self, core, err);
    for (uint32_t q = 0; q < partition->parts; q++)
        partition->count[q] = owned_of_first(self->with_edges, q, partition->parts);
    partition->core =
        whole_blocks(owned_of_first(core, 0, partition->parts)); /* part 0 has the most */
    partition->active = whole_blocks(partition->count[0]);
    if (status == HW_OK && (uint64_t)partition->active * partition->parts >= HW_INVALID_VERTEX)
        return hw_fail(err, HW_BAD_INPUT, "method fused has 32-bit vertex numbers");
    return status;
}

/* Orders all vertices; the same on all ranks. */
static enum hw_status order(struct builder *self, struct hw_error *err)
{
    uint32_t **const counting[] = {&self->degree, &self->loops, &self->sorted, &self->scratch};

    for (size_t a = 0; a < sizeof counting / sizeof *counting; a++)
        hw_gpu_add(&self->counting, counting[a], self->n, sizeof **counting[a]);
    if (self->desc->directed)
        hw_gpu_add(&self->counting, &self->out_degree, self->n, sizeof *self->out_degree);
    hw_gpu_add(&self->naming, &self->id, self->n, sizeof *self->id);
    hw_gpu_add(&self->ordering, &self->position, self->n, sizeof *self->position);
    const hw_count others =
        (self->desc->directed ? 6 : 5) * self->n * (hw_count)sizeof *self->position;
    enum hw_status status = hw_gpu_allocate(&self->ordering, others, "ordering vertices", err);
    if (status == HW_OK)
        status = hw_gpu_allocate(&self->naming, 0, "ordering vertices", err);
    if (status == HW_OK)
        status = hw_gpu_allocate(&self->counting, 0, "ordering vertices", err);
    if (status == HW_OK)
        status = count_degrees(self, err);
    if (status == HW_OK)
        status = hw_keeps_own_order(self->desc, self->spec, self->degree, &self->own_order, err);
    if (status == HW_OK)
        status = self->own_order ? keep_order(self, err) : order_vertices(self, err);
    return status == HW_OK ? find_bounds(self, err) : status;
}

/* ---- the vertices of the part ---- */

/* Degrees of the part's vertices with edges. degree: [listed] on the host. */
static enum hw_status get_degrees(struct builder *self, hw_count listed, uint32_t *degree,
                                  struct hw_error *err)
{
    const struct hw_partition_1d *partition = &self->result->partition;
    enum hw_status status =
        hw_cuda(hw_gpu_launch_pick(self->sorted, partition->parts, partition->part,
                                   (uint64_t)listed, self->scratch),
                "selecting a part's vertices", err);

    return status == HW_OK
               ? hw_gpu_get_new(degree, self->scratch, (size_t)listed * sizeof *degree, err)
               : status;
}

/* Graph ids of the part's vertices, and tuples at each: its degree, and two for each self-loop; of
 * a directed graph those that leave it. leaving: [owned] on the host, their number without loops;
 * NULL of undirected ones. */
static enum hw_status get_owned(struct builder *self, uint32_t *leaving, struct hw_error *err)
{
    struct hw_part_vertices *own = &self->part->own;
    const struct hw_partition_1d *partition = &self->result->partition;
    struct hw_owned_vertices vertices = {.count = 0};
    enum hw_status status =
        hw_owned_vertices_open(&vertices, self->id, partition->parts, partition->part, own, err);

#pragma omp parallel for
    for (hw_lid v = 0; v < own->count; v++)
        own->tuples[v] = 0;
    if (status == HW_OK)
        status = hw_owned_vertices_add(&vertices, leaving ? self->out_degree : self->degree, 1,
                                       own->tuples, err);
    if (status == HW_OK)
        status = hw_owned_vertices_add(&vertices, self->loops, leaving ? 1 : 2, own->tuples, err);
    if (status == HW_OK && leaving)
        status = hw_owned_vertices_get(&vertices, self->out_degree, leaving, err);
    hw_owned_vertices_close(&vertices);
    return status;
}

/* Entries before each list. degree: [listed]; leaving: as above. */
static void sum_entries(struct builder *self, const uint32_t *degree, const uint32_t *leaving)
{
    const struct hw_partition_1d *partition = &self->result->partition;
    const uint32_t listed = partition->count[partition->part];

    for (int k = 0; k < self->kinds; k++) {
        uint64_t *before = self->lists[k].before;
        before[0] = 0;
        for (uint32_t v = 0; v < partition->active; v++) {
            const uint32_t out = v >= listed ? 0 : leaving ? leaving[v] : degree[v];
            before[v + 1] = before[v] + (k == 0 ? out : (v < listed ? degree[v] : 0) - out);
        }
    }
}

/* The host's arrays of the part's vertices, and the entries before each list. */
static enum hw_status get_vertices(struct builder *self, struct hw_error *err)
{
    struct hw_part_vertices *own = &self->part->own;
    const struct hw_partition_1d *partition = &self->result->partition;
    const hw_count n = own->count, active = partition->active,
                   listed = partition->count[partition->part];
    uint32_t *degree = NULL, *leaving = NULL;
    enum hw_status status = hw_alloc(&own->graph_id, n, sizeof *own->graph_id, "vertices", err);

    if (status == HW_OK)
        status = hw_alloc(&own->tuples, n, sizeof *own->tuples, "vertices", err);
    if (status == HW_OK)
        status = hw_alloc(&own->by_graph_id, n, sizeof *own->by_graph_id, "vertices", err);
    if (status == HW_OK)
        status = hw_alloc(&degree, active, sizeof *degree, "vertices", err);
    if (status == HW_OK && self->desc->directed)
        status = hw_alloc(&leaving, n, sizeof *leaving, "vertices", err);
    for (int k = 0; k < self->kinds && status == HW_OK; k++)
        status = hw_alloc(&self->lists[k].before, active + 1, sizeof *self->lists[k].before,
                          "vertices", err);
    if (status == HW_OK)
        status = get_degrees(self, listed, degree, err);
    if (status == HW_OK)
        status = get_owned(self, leaving, err);
    if (status == HW_OK)
        sum_entries(self, degree, leaving);
    free(degree);
    free(leaving);
    return status;
}

/* ---- the lists ---- */

/* Fills graph_id. */
static enum hw_status place_ids(const struct builder *self, struct hw_error *err)
{
    const struct hw_partition_1d *partition = &self->result->partition;
    uint32_t *graph_id = (uint32_t *)(uintptr_t)partition->graph_id;

    HW_TRY(hw_gpu_fill(graph_id, 0xff,
                       (size_t)partition->active * partition->parts * sizeof *graph_id, err));
    HW_TRY(
        hw_cuda(hw_partition_1d_launch_place_ids(partition, self->id, self->with_edges, graph_id),
                "ids of the graph", err));
    return hw_cuda((int)cudaDeviceSynchronize(), "ids of the graph", err);
}

/* Allocates the arrays that stay on the device, and fills graph_id. */
static enum hw_status allocate_lists(struct builder *self, struct hw_error *err)
{
    struct hw_partition_1d *partition = &self->result->partition;
    struct hw_gpu_arrays *arrays = &self->result->arrays;

    for (int k = 0; k < self->kinds; k++) {
        struct list_build *lists = &self->lists[k];
        hw_gpu_add(arrays, &lists->to->offset, (hw_count)partition->active + 1,
                   sizeof *lists->to->offset);
        hw_gpu_add(arrays, &lists->to->neighbor, (hw_count)lists->before[partition->active],
                   sizeof *lists->to->neighbor);
    }
    if (!self->own_order)
        hw_gpu_add(arrays, &partition->graph_id, (hw_count)partition->active * partition->parts,
                   sizeof *partition->graph_id);
    enum hw_status status = hw_gpu_allocate(arrays, RESERVE, "the lists of the graph", err);
    if (status == HW_OK && !self->own_order)
        status = place_ids(self, err);
    hw_gpu_release(&self->naming);
    return status;
}

/* Appends the lists of a range of rows, from its sorted keys. */
static enum hw_status append_lists(void *given, const struct hw_row_range *range,
                                   struct hw_error *err)
{
    struct builder *self = given;
    struct hw_row_range_builder *row_ranges = &self->row_ranges;
    struct list_build *lists = self->now;
    const uint64_t expected =
        lists->before[range->entries->end] - lists->before[range->entries->begin];
    const uint64_t *key = range->keys->key[0], count = (uint64_t)range->count;
    uint64_t appended = 0;

    if (count != expected)
        return hw_fail(err, HW_INTERNAL, "rows of %" PRIu64 " entries got %" PRIu64, expected,
                       count);
    enum hw_status status =
        hw_cuda(hw_gpu_launch_count_rows(key, count, range->entries, NULL, self->length, NULL),
                "the kernel that counts neighbors", err);
    if (status == HW_OK)
        status = hw_cuda(hw_gpu_launch_take_columns(
                             key, count, range->entries->column_bits,
                             (uint32_t *)(uintptr_t)lists->to->neighbor + lists->filled,
                             row_ranges->counter, row_ranges->scratch, row_ranges->scratch_bytes),
                         "filling lists", err);
    if (status == HW_OK)
        status = hw_gpu_get(&appended, row_ranges->counter, sizeof appended, err);
    lists->filled += appended;
    return status;
}

/* Allocates the scratch memory to fill lists. */
static enum hw_status open_filling(struct builder *self, struct hw_error *err)
{
    const hw_count active = self->result->partition.active;
    hw_count most = 0;

    for (int k = 0; k < self->kinds; k++)
        if ((hw_count)self->lists[k].before[active] > most)
            most = (hw_count)self->lists[k].before[active];
    hw_gpu_add(&self->filling, &self->length, active, sizeof *self->length);
    enum hw_status status = hw_gpu_allocate(&self->filling, 0, "filling lists", err);
    return status == HW_OK ? hw_row_range_builder_open(&self->row_ranges, &self->edge_list.tuples,
                                                       most, false, (uint64_t)active, err)
                           : status;
}

/* Fills the lists of self->now, by ranges of rows that fit. */
static enum hw_status fill_rows(struct builder *self, struct hw_error *err)
{
    const struct hw_partition_1d *partition = &self->result->partition;
    const uint64_t *before = self->now->before, capacity = (uint64_t)self->row_ranges.capacity;
    struct hw_gpu_entries entries = {.kind = HW_ENTRIES_BLOCK_CYCLIC,
                                     .forward = self->now->forward,
                                     .backward = self->now->backward,
                                     .column_bits =
                                         hw_bits((uint64_t)partition->active * partition->parts),
                                     .number = self->position,
                                     .first_part = partition->part,
                                     .parts = partition->parts};
    enum hw_status status = HW_OK;

    for (uint32_t begin = 0, end = 0; begin < partition->active && status == HW_OK; begin = end) {
        while (end < partition->active && before[end + 1] - before[begin] <= capacity)
            end++;
        if (end == begin)
            return hw_fail(err, HW_RESOURCES,
                           "the device has too little memory to sort a list of %" PRIu64
                           " neighbors",
                           before[end + 1] - before[begin]);
        entries.begin = begin;
        entries.end = end;
        status = hw_row_range_builder_one(&self->row_ranges, &entries, append_lists, self, err);
    }
    return status;
}

/* Fills the lists of self->now and their offsets. */
static enum hw_status fill_lists(struct builder *self, struct hw_error *err)
{
    const struct hw_partition_1d *partition = &self->result->partition;
    const struct hw_row_range_builder *row_ranges = &self->row_ranges;

    HW_TRY(hw_gpu_fill(self->length, 0, (size_t)partition->active * sizeof *self->length, err));
    HW_TRY(fill_rows(self, err));
    return hw_cuda(hw_gpu_launch_offsets(self->length, NULL, partition->active, true,
                                         (void *)(uintptr_t)self->now->to->offset,
                                         row_ranges->scratch, row_ranges->scratch_bytes),
                   "offsets of lists", err);
}

/* Fills all lists and offsets. */
static enum hw_status fill(struct builder *self, struct hw_error *err)
{
    enum hw_status status = allocate_lists(self, err);

    if (status == HW_OK)
        status = open_filling(self, err);
    for (int k = 0; k < self->kinds && status == HW_OK; k++) {
        self->now = &self->lists[k];
        status = fill_lists(self, err);
    }
    if (status == HW_OK)
        status = hw_cuda((int)cudaDeviceSynchronize(), "filling lists", err);
    hw_row_range_builder_close(&self->row_ranges);
    return status;
}

/* Copies the offsets of some lists to the host. Rows of vertices without edges, the last ones, are
 * empty. */
static enum hw_status get_offsets(const struct builder *self, const struct list_build *lists,
                                  struct hw_error *err)
{
    const struct hw_partition_1d *partition = &self->result->partition;
    const hw_count listed = partition->count[partition->part], rows = self->part->grid.block;
    struct hw_csr *host = lists->host;
    enum hw_status status = hw_alloc(&host->offset, rows + 1, sizeof *host->offset, "offsets", err);

    if (status == HW_OK)
        status = hw_gpu_get_new(host->offset, lists->to->offset,
                                (size_t)(listed + 1) * sizeof *host->offset, err);
    if (status != HW_OK)
        return status;
    host->rows = (hw_lid)rows;
#pragma omp parallel for
    for (hw_count r = listed + 1; r <= rows; r++)
        host->offset[r] = host->offset[listed];
    return HW_OK;
}

/* ---- memory ---- */

/* Estimates how many vertices of a part are in a class with `fraction` of all vertices; a little
 * more, as the models of generators are not exact. */
static hw_count estimate_count(double fraction, hw_count block)
{
    const hw_count count = (hw_count)(1.01 * fraction * (double)block) + 2 * HW_CYCLIC_BLOCK;

    return fraction > 0 && count < block ? count : block + HW_CYCLIC_BLOCK;
}

struct hw_partition_1d_bytes hw_partition_1d_device_bytes(const struct hw_part *part,
                                                          const struct hw_graph_desc *graph,
                                                          hw_count *core, hw_count *active)
{
    const hw_count n = (hw_count)part->vertices, parts = part->spec.parts;
    const hw_count block = (n + parts - 1) / parts, kinds = part->directed ? 2 : 1;
    const hw_count edges = part->edges / parts;

    *active = estimate_count(graph ? graph->some : 0, block);
    *core = estimate_count(graph ? graph->several : 0, block);
    const hw_count lists = kinds * (4 * edges + 8 * *active) + 4 * parts * *active;
    const hw_count ordering = (20 + 4 * kinds) * n + 20 * block;
    const hw_count filling = 4 * n + lists + 4 * *active + 16 * HW_GPU_MIN_KEYS + RESERVE;
    return (struct hw_partition_1d_bytes){.construction = ordering > filling ? ordering : filling,
                                          .lists = lists + 4 * *active + 36 * *core + 8 * block};
}

/* ---- construction ---- */

/* Sets the descriptions of the part. */
static void describe(struct builder *self, const struct hw_layout_spec *spec)
{
    const struct hw_graph_desc *desc = self->desc;
    const hw_count parts = spec->parts;
    const int part = self->ctx->rank;

    *self->part = (struct hw_part){.spec = *spec,
                                   .index = part,
                                   .vertices = desc->vertices,
                                   .tuples = desc->edges,
                                   .directed = desc->directed,
                                   .own.count = hw_owned(spec, desc->vertices, part),
                                   .grid.column = part,
                                   .grid.block = (hw_lid)((desc->vertices + parts - 1) / parts)};
    self->part->spec.weights = false;
    memcpy(self->part->graph_digest, desc->digest, sizeof desc->digest);
    self->result->partition =
        (struct hw_partition_1d){.parts = (uint32_t)parts,
                                 .part = (uint32_t)part,
                                 .reciprocal = hw_partition_1d_reciprocal((uint32_t)parts),
                                 .owned = self->part->own.count,
                                 .directed = desc->directed};
    self->kinds = desc->directed ? 2 : 1;
    self->lists[0] = (struct list_build){.to = &self->result->partition.out,
                                         .host = &self->part->grid.out,
                                         .forward = true,
                                         .backward = !desc->directed};
    self->lists[1] = (struct list_build){
        .to = &self->result->partition.in, .host = &self->part->grid.in, .backward = true};
}

/* Constructs the part. Local. */
static enum hw_status construct(struct builder *self, struct hw_error *err)
{
    enum hw_status status = order(self, err);

    self->part->spec.order = self->own_order ? HW_ORDER_NONE : HW_ORDER_DEGREE;
    if (status == HW_OK)
        status = get_vertices(self, err);
    hw_gpu_release(&self->counting);
    if (status == HW_OK)
        status = fill(self, err);
    for (int k = 0; k < self->kinds && status == HW_OK; k++)
        status = get_offsets(self, &self->lists[k], err);
    if (status == HW_OK)
        self->part->edges = self->part->grid.out.offset[self->part->grid.block];
    hw_gpu_release(&self->filling);
    hw_gpu_release(&self->counting);
    hw_gpu_release(&self->naming);
    hw_gpu_release(&self->ordering);
    for (int k = 0; k < self->kinds; k++)
        free(self->lists[k].before);
    return status;
}

enum hw_status hw_partition_1d_make(const struct hw_context *ctx, struct hw_graph *graph,
                                    const struct hw_layout_spec *spec, struct hw_part *part,
                                    struct hw_error *err)
{
    struct builder self = {.ctx = ctx,
                           .desc = hw_graph_desc(graph),
                           .spec = spec,
                           .part = part,
                           .n = hw_graph_desc(graph)->vertices};
    double start = hw_seconds();

    *part = (struct hw_part){0};
    enum hw_status status = hw_parts_check(self.desc, spec, ctx->size, err);
    if (status == HW_OK &&
        (spec->parts > HW_PARTITION_1D_PARTS || self.n >= (hw_count)HW_INVALID_VERTEX))
        status = hw_fail(err, HW_BAD_INPUT,
                         "method fused supports up to %d parts and less than 2^32 vertices",
                         HW_PARTITION_1D_PARTS);
    if (status == HW_OK)
        status = hw_alloc_zero(&self.result, 1, sizeof *self.result, "the graph", err);
    if (status == HW_OK) {
        describe(&self, spec);
        self.result->base.free = free_resident;
        part->resident = &self.result->base;
        status = hw_gpu_open(ctx, err);
    }
    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK)
        status = hw_gpu_ranks_per_device(ctx, &self.row_ranges.sharing, err);
    if (status == HW_OK)
        status = hw_device_edge_list_open(ctx, graph, false, &self.edge_list, err);
    if (status == HW_OK)
        status = hw_agree(ctx->world, construct(&self, err), err);
    hw_device_edge_list_close(&self.edge_list);
    if (status == HW_OK)
        status = hw_sum(ctx->world, &part->edges, err);
    if (status != HW_OK) {
        hw_part_free(part);
        return status;
    }
    self.result->partition.edges = (uint64_t)part->edges;
    hw_note(ctx, "%" PRI_COUNT " stored edges built on %d devices in %.2f s, %d row ranges",
            part->edges, spec->parts, hw_seconds() - start, self.row_ranges.count);
    return HW_OK;
}
