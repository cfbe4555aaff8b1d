/*
 * Schemas: what a file of each kind may and must hold. They are the JSON files
 * of schemas/, compiled in; doc/file-formats.md describes the dialect:
 *
 *   {"format": NAME, "version": N, "digest_version": N,
 *    "attributes": {NAME: {"type": "i64"|"f64"|"string"|"digest",
 *                          "min": N, "max": N, "enum": [VALUE, ...],
 *                          "when": CONDITION, "optional": BOOL, "digest": BOOL}},
 *    "declared": CONDITION,
 *    "rules": [{"when": CONDITION, "equal": [SIZE, SIZE]}],
 *    "datasets": {PATH: {"types": {TYPE: CONDITION}, "shape": [SIZE, ...],
 *                        "segments": PATH, "when": CONDITION,
 *                        "optional": BOOL, "digest": BOOL}}}
 *
 * CONDITION: {ATTRIBUTE: [VALUE, ...] or {"min": N, "max": N}, ...}, all of which
 * hold; {} always holds. What `when` does not admit must be absent; what it
 * admits must be there unless optional. SIZE: a sum of products of whole numbers
 * and names; a name is an integer attribute, or else a size that the first
 * dataset whose dimension is that name alone gives; "a|b" is a if that has a value, else b.
 */
#include "lib/store/store_internal.h"

#include "lib/base/memory.h"

#include <ctype.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

extern const char hw_schema_text_graph[], hw_schema_text_partition[], hw_schema_text_tree[],
    hw_schema_text_check[];

struct hw_schema {
    json_t *root;
};

/* What a check needs at hand. */
struct check {
    const struct hw_store *store;
    const json_t *schema;
    json_t *sizes; /* names that datasets gave a size */
    enum hw_status severity;
    struct hw_error *err;
};

enum hw_status hw_schema_load(enum hw_kind kind, struct hw_schema **schema, struct hw_error *err)
{
    const char *const text[HW_KINDS] = {hw_schema_text_graph, hw_schema_text_partition,
                                        hw_schema_text_tree, hw_schema_text_check};
    json_error_t error;

    enum hw_status status = hw_alloc_zero(schema, 1, sizeof **schema, "schema", err);
    if (status != HW_OK)
        return status;
    (*schema)->root = json_loads(text[kind], JSON_REJECT_DUPLICATES, &error);
    if ((*schema)->root)
        return HW_OK;
    free(*schema);
    *schema = NULL;
    return hw_fail(err, HW_INTERNAL, "the %s schema, line %d: %s", hw_kind_format(kind), error.line,
                   error.text);
}

void hw_schema_free(struct hw_schema *schema)
{
    if (!schema)
        return;
    json_decref(schema->root);
    free(schema);
}

int64_t hw_schema_version(const struct hw_schema *schema)
{
    return json_integer_value(json_object_get(schema->root, "version"));
}

int64_t hw_schema_digest_version(const struct hw_schema *schema)
{
    return json_integer_value(json_object_get(schema->root, "digest_version"));
}

static const json_t *entry(const json_t *schema, const char *group, const char *name)
{
    return json_object_get(json_object_get(schema, group), name);
}

bool hw_schema_digests_attribute(const struct hw_schema *schema, const char *name)
{
    return json_is_true(json_object_get(entry(schema->root, "attributes", name), "digest"));
}

bool hw_schema_digests_dataset(const struct hw_schema *schema, const char *path)
{
    return json_is_true(json_object_get(entry(schema->root, "datasets", path), "digest"));
}

/* ---- conditions ---- */

static bool value_is(const struct hw_attribute *attribute, const json_t *value)
{
    if (attribute->type == HW_ATTRIBUTE_STRING)
        return json_is_string(value) && strcmp(attribute->text, json_string_value(value)) == 0;
    return attribute->type == HW_ATTRIBUTE_I64 && json_is_integer(value) &&
           attribute->i64 == json_integer_value(value);
}

/* Whether the value is one of a list. */
static bool value_among(const struct hw_attribute *attribute, const json_t *list)
{
    for (size_t i = 0; i < json_array_size(list); i++)
        if (value_is(attribute, json_array_get(list, i)))
            return true;
    return false;
}

