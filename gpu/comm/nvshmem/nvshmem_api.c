/* Loading of NVSHMEM's host library (gpu/comm/nvshmem/nvshmem_api.h). */
#include "gpu/comm/nvshmem/nvshmem_api.h"

#include "config.h"

#include <cuda_runtime_api.h>
#include <string.h>
#ifdef HOPWAVE_EMULATED
#include "gpu/emulated/nvshmem.h"
#else
#include <dlfcn.h>
#endif

_Static_assert(sizeof(struct hw_nvshmem_id) == 128, "as nvshmemx_uniqueid_t");
_Static_assert(sizeof(struct hw_nvshmem_init) == 144, "as nvshmemx_init_attr_t");

/* Local. */
static enum hw_status check_version(const struct hw_nvshmem_api *api, struct hw_error *err)
{
    int major = 0, minor = 0, patch = 0;

    api->version(&major, &minor, &patch);
    return major == HW_NVSHMEM_MAJOR
               ? HW_OK
               : hw_fail(err, HW_RESOURCES,
                         "--transport nvshmem: NVSHMEM %d.%d.%d is here, and version %d is needed",
                         major, minor, patch, HW_NVSHMEM_MAJOR);
}

#ifdef HOPWAVE_EMULATED

enum hw_status hw_nvshmem_load(struct hw_nvshmem_api *api, struct hw_error *err)
{
    if (!hw_emulated_nvshmem(api))
        return hw_fail(err, HW_RESOURCES, "--transport nvshmem: there is no NVSHMEM here");
    return check_version(api, err);
}

#else

/* Of --with-nvshmem, then where the linker looks. The name without a version comes last: if it is
 * there, its version is reported. */
static void *open_library(void)
{
    static const char *const names[] = {
#ifdef HW_NVSHMEM_DIR
        HW_NVSHMEM_DIR "/lib/libnvshmem_host.so.3",
#endif
        "libnvshmem_host.so.3", "libnvshmem_host.so"};
    void *library = NULL;

    for (size_t n = 0; n < sizeof names / sizeof *names && !library; n++)
        library = dlopen(names[n], RTLD_NOW | RTLD_LOCAL);
    return library;
}

enum hw_status hw_nvshmem_load(struct hw_nvshmem_api *api, struct hw_error *err)
{
    struct {
        void *to;
        const char *name;
    } const functions[] = {{&api->get_id, "nvshmemx_get_uniqueid"},
                           {&api->set_id, "nvshmemx_set_attr_uniqueid_args"},
                           {&api->version, "nvshmemx_vendor_get_version_info"},
                           {&api->init, "nvshmemx_hostlib_init_attr"},
                           {&api->finalize, "nvshmemx_hostlib_finalize"},
                           {&api->allocate, "nvshmem_malloc"},
                           {&api->free, "nvshmem_free"},
                           {&api->pointer, "nvshmem_ptr"},
                           {&api->put_signal, "nvshmemx_putmem_signal_nbi_on_stream"},
                           {&api->signal, "nvshmemx_signal_op_on_stream"},
                           {&api->wait, "nvshmemx_signal_wait_until_on_stream"},
                           {&api->quiet, "nvshmemx_quiet_on_stream"}};
    void *library = open_library();

    if (!library)
        return hw_fail(err, HW_RESOURCES,
                       "--transport nvshmem: NVSHMEM's library is not found (%s); set "
                       "LD_LIBRARY_PATH or build with --with-nvshmem=DIR, or take peer within a "
                       "node, nccl or mpi between nodes, or auto",
                       dlerror());
    for (size_t f = 0; f < sizeof functions / sizeof *functions; f++) {
        void *found = dlsym(library, functions[f].name);
        if (!found)
            return hw_fail(err, HW_RESOURCES,
                           "--transport nvshmem: the library has no %s; NVSHMEM %d is needed",
                           functions[f].name, HW_NVSHMEM_MAJOR);
        memcpy(functions[f].to, &found, sizeof found);
    }
    void *init = dlsym(library, "nvshmemx_culibrary_init");
    void *end = dlsym(library, "nvshmemx_culibrary_finalize");
    memcpy(&api->init_image, &init, sizeof init);
    memcpy(&api->end_image, &end, sizeof end);
    return check_version(api, err);
}

#endif
