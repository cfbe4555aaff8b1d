#include "lib/graph/import/input/tar_archive.h"

#include "config.h"
#include "lib/base/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { TAR_BLOCK = 512, CHECKSUM_AT = 148, CHECKSUM_SIZE = 8 };

/* The octal number in a field of a header; -1 if it is none. */
static hw_count read_octal(const unsigned char *field, int size)
{
    hw_count number = -1;
    int at = 0;

    while (at < size && field[at] == ' ')
        at++;
    for (; at < size && field[at] >= '0' && field[at] <= '7'; at++)
        number = (number < 0 ? 0 : number * 8) + (field[at] - '0');
    return at < size && field[at] != 0 && field[at] != ' ' ? -1 : number;
}

/* By the checksum of the first header, which all kinds of tar have. */
enum hw_status hw_archive_recognize(struct hw_input *input, bool *is_archive, struct hw_error *err)
{
    unsigned char block[TAR_BLOCK];
    hw_count got, sum = 0;

    *is_archive = false;
    HW_TRY(hw_input_read(input, 0, block, TAR_BLOCK, &got, err));
    if (got < TAR_BLOCK || block[0] == 0)
        return HW_OK;
    for (int i = 0; i < TAR_BLOCK; i++) {
        const bool inside = i >= CHECKSUM_AT && i < CHECKSUM_AT + CHECKSUM_SIZE;
        sum += inside ? ' ' : block[i];
    }
    *is_archive = read_octal(block + CHECKSUM_AT, CHECKSUM_SIZE) == sum;
    return HW_OK;
}

void hw_members_free(struct hw_members *members)
{
    for (hw_count i = 0; i < members->count; i++) {
        free(members->member[i].path);
        free(members->member[i].head);
    }
    free(members->member);
    *members = (struct hw_members){0};
}

#ifdef HAVE_LIBARCHIVE
#include <archive.h>
#include <archive_entry.h>

enum {
    BUFFER_SIZE = 1 << 18,
    SKIP_SIZE = 1 << 16,
    MEMBERS_MAX = 1000 /* files of an archive */
};

/* An archive that is being read. */
struct tar {
    struct hw_input *input; /* its bytes */
    struct archive *reader; /* NULL before the start */
    hw_count at;            /* bytes of the archive that were read */
    hw_count tail_zeros;    /* zero bytes at the end of those */
    enum hw_status status;  /* of reading the bytes, with its error message */
    struct hw_error err;
    unsigned char buffer[BUFFER_SIZE];
};

/* ---- the bytes of an archive ---- */

static void count_zeros(struct tar *tar, hw_count count)
{
    hw_count zeros = 0;

    while (zeros < count && zeros < TAR_BLOCK && tar->buffer[count - 1 - zeros] == 0)
        zeros++;
    tar->tail_zeros = zeros == count ? tar->tail_zeros + zeros : zeros;
}

/* Reads on, for libarchive. */
static la_ssize_t give_bytes(struct archive *reader, void *pointer, const void **bytes)
{
    struct tar *tar = pointer;
    hw_count got = 0;

    *bytes = tar->buffer;
    tar->status = hw_input_read(tar->input, tar->at, tar->buffer, BUFFER_SIZE, &got, &tar->err);
    if (tar->status != HW_OK) {
        archive_set_error(reader, EIO, "cannot be read");
        return ARCHIVE_FATAL;
    }
    tar->at += got;
    count_zeros(tar, got);
    return (la_ssize_t)got;
}

/* The error message of what libarchive failed with. */
static enum hw_status fail_archive(struct tar *tar, struct hw_error *err)
{
    if (tar->status != HW_OK) {
        if (err)
            *err = tar->err;
        return tar->status;
    }
    const char *why = archive_error_string(tar->reader);
    return hw_fail(err, HW_BAD_INPUT, "%s: is a truncated or damaged tar archive: %s",
                   tar->input->path, why ? why : "it cannot be read");
}

static void stop(struct tar *tar)
{
    if (tar->reader)
        archive_read_free(tar->reader);
    tar->reader = NULL;
}

/* Whether a code of libarchive is no failure. */
static bool passes(int code)
{
    return code == ARCHIVE_OK || code == ARCHIVE_WARN;
}

/* Begins at the first byte. Zeros between entries end no archive: others may follow, as tar can
 * append them. */
static enum hw_status start(struct tar *tar, struct hw_error *err)
{
    stop(tar);
    tar->at = tar->tail_zeros = 0;
    tar->status = HW_OK;
    tar->reader = archive_read_new();
    if (!tar->reader || !passes(archive_read_support_format_tar(tar->reader)) ||
        !passes(archive_read_set_options(tar->reader, "tar:read_concatenated_archives")))
        return hw_fail(err, HW_RESOURCES, "%s: no memory to read it", tar->input->path);
    if (archive_read_open(tar->reader, tar, NULL, give_bytes, NULL) != ARCHIVE_OK)
        return fail_archive(tar, err);
    return HW_OK;
}

