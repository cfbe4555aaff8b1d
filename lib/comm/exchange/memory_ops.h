/*
 * Memory operations: how bytes move between a rank's own memory, which may be device memory, and
 * memory that the ranks of a node share.
 */
#ifndef HOPWAVE_COMM_EXCHANGE_MEMORY_OPS_H
#define HOPWAVE_COMM_EXCHANGE_MEMORY_OPS_H

#include "lib/comm/exchange/message_ops.h"

struct hw_memory_ops {
    void *self;
    /* Starts a copy out of own memory, or (out false) into it or within it. Local. */
    enum hw_status (*copy)(void *self, bool out, void *to, const void *from, size_t bytes,
                           struct hw_error *err);
    /* Waits for all copies of one direction. Local. */
    enum hw_status (*wait)(void *self, bool out, struct hw_error *err);
    /*
     * Allocates `bytes` of shared buffers on each rank, in other memory than the host's. Their
     * owner frees them after the exchange is closed. at: [ranks of the node], by place: the
     * address at which this rank, and MPI, reach each rank's buffers. Collective; ranks agree.
     * NULL: the buffers lie in shared host memory.
     */
    enum hw_status (*allocate)(void *self, hw_count bytes, char **at, struct hw_error *err);
    /* How messages go between the buffers that allocate() makes; borrowed. NULL: by MPI. */
    const struct hw_message_ops *messages;
    /* Copies and messages take place in the order in which they are started, as operations of one
     * stream do. Then only the end of an exchange waits, for copies into own memory, which is for
     * all. Only where every node is one rank: no other rank reads its buffers. */
    bool in_order;
};

/* Host memory on both sides. */
extern const struct hw_memory_ops hw_memory_ops_host;

#endif
