/* NCCL, loaded at run time (gpu/comm/nccl_collectives.h). */
#include "gpu/comm/nccl_collectives.h"

#include "config.h"

#ifdef HAVE_NCCL

#include "lib/base/memory.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <nccl.h>
#include <stdlib.h>
#include <string.h>

/* Seconds before an exchange times out: its kernels would wait forever for a rank that failed. */
#define TIMEOUT_SECONDS 20.0

/* Queries of the stream for each query of the clock and of NCCL. */
#define POLLS_PER_CHECK 4096

struct hw_nccl {
    const struct hw_context *ctx;
    void *library;
    ncclComm_t comm;
    ncclResult_t (*get_id)(ncclUniqueId *id);
    ncclResult_t (*init)(ncclComm_t *comm, int ranks, ncclUniqueId id, int rank);
    ncclResult_t (*destroy)(ncclComm_t comm);
    ncclResult_t (*abort)(ncclComm_t comm);
    ncclResult_t (*failure)(ncclComm_t comm, ncclResult_t *result);
    ncclResult_t (*start)(void);
    ncclResult_t (*end)(void);
    ncclResult_t (*send)(const void *from, size_t count, ncclDataType_t type, int peer,
                         ncclComm_t comm, cudaStream_t stream);
    ncclResult_t (*receive)(void *to, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                            cudaStream_t stream);
    ncclResult_t (*broadcast)(const void *from, void *to, size_t count, ncclDataType_t type,
                              int root, ncclComm_t comm, cudaStream_t stream);
    const char *(*text)(ncclResult_t result);
    bool broken; /* a call failed: other calls may wait forever for it */
};

static enum hw_status check(struct hw_nccl *self, ncclResult_t result, const char *call,
                            struct hw_error *err)
{
    if (result == ncclSuccess)
        return HW_OK;
    self->broken = true;
    return hw_fail(err, HW_RESOURCES, "%s: %s", call, self->text(result));
}

/* Loads the library and looks up its functions. Local. */
static enum hw_status load(struct hw_nccl *self, struct hw_error *err)
{
    struct {
        void *to;
        const char *name;
    } const functions[] = {
        {&self->get_id, "ncclGetUniqueId"},  {&self->init, "ncclCommInitRank"},
        {&self->destroy, "ncclCommDestroy"}, {&self->start, "ncclGroupStart"},
        {&self->abort, "ncclCommAbort"},     {&self->failure, "ncclCommGetAsyncError"},
        {&self->end, "ncclGroupEnd"},        {&self->send, "ncclSend"},
        {&self->receive, "ncclRecv"},        {&self->broadcast, "ncclBroadcast"},
        {&self->text, "ncclGetErrorString"}};

    self->library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
    if (!self->library)
        return hw_fail(err, HW_RESOURCES, "--transport nccl: %s", dlerror());
    for (size_t f = 0; f < sizeof functions / sizeof *functions; f++) {
        void *found = dlsym(self->library, functions[f].name);
        if (!found)
            return hw_fail(err, HW_RESOURCES, "--transport nccl: libnccl.so.2 has no %s",
                           functions[f].name);
        memcpy(functions[f].to, &found, sizeof found);
    }
    return HW_OK;
}

/* Creates the communicator. Collective; ranks agree. */
static enum hw_status create_communicator(struct hw_nccl *self, struct hw_error *err)
{
    const struct hw_context *ctx = self->ctx;
    ncclUniqueId id;
    enum hw_status status = HW_OK;

    memset(&id, 0, sizeof id);
    if (ctx->rank == 0)
        status = check(self, self->get_id(&id), "ncclGetUniqueId", err);
    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK)
        status = hw_mpi(MPI_Bcast(&id, (int)sizeof id, MPI_BYTE, 0, ctx->world), "MPI_Bcast", err);
    if (status == HW_OK)
        status =
            check(self, self->init(&self->comm, ctx->size, id, ctx->rank), "ncclCommInitRank", err);
    return hw_agree(ctx->world, status, err);
}

enum hw_status hw_nccl_open(const struct hw_context *ctx, struct hw_nccl **made,
                            struct hw_error *err)
{
    struct hw_nccl *self = NULL;
    enum hw_status status = hw_alloc_zero(&self, 1, sizeof *self, "NCCL", err);

    *made = NULL;
    if (status == HW_OK) {
        self->ctx = ctx;
        status = load(self, err);
    }
    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK)
        status = create_communicator(self, err);
    if (status != HW_OK) {
        hw_nccl_close(self);
        return status;
    }
    *made = self;
    return HW_OK;
}

