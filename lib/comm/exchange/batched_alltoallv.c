#include "lib/comm/exchange/batched_alltoallv.h"

#include "lib/base/memory.h"
#include "lib/base/radix_sort.h"
#include "lib/comm/exchange/large_alltoallv.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* Records from one rank to another in one round: 1.5 times an even share of a batch. */
static hw_count cap_of(int ranks, hw_count piece)
{
    return ranks == 1 ? piece : (piece + piece / 2) / ranks + 64;
}

hw_count hw_batched_alltoallv_bytes(int ranks, int words, hw_count piece)
{
    hw_count received = ranks == 1 ? 0 : ranks * cap_of(ranks, piece);

    return (2 * piece + received) * words * 4 + piece * 4;
}

enum hw_status hw_batched_alltoallv_open(struct hw_batched_alltoallv *exchange,
                                         const struct hw_context *ctx, int words, hw_count piece,
                                         struct hw_error *err)
{
    size_t bytes = (size_t)words * sizeof(uint32_t);

    *exchange = (struct hw_batched_alltoallv){
        .ctx = ctx, .words = words, .piece = piece, .cap = cap_of(ctx->size, piece)};
    HW_TRY(hw_alloc(&exchange->record, piece, bytes, "records to send", err));
    HW_TRY(hw_alloc(&exchange->sorted, piece, bytes, "records to send", err));
    HW_TRY(hw_alloc(&exchange->to, piece, sizeof *exchange->to, "ranks to send to", err));
    if (ctx->size > 1)
        HW_TRY(hw_alloc(&exchange->received, ctx->size * exchange->cap, bytes, "records received",
                        err));
    return hw_alloc(&exchange->counts, 3 * (hw_count)ctx->size, sizeof *exchange->counts,
                    "counts of records", err);
}

void hw_batched_alltoallv_close(struct hw_batched_alltoallv *exchange)
{
    free(exchange->record);
    free(exchange->sorted);
    free(exchange->received);
    free(exchange->to);
    free(exchange->counts);
    *exchange = (struct hw_batched_alltoallv){0};
}

/* The records [*first, *last) of thread t. */
static void thread_range(hw_count count, int t, int threads, hw_count *first, hw_count *last)
{
    *first = count / threads * t;
    *last = t == threads - 1 ? count : count / threads * (t + 1);
}

/* Exclusive prefix sums over the threads: next[t][r] becomes the index of thread t's first
 * record for rank r among all records for r; all[r] becomes their number. next:
 * [threads][ranks], counts on entry. */
static void begin_threads(hw_count *next, int threads, int ranks, hw_count *all)
{
    for (int r = 0; r < ranks; r++) {
        all[r] = 0;
        for (int t = 0; t < threads; t++) {
            hw_count here = next[(size_t)t * (size_t)ranks + (size_t)r];
            next[(size_t)t * (size_t)ranks + (size_t)r] = all[r];
            all[r] += here;
        }
    }
}

/* How many of `all` records are sent in a round. */
static hw_count in_round(hw_count all, hw_count cap, hw_count round)
{
    hw_count left = all - round * cap;

    return left < 0 ? 0 : left < cap ? left : cap;
}

/* Scatters records of `words` words into `sorted`: by round, then by rank.
 * begin: [rounds][ranks]. */
static inline void place_words(const struct hw_batched_alltoallv *exchange, size_t words,
                               hw_count first, hw_count last, hw_count *next, const hw_count *begin)
{
    hw_count ranks = exchange->ctx->size;

    for (hw_count i = first; i < last; i++) {
        int32_t r = exchange->to[i];
        if (r < 0)
            continue;
        hw_count slot = next[r]++, round = 0;
        if (slot >= exchange->cap) {
            round = slot / exchange->cap;
            slot %= exchange->cap;
        }
        memcpy(exchange->sorted + (size_t)(begin[round * ranks + r] + slot) * words,
               exchange->record + (size_t)i * words, words * sizeof(uint32_t));
    }
}

/* The same, specialized for the usual record sizes. */
static void place_records(const struct hw_batched_alltoallv *exchange, hw_count first,
                          hw_count last, hw_count *next, const hw_count *begin)
{
    if (exchange->words == 2)
        place_words(exchange, 2, first, last, next, begin);
    else if (exchange->words == 3)
        place_words(exchange, 3, first, last, next, begin);
    else
        place_words(exchange, (size_t)exchange->words, first, last, next, begin);
}

/* The rounds that this rank's records need. */
static hw_count rounds_of(const struct hw_batched_alltoallv *exchange)
{
    hw_count rounds = 1;

    for (int r = 0; r < exchange->ctx->size; r++) {
        hw_count here = (exchange->counts[r] + exchange->cap - 1) / exchange->cap;
        rounds = here > rounds ? here : rounds;
    }
    return rounds;
}

/* Sorts the records of a batch by round and rank, and leaves in exchange->counts how many go to
 * each rank. */
static enum hw_status order_records(struct hw_batched_alltoallv *exchange, hw_count count,
                                    struct hw_error *err)
{
    int ranks = exchange->ctx->size;
    int threads = count < HW_SERIAL_BELOW ? 1 : omp_get_max_threads();
    hw_count *next = NULL, *begin = NULL, *all = exchange->counts, sum = 0;
    enum hw_status status =
        hw_alloc_zero(&next, (hw_count)threads * ranks, sizeof *next, "counts of records", err);

