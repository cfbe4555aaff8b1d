/*
 * Reads an HDF5 file's metadata into the catalogue and checks it. Rank 0 alone
 * does this, serially, and trusts nothing: any HDF5 failure means a damaged file.
 * HDF5 keeps checksums of all metadata of the version we write.
 */
#include "lib/store/store_internal.h"

#include "lib/base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* More than any file of ours has. */
#define MAX_OBJECTS 1000
#define MAX_ATTRIBUTES 10000
#define DEEPEST 4

/* A walk through a file. The error message of the first failure stays. */
struct walk {
    struct hw_store *store;
    struct hw_error *err;
    enum hw_status status;
    int objects, attributes, depth;
    const char *path; /* of the group walked, without its last slash */
    enum hw_place place;
    struct hw_dataset *dataset; /* whose attributes are read; NULL for groups */
};

static enum hw_status damaged(int64_t result, struct hw_error *err)
{
    return hw_h5(result, HW_BAD_INPUT, "is damaged", err);
}

/* ---- before HDF5 ---- */

/* Checks that path is a regular file that starts as HDF5 files do. */
static enum hw_status check_file(const char *path, hw_count *length, struct hw_error *err)
{
    static const unsigned char magic[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
    unsigned char start[8] = {0};
    struct stat about;

    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return hw_fail(err, HW_BAD_INPUT, "cannot be opened: %s", strerror(errno));
    enum hw_status status = HW_OK;
    if (fstat(fd, &about) != 0)
        status = hw_fail(err, HW_BAD_INPUT, "cannot be examined: %s", strerror(errno));
    else if (!S_ISREG(about.st_mode))
        status = hw_fail(err, HW_BAD_INPUT, "is not a regular file");
    else if (about.st_size == 0)
        status = hw_fail(err, HW_BAD_INPUT, "is empty");
    else if (pread(fd, start, sizeof start, 0) < 0)
        status = hw_fail(err, HW_BAD_INPUT, "cannot be read: %s", strerror(errno));
    else if (memcmp(start, magic, sizeof magic) != 0)
        status = hw_fail(err, HW_BAD_INPUT,
                         "is not an HDF5 file; hopwave-import reads files of other programs");
    else
        *length = about.st_size;
    close(fd);
    return status;
}

static enum hw_status open_file(const char *path, hid_t *file, struct hw_error *err)
{
    const hid_t access = hw_h5_access();

    *file = -1;
    if (access < 0)
        return hw_h5(-1, HW_INTERNAL, "properties of a file", err);
    *file = H5Fopen(path, H5F_ACC_RDONLY, access);
    enum hw_status status = damaged(*file, err);
    H5Pclose(access);
    return status;
}

/* ---- attributes ---- */

/* A string attribute of fixed length into text, of HW_STRING_SIZE bytes. */
static bool read_text(hid_t attribute, hid_t type, char *text)
{
    const size_t size = H5Tget_size(type);
    herr_t result = -1;

    if (H5Tis_variable_str(type) != 0 || size == 0 || size >= HW_STRING_SIZE)
        return false;
    const hid_t memory = H5Tcopy(type);
    if (memory >= 0 && H5Tset_strpad(memory, H5T_STR_NULLPAD) >= 0)
        result = H5Aread(attribute, memory, text);
    if (memory >= 0)
        H5Tclose(memory);
    text[size] = '\0';
    return result >= 0;
}

/* Reads a scalar attribute that converts to a type we write; false if it is none. */
static bool read_attribute(hid_t attribute, struct hw_attribute *out)
{
    const hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
    bool read = false;

    if (type >= 0 && space >= 0 && H5Sget_simple_extent_type(space) == H5S_SCALAR) {
        if (H5Tget_class(type) == H5T_INTEGER && H5Tget_size(type) <= sizeof out->i64) {
            out->type = HW_ATTRIBUTE_I64;
            read = H5Aread(attribute, H5T_NATIVE_INT64, &out->i64) >= 0;
        } else if (H5Tget_class(type) == H5T_FLOAT && H5Tget_size(type) <= sizeof out->f64) {
            out->type = HW_ATTRIBUTE_F64;
            read = H5Aread(attribute, H5T_NATIVE_DOUBLE, &out->f64) >= 0;
        } else if (H5Tget_class(type) == H5T_STRING) {
            out->type = HW_ATTRIBUTE_STRING;
            read = read_text(attribute, type, out->text);
        }
    }
    if (type >= 0)
        H5Tclose(type);
    if (space >= 0)
        H5Sclose(space);
    return read;
}

/* Keeps an attribute of a dataset: its digest or its segments. */
static enum hw_status keep_of_dataset(struct walk *walk, const struct hw_attribute *attribute)
{
    struct hw_dataset *dataset = walk->dataset;

