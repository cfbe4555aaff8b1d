/* Conversion and upload of one part of a 1d partition (gpu/partition1d/partition_1d_upload.h). */
#include "gpu/partition1d/partition_1d_upload.h"

#include "gpu/graph/degree_order.h"
#include "gpu/partition1d/partition_1d_kernels.h"
#include "gpu/partition1d/partition_1d_resident.h"
#include "lib/base/memory.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>

/* Entries of the lists that are converted and copied at once, unless one list is longer. */
#define CHUNK ((hw_count)16 << 20)

hw_count hw_partition_1d_host_bytes(const struct hw_part *part)
{
    hw_count owned = part->own.count + HW_CYCLIC_BLOCK, parts = part->spec.parts;
    if (part->resident)
        return (8 + 4 * parts) * owned;
    hw_count sorting = part->spec.order == HW_ORDER_DEGREE ? 0 : 32 * owned + 4 * parts * owned;

    /* Offsets, ids, references of first neighbors, and a chunk: a list has an entry per vertex at
     * most. */
    return sorting + (8 + 4 + 4 + 4 * parts) * owned +
           (hw_count)sizeof(uint32_t) * (CHUNK + part->vertices);
}

/* ---- the order ---- */

static hw_lid position_of(const struct hw_partition_1d_order *order, hw_lid local_id)
{
    return order->position ? order->position[local_id] : local_id;
}

/* How many vertices have degree `min_degree` and above: the first local ids. */
static hw_lid count_degree_at_least(const struct hw_partition_1d_order *order, hw_count min_degree)
{
    hw_lid from = 0, to = order->part->own.count;

    while (from < to) {
        hw_lid middle = from + (to - from) / 2;
        if (hw_degree_of(order->part, position_of(order, middle)) >= min_degree)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* Gathers the local ids of all parts, unless all equal positions. Collective; ranks agree. */
static enum hw_status gather_local_ids(const struct hw_context *ctx,
                                       struct hw_partition_1d_order *order, bool moved,
                                       struct hw_error *err)
{
    const struct hw_part *part = order->part;
    const hw_lid block = part->grid.block;
    hw_lid *own = NULL;
    int any = moved;
    enum hw_status status = hw_mpi(
        MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_LOR, ctx->world), "MPI_Allreduce", err);

    if (status != HW_OK || !any)
        return status;
    status = hw_alloc(&own, block, sizeof *own, "local ids", err);
    if (status == HW_OK)
        status = hw_alloc(&order->all_local_ids, (hw_count)part->spec.parts * block,
                          sizeof *order->all_local_ids, "all local ids", err);
    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK) {
        for (hw_lid v = 0; v < block; v++)
            own[v] = order->local_id && v < part->own.count ? order->local_id[v] : v;
        for (int q = 0; q < ctx->size && status == HW_OK; q++) {
            hw_lid *to = order->all_local_ids + (size_t)q * block;
            if (q == ctx->rank)
                memcpy(to, own, (size_t)block * sizeof *own);
            for (hw_lid at = 0; at < block && status == HW_OK; at += 1u << 30) {
                hw_lid piece = block - at < 1u << 30 ? block - at : 1u << 30;
                status = hw_mpi(MPI_Bcast(to + at, (int)piece, HW_MPI_LID, q, ctx->world),
                                "MPI_Bcast", err);
            }
        }
    }
    free(own);
    return status;
}

/* Bounds that are common to all parts. Collective; ranks agree. */
static enum hw_status agree_on_bounds(const struct hw_context *ctx,
                                      const struct hw_partition_1d_order *order,
                                      struct hw_partition_1d *partition, struct hw_error *err)
{
    const struct hw_part *part = order->part;
    uint32_t bounds[2] = {order->core, order->count};
    enum hw_status status = hw_mpi(
        MPI_Allgather(&order->count, 1, HW_MPI_LID, partition->count, 1, HW_MPI_LID, ctx->world),
        "MPI_Allgather", err);

    if (status == HW_OK)
        status = hw_mpi(MPI_Allreduce(MPI_IN_PLACE, bounds, 2, MPI_UINT32_T, MPI_MAX, ctx->world),
                        "MPI_Allreduce", err);
    if (status != HW_OK)
        return status;
    const uint64_t block = HW_CYCLIC_BLOCK, parts = partition->parts;
    uint64_t core = ((uint64_t)bounds[0] + block - 1) / block * block;
    uint64_t active = ((uint64_t)bounds[1] + block - 1) / block * block;
    core = core > 0 ? core : block; /* so that no array is empty */
    active = active > core ? active : core;
    if (active * parts >= HW_INVALID_VERTEX)
        return hw_fail(err, HW_BAD_INPUT,
                       "method fused has 32-bit vertex numbers; the graph has %" PRI_GID,
                       part->vertices);
    partition->core = (uint32_t)core;
    partition->active = (uint32_t)active;
    return HW_OK;
}

