/*
 * Method `fused` on several GPUs of one node: what its host code and its kernel share.
 */
#ifndef HOPWAVE_GPU_BFS_DIRECTION_OPTIMIZING_PEER_BFS_H
#define HOPWAVE_GPU_BFS_DIRECTION_OPTIMIZING_PEER_BFS_H

#include "gpu/partition1d/partition_1d.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A queue's size in one word: vertices above, edges below. */
#define HW_PEER_BFS_EDGE_BITS 35

/* Expected probes are tabulated for shares 2^(-k/2) of the edges in the frontier. */
#define HW_PEER_BFS_SHARES 48

#define HW_PEER_BFS_THREADS 1024
/* Where the GPUs leave each other counts: the first part of every GPU's heap. A slot is
 * written by its sender alone: a tag of 16 bits above a count of 48. */
struct hw_peer_bfs_outbox {
    unsigned long long slot[2][HW_PARTITION_1D_PARTS][4]; /* by the barrier's parity, and sender */
    uint32_t failed;                                      /* somebody gave up */
    uint32_t pad[31];
};

/* Why a search was given up. */
enum hw_peer_bfs_failure {
    HW_PEER_BFS_FINE,
    HW_PEER_BFS_SILENT, /* a GPU did not come to a barrier */
    HW_PEER_BFS_STUCK,  /* a block did not */
    HW_PEER_BFS_FULL,   /* an inbox has no room: a defect */
};

/* Counters that the blocks of one GPU share. Those in rings belong to the barrier whose
 * number modulo 4 they have. */
struct hw_peer_bfs_control {
    unsigned long long queue[4];  /* by depth: the level's queue, packed as above */
    unsigned long long found[4];  /* told to all GPUs at the barrier: vertices found */
    unsigned long long rest[4];   /* likewise: vertices led by the next frontier; or those left */
    unsigned long long probes[4]; /* edges examined before it */
    unsigned long long words[4];  /* words of the bitmap stored in peers before it */
    uint32_t to[4][HW_PARTITION_1D_PARTS]; /* entries put into each GPU's inbox before it */
    unsigned long long arrived_at[4];      /* nanoseconds: when this GPU had come */
    uint32_t arrived, left; /* blocks at a barrier; number of the last one within the GPU */
    uint32_t failed;        /* enum hw_peer_bfs_failure */
    uint32_t epoch;         /* barriers between GPUs so far, over all searches */
    uint32_t rows;
    unsigned long long begun; /* nanoseconds: after the first barrier */
};

enum hw_peer_bfs_routine {
    HW_PEER_BFS_PUSH_ALL,  /* top-down, finds told to all */
    HW_PEER_BFS_PUSH,      /* top-down, finds told to their owners */
    HW_PEER_BFS_PUSH_ONLY, /* the same, finds not queued */
    HW_PEER_BFS_PUSH_BITS, /* the same, parents not told */
    HW_PEER_BFS_PULL,      /* bottom-up */
    HW_PEER_BFS_QUEUE,     /* finds of a level that queued none are, to go on top-down */
    HW_PEER_BFS_LEAVES,
    HW_PEER_BFS_ROUTINES
};

/* One step. Counts are this GPU's; times in nanoseconds. */
struct hw_peer_bfs_row {
    uint32_t routine;
    uint32_t frontier, found;
    uint32_t expansion, exchange, update;
    uint64_t edges, bytes;
};

/* What operations cost, in picoseconds of a whole H200: only their ratios matter. */
struct hw_peer_bfs_costs {
    float push_edge;   /* top-down, and what is found queued */
    float only_edge;   /* the same, told to its owner and not queued */
    float bits_edge;   /* the same, told in bits */
    float bits_vertex; /* then, for each vertex of the core */
    float unqueued;    /* a level that queues nothing, in picoseconds of all GPUs */
    float pull_first;  /* a first source looked at */
    float pull_probe;  /* another source */
    float pull;        /* a level bottom-up, in picoseconds of all GPUs */
};

struct hw_peer_bfs_params {
    struct hw_partition_1d share;
    uint32_t *parent;    /* [active] global ranks by local rank; HW_INVALID_VERTEX unreached */
    uint32_t *settled;   /* [active / 32] bits: the parent is the first source */
    uint32_t *queue[2];  /* [core + 1] local ranks, of even and odd levels */
    uint64_t *prefix[2]; /* [core + 1] edges before each */
    uint8_t *dirty;      /* [core / GRAIN] grains of this GPU that a level changed */
    struct hw_peer_bfs_control *control; /* [1] */
    struct hw_peer_bfs_row *row;         /* [row_capacity], or NULL where none are wanted */
    uint32_t row_capacity;

