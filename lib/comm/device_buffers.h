/* Whether MPI accepts pointers to device memory. */
#ifndef HOPWAVE_COMM_DEVICE_BUFFERS_H
#define HOPWAVE_COMM_DEVICE_BUFFERS_H

#include "lib/base/status.h"

#include <stdbool.h>

/*
 * Whether this MPI says that it accepts pointers to device memory. It is asked at run time
 * (the query function that MPICH, Open MPI and their derivatives share), not at build time, since
 * another library of the same ABI may be loaded. The same on all ranks of a run. Local.
 */
bool hw_mpi_takes_device_pointers(void);

/* HW_RESOURCES, with a message that names the option, where it does not. Local. */
enum hw_status hw_mpi_require_device_pointers(struct hw_error *err);

#endif
