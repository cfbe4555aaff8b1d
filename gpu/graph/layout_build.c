/*
 * Parts for the host, laid out on the device: bit for bit those that the CPU makes. The
 * stages in between, orders, delegates and own vertices, are those of lib/layout; here is
 * what goes over all edges.
 */
#include "gpu/graph/layout_build.h"
#include "gpu/graph/build/vertex_order.h"
#include "gpu/hopwave_gpu.h"
#include "lib/base/memory.h"
#include "lib/base/radix_sort.h"
#include "lib/comm/large_alltoallv.h"

#include <stdlib.h>
#include <string.h>

/* ---- stage 1: tuples and neighbours of the vertices kept here ---- */

struct collecting {
    struct hw_layout_build *laying;
    struct hw_gpu_arrays arrays;
    uint64_t *ends;     /* [kept], as are all of these; on the device */
    uint32_t *out, *in; /* in: of directed graphs only */
    uint32_t *loop;     /* with weights only */
    uint32_t *degree;   /* the one being counted */
};

static enum hw_status count_pass(void *self, const struct hw_row_range *pass, struct hw_error *err)
{
    struct collecting *collecting = self;
    bool out = collecting->degree == collecting->out;

    return hw_cuda(hw_gpu_launch_count_rows(pass->keys->key[0], (uint64_t)pass->count,
                                            pass->entries, out ? collecting->ends : NULL,
                                            collecting->degree, NULL),
                   "the kernel that counts neighbours", err);
}

static enum hw_status open_collecting(struct collecting *self, const struct hw_builder *builder,
                                      struct hw_error *err)
{
    struct hw_gpu_arrays *arrays = &self->arrays;
    hw_count kept = builder->owned.count;
    size_t bytes = (size_t)kept * sizeof(uint32_t);

    hw_gpu_add(arrays, &self->ends, kept, sizeof *self->ends);
    hw_gpu_add(arrays, &self->out, kept, sizeof *self->out);
    if (builder->desc->directed)
        hw_gpu_add(arrays, &self->in, kept, sizeof *self->in);
    if (builder->weights)
        hw_gpu_add(arrays, &self->loop, kept, sizeof *self->loop);
    enum hw_status status = hw_gpu_allocate(arrays, 0, "counting edges", err);
    if (status == HW_OK)
        status = hw_gpu_fill(self->ends, 0, (size_t)kept * sizeof *self->ends, err);
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
    struct hw_layout_build *laying = self->laying;
    bool directed = builder->desc->directed;
    hw_count most = builder->desc->edges * (directed ? 1 : 2);
    struct hw_gpu_entries entries = {.kind = HW_ENTRIES_KEPT,
                                     .column_bits = hw_bits((uint64_t)builder->desc->vertices),
                                     .forward = true,
                                     .backward = !directed,
                                     .loops = true,
                                     .spread = builder->distribution,
                                     .rank = builder->ctx->rank,
                                     .weights = builder->desc->weights};
    uint64_t rows = (uint64_t)builder->owned.count;
    enum hw_status status =
        hw_row_range_builder_open(&laying->passes, &laying->held.tuples, most, false, rows, err);

    self->degree = self->out;
    if (status == HW_OK)
        status = hw_row_range_builder_run(&laying->passes, &entries, rows, most, NULL, count_pass,
                                          self, err);
    entries.forward = false;
    entries.backward = true;
    self->degree = self->in;
    if (status == HW_OK && directed)
        status = hw_row_range_builder_run(&laying->passes, &entries, rows, most, NULL, count_pass,
                                          self, err);
    if (status == HW_OK && self->loop)
        status = hw_cuda(hw_gpu_launch_loops(&laying->held.tuples, &entries, self->loop),
                         "the kernel that finds self-loops", err);
    hw_row_range_builder_close(&laying->passes);
    return status;
}

/* Adds degrees that the device has counted to degree[kept]. */
static enum hw_status get_degrees(const uint32_t *device, hw_count kept, hw_count *degree,
                                  struct hw_error *err)
{
    uint32_t *narrow = NULL;
    enum hw_status status = hw_alloc(&narrow, kept, sizeof *narrow, "degrees", err);

