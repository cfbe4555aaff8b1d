#include "gpu/comm/preposted_recv.h"

#include <cuda_runtime_api.h>
#include <limits.h>

static const struct hw_context *context(const struct hw_preposted_recv *post)
{
    return post->transport->ctx;
}

/* Memory that a partner's mail comes to. */
static char *place_in(const struct hw_preposted_recv *post, int k)
{
    const struct hw_transport *transport = post->transport;

    if (transport->direct)
        return transport->heap[context(post)->rank] + post->mail.in +
               post->partner[k] * post->mail.room;
    return post->in[post->turn] + k * post->mail.room;
}

/* And that it goes from. */
static char *place_out(const struct hw_preposted_recv *post, int k)
{
    if (post->transport->direct)
        return hw_outbox_send_buffer(post->transport, &post->mail, post->partner[k]);
    return post->out + k * post->mail.room;
}

/* Posts the receives of a delivery. */
static enum hw_status post_receives(struct hw_preposted_recv *post, struct hw_error *err)
{
    enum hw_status status = HW_OK;

    for (int k = 0; k < post->partners && status == HW_OK; k++)
        status = hw_mpi(MPI_Irecv(place_in(post, k), (int)post->mail.room, MPI_BYTE,
                                  post->partner[k], 0, post->comm, &post->receive[k]),
                        "MPI_Irecv", err);
    return status;
}

/* Pinned memory for all. Local. */
static enum hw_status pin(struct hw_preposted_recv *post, struct hw_error *err)
{
    char **const all[] = {&post->in[0], &post->in[1], &post->out};
    const size_t bytes = (size_t)post->partners * (size_t)post->mail.room;
    enum hw_status status = HW_OK;

    if (post->mail.room > INT_MAX)
        return hw_fail(err, HW_BAD_INPUT, "%" PRI_COUNT " bytes are too many for one message",
                       post->mail.room);
    if (post->transport->direct)
        return HW_OK;
    for (size_t a = 0; a < sizeof all / sizeof *all && status == HW_OK && bytes > 0; a++)
        status = hw_cuda((int)cudaHostAlloc((void **)all[a], bytes, cudaHostAllocDefault),
                         "cudaHostAlloc", err);
    return status;
}

enum hw_status hw_preposted_recv_open(const struct hw_transport *transport,
                                      const struct hw_outbox *mail, const int *partner,
                                      int partners, struct hw_preposted_recv *post,
                                      struct hw_error *err)
{
    *post = (struct hw_preposted_recv){
        .transport = transport, .mail = *mail, .comm = MPI_COMM_NULL, .partners = partners};
    for (int k = 0; k < partners; k++) {
        post->partner[k] = partner[k];
        post->receive[k] = post->send[k] = MPI_REQUEST_NULL;
    }
    enum hw_status status = hw_agree(context(post)->world, pin(post, err), err);
    if (status == HW_OK)
        status = hw_mpi(MPI_Comm_dup(context(post)->world, &post->comm), "MPI_Comm_dup", err);
    if (status == HW_OK && !transport->direct)
        status = post_receives(post, err);
    return hw_agree(context(post)->world, status, err);
}

/* Copies between the heap and pinned memory, where that is between. */
static enum hw_status stage(const struct hw_preposted_recv *post, bool outgoing,
                            const hw_count *bytes, struct hw_error *err)
{
    enum hw_status status = HW_OK;

    for (int k = 0; k < post->partners && status == HW_OK && !post->transport->direct; k++) {
        const int q = post->partner[k];
        char *pinned = outgoing ? place_out(post, k) : place_in(post, k);
        if (bytes[q] == 0)
            continue;
        const void *from =
            outgoing ? hw_outbox_send_buffer(post->transport, &post->mail, q) : pinned;
        void *to = outgoing ? (void *)pinned
                            : (char *)post->transport->heap[context(post)->rank] + post->mail.in +
                                  q * post->mail.room;
        status = hw_cuda(
            (int)cudaMemcpyAsync(to, from, (size_t)bytes[q],
                                 outgoing ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice, NULL),
            "cudaMemcpyAsync", err);
    }
    return status;
}

/* Sends to all partners; nothing, but a message all the same, where this rank has failed. */
static enum hw_status send_all(struct hw_preposted_recv *post, enum hw_status status,
                               const hw_count *sent, struct hw_error *err)
{
    for (int k = 0; k < post->partners; k++) {
        const int q = post->partner[k], bytes = status == HW_OK ? (int)sent[q] : 0;
        const enum hw_status own =
            hw_mpi(MPI_Isend(place_out(post, k), bytes, MPI_BYTE, q, 0, post->comm, &post->send[k]),
                   "MPI_Isend", err);
        status = status == HW_OK ? own : status;
    }
    return status;
}

enum hw_status hw_preposted_recv_deliver(struct hw_preposted_recv *post, const hw_count *sent,
                                         const hw_count *came, struct hw_error *err)
{
    const bool direct = post->transport->direct;
    MPI_Status statuses[HW_ALLGATHER_RANKS];
    enum hw_status status = stage(post, true, sent, err), told = HW_OK;

    /* What the last delivery brought has been copied, or read by kernels, then, too. */
    if (status == HW_OK)
        status = hw_cuda((int)cudaStreamSynchronize(NULL), "cudaStreamSynchronize", err);
    if (direct)
        told = post_receives(post, err);
    status = send_all(post, status, sent, err);
    if (told == HW_OK)
        told = hw_mpi(MPI_Waitall(post->partners, post->receive, statuses), "MPI_Waitall", err);
    if (status == HW_OK)
        status = told;
    if (status == HW_OK)
        status = stage(post, false, came, err);
    post->turn = 1 - post->turn;
    if (told == HW_OK && !direct)
        told = post_receives(post, err);
    if (told == HW_OK)
        told = hw_mpi(MPI_Waitall(post->partners, post->send, statuses), "MPI_Waitall", err);
    return hw_agree(context(post)->world, status == HW_OK ? told : status, err);
}

void hw_preposted_recv_close(struct hw_preposted_recv *post)
{
    if (!post->transport)
        return;
    for (int k = 0; k < post->partners; k++)
        if (post->receive[k] != MPI_REQUEST_NULL) {
            MPI_Cancel(&post->receive[k]);
            MPI_Wait(&post->receive[k], MPI_STATUS_IGNORE);
        }
    if (post->comm != MPI_COMM_NULL)
        MPI_Comm_free(&post->comm);
    for (int half = 0; half < 2; half++)
        cudaFreeHost(post->in[half]);
    cudaFreeHost(post->out);
    *post = (struct hw_preposted_recv){0};
}
