#include "lib/run/single/single_search.h"

#include "lib/base/memory.h"
#include "lib/graph/export/shortest_text.h"
#include "lib/graph/vertex_labels.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CHUNK = 1 << 16, /* vertices whose names are looked up at a time */
    CYCLE_NAMED = 10 /* vertices of a cycle that are named */
};

/* What the lines are made of. */
struct lines {
    const struct hw_single_search *search;
    bool named;              /* vertices have names, and they are wanted */
    struct hw_labels labels; /* these */
};

/* The names of vertices id[count], or their ids, into name. */
static enum hw_status name_all(const struct lines *lines, hw_count count, const hw_gid *id,
                               int64_t *name, struct hw_error *err)
{
    if (count > 0)
        memcpy(name, id, (size_t)count * sizeof *name);
    hw_compact_ids_restore(hw_graph_compact_ids(lines->search->graph), count, name);
    return lines->named ? hw_labels_of(&lines->labels, count, name, name, err) : HW_OK;
}

/* A level or distance as text: [HW_SHORTEST_TEXT]. */
static void value_text(const struct hw_single_search *search, hw_gid v, char *text)
{
    const struct hw_result *result = &search->result;

    if (search->weights == HW_WEIGHTS_F32)
        hw_shortest_text(result->distance_f32[v], text);
    else if (search->weights == HW_WEIGHTS_I32)
        snprintf(text, HW_SHORTEST_TEXT, "%" PRId64, result->distance_i64[v]);
    else
        snprintf(text, HW_SHORTEST_TEXT, "%" PRId32, result->level[v]);
}

static const char *value_name(const struct hw_single_search *search)
{
    return search->weights == HW_WEIGHTS_NONE ? "level" : "distance";
}

/* ---- the table ---- */

/* One line for each vertex of [first, first+count) that was reached. */
static enum hw_status print_chunk(const struct lines *lines, hw_gid first, hw_count count,
                                  hw_gid *id, int64_t *name, struct hw_error *err)
{
    const hw_gid *parent = lines->search->result.parent;
    char text[HW_SHORTEST_TEXT];
    hw_count reached = 0;

    for (hw_gid v = first; v < first + count; v++)
        if (parent[v] != HW_GID_NONE) {
            id[2 * reached] = v;
            id[2 * reached++ + 1] = parent[v];
        }
    HW_TRY(name_all(lines, 2 * reached, id, name, err));
    for (hw_count i = 0; i < reached; i++) {
        value_text(lines->search, id[2 * i], text);
        printf("%" PRId64 "\t%s\t%" PRId64 "\n", name[2 * i], text, name[2 * i + 1]);
    }
    return HW_OK;
}

static enum hw_status print_table(const struct hw_context *ctx, const struct lines *lines,
                                  struct hw_error *err)
{
    const hw_gid vertices = hw_graph_desc(lines->search->graph)->vertices;
    hw_gid *id = NULL;
    int64_t *name = NULL;
    hw_count reached = 0;
    enum hw_status status = hw_alloc(&id, 2 * (hw_count)CHUNK, sizeof *id, "vertices", err);

    if (status == HW_OK)
        status = hw_alloc(&name, 2 * (hw_count)CHUNK, sizeof *name, "names", err);
    if (status == HW_OK)
        printf("vertex\t%s\tparent\n", value_name(lines->search));
    for (hw_gid v = 0; v < vertices && status == HW_OK; v += CHUNK)
        status = print_chunk(lines, v, vertices - v < CHUNK ? vertices - v : CHUNK, id, name, err);
    for (hw_gid v = 0; v < vertices; v++)
        reached += lines->search->result.parent[v] != HW_GID_NONE;
    if (status == HW_OK)
        hw_note(ctx, "%" PRI_COUNT " of %" PRI_GID " vertices are reached", reached,
                hw_graph_vertices(lines->search->graph));
    free(id);
    free(name);
    return status;
}

