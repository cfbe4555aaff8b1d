/*
 * Exchange of items with the owners of the vertices they name, in rounds of bounded memory.
 *
 * Real graphs have hubs: all items of all ranks may go to one owner. So a round takes
 * as many items as the fullest receiver allows, and memory does not grow with the
 * number of ranks.
 */
#ifndef HOPWAVE_VERIFY_BOUNDED_EXCHANGE_H
#define HOPWAVE_VERIFY_BOUNDED_EXCHANGE_H

#include "lib/comm/context.h"
#include "lib/store/block_distribution.h"

/* The items of each rank, and what one round takes of them. Zero-initialise,
 * with `step`; free with hw_bounded_exchange_end(). */
struct hw_bounded_exchange {
    hw_count step;               /* items of a round at most; halved where receivers lack memory */
    hw_count at, length;         /* this rank's items of this round */
    bool more;                   /* some rank has items left after it */
    int *owner;                  /* [length] where each goes */
    hw_count *place;             /* [threads][ranks] where a thread puts its next item for a rank */
    hw_count *send, *receive;    /* [ranks] items */
    hw_count sending, receiving; /* sums */
};

/* The items: each names a vertex. */
struct hw_items {
    hw_count count;
    const hw_gid *id; /* the first item's; may be NULL if there are none */
    hw_count stride;  /* ids from one item to the next */
    bool keep;        /* this rank's own items are not sent */
    hw_count limit;   /* items that a rank can receive in a round */
};

/*
 * Bins the next round's items by the rank that holds their vertex. Thread t of
 * ctx->threads owns items hw_thread_share(length, t, threads) in `place`.
 * `status` is the status of this rank so far: ranks agree on it. Collective over
 * ctx->world; step and limit are the same on all ranks.
 */
enum hw_status hw_bounded_exchange_next(const struct hw_context *ctx,
                                        const struct hw_block_distribution *slices,
                                        enum hw_status status, const struct hw_items *items,
                                        struct hw_bounded_exchange *round, struct hw_error *err);

/* Local. */
void hw_bounded_exchange_end(struct hw_bounded_exchange *round);

/* Where thread `thread` of `threads` begins and ends in `count` items. Local. */
static inline void hw_thread_share(hw_count count, int thread, int threads, hw_count *begin,
                                   hw_count *end)
{
    *begin = count / threads * thread + count % threads * thread / threads;
    *end = count / threads * (thread + 1) + count % threads * (thread + 1) / threads;
}

#endif
