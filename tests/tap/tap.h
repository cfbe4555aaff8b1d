/*
 * TAP for C tests, serial or MPI.
 *
 * In an MPI test every verdict is collective: it holds if it holds on every
 * rank, and rank 0 prints it. A serial test never calls MPI.
 */
#ifndef HOPWAVE_TESTS_TAP_TAP_H
#define HOPWAVE_TESTS_TAP_TAP_H

#include <stdbool.h>

/* The state of one test program; zero-initialise it. */
struct tap {
    int run;    /* verdicts given so far */
    int failed; /* of those, the ones that did not hold */
    bool mpi;   /* set by tap_mpi() */
    int rank;   /* of this process; 0 in a serial test */
};

/* Makes the verdicts collective over MPI_COMM_WORLD. Call it after MPI_Init.
 * Collective. */
void tap_mpi(struct tap *tap);

/* Gives one verdict, named by a printf format. Collective in an MPI test.
 * Returns whether it holds on every rank. */
bool tap_ok(struct tap *tap, bool holds, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Prints a comment line on rank 0. Local. */
void tap_note(const struct tap *tap, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Records a verdict as skipped, with the reason. Local. */
void tap_skip(struct tap *tap, const char *reason);

/* Room for the name of a folder, so short that files in it have room for theirs. */
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

/* Prints the plan. Returns the exit status of the program: 0 if all held. */
int tap_done(const struct tap *tap);

#endif
