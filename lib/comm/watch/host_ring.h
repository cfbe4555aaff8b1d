/*
 * The hosts of a run in a ring: the first rank of each holds a TCP connection to that of the next
 * host, which it watches, and one to that of the previous host, which watches it.
 */
#ifndef HOPWAVE_COMM_WATCH_HOST_RING_H
#define HOPWAVE_COMM_WATCH_HOST_RING_H

#include "lib/comm/context.h"

#include <stdbool.h>
#include <stdint.h>

#define HW_HOST_TIMEOUT 8 /* seconds, unless HOPWAVE_HOST_TIMEOUT says otherwise */

/* The first rank of another host. */
struct hw_host_neighbor {
    int fd;       /* the connection */
    bool ended;   /* nothing more is received from it */
    int32_t rank; /* in world */
    int32_t process;
    int32_t ranks; /* of its host */
    char host[64];
};

struct hw_host_ring {
    int hosts, own; /* how many, and which this one is; 0 hosts: they are not watched */
    struct hw_host_neighbor next, previous;
};

enum hw_host_event {
    HW_HOST_NOTHING,
    HW_HOST_LEFT,   /* it is about to end in order */
    HW_HOST_ENDS,   /* the run ends */
    HW_HOST_CLOSED, /* its process is gone */
    HW_HOST_SILENT  /* its host does not answer */
};

/* Seconds from HOPWAVE_HOST_TIMEOUT, 0: hosts are not watched. HW_USAGE. Local. */
enum hw_status hw_host_timeout(int *seconds, struct hw_error *err);

/*
 * Connects the hosts, whose first ranks are in `first`, on the interfaces that
 * HOPWAVE_HOST_INTERFACE names, or on all of them; seconds is hw_host_timeout(). HW_RESOURCES, with
 * a reason and without connections, where two hosts cannot reach each other. hw_host_ring_close()
 * it. Collective over first; ranks agree.
 */
enum hw_status hw_host_ring_open(const struct hw_context *ctx, MPI_Comm first, int seconds,
                                 struct hw_host_ring *ring, struct hw_error *err);

/* Looks for news of a neighbor, without waiting; *status: that of HW_HOST_ENDS. Once it is lost or
 * has left it has ended. Local. */
enum hw_host_event hw_host_ring_receive(struct hw_host_neighbor *neighbor, int *status);

/* Tells both neighbors that this process leaves in order (HW_OK) or that the run ends with a
 * status. Does nothing in a process without connections. Local; async-signal-safe. */
void hw_host_ring_tell(enum hw_status status);

/* Closes the connections; accepts one that is zeroed. Local. */
void hw_host_ring_close(struct hw_host_ring *ring);

#endif
