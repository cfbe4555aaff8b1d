/*
 * METIS (G. Karypis, "METIS, a software package for partitioning unstructured
 * graphs", manual of version 5, section 4.1.1): a line "N M [FMT [NCON]]", then one
 * line a vertex with its size, weights and neighbours, as the three digits of FMT
 * state (size, weights, weights of edges), numbered from 1. "%" begins a comment; an
 * empty line is a vertex without neighbours. Each edge is listed at both ends.
 */
#include "lib/graph/import/formats/line_fields.h"

/* In the facts: numbers before the neighbours of a line; whether each has a weight. */
enum { MORE_BEFORE, MORE_WEIGHTS };

/* What the first line says. */
struct first_line {
    hw_count vertices, edges;
    hw_count before; /* numbers before the neighbours: size and weights of the vertex */
    bool weights;    /* a weight follows each neighbour */
};

/* Takes the digits of FMT apart. */
static bool read_fmt(const char *fmt, hw_count constraints, struct first_line *first)
{
    const size_t length = strlen(fmt);
    bool flag[3] = {false, false, false};

    if (length < 1 || length > 3 || strspn(fmt, "01") != length)
        return false;
    for (size_t i = 0; i < length; i++)
        flag[3 - length + i] = fmt[i] == '1';
    first->before = flag[0] + (flag[1] ? constraints : 0);
    first->weights = flag[2];
    return true;
}

/* Whether a line is a header. */
static bool read_first(const struct hw_text_line *line, struct first_line *first)
{
    struct hw_quote word[4] = {0};
    const int words = hw_text_line_words(line, 4, word);

    *first = (struct first_line){.vertices = -1};
    if (words < 2 || words > 4)
        return false;
    first->vertices = hw_word_count(word[0].text);
    first->edges = hw_word_count(word[1].text);
    const hw_count constraints = words == 4 ? hw_word_count(word[3].text) : 1;
    return first->vertices > 0 && first->vertices <= (hw_count)1 << 48 && first->edges >= 0 &&
           first->edges <= (hw_count)1 << 56 && constraints >= 0 && constraints <= 1024 &&
           read_fmt(words > 2 ? word[2].text : "0", constraints, first);
}

/* ---- recognition ---- */

/* What the beginning of a file looks like, if it is METIS. */
struct look {
    hw_count records; /* lines of vertices up to the last one with numbers */
    hw_count blank;   /* empty ones after it */
    hw_count numbers;
    hw_count widths[2]; /* fewest and most numbers of a line with any, the first line too */
};

/* Counts the numbers of a line; false if they cannot be those of a vertex. */
static bool look_at(const struct hw_text_line *line, const struct first_line *first,
                    struct look *look)
{
    const hw_count each = 1 + first->weights;
    const char *at = hw_scan_blanks(line->begin);
    hw_count width = 0;

    while (at < line->end) {
        uint64_t number;
        const char *next = hw_scan_number(at, &number);
        const bool id = width >= first->before && (width - first->before) % each == 0;
        if (next == at || (next < line->end && !hw_is_blank(*next)) ||
            (id && (number < 1 || number > (uint64_t)first->vertices)))
            return false;
        width++;
        at = hw_scan_blanks(next);
    }
    if (width == 0) {
        look->blank++;
        return true;
    }
    look->records += look->blank + 1;
    look->blank = 0;
    look->numbers += width;
    look->widths[0] = width < look->widths[0] ? width : look->widths[0];
    look->widths[1] = width > look->widths[1] ? width : look->widths[1];
    return width >= first->before && (width - first->before) % each == 0;
}

/* Whether the file is named as METIS names its own, compressed or not. */
static bool is_named(const char *path)
{
    static const char *const suffixes[] = {".graph", ".graph.gz", ".graph.xz", ".metis"};
    const size_t length = strlen(path);

    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        const size_t tail = strlen(suffixes[i]);
        if (length >= tail && strcmp(path + length - tail, suffixes[i]) == 0)
            return true;
    }
    return false;
}

/* Looks at all lines after the first that are there; false if one is no vertex's. */
static bool look_through(const struct hw_head *head, struct hw_head *rest,
                         const struct first_line *first, struct look *look)
{
    struct hw_text_line line;

    while (hw_head_line(rest, &line, NULL) == HW_OK && line.begin) {
        const bool cut = !head->whole && rest->at == rest->size;
        if (!cut && *line.begin != '%' && !look_at(&line, first, look))
            return false;
    }
    return look->records <= first->vertices;
}

/*
 * A file with numbers alone may be an edge list too. It is METIS if the numbers fit
 * the first line to the last, or if the lines are not of one length and nothing
 * speaks against it, or if it is named so.
 */
