/*
 * Messages between nodes over NVSHMEM: what arrives is what was sent, in rounds of the pipeline and
 * whatever the order of deliveries, with receivers that are slow; and without each wait, without
 * quiet(), and without the order of a put and its signal, it is not. (Faults are made on emulated
 * devices, whose deliveries are late and out of order; a fabric may hide them.)
 */
#include "gpu/comm/transport.h"
#include "tests/tap/tap.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef HOPWAVE_EMULATED
#include "gpu/emulated/nvshmem.h"
#endif

/* Bytes of a message at most, by the ranks of a node: it takes six rounds of the pipeline, so that
 * a sender may run ahead of its receiver. */
#define MAX_BYTES(each) ((hw_count)((each) == 1 ? 19 : 6) << 20)

enum { EXCHANGES = 2, MAX_RANKS = 16, ATTEMPTS = 5 };

enum fault {
    NO_FAULT,
    NO_WAIT_FOR_BYTES,
    NO_WAIT_FOR_BUFFERS,
    SIGNAL_BEFORE_BYTES,
    NO_QUIET,
    FAULTS
};

/* What the functions of NVSHMEM are replaced by, while a fault is made. */
static struct {
    struct hw_nvshmem_api real;
    enum fault fault;
    int rank;
    bool slow;                     /* receivers are, so that senders run ahead */
    const uint64_t *first_arrived; /* words before it say that buffers are free */
} broken;

static void broken_wait(uint64_t *at, int comparison, uint64_t signal, void *stream)
{
    const bool for_buffers = at < broken.first_arrived;

    if (broken.fault == (for_buffers ? NO_WAIT_FOR_BUFFERS : NO_WAIT_FOR_BYTES))
        return;
    if (!for_buffers && broken.slow)
        usleep(60000);
    if (broken.fault == NO_FAULT || for_buffers) {
        broken.real.wait(at, comparison, signal, stream);
        return;
    }
    /* A signal may have been lost; then half a second is enough. */
    for (int poll = 0; poll < 500 && __atomic_load_n(at, __ATOMIC_ACQUIRE) < signal; poll++)
        usleep(1000);
}

static void broken_put(void *to, const void *from, size_t bytes, uint64_t *at, uint64_t signal,
                       int operation, int rank, void *stream)
{
    if (broken.fault == SIGNAL_BEFORE_BYTES) /* the put sets it once more */
        broken.real.signal(at, signal, operation, rank, stream);
    broken.real.put_signal(to, from, bytes, at, signal, operation, rank, stream);
}

static void broken_quiet(void *stream)
{
    if (broken.fault != NO_QUIET)
        broken.real.quiet(stream);
}

/* The first message of a transport uses the first of this rank's words on the receiver. */
static void learn_put(void *to, const void *from, size_t bytes, uint64_t *at, uint64_t signal,
                      int operation, int rank, void *stream)
{
    if (!broken.first_arrived)
        broken.first_arrived = at - broken.rank * HW_MESSAGE_STAGES;
    broken.real.put_signal(to, from, bytes, at, signal, operation, rank, stream);
}

struct fixture {
    struct hw_context ctx;
    struct hw_transport transport;
    hw_count capacity;        /* MAX_BYTES() */
    uint64_t *host, *arrived; /* [capacity / 8] */
};

/* Mostly long messages from lower to higher ranks, so that senders may run ahead of receivers. */
static hw_count bytes_of(const struct fixture *self, int from, int to, int exchange)
{
    const unsigned mixed = (unsigned)(from * 7919 + to * 104729 + exchange * 1299709);

    if (mixed % 5 == 0)
        return 0;
    return 8 * (hw_count)(from < to ? self->capacity / 8 - mixed % 1000 : mixed % 10000);
}

/* Writes what a message holds. */
static void fill_message(const struct fixture *self, int from, int to, int exchange)
{
    uint64_t word = (uint64_t)(from + 64 * to + 4096 * exchange + 1);
    const hw_count words = bytes_of(self, from, to, exchange) / 8;

    for (hw_count w = 0; w < words; w++)
        self->host[w] = word += UINT64_C(0x9e3779b97f4a7c15);
}

/* Sends a message to each rank. Collective. */
static enum hw_status exchange(struct fixture *self, int number, struct hw_error *err)
{
    const int ranks = self->ctx.size, me = self->ctx.rank;
    char *heap = self->transport.heap[me];
    hw_count from[MAX_RANKS] = {0}, to[MAX_RANKS] = {0};
    hw_count out[MAX_RANKS] = {0}, in[MAX_RANKS] = {0};

    for (int q = 0; q < ranks; q++) {
        from[q] = q * self->capacity;
        to[q] = (ranks + q) * self->capacity;
        out[q] = bytes_of(self, me, q, number);
        in[q] = bytes_of(self, q, me, number);
        fill_message(self, me, q, number);
        HW_TRY(hw_gpu_put(heap + from[q], self->host, (size_t)out[q], err));
    }
    return hw_transport_exchange(&self->transport, from, out, to, in, err);
}

/* *same becomes false if a message that arrived is not what was sent. Local. */
static enum hw_status compare(struct fixture *self, int number, bool *same, struct hw_error *err)
{
    const int ranks = self->ctx.size, me = self->ctx.rank;

    for (int q = 0; q < ranks; q++) {
        const size_t bytes = (size_t)bytes_of(self, q, me, number);
        HW_TRY(hw_gpu_get(self->arrived, self->transport.heap[me] + (ranks + q) * self->capacity,
                          bytes, err));
        fill_message(self, q, me, number);
        *same = *same && memcmp(self->arrived, self->host, bytes) == 0;
    }
    return HW_OK;
}

