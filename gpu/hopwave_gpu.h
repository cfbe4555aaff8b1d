/*
 * The public header of gpu/: the GPU methods and the construction of parts on devices. It is all
 * that lib/ knows of CUDA.
 */
#ifndef HOPWAVE_GPU_HOPWAVE_GPU_H
#define HOPWAVE_GPU_HOPWAVE_GPU_H

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

#endif
