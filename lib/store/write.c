/* Files being written: creation, datasets, data. */
#include "store/internal.h"

#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Data from this size on starts at a page of the disk. */
#define ALIGN_FROM 65536
#define ALIGNMENT 4096

/* ---- creation ---- */

/* Rank 0 makes the temporary file; all learn its name. Collective. */
static enum hw_status make_temporary(struct hw_store *store, struct hw_error *err)
{
    const struct hw_context *ctx = &store->ctx;
    enum hw_status status = HW_OK;
    int length = 0;

    if (ctx->rank == 0) {
        status = hw_target_check(store, err);
        if (status == HW_OK)
            status = hw_temporary_make(store, err);
        length = store->temporary ? (int)strlen(store->temporary) + 1 : 0;
    }
    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK)
        status = hw_mpi(MPI_Bcast(&length, 1, MPI_INT, 0, ctx->world), "MPI_Bcast", err);
    if (status == HW_OK && ctx->rank != 0)
        status = hw_alloc(&store->temporary, length, 1, "a path", err);
    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK)
        status =
            hw_mpi(MPI_Bcast(store->temporary, length, MPI_CHAR, 0, ctx->world), "MPI_Bcast", err);
    return status;
}

/* Creates the HDF5 file over the temporary one. Collective. */
static enum hw_status create_file(struct hw_store *store, struct hw_error *err)
{
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS), creation = H5Pcreate(H5P_FILE_CREATE);
    bool right = access >= 0 && creation >= 0;

    right = right && H5Pset_fapl_mpio(access, store->ctx.world, MPI_INFO_NULL) >= 0 &&
            H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110) >= 0 &&
            H5Pset_coll_metadata_write(access, true) >= 0 &&
            H5Pset_alignment(access, ALIGN_FROM, ALIGNMENT) >= 0 &&
            H5Pset_obj_track_times(creation, false) >= 0;
    enum hw_status status = hw_h5(right ? 0 : -1, HW_INTERNAL, "properties of a file", err);
    status = hw_agree(store->ctx.world, status, err);
    if (status == HW_OK) {
        store->file = H5Fcreate(store->temporary, H5F_ACC_TRUNC, creation, access);
        status = hw_h5(store->file, HW_RESOURCES, "cannot be created", err);
        if (status != HW_OK)
            hw_prefix(err, status, "%s", store->path);
    }
    if (access >= 0)
        H5Pclose(access);
    if (creation >= 0)
        H5Pclose(creation);
    return hw_agree(store->ctx.world, status, err);
}

enum hw_status hw_store_create(const struct hw_context *ctx, const char *path, enum hw_kind kind,
                               bool force, struct hw_store **store, struct hw_error *err)
{
    struct hw_store *made = NULL;

    hw_h5_quiet();
    enum hw_status status = hw_store_new(ctx, path, kind, &made, err);
    *store = NULL;
    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK) {
        made->writing = true;
        made->force = force;
        status = make_temporary(made, err);
    }
    if (status == HW_OK)
        status = create_file(made, err);
    if (status != HW_OK) {
        hw_store_close(made);
        return status;
    }
    *store = made;
    return HW_OK;
}

enum hw_status hw_store_rehearse(const struct hw_context *ctx, enum hw_kind kind,
                                 struct hw_store **store, struct hw_error *err)
{
    hw_h5_quiet();
    enum hw_status status = hw_store_new(ctx, "a rehearsal", kind, store, err);

    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK) {
        (*store)->writing = true;
        (*store)->rehearsal = true;
        return HW_OK;
    }
    hw_store_free(*store);
    *store = NULL;
    return status;
}

/* ---- datasets ---- */

enum hw_status hw_store_make_group(const struct hw_store *store, const char *path,
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

/* Makes the groups on the way to a dataset. Collective. */
static enum hw_status make_groups(const struct hw_store *store, const char *path,
                                  struct hw_error *err)
{
    enum hw_status status = HW_OK;
    char group[256];

    for (const char *slash = strchr(path + 1, '/'); slash && status == HW_OK;
         slash = strchr(slash + 1, '/')) {
        snprintf(group, sizeof group, "%.*s", (int)(slash - path), path);
        status = hw_store_make_group(store, group, err);
    }
    return status;
}

/* Creates the HDF5 dataset: contiguous, laid down at once, never filled.
 * Collective. */
static enum hw_status create_dataset(struct hw_store *store, struct hw_dataset *dataset, hid_t type,
                                     struct hw_error *err)
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
            return hw_fail(err, HW_INTERNAL, "%s: HDF5 laid down no storage", dataset->path);
        dataset->address = (hw_count)address;
    }
    return status;
}