enum hw_status hw_partition_1d_order_make(const struct hw_context *ctx, const struct hw_part *part,
                                          struct hw_partition_1d_order *order,
                                          struct hw_partition_1d *partition, struct hw_error *err)
{
    *order = (struct hw_partition_1d_order){.part = part};
    if (part->resident) {
        *partition = hw_partition_1d_resident(part)->partition;
        return HW_OK;
    }
    *partition = (struct hw_partition_1d){
        .parts = (uint32_t)part->spec.parts,
        .part = (uint32_t)part->index,
        .reciprocal = hw_partition_1d_reciprocal((uint32_t)part->spec.parts),
        .owned = part->own.count,
        .edges = (uint64_t)part->edges,
        .directed = part->directed};
    bool moved = !hw_degrees_fall(part);
    enum hw_status status =
        moved ? hw_order_by_degree(part, &order->position, &order->local_id, err) : HW_OK;

    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK)
        status = gather_local_ids(ctx, order, moved, err);
    if (status == HW_OK) {
        order->core = count_degree_at_least(order, 2);
        order->count = count_degree_at_least(order, 1);
        status = agree_on_bounds(ctx, order, partition, err);
    }
    if (status != HW_OK)
        hw_partition_1d_order_free(order);
    return status;
}

void hw_partition_1d_order_free(struct hw_partition_1d_order *order)
{
    free(order->position);
    free(order->local_id);
    free(order->all_local_ids);
    *order = (struct hw_partition_1d_order){0};
}

/* ---- the arrays ---- */

void hw_partition_1d_add_arrays(const struct hw_partition_1d_order *order,
                                struct hw_partition_1d *partition, struct hw_gpu_arrays *arrays)
{
    const struct hw_part *part = order->part;
    hw_count active = partition->active, core = partition->core, owned = partition->owned;

    if (!part->resident) {
        hw_gpu_add(arrays, &partition->out.offset, active + 1, sizeof *partition->out.offset);
        hw_gpu_add(arrays, &partition->out.neighbor, part->grid.out.offset[part->grid.out.rows],
                   sizeof *partition->out.neighbor);
        hw_gpu_add(arrays, &partition->graph_id, partition->parts * active,
                   sizeof *partition->graph_id);
    }
    if (partition->directed && !part->resident) {
        hw_gpu_add(arrays, &partition->in.offset, active + 1, sizeof *partition->in.offset);
        hw_gpu_add(arrays, &partition->in.neighbor, part->grid.in.offset[part->grid.in.rows],
                   sizeof *partition->in.neighbor);
    }
    hw_gpu_add(arrays, &partition->first_in_neighbor, active, sizeof *partition->first_in_neighbor);
    hw_gpu_add(arrays, &partition->next_in_neighbors, 8 * core,
               sizeof *partition->next_in_neighbors);
    hw_gpu_add(arrays, &partition->first_neighbor_refs, core,
               sizeof *partition->first_neighbor_refs);
    hw_gpu_add(arrays, &partition->local_id, owned, sizeof *partition->local_id);
    hw_gpu_add(arrays, &partition->first_id, owned, sizeof *partition->first_id);
}

/* Offsets by local id; lists past the vertices with edges are empty. */
static void compute_offsets(const struct hw_partition_1d_order *order,
                            const struct hw_partition_1d *partition, const struct hw_csr *lists,
                            uint64_t *offset)
{
    offset[0] = 0;
    for (uint32_t r = 0; r < partition->active; r++)
        offset[r + 1] =
            offset[r] +
            (r < order->count ? (uint64_t)hw_list_length(lists, position_of(order, r)) : 0);
}

