/*
 * The public header of gpu/: the GPU methods and the construction of parts on devices. It is all
 * that lib/ knows of CUDA.
 */
#ifndef HOPWAVE_GPU_HOPWAVE_GPU_H
#define HOPWAVE_GPU_HOPWAVE_GPU_H

#include "lib/comm/probe/link_probe.h"
#include "lib/engine/core/method.h"

/* The descriptors of all GPU methods, whether or not this build has CUDA; NULL-ended. Local. */
const struct hw_method_descriptor *const *hw_gpu_method_descriptors(void);

/* The GPU methods of this build, NULL-ended; none in a build without CUDA. Local. */
const struct hw_method *const *hw_gpu_methods(void);

/*
 * As hw_parts_build() (lib/layout/part.h), with equal parts, on the ranks' devices: each device
 * generates all edges, or gets those of a file, and sorts the entries of its parts by ranges of
 * rows that fit its memory. Returns HW_RESOURCES without a device, or if its memory is too small.
 * Collective.
 */
enum hw_status hw_gpu_parts_build(const struct hw_context *ctx, struct hw_graph *graph,
                                  const struct hw_layout_spec *spec, int first_part, int count,
                                  struct hw_part *parts, struct hw_error *err);

/*
 * Opens a transport between the ranks' devices for hw_link_probe(); kind, buffers, ranks_per_node:
 * as hw_transport_open() (gpu/comm/transport.h). link->ops->close() frees it, also after a failure
 * if link->ops is set. Returns HW_RESOURCES without a device, or if the transport does not work
 * here. Collective; ranks agree.
 */
enum hw_status hw_gpu_link_open(const struct hw_context *ctx, enum hw_transport_kind kind,
                                enum hw_mpi_buffers buffers, int ranks_per_node,
                                struct hw_link *link, struct hw_error *err);

#endif