/* The next entry, NULL after the last. */
static enum hw_status next_entry(struct tar *tar, struct archive_entry **entry,
                                 struct hw_error *err)
{
    const int code = archive_read_next_header(tar->reader, entry);

    if (code == ARCHIVE_EOF)
        *entry = NULL;
    return code == ARCHIVE_EOF || passes(code) ? HW_OK : fail_archive(tar, err);
}

/* Reads up to count bytes of an entry; fewer only at its end. */
static enum hw_status read_entry(struct tar *tar, void *bytes, hw_count count, hw_count *got,
                                 struct hw_error *err)
{
    for (*got = 0; *got < count;) {
        const la_ssize_t some =
            archive_read_data(tar->reader, (char *)bytes + *got, (size_t)(count - *got));
        if (some < 0)
            return fail_archive(tar, err);
        if (some == 0)
            break;
        *got += some;
    }
    return HW_OK;
}

/* ---- what an archive holds ---- */

/* Whether a path has the component "..". */
static bool leads_out(const char *path)
{
    for (const char *at = path; at; at = strchr(at, '/')) {
        at += *at == '/';
        if (strncmp(at, "..", 2) == 0 && (at[2] == '/' || at[2] == 0))
            return true;
    }
    return false;
}

/* Refuses entries that mean harm, or that cannot be read as a file. */
static enum hw_status check_entry(const struct tar *tar, struct archive_entry *entry,
                                  struct hw_error *err)
{
    const char *archive = tar->input->path, *path = archive_entry_pathname(entry);
    const bool link = archive_entry_hardlink(entry) || archive_entry_filetype(entry) == AE_IFLNK;

    if (!path || !*path)
        return hw_fail(err, HW_BAD_INPUT, "%s: holds a file without a name", archive);
    if (*path == '/')
        return hw_fail(err, HW_BAD_INPUT, "%s: holds '%s', an absolute path; it is not read",
                       archive, path);
    if (leads_out(path))
        return hw_fail(err, HW_BAD_INPUT, "%s: holds '%s', which leads out of it; it is not read",
                       archive, path);
    if (link)
        return hw_fail(err, HW_BAD_INPUT, "%s: holds '%s', a link; it is not read", archive, path);
    if (archive_entry_filetype(entry) != AE_IFREG && archive_entry_filetype(entry) != AE_IFDIR)
        return hw_fail(err, HW_BAD_INPUT,
                       "%s: holds '%s', which is neither a plain file nor a folder; it is not read",
                       archive, path);
    if (archive_entry_sparse_count(entry) > 0)
        return hw_fail(err, HW_BAD_INPUT, "%s: holds '%s', a file with holes; it is not read",
                       archive, path);
    return HW_OK;
}

/* Adds a plain file to the list, with its beginning. */
static enum hw_status add_member(struct tar *tar, struct archive_entry *entry, hw_count index,
                                 struct hw_members *members, struct hw_error *err)
{
    const char *path = archive_entry_pathname(entry);
    const hw_count size = archive_entry_size(entry);

    if (members->count == MEMBERS_MAX)
        return hw_fail(err, HW_BAD_INPUT, "%s: holds more than %d files", tar->input->path,
                       MEMBERS_MAX);
    if (members->count == members->capacity) {
        const hw_count capacity = 2 * members->capacity + 16;
        struct hw_member *grown =
            realloc(members->member, (size_t)capacity * sizeof *members->member);
        if (!grown)
            return hw_fail(err, HW_RESOURCES, "%s: no memory to list it", tar->input->path);
        members->member = grown;
        members->capacity = capacity;
    }
    struct hw_member *member = &members->member[members->count++];
    *member = (struct hw_member){.index = index, .size = size};
    while (strncmp(path, "./", 2) == 0)
        path += 2;
    member->path = strdup(path);
    if (!member->path)
        return hw_fail(err, HW_RESOURCES, "%s: no memory to list it", tar->input->path);
    const hw_count head = size < HW_MEMBER_HEAD ? size : HW_MEMBER_HEAD;
    HW_TRY(hw_alloc_zero(&member->head, head + HW_MEMBER_PAD, 1, "the head of a file", err));
    return read_entry(tar, member->head, head, &member->head_size, err);
}

/* Reads what follows the last entry: zeros. A sum of what is compressed is checked by that. */
static enum hw_status check_end(struct tar *tar, struct hw_error *err)
{
    const void *bytes;
    la_ssize_t got;

