/*
 * Any bytes as a catalogue of attributes and datasets, and as the message in which rank 0 sends its
 * catalogue to the others. What a text of lines describes, after a kind and a version, is compared
 * with the schema of that kind; what fits, or not, must survive the way between ranks.
 */
#include "tests/fuzz/fuzz.h"

/* For packing and unpacking without ranks. */
#include "lib/store/catalogue/catalogue_broadcast.c"

/* An empty store of a kind. */
static struct hw_store *new_store(enum hw_kind kind)
{
    const struct hw_context alone = {.size = 1};
    struct hw_store *store = NULL;
    struct hw_error err;

    hw_fuzz_demand(hw_store_new(&alone, "fuzz", kind, &store, &err) == HW_OK, "no store");
    return store;
}

/* ---- messages ---- */

static struct message packed(const struct hw_store *store)
{
    struct message message = {0};

    pack_attributes(store, &message);
    pack_datasets(store, &message);
    hw_fuzz_demand(!message.failed, "no memory for a message");
    return message;
}

static enum hw_status unpack(struct hw_store *store, struct message *message)
{
    struct hw_error err = {{0}};
    enum hw_status status = unpack_attributes(store, message, &err);

    if (status == HW_OK)
        status = unpack_datasets(store, message, &err);
    hw_fuzz_demand((status == HW_OK) == (err.text[0] == '\0'), "a status without its reason");
    return status;
}

static void demand_same(const struct message *one, const struct message *other)
{
    hw_fuzz_demand(one->size == other->size && memcmp(one->data, other->data, one->size) == 0,
                   "a catalogue that differs once it was sent");
}

/* What is unpacked from any bytes, and packed again, must be unpacked as the same. */
void hw_fuzz_messages(const uint8_t *data, size_t size)
{
    struct hw_store *first = new_store(HW_KIND_GRAPH), *second = new_store(HW_KIND_GRAPH);
    struct message message = {.data = hw_fuzz_room(size), .size = size};

    if (size > 0)
        memcpy(message.data, data, size);
    if (unpack(first, &message) == HW_OK) {
        struct message again = packed(first);
        hw_fuzz_demand(unpack(second, &again) == HW_OK, "refused when it is sent again");
        struct message third = packed(second);
        demand_same(&again, &third);
        free(again.data);
        free(third.data);
    }
    free(message.data);
    hw_store_free(first);
    hw_store_free(second);
}

/* ---- lines ---- */

/* Adds the dataset "PATH TYPE ROWS COLUMNS": TYPE is that of enum hw_type, ROWS 0 for one of one
 * dimension. */
static void add_dataset(struct hw_store *store, const char *line)
{
    char path[64];
    int type;
    hw_count rows, columns;
    struct hw_dataset *dataset = NULL;
    struct hw_error err;

    if (sscanf(line, "%63s %d %" SCNd64 " %" SCNd64, path, &type, &rows, &columns) != 4 ||
        type < 0 || type > HW_TYPES || rows < 0 || columns < 0)
        return;
    hw_fuzz_demand(hw_dataset_add(store, path, &dataset, &err) == HW_OK, "no memory");
    dataset->type = (enum hw_type)type;
    dataset->element = type < HW_TYPES ? hw_type_size(dataset->type) : 2;
    dataset->flat = rows == 0;
    dataset->rows = rows == 0 ? 1 : rows;
    dataset->columns = columns;
    snprintf(dataset->digest, sizeof dataset->digest, HW_DIGEST_NAME "%032d", type);
}

/* Adds the attribute "PLACE NAME=VALUE": PLACE is that of enum hw_place; VALUE a text where it is
 * not wholly a number. */
static void add_attribute(struct hw_store *store, char *line)
{
    char *name = strchr(line, ' '), *value = name ? strchr(name, '=') : NULL, *end;
    struct hw_error err;

    if (!value || line[0] < '0' || line[0] > '0' + HW_AT_RUN)
        return;
    *value++ = '\0';
    struct hw_attribute made = {
        .place = (enum hw_place)(line[0] - '0'), .name = name + 1, .text = value};
    made.i64 = strtoll(value, &end, 10);
    made.type = *value && *end == '\0' ? HW_ATTRIBUTE_I64 : HW_ATTRIBUTE_STRING;
    if (made.type == HW_ATTRIBUTE_STRING) {
        made.f64 = strtod(value, &end);
        if (*value && *end == '\0')
            made.type = HW_ATTRIBUTE_F64;
    }
    hw_fuzz_demand(hw_attribute_put(store, &made, &err) == HW_OK, "no memory");
}

/* Adds what the lines of a text describe; a dataset's begins with '/'. */
static void add_lines(struct hw_store *store, const char *given)
{
    char *text = strdup(given), *rest = text, *line;

    hw_fuzz_demand(text != NULL, "no memory");
    while ((line = strsep(&rest, "\n"))) {
        if (store->datasets + store->attributes > 1000)
            break;
        if (line[0] == '/')
            add_dataset(store, line);
        else
            add_attribute(store, line);
    }
    free(text);
}

/* Compares a catalogue with its schema, digests it, and sends it. */
static void check_catalogue(struct hw_store *store)
{
    char digest[2][HW_DIGEST_SIZE];
    struct hw_error err[2] = {{{0}}, {{0}}};
    struct hw_store *other = new_store(store->kind);

    hw_schema_choose_types(store);
    struct message message = packed(store);
    hw_fuzz_demand(unpack(other, &message) == HW_OK, "refused when it is sent");
    const enum hw_status status = hw_schema_check(store, HW_BAD_INPUT, &err[0]);
    hw_fuzz_demand(status == HW_OK || status == HW_BAD_INPUT, "another status than bad input");
    hw_fuzz_demand((status == HW_OK) == (err[0].text[0] == '\0'), "a status without its reason");
    hw_fuzz_demand(hw_schema_check(other, HW_BAD_INPUT, &err[1]) == status &&
                       strcmp(err[0].text, err[1].text) == 0,
                   "ranks do not agree on a schema");
    /* Numbers that are stored as real ones have no place in the text of a digest. */
    hw_fuzz_demand(hw_catalogue_digest(store, digest[0], &err[0]) == HW_OK &&
                       hw_catalogue_digest(other, digest[1], &err[1]) == HW_OK &&
                       strcmp(digest[0], digest[1]) == 0 && hw_digest_valid(digest[0]),
                   "ranks do not agree on a digest");
    (void)hw_schema_declared(store);
    free(message.data);
    hw_store_free(other);
}

void hw_fuzz_attributes(const uint8_t *data, size_t size)
{
    struct hw_error err;

    if (size < 2)
        return;
    char *text = hw_fuzz_room(size - 1);
    memcpy(text, data + 2, size - 2);
    text[size - 2] = '\0';
    struct hw_store *store = new_store((enum hw_kind)(data[0] % HW_KINDS));
    store->version = data[1] % 4;
    add_lines(store, text);
    hw_fuzz_demand(hw_renamed_attributes(store, &err) == HW_OK, "no new names");
    check_catalogue(store);
    hw_store_free(store);
    free(text);
}
