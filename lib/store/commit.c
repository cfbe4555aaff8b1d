/* The end of a file being written: completed and published, or dropped. */
#include "store/internal.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- digests ---- */

/* Makes the attributes those of rank 0 and computes all digests. Collective. */
static enum hw_status finish_digests(struct hw_store *store, struct hw_error *err)
{
    enum hw_status status = hw_catalogue_share(store, false, err);

    for (int i = 0; i < store->datasets && status == HW_OK && !store->digested; i++) {
        status = hw_dataset_digest(store, &store->dataset[i], store->dataset[i].digest, err);
        if (status != HW_OK)
            hw_prefix(err, status, "%s", store->path);
    }
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

    if (status == HW_OK)
        snprintf(out, HW_DIGEST_SIZE, "%s", store->digest);
    return status;
}

/* ---- attributes ---- */

/* Writes a scalar attribute of an HDF5 object. Collective. */
static enum hw_status write_scalar(hid_t object, const char *name, hid_t file_type,
                                   hid_t memory_type, const void *value, struct hw_error *err)
{
    const hid_t space = H5Screate(H5S_SCALAR);
    hid_t attribute = -1;
    herr_t result = -1;

    if (space >= 0)
        attribute = H5Acreate2(object, name, file_type, space, H5P_DEFAULT, H5P_DEFAULT);
    if (attribute >= 0)
        result = H5Awrite(attribute, memory_type, value);
    enum hw_status status = hw_h5(result, HW_RESOURCES, name, err);
    if (attribute >= 0)
        status = hw_h5(H5Aclose(attribute) < 0 ? -1 : result, HW_RESOURCES, name, err);
    if (space >= 0)
        H5Sclose(space);
    return status;
}

static enum hw_status write_i64(hid_t object, const char *name, int64_t value, struct hw_error *err)
{
    return write_scalar(object, name, H5T_STD_I64LE, H5T_NATIVE_INT64, &value, err);
}

/* A string of fixed length: unlike a variable one it lies in the checksummed
 * object header. */
static enum hw_status write_text(hid_t object, const char *name, const char *value,
                                 struct hw_error *err)
{
    const size_t length = strlen(value);
    const hid_t type = H5Tcopy(H5T_C_S1);
    enum hw_status status = HW_OK;

    if (type < 0 || H5Tset_size(type, length > 0 ? length : 1) < 0 ||
        H5Tset_strpad(type, H5T_STR_NULLPAD) < 0 || H5Tset_cset(type, H5T_CSET_UTF8) < 0)
        status = hw_h5(-1, HW_INTERNAL, name, err);
    else
        status = write_scalar(object, name, type, type, value, err);
    if (type >= 0)
        H5Tclose(type);
    return status;
}

/* Writes all attributes of one place, into its group. Collective. */
static enum hw_status write_place(const struct hw_store *store, hid_t group, enum hw_place place,
                                  struct hw_error *err)
{
    enum hw_status status = HW_OK;

    for (int i = 0; i < store->attributes && status == HW_OK; i++) {
        const struct hw_attribute *attribute = &store->attribute[i];
        if (attribute->place != place)
            continue;
        if (attribute->type == HW_ATTRIBUTE_I64)
            status = write_i64(group, attribute->name, attribute->i64, err);
        else if (attribute->type == HW_ATTRIBUTE_F64)
            status = write_scalar(group, attribute->name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE,
                                  &attribute->f64, err);
        else
            status = write_text(group, attribute->name, attribute->text, err);
    }
    return status;
}

static enum hw_status write_group(const struct hw_store *store, const char *path,
                                  enum hw_place place, struct hw_error *err)
{
    enum hw_status status = hw_store_make_group(store, path, err);

    if (status != HW_OK)
        return status;
    const hid_t group = H5Gopen2(store->file, path, H5P_DEFAULT);
    status = hw_h5(group, HW_RESOURCES, path, err);
    if (status == HW_OK)
        status = write_place(store, group, place, err);
    if (group >= 0 && H5Gclose(group) < 0 && status == HW_OK)
        status = hw_h5(-1, HW_RESOURCES, path, err);
    return status;
}

