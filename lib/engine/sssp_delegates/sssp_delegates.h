/*
 * Methods `delta` and `bellman-ford` on the degree-separated layout: the state and functions that
 * their files share.
 *
 * A part numbers all vertices it meets in one sequence: the delegates; its own
 * slots; and ghosts, the normal vertices of other parts that edges of nn lead
 * to. Delegates and slots are its locals. The four subgraphs become two: edges
 * between locals, and edges that cross to ghosts. Every part holds a best
 * distance and a parent for each of these vertices, in one table; that of a
 * ghost is the best that this part has sent to its owner.
 *
 * In a step each part relaxes its edges by push or pull. Then the parts exchange the distances
 * that decreased: delegates are all-reduced by minimum, as a list or as a whole array, whichever
 * is smaller ("Scalable Breadth-First Search on a GPU
 * Cluster", section V-A, with distances in place of bits); ghosts go point to
 * point, the best for each (section V-B).
 *
 * The parent is stored with the distance as a code: a local vertex, or "sent by another part".
 * Parents of the second kind are requested from other parts after the search
 * (search_parents.c).
 */
#ifndef HOPWAVE_ENGINE_SSSP_DELEGATES_SSSP_DELEGATES_H
#define HOPWAVE_ENGINE_SSSP_DELEGATES_SSSP_DELEGATES_H

#include "lib/base/bitmap.h"
#include "lib/comm/exchange/halo_map.h"
#include "lib/comm/halo_exchange.h"
#include "lib/engine/core/arrays.h"
#include "lib/engine/core/method.h"
#include "lib/engine/sssp/distance.h"
#include "lib/engine/sssp/negative_cycle.h"
#include "lib/engine/sssp/sorted_csr.h"
#include "lib/engine/sssp/sssp_options.h"
#include "lib/engine/sssp/weight_stats.h"

/* Edges or vertices up to which one thread does the work alone. */
#define HW_SSSP_DELEGATES_SERIAL 4096

/* A list of locals or ghosts. */
struct hw_sssp_delegates_queue {
    hw_lid *item;
    hw_count count;
};

/* Marks of a vertex. */
enum {
    HW_MARK_QUEUED = 1,  /* improved, and waiting for its next visit */
    HW_MARK_FAR = 2,     /* in the far list */
    HW_MARK_BUCKET = 4,  /* in this bucket, or in one before it */
    HW_MARK_IMPROVED = 8 /* a delegate whose distance this part decreased in this step */
};

/* Which edges of a vertex are followed. */
enum hw_sssp_delegates_scan {
    HW_SCAN_SHORT,   /* those that end inside the bucket */
    HW_SCAN_CLASSES, /* the same, and single vertices are written to without a lock */
    HW_SCAN_LONG,    /* those that end beyond it */
    HW_SCAN_FLOOD    /* all, as if they had no length */
};

/* Numbers that every rank sends to every other in a step. */
#define HW_SUMMARY_NUMBERS 6

/* Counters of a step, summed over all ranks; `min` is their minimum. */
struct hw_sssp_delegates_step_summary {
    hw_count delegates; /* delegates improved; those of several parts count for each */
    hw_count active;    /* vertices improved inside the bucket, likewise */
    hw_count settled;   /* vertices that came into the bucket so far */
    hw_count repeated;  /* visits to vertices that had been in it already */
    int64_t min;        /* no distance beyond the bucket is less: a key; of all, the least */
};

/* The data of a list that a visit of a vertex reads, adjacent in memory. */
struct hw_sssp_delegates_row {
    struct hw_edge first; /* a copy; where the list is empty, as heavy as can be */
    hw_count at;          /* where the list begins */
    hw_lid length;
    hw_lid reach; /* edges that end inside the bucket; not of `in` */
};

/* Edges of one kind, by one of their ends. */
struct hw_sssp_delegates_edges {
    struct hw_sorted_csr lists;
    struct hw_sssp_delegates_row *row; /* [locals] */
};

/* What the method, the options and the weights determine. Constant after create. */
struct hw_sssp_delegates_derived {
    bool buckets;          /* method delta */
    bool classes;          /* vertices that lead nowhere wait for the end */
    bool hops;             /* parents by hops, in place of those of the search */
    enum hw_distance kind; /* of the keys */
    size_t key_size;       /* bytes of a key in messages: 4 or 8 */
    struct hw_weight_stats weight_stats;
    hw_count loops;    /* negative self-loops of all parts */
    double width;      /* of buckets: --delta, or what the weights suggest */
    bool may_overflow; /* some path of so many vertices may be too long for a float */
};

