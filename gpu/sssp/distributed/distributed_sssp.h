/*
 * Shortest paths on several parts, one MPI rank per GPU, in any layout: what the host code of
 * methods `delta` and `bellman-ford` shares with its kernels.
 *
 * Local ids. A part numbers every vertex that it refers to. Local ids form owner ranges of
 * `block_size` ids each, one for every part whose vertices occur here, followed by the
 * delegates:
 *
 *   1d                one range for each part;
 *   2d                ranges of the parts of the grid row, where edges end, then ranges of the
 *                     parts of the grid column, where edges begin; the part's owned vertices
 *                     have ids in the first kind only;
 *   degree-separated  one range for each part, then the delegates.
 *
 * Adjacency lists. The edges of a part are sorted by weight within the list of their source and
 * hold local ids. Lists form blocks of `block_size`, one for each owner range that has any,
 * followed by the lists of the delegates.
 *
 * Distances. For each local id a part stores the best distance known here. Of owned vertices and
 * delegates this is the tentative distance. Of other vertices it is the best distance sent to
 * or received from their owner. All are lengths of real paths. Hence an edge may be relaxed from
 * any of them, and an update is sent only if it is better than the last one sent.
 *
 * Round. A round relaxes edges locally. Then each rank sends (position, key) pairs: improved
 * remote vertices to their owners, improved delegates to all ranks. The next frontier is a
 * bitmap with one bit for each list.
 *
 * Delta-stepping: Meyer and Sanders, "Delta-stepping: a parallelizable shortest path algorithm"
 * (2003). Fold and expand of the 2d layout: Yoo et al., "A scalable distributed parallel
 * breadth-first search algorithm on BlueGene/L" (2005). Delegates: Pan, Pearce and Owens,
 * "Scalable breadth-first search on a GPU cluster" (2018).
 */
#ifndef HOPWAVE_GPU_SSSP_DISTRIBUTED_DISTRIBUTED_SSSP_H
#define HOPWAVE_GPU_SSSP_DISTRIBUTED_DISTRIBUTED_SSSP_H

#include "gpu/sssp/common/sssp_engine.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HW_DISTRIBUTED_SSSP_MAX_RANKS 256 /* over peer HW_DISTRIBUTED_SSSP_MAX_PEERS */
#define HW_DISTRIBUTED_SSSP_MAX_PEERS 16
#define HW_DISTRIBUTED_SSSP_MAX_BLOCKS 16   /* rows of a grid */
#define HW_DISTRIBUTED_SSSP_NONE UINT32_MAX /* no local id, no range, no block of lists */

/* ---- kernel parameters ---- */

/* Configuration: ranks and the numbering of local ids. */
struct hw_distributed_sssp_config {
    int kind; /* of keys: enum hw_gpu_key */
    uint32_t ranks, rank;
    uint32_t block_size;  /* local ids of an owner range */
    uint64_t block_magic; /* hw_divisor(block_size).magic */
    uint32_t num_ranges, num_delegates;
    uint32_t num_local_ids; /* num_ranges * block_size + num_delegates */
    uint32_t owned_range;   /* of the part's owned vertices; it begins at local id
                               owned_range * block_size */
    uint32_t num_counters;  /* words of an all-gather: hw_distributed_sssp_num_counters() */
};

/* Shape of the adjacency lists. */
struct hw_distributed_sssp_lists {
    uint32_t num_blocks;
    uint32_t count;                                 /* num_blocks * block_size + num_delegates */
    uint32_t range[HW_DISTRIBUTED_SSSP_MAX_BLOCKS]; /* owner range of each block's sources */
    uint32_t end[HW_DISTRIBUTED_SSSP_MAX_BLOCKS];   /* [num_blocks] past the block's last list that
                                                      has edges */
    uint32_t owned_begin; /* the first list of the part's owned vertices */
    uint32_t active;      /* owned positions past the last vertex with edges; directed: all */
};

/* Who owns which local ids, and the other ranks whose vertices occur here; HW_DISTRIBUTED_SSSP_NONE
 * where they do not. */
struct hw_distributed_sssp_peers {
    uint32_t range_owner[HW_DISTRIBUTED_SSSP_MAX_RANKS + 1]; /* [config.num_ranges] rank */
    uint32_t row_range[HW_DISTRIBUTED_SSSP_MAX_RANKS];       /* owner range of a rank's vertices as
                                                                targets of edges */
    uint32_t column_block[HW_DISTRIBUTED_SSSP_MAX_RANKS];    /* block of lists of a rank's vertices
                                                                as sources */
};

