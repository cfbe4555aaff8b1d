/*
 * Files that are compressed, as streams of what is in them. Whatever follows the compressed
 * streams is refused, and so is an end that comes too early.
 */
#include "lib/base/memory.h"
#include "lib/graph/import/input/codec.h"
#include "lib/graph/import/input/input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    INPUT_SIZE = 1 << 18, /* bytes read from the file at a time */
    SKIP_SIZE = 1 << 16   /* bytes passed over at a time */
};

/* The state of a stream. */
struct unpack {
    const struct hw_codec *codec;
    void *decoder;     /* of the codec; NULL before the start */
    bool size_limits;  /* the file's size limits what the decoder may take, not what is free */
    bool ended;        /* all is unpacked */
    hw_count at;       /* bytes unpacked so far */
    hw_count file_at;  /* where in the file the next bytes come from */
    bool file_ended;   /* the file has no more */
    size_t begin, end; /* bytes of the buffer that are not used yet */
    unsigned char byte[INPUT_SIZE];
};

/* Reads more of the file once all is used. */
static enum hw_status refill(struct hw_input *input, struct hw_error *err)
{
    struct unpack *unpack = input->state;
    ssize_t some;

    if (unpack->begin < unpack->end || unpack->file_ended)
        return HW_OK;
    do
        some = pread(input->fd, unpack->byte, INPUT_SIZE, unpack->file_at);
    while (some < 0 && errno == EINTR);
    if (some < 0)
        return hw_fail(err, HW_BAD_INPUT, "%s: cannot be read: %s", input->path, strerror(errno));
    unpack->file_ended = some == 0;
    unpack->file_at += some;
    unpack->begin = 0;
    unpack->end = (size_t)some;
    return HW_OK;
}

/* ---- failures ---- */

static enum hw_status fail_damaged(const struct hw_input *input, const char *why,
                                   struct hw_error *err)
{
    const struct unpack *unpack = input->state;

    return hw_fail(err, HW_BAD_INPUT,
                   "%s: what %s compressed is damaged near byte %" PRI_COUNT ": %s", input->path,
                   unpack->codec->name, input->consumed, why ? why : "it cannot be unpacked");
}

/* The error message of what a codec ended with, where it neither goes on nor ends. */
static enum hw_status fail_codec(const struct hw_input *input, enum hw_codec_result result,
                                 const struct hw_codec_step *step, struct hw_error *err)
{
    const struct unpack *unpack = input->state;
    const char *name = unpack->codec->name;

    switch (result) {
    case HW_CODEC_NO_MEMORY:
        return hw_fail(err, HW_RESOURCES, "%s: no memory to unpack it", input->path);
    case HW_CODEC_TOO_LARGE:
        if (unpack->size_limits)
            return hw_fail(err, HW_BAD_INPUT,
                           "%s: asks for more than %" PRI_COUNT
                           " MiB to be unpacked, which no file "
                           "of its size needs",
                           input->path, hw_unpack_memory_max(input->file_size) >> 20);
        if (step->needed == 0)
            return hw_fail(err, HW_RESOURCES,
                           "%s: unpacking it takes more than half of the memory that is free",
                           input->path);
        return hw_fail(err, HW_RESOURCES,
                       "%s: unpacking it takes %.1f MiB, more than half of what is free",
                       input->path, (double)step->needed / (1 << 20));
    case HW_CODEC_UNSUPPORTED:
        return hw_fail(err, HW_BAD_INPUT,
                       "%s: was compressed in a way that the %s library here cannot unpack",
                       input->path, name);
    default:
        return fail_damaged(input, step->why, err);
    }
}

/* ---- unpacking ---- */

/* After a stream: another one, or nothing. */
static enum hw_status next_stream(struct hw_input *input, struct hw_error *err)
{
    struct unpack *unpack = input->state;
    const struct hw_codec_step none = {0};

    HW_TRY(refill(input, err));
    unpack->ended = unpack->begin == unpack->end;
    if (unpack->ended)
        return HW_OK;
    if (!unpack->codec->follows(unpack->byte[unpack->begin]))
        return fail_damaged(input, "something else follows its end", err);
    const enum hw_codec_result result = unpack->codec->restart(unpack->decoder);
    return result == HW_CODEC_MORE ? HW_OK : fail_codec(input, result, &none, err);
}

