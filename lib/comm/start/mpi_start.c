#include "lib/comm/start/mpi_start.h"

#include "lib/base/incomplete_file.h"
#include "lib/comm/watch/host_ring.h"

#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* Open files that MPI needs on a rank: MPICH 4.0.2 with UCX fails with 24 on two ranks and starts
 * with 32. */
#define FILES_MIN 48
#define FILES_WANTED 4096

/* Bytes of /dev/shm: MPICH 4.0.2 with UCX fails or crashes with 4 MiB or less. */
#define SHARED_MEMORY_MIN (5l << 20)

/* Bytes of address space: MPICH 4.0.2 with UCX is aborted, or aborts, with 100 MiB or less. */
#define MEMORY_MIN (128 << 20)

/* The number in the first variable that is set; -1: none is. */
static int number_in(const char *const *variables)
{
    for (int v = 0; variables[v]; v++)
        if (getenv(variables[v]))
            return atoi(getenv(variables[v]));
    return -1;
}

int hw_launch_rank(void)
{
    static const char *const variables[] = {"PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK",
                                            "SLURM_PROCID", NULL};
    const int rank = number_in(variables);

    return rank < 0 && getenv("PMI_FD") ? 0 : rank;
}

void hw_standard_files_open(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
            (void)!open("/dev/null", fd == STDERR_FILENO ? O_WRONLY : O_RDONLY);
}

/* ---- before MPI starts ---- */

static enum hw_status check_open_files(struct hw_error *err)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return HW_OK;
    if (limit.rlim_cur < FILES_WANTED && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max < FILES_WANTED ? limit.rlim_max : FILES_WANTED;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
    if (limit.rlim_cur >= FILES_MIN)
        return HW_OK;
    return hw_fail(err, HW_RESOURCES,
                   "MPI needs %d open files, and the limit is %lu; see ulimit -n", FILES_MIN,
                   (unsigned long)limit.rlim_cur);
}

/* MPICH does without the folder, but not without writing to it; others have other places. */
static enum hw_status check_shared_memory(struct hw_error *err)
{
#ifdef MPICH_VERSION
    static const char folder[] = "/dev/shm";
    struct statvfs disk;

    if (statvfs(folder, &disk) != 0)
        return HW_OK;
    if (access(folder, W_OK | X_OK) != 0)
        return hw_fail(err, HW_RESOURCES, "MPI needs %s, which cannot be written: %s", folder,
                       strerror(errno));
    const double left = (double)disk.f_bavail * (double)disk.f_frsize;
    if (disk.f_blocks > 0 && left < SHARED_MEMORY_MIN)
        return hw_fail(err, HW_RESOURCES, "MPI needs %ld kB of %s, which has %.0f kB left",
                       SHARED_MEMORY_MIN / 1000, folder, left / 1000);
#else
    (void)err;
#endif
    return HW_OK;
}

/* Tries to have the memory at once. */
static enum hw_status check_memory(struct hw_error *err)
{
    void *memory =
        mmap(NULL, MEMORY_MIN, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (memory == MAP_FAILED)
        return hw_fail(err, HW_RESOURCES,
                       "MPI needs %d MiB of memory, which the limit does not leave; see ulimit -v",
                       MEMORY_MIN >> 20);
    (void)munmap(memory, MEMORY_MIN);
    return HW_OK;
}

enum hw_status hw_mpi_check_limits(struct hw_error *err)
{
    static const char *const variables[] = {"MPI_LOCALRANKID", "OMPI_COMM_WORLD_LOCAL_RANK",
                                            "SLURM_LOCALID", NULL};
    enum hw_status status = check_open_files(err);

    if (status == HW_OK)
        status = check_shared_memory(err);
    if (status == HW_OK)
        status = check_memory(err);
    if (status != HW_OK && err && number_in(variables) > 0)
        err->text[0] = '\0';
    return status;
}

/* ---- where MPI ends the process ---- */

static struct {
    const char *program; /* NULL: exit() is not MPI's */
    bool installed;
} guard;

static void end_process(int status, void *none)
{
    (void)status;
    (void)none;
    if (!guard.program)
        return;
    hw_incomplete_file_remove();
    fprintf(stderr, "%s: MPI ended this process, for the reason above\n", guard.program);
    fflush(stderr);
    hw_host_ring_tell(HW_RESOURCES);
    _exit(HW_RESOURCES);
}

void hw_mpi_guard(const char *program)
{
    if (program && !guard.installed)
        guard.installed = on_exit(end_process, NULL) == 0;
    guard.program = program;
}
