/*
 * Methods `delta` and `bellman-ford` on 1d and 2d parts: shortest paths on CPUs.
 *
 * `delta` is delta-stepping (Meyer and Sanders, 2003) over lists sorted by
 * weight. A bucket holds the vertices with distances in [low, high). Short
 * edges, those that end inside the bucket, are pushed until it settles: the scan
 * of a list stops at the first that ends beyond it. Then the long edges of what
 * has settled are relaxed once, pushed by their sources or pulled by the
 * vertices not settled, whichever examines fewer: such a vertex scans its list
 * up to where even the smallest distance of the bucket would not improve it.
 * Inside a bucket vertices are taken nearest first, in steps that begin narrow
 * and double: hubs are near, and push much. Vertices without a list to go on
 * (leaves: of degree 1, directed: without edges that leave) come last, once.
 * Where lists are short, or little is left to do, all edges are pushed at once.
 *
 * `bellman-ford` follows "An Efficient Implementation of the Bellman-Ford
 * Algorithm for Kepler GPU Architectures" (sections 3 and 4): the frontier of
 * improved vertices is relaxed until none is left; classes of edges that need
 * less; no vertex twice in a frontier. It is the same engine with one bucket
 * that never ends.
 *
 * Over several parts: the frontier goes along the grid column; candidates for
 * other parts' vertices are combined, the best for each vertex, and go along the
 * grid row to the owner. What a part has sent, or received, it remembers, and
 * sends nothing worse. Before a pull, what has settled goes along the grid row
 * and the distances not settled along the grid column, and candidates go along
 * the grid column to the owner. Parents stay where they were found and are
 * fetched at the end. One part calls nothing of MPI between the barrier at the
 * start and the end of its clock.
 *
 * Where there is one grid row and all its ranks are on one node, they share the
 * table of distances (struct hw_sssp_2d_shared): a rank improves entries
 * of all, and notes those of other ranks for their owners, each once a phase. Nothing else is sent,
 * a pull reads the distances of all in place, and parents are in the table.
 *
 * Tables: `target` holds, for each local row, the best distance known here;
 * the part's own are final or tentative, the others a bound. `source` holds the
 * distances of local columns; with one grid row those are the part's own.
 */
#ifndef HOPWAVE_ENGINE_SSSP_2D_SSSP_2D_H
#define HOPWAVE_ENGINE_SSSP_2D_SSSP_2D_H

#include "lib/base/bitmap.h"
#include "lib/base/fast_divide.h"
#include "lib/comm/node_window.h"
#include "lib/engine/core/arrays.h"
#include "lib/engine/core/method.h"
#include "lib/engine/core/row_column_exchange.h"
#include "lib/engine/sssp/distance.h"
#include "lib/engine/sssp/negative_cycle.h"
#include "lib/engine/sssp/sorted_csr.h"
#include "lib/engine/sssp/sssp_options.h"
#include "lib/engine/sssp/weight_stats.h"
#include "lib/engine/sssp_shared/async_delta.h"

/* Lists of own positions. Each position is in each of them at most once, which its mark
 * shows: bit q for queue q. */
enum {
    HW_QUEUE_NEAR,    /* to be relaxed next */
    HW_QUEUE_LATER,   /* of this bucket, but not yet */
    HW_QUEUE_FAR,     /* of later buckets */
    HW_QUEUE_SETTLED, /* taken in this bucket or before; in this order */
    HW_QUEUES
};

struct hw_sssp_2d_queue {
    hw_lid *list;  /* [block]; near: [times block] */
    hw_lid *spare; /* the same, for what is being filtered; not for settled ones */
    hw_lid count;
    int64_t min; /* no key in the queue is less; not for settled ones */
};

/* What a thread found for one list, before it joins the others'. */
#define HW_SSSP_2D_DISCOVERIES 255
struct hw_sssp_2d_discoveries {
    int64_t min; /* of the keys queued; INT64_MAX between scans */
    hw_lid count;
    hw_lid position[HW_SSSP_2D_DISCOVERIES];
};

