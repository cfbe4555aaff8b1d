/*
 * Batched all-to-all exchange of records, with bounded buffers.
 *
 * Every rank produces its records one batch at a time. A batch is sent in rounds, each an
 * MPI all-to-all-v with at most `cap` records from any rank to any other. So the buffers of a
 * rank are bounded however uneven the traffic is (hubs). All ranks run the same number of
 * rounds.
 */
#ifndef HOPWAVE_COMM_EXCHANGE_BATCHED_ALLTOALLV_H
#define HOPWAVE_COMM_EXCHANGE_BATCHED_ALLTOALLV_H

#include "lib/base/status.h"
#include "lib/base/types.h"
#include "lib/comm/context.h"

/* The destination of a record that is not sent. */
#define HW_NO_DESTINATION ((int32_t)-1)

/*
 * Produces the next batch: at most `piece` records, record[i] for rank to[i] (or
 * HW_NO_DESTINATION). Sets *count to the records written and *more to whether another batch
 * follows; it is not called again once *more is false. Local.
 */
typedef enum hw_status hw_batched_alltoallv_add(void *self, uint32_t *record, int32_t *to,
                                                hw_count *count, bool *more, struct hw_error *err);

/* Receives the records of one round, in the order of the sending ranks. Called the same
 * number of times on all ranks, so it may be collective. */
typedef enum hw_status hw_batched_alltoallv_receive(void *self, const uint32_t *record,
                                                    hw_count count, struct hw_error *err);

/* The buffers of an exchange. */
struct hw_batched_alltoallv {
    const struct hw_context *ctx;
    int words;      /* 32-bit words of a record */
    hw_count piece; /* records of a batch at most */
    hw_count cap;   /* records from one rank to another in one round */
    uint32_t *record, *sorted, *received;
    int32_t *to;
    hw_count *counts; /* [3 x ranks] */
};

/* Bytes that hw_batched_alltoallv_open() allocates. Local. */
hw_count hw_batched_alltoallv_bytes(int ranks, int words, hw_count piece);

/* Allocates the buffers; also after a failure hw_batched_alltoallv_close() may be called.
 * Borrows ctx. Local. */
enum hw_status hw_batched_alltoallv_open(struct hw_batched_alltoallv *exchange,
                                         const struct hw_context *ctx, int words, hw_count piece,
                                         struct hw_error *err);
void hw_batched_alltoallv_close(struct hw_batched_alltoallv *exchange);

/* Sends all batches that `add` produces on all ranks, and hands what arrives to `receive`.
 * self: passed to both. Ranks agree on failures. Collective over ctx->world. */
enum hw_status hw_batched_alltoallv(struct hw_batched_alltoallv *exchange,
                                    hw_batched_alltoallv_add *add,
                                    hw_batched_alltoallv_receive *receive, void *self,
                                    struct hw_error *err);

#endif
