/*
 * The kernels for small frontiers on several GPUs of one node, which map each other's memory: what
 * host code and kernels of the methods have in common (gpu/sssp/common/small_frontier_peers.cuh).
 */
#ifndef HOPWAVE_GPU_SSSP_COMMON_SMALL_FRONTIER_PEERS_H
#define HOPWAVE_GPU_SSSP_COMMON_SMALL_FRONTIER_PEERS_H

#include "gpu/sssp/common/small_frontier.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HW_SMALL_FRONTIER_RANKS 8 /* maximum */

/* What GPUs signal to each other: a part of every heap. Numbers of searches begin with 1. */
struct hw_small_frontier_signals {
    unsigned long long ready[HW_SMALL_FRONTIER_RANKS]; /* number of the search for which a rank has
                                                          initialized its vertices */
    unsigned long long progress; /* number of a search above, begun iterations below;
                                    HW_SMALL_FRONTIER_FINISHED: none follows */
};

#define HW_SMALL_FRONTIER_FINISHED UINT32_MAX

/* The GPUs, as this one reaches them. A vertex has a place among those of its owner, by which
 * records are found. */
struct hw_small_frontier_peers {
    uint32_t ranks, rank;
    uint32_t places; /* of each rank: its records, at least */
    const struct hw_gpu_edge *record_of[HW_SMALL_FRONTIER_RANKS];
    struct hw_small_frontier_signals *signals[HW_SMALL_FRONTIER_RANKS];
    uint32_t *failed[HW_SMALL_FRONTIER_RANKS]; /* set once a rank has timed out */
    uint64_t timeout_ns;
    uint32_t run; /* number of the search */
};

#ifdef __cplusplus
}
#endif

#endif
