/*
 * The CPU methods, for the table that method_registry.c keeps. Programs go through
 * hw_methods() and hw_method_choose().
 */
#ifndef HOPWAVE_ENGINE_CORE_CPU_METHODS_H
#define HOPWAVE_ENGINE_CORE_CPU_METHODS_H

#include "lib/engine/core/method.h"

extern const struct hw_method hw_method_grid;
extern const struct hw_method hw_method_sequential;
extern const struct hw_method hw_method_delegates;
extern const struct hw_method hw_method_delta;
extern const struct hw_method hw_method_bellman_ford;
extern const struct hw_method hw_method_sssp_delegates_delta;
extern const struct hw_method hw_method_sssp_delegates_bellman_ford;
extern const struct hw_method hw_method_dijkstra;

#endif
