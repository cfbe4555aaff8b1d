/*
 * Partitioning on the device (lib/layout/build/build.h): the stages that visit all edges. They are
 * stage 1, which counts the distinct neighbors of each vertex, and stages 5 and 6,
 * which sort the entries of the matrices into lists. The other stages run on the host or in
 * gpu/graph/layout_vertices.c. Parts on the host are bit for bit those that the CPU builds.
 */
#include "gpu/graph/layout_build.h"
#include "gpu/graph/build/vertex_order.h"
#include "gpu/hopwave_gpu.h"
#include "lib/base/memory.h"
#include "lib/base/radix_sort.h"
#include "lib/comm/exchange/large_alltoallv.h"

#include <stdlib.h>
#include <string.h>

/* ---- stage 1: neighbors of the vertices that the distribution assigns ---- */

struct collecting {
    struct hw_layout_build *layout;
    struct hw_gpu_arrays arrays;
    uint32_t *out, *in; /* [owned] on the device; in: of directed graphs only */
    uint32_t *loop;     /* [owned] where some weight may be negative */
    uint32_t *degree;   /* the one being counted */
};

static enum hw_status count_range(void *self, const struct hw_row_range *range,
                                  struct hw_error *err)
{
    const struct collecting *collecting = self;

    return hw_cuda(hw_gpu_launch_count_rows(range->keys->key[0], (uint64_t)range->count,
                                            range->entries, NULL, collecting->degree, NULL),
                   "the kernel that counts neighbors", err);
}

static enum hw_status open_collecting(struct collecting *self, const struct hw_builder *builder,
                                      struct hw_error *err)
{
    struct hw_gpu_arrays *arrays = &self->arrays;
    hw_count owned = builder->vertices.owned.count;
    size_t bytes = (size_t)owned * sizeof(uint32_t);

    hw_gpu_add(arrays, &self->out, owned, sizeof *self->out);
    if (builder->config.desc->directed)
        hw_gpu_add(arrays, &self->in, owned, sizeof *self->in);
    if (hw_layout_build_may_be_negative(self->layout, builder))
        hw_gpu_add(arrays, &self->loop, owned, sizeof *self->loop);
    enum hw_status status = hw_gpu_allocate(arrays, 0, "counting edges", err);
    if (status == HW_OK)
        status = hw_gpu_fill(self->out, 0, bytes, err);
    if (status == HW_OK && self->in)
        status = hw_gpu_fill(self->in, 0, bytes, err);
    if (status == HW_OK && self->loop)
        status = hw_gpu_fill(self->loop, 0xff, bytes, err); /* HW_NO_LOOP */
    return status;
}

/* Counts on the device. */
static enum hw_status count(struct collecting *self, const struct hw_builder *builder,
                            struct hw_error *err)
{
    struct hw_layout_build *layout = self->layout;
    bool directed = builder->config.desc->directed;
    hw_count most = builder->config.desc->edges * (directed ? 1 : 2);
    struct hw_gpu_entries entries = {.kind = HW_ENTRIES_OWNED,
                                     .column_bits =
                                         hw_bits((uint64_t)builder->config.desc->vertices),
                                     .forward = true,
                                     .backward = !directed,
                                     .loops = true,
                                     .distribution = builder->vertices.distribution,
                                     .rank = builder->ctx->rank,
                                     .weights = builder->config.desc->weights};
    uint64_t rows = (uint64_t)builder->vertices.owned.count;
    enum hw_status status = hw_row_range_builder_open(
        &layout->row_ranges, &layout->edge_list.tuples, most, false, rows, err);

    self->degree = self->out;
    if (status == HW_OK)
        status = hw_row_range_builder_run(&layout->row_ranges, &entries, rows, most, NULL,
                                          count_range, self, err);
    entries.forward = false;
    entries.backward = true;
    self->degree = self->in;
    if (status == HW_OK && directed)
        status = hw_row_range_builder_run(&layout->row_ranges, &entries, rows, most, NULL,
                                          count_range, self, err);
    if (status == HW_OK && self->loop)
        status = hw_cuda(hw_gpu_launch_loops(&layout->edge_list.tuples, &entries, self->loop),
                         "the kernel for self-loops", err);
    hw_row_range_builder_close(&layout->row_ranges);
    return status;
}

