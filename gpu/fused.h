/*
 * Method `fused`: what its host code and its kernel share.
 */
#ifndef HOPWAVE_GPU_FUSED_H
#define HOPWAVE_GPU_FUSED_H

#include "kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A queue's size in one word, so that one atomic operation claims a slot and the place
 * of its edges: vertices above, edges below. */
#define HW_FUSED_EDGE_BITS 34

/* Expected probes are tabulated for shares 2^(-k/2) of the edges in the frontier. */
#define HW_FUSED_SHARES 48

/* Words of 32 vertices that a warp visits bottom-up at a time: few where most vertices
 * are unvisited, many where few are. */
#define HW_FUSED_DENSE 8
#define HW_FUSED_SPARSE 32

#define HW_FUSED_THREADS 1024

/* Counters that blocks share. Those in rings belong to the level whose depth modulo 4
 * they have; each level clears the ring two levels ahead. */
struct hw_fused_control {
    unsigned long long queue[4];  /* the level's queue, packed as above */
    unsigned long long probes[4]; /* edges examined bottom-up to find the level */
    unsigned long long led[4];    /* vertices whose first source is in the queue */
    uint32_t found[4];            /* the level's vertices that are not in the queue */
    uint32_t left[4];             /* vertices with sources that are unvisited still */
    uint32_t depth, reached;      /* where the one block left off */
    uint32_t rows;
    unsigned long long begun, ended;           /* ticks */
    unsigned long long begun_time, ended_time; /* nanoseconds */
};

struct hw_fused_plan {
    struct hw_gpu_graph graph;
    uint32_t *parent, *settled;       /* as in hw_gpu_output */
    uint32_t *bits[2];                /* [core / 32 + 1] visited vertices */
    uint32_t *queue[2];               /* [core + 1] of even and odd levels */
    void *prefix[2];                  /* [core + 1] edges before each, as wide as offsets */
    struct hw_fused_control *control; /* [1] */
    struct hw_gpu_row *row;           /* [row_capacity], or NULL where none are wanted */
    uint32_t row_capacity;
    int direction;           /* enum hw_direction */
    uint32_t tile;           /* edges for each thread of a block at a time, top-down: at most 4 */
    uint32_t hub_words;      /* words of the bitmap kept in shared memory */
    uint32_t block_vertices; /* frontiers up to so many vertices and edges stay in a block */
    uint32_t block_edges;
    bool block_holds;              /* the bitmap fits beside them */
    float probes[HW_FUSED_SHARES]; /* expected for a vertex that its first source leaves */
};

/* Shared memory and blocks for a plan whose hub_words, tile and block_vertices it sets. */
struct hw_fused_shape {
    int blocks;
    uint32_t shared_bytes;
};

/* Chooses the shape for this device. Returns a cudaError_t. */
int hw_fused_launch_shape(struct hw_fused_plan *plan, struct hw_fused_shape *shape);

/* Launches the search. Returns a cudaError_t; does not wait. */
int hw_fused_launch(const struct hw_fused_plan *plan, const struct hw_fused_shape *shape,
                    uint32_t root);

#ifdef __cplusplus
}
#endif

#endif
