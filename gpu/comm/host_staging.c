#include "gpu/comm/host_staging.h"

#include "gpu/comm/peer_memory.h"
#include "gpu/device/device.h"
#include "lib/base/memory.h"
#include "lib/comm/direct_exchange.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>

/* Bytes of shared memory for a node: large messages are fast, but pinning takes long, and
 * containers often have 64 MiB in all. */
#define SHARED ((hw_count)32 << 20)

struct hw_host_staging {
    const struct hw_context *ctx;
    const struct hw_nodes *nodes;
    struct hw_node_aware *nodewise; /* NULL where there are no messages between nodes but direct */
    struct hw_direct_exchange *direct; /* NULL where all goes through the host */
    char **rooms;                      /* [ranks of the node] on their devices, by place, or NULL */
    void *pinned;                      /* the node's shared memory, or NULL */
    cudaStream_t stream[2];            /* by whether it goes out */
    bool busy[2];                      /* copies have begun that nobody has waited for */
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

/* Collective over the node. */
static void close_rooms(struct hw_host_staging *staging)
{
    if (!staging->rooms)
        return;
    hw_peer_memory_close(staging->nodes->inside, NULL, staging->rooms);
    cudaFree(staging->rooms[own_place(staging)]);
    free(staging->rooms);
    staging->rooms = NULL;
}

/* Rooms on the devices of a node. Collective; ranks agree. */
static enum hw_status open_rooms(void *given, hw_count bytes, char **at, struct hw_error *err)
{
    struct hw_host_staging *staging = given;
    const struct hw_nodes *nodes = staging->nodes;
    const struct hw_context *ctx = staging->ctx;
    const int ranks = hw_nodes_size(nodes, nodes->node[ctx->rank]);
    void *own = NULL;
    enum hw_status status =
        hw_alloc_zero(&staging->rooms, ranks, sizeof *staging->rooms, "addresses", err);

    if (status == HW_OK)
        status = hw_cuda((int)cudaMalloc(&own, (size_t)bytes), "cudaMalloc", err);
    status = hw_agree(ctx->world, status, err);
    if (status != HW_OK) {
        cudaFree(own);
        free(staging->rooms);
        staging->rooms = NULL;
        return status;
    }
    staging->rooms[own_place(staging)] = own;
    status =
        hw_agree(ctx->world, hw_peer_memory_open(nodes->inside, NULL, staging->rooms, err), err);
    for (int k = 0; k < ranks; k++)
        at[k] = staging->rooms[k];
    return status;
}

/* All but the streams. Collective over the node. */
static void close_ways(struct hw_host_staging *staging)
{
    if (staging->pinned)
        cudaHostUnregister(staging->pinned);
    staging->pinned = NULL;
    hw_node_aware_close(staging->nodewise);
    staging->nodewise = NULL;
    close_rooms(staging);
    hw_direct_exchange_close(staging->direct);
    staging->direct = NULL;
}

void hw_host_staging_close(struct hw_host_staging *staging)
{
    if (!staging)
        return;
    close_ways(staging);
    for (int way = 0; way < 2; way++)
        if (staging->stream[way])
            cudaStreamDestroy(staging->stream[way]);
    free(staging);
}

bool hw_host_staging_is_direct(const struct hw_host_staging *staging)
{
    return staging->direct != NULL;
}

/* Where memory that is shared cannot be pinned, copies are slower, and that is all. Local. */
static void pin(struct hw_host_staging *staging)
{
    size_t bytes = 0;
    void *shared = hw_node_aware_shared(staging->nodewise, &bytes);

    if (cudaHostRegister(shared, bytes, cudaHostRegisterPortable) == cudaSuccess)
        staging->pinned = shared;
    else
        (void)cudaGetLastError(); /* it would come back from the next launch */
}

/* Straight between devices. Collective; ranks agree. */
static enum hw_status open_direct(struct hw_host_staging *staging, struct hw_error *err)
{
    const struct hw_context *ctx = staging->ctx;
    const struct hw_nodes *nodes = staging->nodes;
    const struct hw_memory_ops mover = {
        .self = staging, .copy = copy, .wait = wait_for, .rooms = open_rooms};
    enum hw_status status = hw_direct_exchange_open(ctx, nodes, 0, &mover, &staging->direct, err);

