#include "lib/comm/exchange/owner_query.h"

#include "lib/base/memory.h"
#include "lib/comm/exchange/bounded_rounds.h"
#include "lib/comm/exchange/large_alltoallv.h"

#include <stdlib.h>
#include <string.h>

/* What a round sends and receives. */
struct buffers {
    char *request, *received_request; /* [sending], [receiving] */
    char *reply, *received_reply;     /* [receiving], [sending] */
    hw_count *index;                  /* [sending] the request's index in the round */
};

hw_count hw_owner_query_bytes(size_t request_size, size_t reply_size, hw_count chunk)
{
    /* Requests to send with their index and owner, and their replies; twice as many received, and
     * their replies. */
    return chunk * (hw_count)(request_size + reply_size + sizeof(hw_count) + sizeof(int)) +
           2 * chunk * (hw_count)(request_size + reply_size);
}

static void free_buffers(struct buffers *buffers)
{
    free(buffers->request);
    free(buffers->received_request);
    free(buffers->reply);
    free(buffers->received_reply);
    free(buffers->index);
}

static enum hw_status allocate_buffers(const struct hw_owner_query *query,
                                       const struct hw_bounded_round *round,
                                       struct buffers *buffers, struct hw_error *err)
{
    const size_t request = query->request_size, reply = query->reply_size;

    HW_TRY(hw_alloc(&buffers->request, round->sending, request, "requests", err));
    HW_TRY(hw_alloc(&buffers->received_request, round->receiving, request, "requests", err));
    if (reply > 0) {
        HW_TRY(hw_alloc(&buffers->reply, round->receiving, reply, "replies", err));
        HW_TRY(hw_alloc(&buffers->received_reply, round->sending, reply, "replies", err));
    }
    return hw_alloc(&buffers->index, round->sending, sizeof *buffers->index, "indices", err);
}

/* Sorts a round's requests, and their indices, by the rank they are sent to. */
static void sort_requests(const struct hw_owner_query *query, const struct hw_bounded_round *round,
                          const char *request, struct buffers *buffers)
{
    const int threads = query->ctx->threads;
    const size_t size = query->request_size;

#pragma omp parallel for schedule(static, 1) num_threads(threads)
    for (int t = 0; t < threads; t++) {
        hw_count begin, end, *next = round->next + (hw_count)t * query->ctx->size;
        hw_thread_range(round->length, t, threads, &begin, &end);
        for (hw_count i = begin; i < end; i++) {
            hw_count at = next[round->owner[i]]++;
            memcpy(buffers->request + (size_t)at * size, request + (size_t)i * size, size);
            buffers->index[at] = i;
        }
    }
}

/* Puts the replies into the order of the requests. */
static void scatter_replies(const struct hw_owner_query *query,
                            const struct hw_bounded_round *round, const struct buffers *buffers,
                            char *reply)
{
    const size_t size = query->reply_size;

#pragma omp parallel for schedule(static) num_threads(query->ctx->threads)
    for (hw_count i = 0; i < round->sending; i++)
        memcpy(reply + (size_t)buffers->index[i] * size, buffers->received_reply + (size_t)i * size,
               size);
}

/* Sends a round's requests, and their replies back. Collective. */
static enum hw_status run_round(const struct hw_owner_query *query, struct hw_bounded_round *round,
                                const char *request, char *reply, struct hw_error *err)
{
    MPI_Comm world = query->ctx->world;
    struct buffers buffers = {0};
    enum hw_status status = hw_agree(world, allocate_buffers(query, round, &buffers, err), err);

    if (status == HW_OK) {
        sort_requests(query, round, request, &buffers);
        status = hw_alltoallv_into(world, query->request_size, buffers.request, round->send,
                                   buffers.received_request, round->receive, err);
    }
    if (status == HW_OK)
        query->respond(query->self, buffers.received_request, round->receiving, buffers.reply);
    if (status == HW_OK && query->reply_size > 0) {
        status = hw_alltoallv_into(world, query->reply_size, buffers.reply, round->receive,
                                   buffers.received_reply, round->send, err);
        if (status == HW_OK)
            scatter_replies(query, round, &buffers, reply);
    }
    free_buffers(&buffers);
    return status;
}

enum hw_status hw_owner_query(const struct hw_owner_query *query, enum hw_status status,
                              hw_count count, const void *request, void *reply,
                              struct hw_error *err)
{
    const struct hw_bounded_items items = {.count = count,
                                           .id = request,
                                           .stride =
                                               (hw_count)(query->request_size / sizeof(hw_gid)),
                                           .limit = 2 * query->chunk};
    struct hw_bounded_round round = {.step = query->chunk};

    if (query->ctx->size == 1) {
        if (status == HW_OK)
            query->respond(query->self, request, count, reply);
        return status;
    }
    do {
        status = hw_bounded_round_next(query->ctx, query->owners, status, &items, &round, err);
        if (status != HW_OK)
            break;
        const char *requests = request;
        char *replies = reply;
        if (round.length > 0) {
            requests += (size_t)round.at * query->request_size;
            replies += query->reply_size > 0 ? (size_t)round.at * query->reply_size : 0;
        }
        status = run_round(query, &round, requests, replies, err);
    } while (status == HW_OK && round.more);
    hw_bounded_round_end(&round);
    return status;
}
