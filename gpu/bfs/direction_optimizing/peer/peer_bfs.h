/*
 * Method `fused` on several GPUs of one node: parameters of its kernels and launchers, shared by
 * host and device code.
 *
 * Direction-optimizing BFS (Beamer, Asanovic, Patterson, SC 2012) on a 1D partition
 * (gpu/partition1d/partition_1d.h). Every GPU keeps a bitmap of all visited vertices of the core.
 * Over transport peer one cooperative kernel per GPU runs a whole search, as between nodes where
 * kernels put (internode_bfs.h); over other transports the host launches a kernel per step and
 * exchanges data between steps (host_staged_bfs.h).
 *
 * A vertex has a local id on its owner and a global id, both defined by the partition.
 */
#ifndef HOPWAVE_GPU_BFS_DIRECTION_OPTIMIZING_PEER_PEER_BFS_H
#define HOPWAVE_GPU_BFS_DIRECTION_OPTIMIZING_PEER_PEER_BFS_H

#include "gpu/bfs/direction_optimizing/direction_policy.h"
#include "gpu/partition1d/partition_1d.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bits of the edges in packed queue sizes (gpu/device/packed_queue.h). */
#define HW_PEER_BFS_EDGE_BITS 35

/* One block of each GPU expands frontiers of up to so many vertices. */
#define HW_PEER_BFS_BLOCK_VERTICES 2048

/* Counters that the GPUs exchange at barriers: the first part of every GPU's heap. Only the sender
 * writes a word: a tag of 16 bits above a count of 48. */
struct hw_peer_bfs_signals {
    unsigned long long word[2][HW_PARTITION_1D_PARTS][4]; /* by parity of the barrier, sender */
    uint32_t failed;                                      /* nonzero: a GPU aborted the search */
    uint32_t pad[31];
};

/* Why a search was aborted. */
enum hw_peer_bfs_failure {
    HW_PEER_BFS_NO_FAILURE,
    HW_PEER_BFS_PEER_TIMEOUT,  /* a GPU did not arrive at a barrier */
    HW_PEER_BFS_BLOCK_TIMEOUT, /* a block did not arrive at a barrier of its GPU */
    HW_PEER_BFS_INBOX_FULL,    /* an inbox overflowed: a defect */
};

/* Counters of one GPU. Rings are indexed by the number of a barrier modulo 4. */
struct hw_peer_bfs_control {
    unsigned long long queue[4];      /* by depth: size of the level's queue, packed */
    unsigned long long discovered[4]; /* sent to all GPUs at the barrier: vertices discovered */
    unsigned long long refs_or_unvisited[4]; /* likewise: vertices whose first in-neighbor is in the
                                                next frontier; bottom-up, unvisited vertices left */
    unsigned long long probes[4];            /* edges examined before the barrier */
    unsigned long long words_sent[4];        /* bitmap words stored in peers before the barrier */
    uint32_t sent[4][HW_PARTITION_1D_PARTS]; /* entries written to each inbox before the barrier */
    unsigned long long arrived_ns[4];        /* when this GPU had arrived */
    uint32_t arrived;  /* blocks that arrived, summed over all barriers of all searches */
    uint32_t failed;   /* enum hw_peer_bfs_failure */
    uint32_t epoch;    /* number of the next barrier between GPUs, over all searches */
    uint32_t arrivals; /* barriers so far, over all searches, between GPUs and within this one */
    uint32_t trace_records;
    unsigned long long begin_ns; /* after the first barrier */
    struct hw_bfs_state state;   /* where levels in one block ended */
    enum hw_bfs_routine next;    /* the step after them */
};

/* Trace record of one step. Counts of this GPU; times in nanoseconds. */
struct hw_peer_bfs_trace_record {
    uint32_t routine;
    uint32_t frontier, found;
    uint32_t expansion, exchange, update;
    uint64_t edges, bytes;
};

struct hw_peer_bfs_params {
    struct hw_partition_1d partition;

    /* Search state of this GPU. */
    uint32_t *parent;                   /* [active] global ids; HW_INVALID_VERTEX unreached */
    uint32_t *parent_is_first_neighbor; /* [active / 32] bitmap */
    uint32_t *queue[2];                 /* [core + 1] local ids, even and odd levels */
    uint64_t *prefix[2];                /* [core + 1] edges before each queue entry */
    uint32_t *sourceless;               /* [core / 32] bitmap: vertices without in-neighbors in the
                                           core; directed graphs only, else NULL */
    uint8_t *changed; /* [core / HW_CYCLIC_BLOCK] own cyclic blocks of the bitmap that
                         a level changed */
    struct hw_peer_bfs_control *control;    /* [1] */
    struct hw_peer_bfs_trace_record *trace; /* [trace_capacity], or NULL for no trace */
    uint32_t trace_capacity;

