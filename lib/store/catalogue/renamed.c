/*
 * Names that changed with a version of the format. schemas/renamed.json, compiled in, has them:
 *
 *   {VERSION: {PLACE: {OLD: NEW, ...}, ...}, ...}
 *
 * VERSION is the first one with the new names, in rising order; PLACE is a group ("/parameters",
 * "/run"), a table below /run, or one of the study's CSV files. Here attributes of groups are
 * renamed; Python, which alone reads columns, takes the same file (python/hopwave/renamed.py).
 */
#include "lib/store/store_internal.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

extern const char hw_schema_text_renamed[];

static const char *const group_names[] = {
    [HW_AT_ROOT] = "/", [HW_AT_PARAMETERS] = "/parameters", [HW_AT_RUN] = "/run"};

/* Renames the attributes that one version renamed. A name that the file has already stays. */
static enum hw_status rename_attributes(struct hw_store *store, const json_t *places,
                                        struct hw_error *err)
{
    for (int i = 0; i < store->attributes; i++) {
        struct hw_attribute *attribute = &store->attribute[i];
        const json_t *names = json_object_get(places, group_names[attribute->place]);
        const char *now = json_string_value(json_object_get(names, attribute->name));
        if (!now || hw_attribute_find(store, attribute->place, now))
            continue;
        char *copy = strdup(now);
        if (!copy)
            return hw_fail(err, HW_RESOURCES, "no memory for the name of an attribute");
        free(attribute->name);
        attribute->name = copy;
    }
    return HW_OK;
}

enum hw_status hw_renamed_attributes(struct hw_store *store, struct hw_error *err)
{
    enum hw_status status = HW_OK;
    const char *version;
    json_error_t error;
    json_t *places;

    if (store->version >= hw_schema_version(store->schema))
        return HW_OK;
    json_t *table = json_loads(hw_schema_text_renamed, JSON_REJECT_DUPLICATES, &error);
    if (!table)
        return hw_fail(err, HW_INTERNAL, "the renamed names, line %d: %s", error.line, error.text);
    json_object_foreach(table, version, places)
    {
        if (status == HW_OK && strtoll(version, NULL, 10) > store->version)
            status = rename_attributes(store, places, err);
    }
    json_decref(table);
    return status;
}
