/*
 * A watch over the ranks of a node: a rank that is killed or stopped ends all of them.
 *
 * MPI alone may wait for such a rank for ever, in a collective call or, as methods on
 * several GPUs do, in a kernel. A thread of each rank looks at the state of another rank's
 * process, as the system tells it: silence is no sign, for a rank may compute for long, and
 * on a busy machine hardly get to run. Neither is a rank lost that a debugger holds, nor all
 * of them where all are stopped and go on, as batch systems do with whole jobs.
 */
#ifndef HOPWAVE_COMM_RANK_WATCHDOG_H
#define HOPWAVE_COMM_RANK_WATCHDOG_H

#include "lib/base/status.h"

#include <mpi.h>

struct hw_watchdog;

/* Who watches, and how long. */
struct hw_watchdog_order {
    MPI_Comm world, node;
    const char *program; /* borrowed */
    double seconds;      /* of this rank's own running that another may be stopped */
};

/*
 * Begins to watch; *watch is NULL where the node has one rank. When a rank has died, or has
 * been stopped for so many seconds, one line says so on standard error, files that are not
 * finished are removed (lib/base/incomplete_file.h), and all ranks end with HW_RESOURCES. Ranks
 * whose processes this node's /proc does not show are not watched. Collective over the node.
 */
enum hw_status hw_watchdog_start(const struct hw_watchdog_order *order, struct hw_watchdog **watch,
                                 struct hw_error *err);

/*
 * Tells it that this rank has failed, before it agrees with the others on that: some may wait
 * for it elsewhere, and never hear. Unless the watch ends in order within four times its
 * seconds, all ranks end then, with this sentence. Does nothing where the status is HW_OK or
 * the watch NULL. Local.
 */
void hw_watchdog_tell(struct hw_watchdog *watch, enum hw_status status, const struct hw_error *err);

/* From now on ranks may leave, as they do after MPI_Finalize(); ranks that are stopped are
 * still seen. Accepts NULL. Collective over the node. */
void hw_watchdog_close(struct hw_watchdog *watch);

/* Ends it; accepts NULL. Local, after hw_watchdog_close(). */
void hw_watchdog_end(struct hw_watchdog *watch);

#endif
