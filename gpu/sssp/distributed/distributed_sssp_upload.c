/* Shortest paths on several parts: codes, and a part's lists on its device. */
#include "gpu/sssp/distributed/distributed_sssp_host.h"

#include "gpu/graph/build/csr_builder.h"
#include "gpu/graph/row_range_builder.h"
#include "lib/base/fast_divide.h"
#include "lib/base/memory.h"

#include <cuda_runtime_api.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Edges that go to the device at a time, unless one list has more. */
#define CHUNK_EDGES ((hw_count)1 << 25)

/* ---- codes ---- */

static void shape_grid(struct hw_distributed_sssp_params *plan, const struct hw_part *part)
{
    const uint32_t rows = (uint32_t)part->spec.rows, columns = (uint32_t)part->spec.columns;
    const uint32_t i = (uint32_t)part->grid.row, j = (uint32_t)part->grid.column;

    plan->block = part->grid.block;
    plan->home = j;
    plan->segments = rows > 1 ? columns + rows : columns;
    plan->list_blocks = rows;
    plan->own_lists = i * plan->block;
    for (uint32_t m = 0; m < columns; m++) {
        plan->owner[m] = m * rows + i;
        plan->row_segment[m * rows + i] = m;
    }
    for (uint32_t k = 0; k < rows; k++) {
        plan->list_segment[k] = k == i ? j : columns + k;
        if (rows == 1)
            continue;
        plan->owner[columns + k] = j * rows + k;
        plan->column_block[j * rows + k] = k;
    }
}

static void shape_separate(struct hw_distributed_sssp_params *plan, const struct hw_part *part)
{
    plan->block = part->separate.slots;
    plan->delegates = part->separate.delegates;
    plan->home = (uint32_t)part->index;
    plan->segments = plan->ranks;
    plan->list_blocks = 1;
    plan->list_segment[0] = plan->home;
    for (uint32_t q = 0; q < plan->ranks; q++)
        plan->owner[q] = plan->row_segment[q] = q;
}

/* Own positions past the last vertex with edges. Of directed graphs only those that leave are
 * counted, and edges may end where none begins: then all. */
static uint32_t find_active(const struct hw_part *part)
{
    uint32_t active = 0;

    if (part->directed)
        return part->own.count;
#pragma omp parallel for reduction(max : active)
    for (hw_lid t = 0; t < part->own.count; t++)
        active = part->own.tuples[t] > 0 ? t + 1 : active;
    return active;
}

enum hw_status hw_distributed_sssp_shape_params(struct hw_distributed_sssp *routes,
                                                struct hw_error *err)
{
    struct hw_distributed_sssp_params *plan = &routes->plan;
    const struct hw_part *part = routes->engine->part;
    const bool separate = part->spec.layout == HW_LAYOUT_DEGREE_SEPARATED;

    plan->ranks = (uint32_t)part->spec.parts;
    plan->rank = (uint32_t)part->index;
    for (int q = 0; q < HW_DISTRIBUTED_SSSP_RANKS; q++)
        plan->row_segment[q] = plan->column_block[q] = HW_DISTRIBUTED_SSSP_NONE;
    if (separate)
        shape_separate(plan, part);
    else
        shape_grid(plan, part);
    const uint64_t codes = (uint64_t)plan->segments * plan->block + plan->delegates;
    const uint64_t lists = (uint64_t)plan->list_blocks * plan->block + plan->delegates;
    if (codes >= UINT32_MAX || lists >= (UINT64_C(1) << (64 - HW_DISTRIBUTED_SSSP_EDGE_BITS)) ||
        plan->block > INT_MAX)
        return hw_fail(err, HW_BAD_INPUT,
                       "method %s numbers what a part knows with 32 bits, of lists with %d, and "
                       "%" PRIu64 " vertices and %" PRIu64 " lists a part are too many; use more "
                       "parts",
                       routes->engine->method->name, 64 - HW_DISTRIBUTED_SSSP_EDGE_BITS, codes,
                       lists);
    plan->codes = (uint32_t)codes;
    plan->lists = (uint32_t)lists;
    plan->magic = plan->block > 0 ? hw_divisor(plan->block).magic : 0;
    plan->own = part->own.count;
    plan->active = find_active(part);
    return HW_OK;
}

/* ---- lists on the host ---- */

/* Of a matrix, unless it is absent. */
static hw_count begin_of(const struct hw_csr *matrix, uint32_t row)
{
    return matrix->offset ? matrix->offset[row] : 0;
}

/* Where the edges of lists are: one matrix, or two for slots and two for delegates, unless
 * these are joined. */
