#include "lib/engine/core/peer_exchange.h"

#include "lib/base/memory.h"

#include <stdlib.h>
#include <string.h>

/* Messages between two ranks of one communicator. */
enum tag { TAG_MESSAGE = 1 };

/* Bytes of one message at most. */
#define PIECE ((hw_count)1 << 30)

enum hw_status hw_peer_exchange_open(struct hw_peer_exchange *exchange, MPI_Comm comm, int together,
                                     hw_count bytes, struct hw_error *err)
{
    enum hw_status status;

    exchange->comm = comm;
    exchange->together = together;
    status = hw_mpi(MPI_Comm_size(comm, &exchange->peers), "MPI_Comm_size", err);
    if (status == HW_OK)
        status = hw_mpi(MPI_Comm_rank(comm, &exchange->me), "MPI_Comm_rank", err);
    if (status != HW_OK)
        return status;
    exchange->capacity = 2 * exchange->peers + (int)(bytes / PIECE);
    status = hw_alloc_zero(&exchange->message, exchange->peers, sizeof *exchange->message,
                           "messages", err);
    if (status == HW_OK)
        status = hw_alloc(&exchange->request, exchange->capacity, sizeof *exchange->request,
                          "requests", err);
    return status;
}

void hw_peer_exchange_free(struct hw_peer_exchange *exchange)
{
    free(exchange->message);
    free(exchange->request);
}

/* Posts one side of a message in pieces. */
static enum hw_status post(struct hw_peer_exchange *exchange, int peer, bool sending, int *made,
                           struct hw_trace_record *record, struct hw_error *err)
{
    const struct hw_peer_message *message = &exchange->message[peer];
    hw_count bytes = sending ? message->out_bytes : message->in_bytes;
    bool crosses = peer / exchange->together != exchange->me / exchange->together;
    enum hw_status status = HW_OK;

    for (hw_count at = 0; at < bytes && status == HW_OK; at += PIECE) {
        int size = (int)(bytes - at < PIECE ? bytes - at : PIECE);
        MPI_Request *request = &exchange->request[*made];
        int code = sending ? MPI_Isend((const char *)message->out + at, size, MPI_BYTE, peer,
                                       TAG_MESSAGE, exchange->comm, request)
                           : MPI_Irecv((char *)message->in + at, size, MPI_BYTE, peer, TAG_MESSAGE,
                                       exchange->comm, request);
        status = hw_mpi(code, sending ? "MPI_Isend" : "MPI_Irecv", err);
        *made += status == HW_OK;
        record->messages_sent += sending;
        record->messages_internode += sending && crosses;
    }
    hw_trace_add_bytes(record, sending ? bytes : 0, crosses);
    return status;
}

enum hw_status hw_peer_exchange_run(struct hw_peer_exchange *exchange,
                                    struct hw_trace_record *record, struct hw_error *err)
{
    const struct hw_peer_message *self = &exchange->message[exchange->me];
    enum hw_status status = HW_OK;
    int made = 0;

    for (int r = 0; r < exchange->peers && status == HW_OK; r++)
        if (r != exchange->me)
            status = post(exchange, r, false, &made, record, err);
    for (int i = 1; i < exchange->peers && status == HW_OK; i++)
        status = post(exchange, (exchange->me + i) % exchange->peers, true, &made, record, err);
    if (self->out_bytes > 0)
        memcpy(self->in, self->out, (size_t)self->out_bytes);
    for (int i = 0; i < made && status == HW_OK; i++)
        status = hw_mpi(MPI_Wait(&exchange->request[i], MPI_STATUS_IGNORE), "MPI_Wait", err);
    return status;
}

/* 2 (ranks-1)/ranks of the bytes, rounded up. */
static hw_count reduction_bytes(hw_count bytes, int ranks)
{
    return (2 * bytes * (ranks - 1) + ranks - 1) / ranks;
}

void hw_trace_add_reduction(struct hw_trace_record *record, hw_count bytes, int ranks, int together)
{
    record->bytes_sent += reduction_bytes(bytes, ranks);
    record->bytes_internode +=
        reduction_bytes((bytes + together - 1) / together, (ranks + together - 1) / together);
}

void hw_trace_add_gather(struct hw_trace_record *record, hw_count bytes, int ranks, int together)
{
    record->bytes_sent += (ranks - 1) * bytes;
    record->bytes_internode += (ranks - together) * bytes;
}
