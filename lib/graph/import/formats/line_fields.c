#include "lib/graph/import/formats/line_fields.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>

void hw_tuple_batch_fault(struct hw_tuple_batch *batch, const char *format, ...)
{
    va_list arguments;

    batch->failed = true;
    va_start(arguments, format);
    vsnprintf(batch->fault, sizeof batch->fault, format, arguments);
    va_end(arguments);
}

struct hw_quote hw_quote(const char *at)
{
    struct hw_quote quote = {.text = ""};
    size_t length = 0;

    /* A file's head ends in zero bytes. */
    for (; !hw_ends_field(at[length]) && (at[length] || length == 0); length++) {
        if (length == sizeof quote.text - 4) {
            memcpy(quote.text + length, "...", 4);
            break;
        }
        const bool plain = at[length] >= ' ' && at[length] <= '~';
        quote.text[length] = plain ? at[length] : '?';
    }
    return quote;
}

int hw_text_line_words(const struct hw_text_line *line, int max, struct hw_quote *words)
{
    const char *at = hw_scan_blanks(line->begin);
    int count = 0;

    while (at < line->end && *at != '\n') {
        if (count < max)
            words[count] = hw_quote(at);
        count++;
        while (!hw_ends_field(*at) && at < line->end)
            at++;
        if (at < line->end)
            at = hw_scan_separator(at);
    }
    return count;
}

hw_count hw_word_count(const char *word)
{
    char text[sizeof(struct hw_quote) + HW_SCAN_PAD] = "";
    uint64_t number;

    snprintf(text, sizeof text, "%s", word);
    const char *end = hw_scan_number(text, &number);
    return end == text || *end || number > (uint64_t)1 << 62 ? -1 : (hw_count)number;
}

const char *hw_field_end(enum hw_rest rest, const char *at, const char *end,
                         struct hw_tuple_batch *batch)
{
    const char *next = hw_scan_separator(at);

    if (*next == '\n')
        return next + 1;
    if (rest == HW_REST_IGNORED)
        return hw_scan_line(next, end);
    hw_tuple_batch_fault(batch, "'%s' is one field too many", hw_quote(next).text);
    return NULL;
}

/* ---- ids ---- */

const char *hw_bad_id(const struct hw_facts *facts, const char *at, struct hw_tuple_batch *batch)
{
    const struct hw_quote quote = hw_quote(at);
    uint64_t number;
    const char *next = hw_scan_number(at, &number);

    if (*at == '\n')
        hw_tuple_batch_fault(batch, "ends where a vertex id should stand");
    else if (*at == '-' && hw_is_digit(at[1]))
        hw_tuple_batch_fault(batch, "'%s' is negative; vertex ids are not", quote.text);
    else if (next == at || !hw_ends_field(*next))
        hw_tuple_batch_fault(batch, "'%s' is not a vertex id", quote.text);
    else if (number > (uint64_t)INT64_MAX)
        hw_tuple_batch_fault(batch, "the vertex id %s is past 2^63 - 1", quote.text);
    else
        hw_tuple_batch_fault(batch, "the vertex id %s is not among %" PRI_GID " to %" PRI_GID,
                             quote.text, facts->first_id, facts->first_id + facts->vertices - 1);
    return NULL;
}

/* ---- weights ---- */

/* From now on weights are f32. */
static void turn_real(struct hw_tuple_batch *batch)
{
    if (!batch->integral)
        return;
    batch->integral = false;
    for (hw_count i = 0; i < batch->count; i++)
        batch->weight[i].f32 = (float)batch->weight[i].i32;
}

static const char *bad_weight(const char *at, struct hw_tuple_batch *batch)
{
    const struct hw_quote quote = hw_quote(at);

    if (*at == '\n')
        hw_tuple_batch_fault(batch, "ends where a weight should stand");
    else
        hw_tuple_batch_fault(batch, "'%s' is not a weight; weights are finite decimal numbers",
                             quote.text);
    return NULL;
}

/* What a whole number past i32 means: to be refused, or a real number. */
static const char *large_weight(const struct hw_facts *facts, const char *at,
                                struct hw_tuple_batch *batch)
{
    if (facts->take == HW_TAKE_INTEGER) {
        hw_tuple_batch_fault(
            batch,
            "the weight %s does not fit 32 bits; --weights real takes it as a real "
            "number",
            hw_quote(at).text);
        return NULL;
    }
    if (batch->integral && batch->too_large == 0)
        batch->too_large = batch->lines + 1;
    return at;
}

const char *hw_any_weight(const struct hw_facts *facts, const char *at,
                          struct hw_tuple_batch *batch)
{
    union hw_weight *weight = &batch->weight[batch->count];
    const char *next;
    float f32 = 0;
    int32_t i32 = 0;
    const enum hw_scanned scanned = hw_scan_real(at, &next, &f32, &i32);

    if (scanned == HW_SCAN_NOTHING || !hw_ends_field(*next))
        return bad_weight(at, batch);
    if (scanned == HW_SCAN_RANGE) {
        hw_tuple_batch_fault(batch, "the weight %s is past the largest real number of 32 bits",
                             hw_quote(at).text);
        return NULL;
    }
    if (scanned == HW_SCAN_REAL && facts->take == HW_TAKE_INTEGER) {
        hw_tuple_batch_fault(batch, "the weight %s is not a whole number", hw_quote(at).text);
        return NULL;
    }
    if (scanned == HW_SCAN_LARGE && !large_weight(facts, at, batch))
        return NULL;
    batch->real_seen = batch->real_seen || scanned == HW_SCAN_REAL;
    if (scanned != HW_SCAN_WHOLE)
        turn_real(batch);
    if (batch->integral)
        weight->i32 = i32;
    else
        weight->f32 = f32;
    return next;
}
