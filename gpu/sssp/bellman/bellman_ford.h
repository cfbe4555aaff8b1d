/*
 * Methods `bellman-ford` and `near-far` on one GPU: what their host code and their kernels share.
 *
 * Both relax the edges of a frontier until it is empty. The frontier holds the vertices whose
 * distance is less than when their edges were last relaxed. Section numbers below refer to Busato
 * and Bombieri, "An Efficient Implementation of the Bellman-Ford Algorithm for Kepler GPU
 * Architectures" (2015).
 *
 * `near-far` is after Davidson, Baxter, Garland and Owens, "Work-Efficient Parallel GPU Methods
 * for Single-Source Shortest Paths" (2014). It postpones vertices whose distance is at least a
 * limit, the far pile, until no other vertices are left. The far pile is not stored as a list.
 * The first phase of the next near pile is a sweep: it selects the vertices whose distance is less
 * than the distance last relaxed. A sweep costs less than appending each far vertex to a list.
 *
 * Frontier. A phase takes its frontier from a queue that the last phase filled or, where many
 * vertices improved, from a sweep over all vertices, which compares each distance with the
 * distance last relaxed. Vertices are numbered by falling degree. Hence hubs are relaxed first,
 * and vertices that hubs improve are relaxed with the better distance in the same phase, which
 * halves the work.
 *
 * Encoding. A 64-bit word of `packed_word` holds the key of the distance (upper half) and the phase
 * of its last change (lower half). One atomicMin then reports whether the distance improved and
 * whether the vertex is queued already (section 4.2; Algorithm 6 as printed omits the former
 * test).
 */
#ifndef HOPWAVE_GPU_SSSP_BELLMAN_BELLMAN_FORD_H
#define HOPWAVE_GPU_SSSP_BELLMAN_BELLMAN_FORD_H

#include "gpu/sssp/common/sssp_engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- enumerations ---- */

/* Edge classes (section 4.1), stored in the two bits above the target vertex; graphs of more than
 * 2^HW_BELLMAN_CLASS_SHIFT vertices have no classes. Edges from the source vertex form a class of
 * the paper that needs no bits here. */
enum hw_bellman_class {
    HW_BELLMAN_PLAIN,
    HW_BELLMAN_SINGLE, /* the target has in-degree 1: relaxed without atomics */
    HW_BELLMAN_LEAF,   /* the target leads to no other vertex: relaxed after the last phase */
    HW_BELLMAN_LOOP    /* a loop: never relaxed */
};
#define HW_BELLMAN_CLASS_SHIFT 30

/* Routines of trace records: source of the frontier, times HW_BELLMAN_WIDTHS, plus the bit length
 * of the number of lanes per vertex, or 0 where a tile's edges were balanced over all lanes.
 * Routines of a search for reachability only follow after all others. */
#define HW_BELLMAN_WIDTHS 8
#define HW_BELLMAN_ROUTINES (2 * 5 * HW_BELLMAN_WIDTHS)

/* How duplicates in a queue are avoided. */
enum hw_bellman_duplicates {
    HW_BELLMAN_DUPLICATES_BY_WORD, /* phase in the packed word */
    HW_BELLMAN_DUPLICATES_BY_MARK, /* phase in an array of its own */
    HW_BELLMAN_DUPLICATES_ALLOWED
};

/* Who relaxes long lists. */
enum hw_bellman_long_list_policy {
    HW_BELLMAN_LONG_CHUNKS,  /* lists are cut into chunks; all warps of the device take them */
    HW_BELLMAN_LONG_KERNELS, /* kernels that the phase's kernel launches (section 5.3) */
    HW_BELLMAN_LONG_UNSPLIT  /* the warp that has the vertex */
};

/* Where a phase's frontier comes from. */
enum hw_bellman_source {
    HW_FROM_QUEUE,
    HW_FROM_SWEEP,
    HW_FROM_ALL, /* every reached vertex: Bellman-Ford without a queue */
    HW_FROM_END, /* the frontier is empty */
    HW_FROM_TIER /* trace records only: chunks of a tier */
};

