#include "builder.h"

#include "base/memory.h"
#include "base/sort.h"
#include "held.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>

/* Keys that a pass has room for at least: with less it would take too many. */
#define LEAST_KEYS ((hw_count)1 << 22)

/* Device memory that is left alone: the runtime's own, and pages half used. */
#define RESERVE ((hw_count)256 << 20)

/* A graph on its way. */
struct building {
    const struct hw_context *ctx;
    struct hw_graph *graph;
    const struct hw_graph_desc *desc;
    struct hw_gpu_resident *built;
    hw_lid n;
    int column_bits;

    struct hw_gpu_held held; /* the tuples */

    struct hw_gpu_arrays vertices;
    uint32_t *out, *in; /* [n] degrees by graph id; in: of directed graphs only */
    uint32_t *some;     /* [n] */
    uint64_t *ends;     /* [n] */
    uint64_t *counter;  /* [1] */
    uint32_t *bound;    /* [2] */

    struct hw_gpu_arrays pass;
    uint64_t *key[2]; /* [capacity] */
    hw_count capacity;
    void *scratch;
    size_t scratch_bytes;
    uint64_t *bucket; /* [2^HW_GPU_BUCKET_BITS] */

    int passes;
    double seconds[3];
};

const struct hw_gpu_resident *hw_gpu_resident(const struct hw_part *part)
{
    return (const struct hw_gpu_resident *)part->resident;
}

static void free_resident(struct hw_resident *resident)
{
    struct hw_gpu_resident *built = (struct hw_gpu_resident *)resident;

    hw_gpu_release(&built->arrays);
    free(built);
}

static enum hw_status wait(const char *what, struct hw_error *err)
{
    return hw_cuda((int)cudaDeviceSynchronize(), what, err);
}

/* ---- passes ---- */

/* Room for the keys of so many entries, or of as many as fit. */
static enum hw_status open_pass(struct building *self, hw_count entries, struct hw_error *err)
{
    hw_count left = 0, total = 0;
    enum hw_status status = hw_gpu_memory(&left, &total, err);

    if (status == HW_OK)
        status = hw_cuda(hw_gpu_scratch_bytes((uint64_t)entries, self->n, &self->scratch_bytes),
                         "sorting", err);
    if (status != HW_OK)
        return status;
    hw_count fit =
        (left - RESERVE - (hw_count)self->scratch_bytes) / (hw_count)(2 * sizeof *self->key[0]);
    fit = fit > LEAST_KEYS ? fit : LEAST_KEYS;
    self->capacity = entries < fit ? entries : fit;
    for (int k = 0; k < 2; k++)
        hw_gpu_add(&self->pass, &self->key[k], self->capacity, sizeof *self->key[k]);
    hw_gpu_add(&self->pass, &self->scratch, (hw_count)self->scratch_bytes, 1);
    hw_gpu_add(&self->pass, &self->bucket, 1 << HW_GPU_BUCKET_BITS, sizeof *self->bucket);
    return hw_gpu_allocate(&self->pass, 0, "building the graph", err);
}

/* What is done with the sorted keys of rows entries->begin .. end-1. */
typedef enum hw_status (*use_keys)(struct building *self, const struct hw_gpu_entries *entries,
                                   const uint64_t *key, hw_count count, void *target,
                                   struct hw_error *err);

/* One pass: the rows of `entries`. */
static enum hw_status run_pass(struct building *self, const struct hw_gpu_entries *entries,
                               use_keys use, void *target, struct hw_error *err)
{
    uint64_t *sorted = NULL, count = 0;
    int bits = entries->column_bits + hw_bits(entries->end - entries->begin);
    enum hw_status status =
        hw_cuda(hw_gpu_launch_put_entries(&self->held.tuples, entries, self->key[0],
                                          (uint64_t)self->capacity, self->counter),
                "the kernel that makes edges", err);

    self->passes++;
    if (status == HW_OK)
        status = hw_gpu_get(&count, self->counter, sizeof count, err);
    if (status == HW_OK && count > (uint64_t)self->capacity)
        status =
            hw_fail(err, HW_INTERNAL, "a pass has %" PRIu64 " entries, planned for %" PRI_COUNT,
                    count, self->capacity);
    if (status == HW_OK)
        status = hw_cuda(hw_gpu_launch_sort(self->key[0], self->key[1], count, bits, self->scratch,
                                            self->scratch_bytes, &sorted),
                         "sorting edges", err);
    return status == HW_OK ? use(self, entries, sorted, (hw_count)count, target, err) : status;
}

