/*
 * The tuples of a graph at the device's disposal: what makes them, or all of them.
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
 * Gives the device the generator of a recipe, or else all tuples, 8 bytes each, and their
 * weights, 4 bytes, where those are wanted; their digests are verified on the way. The graph
 * has at most 2^32 vertices. HW_RESOURCES where they do not fit. Collective; ranks agree on
 * failures.
 */
enum hw_status hw_gpu_tuples_open(const struct hw_context *ctx, struct hw_graph *graph,
                                  bool weights, struct hw_device_edge_list *held,
                                  struct hw_error *err);

/* The same of this rank's share of the tuples: the ranks' shares make up all of them. */
enum hw_status hw_gpu_tuples_open_share(const struct hw_context *ctx, struct hw_graph *graph,
                                        bool weights, struct hw_device_edge_list *held,
                                        struct hw_error *err);

/* Accepts a zero-initialised one. Local. */
void hw_gpu_tuples_close(struct hw_device_edge_list *held);

#endif
