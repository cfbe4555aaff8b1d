/*
 * Owner query: requests about vertices, sent to the ranks that own them, and their replies: a
 * gather from owners where the halo is not known before. In rounds of bounded memory
 * (exchange/bounded_rounds.h). Without replies: a scatter to owners.
 */
#ifndef HOPWAVE_COMM_EXCHANGE_OWNER_QUERY_H
#define HOPWAVE_COMM_EXCHANGE_OWNER_QUERY_H

#include "lib/comm/context.h"
#include "lib/comm/exchange/owner_ranges.h"

/* A kind of query. Borrowed while it is used. */
struct hw_owner_query {
    const struct hw_context *ctx;
    const struct hw_block_distribution *owners;
    size_t
        request_size;  /* bytes, a multiple of 8; a request begins with the hw_gid of its vertex */
    size_t reply_size; /* bytes; 0 if there are no replies */
    hw_count chunk;    /* requests of a round; a rank receives up to twice as many */
    /* Writes the replies to `count` requests about vertices that this rank owns. Local. */
    void (*respond)(void *self, const void *request, hw_count count, void *reply);
    void *self;
};

/*
 * Sends this rank's requests and waits for the replies. When it returns on a rank, that rank has
 * given all its replies, so that it may change what they depend on.
 *
 * status: the outcome of this rank's work before; ranks agree on it. request: [count];
 * reply: [count], in the order of the requests; may be NULL where there are no replies.
 * Collective over ctx->world; ranks agree.
 */
enum hw_status hw_owner_query(const struct hw_owner_query *query, enum hw_status status,
                              hw_count count, const void *request, void *reply,
                              struct hw_error *err);

/* Bytes that hw_owner_query() allocates while it runs. Local. */
hw_count hw_owner_query_bytes(size_t request_size, size_t reply_size, hw_count chunk);

#endif
