/*
 * Backend HW_HALO_NODE_AWARE of halo_exchange.h: aggregation per node. The ranks of a node stage
 * what they send in shared memory, and one message travels from each rank to each other node.
 *
 *   Within a node    nothing is sent; ranks copy to and from the shared memory.
 *   Between nodes    each rank sends one message to each other node: all that it has for the
 *                    ranks there, one rank after another, or one copy of what all of them get.
 *                    It goes to the carrier of that node (hw_nodes_carrier()).
 *
 * Messages are cut into pieces and pipelined: while one piece travels, the next is copied out of
 * the ranks' own memory, and the previous one is copied in. Own memory may be device memory.
 */
#ifndef HOPWAVE_COMM_EXCHANGE_NODE_AWARE_H
#define HOPWAVE_COMM_EXCHANGE_NODE_AWARE_H

#include "lib/comm/halo_exchange.h"

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

/*
 * hw_halo_exchange(): message: [ranks]; both sides know the lengths. Counts the messages between
 * nodes; within a node nothing is sent. Complete on return. Collective; ranks agree.
 */
enum hw_status hw_node_aware_exchange(struct hw_node_aware *self,
                                      const struct hw_halo_message *message,
                                      const struct hw_halo_options *options,
                                      struct hw_traffic *traffic, struct hw_error *err);

/* Accepts NULL. Collective over the node. */
void hw_node_aware_close(struct hw_node_aware *self);

#endif
