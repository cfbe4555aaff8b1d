/*
 * The edge list of a graph on the device: generator parameters, or materialized tuples.
 */
#ifndef HOPWAVE_GPU_GRAPH_DEVICE_EDGE_LIST_H
#define HOPWAVE_GPU_GRAPH_DEVICE_EDGE_LIST_H

#include "gpu/device/device.h"
#include "gpu/graph/build/edge_tuples.h"
#include "lib/graph/graph.h"

/* Zero-initialise. */
struct hw_device_edge_list {
    struct hw_gpu_tuples tuples;
    struct hw_gpu_arrays arrays;
};

/*
 * Copies to the device the generator of a graph that has one of a model that kernels make, or else
 * all tuples, 8 bytes each, and their weights, 4 bytes each, if wanted. The digests of the tuples
 * are verified. The graph has at most 2^32 vertices. HW_RESOURCES where they do not fit.
 * Collective; ranks agree on failures.
 */
enum hw_status hw_device_edge_list_open(const struct hw_context *ctx, struct hw_graph *graph,
                                        bool weights, struct hw_device_edge_list *edge_list,
                                        struct hw_error *err);

/* The same for one of ctx->size disjoint ranges of tuples, that of this rank; together they are all
 * tuples. */
enum hw_status hw_device_edge_list_open_fraction(const struct hw_context *ctx,
                                                 struct hw_graph *graph, bool weights,
                                                 struct hw_device_edge_list *edge_list,
                                                 struct hw_error *err);

/* Accepts a zero-initialised one. Local. */
void hw_device_edge_list_close(struct hw_device_edge_list *edge_list);

#endif
