/* Files as sequences of bytes. */
#include "lib/graph/import/input/input.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Bytes that one call of pread() is asked for at most. */
#define READ_MAX ((hw_count)1 << 30)

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
    if (input->close)
        input->close(input);
    if (input->fd >= 0)
        close(input->fd);
    *input = (struct hw_input){0};
}