/* Counts the entries of ranges of 2^shift rows. bucket: [2^HW_GPU_BUCKET_BITS]. */
static enum hw_status count_buckets(struct building *self, const struct hw_gpu_entries *entries,
                                    int shift, uint64_t *bucket, struct hw_error *err)
{
    const size_t bytes = sizeof *bucket << HW_GPU_BUCKET_BITS;
    enum hw_status status = hw_gpu_fill(self->bucket, 0, bytes, err);

    if (status == HW_OK)
        status =
            hw_cuda(hw_gpu_launch_count_entries(&self->held.tuples, entries, shift, self->bucket),
                    "the kernel that counts edges", err);
    return status == HW_OK ? hw_gpu_get(bucket, self->bucket, bytes, err) : status;
}

/* Passes over ranges of rows, each as long as keys fit. */
static enum hw_status run_ranges(struct building *self, const struct hw_gpu_entries *entries,
                                 use_keys use, void *target, struct hw_error *err)
{
    int bits = hw_bits(self->n), shift = bits > HW_GPU_BUCKET_BITS ? bits - HW_GPU_BUCKET_BITS : 0;
    hw_count buckets = (((hw_count)self->n - 1) >> shift) + 1;
    uint64_t *bucket = NULL;
    enum hw_status status =
        hw_alloc(&bucket, 1 << HW_GPU_BUCKET_BITS, sizeof *bucket, "counts of edges", err);

    if (status == HW_OK)
        status = count_buckets(self, entries, shift, bucket, err);
    for (hw_count first = 0, end; first < buckets && status == HW_OK; first = end) {
        hw_count sum = 0;
        for (end = first; end < buckets && sum + (hw_count)bucket[end] <= self->capacity; end++)
            sum += (hw_count)bucket[end];
        if (end == first) {
            status = hw_fail(err, HW_RESOURCES,
                             "building the graph: %" PRIu64 " edges at few vertices need %.2f GiB "
                             "of the device's memory, and %.2f GiB are free",
                             bucket[first], (double)bucket[first] * 16 / 1073741824,
                             (double)self->capacity * 16 / 1073741824);
            break;
        }
        struct hw_gpu_entries range = *entries;
        range.begin = (uint64_t)first << shift;
        range.end = (uint64_t)end << shift;
        range.end = range.end < self->n ? range.end : self->n;
        status = run_pass(self, &range, use, target, err);
    }
    free(bucket);
    return status;
}

/* As few passes over the entries as memory allows. */
static enum hw_status run_passes(struct building *self, const struct hw_gpu_entries *entries,
                                 use_keys use, void *target, struct hw_error *err)
{
    hw_count all = self->desc->edges * (entries->forward + entries->backward);

    if (all > self->capacity)
        return run_ranges(self, entries, use, target, err);
    return run_pass(self, entries, use, target, err);
}

/* Entries of out-lists, or of a directed graph's in-lists. */
static struct hw_gpu_entries entries_of(const struct building *self, bool in)
{
    return (struct hw_gpu_entries){.end = self->n,
                                   .column_bits = self->column_bits,
                                   .forward = !in,
                                   .backward = in || !self->desc->directed};
}

static hw_count entries_most(const struct building *self)
{
    return self->desc->edges * (self->desc->directed ? 1 : 2);
}

/* ---- 1: counting ---- */

static enum hw_status open_vertices(struct building *self, struct hw_error *err)
{
    struct hw_gpu_arrays *arrays = &self->vertices;
    hw_count n = self->n;

    hw_gpu_add(arrays, &self->out, n, sizeof *self->out);
    if (self->desc->directed)
        hw_gpu_add(arrays, &self->in, n, sizeof *self->in);
    else
        hw_gpu_add(arrays, &self->some, n, sizeof *self->some);
    hw_gpu_add(arrays, &self->ends, n, sizeof *self->ends);
    hw_gpu_add(arrays, &self->counter, 1, sizeof *self->counter);
    hw_gpu_add(arrays, &self->bound, 2, sizeof *self->bound);
    enum hw_status status = hw_gpu_allocate(arrays, 0, "building the graph", err);
    if (status == HW_OK)
        status = hw_gpu_fill(self->out, 0, (size_t)n * sizeof *self->out, err);
    if (status == HW_OK && self->in)
        status = hw_gpu_fill(self->in, 0, (size_t)n * sizeof *self->in, err);
    if (status == HW_OK)
        status = hw_gpu_fill(self->ends, 0, (size_t)n * sizeof *self->ends, err);
    return status;
}

