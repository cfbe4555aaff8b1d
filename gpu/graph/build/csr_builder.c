#include "gpu/graph/build/csr_builder.h"

#include "gpu/graph/build/vertex_order.h"
#include "gpu/graph/degree_summary.h"
#include "gpu/graph/device_edge_list.h"
#include "gpu/graph/row_range_builder.h"
#include "gpu/hopwave_gpu.h"
#include "lib/base/memory.h"
#include "lib/base/permutation.h"
#include "lib/base/radix_sort.h"
#include "lib/layout/build/build.h"
#include "lib/layout/degree_variation.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>

/* A graph under construction. */
struct building {
    const struct hw_context *ctx;
    struct hw_graph *graph;
    const struct hw_graph_desc *desc;
    struct hw_gpu_resident *built;
    hw_lid n;
    int column_bits;
    bool weights;                      /* lists have weights and are sorted by them */
    bool choose_order;                 /* by the degrees, instead of `order` */
    const struct hw_layout_spec *spec; /* while the part is built */
    enum hw_order order;               /* of the vertices */

    struct hw_device_edge_list edge_list; /* the tuples */

    struct hw_gpu_arrays vertices;
    uint32_t *out, *in;          /* [n] degrees by graph id; in: of directed graphs only */
    uint32_t *neighbor;          /* [n] one neighbor of each vertex; undirected graphs only */
    uint64_t *multigraph_degree; /* [n] counting parallel edges and loops */
    uint64_t *counter;           /* [3] */
    uint32_t *bound;             /* [2] */

    struct hw_row_range_builder row_ranges;
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

/* ---- entries ---- */

/* Entries of out-lists, or of a directed graph's in-lists. */
static struct hw_gpu_entries entries_of(const struct building *self, bool in)
{
    return (struct hw_gpu_entries){.kind = HW_ENTRIES_PLAIN,
                                   .column_bits = self->column_bits,
                                   .forward = !in,
                                   .backward = in || !self->desc->directed,
                                   .weights =
                                       self->weights ? self->desc->weights : HW_WEIGHTS_NONE};
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
        hw_gpu_add(arrays, &self->neighbor, n, sizeof *self->neighbor);
    hw_gpu_add(arrays, &self->multigraph_degree, n, sizeof *self->multigraph_degree);
    hw_gpu_add(arrays, &self->counter, 3, sizeof *self->counter);
    hw_gpu_add(arrays, &self->bound, 2, sizeof *self->bound);
    enum hw_status status = hw_gpu_allocate(arrays, 0, "building the graph", err);
    if (status == HW_OK)
        status = hw_gpu_fill(self->out, 0, (size_t)n * sizeof *self->out, err);
    if (status == HW_OK && self->in)
        status = hw_gpu_fill(self->in, 0, (size_t)n * sizeof *self->in, err);
    if (status == HW_OK)
        status = hw_gpu_fill(self->multigraph_degree, 0,
                             (size_t)n * sizeof *self->multigraph_degree, err);
    return status;
}

static enum hw_status use_out(void *given, const struct hw_row_range *range, struct hw_error *err)
{
    struct building *self = given;

    return hw_cuda(hw_gpu_launch_count_rows(range->keys->key[0], (uint64_t)range->count,
                                            range->entries, self->multigraph_degree, self->out,
                                            self->neighbor),
                   "the kernel that counts neighbors", err);
}

static enum hw_status use_in(void *given, const struct hw_row_range *range, struct hw_error *err)
{
    struct building *self = given;

    return hw_cuda(hw_gpu_launch_count_rows(range->keys->key[0], (uint64_t)range->count,
                                            range->entries, NULL, self->in, NULL),
                   "the kernel that counts neighbors", err);
}

static enum hw_status count(struct building *self, struct hw_error *err)
{
    struct hw_gpu_entries entries = entries_of(self, false);
    enum hw_status status = hw_row_range_builder_open(&self->row_ranges, &self->edge_list.tuples,
                                                      entries_most(self), false, self->n, err);

