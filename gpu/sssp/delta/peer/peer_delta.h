/*
 * Method `delta` on several GPUs of one node, 1d layout, transport peer: the whole search in
 * one cooperative kernel on each GPU. What its host code and its kernel share.
 *
 * Codes and lists are those of gpu/sssp/distributed/distributed_sssp.h: own vertices have the
 * positions [0, active), of which those from `core` on have one edge at most and are left out until
 * the end. What is known of other parts' vertices is the best that was sent to their owner, or what
 * that told. Before a pull that examines many edges, owners tell all others what the bucket
 * settled; a pull that examines few, and the end, ask the owners for the keys that they need.
 * Vertices of one edge count as nearer than all, when they are pushed to, and as unreached when
 * they are pulled from.
 *
 * Keys are told packed where boxes are large enough: chunks of positions have their places in
 * the boxes, which no mail needs in that pass. Else they are stored straight into the others'
 * distances.
 *
 * A bucket may be left with some vertices that are not settled: they, and whatever falls into it
 * later, push whole lists, and are told again where the others know a key already.
 *
 * What a push finds for another part goes to a box in that GPU's memory, as (position, source,
 * key), and is taken after the next meeting of all GPUs; where it is little and the next pass
 * pushes, by that pass, which pushes what came like what it finds in the queue. So does a pull that
 * comes next, unless keys are told before. A box that is full is no loss: then the owner's distance
 * is lowered in place, and a bit says where.
 */
#ifndef HOPWAVE_GPU_SSSP_DELTA_PEER_PEER_DELTA_H
#define HOPWAVE_GPU_SSSP_DELTA_PEER_PEER_DELTA_H

#include "gpu/comm/allgather.h"
#include "gpu/sssp/distributed/distributed_sssp.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HW_PEER_DELTA_RANKS 8 /* at most */
/* Of a block: five warps a scheduler, which have 96 registers a thread. With 1024 threads many are
 * spilled, with 512 too few wait for memory at a time. */
#define HW_PEER_DELTA_THREADS 640

/* Edges of a long list that a warp takes at a time. */
#define HW_PEER_DELTA_CHUNK 64

enum hw_peer_delta_routine {
    HW_PEER_DELTA_BEGIN,
    HW_PEER_DELTA_ROOT,
    HW_PEER_DELTA_PUSH,
    HW_PEER_DELTA_LIGHT_PUSH,
    HW_PEER_DELTA_HEAVY_PUSH,
    HW_PEER_DELTA_BROADCAST,
    HW_PEER_DELTA_HEAVY_PULL,
    HW_PEER_DELTA_NEXT_BUCKET,
    HW_PEER_DELTA_PARENTS,
    HW_PEER_DELTA_ROUTINES
};

/* What all GPUs have to know after a pass: sums of theirs, but one. GPUs tell each other their
 * rings as they are, so these are the words of one. */
enum {
    HW_PEER_DELTA_SENT,                           /* [4] entries for each rank, two counts a word */
    HW_PEER_DELTA_STEP = HW_PEER_DELTA_RANKS / 2, /* vertices of the next pass, or sent so */
    HW_PEER_DELTA_REST,                           /* vertices that wait, or sent so */
    HW_PEER_DELTA_FRONTIER,                       /* vertices pushed */
    HW_PEER_DELTA_LONG_LIST_CHUNKS,               /* chunks of long lists */
    HW_PEER_DELTA_EDGES,                          /* pushed */
    HW_PEER_DELTA_DEGREES,                        /* lengths of the lists begun */
    HW_PEER_DELTA_UNSETTLED,                      /* vertices beyond the bucket, reached or not */
    HW_PEER_DELTA_PULLED,                         /* edges */
    HW_PEER_DELTA_PARENTLESS,                     /* vertices without a parent */
    HW_PEER_DELTA_MIN_KEY,   /* maximum: the complement of the least key left */
    HW_PEER_DELTA_SENT_KEYS, /* told to other GPUs, or asked for */
    HW_PEER_DELTA_WORDS
};

/* What the blocks of a GPU have to know after a pass. */
struct hw_peer_delta_counters {
    uint32_t sent[HW_PEER_DELTA_RANKS];
    uint32_t step, sent_step; /* the next pass's queue, and entries that are to be pushed next */
    uint32_t rest, sent_rest; /* those that wait, which are counted elsewhere, and such entries */
    uint32_t frontier, from_inbox; /* pushed from the queue, and straight from mail */
    unsigned long long
        long_lists; /* long lists of the next pass: their number above, chunks below */
    unsigned long long pushed;
    unsigned long long degrees;
    unsigned long long unsettled;
    unsigned long long pulled;
    unsigned long long parentless;
    unsigned long long max_complement; /* the complement of the least key left for later */
    unsigned long long sent_keys;
};

/* Counters that blocks share. Rings of four belong to the pass whose number modulo 4 they
 * have; each pass clears the ring two ahead. */