/* Adds degrees that the device has counted to degree[owned]. */
static enum hw_status get_degrees(const uint32_t *device, hw_count owned, hw_count *degree,
                                  struct hw_error *err)
{
    uint32_t *narrow = NULL;
    enum hw_status status = hw_alloc(&narrow, owned, sizeof *narrow, "degrees", err);

    if (status == HW_OK)
        status = hw_gpu_get_new(narrow, device, (size_t)owned * sizeof *narrow, err);
#pragma omp parallel for if (status == HW_OK)
    for (hw_count v = 0; v < (status == HW_OK ? owned : 0); v++)
        degree[v] += narrow[v];
    free(narrow);
    return status;
}

/* Copies the counts to the builder, for the stages on the host. */
static enum hw_status deliver(const struct collecting *self, struct hw_builder *builder,
                              struct hw_error *err)
{
    hw_count owned = builder->vertices.owned.count;
    /* By out-degrees. */
    const bool chooses_delegates =
        self->in && builder->config.spec.layout == HW_LAYOUT_DEGREE_SEPARATED;
    enum hw_status status = hw_alloc_zero(&builder->vertices.owned.degree, owned,
                                          sizeof *builder->vertices.owned.degree, "degrees", err);

    if (status == HW_OK)
        status = get_degrees(self->out, owned, builder->vertices.owned.degree, err);
    if (status == HW_OK && chooses_delegates)
        status = hw_alloc_zero(&builder->vertices.owned.out_degree, owned,
                               sizeof *builder->vertices.owned.out_degree, "out-degrees", err);
    if (status == HW_OK && chooses_delegates)
        status = get_degrees(self->out, owned, builder->vertices.owned.out_degree, err);
    if (status == HW_OK && self->in)
        status = get_degrees(self->in, owned, builder->vertices.owned.degree, err);
    if (status == HW_OK && self->loop)
        status = hw_alloc(&builder->vertices.owned.loop, owned,
                          sizeof *builder->vertices.owned.loop, "self-loops", err);
    if (status == HW_OK && self->loop)
        status = hw_gpu_get_new(builder->vertices.owned.loop, self->loop,
                                (size_t)owned * sizeof *self->loop, err);
    return status;
}

static enum hw_status collect(void *given, struct hw_builder *builder, struct hw_error *err)
{
    struct collecting self = {.layout = given};
    struct hw_layout_build *layout = given;
    enum hw_status status = hw_device_edge_list_open(
        builder->ctx, layout->graph, builder->config.weights, &layout->edge_list, err);

    if (status != HW_OK)
        return status;
    status = open_collecting(&self, builder, err);
    if (status == HW_OK)
        status = count(&self, builder, err);
    if (status == HW_OK)
        status = deliver(&self, builder, err);
    hw_gpu_release(&self.arrays);
    return hw_agree(builder->ctx->world, status, err);
}

/* ---- stages 5 and 6: the matrices ---- */

struct finishing {
    struct hw_layout_build *layout;
    struct hw_builder *builder;
    struct hw_gpu_arrays codes; /* places, delegate */
    struct hw_edge_map *places; /* [1] */
    struct hw_delegate *delegate;

    uint64_t rows;    /* of all matrices of all parts built here */
    hw_count entries; /* of these, duplicates too */
    uint64_t *bucket; /* of these, by range of rows; NULL: not counted */
    struct hw_gpu_arrays lists;
    uint32_t *column; /* [entries] */
    uint32_t *weight; /* [entries] hw_weight_sort_key(); with weights only */
    uint32_t *length; /* [rows] */
    uint64_t *offset; /* [rows + 1] */
    hw_count filled;
    bool incoming; /* lists of the edges that end at each vertex */
};

/* Copies the edge map of the layout to the device. */
static enum hw_status put_places(struct finishing *self, struct hw_error *err)
{
    const struct hw_builder *builder = self->builder;
    struct hw_edge_map places = hw_builder_edge_map(builder);

    places.delegate = self->delegate;
    enum hw_status status = hw_gpu_put(self->places, &places, sizeof places, err);
    if (status == HW_OK && builder->vertices.delegates > 0)
        status = hw_gpu_put(self->delegate, builder->vertices.delegate,
                            (size_t)builder->vertices.delegates * sizeof *self->delegate, err);
    return status;
}

/* Puts the codes of delegates and the edge map on the device. */
static enum hw_status open_codes(struct finishing *self, struct hw_error *err)
{
    struct hw_builder *builder = self->builder;
    hw_count n = builder->config.desc->vertices;