    if (attribute->type == HW_ATTRIBUTE_STRING && strcmp(attribute->name, "digest") == 0 &&
        hw_digest_valid(attribute->text)) {
        snprintf(dataset->digest, sizeof dataset->digest, "%s", attribute->text);
        return HW_OK;
    }
    if (attribute->type == HW_ATTRIBUTE_STRING && strcmp(attribute->name, "segments") == 0 &&
        !dataset->segments) {
        dataset->segments = strdup(attribute->text);
        return dataset->segments ? HW_OK : hw_fail(walk->err, HW_RESOURCES, "no memory for a path");
    }
    return hw_fail(walk->err, HW_BAD_INPUT, "%s: attribute '%s' does not belong here",
                   dataset->path, attribute->name);
}

static herr_t take_attribute(hid_t object, const char *name, const H5A_info_t *info, void *data)
{
    struct walk *walk = data;
    char text[HW_STRING_SIZE] = "", copy[256];
    struct hw_attribute attribute = {.place = walk->place, .name = copy, .text = text};

    (void)info;
    if (++walk->attributes > MAX_ATTRIBUTES || strlen(name) >= sizeof copy) {
        walk->status = hw_fail(walk->err, HW_BAD_INPUT, "has too many attributes");
        return -1;
    }
    snprintf(copy, sizeof copy, "%s", name);
    const hid_t id = H5Aopen(object, name, H5P_DEFAULT);
    if (id < 0) {
        walk->status = damaged(-1, walk->err);
        return -1;
    }
    const bool read = read_attribute(id, &attribute);
    H5Aclose(id);
    if (read && walk->dataset)
        walk->status = keep_of_dataset(walk, &attribute);
    else if (read)
        walk->status = hw_attribute_put(walk->store, &attribute, walk->err);
    else if (walk->dataset || walk->place == HW_AT_ROOT)
        walk->status = hw_fail(walk->err, HW_BAD_INPUT,
                               "attribute '%s' is of a type that is not "
                               "used here, or damaged",
                               name);
    return walk->status == HW_OK ? 0 : -1;
}

static enum hw_status take_attributes(struct walk *walk, hid_t object)
{
    const herr_t result =
        H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, NULL, take_attribute, walk);

    if (walk->status == HW_OK && result < 0)
        walk->status = damaged(-1, walk->err);
    return walk->status;
}

/* ---- datasets ---- */

/* The type of an element that numbers of another byte order are read as; HW_TYPES: none is. */
static enum hw_type type_of(hid_t type)
{
    enum hw_type found = HW_TYPES;
    const hid_t little = hw_little_endian(type);

    for (int t = 0; t < HW_TYPES && little >= 0; t++)
        if (H5Tequal(little, hw_h5_file_type((enum hw_type)t)) > 0)
            found = (enum hw_type)t;
    if (little >= 0)
        H5Tclose(little);
    return found;
}

/* Whether a table has texts and numbers of fixed size alone; *converted: some in another order. */
static bool is_table(hid_t type, const char *path, bool *converted)
{
    bool right = H5Tget_class(type) == H5T_COMPOUND && strncmp(path, "/run/", 5) == 0 &&
                 H5Tget_size(type) > 0 && H5Tdetect_class(type, H5T_VLEN) == 0;
    const hid_t little = right ? hw_little_endian(type) : -1;

    right = little >= 0;
    *converted = right && H5Tequal(little, type) <= 0;
    if (right)
        H5Tclose(little);
    return right;
}

