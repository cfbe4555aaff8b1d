/*
 * All-to-all-v exchanges whose counts may exceed 2^31, and reductions of counts.
 */
#ifndef HOPWAVE_COMM_EXCHANGE_LARGE_ALLTOALLV_H
#define HOPWAVE_COMM_EXCHANGE_LARGE_ALLTOALLV_H

#include "lib/comm/context.h"

/*
 * All-to-all-v of elements of `size` bytes: send_count[r] elements go to rank r,
 * taken from send one rank after another. Counts are exchanged first; *received
 * (allocated here, free() it; NULL when nothing was received) holds the elements
 * in rank order, receive_count[r] of them from rank r.
 * Ranks agree on failures. Collective over comm.
 *
 * send_count, receive_count: [ranks of comm].
 */
enum hw_status hw_alltoallv(MPI_Comm comm, size_t size, const void *send,
                            const hw_count *send_count, void *received, hw_count *receive_count,
                            struct hw_error *err);

/*
 * The same into the caller's memory, with counts known on both sides. Ranks agree on
 * failures. Collective over comm.
 */
enum hw_status hw_alltoallv_into(MPI_Comm comm, size_t size, const void *send,
                                 const hw_count *send_count, void *receive,
                                 const hw_count *receive_count, struct hw_error *err);

/* Exclusive prefix sum over the ranks; the first rank gets 0. Collective. */
enum hw_status hw_prefix_sum(MPI_Comm comm, hw_count mine, hw_count *before, struct hw_error *err);

/* Sum and maximum over the ranks. Collective. */
enum hw_status hw_sum(MPI_Comm comm, hw_count *value, struct hw_error *err);
enum hw_status hw_largest(MPI_Comm comm, hw_count *value, struct hw_error *err);

#endif
