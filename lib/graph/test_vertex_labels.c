/* Units of labels: found by label, looked up by id, at any rank count. */
#include "lib/base/memory.h"
#include "lib/graph/graph_writer.h"
#include "lib/graph/vertex_labels.h"
#include "tests/tap/tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More than one block, so that several ranks have labels. */
#define VERTICES (5 * (hw_gid)HW_STORE_BLOCK + 77)

/* The label of a vertex: distinct, in no order, beyond 32 bits, below zero too. */
static int64_t label_of(hw_gid v)
{
    return ((v * 7919) % VERTICES - 1000) * 1000003;
}

/* Vertex `twin` gets the label of vertex 3, unless it is below zero. */
static enum hw_status write_labels(const struct hw_context *ctx, struct hw_store *store,
                                   hw_gid twin, struct hw_error *err)
{
    hw_count first, count;
    int64_t *label = NULL;
    enum hw_status status =
        hw_store_define(store, "/vertices/label", HW_I64, VERTICES, NULL, 0, NULL, err);

    if (status != HW_OK)
        return status;
    hw_store_share(VERTICES, ctx->rank, ctx->size, &first, &count);
    status = hw_alloc(&label, count, sizeof *label, "labels", err);
    for (hw_count i = 0; i < count && status == HW_OK; i++)
        label[i] = label_of(first + i == twin ? 3 : first + i);
    if (status == HW_OK && count > 0)
        status = hw_store_write(store, "/vertices/label", 0, first, count, label, err);
    free(label);
    return hw_agree(ctx->world, status, err);
}

/* A graph without edges. labels: whether it has them; first_label: else this. */
static enum hw_status write_graph(const struct hw_context *ctx, const char *path, bool labels,
                                  hw_gid twin, int64_t first_label, struct hw_error *err)
{
    const struct hw_graph_desc desc = {.vertices = VERTICES};
    struct hw_store *store = NULL;

    enum hw_status status = hw_store_create(ctx, path, HW_KIND_GRAPH, true, &store, err);
    if (status == HW_OK)
        status = hw_graph_define(store, &desc, err);
    if (status == HW_OK)
        status = hw_store_set_i64(store, HW_AT_PARAMETERS, "first_label", first_label, err);
    if (status == HW_OK && labels)
        status = write_labels(ctx, store, twin, err);
    if (status == HW_OK)
        return hw_store_commit(store, err);
    hw_store_close(store);
    return status;
}

static void test_find(struct tap *tap, const struct hw_context *ctx, struct hw_graph *graph)
{
    const hw_gid want[] = {3, VERTICES - 1, 0, 3, HW_STORE_BLOCK, 2 * HW_STORE_BLOCK - 1};
    enum { COUNT = sizeof want / sizeof *want };
    hw_gid id[COUNT];
    struct hw_error err = {{0}};

    for (int i = 0; i < COUNT; i++)
        id[i] = label_of(want[i]);
    tap_ok(tap,
           hw_labels_find(ctx, graph, COUNT, id, &err) == HW_OK &&
               memcmp(id, want, sizeof want) == 0,
           "labels give ids, one asked for twice too");
    tap_ok(tap, hw_labels_find(ctx, graph, 0, NULL, &err) == HW_OK, "no label gives none");
    id[0] = label_of(5);
    id[1] = label_of(5) + 1;
    tap_ok(tap,
           hw_labels_find(ctx, graph, 2, id, &err) == HW_BAD_INPUT &&
               strstr(err.text, "no vertex has the label"),
           "a label that no vertex has is refused");
}

/* Looks up a different number of ids on each rank. */
static void test_look_up(struct tap *tap, const struct hw_context *ctx, struct hw_graph *graph,
                         int64_t (*expected)(hw_gid))
{
    struct hw_labels labels = {0};
    struct hw_error err = {{0}};
    hw_gid id[4096];
    int64_t label[4096];
    const hw_count count = ctx->rank == 1 ? 0 : 4096 - 100 * ctx->rank;
    bool right = true;

    for (hw_count i = 0; i < count; i++) {
        id[i] = i % 5 == 4 ? HW_GID_NONE : (i * 104729 + ctx->rank) % VERTICES;
        label[i] = -7;
    }
    enum hw_status status = hw_labels_open(ctx, graph, &labels, &err);
    if (status == HW_OK)
        status = hw_labels_of(&labels, count, id, label, &err);
    for (hw_count i = 0; i < count; i++)
        right &= label[i] == (id[i] == HW_GID_NONE ? -7 : expected(id[i]));
    tap_ok(tap, status == HW_OK && right, "ids give labels, and none stays none");
    hw_labels_close(&labels);
}

static int64_t counted_from_one(hw_gid v)
{
    return v + 1;
}

static void test_graphs(struct tap *tap, const struct hw_context *ctx, const char *path)
{
    struct hw_graph *graph = NULL;
    struct hw_error err = {{0}};
    hw_gid id[] = {1, VERTICES};

    bool made = write_graph(ctx, path, true, -1, 1, &err) == HW_OK &&
                hw_graph_open(ctx, path, &graph, &err) == HW_OK;
    if (tap_ok(tap, made, "a graph with labels")) {
        test_find(tap, ctx, graph);
        test_look_up(tap, ctx, graph, label_of);
    }
    hw_graph_close(graph);
    made = write_graph(ctx, path, false, -1, 1, &err) == HW_OK &&
           hw_graph_open(ctx, path, &graph, &err) == HW_OK;
    tap_ok(tap,
           made && hw_labels_find(ctx, graph, 2, id, &err) == HW_OK && id[0] == 0 &&
               id[1] == VERTICES - 1,
           "a graph whose vertices are counted from 1");
    if (made)
        test_look_up(tap, ctx, graph, counted_from_one);
    hw_graph_close(graph);
    graph = NULL;
    made = write_graph(ctx, path, true, VERTICES - 2, 0, &err) == HW_OK &&
           hw_graph_open(ctx, path, &graph, &err) == HW_OK;
    id[0] = label_of(3);
    tap_ok(tap,
           made && hw_labels_find(ctx, graph, 1, id, &err) == HW_BAD_INPUT &&
               strstr(err.text, "belongs to the vertices 3 and"),
           "a label of two vertices is refused where it is asked for");
    hw_graph_close(graph);
    tap_ok(tap,
           write_graph(ctx, path, false, -1, INT64_MAX - 5, &err) == HW_OK &&
               hw_graph_open(ctx, path, &graph, &err) == HW_BAD_INPUT,
           "labels past 2^63 are refused");
}

static void tests(struct tap *tap, struct hw_context *ctx)
{
    tap_plan(tap, 10);
    char folder[TAP_FOLDER], path[TAP_FOLDER + 16];

    if (!tap_ok(tap, tap_folder(tap, folder), "a folder"))
        return;
    snprintf(path, sizeof path, "%s/labels.h5", folder);
    test_graphs(tap, ctx, path);
    tap_drop_folder(tap, folder);
}

int main(int argc, char **argv)
{
    return tap_ranks(argc, argv, "test_labels", tests);
}