    if (status == HW_OK)
        status = hw_gpu_get_new(narrow, device, (size_t)kept * sizeof *narrow, err);
#pragma omp parallel for if (status == HW_OK)
    for (hw_count v = 0; v < (status == HW_OK ? kept : 0); v++)
        degree[v] += narrow[v];
    free(narrow);
    return status;
}

/* What was counted, for the stages on the host. */
static enum hw_status deliver(const struct collecting *self, struct hw_builder *builder,
                              struct hw_error *err)
{
    hw_count kept = builder->owned.count;
    enum hw_status status = hw_alloc(&builder->owned.tuples, kept, sizeof *builder->owned.tuples,
                                     "tuples of vertices", err);

    if (status == HW_OK)
        status =
            hw_gpu_get_new(builder->owned.tuples, self->ends, (size_t)kept * sizeof(hw_count), err);
    if (status == HW_OK)
        status = hw_alloc_zero(&builder->owned.degree, kept, sizeof *builder->owned.degree,
                               "degrees", err);
    if (status == HW_OK)
        status = get_degrees(self->out, kept, builder->owned.degree, err);
    if (status == HW_OK && self->in)
        status = hw_alloc_zero(&builder->owned.out_degree, kept, sizeof *builder->owned.out_degree,
                               "out-degrees", err);
    if (status == HW_OK && self->in)
        status = get_degrees(self->out, kept, builder->owned.out_degree, err);
    if (status == HW_OK && self->in)
        status = get_degrees(self->in, kept, builder->owned.degree, err);
    if (status == HW_OK && self->loop)
        status =
            hw_alloc(&builder->owned.loop, kept, sizeof *builder->owned.loop, "self-loops", err);
    if (status == HW_OK && self->loop)
        status =
            hw_gpu_get_new(builder->owned.loop, self->loop, (size_t)kept * sizeof *self->loop, err);
    return status;
}

static enum hw_status collect(void *given, struct hw_builder *builder, struct hw_error *err)
{
    struct collecting self = {.laying = given};
    struct hw_layout_build *laying = given;
    enum hw_status status =
        hw_device_edge_list_open(builder->ctx, laying->graph, builder->weights, &laying->held, err);

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
    struct hw_layout_build *laying;
    struct hw_builder *builder;
    struct hw_gpu_arrays codes; /* places, delegate */
    struct hw_edge_map *places; /* [1] */
    struct hw_delegate *delegate;

    uint64_t rows;    /* of all matrices of all parts built here */
    hw_count entries; /* of these, duplicates too */
    uint64_t *bucket; /* of these, by range of rows */
    struct hw_gpu_arrays lists;
    uint32_t *column; /* [entries] */
    uint32_t *weight; /* [entries] hw_weight_sort_key(); with weights only */
    uint32_t *length; /* [rows] */
    uint64_t *offset; /* [rows + 1] */
    hw_count filled;
};

/* Gives the device the rules of the layout. */
static enum hw_status put_places(struct finishing *self, struct hw_error *err)
{
    const struct hw_builder *builder = self->builder;
    struct hw_edge_map places = hw_builder_edge_map(builder);

    places.delegate = self->delegate;
    enum hw_status status = hw_gpu_put(self->places, &places, sizeof places, err);
    if (status == HW_OK && builder->delegates > 0)
        status = hw_gpu_put(self->delegate, builder->delegate,
                            (size_t)builder->delegates * sizeof *self->delegate, err);
    return status;
}

/* The codes of delegates, and the rules, on the device. */
static enum hw_status open_codes(struct finishing *self, struct hw_error *err)
{
    struct hw_builder *builder = self->builder;
    hw_count n = builder->desc->vertices;