static hw_count list_begin(const struct hw_distributed_sssp *routes, uint32_t list)
{
    const struct hw_part *part = routes->engine->part;
    const struct hw_delegate_part *separate = &part->separate;
    const uint32_t block = routes->plan.block;

    if (part->spec.layout != HW_LAYOUT_DEGREE_SEPARATED)
        return part->grid.out.offset[list];
    if (list <= block)
        return begin_of(&separate->nn, list) + begin_of(&separate->nd, list);
    return begin_of(&separate->nn, block) + begin_of(&separate->nd, block) +
           begin_of(&separate->dn, list - block) + begin_of(&separate->dd, list - block);
}

/* The code of a search id of the degree-separated layout. */
static uint32_t code_of_target(const struct hw_distributed_sssp *routes, hw_gid target)
{
    const struct hw_layout_spec *spec = &routes->engine->part->spec;

    return (uint32_t)hw_owner(spec, target) * routes->plan.block + hw_position(spec, target);
}

/* Copies one list of a matrix; returns past its end. first: the code of index 0. */
static size_t copy_list(const struct hw_distributed_sssp *routes, const struct hw_csr *matrix,
                        uint32_t row, uint32_t first, uint32_t *index, uint32_t *weight)
{
    const size_t begin = (size_t)matrix->offset[row];
    const size_t count = (size_t)matrix->offset[row + 1] - begin;

    for (size_t k = 0; k < count; k++)
        index[k] = matrix->target ? code_of_target(routes, matrix->target[begin + k])
                                  : first + matrix->index[begin + k];
    if (count > 0)
        memcpy(weight, matrix->weight + begin, count * sizeof *weight);
    return count;
}

/* Both matrices of one list. */
static void copy_lists(const struct hw_distributed_sssp *routes, uint32_t list, uint32_t *index,
                       uint32_t *weight)
{
    const struct hw_delegate_part *separate = &routes->engine->part->separate;
    const struct hw_distributed_sssp_params *plan = &routes->plan;
    const uint32_t home = plan->home * plan->block, first = plan->segments * plan->block;

    if (list < plan->block) {
        size_t count = copy_list(routes, &separate->nn, list, 0, index, weight);
        copy_list(routes, &separate->nd, list, first, index + count, weight + count);
    } else {
        const uint32_t row = list - plan->block;
        size_t count = copy_list(routes, &separate->dn, row, home, index, weight);
        copy_list(routes, &separate->dd, row, first, index + count, weight + count);
    }
}

/* ---- to the device ---- */

/* Lists under way, a chunk at a time. */
struct shipment {
    struct hw_distributed_sssp *routes;
    struct hw_gpu_arrays arrays; /* of the chunk, on the device */
    struct hw_gpu_chunk chunk;
    hw_count capacity;
    uint64_t *offset;         /* [lists + 1] on the host */
    uint32_t *index, *weight; /* [capacity] on the host, where lists are made there */
};

static void plan_chunk(struct shipment *shipment)
{
    struct hw_gpu_chunk *chunk = &shipment->chunk;
    struct hw_gpu_arrays *arrays = &shipment->arrays;

    hw_gpu_add(arrays, &chunk->index, shipment->capacity, sizeof *chunk->index);
    hw_gpu_add(arrays, &chunk->weight, shipment->capacity, sizeof *chunk->weight);
    for (int half = 0; half < 2; half++) {
        hw_gpu_add(arrays, &chunk->sort.key[half], shipment->capacity,
                   sizeof *chunk->sort.key[half]);
        hw_gpu_add(arrays, &chunk->sort.value[half], shipment->capacity,
                   sizeof *chunk->sort.value[half]);
    }
    hw_gpu_add(arrays, &chunk->scratch, (hw_count)chunk->scratch_bytes, 1);
}

/* The largest chunk, and what sorting it takes. */
static enum hw_status size_chunk(struct shipment *shipment, struct hw_error *err)
{
    const struct hw_distributed_sssp *routes = shipment->routes;
    const uint32_t lists = routes->plan.lists;
    hw_count longest = 0, all = list_begin(routes, lists);

#pragma omp parallel for reduction(max : longest)
    for (uint32_t l = 0; l < lists; l++) {
        hw_count length = list_begin(routes, l + 1) - list_begin(routes, l);
        longest = length > longest ? length : longest;
    }
    shipment->capacity = all < CHUNK_EDGES ? all : CHUNK_EDGES;
    shipment->capacity = longest > shipment->capacity ? longest : shipment->capacity;
    return hw_cuda(
        hw_gpu_sort_scratch((uint64_t)shipment->capacity, true, &shipment->chunk.scratch_bytes),
        "the room to sort lists", err);
}

