/* The GPU methods, for the table that methods.c keeps. */
#ifndef HOPWAVE_GPU_METHODS_H
#define HOPWAVE_GPU_METHODS_H

#include "engine/engine.h"

extern const struct hw_method hw_method_fused;
extern const struct hw_method hw_method_fused_parts; /* on several GPUs */

#endif
