/*
 * How wide a bucket of delta-stepping should be.
 */
#ifndef HOPWAVE_ENGINE_SSSP_DELTA_HEURISTIC_H
#define HOPWAVE_ENGINE_SSSP_DELTA_HEURISTIC_H

#include "lib/engine/sssp/weight_stats.h"

/*
 * The width for weights like these. Short edges should be few for each vertex:
 * the more edges a vertex has, the narrower the bucket, so that hubs, which many
 * short paths reach, settle before they push often.
 *
 * degree: edges of a vertex that has any, in the mean. More than 0. Local.
 */
double hw_bucket_width(const struct hw_weight_stats *stats, double degree);

#endif