    if (n + builder->delegates > (hw_count)UINT32_MAX)
        return hw_fail(err, HW_RESOURCES,
                       "--device cuda: %" PRI_GID " vertices and %" PRI_COUNT
                       " delegates need more than 32 bits",
                       n, builder->delegates);
    hw_gpu_add(&self->codes, &self->places, 1, sizeof *self->places);
    hw_gpu_add(&self->codes, &self->delegate, builder->delegates, sizeof *self->delegate);
    enum hw_status status = hw_gpu_allocate(&self->codes, 0, "laying out the graph", err);
    if (status == HW_OK)
        status = put_places(self, err);
    if (status == HW_OK && builder->delegates > 0)
        status = hw_cuda(hw_gpu_launch_delegates(self->delegate, (uint64_t)builder->delegates,
                                                 (uint32_t)n, self->laying->number),
                         "the kernel that names delegates", err);
    return status;
}

static uint64_t block_of(const struct hw_builder *builder)
{
    const uint64_t parts = (uint64_t)builder->spec.parts;

    return ((uint64_t)builder->desc->vertices + parts - 1) / parts;
}

/* The columns that matrices, or joined lists, have at most. */
static uint64_t columns_of(const struct finishing *self)
{
    const struct hw_builder *builder = self->builder;

    if (builder->spec.layout != HW_LAYOUT_DEGREE_SEPARATED)
        return block_of(builder) * (uint64_t)builder->spec.columns;
    if (self->laying->joined)
        return block_of(builder) * (uint64_t)builder->spec.parts + (uint64_t)builder->delegates;
    return (uint64_t)builder->desc->vertices; /* nn targets; slots and delegates are fewer */
}

/* The rows of one part. */
static uint64_t rows_of(const struct finishing *self)
{
    const struct hw_builder *builder = self->builder;

    if (!self->laying->joined)
        return (uint64_t)builder->part_rows;
    if (builder->spec.layout == HW_LAYOUT_DEGREE_SEPARATED)
        return block_of(builder) + (uint64_t)builder->delegates;
    return block_of(builder) * (uint64_t)builder->spec.rows;
}

/* Lists the arrays of what is made: those that stay, and others. */
static void plan_lists(struct finishing *self)
{
    struct hw_device_csr *kept = self->laying->kept;
    struct hw_gpu_arrays *stay = kept ? &kept->arrays : &self->lists;
    const hw_count offsets = (hw_count)self->rows + 1;

    hw_gpu_add(&self->lists, &self->length, (hw_count)self->rows, sizeof *self->length);
    if (self->laying->joined) {
        hw_gpu_add(stay, &kept->edge, self->entries, sizeof *kept->edge);
        hw_gpu_add(stay, &kept->offset, offsets, sizeof *kept->offset);
        return;
    }
    hw_gpu_add(stay, kept ? &kept->column : &self->column, self->entries, sizeof *self->column);
    hw_gpu_add(&self->lists, &self->offset, offsets, sizeof *self->offset);
    if (self->builder->weights)
        hw_gpu_add(&self->lists, &self->weight, self->entries, sizeof *self->weight);
}

/* Counts the entries of the parts built here, and takes memory for them. */
static enum hw_status open_lists(struct finishing *self, const struct hw_gpu_entries *entries,
                                 struct hw_error *err)
{
    struct hw_device_csr *kept = self->laying->kept;
    enum hw_status status = hw_alloc(&self->bucket, 1 << HW_GPU_BUCKET_BITS, sizeof *self->bucket,
                                     "counts of edges", err);

    if (status == HW_OK)
        status = hw_gpu_count_entries(&self->laying->held.tuples, entries, self->rows, self->bucket,
                                      err);
    if (status != HW_OK)
        return status;
    for (int b = 0; b < 1 << HW_GPU_BUCKET_BITS; b++)
        self->entries += (hw_count)self->bucket[b];
    plan_lists(self);
    if (kept)
        status = hw_gpu_allocate(&kept->arrays, 0, "the lists of the parts", err);
    if (status == HW_OK)
        status = hw_gpu_allocate(&self->lists, 0, "the lists of the parts", err);
    if (status == HW_OK && kept) {
        self->column = kept->column;
        self->offset = kept->offset ? kept->offset : self->offset;
    }
    if (status == HW_OK)
        status = hw_gpu_fill(self->length, 0, (size_t)self->rows * sizeof *self->length, err);
    return status;
}