/* A line of the grid with what goes to its ranks. */
struct hw_sssp_2d_send_buffers {
    struct hw_rowcol line;
    hw_lid *list;  /* [size][block] positions of each rank with candidates for it */
    hw_lid *count; /* [size] */
};

/* What ranks sum up. */
struct hw_sssp_2d_tally {
    hw_count queued[HW_QUEUE_SETTLED]; /* positions in each queue */
    hw_count push, pull;               /* edges that either way would examine */
};

/* One scan of lists. */
struct hw_sssp_2d_scan {
    const hw_lid *list; /* local columns */
    hw_lid count;
    int64_t from, to; /* edges that end at a key in [from, to) */
    bool all;         /* from the begin of each list */
    bool sweep;       /* to whatever is not reached yet, at distance 0 */
    bool takes;       /* the list is the near queue's, and is taken on the way */
};

/* What the method, the options and the weights determine. Constant after create. */
struct hw_sssp_2d_derived {
    bool bellman_ford;
    unsigned times; /* a vertex may be queued: 2 under `duplicates` */
    bool classes;   /* bellman-ford: edge classes are used */
    enum hw_distance kind;
    struct hw_weight_stats weight_stats;
    bool even_degrees;   /* there are no hubs: the longest list is not much longer than the mean */
    bool whole_lists;    /* lists are so short that all edges are pushed at once */
    bool may_overflow;   /* distances may pass what a float holds */
    bool may_cycle;      /* sums may round, so that parents may close a cycle */
    int weight_exponent; /* where they may: all weights are multiples of 2^exponent */
    bool sweep_first;    /* some edge alone may be a negative cycle */
    double width;        /* of a bucket */
};

/* The grid, as in struct hw_grid. Constant after create. */
struct hw_sssp_2d_layout {
    int rows, columns, i, j;
    hw_lid block, own_row, own_column;
    hw_lid words; /* of a bitmap over local columns */
    struct hw_divisor by_block;
    struct hw_sssp_2d_send_buffers row, column;
    hw_lid active; /* own positions from here on have no edges */
};

/* Lists and tables of vertices. Constant after create. */
struct hw_sssp_2d_tables {
    struct hw_sorted_csr out_lists, in_lists;
    const struct hw_sorted_csr *push; /* local column -> rows it leads to, leaves left out */
    const struct hw_sorted_csr *pull; /* local column -> rows that lead to it */
    hw_lid index_mask;  /* of an index in a list; the bit above says: of in-degree 1 */
    uint64_t *leaf;     /* [words] columns that are leaves and have a list */
    uint64_t *inner;    /* [words] those that are none and have one */
    uint64_t *own_leaf; /* [block] bits: own positions that are leaves */
    hw_lid *degree;     /* [block] edges that leave own positions */
    hw_count edges;     /* over all parts, without those to leaves */
    double mean_degree; /* of vertices with edges */
    hw_count leaves;    /* over all parts */
    hw_gid *gids;       /* what gid points to, if it was made */
    const hw_gid *gid;  /* graph ids by code: local rows, then local columns */
    hw_lid column_code; /* of local column 0 */
    bool codes_are_ids; /* codes are graph ids: one part that keeps the graph's ids */
};

/* The state of a search. */
struct hw_sssp_2d_search_state {
    void *target;   /* [columns block] */
    void *source;   /* [rows block], or the own block of target */
    void *sources;  /* what source points to if rows > 1 */
    uint8_t *mark;  /* [block] */
    uint64_t *open; /* [words] inner columns not known to be settled */
    struct hw_sssp_2d_queue queue[HW_QUEUES];
    hw_lid duplicates;       /* in the near queue */
    hw_lid bucket_begin;     /* where the bucket begins among the settled */
    hw_lid broadcast_count;  /* settled ones that the grid row knows */
    int64_t low, high, near; /* the bucket, and the end of its current step */
    int64_t below;           /* while filtering: lesser keys were taken already */
    double span;             /* the width of the bucket */
    bool steps_inside;       /* a bucket is settled in several steps */
    bool whole;              /* all edges are pushed at once now */
    hw_count bucket;         /* number of the bucket */
    hw_count settled_edges;  /* that leave what has settled; over all parts */
    hw_lid touched;          /* own positions from here on are unreached in this search; one part */
    hw_lid root;             /* own position, or HW_LID_NONE */
    struct hw_sssp_2d_tally tally;
};