/* The part's edges, constant while searches run. */
struct hw_distributed_sssp_graph {
    const uint64_t *offset;         /* [lists.count + 1] */
    const struct hw_gpu_edge *edge; /* [offset[lists.count]] neighbor: a local id */
    const uint32_t *graph_id;       /* [num_local_ids] */
};

/* Search state. */
struct hw_distributed_sssp_state {
    void *distance;          /* [num_local_ids] keys */
    int64_t *value;          /* [num_local_ids] parents, or what leads to parents */
    uint32_t *frontier_bits; /* [lists.count / 32 + 1] lists of the next frontier */
    uint32_t *pending_bits;  /* [num_local_ids / 32 + 1] improved ids that must be sent */
    uint32_t *frontier_list; /* [lists.count] the frontier's lists, in any order */
    uint32_t *queue;         /* [lists.count] those of them that have edges to relax */
    uint64_t *queue_edge;    /* [lists.count] first edge of each queued list, less its prefix */
    uint64_t *queue_prefix;  /* [lists.count] edges that come before it in the queue */
};

/* Results of owned vertices by rising graph id. */
struct hw_distributed_sssp_results {
    const uint32_t *local_id; /* [count] */
    uint32_t count;           /* owned vertices */
    void *distance;           /* [count] as in gpu/sssp/common/sssp_engine.h */
    uint32_t *parent;         /* [count] graph ids */
};

struct hw_distributed_sssp_params {
    struct hw_distributed_sssp_config config;
    struct hw_distributed_sssp_lists lists;
    const struct hw_distributed_sssp_peers *peers; /* [1] */
    struct hw_distributed_sssp_graph graph;
    struct hw_distributed_sssp_state state;
    struct hw_distributed_sssp_results results;
    struct hw_distributed_sssp_control *control; /* [1] */
};

/* ---- counters ---- */

/* Counters of a round, which an all-gather distributes to all ranks. */
enum {
    HW_DISTRIBUTED_SSSP_COUNT_BROADCAST,       /* pairs that go to several ranks alike */
    HW_DISTRIBUTED_SSSP_COUNT_CURRENT_STEP,    /* vertices of the next frontier, or sent as such */
    HW_DISTRIBUTED_SSSP_COUNT_REST_OF_BUCKET,  /* vertices of a later step of the bucket, or sent
                                                  as such; push counts at most 1 of them */
    HW_DISTRIBUTED_SSSP_COUNT_FRONTIER,        /* vertices relaxed */
    HW_DISTRIBUTED_SSSP_COUNT_MIN_KEY,         /* maximum over ranks of the complement of the least
                                                  unsettled key */
    HW_DISTRIBUTED_SSSP_COUNT_UNSETTLED,       /* vertices beyond the bucket: reached ones in the
                                                  upper half, unreached ones in the lower half */
    HW_DISTRIBUTED_SSSP_COUNT_EDGES,           /* examined */
    HW_DISTRIBUTED_SSSP_COUNT_FRONTIER_DEGREE, /* sum of the lengths of the frontier's lists */
    HW_DISTRIBUTED_SSSP_COUNT_SENT, /* [(ranks + 1) / 2] pairs for each rank, two counts per
                                       word */
    HW_DISTRIBUTED_SSSP_MAX_COUNTERS =
        HW_DISTRIBUTED_SSSP_COUNT_SENT + HW_DISTRIBUTED_SSSP_MAX_RANKS / 2
};

static inline uint32_t hw_distributed_sssp_num_counters(uint32_t ranks)
{
    return HW_DISTRIBUTED_SSSP_COUNT_SENT + (ranks + 1) / 2;
}

struct hw_distributed_sssp_control {
    unsigned long long counter[HW_DISTRIBUTED_SSSP_MAX_COUNTERS];
    unsigned long long frontier_lists; /* length of state.frontier_list */
    unsigned long long queue_size;     /* packed: queued lists above, their edges below */
    unsigned long long matches;        /* vertices or edges that a job counts */
};

/* Bits of the edges in packed queue sizes (gpu/device/packed_queue.h). */
#define HW_DISTRIBUTED_SSSP_EDGE_BITS 34

/* ---- jobs ---- */