    if (n + builder->vertices.delegates > (hw_count)UINT32_MAX)
        return hw_fail(err, HW_RESOURCES,
                       "--device cuda: %" PRI_GID " vertices and %" PRI_COUNT
                       " delegates need more than 32 bits",
                       n, builder->vertices.delegates);
    hw_gpu_add(&self->codes, &self->places, 1, sizeof *self->places);
    hw_gpu_add(&self->codes, &self->delegate, builder->vertices.delegates, sizeof *self->delegate);
    enum hw_status status = hw_gpu_allocate(&self->codes, 0, "partitioning the graph", err);
    if (status == HW_OK)
        status = put_places(self, err);
    if (status == HW_OK && builder->vertices.delegates > 0)
        status =
            hw_cuda(hw_gpu_launch_delegates(self->delegate, (uint64_t)builder->vertices.delegates,
                                            (uint32_t)n, self->layout->number),
                    "the kernel that numbers delegates", err);
    return status;
}

static uint64_t block_of(const struct hw_builder *builder)
{
    const uint64_t parts = (uint64_t)builder->config.spec.parts;

    return ((uint64_t)builder->config.desc->vertices + parts - 1) / parts;
}

/* An upper bound on the columns of the matrices, or of the merged lists. */
static uint64_t columns_of(const struct finishing *self)
{
    const struct hw_builder *builder = self->builder;

    if (builder->config.spec.layout != HW_LAYOUT_DEGREE_SEPARATED)
        return block_of(builder) * (uint64_t)builder->config.spec.columns;
    if (self->layout->merged)
        return block_of(builder) * (uint64_t)builder->config.spec.parts +
               (uint64_t)builder->vertices.delegates;
    return (uint64_t)builder->config.desc->vertices; /* nn targets; slots and delegates are fewer */
}

/* The rows of one part. */
static uint64_t rows_of(const struct finishing *self)
{
    const struct hw_builder *builder = self->builder;

    if (!self->layout->merged)
        return (uint64_t)builder->placement.part_rows;
    if (builder->config.spec.layout == HW_LAYOUT_DEGREE_SEPARATED)
        return block_of(builder) + (uint64_t)builder->vertices.delegates;
    return block_of(builder) * (uint64_t)builder->config.spec.rows;
}

/* Adds the arrays of the lists: those of the device CSR, and temporary ones. */
static void plan_lists(struct finishing *self, struct hw_gpu_arrays *stay)
{
    struct hw_device_csr *device_csr = self->layout->device_csr;
    const hw_count offsets = (hw_count)self->rows + 1;

    hw_gpu_add(&self->lists, &self->length, (hw_count)self->rows, sizeof *self->length);
    if (self->layout->merged) {
        hw_gpu_add(stay, self->incoming ? &device_csr->in_edge : &device_csr->edge, self->entries,
                   sizeof *device_csr->edge);
        hw_gpu_add(stay, self->incoming ? &device_csr->in_offset : &device_csr->offset, offsets,
                   sizeof *device_csr->offset);
        return;
    }
    hw_gpu_add(stay, device_csr ? &device_csr->column : &self->column, self->entries,
               sizeof *self->column);
    hw_gpu_add(&self->lists, &self->offset, offsets, sizeof *self->offset);
    if (self->builder->config.weights)
        hw_gpu_add(&self->lists, &self->weight, self->entries, sizeof *self->weight);
}

/* Counts the entries of the parts built here, by range of rows. Where a part has all edges that
 * begin at its vertices, their tuples are an upper bound, too high by the self-loops. */
static enum hw_status count_list_entries(struct finishing *self,
                                         const struct hw_gpu_entries *entries, struct hw_error *err)
{
    const struct hw_layout_build *layout = self->layout;

    if (layout->merged && !self->incoming && hw_layout_build_is_one_row(self->builder)) {
        self->entries = hw_layout_build_own_tuples(self->builder);
        return HW_OK;
    }
    HW_TRY(hw_alloc(&self->bucket, 1 << HW_GPU_BUCKET_BITS, sizeof *self->bucket, "counts of edges",
                    err));
    HW_TRY(hw_gpu_count_entries(&layout->edge_list.tuples, entries, self->rows, self->bucket, err));
    for (int b = 0; b < 1 << HW_GPU_BUCKET_BITS; b++)
        self->entries += (hw_count)self->bucket[b];
    return HW_OK;
}

