/*
 * The registry of CPU methods: one line each. METHOD(name) stands for the engine hw_method_NAME,
 * which points to its descriptor. If several methods support a part, `auto` selects the first.
 */
#ifndef HOPWAVE_ENGINE_CORE_CPU_METHOD_LIST_H
#define HOPWAVE_ENGINE_CORE_CPU_METHOD_LIST_H

#include "lib/engine/core/method.h"

#define HW_CPU_METHOD_LIST(METHOD)                                                                 \
    METHOD(grid)                                                                                   \
    METHOD(delegates)                                                                              \
    METHOD(sequential)                                                                             \
    METHOD(delta)                                                                                  \
    METHOD(bellman_ford)                                                                           \
    METHOD(sssp_delegates_delta)                                                                   \
    METHOD(sssp_delegates_bellman_ford)                                                            \
    METHOD(dijkstra)

#define HW_DECLARE_CPU_METHOD(name) extern const struct hw_method hw_method_##name;
HW_CPU_METHOD_LIST(HW_DECLARE_CPU_METHOD)
#undef HW_DECLARE_CPU_METHOD

#endif
