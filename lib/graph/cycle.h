/*
 * Cycles of negative weight: the answer of a shortest-path search that has no
 * distances to give.
 */
#ifndef HOPWAVE_GRAPH_CYCLE_H
#define HOPWAVE_GRAPH_CYCLE_H

#include "lib/base/types.h"

/*
 * A closed walk along edges: vertex[0] -> vertex[1] -> ... -> vertex[0], each
 * step by the lightest of parallel edges. Zero-initialise; free with
 * hw_cycle_free().
 */
struct hw_cycle {
    hw_count length; /* edges, as many as vertices; 1 for a self-loop */
    hw_gid *vertex;  /* [length] graph ids */
    double real;     /* its weight where weights are floats: the exact sum, rounded once */
    int64_t whole;   /* its weight where weights are integers */
};

/* Empties it; accepts an empty one. Local. */
void hw_cycle_free(struct hw_cycle *cycle);

#endif
