#include "tap.h"

#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void tap_mpi(struct tap *tap)
{
    tap->mpi = true;
    if (MPI_Comm_rank(MPI_COMM_WORLD, &tap->rank) != MPI_SUCCESS)
        abort();
}

bool tap_ok(struct tap *tap, bool holds, const char *format, ...)
{
    /* The lowest rank on which it failed, so that the line can name it. */
    int worst = holds ? -1 : tap->rank;
    if (tap->mpi) {
        int mine = worst;
        if (MPI_Allreduce(&mine, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD) != MPI_SUCCESS)
            abort();
    }
    tap->run++;
    tap->failed += worst >= 0;
    if (tap->rank == 0) {
        va_list args;
        va_start(args, format);
        printf("%sok %d - ", worst >= 0 ? "not " : "", tap->run);
        vprintf(format, args);
        printf("\n");
        if (worst >= 0 && tap->mpi)
            printf("# failed on rank %d\n", worst);
        fflush(stdout);
        va_end(args);
    }
    return worst < 0;
}

void tap_note(const struct tap *tap, const char *format, ...)
{
    if (tap->rank != 0)
        return;
    va_list args;
    va_start(args, format);
    printf("# ");
    vprintf(format, args);
    printf("\n");
    va_end(args);
}

void tap_skip(struct tap *tap, const char *reason)
{
    tap->run++;
    if (tap->rank == 0)
        printf("ok %d # SKIP %s\n", tap->run, reason);
}

int tap_done(const struct tap *tap)
{
    if (tap->rank == 0)
        printf("1..%d\n", tap->run);
    return tap->failed == 0 ? 0 : 1;
}