/* Writes all attributes but `complete`. Collective. */
static enum hw_status write_attributes(const struct hw_store *store, struct hw_error *err)
{
    enum hw_status status = write_text(store->file, "format", hw_kind_format(store->kind), err);

    if (status == HW_OK)
        status = write_i64(store->file, "format_version", hw_schema_version(store->schema), err);
    if (status == HW_OK && store->digest[0])
        status = write_text(store->file, "digest", store->digest, err);
    if (status == HW_OK)
        status = write_place(store, store->file, HW_AT_ROOT, err);
    if (status == HW_OK)
        status = write_group(store, "/parameters", HW_AT_PARAMETERS, err);
    if (status == HW_OK)
        status = write_group(store, "/run", HW_AT_RUN, err);
    for (int i = 0; i < store->datasets && status == HW_OK; i++) {
        const struct hw_dataset *dataset = &store->dataset[i];
        status = write_text(dataset->id, "digest", dataset->digest, err);
        if (status == HW_OK && dataset->segments)
            status = write_text(dataset->id, "segments", dataset->segments, err);
    }
    return status;
}

/* ---- closing ---- */

static enum hw_status close_datasets(struct hw_store *store, struct hw_error *err)
{
    enum hw_status status = HW_OK;

    for (int i = 0; i < store->datasets; i++) {
        struct hw_dataset *dataset = &store->dataset[i];
        if (dataset->id >= 0 && H5Dclose(dataset->id) < 0)
            status = hw_h5(-1, HW_RESOURCES, dataset->path, err);
        dataset->id = -1;
    }
    return status;
}

static enum hw_status close_file(struct hw_store *store, struct hw_error *err)
{
    herr_t result = store->file >= 0 ? H5Fclose(store->file) : 0;

    store->file = -1;
    return hw_h5(result, HW_RESOURCES, "cannot be closed", err);
}

/* Writes what is left, data first, then the word that it is all there. Every
 * step is agreed on, so that no rank waits alone in the next. Collective. */
static enum hw_status complete_file(struct hw_store *store, struct hw_error *err)
{
    const MPI_Comm world = store->ctx.world;

    enum hw_status status = hw_agree(world, write_attributes(store, err), err);
    if (status == HW_OK)
        status = hw_agree(world, close_datasets(store, err), err);
    if (status == HW_OK)
        status = hw_agree(
            world,
            hw_h5(H5Fflush(store->file, H5F_SCOPE_GLOBAL), HW_RESOURCES, "cannot be written", err),
            err);
    if (status == HW_OK)
        status = hw_agree(world, write_i64(store->file, "complete", 1, err), err);
    if (status == HW_OK)
        status = hw_agree(world, close_file(store, err), err);
    if (status != HW_OK)
        hw_prefix(err, status, "%s", store->path);
    return status;
}

/* Drops the file. Its data go first, so that HDF5 has room to close it even on
 * a full disk. Collective. */
static void drop(struct hw_store *store)
{
    struct hw_error ignored;

    if (store->file >= 0) {
        if (store->ctx.rank == 0 && ftruncate(store->temporary_fd, 0) != 0)
            hw_warn(&store->ctx, "%s: cannot be cut to size", store->temporary);
        (void)MPI_Barrier(store->ctx.world);
    }
    (void)close_datasets(store, &ignored);
    (void)close_file(store, &ignored);
    if (store->ctx.rank == 0)
        hw_temporary_drop(store);
}

enum hw_status hw_store_commit(struct hw_store *store, struct hw_error *err)
{
    enum hw_status status = store->rehearsal
                                ? hw_fail(err, HW_INTERNAL, "%s cannot be kept", store->path)
                                : hw_run_finish(store, err);

    if (status == HW_OK)
        status = finish_digests(store, err);
    if (status == HW_OK) {
        status = hw_schema_check(store, HW_INTERNAL, err);
        if (status != HW_OK)
            hw_prefix(err, status, "%s: does not fit its schema", store->path);
        status = hw_agree(store->ctx.world, status, err);
    }
    if (status == HW_OK)
        status = complete_file(store, err);
    if (status == HW_OK) {
        if (store->ctx.rank == 0)
            status = hw_temporary_publish(store, err);
        status = hw_agree(store->ctx.world, status, err);
    }
    if (status != HW_OK)
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
