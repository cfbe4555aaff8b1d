/*
 * What the weights of a partition are like: which methods apply, and how wide a
 * bucket should be.
 */
#ifndef HOPWAVE_ENGINE_SSSP_WEIGHT_STATS_H
#define HOPWAVE_ENGINE_SSSP_WEIGHT_STATS_H

#include "lib/base/status.h"
#include "lib/comm/context.h"
#include "lib/engine/sssp/distance.h"
#include "lib/layout/part.h"

/* Over the stored edges of all parts. */
struct hw_weight_stats {
    hw_count edges;
    hw_count negative;     /* edges of negative weight, self-loops kept apart included */
    double min, max, mean; /* weights; 0 where there are no edges */
};

/* Reads all weights of this part, with its threads. part->weights must not be
 * HW_WEIGHTS_NONE. Collective; the same on all ranks. */
enum hw_status hw_weight_stats(const struct hw_context *ctx, const struct hw_part *part,
                               struct hw_weight_stats *stats, struct hw_error *err);

/*
 * The same for a method of shortest paths. Returns HW_BAD_INPUT, with the method's name, for
 * parts without weights, for weights that are no finite numbers, and for negative ones unless
 * it takes them. Collective; the same on all ranks.
 */
enum hw_status hw_weight_stats_for(const struct hw_context *ctx, const struct hw_part *part,
                                   const char *method, bool takes_negative,
                                   struct hw_weight_stats *stats, struct hw_error *err);

/* No path without a cycle is longer, or shorter than the negative of this. Local. */
double hw_weight_stats_longest(const struct hw_weight_stats *stats, const struct hw_part *part);

/* What distances are made of: along a negative cycle sums have no bound. Local. */
enum hw_distance hw_weight_stats_kind(const struct hw_weight_stats *stats,
                                      const struct hw_part *part);

/* Whether a float may be too small for a distance. Local. */
bool hw_weight_stats_may_overflow(const struct hw_weight_stats *stats, const struct hw_part *part);

/* The failure of a search with such a distance. Returns HW_BAD_INPUT. Local. */
enum hw_status hw_distances_overflow(struct hw_error *err);

#endif