/* Appends the dataset to the catalogue after looking at its sizes. Local. */
static enum hw_status describe_dataset(struct hw_store *store, const char *path, size_t element,
                                       hw_count rows, hw_count columns, struct hw_dataset **dataset,
                                       struct hw_error *err)
{
    hw_count bytes;

    *dataset = NULL;
    if (!store->writing || path[0] != '/' || strlen(path) >= 256)
        return hw_fail(err, HW_INTERNAL, "%s cannot be defined", path);
    if (hw_dataset_find(store, path))
        return hw_fail(err, HW_INTERNAL, "%s is defined already", path);
    if (rows < 0 || columns < 0 || __builtin_mul_overflow(rows, columns, &bytes) ||
        __builtin_mul_overflow(bytes, (hw_count)element, &bytes))
        return hw_fail(err, HW_RESOURCES, "%s is too large", path);
    enum hw_status status = hw_dataset_add(store, path, dataset, err);
    if (status == HW_OK) {
        (*dataset)->element = element;
        (*dataset)->rows = rows;
        (*dataset)->columns = columns;
    }
    return status;
}

/* Makes a described dataset in the file and sets disk space aside. status: of
 * its description on this rank. Collective. */
static enum hw_status make_dataset(struct hw_store *store, struct hw_dataset *dataset, hid_t type,
                                   enum hw_status status, struct hw_error *err)
{
    status = hw_agree(store->ctx.world, status, err);
    if (store->rehearsal)
        return status;
    if (status == HW_OK)
        status = make_groups(store, dataset->path, err);
    if (status == HW_OK)
        status = create_dataset(store, dataset, type, err);
    if (status == HW_OK && store->ctx.rank == 0)
        status = hw_temporary_reserve(store, dataset->address,
                                      hw_dataset_count(dataset) * (hw_count)dataset->element, err);
    else if (status != HW_OK)
        hw_prefix(err, status, "%s", store->path);
    return hw_agree(store->ctx.world, status, err);
}

enum hw_status hw_store_define(struct hw_store *store, const char *path, enum hw_type type,
                               hw_count count, const char *segments_path, int segments,
                               const hw_count *offsets, struct hw_error *err)
{
    struct hw_dataset *dataset;

    enum hw_status status =
        describe_dataset(store, path, hw_type_size(type), 1, count, &dataset, err);
    if (status == HW_OK) {
        dataset->type = type;
        if (segments_path)
            status =
                hw_dataset_set_offsets(dataset, segments_path, segments, offsets, HW_INTERNAL, err);
    }
    return make_dataset(store, dataset, hw_h5_file_type(type), status, err);
}

enum hw_status hw_store_define_rows(struct hw_store *store, const char *path, enum hw_type type,
                                    hw_count rows, hw_count columns, struct hw_error *err)
{
    struct hw_dataset *dataset;

    enum hw_status status =
        describe_dataset(store, path, hw_type_size(type), rows, columns, &dataset, err);
    if (status == HW_OK) {
        dataset->type = type;
        dataset->flat = false;
    }
    return make_dataset(store, dataset, hw_h5_file_type(type), status, err);
}

/* ---- data ---- */

/* Writes one piece, at an element of the dataset or of a row. */
static herr_t write_piece(const struct hw_dataset *dataset, hid_t type, hw_count row,
                          hw_count first, hw_count count, const void *values)
{
    const hsize_t flat_start[1] = {(hsize_t)first}, flat_count[1] = {(hsize_t)count};
    const hsize_t start[2] = {(hsize_t)row, (hsize_t)first}, size[2] = {1, (hsize_t)count};
    const hid_t space = H5Dget_space(dataset->id);
    const hid_t memory = H5Screate_simple(1, flat_count, NULL);
    herr_t result = -1;

    if (space >= 0 && memory >= 0 &&
        H5Sselect_hyperslab(space, H5S_SELECT_SET, dataset->flat ? flat_start : start, NULL,
                            dataset->flat ? flat_count : size, NULL) >= 0)
        result = H5Dwrite(dataset->id, type, memory, space, H5P_DEFAULT, values);
    if (memory >= 0)
        H5Sclose(memory);
    if (space >= 0)
        H5Sclose(space);
    return result;
}

