/*
 * What a graph is like by its degrees: the input of the policy of --method auto.
 */
#ifndef HOPWAVE_RUN_AUTO_GRAPH_TRAITS_H
#define HOPWAVE_RUN_AUTO_GRAPH_TRAITS_H

#include "lib/base/status.h"
#include "lib/comm/context.h"
#include "lib/layout/part.h"

/* Degrees count distinct neighbors, in directed graphs those that edges lead to; only vertices with
 * edges count. */
struct hw_graph_traits {
    bool directed;
    hw_count vertices; /* with edges */
    double mean_degree;
    double max_degree;
    double dispersion; /* variance of the degrees over their mean: 1 where edges are drawn at
                          random; 0 where all degrees are alike */
};

/*
 * Computes the traits from a partition. Parallel edges are merged in the mean alone: the maximum
 * and the variance scale the ends of tuples (part->own.tuples) by the same factor. Time: one pass
 * over part->own.tuples. Collective; the same on all ranks.
 */
enum hw_status hw_graph_traits(const struct hw_context *ctx, const struct hw_part *part,
                               struct hw_graph_traits *traits, struct hw_error *err);

#endif
