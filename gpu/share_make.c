#include "share_make.h"

#include "base/memory.h"
#include "base/sort.h"
#include "comm/exchange.h"
#include "graph/generator.h"
#include "share_resident.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>

/* Device memory that is left alone: the runtime's own, the engine's scratch. */
#define RESERVE ((hw_count)1 << 30)

/* Keys that a pass has room for at least. */
#define LEAST_KEYS ((hw_count)1 << 22)

/* A part on its way. */
struct making {
    const struct hw_context *ctx;
    const struct hw_graph_desc *desc;
    struct hw_share_resident *made;
    struct hw_part *part;
    hw_count n;          /* vertices */
    uint32_t with_edges; /* of them */

    struct hw_gpu_arrays source;
    struct hw_gpu_tuples tuples;
    uint64_t *counter; /* [1] */

    struct hw_gpu_arrays counting; /* until the part's vertices are known */
    uint32_t *ends, *loops;        /* [n] by graph id */
    uint32_t *sorted;              /* [n] ends by rank */
    uint32_t *room;                /* [n] */
    struct hw_gpu_arrays naming;   /* until the lists have their places */
    uint32_t *id;                  /* [n] graph id by rank */
    struct hw_gpu_arrays ranking;  /* until they are filled */
    uint32_t *rank;                /* [n] by graph id */
    uint64_t *before; /* [active + 1] on the host: ends at this part's rows before each */

    struct hw_gpu_arrays pass;
    uint64_t *key[2];
    void *scratch;
    size_t scratch_bytes;
    hw_count capacity;
    int passes;
};

const struct hw_share_resident *hw_share_resident(const struct hw_part *part)
{
    return (const struct hw_share_resident *)part->resident;
}

static void free_resident(struct hw_resident *resident)
{
    struct hw_share_resident *made = (struct hw_share_resident *)resident;

    hw_gpu_release(&made->arrays);
    free(made);
}

/* Gives the device what makes the tuples. */
static enum hw_status open_tuples(struct making *self, struct hw_graph *graph, struct hw_error *err)
{
    const struct hw_generator *generator = hw_graph_generator(graph);

    if (!generator)
        return hw_fail(err, HW_INTERNAL, "parts are made on devices from recipes alone");
    hw_gpu_add(&self->source, &self->tuples.generator, 1, sizeof *generator);
    hw_gpu_add(&self->source, &self->counter, 1, sizeof *self->counter);
    self->tuples.model = (int)generator->model;
    self->tuples.count = (uint64_t)self->desc->edges;
    enum hw_status status = hw_gpu_allocate(&self->source, 0, "making edges", err);
    return status == HW_OK
               ? hw_gpu_put((void *)self->tuples.generator, generator, sizeof *generator, err)
               : status;
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
        status = hw_cuda(hw_share_launch_ends(&self->tuples, self->ends, self->loops),
                         "the kernel that counts edges", err);
    return status;
}

/* All vertices by falling number of ends. */
static enum hw_status rank_vertices(struct making *self, struct hw_error *err)
{
    size_t bytes = 0;
    void *scratch = NULL;
    const uint64_t n = (uint64_t)self->n;
    enum hw_status status = hw_cuda(hw_share_launch_order(NULL, &bytes, NULL, NULL, NULL, NULL, n),
                                    "ranking vertices", err);

    if (status == HW_OK)
        status = hw_cuda((int)cudaMalloc(&scratch, bytes), "cudaMalloc", err);
    if (status == HW_OK)
        status = hw_cuda(hw_share_launch_number(self->room, n), "numbering vertices", err);
    if (status == HW_OK)
        status = hw_cuda(hw_share_launch_order(scratch, &bytes, self->ends, self->sorted,
                                               self->room, self->id, n),
                         "ranking vertices", err);
    if (status == HW_OK)
        status =
            hw_cuda(hw_share_launch_invert(self->id, n, 0, self->rank), "ranking vertices", err);
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
        hw_cuda(hw_share_launch_order(NULL, &bytes, NULL, NULL, NULL, NULL, leaves),
                "ordering leaves", err);

