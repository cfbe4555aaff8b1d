/*
 * The options of engines: what a user may set for a search. The zero value of a
 * member leaves the choice to the engine, so {0} is a valid set of options.
 */
#ifndef HOPWAVE_ENGINE_CORE_ENGINE_OPTIONS_H
#define HOPWAVE_ENGINE_CORE_ENGINE_OPTIONS_H

#include "lib/base/types.h"
#include "lib/comm/transport_kind.h"
#include "lib/engine/core/algorithm.h"

/* Encoding of frontier messages. */
enum hw_exchange { HW_EXCHANGE_AUTO, HW_EXCHANGE_LIST, HW_EXCHANGE_BITMAP };

/* merge: how work redistribution is coupled with gathering neighbors. */
enum hw_coupling {
    HW_COUPLING_AUTO, /* hybrid */
    HW_COUPLING_SEPARATE,
    HW_COUPLING_GATHER,
    HW_COUPLING_EXPAND,
    HW_COUPLING_HYBRID,
    HW_COUPLING_DIRECT
};
enum hw_switch { HW_SWITCH_AUTO, HW_SWITCH_ON, HW_SWITCH_OFF };

/* adaptive: ways to generate a queue, one bit each; 0: the engine chooses. */
enum hw_queue {
    HW_QUEUE_SCAN_FREE = 1,
    HW_QUEUE_SINGLE_SCAN = 2,
    HW_QUEUE_DOUBLE_SCAN = 4,
    HW_QUEUE_NONE = 8,
    HW_QUEUE_STRIDED = 16,
    HW_QUEUE_DEGREE_CLASSES = 32
};

/* adaptive: how unvisited vertices are assigned to threads bottom-up. */
enum hw_balance {
    HW_BALANCE_AUTO,
    HW_BALANCE_STATIC,
    HW_BALANCE_THREAD,
    HW_BALANCE_WARP,
    HW_BALANCE_DONATE
};

/* Defaults. */
#define HW_EXPAND_FACTOR 10.0
#define HW_EDGES_PER_THREAD 4
#define HW_FORWARD_FACTOR 0.03

/* How bellman-ford and near-far relax on a GPU; zero is the default. */
enum hw_frontier { HW_FRONTIER_AUTO, HW_FRONTIER_QUEUE, HW_FRONTIER_SWEEP, HW_FRONTIER_NONE };
enum hw_removal { HW_REMOVAL_AUTO, HW_REMOVAL_WORDS, HW_REMOVAL_MARKS };
enum hw_long_lists { HW_LONG_LISTS_BLOCKS, HW_LONG_LISTS_DYNAMIC, HW_LONG_LISTS_OFF };
struct hw_relaxation_options {
    enum hw_frontier frontier;     /* queue; sweep over all vertices for the improved ones; none:
                                      every iteration relaxes all vertices */
    enum hw_removal removal;       /* how duplicates are recognized: words of distance and phase,
                                      or marks in an array of their own; see `duplicates` */
    enum hw_long_lists long_lists; /* what relaxes long lists: blocks, dynamic parallelism, or
                                      the warps that relax all lists */
    hw_count long_list;            /* edges from which a list is long */
    hw_count virtual_warp;         /* lanes for each vertex; 1: chosen by the frontier's size */
    hw_count virtual_warp_min, virtual_warp_max; /* bounds of that choice */
    hw_count hub_tiers;                          /* number of tiers plus 1; 0: the default */
    hw_count warp_vertices;                      /* vertices that a warp takes at a time */
    bool no_cache_hints, no_coalesced_enqueue;
    bool host_phases; /* the host launches each phase */
    bool relax_again; /* relax vertices again whose distance has not changed since */
};

struct hw_engine_options {
    enum hw_algorithm algorithm;
    enum hw_direction direction;
    enum hw_exchange exchange;
    enum hw_transport_kind transport;
    enum hw_mpi_buffers mpi_buffers;
    bool local_all2all;     /* delegates: gather by device inside the node before sending */
    bool uniquify;          /* delegates: drop duplicate nn discoveries before sending */
    bool nonblocking;       /* delegates: mask reduction by MPI_Iallreduce */
    double forward_factor;  /* delegates: hw_forward_factor() */
    double backward_factor; /* delegates: hw_backward_factor() */
    bool canonical_parents; /* the smallest parent by (level, graph id); SSSP: (hops, graph id)
                               among tight parents, hops: fewest tight edges from the root */
    bool trace;             /* record each step, with the seconds of its phases */
    double delta;           /* delta, near-far: bucket width; 0: chosen from weights and degrees */
    bool no_edge_classes;   /* bellman-ford: treat all edges alike */
    bool duplicates;        /* bellman-ford: let a vertex enter the frontier more than once */
    enum hw_coupling coupling; /* merge */
    double expand_factor;      /* merge, hybrid: edges per frontier vertex above which the balanced
                                  redistribution is used */
    int edges_per_thread;      /* scan2d */
    struct hw_relaxation_options relaxation;
    unsigned queues;         /* adaptive: allowed ways to generate a queue, bits of enum hw_queue */
    enum hw_balance balance; /* adaptive: bottom-up */
    enum hw_switch async_bottom_up; /* adaptive: discover vertices of the level after as well */
    double alpha;                   /* adaptive: fraction of the edges from which to go bottom-up */
    bool profile;                   /* adaptive: trace records of bottom-up work by degree */
};

/*
 * Delegates: a visit turns backward when its forward work exceeds forward_factor
 * times the backward work, and forward again when it is below backward_factor
 * times the backward work. The paper found that wide ranges serve; the defaults
 * were measured on R-MAT graphs of scales 16 to 20. Local.
 */
static inline double hw_forward_factor(const struct hw_engine_options *options)
{
    return options->forward_factor > 0 ? options->forward_factor : HW_FORWARD_FACTOR;
}

static inline double hw_backward_factor(const struct hw_engine_options *options)
{
    return options->backward_factor > 0 ? options->backward_factor
                                        : hw_forward_factor(options) / 10;
}

#endif