    do
        got = give_bytes(tar->reader, tar, &bytes);
    while (got > 0);
    if (got < 0)
        return fail_archive(tar, err);
    if (tar->tail_zeros < TAR_BLOCK)
        return hw_fail(err, HW_BAD_INPUT,
                       "%s: is a truncated tar archive, or something else follows its end",
                       tar->input->path);
    return HW_OK;
}

static enum hw_status list(struct tar *tar, struct hw_members *members, struct hw_error *err)
{
    struct archive_entry *entry = NULL;

    HW_TRY(start(tar, err));
    for (hw_count index = 0;; index++) {
        HW_TRY(next_entry(tar, &entry, err));
        if (!entry)
            return check_end(tar, err);
        HW_TRY(check_entry(tar, entry, err));
        if (archive_entry_filetype(entry) == AE_IFREG)
            HW_TRY(add_member(tar, entry, index, members, err));
    }
}

enum hw_status hw_archive_list(struct hw_input *input, struct hw_members *members,
                               struct hw_error *err)
{
    struct tar *tar = NULL;

    *members = (struct hw_members){0};
    HW_TRY(hw_alloc_zero(&tar, 1, sizeof *tar, "an archive", err));
    tar->input = input;
    const enum hw_status status = list(tar, members, err);
    stop(tar);
    free(tar);
    return status;
}

/* ---- one member as a stream ---- */

struct member_stream {
    struct tar tar;
    struct hw_input archive; /* the archive's own bytes */
    hw_count index, size;    /* of the member */
    hw_count at;             /* bytes of it that were read; -1: before the start */
};

/* Goes to the member's first byte. */
static enum hw_status rewind_member(struct member_stream *stream, struct hw_error *err)
{
    struct archive_entry *entry = NULL;

    stream->at = -1;
    HW_TRY(start(&stream->tar, err));
    for (hw_count index = 0; index <= stream->index; index++) {
        HW_TRY(next_entry(&stream->tar, &entry, err));
        if (!entry)
            return hw_fail(err, HW_BAD_INPUT, "%s: changed while it was read",
                           stream->archive.path);
    }
    stream->at = 0;
    return HW_OK;
}

static enum hw_status read_member(struct hw_input *input, hw_count offset, void *bytes,
                                  hw_count count, hw_count *got, struct hw_error *err)
{
    struct member_stream *stream = input->state;
    char skipped[SKIP_SIZE];
    hw_count some = 1;

    *got = 0;
    if (stream->at < 0 || offset < stream->at)
        HW_TRY(rewind_member(stream, err));
    while (stream->at < offset && some > 0) {
        const hw_count rest = offset - stream->at;
        HW_TRY(read_entry(&stream->tar, skipped, rest < SKIP_SIZE ? rest : SKIP_SIZE, &some, err));
        stream->at += some;
    }
    if (stream->at == offset)
        HW_TRY(read_entry(&stream->tar, bytes, count, got, err));
    stream->at += *got;
    /* For progress and shares the member stands for the whole file. */
    if (stream->size > 0)
        input->consumed =
            (hw_count)((double)input->file_size * (double)stream->at / (double)stream->size);
    return HW_OK;
}

static void close_member(struct hw_input *input)
{
    struct member_stream *stream = input->state;

    stop(&stream->tar);
    if (stream->archive.close)
        stream->archive.close(&stream->archive);
    free(stream);
}

enum hw_status hw_archive_enter(struct hw_input *input, const struct hw_member *member,
                                const char *path, struct hw_error *err)
{
    struct member_stream *stream = NULL;

    HW_TRY(hw_alloc_zero(&stream, 1, sizeof *stream, "a file in an archive", err));
    stream->archive = *input;
    stream->tar.input = &stream->archive;
    stream->index = member->index;
    stream->size = member->size;
    stream->at = -1;
    input->path = path;
    input->state = stream;
    input->stream = true;
    input->size = member->size;
    input->consumed = 0;
    input->read = read_member;
    input->close = close_member;
    return HW_OK;
}
#else
enum hw_status hw_archive_list(struct hw_input *input, struct hw_members *members,
                               struct hw_error *err)
{
    *members = (struct hw_members){0};
    return hw_fail(err, HW_BAD_INPUT,
                   "%s: is a tar archive, which this build of Hopwave cannot read; unpack it first",
                   input->path);
}

enum hw_status hw_archive_enter(struct hw_input *input, const struct hw_member *member,
                                const char *path, struct hw_error *err)
{
    (void)member;
    (void)path;
    return hw_fail(err, HW_INTERNAL, "%s: archives cannot be read", input->path);
}
#endif
