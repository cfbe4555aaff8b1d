/* The probe of links: all pairs are measured over MPI, puts only where a transport has them, and
 * bytes that arrive wrong are found and named. */
#include "lib/comm/probe/link_probe.h"
#include "tests/tap/tap.h"

#include <stdlib.h>
#include <string.h>

/* A transport over that of MPI, of which the last rank gets other bytes than were sent. */
struct wrong_link {
    struct hw_link inner;
    bool broken; /* on this rank */
    int puts;
};

static enum hw_status message(void *self, int from, int to, bool both, hw_count bytes,
                              struct hw_error *err)
{
    struct wrong_link *link = self;

    return link->inner.ops->message(link->inner.self, from, to, both, bytes, err);
}

static enum hw_status put(void *self, int from, int to, hw_count bytes, struct hw_error *err)
{
    struct wrong_link *link = self;

    link->puts++;
    return message(self, from, to, false, bytes, err);
}

static enum hw_status fill(void *self, int send, int receive, struct hw_error *err)
{
    struct wrong_link *link = self;

    return link->inner.ops->fill(link->inner.self, send, receive, err);
}

static enum hw_status check(void *self, int byte, bool *same, struct hw_error *err)
{
    struct wrong_link *link = self;

    return link->inner.ops->check(link->inner.self, byte + link->broken, same, err);
}

static void tests(struct tap *tap, struct hw_context *ctx)
{
    static const struct hw_link_ops ops = {
        .message = message, .put = put, .fill = fill, .check = check};
    struct hw_error err = {{0}};
    struct wrong_link wrong = {.broken = false};
    const struct hw_link link = {.ops = &ops, .self = &wrong, .transport = "wrong"};
    struct hw_link_row *rows = calloc((size_t)ctx->size * (size_t)ctx->size, sizeof *rows);
    double barrier = -1;
    bool all = true, none = true, puts = true;

    tap_plan(tap, 6);
    tap_ok(tap, rows && hw_link_open_mpi(ctx, &wrong.inner, &err) == HW_OK, "MPI opens");
    tap_ok(tap, hw_link_probe(ctx, &wrong.inner, rows, &barrier, &err) == HW_OK && barrier >= 0,
           "all pairs are probed");
    for (int pair = 0; pair < ctx->size * ctx->size; pair++) {
        const struct hw_link_row *row = rows + pair;
        const bool self = pair % (ctx->size + 1) == 0;
        all = all && (self || (row->latency > 0 && row->bandwidth > 0 && row->barrier > 0));
        none = none && (self || row->put_latency < 0);
    }
    tap_ok(tap, all, "each has a latency, a bandwidth and a barrier");
    tap_ok(tap, none, "and no puts");
    enum hw_status status = hw_link_probe(ctx, &link, rows, &barrier, &err);
    for (int pair = 0; pair < ctx->size * ctx->size; pair++)
        puts = puts && (pair % (ctx->size + 1) == 0 || rows[pair].put_bandwidth > 0);
    tap_ok(tap, status == HW_OK && puts && (ctx->size == 1 || wrong.puts > 0), "puts are measured");
    wrong.broken = ctx->rank == ctx->size - 1;
    status = hw_link_probe(ctx, &link, rows, &barrier, &err);
    tap_ok(tap,
           ctx->size == 1
               ? status == HW_OK
               : status == HW_INTERNAL && strstr(err.text, "over wrong a message of rank"),
           "bytes that arrive wrong are found on all ranks");
    wrong.inner.ops->close(wrong.inner.self);
    free(rows);
}

int main(int argc, char **argv)
{
    return tap_ranks(argc, argv, "test_link_probe", tests);
}
