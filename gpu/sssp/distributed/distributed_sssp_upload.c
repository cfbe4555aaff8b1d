/*
 * Shortest paths on several parts: numbering of local ids, and upload of graph ids and adjacency
 * lists. Lists are uploaded in chunks and sorted by weight on the device, unless the layout was
 * built there. Also estimates of device memory.
 */
#include "gpu/sssp/distributed/distributed_sssp_host.h"

#include "gpu/device/packed_queue.h"
#include "gpu/graph/build/csr_builder.h"
#include "gpu/graph/row_range_builder.h"
#include "lib/base/fast_divide.h"
#include "lib/base/memory.h"

#include <cuda_runtime_api.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Edges that are uploaded at a time, unless one list has more. */
#define CHUNK_EDGES ((hw_count)1 << 25)

/* ---- local ids ---- */

static void init_grid(struct hw_distributed_sssp *sssp, const struct hw_part *part)
{
    struct hw_distributed_sssp_params *params = &sssp->params;
    const uint32_t rows = (uint32_t)part->spec.rows, columns = (uint32_t)part->spec.columns;
    const uint32_t i = (uint32_t)part->grid.row, j = (uint32_t)part->grid.column;

    params->config.block_size = part->grid.block;
    params->config.owned_range = j;
    params->config.num_ranges = rows > 1 ? columns + rows : columns;
    params->lists.num_blocks = rows;
    params->lists.owned_begin = i * params->config.block_size;
    for (uint32_t m = 0; m < columns; m++) {
        sssp->peers.range_owner[m] = m * rows + i;
        sssp->peers.row_range[m * rows + i] = m;
    }
    for (uint32_t k = 0; k < rows; k++) {
        params->lists.range[k] = k == i ? j : columns + k;
        if (rows == 1)
            continue;
        sssp->peers.range_owner[columns + k] = j * rows + k;
        sssp->peers.column_block[j * rows + k] = k;
    }
}

static void init_degree_separated(struct hw_distributed_sssp *sssp, const struct hw_part *part)
{
    struct hw_distributed_sssp_params *params = &sssp->params;

    params->config.block_size = part->separate.slots;
    params->config.num_delegates = part->separate.delegates;
    params->config.owned_range = (uint32_t)part->index;
    params->config.num_ranges = params->config.ranks;
    params->lists.num_blocks = 1;
    params->lists.range[0] = params->config.owned_range;
    for (uint32_t q = 0; q < params->config.ranks; q++)
        sssp->peers.range_owner[q] = sssp->peers.row_range[q] = q;
}

/* Whether the offsets of both kinds of lists of a directed graph are there, by owned position. */
static bool has_both_offsets(const struct hw_part *part)
{
    return part->spec.layout != HW_LAYOUT_DEGREE_SEPARATED && part->spec.rows == 1 &&
           part->grid.out.offset && part->grid.in.offset;
}

/* Owned positions past the last vertex with edges. own.tuples counts outgoing edges only; in
 * directed graphs edges may end at vertices without outgoing ones, so that all positions count
 * where in-lists are not known. */
static uint32_t find_active(const struct hw_part *part)
{
    const hw_count *out = part->grid.out.offset, *in = part->grid.in.offset;
    const bool both = part->directed && has_both_offsets(part);
    uint32_t active = 0;

    if (part->directed && !both)
        return part->own.count;
#pragma omp parallel for reduction(max : active)
    for (hw_lid t = 0; t < part->own.count; t++)
        if (both ? out[t] < out[t + 1] || in[t] < in[t + 1] : part->own.tuples[t] > 0)
            active = t + 1;
    return active;
}

enum hw_status hw_distributed_sssp_init_params(struct hw_distributed_sssp *sssp,
                                               struct hw_error *err)
{
    struct hw_distributed_sssp_params *params = &sssp->params;
    const struct hw_part *part = sssp->engine->part;
    const bool separate = part->spec.layout == HW_LAYOUT_DEGREE_SEPARATED;

