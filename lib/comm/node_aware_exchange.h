/*
 * Node-aware exchange between all ranks (aggregation per node): the ranks of a node stage what
 * they send in shared memory, and one message travels from each rank to each other node.
 *
 *   Within a node    nothing is sent; ranks copy to and from the shared memory.
 *   Between nodes    each rank sends one message to each other node: all that it has for the
 *                    ranks there, one rank after another, or one copy of what all of them get.
 *                    It goes to the carrier of that node (hw_nodes_carrier()).
 *
 * Messages are cut into pieces and pipelined: while one piece travels, the next is copied out of
 * the ranks' own memory, and the previous one is copied in. Own memory may be device memory.
 */
#ifndef HOPWAVE_COMM_NODE_AWARE_EXCHANGE_H
#define HOPWAVE_COMM_NODE_AWARE_EXCHANGE_H

#include "lib/comm/node_topology.h"

/* Memory operations: how bytes move between a rank's own memory and shared memory. */
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
};

/* Host memory on both sides. */
extern const struct hw_memory_ops hw_node_aware_plain;

struct hw_node_aware;

/*
 * Allocates shared memory for each node: shared_bytes, or less where /dev/shm has less, but not
 * below the smallest size that works.
 * Borrows ctx and nodes. Collective over ctx->world; ranks agree. Returns HW_RESOURCES where
 * there is no such memory.
 */
enum hw_status hw_node_aware_open(const struct hw_context *ctx, const struct hw_nodes *nodes,
                                  hw_count shared_bytes, const struct hw_memory_ops *ops,
                                  struct hw_node_aware **made, struct hw_error *err);

/* The node's shared host memory, and the part of it that this rank may use between exchanges:
 * empty where ops->allocate placed the buffers elsewhere. Local. */
void *hw_node_aware_shared(const struct hw_node_aware *self, size_t *bytes);
void *hw_node_aware_own(const struct hw_node_aware *self, size_t *bytes);

/* What one rank sends to the others and receives from them. */
struct hw_node_aware_load {
    char *base;                                     /* own memory */
    const hw_count *send_offset, *send_bytes;       /* [ranks] from base, for each rank */
    const hw_count *receive_offset, *receive_bytes; /* [ranks] likewise, from each */
    bool same; /* a broadcast: all receivers of a rank get the same bytes, from one offset */
    /* [ranks] base of other ranks where this rank can address it (all ranks of the node, or
     * NULL for none): it then copies what it receives straight from there. May be NULL. */
    char *const *base_of;
    /* The outcome of this rank's work before. A rank that failed still takes part, so that
     * nobody waits for it; all ranks return its failure. */
    enum hw_status status;
};

/*
 * Exchanges: send_bytes[q] go to each rank q, which gets as many. Both sides know the counts.
 * Complete on return. Collective; ranks agree.
 */
enum hw_status hw_node_aware_exchange(struct hw_node_aware *self,
                                      const struct hw_node_aware_load *load, struct hw_error *err);

/* What this rank has sent to other nodes since the last call, which resets it. Local. */
struct hw_internode_traffic {
    hw_count bytes, messages;
};
struct hw_internode_traffic hw_node_aware_internode_traffic(struct hw_node_aware *self);

/* Accepts NULL. Collective over the node. */
void hw_node_aware_close(struct hw_node_aware *self);

#endif
