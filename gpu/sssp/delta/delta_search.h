/*
 * Delta-stepping (method `delta`): the whole search runs in one cooperative kernel, on one GPU or
 * on each of several GPUs of one node (1d layout, transport peer). Interface of host code and
 * kernel.
 *
 * Numbering. On one GPU local ids are positions, and what follows about other GPUs does not exist.
 * On several, local ids and lists are those of gpu/sssp/distributed/distributed_sssp.h. Owned
 * vertices have the positions [0, active) of their owner's range; [0, core) have several edges,
 * [core, active) have one edge and are left out until the end.
 *
 * Remote distances. A GPU stores for each remote vertex the best distance that it sent to the owner
 * or that the owner broadcast. Before a pull that examines many edges, every owner broadcasts the
 * distances of the bucket that it settled; a pull that examines few edges, and the end of the
 * search, load the distances that they need from the owners' memory. Vertices of one edge hold a
 * key that push treats as settled and pull as unreached.
 *
 * In graphs without hubs such copies would take as much memory as the owned distances, and random
 * access to memory is what bounds pushes. There a push compares with a level in place of the copy:
 * one byte, which grows with the distance, of a distance that was sent. What is sent needlessly,
 * because its level is that of a smaller distance, lowers nothing at its owner.
 *
 * Packed hints. In large undirected graphs without hubs, if keys have 32 bits, the key of an owned
 * vertex and the source of its hint are one word of state.result, which atomic minima lower: one
 * sector of memory in place of two. state.distance holds copies of remote distances then, and at
 * the end of a search the owned ones.
 *
 * No hubs, one GPU. Most vertices are reached at about the same distance there. Pulls push nothing,
 * as what they would push to vertices that are not pulled yet would be pushed again. Once there was
 * a pull, a push skips targets that were settled before it, by a bit of each. The first pull reads
 * copies of all keys, in half the memory, and stops early in each list, because the few nearest
 * vertices have pushed their heavy edges before: the lower bound of the bucket was raised past
 * them.
 *
 * Broadcasts are packed if the outboxes are large enough: chunks of positions have fixed places in
 * the outboxes, which hold no updates in that iteration. Else keys are stored directly into the
 * distances of the other GPUs.
 *
 * Leftovers. A bucket may be left with a few unsettled vertices. They, and vertices that fall into
 * that bucket later, push all their edges, and their distances are broadcast again where the other
 * GPUs already have one.
 *
 * Updates. A distance that a push found for a remote vertex goes into an outbox in the owner's
 * memory, as (position, source, key). The owner applies it after the next peer barrier; if there
 * are few updates and the next iteration pushes, that iteration applies them and pushes their
 * vertices as well as those in its queue. A pull that follows does the same, unless distances are
 * broadcast before it. A full outbox falls back to lowering the owner's distance in place, and a
 * bit records the vertex.
 */
#ifndef HOPWAVE_GPU_SSSP_DELTA_DELTA_SEARCH_H
#define HOPWAVE_GPU_SSSP_DELTA_DELTA_SEARCH_H

#include "gpu/comm/allgather_kernel.h"
#include "gpu/sssp/common/delta_policy.h"
#include "gpu/sssp/common/sssp_engine.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HW_DELTA_RANKS 8 /* maximum */
/* Threads of a block: five warps per scheduler, with 96 registers per thread. 1024 threads spill
 * many registers; with 512, too few warps hide the latency of memory. */
#define HW_DELTA_THREADS 640

/* Edges of a long list that a warp relaxes at a time. */
#define HW_DELTA_CHUNK 64

/* As the source of a hint: the edge vanishes in the key of its source. */
#define HW_DELTA_EQUAL_DISTANCE_PARENT (HW_INVALID_VERTEX - 1)

/* As the source of an update between nodes: it is not of an edge, but lowers or replaces the copy
 * of the sender's distance of a local id. */
#define HW_DELTA_LOWER_COPY (HW_INVALID_VERTEX - 2)
#define HW_DELTA_REPLACE_COPY (HW_INVALID_VERTEX - 3)