static enum hw_status use_out(struct building *self, const struct hw_gpu_entries *entries,
                              const uint64_t *key, hw_count count, void *target,
                              struct hw_error *err)
{
    (void)target;
    return hw_cuda(
        hw_gpu_launch_count_rows(key, (uint64_t)count, entries, self->ends, self->out, self->some),
        "the kernel that counts neighbours", err);
}

static enum hw_status use_in(struct building *self, const struct hw_gpu_entries *entries,
                             const uint64_t *key, hw_count count, void *target,
                             struct hw_error *err)
{
    (void)target;
    return hw_cuda(hw_gpu_launch_count_rows(key, (uint64_t)count, entries, NULL, self->in, NULL),
                   "the kernel that counts neighbours", err);
}

static enum hw_status count(struct building *self, struct hw_error *err)
{
    struct hw_gpu_entries entries = entries_of(self, false);
    enum hw_status status = open_pass(self, entries_most(self), err);

    entries.loops = true; /* they are tuples of their vertex */
    if (status == HW_OK)
        status = run_passes(self, &entries, use_out, NULL, err);
    if (status == HW_OK && self->desc->directed) {
        entries = entries_of(self, true);
        status = run_passes(self, &entries, use_in, NULL, err);
    }
    if (status == HW_OK)
        status = wait("counting edges", err);
    hw_gpu_release(&self->pass);
    return status;
}

/* ---- 2: ranking ---- */

/* Ranks, into the arrays that stay; then how many have which degree. */
static enum hw_status sort_vertices(struct building *self, struct hw_gpu_ranking *ranking,
                                    struct hw_error *err)
{
    struct hw_gpu_resident *built = self->built;
    uint32_t bound[2];
    enum hw_status status =
        hw_cuda(hw_gpu_launch_rank(ranking), "the kernels that rank vertices", err);

    if (status == HW_OK)
        status = hw_gpu_get(bound, self->bound, sizeof bound, err);
    if (status != HW_OK)
        return status;
    uint64_t filled = ((uint64_t)bound[0] + 31) / 32 * 32;
    built->active = bound[1];
    built->core = filled < built->active ? (uint32_t)filled : built->active;
    if (self->some && built->core < built->active)
        status = hw_cuda(hw_gpu_launch_rank_leaves(ranking, built->core, built->active),
                         "the kernels that rank leaves", err);
    if (status == HW_OK)
        status = hw_cuda(hw_gpu_launch_total(self->out, self->n, self->counter, ranking->scratch,
                                             ranking->bytes),
                         "counting edges", err);
    if (status == HW_OK)
        status = hw_gpu_get(&built->edges, self->counter, sizeof built->edges, err);
    built->wide = built->edges > UINT32_MAX;
    return status;
}

static enum hw_status rank(struct building *self, struct hw_error *err)
{
    struct hw_gpu_resident *built = self->built;
    struct hw_gpu_arrays rooms = {0};
    struct hw_gpu_ranking ranking = {
        .vertices = self->n, .out = self->out, .in = self->in, .some = self->some};
    enum hw_status status =
        hw_cuda(hw_gpu_scratch_bytes(1, self->n, &ranking.bytes), "ranking", err);

    hw_gpu_add(&built->arrays, &built->graph_id, self->n, sizeof *built->graph_id);
    hw_gpu_add(&built->arrays, &built->rank, self->n, sizeof *built->rank);
    for (int k = 0; k < 3; k++)
        hw_gpu_add(&rooms, &ranking.room[k], self->n, sizeof *ranking.room[k]);
    hw_gpu_add(&rooms, &ranking.scratch, (hw_count)ranking.bytes, 1);
    if (status == HW_OK)
        status = hw_gpu_allocate(&built->arrays, 0, "building the graph", err);
    if (status == HW_OK)
        status = hw_gpu_allocate(&rooms, 0, "building the graph", err);
    ranking.graph_id = built->graph_id;
    ranking.rank = built->rank;
    ranking.bound = self->bound;
    if (status == HW_OK)
        status = sort_vertices(self, &ranking, err);
    hw_gpu_release(&rooms);
    return status;
}

/* ---- 3: filling ---- */

/* Lists that are being filled, from the first row on. */
struct filling {
    uint32_t *column;
    hw_count room, filled;
};

static enum hw_status use_columns(struct building *self, const struct hw_gpu_entries *entries,
                                  const uint64_t *key, hw_count count, void *target,
                                  struct hw_error *err)
{
    struct filling *filling = target;
    uint64_t taken = 0;

