#include "comm/exchange.h"

#include "config.h"

#include "base/memory.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Elements that one message of the split exchange carries at most. */
#define PIECE (INT_MAX / 2)

/* Where each rank's elements begin, from their counts. Returns the sum. */
static hw_count offsets_of(const hw_count *count, int ranks, hw_count *offset)
{
    hw_count sum = 0;

    for (int r = 0; r < ranks; r++) {
        offset[r] = sum;
        sum += count[r];
    }
    return sum;
}

#ifdef HAVE_MPI_LARGE_COUNT
/* One call with 64-bit counts. */
static enum hw_status exchange_elements(MPI_Comm comm, int ranks, MPI_Datatype type, size_t size,
                                        const void *send, const hw_count *send_count,
                                        const hw_count *send_offset, void *receive,
                                        const hw_count *receive_count,
                                        const hw_count *receive_offset, struct hw_error *err)
{
    MPI_Count *counts = NULL;
    MPI_Aint *offsets = NULL;
    enum hw_status status = hw_alloc(&counts, 2 * (hw_count)ranks, sizeof *counts, "counts", err);

    (void)size;
    if (status == HW_OK)
        status = hw_alloc(&offsets, 2 * (hw_count)ranks, sizeof *offsets, "offsets", err);
    if (status != HW_OK)
        goto done;
    for (int r = 0; r < ranks; r++) {
        counts[r] = send_count[r];
        counts[ranks + r] = receive_count[r];
        offsets[r] = send_offset[r];
        offsets[ranks + r] = receive_offset[r];
    }
    status = hw_mpi(MPI_Alltoallv_c(send, counts, offsets, type, receive, counts + ranks,
                                    offsets + ranks, type, comm),
                    "MPI_Alltoallv_c", err);
done:
    free(counts);
    free(offsets);
    return status;
}
#else
/* Sends or receives the elements of one peer in pieces; returns the requests made. */
static enum hw_status post_pieces(MPI_Comm comm, MPI_Datatype type, size_t size, char *base,
                                  hw_count count, int peer, bool sending, MPI_Request *request,
                                  int *made, struct hw_error *err)
{
    enum hw_status status = HW_OK;

    for (hw_count done = 0; done < count && status == HW_OK; done += PIECE) {
        int piece = (int)(count - done < PIECE ? count - done : PIECE);
        char *at = base + (size_t)done * size;
        int code = sending ? MPI_Isend(at, piece, type, peer, 1, comm, &request[*made])
                           : MPI_Irecv(at, piece, type, peer, 1, comm, &request[*made]);
        status = hw_mpi(code, sending ? "MPI_Isend" : "MPI_Irecv", err);
        *made += status == HW_OK;
    }
    return status;
}

/* Messages of at most PIECE elements, for MPI before 4. */
static enum hw_status exchange_elements(MPI_Comm comm, int ranks, MPI_Datatype type, size_t size,
                                        const void *send, const hw_count *send_count,
                                        const hw_count *send_offset, void *receive,
                                        const hw_count *receive_count,
                                        const hw_count *receive_offset, struct hw_error *err)
{
    MPI_Request *request = NULL;
    hw_count pieces = 0;
    int made = 0;

    for (int r = 0; r < ranks; r++)
        pieces += send_count[r] / PIECE + receive_count[r] / PIECE + 2;
    enum hw_status status = hw_alloc(&request, pieces, sizeof *request, "requests", err);
    for (int r = 0; r < ranks && status == HW_OK; r++)
        status = post_pieces(comm, type, size, (char *)receive + (size_t)receive_offset[r] * size,
                             receive_count[r], r, false, request, &made, err);
    for (int r = 0; r < ranks && status == HW_OK; r++)
        status =
            post_pieces(comm, type, size, (char *)(uintptr_t)send + (size_t)send_offset[r] * size,
                        send_count[r], r, true, request, &made, err);
    if (status == HW_OK)
        status = hw_mpi(MPI_Waitall(made, request, MPI_STATUSES_IGNORE), "MPI_Waitall", err);
    free(request);
    return status;
}
#endif

enum hw_status hw_exchange_into(MPI_Comm comm, size_t size, const void *send,
                                const hw_count *send_count, void *receive,
                                const hw_count *receive_count, struct hw_error *err)
{
    int ranks = 0;
    hw_count *offset = NULL;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    enum hw_status status = hw_mpi(MPI_Comm_size(comm, &ranks), "MPI_Comm_size", err);

    if (status == HW_OK)
        status = hw_alloc(&offset, 2 * (hw_count)ranks, sizeof *offset, "offsets", err);
    if (status == HW_OK)
        status =
            hw_mpi(MPI_Type_contiguous((int)size, MPI_BYTE, &type), "MPI_Type_contiguous", err);
    if (status == HW_OK)
        status = hw_mpi(MPI_Type_commit(&type), "MPI_Type_commit", err);
    if (status == HW_OK) {
        offsets_of(send_count, ranks, offset);
        offsets_of(receive_count, ranks, offset + ranks);
        status = exchange_elements(comm, ranks, type, size, send, send_count, offset, receive,
                                   receive_count, offset + ranks, err);
    }
    if (type != MPI_DATATYPE_NULL)
        MPI_Type_free(&type);
    free(offset);
    return status;
}

enum hw_status hw_exchange(MPI_Comm comm, size_t size, const void *send, const hw_count *send_count,
                           void *received, hw_count *receive_count, struct hw_error *err)
{
    int ranks = 0;
    void *memory = NULL;
    hw_count sum = 0;

    memcpy(received, &memory, sizeof memory);
    enum hw_status status = hw_mpi(MPI_Comm_size(comm, &ranks), "MPI_Comm_size", err);
    if (status == HW_OK)
        status =
            hw_mpi(MPI_Alltoall(send_count, 1, HW_MPI_COUNT, receive_count, 1, HW_MPI_COUNT, comm),
                   "MPI_Alltoall", err);
    for (int r = 0; r < ranks && status == HW_OK; r++)
        sum += receive_count[r];
    if (status == HW_OK)
        status = hw_alloc(&memory, sum, size, "received data", err);
    status = hw_agree(comm, status, err);
    if (status == HW_OK)
        status = hw_exchange_into(comm, size, send, send_count, memory, receive_count, err);
    if (status != HW_OK) {
        free(memory);
        return status;
    }
    memcpy(received, &memory, sizeof memory);
    return HW_OK;
}

enum hw_status hw_prefix_sum(MPI_Comm comm, hw_count mine, hw_count *before, struct hw_error *err)
{
    int rank = 0;

    *before = 0;
    enum hw_status status = hw_mpi(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank", err);
    if (status == HW_OK)
        status =
            hw_mpi(MPI_Exscan(&mine, before, 1, HW_MPI_COUNT, MPI_SUM, comm), "MPI_Exscan", err);
    if (rank == 0)
        *before = 0; /* MPI leaves it undefined there */
    return status;
}

enum hw_status hw_sum(MPI_Comm comm, hw_count *value, struct hw_error *err)
{
    return hw_mpi(MPI_Allreduce(MPI_IN_PLACE, value, 1, HW_MPI_COUNT, MPI_SUM, comm),
                  "MPI_Allreduce", err);
}

enum hw_status hw_largest(MPI_Comm comm, hw_count *value, struct hw_error *err)
{
    return hw_mpi(MPI_Allreduce(MPI_IN_PLACE, value, 1, HW_MPI_COUNT, MPI_MAX, comm),
                  "MPI_Allreduce", err);
}
