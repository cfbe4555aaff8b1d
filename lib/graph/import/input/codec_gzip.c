/* gzip: members one after another (RFC 1952), each checked by its CRC and length. */
#include "lib/graph/import/input/codec.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static bool recognize(const unsigned char *first, size_t count)
{
    /* Deflate, the one method of gzip; then flags, of which three are none. */
    static const unsigned char magic[] = {0x1f, 0x8b, 8};

    return count >= sizeof magic && memcmp(first, magic, sizeof magic) == 0 &&
           (count == sizeof magic || first[3] < 0x20);
}

static bool follows(unsigned char byte)
{
    return byte == 0x1f;
}

static enum hw_codec_result start(void **state, hw_count memory)
{
    z_stream *z = calloc(1, sizeof *z);

    (void)memory;
    *state = NULL;
    if (!z)
        return HW_CODEC_NO_MEMORY;
    if (inflateInit2(z, 15 + 16) != Z_OK) { /* the largest window; gzip alone */
        free(z);
        return HW_CODEC_NO_MEMORY;
    }
    *state = z;
    return HW_CODEC_MORE;
}

static enum hw_codec_result decode(void *state, struct hw_codec_step *step)
{
    z_stream *z = state;
    const uInt in = step->in_size < 1u << 30 ? (uInt)step->in_size : 1u << 30;
    const uInt out = step->out_size < 1u << 30 ? (uInt)step->out_size : 1u << 30;

    z->next_in = (unsigned char *)(uintptr_t)step->in;
    z->avail_in = in;
    z->next_out = step->out;
    z->avail_out = out;
    const int code = inflate(z, Z_NO_FLUSH);
    step->in += in - z->avail_in;
    step->in_size -= in - z->avail_in;
    step->out += out - z->avail_out;
    step->out_size -= out - z->avail_out;
    switch (code) {
    case Z_OK:
    case Z_BUF_ERROR:
        return HW_CODEC_MORE;
    case Z_STREAM_END:
        return HW_CODEC_ENDED;
    case Z_MEM_ERROR:
        return HW_CODEC_NO_MEMORY;
    default:
        step->why = z->msg;
        return HW_CODEC_DAMAGED;
    }
}

static enum hw_codec_result restart(void *state)
{
    return inflateReset(state) == Z_OK ? HW_CODEC_MORE : HW_CODEC_DAMAGED;
}

static void stop(void *state)
{
    inflateEnd(state);
    free(state);
}

const struct hw_codec hw_codec_gzip = {"gzip", recognize, follows, start, decode, restart, stop};
