/*
 * The kernel of many phases for each kind of distances. Each kind is compiled in a file of
 * its own, side by side, as these kernels take the compiler longest.
 */
#ifndef HOPWAVE_GPU_SSSP_BELLMAN_PHASE_LOOP_H
#define HOPWAVE_GPU_SSSP_BELLMAN_PHASE_LOOP_H

#include "gpu/sssp/bellman/bellman_ford.h"

/* As hw_bellman_launch_shape() and hw_bellman_launch_run() for a plan of this kind. */
int hw_bellman_shape_f32(const hw_bellman_params *plan, int *blocks);
int hw_bellman_shape_i32(const hw_bellman_params *plan, int *blocks);
int hw_bellman_shape_i64(const hw_bellman_params *plan, int *blocks);
int hw_bellman_run_f32(const hw_bellman_params *plan, int blocks, uint32_t last);
int hw_bellman_run_i32(const hw_bellman_params *plan, int blocks, uint32_t last);
int hw_bellman_run_i64(const hw_bellman_params *plan, int blocks, uint32_t last);

#endif
