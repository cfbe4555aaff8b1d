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

#endif
