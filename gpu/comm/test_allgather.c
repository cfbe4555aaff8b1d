/*
 * Rounds of several GPUs, over each transport that there is here: sums, maxima and every
 * rank's words; more of them ahead than one; mail; a rank that fails, or does not come.
 */
#include "gpu/comm/allgather.h"
#include "gpu/device/device.h"
#include "gpu/hopwave_gpu.h"
#include "lib/comm/context.h"
#include "tests/tap/tap.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 40, ROOM = 1000 };

/* One transport with rounds and mail, and words on the device. */
struct bench {
    const struct hw_context *ctx;
    int together; /* ranks of a node */
    struct hw_transport transport;
    struct hw_allgather round;
    struct hw_outbox mail;
    uint64_t *words; /* [HW_ALLGATHER_WORDS] on the device */
};

/* What rank q says in a round: more than 32 bits. */
static uint64_t said(int q, int round, int k)
{
    return (uint64_t)(q + 1) * UINT64_C(0x123456789) + (uint64_t)(round * 31 + k);
}

static enum hw_status open_bench(struct bench *self, enum hw_transport_kind kind,
                                 struct hw_error *err)
{
    const struct hw_context *ctx = self->ctx;
    hw_count heap = hw_allgather_heap_bytes(ctx->size);
    enum hw_status status =
        hw_transport_open(ctx, kind, HW_MPI_BUFFERS_AUTO, self->together, &self->transport, err);

    if (status != HW_OK)
        return status;
    self->mail = hw_outbox_reserve(&self->transport, ROOM, &heap);
    status = hw_transport_heap(&self->transport, heap, err);
    if (status == HW_OK)
        status = hw_allgather_open(&self->transport, 0, &self->round, err);
    if (status == HW_OK)
        status = hw_cuda(
            (int)cudaMalloc((void **)&self->words, HW_ALLGATHER_WORDS * sizeof *self->words),
            "cudaMalloc", err);
    return hw_agree(ctx->world, status, err);
}

static void close_bench(struct bench *self)
{
    cudaFree(self->words);
    hw_allgather_close(&self->round);
    hw_transport_close(&self->transport);
}

static enum hw_status start(struct bench *self, int round, enum hw_status status,
                            struct hw_error *err)
{
    uint64_t words[HW_ALLGATHER_WORDS];

    for (int k = 0; k < HW_ALLGATHER_WORDS; k++)
        words[k] = said(self->ctx->rank, round, k);
    if (status == HW_OK)
        status = hw_gpu_put(self->words, words, sizeof words, err);
    return hw_allgather_start(&self->round, status, self->words, HW_ALLGATHER_WORDS, 0xff00, NULL,
                              err);
}

/* Whether a result is that of a round: sums of the first words, maxima of the others. */
static bool right(const struct bench *self, const struct hw_allgather_result *result, int round)
{
    const int ranks = self->ctx->size;
    bool fine = true;

    for (int k = 0; k < HW_ALLGATHER_WORDS; k++) {
        uint64_t all = 0;
        for (int q = 0; q < ranks; q++) {
            all = k < 8 ? all + said(q, round, k) : said(q, round, k);
            fine = fine && result->of[q][k] == said(q, round, k);
        }
        fine = fine && result->all[k] == all;
    }
    return fine && !result->failed;
}

/* Rounds one after another, and as many ahead as may be. */
static bool try_rounds(struct bench *self, struct hw_error *err)
{
    const struct hw_allgather_result *result = NULL;
    struct hw_allgather_result there;
    bool fine = true;

    for (int r = 0; r < ROUNDS && fine; r++) {
        fine = start(self, r, HW_OK, err) == HW_OK &&
               hw_allgather_wait(&self->round, &result, err) == HW_OK;
        fine = fine && right(self, result, r);
        fine = fine &&
               hw_gpu_get(&there, hw_allgather_device(&self->round), sizeof there, err) == HW_OK &&
               right(self, &there, r);
    }
    for (int r = 0; r < HW_ALLGATHER_AHEAD && fine; r++)
        fine = start(self, r, HW_OK, err) == HW_OK;
    for (int r = 0; r < HW_ALLGATHER_AHEAD && fine; r++)
        fine = hw_allgather_wait_for(&self->round,
                                     self->round.number + 1 + (uint32_t)r - HW_ALLGATHER_AHEAD,
                                     &result, err) == HW_OK &&
               right(self, result, r);
    return fine;
}