/* Maximum of long lists deferred at a time; their packed count has 24 bits. */
#define HW_DELTA_MAX_LONG_LISTS (UINT32_C(1) << 22)

enum hw_delta_routine {
    HW_DELTA_ROUTINE_BEGIN,
    HW_DELTA_ROUTINE_ROOT,
    HW_DELTA_ROUTINE_PUSH,
    HW_DELTA_ROUTINE_LIGHT_PUSH,
    HW_DELTA_ROUTINE_HEAVY_PUSH,
    HW_DELTA_ROUTINE_BROADCAST,
    HW_DELTA_ROUTINE_HEAVY_PULL,
    HW_DELTA_ROUTINE_NEXT_BUCKET,
    HW_DELTA_ROUTINE_PARENTS,
    HW_DELTA_ROUTINES
};

/* What all GPUs must know after an iteration: sums over all GPUs, except MIN_KEY. The words are
 * those of struct hw_delta_counters, which GPUs exchange as they are. */
enum {
    HW_DELTA_COUNT_SENT,                      /* [4] updates for each rank, two counts a word */
    HW_DELTA_COUNT_STEP = HW_DELTA_RANKS / 2, /* vertices of the next iteration, queued or sent */
    HW_DELTA_COUNT_REST,             /* vertices of the rest of the bucket, queued or sent */
    HW_DELTA_COUNT_FRONTIER,         /* vertices pushed */
    HW_DELTA_COUNT_LONG_LIST_CHUNKS, /* chunks of long lists */
    HW_DELTA_COUNT_EDGES,            /* edges pushed */
    HW_DELTA_COUNT_DEGREES,          /* degrees of the vertices pushed */
    HW_DELTA_COUNT_UNSETTLED,        /* vertices beyond the bucket, reached or not */
    HW_DELTA_COUNT_PULLED,           /* edges pulled */
    HW_DELTA_COUNT_PARENTLESS,       /* vertices without a parent */
    HW_DELTA_COUNT_MIN_KEY,          /* maximum of the complements of the minimum keys */
    HW_DELTA_COUNT_SENT_KEYS,        /* keys broadcast, or loaded from other GPUs */
    HW_DELTA_COUNT_WORDS
};

/* Counters of one iteration that the blocks of a GPU share. */
struct hw_delta_counters {
    uint32_t sent[HW_DELTA_RANKS];
    uint32_t step, sent_step; /* the next iteration's queue, and updates that it pushes */
    uint32_t rest, sent_rest; /* vertices that wait (their number is in `control`), and updates that
                                 will wait */
    uint32_t frontier, from_inbox; /* pushed from the queue, and directly from the inbox */
    unsigned long long
        long_lists; /* long lists of the next iteration: number above, chunks below */
    unsigned long long pushed;
    unsigned long long degrees;
    unsigned long long unsettled;
    unsigned long long pulled;
    unsigned long long parentless;
    unsigned long long max_complement; /* complement of the minimum key left for later */
    unsigned long long sent_keys;
};

/* Counters that blocks share. Iteration n uses counters[n % 4] and clears those of n + 2. */
struct hw_delta_control {
    struct hw_delta_counters counters[4];
    uint32_t claimed[3]; /* work chunks that blocks claimed beyond their first two: a ring of three,
                            by rest_index */
    uint32_t arrived;    /* blocks at grid and peer barriers, since the search began */
    uint32_t failed;
    uint32_t trace_records;
};

/* The rest of a list that is too long for one warp. */
struct hw_delta_long_list {
    uint32_t vertex, from; /* from, end: edges, counted from the first of the list */
    uint32_t end;
    uint32_t chunk; /* chunks of the lists before it */
};

struct hw_delta_trace_record {
    uint32_t routine, bucket;
    uint64_t frontier, found, pushed, pulled;
    uint64_t sent;        /* bytes */
    uint64_t nanoseconds; /* device clock at the end of the record */
};

/* The two lightest edges of a list; HW_INVALID_VERTEX where there is none. */
struct hw_delta_lightest {
    struct hw_gpu_edge edge[2];
};