    params->config.ranks = (uint32_t)part->spec.parts;
    params->config.rank = (uint32_t)part->index;
    params->config.num_counters = hw_distributed_sssp_num_counters(params->config.ranks);
    for (int q = 0; q < HW_DISTRIBUTED_SSSP_MAX_RANKS; q++)
        sssp->peers.row_range[q] = sssp->peers.column_block[q] = HW_DISTRIBUTED_SSSP_NONE;
    if (separate)
        init_degree_separated(sssp, part);
    else
        init_grid(sssp, part);
    const uint64_t num_ids = (uint64_t)params->config.num_ranges * params->config.block_size +
                             params->config.num_delegates;
    const uint64_t lists = (uint64_t)params->lists.num_blocks * params->config.block_size +
                           params->config.num_delegates;
    if (num_ids >= UINT32_MAX || !hw_packed_fits(lists, 0, HW_DISTRIBUTED_SSSP_EDGE_BITS) ||
        params->config.block_size > INT_MAX)
        return hw_fail(err, HW_BAD_INPUT,
                       "method %s has 32-bit local ids and %d-bit list numbers; %" PRIu64
                       " vertices and %" PRIu64 " lists on one part are too many; use more parts",
                       sssp->engine->method->descriptor->name, 64 - HW_DISTRIBUTED_SSSP_EDGE_BITS,
                       num_ids, lists);
    params->config.num_local_ids = (uint32_t)num_ids;
    params->lists.count = (uint32_t)lists;
    params->config.block_magic =
        params->config.block_size > 0 ? hw_divisor(params->config.block_size).magic : 0;
    params->results.count = part->own.count;
    params->lists.active = find_active(part);
    return HW_OK;
}

/* ---- lists on the host ---- */

/* Offset of a row; 0 where the matrix is absent. */
static hw_count begin_of(const struct hw_csr *matrix, uint32_t row)
{
    return matrix->offset ? matrix->offset[row] : 0;
}

/* Offset of a list in the order of the device. The degree-separated layout has two matrices for
 * the lists of normal vertices and two for those of delegates. */
static hw_count list_begin(const struct hw_distributed_sssp *sssp, uint32_t list)
{
    const struct hw_part *part = sssp->engine->part;
    const struct hw_delegate_part *separate = &part->separate;
    const uint32_t block = sssp->params.config.block_size;

    if (part->spec.layout != HW_LAYOUT_DEGREE_SEPARATED)
        return part->grid.out.offset[list];
    if (list <= block)
        return begin_of(&separate->nn, list) + begin_of(&separate->nd, list);
    return begin_of(&separate->nn, block) + begin_of(&separate->nd, block) +
           begin_of(&separate->dn, list - block) + begin_of(&separate->dd, list - block);
}

/* The local id of a search id of the degree-separated layout. */
static uint32_t local_id_of_target(const struct hw_distributed_sssp *sssp, hw_gid target)
{
    const struct hw_layout_spec *spec = &sssp->engine->part->spec;

    return (uint32_t)hw_owner(spec, target) * sssp->params.config.block_size +
           hw_position(spec, target);
}

/* Copies one row of a matrix; returns its length. first: the local id of index 0. */
static size_t copy_list(const struct hw_distributed_sssp *sssp, const struct hw_csr *matrix,
                        uint32_t row, uint32_t first, uint32_t *index, uint32_t *weight)
{
    const size_t begin = (size_t)matrix->offset[row];
    const size_t count = (size_t)matrix->offset[row + 1] - begin;

    for (size_t k = 0; k < count; k++)
        index[k] = matrix->target ? local_id_of_target(sssp, matrix->target[begin + k])
                                  : first + matrix->index[begin + k];
    if (count > 0)
        memcpy(weight, matrix->weight + begin, count * sizeof *weight);
    return count;
}

