/*
 * The kernel of many phases for each kind of keys. Each kind is compiled in a file of its own, in
 * parallel, because these kernels take longest to compile.
 */
#ifndef HOPWAVE_GPU_SSSP_BELLMAN_PHASE_LOOP_PHASE_LOOP_H
#define HOPWAVE_GPU_SSSP_BELLMAN_PHASE_LOOP_PHASE_LOOP_H

#include "gpu/sssp/bellman/bellman_ford.h"

/* As hw_bellman_launch_shape() and hw_bellman_launch_run() for parameters of this kind. */
int hw_bellman_shape_f32(const struct hw_bellman_params *params, int *blocks);
int hw_bellman_shape_i32(const struct hw_bellman_params *params, int *blocks);
int hw_bellman_shape_i64(const struct hw_bellman_params *params, int *blocks);
int hw_bellman_run_f32(const struct hw_bellman_params *params, int blocks, uint32_t last);
int hw_bellman_run_i32(const struct hw_bellman_params *params, int blocks, uint32_t last);
int hw_bellman_run_i64(const struct hw_bellman_params *params, int blocks, uint32_t last);

#endif
