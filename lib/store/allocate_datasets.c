/*
 * The HDF5 side of a file being written, on rank 0 alone: creates the file, lays out its datasets,
 * and writes the attributes at the end. HDF5 allocates datasets at once and never fills them, so
 * that ranks can write their data at the addresses that H5Dget_offset() states.
 *
 * A file that a later process may go on with (PATH.partial) holds data that H5Fcreate() would
 * erase. Its metadata are made in a sparse file of their own and copied between the data at the
 * end; the same definitions give the same addresses.
 *
 * The caller puts the file's name before an error message.
 */
#include "lib/store/store_internal.h"

#include "lib/base/incomplete_file.h"
#include "lib/base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Data from this size on starts at a page of the disk. */
#define ALIGN_FROM 65536
#define ALIGNMENT 4096

/* Copies bytes [from, to) of one file into another. */
static enum hw_status copy_range(int in, int out, hw_count from, hw_count to, struct hw_error *err)
{
    char bytes[16384];

    while (from < to) {
        const size_t max = to - from < (hw_count)sizeof bytes ? (size_t)(to - from) : sizeof bytes;
        const ssize_t got = pread(in, bytes, max, from);
        if (got <= 0)
            return hw_fail(err, HW_RESOURCES, "its metadata cannot be read back");
        const ssize_t put = pwrite(out, bytes, (size_t)got, from);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return hw_fail(err, HW_RESOURCES, "cannot be written: %s", strerror(errno));
        from += put;
    }
    return HW_OK;
}

enum hw_status hw_allocate_file(struct hw_store *store, struct hw_error *err)
{
    const struct hw_temporary *temporary = &store->temporary;
    const char *path = temporary->layout ? temporary->layout : temporary->path;
    const hid_t access = hw_h5_access();
    const hid_t creation = H5Pcreate(H5P_FILE_CREATE);
    const bool right = access >= 0 && creation >= 0 &&
                       H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110) >= 0 &&
                       H5Pset_alignment(access, ALIGN_FROM, ALIGNMENT) >= 0 &&
                       H5Pset_obj_track_times(creation, false) >= 0;

    enum hw_status status = hw_h5(right ? 0 : -1, HW_INTERNAL, "properties of a file", err);
    if (status == HW_OK) {
        /* The file exists, empty and locked by this process. */
        store->file = H5Fcreate(path, H5F_ACC_TRUNC, creation, access);
        status = hw_h5(store->file, HW_RESOURCES, "cannot be created", err);
    }
    if (temporary->layout) { /* both have it open: nobody needs to remove it later */
        (void)unlink(temporary->layout);
        hw_incomplete_file_forget(temporary->layout);
    }
    if (access >= 0)
        H5Pclose(access);
    if (creation >= 0)
        H5Pclose(creation);
    return status;
}

/* ---- datasets ---- */

/* Makes the group at `path` if there is none. */
static enum hw_status make_group(const struct hw_store *store, const char *path,
                                 struct hw_error *err)
{
    const htri_t exists = H5Lexists(store->file, path, H5P_DEFAULT);

    if (exists != 0)
        return hw_h5(exists, HW_RESOURCES, path, err);
    const hid_t creation = H5Pcreate(H5P_GROUP_CREATE);
    hid_t group = -1;
    if (creation >= 0 && H5Pset_obj_track_times(creation, false) >= 0)
        group = H5Gcreate2(store->file, path, H5P_DEFAULT, creation, H5P_DEFAULT);
    enum hw_status status = hw_h5(group, HW_RESOURCES, path, err);
    if (group >= 0)
        status = hw_h5(H5Gclose(group), HW_RESOURCES, path, err);
    if (creation >= 0)
        H5Pclose(creation);
    return status;
}

/* Makes the groups on the way to a dataset. */
static enum hw_status make_groups(const struct hw_store *store, const char *path,
                                  struct hw_error *err)
{
    enum hw_status status = HW_OK;
    char group[256];

    for (const char *slash = strchr(path + 1, '/'); slash && status == HW_OK;
         slash = strchr(slash + 1, '/')) {
        snprintf(group, sizeof group, "%.*s", (int)(slash - path), path);
        status = make_group(store, group, err);
    }
    return status;
}