/* Copies one list from its two matrices. */
static void copy_lists(const struct hw_distributed_sssp *sssp, uint32_t list, uint32_t *index,
                       uint32_t *weight)
{
    const struct hw_delegate_part *separate = &sssp->engine->part->separate;
    const struct hw_distributed_sssp_params *params = &sssp->params;
    const uint32_t owned_begin = hw_distributed_sssp_owned_begin(params),
                   first = hw_distributed_sssp_first_delegate(params);

    if (list < params->config.block_size) {
        size_t count = copy_list(sssp, &separate->nn, list, 0, index, weight);
        copy_list(sssp, &separate->nd, list, first, index + count, weight + count);
    } else {
        const uint32_t row = list - params->config.block_size;
        size_t count = copy_list(sssp, &separate->dn, row, owned_begin, index, weight);
        copy_list(sssp, &separate->dd, row, first, index + count, weight + count);
    }
}

/* ---- upload of lists ---- */

/* State of the upload of lists, a chunk at a time. */
struct list_upload {
    struct hw_distributed_sssp *sssp;
    bool incoming;               /* the in-lists */
    struct hw_gpu_arrays arrays; /* of the chunk, on the device */
    struct hw_gpu_list_chunk chunk;
    hw_count capacity;
    uint64_t *offset;         /* [lists + 1] on the host */
    uint32_t *index, *weight; /* [capacity] on the host, where lists are composed there */
};

/* Offset of a list of those that are uploaded. */
static hw_count upload_begin(const struct list_upload *upload, uint32_t list)
{
    return upload->incoming ? upload->sssp->engine->part->grid.in.offset[list]
                            : list_begin(upload->sssp, list);
}

static void plan_chunk(struct list_upload *upload)
{
    struct hw_gpu_list_chunk *chunk = &upload->chunk;
    struct hw_gpu_arrays *arrays = &upload->arrays;

    hw_gpu_add(arrays, &chunk->index, upload->capacity, sizeof *chunk->index);
    hw_gpu_add(arrays, &chunk->weight, upload->capacity, sizeof *chunk->weight);
    for (int half = 0; half < 2; half++) {
        hw_gpu_add(arrays, &chunk->sort.key[half], upload->capacity, sizeof *chunk->sort.key[half]);
        hw_gpu_add(arrays, &chunk->sort.value[half], upload->capacity,
                   sizeof *chunk->sort.value[half]);
    }
    hw_gpu_add(arrays, &chunk->scratch, (hw_count)chunk->scratch_bytes, 1);
}

/* Computes the largest chunk and the scratch memory to sort it. */
static enum hw_status size_chunk(struct list_upload *upload, struct hw_error *err)
{
    const struct hw_distributed_sssp *sssp = upload->sssp;
    const uint32_t lists = sssp->params.lists.count;
    hw_count longest = 0, all = upload_begin(upload, lists);

#pragma omp parallel for reduction(max : longest)
    for (uint32_t l = 0; l < lists; l++) {
        hw_count length = upload_begin(upload, l + 1) - upload_begin(upload, l);
        longest = length > longest ? length : longest;
    }
    upload->capacity = all < CHUNK_EDGES ? all : CHUNK_EDGES;
    upload->capacity = longest > upload->capacity ? longest : upload->capacity;
    return hw_cuda(
        hw_gpu_sort_scratch((uint64_t)upload->capacity, true, &upload->chunk.scratch_bytes),
        "scratch memory to sort lists", err);
}

/* Adds the arrays of lists on the host to those of the engine. *temporary: bytes for their upload.
 */
static enum hw_status plan_upload(struct hw_distributed_sssp *sssp, bool incoming,
                                  const uint64_t **offset, const struct hw_gpu_edge **edge,
                                  hw_count *temporary, struct hw_error *err)
{
    struct list_upload upload = {.sssp = sssp, .incoming = incoming};
    struct hw_gpu_arrays *arrays = &sssp->engine->arrays;
    const uint32_t lists = sssp->params.lists.count;

    HW_TRY(size_chunk(&upload, err));
    plan_chunk(&upload);
    for (int a = 0; a < upload.arrays.count; a++)
        *temporary += upload.arrays.of[a].bytes + 256;
    hw_gpu_add(arrays, offset, (hw_count)lists + 1, sizeof **offset);
    hw_gpu_add(arrays, edge, upload_begin(&upload, lists), sizeof **edge);
    return HW_OK;
}

