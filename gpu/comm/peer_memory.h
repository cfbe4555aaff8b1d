/*
 * Heaps of devices that other processes of a node reach (CUDA IPC).
 */
#ifndef HOPWAVE_GPU_COMM_PEER_MEMORY_H
#define HOPWAVE_GPU_COMM_PEER_MEMORY_H

#include "lib/comm/context.h"

/*
 * Shows this rank's heap to the other ranks of comm and opens theirs. heap: by which[k] for
 * rank k of comm, or by k where which is NULL; the own one is there. Collective; ranks agree.
 * Returns HW_RESOURCES where some do not reach others; then none is open.
 */
enum hw_status hw_peer_memory_open(MPI_Comm comm, const int *which, char **heap,
                                   struct hw_error *err);

/* Lets go of them; after it, heaps may be freed. heap may be NULL. Collective. */
void hw_peer_memory_close(MPI_Comm comm, const int *which, char **heap);

#endif
