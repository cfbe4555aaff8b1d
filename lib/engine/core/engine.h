/*
 * Engines: one method each, behind one table, CPU and GPU alike.
 *
 * The stage that drives them (traverse) loads or builds the parts, picks the
 * roots, calls search() for each, and writes or checks what comes back. One rank
 * holds one part.
 */
#ifndef HOPWAVE_ENGINE_CORE_ENGINE_H
#define HOPWAVE_ENGINE_CORE_ENGINE_H

#include "lib/base/status.h"
#include "lib/base/types.h"
#include "lib/comm/context.h"
#include "lib/comm/transport_kind.h"
#include "lib/graph/cycle.h"
#include "lib/layout/part.h"

struct hw_tree_batch;
struct hw_verdict;

enum hw_algorithm { HW_BFS, HW_SSSP };
enum hw_device { HW_CPU, HW_CUDA };
enum hw_direction { HW_DIRECTION_AUTO, HW_DIRECTION_TOP_DOWN, HW_DIRECTION_BOTTOM_UP };
enum hw_exchange { HW_EXCHANGE_AUTO, HW_EXCHANGE_LIST, HW_EXCHANGE_BITMAP };
enum hw_coupling {
    HW_COUPLING_AUTO, /* hybrid */
    HW_COUPLING_SEPARATE,
    HW_COUPLING_GATHER,
    HW_COUPLING_EXPAND,
    HW_COUPLING_HYBRID,
    HW_COUPLING_DIRECT
};
enum hw_switch { HW_SWITCH_AUTO, HW_SWITCH_ON, HW_SWITCH_OFF };

/* adaptive: ways to make a queue, one bit each; 0: its own choice. */
enum hw_queue {
    HW_QUEUE_SCAN_FREE = 1,
    HW_QUEUE_SINGLE_SCAN = 2,
    HW_QUEUE_DOUBLE_SCAN = 4,
    HW_QUEUE_NONE = 8,
    HW_QUEUE_STRIDED = 16,
    HW_QUEUE_DEGREE_CLASSES = 32
};

/* adaptive: how unvisited vertices are dealt to threads bottom-up. */
enum hw_balance {
    HW_BALANCE_AUTO,
    HW_BALANCE_STATIC,
    HW_BALANCE_THREAD,
    HW_BALANCE_WARP,
    HW_BALANCE_DONATE
};

/* Phases of a step that the papers time. An engine leaves those it has not at 0. */
enum hw_phase {
    HW_PHASE_EXPAND_EXCHANGE,    /* grids: frontier along columns (bottom-up: rows) */
    HW_PHASE_EXPANSION,          /* local scan of edges */
    HW_PHASE_FOLD_EXCHANGE,      /* grids: finds along rows (bottom-up: columns) */
    HW_PHASE_UPDATE,             /* finds into the next frontier */
    HW_PHASE_LOCAL_EXCHANGE,     /* delegates: inside a node */
    HW_PHASE_NORMAL_EXCHANGE,    /* delegates: nn finds, point to point */
    HW_PHASE_DELEGATE_REDUCTION, /* delegates: masks */
    HW_PHASE_REDUCTIONS,         /* counts that decide what comes next */
    HW_PHASES
};

/* One step (level) of one search as one rank saw it. Counts are this rank's. */
struct hw_step {
    enum hw_direction direction; /* top-down or bottom-up; delegates: of dd; AUTO for a step that
                                    searches no further and only settles parents */
    char routine[32];            /* the kernel or routine that ran, such as "list" or "td.td.bu" */
    hw_count frontier;           /* vertices this rank owns that the step started from */
    hw_count found;              /* vertices this rank owns that it reached */
    hw_count found_early;        /* and those of the level after that it reached with them */
    hw_count edges_examined;     /* SSSP: of these, `pulled` were scanned from their target */
    hw_count bytes_sent, messages_sent;
    hw_count bytes_between, messages_between; /* of these, to ranks of other nodes */
    hw_count bucket;  /* SSSP: delta-stepping's bucket; the same on all ranks */
    hw_count pulled;  /* SSSP: see edges_examined; the others were pushed */
    hw_count settled; /* SSSP: vertices this rank owns whose distance became final */
    double seconds[HW_PHASES];
};

