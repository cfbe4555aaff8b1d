/*
 * For tests of what drives engines: a small graph that every rank holds whole,
 * its parts in any layout, and a method that searches it serially.
 */
#ifndef HOPWAVE_ENGINE_TOY_H
#define HOPWAVE_ENGINE_TOY_H

#include "engine/engine.h"

/* The graph, and this rank's part of it. */
struct hw_toy {
    const struct hw_context *ctx;
    struct hw_graph_desc desc;
    struct hw_edges edges;
    struct hw_part part;
    bool *candidate;         /* [vertices] has an edge (out of it) to another vertex */
    int searches;            /* so far */
    struct hw_method method; /* hand it this toy as its engine */
};

/*
 * A graph of components A (ids 0..29, a cycle with chords), B (a path of 5), C
 * (pairs), with self-loops, duplicates and isolated vertices; laid out over one
 * part a rank. Aborts when it cannot. Collective.
 */
void hw_toy_open(const struct hw_context *ctx, enum hw_layout layout, enum hw_order order,
                 bool directed, struct hw_toy *toy);

/* Levels from a root. level: [vertices]. Local. */
void hw_toy_levels(const struct hw_toy *toy, hw_gid root, int32_t *level);

void hw_toy_close(struct hw_toy *toy);

#endif