/* The element type, or a table. Numbers of other widths have none yet. */
static enum hw_status take_type(hid_t id, struct hw_dataset *dataset, struct hw_error *err)
{
    const hid_t type = H5Dget_type(id);
    enum hw_status status = damaged(type, err);

    if (status != HW_OK)
        return status;
    const H5T_class_t class = H5Tget_class(type);
    dataset->element = H5Tget_size(type);
    dataset->type = type_of(type);
    dataset->real = class == H5T_FLOAT;
    dataset->table = is_table(type, dataset->path, &dataset->converted);
    if (dataset->table)
        dataset->type = HW_U8;
    else
        dataset->converted =
            dataset->type == HW_TYPES || H5Tequal(type, hw_h5_file_type(dataset->type)) <= 0;
    H5Tclose(type);
    if (class != H5T_INTEGER && class != H5T_FLOAT && !dataset->table)
        return hw_fail(err, HW_BAD_INPUT, "%s is of a type that is not used here", dataset->path);
    return HW_OK;
}

static enum hw_status take_extent(hid_t id, struct hw_dataset *dataset, struct hw_error *err)
{
    const hid_t space = H5Dget_space(id);
    hsize_t sizes[2] = {0, 0};
    int rank = -1;

    if (space >= 0 && H5Sget_simple_extent_type(space) == H5S_SIMPLE)
        rank = H5Sget_simple_extent_ndims(space);
    if ((rank == 1 || rank == 2) && H5Sget_simple_extent_dims(space, sizes, NULL) < 0)
        rank = -1;
    if (space >= 0)
        H5Sclose(space);
    if (rank != 1 && rank != 2)
        return hw_fail(err, HW_BAD_INPUT, "%s has neither one dimension nor two", dataset->path);
    if (sizes[0] > INT64_MAX / 16 || sizes[1] > INT64_MAX / 16)
        return hw_fail(err, HW_BAD_INPUT, "%s: its size overflows", dataset->path);
    dataset->flat = rank == 1;
    dataset->rows = rank == 1 ? 1 : (hw_count)sizes[0];
    dataset->columns = (hw_count)sizes[rank - 1];
    return HW_OK;
}

/* Where the bytes lie, which must be within the file. */
static enum hw_status take_address(hid_t id, struct hw_dataset *dataset, hw_count length,
                                   struct hw_error *err)
{
    bool in_place = false;
    hw_count elements, bytes;

    if (__builtin_mul_overflow(dataset->rows, dataset->columns, &elements) ||
        __builtin_mul_overflow(elements, (hw_count)dataset->element, &bytes))
        return hw_fail(err, HW_BAD_INPUT, "%s: its size overflows", dataset->path);
    HW_TRY(hw_storage_check(id, dataset->path, elements, &in_place, err));
    dataset->converted = dataset->converted || !in_place;
    if (bytes == 0 || !in_place)
        return HW_OK;
    const haddr_t address = H5Dget_offset(id);
    if (address == HADDR_UNDEF || address > (haddr_t)length || bytes > length - (hw_count)address)
        return hw_fail(err, HW_BAD_INPUT, "%s lies beyond the end of the file: it is truncated",
                       dataset->path);
    dataset->address = (hw_count)address;
    return HW_OK;
}

static enum hw_status take_dataset(struct walk *walk, hid_t id, const char *path)
{
    struct hw_dataset *dataset = NULL;

    enum hw_status status = hw_dataset_add(walk->store, path, &dataset, walk->err);
    if (status == HW_OK)
        status = take_type(id, dataset, walk->err);
    if (status == HW_OK)
        status = take_extent(id, dataset, walk->err);
    if (status == HW_OK)
        status = take_address(id, dataset, walk->store->length, walk->err);
    walk->status = status;
    walk->dataset = dataset;
    if (status == HW_OK)
        status = take_attributes(walk, id);
    walk->dataset = NULL;
    if (status == HW_OK && !dataset->digest[0])
        walk->status = hw_fail(walk->err, HW_BAD_INPUT, "%s has no digest", path);
    return walk->status;
}

