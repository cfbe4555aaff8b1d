/* Attributes and shapes: what callers set, ask for and list. */
#include "lib/store/store_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const place_names[] = {"", "parameters/", "run/"};

/* Names that the store itself writes at the root. */
static bool reserved(enum hw_place place, const char *name)
{
    return place == HW_AT_ROOT &&
           (strcmp(name, "format") == 0 || strcmp(name, "format_version") == 0 ||
            strcmp(name, "digest") == 0 || strcmp(name, "complete") == 0);
}

static enum hw_status set(struct hw_store *store, const struct hw_attribute *attribute,
                          struct hw_error *err)
{
    if (!store->writing)
        return hw_fail(err, HW_INTERNAL, "%s: open for reading, cannot set '%s'", store->path,
                       attribute->name);
    if (reserved(attribute->place, attribute->name))
        return hw_fail(err, HW_INTERNAL, "%s: attribute '%s' belongs to the store", store->path,
                       attribute->name);
    store->digested = false;
    return hw_attribute_put(store, attribute, err);
}

enum hw_status hw_store_set_i64(struct hw_store *store, enum hw_place place, const char *name,
                                int64_t value, struct hw_error *err)
{
    char copy[256];

    snprintf(copy, sizeof copy, "%s", name);
    struct hw_attribute attribute = {
        .place = place, .type = HW_ATTRIBUTE_I64, .name = copy, .i64 = value};
    return set(store, &attribute, err);
}

enum hw_status hw_store_set_f64(struct hw_store *store, enum hw_place place, const char *name,
                                double value, struct hw_error *err)
{
    char copy[256];

    snprintf(copy, sizeof copy, "%s", name);
    struct hw_attribute attribute = {
        .place = place, .type = HW_ATTRIBUTE_F64, .name = copy, .f64 = value};
    return set(store, &attribute, err);
}

enum hw_status hw_store_set_string(struct hw_store *store, enum hw_place place, const char *name,
                                   const char *value, struct hw_error *err)
{
    char copy[256], text[HW_STRING_SIZE];

    snprintf(copy, sizeof copy, "%s", name);
    /* HDF5 keeps attributes below 64 KiB; a longer text is cut. */
    snprintf(text, sizeof text, "%s", value);
    struct hw_attribute attribute = {
        .place = place, .type = HW_ATTRIBUTE_STRING, .name = copy, .text = text};
    return set(store, &attribute, err);
}

enum hw_status hw_store_declare_digest(struct hw_store *store, const char *digest,
                                       struct hw_error *err)
{
    if (!store->writing || !hw_digest_valid(digest))
        return hw_fail(err, HW_INTERNAL, "%s: '%s' cannot be declared as digest", store->path,
                       digest);
    snprintf(store->digest, sizeof store->digest, "%s", digest);
    return HW_OK;
}

bool hw_store_has(const struct hw_store *store, enum hw_place place, const char *name)
{
    return hw_attribute_find(store, place, name) != NULL;
}

/* The attribute, or an error message that it lacks or has another type. */
static enum hw_status get(const struct hw_store *store, enum hw_place place, const char *name,
                          enum hw_attribute_type type, const struct hw_attribute **found,
                          struct hw_error *err)
{
    *found = hw_attribute_find(store, place, name);
    if (!*found)
        return hw_fail(err, HW_BAD_INPUT, "%s: attribute '%s%s' is missing", store->path,
                       place_names[place], name);
    if ((*found)->type != type)
        return hw_fail(err, HW_BAD_INPUT, "%s: attribute '%s%s' is of another type", store->path,
                       place_names[place], name);
    return HW_OK;
}

enum hw_status hw_store_get_i64(const struct hw_store *store, enum hw_place place, const char *name,
                                int64_t *value, struct hw_error *err)
{
    const struct hw_attribute *found;
    enum hw_status status = get(store, place, name, HW_ATTRIBUTE_I64, &found, err);

    if (status == HW_OK)
        *value = found->i64;
    return status;
}

enum hw_status hw_store_get_f64(const struct hw_store *store, enum hw_place place, const char *name,
                                double *value, struct hw_error *err)
{
    const struct hw_attribute *found;
    enum hw_status status = get(store, place, name, HW_ATTRIBUTE_F64, &found, err);

    if (status == HW_OK)
        *value = found->f64;
    return status;
}

enum hw_status hw_store_get_string(const struct hw_store *store, enum hw_place place,
                                   const char *name, char *out, size_t size, struct hw_error *err)
{
    const struct hw_attribute *found;
    enum hw_status status = get(store, place, name, HW_ATTRIBUTE_STRING, &found, err);

    if (status == HW_OK)
        snprintf(out, size, "%s", found->text);
    return status;
}

static struct hw_shape shape_of(const struct hw_dataset *dataset)
{
    return (struct hw_shape){.type = dataset->type,
                             .rows = dataset->rows,
                             .columns = dataset->columns,
                             .flat = dataset->flat};
}

bool hw_store_shape(const struct hw_store *store, const char *path, struct hw_shape *shape)
{
    const struct hw_dataset *dataset = hw_dataset_find(store, path);

    if (!dataset || dataset->table)
        return false;
    if (shape)
        *shape = shape_of(dataset);
    return true;
}

/* The shortest decimal that reads back as value. */
static void number_text(double value, char *text, size_t size)
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, size, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            return;
    }
}

bool hw_store_attribute(const struct hw_store *store, int index, enum hw_place *place,
                        const char **name, char *text, size_t size)
{
    if (index < 0 || index >= store->attributes)
        return false;
    const struct hw_attribute *attribute = &store->attribute[index];
    *place = attribute->place;
    *name = attribute->name;
    if (attribute->type == HW_ATTRIBUTE_I64)
        snprintf(text, size, "%" PRId64, attribute->i64);
    else if (attribute->type == HW_ATTRIBUTE_F64)
        number_text(attribute->f64, text, size);
    else
        snprintf(text, size, "%s", attribute->text);
    return true;
}

bool hw_store_dataset(const struct hw_store *store, int index, const char **path, bool *table,
                      struct hw_shape *shape, const char **digest)
{
    if (index < 0 || index >= store->datasets)
        return false;
    const struct hw_dataset *dataset = &store->dataset[index];
    *path = dataset->path;
    *table = dataset->table;
    *shape = shape_of(dataset);
    *digest = dataset->digest;
    return true;
}
