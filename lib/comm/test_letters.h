/*
 * What tests of exchanges between all ranks send each other, and whether it came: letters that
 * tell who sent them, to whom, when, and where they stood.
 */
#ifndef HOPWAVE_COMM_TEST_LETTERS_H
#define HOPWAVE_COMM_TEST_LETTERS_H

#include "comm/nodewise.h"

#include <stdlib.h>
#include <string.h>

/* One exchange between all ranks. */
struct trial {
    const struct hw_context *ctx;
    const struct hw_nodes *nodes;
    int number;
    bool same;     /* all get the same letters of a rank */
    hw_count most; /* letters of one rank for another */
    hw_count (*bytes_of)(const struct trial *trial, int r, int q); /* of rank r for rank q */
    char *memory;    /* what goes out, one rank's `most` after another's, then what comes */
    hw_count *count; /* [4][ranks]: offsets and bytes that go, offsets and bytes that come */
};

/* Room for so many letters. Returns whether there is memory. */
static inline bool trial_open(struct trial *trial)
{
    const size_t ranks = (size_t)trial->ctx->size;

    trial->memory = malloc(2 * ranks * (size_t)trial->most);
    trial->count = malloc(4 * ranks * sizeof *trial->count);
    return trial->memory && trial->count;
}

static inline void trial_close(struct trial *trial)
{
    free(trial->memory);
    free(trial->count);
}

static inline char trial_letter(const struct trial *trial, int r, int q, hw_count at)
{
    return (char)(r * 31 + (trial->same ? 0 : q * 17) + trial->number + at + at / 251);
}

static inline void trial_fill(struct trial *trial)
{
    const int ranks = trial->ctx->size, me = trial->ctx->rank;

    memset(trial->memory, 0, 2 * (size_t)ranks * (size_t)trial->most);
    for (int q = 0; q < ranks; q++) {
        const hw_count offset = trial->same ? 0 : q * trial->most;
        trial->count[q] = offset;
        trial->count[ranks + q] = trial->bytes_of(trial, me, q);
        trial->count[2 * ranks + q] = (ranks + q) * trial->most;
        trial->count[3 * ranks + q] = trial->bytes_of(trial, q, me);
        for (hw_count i = 0; i < trial->count[ranks + q]; i++)
            trial->memory[offset + i] = trial_letter(trial, me, q, i);
    }
}

/* The exchange, as this rank has it. */
static inline struct hw_nodewise_load trial_load(const struct trial *trial, enum hw_status status)
{
    const int ranks = trial->ctx->size;

    return (struct hw_nodewise_load){.base = trial->memory,
                                     .send_offset = trial->count,
                                     .send_bytes = trial->count + ranks,
                                     .receive_offset = trial->count + 2 * ranks,
                                     .receive_bytes = trial->count + 3 * ranks,
                                     .same = trial->same,
                                     .status = status};
}

/* Whether what came is what was sent, and no more. */
static inline bool trial_right(const struct trial *trial)
{
    const int ranks = trial->ctx->size, me = trial->ctx->rank;

    for (int r = 0; r < ranks; r++) {
        const char *came = trial->memory + (ranks + r) * trial->most;
        const hw_count bytes = trial->bytes_of(trial, r, me);
        for (hw_count i = 0; i < trial->most; i++)
            if (came[i] != (i < bytes ? trial_letter(trial, r, me, i) : 0))
                return false;
    }
    return true;
}

#endif
