/* Deliveries of outboxes with preposted receives (gpu/comm/preposted_recv.h). */
#include "gpu/comm/preposted_recv.h"

#include <cuda_runtime_api.h>
#include <limits.h>

static const struct hw_context *context(const struct hw_preposted_recv *preposted)
{
    return preposted->transport->ctx;
}

/* Memory that MPI receives a partner's message in. */
static char *recv_memory(const struct hw_preposted_recv *preposted, int k)
{
    const struct hw_transport *transport = preposted->transport;

    if (transport->direct)
        return transport->heap[context(preposted)->rank] + preposted->outbox.recv_offset +
               preposted->partner[k] * preposted->outbox.capacity;
    return preposted->recv_staging[preposted->parity] + k * preposted->outbox.capacity;
}

/* Memory that MPI sends a message to a partner from. */
static char *send_memory(const struct hw_preposted_recv *preposted, int k)
{
    if (preposted->transport->direct)
        return hw_outbox_send_buffer(preposted->transport, &preposted->outbox,
                                     preposted->partner[k]);
    return preposted->send_staging + k * preposted->outbox.capacity;
}

/* Posts the receives of a delivery. Local. */
static enum hw_status post_receives(struct hw_preposted_recv *preposted, struct hw_error *err)
{
    enum hw_status status = HW_OK;

    for (int k = 0; k < preposted->partners && status == HW_OK; k++)
        status =
            hw_mpi(MPI_Irecv(recv_memory(preposted, k), (int)preposted->outbox.capacity, MPI_BYTE,
                             preposted->partner[k], 0, preposted->comm, &preposted->receive[k]),
                   "MPI_Irecv", err);
    return status;
}

/* Allocates the staging memory. Local. */
static enum hw_status pin(struct hw_preposted_recv *preposted, struct hw_error *err)
{
    char **const all[] = {&preposted->recv_staging[0], &preposted->recv_staging[1],
                          &preposted->send_staging};
    const size_t bytes = (size_t)preposted->partners * (size_t)preposted->outbox.capacity;
    enum hw_status status = HW_OK;

    if (preposted->outbox.capacity > INT_MAX)
        return hw_fail(err, HW_BAD_INPUT, "%" PRI_COUNT " bytes are too many for one message",
                       preposted->outbox.capacity);
    if (preposted->transport->direct)
        return HW_OK;
    for (size_t a = 0; a < sizeof all / sizeof *all && status == HW_OK && bytes > 0; a++)
        status = hw_cuda((int)cudaHostAlloc((void **)all[a], bytes, cudaHostAllocDefault),
                         "cudaHostAlloc", err);
    return status;
}

enum hw_status hw_preposted_recv_open(const struct hw_transport *transport,
                                      const struct hw_outbox *outbox, const int *partner,
                                      int partners, struct hw_preposted_recv *preposted,
                                      struct hw_error *err)
{
    *preposted = (struct hw_preposted_recv){
        .transport = transport, .outbox = *outbox, .comm = MPI_COMM_NULL, .partners = partners};
    for (int k = 0; k < partners; k++) {
        preposted->partner[k] = partner[k];
        preposted->receive[k] = preposted->send[k] = MPI_REQUEST_NULL;
    }
    enum hw_status status = hw_agree(context(preposted)->world, pin(preposted, err), err);
    if (status == HW_OK)
        status =
            hw_mpi(MPI_Comm_dup(context(preposted)->world, &preposted->comm), "MPI_Comm_dup", err);
    if (status == HW_OK && !transport->direct)
        status = post_receives(preposted, err);
    return hw_agree(context(preposted)->world, status, err);
}

/* If host-staged, copies between the heap and staging memory; does not wait. Local. */
static enum hw_status stage(const struct hw_preposted_recv *preposted, bool outgoing,
                            const hw_count *bytes, struct hw_error *err)
{
    enum hw_status status = HW_OK;

    for (int k = 0; k < preposted->partners && status == HW_OK && !preposted->transport->direct;
         k++) {
        const int q = preposted->partner[k];
        char *pinned = outgoing ? send_memory(preposted, k) : recv_memory(preposted, k);
        if (bytes[q] == 0)
            continue;
        const void *from =
            outgoing ? hw_outbox_send_buffer(preposted->transport, &preposted->outbox, q) : pinned;
        void *to = outgoing ? (void *)pinned
                            : (char *)preposted->transport->heap[context(preposted)->rank] +
                                  preposted->outbox.recv_offset + q * preposted->outbox.capacity;
        status = hw_cuda(
            (int)cudaMemcpyAsync(to, from, (size_t)bytes[q],
                                 outgoing ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice, NULL),
            "cudaMemcpyAsync", err);
    }
    return status;
}

/* Starts the sends to all partners; empty messages if this rank has failed, since partners wait for
 * one. Local. */
static enum hw_status send_all(struct hw_preposted_recv *preposted, enum hw_status status,
                               const hw_count *sent, struct hw_error *err)
{
    for (int k = 0; k < preposted->partners; k++) {
        const int q = preposted->partner[k], bytes = status == HW_OK ? (int)sent[q] : 0;
        const enum hw_status own = hw_mpi(MPI_Isend(send_memory(preposted, k), bytes, MPI_BYTE, q,
                                                    0, preposted->comm, &preposted->send[k]),
                                          "MPI_Isend", err);
        status = status == HW_OK ? own : status;
    }
    return status;
}

enum hw_status hw_preposted_recv_deliver(struct hw_preposted_recv *preposted, const hw_count *sent,
                                         const hw_count *received, struct hw_error *err)
{
    const bool direct = preposted->transport->direct;
    MPI_Status statuses[HW_ALLGATHER_RANKS];
    enum hw_status status = stage(preposted, true, sent, err), receives = HW_OK;

    /* Afterwards the last delivery has also been copied to the device, or read by kernels. */
    if (status == HW_OK)
        status = hw_cuda((int)cudaStreamSynchronize(NULL), "cudaStreamSynchronize", err);
    if (direct)
        receives = post_receives(preposted, err);
    status = send_all(preposted, status, sent, err);
    if (receives == HW_OK)
        receives = hw_mpi(MPI_Waitall(preposted->partners, preposted->receive, statuses),
                          "MPI_Waitall", err);
    if (status == HW_OK)
        status = receives;
    if (status == HW_OK)
        status = stage(preposted, false, received, err);
    preposted->parity = 1 - preposted->parity;
    if (receives == HW_OK && !direct)
        receives = post_receives(preposted, err);
    if (receives == HW_OK)
        receives =
            hw_mpi(MPI_Waitall(preposted->partners, preposted->send, statuses), "MPI_Waitall", err);
    return hw_agree(context(preposted)->world, status == HW_OK ? receives : status, err);
}

void hw_preposted_recv_close(struct hw_preposted_recv *preposted)
{
    if (!preposted->transport)
        return;
    for (int k = 0; k < preposted->partners; k++)
        if (preposted->receive[k] != MPI_REQUEST_NULL) {
            MPI_Cancel(&preposted->receive[k]);
            MPI_Wait(&preposted->receive[k], MPI_STATUS_IGNORE);
        }
    if (preposted->comm != MPI_COMM_NULL)
        MPI_Comm_free(&preposted->comm);
    for (int k = 0; k < 2; k++)
        cudaFreeHost(preposted->recv_staging[k]);
    cudaFreeHost(preposted->send_staging);
    *preposted = (struct hw_preposted_recv){0};
}
