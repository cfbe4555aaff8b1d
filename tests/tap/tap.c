#include "tests/tap/tap.h"

#include <ftw.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void tap_mpi(struct tap *tap)
{
    tap->mpi = true;
    if (MPI_Comm_rank(MPI_COMM_WORLD, &tap->rank) != MPI_SUCCESS ||
        MPI_Comm_size(MPI_COMM_WORLD, &tap->size) != MPI_SUCCESS)
        abort();
}

void tap_plan(struct tap *tap, int planned)
{
    tap->planned = planned;
    if (tap->rank == 0 && planned > 0) {
        printf("1..%d\n", planned);
        fflush(stdout);
    }
}

void tap_plan_by_ranks(struct tap *tap, const int planned[TAP_RANKS])
{
    const int count = tap->size <= TAP_RANKS ? planned[tap->size - 1] : 0;

    tap_plan(tap, count > 0 ? count : TAP_AT_END);
}

bool tap_verdict(struct tap *tap, bool holds, const char *file, int line, const char *format, ...)
{
    /* The highest rank on which it failed, so that the line can name it. */
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
        if (worst >= 0)
            printf("# failed at %s:%d\n", file, line);
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

bool tap_folder(const struct tap *tap, char folder[TAP_FOLDER])
{
    const char *base = getenv("TMPDIR");

    memset(folder, 0, TAP_FOLDER);
    if (tap->rank == 0) {
        int length = snprintf(folder, TAP_FOLDER, "%s/hopwave-test.XXXXXX", base ? base : "/tmp");
        if (length >= TAP_FOLDER || !mkdtemp(folder))
            folder[0] = '\0';
    }
    if (tap->mpi && MPI_Bcast(folder, TAP_FOLDER, MPI_CHAR, 0, MPI_COMM_WORLD) != MPI_SUCCESS)
        abort();
    return folder[0];
}

static int drop(const char *path, const struct stat *about, int kind, struct FTW *place)
{
    (void)about;
    (void)kind;
    (void)place;
    return remove(path);
}

void tap_drop_folder(const struct tap *tap, const char *folder)
{
    if (tap->mpi && MPI_Barrier(MPI_COMM_WORLD) != MPI_SUCCESS)
        abort();
    if (tap->rank == 0 && nftw(folder, drop, 8, FTW_DEPTH | FTW_PHYS) != 0)
        tap_note(tap, "%s is left", folder);
}

int tap_done(const struct tap *tap)
{
    if (tap->planned == TAP_AT_END) {
        if (tap->rank == 0)
            printf("1..%d\n", tap->run);
    } else if (tap->run != tap->planned) {
        tap_note(tap, "planned %d verdicts, gave %d", tap->planned, tap->run);
        return 1;
    }
    return tap->failed == 0 ? 0 : 1;
}
