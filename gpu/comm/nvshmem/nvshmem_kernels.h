/*
 * Kernels that put to other nodes by NVSHMEM. They are linked with its device library into an image
 * of their own, which the program contains and loads when NVSHMEM has started, so that programs
 * build and start without NVSHMEM. Emulated devices have them in the program itself.
 */
#ifndef HOPWAVE_GPU_COMM_NVSHMEM_KERNELS_H
#define HOPWAVE_GPU_COMM_NVSHMEM_KERNELS_H

#include "lib/comm/node_topology.h"

struct hw_nvshmem;

/* The image, and why kernels cannot put, if so: the end of a message, the same on all ranks. */
struct hw_nvshmem_kernels {
    void *image;  /* cudaLibrary_t */
    bool started; /* NVSHMEM has initialized the image on this rank */
    const char *why_not;
};

/*
 * Loads the image, if kernels can put: the build has NVSHMEM's device library, all nodes have as
 * many ranks, the ranks of a node address each other's memory, and HOPWAVE_NVSHMEM_PUTS is not
 * `host`. Else sets nvshmem->kernels.why_not. Collective; ranks agree.
 */
enum hw_status hw_nvshmem_kernels_open(struct hw_nvshmem *nvshmem, const struct hw_nodes *nodes,
                                       struct hw_error *err);

/* Finds a kernel of the image by name, for launches by address. Not on emulated devices. Local. */
enum hw_status hw_nvshmem_kernel(const struct hw_nvshmem *nvshmem, const char *name,
                                 const void **kernel, struct hw_error *err);

/* Unloads the image. Local. */
void hw_nvshmem_kernels_close(struct hw_nvshmem *nvshmem);

#endif
