#include "gpu/comm/allgather.h"

#include "lib/base/memory.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>

/* Nanoseconds before a round is given up: more than the watch over the ranks has. */
#define PATIENCE UINT64_C(8000000000)

/* Looks at the host's memory between two at the stream. */
#define LOOKS 4096

/* Words that the host carries: those of a round, and whether the rank failed. */
#define CARRIED (HW_ALLGATHER_WORDS + 1)

static hw_count slot_bytes(int ranks)
{
    return (hw_count)ranks * 2 * 2 * HW_ALLGATHER_WORDS * (hw_count)sizeof(uint64_t);
}

hw_count hw_allgather_heap_bytes(int ranks)
{
    return slot_bytes(ranks) + 256; /* and whether somebody gave up */
}

/* ---- opening ---- */

static bool is_peer(const struct hw_allgather *round)
{
    return round->transport->kind == HW_TRANSPORT_PEER;
}

static void find_slots(struct hw_allgather *round, hw_count offset)
{
    const struct hw_transport *transport = round->transport;
    const struct hw_context *ctx = transport->ctx;

    round->plan = (struct hw_allgather_params){
        .ranks = (uint32_t)ctx->size, .rank = (uint32_t)ctx->rank, .patience = PATIENCE};
    for (int q = 0; q < ctx->size && is_peer(round); q++) {
        char *slots = transport->heap[q] + offset;
        round->plan.slot[q] = (uint64_t *)slots;
        round->plan.failed[q] = (uint32_t *)(slots + slot_bytes(ctx->size));
    }
}

enum hw_status hw_allgather_open(struct hw_transport *transport, hw_count offset,
                                 struct hw_allgather *round, struct hw_error *err)
{
    const int ranks = transport->ctx->size;
    const size_t bytes = HW_ALLGATHER_AHEAD * sizeof *round->host;
    const size_t mirror = HW_ALLGATHER_AHEAD * HW_ALLGATHER_MIRROR * sizeof *round->mirror;
    const size_t carried = (size_t)(ranks + 1) * CARRIED * sizeof *round->carried;

    *round = (struct hw_allgather){.transport = transport};
    if (ranks > HW_ALLGATHER_RANKS)
        return hw_fail(err, HW_BAD_INPUT, "up to %d ranks work together here, not %d",
                       HW_ALLGATHER_RANKS, ranks);
    enum hw_status status =
        hw_cuda((int)cudaMalloc((void **)&round->device, bytes), "cudaMalloc", err);
    if (status == HW_OK)
        status =
            hw_alloc_zero(&round->host, HW_ALLGATHER_AHEAD, sizeof *round->host, "rounds", err);
    if (status == HW_OK)
        status = hw_cuda((int)cudaHostAlloc((void **)&round->mirror, mirror, cudaHostAllocMapped),
                         "cudaHostAlloc", err);
    if (status == HW_OK && !is_peer(round))
        status =
            hw_cuda((int)cudaHostAlloc((void **)&round->carried, carried, cudaHostAllocDefault),
                    "cudaHostAlloc", err);
    if (status != HW_OK) {
        hw_allgather_close(round);
        return status;
    }
    memset(round->mirror, 0, mirror);
    find_slots(round, offset);
    return HW_OK;
}

void hw_allgather_close(struct hw_allgather *round)
{
    cudaFree(round->device);
    free(round->host);
    cudaFreeHost(round->mirror);
    cudaFreeHost(round->carried);
    *round = (struct hw_allgather){0};
}

/* ---- rounds ---- */

static struct hw_allgather_result *kept(struct hw_allgather_result *results, uint32_t number)
{
    return &results[number % HW_ALLGATHER_AHEAD];
}

static uint64_t *mirror_of(const struct hw_allgather *round, uint32_t number)
{
    return round->mirror + (size_t)(number % HW_ALLGATHER_AHEAD) * HW_ALLGATHER_MIRROR;
}

const struct hw_allgather_result *hw_allgather_device(const struct hw_allgather *round)
{
    return kept(round->device, round->number);
}

/* Adds one rank's words to a result. */
static void add_words(struct hw_allgather_result *result, int q, const uint64_t *words,
                      uint32_t maxima)
{
    for (int k = 0; k < HW_ALLGATHER_WORDS; k++) {
        uint64_t *all = &result->all[k];
        result->of[q][k] = words[k];
        if (!(maxima >> k & 1))
            *all += words[k];
        else if (words[k] > *all)
            *all = words[k];
    }
}

