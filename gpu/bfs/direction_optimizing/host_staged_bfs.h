/*
 * Method `fused` on several GPUs over transports that need the host: a kernel for each
 * step, exchanges between them.
 */
#ifndef HOPWAVE_GPU_BFS_DIRECTION_OPTIMIZING_HOST_STAGED_BFS_H
#define HOPWAVE_GPU_BFS_DIRECTION_OPTIMIZING_HOST_STAGED_BFS_H

#include "gpu/bfs/direction_optimizing/peer_bfs.h"
#include "gpu/comm/transport.h"

/* What went to other ranks in one step. */
struct hw_peer_bfs_traffic {
    hw_count messages;
    struct hw_internode_traffic crossed;
};

/* What a search by steps works with; borrowed. */
struct hw_peer_bfs_stepper {
    struct hw_transport *transport;
    const struct hw_peer_bfs_params *plan;
    const struct hw_peer_bfs_shape *shape;
    hw_count outbox, inbox, packed; /* offsets in the heap */
    struct hw_peer_bfs_row *row;    /* [row_capacity] on the host, or NULL where none are wanted */
    struct hw_peer_bfs_traffic *books; /* [row_capacity] likewise */
    hw_count rows;                     /* kept of the search */
};

/* A search from a global rank, or from HW_INVALID_VERTEX; parents are complete on return.
 * Collective; ranks agree. */
enum hw_status hw_peer_bfs_search_by_steps(struct hw_peer_bfs_stepper *stepper, uint32_t root,
                                           struct hw_error *err);

#endif