/* Writes in pieces. first: from the dataset's or the row's start. */
static enum hw_status write_pieces(const struct hw_store *store, const struct hw_dataset *dataset,
                                   hid_t type, hw_count row, hw_count first, hw_count count,
                                   const void *values, struct hw_error *err)
{
    const hw_count most = HW_STORE_PIECE / (hw_count)dataset->element;
    const char *bytes = values;
    enum hw_status status = HW_OK;

    for (hw_count at = 0; at < count && status == HW_OK; at += most) {
        hw_count piece = count - at < most ? count - at : most;
        herr_t result = write_piece(dataset, type, row, first + at, piece,
                                    bytes + (size_t)at * dataset->element);
        status = hw_h5(result, HW_RESOURCES, "cannot be written", err);
        if (status != HW_OK)
            hw_prefix(err, status, "%s: %s", store->path, dataset->path);
    }
    return status;
}

enum hw_status hw_store_write(struct hw_store *store, const char *path, hw_count segment,
                              hw_count first, hw_count count, const void *values,
                              struct hw_error *err)
{
    struct hw_dataset *dataset = hw_dataset_find(store, path);

    if (!dataset || !store->writing || dataset->table)
        return hw_fail(err, HW_INTERNAL, "%s is not defined for writing", path);
    if (segment < 0 || segment >= hw_dataset_segments(dataset))
        return hw_fail(err, HW_INTERNAL, "%s has no segment %" PRId64, path, segment);
    const hw_count length = hw_segment_length(dataset, segment);
    if (first < 0 || count < 0 || first > length || count > length - first)
        return hw_fail(err, HW_INTERNAL,
                       "%s: elements %" PRId64 " and %" PRId64 " more lie outside segment %" PRId64
                       " of %" PRId64,
                       path, first, count, segment, length);
    const hw_count end = first + count;
    if (count > 0 && (first % HW_STORE_BLOCK != 0 || (end % HW_STORE_BLOCK != 0 && end != length)))
        return hw_fail(err, HW_INTERNAL,
                       "%s: elements %" PRId64 " to %" PRId64 " are not whole blocks", path, first,
                       end);
    store->digested = false;
    enum hw_status status =
        hw_dataset_hash(dataset, &store->ctx, segment, first, count, values, err);
    if (status != HW_OK || store->rehearsal)
        return status;
    if (!dataset->flat)
        return write_pieces(store, dataset, hw_h5_memory_type(dataset->type), segment, first, count,
                            values, err);
    return write_pieces(store, dataset, hw_h5_memory_type(dataset->type), 0,
                        hw_segment_first(dataset, segment) + first, count, values, err);
}

enum hw_status hw_store_write_all(struct hw_store *store, const char *path, enum hw_type type,
                                  hw_count count, const void *values, struct hw_error *err)
{
    enum hw_status status = hw_store_define(store, path, type, count, NULL, 0, NULL, err);

    if (status != HW_OK)
        return status;
    if (store->ctx.rank == 0)
        status = hw_store_write(store, path, 0, 0, count, values, err);
    return hw_agree(store->ctx.world, status, err);
}

/* ---- tables ---- */

