/* The first bytes of a file, line by line. */
#include "lib/graph/import/format_reader.h"

#include "lib/base/memory.h"
#include "lib/graph/import/scan_numbers.h"

#include <stdlib.h>
#include <string.h>

/* Bytes of a head at first, and at most while no line ends. */
#define HEAD_FIRST ((hw_count)1 << 20)
#define HEAD_MAX ((hw_count)1 << 28)

/* Frees the array and points to what took its place. */
static void replace(char **array, char *by)
{
    free(*array);
    *array = by;
}

enum hw_status hw_head_more(struct hw_head *head, struct hw_error *err)
{
    const hw_count size = head->size > 0 ? 2 * head->size : HEAD_FIRST;
    char *bytes = NULL;
    hw_count got = 0;

    if (head->whole)
        return HW_OK;
    if (size > HEAD_MAX)
        return hw_fail(err, HW_BAD_INPUT, "%s: its header has no end in the first 256 MiB",
                       head->input->path);
    HW_TRY(hw_alloc(&bytes, size + HW_SCAN_PAD, 1, "the head of a file", err));
    if (head->size > 0)
        memcpy(bytes, head->bytes, (size_t)head->size);
    replace(&head->bytes, bytes);
    HW_TRY(
        hw_input_read(head->input, head->size, bytes + head->size, size - head->size, &got, err));
    memset(bytes + head->size + got, 0, HW_SCAN_PAD);
    head->whole = got < size - head->size;
    head->size += got;
    return HW_OK;
}

enum hw_status hw_head_line(struct hw_head *head, struct hw_text_line *line, struct hw_error *err)
{
    const char *newline = NULL;
    enum hw_status status = HW_OK;

    while (status == HW_OK) {
        const hw_count rest = head->size - head->at;
        newline = rest > 0 ? memchr(head->bytes + head->at, '\n', (size_t)rest) : NULL;
        if (newline || head->whole)
            break;
        status = hw_head_more(head, err);
    }
    *line = (struct hw_text_line){.number = head->line + 1};
    if (status != HW_OK || head->at == head->size)
        return status;
    line->begin = head->bytes + head->at;
    line->end = newline ? newline : head->bytes + head->size;
    head->at = line->end - head->bytes + (newline != NULL);
    head->line++;
    if (line->end > line->begin && line->end[-1] == '\r')
        line->end--;
    return HW_OK;
}
