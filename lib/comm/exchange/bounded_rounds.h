/*
 * Exchange of items with the owners of the vertices that they name, in rounds of bounded memory.
 *
 * Real graphs have hubs: all items of all ranks may go to one owner. So a round takes
 * as many items as the fullest receiver allows, and memory does not grow with the
 * number of ranks. The caller sends the items of a round itself (owner_query.h, or the rules of
 * lib/verify, whose records it makes while it sorts them), and may reply.
 *
 * Why not batched_alltoallv.h, which bounds memory as well: its rounds are slices of at most `cap`
 * records from each rank to each other, without replies. Here a round's items and replies have one
 * order, and what a rank keeps for itself takes no part.
 */
#ifndef HOPWAVE_COMM_EXCHANGE_BOUNDED_ROUNDS_H
#define HOPWAVE_COMM_EXCHANGE_BOUNDED_ROUNDS_H

#include "lib/comm/context.h"
#include "lib/comm/exchange/owner_ranges.h"

/* What one round takes of this rank's items. Zero-initialize,
 * with `step`; free with hw_bounded_round_end(). */
struct hw_bounded_round {
    hw_count step;               /* items of a round at most; halved where receivers lack memory */
    hw_count at, length;         /* this rank's items of this round */
    bool more;                   /* some rank has items left after it */
    int *owner;                  /* [length] the rank that each is sent to */
    hw_count *next;              /* [threads][ranks] the index of a thread's next item for a rank */
    hw_count *send, *receive;    /* [ranks] items */
    hw_count sending, receiving; /* sums */
};

/* The items: each names a vertex. */
struct hw_bounded_items {
    hw_count count;
    const hw_gid *id; /* the first item's; may be NULL if there are none */
    hw_count stride;  /* ids from one item to the next */
    bool keep;        /* this rank's own items are not sent */
    hw_count limit;   /* items that a rank can receive in a round */
};

/*
 * Bins the next round's items by the rank that owns their vertex. Thread t of
 * ctx->threads has items hw_thread_range(length, t, threads) in `next`.
 * `status` is the status of this rank so far: ranks agree on it. Collective over
 * ctx->world; step and limit are the same on all ranks.
 */
enum hw_status hw_bounded_round_next(const struct hw_context *ctx,
                                     const struct hw_block_distribution *owners,
                                     enum hw_status status, const struct hw_bounded_items *items,
                                     struct hw_bounded_round *round, struct hw_error *err);

/* Frees the memory. Local. */
void hw_bounded_round_end(struct hw_bounded_round *round);

/* Where thread `thread` of `threads` begins and ends in `count` items. Local. */
static inline void hw_thread_range(hw_count count, int thread, int threads, hw_count *begin,
                                   hw_count *end)
{
    *begin = count / threads * thread + count % threads * thread / threads;
    *end = count / threads * (thread + 1) + count % threads * (thread + 1) / threads;
}

#endif
