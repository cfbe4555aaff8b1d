/*
 * Datasets that HDF5 has to convert: chunked, compressed, of another byte order or width, such as
 * h5repack and other programs write. Every rank reads its ranges by the library itself. Values that
 * would not fit change in conversion, and their digest would differ.
 */
#include "lib/store/store_internal.h"

/* Chunks that HDF5 keeps unpacked at a time. */
#define CACHE_BYTES ((size_t)64 << 20)
#define CACHE_SLOTS 1021

/* Chunks of more bytes are refused: one is unpacked at once, whatever is wanted of it. */
#define CHUNK_BYTES_MAX ((hw_count)1 << 30)

/* Bytes that a byte of deflated data can become. */
#define DEFLATED_MAX 1100

/* ---- types ---- */

static hid_t little_endian_members(hid_t type)
{
    const hid_t made = H5Tcreate(H5T_COMPOUND, H5Tget_size(type));
    bool right = made >= 0;

    for (int m = 0; right && m < H5Tget_nmembers(type); m++) {
        const hid_t old = H5Tget_member_type(type, (unsigned)m);
        const hid_t member = old >= 0 ? hw_little_endian(old) : -1;
        char *name = H5Tget_member_name(type, (unsigned)m);
        right = member >= 0 && name &&
                H5Tinsert(made, name, H5Tget_member_offset(type, (unsigned)m), member) >= 0;
        H5free_memory(name);
        if (member >= 0)
            H5Tclose(member);
        if (old >= 0)
            H5Tclose(old);
    }
    if (right)
        return made;
    if (made >= 0)
        H5Tclose(made);
    return -1;
}

static hid_t little_endian_array(hid_t type)
{
    hsize_t sizes[H5S_MAX_RANK];
    const hid_t old = H5Tget_super(type);
    const hid_t element = old >= 0 ? hw_little_endian(old) : -1;
    const int rank = H5Tget_array_dims2(type, sizes);
    const hid_t made =
        element >= 0 && rank > 0 ? H5Tarray_create2(element, (unsigned)rank, sizes) : -1;

    if (element >= 0)
        H5Tclose(element);
    if (old >= 0)
        H5Tclose(old);
    return made;
}

hid_t hw_little_endian(hid_t type)
{
    const H5T_class_t class = H5Tget_class(type);

    if (class == H5T_COMPOUND)
        return little_endian_members(type);
    if (class == H5T_ARRAY)
        return little_endian_array(type);
    if (class != H5T_INTEGER && class != H5T_FLOAT && class != H5T_STRING)
        return -1;
    /* In arrays H5Tdetect_class() does not count it as H5T_VLEN. */
    if (class == H5T_STRING && H5Tis_variable_str(type) != 0)
        return -1;
    const hid_t made = H5Tcopy(type);
    if (made < 0 || class == H5T_STRING || H5Tset_order(made, H5T_ORDER_LE) >= 0)
        return made;
    H5Tclose(made);
    return -1;
}

/* ---- what can be read ---- */

/* Checks that no filter has to be loaded. */
static enum hw_status check_filters(hid_t creation, const char *path, struct hw_error *err)
{
    const int filters = H5Pget_nfilters(creation);

    for (int f = 0; f < filters; f++) {
        unsigned flags = 0;
        size_t values = 0;
        const int filter =
            (int)H5Pget_filter2(creation, (unsigned)f, &flags, &values, NULL, 0, NULL, NULL);
        const bool known = filter == H5Z_FILTER_DEFLATE || filter == H5Z_FILTER_SHUFFLE ||
                           filter == H5Z_FILTER_FLETCHER32;
        if (!known)
            return hw_fail(err, HW_BAD_INPUT,
                           "%s is stored with filter %d; deflate, shuffle and Fletcher32 are read",
                           path, filter);
        if (H5Zfilter_avail(filter) <= 0)
            return hw_fail(err, HW_BAD_INPUT, "%s is stored with filter %d, which HDF5 has not",
                           path, filter);
    }
    return HW_OK;
}

/* Bytes of a chunk of elements of some bytes; -1 if they overflow. */
static hw_count chunk_bytes(hid_t creation, hw_count element)
{
    hsize_t sizes[H5S_MAX_RANK];
    const int rank = H5Pget_chunk(creation, H5S_MAX_RANK, sizes);

    for (int d = 0; d < rank; d++)
        if (sizes[d] > INT64_MAX || __builtin_mul_overflow(element, (hw_count)sizes[d], &element))
            return -1;
    return rank > 0 ? element : -1;
}

enum hw_status hw_storage_check(hid_t id, const char *path, hw_count elements, bool *in_place,
                                struct hw_error *err)
{
    const hid_t creation = H5Dget_create_plist(id), type = H5Dget_type(id);
    hw_count bytes = type >= 0 ? (hw_count)H5Tget_size(type) : 0;
    enum hw_status status = HW_OK;