/* The compound type of a table as it lies in the file: packed, little-endian. */
static hid_t table_type(const struct hw_column *columns, int ncolumns, size_t *size)
{
    size_t at = 0;

    *size = 0;
    for (int i = 0; i < ncolumns; i++)
        *size += hw_type_size(columns[i].type) * (size_t)columns[i].width;
    hid_t table = H5Tcreate(H5T_COMPOUND, *size);
    for (int i = 0; i < ncolumns && table >= 0; i++) {
        const hsize_t width[1] = {(hsize_t)columns[i].width};
        hid_t type = -1;
        bool right = false;
        if (columns[i].width == 1) {
            type = H5Tcopy(hw_h5_file_type(columns[i].type));
            right = type >= 0;
        } else if (columns[i].type == HW_U8) {
            type = H5Tcopy(H5T_C_S1);
            right = type >= 0 && H5Tset_size(type, (size_t)columns[i].width) >= 0 &&
                    H5Tset_strpad(type, H5T_STR_NULLPAD) >= 0;
        } else {
            type = H5Tarray_create2(hw_h5_file_type(columns[i].type), 1, width);
            right = type >= 0;
        }
        right = right && H5Tinsert(table, columns[i].name, at, type) >= 0;
        at += hw_type_size(columns[i].type) * (size_t)columns[i].width;
        if (type >= 0)
            H5Tclose(type);
        if (!right) {
            H5Tclose(table);
            table = -1;
        }
    }
    return table;
}

/* Packs structs into rows as the file has them. A string's bytes after its end
 * become zero. */
static void pack_rows(const struct hw_column *columns, int ncolumns, size_t struct_size,
                      const char *structs, hw_count rows, char *packed)
{
    for (hw_count r = 0; r < rows; r++, structs += struct_size)
        for (int i = 0; i < ncolumns; i++) {
            const size_t element = hw_type_size(columns[i].type);
            const size_t bytes = element * (size_t)columns[i].width;
            size_t used = bytes;
            if (columns[i].type == HW_U8 && columns[i].width > 1)
                used = strnlen(structs + columns[i].offset, bytes);
            memset(packed, 0, bytes);
            memcpy(packed, structs + columns[i].offset, used);
            hw_swap_if_big_endian(packed, element, columns[i].width);
            packed += bytes;
        }
}

/* Packs, hashes and writes all rows, a block at a time; rank 0. */
static enum hw_status write_rows(struct hw_store *store, struct hw_dataset *dataset, hid_t type,
                                 const struct hw_column *columns, int ncolumns, size_t struct_size,
                                 const char *structs, struct hw_error *err)
{
    const hw_count rows = dataset->columns;
    const hw_count most = rows < HW_STORE_BLOCK ? rows : HW_STORE_BLOCK;
    char *packed = NULL;

    enum hw_status status = hw_alloc(&packed, most, dataset->element, "rows of a table", err);
    for (hw_count at = 0; at < rows && status == HW_OK; at += most) {
        hw_count count = rows - at < most ? rows - at : most;
        pack_rows(columns, ncolumns, struct_size, structs + (size_t)at * struct_size, count,
                  packed);
        status = hw_dataset_hash(dataset, &store->ctx, 0, at, count, packed, err);
        if (status == HW_OK)
            status = write_pieces(store, dataset, type, 0, at, count, packed, err);
    }
    free(packed);
    return status;
}

enum hw_status hw_store_write_table(struct hw_store *store, const char *path,
                                    const struct hw_column *columns, int ncolumns,
                                    size_t struct_size, hw_count rows, const void *structs,
                                    struct hw_error *err)
{
    struct hw_dataset *dataset = NULL;
    size_t size;
    const hid_t type = table_type(columns, ncolumns, &size);

    enum hw_status status = hw_h5(type, HW_INTERNAL, path, err);
    if (status == HW_OK && strncmp(path, "/run/", 5) != 0)
        status = hw_fail(err, HW_INTERNAL, "%s: tables lie below /run", path);
    status = hw_agree(store->ctx.world, status, err);
    if (status == HW_OK)
        status = hw_mpi(MPI_Bcast(&rows, 1, HW_MPI_COUNT, 0, store->ctx.world), "MPI_Bcast", err);
    if (status == HW_OK) {
        status = describe_dataset(store, path, size, 1, rows, &dataset, err);
        if (dataset)
            dataset->table = true;
        status = make_dataset(store, dataset, type, status, err);
    }
    if (status == HW_OK && store->ctx.rank == 0)
        status = write_rows(store, dataset, type, columns, ncolumns, struct_size, structs, err);
    if (type >= 0)
        H5Tclose(type);
    return hw_agree(store->ctx.world, status, err);
}
