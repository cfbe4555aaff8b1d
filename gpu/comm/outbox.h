/*
 * Outboxes: buffers in the heaps of a transport, one for each pair of ranks, for the updates that
 * kernels leave for other ranks.
 *
 * Over `peer` kernels write straight into the receiver's heap, and the all-gather that follows
 * (gpu/comm/allgather.h), a barrier, makes the buffers readable there. Over other transports they
 * write into a send buffer of this rank's heap, and hw_outbox_deliver() moves it.
 */
#ifndef HOPWAVE_GPU_COMM_OUTBOX_H
#define HOPWAVE_GPU_COMM_OUTBOX_H

#include "gpu/comm/transport.h"

/* Offsets of the buffers in every heap: `capacity` bytes received from each rank and, except over
 * peer, as many to send to each. All are multiples of 256. */
struct hw_outbox {
    hw_count recv_offset, send_offset, capacity;
};

/* Reserves buffers of at least `capacity` bytes in the heaps at *offset and advances *offset past
 * them. Local. */
struct hw_outbox hw_outbox_reserve(const struct hw_transport *transport, hw_count capacity,
                                   hw_count *offset);

/* The buffer that this device's kernels write for rank q, and the one that holds what rank q sent.
 * Local. */
void *hw_outbox_send_buffer(const struct hw_transport *transport, const struct hw_outbox *outbox,
                            int q);
const void *hw_outbox_recv_buffer(const struct hw_transport *transport,
                                  const struct hw_outbox *outbox, int q);

/*
 * Moves the first sent[q] bytes of each send buffer to rank q, and received[q] bytes from it, on
 * the default stream; complete on return. Does nothing over peer, where the all-gather before it
 * has made the buffers readable. A buffer may be written again after the next all-gather. sent,
 * received: [ranks]. Collective; ranks agree.
 */
enum hw_status hw_outbox_deliver(struct hw_transport *transport, const struct hw_outbox *outbox,
                                 const hw_count *sent, const hw_count *received,
                                 struct hw_error *err);

/* The same where all send buffers that are not empty hold the same bytes: over mpi one copy goes to
 * each node. Collective; ranks agree. */
enum hw_status hw_outbox_broadcast(struct hw_transport *transport, const struct hw_outbox *outbox,
                                   const hw_count *sent, const hw_count *received,
                                   struct hw_error *err);

#endif