/* ---- groups ---- */

static enum hw_status take_group(struct walk *walk, hid_t group, const char *path);

static herr_t take_link(hid_t group, const char *name, const H5L_info_t *info, void *data)
{
    struct walk *walk = data;
    char path[256];

    const int length = snprintf(path, sizeof path, "%s/%s", walk->path, name);
    if (++walk->objects > MAX_OBJECTS || length >= (int)sizeof path ||
        info->type != H5L_TYPE_HARD) {
        walk->status =
            hw_fail(walk->err, HW_BAD_INPUT, "%s/%s does not belong here", walk->path, name);
        return -1;
    }
    const hid_t object = H5Oopen(group, name, H5P_DEFAULT);
    if (object < 0)
        walk->status = damaged(-1, walk->err);
    else if (H5Iget_type(object) == H5I_GROUP)
        take_group(walk, object, path);
    else if (H5Iget_type(object) == H5I_DATASET)
        take_dataset(walk, object, path);
    else
        walk->status = hw_fail(walk->err, HW_BAD_INPUT, "%s does not belong here", path);
    if (object >= 0)
        H5Oclose(object);
    return walk->status == HW_OK ? 0 : -1;
}

/* Takes a group's attributes and what it holds. */
static enum hw_status take_group(struct walk *walk, hid_t group, const char *path)
{
    struct walk inner = *walk;
    const int attributes = walk->attributes;

    inner.path = path;
    inner.depth++;
    inner.place = strcmp(path, "/run") == 0          ? HW_AT_RUN
                  : strcmp(path, "/parameters") == 0 ? HW_AT_PARAMETERS
                                                     : HW_AT_ROOT;
    if (inner.depth > DEEPEST)
        inner.status = hw_fail(walk->err, HW_BAD_INPUT, "%s does not belong here", path);
    if (inner.status == HW_OK)
        take_attributes(&inner, group);
    if (inner.status == HW_OK && path[0] && inner.place == HW_AT_ROOT &&
        inner.attributes != attributes)
        inner.status =
            hw_fail(walk->err, HW_BAD_INPUT, "%s: its attributes do not belong here", path);
    if (inner.status == HW_OK &&
        H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, NULL, take_link, &inner) < 0 &&
        inner.status == HW_OK)
        inner.status = damaged(-1, walk->err);
    walk->status = inner.status;
    walk->objects = inner.objects;
    walk->attributes = inner.attributes;
    return walk->status;
}

/* ---- what every file says of itself ---- */

/* Takes an attribute out of the catalogue. */
static bool pull(struct hw_store *store, const char *name, enum hw_attribute_type type,
                 struct hw_attribute *out)
{
    for (int i = 0; i < store->attributes; i++) {
        struct hw_attribute *attribute = &store->attribute[i];
        if (attribute->place != HW_AT_ROOT || strcmp(attribute->name, name) != 0 ||
            attribute->type != type)
            continue;
        *out = *attribute;
        store->attributes--;
        memmove(attribute, attribute + 1, (size_t)(store->attributes - i) * sizeof *attribute);
        return true;
    }
    return false;
}

static enum hw_status check_format(struct hw_store *store, struct hw_error *err)
{
    static const char *const makers[HW_KINDS] = {[HW_KIND_GRAPH] =
                                                     "hopwave-generate and hopwave-import make",
                                                 [HW_KIND_PARTITION] = "hopwave-partition makes",
                                                 [HW_KIND_TREE] = "hopwave-traverse makes",
                                                 [HW_KIND_CHECK] = "hopwave-validate makes"};
    struct hw_attribute found = {0};
    const char *wanted = hw_kind_format(store->kind);

    if (!pull(store, "format", HW_ATTRIBUTE_STRING, &found))
        return hw_fail(err, HW_BAD_INPUT, "is not a file of Hopwave");
    bool same = strcmp(found.text, wanted) == 0;
    enum hw_status status =
        same ? HW_OK
             : hw_fail(err, HW_BAD_INPUT, "is a file of kind %.60s, not %s, which %s", found.text,
                       wanted, makers[store->kind]);
    free(found.name);
    free(found.text);
    return status;
}