    if (status != HW_OK || leaves == 0)
        return status;
    hw_gpu_add(&arrays, &key, (hw_count)leaves, sizeof *key);
    hw_gpu_add(&arrays, &sorted, (hw_count)leaves, sizeof *sorted);
    hw_gpu_add(&arrays, &id, (hw_count)leaves, sizeof *id);
    hw_gpu_add(&arrays, &scratch, (hw_count)bytes, 1);
    status = hw_gpu_allocate(&arrays, 0, "ordering leaves", err);
    if (status == HW_OK)
        status =
            hw_cuda(hw_share_launch_neighbours(&self->tuples, self->ends, self->rank, self->room),
                    "the kernel that finds neighbours", err);
    if (status == HW_OK)
        status = hw_cuda(hw_share_launch_gather(self->room, self->id + core, leaves, key),
                         "ordering leaves", err);
    if (status == HW_OK)
        status = hw_cuda(
            hw_share_launch_order(scratch, &bytes, key, sorted, self->id + core, id, leaves),
            "ordering leaves", err);
    if (status == HW_OK)
        status = hw_cuda((int)cudaMemcpyAsync(self->id + core, id, (size_t)leaves * sizeof *id,
                                              cudaMemcpyDeviceToDevice, NULL),
                         "cudaMemcpyAsync", err);
    if (status == HW_OK)
        status = hw_cuda(hw_share_launch_invert(self->id + core, leaves, core, self->rank),
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
    const uint32_t grain = HW_SHARE_GRAIN;

    return count > grain ? (count + grain - 1) / grain * grain : grain;
}

/* The bounds of all parts. */
static enum hw_status find_bounds(struct making *self, struct hw_error *err)
{
    struct hw_share *share = &self->made->share;
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
    if (status == HW_OK && (uint64_t)share->active * share->parts >= HW_RANK_NONE)
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

/* Numbers of one of all ranks' values at this part's positions. room: [owned], host. */
static enum hw_status get_picked(struct making *self, const uint32_t *from, hw_count count,
                                 uint32_t *host, struct hw_error *err)
{
    const struct hw_share *share = &self->made->share;
    enum hw_status status =
        hw_cuda(hw_share_launch_pick(from, share->parts, share->part, (uint64_t)count, self->room),
                "taking a part's vertices", err);

    return status == HW_OK ? hw_gpu_get(host, self->room, (size_t)count * sizeof *host, err)
                           : status;
}

/* Ends and self-loops, which are an end twice, as input tuples have them. */
static enum hw_status get_tuples(struct making *self, uint32_t *host, struct hw_error *err)
{
    struct hw_part_vertices *own = &self->part->own;
    const struct hw_share *share = &self->made->share;
    const uint32_t *of[2] = {self->ends, self->loops};
    uint32_t *ids = self->sorted; /* not needed any more */
    const uint64_t count = own->count;
    enum hw_status status =
        hw_cuda(hw_share_launch_pick(self->id, share->parts, share->part, count, ids),
                "taking a part's vertices", err);

    for (hw_lid v = 0; v < own->count; v++)
        own->tuples[v] = 0;
    for (int k = 0; k < 2 && status == HW_OK; k++) {
        status = hw_cuda(hw_share_launch_gather(of[k], ids, count, self->room),
                         "taking a part's tuples", err);
        if (status == HW_OK)
            status = hw_gpu_get(host, self->room, (size_t)count * sizeof *host, err);
#pragma omp parallel for if (status == HW_OK)
        for (hw_lid v = 0; v < (status == HW_OK ? own->count : 0); v++)
            own->tuples[v] += (k + 1) * (hw_count)host[v];
    }
    return status;
}

/* Positions by rising graph id. */
static enum hw_status get_by_graph_id(struct making *self, struct hw_error *err)
{
    struct hw_part_vertices *own = &self->part->own;
    const struct hw_share *share = &self->made->share;
    const uint64_t n = (uint64_t)self->n;
    uint32_t *ids = self->room, *positions = self->sorted;
    size_t bytes = 0;
    void *scratch = NULL;
    enum hw_status status = hw_cuda(hw_share_launch_owned(NULL, &bytes, self->rank, n, share->parts,
                                                          share->part, ids, self->counter),
                                    "taking a part's vertices", err);

