/* Transports between GPUs (gpu/comm/transport.h). */
#include "gpu/comm/transport.h"

#include "gpu/comm/peer_memory.h"
#include "lib/base/memory.h"
#include "lib/comm/device_buffers.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>

/* Heaps are whole device pages: CUDA IPC maps pages, and none may hold other memory. */
#define PAGE ((hw_count)2 << 20)

const char *hw_transport_name(const struct hw_transport *transport)
{
    static const char *const names[] = {"auto", "mpi", "peer", "nccl", "nvshmem"};

    return names[transport->kind];
}

bool hw_transport_is_node_aware(const struct hw_transport *transport)
{
    const struct hw_nodes *nodes = &transport->nodes;

    if (transport->kind == HW_TRANSPORT_SHMEM)
        return !transport->peer_access;
    return transport->kind == HW_TRANSPORT_MPI && nodes->count > 1 && nodes->count < nodes->ranks;
}

/* ---- heaps ---- */

/* The ranks of this rank's node, in order. */
static const int *own_node(const struct hw_transport *transport)
{
    const struct hw_nodes *nodes = &transport->nodes;

    return nodes->by_node + nodes->first[nodes->node[transport->ctx->rank]];
}

/* How heaps are allocated, and by which ranks they are mapped. */
static struct hw_peer_memory peer_memory(const struct hw_transport *transport)
{
    struct hw_peer_memory memory = {.comm = transport->ctx->world, .nvshmem = transport->nvshmem};

    if (transport->peer_access || !transport->nodes.node)
        return memory;
    memory.comm = transport->nodes.inside;
    memory.which = own_node(transport);
    return memory;
}

/* Unmaps the other ranks' heaps and frees this one's. Collective if heaps are mapped, or NVSHMEM's.
 */
static void free_heaps(struct hw_transport *transport)
{
    const struct hw_peer_memory memory = peer_memory(transport);

    if (transport->peer_access || transport->node_heaps_open)
        hw_peer_memory_close(&memory, transport->heap);
    transport->node_heaps_open = false;
    if (transport->heap)
        hw_peer_memory_free(&memory, transport->heap[transport->ctx->rank]);
    free(transport->heap);
    transport->heap = NULL;
    transport->heap_bytes = 0;
}

/* Maps the heaps of this rank's node if there are several nodes, so that its ranks copy from each
 * other without the host. If they cannot be mapped, they exchange through the host. Collective;
 * ranks agree. */
static enum hw_status open_node_heaps(struct hw_transport *transport, struct hw_error *err)
{
    const struct hw_peer_memory memory = peer_memory(transport);

    if (!hw_transport_is_node_aware(transport))
        return HW_OK;
    enum hw_status status = hw_peer_memory_open(&memory, transport->heap, err);
    transport->node_heaps_open = status == HW_OK;
    return hw_agree(transport->ctx->world, status == HW_RESOURCES ? HW_OK : status, err);
}

/* This rank's heap, zeroed. Collective; ranks agree. */
static enum hw_status allocate_heap(struct hw_transport *transport, hw_count bytes,
                                    struct hw_error *err)
{
    const struct hw_context *ctx = transport->ctx;
    const struct hw_peer_memory peers = peer_memory(transport);
    void *memory = NULL;

    bytes = (bytes + PAGE - 1) / PAGE * PAGE;
    enum hw_status status = hw_alloc_zero(&transport->heap, ctx->size, sizeof *transport->heap,
                                          "addresses of heaps", err);
    if (transport->nvshmem)
        status = hw_agree(ctx->world, status, err);
    if (status == HW_OK)
        status = hw_peer_memory_allocate(&peers, bytes, &memory, err);
    if (status == HW_OK) {
        transport->heap[ctx->rank] = memory;
        transport->heap_bytes = bytes;
        status = hw_gpu_fill(memory, 0, (size_t)bytes, err);
    }
    if (status == HW_OK)
        status = hw_cuda((int)cudaDeviceSynchronize(), "cudaMemset", err);
    return hw_agree(ctx->world, status, err);
}