/* Lists by rising weight. */
static enum hw_status take_joined(struct finishing *self, const struct hw_row_range *pass,
                                  struct hw_error *err)
{
    hw_count taken = 0;
    enum hw_status status = hw_gpu_take_edges(&self->laying->passes, pass,
                                              self->laying->kept->edge + self->filled, &taken, err);

    self->filled += taken;
    return status;
}

/* Lists by rising column, and their weights. */
static enum hw_status take_columns(struct finishing *self, const struct hw_row_range *pass,
                                   struct hw_error *err)
{
    struct hw_row_range_builder *passes = &self->laying->passes;
    const uint64_t *key = pass->keys->key[0];
    const uint64_t number = (uint64_t)pass->count;
    uint64_t taken = 0;
    enum hw_status status = HW_OK;

    if (self->weight)
        status = hw_cuda(hw_gpu_launch_take_weights(key, pass->keys->value[0], number,
                                                    self->weight + self->filled, passes->counter,
                                                    passes->scratch, passes->scratch_bytes),
                         "filling lists", err);
    if (status == HW_OK)
        status = hw_cuda(hw_gpu_launch_take_columns(key, number, pass->entries->column_bits,
                                                    self->column + self->filled, passes->counter,
                                                    passes->scratch, passes->scratch_bytes),
                         "filling lists", err);
    if (status == HW_OK)
        status = hw_gpu_get(&taken, passes->counter, sizeof taken, err);
    self->filled += (hw_count)taken;
    return status;
}

static enum hw_status take_pass(void *given, const struct hw_row_range *pass, struct hw_error *err)
{
    struct finishing *self = given;
    enum hw_status status =
        hw_cuda(hw_gpu_launch_count_rows(pass->keys->key[0], (uint64_t)pass->count, pass->entries,
                                         NULL, self->length, NULL),
                "the kernel that counts neighbours", err);

    if (status != HW_OK)
        return status;
    return self->laying->joined ? take_joined(self, pass, err) : take_columns(self, pass, err);
}

/* The entries of the parts built here. */
static struct hw_gpu_entries entries_of(const struct finishing *self)
{
    const struct hw_builder *builder = self->builder;
    const bool joined = self->laying->joined;

    return (struct hw_gpu_entries){.kind = joined ? HW_ENTRIES_JOINED : HW_ENTRIES_PLACED,
                                   .column_bits = hw_bits(columns_of(self)),
                                   .forward = true,
                                   .backward = !builder->desc->directed,
                                   .number = self->laying->number,
                                   .places = self->places,
                                   .first_part = (uint64_t)builder->first_part[builder->ctx->rank],
                                   .parts = (uint64_t)builder->parts,
                                   .part_rows = rows_of(self),
                                   .weights =
                                       builder->weights ? builder->desc->weights : HW_WEIGHTS_NONE};
}

/* Sorts the entries of the parts built here into lists on the device. */
static enum hw_status fill(struct finishing *self, struct hw_error *err)
{
    const struct hw_builder *builder = self->builder;
    struct hw_row_range_builder *passes = &self->laying->passes;
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
        status = hw_row_range_builder_open(passes, &self->laying->held.tuples, self->entries,
                                           builder->weights, self->rows, err);
    if (status == HW_OK)
        status = hw_row_range_builder_run(passes, &entries, self->rows, self->entries, self->bucket,
                                          take_pass, self, err);
    if (status == HW_OK)
        status = hw_cuda(hw_gpu_launch_offsets(self->length, NULL, self->rows, true, self->offset,
                                               passes->scratch, passes->scratch_bytes),
                         "offsets of lists", err);
    if (status == HW_OK && self->laying->joined)
        status = hw_gpu_see(passes, self->laying->kept->edge, self->filled, builder->desc->weights,
                            &self->laying->kept->base.seen, err);
    hw_row_range_builder_close(passes);
    return status;
}

