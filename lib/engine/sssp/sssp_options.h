/* Options of shortest paths that methods on CPUs and on GPUs have. */
#ifndef HOPWAVE_ENGINE_SSSP_SSSP_OPTIONS_H
#define HOPWAVE_ENGINE_SSSP_SSSP_OPTIONS_H

#include "lib/engine/core/engine_options.h"

extern const struct hw_option hw_option_delta;           /* 0: chosen from weights and degrees */
extern const struct hw_option hw_option_no_edge_classes; /* treat all edges alike */
extern const struct hw_option hw_option_duplicates;      /* vertices enter the frontier more than
                                                            once */

/* Options of delta-stepping, and of bellman-ford on CPUs; NULL-ended. */
extern const struct hw_option *const hw_delta_options[];
extern const struct hw_option *const hw_bellman_ford_options[];

struct hw_sssp_config {
    double delta;      /* width of a bucket; 0: the method chooses */
    bool edge_classes; /* bellman-ford: treat edges to and from special vertices apart */
    bool duplicates;   /* bellman-ford: a vertex may enter the frontier more than once */
};

/* The configuration that options mean. Local. */
struct hw_sssp_config hw_sssp_config(const struct hw_engine_options *options);

/* Its delta alone. Local. */
double hw_delta_of(const struct hw_engine_options *options);

#endif