/* The positions that other ranks have improved since the owner last took them. */
struct hw_sssp_2d_inbox {
    _Alignas(64) hw_lid count;
};

/* Tables that the ranks of one node share; `target` and `pending` point into them. With one grid
 * row a code is a row, the same on all ranks. */
struct hw_sssp_2d_shared {
    struct hw_node_window window;   /* its memory is NULL where ranks send messages */
    void *target;                   /* [columns block] */
    uint64_t *pending;              /* [columns block] bits: in an inbox */
    hw_lid *list;                   /* [columns][block] the inboxes */
    struct hw_sssp_2d_inbox *inbox; /* [columns] */
};

/* Buffers of a step. */
struct hw_sssp_2d_scratch {
    hw_lid *expanded;                           /* [rows block] columns of a step; rows > 1 */
    uint64_t *pending;                          /* [columns block] bits: in row.list;
                                                   columns > 1 */
    struct hw_sssp_2d_discoveries *discoveries; /* [threads][HW_QUEUES + largest line] */
    struct hw_sssp_2d_send_buffers
        *send_buffers; /* where candidates for others go: row or column */
};

/* Parents: chosen by hops, fetched from other ranks, or checked for cycles. */
struct hw_sssp_2d_parents {
    hw_gid *min;                    /* [columns block] least parent of the round, then the parent */
    uint64_t *hopped;               /* [columns block] bits: reached in an earlier round */
    bool by_hops;                   /* `least` has the parents */
    hw_gid *fetched;                /* [block] own parents that others knew; parts > 1 */
    hw_gid *parent_gid;             /* [own.count] of a check for cycles */
    union hw_weight *parent_weight; /* [own.count] the same */
    union hw_weight *fetched_weight; /* [block] by position */
    struct hw_tree tree;             /* bellman-ford with negative weights */
};

/* The trace record being written. */
struct hw_sssp_2d_trace {
    struct hw_trace *records;
    struct hw_trace_record *record;      /* the current one */
    struct hw_trace_record spare_record; /* stands in when there is no memory for another */
    hw_count phases;
    double mark_seconds; /* when the current phase began */
    enum hw_status status;
};

struct hw_sssp_2d {
    const struct hw_context *ctx;
    const struct hw_part *part;
    struct hw_engine_options options;
    struct hw_sssp_config config;
    int threads;
    struct hw_sssp_2d_derived derived;
    struct hw_sssp_2d_layout layout;
    struct hw_sssp_2d_tables tables;
    struct hw_sssp_2d_search_state search;
    struct hw_sssp_2d_shared shared;
    struct hw_sssp_2d_scratch scratch;
    struct hw_sssp_2d_parents parents;
    struct hw_sssp_2d_trace trace;
    struct hw_work_pool *pool; /* of the asynchronous search; NULL where there is none */
};

/* sssp_2d_setup.c: bytes, create and destroy of struct hw_method; memory, and what is computed
 * once. create is collective, the others local. */
hw_count hw_sssp_2d_bytes(const struct hw_part *part, const struct hw_engine_options *options,
                          bool bellman_ford);
enum hw_status hw_sssp_2d_create(const struct hw_method *method, const struct hw_context *ctx,
                                 const struct hw_part *part,
                                 const struct hw_engine_options *options, void **engine,
                                 struct hw_error *err);
void hw_sssp_2d_destroy(void *engine);

/* sssp_2d_search.c: search of struct hw_method: what both methods do around `run`, their own
 * search. Collective. */