/* Allocates the lists. */
static enum hw_status open_lists(struct finishing *self, const struct hw_gpu_entries *entries,
                                 struct hw_error *err)
{
    struct hw_device_csr *device_csr = self->layout->device_csr;
    struct hw_gpu_arrays *stay = !device_csr      ? &self->lists
                                 : self->incoming ? &device_csr->in_arrays
                                                  : &device_csr->arrays;
    enum hw_status status = count_list_entries(self, entries, err);

    if (status != HW_OK)
        return status;
    plan_lists(self, stay);
    if (device_csr)
        status = hw_gpu_allocate(stay, 0, "the lists of the parts", err);
    if (status == HW_OK)
        status = hw_gpu_allocate(&self->lists, 0, "the lists of the parts", err);
    if (status == HW_OK && device_csr) {
        uint64_t *offset = self->incoming ? device_csr->in_offset : device_csr->offset;
        self->column = device_csr->column;
        self->offset = offset ? offset : self->offset;
    }
    if (status == HW_OK)
        status = hw_gpu_fill(self->length, 0, (size_t)self->rows * sizeof *self->length, err);
    return status;
}

/* Lists by rising weight. */
static enum hw_status take_weighted_lists(struct finishing *self, const struct hw_row_range *range,
                                          struct hw_error *err)
{
    const struct hw_device_csr *device_csr = self->layout->device_csr;
    struct hw_gpu_edge *edge = self->incoming ? device_csr->in_edge : device_csr->edge;
    hw_count taken = 0;
    enum hw_status status =
        hw_gpu_take_edges(&self->layout->row_ranges, range, edge + self->filled, &taken, err);

    self->filled += taken;
    return status;
}

/* Lists by rising column, and their weights. */
static enum hw_status take_columns(struct finishing *self, const struct hw_row_range *range,
                                   struct hw_error *err)
{
    struct hw_row_range_builder *row_ranges = &self->layout->row_ranges;
    const uint64_t *key = range->keys->key[0];
    const uint64_t number = (uint64_t)range->count;
    uint64_t taken = 0;
    enum hw_status status = HW_OK;

    if (self->weight)
        status = hw_cuda(hw_gpu_launch_take_weights(
                             key, range->keys->value[0], number, self->weight + self->filled,
                             row_ranges->counter, row_ranges->scratch, row_ranges->scratch_bytes),
                         "filling lists", err);
    if (status == HW_OK)
        status = hw_cuda(hw_gpu_launch_take_columns(
                             key, number, range->entries->column_bits, self->column + self->filled,
                             row_ranges->counter, row_ranges->scratch, row_ranges->scratch_bytes),
                         "filling lists", err);
    if (status == HW_OK)
        status = hw_gpu_get(&taken, row_ranges->counter, sizeof taken, err);
    self->filled += (hw_count)taken;
    return status;
}

static enum hw_status take_range(void *given, const struct hw_row_range *range,
                                 struct hw_error *err)
{
    struct finishing *self = given;
    enum hw_status status =
        hw_cuda(hw_gpu_launch_count_rows(range->keys->key[0], (uint64_t)range->count,
                                         range->entries, NULL, self->length, NULL),
                "the kernel that counts neighbors", err);

    if (status != HW_OK)
        return status;
    return self->layout->merged ? take_weighted_lists(self, range, err)
                                : take_columns(self, range, err);
}

/* The entries of the parts built here. */
static struct hw_gpu_entries entries_of(const struct finishing *self)
{
    const struct hw_builder *builder = self->builder;
    const bool merged = self->layout->merged;

    return (struct hw_gpu_entries){
        .kind = merged ? HW_ENTRIES_MERGED : HW_ENTRIES_PARTITIONED,
        .column_bits = hw_bits(columns_of(self)),
        .forward = !self->incoming,
        .backward = self->incoming || !builder->config.desc->directed,
        .number = self->layout->number,
        .places = self->places,
        .first_part = (uint64_t)builder->placement.first_part[builder->ctx->rank],
        .parts = (uint64_t)builder->placement.parts,
        .part_rows = rows_of(self),
        .weights = builder->config.weights ? builder->config.desc->weights : HW_WEIGHTS_NONE};
}