static int compare_ids(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* Converts one list to sorted global ids. Its neighbors are grouped by part; within a group they
 * rise if local ids equal positions: then the groups are merged, else the list is sorted. */
static void convert(const struct hw_partition_1d_order *order,
                    const struct hw_partition_1d *partition, const hw_lid *list, hw_count count,
                    uint32_t *to)
{
    const hw_lid block = order->part->grid.block;
    const hw_lid *at[HW_PARTITION_1D_PARTS], *end[HW_PARTITION_1D_PARTS];
    uint32_t head[HW_PARTITION_1D_PARTS];
    hw_count k = 0;

    if (order->all_local_ids) {
        for (k = 0; k < count; k++)
            to[k] =
                hw_partition_1d_global(partition, list[k] / block, order->all_local_ids[list[k]]);
        qsort(to, (size_t)count, sizeof *to, compare_ids);
        return;
    }
    for (uint32_t q = 0; q < partition->parts; q++) {
        at[q] = list + k;
        while (k < count && list[k] / block == q)
            k++;
        end[q] = list + k;
        head[q] = at[q] < end[q] ? hw_partition_1d_global(partition, q, *at[q] - q * block)
                                 : HW_INVALID_VERTEX;
    }
    for (k = 0; k < count; k++) {
        uint32_t min_part = 0;
        for (uint32_t q = 1; q < partition->parts; q++)
            min_part = head[q] < head[min_part] ? q : min_part;
        to[k] = head[min_part];
        at[min_part]++;
        head[min_part] =
            at[min_part] < end[min_part]
                ? hw_partition_1d_global(partition, min_part, *at[min_part] - min_part * block)
                : HW_INVALID_VERTEX;
    }
}

/* Converts the lists, a chunk at a time, and copies them to the device. Local. */
static enum hw_status put_lists(const struct hw_partition_1d_order *order,
                                const struct hw_partition_1d *partition, const struct hw_csr *lists,
                                const uint64_t *offset, const struct hw_partition_1d_lists *to,
                                struct hw_error *err)
{
    hw_count longest = 0;
    uint32_t *chunk = NULL;

    for (hw_lid r = 0; r < order->count; r++)
        longest = hw_list_length(lists, position_of(order, r)) > longest
                      ? hw_list_length(lists, position_of(order, r))
                      : longest;
    const hw_count most = longest > CHUNK ? longest : CHUNK;
    enum hw_status status = hw_alloc(&chunk, most, sizeof *chunk, "lists", err);
    for (hw_lid from = 0, past = 0; from < order->count && status == HW_OK; from = past) {
        while (past < order->count && (hw_count)(offset[past + 1] - offset[from]) <= most)
            past++;
#pragma omp parallel for schedule(dynamic, 256)
        for (hw_lid r = from; r < past; r++) {
            hw_lid v = position_of(order, r);
            convert(order, partition, lists->index + lists->offset[v], hw_list_length(lists, v),
                    chunk + (offset[r] - offset[from]));
        }
        status = hw_gpu_put((void *)(to->neighbor + offset[from]), chunk,
                            (size_t)(offset[past] - offset[from]) * sizeof *chunk, err);
    }
    free(chunk);
    if (status == HW_OK)
        status = hw_gpu_put((void *)to->offset, offset,
                            ((size_t)partition->active + 1) * sizeof *offset, err);
    return status;
}

/* Out-lists, and in-lists if the graph is directed. Local. */
static enum hw_status put_all_lists(const struct hw_partition_1d_order *order,
                                    const struct hw_partition_1d *partition, struct hw_error *err)
{
    const struct hw_grid_part *grid = &order->part->grid;
    uint64_t *offset = NULL;
    enum hw_status status =
        hw_alloc(&offset, (hw_count)partition->active + 1, sizeof *offset, "offsets", err);

    if (status == HW_OK) {
        compute_offsets(order, partition, &grid->out, offset);
        status = put_lists(order, partition, &grid->out, offset, &partition->out, err);
    }
    if (status == HW_OK && partition->directed) {
        compute_offsets(order, partition, &grid->in, offset);
        status = put_lists(order, partition, &grid->in, offset, &partition->in, err);
    }
    free(offset);
    return status;
}

/* Local ids by graph id. buffer: [owned]. Local. */
static enum hw_status put_local_ids(const struct hw_partition_1d_order *order,
                                    const struct hw_partition_1d *partition, uint32_t *buffer,
                                    struct hw_error *err)
{
    const struct hw_part_vertices *own = &order->part->own;
    const uint32_t *local_id = order->local_id ? buffer : own->by_graph_id;

    if (order->local_id) {
#pragma omp parallel for
        for (hw_lid k = 0; k < own->count; k++)
            buffer[k] = order->local_id[own->by_graph_id[k]];
    }
    return hw_gpu_put((void *)partition->local_id, local_id, (size_t)own->count * sizeof *local_id,
                      err);
}

/* Graph ids of all parts' vertices. buffer: [active]; scratch: [active] on the device. Collective;
 * ranks agree. */
static enum hw_status put_graph_ids(const struct hw_context *ctx,
                                    const struct hw_partition_1d_order *order,
                                    const struct hw_partition_1d *partition, uint32_t *buffer,
                                    uint32_t *scratch, struct hw_error *err)
{
    const struct hw_part_vertices *own = &order->part->own;
    const size_t bytes = (size_t)partition->active * sizeof *buffer;
    enum hw_status status = HW_OK;

    for (uint32_t q = 0; q < partition->parts && status == HW_OK; q++) {
        for (uint32_t r = 0; q == partition->part && r < partition->active; r++)
            buffer[r] =
                r < own->count ? (uint32_t)own->graph_id[position_of(order, r)] : HW_INVALID_VERTEX;
        for (uint32_t at = 0; at < partition->active && status == HW_OK; at += 1u << 30) {
            uint32_t piece = partition->active - at < 1u << 30 ? partition->active - at : 1u << 30;
            status = hw_mpi(MPI_Bcast(buffer + at, (int)piece, MPI_UINT32_T, (int)q, ctx->world),
                            "MPI_Bcast", err);
        }
        if (status == HW_OK)
            status = hw_gpu_put(scratch, buffer, bytes, err);
        if (status == HW_OK)
            status = hw_cuda(hw_partition_1d_launch_interleave(
                                 partition, q, scratch, (uint32_t *)(uintptr_t)partition->graph_id),
                             "the kernel that interleaves ids", err);
        if (status == HW_OK)
            status = hw_cuda((int)cudaDeviceSynchronize(), "ids", err);
        status = hw_agree(ctx->world, status, err);
    }
    return status;
}

/* Counts of a part that are summed at once: few enough to stay in the host's caches. */
#define PIECE (1u << 18)

/* Sums all parts' counts of references to this part's core into first_neighbor_refs. counted:
 * [parts][core] on each device; buffer: [parts + 1][PIECE] on the host. Collective; a rank that
 * fails still takes part in the reductions, so that the others complete. */
static enum hw_status reduce_refs(const struct hw_context *ctx,
                                  const struct hw_partition_1d *partition, const uint32_t *counted,
                                  uint32_t *buffer, struct hw_error *err)
{
    const size_t core = partition->core;
    uint32_t *refs = (uint32_t *)(uintptr_t)partition->first_neighbor_refs,
             *sum = buffer + (size_t)partition->parts * PIECE;
    enum hw_status status = HW_OK, sent = HW_OK;

    for (size_t at = 0; at < core && sent == HW_OK; at += PIECE) {
        const size_t count = core - at < PIECE ? core - at : PIECE;
        for (uint32_t q = 0; q < partition->parts && status == HW_OK; q++)
            status = hw_gpu_get(buffer + q * count, counted + q * core + at, count * sizeof *buffer,
                                err);
        /* All ranks add at the same time, each the counts of its part. */
        sent = hw_mpi(
            MPI_Reduce_scatter_block(buffer, sum, (int)count, MPI_UINT32_T, MPI_SUM, ctx->world),
            "MPI_Reduce_scatter_block", err);
        if (status == HW_OK && sent == HW_OK)
            status = hw_gpu_put(refs + at, sum, count * sizeof *sum, err);
    }
    return sent == HW_OK ? status : sent;
}

/* First in-neighbors, and how many vertices of all parts refer to each. Collective; ranks agree. */
static enum hw_status derive_first_neighbors(const struct hw_context *ctx,
                                             const struct hw_partition_1d *partition,
                                             struct hw_error *err)
{
    const size_t all = (size_t)partition->core * partition->parts;
    uint32_t *buffer = NULL, *counted = NULL;
    void *device = NULL;
    enum hw_status status = hw_alloc_zero(&buffer, ((hw_count)partition->parts + 1) * PIECE,
                                          sizeof *buffer, "references", err);

    if (status == HW_OK)
        status = hw_cuda((int)cudaMalloc(&device, all * sizeof *counted), "cudaMalloc", err);
    counted = device;
    if (status == HW_OK)
        status = hw_cuda(hw_partition_1d_launch_first(partition, counted),
                         "the kernel that derives first neighbors", err);
    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK)
        status = hw_agree(ctx->world, reduce_refs(ctx, partition, counted, buffer, err), err);
    cudaFree(device);
    free(buffer);
    return status;
}

