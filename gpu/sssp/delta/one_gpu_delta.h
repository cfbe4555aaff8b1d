/*
 * Method `delta` on one GPU: what its host code and its kernel share.
 */
#ifndef HOPWAVE_GPU_SSSP_DELTA_ONE_GPU_DELTA_H
#define HOPWAVE_GPU_SSSP_DELTA_ONE_GPU_DELTA_H

#include "gpu/sssp/common/sssp_engine.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HW_ONE_GPU_DELTA_THREADS 1024
#define HW_SMALL_FRONTIER_THREADS 512

/* Edges of a long list that a warp takes at a time. */
#define HW_ONE_GPU_DELTA_CHUNK 128

/* Edges of a record. */
#define HW_SMALL_FRONTIER_RECORD_EDGES 4
/* In place of the vertex of a record's last edge: the list continues in the record whose index is
 * the edge's weight. */
#define HW_SMALL_FRONTIER_CONTINUATION (HW_INVALID_VERTEX - 1)

/* Routines of the rows. */
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

/* What blocks have to know after a pass; on one line of memory. */
struct hw_one_gpu_delta_counters {
    unsigned long long
        long_lists; /* long lists of the next pass: their number above, chunks below */
    unsigned long long pushed, pulled; /* edges */
    unsigned long long degrees;        /* lengths of the lists begun */
    long long min_key;                 /* the least key that was left for later */
    uint32_t step;                     /* the next pass's queue */
    uint32_t unsettled, unreached; /* vertices left beyond the bucket, reached ones and others */
    uint32_t rounds,
        idle_blocks; /* of fronts: of the pass before; blocks that found nothing more */
    uint32_t pad;
};

/* Counters that blocks share. Rings of four belong to the pass whose number modulo 4 they
 * have; each pass clears the ring two ahead. */
struct hw_one_gpu_delta_control {
    struct hw_one_gpu_delta_counters counters[4];
    uint32_t rest[3]; /* vertices of the bucket that wait, in a ring of their own */
    uint32_t trace_records;
    unsigned long long begin_ticks, end_ticks; /* ticks */
    unsigned long long begin_ns, end_ns;       /* nanoseconds */
};

/* A list too long for one warp, from where one stopped. */
struct hw_one_gpu_delta_long_list {
    uint32_t vertex, from; /* an edge, counted from the list's first */
    uint32_t end;          /* likewise */
    uint32_t chunk;        /* chunks before it */
};

struct hw_one_gpu_delta_params {
    struct hw_gpu_graph graph;
    struct hw_gpu_sssp sssp;
    uint32_t *step_queue[2];          /* [core + 1] queues of even and odd passes */
    uint32_t *rest_queue[2];          /* [core + 1] */
    uint32_t *step_marks[2];          /* [core / 32 + 1] what is in them */
    uint32_t *rest_marks;             /* likewise */
    struct hw_gpu_edge *lightest_in;  /* [core + 1] the lightest edge of each list, or no rank */
    struct hw_gpu_edge *lightest_out; /* [core + 1] likewise; undirected: NULL */
    struct hw_one_gpu_delta_long_list *long_list[2]; /* [heavy_capacity] */
    struct hw_one_gpu_delta_control *control;        /* [1] */
    struct hw_gpu_sssp_trace_record *trace; /* [row_capacity], or NULL where none are wanted */
    uint32_t trace_capacity, long_list_capacity;
    uint32_t mean_degree;
    double delta;             /* of the first bucket */
    int adaptive;             /* may it change? */
    int no_light_heavy_split; /* lists are pushed whole: no long edges */
    /* Of fronts (gpu/sssp/delta/small_frontier_delta_kernel.cu), NULL elsewhere: [records +
     * 1][HW_ONE_GPU_DELTA_SLOTS] the edges of each vertex of the core, then of those that have
     * more. */
    struct hw_gpu_edge *record;
    uint32_t single_cta_vertices; /* vertices that are left to one block */
    uint32_t vertices_per_block;  /* vertices for a block, else */
    uint32_t min_rounds;          /* of a pass, before blocks that are dry end it */
    uint32_t idle_fraction;       /* and the share of them that does */
};

struct hw_one_gpu_delta_shape {
    int blocks, threads;
};

/* Chooses the shape for this device. Returns a cudaError_t. */
int hw_one_gpu_delta_launch_shape(const struct hw_one_gpu_delta_params *params,
                                  struct hw_one_gpu_delta_shape *shape);

/* Launches what takes the first edges of the lists. Returns a cudaError_t; does not wait. */
int hw_one_gpu_delta_launch_lightest(const struct hw_one_gpu_delta_params *params);

/* Launches what fills the records of fronts. Returns a cudaError_t; does not wait. */
int hw_small_frontier_launch_records(const struct hw_one_gpu_delta_params *params);

/* The kernel of fronts. */
const void *hw_small_frontier_delta_kernel(const struct hw_one_gpu_delta_params *params);

/* Launches the search. Returns a cudaError_t; does not wait. */
int hw_one_gpu_delta_launch(const struct hw_one_gpu_delta_params *params,
                            const struct hw_one_gpu_delta_shape *shape, uint32_t root);

#ifdef __cplusplus
}
#endif

#endif