static int recognize(const struct hw_head *head)
{
    struct hw_head rest = *head;
    struct hw_text_line line = {.begin = NULL};
    struct first_line first;
    struct look look = {0};

    /* Only the bytes that are there. */
    rest.whole = true;
    do
        (void)hw_head_line(&rest, &line, NULL);
    while (line.begin && *line.begin == '%');
    if (!line.begin || !read_first(&line, &first))
        return 0;
    const int otherwise = is_named(head->input->path) ? 30 : 0;
    look.widths[0] = look.widths[1] = hw_text_line_words(&line, 0, NULL);
    const hw_count numbers = 2 * first.edges * (1 + first.weights) + first.vertices * first.before;
    if (!look_through(head, &rest, &first, &look) || look.numbers > numbers)
        return otherwise;
    if (head->whole && look.numbers > 0 && look.numbers == numbers &&
        look.records + look.blank + 1 >= first.vertices)
        return 50;
    return look.widths[0] < look.widths[1] ? 40 : otherwise;
}

/* ---- the header ---- */

static enum hw_status header(struct hw_head *head, const struct hw_import_options *options,
                             struct hw_facts *facts, struct hw_error *err)
{
    struct hw_text_line line;
    struct first_line first;

    (void)options;
    do {
        enum hw_status status = hw_head_line(head, &line, err);
        if (status != HW_OK)
            return status;
    } while (line.begin && *line.begin == '%');
    if (!line.begin || !read_first(&line, &first))
        return hw_fail(err, HW_BAD_INPUT,
                       "%s: line %" PRI_COUNT
                       ": should be the numbers of vertices and edges, and perhaps the format in "
                       "three digits and the weights of a vertex",
                       head->input->path, line.number);
    facts->vertices = first.vertices;
    facts->edges = 2 * first.edges;
    facts->first_id = 1;
    facts->own_numbering = true;
    facts->undirected = true;
    facts->twice = true;
    facts->relative = true;
    facts->has_weights = first.weights && facts->take != HW_TAKE_NONE;
    facts->more[MORE_BEFORE] = first.before;
    facts->more[MORE_WEIGHTS] = first.weights;
    return HW_OK;
}

/* ---- lines ---- */

/* Past a number of a vertex that is not wanted. */
static const char *skip_number(const char *at, struct hw_tuple_batch *batch)
{
    const char *next;
    float f32;
    int32_t i32;

    if (*at == '\n')
        hw_tuple_batch_fault(batch, "ends where a number of the vertex should stand");
    else if (hw_scan_real(at, &next, &f32, &i32) != HW_SCAN_NOTHING &&
             (hw_is_blank(*next) || *next == '\n'))
        return hw_scan_blanks(next);
    else
        hw_tuple_batch_fault(batch, "'%s' is not a number", hw_quote(at).text);
    return NULL;
}

/* The neighbours of one vertex, up to the end of the line. */
static const char *take_neighbours(const struct hw_facts *facts, uint64_t limit, const char *at,
                                   struct hw_tuple_batch *batch)
{
    const bool weights = facts->more[MORE_WEIGHTS] != 0;

    while (*at != '\n') {
        const hw_count i = batch->count;
        at = hw_field_id(facts, limit, at, batch, &batch->target[i]);
        if (!at)
            return NULL;
        batch->source[i] = batch->records;
        at = hw_scan_blanks(at);
        if (facts->has_weights)
            at = hw_field_weight(facts, at, batch);
        else if (weights)
            at = skip_number(at, batch);
        if (!at)
            return NULL;
        batch->count = i + 1;
        at = hw_scan_blanks(at);
        if (*at == ',' || *at == ';') {
            hw_tuple_batch_fault(batch, "'%c' is not a blank", *at);
            return NULL;
        }
    }
    return at + 1;
}

static void lines(const struct hw_facts *facts, const char *text, const char *end,
                  struct hw_tuple_batch *batch)
{
    const uint64_t limit = hw_id_limit(facts);
    const char *at = text;

    for (; at && at < end; batch->lines += at != NULL) {
        if (*at == '%') {
            at = hw_scan_line(at, end);
            continue;
        }
        at = hw_scan_blanks(at);
        /* Empty lines after those of all vertices have no numbers either. */
        for (hw_count i = 0; i < facts->more[MORE_BEFORE] && at && !(i == 0 && *at == '\n'); i++)
            at = skip_number(at, batch);
        if (at)
            at = take_neighbours(facts, limit, at, batch);
        batch->records += at != NULL;
    }
}

const struct hw_reader hw_reader_metis = {.name = "metis",
                                          .title = "METIS",
                                          .recognize = recognize,
                                          .header = header,
                                          .tuple_bytes = 2,
                                          .line_max = (hw_count)1 << 34,
                                          .lines = lines};
