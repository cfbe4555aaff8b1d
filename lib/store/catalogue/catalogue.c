/* The catalogue of a store, attributes and datasets, and its root digest. */
#include "lib/store/store_internal.h"

#include "lib/base/incomplete_file.h"
#include "lib/base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *hw_kind_format(enum hw_kind kind)
{
    static const char *const formats[HW_KINDS] = {"hopwave-graph", "hopwave-partition",
                                                  "hopwave-tree", "hopwave-check"};

    return formats[kind];
}

static enum hw_status copy_text(const char *text, char **copy, struct hw_error *err)
{
    *copy = strdup(text);
    return *copy ? HW_OK : hw_fail(err, HW_RESOURCES, "no memory for %zu bytes", strlen(text));
}

enum hw_status hw_store_new(const struct hw_context *ctx, const char *path, enum hw_kind kind,
                            struct hw_store **store, struct hw_error *err)
{
    struct hw_store *made = NULL;

    enum hw_status status = hw_alloc_zero(&made, 1, sizeof *made, path, err);
    *store = made;
    if (status != HW_OK)
        return status;
    made->ctx = *ctx;
    made->kind = kind;
    made->temporary.fd = made->temporary.layout_fd = made->fd = -1;
    made->file = -1;
    made->data = MPI_FILE_NULL;
    made->hints = MPI_INFO_NULL;
    status = copy_text(path, &made->path, err);
    if (status == HW_OK)
        status = hw_schema_load(kind, &made->schema, err);
    if (status == HW_OK)
        made->version = hw_schema_version(made->schema);
    if (status != HW_OK) {
        hw_store_free(made);
        *store = NULL;
    }
    return status;
}

enum hw_status hw_store_prefix(const struct hw_store *store, enum hw_status status,
                               struct hw_error *err)
{
    return hw_prefix(err, status, "%s", store->path);
}

static void attribute_clear(struct hw_attribute *attribute)
{
    free(attribute->name);
    free(attribute->text);
}

static void dataset_clear(struct hw_dataset *dataset)
{
    free(dataset->path);
    free(dataset->segments);
    free(dataset->offset);
    free(dataset->block_at);
    hw_blocks_free(&dataset->blocks);
}

void hw_attributes_clear(struct hw_store *store)
{
    for (int i = 0; i < store->attributes; i++)
        attribute_clear(&store->attribute[i]);
    store->attributes = 0;
}

void hw_store_free(struct hw_store *store)
{
    if (!store)
        return;
    hw_read_elements_close(store);
    hw_attributes_clear(store);
    for (int i = 0; i < store->datasets; i++)
        dataset_clear(&store->dataset[i]);
    free(store->attribute);
    free(store->dataset);
    if (store->temporary.path)
        hw_incomplete_file_forget(store->temporary.path);
    free(store->temporary.path);
    if (store->hints != MPI_INFO_NULL)
        MPI_Info_free(&store->hints);
    free(store->path);
    hw_schema_free(store->schema);
    if (store->fd >= 0)
        close(store->fd);
    free(store);
}

static struct hw_attribute *attribute_at(const struct hw_store *store, enum hw_place place,
                                         const char *name)
{
    for (int i = 0; i < store->attributes; i++)
        if (store->attribute[i].place == place && strcmp(store->attribute[i].name, name) == 0)
            return &store->attribute[i];
    return NULL;
}

const struct hw_attribute *hw_attribute_find(const struct hw_store *store, enum hw_place place,
                                             const char *name)
{
    return attribute_at(store, place, name);
}

enum hw_status hw_attribute_put(struct hw_store *store, const struct hw_attribute *attribute,
                                struct hw_error *err)
{
    struct hw_attribute made = *attribute;
    struct hw_attribute *old = attribute_at(store, attribute->place, attribute->name);

    made.text = NULL;
    enum hw_status status = copy_text(attribute->name, &made.name, err);
    if (status == HW_OK && attribute->type == HW_ATTRIBUTE_STRING)
        status = copy_text(attribute->text, &made.text, err);
    if (status == HW_OK && !old) {
        struct hw_attribute *grown =
            realloc(store->attribute, ((size_t)store->attributes + 1) * sizeof *store->attribute);
        if (!grown) {
            status = hw_fail(err, HW_RESOURCES, "no memory for attributes");
        } else {
            store->attribute = grown;
            old = &grown[store->attributes++];
            *old = (struct hw_attribute){0};
        }
    }
    if (status != HW_OK) {
        attribute_clear(&made);
        return status;
    }
    attribute_clear(old);
    *old = made;
    return HW_OK;
}

struct hw_dataset *hw_dataset_find(const struct hw_store *store, const char *path)
{
    for (int i = 0; i < store->datasets; i++)
        if (strcmp(store->dataset[i].path, path) == 0)
            return &store->dataset[i];
    return NULL;
}

enum hw_status hw_dataset_add(struct hw_store *store, const char *path, struct hw_dataset **dataset,
                              struct hw_error *err)
{
    struct hw_dataset made = {.id = -1, .address = -1, .flat = true, .rows = 1};
    struct hw_dataset *grown =
        realloc(store->dataset, ((size_t)store->datasets + 1) * sizeof *store->dataset);

    if (!grown)
        return hw_fail(err, HW_RESOURCES, "no memory for datasets");
    store->dataset = grown;
    enum hw_status status = copy_text(path, &made.path, err);
    if (status != HW_OK)
        return status;
    *dataset = &grown[store->datasets++];
    **dataset = made;
    return HW_OK;
}

static hw_count blocks_in(hw_count elements)
{
    return elements / HW_STORE_BLOCK + (elements % HW_STORE_BLOCK != 0);
}

