#include "lib/graph/import/formats/ldbc.h"

#include "lib/graph/import/formats/line_fields.h"

#include <stdlib.h>
#include <strings.h>

/* ---- NAME.properties ---- */

/* A part of a line, without blanks around it. */
struct word {
    const char *at;
    size_t size;
};

static struct word trim(const char *at, const char *end)
{
    while (at < end && hw_is_blank(*at))
        at++;
    while (end > at && hw_is_blank(end[-1]))
        end--;
    return (struct word){at, (size_t)(end - at)};
}

/* Whether a key is "graph.NAME" and then the tail. */
static bool ends_in(struct word key, const char *tail)
{
    const size_t size = strlen(tail);

    return key.size > size && strncmp(key.at, "graph.", 6) == 0 &&
           memcmp(key.at + key.size - size, tail, size) == 0;
}

static bool is(struct word word, const char *text)
{
    return word.size == strlen(text) && strncasecmp(word.at, text, word.size) == 0;
}

static enum hw_status take_count(const char *path, struct word value, hw_count *out,
                                 struct hw_error *err)
{
    char text[32] = "";

    if (value.size < sizeof text)
        memcpy(text, value.at, value.size);
    *out = hw_word_count(text);
    if (*out < 0)
        return hw_fail(err, HW_BAD_INPUT, "%s: '%.*s' is not a number of vertices or edges", path,
                       (int)(value.size < 40 ? value.size : 40), value.at);
    return HW_OK;
}

/* The path of a file in the same folder. */
static enum hw_status take_file(const char *path, struct word value, char *out,
                                struct hw_error *err)
{
    if (value.size == 0 || value.size >= HW_LDBC_NAME || memchr(value.at, '/', value.size) ||
        is(value, "..") || is(value, "."))
        return hw_fail(err, HW_BAD_INPUT, "%s: '%.*s' is not the name of a file in its folder",
                       path, (int)(value.size < 40 ? value.size : 40), value.at);
    memcpy(out, value.at, value.size);
    out[value.size] = 0;
    return HW_OK;
}

static enum hw_status take_property(const char *path, struct word key, struct word value,
                                    struct hw_ldbc *ldbc, struct hw_error *err)
{
    if (ends_in(key, ".vertex-file"))
        return take_file(path, value, ldbc->vertex_file, err);
    if (ends_in(key, ".edge-file"))
        return take_file(path, value, ldbc->edge_file, err);
    if (ends_in(key, ".meta.vertices"))
        return take_count(path, value, &ldbc->vertices, err);
    if (ends_in(key, ".meta.edges"))
        return take_count(path, value, &ldbc->edges, err);
    if (ends_in(key, ".edge-properties.names"))
        ldbc->weighted = value.size > 0;
    if (!ends_in(key, ".directed"))
        return HW_OK;
    ldbc->directed = is(value, "true");
    if (!ldbc->directed && !is(value, "false"))
        return hw_fail(err, HW_BAD_INPUT, "%s: directed is '%.*s', and neither true nor false",
                       path, (int)(value.size < 40 ? value.size : 40), value.at);
    return HW_OK;
}

enum hw_status hw_ldbc_parse(const char *path, const char *text, hw_count size,
                             struct hw_ldbc *ldbc, struct hw_error *err)
{
    const char *end = text + size;

    *ldbc = (struct hw_ldbc){.known = true, .directed = true, .vertices = -1, .edges = -1};
    for (const char *at = text, *next; at < end; at = next) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *line_end = newline ? newline : end;
        const struct word line = trim(at, line_end);
        next = newline ? newline + 1 : end;
        if (line.size == 0 || *line.at == '#' || *line.at == '!')
            continue;
        const char *equals = memchr(line.at, '=', line.size);
        if (!equals)
            return hw_fail(err, HW_BAD_INPUT, "%s: '%.*s' is no property of an LDBC graph", path,
                           (int)(line.size < 40 ? line.size : 40), line.at);
        HW_TRY(take_property(path, trim(line.at, equals), trim(equals + 1, line.at + line.size),
                             ldbc, err));
    }
    return HW_OK;
}

/* ---- NAME.e ---- */

/* The contents of these files look like edge lists; only their names differ. */
static int recognize(const struct hw_head *head)
{
    (void)head;
    return 0;
}

static enum hw_status header(struct hw_head *head, const struct hw_import_options *options,
                             struct hw_facts *facts, struct hw_error *err)
{
    if (options->vertices > 0)
        return hw_fail(err, HW_BAD_INPUT,
                       "%s: has its vertices in a file of their own; --vertices is for edge lists",
                       head->input->path);
    return hw_reader_edges.header(head, options, facts, err);
}

static void lines(const struct hw_facts *facts, const char *text, const char *end,
                  struct hw_tuple_batch *batch)
{
    hw_reader_edges.lines(facts, text, end, batch);
}

const struct hw_reader hw_reader_ldbc = {.name = "ldbc",
                                         .title = "an LDBC graph",
                                         .recognize = recognize,
                                         .header = header,
                                         .tuple_bytes = 4,
                                         .line_max = (hw_count)1 << 24,
                                         .lines = lines};

/* ---- NAME.v ---- */

static enum hw_status vertices_header(struct hw_head *head, const struct hw_import_options *options,
                                      struct hw_facts *facts, struct hw_error *err)
{
    (void)head;
    (void)options;
    (void)facts;
    (void)err;
    return HW_OK;
}

/* One id, or nothing: NULL after a fault. */
static const char *vertex_line(const struct hw_facts *facts, const char *at, const char *end,
                               struct hw_tuple_batch *batch)
{
    const hw_count i = batch->count;

    at = hw_scan_blanks(at);
    if (*at == '\n')
        return at + 1;
    if (*at == '#')
        return hw_scan_line(at, end);
    at = hw_field_id(facts, hw_id_limit(facts), at, batch, &batch->source[i]);
    if (!at)
        return NULL;
    batch->target[i] = batch->source[i];
    batch->count = i + 1;
    return *at == '\n' ? at + 1 : hw_field_end(HW_REST_NONE, at, end, batch);
}

static void vertex_lines(const struct hw_facts *facts, const char *text, const char *end,
                         struct hw_tuple_batch *batch)
{
    const char *at = text;

    for (; at && at < end; batch->lines += at != NULL)
        at = vertex_line(facts, at, end, batch);
}

const struct hw_reader hw_reader_ldbc_vertices = {.name = "ldbc vertices",
                                                  .title = "the vertices of an LDBC graph",
                                                  .recognize = recognize,
                                                  .header = vertices_header,
                                                  .tuple_bytes = 2,
                                                  .line_max = (hw_count)1 << 24,
                                                  .lines = vertex_lines};
