#include "lib/base/status.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* The bytes of the character of UTF-8 at c; 0 if they are none, which includes forms that are too
 * long and halves of pairs. The text ends in a zero. */
static int character(const unsigned char *c, uint32_t *code)
{
    static const uint32_t min[] = {0, 0, 0x80, 0x800, 0x10000};
    const int length = *c < 0x80 ? 1 : *c < 0xc0 ? 0 : *c < 0xe0 ? 2 : *c < 0xf0 ? 3 : 4;

    *code = length == 1 ? *c : length == 4 ? *c & 0x0fu : *c & (0xffu >> (length + 1));
    for (int i = 1; i < length; i++) {
        if ((c[i] & 0xc0) != 0x80)
            return 0;
        *code = *code << 6 | (c[i] & 0x3fu);
    }
    if (length == 0 || *code < min[length] || *code > 0x10ffff)
        return 0;
    return *code >= 0xd800 && *code < 0xe000 ? 0 : length;
}

/* Whether a terminal would do something else with a character than to show it: control characters,
 * ends of lines and paragraphs, changes of the direction of writing. */
static bool controls(uint32_t code)
{
    return code < ' ' || (code >= 0x7f && code < 0xa0) || (code >= 0x2028 && code <= 0x202e) ||
           (code >= 0x2066 && code <= 0x2069);
}

void hw_make_line(char *text)
{
    uint32_t code = 0;

    while (*text) {
        const int length = character((const unsigned char *)text, &code);
        const int printable = length > 0 && !controls(code) ? length : 0;
        if (printable == 0)
            *text = '?';
        text += printable > 0 ? printable : 1;
    }
}

void hw_print_json_text(const char *text, FILE *out)
{
    uint32_t code = 0;

    fputc('"', out);
    for (int length; *text; text += length > 0 ? length : 1) {
        length = character((const unsigned char *)text, &code);
        if (length == 0)
            fputc('?', out);
        else if (controls(code))
            fprintf(out, "\\u%04x", (unsigned)code);
        else
            fprintf(out, code == '"' || code == '\\' ? "\\%.*s" : "%.*s", length, text);
    }
    fputc('"', out);
}

enum hw_status hw_fail(struct hw_error *err, enum hw_status status, const char *format, ...)
{
    if (err) {
        va_list args;
        va_start(args, format);
        vsnprintf(err->text, sizeof err->text, format, args);
        va_end(args);
        hw_make_line(err->text);
    }
    return status;
}

enum hw_status hw_prefix(struct hw_error *err, enum hw_status status, const char *format, ...)
{
    if (err) {
        char old[sizeof err->text];
        memcpy(old, err->text, sizeof old);
        va_list args;
        va_start(args, format);
        vsnprintf(err->text, sizeof err->text, format, args);
        va_end(args);
        size_t used = strlen(err->text);
        /* An error message too long for the buffer is cut. */
        const char *rest[] = {": ", old};
        for (int i = 0; i < 2; i++)
            for (const char *c = rest[i]; *c && used + 1 < sizeof err->text; c++)
                err->text[used++] = *c;
        err->text[used] = '\0';
        hw_make_line(err->text);
    }
    return status;
}
