/*
 * Frontier queues of the methods that run all levels top-down: parameters and counters shared by
 * host and device code.
 */
#ifndef HOPWAVE_GPU_BFS_COMMON_FRONTIER_QUEUE_H
#define HOPWAVE_GPU_BFS_COMMON_FRONTIER_QUEUE_H

#include "gpu/engine/result_kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bits of the edges in packed queue sizes (gpu/device/packed_queue.h). */
#define HW_FRONTIER_QUEUE_EDGE_BITS 34

/* Counters that blocks share. Rings are indexed by depth modulo 4; each level clears the entry
 * two levels ahead. */
struct hw_frontier_queue_control {
    unsigned long long queue[4]; /* size of the level's queue, packed */
    uint32_t sinks[4];           /* vertices of the level without out-edges */
    uint32_t trace_records;
    uint32_t depth;                            /* where single-CTA levels ended */
    unsigned long long begin_ticks, end_ticks; /* clock of one multiprocessor */
    unsigned long long begin_ns, end_ns;
};

/* Arrays of a search. */
struct hw_frontier_queue_params {
    struct hw_gpu_graph graph;
    uint32_t *parent, *parent_is_first_neighbor; /* as in hw_gpu_output; the latter all zero */
    uint32_t *visited;                           /* [active / 32 + 1] bitmap */
    uint32_t *queue[2];                          /* [active + 1] frontiers of even and odd levels */
    void *prefix[2]; /* [active + 1] edges before each queue entry, as wide as offsets */
    struct hw_frontier_queue_control *control; /* [1] */
    struct hw_gpu_trace_record *trace;         /* [trace_capacity], or NULL for no trace */
    uint32_t trace_capacity;
};

#ifdef __cplusplus
}
#endif

#endif