/* The numbering of vertices. Constant after create. */
struct hw_sssp_delegates_vertices {
    hw_lid delegates, locals, ghosts;
    hw_lid none;       /* the code of no parent */
    hw_lid *own_slot;  /* [delegates] of those this part owns, else HW_LID_NONE */
    int *owner;        /* [delegates] parts */
    uint64_t *last;    /* of locals: those that wait for the end ... */
    hw_lid *last_list; /* [last_count] ... and their list */
    hw_lid last_count;
    uint64_t *single;         /* of locals and ghosts: just one edge leads there */
    struct hw_edge *pullable; /* [pullables] locals that edges lead to, but the last ones, and
                                 the weight of the lightest */
    hw_lid pullables;
};

/* Edges: from locals to locals, from locals to ghosts, and the first ones from their
 * targets (`out` where the graph is undirected). Constant after create. */
struct hw_sssp_delegates_lists {
    struct hw_sssp_delegates_edges out, cross, in;
    const struct hw_sssp_delegates_edges *into;
    uint64_t *crossing; /* of locals: those with edges to ghosts */
};

/* The state of a search. */
struct hw_sssp_delegates_search_state {
    void *best;        /* [locals+ghosts] keys and parent codes */
    uint8_t *mark;     /* [locals+ghosts] */
    uint64_t *visited; /* of locals: those marked HW_MARK_BUCKET */
    struct hw_sssp_delegates_queue improved, improved_ghosts; /* in this step */
    struct hw_sssp_delegates_queue frontier, next;
    struct hw_sssp_delegates_queue far;    /* reached, beyond the bucket; and some inside it */
    struct hw_sssp_delegates_queue bucket; /* what came into it */
    struct hw_edge *open;                  /* of `pullable`, those not settled; and some that are */
    hw_count open_count;
    int64_t low, high;          /* keys: the bucket is [low, high) */
    int64_t far_least;          /* no key in `far` is less */
    hw_count settled, repeated; /* own ones, in this bucket */
    hw_count reached;           /* own ones, in all buckets */
    int bucket_number;
    hw_lid root; /* as a local, or HW_LID_NONE where it is not */
};

/* Scratch of a push and of a pull. */
struct hw_sssp_delegates_scratch {
    struct hw_sssp_delegates_queue heavy; /* vertices of the frontier with long lists */
    hw_count duplicates_left;             /* how many more --duplicates may queue in this step */
    hw_count *block_open;                 /* [threads] vertices of each block that stay open */
};

/* Buffers of the exchange; none with one part. Regions are arrays of bytes. */
struct hw_sssp_delegates_messages {
    struct hw_halo exchange;
    size_t *out_first;                 /* [parts+1] where each peer's region begins */
    size_t *in_first;                  /* [parts+1] */
    size_t out_bytes, in_bytes;        /* of all regions */
    char *out_region;                  /* [out_bytes] */
    char *in_region;                   /* [in_bytes] */
    hw_count *send_count, *recv_count; /* [parts] entries of this step */
    hw_count *summary_out;             /* [parts][HW_SUMMARY_NUMBERS] */
    hw_count *summary_in;              /* [parts][HW_SUMMARY_NUMBERS] */
    int *list_bytes, *list_at;         /* [parts] lists of delegates */
    char *own_list;                    /* [delegates] values, with the delegates' numbers */
    char *all_lists;                   /* [2 delegates] values */
};

/* Parents, when the search is over. */
struct hw_sssp_delegates_parent_state {
    hw_gid *parent; /* [slots] graph ids, of those whose code is no local */
    hw_gid *min;    /* [locals+ghosts] hops: the least parent; NULL if unused */
    int32_t *hop;   /* [locals+ghosts] likewise */
    int32_t hops_done;
};

/* The search for negative cycles; unused where no weight is negative. */
struct hw_sssp_delegates_negative_state {
    struct hw_tree tree;
    hw_gid *ghost_id;               /* [ghosts] graph ids; undirected graphs */
    union hw_weight *weight;        /* [locals+ghosts] of the edge from the parent; directed */
    union hw_weight *parent_weight; /* [slots] */
    hw_gid *ordered;                /* [own.count] parents by rising graph id */
    union hw_weight *ordered_weight;
};

struct hw_sssp_delegates {
    struct hw_context ctx;
    const struct hw_part *part;
    struct hw_engine_options options;
    struct hw_sssp_config config;
    int threads;
    struct hw_sssp_delegates_derived derived;
    struct hw_sssp_delegates_vertices vertices;
    /* Ghosts: vertices of other parts that edges of this part lead to. Mirrors: locals that edges
     * of other parts lead to. By part, then by slot. */
    struct hw_halo_map halo;
    struct hw_sssp_delegates_lists lists;
    struct hw_sssp_delegates_search_state search;
    struct hw_sssp_delegates_scratch scratch;
    struct hw_sssp_delegates_messages messages;
    struct hw_sssp_delegates_parent_state parents;
    struct hw_sssp_delegates_negative_state negative;
    bool trace_incomplete;               /* some record was not stored: memory is short */
    struct hw_trace_record spare_record; /* in place of those */
};

