/* Files being written: creation, datasets, data. HDF5 is rank 0's; data go
 * through MPI-IO. */
#include "lib/store/store_internal.h"

#include "lib/base/incomplete_file.h"
#include "lib/base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- creation ---- */

/* Rank 0 makes the temporary file and the HDF5 file in it. */
static enum hw_status make_temporary(struct hw_store *store, struct hw_error *err)
{
    HW_TRY(hw_incomplete_file_check(store->path, store->force, err));
    HW_TRY(hw_temporary_make(store, err));
    return hw_allocate_file(store, err);
}

/*
 * Opens the temporary file for MPI-IO. ROMIO takes what stands before a colon in a name for the
 * kind of the file system, and may open the file of the rest of the name; each rank then names the
 * file by a descriptor. Collective.
 */
static enum hw_status open_data(struct hw_store *store, struct hw_error *err)
{
    const char *path = store->temporary.path;
    enum hw_status status = HW_OK;
    char by_descriptor[64];
    int fd = -1;

    if (strchr(path, ':')) {
        fd = open(path, O_RDWR | O_CLOEXEC);
        if (fd < 0)
            status = hw_fail(err, HW_RESOURCES, "cannot be opened by rank %d: %s", store->ctx.rank,
                             strerror(errno));
        snprintf(by_descriptor, sizeof by_descriptor, "/proc/self/fd/%d", fd);
        path = by_descriptor;
    }
    status = hw_agree(store->ctx.world, status, err);
    if (status == HW_OK)
        status = hw_mpi_io(
            MPI_File_open(store->ctx.world, path, MPI_MODE_RDWR, store->hints, &store->data),
            "cannot be opened by all ranks", err);
    if (fd >= 0)
        close(fd);
    return status;
}

/* Broadcasts the temporary file's name; all ranks open it. Collective. */
static enum hw_status open_temporary(struct hw_store *store, struct hw_error *err)
{
    const struct hw_context *ctx = &store->ctx;
    int length = ctx->rank == 0 ? (int)strlen(store->temporary.path) + 1 : 0;

    enum hw_status status = hw_mpi(MPI_Bcast(&length, 1, MPI_INT, 0, ctx->world), "MPI_Bcast", err);
    if (status == HW_OK && ctx->rank != 0)
        status = hw_alloc(&store->temporary.path, length, 1, "a path", err);
    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK)
        status = hw_mpi(MPI_Bcast(store->temporary.path, length, MPI_CHAR, 0, ctx->world),
                        "MPI_Bcast", err);
    if (status == HW_OK && !store->temporary.partial)
        hw_incomplete_file_add(store->temporary.path);
    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK)
        status = hw_agree(ctx->world, open_data(store, err), err);
    /* Closing is collective: it would hang if only some ranks have the file open. */
    if (status != HW_OK)
        store->data = MPI_FILE_NULL;
    return status;
}

/* The common part of both functions that create a file. Collective. */
static enum hw_status create(const struct hw_context *ctx, const char *path, enum hw_kind kind,
                             bool force, bool partial, struct hw_store **store,
                             struct hw_error *err)
{
    struct hw_store *made = NULL;

    hw_h5_quiet();
    *store = NULL;
    enum hw_status status = hw_store_new(ctx, path, kind, &made, err);
    if (status == HW_OK) {
        made->writing = true;
        made->force = force;
        made->temporary.partial = partial;
    }
    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK)
        status = hw_io_hints(made, err);
    if (status == HW_OK) {
        if (ctx->rank == 0)
            status = make_temporary(made, err);
        status = hw_agree(ctx->world, status, err);
    }
    if (status == HW_OK)
        status = open_temporary(made, err);
    if (status != HW_OK) {
        hw_store_close(made);
        return hw_prefix(err, status, "%s", path);
    }
    *store = made;
    return HW_OK;
}

enum hw_status hw_store_create(const struct hw_context *ctx, const char *path, enum hw_kind kind,
                               bool force, struct hw_store **store, struct hw_error *err)
{
    return create(ctx, path, kind, force, false, store, err);
}

enum hw_status hw_store_create_partial(const struct hw_context *ctx, const char *path,
                                       enum hw_kind kind, bool force, struct hw_store **store,
                                       bool *found, struct hw_error *err)
{
    enum hw_status status = create(ctx, path, kind, force, true, store, err);

    *found = false;
    if (status != HW_OK)
        return status;
    int there = (*store)->temporary.found;
    status = hw_mpi(MPI_Bcast(&there, 1, MPI_INT, 0, ctx->world), "MPI_Bcast", err);
    *found = there != 0;
    if (status == HW_OK && !*found)
        hw_incomplete_file_add((*store)->temporary.path);
    return status;
}

void hw_store_keep(struct hw_store *store, bool keep)
{
    store->temporary.keep = keep;
    if (keep)
        hw_incomplete_file_forget(store->temporary.path);
    else
        hw_incomplete_file_add(store->temporary.path);
}

enum hw_status hw_store_flush(struct hw_store *store, struct hw_error *err)
{
    enum hw_status status = hw_mpi_io(MPI_File_sync(store->data), "cannot be synced", err);

