/*
 * All-gathers and outboxes over each transport that works here: sums, maxima and every rank's
 * words; several all-gathers in flight; deliveries and broadcasts; a rank that fails, or times out.
 */
#include "gpu/comm/allgather.h"
#include "gpu/comm/outbox.h"
#include "gpu/device/device.h"
#include "lib/comm/context.h"
#include "tests/tap/tap.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>

enum { ITERATIONS = 40, CAPACITY = 1000 };

/* One transport with all-gathers and an outbox, and words on the device. */
struct fixture {
    const struct hw_context *ctx;
    int ranks_per_node; /* 0: the real nodes */
    struct hw_transport transport;
    struct hw_allgather allgather;
    struct hw_outbox outbox;
    int count;       /* of words: as many as the transport takes */
    uint64_t *words; /* [count] on the device */
};

/* Word k of rank q in an all-gather: more than 32 bits. */
static uint64_t word_of(int q, int iteration, int k)
{
    return (uint64_t)(q + 1) * UINT64_C(0x123456789) + (uint64_t)(iteration * 31 + k);
}

static enum hw_status open_fixture(struct fixture *self, enum hw_transport_kind kind,
                                   struct hw_error *err)
{
    const struct hw_context *ctx = self->ctx;
    hw_count heap = hw_allgather_heap_bytes(ctx->size);
    enum hw_status status = hw_transport_open(ctx, kind, HW_MPI_BUFFERS_AUTO, self->ranks_per_node,
                                              &self->transport, err);

    if (status != HW_OK)
        return status;
    self->count = self->transport.peer_access ? HW_ALLGATHER_PEER_WORDS : HW_ALLGATHER_WORDS;
    self->outbox = hw_outbox_reserve(&self->transport, CAPACITY, &heap);
    status = hw_transport_heap(&self->transport, heap, err);
    if (status == HW_OK)
        status = hw_allgather_open(&self->transport, 0, &self->allgather, err);
    if (status == HW_OK)
        status = hw_cuda(
            (int)cudaMalloc((void **)&self->words, (size_t)self->count * sizeof *self->words),
            "cudaMalloc", err);
    return hw_agree(ctx->world, status, err);
}

static void close_fixture(struct fixture *self)
{
    cudaFree(self->words);
    hw_allgather_close(&self->allgather);
    hw_transport_close(&self->transport);
}

static enum hw_status start(struct fixture *self, int iteration, enum hw_status status,
                            struct hw_error *err)
{
    uint64_t words[HW_ALLGATHER_WORDS];

    for (int k = 0; k < self->count; k++)
        words[k] = word_of(self->ctx->rank, iteration, k);
    if (status == HW_OK)
        status = hw_gpu_put(self->words, words, (size_t)self->count * sizeof *words, err);
    return hw_allgather_start(&self->allgather, status, self->words, self->count, 0xff00, NULL,
                              err);
}

/* Whether a result is correct: maxima of words 8 to 15, sums of the others. */
static bool is_result_of(const struct fixture *self, const struct hw_allgather_result *result,
                         int iteration)
{
    const int ranks = self->ctx->size;
    bool ok = true;

    for (int k = 0; k < self->count; k++) {
        const bool largest = k >= 8 && k < 16; /* that of the last rank */
        uint64_t all = 0;
        for (int q = 0; q < ranks; q++) {
            all = largest ? word_of(q, iteration, k) : all + word_of(q, iteration, k);
            ok = ok && result->by_rank[q][k] == word_of(q, iteration, k);
        }
        ok = ok && result->reduced[k] == all;
    }
    return ok && !result->failed;
}

/* All-gathers one after another, and as many in flight as allowed. */
static bool check_allgathers(struct fixture *self, struct hw_error *err)
{
    const struct hw_allgather_result *result = NULL;
    struct hw_allgather_result on_device;
    bool ok = true;

    for (int r = 0; r < ITERATIONS && ok; r++) {
        ok = start(self, r, HW_OK, err) == HW_OK &&
             hw_allgather_wait(&self->allgather, &result, err) == HW_OK;
        ok = ok && is_result_of(self, result, r);
        ok = ok &&
             hw_gpu_get(&on_device, hw_allgather_device(&self->allgather), sizeof on_device, err) ==
                 HW_OK &&
             is_result_of(self, &on_device, r);
    }
    for (int r = 0; r < HW_ALLGATHER_IN_FLIGHT && ok; r++)
        ok = start(self, r, HW_OK, err) == HW_OK;
    for (int r = 0; r < HW_ALLGATHER_IN_FLIGHT && ok; r++)
        ok =
            hw_allgather_wait_for(&self->allgather,
                                  self->allgather.number + 1 + (uint32_t)r - HW_ALLGATHER_IN_FLIGHT,
                                  &result, err) == HW_OK &&
            is_result_of(self, result, r);
    return ok;
}

