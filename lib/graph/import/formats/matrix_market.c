/*
 * Matrix Market, coordinates (R. F. Boisvert, R. Pozo and K. A. Remington, "The
 * Matrix Market Exchange Formats: Initial Design", NISTIR 5935, 1996): an entry in
 * row i and column j is an edge from i to j, numbered from 1. Of a symmetric matrix
 * each pair is listed once, and the graph is undirected.
 */
#include "lib/graph/import/formats/line_fields.h"

#include <strings.h>

enum { MORE_REST };

static const char banner[] = "%%MatrixMarket";

static int recognize(const struct hw_head *head)
{
    return strncasecmp(head->bytes + head->at, banner, sizeof banner - 1) == 0 ? 100 : 0;
}

/* What the banner says of entries and symmetry. */
static enum hw_status read_banner(const struct hw_head *head, const struct hw_text_line *line,
                                  struct hw_facts *facts, struct hw_error *err)
{
    struct hw_quote word[5] = {0};
    const char *path = head->input->path;
    const int words = line->begin ? hw_text_line_words(line, 5, word) : 0;

    if (words != 5 || strcasecmp(word[0].text, banner) != 0)
        return hw_fail(err, HW_BAD_INPUT,
                       "%s: line 1: is not '%s matrix coordinate FIELD SYMMETRY'", path, banner);
    const char *object = word[1].text, *format = word[2].text, *field = word[3].text,
               *symmetry = word[4].text;
    if (strcasecmp(object, "matrix") != 0 || strcasecmp(format, "coordinate") != 0)
        return hw_fail(err, HW_BAD_INPUT, "%s: holds a '%s %s'; a graph is a 'matrix coordinate'",
                       path, object, format);
    const bool real = strcasecmp(field, "real") == 0 || strcasecmp(field, "double") == 0;
    const bool integer = strcasecmp(field, "integer") == 0;
    if (!real && !integer && strcasecmp(field, "pattern") != 0)
        return hw_fail(err, HW_BAD_INPUT,
                       "%s: has entries of type %s; weights are of type integer or real", path,
                       field);
    facts->undirected = strcasecmp(symmetry, "symmetric") == 0;
    if (!facts->undirected && strcasecmp(symmetry, "general") != 0)
        return hw_fail(err, HW_BAD_INPUT,
                       "%s: is a %s matrix; a graph's is general (directed) or symmetric "
                       "(undirected)",
                       path, symmetry);
    facts->has_weights = (real || integer) && facts->take != HW_TAKE_NONE;
    facts->real = real && facts->take == HW_TAKE_AUTO;
    if (integer && facts->take == HW_TAKE_AUTO)
        facts->take = HW_TAKE_INTEGER;
    facts->more[MORE_REST] = facts->take == HW_TAKE_NONE ? HW_REST_IGNORED : HW_REST_NONE;
    return HW_OK;
}

/* The line "rows columns entries". */
static enum hw_status read_size(const struct hw_head *head, const struct hw_text_line *line,
                                struct hw_facts *facts, struct hw_error *err)
{
    struct hw_quote word[3] = {0};
    hw_count size[3];

    const int words = line->begin ? hw_text_line_words(line, 3, word) : 0;
    for (int i = 0; i < 3; i++)
        size[i] = words == 3 ? hw_word_count(word[i].text) : -1;
    if (size[0] < 0 || size[1] < 0 || size[2] < 0)
        return hw_fail(err, HW_BAD_INPUT,
                       "%s: line %" PRI_COUNT
                       ": should be the numbers of rows, columns and entries",
                       head->input->path, line->number);
    if (size[0] != size[1])
        return hw_fail(err, HW_BAD_INPUT,
                       "%s: has %" PRI_COUNT " rows and %" PRI_COUNT
                       " columns; a graph's matrix is square",
                       head->input->path, size[0], size[1]);
    if (size[0] == 0)
        return hw_fail(err, HW_BAD_INPUT, "%s: has no rows, hence no vertices", head->input->path);
    facts->vertices = size[0];
    facts->edges = size[2];
    return HW_OK;
}

static enum hw_status header(struct hw_head *head, const struct hw_import_options *options,
                             struct hw_facts *facts, struct hw_error *err)
{
    struct hw_text_line line;

    (void)options;
    facts->first_id = 1;
    facts->own_numbering = true;
    enum hw_status status = hw_head_line(head, &line, err);
    if (status == HW_OK)
        status = read_banner(head, &line, facts, err);
    while (status == HW_OK) {
        status = hw_head_line(head, &line, err);
        if (!line.begin || (*line.begin != '%' && hw_scan_blanks(line.begin) < line.end))
            break;
    }
    return status == HW_OK ? read_size(head, &line, facts, err) : status;
}

static void lines(const struct hw_facts *facts, const char *text, const char *end,
                  struct hw_tuple_batch *batch)
{
    const uint64_t limit = hw_id_limit(facts);
    const enum hw_rest rest = (enum hw_rest)facts->more[MORE_REST];
    const char *at = text;

    for (; at && at < end; batch->lines += at != NULL) {
        at = hw_scan_blanks(at);
        if (*at == '\n')
            at++;
        else if (*at == '%')
            at = hw_scan_line(at, end);
        else
            at = hw_field_tuple(facts, limit, facts->has_weights, rest, at, end, batch);
    }
}

const struct hw_reader hw_reader_mtx = {.name = "mtx",
                                        .title = "Matrix Market",
                                        .recognize = recognize,
                                        .header = header,
                                        .tuple_bytes = 4,
                                        .line_max = (hw_count)1 << 24,
                                        .lines = lines};
