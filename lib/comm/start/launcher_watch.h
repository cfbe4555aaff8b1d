/*
 * A watch over the launcher while MPI starts.
 *
 * MPI_Init() waits without end for a launcher that gives no answer. MPICH's does that where a
 * signal to stop reaches it between its own start and that of the ranks: its proxy, the parent of
 * the ranks, forgets to pass the signal on, stops answering and waits for the ranks to end, as
 * they wait for it (seen with MPICH 4.0.2). The proxy waits on where the launcher is killed.
 * Once MPI has started, it ends the ranks of a launcher that is gone by itself.
 */
#ifndef HOPWAVE_COMM_LAUNCHER_WATCH_H
#define HOPWAVE_COMM_LAUNCHER_WATCH_H

#include <stdbool.h>

/*
 * Starts a thread that ends this process with HW_RESOURCES, and one line where print is set, once
 * the process that launched it is gone, or is a proxy of MPICH that has waited for its ranks to end
 * for two seconds. Does nothing in a process that no launcher started (hw_launch_rank()). Time for
 * which a debugger holds this process does not count. Borrows program. Local; before MPI starts.
 */
void hw_launcher_watch_start(const char *program, bool print);

/* Ends the thread, if there is one. Local. */
void hw_launcher_watch_end(void);

#endif
