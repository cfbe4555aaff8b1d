/*
 * What stands around MPI: a look at what it needs before it starts, and a message and a status
 * where it ends the process by itself. MPI_Init() does not return failures, and ROMIO calls
 * MPI_Abort() with status 1 where memory ends.
 */
#ifndef HOPWAVE_COMM_MPI_START_H
#define HOPWAVE_COMM_MPI_START_H

#include "lib/base/status.h"

/* The rank that the launcher gave this process, before MPI knows it; -1: it was not started by a
 * launcher, as far as the environment says. Local. */
int hw_launch_rank(void);

/* Opens /dev/null for each of standard input, output and error that is closed, so that no file
 * takes its number. Writing to standard output still fails. Local. */
void hw_standard_files_open(void);

/* Allows as many open files as the system lets this process have. Returns HW_RESOURCES, with a
 * message for one process of each node (elsewhere it is empty), where those, /dev/shm or the
 * address space are too few or too small for MPI to start. Local; before MPI starts. */
enum hw_status hw_mpi_check_limits(struct hw_error *err);

/* From now on exit() is a failure of MPI: it removes incomplete files (lib/base/incomplete_file.h),
 * prints one line and ends the process with HW_RESOURCES. Borrows program; NULL: exit() ends the
 * process as it is asked to. Local. */
void hw_mpi_guard(const char *program);

#endif
