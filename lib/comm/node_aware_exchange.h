/*
 * Exchanges that go between nodes once: the ranks of a node put what they send into memory
 * that they share and take what comes from there, so that between nodes travels
 *
 *   one message from a rank to each other node, to the rank of it that carries what comes from
 *   that rank (of equal place, where nodes are equal): all that it has for ranks there, one
 *   after another, or one copy of what all of them get;
 *
 * and nothing within. Messages are cut into pieces: while one travels, the next is copied out
 * of the ranks' own memory, which need not be the host's, and the last one in.
 */
#ifndef HOPWAVE_COMM_NODE_AWARE_EXCHANGE_H
#define HOPWAVE_COMM_NODE_AWARE_EXCHANGE_H

#include "lib/comm/node_topology.h"

/* How bytes get between a rank's own memory and shared memory. */
struct hw_memory_ops {
    void *self;
    /* Begins to copy, out of the own memory or into it (or within, as into it). Local. */
    enum hw_status (*copy)(void *self, bool out, void *to, const void *from, size_t bytes,
                           struct hw_error *err);
    /* Waits for all copies one way. Local. */
    enum hw_status (*wait)(void *self, bool out, struct hw_error *err);
    /*
     * Where what is shared is no memory of the host: allocates `bytes` a rank, which stay till
     * the mover's owner takes them back; at: [ranks of the node] where this rank, and MPI,
     * reach those of each, by place. Collective; ranks agree. NULL: memory of the host.
     */
    enum hw_status (*rooms)(void *self, hw_count bytes, char **at, struct hw_error *err);
};

/* Between plain memory of hosts. */
extern const struct hw_memory_ops hw_node_aware_plain;

struct hw_node_aware;

/*
 * Allocates `room` bytes of shared memory for each node, less where there is little, or the
 * least that is needed.
 * Borrows ctx and nodes. Collective over ctx->world; ranks agree. Returns HW_RESOURCES where
 * there is no such memory.
 */
enum hw_status hw_node_aware_open(const struct hw_context *ctx, const struct hw_nodes *nodes,
                                  hw_count room, const struct hw_memory_ops *mover,
                                  struct hw_node_aware **made, struct hw_error *err);

/* The node's shared memory of the host, and the part of it that is this rank's to use between
 * exchanges: none where the mover has rooms elsewhere. Local. */
void *hw_node_aware_shared(const struct hw_node_aware *self, size_t *bytes);
void *hw_node_aware_own(const struct hw_node_aware *self, size_t *bytes);

/* What one rank has for the others and gets from them. */
struct hw_node_aware_load {
    char *base;                                     /* own memory */
    const hw_count *send_offset, *send_bytes;       /* [ranks] from base, for each rank */
    const hw_count *receive_offset, *receive_bytes; /* [ranks] likewise, from each */
    bool same; /* all that get any of a rank get the same, of one offset */
    char *const
        *base_of;          /* [ranks] other ranks' memory, of all ranks of the node or none, where
                              this one reaches it: then it takes what is its from there. May be NULL */
    enum hw_status status; /* what this rank's work before came to: it takes part all the same, and
                              what it failed of is everybody's at the end */
};

/*
 * Exchanges: send_bytes[q] go to each rank q, which gets as many. Both sides know the counts.
 * Complete on return. Collective; ranks agree.
 */
enum hw_status hw_node_aware_exchange(struct hw_node_aware *self,
                                      const struct hw_node_aware_load *load, struct hw_error *err);

/* What this rank has sent to other nodes since the last call. Local. */
struct hw_internode_traffic {
    hw_count bytes, messages;
};
struct hw_internode_traffic hw_node_aware_internode_traffic(struct hw_node_aware *self);

/* Accepts NULL. Collective over the node. */
void hw_node_aware_close(struct hw_node_aware *self);

#endif
