#include "transport.h"

#include "base/memory.h"
#include "comm/exchange.h"

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

/* Shows this rank's heap to the others and opens theirs. Collective; ranks agree. */
static enum hw_status share_heaps(struct hw_transport *transport, struct hw_error *err)
{
    const struct hw_context *ctx = transport->ctx;
    cudaIpcMemHandle_t own, *handles = NULL;

    memset(&own, 0, sizeof own);
    enum hw_status status = hw_cuda((int)cudaIpcGetMemHandle(&own, transport->heap[ctx->rank]),
                                    "cudaIpcGetMemHandle", err);
    if (status != HW_OK)
        (void)cudaGetLastError();
    if (status == HW_OK)
        status = hw_alloc(&handles, ctx->size, sizeof *handles, "handles", err);
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

enum hw_status hw_transport_heap(struct hw_transport *transport, hw_count bytes,
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
    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK && transport->kind == HW_TRANSPORT_PEER)
        status = share_heaps(transport, err);
    return status;
}

/* ---- choosing ---- */

/* Whether all ranks reach each other's memory, tried with a small heap. Collective; ranks
 * agree. */
static enum hw_status try_peer(struct hw_transport *transport, struct hw_error *err)
{
    const struct hw_context *ctx = transport->ctx;
    enum hw_status status = HW_OK;

    if (!ctx->one_node || ctx->node_size != ctx->size)
        status = hw_fail(err, HW_RESOURCES, "the ranks are on several nodes");
    status = hw_agree(ctx->world, status, err);
    if (status != HW_OK)
        return status;
    transport->kind = HW_TRANSPORT_PEER;
    status = hw_transport_heap(transport, PAGE, err);
    free_heaps(transport);
    return status;
}

enum hw_status hw_transport_open(const struct hw_context *ctx, enum hw_transport_kind asked,
                                 struct hw_transport *transport, struct hw_error *err)
{
    static const char hint[] = "where Slurm shows each rank one GPU alone, start with "
                               "--gpu-bind=none";

    *transport = (struct hw_transport){.kind = asked, .ctx = ctx};
    if (asked == HW_TRANSPORT_MPI)
        return HW_OK;
    if (asked == HW_TRANSPORT_NCCL)
        return hw_collective_open(ctx, &transport->nccl, err);
    enum hw_status status = try_peer(transport, err);
    if (status == HW_OK)
        return HW_OK;
    if (status != HW_RESOURCES)
        return status;
    if (asked == HW_TRANSPORT_PEER) {
        struct hw_error why = *err;
        return hw_fail(err, status, "--transport peer: %.700s; %s", why.text, hint);
    }
    hw_note(ctx, "transport mpi, much slower than peer: %s; %s", err->text, hint);
    transport->kind = HW_TRANSPORT_MPI;
    return HW_OK;
}

/* ---- moving ---- */

/* Room in pinned memory. Local. */
static enum hw_status pin(struct hw_transport *transport, int which, hw_count bytes,
                          struct hw_error *err)
{
    void **pinned = &transport->pinned[which];

    if ((size_t)bytes <= transport->pinned_bytes[which])
        return HW_OK;
    cudaFreeHost(*pinned);
    *pinned = NULL;
    transport->pinned_bytes[which] = 0;
    enum hw_status status = hw_cuda((int)cudaHostAlloc(pinned, (size_t)bytes, cudaHostAllocDefault),
                                    "cudaHostAlloc", err);
    if (status == HW_OK)
        transport->pinned_bytes[which] = (size_t)bytes;
    return status;
}

/* Copies a part of rank q's heap to all through the hosts, a piece at a time. */
static enum hw_status broadcast(struct hw_transport *transport, int q, hw_count offset,
                                hw_count bytes, char *room, struct hw_error *err)
{
    const struct hw_context *ctx = transport->ctx;
    const hw_count piece = (hw_count)64 << 20;
    char *own = transport->heap[ctx->rank] + offset;
    enum hw_status status =
        hw_agree(ctx->world, pin(transport, 0, bytes < piece ? bytes : piece, err), err);

    for (hw_count at = 0; at < bytes && status == HW_OK; at += piece) {
        hw_count length = bytes - at < piece ? bytes - at : piece;
        if (ctx->rank == q)
            status = hw_gpu_get(transport->pinned[0], own + at, (size_t)length, err);
        status = hw_agree(ctx->world, status, err);
        if (status == HW_OK)
            status = hw_mpi(MPI_Bcast(transport->pinned[0], (int)length, MPI_BYTE, q, ctx->world),
                            "MPI_Bcast", err);
        if (status == HW_OK)
            status = hw_gpu_put(room + at, transport->pinned[0], (size_t)length, err);
        status = hw_agree(ctx->world, status, err);
    }
    return status;
}

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
        return broadcast(transport, q, offset, bytes, room, err);
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

/* Copies between the heap and pinned memory, pieces one after another there. */
static enum hw_status stage(struct hw_transport *transport, int which, const hw_count *offset,
                            const hw_count *bytes, struct hw_error *err)
{
    const struct hw_context *ctx = transport->ctx;
    char *heap = transport->heap[ctx->rank], *pinned = transport->pinned[which];
    enum hw_status status = HW_OK;

    for (int q = 0; q < ctx->size && status == HW_OK; q++) {
        void *device = heap + offset[q];
        if (bytes[q] > 0)
            status = hw_cuda((int)cudaMemcpyAsync(
                                 which ? device : pinned, which ? pinned : device, (size_t)bytes[q],
                                 which ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost, NULL),
                             "cudaMemcpyAsync", err);
        pinned += bytes[q];
    }
    return status == HW_OK ? hw_cuda((int)cudaStreamSynchronize(NULL), "cudaStreamSynchronize", err)
                           : status;
}

static hw_count sum(const hw_count *count, int n)
{
    hw_count all = 0;

    for (int q = 0; q < n; q++)
        all += count[q];
    return all;
}

/* Over MPI: through pinned memory. */
static enum hw_status send_all(struct hw_transport *transport, const hw_count *send_offset,
                               const hw_count *send_bytes, const hw_count *receive_offset,
                               const hw_count *receive_bytes, struct hw_error *err)
{
    const struct hw_context *ctx = transport->ctx;
    enum hw_status status = pin(transport, 0, sum(send_bytes, ctx->size), err);

    if (status == HW_OK)
        status = pin(transport, 1, sum(receive_bytes, ctx->size), err);
    if (status == HW_OK)
        status = stage(transport, 0, send_offset, send_bytes, err);
    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK)
        status = hw_exchange_into(ctx->world, 1, transport->pinned[0], send_bytes,
                                  transport->pinned[1], receive_bytes, err);
    if (status == HW_OK)
        status = stage(transport, 1, receive_offset, receive_bytes, err);
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
    return send_all(transport, send_offset, send_bytes, receive_offset, receive_bytes, err);
}

void hw_transport_close(struct hw_transport *transport)
{
    if (!transport->ctx)
        return;
    free_heaps(transport);
    hw_collective_close(transport->nccl);
    for (int which = 0; which < 2; which++)
        cudaFreeHost(transport->pinned[which]);
    *transport = (struct hw_transport){0};
}
