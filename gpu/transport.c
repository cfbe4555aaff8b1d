#include "transport.h"

#include "base/memory.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>

/* Heaps are whole pages of the device, so that none shares one with other memory. */
#define PAGE ((hw_count)2 << 20)

const char *hw_transport_name(const struct hw_transport *transport)
{
    static const char *const names[] = {"auto", "mpi", "peer", "nccl"};

    return names[transport->kind];
}

/* ---- heaps ---- */

/* Lets go of the other ranks' heaps and frees this one's. Collective where shared. */
static void free_heaps(struct hw_transport *transport)
{
    const struct hw_context *ctx = transport->ctx;

    for (int q = 0; transport->heap && q < ctx->size; q++)
        if (q != ctx->rank && transport->heap[q])
            cudaIpcCloseMemHandle(transport->heap[q]);
    if (transport->kind == HW_TRANSPORT_PEER)
        MPI_Barrier(ctx->world); /* nobody frees what others have open */
    if (transport->heap)
        cudaFree(transport->heap[ctx->rank]);
    free(transport->heap);
    transport->heap = NULL;
    transport->heap_bytes = 0;
}

/* Opens the other ranks' heaps. Local. */
static enum hw_status open_handles(struct hw_transport *transport,
                                   const cudaIpcMemHandle_t *handles, struct hw_error *err)
{
    const struct hw_context *ctx = transport->ctx;
    enum hw_status status = HW_OK;

    for (int q = 0; q < ctx->size && status == HW_OK; q++) {
        void *memory = NULL;
        if (q == ctx->rank)
            continue;
        cudaError_t error =
            cudaIpcOpenMemHandle(&memory, handles[q], cudaIpcMemLazyEnablePeerAccess);
        if (error != cudaSuccess) {
            (void)cudaGetLastError(); /* it would come back from the next launch */
            status = hw_fail(err, HW_RESOURCES, "rank %d cannot reach the GPU of rank %d (%s)",
                             ctx->rank, q, cudaGetErrorString(error));
        }
        transport->heap[q] = memory;
    }
    return status;
}

/* Shows this rank's heap to the others and opens theirs. Collective; ranks agree. Returns
 * HW_RESOURCES where some rank does not reach another's. */
static enum hw_status share_heaps(struct hw_transport *transport, struct hw_error *err)
{
    const struct hw_context *ctx = transport->ctx;
    cudaIpcMemHandle_t own, *handles = NULL;

    memset(&own, 0, sizeof own);
    enum hw_status status = hw_alloc(&handles, ctx->size, sizeof *handles, "handles", err);
    const cudaError_t error = cudaIpcGetMemHandle(&own, transport->heap[ctx->rank]);
    if (error != cudaSuccess) {
        (void)cudaGetLastError(); /* it would come back from the next launch */
        status = hw_fail(err, HW_RESOURCES, "rank %d cannot show its GPU's memory to others (%s)",
                         ctx->rank, cudaGetErrorString(error));
    }
    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK)
        status = hw_mpi(MPI_Allgather(&own, (int)sizeof own, MPI_BYTE, handles, (int)sizeof own,
                                      MPI_BYTE, ctx->world),
                        "MPI_Allgather", err);
    if (status == HW_OK)
        status = open_handles(transport, handles, err);
    free(handles);
    return hw_agree(ctx->world, status, err);
}

/* This rank's heap, zeroed. Collective; ranks agree. */
static enum hw_status allocate_heap(struct hw_transport *transport, hw_count bytes,
                                    struct hw_error *err)
{
    const struct hw_context *ctx = transport->ctx;
    void *memory = NULL;

    bytes = (bytes + PAGE - 1) / PAGE * PAGE;
    enum hw_status status = hw_alloc_zero(&transport->heap, ctx->size, sizeof *transport->heap,
                                          "the heaps' addresses", err);
    if (status == HW_OK)
        status = hw_cuda((int)cudaMalloc(&memory, (size_t)bytes), "cudaMalloc", err);
    if (status == HW_OK) {
        transport->heap[ctx->rank] = memory;
        transport->heap_bytes = bytes;
        status = hw_gpu_fill(memory, 0, (size_t)bytes, err);
    }
    if (status == HW_OK)
        status = hw_cuda((int)cudaDeviceSynchronize(), "cudaMemset", err);
    return hw_agree(ctx->world, status, err);
}