/* MPI connects two ranks at their first message: exchanges zeros (heaps are zeroed), so that no
 * timed search pays for it. Collective; ranks agree. */
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
    /* At least a page: warm_up() sends one. */
    enum hw_status status = allocate_heap(transport, bytes > 0 ? bytes : PAGE, err);

    if (status == HW_OK && transport->peer_access) {
        const struct hw_peer_memory memory = peer_memory(transport);
        return hw_peer_memory_open(&memory, transport->heap, err);
    }
    if (status == HW_OK)
        status = open_node_heaps(transport, err);
    return status == HW_OK ? warm_up(transport, err) : status;
}

/* ---- selection ---- */

/* Whether all ranks are on one node, whatever nodes the layout has. The same on all ranks. */
static bool on_one_node(const struct hw_context *ctx)
{
    return ctx->one_node && ctx->node_size == ctx->size;
}

/* *works: whether all ranks can map each other's memory, by a test with a small heap; if not, err
 * has the reason. Sets peer_access. Collective; ranks agree. */
static enum hw_status try_heaps(struct hw_transport *transport, bool *works, struct hw_error *err)
{
    transport->peer_access = true;
    enum hw_status status = allocate_heap(transport, PAGE, err);
    if (status == HW_OK) {
        const struct hw_peer_memory memory = peer_memory(transport);
        status = hw_peer_memory_open(&memory, transport->heap, err);
        *works = status == HW_OK;
        status = status == HW_RESOURCES ? HW_OK : status;
    }
    free_heaps(transport);
    transport->peer_access = *works;
    return status;
}

/* The same for transport peer. Collective; ranks agree. */
static enum hw_status try_peer(struct hw_transport *transport, bool *works, struct hw_error *err)
{
    *works = false;
    if (!on_one_node(transport->ctx)) {
        (void)hw_fail(err, HW_RESOURCES, "the ranks are on several nodes");
        return HW_OK;
    }
    transport->kind = HW_TRANSPORT_PEER;
    return try_heaps(transport, works, err);
}

/* Advice if ranks of one node cannot map each other's memory. Local. */
static const char *hint(const struct hw_context *ctx)
{
    int devices = 0;

    if (ctx->node_size < ctx->size || cudaGetDeviceCount(&devices) != cudaSuccess ||
        devices >= ctx->node_size)
        return "";
    return "; where Slurm shows each rank one GPU alone, start with --gpu-bind=none";
}

/* Opens mpi. Collective; ranks agree. */
static enum hw_status open_staging(struct hw_transport *transport, enum hw_mpi_buffers buffers,
                                   struct hw_error *err)
{
    transport->kind = HW_TRANSPORT_MPI;
    enum hw_status status = hw_host_staging_open(transport->ctx, &transport->nodes, buffers, NULL,
                                                 &transport->staging, err);

    transport->direct = status == HW_OK && hw_host_staging_is_direct(transport->staging);
    return status;
}

/* Opens nvshmem: where devices map all heaps, for kernels that address them; between nodes, those
 * of the layout included, for messages. Collective; ranks agree. */
static enum hw_status open_nvshmem(struct hw_transport *transport, struct hw_error *err)
{
    const struct hw_context *ctx = transport->ctx;
    bool works = false;

    HW_TRY(hw_nvshmem_open(ctx, &transport->nvshmem, err));
    if (on_one_node(ctx))
        HW_TRY(try_heaps(transport, &works, err));
    if (works)
        return HW_OK;
    if (transport->nodes.count == 1)
        return HW_RESOURCES; /* try_heaps() has said why */
    HW_TRY(hw_host_staging_open(ctx, &transport->nodes, HW_MPI_BUFFERS_DEVICE, transport->nvshmem,
                                &transport->staging, err));
    HW_TRY(hw_nvshmem_kernels_open(transport->nvshmem, &transport->nodes, err));
    transport->kernels_put = !transport->nvshmem->kernels.why_not;
    return HW_OK;
}

/* Opens peer, or mpi if that is AUTO's choice. Collective; ranks agree. */
static enum hw_status open_peer(struct hw_transport *transport, enum hw_mpi_buffers buffers,
                                struct hw_error *err)
{
    const struct hw_context *ctx = transport->ctx;
    const bool asked = transport->kind == HW_TRANSPORT_PEER;
    bool works = false;
    enum hw_status status = try_peer(transport, &works, err);

