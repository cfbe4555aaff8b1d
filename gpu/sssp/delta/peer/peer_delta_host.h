/*
 * Method `delta` on several GPUs of one node in one kernel (gpu/sssp/delta/delta_search.h): what
 * its method table entries use of the host code.
 */
#ifndef HOPWAVE_GPU_SSSP_DELTA_PEER_PEER_DELTA_HOST_H
#define HOPWAVE_GPU_SSSP_DELTA_PEER_PEER_DELTA_HOST_H

#include "gpu/sssp/distributed/distributed_sssp_host.h"

/* The search in one kernel: over transport peer, in layouts where a part has the lists of its own
 * vertices alone, without negative weights. */
extern const struct hw_distributed_sssp_single_kernel_ops hw_peer_delta_ops;

/* Bytes of device memory that it takes beyond hw_distributed_sssp_device_bytes(). Local. */
hw_count hw_peer_delta_device_bytes(const struct hw_part *part);

#endif