/* Exchanges; whether all that arrived anywhere is what was sent. Collective. */
static bool all_same(struct fixture *self, int first, struct hw_error *err)
{
    enum hw_status status = HW_OK;
    int same_everywhere = 0;
    bool same = true;

    for (int n = first; n < first + EXCHANGES && status == HW_OK; n++) {
        status = exchange(self, n, err);
        if (status == HW_OK)
            status = hw_agree(self->ctx.world, compare(self, n, &same, err), err);
    }
    same = same && status == HW_OK;
    const int own = same;
    if (MPI_Allreduce(&own, &same_everywhere, 1, MPI_INT, MPI_MIN, self->ctx.world) != MPI_SUCCESS)
        return false;
    return same_everywhere != 0;
}

static enum hw_status open_fixture(struct fixture *self, const struct hw_context *ctx, int each,
                                   struct hw_error *err)
{
    *self = (struct fixture){.ctx = *ctx, .capacity = MAX_BYTES(each)};
    hw_context_group(&self->ctx, each);
    self->host = malloc((size_t)self->capacity);
    self->arrived = malloc((size_t)self->capacity);
    enum hw_status status = hw_transport_open(&self->ctx, HW_TRANSPORT_SHMEM, HW_MPI_BUFFERS_AUTO,
                                              each, &self->transport, err);
    if (status != HW_OK)
        return status;
    broken.real = self->transport.nvshmem->api;
    broken.first_arrived = NULL;
    broken.rank = ctx->rank;
    self->transport.nvshmem->api.put_signal = learn_put;
    status = hw_transport_heap(&self->transport, 2 * ctx->size * self->capacity, err);
    self->transport.nvshmem->api = broken.real;
    return hw_agree(ctx->world, self->host && self->arrived ? status : HW_RESOURCES, err);
}

static void close_fixture(struct fixture *self)
{
    hw_transport_close(&self->transport);
    free(self->host);
    free(self->arrived);
}

/* Local. */
static void make_fault(struct fixture *self, enum fault fault)
{
    struct hw_nvshmem_api *api = &self->transport.nvshmem->api;

    broken.fault = fault;
    broken.slow = fault == NO_WAIT_FOR_BUFFERS;
    api->wait = broken_wait;
    api->put_signal = broken_put;
    api->quiet = broken_quiet;
}

#ifdef HOPWAVE_EMULATED
/* Whether a fault is found: what arrives is wrong somewhere, or a source changed before quiet().
 * With a transport of its own, whose words no later message needs. Collective. */
static bool is_found(const struct hw_context *ctx, int each, enum fault fault, struct hw_error *err)
{
    const long before = hw_emulated_nvshmem_changed_sources();
    struct fixture fixture;
    int found = 0;

    if (open_fixture(&fixture, ctx, each, err) == HW_OK) {
        make_fault(&fixture, fault);
        found = !all_same(&fixture, 100 * (int)fault, err);
        make_fault(&fixture, NO_FAULT);
    }
    close_fixture(&fixture);
    found = found || hw_emulated_nvshmem_changed_sources() > before;
    if (MPI_Allreduce(MPI_IN_PLACE, &found, 1, MPI_INT, MPI_MAX, ctx->world) != MPI_SUCCESS)
        return false;
    return found != 0;
}

static void check_faults(struct tap *tap, const struct hw_context *ctx, int each)
{
    static const char *const faults[FAULTS] = {
        [NO_WAIT_FOR_BYTES] = "no wait for the signal of a put",
        [NO_WAIT_FOR_BUFFERS] = "no wait for free buffers",
        [SIGNAL_BEFORE_BYTES] = "a signal that does not wait for its bytes",
        [NO_QUIET] = "no quiet() before buffers are filled again"};
    struct hw_error err = {{0}};

    for (enum fault fault = NO_WAIT_FOR_BYTES; fault < FAULTS; fault++) {
        bool found = false;
        for (int attempt = 0; attempt < ATTEMPTS && !found; attempt++)
            found = is_found(ctx, each, fault, &err);
        tap_ok(tap, found, "nodes of %d: %s is found", each, faults[fault]);
    }
}
#endif

static void check_nodes(struct tap *tap, const struct hw_context *ctx, int each)
{
    struct hw_error err = {{0}};
    struct fixture fixture;

    setenv("HW_EMULATED_NVSHMEM_NODE", each == 1 ? "1" : "2", 1);
    if (open_fixture(&fixture, ctx, each, &err) != HW_OK) {
        tap_skip(tap, err.text);
        close_fixture(&fixture);
        return;
    }
    make_fault(&fixture, NO_FAULT);
    broken.slow = true;
    tap_ok(tap, all_same(&fixture, 0, &err), "messages between nodes of %d%s%s", each,
           err.text[0] ? ": " : "", err.text);
    close_fixture(&fixture);
#ifdef HOPWAVE_EMULATED
    check_faults(tap, ctx, each);
#endif
}

static void tests(struct tap *tap, struct hw_context *ctx)
{
    struct hw_error err = {{0}};

    tap_plan(tap, TAP_AT_END);
    if (ctx->size == 1 || ctx->size > MAX_RANKS)
        tap_skip(tap, "messages between nodes need 2 to 16 ranks");
    else if (hw_gpu_ready(&err) != HW_OK || hw_gpu_open(ctx, &err) != HW_OK)
        tap_skip(tap, "there is no GPU here");
    else
        check_nodes(tap, ctx, ctx->size < 4 ? 1 : 2);
}

int main(int argc, char **argv)
{
    return tap_ranks(argc, argv, "test_nvshmem_messages", tests);
}
