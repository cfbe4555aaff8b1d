#include "lib/comm/exchange/large_alltoallv.h"

#include "config.h"

#include "lib/base/memory.h"

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

/* What an exchange needs besides the elements: allocated before any rank waits for another. */
struct parcels {
    int ranks;
    size_t size;
    MPI_Datatype type;
    const hw_count *send_count, *receive_count;
    hw_count *offset; /* [2][ranks] sent, received */
#ifdef HAVE_MPI_LARGE_COUNT
    MPI_Count *counts; /* likewise */
    MPI_Aint *offsets; /* likewise */
#else
    MPI_Request *request; /* one for each piece */
#endif
};

#ifdef HAVE_MPI_LARGE_COUNT
/* Local. */
static enum hw_status alloc_parameters(struct parcels *parcels, struct hw_error *err)
{
    const hw_count both = 2 * (hw_count)parcels->ranks;

    HW_TRY(hw_alloc(&parcels->counts, both, sizeof *parcels->counts, "counts", err));
    return hw_alloc(&parcels->offsets, both, sizeof *parcels->offsets, "offsets", err);
}

static void free_parameters(struct parcels *parcels)
{
    free(parcels->counts);
    free(parcels->offsets);
}

/* One call with 64-bit counts. */
static enum hw_status exchange_elements(MPI_Comm comm, struct parcels *parcels, const void *send,
                                        void *receive, struct hw_error *err)
{
    const int ranks = parcels->ranks;
    MPI_Count *counts = parcels->counts;
    MPI_Aint *offsets = parcels->offsets;

    for (int r = 0; r < ranks; r++) {
        counts[r] = parcels->send_count[r];
        counts[ranks + r] = parcels->receive_count[r];
        offsets[r] = parcels->offset[r];
        offsets[ranks + r] = parcels->offset[ranks + r];
    }
    return hw_mpi(MPI_Alltoallv_c(send, counts, offsets, parcels->type, receive, counts + ranks,
                                  offsets + ranks, parcels->type, comm),
                  "MPI_Alltoallv_c", err);
}
#else
/* Local. */
static enum hw_status alloc_parameters(struct parcels *parcels, struct hw_error *err)
{
    hw_count pieces = 0;

    for (int r = 0; r < parcels->ranks; r++)
        pieces += parcels->send_count[r] / PIECE + parcels->receive_count[r] / PIECE + 2;
    return hw_alloc(&parcels->request, pieces, sizeof *parcels->request, "requests", err);
}

static void free_parameters(struct parcels *parcels)
{
    free(parcels->request);
}

/* Sends or receives the elements of one peer in pieces; returns the requests made. */
static enum hw_status post_pieces(MPI_Comm comm, const struct parcels *parcels, char *base,
                                  hw_count count, int peer, bool sending, int *made,
                                  struct hw_error *err)
{
    MPI_Request *request = parcels->request;
    enum hw_status status = HW_OK;

    for (hw_count done = 0; done < count && status == HW_OK; done += PIECE) {
        int piece = (int)(count - done < PIECE ? count - done : PIECE);
        char *at = base + (size_t)done * parcels->size;
        int code = sending ? MPI_Isend(at, piece, parcels->type, peer, 1, comm, &request[*made])
                           : MPI_Irecv(at, piece, parcels->type, peer, 1, comm, &request[*made]);
        status = hw_mpi(code, sending ? "MPI_Isend" : "MPI_Irecv", err);
        *made += status == HW_OK;
    }
    return status;
}

/* Messages of at most PIECE elements, for MPI before 4. */
static enum hw_status exchange_elements(MPI_Comm comm, struct parcels *parcels, const void *send,
                                        void *receive, struct hw_error *err)
{
    const int ranks = parcels->ranks;
    char *const out = (char *)(uintptr_t)send, *const in = receive;
    int made = 0;

    for (int r = 0; r < ranks; r++)
        HW_TRY(post_pieces(comm, parcels, in + (size_t)parcels->offset[ranks + r] * parcels->size,
                           parcels->receive_count[r], r, false, &made, err));
    for (int r = 0; r < ranks; r++)
        HW_TRY(post_pieces(comm, parcels, out + (size_t)parcels->offset[r] * parcels->size,
                           parcels->send_count[r], r, true, &made, err));
    return hw_mpi(MPI_Waitall(made, parcels->request, MPI_STATUSES_IGNORE), "MPI_Waitall", err);
}
#endif

/* Local. */
static enum hw_status make_parcels(struct parcels *parcels, struct hw_error *err)
{
    const int ranks = parcels->ranks;

    HW_TRY(
        hw_alloc(&parcels->offset, 2 * (hw_count)ranks, sizeof *parcels->offset, "offsets", err));
    HW_TRY(alloc_parameters(parcels, err));
    HW_TRY(hw_mpi(MPI_Type_contiguous((int)parcels->size, MPI_BYTE, &parcels->type),
                  "MPI_Type_contiguous", err));
    HW_TRY(hw_mpi(MPI_Type_commit(&parcels->type), "MPI_Type_commit", err));
    offsets_of(parcels->send_count, ranks, parcels->offset);
    offsets_of(parcels->receive_count, ranks, parcels->offset + ranks);
    return HW_OK;
}

static void free_parcels(struct parcels *parcels)
{
    if (parcels->type != MPI_DATATYPE_NULL)
        MPI_Type_free(&parcels->type);
    free(parcels->offset);
    free_parameters(parcels);
}

/* The exchange, unless a rank has failed before: status is this one's. Ranks agree on that.
 * Collective. */
static enum hw_status pass(MPI_Comm comm, size_t size, const void *send, const hw_count *send_count,
                           void *receive, const hw_count *receive_count, enum hw_status status,
                           struct hw_error *err)
{
    struct parcels parcels = {.size = size,
                              .type = MPI_DATATYPE_NULL,
                              .send_count = send_count,
                              .receive_count = receive_count};

    if (status == HW_OK)
        status = hw_mpi(MPI_Comm_size(comm, &parcels.ranks), "MPI_Comm_size", err);
    if (status == HW_OK)
        status = make_parcels(&parcels, err);
    status = hw_agree(comm, status, err);
    if (status == HW_OK)
        status = exchange_elements(comm, &parcels, send, receive, err);
    free_parcels(&parcels);
    return status;
}

enum hw_status hw_alltoallv_into(MPI_Comm comm, size_t size, const void *send,
                                 const hw_count *send_count, void *receive,
                                 const hw_count *receive_count, struct hw_error *err)
{
    return pass(comm, size, send, send_count, receive, receive_count, HW_OK, err);
}

enum hw_status hw_alltoallv(MPI_Comm comm, size_t size, const void *send,
                            const hw_count *send_count, void *received, hw_count *receive_count,
                            struct hw_error *err)
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
    status = pass(comm, size, send, send_count, memory, receive_count, status, err);
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
    HW_TRY(hw_mpi(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank", err));
    HW_TRY(hw_mpi(MPI_Exscan(&mine, before, 1, HW_MPI_COUNT, MPI_SUM, comm), "MPI_Exscan", err));
    if (rank == 0)
        *before = 0; /* MPI leaves it undefined there */
    return HW_OK;
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