/* Graph ids by local id, if building left them on the device, else NULL. */
static const uint32_t *resident_graph_ids(const struct hw_distributed_sssp *sssp)
{
    const struct hw_device_csr *resident = hw_device_csr(sssp->engine->part);

    return resident ? resident->graph_id : NULL;
}

enum hw_status hw_distributed_sssp_plan_lists(struct hw_distributed_sssp *sssp,
                                              hw_count *temporary_bytes, struct hw_error *err)
{
    struct hw_distributed_sssp_params *params = &sssp->params;
    struct hw_gpu_arrays *arrays = &sssp->engine->arrays;
    enum hw_status status = HW_OK;

    if (!hw_device_csr(sssp->engine->part)) {
        hw_count out = 0, in = 0;
        status = plan_upload(sssp, false, &params->graph.offset, &params->graph.edge, &out, err);
        if (status == HW_OK && sssp->single_kernel.pulls_in_lists)
            status = plan_upload(sssp, true, &sssp->single_kernel.in_offset,
                                 &sssp->single_kernel.in_edge, &in, err);
        if (status != HW_OK)
            return status;
        *temporary_bytes += out > in ? out : in; /* one after the other */
    }
    if (!resident_graph_ids(sssp))
        hw_gpu_add(arrays, &params->graph.graph_id, params->config.num_local_ids,
                   sizeof *params->graph.graph_id);
    hw_gpu_add(arrays, &params->results.local_id, params->results.count,
               sizeof *params->results.local_id);
    return HW_OK;
}

/* Where the lists go on the device. */
struct device_lists {
    const uint64_t *offset;
    const struct hw_gpu_edge *edge;
};

static struct device_lists device_lists(const struct list_upload *upload)
{
    const struct hw_distributed_sssp *sssp = upload->sssp;

    return upload->incoming
               ? (struct device_lists){sssp->single_kernel.in_offset, sssp->single_kernel.in_edge}
               : (struct device_lists){sssp->params.graph.offset, sssp->params.graph.edge};
}

static enum hw_status open_upload(struct list_upload *upload, struct hw_error *err)
{
    const struct hw_distributed_sssp *sssp = upload->sssp;
    const bool made = sssp->engine->part->spec.layout == HW_LAYOUT_DEGREE_SEPARATED;
    const uint32_t lists = sssp->params.lists.count;
    enum hw_status status = size_chunk(upload, err);

    plan_chunk(upload);
    if (status == HW_OK)
        status = hw_gpu_allocate(&upload->arrays, 0, "uploading weighted lists", err);
    if (status == HW_OK)
        status = hw_alloc(&upload->offset, (hw_count)lists + 1, sizeof(uint64_t), "lists", err);
    if (status == HW_OK && made)
        status = hw_alloc(&upload->index, upload->capacity, sizeof(uint32_t), "lists", err);
    if (status == HW_OK && made)
        status = hw_alloc(&upload->weight, upload->capacity, sizeof(uint32_t), "lists", err);
#pragma omp parallel for if (status == HW_OK)
    for (uint32_t l = 0; l < (status == HW_OK ? lists + 1 : 0); l++)
        upload->offset[l] = (uint64_t)upload_begin(upload, l);
    if (status == HW_OK)
        status = hw_gpu_put((void *)(uintptr_t)device_lists(upload).offset, upload->offset,
                            ((size_t)lists + 1) * sizeof *upload->offset, err);
    return status;
}

static void close_upload(struct list_upload *upload)
{
    hw_gpu_release(&upload->arrays);
    free(upload->offset);
    free(upload->index);
    free(upload->weight);
}

/* Uploads and sorts the lists [chunk.first, chunk.end). */
static enum hw_status upload_chunk(struct list_upload *upload, struct hw_error *err)
{
    const struct hw_distributed_sssp *sssp = upload->sssp;
    const struct hw_part *part = sssp->engine->part;
    const struct hw_gpu_graph graph = {.wide = true};
    const struct device_lists to = device_lists(upload);
    struct hw_gpu_list_chunk *chunk = &upload->chunk;
    const uint64_t *offset = upload->offset;
    const size_t bytes = chunk->count * sizeof(uint32_t);
    const void *index = upload->index, *weight = upload->weight;

