/*
 * Method `adaptive`: what its host code and its kernel share.
 */
#ifndef HOPWAVE_GPU_BFS_ADAPTIVE_ADAPTIVE_H
#define HOPWAVE_GPU_BFS_ADAPTIVE_ADAPTIVE_H

#include "gpu/engine/result_kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Lists that are longer than `long` are cut into pieces, each for a warp, top-down. */
#define HW_ADAPTIVE_LONG 128
#define HW_ADAPTIVE_PIECE 512

/* Lists up to 32 are for a thread, up to 256 for a warp, longer ones for a block, where
 * vertices are dealt by degree. */
#define HW_ADAPTIVE_CLASSES 3

/* Classes of degree that double, in the profile of bottom-up work. */
#define HW_ADAPTIVE_DEGREES 32

/* How a step went; its row has both the direction's part and the queue's. */
enum hw_adaptive_queue {
    HW_MADE_NONE, /* the last bottom-up queue, gone through again */
    HW_MADE_SCAN_FREE,
    HW_MADE_SINGLE_SCAN,
    HW_MADE_DOUBLE_SCAN,
    HW_MADE_STRIDED,
    HW_MADE_CLASSES,
    HW_MADE_WAYS
};

/* How the unvisited are dealt to threads bottom-up. */
enum hw_adaptive_deal { HW_DEALT_STATIC, HW_DEALT_THREADS, HW_DEALT_WARPS, HW_DEALT_DONATE };

struct hw_adaptive_row {
    uint32_t queue; /* enum hw_adaptive_queue: of a step top-down, that for what it found */
    uint32_t pull;  /* bottom-up */
    uint32_t frontier, found, early;
    uint64_t edges;   /* examined */
    uint64_t scanned; /* ticks that making queues took */
    uint64_t clock;   /* when it ended, in ticks of the multiprocessor that keeps the rows */
};

/* Counters of one level: of its vertices, and of the step that finds them. */
struct hw_adaptive_level {
    unsigned long long edges; /* that leave its vertices; those found early apart */
    unsigned long long edges_early;
    unsigned long long checked;                    /* edges the step examined */
    uint32_t found;                                /* bottom-up, by the step */
    uint32_t early;                                /* by the step before */
    uint32_t queued;                               /* top-down, all */
    uint32_t has_long;                             /* some list is long */
    uint32_t unvisited;                            /* in the step's bottom-up queue */
    uint32_t ticket;                               /* of these, dealt out beyond the first range */
    uint32_t pieces;                               /* of long lists */
    uint32_t class_begin[HW_ADAPTIVE_CLASSES + 1]; /* where the queue's classes begin */
};

struct hw_adaptive_control {
    struct hw_adaptive_level level[4]; /* by depth modulo 4, each cleared two levels ahead */
    unsigned long long prior;          /* edges of the level before, of one block */
    uint32_t depth, which;             /* where the one block left off */
    uint32_t rows;
    unsigned long long begun, ended;           /* ticks */
    unsigned long long begun_time, ended_time; /* nanoseconds */
};

/* Work bottom-up of the vertices of a class of in-degree. */
struct hw_adaptive_profile {
    unsigned long long vertices, checked;
};

struct hw_adaptive_params {
    struct hw_gpu_graph graph;
    uint32_t *parent, *settled; /* as in hw_gpu_output */
    uint8_t *visited; /* [active, up to 16 more] status; see gpu/bfs/adaptive/adaptive_kernel.cu */
    uint32_t *queue[2];                  /* [active + 1] */
    uint64_t *piece;                     /* [pieces] vertex above, number of the piece below */
    uint32_t *block_sum;                 /* [blocks][HW_ADAPTIVE_CLASSES] */
    struct hw_adaptive_control *control; /* [1] */
    struct hw_adaptive_profile *profile; /* [HW_ADAPTIVE_DEGREES], or NULL where not wanted */
    struct hw_adaptive_row *row;         /* [row_capacity], or NULL where none are wanted */
    uint32_t row_capacity;
    int direction; /* enum hw_direction */
    uint32_t ways; /* bits of enum hw_adaptive_queue that may be taken */
    int balance;   /* enum hw_adaptive_deal */
    bool async;    /* find vertices of the level after bottom-up, too */
    double alpha;
};

/* Blocks for a plan on this device: to be known before block_sum is planned. Returns a
 * cudaError_t. */
int hw_adaptive_launch_shape(const struct hw_adaptive_params *plan, int *blocks);

/* Launches the search. Returns a cudaError_t; does not wait. */
int hw_adaptive_launch(const struct hw_adaptive_params *plan, int blocks, uint32_t root);

#ifdef __cplusplus
}
#endif

#endif
