/*
 * Method `adaptive`: parameters of its kernel and launchers, shared by host and device code.
 *
 * After Gaihre, Wu, Yao, Liu, "XBFS: eXploring Runtime Optimizations for Breadth-First Search on
 * GPUs", HPDC 2019; sections, algorithms and lemmas cited in this folder are of that paper.
 */
#ifndef HOPWAVE_GPU_BFS_ADAPTIVE_ADAPTIVE_H
#define HOPWAVE_GPU_BFS_ADAPTIVE_ADAPTIVE_H

#include "gpu/engine/result_kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Top-down, longer lists are split into chunks, each expanded by a warp. */
#define HW_ADAPTIVE_MAX_SHORT_LIST 128
#define HW_ADAPTIVE_CHUNK_EDGES 512

/* Queues in degree classes: lists up to 32 are for a thread, up to 256 for a warp, longer ones for
 * a block. */
#define HW_ADAPTIVE_CLASSES 3

/* Classes of degree that double, in the profile of bottom-up work. */
#define HW_ADAPTIVE_DEGREES 32

/* How a step generates a queue (sections 4.1, 4.2). */
enum hw_adaptive_queue {
    HW_ADAPTIVE_QUEUE_NONE, /* none: filters the last bottom-up queue */
    HW_ADAPTIVE_QUEUE_SCAN_FREE,
    HW_ADAPTIVE_QUEUE_SINGLE_SCAN,
    HW_ADAPTIVE_QUEUE_DOUBLE_SCAN,
    HW_ADAPTIVE_QUEUE_STRIDED,
    HW_ADAPTIVE_QUEUE_DEGREE_CLASSES,
    HW_ADAPTIVE_QUEUE_METHODS
};

/* How unvisited vertices are distributed over threads, bottom-up (section 5.1). */
enum hw_adaptive_balance {
    HW_ADAPTIVE_BALANCE_STATIC,
    HW_ADAPTIVE_BALANCE_THREAD,
    HW_ADAPTIVE_BALANCE_WARP,
    HW_ADAPTIVE_BALANCE_DONATE
};

/* Trace record of a step. */
struct hw_adaptive_trace_record {
    uint32_t queue; /* enum hw_adaptive_queue; top-down: of the queue of discovered vertices */
    uint32_t pull;  /* bottom-up */
    uint32_t frontier, found, early;
    uint64_t edges;   /* examined */
    uint64_t scanned; /* ticks spent on generating queues */
    uint64_t clock;   /* end of the step, in ticks of the recording multiprocessor */
};

/* Counters of one level: of its vertices, and of the step that discovers them. */
struct hw_adaptive_level {
    unsigned long long edges; /* out-edges of its vertices, without those discovered early */
    unsigned long long edges_early;
    unsigned long long checked;                    /* edges that the step examined */
    uint32_t found;                                /* bottom-up, by the step */
    uint32_t early;                                /* one level early, by the step before */
    uint32_t queued;                               /* top-down: all vertices of the level */
    uint32_t has_long;                             /* some list is long */
    uint32_t unvisited;                            /* entries of the step's bottom-up queue */
    uint32_t ticket;                               /* entries claimed dynamically */
    uint32_t chunks;                               /* of long lists */
    uint32_t class_begin[HW_ADAPTIVE_CLASSES + 1]; /* first queue entry of each class */
};

/* What a search did of what its variant is about. */
struct hw_adaptive_variant_counts {
    unsigned long long first_neighbors; /* vertices whose first in-neighbor came from its array */
    unsigned long long waited;          /* vertices that went through the waiting pool */
    unsigned long long fetches;         /* atomic operations on the bottom-up queue, by warps */
    unsigned long long single_block_levels; /* levels that stayed in one block */
};

struct hw_adaptive_control {
    struct hw_adaptive_level level[4]; /* by depth modulo 4, each cleared two levels ahead */
    unsigned long long prior; /* where single-CTA levels ended: edges of the level before */
    uint32_t depth, current;  /* likewise: depth, index of the queue */
    uint32_t trace_records;
    unsigned long long begin_ticks, end_ticks;
    unsigned long long begin_ns, end_ns;
    struct hw_adaptive_variant_counts variant; /* 0 unless params.varies */
};

/* Bottom-up work on the vertices of a class of in-degree. */
struct hw_adaptive_profile {
    unsigned long long vertices, checked;
};

/* How a search differs from the default (section 5.1, algorithms 1 and 2). */
struct hw_adaptive_variant {
    uint32_t fetch; /* queue entries that a warp claims at a time: 32 or 128 */
    uint32_t
        tests_in_flight;  /* vertices, then in-neighbors, that a thread tests together: 1 or 4 */
    bool waiting_pool;    /* vertices wait until there is one for each lane of the warp, which
                             takes long lists over from its lanes */
    bool first_neighbors; /* the first in-neighbor is read from an array of its own */
    bool single_block_levels; /* small levels stay in one block */
};

struct hw_adaptive_params {
    struct hw_gpu_graph graph;
    uint32_t *parent, *parent_is_first_neighbor; /* as in hw_gpu_output */
    uint8_t *status;     /* [active, padded by up to 16]; encoding in adaptive_device.cuh */
    uint32_t *queue[2];  /* [active + 1] */
    uint64_t *chunk;     /* [chunks of all long lists] vertex in the high half, index of the chunk
                            in its list in the low half */
    uint32_t *block_sum; /* [blocks][HW_ADAPTIVE_CLASSES] */
    struct hw_adaptive_control *control;    /* [1] */
    struct hw_adaptive_profile *profile;    /* [HW_ADAPTIVE_DEGREES], or NULL for no profile */
    struct hw_adaptive_trace_record *trace; /* [trace_capacity], or NULL for no trace */
    uint32_t trace_capacity;
    int direction;          /* enum hw_direction */
    uint32_t queue_methods; /* bits of enum hw_adaptive_queue: allowed methods */
    int balance;            /* enum hw_adaptive_balance */
    bool async;             /* bottom-up: also discover vertices of the level after */
    double alpha;           /* fraction of all edges from which a level is bottom-up */
    bool varies;            /* the variant is not the default */
    struct hw_adaptive_variant variant;
};

/* Blocks of the search kernel on the current device; block_sum is allocated by it. Returns a
 * cudaError_t. Local. */
int hw_adaptive_launch_shape(const struct hw_adaptive_params *params, int *blocks);

/* Launches a search. Local. Returns a cudaError_t; does not wait. */
int hw_adaptive_launch(const struct hw_adaptive_params *params, int blocks, uint32_t root);

#ifdef __cplusplus
}
#endif

#endif
