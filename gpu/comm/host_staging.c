/* Exchanges of transports mpi and nvshmem (gpu/comm/host_staging.h). */
#include "gpu/comm/host_staging.h"

#include "gpu/comm/nvshmem/nvshmem_messages.h"
#include "gpu/comm/peer_memory.h"
#include "gpu/device/device.h"
#include "lib/base/memory.h"
#include "lib/comm/device_buffers.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>

/* Bytes of shared memory for each node: a compromise, as large messages are fast, pinning is slow,
 * and containers often have 64 MiB of shared memory in all. */
#define SHARED_BYTES ((hw_count)32 << 20)

struct hw_host_staging {
    const struct hw_context *ctx;
    const struct hw_nodes *nodes;
    struct hw_nvshmem *nvshmem;           /* or NULL */
    struct hw_nvshmem_messages *messages; /* with nvshmem */
    bool in_order;                        /* messages, and copies in their stream */
    struct hw_halo node_aware;            /* zeroed if all messages are direct */
    struct hw_halo direct;                /* zeroed if host-staged */
    struct hw_traffic traffic;            /* since hw_host_staging_internode_traffic() */
    char **device_buffers; /* [ranks of the node] on their devices, by place in the node; or NULL */
    void *pinned;          /* the node's shared memory if it is pinned, or NULL */
    cudaStream_t stream[2]; /* copies to (0) and out of (1) device memory */
    bool busy[2];           /* copies are in flight */
};

static enum hw_status copy(void *given, bool out, void *to, const void *from, size_t bytes,
                           struct hw_error *err)
{
    struct hw_host_staging *staging = given;

    cudaStream_t stream = staging->in_order
                              ? (cudaStream_t)hw_nvshmem_messages_stream(staging->messages)
                              : staging->stream[out];

    staging->busy[out] = true;
    return hw_cuda((int)cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream),
                   "cudaMemcpyAsync", err);
}

/* In order: for all copies. */
static enum hw_status wait_in_order(void *given, bool out, struct hw_error *err)
{
    struct hw_host_staging *staging = given;
    const bool busy = staging->busy[0] || staging->busy[1];

    (void)out;
    staging->busy[0] = staging->busy[1] = false;
    return busy ? hw_nvshmem_messages_wait(staging->messages, err) : HW_OK;
}

static enum hw_status wait_for(void *given, bool out, struct hw_error *err)
{
    struct hw_host_staging *staging = given;

    if (!staging->busy[out])
        return HW_OK;
    staging->busy[out] = false;
    return hw_cuda((int)cudaStreamSynchronize(staging->stream[out]), "cudaStreamSynchronize", err);
}

static int own_place(const struct hw_host_staging *staging)
{
    const struct hw_nodes *nodes = staging->nodes;
    const int me = staging->ctx->rank;

    return nodes->place[me] - nodes->first[nodes->node[me]];
}

/* How the ranks of a node map each other's buffers. */
static struct hw_peer_memory peer_memory(const struct hw_host_staging *staging)
{
    return (struct hw_peer_memory){.comm = staging->nodes->inside, .nvshmem = staging->nvshmem};
}

/* Unmaps and frees the buffers on devices. Collective over the node; with NVSHMEM, all ranks. */
static void free_device_buffers(struct hw_host_staging *staging)
{
    const struct hw_peer_memory memory = peer_memory(staging);

    if (!staging->device_buffers)
        return;
    hw_peer_memory_close(&memory, staging->device_buffers);
    hw_peer_memory_free(&memory, staging->device_buffers[own_place(staging)]);
    free(staging->device_buffers);
    staging->device_buffers = NULL;
}

/* Allocates a buffer on each device of a node and maps the others'. at: [ranks of the node].
 * Collective; ranks agree. */
static enum hw_status allocate_device_buffers(void *given, hw_count bytes, char **at,
                                              struct hw_error *err)
{
    struct hw_host_staging *staging = given;
    const struct hw_nodes *nodes = staging->nodes;
    const struct hw_context *ctx = staging->ctx;
    const struct hw_peer_memory memory = peer_memory(staging);
    const int ranks = hw_nodes_size(nodes, nodes->node[ctx->rank]);
    void *own = NULL;
    enum hw_status status = hw_alloc_zero(&staging->device_buffers, ranks,
                                          sizeof *staging->device_buffers, "addresses", err);

    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK)
        status = hw_peer_memory_allocate(&memory, bytes, &own, err);
    status = hw_agree(ctx->world, status, err);
    if (status != HW_OK) {
        hw_peer_memory_free(&memory, own);
        free(staging->device_buffers);
        staging->device_buffers = NULL;
        return status;
    }
    staging->device_buffers[own_place(staging)] = own;
    status = hw_agree(ctx->world, hw_peer_memory_open(&memory, staging->device_buffers, err), err);
    for (int k = 0; k < ranks; k++)
        at[k] = staging->device_buffers[k];
    return status;
}

