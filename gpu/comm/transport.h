/*
 * Transports between GPUs, one rank per GPU, behind one interface.
 *
 *   peer   the ranks of one node: every device maps the heaps of all others (CUDA IPC), so that
 *          kernels store directly into them;
 *   mpi    everywhere. Between nodes each rank sends one message to each other node, with one copy
 *          of bytes that several ranks there receive: through pinned host memory, or from device
 *          memory if MPI is CUDA-aware. Within a node through pinned memory that its ranks share,
 *          or from device memory; or, if there are several nodes whose devices map each other's
 *          heaps, by copies between them;
 *   nccl   NCCL's sends and receives, if the build has it;
 *   nvshmem  heaps are symmetric memory of NVSHMEM. Within one node kernels address them, as over
 *          peer. Between nodes exchanges are those of mpi, with puts in place of MPI's messages;
 *          kernels put too, if the build has NVSHMEM's device library (kernels_put).
 *
 * A heap is a symmetric allocation: it has the same size on all ranks, and an array has the same
 * offset in each. "Over peer" means in all files: with peer_access, which nvshmem has within a
 * node.
 */
#ifndef HOPWAVE_GPU_COMM_TRANSPORT_H
#define HOPWAVE_GPU_COMM_TRANSPORT_H

#include "gpu/comm/host_staging.h"
#include "gpu/comm/nccl_collectives.h"
#include "gpu/device/device.h"
#include "lib/comm/transport_kind.h"

struct hw_transport {
    enum hw_transport_kind kind; /* never AUTO once open */
    const struct hw_context *ctx;
    char **heap; /* [ranks] addresses on this device; NULL for heaps that it does not map */
    hw_count heap_bytes;
    struct hw_nodes nodes;
    bool peer_access;                /* every device maps the heaps of all others: peer, or nvshmem
                                        within one node */
    bool node_heaps_open;            /* the heaps of this rank's node are mapped; several nodes */
    bool direct;                     /* MPI gets device pointers */
    enum hw_status deferred_error;   /* of hw_transport_defer_error() */
    struct hw_host_staging *staging; /* mpi, and nvshmem between nodes */
    struct hw_nccl *nccl;
    struct hw_nvshmem *nvshmem;
    bool kernels_put; /* nvshmem between nodes: kernels can put to other nodes themselves */
    bool borrowed;    /* nodes, staging, nccl and nvshmem belong to another transport */
    struct hw_internode_traffic internode; /* nccl: since hw_transport_internode_traffic() */
};

/*
 * Selects and opens a transport; the device is selected before. AUTO is peer if that works and each
 * rank has its own GPU, else mpi, with a note that says why. (Kernels of ranks that share a GPU are
 * time-sliced, so that over peer each would wait for the others' time slices.) ranks_per_node: that
 * many consecutive ranks count as a node where peer does not work; 0: the real nodes. buffers: what
 * MPI is given for device memory; AUTO: device pointers if MPI is CUDA-aware. Borrows ctx.
 * Collective over ctx->world; ranks agree.
 *
 * Returns HW_RESOURCES if the requested one does not work here: peer if some rank's memory cannot
 * be mapped, nccl or nvshmem without its library or where ranks share a GPU, nvshmem where ranks of
 * a node do not reach each other, device pointers if MPI is not CUDA-aware.
 */
enum hw_status hw_transport_open(const struct hw_context *ctx, enum hw_transport_kind asked,
                                 enum hw_mpi_buffers buffers, int ranks_per_node,
                                 struct hw_transport *transport, struct hw_error *err);

/* Whether exchanges are node-aware: over mpi with several nodes, some of several ranks; over
 * nvshmem between nodes. Local. */
bool hw_transport_is_node_aware(const struct hw_transport *transport);

/* Opens a transport without heaps over the connections of another, which must outlive it. The two
 * may not be used at the same time. Local. */
void hw_transport_borrow(const struct hw_transport *from, struct hw_transport *transport);

/* "mpi", "peer", "nccl" or "nvshmem". */
const char *hw_transport_name(const struct hw_transport *transport);

/* The first offset in a heap, past `bytes` bytes at `at`, at which any array may begin. Local. */
static inline hw_count hw_heap_after(hw_count at, hw_count bytes)
{
    return (at + bytes + 255) / 256 * 256;
}

/* Allocates and maps the heaps, zeroed. Collective; ranks agree. */
enum hw_status hw_transport_heap(struct hw_transport *transport, hw_count bytes,
                                 struct hw_error *err);

/*
 * Makes bytes [offset, offset + bytes) of rank q's heap, as of the work in q's stream before the
 * call, readable by this device's kernels at *at: with peer access in q's heap, else in a copy in
 * `buffer` [bytes], which is unused with peer access. Valid until the next collective call.
 * Collective; ranks agree.
 */
enum hw_status hw_transport_fetch(struct hw_transport *transport, int q, hw_count offset,
                                  hw_count bytes, void *buffer, const void **at,
                                  struct hw_error *err);

/*
 * Personalised all-to-all exchange of bytes between heaps: send_bytes[r] bytes at send_offset[r] of
 * this rank's heap go to rank r; receive_bytes[r] bytes from rank r are stored at
 * receive_offset[r]. Both sides know the counts. Waits for the default stream first and is complete
 * on return. send_offset ... receive_bytes: [ranks]. Collective; ranks agree.
 */
enum hw_status hw_transport_exchange(struct hw_transport *transport, const hw_count *send_offset,
                                     const hw_count *send_bytes, const hw_count *receive_offset,
                                     const hw_count *receive_bytes, struct hw_error *err);

/* The same where all receivers of a rank get the same bytes: its send offsets are equal. One copy
 * goes to each node. Collective; ranks agree. */
enum hw_status hw_transport_broadcast(struct hw_transport *transport, const hw_count *send_offset,
                                      const hw_count *send_bytes, const hw_count *receive_offset,
                                      const hw_count *receive_bytes, struct hw_error *err);

/* Defers a local error: the next exchange returns it on all ranks, so that they need not agree
 * before. Local. */
void hw_transport_defer_error(struct hw_transport *transport, enum hw_status status);

/* Bytes and messages that this rank has sent to other nodes in exchanges since the last call.
 * Local. */
struct hw_internode_traffic hw_transport_internode_traffic(struct hw_transport *transport);

/* Frees heaps and connections. Accepts one that is zeroed. Collective. */
void hw_transport_close(struct hw_transport *transport);

#endif
