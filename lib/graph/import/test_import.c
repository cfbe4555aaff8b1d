/* Units of imports: small texts in every format, whole and wrong, cut into pieces of
 * one byte to many, at any rank count: the same tuples, the same line to blame. */
#include "lib/base/memory.h"
#include "lib/graph/import/import.h"
#include "tests/fixtures/import_examples.h"
#include "tests/tap/tap.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ANSWER = 2048 };

/* The test's files. */
struct test_files {
    const struct hw_context *ctx;
    char folder[TAP_FOLDER], file[300], graph[300];
};

/* ---- what a graph holds ---- */

static void add(char *answer, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(char *answer, const char *format, ...)
{
    const size_t length = strlen(answer);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(answer + length, ANSWER - length, format, arguments);
    va_end(arguments);
}

/* Writes the tuples of a graph file into answer. Collective. */
static enum hw_status read_tuples(const struct test_files *files, char *answer,
                                  struct hw_error *err)
{
    struct hw_graph *graph = NULL;
    struct hw_edges edges = {0};

    enum hw_status status = hw_graph_open(files->ctx, files->graph, &graph, err);
    if (status != HW_OK)
        return status;
    const struct hw_graph_desc *desc = hw_graph_desc(graph);
    const enum hw_weights weights = desc->weights;
    status = hw_edges_alloc(&edges, desc->edges, weights != HW_WEIGHTS_NONE, err);
    if (status == HW_OK)
        status = hw_graph_read(graph, 0, desc->edges, &edges, err);
    add(answer, "%" PRI_GID " %s %s:", desc->vertices, desc->directed ? "directed" : "undirected",
        weights == HW_WEIGHTS_NONE  ? "none"
        : weights == HW_WEIGHTS_I32 ? "i32"
                                    : "f32");
    for (hw_count i = 0; i < edges.count && status == HW_OK; i++) {
        add(answer, " %" PRI_GID "-%" PRI_GID, edges.source[i], edges.target[i]);
        if (weights == HW_WEIGHTS_I32)
            add(answer, ":%d", edges.weight[i].i32);
        if (weights == HW_WEIGHTS_F32)
            add(answer, ":%.9g", (double)edges.weight[i].f32);
    }
    hw_edges_free(&edges);
    hw_graph_close(graph);
    return status;
}

/* Adds the labels, if there are any. Collective. */
static enum hw_status read_labels(const struct test_files *files, char *answer,
                                  struct hw_error *err)
{
    static const char path[] = "/vertices/label";
    struct hw_store *store = NULL;
    struct hw_shape shape;
    hw_gid *label = NULL;

    enum hw_status status = hw_store_open(files->ctx, files->graph, HW_KIND_GRAPH, &store, err);
    if (status == HW_OK && hw_store_shape(store, path, &shape)) {
        status = hw_alloc(&label, shape.columns, sizeof *label, "labels", err);
        if (status == HW_OK)
            status = hw_store_read_all(store, path, HW_I64, shape.columns, label, err);
        add(answer, " =");
        for (hw_count i = 0; i < shape.columns && status == HW_OK; i++)
            add(answer, " %" PRI_GID, label[i]);
        free(label);
    }
    hw_store_close(store);
    return status;
}

/* ---- imports ---- */

/* Writes a text of `size` bytes as the file. Collective. */
static enum hw_status write_text(const struct test_files *files, const char *text, size_t size,
                                 struct hw_error *err)
{
    enum hw_status status = HW_OK;

    if (files->ctx->rank == 0) {
        FILE *file = fopen(files->file, "wb");
        if (!file || fwrite(text, 1, size, file) != size || fclose(file) != 0)
            status = hw_fail(err, HW_RESOURCES, "the test's file cannot be written");
    }
    return hw_agree(files->ctx->world, status, err);
}

/* Imports the file into the graph. Collective. */
static enum hw_status import_file(const struct test_files *files,
                                  const struct hw_import_options *options, struct hw_error *err)
{
    struct hw_import *import = NULL;
    struct hw_store *store = NULL;

    enum hw_status status = hw_import_open(files->ctx, options, &import, err);
    if (status == HW_OK)
        status = hw_store_create(files->ctx, files->graph, HW_KIND_GRAPH, true, &store, err);
    if (status == HW_OK)
        status = hw_import(import, store, err);
    hw_import_close(import);
    if (status == HW_OK)
        return hw_store_commit(store, err);
    hw_store_close(store);
    return status;
}

/* Imports the file, in pieces of so many bytes; answer as in struct import_example. */
static void answer_of(const struct test_files *files, struct hw_import_options options,
                      hw_count piece, char *answer)
{
    struct hw_error err = {{0}};

    options.path = files->file;
    options.piece = piece;
    *answer = 0;
    enum hw_status status = import_file(files, &options, &err);
    if (status == HW_OK)
        status = read_tuples(files, answer, &err);
    if (status == HW_OK)
        status = read_labels(files, answer, &err);
    if (status == HW_OK)
        return;
    const size_t length = strlen(files->file);
    const bool names = strncmp(err.text, files->file, length) == 0;
    snprintf(answer, ANSWER, "%s", names ? err.text + length + 2 : err.text);
}

static void test_example(struct tap *tap, const struct test_files *files,
                         const struct import_example *example)
{
    static const hw_count piece[] = {1, 2, 5, 16, 0};
    char answer[ANSWER];
    struct hw_error err;
    bool right = true;

    enum hw_status status = write_text(files, example->text, strlen(example->text), &err);
    for (size_t i = 0; i < sizeof piece / sizeof *piece && status == HW_OK && right; i++) {
        answer_of(files, example->options, piece[i], answer);
        right = strcmp(answer, example->answer) == 0;
        if (!right) {
            tap_note(tap, "pieces of %" PRI_COUNT ": %s", piece[i], answer);
            tap_note(tap, "expected: %s", example->answer);
        }
    }
    tap_ok(tap, status == HW_OK && right, "%s", example->name);
}

/* ---- what tables cannot hold ---- */

/* A text with a zero byte, Galois's binary graph, and packed tuples that look so. */
static void test_bytes(struct tap *tap, const struct test_files *files)
{
    static const char zero[] = "0 1\n1 \0002\n2 3\n";
    enum { TUPLES = 10 };
    uint64_t galois[8] = {1, 4, 2, 1, 1, 1, 1, 9};
    uint32_t packed[3 * TUPLES] = {0};
    struct hw_import_options options = {.format = HW_IMPORT_AUTO};
    char answer[ANSWER];
    struct hw_error err;

    enum hw_status status = write_text(files, zero, sizeof zero - 1, &err);
    answer_of(files, options, 3, answer);
    tap_ok(tap, status == HW_OK && strcmp(answer, "line 2: '?2' is not a vertex id") == 0,
           "a zero byte: %s", answer);
    status = write_text(files, (const char *)galois, sizeof galois, &err);
    answer_of(files, options, 0, answer);
    tap_ok(tap, status == HW_OK && strstr(answer, "Galois"), "a graph of Galois: %s", answer);
    for (int i = 0; i < TUPLES; i++)
        packed[3 * i + i % 2] = 1;
    options.format = HW_IMPORT_PACKED;
    status = write_text(files, (const char *)packed, sizeof packed, &err);
    answer_of(files, options, 0, answer);
    tap_ok(tap, status == HW_OK && strncmp(answer, "2 undirected none: 1-0 0-1", 26) == 0,
           "packed tuples that begin alike: %s", answer);
}

/* A line longer than many pieces, of which others begin after it. */
static void test_long_line(struct tap *tap, const struct test_files *files)
{
    enum { NEIGHBOURS = 30000, ROOM = 12 };
    const size_t max = (size_t)NEIGHBOURS * 2 * ROOM;
    char *text = malloc(max), answer[ANSWER];
    struct hw_import_options options = {.format = HW_IMPORT_AUTO, .path = files->file, .piece = 64};
    struct hw_graph *graph = NULL;
    struct hw_error err = {{0}};

    if (!text)
        return;
    int at = snprintf(text, max, "%d %d\n", NEIGHBOURS + 1, NEIGHBOURS);
    for (int v = 2; v <= NEIGHBOURS + 1; v++)
        at += snprintf(text + at, ROOM, "%d ", v);
    for (int v = 2; v <= NEIGHBOURS + 1; v++)
        at += snprintf(text + at, ROOM, "\n1");
    enum hw_status status = write_text(files, text, (size_t)at, &err);
    free(text);
    if (status == HW_OK)
        status = import_file(files, &options, &err);
    if (status == HW_OK)
        status = hw_graph_open(files->ctx, files->graph, &graph, &err);
    tap_ok(tap, status == HW_OK && hw_graph_desc(graph)->edges == NEIGHBOURS, "a long line%s%s",
           status == HW_OK ? "" : ": ", status == HW_OK ? "" : err.text);
    hw_graph_close(graph);
    status = write_text(files, "0 1\n", 4, &err);
    answer_of(files, (struct hw_import_options){.format = HW_IMPORT_EDGES}, 1, answer);
    tap_ok(tap, status == HW_OK && strcmp(answer, "2 directed none: 0-1") == 0, "and a short one");
}

/* ---- more tuples than a block of the file has ---- */

/* Whether tuple i of the graph is (i * 7, i * 13), both modulo n, weighed i. */
static bool right_tuples(const struct test_files *files, hw_gid n, hw_count count,
                         struct hw_error *err)
{
    struct hw_graph *graph = NULL;
    struct hw_edges edges = {0};
    bool right = hw_graph_open(files->ctx, files->graph, &graph, err) == HW_OK &&
                 hw_graph_desc(graph)->edges == count && hw_graph_desc(graph)->vertices == n &&
                 hw_edges_alloc(&edges, count, true, err) == HW_OK &&
                 hw_graph_read(graph, 0, count, &edges, err) == HW_OK;

    for (hw_count i = 0; right && i < count; i++)
        right = edges.source[i] == i * 7 % n && edges.target[i] == i * 13 % n &&
                edges.weight[i].i32 == (int32_t)i;
    hw_edges_free(&edges);
    hw_graph_close(graph);
    return right;
}

static void test_many(struct tap *tap, const struct test_files *files)
{
    enum { TUPLES = 100000, VERTICES = 4999, ROOM = 32 };
    static const hw_count piece[] = {0, 5000, 300000};
    struct hw_import_options options = {.path = files->file};
    struct hw_error err = {{0}};
    char *text = malloc((size_t)TUPLES * ROOM);
    size_t at = 0;
    bool right = true;

    if (!text)
        return;
    for (int i = 0; i < TUPLES; i++)
        at +=
            (size_t)snprintf(text + at, ROOM, "%d %d %d\n", i * 7 % VERTICES, i * 13 % VERTICES, i);
    right = write_text(files, text, at, &err) == HW_OK;
    free(text);
    for (size_t i = 0; i < sizeof piece / sizeof *piece && right; i++) {
        options.piece = piece[i];
        right = import_file(files, &options, &err) == HW_OK &&
                right_tuples(files, VERTICES, TUPLES, &err);
    }
    tap_ok(tap, right, "tuples of many blocks keep their order%s%s", *err.text ? ": " : "",
           err.text);
}

/* ---- all ---- */

/* Makes the test's folder. Collective. */
static bool make_folder(const struct tap *tap, struct test_files *files)
{
    bool made = tap_folder(tap, files->folder);

    snprintf(files->file, sizeof files->file, "%s/text", files->folder);
    snprintf(files->graph, sizeof files->graph, "%s/graph.h5", files->folder);
    return made;
}

static void tests(struct tap *tap, struct hw_context *ctx)
{
    tap_plan(tap, 120);
    struct test_files files = {.ctx = ctx};

    hw_context_threads(ctx, 2);
    if (tap_ok(tap, make_folder(tap, &files), "a folder")) {
        for (size_t i = 0; i < import_example_count(); i++)
            test_example(tap, &files, import_example(i));
        test_bytes(tap, &files);
        test_long_line(tap, &files);
        test_many(tap, &files);
        tap_drop_folder(tap, files.folder);
    }
}

int main(int argc, char **argv)
{
    return tap_ranks(argc, argv, "test_import", tests);
}