    if (status != HW_OK)
        return status;
#pragma omp parallel num_threads(threads)
    for (int t = omp_get_thread_num(); t < threads; t += omp_get_num_threads()) {
        hw_count first, last, *mine = next + (size_t)t * (size_t)ranks;
        thread_range(count, t, threads, &first, &last);
        for (hw_count i = first; i < last; i++)
            if (exchange->to[i] >= 0)
                mine[exchange->to[i]]++;
    }
    begin_threads(next, threads, ranks, all);
    if (ranks == 1 && all[0] == count) {
        uint32_t *swap = exchange->record;
        exchange->record = exchange->sorted;
        exchange->sorted = swap;
        free(next);
        return HW_OK;
    }
    hw_count rounds = rounds_of(exchange);
    status = hw_alloc(&begin, rounds * ranks, sizeof *begin, "counts of records", err);
    for (hw_count k = 0; k < rounds && status == HW_OK; k++)
        for (int r = 0; r < ranks; r++) {
            begin[k * ranks + r] = sum;
            sum += in_round(all[r], exchange->cap, k);
        }
    if (status == HW_OK) {
#pragma omp parallel num_threads(threads)
        for (int t = omp_get_thread_num(); t < threads; t += omp_get_num_threads()) {
            hw_count first, last;
            thread_range(count, t, threads, &first, &last);
            place_records(exchange, first, last, next + (size_t)t * (size_t)ranks, begin);
        }
    }
    free(next);
    free(begin);
    return status;
}

/* Sends one round, which begins `before` records into exchange->sorted, and passes on what was
 * received. */
static enum hw_status send_round(struct hw_batched_alltoallv *exchange, hw_count before,
                                 const hw_count *send, hw_count *receive_count,
                                 hw_batched_alltoallv_receive *receive, void *self,
                                 struct hw_error *err)
{
    int ranks = exchange->ctx->size;
    hw_count sum = 0;
    const uint32_t *from = exchange->sorted + (size_t)before * (size_t)exchange->words;

    if (ranks == 1)
        return receive(self, from, send[0], err);
    HW_TRY(hw_mpi(
        MPI_Alltoall(send, 1, HW_MPI_COUNT, receive_count, 1, HW_MPI_COUNT, exchange->ctx->world),
        "MPI_Alltoall", err));
    for (int r = 0; r < ranks; r++)
        sum += receive_count[r];
    HW_TRY(hw_alltoallv_into(exchange->ctx->world, (size_t)exchange->words * sizeof(uint32_t), from,
                             send, exchange->received, receive_count, err));
    return receive(self, exchange->received, sum, err);
}

/* Sends one batch in so many rounds. all: [3][ranks]; the first row says how many records go to
 * each rank, the others are scratch. The status is this rank's own. */
static enum hw_status send_piece(struct hw_batched_alltoallv *exchange, hw_count *all,
                                 hw_count rounds, hw_batched_alltoallv_receive *receive, void *self,
                                 struct hw_error *err)
{
    int ranks = exchange->ctx->size;
    hw_count *send = all + ranks, *receive_count = send + ranks, before = 0;
    enum hw_status status = HW_OK;

    for (hw_count k = 0; k < rounds && status == HW_OK; k++) {
        for (int r = 0; r < ranks; r++)
            send[r] = in_round(all[r], exchange->cap, k);
        status = send_round(exchange, before, send, receive_count, receive, self, err);
        if (k + 1 < rounds)
            status = hw_agree(exchange->ctx->world, status, err);
        for (int r = 0; r < ranks; r++)
            before += send[r];
    }
    return status;
}

enum hw_status hw_batched_alltoallv(struct hw_batched_alltoallv *exchange,
                                    hw_batched_alltoallv_add *add,
                                    hw_batched_alltoallv_receive *receive, void *self,
                                    struct hw_error *err)
{
    MPI_Comm world = exchange->ctx->world;
    bool mine = true;
    enum { STATUS, ROUNDS, MORE };
    hw_count all[3] = {[MORE] = 1};
    enum hw_status status = HW_OK;

    while (all[MORE] && all[STATUS] == HW_OK) {
        hw_count count = 0;
        if (mine && status == HW_OK)
            status = add(self, exchange->record, exchange->to, &count, &mine, err);
        if (status == HW_OK)
            status = order_records(exchange, count, err);
        all[STATUS] = (hw_count)status;
        all[ROUNDS] = status == HW_OK ? rounds_of(exchange) : 1;
        all[MORE] = mine;
        enum hw_status agreed =
            hw_mpi(MPI_Allreduce(MPI_IN_PLACE, all, 3, HW_MPI_COUNT, MPI_MAX, world),
                   "MPI_Allreduce", err);
        if (agreed != HW_OK)
            return agreed;
        if (all[STATUS] == HW_OK)
            status = send_piece(exchange, exchange->counts, all[ROUNDS], receive, self, err);
    }
    return hw_agree(world, status, err);
}
