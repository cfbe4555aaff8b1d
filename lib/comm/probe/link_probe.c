#include "lib/comm/probe/link_probe.h"

#include "lib/base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { SMALL = 8, WARM_UPS = 4, SMALL_TURNS = 32, LARGE_TURNS = 8 };

/* ---- messages of MPI ---- */

struct mpi_link {
    const struct hw_context *ctx;
    char *send, *receive; /* [HW_LINK_BYTES] */
};

static enum hw_status mpi_message(void *self, int from, int to, bool both, hw_count bytes,
                                  struct hw_error *err)
{
    const struct mpi_link *link = self;
    const int rank = link->ctx->rank, count = (int)bytes, tag = 1;
    const bool sends = rank == from || (both && rank == to);
    const bool receives = rank == to || (both && rank == from);
    const int other = rank == from ? to : from;
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int n = 0;

    if (receives)
        HW_TRY(hw_mpi(
            MPI_Irecv(link->receive, count, MPI_BYTE, other, tag, link->ctx->world, &requests[n++]),
            "MPI_Irecv", err));
    if (sends)
        HW_TRY(hw_mpi(
            MPI_Isend(link->send, count, MPI_BYTE, other, tag, link->ctx->world, &requests[n++]),
            "MPI_Isend", err));
    return hw_mpi(MPI_Waitall(n, requests, statuses), "MPI_Waitall", err);
}

static enum hw_status mpi_fill(void *self, int send, int receive, struct hw_error *err)
{
    const struct mpi_link *link = self;

    (void)err;
    memset(link->send, send, (size_t)HW_LINK_BYTES);
    memset(link->receive, receive, (size_t)HW_LINK_BYTES);
    return HW_OK;
}

static enum hw_status mpi_check(void *self, int byte, bool *same, struct hw_error *err)
{
    const struct mpi_link *link = self;

    (void)err;
    *same = link->receive[0] == (char)byte &&
            memcmp(link->receive, link->receive + 1, (size_t)HW_LINK_BYTES - 1) == 0;
    return HW_OK;
}

static void mpi_close(void *self)
{
    struct mpi_link *link = self;

    if (!link)
        return;
    free(link->send);
    free(link->receive);
    free(link);
}

enum hw_status hw_link_open_mpi(const struct hw_context *ctx, struct hw_link *link,
                                struct hw_error *err)
{
    static const struct hw_link_ops ops = {
        .message = mpi_message, .fill = mpi_fill, .check = mpi_check, .close = mpi_close};
    struct mpi_link *self = NULL;
    enum hw_status status = hw_alloc_zero(&self, 1, sizeof *self, "the probe", err);

    *link = (struct hw_link){.ops = &ops, .self = self, .transport = "mpi"};
    if (status == HW_OK) {
        self->ctx = ctx;
        status = hw_alloc(&self->send, HW_LINK_BYTES, 1, "the probe's messages", err);
    }
    if (status == HW_OK)
        status = hw_alloc(&self->receive, HW_LINK_BYTES, 1, "the probe's messages", err);
    return hw_agree(ctx->world, status, err);
}

/* ---- measuring ---- */

/* What is timed between two ranks. */
enum kind { ROUND_TRIP, MESSAGE, PUT, PAIR_BARRIER };