/* What relaxing an edge does. */
enum hw_distributed_sssp_mode {
    HW_DISTRIBUTED_SSSP_RELAX,        /* lowers the distance */
    HW_DISTRIBUTED_SSSP_REACH,        /* sets the distance to 0: reachability */
    HW_DISTRIBUTED_SSSP_MIN_HOPS,     /* along tight edges: value = hops (upper half), graph id of
                                         the parent (lower half) */
    HW_DISTRIBUTED_SSSP_TIGHT_PARENT, /* value = the least graph id of the nearer sources of
                                         tight edges */
    HW_DISTRIBUTED_SSSP_EQUAL_DISTANCE_PARENT, /* along edges of length zero, to vertices without a
                                         value: value = round (upper half), graph id of the source
                                         (lower half) */
    HW_DISTRIBUTED_SSSP_TIGHT_OR_BETTER_EDGE,  /* value = source (upper half), weight (lower half)
                                         of an edge that is tight or would lower the distance; its
                                         cycles are candidates for negative cycles */
    HW_DISTRIBUTED_SSSP_OVERFLOW_CHECK /* counts edges to vertices that are not reached, or whose
                                           distance is minus infinity */
};

/* One pass over edges or vertices. Bounds are keys; ranges are half-open. */
struct hw_distributed_sssp_job {
    int mode;                         /* enum hw_distributed_sssp_mode */
    int64_t target_begin, target_end; /* edges are relaxed whose resulting key is in this range */
    int64_t settled_begin; /* pull: every settled vertex that was not pulled from has a key of at
                              least this. EQUAL_DISTANCE_PARENT: number of the round, from 1 */
    int64_t step_end, bucket_end;     /* improved vertices below step_end join the next frontier;
                                         those below bucket_end wait for a later step */
    int64_t source_begin, source_end; /* keys of the vertices that the job processes */
    uint32_t source_mask; /* XORed to graph ids: selects which of several sources is recorded */
    uint32_t root;        /* local id, where this part has the root */
    bool on_values;       /* the job works on state.value, not on state.distance */
};

/* ---- exchanges ---- */

/* Which vertices an exchange packs. */
enum hw_distributed_sssp_payload {
    HW_DISTRIBUTED_SSSP_FOLD,     /* improved vertices, for their owners; improved delegates */
    HW_DISTRIBUTED_SSSP_EXPAND,   /* owned vertices of the next frontier, for the grid column */
    HW_DISTRIBUTED_SSSP_BROADCAST /* owned vertices with keys in [source_begin, source_end), for
                                     the grid row */
};

/* Buffers of (position, key) pairs, by rank. Over `peer` send buffers are in the receiver's
 * memory. */
struct hw_distributed_sssp_outboxes {
    void *send[HW_DISTRIBUTED_SSSP_MAX_RANKS];           /* positions of owned vertices */
    void *broadcast_send[HW_DISTRIBUTED_SSSP_MAX_RANKS]; /* numbers of delegates */
    const void *recv[HW_DISTRIBUTED_SSSP_MAX_RANKS];
    const void *broadcast_recv[HW_DISTRIBUTED_SSSP_MAX_RANKS];
};

/* ---- rounds in one kernel ---- */

/* Trace record of one round: this rank's own counts. */
struct hw_distributed_sssp_trace_record {
    uint64_t frontier, current_step, edges, sent, broadcast;
    uint64_t nanoseconds;
};

/* Outcome of a run of rounds, summed over all parts. In pinned host memory. */
struct hw_distributed_sssp_run_summary {
    uint64_t min_key, unsettled;                               /* counters of the first round */
    uint64_t current_step;                                     /* counter of the last round */
    uint64_t rest_of_bucket, frontier, edges, frontier_degree; /* sums over all rounds */
    uint32_t rounds, failed;
    uint32_t run; /* number of the run; written last, so that the host may poll it */
};

struct hw_allgather_result;
struct hw_allgather_params;

/* Parameters of a run of rounds. */
struct hw_distributed_sssp_run_params {
    const struct hw_distributed_sssp_outboxes *outboxes; /* [2] by the parity of the exchange */
    uint32_t parity;                                     /* of the first exchange */
    uint32_t number;                                     /* of the first all-gather */
    uint32_t run;
    uint32_t max_rounds;
    uint64_t min_frontier_divisor;      /* the run stops early where the next frontier has at most
                                           1 / divisor of the largest one's vertices */
    int collect;                        /* first put vertices with keys in [job->source_begin,
                                           job->step_end) into the frontier */
    struct hw_allgather_result *result; /* [HW_ALLGATHER_IN_FLIGHT] on the device */
    struct hw_distributed_sssp_trace_record *trace; /* [trace_capacity], or NULL */
    uint32_t first_record, trace_capacity;
    struct hw_distributed_sssp_run_summary *summary; /* in pinned host memory */
};

