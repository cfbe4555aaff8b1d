#include "staging.h"

#include "base/memory.h"
#include "device.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>

/* Bytes of a piece, and of all rooms together, at most: large messages are fast, and
 * pinning takes long. */
#define PIECE_MOST ((hw_count)1 << 20)
#define PINNED_MOST ((hw_count)256 << 20)

enum { SENT, RECEIVED, WAYS };

struct hw_staging {
    const struct hw_context *ctx;
    hw_count piece;       /* bytes */
    char *pinned;         /* [WAYS][2][ranks][piece]: pieces of even and odd rounds */
    MPI_Request *request; /* [WAYS][2][ranks] */
    cudaStream_t stream[WAYS];
    cudaEvent_t copied[2]; /* to the device, of even and odd rounds */
};

/* An exchange under way. */
struct exchange {
    struct hw_staging *staging;
    char *heap;
    const hw_count *offset[WAYS], *bytes[WAYS]; /* [ranks] */
    hw_count rounds;
};

void hw_staging_close(struct hw_staging *staging)
{
    if (!staging)
        return;
    for (int way = 0; way < WAYS; way++)
        if (staging->stream[way])
            cudaStreamDestroy(staging->stream[way]);
    for (int half = 0; half < 2; half++)
        if (staging->copied[half])
            cudaEventDestroy(staging->copied[half]);
    cudaFreeHost(staging->pinned);
    free(staging->request);
    free(staging);
}

/* All but the struct itself. Local. */
static enum hw_status allocate(struct hw_staging *staging, struct hw_error *err)
{
    const hw_count rooms = 2 * WAYS * (hw_count)staging->ctx->size;
    enum hw_status status =
        hw_alloc(&staging->request, rooms, sizeof *staging->request, "requests", err);

    if (status != HW_OK)
        return status;
    for (hw_count r = 0; r < rooms; r++)
        staging->request[r] = MPI_REQUEST_NULL;
    status = hw_cuda((int)cudaHostAlloc((void **)&staging->pinned, (size_t)(rooms * staging->piece),
                                        cudaHostAllocDefault),
                     "cudaHostAlloc", err);
    for (int k = 0; k < 2 && status == HW_OK; k++) {
        status = hw_cuda((int)cudaStreamCreateWithFlags(&staging->stream[k], cudaStreamNonBlocking),
                         "cudaStreamCreateWithFlags", err);
        if (status == HW_OK)
            status =
                hw_cuda((int)cudaEventCreateWithFlags(&staging->copied[k], cudaEventDisableTiming),
                        "cudaEventCreateWithFlags", err);
    }
    return status;
}

enum hw_status hw_staging_open(const struct hw_context *ctx, struct hw_staging **staging,
                               struct hw_error *err)
{
    const hw_count share = PINNED_MOST / (2 * WAYS * ctx->size) / 4096 * 4096;
    enum hw_status status = hw_alloc_zero(staging, 1, sizeof **staging, "the transport", err);

    if (status == HW_OK) {
        (*staging)->ctx = ctx;
        (*staging)->piece = share > PIECE_MOST ? PIECE_MOST : share > 4096 ? share : 4096;
        status = allocate(*staging, err);
    }
    return hw_agree(ctx->world, status, err);
}

/* ---- exchanges ---- */

static int room_of(const struct exchange *x, int way, hw_count round, int q)
{
    return (way * 2 + (int)(round & 1)) * x->staging->ctx->size + q;
}

static char *pinned_of(const struct exchange *x, int way, hw_count round, int q)
{
    return x->staging->pinned + room_of(x, way, round, q) * x->staging->piece;
}

/* Bytes that go to or come from rank q in a round; what stays here goes another way. */
static hw_count length_of(const struct exchange *x, int way, hw_count round, int q)
{
    const hw_count from = round * x->staging->piece, all = x->bytes[way][q];

    if (q == x->staging->ctx->rank || from >= all)
        return 0;
    return all - from < x->staging->piece ? all - from : x->staging->piece;
}

/* Starts copying the pieces of a round. */
static enum hw_status copy_round(const struct exchange *x, int way, hw_count round,
                                 struct hw_error *err)
{
    const struct hw_staging *staging = x->staging;
    enum hw_status status = HW_OK;

    for (int q = 0; q < staging->ctx->size && status == HW_OK; q++) {
        const hw_count length = length_of(x, way, round, q);
        char *device = x->heap + x->offset[way][q] + round * staging->piece;
        char *pinned = pinned_of(x, way, round, q);
        if (length > 0)
            status = hw_cuda((int)cudaMemcpyAsync(way == SENT ? pinned : device,
                                                  way == SENT ? device : pinned, (size_t)length,
                                                  cudaMemcpyDefault, staging->stream[way]),
                             "cudaMemcpyAsync", err);
    }
    return status;
}

/* Posts the messages of a round, each rank beginning with another one. */
static enum hw_status post_round(const struct exchange *x, int way, hw_count round,
                                 struct hw_error *err)
{
    const struct hw_context *ctx = x->staging->ctx;
    enum hw_status status = HW_OK;

    for (int step = 1; step < ctx->size; step++) {
        const int q = (ctx->rank + step) % ctx->size;
        const hw_count length = length_of(x, way, round, q);
        MPI_Request *request = &x->staging->request[room_of(x, way, round, q)];
        char *pinned = pinned_of(x, way, round, q);
        if (length == 0)
            continue;
        int code = way == SENT
                       ? MPI_Isend(pinned, (int)length, MPI_BYTE, q, 2, ctx->world, request)
                       : MPI_Irecv(pinned, (int)length, MPI_BYTE, q, 2, ctx->world, request);
        enum hw_status posted = hw_mpi(code, way == SENT ? "MPI_Isend" : "MPI_Irecv", err);
        status = status == HW_OK ? posted : status;
    }
    return status;
}

