/* Options of method `merge`. */
#ifndef HOPWAVE_GPU_BFS_MERGE_MERGE_OPTIONS_H
#define HOPWAVE_GPU_BFS_MERGE_MERGE_OPTIONS_H

#include "lib/engine/core/engine_options.h"

/* How work redistribution is coupled with gathering neighbors (section 4 of the paper). */
enum hw_coupling {
    HW_COUPLING_AUTO, /* hybrid */
    HW_COUPLING_SEPARATE,
    HW_COUPLING_GATHER,
    HW_COUPLING_EXPAND,
    HW_COUPLING_HYBRID,
    HW_COUPLING_DIRECT
};

extern const struct hw_option hw_option_coupling; /* enum hw_coupling */

/* Edges per frontier vertex above which hybrid uses the balanced redistribution. */
extern const struct hw_option hw_option_expand_factor;

/* HW_LAUNCHES_PHASES: kernels for the phases of each level, launched by the host. */
enum hw_launches { HW_LAUNCHES_SEARCH, HW_LAUNCHES_PHASES };
extern const struct hw_option hw_option_launches; /* enum hw_launches */

/* Steps or neighbors of a tile; 0: chosen for each level. Local. */
int64_t hw_merge_tile(const struct hw_engine_options *options);
extern const struct hw_option hw_option_tile_size;

/* hybrid gathers directly from this level on; -1: never. */
extern const struct hw_option hw_option_direct_after;

/* cta-warp-scan: whether a block takes vertices as they are queued. Local. */
bool hw_merge_is_consecutive(const struct hw_engine_options *options);

#endif