    if (upload->index) {
#pragma omp parallel for schedule(dynamic, 1024)
        for (uint32_t l = chunk->first; l < chunk->end; l++)
            copy_lists(sssp, l, upload->index + (offset[l] - chunk->begin),
                       upload->weight + (offset[l] - chunk->begin));
    } else {
        const struct hw_csr *from = upload->incoming ? &part->grid.in : &part->grid.out;
        index = from->index + chunk->begin;
        weight = from->weight + chunk->begin;
    }
    enum hw_status status = hw_gpu_put((void *)(uintptr_t)chunk->index, index, bytes, err);
    if (status == HW_OK)
        status = hw_gpu_put((void *)(uintptr_t)chunk->weight, weight, bytes, err);
    if (status == HW_OK)
        status = hw_cuda(hw_gpu_launch_list_chunk(&graph, to.offset, chunk,
                                                  part->weights == HW_WEIGHTS_F32,
                                                  (struct hw_gpu_edge *)(uintptr_t)to.edge),
                         "the kernels that sort lists", err);
    return status == HW_OK ? hw_cuda((int)cudaDeviceSynchronize(), "sorting lists", err) : status;
}

/* Uploads all edges, sorted by weight; incoming: by the vertices that they end at. Local. */
static enum hw_status upload_edges(struct hw_distributed_sssp *sssp, bool incoming,
                                   struct hw_error *err)
{
    struct list_upload upload = {.sssp = sssp, .incoming = incoming};
    struct hw_distributed_sssp_params *params = &sssp->params;
    struct hw_gpu_list_chunk *chunk = &upload.chunk;
    enum hw_status status = open_upload(&upload, err);
    const uint64_t *offset = upload.offset;

    for (uint32_t first = 0; first < params->lists.count && status == HW_OK; first = chunk->end) {
        uint32_t end = first + 1;
        while (end < params->lists.count &&
               offset[end + 1] - offset[first] <= (uint64_t)upload.capacity)
            end++;
        chunk->first = first;
        chunk->end = end;
        chunk->begin = offset[first];
        chunk->count = offset[end] - offset[first];
        if (chunk->count > 0)
            status = upload_chunk(&upload, err);
    }
    close_upload(&upload);
    return status;
}

/* Finds the end of the nonempty lists of each block. */
static void find_list_ends(struct hw_distributed_sssp *sssp)
{
    struct hw_distributed_sssp_params *params = &sssp->params;

    for (uint32_t b = 0; b < params->lists.num_blocks; b++) {
        const uint32_t first = b * params->config.block_size;
        uint32_t end = 0;
#pragma omp parallel for reduction(max : end)
        for (uint32_t t = 0; t < params->config.block_size; t++)
            if (list_begin(sssp, first + t) < list_begin(sssp, first + t + 1))
                end = t + 1;
        params->lists.end[b] = end;
    }
}

/* Uploads the edges, unless the layout was built on the device. Local. */
static enum hw_status place_lists(struct hw_distributed_sssp *sssp, struct hw_error *err)
{
    const struct hw_device_csr *resident = hw_device_csr(sssp->engine->part);

    find_list_ends(sssp);
    if (!resident) {
        enum hw_status status = upload_edges(sssp, false, err);
        return status == HW_OK && sssp->single_kernel.pulls_in_lists ? upload_edges(sssp, true, err)
                                                                     : status;
    }
    sssp->params.graph.offset = resident->offset;
    sssp->params.graph.edge = resident->edge;
    sssp->single_kernel.in_offset = resident->in_offset;
    sssp->single_kernel.in_edge = resident->in_edge;
    return HW_OK;
}

/* ---- graph ids and local ids ---- */

