#include "lib/comm/exchange/bounded_rounds.h"

#include "lib/base/memory.h"

#include <stdlib.h>

void hw_bounded_round_end(struct hw_bounded_round *round)
{
    free(round->owner);
    free(round->next);
    free(round->send);
    free(round->receive);
    *round = (struct hw_bounded_round){.step = round->step, .at = round->at};
}

/* Allocates the bins of a round of `length` items, all empty. */
static enum hw_status make_bins(const struct hw_context *ctx, hw_count length,
                                struct hw_bounded_round *round, struct hw_error *err)
{
    hw_count ranks = ctx->size;

    hw_bounded_round_end(round);
    round->length = length;
    HW_TRY(hw_alloc(&round->owner, length, sizeof *round->owner, "owners", err));
    HW_TRY(hw_alloc_zero(&round->next, ctx->threads * ranks, sizeof *round->next, "bins", err));
    HW_TRY(hw_alloc_zero(&round->send, ranks, sizeof *round->send, "bins", err));
    return hw_alloc_zero(&round->receive, ranks, sizeof *round->receive, "bins", err);
}

/* Counts the items for each rank, and computes their positions. */
static void fill_bins(const struct hw_context *ctx, const struct hw_block_distribution *owners,
                      const struct hw_bounded_items *items, struct hw_bounded_round *round)
{
    int ranks = ctx->size, threads = ctx->threads;

#pragma omp parallel for schedule(static, 1) num_threads(threads)
    for (int t = 0; t < threads; t++) {
        hw_count begin, end, *next = round->next + (hw_count)t * ranks;
        hw_thread_range(round->length, t, threads, &begin, &end);
        for (hw_count i = begin; i < end; i++) {
            round->owner[i] =
                hw_block_distribution_owner(owners, items->id[(round->at + i) * items->stride]);
            next[round->owner[i]]++;
        }
    }
    for (int r = 0; r < ranks; r++)
        for (int t = 0; t < threads && !(items->keep && r == ctx->rank); t++) {
            hw_count *next = &round->next[(hw_count)t * ranks + r], here = *next;
            *next = round->sending;
            round->send[r] += here;
            round->sending += here;
        }
}

/* Exchanges the counts, and computes the largest number that any rank receives, and has left. */
static enum hw_status exchange_counts(const struct hw_context *ctx,
                                      const struct hw_bounded_items *items,
                                      struct hw_bounded_round *round, hw_count *max,
                                      struct hw_error *err)
{
    hw_count largest[2];

    HW_TRY(hw_mpi(
        MPI_Alltoall(round->send, 1, HW_MPI_COUNT, round->receive, 1, HW_MPI_COUNT, ctx->world),
        "MPI_Alltoall", err));
    for (int r = 0; r < ctx->size; r++)
        round->receiving += round->receive[r];
    largest[0] = round->receiving;
    largest[1] = items->count - round->at - round->length;
    HW_TRY(hw_mpi(MPI_Allreduce(MPI_IN_PLACE, largest, 2, HW_MPI_COUNT, MPI_MAX, ctx->world),
                  "MPI_Allreduce", err));
    *max = largest[0];
    round->more = largest[1] > 0;
    return HW_OK;
}

enum hw_status hw_bounded_round_next(const struct hw_context *ctx,
                                     const struct hw_block_distribution *owners,
                                     enum hw_status status, const struct hw_bounded_items *items,
                                     struct hw_bounded_round *round, struct hw_error *err)
{
    round->at += round->length;
    for (;;) {
        hw_count left = items->count - round->at, max = 0;
        if (status == HW_OK)
            status = make_bins(ctx, left < round->step ? left : round->step, round, err);
        status = hw_agree(ctx->world, status, err);
        if (status != HW_OK)
            return status;
        fill_bins(ctx, owners, items, round);
        status = exchange_counts(ctx, items, round, &max, err);
        if (status != HW_OK || max <= items->limit || round->step == 1)
            return status;
        round->step = (round->step + 1) / 2;
    }
}
