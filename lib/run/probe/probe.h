/* hopwave-traverse --probe: a table of what a transport gives between all pairs of ranks. */
#ifndef HOPWAVE_RUN_PROBE_PROBE_H
#define HOPWAVE_RUN_PROBE_PROBE_H

#include "lib/comm/probe/link_probe.h"
#include "lib/run/stage.h"
#include "lib/run/traverse_options.h"

/* Opens a transport between GPUs: hw_gpu_link_open() (gpu/hopwave_gpu.h), which see. */
typedef enum hw_status hw_device_link_open(const struct hw_context *ctx,
                                           enum hw_transport_kind kind, enum hw_mpi_buffers buffers,
                                           int ranks_per_node, struct hw_link *link,
                                           struct hw_error *err);

/*
 * Probes the transport of the options and prints a line for each ordered pair of ranks on rank 0's
 * standard output: ranks, their nodes, microseconds and GB/s (1e9 bytes a second); "-" where the
 * transport has no puts. The same goes into command->probe_file as CSV, unless it is NULL.
 * open_device: for devices that are GPUs.
 *
 * Returns HW_USAGE where an input or an output is given, HW_RESOURCES where the transport does not
 * work here. Collective; ranks agree.
 */
enum hw_status hw_probe(struct hw_stage *stage, const struct hw_traverse_command *command,
                        hw_device_link_open *open_device, struct hw_error *err);

#endif