enum hw_status hw_sssp_2d_search(struct hw_sssp_2d *paths, int owner, hw_lid position,
                                 enum hw_status (*run)(struct hw_sssp_2d *, struct hw_result *,
                                                       struct hw_error *),
                                 struct hw_result *result, struct hw_error *err);

/* delta_asynchronous.c: method `delta` on one part without barriers. */

/* How threads take buckets: the words of --schedule. */
enum hw_schedule { HW_SCHEDULE_AUTO, HW_SCHEDULE_SYNCHRONOUS, HW_SCHEDULE_ASYNCHRONOUS };
extern const struct hw_option hw_option_schedule;

/* Makes paths->pool if searches shall be asynchronous. Returns HW_BAD_INPUT for several parts where
 * the user asked for it, or HW_RESOURCES. Local; only with one part does it fail on one rank alone.
 */
enum hw_status hw_sssp_2d_async_create(struct hw_sssp_2d *paths, struct hw_error *err);

/* Bytes that may take. Local. */
hw_count hw_sssp_2d_async_bytes(const struct hw_sssp_2d *paths);

/* All buckets of a search; paths->pool must be there. Returns HW_RESOURCES without memory for
 * queued vertices. Local. */
enum hw_status hw_sssp_2d_async_run(struct hw_sssp_2d *paths, struct hw_error *err);

/* sssp_2d_shared.c: tables that the ranks of one node share. */

/* Do the ranks share tables? The same on all. Local. */
static inline bool hw_sssp_2d_shares(const struct hw_sssp_2d *paths)
{
    return paths->shared.window.memory != NULL;
}

/* Allocates the tables where the ranks can share them, and has paths->search point into them; the
 * arrays of paths come afterwards. Collective. */
enum hw_status hw_sssp_2d_share(struct hw_sssp_2d *paths, struct hw_error *err);

/* A barrier of the ranks that share tables. Collective. */
enum hw_status hw_sssp_2d_barrier(struct hw_sssp_2d *paths, struct hw_error *err);

/* After a push: counts what this rank has noted for others, and queues what all have noted for it.
 * Collective. */
enum hw_status hw_sssp_2d_take_inbox(struct hw_sssp_2d *paths, struct hw_error *err);

/* Visits the root alone, everything else unreached. Collective where ranks share tables. */
enum hw_status hw_sssp_2d_reset(struct hw_sssp_2d *paths, struct hw_error *err);

/* Sums up over all ranks what is queued. Collective. */
enum hw_status hw_sssp_2d_sum(struct hw_sssp_2d *paths, struct hw_error *err);

/* Relaxes the near queue once, as a step of this name. Collective. */
enum hw_status hw_sssp_2d_relax(struct hw_sssp_2d *paths, const char *routine, bool sweep,
                                struct hw_error *err);

/* Begins and ends a row of measurements. Local. */
void hw_sssp_2d_begin_step(struct hw_sssp_2d *paths, const char *routine,
                           enum hw_direction direction);
void hw_sssp_2d_end_step(struct hw_sssp_2d *paths);

/* sssp_2d_relax.c: what one part does alone; all of it local. */

/* Pushes along lists of local columns; queues are filled. */
void hw_sssp_2d_push(struct hw_sssp_2d *paths, const struct hw_sssp_2d_scan *scan);

/* Pulls along the lists of inner columns, or of leaves; returns how many improved. */
hw_count hw_sssp_2d_pull(struct hw_sssp_2d *paths, bool leaves);

/* Takes from a queue what belongs to a nearer one now. */
void hw_sssp_2d_filter(struct hw_sssp_2d *paths, int queue);

/* Moves the near queue to near.spare; returns how many. */
hw_lid hw_sssp_2d_move_near(struct hw_sssp_2d *paths);

/* Takes what was moved there out of the queue, and settles it. A scan that takes does so on
 * its way, which saves a pass: what improves again before it is its turn is relaxed once. */
void hw_sssp_2d_take(struct hw_sssp_2d *paths, hw_lid count);