    /* Heaps of all GPUs, as mapped by this one; only its own if the host exchanges. */
    uint32_t *visited[2][HW_PARTITION_1D_PARTS];      /* [parts * core / 32] by global id */
    unsigned long long *inbox[HW_PARTITION_1D_PARTS]; /* [inbox_capacity] on each GPU, for entries
                                                         from this one */
    struct hw_peer_bfs_signals *signals[HW_PARTITION_1D_PARTS];
    uint32_t *peer_parent[HW_PARTITION_1D_PARTS]; /* parent of each GPU; peer transport only */
    const unsigned long long *received;           /* [parts][inbox_capacity] entries received */
    uint32_t inbox_capacity;

    bool host_staged; /* the host exchanges: inbox[] are send buffers of this GPU */
    uint32_t *packed; /* [parts][core / 32] bitmap words or vertex lists by part; host_staged only
                       */

    /* Configuration. */
    uint32_t hubs;       /* vertices with smaller global ids may have long lists; multiple of 32 */
    uint32_t tile;       /* edges per thread and tile, top-down: at most 4 */
    uint32_t hub_words;  /* words of the bitmap cached in shared memory */
    uint64_t timeout_ns; /* longest wait at a barrier before the search is aborted */
    struct hw_bfs_policy policy;
};

/* Launch configuration. */
struct hw_peer_bfs_shape {
    int blocks;
    uint32_t shared_bytes; /* of a block, dynamic */
    uint32_t static_bytes;
};

/* Chooses the launch configuration for the current device and sets hub_words and tile. Local.
 * Returns a cudaError_t. */
int hw_peer_bfs_launch_shape(struct hw_peer_bfs_params *params, struct hw_peer_bfs_shape *shape);

/* The same for a kernel by its address. Local. Returns a cudaError_t. */
int hw_peer_bfs_kernel_shape(const void *kernel, struct hw_peer_bfs_params *params,
                             struct hw_peer_bfs_shape *shape);

/* Launches a kernel of a whole search by its address. params: its first parameter. Returns a
 * cudaError_t; does not wait. */
int hw_peer_bfs_launch_kernel(const void *kernel, const void *params,
                              const struct hw_peer_bfs_shape *shape, uint32_t root);

/* The kernel of graphs of even degrees. */
const void *hw_peer_bfs_even_kernel(void);

/* Fills params->sourceless, if there is one, from the first in-neighbors. Local. Returns a
 * cudaError_t; does not wait. */
int hw_peer_bfs_launch_sourceless(const struct hw_peer_bfs_params *params);

/* Launches a search from a global id, or from HW_INVALID_VERTEX for a root without edges. Every
 * GPU of the partition must launch it. Returns a cudaError_t; does not wait. */
int hw_peer_bfs_launch(const struct hw_peer_bfs_params *params,
                       const struct hw_peer_bfs_shape *shape, uint32_t root);

/*
 * One step of a search whose exchanges the host makes. Steps add their counts to ring entry 0 of
 * the control, RECEIVE and MERGE_BITS to entry 1; the host clears what it will read. Names after
 * the colon are the fields that a step uses.
 */
enum hw_peer_bfs_step_kind {
    HW_PEER_BFS_STEP_BEGIN,      /* initializes: root */
    HW_PEER_BFS_STEP_SNAPSHOT,   /* copies the current bitmap to the other one: current */
    HW_PEER_BFS_STEP_PUSH,       /* expands the queue: depth, current, broadcast, queued */
    HW_PEER_BFS_STEP_RECEIVE,    /* applies received entries: depth, current, broadcast, received */
    HW_PEER_BFS_STEP_SEND_BITS,  /* new bits of remote vertices into send buffers: current */
    HW_PEER_BFS_STEP_MERGE_BITS, /* applies the received bits: current */
    HW_PEER_BFS_STEP_PULL,       /* writes the other bitmap: current, initial, unvisited */
    HW_PEER_BFS_STEP_QUEUE,      /* queues what a level did not queue: depth, current */
    HW_PEER_BFS_STEP_PACK,       /* packs this GPU's bitmap words: current */
    HW_PEER_BFS_STEP_LIST,       /* lists the local ids of new bits instead: current */
    HW_PEER_BFS_STEP_UNPACK,     /* unpacks words of others: current, has_previous, received */
    HW_PEER_BFS_STEP_SET_LISTED, /* sets the bits that others listed: current, received */
    HW_PEER_BFS_STEP_END         /* parents of leaves: current, initial, root */
};
/* In place of the length of a list: all words follow. */
#define HW_PEER_BFS_ALL_WORDS UINT32_MAX
struct hw_peer_bfs_step {
    uint32_t kind, depth;
    uint32_t current; /* index of the valid bitmap */
    uint32_t root, unvisited;
    bool broadcast, queued;
    bool has_previous; /* the current bitmap has the other GPUs' words of the level before */
    bool initial;      /* no level was pulled so far */
    uint32_t received[HW_PARTITION_1D_PARTS]; /* entries from each part, or HW_PEER_BFS_ALL_WORDS */
};

/* Launches a step. Local. Returns a cudaError_t; does not wait. */
int hw_peer_bfs_launch_step(const struct hw_peer_bfs_params *params,
                            const struct hw_peer_bfs_shape *shape,
                            const struct hw_peer_bfs_step *step);

#ifdef __cplusplus
}
#endif

#endif
