/*
 * Direct exchange between all ranks: one message from each rank to each rank that gets any of
 * its bytes, straight between the ranks' own memory. That may be device memory where MPI accepts
 * pointers to it.
 */
#ifndef HOPWAVE_COMM_DIRECT_EXCHANGE_H
#define HOPWAVE_COMM_DIRECT_EXCHANGE_H

#include "lib/comm/node_aware_exchange.h"

/*
 * Whether this MPI says that it accepts pointers to device memory. It is asked at run time
 * (MPIX_Query_cuda_support() of MPICH, Open MPI and their derivatives), not at build time, since
 * another library of the same ABI may be loaded. The same on all ranks of a run. Local.
 */
bool hw_direct_exchange_takes_devices(void);

/* HW_RESOURCES, with a message that names the option, where it does not. Local. */
enum hw_status hw_direct_exchange_require(struct hw_error *err);

struct hw_direct_exchange;

/* Messages are cut into pieces of `piece` bytes; 0: the largest that MPI takes. Copies within a
 * rank go through ops, as copies into own memory. Borrows ctx and nodes. Collective; ranks
 * agree. */
enum hw_status hw_direct_exchange_open(const struct hw_context *ctx, const struct hw_nodes *nodes,
                                       hw_count piece, const struct hw_memory_ops *ops,
                                       struct hw_direct_exchange **made, struct hw_error *err);

/* As hw_node_aware_exchange(); load->base_of is ignored. Collective; ranks agree. */
enum hw_status hw_direct_exchange_run(struct hw_direct_exchange *self,
                                      const struct hw_node_aware_load *load, struct hw_error *err);

/* Broadcast: copies `bytes` at `own` of rank q to `to` on all ranks, rank q included.
 * Collective; ranks agree. */
enum hw_status hw_direct_exchange_broadcast(struct hw_direct_exchange *self, int q, const void *own,
                                            hw_count bytes, void *to, struct hw_error *err);

/* What this rank has sent to other nodes in exchanges since the last call. Local. */
struct hw_internode_traffic hw_direct_exchange_internode_traffic(struct hw_direct_exchange *self);

/* Accepts NULL. Local. */
void hw_direct_exchange_close(struct hw_direct_exchange *self);

#endif
