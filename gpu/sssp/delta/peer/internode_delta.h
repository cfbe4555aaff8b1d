/*
 * Method `delta` between nodes: one kernel per GPU that puts into the memory of GPUs of other nodes
 * by NVSHMEM (gpu/comm/nvshmem/internode_puts.h). Parameters of the kernel, shared by host and
 * device code. The search is that of gpu/sssp/delta/delta_search.h.
 *
 * GPUs of one node store into each other's memory, as on one node. To GPUs of other nodes go
 *
 *   updates    packed by the iteration: blocks store them into a send buffer for their owner, and
 *              after a barrier of the grid put it in pieces into the inbox for this GPU there. An
 *              update may also be about the receiver's copy of a distance of the sender. If there
 *              are more than an outbox holds, all keys go instead: what this GPU knows of the
 *              receiver's vertices, and its own. The receiver takes the lower ones;
 *   broadcasts of settled distances: packed and put in pieces to the GPU of equal place on each
 *              other node, from whose memory the others of that node load them;
 *   counters   of the iteration, to all GPUs: one put with the signal of the barrier.
 *
 * How much comes is known from the counters, so that a GPU waits for the signals of these pieces
 * alone. Remote distances are never loaded: all that are not known are broadcast before parents are
 * searched for.
 *
 * When buffers are free. All of them are double, by the parity of the barrier. Updates of barrier n
 * are read before barrier n + 1, broadcasts before the grid barrier that follows n, and who puts
 * for barrier n + 2 has counters of barrier n + 1 of all GPUs. Each block waits for its own puts
 * (nvshmem_quiet()) before it leaves a barrier, so that what it sent may change two barriers later.
 */
#ifndef HOPWAVE_GPU_SSSP_DELTA_PEER_INTERNODE_DELTA_H
#define HOPWAVE_GPU_SSSP_DELTA_PEER_INTERNODE_DELTA_H

#include "gpu/comm/nvshmem/internode_puts.h"
#include "gpu/sssp/delta/delta_search.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Pieces of what a GPU sends to another at a time, at most. */
#define HW_INTERNODE_DELTA_PIECES 128

/* Entries of an outbox, at least: any packed broadcast fits. */
#define HW_INTERNODE_DELTA_MIN_OUTBOX 512

struct hw_internode_delta {
    struct hw_internode_puts puts;

    /* Symmetric memory. Addresses in this GPU's memory of what another GPU's puts go to: */
    void *inbox[2];                               /* by parity: the inbox for this GPU */
    uint64_t *counters_received;                  /* [2][ranks][HW_ALLGATHER_PEER_WORDS] */
    uint64_t *counters_arrived;                   /* [2][ranks] numbers of barriers */
    uint64_t *pieces_arrived[HW_INTERNODE_RANKS]; /* by place, as mapped from the GPUs of this node:
                                                     [2][ranks][HW_INTERNODE_DELTA_PIECES] */
    uint64_t *counters_staged;                    /* [2][HW_ALLGATHER_PEER_WORDS] */
    const void *broadcast[2][HW_INTERNODE_RANKS]; /* by parity and rank: where its broadcasts are
                                                     read, in a GPU of this node */
};

struct hw_internode_delta_params {
    struct hw_delta_params delta; /* for GPUs of other nodes send[] are send buffers */
    struct hw_internode_delta internode;
};

/* Names of the kernels in their image, by kind of keys; of directed graphs with in-lists. */
#define HW_INTERNODE_DELTA_KERNELS                                                                 \
    {                                                                                              \
        "hw_internode_delta_f32", "hw_internode_delta_i32", "hw_internode_delta_i64"               \
    }
#define HW_INTERNODE_DELTA_DIRECTED_KERNELS                                                        \
    {                                                                                              \
        "hw_internode_delta_directed_f32", "hw_internode_delta_directed_i32",                      \
            "hw_internode_delta_directed_i64"                                                      \
    }

/* The kernels of emulated devices, where they are linked with the program. */
const void *hw_internode_delta_kernel(int kind);
const void *hw_internode_delta_directed_kernel(int kind);

#ifdef __cplusplus
}
#endif

#endif
