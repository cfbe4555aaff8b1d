/*
 * Questions about vertices, put to the ranks that hold them.
 */
#ifndef HOPWAVE_VERIFY_VERTEX_QUERY_H
#define HOPWAVE_VERIFY_VERTEX_QUERY_H

#include "lib/comm/context.h"
#include "lib/store/block_distribution.h"

/* Who is asked, and what. Borrowed while it is used. */
struct hw_ask {
    const struct hw_context *ctx;
    const struct hw_block_distribution *slices;
    size_t question; /* bytes, a multiple of 8; begins with the hw_gid it is about */
    size_t answer;   /* bytes; 0 if nothing is to come back */
    hw_count chunk;  /* questions of a round; a rank receives up to twice as many */
    /* Answers `count` questions about vertices that this rank holds. Local. */
    void (*reply)(void *self, const void *question, hw_count count, void *answer);
    void *self;
};

/*
 * Asks this rank's questions and waits for the answers, in rounds that bound the
 * memory (bounded_exchange.h); when it returns on a rank, that rank has given all its
 * answers, so that it may change what they depend on.
 *
 * status: how this rank fared until here; ranks agree on it. question: [count];
 * answer: [count], in the order of the questions; may be NULL where answers are
 * empty. Collective.
 */
enum hw_status hw_ask(const struct hw_ask *ask, enum hw_status status, hw_count count,
                      const void *question, void *answer, struct hw_error *err);

/* Bytes that hw_ask() takes while it runs. Local. */
hw_count hw_ask_bytes(size_t question, size_t answer, hw_count chunk);

#endif
