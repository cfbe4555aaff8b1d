/*
 * Methods `bellman-ford` and `near-far`: what their host code and their kernels share.
 *
 * Both relax the edges of a frontier, the vertices whose distance is less than when
 * their edges were last relaxed, until none is left, after Busato and Bombieri, "An
 * Efficient Implementation of the Bellman-Ford Algorithm for Kepler GPU Architectures"
 * (2015). `near-far` (Davidson, Baxter, Garland and Owens, 2014) leaves aside those
 * beyond a limit until no others are left. Its far pile is no list: the first phase of the
 * next pile is a sweep, which finds those whose distance is less than the one relaxed last.
 * That costs less than to append each to a list.
 *
 * A phase takes the frontier from a queue that the last phase filled, or, where many
 * vertices improve, by a sweep over all: distances beside those relaxed last tell it
 * apart. Vertices go by falling degree, so that hubs come first and what they improve
 * is relaxed with the better distance in the same phase, which halves the work.
 *
 * What 64-bit words hold: the key of the distance above, the phase of the last change
 * below. One atomicMin then tells whether the distance improved and whether the vertex
 * is queued already (section 4.2; Algorithm 6 as printed forgets the former).
 */
#ifndef HOPWAVE_GPU_SSSP_BELLMAN_BELLMAN_FORD_H
#define HOPWAVE_GPU_SSSP_BELLMAN_BELLMAN_FORD_H

#include "gpu/sssp/common/sssp_engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Classes of edges (section 4.1), in the two bits above the rank; graphs of more vertices
 * go without. The class of edges from the source needs no bits. */
enum hw_bellman_class {
    HW_BELLMAN_PLAIN,
    HW_BELLMAN_SINGLE, /* to a vertex of in-degree 1: no atomics */
    HW_BELLMAN_LEAF,   /* to a vertex that leads nowhere else: settled at the end */
    HW_BELLMAN_LOOP    /* to itself: nothing to do */
};
#define HW_BELLMAN_CLASS_SHIFT 30

/* Routines of rows: where the frontier came from, times HW_BELLMAN_WIDTHS, plus how many
 * lanes a vertex had: 0 where they were shared out, else the bits of that number. Those of
 * a search that only looks what can be reached come after all others. */
#define HW_BELLMAN_WIDTHS 8
#define HW_BELLMAN_ROUTINES (2 * 5 * HW_BELLMAN_WIDTHS)

/* How a vertex is kept from entering a queue twice. */
enum hw_bellman_once { HW_ONCE_WORDS, HW_ONCE_MARKS, HW_ONCE_NOT };

/* Who relaxes long lists. */
enum hw_bellman_large {
    HW_LARGE_PIECES,  /* pieces of them, each a warp's work, of the whole device */
    HW_LARGE_DYNAMIC, /* kernels of their own (section 5.3) */
    HW_LARGE_NOT      /* whoever has the vertex */
};

/* Where a phase's frontier comes from. */
enum hw_bellman_source {
    HW_FROM_QUEUE,
    HW_FROM_SWEEP,
    HW_FROM_ALL, /* every reached vertex: Bellman-Ford without a queue */
    HW_FROM_END, /* there is none */
    HW_FROM_TIER /* rows only: pieces of a tier */
};

/* Tiers of hubs, at most. Tier 0 is what edges lead from the largest hubs to such, tier 1
 * the rest of what a larger set of hubs has among itself, and so on; the last tier is all
 * else. A phase relaxes one tier, the least that has a frontier: so distances among hubs,
 * which most shortest paths go through, settle before the many others follow from them. */
#define HW_BELLMAN_TIERS 3

/* A part of a long list. */
struct hw_bellman_piece {
    uint32_t vertex;
    uint32_t count; /* edges; the first piece of a list has HW_BELLMAN_FIRST too */
    uint64_t begin;
};
#define HW_BELLMAN_FIRST (1u << 31)
#define HW_BELLMAN_PIECE 1024 /* edges, at most */
#define HW_BELLMAN_BATCH 32   /* pieces that a warp looks at in a go, at most */

/* Counters of a phase. They take turns: phase p has those of p modulo 4, and clears
 * those of p + 2. */
struct hw_bellman_ring {
    uint32_t tail;        /* vertices in the queue of the next phase, or that wanted in */
    uint32_t collected;   /* the same, of a sweep that only looks */
    uint32_t pending;     /* bits: the tiers of long lists that improved */
    uint32_t piece, tile; /* work that was taken */
    uint32_t frontier;
    unsigned long long found, long_found; /* improvements; those of long lists */
    unsigned long long edges;
    unsigned long long far; /* INT64_MAX less the least key from the limit on, or 0 */
};