/* The first message between two ranks makes their connection: outside any clock. Zeros go
 * where zeros are. Collective; ranks agree. */
static enum hw_status warm_up(struct hw_transport *transport, struct hw_error *err)
{
    const struct hw_context *ctx = transport->ctx;
    hw_count *at = NULL, *bytes = NULL;
    enum hw_status status = hw_alloc_zero(&at, ctx->size, sizeof *at, "offsets", err);

    if (status == HW_OK)
        status = hw_alloc_zero(&bytes, ctx->size, sizeof *bytes, "offsets", err);
    for (int q = 0; q < ctx->size && status == HW_OK; q++)
        bytes[q] = q != ctx->rank ? PAGE : 0;
    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK)
        status = hw_transport_exchange(transport, at, bytes, at, bytes, err);
    free(at);
    free(bytes);
    return status;
}

enum hw_status hw_transport_heap(struct hw_transport *transport, hw_count bytes,
                                 struct hw_error *err)
{
    /* At least a page, so that there is something to warm up with. */
    enum hw_status status = allocate_heap(transport, bytes > 0 ? bytes : PAGE, err);

    if (status != HW_OK)
        return status;
    return transport->kind == HW_TRANSPORT_PEER ? share_heaps(transport, err)
                                                : warm_up(transport, err);
}

/* ---- choosing ---- */

/* *works: whether all ranks reach each other's memory, tried with a small heap; err says why
 * not. Collective; ranks agree. */
static enum hw_status try_peer(struct hw_transport *transport, bool *works, struct hw_error *err)
{
    const struct hw_context *ctx = transport->ctx;

    *works = false;
    if (!ctx->one_node || ctx->node_size != ctx->size) {
        (void)hw_fail(err, HW_RESOURCES, "the ranks are on several nodes");
        return HW_OK;
    }
    transport->kind = HW_TRANSPORT_PEER;
    enum hw_status status = allocate_heap(transport, PAGE, err);
    if (status == HW_OK) {
        status = share_heaps(transport, err);
        *works = status == HW_OK;
        status = status == HW_RESOURCES ? HW_OK : status;
    }
    free_heaps(transport);
    return status;
}

/* What may help where ranks of one node do not reach each other. Local. */
static const char *hint(const struct hw_context *ctx)
{
    int devices = 0;

    if (ctx->node_size < ctx->size || cudaGetDeviceCount(&devices) != cudaSuccess ||
        devices >= ctx->node_size)
        return "";
    return "; where Slurm shows each rank one GPU alone, start with --gpu-bind=none";
}

/* peer, or mpi where auto may take that. Collective; ranks agree. */
static enum hw_status open_peer(struct hw_transport *transport, struct hw_error *err)
{
    const struct hw_context *ctx = transport->ctx;
    const bool asked = transport->kind == HW_TRANSPORT_PEER;
    bool works = false;
    enum hw_status status = try_peer(transport, &works, err);

    if (status != HW_OK || works)
        return status;
    if (asked) {
        struct hw_error why = *err;
        return hw_fail(err, HW_RESOURCES, "--transport peer: %.700s%s", why.text, hint(ctx));
    }
    hw_note(ctx, "transport mpi, much slower than peer: %s%s", err->text, hint(ctx));
    transport->kind = HW_TRANSPORT_MPI;
    return hw_staging_open(ctx, &transport->staging, err);
}

enum hw_status hw_transport_open(const struct hw_context *ctx, enum hw_transport_kind asked,
                                 struct hw_transport *transport, struct hw_error *err)
{
    int used = 0;
    bool shared = false;

    *transport = (struct hw_transport){.kind = asked, .ctx = ctx};
    enum hw_status status = hw_gpu_devices(ctx, &used, &shared, err);
    if (status != HW_OK)
        return status;
    if (shared && asked == HW_TRANSPORT_NCCL)
        return hw_fail(err, HW_RESOURCES,
                       "--transport nccl wants a GPU for each rank, and ranks share GPUs here; use "
                       "auto, peer or mpi");
    if (shared && asked == HW_TRANSPORT_AUTO)
        transport->kind = HW_TRANSPORT_MPI;
    if (shared)
        hw_note(ctx, "%d ranks share %d GPU%s%s", ctx->node_size, used, used == 1 ? "" : "s",
                asked != HW_TRANSPORT_AUTO
                    ? ""
                    : ": transport mpi, which does not wait on them in turns");
    if (transport->kind == HW_TRANSPORT_MPI)
        return hw_staging_open(ctx, &transport->staging, err);
    if (transport->kind == HW_TRANSPORT_NCCL)
        return hw_collective_open(ctx, &transport->nccl, err);
    return open_peer(transport, err);
}