/* Search ids, which have 64 bits in parts. */
static enum hw_status get_targets(const uint32_t *device, hw_count count, hw_gid *target,
                                  struct hw_error *err)
{
    const hw_count piece = (hw_count)1 << 24;
    uint32_t *narrow = NULL;
    enum hw_status status =
        hw_alloc(&narrow, count < piece ? count : piece, sizeof *narrow, "edges of a part", err);

    for (hw_count at = 0; at < count && status == HW_OK; at += piece) {
        hw_count some = count - at < piece ? count - at : piece;
        status = hw_gpu_get(narrow, device + at, (size_t)some * sizeof *narrow, err);
#pragma omp parallel for
        for (hw_count i = 0; i < some; i++)
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

/* The lists of one matrix, whose offsets are there. at: where they begin on the device. */
static enum hw_status get_lists(const struct finishing *self, enum hw_matrix which, hw_count at,
                                struct hw_csr *matrix, struct hw_error *err)
{
    hw_count count = matrix->offset[matrix->rows];
    enum hw_status status;

    if (which == HW_NN)
        status = hw_alloc(&matrix->target, count, sizeof *matrix->target, "edges of a part", err);
    else
        status = hw_alloc(&matrix->index, count, sizeof *matrix->index, "edges of a part", err);
    if (status == HW_OK && which == HW_NN)
        status = get_targets(self->column + at, count, matrix->target, err);
    else if (status == HW_OK)
        status = hw_gpu_get_new(matrix->index, self->column + at,
                                (size_t)count * sizeof *matrix->index, err);
    if (status == HW_OK && self->weight)
        status = hw_alloc(&matrix->weight, count, sizeof *matrix->weight, "weights of a part", err);
    if (status == HW_OK && self->weight)
        status = get_weights(self->weight + at, count, self->builder->desc->weights, matrix->weight,
                             err);
    return status;
}

/* One matrix whose rows begin at first_row. */
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
    if (self->laying->kept)
        return HW_OK;
    return get_lists(self, which, begin, matrix, err);
}

/* Offsets of joined lists. */
static enum hw_status get_joined(const struct finishing *self, struct hw_error *err)
{
    struct hw_part *part = self->builder->part;
    const hw_count slots = part->separate.slots;

    if (part->spec.layout != HW_LAYOUT_DEGREE_SEPARATED)
        return get_matrix(self, HW_OUT, 0, (hw_count)self->rows, &part->grid.out, err);
    enum hw_status status = get_matrix(self, HW_NN, 0, slots, &part->separate.nn, err);
    return status == HW_OK
               ? get_matrix(self, HW_DN, slots, part->separate.delegates, &part->separate.dn, err)
               : status;
}

static enum hw_status get_parts(const struct finishing *self, struct hw_error *err)
{
    struct hw_builder *builder = self->builder;
    enum hw_status status = HW_OK;

    if (self->laying->joined)
        return get_joined(self, err);
    for (int p = 0; p < builder->parts; p++)
        for (int m = 0; m < HW_MATRICES && status == HW_OK; m++) {
            struct hw_part *part = &builder->part[p];
            struct hw_csr *matrix = hw_part_matrix(part, (enum hw_matrix)m);
            if (matrix)
                status =
                    get_matrix(self, (enum hw_matrix)m, p * builder->part_rows + builder->begin[m],
                               hw_part_matrix_rows(part, (enum hw_matrix)m), matrix, err);
        }
    return status;
}

static enum hw_status finish(void *given, struct hw_builder *builder, struct hw_error *err)
{
    struct finishing self = {.laying = given, .builder = builder};
    enum hw_status status = open_codes(&self, err);

