#include "lib/verify/bounded_exchange.h"

#include "lib/base/memory.h"

#include <stdlib.h>

void hw_bounded_exchange_end(struct hw_bounded_exchange *round)
{
    free(round->owner);
    free(round->place);
    free(round->send);
    free(round->receive);
    *round = (struct hw_bounded_exchange){.step = round->step, .at = round->at};
}

/* Makes room for the bins of a round of `length` items, all empty. */
static enum hw_status make_bins(const struct hw_context *ctx, hw_count length,
                                struct hw_bounded_exchange *round, struct hw_error *err)
{
    hw_count ranks = ctx->size;

    hw_bounded_exchange_end(round);
    round->length = length;
    HW_TRY(hw_alloc(&round->owner, length, sizeof *round->owner, "owners", err));
    HW_TRY(hw_alloc_zero(&round->place, ctx->threads * ranks, sizeof *round->place, "bins", err));
    HW_TRY(hw_alloc_zero(&round->send, ranks, sizeof *round->send, "bins", err));
    return hw_alloc_zero(&round->receive, ranks, sizeof *round->receive, "bins", err);
}

/* Counts the items for each rank, and computes their positions. */
static void fill_bins(const struct hw_context *ctx, const struct hw_block_distribution *slices,
                      const struct hw_items *items, struct hw_bounded_exchange *round)
{
    int ranks = ctx->size, threads = ctx->threads;

#pragma omp parallel for schedule(static, 1) num_threads(threads)
    for (int t = 0; t < threads; t++) {
        hw_count begin, end, *place = round->place + (hw_count)t * ranks;
        hw_thread_share(round->length, t, threads, &begin, &end);
        for (hw_count i = begin; i < end; i++) {
            round->owner[i] =
                hw_block_distribution_owner(slices, items->id[(round->at + i) * items->stride]);
            place[round->owner[i]]++;
        }
    }
    for (int r = 0; r < ranks; r++)
        for (int t = 0; t < threads && !(items->keep && r == ctx->rank); t++) {
            hw_count *place = &round->place[(hw_count)t * ranks + r], here = *place;
            *place = round->sending;
            round->send[r] += here;
            round->sending += here;
        }
}

/* Learns what comes, and the most that any rank receives and has left. */
static enum hw_status settle(const struct hw_context *ctx, const struct hw_items *items,
                             struct hw_bounded_exchange *round, hw_count *max, struct hw_error *err)
{
    hw_count largest[2];
    enum hw_status status = hw_mpi(
        MPI_Alltoall(round->send, 1, HW_MPI_COUNT, round->receive, 1, HW_MPI_COUNT, ctx->world),
        "MPI_Alltoall", err);

    for (int r = 0; r < ctx->size && status == HW_OK; r++)
        round->receiving += round->receive[r];
    largest[0] = round->receiving;
    largest[1] = items->count - round->at - round->length;
    if (status == HW_OK)
        status = hw_mpi(MPI_Allreduce(MPI_IN_PLACE, largest, 2, HW_MPI_COUNT, MPI_MAX, ctx->world),
                        "MPI_Allreduce", err);
    *max = largest[0];
    round->more = largest[1] > 0;
    return status;
}

enum hw_status hw_bounded_exchange_next(const struct hw_context *ctx,
                                        const struct hw_block_distribution *slices,
                                        enum hw_status status, const struct hw_items *items,
                                        struct hw_bounded_exchange *round, struct hw_error *err)
{
    round->at += round->length;
    for (;;) {
        hw_count left = items->count - round->at, max = 0;
        if (status == HW_OK)
            status = make_bins(ctx, left < round->step ? left : round->step, round, err);
        status = hw_agree(ctx->world, status, err);
        if (status != HW_OK)
            return status;
        fill_bins(ctx, slices, items, round);
        status = settle(ctx, items, round, &max, err);
        if (status != HW_OK || max <= items->limit || round->step == 1)
            return status;
        round->step = (round->step + 1) / 2;
    }
}