/* A round through the hosts: its words to them. Local. */
static enum hw_status bring(const struct hw_allgather *round, const uint64_t *words, int count,
                            struct hw_error *err)
{
    cudaStream_t stream = (cudaStream_t)round->stream;
    enum hw_status status =
        hw_cuda((int)cudaMemcpyAsync(round->carried, words, (size_t)count * sizeof *words,
                                     cudaMemcpyDeviceToHost, stream),
                "cudaMemcpyAsync", err);

    return status == HW_OK
               ? hw_cuda((int)cudaStreamSynchronize(stream), "cudaStreamSynchronize", err)
               : status;
}

/* A round through the hosts. A result that cannot be brought back to the device is told in
 * the next one. Collective; ranks agree. */
static enum hw_status carry(struct hw_allgather *round, enum hw_status status,
                            const uint64_t *words, int count, uint32_t maxima, struct hw_error *err)
{
    const struct hw_context *ctx = round->transport->ctx;
    struct hw_allgather_result *result = kept(round->host, round->number);
    uint64_t *own = round->carried, *others = own + CARRIED;
    bool fine = true;

    status = status == HW_OK ? round->owed : status;
    memset(own, 0, CARRIED * sizeof *own);
    if (status == HW_OK)
        status = bring(round, words, count, err);
    own[HW_ALLGATHER_WORDS] = status;
    enum hw_status told =
        hw_mpi(MPI_Allgather(own, CARRIED, MPI_UINT64_T, others, CARRIED, MPI_UINT64_T, ctx->world),
               "MPI_Allgather", err);
    if (told != HW_OK)
        return told;
    *result = (struct hw_allgather_result){.number = round->number};
    for (int q = 0; q < ctx->size; q++, others += CARRIED) {
        add_words(result, q, others, maxima);
        fine = fine && others[HW_ALLGATHER_WORDS] == HW_OK;
    }
    if (!fine)
        return hw_agree(ctx->world, status, err);
    round->owed =
        hw_cuda((int)cudaMemcpyAsync(kept(round->device, round->number), result, sizeof *result,
                                     cudaMemcpyHostToDevice, (cudaStream_t)round->stream),
                "cudaMemcpyAsync", err);
    return HW_OK;
}

/* Tells the others that this rank has failed. Local. */
static void give_up(const struct hw_allgather *round)
{
    for (uint32_t q = 0; q < round->plan.ranks; q++)
        (void)cudaMemset(round->plan.failed[q], 1, sizeof *round->plan.failed[q]);
}

enum hw_status hw_allgather_start(struct hw_allgather *round, enum hw_status status,
                                  const uint64_t *words, int count, uint32_t maxima, void *stream,
                                  struct hw_error *err)
{
    round->number++;
    round->stream = stream;
    round->maxima[round->number % HW_ALLGATHER_AHEAD] = maxima;
    if (!is_peer(round))
        return carry(round, status, words, count, maxima, err);
    if (status == HW_OK)
        status = hw_cuda(hw_allgather_launch(&round->plan, words, count, maxima, round->number,
                                             kept(round->device, round->number),
                                             mirror_of(round, round->number), stream),
                         "the kernel of a round", err);
    if (status != HW_OK)
        give_up(round);
    return status;
}

/* The upper half of an element that a round's kernel leaves in the host's memory, once it is
 * there. */
static enum hw_status await(const struct hw_allgather *round, const uint64_t *element,
                            uint32_t number, uint64_t *half, struct hw_error *err)
{
    bool over = false;
    uint64_t value;

    for (uint64_t look = 1;; look++) {
        value = __atomic_load_n(element, __ATOMIC_ACQUIRE);
        if ((uint32_t)value == number)
            break;
        if (over)
            return hw_fail(err, HW_INTERNAL, "a round of the GPUs left no result");
        if (look % LOOKS != 0)
            continue;
        cudaError_t error = cudaStreamQuery((cudaStream_t)round->stream);
        over = error == cudaSuccess;
        if (error != cudaSuccess && error != cudaErrorNotReady)
            return hw_cuda((int)error, "a round of the GPUs", err);
    }
    *half = value >> 32;
    return HW_OK;
}

