/*
 * What transport mpi is made of: bytes between devices
 *
 *   through pinned memory of the hosts, which the ranks of a node share, and messages of MPI
 *   between nodes (lib/comm/node_aware_exchange.h);
 *
 *   or, where MPI takes pointers to memory of devices, by its messages straight from heap to
 *   heap (lib/comm/direct_exchange.h), and between nodes of several ranks, to which one message
 * goes from each rank, by rooms on the devices that the ranks of a node reach.
 */
#ifndef HOPWAVE_GPU_COMM_HOST_STAGING_H
#define HOPWAVE_GPU_COMM_HOST_STAGING_H

#include "lib/comm/node_aware_exchange.h"
#include "lib/comm/transport_kind.h"

struct hw_host_staging;

/*
 * Pins the memory that exchanges go through, the same on all ranks and for all sizes, or opens
 * the rooms on devices. buffers: AUTO is DEVICE where this MPI takes that and the ranks of
 * nodes reach each other's devices, else HOST; DEVICE is not for other MPIs.
 * Borrows ctx and nodes. Collective; ranks agree. Returns HW_RESOURCES where DEVICE is asked
 * for and the ranks of a node do not reach each other's devices.
 */
enum hw_status hw_host_staging_open(const struct hw_context *ctx, const struct hw_nodes *nodes,
                                    enum hw_mpi_buffers buffers, struct hw_host_staging **staging,
                                    struct hw_error *err);

/* Whether MPI gets pointers to memory of devices. Local. */
bool hw_host_staging_is_direct(const struct hw_host_staging *staging);

/* As hw_node_aware_exchange(), between memory of devices. Collective; ranks agree. */
enum hw_status hw_host_staging_exchange(struct hw_host_staging *staging,
                                        const struct hw_node_aware_load *load,
                                        struct hw_error *err);

/* As hw_node_aware_internode_traffic(). Local. */
struct hw_internode_traffic hw_host_staging_internode_traffic(struct hw_host_staging *staging);

/* Copies `bytes` at `own` of rank q's device to `room` on all devices, rank q's too.
 * Collective; ranks agree. */
enum hw_status hw_host_staging_broadcast(struct hw_host_staging *staging, int q, const void *own,
                                         hw_count bytes, void *room, struct hw_error *err);

/* Collective over the node. Accepts NULL. */
void hw_host_staging_close(struct hw_host_staging *staging);

#endif
