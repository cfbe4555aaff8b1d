/*
 * A watch over the ranks of a node: a rank that is killed or stopped ends all of them.
 *
 * MPI alone may wait for such a rank for ever, in a collective call or, as methods on
 * several GPUs do, in a kernel. A thread of each rank counts in memory that the node's
 * ranks share, and looks whether the others still do.
 */
#ifndef HOPWAVE_COMM_WATCH_H
#define HOPWAVE_COMM_WATCH_H

#include "base/status.h"
#include "comm/context.h"

struct hw_watch;

/*
 * Begins to watch; *watch is NULL where the node has one rank. A rank of which nothing is
 * seen for `seconds` (of this rank's own running) is given up: one line on standard error,
 * and all ranks end, this one with HW_RESOURCES. Collective over ctx->node.
 */
enum hw_status hw_watch_start(const struct hw_context *ctx, double seconds, struct hw_watch **watch,
                              struct hw_error *err);

/*
 * Tells it that this rank has failed, before it agrees with the others on that: some may wait
 * for it elsewhere, and never hear. Unless the watch ends in order within four times its
 * seconds, all ranks end then, with this sentence. Does nothing where the status is HW_OK or
 * the watch NULL. Local.
 */
void hw_watch_tell(struct hw_watch *watch, enum hw_status status, const struct hw_error *err);

/* Ends it; accepts NULL. Collective over ctx->node. */
void hw_watch_stop(struct hw_watch *watch);

#endif
