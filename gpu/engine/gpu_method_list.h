/*
 * The registry of GPU methods: one line each. METHOD(name) stands for the descriptor
 * hw_descriptor_NAME, which is in every build, and for the engine hw_method_NAME, which only builds
 * with CUDA have. If several methods support a part, `auto` selects the first.
 */
#ifndef HOPWAVE_GPU_ENGINE_GPU_METHOD_LIST_H
#define HOPWAVE_GPU_ENGINE_GPU_METHOD_LIST_H

#include "lib/engine/core/method.h"

#define HW_GPU_METHOD_LIST(METHOD)                                                                 \
    METHOD(fused)                                                                                  \
    METHOD(fused_parts) /* on several GPUs */                                                      \
    METHOD(gpu_delegates)                                                                          \
    METHOD(adaptive)                                                                               \
    METHOD(merge)                                                                                  \
    METHOD(cta_warp_scan)                                                                          \
    METHOD(scan2d)                                                                                 \
    METHOD(scan2d_parts) /* on several GPUs */                                                     \
    METHOD(scatter_compact)                                                                        \
    METHOD(scatter_compact_parts) /* on several GPUs */                                            \
    METHOD(gpu_delta)                                                                              \
    METHOD(gpu_bellman_ford)                                                                       \
    METHOD(near_far)                                                                               \
    METHOD(delta_parts) /* on several GPUs */                                                      \
    METHOD(delta_separate)                                                                         \
    METHOD(bellman_ford_parts)                                                                     \
    METHOD(bellman_ford_separate)

#define HW_DECLARE_GPU_METHOD(name)                                                                \
    extern const struct hw_method_descriptor hw_descriptor_##name;                                 \
    extern const struct hw_method hw_method_##name;
HW_GPU_METHOD_LIST(HW_DECLARE_GPU_METHOD)
#undef HW_DECLARE_GPU_METHOD

#endif
