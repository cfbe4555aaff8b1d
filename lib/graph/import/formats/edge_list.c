/*
 * Plain edge lists and those of SNAP (https://snap.stanford.edu/data): lines "source
 * target" or "source target weight", comments after "#" or "%".
 *
 * Comments of two collections are understood. SNAP's are "# Undirected graph ..." and
 * "# Nodes: N Edges: M", whose M should be the number of lines; it is not in all of its
 * files, so another number is worth a note, no more. KONECT (http://konect.cc) begins
 * with "% sym ..." for an undirected graph, "% asym ..." for a directed one; "% bip ..."
 * has two kinds of vertices under the same numbers.
 */
#include "lib/graph/import/formats/line_fields.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

/* enum hw_rest in the facts. */
enum { MORE_REST };

static bool is_comment(char c)
{
    return c == '#' || c == '%';
}

static int recognize(const struct hw_head *head)
{
    const char *at = hw_scan_blanks(head->bytes + head->at);

    while (*at == '\n')
        at = hw_scan_blanks(at + 1);
    return hw_is_digit(*at) || is_comment(*at) ? 10 : 0;
}

/* ---- the header ---- */

/* Looks for SNAP's words in a comment. */
static void read_comment(const struct hw_text_line *line, struct hw_facts *facts)
{
    char text[256], *end;

    snprintf(text, sizeof text, "%.*s",
             (int)(line->end - line->begin < 255 ? line->end - line->begin : 255), line->begin);
    const char *edges = strstr(text, "Edges:");
    if (strncasecmp(text, "# Undirected graph", 18) == 0 || strncmp(text, "% sym ", 6) == 0)
        facts->undirected = true;
    if (!edges || strncmp(text, "# Nodes:", 8) != 0)
        return;
    const long long count = strtoll(edges + 6, &end, 10);
    if (end > edges + 6 && count >= 0)
        facts->expected = count;
}

/* Decides by the first line with a tuple which columns there are. */
static enum hw_status take_columns(const struct hw_head *head, const struct hw_text_line *line,
                                   enum hw_import_weights take, struct hw_facts *facts,
                                   struct hw_error *err)
{
    const int fields = line->begin ? hw_text_line_words(line, 0, NULL) : 0;

    facts->has_weights = fields > 2 && take != HW_TAKE_NONE;
    facts->more[MORE_REST] = take == HW_TAKE_AUTO ? HW_REST_NONE : HW_REST_IGNORED;
    if (fields > 3 && take == HW_TAKE_AUTO)
        return hw_fail(err, HW_BAD_INPUT,
                       "%s: line %" PRI_COUNT
                       ": has %d fields, and not just a source, a target and "
                       "a weight; --weights integer or real takes the third, --weights none two",
                       head->input->path, line->number, fields);
    return HW_OK;
}

static enum hw_status header(struct hw_head *head, const struct hw_import_options *options,
                             struct hw_facts *facts, struct hw_error *err)
{
    struct hw_text_line line;
    hw_count at, before;
    enum hw_status status;

    do {
        at = head->at;
        before = head->line;
        status = hw_head_line(head, &line, err);
        if (status != HW_OK)
            return status;
        if (line.begin && line.end - line.begin > 6 && strncmp(line.begin, "% bip ", 6) == 0)
            return hw_fail(
                err, HW_BAD_INPUT,
                "%s: is a bipartite graph of KONECT, whose two kinds of vertices bear the "
                "same numbers",
                head->input->path);
        if (line.begin && is_comment(*hw_scan_blanks(line.begin)))
            read_comment(&line, facts);
    } while (line.begin &&
             (is_comment(*hw_scan_blanks(line.begin)) || hw_scan_blanks(line.begin) >= line.end));
    head->at = at;
    head->line = before;
    if (options->vertices > 0) {
        facts->vertices = options->vertices;
        facts->own_numbering = true;
    }
    return take_columns(head, &line, options->weights, facts, err);
}

/* ---- lines ---- */

/* A line that does not begin with a digit: NULL after a fault. */
static const char *other_line(const struct hw_facts *facts, const char *at, const char *end,
                              struct hw_tuple_batch *batch)
{
    if (*at == '\n')
        return at + 1;
    return is_comment(*at) ? hw_scan_line(at, end) : hw_bad_id(facts, at, batch);
}

static inline const char *parse_line(const struct hw_facts *facts, uint64_t limit, const char *at,
                                     const char *end, struct hw_tuple_batch *batch, bool weights)
{
    at = hw_scan_blanks(at);
    if (!hw_is_digit(*at))
        return other_line(facts, at, end, batch);
    return hw_field_tuple(facts, limit, weights, (enum hw_rest)facts->more[MORE_REST], at, end,
                          batch);
}

static void lines(const struct hw_facts *facts, const char *text, const char *end,
                  struct hw_tuple_batch *batch)
{
    const uint64_t limit = hw_id_limit(facts);
    const char *at = text;

    if (facts->has_weights)
        for (; at && at < end; batch->lines += at != NULL)
            at = parse_line(facts, limit, at, end, batch, true);
    else
        for (; at && at < end; batch->lines += at != NULL)
            at = parse_line(facts, limit, at, end, batch, false);
}

const struct hw_reader hw_reader_edges = {.name = "edges",
                                          .title = "an edge list",
                                          .recognize = recognize,
                                          .header = header,
                                          .tuple_bytes = 4,
                                          .line_max = (hw_count)1 << 24,
                                          .lines = lines};