/* Sorts the entries of the parts built here into lists on the device. */
static enum hw_status fill(struct finishing *self, struct hw_error *err)
{
    const struct hw_builder *builder = self->builder;
    struct hw_row_range_builder *row_ranges = &self->layout->row_ranges;
    const struct hw_gpu_entries entries = entries_of(self);
    enum hw_status status = HW_OK;

    if (entries.column_bits > 32)
        return hw_fail(err, HW_RESOURCES,
                       "--device cuda: %" PRIu64 " columns need more than 32 bits",
                       columns_of(self));
    if (entries.column_bits + hw_bits(self->rows) > 64)
        return hw_fail(err, HW_RESOURCES,
                       "--device cuda: %" PRIu64 " lists are too many for one device", self->rows);
    status = open_lists(self, &entries, err);
    if (status == HW_OK)
        status = hw_row_range_builder_open(row_ranges, &self->layout->edge_list.tuples,
                                           self->entries, builder->config.weights, self->rows, err);
    if (status == HW_OK)
        status = hw_row_range_builder_run(row_ranges, &entries, self->rows, self->entries,
                                          self->bucket, take_range, self, err);
    if (status == HW_OK)
        status = hw_cuda(hw_gpu_launch_offsets(self->length, NULL, self->rows, true, self->offset,
                                               row_ranges->scratch, row_ranges->scratch_bytes),
                         "offsets of lists", err);
    if (status == HW_OK && self->layout->merged && !self->incoming)
        status = hw_gpu_summarize_weights(row_ranges, self->layout->device_csr->edge, self->filled,
                                          builder->config.desc->weights,
                                          &self->layout->device_csr->base.seen, err);
    hw_row_range_builder_close(row_ranges);
    return status;
}

/* Copies search ids, which have 32 bits on the device and 64 in parts. */
static enum hw_status get_targets(const uint32_t *device, hw_count count, hw_gid *target,
                                  struct hw_error *err)
{
    const hw_count piece = (hw_count)1 << 24;
    uint32_t *narrow = NULL;
    enum hw_status status =
        hw_alloc(&narrow, count < piece ? count : piece, sizeof *narrow, "edges of a part", err);

    for (hw_count at = 0; at < count && status == HW_OK; at += piece) {
        hw_count batch = count - at < piece ? count - at : piece;
        status = hw_gpu_get(narrow, device + at, (size_t)batch * sizeof *narrow, err);
#pragma omp parallel for
        for (hw_count i = 0; i < batch; i++)
            target[at + i] = narrow[i];
    }
    free(narrow);
    return status;
}

static enum hw_status get_weights(const uint32_t *device, hw_count count, enum hw_weights kind,
                                  union hw_weight *weight, struct hw_error *err)
{
    enum hw_status status = hw_gpu_get_new(weight, device, (size_t)count * sizeof *weight, err);

#pragma omp parallel for if (status == HW_OK)
    for (hw_count i = 0; i < (status == HW_OK ? count : 0); i++)
        weight[i] = hw_weight_from_sort_key((uint32_t)weight[i].i32, kind);
    return status;
}

/* Copies the lists of one matrix, whose offsets are on the host. at: their first entry on the
 * device. */
static enum hw_status get_lists(const struct finishing *self, enum hw_matrix which, hw_count at,
                                struct hw_csr *matrix, struct hw_error *err)
{
    hw_count count = matrix->offset[matrix->rows];
    enum hw_status status;

    if (which == HW_MATRIX_NN)
        status = hw_alloc(&matrix->target, count, sizeof *matrix->target, "edges of a part", err);
    else
        status = hw_alloc(&matrix->index, count, sizeof *matrix->index, "edges of a part", err);
    if (status == HW_OK && which == HW_MATRIX_NN)
        status = get_targets(self->column + at, count, matrix->target, err);
    else if (status == HW_OK)
        status = hw_gpu_get_new(matrix->index, self->column + at,
                                (size_t)count * sizeof *matrix->index, err);
    if (status == HW_OK && self->weight)
        status = hw_alloc(&matrix->weight, count, sizeof *matrix->weight, "weights of a part", err);
    if (status == HW_OK && self->weight)
        status = get_weights(self->weight + at, count, self->builder->config.desc->weights,
                             matrix->weight, err);
    return status;
}

/* Copies one matrix whose rows begin at first_row: offsets, and lists unless they stay on the
 * device. */
