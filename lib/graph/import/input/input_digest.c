/* The digest of an input file, made by all ranks. */
#include "lib/base/memory.h"
#include "lib/comm/exchange/large_alltoallv.h"
#include "lib/graph/import/input/input.h"
#include "lib/store/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <xxhash.h>

/* Bytes hashed at a time. */
#define BLOCK ((hw_count)1 << 20)

/* Hashes blocks [first, first + count) of the file. Local. */
static enum hw_status hash_blocks(struct hw_input *input, hw_count first, hw_count count,
                                  XXH128_canonical_t *digest, struct hw_error *err)
{
    enum hw_status status = HW_OK;

#pragma omp parallel
    {
        struct hw_error own_err;
        char *bytes = NULL;
        hw_count got = 0;
        enum hw_status own = hw_alloc(&bytes, BLOCK, 1, "a block of a file", &own_err);
#pragma omp for schedule(dynamic)
        for (hw_count b = 0; b < count; b++) {
            if (own == HW_OK)
                own = hw_input_read(input, (first + b) * BLOCK, bytes, BLOCK, &got, &own_err);
            if (own == HW_OK)
                XXH128_canonicalFromHash(&digest[b], XXH3_128bits(bytes, (size_t)got));
        }
        free(bytes);
#pragma omp critical(hw_import_hash)
        if (own != HW_OK) {
            status = own;
            if (err)
                *err = own_err;
        }
    }
    return status;
}

/* "xxh3-128:" and the digits. */
static void write_digest(const XXH128_canonical_t *digest, char *out)
{
    int at = snprintf(out, HW_DIGEST_SIZE, "xxh3-128:");

    for (size_t i = 0; i < sizeof digest->digest; i++)
        at += snprintf(out + at, HW_DIGEST_SIZE - (size_t)at, "%02x", digest->digest[i]);
}

enum hw_status hw_input_digest(const struct hw_context *ctx, const struct hw_input *input,
                               char *out, struct hw_error *err)
{
    const hw_count blocks = (input->file_size + BLOCK - 1) / BLOCK;
    const hw_count first = blocks * ctx->rank / ctx->size;
    const hw_count count = blocks * (ctx->rank + 1) / ctx->size - first;
    /* The file as it lies on the disk, compressed or not. */
    struct hw_input plain = {.path = input->path, .fd = input->fd};
    XXH128_canonical_t *digest = NULL, *all = NULL, result;
    hw_count *send = NULL, *receive = NULL;

    enum hw_status status = hw_alloc(&digest, count, sizeof *digest, "digests", err);
    if (status == HW_OK)
        status = hw_alloc_zero(&send, ctx->size, sizeof *send, "counts", err);
    if (status == HW_OK)
        status = hw_alloc_zero(&receive, ctx->size, sizeof *receive, "counts", err);
    if (status == HW_OK)
        status = hash_blocks(&plain, first, count, digest, err);
    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK) {
        send[0] = count;
        status = hw_alltoallv(ctx->world, sizeof *digest, digest, send, &all, receive, err);
    }
    if (status == HW_OK && ctx->rank == 0) {
        XXH128_canonicalFromHash(&result, XXH3_128bits(all, (size_t)blocks * sizeof *all));
        write_digest(&result, out);
    }
    if (status == HW_OK)
        status = hw_mpi(MPI_Bcast(out, HW_DIGEST_SIZE, MPI_CHAR, 0, ctx->world), "MPI_Bcast", err);
    free(digest);
    free(all);
    free(send);
    free(receive);
    return status;
}
