/*
 * Device memory of other processes of a node, mapped by CUDA IPC.
 */
#ifndef HOPWAVE_GPU_COMM_PEER_MEMORY_H
#define HOPWAVE_GPU_COMM_PEER_MEMORY_H

#include "lib/comm/context.h"

/*
 * Exports this rank's heap to the other ranks of comm and maps theirs. heap[which[k]], or heap[k]
 * if which is NULL, is the address of the heap of rank k of comm on this device; this rank's own
 * must be set. Collective; ranks agree. Returns HW_RESOURCES if some rank cannot map another's;
 * then none is mapped.
 */
enum hw_status hw_peer_memory_open(MPI_Comm comm, const int *which, char **heap,
                                   struct hw_error *err);

/* Unmaps them; afterwards heaps may be freed. heap may be NULL. Collective. */
void hw_peer_memory_close(MPI_Comm comm, const int *which, char **heap);

#endif