    entries.loops = true; /* they count in multigraph degrees */
    entries.weights = HW_WEIGHTS_NONE;
    if (status == HW_OK)
        status = hw_row_range_builder_run(&self->row_ranges, &entries, self->n, entries_most(self),
                                          NULL, use_out, self, err);
    if (status == HW_OK && self->desc->directed) {
        entries = entries_of(self, true);
        entries.weights = HW_WEIGHTS_NONE;
        status = hw_row_range_builder_run(&self->row_ranges, &entries, self->n, entries_most(self),
                                          NULL, use_in, self, err);
    }
    if (status == HW_OK)
        status = wait("counting edges", err);
    hw_row_range_builder_close(&self->row_ranges);
    return status;
}

/* ---- 2: the order of vertices ---- */

/* Orders vertices, in arrays that the built graph keeps, and counts those of degree 2 and above and
 * of degree 1 and above. */
static enum hw_status sort_vertices(struct building *self, struct hw_gpu_vertex_sort *sort,
                                    struct hw_error *err)
{
    struct hw_gpu_resident *built = self->built;
    uint32_t bound[2];
    enum hw_status status =
        hw_cuda(hw_gpu_launch_order_vertices(sort), "the kernels that order vertices", err);

    built->by_degree = true;

    if (status == HW_OK)
        status = hw_gpu_get(bound, self->bound, sizeof bound, err);
    if (status != HW_OK)
        return status;
    uint64_t filled = ((uint64_t)bound[0] + 31) / 32 * 32;
    built->active = bound[1];
    built->core = filled < built->active ? (uint32_t)filled : built->active;
    if (self->neighbor && built->core < built->active)
        status = hw_cuda(hw_gpu_launch_order_leaves(sort, built->core, built->active),
                         "the kernels that order leaves", err);
    return status;
}

static enum hw_status count_edges(struct building *self, struct hw_gpu_vertex_sort *sort,
                                  struct hw_error *err)
{
    struct hw_gpu_resident *built = self->built;
    enum hw_status status =
        hw_cuda(hw_gpu_launch_total(self->out, self->n, self->counter, sort->scratch, sort->bytes),
                "counting edges", err);

    if (status == HW_OK)
        status = hw_gpu_get(&built->edges, self->counter, sizeof built->edges, err);
    built->wide = built->edges > UINT32_MAX;
    return status;
}

/* Longer lists than fit next to the record of a vertex are fast in any order only if there are
 * many. */
#define INLINE_DEGREE 8
#define MIN_MEAN_DEGREE 3

static enum hw_status choose_order(struct building *self, struct hw_error *err)
{
    uint64_t sums[3]; /* of degrees, of their squares; the largest */
    enum hw_status status = hw_cuda(hw_gpu_launch_degree_sums(self->out, self->n, self->counter),
                                    "the kernel that sums degrees", err);

    if (status == HW_OK)
        status = hw_gpu_get(sums, self->counter, sizeof sums, err);
    if (status != HW_OK)
        return status;
    const double mean = (double)sums[0] / self->n;
    const bool even = hw_degrees_hardly_vary(self->n, (double)sums[0], (double)sums[1]);
    if (even && (sums[2] <= INLINE_DEGREE || mean > MIN_MEAN_DEGREE))
        self->order = HW_ORDER_NONE;
    return HW_OK;
}

/* The same for weighted lists, by the rule of several devices: no list lies inline, and vertices of
 * one edge are worth an order by degree where lists are short. */
static enum hw_status choose_weighted_order(struct building *self, struct hw_error *err)
{
    bool keeps = false;
    const enum hw_status status =
        hw_keeps_own_order(self->desc, self->spec, self->out, &keeps, err);

    if (keeps)
        self->order = HW_ORDER_NONE;
    return status;
}

/* Numbers vertices by graph id, or by hash: all of them are the core. */
static enum hw_status number_vertices(struct building *self, struct hw_gpu_vertex_sort *sort,
                                      struct hw_error *err)
{
    struct hw_gpu_resident *built = self->built;
    const struct hw_permutation hash = hw_permutation((uint64_t)self->n, HW_ORDER_HASH_SEED);
    const size_t bytes = (size_t)self->n * sizeof(uint32_t);
    uint32_t *vertex = NULL;
    enum hw_status status = HW_OK;