/* Gathers the graph ids of all parts' vertices, [ranks][block_size]. Collective; ranks agree. */
static enum hw_status gather_graph_ids(const struct hw_distributed_sssp *sssp, uint32_t **ids,
                                       struct hw_error *err)
{
    const struct hw_distributed_sssp_params *params = &sssp->params;
    const struct hw_context *ctx = sssp->engine->ctx;
    const struct hw_part_vertices *own = &sssp->engine->part->own;
    enum hw_status status =
        hw_alloc_zero(ids, (hw_count)params->config.ranks * params->config.block_size, sizeof **ids,
                      "graph ids", err);

    status = hw_agree(ctx->world, status, err);
    if (status != HW_OK)
        return status;
    uint32_t *mine = *ids + (size_t)params->config.rank * params->config.block_size;
#pragma omp parallel for
    for (hw_lid t = 0; t < own->count; t++)
        mine[t] = (uint32_t)own->graph_id[t];
    return hw_mpi(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, *ids,
                                (int)params->config.block_size, MPI_UINT32_T, ctx->world),
                  "MPI_Allgather", err);
}

/* Uploads graph ids by local id. Local. */
static enum hw_status put_graph_ids(const struct hw_distributed_sssp *sssp, const uint32_t *ids,
                                    struct hw_error *err)
{
    const struct hw_distributed_sssp_params *params = &sssp->params;
    const struct hw_delegate_part *separate = &sssp->engine->part->separate;
    uint32_t *to = (uint32_t *)(uintptr_t)params->graph.graph_id, *delegate = NULL;
    const size_t block = params->config.block_size;
    enum hw_status status = HW_OK;

    for (uint32_t s = 0; s < params->config.num_ranges && status == HW_OK; s++)
        status = hw_gpu_put(to + s * block, ids + sssp->peers.range_owner[s] * block,
                            block * sizeof *to, err);
    if (status != HW_OK || params->config.num_delegates == 0)
        return status;
    status = hw_alloc(&delegate, params->config.num_delegates, sizeof *delegate, "graph ids", err);
    for (uint32_t k = 0; k < params->config.num_delegates && status == HW_OK; k++)
        delegate[k] = (uint32_t)separate->graph_id[k];
    if (status == HW_OK)
        status = hw_gpu_put(to + params->config.num_ranges * block, delegate,
                            params->config.num_delegates * sizeof *delegate, err);
    free(delegate);
    return status;
}

/* Graph ids by local id on the device. Collective. */
static enum hw_status place_graph_ids(struct hw_distributed_sssp *sssp, struct hw_error *err)
{
    const uint32_t *resident = resident_graph_ids(sssp);
    uint32_t *ids = NULL;

    if (resident) { /* on all ranks */
        sssp->params.graph.graph_id = resident;
        return HW_OK;
    }
    enum hw_status status = gather_graph_ids(sssp, &ids, err);
    if (status == HW_OK)
        status = put_graph_ids(sssp, ids, err);
    free(ids);
    return status;
}

/* Computes the local ids of owned positions and uploads them by graph id. Local. */
static enum hw_status put_owned_local_ids(struct hw_distributed_sssp *sssp, struct hw_error *err)
{
    const struct hw_distributed_sssp_params *params = &sssp->params;
    const struct hw_part *part = sssp->engine->part;
    uint32_t *by_id = NULL;
    enum hw_status status = hw_alloc(&sssp->owned_local_id, part->own.count,
                                     sizeof *sssp->owned_local_id, "local ids", err);

    if (status == HW_OK)
        status = hw_alloc(&by_id, part->own.count, sizeof *by_id, "local ids", err);
    if (status != HW_OK)
        return status;
#pragma omp parallel for
    for (hw_lid t = 0; t < part->own.count; t++)
        sssp->owned_local_id[t] = hw_distributed_sssp_owned_begin(params) + t;
    for (uint32_t k = 0; k < params->config.num_delegates; k++) {
        hw_gid id = part->separate.search_id[k];
        if (hw_owner(&part->spec, id) == part->index)
            sssp->owned_local_id[hw_position(&part->spec, id)] =
                params->config.num_ranges * params->config.block_size + k;
    }
#pragma omp parallel for
    for (hw_lid k = 0; k < part->own.count; k++)
        by_id[k] = sssp->owned_local_id[part->own.by_graph_id[k]];
    status = hw_gpu_put((void *)(uintptr_t)params->results.local_id, by_id,
                        part->own.count * sizeof *by_id, err);
    free(by_id);
    return status;
}