/* ---- sssp_delegates_arrays.c ---- */

/* The engine's arrays come in stages, one after the other as their lengths become known. */
enum hw_sssp_delegates_stage {
    HW_ARRAYS_OF_PART,   /* lengths follow from the part */
    HW_ARRAYS_OF_GHOSTS, /* from the halo */
    HW_ARRAYS_OF_LAST,   /* from the vertices that wait for the end */
    HW_ARRAYS_OF_SEARCH, /* from the lists */
    HW_ARRAYS_STAGES
};

/* Allocates the arrays of one stage. Local. */
enum hw_status hw_sssp_delegates_alloc(struct hw_sssp_delegates *e,
                                       enum hw_sssp_delegates_stage stage, struct hw_error *err);

/* Frees those of all stages. Local. */
void hw_sssp_delegates_free_arrays(struct hw_sssp_delegates *e);

/* Bytes of those of all stages, from lengths that may be bounds; no array is read. Local. */
hw_count hw_sssp_delegates_arrays_bytes(struct hw_sssp_delegates *e);

/* ---- vertices ---- */

static inline int64_t hw_sssp_delegates_key(const struct hw_sssp_delegates *e, hw_lid v)
{
    return hw_best_key(e->derived.kind, e->search.best, v);
}

static inline bool hw_sssp_delegates_reached(const struct hw_sssp_delegates *e, hw_lid v)
{
    return hw_sssp_delegates_key(e, v) != hw_distance_none(e->derived.kind);
}

/* Whether this part speaks for a local when vertices are counted. */
static inline bool hw_sssp_delegates_owns(const struct hw_sssp_delegates *e, hw_lid v)
{
    return v >= e->vertices.delegates || e->vertices.own_slot[v] != HW_LID_NONE;
}

/* The graph id of a local. */
static inline hw_gid hw_sssp_delegates_id(const struct hw_sssp_delegates *e, hw_lid v)
{
    return v < e->vertices.delegates ? e->part->separate.graph_id[v]
                                     : e->part->own.graph_id[v - e->vertices.delegates];
}

/* A local by part and slot, or HW_LID_NONE where it is neither a delegate nor
 * this part's. Local. */
hw_lid hw_sssp_delegates_find(const struct hw_sssp_delegates *e, int owner, hw_lid slot);

/* ---- sssp_delegates_csr.c ---- */

/* Numbers the vertices and makes the lists. Collective. */
enum hw_status hw_sssp_delegates_lists_open(struct hw_sssp_delegates *e, struct hw_error *err);

/* ---- sssp_delegates_relax.c ---- */

/* Pushes along edges of the frontier. Improved vertices are queued in e->search.improved
 * and e->search.improved_ghosts. Returns the edges examined. Local. */
hw_count hw_sssp_delegates_push(struct hw_sssp_delegates *e, enum hw_sssp_delegates_scan scan);

/*
 * Settles the long edges of the bucket, pushed or pulled inside this part,
 * whichever examines fewer; edges that cross are pushed. *pulled: of those that
 * are returned as examined. Local.
 */
hw_count hw_sssp_delegates_long(struct hw_sssp_delegates *e, hw_count *pulled);

/* Pulls the vertices that waited for the end. Returns the edges examined. flood:
 * as if edges had no length. Local. */
hw_count hw_sssp_delegates_pull_last(struct hw_sssp_delegates *e, bool flood);

/* ---- sssp_delegates_exchange.c ---- */

/* Places each peer's regions, whose sizes follow from the halo. Local. */
enum hw_status hw_sssp_delegates_place_regions(struct hw_sssp_delegates *e, struct hw_error *err);

/* Opens the exchange of the regions. Local. */
enum hw_status hw_sssp_delegates_exchange_open(struct hw_sssp_delegates *e, struct hw_error *err);

/* Appends an improved ghost, with a value of `size` bytes, to the message to its owner. Local. */
void hw_sssp_delegates_send_to_owner(struct hw_sssp_delegates *e, hw_lid ghost, size_t size,
                                     int64_t value);

/* Reduces the summary over all ranks and exchanges the numbers of entries and delegates of each
 * part; after all hw_sssp_delegates_send_to_owner() of a step. Collective. */
enum hw_status hw_sssp_delegates_reduce_summary(struct hw_sssp_delegates *e,
                                                struct hw_sssp_delegates_step_summary *summary,
                                                struct hw_trace_record *row, struct hw_error *err);

