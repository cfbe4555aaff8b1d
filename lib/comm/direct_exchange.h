/*
 * Exchanges by one message from each rank to each that gets any bytes of it, straight between
 * the ranks' own memory: what MPI takes pointers to, memory of devices where it takes those.
 */
#ifndef HOPWAVE_COMM_DIRECT_EXCHANGE_H
#define HOPWAVE_COMM_DIRECT_EXCHANGE_H

#include "lib/comm/node_aware_exchange.h"

/*
 * Whether this MPI says that it takes pointers to memory of CUDA devices. It is asked where the
 * program runs (MPIX_Query_cuda_support(), of MPICH, Open MPI and their kin), not where it was
 * built: libraries of one interface are exchanged for each other. The same on all ranks of a
 * run. Local.
 */
bool hw_direct_exchange_takes_devices(void);

/* Returns HW_RESOURCES where it does not, for the option that asks for it. Local. */
enum hw_status hw_direct_exchange_require(struct hw_error *err);

struct hw_direct_exchange;

/* Messages are cut into pieces of `piece` bytes, 0: the most. Copies within a rank are the
 * mover's, as into own memory. Borrows ctx and nodes. Collective; ranks agree. */
enum hw_status hw_direct_exchange_open(const struct hw_context *ctx, const struct hw_nodes *nodes,
                                       hw_count piece, const struct hw_memory_ops *mover,
                                       struct hw_direct_exchange **made, struct hw_error *err);

/* As hw_node_aware_exchange(); load->base_of is not looked at. Collective; ranks agree. */
enum hw_status hw_direct_exchange_run(struct hw_direct_exchange *self,
                                      const struct hw_node_aware_load *load, struct hw_error *err);

/* Copies `bytes` at `own` of rank q to `room` of all ranks, rank q's too. Collective; ranks
 * agree. */
enum hw_status hw_direct_exchange_broadcast(struct hw_direct_exchange *self, int q, const void *own,
                                            hw_count bytes, void *room, struct hw_error *err);

/* What this rank has sent to other nodes in exchanges since the last call. Local. */
struct hw_internode_traffic hw_direct_exchange_internode_traffic(struct hw_direct_exchange *self);

/* Accepts NULL. Local. */
void hw_direct_exchange_close(struct hw_direct_exchange *self);

#endif
