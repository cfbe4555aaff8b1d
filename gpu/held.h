/*
 * The tuples of a graph at the device's disposal: what makes them, or all of them.
 */
#ifndef HOPWAVE_GPU_HELD_H
#define HOPWAVE_GPU_HELD_H

#include "device.h"
#include "graph/graph.h"
#include "tuples.h"

/* Zero-initialise. */
struct hw_gpu_held {
    struct hw_gpu_tuples tuples;
    struct hw_gpu_arrays arrays;
};

/*
 * Gives the device the generator of a recipe, or else all tuples, without weights; 8 bytes
 * each, whose digest is verified on the way. The graph has fewer than 2^32 vertices.
 * HW_RESOURCES where they do not fit. Collective; the world has one rank.
 */
enum hw_status hw_gpu_tuples_open(struct hw_graph *graph, struct hw_gpu_held *held,
                                  struct hw_error *err);

/* Accepts a zero-initialised one. Local. */
void hw_gpu_tuples_close(struct hw_gpu_held *held);

#endif
