/*
 * Method `fused` on several GPUs over transports that need the host: a kernel for each
 * step, exchanges between them.
 */
#ifndef HOPWAVE_GPU_BFS_DIRECTION_OPTIMIZING_HOST_STAGED_BFS_H
#define HOPWAVE_GPU_BFS_DIRECTION_OPTIMIZING_HOST_STAGED_BFS_H

#include "gpu/bfs/direction_optimizing/peer_bfs.h"
#include "gpu/comm/transport.h"

/* What went to other ranks in one step. */
struct hw_node_books {
    hw_count messages;
    struct hw_crossed crossed;
};

/* What a search by steps works with; borrowed. */
struct hw_node_stepper {
    struct hw_transport *transport;
    const struct hw_node_plan *plan;
    const struct hw_node_shape *shape;
    hw_count outbox, inbox, packed; /* offsets in the heap */
    struct hw_node_row *row;        /* [row_capacity] on the host, or NULL where none are wanted */
    struct hw_node_books *books;    /* [row_capacity] likewise */
    hw_count rows;                  /* kept of the search */
};

/* A search from a global rank, or from HW_RANK_NONE; parents are complete on return.
 * Collective; ranks agree. */
enum hw_status hw_node_search_by_steps(struct hw_node_stepper *stepper, uint32_t root,
                                       struct hw_error *err);

#endif
