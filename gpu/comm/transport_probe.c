/* A transport between GPUs under test (lib/comm/probe/link_probe.h): messages are exchanges, and
 * puts are copies into the peer's heap. */
#include "gpu/comm/transport.h"
#include "gpu/hopwave_gpu.h"
#include "lib/base/memory.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>

/* Offsets in the heap. */
#define SEND ((hw_count)0)
#define RECEIVE HW_LINK_BYTES

struct device_link {
    const struct hw_context *ctx;
    struct hw_transport transport;
    hw_count *send_at, *receive_at;       /* [ranks] */
    hw_count *send_bytes, *receive_bytes; /* [ranks], zeros between messages */
    unsigned char *host;                  /* [HW_LINK_BYTES] */
};

static enum hw_status device_message(void *self, int from, int to, bool both, hw_count bytes,
                                     struct hw_error *err)
{
    struct device_link *link = self;
    const int rank = link->ctx->rank, other = rank == from ? to : from;

    if (rank == from || (both && rank == to))
        link->send_bytes[other] = bytes;
    if (rank == to || (both && rank == from))
        link->receive_bytes[other] = bytes;
    enum hw_status status = hw_transport_exchange(&link->transport, link->send_at, link->send_bytes,
                                                  link->receive_at, link->receive_bytes, err);
    link->send_bytes[other] = link->receive_bytes[other] = 0;
    return status;
}

static enum hw_status device_put(void *self, int from, int to, hw_count bytes, struct hw_error *err)
{
    const struct device_link *link = self;
    char **heap = link->transport.heap;

    if (link->ctx->rank != from)
        return HW_OK;
    HW_TRY(hw_gpu_copy(heap[to] + RECEIVE, heap[from] + SEND, (size_t)bytes, err));
    return hw_cuda((int)cudaStreamSynchronize(NULL), "cudaStreamSynchronize", err);
}

static enum hw_status device_fill(void *self, int send, int receive, struct hw_error *err)
{
    const struct device_link *link = self;
    char *heap = link->transport.heap[link->ctx->rank];

    HW_TRY(hw_gpu_fill(heap + SEND, send, (size_t)HW_LINK_BYTES, err));
    HW_TRY(hw_gpu_fill(heap + RECEIVE, receive, (size_t)HW_LINK_BYTES, err));
    return hw_cuda((int)cudaStreamSynchronize(NULL), "cudaStreamSynchronize", err);
}

static enum hw_status device_check(void *self, int byte, bool *same, struct hw_error *err)
{
    const struct device_link *link = self;
    const char *heap = link->transport.heap[link->ctx->rank];

    HW_TRY(hw_gpu_get(link->host, heap + RECEIVE, (size_t)HW_LINK_BYTES, err));
    *same = true;
    for (hw_count b = 0; b < HW_LINK_BYTES && *same; b++)
        *same = link->host[b] == byte;
    return HW_OK;
}

static void device_close(void *self)
{
    struct device_link *link = self;

    if (!link)
        return;
    hw_transport_close(&link->transport);
    free(link->send_at);
    free(link->receive_at);
    free(link->send_bytes);
    free(link->receive_bytes);
    free(link->host);
    free(link);
}

static enum hw_status allocate(struct device_link *link, struct hw_error *err)
{
    const hw_count ranks = link->ctx->size;

    HW_TRY(hw_alloc_zero(&link->send_at, ranks, sizeof *link->send_at, "the probe", err));
    HW_TRY(hw_alloc_zero(&link->receive_at, ranks, sizeof *link->receive_at, "the probe", err));
    HW_TRY(hw_alloc_zero(&link->send_bytes, ranks, sizeof *link->send_bytes, "the probe", err));
    HW_TRY(
        hw_alloc_zero(&link->receive_bytes, ranks, sizeof *link->receive_bytes, "the probe", err));
    HW_TRY(hw_alloc(&link->host, HW_LINK_BYTES, 1, "the probe", err));
    for (hw_count q = 0; q < ranks; q++) {
        link->send_at[q] = SEND;
        link->receive_at[q] = RECEIVE;
    }
    HW_TRY(hw_gpu_ready(err));
    return hw_gpu_open(link->ctx, err);
}

enum hw_status hw_gpu_link_open(const struct hw_context *ctx, enum hw_transport_kind kind,
                                enum hw_mpi_buffers buffers, int ranks_per_node,
                                struct hw_link *probe, struct hw_error *err)
{
    static const struct hw_link_ops messages = {.message = device_message,
                                                .fill = device_fill,
                                                .check = device_check,
                                                .close = device_close};
    static const struct hw_link_ops puts = {.message = device_message,
                                            .put = device_put,
                                            .fill = device_fill,
                                            .check = device_check,
                                            .close = device_close};
    struct device_link *link = NULL;
    enum hw_status status = hw_alloc_zero(&link, 1, sizeof *link, "the probe", err);

    HW_TRY(hw_agree(ctx->world, status, err));
    *probe = (struct hw_link){.ops = &messages, .self = link, .transport = "none"};
    link->ctx = ctx;
    HW_TRY(hw_agree(ctx->world, allocate(link, err), err));
    HW_TRY(hw_transport_open(ctx, kind, buffers, ranks_per_node, &link->transport, err));
    probe->transport = hw_transport_name(&link->transport);
    if (link->transport.peer_access)
        probe->ops = &puts;
    return hw_transport_heap(&link->transport, RECEIVE + HW_LINK_BYTES, err);
}
