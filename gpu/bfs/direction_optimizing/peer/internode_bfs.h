/*
 * Method `fused` between nodes: one kernel per GPU that puts into the memory of GPUs of other nodes
 * by NVSHMEM (gpu/comm/nvshmem). Parameters of the kernel and its launcher, shared by host and
 * device code.
 *
 * GPUs of one node store into each other's memory as in peer_bfs.h. To GPUs of other nodes go
 *
 *   entries   discoveries and their parents, or bits without parents, to their owner: put from a
 *             send buffer to the inbox for this GPU there, in pieces;
 *   words     of this GPU's part of the bitmap, to all GPUs: put, in pieces, to the GPU of equal
 *             place on each other node, from whose memory the others of that node load them. A
 *             piece is a list of the vertices discovered in its range where that is shorter than
 *             the words.
 *
 * Pieces and their signals are those of gpu/comm/nvshmem/internode_puts.h. Counters go to all GPUs
 * as within a node, each in a word of its own.
 *
 * When buffers are free. Entries of a level are put before the first barrier of a level, and read
 * before its second. Words are put before a barrier and read after it, so there are two receive
 * buffers, by the parity of the barrier: who puts at barrier n + 2 has counters of barrier n + 1 of
 * all GPUs, and those were sent when barrier n's words were read. Send buffers may change after
 * nvshmem_quiet(), which each block calls after it has waited.
 */
#ifndef HOPWAVE_GPU_BFS_DIRECTION_OPTIMIZING_PEER_INTERNODE_BFS_H
#define HOPWAVE_GPU_BFS_DIRECTION_OPTIMIZING_PEER_INTERNODE_BFS_H

#include "gpu/bfs/direction_optimizing/peer/peer_bfs.h"
#include "gpu/comm/nvshmem/internode_puts.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Pieces of what a GPU sends to another at a time: of entries, of words. */
#define HW_INTERNODE_ENTRY_PIECES 16
#define HW_INTERNODE_WORD_PIECES 128

/* Name of the kernel in its image. */
#define HW_INTERNODE_BFS_KERNEL "hw_internode_bfs_search"

struct hw_internode_bfs_params {
    /* For GPUs of other nodes visited[] and signals[] are this GPU's own, where stores do no harm,
     * and inbox[] are send buffers. There are no hubs. */
    struct hw_peer_bfs_params peers;

    struct hw_internode_puts puts;

    uint32_t pieces, piece_words; /* of the words of a part */

    /* Symmetric memory. Arrays by place: as mapped from the GPUs of this node. */
    uint64_t *entries_arrived;                       /* [parts][HW_INTERNODE_ENTRY_PIECES] */
    uint64_t *words_arrived[HW_PARTITION_1D_PARTS];  /* by place: [2][parts]
                                                        [HW_INTERNODE_WORD_PIECES] by parity */
    uint32_t *words_to_send;                         /* [core / 32] */
    uint32_t *words_received[HW_PARTITION_1D_PARTS]; /* by place: [2][nodes][core / 32] */
};

/* The kernel of emulated devices, where it is linked with the program. */
const void *hw_internode_bfs_kernel(void);

#ifdef __cplusplus
}
#endif

#endif
