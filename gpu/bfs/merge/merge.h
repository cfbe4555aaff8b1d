/*
 * Method `merge` and its baseline `cta-warp-scan`: parameters of their kernels and launchers,
 * shared by host and device code.
 */
#ifndef HOPWAVE_GPU_BFS_MERGE_MERGE_H
#define HOPWAVE_GPU_BFS_MERGE_MERGE_H

#include "gpu/bfs/common/frontier_queue.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How a search expands its levels. */
enum hw_merge_kind {
    HW_MERGE_FUSED,    /* redistribution and gathering in one phase */
    HW_MERGE_SEPARATE, /* in two phases; memory holds the result of the first */
    HW_MERGE_DIRECT,   /* no redistribution: a lane per vertex, a warp for long lists */
    HW_MERGE_DEEP,     /* as fused, but from a depth on as direct */
    HW_MERGE_CTA,      /* no redistribution: blocks, warps and scans by the length of lists */
    HW_MERGE_KINDS
};

/* Tiles of a search whose size or order an option gives, while there is a trace. */
struct hw_merge_counts {
    unsigned long long tiles, max_edges; /* edges: of one tile */
};

struct hw_merge_params {
    struct hw_frontier_queue_params common;
    enum hw_merge_kind kind;
    double factor;    /* HW_MERGE_FUSED: levels with more edges per vertex balance redistribution,
                         the others gathering */
    void *location;   /* HW_MERGE_SEPARATE: [edges] index of each neighbor in the lists, as wide as
                         offsets */
    uint32_t *source; /* the same, and of an edge queue: [edges] the vertex whose neighbor it is */
    uint32_t tile;    /* steps or neighbors of a tile: a multiple of 256 up to 2048; 0: chosen, so
                         that all blocks have some */
    uint32_t direct_depth; /* HW_MERGE_DEEP: levels from this depth on are gathered directly */
    bool consecutive;      /* HW_MERGE_CTA: a block takes vertices as they are queued */

    struct hw_merge_counts *counts; /* [1] */

    /* Kernels for each phase (gpu/bfs/merge/merge_phases_kernel.cu); else NULL: */
    void *begin; /* [active + 1] first list entry of each queued vertex, as wide as
                    offsets */
    unsigned long long *block_sum;     /* [hw_merge_scan_blocks(active)] */
    uint32_t *claimed_by;              /* [active] parents of vertices that are being looked up */
    uint32_t *gathered;                /* HW_MERGE_CTA: [edges] the edge queue */
    unsigned long long *gathered_size; /* HW_MERGE_CTA: [1] */
};

/* A level whose phases are kernels of their own. */
struct hw_merge_level {
    uint32_t depth, vertices;
    uint64_t edges;
    uint32_t routine; /* HW_ROUTINE_PHASES_...: what is launched */
    int resident;     /* blocks of a kernel where tiles are chosen */
};

/* Number of resident blocks on the current device. Local. Returns a cudaError_t. */
int hw_merge_launch_shape(const struct hw_merge_params *params, int *blocks);

/* Launches a search. Local. Returns a cudaError_t; does not wait. */
int hw_merge_launch(const struct hw_merge_params *params, int blocks, uint32_t root);

/* Phases as kernels of their own. All launch and do not wait; return a cudaError_t. Local. */
int hw_merge_launch_init(const struct hw_merge_params *params, uint32_t root);
int hw_merge_launch_level(const struct hw_merge_params *params, const struct hw_merge_level *level);
int hw_merge_launch_finish(const struct hw_merge_params *params, uint32_t root);

/* Entries of block_sum for queues of up to so many vertices. */
uint64_t hw_merge_scan_blocks(uint64_t vertices);

#ifdef __cplusplus
}
#endif

#endif
