#include "staging.h"

#include "base/memory.h"
#include "device.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>

/* Bytes of shared memory for a node: large messages are fast, but pinning takes long, and
 * containers often have 64 MiB in all. */
#define SHARED ((hw_count)32 << 20)

struct hw_staging {
    const struct hw_context *ctx;
    struct hw_nodewise *nodewise;
    void *pinned;           /* the node's shared memory, or NULL */
    cudaStream_t stream[2]; /* by whether it goes out */
    bool busy[2];           /* copies have begun that nobody has waited for */
};

static enum hw_status copy(void *given, bool out, void *to, const void *from, size_t bytes,
                           struct hw_error *err)
{
    struct hw_staging *staging = given;

    staging->busy[out] = true;
    return hw_cuda((int)cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, staging->stream[out]),
                   "cudaMemcpyAsync", err);
}

static enum hw_status wait_for(void *given, bool out, struct hw_error *err)
{
    struct hw_staging *staging = given;

    if (!staging->busy[out])
        return HW_OK;
    staging->busy[out] = false;
    return hw_cuda((int)cudaStreamSynchronize(staging->stream[out]), "cudaStreamSynchronize", err);
}

void hw_staging_close(struct hw_staging *staging)
{
    if (!staging)
        return;
    for (int way = 0; way < 2; way++)
        if (staging->stream[way])
            cudaStreamDestroy(staging->stream[way]);
    if (staging->pinned)
        cudaHostUnregister(staging->pinned);
    hw_nodewise_close(staging->nodewise);
    free(staging);
}

/* Where memory that is shared cannot be pinned, copies are slower, and that is all. Local. */
static void pin(struct hw_staging *staging)
{
    size_t bytes = 0;
    void *shared = hw_nodewise_shared(staging->nodewise, &bytes);

    if (cudaHostRegister(shared, bytes, cudaHostRegisterPortable) == cudaSuccess)
        staging->pinned = shared;
    else
        (void)cudaGetLastError(); /* it would come back from the next launch */
}

enum hw_status hw_staging_open(const struct hw_context *ctx, const struct hw_nodes *nodes,
                               struct hw_staging **made, struct hw_error *err)
{
    struct hw_staging *staging = NULL;
    enum hw_status status = hw_alloc_zero(&staging, 1, sizeof *staging, "the transport", err);

    *made = staging; /* whose owner closes it */
    for (int way = 0; way < 2 && status == HW_OK; way++)
        status =
            hw_cuda((int)cudaStreamCreateWithFlags(&staging->stream[way], cudaStreamNonBlocking),
                    "cudaStreamCreateWithFlags", err);
    status = hw_agree(ctx->world, status, err);
    if (status != HW_OK)
        return status;
    const struct hw_nodewise_mover mover = {.self = staging, .copy = copy, .wait = wait_for};
    staging->ctx = ctx;
    status = hw_nodewise_open(ctx, nodes, SHARED, &mover, &staging->nodewise, err);
    if (status == HW_OK)
        pin(staging);
    return status;
}

enum hw_status hw_staging_exchange(struct hw_staging *staging, const struct hw_nodewise_load *load,
                                   struct hw_error *err)
{
    return hw_nodewise_exchange(staging->nodewise, load, err);
}

struct hw_crossed hw_staging_crossed(struct hw_staging *staging)
{
    return hw_nodewise_crossed(staging->nodewise);
}

enum hw_status hw_staging_broadcast(struct hw_staging *staging, int q, const void *own,
                                    hw_count bytes, void *room, struct hw_error *err)
{
    const struct hw_context *ctx = staging->ctx;
    size_t size = 0;
    void *pinned = hw_nodewise_own(staging->nodewise, &size);
    const hw_count piece = (hw_count)size;
    enum hw_status status = HW_OK;

    for (hw_count at = 0; at < bytes && status == HW_OK; at += piece) {
        hw_count length = bytes - at < piece ? bytes - at : piece;
        if (ctx->rank == q)
            status = hw_gpu_get(pinned, (const char *)own + at, (size_t)length, err);
        status = hw_agree(ctx->world, status, err);
        if (status == HW_OK)
            status =
                hw_mpi(MPI_Bcast(pinned, (int)length, MPI_BYTE, q, ctx->world), "MPI_Bcast", err);
        if (status == HW_OK)
            status = hw_gpu_put((char *)room + at, pinned, (size_t)length, err);
        status = hw_agree(ctx->world, status, err);
    }
    return status;
}