/* The steps of one search; grows as needed, outside the hot loop. Zero-initialise. */
struct hw_steps {
    hw_count count, capacity;
    struct hw_step *step;
};

/* The next step, zeroed; NULL if memory is short. Local. */
struct hw_step *hw_steps_add(struct hw_steps *steps);
void hw_steps_clear(struct hw_steps *steps); /* keeps the memory */
void hw_steps_free(struct hw_steps *steps);

/* What methods take where the user says nothing. */
#define HW_EXPAND_FACTOR 10.0
#define HW_EDGES_PER_THREAD 4
#define HW_FORWARD_FACTOR 0.03
/* How bellman-ford and near-far relax on a GPU; zero is the default. */
enum hw_frontier { HW_FRONTIER_AUTO, HW_FRONTIER_QUEUE, HW_FRONTIER_SWEEP, HW_FRONTIER_NONE };
enum hw_removal { HW_REMOVAL_AUTO, HW_REMOVAL_WORDS, HW_REMOVAL_MARKS };
enum hw_long_lists { HW_LONG_LISTS_BLOCKS, HW_LONG_LISTS_DYNAMIC, HW_LONG_LISTS_OFF };
struct hw_relaxing {
    enum hw_frontier frontier;     /* vertices come from a queue, from a sweep over all that finds
                                      those improved, or none: all are relaxed each time */
    enum hw_removal removal;       /* duplicates are told by words of distance and phase, or by
                                      marks beside; see `duplicates` */
    enum hw_long_lists long_lists; /* who relaxes them */
    hw_count long_list;            /* edges from which a list is long */
    hw_count virtual_warp;         /* lanes for a vertex; 1: as many as the frontier leaves */
    hw_count virtual_warp_least, virtual_warp_most; /* then between these */
    hw_count hub_tiers;                             /* 1 more than there are; 0: the default */
    hw_count warp_vertices;                         /* vertices that a warp takes at a time */
    bool no_cache_hints, no_coalesced_enqueue;
    bool host_phases; /* started one by one from the host */
    bool relax_again; /* vertices relaxed with this distance already, too */
};

/* What the user may set; a member at its zero value is the engine's own choice. */
struct hw_engine_options {
    enum hw_algorithm algorithm;
    enum hw_direction direction;
    enum hw_exchange exchange;
    enum hw_transport_kind transport;
    enum hw_mpi_buffers mpi_buffers;
    bool local_all2all;     /* delegates: gather per device inside the node first */
    bool uniquify;          /* delegates: drop duplicates among nn finds before sending */
    bool nonblocking;       /* delegates: mask reduction by MPI_Iallreduce */
    double forward_factor;  /* delegates: hw_forward_factor() */
    double backward_factor; /* delegates: hw_backward_factor() */
    bool canonical_parents; /* the least parent by (level, graph id); SSSP: (hops, graph id) among
                               tight parents, hops being the fewest tight edges from the root */
    bool steps;             /* fill the steps' seconds */
    double delta;           /* delta, near-far: bucket width; 0: chosen from weights and degrees */
    bool no_edge_classes;   /* bellman-ford: treat all edges alike */
    bool duplicates;        /* bellman-ford: let a vertex enter the frontier more than once */
    enum hw_coupling coupling; /* merge: of redistributing work and gathering neighbours */
    double expand_factor;      /* merge, hybrid: edges a frontier vertex above which redistribution
                                  is the balanced one of the two */
    int edges_per_thread;      /* scan2d */
    struct hw_relaxing relaxing;
    unsigned queues;         /* adaptive: ways to make a queue that may be taken, enum hw_queue */
    enum hw_balance balance; /* adaptive: bottom-up */
    enum hw_switch async_bottom_up; /* adaptive: find vertices of the level after, too */
    double alpha;                   /* adaptive: share of the edges from which to go bottom-up */
    bool profile;                   /* adaptive: rows of bottom-up work by degree */
};

/* Delegates: a visit turns backward when its forward work exceeds so many times the backward
 * work, and forward again when it is below so many times that. The paper found that wide
 * ranges serve; the defaults were found on R-MAT graphs of scales 16 to 20. Local. */
