/*
 * Any bytes as a text that programs print as JSON, such as the name of a file: it must be read as
 * the same text, but for bytes that are no UTF-8, and control no terminal. (The only JSON that
 * programs read are the schemas compiled into them.)
 */
#include "tests/fuzz/fuzz.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether two texts are the same but for bytes that are '?' in the second one. */
static bool same_but_for_marks(const char *given, const char *read)
{
    for (; *given && (*given == *read || *read == '?'); given++)
        read++;
    return *given == *read;
}

void hw_fuzz_json(const uint8_t *data, size_t size)
{
    char *text = hw_fuzz_room(size + 1), *printed = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&printed, &length);
    json_error_t error;

    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    hw_fuzz_demand(out != NULL, "no memory");
    hw_print_json_text(text, out);
    hw_fuzz_demand(fclose(out) == 0, "no memory");
    json_t *value = json_loads(printed, JSON_DECODE_ANY, &error);
    hw_fuzz_demand(json_is_string(value), "what is printed is no text of JSON");
    hw_fuzz_demand(same_but_for_marks(text, json_string_value(value)), "another text is read");
    for (size_t i = 0; i < length; i++)
        hw_fuzz_demand((unsigned char)printed[i] >= ' ' && printed[i] != 0x7f,
                       "a byte controls the terminal");
    char *line = strdup(printed);
    hw_fuzz_demand(line != NULL, "no memory");
    hw_make_line(line);
    hw_fuzz_demand(strcmp(line, printed) == 0, "a character controls the terminal");
    free(line);
    json_decref(value);
    free(printed);
    free(text);
}