hw_count hw_dataset_count(const struct hw_dataset *dataset)
{
    return dataset->rows * dataset->columns;
}

hw_count hw_dataset_segments(const struct hw_dataset *dataset)
{
    return dataset->offset ? dataset->parts : dataset->rows;
}

hw_count hw_segment_first(const struct hw_dataset *dataset, hw_count segment)
{
    return dataset->offset ? dataset->offset[segment] : segment * dataset->columns;
}

hw_count hw_segment_length(const struct hw_dataset *dataset, hw_count segment)
{
    if (!dataset->offset)
        return dataset->columns;
    return dataset->offset[segment + 1] - dataset->offset[segment];
}

hw_count hw_segment_block(const struct hw_dataset *dataset, hw_count segment)
{
    return dataset->offset ? dataset->block_at[segment] : segment * blocks_in(dataset->columns);
}

enum hw_status hw_dataset_set_offsets(struct hw_dataset *dataset, const char *path, hw_count parts,
                                      const hw_count *offset, enum hw_status severity,
                                      struct hw_error *err)
{
    if (offset[0] != 0 || offset[parts] != dataset->columns)
        return hw_fail(err, severity,
                       "%s: %s runs from %" PRId64 " to %" PRId64 ", not 0 to %" PRId64,
                       dataset->path, path, offset[0], offset[parts], dataset->columns);
    for (hw_count i = 0; i < parts; i++)
        if (offset[i] > offset[i + 1])
            return hw_fail(err, severity, "%s: %s falls at entry %" PRId64, dataset->path, path, i);
    enum hw_status status = HW_OK;
    if (!dataset->segments)
        status = copy_text(path, &dataset->segments, err);
    if (status == HW_OK)
        status = hw_alloc(&dataset->block_at, parts + 1, sizeof *offset, path, err);
    if (status == HW_OK)
        status = hw_alloc(&dataset->offset, parts + 1, sizeof *offset, path, err);
    if (status != HW_OK)
        return status;
    dataset->parts = parts;
    dataset->block_at[0] = 0;
    memcpy(dataset->offset, offset, ((size_t)parts + 1) * sizeof *offset);
    for (hw_count i = 0; i < parts; i++)
        dataset->block_at[i + 1] = dataset->block_at[i] + blocks_in(offset[i + 1] - offset[i]);
    return HW_OK;
}

/* ---- the root digest ---- */

static int by_name(const void *a, const void *b)
{
    const struct hw_attribute *const *x = a, *const *y = b;

    return strcmp((*x)->name, (*y)->name);
}

static int by_path(const void *a, const void *b)
{
    const struct hw_dataset *const *x = a, *const *y = b;

    return strcmp((*x)->path, (*y)->path);
}

/* The text that the root digest hashes. */
static void write_lines(const struct hw_store *store, const struct hw_attribute **attribute,
                        int attributes, const struct hw_dataset **dataset, int datasets, FILE *out)
{
    fprintf(out, "%s %" PRId64 "\n", hw_kind_format(store->kind),
            hw_schema_digest_version(store->schema));
    for (int i = 0; i < attributes; i++) {
        if (attribute[i]->type == HW_ATTRIBUTE_STRING)
            fprintf(out, "%s=%s\n", attribute[i]->name, attribute[i]->text);
        else
            fprintf(out, "%s=%" PRId64 "\n", attribute[i]->name, attribute[i]->i64);
    }
    for (int i = 0; i < datasets; i++) {
        fprintf(out, "%s %s ", dataset[i]->path, hw_type_name(dataset[i]->type));
        if (!dataset[i]->flat)
            fprintf(out, "%" PRId64 "x", dataset[i]->rows);
        fprintf(out, "%" PRId64 " %s\n", dataset[i]->columns, dataset[i]->digest);
    }
}

enum hw_status hw_catalogue_digest(const struct hw_store *store, char *out, struct hw_error *err)
{
    const struct hw_attribute **attribute = NULL;
    const struct hw_dataset **dataset = NULL;
    int attributes = 0, datasets = 0;
    char *text = NULL;
    size_t size = 0;
    FILE *lines = NULL;

    enum hw_status status =
        hw_alloc(&attribute, store->attributes + 1, sizeof *attribute, "attributes", err);
    if (status == HW_OK)
        status = hw_alloc(&dataset, store->datasets + 1, sizeof *dataset, "datasets", err);
    if (status == HW_OK && !(lines = open_memstream(&text, &size)))
        status = hw_fail(err, HW_RESOURCES, "no memory for a digest");
    if (status == HW_OK) {
        for (int i = 0; i < store->attributes; i++)
            if (store->attribute[i].place == HW_AT_ROOT &&
                hw_schema_digests_attribute(store->schema, store->attribute[i].name))
                attribute[attributes++] = &store->attribute[i];
        for (int i = 0; i < store->datasets; i++)
            if (hw_schema_digests_dataset(store->schema, store->dataset[i].path))
                dataset[datasets++] = &store->dataset[i];
        qsort(attribute, (size_t)attributes, sizeof *attribute, by_name);
        qsort(dataset, (size_t)datasets, sizeof *dataset, by_path);
        write_lines(store, attribute, attributes, dataset, datasets, lines);
        if (fclose(lines) != 0)
            status = hw_fail(err, HW_RESOURCES, "no memory for a digest");
    }
    if (status == HW_OK) {
        XXH128_canonical_t canonical;
        XXH128_canonicalFromHash(&canonical, XXH3_128bits(text, size));
        hw_digest_text(canonical.digest, out);
    }
    free(text);
    free(attribute);
    free(dataset);
    return status;
}
