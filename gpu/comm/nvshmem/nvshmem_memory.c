/* NVSHMEM's start and symmetric memory (gpu/comm/nvshmem/nvshmem_memory.h). */
#include "gpu/comm/nvshmem/nvshmem_memory.h"

#include "gpu/device/device.h"
#include "lib/base/memory.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>

/* ---- start ---- */

/* Local. */
static enum hw_status set_environment(const struct hw_context *ctx, struct hw_error *err)
{
    if (ctx->one_node && setenv("NVSHMEM_REMOTE_TRANSPORT", "none", 0) != 0)
        return hw_fail(err, HW_RESOURCES, "NVSHMEM_REMOTE_TRANSPORT cannot be set");
    if (setenv("NVSHMEM_DISABLE_NVLS", "1", 0) != 0)
        return hw_fail(err, HW_RESOURCES, "NVSHMEM_DISABLE_NVLS cannot be set");
    return HW_OK;
}

/* NVSHMEM is not made for devices of different models. Collective; ranks agree. */
static enum hw_status check_models(const struct hw_context *ctx, struct hw_error *err)
{
    int device = 0, own[2] = {0, 0}, first[2];
    enum hw_status status = hw_cuda((int)cudaGetDevice(&device), "cudaGetDevice", err);

    if (status == HW_OK)
        status =
            hw_cuda((int)cudaDeviceGetAttribute(&own[0], cudaDevAttrComputeCapabilityMajor, device),
                    "cudaDeviceGetAttribute", err);
    if (status == HW_OK)
        status =
            hw_cuda((int)cudaDeviceGetAttribute(&own[1], cudaDevAttrComputeCapabilityMinor, device),
                    "cudaDeviceGetAttribute", err);
    HW_TRY_ALL(ctx, status, err);
    memcpy(first, own, sizeof first);
    HW_TRY(hw_mpi(MPI_Bcast(first, 2, MPI_INT, 0, ctx->world), "MPI_Bcast", err));
    if (memcmp(first, own, sizeof first) != 0)
        status = hw_fail(err, HW_RESOURCES,
                         "--transport nvshmem: rank %d has a GPU of compute capability %d.%d and "
                         "rank 0 one of %d.%d, and NVSHMEM needs GPUs of one model",
                         ctx->rank, own[0], own[1], first[0], first[1]);
    return hw_agree(ctx->world, status, err);
}

/* Collective; ranks agree. */
static enum hw_status start(struct hw_nvshmem *self, struct hw_error *err)
{
    const struct hw_context *ctx = self->ctx;
    struct hw_nvshmem_id id = {.version = HW_NVSHMEM_STRUCT_VERSION(struct hw_nvshmem_id)};
    struct hw_nvshmem_init init = {.version = HW_NVSHMEM_STRUCT_VERSION(struct hw_nvshmem_init)};
    enum hw_status status = HW_OK;

    init.arguments.version = HW_NVSHMEM_STRUCT_VERSION(init.arguments);
    init.arguments.job.version = HW_NVSHMEM_STRUCT_VERSION(init.arguments.job);
    if (ctx->rank == 0 && self->api.get_id(&id) != 0)
        status = hw_fail(err, HW_RESOURCES, "--transport nvshmem: NVSHMEM makes no unique id");
    HW_TRY_ALL(ctx, status, err);
    HW_TRY(hw_mpi(MPI_Bcast(&id, (int)sizeof id, MPI_BYTE, 0, ctx->world), "MPI_Bcast", err));
    if (self->api.set_id(ctx->rank, ctx->size, &id, &init) != 0 ||
        self->api.init(HW_NVSHMEM_INIT_BY_ID, &init) != 0)
        status = hw_fail(err, HW_RESOURCES,
                         "--transport nvshmem: NVSHMEM does not start on rank %d; "
                         "NVSHMEM_DEBUG=WARN has it say why",
                         ctx->rank);
    self->open = status == HW_OK;
    return hw_agree(ctx->world, status, err);
}

enum hw_status hw_nvshmem_open(const struct hw_context *ctx, struct hw_nvshmem **made,
                               struct hw_error *err)
{
    struct hw_nvshmem *self = NULL;
    enum hw_status status = hw_alloc_zero(&self, 1, sizeof *self, "NVSHMEM", err);

    *made = NULL;
    if (status == HW_OK) {
        self->ctx = ctx;
        status = hw_nvshmem_load(&self->api, err);
    }
    if (status == HW_OK)
        status = set_environment(ctx, err);
    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK)
        status = check_models(ctx, err);
    if (status == HW_OK)
        status = start(self, err);
    if (status != HW_OK) {
        free(self); /* it is not ended: that is collective, and some ranks have not started */
        return status;
    }
    *made = self;
    return HW_OK;
}

void hw_nvshmem_close(struct hw_nvshmem *self)
{
    if (!self)
        return;
    hw_nvshmem_kernels_close(self);
    if (self->open)
        self->api.finalize();
    free(self);
}

/* ---- memory ---- */

enum hw_status hw_nvshmem_allocate(struct hw_nvshmem *self, hw_count bytes, void **memory,
                                   struct hw_error *err)
{
    const struct hw_context *ctx = self->ctx;
    enum hw_status status = HW_OK;

    *memory = NULL;
    HW_TRY(hw_mpi(MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, HW_MPI_COUNT, MPI_MAX, ctx->world),
                  "MPI_Allreduce", err));
    *memory = self->api.allocate((size_t)bytes);
    if (!*memory)
        status = hw_fail(err, HW_RESOURCES,
                         "--transport nvshmem: the symmetric heap of rank %d has not the %.1f MiB "
                         "that are needed; a larger NVSHMEM_SYMMETRIC_SIZE, or "
                         "NVSHMEM_MAX_MEMORY_PER_GPU, may help",
                         ctx->rank, (double)bytes / 1048576);
    status = hw_agree(ctx->world, status, err);
    if (status != HW_OK)
        *memory = NULL; /* to free it is collective, and some ranks have none */
    return status;
}

void hw_nvshmem_free(struct hw_nvshmem *self, void *memory)
{
    if (memory)
        self->api.free(memory);
}

void *hw_nvshmem_pointer(const struct hw_nvshmem *self, const void *memory, int rank)
{
    return self->api.pointer(memory, rank);
}
