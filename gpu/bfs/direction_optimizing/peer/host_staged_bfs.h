/*
 * Method `fused` on several GPUs over transports other than peer: the host launches one kernel
 * per step of a level (enum hw_peer_bfs_step_kind) and exchanges data between steps.
 */
#ifndef HOPWAVE_GPU_BFS_DIRECTION_OPTIMIZING_PEER_HOST_STAGED_BFS_H
#define HOPWAVE_GPU_BFS_DIRECTION_OPTIMIZING_PEER_HOST_STAGED_BFS_H

#include "gpu/bfs/direction_optimizing/peer/peer_bfs.h"
#include "gpu/comm/transport.h"

/* Traffic from this rank to others in one step. */
struct hw_peer_bfs_traffic {
    hw_count messages;
    struct hw_internode_traffic internode;
};

/* What a search by steps uses; all pointers are borrowed. */
struct hw_peer_bfs_stepper {
    struct hw_transport *transport;
    const struct hw_peer_bfs_params *params;
    const struct hw_peer_bfs_shape *shape;
    hw_count outbox, inbox, packed;         /* byte offsets in the heap */
    struct hw_peer_bfs_trace_record *trace; /* [trace_capacity] on the host, or NULL: no trace */
    struct hw_peer_bfs_traffic *traffic;    /* [trace_capacity] likewise */
    hw_count trace_count;                   /* records of the search */
};

/* Searches from a global id, or from HW_INVALID_VERTEX for a root without edges. Parents are
 * complete on return. Collective; ranks agree on the status. */
enum hw_status hw_peer_bfs_search_by_steps(struct hw_peer_bfs_stepper *stepper, uint32_t root,
                                           struct hw_error *err);

#endif
