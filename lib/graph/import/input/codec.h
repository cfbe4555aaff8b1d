/*
 * Decoders of compressed files, one for each way to compress. For decompress.c alone.
 */
#ifndef HOPWAVE_GRAPH_IMPORT_INPUT_CODEC_H
#define HOPWAVE_GRAPH_IMPORT_INPUT_CODEC_H

#include "lib/base/types.h"

/* What a step of decoding ended with. */
enum hw_codec_result {
    HW_CODEC_MORE,       /* all input is used, or all room for output */
    HW_CODEC_ENDED,      /* a stream ends here; another one may follow */
    HW_CODEC_DAMAGED,    /* with why */
    HW_CODEC_NO_MEMORY,  /* none is to be had */
    HW_CODEC_TOO_LARGE,  /* more memory than it may take; needed, if that is known */
    HW_CODEC_UNSUPPORTED /* compressed in a way that this library cannot unpack */
};

/* A step: both are moved on by what was used. */
struct hw_codec_step {
    const unsigned char *in;
    size_t in_size;
    unsigned char *out;
    size_t out_size;
    bool last;       /* the file has nothing after the input */
    hw_count needed; /* out: bytes of memory, 0 if not known */
    const char *why; /* out: of damage */
};

struct hw_codec {
    const char *name; /* what compressed the file */
    /* Whether a file begins so. count: bytes that are there, at most 8. */
    bool (*recognize)(const unsigned char *first, size_t count);
    /* NULL, as all below, where this build was made without the library. Whether a byte may begin
     * a stream that follows another one. */
    bool (*follows)(unsigned char byte);
    /* Makes a decoder that may take so many bytes of memory. stop() frees it. */
    enum hw_codec_result (*start)(void **state, hw_count memory);
    enum hw_codec_result (*decode)(void *state, struct hw_codec_step *step);
    /* Makes ready for the next stream. */
    enum hw_codec_result (*restart)(void *state);
    void (*stop)(void *state);
};

extern const struct hw_codec hw_codec_gzip;
extern const struct hw_codec hw_codec_xz;
extern const struct hw_codec hw_codec_bzip2;
extern const struct hw_codec hw_codec_zstd;

#endif