/* What the next phase does. */
struct hw_bellman_state {
    uint32_t phase;   /* the last one done */
    uint32_t turn;    /* phases of the last tier so far: which queue is whose */
    uint32_t tier;    /* of the next phase; the last one has the number plan.tiers */
    uint32_t pending; /* bits: tiers whose pieces may be in the frontier */
    uint32_t source;  /* of the last tier's next frontier: enum hw_bellman_source */
    uint32_t count;   /* of its queue */
    uint32_t due;     /* it has vertices beside pieces */
    uint32_t since;   /* improvements of hubs since the last tier's last phase */
    uint32_t queues;  /* what the last tier's next phase finds goes to its queue */
};

/* near-far: the near pile. */
struct hw_bellman_pile {
    double limit, width;
    int64_t key;                   /* keys from here on are far */
    unsigned long long far;        /* as in rings, of all that are; may be one that is near now */
    unsigned long long edges, all; /* relaxed for this pile, and for all */
    uint32_t number;
};

struct hw_bellman_control {
    struct hw_bellman_ring ring[4];
    struct hw_bellman_state state;
    struct hw_bellman_pile pile;
    uint32_t launches; /* kernels for long lists, and those that there was no room for */
    uint32_t failures;
    uint32_t alive; /* chains of parents that have not ended */
    uint32_t rows;
    uint64_t begun; /* nanoseconds */
};

struct hw_bellman_params {
    struct hw_gpu_graph graph;
    struct hw_gpu_sssp paths;
    int64_t *word;      /* [active] distances and phases, or NULL: paths.distance has them */
    void *relaxed;      /* [active] keys of which the edges were relaxed last */
    uint32_t *mark;     /* [active] phases in which they were queued, or NULL */
    uint32_t *queue[2]; /* [capacity] of odd and even phases */
    uint32_t capacity;
    const struct hw_bellman_piece *piece; /* [pieces] */
    void *piece_relaxed;                  /* [pieces] keys */
    uint32_t pieces;
    uint32_t tiers;                           /* before the last one */
    uint32_t tier_end[HW_BELLMAN_TIERS];      /* ranks below are the tier's hubs */
    uint32_t piece_end[HW_BELLMAN_TIERS + 1]; /* pieces go by tier */
    uint32_t long_end;                        /* no vertex from here on has a long list */
    uint32_t long_least;
    bool falls; /* all those below long_end have one */
    struct hw_bellman_control *control;
    struct hw_gpu_sssp_trace_record *row; /* [row_capacity] or NULL */
    uint32_t row_capacity;

    /* Options. */
    int once, large, source; /* source: HW_FROM_QUEUE, _SWEEP, _ALL, or HW_FROM_END: chosen */
    bool classes, hints, coalesced;
    bool lazy;      /* vertices relaxed with this distance already are passed over */
    uint32_t width; /* lanes for a vertex; 0: the edges of a tile are shared out;
                       1: chosen in each phase by the formula of section 5.2 */
    uint32_t width_least, width_most;
    uint32_t tile;     /* queued vertices a warp takes at a time */
    uint32_t resident; /* threads that the device holds */
    bool far;          /* there are piles; else all is near */

    /* Of a search. */
    uint32_t root;
    bool reach;   /* all weights count as 0, all edges as plain */
    double first; /* near-far: width of the first pile */
    bool adapts;  /* those of the others adapt */
};

/* What the device is given to do by hw_bellman_launch_*. All return a cudaError_t and do
 * not wait. */

/* Unreached vertices, the root reached and in the frontier. */
int hw_bellman_launch_begin(const struct hw_bellman_params *plan);

/* Blocks that the device holds at once of the kernel that does many phases. */
int hw_bellman_launch_shape(const struct hw_bellman_params *plan, int *blocks);

/* Phases until the frontier is empty or phase `last` is done; one cooperative kernel. */
int hw_bellman_launch_run(const struct hw_bellman_params *plan, int blocks, uint32_t last);

/* One phase, long lists by kernels that its kernel launches. sweeps: is it a sweep? */
int hw_bellman_launch_dynamic(const struct hw_bellman_params *plan, int blocks, int sweeps);
int hw_bellman_launch_limit(uint64_t launches); /* makes room for so many at a time */

/* Writes classes into the lists. */
int hw_bellman_launch_classes(const struct hw_bellman_params *plan);

/* Leaves take the best of their sources; words become distances. */
int hw_bellman_launch_leaves(const struct hw_bellman_params *plan);
int hw_bellman_launch_unpack(const struct hw_bellman_params *plan);

/* Parents followed up: begin, then jump, which counts in control->alive the chains that
 * have not ended; round: from 0. */
int hw_bellman_launch_chains(const struct hw_bellman_params *plan);
int hw_bellman_launch_jump(const struct hw_bellman_params *plan, uint32_t round);

#ifdef __cplusplus
}
#endif

#endif
