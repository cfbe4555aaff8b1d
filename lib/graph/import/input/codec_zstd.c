/* Zstandard: frames one after another (RFC 8878), skippable ones among them. */
#include "lib/graph/import/input/codec.h"

#include "config.h"

#include <stdlib.h>
#include <string.h>

static bool recognize(const unsigned char *first, size_t count)
{
    static const unsigned char magic[] = {0x28, 0xb5, 0x2f, 0xfd}, skipped[] = {0x2a, 0x4d, 0x18};

    /* The first frame may be one that is to be skipped, as pzstd writes it. */
    return count >= sizeof magic &&
           (memcmp(first, magic, sizeof magic) == 0 ||
            (first[0] >> 4 == 5 && memcmp(first + 1, skipped, sizeof skipped) == 0));
}

#ifdef HAVE_ZSTD
#include <zstd.h>
#include <zstd_errors.h>

/* A frame, or one that is to be skipped. */
static bool follows(unsigned char byte)
{
    return byte == 0x28 || (byte >= 0x50 && byte <= 0x5f);
}

enum { WINDOW_LOG_MIN = 10, WINDOW_LOG_MAX = 31 };

static enum hw_codec_result start(void **state, hw_count memory)
{
    ZSTD_DStream *z = ZSTD_createDStream();
    int log = WINDOW_LOG_MIN;

    *state = z;
    if (!z)
        return HW_CODEC_NO_MEMORY;
    /* A decoder holds its window and a little more. */
    while (log < WINDOW_LOG_MAX && ((hw_count)2 << (log + 1)) <= memory)
        log++;
    const ZSTD_bounds bounds = ZSTD_dParam_getBounds(ZSTD_d_windowLogMax);
    log = log < bounds.upperBound ? log : bounds.upperBound;
    if (ZSTD_isError(ZSTD_DCtx_setParameter(z, ZSTD_d_windowLogMax, log))) {
        ZSTD_freeDStream(z);
        *state = NULL;
        return HW_CODEC_NO_MEMORY;
    }
    return HW_CODEC_MORE;
}

static enum hw_codec_result decode(void *state, struct hw_codec_step *step)
{
    ZSTD_inBuffer in = {.src = step->in, .size = step->in_size};
    ZSTD_outBuffer out = {.dst = step->out, .size = step->out_size};
    const size_t code = ZSTD_decompressStream(state, &out, &in);

    step->in += in.pos;
    step->in_size -= in.pos;
    step->out += out.pos;
    step->out_size -= out.pos;
    if (!ZSTD_isError(code))
        return code == 0 ? HW_CODEC_ENDED : HW_CODEC_MORE;
    step->why = ZSTD_getErrorName(code);
    switch (ZSTD_getErrorCode(code)) {
    case ZSTD_error_memory_allocation:
        return HW_CODEC_NO_MEMORY;
    case ZSTD_error_frameParameter_windowTooLarge:
        return HW_CODEC_TOO_LARGE;
    case ZSTD_error_version_unsupported:
    case ZSTD_error_frameParameter_unsupported:
    case ZSTD_error_dictionary_wrong:
        return HW_CODEC_UNSUPPORTED;
    case ZSTD_error_prefix_unknown:
        step->why = "something else follows its end";
        return HW_CODEC_DAMAGED;
    default:
        return HW_CODEC_DAMAGED;
    }
}

static enum hw_codec_result restart(void *state)
{
    return ZSTD_isError(ZSTD_DCtx_reset(state, ZSTD_reset_session_only)) ? HW_CODEC_DAMAGED
                                                                         : HW_CODEC_MORE;
}

static void stop(void *state)
{
    ZSTD_freeDStream(state);
}

const struct hw_codec hw_codec_zstd = {"Zstandard", recognize, follows, start,
                                       decode,      restart,   stop};
#else
const struct hw_codec hw_codec_zstd = {.name = "Zstandard", .recognize = recognize};
#endif
