/*
 * Kernels that put into the memory of GPUs of other nodes by NVSHMEM (internode_puts.h), host side:
 * the GPUs of each node, the kernels' image, traffic, and the error of a signal that does not come.
 */
#ifndef HOPWAVE_GPU_COMM_NVSHMEM_INTERNODE_PUTS_HOST_H
#define HOPWAVE_GPU_COMM_NVSHMEM_INTERNODE_PUTS_HOST_H

#include "gpu/comm/nvshmem/internode_puts.h"
#include "gpu/comm/transport.h"

/* Whether the transport's kernels put, among at most HW_INTERNODE_RANKS ranks; notes who puts over
 * nvshmem between nodes, and why. Sets the GPUs of each node. Local. */
bool hw_internode_puts_plan(struct hw_internode_puts *self, const struct hw_transport *transport);

/* HW_OK, or an error that names the GPU whose signal did not come to this one within the timeout;
 * a less severe one where another rank ended the search. Local. */
enum hw_status hw_internode_puts_outcome(const struct hw_internode_puts *self, uint64_t timeout_ns,
                                         struct hw_error *err);

/* Reads what trace records [0, count) put into other nodes: to[count]. Local. */
enum hw_status hw_internode_puts_read_traffic(const struct hw_internode_puts *self, hw_count count,
                                              struct hw_internode_puts_traffic *to,
                                              struct hw_error *err);

#endif