enum hw_status hw_distributed_sssp_plan_lists(struct hw_distributed_sssp *routes, hw_count *beside,
                                              struct hw_error *err)
{
    struct hw_distributed_sssp_params *plan = &routes->plan;
    struct hw_gpu_arrays *arrays = &routes->engine->arrays;
    struct shipment shipment = {.routes = routes};
    enum hw_status status = HW_OK;

    if (!hw_device_csr(routes->engine->part)) {
        status = size_chunk(&shipment, err);
        if (status != HW_OK)
            return status;
        plan_chunk(&shipment);
        for (int a = 0; a < shipment.arrays.count; a++)
            *beside += shipment.arrays.of[a].bytes + 256;
        hw_gpu_add(arrays, &plan->offset, (hw_count)plan->lists + 1, sizeof *plan->offset);
        hw_gpu_add(arrays, &plan->edge, list_begin(routes, plan->lists), sizeof *plan->edge);
    }
    hw_gpu_add(arrays, &plan->graph_id, plan->codes, sizeof *plan->graph_id);
    hw_gpu_add(arrays, &plan->own_code, plan->own, sizeof *plan->own_code);
    return HW_OK;
}

static enum hw_status open_shipment(struct shipment *shipment, struct hw_error *err)
{
    const struct hw_distributed_sssp *routes = shipment->routes;
    const bool made = routes->engine->part->spec.layout == HW_LAYOUT_DEGREE_SEPARATED;
    const uint32_t lists = routes->plan.lists;
    enum hw_status status = size_chunk(shipment, err);

    plan_chunk(shipment);
    if (status == HW_OK)
        status =
            hw_gpu_allocate(&shipment->arrays, 0, "bringing weighted lists to the device", err);
    if (status == HW_OK)
        status = hw_alloc(&shipment->offset, (hw_count)lists + 1, sizeof(uint64_t), "lists", err);
    if (status == HW_OK && made)
        status = hw_alloc(&shipment->index, shipment->capacity, sizeof(uint32_t), "lists", err);
    if (status == HW_OK && made)
        status = hw_alloc(&shipment->weight, shipment->capacity, sizeof(uint32_t), "lists", err);
#pragma omp parallel for if (status == HW_OK)
    for (uint32_t l = 0; l < (status == HW_OK ? lists + 1 : 0); l++)
        shipment->offset[l] = (uint64_t)list_begin(routes, l);
    if (status == HW_OK)
        status = hw_gpu_put((void *)(uintptr_t)routes->plan.offset, shipment->offset,
                            ((size_t)lists + 1) * sizeof *shipment->offset, err);
    return status;
}

static void close_shipment(struct shipment *shipment)
{
    hw_gpu_release(&shipment->arrays);
    free(shipment->offset);
    free(shipment->index);
    free(shipment->weight);
}

/* Ships the lists [chunk.first, chunk.end). */
static enum hw_status ship_chunk(struct shipment *shipment, struct hw_error *err)
{
    const struct hw_distributed_sssp *routes = shipment->routes;
    const struct hw_part *part = routes->engine->part;
    const struct hw_gpu_graph graph = {.wide = true};
    struct hw_gpu_chunk *chunk = &shipment->chunk;
    const uint64_t *offset = shipment->offset;
    const size_t bytes = chunk->count * sizeof(uint32_t);
    const void *index = shipment->index, *weight = shipment->weight;

    if (shipment->index) {
#pragma omp parallel for schedule(dynamic, 1024)
        for (uint32_t l = chunk->first; l < chunk->end; l++)
            copy_lists(routes, l, shipment->index + (offset[l] - chunk->begin),
                       shipment->weight + (offset[l] - chunk->begin));
    } else {
        index = part->grid.out.index + chunk->begin;
        weight = part->grid.out.weight + chunk->begin;
    }
    enum hw_status status = hw_gpu_put((void *)(uintptr_t)chunk->index, index, bytes, err);
    if (status == HW_OK)
        status = hw_gpu_put((void *)(uintptr_t)chunk->weight, weight, bytes, err);
    if (status == HW_OK)
        status = hw_cuda(hw_gpu_launch_chunk(&graph, routes->plan.offset, chunk,
                                             part->weights == HW_WEIGHTS_F32,
                                             (struct hw_gpu_edge *)(uintptr_t)routes->plan.edge),
                         "the kernels that sort lists", err);
    return status == HW_OK ? hw_cuda((int)cudaDeviceSynchronize(), "sorting lists", err) : status;
}