    built->active = built->core = self->n;
    built->graph_ids = self->order == HW_ORDER_NONE;
    if (built->graph_ids) {
        status = hw_cuda(hw_gpu_launch_number(sort->vertex_of_id, self->n), "numbers", err);
    } else {
        status = hw_alloc(&vertex, self->n, sizeof *vertex, "numbers of vertices", err);
#pragma omp parallel for if (status == HW_OK)
        for (hw_lid v = 0; v < (status == HW_OK ? self->n : 0); v++)
            vertex[v] = (uint32_t)hw_permute(&hash, v);
        if (status == HW_OK)
            status = hw_gpu_put(sort->vertex_of_id, vertex, bytes, err);
        free(vertex);
    }
    return status == HW_OK
               ? hw_cuda(hw_gpu_launch_invert(sort->vertex_of_id, self->n, 0, sort->graph_id),
                         "numbers", err)
               : status;
}

static enum hw_status order_vertices(struct building *self, struct hw_error *err)
{
    struct hw_gpu_resident *built = self->built;
    struct hw_gpu_arrays scratch_arrays = {0};
    struct hw_gpu_vertex_sort sort = {
        .vertices = self->n, .out = self->out, .in = self->in, .neighbor = self->neighbor};
    enum hw_status status =
        hw_cuda(hw_gpu_scratch_bytes(1, false, self->n, &sort.bytes), "ordering vertices", err);

    hw_gpu_add(&built->arrays, &built->graph_id, self->n, sizeof *built->graph_id);
    hw_gpu_add(&built->arrays, &built->vertex_of_id, self->n, sizeof *built->vertex_of_id);
    for (int k = 0; k < 3; k++)
        hw_gpu_add(&scratch_arrays, &sort.buffer[k], self->n, sizeof *sort.buffer[k]);
    hw_gpu_add(&scratch_arrays, &sort.scratch, (hw_count)sort.bytes, 1);
    if (status == HW_OK)
        status = hw_gpu_allocate(&built->arrays, 0, "building the graph", err);
    if (status == HW_OK)
        status = hw_gpu_allocate(&scratch_arrays, 0, "building the graph", err);
    sort.graph_id = built->graph_id;
    sort.vertex_of_id = built->vertex_of_id;
    sort.bound = self->bound;
    if (status == HW_OK && self->choose_order)
        status = self->weights ? choose_weighted_order(self, err) : choose_order(self, err);
    if (status == HW_OK)
        status = self->order == HW_ORDER_DEGREE ? sort_vertices(self, &sort, err)
                                                : number_vertices(self, &sort, err);
    if (status == HW_OK)
        status = count_edges(self, &sort, err);
    hw_gpu_release(&scratch_arrays);
    return status;
}

/* ---- 3: filling ---- */

/* Lists that are being filled, from the first row on. */
struct filling {
    struct hw_row_range_builder *row_ranges;
    uint32_t *column;
    struct hw_gpu_edge *edge; /* with weights, in place of columns */
    hw_count capacity, filled;
};

static enum hw_status use_edges(void *given, const struct hw_row_range *range, struct hw_error *err)
{
    struct filling *filling = given;
    hw_count taken = 0;
    enum hw_status status =
        hw_gpu_take_edges(filling->row_ranges, range, filling->edge + filling->filled, &taken, err);

    filling->filled += taken;
    return status;
}

static enum hw_status use_columns(void *given, const struct hw_row_range *range,
                                  struct hw_error *err)
{
    struct filling *filling = given;
    struct hw_row_range_builder *row_ranges = filling->row_ranges;
    uint64_t taken = 0;

