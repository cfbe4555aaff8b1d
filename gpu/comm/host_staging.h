/*
 * The implementation of transport mpi, and of nvshmem between nodes: exchanges of bytes between
 * devices
 *
 *   host-staged: through pinned host memory, which the ranks of a node share, and MPI messages
 *   between nodes (lib/comm/exchange/node_aware.h);
 *
 *   or direct, if MPI is CUDA-aware: by MPI messages from heap to heap
 *   (lib/comm/exchange/point_to_point.h). Between nodes of several ranks, where each rank sends one
 * message to each node, through buffers on the devices that the ranks of a node map;
 *
 *   or over NVSHMEM: node-aware through such buffers, in symmetric memory, with puts as messages
 *   (gpu/comm/nvshmem/nvshmem_messages.h).
 */
#ifndef HOPWAVE_GPU_COMM_HOST_STAGING_H
#define HOPWAVE_GPU_COMM_HOST_STAGING_H

#include "gpu/comm/nvshmem/nvshmem_memory.h"
#include "lib/comm/halo_exchange.h"
#include "lib/comm/transport_kind.h"

struct hw_host_staging;

/*
 * Allocates and pins the host memory that exchanges use, of one size for all exchanges, or the
 * buffers on devices. buffers: AUTO is DEVICE if MPI is CUDA-aware and the ranks of each node can
 * map each other's memory, else HOST; DEVICE requires a CUDA-aware MPI. nvshmem: what messages go
 * by, or NULL for MPI. Borrows ctx, nodes and nvshmem. Collective; ranks agree. Returns
 * HW_RESOURCES if DEVICE is requested and the ranks of a node cannot map each other's memory.
 */
enum hw_status hw_host_staging_open(const struct hw_context *ctx, const struct hw_nodes *nodes,
                                    enum hw_mpi_buffers buffers, struct hw_nvshmem *nvshmem,
                                    struct hw_host_staging **staging, struct hw_error *err);

/* Whether MPI gets device pointers. Local. */
bool hw_host_staging_is_direct(const struct hw_host_staging *staging);

/* What one rank sends to the others and receives from them, in its heap. */
struct hw_host_staging_load {
    char *base;
    const hw_count *send_offset, *send_bytes;       /* [ranks] from base, for each rank */
    const hw_count *receive_offset, *receive_bytes; /* [ranks] likewise, from each */
    bool same;            /* as in struct hw_halo_options, also the following */
    char *const *base_of; /* [ranks] */
    enum hw_status status;
};

/* As hw_halo_exchange(), between device memory. Collective; ranks agree. */
enum hw_status hw_host_staging_exchange(struct hw_host_staging *staging,
                                        const struct hw_host_staging_load *load,
                                        struct hw_error *err);

/* What this rank has sent to other nodes since the last call, which resets it. Local. */
struct hw_internode_traffic hw_host_staging_internode_traffic(struct hw_host_staging *staging);

/* Copies `bytes` bytes at `own` on rank q's device to `to` on all devices, rank q's included.
 * Collective; ranks agree. */
enum hw_status hw_host_staging_broadcast(struct hw_host_staging *staging, int q, const void *own,
                                         hw_count bytes, void *to, struct hw_error *err);

/* Frees all. Accepts NULL. Collective over the node; over NVSHMEM, over all ranks. */
void hw_host_staging_close(struct hw_host_staging *staging);

#endif
