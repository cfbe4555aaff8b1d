/* Messages between nodes by NVSHMEM (gpu/comm/nvshmem/nvshmem_messages.h). */
#include "gpu/comm/nvshmem/nvshmem_messages.h"

#include "gpu/device/device.h"
#include "lib/base/memory.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>

#define STAGES HW_MESSAGE_STAGES

/* Seconds before a wait times out: as for barriers of kernels. All ranks have begun the exchange.
 */
#define TIMEOUT_SECONDS 8.0

/* Queries of the stream for each query of the clock. */
#define POLLS_PER_CHECK 4096

/* Numbers of the messages with a rank, by stage: buffers of this rank that were said to be free,
 * and of that rank, for which sends waited; messages to it and from it. */
struct numbers {
    uint64_t posted[STAGES], awaited[STAGES], sent[STAGES], received[STAGES];
};

struct hw_nvshmem_messages {
    struct hw_nvshmem *nvshmem;
    struct hw_message_ops ops;
    bool in_order; /* nothing waits but hw_nvshmem_messages_wait() */
    cudaStream_t stream, release_stream;
    cudaEvent_t quiet;       /* the stream has waited for all sends */
    bool sending;            /* something was sent that no quiet() in the stream follows */
    bool quieting;           /* nobody has waited for the last quiet() yet */
    uint64_t *ready;         /* [ranks][STAGES] symmetric; set by the receiver */
    uint64_t *arrived;       /* [ranks][STAGES] symmetric; set by the sender's put */
    struct numbers *numbers; /* [ranks] */
    bool broken;             /* a wait timed out */
};

static uint64_t *word(uint64_t *words, int rank, int stage)
{
    return words + (size_t)rank * STAGES + stage;
}

/* A rank whose signal the stream waits for, or the next rank. Local. */
static int missing_peer(const struct hw_nvshmem_messages *self)
{
    const struct hw_context *ctx = self->nvshmem->ctx;
    const size_t words = (size_t)ctx->size * STAGES;
    uint64_t *ready = malloc(2 * words * sizeof *ready);
    int missing = (ctx->rank + 1) % ctx->size;

    if (!ready)
        return missing;
    if (cudaMemcpyAsync(ready, self->ready, 2 * words * sizeof *ready, cudaMemcpyDefault,
                        self->release_stream) == cudaSuccess &&
        cudaStreamSynchronize(self->release_stream) == cudaSuccess)
        for (int q = ctx->size - 1; q >= 0; q--)
            for (int stage = 0; stage < STAGES; stage++)
                if (*word(ready, q, stage) < self->numbers[q].awaited[stage] ||
                    *word(ready + words, q, stage) < self->numbers[q].received[stage])
                    missing = q;
    free(ready);
    return missing;
}

/* Ends waits of the stream that would last forever, by setting all words. Local. */
static void release_waits(struct hw_nvshmem_messages *self)
{
    const size_t bytes = (size_t)self->nvshmem->ctx->size * STAGES * sizeof(uint64_t);

    self->broken = true;
    (void)cudaMemsetAsync(self->ready, 0xff, bytes, self->release_stream);
    (void)cudaMemsetAsync(self->arrived, 0xff, bytes, self->release_stream);
    (void)cudaStreamSynchronize(self->release_stream);
    (void)cudaStreamSynchronize(self->stream);
}

/* Waits for the event, or without one for the stream. Local. */
static enum hw_status synchronize(struct hw_nvshmem_messages *self, cudaEvent_t event,
                                  struct hw_error *err)
{
    const double start = hw_seconds();

    for (uint64_t poll = 1;; poll++) {
        const cudaError_t error = event ? cudaEventQuery(event) : cudaStreamQuery(self->stream);
        if (error != cudaErrorNotReady)
            return hw_cuda((int)error, "NVSHMEM", err);
        if (poll % POLLS_PER_CHECK != 0 || hw_seconds() - start < TIMEOUT_SECONDS)
            continue;
        const int peer = missing_peer(self);
        release_waits(self);
        return hw_fail(err, HW_RESOURCES,
                       "--transport nvshmem: rank %d had no signal from rank %d within %.0f s",
                       self->nvshmem->ctx->rank, peer, TIMEOUT_SECONDS);
    }
}

/* Keeps the reason if err has it: the rest of the exchange goes on after a failure. */
static enum hw_status refuse_if_broken(const struct hw_nvshmem_messages *self, struct hw_error *err)
{
    if (!self->broken)
        return HW_OK;
    return err->text[0] ? HW_RESOURCES
                        : hw_fail(err, HW_RESOURCES,
                                  "--transport nvshmem: an earlier message of rank %d timed out",
                                  self->nvshmem->ctx->rank);
}

/* ---- operations ---- */

static enum hw_status post(void *given, const struct hw_message *message, struct hw_error *err)
{
    struct hw_nvshmem_messages *self = given;
    const int me = self->nvshmem->ctx->rank;

    HW_TRY(refuse_if_broken(self, err));
    self->nvshmem->api.signal(word(self->ready, me, message->stage),
                              ++self->numbers[message->peer].posted[message->stage],
                              HW_NVSHMEM_SIGNAL_SET, message->peer, self->stream);
    return HW_OK;
}