    if (status == HW_OK)
        status = hw_cuda((int)cudaMalloc(&scratch, bytes), "cudaMalloc", err);
    if (status == HW_OK)
        status = hw_cuda(hw_share_launch_owned(scratch, &bytes, self->rank, n, share->parts,
                                               share->part, ids, self->counter),
                         "taking a part's vertices", err);
    if (status == HW_OK)
        status = hw_cuda(hw_share_launch_gather(self->rank, ids, own->count, positions),
                         "taking a part's vertices", err);
    if (status == HW_OK)
        status = hw_cuda(hw_share_launch_positions(positions, own->count, share->parts),
                         "taking a part's vertices", err);
    if (status == HW_OK)
        status =
            hw_gpu_get(own->by_graph_id, positions, own->count * sizeof *own->by_graph_id, err);
    cudaFree(scratch);
    return status;
}

/* What the host keeps of the part's vertices, and of the device's before all lists. */
static enum hw_status take_vertices(struct making *self, struct hw_error *err)
{
    struct hw_part_vertices *own = &self->part->own;
    struct hw_share *share = &self->made->share;
    hw_count n = own->count, active = share->active;
    uint32_t *host = NULL;
    enum hw_status status = hw_alloc(&own->graph_id, n, sizeof *own->graph_id, "vertices", err);

    if (status == HW_OK)
        status = hw_alloc(&own->tuples, n, sizeof *own->tuples, "vertices", err);
    if (status == HW_OK)
        status = hw_alloc(&own->by_graph_id, n, sizeof *own->by_graph_id, "vertices", err);
    if (status == HW_OK)
        status = hw_alloc(&host, n > active ? n : active, sizeof *host, "vertices", err);
    if (status == HW_OK)
        status = hw_alloc(&self->before, active + 1, sizeof *self->before, "vertices", err);
    if (status == HW_OK)
        status = get_picked(self, self->id, n, host, err);
#pragma omp parallel for if (status == HW_OK)
    for (hw_count v = 0; v < (status == HW_OK ? n : 0); v++)
        own->graph_id[v] = (hw_gid)host[v];
    const hw_count listed = share->count[share->part];
    if (status == HW_OK)
        status = get_picked(self, self->sorted, listed, host, err);
    if (status == HW_OK) {
        self->before[0] = 0;
        for (hw_count v = 0; v < active; v++)
            self->before[v + 1] = self->before[v] + (v < listed ? host[v] : 0);
        status = get_tuples(self, host, err);
    }
    if (status == HW_OK)
        status = get_by_graph_id(self, err);
    free(host);
    return status;
}

/* ---- the lists ---- */

/* What stays on the device. */
static enum hw_status open_lists(struct making *self, struct hw_error *err)
{
    struct hw_share *share = &self->made->share;
    struct hw_gpu_arrays *arrays = &self->made->arrays;

    hw_gpu_add(arrays, &share->out.offset, (hw_count)share->active + 1, sizeof *share->out.offset);
    hw_gpu_add(arrays, &share->out.rank, (hw_count)self->before[share->active],
               sizeof *share->out.rank);
    hw_gpu_add(arrays, &share->graph_id, (hw_count)share->active * share->parts,
               sizeof *share->graph_id);
    enum hw_status status = hw_gpu_allocate(arrays, RESERVE, "the lists of the graph", err);
    if (status == HW_OK)
        status = hw_gpu_fill((void *)share->graph_id, 0xff,
                             (size_t)share->active * share->parts * sizeof *share->graph_id, err);
    if (status == HW_OK)
        status = hw_cuda(hw_share_launch_place_ids(share, self->id, self->with_edges,
                                                   (uint32_t *)(uintptr_t)share->graph_id),
                         "ids of the graph", err);
    if (status == HW_OK)
        status = hw_gpu_fill((void *)share->out.offset, 0, sizeof *share->out.offset, err);
    if (status == HW_OK)
        status = hw_cuda((int)cudaDeviceSynchronize(), "ids of the graph", err);
    hw_gpu_release(&self->naming);
    return status;
}

/* Room for as many keys as fit, or as there are. */
static enum hw_status open_pass(struct making *self, struct hw_error *err)
{
    const struct hw_share *share = &self->made->share;
    const hw_count all = (hw_count)self->before[share->active];
    int devices = 1;
    size_t left = 0, total = 0, need[2] = {0, 0};
    uint64_t *none = NULL;
    enum hw_status status = hw_cuda((int)cudaMemGetInfo(&left, &total), "cudaMemGetInfo", err);

