/* Buffers for updates to other ranks (gpu/comm/outbox.h). */
#include "gpu/comm/outbox.h"

#include "gpu/comm/allgather.h"

struct hw_outbox hw_outbox_reserve(const struct hw_transport *transport, hw_count capacity,
                                   hw_count *offset)
{
    const hw_count alignment = 256, ranks = transport->ctx->size;
    struct hw_outbox outbox;

    outbox.capacity = (capacity + alignment - 1) / alignment * alignment;
    outbox.recv_offset = (*offset + alignment - 1) / alignment * alignment;
    outbox.send_offset = outbox.recv_offset + ranks * outbox.capacity;
    *offset =
        transport->peer_access ? outbox.send_offset : outbox.send_offset + ranks * outbox.capacity;
    return outbox;
}

void *hw_outbox_send_buffer(const struct hw_transport *transport, const struct hw_outbox *outbox,
                            int q)
{
    const int rank = transport->ctx->rank;

    if (transport->peer_access)
        return transport->heap[q] + outbox->recv_offset + rank * outbox->capacity;
    return transport->heap[rank] + outbox->send_offset + q * outbox->capacity;
}

const void *hw_outbox_recv_buffer(const struct hw_transport *transport,
                                  const struct hw_outbox *outbox, int q)
{
    return transport->heap[transport->ctx->rank] + outbox->recv_offset + q * outbox->capacity;
}

/* Moves send buffers that begin at heap offset `send_offset`, `stride` bytes apart. Stride 0: one
 * buffer goes to all that receive any bytes. */
static enum hw_status move(struct hw_transport *transport, const struct hw_outbox *outbox,
                           hw_count send_offset, hw_count stride, const hw_count *sent,
                           const hw_count *received, struct hw_error *err)
{
    const int ranks = transport->ctx->size;
    hw_count from[HW_ALLGATHER_RANKS], to[HW_ALLGATHER_RANKS];

    if (transport->peer_access)
        return HW_OK;
    for (int q = 0; q < ranks; q++) {
        from[q] = send_offset + q * stride;
        to[q] = outbox->recv_offset + q * outbox->capacity;
    }
    return stride > 0 ? hw_transport_exchange(transport, from, sent, to, received, err)
                      : hw_transport_broadcast(transport, from, sent, to, received, err);
}

enum hw_status hw_outbox_deliver(struct hw_transport *transport, const struct hw_outbox *outbox,
                                 const hw_count *sent, const hw_count *received,
                                 struct hw_error *err)
{
    return move(transport, outbox, outbox->send_offset, outbox->capacity, sent, received, err);
}

enum hw_status hw_outbox_broadcast(struct hw_transport *transport, const struct hw_outbox *outbox,
                                   const hw_count *sent, const hw_count *received,
                                   struct hw_error *err)
{
    int first = 0;

    while (first < transport->ctx->size - 1 && sent[first] == 0)
        first++;
    return move(transport, outbox, outbox->send_offset + first * outbox->capacity, 0, sent,
                received, err);
}
