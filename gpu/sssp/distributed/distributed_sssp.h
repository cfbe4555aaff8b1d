/*
 * Shortest paths on several parts, one rank a GPU, in any layout: what the host code of
 * methods `delta` and `bellman-ford` shares with its kernels.
 *
 * Codes. A part numbers all vertices that it meets: segments of `block` codes each, one
 * for every part whose vertices it meets, and then the delegates:
 *
 *   1d                one segment for each part;
 *   2d                the segments of the grid row's parts, in which edges end, then those
 *                     of the grid column's, in which they begin; the part's own vertices
 *                     have codes of the first kind alone;
 *   degree-separated  one segment for each part, then the delegates.
 *
 * Lists. The edges that a part holds are sorted by weight into lists of codes, one for each
 * vertex they begin at: blocks of `block` lists, one for each segment that has any, and
 * those of the delegates.
 *
 * For every code a part holds the best distance known here: of its own vertices and the
 * delegates the distance found so far, of others the best that it has told their owner or
 * was told. All are lengths of paths, so that an edge may be relaxed from any of them, and
 * nothing is sent twice unless it is better.
 *
 * A round relaxes edges here; then what improved for others goes to their owners, and
 * improved delegates to all, as pairs of a position and a key. What is to be relaxed next
 * is one bit a list.
 */
#ifndef HOPWAVE_GPU_SSSP_DISTRIBUTED_DISTRIBUTED_SSSP_H
#define HOPWAVE_GPU_SSSP_DISTRIBUTED_DISTRIBUTED_SSSP_H

#include "gpu/sssp/common/sssp_engine.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HW_DISTRIBUTED_SSSP_RANKS 16 /* at most */
#define HW_DISTRIBUTED_SSSP_SEGMENTS 18
#define HW_DISTRIBUTED_SSSP_NONE UINT32_MAX

/* Words that ranks tell each other in a round. */
enum {
    HW_DISTRIBUTED_SSSP_SENT, /* [8] pairs for each rank, two counts a word */
    HW_DISTRIBUTED_SSSP_SPREAD =
        HW_DISTRIBUTED_SSSP_RANKS / 2, /* pairs that go to several ranks alike */
    HW_DISTRIBUTED_SSSP_NEAR,          /* vertices to be relaxed next, or sent so */
    HW_DISTRIBUTED_SSSP_LATER,         /* vertices of the bucket that wait, or sent so */
    HW_DISTRIBUTED_SSSP_FRONTIER,      /* vertices relaxed */
    HW_DISTRIBUTED_SSSP_LEAST,         /* maximum: the complement of the least key left */
    HW_DISTRIBUTED_SSSP_OPEN,          /* vertices beyond the bucket: reached above, others
                                below */
    HW_DISTRIBUTED_SSSP_EDGES,         /* examined */
    HW_DISTRIBUTED_SSSP_DEGREES,       /* lengths of the lists begun */
    HW_DISTRIBUTED_SSSP_WORDS
};

struct hw_distributed_sssp_control {
    unsigned long long word[HW_DISTRIBUTED_SSSP_WORDS];
    unsigned long long listed; /* lists that are to be relaxed */
    unsigned long long queue;  /* those with edges above, these below */
    unsigned long long count;  /* of what a job counts */
};

/* Lists and edges in one word. */
#define HW_DISTRIBUTED_SSSP_EDGE_BITS 34