/* The edges, sorted by weight. Local. */
static enum hw_status ship(struct hw_distributed_sssp *routes, struct hw_error *err)
{
    struct shipment shipment = {.routes = routes};
    struct hw_distributed_sssp_params *plan = &routes->plan;
    struct hw_gpu_chunk *chunk = &shipment.chunk;
    enum hw_status status = open_shipment(&shipment, err);
    const uint64_t *offset = shipment.offset;

    for (uint32_t first = 0; first < plan->lists && status == HW_OK; first = chunk->end) {
        uint32_t end = first + 1;
        while (end < plan->lists && offset[end + 1] - offset[first] <= (uint64_t)shipment.capacity)
            end++;
        chunk->first = first;
        chunk->end = end;
        chunk->begin = offset[first];
        chunk->count = offset[end] - offset[first];
        if (chunk->count > 0)
            status = ship_chunk(&shipment, err);
    }
    close_shipment(&shipment);
    return status;
}

/* Where lists end that have edges. */
static void find_list_ends(struct hw_distributed_sssp *routes)
{
    struct hw_distributed_sssp_params *plan = &routes->plan;

    for (uint32_t b = 0; b < plan->list_blocks; b++) {
        const uint32_t first = b * plan->block;
        uint32_t end = 0;
#pragma omp parallel for reduction(max : end)
        for (uint32_t t = 0; t < plan->block; t++)
            if (list_begin(routes, first + t) < list_begin(routes, first + t + 1))
                end = t + 1;
        plan->list_end[b] = end;
    }
}

/* The edges, if they are not there yet. Local. */
static enum hw_status bring_lists(struct hw_distributed_sssp *routes, struct hw_error *err)
{
    const struct hw_device_csr *kept = hw_device_csr(routes->engine->part);

    find_list_ends(routes);
    if (!kept)
        return ship(routes, err);
    routes->plan.offset = kept->offset;
    routes->plan.edge = kept->edge;
    return HW_OK;
}

/* ---- ids ---- */

/* The graph ids of all parts' vertices, [ranks][block]. Collective; ranks agree. */
static enum hw_status gather_ids(const struct hw_distributed_sssp *routes, uint32_t **ids,
                                 struct hw_error *err)
{
    const struct hw_distributed_sssp_params *plan = &routes->plan;
    const struct hw_context *ctx = routes->engine->ctx;
    const struct hw_part_vertices *own = &routes->engine->part->own;
    enum hw_status status =
        hw_alloc_zero(ids, (hw_count)plan->ranks * plan->block, sizeof **ids, "graph ids", err);

    status = hw_agree(ctx->world, status, err);
    if (status != HW_OK)
        return status;
    uint32_t *mine = *ids + (size_t)plan->rank * plan->block;
#pragma omp parallel for
    for (hw_lid t = 0; t < own->count; t++)
        mine[t] = (uint32_t)own->graph_id[t];
    return hw_mpi(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, *ids, (int)plan->block,
                                MPI_UINT32_T, ctx->world),
                  "MPI_Allgather", err);
}

/* Graph ids by code. Local. */
static enum hw_status put_ids(const struct hw_distributed_sssp *routes, const uint32_t *ids,
                              struct hw_error *err)
{
    const struct hw_distributed_sssp_params *plan = &routes->plan;
    const struct hw_delegate_part *separate = &routes->engine->part->separate;
    uint32_t *to = (uint32_t *)(uintptr_t)plan->graph_id, *delegate = NULL;
    const size_t block = plan->block;
    enum hw_status status = HW_OK;

    for (uint32_t s = 0; s < plan->segments && status == HW_OK; s++)
        status = hw_gpu_put(to + s * block, ids + plan->owner[s] * block, block * sizeof *to, err);
    if (status != HW_OK || plan->delegates == 0)
        return status;
    status = hw_alloc(&delegate, plan->delegates, sizeof *delegate, "graph ids", err);
    for (uint32_t k = 0; k < plan->delegates && status == HW_OK; k++)
        delegate[k] = (uint32_t)separate->graph_id[k];
    if (status == HW_OK)
        status = hw_gpu_put(to + plan->segments * block, delegate,
                            plan->delegates * sizeof *delegate, err);
    free(delegate);
    return status;
}

/* What own positions are called. Local. */
static enum hw_status put_codes(struct hw_distributed_sssp *routes, struct hw_error *err)
{
    const struct hw_distributed_sssp_params *plan = &routes->plan;
    const struct hw_part *part = routes->engine->part;
    uint32_t *by_id = NULL;
    enum hw_status status =
        hw_alloc(&routes->code, part->own.count, sizeof *routes->code, "codes", err);