struct hw_peer_delta_control {
    struct hw_peer_delta_counters counters[4];
    uint32_t rest[3];    /* vertices of the bucket that wait, in a ring of their own */
    uint32_t claimed[3]; /* shares that blocks took, but for their first two; likewise */
    uint32_t arrived;    /* blocks at meetings and joins, all together */
    uint32_t failed;
    uint32_t trace_records;
};

/* A list too long for one warp, from where one stopped. */
struct hw_peer_delta_long_list {
    uint32_t vertex, from; /* an edge, counted from the list's first */
    uint32_t end;          /* likewise */
    uint32_t chunk;        /* chunks before it */
};

struct hw_peer_delta_trace_record {
    uint32_t routine, bucket;
    uint64_t frontier, found, pushed, pulled;
    uint64_t sent;        /* bytes */
    uint64_t nanoseconds; /* on the clock, when it ended */
};

/* The two lightest edges of a list; of no rank where there is none. */
struct hw_peer_delta_lightest {
    struct hw_gpu_edge edge[2];
};

/* What a search tells the host. In its memory. */
struct hw_peer_delta_report {
    uint64_t parentless; /* reached vertices of all parts without a parent */
    uint32_t rounds;     /* meetings */
    uint32_t failed;
    uint32_t run; /* number of the search; written last */
};

/* Memory of all GPUs of the node, as this one reaches it. */
struct hw_peer_delta_peers {
    struct hw_distributed_sssp_outboxes outbox[2]; /* by the parity of the all-gather */
    uint32_t outbox_capacity;                      /* entries of an outbox */
    void *distance_of[HW_PEER_DELTA_RANKS];        /* [codes] of each rank */
    uint32_t *touched_of[2][HW_PEER_DELTA_RANKS];  /* [block / 32 + 1] of each rank: bits of the
                                                      distances that were lowered in place; by the
                                                      parity of the all-gather */
    uint32_t core; /* owned vertices of several edges are [0, core) */
    uint32_t core_of[HW_PEER_DELTA_RANKS], active_of[HW_PEER_DELTA_RANKS];
    uint64_t all_core; /* sum over all ranks */
};

/* Queues and lists of this GPU. Pairs alternate with the parity of the iteration. */
struct hw_peer_delta_queues {
    uint32_t *step_queue[2];                 /* [lists + 1] vertices of the step */
    uint32_t *rest_queue[2];                 /* [lists + 1] vertices of the rest of the bucket */
    uint32_t *step_marks[2];                 /* [lists / 32 + 1] bits of the vertices queued */
    uint32_t *rest_marks;                    /* [lists / 32 + 1] likewise */
    struct hw_peer_delta_lightest *lightest; /* [lists + 1] of each list */
    struct hw_peer_delta_long_list *long_list[2]; /* [long_list_capacity] */
};

struct hw_peer_delta_config {
    uint32_t trace_capacity, long_list_capacity;
    uint32_t mean_degree;
    double delta;              /* width of the first bucket */
    bool adaptive;             /* widths may change */
    bool no_light_heavy_split; /* all edges of a vertex are pushed at once */
    bool endless;              /* one bucket without an end: bellman-ford */
    bool directed;             /* no vertex pulls, and none is left out until the end */
};

struct hw_peer_delta_params {
    struct hw_distributed_sssp_params part;
    struct hw_allgather_params allgather;
    struct hw_peer_delta_peers peers;
    struct hw_peer_delta_queues queues;
    struct hw_peer_delta_control *control;    /* [1] */
    struct hw_peer_delta_trace_record *trace; /* [trace_capacity], or NULL */
    struct hw_peer_delta_report *report;      /* in the host's memory */
    struct hw_peer_delta_config config;
};

/* A search. */
struct hw_peer_delta_search {
    uint32_t root;            /* code; the same on all parts */
    uint32_t first_allgather; /* of the first meeting */
    uint32_t run;
    bool broadcast_all; /* all GPUs are to know all distances before parents are looked for */
};

/* Blocks and shared memory for this device. Returns a cudaError_t, as all launchers do. */
int hw_peer_delta_shape(const struct hw_peer_delta_params *params, int *blocks, int *shared_bytes);

/* The lightest edges of the lists; *core (on the device): past the last list of several edges. Does
 * not wait. */
int hw_peer_delta_launch_lightest(const struct hw_peer_delta_params *params, uint32_t *core);

/* Does not wait. */
int hw_peer_delta_launch(const struct hw_peer_delta_params *params,
                         const struct hw_peer_delta_search *search, int blocks, int shared_bytes);

/* Results by graph id, of a search that was complete. Does not wait. */
int hw_peer_delta_launch_results(const struct hw_peer_delta_params *params, uint32_t root,
                                 int blocks);

/* What is known of others' vertices of one edge is forgotten, and isolated ones are unreached:
 * for what expects to be told of all. Does not wait. */
int hw_peer_delta_launch_forget(const struct hw_peer_delta_params *params, uint32_t root);

#ifdef __cplusplus
}
#endif

#endif