/* Whether a number lies within {"min":, "max":}, either of which may lack. */
static bool value_within(const struct hw_attribute *attribute, const json_t *range)
{
    const json_t *min = json_object_get(range, "min"), *max = json_object_get(range, "max");

    if (attribute->type == HW_ATTRIBUTE_I64)
        return (!min || attribute->i64 >= json_integer_value(min)) &&
               (!max || attribute->i64 <= json_integer_value(max));
    if (attribute->type == HW_ATTRIBUTE_F64)
        return (!min || attribute->f64 >= json_number_value(min)) &&
               (!max || attribute->f64 <= json_number_value(max));
    return !min && !max;
}

static bool holds(const struct hw_store *store, const json_t *condition)
{
    const char *name;
    json_t *wanted;

    json_object_foreach((json_t *)condition, name, wanted)
    {
        const struct hw_attribute *attribute = hw_attribute_find(store, HW_AT_ROOT, name);
        if (!attribute || !(json_is_array(wanted) ? value_among(attribute, wanted)
                                                  : value_within(attribute, wanted)))
            return false;
    }
    return true;
}

bool hw_schema_declared(const struct hw_store *store)
{
    const json_t *condition = json_object_get(store->schema->root, "declared");

    return condition && holds(store, condition);
}

/* ---- sizes ---- */

/* The value of a number, an integer attribute or a bound name. */
static bool name_value(const struct check *check, const char *factor, hw_count *value)
{
    const struct hw_attribute *attribute = hw_attribute_find(check->store, HW_AT_ROOT, factor);
    const json_t *bound = json_object_get(check->sizes, factor);

    if (isdigit((unsigned char)factor[0]))
        *value = strtoll(factor, NULL, 10);
    else if (attribute && attribute->type == HW_ATTRIBUTE_I64)
        *value = attribute->i64;
    else if (bound)
        *value = json_integer_value(bound);
    else
        return false;
    return *value >= 0;
}

/* The value of one factor: of the first of its names that has one. */
static bool factor_value(const struct check *check, char *factor, hw_count *value)
{
    char *name;

    while ((name = strsep(&factor, "|")))
        if (name_value(check, name, value))
            return true;
    return false;
}

/* Evaluates "a*b|c+d"; false where a name is unknown or the result overflows. */
static bool size_value(const struct check *check, const char *text, hw_count *value)
{
    char copy[128];
    char *terms = copy, *term;

    *value = 0;
    if (strlen(text) >= sizeof copy)
        return false;
    strcpy(copy, text);
    while ((term = strsep(&terms, "+"))) {
        hw_count product = 1;
        char *factor;
        while ((factor = strsep(&term, "*"))) {
            hw_count one;
            if (!factor_value(check, factor, &one) ||
                __builtin_mul_overflow(product, one, &product))
                return false;
        }
        if (__builtin_add_overflow(*value, product, value))
            return false;
    }
    return true;
}

/* ---- attributes ---- */

static bool type_fits(const struct hw_attribute *attribute, const char *type)
{
    switch (attribute->type) {
    case HW_ATTRIBUTE_I64:
        return strcmp(type, "i64") == 0;
    case HW_ATTRIBUTE_F64:
        return strcmp(type, "f64") == 0;
    default:
        return strcmp(type, "string") == 0 || strcmp(type, "digest") == 0;
    }
}

static enum hw_status check_value(const struct check *check, const char *name, const json_t *rule,
                                  const struct hw_attribute *attribute)
{
    const char *type = json_string_value(json_object_get(rule, "type"));
    const json_t *list = json_object_get(rule, "enum");

    if (!type_fits(attribute, type))
        return hw_fail(check->err, check->severity, "attribute '%s' is not of type %s", name, type);
    if (strcmp(type, "digest") == 0 && attribute->text[0] && !hw_digest_valid(attribute->text))
        return hw_fail(check->err, check->severity, "attribute '%s' is not a digest", name);
    if ((list && !value_among(attribute, list)) || !value_within(attribute, rule)) {
        if (attribute->type == HW_ATTRIBUTE_I64)
            return hw_fail(check->err, check->severity,
                           "attribute '%s' has the value %" PRId64 ", which is not allowed", name,
                           attribute->i64);
        return hw_fail(check->err, check->severity,
                       "attribute '%s' has a value that is not allowed", name);
    }
    return HW_OK;
}