    if (status == HW_OK)
        status = hw_cuda((int)cudaGetDeviceCount(&devices), "cudaGetDeviceCount", err);
    /* Ranks that share a device share what it has free. */
    const hw_count sharing = (self->ctx->node_size + devices - 1) / devices;
    if (status == HW_OK)
        status = hw_cuda(hw_share_launch_sort(NULL, &need[0], NULL, NULL, (uint64_t)all, 64, &none),
                         "sorting edges", err);
    if (status == HW_OK)
        status = hw_cuda(hw_share_launch_unique(NULL, &need[1], NULL, (uint64_t)all, NULL, NULL),
                         "sorting edges", err);
    if (status != HW_OK)
        return status;
    self->scratch_bytes = need[0] > need[1] ? need[0] : need[1];
    hw_count fit = ((hw_count)left / sharing - RESERVE - (hw_count)self->scratch_bytes) / 16;
    fit = fit > LEAST_KEYS ? fit : LEAST_KEYS;
    self->capacity = all < fit ? all : fit;
    for (int k = 0; k < 2; k++)
        hw_gpu_add(&self->pass, &self->key[k], self->capacity, sizeof *self->key[k]);
    hw_gpu_add(&self->pass, &self->scratch, (hw_count)self->scratch_bytes, 1);
    return hw_gpu_allocate(&self->pass, 0, "sorting edges", err);
}

/* The lists of rows [begin, end): *filled elements so far. */
static enum hw_status fill_rows(struct making *self, uint32_t begin, uint32_t end, int bits,
                                uint64_t *filled, struct hw_error *err)
{
    const struct hw_share *share = &self->made->share;
    const uint64_t wanted = self->before[end] - self->before[begin];
    uint64_t count = 0, taken = 0, *sorted = NULL, *other;
    size_t bytes = self->scratch_bytes;
    enum hw_status status =
        hw_cuda(hw_share_launch_entries(&self->tuples, share, self->rank, begin, end, bits,
                                        self->key[0], (uint64_t)self->capacity, self->counter),
                "the kernel that makes edges", err);

    self->passes++;
    if (status == HW_OK)
        status = hw_gpu_get(&count, self->counter, sizeof count, err);
    if (status == HW_OK && count != wanted)
        status =
            hw_fail(err, HW_INTERNAL, "rows of %" PRIu64 " entries got %" PRIu64, wanted, count);
    if (status == HW_OK && count > 0)
        status =
            hw_cuda(hw_share_launch_sort(self->scratch, &bytes, self->key[0], self->key[1], count,
                                         bits + hw_bits((uint64_t)end - begin), &sorted),
                    "sorting edges", err);
    other = sorted == self->key[0] ? self->key[1] : self->key[0];
    bytes = self->scratch_bytes;
    if (status == HW_OK && count > 0)
        status = hw_cuda(
            hw_share_launch_unique(self->scratch, &bytes, sorted, count, other, self->counter),
            "merging parallel edges", err);
    if (status == HW_OK && count > 0)
        status = hw_gpu_get(&taken, self->counter, sizeof taken, err);
    if (status == HW_OK)
        status = hw_cuda(hw_share_launch_lists(other, taken, bits, begin, end, *filled,
                                               (uint64_t *)(uintptr_t)share->out.offset,
                                               (uint32_t *)(uintptr_t)share->out.rank + *filled),
                         "filling lists", err);
    *filled += taken;
    return status;
}

/* All lists, in passes over ranges of rows. */
static enum hw_status fill(struct making *self, struct hw_error *err)
{
    const struct hw_share *share = &self->made->share;
    const int bits = hw_bits((uint64_t)share->active * share->parts);
    uint64_t filled = 0;
    enum hw_status status = open_lists(self, err);