    if (status != HW_OK || works)
        return status;
    if (asked) {
        struct hw_error why = *err;
        return hw_fail(err, HW_RESOURCES, "--transport peer: %.700s%s", why.text,
                       transport->nodes.count > 1 ? "" : hint(ctx));
    }
    if (transport->nodes.count > 1)
        hw_note(ctx, "transport mpi between %d nodes", transport->nodes.count);
    else
        hw_note(ctx, "transport mpi, much slower than peer: %s%s", err->text, hint(ctx));
    return open_staging(transport, buffers, err);
}

enum hw_status hw_transport_open(const struct hw_context *ctx, enum hw_transport_kind asked,
                                 enum hw_mpi_buffers buffers, int ranks_per_node,
                                 struct hw_transport *transport, struct hw_error *err)
{
    int used = 0;
    bool shared = false;

    *transport = (struct hw_transport){.kind = asked,
                                       .ctx = ctx,
                                       .direct = buffers != HW_MPI_BUFFERS_HOST &&
                                                 hw_mpi_takes_device_pointers()};
    enum hw_status status = hw_nodes_open(ctx, ranks_per_node, &transport->nodes, err);
    if (status == HW_OK)
        status = hw_gpu_devices(ctx, &used, &shared, err);
    if (status == HW_OK && buffers == HW_MPI_BUFFERS_DEVICE)
        status = hw_mpi_require_device_pointers(err);
    if (status != HW_OK)
        return status;
    if (shared && (asked == HW_TRANSPORT_NCCL || asked == HW_TRANSPORT_SHMEM))
        return hw_fail(err, HW_RESOURCES,
                       "--transport %s needs a GPU for each rank, and ranks share GPUs here; use "
                       "auto, peer or mpi",
                       hw_transport_name(transport));
    if (shared && asked == HW_TRANSPORT_AUTO)
        transport->kind = HW_TRANSPORT_MPI;
    if (shared)
        hw_note(ctx, "%d ranks share %d GPU%s%s", ctx->node_size, used, used == 1 ? "" : "s",
                asked != HW_TRANSPORT_AUTO
                    ? ""
                    : "; transport mpi is used, whose kernels do not wait for other ranks");
    if (transport->kind == HW_TRANSPORT_MPI)
        return open_staging(transport, buffers, err);
    if (transport->kind == HW_TRANSPORT_NCCL)
        return hw_nccl_open(ctx, &transport->nccl, err);
    if (transport->kind == HW_TRANSPORT_SHMEM)
        return open_nvshmem(transport, err);
    return open_peer(transport, buffers, err);
}

void hw_transport_borrow(const struct hw_transport *from, struct hw_transport *transport)
{
    *transport = (struct hw_transport){.kind = from->kind,
                                       .ctx = from->ctx,
                                       .nodes = from->nodes,
                                       .staging = from->staging,
                                       .nccl = from->nccl,
                                       .nvshmem = from->nvshmem,
                                       .kernels_put = from->kernels_put,
                                       .peer_access = from->peer_access,
                                       .direct = from->direct,
                                       .borrowed = true};
}

/* ---- exchanges ---- */

enum hw_status hw_transport_fetch(struct hw_transport *transport, int q, hw_count offset,
                                  hw_count bytes, void *buffer, const void **at,
                                  struct hw_error *err)
{
    const struct hw_context *ctx = transport->ctx;
    enum hw_status status = hw_cuda((int)cudaDeviceSynchronize(), "cudaDeviceSynchronize", err);

    *at = buffer;
    status = hw_agree(ctx->world, status, err);
    if (status != HW_OK)
        return status;
    if (transport->kind == HW_TRANSPORT_NCCL)
        return hw_agree(ctx->world,
                        hw_nccl_broadcast(transport->nccl, q, transport->heap[ctx->rank] + offset,
                                          buffer, bytes, err),
                        err);
    if (!transport->peer_access)
        return hw_host_staging_broadcast(transport->staging, q, transport->heap[ctx->rank] + offset,
                                         bytes, buffer, err);
    *at = transport->heap[q] + offset;
    return HW_OK;
}