/* Messages of different lengths to all ranks. */
static bool check_deliver(struct fixture *self, struct hw_error *err)
{
    const int ranks = self->ctx->size, rank = self->ctx->rank;
    const struct hw_allgather_result *result = NULL;
    hw_count sent[HW_ALLGATHER_RANKS], received[HW_ALLGATHER_RANKS];
    char message[CAPACITY], expected[CAPACITY];
    enum hw_status status = HW_OK;
    bool ok = true;

    for (int q = 0; q < ranks && status == HW_OK; q++) {
        sent[q] = 100 * q + rank;
        received[q] = 100 * rank + q;
        memset(message, 16 * rank + q, sizeof message);
        status = hw_gpu_put(hw_outbox_send_buffer(&self->transport, &self->outbox, q), message,
                            (size_t)sent[q], err);
    }
    status = hw_allgather_start(&self->allgather, status, self->words, 1, 0, NULL, err);
    if (status == HW_OK)
        status = hw_allgather_wait(&self->allgather, &result, err);
    if (status == HW_OK)
        status = hw_outbox_deliver(&self->transport, &self->outbox, sent, received, err);
    for (int q = 0; q < ranks && status == HW_OK; q++) {
        memset(expected, 16 * q + rank, sizeof expected);
        status = hw_gpu_get(message, hw_outbox_recv_buffer(&self->transport, &self->outbox, q),
                            (size_t)received[q], err);
        ok = ok && memcmp(message, expected, (size_t)received[q]) == 0;
    }
    return status == HW_OK && ok;
}

/* One message to all ranks but the second next, and the internode traffic. */
static bool check_broadcast(struct fixture *self, struct hw_error *err)
{
    const int ranks = self->ctx->size, rank = self->ctx->rank, *node = self->transport.nodes.node;
    const struct hw_allgather_result *result = NULL;
    hw_count sent[HW_ALLGATHER_RANKS] = {0}, received[HW_ALLGATHER_RANKS] = {0};
    char message[CAPACITY], expected[CAPACITY];
    struct hw_internode_traffic traffic, expected_traffic = {0, 0};
    enum hw_status status = HW_OK;
    bool ok = true;

    (void)hw_transport_internode_traffic(&self->transport);
    for (int q = 0; q < ranks && status == HW_OK; q++) {
        sent[q] = q != rank && q != (rank + 2) % ranks ? 50 + rank : 0;
        received[q] = q != rank && rank != (q + 2) % ranks ? 50 + q : 0;
        memset(message, 7 * rank + 1, sizeof message);
        if (sent[q] > 0)
            status = hw_gpu_put(hw_outbox_send_buffer(&self->transport, &self->outbox, q), message,
                                (size_t)sent[q], err);
    }
    for (int n = 0; n < self->transport.nodes.count; n++) {
        bool any = false;
        for (int q = 0; q < ranks; q++)
            any = any || (node[q] == n && n != node[rank] && sent[q] > 0);
        expected_traffic.messages += any;
        expected_traffic.bytes += any ? 50 + rank : 0;
    }
    status = hw_allgather_start(&self->allgather, status, self->words, 1, 0, NULL, err);
    if (status == HW_OK)
        status = hw_allgather_wait(&self->allgather, &result, err);
    if (status == HW_OK)
        status = hw_outbox_broadcast(&self->transport, &self->outbox, sent, received, err);
    for (int q = 0; q < ranks && status == HW_OK; q++) {
        memset(expected, 7 * q + 1, sizeof expected);
        if (received[q] > 0)
            status = hw_gpu_get(message, hw_outbox_recv_buffer(&self->transport, &self->outbox, q),
                                (size_t)received[q], err);
        ok = ok && memcmp(message, expected, (size_t)received[q]) == 0;
    }
    traffic = hw_transport_internode_traffic(&self->transport);
    return status == HW_OK && ok && traffic.bytes == expected_traffic.bytes &&
           traffic.messages == expected_traffic.messages;
}