    if (creation < 0 || type < 0 || bytes <= 0)
        status = hw_h5(-1, HW_BAD_INPUT, "is damaged", err);
    const H5D_layout_t layout = status == HW_OK ? H5Pget_layout(creation) : H5D_LAYOUT_ERROR;
    if (status == HW_OK && (layout == H5D_VIRTUAL || H5Pget_external_count(creation) != 0))
        status = hw_fail(err, HW_BAD_INPUT, "%s lies in other files, which are not followed", path);
    if (status == HW_OK)
        status = check_filters(creation, path, err);
    if (status == HW_OK && layout == H5D_CHUNKED) {
        const hw_count chunk = chunk_bytes(creation, bytes);
        if (chunk < 0 || chunk > CHUNK_BYTES_MAX)
            status = hw_fail(err, HW_BAD_INPUT, "%s: its chunks are too large", path);
    }
    if (status == HW_OK && __builtin_mul_overflow(bytes, elements, &bytes))
        status = hw_fail(err, HW_BAD_INPUT, "%s: its size overflows", path);
    *in_place = status == HW_OK && layout == H5D_CONTIGUOUS;
    if (status == HW_OK && !*in_place) {
        const hsize_t stored = H5Dget_storage_size(id);
        const int filters = H5Pget_nfilters(creation);
        if ((double)bytes > (double)stored * (filters > 0 ? DEFLATED_MAX : 1))
            status = hw_fail(err, HW_BAD_INPUT, "%s claims more than is stored of it", path);
    }
    if (creation >= 0)
        H5Pclose(creation);
    if (type >= 0)
        H5Tclose(type);
    return status;
}

/* ---- reading ---- */

/* Opens the dataset, and the file for the first one. What rank 0 has checked is checked again, as
 * another host may have another file. Local. */
static enum hw_status open_dataset(struct hw_store *store, struct hw_dataset *dataset,
                                   struct hw_error *err)
{
    const hid_t access = hw_h5_access(), cache = H5Pcreate(H5P_DATASET_ACCESS);
    bool in_place = false;

    hw_h5_quiet();
    if (store->file < 0 && access >= 0)
        store->file = H5Fopen(store->path, H5F_ACC_RDONLY, access);
    if (store->file >= 0 && cache >= 0 &&
        H5Pset_chunk_cache(cache, CACHE_SLOTS, CACHE_BYTES, H5D_CHUNK_CACHE_W0_DEFAULT) >= 0)
        dataset->id = H5Dopen2(store->file, dataset->path, cache);
    enum hw_status status = hw_h5(dataset->id, HW_BAD_INPUT, "is damaged", err);
    if (status == HW_OK)
        status =
            hw_storage_check(dataset->id, dataset->path, hw_dataset_count(dataset), &in_place, err);
    if (access >= 0)
        H5Pclose(access);
    if (cache >= 0)
        H5Pclose(cache);
    return status;
}

/* The type of an element in memory, of dataset->element bytes; to be closed. */
static hid_t memory_type(const struct hw_dataset *dataset)
{
    if (!dataset->table)
        return H5Tcopy(hw_h5_file_type(dataset->type));
    const hid_t type = H5Dget_type(dataset->id);
    const hid_t made = type >= 0 ? hw_little_endian(type) : -1;
    if (type >= 0)
        H5Tclose(type);
    /* Rows of another file, which came in the place of the one that was checked. */
    if (made >= 0 && H5Tget_size(made) != dataset->element) {
        H5Tclose(made);
        return -1;
    }
    return made;
}

/* Reads elements of one row. */
static enum hw_status read_row(const struct hw_dataset *dataset, hid_t type, hw_count row,
                               hw_count column, hw_count count, void *out, struct hw_error *err)
{
    const hsize_t start[2] = {(hsize_t)row, (hsize_t)column}, sizes[2] = {1, (hsize_t)count};
    const int skipped = dataset->flat ? 1 : 0; /* a flat dataset has no rows */
    const hid_t from = H5Dget_space(dataset->id), to = H5Screate_simple(1, sizes + 1, NULL);
    herr_t result = -1;

    if (from >= 0 && to >= 0 && H5Sget_simple_extent_ndims(from) == 2 - skipped &&
        H5Sselect_hyperslab(from, H5S_SELECT_SET, start + skipped, NULL, sizes + skipped, NULL) >=
            0)
        result = H5Dread(dataset->id, type, to, from, H5P_DEFAULT, out);
    if (from >= 0)
        H5Sclose(from);
    if (to >= 0)
        H5Sclose(to);
    return hw_h5(result, HW_BAD_INPUT, "cannot be read", err);
}

enum hw_status hw_read_elements(struct hw_store *store, struct hw_dataset *dataset, hw_count first,
                                hw_count count, void *out, struct hw_error *err)
{
    const hw_count element = (hw_count)dataset->element;
    char *at = out;

    if (!dataset->converted)
        return hw_read_bytes(store, dataset->address + first * element, count * element, out, err);
    if (count == 0)
        return HW_OK;
    if (dataset->id < 0)
        HW_TRY(open_dataset(store, dataset, err));
    const hid_t type = memory_type(dataset);
    enum hw_status status = hw_h5(type, HW_BAD_INPUT, "is damaged", err);
    while (count > 0 && status == HW_OK) {
        const hw_count row = first / dataset->columns, column = first % dataset->columns;
        const hw_count rest = dataset->columns - column, some = count < rest ? count : rest;
        status = read_row(dataset, type, row, column, some, at, err);
        at += some * element;
        first += some;
        count -= some;
    }
    if (type >= 0)
        H5Tclose(type);
    return status;
}

void hw_read_elements_close(struct hw_store *store)
{
    for (int i = 0; i < store->datasets && !store->writing; i++) {
        if (store->dataset[i].id >= 0)
            H5Dclose(store->dataset[i].id);
        store->dataset[i].id = -1;
    }
    if (!store->writing && store->file >= 0)
        H5Fclose(store->file);
    if (!store->writing)
        store->file = -1;
}
