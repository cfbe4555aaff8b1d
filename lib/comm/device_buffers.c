#include "lib/comm/device_buffers.h"

#include <dlfcn.h>
#include <string.h>

bool hw_mpi_takes_device_pointers(void)
{
    int (*query)(void) = NULL;
    void *found = dlsym(RTLD_DEFAULT, "MPIX_Query_cuda_support");

    memcpy(&query, &found, sizeof query);
    return query && query() == 1;
}

enum hw_status hw_mpi_require_device_pointers(struct hw_error *err)
{
    if (hw_mpi_takes_device_pointers())
        return HW_OK;
    return hw_fail(err, HW_RESOURCES,
                   "--mpi-buffers device: this MPI takes no pointers to memory of GPUs, or does "
                   "not say so; use auto or host");
}