/* What a search on several GPUs reports to the host, in its memory. */
struct hw_delta_report {
    uint64_t parentless; /* reached vertices of all parts without a parent */
    uint32_t rounds;     /* peer barriers, hence all-gathers */
    uint32_t failed;
    uint32_t run; /* number of the search; written last */
};

/* How many vertices this GPU and the others own. */
struct hw_delta_vertices {
    uint32_t core;   /* owned vertices of several edges are [0, core) */
    uint32_t active; /* owned vertices with edges are [0, active); push_only: all */
    uint32_t core_of[HW_DELTA_RANKS], active_of[HW_DELTA_RANKS]; /* of each rank */
    uint64_t all_core;                                           /* sum over all ranks */
};

/* Queues and lists of this GPU. Pairs alternate with the parity of the iteration. */
struct hw_delta_queues {
    uint32_t *step_queue[2]; /* [lists + 1] vertices of the step */
    uint32_t *rest_queue[2]; /* [lists + 1] vertices of the rest of the bucket */
    uint32_t *step_marks[2]; /* [lists / 32 + 1] bits of the vertices queued */
    uint32_t *rest_marks;    /* [lists / 32 + 1] likewise */
    uint32_t *unsettled; /* one GPU, packs_hints: [lists / 32 + 1] bits of vertices that were beyond
                            the bucket that was pulled last; else NULL */
    struct hw_delta_lightest *lightest;      /* [active + 1] of each list that is pulled */
    struct hw_delta_lightest *lightest_out;  /* [core + 1] of each list that is pushed, if it is
                                                another one; else NULL. Several GPUs: [active + 1] */
    struct hw_delta_long_list *long_list[2]; /* [long_list_capacity] */
};

struct hw_delta_config {
    int kind; /* of keys: enum hw_gpu_key */
    uint32_t trace_capacity, long_list_capacity;
    uint32_t mean_degree;
    double delta; /* width of the first bucket */
    struct hw_delta_policy policy;
    bool adaptive;             /* widths may change */
    bool no_light_heavy_split; /* all edges of a vertex are pushed at once */
    bool endless;              /* one bucket without an end: bellman-ford */
    bool push_only;            /* directed, and edges are known at their sources alone: no vertex
                                  pulls, and none is left out until the end */
    bool packs_hints;          /* one GPU, undirected, keys of 32 bits: keys and hints are words */
};

/* Weight-sorted adjacency lists of the owned vertices. */
struct hw_delta_lists {
    const void *offset; /* [vertices.active + 1] uint32_t or uint64_t, as the kernel takes them */
    const struct hw_gpu_edge *edge;
};

/* The part's search state. */
struct hw_delta_state {
    void *distance;             /* [local ids] keys; of remote vertices the best one known here */
    struct hw_gpu_edge *result; /* [local ids] hints, then {parent, low bits of the key} */
};

/* How local ids are divided among the ranks. */
struct hw_delta_partition {
    uint32_t ranks, rank;
    uint32_t block_size;  /* local ids of an owner range; one rank: vertices.active */
    uint64_t block_magic; /* hw_divisor(block_size).magic */
    uint32_t owned_begin; /* local id of the first owned position */
};

/* Buffers of updates, by rank. Send buffers are in the receiver's memory. */
struct hw_delta_outboxes {
    void *send[HW_DELTA_RANKS];
    const void *recv[HW_DELTA_RANKS];
};

struct hw_delta_params {
    struct hw_delta_lists out, in; /* in: unless push_only; undirected: the same as out */
    struct hw_delta_state state;
    struct hw_delta_partition partition;
    struct hw_delta_vertices vertices;
    struct hw_delta_queues queues;
    struct hw_delta_control *control;    /* [1] */
    struct hw_delta_trace_record *trace; /* [trace_capacity], or NULL */
    uint32_t *parentless; /* one GPU: [1] on the device: reached vertices without a parent */
    struct hw_delta_config config;

