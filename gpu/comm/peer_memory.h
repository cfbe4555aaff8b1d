/*
 * Device memory that the kernels of other ranks store into and load from: one interface with two
 * backends. Kernels see addresses, and no transport.
 *
 *   CUDA IPC   Each rank allocates memory of its own device and exports it; the others of a node
 *              map it.
 *   NVSHMEM    All ranks allocate symmetric memory together. The ranks of a node address it
 *              (nvshmem_ptr()); ranks of other nodes reach it by messages alone
 *              (gpu/comm/nvshmem/nvshmem_messages.h).
 */
#ifndef HOPWAVE_GPU_COMM_PEER_MEMORY_H
#define HOPWAVE_GPU_COMM_PEER_MEMORY_H

#include "gpu/comm/nvshmem/nvshmem_memory.h"
#include "lib/comm/context.h"

/* Ranks that map each other's memory, and by what. */
struct hw_peer_memory {
    MPI_Comm comm;              /* these ranks */
    const int *which;           /* [ranks of comm] their indices in arrays of addresses; NULL: k */
    struct hw_nvshmem *nvshmem; /* NULL: CUDA IPC */
};

/* Allocates `bytes` on this rank's device, uninitialized. CUDA IPC: local. NVSHMEM: collective over
 * all ranks of the run; ranks agree. */
enum hw_status hw_peer_memory_allocate(const struct hw_peer_memory *memory, hw_count bytes,
                                       void **own, struct hw_error *err);

/*
 * Finds the addresses of the other ranks' memory on this device. heap[which[k]], or heap[k] if
 * which is NULL, is that of rank k of comm; this rank's own must be set. Collective over comm;
 * ranks agree. Returns HW_RESOURCES if some rank cannot address another's; then none is mapped.
 */
enum hw_status hw_peer_memory_open(const struct hw_peer_memory *memory, char **heap,
                                   struct hw_error *err);

/* Unmaps them; afterwards they may be freed. heap may be NULL. Collective over comm. */
void hw_peer_memory_close(const struct hw_peer_memory *memory, char **heap);

/* Frees what hw_peer_memory_allocate() allocated; accepts NULL. CUDA IPC: local. NVSHMEM:
 * collective over all ranks of the run. */
void hw_peer_memory_free(const struct hw_peer_memory *memory, void *own);

#endif
