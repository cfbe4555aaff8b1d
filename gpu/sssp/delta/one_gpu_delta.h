/*
 * Delta-stepping on one GPU (method `delta`): interface of host code and kernels.
 *
 * `core` vertices have degree 2 or more; vertices of degree 1 get their distances at the end.
 */
#ifndef HOPWAVE_GPU_SSSP_DELTA_ONE_GPU_DELTA_H
#define HOPWAVE_GPU_SSSP_DELTA_ONE_GPU_DELTA_H

#include "gpu/sssp/common/sssp_engine.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HW_ONE_GPU_DELTA_THREADS 1024
#define HW_SMALL_FRONTIER_THREADS 512

/* Edges of a long list that a warp relaxes at a time. */
#define HW_ONE_GPU_DELTA_CHUNK 128

/* Edges of a record of the kernel for small frontiers. */
#define HW_SMALL_FRONTIER_RECORD_EDGES 4
/* In place of the vertex of a record's last edge: the list continues in the record whose index is
 * the edge's weight. */
#define HW_SMALL_FRONTIER_CONTINUATION (HW_INVALID_VERTEX - 1)

/* Routines of the trace. */
enum hw_one_gpu_delta_routine {
    HW_ONE_GPU_DELTA_ROOT,
    HW_ONE_GPU_DELTA_PUSH,
    HW_ONE_GPU_DELTA_LIGHT_PUSH,
    HW_ONE_GPU_DELTA_NEXT_STEP,
    HW_ONE_GPU_DELTA_HEAVY_PUSH,
    HW_ONE_GPU_DELTA_HEAVY_PULL,
    HW_ONE_GPU_DELTA_NEXT_BUCKET,
    HW_ONE_GPU_DELTA_TAIL,
    HW_ONE_GPU_DELTA_LEAVES,
    HW_ONE_GPU_DELTA_ROUTINES
};

/* Counters of one iteration that blocks share. */
struct hw_one_gpu_delta_counters {
    unsigned long long
        long_lists; /* long lists of the next iteration: number above, chunks below */
    unsigned long long pushed, pulled; /* edges */
    unsigned long long degrees;        /* degrees of the vertices pushed */
    long long min_key;                 /* minimum key left for later */
    uint32_t step;                     /* vertices in the next iteration's queue */
    uint32_t unsettled, unreached;     /* vertices beyond the bucket: reached, unreached */
    uint32_t rounds,
        idle_blocks; /* small frontiers: rounds of the previous iteration; blocks without work */
    uint32_t pad;
};

/* Counters that blocks share. Iteration n uses counters[n % 4] and clears those of n + 2. */
struct hw_one_gpu_delta_control {
    struct hw_one_gpu_delta_counters counters[4];
    uint32_t rest[3]; /* vertices of the rest of the bucket: a ring of three, by rest_index */
    uint32_t trace_records;
    unsigned long long begin_ticks, end_ticks; /* clock64() */
    unsigned long long begin_ns, end_ns;       /* global timer */
};

/* The rest of a list that is too long for one warp. */
struct hw_one_gpu_delta_long_list {
    uint32_t vertex, from; /* from, end: edges, counted from the first of the list */
    uint32_t end;
    uint32_t chunk; /* chunks of the lists before it */
};

struct hw_one_gpu_delta_params {
    struct hw_gpu_graph graph;
    struct hw_gpu_sssp sssp;
    uint32_t *step_queue[2]; /* [core + 1] of even and odd iterations */
    uint32_t *rest_queue[2]; /* [core + 1] */
    uint32_t *step_marks[2]; /* [core / 32 + 1] bits of the vertices queued */
    uint32_t *rest_marks;    /* likewise */
    struct hw_gpu_edge
        *lightest_in; /* [core + 1] lightest edge of each list, or HW_INVALID_VERTEX */
    struct hw_gpu_edge *lightest_out;                /* [core + 1] likewise; undirected: NULL */
    struct hw_one_gpu_delta_long_list *long_list[2]; /* [long_list_capacity] */
    struct hw_one_gpu_delta_control *control;        /* [1] */
    struct hw_gpu_sssp_trace_record *trace;          /* [trace_capacity], or NULL */
    uint32_t trace_capacity, long_list_capacity;
    uint32_t mean_degree;
    double delta;             /* width of the first bucket */
    int adaptive;             /* widths may change */
    int no_light_heavy_split; /* all edges of a vertex are pushed at once */
    /* Small frontiers only (gpu/sssp/delta/small_frontier_delta_kernel.cu), else NULL: [records +
     * 1][HW_SMALL_FRONTIER_RECORD_EDGES], in the layout of
     * gpu/sssp/delta/small_frontier_records_kernel.cu says. */
    struct hw_gpu_edge *record;
    uint32_t single_cta_vertices; /* maximum queue that one block drains */
    uint32_t vertices_per_block;  /* of larger queues */
    uint32_t min_rounds;          /* of an iteration, before blocks without work end it */
    uint32_t idle_fraction;       /* fraction of the blocks that must be without work */
};

struct hw_one_gpu_delta_shape {
    int blocks, threads;
};

/* Chooses the launch shape for this device. Returns a cudaError_t. */
int hw_one_gpu_delta_launch_shape(const struct hw_one_gpu_delta_params *params,
                                  struct hw_one_gpu_delta_shape *shape);

/* Copies the lightest edge of each list. Returns a cudaError_t; does not wait. */
int hw_one_gpu_delta_launch_lightest(const struct hw_one_gpu_delta_params *params);

/* Builds the records of small frontiers. Returns a cudaError_t; does not wait. */
int hw_small_frontier_launch_records(const struct hw_one_gpu_delta_params *params);

/* The kernel for small frontiers. */
const void *hw_small_frontier_delta_kernel(const struct hw_one_gpu_delta_params *params);

/* Launches a search. Returns a cudaError_t; does not wait. */
int hw_one_gpu_delta_launch(const struct hw_one_gpu_delta_params *params,
                            const struct hw_one_gpu_delta_shape *shape, uint32_t root);

#ifdef __cplusplus
}
#endif

#endif