struct hw_distributed_sssp_params {
    int kind; /* enum hw_gpu_key */
    uint32_t ranks, rank;
    uint32_t block;                                   /* positions of a part */
    uint64_t magic;                                   /* hw_divisor(block).magic */
    uint32_t segments, delegates, codes;              /* codes: segments * block + delegates */
    uint32_t owner[HW_DISTRIBUTED_SSSP_SEGMENTS];     /* rank of each segment */
    uint32_t home;                                    /* the part's own segment */
    uint32_t list_blocks, lists;                      /* lists: list_blocks * block + delegates */
    uint32_t list_segment[HW_DISTRIBUTED_SSSP_RANKS]; /* of each block of lists */
    uint32_t list_end[HW_DISTRIBUTED_SSSP_RANKS];     /* [block] past the last list with edges */
    uint32_t own_lists; /* the first list of the part's own vertices */
    uint32_t active;    /* own positions past the last vertex with edges;
                           directed: all */
    uint32_t
        row_segment[HW_DISTRIBUTED_SSSP_RANKS]; /* where edges end at a rank's vertices, and whom */
    uint32_t column_block[HW_DISTRIBUTED_SSSP_RANKS]; /* they begin at: list blocks; or
                                                         HW_DISTRIBUTED_SSSP_NONE */
    const uint64_t *offset;                           /* [lists + 1] */
    const struct hw_gpu_edge *edge;                   /* [offset[lists]] rank: a code */
    const uint32_t *graph_id;                         /* [codes] */
    void *distance;                                   /* [codes] keys */
    int64_t *value;                                   /* [codes] parents, or what leads to them */
    uint32_t *near;           /* [lists / 32 + 1] bits: to be relaxed next */
    uint32_t *pending;        /* [codes / 32 + 1] bits: to be sent */
    uint32_t *listed;         /* [lists] to be relaxed now, in any order */
    uint32_t *queue;          /* [lists] those of them with edges */
    uint64_t *first, *prefix; /* [lists] the first edge of each, and how many come
                                 before it in the queue */
    const uint32_t *own_code; /* [own] by rising graph id */
    uint32_t own;             /* vertices the part owns */
    void *distance_id;   /* [own] results by rising graph id, as in gpu/sssp/common/sssp_engine.h */
    uint32_t *parent_id; /* [own] likewise */
    struct hw_distributed_sssp_control *control; /* [1] */
};

/* What relaxing an edge means. */
enum hw_distributed_sssp_mode {
    HW_DISTRIBUTED_SSSP_RELAX, /* lowers the distance */
    HW_DISTRIBUTED_SSSP_FLOOD, /* reaches, at distance 0 */
    HW_DISTRIBUTED_SSSP_HOP, /* along tight edges: value = hops above, graph id of the parent below
                              */
    HW_DISTRIBUTED_SSSP_TIGHT,  /* value = the least graph id of a nearer source of a tight edge */
    HW_DISTRIBUTED_SSSP_EQUAL,  /* along edges of no length, to what has no value yet: value = round
                         above, graph id of the source below */
    HW_DISTRIBUTED_SSSP_BLAME,  /* value = source above, weight below, of an edge that explains the
                         distance or would lower it */
    HW_DISTRIBUTED_SSSP_CUT_OFF /* counts edges to what is not reached, or is at minus infinity */
};

/* Bounds of one job; keys. */
struct hw_distributed_sssp_job {
    int mode;           /* enum hw_distributed_sssp_mode */
    int64_t from, to;   /* relaxed are edges that end in [from, to) */
    int64_t low;        /* pulling: no settled vertex that was not pulled from is nearer;
                           HW_DISTRIBUTED_SSSP_EQUAL: number of the round, from 1 */
    int64_t near, high; /* what is found below `near` is relaxed next, below `high` later */
    int64_t begin, end; /* keys of the vertices a job is about */
    uint32_t mask;      /* of graph ids: which of several sources is blamed */
    uint32_t root;      /* code, where this part has one */
    bool value;         /* about values, not distances */
};

/* What is packed. */
enum hw_distributed_sssp_what {
    HW_DISTRIBUTED_SSSP_FOLD,   /* what improved, for its owners */
    HW_DISTRIBUTED_SSSP_EXPAND, /* own vertices to be relaxed next, for the grid column */
    HW_DISTRIBUTED_SSSP_TELL    /* own vertices with keys in [begin, end), for the grid row */
};

/* Boxes of pairs. */
struct hw_distributed_sssp_outboxes {
    void *to[HW_DISTRIBUTED_SSSP_RANKS];     /* positions */
    void *spread[HW_DISTRIBUTED_SSSP_RANKS]; /* delegates */
    const void *came[HW_DISTRIBUTED_SSSP_RANKS], *came_spread[HW_DISTRIBUTED_SSSP_RANKS];
};

/* One round of a run, as this part saw it. */
struct hw_distributed_sssp_row {
    uint64_t frontier, near, edges, sent, spread;
    uint64_t nanoseconds;
};

/* What a run came to, over all parts. In the host's memory. */
struct hw_distributed_sssp_total {
    uint64_t least, open;                     /* as the first round told them */
    uint64_t near;                            /* as the last one did */
    uint64_t later, frontier, edges, degrees; /* of all rounds */
    uint32_t rounds, failed;
    uint32_t run; /* number of the run; written last */
};