    /* Entries that are no list's would run over the end. */
    enum hw_status status =
        hw_cuda(hw_gpu_launch_take_columns(key, (uint64_t)count, entries->column_bits,
                                           filling->column + filling->filled, self->counter,
                                           self->scratch, self->scratch_bytes),
                "filling lists", err);
    if (status == HW_OK)
        status = hw_gpu_get(&taken, self->counter, sizeof taken, err);
    filling->filled += (hw_count)taken;
    return status;
}

/* The lists of one matrix. */
static enum hw_status fill_lists(struct building *self, bool in, const struct hw_gpu_lists *lists,
                                 struct hw_error *err)
{
    const struct hw_gpu_resident *built = self->built;
    struct hw_gpu_entries entries = entries_of(self, in);
    struct filling filling = {.column = (uint32_t *)lists->rank, .room = (hw_count)built->edges};
    enum hw_status status =
        hw_cuda(hw_gpu_launch_offsets(in ? self->in : self->out, built->graph_id, built->active,
                                      built->wide, (void *)lists->offset, self->scratch,
                                      self->scratch_bytes),
                "offsets of lists", err);

    entries.number = built->rank;
    if (status == HW_OK)
        status = run_passes(self, &entries, use_columns, &filling, err);
    if (status == HW_OK && filling.filled != filling.room)
        status = hw_fail(err, HW_INTERNAL,
                         "lists of %" PRI_COUNT " entries were filled with %" PRI_COUNT,
                         filling.room, filling.filled);
    return status;
}

static enum hw_status fill(struct building *self, struct hw_error *err)
{
    struct hw_gpu_resident *built = self->built;
    struct hw_gpu_arrays lists = {0};
    size_t width = built->wide ? sizeof(uint64_t) : sizeof(uint32_t);
    struct hw_gpu_lists *of[2] = {&built->out, &built->in};
    int matrices = self->desc->directed ? 2 : 1;

    for (int m = 0; m < matrices; m++) {
        hw_gpu_add(&lists, &of[m]->offset, (hw_count)built->active + 1, width);
        hw_gpu_add(&lists, &of[m]->rank, (hw_count)built->edges, sizeof *of[m]->rank);
    }
    enum hw_status status = hw_gpu_allocate(&lists, 0, "the lists of the graph", err);
    for (int a = 0; a < lists.count && status == HW_OK; a++)
        built->arrays.of[built->arrays.count++] = lists.of[a];
    if (status == HW_OK)
        status = open_pass(self, entries_most(self), err);
    for (int m = 0; m < matrices && status == HW_OK; m++)
        status = fill_lists(self, m == 1, of[m], err);
    if (status == HW_OK)
        status = wait("filling lists", err);
    hw_gpu_release(&self->pass);
    return status;
}

/* ---- what the host keeps ---- */

/* Offsets of all vertices: those of rank `active` and above have none. */
static enum hw_status get_offsets(const struct building *self, const struct hw_gpu_lists *lists,
                                  struct hw_csr *csr, struct hw_error *err)
{
    const struct hw_gpu_resident *built = self->built;
    hw_count active = built->active, n = self->n;
    enum hw_status status = hw_alloc(&csr->offset, n + 1, sizeof *csr->offset, "offsets", err);

    if (status != HW_OK)
        return status;
    csr->rows = self->n;
    size_t width = built->wide ? sizeof(uint64_t) : sizeof(uint32_t);
    status = hw_gpu_get_new(csr->offset, lists->offset, (size_t)(active + 1) * width, err);
    if (!built->wide) /* from the end on, where none is overwritten before it is read */
        for (hw_count r = active; r >= 0; r--) {
            uint32_t narrow;
            memcpy(&narrow, (const char *)csr->offset + (size_t)r * width, sizeof narrow);
            csr->offset[r] = narrow;
        }
#pragma omp parallel for
    for (hw_count r = active + 1; r <= n; r++)
        csr->offset[r] = (hw_count)built->edges;
    return status;
}

/* The vertices of the part, in the order of their ranks. */
static enum hw_status get_vertices(struct building *self, struct hw_part_vertices *own,
                                   struct hw_error *err)
{
    const struct hw_gpu_resident *built = self->built;
    struct hw_gpu_arrays rooms = {0};
    uint64_t *by_rank = NULL;
    hw_count n = self->n;
    enum hw_status status = hw_alloc(&own->graph_id, n, sizeof *own->graph_id, "vertices", err);

