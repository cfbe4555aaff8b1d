/* Options of method `scan2d`. Where the default differs from the paper, one of them restores what
 * the paper does. */
#ifndef HOPWAVE_GPU_BFS_GRID2D_SCAN2D_OPTIONS_H
#define HOPWAVE_GPU_BFS_GRID2D_SCAN2D_OPTIONS_H

#include "gpu/engine/one_gpu_options.h"
#include "lib/engine/core/engine_options.h"

/* Edges that a thread works on at once (section 3.4.1 of the paper). */
extern const struct hw_option hw_option_edges_per_thread;

/* Words of options that restore what the paper does. */
enum hw_scan2d_grouping { HW_SCAN2D_GROUP_BY_BITMAP, HW_SCAN2D_GROUP_BY_ATOMICS };
enum hw_scan2d_receives { HW_SCAN2D_RECEIVES_AUTO, HW_SCAN2D_RECEIVES_AHEAD };

extern const struct hw_option hw_option_skip_visited; /* switches: 1 by default */
extern const struct hw_option hw_option_level_slices;
extern const struct hw_option hw_option_grouping; /* enum hw_scan2d_grouping */
extern const struct hw_option hw_option_receives; /* enum hw_scan2d_receives */

#endif