/* Creates the HDF5 dataset: contiguous, allocated at once, never filled. */
static enum hw_status create_dataset(const struct hw_store *store, struct hw_dataset *dataset,
                                     hid_t type, struct hw_error *err)
{
    const hsize_t flat[1] = {(hsize_t)dataset->columns};
    const hsize_t square[2] = {(hsize_t)dataset->rows, (hsize_t)dataset->columns};
    const hid_t space =
        H5Screate_simple(dataset->flat ? 1 : 2, dataset->flat ? flat : square, NULL);
    const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);

    if (space >= 0 && creation >= 0 && H5Pset_layout(creation, H5D_CONTIGUOUS) >= 0 &&
        H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY) >= 0 &&
        H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER) >= 0 &&
        H5Pset_obj_track_times(creation, false) >= 0)
        dataset->id =
            H5Dcreate2(store->file, dataset->path, type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    enum hw_status status = hw_h5(dataset->id, HW_RESOURCES, dataset->path, err);
    if (creation >= 0)
        H5Pclose(creation);
    if (space >= 0)
        H5Sclose(space);
    if (status == HW_OK && hw_dataset_count(dataset) > 0) {
        haddr_t address = H5Dget_offset(dataset->id);
        if (address == HADDR_UNDEF)
            return hw_fail(err, HW_INTERNAL, "%s: HDF5 allocated no storage", dataset->path);
        dataset->address = (hw_count)address;
    }
    return status;
}

enum hw_status hw_allocate_dataset(struct hw_store *store, struct hw_dataset *dataset, hid_t type,
                                   struct hw_error *err)
{
    HW_TRY(make_groups(store, dataset->path, err));
    return create_dataset(store, dataset, type, err);
}

/* ---- attributes ---- */

/* Writes a scalar attribute of an HDF5 object. */
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

/* Writes all attributes of one place, into its group. */
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
    enum hw_status status = make_group(store, path, err);

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

/* Writes all attributes, `complete` last. */
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
    if (status == HW_OK)
        status = write_i64(store->file, "complete", 1, err);
    return status;
}

/* ---- closing ---- */

static enum hw_status close_all(struct hw_store *store, struct hw_error *err)
{
    herr_t result = 0;

    for (int i = 0; i < store->datasets; i++) {
        struct hw_dataset *dataset = &store->dataset[i];
        if (dataset->id >= 0 && H5Dclose(dataset->id) < 0)
            result = -1;
        dataset->id = -1;
    }
    /* Where it fails to write, HDF5 1.10 keeps the file open and crashes if it is closed again. */
    if (store->file >= 0 && H5Fclose(store->file) < 0)
        result = -1;
    store->file = -1;
    return hw_h5(result, HW_RESOURCES, "cannot be closed", err);
}

static int by_address(const void *a, const void *b)
{
    const struct hw_dataset *const *x = a, *const *y = b;

    return ((*x)->address > (*y)->address) - ((*x)->address < (*y)->address);
}

/* Copies the layout's bytes between the datasets into the partial file, and gives that the
 * layout's length. */
static enum hw_status copy_metadata(const struct hw_store *store, struct hw_error *err)
{
    const int in = store->temporary.layout_fd, out = store->temporary.fd;
    const struct hw_dataset **order = NULL;
    struct stat about;
    hw_count at = 0;

    if (fstat(in, &about) != 0)
        return hw_fail(err, HW_RESOURCES, "its layout cannot be examined: %s", strerror(errno));
    enum hw_status status = hw_alloc(&order, store->datasets + 1, sizeof *order, "order", err);
    if (status != HW_OK)
        return status;
    for (int i = 0; i < store->datasets; i++)
        order[i] = &store->dataset[i];
    qsort(order, (size_t)store->datasets, sizeof *order, by_address);
    for (int i = 0; i < store->datasets && status == HW_OK; i++)
        if (order[i]->address >= 0) {
            status = copy_range(in, out, at, order[i]->address, err);
            at = order[i]->address + hw_dataset_count(order[i]) * (hw_count)order[i]->element;
        }
    free(order);
    if (status == HW_OK)
        status = copy_range(in, out, at, about.st_size, err);
    if (status == HW_OK && ftruncate(out, about.st_size) != 0)
        status = hw_fail(err, HW_RESOURCES, "cannot be cut to size: %s", strerror(errno));
    return status;
}

enum hw_status hw_allocate_rest(struct hw_store *store, struct hw_error *err)
{
    HW_TRY(write_attributes(store, err));
    HW_TRY(close_all(store, err));
    return store->temporary.layout ? copy_metadata(store, err) : HW_OK;
}

void hw_allocate_drop(struct hw_store *store)
{
    struct hw_error ignored;

    (void)close_all(store, &ignored);
}
