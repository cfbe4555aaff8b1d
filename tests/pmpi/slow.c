/*
 * Makes searches take HW_SLOW times as long (1 unless set). The linker puts this in the place
 * of hw_seconds(), by --wrap: whenever a search looks at the clock, between MPI_Pcontrol(1)
 * and MPI_Pcontrol(0), it first waits until it has waited that share of what it took without.
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdlib.h>

double __real_hw_seconds(void);
double __wrap_hw_seconds(void);

/* What stands between a program and its library has no other place for its state. */
static struct {
    bool on;
    double start, waited, share;
} slow;

int MPI_Pcontrol(const int level, ...)
{
    const char *factor = getenv("HW_SLOW");

    slow.on = level != 0;
    slow.share = factor ? atof(factor) - 1 : 0;
    slow.start = __real_hw_seconds();
    slow.waited = 0;
    return MPI_SUCCESS;
}

double __wrap_hw_seconds(void)
{
    double begun = __real_hw_seconds(), now = begun;
    double wanted = slow.share * (begun - slow.start - slow.waited);

    while (slow.on && slow.waited + now - begun < wanted)
        now = __real_hw_seconds();
    slow.waited += now - begun;
    return now;
}