static enum hw_status check_version(struct hw_store *store, struct hw_error *err)
{
    struct hw_attribute version = {0}, complete = {0};
    const int64_t known = hw_schema_version(store->schema);

    bool has = pull(store, "format_version", HW_ATTRIBUTE_I64, &version);
    free(version.name);
    if (!has || version.i64 < 1)
        return hw_fail(err, HW_BAD_INPUT, "has no valid format version");
    if (version.i64 > known)
        return hw_fail(err, HW_BAD_INPUT,
                       "was made by a newer Hopwave: format version %" PRId64
                       ", known here up to %" PRId64,
                       version.i64, known);
    store->version = version.i64;
    has = pull(store, "complete", HW_ATTRIBUTE_I64, &complete);
    free(complete.name);
    if (!has || complete.i64 != 1)
        return hw_fail(err, HW_BAD_INPUT, "is not complete: its writer did not finish");
    return HW_OK;
}

static enum hw_status check_digest(struct hw_store *store, struct hw_error *err)
{
    struct hw_attribute stated = {0};
    char computed[HW_DIGEST_SIZE];
    enum hw_status status = HW_OK;

    if (pull(store, "digest", HW_ATTRIBUTE_STRING, &stated)) {
        if (hw_digest_valid(stated.text))
            snprintf(store->digest, sizeof store->digest, "%s", stated.text);
        else
            status = hw_fail(err, HW_BAD_INPUT, "attribute 'digest' is not a digest");
    }
    free(stated.name);
    free(stated.text);
    if (status != HW_OK)
        return status;
    hw_schema_choose_types(store);
    status = hw_schema_check(store, HW_BAD_INPUT, err);
    if (status != HW_OK || hw_schema_declared(store))
        return status;
    status = hw_catalogue_digest(store, computed, err);
    if (status == HW_OK && strcmp(computed, store->digest) != 0)
        return hw_fail(err, HW_BAD_INPUT, "its digest is not that of its attributes and datasets");
    return status;
}

enum hw_status hw_scan(struct hw_store *store, struct hw_error *err)
{
    struct walk walk = {.store = store, .err = err};
    hid_t file = -1;

    hw_h5_quiet();
    enum hw_status status = check_file(store->path, &store->length, err);
    if (status == HW_OK)
        status = open_file(store->path, &file, err);
    if (status == HW_OK)
        status = take_group(&walk, file, "");
    if (file >= 0 && H5Fclose(file) < 0 && status == HW_OK)
        status = damaged(-1, err);
    if (status == HW_OK)
        status = check_format(store, err);
    if (status == HW_OK)
        status = check_version(store, err);
    if (status == HW_OK)
        status = check_digest(store, err);
    if (status == HW_OK)
        status = hw_renamed_attributes(store, err);
    return status;
}

enum hw_status hw_scan_kind(const char *path, enum hw_kind *kind, struct hw_error *err)
{
    char text[HW_STRING_SIZE] = "";
    struct hw_attribute format = {.type = HW_ATTRIBUTE_I64, .text = text};
    hid_t file = -1, attribute = -1;
    hw_count length;

    hw_h5_quiet();
    enum hw_status status = check_file(path, &length, err);
    if (status == HW_OK)
        status = open_file(path, &file, err);
    if (status != HW_OK)
        return status;
    if (H5Aexists(file, "format") > 0)
        attribute = H5Aopen(file, "format", H5P_DEFAULT);
    if (attribute >= 0 && !read_attribute(attribute, &format))
        text[0] = '\0';
    status = hw_fail(err, HW_BAD_INPUT, "is not a file of Hopwave");
    for (int k = 0; k < HW_KINDS; k++)
        if (strcmp(text, hw_kind_format((enum hw_kind)k)) == 0) {
            *kind = (enum hw_kind)k;
            status = HW_OK;
        }
    if (attribute >= 0)
        H5Aclose(attribute);
    H5Fclose(file);
    return status;
}