/* Puts a round of transport peer together from what its kernel leaves. */
static enum hw_status collect(const struct hw_allgather *round, uint32_t number,
                              struct hw_allgather_result *result, struct hw_error *err)
{
    const uint64_t *mirror = mirror_of(round, number);
    const uint32_t maxima = round->maxima[number % HW_ALLGATHER_AHEAD];
    uint64_t failed = 0, half[2] = {0, 0}, words[HW_ALLGATHER_WORDS];
    enum hw_status status = await(round, mirror + HW_ALLGATHER_MIRROR - 1, number, &failed, err);

    *result = (struct hw_allgather_result){.number = number, .failed = failed != 0};
    for (uint32_t q = 0; q < round->plan.ranks && status == HW_OK && !failed; q++) {
        for (int k = 0; k < 2 * HW_ALLGATHER_WORDS && status == HW_OK; k++) {
            status =
                await(round, mirror + q * 2 * HW_ALLGATHER_WORDS + k, number, &half[k & 1], err);
            words[k / 2] = half[1] << 32 | half[0];
        }
        add_words(result, (int)q, words, maxima);
    }
    return status;
}

enum hw_status hw_allgather_wait_for(struct hw_allgather *round, uint32_t number,
                                     const struct hw_allgather_result **result,
                                     struct hw_error *err)
{
    struct hw_allgather_result *own = kept(round->host, number);
    enum hw_status status = is_peer(round) ? collect(round, number, own, err) : HW_OK;

    *result = own;
    if (status != HW_OK || !own->failed)
        return status;
    return hw_fail(err, HW_INTERNAL, "rank %d gave up: a GPU did not come in time",
                   round->transport->ctx->rank);
}

enum hw_status hw_allgather_wait(struct hw_allgather *round,
                                 const struct hw_allgather_result **result, struct hw_error *err)
{
    return hw_allgather_wait_for(round, round->number, result, err);
}

/* ---- mail ---- */

struct hw_outbox hw_outbox_reserve(const struct hw_transport *transport, hw_count room,
                                   hw_count *offset)
{
    const hw_count line = 256, boxes = transport->ctx->size;
    struct hw_outbox mail;

    mail.room = (room + line - 1) / line * line;
    mail.in = (*offset + line - 1) / line * line;
    mail.out = mail.in + boxes * mail.room;
    *offset = transport->kind == HW_TRANSPORT_PEER ? mail.out : mail.out + boxes * mail.room;
    return mail;
}

void *hw_outbox_send_buffer(const struct hw_transport *transport, const struct hw_outbox *mail,
                            int q)
{
    const int rank = transport->ctx->rank;

    if (transport->kind == HW_TRANSPORT_PEER)
        return transport->heap[q] + mail->in + rank * mail->room;
    return transport->heap[rank] + mail->out + q * mail->room;
}

const void *hw_outbox_recv_buffer(const struct hw_transport *transport,
                                  const struct hw_outbox *mail, int q)
{
    return transport->heap[transport->ctx->rank] + mail->in + q * mail->room;
}

/* Moves mail that lies in the boxes from `out` on, `apart` bytes from each other. */
static enum hw_status move(struct hw_transport *transport, const struct hw_outbox *mail,
                           hw_count out, hw_count apart, const hw_count *sent, const hw_count *came,
                           struct hw_error *err)
{
    const int ranks = transport->ctx->size;
    hw_count from[HW_ALLGATHER_RANKS], to[HW_ALLGATHER_RANKS];

    if (transport->kind == HW_TRANSPORT_PEER)
        return HW_OK;
    for (int q = 0; q < ranks; q++) {
        from[q] = out + q * apart;
        to[q] = mail->in + q * mail->room;
    }
    return apart > 0 ? hw_transport_exchange(transport, from, sent, to, came, err)
                     : hw_transport_broadcast(transport, from, sent, to, came, err);
}

enum hw_status hw_outbox_deliver(struct hw_transport *transport, const struct hw_outbox *mail,
                                 const hw_count *sent, const hw_count *came, struct hw_error *err)
{
    return move(transport, mail, mail->out, mail->room, sent, came, err);
}

enum hw_status hw_outbox_broadcast(struct hw_transport *transport, const struct hw_outbox *mail,
                                   const hw_count *sent, const hw_count *came, struct hw_error *err)
{
    int first = 0;

    while (first < transport->ctx->size - 1 && sent[first] == 0)
        first++;
    return move(transport, mail, mail->out + first * mail->room, 0, sent, came, err);
}
