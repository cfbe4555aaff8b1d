/*
 * Transports between GPUs, one rank a GPU, behind one interface.
 *
 *   peer   the ranks of one node: each reaches the heaps of all others (CUDA IPC), so
 *          that kernels store straight into them;
 *   mpi    everywhere: between nodes each rank sends one message to each, with one copy of
 *          what several ranks there get, through pinned memory of the hosts, or straight from
 *          memory of devices where MPI takes that; within a node through pinned memory that
 *          its ranks share, or straight too; or, where there are several nodes whose devices
 *          reach each other, those copy from each other;
 *   nccl   NCCL's sends and receives, where the build has it.
 *
 * A heap has the same size on all ranks; what stands at an offset of one is known to all.
 */
#ifndef HOPWAVE_GPU_COMM_TRANSPORT_H
#define HOPWAVE_GPU_COMM_TRANSPORT_H

#include "gpu/comm/host_staging.h"
#include "gpu/comm/nccl_collectives.h"
#include "gpu/device/device.h"
#include "lib/comm/transport_kind.h"

struct hw_transport {
    enum hw_transport_kind kind; /* what it is, never AUTO once open */
    const struct hw_context *ctx;
    char **heap; /* [ranks] as this device reaches them; NULL for those it does not */
    hw_count heap_bytes;
    struct hw_nodes nodes;
    bool reaches;                    /* mpi: the heaps of this rank's node are open */
    bool direct;                     /* MPI gets pointers to memory of devices */
    enum hw_status owed;             /* of hw_transport_defer_error() */
    struct hw_host_staging *staging; /* mpi */
    struct hw_nccl *nccl;
    bool borrowed;                       /* nodes, staging and nccl are another one's */
    struct hw_internode_traffic crossed; /* nccl: since hw_transport_internode_traffic() */
};

/*
 * Chooses and opens a transport. The device is chosen already. AUTO is peer where that
 * works and each rank has a GPU of its own, else mpi, with a note that says why. (Kernels of
 * ranks that share a GPU take turns there, so that over peer each would wait for the others'
 * turns.) together: consecutive ranks that are taken for a node where peer does not work, or 0:
 * those that are. buffers: what MPI is given of bytes on devices; AUTO: pointers to them where
 * it takes those. Collective over ctx->world; ranks agree.
 *
 * Returns HW_RESOURCES where the one asked for does not work here: peer where some rank's
 * memory cannot be opened, nccl without its library and where ranks share a GPU, pointers that
 * this MPI does not take.
 */
enum hw_status hw_transport_open(const struct hw_context *ctx, enum hw_transport_kind asked,
                                 enum hw_mpi_buffers buffers, int together,
                                 struct hw_transport *transport, struct hw_error *err);

/* Over mpi: whether there are several nodes, some of several ranks. Local. */
bool hw_transport_is_node_aware(const struct hw_transport *transport);

/* A transport without heaps over the connection of another, which lives longer; the two are not
 * used at the same time. Local. */
void hw_transport_share(const struct hw_transport *from, struct hw_transport *transport);

/* "mpi", "peer" or "nccl". */
const char *hw_transport_name(const struct hw_transport *transport);

/* Allocates the heaps, zeroed. Collective; ranks agree. */
enum hw_status hw_transport_heap(struct hw_transport *transport, hw_count bytes,
                                 struct hw_error *err);

/*
 * Bytes [offset, offset + bytes) of rank q's heap, complete when q's stream was at the
 * call, somewhere that this device's kernels can read: over peer where they are, else
 * copied to `room` [bytes], which is not touched over peer. They stay until the next
 * collective call. Collective; ranks agree.
 */
enum hw_status hw_transport_fetch(struct hw_transport *transport, int q, hw_count offset,
                                  hw_count bytes, void *room, const void **at,
                                  struct hw_error *err);

/*
 * Personalised exchange of bytes between devices: send_bytes[r] from heap offset
 * send_offset[r] go to rank r, which takes them to heap offset receive_offset[own rank];
 * receive_bytes[r] come from rank r. Waits for the default stream before and is complete
 * on return. All counts are known. Collective; ranks agree.
 *
 * send_offset ... receive_bytes: [ranks].
 */
enum hw_status hw_transport_exchange(struct hw_transport *transport, const hw_count *send_offset,
                                     const hw_count *send_bytes, const hw_count *receive_offset,
                                     const hw_count *receive_bytes, struct hw_error *err);

/* The same, where all that get any bytes of a rank get the same ones: its send_offset are
 * equal. One copy goes to each node. */
enum hw_status hw_transport_broadcast(struct hw_transport *transport, const hw_count *send_offset,
                                      const hw_count *send_bytes, const hw_count *receive_offset,
                                      const hw_count *receive_bytes, struct hw_error *err);

/* The next exchange ends with this failure on all ranks, where it is one, so that they need
 * not agree before. Local. */
void hw_transport_defer_error(struct hw_transport *transport, enum hw_status status);

/* What this rank has sent to other nodes in exchanges since the last call. Local. */
struct hw_internode_traffic hw_transport_internode_traffic(struct hw_transport *transport);

/* Gives all back. Collective. Accepts one that is zeroed. */
void hw_transport_close(struct hw_transport *transport);

#endif
