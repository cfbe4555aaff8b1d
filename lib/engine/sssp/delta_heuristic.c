#include "lib/engine/sssp/delta_heuristic.h"

/* Short edges of a vertex of mean degree, where weights are uniform. */
#define SHORT_EDGES 2.0
/* The same where degrees are small: a frontier there is a front that moves through the graph,
 * and in a narrow bucket too short for several threads. */
#define SHORT_EDGES_OF_FRONTS 8.0
#define FRONT_DEGREE 8

double hw_bucket_width(const struct hw_weight_stats *stats, double degree)
{
    double edges = degree < FRONT_DEGREE ? SHORT_EDGES_OF_FRONTS : SHORT_EDGES;
    /* Uniform weights reach to twice their mean; outliers should not widen buckets. */
    double width = 2 * stats->mean * edges / (degree > 1 ? degree : 1);

    return width > 0 ? width : 1; /* all weights are zero: one bucket, of any width */
}