    if (status != HW_OK)
        hw_store_prefix(store, status, err);
    return hw_agree(store->ctx.world, status, err);
}

enum hw_status hw_store_dry_run(const struct hw_context *ctx, enum hw_kind kind,
                                struct hw_store **store, struct hw_error *err)
{
    hw_h5_quiet();
    enum hw_status status = hw_store_new(ctx, "a dry_run", kind, store, err);

    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK) {
        (*store)->writing = true;
        (*store)->dry_run = true;
        return HW_OK;
    }
    hw_store_free(*store);
    *store = NULL;
    return status;
}

/* ---- datasets ---- */

/* Checks the dataset's sizes and appends it to the catalogue. Local. */
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

/* Creates a described dataset in the file and preallocates disk space. type matters on rank 0;
 * status: of its description on this rank. Collective. */
static enum hw_status make_dataset(struct hw_store *store, struct hw_dataset *dataset, hid_t type,
                                   enum hw_status status, struct hw_error *err)
{
    status = hw_agree(store->ctx.world, status, err);
    if (store->dry_run)
        return status == HW_OK ? HW_OK : hw_store_prefix(store, status, err);
    if (status == HW_OK && store->ctx.rank == 0) {
        const hw_count bytes = hw_dataset_count(dataset) * (hw_count)dataset->element;
        status = hw_temporary_require_space(store, bytes, err);
        if (status == HW_OK)
            status = hw_allocate_dataset(store, dataset, type, err);
        if (status == HW_OK)
            status = hw_temporary_reserve(store, dataset->address, bytes, err);
    }
    status = hw_agree(store->ctx.world, status, err);
    if (status == HW_OK)
        status = hw_mpi(MPI_Bcast(&dataset->address, 1, HW_MPI_COUNT, 0, store->ctx.world),
                        "MPI_Bcast", err);
    return status == HW_OK ? HW_OK : hw_store_prefix(store, status, err);
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

/* Writes elements of a dataset in pieces, at an element counted from its start.
 * Local. */
static enum hw_status write_pieces(const struct hw_store *store, const struct hw_dataset *dataset,
                                   hw_count first, hw_count count, const void *values,
                                   struct hw_error *err)
{
    const hw_count element = (hw_count)dataset->element, end = count * element;
    const char *bytes = values;
    enum hw_status status = HW_OK;
    MPI_Status done;
    int written = 0;

    if (store->dry_run)
        return HW_OK;
    for (hw_count at = 0; at < end && status == HW_OK; at += HW_STORE_PIECE) {
        const hw_count piece = end - at < HW_STORE_PIECE ? end - at : HW_STORE_PIECE;
        const hw_count address = dataset->address + first * element + at;
        status = hw_mpi_io(MPI_File_write_at(store->data, (MPI_Offset)address, bytes + at,
                                             (int)piece, MPI_BYTE, &done),
                           "cannot be written", err);
        if (status == HW_OK &&
            (MPI_Get_count(&done, MPI_BYTE, &written) != MPI_SUCCESS || written != piece))
            status = hw_fail(err, HW_RESOURCES, "cannot be written: %d of %" PRId64 " bytes",
                             written, piece);
    }
    if (status != HW_OK)
        hw_prefix(err, status, "%s: %s", store->path, dataset->path);
    return status;
}

/* Checks that a range of a dataset can be written, and looks the dataset up. Local. */
static enum hw_status check_range(const struct hw_store *store, const char *path, hw_count segment,
                                  hw_count first, hw_count count, struct hw_dataset **found,
                                  struct hw_error *err)
{
    struct hw_dataset *dataset = hw_dataset_find(store, path);

    *found = dataset;
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
    return HW_OK;
}

enum hw_status hw_store_take(struct hw_store *store, const char *path, hw_count segment,
                             hw_count first, hw_count count, const void *values,
                             struct hw_error *err)
{
    struct hw_dataset *dataset = NULL;
    enum hw_status status = check_range(store, path, segment, first, count, &dataset, err);

    if (status != HW_OK)
        return status;
    store->digested = false;
    return hw_dataset_hash(dataset, &store->ctx, segment, first, count, values, err);
}

enum hw_status hw_store_write(struct hw_store *store, const char *path, hw_count segment,
                              hw_count first, hw_count count, const void *values,
                              struct hw_error *err)
{
    const struct hw_dataset *dataset = hw_dataset_find(store, path);
    enum hw_status status = hw_store_take(store, path, segment, first, count, values, err);

