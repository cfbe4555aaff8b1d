/* Rank 0's catalogue to all ranks, as one message. */
#include "lib/store/store_internal.h"

#include "lib/base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A message being packed or unpacked. */
struct message {
    char *data;
    size_t size, capacity, at;
    bool failed;
};

static void put_bytes(struct message *message, const void *bytes, size_t size)
{
    if (message->failed)
        return;
    if (message->size + size > message->capacity) {
        size_t capacity = 2 * (message->size + size);
        char *grown = realloc(message->data, capacity);
        if (!grown) {
            message->failed = true;
            return;
        }
        message->data = grown;
        message->capacity = capacity;
    }
    memcpy(message->data + message->size, bytes, size);
    message->size += size;
}

static void put_i64(struct message *message, int64_t value)
{
    put_bytes(message, &value, sizeof value);
}

/* A text or NULL. */
static void put_text(struct message *message, const char *text)
{
    size_t size = text ? strlen(text) + 1 : 0;

    put_i64(message, (int64_t)size);
    put_bytes(message, text ? text : "", size);
}

static void take_bytes(struct message *message, void *bytes, size_t size)
{
    memset(bytes, 0, size);
    if (message->failed || size > message->size - message->at) {
        message->failed = true;
        return;
    }
    memcpy(bytes, message->data + message->at, size);
    message->at += size;
}

static int64_t take_i64(struct message *message)
{
    int64_t value;

    take_bytes(message, &value, sizeof value);
    return value;
}

/* A number from 0 to most. */
static int64_t take_number(struct message *message, int64_t most)
{
    const int64_t value = take_i64(message);

    if (value >= 0 && value <= most)
        return value;
    message->failed = true;
    return 0;
}

/* Borrowed from the message; NULL where it was NULL, or the message is cut. */
static char *take_text(struct message *message)
{
    const size_t size = (size_t)take_number(message, (int64_t)(message->size - message->at));
    char *text = message->data + message->at;

    if (size > message->size - message->at ||
        (size > 0 && memchr(text, '\0', size) != text + size - 1))
        message->failed = true;
    if (message->failed || size == 0)
        return NULL;
    message->at += size;
    return text;
}

static void pack_attributes(const struct hw_store *store, struct message *message)
{
    put_i64(message, store->attributes);
    for (int i = 0; i < store->attributes; i++) {
        const struct hw_attribute *attribute = &store->attribute[i];
        put_i64(message, attribute->place);
        put_i64(message, attribute->type);
        put_text(message, attribute->name);
        put_i64(message, attribute->i64);
        put_bytes(message, &attribute->f64, sizeof attribute->f64);
        put_text(message, attribute->text);
    }
}

static enum hw_status unpack_attributes(struct hw_store *store, struct message *message,
                                        struct hw_error *err)
{
    enum hw_status status = HW_OK;
    int64_t count = take_i64(message);

    hw_attributes_clear(store);
    for (int64_t i = 0; i < count && status == HW_OK; i++) {
        struct hw_attribute attribute = {
            .place = (enum hw_place)take_number(message, HW_AT_RUN),
            .type = (enum hw_attribute_type)take_number(message, HW_ATTRIBUTE_STRING)};
        attribute.name = take_text(message);
        attribute.i64 = take_i64(message);
        take_bytes(message, &attribute.f64, sizeof attribute.f64);
        attribute.text = take_text(message);
        if (message->failed || !attribute.name ||
            (attribute.type == HW_ATTRIBUTE_STRING && !attribute.text))
            return hw_fail(err, HW_INTERNAL, "attributes were cut on their way between ranks");
        status = hw_attribute_put(store, &attribute, err);
    }
    return status;
}

static void pack_datasets(const struct hw_store *store, struct message *message)
{
    put_text(message, store->digest);
    put_i64(message, store->version);
    put_i64(message, store->length);
    put_i64(message, store->datasets);
    for (int i = 0; i < store->datasets; i++) {
        const struct hw_dataset *dataset = &store->dataset[i];
        put_text(message, dataset->path);
        put_i64(message, dataset->table);
        put_i64(message, dataset->type);
        put_i64(message, (int64_t)dataset->element);
        put_i64(message, dataset->flat);
        put_i64(message, dataset->rows);
        put_i64(message, dataset->columns);
        put_i64(message, dataset->address);
        put_i64(message, dataset->converted);
        put_text(message, dataset->digest);
        put_text(message, dataset->segments);
        put_i64(message, dataset->parts);
        if (dataset->offset)
            put_bytes(message, dataset->offset,
                      ((size_t)dataset->parts + 1) * sizeof *dataset->offset);
    }
}