    if (status == HW_OK)
        status = open_pass(self, err);
    for (uint32_t begin = 0, end = 0; begin < share->active && status == HW_OK; begin = end) {
        while (end < share->active &&
               self->before[end + 1] - self->before[begin] <= (uint64_t)self->capacity)
            end++;
        if (end == begin)
            return hw_fail(err, HW_RESOURCES,
                           "the device has no room to sort a list of %" PRIu64 " neighbours",
                           self->before[end + 1] - self->before[begin]);
        status = fill_rows(self, begin, end, bits, &filled, err);
    }
    if (status == HW_OK)
        status = hw_cuda((int)cudaDeviceSynchronize(), "filling lists", err);
    hw_gpu_release(&self->pass);
    return status;
}

/* Offsets by position for the host: vertices without edges come last. */
static enum hw_status get_offsets(struct making *self, struct hw_error *err)
{
    struct hw_part *part = self->part;
    struct hw_csr *out = &part->grid.out;
    const struct hw_share *share = &self->made->share;
    const hw_count listed = share->count[share->part], rows = part->grid.block;
    enum hw_status status = hw_alloc(&out->offset, rows + 1, sizeof *out->offset, "offsets", err);

    if (status == HW_OK)
        status = hw_gpu_get(out->offset, share->out.offset,
                            (size_t)(listed + 1) * sizeof *out->offset, err);
    if (status != HW_OK)
        return status;
    out->rows = part->grid.block;
    for (hw_count r = listed + 1; r <= rows; r++)
        out->offset[r] = out->offset[listed];
    part->edges = out->offset[rows];
    return HW_OK;
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
    self->made->share = (struct hw_share){.parts = (uint32_t)parts,
                                          .part = (uint32_t)part,
                                          .reciprocal = hw_share_reciprocal((uint32_t)parts),
                                          .owned = self->part->own.count};
}

/* Local. */
static enum hw_status make(struct making *self, struct hw_graph *graph, struct hw_error *err)
{
    enum hw_status status = hw_gpu_open(self->ctx, err);

    if (status == HW_OK)
        status = open_tuples(self, graph, err);
    if (status == HW_OK)
        status = rank(self, err);
    if (status == HW_OK)
        status = take_vertices(self, err);
    hw_gpu_release(&self->counting);
    if (status == HW_OK)
        status = fill(self, err);
    if (status == HW_OK)
        status = get_offsets(self, err);
    hw_gpu_release(&self->pass);
    hw_gpu_release(&self->counting);
    hw_gpu_release(&self->naming);
    hw_gpu_release(&self->ranking);
    hw_gpu_release(&self->source);
    free(self->before);
    return status;
}

enum hw_status hw_share_make(const struct hw_context *ctx, struct hw_graph *graph,
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
    if (status == HW_OK && (spec->parts > HW_SHARE_PARTS || self.n >= (hw_count)HW_RANK_NONE))
        status =
            hw_fail(err, HW_BAD_INPUT,
                    "method fused does up to %d parts and less than 2^32 vertices", HW_SHARE_PARTS);
    if (status == HW_OK)
        status = hw_alloc_zero(&self.made, 1, sizeof *self.made, "the graph", err);
    if (status == HW_OK) {
        describe(&self, spec);
        self.made->base.free = free_resident;
        part->resident = &self.made->base;
        status = make(&self, graph, err);
    }
    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK)
        status = hw_graph_verify(graph, false, err);
    if (status == HW_OK)
        status = hw_sum(ctx->world, &part->edges, err);
    if (status != HW_OK) {
        hw_part_free(part);
        return status;
    }
    self.made->share.edges = (uint64_t)part->edges;
    hw_note(ctx, "%" PRI_COUNT " stored edges made on %d devices in %.2f s, %d passes", part->edges,
            spec->parts, hw_seconds() - started, self.passes);
    return HW_OK;
}