/* With peer access: each rank copies the bytes for it out of the others' heaps. Collective; ranks
 * agree.
 */
static enum hw_status copy_from_peers(struct hw_transport *transport, const hw_count *send_offset,
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

/* Over nccl, and counts internode traffic. Collective; ranks agree. */
static enum hw_status exchange_nccl(struct hw_transport *transport, const hw_count *send_offset,
                                    const hw_count *send_bytes, const hw_count *receive_offset,
                                    const hw_count *receive_bytes, struct hw_error *err)
{
    const struct hw_context *ctx = transport->ctx;
    const int *node = transport->nodes.node;

    for (int q = 0; q < ctx->size; q++) {
        const bool internode = node[q] != node[ctx->rank] && send_bytes[q] > 0;
        transport->internode.bytes += internode ? send_bytes[q] : 0;
        transport->internode.messages += internode;
    }
    return hw_agree(ctx->world,
                    hw_nccl_exchange(transport->nccl, transport->heap[ctx->rank], send_offset,
                                     send_bytes, receive_offset, receive_bytes, err),
                    err);
}

/* An exchange; same: as hw_transport_broadcast(). Collective; ranks agree. */
static enum hw_status exchange(struct hw_transport *transport, const hw_count *send_offset,
                               const hw_count *send_bytes, const hw_count *receive_offset,
                               const hw_count *receive_bytes, bool same, struct hw_error *err)
{
    struct hw_host_staging_load load = {.base = transport->heap[transport->ctx->rank],
                                        .send_offset = send_offset,
                                        .send_bytes = send_bytes,
                                        .receive_offset = receive_offset,
                                        .receive_bytes = receive_bytes,
                                        .same = same,
                                        .base_of =
                                            transport->node_heaps_open ? transport->heap : NULL};
    enum hw_status status = transport->deferred_error;

    transport->deferred_error = HW_OK;
    if (status == HW_OK)
        status = hw_cuda((int)cudaStreamSynchronize(NULL), "cudaStreamSynchronize", err);
    if (transport->staging) {
        /* A rank that failed still takes part, with its status: the others would wait for it. */
        load.status = status;
        return hw_host_staging_exchange(transport->staging, &load, err);
    }
    status = hw_agree(transport->ctx->world, status, err);
    if (status != HW_OK)
        return status;
    if (transport->peer_access)
        return copy_from_peers(transport, send_offset, receive_offset, receive_bytes, err);
    return exchange_nccl(transport, send_offset, send_bytes, receive_offset, receive_bytes, err);
}

enum hw_status hw_transport_exchange(struct hw_transport *transport, const hw_count *send_offset,
                                     const hw_count *send_bytes, const hw_count *receive_offset,
                                     const hw_count *receive_bytes, struct hw_error *err)
{
    return exchange(transport, send_offset, send_bytes, receive_offset, receive_bytes, false, err);
}

enum hw_status hw_transport_broadcast(struct hw_transport *transport, const hw_count *send_offset,
                                      const hw_count *send_bytes, const hw_count *receive_offset,
                                      const hw_count *receive_bytes, struct hw_error *err)
{
    return exchange(transport, send_offset, send_bytes, receive_offset, receive_bytes, true, err);
}

void hw_transport_defer_error(struct hw_transport *transport, enum hw_status status)
{
    if (transport->deferred_error == HW_OK)
        transport->deferred_error = status;
}

struct hw_internode_traffic hw_transport_internode_traffic(struct hw_transport *transport)
{
    const struct hw_internode_traffic traffic =
        transport->staging ? hw_host_staging_internode_traffic(transport->staging)
                           : transport->internode;

    transport->internode = (struct hw_internode_traffic){0};
    return traffic;
}

void hw_transport_close(struct hw_transport *transport)
{
    if (!transport->ctx)
        return;
    free_heaps(transport);
    if (!transport->borrowed) {
        hw_nccl_close(transport->nccl);
        hw_host_staging_close(transport->staging);
        hw_nvshmem_close(transport->nvshmem);
        hw_nodes_free(&transport->nodes);
    }
    *transport = (struct hw_transport){0};
}