/* Unpacks up to count bytes into bytes; fewer only at the end. */
static enum hw_status fill(struct hw_input *input, unsigned char *bytes, hw_count count,
                           hw_count *got, struct hw_error *err)
{
    struct unpack *unpack = input->state;

    *got = 0;
    while (*got < count && !unpack->ended) {
        HW_TRY(refill(input, err));
        const size_t room = (size_t)(count - *got), left = unpack->end - unpack->begin;
        struct hw_codec_step step = {.in = unpack->byte + unpack->begin,
                                     .in_size = left,
                                     .out = bytes + *got,
                                     .out_size = room,
                                     .last = unpack->file_ended};
        const enum hw_codec_result result = unpack->codec->decode(unpack->decoder, &step);
        unpack->begin += left - step.in_size;
        *got += (hw_count)(room - step.out_size);
        input->consumed = unpack->file_at - (hw_count)(unpack->end - unpack->begin);
        if (result == HW_CODEC_ENDED)
            HW_TRY(next_stream(input, err));
        else if (result != HW_CODEC_MORE)
            return fail_codec(input, result, &step, err);
        else if (unpack->file_ended && step.out_size == room && step.in_size == left)
            return hw_fail(err, HW_BAD_INPUT,
                           "%s: is truncated: it ends in the middle of what %s compressed",
                           input->path, unpack->codec->name);
    }
    return HW_OK;
}

/* The same, within what may be unpacked of the file. */
static enum hw_status fill_bounded(struct hw_input *input, void *bytes, hw_count count,
                                   hw_count *got, struct hw_error *err)
{
    struct unpack *unpack = input->state;
    const hw_count limit = hw_unpack_max(input->file_size);

    HW_TRY(fill(input, bytes, count, got, err));
    unpack->at += *got;
    if (unpack->at <= limit)
        return HW_OK;
    return hw_fail(err, HW_BAD_INPUT,
                   "%s: unpacks to more than %" PRI_COUNT " times its size, which no text of a "
                   "graph does",
                   input->path, HW_UNPACK_RATIO);
}

/* ---- streams ---- */

static void stop(struct unpack *unpack)
{
    if (unpack->decoder)
        unpack->codec->stop(unpack->decoder);
    unpack->decoder = NULL;
}

/* Goes back to the first byte. */
static enum hw_status rewind_stream(struct hw_input *input, struct hw_error *err)
{
    struct unpack *unpack = input->state;
    const struct hw_codec_step none = {0};
    const hw_count max = hw_unpack_memory_max(input->file_size);
    hw_count memory = hw_memory_available() / 2;

    unpack->size_limits = memory > max;
    memory = memory < max ? memory : max;
    stop(unpack);
    unpack->ended = unpack->file_ended = false;
    unpack->at = unpack->file_at = 0;
    unpack->begin = unpack->end = 0;
    input->consumed = 0;
    const enum hw_codec_result result =
        unpack->codec->start(&unpack->decoder, memory > 0 ? memory : 1);
    return result == HW_CODEC_MORE ? HW_OK : fail_codec(input, result, &none, err);
}

static enum hw_status read_stream(struct hw_input *input, hw_count offset, void *bytes,
                                  hw_count count, hw_count *got, struct hw_error *err)
{
    struct unpack *unpack = input->state;
    char skipped[SKIP_SIZE];

    *got = 0;
    if (!unpack->decoder || offset < unpack->at)
        HW_TRY(rewind_stream(input, err));
    while (unpack->at < offset && !unpack->ended) {
        const hw_count rest = offset - unpack->at;
        hw_count some;
        HW_TRY(fill_bounded(input, skipped, rest < SKIP_SIZE ? rest : SKIP_SIZE, &some, err));
    }
    return unpack->at == offset ? fill_bounded(input, bytes, count, got, err) : HW_OK;
}

static void close_stream(struct hw_input *input)
{
    stop(input->state);
    free(input->state);
}

/* ---- recognition ---- */

enum hw_status hw_input_unpack(struct hw_input *input, struct hw_error *err)
{
    static const struct hw_codec *const codecs[] = {&hw_codec_gzip, &hw_codec_xz, &hw_codec_bzip2,
                                                    &hw_codec_zstd};
    const struct hw_codec *codec = NULL;
    unsigned char first[8];
    struct unpack *unpack = NULL;

    const ssize_t count = pread(input->fd, first, sizeof first, 0);

    if (count < 0)
        return hw_fail(err, HW_BAD_INPUT, "%s: cannot be read: %s", input->path, strerror(errno));
    for (size_t i = 0; i < sizeof codecs / sizeof *codecs && !codec; i++)
        codec = codecs[i]->recognize(first, (size_t)count) ? codecs[i] : NULL;
    if (!codec)
        return HW_OK;
    if (!codec->start)
        return hw_fail(err, HW_BAD_INPUT,
                       "%s: is compressed with %s, which this build of Hopwave cannot unpack; "
                       "unpack it first",
                       input->path, codec->name);
    HW_TRY(hw_alloc_zero(&unpack, 1, sizeof *unpack, "a compressed file", err));
    unpack->codec = codec;
    input->state = unpack;
    input->stream = true;
    input->size = -1;
    input->read = read_stream;
    input->close = close_stream;
    return HW_OK;
}
