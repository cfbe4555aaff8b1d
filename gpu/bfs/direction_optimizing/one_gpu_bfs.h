/*
 * Method `fused`: what its host code and its kernel share.
 */
#ifndef HOPWAVE_GPU_BFS_DIRECTION_OPTIMIZING_ONE_GPU_BFS_H
#define HOPWAVE_GPU_BFS_DIRECTION_OPTIMIZING_ONE_GPU_BFS_H

#include "gpu/engine/result_kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A queue's size in one word, so that one atomic operation claims a slot and the place
 * of its edges: vertices above, edges below. */
#define HW_FUSED_EDGE_BITS 34

/* Expected probes are tabulated for shares 2^(-k/2) of the edges in the frontier. */
#define HW_FUSED_SHARES 48

#define HW_FUSED_THREADS 1024
#define HW_FUSED_BLOCKS 1024 /* at most */

/* Vertices that a warp goes through at a time, bottom-up. */
#define HW_FUSED_CHUNK (8 * 32)

/* Unvisited vertices that one block goes on with to the end. */
#define HW_FUSED_LEFT 2048

/* Sources of a vertex that are at hand without its list. */
#define HW_FUSED_NEAR 8

/* What the blocks add up between two barriers, read by all of them after the second. */
struct hw_one_gpu_bfs_phase {
    unsigned long long queue;  /* what was queued, packed as above */
    unsigned long long probes; /* edges examined bottom-up */
    unsigned long long led;    /* vertices whose first source is in the queue */
    uint32_t found;            /* vertices that are not queued */
    uint32_t left;             /* vertices with sources that are unvisited still */
    uint32_t listed;           /* in a list of the plan: of those; or leaves put off */
    uint32_t depth, reached;   /* where one block left off */
    uint32_t unused;
};

/* Counters that blocks share. Phases, from barrier to barrier, take turns in the ring; after
 * each barrier the one after the next is cleared, which all blocks have read. */
struct hw_one_gpu_bfs_control {
    struct hw_one_gpu_bfs_phase ring[4];
    uint32_t rows;
    unsigned long long begun, ended;           /* ticks */
    unsigned long long begun_time, ended_time; /* nanoseconds */
    uint32_t phases;                           /* of all searches so far */
    uint32_t apart[32]; /* so that waiting for the next does not slow down the others */
    uint32_t arrived;   /* blocks, at the ends of all phases so far */
};

struct hw_one_gpu_bfs_params {
    struct hw_gpu_graph graph;
    uint32_t *parent, *settled; /* as in hw_gpu_output */
    uint32_t *bits[2];          /* [core / 32 + 1] visited vertices */
    uint32_t *queue[2];         /* [core + slack] of even and odd levels; bottom-up, those
                                   that a block has still to look up */
    void *prefix[2];            /* [core + 1] edges before each, as wide as offsets */
    uint32_t *left;             /* [HW_FUSED_LEFT] unvisited vertices, when few are */
    /* Trees, of undirected graphs: see gpu/bfs/direction_optimizing/pendant_trees_kernel.cu. */
    uint32_t *up;      /* [core] the parent of a vertex of a tree, else HW_INVALID_VERTEX */
    uint32_t *hanging; /* [core / 32 + 1] bits: it is in a tree */
    uint32_t *hung;    /* [active] the vertices of trees and the leaves there, rising */
    uint32_t *hung_up; /* [active] the parent of each */
    uint32_t *anchor;  /* [active] what its tree hangs off */
    uint32_t hung_count, trees; /* how many those are; trees: of the core */
    void *scratch;              /* [scratch_bytes] to find them */
    uint64_t scratch_bytes;
    struct hw_one_gpu_bfs_control *control; /* [1] */
    struct hw_gpu_trace_record *row;        /* [row_capacity], or NULL where none are wanted */
    uint32_t row_capacity;
    int direction;           /* enum hw_direction */
    uint32_t short_from;     /* vertices from here on have HW_FUSED_NEAR neighbours at most */
    uint32_t tile;           /* edges for each thread of a block at a time, top-down: at most 4 */
    uint32_t hub_words;      /* words of the bitmap kept in shared memory */
    uint32_t block_vertices; /* frontiers up to so many vertices and edges stay in a block */
    uint32_t block_edges;
    bool block_holds;              /* the bitmap fits beside them */
    float probes[HW_FUSED_SHARES]; /* expected for a vertex that its first source leaves */
};

/* Slack of the queues, so that each block has whole chunks of them. */
#define HW_FUSED_SLACK (HW_FUSED_CHUNK * (HW_FUSED_BLOCKS + 1))

/* Shared memory and blocks for a plan whose hub_words, tile and block_vertices it sets. */
struct hw_one_gpu_bfs_shape {
    int blocks;
    uint32_t shared_bytes;
};

/* Chooses the shape for this device. Returns a cudaError_t. */
int hw_one_gpu_bfs_launch_shape(struct hw_one_gpu_bfs_params *plan,
                                struct hw_one_gpu_bfs_shape *shape);

/* Finds the trees of an undirected graph, takes the lists of their vertices out of what
 * searches go by, and brings the first sources to those that follow them. Once for a graph.
 * Returns a cudaError_t; waits, or not. */
int hw_one_gpu_bfs_launch_prepare(struct hw_one_gpu_bfs_params *plan);

/* Launches the search. Returns a cudaError_t; does not wait. */
int hw_one_gpu_bfs_launch(const struct hw_one_gpu_bfs_params *plan,
                          const struct hw_one_gpu_bfs_shape *shape, uint32_t root);

#ifdef __cplusplus
}
#endif

#endif
