/*
 * Which ranks share a node, for exchanges that send one copy to each.
 */
#ifndef HOPWAVE_COMM_NODE_TOPOLOGY_H
#define HOPWAVE_COMM_NODE_TOPOLOGY_H

#include "lib/comm/context.h"

/* Nodes are numbered from 0, in the order of their lowest ranks. */
struct hw_nodes {
    int ranks, count;
    int *node;       /* [ranks] the node of each rank */
    int *by_node;    /* [ranks] the ranks sorted by node, then by rank */
    int *first;      /* [ranks + 1] where each node begins in by_node; first[count] is ranks */
    int *place;      /* [ranks] the index of each rank in by_node */
    MPI_Comm inside; /* the ranks of this rank's node; set by hw_nodes_open() */
};

/* Fills by_node, first, place and count. node holds any number that differs between nodes, and
 * becomes the node's number. The caller owns the arrays. Local. */
void hw_nodes_order(struct hw_nodes *nodes);

/*
 * Finds the ranks that share memory and have the same node_id, or, where together > 0, are
 * among the same so many consecutive ranks. Allocates the arrays; hw_nodes_free() them.
 * Collective over ctx->world; ranks agree.
 */
enum hw_status hw_nodes_open(const struct hw_context *ctx, int together, struct hw_nodes *nodes,
                             struct hw_error *err);

/* Accepts one that is zeroed. Collective over the node. */
void hw_nodes_free(struct hw_nodes *nodes);

/* Ranks of a node. Local. */
static inline int hw_nodes_size(const struct hw_nodes *nodes, int node)
{
    return nodes->first[node + 1] - nodes->first[node];
}

/* How many ranks of other nodes come before rank `whose`, of another node than `node`. Local. */
static inline int hw_nodes_before(const struct hw_nodes *nodes, int node, int whose)
{
    const int place = nodes->place[whose];

    return place < nodes->first[node] ? place : place - hw_nodes_size(nodes, node);
}

/* The carrier: the rank of `node` that receives the message of `whose`, a rank of another node.
 * Ranks of other nodes are assigned round-robin; between nodes of equal size it is the rank of
 * equal place. Local. */
int hw_nodes_carrier(const struct hw_nodes *nodes, int node, int whose);

#endif
