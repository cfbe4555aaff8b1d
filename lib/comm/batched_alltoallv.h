/*
 * Shipping records to ranks in rounds of bounded size.
 *
 * Every rank makes records a piece at a time; each round sends at most a fixed
 * number from any rank to any other, so that what a rank holds of the traffic is
 * bounded whatever the graph looks like. All ranks go through the same number of
 * rounds.
 */
#ifndef HOPWAVE_COMM_BATCHED_ALLTOALLV_H
#define HOPWAVE_COMM_BATCHED_ALLTOALLV_H

#include "lib/base/status.h"
#include "lib/base/types.h"
#include "lib/comm/context.h"

/* The rank of a record that goes nowhere. */
#define HW_NO_DESTINATION ((int32_t)-1)

/*
 * Makes the next records: at most `piece` of them, record[i] for rank to[i], and
 * says how many places it used and whether more are to come. Called until it
 * has no more, and then not again. Local.
 */
typedef enum hw_status hw_batched_alltoallv_add(void *self, uint32_t *record, int32_t *to,
                                                hw_count *count, bool *more, struct hw_error *err);

/* Takes what came, in the order of the ranks that sent it. Called the same
 * number of times on all ranks, so it may be collective. */
typedef enum hw_status hw_batched_alltoallv_receive(void *self, const uint32_t *record,
                                                    hw_count count, struct hw_error *err);

/* The buffers of shipping. */
struct hw_batched_alltoallv {
    const struct hw_context *ctx;
    int words;      /* 32-bit words of a record */
    hw_count piece; /* records that one fill makes at most */
    hw_count cap;   /* records from one rank to another in one round */
    uint32_t *record, *sorted, *received;
    int32_t *to;
    hw_count *counts; /* [3 x ranks] */
};

/* Bytes that hw_batched_alltoallv_open() will take. Local. */
hw_count hw_batched_alltoallv_bytes(int ranks, int words, hw_count piece);

/* Allocates; ship may be given to hw_batched_alltoallv_close() in any case. Local. */
enum hw_status hw_batched_alltoallv_open(struct hw_batched_alltoallv *ship,
                                         const struct hw_context *ctx, int words, hw_count piece,
                                         struct hw_error *err);
void hw_batched_alltoallv_close(struct hw_batched_alltoallv *ship);

/* Ships everything that fill makes on all ranks. Ranks agree on failures.
 * Collective. */
enum hw_status hw_batched_alltoallv(struct hw_batched_alltoallv *ship,
                                    hw_batched_alltoallv_add *fill,
                                    hw_batched_alltoallv_receive *receive, void *self,
                                    struct hw_error *err);

#endif
