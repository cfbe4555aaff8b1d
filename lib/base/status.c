#include "lib/base/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void hw_make_line(char *text)
{
    for (char *c = text; *c; c++)
        if ((*c > '\0' && *c < ' ') || *c == '\x7f')
            *c = '?';
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