/* ---- chunks of long lists ---- */

/* Hub tiers, at most. Tier 0 holds the edges among the largest hubs, tier 1 the other edges among
 * a larger set of hubs, and so on; the last tier holds all other edges. A phase relaxes one tier,
 * the lowest that has a frontier. Hence distances among hubs, which most shortest paths use, settle
 * before the many distances that follow from them. */
#define HW_BELLMAN_MAX_TIERS 3

struct hw_bellman_chunk {
    uint32_t vertex;
    uint32_t count; /* edges; the first chunk of a list also has HW_BELLMAN_FIRST_CHUNK */
    uint64_t begin;
};
#define HW_BELLMAN_FIRST_CHUNK (1u << 31)
#define HW_BELLMAN_CHUNK_EDGES 1024 /* at most */
#define HW_BELLMAN_MAX_BATCH 32     /* chunks that a warp tests at a time */

/* ---- counters and search state on the device ---- */

/* Counters of a phase, in a ring of four. Phase p uses entry p modulo 4 and clears the entry of
 * phase p + 2. */
struct hw_bellman_counters {
    uint32_t queue_tail;            /* vertices put into the next phase's queue, or that found it
                                       full */
    uint32_t collected;             /* the same, of a sweep that only fills a queue */
    uint32_t pending_tiers;         /* bits: tiers whose long lists improved */
    uint32_t next_chunk, next_tile; /* dynamic work distribution */
    uint32_t frontier;
    unsigned long long improved, improved_long; /* improvements; those of vertices with chunks */
    unsigned long long edges;
    unsigned long long far_complement; /* INT64_MAX less the least far key, or 0 */
};

/* What the next phase does. */
struct hw_bellman_state {
    uint32_t phase;            /* the last one done */
    uint32_t queue_parity;     /* phases of the last tier so far; its parity selects the queue */
    uint32_t tier;             /* of the next phase; the last tier has number lists.num_tiers */
    uint32_t pending_tiers;    /* bits: tiers whose chunks may be in the frontier */
    uint32_t source;           /* of the last tier's next frontier: enum hw_bellman_source */
    uint32_t queue_size;       /* of its queue */
    uint32_t has_tiles;        /* its frontier has vertices without chunks */
    uint32_t hub_improvements; /* since the last tier's last phase */
    uint32_t enqueues;         /* the last tier's next phase fills a queue */
};

/* near-far: the near pile. */
struct hw_bellman_pile {
    double limit, width;
    int64_t limit_key;                   /* vertices with keys of at least this are far */
    unsigned long long far_complement;   /* as in the counters, over all far keys; may stem from a
                                            vertex that is near now */
    unsigned long long edges, all_edges; /* relaxed for this pile; for all piles */
    uint32_t number;
};

struct hw_bellman_control {
    struct hw_bellman_counters ring[4];
    struct hw_bellman_state state;
    struct hw_bellman_pile pile;
    uint32_t launches;         /* of kernels for long lists */
    uint32_t failures;         /* launches that failed for lack of resources */
    uint32_t below_floor;      /* a key fell below config.floor_key: there is a negative cycle */
    unsigned long long direct; /* distances set without atomics (section 4.1); not counted with
                                  marks */
    uint32_t alive;            /* chains of parents that have not ended */
    uint32_t trace_size;
    uint64_t begin_ns;
};

/* ---- kernel parameters ---- */

/* Arrays of the search state. */
struct hw_bellman_arrays {
    int64_t *packed_word;   /* [active] distances and phases, or NULL: paths.distance has them */
    void *relaxed_key;      /* [active] keys with which edges were last relaxed */
    uint32_t *queued_phase; /* [active] phases in which vertices were queued, or NULL */
    uint32_t *queue[2];     /* [queue_capacity] of odd and even phases */
    uint32_t queue_capacity;
};

