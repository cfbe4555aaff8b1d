/* Options of method `adaptive` (XBFS, section 4). */
#ifndef HOPWAVE_GPU_BFS_ADAPTIVE_ADAPTIVE_OPTIONS_H
#define HOPWAVE_GPU_BFS_ADAPTIVE_ADAPTIVE_OPTIONS_H

#include "lib/engine/core/engine_options.h"

/* Ways to generate a queue, one bit each; 0: the paper's four. */
enum hw_queue {
    HW_QUEUE_SCAN_FREE = 1,
    HW_QUEUE_SINGLE_SCAN = 2,
    HW_QUEUE_DOUBLE_SCAN = 4,
    HW_QUEUE_NONE = 8,
    HW_QUEUE_STRIDED = 16,
    HW_QUEUE_DEGREE_CLASSES = 32
};

/* How unvisited vertices are assigned to threads bottom-up. */
enum hw_balance {
    HW_BALANCE_AUTO,
    HW_BALANCE_STATIC,
    HW_BALANCE_THREAD,
    HW_BALANCE_WARP,
    HW_BALANCE_DONATE
};

struct hw_adaptive_config {
    enum hw_direction direction;
    unsigned queues; /* allowed ways to generate a queue: enum hw_queue */
    enum hw_balance balance;
    bool async_bottom_up; /* discover vertices of the level after as well */
    double alpha;         /* fraction of the edges from which to go bottom-up */
    bool profile;         /* trace records of bottom-up work by degree */
    /* Bottom-up, where the paper has 32, 1 and false: */
    int64_t fetch;           /* queue entries that a warp takes at a time */
    int64_t tests_in_flight; /* vertices, then in-neighbors, that a thread tests together */
    bool waiting_pool, first_neighbors;
    bool single_block_levels; /* small levels stay in one block */
};

/* The configuration that options mean. Local. */
struct hw_adaptive_config hw_adaptive_config(const struct hw_engine_options *options);

#endif
