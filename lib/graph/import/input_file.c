/* Files as sequences of bytes, and their first lines. */
#include "lib/graph/import/format_reader.h"

#include "lib/base/memory.h"
#include "lib/graph/import/scan_numbers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Bytes of a head at first, and at most while no line ends. */
#define HEAD_FIRST ((hw_count)1 << 20)
#define HEAD_MAX ((hw_count)1 << 28)

/* Bytes that one call of pread() is asked for at most. */
#define READ_MAX ((hw_count)1 << 30)

/* Frees the array and points to what took its place. */
static void replace(char **array, char *by)
{
    free(*array);
    *array = by;
}

enum hw_status hw_input_open(const char *path, struct hw_input *input, struct hw_error *err)
{
    struct stat about;

    /* O_NONBLOCK: a FIFO is refused below, and its writer not waited for. */
    *input = (struct hw_input){.path = path, .fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    if (input->fd < 0)
        return hw_fail(err, HW_BAD_INPUT, "%s: cannot be read: %s", path, strerror(errno));
    if (fstat(input->fd, &about) != 0)
        return hw_fail(err, HW_BAD_INPUT, "%s: cannot be examined: %s", path, strerror(errno));
    if (S_ISDIR(about.st_mode))
        return hw_fail(err, HW_BAD_INPUT, "%s: is a folder", path);
    if (!S_ISREG(about.st_mode))
        return hw_fail(err, HW_BAD_INPUT, "%s: is no plain file", path);
    if (about.st_size == 0)
        return hw_fail(err, HW_BAD_INPUT, "%s: is empty", path);
    input->file_size = about.st_size;
    input->size = about.st_size;
    return HW_OK;
}

enum hw_status hw_input_read(struct hw_input *input, hw_count offset, void *bytes, hw_count count,
                             hw_count *got, struct hw_error *err)
{
    *got = 0;
    if (input->stream)
        return input->read(input, offset, bytes, count, got, err);
    while (*got < count) {
        const hw_count rest = count - *got;
        const ssize_t some = pread(input->fd, (char *)bytes + *got,
                                   (size_t)(rest < READ_MAX ? rest : READ_MAX), offset + *got);
        if (some < 0 && errno == EINTR)
            continue;
        if (some < 0)
            return hw_fail(err, HW_BAD_INPUT, "%s: cannot be read: %s", input->path,
                           strerror(errno));
        if (some == 0)
            break;
        *got += some;
    }
    return HW_OK;
}

enum hw_status hw_input_read_all(struct hw_input *input, hw_count offset, void *bytes,
                                 hw_count count, struct hw_error *err)
{
    hw_count got = 0;

    HW_TRY(hw_input_read(input, offset, bytes, count, &got, err));
    if (got < count)
        return hw_fail(err, HW_BAD_INPUT, "%s: became shorter while it was read", input->path);
    return HW_OK;
}

void hw_input_close(struct hw_input *input)
{
    if (!input->path)
        return;
    if (input->stream)
        input->close(input);
    if (input->fd >= 0)
        close(input->fd);
    *input = (struct hw_input){0};
}

/* ---- the beginning ---- */

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