/* ---- the path ---- */

/* Vertices of the path to `to`, its root among them. */
static hw_count path_length(const struct hw_single_search *search)
{
    const hw_gid *parent = search->result.parent;
    hw_count length = 1;

    for (hw_gid v = search->to; parent[v] != v; v = parent[v])
        length++;
    return length;
}

static enum hw_status print_path(const struct hw_context *ctx,
                                 const struct hw_single_request *request, const struct lines *lines,
                                 struct hw_error *err)
{
    const struct hw_single_search *search = lines->search;
    const hw_gid *parent = search->result.parent;
    char text[HW_SHORTEST_TEXT];
    hw_gid *id = NULL;
    int64_t *name = NULL;

    if (parent[search->to] == HW_GID_NONE)
        return hw_fail(err, HW_CHECK_FAILED, "%s: no path leads from %" PRId64 " to %" PRId64,
                       request->import.path, request->from, request->to);
    const hw_count length = path_length(search);
    enum hw_status status = hw_alloc(&id, length, sizeof *id, "a path", err);
    if (status == HW_OK)
        status = hw_alloc(&name, length, sizeof *name, "a path", err);
    if (status == HW_OK) {
        hw_gid v = search->to;
        for (hw_count i = length - 1; i >= 0; i--, v = parent[v])
            id[i] = v;
        status = name_all(lines, length, id, name, err);
    }
    if (status == HW_OK) {
        printf("vertex\t%s\n", value_name(search));
        for (hw_count i = 0; i < length; i++) {
            value_text(search, id[i], text);
            printf("%" PRId64 "\t%s\n", name[i], text);
        }
        value_text(search, search->to, text);
        hw_note(ctx, "%" PRId64 " to %" PRId64 ": %" PRI_COUNT " edge%s%s%s", request->from,
                request->to, length - 1, length == 2 ? "" : "s",
                request->weights ? ", distance " : "", request->weights ? text : "");
    }
    free(id);
    free(name);
    return status;
}

/* ---- cycles ---- */

/* Fails with the cycle of negative weight that was found. */
static enum hw_status report_cycle(const struct hw_single_request *request,
                                   const struct lines *lines, struct hw_error *err)
{
    const struct hw_cycle *cycle = &lines->search->result.cycle;
    const hw_count printed = cycle->length < CYCLE_NAMED ? cycle->length : CYCLE_NAMED;
    int64_t name[CYCLE_NAMED];
    char text[CYCLE_NAMED * 24] = "";
    size_t used = 0;

    HW_TRY(name_all(lines, printed, cycle->vertex, name, err));
    for (hw_count i = 0; i < printed; i++)
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "%s%" PRId64, i ? " " : "", name[i]);
    return hw_fail(err, HW_CHECK_FAILED,
                   "%s: from %" PRId64 " a cycle of negative weight is reached, so that there are "
                   "no distances: %s%s",
                   request->import.path, request->from, text,
                   printed < cycle->length ? " ..." : "");
}

enum hw_status hw_single_print(const struct hw_context *ctx,
                               const struct hw_single_request *request,
                               const struct hw_single_search *search, struct hw_error *err)
{
    struct lines lines = {.search = search,
                          .named = !request->ids && hw_graph_has_labels(search->graph)};
    enum hw_status status = HW_OK;

    if (lines.named)
        status = hw_labels_open(ctx, search->graph, &lines.labels, err);
    if (status == HW_OK && search->result.outcome == HW_OUTCOME_NEGATIVE_CYCLE)
        status = report_cycle(request, &lines, err);
    else if (status == HW_OK)
        status = request->to_given ? print_path(ctx, request, &lines, err)
                                   : print_table(ctx, &lines, err);
    hw_labels_close(&lines.labels);
    if (status == HW_OK && (fflush(stdout) != 0 || ferror(stdout)))
        return hw_fail(err, HW_RESOURCES, "standard output: %s", strerror(errno));
    return status;
}
