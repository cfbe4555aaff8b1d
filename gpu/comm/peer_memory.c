/* Device memory mapped by CUDA IPC (gpu/comm/peer_memory.h). */
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

/* Unmaps what is mapped. Local. */
static void close_handles(const struct group *group, char **heap)
{
    for (int k = 0; k < group->size; k++) {
        if (k == group->me || !heap[member(group, k)])
            continue;
        cudaIpcCloseMemHandle(heap[member(group, k)]);
        heap[member(group, k)] = NULL;
    }
}

static enum hw_status find_group(MPI_Comm comm, const int *which, struct group *group,
                                 struct hw_error *err)
{
    *group = (struct group){.comm = comm, .index = which};
    enum hw_status status = hw_mpi(MPI_Comm_size(comm, &group->size), "MPI_Comm_size", err);

    return status == HW_OK ? hw_mpi(MPI_Comm_rank(comm, &group->me), "MPI_Comm_rank", err) : status;
}

enum hw_status hw_peer_memory_open(MPI_Comm comm, const int *which, char **heap,
                                   struct hw_error *err)
{
    cudaIpcMemHandle_t own, *handles = NULL;
    struct group group;
    enum hw_status status = find_group(comm, which, &group, err);

    if (status != HW_OK)
        return status;
    memset(&own, 0, sizeof own);
    status = hw_alloc(&handles, group.size, sizeof *handles, "handles", err);
    const cudaError_t error = cudaIpcGetMemHandle(&own, heap[member(&group, group.me)]);
    if (error != cudaSuccess) {
        (void)cudaGetLastError();
        status = hw_fail(err, HW_RESOURCES, "rank %d cannot export its GPU's memory (%s)",
                         member(&group, group.me), cudaGetErrorString(error));
    }
    status = hw_agree(comm, status, err);
    if (status == HW_OK)
        status = hw_mpi(MPI_Allgather(&own, (int)sizeof own, MPI_BYTE, handles, (int)sizeof own,
                                      MPI_BYTE, comm),
                        "MPI_Allgather", err);
    if (status == HW_OK)
        status = open_handles(&group, handles, heap, err);
    free(handles);
    status = hw_agree(comm, status, err);
    if (status != HW_OK)
        hw_peer_memory_close(comm, which, heap);
    return status;
}

void hw_peer_memory_close(MPI_Comm comm, const int *which, char **heap)
{
    struct group group;
    struct hw_error ignored;

    if (find_group(comm, which, &group, &ignored) != HW_OK)
        return;
    if (heap)
        close_handles(&group, heap);
    MPI_Barrier(comm); /* no heap may be freed while others map it */
}