    self.rows = (uint64_t)builder->parts * rows_of(&self);
    if (status == HW_OK && builder->parts > 0)
        status = fill(&self, err);
    if (status == HW_OK && builder->parts > 0)
        status = get_parts(&self, err);
    hw_gpu_release(&self.lists);
    hw_gpu_release(&self.codes);
    free(self.bucket);
    return hw_agree(builder->ctx->world, status, err);
}

/* Both ways to lay out. Collective. */
static enum hw_status lay_out(const struct hw_context *ctx, struct hw_layout_build *laying,
                              const struct hw_layout_spec *spec, int first_part, int count,
                              struct hw_part *parts, struct hw_error *err)
{
    const struct hw_build_engine engine = {
        collect, hw_layout_build_order, hw_layout_build_vertices, finish,
        laying,  laying->kept != NULL};
    const struct hw_graph_desc *desc = hw_graph_desc(laying->graph);
    enum hw_status status = hw_gpu_open(ctx, err);

    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK)
        status = hw_gpu_ranks_per_device(ctx, &laying->passes.sharing, err);
    if (status == HW_OK && (desc->vertices > (hw_gid)UINT32_MAX || desc->edges > INT64_MAX / 64))
        status =
            hw_fail(err, HW_RESOURCES,
                    "--device cuda: %" PRI_GID " vertices need more than 32 bits", desc->vertices);
    status = hw_agree(ctx->world, status, err);
    for (int p = 0; p < count && status != HW_OK; p++)
        parts[p] = (struct hw_part){0};
    if (status == HW_OK)
        status = hw_parts_build_by(ctx, desc, spec, first_part, count, parts, &engine, err);
    hw_layout_build_close(laying);
    return status;
}

enum hw_status hw_gpu_parts_build(const struct hw_context *ctx, struct hw_graph *graph,
                                  const struct hw_layout_spec *spec, int first_part, int count,
                                  struct hw_part *parts, struct hw_error *err)
{
    struct hw_layout_build laying = {.graph = graph};

    return lay_out(ctx, &laying, spec, first_part, count, parts, err);
}

static void free_kept(struct hw_resident *resident)
{
    struct hw_device_csr *kept = (struct hw_device_csr *)resident;

    hw_gpu_release(&kept->arrays);
    free(kept);
}

/* One part a rank, whose lists stay. Collective. */
static enum hw_status keep(const struct hw_context *ctx, struct hw_graph *graph,
                           const struct hw_layout_spec *spec, bool joined, struct hw_part *part,
                           struct hw_error *err)
{
    struct hw_layout_build laying = {.graph = graph, .joined = joined};
    struct hw_device_csr *kept = NULL;
    enum hw_status status = hw_alloc_zero(&kept, 1, sizeof *kept, "the lists of a part", err);

    *part = (struct hw_part){0};
    laying.kept = kept;
    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK)
        status = lay_out(ctx, &laying, spec, ctx->rank, 1, part, err);
    if (status != HW_OK) {
        if (kept)
            free_kept(&kept->base);
        return status;
    }
    kept->base.free = free_kept;
    kept->block = part->grid.block;
    part->resident = &kept->base;
    return HW_OK;
}

enum hw_status hw_gpu_build_device_csr(const struct hw_context *ctx, struct hw_graph *graph,
                                       const struct hw_layout_spec *spec, struct hw_part *part,
                                       struct hw_error *err)
{
    struct hw_layout_spec unweighted = *spec;

    unweighted.weights = false;
    return keep(ctx, graph, &unweighted, false, part, err);
}

enum hw_status hw_gpu_build_weighted_device_csr(const struct hw_context *ctx,
                                                struct hw_graph *graph,
                                                const struct hw_layout_spec *spec,
                                                struct hw_part *part, struct hw_error *err)
{
    struct hw_layout_spec weighted = *spec;

    if (hw_graph_desc(graph)->weights == HW_WEIGHTS_NONE)
        return hw_gpu_build_device_csr(ctx, graph, spec, part, err);
    weighted.weights = true;
    return keep(ctx, graph, &weighted, true, part, err);
}

struct hw_device_csr *hw_device_csr(const struct hw_part *part)
{
    if (!part->resident || part->resident->free != free_kept)
        return NULL;
    return (struct hw_device_csr *)part->resident;
}