    enum hw_status status =
        hw_cuda(hw_gpu_launch_take_columns(range->keys->key[0], (uint64_t)range->count,
                                           range->entries->column_bits,
                                           filling->column + filling->filled, row_ranges->counter,
                                           row_ranges->scratch, row_ranges->scratch_bytes),
                "filling lists", err);
    if (status == HW_OK)
        status = hw_gpu_get(&taken, row_ranges->counter, sizeof taken, err);
    filling->filled += (hw_count)taken;
    return status;
}

/* The lists of one matrix. */
static enum hw_status fill_lists(struct building *self, bool in, const struct hw_gpu_lists *lists,
                                 struct hw_error *err)
{
    const struct hw_gpu_resident *built = self->built;
    struct hw_gpu_entries entries = entries_of(self, in);
    struct filling filling = {.row_ranges = &self->row_ranges,
                              .column = (uint32_t *)(uintptr_t)lists->neighbor,
                              .edge = in ? built->in_edge : built->edge,
                              .capacity = (hw_count)built->edges};
    enum hw_status status =
        hw_cuda(hw_gpu_launch_offsets(in ? self->in : self->out, built->graph_id, built->active,
                                      built->wide, (void *)lists->offset, self->row_ranges.scratch,
                                      self->row_ranges.scratch_bytes),
                "offsets of lists", err);

    entries.number = built->vertex_of_id;
    if (status == HW_OK)
        status =
            hw_row_range_builder_run(&self->row_ranges, &entries, self->n, entries_most(self), NULL,
                                     self->weights ? use_edges : use_columns, &filling, err);
    if (status == HW_OK && filling.filled != filling.capacity)
        status = hw_fail(err, HW_INTERNAL,
                         "lists of %" PRI_COUNT " entries were filled with %" PRI_COUNT,
                         filling.capacity, filling.filled);
    return status;
}

static enum hw_status fill(struct building *self, struct hw_error *err)
{
    struct hw_gpu_resident *built = self->built;
    struct hw_gpu_arrays lists = {0};
    size_t width = built->wide ? sizeof(uint64_t) : sizeof(uint32_t);
    struct hw_gpu_lists *of[2] = {&built->out, &built->in};
    struct hw_gpu_edge **edge[2] = {&built->edge, &built->in_edge};
    int matrices = self->desc->directed ? 2 : 1;

    for (int m = 0; m < matrices; m++) {
        hw_gpu_add(&lists, &of[m]->offset, (hw_count)built->active + 1, width);
        if (self->weights)
            hw_gpu_add(&lists, edge[m], (hw_count)built->edges, sizeof **edge[m]);
        else
            hw_gpu_add(&lists, &of[m]->neighbor, (hw_count)built->edges, sizeof *of[m]->neighbor);
    }
    enum hw_status status = hw_gpu_allocate(&lists, 0, "the lists of the graph", err);
    for (int a = 0; a < lists.count && status == HW_OK; a++)
        built->arrays.of[built->arrays.count++] = lists.of[a];
    if (status == HW_OK)
        status = hw_row_range_builder_open(&self->row_ranges, &self->edge_list.tuples,
                                           entries_most(self), self->weights, self->n, err);
    for (int m = 0; m < matrices && status == HW_OK; m++)
        status = fill_lists(self, m == 1, of[m], err);
    if (status == HW_OK && self->weights)
        status = hw_gpu_summarize_weights(&self->row_ranges, built->edge, (hw_count)built->edges,
                                          self->desc->weights, &built->base.seen, err);
    if (status == HW_OK)
        status = wait("filling lists", err);
    hw_row_range_builder_close(&self->row_ranges);
    return status;
}

/* ---- what the host keeps ---- */

/* Negative self-loops. */
static enum hw_status get_loops(struct building *self, struct hw_part *part, struct hw_error *err)
{
    const struct hw_gpu_entries entries = {.distribution = hw_vertex_distribution(self->n, 1),
                                           .weights = self->desc->weights};
    const size_t bytes = (size_t)self->n * sizeof(uint32_t);
    struct hw_gpu_arrays arrays = {0};
    uint32_t *by_id = NULL, *by_vertex = NULL, *loop = NULL;
    enum hw_status status = hw_alloc(&loop, self->n, sizeof *loop, "self-loops", err);

