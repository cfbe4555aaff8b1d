/* Opens and reads files of all kinds for people. */
#include "lib/store/describe.h"

#include "lib/store/store_internal.h"

#include <stdio.h>
#include <string.h>

static bool ends_in(const char *text, const char *end)
{
    const size_t length = strlen(text), more = strlen(end);

    return length >= more && strcmp(text + length - more, end) == 0;
}

/* Prints a text, which it changes: on one line, without what controls a terminal. */
static void print_value(const char *indent, const char *name, char *text)
{
    for (char *c = text; *c; c++)
        if (*c == '\n' || *c == '\r')
            *c = ' ';
    hw_make_line(text);
    printf("%s%s: %s\n", indent, name, text);
}

void hw_describe_name(const char *path)
{
    char line[4096]; /* no path of a file is longer */

    snprintf(line, sizeof line, "%s", path);
    hw_make_line(line);
    printf("%s:\n", line);
}

/* Prints a place's attributes: those that are digests, or the others. */
static void print_attributes(const struct hw_store *store, enum hw_place wanted, bool digests,
                             const char *indent)
{
    char text[HW_STRING_SIZE];
    enum hw_place place;
    const char *name;

    for (int i = 0; hw_store_attribute(store, i, &place, &name, text, sizeof text); i++)
        if (place == wanted && ends_in(name, "_digest") == digests)
            print_value(indent, name, text);
}

static void print_datasets(const struct hw_store *store)
{
    struct hw_shape shape;
    const char *path, *digest;
    bool table;

    for (int i = 0; hw_store_dataset(store, i, &path, &table, &shape, &digest); i++) {
        printf("    %s: %s [", path, table ? "table" : hw_type_name(shape.type));
        if (!shape.flat)
            printf("%" PRId64 ", ", shape.rows);
        printf("%" PRId64 "] %s\n", shape.columns, digest);
    }
}

static void print_store(const struct hw_store *store)
{
    printf("  format: %s\n", hw_kind_format(store->kind));
    printf("  format_version: %" PRId64 "\n", store->version);
    printf("  digest: %s\n", store->digest[0] ? store->digest : "none");
    print_attributes(store, HW_AT_ROOT, true, "  ");
    print_attributes(store, HW_AT_ROOT, false, "  ");
    printf("  parameters:\n");
    print_attributes(store, HW_AT_PARAMETERS, true, "    ");
    print_attributes(store, HW_AT_PARAMETERS, false, "    ");
    printf("  datasets:\n");
    print_datasets(store);
    printf("  run:\n");
    print_attributes(store, HW_AT_RUN, true, "    ");
    print_attributes(store, HW_AT_RUN, false, "    ");
}

enum hw_status hw_describe(const struct hw_context *ctx, const char *path, struct hw_error *err)
{
    struct hw_error local = {{0}};
    struct hw_store *store = NULL;
    enum hw_kind kind = HW_KIND_GRAPH;

    enum hw_status status = hw_store_kind(ctx, path, &kind, &local);
    if (status == HW_OK)
        status = hw_store_open(ctx, path, kind, &store, &local);
    if (ctx->rank == 0) {
        hw_describe_name(path);
        if (store)
            print_store(store);
        fflush(stdout);
    }
    if (status == HW_OK)
        status = hw_store_verify_all(store, &local);
    if (ctx->rank == 0) {
        if (status == HW_OK)
            printf("  verifies: yes\n");
        else
            printf("  verifies: no: %s\n", local.text);
        fflush(stdout);
    }
    hw_store_close(store);
    if (status != HW_OK)
        hw_fail(err, status, "%s", local.text);
    return status;
}

/* ---- Graph500 ---- */

/* Prints an attribute of /run if the file has it; returns whether it has. */
static bool print_run(const struct hw_store *store, const char *name)
{
    char text[HW_STRING_SIZE];
    enum hw_place place;
    const char *found;

    for (int i = 0; hw_store_attribute(store, i, &place, &found, text, sizeof text); i++)
        if (place == HW_AT_RUN && strcmp(found, name) == 0) {
            print_value("", name, text);
            return true;
        }
    return false;
}

static bool print_graph500(const struct hw_store *store)
{
    static const char *const heads[] = {"SCALE", "edgefactor", "NBFS", "construction_time"};
    static const char *const searches[] = {"bfs", "sssp"};
    static const char *const quantities[] = {"time", "nedge", "TEPS"};
    static const char *const figures[] = {"min",           "firstquartile", "median",
                                          "thirdquartile", "max",           "mean",
                                          "stddev",        "harmonic_mean", "harmonic_stddev"};
    char name[64];
    bool any = false;

    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        print_run(store, heads[i]);
    for (size_t s = 0; s < sizeof searches / sizeof *searches; s++)
        for (size_t q = 0; q < sizeof quantities / sizeof *quantities; q++)
            for (size_t f = 0; f < sizeof figures / sizeof *figures; f++) {
                snprintf(name, sizeof name, "%s_%s_%s", searches[s], figures[f], quantities[q]);
                any |= print_run(store, name);
            }
    print_run(store, "teps_rule");
    return any;
}

enum hw_status hw_describe_graph500(const struct hw_context *ctx, const char *path,
                                    struct hw_error *err)
{
    struct hw_store *store = NULL;
    enum hw_status status = hw_store_open(ctx, path, HW_KIND_TREE, &store, err);

    if (status == HW_OK && ctx->rank == 0) {
        if (!print_graph500(store))
            status = hw_fail(err, HW_BAD_INPUT, "%s: holds no Graph500 statistics", path);
        fflush(stdout);
    }
    hw_store_close(store);
    return hw_agree(ctx->world, status, err);
}
