/*
 * Deliveries of outboxes (gpu/comm/outbox.h) over MPI with preposted receives, as in section 3.3 of
 * "Parallel Distributed Breadth First Search on the Kepler Architecture": a delivery starts its
 * sends, completes the receives that the delivery before it posted, and posts those of the next
 * one. Every delivery sends one message to each partner, empty or not.
 *
 * Host-staged: messages go through pinned host memory, with two receive buffers for each partner,
 * one of which MPI fills while the other is copied to the device. Direct (CUDA-aware MPI): messages
 * go from send buffer to receive buffer on the devices. Kernels read a receive buffer until the
 * next delivery, and a buffer that is posted to MPI may not be read, so that receives are posted
 * within the delivery, after the stream is complete and before the sends.
 */
#ifndef HOPWAVE_GPU_COMM_PREPOSTED_RECV_H
#define HOPWAVE_GPU_COMM_PREPOSTED_RECV_H

#include "gpu/comm/allgather.h"
#include "gpu/comm/outbox.h"

struct hw_preposted_recv {
    const struct hw_transport *transport;
    struct hw_outbox outbox;
    MPI_Comm comm;
    int partners;
    int partner[HW_ALLGATHER_RANKS];
    MPI_Request receive[HW_ALLGATHER_RANKS], send[HW_ALLGATHER_RANKS]; /* by partner */
    char *recv_staging[2], *send_staging; /* [partners][outbox.capacity], pinned; NULL if direct */
    int parity;                           /* the posted receives write recv_staging[parity] */
};

/*
 * Opens deliveries between this rank and its partners, a symmetric relation. No message is larger
 * than outbox->capacity, which must be below 2^31 bytes. partner: [partners]. Borrows the
 * transport. Collective over the transport's ranks, which agree.
 */
enum hw_status hw_preposted_recv_open(const struct hw_transport *transport,
                                      const struct hw_outbox *outbox, const int *partner,
                                      int partners, struct hw_preposted_recv *preposted,
                                      struct hw_error *err);

/* As hw_outbox_deliver(), between partners. sent, received: [ranks]. Collective; ranks agree. */
enum hw_status hw_preposted_recv_deliver(struct hw_preposted_recv *preposted, const hw_count *sent,
                                         const hw_count *received, struct hw_error *err);

/* Cancels the posted receives and frees all; accepts one that is zeroed. Collective over the
 * partners at least. */
void hw_preposted_recv_close(struct hw_preposted_recv *preposted);

#endif
