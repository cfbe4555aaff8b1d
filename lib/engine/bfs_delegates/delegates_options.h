/*
 * Options of method `delegates`, on CPUs and GPUs (Pan, Pearce, Owens: Scalable Breadth-First
 * Search on a GPU Cluster, sections III-C and V).
 */
#ifndef HOPWAVE_ENGINE_BFS_DELEGATES_DELEGATES_OPTIONS_H
#define HOPWAVE_ENGINE_BFS_DELEGATES_DELEGATES_OPTIONS_H

#include "lib/engine/core/engine_options.h"

/* All that the method has on CPUs, NULL-ended. */
extern const struct hw_option *const hw_delegates_options[];

extern const struct hw_option hw_option_local_all2all;
extern const struct hw_option hw_option_uniquify;
extern const struct hw_option hw_option_reduce;         /* 0: blocking, 1: nonblocking */
extern const struct hw_option hw_option_mask_reduction; /* 0: ranges, 1: leader */
/* Of all subgraphs, and of each: the default of the latter is the former. */
extern const struct hw_option hw_option_forward_factor;
extern const struct hw_option hw_option_backward_factor;
extern const struct hw_option hw_option_forward_factor_dd, hw_option_forward_factor_dn,
    hw_option_forward_factor_nd;
extern const struct hw_option hw_option_backward_factor_dd, hw_option_backward_factor_dn,
    hw_option_backward_factor_nd;

/*
 * A visit turns backward when its forward work exceeds `forward` times the backward work, and
 * forward again when it is below `backward` times the backward work (section IV.B).
 */
struct hw_delegates_factors {
    double forward, backward;
};

/*
 * The paper found that wide ranges of factors serve; the defaults were measured on R-MAT graphs of
 * scales 16 to 20.
 */
struct hw_delegates_config {
    enum hw_direction direction;
    bool local_all2all; /* gather by device inside the node before sending */
    bool uniquify;      /* drop duplicate nn discoveries before sending */
    bool nonblocking;   /* mask reduction by MPI_Iallreduce */
    bool leader;        /* masks of a node are reduced on its first device */
    struct hw_delegates_factors dd, dn, nd;
};

/* The configuration that options mean. Local. */
struct hw_delegates_config hw_delegates_config(const struct hw_engine_options *options);

#endif