static enum hw_status check_attributes(const struct check *check)
{
    const char *name;
    json_t *rule;
    const json_t *rules = json_object_get(check->schema, "attributes");
    enum hw_status status = HW_OK;

    /* Values first, so that conditions see only what is allowed. */
    for (int i = 0; i < check->store->attributes && status == HW_OK; i++) {
        const struct hw_attribute *attribute = &check->store->attribute[i];
        if (attribute->place != HW_AT_ROOT)
            continue;
        const json_t *known = json_object_get(rules, attribute->name);
        if (!known)
            return hw_fail(check->err, check->severity, "attribute '%s' does not belong here",
                           attribute->name);
        status = check_value(check, attribute->name, known, attribute);
    }
    if (status != HW_OK)
        return status;
    json_object_foreach((json_t *)rules, name, rule)
    {
        bool present = hw_attribute_find(check->store, HW_AT_ROOT, name) != NULL;
        bool wanted = holds(check->store, json_object_get(rule, "when"));
        if (present && !wanted)
            return hw_fail(check->err, check->severity, "attribute '%s' does not belong here",
                           name);
        if (!present && wanted && !json_is_true(json_object_get(rule, "optional")))
            return hw_fail(check->err, check->severity, "attribute '%s' is missing", name);
    }
    return HW_OK;
}

/* ---- datasets ---- */

/* Gives names that are a dimension on their own the size found there. */
static enum hw_status bind_sizes(const struct check *check)
{
    const json_t *rules = json_object_get(check->schema, "datasets");
    const char *path;
    json_t *rule;

    json_object_foreach((json_t *)rules, path, rule)
    {
        const struct hw_dataset *dataset = hw_dataset_find(check->store, path);
        const json_t *shape = json_object_get(rule, "shape");
        for (size_t d = 0; dataset && d < json_array_size(shape); d++) {
            const char *size = json_string_value(json_array_get(shape, d));
            hw_count found = d + 1 == json_array_size(shape) ? dataset->columns : dataset->rows;
            if (strpbrk(size, "+*|") || isdigit((unsigned char)size[0]) ||
                hw_attribute_find(check->store, HW_AT_ROOT, size) ||
                json_object_get(check->sizes, size))
                continue;
            if (json_object_set_new(check->sizes, size, json_integer(found)) != 0)
                return hw_fail(check->err, HW_RESOURCES, "no memory for a schema");
        }
    }
    return HW_OK;
}

static enum hw_status check_shape(const struct check *check, const struct hw_dataset *dataset,
                                  const json_t *rule)
{
    const json_t *shape = json_object_get(rule, "shape");

    if (json_array_size(shape) != (dataset->flat ? 1 : 2))
        return hw_fail(check->err, check->severity, "%s has %d dimensions, not %zu", dataset->path,
                       dataset->flat ? 1 : 2, json_array_size(shape));
    for (size_t d = 0; d < json_array_size(shape); d++) {
        const char *size = json_string_value(json_array_get(shape, d));
        hw_count found = d + 1 == json_array_size(shape) ? dataset->columns : dataset->rows;
        hw_count wanted = 0;
        if (!size_value(check, size, &wanted))
            return hw_fail(check->err, check->severity, "%s: its size %s is unknown or overflows",
                           dataset->path, size);
        if (found != wanted)
            return hw_fail(check->err, check->severity,
                           "%s has %" PRId64 " elements in dimension %zu, not the %" PRId64
                           " of %s",
                           dataset->path, found, d + 1, wanted, size);
    }
    return HW_OK;
}