    hw_gpu_add(&arrays, &by_id, self->n, sizeof *by_id);
    hw_gpu_add(&arrays, &by_vertex, self->n, sizeof *by_vertex);
    if (status == HW_OK)
        status = hw_gpu_allocate(&arrays, 0, "self-loops", err);
    if (status == HW_OK)
        status = hw_gpu_fill(by_id, 0xff, bytes, err); /* HW_NO_LOOP */
    if (status == HW_OK)
        status = hw_cuda(hw_gpu_launch_loops(&self->edge_list.tuples, &entries, by_id),
                         "the kernel for self-loops", err);
    if (status == HW_OK)
        status = hw_cuda(hw_gpu_launch_take(by_id, self->built->graph_id, self->n, by_vertex),
                         "self-loops", err);
    if (status == HW_OK)
        status = hw_gpu_get_new(loop, by_vertex, bytes, err);
    if (status == HW_OK)
        status = hw_build_keep_loops(part, loop, self->desc->weights, err);
    hw_gpu_release(&arrays);
    free(loop);
    return status;
}

/* Offsets of 32 bits, widened. */
static enum hw_status get_narrow(const void *device, hw_count count, hw_count *offset,
                                 struct hw_error *err)
{
    uint32_t *narrow = NULL;
    enum hw_status status = hw_alloc(&narrow, count, sizeof *narrow, "offsets", err);

    if (status == HW_OK)
        status = hw_gpu_get_new(narrow, device, (size_t)count * sizeof *narrow, err);
#pragma omp parallel for if (status == HW_OK)
    for (hw_count r = 0; r < (status == HW_OK ? count : 0); r++)
        offset[r] = narrow[r];
    free(narrow);
    return status;
}

/* Offsets of all vertices: the lists of those from `active` on are empty. */
static enum hw_status get_offsets(const struct building *self, const struct hw_gpu_lists *lists,
                                  struct hw_csr *csr, struct hw_error *err)
{
    const struct hw_gpu_resident *built = self->built;
    hw_count active = built->active, n = self->n;
    enum hw_status status = hw_alloc(&csr->offset, n + 1, sizeof *csr->offset, "offsets", err);

    if (status != HW_OK)
        return status;
    csr->rows = self->n;
    if (built->wide)
        status = hw_gpu_get_new(csr->offset, lists->offset,
                                (size_t)(active + 1) * sizeof *csr->offset, err);
    else
        status = get_narrow(lists->offset, active + 1, csr->offset, err);
#pragma omp parallel for
    for (hw_count r = active + 1; r <= n; r++)
        csr->offset[r] = (hw_count)built->edges;
    return status;
}

/* The vertices of the part, in the order of their numbers. */
static enum hw_status get_vertices(struct building *self, struct hw_part_vertices *own,
                                   struct hw_error *err)
{
    const struct hw_gpu_resident *built = self->built;
    struct hw_gpu_arrays scratch_arrays = {0};
    uint64_t *by_vertex = NULL;
    hw_count n = self->n;
    enum hw_status status = hw_alloc(&own->graph_id, n, sizeof *own->graph_id, "vertices", err);

    own->count = self->n;
    if (status == HW_OK)
        status = hw_alloc(&own->tuples, n, sizeof *own->tuples, "vertices", err);
    if (status == HW_OK)
        status = hw_alloc(&own->by_graph_id, n, sizeof *own->by_graph_id, "vertices", err);
    hw_gpu_add(&scratch_arrays, &by_vertex, n, sizeof *by_vertex);
    if (status == HW_OK)
        status = hw_gpu_allocate(&scratch_arrays, 0, "building the graph", err);
    if (status == HW_OK)
        status = hw_cuda(
            hw_gpu_launch_gather(self->multigraph_degree, built->graph_id, self->n, by_vertex),
            "tuples of vertices", err);
    if (status == HW_OK)
        status = hw_gpu_get_new(own->tuples, by_vertex, (size_t)n * sizeof *own->tuples, err);
    if (status == HW_OK)
        status = hw_gpu_get_new(own->by_graph_id, built->vertex_of_id,
                                (size_t)n * sizeof *built->vertex_of_id, err);
    hw_gpu_release(&scratch_arrays);
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
                             .weights = self->weights ? desc->weights : HW_WEIGHTS_NONE,
                             .grid.block = self->n};
    part->spec.weights = self->weights;
    if (self->choose_order || self->order != HW_ORDER_DEGREE)
        part->spec.order = self->order;
    memcpy(part->graph_digest, desc->digest, sizeof part->graph_digest);
    enum hw_status status = get_vertices(self, &part->own, err);
    if (status == HW_OK)
        status = get_offsets(self, &self->built->out, &part->grid.out, err);
    if (status == HW_OK && desc->directed)
        status = get_offsets(self, &self->built->in, &part->grid.in, err);
    if (status == HW_OK && self->weights)
        status = get_loops(self, part, err);
    return status;
}

