/* Reads one column of a table. */
#include "lib/store/store_internal.h"

#include "lib/base/memory.h"

/* A compound type with one member: the column that H5Dread() extracts from each row. */
static hid_t column_type(const char *name, enum hw_type type)
{
    const hid_t member = type == HW_F64 ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT64;
    const hid_t compound = H5Tcreate(H5T_COMPOUND, sizeof(int64_t));

    if (compound >= 0 && H5Tinsert(compound, name, 0, member) >= 0)
        return compound;
    if (compound >= 0)
        H5Tclose(compound);
    return -1;
}

/* Whether a table has that column, of a type that converts. */
static bool has_column(hid_t dataset, const char *name, enum hw_type type)
{
    const hid_t row = H5Dget_type(dataset);
    bool has = false;

    if (row >= 0 && H5Tget_class(row) == H5T_COMPOUND) {
        const int member = H5Tget_member_index(row, name);
        has = member >= 0 && H5Tget_member_class(row, (unsigned)member) ==
                                 (type == HW_F64 ? H5T_FLOAT : H5T_INTEGER);
    }
    if (row >= 0)
        H5Tclose(row);
    return has;
}

/* Reads the column from an open file; rank 0 only. */
static enum hw_status read_rows(hid_t file, const char *path, const char *name, enum hw_type type,
                                void *values, struct hw_error *err)
{
    const hid_t dataset = H5Dopen2(file, path, H5P_DEFAULT);
    enum hw_status status = hw_h5(dataset, HW_BAD_INPUT, "is damaged", err);

    if (status == HW_OK && !has_column(dataset, name, type))
        status = hw_fail(err, HW_BAD_INPUT, "%s has no column '%s'", path, name);
    if (status == HW_OK) {
        const hid_t column = column_type(name, type);
        status = hw_h5(column, HW_INTERNAL, "type of a column", err);
        if (status == HW_OK)
            status = hw_h5(H5Dread(dataset, column, H5S_ALL, H5S_ALL, H5P_DEFAULT, values),
                           HW_BAD_INPUT, "cannot be read", err);
        if (column >= 0)
            H5Tclose(column);
    }
    if (dataset >= 0)
        H5Dclose(dataset);
    return status;
}

/* The same with the file closed; rank 0 only. */
static enum hw_status read_column(const struct hw_store *store, const char *path, const char *name,
                                  enum hw_type type, void *values, struct hw_error *err)
{
    const hid_t access = hw_h5_access();
    enum hw_status status = hw_h5(access, HW_INTERNAL, "properties of a file", err);

    if (status != HW_OK)
        return status;
    const hid_t file = H5Fopen(store->path, H5F_ACC_RDONLY, access);
    H5Pclose(access);
    status = hw_h5(file, HW_BAD_INPUT, "is damaged", err);
    if (status == HW_OK)
        status = read_rows(file, path, name, type, values, err);
    if (file >= 0)
        H5Fclose(file);
    return status != HW_OK ? hw_store_prefix(store, status, err) : HW_OK;
}

enum hw_status hw_store_read_column(struct hw_store *store, const char *path, const char *name,
                                    enum hw_type type, hw_count count, void *values,
                                    struct hw_error *err)
{
    const struct hw_dataset *dataset = hw_dataset_find(store, path);
    enum hw_status status;

    if (!dataset || !dataset->table)
        return hw_fail(err, HW_BAD_INPUT, "%s: %s is missing", store->path, path);
    if (dataset->columns != count)
        return hw_fail(err, HW_BAD_INPUT, "%s: %s has %" PRId64 " rows, not %" PRId64, store->path,
                       path, dataset->columns, count);
    if (type != HW_I64 && type != HW_F64)
        return hw_fail(err, HW_INTERNAL, "columns are read as i64 or f64");
    status = hw_store_verify(store, path, err);
    if (status == HW_OK && store->ctx.rank == 0 && count > 0)
        status = read_column(store, path, name, type, values, err);
    status = hw_agree(store->ctx.world, status, err);
    /* A count that MPI before 4 takes. */
    const hw_count piece = (hw_count)1 << 20;
    for (hw_count at = 0; at < count && status == HW_OK; at += piece) {
        hw_count some = count - at < piece ? count - at : piece;
        status =
            hw_mpi(MPI_Bcast((int64_t *)values + at, (int)some, MPI_INT64_T, 0, store->ctx.world),
                   "MPI_Bcast", err);
    }
    return status;
}
