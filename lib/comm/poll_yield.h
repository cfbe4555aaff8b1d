/*
 * Giving way while waiting for a message.
 *
 * MPICH over UCX polls without pause. Where a node runs more ranks than it has
 * cores, every rank that waits burns the time slice of the one it waits for,
 * and a search of seven levels takes seconds. poll_yield.c stands before UCX's
 * progress function, as a profiling layer would, and yields the core after a
 * run of fruitless polls: at once where a core is shared (a test of six ranks on
 * two cores ran twenty times faster), and without effect where it is not. With
 * another MPI nothing changes.
 */
#ifndef HOPWAVE_COMM_POLL_YIELD_H
#define HOPWAVE_COMM_POLL_YIELD_H

#include <stdbool.h>

/* Whether this process yields its core while MPI polls in vain. Local. */
void hw_yield_while_waiting(bool yields);

#endif
