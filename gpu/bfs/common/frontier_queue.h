/*
 * Queues of the methods that expand one level after another top-down: what their host
 * code and their kernels share.
 */
#ifndef HOPWAVE_GPU_BFS_COMMON_FRONTIER_QUEUE_H
#define HOPWAVE_GPU_BFS_COMMON_FRONTIER_QUEUE_H

#include "gpu/engine/result_kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A queue's size in one word, so that one atomic operation claims slots and the places of
 * their edges: vertices above, edges below. Vertices without edges are not queued. */
#define HW_FRONTIER_QUEUE_EDGE_BITS 34

/* Counters that blocks share. Those in rings belong to the level whose depth modulo 4
 * they have; each level clears the ring two levels ahead. */
struct hw_frontier_queue_control {
    unsigned long long queue[4]; /* the level's queue, packed as above */
    uint32_t sinks[4];           /* the level's vertices without edges */
    uint32_t rows;
    uint32_t depth;                            /* where one block alone left off */
    unsigned long long begun, ended;           /* ticks */
    unsigned long long begun_time, ended_time; /* nanoseconds */
};

/* What such a search works on. */
struct hw_frontier_queue_params {
    struct hw_gpu_graph graph;
    uint32_t *parent, *settled; /* as in hw_gpu_output; settled: all clear */
    uint32_t *visited;          /* [active / 32 + 1] visited vertices */
    uint32_t *queue[2];         /* [active + 1] of even and odd levels */
    void *prefix[2];            /* [active + 1] edges before each, as wide as offsets */
    struct hw_frontier_queue_control *control; /* [1] */
    struct hw_gpu_trace_record *row;           /* [row_capacity], or NULL where none are wanted */
    uint32_t row_capacity;
};

#ifdef __cplusplus
}
#endif

#endif