/* Letters to all, of different lengths. */
static bool try_mail(struct bench *self, struct hw_error *err)
{
    const int ranks = self->ctx->size, rank = self->ctx->rank;
    const struct hw_allgather_result *result = NULL;
    hw_count sent[HW_ALLGATHER_RANKS], came[HW_ALLGATHER_RANKS];
    char letter[ROOM], wanted[ROOM];
    enum hw_status status = HW_OK;
    bool fine = true;

    for (int q = 0; q < ranks && status == HW_OK; q++) {
        sent[q] = 100 * q + rank;
        came[q] = 100 * rank + q;
        memset(letter, 16 * rank + q, sizeof letter);
        status = hw_gpu_put(hw_outbox_send_buffer(&self->transport, &self->mail, q), letter,
                            (size_t)sent[q], err);
    }
    status = hw_allgather_start(&self->round, status, self->words, 1, 0, NULL, err);
    if (status == HW_OK)
        status = hw_allgather_wait(&self->round, &result, err);
    if (status == HW_OK)
        status = hw_outbox_deliver(&self->transport, &self->mail, sent, came, err);
    for (int q = 0; q < ranks && status == HW_OK; q++) {
        memset(wanted, 16 * q + rank, sizeof wanted);
        status = hw_gpu_get(letter, hw_outbox_recv_buffer(&self->transport, &self->mail, q),
                            (size_t)came[q], err);
        fine = fine && memcmp(letter, wanted, (size_t)came[q]) == 0;
    }
    return status == HW_OK && fine;
}

/* One letter to all but those two further on, and what crosses. */
static bool try_spread(struct bench *self, struct hw_error *err)
{
    const int ranks = self->ctx->size, rank = self->ctx->rank, *node = self->transport.nodes.node;
    const struct hw_allgather_result *result = NULL;
    hw_count sent[HW_ALLGATHER_RANKS] = {0}, came[HW_ALLGATHER_RANKS] = {0};
    char letter[ROOM], wanted[ROOM];
    struct hw_internode_traffic crossed, formula = {0, 0};
    enum hw_status status = HW_OK;
    bool fine = true;

    (void)hw_transport_internode_traffic(&self->transport);
    for (int q = 0; q < ranks && status == HW_OK; q++) {
        sent[q] = q != rank && q != (rank + 2) % ranks ? 50 + rank : 0;
        came[q] = q != rank && rank != (q + 2) % ranks ? 50 + q : 0;
        memset(letter, 7 * rank + 1, sizeof letter);
        if (sent[q] > 0)
            status = hw_gpu_put(hw_outbox_send_buffer(&self->transport, &self->mail, q), letter,
                                (size_t)sent[q], err);
    }
    for (int n = 0; n < self->transport.nodes.count; n++) {
        bool any = false;
        for (int q = 0; q < ranks; q++)
            any = any || (node[q] == n && n != node[rank] && sent[q] > 0);
        formula.messages += any;
        formula.bytes += any ? 50 + rank : 0;
    }
    status = hw_allgather_start(&self->round, status, self->words, 1, 0, NULL, err);
    if (status == HW_OK)
        status = hw_allgather_wait(&self->round, &result, err);
    if (status == HW_OK)
        status = hw_outbox_broadcast(&self->transport, &self->mail, sent, came, err);
    for (int q = 0; q < ranks && status == HW_OK; q++) {
        memset(wanted, 7 * q + 1, sizeof wanted);
        if (came[q] > 0)
            status = hw_gpu_get(letter, hw_outbox_recv_buffer(&self->transport, &self->mail, q),
                                (size_t)came[q], err);
        fine = fine && memcmp(letter, wanted, (size_t)came[q]) == 0;
    }
    crossed = hw_transport_internode_traffic(&self->transport);
    return status == HW_OK && fine && crossed.bytes == formula.bytes &&
           crossed.messages == formula.messages;
}