static enum hw_status send(void *given, const struct hw_message *message, struct hw_error *err)
{
    struct hw_nvshmem_messages *self = given;
    const struct hw_nvshmem_api *api = &self->nvshmem->api;
    const int me = self->nvshmem->ctx->rank;

    HW_TRY(refuse_if_broken(self, err));
    struct numbers *numbers = &self->numbers[message->peer];
    const uint64_t number = ++numbers->sent[message->stage];
    if (!message->is_free)
        api->wait(word(self->ready, message->peer, message->stage), HW_NVSHMEM_AT_LEAST,
                  ++numbers->awaited[message->stage], self->stream);
    api->put_signal(message->symmetric, message->buffer, (size_t)message->bytes,
                    word(self->arrived, me, message->stage), number, HW_NVSHMEM_SIGNAL_SET,
                    message->peer, self->stream);
    self->sending = true;
    return HW_OK;
}

static enum hw_status receive(void *given, const struct hw_message *message, struct hw_error *err)
{
    struct hw_nvshmem_messages *self = given;

    HW_TRY(refuse_if_broken(self, err));
    self->nvshmem->api.wait(word(self->arrived, message->peer, message->stage), HW_NVSHMEM_AT_LEAST,
                            ++self->numbers[message->peer].received[message->stage], self->stream);
    return self->in_order ? HW_OK : synchronize(self, NULL, err);
}

static enum hw_status end_sends(void *given, struct hw_error *err)
{
    struct hw_nvshmem_messages *self = given;

    HW_TRY(refuse_if_broken(self, err));
    if (!self->sending)
        return HW_OK;
    self->nvshmem->api.quiet(self->stream);
    self->sending = false;
    self->quieting = true;
    return hw_cuda((int)cudaEventRecord(self->quiet, self->stream), "cudaEventRecord", err);
}

static enum hw_status wait_sends(void *given, struct hw_error *err)
{
    struct hw_nvshmem_messages *self = given;

    HW_TRY(end_sends(self, err));
    if (!self->quieting || self->in_order) /* in order, what fills buffers follows quiet() */
        return HW_OK;
    self->quieting = false;
    return synchronize(self, self->quiet, err);
}

/* ---- opening ---- */

/* Local. */
static enum hw_status open_local(struct hw_nvshmem_messages *self, struct hw_error *err)
{
    HW_TRY(hw_alloc_zero(&self->numbers, self->nvshmem->ctx->size, sizeof *self->numbers,
                         "messages", err));
    HW_TRY(hw_cuda((int)cudaStreamCreateWithFlags(&self->stream, cudaStreamNonBlocking),
                   "cudaStreamCreateWithFlags", err));
    HW_TRY(hw_cuda((int)cudaStreamCreateWithFlags(&self->release_stream, cudaStreamNonBlocking),
                   "cudaStreamCreateWithFlags", err));
    return hw_cuda((int)cudaEventCreateWithFlags(&self->quiet, cudaEventDisableTiming),
                   "cudaEventCreateWithFlags", err);
}

enum hw_status hw_nvshmem_messages_open(struct hw_nvshmem *nvshmem, bool in_order,
                                        struct hw_nvshmem_messages **made, struct hw_error *err)
{
    const struct hw_context *ctx = nvshmem->ctx;
    const size_t words = (size_t)ctx->size * STAGES;
    struct hw_nvshmem_messages *self = NULL;
    void *memory = NULL;
    enum hw_status status = hw_alloc_zero(&self, 1, sizeof *self, "messages", err);

    *made = self;
    HW_TRY_ALL(ctx, status, err);
    self->nvshmem = nvshmem;
    self->in_order = in_order;
    self->ops = (struct hw_message_ops){.self = self,
                                        .post = post,
                                        .send = send,
                                        .receive = receive,
                                        .end_sends = end_sends,
                                        .wait_sends = wait_sends};
    HW_TRY_ALL(ctx, open_local(self, err), err);
    HW_TRY(hw_nvshmem_allocate(nvshmem, (hw_count)(2 * words * sizeof(uint64_t)), &memory, err));
    self->ready = memory;
    self->arrived = self->ready + words;
    status = hw_gpu_fill(memory, 0, 2 * words * sizeof(uint64_t), err);
    if (status == HW_OK)
        status = hw_cuda((int)cudaDeviceSynchronize(), "cudaMemset", err);
    return hw_agree(ctx->world, status, err); /* nobody signals before all words are zero */
}

const struct hw_message_ops *hw_nvshmem_message_ops(const struct hw_nvshmem_messages *self)
{
    return &self->ops;
}

void *hw_nvshmem_messages_stream(const struct hw_nvshmem_messages *self)
{
    return self->stream;
}

enum hw_status hw_nvshmem_messages_wait(struct hw_nvshmem_messages *self, struct hw_error *err)
{
    HW_TRY(refuse_if_broken(self, err));
    return synchronize(self, NULL, err);
}

void hw_nvshmem_messages_close(struct hw_nvshmem_messages *self)
{
    if (!self)
        return;
    if (self->stream)
        cudaStreamDestroy(self->stream);
    if (self->quiet)
        cudaEventDestroy(self->quiet);
    if (self->release_stream)
        cudaStreamDestroy(self->release_stream);
    hw_nvshmem_free(self->nvshmem, self->ready);
    free(self->numbers);
    free(self);
}
