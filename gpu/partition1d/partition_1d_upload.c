#include "gpu/partition1d/partition_1d_upload.h"

#include "gpu/graph/degree_order.h"
#include "gpu/partition1d/partition_1d_kernels.h"
#include "gpu/partition1d/partition_1d_resident.h"
#include "lib/base/memory.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>

/* Elements of the lists that are converted and copied at a time, unless one list is longer. */
#define CHUNK ((hw_count)16 << 20)

hw_count hw_partition_1d_host_bytes(const struct hw_part *part)
{
    hw_count owned = part->own.count + HW_CYCLIC_BLOCK, parts = part->spec.parts;
    if (part->resident)
        return (8 + 4 * parts) * owned;
    hw_count sorting = part->spec.order == HW_ORDER_DEGREE ? 0 : 32 * owned + 4 * parts * owned;

    /* Offsets, ids, leaders and a chunk of a list that may be as long as there are vertices. */
    return sorting + (8 + 4 + 4 + 4 * parts) * owned +
           (hw_count)sizeof(uint32_t) * (CHUNK + part->vertices);
}

/* ---- the order ---- */

static hw_lid position_of(const struct hw_partition_1d_order *order, hw_lid rank)
{
    return order->position ? order->position[rank] : rank;
}

/* How many vertices have at least so many ends of edges: the first ranks. */
static hw_lid count_degree(const struct hw_partition_1d_order *order, hw_count least)
{
    hw_lid from = 0, to = order->part->own.count;

    while (from < to) {
        hw_lid middle = from + (to - from) / 2;
        if (hw_degree_of(order->part, position_of(order, middle)) >= least)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* Every part's ranks, where some differ from positions. Collective; ranks agree. */
static enum hw_status gather_ranks(const struct hw_context *ctx,
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
    status = hw_alloc(&own, block, sizeof *own, "ranks", err);
    if (status == HW_OK)
        status = hw_alloc(&order->all_rank, (hw_count)part->spec.parts * block,
                          sizeof *order->all_rank, "all ranks", err);
    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK) {
        for (hw_lid v = 0; v < block; v++)
            own[v] = order->rank && v < part->own.count ? order->rank[v] : v;
        for (int q = 0; q < ctx->size && status == HW_OK; q++) {
            hw_lid *to = order->all_rank + (size_t)q * block;
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

/* Bounds that all parts share. Collective; ranks agree. */
static enum hw_status agree_on_bounds(const struct hw_context *ctx,
                                      const struct hw_partition_1d_order *order,
                                      struct hw_partition_1d *share, struct hw_error *err)
{
    const struct hw_part *part = order->part;
    uint32_t bounds[2] = {order->core, order->count};
    enum hw_status status =
        hw_mpi(MPI_Allgather(&order->count, 1, HW_MPI_LID, share->count, 1, HW_MPI_LID, ctx->world),
               "MPI_Allgather", err);

    if (status == HW_OK)
        status = hw_mpi(MPI_Allreduce(MPI_IN_PLACE, bounds, 2, MPI_UINT32_T, MPI_MAX, ctx->world),
                        "MPI_Allreduce", err);
    if (status != HW_OK)
        return status;
    const uint64_t grain = HW_CYCLIC_BLOCK, parts = share->parts;
    uint64_t core = ((uint64_t)bounds[0] + grain - 1) / grain * grain;
    uint64_t active = ((uint64_t)bounds[1] + grain - 1) / grain * grain;
    core = core > 0 ? core : grain; /* so that nothing is empty */
    active = active > core ? active : core;
    if (active * parts >= HW_INVALID_VERTEX)
        return hw_fail(err, HW_BAD_INPUT,
                       "method fused numbers vertices with 32 bits; the graph has %" PRI_GID,
                       part->vertices);
    share->core = (uint32_t)core;
    share->active = (uint32_t)active;
    return HW_OK;
}

enum hw_status hw_partition_1d_order_make(const struct hw_context *ctx, const struct hw_part *part,
                                          struct hw_partition_1d_order *order,
                                          struct hw_partition_1d *share, struct hw_error *err)
{
    *order = (struct hw_partition_1d_order){.part = part};
    if (part->resident) {
        *share = hw_partition_1d_resident(part)->share;
        return HW_OK;
    }
    *share = (struct hw_partition_1d){.parts = (uint32_t)part->spec.parts,
                                      .part = (uint32_t)part->index,
                                      .reciprocal =
                                          hw_partition_1d_reciprocal((uint32_t)part->spec.parts),
                                      .owned = part->own.count,
                                      .edges = (uint64_t)part->edges,
                                      .directed = part->directed};
    bool moved = !hw_degrees_fall(part);
    enum hw_status status =
        moved ? hw_order_by_degree(part, &order->position, &order->rank, err) : HW_OK;

    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK)
        status = gather_ranks(ctx, order, moved, err);
    if (status == HW_OK) {
        order->core = count_degree(order, 2);
        order->count = count_degree(order, 1);
        status = agree_on_bounds(ctx, order, share, err);
    }
    if (status != HW_OK)
        hw_partition_1d_order_free(order);
    return status;
}

void hw_partition_1d_order_free(struct hw_partition_1d_order *order)
{
    free(order->position);
    free(order->rank);
    free(order->all_rank);
    *order = (struct hw_partition_1d_order){0};
}

/* ---- the arrays ---- */

void hw_partition_1d_add_arrays(const struct hw_partition_1d_order *order,
                                struct hw_partition_1d *share, struct hw_gpu_arrays *arrays)
{
    const struct hw_part *part = order->part;
    hw_count active = share->active, core = share->core, owned = share->owned;

    if (!part->resident) {
        hw_gpu_add(arrays, &share->out.offset, active + 1, sizeof *share->out.offset);
        hw_gpu_add(arrays, &share->out.neighbor, part->grid.out.offset[part->grid.out.rows],
                   sizeof *share->out.neighbor);
        hw_gpu_add(arrays, &share->graph_id, share->parts * active, sizeof *share->graph_id);
    }
    if (share->directed) {
        hw_gpu_add(arrays, &share->in.offset, active + 1, sizeof *share->in.offset);
        hw_gpu_add(arrays, &share->in.neighbor, part->grid.in.offset[part->grid.in.rows],
                   sizeof *share->in.neighbor);
    }
    hw_gpu_add(arrays, &share->first_in_neighbor, active, sizeof *share->first_in_neighbor);
    hw_gpu_add(arrays, &share->next_in_neighbors, 8 * core, sizeof *share->next_in_neighbors);
    hw_gpu_add(arrays, &share->first_neighbor_refs, core, sizeof *share->first_neighbor_refs);
    hw_gpu_add(arrays, &share->local_id, owned, sizeof *share->local_id);
    hw_gpu_add(arrays, &share->first_id, owned, sizeof *share->first_id);
}

/* Offsets by local rank. Past the vertices with edges they stay the same. */
static void make_offsets(const struct hw_partition_1d_order *order,
                         const struct hw_partition_1d *share, const struct hw_csr *lists,
                         uint64_t *offset)
{
    offset[0] = 0;
    for (uint32_t r = 0; r < share->active; r++)
        offset[r + 1] =
            offset[r] +
            (r < order->count ? (uint64_t)hw_list_length(lists, position_of(order, r)) : 0);
}

static int by_rank(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* One list in global ranks. Its neighbours come in runs, one of each part, that rise where
 * ranks equal positions: merged; else sorted. */
static void convert(const struct hw_partition_1d_order *order, const struct hw_partition_1d *share,
                    const hw_lid *list, hw_count count, uint32_t *to)
{
    const hw_lid block = order->part->grid.block;
    const hw_lid *at[HW_PARTITION_1D_PARTS], *end[HW_PARTITION_1D_PARTS];
    uint32_t head[HW_PARTITION_1D_PARTS];
    hw_count k = 0;

    if (order->all_rank) {
        for (k = 0; k < count; k++)
            to[k] = hw_partition_1d_global(share, list[k] / block, order->all_rank[list[k]]);
        qsort(to, (size_t)count, sizeof *to, by_rank);
        return;
    }
    for (uint32_t q = 0; q < share->parts; q++) {
        at[q] = list + k;
        while (k < count && list[k] / block == q)
            k++;
        end[q] = list + k;
        head[q] = at[q] < end[q] ? hw_partition_1d_global(share, q, *at[q] - q * block)
                                 : HW_INVALID_VERTEX;
    }
    for (k = 0; k < count; k++) {
        uint32_t least = 0;
        for (uint32_t q = 1; q < share->parts; q++)
            least = head[q] < head[least] ? q : least;
        to[k] = head[least];
        at[least]++;
        head[least] = at[least] < end[least]
                          ? hw_partition_1d_global(share, least, *at[least] - least * block)
                          : HW_INVALID_VERTEX;
    }
}

/* Converts the lists of some ranks at a time and copies them to the device. Local. */
static enum hw_status put_lists(const struct hw_partition_1d_order *order,
                                const struct hw_partition_1d *share, const struct hw_csr *lists,
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
            convert(order, share, lists->index + lists->offset[v], hw_list_length(lists, v),
                    chunk + (offset[r] - offset[from]));
        }
        status = hw_gpu_put((void *)(to->neighbor + offset[from]), chunk,
                            (size_t)(offset[past] - offset[from]) * sizeof *chunk, err);
    }
    free(chunk);
    if (status == HW_OK)
        status = hw_gpu_put((void *)to->offset, offset,
                            ((size_t)share->active + 1) * sizeof *offset, err);
    return status;
}

/* Both kinds of lists. Local. */
static enum hw_status put_all_lists(const struct hw_partition_1d_order *order,
                                    const struct hw_partition_1d *share, struct hw_error *err)
{
    const struct hw_grid_part *grid = &order->part->grid;
    uint64_t *offset = NULL;
    enum hw_status status =
        hw_alloc(&offset, (hw_count)share->active + 1, sizeof *offset, "offsets", err);

    if (status == HW_OK) {
        make_offsets(order, share, &grid->out, offset);
        status = put_lists(order, share, &grid->out, offset, &share->out, err);
    }
    if (status == HW_OK && share->directed) {
        make_offsets(order, share, &grid->in, offset);
        status = put_lists(order, share, &grid->in, offset, &share->in, err);
    }
    free(offset);
    return status;
}

/* Ranks by graph id. Local. */
static enum hw_status put_ranks(const struct hw_partition_1d_order *order,
                                const struct hw_partition_1d *share, uint32_t *room,
                                struct hw_error *err)
{
    const struct hw_part_vertices *own = &order->part->own;
    const uint32_t *rank = order->rank ? room : own->by_graph_id;

    if (order->rank) {
#pragma omp parallel for
        for (hw_lid k = 0; k < own->count; k++)
            room[k] = order->rank[own->by_graph_id[k]];
    }
    return hw_gpu_put((void *)share->local_id, rank, (size_t)own->count * sizeof *rank, err);
}

/* Graph ids of all parts' ranks. room: [active]; scratch: [active] on the device.
 * Collective; ranks agree. */
static enum hw_status put_ids(const struct hw_context *ctx,
                              const struct hw_partition_1d_order *order,
                              const struct hw_partition_1d *share, uint32_t *room,
                              uint32_t *scratch, struct hw_error *err)
{
    const struct hw_part_vertices *own = &order->part->own;
    const size_t bytes = (size_t)share->active * sizeof *room;
    enum hw_status status = HW_OK;

    for (uint32_t q = 0; q < share->parts && status == HW_OK; q++) {
        for (uint32_t r = 0; q == share->part && r < share->active; r++)
            room[r] =
                r < own->count ? (uint32_t)own->graph_id[position_of(order, r)] : HW_INVALID_VERTEX;
        for (uint32_t at = 0; at < share->active && status == HW_OK; at += 1u << 30) {
            uint32_t piece = share->active - at < 1u << 30 ? share->active - at : 1u << 30;
            status = hw_mpi(MPI_Bcast(room + at, (int)piece, MPI_UINT32_T, (int)q, ctx->world),
                            "MPI_Bcast", err);
        }
        if (status == HW_OK)
            status = hw_gpu_put(scratch, room, bytes, err);
        if (status == HW_OK)
            status = hw_cuda(hw_partition_1d_launch_interleave(
                                 share, q, scratch, (uint32_t *)(uintptr_t)share->graph_id),
                             "the kernel that deals ids", err);
        if (status == HW_OK)
            status = hw_cuda((int)cudaDeviceSynchronize(), "ids", err);
        status = hw_agree(ctx->world, status, err);
    }
    return status;
}

/* Elements of a part that are added up at a time: few enough to stay in the hosts' caches. */
#define PIECE (1u << 18)

/* What all parts counted of this part's core, into `led`. counted: [parts][core] on each device;
 * room: [parts + 1][PIECE] on the host. Collective; a rank that fails goes on, for the others. */
static enum hw_status add_counts(const struct hw_context *ctx, const struct hw_partition_1d *share,
                                 const uint32_t *counted, uint32_t *room, struct hw_error *err)
{
    const size_t core = share->core;
    uint32_t *led = (uint32_t *)(uintptr_t)share->first_neighbor_refs,
             *sum = room + (size_t)share->parts * PIECE;
    enum hw_status status = HW_OK, sent = HW_OK;

    for (size_t at = 0; at < core && sent == HW_OK; at += PIECE) {
        const size_t count = core - at < PIECE ? core - at : PIECE;
        for (uint32_t q = 0; q < share->parts && status == HW_OK; q++)
            status =
                hw_gpu_get(room + q * count, counted + q * core + at, count * sizeof *room, err);
        /* Ranks add at the same time, each what is its own. */
        sent = hw_mpi(
            MPI_Reduce_scatter_block(room, sum, (int)count, MPI_UINT32_T, MPI_SUM, ctx->world),
            "MPI_Reduce_scatter_block", err);
        if (status == HW_OK && sent == HW_OK)
            status = hw_gpu_put(led + at, sum, count * sizeof *sum, err);
    }
    return sent == HW_OK ? status : sent;
}

/* First sources, and over all parts how many each one leads. Collective; ranks agree. */
static enum hw_status put_first(const struct hw_context *ctx, const struct hw_partition_1d *share,
                                struct hw_error *err)
{
    const size_t all = (size_t)share->core * share->parts;
    uint32_t *room = NULL, *counted = NULL;
    void *device = NULL;
    enum hw_status status =
        hw_alloc_zero(&room, ((hw_count)share->parts + 1) * PIECE, sizeof *room, "leaders", err);

    if (status == HW_OK)
        status = hw_cuda((int)cudaMalloc(&device, all * sizeof *counted), "cudaMalloc", err);
    counted = device;
    if (status == HW_OK)
        status = hw_cuda(hw_partition_1d_launch_first(share, counted),
                         "the kernel that takes first neighbours", err);
    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK)
        status = hw_agree(ctx->world, add_counts(ctx, share, counted, room, err), err);
    cudaFree(device);
    free(room);
    return status;
}

enum hw_status hw_partition_1d_upload(const struct hw_context *ctx,
                                      const struct hw_partition_1d_order *order,
                                      const struct hw_partition_1d *share, struct hw_error *err)
{
    const hw_count longest =
        share->active > share->owned ? (hw_count)share->active : (hw_count)share->owned;
    uint32_t *room = NULL;
    void *scratch = NULL;
    const bool resident = order->part->resident != NULL;
    enum hw_status status = resident ? HW_OK : put_all_lists(order, share, err);

    if (status == HW_OK)
        status = hw_alloc(&room, longest, sizeof *room, "ids", err);
    if (status == HW_OK)
        status =
            hw_cuda((int)cudaMalloc(&scratch, (size_t)longest * sizeof *room), "cudaMalloc", err);
    if (status == HW_OK)
        status = put_ranks(order, share, room, err);
    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK && !resident)
        status = put_ids(ctx, order, share, room, scratch, err);
    cudaFree(scratch);
    free(room);
    if (status == HW_OK)
        status = put_first(ctx, share, err);
    if (status == HW_OK)
        status = hw_agree(ctx->world,
                          hw_cuda(hw_partition_1d_launch_first_ids(share),
                                  "the kernel that takes first neighbours", err),
                          err);
    return status;
}
