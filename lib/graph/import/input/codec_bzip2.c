/* bzip2: streams one after another, as parallel compressors write them, each with its CRC. */
#include "lib/graph/import/input/codec.h"

#include "config.h"

#include <stdlib.h>
#include <string.h>

static bool recognize(const unsigned char *first, size_t count)
{
    return count >= 4 && memcmp(first, "BZh", 3) == 0 && first[3] >= '1' && first[3] <= '9';
}

#ifdef HAVE_BZIP2
#include <bzlib.h>

static bool follows(unsigned char byte)
{
    return byte == 'B';
}

static enum hw_codec_result restart(void *state)
{
    bz_stream *z = state;

    BZ2_bzDecompressEnd(z);
    *z = (bz_stream){0};
    return BZ2_bzDecompressInit(z, 0, 0) == BZ_OK ? HW_CODEC_MORE : HW_CODEC_NO_MEMORY;
}

static enum hw_codec_result start(void **state, hw_count memory)
{
    bz_stream *z = calloc(1, sizeof *z);

    (void)memory; /* 3.7 MB at most */
    *state = NULL;
    if (!z)
        return HW_CODEC_NO_MEMORY;
    if (BZ2_bzDecompressInit(z, 0, 0) != BZ_OK) {
        free(z);
        return HW_CODEC_NO_MEMORY;
    }
    *state = z;
    return HW_CODEC_MORE;
}

static enum hw_codec_result decode(void *state, struct hw_codec_step *step)
{
    bz_stream *z = state;
    const unsigned in = step->in_size < 1u << 30 ? (unsigned)step->in_size : 1u << 30;
    const unsigned out = step->out_size < 1u << 30 ? (unsigned)step->out_size : 1u << 30;

    z->next_in = (char *)(uintptr_t)step->in;
    z->avail_in = in;
    z->next_out = (char *)step->out;
    z->avail_out = out;
    const int code = BZ2_bzDecompress(z);
    step->in += in - z->avail_in;
    step->in_size -= in - z->avail_in;
    step->out += out - z->avail_out;
    step->out_size -= out - z->avail_out;
    switch (code) {
    case BZ_OK:
        return HW_CODEC_MORE;
    case BZ_STREAM_END:
        return HW_CODEC_ENDED;
    case BZ_MEM_ERROR:
        return HW_CODEC_NO_MEMORY;
    case BZ_DATA_ERROR_MAGIC:
        step->why = "something else follows its end";
        return HW_CODEC_DAMAGED;
    default:
        step->why = "its checks fail";
        return HW_CODEC_DAMAGED;
    }
}

static void stop(void *state)
{
    BZ2_bzDecompressEnd(state);
    free(state);
}

const struct hw_codec hw_codec_bzip2 = {"bzip2", recognize, follows, start, decode, restart, stop};
#else
const struct hw_codec hw_codec_bzip2 = {.name = "bzip2", .recognize = recognize};
#endif