static enum hw_status unpack_dataset(struct hw_store *store, struct message *message,
                                     struct hw_error *err)
{
    struct hw_dataset *dataset = NULL;
    hw_count *offset = NULL;
    const char *path = take_text(message);

    if (message->failed || !path)
        return hw_fail(err, HW_INTERNAL, "datasets were cut on their way between ranks");
    enum hw_status status = hw_dataset_add(store, path, &dataset, err);
    if (status != HW_OK)
        return status;
    dataset->table = take_i64(message) != 0;
    dataset->type = (enum hw_type)take_number(message, HW_TYPES);
    dataset->element = (size_t)take_i64(message);
    dataset->flat = take_i64(message) != 0;
    dataset->rows = take_i64(message);
    dataset->columns = take_i64(message);
    dataset->address = take_i64(message);
    dataset->converted = take_i64(message) != 0;
    const char *digest = take_text(message);
    snprintf(dataset->digest, sizeof dataset->digest, "%s", digest ? digest : "");
    const char *segments = take_text(message);
    const hw_count most = (hw_count)((message->size - message->at) / sizeof *offset);
    const hw_count parts = take_number(message, most);
    if (!segments || message->failed)
        return HW_OK;
    status = hw_alloc(&offset, parts + 1, sizeof *offset, segments, err);
    if (status == HW_OK) {
        take_bytes(message, offset, ((size_t)parts + 1) * sizeof *offset);
        if (!message->failed)
            status = hw_dataset_set_offsets(dataset, segments, parts, offset, HW_INTERNAL, err);
    }
    free(offset);
    return status;
}

static enum hw_status unpack_datasets(struct hw_store *store, struct message *message,
                                      struct hw_error *err)
{
    enum hw_status status = HW_OK;
    const char *digest = take_text(message);

    snprintf(store->digest, sizeof store->digest, "%s", digest ? digest : "");
    store->version = take_i64(message);
    store->length = take_i64(message);
    int64_t count = take_i64(message);
    for (int64_t i = 0; i < count && status == HW_OK; i++)
        status = unpack_dataset(store, message, err);
    if (status == HW_OK && message->failed)
        status = hw_fail(err, HW_INTERNAL, "datasets were cut on their way between ranks");
    return status;
}

/* Broadcasts a message of rank 0 in pieces that an int can count. */
static enum hw_status broadcast(const struct hw_context *ctx, struct message *message,
                                struct hw_error *err)
{
    int64_t size = message->failed ? -1 : (int64_t)message->size;

    enum hw_status status =
        hw_mpi(MPI_Bcast(&size, 1, MPI_INT64_T, 0, ctx->world), "MPI_Bcast", err);
    if (status == HW_OK && size < 0)
        status = hw_fail(err, HW_RESOURCES, "no memory for a catalogue");
    if (status == HW_OK && ctx->rank != 0) {
        status = hw_alloc(&message->data, size, 1, "catalogue", err);
        message->size = (size_t)size;
    }
    status = hw_agree(ctx->world, status, err);
    for (int64_t at = 0; at < size && status == HW_OK; at += HW_STORE_PIECE) {
        int64_t piece = size - at < HW_STORE_PIECE ? size - at : HW_STORE_PIECE;
        status = hw_mpi(MPI_Bcast(message->data + at, (int)piece, MPI_BYTE, 0, ctx->world),
                        "MPI_Bcast", err);
    }
    return status;
}

enum hw_status hw_catalogue_broadcast(struct hw_store *store, bool datasets, struct hw_error *err)
{
    struct message message = {0};

    if (store->ctx.rank == 0) {
        pack_attributes(store, &message);
        if (datasets)
            pack_datasets(store, &message);
    }
    enum hw_status status = broadcast(&store->ctx, &message, err);
    if (status == HW_OK && store->ctx.rank != 0) {
        status = unpack_attributes(store, &message, err);
        if (status == HW_OK && datasets)
            status = unpack_datasets(store, &message, err);
    }
    free(message.data);
    return hw_agree(store->ctx.world, status, err);
}
