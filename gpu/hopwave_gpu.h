/*
 * The GPU engines behind one C header: all that lib/ knows of CUDA.
 */
#ifndef HOPWAVE_GPU_HOPWAVE_GPU_H
#define HOPWAVE_GPU_HOPWAVE_GPU_H

#include "lib/engine/core/engine.h"

/*
 * The GPU methods of this build, NULL-ended and at most HW_GPU_METHODS of them;
 * none where CUDA is absent. Local.
 */
#define HW_GPU_METHODS 32
const struct hw_method *const *hw_gpu_methods(void);

/*
 * What hw_parts_build() does (layout/part.h), to the same parts, on the ranks' devices: each
 * makes all edges, or is given those of a file, and sorts the entries of its parts, in as many
 * passes as its memory needs. HW_RESOURCES without a device, or where it is too small.
 * Collective.
 */
enum hw_status hw_gpu_parts_build(const struct hw_context *ctx, struct hw_graph *graph,
                                  const struct hw_layout_spec *spec, int first_part, int count,
                                  struct hw_part *parts, struct hw_error *err);

#endif
