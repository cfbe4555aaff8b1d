/* Device memory of other ranks, by CUDA IPC or NVSHMEM (gpu/comm/peer_memory.h). */
#include "gpu/comm/peer_memory.h"

#include "gpu/device/device.h"
#include "lib/base/memory.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>

/* The ranks of a communicator, and their indices in arrays of heaps. */
struct group {
    MPI_Comm comm;
    const int *index; /* [size], or NULL: k */
    int size, me;
};

static int member(const struct group *group, int k)
{
    return group->index ? group->index[k] : k;
}

static enum hw_status find_group(const struct hw_peer_memory *memory, struct group *group,
                                 struct hw_error *err)
{
    *group = (struct group){.comm = memory->comm, .index = memory->which};
    HW_TRY(hw_mpi(MPI_Comm_size(group->comm, &group->size), "MPI_Comm_size", err));
    return hw_mpi(MPI_Comm_rank(group->comm, &group->me), "MPI_Comm_rank", err);
}

/* ---- CUDA IPC ---- */

/* Maps the other ranks' heaps. Local. */
static enum hw_status open_handles(const struct group *group, const cudaIpcMemHandle_t *handles,
                                   char **heap, struct hw_error *err)
{
    enum hw_status status = HW_OK;

    for (int k = 0; k < group->size && status == HW_OK; k++) {
        void *memory = NULL;
        if (k == group->me)
            continue;
        cudaError_t error =
            cudaIpcOpenMemHandle(&memory, handles[k], cudaIpcMemLazyEnablePeerAccess);
        if (error != cudaSuccess) {
            (void)cudaGetLastError(); /* clear it, or the next launch would return it */
            status = hw_fail(err, HW_RESOURCES, "rank %d cannot map the memory of rank %d (%s)",
                             member(group, group->me), member(group, k), cudaGetErrorString(error));
        }
        heap[member(group, k)] = memory;
    }
    return status;
}

/* Exports this rank's heap. Local. */
static enum hw_status get_handle(const struct group *group, char *const *heap,
                                 cudaIpcMemHandle_t *own, struct hw_error *err)
{
    const cudaError_t error = cudaIpcGetMemHandle(own, heap[member(group, group->me)]);

    if (error == cudaSuccess)
        return HW_OK;
    (void)cudaGetLastError();
    return hw_fail(err, HW_RESOURCES, "rank %d cannot export its GPU's memory (%s)",
                   member(group, group->me), cudaGetErrorString(error));
}

/* Collective; a rank's own status. */
static enum hw_status open_ipc(const struct group *group, char **heap, struct hw_error *err)
{
    cudaIpcMemHandle_t own, *handles = NULL;
    enum hw_status status = hw_alloc(&handles, group->size, sizeof *handles, "handles", err);

    memset(&own, 0, sizeof own);
    if (status == HW_OK)
        status = get_handle(group, heap, &own, err);
    status = hw_agree(group->comm, status, err);
    if (status == HW_OK)
        status = hw_mpi(MPI_Allgather(&own, (int)sizeof own, MPI_BYTE, handles, (int)sizeof own,
                                      MPI_BYTE, group->comm),
                        "MPI_Allgather", err);
    if (status == HW_OK)
        status = open_handles(group, handles, heap, err);
    free(handles);
    return status;
}

/* ---- NVSHMEM ---- */

/* Local. */
static enum hw_status find_pointers(const struct hw_nvshmem *nvshmem, const struct group *group,
                                    const int *ranks, char **heap, struct hw_error *err)
{
    const char *own = heap[member(group, group->me)];

    for (int k = 0; k < group->size; k++) {
        heap[member(group, k)] = hw_nvshmem_pointer(nvshmem, own, ranks[k]);
        if (!heap[member(group, k)])
            return hw_fail(err, HW_RESOURCES,
                           "--transport nvshmem: rank %d cannot address the memory of rank %d",
                           ranks[group->me], ranks[k]);
    }
    return HW_OK;
}

/* Local: NVSHMEM knows the ranks of the run. */
static enum hw_status open_nvshmem(const struct hw_nvshmem *nvshmem, const struct group *group,
                                   char **heap, struct hw_error *err)
{
    int *ranks = NULL, *members = NULL;
    MPI_Group own = MPI_GROUP_NULL, all = MPI_GROUP_NULL;
    enum hw_status status = hw_alloc(&ranks, group->size, sizeof *ranks, "ranks", err);

    if (status == HW_OK)
        status = hw_alloc(&members, group->size, sizeof *members, "ranks", err);
    for (int k = 0; k < group->size && status == HW_OK; k++)
        members[k] = k;
    if (status == HW_OK)
        status = hw_mpi(MPI_Comm_group(group->comm, &own), "MPI_Comm_group", err);
    if (status == HW_OK)
        status = hw_mpi(MPI_Comm_group(nvshmem->ctx->world, &all), "MPI_Comm_group", err);
    if (status == HW_OK)
        status = hw_mpi(MPI_Group_translate_ranks(own, group->size, members, all, ranks),
                        "MPI_Group_translate_ranks", err);
    if (status == HW_OK)
        status = find_pointers(nvshmem, group, ranks, heap, err);
    if (own != MPI_GROUP_NULL)
        MPI_Group_free(&own);
    if (all != MPI_GROUP_NULL)
        MPI_Group_free(&all);
    free(ranks);
    free(members);
    return status;
}

/* ---- the interface ---- */

enum hw_status hw_peer_memory_allocate(const struct hw_peer_memory *memory, hw_count bytes,
                                       void **own, struct hw_error *err)
{
    return memory->nvshmem ? hw_nvshmem_allocate(memory->nvshmem, bytes, own, err)
                           : hw_cuda((int)cudaMalloc(own, (size_t)bytes), "cudaMalloc", err);
}

enum hw_status hw_peer_memory_open(const struct hw_peer_memory *memory, char **heap,
                                   struct hw_error *err)
{
    struct group group;

    HW_TRY(find_group(memory, &group, err));
    enum hw_status status = memory->nvshmem ? open_nvshmem(memory->nvshmem, &group, heap, err)
                                            : open_ipc(&group, heap, err);
    status = hw_agree(memory->comm, status, err);
    if (status != HW_OK)
        hw_peer_memory_close(memory, heap);
    return status;
}

void hw_peer_memory_close(const struct hw_peer_memory *memory, char **heap)
{
    struct group group;
    struct hw_error ignored;

    if (find_group(memory, &group, &ignored) != HW_OK)
        return;
    for (int k = 0; k < group.size && heap; k++) {
        char **other = &heap[member(&group, k)];
        if (k == group.me || !*other)
            continue;
        if (!memory->nvshmem)
            cudaIpcCloseMemHandle(*other);
        *other = NULL;
    }
    MPI_Barrier(group.comm); /* no heap may be freed while others map it */
}

void hw_peer_memory_free(const struct hw_peer_memory *memory, void *own)
{
    if (memory->nvshmem)
        hw_nvshmem_free(memory->nvshmem, own);
    else
        cudaFree(own);
}
