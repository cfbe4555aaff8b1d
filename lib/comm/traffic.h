/*
 * Counters of what a rank sends: the one place that defines them. Exchanges (halo_exchange.h) add
 * what they send; an engine that calls a collective of MPI adds the cost of a good algorithm for
 * it, so that the counters do not depend on the MPI library.
 */
#ifndef HOPWAVE_COMM_TRAFFIC_H
#define HOPWAVE_COMM_TRAFFIC_H

#include "lib/base/types.h"

/* What was sent to ranks of other nodes. */
struct hw_internode_traffic {
    hw_count bytes, messages;
};

/* What one rank has sent to others. A message that is cut into pieces counts once. */
struct hw_traffic {
    hw_count bytes, messages;
    struct hw_internode_traffic internode; /* the part of them sent to other nodes */
};

/* Adds `messages` messages of `bytes` bytes together to a rank of another node, or of the own.
 * Local. */
static inline void hw_traffic_add(struct hw_traffic *traffic, hw_count bytes, hw_count messages,
                                  bool internode)
{
    traffic->bytes += bytes;
    traffic->messages += messages;
    traffic->internode.bytes += internode ? bytes : 0;
    traffic->internode.messages += internode ? messages : 0;
}

/* Adds `more` to the sum. Local. */
static inline void hw_traffic_add_all(struct hw_traffic *sum, const struct hw_traffic *more)
{
    sum->bytes += more->bytes;
    sum->messages += more->messages;
    sum->internode.bytes += more->internode.bytes;
    sum->internode.messages += more->internode.messages;
}

/*
 * Adds what one rank sends in an all-reduce of `bytes`, 2 (ranks-1)/ranks of them; between the
 * nodes, of `ranks_per_node` ranks each, each rank reduces its fraction of what its node has
 * combined. Counts no messages. Local.
 */
void hw_traffic_add_reduction(struct hw_traffic *traffic, hw_count bytes, int ranks,
                              int ranks_per_node);

/* The same of an all-gather, or of `bytes` for each other rank. Local. */
void hw_traffic_add_gather(struct hw_traffic *traffic, hw_count bytes, int ranks,
                           int ranks_per_node);

#endif
