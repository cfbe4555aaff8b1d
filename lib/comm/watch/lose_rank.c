/* For tests/faults/watch.t: the last rank kills or stops itself while the others wait for
 * it in MPI; signal -1: it fails while they wait; signal 0: it computes for SECONDS while they
 * wait; with CATCH, all ranks catch signals that ask them to stop, but never look whether one came.
 * lose_rank SIGNAL TIMEOUT [SECONDS [CATCH]] */
#include "lib/comm/context.h"
#include "lib/comm/stop_signal.h"
#include "lib/comm/watch/rank_watchdog.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static void compute(double seconds)
{
    const double until = hw_seconds() + seconds;

    while (hw_seconds() < until)
        ;
}

int main(int argc, char **argv)
{
    struct hw_context ctx;
    struct hw_error err = {{0}};
    enum hw_status status = hw_context_open(&ctx, &argc, &argv, "lose_rank", &err);
    int number = argc > 1 ? atoi(argv[1]) : 0;

    if (status == HW_OK)
        status = hw_watchdog_start(&ctx, argc > 2 ? atof(argv[2]) : 1, &ctx.watch, &err);
    hw_stop_exit_at_once(ctx.program, ctx.rank == 0);
    if (status == HW_OK && argc > 4)
        status = hw_stop_catch(&err);
    if (status == HW_OK && ctx.rank == ctx.size - 1 && number > 0 && raise(number) != 0)
        perror("raise");
    if (status == HW_OK && ctx.rank == ctx.size - 1 && number < 0)
        status = hw_fail(&err, HW_BAD_INPUT, "rank %d fails on request", ctx.rank);
    hw_watchdog_report(ctx.watch, status, &err);
    if (status == HW_OK && ctx.rank == ctx.size - 1 && argc > 3)
        compute(atof(argv[3]));
    if (status == HW_OK)
        status = hw_mpi(MPI_Barrier(ctx.world), "MPI_Barrier", &err);
    return hw_context_close(&ctx, status, &err);
}
