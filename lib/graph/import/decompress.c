/*
 * Files that are compressed, as streams of what is in them.
 *
 * gzip: members one after another (RFC 1952), each checked by its CRC and length.
 * xz: streams one after another, with padding. Whatever follows them is refused, and
 * so is an end that comes too early.
 */
#include "lib/graph/import/format_reader.h"

#include "lib/base/memory.h"

#include <errno.h>
#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum {
    INPUT_SIZE = 1 << 18, /* bytes read from the file at a time */
    SKIP_SIZE = 1 << 16   /* bytes passed over at a time */
};

/* Compressed bytes on their way. */
struct packed {
    hw_count at; /* where in the file the next bytes come from */
    bool ended;  /* the file has no more */
    unsigned char byte[INPUT_SIZE];
};

/* A decoder, one for each way to compress. */
struct unpacker {
    const char *name;
    enum hw_status (*start)(struct hw_input *input, struct hw_error *err);
    /* Unpacks up to count bytes into bytes; fewer only at the end. */
    enum hw_status (*fill)(struct hw_input *input, void *bytes, hw_count count, hw_count *got,
                           struct hw_error *err);
    void (*stop)(struct hw_input *input);
};

/* The state of a stream. */
struct unpack {
    const struct unpacker *unpacker;
    bool running; /* between start and stop */
    bool ended;   /* all is unpacked */
    hw_count at;  /* bytes unpacked so far */
    z_stream gzip;
    lzma_stream xz;
    struct packed packed;
};

/* Reads more of the file once all is used. left: bytes not used yet. */
static enum hw_status refill(struct hw_input *input, size_t left, size_t *got, struct hw_error *err)
{
    struct unpack *unpack = input->state;
    struct packed *packed = &unpack->packed;
    ssize_t some;

    *got = 0;
    if (left > 0 || packed->ended)
        return HW_OK;
    do
        some = pread(input->fd, packed->byte, INPUT_SIZE, packed->at);
    while (some < 0 && errno == EINTR);
    if (some < 0)
        return hw_fail(err, HW_BAD_INPUT, "%s: cannot be read: %s", input->path, strerror(errno));
    packed->ended = some == 0;
    packed->at += some;
    *got = (size_t)some;
    return HW_OK;
}

static enum hw_status fail_truncated(const struct hw_input *input, struct hw_error *err)
{
    const struct unpack *unpack = input->state;

    return hw_fail(err, HW_BAD_INPUT,
                   "%s: is truncated: it ends in the middle of what %s compressed", input->path,
                   unpack->unpacker->name);
}

static enum hw_status fail_damaged(const struct hw_input *input, const char *why,
                                   struct hw_error *err)
{
    const struct unpack *unpack = input->state;

    return hw_fail(err, HW_BAD_INPUT,
                   "%s: what %s compressed is damaged near byte %" PRI_COUNT ": %s", input->path,
                   unpack->unpacker->name, input->consumed, why);
}

/* ---- gzip ---- */

static enum hw_status gzip_start(struct hw_input *input, struct hw_error *err)
{
    struct unpack *unpack = input->state;

    unpack->gzip = (z_stream){0};
    if (inflateInit2(&unpack->gzip, 15 + 16) != Z_OK) /* the largest window; gzip alone */
        return hw_fail(err, HW_RESOURCES, "%s: no memory to unpack it", input->path);
    return HW_OK;
}

static void gzip_stop(struct hw_input *input)
{
    struct unpack *unpack = input->state;

    inflateEnd(&unpack->gzip);
}

/* What follows a member: another one, or nothing. */
static enum hw_status gzip_next(struct hw_input *input, struct hw_error *err)
{
    struct unpack *unpack = input->state;
    z_stream *z = &unpack->gzip;
    size_t got;

