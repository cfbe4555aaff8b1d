/*
 * The characteristics of a graph that papers state: degrees, components, and a lower bound of the
 * diameter.
 */
#ifndef HOPWAVE_GRAPH_CHARACTERISTICS_CHARACTERISTICS_H
#define HOPWAVE_GRAPH_CHARACTERISTICS_CHARACTERISTICS_H

#include "lib/graph/graph.h"

/*
 * A degree is the number of a vertex's neighbours other than itself, in directed graphs of those
 * that its edges lead to. Components and diameter are those of the graph without directions.
 */
struct hw_characteristics {
    hw_gid vertices;
    hw_count edges; /* tuples */
    bool directed;
    hw_count loops, duplicates; /* of the tuples */
    double mean_degree;
    double degree_deviation; /* standard deviation, of the whole population */
    hw_count degree_mode;    /* the most frequent degree, of several the least */
    hw_count max_degree;
    hw_gid isolated;          /* vertices without neighbours */
    hw_gid components;        /* isolated vertices are components */
    hw_gid largest_component; /* vertices */
    hw_count diameter_bound;  /* of the largest component (of several, that of the least
                                 id): a search from its vertex of least id, then one from
                                 the farthest vertex of least id */
};

/* Takes the characteristics of a graph, the same on all ranks and from any number of them.
 * HW_BAD_INPUT, HW_RESOURCES. Collective; ranks agree. */
enum hw_status hw_characteristics(const struct hw_context *ctx, struct hw_graph *graph,
                                  struct hw_characteristics *found, struct hw_error *err);

#endif
