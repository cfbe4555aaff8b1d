/*
 * The ranks of a program, and how they agree.
 */
#ifndef HOPWAVE_COMM_CONTEXT_H
#define HOPWAVE_COMM_CONTEXT_H

#include "lib/base/status.h"
#include "lib/base/types.h"

#include <mpi.h>

struct hw_watchdog;

/* The ranks of a run, and this one among them: every stage passes it down. */
struct hw_context {
    MPI_Comm world;            /* duplicate of MPI_COMM_WORLD that returns its errors */
    MPI_Comm node;             /* the ranks that share this rank's memory */
    int rank, size;            /* in world */
    int node_rank;             /* in node */
    int node_size;             /* ranks in node */
    int node_id;               /* its node, for exchanges that send one copy to each node */
    bool one_node;             /* all ranks have the same node_id; the same on all ranks */
    int threads;               /* OpenMP threads of this rank */
    int cores;                 /* that this process may run on; ranks may share them */
    bool quiet;                /* no progress, no notes */
    const char *io_hints;      /* for files that are written, KEY=VALUE,...; NULL: none given */
    const char *program;       /* such as "hopwave-generate"; borrowed */
    struct hw_watchdog *watch; /* over the ranks, or NULL; hw_context_close() ends it */
};

/*
 * Starts MPI (MPI_THREAD_FUNNELED) and fills ctx; threads is OMP_NUM_THREADS,
 * or the cores this process may use divided among the node's ranks.
 * Collective over all ranks.
 */
enum hw_status hw_context_open(struct hw_context *ctx, int *argc, char ***argv, const char *program,
                               struct hw_error *err);

/*
 * Prints the error message on rank 0 (`program: message`), ends MPI
 * and returns the exit status. status must be agreed on already: the same on
 * all ranks. Collective.
 */
int hw_context_close(struct hw_context *ctx, enum hw_status status, const struct hw_error *err);

/*
 * Treats each `ranks_per_node` consecutive ranks as a node, to emulate several nodes on one
 * machine: changes node_id and one_node; 0 leaves them. Memory and cores are shared as before.
 * Local; all ranks must pass the same value.
 */
void hw_context_group(struct hw_context *ctx, hw_count ranks_per_node);

/* Sets the number of OpenMP threads of this rank, at least 1. Local. */
void hw_context_threads(struct hw_context *ctx, int threads);

/*
 * Agreement: returns the most severe status of all ranks on all ranks, with the
 * error message of the lowest rank that reported it in err. Collective over comm;
 * every rank must call it, those that succeeded too.
 */
enum hw_status hw_agree(MPI_Comm comm, enum hw_status status, struct hw_error *err);

/*
 * The collective twin of HW_TRY(): evaluates `call`, which may fail on some ranks
 * only, agrees on its status, and returns the status from the enclosing function
 * on all ranks if it is not HW_OK. Every rank of ctx->world must come here.
 */
#define HW_TRY_ALL(ctx, call, err) HW_TRY(hw_agree((ctx)->world, (call), (err)))

/* Turns an MPI return code into HW_OK or HW_INTERNAL naming the call. Local. */
enum hw_status hw_mpi(int code, const char *call, struct hw_error *err);

/*
 * Prints a note (printf format, one line, `program: note`) on standard error
 * of rank 0, unless --quiet. Local; ignored on other ranks.
 */
void hw_note(const struct hw_context *ctx, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same, also under --quiet: for results a user must not miss. Local. */
void hw_warn(const struct hw_context *ctx, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Seconds on a monotonic clock. Local. */
double hw_seconds(void);

/*
 * This rank's share of the memory its node has left: hw_memory_available()
 * divided by the node's ranks. Local after hw_context_open().
 */
hw_count hw_memory_share(const struct hw_context *ctx);

/*
 * Checks that `bytes` (this rank's need, beyond what it has allocated) fit in
 * hw_memory_share() on every rank.
 *
 * Returns HW_OK, or HW_RESOURCES on all ranks with both figures. Collective.
 */
enum hw_status hw_memory_require(const struct hw_context *ctx, hw_count bytes, const char *what,
                                 struct hw_error *err);

/*
 * What --estimate prints on rank 0's standard output, as `key: value` lines
 * that programs read too: seconds, memory of the largest rank and disk in bytes
 * (seconds, memory_per_rank, disk). Negative values are
 * left out. A traversal on devices may add device_memory_per_rank. Local.
 */
void hw_estimate_print(const struct hw_context *ctx, double seconds, hw_count memory,
                       hw_count disk);

/*
 * A progress bar on rank 0's standard error: printed only on a terminal, not
 * under --quiet, and only once two seconds have passed. Zero-initialise; call
 * with done = total (or hw_progress_end) to finish the line. Local.
 */
struct hw_progress {
    double started, printed;
    bool visible;
};
void hw_progress(const struct hw_context *ctx, struct hw_progress *bar, const char *what,
                 hw_count done, hw_count total);
void hw_progress_end(struct hw_progress *bar);

#endif