/* Queues own positions by the keys they have now; none is twice in the list. Local. */
void hw_sssp_2d_enqueue(struct hw_sssp_2d *paths, const hw_lid *list, hw_lid count);

/* Offers own positions these keys: count pairs in wire form, from a rank that `parent` names.
 * queues: may they be queued? */
void hw_sssp_2d_offer(struct hw_sssp_2d *paths, const hw_lid *words, hw_lid count, hw_lid parent,
                      bool queues);

/* Edges that a pull would examine, found from a sample. */
hw_count hw_sssp_2d_pull_estimate(const struct hw_sssp_2d *paths);

/* sssp_2d_exchange.c: pairs of a position and a key on their way. */

/* Words of a pair, and the key in one. Local. */
static inline size_t hw_sssp_2d_pair(const struct hw_sssp_2d *paths)
{
    return paths->derived.kind == HW_DISTANCE_I64 ? 3 : 2;
}

static inline int64_t hw_sssp_2d_key(const hw_lid *words, size_t wide)
{
    return wide == 2 ? (int32_t)words[1] : (int64_t)((uint64_t)words[2] << 32 | words[1]);
}

/* Sends own positions with their keys along the grid column; lists them as local columns,
 * this part's own first. With one grid row, they are the list. Collective. */
enum hw_status hw_sssp_2d_expand(struct hw_sssp_2d *paths, const hw_lid *own, hw_lid count,
                                 const hw_lid **list, hw_lid *total, struct hw_error *err);

/* Broadcasts to the grid row what has settled since the last broadcast. Collective. */
enum hw_status hw_sssp_2d_broadcast_bounds(struct hw_sssp_2d *paths, struct hw_error *err);

/* Sends the candidates of a send_buffers to their owners, who take them. Collective. */
enum hw_status hw_sssp_2d_fold(struct hw_sssp_2d *paths,
                               struct hw_sssp_2d_send_buffers *send_buffers, bool queues,
                               struct hw_error *err);

/* sssp_2d_result.c. */

/* Fetches the parents that other ranks know. weight: [block] of the edges from all parents, by
 * position, or NULL. Collective. */
enum hw_status hw_sssp_2d_fetch(struct hw_sssp_2d *paths, union hw_weight *weight,
                                struct hw_error *err);

/* Parents in graph ids, by rising graph id. Local. */
void hw_sssp_2d_write_parents(const struct hw_sssp_2d *paths, hw_gid *parent);

/* Chooses parents by (hops, graph id) into `least`. *reached: whether all reached vertices
 * have one. Collective. */
enum hw_status hw_sssp_2d_hops(struct hw_sssp_2d *paths, bool *reached, struct hw_error *err);

/* Refuses distances that passed what a float holds. Collective. */
enum hw_status hw_sssp_2d_check_overflow(struct hw_sssp_2d *paths, struct hw_error *err);

/* Writes distances and parents by rising graph id. Local. */
void hw_sssp_2d_write(const struct hw_sssp_2d *paths, struct hw_result *result);

/* Unreached vertices everywhere. Local. */
void hw_sssp_2d_write_nothing(const struct hw_sssp_2d *paths, struct hw_result *result);

/* Codes of parents that another rank of the row, or of the column, knows. */
static inline hw_lid hw_sssp_2d_of_row(int rank)
{
    return UINT32_MAX - 1 - (hw_lid)rank;
}

static inline hw_lid hw_sssp_2d_of_column(const struct hw_sssp_2d *paths, int rank)
{
    return UINT32_MAX - 1 - (hw_lid)paths->layout.columns - (hw_lid)rank;
}

/* Ends a phase: its seconds go to the step, if the user wants them. Local. */
static inline void hw_sssp_2d_phase_end(struct hw_sssp_2d *paths, enum hw_phase phase)
{
    if (paths->options.trace) {
        double now = hw_seconds();
        paths->trace.record->seconds[phase] += now - paths->trace.mark_seconds;
        paths->trace.mark_seconds = now;
    }
}

#endif