static enum hw_status once(const struct hw_link *link, enum kind kind, int from, int to,
                           hw_count bytes, struct hw_error *err)
{
    if (kind == PUT)
        return link->ops->put(link->self, from, to, bytes, err);
    HW_TRY(link->ops->message(link->self, from, to, kind == PAIR_BARRIER, bytes, err));
    if (kind == PAIR_BARRIER)
        return HW_OK;
    /* A message is complete where it left before it is where it goes: the answer says. */
    return link->ops->message(link->self, to, from, false, kind == ROUND_TRIP ? bytes : SMALL, err);
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Median of `turns` times. Reorders them. */
static double median(double *seconds, int turns)
{
    qsort(seconds, (size_t)turns, sizeof *seconds, ascending);
    return (seconds[(turns - 1) / 2] + seconds[turns / 2]) / 2;
}

/* *seconds: the median on this rank, after some turns that are not timed. Collective; ranks
 * agree. */
static enum hw_status timed(const struct hw_context *ctx, const struct hw_link *link,
                            enum kind kind, int from, int to, hw_count bytes, double *seconds,
                            struct hw_error *err)
{
    const bool small = bytes == SMALL;
    const int turns = small ? SMALL_TURNS : LARGE_TURNS, warm_ups = small ? WARM_UPS : 1;
    double times[SMALL_TURNS] = {0};
    enum hw_status status = HW_OK;

    for (int turn = -warm_ups; turn < turns && status == HW_OK; turn++) {
        double started = hw_seconds();
        status = once(link, kind, from, to, bytes, err);
        if (turn >= 0)
            times[turn] = hw_seconds() - started;
    }
    *seconds = median(times, turns);
    return hw_agree(ctx->world, status, err);
}

/* Sends whole buffers both ways, and looks at what arrived. Collective; ranks agree. */
static enum hw_status verify(const struct hw_context *ctx, const struct hw_link *link, bool put,
                             int from, int to, struct hw_error *err)
{
    const int byte = ctx->rank % 100 + 1, none = 0;
    const bool receives = ctx->rank == to;
    bool same = true;
    enum hw_status status = link->ops->fill(link->self, byte, none, err);

    HW_TRY(hw_agree(ctx->world, status, err));
    status = put ? link->ops->put(link->self, from, to, HW_LINK_BYTES, err)
                 : link->ops->message(link->self, from, to, false, HW_LINK_BYTES, err);
    HW_TRY(hw_agree(ctx->world, status, err));
    if (receives)
        status = link->ops->check(link->self, from % 100 + 1, &same, err);
    if (status == HW_OK && !same)
        status = hw_fail(err, HW_INTERNAL,
                         "--probe: over %s %s of rank %d to rank %d did not arrive as it was sent",
                         link->transport, put ? "a put" : "a message", from, to);
    return hw_agree(ctx->world, status, err);
}

/* From one rank to another, as timed on the first. Collective; ranks agree. */
static enum hw_status probe_pair(const struct hw_context *ctx, const struct hw_link *link, int from,
                                 int to, struct hw_link_row *row, struct hw_error *err)
{
    const bool puts = link->ops->put != NULL;
    double small = 0, large = 0, put = -1, put_large = -1, barrier = 0;

    HW_TRY(verify(ctx, link, false, from, to, err));
    if (puts)
        HW_TRY(verify(ctx, link, true, from, to, err));
    HW_TRY(timed(ctx, link, ROUND_TRIP, from, to, SMALL, &small, err));
    HW_TRY(timed(ctx, link, MESSAGE, from, to, HW_LINK_BYTES, &large, err));
    HW_TRY(timed(ctx, link, PAIR_BARRIER, from, to, SMALL, &barrier, err));
    if (puts) {
        HW_TRY(timed(ctx, link, PUT, from, to, SMALL, &put, err));
        HW_TRY(timed(ctx, link, PUT, from, to, HW_LINK_BYTES, &put_large, err));
    }
    /* The answer to a large message is a small one. */
    const double way = large > small ? large - small / 2 : large;
    double found[] = {small / 2, (double)HW_LINK_BYTES / way, put,
                      puts ? (double)HW_LINK_BYTES / put_large : -1, barrier};
    HW_TRY(hw_mpi(MPI_Bcast(found, 5, MPI_DOUBLE, from, ctx->world), "MPI_Bcast", err));
    *row = (struct hw_link_row){.latency = found[0],
                                .bandwidth = found[1],
                                .put_latency = found[2],
                                .put_bandwidth = found[3],
                                .barrier = found[4]};
    return HW_OK;
}

enum hw_status hw_link_probe(const struct hw_context *ctx, const struct hw_link *link,
                             struct hw_link_row *rows, double *barrier, struct hw_error *err)
{
    double times[SMALL_TURNS];

    for (int from = 0; from < ctx->size; from++)
        for (int to = 0; to < ctx->size; to++) {
            struct hw_link_row *row = rows + (size_t)from * (size_t)ctx->size + to;
            *row = (struct hw_link_row){0};
            if (from != to)
                HW_TRY(probe_pair(ctx, link, from, to, row, err));
        }
    for (int turn = 0; turn < SMALL_TURNS; turn++) {
        double started = hw_seconds();
        HW_TRY(hw_mpi(MPI_Barrier(ctx->world), "MPI_Barrier", err));
        times[turn] = hw_seconds() - started;
    }
    *barrier = median(times, SMALL_TURNS);
    return hw_mpi(MPI_Bcast(barrier, 1, MPI_DOUBLE, 0, ctx->world), "MPI_Bcast", err);
}
