/*
 * Mail (gpu/comm/allgather.h) between GPUs over MPI with receives posted a round ahead, as in
 * section 3.3 of "Parallel Distributed Breadth First Search on the Kepler Architecture": sends are
 * started, the receives posted in the round before completed, and those of the next round
 * posted. Every delivery sends one message to each partner, empty or not.
 *
 * Messages go through pinned memory of the hosts, of which there are two for each partner: one
 * is filled while the other is read. Or, where MPI takes pointers to memory of devices, from box
 * to box: kernels read a box until the next delivery to it, and what is posted to MPI must not
 * be touched, so that receives are posted then, before the sends, when the stream has ended.
 */
#ifndef HOPWAVE_GPU_COMM_PREPOSTED_RECV_H
#define HOPWAVE_GPU_COMM_PREPOSTED_RECV_H

#include "gpu/comm/allgather.h"

struct hw_preposted_recv {
    const struct hw_transport *transport;
    struct hw_outbox mail;
    MPI_Comm comm;
    int partners;
    int partner[HW_ALLGATHER_RANKS];
    MPI_Request receive[HW_ALLGATHER_RANKS], send[HW_ALLGATHER_RANKS]; /* by partner */
    char *in[2], *out; /* [partners][mail.room], pinned; NULL where boxes do */
    int turn;          /* of in: what the posted receives fill */
};

/*
 * Opens the post between this rank and its partners, who have it among theirs; no mail
 * is larger than mail->room, below 2^31 bytes. Collective over the transport's ranks, which
 * agree. partner: [partners].
 */
enum hw_status hw_preposted_recv_open(const struct hw_transport *transport,
                                      const struct hw_outbox *mail, const int *partner,
                                      int partners, struct hw_preposted_recv *post,
                                      struct hw_error *err);

/* As hw_outbox_deliver(), between partners. Collective; ranks agree. */
enum hw_status hw_preposted_recv_deliver(struct hw_preposted_recv *post, const hw_count *sent,
                                         const hw_count *came, struct hw_error *err);

/* Withdraws what is posted, and frees all; accepts one that is zeroed. Collective, at least
 * over the partners. */
void hw_preposted_recv_close(struct hw_preposted_recv *post);

#endif
