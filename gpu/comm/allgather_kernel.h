/*
 * All-gathers between GPUs (gpu/comm/allgather.h): parameters and results as kernels see them.
 */
#ifndef HOPWAVE_GPU_COMM_ALLGATHER_KERNEL_H
#define HOPWAVE_GPU_COMM_ALLGATHER_KERNEL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HW_ALLGATHER_WORDS 136 /* at most; maxima among the first 32 */
#define HW_ALLGATHER_RANKS 256 /* at most */
/* Over peer, where a block has a warp for each rank, and a lane for each half of a word. */
#define HW_ALLGATHER_PEER_WORDS 16
#define HW_ALLGATHER_PEERS 32
#define HW_ALLGATHER_IN_FLIGHT 4

/* The result of an all-gather: on the device, and the same on the host. */
struct hw_allgather_result {
    uint64_t reduced[HW_ALLGATHER_WORDS]; /* sums or maxima; zeros if it failed */
    uint32_t failed;                      /* a rank timed out */
    uint32_t number;                      /* sequence number */
    /* Each rank's words, likewise; those beyond what was gathered are undefined. */
    uint64_t by_rank[HW_ALLGATHER_RANKS][HW_ALLGATHER_WORDS];
};

/* Elements that the kernel stores in host memory: 2 * HW_ALLGATHER_PEER_WORDS for each rank, in the
 * encoding of the slots, and one more: the failure flag above the sequence number. */
#define HW_ALLGATHER_HOST_SLOTS (HW_ALLGATHER_PEERS * 2 * HW_ALLGATHER_PEER_WORDS + 1)

/* Parameters of the kernel. */
struct hw_allgather_params {
    uint32_t ranks, rank;
    uint64_t *slot[HW_ALLGATHER_PEERS]; /* of each rank: [2][ranks][2 * HW_ALLGATHER_PEER_WORDS] */
    uint32_t *failed[HW_ALLGATHER_PEERS]; /* of each rank: set once some rank has timed out */
    uint64_t timeout_ns;
};

/* Launches the kernel. words: [count] on the device; bit k of maxima: word k is reduced by maximum,
 * else by sum; to: on the device; host_slots: [HW_ALLGATHER_HOST_SLOTS], mapped host memory;
 * stream: a cudaStream_t. Returns a cudaError_t; does not wait. */
int hw_allgather_launch(const struct hw_allgather_params *params, const uint64_t *words, int count,
                        uint32_t maxima, uint32_t number, struct hw_allgather_result *to,
                        uint64_t *host_slots, void *stream);

#ifdef __cplusplus
}
#endif

#endif
