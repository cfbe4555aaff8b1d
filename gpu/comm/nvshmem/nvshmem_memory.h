/*
 * NVSHMEM between the ranks of a run: a process of NVSHMEM (a PE) for each rank, of the same
 * number, and symmetric memory. It is started by a unique id that rank 0 makes and MPI hands out,
 * so that the launcher need not know NVSHMEM.
 */
#ifndef HOPWAVE_GPU_COMM_NVSHMEM_MEMORY_H
#define HOPWAVE_GPU_COMM_NVSHMEM_MEMORY_H

#include "gpu/comm/nvshmem/nvshmem_api.h"
#include "gpu/comm/nvshmem/nvshmem_kernels.h"
#include "lib/comm/context.h"

struct hw_nvshmem {
    const struct hw_context *ctx;
    struct hw_nvshmem_api api;
    bool open;
    struct hw_nvshmem_kernels kernels;
};

/*
 * Loads and starts NVSHMEM; each rank has selected a device of its own. Variables of the
 * environment that are not set get what suits: no network where all ranks are on one node
 * (NVSHMEM_REMOTE_TRANSPORT), and no NVLink multicast (NVSHMEM_DISABLE_NVLS). Borrows ctx.
 * Collective over ctx->world; ranks agree. Returns HW_RESOURCES where there is no NVSHMEM of the
 * right version, where it does not start, or for devices of different models. After a failure
 * *made is NULL.
 */
enum hw_status hw_nvshmem_open(const struct hw_context *ctx, struct hw_nvshmem **made,
                               struct hw_error *err);

/*
 * Allocates symmetric memory: `bytes`, or what the rank that asks for most asks for, on each rank;
 * uninitialized. Collective over ctx->world; ranks agree. Returns HW_RESOURCES, with the size,
 * where the symmetric heap is too small.
 */
enum hw_status hw_nvshmem_allocate(struct hw_nvshmem *self, hw_count bytes, void **memory,
                                   struct hw_error *err);

/* Frees symmetric memory. Accepts NULL, on all ranks alike. Collective over ctx->world. */
void hw_nvshmem_free(struct hw_nvshmem *self, void *memory);

/* The address on this device of a rank's symmetric memory, or NULL where only puts reach it.
 * memory: its address on this rank. Local. */
void *hw_nvshmem_pointer(const struct hw_nvshmem *self, const void *memory, int rank);

/* Ends NVSHMEM. Accepts NULL. Collective over ctx->world. */
void hw_nvshmem_close(struct hw_nvshmem *self);

#endif