    if (status == HW_OK)
        status = hw_alloc(&by_id, part->own.count, sizeof *by_id, "codes", err);
    if (status != HW_OK)
        return status;
#pragma omp parallel for
    for (hw_lid t = 0; t < part->own.count; t++)
        routes->code[t] = plan->home * plan->block + t;
    for (uint32_t k = 0; k < plan->delegates; k++) {
        hw_gid id = part->separate.search_id[k];
        if (hw_owner(&part->spec, id) == part->index)
            routes->code[hw_position(&part->spec, id)] = plan->segments * plan->block + k;
    }
#pragma omp parallel for
    for (hw_lid k = 0; k < part->own.count; k++)
        by_id[k] = routes->code[part->own.by_graph_id[k]];
    status =
        hw_gpu_put((void *)(uintptr_t)plan->own_code, by_id, part->own.count * sizeof *by_id, err);
    free(by_id);
    return status;
}

enum hw_status hw_distributed_sssp_fill_lists(struct hw_distributed_sssp *routes,
                                              struct hw_error *err)
{
    uint32_t *ids = NULL;
    enum hw_status status = gather_ids(routes, &ids, err);

    if (status == HW_OK)
        status = put_ids(routes, ids, err);
    free(ids);
    if (status == HW_OK)
        status = put_codes(routes, err);
    if (status == HW_OK)
        status = bring_lists(routes, err);
    return hw_agree(routes->engine->ctx->world, status, err);
}

/* ---- memory ---- */

/* Bytes that a search takes beside the lists. A code: its key, value and graph id; a list: two
 * places in queues, two prefixes and its lightest edge; an own vertex: its code, key and parent;
 * boxes hold pairs, in two turns, from every rank. */
static hw_count search_bytes(const struct hw_part *part, hw_count block, hw_count delegates)
{
    const hw_count parts = part->spec.parts, rows = part->spec.rows, columns = part->spec.columns;
    const bool separate = part->spec.layout == HW_LAYOUT_DEGREE_SEPARATED;
    const hw_count segments = separate ? parts : rows > 1 ? columns + rows : columns;
    const hw_count codes = segments * block + delegates;
    const hw_count lists = (separate ? 1 : rows) * block + delegates;
    const hw_count key = part->weights == HW_WEIGHTS_F32 ? 4 : 8;

    return codes * (key + 12) + (codes + 4 * lists) / 8 + lists * 32 + block * (8 + key) +
           parts * (block + delegates) * 32 +
           HW_DISTRIBUTED_SSSP_ROWS * (hw_count)sizeof(struct hw_distributed_sssp_row);
}

static hw_count bytes_with(const struct hw_part *part, hw_count delegates)
{
    const hw_count parts = part->spec.parts, n = (hw_count)part->vertices;
    const hw_count block = (n + parts - 1) / parts, edges = part->edges / parts;
    const hw_count rows = part->spec.layout == HW_LAYOUT_DEGREE_SEPARATED ? block + delegates
                                                                          : part->spec.rows * block;
    const hw_count least = edges < HW_GPU_LEAST_KEYS ? edges : HW_GPU_LEAST_KEYS;
    const hw_count order = 20 * n, fill = 4 * n + 4 * rows + 24 * least;
    const hw_count lists = 8 * edges + 8 * rows, search = search_bytes(part, block, delegates);
    const hw_count later = lists + (fill > search ? fill : search);

    return order > later ? order : later;
}

hw_count hw_distributed_sssp_least_bytes(const struct hw_part *part)
{
    return bytes_with(part, (hw_count)part->separate.delegates);
}

hw_count hw_distributed_sssp_device_bytes(const struct hw_part *part,
                                          const struct hw_graph_desc *graph,
                                          const struct hw_engine_options *options)
{
    const hw_count n = (hw_count)part->vertices, parts = part->spec.parts;

    (void)graph;
    (void)options;
    /* Searches in one kernel, over peer: a first edge and bits for each list, and rows. */
    const hw_count fused =
        part->spec.rows == 1
            ? 9 * (n / parts + 1) +
                  HW_DISTRIBUTED_SSSP_ROWS * (hw_count)sizeof(struct hw_peer_delta_trace_record)
            : 0;

    if (part->spec.layout != HW_LAYOUT_DEGREE_SEPARATED)
        return bytes_with(part, 0) + fused;
    return bytes_with(part, 4 * n / parts < n / 8 ? 4 * n / parts : n / 8);
}
