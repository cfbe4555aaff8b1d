/* Option --delta-kernel of method `delta`. */
#ifndef HOPWAVE_GPU_SSSP_DELTA_DELTA_KERNEL_OPTION_H
#define HOPWAVE_GPU_SSSP_DELTA_DELTA_KERNEL_OPTION_H

#include "lib/engine/core/engine_options.h"

/* Kernels of delta-stepping, in the order of the option's words. */
enum hw_delta_kernel {
    HW_DELTA_KERNEL_AUTO,
    HW_DELTA_KERNEL_BALANCED,      /* gpu/sssp/delta/one_gpu_delta_search_kernel.cu */
    HW_DELTA_KERNEL_SMALL_FRONTIER /* gpu/sssp/delta/small_frontier_delta_kernel.cu */
};

/* What the user asks for. Local. */
enum hw_delta_kernel hw_delta_kernel_of(const struct hw_engine_options *options);

/* The option's word for a kernel. Local; static memory. */
const char *hw_delta_kernel_name(enum hw_delta_kernel kernel);

#endif
