/*
 * Measures what a transport gives between each two ranks: latency, bandwidth, puts, barriers; and
 * whether what arrives is what was sent.
 */
#ifndef HOPWAVE_COMM_LINK_PROBE_H
#define HOPWAVE_COMM_LINK_PROBE_H

#include "lib/comm/context.h"

/* Bytes of a message that measures bandwidth; the buffers of a transport have so many. */
#define HW_LINK_BYTES ((hw_count)4 << 20)

/* A transport under test. All but fill() and check() are collective over ctx->world, and the ranks
 * agree. */
struct hw_link_ops {
    /* Sends `bytes` of the send buffer of rank `from` to the receive buffer of `to`, and with
     * `both` also the other way; complete on return on these two. */
    enum hw_status (*message)(void *self, int from, int to, bool both, hw_count bytes,
                              struct hw_error *err);
    /* The same by a store of `from` into the memory of `to`. NULL: the transport has none. */
    enum hw_status (*put)(void *self, int from, int to, hw_count bytes, struct hw_error *err);
    /* Sets this rank's send buffer to a byte and its receive buffer to another. Local. */
    enum hw_status (*fill)(void *self, int send, int receive, struct hw_error *err);
    /* *same: whether all of this rank's receive buffer has that byte. Local. */
    enum hw_status (*check)(void *self, int byte, bool *same, struct hw_error *err);
    /* Collective; accepts NULL. */
    void (*close)(void *self);
};

struct hw_link {
    const struct hw_link_ops *ops;
    void *self;            /* owned */
    const char *transport; /* its name */
};

/* What was measured from a rank to another: medians. put_*: negative where there are none. */
struct hw_link_row {
    double latency;     /* seconds of a message of 8 bytes: half of there and back */
    double bandwidth;   /* bytes a second of messages of HW_LINK_BYTES */
    double put_latency; /* seconds until a put of 8 bytes is complete */
    double put_bandwidth;
    double barrier; /* seconds of the two ranks' messages to each other */
};

/* Opens messages of MPI between the ranks' memory. Collective; ranks agree. */
enum hw_status hw_link_open_mpi(const struct hw_context *ctx, struct hw_link *link,
                                struct hw_error *err);

/*
 * Measures all pairs, one after another; rows: [ranks * ranks], from rank first, the same on all
 * ranks; those of a rank to itself are zeros. *barrier: median seconds of a barrier of all ranks.
 * Returns HW_INTERNAL, naming both ranks, where other bytes arrived than were sent. Collective;
 * ranks agree.
 */
enum hw_status hw_link_probe(const struct hw_context *ctx, const struct hw_link *link,
                             struct hw_link_row *rows, double *barrier, struct hw_error *err);

#endif