enum hw_status hw_distributed_sssp_upload_lists(struct hw_distributed_sssp *sssp,
                                                struct hw_error *err)
{
    enum hw_status status = place_graph_ids(sssp, err);

    if (status == HW_OK)
        status = put_owned_local_ids(sssp, err);
    if (status == HW_OK)
        status = place_lists(sssp, err);
    return hw_agree(sssp->engine->ctx->world, status, err);
}

/* ---- estimates of device memory ---- */

/* Bytes of a search without the lists. Per local id: key, value and graph id. Per list: two queue
 * entries, two prefixes and its lightest edge. Per owned vertex: local id, key and parent. Outboxes
 * hold pairs from every rank, for both parities. */
static hw_count search_bytes(const struct hw_part *part, hw_count block, hw_count delegates)
{
    const hw_count parts = part->spec.parts, rows = part->spec.rows, columns = part->spec.columns;
    const bool separate = part->spec.layout == HW_LAYOUT_DEGREE_SEPARATED;
    const hw_count ranges = separate ? parts : rows > 1 ? columns + rows : columns;
    const hw_count num_ids = ranges * block + delegates;
    const hw_count lists = (separate ? 1 : rows) * block + delegates;
    const hw_count key = part->weights == HW_WEIGHTS_F32 ? 4 : 8;

    return num_ids * (key + 12) + (num_ids + 4 * lists) / 8 + lists * 32 + block * (8 + key) +
           parts * (block + delegates) * 32 +
           HW_DISTRIBUTED_SSSP_TRACE_CAPACITY *
               (hw_count)sizeof(struct hw_distributed_sssp_trace_record);
}

static hw_count bytes_with(const struct hw_part *part, hw_count delegates)
{
    const hw_count parts = part->spec.parts, n = (hw_count)part->vertices;
    const hw_count block = (n + parts - 1) / parts, edges = part->edges / parts;
    const hw_count rows = part->spec.layout == HW_LAYOUT_DEGREE_SEPARATED ? block + delegates
                                                                          : part->spec.rows * block;
    const hw_count min_keys = edges < HW_GPU_MIN_KEYS ? edges : HW_GPU_MIN_KEYS;
    const bool one_row = part->spec.layout != HW_LAYOUT_DEGREE_SEPARATED && part->spec.rows == 1;
    const hw_count order = 20 * n, fill = (one_row ? 8 : 4) * n + 4 * rows + 24 * min_keys;
    const hw_count lists = 8 * edges + 8 * rows, search = search_bytes(part, block, delegates);
    const hw_count later = lists + (fill > search ? fill : search);

    return order > later ? order : later;
}

hw_count hw_distributed_sssp_in_list_bytes(const struct hw_part *part)
{
    const hw_count n = (hw_count)part->vertices, parts = part->spec.parts;
    const hw_count block = (n + parts - 1) / parts;

    if (!part->directed || part->weights == HW_WEIGHTS_NONE || part->spec.rows != 1 ||
        part->spec.layout == HW_LAYOUT_DEGREE_SEPARATED)
        return 0;
    /* Edges, offsets, and the lightest edges of the other kind of lists. */
    return 8 * (part->edges / parts) + (8 + 16) * block;
}

hw_count hw_distributed_sssp_min_bytes(const struct hw_part *part)
{
    return bytes_with(part, (hw_count)part->separate.delegates);
}

hw_count hw_distributed_sssp_device_bytes(const struct hw_part *part)
{
    const hw_count n = (hw_count)part->vertices, parts = part->spec.parts;

    if (part->spec.layout != HW_LAYOUT_DEGREE_SEPARATED)
        return bytes_with(part, 0);
    return bytes_with(part, 4 * n / parts < n / 8 ? 4 * n / parts : n / 8);
}