/* ---- launchers ---- */

/* All functions return a cudaError_t. Launchers do not wait. blocks: of the launch. */

/* Grid sizes for this device: blocks of all launches; resident_blocks of
 * hw_distributed_sssp_launch_run(), whose kernel is cooperative. */
int hw_distributed_sssp_shape(const struct hw_distributed_sssp_params *params, int *blocks,
                              int *resident_blocks);

/* Runs rounds over transport `peer` in one kernel until the next frontier is empty. Stops earlier
 * where the next frontier is small (min_frontier_divisor), vertices of the bucket wait for a later
 * step, and the step ends before the bucket does. */
int hw_distributed_sssp_launch_run(const struct hw_distributed_sssp_params *params,
                                   const struct hw_distributed_sssp_job *job,
                                   const struct hw_distributed_sssp_run_params *run_params,
                                   const struct hw_allgather_params *allgather,
                                   int resident_blocks);

/* Sets all distances to unreached and the root's to 0, and makes the root the next frontier.
 * root: local id, or HW_DISTRIBUTED_SSSP_NONE. */
int hw_distributed_sssp_launch_init_distances(const struct hw_distributed_sssp_params *params,
                                              uint32_t root, int blocks);

/* The same for state.value: all INT64_MAX, but `root_value` for the root. */
int hw_distributed_sssp_launch_init_values(const struct hw_distributed_sssp_params *params,
                                           uint32_t root, int64_t root_value, int blocks);

/* Puts owned vertices and delegates with keys in [source_begin, step_end) into the next frontier;
 * counts the unsettled ones beyond. */
int hw_distributed_sssp_launch_collect(const struct hw_distributed_sssp_params *params,
                                       const struct hw_distributed_sssp_job *job, int blocks);

/* Queues the lists of the next frontier and clears its bits; by_key: the lists of vertices with
 * keys in [source_begin, source_end) instead. */
int hw_distributed_sssp_launch_queue_frontier(const struct hw_distributed_sssp_params *params,
                                              const struct hw_distributed_sssp_job *job,
                                              bool by_key, int blocks);

/* Relaxes the queued edges. */
int hw_distributed_sssp_launch_push(const struct hw_distributed_sssp_params *params,
                                    const struct hw_distributed_sssp_job *job, int blocks);

/* For every list of a vertex with a key of at least bucket_end: selects the neighbor below
 * bucket_end that gives the least distance. */
int hw_distributed_sssp_launch_pull(const struct hw_distributed_sssp_params *params,
                                    const struct hw_distributed_sssp_job *job, int blocks);

/* For every list of a reached vertex: selects a nearer neighbor whose edge is tight. */
int hw_distributed_sssp_launch_pull_parents(const struct hw_distributed_sssp_params *params,
                                            const struct hw_distributed_sssp_job *job, int blocks);

/* Packs pairs into the send buffers and counts them. */
int hw_distributed_sssp_launch_pack(const struct hw_distributed_sssp_params *params,
                                    const struct hw_distributed_sssp_job *job,
                                    enum hw_distributed_sssp_payload payload,
                                    const struct hw_distributed_sssp_outboxes *outboxes,
                                    int blocks);

/* Applies received pairs. result: of the all-gather that followed the packing, on the device. */
int hw_distributed_sssp_launch_unpack(const struct hw_distributed_sssp_params *params,
                                      const struct hw_distributed_sssp_job *job,
                                      enum hw_distributed_sssp_payload payload,
                                      const struct hw_distributed_sssp_outboxes *outboxes,
                                      const struct hw_allgather_result *result, int blocks);

/* Counts reached owned vertices and delegates that have no value, except the root. */
int hw_distributed_sssp_launch_count_missing_parents(
    const struct hw_distributed_sssp_params *params, uint32_t root, int blocks);

/* Writes results by graph id and counts reached vertices without a parent. all_unreached: writes
 * every vertex as unreached. The lower half of a value is the parent's graph id. */
int hw_distributed_sssp_launch_results(const struct hw_distributed_sssp_params *params,
                                       uint32_t root, bool all_unreached, int blocks);

#ifdef __cplusplus
}
#endif

#endif
