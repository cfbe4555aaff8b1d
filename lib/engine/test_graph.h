/*
 * For tests of methods on the degree-separated layout: small graphs that every rank holds
 * whole, grown tuple by tuple.
 */
#ifndef HOPWAVE_ENGINE_TEST_GRAPH_H
#define HOPWAVE_ENGINE_TEST_GRAPH_H

#include "comm/context.h"
#include "graph/graph.h"
#include "layout/part.h"

struct graph {
    const char *name;
    struct hw_graph_desc desc;
    struct hw_edges edges;
};

struct graph new_graph(const char *name, hw_gid vertices, bool directed, enum hw_weights weights);
void free_graph(struct graph *graph);

/* Adds a tuple, of weight 0 or of this one. */
void add(struct graph *graph, hw_gid u, hw_gid v);
void add_i32(struct graph *graph, hw_gid u, hw_gid v, int32_t weight);
void add_f32(struct graph *graph, hw_gid u, hw_gid v, float weight);

/* A random number below a bound, and the next state. */
uint32_t draw(uint32_t *state, uint32_t below);

/* Parts on so many nodes of so many devices. */
struct hw_layout_spec spec_of(int nodes, int devices, hw_count threshold, enum hw_order order);

/* The place where a root lies. Collective. */
void find_root(const struct hw_context *ctx, const struct hw_part *part, hw_gid root, int *owner,
               hw_lid *position);

/* The sum over all ranks. Collective. */
hw_count sum_of(const struct hw_context *ctx, hw_count value);

#endif