struct hw_allgather_result;
struct hw_allgather_params;

/* What a run of rounds is told. */
struct hw_distributed_sssp_run {
    struct hw_distributed_sssp_outboxes boxes[2]; /* in turn */
    uint32_t turn;                                /* of the first exchange */
    uint32_t number;                              /* of the first round */
    uint32_t run;
    uint32_t most;                       /* rounds */
    uint64_t little_left;                /* this share of what was relaxed at a time is little */
    int collect;                         /* first finds what has a key in [job->begin, job->near) */
    struct hw_allgather_result *result;  /* [HW_ALLGATHER_IN_FLIGHT] on the device */
    struct hw_distributed_sssp_row *row; /* [rows], or NULL; first_row: the first round's */
    uint32_t first_row, rows;
    struct hw_distributed_sssp_total *told; /* in the host's memory */
};

/* Blocks for this device; resident: of hw_distributed_sssp_launch_run(). All functions
 * return a cudaError_t; launchers do not wait. */
int hw_distributed_sssp_shape(const struct hw_distributed_sssp_params *plan, int *blocks,
                              int *resident);

/* Rounds over peer until nothing is left to be relaxed next; or until that is
 * so little, if something waits and the step ends before the bucket does. */
int hw_distributed_sssp_launch_run(const struct hw_distributed_sssp_params *plan,
                                   const struct hw_distributed_sssp_job *job,
                                   const struct hw_distributed_sssp_run *how,
                                   const struct hw_allgather_params *round, int resident);

/* Nothing reached but the root, a code or HW_DISTRIBUTED_SSSP_NONE, which is to be relaxed next. */
int hw_distributed_sssp_launch_begin(const struct hw_distributed_sssp_params *plan, uint32_t root,
                                     int blocks);

/* The same of values; the root's is `first`. */
int hw_distributed_sssp_launch_begin_values(const struct hw_distributed_sssp_params *plan,
                                            uint32_t root, int64_t first, int blocks);

/* Own vertices and delegates with keys in [begin, near) are to be relaxed next; counts. */
int hw_distributed_sssp_launch_collect(const struct hw_distributed_sssp_params *plan,
                                       const struct hw_distributed_sssp_job *job, int blocks);

/* Queues the lists whose bits are set, and clears these; or those of vertices with keys in
 * [begin, end). */
int hw_distributed_sssp_launch_gather(const struct hw_distributed_sssp_params *plan,
                                      const struct hw_distributed_sssp_job *job, bool range,
                                      int blocks);

/* Goes along the queue. */
int hw_distributed_sssp_launch_push(const struct hw_distributed_sssp_params *plan,
                                    const struct hw_distributed_sssp_job *job, int blocks);

/* Every list of a vertex with a key of at least `high` looks for the best neighbour below it. */
int hw_distributed_sssp_launch_pull(const struct hw_distributed_sssp_params *plan,
                                    const struct hw_distributed_sssp_job *job, int blocks);

/* Every list of a reached vertex looks for a nearer neighbour that explains its distance. */
int hw_distributed_sssp_launch_look(const struct hw_distributed_sssp_params *plan,
                                    const struct hw_distributed_sssp_job *job, int blocks);

int hw_distributed_sssp_launch_pack(const struct hw_distributed_sssp_params *plan,
                                    const struct hw_distributed_sssp_job *job,
                                    enum hw_distributed_sssp_what what,
                                    const struct hw_distributed_sssp_outboxes *boxes, int blocks);

/* result: of the round that delivered; on the device. */
int hw_distributed_sssp_launch_unpack(const struct hw_distributed_sssp_params *plan,
                                      const struct hw_distributed_sssp_job *job,
                                      enum hw_distributed_sssp_what what,
                                      const struct hw_distributed_sssp_outboxes *boxes,
                                      const struct hw_allgather_result *result, int blocks);

/* Counts own reached vertices and delegates that have no value, but the root. */
int hw_distributed_sssp_launch_count_lost(const struct hw_distributed_sssp_params *plan,
                                          uint32_t root, int blocks);

/* Results by graph id; counts reached vertices without a parent. nothing: all unreached.
 * hops: values have hops above. */
int hw_distributed_sssp_launch_results(const struct hw_distributed_sssp_params *plan, uint32_t root,
                                       bool nothing, int blocks);

#ifdef __cplusplus
}
#endif

#endif