    own->count = self->n;
    if (status == HW_OK)
        status = hw_alloc(&own->tuples, n, sizeof *own->tuples, "vertices", err);
    if (status == HW_OK)
        status = hw_alloc(&own->by_graph_id, n, sizeof *own->by_graph_id, "vertices", err);
    hw_gpu_add(&rooms, &by_rank, n, sizeof *by_rank);
    if (status == HW_OK)
        status = hw_gpu_allocate(&rooms, 0, "building the graph", err);
    if (status == HW_OK)
        status = hw_cuda(hw_gpu_launch_gather(self->ends, built->graph_id, self->n, by_rank),
                         "tuples of vertices", err);
    if (status == HW_OK)
        status = hw_gpu_get_new(own->tuples, by_rank, (size_t)n * sizeof *own->tuples, err);
    if (status == HW_OK)
        status =
            hw_gpu_get_new(own->by_graph_id, built->rank, (size_t)n * sizeof *built->rank, err);
    hw_gpu_release(&rooms);
#pragma omp parallel for if (status == HW_OK)
    for (hw_count v = 0; v < (status == HW_OK ? n : 0); v++)
        own->graph_id[own->by_graph_id[v]] = v;
    return status;
}

static enum hw_status make_part(struct building *self, const struct hw_layout_spec *spec,
                                struct hw_part *part, struct hw_error *err)
{
    const struct hw_graph_desc *desc = self->desc;

    *part = (struct hw_part){.spec = *spec,
                             .vertices = desc->vertices,
                             .edges = (hw_count)self->built->edges,
                             .tuples = desc->edges,
                             .directed = desc->directed,
                             .grid.block = self->n};
    part->spec.weights = false;
    memcpy(part->graph_digest, desc->digest, sizeof part->graph_digest);
    enum hw_status status = get_vertices(self, &part->own, err);
    if (status == HW_OK)
        status = get_offsets(self, &self->built->out, &part->grid.out, err);
    if (status == HW_OK && desc->directed)
        status = get_offsets(self, &self->built->in, &part->grid.in, err);
    return status;
}

/* ---- all of it ---- */

static enum hw_status check(const struct building *self, const struct hw_layout_spec *spec,
                            struct hw_error *err)
{
    enum hw_status status = hw_parts_check(self->desc, spec, self->ctx->size, err);

    if (status == HW_OK && (spec->parts != 1 || spec->layout == HW_LAYOUT_DEGREE_SEPARATED))
        return hw_fail(err, HW_INTERNAL, "the device builds grids of one part");
    if (status == HW_OK && self->desc->edges > INT64_MAX / 32)
        return hw_fail(err, HW_RESOURCES, "%" PRI_COUNT " edges are too many for a device",
                       self->desc->edges);
    return status;
}

/* The three stages, with their times. */
static enum hw_status build(struct building *self, struct hw_error *err)
{
    enum hw_status (*const stages[])(struct building *, struct hw_error *) = {count, rank, fill};
    enum hw_status status = hw_gpu_tuples_open(self->graph, &self->held, err);

    if (status == HW_OK)
        status = open_vertices(self, err);
    for (int s = 0; s < 3 && status == HW_OK; s++) {
        double started = hw_seconds();
        status = stages[s](self, err);
        self->seconds[s] = hw_seconds() - started;
    }
    return status;
}

static void note(const struct building *self, double seconds)
{
    hw_note(self->ctx,
            "%" PRIu64 " stored edges made on the device in %.2f s: count %.2f s, rank %.2f s, "
            "fill %.2f s, %d passes",
            self->built->edges, seconds, self->seconds[0], self->seconds[1], self->seconds[2],
            self->passes);
}

enum hw_status hw_gpu_build(const struct hw_context *ctx, struct hw_graph *graph,
                            const struct hw_layout_spec *spec, struct hw_part *part,
                            struct hw_error *err)
{
    const struct hw_graph_desc *desc = hw_graph_desc(graph);
    struct building self = {.ctx = ctx, .graph = graph, .desc = desc, .n = (hw_lid)desc->vertices};
    double started = hw_seconds();

    *part = (struct hw_part){0};
    self.column_bits = hw_bits((uint64_t)desc->vertices);
    enum hw_status status = check(&self, spec, err);
    if (status == HW_OK)
        status = hw_alloc_zero(&self.built, 1, sizeof *self.built, "the graph", err);
    if (status == HW_OK)
        status = hw_gpu_open(ctx, err);
    if (status == HW_OK)
        status = build(&self, err);
    hw_gpu_tuples_close(&self.held);
    if (status == HW_OK)
        status = make_part(&self, spec, part, err);
    hw_gpu_release(&self.vertices);
    if (status == HW_OK) {
        self.built->base.free = free_resident;
        part->resident = &self.built->base;
        note(&self, hw_seconds() - started);
        return HW_OK;
    }
    hw_part_free(part);
    if (self.built)
        free_resident(&self.built->base);
    return status;
}
