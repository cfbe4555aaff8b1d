/* xz: streams one after another, with padding, all of which liblzma goes through itself. */
#include "lib/graph/import/input/codec.h"

#include <lzma.h>
#include <stdlib.h>
#include <string.h>

static bool recognize(const unsigned char *first, size_t count)
{
    static const unsigned char magic[] = {0xfd, '7', 'z', 'X', 'Z', 0};

    return count >= sizeof magic && memcmp(first, magic, sizeof magic) == 0;
}

/* After the last stream nothing may follow. */
static bool follows(unsigned char byte)
{
    (void)byte;
    return false;
}

static enum hw_codec_result start(void **state, hw_count memory)
{
    lzma_stream *z = malloc(sizeof *z);

    *state = NULL;
    if (!z)
        return HW_CODEC_NO_MEMORY;
    *z = (lzma_stream)LZMA_STREAM_INIT;
    if (lzma_stream_decoder(z, (uint64_t)memory, LZMA_CONCATENATED | LZMA_TELL_UNSUPPORTED_CHECK) !=
        LZMA_OK) {
        free(z);
        return HW_CODEC_NO_MEMORY;
    }
    *state = z;
    return HW_CODEC_MORE;
}

static enum hw_codec_result decode(void *state, struct hw_codec_step *step)
{
    lzma_stream *z = state;

    z->next_in = step->in;
    z->avail_in = step->in_size;
    z->next_out = step->out;
    z->avail_out = step->out_size;
    const lzma_ret code = lzma_code(z, step->last ? LZMA_FINISH : LZMA_RUN);
    step->in = z->next_in;
    step->in_size = z->avail_in;
    step->out = z->next_out;
    step->out_size = z->avail_out;
    switch (code) {
    case LZMA_OK:
    case LZMA_BUF_ERROR:
        return HW_CODEC_MORE;
    case LZMA_STREAM_END:
        return HW_CODEC_ENDED;
    case LZMA_MEM_ERROR:
        return HW_CODEC_NO_MEMORY;
    case LZMA_MEMLIMIT_ERROR:
        step->needed = (hw_count)lzma_memusage(z);
        return HW_CODEC_TOO_LARGE;
    case LZMA_OPTIONS_ERROR:
    case LZMA_UNSUPPORTED_CHECK:
        return HW_CODEC_UNSUPPORTED;
    case LZMA_FORMAT_ERROR:
        step->why = "something else follows its end";
        return HW_CODEC_DAMAGED;
    default:
        step->why = "its checks fail, or something else follows it";
        return HW_CODEC_DAMAGED;
    }
}

static enum hw_codec_result restart(void *state)
{
    (void)state;
    return HW_CODEC_DAMAGED;
}

static void stop(void *state)
{
    lzma_end(state);
    free(state);
}

const struct hw_codec hw_codec_xz = {"xz", recognize, follows, start, decode, restart, stop};