void hw_transport_share(const struct hw_transport *from, struct hw_transport *transport)
{
    *transport = (struct hw_transport){.kind = from->kind,
                                       .ctx = from->ctx,
                                       .staging = from->staging,
                                       .nccl = from->nccl,
                                       .borrowed = true};
}

/* ---- moving ---- */

enum hw_status hw_transport_fetch(struct hw_transport *transport, int q, hw_count offset,
                                  hw_count bytes, void *room, const void **at, struct hw_error *err)
{
    const struct hw_context *ctx = transport->ctx;
    enum hw_status status = hw_cuda((int)cudaDeviceSynchronize(), "cudaDeviceSynchronize", err);

    *at = room;
    status = hw_agree(ctx->world, status, err);
    if (status != HW_OK)
        return status;
    if (transport->kind == HW_TRANSPORT_NCCL)
        return hw_agree(ctx->world,
                        hw_collective_broadcast(transport->nccl, q,
                                                transport->heap[ctx->rank] + offset, room, bytes,
                                                err),
                        err);
    if (transport->kind != HW_TRANSPORT_PEER)
        return hw_staging_broadcast(transport->staging, q, transport->heap[ctx->rank] + offset,
                                    bytes, room, err);
    *at = transport->heap[q] + offset;
    return HW_OK;
}

/* Over peer: each rank fetches what is meant for it. */
static enum hw_status pull_all(struct hw_transport *transport, const hw_count *send_offset,
                               const hw_count *receive_offset, const hw_count *receive_bytes,
                               struct hw_error *err)
{
    const struct hw_context *ctx = transport->ctx;
    hw_count *from = NULL;
    enum hw_status status =
        hw_agree(ctx->world, hw_alloc(&from, ctx->size, sizeof *from, "offsets", err), err);

    if (status == HW_OK)
        status =
            hw_mpi(MPI_Alltoall(send_offset, 1, HW_MPI_COUNT, from, 1, HW_MPI_COUNT, ctx->world),
                   "MPI_Alltoall", err);
    for (int step = 0; step < ctx->size && status == HW_OK; step++) {
        int q = (ctx->rank + step) % ctx->size;
        if (receive_bytes[q] > 0)
            status =
                hw_cuda((int)cudaMemcpyAsync(transport->heap[ctx->rank] + receive_offset[q],
                                             transport->heap[q] + from[q], (size_t)receive_bytes[q],
                                             cudaMemcpyDefault, NULL),
                        "cudaMemcpyAsync", err);
    }
    free(from);
    if (status == HW_OK)
        status = hw_cuda((int)cudaStreamSynchronize(NULL), "cudaStreamSynchronize", err);
    return hw_agree(ctx->world, status, err);
}

enum hw_status hw_transport_exchange(struct hw_transport *transport, const hw_count *send_offset,
                                     const hw_count *send_bytes, const hw_count *receive_offset,
                                     const hw_count *receive_bytes, struct hw_error *err)
{
    enum hw_status status =
        hw_agree(transport->ctx->world,
                 hw_cuda((int)cudaStreamSynchronize(NULL), "cudaStreamSynchronize", err), err);

    if (status != HW_OK)
        return status;
    if (transport->kind == HW_TRANSPORT_PEER)
        return pull_all(transport, send_offset, receive_offset, receive_bytes, err);
    if (transport->kind == HW_TRANSPORT_NCCL)
        return hw_agree(transport->ctx->world,
                        hw_collective_exchange(transport->nccl,
                                               transport->heap[transport->ctx->rank], send_offset,
                                               send_bytes, receive_offset, receive_bytes, err),
                        err);
    return hw_staging_exchange(transport->staging, transport->heap[transport->ctx->rank],
                               send_offset, send_bytes, receive_offset, receive_bytes, err);
}

void hw_transport_close(struct hw_transport *transport)
{
    if (!transport->ctx)
        return;
    free_heaps(transport);
    if (!transport->borrowed) {
        hw_collective_close(transport->nccl);
        hw_staging_close(transport->staging);
    }
    *transport = (struct hw_transport){0};
}
