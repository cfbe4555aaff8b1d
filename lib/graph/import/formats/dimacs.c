/*
 * DIMACS texts: that of the 9th challenge ("p sp N M", arcs "a SOURCE TARGET WEIGHT";
 * http://www.diag.uniroma1.it/challenge9/format.shtml), that of graph colouring
 * ("p edge N M" or "p col N M", edges "e U V") and that of the PACE challenges
 * ("p tw N M", edges "U V"). Vertices are numbered from 1; "c" begins a comment.
 *
 * Arcs are directed; road graphs have each one in both directions. Edges are not.
 */
#include "lib/graph/import/formats/line_fields.h"

/* In the facts: enum hw_rest, and what lines with a tuple begin with (0: nothing). */
enum { MORE_REST, MORE_MARK };

/* Whether a line is of that kind: the letter alone, or with blanks after it. */
static bool is_kind(const char *at, char letter)
{
    return *at == letter && (hw_is_blank(at[1]) || at[1] == '\n' || at[1] == '\0');
}

static int recognize(const struct hw_head *head)
{
    const char *at = head->bytes + head->at;

    while (hw_is_blank(*at) || *at == '\n')
        at++;
    return is_kind(at, 'p') || is_kind(at, 'c') ? 60 : 0;
}

/* The line "p KIND N M". */
static enum hw_status read_problem(const struct hw_head *head, const struct hw_text_line *line,
                                   struct hw_facts *facts, struct hw_error *err)
{
    struct hw_quote word[4] = {0};
    const int words = hw_text_line_words(line, 4, word);
    const char *kind = word[1].text, *path = head->input->path;
    const bool arcs = strcmp(kind, "sp") == 0, bare = strcmp(kind, "tw") == 0;

    if (words < 2 || (!arcs && !bare && strcmp(kind, "edge") != 0 && strcmp(kind, "col") != 0))
        return hw_fail(err, HW_BAD_INPUT,
                       "%s: line %" PRI_COUNT
                       ": describes a problem '%s'; graphs are 'p sp', 'p tw', 'p edge' or 'p col'",
                       path, line->number, kind);
    const hw_count vertices = words == 4 ? hw_word_count(word[2].text) : -1;
    const hw_count edges = words == 4 ? hw_word_count(word[3].text) : -1;
    if (vertices < 1 || edges < 0)
        return hw_fail(err, HW_BAD_INPUT,
                       "%s: line %" PRI_COUNT
                       ": should be 'p %s' and the numbers of vertices and edges",
                       path, line->number, kind);
    facts->vertices = vertices;
    facts->edges = edges;
    facts->undirected = !arcs;
    facts->has_weights = arcs && facts->take != HW_TAKE_NONE;
    facts->more[MORE_REST] = facts->take == HW_TAKE_NONE ? HW_REST_IGNORED : HW_REST_NONE;
    facts->more[MORE_MARK] = arcs ? 'a' : bare ? 0 : 'e';
    return HW_OK;
}

static enum hw_status header(struct hw_head *head, const struct hw_import_options *options,
                             struct hw_facts *facts, struct hw_error *err)
{
    struct hw_text_line line;

    (void)options;
    facts->first_id = 1;
    facts->own_numbering = true;
    while (true) {
        enum hw_status status = hw_head_line(head, &line, err);
        if (status != HW_OK)
            return status;
        if (!line.begin)
            return hw_fail(err, HW_BAD_INPUT, "%s: has no line 'p KIND VERTICES EDGES'",
                           head->input->path);
        const char *at = hw_scan_blanks(line.begin);
        if (is_kind(at, 'p'))
            return read_problem(head, &line, facts, err);
        if (at < line.end && *at != 'c')
            return hw_fail(err, HW_BAD_INPUT,
                           "%s: line %" PRI_COUNT
                           ": comes before a line 'p KIND VERTICES EDGES' and is no comment",
                           head->input->path, line.number);
    }
}

/* A line that does not begin as tuples do. */
static const char *other_line(char mark, const char *at, const char *end,
                              struct hw_tuple_batch *batch)
{
    if (*at == '\n')
        return at + 1;
    if (*at == 'c')
        return hw_scan_line(at, end);
    if (is_kind(at, 'p'))
        hw_tuple_batch_fault(batch, "is a second 'p'");
    else if (mark)
        hw_tuple_batch_fault(batch, "begins with '%s' and not with '%c'", hw_quote(at).text, mark);
    else
        hw_tuple_batch_fault(batch, "'%s' is not a vertex id", hw_quote(at).text);
    return NULL;
}

static void lines(const struct hw_facts *facts, const char *text, const char *end,
                  struct hw_tuple_batch *batch)
{
    const uint64_t limit = hw_id_limit(facts);
    const enum hw_rest rest = (enum hw_rest)facts->more[MORE_REST];
    const char mark = (char)facts->more[MORE_MARK];
    const char *at = text;

    for (; at && at < end; batch->lines += at != NULL) {
        at = hw_scan_blanks(at);
        if (mark ? *at == mark && hw_is_blank(at[1]) : hw_is_digit(*at))
            at = hw_field_tuple(facts, limit, facts->has_weights, rest,
                                mark ? hw_scan_blanks(at + 1) : at, end, batch);
        else
            at = other_line(mark, at, end, batch);
    }
}

const struct hw_reader hw_reader_gr = {.name = "gr",
                                       .title = "DIMACS",
                                       .recognize = recognize,
                                       .header = header,
                                       .tuple_bytes = 4,
                                       .line_max = (hw_count)1 << 24,
                                       .lines = lines};