    HW_TRY(refill(input, z->avail_in, &got, err));
    if (got > 0) {
        z->next_in = unpack->packed.byte;
        z->avail_in = (uInt)got;
    }
    unpack->ended = z->avail_in == 0;
    if (unpack->ended)
        return HW_OK;
    if (z->next_in[0] != 0x1f)
        return fail_damaged(input, "something else follows its end", err);
    if (inflateReset(z) != Z_OK)
        return fail_damaged(input, "it cannot be unpacked", err);
    return HW_OK;
}

static enum hw_status gzip_fill(struct hw_input *input, void *bytes, hw_count count, hw_count *got,
                                struct hw_error *err)
{
    struct unpack *unpack = input->state;
    z_stream *z = &unpack->gzip;
    size_t some;

    *got = 0;
    while (*got < count && !unpack->ended) {
        const hw_count rest = count - *got;
        enum hw_status status = refill(input, z->avail_in, &some, err);
        if (status != HW_OK)
            return status;
        if (some > 0) {
            z->next_in = unpack->packed.byte;
            z->avail_in = (uInt)some;
        }
        if (z->avail_in == 0)
            return fail_truncated(input, err);
        z->next_out = (unsigned char *)bytes + *got;
        z->avail_out = rest < 1 << 30 ? (uInt)rest : 1u << 30;
        const uInt capacity = z->avail_out;
        const int code = inflate(z, Z_NO_FLUSH);
        *got += capacity - z->avail_out;
        input->consumed = unpack->packed.at - z->avail_in;
        if (code == Z_MEM_ERROR)
            return hw_fail(err, HW_RESOURCES, "%s: no memory to unpack it", input->path);
        if (code == Z_STREAM_END)
            status = gzip_next(input, err);
        else if (code != Z_OK && code != Z_BUF_ERROR)
            status = fail_damaged(input, z->msg ? z->msg : "it cannot be unpacked", err);
        if (status != HW_OK)
            return status;
    }
    return HW_OK;
}

/* ---- xz ---- */

static enum hw_status xz_start(struct hw_input *input, struct hw_error *err)
{
    struct unpack *unpack = input->state;
    const hw_count max = hw_memory_available() / 2;

    unpack->xz = (lzma_stream)LZMA_STREAM_INIT;
    if (lzma_stream_decoder(&unpack->xz, (uint64_t)(max > 0 ? max : 1),
                            LZMA_CONCATENATED | LZMA_TELL_UNSUPPORTED_CHECK) != LZMA_OK)
        return hw_fail(err, HW_RESOURCES, "%s: no memory to unpack it", input->path);
    return HW_OK;
}

static void xz_stop(struct hw_input *input)
{
    struct unpack *unpack = input->state;

    lzma_end(&unpack->xz);
}

/* The error message of a code that liblzma ended with. */
static enum hw_status xz_fail(const struct hw_input *input, lzma_ret code, struct hw_error *err)
{
    struct unpack *unpack = input->state;

    switch (code) {
    case LZMA_BUF_ERROR:
        return fail_truncated(input, err);
    case LZMA_MEM_ERROR:
        return hw_fail(err, HW_RESOURCES, "%s: no memory to unpack it", input->path);
    case LZMA_MEMLIMIT_ERROR:
        return hw_fail(err, HW_RESOURCES,
                       "%s: unpacking it takes %.1f MiB, more than half of what is free",
                       input->path, (double)lzma_memusage(&unpack->xz) / (1 << 20));
    case LZMA_FORMAT_ERROR:
        return fail_damaged(input, "something else follows its end", err);
    case LZMA_OPTIONS_ERROR:
    case LZMA_UNSUPPORTED_CHECK:
        return hw_fail(err, HW_BAD_INPUT,
                       "%s: was compressed in a way that this liblzma cannot unpack", input->path);
    default:
        return fail_damaged(input, "its checks fail, or something else follows it", err);
    }
}

static enum hw_status xz_fill(struct hw_input *input, void *bytes, hw_count count, hw_count *got,
                              struct hw_error *err)
{
    struct unpack *unpack = input->state;
    lzma_stream *z = &unpack->xz;
    size_t some;