static enum hw_status get_matrix(const struct finishing *self, enum hw_matrix which,
                                 hw_count first_row, hw_count rows, struct hw_csr *matrix,
                                 struct hw_error *err)
{
    enum hw_status status =
        hw_alloc(&matrix->offset, rows + 1, sizeof *matrix->offset, "offsets of a part", err);

    matrix->rows = (hw_lid)rows;
    if (status == HW_OK)
        status = hw_gpu_get_new(matrix->offset, self->offset + first_row,
                                (size_t)(rows + 1) * sizeof *matrix->offset, err);
    if (status != HW_OK)
        return status;
    hw_count begin = matrix->offset[0];
#pragma omp parallel for
    for (hw_count r = 0; r <= rows; r++)
        matrix->offset[r] -= begin;
    if (self->layout->device_csr)
        return HW_OK;
    return get_lists(self, which, begin, matrix, err);
}

/* Offsets of merged lists. */
static enum hw_status get_merged_offsets(const struct finishing *self, struct hw_error *err)
{
    struct hw_part *part = self->builder->placement.part;
    const hw_count slots = part->separate.slots;

    if (part->spec.layout != HW_LAYOUT_DEGREE_SEPARATED)
        return get_matrix(self, HW_MATRIX_OUT, 0, (hw_count)self->rows,
                          self->incoming ? &part->grid.in : &part->grid.out, err);
    enum hw_status status = get_matrix(self, HW_MATRIX_NN, 0, slots, &part->separate.nn, err);
    return status == HW_OK ? get_matrix(self, HW_MATRIX_DN, slots, part->separate.delegates,
                                        &part->separate.dn, err)
                           : status;
}

static enum hw_status get_parts(const struct finishing *self, struct hw_error *err)
{
    struct hw_builder *builder = self->builder;
    enum hw_status status = HW_OK;

    if (self->layout->merged)
        return get_merged_offsets(self, err);
    for (int p = 0; p < builder->placement.parts; p++)
        for (int m = 0; m < HW_MATRICES && status == HW_OK; m++) {
            struct hw_part *part = &builder->placement.part[p];
            struct hw_csr *matrix = hw_part_matrix(part, (enum hw_matrix)m);
            if (matrix)
                status = get_matrix(self, (enum hw_matrix)m,
                                    p * builder->placement.part_rows + builder->placement.begin[m],
                                    hw_part_matrix_rows(part, (enum hw_matrix)m), matrix, err);
        }
    return status;
}

/* Builds the lists of the parts built here, once the codes are on the device. Local. */
static enum hw_status build_lists(struct finishing *self, struct hw_error *err)
{
    const struct hw_builder *builder = self->builder;
    enum hw_status status = HW_OK;

    self->rows = (uint64_t)builder->placement.parts * rows_of(self);
    if (builder->placement.parts > 0)
        status = fill(self, err);
    if (status == HW_OK && builder->placement.parts > 0)
        status = get_parts(self, err);
    hw_gpu_release(&self->lists);
    free(self->bucket);
    return status;
}

/* *wanted: whether in-lists follow. Methods that accept negative weights do not pull. Collective.
 */
static enum hw_status wants_in_lists(const struct finishing *self, bool *wanted,
                                     struct hw_error *err)
{
    const struct hw_layout_build *layout = self->layout;
    const struct hw_build_config *config = &self->builder->config;
    hw_count negative = layout->device_csr ? layout->device_csr->base.seen.negative : 0;

    *wanted = false;
    if (!layout->in_lists || !layout->merged || !config->desc->directed ||
        !hw_layout_build_is_one_row(self->builder))
        return HW_OK;
    enum hw_status status = hw_largest(self->builder->ctx->world, &negative, err);
    *wanted = negative == 0;
    return status;
}

static enum hw_status finish(void *given, struct hw_builder *builder, struct hw_error *err)
{
    struct finishing self = {.layout = given, .builder = builder};
    bool both = false;
    enum hw_status status = open_codes(&self, err);

    if (status == HW_OK)
        status = build_lists(&self, err);
    status = hw_agree(builder->ctx->world, status, err);
    if (status == HW_OK)
        status = wants_in_lists(&self, &both, err);
    if (status == HW_OK && both) {
        struct finishing incoming = {
            .layout = given, .builder = builder, .places = self.places, .incoming = true};
        status = hw_agree(builder->ctx->world, build_lists(&incoming, err), err);
    }
    hw_gpu_release(&self.codes);
    return status;
}