    /* In the heaps of all GPUs, as this one reaches them. */
    uint32_t *bits[2][HW_PARTITION_1D_PARTS]; /* [parts * core / 32] visited, by global rank */
    unsigned long long
        *inbox[HW_PARTITION_1D_PARTS]; /* [inbox_room] of each, for what this GPU sends */
    struct hw_peer_bfs_outbox *mail[HW_PARTITION_1D_PARTS];
    uint32_t *parent_of[HW_PARTITION_1D_PARTS]; /* where the host does not exchange */
    const unsigned long long *received;         /* [parts][inbox_room] what this GPU was sent */
    uint32_t inbox_room;

    bool alone;       /* the host exchanges: what is in inboxes is this GPU's to send */
    uint32_t *packed; /* [parts][core / 32] words by part, or lists instead, where the host
                         exchanges */

    int direction;      /* enum hw_direction */
    uint32_t all_edges; /* frontiers of up to so many edges tell their finds to all */
    uint32_t hubs;      /* global ranks below this may have long lists; a multiple of 32 */
    uint32_t tile;      /* edges for each thread of a block at a time, top-down: at most 4 */
    uint32_t hub_words; /* words of the bitmap kept in shared memory */
    uint64_t patience;  /* nanoseconds at a barrier before giving up */
    float probes[HW_PEER_BFS_SHARES];
    struct hw_peer_bfs_costs costs;
};

struct hw_peer_bfs_shape {
    int blocks;
    uint32_t shared_bytes;
};

/* Chooses the shape for this device. Returns a cudaError_t. */
int hw_peer_bfs_launch_shape(struct hw_peer_bfs_params *plan, struct hw_peer_bfs_shape *shape);

/* Launches the search from a global rank, or from HW_INVALID_VERTEX for a root without
 * edges. Returns a cudaError_t; does not wait. */
int hw_peer_bfs_launch(const struct hw_peer_bfs_params *plan, const struct hw_peer_bfs_shape *shape,
                       uint32_t root);

/*
 * A step of a search where the host exchanges between them. Counts are added to ring 0 of
 * the control, of TAKE to ring 1; the host clears what it will read.
 */
enum hw_peer_bfs_step_kind {
    HW_PEER_BFS_STEP_BEGIN,  /* root */
    HW_PEER_BFS_STEP_KEEP,   /* which: the bitmap, in the other one */
    HW_PEER_BFS_STEP_PUSH,   /* depth, which, all, queued: expands the queue */
    HW_PEER_BFS_STEP_TAKE,   /* depth, which, all, from: what came into the inboxes */
    HW_PEER_BFS_STEP_BITS,   /* which: what was found of others' vertices, into the outboxes */
    HW_PEER_BFS_STEP_FOLD,   /* which: what came of that */
    HW_PEER_BFS_STEP_PULL,   /* which, initial, unvisited: makes the other bitmap */
    HW_PEER_BFS_STEP_QUEUE,  /* depth, which: what was found without a queue */
    HW_PEER_BFS_STEP_PACK,   /* which: this GPU's words */
    HW_PEER_BFS_STEP_LIST,   /* which: instead of them what this GPU found, as local ranks */
    HW_PEER_BFS_STEP_UNPACK, /* which, kept, from: the others' words */
    HW_PEER_BFS_STEP_SET,    /* which, from: the bits of what they listed */
    HW_PEER_BFS_STEP_END     /* which, initial, root */
};
#define HW_PEER_BFS_ALL_WORDS UINT32_MAX
struct hw_peer_bfs_step {
    uint32_t kind, depth, which, root, unvisited;
    bool all, queued, kept, initial;
    uint32_t from[HW_PARTITION_1D_PARTS]; /* entries from each part, or HW_PEER_BFS_ALL_WORDS */
};

/* Returns a cudaError_t; does not wait. */
int hw_peer_bfs_launch_step(const struct hw_peer_bfs_params *plan,
                            const struct hw_peer_bfs_shape *shape,
                            const struct hw_peer_bfs_step *step);

#ifdef __cplusplus
}
#endif

#endif