static inline double hw_forward_factor(const struct hw_engine_options *options)
{
    return options->forward_factor > 0 ? options->forward_factor : HW_FORWARD_FACTOR;
}

static inline double hw_backward_factor(const struct hw_engine_options *options)
{
    return options->backward_factor > 0 ? options->backward_factor
                                        : hw_forward_factor(options) / 10;
}

/* How a search ended. */
enum hw_outcome { HW_OUTCOME_TREE, HW_OUTCOME_NEGATIVE_CYCLE };

/* What a tree reaches of the vertices of one rank. */
struct hw_seen {
    hw_count reached;
    hw_count ends;    /* of input tuples at reached vertices */
    hw_count deepest; /* of the levels, -1 where there is none */
    bool unset;       /* some element is no legal value */
};

/*
 * What one search returns on one rank. Arrays have part->own.count elements in
 * the order of rising graph id (part->own.by_graph_id); the caller owns and
 * poisons them.
 *
 * Distances are sums along paths in the arithmetic of their type: of float
 * weights rounded to float after each edge, in the direction of the path; of
 * integer weights in 64 bits. They are the least fixed point of
 * d[v] = min(d[u] + w(u,v)), which no order of work changes, and parents are
 * tight in the same arithmetic, d[v] == d[parent] + w, and lead to the root.
 *
 * A search that ends with a negative cycle fills `cycle` on every rank and leaves
 * all vertices unreached, the root too.
 */
struct hw_result {
    hw_gid *parent;          /* graph ids; -1 unreached; the root its own */
    int32_t *level;          /* BFS; -1 unreached; may be filled after the clock stops */
    float *distance_f32;     /* SSSP with weights of HW_WEIGHTS_F32: INFINITY unreached */
    int64_t *distance_i64;   /* SSSP with weights of HW_WEIGHTS_I32: -1 unreached (where weights are
                                negative a distance may be -1 too; parent tells) */
    enum hw_outcome outcome; /* the same on all ranks */
    struct hw_cycle cycle;   /* the engine allocates, the caller frees */
    double delta;            /* the bucket width used; 0 by methods without buckets */
    double seconds;          /* until parent[] is complete in graph ids, slowest rank */
    double seconds_search_order; /* until all parents are known in search ids, slowest rank */
    struct hw_steps steps;
    struct hw_seen seen; /* where parent is NULL, as tree_cache->count() has found it */
};

/*
 * An engine that leaves trees where it found them, and validates or counts them there, for
 * runs that store none: of the two ways, one is opened. From then on search() with
 * result->parent NULL brings no tree to the host. All functions are collective unless they say
 * otherwise.
 */
struct hw_tree_cache {
    /* Takes memory to keep *most trees at a time of searches in this graph; HW_RESOURCES where
     * there is too little for one. */
    enum hw_status (*open)(void *engine, struct hw_graph *graph, int *most, struct hw_error *err);

    /* Keeps the tree of the last search, from this root. Local. */
    enum hw_status (*keep)(void *engine, hw_gid root, struct hw_error *err);

    /* Validates what is kept, by the rules and to the verdicts of hw_verify_bfs() or
     * hw_verify_sssp(), and lets go of it. verdict, levels: [trees kept], in the order of keeping;
     * levels that have a vertex, of shortest paths -1. */
    enum hw_status (*validate)(void *engine, struct hw_verdict *verdict, hw_count *levels,
                               struct hw_error *err);

    /* Takes memory to count what searches reach, no tree being kept; HW_RESOURCES where that
     * cannot be. Local. */
    enum hw_status (*open_counting)(void *engine, struct hw_error *err);

    /* Counts what the last search reached. Local. */
    enum hw_status (*count)(void *engine, struct hw_seen *seen, struct hw_error *err);
};

struct hw_method;

/* How engines are made and used: what methods on one device have in common. All functions are
 * collective over ctx->world unless they say otherwise. */
struct hw_frame {
    enum hw_device device;

    /* Whether this machine can run them, asked before any work; NULL: always. Returns
     * HW_RESOURCES with the reason where not. Local. */
    enum hw_status (*ready)(struct hw_error *err);

