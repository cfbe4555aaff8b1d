/* Units of compact ids: both directions against a sorted list, whatever rank adds what; and graphs
 * that are read by them. */
#include "lib/graph/compact_numbering.h"

#include "lib/graph/graph.h"
#include "tests/tap/tap.h"

#include <stdlib.h>
#include <string.h>

#define VERTICES (((hw_gid)1 << 33) + 77)

enum { SINGLE = 3000, DENSE = 70000, ALL = SINGLE + DENSE };

static int compare(const void *a, const void *b)
{
    const hw_gid x = *(const hw_gid *)a, y = *(const hw_gid *)b;

    return (x > y) - (x < y);
}

/* Ids of all of the range, and a run of consecutive ones around 2^32, not sorted; the first and
 * the last id are among them. */
static void make_ids(hw_gid id[ALL])
{
    uint64_t state = 12345;

    for (int i = 0; i < SINGLE; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        id[i] = (hw_gid)((state >> 20) % (uint64_t)VERTICES);
    }
    id[0] = VERTICES - 1;
    id[1] = 0;
    for (int i = 0; i < DENSE; i++)
        id[SINGLE + i] = ((hw_gid)1 << 32) - DENSE / 2 + i;
}

/* Sorts, drops duplicates, and returns how many are left. */
static hw_count sort_ids(hw_gid id[ALL])
{
    hw_count count = 0;

    qsort(id, ALL, sizeof *id, compare);
    for (int i = 0; i < ALL; i++)
        if (i == 0 || id[i] != id[count - 1])
            id[count++] = id[i];
    return count;
}

static void test_look_ups(struct tap *tap, const struct hw_compact_ids *ids, const hw_gid *id,
                          hw_count count)
{
    bool to = true, back = true, others = true;
    hw_gid some[] = {HW_GID_NONE, VERTICES - 1, -2, VERTICES, 1, 0};
    const hw_gid there[] = {HW_GID_NONE, count - 1, count, count, count, 0};

    for (hw_count k = 0; k < count; k++) {
        to = to && hw_compact_id(ids, id[k]) == k;
        back = back && hw_compact_ids_original(ids, k) == id[k];
        if (k > 0 && id[k - 1] + 1 < id[k])
            others = others && hw_compact_id(ids, id[k] - 1) == HW_GID_NONE;
    }
    tap_ok(tap, hw_compact_ids_count(ids) == count && hw_compact_ids_vertices(ids) == VERTICES,
           "each vertex is counted once");
    tap_ok(tap, to, "ids have compact ones in their order");
    tap_ok(tap, back, "which lead back to them");
    tap_ok(tap, others, "ids between them have none");
    if (id[1] == 1)
        tap_note(tap, "vertex 1 was drawn");
    hw_compact_ids_apply(ids, 6, some);
    tap_ok(tap, memcmp(some, there, sizeof some) == 0,
           "arrays: none stays, what is no vertex of the set becomes the first that is none");
    hw_compact_ids_restore(ids, 2, some);
    tap_ok(tap, some[0] == HW_GID_NONE && some[1] == VERTICES - 1, "and back");
    hw_compact_ids_apply(NULL, 2, some);
    tap_ok(tap, some[0] == HW_GID_NONE && some[1] == VERTICES - 1, "without a set nothing changes");
}

static void test_set(struct tap *tap, const struct hw_context *ctx)
{
    struct hw_compact_ids *ids = NULL;
    struct hw_error err = {{0}};
    hw_gid *id = malloc(ALL * sizeof *id);

    if (!tap_ok(tap, id && hw_compact_ids_open(VERTICES, &ids, &err) == HW_OK, "a set"))
        return;
    make_ids(id);
    enum hw_status status = HW_OK;
    for (int i = 0, some; i < ALL && status == HW_OK; i += some) { /* each rank adds some */
        some = ALL - i < 9000 ? ALL - i : 9000;
        if (i / 9000 % ctx->size == ctx->rank)
            status = hw_compact_ids_add(ids, some, id + i, &err);
    }
    if (status == HW_OK)
        status = hw_compact_ids_number(ctx, ids, &err);
    if (tap_ok(tap, status == HW_OK, "what all ranks have added is numbered"))
        test_look_ups(tap, ids, id, sort_ids(id));
    hw_compact_ids_free(ids);
    free(id);
}

static void test_graph(struct tap *tap, const struct hw_context *ctx)
{
    hw_gid source[] = {VERTICES - 1, 5, 7}, target[] = {5, (hw_gid)1 << 32, 7};
    const struct hw_edges edges = {.capacity = 3, .count = 3, .source = source, .target = target};
    const struct hw_graph_desc desc = {.vertices = VERTICES, .edges = 3};
    const hw_gid root = 9;
    struct hw_graph *graph = NULL;
    struct hw_edges read = {0};
    struct hw_error err = {{0}};

    bool opened = hw_graph_from_edges(ctx, &desc, &edges, &graph, &err) == HW_OK &&
                  hw_edges_alloc(&read, 3, false, &err) == HW_OK;
    tap_ok(tap, opened && hw_graph_compact(ctx, graph, 1, &root, &err) == HW_OK, "a graph");
    tap_ok(tap,
           opened && hw_graph_desc(graph)->vertices == 5 && hw_graph_vertices(graph) == VERTICES,
           "has the vertices with tuples and the one that is asked for");
    const hw_gid sources[] = {4, 0, 1}, targets[] = {0, 3, 1};
    tap_ok(tap,
           opened && hw_graph_read(graph, 0, 3, &read, &err) == HW_OK &&
               memcmp(read.source, sources, sizeof sources) == 0 &&
               memcmp(read.target, targets, sizeof targets) == 0,
           "and is read by compact ids");
    hw_edges_free(&read);
    hw_graph_close(graph);
    const struct hw_graph_desc none = {.vertices = VERTICES};
    opened = hw_graph_from_edges(ctx, &none, &edges, &graph, &err) == HW_OK &&
             hw_graph_compact(ctx, graph, 0, NULL, &err) == HW_OK;
    tap_ok(tap, opened && hw_graph_desc(graph)->vertices == 1, "one without tuples has one vertex");
    hw_graph_close(graph);
}

static void tests(struct tap *tap, struct hw_context *ctx)
{
    tap_plan(tap, 13);
    test_set(tap, ctx);
    test_graph(tap, ctx);
}

int main(int argc, char **argv)
{
    return tap_ranks(argc, argv, "test_compact_numbering", tests);
}
