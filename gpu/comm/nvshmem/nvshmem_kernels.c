/* Kernels that put to other nodes by NVSHMEM (gpu/comm/nvshmem/nvshmem_kernels.h). */
#include "gpu/comm/nvshmem/nvshmem_kernels.h"

#include "config.h"
#include "gpu/comm/nvshmem/nvshmem_memory.h"
#include "gpu/device/device.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>

/* ---- the image ---- */

#if defined(HOPWAVE_EMULATED)

static bool load_image(struct hw_nvshmem *nvshmem)
{
    return nvshmem->api.init_image && nvshmem->api.init_image(NULL) == 0;
}

static bool is_built(void)
{
    return true;
}

enum hw_status hw_nvshmem_kernel(const struct hw_nvshmem *nvshmem, const char *name,
                                 const void **kernel, struct hw_error *err)
{
    (void)nvshmem;
    *kernel = NULL;
    return hw_fail(err, HW_INTERNAL, "kernel %s is not in an image", name);
}

void hw_nvshmem_kernels_close(struct hw_nvshmem *nvshmem)
{
    (void)nvshmem;
}

#elif defined(HW_NVSHMEM_DEVICE)

/* gpu/local.mk links it. */
extern const unsigned char hw_nvshmem_image[];

static bool load_image(struct hw_nvshmem *nvshmem)
{
    cudaLibrary_t image = NULL;

    if (!nvshmem->api.init_image || !nvshmem->api.end_image ||
        cudaLibraryLoadData(&image, hw_nvshmem_image, NULL, NULL, 0, NULL, NULL, 0) !=
            cudaSuccess) {
        (void)cudaGetLastError();
        return false;
    }
    nvshmem->kernels.image = image;
    nvshmem->kernels.started = nvshmem->api.init_image(image) == 0;
    return nvshmem->kernels.started;
}

static bool is_built(void)
{
    return true;
}

enum hw_status hw_nvshmem_kernel(const struct hw_nvshmem *nvshmem, const char *name,
                                 const void **kernel, struct hw_error *err)
{
    cudaKernel_t found = NULL;
    const enum hw_status status =
        hw_cuda((int)cudaLibraryGetKernel(&found, nvshmem->kernels.image, name),
                "cudaLibraryGetKernel", err);

    *kernel = (const void *)found;
    return status;
}

void hw_nvshmem_kernels_close(struct hw_nvshmem *nvshmem)
{
    struct hw_nvshmem_kernels *kernels = &nvshmem->kernels;

    if (!kernels->image)
        return;
    if (kernels->started)
        (void)nvshmem->api.end_image(kernels->image);
    (void)cudaLibraryUnload(kernels->image);
    kernels->image = NULL;
}

#else

static bool load_image(struct hw_nvshmem *nvshmem)
{
    (void)nvshmem;
    return false;
}

static bool is_built(void)
{
    return false;
}

enum hw_status hw_nvshmem_kernel(const struct hw_nvshmem *nvshmem, const char *name,
                                 const void **kernel, struct hw_error *err)
{
    (void)nvshmem;
    *kernel = NULL;
    return hw_fail(err, HW_INTERNAL, "the build has no kernel %s", name);
}

void hw_nvshmem_kernels_close(struct hw_nvshmem *nvshmem)
{
    (void)nvshmem;
}

#endif

/* ---- whether kernels can put ---- */

/* By severity: all ranks report the highest. */
enum reason { NONE, ASKED, NO_ADDRESS, UNEVEN, NO_IMAGE, NOT_BUILT, REASONS };

static bool is_even(const struct hw_nodes *nodes)
{
    for (int n = 1; n < nodes->count; n++)
        if (nodes->first[n + 1] - nodes->first[n] != nodes->first[1])
            return false;
    return true;
}

/* Local. */
static enum reason find_reason(struct hw_nvshmem *nvshmem, const struct hw_nodes *nodes,
                               const void *symmetric)
{
    const char *puts = getenv("HOPWAVE_NVSHMEM_PUTS");
    const int node = nodes->node[nvshmem->ctx->rank];

    if (!is_built())
        return NOT_BUILT;
    if (puts && strcmp(puts, "host") == 0)
        return ASKED;
    if (!is_even(nodes))
        return UNEVEN;
    for (int k = nodes->first[node]; k < nodes->first[node + 1]; k++)
        if (!hw_nvshmem_pointer(nvshmem, symmetric, nodes->by_node[k]))
            return NO_ADDRESS;
    return load_image(nvshmem) ? NONE : NO_IMAGE;
}

enum hw_status hw_nvshmem_kernels_open(struct hw_nvshmem *nvshmem, const struct hw_nodes *nodes,
                                       struct hw_error *err)
{
    static const char *const reasons[REASONS] = {
        [ASKED] = "HOPWAVE_NVSHMEM_PUTS is host",
        [NO_ADDRESS] = "GPUs of a node do not address each other's memory",
        [UNEVEN] = "nodes have different numbers of GPUs",
        [NO_IMAGE] = "NVSHMEM does not take this build's kernels",
        [NOT_BUILT] = "this build has no NVSHMEM for kernels (configure --with-nvshmem=DIR)"};
    void *symmetric = NULL;
    int reason = NONE;

    HW_TRY(hw_nvshmem_allocate(nvshmem, 256, &symmetric, err));
    reason = (int)find_reason(nvshmem, nodes, symmetric);
    hw_nvshmem_free(nvshmem, symmetric);
    HW_TRY(hw_mpi(MPI_Allreduce(MPI_IN_PLACE, &reason, 1, MPI_INT, MPI_MAX, nvshmem->ctx->world),
                  "MPI_Allreduce", err));
    nvshmem->kernels.why_not = reasons[reason];
    return HW_OK;
}
