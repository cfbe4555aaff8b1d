/*
 * Fields of a line: ids, weights, what separates them. Each function takes where a
 * field begins and returns where it ends; NULL after a fault, which then stands in
 * the batch. For parsers in lib/graph alone.
 */
#ifndef HOPWAVE_GRAPH_IMPORT_FORMATS_LINE_FIELDS_H
#define HOPWAVE_GRAPH_IMPORT_FORMATS_LINE_FIELDS_H

#include "lib/graph/import/format_reader.h"
#include "lib/graph/import/scan_numbers.h"

#include <string.h>

/* The field at `at`, fit to be quoted: its first characters, others than printable
 * ones as "?". Local. */
struct hw_quote {
    char text[44];
};
struct hw_quote hw_quote(const char *at);

/* Ids that a file may use: below this, once first_id is taken off. Local. */
static inline uint64_t hw_id_limit(const struct hw_facts *facts)
{
    return facts->vertices >= 0 ? (uint64_t)facts->vertices : (uint64_t)INT64_MAX + 1;
}

/* Whether a field may end before this byte. Local. */
static inline bool hw_ends_field(char c)
{
    return hw_is_blank(c) || c == '\n' || c == ',' || c == ';';
}

/*
 * Past what separates two fields: blanks, with one comma or semicolon among them.
 * NULL, without a fault, if nothing does. Local.
 */
static inline const char *hw_scan_separator(const char *at)
{
    const char *next = hw_scan_blanks(at);

    if (*next == ',' || *next == ';')
        next = hw_scan_blanks(next + 1);
    return next > at ? next : NULL;
}

/* The end of the line: past its "\n". Local. */
static inline const char *hw_scan_line(const char *at, const char *end)
{
    const char *newline = memchr(at, '\n', (size_t)(end - at));

    return newline ? newline + 1 : end;
}

/* Says why the field at `at` is no id of the graph; returns NULL. Local. */
const char *hw_bad_id(const struct hw_facts *facts, const char *at, struct hw_tuple_batch *batch);

/* An id at `at`, first_id taken off. limit: hw_id_limit(). Local. */
static inline const char *hw_field_id(const struct hw_facts *facts, uint64_t limit, const char *at,
                                      struct hw_tuple_batch *batch, hw_gid *id)
{
    uint64_t number;
    const char *next = hw_scan_number(at, &number);

    number -= (uint64_t)facts->first_id;
    if (next == at || number >= limit || !hw_ends_field(*next))
        return hw_bad_id(facts, at, batch);
    *id = (hw_gid)number;
    return next;
}

/* A weight at `at`, into the tuple that comes next: any number. Local. */
const char *hw_any_weight(const struct hw_facts *facts, const char *at,
                          struct hw_tuple_batch *batch);

/* A weight at `at`, into the tuple that comes next. Whole numbers of few digits,
 * the most frequent, need nothing more. Local. */
static inline const char *hw_field_weight(const struct hw_facts *facts, const char *at,
                                          struct hw_tuple_batch *batch)
{
    int length;
    const uint64_t number = hw_scan_some(at, &length);

    if (length == 0 || length == 8 || !hw_ends_field(at[length]))
        return hw_any_weight(facts, at, batch);
    if (batch->integral)
        batch->weight[batch->count].i32 = (int32_t)number;
    else
        batch->weight[batch->count].f32 = (float)number;
    return at + length;
}

/* What may follow the last field of a line. */
enum hw_rest { HW_REST_NONE, HW_REST_IGNORED };

/* The start of the next line, after a last field that ended at `at`. Local. */
const char *hw_field_end(enum hw_rest rest, const char *at, const char *end,
                         struct hw_tuple_batch *batch);

/* A tuple whose source begins at `at`, and the rest of its line. Local. */
static inline const char *hw_field_tuple(const struct hw_facts *facts, uint64_t limit, bool weights,
                                         enum hw_rest rest, const char *at, const char *end,
                                         struct hw_tuple_batch *batch)
{
    const hw_count i = batch->count;

    at = hw_field_id(facts, limit, at, batch, &batch->source[i]);
    if (!at)
        return NULL;
    at = hw_field_id(facts, limit, *at == '\n' ? at : hw_scan_separator(at), batch,
                     &batch->target[i]);
    if (at && weights)
        at = hw_field_weight(facts, *at == '\n' ? at : hw_scan_separator(at), batch);
    if (!at)
        return NULL;
    batch->count = i + 1;
    return *at == '\n' ? at + 1 : hw_field_end(rest, at, end, batch);
}

/* The words of a line: up to `most` of them, as hw_quote() has them. Returns how
 * many there are, those past `most` too. Local. */
int hw_text_line_words(const struct hw_text_line *line, int max, struct hw_quote *words);

/* A whole number in [0, 2^62] that is all of a word; -1 if it is none. Local. */
hw_count hw_word_count(const char *word);

#endif