/* Frees all but the streams. Collective over the node; with NVSHMEM, all ranks. */
static void close_exchanges(struct hw_host_staging *staging)
{
    if (staging->pinned)
        cudaHostUnregister(staging->pinned);
    staging->pinned = NULL;
    hw_halo_close(&staging->node_aware);
    free_device_buffers(staging);
    hw_halo_close(&staging->direct);
    hw_nvshmem_messages_close(staging->messages);
    staging->messages = NULL;
}

void hw_host_staging_close(struct hw_host_staging *staging)
{
    if (!staging)
        return;
    close_exchanges(staging);
    for (int out = 0; out < 2; out++)
        if (staging->stream[out])
            cudaStreamDestroy(staging->stream[out]);
    free(staging);
}

bool hw_host_staging_is_direct(const struct hw_host_staging *staging)
{
    return staging->direct.ranks > 0;
}

/* Pins the shared memory. If that fails, copies are slower but still correct. Local. */
static void pin(struct hw_host_staging *staging)
{
    size_t bytes = 0;
    void *shared = hw_halo_shared_memory(&staging->node_aware, &bytes);

    if (cudaHostRegister(shared, bytes, cudaHostRegisterPortable) == cudaSuccess)
        staging->pinned = shared;
    else
        (void)cudaGetLastError(); /* clear it, or the next launch would return it */
}

/* Opens node-aware exchanges. Collective; ranks agree. */
static enum hw_status open_node_aware(struct hw_host_staging *staging,
                                      const struct hw_memory_ops *memory_ops, struct hw_error *err)
{
    const struct hw_halo_setup setup = {.kind = HW_HALO_NODE_AWARE,
                                        .comm = staging->ctx->world,
                                        .ctx = staging->ctx,
                                        .nodes = staging->nodes,
                                        .ops = memory_ops,
                                        .shared_bytes = SHARED_BYTES};

    return hw_halo_open(&staging->node_aware, &setup, err);
}

/* Opens exchanges with device pointers. Collective; ranks agree. */
static enum hw_status open_direct(struct hw_host_staging *staging, struct hw_error *err)
{
    const struct hw_context *ctx = staging->ctx;
    const struct hw_nodes *nodes = staging->nodes;
    const struct hw_memory_ops memory_ops = {
        .self = staging, .copy = copy, .wait = wait_for, .allocate = allocate_device_buffers};
    const struct hw_halo_setup setup = {
        .kind = HW_HALO_POINT_TO_POINT, .comm = ctx->world, .nodes = nodes, .ops = &memory_ops};

    HW_TRY_ALL(ctx, hw_halo_open(&staging->direct, &setup, err), err);
    if (nodes->count > 1 && nodes->count < nodes->ranks)
        return open_node_aware(staging, &memory_ops, err);
    return HW_OK;
}

/* Opens host-staged exchanges. Collective; ranks agree. */
static enum hw_status open_host_staged(struct hw_host_staging *staging, struct hw_error *err)
{
    const struct hw_memory_ops memory_ops = {.self = staging, .copy = copy, .wait = wait_for};

    HW_TRY(open_node_aware(staging, &memory_ops, err));
    pin(staging);
    return HW_OK;
}

/* Opens node-aware exchanges over NVSHMEM. Collective; ranks agree. */
static enum hw_status open_over_nvshmem(struct hw_host_staging *staging, struct hw_error *err)
{
    const bool in_order = staging->nodes->count == staging->nodes->ranks;

    HW_TRY(hw_nvshmem_messages_open(staging->nvshmem, in_order, &staging->messages, err));
    staging->in_order = in_order;
    const struct hw_memory_ops memory_ops = {.self = staging,
                                             .copy = copy,
                                             .wait = in_order ? wait_in_order : wait_for,
                                             .allocate = allocate_device_buffers,
                                             .messages = hw_nvshmem_message_ops(staging->messages),
                                             .in_order = in_order};

    return open_node_aware(staging, &memory_ops, err);
}

static enum hw_status open_exchanges(struct hw_host_staging *staging, enum hw_mpi_buffers buffers,
                                     struct hw_error *err)
{
    const struct hw_context *ctx = staging->ctx;
    const bool cuda_aware = hw_mpi_takes_device_pointers();

    if (staging->nvshmem)
        return open_over_nvshmem(staging, err);
    if (buffers == HW_MPI_BUFFERS_HOST || !cuda_aware)
        return open_host_staged(staging, err);
    enum hw_status status = open_direct(staging, err);
    if (status != HW_RESOURCES || buffers == HW_MPI_BUFFERS_DEVICE)
        return status;
    hw_note(ctx, "transport mpi through memory of the hosts: %s", err->text);
    close_exchanges(staging);
    return open_host_staged(staging, err);
}