enum hw_status hw_partition_1d_upload(const struct hw_context *ctx,
                                      const struct hw_partition_1d_order *order,
                                      const struct hw_partition_1d *partition, struct hw_error *err)
{
    const hw_count longest = partition->active > partition->owned ? (hw_count)partition->active
                                                                  : (hw_count)partition->owned;
    uint32_t *buffer = NULL;
    void *scratch = NULL;
    const bool resident = order->part->resident != NULL;
    enum hw_status status = resident ? HW_OK : put_all_lists(order, partition, err);

    if (status == HW_OK)
        status = hw_alloc(&buffer, longest, sizeof *buffer, "ids", err);
    if (status == HW_OK)
        status =
            hw_cuda((int)cudaMalloc(&scratch, (size_t)longest * sizeof *buffer), "cudaMalloc", err);
    if (status == HW_OK)
        status = put_local_ids(order, partition, buffer, err);
    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK && !resident)
        status = put_graph_ids(ctx, order, partition, buffer, scratch, err);
    cudaFree(scratch);
    free(buffer);
    if (status == HW_OK)
        status = derive_first_neighbors(ctx, partition, err);
    if (status == HW_OK)
        status = hw_agree(ctx->world,
                          hw_cuda(hw_partition_1d_launch_first_ids(partition),
                                  "the kernel that derives first neighbors", err),
                          err);
    return status;
}
