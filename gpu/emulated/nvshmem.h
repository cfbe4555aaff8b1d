/*
 * NVSHMEM between emulated devices of one machine (gpu/emulated/nvshmem.cc), behind the functions
 * that programs load from its library.
 */
#ifndef HOPWAVE_GPU_EMULATED_NVSHMEM_H
#define HOPWAVE_GPU_EMULATED_NVSHMEM_H

#include "gpu/comm/nvshmem/nvshmem_api.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Fills in the functions. Returns false where HW_EMULATED_NVSHMEM=0 hides the library. Local. */
bool hw_emulated_nvshmem(struct hw_nvshmem_api *api);

/* From the first call on, a source that changed before quiet() does not end the process. Returns
 * how many did. Local. */
long hw_emulated_nvshmem_changed_sources(void);

#ifdef __cplusplus
}
#endif

#endif
