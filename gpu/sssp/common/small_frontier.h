/*
 * Delta-stepping on one GPU where lists are short and frontiers small, as on roads (methods `delta`
 * and, with edges of length 1, `fused`): interface of host code and kernels
 * (gpu/sssp/delta/small_frontier_delta_kernel.cu).
 *
 * `core` vertices have degree 2 or more; vertices of degree 1 get their distances at the end.
 */
#ifndef HOPWAVE_GPU_SSSP_COMMON_SMALL_FRONTIER_H
#define HOPWAVE_GPU_SSSP_COMMON_SMALL_FRONTIER_H

#include "gpu/sssp/common/sssp_engine.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HW_SMALL_FRONTIER_THREADS 512

/* Edges of a record of a list. */
#define HW_SMALL_FRONTIER_RECORD_EDGES 4
/* In place of the vertex of a record's last edge: the list continues in the record whose index is
 * the edge's weight. */
#define HW_SMALL_FRONTIER_CONTINUATION (HW_INVALID_VERTEX - 1)

/* Routines of the trace. */
enum hw_small_frontier_routine {
    HW_SMALL_FRONTIER_ROOT,
    HW_SMALL_FRONTIER_PUSH,
    HW_SMALL_FRONTIER_NEXT_STEP,
    HW_SMALL_FRONTIER_LEAVES,
    HW_SMALL_FRONTIER_ROUTINES
};

/* Counters of one iteration that blocks share. */
struct hw_small_frontier_counters {
    unsigned long long pushed; /* edges */
    long long min_key;         /* minimum key left for later */
    uint32_t step;             /* vertices in the next iteration's queue */
    uint32_t rounds;           /* of the previous iteration */
    uint32_t idle_blocks;      /* blocks without work */
    uint32_t pad;
};

/* Counters that blocks share. Iteration n uses counters[n % 4] and clears those of n + 2. */
struct hw_small_frontier_control {
    struct hw_small_frontier_counters counters[4];
    uint32_t rest[3]; /* vertices of the rest of the bucket: a ring of three, by rest_index */
    uint32_t trace_records;
    uint32_t ready; /* several GPUs: all are */
    uint32_t pad;
    unsigned long long begin_ticks, end_ticks; /* clock64() */
    unsigned long long begin_ns, end_ns;       /* global timer */
};

struct hw_small_frontier_params {
    struct hw_gpu_graph graph;
    struct hw_gpu_sssp sssp;
    uint32_t *step_queue[2];                   /* [core + 1] of even and odd iterations */
    uint32_t *rest_queue[2];                   /* [core + 1] */
    uint32_t *step_marks[2];                   /* [core / 32 + 1] bits of the vertices queued */
    uint32_t *rest_marks;                      /* likewise */
    struct hw_small_frontier_control *control; /* [1] */
    struct hw_gpu_sssp_trace_record *trace;    /* [trace_capacity], or NULL */
    uint32_t trace_capacity;
    double delta; /* width of a step */
    /* [records + 1][HW_SMALL_FRONTIER_RECORD_EDGES], in the layout of
     * gpu/sssp/delta/small_frontier_records_kernel.cu. */
    struct hw_gpu_edge *record;
    uint32_t single_cta_vertices; /* maximum queue that one block drains */
    uint32_t vertices_per_block;  /* of larger queues */
    uint32_t min_rounds;          /* of an iteration, before blocks without work end it */
    uint32_t idle_fraction;       /* fraction of the blocks that must be without work */
};

/* Chooses the number of blocks for this device. Returns a cudaError_t. */
int hw_small_frontier_shape(const struct hw_small_frontier_params *params, int *blocks);

/* Builds the records. Returns a cudaError_t; does not wait. */
int hw_small_frontier_launch_records(const struct hw_small_frontier_params *params);

/* Launches a search. Returns a cudaError_t; does not wait. */
int hw_small_frontier_launch(const struct hw_small_frontier_params *params, int blocks,
                             uint32_t root);

#ifdef __cplusplus
}
#endif

#endif
