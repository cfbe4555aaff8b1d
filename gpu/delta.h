/*
 * Method `delta` on one GPU: what its host code and its kernel share.
 */
#ifndef HOPWAVE_GPU_DELTA_H
#define HOPWAVE_GPU_DELTA_H

#include "paths.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HW_DELTA_THREADS 512

/* Edges of a long list that a warp takes at a time. */
#define HW_DELTA_CHUNK 512

/* Routines of the rows. */
enum hw_delta_routine {
    HW_DELTA_ROOT,
    HW_DELTA_PUSH,
    HW_DELTA_SHORT_PUSH,
    HW_DELTA_NEXT_STEP,
    HW_DELTA_LONG_PUSH,
    HW_DELTA_LONG_PULL,
    HW_DELTA_NEXT_BUCKET,
    HW_DELTA_TAIL,
    HW_DELTA_LEAVES,
    HW_DELTA_ROUTINES
};

/* Counters that blocks share. Those in rings of four belong to the pass whose number modulo
 * 4 they have; each pass clears the ring two ahead. */
struct hw_delta_control {
    uint32_t near[4];              /* the pass's queue */
    unsigned long long heavy[4];   /* its long lists: their number above, chunks below */
    unsigned long long edges[4];   /* edges examined by the pass before */
    unsigned long long degrees[4]; /* lengths of the lists begun by the pass before */
    long long least[4];            /* the least key that the pass before left for later */
    uint32_t open[4];              /* vertices that it left beyond the bucket, reached ones */
    uint32_t unreached[4];
    uint32_t later[3]; /* vertices of the bucket that wait, in a ring of their own */
    uint32_t rows;
    unsigned long long begun, ended;           /* ticks */
    unsigned long long begun_time, ended_time; /* nanoseconds */
};

/* A list too long for one warp, from where one stopped. */
struct hw_delta_heavy {
    uint32_t vertex, from; /* an edge, counted from the list's first */
    uint32_t end;          /* likewise */
    uint32_t chunk;        /* chunks before it */
};

struct hw_delta_plan {
    struct hw_gpu_graph graph;
    struct hw_gpu_paths paths;
    uint32_t *near[2];                /* [core + 1] queues of even and odd passes */
    uint32_t *later[2];               /* [core + 1] */
    uint32_t *near_bits[2];           /* [core / 32 + 1] what is in them */
    uint32_t *later_bits;             /* likewise */
    struct hw_delta_heavy *heavy[2];  /* [heavy_capacity] */
    struct hw_delta_control *control; /* [1] */
    struct hw_gpu_path_row *row;      /* [row_capacity], or NULL where none are wanted */
    uint32_t row_capacity, heavy_capacity;
    double width; /* of the first bucket */
    int adaptive; /* may it change? */
    int whole;    /* lists are pushed whole: no long edges */
};

struct hw_delta_shape {
    int blocks;
};

/* Chooses the shape for this device. Returns a cudaError_t. */
int hw_delta_launch_shape(const struct hw_delta_plan *plan, struct hw_delta_shape *shape);

/* Launches the search. Returns a cudaError_t; does not wait. */
int hw_delta_launch(const struct hw_delta_plan *plan, const struct hw_delta_shape *shape,
                    uint32_t root);

#ifdef __cplusplus
}
#endif

#endif