/* Long lists, their chunks and the hub tiers. */
struct hw_bellman_long_lists {
    const struct hw_bellman_chunk *chunk; /* [num_chunks] */
    void *chunk_relaxed_key;              /* [num_chunks] keys */
    uint32_t num_chunks;
    uint32_t num_tiers;                           /* before the last one */
    uint32_t tier_end[HW_BELLMAN_MAX_TIERS];      /* vertices below are the tier's hubs */
    uint32_t chunk_end[HW_BELLMAN_MAX_TIERS + 1]; /* chunks are sorted by tier */
    uint32_t end;                                 /* no vertex from here on has a long list */
    uint32_t min_length;
    bool by_falling_degree; /* all vertices below `end` have a long list */
};

/* Configuration. */
struct hw_bellman_config {
    uint32_t trace_capacity;
    int duplicates, long_lists; /* enum hw_bellman_duplicates, enum hw_bellman_long_list_policy */
    int frontier_source;        /* HW_FROM_QUEUE, _SWEEP, _ALL, or HW_FROM_END: chosen per phase */
    bool edge_classes;
    bool cache_hints;       /* streaming loads and stores */
    bool coalesced_enqueue; /* stage vertices in shared memory (section 5.1, figure 5) */
    bool skip_stale;        /* queued vertices whose distance was relaxed already are skipped */
    uint32_t lanes;         /* per vertex; 0: a tile's edges are balanced over all lanes;
                               1: chosen per phase by the formula of section 5.2 */
    uint32_t min_lanes, max_lanes;
    int32_t floor_key;         /* packed words: no path without a cycle has a key below this */
    uint32_t tile_vertices;    /* queued vertices that a warp takes at a time */
    uint32_t resident_threads; /* of the device */
    bool has_far_pile;         /* near-far; else all vertices are near */
};

/* Options of one search. */
struct hw_bellman_search {
    bool reachability_only;  /* weights count as 0, all edges as plain */
    double first_pile_width; /* near-far */
    bool adaptive_width;     /* of later piles */
};

struct hw_bellman_params {
    struct hw_gpu_graph graph;
    struct hw_gpu_sssp paths;
    struct hw_bellman_arrays state;
    struct hw_bellman_long_lists lists;
    struct hw_bellman_control *control;
    struct hw_gpu_sssp_trace_record *trace; /* [config.trace_capacity] or NULL */
    struct hw_bellman_config config;
    uint32_t root;
    struct hw_bellman_search search;
};

/* ---- launchers ---- */

/* All return a cudaError_t and do not wait. */

/* Sets all vertices to unreached, and the root to reached and in the frontier. */
int hw_bellman_launch_init(const struct hw_bellman_params *params);

/* Resident blocks of the kernel of many phases. */
int hw_bellman_launch_shape(const struct hw_bellman_params *params, int *blocks);

/* Runs phases until the frontier is empty or phase `last` is done, in one cooperative kernel. */
int hw_bellman_launch_run(const struct hw_bellman_params *params, int blocks, uint32_t last);

/* Runs one phase whose kernel launches kernels for long lists. sweeps: the phase is a sweep. */
int hw_bellman_launch_dynamic(const struct hw_bellman_params *params, int blocks, int sweeps);

/* Reserves resources for so many pending launches from kernels. */
int hw_bellman_set_launch_limit(uint64_t launches);

/* Writes edge classes into the lists. */
int hw_bellman_launch_edge_classes(const struct hw_bellman_params *params);

/* Sets the distances of leaves from their best in-edge; moves packed words to distances. */
int hw_bellman_launch_leaves(const struct hw_bellman_params *params);
int hw_bellman_launch_unpack(const struct hw_bellman_params *params);

/* Follows parents by pointer jumping: init_chains, then pointer_jump with round = 0, 1, ...;
 * control->alive is 0 once all chains have ended. */
int hw_bellman_launch_init_chains(const struct hw_bellman_params *params);
int hw_bellman_launch_pointer_jump(const struct hw_bellman_params *params, uint32_t round);

#ifdef __cplusplus
}
#endif

#endif
