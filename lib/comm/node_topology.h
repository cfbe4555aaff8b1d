/*
 * Which ranks share a node, for exchanges that send one copy to each.
 */
#ifndef HOPWAVE_COMM_NODE_TOPOLOGY_H
#define HOPWAVE_COMM_NODE_TOPOLOGY_H

#include "lib/comm/context.h"

/* Nodes are numbered from 0, in the order of their least ranks. */
struct hw_nodes {
    int ranks, count;
    int *node;       /* [ranks] of each rank */
    int *by_node;    /* [ranks] ranks in the order of their nodes */
    int *first;      /* [ranks + 1] where a node's ranks begin among them; [count] is ranks */
    int *place;      /* [ranks] of each rank among them */
    MPI_Comm inside; /* of hw_nodes_open(): this rank's node */
};

/* Fills by_node, first, place and count; node holds whatever tells nodes apart, and becomes
 * their numbers. Arrays are the caller's. Local. */
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

/* The rank of a node that takes what comes from `whose`, a rank of another node: those are
 * dealt out in turn, so that it is the one of equal place where nodes are equal. Local. */
int hw_nodes_carrier(const struct hw_nodes *nodes, int node, int whose);

#endif