/* The time of a round, several ahead. */
static void clock_rounds(const struct tap *tap, struct bench *self, struct hw_error *err)
{
    const struct hw_allgather_result *result = NULL;
    const int count = 200;
    double began = hw_seconds();
    enum hw_status status = HW_OK;

    for (int r = 0; r < count && status == HW_OK; r++)
        status = hw_allgather_start(&self->round, status, self->words, 4, 0, NULL, err);
    if (status == HW_OK)
        status = hw_allgather_wait(&self->round, &result, err);
    double ahead = hw_seconds() - began;
    began = hw_seconds();
    for (int r = 0; r < count && status == HW_OK; r++) {
        status = hw_allgather_start(&self->round, status, self->words, 4, 0, NULL, err);
        if (status == HW_OK)
            status = hw_allgather_wait(&self->round, &result, err);
    }
    tap_note(tap, "%s: %.1f us a round, %.1f us with the host waiting for each",
             hw_transport_name(&self->transport), 1e6 * ahead / count,
             1e6 * (hw_seconds() - began) / count);
}

/* A rank that fails takes all with it. Over peer, so does one that comes late. */
static bool try_failure(struct bench *self, struct hw_error *err)
{
    const struct hw_allgather_result *result = NULL;
    const int ranks = self->ctx->size;
    const bool peer = self->transport.kind == HW_TRANSPORT_PEER;
    enum hw_status status = HW_OK;

    if (peer) /* clocks of emulated GPUs make seconds of it */
        self->round.plan.patience = UINT64_C(20000000);
    if (!peer && self->ctx->rank == ranks - 1)
        status = hw_fail(err, HW_RESOURCES, "as asked for");
    if (peer && self->ctx->rank == ranks - 1) /* until the others have given up */
        status = hw_mpi(MPI_Barrier(self->ctx->world), "MPI_Barrier", err);
    status = start(self, 0, status, err);
    if (status == HW_OK)
        status = hw_allgather_wait(&self->round, &result, err);
    if (peer && self->ctx->rank != ranks - 1)
        MPI_Barrier(self->ctx->world);
    return ranks == 1 ? status == (peer ? HW_OK : HW_RESOURCES)
                      : status == (peer ? HW_INTERNAL : HW_RESOURCES);
}

static void try_transport(struct tap *tap, const struct hw_context *ctx,
                          enum hw_transport_kind kind, int together, const char *name)
{
    struct bench bench = {.ctx = ctx, .together = together};
    struct hw_error err = {{0}};

    if (open_bench(&bench, kind, &err) != HW_OK) {
        tap_note(tap, "no rounds over %s: %s", name, err.text);
        close_bench(&bench);
        return;
    }
    tap_ok(tap, try_rounds(&bench, &err), "rounds over %s", name);
    tap_ok(tap, try_mail(&bench, &err), "mail over %s", name);
    tap_ok(tap, try_spread(&bench, &err), "the same for all over %s", name);
    clock_rounds(tap, &bench, &err);
    tap_ok(tap, try_failure(&bench, &err), "failures over %s", name);
    close_bench(&bench);
}

static void tests(struct tap *tap, struct hw_context *ctx)
{
    struct hw_error err = {{0}};

    if (hw_gpu_ready(&err) != HW_OK || hw_gpu_open(ctx, &err) != HW_OK) {
        tap_skip(tap, "there is no GPU here");
    } else {
        try_transport(tap, ctx, HW_TRANSPORT_PEER, 0, "peer");
        try_transport(tap, ctx, HW_TRANSPORT_MPI, 0, "mpi");
        try_transport(tap, ctx, HW_TRANSPORT_MPI, 1, "mpi between nodes of 1");
        try_transport(tap, ctx, HW_TRANSPORT_MPI, 2, "mpi between nodes of 2");
        try_transport(tap, ctx, HW_TRANSPORT_NCCL, 0, "nccl");
    }
}

int main(int argc, char **argv)
{
    return tap_ranks(argc, argv, "test_round", tests);
}
