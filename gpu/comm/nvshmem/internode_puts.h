/*
 * Kernels that put into the memory of GPUs of other nodes by NVSHMEM: what host and device code
 * share. Methods embed struct hw_internode_puts in the parameters of such a kernel; the functions
 * of kernels are in internode_puts.cuh.
 *
 * All nodes have as many GPUs. A GPU is known by its rank, or by its node and its place there. GPUs
 * of one node address each other's memory. What goes to GPUs of another node is put in pieces; a
 * put sets a word at the receiver after its bytes: the number of the barrier above the length of
 * the piece.
 */
#ifndef HOPWAVE_GPU_COMM_NVSHMEM_INTERNODE_PUTS_H
#define HOPWAVE_GPU_COMM_NVSHMEM_INTERNODE_PUTS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HW_INTERNODE_RANKS 8 /* maximum */

/* What this GPU put into other nodes. */
struct hw_internode_puts_traffic {
    unsigned long long bytes, messages;
    unsigned long long broadcast_bytes; /* of the bytes: what all GPUs get */
};

struct hw_internode_puts_state {
    struct hw_internode_puts_traffic sent, traced; /* in this search; until the last trace record */
    uint32_t lost_peer; /* 1 + the rank whose signal did not come in time; 0: none */
    uint32_t ended;     /* another GPU aborted the search first */
};

struct hw_internode_puts {
    uint32_t nodes, per_node, node, place;
    uint32_t node_of[HW_INTERNODE_RANKS], place_of[HW_INTERNODE_RANKS];
    uint32_t rank_at[HW_INTERNODE_RANKS];      /* [node * per_node + place] */
    struct hw_internode_puts_state *state;     /* [1] on the device */
    struct hw_internode_puts_traffic *traffic; /* [trace_capacity] of each trace record, or NULL */
};

#ifdef __cplusplus
}
#endif

#endif