/* ---- construction ---- */

static enum hw_status check(const struct building *self, const struct hw_layout_spec *spec,
                            struct hw_error *err)
{
    enum hw_status status = hw_parts_check(self->desc, spec, self->ctx->size, err);

    if (status == HW_OK && self->desc->edges > INT64_MAX / 32)
        return hw_fail(err, HW_RESOURCES, "%" PRI_COUNT " edges are too many for a device",
                       self->desc->edges);
    return status;
}

/* Runs the three stages and takes their times. */
static enum hw_status build(struct building *self, struct hw_error *err)
{
    enum hw_status (*const stages[])(struct building *, struct hw_error *) = {count, order_vertices,
                                                                              fill};
    enum hw_status status =
        hw_device_edge_list_open(self->ctx, self->graph, self->weights, &self->edge_list, err);

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
            "%" PRIu64 " stored edges made on the device in %.2f s: count %.2f s, order %.2f s, "
            "fill %.2f s, %d row ranges",
            self->built->edges, seconds, self->seconds[0], self->seconds[1], self->seconds[2],
            self->row_ranges.count);
}

/* A part that stays on the device. */
static enum hw_status build_resident(const struct hw_context *ctx, struct hw_graph *graph,
                                     const struct hw_layout_spec *spec, bool any_order,
                                     struct hw_part *part, struct hw_error *err)
{
    const struct hw_graph_desc *desc = hw_graph_desc(graph);
    struct building self = {.ctx = ctx,
                            .graph = graph,
                            .desc = desc,
                            .n = (hw_lid)desc->vertices,
                            .spec = spec,
                            .choose_order = any_order && spec->any_order,
                            .order = any_order ? spec->order : HW_ORDER_DEGREE,
                            .weights = spec->weights && desc->weights != HW_WEIGHTS_NONE};
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
    if (status == HW_OK)
        status = make_part(&self, spec, part, err);
    hw_device_edge_list_close(&self.edge_list);
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

static bool is_one_grid(const struct hw_layout_spec *spec)
{
    return spec->parts == 1 && spec->layout != HW_LAYOUT_DEGREE_SEPARATED;
}

enum hw_status hw_gpu_build(const struct hw_context *ctx, struct hw_graph *graph,
                            const struct hw_layout_spec *spec, struct hw_part *part,
                            struct hw_error *err)
{
    return is_one_grid(spec) && !spec->weights
               ? build_resident(ctx, graph, spec, false, part, err)
               : hw_gpu_parts_build(ctx, graph, spec, ctx->rank, 1, part, err);
}

enum hw_status hw_gpu_build_any_order(const struct hw_context *ctx, struct hw_graph *graph,
                                      const struct hw_layout_spec *spec, struct hw_part *part,
                                      struct hw_error *err)
{
    return is_one_grid(spec) && !spec->weights && !hw_graph_desc(graph)->directed
               ? build_resident(ctx, graph, spec, true, part, err)
               : hw_gpu_build(ctx, graph, spec, part, err);
}

enum hw_status hw_gpu_build_by_weight(const struct hw_context *ctx, struct hw_graph *graph,
                                      const struct hw_layout_spec *spec, struct hw_part *part,
                                      struct hw_error *err)
{
    const bool any_order = spec->any_order && !hw_graph_desc(graph)->directed;

    return is_one_grid(spec) ? build_resident(ctx, graph, spec, any_order, part, err)
                             : hw_gpu_parts_build(ctx, graph, spec, ctx->rank, 1, part, err);
}