    *got = 0;
    while (*got < count && !unpack->ended) {
        enum hw_status status = refill(input, z->avail_in, &some, err);
        if (status != HW_OK)
            return status;
        if (some > 0) {
            z->next_in = unpack->packed.byte;
            z->avail_in = some;
        }
        z->next_out = (unsigned char *)bytes + *got;
        z->avail_out = (size_t)(count - *got);
        const size_t capacity = z->avail_out;
        const lzma_ret code = lzma_code(z, unpack->packed.ended ? LZMA_FINISH : LZMA_RUN);
        *got += (hw_count)(capacity - z->avail_out);
        input->consumed = unpack->packed.at - (hw_count)z->avail_in;
        unpack->ended = code == LZMA_STREAM_END;
        if (code != LZMA_OK && code != LZMA_STREAM_END)
            return xz_fail(input, code, err);
    }
    return HW_OK;
}

/* ---- streams ---- */

static const struct unpacker unpackers[] = {{"gzip", gzip_start, gzip_fill, gzip_stop},
                                            {"xz", xz_start, xz_fill, xz_stop}};

/* Goes back to the first byte. */
static enum hw_status rewind_stream(struct hw_input *input, struct hw_error *err)
{
    struct unpack *unpack = input->state;

    if (unpack->running)
        unpack->unpacker->stop(input);
    unpack->running = false;
    unpack->ended = false;
    unpack->at = 0;
    unpack->packed.at = 0;
    unpack->packed.ended = false;
    input->consumed = 0;
    enum hw_status status = unpack->unpacker->start(input, err);
    unpack->running = status == HW_OK;
    return status;
}

static enum hw_status read_stream(struct hw_input *input, hw_count offset, void *bytes,
                                  hw_count count, hw_count *got, struct hw_error *err)
{
    struct unpack *unpack = input->state;
    char skipped[SKIP_SIZE];

    *got = 0;
    if (!unpack->running || offset < unpack->at)
        HW_TRY(rewind_stream(input, err));
    while (unpack->at < offset && !unpack->ended) {
        const hw_count rest = offset - unpack->at;
        hw_count some;
        HW_TRY(unpack->unpacker->fill(input, skipped, rest < SKIP_SIZE ? rest : SKIP_SIZE, &some,
                                      err));
        unpack->at += some;
    }
    if (unpack->at == offset)
        HW_TRY(unpack->unpacker->fill(input, bytes, count, got, err));
    unpack->at += *got;
    return HW_OK;
}

static void close_stream(struct hw_input *input)
{
    struct unpack *unpack = input->state;

    if (unpack->running)
        unpack->unpacker->stop(input);
    free(unpack);
}

enum hw_status hw_input_unpack(struct hw_input *input, struct hw_error *err)
{
    /* Deflate, the one method of gzip; then flags, of which three are none. */
    static const unsigned char gzip[] = {0x1f, 0x8b, 8}, xz[] = {0xfd, '7', 'z', 'X', 'Z', 0};
    unsigned char first[8];
    struct unpack *unpack = NULL;

    const ssize_t count = pread(input->fd, first, sizeof first, 0);

    if (count < 0)
        return hw_fail(err, HW_BAD_INPUT, "%s: cannot be read: %s", input->path, strerror(errno));
    const bool is_gzip = (size_t)count >= sizeof gzip && memcmp(first, gzip, sizeof gzip) == 0 &&
                         (count == sizeof gzip || first[3] < 0x20);
    const bool is_xz = (size_t)count >= sizeof xz && memcmp(first, xz, sizeof xz) == 0;
    if (!is_gzip && !is_xz)
        return HW_OK;
    HW_TRY(hw_alloc_zero(&unpack, 1, sizeof *unpack, "a compressed file", err));
    unpack->unpacker = &unpackers[is_xz];
    input->state = unpack;
    input->stream = true;
    input->size = -1;
    input->read = read_stream;
    input->close = close_stream;
    return HW_OK;
}