enum hw_status hw_host_staging_open(const struct hw_context *ctx, const struct hw_nodes *nodes,
                                    enum hw_mpi_buffers buffers, struct hw_nvshmem *nvshmem,
                                    struct hw_host_staging **made, struct hw_error *err)
{
    struct hw_host_staging *staging = NULL;
    enum hw_status status = hw_alloc_zero(&staging, 1, sizeof *staging, "the transport", err);

    *made = staging; /* the caller closes it after a failure too */
    for (int out = 0; out < 2 && status == HW_OK; out++)
        status =
            hw_cuda((int)cudaStreamCreateWithFlags(&staging->stream[out], cudaStreamNonBlocking),
                    "cudaStreamCreateWithFlags", err);
    if (status == HW_OK) {
        staging->ctx = ctx;
        staging->nodes = nodes;
        staging->nvshmem = nvshmem;
    }
    status = hw_agree(ctx->world, status, err);
    return status == HW_OK ? open_exchanges(staging, buffers, err) : status;
}

enum hw_status hw_host_staging_exchange(struct hw_host_staging *staging,
                                        const struct hw_host_staging_load *load,
                                        struct hw_error *err)
{
    struct hw_halo *halo = staging->node_aware.ranks > 0 ? &staging->node_aware : &staging->direct;
    const struct hw_halo_options options = {.same = load->same,
                                            .base_of = load->base_of,
                                            .base = load->base,
                                            .status = load->status,
                                            .agree = true};

    for (int q = 0; q < halo->ranks; q++)
        halo->message[q] = (struct hw_halo_message){.out = load->base + load->send_offset[q],
                                                    .in = load->base + load->receive_offset[q],
                                                    .out_bytes = load->send_bytes[q],
                                                    .in_bytes = load->receive_bytes[q]};
    return hw_halo_exchange(halo, &options, &staging->traffic, err);
}

struct hw_internode_traffic hw_host_staging_internode_traffic(struct hw_host_staging *staging)
{
    const struct hw_internode_traffic internode = staging->traffic.internode;

    staging->traffic = (struct hw_traffic){0};
    return internode;
}

/* A broadcast through the hosts, in pieces. Collective; ranks agree. */
static enum hw_status broadcast_host_staged(struct hw_host_staging *staging, int q, const void *own,
                                            hw_count bytes, void *to, struct hw_error *err)
{
    const struct hw_context *ctx = staging->ctx;
    size_t size = 0;
    void *pinned = hw_halo_own_buffer(&staging->node_aware, &size);
    const hw_count piece = (hw_count)size;
    enum hw_status status = HW_OK;

    for (hw_count at = 0; at < bytes && status == HW_OK; at += piece) {
        hw_count length = bytes - at < piece ? bytes - at : piece;
        if (ctx->rank == q)
            status = hw_gpu_get(pinned, (const char *)own + at, (size_t)length, err);
        status = hw_agree(ctx->world, status, err);
        if (status == HW_OK)
            status =
                hw_mpi(MPI_Bcast(pinned, (int)length, MPI_BYTE, q, ctx->world), "MPI_Bcast", err);
        if (status == HW_OK)
            status = hw_gpu_put((char *)to + at, pinned, (size_t)length, err);
        status = hw_agree(ctx->world, status, err);
    }
    return status;
}

/* A broadcast as an exchange in which one rank sends. Collective; ranks agree. */
static enum hw_status broadcast_over_nvshmem(struct hw_host_staging *staging, int q,
                                             const void *own, hw_count bytes, void *to,
                                             struct hw_error *err)
{
    const struct hw_halo_options options = {.same = true};
    struct hw_halo *halo = &staging->node_aware;
    struct hw_traffic uncounted = {0};
    const bool root = staging->ctx->rank == q;

    for (int r = 0; r < halo->ranks; r++)
        halo->message[r] = (struct hw_halo_message){
            .out = own, .in = to, .out_bytes = root ? bytes : 0, .in_bytes = r == q ? bytes : 0};
    return hw_halo_exchange(halo, &options, &uncounted, err);
}

enum hw_status hw_host_staging_broadcast(struct hw_host_staging *staging, int q, const void *own,
                                         hw_count bytes, void *to, struct hw_error *err)
{
    if (staging->nvshmem)
        return broadcast_over_nvshmem(staging, q, own, bytes, to, err);
    return staging->direct.ranks > 0 ? hw_halo_broadcast(&staging->direct, q, own, bytes, to, err)
                                     : broadcast_host_staged(staging, q, own, bytes, to, err);
}