    if (status == HW_OK && nodes->count > 1 && nodes->count < nodes->ranks)
        status = hw_node_aware_open(ctx, nodes, SHARED, &mover, &staging->nodewise, err);
    return status;
}

/* Through the hosts. Collective; ranks agree. */
static enum hw_status open_hosts(struct hw_host_staging *staging, struct hw_error *err)
{
    const struct hw_memory_ops mover = {.self = staging, .copy = copy, .wait = wait_for};
    enum hw_status status =
        hw_node_aware_open(staging->ctx, staging->nodes, SHARED, &mover, &staging->nodewise, err);

    if (status == HW_OK)
        pin(staging);
    return status;
}

static enum hw_status open_ways(struct hw_host_staging *staging, enum hw_mpi_buffers buffers,
                                struct hw_error *err)
{
    const struct hw_context *ctx = staging->ctx;
    const bool takes = hw_direct_exchange_takes_devices();

    if (buffers == HW_MPI_BUFFERS_HOST || !takes)
        return open_hosts(staging, err);
    enum hw_status status = open_direct(staging, err);
    if (status != HW_RESOURCES || buffers == HW_MPI_BUFFERS_DEVICE)
        return status;
    hw_note(ctx, "transport mpi through memory of the hosts: %s", err->text);
    close_ways(staging);
    return open_hosts(staging, err);
}

enum hw_status hw_host_staging_open(const struct hw_context *ctx, const struct hw_nodes *nodes,
                                    enum hw_mpi_buffers buffers, struct hw_host_staging **made,
                                    struct hw_error *err)
{
    struct hw_host_staging *staging = NULL;
    enum hw_status status = hw_alloc_zero(&staging, 1, sizeof *staging, "the transport", err);

    *made = staging; /* whose owner closes it */
    for (int way = 0; way < 2 && status == HW_OK; way++)
        status =
            hw_cuda((int)cudaStreamCreateWithFlags(&staging->stream[way], cudaStreamNonBlocking),
                    "cudaStreamCreateWithFlags", err);
    if (status == HW_OK) {
        staging->ctx = ctx;
        staging->nodes = nodes;
    }
    status = hw_agree(ctx->world, status, err);
    return status == HW_OK ? open_ways(staging, buffers, err) : status;
}

enum hw_status hw_host_staging_exchange(struct hw_host_staging *staging,
                                        const struct hw_node_aware_load *load, struct hw_error *err)
{
    return staging->nodewise ? hw_node_aware_exchange(staging->nodewise, load, err)
                             : hw_direct_exchange_run(staging->direct, load, err);
}

struct hw_internode_traffic hw_host_staging_internode_traffic(struct hw_host_staging *staging)
{
    return staging->nodewise ? hw_node_aware_internode_traffic(staging->nodewise)
                             : hw_direct_exchange_internode_traffic(staging->direct);
}

/* Through the hosts. Collective; ranks agree. */
static enum hw_status broadcast_pieces(struct hw_host_staging *staging, int q, const void *own,
                                       hw_count bytes, void *room, struct hw_error *err)
{
    const struct hw_context *ctx = staging->ctx;
    size_t size = 0;
    void *pinned = hw_node_aware_own(staging->nodewise, &size);
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
            status = hw_gpu_put((char *)room + at, pinned, (size_t)length, err);
        status = hw_agree(ctx->world, status, err);
    }
    return status;
}

enum hw_status hw_host_staging_broadcast(struct hw_host_staging *staging, int q, const void *own,
                                         hw_count bytes, void *room, struct hw_error *err)
{
    return staging->direct ? hw_direct_exchange_broadcast(staging->direct, q, own, bytes, room, err)
                           : broadcast_pieces(staging, q, own, bytes, room, err);
}
