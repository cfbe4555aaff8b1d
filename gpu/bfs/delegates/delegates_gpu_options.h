/* Options that method `delegates` has on GPUs alone. Each restores what the paper does. */
#ifndef HOPWAVE_GPU_BFS_DELEGATES_DELEGATES_GPU_OPTIONS_H
#define HOPWAVE_GPU_BFS_DELEGATES_DELEGATES_GPU_OPTIONS_H

#include "lib/engine/core/engine_options.h"

extern const struct hw_option hw_option_backward_estimate; /* 0: degrees, 1: uniform */
extern const struct hw_option hw_option_dd_visits;         /* 0: auto, 1: once */
extern const struct hw_option hw_option_prune_nn;          /* a switch, 1 by default */
extern const struct hw_option hw_option_small_steps;       /* likewise */
extern const struct hw_option hw_option_overlap_visits;    /* a switch, 0 by default */

#endif