    /* Makes an engine of a method for this part, which it borrows until destroy(). Untimed
     * (kernel 1). */
    enum hw_status (*create)(const struct hw_method *method, const struct hw_context *ctx,
                             const struct hw_part *part, const struct hw_engine_options *options,
                             void **engine, struct hw_error *err);

    /*
     * Searches from the vertex at `position` of part `owner`. The clock runs
     * from a barrier before the root is visited until the parents (SSSP: and the
     * distances) are in memory; nothing is carried from search to search.
     */
    enum hw_status (*search)(void *engine, int owner, hw_lid position, struct hw_result *result,
                             struct hw_error *err);

    /* Validate trees in place of hw_verify_bfs() and hw_verify_sssp() (lib/verify/verify.h), with
     * the same verdicts. NULL: those functions are called. */
    enum hw_status (*verify_bfs)(const struct hw_context *ctx, struct hw_graph *graph,
                                 const struct hw_tree_batch *trees, struct hw_verdict *verdict,
                                 struct hw_error *err);
    enum hw_status (*verify_sssp)(const struct hw_context *ctx, struct hw_graph *graph,
                                  const struct hw_tree_batch *trees, struct hw_verdict *verdict,
                                  struct hw_error *err);

    const struct hw_tree_cache *tree_cache; /* NULL: none */

    /* Accepts NULL. */
    void (*destroy)(void *engine);

    /* The transport that it uses: "mpi", "peer" or "nccl"; NULL: mpi. Local. */
    const char *(*transport)(const void *engine);

    /* What transport mpi gives MPI of bytes on devices: "host" or "device". NULL, as what it
     * returns: there is nothing of the kind. Local. */
    const char *(*mpi_buffers)(const void *engine);
};

/* A method. */
struct hw_method {
    const char *name; /* as --method takes it */
    const struct hw_frame *frame;
    enum hw_algorithm algorithm;
    bool grid, degree_separated; /* layouts it works on; two entries may share a name */
    bool one_part_only;
    bool several_parts_only;
    bool one_row_only;     /* of grids: 1d, and 2d with one row */
    bool builds_any;       /* of several parts: build() does all that hw_parts_build() does */
    bool lists_stay;       /* build() leaves no lists on the host, whatever the layout */
    bool negative_weights; /* SSSP: does it take them? */

    /* Bytes the engine will take beside the part, which may be described alone
     * (spec, counts and shapes, but no arrays): then a bound. Local. */
    hw_count (*bytes)(const struct hw_part *part, const struct hw_engine_options *options);

    /* Bytes of this rank's device that laying a graph out and searching it take at most, of a
     * part that is described alone: over peer, and where parallel edges are few; more of it
     * makes building faster. graph: NULL for partitions. NULL: not told. Local. */
    hw_count (*device_bytes)(const struct hw_part *part, const struct hw_graph_desc *graph,
                             const struct hw_engine_options *options);

    /* Lays out a graph, one part a rank, in place of hw_parts_build(). The matrices of the part may
     * have offsets alone, and part->resident the rest, which frame->create() then takes. NULL:
     * nothing better. Collective. */
    enum hw_status (*build)(const struct hw_context *ctx, struct hw_graph *graph,
                            const struct hw_layout_spec *spec, struct hw_part *part,
                            struct hw_error *err);

    /* The same, with all lists on the host, for whom else they are there: methods whose lists
     * stay away have it. */
    enum hw_status (*build_whole)(const struct hw_context *ctx, struct hw_graph *graph,
                                  const struct hw_layout_spec *spec, struct hw_part *part,
                                  struct hw_error *err);

    const void *own; /* what the frame knows it by beside; NULL: nothing */
};

/* The methods of this build, NULL-ended: those of lib/engine, then those of
 * gpu/. Local. */
const struct hw_method *const *hw_methods(void);

/*
 * The method that name ("auto" too) stands for on this part, or HW_BAD_INPUT
 * with a sentence naming those that apply. Local; all ranks agree.
 */
enum hw_status hw_method_choose(const char *name, enum hw_device device,
                                enum hw_algorithm algorithm, const struct hw_part *part,
                                const struct hw_method **method, struct hw_error *err);

#endif