static enum hw_status wait_round(const struct exchange *x, int way, hw_count round,
                                 struct hw_error *err)
{
    MPI_Request *request = x->staging->request + room_of(x, way, round, 0);
    enum hw_status status = HW_OK;

    for (int q = 0; q < x->staging->ctx->size; q++) {
        enum hw_status waited = hw_mpi(MPI_Wait(&request[q], MPI_STATUS_IGNORE), "MPI_Wait", err);
        status = status == HW_OK ? waited : status;
    }
    return status;
}

/* The first of two failures, so that a rank goes on with messages that others wait for. */
static enum hw_status worse(enum hw_status before, enum hw_status now)
{
    return before != HW_OK ? before : now;
}

/* Makes ready what a round needs: its rooms are free, receives posted, copies begun. */
static enum hw_status begin_round(const struct exchange *x, hw_count round, struct hw_error *err)
{
    const struct hw_staging *staging = x->staging;
    enum hw_status status = HW_OK;

    if (round >= 2) {
        status = wait_round(x, SENT, round - 2, err);
        status = worse(status, hw_cuda((int)cudaEventSynchronize(staging->copied[round & 1]),
                                       "cudaEventSynchronize", err));
    }
    status = worse(status, post_round(x, RECEIVED, round, err));
    return worse(status, copy_round(x, SENT, round, err));
}

/* Sends a round's pieces and takes those that come. Failures of the device do not keep the
 * messages from going. */
static enum hw_status do_round(const struct exchange *x, hw_count round, struct hw_error *err)
{
    const struct hw_staging *staging = x->staging;
    enum hw_status status =
        hw_cuda((int)cudaStreamSynchronize(staging->stream[SENT]), "cudaStreamSynchronize", err);

    status = worse(status, post_round(x, SENT, round, err));
    if (round + 1 < x->rounds)
        status = worse(status, begin_round(x, round + 1, err));
    status = worse(status, wait_round(x, RECEIVED, round, err));
    status = worse(status, copy_round(x, RECEIVED, round, err));
    return worse(
        status, hw_cuda((int)cudaEventRecord(staging->copied[round & 1], staging->stream[RECEIVED]),
                        "cudaEventRecord", err));
}

/* What a rank sends to itself. */
static enum hw_status copy_own(const struct exchange *x, struct hw_error *err)
{
    const int own = x->staging->ctx->rank;

    if (x->bytes[RECEIVED][own] == 0)
        return HW_OK;
    return hw_cuda((int)cudaMemcpyAsync(x->heap + x->offset[RECEIVED][own],
                                        x->heap + x->offset[SENT][own],
                                        (size_t)x->bytes[RECEIVED][own], cudaMemcpyDefault,
                                        x->staging->stream[RECEIVED]),
                   "cudaMemcpyAsync", err);
}

enum hw_status hw_staging_exchange(struct hw_staging *staging, char *heap,
                                   const hw_count *send_offset, const hw_count *send_bytes,
                                   const hw_count *receive_offset, const hw_count *receive_bytes,
                                   struct hw_error *err)
{
    const struct hw_context *ctx = staging->ctx;
    struct exchange x = {.staging = staging,
                         .heap = heap,
                         .offset = {send_offset, receive_offset},
                         .bytes = {send_bytes, receive_bytes}};
    hw_count most = 0;

    for (int q = 0; q < ctx->size; q++)
        for (int way = 0; way < WAYS; way++)
            most = q != ctx->rank && x.bytes[way][q] > most ? x.bytes[way][q] : most;
    x.rounds = (most + staging->piece - 1) / staging->piece;
    enum hw_status status = copy_own(&x, err);
    if (x.rounds > 0)
        status = worse(status, begin_round(&x, 0, err));
    for (hw_count round = 0; round < x.rounds; round++)
        status = worse(status, do_round(&x, round, err));
    for (hw_count back = 1; back <= 2 && back <= x.rounds; back++)
        status = worse(status, wait_round(&x, SENT, x.rounds - back, err));
    status = worse(status, hw_cuda((int)cudaStreamSynchronize(staging->stream[RECEIVED]),
                                   "cudaStreamSynchronize", err));
    return hw_agree(ctx->world, status, err);
}

enum hw_status hw_staging_broadcast(struct hw_staging *staging, int q, const void *own,
                                    hw_count bytes, void *room, struct hw_error *err)
{
    const struct hw_context *ctx = staging->ctx;
    const hw_count piece = 2 * WAYS * ctx->size * staging->piece;
    enum hw_status status = HW_OK;

    for (hw_count at = 0; at < bytes && status == HW_OK; at += piece) {
        hw_count length = bytes - at < piece ? bytes - at : piece;
        if (ctx->rank == q)
            status = hw_gpu_get(staging->pinned, (const char *)own + at, (size_t)length, err);
        status = hw_agree(ctx->world, status, err);
        if (status == HW_OK)
            status = hw_mpi(MPI_Bcast(staging->pinned, (int)length, MPI_BYTE, q, ctx->world),
                            "MPI_Bcast", err);
        if (status == HW_OK)
            status = hw_gpu_put((char *)room + at, staging->pinned, (size_t)length, err);
        status = hw_agree(ctx->world, status, err);
    }
    return status;
}
