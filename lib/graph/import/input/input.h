/*
 * The bytes of an input file: as it lies on the disk, unpacked, or of one file in an archive.
 */
#ifndef HOPWAVE_GRAPH_IMPORT_INPUT_INPUT_H
#define HOPWAVE_GRAPH_IMPORT_INPUT_INPUT_H

#include "lib/base/status.h"
#include "lib/base/types.h"
#include "lib/comm/context.h"

#include <stdbool.h>

/*
 * A file as a sequence of bytes. One that is compressed or lies in an archive (stream) is read
 * from the start to the end, by one thread at a time: an offset before the last one starts
 * anew. Other files are read anywhere, by any thread.
 */
struct hw_input {
    const char *path;   /* borrowed; error messages start with it */
    int fd;             /* of the file as it lies on the disk */
    hw_count file_size; /* bytes on the disk */
    hw_count size;      /* bytes that can be read; -1: not known before the end */
    bool stream;        /* read in order only */
    hw_count consumed;  /* bytes of the file gone through, for progress; streams only */
    void *state;        /* of a stream */
    /* Of a stream: reads as hw_input_read(); frees the state. NULL where another rank reads. */
    enum hw_status (*read)(struct hw_input *input, hw_count offset, void *bytes, hw_count count,
                           hw_count *got, struct hw_error *err);
    void (*close)(struct hw_input *input);
};

/* Opens a file that is neither a folder nor empty. Local.
 * Returns HW_BAD_INPUT with an error message that starts with the path. */
enum hw_status hw_input_open(const char *path, struct hw_input *input, struct hw_error *err);

/*
 * Makes a stream of an open file that gzip, xz, bzip2 or Zstandard compressed, according to its
 * first bytes; leaves others alone. Local. Returns HW_BAD_INPUT where this build lacks the library
 * for it. What unpacks to more than HW_UNPACK_RATIO times its size is refused while it is read.
 */
enum hw_status hw_input_unpack(struct hw_input *input, struct hw_error *err);

/* What may be unpacked: so many bytes for each of the file, and so many more. Deflate reaches 1032;
 * texts of graphs stay below 100. */
#define HW_UNPACK_RATIO ((hw_count)2000)
#define HW_UNPACK_MORE ((hw_count)64 << 20)

/* Bytes that a compressed file may be unpacked to. Local. */
static inline hw_count hw_unpack_max(hw_count file_size)
{
    const hw_count most = (INT64_MAX - HW_UNPACK_MORE) / HW_UNPACK_RATIO;

    return (file_size < most ? file_size : most) * HW_UNPACK_RATIO + HW_UNPACK_MORE;
}

/* Bytes that the decoder of a compressed file may take: what Zstandard's highest level does for a
 * text of any size (a window of 128 MiB and as much again), more only where more is unpacked. A few
 * bytes could ask for gigabytes. Local. */
static inline hw_count hw_unpack_memory_max(hw_count file_size)
{
    const hw_count most = hw_unpack_max(file_size), any = (hw_count)256 << 20;

    return most > any ? most : any;
}

/*
 * Reads up to count bytes from offset on; fewer only at the end of the file. Local.
 * Error messages start with the path.
 */
enum hw_status hw_input_read(struct hw_input *input, hw_count offset, void *bytes, hw_count count,
                             hw_count *got, struct hw_error *err);

/* Reads exactly count bytes; HW_BAD_INPUT where the file ends before. Local. */
enum hw_status hw_input_read_all(struct hw_input *input, hw_count offset, void *bytes,
                                 hw_count count, struct hw_error *err);

/* Closes it; accepts one that was never opened if it is zeroed. Local. */
void hw_input_close(struct hw_input *input);

/* The digest of the bytes of a file: XXH3-128 of the XXH3-128 digests of its blocks
 * of 2^20 bytes. out: [HW_DIGEST_SIZE], on all ranks. Collective. */
enum hw_status hw_input_digest(const struct hw_context *ctx, const struct hw_input *input,
                               char *out, struct hw_error *err);

#endif
