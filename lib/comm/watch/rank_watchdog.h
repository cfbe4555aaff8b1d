/*
 * A watchdog over the ranks of a run: if a rank is killed or stays stopped, or a host vanishes, the
 * job aborts and names it.
 *
 * Without it the other ranks may wait for that rank for ever, in a collective call or, with
 * methods on several GPUs, in a kernel. A thread of each rank polls the state of another rank's
 * process of its node in /proc; that of the first rank of a host also holds connections to those
 * of the neighboring hosts (lib/comm/watch/host_ring.h). Missing messages are no criterion: a rank
 * may compute for a long time, and on a busy machine it hardly gets to run. A rank that a debugger
 * holds is not lost, nor are ranks that are all stopped and continued together, as batch systems do
 * with whole jobs.
 */
#ifndef HOPWAVE_COMM_WATCH_RANK_WATCHDOG_H
#define HOPWAVE_COMM_WATCH_RANK_WATCHDOG_H

#include "lib/comm/context.h"

struct hw_watchdog;

/*
 * Starts a watchdog; *watch is NULL where there is one rank. When a rank has died, has been stopped
 * for longer than `seconds` while the one that watches it ran, or its host has not answered for the
 * time of hw_host_timeout(), one line on standard error names it, incomplete files are removed
 * (lib/base/incomplete_file.h), and all ranks end with HW_RESOURCES. Ranks whose processes are not
 * visible in the /proc of their node's others are not watched, nor are hosts that cannot reach each
 * other by TCP, with a note. Borrows ctx. Collective over ctx->world; ranks agree.
 */
enum hw_status hw_watchdog_start(const struct hw_context *ctx, double seconds,
                                 struct hw_watchdog **watch, struct hw_error *err);

/*
 * Reports that this rank has failed, before the ranks agree on it: others may be waiting for it
 * in another call and never reach the agreement. Unless the watchdog is closed within four times
 * its timeout, all ranks end with this error message. Does nothing where the status is HW_OK or
 * watch is NULL. Local.
 */
void hw_watchdog_report(struct hw_watchdog *watch, enum hw_status status,
                        const struct hw_error *err);

/* From now on a rank may exit, as after MPI_Finalize(); stopped ranks are still detected.
 * Accepts NULL. Collective over ctx->world. */
void hw_watchdog_close(struct hw_watchdog *watch);

/* Ends the thread and frees; accepts NULL. Local, after hw_watchdog_close(). */
void hw_watchdog_end(struct hw_watchdog *watch);

#endif