/* The time of an all-gather, with several in flight and with one. */
static void time_allgathers(const struct tap *tap, struct fixture *self, struct hw_error *err)
{
    const struct hw_allgather_result *result = NULL;
    const int count = 200;
    double start_time = hw_seconds();
    enum hw_status status = HW_OK;

    for (int r = 0; r < count && status == HW_OK; r++)
        status = hw_allgather_start(&self->allgather, status, self->words, 4, 0, NULL, err);
    if (status == HW_OK)
        status = hw_allgather_wait(&self->allgather, &result, err);
    double in_flight = hw_seconds() - start_time;
    start_time = hw_seconds();
    for (int r = 0; r < count && status == HW_OK; r++) {
        status = hw_allgather_start(&self->allgather, status, self->words, 4, 0, NULL, err);
        if (status == HW_OK)
            status = hw_allgather_wait(&self->allgather, &result, err);
    }
    tap_note(tap, "%s: %.1f us an all-gather, %.1f us if the host waits for each",
             hw_transport_name(&self->transport), 1e6 * in_flight / count,
             1e6 * (hw_seconds() - start_time) / count);
}

/* A rank that fails fails all. Over peer, so does one that is late. */
static bool check_failure(struct fixture *self, struct hw_error *err)
{
    const struct hw_allgather_result *result = NULL;
    const int ranks = self->ctx->size;
    const bool peer = self->transport.peer_access;
    enum hw_status status = HW_OK;

    if (peer) /* the slow clock of emulated GPUs makes seconds of it */
        self->allgather.params.timeout_ns = UINT64_C(20000000);
    if (!peer && self->ctx->rank == ranks - 1)
        status = hw_fail(err, HW_RESOURCES, "a failure on purpose");
    if (peer && self->ctx->rank == ranks - 1) /* until the others have timed out */
        status = hw_mpi(MPI_Barrier(self->ctx->world), "MPI_Barrier", err);
    status = start(self, 0, status, err);
    if (status == HW_OK)
        status = hw_allgather_wait(&self->allgather, &result, err);
    if (peer && self->ctx->rank != ranks - 1)
        MPI_Barrier(self->ctx->world);
    return ranks == 1 ? status == (peer ? HW_OK : HW_RESOURCES)
                      : status == (peer ? HW_INTERNAL : HW_RESOURCES);
}

static void check_transport(struct tap *tap, const struct hw_context *ctx,
                            enum hw_transport_kind kind, int ranks_per_node, const char *name)
{
    struct fixture fixture = {.ctx = ctx, .ranks_per_node = ranks_per_node};
    struct hw_error err = {{0}};

    if (open_fixture(&fixture, kind, &err) != HW_OK) {
        tap_note(tap, "no all-gathers over %s: %s", name, err.text);
        close_fixture(&fixture);
        return;
    }
    tap_ok(tap, check_allgathers(&fixture, &err), "all-gathers over %s", name);
    tap_ok(tap, check_deliver(&fixture, &err), "deliveries over %s", name);
    tap_ok(tap, check_broadcast(&fixture, &err), "broadcasts over %s", name);
    time_allgathers(tap, &fixture, &err);
    tap_ok(tap, check_failure(&fixture, &err), "failures over %s", name);
    close_fixture(&fixture);
}

/* Between nodes on one machine, of one and two ranks. Emulated devices then have no addresses of
 * each other's memory. */
static void check_nvshmem_between_nodes(struct tap *tap, const struct hw_context *ctx)
{
    static const char *const names[] = {"nvshmem between nodes of 1", "nvshmem between nodes of 2"};

    for (int each = 1; each <= 2 && each < ctx->size; each++) {
        struct hw_context grouped = *ctx;
        hw_context_group(&grouped, each);
        setenv("HW_EMULATED_NVSHMEM_NODE", each == 1 ? "1" : "2", 1);
        check_transport(tap, &grouped, HW_TRANSPORT_SHMEM, each, names[each - 1]);
    }
}

static void tests(struct tap *tap, struct hw_context *ctx)
{
    tap_plan(tap, TAP_AT_END);
    struct hw_error err = {{0}};

    if (hw_gpu_ready(&err) != HW_OK || hw_gpu_open(ctx, &err) != HW_OK) {
        tap_skip(tap, "there is no GPU here");
    } else {
        check_transport(tap, ctx, HW_TRANSPORT_PEER, 0, "peer");
        check_transport(tap, ctx, HW_TRANSPORT_MPI, 0, "mpi");
        check_transport(tap, ctx, HW_TRANSPORT_MPI, 1, "mpi between nodes of 1");
        check_transport(tap, ctx, HW_TRANSPORT_MPI, 2, "mpi between nodes of 2");
        check_transport(tap, ctx, HW_TRANSPORT_NCCL, 0, "nccl");
        check_transport(tap, ctx, HW_TRANSPORT_SHMEM, 0, "nvshmem");
        check_nvshmem_between_nodes(tap, ctx);
    }
}

int main(int argc, char **argv)
{
    return tap_ranks(argc, argv, "test_allgather", tests);
}
