/* Options of method `scan2d`. */
#ifndef HOPWAVE_GPU_BFS_GRID2D_SCAN2D_OPTIONS_H
#define HOPWAVE_GPU_BFS_GRID2D_SCAN2D_OPTIONS_H

#include "lib/engine/core/engine_options.h"

/* Edges that a thread works on at once (section 3.4.1 of the paper). */
extern const struct hw_option hw_option_edges_per_thread;

#endif