static enum hw_status check_dataset(const struct check *check, const struct hw_dataset *dataset,
                                    const json_t *rule)
{
    const char *segments = json_string_value(json_object_get(rule, "segments"));
    const json_t *type = NULL;

    if (dataset->type == HW_TYPES)
        return hw_fail(check->err, check->severity, "%s is of a type that is not used here",
                       dataset->path);
    type = json_object_get(json_object_get(rule, "types"), hw_type_name(dataset->type));
    if (dataset->table || !type || !holds(check->store, type))
        return hw_fail(check->err, check->severity, "%s may not be of type %s", dataset->path,
                       dataset->table ? "table" : hw_type_name(dataset->type));
    if ((segments == NULL) != (dataset->segments == NULL) ||
        (segments && strcmp(segments, dataset->segments) != 0))
        return hw_fail(check->err, check->severity, "%s is cut into segments by %s, not by %s",
                       dataset->path, dataset->segments ? dataset->segments : "nothing",
                       segments ? segments : "nothing");
    return check_shape(check, dataset, rule);
}

void hw_schema_choose_types(struct hw_store *store)
{
    for (int i = 0; i < store->datasets; i++) {
        struct hw_dataset *dataset = &store->dataset[i];
        const json_t *types =
            json_object_get(entry(store->schema->root, "datasets", dataset->path), "types");
        const json_t *stored =
            dataset->type < HW_TYPES ? json_object_get(types, hw_type_name(dataset->type)) : NULL;
        if (dataset->table || (stored && holds(store, stored)))
            continue;
        for (int t = 0; t < HW_TYPES; t++) {
            const json_t *allowed = json_object_get(types, hw_type_name((enum hw_type)t));
            if (!allowed || !holds(store, allowed) ||
                dataset->real != (t == (int)HW_F32 || t == (int)HW_F64))
                continue;
            dataset->type = (enum hw_type)t;
            dataset->element = hw_type_size(dataset->type);
            dataset->converted = true;
        }
    }
}

static enum hw_status check_datasets(const struct check *check)
{
    const json_t *rules = json_object_get(check->schema, "datasets");
    const char *path;
    json_t *rule;

    for (int i = 0; i < check->store->datasets; i++) {
        const char *known = check->store->dataset[i].path;
        if (strncmp(known, "/run/", 5) != 0 && !json_object_get(rules, known))
            return hw_fail(check->err, check->severity, "%s does not belong here", known);
    }
    json_object_foreach((json_t *)rules, path, rule)
    {
        const struct hw_dataset *dataset = hw_dataset_find(check->store, path);
        bool wanted = holds(check->store, json_object_get(rule, "when"));
        if (dataset && !wanted)
            return hw_fail(check->err, check->severity, "%s does not belong here", path);
        if (!dataset && wanted && !json_is_true(json_object_get(rule, "optional")))
            return hw_fail(check->err, check->severity, "%s is missing", path);
        enum hw_status status = dataset ? check_dataset(check, dataset, rule) : HW_OK;
        if (status != HW_OK)
            return status;
    }
    return HW_OK;
}

static enum hw_status check_rules(const struct check *check)
{
    const json_t *rules = json_object_get(check->schema, "rules");

    for (size_t i = 0; i < json_array_size(rules); i++) {
        const json_t *rule = json_array_get(rules, i), *equal = json_object_get(rule, "equal");
        const char *left = json_string_value(json_array_get(equal, 0));
        const char *right = json_string_value(json_array_get(equal, 1));
        hw_count a = 0, b = 0;
        if (!holds(check->store, json_object_get(rule, "when")))
            continue;
        if (!size_value(check, left, &a) || !size_value(check, right, &b) || a != b)
            return hw_fail(check->err, check->severity, "'%s' is not '%s'", left, right);
    }
    return HW_OK;
}

enum hw_status hw_schema_check(const struct hw_store *store, enum hw_status severity,
                               struct hw_error *err)
{
    struct check check = {.store = store,
                          .schema = store->schema->root,
                          .sizes = json_object(),
                          .severity = severity,
                          .err = err};

    if (!check.sizes)
        return hw_fail(err, HW_RESOURCES, "no memory for a schema");
    enum hw_status status = check_attributes(&check);
    if (status == HW_OK)
        status = bind_sizes(&check);
    if (status == HW_OK)
        status = check_datasets(&check);
    if (status == HW_OK)
        status = check_rules(&check);
    json_decref(check.sizes);
    return status;
}
