/* The GPU methods, for the table that gpu/gpu_method_registry.c keeps. */
#ifndef HOPWAVE_GPU_ENGINE_GPU_METHODS_H
#define HOPWAVE_GPU_ENGINE_GPU_METHODS_H

#include "lib/engine/core/method.h"

extern const struct hw_method hw_method_fused;
extern const struct hw_method hw_method_fused_parts; /* on several GPUs */
extern const struct hw_method hw_method_gpu_delegates;
extern const struct hw_method hw_method_merge;
extern const struct hw_method hw_method_cta_warp_scan;
extern const struct hw_method hw_method_scan2d;
extern const struct hw_method hw_method_scan2d_parts; /* on several GPUs */
extern const struct hw_method hw_method_scatter_compact;
extern const struct hw_method hw_method_gpu_delta;
extern const struct hw_method hw_method_gpu_bellman_ford;
extern const struct hw_method hw_method_near_far;
extern const struct hw_method hw_method_adaptive;
extern const struct hw_method hw_method_delta_parts; /* on several GPUs */
extern const struct hw_method hw_method_delta_separate;
extern const struct hw_method hw_method_bellman_ford_parts;
extern const struct hw_method hw_method_bellman_ford_separate;

#endif