/* Builds parts on the device. Collective. */
static enum hw_status build_layout(const struct hw_context *ctx, struct hw_layout_build *layout,
                                   const struct hw_layout_spec *spec, int first_part, int count,
                                   struct hw_part *parts, struct hw_error *err)
{
    const struct hw_build_engine engine = {
        collect, hw_layout_build_order,     hw_layout_build_vertices, finish,
        layout,  layout->device_csr != NULL};
    const struct hw_graph_desc *desc = hw_graph_desc(layout->graph);
    enum hw_status status = hw_gpu_open(ctx, err);

    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK)
        status = hw_gpu_ranks_per_device(ctx, &layout->row_ranges.sharing, err);
    if (status == HW_OK && (desc->vertices > (hw_gid)UINT32_MAX || desc->edges > INT64_MAX / 64))
        status =
            hw_fail(err, HW_RESOURCES,
                    "--device cuda: %" PRI_GID " vertices need more than 32 bits", desc->vertices);
    status = hw_agree(ctx->world, status, err);
    for (int p = 0; p < count && status != HW_OK; p++)
        parts[p] = (struct hw_part){0};
    if (status == HW_OK)
        status = hw_parts_build_by(ctx, desc, spec, first_part, count, parts, &engine, err);
    hw_layout_build_close(layout);
    return status;
}

enum hw_status hw_gpu_parts_build(const struct hw_context *ctx, struct hw_graph *graph,
                                  const struct hw_layout_spec *spec, int first_part, int count,
                                  struct hw_part *parts, struct hw_error *err)
{
    struct hw_layout_build layout = {.graph = graph};

    return build_layout(ctx, &layout, spec, first_part, count, parts, err);
}

static void free_device_csr(struct hw_resident *resident)
{
    struct hw_device_csr *device_csr = (struct hw_device_csr *)resident;

    hw_gpu_release(&device_csr->arrays);
    hw_gpu_release(&device_csr->in_arrays);
    hw_gpu_release(&device_csr->id_arrays);
    free(device_csr);
}

/* Builds one part a rank whose lists stay on the device, as `layout` says. Collective. */
static enum hw_status keep(const struct hw_context *ctx, struct hw_layout_build *layout,
                           const struct hw_layout_spec *spec, struct hw_part *part,
                           struct hw_error *err)
{
    struct hw_device_csr *device_csr = NULL;
    enum hw_status status =
        hw_alloc_zero(&device_csr, 1, sizeof *device_csr, "the lists of a part", err);

    *part = (struct hw_part){0};
    layout->device_csr = device_csr;
    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK)
        status = build_layout(ctx, layout, spec, ctx->rank, 1, part, err);
    if (status != HW_OK) {
        if (device_csr)
            free_device_csr(&device_csr->base);
        return status;
    }
    device_csr->base.free = free_device_csr;
    device_csr->block = part->grid.block;
    part->resident = &device_csr->base;
    return HW_OK;
}

enum hw_status hw_gpu_build_device_csr(const struct hw_context *ctx, struct hw_graph *graph,
                                       const struct hw_layout_spec *spec, struct hw_part *part,
                                       struct hw_error *err)
{
    struct hw_layout_build layout = {.graph = graph};
    struct hw_layout_spec unweighted = *spec;

    unweighted.weights = false;
    return keep(ctx, &layout, &unweighted, part, err);
}

enum hw_status hw_gpu_build_weighted_device_csr(const struct hw_context *ctx,
                                                struct hw_graph *graph,
                                                const struct hw_layout_spec *spec, bool in_lists,
                                                struct hw_part *part, struct hw_error *err)
{
    struct hw_layout_build layout = {.graph = graph, .merged = true, .in_lists = in_lists};
    struct hw_layout_spec weighted = *spec;

    if (hw_graph_desc(graph)->weights == HW_WEIGHTS_NONE)
        return hw_gpu_build_device_csr(ctx, graph, spec, part, err);
    weighted.weights = true;
    return keep(ctx, &layout, &weighted, part, err);
}

struct hw_device_csr *hw_device_csr(const struct hw_part *part)
{
    if (!part->resident || part->resident->free != free_device_csr)
        return NULL;
    return (struct hw_device_csr *)part->resident;
}
