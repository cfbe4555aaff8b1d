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
#ifndef HOPWAVE_GPU_SSSP_DELTA_PEER_DELTA_H
#define HOPWAVE_GPU_SSSP_DELTA_PEER_DELTA_H

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
    HW_PEER_DELTA_SHORT_PUSH,
    HW_PEER_DELTA_LONG_PUSH,
    HW_PEER_DELTA_TELL,
    HW_PEER_DELTA_LONG_PULL,
    HW_PEER_DELTA_NEXT_BUCKET,
    HW_PEER_DELTA_PARENTS,
    HW_PEER_DELTA_ROUTINES
};

/* What all GPUs have to know after a pass: sums of theirs, but one. GPUs tell each other their
 * rings as they are, so these are the words of one. */
enum {
    HW_PEER_DELTA_SENT,                           /* [4] entries for each rank, two counts a word */
    HW_PEER_DELTA_NEAR = HW_PEER_DELTA_RANKS / 2, /* vertices of the next pass, or sent so */
    HW_PEER_DELTA_LATER,                          /* vertices that wait, or sent so */
    HW_PEER_DELTA_FRONTIER,                       /* vertices pushed */
    HW_PEER_DELTA_HEAVY,                          /* chunks of long lists */
    HW_PEER_DELTA_EDGES,                          /* pushed */
    HW_PEER_DELTA_DEGREES,                        /* lengths of the lists begun */
    HW_PEER_DELTA_OPEN,                           /* vertices beyond the bucket, reached or not */
    HW_PEER_DELTA_PULLED,                         /* edges */
    HW_PEER_DELTA_LOST,                           /* vertices without a parent */
    HW_PEER_DELTA_LEAST, /* maximum: the complement of the least key left */
    HW_PEER_DELTA_KEYS,  /* told to other GPUs, or asked for */
    HW_PEER_DELTA_WORDS
};

/* What the blocks of a GPU have to know after a pass. */
struct hw_peer_delta_ring {
    uint32_t sent[HW_PEER_DELTA_RANKS];
    uint32_t near, sent_near;   /* the next pass's queue, and entries that are to be pushed next */
    uint32_t later, sent_later; /* those that wait, which are counted elsewhere, and such entries */
    uint32_t frontier, taken;   /* pushed from the queue, and straight from mail */
    unsigned long long heavy;   /* long lists of the next pass: their number above, chunks below */
    unsigned long long pushed;
    unsigned long long degrees;
    unsigned long long open;
    unsigned long long pulled;
    unsigned long long lost;
    unsigned long long most; /* the complement of the least key left for later */
    unsigned long long sent_keys;
};

/* Counters that blocks share. Rings of four belong to the pass whose number modulo 4 they
 * have; each pass clears the ring two ahead. */
struct hw_peer_delta_control {
    struct hw_peer_delta_ring ring[4];
    uint32_t later[3]; /* vertices of the bucket that wait, in a ring of their own */
    uint32_t given[3]; /* shares that blocks took, but for their first two; likewise */
    uint32_t arrived;  /* blocks at meetings and joins, all together */
    uint32_t failed;
    uint32_t rows;
};

/* A list too long for one warp, from where one stopped. */
struct hw_peer_delta_heavy {
    uint32_t vertex, from; /* an edge, counted from the list's first */
    uint32_t end;          /* likewise */
    uint32_t chunk;        /* chunks before it */
};

struct hw_peer_delta_row {
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
struct hw_peer_delta_told {
    uint64_t lost;   /* reached vertices of all parts without a parent */
    uint32_t rounds; /* meetings */
    uint32_t failed;
    uint32_t run; /* number of the search; written last */
};

struct hw_peer_delta_params {
    struct hw_distributed_sssp_params part;
    struct hw_allgather_params round;
    struct hw_distributed_sssp_outboxes box[2];   /* by the meeting's number */
    uint32_t room;                                /* entries of a box */
    void *distance_of[HW_PEER_DELTA_RANKS];       /* [codes] of each rank, as this GPU reaches it */
    uint32_t *touched_of[2][HW_PEER_DELTA_RANKS]; /* [block / 32 + 1] of each rank: lowered in
                                                       place; by the meeting's number */
    uint32_t core;                                /* own vertices of several edges end here */
    uint32_t core_of[HW_PEER_DELTA_RANKS], active_of[HW_PEER_DELTA_RANKS];
    uint64_t all_core;                       /* of all parts */
    uint32_t *near[2];                       /* [lists + 1] queues of even and odd passes */
    uint32_t *later[2];                      /* [lists + 1] */
    uint32_t *near_bits[2];                  /* [lists / 32 + 1] what is in them */
    uint32_t *later_bits;                    /* likewise */
    struct hw_peer_delta_lightest *lightest; /* [lists + 1] of each list */
    struct hw_peer_delta_heavy *heavy[2];    /* [heavy_capacity] */
    struct hw_peer_delta_control *control;   /* [1] */
    struct hw_peer_delta_row *row;           /* [rows], or NULL */
    struct hw_peer_delta_told *told;         /* in the host's memory */
    uint32_t rows, heavy_capacity;
    uint32_t mean_degree;
    double width;  /* of the first bucket */
    bool adaptive; /* may it change? */
    bool whole;    /* lists are pushed whole: no long edges */
    bool endless;  /* one bucket without an end: bellman-ford */
    bool directed; /* nobody pulls, and nobody is left out */
};

/* A search. */
struct hw_peer_delta_search {
    uint32_t root;   /* code; the same on all parts */
    uint32_t number; /* of the first meeting */
    uint32_t run;
    bool all; /* all GPUs are to know all distances before parents are looked for */
};

/* Blocks and shared memory for this device. Returns a cudaError_t, as all launchers do. */
int hw_peer_delta_shape(const struct hw_peer_delta_params *plan, int *blocks, int *shared_bytes);

/* The lightest edges of the lists; *core (on the device): past the last list of several edges. Does
 * not wait. */
int hw_peer_delta_launch_lightest(const struct hw_peer_delta_params *plan, uint32_t *core);

/* Does not wait. */
int hw_peer_delta_launch(const struct hw_peer_delta_params *plan,
                         const struct hw_peer_delta_search *search, int blocks, int shared_bytes);

/* Results by graph id, of a search that was complete. Does not wait. */
int hw_peer_delta_launch_results(const struct hw_peer_delta_params *plan, uint32_t root,
                                 int blocks);

/* What is known of others' vertices of one edge is forgotten, and isolated ones are unreached:
 * for what expects to be told of all. Does not wait. */
int hw_peer_delta_launch_forget(const struct hw_peer_delta_params *plan, uint32_t root);

#ifdef __cplusplus
}
#endif

#endif
