/*
 * The frame of every program: options, ranks, one run, one exit status.
 */
#ifndef HOPWAVE_RUN_STAGE_H
#define HOPWAVE_RUN_STAGE_H

#include "lib/base/cli.h"
#include "lib/comm/context.h"

/* The context of a program's run. */
struct hw_stage {
    struct hw_context ctx;
    struct hw_cli cli;
    int argc; /* as given, for the record in /run */
    char **argv;
    double started; /* hw_seconds() at the start */
};

/*
 * Runs a program: starts MPI, parses, calls run on all ranks, agrees on its
 * status, prints the error message on rank 0, ends MPI. Programs with
 * an output must be given -o unless --estimate is, or the output is optional. run must return the
 * same status on all ranks.
 *
 * Returns the exit status. Collective.
 */
int hw_stage_main(int argc, char **argv, const struct hw_cli_program *program, void *options,
                  enum hw_status (*run)(struct hw_stage *stage, void *options,
                                        struct hw_error *err));

/*
 * Starts the watchdog over the ranks (lib/comm/watch/rank_watchdog.h), until the program ends; does
 * nothing where it runs. hw_stage_main() does it on several hosts. On one host it is for runs in
 * which a lost rank would leave the others waiting where MPI and its launcher do not see it; in
 * others the launcher's own rule ends the run. Collective; ranks agree.
 */
enum hw_status hw_stage_watch(struct hw_stage *stage, struct hw_error *err);

#endif
