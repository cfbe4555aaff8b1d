/* Exchanges of transport mpi (gpu/comm/host_staging.h). */
#include "gpu/comm/host_staging.h"

#include "gpu/comm/peer_memory.h"
#include "gpu/device/device.h"
#include "lib/base/memory.h"
#include "lib/comm/direct_exchange.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>

/* Bytes of shared memory for each node: a compromise, as large messages are fast, pinning is slow,
 * and containers often have 64 MiB of shared memory in all. */
#define SHARED_BYTES ((hw_count)32 << 20)

struct hw_host_staging {
    const struct hw_context *ctx;
    const struct hw_nodes *nodes;
    struct hw_node_aware *node_aware;  /* NULL if all messages are direct */
    struct hw_direct_exchange *direct; /* NULL if host-staged */
    char **device_buffers; /* [ranks of the node] on their devices, by place in the node; or NULL */
    void *pinned;          /* the node's shared memory if it is pinned, or NULL */
    cudaStream_t stream[2]; /* copies to (0) and out of (1) device memory */
    bool busy[2];           /* copies are in flight */
};

static enum hw_status copy(void *given, bool out, void *to, const void *from, size_t bytes,
                           struct hw_error *err)
{
    struct hw_host_staging *staging = given;

    staging->busy[out] = true;
    return hw_cuda((int)cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, staging->stream[out]),
                   "cudaMemcpyAsync", err);
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

/* Unmaps and frees the buffers on devices. Collective over the node. */
static void free_device_buffers(struct hw_host_staging *staging)
{
    if (!staging->device_buffers)
        return;
    hw_peer_memory_close(staging->nodes->inside, NULL, staging->device_buffers);
    cudaFree(staging->device_buffers[own_place(staging)]);
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
    const int ranks = hw_nodes_size(nodes, nodes->node[ctx->rank]);
    void *own = NULL;
    enum hw_status status = hw_alloc_zero(&staging->device_buffers, ranks,
                                          sizeof *staging->device_buffers, "addresses", err);

    if (status == HW_OK)
        status = hw_cuda((int)cudaMalloc(&own, (size_t)bytes), "cudaMalloc", err);
    status = hw_agree(ctx->world, status, err);
    if (status != HW_OK) {
        cudaFree(own);
        free(staging->device_buffers);
        staging->device_buffers = NULL;
        return status;
    }
    staging->device_buffers[own_place(staging)] = own;
    status = hw_agree(ctx->world,
                      hw_peer_memory_open(nodes->inside, NULL, staging->device_buffers, err), err);
    for (int k = 0; k < ranks; k++)
        at[k] = staging->device_buffers[k];
    return status;
}

/* Frees all but the streams. Collective over the node. */
static void close_exchanges(struct hw_host_staging *staging)
{
    if (staging->pinned)
        cudaHostUnregister(staging->pinned);
    staging->pinned = NULL;
    hw_node_aware_close(staging->node_aware);
    staging->node_aware = NULL;
    free_device_buffers(staging);
    hw_direct_exchange_close(staging->direct);
    staging->direct = NULL;
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
    return staging->direct != NULL;
}

/* Pins the shared memory. If that fails, copies are slower but still correct. Local. */
static void pin(struct hw_host_staging *staging)
{
    size_t bytes = 0;
    void *shared = hw_node_aware_shared(staging->node_aware, &bytes);

    if (cudaHostRegister(shared, bytes, cudaHostRegisterPortable) == cudaSuccess)
        staging->pinned = shared;
    else
        (void)cudaGetLastError(); /* clear it, or the next launch would return it */
}

/* Opens exchanges with device pointers. Collective; ranks agree. */
static enum hw_status open_direct(struct hw_host_staging *staging, struct hw_error *err)
{
    const struct hw_context *ctx = staging->ctx;
    const struct hw_nodes *nodes = staging->nodes;
    const struct hw_memory_ops memory_ops = {
        .self = staging, .copy = copy, .wait = wait_for, .allocate = allocate_device_buffers};
    enum hw_status status =
        hw_direct_exchange_open(ctx, nodes, 0, &memory_ops, &staging->direct, err);

    if (status == HW_OK && nodes->count > 1 && nodes->count < nodes->ranks)
        status =
            hw_node_aware_open(ctx, nodes, SHARED_BYTES, &memory_ops, &staging->node_aware, err);
    return status;
}

/* Opens host-staged exchanges. Collective; ranks agree. */
static enum hw_status open_host_staged(struct hw_host_staging *staging, struct hw_error *err)
{
    const struct hw_memory_ops memory_ops = {.self = staging, .copy = copy, .wait = wait_for};
    enum hw_status status = hw_node_aware_open(staging->ctx, staging->nodes, SHARED_BYTES,
                                               &memory_ops, &staging->node_aware, err);

    if (status == HW_OK)
        pin(staging);
    return status;
}

static enum hw_status open_exchanges(struct hw_host_staging *staging, enum hw_mpi_buffers buffers,
                                     struct hw_error *err)
{
    const struct hw_context *ctx = staging->ctx;
    const bool cuda_aware = hw_direct_exchange_takes_devices();

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
                                    enum hw_mpi_buffers buffers, struct hw_host_staging **made,
                                    struct hw_error *err)
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
    }
    status = hw_agree(ctx->world, status, err);
    return status == HW_OK ? open_exchanges(staging, buffers, err) : status;
}

enum hw_status hw_host_staging_exchange(struct hw_host_staging *staging,
                                        const struct hw_node_aware_load *load, struct hw_error *err)
{
    return staging->node_aware ? hw_node_aware_exchange(staging->node_aware, load, err)
                               : hw_direct_exchange_run(staging->direct, load, err);
}

struct hw_internode_traffic hw_host_staging_internode_traffic(struct hw_host_staging *staging)
{
    return staging->node_aware ? hw_node_aware_internode_traffic(staging->node_aware)
                               : hw_direct_exchange_internode_traffic(staging->direct);
}

/* A broadcast through the hosts, in pieces. Collective; ranks agree. */
static enum hw_status broadcast_host_staged(struct hw_host_staging *staging, int q, const void *own,
                                            hw_count bytes, void *to, struct hw_error *err)
{
    const struct hw_context *ctx = staging->ctx;
    size_t size = 0;
    void *pinned = hw_node_aware_own(staging->node_aware, &size);
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

enum hw_status hw_host_staging_broadcast(struct hw_host_staging *staging, int q, const void *own,
                                         hw_count bytes, void *to, struct hw_error *err)
{
    return staging->direct ? hw_direct_exchange_broadcast(staging->direct, q, own, bytes, to, err)
                           : broadcast_host_staged(staging, q, own, bytes, to, err);
}