/* Waits for the default stream; TIMEOUT_SECONDS at most. Local. */
static enum hw_status await(struct hw_nccl *self, struct hw_error *err)
{
    const double start = hw_seconds();
    ncclResult_t failure = ncclSuccess;

    for (uint64_t poll = 1;; poll++) {
        const cudaError_t error = cudaStreamQuery(NULL);
        if (error != cudaErrorNotReady)
            return hw_cuda((int)error, "NCCL", err);
        if (poll % POLLS_PER_CHECK != 0)
            continue;
        enum hw_status status =
            check(self, self->failure(self->comm, &failure), "ncclCommGetAsyncError", err);
        if (status == HW_OK)
            status = check(self, failure, "NCCL", err);
        if (status != HW_OK)
            return status;
        self->broken = hw_seconds() - start > TIMEOUT_SECONDS;
        if (self->broken)
            return hw_fail(err, HW_RESOURCES, "an exchange of NCCL did not end within %.0f s",
                           TIMEOUT_SECONDS);
    }
}

/* If a call failed, aborts the communicator, which ends calls that wait. Local. */
static enum hw_status abort_if_broken(struct hw_nccl *self, enum hw_status status)
{
    if (self->broken && self->comm) {
        self->abort(self->comm);
        self->comm = NULL;
    }
    return status;
}

static enum hw_status finish(struct hw_nccl *self, enum hw_status status, struct hw_error *err)
{
    enum hw_status end = check(self, self->end(), "ncclGroupEnd", err);

    if (status == HW_OK)
        status = end;
    return abort_if_broken(self, status == HW_OK ? await(self, err) : status);
}

enum hw_status hw_nccl_exchange(struct hw_nccl *self, char *heap, const hw_count *send_offset,
                                const hw_count *send_bytes, const hw_count *receive_offset,
                                const hw_count *receive_bytes, struct hw_error *err)
{
    if (!self->comm)
        return hw_fail(err, HW_RESOURCES, "an earlier call of NCCL failed");
    enum hw_status status = check(self, self->start(), "ncclGroupStart", err);
    if (status != HW_OK)
        return abort_if_broken(self, status);
    for (int q = 0; q < self->ctx->size && status == HW_OK; q++) {
        if (send_bytes[q] > 0)
            status = check(self,
                           self->send(heap + send_offset[q], (size_t)send_bytes[q], ncclUint8, q,
                                      self->comm, NULL),
                           "ncclSend", err);
        if (status == HW_OK && receive_bytes[q] > 0)
            status = check(self,
                           self->receive(heap + receive_offset[q], (size_t)receive_bytes[q],
                                         ncclUint8, q, self->comm, NULL),
                           "ncclRecv", err);
    }
    return finish(self, status, err);
}

enum hw_status hw_nccl_broadcast(struct hw_nccl *self, int q, const void *from, void *to,
                                 hw_count bytes, struct hw_error *err)
{
    if (!self->comm)
        return hw_fail(err, HW_RESOURCES, "an earlier call of NCCL failed");
    enum hw_status status =
        check(self, self->broadcast(from, to, (size_t)bytes, ncclUint8, q, self->comm, NULL),
              "ncclBroadcast", err);

    return abort_if_broken(self, status == HW_OK ? await(self, err) : status);
}

void hw_nccl_close(struct hw_nccl *self)
{
    if (!self)
        return;
    (void)abort_if_broken(self, HW_OK);
    if (self->comm)
        self->destroy(self->comm);
    if (self->library)
        dlclose(self->library);
    free(self);
}

#else

enum hw_status hw_nccl_open(const struct hw_context *ctx, struct hw_nccl **made,
                            struct hw_error *err)
{
    (void)ctx;
    *made = NULL;
    return hw_fail(err, HW_RESOURCES, "--transport nccl: this program was built without NCCL");
}

enum hw_status hw_nccl_exchange(struct hw_nccl *self, char *heap, const hw_count *send_offset,
                                const hw_count *send_bytes, const hw_count *receive_offset,
                                const hw_count *receive_bytes, struct hw_error *err)
{
    (void)self, (void)heap, (void)send_offset, (void)send_bytes;
    (void)receive_offset, (void)receive_bytes;
    return hw_fail(err, HW_INTERNAL, "this build has no NCCL");
}

enum hw_status hw_nccl_broadcast(struct hw_nccl *self, int q, const void *from, void *to,
                                 hw_count bytes, struct hw_error *err)
{
    (void)self, (void)q, (void)from, (void)to, (void)bytes;
    return hw_fail(err, HW_INTERNAL, "this build has no NCCL");
}

void hw_nccl_close(struct hw_nccl *self)
{
    (void)self;
}

#endif
