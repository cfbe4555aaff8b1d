/* Completes a file being written: digests, sync, rename; or drops it. */
#include "lib/store/store_internal.h"

#include <stdio.h>

/* ---- digests ---- */

/* Broadcasts rank 0's attributes and computes all digests. Collective. */
static enum hw_status finish_digests(struct hw_store *store, struct hw_error *err)
{
    enum hw_status status = hw_catalogue_broadcast(store, false, err);

    for (int i = 0; i < store->datasets && status == HW_OK && !store->digested; i++)
        status = hw_dataset_digest(store, &store->dataset[i], store->dataset[i].digest, err);
    if (status != HW_OK)
        return status;
    if (!hw_schema_declared(store))
        status = hw_catalogue_digest(store, store->digest, err);
    store->digested = status == HW_OK;
    return hw_agree(store->ctx.world, status, err);
}

enum hw_status hw_store_digest(struct hw_store *store, char *out, struct hw_error *err)
{
    enum hw_status status = store->writing ? finish_digests(store, err) : HW_OK;

    if (status != HW_OK)
        return hw_store_prefix(store, status, err);
    snprintf(out, HW_DIGEST_SIZE, "%s", store->digest);
    return HW_OK;
}

/* ---- closing ---- */

/* Syncs and closes the data. Collective. */
static enum hw_status close_data(struct hw_store *store, struct hw_error *err)
{
    enum hw_status status = hw_mpi_io(MPI_File_sync(store->data), "cannot be synced", err);

    status = hw_agree(store->ctx.world, status, err);
    if (status == HW_OK)
        status = hw_mpi_io(MPI_File_close(&store->data), "cannot be closed", err);
    return hw_agree(store->ctx.world, status, err);
}

/* Closes the file; removes the temporary file if it has not been renamed. Collective. */
static void drop(struct hw_store *store)
{
    if (store->data != MPI_FILE_NULL)
        (void)MPI_File_close(&store->data);
    if (store->ctx.rank != 0)
        return;
    hw_allocate_drop(store);
    hw_temporary_drop(store);
}

enum hw_status hw_store_commit(struct hw_store *store, struct hw_error *err)
{
    enum hw_status status =
        store->dry_run ? hw_fail(err, HW_INTERNAL, "cannot be kept") : hw_run_finish(store, err);

    if (status == HW_OK)
        status = finish_digests(store, err);
    if (status == HW_OK) {
        status = hw_schema_check(store, HW_INTERNAL, err);
        if (status != HW_OK)
            hw_prefix(err, status, "does not fit its schema");
        status = hw_agree(store->ctx.world, status, err);
    }
    if (status == HW_OK)
        status = close_data(store, err);
    if (status == HW_OK) {
        if (store->ctx.rank == 0)
            status = hw_allocate_rest(store, err);
        if (status == HW_OK && store->ctx.rank == 0)
            status = hw_temporary_publish(store, err);
        status = hw_agree(store->ctx.world, status, err);
    }
    if (status != HW_OK)
        hw_store_prefix(store, status, err);
    drop(store);
    hw_store_free(store);
    return status;
}

void hw_store_close(struct hw_store *store)
{
    if (!store)
        return;
    if (store->writing)
        drop(store);
    hw_store_free(store);
}
