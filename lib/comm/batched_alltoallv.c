#include "lib/comm/batched_alltoallv.h"

#include "lib/base/memory.h"
#include "lib/base/radix_sort.h"
#include "lib/comm/large_alltoallv.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* Records from one rank to another in one round: half as many again as an even
 * share of a piece. */
static hw_count cap_of(int ranks, hw_count piece)
{
    return ranks == 1 ? piece : (piece + piece / 2) / ranks + 64;
}

hw_count hw_batched_alltoallv_bytes(int ranks, int words, hw_count piece)
{
    hw_count received = ranks == 1 ? 0 : ranks * cap_of(ranks, piece);

    return (2 * piece + received) * words * 4 + piece * 4;
}

enum hw_status hw_batched_alltoallv_open(struct hw_batched_alltoallv *ship,
                                         const struct hw_context *ctx, int words, hw_count piece,
                                         struct hw_error *err)
{
    size_t bytes = (size_t)words * sizeof(uint32_t);

    *ship = (struct hw_batched_alltoallv){
        .ctx = ctx, .words = words, .piece = piece, .cap = cap_of(ctx->size, piece)};
    enum hw_status status = hw_alloc(&ship->record, piece, bytes, "records to send", err);
    if (status == HW_OK)
        status = hw_alloc(&ship->sorted, piece, bytes, "records to send", err);
    if (status == HW_OK)
        status = hw_alloc(&ship->to, piece, sizeof *ship->to, "ranks to send to", err);
    if (status == HW_OK && ctx->size > 1)
        status = hw_alloc(&ship->received, ctx->size * ship->cap, bytes, "records that came", err);
    if (status == HW_OK)
        status = hw_alloc(&ship->counts, 3 * (hw_count)ctx->size, sizeof *ship->counts,
                          "counts of records", err);
    return status;
}

void hw_batched_alltoallv_close(struct hw_batched_alltoallv *ship)
{
    free(ship->record);
    free(ship->sorted);
    free(ship->received);
    free(ship->to);
    free(ship->counts);
    *ship = (struct hw_batched_alltoallv){0};
}

/* The records [*first, *last) of thread t. */
static void share_of(hw_count count, int t, int threads, hw_count *first, hw_count *last)
{
    *first = count / threads * t;
    *last = t == threads - 1 ? count : count / threads * (t + 1);
}

/* Where each thread's records for each rank begin, counted from that rank's
 * first: turns next into that, and sets all[r] to the sum. next: [threads][ranks]. */
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

/* How many of `all` records go in a round. */
static hw_count in_round(hw_count all, hw_count cap, hw_count round)
{
    hw_count left = all - round * cap;

    return left < 0 ? 0 : left < cap ? left : cap;
}

/* Copies records of so many words to where they belong: by round, then by rank.
 * begin: [rounds][ranks]. */
static inline void place_words(const struct hw_batched_alltoallv *ship, size_t words,
                               hw_count first, hw_count last, hw_count *next, const hw_count *begin)
{
    hw_count ranks = ship->ctx->size;

    for (hw_count i = first; i < last; i++) {
        int32_t r = ship->to[i];
        if (r < 0)
            continue;
        hw_count slot = next[r]++, round = 0;
        if (slot >= ship->cap) {
            round = slot / ship->cap;
            slot %= ship->cap;
        }
        memcpy(ship->sorted + (size_t)(begin[round * ranks + r] + slot) * words,
               ship->record + (size_t)i * words, words * sizeof(uint32_t));
    }
}

/* The same, compiled for the usual records. */
static void place_records(const struct hw_batched_alltoallv *ship, hw_count first, hw_count last,
                          hw_count *next, const hw_count *begin)
{
    if (ship->words == 2)
        place_words(ship, 2, first, last, next, begin);
    else if (ship->words == 3)
        place_words(ship, 3, first, last, next, begin);
    else
        place_words(ship, (size_t)ship->words, first, last, next, begin);
}

/* The rounds that this rank's records need. */
static hw_count rounds_of(const struct hw_batched_alltoallv *ship)
{
    hw_count rounds = 1;

    for (int r = 0; r < ship->ctx->size; r++) {
        hw_count here = (ship->counts[r] + ship->cap - 1) / ship->cap;
        rounds = here > rounds ? here : rounds;
    }
    return rounds;
}

/* Orders the records that fill made by round and rank, and leaves in
 * ship->counts how many go to each rank. */
static enum hw_status order_records(struct hw_batched_alltoallv *ship, hw_count count,
                                    struct hw_error *err)
{
    int ranks = ship->ctx->size;
    int threads = count < HW_SERIAL_BELOW ? 1 : omp_get_max_threads();
    hw_count *next = NULL, *begin = NULL, *all = ship->counts, sum = 0;
    enum hw_status status =
        hw_alloc_zero(&next, (hw_count)threads * ranks, sizeof *next, "counts of records", err);