    if (status != HW_OK)
        return status;
    return write_pieces(store, dataset, hw_segment_first(dataset, segment) + first, count, values,
                        err);
}

/* Writes a piece of every rank, which may be empty. Collective. */
static enum hw_status write_piece_all(const struct hw_store *store,
                                      const struct hw_dataset *dataset, hw_count address,
                                      const void *bytes, hw_count piece, struct hw_error *err)
{
    MPI_Status done;
    int written = 0;

    enum hw_status status = hw_mpi_io(
        MPI_File_write_at_all(store->data, (MPI_Offset)address, bytes, (int)piece, MPI_BYTE, &done),
        "cannot be written", err);
    if (status == HW_OK && piece > 0 &&
        (MPI_Get_count(&done, MPI_BYTE, &written) != MPI_SUCCESS || written != piece))
        status = hw_fail(err, HW_RESOURCES, "cannot be written: %d of %" PRId64 " bytes", written,
                         piece);
    return status == HW_OK ? HW_OK : hw_prefix(err, status, "%s: %s", store->path, dataset->path);
}

enum hw_status hw_store_write_together(struct hw_store *store, const char *path, hw_count segment,
                                       hw_count first, hw_count count, const void *values,
                                       struct hw_error *err)
{
    if (!store->collective || store->dry_run)
        return hw_store_write(store, path, segment, first, count, values, err);
    const struct hw_dataset *dataset = hw_dataset_find(store, path);
    enum hw_status status = hw_agree(
        store->ctx.world, hw_store_take(store, path, segment, first, count, values, err), err);
    const hw_count element = dataset ? (hw_count)dataset->element : 0, end = count * element;
    hw_count most = end;
    if (status == HW_OK)
        status = hw_mpi(MPI_Allreduce(&end, &most, 1, HW_MPI_COUNT, MPI_MAX, store->ctx.world),
                        "MPI_Allreduce", err);
    for (hw_count at = 0; at < most && status == HW_OK; at += HW_STORE_PIECE) {
        const hw_count left = end > at ? end - at : 0;
        const hw_count piece = left < HW_STORE_PIECE ? left : HW_STORE_PIECE;
        const hw_count from = (hw_segment_first(dataset, segment) + first) * element;
        const hw_count begin = piece > 0 ? at : 0;
        status = write_piece_all(store, dataset, dataset->address + from + begin,
                                 (const char *)values + begin, piece, err);
        status = hw_agree(store->ctx.world, status, err);
    }
    return status;
}

enum hw_status hw_store_recall(struct hw_store *store, const char *path, hw_count segment,
                               hw_count first, hw_count count, void *values, struct hw_error *err)
{
    struct hw_dataset *dataset = NULL;
    enum hw_status status = check_range(store, path, segment, first, count, &dataset, err);
    char *bytes = values;
    MPI_Status done;
    int got = 0;

    if (status != HW_OK)
        return status;
    const hw_count element = (hw_count)dataset->element, end = count * element;
    const hw_count from = dataset->address + (hw_segment_first(dataset, segment) + first) * element;
    for (hw_count at = 0; at < end && status == HW_OK; at += HW_STORE_PIECE) {
        const hw_count piece = end - at < HW_STORE_PIECE ? end - at : HW_STORE_PIECE;
        status = hw_mpi_io(MPI_File_read_at(store->data, (MPI_Offset)(from + at), bytes + at,
                                            (int)piece, MPI_BYTE, &done),
                           "cannot be read back", err);
        if (status == HW_OK)
            status = hw_mpi(MPI_Get_count(&done, MPI_BYTE, &got), "MPI_Get_count", err);
        if (status == HW_OK && got < piece)
            memset(bytes + at + got, 0, (size_t)(piece - got));
    }
    return status == HW_OK ? HW_OK : hw_store_prefix(store, status, err);
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

/* Packs structs into rows in the file's format. A string's bytes after its end become zero. */
static void pack_rows(const struct hw_column *columns, int ncolumns, size_t struct_size,
                      const char *structs, hw_count rows, char *packed)
{
    for (hw_count r = 0; r < rows; r++, structs += struct_size)
        for (int i = 0; i < ncolumns; i++) {
            const size_t bytes = hw_type_size(columns[i].type) * (size_t)columns[i].width;
            size_t used = bytes;
            if (columns[i].type == HW_U8 && columns[i].width > 1)
                used = strnlen(structs + columns[i].offset, bytes);
            memset(packed, 0, bytes);
            memcpy(packed, structs + columns[i].offset, used);
            packed += bytes;
        }
}

/* Packs, hashes and writes all rows, a block at a time; rank 0. */
static enum hw_status write_rows(struct hw_store *store, struct hw_dataset *dataset,
                                 const struct hw_column *columns, int ncolumns, size_t struct_size,
                                 const char *structs, struct hw_error *err)
{
    const hw_count rows = dataset->columns;
    const hw_count max = rows < HW_STORE_BLOCK ? rows : HW_STORE_BLOCK;
    char *packed = NULL;

    enum hw_status status = hw_alloc(&packed, max, dataset->element, "rows of a table", err);
    for (hw_count at = 0; at < rows && status == HW_OK; at += max) {
        hw_count count = rows - at < max ? rows - at : max;
        pack_rows(columns, ncolumns, struct_size, structs + (size_t)at * struct_size, count,
                  packed);
        status = hw_dataset_hash(dataset, &store->ctx, 0, at, count, packed, err);
        if (status == HW_OK)
            status = write_pieces(store, dataset, at, count, packed, err);
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
        status = write_rows(store, dataset, columns, ncolumns, struct_size, structs, err);
    if (type >= 0)
        H5Tclose(type);
    return hw_agree(store->ctx.world, status, err);
}