/* A way to reduce values of delegates by minimum. */
struct hw_sssp_delegates_reduction {
    size_t size; /* bytes of a value, 4 or 8; signed */
    int64_t (*get)(const struct hw_sssp_delegates *e, hw_lid delegate);
    /* Takes a received value; a delegate may have several. */
    void (*take)(struct hw_sssp_delegates *e, hw_lid delegate, int64_t value);
};

/* Reduces; own[0, own_count) are those that changed here. hw_sssp_delegates_reduce_summary()
 * reported how many did elsewhere. Collective. */
enum hw_status hw_sssp_delegates_reduce(struct hw_sssp_delegates *e,
                                        const struct hw_sssp_delegates_reduction *way,
                                        const hw_lid *own, hw_count own_count, hw_count all_count,
                                        struct hw_trace_record *row, struct hw_error *err);

/* Sends the queued entries; take() gets each entry that came: the place among
 * halo.mirror, and its value. Collective. */
enum hw_status hw_sssp_delegates_exchange_updates(struct hw_sssp_delegates *e, size_t size,
                                                  void (*take)(struct hw_sssp_delegates *e,
                                                               hw_lid place, int64_t value),
                                                  struct hw_trace_record *row,
                                                  struct hw_error *err);

/* Does all of this with improved distances, and makes the next frontier and the
 * far list. Collective. */
enum hw_status hw_sssp_delegates_exchange(struct hw_sssp_delegates *e, struct hw_trace_record *row,
                                          struct hw_sssp_delegates_step_summary *summary,
                                          struct hw_error *err);

/* Adds bytes to the row: `size` for each of count[r] entries that go to each other rank r. Local.
 * count: [parts]. */
void hw_sssp_delegates_count_sent(const struct hw_sssp_delegates *e, struct hw_trace_record *row,
                                  const hw_count *count, size_t size);

/* Gives each part the keys that the owners of its ghosts have, without a parent.
 * Collective. */
enum hw_status hw_sssp_delegates_refresh(struct hw_sssp_delegates *e, struct hw_trace_record *row,
                                         struct hw_error *err);

/* ---- sssp_delegates_search.c ---- */

/* search of struct hw_method, for both methods. Collective. */
enum hw_status hw_sssp_delegates_search(void *engine, int owner, hw_lid position,
                                        struct hw_result *result, struct hw_error *err);

/* Resets the search state and puts the root into the first frontier. Local. */
void hw_sssp_delegates_start(struct hw_sssp_delegates *e);

/* Makes the queued vertices the frontier. Local. */
void hw_sssp_delegates_advance(struct hw_sssp_delegates *e);

/* ---- sssp_delegates_negative.c ---- */

/* Allocates the state of both checks below; nothing where no weight is negative. Collective. */
enum hw_status hw_sssp_delegates_negative_open(struct hw_sssp_delegates *e, struct hw_error *err);

/* Whether an edge that the root reaches is a negative cycle by itself, as only
 * self-loops are where the graph is directed: *cycle is empty if none is.
 * Collective. */
enum hw_status hw_sssp_delegates_negative_edge(struct hw_sssp_delegates *e,
                                               struct hw_trace_record *row, struct hw_cycle *cycle,
                                               struct hw_error *err);

/* Whether the parents so far close a negative cycle. Collective. */
enum hw_status hw_sssp_delegates_negative_cycle(struct hw_sssp_delegates *e,
                                                struct hw_trace_record *row, struct hw_cycle *cycle,
                                                struct hw_error *err);

/* ---- search_parents.c ---- */

/* Fetches the parents that hw_sssp_delegates_parent() returns and, where e->negative.weight is
 * allocated, the weights of the edges from them. Collective. */
enum hw_status hw_sssp_delegates_parents(struct hw_sssp_delegates *e, struct hw_trace_record *row,
                                         struct hw_error *err);

/* The graph id of the parent of a reached slot of this part. Local. */
static inline hw_gid hw_sssp_delegates_parent(const struct hw_sssp_delegates *e, hw_lid slot)
{
    hw_lid code = hw_best_parent(e->derived.kind, e->search.best, e->vertices.delegates + slot);

    return code < e->vertices.locals ? hw_sssp_delegates_id(e, code) : e->parents.parent[slot];
}

/* ---- canonical_parents.c ---- */

/* The same by hops: of the tight parents of fewest hops the one of least graph id.
 * Returns HW_BAD_INPUT where they do not lead to the root. Collective. */
enum hw_status hw_sssp_delegates_hops(struct hw_sssp_delegates *e, struct hw_trace_record *row,
                                      struct hw_error *err);

#endif