    if (status != HW_OK)
        return status;
#pragma omp parallel num_threads(threads)
    for (int t = omp_get_thread_num(); t < threads; t += omp_get_num_threads()) {
        hw_count first, last, *mine = next + (size_t)t * (size_t)ranks;
        share_of(count, t, threads, &first, &last);
        for (hw_count i = first; i < last; i++)
            if (ship->to[i] >= 0)
                mine[ship->to[i]]++;
    }
    begin_threads(next, threads, ranks, all);
    if (ranks == 1 && all[0] == count) {
        uint32_t *swap = ship->record;
        ship->record = ship->sorted;
        ship->sorted = swap;
        free(next);
        return HW_OK;
    }
    hw_count rounds = rounds_of(ship);
    status = hw_alloc(&begin, rounds * ranks, sizeof *begin, "counts of records", err);
    for (hw_count k = 0; k < rounds && status == HW_OK; k++)
        for (int r = 0; r < ranks; r++) {
            begin[k * ranks + r] = sum;
            sum += in_round(all[r], ship->cap, k);
        }
    if (status == HW_OK) {
#pragma omp parallel num_threads(threads)
        for (int t = omp_get_thread_num(); t < threads; t += omp_get_num_threads()) {
            hw_count first, last;
            share_of(count, t, threads, &first, &last);
            place_records(ship, first, last, next + (size_t)t * (size_t)ranks, begin);
        }
    }
    free(next);
    free(begin);
    return status;
}

/* Sends one round, which lies at ship->sorted + before, and hands on what came. */
static enum hw_status send_round(struct hw_batched_alltoallv *ship, hw_count before,
                                 const hw_count *send, hw_count *come,
                                 hw_batched_alltoallv_receive *receive, void *self,
                                 struct hw_error *err)
{
    int ranks = ship->ctx->size;
    hw_count sum = 0;
    const uint32_t *from = ship->sorted + (size_t)before * (size_t)ship->words;

    if (ranks == 1)
        return receive(self, from, send[0], err);
    enum hw_status status =
        hw_mpi(MPI_Alltoall(send, 1, HW_MPI_COUNT, come, 1, HW_MPI_COUNT, ship->ctx->world),
               "MPI_Alltoall", err);
    for (int r = 0; r < ranks; r++)
        sum += come[r];
    if (status == HW_OK)
        status = hw_exchange_into(ship->ctx->world, (size_t)ship->words * sizeof(uint32_t), from,
                                  send, ship->received, come, err);
    if (status == HW_OK)
        status = receive(self, ship->received, sum, err);
    return status;
}

/* Sends what one fill made, in so many rounds. all: [3 x ranks], of which the
 * first says how many go to each rank. The status is this rank's own. */
static enum hw_status send_piece(struct hw_batched_alltoallv *ship, hw_count *all, hw_count rounds,
                                 hw_batched_alltoallv_receive *receive, void *self,
                                 struct hw_error *err)
{
    int ranks = ship->ctx->size;
    hw_count *send = all + ranks, *come = send + ranks, before = 0;
    enum hw_status status = HW_OK;

    for (hw_count k = 0; k < rounds && status == HW_OK; k++) {
        for (int r = 0; r < ranks; r++)
            send[r] = in_round(all[r], ship->cap, k);
        status = send_round(ship, before, send, come, receive, self, err);
        if (k + 1 < rounds)
            status = hw_agree(ship->ctx->world, status, err);
        for (int r = 0; r < ranks; r++)
            before += send[r];
    }
    return status;
}

enum hw_status hw_batched_alltoallv(struct hw_batched_alltoallv *ship,
                                    hw_batched_alltoallv_add *fill,
                                    hw_batched_alltoallv_receive *receive, void *self,
                                    struct hw_error *err)
{
    MPI_Comm world = ship->ctx->world;
    bool mine = true;
    enum { STATUS, ROUNDS, MORE };
    hw_count all[3] = {[MORE] = 1};
    enum hw_status status = HW_OK;

    while (all[MORE] && all[STATUS] == HW_OK) {
        hw_count count = 0;
        if (mine && status == HW_OK)
            status = fill(self, ship->record, ship->to, &count, &mine, err);
        if (status == HW_OK)
            status = order_records(ship, count, err);
        all[STATUS] = (hw_count)status;
        all[ROUNDS] = status == HW_OK ? rounds_of(ship) : 1;
        all[MORE] = mine;
        enum hw_status told =
            hw_mpi(MPI_Allreduce(MPI_IN_PLACE, all, 3, HW_MPI_COUNT, MPI_MAX, world),
                   "MPI_Allreduce", err);
        if (told != HW_OK)
            return told;
        if (all[STATUS] == HW_OK)
            status = send_piece(ship, ship->counts, all[ROUNDS], receive, self, err);
    }
    return hw_agree(world, status, err);
}