    /* Several GPUs only. Memory of all GPUs of the node, as this one reaches it; pairs alternate
     * with the parity of the all-gather. Not in a struct of its own: the compiler would add its
     * offset at run time. */
    struct hw_delta_report *report; /* in the host's memory */
    struct hw_allgather_params allgather;
    struct hw_delta_outboxes outbox[2];
    uint32_t outbox_capacity;                /* updates in an outbox */
    void *distance_of[HW_DELTA_RANKS];       /* [local ids] of each rank */
    int64_t *words_of[HW_DELTA_RANKS];       /* [local ids] likewise: state.result, if packed */
    uint32_t *touched_of[2][HW_DELTA_RANKS]; /* [block_size / 32 + 1] of each rank: bits of the
                                                distances that were lowered in place */
    uint8_t *sent_levels;      /* [local ids], of remote ones; NULL: distances are compared */
    float levels_per_distance; /* of keys as distances; with sent_levels */
};

/* Results of owned vertices by rising graph id, on several GPUs. */
struct hw_delta_results {
    const uint32_t *graph_id; /* [local ids] */
    const uint32_t *local_id; /* [count] */
    bool own_order;           /* a rank owns every P-th graph id; local ids rise with these */
    uint32_t count;           /* owned vertices */
    void *distance;           /* [count] as in gpu/sssp/common/sssp_engine.h */
    uint32_t *parent;         /* [count] graph ids */
};

/* One search. */
struct hw_delta_search {
    uint32_t root;            /* local id; equal on all parts */
    uint32_t first_allgather; /* number of the first all-gather */
    uint32_t run;
    bool broadcast_all; /* broadcast all distances before parents are searched for */
};

/* ---- launchers ---- */

/* All functions return a cudaError_t. Launchers do not wait. */

struct hw_delta_shape {
    int blocks, shared_bytes;
};

/* The kernel of one GPU (gpu/sssp/delta/one_gpu_delta_search_kernel.cu), or, where hints are
 * packed, the one for that. wide: offsets have 64 bits. */
const void *hw_one_gpu_delta_packed_kernel(int kind, bool wide);
int hw_one_gpu_delta_search_shape(const struct hw_delta_params *params, bool wide,
                                  struct hw_delta_shape *shape);

/* Copies the two lightest edges of each list. */
int hw_one_gpu_delta_search_launch_lightest(const struct hw_delta_params *params, bool wide);

/* Launches a search. */
int hw_one_gpu_delta_search_launch(const struct hw_delta_params *params, bool wide,
                                   const struct hw_delta_search *search,
                                   const struct hw_delta_shape *shape);

/* The kernel of several GPUs (gpu/sssp/delta/peer/peer_delta_kernel.cu), or, where there is
 * lightest_out, of directed graphs with in-lists, or, where there are sent_levels, the one with
 * levels. Offsets have 64 bits. */
const void *hw_peer_delta_directed_kernel(int kind);
const void *hw_peer_delta_levels_kernel(int kind);
int hw_peer_delta_shape(const struct hw_delta_params *params, struct hw_delta_shape *shape);

/* Copies the two lightest edges of each list; *core (on the device): past the last vertex of
 * several edges. */
int hw_peer_delta_launch_lightest(const struct hw_delta_params *params, uint32_t *core);

int hw_peer_delta_launch(const struct hw_delta_params *params, const struct hw_delta_search *search,
                         const struct hw_delta_shape *shape);

/* The same for a kernel of several nodes (gpu/sssp/delta/peer/internode_delta.h). all: its
 * parameters, of which `params` are the first. */
int hw_internode_delta_shape(const void *kernel, struct hw_delta_shape *shape);
int hw_internode_delta_launch_kernel(const void *kernel, const void *all,
                                     const struct hw_delta_params *params,
                                     const struct hw_delta_search *search,
                                     const struct hw_delta_shape *shape);

/* Writes results by graph id of a complete search. */
int hw_peer_delta_launch_results(const struct hw_delta_params *params,
                                 const struct hw_delta_results *results, uint32_t root, int blocks);

/* Resets the distances of other GPUs' vertices of one edge, and of own isolated vertices, to
 * unreached: for rounds on the host, which expect all distances to be broadcast. */
int hw_peer_delta_launch_forget(const struct hw_delta_params *params, uint32_t root);

#ifdef __cplusplus
}
#endif

#endif
