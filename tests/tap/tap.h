/*
 * TAP for C tests, serial or MPI.
 *
 * A test states first how many verdicts it gives (tap_plan()); one that gives fewer or more
 * fails, so that a part that is left out by an early return is noticed.
 *
 * In an MPI test every verdict is collective: it holds if it holds on every rank, and rank 0
 * prints it. A serial test never calls MPI.
 */
#ifndef HOPWAVE_TESTS_TAP_TAP_H
#define HOPWAVE_TESTS_TAP_TAP_H

#include <stdbool.h>

/* The state of one test program; zero-initialise it. */
struct tap {
    int planned; /* verdicts that tap_plan() announced */
    int run;     /* verdicts given so far */
    int failed;  /* of those, the ones that did not hold */
    bool mpi;    /* set by tap_mpi() */
    int rank;    /* of this process; 0 in a serial test */
    int size;    /* ranks; set by tap_mpi() */
};

/* Makes the verdicts collective over MPI_COMM_WORLD. Call it after MPI_Init.
 * Collective. */
void tap_mpi(struct tap *tap);

/* Announces how many verdicts follow, skipped ones included: before the first of them, and the
 * same number on all ranks. TAP_AT_END: it depends on the machine, such as on its GPUs, and is
 * stated by tap_done(). Local. */
enum { TAP_AT_END = -1 };
void tap_plan(struct tap *tap, int planned);

/* The same by the number of ranks: planned[ranks - 1]. TAP_AT_END where that is 0, or there are
 * more ranks. Local. */
enum { TAP_RANKS = 6 };
void tap_plan_by_ranks(struct tap *tap, const int planned[TAP_RANKS]);

/* Gives one verdict: tap_ok(tap, holds, format, ...), named by a printf format. One that does not
 * hold prints the file and line. Collective in an MPI test. Returns whether it holds on every
 * rank. */
#define tap_ok(tap, holds, ...) tap_verdict(tap, holds, __FILE__, __LINE__, __VA_ARGS__)
bool tap_verdict(struct tap *tap, bool holds, const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Prints a comment line on rank 0. Local. */
void tap_note(const struct tap *tap, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Records a verdict as skipped, with the reason. Local. */
void tap_skip(struct tap *tap, const char *reason);

/* Bytes of a folder's name, few enough for names of files below it to fit in PATH_MAX. */
#define TAP_FOLDER 200

/* Makes a folder for the files of the test, below TMPDIR or else /tmp, and names it.
 * Collective in an MPI test. Returns whether it is there. */
bool tap_folder(const struct tap *tap, char folder[TAP_FOLDER]);

/* Removes a folder with all that it holds; no rank may be in it. Collective in an MPI
 * test. */
void tap_drop_folder(const struct tap *tap, const char *folder);

/* The whole of an MPI test: its verdicts, given by `tests` in a quiet context of that name.
 * Returns the exit status of main(). Collective. */
struct hw_context;
int tap_ranks(int argc, char **argv, const char *name,
              void (*tests)(struct tap *tap, struct hw_context *ctx));

/* Ends the test. Returns the exit status of the program: 0 if all verdicts hold and are as many
 * as planned. Without a plan it fails. */
int tap_done(const struct tap *tap);

#endif
